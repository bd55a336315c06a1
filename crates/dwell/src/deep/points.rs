//! The pixels of a deep view, as offsets from the point of the reference orbit.
//!
//! A pixel is k half pixels to the right of the centre and l half pixels up, for whole numbers k and l. The vectors of half a pixel, and that from the point of the
//! reference to the centre, 0 for a view with a reference of its own, are pairs of f64 in units of 2^scale, a power of two in which every offset is at most 1:
//! so an offset has 101 bits, whatever the zoom. Methods that need more bits take the exact point.

use super::kept;
use super::prepared::Shared;
use crate::base::error::InputError;
use crate::base::limits::{Limits, collected, reserved};
use crate::exact::limbs::in_limbs;
use crate::exact::rational::Rational;
use crate::exact::trig::Real;
use crate::truth::exact_points::{Enclosed, ExactPoints};
use crate::view::settings::Settings;
use crate::view::{ExactFrame, Size, View};
use dashu_int::IBig;
use dwell_kernels::deep::limbs::Fixed;
use dwell_kernels::deep::mantissa::{Complex, Dd, Mantissa};
use dwell_kernels::deep::values::Units;
use std::ops::Range;
use std::sync::Arc;

/// What the memory is for, in messages.
const WHAT: &str = "the offsets of pixels";
/// Bits of the vectors of half a pixel before they are rounded to pairs.
const BITS: i64 = 120;
/// The power of two, in units of 2^scale, below which a part of an offset is taken as 0: far below the last bit of others.
const NOTHING: i64 = -300;

/// The points of a view for the computation of proved dwells at any depth.
#[derive(Clone, Debug)]
pub struct DeepPoints {
    /// The offset of each column to the right of the centre, in half pixels; of a list, that of each point.
    columns: Vec<i64>,
    /// The offset of each row above the centre, in half pixels; of a list, that of each point.
    rows: Vec<i64>,
    /// Of a list, the number of points in a row.
    list_width: Option<u32>,
    /// The offset of the centre, and of half a pixel to the right and half a pixel up from there, in units of 2^scale.
    centre: Complex<Dd>,
    right: Complex<Dd>,
    up: Complex<Dd>,
    /// The power of two above the size of the view.
    own_scale: i64,
    /// What distances and slopes are expressed in.
    units: Units,
    exact: Arc<ExactPoints>,
    pub(crate) shared: Arc<Shared>,
}

/// Points of a view in whole rows, as offsets from the centre in half pixels.
#[derive(Clone, Copy, Debug)]
pub struct DeepRows<'a> {
    /// The number of points in a row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// The offset to the right of each column; of a list, of each point.
    pub columns: &'a [i64],
    /// The offset above the centre of each row; of a list, of each point.
    pub rows: &'a [i64],
    /// Whether the points are those of a list, along the rows, and not at the crossings of columns and rows.
    pub is_list: bool,
}

impl DeepPoints {
    /// The points of a view.
    ///
    /// # Errors
    /// When the memory for the offsets is exhausted.
    pub(crate) fn new(view: &View, settings: &Settings, limits: &Limits) -> Result<Self, InputError> {
        let ExactFrame { centre, half_pixel } = view.exact();
        // The sides of the view bound the distance of every point from its centre, rotated or not.
        let side = |half: &Rational, pixels: u32| half.magnitude().times_whole(i64::from(pixels) + 1);
        let reach = side(&half_pixel[0], view.size.width).plus(&side(&half_pixel[1], view.size.height));
        let own_scale = reach.floor_log2().unwrap_or(0) + 1;
        let wanted = kept::Wanted { centre: &centre, reach: &reach, scale: own_scale, pixels: view.size.pixels() };
        Self::with(view, own_scale, Shared::of(&wanted, settings, limits))
    }

