//! A pool of threads that do pieces of work, distributed by a [`Schedule`], and background jobs.
//!
//! Threads are not pinned to processors. Pinned by hand on 16 threads of an Intel Xeon, medians of three runs: renders of 1.7 ms
//! (f32, [-2,2]^2 2048^2, limit 256) were 1.04 times as fast, of 16 ms (f64, [-2,1]x[-1,1] 3000x2000, limit 1000) 0.97 to 1.02
//! times, and pictures of 1920x1080 at limit 1000 1.00 times. Beside other work on the machine, a pinned thread waits for its
//! processor while others are free.

use crate::base::kept::Kept;
use crate::base::pieces::{ChunksMut, Pieces};
use crate::base::schedule::{Dispenser, Schedule};
use dwell_kernels::{keep_standard_floats, with_standard_floats};
use rayon::ThreadPoolBuilder;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Threads that wait between calls, with the standard floating-point environment; work on the calling thread is done in it too.
/// Waking a thread takes microseconds; starting one can take longer than a small
/// image.
#[derive(Debug)]
pub struct ThreadPool {
    threads: usize,
    /// The threads beside the caller's, started at the first use. `None` where the system refuses to start any.
    pool: Arc<OnceLock<Option<rayon::ThreadPool>>>,
    /// Background jobs that have not finished.
    jobs: AtomicUsize,
    kept: Arc<Kept>,
}

/// The most threads per processor. More bring no speed, and waking and stopping thousands of threads takes seconds.
const MAX_THREADS_PER_PROCESSOR: usize = 32;

impl ThreadPool {
    /// The number of processors that the process may use, when it was first asked for: to find it, several files of the system are read.
    #[must_use]
    pub fn processors() -> usize {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// A pool of `threads` threads including the caller's, clamped to 1 to 32 for each processor. Where the system
    /// refuses to start that many, the pool works with fewer.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let threads = if threads <= 1 { 1 } else { threads.min(MAX_THREADS_PER_PROCESSOR * Self::processors()) };
        Self { threads, pool: Arc::default(), jobs: AtomicUsize::new(0), kept: Arc::default() }
    }

    /// Begins to start the threads, which else happens at the first use: to start 15 takes 0.8 ms on an Intel Xeon, in which a caller can do other things.
    pub fn start(&self) {
        if self.threads > 1 {
            let (pool, threads) = (Arc::clone(&self.pool), self.threads);
            // Where the system refuses to start this thread, the first use starts the others.
            drop(std::thread::Builder::new().spawn(move || {
                pool.get_or_init(|| started(threads));
            }));
        }
    }

    /// A pool of the calling thread alone, with the buffers that the threads of this pool keep.
    pub(crate) fn of_caller(&self) -> Self {
        Self { kept: Arc::clone(&self.kept), ..Self::new(1) }
    }

