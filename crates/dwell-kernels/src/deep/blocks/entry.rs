//! Blocks as orbits use them: rounded to the number of a tier, with all errors in one bound.

use super::merge::Block;
use super::{EPSILON, REACH, SHARE, UNDERFLOW};
use crate::deep::extended::{Bound, Extended, power_of_two};
use crate::deep::mantissa::{Complex, Dd, Mantissa};

/// A block as orbits use it, in the range of f64.
#[derive(Clone, Copy, Debug)]
pub(in crate::deep) struct Entry<T> {
    pub(in crate::deep) a: Complex<T>,
    pub(in crate::deep) b: Complex<T>,
    pub(in crate::deep) q: Complex<T>,
    pub(in crate::deep) s: Complex<T>,
    pub(in crate::deep) t: Complex<T>,
    /// Bounds of truncation, coefficients, roundings and the error of c: a cubic in |z| + e, the constant first.
    pub(in crate::deep) k: [f64; 4],
    /// What is added to the derivative by z for the roundings and errors of A and S.
    pub(in crate::deep) slack: f64,
    /// |Q|, and 2 / [`SHARE`] of its error.
    pub(in crate::deep) q_modulus: f64,
}

/// A block as orbits use it, of any magnitude.
#[derive(Clone, Copy, Debug)]
pub(in crate::deep) struct WideEntry<T> {
    pub(in crate::deep) a: Extended<T>,
    pub(in crate::deep) b: Extended<T>,
    pub(in crate::deep) q: Extended<T>,
    pub(in crate::deep) s: Extended<T>,
    pub(in crate::deep) t: Extended<T>,
    pub(in crate::deep) k: [Bound; 4],
    pub(in crate::deep) slack: Bound,
    pub(in crate::deep) by_c: Bound,
    pub(in crate::deep) s_modulus: Bound,
    pub(in crate::deep) q_modulus: Bound,
    pub(in crate::deep) radius: Bound,
}

impl<T: Mantissa> Entry<T> {
    /// Writes ten parts of coefficients, in the order of their names, each with its f64, and then six bounds.
    pub(in crate::deep) fn write(&self, lines: &mut T::Lines) {
        let Self { a, b, q, s, t, k: [k0, k1, k2, k3], slack, q_modulus } = *self;
        let parts = [a, b, q, s, t].into_iter().flat_map(|part| [part.re, part.im]);
        let numbers = parts.flat_map(|part| (0..T::PARTS).map(move |index| part.part(index)));
        let places = lines.as_mut().iter_mut().flat_map(|line| &mut line.0);
        for (place, number) in places.zip(numbers.chain([k0, k1, k2, k3, slack, q_modulus])) {
            *place = number;
        }
    }

    /// Reads what [`Self::write`] wrote.
    pub(in crate::deep) fn read(lines: &T::Lines) -> Self {
        let lines = lines.as_ref();
        let at = |index: usize| lines[index / 8].0[index % 8];
        let number = |index: usize| T::from_parts(|part| at(index * T::PARTS + part));
        let complex = |index: usize| Complex { re: number(2 * index), im: number(2 * index + 1) };
        let bound = |index: usize| at(10 * T::PARTS + index);
        Self {
            a: complex(0),
            b: complex(1),
            q: complex(2),
            s: complex(3),
            t: complex(4),
            k: [bound(0), bound(1), bound(2), bound(3)],
            slack: bound(4),
            q_modulus: bound(5),
        }
    }

    /// With exponents, but without a radius. The error of c is in k.
    pub(super) fn widened(&self) -> WideEntry<T> {
        let [a, b, q, s, t] = [self.a, self.b, self.q, self.s, self.t].map(|part| Extended::new(part, 0));
        WideEntry {
            a,
            b,
            q,
            s,
            t,
            k: self.k.map(Bound::of),
            slack: Bound::of(self.slack),
            q_modulus: Bound::of(self.q_modulus),
            ..WideEntry::NONE
        }
    }
}

impl<T: Mantissa> WideEntry<T> {
    /// In the place of a block that there is not.
    pub(super) const NONE: Self = Self {
        a: Extended::ZERO,
        b: Extended::ZERO,
        q: Extended::ZERO,
        s: Extended::ZERO,
        t: Extended::ZERO,
        k: [Bound::ZERO; 4],
        slack: Bound::ZERO,
        by_c: Bound::ZERO,
        s_modulus: Bound::ZERO,
        q_modulus: Bound::ZERO,
        radius: Bound::ZERO,
    };

