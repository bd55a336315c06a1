//! Mirror symmetry: rows that are images of rows above them are copied, not computed.
//!
//! A view that crosses the real axis so that rows lie symmetric about it has, below the axis, exact negatives of imaginary
//! parts above. Negating the imaginary part of c negates that of every z to the last bit, and changes no |z|^2 (see
//! [`crate::Shortcuts::symmetry`]). Rows stream from top to bottom, so those that will be copied are kept until then.

use crate::base::limits::resize;
use crate::field::{Extras, Field, FieldPart};
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use std::ops::Range;

/// Which rows are images, and those that they are images of once these are known.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    /// The rows that are images.
    images: Range<u32>,
    /// The number of a row and that of its image sum up to this.
    sum: u32,
    width: usize,
    /// What is kept of each sample.
    extras: Extras,
    /// Rows that were kept so far, one range of them.
    kept: Range<u32>,
    /// Rows `sum - images.end + 1 ..= sum - images.start`, from the top.
    dwell: Vec<u32>,
    smooth: Vec<f64>,
    distance: Vec<f64>,
}

/// Whether rows are to be kept for an engine: not where it takes no such shortcut, nor where it does so by itself.
pub(crate) fn serves(engine: &dyn Engine, strategy: Strategy, extras: Extras) -> bool {
    engine.shortcuts().symmetry && !engine.mirrors(strategy, extras)
}

impl Mirror {
    /// Bytes that are kept for a plan, at most `most`. Rows farther from the axis than these last are computed twice.
    pub(crate) fn bytes(plan: &Plan, extras: Extras, most: u64) -> u64 {
        let (images, _) = plan.mirrored_rows();
        Field::bytes(images.len() as u64 * u64::from(plan.size().width), extras).min(most)
    }

    /// Prepares for a plan, keeping at most `most` bytes; buffers are kept from one to the next. Where the system has no
    /// memory for it, no row is an image.
    pub(crate) fn prepare(&mut self, plan: &Plan, extras: Extras, most: u64) {
        let (mut images, sum) = plan.mirrored_rows();
        let row_bytes = Field::bytes(u64::from(plan.size().width), extras);
        let most = u32::try_from(most / row_bytes).unwrap_or(u32::MAX);
        images.end = images.end.min(images.start.saturating_add(most));
        self.width = plan.size().width as usize;
        let pixels = images.len() * self.width;
        let what = "the mirrored rows";
        let made = resize(&mut self.dwell, pixels, 0, what)
            .and_then(|()| resize(&mut self.smooth, if extras.smooth { pixels } else { 0 }, 0.0, what))
            .and_then(|()| resize(&mut self.distance, if extras.distance { pixels } else { 0 }, 0.0, what));
        if made.is_err() {
            images.end = images.start;
        }
        (self.images, self.sum, self.extras, self.kept) = (images, sum, extras, 0..0);
    }

    /// What is kept of each sample.
    pub(crate) fn extras(&self) -> Extras {
        self.extras
    }

    /// Of the rows that some images are images of, those that are not kept.
    pub(crate) fn missing(&self, images: &Range<u32>) -> Range<u32> {
        let originals = self.sum + 1 - images.end..self.sum + 1 - images.start;
        if self.kept.start <= originals.start && originals.end <= self.kept.end { 0..0 } else { originals }
    }

    /// Notes that rows before `first` were not shown to it: rows that are images of those are none.
    pub(crate) fn begin_at(&mut self, first: u32) {
        let end = (self.sum + 1).saturating_sub(first);
        if end < self.images.end {
            // Nothing is kept yet: there is only less to keep.
            let fewer = (self.images.end - end.max(self.images.start)) as usize * self.width;
            self.images.end = end.max(self.images.start);
            for values in [&mut self.smooth, &mut self.distance] {
                values.truncate(values.len().saturating_sub(fewer));
            }
            self.dwell.truncate(self.dwell.len() - fewer);
        }
    }

    /// The rows from `from` on up to `end` that are alike: all images, or none.
    pub(crate) fn alike(&self, from: u32, end: u32) -> (Range<u32>, bool) {
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

    /// Keeps those of some computed rows of a field that will be wanted.
    pub(crate) fn keep(&mut self, field: &Field, rows: Range<u32>) {
        if self.images.is_empty() {
            return;
        }
        let top = self.sum + 1 - self.images.end;
        let wanted = top..self.sum + 1 - self.images.start;
        let rows = rows.start.max(wanted.start)..rows.end.min(wanted.end);
        if rows.is_empty() {
            return;
        }
        self.kept = if self.kept.end == rows.start { self.kept.start..rows.end } else { rows.clone() };
        let pixels = |first: u32| (rows.start - first) as usize * self.width..(rows.end - first) as usize * self.width;
        let (from, to) = (pixels(field.rows().start), pixels(top));
        self.dwell[to.clone()].copy_from_slice(&field.dwell()[from.clone()]);
        if !self.smooth.is_empty() {
            self.smooth[to.clone()].copy_from_slice(&field.smooth()[from.clone()]);
        }
        if !self.distance.is_empty() {
            self.distance[to].copy_from_slice(&field.distance()[from]);
        }
    }

    /// Fills rows that are images.
    pub(crate) fn fill(&self, part: FieldPart<'_>) {
        let top = self.sum + 1 - self.images.end;
        for (i, row) in part.rows.enumerate() {
            let at = |row: u32| row as usize * self.width..(row as usize + 1) * self.width;
            let (from, to) = (at(self.sum - row - top), i * self.width..(i + 1) * self.width);
            part.dwell[to.clone()].copy_from_slice(&self.dwell[from.clone()]);
            if !part.smooth.is_empty() {
                part.smooth[to.clone()].copy_from_slice(&self.smooth[from.clone()]);
            }
            if !part.distance.is_empty() {
                part.distance[to].copy_from_slice(&self.distance[from]);
            }
        }
    }
}
