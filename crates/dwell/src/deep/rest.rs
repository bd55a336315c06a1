//! What the attempts of tiles leave, decided together: a tile leaves few pixels, whose lists are too short for full vectors, and the last ones of each list are iterated
//! alone. With one thread and with two, a tile makes the first attempt only. With more, it makes all attempts by deltas, which leave pixels for fixed point. Those are taken by all threads from one
//! queue.
//!
//! Tried: a thread that leaves the pixel that fills a vector decides these eight at once, while others work on tiles. The vector was full for a small part of the time, and at the end all threads
//! waited for one of them: 179 pixels in fixed point took 1.5 s on 16 threads, which have 4.4 s of work.

use super::tiers::{Course, DeepBuffers};
use super::values::{Outcome, store};
use crate::base::error::Error;
use crate::base::limits::{collected, extend, reserved};
use crate::base::pieces::ChunksMut;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelBuffers, ChannelSet};
use dwell_kernels::deep::direct::Queue;
use dwell_kernels::deep::orbit::Found;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lists for each thread, where there are enough pixels, and the most pixels of a list.
const LISTS_PER_THREAD: usize = 4;
const MOST_AT_ONCE: usize = 1 << 14;
/// Pixels of a sample, and the least number of such samples that it is taken of.
const SAMPLES: usize = 64;
const LEAST_SAMPLED: usize = 4;
/// The most pixels of a queue. Each of more than these may take a millisecond, so that threads wait for a small part of the time at the end of each queue.
const MOST_QUEUED: usize = 1 << 12;
/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";

/// Pixels that wait for the attempts after those of tiles.
#[derive(Default)]
pub(crate) struct Rest(Mutex<Vec<(u32, u32)>>);

/// A pixel that waits, by its number, and what was found of it.
struct Waiting {
    number: u32,
    outcome: Outcome,
}

impl Waiting {
    fn is_open(&self) -> bool {
        self.outcome.found == Found::Undecided
    }
}

/// Pixels, given by columns and rows, and their values.
pub(crate) struct Decided {
    places: Vec<(u32, u32)>,
    values: ChannelBuffers,
    /// The time in which there were too few pixels for all threads.
    pub(crate) waiting: Duration,
}

impl Decided {
    /// Writes the values into the rows, which hold all of the pixels.
    pub(crate) fn write(&self, rows: &mut FieldRowsMut<'_>) {
        rows.write_points(&self.places, self.values.slices());
    }
}

impl Rest {
    /// The most pixels that wait.
    pub(crate) const MOST: usize = 1 << 18;

    /// These pixels, at most [`Self::MOST`], given by columns and rows.
    pub(crate) fn of(waiting: Vec<(u32, u32)>) -> Self {
        Self(Mutex::new(waiting))
    }

    /// Bytes of memory for what is left of so many pixels.
    pub(crate) fn bytes(pixels: u64, set: ChannelSet) -> u64 {
        let most = pixels.min(Self::MOST as u64);
        // Lists grow by doubling; and what threads took from a queue, and found.
        let each = 2 * (size_of::<(u32, u32)>() + size_of::<Waiting>());
        let of_queue = most.min(MOST_QUEUED as u64) * (3 * size_of::<Waiting>() + size_of::<u32>()) as u64;
        most * each as u64 + of_queue + set.bytes(most)
    }

