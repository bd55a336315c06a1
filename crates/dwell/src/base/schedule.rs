//! The order in which pieces of work are distributed among threads.
//!
//! A schedule decides only which thread does which piece, so it changes the time of a computation and never its result.
//! All of them are kept because comparing them is one of the purposes of this project. `work-stealing` is the default: there
//! are many pieces, their costs differ by orders of magnitude, and a thread seldom waits for another to take one. With
//! `dynamic`, 16 threads took 1.3 to 1.5 times as long for pictures of 2 to 4 million pixels that take 2 ms (an Intel Xeon
//! with 8 cores); on up to 4 threads, and for longer computations, both take the same time.

use crate::base::error::InputError;
use crate::base::pieces::Pieces;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::quote::quote;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The order in which threads receive pieces of work. It changes the time that the work takes, never its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    #[default]
    WorkStealing,
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
            ("dynamic", None) => Ok(Self::Dynamic { chunk: 1 }),
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

/// Distributes pieces among threads. Each piece is returned once.
pub(super) enum Dispenser<P> {
    /// The block of each thread, until the thread has received it.
    Blocks(Vec<Mutex<Option<P>>>),
    /// The pieces that are left, from which all threads receive up to `chunk` at once.
    Chunks { left: Mutex<P>, chunk: usize },
    /// The pieces that are left, from which all of the `threads` receive shrinking shares.
    Shrinking { left: Mutex<P>, threads: usize },
    /// The pieces of each thread that are left.
    Stealing(Vec<Mutex<P>>),
}

impl<P> Dispenser<P> {
    pub(super) fn new<E>(schedule: Schedule, threads: usize, mut pieces: P) -> Result<Self, E>
    where
        P: Pieces<E>,
    {
        let threads = threads.max(1);
        let mut blocks = || -> Result<Vec<P>, E> {
            // Every block but the last is cut off from what is left, so that the last takes the rest.
            (0..threads).map(|thread| pieces.take_front(pieces.count() / (threads - thread))).collect()
        };
        Ok(match schedule {
            Schedule::Static => Self::Blocks(blocks()?.into_iter().map(|block| Mutex::new(Some(block))).collect()),
            Schedule::Dynamic { chunk } => Self::Chunks { left: Mutex::new(pieces), chunk: chunk.max(1) },
            Schedule::Guided => Self::Shrinking { left: Mutex::new(pieces), threads },
            Schedule::WorkStealing => Self::Stealing(blocks()?.into_iter().map(Mutex::new).collect()),
        })
    }

    /// The next pieces for this thread, at least one; `None` when no pieces are left for it.
    pub(super) fn next<E>(&self, thread: usize) -> Result<Option<P>, E>
    where
        P: Pieces<E>,
    {
        match self {
            Self::Blocks(blocks) => Ok(lock(&blocks[thread]).take().filter(|block| block.count() > 0)),
            Self::Chunks { left, chunk } => front(&mut *lock(left), |_| *chunk),
            Self::Shrinking { left, threads } => front(&mut *lock(left), |left| left.count().div_ceil(2 * threads)),
            Self::Stealing(blocks) => loop {
                // A single thread leaves nothing to others.
                let share = |left: &P| if blocks.len() == 1 { left.count() } else { left.at_once() };
                if let Some(own) = front(&mut *lock(&blocks[thread]), share)? {
                    return Ok(Some(own));
                }
                let counts = blocks.iter().map(|block| lock(block).count());
                let Some((longest, 1..)) = counts.enumerate().max_by_key(|(_, count)| *count) else { return Ok(None) };
                // No thread holds two locks. Meanwhile others may have taken pieces of that block, even all of them.
                let stolen = {
                    let mut block = lock(&blocks[longest]);
                    let first = block.count() / 2;
                    let first = block.take_front(first)?;
                    std::mem::replace(&mut *block, first)
                };
                *lock(&blocks[thread]) = stolen;
            },
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first `share(left)` of the pieces that are left, at least one; `None` if none are.
fn front<E, P: Pieces<E>>(left: &mut P, share: impl Fn(&P) -> usize) -> Result<Option<P>, E> {
    match left.count() {
        0 => Ok(None),
        count => left.take_front(share(left).clamp(1, count)).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn each_schedule_returns_its_documented_ranges() {
        let all = |schedule, thread: usize| {
            let Ok(dispenser) = Dispenser::new::<Infallible>(schedule, 4, 0..100);
            let next = || {
                let Ok(range) = dispenser.next::<Infallible>(thread);
                range.map(|range| (range.start, range.end))
            };
            std::iter::from_fn(next).collect::<Vec<_>>()
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
