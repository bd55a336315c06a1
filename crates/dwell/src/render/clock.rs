//! Decides when a render writes an entry of its journal.

use crate::plan::points::Points;
use crate::render::request::Request;
use crate::render::tally::Tally;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The longest time between two checks whether an entry is due, and the number of checks in an interval.
const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(100);
const CHECKS: u32 = 8;
/// Those at depth, where the last orbits of each slice of rows take long, one by one, while threads wait: with slices of 100 ms rf-dragon took 1.3 times as long.
const MAX_DEEP_CHECK_INTERVAL: Duration = Duration::from_secs(2);
const DEEP_CHECKS: u32 = 2;

/// The times at which entries of a journal are due.
pub(super) struct Clock {
    began: Instant,
    interval: Option<Duration>,
    max_check_interval: Duration,
    checks: u32,
    last: Cell<Instant>,
}

impl Clock {
    pub(super) fn new(request: &Request<'_>, began: Instant) -> Self {
        let interval = request.journaling.as_ref().and_then(|journaling| journaling.interval);
        let is_deep = matches!(request.plan.points(), Points::Deep(_));
        let (max_check_interval, checks) =
            if is_deep { (MAX_DEEP_CHECK_INTERVAL, DEEP_CHECKS) } else { (MAX_CHECK_INTERVAL, CHECKS) };
        Self { began, interval, max_check_interval, checks, last: Cell::new(Instant::now()) }
    }

    /// Whether the render saves entries in a journal.
    pub(super) fn is_running(&self) -> bool {
        self.interval.is_some()
    }

    /// The time from one call of [`Self::if_due`] to the next; `None` without a journal.
    pub(super) fn check_interval(&self) -> Option<Duration> {
        self.interval.map(|interval| (interval / self.checks).min(self.max_check_interval))
    }

    /// Saves an entry if one is due. The next one is due an interval after this one is saved, so that the render goes on even
    /// if saving takes longer than the interval.
    pub(super) fn if_due<E>(&self, save: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if self.interval.is_none_or(|interval| self.last.get().elapsed() < interval) {
            return Ok(());
        }
        let saved = save();
        self.last.set(Instant::now());
        saved
    }

    /// The sums since the process began, without those of the writer. `thread_seconds` are the thread times of colouring,
    /// encoding and hashing.
    pub(super) fn tally(&self, tally: &Tally, thread_seconds: [f64; 3], threads: usize) -> Tally {
        let mut tally = tally.clone();
        let [colour, encode, hash] = thread_seconds;
        // Wall time as if all threads had done this work at the same time and nothing else.
        tally.seconds.colour += colour / threads as f64;
        tally.seconds.encode += encode / threads as f64;
        tally.seconds.hash += hash / threads as f64;
        tally.seconds.total = self.began.elapsed().as_secs_f64();
        tally
    }
}
