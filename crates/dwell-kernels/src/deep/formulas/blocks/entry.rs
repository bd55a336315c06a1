//! Blocks as orbits use them: rounded to the number of a tier, with all errors in one bound.

use super::merge::{Block, UP, sum_of};
use super::{NARROW, REACH};
use crate::deep::blocks::SHARE;
use crate::deep::derivative::{U, UNDERFLOW, UP as UP_OF_ORBIT};
use crate::deep::extended::{Bound, Extended};
use crate::deep::formulas::derivative::Columns;
use crate::deep::lanes::Line;
use crate::deep::mantissa::{Complex, Mantissa};

/// The error of merged coefficients, per step and N, relative to majorants without cancellation.
///
/// In units of u^2, u = 2^-53, a product of complex numbers is off by less than 12.8, a sum by 3 and Z by 2 (`deep/blocks.rs`). A and Q of a step have at most N - 1 factors Z, N - 2 products of these and two with whole
/// numbers: 14.8 N. If A and B of l steps are off by 14.8 N l + 19 (l - 1), and Q, S and T by twice that, so are those of y after x, of k and l steps: the errors of factors add up to 14.8 N (k + l) + 19 (k + l - 2), or twice that, for
/// each term, and the most that is added are 12.8 + 3 for B, and for T' two products and four sums, 37.6. Twice 14.8 N + 19 is less than 49 N, and with 50 there is room for terms of second order.
const EPSILON: f64 = 50.0 * U * U;

/// The number of f64 of coefficients for each part of a number: A, Q, B and B', real and imaginary.
pub const NUMBERS: usize = 8;
/// How many bounds follow them.
const BOUNDS: usize = 7;
/// The roundings of each term, in units of u: 1 of a coefficient, at most sqrt 5 of each of three products, and 4 sums.
const OF_TERM: f64 = 12.0;

const _: () =
    assert!(NUMBERS + BOUNDS <= 16 && 2 * NUMBERS + BOUNDS <= 32, "a block fits into the lines of its number");

/// A block as orbits use it, of any magnitude.
#[derive(Clone, Copy, Debug)]
pub(in crate::deep::formulas) struct WideEntry<T> {
    /// Whether zeta is the conjugate of z.
    pub(in crate::deep::formulas) conjugates: bool,
    pub(in crate::deep::formulas) a: Extended<T>,
    pub(in crate::deep::formulas) q: Extended<T>,
    pub(in crate::deep::formulas) b: [Extended<T>; 2],
    /// Bounds of truncation, coefficients, roundings and the error of c: a cubic in |z| + e, the constant first.
    pub(in crate::deep::formulas) k: [Bound; 4],
    /// What is added to the derivative by z for the roundings and the error of A.
    pub(in crate::deep::formulas) slack: Bound,
    /// |Q|, and 2 / [`SHARE`] of its error.
    pub(in crate::deep::formulas) of_q: Bound,
    pub(in crate::deep::formulas) radius: Bound,
}

/// A delta and its derivative by the pixel, before a block and after it.
#[derive(Clone, Copy)]
pub(in crate::deep::formulas) struct Before<T> {
    pub(in crate::deep::formulas) z: Extended<T>,
    pub(in crate::deep::formulas) e: Bound,
    pub(in crate::deep::formulas) derivative: Columns,
}

/// A block of any magnitude with S and T, before it is kept.
#[derive(Clone, Copy)]
pub(super) struct Entry<T> {
    pub(super) wide: WideEntry<T>,
    s: [Extended<T>; 2],
    t: [Extended<T>; 3],
}

fn put(lines: &mut [Line], numbers: impl Iterator<Item = f64>) {
    for (place, number) in lines.iter_mut().flat_map(|line| &mut line.0).zip(numbers) {
        *place = number;
    }
}

fn parts<T: Mantissa>(of: Complex<T>) -> impl Iterator<Item = f64> {
    [of.re, of.im].into_iter().flat_map(|part| (0..T::PARTS).map(move |index| part.part(index)))
}

impl<T: Mantissa> Entry<T> {
    /// The values by which orbits use a block of so many steps.
    #[inline(always)]
    pub(super) fn of(block: &Block, steps: u64, power: u32) -> Self {
        let [a, q] = [block.a, block.q].map(Bound::modulus);
        let [b, s, t] = [sum_of(&block.b), sum_of(&block.s), sum_of(&block.t)];
        let rounding = Bound::of(OF_TERM * T::UNIT);
        // The error of c is at most 2 u.
        let of_c = 2.0 * T::UNIT;
        let epsilon = Bound::of(steps as f64 * f64::from(power) * EPSILON);
        let [d0, d1, d2, d3] = block.delta;
        let (linear, linear_majorant) = (a.plus(s.by(REACH)), a.plus(block.of_s.by(REACH)));
        let constant = b.plus(t.by(REACH)).by(REACH);
        let constant_majorant = block.of_b.plus(block.of_t.by(REACH)).by(REACH);
        let by_c = b.plus(t.by(2.0 * REACH));
        let k = [
            d0.plus(constant.times(rounding)).plus(constant_majorant.times(epsilon)).plus(by_c.by(of_c)),
            d1.plus(linear.times(rounding)).plus(linear_majorant.times(epsilon)).plus(s.by(of_c)),
            d2.plus(q.times(rounding)).plus(block.of_q.times(epsilon)),
            d3,
        ];
        let slack = linear_majorant.times(epsilon).plus(linear.times(Bound::new(1.0, -46))).plus(s.by(of_c));
        let wide = WideEntry {
            conjugates: block.conjugates,
            a: Extended::of(block.a),
            q: Extended::of(block.q),
            b: block.b.map(Extended::of),
            k: k.map(
                #[inline(always)]
                |bound| bound.by(UP),
            ),
            slack: slack.by(UP),
            of_q: q.plus(block.of_q.times(epsilon).by(2.0 / SHARE)).by(UP),
            radius: block.radius.by(1.0 - 1e-13),
        };
        Self { wide, s: block.s.map(Extended::of), t: block.t.map(Extended::of) }
    }

