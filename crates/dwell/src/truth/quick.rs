//! Dwells that are certain at little cost: by a proof that a point is inside, in f64, and in fixed point of 128 bits.
//!
//! The last two keep a bound e on |z - z_n| beside the z that they compute, as `precise.rs` does, and give up where it
//! leaves a test open. Both rest on these facts, for moduli:
//!
//! - z is off by e and w by d: then z w is off by |z| d + |w| e + e d, so z^2 by 2|z| e + e^2.
//! - Folding ([`Fold`]) moves two points no further apart.
//! - What rounding adds is said where it happens.
//!
//! Bounds are kept in f64 themselves. Each of their updates is a handful of sums, products and roots of numbers that are
//! not negative, so it loses at most one part in 2^49; it is multiplied by 1 + 2^-40 in the end ([`UP`]).

use crate::exact::rational::Rational;
use crate::truth::exact_points::Enclosed;
use dashu_int::IBig;
use dwell_kernels::{Fold, Formula};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bits behind the point in fixed point; 8 are in front of it, the sign's included.
pub(super) const USUAL_BITS: usize = 119;
const BITS: u32 = USUAL_BITS as u32;
/// 2^-119.
const UNIT: f64 = power_of_two(-119);
/// The unit roundoff of f64.
const U: f64 = power_of_two(-53);
/// How much bounds are raised to cover their own roundings.
const UP: f64 = 1.0 + power_of_two(-40);
/// Stands for everything below the range of normal numbers: squares of numbers below 2^-500, products that underflow.
const TINY: f64 = power_of_two(-500);
/// An f64 bound beyond which nothing will be decided any more.
const HOPELESS: f64 = 0.25;
/// The flag is looked at every so many steps, less one.
const LOOK: u32 = 0x3ff;
/// The greatest R in fixed point: |z|^2 and what a step makes of it stay below 2^7.
const MOST_RADIUS: i64 = 4;
/// |z| from here on is not squared any more in fixed point: it is beyond R by far.
const FAR: u128 = 8 << BITS;

/// 2^e, for an e of a normal number.
const fn power_of_two(e: i64) -> f64 {
    f64::from_bits(((e + 1023).cast_unsigned()) << 52)
}

/// Where an orbit starts, or its constant: in fixed point, with a bound on the error in units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    x: i128,
    y: i128,
    error: f64,
}

impl Start {
    /// `None` for points beyond 64 in a direction.
    pub(super) fn of(point: &(impl Enclosed + ?Sized)) -> Option<Self> {
        let [(x, right), (y, above)] = point.enclose(USUAL_BITS);
        let across = |low: &IBig, high: IBig| f64::from(u8::try_from(high - low).unwrap_or(u8::MAX));
        let error = across(&x, right) + across(&y, above);
        let within = |v: IBig| i128::try_from(&v).ok().filter(|v| v.unsigned_abs() < 64 << BITS);
        Some(Self { x: within(x)?, y: within(y)?, error })
    }

    /// The same in f64.
    #[allow(clippy::cast_precision_loss, reason = "rounded to nearest, which is in the bound")]
    fn near(self) -> Near {
        let (x, y) = (self.x as f64 * UNIT, self.y as f64 * UNIT);
        Near { x, y, error: (self.error * UNIT + U * (x.abs() + y.abs())) * UP + TINY }
    }
}

/// A complex number in f64 and a bound on its error.
#[derive(Clone, Copy, Debug)]
struct Near {
    x: f64,
    y: f64,
    error: f64,
}

