//! The test of escape, and smooth values of orbits that have escaped.

use super::{Attempt, Found, Orbit, Phase, Pixel, SMOOTH_BITS, Setting, UP};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use fearless_simd::{Fallback, SimdBase};

/// |z|^2 beyond which a smooth value is taken: 256^2.
pub(in crate::deep) const SMOOTH_SQUARED: f64 = 65536.0;
/// The roundings of |w|^2 and R^2 in f64, relative to R^2: 4 u.
pub(super) const ROUNDING: f64 = 4.0 * f64::UNIT;
/// The greatest number of further steps for a smooth value.
const MOST_STEPS: u32 = 200;

impl<T: Mantissa> Orbit<'_, T> {
    /// Whether w is within R for certain, by |w|^2 and the bound E on the error of w.
    #[inline(always)]
    pub(super) fn is_within(&self, square: f64, error: f64) -> bool {
        let Setting { escape_radius, escape, .. } = *self.setting;
        let doubt = (2.0 * escape_radius + error) * error + escape * ROUNDING;
        square <= escape - doubt * UP
    }

    /// An orbit that is not within R for certain at n: the end of the attempt under way, or its own.
    #[inline(always)]
    pub(super) fn ends(&self, pixel: &mut Pixel<T>, w: Complex<T>, off: f64, n: u32) -> Phase<T> {
        match pixel.trap.attempt.take() {
            Some(Attempt { z, e, n, .. }) => Phase::Wide { z, e, m: 0, n },
            None => Phase::Ends(self.at_escape(pixel.c, w, off, n)),
        }
    }

    /// An orbit that is not within R for certain at n.
    #[inline(never)]
    fn at_escape(&self, c: Complex<T>, mut w: Complex<T>, mut off: f64, n: u32) -> Found {
        let Setting { reference, escape, smooth, .. } = *self.setting;
        if !is_outside(w, off, escape) {
            return Found::Undecided;
        }
        if !smooth {
            return Found::Escapes(n, 0);
        }
        let c = reference.at::<T>(1) + self.plain(c);
        let u = T::UNIT;
        for at in n..n.saturating_add(MOST_STEPS) {
            if is_outside(w, off, SMOOTH_SQUARED) {
                return smooth_value(w, off, at).map_or(Found::Undecided, |value| Found::Escapes(n, value));
            }
            if !is_inside(w, off, SMOOTH_SQUARED) {
                return Found::Undecided;
            }
            let modulus = w.square().sqrt();
            off =
                ((2.0 * modulus + off) * off + 9.0 * u * w.taxicab() * w.taxicab() + 8.0 * u * c.taxicab() + self.of_c)
                    * UP;
            w = w * w + c;
        }
        Found::Undecided
    }
}

/// |w|^2 - `of` in the number of the tier, so that twice the bits decide what f64 does not; a bound on its roundings, that of `of` included.
fn excess<T: Mantissa>(w: Complex<T>, of: f64) -> (f64, f64) {
    let excess = (w.re * w.re + w.im * w.im - T::of(Dd::whole(of))).to_f64();
    (excess, 8.0 * T::UNIT * (w.square() + of) + of * f64::UNIT)
}

/// Whether |w|^2 > `of` for certain, where w is off by at most `off`.
fn is_outside<T: Mantissa>(w: Complex<T>, off: f64, of: f64) -> bool {
    let (excess, rounding) = excess(w, of);
    excess > (2.0 * w.square().sqrt() * off + rounding) * UP
}

/// Whether |w|^2 < `of` for certain, where w is off by at most `off`.
fn is_inside<T: Mantissa>(w: Complex<T>, off: f64, of: f64) -> bool {
    let (excess, rounding) = excess(w, of);
    -excess > ((2.0 * of.sqrt() + off) * off + rounding) * UP
}

/// The base-2 logarithm, with an error of at most 2.5 units in the last place.
#[inline(always)]
fn log2(x: f64) -> f64 {
    let simd = Fallback::new();
    crate::log2::log2(simd, SimdBase::splat(simd, x)).as_slice()[0]
}

/// m + 1 - log2(log2 |w|^2 / 16) to the nearest multiple of 2^-[`SMOOTH_BITS`], in that unit, if |w| is known so well.
pub(in crate::deep) fn smooth_value<T: Mantissa>(w: Complex<T>, off: f64, m: u32) -> Option<i64> {
    let square = w.square();
    let relative = 2.0 * off / square.sqrt() + off * off / square + 1e-15;
    let fraction = log2(log2(square) / 16.0);
    // d log2(log2 x / 16) = dx / (x log2 x (ln 2)^2), and log2 x >= 16.
    let doubt = 0.14 * relative + 2e-14;
    let unit = f64::from(1_u32 << SMOOTH_BITS);
    let (low, high) = (((fraction - doubt) * unit).round(), ((fraction + doubt) * unit).round());
    (low == high).then(|| ((i64::from(m) + 1) << SMOOTH_BITS) - low as i64)
}
