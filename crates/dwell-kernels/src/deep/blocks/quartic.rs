//! Blocks of the fourth degree, for pairs of f64: with P the polynomial of the second degree of `blocks.rs`,
//!
//! ```text
//! z' = P(z, c) + H(z, c) + delta,    |delta| <= d5 |z|^5 + ... + d1 |z| + d0
//! ```
//!
//! where H has all terms of the third and the fourth degree in z and c. A remainder of the second degree is the third power of the delta, in units of the distance d at which the map
//! of a block bends, so that a tolerance of 2^-84 holds for deltas up to 2^-42 d. With H it is the fifth power, and they may reach 2^-21 d: where deltas grow slowly, as near parabolic points, orbits take
//! most of their steps between the two. A pixel of fs-view25 takes 27,000 operations in place of 370,000 with a tolerance of 2^-60 and 3,760,000 with 2^-88.
//!
//! With tolerances of 2^-64, 2^-72, 2^-76, 2^-80, 2^-84 and 2^-88, 97, 104, 108, 110, 111 and 111 of 112 pixels there are decided, by 7,600, 12,700, 16,100, 20,500, 26,700 and 34,900 operations for each.
//!
//! **Merging.** Of y after x, H is computed in f64 (`quartic/terms.rs`), and the second degree in pairs as in `merge.rs`. With L, N and H the moduli of the terms of x of the first, the second and higher degrees,
//! H4 those of the fourth, G = N + H, D its remainder, and t = L + G + D, the remainder of y after x is at most
//!
//! ```text
//!   D Y'(t)                                                          x is off by D, and Y' bounds the derivative of y
//! + |Q| (2 L H4 + 2 N H + H^2) + |S c| H4                            w^2 and c w for w = L + N + H, less what is kept
//! + |y30| (3 L^2 H + 3 L G^2 + G^3) + |y31 c| (2 L H + G^2) + |y32 c^2| H
//! + G (|y40| (4 L^3 + 6 L^2 G + 4 L G^2 + G^3) + |y41 c| (3 L^2 + 3 L G + G^2) + |y42 c^2| (2 L + G) + |y43 c^3|)
//! + dy(t)
//! ```
//!
//! as polynomials in |z|, whose powers above the fifth are folded down by the radius. Two steps are of the fourth degree, so that nothing is left out.
//!
//! **Errors of H.** A coefficient of H is a sum of products. Where those of x and y have errors below `off` of their majorants, and A, B, Q, S and T, rounded to f64, below 2^-52.5 of theirs, one of y after x has less than
//! `off` + 64 u: no product has more than four factors from x and one from y, two roundings each, four multiplications (sqrt 5 u each), and 22 additions. So the error grows with the number of merges, the level of the block, and not
//! with its steps. H is small beside A z, by which its rounding to f64 is covered.
//!
//! Blocks from m = 0, where A is 0, and for deltas below the range of f64, where H is nothing, are of the second degree alone, in other tables: a table of the fourth degree is for scales from
//! [`LEAST_SCALE`] on, and has none of them.

mod entry;
mod terms;

use super::REACH;
use super::majorant::{Quintic, most_of_quintic, product_of_quintics, stretched, sum, times};
use super::merge::{Block, UP};
use crate::deep::extended::{Bound, Extended, power_of_two};
use crate::deep::mantissa::{Complex, Dd};
pub(in crate::deep) use entry::HigherLines;
pub(super) use entry::{NO_HIGHER, leave_out};
use terms::{Coefficient, Terms};

/// The least scale of a view with blocks of the fourth degree: below, the parts of a remainder without z may be below the range of f64.
pub(super) const LEAST_SCALE: i32 = -400;
/// What one merge adds to the error of H, relative to majorants.
const OF_MERGE: f64 = 64.0 / 9_007_199_254_740_992.0;
/// Added to parts of a remainder, for what is below the range of f64.
const UNDERFLOW: f64 = 1e-290;
/// The tolerance of two steps: their polynomial is exact, and longer blocks have smaller radii.
const OF_TWO_STEPS: f64 = 1.0;