    pub(super) fn with(view: &View, own_scale: i64, shared: Arc<Shared>) -> Result<Self, InputError> {
        let Size { width, height } = view.size;
        let (mut columns, mut rows) = (reserved(width as usize, WHAT)?, reserved(height as usize, WHAT)?);
        columns.extend((0..width).map(|column| view.half_pixels_right(column)));
        rows.extend((0..height).map(|row| view.half_pixels_up(row)));
        let exact = Arc::new(ExactPoints::new(view, 0));
        let vector = |[re, im]: &[Real; 2]| Complex { re: pair(re, shared.scale()), im: pair(im, shared.scale()) };
        let [right, up] = exact.half_pixels().map(vector);
        let centre = vector(&shared.to(&view.exact().centre).map(Real::Rational));
        let units = units(view.size, centre, [right, up]);
        Ok(Self { columns, rows, list_width: None, centre, right, up, own_scale, units, exact, shared })
    }

    /// The points of the same view with more columns and rows: `view` differs from that of these points in its size alone. The reference and
    /// the blocks are shared.
    pub(crate) fn finer(&self, view: &View) -> Result<Self, InputError> {
        Self::with(view, self.own_scale, Arc::clone(&self.shared))
    }

    /// These points reduced to some columns and rows.
    pub(crate) fn reduced(&self, columns: Vec<i64>, rows: Vec<i64>) -> Self {
        Self { columns, rows, ..self.clone() }
    }

    /// A list of these points, given by columns and rows, as rows of `width` points.
    ///
    /// # Errors
    /// When the memory for the offsets is exhausted.
    pub(crate) fn list(&self, width: u32, places: &[(u32, u32)]) -> Result<Self, InputError> {
        let offsets = |part: usize| {
            let offset = |(column, row): &(u32, u32)| self.half_pixels(*column, *row)[part];
            collected(places.iter().map(offset), WHAT)
        };
        let (columns, rows) = (offsets(0)?, offsets(1)?);
        Ok(Self {
            columns,
            rows,
            list_width: Some(width),
            centre: self.centre,
            right: self.right,
            up: self.up,
            own_scale: self.own_scale,
            units: self.units,
            exact: Arc::clone(&self.exact),
            shared: Arc::clone(&self.shared),
        })
    }

    /// The offset of each column to the right of the centre, in half pixels. Not of a list.
    pub(crate) fn columns(&self) -> &[i64] {
        &self.columns
    }

    /// The offset of each row above the centre, in half pixels. Not of a list.
    pub(crate) fn rows(&self) -> &[i64] {
        &self.rows
    }

    /// The number of points.
    pub(crate) fn pixels(&self) -> u64 {
        let rows = if self.list_width.is_some() { 1 } else { self.rows.len() as u64 };
        self.columns.len() as u64 * rows
    }

