//! What a run shows while it goes on: a line for each series and for what fails, and a progress bar on a terminal.

use crate::output;
use dwell::Progress;
use dwell_lab::Experiment;
use dwell_lab::Observer;
use dwell_lab::experiment::{Point, Series};
use dwell_lab::record::{CaseEntry, QuantityEntry, Status};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Shows a run on standard error.
pub(super) struct Teller<'a> {
    progress: &'a Progress,
    quiet: bool,
    /// What was said of the present series, and reasons that were given for what is not run.
    said: Mutex<(BTreeSet<String>, BTreeSet<String>)>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(progress: &'a Progress, quiet: bool) -> Self {
        Self { progress, quiet, said: Mutex::default() }
    }

    /// Says something once in a series.
    fn once(&self, text: String) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.quiet && said.0.insert(text.clone()) {
            output::remark(&text);
        }
    }

    /// Gives a reason once in a run.
    fn not_run(&self, variant: &str, why: &str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.quiet && said.1.insert(why.to_owned()) {
            output::remark(&format!("  not run: {variant}, and whatever needs the same: {why}"));
        }
    }
}

impl Observer for Teller<'_> {
    fn series(&self, experiment: &Experiment, series: &Series, points: usize) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).0.clear();
        if !self.quiet {
            let (s, variants) = (if points == 1 { "" } else { "s" }, series.variants.len());
            let name = format!("{}/{}", experiment.name, series.name);
            output::remark(&format!("{name}: {} ({points} point{s}, {variants} variants)", series.title));
        }
    }

    fn point(&self, weight: u64, _point: &Point) {
        self.progress.add(weight);
    }

    fn checked(&self, entry: &CaseEntry) {
        let variant = &entry.variant;
        match &entry.status {
            Status::Equal | Status::Heuristic { .. } | Status::OtherRounding { .. } => {}
            Status::NotRun { why } => self.not_run(variant, why),
            Status::Failed { why } => self.once(format!("  failed: {variant}: {why}")),
            Status::Wrong { why, .. } => self.once(format!("  WRONG, and not timed: {variant}: {why}")),
        }
    }

    fn quantity(&self, experiment: &Experiment, entry: &QuantityEntry) {
        let quantity = experiment.quantities.iter().find(|quantity| quantity.name == entry.name);
        match (&entry.value, quantity) {
            (Err(why), _) => self.once(format!("  {}/{}: {why}", experiment.name, entry.name)),
            (Ok(value), Some(quantity)) if !quantity.agrees(*value) => {
                let expected = quantity.expect.unwrap_or(f64::NAN);
                self.once(format!("  {}/{}: {value}, expected {expected}", experiment.name, entry.name));
            }
            _ => {}
        }
    }
}
