//! What the attempts of tiles leave, decided together: a tile leaves few pixels, whose lists are too short for full vectors, and the last ones of each list are iterated
//! alone. With one thread and with two, a tile makes the first attempt only. With more, it makes all attempts by deltas, which leave pixels for fixed point. Those are taken by all threads from one
//! queue.
//!
//! Orbits differ in length by a factor of a hundred and more. At the end of each slice of rows few would be under way, in vectors that are hardly full: 228 of 376 s of fs-view25 at 480x270 on two threads, of work that takes 43 s in
//! full ones. So what would leave threads or lanes empty waits for more pixels: see [`Pending`].
//!
//! Tried: a thread that leaves the pixel that fills a vector decides these eight at once, while others work on tiles. The vector was full for a small part of the time, and at the end all threads
//! waited for one of them: 179 pixels in fixed point took 1.5 s on 16 threads, which have 4.4 s of work.

use super::pending::Pending;
use super::tiers::{Course, DeepBuffers};
use super::values::{Outcome, store};
use crate::base::error::Error;
use crate::base::limits::{collected, extend, reserved};
use crate::base::pieces::ChunksMut;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::field::FieldRowsMut;
use dwell_kernels::deep::direct::Queue;
use dwell_kernels::deep::orbit::Found;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lists for each thread, where there are enough pixels, and the most pixels of a list.
const LISTS_PER_THREAD: usize = 4;
const MOST_AT_ONCE: usize = 1 << 14;
/// Lists have so many times the fewest pixels that keep all threads busy, if pixels may wait: each ends with orbits in vectors that are not full. With 1 in place of 8 the tiers after the first took 1.35 times as long at rf-dragon, 960x540, on
/// two threads.
const TIMES_LEAST: usize = 8;
/// Pixels of a sample, and the least number of such samples that it is taken of.
const SAMPLES: usize = 64;
const LEAST_SAMPLED: usize = 4;
/// The most pixels of an attempt, of each of which it is known what was found; in tests so few that lists are divided.
const MOST_TOGETHER: usize = if cfg!(test) { 1 << 5 } else { 1 << 16 };
/// The most pixels of a queue. Each of more than these may take a millisecond, so that threads wait for a small part of the time at the end of each queue.
const MOST_QUEUED: usize = 1 << 12;
/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";

/// Pixels that wait for the attempts after those of tiles.
pub(crate) struct Rest {
    waiting: Mutex<Vec<(u32, u32)>>,
    /// The most of them.
    room: usize,
}

/// A pixel of an attempt, by its number, and what was found, if it did not stop before.
struct Waiting {
    number: u32,
    outcome: Option<Outcome>,
}

/// The pixels of a call, by columns and rows, and what decides them.
struct Call<'a, 'c> {
    course: &'a Course<'c>,
    places: Vec<(u32, u32)>,
    pool: &'a ThreadPool,
    /// The rows before this one are to be decided.
    required: u32,
}

impl Rest {
    /// The most pixels that wait, those of earlier calls included.
    pub(crate) const MOST: usize = 1 << 18;

    /// No pixels, beside those of earlier calls.
    pub(crate) fn beside(pending: &Pending) -> Self {
        Self { waiting: Mutex::default(), room: Self::MOST.saturating_sub(pending.len()) }
    }

    /// These pixels, at most [`Self::MOST`], given by columns and rows.
    pub(crate) fn of(waiting: Vec<(u32, u32)>) -> Self {
        Self { waiting: Mutex::new(waiting), room: 0 }
    }

    /// Bytes of memory for what is left of so many pixels.
    pub(crate) fn bytes(pixels: u64) -> u64 {
        let most = pixels.min(Self::MOST as u64);
        // Lists grow by doubling, and a pixel is in those of two stages at a time; and what threads took from a queue, and found.
        let each = 3 * size_of::<(u32, u32)>() + 4 * size_of::<u32>() + Pending::BYTES_OF_PIXEL;
        let of_attempt = most.min(MOST_TOGETHER as u64) * size_of::<Waiting>() as u64;
        let of_queue = most.min(MOST_QUEUED as u64) * (3 * size_of::<Waiting>() + size_of::<u32>()) as u64;
        most * each as u64 + of_attempt + of_queue
    }

