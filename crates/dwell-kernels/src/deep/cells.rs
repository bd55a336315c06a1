//! Many steps of an orbit at once wherever it is in the plane, with a proof.
//!
//! Blocks hold for orbits near the reference. Where an orbit has parted from it, for the last hundreds or thousands of steps before the escape, nothing is left of the
//! reference but C, its own c: the c of all pixels of a deep view agree beyond the last bit of an f64. So w' = w^2 + C is the same map for all of
//! them, and its iterates can be computed in advance, once for each place of the plane that orbits come to.
//!
//! The square up to 2 about 0 is divided into cells of `SIDE`. For the cell about p, with w = p + `SIDE` t, the map of k steps is
//!
//! ```text
//! F(w) = a_0 + a_1 t + ... + a_d t^d + E,    |E| <= rho for |t| <= 1
//! ```
//!
//! for every c of the view. k is the greatest number with rho within the tolerance for which no point of the disc escapes on the way, leaves a radius of 4 or comes near 0 (`cells/tile.rs`).
//!
//! An orbit that is known to within e, with |w - p| <= `SIDE` / sqrt 2 as in its cell, and e up to `MOST_ERROR`, goes on with the value of the polynomial at its t and
//!
//! ```text
//! e' = (|P'| + e B + g) e + rho
//! ```
//!
//! P is the polynomial, by w, and B >= |P''| on the disc. E is analytic on the disc, and the points between are within 0.98 sides of its centre, so that |E'| <= rho / (0.02 `SIDE`) by Cauchy's
//! estimate. The roundings of P' are less than 64 u times the sum of the moduli of its terms, which is at most d (|a_1| + ... + |a_d|) / `SIDE` <= 16 d / `SIDE`, as the sum was at most 4 before the last step. g is more than both together. rho has the roundings of P: with |t| <= 1 each operation
//! of Horner's rule is off by 2 u times the moduli of what it adds, so that a term of degree i is off by at most 2 u (i + 1) times its own, and by i u more as t is rounded to f64.
//!
//! Cells are of two kinds. Those of f64 have a side of 2^-8 and the degree 10. Those in pairs of f64 have a side of 2^-9 and the degree 12, and keep a_0 and a_1 in pairs: of the terms from a_2 on, which are less than 2^-9, the first 53 bits do for a tolerance of 2^-56. So an
//! operation on pairs takes little more than one on f64.
//!
//! What was measured, as steps of 20,000 orbits from places of the reference for each cell that they go through (tolerance 2^-42), and the cells that they come to:
//!
//! | side, degree | rf-dragon | kf-1e50 | fs-view05 |
//! |---|---|---|---|
//! | 2^-10, 6 | 124, 97,000 | 23, 94,000 | 15, 117,000 |
//! | 2^-9, 8 | 148, 60,000 | 26, 70,000 | 16, 76,000 |
//! | 2^-8, 8 | 60, 44,000 | 18, 61,000 | 11, 60,000 |
//! | 2^-8, 10 | 127, 40,000 | 24, 52,000 | 15, 52,000 |
//! | 2^-7, 10 | 48, 26,000 | 17, 34,000 | 11, 35,000 |
//! | 2^-7, 14 | 120, 28,000 | 25, 34,000 | 16, 32,000 |
//!
//! And at rf-dragon for the tolerance 2^-56, with the steps of all cells together, in millions, which are what it takes to compute them:
//!
//! | side, degree | steps, cells | steps of all cells |
//! |---|---|---|
//! | 2^-8, 10 | 37, 49,000 | 3.8 |
//! | 2^-8, 12 | 78, 40,000 | 4.1 |
//! | 2^-9, 10 | 102, 67,000 | 7.1 |
//! | 2^-9, 12 | 172, 53,000 | 6.8 |
//! | 2^-10, 10 | 188, 80,000 | 10.1 |
//!
//! Polynomials of the tenth degree fill three cache lines with what belongs to them, and those of the twelfth with pairs four. With the second degree, as blocks have it, cells of 2^-10 have single steps alone. At rf-dragon, cells in pairs of 2^-8 and of 2^-9 take as long.

#[cfg(test)]
mod tests;
mod tile;

use super::blocks::REACH;
use super::derivative::{UNDERFLOW, UP};
use super::extended::power_of_two;
use super::lanes::{
    ABOVE, Columns, ComplexInLanes, ComplexLanes, LANES, Lanes, Marks, Reals, indices, of_parts, transposed,
};
use super::mantissa::{Complex, Dd, Mantissa};
use super::reference::Reference;
use crate::arithmetic::Arithmetic;
use fearless_simd::Simd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tile::{Row, Tile};

