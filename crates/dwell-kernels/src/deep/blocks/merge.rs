//! Blocks while a table is built: with coefficients in pairs of f64, of any magnitude, and bounds on their remainders.

use super::REACH;
use super::majorant::{Cubic, most, product, stretched, sum, times};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Dd, Mantissa};

/// For the roundings of a bound: at most some hundred operations.
pub(super) const UP: f64 = 1.0 + 1e-13;
/// Added to parts of a remainder in f64, for what is below its range.
const UNDERFLOW: f64 = 1e-290;

/// A block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) a: Extended<Dd>,
    pub(super) b: Extended<Dd>,
    pub(super) q: Extended<Dd>,
    pub(super) s: Extended<Dd>,
    pub(super) t: Extended<Dd>,
    /// Bounds on |B|, |Q|, |S|, |T| that are sums of moduli: errors of coefficients are relative to these.
    pub(super) majorants: [Bound; 4],
    pub(super) radius: Bound,
    /// The bound on the remainder, a cubic in |z|, the constant first.
    pub(super) delta: [Bound; 4],
}

/// The parts of a block on the domain that it has before another one: polynomials in |z| / R, in units of `value`.
struct Domain {
    radius: Bound,
    value: Bound,
    linear: Cubic,
    quadratic: Cubic,
    rest: Cubic,
    total: Cubic,
}

/// A cubic with these coefficients at a number.
fn at(delta: &[Bound; 4], radius: Bound) -> Bound {
    delta[3].times(radius).plus(delta[2]).times(radius).plus(delta[1]).times(radius).plus(delta[0])
}

/// The ratio of two bounds.
#[inline(always)]
fn ratio(bound: Bound, unit: Bound) -> f64 {
    if bound.is_zero() { 0.0 } else { bound.over(unit).to_f64() }
}

