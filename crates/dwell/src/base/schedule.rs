//! The order in which pieces of work are distributed among threads.
//!
//! A schedule decides only which thread does which piece, so it changes the time of a computation and never its result.
//! All of them are kept because comparing them is one of the purposes of this project. `dynamic` is the default: there
//! are many pieces, and their costs differ by orders of magnitude.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::quote::quote;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The order in which threads receive pieces of work. It changes the time that the work takes, never its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Each thread receives one contiguous block of equally many pieces, regardless of their cost.
    Static,
    /// A free thread receives the next `chunk` pieces.
    Dynamic {
        /// Pieces received at once. 0 counts as 1.
        chunk: usize,
    },
    /// A free thread receives the next `left / (2 * threads)` pieces, rounded up, of the `left` that remain: large
    /// ranges first, single pieces at the end.
    Guided,
    /// Each thread starts with a block as in `static`. A thread whose block is empty receives the second half of the
    /// longest remaining block.
    WorkStealing,
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Dynamic { chunk: 1 }
    }
}

impl Schedule {
    /// Most pieces that a thread may receive at once.
    pub const MOST_CHUNK: usize = 1_000_000_000;
    /// The names of the schedules in text; `dynamic` may be followed by `:CHUNK`.
    pub const NAMES: [&'static str; 4] = ["static", "dynamic", "guided", "work-stealing"];
}

impl std::str::FromStr for Schedule {
    type Err = InputError;

    /// Reads one of [`Self::NAMES`], or `dynamic:CHUNK` with a chunk of 1 to [`Self::MOST_CHUNK`] pieces.
    fn from_str(text: &str) -> Result<Self, InputError> {
        let wrong = |error: InputError, accepted: &str| error.about(Parameter::Named("schedule")).accepts(accepted);
        let (name, chunk) = text.split_once(':').map_or((text, None), |(name, chunk)| (name, Some(chunk)));
        match (name, chunk) {
            ("static", None) => Ok(Self::Static),
            ("dynamic", None) => Ok(Self::default()),
            ("dynamic", Some(chunk)) => {
                let accepted = format!("dynamic:CHUNK, CHUNK from 1 to {}", Self::MOST_CHUNK);
                if chunk.is_empty() || !chunk.bytes().all(|byte| byte.is_ascii_digit()) {
                    let problem = format!("the chunk {} is not a whole number", quote(chunk));
                    return Err(wrong(InputError::malformed(problem), &accepted));
                }
                let chunk = chunk.parse().ok().filter(|chunk| (1..=Self::MOST_CHUNK).contains(chunk));
                let chunk = chunk.ok_or_else(|| wrong(InputError::out_of_range(text), &accepted))?;
                Ok(Self::Dynamic { chunk })
            }
            ("guided", None) => Ok(Self::Guided),
            ("work-stealing", None) => Ok(Self::WorkStealing),
            (name, Some(_)) if Self::NAMES.contains(&name) => {
                let problem = Problem::Conflict(format!("{} takes no chunk", quote(name)));
                Err(wrong(InputError::new(problem), SCHEDULES))
            }
            _ => Err(wrong(InputError::unknown(name, Self::NAMES), SCHEDULES)),
        }
    }
}

/// The accepted texts of a schedule.
const SCHEDULES: &str = "static, dynamic[:CHUNK], guided, work-stealing";

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Static => f.write_str("static"),
            Self::Dynamic { chunk } => write!(f, "dynamic:{chunk}"),
            Self::Guided => f.write_str("guided"),
            Self::WorkStealing => f.write_str("work-stealing"),
        }
    }
}

/// Distributes the indices of pieces among threads as ranges. Each index is returned once.
pub(super) enum Dispenser {
    Blocks { count: usize, threads: usize, taken: Vec<AtomicBool> },
    Chunks { count: usize, chunk: usize, next: AtomicUsize },
    Shrinking { count: usize, threads: usize, next: AtomicUsize },
    Stealing { ranges: Vec<AtomicU64> },
}

/// A range in one 64-bit word, so that one atomic operation changes it.
fn packed(first: usize, end: usize) -> u64 {
    (first as u64) << 32 | end as u64
}

fn unpacked(range: u64) -> (usize, usize) {
    ((range >> 32) as usize, (range & 0xffff_ffff) as usize)
}