/// The side of a tile, whose cells are computed together, in cells.
const OF_TILE: usize = 8;
/// The greatest degree of polynomials.
const MOST_DEGREE: usize = 12;
/// The most of their coefficients that are kept in pairs of f64.
const MOST_PAIRS: usize = 2;
/// Cells end where their discs may leave this radius: orbits that do soon escape.
const FARTHEST: f64 = 4.0;
/// Cells end where their discs come nearer to 0 than this, too. Deltas shrink there, and with them the errors of orbits, but not what cells add; so orbits leave cells, and are rebased. Cells that go on there leave a sixth more of the pixels of rf-dragon to the next tier.
pub(super) const NEAREST: f64 = 1.0 / 32.0;
/// The greatest tolerance, beyond which cells have too few steps to be of use.
const MOST_TOLERANCE: f64 = 1.0 / (1_u64 << 34) as f64;
/// The tolerance is at least so many times the greatest |c|, which is a part of each rho.
const OF_C: f64 = 128.0;
/// The part of g for E', as a multiple of the tolerance, of which rho is little more than one.
const OF_DERIVATIVE: f64 = (1 << 15) as f64;
/// The part of g for roundings.
const ROUNDINGS_OF_DERIVATIVE: f64 = 1.0 / (1 << 28) as f64;
/// The bits of rho that are k, which is 0 where a cell is of no use.
const STEPS_MASK: u64 = 0xfff;

/// What cells are made for.
#[derive(Clone, Copy, Debug)]
pub struct CellSetting {
    /// The greatest rho, but for the roundings of the polynomial.
    pub tolerance: f64,
    /// The error of an orbit from which on it goes by cells.
    pub least_error: f64,
    /// The most tiles, of 64 cells each.
    pub most_tiles: usize,
}

/// The cells of a view, computed when orbits first come to them.
#[derive(Debug)]
pub struct Cells<T: Mantissa> {
    c: Complex<Dd>,
    /// A bound on |c|, and on the error of C.
    of_c: f64,
    /// What is certain to be within R, at most [`FARTHEST`].
    most: f64,
    setting: CellSetting,
    tiles: Box<[OnceLock<Box<Tile<T>>>]>,
    /// The tiles that may still be computed.
    left: AtomicUsize,
}

/// Orbits after the steps of their cells.
pub(super) struct Applied<T: Mantissa, S: Simd> {
    pub(super) w: ComplexLanes<T, S>,
    pub(super) e: Reals<S>,
    /// k, 0 where there is no cell for this orbit.
    pub(super) steps: Reals<S>,
}

/// An orbit in lanes: w, e and the steps up to the limit.
pub(super) type OrbitLanes<T, S> = (ComplexLanes<T, S>, Reals<S>, Reals<S>);

impl<T: Mantissa> Cells<T> {
    /// The side of a cell.
    pub(super) const SIDE: f64 = 1.0 / T::CELLS_OF_UNIT;
    /// The greatest error of an orbit that goes on by cells: with it, a point is within 0.98 sides of the centre of its cell.
    pub(super) const MOST_ERROR: f64 = 0.27 * Self::SIDE;
    /// Cells from 0 to the edge of the square.
    const TO_EDGE: f64 = 2.0 * T::CELLS_OF_UNIT;
    /// The side of the square in tiles.
    const TILES: usize = 2 * Self::TO_EDGE as usize / OF_TILE;
    /// The place in a cell of B, and that of rho, whose last bits are k. The coefficients are before them, and their second parts after them.
    const SECOND: usize = 2 * T::CELL_DEGREE + 2;
    const RHO: usize = Self::SECOND + 1;
    const LOW: usize = Self::RHO + 1;

    /// The bytes of the cells of a view with so many tiles, of 64 cells each.
    #[must_use]
    pub const fn bytes(most_tiles: usize) -> u64 {
        (Self::TILES * Self::TILES * size_of::<OnceLock<Box<Tile<T>>>>() + most_tiles * size_of::<Tile<T>>()) as u64
    }

