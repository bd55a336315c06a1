//! Orbits with deltas below the range of f64: at the beginning of a very deep view, and where an orbit passes very near 0.
//!
//! A delta is z 2^k with z in [1, 2), and the bound on its error is e 2^k with the same k. Terms of an operation are added in the unit of the
//! largest: powers of two are exact, and a term that is below the range of f64 in that unit is below 2^-1000 of the result, which
//! `UNDERFLOW` covers in e.

use super::trap::Next;
use super::{Counts, Found, Orbit, Phase, Pixel, SMALL, Setting, State};
use crate::deep::blocks::{REACH, SHARE, WideEntry};
use crate::deep::derivative::{U, UNDERFLOW, UP, WideDerivative};
use crate::deep::extended::{Bound, Extended, power_of_two};
use crate::deep::mantissa::{Complex, Mantissa};

/// Where |Z| is below this, the sum of Z and z is computed with an exponent, to see which is smaller. Above it, z is below 2^-160 of Z.
pub(in crate::deep) const NEAR_ZERO: f64 = 1e-80;
/// The exponent of [`SMALL`].
pub(in crate::deep) const SMALL_EXPONENT: i32 = -430;
/// A relative error with which nothing is decided.
pub(in crate::deep) const TOO_MUCH: f64 = 1e60;

/// 2^power; 0 below the range of f64, and 2^1000 from there on, for bounds that are then too large to decide anything.
#[inline(always)]
pub(super) fn power(power: i32) -> f64 {
    if power < -1000 { 0.0 } else { power_of_two(power.min(1000)) }
}

/// A delta and the bound on its error, in one unit.
#[derive(Clone, Copy)]
struct Delta<T> {
    z: Extended<T>,
    e: f64,
}

impl<T: Mantissa> Delta<T> {
    fn new(z: Extended<T>, e: Bound) -> Self {
        // A delta of 0, that of the centre, has the unit of its error.
        let z = if z.m.size() == 0.0 { Extended { m: Complex::ZERO, e: e.exponent() } } else { z };
        let e = if e.is_zero() { 0.0 } else { e.over(Bound::new(1.0, z.e)).to_f64() };
        Self { z, e: e + UNDERFLOW }
    }

    /// z 2^k, with an error of e 2^k, of any size.
    #[inline(always)]
    fn scaled(z: Complex<T>, e: f64, k: i32) -> Self {
        if z.size() == 0.0 {
            return Self { z: Extended { m: Complex::ZERO, e: k }, e: e + UNDERFLOW };
        }
        let z = Extended::new(z, k);
        Self { z, e: e * power(k - z.e) * UP + UNDERFLOW }
    }

    fn bound(self) -> Bound {
        Bound::new(self.e, self.z.e)
    }
}

