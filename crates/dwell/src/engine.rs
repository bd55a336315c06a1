//! Engines: who iterates. All give the same bytes.

mod cpu;

pub use cpu::CpuEngine;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::field::Field;
use crate::plan::Plan;
use crate::progress::Progress;
use std::time::Duration;

/// Something that turns rows of a plan into a field.
pub trait Engine: Sync {
    /// Its name: `cpu`.
    fn name(&self) -> &'static str;
    /// The level its kernels run on: an instruction set, or a device's architecture.
    fn level(&self) -> String;
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