    /// Takes the open pixels of a list, if there is room.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub(crate) fn take(&self, places: &[(u32, u32)], open: &mut Vec<u32>) -> Result<bool, Error> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = waiting.len() + open.len() <= self.room;
        if has_room {
            extend(&mut waiting, open.drain(..).map(|number| places[number as usize]), WHAT)?;
        }
        Ok(has_room)
    }

    /// Decides them, and those that are pending, by the attempts of a course after one of them, on all threads, with buffers of `start`, which `end` gets back. Writes what was found into the rows, which have all of these
    /// pixels. Where there are too few pixels for an attempt, they stay pending, but for those that are required. `progress` gets numbers of pixels that are decided.
    /// Returns the time in which there were too few pixels for all threads.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn decide<B: std::ops::DerefMut<Target: AsMut<DeepBuffers>> + Send>(
        self,
        (course, first): (&Course<'_>, usize),
        (rows, pending): (&mut FieldRowsMut<'_>, &mut Pending),
        pool: &ThreadPool,
        (start, mut end): (impl Fn() -> B + Sync, impl FnMut(B)),
        progress: impl Fn(u64) + Sync,
    ) -> Result<Duration, Error> {
        let new = self.waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut places = reserved(pending.len() + new.len(), WHAT)?;
        let mut stages: Vec<Vec<u32>> = collected(course.numbers().map(|_| Vec::new()), WHAT)?;
        // Those that wait longest come first.
        for (place, before) in pending.take_open() {
            let stage = course.number_of(before).unwrap_or(first);
            extend(&mut stages[stage], [places.len() as u32], WHAT)?;
            places.push(place);
        }
        let numbers = places.len() as u32..(places.len() + new.len()) as u32;
        extend(&mut stages[first], numbers, WHAT)?;
        places.extend(new);
        let call = Call { course, places, pool, required: pending.required() };
        let mut waiting = Duration::ZERO;
        // Makes an attempt at pixels. Those that it leaves undecided, and those whose orbits are under way.
        let mut attempt = |number: usize, open: &mut Vec<u32>, pending: &mut Pending| -> Result<[Vec<u32>; 2], Error> {
            let is_queued = course.is_queued(number);
            if is_queued {
                // Required ones come first in each queue.
                open.sort_by_key(|pixel| !call.is_required(*pixel));
            }
            let mut left: [Vec<u32>; 2] = Default::default();
            for open in open.chunks(if is_queued { MOST_QUEUED } else { MOST_TOGETHER }) {
                let (began, samples) = (Instant::now(), open.len());
                let mut open = collected(open.iter().map(|number| Waiting { number: *number, outcome: None }), WHAT)?;
                let busy = if is_queued {
                    let (used, busy) = call.in_a_queue(number, &mut open, pending, (&start, &progress))?;
                    used.into_iter().for_each(&mut end);
                    busy
                } else {
                    call.in_lists(number, &mut open, &start)?.into_iter().for_each(&mut end);
                    if samples < call.least(number) { Duration::ZERO } else { began.elapsed() }
                };
                waiting += began.elapsed().saturating_sub(busy);
                call.write(&open, rows);
                let [undecided, under_way] = &mut left;
                let before = undecided.len();
                for Waiting { number, outcome } in &open {
                    match outcome {
                        None => extend(under_way, [*number], WHAT)?,
                        Some(outcome) if outcome.found == Found::Undecided => extend(undecided, [*number], WHAT)?,
                        Some(_) => {}
                    }
                }
                if !is_queued {
                    progress((samples + before - undecided.len()) as u64);
                }
            }
            Ok(left)
        };
        for before in course.numbers() {
            let mut open = std::mem::take(&mut stages[before]);
            while open.len() > LEAST_SAMPLED * SAMPLES
                && let Some(sampled) = course.sampled(before)
            {
                let every = open.len() / SAMPLES;
                let (mut sample, mut rest) = (reserved(SAMPLES + 1, WHAT)?, reserved(open.len(), WHAT)?);
                for (number, pixel) in open.into_iter().enumerate() {
                    if number % every == 0 { &mut sample } else { &mut rest }.push(pixel);
                }
                for left in attempt(sampled, &mut sample, pending)? {
                    extend(&mut rest, left, WHAT)?;
                }
                open = rest;
            }
            let next = course.next(before).filter(|_| !open.is_empty());
            let is_due =
                |next: usize| open.len() >= call.worthwhile(next) || open.iter().any(|pixel| call.is_required(*pixel));
            if let Some(next) = next.filter(|next| is_due(*next)) {
                let [undecided, under_way] = attempt(next, &mut open, pending)?;
                extend(&mut stages[next], undecided, WHAT)?;
                // Orbits under way stay where they are.
                open = under_way;
            }
            stages[before] = open;
        }
        for (before, open) in course.numbers().zip(stages) {
            let places = open.into_iter().map(|pixel| call.places[pixel as usize]);
            pending.keep_open(places, course.attempt_at(before))?;
        }
        Ok(waiting)
    }
}

