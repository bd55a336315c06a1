//! Ctrl-C: stop within a tenth of a second and leave no file behind.

use dwell::Cancel;
use dwell::store::Leftovers;
use std::time::Duration;

/// What the handler needs, shared with whatever runs.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// Set by Ctrl-C.
    pub(crate) cancel: Cancel,
    /// Temporary files to remove if the program has to leave at once.
    pub(crate) leftovers: Leftovers,
}

/// How long the program has to stop by itself. Kernels do within a few milliseconds; a write that the system does not
/// finish, or a FIFO that nobody reads, may never.
const GRACE: Duration = Duration::from_millis(60);

impl Interrupt {
    /// Installs the handler for Ctrl-C, termination and hang-up.
    pub(crate) fn install() -> Self {
        let interrupt = Self::default();
        let shared = interrupt.clone();
        // It fails only where signals cannot be handled at all: then the system's default ends the program.
        let _ = ctrlc::set_handler(move || {
            shared.cancel.cancel();
            std::thread::sleep(GRACE);
            shared.leftovers.remove();
            std::process::exit(130);
        });
        interrupt
    }
}
