//! The pixels of a band, refined together: an engine that takes lists computes their samples, many at a time.
//!
//! A device takes 5 to 20 ms for an attempt, however few orbits there are, and few orbits are under way at the end of each list. So a list has as many samples
//! as a band has pixels, up to [`MOST`]. Where a band has several lists, and the engine computes two at once, the processors decide what the device leaves of one, and colour its samples, while it computes the other. Meanwhile free threads
//! paint and encode the band before.

use super::batch::{BATCH, Batch, POINTS};
use super::search::{Pixel, Search};
use super::{Refined, Refiner, WHAT};
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{collected, filled, reserved};
use crate::base::pieces::ChunksMut;
use crate::base::progress::Progress;
use crate::base::schedule::Schedule;
use crate::colour::Wide;
use crate::field::Field;
use crate::iterate::engine::{Engine, Notes, Task};
use crate::iterate::lists;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

/// The most samples that are computed at once.
const MOST: usize = 1 << 20;
/// The most lists that are under way at a time: the processors have work beside one of them.
const MOST_LISTS: usize = 2;
/// Pixels of the rows in which a thread looks for contrast at once, at least a row.
const SLAB: usize = 1 << 14;

/// The colours of the rows of a band.
pub(crate) struct RefinedBand {
    colours: Vec<Wide>,
    first: u32,
    refined: Refined,
}

/// Some rows of a band.
struct Slab<'a> {
    rows: Range<u32>,
    colours: &'a mut [Wide],
    pixels: Vec<Pixel>,
}

impl RefinedBand {
    /// The colours of some of its rows, of so many pixels.
    pub(super) fn colours(&self, width: usize, rows: &Range<u32>) -> &[Wide] {
        let at = |row: u32| (row - self.first) as usize * width;
        &self.colours[at(rows.start)..at(rows.end)]
    }

    /// How many of its pixels were refined.
    pub(crate) fn refined(&self) -> Refined {
        self.refined
    }
}

/// The pixels with contrast of a band, by groups of batches whose samples are computed together.
struct Groups<'a> {
    field: &'a Field,
    rows: Range<u32>,
    pixels: &'a [Pixel],
    /// The batches of a group, and the next group.
    batches: usize,
    next: AtomicUsize,
    band: Mutex<&'a mut RefinedBand>,
}

/// The most batches whose samples are computed at once, in a band of so many pixels.
fn batches_at_once(pixels: usize) -> usize {
    // The memory of the engine is planned for the samples of a band.
    (pixels.min(MOST) / POINTS).max(1)
}

impl<'a> Groups<'a> {
    fn count(&self) -> usize {
        self.pixels.len().div_ceil(self.batches * BATCH)
    }

    /// The pixels of a group that no thread has taken, and the rows that are done with it.
    fn take(&self) -> Option<(&'a [Pixel], Range<u32>)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let end_of = |number: usize| self.pixels.len().min(number * self.batches * BATCH);
        let pixels = self.pixels.get(end_of(number)..end_of(number + 1)).filter(|pixels| !pixels.is_empty())?;
        let first = if number == 0 { self.rows.start } else { self.pixels[end_of(number) - 1].row };
        let is_last = end_of(number + 1) == self.pixels.len();
        let below = if is_last { self.rows.end } else { pixels.last().map_or(first, |last| last.row) };
        Some((pixels, first..below))
    }

    /// Leaves no group to be taken.
    fn stop(&self) {
        self.next.store(self.count(), Ordering::Relaxed);
    }

    fn band(&self) -> MutexGuard<'_, &'a mut RefinedBand> {
        self.band.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, pixel: &Pixel) -> usize {
        pixel.place(self.rows.start, self.field.width() as usize)
    }
}