impl Block {
    /// One step at Z_m = `z`, with `unit` = 2^scale; `None` where the disc of escape leaves no room.
    pub(super) fn step(z: Extended<Dd>, unit: Extended<Dd>, escape_radius: f64) -> Option<Self> {
        let radius = escape_radius * (1.0 - 1e-12) - Bound::modulus(z).to_f64();
        (radius > 0.0).then(|| Self {
            a: z.doubled(),
            b: unit,
            q: Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, 0),
            s: Extended::ZERO,
            t: Extended::ZERO,
            majorants: [Bound::modulus(unit), Bound::ONE, Bound::ZERO, Bound::ZERO],
            radius: Bound::of(radius),
            delta: [Bound::ZERO; 4],
        })
    }

    /// This block and then `y`; `None` where nothing is left of its domain.
    #[inline(always)]
    pub(super) fn then(&self, y: &Self, tolerance: f64) -> Option<Self> {
        let domain = self.domain(y)?;
        let (output, remainder) = domain.remainder(y);
        let constant = self.constant(y);
        let mut merged = self.coefficients(y);
        if Bound::modulus(merged.b).by(tolerance).below(constant) {
            return None;
        }
        let s = self.share_within(y, &domain, output, remainder, &merged, tolerance)?;
        let per_radius = Bound::ONE.over(domain.radius);
        let squared = per_radius.times(per_radius);
        merged.delta = [
            constant,
            if self.is_from_zero() { self.of_first_degree(y) } else { output.times(per_radius).by(remainder[1]) },
            output.times(squared).by(remainder[2]),
            output.times(squared).times(per_radius).by(remainder[3]),
        ];
        merged.radius = domain.radius.by(s);
        Some(merged)
    }

    /// The share of the radius on which the remainder is small enough for the tolerance: d3 R^2 + d2 R + d1 <= tolerance |A|, or for a block from
    /// m = 0, where A is 0, d3 R + d2 <= tolerance |Q|.
    #[inline(always)]
    fn share_within(
        &self,
        y: &Self,
        domain: &Domain,
        output: Bound,
        remainder: Cubic,
        merged: &Self,
        tolerance: f64,
    ) -> Option<f64> {
        let [_, d1, d2, d3] = remainder;
        if self.is_from_zero() {
            let of_q = Bound::modulus(merged.q).times(domain.radius).times(domain.radius);
            let target = tolerance * ratio(of_q, output);
            return (d2 < target).then(|| if d3 <= target - d2 { 1.0 } else { (target - d2) / d3 });
        }
        let of_a = Bound::modulus(self.a).times(Bound::modulus(y.a)).times(domain.radius);
        let target = tolerance * ratio(of_a, output);
        (d1 < target).then(|| most([0.0, d2, d3, 0.0], target - d1))
    }

    /// The largest disc whose image is within the radius of `y`.
    #[inline(always)]
    fn domain(&self, y: &Self) -> Option<Domain> {
        let [a, b, q, s, t] = [self.a, self.b, self.q, self.s, self.t].map(Bound::modulus);
        let mut radius = self.radius;
        if self.is_from_zero() && !q.is_zero() {
            // The radius of y may be too small a share of this block's values for f64, which are squares of deltas.
            let of_y = y.radius.over(q).sqrt();
            radius = if of_y.below(radius) { of_y } else { radius };
        }
        let squared = radius.times(radius);
        let value = a
            .times(radius)
            .plus(b)
            .plus(q.times(squared))
            .plus(s.times(radius))
            .plus(t)
            .plus(at(&self.delta, radius))
            .by(REACH * REACH * 1.01);
        let of = |bound: Bound| ratio(bound, value);
        let linear = [of(b) * REACH, of(a.times(radius)), 0.0, 0.0];
        let quadratic = [of(t) * (REACH * REACH), of(s.times(radius)) * REACH, of(q.times(squared)), 0.0];
        let [d0, d1, d2, d3] = self.delta;
        let rest = [of(d0), of(d1.times(radius)), of(d2.times(squared)), of(d3.times(squared).times(radius))];
        let total = times(sum(sum(linear, quadratic), rest), UP);
        let limit = of(y.radius);
        if total[0] >= limit {
            return None;
        }
        let part = most(total, limit - total[0]);
        let on = |p: Cubic| stretched(p, part);
        Some(Domain {
            radius: radius.by(part),
            value,
            linear: on(linear),
            quadratic: on(quadratic),
            rest: on(rest),
            total: on(total),
        })
    }

    /// The part of the remainder without z. It may be far below the others, since c is, and is computed without the range of f64.
    fn constant(&self, y: &Self) -> Bound {
        let [ya, yq, ys] = [y.a, y.q, y.s].map(Bound::modulus);
        let (l, n, d) = (Bound::modulus(self.b).by(REACH), Bound::modulus(self.t).by(REACH * REACH), self.delta[0]);
        let both = l.plus(n);
        let in_square = l.times(n).by(2.0).plus(n.times(n)).plus(d.times(both.by(2.0).plus(d)));
        let of_self = ya.times(d).plus(yq.times(in_square)).plus(ys.by(REACH).times(n.plus(d)));
        of_self.plus(at(&y.delta, both.plus(d).by(UP))).by(UP)
    }

    /// Whether this begins with the step from m = 0, whose A is 0.
    fn is_from_zero(&self) -> bool {
        self.a.m.size() == 0.0
    }

    /// The part of the remainder of a block from m = 0 with |z|. It has a factor of c, so that it may be far below the part with |z|^2, as the
    /// constant is.
    fn of_first_degree(&self, y: &Self) -> Bound {
        let [ya, yq, ys] = [y.a, y.q, y.s].map(Bound::modulus);
        let [d0, d1, ..] = self.delta;
        let (l0, n0) = (Bound::modulus(self.b).by(REACH), Bound::modulus(self.t).by(REACH * REACH));
        let n1 = Bound::modulus(self.s).by(REACH);
        let (t0, t1) = (l0.plus(n0).plus(d0), n1.plus(d1));
        // Of 2 L N + N^2 + D (2 L + 2 N + D).
        let of_neighbours = l0.plus(n0).times(n1).by(2.0);
        let of_rest = d1.times(l0.plus(n0).by(2.0).plus(d0)).plus(d0.times(n1.by(2.0).plus(d1)));
        let [_, y1, y2, y3] = y.delta;
        let of_y = y1.plus(y2.times(t0).by(2.0)).plus(y3.times(t0).times(t0).by(3.0)).times(t1);
        let of_self = ya.times(d1).plus(yq.times(of_neighbours.plus(of_rest))).plus(ys.by(REACH).times(n1.plus(d1)));
        of_self.plus(of_y).by(UP)
    }

    /// The coefficients of this block and then `y`, with their majorants, without a radius and a remainder.
    #[inline(always)]
    pub(super) fn coefficients(&self, y: &Self) -> Self {
        let x = self;
        let (xa, ya) = (Bound::modulus(x.a), Bound::modulus(y.a));
        let [xb, xq, xs, xt] = x.majorants;
        let [yb, yq, ys, yt] = y.majorants;
        let majorants = [
            ya.times(xb).plus(yb),
            ya.times(xq).plus(yq.times(xa).times(xa)),
            ya.times(xs).plus(yq.times(xa).times(xb).by(2.0)).plus(ys.times(xa)),
            ya.times(xt).plus(yq.times(xb).times(xb)).plus(ys.times(xb)).plus(yt),
        ];
        Self {
            a: y.a.times(x.a),
            b: y.a.times(x.b).plus(y.b),
            q: y.a.times(x.q).plus(y.q.times(x.a.times(x.a))),
            s: y.a.times(x.s).plus(y.q.times(x.a.times(x.b)).doubled()).plus(y.s.times(x.a)),
            t: y.a.times(x.t).plus(y.q.times(x.b.times(x.b))).plus(y.s.times(x.b)).plus(y.t),
            majorants: majorants.map(|bound| bound.by(UP)),
            radius: Bound::ZERO,
            delta: [Bound::ZERO; 4],
        }
    }
}

