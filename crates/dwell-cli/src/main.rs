//! The program `dwell`, a thin layer over the library: it parses flags, converts them into the library's values, runs the
//! command and prints the result.

// Not `forbid`, which would refuse the macro of the crate `ctor` in `standard_streams.rs`.
#![deny(unsafe_code)]

mod choice;
mod cli;
mod commands;
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

use clap::Parser;
use cli::{Cli, Command};
use commands::compare::Verdict;
use interrupt::Interrupt;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    let interrupt = Interrupt::install();
    let done = match cli.command {
        Command::Render(args) => match commands::render::run(&args, &interrupt) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Locations(args) => commands::locations::run(&args),
        Command::Palettes(args) => commands::palettes::run(&args, &interrupt),
        Command::Show(args) => commands::show::run(&args),
        Command::Gallery(args) => commands::gallery::run(&args, &interrupt),
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
