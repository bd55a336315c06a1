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
    /// Installs the handler for Ctrl-C, termination and hang-up. Where signals cannot be handled, the system's default
    /// ends the program.
    pub(crate) fn install() -> Self {
        let interrupt = Self::default();
        listen(interrupt.clone());
        interrupt
    }

    fn leave(&self) -> ! {
        self.cancel.cancel();
        std::thread::sleep(GRACE);
        self.leftovers.remove();
        std::process::exit(130);
    }
}

#[cfg(unix)]
fn listen(interrupt: Interrupt) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    // A write beyond the limit on file sizes is an error like a full disk, not the end of the program.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    // What the parent has told us to ignore (nohup, a shell's background job) stays ignored.
    let ignored = ignored_signals();
    let wanted: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0).collect();
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    let _ = std::thread::Builder::new().spawn(move || {
        if signals.forever().next().is_some() {
            interrupt.leave();
        }
    });
}

/// The signals that were ignored when the program started, signal n as bit n - 1; none where the system does not say.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
fn listen(interrupt: Interrupt) {
    let _ = ctrlc::set_handler(move || interrupt.leave());
}
