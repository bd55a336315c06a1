//! What the engine asks of a device: rows of one plan, started and finished in turns. A real device is behind it, or in
//! tests one that fails when it is told to.

use crate::driver::Fault;
use crate::options::Options;
use dwell::{Cancel, DeviceReport, Painter, Plan, Shortcuts};
use std::ops::Range;

/// Rows can be on their way in so many slots at once.
pub(crate) const SLOTS: usize = 2;

/// What is wanted of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Dwells.
    Dwells,
    /// Dwells and smooth values.
    SmoothValues,
    /// The picture's bytes.
    Picture,
}

/// What a lane is opened for.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shortcuts: Shortcuts,
    pub(crate) options: Options,
    pub(crate) wanted: Wanted,
    /// Where a picture is wanted.
    pub(crate) painter: Option<&'a Painter>,
}

/// Rows that have come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered<'a> {
    /// Dwells, or the picture.
    pub(crate) bytes: &'a [u8],
    /// Smooth values.
    pub(crate) smooth: &'a [u8],
    /// Of a picture: iterations that the plain loop needs, and samples that did not escape.
    pub(crate) totals: (u64, u64),
}

/// A device at work on one job.
pub(crate) trait Lane: Send {
    /// Starts rows in a slot that is free, and returns before they are done, mostly.
    fn start(&mut self, slot: usize, rows: Range<u32>, cancel: &Cancel) -> Result<(), Fault>;
    /// Waits for the rows in a slot, which is free again once what is returned is let go.
    fn finish(&mut self, slot: usize) -> Result<Delivered<'_>, Fault>;
    /// Rows that can be started at once.
    fn rows(&self) -> u32;
    /// Adds what was done since it was last asked.
    fn report(&mut self, report: &mut DeviceReport);
}

/// A device that lanes can be opened on.
pub(crate) trait Opens: Send + Sync {
    /// Opens a lane for a job that takes about so many pixels at once; if `frugal`, it keeps no more than these.
    fn open(&self, job: &Job<'_>, pixels: u64, frugal: bool, report: &mut DeviceReport)
    -> Result<Box<dyn Lane>, Fault>;
}
