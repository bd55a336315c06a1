//! What the attempts of tiles leave, decided together: a tile leaves few pixels, whose lists are too short for full vectors, and the last ones of each list are iterated
//! alone. With one thread and with two, a tile makes the first attempt only. With more, it makes all attempts by deltas, which leave pixels for fixed point, and the thread
//! that leaves one that fills a vector decides these at once, since the longest orbits should not begin last.

use super::tiers::{Course, DeepBuffers, tries_full_lists};
use super::values::{Outcome, store};
use crate::base::error::Error;
use crate::base::limits::{collected, extend, reserved};
use crate::base::pieces::ChunksMut;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelBuffers, ChannelSet};
use dwell_kernels::deep::orbit::Found;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lists for each thread, where there are enough pixels, and the most pixels of a list.
const LISTS_PER_THREAD: usize = 4;
const MOST_AT_ONCE: usize = 1 << 14;
/// Pixels of a sample, and the least number of such samples that it is taken of.
const SAMPLES: usize = 64;
const LEAST_SAMPLED: usize = 4;
/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";

/// Pixels that wait for the attempts after those of tiles.
#[derive(Default)]
pub(crate) struct Rest(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    waiting: Vec<(u32, u32)>,
    /// Those of full lists, and what was found: the few that were not decided go on with those that wait.
    tried: Vec<((u32, u32), Outcome)>,
}

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
    pub(crate) const MOST: usize = 1 << 16;

    /// These pixels, at most [`Self::MOST`], given by columns and rows.
    pub(crate) fn of(waiting: Vec<(u32, u32)>) -> Self {
        Self(Mutex::new(Lists { waiting, tried: Vec::new() }))
    }

    /// Bytes of memory for what so many threads leave of so many pixels.
    pub(crate) fn bytes(threads: usize, pixels: u64, set: ChannelSet) -> u64 {
        let most = pixels.min(Self::MOST as u64);
        let of_list =
            if tries_full_lists(threads) { size_of::<((u32, u32), Outcome)>() } else { size_of::<(u32, u32)>() };
        // Lists grow by doubling.
        most * (2 * of_list + 2 * size_of::<Waiting>()) as u64 + set.bytes(most)
    }

    /// Takes the open pixels of a list, if there is room.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub(crate) fn take(&self, places: &[(u32, u32)], open: &mut Vec<u32>) -> Result<bool, Error> {
        let mut lists = self.lists();
        let has_room = lists.waiting.len() + lists.tried.len() + open.len() <= Self::MOST;
        if has_room {
            extend(&mut lists.waiting, open.drain(..).map(|number| places[number as usize]), WHAT)?;
        }
        Ok(has_room)
    }

    /// Makes the next attempt at pixels that wait, as long as there are enough for full vectors. How many were decided.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn try_full_lists(&self, course: &Course<'_>, buffers: &mut DeepBuffers) -> Result<usize, Error> {
        let Some(next) = course.next(course.last_of_tile()) else { return Ok(0) };
        let mut decided = 0;
        while let Some(list) = self.full_list(course.least_list(next)) {
            buffers.open.clear();
            extend(&mut buffers.open, 0..list.len() as u32, WHAT)?;
            course.attempt(next, buffers, &list)?;
            decided += buffers.outcomes().filter(|outcome| outcome.found != Found::Undecided).count();
            extend(&mut self.lists().tried, list.into_iter().zip(buffers.outcomes()), WHAT)?;
        }
        Ok(decided)
    }

    /// So many pixels that wait.
    fn full_list(&self, size: usize) -> Option<Vec<(u32, u32)>> {
        let mut lists = self.lists();
        let first = lists.waiting.len().checked_sub(size)?;
        Some(lists.waiting.split_off(first))
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        progress: impl Fn(u64),
    ) -> Result<Decided, Error> {
        let Lists { waiting: mut places, tried } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcomes = tried.iter().map(|(_, outcome)| *outcome);
        let outcomes = std::iter::repeat_n(Outcome::UNDECIDED, places.len()).chain(outcomes);
        let mut open = collected((0..).zip(outcomes).map(|(number, outcome)| Waiting { number, outcome }), WHAT)?;
        extend(&mut places, tried.iter().map(|(place, _)| *place), WHAT)?;
        let mut values = ChannelBuffers::default();
        values.resize(places.len(), set)?;
        store(values.slices_mut(), open.iter().map(|waiting| (waiting.number, waiting.outcome)));
        open.retain(Waiting::is_open);
        let mut waiting = Duration::ZERO;
        let mut attempt = |number: usize, open: &mut Vec<Waiting>| -> Result<(), Error> {
            let (began, is_short) = (Instant::now(), open.len() < pool.threads() * course.least_list(number));
            let lists = if pool.threads() == 1 { 1 } else { LISTS_PER_THREAD * pool.threads() };
            let size = open.len().div_ceil(lists).next_multiple_of(course.least_list(number)).min(MOST_AT_ONCE);
            // A thread for each takes less time than vectors that are not full.
            let size = if open.len() <= pool.threads() { 1 } else { size };
            let work = |buffers: &mut B, (_, list): (usize, &mut [Waiting])| -> Result<(), Error> {
                let buffers = buffers.as_mut();
                buffers.open.clear();
                extend(&mut buffers.open, list.iter().map(|waiting| waiting.number), WHAT)?;
                course.attempt(number, buffers, &places)?;
                list.iter_mut().zip(buffers.outcomes()).for_each(|(waiting, outcome)| waiting.outcome = outcome);
                Ok(())
            };
            let used = pool.for_each(Schedule::default(), ChunksMut::new(open, size), || Ok(start()), work)?;
            used.into_iter().for_each(&mut end);
            let samples = open.len();
            store(values.slices_mut(), open.iter().map(|waiting| (waiting.number, waiting.outcome)));
            open.retain(Waiting::is_open);
            progress((samples - open.len()) as u64);
            waiting += if is_short { began.elapsed() } else { Duration::ZERO };
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
