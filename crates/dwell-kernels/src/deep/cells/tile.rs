//! The computation of cells, a row of eight at a time.
//!
//! From a polynomial of k steps with the remainder E follows that of k + 1:
//!
//! ```text
//! (P + E)^2 + C + c = P^2 + C + (2 P E + E^2 + c)
//! ```
//!
//! Of P^2, the terms up to the degree d are kept. With m_i = |a_i|, and S their sum, the others are at most the sum of m_i m_j over i + j > d, so that
//!
//! ```text
//! rho' = sum of m_i m_j over i + j > d + (2 S + rho) rho + |c| + roundings
//! ```
//!
//! The first coefficients, for f64 a_0 and for pairs a_0 and a_1, are computed in pairs of f64, with roundings below 2^-94 together. Of the others, each is the sum of at most seven products of f64: off by less than 15 u times the sum of the moduli of these,
//! and by 4 u times that for the first coefficients, which are rounded to f64 here. The sums of the moduli of all of them are, with s_p for the sum of m_i from the first of them on and s_1 for that from m_1 on, at most 2 m_0 s_p + s_1^2:
//!
//! ```text
//! 20 u (2 m_0 s_p + s_1^2)
//! ```
//!
//! For f64, the first of those is a_1, of which s_1^2 has no part; it is left in.
//!
//! No point of the disc escapes before step k + 1 if S + rho is within R for each polynomial up to that of k steps.

use super::{Cells, MOST_DEGREE, MOST_PAIRS, NEAREST, OF_TILE, STEPS_MASK, times_plus};
use crate::deep::derivative::{U, UP};
use crate::deep::lanes::{ComplexInLanes, ComplexLanes, LANES, Lanes, Marks, Reals, of_parts};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::vector::bits;
use fearless_simd::Simd;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// The most steps of a cell.
const MOST_STEPS: usize = 256;
/// The roundings of what is computed in pairs of f64.
const OF_PAIRS: f64 = 1.0 / (1_u128 << 94) as f64;

/// A list of what there is for each coefficient. A loop in a loop, as sums of products are, is not unrolled, and takes three times as long.
macro_rules! of_each {
    ($index:ident => $of:expr) => {
        of_each!($index => $of, 0 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    ($index:ident => $of:expr, $($number:literal)*) => {
        [$({
            let $index: usize = $number;
            $of
        }),*]
    };
}

/// Cells that are computed together.
pub(super) type Row<T> = [<T as Mantissa>::Cell; OF_TILE];

/// A square of cells, in rows from below.
#[derive(Debug)]
pub(super) struct Tile<T: Mantissa>([OnceLock<Row<T>>; OF_TILE]);

impl<T: Mantissa> Default for Tile<T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| OnceLock::new()))
    }
}

/// Polynomials for k steps, k of each lane, with rho.
#[derive(Clone, Copy)]
struct Iterate<T, S: Simd> {
    /// The first coefficients.
    pairs: [ComplexLanes<Dd, S>; MOST_PAIRS],
    /// All up to the degree, those in pairs rounded.
    a: [Complex<Reals<S>>; MOST_DEGREE + 1],
    rho: Reals<S>,
    steps: Reals<S>,
    of: PhantomData<T>,
}

/// m_i, and sums of them from number i on.
struct Moduli<T, S: Simd> {
    m: [Reals<S>; MOST_DEGREE + 1],
    from: [Reals<S>; MOST_DEGREE + 1],
    of: PhantomData<T>,
}

impl<T: Mantissa> Tile<T> {
    /// A row, if it is computed.
    #[inline(always)]
    pub(super) fn row(&self, number: usize) -> Option<&Row<T>> {
        self.0[number].get()
    }

    /// A row, which is computed if it is not.
    pub(super) fn row_or(&self, number: usize, compute: impl FnOnce() -> Row<T>) -> &Row<T> {
        self.0[number].get_or_init(compute)
    }
}

/// The cells from a column on.
#[inline(always)]
pub(super) fn computed<T: Mantissa, S: Simd>(simd: S, cells: &Cells<T>, column: usize, row: usize) -> Row<T> {
    let mut list = [*T::NO_CELL; OF_TILE];
    for (part, list) in list.chunks_exact_mut(Reals::<S>::LEN).enumerate() {
        Iterate::<T, S>::computed(simd, cells, (column + part * Reals::<S>::LEN, row)).write(simd, list);
    }
    list
}

