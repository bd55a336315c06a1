//! The pipeline from computed rows to files: rows are painted and encoded in parts on free threads, and then counted, hashed
//! and written in order.
//!
//! A *band* is a range of rows that is computed at once. It is divided into *chunks*, ranges of rows that are encoded at once, and
//! these into *pieces*, which are painted at once ([`division`]). The thread that paints the last piece of a chunk encodes it.
//! Rows are rows of samples: a pixel of the picture is the average of one or more samples. The *computing thread* is the one that
//! calls [`Pipeline::run`] and submits bands.
//!
//! A band goes from the thread that computes it to the background jobs of the thread pool, piece by piece, and from them to
//! the writer, which restores the order of the bands. Band buffers are reused, and a buffer is free only when its rows are
//! written, so that no more bands are in memory than there are buffers. While the computing thread waits for a free buffer, it
//! processes pieces itself. So no thread is idle while there is work, and the time in which bands are computed includes no
//! other work.

pub(crate) mod division;

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::limits::{collected, filled};
use crate::base::thread_pool::BackgroundJobs;
use crate::colour::Painter;
use crate::encode::{Adler, Encoder, error_of_writing};
use crate::field::{Field, FieldRows};
use crate::render::field_hash::HashedGroups;
use crate::render::refine::{Refined, RefinedBand, Refiner};
use crate::render::writer::{Reached, Writer};
use division::{Division, joined};
use dwell_kernels::keep_standard_floats;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest time that the computing thread waits for a free buffer before it checks for cancellation.
const WAIT: Duration = Duration::from_millis(10);
/// Samples that are painted, or dwells that are encoded, between two checks for cancellation, at least a row: a few
/// milliseconds. A chunk of a wide image has up to 2^24 of them.
const BETWEEN_CHECKS: usize = 1 << 18;
/// What the memory is for, in messages.
const WHAT: &str = "the parts of a band";

/// How bands are painted and encoded.
pub(crate) struct PipelineSettings<'a> {
    pub(crate) painter: Option<&'a Painter>,
    pub(crate) encoders: &'a [Encoder],
    pub(crate) division: Division,
    /// Samples along one side of a pixel: a pixel is the average of `samples * samples`.
    pub(crate) samples: u32,
    /// Paints with more samples where they are needed, if the painter does.
    pub(crate) refiner: Option<&'a Refiner<'a>>,
    /// The threads that the thread times are divided by.
    pub(crate) threads: u64,
    /// The number of iterations that count for a sample that does not escape.
    pub(crate) limit: u64,
    pub(crate) cancel: &'a Cancel,
}

/// The memory of a band. `field` is used if the engine computes dwells, `picture` if the engine paints.
#[derive(Debug, Default)]
pub(crate) struct BandBuffers {
    pub(crate) field: Field,
    /// Rows of the picture, where the engine paints.
    pub(crate) picture: Vec<u8>,
}

/// The rows of a band, numbered as in the image.
pub(crate) enum BandRows<'a> {
    /// A field that holds this band, and the rows beside it that a [`Refiner`] needs; its buffers are reused.
    Field(BandBuffers),
    /// A field that holds the whole image.
    Kept(&'a Field),
    /// A picture that the engine painted; its buffers are reused.
    Picture {
        buffers: BandBuffers,
        /// Iterations that the plain loop needs for the band.
        iterations: u64,
        /// Samples of the band that did not escape.
        interior_pixels: u64,
    },
}

impl BandRows<'_> {
    /// The field; `None` where the engine painted the rows.
    fn field(&self) -> Option<&Field> {
        match self {
            Self::Field(buffers) => Some(&buffers.field),
            Self::Kept(field) => Some(field),
            Self::Picture { .. } => None,
        }
    }
}

/// A submitted band.
struct Band<'a> {
    /// Its place in the order of writing.
    number: u64,
    /// Its rows of samples, numbered as in the image.
    range: Range<u32>,
    rows: BandRows<'a>,
    /// Its colours, where its pixels are refined together.
    refined: Option<RefinedBand>,
    division: Division,
    /// The number of the next piece that a thread takes, counted within the band.
    next: AtomicUsize,
    /// The number of pieces that are not finished.
    left: AtomicUsize,
    /// By number.
    chunks: Vec<Mutex<Chunk>>,
}

