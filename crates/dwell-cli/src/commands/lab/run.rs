//! `dwell lab run`: runs experiments into a folder, or goes on with one.

use super::flags::RenderFlags;
use super::observer::Teller;
use super::{experiments, failure, records};
use crate::cli::{LabRunArgs, LabRunningArgs};
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::{engine, output, progress_bar};
use dwell::{Error, Progress};
use dwell_lab::Experiment;
use dwell_lab::energy::Meter;
use dwell_lab::experiment::Extent;
use dwell_lab::program::Programs;
use dwell_lab::record::{self, FORMAT, Header, Recorder, RunError, Sink};
use dwell_lab::report::Report;
use dwell_lab::run::Amount;
use dwell_lab::{Laboratory, Observer};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Most records of one machine on one day.
const MOST_RECORDS: u32 = 10_000;

/// A run to do, or to go on with.
pub(super) struct Job {
    pub(super) experiments: Vec<Experiment>,
    pub(super) programs: Programs,
    pub(super) header: Header,
    pub(super) amount: Amount,
    pub(super) folder: PathBuf,
    pub(super) quiet: bool,
    /// The command that goes on with it.
    pub(super) again: String,
}

pub(super) fn run(args: &LabRunArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let LabRunningArgs { engine, record, engines, quiet, .. } = &args.running;
    let earlier = match record {
        Some(folder) => record::read_header(folder).map_err(failure)?,
        None => None,
    };
    let programs = experiments::programs(engines.as_deref())?;
    if let Some(header) = earlier {
        return go_on(args, header, programs, interrupt);
    }
    if args.what.is_empty() {
        return Err(Usage::new("NAME|FILE", "no experiment is named")
            .accepts("names from `dwell lab list`, files, or all")
            .hint("dwell lab run all --quick")
            .into());
    }
    let experiments = experiments::named(&args.what)?;
    let extent = if args.quick { Extent::Quick } else { Extent::Whole };
    let seed = seed(args.running.seed.as_deref())?;
    let amount = Amount { extent, engine: experiments::filter(engine)?, seed };
    let meter = Meter::find();
    let header = header(&experiments, &amount, engine, &meter);
    let folder = match record {
        Some(folder) => folder.clone(),
        None => new_folder(&header)?,
    };
    let again = format!("dwell lab run --record {}", folder.display());
    let job = Job { experiments, programs, header, amount, folder, quiet: *quiet, again };
    job.run(&meter, interrupt)
}

/// Goes on with an interrupted run, with the experiments that its folder holds.
fn go_on(args: &LabRunArgs, header: Header, programs: Programs, interrupt: &Interrupt) -> Result<(), Failure> {
    let folder = args.running.record.clone().unwrap_or_default();
    let shown = folder.display().to_string();
    let mut experiments = Vec::new();
    for name in &header.experiments {
        let path = record::experiment_path(&folder, name);
        experiments.push(experiments::one(&path.to_string_lossy())?.0);
    }
    let named: Vec<String> = experiments::named(&args.what)?.into_iter().map(|experiment| experiment.name).collect();
    let conflicts = !named.is_empty() && named != header.experiments
        || args.quick && header.extent != "quick"
        || args.running.engine != "auto" && args.running.engine != header.engine;
    if conflicts {
        return Err(Usage::new("--record", format!("{shown} holds another run"))
            .accepts("a folder without a run, or no experiments and no --engine to go on with it")
            .into());
    }
    let extent = if header.extent == "quick" { Extent::Quick } else { Extent::Whole };
    let amount = Amount { extent, engine: experiments::filter(&header.engine)?, seed: header.seed };
    let again = format!("dwell lab run --record {shown}");
    let job = Job { experiments, programs, header, amount, folder, quiet: args.running.quiet, again };
    job.run(&Meter::find(), interrupt)
}