    /// The cells for c up to [`REACH`] in units of 2^scale about a reference; `None` where they are of no use, as the c of the view differ too much, and where there is no memory.
    #[must_use]
    pub fn new(reference: &Reference, scale: i32, escape_radius: f64, mut setting: CellSetting) -> Option<Self> {
        let reach = if scale > -1000 { REACH * power_of_two(scale) } else { 0.0 };
        // That of C, which is the second value of a reference, is off by less than 2^-100.
        let of_c = (reach + 1.0 / (1_u128 << 96) as f64 + UNDERFLOW) * UP;
        setting.tolerance = setting.tolerance.max(OF_C * of_c);
        setting.least_error = setting.least_error.max(OF_C * of_c);
        if setting.tolerance > MOST_TOLERANCE || setting.most_tiles == 0 || reference.last() == 0 {
            return None;
        }
        let mut tiles = Vec::new();
        tiles.try_reserve_exact(Self::TILES * Self::TILES).ok()?;
        tiles.resize_with(Self::TILES * Self::TILES, OnceLock::new);
        Some(Self {
            c: reference.at::<Dd>(1),
            of_c,
            most: (escape_radius * (1.0 - 1.0 / (1_u64 << 40) as f64)).min(FARTHEST),
            setting,
            tiles: tiles.into_boxed_slice(),
            left: AtomicUsize::new(setting.most_tiles),
        })
    }

    /// The error from which on orbits go by them.
    pub(super) fn least_error(&self) -> f64 {
        self.setting.least_error
    }

    /// The greatest rho, but for the roundings of the polynomial.
    pub(super) fn tolerance(&self) -> f64 {
        self.setting.tolerance
    }

    /// A cell by the number of its tile and its own in it; one without steps where there is no room for it.
    #[inline(always)]
    fn cell<S: Simd>(&self, simd: S, tile: usize, number: usize) -> &T::Cell {
        let known = self.tiles[tile].get().and_then(|tile| tile.row(number / OF_TILE));
        match known {
            Some(row) => &row[number % OF_TILE],
            None => self.computed(simd, tile, number / OF_TILE).map_or(T::NO_CELL, |row| &row[number % OF_TILE]),
        }
    }

    /// Computes a row of a tile, if there is room for it.
    #[inline(never)]
    fn computed<S: Simd>(&self, simd: S, place: usize, row: usize) -> Option<&Row<T>> {
        let tile = &self.tiles[place];
        if tile.get().is_none() {
            let one_less = |left: usize| left.checked_sub(1);
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok()?;
        }
        let tile = tile.get_or_init(Box::default);
        Some(tile.row_or(row, || {
            simd.vectorize(
                #[inline(always)]
                || tile::computed(simd, self, place % Self::TILES * OF_TILE, place / Self::TILES * OF_TILE + row),
            )
        }))
    }

