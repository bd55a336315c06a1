//! Mirror symmetry: rows that are mirror images of rows above them are copied, not computed. Here such a row is an
//! *image*, and the row above the axis is its *original*.
//!
//! In a view whose rows are symmetric about the real axis, the imaginary parts below the axis are the exact negatives
//! of those above. Negating the imaginary part of c negates that of every z to the last bit, and changes no |z|^2 (see
//! [`crate::Shortcuts::symmetry`]). So both rows have the same dwells and channels, except that odd channels
//! ([`crate::Channel::is_odd`]) are negated. Rows are computed from top to bottom. Where their memory may be reused before the images are filled,
//! a copy of the originals is kept here; where the field holds the whole image, images are copied within it. On 16 threads, where 1920x1080 pixels are one band, the
//! copy of the originals took 2.3 of 37 ms.
//!
//! Rows are copied on all threads. Most of the time of a copy is the first access to memory, which one thread did alone: of
//! the 44 ms of a picture of 1920 x 1080 on two threads, 6.

use crate::base::pieces::Pieces;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::field::channels::{ChannelBuffers, ChannelSet, ChannelSlices};
use crate::field::{Field, FieldRowsMut};
use crate::iterate::engine::{Engine, Task};
use crate::plan::Plan;
use dwell_kernels::Fold;
use std::convert::Infallible;
use std::ops::Range;

/// Pixels that a thread copies at once, at least a row: copying them takes longer than waking a thread.
const COPIED: usize = 1 << 16;

/// Where the originals of images are when these are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Originals {
    /// There are no images: all rows are computed.
    #[default]
    Unused,
    /// In the field, which holds all rows that are computed.
    InField,
    /// In a copy of at most so many bytes.
    Copied(u64),
}

/// Which rows of a view are images, and a copy of their originals.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    place: Originals,
    /// The rows that are images.
    images: Range<u32>,
    /// The sum of the numbers of a row and of its image: row j is the image of row `sum - j`.
    sum: u32,
    width: usize,
    /// The fold of the formula, on which the odd channels depend.
    fold: Fold,
    /// The originals whose values are in `originals` so far.
    kept: Range<u32>,
    /// Space for the originals of all images, row by row from the top.
    originals: ChannelBuffers,
}

/// Whether a [`Mirror`] is needed for an engine: if its shortcut `symmetry` is enabled and it does not mirror rows
/// itself.
pub(crate) fn is_needed(engine: &dyn Engine, task: &Task<'_>) -> bool {
    engine.info().shortcuts.symmetry && !engine.requirements(task, task.plan.size().height).mirrors
}

impl Originals {
    /// In a field that holds the whole image, if an engine does not mirror rows itself.
    pub(crate) fn in_field(engine: &dyn Engine, task: &Task<'_>) -> Self {
        if is_needed(engine, task) { Self::InField } else { Self::Unused }
    }

    /// In a copy of at most so many bytes, if an engine does not mirror rows itself.
    pub(crate) fn copied(engine: &dyn Engine, task: &Task<'_>, max_bytes: u64) -> Self {
        if max_bytes > 0 && is_needed(engine, task) { Self::Copied(max_bytes) } else { Self::Unused }
    }
}

impl Mirror {
    /// Bytes of the originals that [`Self::prepare`] makes space for with the same arguments: an upper bound.
    pub(crate) fn bytes(plan: &Plan, set: ChannelSet, place: Originals) -> u64 {
        let Originals::Copied(max_bytes) = place else { return 0 };
        let (images, _) = plan.mirrored_rows();
        set.bytes(images.len() as u64 * u64::from(plan.size().width)).min(max_bytes)
    }

    /// Finds the images of a plan and makes space for the copies of their originals, if these are copied; buffers are reused. If not
    /// all fit, the rows farthest below the axis are not treated as images, so they are computed. If the system has not
    /// enough memory, no row is treated as an image.
    pub(crate) fn prepare(&mut self, plan: &Plan, set: ChannelSet, place: Originals) {
        let (mut images, sum) = plan.mirrored_rows();
        (self.width, self.fold) = (plan.size().width as usize, plan.formula().fold());
        match place {
            Originals::Unused => images.end = images.start,
            Originals::InField => {}
            Originals::Copied(max_bytes) => {
                let max_rows = max_bytes / set.bytes(u64::from(plan.size().width));
                let max_rows = u32::try_from(max_rows).unwrap_or(u32::MAX);
                images.end = images.end.min(images.start.saturating_add(max_rows));
                if self.originals.resize(images.len() * self.width, set).is_err() {
                    images.end = images.start;
                }
            }
        }
        (self.place, self.images, self.sum, self.kept) = (place, images, sum, 0..0);
    }

    /// Whether no row is an image.
    pub(crate) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// The originals of some images. The order of rows is reversed: the original of the last image is the first.
    fn originals_of(&self, images: &Range<u32>) -> Range<u32> {
        self.sum + 1 - images.end..self.sum + 1 - images.start
    }

    /// All originals of some images if one or more of them are not kept, otherwise an empty range.
    pub(crate) fn originals_to_recompute(&self, images: &Range<u32>) -> Range<u32> {
        if self.place == Originals::InField {
            return 0..0;
        }
        let originals = self.originals_of(images);
        if self.kept.start <= originals.start && originals.end <= self.kept.end { 0..0 } else { originals }
    }