/// A block of the fourth degree while a table is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quartic {
    /// The terms up to the second degree, the radius, and the remainder up to the third power.
    pub(super) low: Block,
    /// The remainder's coefficients of |z|^4 and |z|^5.
    rest: [Bound; 2],
    /// z and values are in units of 2^of_z and 2^of_value in the following.
    of_z: i32,
    of_value: i32,
    third: [Complex<f64>; 4],
    fourth: [Complex<f64>; 5],
    /// Sums of moduli, which bound the coefficients and their errors.
    majorants: ([f64; 4], [f64; 5]),
    /// The error of a coefficient relative to its majorant.
    off: f64,
}

/// The moduli of the terms of a block, in some units.
type Moduli = Terms<f64>;

/// Bounds on parts of a block, as polynomials in |z|.
#[derive(Clone, Copy)]
struct Parts {
    linear: Quintic,
    quadratic: Quintic,
    /// H, and its terms of the fourth degree alone.
    higher: Quintic,
    fourth: Quintic,
    rest: Quintic,
}

impl Parts {
    fn total(&self) -> Quintic {
        times(sum(sum(self.linear, self.quadratic), sum(self.higher, self.rest)), UP)
    }

    /// Each of them changed.
    fn each(&self, change: impl Fn(Quintic) -> Quintic) -> Self {
        Self {
            linear: change(self.linear),
            quadratic: change(self.quadratic),
            higher: change(self.higher),
            fourth: change(self.fourth),
            rest: change(self.rest),
        }
    }
}

/// Powers of the greatest |c|.
const OF_C: [f64; 5] = [1.0, REACH, REACH * REACH, REACH * REACH * REACH, REACH * REACH * REACH * REACH];

/// A complex number in units of 2^unit, 0 where it is far below.
fn in_unit(z: Extended<Dd>, unit: i32) -> Complex<f64> {
    let power = z.e.saturating_sub(unit);
    if power < -1000 { Complex::ZERO } else { z.m.to_f64().scaled(power_of_two(power.min(1000))) }
}

/// 2^power, 0 far below 1.
fn power(power: i32) -> f64 {
    if power < -1000 { 0.0 } else { power_of_two(power.min(1000)) }
}

impl Quartic {
    /// One step at Z_m = `z`; `None` where the disc of escape leaves no room.
    pub(super) fn step(z: Extended<Dd>, unit: Extended<Dd>, escape_radius: f64) -> Option<Self> {
        Some(Self::quadratic(Block::step(z, unit, escape_radius)?))
    }

    /// A block of the second degree.
    fn quadratic(low: Block) -> Self {
        Self {
            low,
            rest: [Bound::ZERO; 2],
            of_z: 0,
            of_value: 0,
            third: [Complex::ZERO; 4],
            fourth: [Complex::ZERO; 5],
            majorants: ([0.0; 4], [0.0; 5]),
            off: 0.0,
        }
    }

    /// The steps at Z_m and Z_{m+1}: H is 2 A_1 z^3 + 2 c z^2 + z^4 (`two_steps.rs`).
    #[inline(always)]
    pub(super) fn two_steps(z: [Extended<Dd>; 2], unit: Extended<Dd>, escape_radius: f64) -> Option<Self> {
        let low = Block::two_steps(z, unit, escape_radius, OF_TWO_STEPS)?;
        let a = Bound::modulus(z[0]).in_unit(0);
        let (of_cube, of_c) = (in_unit(z[0].doubled().doubled(), 0), in_unit(unit.doubled(), 0));
        let none = Complex::ZERO;
        let one = Complex { re: 1.0, im: 0.0 };
        Some(Self {
            low: Block { delta: [Bound::ZERO; 4], ..low },
            third: [of_cube, of_c, none, none],
            fourth: [one, none, none, none, none],
            majorants: ([4.0 * a * UP, of_c.re, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]),
            off: OF_MERGE,
            ..Self::quadratic(low)
        })
    }

