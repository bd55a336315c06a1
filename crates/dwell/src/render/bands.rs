//! The bands of an image, and the position that a render has reached in them.

use crate::base::error::InputError;
use crate::field::Field;
use crate::plan::Plan;
use crate::render::computed_rows::ComputedRows;
use crate::render::field_filler::FieldFiller;
use crate::render::layout::Layout;
use crate::view::Size;
use std::ops::Range;

/// The position that a render has reached.
#[derive(Debug, Default)]
pub(super) struct Position {
    /// The first row that is not in the files, or not counted.
    pub(super) first: u32,
    /// Rows from `first` on that an earlier process computed.
    pub(super) computed: Option<ComputedRows>,
}

/// The bands of an image.
#[derive(Clone, Copy)]
pub(super) struct Bands<'a> {
    pub(super) layout: &'a Layout,
    pub(super) plan: &'a Plan,
    /// Rows above and below a band that its field holds too, where the image has them: [`Layout::beside`], or 0 where bands
    /// are counted.
    pub(super) beside: u32,
}

impl Bands<'_> {
    /// The band that begins at a row.
    pub(super) fn from(&self, start: u32) -> Range<u32> {
        start..start.saturating_add(self.layout.band_rows).min(self.plan.size().height)
    }

    /// The first row that the field of the band at row `start` holds.
    pub(super) fn first_row(&self, start: u32) -> u32 {
        start.saturating_sub(self.beside)
    }

    /// The end of the rows that the field of a band holds, rows of tiles beyond it aside.
    pub(super) fn end_row(&self, band: &Range<u32>) -> u32 {
        band.end.saturating_add(self.beside).min(self.plan.size().height)
    }

    /// Resizes a field for the band that begins at row `start`, and for at least `computed` rows that are computed already: an
    /// earlier process with larger bands may have stored more than a band. The field begins at row `from`.
    pub(super) fn prepare(&self, field: &mut Field, from: u32, start: u32, computed: u32) -> Result<(), InputError> {
        let end =
            self.end_row(&self.from(start)).saturating_add(self.layout.overhang).max(from.saturating_add(computed));
        let Size { width, height } = self.plan.size();
        field.prepare(width, from..end.min(height), self.layout.channels)
    }

    /// Prepares the field of the band at row `start`, copies rows that an earlier process computed into it, and sets the
    /// filler to continue after them. Without such rows, those above the band are computed again.
    ///
    /// # Errors
    /// When the system has not enough memory. `None` if the rows do not fit.
    pub(super) fn restore(
        &self,
        field: &mut Field,
        filler: &mut FieldFiller<'_>,
        start: u32,
        computed: Option<ComputedRows>,
    ) -> Result<Option<()>, InputError> {
        let computed = computed.unwrap_or_default();
        let first = self.first_row(start);
        let from = if computed.rows() > 0 || first == start { first } else { filler.tile_start(first) };
        self.prepare(field, from, start, computed.rows())?;
        Ok(restore(field, filler, from, &computed))
    }

    /// [`Self::restore`] for a field that holds the whole image.
    ///
    /// # Errors
    /// As [`Self::restore`].
    pub(super) fn restore_whole(
        &self,
        field: &mut Field,
        filler: &mut FieldFiller<'_>,
        computed: Option<ComputedRows>,
    ) -> Result<Option<()>, InputError> {
        let Size { width, height } = self.plan.size();
        field.prepare(width, 0..height, self.layout.channels)?;
        Ok(restore(field, filler, 0, &computed.unwrap_or_default()))
    }
}

/// Copies computed rows into a field from `row` on, and sets the filler to continue after them. `None` if they do not fit.
fn restore(field: &mut Field, filler: &mut FieldFiller<'_>, row: u32, computed: &ComputedRows) -> Option<()> {
    if computed.rows() > 0 && !computed.restore(field, row) {
        return None;
    }
    filler.resume(field, row + computed.rows());
    filler.control.progress.add(u64::from(filler.complete) * u64::from(field.width()));
    Some(())
}
