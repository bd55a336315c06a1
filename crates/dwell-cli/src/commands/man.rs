//! `dwell man`: prints the manual page of the program or of a command, or writes all pages into a folder.

use crate::cli::{Cli, ManArgs};
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::output;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use dwell::{Error, quote, store};
use std::path::PathBuf;

pub(crate) fn run(args: &ManArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    // `help` describes the others, and has no page.
    let mut command = all_flags(Cli::command().disable_help_subcommand(true));
    command.build();
    let mut commands = Vec::new();
    add(vec!["dwell".to_owned()], &command, &mut commands);
    let Some(folder) = &args.output_dir else {
        let wanted = || std::iter::once("dwell").chain(args.command.iter().map(String::as_str));
        let Some((_, command)) = commands.iter().find(|(name, _)| wanted().eq(name.iter().map(String::as_str))) else {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            return Err(Usage::new("COMMAND", format!("{} is no command", quote(&args.command.join(" "))))
                .accepts(format!("{}, or lab and a command of it", names.join(", ")))
                .into());
        };
        return output::print(&page(command, PathBuf::from("-"))?);
    };
    std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.clone(), source })?;
    for (name, command) in commands {
        let path = folder.join(format!("{}.1", name.join("-")));
        store::write_text(&path, &page(&command, path.clone())?, &interrupt.partial_files)?;
    }
    Ok(())
}

/// The command with the flags that the short help hides, of which `clap_mangen` would leave out the text.
fn all_flags(command: Command) -> Command {
    command.mut_args(|arg| arg.hide_short_help(false)).mut_subcommands(all_flags)
}

/// Adds a command and the commands in it, each with the words of its name.
fn add(name: Vec<String>, command: &Command, commands: &mut Vec<(Vec<String>, Command)>) {
    for inner in command.get_subcommands() {
        let inner_name = name.iter().cloned().chain([inner.get_name().to_owned()]).collect();
        add(inner_name, inner, commands);
    }
    commands.push((name, command.clone()));
}

/// The page of a command. The sections of options are written by `clap_mangen`; the others are written here, because that
/// crate fills the lines of examples and refers to a page for each command, whether it is installed or not.
fn page(command: &Command, path: PathBuf) -> Result<String, Error> {
    let man = Man::new(command.clone()).source(concat!("dwell ", env!("CARGO_PKG_VERSION"))).manual("dwell");
    let mut page = Vec::new();
    let mut write = || {
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        page.extend_from_slice(synopsis(command).as_bytes());
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        page.extend_from_slice(commands_section(command).as_bytes());
        page.extend_from_slice(closing_sections(command).as_bytes());
        Ok(())
    };
    write().map_err(|source| Error::Write { path, source })?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// How the command is called, without a list of its flags, which have sections of their own.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let mut section = ".SH SYNOPSIS\n.nf\n".to_owned();
    for line in usage.trim_start_matches("Usage:").lines().map(str::trim).filter(|line| !line.is_empty()) {
        section.push_str(&format!("{}\n", literal(line)));
    }
    section + ".fi\n"
}

/// The commands in the command, and how to print their pages.
fn commands_section(command: &Command) -> String {
    if !command.has_subcommands() {
        return String::new();
    }
    let own = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut section = ".SH COMMANDS\n".to_owned();
    for inner in command.get_subcommands() {
        let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
        section.push_str(&format!(".TP\n\\fB{}\\fR\n{}\n", literal(inner.get_name()), literal(&about)));
    }
    let group = own.strip_prefix("dwell").unwrap_or_default();
    section.push_str(&format!(
        ".PP\n\\fBdwell man{group} \\fR\\fICOMMAND\\fR prints the page of a command, and \\fB{own} \\fR\\fICOMMAND\\fR\\fB \
         \\-\\-help\\fR the same text.\n"
    ));
    section
}

/// The text after the flags: each block of lines whose first ends with a colon is a section, with its lines as they are.
fn closing_sections(command: &Command) -> String {
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let mut sections = String::new();
    for block in text.split("\n\n") {
        let (heading, lines) = block.split_once(":\n").unwrap_or(("Notes", block));
        sections.push_str(&format!(".SH \"{}\"\n.nf\n", literal(&heading.to_uppercase())));
        for line in lines.lines() {
            sections.push_str(&format!("{}\n", literal(line.strip_prefix("  ").unwrap_or(line))));
        }
        sections.push_str(".fi\n");
    }
    if text.is_empty() { String::new() } else { sections }
}

/// A line of text that the formatter shows as it is: no escapes, no request, and hyphens that can be copied.
fn literal(line: &str) -> String {
    let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
    if escaped.starts_with('.') { format!("\\&{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_as_they_are() {
        assert_eq!(literal(".a -o \\'`"), "\\&.a \\-o \\e\\(aq\\(ga");
        let command = Command::new("x").after_help("Examples:\n  x -o\n      Text.\n\nExit codes:\n  0  good");
        assert_eq!(
            closing_sections(&command),
            ".SH \"EXAMPLES\"\n.nf\nx \\-o\n    Text.\n.fi\n.SH \"EXIT CODES\"\n.nf\n0  good\n.fi\n"
        );
        assert_eq!(closing_sections(&Command::new("x")), "");
    }
}
