//! Fast ways to compute the true dwell of a point, the one without rounding errors: a proof that the point is interior,
//! iteration in f64, and iteration in 128-bit fixed point. `truth.rs` computes it in arbitrary precision where they
//! fail.
//!
//! The z_n are the exact orbit: z_1 is the first z compared with the escape radius R, and the dwell is the
//! least n with |z_n| > R, or 0 if there is none up to the limit. Both iterations compute an approximation z of z_n
//! together with a bound e on |z - z_n|, as `truth.rs` does, and give up when e is too large to tell whether |z_n| > R.
//! The bounds follow from these facts about moduli:
//!
//! - If z has an error of at most e and w of at most d, then z w has an error of at most |z| d + |w| e + e d, and z^2
//!   of at most 2|z| e + e^2.
//! - Folding ([`Fold`]) does not increase the distance between two points.
//! - The error that rounding adds is stated at each operation.
//!
//! Bounds are f64 numbers too. Each update is a few sums, products and roots of non-negative numbers, so rounding
//! reduces it by at most one part in 2^49; the result is multiplied by 1 + 2^-40 ([`ROUND_UP`]).

use crate::exact::rational::Rational;
use crate::truth::exact_points::Enclosed;
use dashu_int::IBig;
use dwell_kernels::{Fold, Formula};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bits after the point in fixed point; 8 bits, one of them the sign, precede it.
pub(super) const FIXED_BITS: usize = 119;
const BITS: u32 = FIXED_BITS as u32;
/// 2^-119, the unit of the last bit in fixed point. Error bounds of [`FixedPoint`] and [`FastPaths::in_fixed`] count
/// units.
const FIXED_UNIT: f64 = power_of_two(-119);
/// The unit roundoff of f64: an operation that does not underflow has a relative error of at most U.
const U: f64 = power_of_two(-53);
/// The factor by which bounds are increased, to cover the rounding errors in their own computation.
const ROUND_UP: f64 = 1.0 + power_of_two(-40);
/// Added to bounds to cover the errors of products that underflow, such as the square of a number below 2^-512.
const TINY: f64 = power_of_two(-500);
/// The largest f64 error bound with which the iteration continues: beyond it, later steps decide nothing.
const MAX_ERROR: f64 = 0.25;
/// The stop flag is checked at every step n with `n & CHECK_MASK == 0`.
const CHECK_MASK: u64 = 0x3ff;
/// The greatest escape radius in fixed point: |z|^2 and the intermediate results of a step are then below 2^7.
const MAX_RADIUS: i64 = 4;
/// 8 in units. A z with a part this large is outside R, and is not squared, since the square of a part of up to 64, as
/// in a [`FixedPoint`], can overflow.
const ESCAPED: u128 = 8 << BITS;

/// 2^e, for the exponents of normal numbers, -1022 to 1023.
const fn power_of_two(e: i64) -> f64 {
    f64::from_bits(((e + 1023).cast_unsigned()) << 52)
}

/// A point of the plane, z_1 or c, in fixed point with [`FIXED_BITS`] bits after the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedPoint {
    x: i128,
    y: i128,
    /// A bound on the error, in units of 2^-119.
    error: f64,
}

impl FixedPoint {
    /// The lower ends of the intervals that enclose the parts of a point; the error bound is the sum of their widths.
    /// `None` if the absolute value of a part is 64 or more.
    pub(super) fn of(point: &(impl Enclosed + ?Sized)) -> Option<Self> {
        let [(x, right), (y, above)] = point.enclose(FIXED_BITS);
        // `Enclosed` guarantees that intervals are at most 4 units wide.
        let width = |low: &IBig, high: IBig| f64::from(u8::try_from(high - low).unwrap_or(u8::MAX));
        let error = width(&x, right) + width(&y, above);
        let within = |v: IBig| i128::try_from(&v).ok().filter(|v| v.unsigned_abs() < 64 << BITS);
        Some(Self { x: within(x)?, y: within(y)?, error })
    }

    /// The same point in f64. The error bound includes the rounding to nearest.
    fn to_ball(self) -> Ball {
        let (x, y) = (self.x as f64 * FIXED_UNIT, self.y as f64 * FIXED_UNIT);
        Ball { x, y, error: (self.error * FIXED_UNIT + U * (x.abs() + y.abs())) * ROUND_UP + TINY }
    }
}

/// A disc that contains the exact complex number: its centre x + iy in f64, and a bound on the distance of the exact
/// number from the centre.
#[derive(Clone, Copy, Debug)]
struct Ball {
    x: f64,
    y: f64,
    error: f64,
}

