//! Stopping a render from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that every stage looks at: within a few milliseconds of [`Cancel::cancel`] the render returns
/// [`crate::Error::Interrupted`] and leaves no file behind. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks for the stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`crate::Error::Interrupted`] if it was asked for.
    pub(crate) fn check(&self) -> Result<(), crate::Error> {
        if self.is_cancelled() { Err(crate::Error::Interrupted) } else { Ok(()) }
    }

    /// The flag itself, for kernels.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
