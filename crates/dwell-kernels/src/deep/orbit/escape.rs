//! The test of escape, and the values of orbits that have escaped.

use super::trap::{Attempt, Before};
use super::{Found, Orbit, Phase, Pixel, Setting};
use crate::deep::derivative::{UP, WideDerivative};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::values::{FAR_SQUARED, MOST_STEPS, Values, values};

/// The roundings of |w|^2 and R^2 in f64, relative to R^2: 4 u.
pub(in crate::deep) const ROUNDING: f64 = 4.0 * f64::UNIT;
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
        n: u64,
    ) -> Phase<T> {
        match pixel.trap.attempt.take() {
            Some(Attempt { before: Before { z, e, derivative, n }, .. }) => Phase::Wide { z, e, derivative, m: 0, n },
            None => Phase::Ends(self.at_escape(pixel.c, (w, off, derivative), n)),
        }
    }

    /// An orbit that is not within R for certain at n.
    #[inline(never)]
    fn at_escape(
        &self,
        c: Complex<T>,
        (mut w, mut off, mut derivative): (Complex<T>, f64, WideDerivative),
        n: u64,
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
            if is_outside(w, off, FAR_SQUARED) {
                let units = units.as_ref().map(|units| (units, derivative));
                return values(w, off, smooth.then_some(at), units)
                    .map_or(Found::Undecided, |values| Found::Escapes(n, values));
            }
            if !is_inside(w, off, FAR_SQUARED) {
                return Found::Undecided;
            }
            if DERIVED {
                derivative = derivative.stepped(Extended::new(w, 0).in_f64(), Bound::of(off), scale);
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
pub(in crate::deep) fn is_outside<T: Mantissa>(w: Complex<T>, off: f64, of: f64) -> bool {
    let (excess, rounding) = excess(w, of);
    excess > (2.0 * w.square().sqrt() * off + rounding) * UP
}

/// Whether |w|^2 < `of` for certain, where w is off by at most `off`.
pub(in crate::deep) fn is_inside<T: Mantissa>(w: Complex<T>, off: f64, of: f64) -> bool {
    let (excess, rounding) = excess(w, of);
    -excess > ((2.0 * of.sqrt() + off) * off + rounding) * UP
}