impl Ball {
    /// The modulus of the centre, with a relative error of at most 3 U and an absolute one of TINY: two products, a sum
    /// and a root are rounded.
    fn modulus(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    /// An upper bound on the modulus of the centre. That of the exact number can be greater by `error`.
    fn modulus_above(self) -> f64 {
        self.modulus() * (1.0 + 8.0 * U) + TINY
    }

    /// A disc that contains the product. Each part is two products and a sum, so rounding adds at most 4 U |z w|; the
    /// bound adds 8 U |z w|.
    fn times(self, o: Self) -> Self {
        let (of_self, of_other) = (self.modulus_above(), o.modulus_above());
        // The error of the product of the exact numbers in the two discs, without rounding.
        let carried = of_self * o.error + of_other * self.error + self.error * o.error;
        Self {
            x: self.x * o.x - self.y * o.y,
            y: self.x * o.y + self.y * o.x,
            error: (carried + 8.0 * U * of_self * of_other) * ROUND_UP + TINY,
        }
    }

    /// A disc that contains the sum. Rounding adds at most U times the absolute value of each part; the bound adds 2 U
    /// times the sum of the moduli.
    fn plus(self, o: Self) -> Self {
        let rounding = 2.0 * U * (self.modulus_above() + o.modulus_above());
        Self { x: self.x + o.x, y: self.y + o.y, error: (self.error + o.error + rounding) * ROUND_UP }
    }
}

/// The fast paths for one formula, limit and escape radius.
#[derive(Debug)]
pub(super) struct FastPaths {
    formula: Formula,
    is_mandelbrot: bool,
    limit: u64,
    /// A lower and an upper bound on R.
    radius: [f64; 2],
    /// R^2 in fixed point, truncated; `None` if R is above [`MAX_RADIUS`] or the power is not 2.
    radius_squared: Option<i128>,
}

impl FastPaths {
    /// The fast paths of the map `formula`, with a constant c of its own if `is_julia`, for this limit and escape
    /// radius.
    pub(super) fn new(formula: Formula, is_julia: bool, limit: u64, radius: &Rational) -> Self {
        // R is within half a unit in the last place of `near`, and each product is at least one such unit away from it.
        let near: f64 = radius.round();
        let squared = i128::try_from(&radius.times(radius).floor_scaled(FIXED_BITS)).ok();
        Self {
            formula,
            is_mandelbrot: formula == Formula::MANDELBROT && !is_julia,
            limit,
            radius: [near * (1.0 - 2.0 * U), near * (1.0 + 2.0 * U)],
            radius_squared: squared.filter(|_| *radius <= Rational::whole(MAX_RADIUS) && formula.power() == 2),
        }
    }

    /// Whether c is certainly in the main cardioid or in the disc of period 2 of the Mandelbrot set, where no orbit
    /// leaves the disc of radius 2, so that the dwell is 0. False means nothing: c may be interior nevertheless.
    ///
    /// The cardioid is |1 - sqrt(1 - 4c)| <= 1. With p = a - 1/4 and q = p^2 + b^2 this is 2q + p <= sqrt(q) (see
    /// `interior.rs` of the kernels, with no margin), or squared q (q + p) <= b^2 / 4. The disc is |c + 1| <= 1/4. For
    /// |a|, |b| <= 2 every term of the first test is below 104, so its twelve rounding errors add up to less than
    /// 2e-13. Its derivatives are below 102, so an error of c below 1e-14 changes it by less than 3e-12. Terms and
    /// derivatives of the second test are smaller. A margin of 1e-11 covers these errors.
    pub(super) fn is_interior(&self, c: FixedPoint) -> bool {
        const MARGIN: f64 = 1e-11;
        let Ball { x: a, y: b, error } = c.to_ball();
        if !self.is_mandelbrot || a.abs() > 2.0 || b.abs() > 2.0 || error > 1e-14 {
            return false;
        }
        let (p, b_squared) = (a - 0.25, b * b);
        let q = p * p + b_squared;
        q * (q + p) - 0.25 * b_squared < -MARGIN || (a + 1.0) * (a + 1.0) + b_squared < 0.0625 - MARGIN
    }

