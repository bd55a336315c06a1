//! What the first attempt leaves of many tiles, decided together: a tile leaves few pixels, whose lists are too short for full vectors, and the last ones of
//! each list are iterated alone. With many threads tiles decide their own instead: while one thread iterates the last pixels of a list, the others work on other tiles, and
//! do not wait for the next attempt (1920x1080 on 16 threads of a Xeon: 0.71 s at kf-1e50 in place of 0.78).

use super::tiers::{Course, DeepBuffers};
use super::values::{Outcome, store};
use crate::base::error::Error;
use crate::base::limits::{collected, extend, reserved};
use crate::base::pieces::ChunksMut;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelBuffers, ChannelSet};
use dwell_kernels::deep::orbit::Found;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most pixels that wait.
const MOST: usize = 1 << 16;
/// Lists for each thread, where there are enough pixels, and the most pixels of a list.
const LISTS_PER_THREAD: usize = 4;
const MOST_AT_ONCE: usize = 1 << 14;
/// Pixels of a sample, and the least number of such samples that it is taken of.
const SAMPLES: usize = 64;
const LEAST_SAMPLED: usize = 4;
/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";

/// The most threads with which tiles leave pixels to be decided together.
const MOST_THREADS: usize = 2;

/// Pixels that wait for the attempts after the first.
pub(crate) struct Rest {
    places: Mutex<Vec<(u32, u32)>>,
    /// How many there may be.
    most: usize,
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
        let (width, top) = (rows.width() as usize, rows.rows().start);
        let mut out = rows.channels_mut();
        let set = self.values.slices().set();
        for (number, (column, row)) in self.places.iter().enumerate() {
            let pixel = (row - top) as usize * width + *column as usize;
            out.dwell[pixel] = self.values.dwell[number];
            for channel in set.iter() {
                out[channel][pixel] = self.values[channel][number];
            }
        }
    }
}

impl Rest {
    /// None, of a call with so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self { places: Mutex::default(), most: if threads > MOST_THREADS { 0 } else { MOST } }
    }

    /// Bytes of memory for what is left of so many pixels.
    pub(crate) fn bytes(&self, pixels: u64, set: ChannelSet) -> u64 {
        let most = pixels.min(self.most as u64);
        // A list of places grows by doubling.
        most * (2 * size_of::<(u32, u32)>() + 2 * size_of::<Waiting>()) as u64 + set.bytes(most)
    }

    /// Takes the open pixels of a list, if there is room.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub(crate) fn take(&self, places: &[(u32, u32)], open: &mut Vec<u32>) -> Result<bool, Error> {
        let mut waiting = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = waiting.len() + open.len() <= self.most;
        if has_room {
            extend(&mut waiting, open.drain(..).map(|number| places[number as usize]), WHAT)?;
        }
        Ok(has_room)
    }

    /// Decides them on all threads, with buffers of `start`, which `end` gets back. `progress` gets numbers of pixels that are decided.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn decide<B: std::ops::DerefMut<Target: AsMut<DeepBuffers>> + Send>(
        self,
        course: &Course<'_>,
        set: ChannelSet,
        pool: &ThreadPool,
        (start, mut end): (impl Fn() -> B + Sync, impl FnMut(B)),
        progress: impl Fn(u64),
    ) -> Result<Decided, Error> {
        let places = self.places.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut values = ChannelBuffers::default();
        values.resize(places.len(), set)?;
        let undecided = |number: u32| Waiting { number, outcome: Outcome::UNDECIDED };
        let mut open = collected((0..places.len() as u32).map(undecided), WHAT)?;
        let mut waiting = Duration::ZERO;
        let mut attempt = |number: usize, open: &mut Vec<Waiting>| -> Result<(), Error> {
            let (began, is_short) = (Instant::now(), open.len() < pool.threads() * course.least_list(number));
            let lists = if pool.threads() == 1 { 1 } else { LISTS_PER_THREAD * pool.threads() };
            let size = open.len().div_ceil(lists).next_multiple_of(course.least_list(number)).min(MOST_AT_ONCE);
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
        let mut before = 0;
        while !open.is_empty() {
            if let Some(sampled) = course.sampled(before).filter(|_| open.len() > LEAST_SAMPLED * SAMPLES) {
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