    /// The points in some rows.
    #[must_use]
    pub fn in_rows(&self, rows: Range<u32>) -> DeepRows<'_> {
        let range = |width: u32| rows.start as usize * width as usize..rows.end as usize * width as usize;
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        let (width, columns, rows) = match self.list_width {
            None => (count(self.columns.len()), &self.columns[..], &self.rows[range(1)]),
            Some(width) => (width, &self.columns[range(width)], &self.rows[range(width)]),
        };
        DeepRows { width, height: count(range(1).len()), columns, rows, is_list: self.list_width.is_some() }
    }

    /// The offset of a point to the right of the centre and above it, in half pixels.
    fn half_pixels(&self, column: u32, row: u32) -> [i64; 2] {
        let [column, row] = match self.list_width {
            None => [column as usize, row as usize],
            Some(width) => [row as usize * width as usize + column as usize; 2],
        };
        [self.columns[column], self.rows[row]]
    }

    /// Bytes of the offsets of so many columns and rows.
    pub(crate) fn bytes(Size { width, height }: Size) -> u64 {
        (u64::from(width) + u64::from(height)) * size_of::<i64>() as u64
    }

    /// The power of two above the size of the view.
    pub(crate) fn own_scale(&self) -> i64 {
        self.own_scale
    }

    /// The offset of the centre, and of half a pixel to the right and half a pixel up from there, in units of 2^scale.
    #[must_use]
    pub fn frame(&self) -> [Complex<Dd>; 3] {
        [self.centre, self.right, self.up]
    }

    /// The offset of a pixel in units of 2^scale, off by at most 2^-101: the roundings of the vectors, of their products with whole numbers
    /// and of two sums are (2^-103 + 5 u^2 + 2 * 3 u^2) of each part, u = 2^-53; the moduli of the parts add up to at most sqrt 2, since distances do to at most 1.
    #[must_use]
    pub fn offset(&self, column: u32, row: u32) -> Complex<Dd> {
        let times = |vector: Complex<Dd>, k: i64| {
            let k = Dd::whole(k as f64);
            Complex { re: vector.re * k, im: vector.im * k }
        };
        let [right, up] = self.half_pixels(column, row);
        self.centre + (times(self.right, right) + times(self.up, up))
    }

    /// What distances and slopes are expressed in.
    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// A pixel in fixed point with so many limbs, off by less than 4 units of the last place in each part.
    pub(super) fn in_fixed_point(&self, (column, row): (u32, u32), limbs: usize) -> [Fixed; 2] {
        let (points, [right, up]) = self.exact(column, row);
        let enclosed = points.at_half_pixels(right, up).enclose(64 * (limbs - 1));
        enclosed.map(|(low, _)| in_limbs(&low, limbs))
    }

    /// The exact points, and the offset of a pixel in half pixels.
    pub(crate) fn exact(&self, column: u32, row: u32) -> (&ExactPoints, [i64; 2]) {
        (&self.exact, self.half_pixels(column, row))
    }
}

/// The units of distances and slopes, for the offset of the centre and the vectors of half a pixel.
fn units(Size { width, height }: Size, centre: Complex<Dd>, [right, up]: [Complex<Dd>; 2]) -> Units {
    let times = |vector: Complex<Dd>, k: f64| Complex { re: vector.re.to_f64() * k, im: vector.im.to_f64() * k };
    let modulus = |vector: Complex<f64>| (vector.re * vector.re + vector.im * vector.im).sqrt();
    let [width, height] = [f64::from(width), f64::from(height)];
    let [side, top] = [times(right, width), times(up, height)];
    // The farthest are beside a corner: no offset is above 1, and roundings are far below 1e-9.
    let below = Complex { re: -top.re, im: -top.im };
    let farthest = (modulus(times(centre, 1.0)) + modulus(side + top).max(modulus(side + below))) * (1.0 + 1e-9);
    // In heights of the view, as shallow views have them.
    let in_heights = |vector: Complex<Dd>| times(vector, 1.0 / modulus(top));
    Units { height: 2.0 * modulus(top), pixel: [right, up].map(in_heights), farthest: farthest.min(1.0) }
}

/// A real number in units of 2^scale, with a relative error of less than 2^-103, and an absolute one of 2^[`NOTHING`].
pub(super) fn pair(real: &Real, scale: i64) -> Dd {
    let Some(exponent) = real.about_log2().filter(|exponent| *exponent - scale >= NOTHING) else { return Dd::ZERO };
    let bits = BITS - exponent;
    let (low, high) = real.enclose_scaled(bits);
    let middle: IBig = (low + high) >> 1_usize;
    let hi: f64 = Rational::round_dyadic(&middle, 0);
    let whole = Rational::from_f64(hi).floor_scaled(0);
    let lo: f64 = Rational::round_dyadic(&(middle - whole), 0);
    // A view of more than 2^900 pixels on a side does not exist, so the power is in range.
    let power = i32::try_from(-bits - scale).unwrap_or(-1000).clamp(-1000, 1000);
    Dd::sum(hi, lo).scaled(2_f64.powi(power))
}
