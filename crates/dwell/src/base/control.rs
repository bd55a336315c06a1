//! What a call shares with the thread that waits for it.

use super::cancel::Cancel;
use super::progress::Progress;

/// How a call is cancelled and its progress observed.
#[derive(Clone, Copy, Debug)]
pub struct Control<'a> {
    /// Cancels the call.
    pub cancel: &'a Cancel,
    /// Counts the pixels that are done.
    pub progress: &'a Progress,
}