impl Domain {
    /// The remainder of this block and then `y`, as a polynomial in |z| / R, and its unit. Its constant is not used.
    #[inline(always)]
    fn remainder(&self, y: &Block) -> (Bound, Cubic) {
        let Self { value, linear, quadratic, rest, total, .. } = *self;
        let [a, q, s] = [y.a, y.q, y.s].map(Bound::modulus);
        let squared = value.times(value);
        let of_parts = [
            a.times(value),
            q.times(squared),
            s.times(value),
            y.delta[1].times(value),
            y.delta[2].times(squared),
            y.delta[3].times(squared).times(value),
        ];
        let output = of_parts.into_iter().fold(y.delta[0], Bound::plus);
        let [a, q, s, d1, d2, d3] = of_parts.map(|part| ratio(part, output));
        let both = sum(linear, quadratic);
        // 2 L N + N^2 + D (2 L + 2 N + D).
        let of_neighbours = sum(times(product(linear, quadratic), 2.0), product(quadratic, quadratic));
        let in_square = sum(of_neighbours, product(rest, sum(times(both, 2.0), rest)));
        let square = product(total, total);
        let mut remainder = times(rest, a);
        remainder = sum(remainder, times(in_square, q));
        remainder = sum(remainder, times(sum(quadratic, rest), s * REACH));
        remainder = sum(remainder, times(total, d1));
        remainder = sum(remainder, times(square, d2));
        remainder = sum(remainder, times(product(square, total), d3));
        (output, remainder.map(|coefficient| coefficient * UP + UNDERFLOW))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deep::blocks::EPSILON;
    use crate::deep::leading;
    use dashu_int::IBig;
    use dashu_int::ops::BitTest;

    /// Points whose orbits stay within 2 for 256 steps.
    const POINTS: [[f64; 2]; 6] =
        [[-0.75, 0.01], [-1.99, 0.0], [0.25, 0.0], [-1.401_155, 0.0], [-0.12, 0.74], [-0.743_643_887, 0.131_825_904]];
    /// Bits after the point of exact numbers.
    const BITS: i32 = 1200;
    const SHIFT: usize = BITS as usize;

    /// A complex number in units of 2^-[`BITS`], each operation off by a unit or two.
    #[derive(Clone)]
    struct Exact([IBig; 2]);

    impl Exact {
        fn of([re, im]: [f64; 2]) -> Self {
            Self([of_number(re, 0), of_number(im, 0)])
        }
        fn times(&self, other: &Self) -> Self {
            let [[a, b], [c, d]] = [&self.0, &other.0];
            Self([(a * c - b * d) >> SHIFT, (a * d + b * c) >> SHIFT])
        }
        fn plus(&self, other: &Self) -> Self {
            let [[a, b], [c, d]] = [&self.0, &other.0];
            Self([a + c, b + d])
        }
        fn doubled(&self) -> Self {
            self.plus(self)
        }
        /// The modulus, to 52 bits.
        fn modulus(&self) -> Bound {
            Bound::modulus(self.rounded())
        }
        fn rounded(&self) -> Extended<Dd> {
            let part = |part: &IBig| {
                let (_, magnitude) = part.clone().into_parts();
                let down = magnitude.bit_len().cast_signed() - 128;
                if down == -128 {
                    return leading::ZERO;
                }
                let by = down.unsigned_abs();
                let bits = if down > 0 { magnitude >> by } else { magnitude << by };
                leading::of_bits(u128::try_from(bits).unwrap(), (127 + down) as i32 - BITS)
            };
            leading::joined([part(&self.0[0]), part(&self.0[1])], [0, 1].map(|i| self.0[i] < IBig::ZERO))
        }
    }

    /// x 2^e in units of 2^-[`BITS`].
    fn of_number(x: f64, e: i32) -> IBig {
        let mantissa = IBig::from(x.to_bits() & ((1 << 52) - 1) | 1 << 52);
        let shift = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1075 + e + BITS;
        if x == 0.0 || shift < -60 {
            return IBig::ZERO;
        }
        let magnitude = if shift < 0 { mantissa >> (-shift) as usize } else { mantissa << shift as usize };
        if x < 0.0 { -magnitude } else { magnitude }
    }

    fn merged(z: &[Extended<Dd>]) -> Block {
        if let [z] = z {
            let one = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, 0);
            return Block::step(*z, one, 16.0).unwrap();
        }
        let (first, second) = z.split_at(z.len() / 2);
        merged(first).coefficients(&merged(second))
    }

