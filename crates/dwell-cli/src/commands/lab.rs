//! `dwell lab`: the laboratory.

mod check;
mod compare;
mod experiments;
mod flags;
mod list;
mod observer;
pub(crate) mod records;
mod report;
mod run;
mod sweep;

use crate::cli::{LabArgs, LabCommand};
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::{self, Machine};
use dwell::{Error, Level};
use dwell_lab::record::{self, RunError};

/// Runs a command of the laboratory. Returns its exit code.
pub(crate) fn run(args: &LabArgs, interrupt: &Interrupt) -> Result<u8, Failure> {
    match &args.command {
        LabCommand::List => list::list().map(|()| 0),
        LabCommand::Show(args) => list::show(args).map(|()| 0),
        LabCommand::Run(args) => run::run(args, interrupt).map(|()| 0),
        LabCommand::Report(args) => report::run(args, interrupt).map(|()| 0),
        LabCommand::Compare(args) => compare::run(args),
        LabCommand::Check(args) => check::run(args, interrupt),
        LabCommand::Sweep(args) => sweep::run(args, interrupt).map(|()| 0),
    }
}

/// What the user is told of an error of the laboratory.
fn failure(error: RunError) -> Failure {
    match error {
        RunError::Render(error) => error.into(),
        RunError::Defect(what) => Error::Internal(what).into(),
        RunError::Folder { folder, problem } => Usage::new(folder.to_string_lossy().into_owned(), problem).into(),
        RunError::File { path, line, problem } => {
            let place = line.map_or(String::new(), |line| format!(", line {line}"));
            Usage::new(format!("{}{place}", path.display()), problem).into()
        }
        RunError::Experiment(error) => unreadable(&error),
    }
}

/// What the user is told of a file of an experiment that is wrong.
fn unreadable(error: &dwell_lab::experiment::ReadError) -> Failure {
    let place = error.place.map_or(String::new(), |(line, column)| format!(", line {line}, column {column}"));
    Usage::new(format!("{}{place}", error.file), error.problem.clone()).into()
}

/// What a run records of this machine.
fn machine() -> record::Machine {
    let looked = Machine::look();
    let (devices, no_device) = match dwell_cuda::devices() {
        Ok(devices) => (devices, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let described = devices.iter().map(|device| {
        let (major, minor) = device.capability;
        let gib = device.memory_bytes as f64 / f64::from(1 << 30);
        format!(
            "{}, compute capability {major}.{minor}, {gib:.0} GiB, {} multiprocessors, driver for CUDA {}",
            device.name, device.multiprocessors, device.driver
        )
    });
    let mut machine = record::Machine {
        processor: looked.processor,
        processors: machine::processors(),
        levels: Level::available().into_iter().map(|level| level.name().name().to_owned()).collect(),
        memory_bytes: looked.memory_bytes,
        devices: described.collect(),
        no_device,
        ..record::Machine::default()
    };
    dwell_lab::machine::complete(&mut machine);
    machine
}
