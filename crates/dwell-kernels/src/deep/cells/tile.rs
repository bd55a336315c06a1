//! The computation of cells, a row of eight at a time.
//!
//! From a polynomial of k steps with the remainder E follows that of k + 1:
//!
//! ```text
//! (P + E)^2 + C + c = P^2 + C + (2 P E + E^2 + c)
//! ```
//!
//! Of P^2, the terms up to the tenth degree are kept. With m_i = |a_i|, and S their sum, the others are at most the sum of m_i m_j over i + j > 10, so that
//!
//! ```text
//! rho' = sum of m_i m_j over i + j > 10 + (2 S + rho) rho + |c| + 16 u (2 m_0 + s) s
//! ```
//!
//! with s = S - m_0. The last term is for the roundings of a_1 to a_10: each is a sum of at most six products, off by less than 6 u times the sum of the moduli of these, and by 2 u |a_0 a_i| for a_0, which is
//! kept in pairs of f64 and taken as f64 here. The rounding of a_0 itself, of at most 16, is below 2^-94.
//!
//! No point of the disc escapes before step k + 1 if S + rho is within R for each polynomial up to that of k steps.

use super::{
    Cell, Cells, DEGREE, NEAREST, NO_CELL, OF_TILE, OF_UNIT, RHO, SECOND, SIDE, STEPS_MASK, TO_EDGE, times_plus,
};
use crate::deep::derivative::{U, UP};
use crate::deep::lanes::{ComplexInLanes, ComplexLanes, LANES, Lanes, Marks, Reals};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::vector::bits;
use fearless_simd::Simd;
use std::sync::OnceLock;

/// The most steps of a cell.
const MOST_STEPS: usize = 256;
/// The roundings of a_0, which is kept in pairs of f64.
const OF_PAIRS: f64 = 1.0 / (1_u128 << 94) as f64;

/// Cells that are computed together.
pub(super) type Row = [Cell; OF_TILE];

/// A square of cells, in rows from below.
#[derive(Debug, Default)]
pub(super) struct Tile([OnceLock<Row>; OF_TILE]);

/// The coefficients a_1 to a_10 of some polynomials.
type Coefficients<S> = [Complex<Reals<S>>; DEGREE];

/// Polynomials for k steps, k of each lane, with rho.
#[derive(Clone, Copy)]
struct Iterate<S: Simd> {
    a_0: ComplexLanes<Dd, S>,
    a: Coefficients<S>,
    rho: Reals<S>,
    steps: Reals<S>,
}

/// m_0, and sums of m_i: number i has those from i on, for i from 1.
struct Moduli<S: Simd> {
    of_centre: Reals<S>,
    m: [Reals<S>; DEGREE],
    from: [Reals<S>; DEGREE],
}

impl Tile {
    /// A row, if it is computed.
    #[inline(always)]
    pub(super) fn row(&self, number: usize) -> Option<&Row> {
        self.0[number].get()
    }

    /// A row, which is computed if it is not.
    pub(super) fn row_or(&self, number: usize, compute: impl FnOnce() -> Row) -> &Row {
        self.0[number].get_or_init(compute)
    }
}

/// The cells from a column on.
#[inline(always)]
pub(super) fn computed<S: Simd>(simd: S, cells: &Cells, column: usize, row: usize) -> Row {
    let mut list = [NO_CELL; OF_TILE];
    for (part, list) in list.chunks_exact_mut(Reals::<S>::LEN).enumerate() {
        Iterate::computed(simd, cells, (column + part * Reals::<S>::LEN, row)).write(simd, list);
    }
    list
}

impl<S: Simd> Iterate<S> {
    /// The polynomials of cells from a place on, each with the greatest k.
    #[inline(always)]
    fn computed(simd: S, cells: &Cells, (column, row): (usize, usize)) -> Self {
        let splat = |x: f64| Reals::splat(simd, x);
        let zero = splat(0.0);
        let pair = |hi: Reals<S>, lo: Reals<S>| {
            <<Dd as Mantissa>::Lanes<S>>::from_parts(
                #[inline(always)]
                |part| if part == 0 { hi } else { lo },
            )
        };
        let c = cells.c;
        let c = Complex { re: pair(splat(c.re.hi), splat(c.re.lo)), im: pair(splat(c.im.hi), splat(c.im.lo)) };
        let middle = |index: usize| (index as f64 + 0.5 - TO_EDGE) * SIDE;
        let mut re = [0.0; LANES];
        for (lane, re) in re.iter_mut().enumerate() {
            *re = middle(column + lane);
        }
        let mut a = [Complex { re: zero, im: zero }; DEGREE];
        a[0].re = splat(SIDE);
        let mut now = Self {
            a_0: Complex { re: pair(Reals::load(simd, &re), zero), im: pair(splat(middle(row)), zero) },
            a,
            rho: zero,
            steps: zero,
        };
        let mut best = now;
        let mut good = Reals::<S>::first_lanes(simd, Reals::<S>::LEN);
        let (most, tolerance, of_c) = (splat(cells.most), splat(cells.setting.tolerance), splat(cells.of_c + OF_PAIRS));
        for _ in 0..MOST_STEPS {
            let moduli = now.moduli(simd);
            let size = moduli.of_centre + moduli.from[0];
            let spread = moduli.from[0] + now.rho;
            let is_within =
                (moduli.of_centre + spread).at_most(most) & (spread + splat(NEAREST)).at_most(moduli.of_centre);
            let rho = moduli.left_out()
                + (size + size + now.rho) * now.rho
                + of_c
                + splat(16.0 * U) * (moduli.of_centre + size) * moduli.from[0];
            now = Self {
                a_0: now.a_0.multiplied(now.a_0).added(c),
                a: now.next(),
                rho: rho * splat(UP),
                steps: now.steps + splat(1.0),
            };
            good = good & is_within & now.rho.at_most(tolerance);
            if bits::<S, _>(good) == 0 {
                break;
            }
            best = now.where_else(good, best);
        }
        best
    }