    /// This block and then `y`, whose terms up to the second degree are `low`; `None` where nothing is left of its domain.
    ///
    /// This is a function of its own, compiled once and for no level: inlined where blocks are added, once and again for each level, it took the compiler minutes. Products of pairs need fused operations, which would be calls here.
    #[inline(never)]
    pub(super) fn then(&self, y: &Self, mut low: Block, tolerance: f64) -> Option<Self> {
        let (domain, of_z, of_value, parts) = self.domain(y)?;
        let of_out = y.bound(Bound::new(1.0, of_value)).exponent() + 1;
        let moduli = y.moduli(of_value, of_out, true);
        let remainder = Self::remainder(&parts, &moduli, y.rest_in_units(of_value, of_out));
        let in_out = |value: f64| Bound::new(value, of_out);
        if Bound::modulus(low.b).by(tolerance).below(in_out(remainder[0])) {
            return None;
        }
        let [_, d1, d2, d3, d4, d5] = remainder;
        let of_a = Bound::modulus(self.low.a).times(Bound::modulus(y.low.a)).times(domain);
        let room = tolerance * of_a.in_unit(of_out) - d1;
        if room.is_nan() || room <= 0.0 {
            return None;
        }
        low.radius = domain.by(most_of_quintic([0.0, d2, d3, d4, d5, 0.0], room));
        let mut coefficient = remainder;
        let per_radius = Bound::ONE.over(domain);
        let mut of_power = Bound::ONE;
        let mut delta = [Bound::ZERO; 6];
        for i in 0..6 {
            coefficient[i] *= UP;
            delta[i] = in_out(coefficient[i]).times(of_power);
            of_power = of_power.times(per_radius);
        }
        let [d0, d1, d2, d3, d4, d5] = delta;
        low.delta = [d0, d1, d2, d3];
        let (third, fourth) = self.terms(of_z, of_value).then(&y.terms(of_value, of_out));
        let majorants = self.moduli(of_z, of_value, false).then(&y.moduli(of_value, of_out, false));
        Some(Self {
            low,
            rest: [d4, d5],
            of_z,
            of_value: of_out,
            third,
            fourth,
            majorants: (times(majorants.0, UP), times(majorants.1, UP)),
            off: self.off.max(y.off) + OF_MERGE,
        })
    }

    /// The largest disc whose image is within the radius of `y`: its radius, the exponents of units of z and values, and bounds on the parts of this block as polynomials in |z| over the radius.
    fn domain(&self, y: &Self) -> Option<(Bound, i32, i32, Parts)> {
        let radius = self.low.radius;
        let (of_z, of_value) = (radius.exponent() + 1, self.bound(radius).exponent() + 1);
        let moduli = self.moduli(of_z, of_value, true);
        let share = radius.in_unit(of_z);
        let parts = Self::parts(&moduli, self.rest_in_units(of_z, of_value)).each(|part| stretched(part, share));
        let total = parts.total();
        let room = y.low.radius.in_unit(of_value) - total[0];
        if room.is_nan() || room <= 0.0 {
            return None;
        }
        let part = most_of_quintic(total, room);
        // In units of the values in the domain.
        let parts = parts.each(|of_part| stretched(of_part, part));
        let greatest = Bound::of(parts.total().iter().sum::<f64>() + UNDERFLOW).exponent() + 1;
        let parts = parts.each(|of_part| times(of_part, power(-greatest)));
        let domain = radius.by(part);
        Some((domain, domain.exponent() + 1, of_value + greatest, parts))
    }