    /// Writes it as lanes read it, S and T apart, and returns the radius; `None` where a coefficient is outside of the range of f64, or all deltas of its domain are below it.
    #[inline(always)]
    pub(super) fn write(&self, lines: &mut T::Lines, of_c: &mut T::Lines) -> Option<f64> {
        let WideEntry { a, q, b, k, slack, of_q, radius, conjugates } = &self.wide;
        let radius = radius.to_f64();
        if radius < NARROW {
            return None;
        }
        let coefficients = [a.in_range()?, q.in_range()?, b[0].in_range()?, b[1].in_range()?];
        let [s, t] = [self.s.as_slice(), self.t.as_slice()];
        let mut terms = [Complex::ZERO; 5];
        for (place, of) in terms.iter_mut().zip(s.iter().chain(t)) {
            *place = of.in_range()?;
        }
        let [k0, k1, k2, k3] = k.map(Bound::to_f64);
        let sign = if *conjugates { -1.0 } else { 1.0 };
        let bounds = [k0 + UNDERFLOW, k1, k2, k3, slack.to_f64(), of_q.to_f64(), sign];
        if !bounds.into_iter().all(f64::is_finite) {
            return None;
        }
        put(lines.as_mut(), coefficients.into_iter().flat_map(parts).chain(bounds));
        put(of_c.as_mut(), terms.into_iter().flat_map(parts));
        Some(radius)
    }
}

impl<T: Mantissa> WideEntry<T> {
    /// A delta after this block, for a pixel at c: where it is kept, S and T are left out. `over_margin` is 1 / ([`REACH`] - |c|) at least, and 0 in a Julia set, where derivatives are wanted.
    pub(in crate::deep::formulas) fn apply(
        &self,
        c: Complex<T>,
        before: Before<T>,
        over_margin: Option<f64>,
    ) -> Before<T> {
        let Before { z, e, derivative } = before;
        let zeta = if self.conjugates { z.conjugate() } else { z };
        let c = Extended::new(c, 0);
        let of_z = self.q.times(zeta);
        let linear = self.a.plus(of_z);
        let of_c = self.b[0].times(c).plus(self.b[1].times(c.conjugate()));
        let reach = Bound::modulus(z).plus(e).by(UP);
        let by_z = linear.plus(of_z);
        let modulus = Bound::modulus(by_z);
        let growth = modulus.plus(self.slack).plus(self.of_q.times(e.plus(reach.by(SHARE))));
        let [k0, k1, k2, k3] = self.k;
        let k = |reach: Bound| k3.times(reach).plus(k2).times(reach).plus(k1).times(reach).plus(k0);
        let derivative = match over_margin {
            None => derivative,
            Some(over_margin) => {
                let by_z = by_z.in_f64();
                let [b, of_conjugate] = self.b.map(Extended::in_f64);
                let of_a = Bound::modulus(self.a).plus(self.of_q.times(reach).by(2.0));
                let doubt = self.of_q.times(e).by(2.0).plus(k(reach.by(2.0)).over(reach)).plus(of_a.by(24.0 * U));
                let of_b = Bound::modulus(b).plus(Bound::modulus(of_conjugate));
                let of_c = k(reach).by(2.0 * over_margin).plus(of_b.by(16.0 * U));
                let mut off = Bound::ZERO;
                let mut d = derivative.d;
                for (column, direction) in d.iter_mut().zip([(1.0, 0.0), (0.0, 1.0)]) {
                    let size = Bound::modulus(*column);
                    let of_column = modulus.plus(doubt).times(derivative.off).plus(doubt.times(size)).plus(of_c);
                    off = if off.below(of_column) { of_column } else { off };
                    let own = if self.conjugates { column.conjugate() } else { *column };
                    let along = Extended::new(Complex { re: direction.0, im: direction.1 }, 0);
                    let by_c = b.times(along).plus(of_conjugate.times(along.conjugate()));
                    *column = by_z.times(own).plus(by_c);
                }
                Columns { d, off: off.by(UP_OF_ORBIT) }
            }
        };
        Before { z: linear.times(zeta).plus(of_c), e: growth.times(e).plus(k(reach)).by(UP_OF_ORBIT), derivative }
    }
}
