//! What becomes of rows once they are iterated: painted and encoded in parts, on whichever threads are free; counted,
//! hashed and written in order.
//!
//! A band moves from the one who iterates to the threads of the crew, part by part, and from them to the writer, which
//! brings bands back into their order. Fields go round: one is empty only when its rows are written, so no more bands are
//! at hand than there are fields. Who waits for an empty field does parts meanwhile; so no thread idles while there is
//! work, and the time in which bands are iterated holds nothing else.

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::limits::resize;
use crate::base::thread_pool::Crew;
use crate::colour::Painter;
use crate::encode::{Adler, Encoder};
use crate::field::{Field, FieldRows, PaintedRows};
use crate::render::journal::{Journal, State};
use crate::render::report::Tally;
use crate::store::Output;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long who waits for an empty field sleeps before it looks whether it was told to stop.
const NAP: Duration = Duration::from_millis(10);

/// How bands are finished.
pub(crate) struct Finish<'a> {
    pub(crate) painter: Option<&'a Painter>,
    pub(crate) encoders: &'a [Box<dyn Encoder>],
    /// Rows of samples of a part.
    pub(crate) part_rows: u32,
    /// Samples of a pixel on a side.
    pub(crate) samples: u32,
    pub(crate) limit: u32,
    pub(crate) cancel: &'a Cancel,
}

/// The rows of a band.
pub(crate) enum Rows<'a> {
    /// In a field of its own, which comes back.
    Own(Field, Range<u32>),
    /// In a field that holds the whole image.
    Kept(&'a Field, Range<u32>),
}

impl Rows<'_> {
    fn range(&self) -> Range<u32> {
        match self {
            Self::Own(_, rows) | Self::Kept(_, rows) => rows.clone(),
        }
    }

    /// The picture of all of them, if they came painted.
    fn painted(&self) -> Option<&PaintedRows> {
        match self {
            Self::Own(field, _) => field.painted(),
            Self::Kept(..) => None,
        }
    }

    fn some(&self, rows: Range<u32>) -> FieldRows<'_> {
        match self {
            Self::Own(field, _) => field.some_rows(rows),
            Self::Kept(field, _) => field.some_rows(rows),
        }
    }
}

/// A band on its way.
struct Band<'a> {
    number: u64,
    rows: Rows<'a>,
    /// The next part to be taken.
    next: AtomicUsize,
    /// Parts that are not done.
    left: AtomicUsize,
    parts: Vec<Mutex<Part>>,
}

/// A part that is done.
#[derive(Default)]
struct Part {
    files: Vec<(Vec<u8>, Adler)>,
    iterations: u128,
    interior_pixels: u64,
}

/// What the writer is given, with its number in the order.
enum Item<'a> {
    Band(Arc<Band<'a>>),
    Checkpoint(u64, Box<State>),
}

/// Bands between the one who iterates and the writer.
pub(crate) struct Pipeline<'a> {
    finish: Finish<'a>,
    hall: Mutex<Hall<'a>>,
    /// A field is empty, or something failed.
    changed: Condvar,
    stopped: AtomicBool,
    /// Whether a checkpoint is on its way.
    saving: AtomicBool,
    /// Bands and checkpoints submitted, and those written.
    number: AtomicU64,
    written: AtomicU64,
    writer: Mutex<Writer<'a>>,
    sender: Mutex<Option<Sender<Item<'a>>>>,
    /// Thread time, in nanoseconds.
    colour: AtomicU64,
    encode: AtomicU64,
}

struct Hall<'a> {
    waiting: VecDeque<Arc<Band<'a>>>,
    empty: Vec<Field>,
    /// Buffers for encoded parts.
    spare: Vec<Vec<u8>>,
    error: Option<Error>,
}

/// Writes bands in their order.
pub(crate) struct Writer<'a> {
    pub(crate) outputs: Vec<Output>,
    pub(crate) sums: Vec<Adler>,
    pub(crate) tally: Tally,
    pub(crate) journal: Option<&'a Journal>,
    /// Whether there is a journal that speaks of the outputs.
    pub(crate) journaled: bool,
    next: u64,
    /// What came too early.
    early: BTreeMap<u64, Item<'a>>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(outputs: Vec<Output>, sums: Vec<Adler>, tally: Tally, journal: Option<&'a Journal>) -> Self {
        Self { outputs, sums, tally, journal, journaled: false, next: 0, early: BTreeMap::new() }
    }

    /// Completes a state by what was written, and saves it.
    pub(crate) fn save(&mut self, mut state: State) -> Result<(), Error> {
        let Some(journal) = self.journal else { return Ok(()) };
        for (output, sum) in self.outputs.iter_mut().zip(&self.sums) {
            state.files.push((output.secure()?, *sum));
        }
        state.tally.add(&self.tally);
        state.tally.hasher.clone_from(&self.tally.hasher);
        journal.save(&state)?;
        if !self.journaled {
            self.outputs.iter_mut().for_each(Output::keep);
            self.journaled = true;
        }
        Ok(())
    }
}