impl Refiner<'_> {
    /// Upper bound of the bytes of memory that bands of so many rows take, of which so many are under way at a time; 0 where threads refine their pieces.
    pub(crate) fn bytes_of_bands(task: &Task<'_>, engine: &dyn Engine, rows: u64, bands: u64) -> u64 {
        let plan = task.plan;
        let at_once = lists::at_once(engine, plan, task.channels).min(MOST_LISTS) as u64;
        if at_once == 0 {
            return 0;
        }
        let width = u64::from(plan.size().width);
        let pixels = width * rows;
        let batches = batches_at_once(usize::try_from(pixels).unwrap_or(usize::MAX)) as u64;
        let samples = batches * POINTS as u64;
        let slab = (SLAB as u64 / width).max(1);
        let of_list =
            batches * (Batch::bytes() + task.channels.bytes(BATCH as u64)) + lists::bytes(samples, task.channels);
        bands * pixels * size_of::<Wide>() as u64
            // As lists of slabs, which grow by doubling, and as one list.
            + pixels * 3 * size_of::<Pixel>() as u64
            + engine.pool().threads() as u64 * Search::bytes(width, slab)
            + at_once * of_list
            + (at_once - 1) * lists::bytes_beside_another(engine, task, samples)
    }

    /// Refines the pixels of a band; `None` where threads refine its pieces. `field` holds the rows, and those above and below them that the image has.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub(crate) fn refine_band(&self, field: &Field, rows: Range<u32>) -> Result<Option<RefinedBand>, Error> {
        let at_once = lists::at_once(self.engine, self.plan, self.channels);
        if at_once == 0 {
            return Ok(None);
        }
        let width = field.width() as usize;
        let mut colours = filled(rows.len() * width, Wide::default(), WHAT)?;
        let pixels = self.pixels_with_contrast(field, rows.clone(), &mut colours)?;
        let batches = batches_at_once(colours.len());
        let mut band = RefinedBand { colours, first: rows.start, refined: Refined::default() };
        if pixels.is_empty() {
            self.control.progress.add(rows.len() as u64 * width as u64);
            return Ok(Some(band));
        }
        let (next, pixels) = (AtomicUsize::new(0), pixels.as_slice());
        let groups = Groups { field, rows, pixels, batches, next, band: Mutex::new(&mut band) };
        scope(|scope| {
            let refine = || self.refine_groups(&groups);
            // Without another thread the caller refines all groups.
            let start = || Builder::new().name("lists".to_owned()).spawn_scoped(scope, refine).ok();
            let other = if at_once.min(groups.count()) > 1 { start() } else { None };
            let own = refine();
            let other = other.map_or(Ok(()), |other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            own.and(other)
        })?;
        Ok(Some(band))
    }

    /// Refines groups of pixels as long as there are some, and no thread has failed.
    fn refine_groups(&self, groups: &Groups<'_>) -> Result<(), Error> {
        let refined = (|| {
            let mut batches = collected((0..groups.batches).map(|_| Batch::default()), WHAT)?;
            while let Some((pixels, rows)) = groups.take() {
                self.refine_group(groups, pixels, &mut batches[..pixels.len().div_ceil(BATCH)])?;
                self.control.progress.add(rows.len() as u64 * u64::from(groups.field.width()));
            }
            Ok(())
        })();
        if refined.is_err() {
            groups.stop();
        }
        refined
    }

    fn refine_group(&self, groups: &Groups<'_>, pixels: &[Pixel], batches: &mut [Batch]) -> Result<(), Error> {
        {
            let band = groups.band();
            let own = &band.colours;
            self.each(batches, |number, batch| {
                let pixels = &pixels[number * BATCH..pixels.len().min((number + 1) * BATCH)];
                Ok(batch.begin(self, groups.field, pixels, |pixel| own[groups.place(pixel)])?)
            })?;
        }
        while self.add_samples(batches)? {}
        let refined = Mutex::new(Refined::default());
        self.each(batches, |_, batch| {
            let of_batch = batch.finish(self)?;
            refined.lock().unwrap_or_else(PoisonError::into_inner).add(of_batch);
            Ok(())
        })?;
        let mut band = groups.band();
        for (pixel, colour) in batches.iter().flat_map(Batch::finished) {
            band.colours[groups.place(pixel)] = colour;
        }
        band.refined.add(refined.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    /// What the engine reported.
    pub(crate) fn take_notes(&self) -> Notes {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Colours the rows of a band by their own samples, and finds the pixels with contrast, in order.
    fn pixels_with_contrast(&self, field: &Field, rows: Range<u32>, colours: &mut [Wide]) -> Result<Vec<Pixel>, Error> {
        let width = field.width() as usize;
        let height = (SLAB / width).max(1);
        let starts = rows.clone().step_by(height);
        let slabs = starts.zip(colours.chunks_mut(height * width)).map(|(start, colours)| {
            let rows = start..rows.end.min(start.saturating_add(height as u32));
            Slab { rows, colours, pixels: Vec::new() }
        });
        let mut slabs = collected(slabs, WHAT)?;
        let work = |search: &mut Search, (_, slabs): (usize, &mut [Slab<'_>])| -> Result<(), Error> {
            self.control.cancel.check()?;
            for slab in slabs {
                search.find(self, field, slab.rows.clone(), slab.colours, &mut slab.pixels)?;
            }
            Ok(())
        };
        let pool = self.engine.pool();
        pool.for_each(Schedule::default(), ChunksMut::new(&mut slabs, 1), || Ok(Search::default()), work)?;
        let mut pixels = reserved(slabs.iter().map(|slab| slab.pixels.len()).sum(), WHAT)?;
        slabs.iter().for_each(|slab| pixels.extend_from_slice(&slab.pixels));
        Ok(pixels)
    }

    /// Computes the samples that the pixels of some batches need next. Whether there were any.
    fn add_samples(&self, batches: &mut [Batch]) -> Result<bool, Error> {
        self.each(batches, |_, batch| Ok(batch.list(self).map(drop)?))?;
        let count = batches.iter().map(|batch| batch.places().len()).sum();
        let mut places = reserved(count, WHAT)?;
        let mut ends = reserved(batches.len(), WHAT)?;
        for batch in &*batches {
            places.extend_from_slice(batch.places());
            ends.push(places.len());
        }
        if places.is_empty() {
            return Ok(false);
        }
        // Refined pixels are counted by the row.
        let control = Control { progress: &Progress::default(), ..self.control };
        let of = (self.plan, &*self.finer.points);
        let (samples, notes) = lists::compute(self.engine, of, places, self.channels, &control)?;
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).add(notes);
        self.each(batches, |number, batch| {
            let from = number.checked_sub(1).map_or(0, |before| ends[before]);
            batch.add(self, samples.slices().slice(from..ends[number]))
        })?;
        Ok(true)
    }

    /// Does something with each of some batches, on all threads.
    fn each(
        &self,
        batches: &mut [Batch],
        work: impl Fn(usize, &mut Batch) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        self.engine.pool().for_each_chunk(Schedule::default(), batches, 1, |number, batch| work(number, &mut batch[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::contrast::Contrast;
    use crate::field::channels::ChannelSet;

    #[test]
    fn groups_have_each_pixel_once_and_their_rows_are_those_of_the_band() {
        let (width, rows) = (100, 7..900);
        let mut field = Field::default();
        field.prepare(width, rows.clone(), ChannelSet::NONE).unwrap();
        // All pixels of some rows, and none of others.
        for (of_rows, batches) in [(8..9, 1), (7..900, 1), (7..900, 3), (50..700, 2), (899..900, 4)] {
            let pixels = of_rows.flat_map(|row| (0..width).map(move |column| (column, row)));
            let pixels: Vec<Pixel> =
                pixels.map(|(column, row)| Pixel { column, row, contrast: Contrast::Edge }).collect();
            let mut band = RefinedBand { colours: Vec::new(), first: rows.start, refined: Refined::default() };
            let (next, band) = (AtomicUsize::new(0), Mutex::new(&mut band));
            let groups = Groups { field: &field, rows: rows.clone(), pixels: &pixels, batches, next, band };
            let (mut seen, mut row, mut count) = (0, rows.start, 0);
            while let Some((group, done)) = groups.take() {
                assert!(group.len() <= batches * BATCH && std::ptr::eq(&raw const group[0], &raw const pixels[seen]));
                assert_eq!(done.start, row);
                (seen, row, count) = (seen + group.len(), done.end, count + 1);
            }
            assert_eq!((seen, row, count), (pixels.len(), rows.end, groups.count()));
            assert!(groups.take().is_none());
        }
        let pixels = [Pixel { column: 0, row: 7, contrast: Contrast::Noise }];
        let mut band = RefinedBand { colours: Vec::new(), first: rows.start, refined: Refined::default() };
        let (next, band) = (AtomicUsize::new(0), Mutex::new(&mut band));
        let groups = Groups { field: &field, rows, pixels: &pixels, batches: 1, next, band };
        groups.stop();
        assert!(groups.take().is_none(), "no group is taken after a failure");
    }
}
