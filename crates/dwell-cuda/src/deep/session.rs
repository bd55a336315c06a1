//! A deep session as the engine sees it: pixels of one view after another on a device. Behind it is a CUDA device or, in tests, one that fails on
//! request.

use crate::driver::Fault;
use crate::pool::SessionPool;
use dwell::{Attempted, Cancel, DeepAttempt, DeepPoints, DeviceReport};
use std::ops::Range;

/// The pixels of a session, at most: those of a picture of 1920 x 1080. More would not keep a device busier.
pub(crate) const MOST_PIXELS: usize = 1 << 21;

/// Pixels that are done, as far as they are decided.
#[derive(Clone, Debug)]
pub(crate) struct DeepRows<'a> {
    /// Dwells.
    pub(crate) dwell: &'a [u8],
    /// Smooth values, where they are wanted.
    pub(crate) smooth: &'a [u8],
    /// The numbers of those that are not decided.
    pub(crate) open: Vec<u32>,
}

/// State opened on a device for pixels of deep views.
pub(crate) trait DeepSession: Send {
    /// The most pixels that it has room for.
    fn capacity(&self) -> usize;
    /// Begins rows of a view.
    fn begin(&mut self, points: &DeepPoints, rows: Range<u32>) -> Result<(), Fault>;
    /// Makes an attempt at the open pixels, with memory for its blocks out of `memory`.
    fn attempt(&mut self, attempt: &DeepAttempt<'_>, memory: &SessionPool, cancel: &Cancel)
    -> Result<Attempted, Fault>;
    /// Waits for the results. With `with_smooth`, the last attempt was made for smooth values.
    fn finish(&mut self, with_smooth: bool) -> Result<DeepRows<'_>, Fault>;
    /// Adds the work since the last call to a report.
    fn report(&mut self, report: &mut DeviceReport);
}
