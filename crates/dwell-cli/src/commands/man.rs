//! `dwell man`: prints the manual page, or writes one page per command into a folder.

use crate::cli::{Cli, ManArgs};
use crate::error_text::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use clap::CommandFactory;
use dwell::{Error, store};
use std::path::PathBuf;

pub(crate) fn run(args: &ManArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.output_dir else {
        return output::print(&page(command, PathBuf::from("-"))?);
    };
    std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.clone(), source })?;
    let mut commands = Vec::new();
    add("dwell".to_owned(), &command, &mut commands);
    for (name, command) in commands {
        let path = folder.join(format!("{name}.1"));
        store::write_text(&path, &page(command, path.clone())?, &interrupt.partial_files)?;
    }
    Ok(())
}

/// Adds a command and the commands in it, each with the name of its page.
fn add(name: String, command: &clap::Command, commands: &mut Vec<(String, clap::Command)>) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        add(format!("{name}-{}", inner.get_name()), inner, commands);
    }
    commands.push((name, command.clone()));
}

fn page(command: clap::Command, path: PathBuf) -> Result<String, Error> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(|source| Error::Write { path, source })?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