impl<T: Mantissa, S: Simd> Iterate<T, S> {
    /// The polynomials of cells from a place on, each with the greatest k.
    #[inline(always)]
    fn computed(simd: S, cells: &Cells<T>, (column, row): (usize, usize)) -> Self {
        let splat = |x: f64| Reals::splat(simd, x);
        let zero = splat(0.0);
        let c = cells.c;
        let in_lanes = |part: Dd| of_parts::<Dd, S>(splat(part.hi), splat(part.lo));
        let c = Complex { re: in_lanes(c.re), im: in_lanes(c.im) };
        let (mut now, mut re) = (Self::first(simd), [0.0; LANES]);
        let middle = |index: usize| (index as f64 + 0.5 - Cells::<T>::TO_EDGE) * Cells::<T>::SIDE;
        for (lane, re) in re.iter_mut().enumerate() {
            *re = middle(column + lane);
        }
        now.a[0] = Complex { re: Reals::load(simd, &re), im: splat(middle(row)) };
        now.pairs[0] = Complex { re: of_parts::<Dd, S>(now.a[0].re, zero), im: of_parts::<Dd, S>(now.a[0].im, zero) };
        let mut best = now;
        let mut good = Reals::<S>::first_lanes(simd, Reals::<S>::LEN);
        let (most, tolerance, of_c) = (splat(cells.most), splat(cells.setting.tolerance), splat(cells.of_c + OF_PAIRS));
        for _ in 0..MOST_STEPS {
            let moduli = now.moduli(simd);
            let spread = moduli.from[1] + now.rho;
            let is_within = (moduli.m[0] + spread).at_most(most) & (spread + splat(NEAREST)).at_most(moduli.m[0]);
            let size = moduli.from[0];
            let rho =
                moduli.left_out() + (size + size + now.rho) * now.rho + of_c + splat(20.0 * U) * moduli.of_roundings();
            now = Self { rho: rho * splat(UP), steps: now.steps + splat(1.0), ..now.next(c) };
            good = good & is_within & now.rho.at_most(tolerance);
            if bits::<S, _>(good) == 0 {
                break;
            }
            best = now.where_else(good, best);
        }
        best
    }

    /// The identity of cells about 0.
    #[inline(always)]
    fn first(simd: S) -> Self {
        let zero = Reals::splat(simd, 0.0);
        let none = Complex { re: zero, im: zero };
        let of_pairs = of_parts::<Dd, S>(zero, zero);
        let mut pairs = [Complex { re: of_pairs, im: of_pairs }; MOST_PAIRS];
        let mut a = [none; MOST_DEGREE + 1];
        let side = Reals::splat(simd, Cells::<T>::SIDE);
        a[1].re = side;
        pairs[1].re = of_parts::<Dd, S>(side, zero);
        Self { pairs, a, rho: zero, steps: zero, of: PhantomData }
    }

    #[inline(always)]
    fn where_else(&self, marks: Marks<S>, other: Self) -> Self {
        let mut best = *self;
        for index in 0..T::CELL_PAIRS {
            best.pairs[index] = best.pairs[index].where_else(marks, other.pairs[index]);
        }
        for index in 0..T::CELL_DEGREE + 1 {
            best.a[index] = best.a[index].where_else(marks, other.a[index]);
        }
        Self { rho: self.rho.where_else(marks, other.rho), steps: self.steps.where_else(marks, other.steps), ..best }
    }

    #[inline(always)]
    fn moduli(&self, simd: S) -> Moduli<T, S> {
        let mut m = [Reals::splat(simd, 0.0); MOST_DEGREE + 1];
        m[0] = self.a[0].square_of().sqrt() * Reals::splat(simd, UP);
        for (m, a) in m.iter_mut().zip(&self.a).take(T::CELL_DEGREE + 1).skip(1) {
            *m = a.taxicab_of();
        }
        let mut from = m;
        for index in (0..T::CELL_DEGREE).rev() {
            from[index] = from[index] + from[index + 1];
        }
        Moduli { m, from, of: PhantomData }
    }

