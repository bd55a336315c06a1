//! Ctrl-C, termination and hang-up: the program stops within a tenth of a second and leaves no temporary file.

use crate::output;
use dwell::Cancel;
use dwell::store::PartialFiles;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// State shared by the signal handler and the running command.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// Set by Ctrl-C.
    pub(crate) cancel: Cancel,
    /// Temporary files to remove if the program has to leave at once.
    pub(crate) partial_files: PartialFiles,
    /// A remark that is printed once, at the end of an interrupted program: by the command if it ends in time, else by the
    /// signal handler.
    remark: Arc<Mutex<Option<String>>>,
}

/// Time for the program to stop by itself before the handler exits. Kernels stop within a few milliseconds; a blocked
/// write, such as one to a FIFO without a reader, may never return.
const GRACE: Duration = Duration::from_millis(40);

impl Interrupt {
    /// Installs the handler for Ctrl-C, termination and hang-up. Where it cannot be installed, the system's default action
    /// ends the program.
    pub(crate) fn install() -> Self {
        let interrupt = Self::default();
        listen(interrupt.clone());
        interrupt
    }

    /// Sets the remark at the end of an interrupted program.
    pub(crate) fn set_remark(&self, text: Option<String>) {
        *self.remark.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Prints the remark, if there is one that is not printed yet.
    pub(crate) fn print_remark(&self) {
        if let Some(text) = self.remark.lock().unwrap_or_else(PoisonError::into_inner).take() {
            output::remark(&text);
        }
    }

    /// Cancels the command, waits for [`GRACE`], removes temporary files and exits with code 130.
    fn exit(&self) -> ! {
        self.cancel.cancel();
        std::thread::sleep(GRACE);
        self.partial_files.remove();
        self.print_remark();
        std::process::exit(130);
    }
}

#[cfg(unix)]
fn listen(interrupt: Interrupt) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    // Without the signal's default action, a write beyond the limit on file sizes returns an error like a full disk.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    // Signals that the parent process ignores (nohup, a background job of a shell) stay ignored.
    let ignored = ignored_signals();
    let wanted: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0).collect();
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    let _ = std::thread::Builder::new().spawn(move || {
        if signals.forever().next().is_some() {
            interrupt.exit();
        }
    });
}

/// The signals that were ignored at the start of the program, signal n as bit n - 1; none where the system does not
/// report them.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
fn listen(interrupt: Interrupt) {
    let _ = ctrlc::set_handler(move || interrupt.exit());
}