impl Dispenser {
    pub(super) fn new(schedule: Schedule, threads: usize, count: usize) -> Self {
        assert!(u32::try_from(count).is_ok(), "{count} pieces are more than the 32 bits of a range hold");
        match schedule {
            Schedule::Static => {
                Self::Blocks { count, threads, taken: (0..threads).map(|_| AtomicBool::new(false)).collect() }
            }
            Schedule::Dynamic { chunk } => Self::Chunks { count, chunk: chunk.max(1), next: AtomicUsize::new(0) },
            Schedule::Guided => Self::Shrinking { count, threads, next: AtomicUsize::new(0) },
            Schedule::WorkStealing => {
                let block = |thread| block(count, threads, thread);
                Self::Stealing {
                    ranges: (0..threads).map(block).map(|(first, end)| AtomicU64::new(packed(first, end))).collect(),
                }
            }
        }
    }

    /// The next range for this thread, not empty; `None` when no pieces are left for it.
    pub(super) fn next(&self, thread: usize) -> Option<(usize, usize)> {
        match self {
            Self::Blocks { count, threads, taken } => {
                let (first, end) = block(*count, *threads, thread);
                (!taken[thread].swap(true, Ordering::Relaxed) && first < end).then_some((first, end))
            }
            Self::Chunks { count, chunk, next } => take(next, *count, |_| *chunk),
            Self::Shrinking { count, threads, next } => take(next, *count, |left| left.div_ceil(2 * threads)),
            Self::Stealing { ranges } => {
                let own = &ranges[thread];
                loop {
                    let range = own.load(Ordering::Relaxed);
                    let (first, end) = unpacked(range);
                    if first < end {
                        if change(own, range, packed(first + 1, end)) {
                            return Some((first, first + 1));
                        }
                    } else {
                        // Take half of the longest range.
                        let left = |range: u64| unpacked(range).1.saturating_sub(unpacked(range).0);
                        let (longest, range) = ranges
                            .iter()
                            .map(|range| (range, range.load(Ordering::Relaxed)))
                            .max_by_key(|(_, range)| left(*range))?;
                        let (first, end) = unpacked(range);
                        if first >= end {
                            return None;
                        }
                        let middle = first + (end - first) / 2;
                        // Each index is returned once, so a range never takes a former value again. The comparison
                        // therefore succeeds only if the range has not changed since it was loaded.
                        if change(longest, range, packed(first, middle)) {
                            own.store(packed(middle + 1, end), Ordering::Relaxed);
                            return Some((middle, middle + 1));
                        }
                    }
                }
            }
        }
    }
}

/// The block of `thread` when `count` pieces are divided equally among `threads`.
fn block(count: usize, threads: usize, thread: usize) -> (usize, usize) {
    (count * thread / threads, count * (thread + 1) / threads)
}

/// The next pieces of a sequence that all threads share: `size(left)` of the `left` that remain.
fn take(next: &AtomicUsize, count: usize, size: impl Fn(usize) -> usize) -> Option<(usize, usize)> {
    loop {
        let first = next.load(Ordering::Relaxed);
        if first >= count {
            return None;
        }
        let end = first + size(count - first).clamp(1, count - first);
        if next.compare_exchange_weak(first, end, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            return Some((first, end));
        }
    }
}

/// Replaces `from` by `to`; `false` if the range was not `from`.
fn change(range: &AtomicU64, from: u64, to: u64) -> bool {
    range.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_schedule_returns_its_documented_ranges() {
        let all = |schedule, thread: usize| {
            let dispenser = Dispenser::new(schedule, 4, 100);
            std::iter::from_fn(|| dispenser.next(thread)).collect::<Vec<_>>()
        };
        assert_eq!(all(Schedule::Static, 1), [(25, 50)]);
        assert_eq!(all(Schedule::Dynamic { chunk: 30 }, 2), [(0, 30), (30, 60), (60, 90), (90, 100)]);
        assert_eq!(all(Schedule::Guided, 0)[..3], [(0, 13), (13, 24), (24, 34)]);
        assert_eq!(all(Schedule::Guided, 0).last(), Some(&(99, 100)));
        // A single thread finishes its own block first, then takes the second halves of the other blocks.
        let stolen = all(Schedule::WorkStealing, 0);
        assert!(stolen[..25].iter().copied().eq((0..25).map(|i| (i, i + 1))));
        assert_eq!(stolen.len(), 100);
        assert!(stolen[25].0 > 25);
    }
}