impl Call<'_, '_> {
    fn place(&self, number: u32) -> (u32, u32) {
        self.places[number as usize]
    }

    fn is_required(&self, number: u32) -> bool {
        self.place(number).1 < self.required
    }

    /// The fewest pixels for which an attempt keeps all threads busy.
    fn least(&self, number: usize) -> usize {
        self.pool.threads() * self.course.least_list(number)
    }

    /// The fewest pixels for which an attempt is made before others wait for it, too.
    fn worthwhile(&self, number: usize) -> usize {
        if self.course.is_queued(number) { self.least(number) } else { TIMES_LEAST * self.least(number) }
    }

    /// Writes what was found into the rows.
    fn write(&self, open: &[Waiting], rows: &mut FieldRowsMut<'_>) {
        let (width, top) = (rows.width() as usize, rows.rows().start);
        let pixel = |number: u32| {
            let (column, row) = self.place(number);
            (row - top) as usize * width + column as usize
        };
        let found = open.iter().filter_map(|waiting| Some((pixel(waiting.number), waiting.outcome?)));
        store(rows.channels_mut(), found);
    }

    /// Makes an attempt at open pixels in lists, each of which a thread takes. Returns the buffers.
    fn in_lists<B: std::ops::DerefMut<Target: AsMut<DeepBuffers>> + Send>(
        &self,
        number: usize,
        open: &mut [Waiting],
        start: &(impl Fn() -> B + Sync),
    ) -> Result<Vec<B>, Error> {
        let Self { course, places, pool, .. } = self;
        let lists = if pool.threads() == 1 { 1 } else { LISTS_PER_THREAD * pool.threads() };
        let size = open.len().div_ceil(lists).next_multiple_of(course.least_list(number)).min(MOST_AT_ONCE);
        // A thread for each takes less time than vectors that are not full.
        let size = if open.len() <= pool.threads() { 1 } else { size };
        let work = |buffers: &mut B, (_, list): (usize, &mut [Waiting])| -> Result<(), Error> {
            let buffers = buffers.as_mut();
            buffers.open.clear();
            extend(&mut buffers.open, list.iter().map(|waiting| waiting.number), WHAT)?;
            course.attempt(number, buffers, places)?;
            list.iter_mut().zip(buffers.outcomes()).for_each(|(waiting, outcome)| waiting.outcome = Some(outcome));
            Ok(())
        };
        pool.for_each(Schedule::default(), ChunksMut::new(open, size), || Ok(start()), work)
    }