    /// The dwell by iteration in f64 from z_1 = `z`, 0 if no z up to the limit escapes. `None` if a comparison with R
    /// is undecided, e reaches [`MAX_ERROR`] or `stop` is set.
    pub(super) fn in_f64(&self, z: FixedPoint, c: FixedPoint, stop: &AtomicBool) -> Option<u64> {
        let (mut z, c) = (z.to_ball(), c.to_ball());
        let modulus_of_c = c.modulus_above();
        let [radius_below, radius_above] = self.radius;
        let power = self.formula.power();
        for n in 1..=self.limit {
            // The relative error of the modulus is at most 3 U; these sums add less than 2 U, which 8 U covers. The
            // bound of e includes its own rounding.
            let modulus = z.modulus();
            if modulus * (1.0 - 8.0 * U) - z.error > radius_above {
                return Some(n);
            }
            let above = modulus * (1.0 + 8.0 * U) + TINY;
            // With a NaN, both comparisons are false.
            let within = above + z.error <= radius_below && z.error < MAX_ERROR;
            if !within || (n & CHECK_MASK == 0 && stop.load(Ordering::Relaxed)) {
                return None;
            }
            let w = match self.formula.fold() {
                Fold::None => z,
                Fold::Absolute => Ball { x: z.x.abs(), y: z.y.abs(), ..z },
                Fold::Conjugate => Ball { y: -z.y, ..z },
            };
            z = if power == 2 {
                // The same as `times` and `plus` with one square root. The rounding errors of x^2 - y^2 + a and 2xy + b
                // are at most U (|w|^2 + 2 |x^2 - y^2| + 4 |xy| + |a| + |b|) <= U (4 |w|^2 + 2 |c|).
                let carried = (2.0 * above + w.error) * w.error + c.error;
                Ball {
                    x: w.x * w.x - w.y * w.y + c.x,
                    y: 2.0 * w.x * w.y + c.y,
                    error: (carried + 8.0 * U * (above * above + modulus_of_c)) * ROUND_UP + TINY,
                }
            } else {
                // w^power by squaring, from the second highest bit of the power down.
                let mut p = w;
                for bit in (0..power.ilog2()).rev() {
                    p = p.times(p);
                    if power >> bit & 1 == 1 {
                        p = p.times(w);
                    }
                }
                p.plus(c)
            };
        }
        Some(0)
    }

    /// The dwell by iteration in fixed point from z_1 = `z`, 0 if no z up to the limit escapes. `None` if the power is
    /// not 2 or R is above [`MAX_RADIUS`], if a comparison with R is undecided, or if `stop` is set.
    pub(super) fn in_fixed(&self, z: FixedPoint, c: FixedPoint, stop: &AtomicBool) -> Option<u64> {
        let radius_squared = self.radius_squared?;
        let FixedPoint { mut x, mut y, mut error } = z;
        for n in 1..=self.limit {
            let (size_x, size_y) = (x.unsigned_abs(), y.unsigned_abs());
            if size_x.max(size_y) >= ESCAPED {
                // |z| >= 8, and with an error below 1, |z_n| >= 7 > R.
                return (error < 1.0 / FIXED_UNIT).then_some(n);
            }
            // Truncation reduces each by less than one unit.
            let (xx, yy) = (product(size_x, size_x, BITS), product(size_y, size_y, BITS));
            let norm = xx + yy;
            // An upper bound on |z|. The norm is below 2^7, so its upper 64 bits are a number of at most 62 bits. The
            // factor and the 2 increase the result by more than truncation and rounding to f64 can reduce it.
            let modulus = (((norm >> 64) as f64 + 2.0) * (FIXED_UNIT * power_of_two(64))).sqrt() * ROUND_UP;
            // A bound on the error of norm - R^2, in units: truncation reduced norm by less than 2 and R^2 by less than
            // 1.
            let slack = (2.0 * modulus + error * FIXED_UNIT) * error * ROUND_UP + 4.0;
            let difference = norm.cast_signed() - radius_squared;
            // A lower bound on |difference|: its upper 64 bits. Rounding them to f64 increases them by less than the
            // factor reduces them.
            let min_difference =
                (difference.unsigned_abs() >> 64) as f64 * (power_of_two(64) * (1.0 - power_of_two(-50)));
            // With a NaN, the comparison is false.
            let certain = min_difference > slack;
            if !certain || (n & CHECK_MASK == 0 && stop.load(Ordering::Relaxed)) {
                return None;
            }
            if difference > 0 {
                return Some(n);
            }
            // |z_n| <= R <= 4 is certain and e is small in comparison, so |z| < 5, and the sums of xx - yy, 2xy and c
            // are below 2^7. Truncation changes each of the two parts by less than one unit, hence z by less than 1.5
            // units.
            let xy = product(size_x, size_y, BITS - 1).cast_signed();
            let negative = match self.formula.fold() {
                Fold::None => (x < 0) != (y < 0),
                Fold::Absolute => false,
                Fold::Conjugate => (x < 0) == (y < 0),
            };
            x = xx.cast_signed() - yy.cast_signed() + c.x;
            y = if negative { -xy } else { xy } + c.y;
            error = (2.0 * modulus + error * FIXED_UNIT) * error * ROUND_UP + c.error + 2.0;
        }
        Some(0)
    }
}

/// The product of two numbers in fixed point with `shift` bits after the point, rounded down: the floor of a b /
/// 2^shift, for results below 2^128 and 0 < shift < 128. The product of 256 bits is computed from halves of 64 bits.
fn product(a: u128, b: u128, shift: u32) -> u128 {
    const LOW: u128 = (1 << 64) - 1;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, left, right) = (a0 * b0, a1 * b0, a0 * b1);
    let middle = (low >> 64) + (left & LOW) + (right & LOW);
    let high = a1 * b1 + (left >> 64) + (right >> 64) + (middle >> 64);
    high << (128 - shift) | (middle << 64 | low & LOW) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_big_integers() {
        let mut state = 3_u128;
        for _ in 0..1000 {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            let (a, b) = (state >> 5, state.swap_bytes() >> 5);
            for shift in [118, 119, 127] {
                let exact = (IBig::from(a) * IBig::from(b)) >> shift as usize;
                assert_eq!(IBig::from(product(a, b, shift)), exact);
            }
        }
    }

