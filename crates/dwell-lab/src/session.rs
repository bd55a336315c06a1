//! What is kept during a run: the references of the present point, and the peaks.

use crate::contestant::{Contestant, Trouble};
use crate::engine_filter::EngineFilter;
use crate::experiment::{Extent, Flags};
use crate::laboratory::Laboratory;
use crate::record::{Entry, PeakEntry, Sink};
use crate::reference::{self, Reference};
use crate::setup::Unusable;
use dwell::ThreadPool;
use std::collections::BTreeMap;

/// What is kept during a run.
pub(crate) struct Session {
    pub(crate) extent: Extent,
    pub(crate) engine: EngineFilter,
    /// Rounds of samples in the present series; 0 in a check.
    pub(crate) rounds: u32,
    /// The references of the present point by [`crate::workload::key`].
    pub(crate) references: BTreeMap<String, Reference>,
    /// Peaks by name, each with the flags of a variant that refers to it if it was measured in this session.
    pub(crate) peaks: BTreeMap<String, Option<Flags>>,
}

impl Session {
    /// The reference of a contestant's plan, computed once for each point.
    pub(crate) fn reference(
        &mut self,
        key: &str,
        contestant: &Contestant<'_>,
        lab: &Laboratory<'_>,
    ) -> Result<&Reference, Trouble> {
        if !self.references.contains_key(key) {
            let setup = &contestant.setup;
            // Pixels of 2^27 are half a gigabyte; of such fields only one is kept.
            if contestant.plan.size().pixels() > 1 << 27 {
                self.references.clear();
            }
            let level = dwell::Level::best();
            let reference =
                reference::compute(&contestant.plan, level, ThreadPool::processors(), &setup.limits, lab.cancel)?;
            self.references.insert(key.to_owned(), reference);
        }
        self.references.get(key).ok_or_else(|| Trouble::Failed("there is no reference".to_owned()))
    }

    /// The name of the peak that a contestant's rate is compared with; measured once. Empty where it cannot be measured.
    pub(crate) fn peak(
        &mut self,
        contestant: &Contestant<'_>,
        flags: &Flags,
        lab: &Laboratory<'_>,
        sink: &mut dyn Sink,
    ) -> Result<String, Trouble> {
        let (setup, plan) = (&contestant.setup, &contestant.plan);
        let place = match setup.device {
            Some(number) => format!("cuda:{number}"),
            None => {
                // More threads than processors have the same peak.
                let threads = setup.threads.min(ThreadPool::processors());
                let s = if threads == 1 { "" } else { "s" };
                format!("cpu {} {threads} thread{s}", setup.level.name().name())
            }
        };
        let formula = plan.formula();
        let name = format!("{place}, {} {}, {} {}", formula.name(), formula.power(), plan.number(), plan.recipe());
        if !self.peaks.contains_key(&name) {
            let measured = match lab.flags.peak(setup, lab.cancel) {
                Ok(rate) => rate,
                Err(Unusable::NotHere(_) | Unusable::Wrong(_)) => {
                    lab.cancel.check()?;
                    return Ok(String::new());
                }
            };
            let entry = PeakEntry { name: name.clone(), iterations_per_second: measured };
            sink.add(Entry::Peak(entry)).map_err(|e| Trouble::Failed(e.to_string()))?;
            self.peaks.insert(name.clone(), Some(flags.clone()));
        }
        Ok(name)
    }
}
