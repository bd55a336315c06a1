//! Mirror symmetry: rows that are mirror images of rows above them are copied, not computed.
//!
//! In a view whose rows are symmetric about the real axis, the imaginary parts below the axis are the exact negatives of those
//! above. Negating the imaginary part of c negates that of every z to the last bit, and changes no |z|^2 (see
//! [`crate::Shortcuts::symmetry`]). Rows are computed from top to bottom, so the originals of images are kept until the images
//! are filled.

use crate::field::channels::{ChannelBuffers, ChannelSet};
use crate::field::{Field, FieldRowsMut};
use crate::iterate::engine::{Engine, Task};
use crate::plan::Plan;
use std::ops::Range;

/// Which rows are mirror images, and the computed rows that they are images of.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    /// The rows that are images.
    images: Range<u32>,
    /// The number of a row and that of its image sum up to this.
    sum: u32,
    width: usize,
    /// The originals that are kept so far, one range of rows.
    kept: Range<u32>,
    /// Space for rows `sum - images.end + 1 ..= sum - images.start`, from the top.
    originals: ChannelBuffers,
}

/// Whether rows are kept to be mirrored for an engine: only if it takes the shortcut `symmetry` and does not mirror by itself.
pub(crate) fn is_needed(engine: &dyn Engine, task: &Task<'_>) -> bool {
    engine.info().shortcuts.symmetry && !engine.requirements(task).mirrors
}

impl Mirror {
    /// Bytes of the rows that are kept for a plan, at most `max_bytes`. Images of rows that are farther from the axis are
    /// computed.
    pub(crate) fn bytes(plan: &Plan, set: ChannelSet, max_bytes: u64) -> u64 {
        let (images, _) = plan.mirrored_rows();
        set.bytes(images.len() as u64 * u64::from(plan.size().width)).min(max_bytes)
    }

    /// Prepares for a plan, to keep at most `max_bytes` of rows; buffers are reused. If the system has not enough memory, no
    /// row is treated as an image.
    pub(crate) fn prepare(&mut self, plan: &Plan, set: ChannelSet, max_bytes: u64) {
        let (mut images, sum) = plan.mirrored_rows();
        let row_bytes = set.bytes(u64::from(plan.size().width));
        let max_rows = u32::try_from(max_bytes / row_bytes).unwrap_or(u32::MAX);
        images.end = images.end.min(images.start.saturating_add(max_rows));
        self.width = plan.size().width as usize;
        let pixels = images.len() * self.width;
        if self.originals.resize(pixels, set).is_err() {
            images.end = images.start;
        }
        (self.images, self.sum, self.kept) = (images, sum, 0..0);
    }

    /// The originals of some images if any of them is not kept, otherwise an empty range.
    pub(crate) fn missing(&self, images: &Range<u32>) -> Range<u32> {
        let originals = self.sum + 1 - images.end..self.sum + 1 - images.start;
        if self.kept.start <= originals.start && originals.end <= self.kept.end { 0..0 } else { originals }
    }

    /// Excludes rows before `first` as originals, since they will not be computed. Their images are no longer treated as
    /// images.
    pub(crate) fn exclude_originals_before(&mut self, first: u32) {
        let end = (self.sum + 1).saturating_sub(first);
        if end < self.images.end {
            // Nothing is kept yet, so shortening the buffer loses no row.
            self.images.end = end.max(self.images.start);
            self.originals.truncate(self.images.len() * self.width);
        }
    }

    /// The longest range of rows from `from` on and before `end` that are all images or all not images, and whether they are.
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

    /// Keeps those of the rows, computed in `field`, that are originals of images.
    pub(crate) fn keep(&mut self, field: &Field, rows: Range<u32>) {
        if self.images.is_empty() {
            return;
        }
        let top = self.sum + 1 - self.images.end;
        let originals = top..self.sum + 1 - self.images.start;
        let rows = rows.start.max(originals.start)..rows.end.min(originals.end);
        if rows.is_empty() {
            return;
        }
        self.kept = if self.kept.end == rows.start { self.kept.start..rows.end } else { rows.clone() };
        let pixels = |first: u32| (rows.start - first) as usize * self.width..(rows.end - first) as usize * self.width;
        self.originals.slices_mut().slice(pixels(top)).copy_from(field.some_rows(rows.clone()).channels());
    }

    /// Fills rows that are images by copying their originals.
    pub(crate) fn fill(&self, mut images: FieldRowsMut<'_>) {
        let top = self.sum + 1 - self.images.end;
        for row in images.rows() {
            let original = (self.sum - row - top) as usize * self.width;
            let original = self.originals.slices().slice(original..original + self.width);
            images.some_rows_mut(row..row + 1).channels_mut().copy_mirrored_from(original);
        }
    }
}