    /// A bound on values for |z| up to a radius.
    fn bound(&self, radius: Bound) -> Bound {
        let [a, b, q, s, t] = [self.low.a, self.low.b, self.low.q, self.low.s, self.low.t].map(Bound::modulus);
        let x = radius.in_unit(self.of_z);
        let higher: f64 = self.higher().iter().rev().fold(0.0, |sum, part| sum * x + part);
        let [d0, d1, d2, d3] = self.low.delta;
        let [d4, d5] = self.rest;
        let of_z = q.plus(d2).times(radius).plus(a).plus(s).plus(d1).times(radius);
        let of_rest = d5.times(radius).plus(d4).times(radius).plus(d3).times(radius).times(radius).times(radius);
        of_z.plus(of_rest).plus(b).plus(t).plus(d0).plus(Bound::new(higher, self.of_value)).by(1.01 * OF_C[4])
    }

    /// Majorants of H by powers of z, in the units of this.
    fn higher(&self) -> [f64; 5] {
        let (third, fourth) = &self.majorants;
        [
            third[3] * OF_C[3] + fourth[4] * OF_C[4],
            third[2] * OF_C[2] + fourth[3] * OF_C[3],
            third[1] * OF_C[1] + fourth[2] * OF_C[2],
            third[0] + fourth[1] * OF_C[1],
            fourth[0],
        ]
    }

    /// The moduli of the terms, of the first and the second degree or their majorants, with z and values in units of 2^of_z and 2^of_value.
    fn moduli(&self, of_z: i32, of_value: i32, exact: bool) -> Moduli {
        let Block { a, b, q, s, t, majorants, .. } = self.low;
        let [mb, mq, ms, mt] = if exact { [b, q, s, t].map(Bound::modulus) } else { majorants };
        let (third, fourth) = self.majorants;
        let by = |of: Bound, degree: i32| of.in_unit(of_value - degree * of_z) * UP;
        let third = self.rescaled(of_z, of_value, &third, 3);
        Terms {
            first: [by(Bound::modulus(a), 1), by(mb, 0)],
            second: [by(mq, 2), by(ms, 1), by(mt, 0)],
            third: [third[0], third[1], third[2], third[3]],
            fourth: self.rescaled(of_z, of_value, &fourth, 4),
        }
    }

    /// The terms with z and values in units of 2^of_z and 2^of_value.
    fn terms(&self, of_z: i32, of_value: i32) -> Terms<Complex<f64>> {
        let Block { a, b, q, s, t, .. } = self.low;
        let by = |of: Extended<Dd>, degree: i32| in_unit(of, of_value - degree * of_z);
        let third = self.rescaled(of_z, of_value, &self.third, 3);
        Terms {
            first: [by(a, 1), by(b, 0)],
            second: [by(q, 2), by(s, 1), by(t, 0)],
            third: [third[0], third[1], third[2], third[3]],
            fourth: self.rescaled(of_z, of_value, &self.fourth, 4),
        }
    }

    /// The terms of a degree with z and values in units of 2^of_z and 2^of_value.
    fn rescaled<K: Coefficient, const N: usize>(
        &self,
        of_z: i32,
        of_value: i32,
        terms: &[K; N],
        degree: i32,
    ) -> [K; 5] {
        let mut out = [K::ZERO; 5];
        for ((out, term), by_z) in out.iter_mut().zip(terms).zip((0..=degree).rev()) {
            *out = term.by(power(by_z * (of_z - self.of_z) + self.of_value - of_value));
        }
        out
    }

    /// The coefficients of the remainder with z and values in units of 2^of_z and 2^of_value.
    fn rest_in_units(&self, of_z: i32, of_value: i32) -> Quintic {
        let [d0, d1, d2, d3] = self.low.delta;
        let [d4, d5] = self.rest;
        let mut out = [0.0; 6];
        for ((out, of), degree) in out.iter_mut().zip([d0, d1, d2, d3, d4, d5]).zip(0..) {
            *out = of.in_unit(of_value - degree * of_z);
        }
        out
    }