impl Near {
    /// The modulus, to within 3 U of itself and TINY: two products, a sum and a root, each rounded.
    fn modulus(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    /// At least the modulus.
    fn modulus_above(self) -> f64 {
        self.modulus() * (1.0 + 8.0 * U) + TINY
    }

    /// Its product with another. Each part is two products and a sum: rounding adds at most 4 U |z w|, and 8 are counted.
    fn times(self, o: Self) -> Self {
        let (of_self, of_other) = (self.modulus_above(), o.modulus_above());
        let carried = of_self * o.error + of_other * self.error + self.error * o.error;
        Self {
            x: self.x * o.x - self.y * o.y,
            y: self.x * o.y + self.y * o.x,
            error: (carried + 8.0 * U * of_self * of_other) * UP + TINY,
        }
    }

    /// Its sum with another: rounding adds U of either part of it, and 2 U of what the moduli together are is counted.
    fn plus(self, o: Self) -> Self {
        let rounding = 2.0 * U * (self.modulus_above() + o.modulus_above());
        Self { x: self.x + o.x, y: self.y + o.y, error: (self.error + o.error + rounding) * UP }
    }
}

/// What is iterated, and how far.
#[derive(Debug)]
pub(super) struct Quick {
    formula: Formula,
    is_mandelbrot: bool,
    limit: u32,
    /// At most and at least R.
    radius: [f64; 2],
    /// R^2 in fixed point, cut; `None` where it is too large.
    radius_squared: Option<i128>,
}

impl Quick {
    pub(super) fn new(formula: Formula, is_julia: bool, limit: u32, radius: &Rational) -> Self {
        let near: f64 = radius.round();
        let squared = i128::try_from(&radius.times(radius).floor_scaled(USUAL_BITS)).ok();
        Self {
            formula,
            is_mandelbrot: formula == Formula::MANDELBROT && !is_julia,
            limit,
            radius: [near * (1.0 - 2.0 * U), near * (1.0 + 2.0 * U)],
            radius_squared: squared.filter(|_| *radius <= Rational::whole(MOST_RADIUS) && formula.power() == 2),
        }
    }

    /// Whether c is in the main cardioid or in the disc of period 2, so that its orbit stays within 2 for ever.
    ///
    /// With p = a - 1/4 and q = p^2 + b^2, |1 - sqrt(1 - 4c)| <= 1 is 2q + p <= sqrt(q) (see `interior.rs` of the kernels,
    /// with no margin), and squared q (q + p) <= b^2 / 4; the disc is |c + 1| <= 1/4. For |a|, |b| <= 2 every term of the
    /// first is below 104, so that its twelve roundings are under 2e-13 together, and its slopes are below 102: an error of c
    /// below 1e-14 moves it by under 3e-12. Terms and slopes of the second are smaller. A margin of 1e-11 covers that.
    pub(super) fn is_interior(&self, c: Start) -> bool {
        const MARGIN: f64 = 1e-11;
        let Near { x: a, y: b, error } = c.near();
        if !self.is_mandelbrot || a.abs() > 2.0 || b.abs() > 2.0 || error > 1e-14 {
            return false;
        }
        let (p, b_squared) = (a - 0.25, b * b);
        let q = p * p + b_squared;
        q * (q + p) - 0.25 * b_squared < -MARGIN || (a + 1.0) * (a + 1.0) + b_squared < 0.0625 - MARGIN
    }

    /// In f64. `None` where it does not decide, or was told to stop.
    pub(super) fn in_f64(&self, z: Start, c: Start, stop: &AtomicBool) -> Option<u32> {
        let (mut z, c) = (z.near(), c.near());
        let of_c = c.modulus_above();
        let [radius_below, radius_above] = self.radius;
        let power = self.formula.power();
        for n in 1..=self.limit {
            // The modulus is off by 3 U of itself; what these sums round off is under 2 U more, and e has room for its own.
            let modulus = z.modulus();
            if modulus * (1.0 - 8.0 * U) - z.error > radius_above {
                return Some(n);
            }
            let above = modulus * (1.0 + 8.0 * U) + TINY;
            // Not a number is neither.
            let within = above + z.error <= radius_below && z.error < HOPELESS;
            if !within || (n & LOOK == 0 && stop.load(Ordering::Relaxed)) {
                return None;
            }
            let w = match self.formula.fold() {
                Fold::None => z,
                Fold::Absolute => Near { x: z.x.abs(), y: z.y.abs(), ..z },
                Fold::Conjugate => Near { y: -z.y, ..z },
            };
            z = if power == 2 {
                // The same as `times` and `plus`, of which one root is enough: x^2 - y^2 + a and 2xy + b are rounded by at
                // most U (|w|^2 + 2 |x^2 - y^2| + 4 |xy| + |a| + |b|) <= U (4 |w|^2 + 2 |c|).
                let carried = (2.0 * above + w.error) * w.error + c.error;
                Near {
                    x: w.x * w.x - w.y * w.y + c.x,
                    y: 2.0 * w.x * w.y + c.y,
                    error: (carried + 8.0 * U * (above * above + of_c)) * UP + TINY,
                }
            } else {
                let mut p = w;
                for digit in (0..power.ilog2()).rev() {
                    p = p.times(p);
                    if power >> digit & 1 == 1 {
                        p = p.times(w);
                    }
                }
                p.plus(c)
            };
        }
        Some(0)
    }