    #[test]
    fn coefficients_are_off_by_less_than_their_bound() {
        let mut greatest = 0.0_f64;
        for point in POINTS {
            let c = Exact::of(point);
            let mut z = c.clone();
            let zero = Exact::of([0.0; 2]);
            let one = Exact::of([1.0, 0.0]);
            let [mut a, mut b, mut q, mut s, mut t] = [&one, &zero, &zero, &zero, &zero].map(Exact::clone);
            let mut orbit = Vec::new();
            for steps in 1..=256_usize {
                orbit.push(z.rounded());
                let twice = z.doubled();
                q = twice.times(&q).plus(&a.times(&a));
                s = twice.times(&s).plus(&a.times(&b).doubled());
                t = twice.times(&t).plus(&b.times(&b));
                a = twice.times(&a);
                b = twice.times(&b).plus(&one);
                z = z.times(&z).plus(&c);
                if !steps.is_power_of_two() {
                    continue;
                }
                let block = merged(&orbit);
                let [of_b, of_q, of_s, of_t] = block.majorants;
                let parts = [
                    (block.a, &a, Bound::modulus(block.a), 1.0),
                    (block.b, &b, of_b, 1.0),
                    (block.q, &q, of_q, 2.0),
                    (block.s, &s, of_s, 2.0),
                    (block.t, &t, of_t, 2.0),
                ];
                for (number, (own, exact, majorant, times)) in parts.into_iter().enumerate() {
                    let part = |part: Dd| of_number(part.hi, own.e) + of_number(part.lo, own.e);
                    let minus = Exact([-part(own.m.re), -part(own.m.im)]);
                    let bound = majorant.by(steps as f64 * EPSILON * times);
                    let off = exact.plus(&minus).modulus();
                    if off.is_zero() {
                        continue;
                    }
                    let share = off.over(bound).to_f64();
                    assert!(share <= 1.0, "{point:?}, {steps} steps, coefficient {number}: {share} of the bound");
                    greatest = greatest.max(share);
                }
            }
        }
        assert!(greatest > 0.02, "the bound is {} times too large", 1.0 / greatest);
    }
}