    /// Makes an attempt at open pixels, of which required ones come first, each of which a thread takes from a queue. Orbits that are under way when the queue stops are pending. Returns the buffers, and the time that
    /// threads were busy, on average.
    fn in_a_queue<B: std::ops::DerefMut<Target: AsMut<DeepBuffers>> + Send>(
        &self,
        number: usize,
        open: &mut [Waiting],
        pending: &mut Pending,
        (start, progress): (&(impl Fn() -> B + Sync), &(impl Fn(u64) + Sync)),
    ) -> Result<(Vec<B>, Duration), Error> {
        let Self { course, places, pool, .. } = self;
        let list = collected(open.iter().map(|waiting| waiting.number), WHAT)?;
        let mut threads = collected(0..pool.threads().min(list.len()), WHAT)?;
        let required = open.iter().filter(|waiting| self.is_required(waiting.number)).count();
        let attempt = course.attempt_at(number);
        let under_way = pending.take_under_way(open.iter().map(|waiting| self.place(waiting.number)), attempt);
        let queue = Queue::that_stops((list.len(), under_way), threads.len(), required);
        let done = Mutex::new((reserved(list.len(), WHAT)?, Duration::ZERO));
        let work = |buffers: &mut B, _: (usize, &mut [usize])| -> Result<(), Error> {
            let buffers = buffers.as_mut();
            let busy = course.attempt_of_queue(number, (&queue, &list), buffers, places, progress)?;
            let found = buffers.open.iter().zip(buffers.outcomes());
            let found = found.map(|(number, outcome)| Waiting { number: *number, outcome: Some(outcome) });
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.0.extend(found);
            done.1 += busy;
            Ok(())
        };
        let used = pool.for_each(Schedule::default(), ChunksMut::new(&mut threads, 1), || Ok(start()), work)?;
        let (mut done, busy) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let under_way = queue.into_under_way().into_iter();
        pending.keep_under_way(under_way.map(|(place, orbit)| (places[list[place] as usize], orbit)), attempt);
        // In one order, whichever thread took which.
        open.sort_unstable_by_key(|waiting| waiting.number);
        done.sort_unstable_by_key(|waiting: &Waiting| waiting.number);
        let mut done = done.into_iter().peekable();
        for waiting in open {
            if let Some(found) = done.next_if(|found| found.number == waiting.number) {
                *waiting = found;
            }
        }
        Ok((used, busy / u32::try_from(pool.threads()).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pending::Pending;
    use super::super::points::DeepPoints;
    use super::super::tiers::device::{Attempted, DeepAttempt, DeepDevice, DeviceFailed};
    use crate::Limits;
    use crate::base::cancel::Cancel;
    use crate::base::control::Control;
    use crate::base::progress::Progress;
    use crate::field::Field;
    use crate::field::channels::{ChannelSet, ChannelSlicesMut};
    use crate::iterate::cpu::CpuEngine;
    use crate::iterate::engine::{Engine, Task};
    use crate::iterate::strategy::Strategy;
    use crate::plan::Plan;
    use crate::view::settings::{NumberKind, Settings};
    use crate::view::{Size, View};
    use dwell_kernels::{Fold, Formula, Level};
    use std::ops::Range;

    /// The centre and the zoom of a view, the fold, and the constant of a Julia set.
    type OfView = ([&'static str; 3], Fold, Option<[&'static str; 2]>);
    /// Views at which every orbit is decided in fixed point, with a fold and of a Julia set, too, and one with orbits of many lengths, a few of which are.
    const VIEWS: [OfView; 4] = [
        (["-2", "0.000000000000000000000001", "1e25"], Fold::None, None),
        (["-0.74364388703715870475219150611477", "0.13182590420531197049313205638514", "3e27"], Fold::None, None),
        (["-2", "0.000000000000000000000001", "1e25"], Fold::Absolute, None),
        (["2", "0.000000000000000000000001", "1e25"], Fold::None, Some(["-2", "0"])),
    ];

    /// A device that has memory for three rows and decides nothing, once it is ready.
    #[derive(Default)]
    struct Idle {
        pixels: u32,
        /// How often it is not ready.
        late: usize,
        on_processors: usize,
    }

    impl DeepDevice for Idle {
        fn is_ready(&mut self) -> bool {
            self.late = self.late.saturating_sub(1);
            self.late == 0
        }

        fn most_rows(&mut self, _: u32) -> Result<u32, DeviceFailed> {
            Ok(3)
        }

        fn begin(&mut self, points: &DeepPoints, rows: Range<u32>) -> Result<(), DeviceFailed> {
            let rows = points.in_rows(rows);
            self.pixels = rows.width * rows.height;
            Ok(())
        }

        fn attempt(&mut self, _: &DeepAttempt<'_>, _: &Cancel) -> Result<Attempted, DeviceFailed> {
            Ok(Attempted::default())
        }

        fn finish(&mut self, _: ChannelSlicesMut<'_>) -> Result<Vec<u32>, DeviceFailed> {
            Ok((0..self.pixels).collect())
        }

        fn leaves(&mut self, rows: Range<u32>) {
            self.on_processors += rows.len();
        }
    }

    #[test]
    fn slices_that_leave_pixels_to_later_ones_give_the_same_in_the_end() {
        let size = Size { width: 23, height: 19 };
        let (mut left, mut across, mut late) = (0, 0, 0);
        for ([re, im, zoom], fold, julia) in VIEWS {
            let view = View::centred(re, im, zoom).unwrap().sized(size);
            let formula = Formula::new(fold, 2).unwrap();
            let julia = julia.map(|parts| parts.map(|part| part.parse().unwrap()));
            let settings = Settings { number: NumberKind::Exact, limit: 4000, formula, julia, ..Settings::default() };
            let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
            for (threads, channels, with_device) in [
                (1, ChannelSet::NONE, false),
                (2, ChannelSet::SMOOTH, false),
                (3, ChannelSet::NONE, false),
                (3, ChannelSet::SMOOTH, true),
            ] {
                let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
                let (cancel, progress) = (Cancel::default(), Progress::default());
                let control = Control { cancel: &cancel, progress: &progress };
                let engine = CpuEngine::new(Level::best(), threads);
                let (mut whole, mut sliced) = (Field::default(), Field::default());
                for field in [&mut whole, &mut sliced] {
                    field.prepare(size.width, 0..size.height, channels).unwrap();
                }
                engine.run(&task, whole.all_rows_mut(), &control).unwrap();
                let of_whole = progress.pixels_done();
                let (mut pending, mut next) = (Pending::default(), 0);
                for number in 0.. {
                    let rows = next..(next + 1 + number % 3).min(size.height);
                    let required = match number % 4 {
                        _ if rows.end == size.height => u32::MAX,
                        2 => next.saturating_sub(3),
                        _ => 0,
                    };
                    pending.require_before(required);
                    let slice = (sliced.all_rows_mut(), rows.clone());
                    if with_device {
                        // Ready at once, or after some or all of the rows.
                        let mut device = Idle { late: number as usize % 5, ..Idle::default() };
                        engine.run_with_device(&task, slice, &control, (&mut device, &mut pending)).unwrap();
                        late += device.on_processors;
                    } else {
                        engine.run_slice(&task, slice, &control, &mut pending).unwrap();
                    }
                    next = rows.end;
                    let complete = pending.first_row().unwrap_or(next);
                    assert!(complete >= required.min(next), "{re} {im}: {complete}, {required}");
                    left += pending.len();
                    across += usize::from(complete < rows.start);
                    let of = |field: &Field| field.some_rows(0..complete).channels().to_bytes().unwrap();
                    assert_eq!(of(&sliced), of(&whole), "{re} {im}, {threads} threads, rows before {complete}");
                    if next == size.height {
                        break;
                    }
                }
                assert_eq!(pending.len(), 0);
                assert_eq!(progress.pixels_done(), 2 * of_whole, "every pixel is counted once");
            }
        }
        assert!(left > 100 && across > 5, "{left} pixels were left, {across} times across slices");
        assert!((1..VIEWS.len() * 19).contains(&late), "{late}");
    }
}