    /// In fixed point, for squares and R up to 4. `None` where it does not decide, or was told to stop.
    pub(super) fn in_fixed(&self, z: Start, c: Start, stop: &AtomicBool) -> Option<u32> {
        let radius_squared = self.radius_squared?;
        let Start { mut x, mut y, mut error } = z;
        for n in 1..=self.limit {
            let (size_x, size_y) = (x.unsigned_abs(), y.unsigned_abs());
            if size_x.max(size_y) >= FAR {
                // |z| >= 8, and 7 is beyond R.
                return (error < 1.0 / UNIT).then_some(n);
            }
            // Each is cut by less than a unit.
            let (xx, yy) = (product(size_x, size_x, BITS), product(size_y, size_y, BITS));
            let norm = xx + yy;
            // |z|, from above: the norm is below 2^7, so its first bits are a number of 62 bits at most.
            #[allow(clippy::cast_precision_loss, reason = "raised by more")]
            let modulus = (((norm >> 64) as f64 + 2.0) * (UNIT * power_of_two(64))).sqrt() * UP;
            // By how much |z_n|^2 may be off, in units: norm is cut by less than 2, R^2 by less than 1.
            let off = (2.0 * modulus + error * UNIT) * error * UP + 4.0;
            let beyond = norm.cast_signed() - radius_squared;
            // At most |beyond|: its first bits, cut, and rounded by less than is taken off.
            #[allow(clippy::cast_precision_loss, reason = "lowered by more")]
            let beyond_by = (beyond.unsigned_abs() >> 64) as f64 * (power_of_two(64) * (1.0 - power_of_two(-50)));
            // Not a number is no certainty.
            let certain = beyond_by > off;
            if !certain || (n & LOOK == 0 && stop.load(Ordering::Relaxed)) {
                return None;
            }
            if beyond > 0 {
                return Some(n);
            }
            // |z_n| <= R <= 4 is certain and e is small beside it, so |z| < 5: xx - yy, 2xy and c fit in 2^7 together. The two
            // parts are off by less than a unit each, which is 1.5 in modulus.
            let xy = product(size_x, size_y, BITS - 1).cast_signed();
            let negative = match self.formula.fold() {
                Fold::None => (x < 0) != (y < 0),
                Fold::Absolute => false,
                Fold::Conjugate => (x < 0) == (y < 0),
            };
            x = xx.cast_signed() - yy.cast_signed() + c.x;
            y = if negative { -xy } else { xy } + c.y;
            error = (2.0 * modulus + error * UNIT) * error * UP + c.error + 2.0;
        }
        Some(0)
    }
}

/// a b / 2^shift, cut, for results below 2^128 and 0 < shift < 128.
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
    fn products() {
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
    fn interior_is_no_more_than_the_two_largest_parts() {
        let quick = Quick::new(Formula::MANDELBROT, false, 1000, &Rational::whole(2));
        let at = |a: f64, b: f64| {
            let point = [a, b].map(Rational::from_f64);
            quick.is_interior(Start::of(&point).unwrap())
        };
        for (a, b) in [(0.0, 0.0), (0.249, 0.0), (-0.7499, 0.0), (-1.0, 0.2499), (-1.2499, 0.0), (-0.125, 0.6)] {
            assert!(at(a, b) && at(a, -b), "{a} {b}");
        }
        // Outside, on the edge, and in other parts of the set.
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
        assert!(!Quick::new(Formula::MANDELBROT, true, 9, &Rational::whole(2)).is_interior(Start {
            x: 0,
            y: 0,
            error: 0.0
        }));
    }

    #[test]
    fn bounds_hold_the_exact_orbit() {
        // z_n exactly, as rationals, beside what f64 has of it.
        let mut c = [0.3_f64, -0.4];
        for _ in 0..40 {
            let exact = c.map(Rational::from_f64);
            let start = Start::of(&exact).unwrap();
            let (mut z, mut truth) = (start.near(), exact.clone());
            for power in [2, 3] {
                for _ in 0..4 {
                    let w = z;
                    z = z.times(z);
                    z = if power == 3 { z.times(w) } else { z }.plus(start.near());
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
                (z, truth) = (start.near(), exact.clone());
            }
            c = [c[1] * 1.3 - 0.1, -c[0] * 0.9 + 0.05];
        }
    }
}