    /// The buffers that threads keep for later work.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The number of threads, including the caller's; the system may have refused to start some of them.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Copies `from` to `to` on all threads: one thread alone does not saturate the memory bandwidth.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn copy(&self, to: &mut [u8], from: &[u8]) {
        /// Bytes of one piece: copying them takes longer than waking a thread.
        const PIECE: usize = 1 << 20;
        assert_eq!(to.len(), from.len(), "a copy between buffers of equal length");
        let work = |(): &mut (), (number, to): (usize, &mut [u8])| {
            let first = number * PIECE;
            to.copy_from_slice(&from[first..first + to.len()]);
            Ok(())
        };
        let Ok(_) = self.for_each::<Infallible, _, _>(Schedule::default(), ChunksMut::new(to, PIECE), || Ok(()), work);
    }

    /// Calls `work(number, chunk)` for every chunk of `size` elements (at least 1) of a slice, the last of which may be
    /// shorter, numbered from 0.
    ///
    /// ```
    /// use dwell::{Schedule, ThreadPool};
    ///
    /// let mut squares = [0; 10];
    /// let square = |number: usize, chunk: &mut [usize]| {
    ///     chunk.iter_mut().enumerate().for_each(|(i, value)| *value = (4 * number + i).pow(2));
    ///     Ok::<(), ()>(())
    /// };
    /// ThreadPool::new(2).for_each_chunk(Schedule::default(), &mut squares, 4, square)?;
    /// assert_eq!(squares[9], 81);
    /// # Ok::<(), ()>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `work`. Chunks that no thread has begun are then left out.
    pub fn for_each_chunk<T: Send, E: Send>(
        &self,
        schedule: Schedule,
        slice: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let work = |(): &mut (), (number, chunk): (usize, &mut [T])| work(number, chunk);
        self.for_each(schedule, ChunksMut::new(slice, size), || Ok(()), work).map(drop)
    }

    /// Calls `work(state, piece)` for every piece; each thread has its own `state`, made by `start` when it has a piece. Returns the final
    /// states, one for each thread that took part: at least one if there are pieces.
    ///
    /// # Errors
    /// The first error of `start`, `work` or `pieces`. Pieces that no thread has begun are then left out.
    pub(crate) fn for_each<E: Send, P: Pieces<E>, S: Send>(
        &self,
        schedule: Schedule,
        pieces: P,
        start: impl Fn() -> Result<S, E> + Sync,
        work: impl Fn(&mut S, P::Piece) -> Result<(), E> + Sync,
    ) -> Result<Vec<S>, E> {
        let count = pieces.count();
        let pool = if self.threads.min(count) > 1 { self.pool() } else { None };
        let threads = pool.map_or(1, |pool| pool.current_num_threads() + 1).min(count).max(1);
        let dispenser = Dispenser::new(schedule, threads, pieces)?;
        let (states, error) = (Mutex::new(Vec::new()), Mutex::new(None));
        let failed = AtomicBool::new(false);
        let run_pieces = |thread: usize| -> Result<Option<S>, E> {
            let mut state = None;
            while let Some(mut taken) = dispenser.next(thread)? {
                while let Some(piece) = taken.next()? {
                    if failed.load(Ordering::Relaxed) {
                        return Ok(state);
                    }
                    let state = match &mut state {
                        Some(state) => state,
                        none => none.insert(start()?),
                    };
                    work(state, piece)?;
                }
            }
            Ok(state)
        };
        let run = |thread: usize| match run_pieces(thread) {
            Ok(state) => states.lock().unwrap_or_else(PoisonError::into_inner).extend(state),
            Err(first) => {
                failed.store(true, Ordering::Relaxed);
                error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(first);
            }
        };
        match pool {
            // The calling thread works too instead of sleeping: the system is slow to move a thread to its idle
            // processor.
            Some(pool) if threads > 1 => pool.in_place_scope(|scope| {
                if self.jobs.load(Ordering::Relaxed) == 0 {
                    // The first threads to wake up do the part of one that wakes up when no pieces are left, up to 300 us later on 16 threads of an
                    // Intel Xeon: with a broadcast it would delay the end.
                    for thread in 1..threads {
                        let run = &run;
                        scope.spawn(move |_| run(thread));
                    }
                } else {
                    // A thread takes broadcast work before jobs that were queued earlier.
                    scope.spawn_broadcast(|_, context| {
                        if context.index() + 1 < threads {
                            run(context.index() + 1);
                        }
                    });
                }
                with_standard_floats(|| run(0));
            }),
            _ => with_standard_floats(|| run(0)),
        }
        match error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(states.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Runs `work` with access to the background jobs of the pool, which its threads run when they have no pieces of
    /// [`Self::for_each`]. Returns when `work` and all jobs have finished.
    pub(crate) fn with_background_jobs<'scope, R>(
        &'scope self,
        work: impl FnOnce(&BackgroundJobs<'_, 'scope>) -> R,
    ) -> R {
        match self.pool().filter(|_| self.threads > 1) {
            Some(pool) => pool.in_place_scope(|scope| work(&BackgroundJobs(Some((scope, &self.jobs))))),
            None => work(&BackgroundJobs(None)),
        }
    }

    /// The threads beside the caller's.
    fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.pool.get_or_init(|| started(self.threads)).as_ref()
    }
}