/// Raised by whoever panics, so that nobody waits for what will never come: the panic is then handed on by the scope of
/// its thread.
struct Alarm<'p, 'a>(&'p Pipeline<'a>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Interrupted);
        }
    }
}

/// Lets the writer end, however its scope is left.
struct End<'p, 'a>(&'p Pipeline<'a>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        drop(lock(&self.0.sender).take());
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A part in every format.
fn encode(
    encoders: &[Box<dyn Encoder>],
    rows: FieldRows<'_>,
    picture: &[u8],
    buffers: Vec<Vec<u8>>,
) -> Result<Vec<(Vec<u8>, Adler)>, Error> {
    let mut files = Vec::with_capacity(encoders.len());
    for (encoder, mut buffer) in encoders.iter().zip(buffers) {
        buffer.clear();
        let sum = encoder
            .part(rows, picture, &mut buffer)
            .map_err(|source| Error::Write { path: std::path::PathBuf::from("-"), source })?;
        files.push((buffer, sum));
    }
    Ok(files)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Pipeline<'a> {
    pub(crate) fn new(finish: Finish<'a>, fields: Vec<Field>, writer: Writer<'a>) -> Self {
        let hall = Hall { waiting: VecDeque::new(), empty: fields, spare: Vec::new(), error: None };
        Self {
            finish,
            hall: Mutex::new(hall),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            saving: AtomicBool::new(false),
            number: AtomicU64::new(0),
            written: AtomicU64::new(0),
            writer: Mutex::new(writer),
            sender: Mutex::default(),
            colour: AtomicU64::new(0),
            encode: AtomicU64::new(0),
        }
    }

    /// Runs `iterate`, which submits bands, while a thread of its own writes them; where the system refuses one, they are
    /// written in between. Returns when everything is handed to the system.
    pub(crate) fn run(&self, iterate: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            let work = move || receiver.into_iter().for_each(|item| self.take(item));
            let thread = std::thread::Builder::new().name("writer".to_owned());
            if thread.spawn_scoped(scope, work).is_ok() {
                *lock(&self.sender) = Some(sender);
            }
            // The writer ends when it has what was sent, and nobody can send any more.
            let _end = End(self);
            let done = iterate().and_then(|()| self.drain());
            if done.is_err() {
                self.stop();
            }
            done
        })?;
        match lock(&self.hall).error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// An empty field. Does parts of bands until there is one.
    pub(crate) fn empty_field(&self) -> Result<Field, Error> {
        self.wait_for(|hall| hall.empty.pop())
    }

    /// Does parts until everything is written.
    fn drain(&self) -> Result<(), Error> {
        let number = self.number.load(Ordering::Relaxed);
        self.wait_for(|_| (self.written.load(Ordering::Acquire) == number).then_some(()))
    }

    fn wait_for<T>(&self, mut ready: impl FnMut(&mut Hall<'a>) -> Option<T>) -> Result<T, Error> {
        loop {
            self.finish.cancel.check()?;
            let mut hall = lock(&self.hall);
            if let Some(error) = hall.error.take() {
                return Err(error);
            }
            if let Some(found) = ready(&mut hall) {
                return Ok(found);
            }
            if hall.waiting.is_empty() {
                drop(self.changed.wait_timeout(hall, NAP));
            } else {
                drop(hall);
                self.do_a_part();
            }
        }
    }

    /// Hands on a band whose first row is that of a part. `crew` helps with it.
    pub(crate) fn submit<'s>(&'s self, rows: Rows<'a>, crew: &Crew<'_, 's>)
    where
        'a: 's,
    {
        let count = rows.range().len().div_ceil(self.finish.part_rows as usize);
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let parts = (0..count).map(|_| Mutex::default()).collect();
        let band = Band { number, rows, next: AtomicUsize::new(0), left: AtomicUsize::new(count), parts };
        lock(&self.hall).waiting.push_back(Arc::new(band));
        for _ in 0..count {
            crew.ask(|| {
                self.do_a_part();
            });
        }
        if lock(&self.sender).is_none() {
            while self.do_a_part() {}
        }
    }

    /// Has a state saved once everything submitted so far is written; not if another one is on its way.
    pub(crate) fn checkpoint(&self, state: impl FnOnce() -> State) {
        if self.saving.swap(true, Ordering::Relaxed) {
            return;
        }
        // It must not wait for parts that nobody has time for.
        while self.do_a_part() {}
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.deliver(Item::Checkpoint(number, Box::new(state())));
    }

    /// Thread time spent on colours and on encoding.
    pub(crate) fn thread_seconds(&self) -> [f64; 2] {
        [&self.colour, &self.encode].map(|nanos| nanos.load(Ordering::Relaxed) as f64 / 1e9)
    }

    /// The fields, the buffers and the writer, when all is done.
    pub(crate) fn into_parts(self) -> (Vec<Field>, Writer<'a>) {
        let hall = self.hall.into_inner().unwrap_or_else(PoisonError::into_inner);
        (hall.empty, self.writer.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        lock(&self.hall).waiting.clear();
    }

    fn fail(&self, error: Error) {
        let mut hall = lock(&self.hall);
        hall.error.get_or_insert(error);
        hall.waiting.clear();
        self.stopped.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Does a part of the first band that has one left. False if none has.
    fn do_a_part(&self) -> bool {
        let _alarm = Alarm(self);
        let (band, part, buffers) = {
            let mut hall = lock(&self.hall);
            let Some(band) = hall.waiting.front() else { return false };
            let (band, part) = (Arc::clone(band), band.next.fetch_add(1, Ordering::Relaxed));
            if part + 1 >= band.parts.len() {
                hall.waiting.pop_front();
            }
            let buffers: Vec<Vec<u8>> =
                (0..self.finish.encoders.len()).map(|_| hall.spare.pop().unwrap_or_default()).collect();
            (band, part, buffers)
        };
        match self.part(&band, part, buffers) {
            Ok(done) => *lock(&band.parts[part]) = done,
            Err(error) => self.fail(error),
        }
        if band.left.fetch_sub(1, Ordering::AcqRel) == 1 && !self.stopped.load(Ordering::Relaxed) {
            self.deliver(Item::Band(band));
        }
        true
    }

    fn part(&self, band: &Band<'_>, number: usize, buffers: Vec<Vec<u8>>) -> Result<Part, Error> {
        let Finish { painter, encoders, part_rows, samples, limit, .. } = self.finish;
        let Range { start, end } = band.rows.range();
        let first = start + number as u32 * part_rows;
        let own = first..end.min(first.saturating_add(part_rows));
        if let Some(painted) = band.rows.painted() {
            return self.painted_part(painted, start..end, own, number == 0, buffers);
        }
        let rows = band.rows.some(own);
        let begun = Instant::now();
        let mut picture = Vec::new();
        if let Some(painter) = painter {
            let pixels = rows.dwell.len() / (samples * samples) as usize;
            resize(&mut picture, pixels * painter.bytes_per_pixel(), 0, "the picture")?;
            painter.paint(rows, &mut picture);
        }
        let painted = Instant::now();
        let mut part = Part {
            files: Vec::with_capacity(buffers.len()),
            iterations: rows.iterations(limit),
            interior_pixels: rows.interior_pixels(),
        };
        part.files = encode(encoders, rows, &picture, buffers)?;
        self.colour.fetch_add(nanos(painted - begun), Ordering::Relaxed);
        self.encode.fetch_add(nanos(painted.elapsed()), Ordering::Relaxed);
        Ok(part)
    }

    /// A part of a band that came painted: what is known of the band is told with its first part.
    fn painted_part(
        &self,
        painted: &PaintedRows,
        band: Range<u32>,
        rows: Range<u32>,
        is_first: bool,
        buffers: Vec<Vec<u8>>,
    ) -> Result<Part, Error> {
        let begun = Instant::now();
        let row_bytes = painted.picture.len() / (band.len() / self.finish.samples as usize).max(1);
        let line = |row: u32| ((row - band.start) / self.finish.samples) as usize * row_bytes;
        let picture = &painted.picture[line(rows.start)..line(rows.end)];
        let none = FieldRows { width: 0, dwell: &[], smooth: &[], distance: &[] };
        let files = encode(self.finish.encoders, none, picture, buffers)?;
        self.encode.fetch_add(nanos(begun.elapsed()), Ordering::Relaxed);
        let (iterations, interior_pixels) = if is_first { painted.totals } else { (0, 0) };
        Ok(Part { files, iterations: u128::from(iterations), interior_pixels })
    }

    /// To the writer, wherever it works.
    fn deliver(&self, item: Item<'a>) {
        let sender = lock(&self.sender).clone();
        match sender {
            // Who cannot receive has ended in a panic, which the scope hands on.
            Some(sender) => drop(sender.send(item)),
            None => self.take(item),
        }
    }

    /// Writes what has come, and what had come too early.
    fn take(&self, item: Item<'a>) {
        let _alarm = Alarm(self);
        let mut writer = lock(&self.writer);
        let number = match &item {
            Item::Band(band) => band.number,
            Item::Checkpoint(number, _) => *number,
        };
        writer.early.insert(number, item);
        loop {
            let next = writer.next;
            let Some(item) = writer.early.remove(&next) else { break };
            writer.next += 1;
            if self.stopped.load(Ordering::Relaxed) {
                continue;
            }
            let done = match item {
                Item::Band(band) => self.write_band(&mut writer, band),
                Item::Checkpoint(_, state) => {
                    let saved = writer.save(*state);
                    self.saving.store(false, Ordering::Relaxed);
                    saved
                }
            };
            match done {
                Ok(()) => {
                    self.written.store(next + 1, Ordering::Release);
                    // Through the lock, so that nobody is between a look and a nap.
                    drop(lock(&self.hall));
                    self.changed.notify_all();
                }
                Err(error) => self.fail(error),
            }
        }
    }

    fn write_band(&self, writer: &mut Writer<'a>, mut band: Arc<Band<'a>>) -> Result<(), Error> {
        // Whoever did its last parts is about to let go of it.
        let band = loop {
            match Arc::try_unwrap(band) {
                Ok(band) => break band,
                Err(shared) => band = shared,
            }
            std::thread::yield_now();
        };
        if let Some(hasher) = &mut writer.tally.hasher {
            let begun = Instant::now();
            hasher.update(&band.rows.some(band.rows.range()).dwell_bytes());
            writer.tally.seconds.hash += begun.elapsed().as_secs_f64();
        }
        let mut spare = Vec::new();
        for part in band.parts {
            let part = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            writer.tally.iterations += part.iterations;
            writer.tally.interior_pixels += part.interior_pixels;
            for ((output, sum), (bytes, part_sum)) in writer.outputs.iter_mut().zip(&mut writer.sums).zip(part.files) {
                self.finish.cancel.check()?;
                output.write_all(&bytes).map_err(|e| output.error(e))?;
                *sum = sum.then(part_sum);
                spare.push(bytes);
            }
        }
        let mut hall = lock(&self.hall);
        hall.spare.append(&mut spare);
        // Only now: so encoded bands cannot pile up before a slow disk.
        if let Rows::Own(field, _) = band.rows {
            hall.empty.push(field);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::thread_pool::Team;
    use crate::colour::Depth;
    use crate::encode::Format;
    use crate::{Extras, Limits, Plan, Settings, Size, View};

    /// Panics at every part.
    struct Faulty;
    impl Encoder for Faulty {
        fn start(&self) -> std::io::Result<Vec<u8>> {
            Ok(Vec::new())
        }
        fn part(&self, _: FieldRows<'_>, _: &[u8], _: &mut Vec<u8>) -> std::io::Result<Adler> {
            panic!("a bug");
        }
    }

    #[test]
    fn a_bug_ends_the_render() {
        let view = View::centred("0", "0", "1").unwrap().sized(Size::new(8, 64).unwrap());
        let plan = Plan::new(&view, &Settings::default(), &Limits::default()).unwrap();
        let mut field = Field::default();
        field.prepare(&plan, 0..64, Extras::NONE).unwrap();
        // Rows without dwells, of which the writer is to make a hash.
        let mut without = Field::default();
        without.prepare_painted(&plan, 0..64, 8 * 64 * 3).unwrap();
        let hashed = || Tally { hasher: Some(Default::default()), ..Tally::default() };
        let header = crate::encode::Header { size: plan.size(), depth: Depth::Eight, text: "" };
        for threads in [1, 2, 3] {
            let cases: [(Box<dyn Encoder>, Field, Tally); 2] = [
                (Box::new(Faulty), field.clone(), Tally::default()),
                (crate::encode::encoder(Format::Ppm, header), without.clone(), hashed()),
            ];
            for (case, (encoder, field, tally)) in cases.into_iter().enumerate() {
                let cancel = Cancel::default();
                let encoders = vec![encoder];
                let finish =
                    Finish { painter: None, encoders: &encoders, part_rows: 8, samples: 1, limit: 1, cancel: &cancel };
                let writer = Writer::new(vec![Output::nowhere()], vec![Adler::default()], tally, None);
                let team = Team::new(threads);
                let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let pipeline = Pipeline::new(finish, vec![Field::default()], writer);
                    team.with_crew(|crew| {
                        pipeline.run(|| {
                            pipeline.submit(Rows::Own(field, 0..64), crew);
                            // There is one, then none before the band is written.
                            pipeline.empty_field()?;
                            pipeline.empty_field().map(drop)
                        })
                    })
                }));
                assert!(!matches!(ended, Ok(Ok(()))), "case {case}, {threads} threads");
            }
        }
    }
}
