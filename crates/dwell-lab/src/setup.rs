//! From flags to what computes: the laboratory uses the flags of `dwell render`, and leaves reading them to the program.

use crate::experiment::Flags;
use dwell::{Cancel, Engine, Format, Level, Limits, Scene, Schedule};
use std::sync::Arc;

/// Reads flags of `dwell render`.
pub trait FlagReader: Sync {
    /// What the flags describe.
    ///
    /// # Errors
    /// When a flag is wrong, or this machine does not have what it names.
    fn setup(&self, flags: &Flags) -> Result<Setup, Unusable>;

    /// Measures the iterations per second that the processors or the device of a setup can reach with its formula, number and
    /// recipe.
    ///
    /// # Errors
    /// When it cannot be measured, or `cancel` was cancelled.
    fn peak(&self, setup: &Setup, cancel: &Cancel) -> Result<f64, Unusable>;
}

/// What flags describe.
pub struct Setup {
    /// What is computed.
    pub scene: Scene,
    /// What computes it.
    pub engine: Arc<dyn Engine>,
    /// The number of the CUDA device, if the engine is one.
    pub device: Option<u32>,
    /// The instruction set of the processors.
    pub level: Level,
    /// Threads of the processors.
    pub threads: usize,
    /// How work is distributed to them.
    pub schedule: Schedule,
    /// The formats of a picture or an array.
    pub formats: Vec<Format>,
    /// The memory that may be taken.
    pub limits: Limits,
}

/// Why flags give nothing to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// This machine does not have what they name.
    NotHere(String),
    /// A flag is wrong.
    Wrong(String),
}
