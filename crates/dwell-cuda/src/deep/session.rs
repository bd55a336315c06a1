//! A deep session as the engine sees it: pixels of one view after another on a device. Behind it is a CUDA device or, in tests, one that fails on
//! request.

use crate::driver::Fault;
use crate::pool::SessionPool;
use dwell::{Attempted, Cancel, Channel, ChannelSet, DeepAttempt, DeepPoints, DeviceReport};
use std::ops::Range;

/// The pixels of a session, at most: those of a picture of 1920 x 1080. More would not keep a device busier.
pub(crate) const MOST_PIXELS: usize = 1 << 21;

/// What of the pixels a session delivers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Their dwells.
    Dwells,
    /// Their values of a channel.
    Values(Channel),
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
    /// Waits for the results, of pixels that are decided, and has their bytes stored, of others any. Returns the numbers of the open pixels. The attempts were made for these channels.
    fn finish(&mut self, channels: ChannelSet, store: &mut dyn FnMut(Part, &[u8])) -> Result<Vec<u32>, Fault>;
    /// Adds the work since the last call to a report.
    fn report(&mut self, report: &mut DeviceReport);
}
