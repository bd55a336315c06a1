//! `dwell lab check`: runs everything small, and checks every output.

use super::flags::RenderFlags;
use super::observer::Teller;
use super::{experiments, failure};
use crate::cli::LabCheckArgs;
use crate::error_text::Failure;
use crate::interrupt::Interrupt;
use crate::{output, progress_bar};
use dwell::Progress;
use dwell_lab::Laboratory;
use dwell_lab::energy::Meter;
use dwell_lab::experiment::Extent;
use dwell_lab::record::{Entry, Status};
use dwell_lab::run::Amount;
use std::collections::BTreeMap;

/// What the entries of an experiment say.
#[derive(Default)]
struct Tally {
    equal: usize,
    heuristic: usize,
    wrong_pixels: u64,
    other_rounding: usize,
    bad: usize,
    /// Variants that were not run, by the reason.
    not_run: BTreeMap<String, usize>,
    quantities: usize,
}

/// Prints a line for each experiment. Returns 1 if anything is wrong.
pub(super) fn run(args: &LabCheckArgs, interrupt: &Interrupt) -> Result<u8, Failure> {
    let experiments = if args.what.is_empty() { experiments::all()? } else { experiments::named(&args.what)? };
    let programs = experiments::programs(args.engines.as_deref())?;
    let amount = Amount { extent: Extent::Check, engine: experiments::filter(&args.engine)?, seed: 0 };
    let (meter, progress) = (Meter::find(), Progress::default());
    let teller = Teller::new(&progress, true);
    let folder = std::env::temp_dir();
    let lab = Laboratory {
        flags: &RenderFlags,
        programs: &programs,
        cancel: &interrupt.cancel,
        observer: &teller,
        folder: &folder,
        meter: &meter,
    };
    progress.start(experiments.iter().map(|e| dwell_lab::run::weight(e, &amount)).sum(), Vec::new());
    let mut bad = 0;
    for experiment in &experiments {
        let mut entries: Vec<Entry> = Vec::new();
        let wanted = progress_bar::wanted(false);
        progress_bar::during(wanted, "checking", &progress, || lab.run(experiment, &amount, &[], &mut entries, None))
            .map_err(failure)?;
        let mut tally = Tally::default();
        for entry in &entries {
            tally.add(experiment, entry);
        }
        bad += tally.bad;
        output::print(&tally.text(&experiment.name))?;
    }
    Ok(u8::from(bad > 0))
}

impl Tally {
    /// Adds an entry, and prints what is wrong with it.
    fn add(&mut self, experiment: &dwell_lab::Experiment, entry: &Entry) {
        match entry {
            Entry::Case(case) => {
                let name = format!("{}/{}/{} at {:?}", experiment.name, case.series, case.variant, case.point);
                match &case.status {
                    Status::Equal => self.equal += 1,
                    Status::Heuristic { wrong } => {
                        self.heuristic += 1;
                        self.wrong_pixels += wrong;
                    }
                    Status::OtherRounding { .. } => self.other_rounding += 1,
                    Status::NotRun { why } => *self.not_run.entry(why.clone()).or_default() += 1,
                    Status::Failed { why } | Status::Wrong { why, .. } => {
                        self.bad += 1;
                        output::remark(&format!("{name}: {why}"));
                    }
                }
            }
            Entry::Quantity(entry) => {
                self.quantities += 1;
                let quantity = experiment.quantities.iter().find(|quantity| quantity.name == entry.name);
                let name = format!("{}/{}", experiment.name, entry.name);
                match (&entry.value, quantity) {
                    (Ok(value), Some(quantity)) if !quantity.agrees(*value) => {
                        self.bad += 1;
                        let expected = quantity.expect.unwrap_or(f64::NAN);
                        output::remark(&format!("{name}: {value}, expected {expected}"));
                    }
                    (Err(why), _) => {
                        self.bad += 1;
                        output::remark(&format!("{name}: {why}"));
                    }
                    _ => {}
                }
            }
            Entry::Sample(_) | Entry::Peak(_) | Entry::Finished => {}
        }
    }

    fn text(&self, name: &str) -> String {
        let mut text = format!(
            "{name:<12}{} fields equal the reference, {} heuristic ({} wrong pixels), {} of another rounding; {} quantities as \
             expected; {} wrong\n",
            self.equal, self.heuristic, self.wrong_pixels, self.other_rounding, self.quantities, self.bad
        );
        for (why, count) in &self.not_run {
            text.push_str(&format!("{:<12}not run: {count}: {}\n", "", dwell::escape(why)));
        }
        text
    }
}
