//! The test of escape, and smooth values of orbits that have escaped.

use super::{Attempt, Far, Found, Orbit, Phase, Pixel, SMOOTH_BITS, Setting, Values};
use crate::deep::derivative::{UP, Units, WideDerivative, in_f64, log2};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Dd, Mantissa};

/// |z|^2 beyond which a smooth value is taken: 256^2.
pub(in crate::deep) const SMOOTH_SQUARED: f64 = 65536.0;
/// The roundings of |w|^2 and R^2 in f64, relative to R^2: 4 u.
pub(super) const ROUNDING: f64 = 4.0 * f64::UNIT;
/// The greatest number of further steps for a smooth value.
const MOST_STEPS: u32 = 200;

impl<T: Mantissa, const DERIVED: bool> Orbit<'_, T, DERIVED> {
    /// Whether w is within R for certain, by |w|^2 and the bound E on the error of w.
    #[inline(always)]
    pub(super) fn is_within(&self, square: f64, error: f64) -> bool {
        let Setting { escape_radius, escape, .. } = *self.setting;
        let doubt = (2.0 * escape_radius + error) * error + escape * ROUNDING;
        square <= escape - doubt * UP
    }

    /// An orbit that is not within R for certain at n: the end of the attempt under way, or its own.
    #[inline(always)]
    pub(super) fn ends(
        &self,
        pixel: &mut Pixel<T>,
        (w, off, derivative): (Complex<T>, f64, WideDerivative),
        n: u32,
    ) -> Phase<T> {
        match pixel.trap.attempt.take() {
            Some(Attempt { z, e, derivative, n, .. }) => Phase::Wide { z, e, derivative, m: 0, n },
            None => Phase::Ends(self.at_escape(pixel.c, (w, off, derivative), n)),
        }
    }

    /// An orbit that is not within R for certain at n.
    #[inline(never)]
    fn at_escape(
        &self,
        c: Complex<T>,
        (mut w, mut off, mut derivative): (Complex<T>, f64, WideDerivative),
        n: u32,
    ) -> Found {
        let Setting { reference, escape, smooth, units, scale, .. } = *self.setting;
        if !is_outside(w, off, escape) {
            return Found::Undecided;
        }
        if !smooth && !DERIVED {
            return Found::Escapes(n, Values::default());
        }
        let c = reference.at::<T>(1) + self.plain(c);
        let u = T::UNIT;
        for at in n..n.saturating_add(MOST_STEPS) {
            if is_outside(w, off, SMOOTH_SQUARED) {
                let units = units.as_ref().map(|units| (units, derivative));
                return values(w, off, smooth.then_some(at), units)
                    .map_or(Found::Undecided, |values| Found::Escapes(n, values));
            }
            if !is_inside(w, off, SMOOTH_SQUARED) {
                return Found::Undecided;
            }
            if DERIVED {
                derivative = derivative.stepped(in_f64(Extended::new(w, 0)), Bound::of(off), scale);
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

/// The values of an orbit at w, which is beyond 256: the smooth value for the number of steps, the distance and the slope with their units,
/// each where it is wanted and if w and the derivative are known so well.
pub(in crate::deep) fn values<T: Mantissa>(
    w: Complex<T>,
    off: f64,
    smooth_at: Option<u32>,
    units: Option<(&Units, WideDerivative)>,
) -> Option<Values> {
    let smooth = match smooth_at {
        Some(at) => smooth_value(w, off, at)?,
        None => 0,
    };
    let (distance, slope) = match units {
        Some((units, derivative)) => Far::of(w.to_f64(), off, derivative).values(units)?,
        None => Default::default(),
    };
    Some(Values { smooth, distance, slope })
}

/// m + 1 - log2(log2 |w|^2 / 16) to the nearest multiple of 2^-[`SMOOTH_BITS`], in that unit, if |w| is known so well.
fn smooth_value<T: Mantissa>(w: Complex<T>, off: f64, m: u32) -> Option<i64> {
    let square = w.square();
    let relative = 2.0 * off / square.sqrt() + off * off / square + 1e-15;
    let fraction = log2(log2(square) / 16.0);
    // d log2(log2 x / 16) = dx / (x log2 x (ln 2)^2), and log2 x >= 16.
    let doubt = 0.14 * relative + 2e-14;
    let unit = f64::from(1_u32 << SMOOTH_BITS);
    let (low, high) = (((fraction - doubt) * unit).round(), ((fraction + doubt) * unit).round());
    (low == high).then(|| ((i64::from(m) + 1) << SMOOTH_BITS) - low as i64)
}
