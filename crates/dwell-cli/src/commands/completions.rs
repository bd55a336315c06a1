//! `dwell completions`: prints completions for a shell.

use crate::cli::{Cli, CompletionsArgs, Shell};
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
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "dwell", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