/// A chunk, of which the first fields are kept until it is finished, and the others are empty before.
#[derive(Default)]
struct Chunk {
    /// The pictures of its pieces, empty where nothing is painted here.
    painted: Vec<Vec<u8>>,
    /// The number of pieces that are not painted.
    unpainted: usize,
    /// What its pieces add up to.
    refined: Refined,
    /// For each encoder, the encoded bytes and the checksum that is combined with that of the file so far.
    files: Vec<(Vec<u8>, Adler)>,
    iterations: u128,
    interior_pixels: u64,
    /// The groups of its dwells, if the field is hashed.
    hashed: HashedGroups,
}

/// An item for the writer. Bands and checkpoints are numbered in the order in which they are written.
enum Item<'a> {
    Band(Arc<Band<'a>>),
    Checkpoint(u64, Box<Reached>),
}

/// Bands between the computing thread and the writer.
pub(crate) struct Pipeline<'a> {
    settings: PipelineSettings<'a>,
    shared: Mutex<Shared<'a>>,
    /// Signalled when a buffer is free, a band is written, or something failed.
    changed: Condvar,
    /// Whether the render has failed or was cancelled, so that nothing more is written.
    stopped: AtomicBool,
    /// Whether a checkpoint is submitted and not yet saved.
    saving: AtomicBool,
    /// The number of bands and checkpoints that were submitted.
    submitted: AtomicU64,
    /// The number of bands and checkpoints that were written.
    written: AtomicU64,
    writer: Mutex<Writer>,
    /// Bands and checkpoints that reached the writer before those that precede them.
    reorder: Mutex<ReorderBuffer<'a>>,
    /// The channel to the writer's thread; `None` if there is no such thread.
    sender: Mutex<Option<Sender<Item<'a>>>>,
    /// Thread time spent on colours, in nanoseconds.
    colour: AtomicU64,
    /// Thread time spent on encoding, in nanoseconds.
    encode: AtomicU64,
    /// Whether the writer hashes the dwells, and the thread time spent on that before rows reach it, in nanoseconds.
    hashes: bool,
    hash: AtomicU64,
}

/// Items by number, and the number of the next one to write.
#[derive(Default)]
struct ReorderBuffer<'a> {
    next: u64,
    items: BTreeMap<u64, Item<'a>>,
}

/// What the threads that process pieces share.
struct Shared<'a> {
    /// Bands with pieces that no thread has taken.
    unfinished: VecDeque<Arc<Band<'a>>>,
    /// Buffers that hold no submitted band.
    free: Vec<BandBuffers>,
    /// Buffers for encoded chunks.
    spare: Vec<Vec<u8>>,
    /// The first failure of a chunk or of the writer, until it is returned to the computing thread.
    error: Option<Error>,
}

/// Stops the pipeline when its thread panics, so that no other thread waits for a piece that will never be finished. The
/// scope of the thread passes the panic on.
struct StopOnPanic<'p, 'a>(&'p Pipeline<'a>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Interrupted);
        }
    }
}

/// Closes the channel to the writer when dropped, so that the writer ends however its scope is left.
struct CloseChannel<'p, 'a>(&'p Pipeline<'a>);

impl Drop for CloseChannel<'_, '_> {
    fn drop(&mut self) {
        drop(lock(&self.0.sender).take());
    }
}

