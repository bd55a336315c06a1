//! Pieces of work on threads, handed out by one of several schedules.
//!
//! Which thread does which piece changes no piece: a schedule is a matter of time alone. All of them are kept because
//! comparing them is one of the things this project is for; `dynamic` is the default, since pieces are many and their
//! costs are as uneven as the set.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How pieces are handed out to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Every thread gets one equal, contiguous block of pieces, whatever they cost.
    Static,
    /// A thread that is free takes the next `chunk` pieces, at least 1.
    Dynamic {
        /// Pieces taken at once.
        chunk: usize,
    },
    /// A thread that is free takes the next part of what is left, one in two for each thread: large chunks first, single
    /// pieces in the end.
    Guided,
    /// Every thread starts with a block as in `static`; one that has none left takes half of another's rest.
    WorkStealing,
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Dynamic { chunk: 1 }
    }
}

impl Schedule {
    /// Names as users write them; `dynamic` may be followed by `:CHUNK`.
    pub const NAMES: [&'static str; 4] = ["static", "dynamic", "guided", "work-stealing"];
}

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

/// Threads that work together, waiting between calls: to wake one takes microseconds, to start one can take longer than
/// a small image.
#[derive(Debug)]
pub struct Team {
    threads: usize,
    /// Started when it is first needed; none where the system refuses threads.
    pool: OnceLock<Option<ThreadPool>>,
}

/// Threads for each processor beyond which more only stand in each other's way: to wake and to stop thousands takes
/// seconds.
const MOST_PER_PROCESSOR: usize = 32;

impl Team {
    /// A team of so many threads, at least 1; of fewer, if they are more than 32 for each processor, or if the system
    /// refuses some.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads: threads.clamp(1, MOST_PER_PROCESSOR * processors), pool: OnceLock::new() }
    }

    /// How many threads it has, unless the system refuses some.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Copies bytes, in pieces that keep all threads busy: one thread alone does not keep memory busy.
    ///
    /// # Panics
    /// When they are not equally many.
    pub fn copy(&self, to: &mut [u8], from: &[u8]) {
        /// A piece long enough for a thread to be worth waking.
        const PIECE: usize = 1 << 20;
        assert_eq!(to.len(), from.len(), "as many bytes");
        let pieces: Vec<_> = to.chunks_mut(PIECE).zip(from.chunks(PIECE)).collect();
        self.for_each(Schedule::default(), pieces, || (), |(), (to, from)| to.copy_from_slice(from));
    }

    /// Calls `work(state, piece)` for every piece, each thread with a `state` of its own from `start`. Returns the final
    /// states, as many as threads had pieces to do.
    pub(crate) fn for_each<P: Send, S: Send>(
        &self,
        schedule: Schedule,
        pieces: Vec<P>,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, P) + Sync,
    ) -> Vec<S> {
        let pool = if self.threads.min(pieces.len()) > 1 { self.pool() } else { None };
        let threads = pool.map_or(1, |pool| pool.current_num_threads() + 1).min(pieces.len()).max(1);
        let dispenser = Dispenser::new(schedule, threads, pieces.len());
        // Each is locked once, by the one thread that its number was given to.
        let pieces: Vec<Mutex<Option<P>>> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
        let states = Mutex::new(Vec::new());
        let run = |thread: usize| {
            let mut state = start();
            while let Some((first, end)) = dispenser.next(thread) {
                for piece in &pieces[first..end] {
                    if let Some(piece) = piece.lock().unwrap_or_else(PoisonError::into_inner).take() {
                        work(&mut state, piece);
                    }
                }
            }
            states.lock().unwrap_or_else(PoisonError::into_inner).push(state);
        };
        match pool {
            // The caller works, too, rather than sleep: a system is slow to move threads to a processor that idles.
            Some(pool) if threads > 1 => pool.in_place_scope(|scope| {
                scope.spawn_broadcast(|_, context| {
                    if context.index() + 1 < threads {
                        run(context.index() + 1);
                    }
                });
                run(0);
            }),
            _ => run(0),
        }
        states.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with a crew of the same threads, for jobs that they do when they have no pieces of [`Self::for_each`].
    pub(crate) fn with_crew<'scope, R>(&self, work: impl FnOnce(&Crew<'_, 'scope>) -> R) -> R {
        match self.pool().filter(|_| self.threads > 1) {
            Some(pool) => pool.in_place_scope(|scope| work(&Crew(Some(scope)))),
            None => work(&Crew(None)),
        }
    }

    /// The threads beside the caller's: as many of those asked for as can be had.
    fn pool(&self) -> Option<&ThreadPool> {
        let start = || {
            let fewer = std::iter::successors(Some(self.threads - 1), |threads| Some(threads / 2));
            let mut tries = fewer.take_while(|threads| *threads > 0);
            tries.find_map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().ok())
        };
        self.pool.get_or_init(start).as_ref()
    }
}

