//! Derivatives of orbits by c, with bounds on their errors, for distances and slopes (`values.rs`).
//!
//! D is dz/dc for c in units of 2^scale, and also dw/dc, since the reference does not depend on the pixel. With e the bound on the error of z and with f
//! that on the error of D:
//!
//! **Step.** D' = 2 w D + 2^scale. w is off by e and by 6 u |w| for the roundings of Z and of the sum:
//!
//! ```text
//! f' = 2 (|w| + e) f + (2 e + 24 u |w|) |D| + 2 u 2^scale
//! ```
//!
//! **Rebase.** D and f stay.
//!
//! **Block.** z' = P(z, c) + delta with P = (A + S c + Q z) z + (B + T c) c, so that D' = P_z D + P_c. The part of delta that is an analytic function of z and c, which has the
//! truncation and the errors of the coefficients, is at most k(|z|). By Cauchy's estimate on the disc with the radius
//! r = |z| + e about z, on which it is at most k(2 r), its derivative by z is at most k(2 r) / r; this needs 2 r within the radius of the block. Its derivative by c
//! is at most k(r) / (1.001 - |c|), since the bound holds for all |c| up to 1.001. With the other roundings:
//!
//! ```text
//! f' = (|P_z| + 2 |Q| e) f + (2 |Q| e + k(2 r) / r + 8 u |P_z|) |D| + |S| e + k(r) / (1.001 - |c|) + 16 u (|B| + |S| r + 2 |T|)
//! ```
//!
//! **Beginning** by a polynomial of c: its remainder is analytic in c, too, and its derivative is bounded in the same way.

use super::extended::{Bound, Extended};
use super::mantissa::{Complex, Mantissa};

/// For the roundings of a bound.
pub(crate) const UP: f64 = 1.0 + 1.0 / 35_184_372_088_832.0;
/// Added to bounds for results below the range of f64.
pub(crate) const UNDERFLOW: f64 = 1.0e-290;
/// u, for the derivatives of every tier are in f64.
pub(super) const U: f64 = f64::UNIT;
/// A derivative in the range of f64 with a bound on its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Derivative {
    pub(super) d: Complex<f64>,
    pub(super) off: f64,
}

impl Derivative {
    /// In the place of one that is not wanted.
    pub(super) const NONE: Self = Self { d: Complex::ZERO, off: 0.0 };

    /// After a step from w, which is known to within `off_w` and 6 u |w|.
    #[inline(always)]
    pub(super) fn stepped(self, w: Complex<f64>, modulus: f64, off_w: f64, unit: f64) -> Self {
        let Self { d, off } = self;
        let product = w * d;
        let by_w = 2.0 * off_w + 24.0 * U * modulus;
        Self {
            d: Complex { re: product.re + product.re + unit, im: product.im + product.im },
            off: (2.0 * (modulus + off_w) * off + by_w * d.taxicab() + 2.0 * U * unit + UNDERFLOW) * UP,
        }
    }

    pub(super) fn widened(self) -> WideDerivative {
        // `Bound` has no infinity.
        let off = if self.off.is_finite() { Bound::of(self.off) } else { Bound::BEYOND };
        WideDerivative { d: Extended::new(self.d, 0), off }
    }
}

/// A derivative of any magnitude.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideDerivative {
    pub(super) d: Extended<f64>,
    pub(super) off: Bound,
}

impl WideDerivative {
    /// In the place of one that is not wanted.
    pub(super) const NONE: Self = Self { d: Extended::ZERO, off: Bound::ZERO };

    /// That of the first delta, c itself.
    pub(super) fn first(scale: i32) -> Self {
        let one = Complex { re: 1.0, im: 0.0 };
        Self { d: Extended::new(one, scale), off: Bound::ZERO }
    }

    /// After a step from w, which is known to within `off_w` and 6 u |w|.
    pub(super) fn stepped(self, w: Extended<f64>, off_w: Bound, scale: i32) -> Self {
        let modulus = Bound::modulus(w);
        let growth = modulus.plus(off_w).by(2.0);
        let by_w = off_w.by(2.0).plus(modulus.by(24.0 * U));
        let first = Self::first(scale);
        Self {
            d: w.times(self.d).doubled().plus(first.d),
            off: growth
                .times(self.off)
                .plus(by_w.times(Bound::modulus(self.d)))
                .plus(Bound::modulus(first.d).by(2.0 * U))
                .by(UP),
        }
    }

    /// In the range of f64: without use where it is above it.
    pub(super) fn narrow(self) -> Derivative {
        let d = self.d.in_range();
        let off = if d.is_some() { self.off.to_f64() + UNDERFLOW } else { f64::INFINITY };
        Derivative { d: d.unwrap_or(Complex::ZERO), off }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_bounds_stay_infinite() {
        let unknown = Derivative { d: Complex { re: 1.0, im: 0.0 }, off: f64::INFINITY };
        let widened = unknown.widened();
        assert_eq!(widened.narrow().off, f64::INFINITY);
        let w = Extended::new(Complex { re: 0.5, im: 0.25 }, 0);
        assert_eq!(widened.stepped(w, Bound::ZERO, -90).narrow().off, f64::INFINITY);
    }
}
