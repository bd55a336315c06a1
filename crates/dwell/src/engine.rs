//! Engines: who iterates. All give the same bytes.

mod cpu;

pub use cpu::CpuEngine;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::field::Field;
use crate::plan::Plan;
use crate::progress::Progress;
use std::time::Duration;

/// Exact shortcuts: they change no dwell, only the time it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shortcuts {
    /// Every point is iterated to its escape or the limit.
    None,
    /// A point whose orbit comes back to a z that it had before is spared the rest. Holds for every formula, recipe and
    /// R.
    #[default]
    Exact,
}

impl Shortcuts {
    /// Both.
    pub const ALL: [Self; 2] = [Self::None, Self::Exact];

    /// Its name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Exact => "exact",
        }
    }
}

/// Something that turns rows of a plan into a field.
pub trait Engine: Sync {
    /// Its name: `cpu`.
    fn name(&self) -> &'static str;
    /// The level its kernels run on: an instruction set, or a device's architecture.
    fn level(&self) -> String;
    /// The shortcuts it takes.
    fn shortcuts(&self) -> Shortcuts;
    /// Threads of this machine that it keeps busy.
    fn threads(&self) -> usize;
    /// Fills the rows that `field` was prepared for: every dwell, and every smooth value if there is room for them.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; the field's contents are then undefined.
    fn iterate(&self, plan: &Plan, field: &mut Field, cancel: &Cancel, progress: &Progress) -> Result<Spent, Error>;
}

/// Wall time that an engine spent on a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// On dwells.
    pub iterate: Duration,
    /// On smooth values: part of colouring, though the engine does it while the points are at hand.
    pub smooth: Duration,
}
