//! A field: the dwell of every pixel of some rows, and on demand the smooth value and the distance to the set.

use crate::base::error::InputError;
use crate::base::limits::resize;
use crate::plan::Plan;
use std::ops::Range;

/// What is wanted of each pixel beside its dwell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The smooth value. See [`dwell_kernels::smooth`].
    pub smooth: bool,
    /// The distance to the set. See [`dwell_kernels::distance`].
    pub distance: bool,
}

impl Extras {
    /// Dwells alone.
    pub const NONE: Self = Self { smooth: false, distance: false };
    /// The smooth value.
    pub const SMOOTH: Self = Self { smooth: true, distance: false };
    /// The distance to the set.
    pub const DISTANCE: Self = Self { smooth: false, distance: true };
}

/// Dwells, row by row from the top, and extras if asked for.
#[derive(Clone, Debug, Default)]
pub struct Field {
    width: u32,
    rows: Range<u32>,
    dwell: Vec<u32>,
    smooth: Vec<f64>,
    distance: Vec<f64>,
    painted: Option<PaintedRows>,
}

/// Rows that an engine has painted instead of telling their dwells.
#[derive(Clone, Debug, Default)]
pub(crate) struct PaintedRows {
    /// The picture's rows.
    pub(crate) picture: Vec<u8>,
    /// Iterations that the plain loop needs for them, and samples that did not escape.
    pub(crate) totals: (u64, u64),
}

/// Rows of a field, for an engine to fill.
#[derive(Debug)]
pub struct FieldPart<'a> {
    /// Columns.
    pub width: u32,
    /// Which rows of the image.
    pub rows: Range<u32>,
    /// The dwell of each pixel, row by row.
    pub dwell: &'a mut [u32],
    /// The smooth value of each pixel; empty where it is not wanted.
    pub smooth: &'a mut [f64],
    /// The distance of each pixel; empty where it is not wanted.
    pub distance: &'a mut [f64],
}

impl Field {
    /// Makes room for these rows of a plan's image, keeping the buffers there are. Every dwell is 0 or left over from
    /// before, until an engine has written it.
    ///
    /// # Errors
    /// When the system has no memory for them.
    pub(crate) fn prepare(&mut self, plan: &Plan, rows: Range<u32>, extras: Extras) -> Result<(), InputError> {
        let pixels = plan.size().width as usize * rows.len();
        self.width = plan.size().width;
        self.rows = rows;
        self.painted = None;
        resize(&mut self.dwell, pixels, 0, "the dwells")?;
        resize(&mut self.smooth, if extras.smooth { pixels } else { 0 }, 0.0, "the smooth values")?;
        resize(&mut self.distance, if extras.distance { pixels } else { 0 }, 0.0, "the distances")
    }

    /// Makes room for the picture of these rows of a plan's image, `bytes` of it, instead of their dwells.
    ///
    /// # Errors
    /// When the system has no memory for them.
    pub(crate) fn prepare_painted(&mut self, plan: &Plan, rows: Range<u32>, bytes: usize) -> Result<(), InputError> {
        self.width = plan.size().width;
        self.rows = rows;
        resize(&mut self.painted.get_or_insert_default().picture, bytes, 0, "the picture")
    }

    /// The picture of its rows, if they were painted.
    pub(crate) fn painted(&self) -> Option<&PaintedRows> {
        self.painted.as_ref()
    }

    /// The same, to write to.
    pub(crate) fn painted_mut(&mut self) -> Option<&mut PaintedRows> {
        self.painted.as_mut()
    }

    /// Bytes that a field of this many pixels takes.
    pub(crate) fn bytes(pixels: u64, extras: Extras) -> u64 {
        pixels.saturating_mul(4 + 8 * u64::from(extras.smooth) + 8 * u64::from(extras.distance))
    }

    /// Columns.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Which rows of the image these are, from the top.
    #[must_use]
    pub fn rows(&self) -> Range<u32> {
        self.rows.clone()
    }

    /// The dwell of each pixel, row by row from the top: n from 1, or 0 for a point that did not escape within the
    /// limit.
    #[must_use]
    pub fn dwell(&self) -> &[u32] {
        &self.dwell
    }