    #[inline(always)]
    fn where_else(&self, marks: Marks<S>, other: Self) -> Self {
        let mut a = self.a;
        for (own, other) in a.iter_mut().zip(other.a) {
            *own = own.where_else(marks, other);
        }
        Self {
            a_0: self.a_0.where_else(marks, other.a_0),
            a,
            rho: self.rho.where_else(marks, other.rho),
            steps: self.steps.where_else(marks, other.steps),
        }
    }

    #[inline(always)]
    fn moduli(&self, simd: S) -> Moduli<S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let mut m = [splat(0.0); DEGREE];
        for (m, a) in m.iter_mut().zip(&self.a) {
            *m = a.taxicab_of();
        }
        let mut from = m;
        for index in (0..DEGREE - 1).rev() {
            from[index] = from[index] + from[index + 1];
        }
        Moduli { of_centre: self.a_0.square_of().sqrt() * splat(UP), m, from }
    }

    /// a_1 to a_10 of the square.
    #[inline(always)]
    fn next(&self) -> Coefficients<S> {
        let (z, a) = (self.a_0.in_f64(), &self.a);
        let mut next = *a;
        for (index, next) in next.iter_mut().enumerate() {
            // a_i for i = index + 1.
            let mut half = z * a[index];
            let pairs = index / 2;
            for first in 0..pairs {
                half = times_plus(a[first], a[index - 1 - first], half);
            }
            let twice = half + half;
            *next = if index % 2 == 1 { times_plus(a[pairs], a[pairs], twice) } else { twice };
        }
        next
    }

    /// Writes the cell of each lane.
    #[inline(always)]
    fn write(&self, simd: S, cells: &mut [Cell]) {
        let splat = |x: f64| Reals::splat(simd, x);
        let moduli = self.moduli(simd);
        let mut second = splat(0.0);
        for (index, m) in moduli.m.iter().enumerate() {
            second = second + splat((index * (index + 1)) as f64) * *m;
        }
        let second = second * splat(OF_UNIT * OF_UNIT * UP);
        // Of the value: of the polynomial in f64, of a_0 in f64, and of the last sum.
        let roundings = splat(64.0 * U) * moduli.from[0] + splat(8.0 * U) * moduli.of_centre;
        let rho = (self.rho + roundings) * splat(UP);
        let mut store = |place: usize, value: Reals<S>| {
            let mut list = [0.0; LANES];
            value.store(&mut list);
            for (cell, value) in cells.iter_mut().zip(list) {
                cell[place / LANES].0[place % LANES] = value;
            }
        };
        let centre = self.a_0.in_f64();
        store(0, centre.re);
        store(1, centre.im);
        for (index, a) in self.a.iter().enumerate() {
            store(2 * index + 2, a.re);
            store(2 * index + 3, a.im);
        }
        store(SECOND, second);
        store(RHO, rho);
        let mut steps = [0.0; LANES];
        self.steps.store(&mut steps);
        for (cell, steps) in cells.iter_mut().zip(steps) {
            let rho = &mut cell[RHO / LANES].0[RHO % LANES];
            *rho = f64::from_bits((rho.to_bits() & !STEPS_MASK) + (STEPS_MASK + 1) + steps as u64);
        }
    }
}

impl<S: Simd> Moduli<S> {
    /// The sum of m_i m_j over i + j > 10.
    #[inline(always)]
    fn left_out(&self) -> Reals<S> {
        let mut sum = self.m[0] * self.from[DEGREE - 1];
        for index in 1..DEGREE {
            sum = sum + self.m[index] * self.from[DEGREE - 1 - index];
        }
        sum
    }
}