    /// Takes the open pixels of a list, if there is room.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub(crate) fn take(&self, places: &[(u32, u32)], open: &mut Vec<u32>) -> Result<bool, Error> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = waiting.len() + open.len() <= Self::MOST;
        if has_room {
            extend(&mut waiting, open.drain(..).map(|number| places[number as usize]), WHAT)?;
        }
        Ok(has_room)
    }

    /// Decides them by the attempts of a course after one of them, on all threads, with buffers of `start`, which `end` gets back. `progress` gets numbers of pixels that are decided.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn decide<B: std::ops::DerefMut<Target: AsMut<DeepBuffers>> + Send>(
        self,
        (course, mut before): (&Course<'_>, usize),
        set: ChannelSet,
        pool: &ThreadPool,
        (start, mut end): (impl Fn() -> B + Sync, impl FnMut(B)),
        progress: impl Fn(u64) + Sync,
    ) -> Result<Decided, Error> {
        let places = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let numbers = 0..u32::try_from(places.len()).unwrap_or(u32::MAX);
        let mut open = collected(numbers.map(|number| Waiting { number, outcome: Outcome::UNDECIDED }), WHAT)?;
        let mut values = ChannelBuffers::default();
        values.resize(places.len(), set)?;
        let mut waiting = Duration::ZERO;
        let mut attempt = |number: usize, open: &mut Vec<Waiting>| -> Result<(), Error> {
            let (began, samples) = (Instant::now(), open.len());
            let is_queued = course.is_queued(number);
            let mut busy = Duration::ZERO;
            if is_queued {
                for open in open.chunks_mut(MOST_QUEUED) {
                    let (used, of_queue) = from_queue((course, number), &places, open, pool, (&start, &progress))?;
                    used.into_iter().for_each(&mut end);
                    busy += of_queue;
                }
            } else {
                let is_short = open.len() < pool.threads() * course.least_list(number);
                in_lists((course, number), &places, open, pool, &start)?.into_iter().for_each(&mut end);
                busy += if is_short { Duration::ZERO } else { began.elapsed() };
            }
            waiting += began.elapsed().saturating_sub(busy);
            store(values.slices_mut(), open.iter().map(|waiting| (waiting.number, waiting.outcome)));
            open.retain(Waiting::is_open);
            if !is_queued {
                progress((samples - open.len()) as u64);
            }
            Ok(())
        };
        while !open.is_empty() {
            while open.len() > LEAST_SAMPLED * SAMPLES
                && let Some(sampled) = course.sampled(before)
            {
                let every = open.len() / SAMPLES;
                let (mut sample, mut rest) = (reserved(SAMPLES + 1, WHAT)?, reserved(open.len(), WHAT)?);
                for (number, waiting) in open.into_iter().enumerate() {
                    if number % every == 0 { &mut sample } else { &mut rest }.push(waiting);
                }
                attempt(sampled, &mut sample)?;
                extend(&mut rest, sample, WHAT)?;
                open = rest;
            }
            let Some(next) = course.next(before) else { break };
            attempt(next, &mut open)?;
            before = next;
        }
        Ok(Decided { places, values, waiting })
    }
}

/// Makes an attempt at open pixels in lists, each of which a thread takes. Returns the buffers.
fn in_lists<B: std::ops::DerefMut<Target: AsMut<DeepBuffers>> + Send>(
    (course, number): (&Course<'_>, usize),
    places: &[(u32, u32)],
    open: &mut [Waiting],
    pool: &ThreadPool,
    start: &(impl Fn() -> B + Sync),
) -> Result<Vec<B>, Error> {
    let lists = if pool.threads() == 1 { 1 } else { LISTS_PER_THREAD * pool.threads() };
    let size = open.len().div_ceil(lists).next_multiple_of(course.least_list(number)).min(MOST_AT_ONCE);
    // A thread for each takes less time than vectors that are not full.
    let size = if open.len() <= pool.threads() { 1 } else { size };
    let work = |buffers: &mut B, (_, list): (usize, &mut [Waiting])| -> Result<(), Error> {
        let buffers = buffers.as_mut();
        buffers.open.clear();
        extend(&mut buffers.open, list.iter().map(|waiting| waiting.number), WHAT)?;
        course.attempt(number, buffers, places)?;
        list.iter_mut().zip(buffers.outcomes()).for_each(|(waiting, outcome)| waiting.outcome = outcome);
        Ok(())
    };
    pool.for_each(Schedule::default(), ChunksMut::new(open, size), || Ok(start()), work)
}

/// Makes an attempt at open pixels, each of which a thread takes from a queue. Returns the buffers, and the time that threads were busy, on average.
fn from_queue<B: std::ops::DerefMut<Target: AsMut<DeepBuffers>> + Send>(
    (course, number): (&Course<'_>, usize),
    places: &[(u32, u32)],
    open: &mut [Waiting],
    pool: &ThreadPool,
    (start, progress): (&(impl Fn() -> B + Sync), &(impl Fn(u64) + Sync)),
) -> Result<(Vec<B>, Duration), Error> {
    let list = collected(open.iter().map(|waiting| waiting.number), WHAT)?;
    let mut threads = collected(0..pool.threads().min(list.len()), WHAT)?;
    let queue = Queue::new(list.len(), threads.len());
    let done = Mutex::new((reserved(list.len(), WHAT)?, Duration::ZERO));
    let work = |buffers: &mut B, _: (usize, &mut [usize])| -> Result<(), Error> {
        let buffers = buffers.as_mut();
        let busy = course.attempt_of_queue(number, (&queue, &list), buffers, places, progress)?;
        let found = buffers.open.iter().zip(buffers.outcomes());
        let found = found.map(|(number, outcome)| Waiting { number: *number, outcome });
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0.extend(found);
        done.1 += busy;
        Ok(())
    };
    let used = pool.for_each(Schedule::default(), ChunksMut::new(&mut threads, 1), || Ok(start()), work)?;
    let (mut done, busy) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    // In one order, whichever thread took which.
    done.sort_unstable_by_key(|waiting: &Waiting| waiting.number);
    open.iter_mut().zip(done).for_each(|(waiting, done)| *waiting = done);
    Ok((used, busy / u32::try_from(pool.threads()).unwrap_or(u32::MAX)))
}
