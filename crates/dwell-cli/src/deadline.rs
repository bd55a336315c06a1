//! Work that ends when its time is up.

use dwell::Cancel;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Time between two looks at the interruption.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `work` with a flag that is set after `most`, and as soon as `interrupted` is. Where the system starts no thread to watch the time, the
/// flag is set from the beginning.
pub(crate) fn within<R>(most: Duration, interrupted: &Cancel, work: impl FnOnce(&Cancel) -> R) -> R {
    let deadline = Instant::now() + most;
    let cancel = Cancel::default();
    let (done, ended) = channel::<()>();
    std::thread::scope(|scope| {
        let watch = || {
            let ended = ended;
            let left = || deadline.saturating_duration_since(Instant::now());
            while ended.recv_timeout(left().min(LOOK)) == Err(RecvTimeoutError::Timeout) {
                if interrupted.is_cancelled() || left().is_zero() {
                    return cancel.cancel();
                }
            }
        };
        if Builder::new().spawn_scoped(scope, watch).is_err() {
            cancel.cancel();
        }
        // Dropped when the work ends, by a panic too, so that the thread ends with it.
        let _done = done;
        work(&cancel)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(cancel: &Cancel) -> Duration {
        let began = Instant::now();
        while !cancel.is_cancelled() && began.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        began.elapsed()
    }

    #[test]
    fn work_ends_at_the_deadline_at_an_interruption_or_by_itself() {
        let long = Duration::from_secs(3600);
        let cancel = Cancel::default();
        let took = within(Duration::from_millis(50), &cancel, waits);
        assert!(took >= Duration::from_millis(50) && took < Duration::from_secs(60), "{took:?}");
        assert!(!within(long, &cancel, Cancel::is_cancelled));
        cancel.cancel();
        assert!(within(long, &cancel, waits) < Duration::from_secs(60));
    }
}