    /// Bounds on the parts of a block with these moduli and remainder.
    fn parts(moduli: &Moduli, rest: Quintic) -> Parts {
        let Terms { first, second, third, fourth } = moduli;
        let of_fourth =
            [fourth[4] * OF_C[4], fourth[3] * OF_C[3], fourth[2] * OF_C[2], fourth[1] * OF_C[1], fourth[0], 0.0];
        let of_third = [third[3] * OF_C[3], third[2] * OF_C[2], third[1] * OF_C[1], third[0], 0.0, 0.0];
        Parts {
            linear: [first[1] * OF_C[1], first[0], 0.0, 0.0, 0.0, 0.0],
            quadratic: [second[2] * OF_C[2], second[1] * OF_C[1], second[0], 0.0, 0.0, 0.0],
            higher: sum(of_third, of_fourth),
            fourth: of_fourth,
            rest,
        }
    }

    /// The bound on the remainder of a block with these parts and then one with these moduli and this remainder.
    fn remainder(parts: &Parts, y: &Moduli, of_y: Quintic) -> Quintic {
        let product = |p: Quintic, q: Quintic| product_of_quintics(&p, &q);
        let Parts { linear, quadratic, higher, fourth, rest } = *parts;
        let total = parts.total();
        let both = sum(quadratic, higher);
        let [l2, lg, g2] = [product(linear, linear), product(linear, both), product(both, both)];
        let lh = product(linear, higher);
        // Y'(t), by Horner's method.
        let by_square = 3.0 * y.third[0] + 3.0 * y.fourth[1] * OF_C[1];
        let by_value = 2.0 * (y.second[0] + y.third[1] * OF_C[1] + y.fourth[2] * OF_C[2]);
        let constant = y.first[0] + y.second[1] * OF_C[1] + y.third[2] * OF_C[2] + y.fourth[3] * OF_C[3];
        let horner = |coefficient: f64, sum: Quintic| {
            let mut next = product(sum, total);
            next[0] += coefficient;
            next
        };
        let mut slope = times(total, 4.0 * y.fourth[0]);
        slope[0] += by_square;
        let slope = horner(constant, horner(by_value, slope));
        let mut out = product(rest, slope);
        // What is cut from w^2 and c w.
        let of_square = sum(times(product(linear, fourth), 2.0), product(higher, sum(times(quadratic, 2.0), higher)));
        out = sum(out, times(of_square, y.second[0]));
        out = sum(out, times(fourth, y.second[1] * OF_C[1]));
        // Of the third degree of y: w^3, c w^2 and c^2 w.
        let of_cube = sum(times(product(l2, higher), 3.0), product(g2, sum(times(linear, 3.0), both)));
        out = sum(out, times(of_cube, y.third[0]));
        out = sum(out, times(sum(times(lh, 2.0), g2), y.third[1] * OF_C[1]));
        out = sum(out, times(higher, y.third[2] * OF_C[2]));
        // Of the fourth degree: w^4, c w^3, c^2 w^2 and c^3 w.
        let of_fourth =
            sum(product(l2, sum(times(linear, 4.0), times(both, 6.0))), product(g2, sum(times(linear, 4.0), both)));
        let mut by_both = times(of_fourth, y.fourth[0]);
        let of_cube = sum(sum(times(l2, 3.0), times(lg, 3.0)), g2);
        by_both = sum(by_both, times(of_cube, y.fourth[1] * OF_C[1]));
        by_both = sum(by_both, times(sum(times(linear, 2.0), both), y.fourth[2] * OF_C[2]));
        by_both[0] += y.fourth[3] * OF_C[3];
        out = sum(out, product(both, by_both));
        // The remainder of y.
        let mut of_rest = times(total, of_y[5]);
        of_rest[0] += of_y[4];
        let of_rest = horner(of_y[0], horner(of_y[1], horner(of_y[2], horner(of_y[3], of_rest))));
        out = sum(out, of_rest);
        for coefficient in &mut out {
            *coefficient = *coefficient * UP + UNDERFLOW;
        }
        out
    }
}