    /// The values by which orbits use a block of so many steps.
    pub(super) fn of(block: &Block, steps: u64) -> Self {
        let [a, b, q, s, t] = [block.a, block.b, block.q, block.s, block.t].map(Bound::modulus);
        let [mb, mq, ms, mt] = block.majorants;
        let reach = Bound::of(REACH);
        let rounding = Bound::of(9.0 * T::UNIT);
        let epsilon = Bound::of(steps as f64 * EPSILON);
        let [d0, d1, d2, d3] = block.delta;
        let up = |bound: Bound| bound.by(1.0 + 1e-13);
        let linear = a.plus(s.times(reach));
        let constant = b.plus(t.times(reach)).times(reach);
        // The errors of the coefficients.
        let of_linear = a.plus(ms.times(reach).by(2.0)).times(epsilon);
        let of_constant = mb.plus(mt.times(reach).by(2.0)).times(reach).times(epsilon);
        let of_q = mq.times(epsilon).by(2.0);
        let slack = of_linear.plus(linear.times(Bound::new(1.0, -46)));
        Self {
            a: Extended::of(block.a),
            b: Extended::of(block.b),
            q: Extended::of(block.q),
            s: Extended::of(block.s),
            t: Extended::of(block.t),
            k: [
                up(d0.plus(constant.times(rounding)).plus(of_constant)),
                up(d1.plus(linear.times(rounding)).plus(of_linear)),
                up(d2.plus(q.times(rounding)).plus(of_q)),
                up(d3),
            ],
            slack: up(slack),
            by_c: up(b.plus(t.times(reach).by(2.0))),
            s_modulus: up(s),
            q_modulus: up(q.plus(of_q.by(2.0 / SHARE))),
            radius: block.radius.by(1.0 - 1e-13),
        }
    }

    /// One step at Z_m = `z` for c in units of 2^scale; `None` where the disc of escape leaves no room.
    pub(in crate::deep) fn step(z: Extended<Dd>, scale: i32, escape_radius: f64) -> Option<Self> {
        let unit = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, scale);
        Some(Self::of(&Block::step(z, unit, escape_radius)?, 1))
    }

    /// The exponent of a unit in which the result is, for deltas of about 2^unit.
    #[inline(always)]
    pub(in crate::deep) fn unit_of_result(&self, unit: i32) -> i32 {
        let Self { a, b, q, s, t, .. } = self;
        (a.e.max(s.e) + unit).max(q.e + 2 * unit).max(b.e).max(t.e)
    }

    /// For deltas in units of 2^unit and results in units of 2^result, of which no coefficient is larger than [`Self::unit_of_result`] allows. What is below
    /// the range of f64 in these units is covered where deltas are below 2^21 units.
    #[inline(always)]
    pub(in crate::deep) fn in_units(&self, unit: i32, result: i32) -> Entry<T> {
        let power = |exponent: i32| {
            if exponent < -1000 { 0.0 } else { power_of_two(exponent) }
        };
        let of = |part: &Extended<T>, unit: i32| part.m.scaled(power(part.e - unit));
        let by_z = result - unit;
        let by_square = by_z - unit;
        let of_c = 2.0 * T::UNIT * REACH;
        let [k0, k1, k2, k3] = self.k;
        let up = |k: f64| (k + UNDERFLOW) * (1.0 + 1e-13);
        Entry {
            a: of(&self.a, by_z),
            b: of(&self.b, result),
            q: of(&self.q, by_square),
            s: of(&self.s, by_z),
            t: of(&self.t, result),
            k: [
                up(k0.in_unit(result) + self.by_c.in_unit(result) * of_c),
                up(k1.in_unit(by_z) + self.s_modulus.in_unit(by_z) * of_c),
                up(k2.in_unit(by_square)),
                up(k3.in_unit(by_square - unit)),
            ],
            slack: self.slack.in_unit(by_z) + UNDERFLOW,
            q_modulus: self.q_modulus.in_unit(by_square),
        }
    }

    /// In the range of f64; `None` where a coefficient is outside it.
    pub(super) fn narrow(&self) -> Option<(f64, Entry<T>)> {
        let radius = self.radius.to_f64();
        // Below, orbits use wide numbers.
        if radius < 1e-126 {
            return None;
        }
        let [k0, k1, k2, k3] = self.k.map(Bound::to_f64);
        let [q_modulus, s_modulus] = [self.q_modulus, self.s_modulus].map(Bound::to_f64);
        // The error of c adds to the constant and, by S, to the linear part.
        let of_c = 2.0 * T::UNIT * REACH;
        let entry = Entry {
            a: self.a.in_range()?,
            b: self.b.in_range()?,
            q: self.q.in_range()?,
            s: self.s.in_range()?,
            t: self.t.in_range()?,
            k: [k0 + (self.by_c.to_f64() + UNDERFLOW) * of_c + UNDERFLOW, k1 + s_modulus * of_c, k2, k3]
                .map(|k| k * (1.0 + 1e-13)),
            slack: self.slack.to_f64(),
            q_modulus,
        };
        let bounds = entry.k.into_iter().chain([q_modulus, entry.slack]);
        bounds.into_iter().all(f64::is_finite).then_some((radius, entry))
    }
}