/// The threads of a pool beside the caller's, of so many in all. If the system refuses to start all of them, half as many are tried, and so on.
fn started(threads: usize) -> Option<rayon::ThreadPool> {
    let fewer = std::iter::successors(Some(threads - 1), |threads| Some(threads / 2));
    let mut tries = fewer.take_while(|threads| *threads > 0);
    // A thread inherits the floating-point environment of the thread that starts it.
    let builder = || ThreadPoolBuilder::new().start_handler(|_| keep_standard_floats());
    tries.find_map(|threads| builder().num_threads(threads).build().ok())
}

/// The background jobs of a thread pool, and how many have not finished.
pub(crate) struct BackgroundJobs<'a, 'scope>(Option<(&'a rayon::Scope<'scope>, &'scope AtomicUsize)>);

impl<'scope> BackgroundJobs<'_, 'scope> {
    /// Queues `job`, which has finished when [`ThreadPool::with_background_jobs`] returns. A pool of the calling thread
    /// alone drops `job` without running it. Pieces of [`ThreadPool::for_each`] come first: a thread of the pool takes
    /// broadcast work before queued jobs.
    pub(crate) fn spawn(&self, job: impl FnOnce() + Send + 'scope) {
        if let Some((scope, jobs)) = self.0 {
            jobs.fetch_add(1, Ordering::Relaxed);
            scope.spawn(move |_| {
                let _finished = Finished(jobs);
                job();
            });
        }
    }
}

/// Counts a background job as finished at its end, even by a panic.
struct Finished<'a>(&'a AtomicUsize);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
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
                let pool = ThreadPool::new(threads);
                let work = |seen: &mut Vec<usize>, piece: usize| {
                    // Pieces of unequal cost, so that work stealing moves some of them.
                    let cost: u64 = if piece < 100 { 20_000 } else { 10 };
                    std::hint::black_box((0..cost).fold(0, |a, b| a ^ b));
                    seen.push(piece);
                    Ok(())
                };
                let Ok(states) = pool.for_each::<Infallible, _, _>(schedule, 0..pieces, || Ok(Vec::new()), work);
                assert!((pieces.min(1)..=threads.min(pieces)).contains(&states.len()), "{schedule}");
                assert!(states.iter().all(|seen| !seen.is_empty()), "{schedule}");
                let mut all: Vec<usize> = states.into_iter().flatten().collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..pieces), "{schedule} {threads} {pieces}");
            }
        }
    }

    #[test]
    fn a_pool_that_is_started_early_or_not_used_works() {
        for threads in [1, 3] {
            ThreadPool::new(threads).start();
            let pool = ThreadPool::new(threads);
            pool.start();
            let mut numbers = [0; 100];
            let number = |i: usize, chunk: &mut [usize]| {
                chunk[0] = i;
                Ok::<(), Infallible>(())
            };
            let Ok(()) = pool.for_each_chunk(Schedule::default(), &mut numbers, 1, number);
            assert!(numbers.into_iter().eq(0..100));
        }
    }

    #[test]
    fn the_first_error_ends_the_work() {
        for schedule in SCHEDULES {
            for threads in [1, 3] {
                let begun = AtomicUsize::new(0);
                let work = |(): &mut (), piece: usize| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    if piece == 10 { Err("a test") } else { Ok(()) }
                };
                let done = ThreadPool::new(threads).for_each(schedule, 0..1_000_000, || Ok(()), work);
                assert_eq!(done.map(drop), Err("a test"), "{schedule}");
                assert!(begun.into_inner() < 1_000_000, "{schedule}");
            }
        }
    }
}