    /// Excludes rows before `first` as originals, since they will not be computed. Their images are computed instead of
    /// copied. Must be called before any row is kept.
    pub(crate) fn exclude_originals_before(&mut self, first: u32) {
        // The image of the row `first` is the last that is left.
        let end = (self.sum + 1).saturating_sub(first);
        if end < self.images.end {
            // The first row of the buffer is now the original of another image. No row is kept yet, so none has to be
            // moved.
            self.images.end = end.max(self.images.start);
            self.originals.truncate(self.images.len() * self.width);
        }
    }

    /// Whether a row is an image.
    pub(crate) fn is_image(&self, row: u32) -> bool {
        self.images.contains(&row)
    }

    /// The row, at most `row`, from which on the rows up to `row` are all images or all not.
    pub(crate) fn first_uniform_row(&self, row: u32) -> u32 {
        if self.images.is_empty() || row < self.images.start {
            0
        } else if row < self.images.end {
            self.images.start
        } else {
            self.images.end
        }
    }

    /// The rows from `from` to the next row where images begin or end, or to `end` if that comes first; and whether
    /// these rows are images.
    pub(crate) fn uniform_rows(&self, from: u32, end: u32) -> (Range<u32>, bool) {
        let Range { start: first, end: last } = self.images;
        if self.images.is_empty() {
            (from..end, false)
        } else if from < first {
            (from..end.min(first), false)
        } else if from < last {
            (from..end.min(last), true)
        } else {
            (from..end, false)
        }
    }

    /// Copies those of the rows, computed in `field`, that are originals, unless they are used where they are. Originals kept earlier stay kept if these
    /// rows continue them, otherwise they are discarded.
    pub(crate) fn keep(&mut self, field: &Field, rows: Range<u32>, pool: &ThreadPool) {
        if self.images.is_empty() || self.place == Originals::InField {
            return;
        }
        let originals = self.originals_of(&self.images);
        let rows = rows.start.max(originals.start)..rows.end.min(originals.end);
        if rows.is_empty() {
            return;
        }
        self.kept = if self.kept.end == rows.start { self.kept.start..rows.end } else { rows.clone() };
        let index = |row: u32| (row - originals.start) as usize * self.width;
        let pixels = index(rows.start)..index(rows.end);
        let slices = self.originals.slices_mut().slice(pixels);
        // The lengths fit: the originals have these channels and this width.
        let Ok(kept) = FieldRowsMut::new(self.width as u32, rows, slices) else { return };
        for_each_few_rows(pool, kept, |mut kept| {
            let rows = kept.rows();
            kept.channels_mut().copy_from(field.some_rows(rows).channels());
        });
    }

    /// Fills rows of a field that are images from their originals, which must be kept or in the field: copies them and negates the odd channels.
    pub(crate) fn fill(&self, field: &mut Field, images: Range<u32>, pool: &ThreadPool) {
        if self.place == Originals::InField {
            let first = field.rows().start;
            let mut rows = field.rows_mut(first..images.end);
            let above = rows.take_top(images.start - first);
            self.copy(above.as_rows().channels(), first, rows, pool);
        } else {
            let first = self.originals_of(&self.images).start;
            self.copy(self.originals.slices(), first, field.rows_mut(images), pool);
        }
    }

    /// Fills images from their originals, which are among these rows from `first` on.
    fn copy(&self, originals: ChannelSlices<'_>, first: u32, images: FieldRowsMut<'_>, pool: &ThreadPool) {
        for_each_few_rows(pool, images, |mut images| {
            for row in images.rows() {
                let index = (self.sum - row - first) as usize * self.width;
                let original = originals.slice(index..index + self.width);
                images.some_rows_mut(row..row + 1).channels_mut().copy_mirrored_from(original, self.fold);
            }
        });
    }
}

/// Calls `work` for all rows, a few at a time.
fn for_each_few_rows(pool: &ThreadPool, rows: FieldRowsMut<'_>, work: impl Fn(FieldRowsMut<'_>) + Sync) {
    let few = FewRows { at_once: (COPIED / rows.width().max(1) as usize).max(1) as u32, rows };
    let work = |(): &mut (), rows: FieldRowsMut<'_>| {
        work(rows);
        Ok(())
    };
    let Ok(_) = pool.for_each::<Infallible, _, _>(Schedule::default(), few, || Ok(()), work);
}

/// Rows that threads take a few at a time.
struct FewRows<'a> {
    rows: FieldRowsMut<'a>,
    at_once: u32,
}

impl<'a, E> Pieces<E> for FewRows<'a> {
    type Piece = FieldRowsMut<'a>;

    fn count(&self) -> usize {
        self.rows.rows().len().div_ceil(self.at_once as usize)
    }

    fn take_front(&mut self, count: usize) -> Result<Self, E> {
        let rows = u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(self.at_once);
        Ok(Self { rows: self.rows.take_top(rows), at_once: self.at_once })
    }

    fn next(&mut self) -> Result<Option<FieldRowsMut<'a>>, E> {
        let rows = self.rows.take_top(self.at_once);
        Ok(Some(rows).filter(|rows| !rows.rows().is_empty()))
    }
}
