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
}

impl Bands<'_> {
    /// The band that begins at a row.
    pub(super) fn from(&self, start: u32) -> Range<u32> {
        start..start.saturating_add(self.layout.band_rows).min(self.plan.size().height)
    }

    /// Resizes a field for the band that begins at row `start` and for at least `computed` rows from there on, which are
    /// computed already: an earlier process with larger bands may have stored more than a band.
    pub(super) fn prepare(&self, field: &mut Field, start: u32, computed: u32) -> Result<(), InputError> {
        let rows = (self.layout.band_rows.saturating_add(self.layout.overhang)).max(computed);
        let Size { width, height } = self.plan.size();
        field.prepare(width, start..start.saturating_add(rows).min(height), self.layout.channels)
    }

    /// Copies rows that an earlier process computed into the field of a band, and sets the filler to continue after them.
    /// Returns `None` if they do not fit.
    pub(super) fn restore(
        &self,
        field: &mut Field,
        filler: &mut FieldFiller<'_>,
        start: u32,
        computed: Option<ComputedRows>,
    ) -> Option<()> {
        let computed = computed.unwrap_or_default();
        if computed.rows() > 0 && !computed.restore(field, start) {
            return None;
        }
        filler.resume(field, start + computed.rows());
        filler.control.progress.add(u64::from(filler.next) * u64::from(field.width()));
        Some(())
    }
}
