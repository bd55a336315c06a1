//! `dwell completions`: prints completions for a shell.

use crate::cli::{Cli, CompletionsArgs, NamesAndFiles, Shell, with_values};
use crate::error_text::Failure;
use crate::output;
use clap::CommandFactory;

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Elvish => clap_complete::Shell::Elvish,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Powershell => clap_complete::Shell::PowerShell,
        Shell::Zsh => clap_complete::Shell::Zsh,
    };
    let (mut command, with_files) = with_values(Cli::command());
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "dwell", &mut script);
    let script = String::from_utf8_lossy(&script);
    output::print(&match args.shell {
        Shell::Zsh => zsh_with_files(&script, &with_files),
        Shell::Fish => fish_with_files(&script, &with_files),
        // bash offers files where no name fits, and the generators for the others have flags only.
        Shell::Bash | Shell::Elvish | Shell::Powershell => script.into_owned(),
    })
}

/// The script for zsh with files beside the names of the arguments that take both: in place of a list of names, such an
/// argument has a function that offers the list and files.
fn zsh_with_files(script: &str, with_files: &[NamesAndFiles]) -> String {
    let mut lists: Vec<String> = with_files.iter().map(|argument| argument.names.join(" ")).collect();
    lists.sort();
    lists.dedup();
    let (mut script, mut functions) = (script.to_owned(), String::new());
    for (number, list) in lists.iter().enumerate() {
        let name = format!("_dwell_names_or_files_{number}");
        script = script.replace(&format!(":({list})'"), &format!(":{name}'"));
        functions.push_str(&format!("{name}() {{\n    _alternative 'names:name:({list})' 'files:file:_files'\n}}\n\n"));
    }
    // Before the first function, which is called at the end of the script.
    match script.split_once("_dwell() {") {
        Some((head, rest)) => format!("{head}{functions}_dwell() {{{rest}"),
        None => script,
    }
}

/// The script for fish with files beside the names of the flags that take both, and with the names of arguments without a
/// flag, which the generator leaves out.
fn fish_with_files(script: &str, with_files: &[NamesAndFiles]) -> String {
    let mut script = script.to_owned();
    for NamesAndFiles { path, flag, names } in with_files {
        if flag.is_some() {
            // The generator writes each name with an empty description.
            let list = names.iter().map(|name| format!("{name}\\t''")).collect::<Vec<_>>().join("\n");
            script = script.replace(&format!("-r -f -a \"{list}\""), &format!("-r -F -a \"{list}\""));
        } else {
            let command = path.join("; and __fish_seen_subcommand_from ");
            script.push_str(&format!(
                "complete -c dwell -n \"__fish_dwell_using_subcommand {command}\" -a \"{}\"\n",
                names.join(" ")
            ));
        }
    }
    script
}