    #[test]
    fn interior_is_the_cardioid_and_the_disc() {
        let fast_paths = FastPaths::new(Formula::MANDELBROT, false, 1000, &Rational::whole(2));
        let at = |a: f64, b: f64| {
            let point = [a, b].map(Rational::from_f64);
            fast_paths.is_interior(FixedPoint::of(&point).unwrap())
        };
        for (a, b) in [(0.0, 0.0), (0.249, 0.0), (-0.7499, 0.0), (-1.0, 0.2499), (-1.2499, 0.0), (-0.125, 0.6)] {
            assert!(at(a, b) && at(a, -b), "{a} {b}");
        }
        // Outside the set, on the boundary, and in other components of the set.
        for (a, b) in [
            (0.25, 0.0),
            (0.2501, 0.0),
            (-0.75, 0.0),
            (-1.25, 0.0),
            (-1.0, 0.25),
            (-0.122, 0.745),
            (-1.31, 0.0),
            (2.0, 2.0),
        ] {
            assert!(!at(a, b), "{a} {b}");
        }
        assert!(!FastPaths::new(Formula::MANDELBROT, true, 9, &Rational::whole(2)).is_interior(FixedPoint {
            x: 0,
            y: 0,
            error: 0.0
        }));
    }

    #[test]
    fn bounds_contain_the_exact_orbit() {
        // Compare z_n in f64 with the exact z_n as rationals.
        let mut c = [0.3_f64, -0.4];
        for _ in 0..40 {
            let exact = c.map(Rational::from_f64);
            let start = FixedPoint::of(&exact).unwrap();
            let (mut z, mut truth) = (start.to_ball(), exact.clone());
            for power in [2, 3] {
                for _ in 0..4 {
                    let w = z;
                    z = z.times(z);
                    z = if power == 3 { z.times(w) } else { z }.plus(start.to_ball());
                    let [x, y] = &truth;
                    let square = [x.times(x).minus(&y.times(y)), x.times(y).times_whole(2)];
                    let cube = |[p, q]: &[Rational; 2]| [p.times(x).minus(&q.times(y)), p.times(y).plus(&q.times(x))];
                    let raised = if power == 3 { cube(&square) } else { square };
                    truth = [raised[0].plus(&exact[0]), raised[1].plus(&exact[1])];
                    let off = [z.x, z.y].map(Rational::from_f64);
                    let off = [off[0].minus(&truth[0]), off[1].minus(&truth[1])];
                    let squared = off[0].times(&off[0]).plus(&off[1].times(&off[1]));
                    let bound = Rational::from_f64(z.error);
                    assert!(squared <= bound.times(&bound), "{c:?} {power}");
                }
                (z, truth) = (start.to_ball(), exact.clone());
            }
            c = [c[1] * 1.3 - 0.1, -c[0] * 0.9 + 0.05];
        }
    }
}