/// Nanoseconds, at most `u64::MAX`.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Locks a mutex, even if a thread panicked while it held the lock: [`StopOnPanic`] ends the render in that case.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Pipeline<'a> {
    /// A pipeline with the buffers `free` for bands and with the outputs of `writer`.
    pub(crate) fn new(settings: PipelineSettings<'a>, free: Vec<BandBuffers>, writer: Writer) -> Self {
        let shared = Shared { unfinished: VecDeque::new(), free, spare: Vec::new(), error: None };
        Self {
            settings,
            hashes: writer.tally.hasher.is_some(),
            hash: AtomicU64::new(0),
            shared: Mutex::new(shared),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            saving: AtomicBool::new(false),
            submitted: AtomicU64::new(0),
            written: AtomicU64::new(0),
            writer: Mutex::new(writer),
            reorder: Mutex::default(),
            sender: Mutex::default(),
            colour: AtomicU64::new(0),
            encode: AtomicU64::new(0),
        }
    }

    /// Runs `iterate`, which submits bands, while another thread, the writer's, writes them. If the system refuses to
    /// start that thread, bands are written by the thread that finishes their last piece. Returns when all bytes are
    /// passed to the system.
    pub(crate) fn run(&self, iterate: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            let work = move || {
                keep_standard_floats();
                receiver.into_iter().for_each(|item| self.write_in_order(item));
            };
            let thread = std::thread::Builder::new().name("writer".to_owned());
            if thread.spawn_scoped(scope, work).is_ok() {
                *lock(&self.sender) = Some(sender);
            }
            let _close = CloseChannel(self);
            let done = iterate().and_then(|()| self.drain());
            if done.is_err() {
                self.stop();
            }
            done
        })?;
        match lock(&self.shared).error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The flag that cancels the render.
    pub(crate) fn cancel(&self) -> &'a Cancel {
        self.settings.cancel
    }

    /// Takes free buffers for a band. Processes pieces, or waits, until there are some.
    pub(crate) fn free_buffers(&self) -> Result<BandBuffers, Error> {
        self.wait_for(|shared| shared.free.pop())
    }

    /// Processes pieces, or waits, until everything submitted is written.
    fn drain(&self) -> Result<(), Error> {
        let number = self.submitted.load(Ordering::Relaxed);
        self.wait_for(|_| (self.written.load(Ordering::Acquire) == number).then_some(()))
    }

    /// Processes pieces, or waits where there are none to process, until `ready` returns a value. Fails if the render
    /// was cancelled or has failed.
    fn wait_for<T>(&self, mut ready: impl FnMut(&mut Shared<'a>) -> Option<T>) -> Result<T, Error> {
        loop {
            self.settings.cancel.check()?;
            let mut shared = lock(&self.shared);
            if let Some(error) = shared.error.take() {
                return Err(error);
            }
            if let Some(found) = ready(&mut shared) {
                return Ok(found);
            }
            if shared.unfinished.is_empty() {
                drop(self.changed.wait_timeout(shared, WAIT));
            } else {
                drop(shared);
                self.process_piece();
            }
        }
    }

    /// Submits the rows `range` as a band, divides it into chunks and pieces from its first row on, and queues a background job
    /// for each piece. `range` begins at a multiple of the rows of a chunk. The computing thread processes pieces too,
    /// whenever it waits.
    ///
    /// Where the engine takes lists of samples, the pixels of the band are refined first.
    ///
    /// # Errors
    /// As [`Engine::run`](crate::Engine::run); when the system has not enough memory for the lists of chunks and pieces.
    pub(crate) fn submit<'s>(
        &'s self,
        rows: BandRows<'a>,
        range: Range<u32>,
        jobs: &BackgroundJobs<'_, 's>,
    ) -> Result<(), Error>
    where
        'a: 's,
    {
        let refined = match (self.settings.refiner, rows.field()) {
            (Some(refiner), Some(field)) => {
                let begun = Instant::now();
                let refined = refiner.refine_band(field, range.clone())?;
                self.colour.fetch_add(nanos(begun.elapsed()) * self.settings.threads, Ordering::Relaxed);
                refined
            }
            _ => None,
        };
        // What an engine has painted is encoded only.
        let division = self.settings.division;
        let division = if rows.field().is_some() { division } else { division.of_whole_chunks() };
        let (chunks, pieces) = (division.chunks(&range), division.pieces(&range));
        let mut unfinished = collected((0..chunks).map(|_| Chunk::default()), WHAT)?;
        (0..pieces).for_each(|piece| unfinished[division.chunk_of(piece)[0]].unpainted += 1);
        for chunk in &mut unfinished {
            chunk.painted = filled(chunk.unpainted, Vec::new(), WHAT)?;
        }
        let chunks = collected(unfinished.into_iter().map(Mutex::new), WHAT)?;
        let number = self.submitted.fetch_add(1, Ordering::Relaxed);
        let (next, left) = (AtomicUsize::new(0), AtomicUsize::new(pieces));
        let band = Band { number, range, rows, refined, division, next, left, chunks };
        lock(&self.shared).unfinished.push_back(Arc::new(band));
        for _ in 0..pieces {
            jobs.spawn(|| {
                self.process_piece();
            });
        }
        // Without a thread for the writer, all pieces are taken before the next band is computed.
        if lock(&self.sender).is_none() {
            while self.process_piece() {}
        }
        Ok(())
    }

    /// Bytes of the lists of the chunks and pieces of a band of these rows.
    pub(crate) fn list_bytes(division: Division, band: &Range<u32>) -> u64 {
        // Chunks are listed before they are shared, too.
        let of_chunk = size_of::<Mutex<Chunk>>() + size_of::<Chunk>();
        (division.chunks(band) * of_chunk + division.pieces(band) * size_of::<Vec<u8>>()) as u64
    }

    /// Saves how far the render is once everything submitted so far is written. Does nothing while an earlier checkpoint is
    /// not saved.
    ///
    /// # Errors
    /// Those of `reached`.
    pub(crate) fn checkpoint(&self, reached: impl FnOnce() -> Result<Reached, InputError>) -> Result<(), InputError> {
        if self.saving.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        // Otherwise the checkpoint could wait long for pieces that no thread has taken.
        while self.process_piece() {}
        let reached = Box::new(reached()?);
        let number = self.submitted.fetch_add(1, Ordering::Relaxed);
        self.deliver(Item::Checkpoint(number, reached));
        Ok(())
    }

    /// Thread time spent on colours, on encoding, and on hashes before rows reach the writer.
    pub(crate) fn thread_seconds(&self) -> [f64; 3] {
        [&self.colour, &self.encode, &self.hash].map(|nanos| nanos.load(Ordering::Relaxed) as f64 / 1e9)
    }

    /// The buffers and the writer, after [`Self::run`].
    pub(crate) fn into_parts(self) -> (Vec<BandBuffers>, Writer) {
        let shared = self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        (shared.free, self.writer.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Drops the pieces that no thread has taken, and makes the writer drop what it has not written.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        lock(&self.shared).unfinished.clear();
    }

    /// Stops the pipeline with an error, unless it has failed before, and wakes the computing thread.
    fn fail(&self, error: Error) {
        let mut shared = lock(&self.shared);
        shared.error.get_or_insert(error);
        shared.unfinished.clear();
        self.stopped.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Takes the next piece of the first band that has one left, paints it, and encodes its chunk if it is the last of it; passes the band
    /// on to the writer if all its pieces are finished. Returns false if no piece is left to take.
    fn process_piece(&self) -> bool {
        let _stop = StopOnPanic(self);
        let (band, piece) = {
            let mut shared = lock(&self.shared);
            let Some(band) = shared.unfinished.front() else { return false };
            let (band, piece) = (Arc::clone(band), band.next.fetch_add(1, Ordering::Relaxed));
            if piece + 1 >= band.division.pieces(&band.range) {
                shared.unfinished.pop_front();
            }
            (band, piece)
        };
        if let Err(error) = self.paint_and_encode(&band, piece) {
            self.fail(error);
        }
        if band.left.fetch_sub(1, Ordering::AcqRel) == 1 && !self.stopped.load(Ordering::Relaxed) {
            self.deliver(Item::Band(band));
        }
        true
    }

    /// Paints a piece, unless the engine has painted the band or there is no painter; encodes and counts its chunk if it is the last
    /// of its pieces. `piece` is counted within the band.
    fn paint_and_encode(&self, band: &Band<'_>, piece: usize) -> Result<(), Error> {
        let [number, within] = band.division.chunk_of(piece);
        let (picture, refined) = match (self.settings.painter, band.rows.field()) {
            (Some(painter), Some(field)) => {
                let of_piece = (field, band.division.piece(&band.range, piece));
                self.paint(painter, of_piece, band.refined.as_ref())?
            }
            _ => Default::default(),
        };
        let pictures = {
            let mut chunk = lock(&band.chunks[number]);
            chunk.painted[within] = picture;
            chunk.refined.add(refined);
            // Those of the whole band.
            if let (0, Some(band)) = (piece, &band.refined) {
                chunk.refined.add(band.refined());
            }
            chunk.unpainted -= 1;
            if chunk.unpainted > 0 {
                return Ok(());
            }
            std::mem::take(&mut chunk.painted)
        };
        let finished = self.finish_chunk(band, number, pictures)?;
        let mut chunk = lock(&band.chunks[number]);
        *chunk = Chunk { refined: chunk.refined, ..finished };
        Ok(())
    }

    /// Encodes and counts a chunk, of which all pieces are painted.
    fn finish_chunk(&self, band: &Band<'_>, number: usize, pictures: Vec<Vec<u8>>) -> Result<Chunk, Error> {
        let PipelineSettings { samples, limit, .. } = self.settings;
        let rows = band.division.chunk(&band.range, number);
        let field = match &band.rows {
            BandRows::Field(buffers) => &buffers.field,
            BandRows::Kept(field) => field,
            BandRows::Picture { buffers, iterations, interior_pixels } => {
                // Rows of pixels, of which each has `samples` rows of samples.
                let pixel_rows = band.range.len() / samples as usize;
                let row_bytes = buffers.picture.len() / pixel_rows.max(1);
                let at = |row: u32| ((row - band.range.start) / samples) as usize * row_bytes;
                let files = self.encode(None, &buffers.picture[at(rows.start)..at(rows.end)])?;
                // The engine counts iterations for the whole band. They are added to its first chunk.
                let (iterations, interior_pixels) = if number == 0 { (*iterations, *interior_pixels) } else { (0, 0) };
                return Ok(Chunk { files, iterations: iterations.into(), interior_pixels, ..Chunk::default() });
            }
        };
        let (first, rows) = (rows.start, field.some_rows(rows));
        let (iterations, interior_pixels) = (rows.iterations(limit), rows.interior_pixels());
        let files = self.encode(Some(rows), &joined(pictures)?)?;
        Ok(Chunk { files, iterations, interior_pixels, hashed: self.hash(rows, first)?, ..Chunk::default() })
    }

    /// Paints the rows of a piece, a few at a time.
    fn paint(
        &self,
        painter: &Painter,
        (field, piece): (&Field, Range<u32>),
        band: Option<&RefinedBand>,
    ) -> Result<(Vec<u8>, Refined), Error> {
        let begun = Instant::now();
        let samples = self.settings.samples as usize;
        let width = field.width() as usize / samples;
        let row_bytes = width * painter.bytes_per_pixel();
        let mut picture = filled(piece.len() / samples * row_bytes, 0, "the picture")?;
        let mut refined = Refined::default();
        if let Some(refiner) = self.settings.refiner {
            refined = refiner.paint(field, band, piece, &mut picture)?;
        } else {
            let rows = (BETWEEN_CHECKS / (width * samples * samples).max(1)).max(1);
            let starts = piece.clone().step_by(rows * samples);
            for (first, picture) in starts.zip(picture.chunks_mut(rows * row_bytes)) {
                self.settings.cancel.check()?;
                let end = piece.end.min(first.saturating_add((rows * samples) as u32));
                painter.paint(field.some_rows(first..end), first / samples as u32, picture);
            }
        }
        self.colour.fetch_add(nanos(begun.elapsed()), Ordering::Relaxed);
        Ok((picture, refined))
    }

    /// Hashes the groups of the dwells of a chunk whose first row is `first`, if the writer is to hash them.
    fn hash(&self, rows: FieldRows<'_>, first: u32) -> Result<HashedGroups, Error> {
        if !self.hashes {
            return Ok(HashedGroups::default());
        }
        let begun = Instant::now();
        let bytes = rows.dwell_bytes()?;
        // The chunks before it have rows of as many bytes.
        let of_row = (bytes.len() / rows.dwell().len().max(1)) as u64 * u64::from(rows.width());
        let hashed = HashedGroups::of(&bytes, u64::from(first) * of_row)?;
        self.hash.fetch_add(nanos(begun.elapsed()), Ordering::Relaxed);
        Ok(hashed)
    }

    /// Encodes a chunk in every format: pictures from `picture`, dwells from `rows`.
    fn encode(&self, rows: Option<FieldRows<'_>>, picture: &[u8]) -> Result<Vec<(Vec<u8>, Adler)>, Error> {
        let begun = Instant::now();
        let buffers: Vec<Vec<u8>> = {
            let spare = &mut lock(&self.shared).spare;
            self.settings.encoders.iter().map(|_| spare.pop().unwrap_or_default()).collect()
        };
        let mut files = Vec::with_capacity(buffers.len());
        for (number, (encoder, mut buffer)) in self.settings.encoders.iter().zip(buffers).enumerate() {
            buffer.clear();
            let sum = match (encoder, rows) {
                (Encoder::Picture(encoder), _) => encoder.chunk(picture, &mut buffer),
                (Encoder::Dwells(encoder), Some(rows)) => {
                    let width = rows.width() as usize;
                    let piece = (BETWEEN_CHECKS / width).max(1) * width;
                    (0..rows.dwell().len()).step_by(piece).try_for_each(|from| {
                        self.settings.cancel.check()?;
                        let piece = rows.some_pixels(from..rows.dwell().len().min(from + piece));
                        encoder.chunk(piece, &mut buffer).map_err(|source| self.error_of(number, source))
                    })?;
                    Ok(Adler::default())
                }
                (Encoder::Dwells(_), None) => {
                    Err(std::io::Error::other("the engine delivered a picture without dwells"))
                }
            };
            files.push((buffer, sum.map_err(|source| self.error_of(number, source))?));
        }
        self.encode.fetch_add(nanos(begun.elapsed()), Ordering::Relaxed);
        Ok(files)
    }

    /// The error of an encoder, with the path of its output, which has the same number.
    fn error_of(&self, output: usize, source: std::io::Error) -> Error {
        let path = lock(&self.writer).files.outputs.get(output).map(|output| output.path().to_owned());
        error_of_writing(path.unwrap_or_default(), source)
    }

    /// Passes an item to the writer's thread, or writes it here if there is none.
    fn deliver(&self, item: Item<'a>) {
        let sender = lock(&self.sender).clone();
        match sender {
            // Sending fails only if the writer's thread panicked; the scope passes the panic on.
            Some(sender) => drop(sender.send(item)),
            None => self.write_in_order(item),
        }
    }

    /// Puts an item into the reorder buffer and writes the items whose turn it is: those whose predecessors are all
    /// written. After the pipeline has stopped, items are dropped instead of written.
    fn write_in_order(&self, item: Item<'a>) {
        let _stop = StopOnPanic(self);
        let mut reorder = lock(&self.reorder);
        let number = match &item {
            Item::Band(band) => band.number,
            Item::Checkpoint(number, _) => *number,
        };
        reorder.items.insert(number, item);
        loop {
            let next = reorder.next;
            let Some(item) = reorder.items.remove(&next) else { break };
            reorder.next += 1;
            if self.stopped.load(Ordering::Relaxed) {
                continue;
            }
            let mut writer = lock(&self.writer);
            let done = match item {
                Item::Band(band) => self.write_band(&mut writer, band),
                Item::Checkpoint(_, reached) => {
                    let saved = writer.save(*reached);
                    self.saving.store(false, Ordering::Relaxed);
                    saved
                }
            };
            drop(writer);
            match done {
                Ok(()) => {
                    self.written.store(next + 1, Ordering::Release);
                    // Take the lock before notifying, so that a thread that has just checked the condition is already
                    // waiting on the condition variable.
                    drop(lock(&self.shared));
                    self.changed.notify_all();
                }
                Err(error) => self.fail(error),
            }
        }
    }

    /// Hashes and writes a band, adds its counts to the tally, and frees its buffers.
    fn write_band(&self, writer: &mut Writer, mut band: Arc<Band<'a>>) -> Result<(), Error> {
        // Threads that finished other chunks of the band may still hold references, which they drop at once.
        let band = loop {
            match Arc::try_unwrap(band) {
                Ok(band) => break band,
                Err(shared) => band = shared,
            }
            std::thread::yield_now();
        };
        if let Some(hasher) = &mut writer.tally.hasher {
            let begun = Instant::now();
            let Some(field) = band.rows.field() else {
                return Err(Error::Internal("the dwells of a painted band are to be hashed".to_owned()));
            };
            let hashed = band.chunks.iter().map(|chunk| std::mem::take(&mut lock(chunk).hashed));
            let hashed = collected(hashed, "the hashes of the rows")?;
            hasher.update(&field.some_rows(band.range.clone()).dwell_bytes()?, &hashed);
            writer.tally.seconds.hash += begun.elapsed().as_secs_f64();
        }
        let mut spare = Vec::new();
        for chunk in band.chunks {
            let chunk = chunk.into_inner().unwrap_or_else(PoisonError::into_inner);
            writer.tally.iterations += chunk.iterations;
            writer.tally.interior_pixels += chunk.interior_pixels;
            writer.tally.refined.add(chunk.refined);
            for ((output, sum), (bytes, chunk_sum)) in
                writer.files.outputs.iter_mut().zip(&mut writer.sums).zip(chunk.files)
            {
                self.settings.cancel.check()?;
                output.write_all(&bytes).map_err(|e| output.error(e))?;
                *sum = sum.then(chunk_sum);
                spare.push(bytes);
            }
        }
        let mut shared = lock(&self.shared);
        shared.spare.append(&mut spare);
        // Buffers are freed only after writing, so that encoded bands do not accumulate in memory if the disk is slow.
        if let BandRows::Field(buffers) | BandRows::Picture { buffers, .. } = band.rows {
            shared.free.push(buffers);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::thread_pool::ThreadPool;
    use crate::colour::Depth;
    use crate::encode::{DwellEncoder, FileEncoder, Format, Header, PictureEncoder};
    use crate::field::channels::ChannelSet;
    use crate::render::files::Files;
    use crate::render::tally::Tally;
    use crate::store::Output;
    use crate::view::Size;

    /// An encoder that panics or fails at every chunk.
    struct Faulty {
        panics: bool,
    }
    impl FileEncoder for Faulty {
        fn start(&self) -> std::io::Result<Vec<u8>> {
            Ok(Vec::new())
        }
    }
    impl PictureEncoder for Faulty {
        fn chunk(&self, _: &[u8], _: &mut Vec<u8>) -> std::io::Result<Adler> {
            assert!(!self.panics, "a bug");
            Err(std::io::Error::other("no room"))
        }
    }

    fn run(
        threads: usize,
        encoder: Encoder,
        rows: BandRows<'_>,
        tally: Tally,
    ) -> std::thread::Result<Result<(), Error>> {
        let (cancel, pool) = (Cancel::default(), ThreadPool::new(threads));
        let encoders = vec![encoder];
        let settings = PipelineSettings {
            painter: None,
            encoders: &encoders,
            division: Division::of_chunks(8),
            samples: 1,
            refiner: None,
            threads: 1,
            limit: 1,
            cancel: &cancel,
        };
        let writer = Writer::new(Files { outputs: vec![Output::discarding()], sidecar: None }, tally);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let pipeline = Pipeline::new(settings, vec![BandBuffers::default()], writer);
            pool.with_background_jobs(|jobs| {
                pipeline.run(|| {
                    pipeline.submit(rows, 0..64, jobs)?;
                    // One buffer is free at the start, the next one only when the band is written.
                    pipeline.free_buffers()?;
                    pipeline.free_buffers().map(drop)
                })
            })
        }))
    }

    #[test]
    fn a_panic_in_a_chunk_or_an_error_in_the_writer_ends_the_render() {
        let mut field = Field::default();
        field.prepare(8, 0..64, ChannelSet::NONE).unwrap();
        for threads in [1, 2, 3] {
            let faulty = Encoder::Picture(Box::new(Faulty { panics: true }));
            let rows = BandRows::Field(BandBuffers { field: field.clone(), ..BandBuffers::default() });
            assert!(!matches!(run(threads, faulty, rows, Tally::default()), Ok(Ok(()))), "{threads} threads");
            // The writer is to hash rows that have no dwells.
            let header = Header { size: Size::new(8, 64).unwrap(), limit: 1, depth: Depth::Eight, text: "" };
            let buffers = BandBuffers { picture: vec![0; 8 * 64 * 3], ..BandBuffers::default() };
            let rows = BandRows::Picture { buffers, iterations: 1, interior_pixels: 0 };
            let tally = Tally { hasher: Some(Default::default()), ..Tally::default() };
            let ended = run(threads, Encoder::new(Format::Ppm, header).unwrap(), rows, tally);
            assert!(!matches!(ended, Ok(Ok(()))), "{threads} threads");
        }
    }

    /// An encoder of dwells that cancels the render at its third call.
    struct Cancelling {
        cancel: Cancel,
        calls: Arc<AtomicUsize>,
    }
    impl FileEncoder for Cancelling {
        fn start(&self) -> std::io::Result<Vec<u8>> {
            Ok(Vec::new())
        }
    }
    impl DwellEncoder for Cancelling {
        fn chunk(&self, rows: FieldRows<'_>, _: &mut Vec<u8>) -> std::io::Result<()> {
            let pixels = rows.dwell().len();
            assert!(pixels <= 2 * BETWEEN_CHECKS, "{pixels}");
            if self.calls.fetch_add(1, Ordering::Relaxed) == 2 {
                self.cancel.cancel();
            }
            Ok(())
        }
    }

    #[test]
    fn a_chunk_of_wide_rows_is_left_when_the_render_is_cancelled() {
        let width = BETWEEN_CHECKS as u32 + 5;
        let (cancel, calls) = (Cancel::default(), Arc::default());
        let encoders = [Encoder::Dwells(Box::new(Cancelling { cancel: cancel.clone(), calls: Arc::clone(&calls) }))];
        let settings = PipelineSettings {
            painter: None,
            encoders: &encoders,
            division: Division::of_chunks(8),
            samples: 1,
            refiner: None,
            threads: 1,
            limit: 1,
            cancel: &cancel,
        };
        let mut field = Field::default();
        field.prepare(width, 0..8, ChannelSet::NONE).unwrap();
        let writer = Writer::new(Files { outputs: vec![Output::discarding()], sidecar: None }, Tally::default());
        let pipeline = Pipeline::new(settings, Vec::new(), writer);
        let done = ThreadPool::new(1).with_background_jobs(|jobs| {
            pipeline.run(|| {
                pipeline.submit(BandRows::Kept(&field), 0..8, jobs)?;
                Ok(())
            })
        });
        assert!(matches!(done, Err(Error::Interrupted)), "{done:?}");
        assert_eq!(calls.load(Ordering::Relaxed), 3, "each call encodes one row of eight");
    }

    #[test]
    fn an_encoder_that_fails_names_its_output() {
        let mut field = Field::default();
        field.prepare(8, 0..64, ChannelSet::NONE).unwrap();
        let faulty = Encoder::Picture(Box::new(Faulty { panics: false }));
        let rows = BandRows::Field(BandBuffers { field, ..BandBuffers::default() });
        let Ok(Err(Error::Write { path, .. })) = run(2, faulty, rows, Tally::default()) else { panic!("an error") };
        assert_eq!(path, Output::discarding().path());
    }
}
