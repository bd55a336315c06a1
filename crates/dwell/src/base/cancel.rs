//! Stopping a render from another thread.

use crate::base::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that every stage checks. Within a few milliseconds of [`Cancel::cancel`] the render returns
/// [`Error::Interrupted`] and removes its unfinished files, except those that a journal needs to resume the render.
/// Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests the stop. A request cannot be withdrawn.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the stop has been requested.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Error::Interrupted`] if the stop has been requested.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// The flag itself, `true` once the stop has been requested. Kernels check it directly.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