    /// The orbits that are marked after the steps of their cells. The w and e of others are of no use.
    #[inline(always)]
    pub(super) fn applied<S: Simd>(&self, simd: S, (w, e, room): OrbitLanes<T, S>, active: Marks<S>) -> Applied<T, S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let of_unit = splat(T::CELLS_OF_UNIT);
        let in_cells = Complex { re: w.re.scaled(of_unit), im: w.im.scaled(of_unit) };
        let Complex { re: x, im: y } = in_cells.in_f64();
        let is_on_square = x.abs().max(y.abs()).less(splat(Self::TO_EDGE)) & active;
        let (column, row) = (x.floor(), y.floor());
        let t = Complex { re: in_cells.re.minus(column + splat(0.5)), im: in_cells.im.minus(row + splat(0.5)) };
        let [tiles, numbers] = Self::places(simd, column + splat(Self::TO_EDGE), row + splat(Self::TO_EDGE));
        let tiles = indices(simd, tiles.where_else(is_on_square, splat(0.0)));
        let numbers = indices(simd, numbers.where_else(is_on_square, splat(0.0)));
        let mut cells = [T::NO_CELL; LANES];
        for lane in 0..Reals::<S>::LEN {
            cells[lane] = self.cell(simd, tiles[lane], numbers[lane]);
        }
        let columns = transposed(simd, &cells);
        let (value, derivative) = Self::polynomial(simd, &columns, t);
        let growth =
            derivative.re.fma(derivative.re, derivative.im * derivative.im).sqrt() * splat(T::CELLS_OF_UNIT * UP);
        let growth = columns[Self::SECOND]
            .fma(e, growth + splat(OF_DERIVATIVE * self.setting.tolerance + ROUNDINGS_OF_DERIVATIVE));
        let steps = Reals::from_fn(
            simd,
            #[inline(always)]
            |lane| f64::from_bits(ABOVE.to_bits() | Self::steps_of(cells[lane])),
        ) - splat(ABOVE);
        let is_valid = is_on_square & e.at_most(splat(Self::MOST_ERROR)) & steps.at_most(room);
        Applied {
            w: value,
            e: growth.fma(e, columns[Self::RHO]) * splat(UP),
            steps: steps.where_else(is_valid, splat(0.0)),
        }
    }

    /// Whether an orbit at w, known to within e, has a cell of at most `room` steps.
    #[inline(always)]
    pub(super) fn has<S: Simd>(&self, simd: S, w: Complex<T>, e: f64, room: usize) -> bool {
        let Complex { re: x, im: y } = w.scaled(T::CELLS_OF_UNIT).to_f64();
        if x.abs().max(y.abs()) >= Self::TO_EDGE || e > Self::MOST_ERROR {
            return false;
        }
        let index = |part: f64| (part.floor() + Self::TO_EDGE) as usize;
        let (column, row) = (index(x), index(y));
        let tile = row / OF_TILE * Self::TILES + column / OF_TILE;
        let steps = Self::steps_of(self.cell(simd, tile, row % OF_TILE * OF_TILE + column % OF_TILE));
        (1..=room as u64).contains(&steps)
    }

    /// One step of an orbit at w, known to within e.
    #[inline(always)]
    pub(super) fn stepped(&self, w: Complex<T>, e: f64) -> (Complex<T>, f64) {
        let c = Complex::<T>::of(self.c);
        let square = w.square();
        // C is rounded, the square and the sum are.
        let roundings = 9.0 * T::UNIT * w.taxicab() * w.taxicab() + 8.0 * T::UNIT * c.taxicab();
        (w * w + c, ((2.0 * square.sqrt() + e) * e + roundings + self.of_c) * UP)
    }

    /// k of a cell.
    #[inline(always)]
    fn steps_of(cell: &T::Cell) -> u64 {
        cell.as_ref()[Self::RHO / LANES].0[Self::RHO % LANES].to_bits() & STEPS_MASK
    }

    /// The numbers of tiles, and those of cells in them.
    #[inline(always)]
    fn places<S: Simd>(simd: S, column: Reals<S>, row: Reals<S>) -> [Reals<S>; 2] {
        let splat = |x: f64| Reals::splat(simd, x);
        let (side, over_side) = (splat(OF_TILE as f64), splat(1.0 / OF_TILE as f64));
        let (tile_column, tile_row) = ((column * over_side).floor(), (row * over_side).floor());
        let tile = tile_row.fma(splat(Self::TILES as f64), tile_column);
        let number = (row - tile_row * side).fma(side, column - tile_column * side);
        [tile, number]
    }

    /// The value of the polynomials, and those of their derivatives in f64, at t.
    #[inline(always)]
    fn polynomial<S: Simd>(
        simd: S,
        columns: &Columns<S>,
        t: ComplexLanes<T, S>,
    ) -> (ComplexLanes<T, S>, Complex<Reals<S>>) {
        let of = |index: usize| Complex { re: columns[2 * index], im: columns[2 * index + 1] };
        let in_f64 = t.in_f64();
        // Those of which one part alone is kept.
        let first = if T::PARTS == 1 { 0 } else { T::CELL_PAIRS };
        let mut index = T::CELL_DEGREE - 1;
        let (mut value, mut derivative) = (times_plus(of(index + 1), in_f64, of(index)), of(index + 1));
        while index > first {
            index -= 1;
            derivative = times_plus(derivative, in_f64, value);
            value = times_plus(value, in_f64, of(index));
        }
        let zero = Reals::splat(simd, 0.0);
        let whole =
            |z: Complex<Reals<S>>| Complex { re: of_parts::<T, S>(z.re, zero), im: of_parts::<T, S>(z.im, zero) };
        let mut sum = whole(value);
        while index > 0 {
            derivative = times_plus(derivative, in_f64, sum.in_f64());
            // The product of what is known to 53 bits needs no more.
            let product = if index == first { whole(value * in_f64) } else { sum.multiplied(t) };
            index -= 1;
            let Complex { re, im } = of(index);
            let low = |part: usize| columns[Self::LOW + 2 * index + part];
            sum = product.added(Complex { re: of_parts::<T, S>(re, low(0)), im: of_parts::<T, S>(im, low(1)) });
        }
        (sum, derivative)
    }
}

/// a t + b.
#[inline(always)]
pub(super) fn times_plus<S: Simd>(
    a: Complex<Reals<S>>,
    t: Complex<Reals<S>>,
    b: Complex<Reals<S>>,
) -> Complex<Reals<S>> {
    Complex { re: (-a.im).fma(t.im, a.re.fma(t.re, b.re)), im: a.re.fma(t.im, a.im.fma(t.re, b.im)) }
}