    /// The square and c, without rho.
    #[inline(always)]
    fn next(&self, c: ComplexLanes<Dd, S>) -> Self {
        let Self { pairs, a, .. } = self;

        let mut next = *self;
        next.a = of_each!(index => {
            let is_of_pairs = index < T::CELL_PAIRS;
            if is_of_pairs || index > T::CELL_DEGREE { a[index] } else { of_square(a, index) }
        });
        next.pairs[0] = pairs[0].multiplied(pairs[0]).added(c);
        if T::CELL_PAIRS == 2 {
            let half = pairs[0].multiplied(pairs[1]);
            next.pairs[1] = half.added(half);
        }
        for index in 0..T::CELL_PAIRS {
            next.a[index] = next.pairs[index].in_f64();
        }
        next
    }

    /// Writes the cell of each lane.
    #[inline(always)]
    fn write(&self, simd: S, cells: &mut [T::Cell]) {
        let splat = |x: f64| Reals::splat(simd, x);
        let Moduli { m, from, .. } = self.moduli(simd);
        let (mut second, mut weighted) = (splat(0.0), splat(0.0));
        for (index, m) in m.into_iter().enumerate().take(T::CELL_DEGREE + 1).skip(1) {
            second = second + splat((index * (index - 1)) as f64) * m;
            if index >= T::CELL_PAIRS {
                weighted = weighted + splat(index as f64) * m;
            }
        }
        let second = second * splat(T::CELLS_OF_UNIT * T::CELLS_OF_UNIT * UP);
        // Of the value: of the polynomial in f64, and of what is kept in as many parts as numbers have.
        let roundings = splat(6.0 * U) * weighted + splat(16.0 * T::UNIT) * from[0] + splat(OF_PAIRS);
        let rho = (self.rho + roundings) * splat(UP);
        let mut store = |place: usize, value: Reals<S>| {
            let mut list = [0.0; LANES];
            value.store(&mut list);
            for (cell, value) in cells.iter_mut().zip(list) {
                cell.as_mut()[place / LANES].0[place % LANES] = value;
            }
        };
        for index in 0..T::CELL_DEGREE + 1 {
            store(2 * index, self.a[index].re);
            store(2 * index + 1, self.a[index].im);
        }
        store(Cells::<T>::SECOND, second);
        store(Cells::<T>::RHO, rho);
        if T::PARTS == 2 {
            for (index, pair) in self.pairs.iter().enumerate() {
                store(Cells::<T>::LOW + 2 * index, pair.re.part(1));
                store(Cells::<T>::LOW + 2 * index + 1, pair.im.part(1));
            }
        }
        let mut steps = [0.0; LANES];
        self.steps.store(&mut steps);
        for (cell, steps) in cells.iter_mut().zip(steps) {
            let rho = &mut cell.as_mut()[Cells::<T>::RHO / LANES].0[Cells::<T>::RHO % LANES];
            *rho = f64::from_bits((rho.to_bits() & !STEPS_MASK) + (STEPS_MASK + 1) + steps as u64);
        }
    }
}

/// Coefficient i of the square of a polynomial: twice a_0 a_i, a_1 a_(i-1) and so on, and the square of the one in the middle.
#[inline(always)]
fn of_square<S: Simd>(a: &[Complex<Reals<S>>], index: usize) -> Complex<Reals<S>> {
    let middle = index.div_ceil(2);
    let mut half = a[0] * a[index];
    for first in 1..middle {
        half = times_plus(a[first], a[index - first], half);
    }
    let twice = half + half;
    if index.is_multiple_of(2) { times_plus(a[middle], a[middle], twice) } else { twice }
}

impl<T: Mantissa, S: Simd> Moduli<T, S> {
    /// The sum of m_i m_j over i + j > d.
    #[inline(always)]
    fn left_out(&self) -> Reals<S> {
        let mut sum = self.m[1] * self.from[T::CELL_DEGREE];
        for index in 2..T::CELL_DEGREE + 1 {
            sum = sum + self.m[index] * self.from[T::CELL_DEGREE + 1 - index];
        }
        sum
    }

    /// What the roundings of f64 are a part of: 2 m_0 s_p + s_1^2.
    #[inline(always)]
    fn of_roundings(&self) -> Reals<S> {
        let [of_all, of_f64] = [self.from[1], self.from[T::CELL_PAIRS]];
        (self.m[0] + self.m[0]) * of_f64 + of_all * of_all
    }
}