    /// The smooth value of each pixel, 0.0 where the dwell is 0; empty when it was not asked for.
    #[must_use]
    pub fn smooth(&self) -> &[f64] {
        &self.smooth
    }

    /// The estimated distance of each pixel to the set, in heights of the view, 0.0 where the dwell is 0; empty when it was
    /// not asked for.
    #[must_use]
    pub fn distance(&self) -> &[f64] {
        &self.distance
    }

    /// Some of its rows to write to, as rows of the image.
    ///
    /// # Panics
    /// When they are not among those it was prepared for.
    pub(crate) fn part(&mut self, rows: Range<u32>) -> FieldPart<'_> {
        let width = self.width as usize;
        let of_rows =
            |rows: &Range<u32>, first: u32| (rows.start - first) as usize * width..(rows.end - first) as usize * width;
        let pixels = of_rows(&rows, self.rows.start);
        let smooth = if self.smooth.is_empty() { &mut [][..] } else { &mut self.smooth[pixels.clone()] };
        let distance = if self.distance.is_empty() { &mut [][..] } else { &mut self.distance[pixels.clone()] };
        FieldPart { width: self.width, rows, dwell: &mut self.dwell[pixels], smooth, distance }
    }

    /// Copies rows that another field of the same image holds as well.
    pub(crate) fn take_over(&mut self, other: &Self, rows: Range<u32>) {
        if rows.is_empty() {
            return;
        }
        let (from, to) = (other.some_rows(rows.clone()), self.part(rows));
        to.dwell.copy_from_slice(from.dwell);
        to.smooth.copy_from_slice(from.smooth);
        to.distance.copy_from_slice(from.distance);
    }

    /// All of its rows to write to.
    pub(crate) fn whole(&mut self) -> FieldPart<'_> {
        self.part(self.rows.clone())
    }

    /// All of its rows, to read.
    #[must_use]
    pub fn all_rows(&self) -> FieldRows<'_> {
        self.some_rows(self.rows.clone())
    }

    /// Some of its rows to read, as rows of the image.
    ///
    /// # Panics
    /// When they are not among those it was prepared for.
    #[must_use]
    pub fn some_rows(&self, rows: Range<u32>) -> FieldRows<'_> {
        let width = self.width as usize;
        let pixels = (rows.start - self.rows.start) as usize * width..(rows.end - self.rows.start) as usize * width;
        let extra = |of: &'_ [f64]| if of.is_empty() { 0..0 } else { pixels.clone() };
        FieldRows {
            width: self.width,
            dwell: &self.dwell[pixels.clone()],
            smooth: &self.smooth[extra(&self.smooth)],
            distance: &self.distance[extra(&self.distance)],
        }
    }

    /// Pixels that did not escape.
    #[must_use]
    pub fn interior_pixels(&self) -> u64 {
        self.all_rows().interior_pixels()
    }
}

/// Rows of a field, for others to read.
#[derive(Clone, Copy, Debug)]
pub struct FieldRows<'a> {
    /// Columns.
    pub width: u32,
    /// The dwell of each pixel, row by row.
    pub dwell: &'a [u32],
    /// The smooth value of each pixel; empty where it was not asked for.
    pub smooth: &'a [f64],
    /// The distance of each pixel, in heights of the view; empty where it was not asked for.
    pub distance: &'a [f64],
}

impl FieldRows<'_> {
    /// The dwells as little-endian bytes.
    #[must_use]
    pub fn dwell_bytes(&self) -> std::borrow::Cow<'_, [u8]> {
        if cfg!(target_endian = "little") {
            bytemuck::cast_slice(self.dwell).into()
        } else {
            self.dwell.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>().into()
        }
    }

    /// Iterations that the plain loop needs for these pixels: n where escaped, `limit` where not.
    #[must_use]
    pub fn iterations(&self, limit: u32) -> u128 {
        // Chunks short enough for a sum of u32 to fit in u64.
        let each = |n: &u32| u64::from(if *n == 0 { limit } else { *n });
        self.dwell.chunks(1 << 16).map(|chunk| u128::from(chunk.iter().map(each).sum::<u64>())).sum()
    }

    /// Pixels that did not escape.
    #[must_use]
    pub fn interior_pixels(&self) -> u64 {
        self.dwell.iter().filter(|n| **n == 0).count() as u64
    }
}
