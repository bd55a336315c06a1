//! The program `dwell`, a thin layer over the library: it parses flags, converts them into the library's values, runs the
//! command and prints the result.

// Not `forbid`, which would refuse the macro of the crate `ctor` in `standard_streams.rs` and `machine/arenas.rs`.
#![deny(unsafe_code)]

mod answers;
mod choice;
mod cli;
mod commands;
mod deadline;
mod engine;
mod error_text;
mod interrupt;
mod machine;
mod output;
mod overlap;
mod palette_sheet;
mod progress_bar;
mod scene;
mod standard_streams;
mod toml_text;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command};
use commands::compare::Verdict;
use interrupt::Interrupt;
use std::process::ExitCode;

/// The flags and arguments, or the exit code after a help text or an error was printed.
fn parsed() -> Result<Cli, ExitCode> {
    let matches = Cli::command().try_get_matches().map_err(|error| output::usage(&error))?;
    if let Some(missing) = answers::missing_value(&matches) {
        output::failure(&missing.into());
        return Err(ExitCode::from(2));
    }
    Cli::from_arg_matches(&matches).map_err(|error| output::usage(&error))
}

fn main() -> ExitCode {
    let cli = match parsed() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let interrupt = Interrupt::install();
    let done = match cli.command {
        Command::Render(args) => match commands::render::run(&args, &interrupt) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Locations(args) => commands::locations::run(&args),
        Command::Palettes(args) => commands::palettes::run(&args, &interrupt),
        Command::Looks => commands::looks::run(),
        Command::Show(args) => commands::show::run(&args),
        Command::Locate(args) => commands::locate::run(&args, &interrupt),
        Command::Convert(args) => commands::convert::run(&args, &interrupt),
        Command::Zoom(args) => commands::zoom::run(&args, &interrupt),
        Command::Gallery(args) => commands::gallery::run(&args, &interrupt),
        Command::Explore(args) => commands::explore::run(&args, &interrupt),
        Command::Compare(args) => match commands::compare::run(&args, &interrupt) {
            Ok(Verdict::Same) => Ok(()),
            Ok(Verdict::Different) => return ExitCode::from(1),
            Err(error) => Err(error),
        },
        Command::Check(args) => match commands::check::run(&args, &interrupt) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Point(args) => commands::point::run(&args, &interrupt),
        Command::Peak(args) => commands::peak::run(&args, &interrupt),
        Command::Lab(args) => match commands::lab::run(&args, &interrupt) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Info(args) => commands::info::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args, &interrupt),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::failure(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
