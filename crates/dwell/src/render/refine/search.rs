//! The pixels of some rows with contrast.

use super::{Refiner, WHAT};
use crate::base::error::Error;
use crate::base::limits::{extend, resize};
use crate::colour::Wide;
use crate::colour::contrast::{Contrast, ContrastRow, contrasts};
use crate::field::Field;
use std::ops::Range;

/// A pixel with contrast.
#[derive(Clone, Copy)]
pub(super) struct Pixel {
    pub(super) column: u32,
    pub(super) row: u32,
    pub(super) contrast: Contrast,
}

/// The buffers of a thread that colours rows and finds such pixels.
#[derive(Default)]
pub(super) struct Search {
    /// Colours of a row beside those that are coloured.
    beside: Vec<Wide>,
    /// The rows that are coloured, and one above and below.
    rows: Vec<ContrastRow>,
    curved: Vec<i16>,
    found: Vec<Contrast>,
}

impl Pixel {
    /// The number of the pixel in rows of so many pixels from the row `first` on.
    pub(super) fn place(&self, first: u32, width: usize) -> usize {
        (self.row - first) as usize * width + self.column as usize
    }
}

impl Search {
    /// Upper bound of the bytes of memory for so many rows of so many pixels.
    pub(super) fn bytes(width: u64, rows: u64) -> u64 {
        let of_pixel = size_of::<Wide>() + size_of::<Contrast>() + size_of::<i16>();
        width * of_pixel as u64 + (rows + 2) * ContrastRow::bytes(width)
    }

    /// Colours rows by their own samples, and appends the pixels with contrast. `field` holds the rows, and those above and below them that the image has.
    pub(super) fn find(
        &mut self,
        of: &Refiner<'_>,
        field: &Field,
        rows: Range<u32>,
        colours: &mut [Wide],
        pixels: &mut Vec<Pixel>,
    ) -> Result<(), Error> {
        let Self { beside, rows: prepared, curved, found } = self;
        let width = field.width() as usize;
        resize(beside, width, Wide::default(), WHAT)?;
        resize(found, width, Contrast::None, WHAT)?;
        let seen = rows.start.saturating_sub(1)..of.plan.size().height.min(rows.end.saturating_add(1));
        resize(prepared, seen.len(), ContrastRow::default(), WHAT)?;
        for (row, prepared) in seen.clone().zip(prepared.iter_mut()) {
            let line = match row.checked_sub(rows.start).map(|row| row as usize * width) {
                Some(at) if rows.contains(&row) => &mut colours[at..at + width],
                _ => &mut beside[..],
            };
            of.painter.colour_samples(field.some_rows(row..row + 1).channels(), line);
            prepared.take(line)?;
        }
        for row in rows {
            let at = (row - seen.start) as usize;
            let below = (at + 1).min(seen.len() - 1);
            contrasts([&prepared[at.saturating_sub(1)], &prepared[at], &prepared[below]], curved, found)?;
            let with_contrast = (0..).zip(&*found).filter(|(_, contrast)| **contrast != Contrast::None);
            extend(pixels, with_contrast.map(|(column, contrast)| Pixel { column, row, contrast: *contrast }), WHAT)?;
        }
        Ok(())
    }
}