impl<T: Mantissa, const DERIVED: bool> Orbit<'_, T, DERIVED> {
    /// Deltas of any magnitude.
    #[inline(always)]
    pub(super) fn wide(
        &self,
        pixel: &mut Pixel<T>,
        (z, e, mut derivative): (Extended<T>, Bound, WideDerivative),
        mut m: usize,
        mut n: u64,
        counts: &mut Counts,
    ) -> Phase<T> {
        let Setting { reference, limit, scale, .. } = *self.setting;
        let last = reference.last();
        let u = T::UNIT;
        let mut delta = Delta::new(z, e);
        let of_c = 4.0 * u * REACH;
        loop {
            if delta.z.e >= SMALL_EXPONENT {
                let narrow_z = delta.z.in_range().unwrap_or(Complex::ZERO);
                if narrow_z.size() >= SMALL {
                    let e = delta.bound().to_f64() + UNDERFLOW;
                    return Phase::Narrow(State { z: narrow_z, e, derivative: derivative.narrow(), m, n });
                }
            }
            let reference_z = reference.at::<T>(m);
            let at_end = m == last;
            let off =
                delta.bound().to_f64() + self.of_modulus + if at_end { reference.end_error.to_f64() } else { 0.0 };
            let w = reference_z + delta.z.in_range().unwrap_or(Complex::ZERO);
            let is_useless = delta.e.is_nan() || delta.e > TOO_MUCH;
            if is_useless || !self.is_within(w.square(), off + UNDERFLOW) {
                return self.ends(pixel, (w, if is_useless { f64::INFINITY } else { off }, derivative), n);
            }
            if n == limit {
                return Phase::Ends(Found::Stays);
            }
            counts.wide += 1;
            if self.stops(counts.wide) {
                return Phase::Ends(Found::Undecided);
            }
            let is_near_zero = at_end || w.size() < NEAR_ZERO;
            if is_near_zero && self.rebase_wide(&mut delta, m, at_end) {
                m = 0;
                counts.rebases += 1;
                if !pixel.trap.passes() {
                    match pixel.trap.after_rebase((delta.z, delta.bound(), derivative), n) {
                        Next::Trapped => return Phase::Ends(Found::Stays),
                        Next::Raise(radius) => delta = Delta::new(delta.z, radius),
                        Next::GoOn => {}
                    }
                }
                if delta.z.e > SMALL_EXPONENT {
                    continue;
                }
            }
            let reach = Bound::new((delta.z.m.square().sqrt() + delta.e) * UP, delta.z.e);
            let needed = if DERIVED { reach.by(Self::REACHES) } else { reach };
            if let Some((entry, steps)) =
                self.table.longest_wide(m, usize::try_from(limit - n).unwrap_or(usize::MAX), needed)
            {
                if DERIVED {
                    derivative = self.derivative_after(entry, pixel.c, delta, derivative);
                }
                delta = self.apply_wide(entry, pixel.c, delta);
                m += steps;
                n += steps as u64;
                continue;
            }
            // Away from 0, Z + z is Z, and 2 Z + z is 2 Z, to far below a rounding.
            let (sum, t) = if m == 0 {
                (delta.z, delta.z)
            } else if is_near_zero {
                let exact = reference.extended::<T>(m);
                let sum = exact.plus(delta.z);
                (sum, exact.plus(sum))
            } else {
                let z = Extended::new(reference_z, 0);
                (z, z.doubled())
            };
            if DERIVED {
                derivative = derivative.stepped(sum.in_f64(), delta.bound(), scale);
            }
            let Delta { z, e } = delta;
            let by_c = power(scale - (z.e + t.e));
            let (product, unit) = if by_c < 1e300 { (power(0), z.e + t.e) } else { (power(z.e + t.e - scale), scale) };
            let by_c = if by_c < 1e300 { by_c } else { 1.0 };
            let growth = 2.0 * sum.m.square().sqrt() * power(sum.e - t.e) + e * power(z.e - t.e);
            let error = (growth * e + 9.0 * u * z.m.taxicab() * t.m.taxicab()) * product + of_c * by_c;
            delta = Delta::scaled((z.m * t.m).scaled(product) + pixel.c.scaled(by_c), error * UP, unit);
            m += 1;
            n += 1;
        }
    }

    /// Rebases where the orbit is smaller than its delta, or the reference ends. Whether it did.
    #[inline(always)]
    fn rebase_wide(&self, delta: &mut Delta<T>, m: usize, at_end: bool) -> bool {
        let reference = self.setting.reference;
        let exact = reference.extended::<T>(m);
        let sum = exact.plus(delta.z);
        if !at_end && !Bound::modulus(sum).below(Bound::modulus(delta.z)) {
            return false;
        }
        let mut e = delta.bound().plus(exact.taxicab().plus(sum.taxicab()).by(2.0 * T::UNIT)).by(UP);
        if at_end {
            e = e.plus(reference.end_error);
        }
        *delta = Delta::new(sum, e);
        true
    }

    /// The derivative after a block; see [`crate::deep::derivative`].
    fn derivative_after(
        &self,
        entry: &WideEntry<T>,
        c: Complex<T>,
        delta: Delta<T>,
        before: WideDerivative,
    ) -> WideDerivative {
        let [a, b, q, s, t] = [entry.a, entry.b, entry.q, entry.s, entry.t].map(Extended::in_f64);
        let (z, c, e) = (delta.z.in_f64(), Extended::new(c.to_f64(), 0), delta.bound());
        let q_z = q.times(z);
        let by_z = a.plus(s.times(c)).plus(q_z.doubled());
        let by_c = b.plus(s.times(z)).plus(t.times(c).doubled());
        let reach = Bound::modulus(z).plus(e).by(UP);
        let [k0, k1, k2, k3] = entry.k;
        let k = |reach: Bound| k3.times(reach).plus(k2).times(reach).plus(k1).times(reach).plus(k0);
        // The coefficients in f64, of which there may be twice as many bits, and the error of c.
        let of_a = Bound::modulus(a).plus(entry.s_modulus.by(REACH)).plus(entry.q_modulus.times(reach).by(2.0));
        let doubt = entry
            .q_modulus
            .times(e)
            .by(2.0)
            .plus(k(reach.by(2.0)).over(reach))
            .plus(of_a.by(24.0 * U))
            .plus(entry.s_modulus.by(self.relative));
        let of_b = Bound::modulus(b).plus(entry.s_modulus.times(reach)).plus(Bound::modulus(t).by(2.0));
        let of_c = entry.s_modulus.times(e).plus(k(reach).by(self.over_margin)).plus(of_b.by(16.0 * U));
        WideDerivative {
            d: by_z.times(before.d).plus(by_c),
            off: Bound::modulus(by_z)
                .plus(doubt)
                .times(before.off)
                .plus(doubt.times(Bound::modulus(before.d)))
                .plus(of_c)
                .by(UP),
        }
    }

    #[inline(always)]
    fn apply_wide(&self, entry: &WideEntry<T>, c: Complex<T>, delta: Delta<T>) -> Delta<T> {
        let Delta { z: Extended { m: z, e: k }, e } = delta;
        let WideEntry { a, b, q, s, t, .. } = entry;
        // A + S c + Q z in units of 2^l, B + T c in units of 2^f, the result in units of 2^g.
        let l = a.e.max(s.e).max(q.e + k);
        let q_z = (q.m * z).scaled(power(q.e + k - l));
        let linear = a.m.scaled(power(a.e - l)) + (s.m * c).scaled(power(s.e - l)) + q_z;
        let f = b.e.max(t.e);
        let free = (b.m.scaled(power(b.e - f)) + (t.m * c).scaled(power(t.e - f))) * c;
        let g = (l + k).max(f);
        let (of_linear, of_free) = (power(l + k - g), power(f - g));
        let result = (linear * z).scaled(of_linear) + free.scaled(of_free);
        let reach = (z.square().sqrt() + e) * UP;
        let in_unit = |bound: Bound, unit: i32| bound.in_unit(unit);
        let derivative = (linear + q_z).square().sqrt()
            + in_unit(entry.slack, l)
            + in_unit(entry.q_modulus, l - k) * (e + reach * SHARE);
        let [k0, k1, k2, k3] = entry.k;
        let truncation = ((in_unit(k3, g - 3 * k) * reach + in_unit(k2, g - 2 * k)) * reach + in_unit(k1, g - k))
            * reach
            + in_unit(k0, g);
        let by_c = (in_unit(entry.by_c, g) + in_unit(entry.s_modulus, g - k) * reach) * self.relative;
        Delta::scaled(result, (derivative * e * of_linear + truncation + by_c) * UP, g)
    }
}