/// What holds for a run.
pub(super) fn header(experiments: &[Experiment], amount: &Amount, engine: &str, meter: &Meter) -> Header {
    let mut machine = super::machine();
    machine.energy = meter.description().to_owned();
    Header {
        format: FORMAT,
        version: format!("{} ({})", env!("CARGO_PKG_VERSION"), env!("DWELL_COMMIT")),
        began: dwell_lab::machine::date(SystemTime::now()),
        extent: if amount.extent == Extent::Quick { "quick" } else { "whole" }.to_owned(),
        engine: engine.to_owned(),
        experiments: experiments.iter().map(|experiment| experiment.name.clone()).collect(),
        seed: amount.seed,
        machine,
    }
}

/// The seed that a flag names, or one by the time.
pub(super) fn seed(flag: Option<&str>) -> Result<u64, Failure> {
    match flag {
        Some(text) => Ok(engine::whole("--seed", text, 0, u64::MAX)?),
        None => {
            let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            Ok(time.as_secs())
        }
    }
}

/// A new folder for a record: the date and the machine's processor or device.
pub(super) fn new_folder(header: &Header) -> Result<PathBuf, Failure> {
    let machine = header.machine.devices.first().unwrap_or(&header.machine.processor);
    let words = machine.split([',', '@']).next().unwrap_or_default().to_lowercase();
    let words = words.replace("(r)", "").replace("(tm)", "");
    let words: Vec<&str> = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let date = header.began.split('T').next().unwrap_or_default();
    let name = format!("{date}-{}", words.join("-"));
    let free = (1..MOST_RECORDS).map(|number| match number {
        1 => Path::new(records::USUAL).join(&name),
        _ => Path::new(records::USUAL).join(format!("{name}-{number}")),
    });
    let free = free.into_iter().find(|folder| !folder.exists());
    free.ok_or_else(|| Usage::new("--record", format!("{} has too many records of today", records::USUAL)).into())
}

impl Job {
    /// Runs what is not recorded yet.
    pub(super) fn run(&self, meter: &Meter, interrupt: &Interrupt) -> Result<(), Failure> {
        record::write_header(&self.folder, &self.header).map_err(failure)?;
        // All texts first, so that a run that is interrupted at once can go on.
        let mut recorders = Vec::new();
        for experiment in &self.experiments {
            recorders.push(Recorder::open(&self.folder, experiment).map_err(failure)?);
        }
        if !self.quiet {
            output::remark(&format!("recording into {}", self.folder.display()));
        }
        let progress = Progress::default();
        let total = self.experiments.iter().map(|e| dwell_lab::run::weight(e, &self.amount)).sum();
        progress.start(total, Vec::new());
        let teller = Teller::new(&progress, self.quiet);
        let ran = progress_bar::during(progress_bar::wanted(self.quiet), "measuring", &progress, || {
            self.measure(meter, interrupt, &teller, recorders)
        });
        ran.map_err(|error| match error {
            RunError::Render(Error::Interrupted) => {
                output::remark(&format!("every sample so far is kept; `{}` goes on", self.again));
                Error::Interrupted.into()
            }
            other => failure(other),
        })?;
        self.conclude()
    }

    fn measure(
        &self,
        meter: &Meter,
        interrupt: &Interrupt,
        observer: &dyn Observer,
        recorders: Vec<Recorder>,
    ) -> Result<(), RunError> {
        let lab = Laboratory {
            flags: &RenderFlags,
            programs: &self.programs,
            cancel: &interrupt.cancel,
            observer,
            folder: &self.folder,
            meter,
        };
        for (experiment, mut recorder) in self.experiments.iter().zip(recorders) {
            let earlier = record::read_log(&record::log_path(&self.folder, &experiment.name))?;
            let sink: &mut dyn Sink = &mut recorder;
            lab.run(experiment, &self.amount, &earlier, sink, Some(&self.folder))?;
        }
        Ok(())
    }

    /// Writes the report, and prints what came out.
    fn conclude(&self) -> Result<(), Failure> {
        let run = record::read_run(&self.folder).map_err(failure)?;
        super::report::write_all(&run, &self.folder)?;
        if self.quiet {
            return output::print(&format!("{}\n", self.folder.display()));
        }
        let page = self.folder.join("report.html");
        output::print(&format!(
            "{}\n\nrecord: {}\nreport: {}\n",
            Report::new(&run).text(),
            self.folder.display(),
            page.display()
        ))
    }
}
