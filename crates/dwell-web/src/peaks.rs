//! The greatest rates of the iteration, each measured once, which takes two seconds.

use dwell::{Cancel, CpuEngine, Engine, Error, NumberKind, Plan, peak};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Iterations a second, by what they depend on: formula, number, recipe, level and threads.
#[derive(Debug, Default)]
pub(crate) struct Peaks(Mutex<HashMap<String, f64>>);

impl Peaks {
    /// The greatest rate of the iteration of a plan by an engine; none in exact arithmetic.
    ///
    /// # Errors
    /// When the call was cancelled.
    pub(crate) fn rate(&self, cpu: &CpuEngine, plan: &Plan, cancel: &Cancel) -> Result<Option<f64>, Error> {
        if plan.number() == NumberKind::Exact {
            return Ok(None);
        }
        let (formula, number, recipe, level) = (plan.formula(), plan.number(), plan.recipe(), cpu.level());
        let threads = cpu.pool().threads();
        let key = format!("{formula:?} {number} {recipe:?} {} {threads}", level.name());
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).copied();
        if known.is_some() {
            return Ok(known);
        }
        let rate = peak::measure(formula, number, recipe, level, threads, cancel)?.peak_iterations_per_second;
        lock().insert(key, rate);
        Ok(Some(rate))
    }
}