/// Threads of a team that do jobs while they have nothing better to do.
pub(crate) struct Crew<'a, 'scope>(Option<&'a rayon::Scope<'scope>>);

impl<'scope> Crew<'_, 'scope> {
    /// Has `job` done, sometime before the crew is dismissed; never, if the team is the caller alone. Pieces go first: the
    /// pool looks for what was broadcast before it looks for what was left at its door.
    pub(crate) fn ask(&self, job: impl FnOnce() + Send + 'scope) {
        if let Some(scope) = self.0 {
            scope.spawn(move |_| job());
        }
    }
}

/// Hands out the numbers of pieces, each once, as ranges.
enum Dispenser {
    Blocks { count: usize, threads: usize, taken: Vec<AtomicBool> },
    Chunks { count: usize, chunk: usize, next: AtomicUsize },
    Shrinking { count: usize, threads: usize, next: AtomicUsize },
    Stealing { ranges: Vec<AtomicU64> },
}

/// A range in one word, so that it changes at once.
fn packed(first: usize, end: usize) -> u64 {
    (first as u64) << 32 | end as u64
}

fn unpacked(range: u64) -> (usize, usize) {
    ((range >> 32) as usize, (range & 0xffff_ffff) as usize)
}

impl Dispenser {
    fn new(schedule: Schedule, threads: usize, count: usize) -> Self {
        assert!(u32::try_from(count).is_ok(), "{count} pieces are more than a range holds");
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

    /// The next range for this thread, not empty; `None` when there is none left for it.
    fn next(&self, thread: usize) -> Option<(usize, usize)> {
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
                        // Whoever has most loses half.
                        let left = |range: u64| unpacked(range).1.saturating_sub(unpacked(range).0);
                        let (victim, range) = ranges
                            .iter()
                            .map(|victim| (victim, victim.load(Ordering::Relaxed)))
                            .max_by_key(|(_, range)| left(*range))?;
                        let (first, end) = unpacked(range);
                        if first >= end {
                            return None;
                        }
                        let middle = first + (end - first) / 2;
                        // A range never comes back once it was left, since each number is given out once: so a range
                        // that still is what it was has not changed meanwhile.
                        if change(victim, range, packed(first, middle)) {
                            own.store(packed(middle + 1, end), Ordering::Relaxed);
                            return Some((middle, middle + 1));
                        }
                    }
                }
            }
        }
    }
}

/// The pieces of a thread when each has an equal share.
fn block(count: usize, threads: usize, thread: usize) -> (usize, usize) {
    (count * thread / threads, count * (thread + 1) / threads)
}

/// The next pieces of a common row, as many as `size` says of what is left.
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

fn change(range: &AtomicU64, from: u64, to: u64) -> bool {
    range.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULES: [Schedule; 6] = [
        Schedule::Static,
        Schedule::Dynamic { chunk: 1 },
        Schedule::Dynamic { chunk: 7 },
        Schedule::Dynamic { chunk: usize::MAX },
        Schedule::Guided,
        Schedule::WorkStealing,
    ];

    #[test]
    fn every_piece_is_done_once() {
        for schedule in SCHEDULES {
            for (threads, pieces) in [(1, 1000), (2, 1000), (3, 1000), (8, 1000), (8, 5), (8, 1), (2, 0)] {
                let team = Team::new(threads);
                let states = team.for_each(schedule, (0..pieces).collect(), Vec::new, |seen, piece| {
                    // Uneven pieces, so that there is something to steal.
                    let cost: u64 = if piece < 100 { 20_000 } else { 10 };
                    std::hint::black_box((0..cost).fold(0, |a, b| a ^ b));
                    seen.push(piece);
                });
                assert_eq!(states.len(), threads.min(pieces).max(1), "{schedule}");
                let mut all: Vec<usize> = states.into_iter().flatten().collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..pieces), "{schedule} {threads} {pieces}");
            }
        }
    }

    #[test]
    fn ranges_are_as_each_schedule_says() {
        let all = |schedule, thread: usize| {
            let dispenser = Dispenser::new(schedule, 4, 100);
            std::iter::from_fn(|| dispenser.next(thread)).collect::<Vec<_>>()
        };
        assert_eq!(all(Schedule::Static, 1), [(25, 50)]);
        assert_eq!(all(Schedule::Dynamic { chunk: 30 }, 2), [(0, 30), (30, 60), (60, 90), (90, 100)]);
        assert_eq!(all(Schedule::Guided, 0)[..3], [(0, 13), (13, 24), (24, 34)]);
        assert_eq!(all(Schedule::Guided, 0).last(), Some(&(99, 100)));
        // Alone, it does its own block first and then takes the others' rests from behind.
        let stolen = all(Schedule::WorkStealing, 0);
        assert!(stolen[..25].iter().copied().eq((0..25).map(|i| (i, i + 1))));
        assert_eq!(stolen.len(), 100);
        assert!(stolen[25].0 > 25);
    }
}
