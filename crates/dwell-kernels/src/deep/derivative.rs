//! Derivatives of orbits by c, with bounds on their errors, and what they say about a point that escapes: its distance and its slope.
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
//!
//! **Values**, at the first |w| > 256. The distance is that of [`crate::distance`], |w| ln |w| / |D|, as a power of two with an exponent that is a multiple
//! of 2^-[`DISTANCE_BITS`], and the components of the slope are multiples of 2^-[`SLOPE_BITS`]: the nearest to the exact ones, so that they
//! do not depend on how they were computed (Ziv's strategy).

use super::extended::{Bound, Extended};
use super::mantissa::{Complex, Mantissa};
use fearless_simd::{Fallback, SimdBase};

/// Bits after the point of the base-2 logarithm of a distance.
pub const DISTANCE_BITS: u32 = 8;
/// Bits after the point of a slope's components.
pub const SLOPE_BITS: u32 = 10;
/// For the roundings of a bound.
pub(super) const UP: f64 = 1.0 + 1.0 / 35_184_372_088_832.0;
/// Added to bounds for results below the range of f64.
pub(super) const UNDERFLOW: f64 = 1.0e-290;
/// u, for the derivatives of every tier are in f64.
pub(super) const U: f64 = f64::UNIT;
/// A relative error with which nothing is decided.
const TOO_MUCH: f64 = 1e-3;

/// What distances and slopes are expressed in.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// The height of the view in units of 2^scale.
    pub height: f64,
    /// The steps in the plane of a pixel to the right and of a pixel up, in a common unit in which they are about 1 or somewhat smaller.
    pub pixel: [Complex<f64>; 2],
    /// An upper bound on |c| in units of 2^scale, for all pixels.
    pub farthest: f64,
}

/// The values of a point that escapes, each in units of a power of two; 0 where it is not wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// The smooth value, in units of 2^-[`SMOOTH_BITS`](super::orbit::SMOOTH_BITS).
    pub smooth: i64,
    /// The base-2 logarithm of the distance in heights of the view, in units of 2^-[`DISTANCE_BITS`].
    pub distance: i64,
    /// The components of the slope to the right and up, in units of 2^-[`SLOPE_BITS`].
    pub slope: [i32; 2],
}

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
        WideDerivative { d: Extended::new(self.d, 0), off: Bound::of(self.off) }
    }
}

/// A derivative of any magnitude.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideDerivative {
    pub(super) d: Extended<f64>,
    pub(super) off: Bound,
}

impl WideDerivative {
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

/// An orbit beyond 256 with its derivative, as relative errors.
#[derive(Clone, Copy, Debug)]
pub struct Far {
    /// w, with the bound on its error relative to |w|.
    pub w: (Complex<f64>, f64),
    /// D up to a power of two, with the bound on its error relative to |D|.
    pub d: (Complex<f64>, f64),
    /// The power of two of D.
    pub exponent: i64,
}

/// The base-2 logarithm, with an error of at most 2.5 units in the last place.
pub(super) fn log2(x: f64) -> f64 {
    let simd = Fallback::new();
    crate::log2::log2(simd, SimdBase::splat(simd, x)).as_slice()[0]
}

/// The multiple of 2^-bits nearest to a number that is known to within `doubt`.
fn rounded(value: f64, doubt: f64, bits: u32) -> Option<i64> {
    let unit = f64::from(1_u32 << bits);
    let (low, high) = (((value - doubt) * unit).round(), ((value + doubt) * unit).round());
    (low == high).then_some(low as i64)
}

impl Far {
    pub(super) fn of(w: Complex<f64>, off: f64, derivative: WideDerivative) -> Self {
        let Extended { m, e } = derivative.d;
        let relative = if m.size() == 0.0 {
            f64::INFINITY
        } else {
            derivative.off.over(Bound::modulus(derivative.d)).to_f64() * UP
        };
        Self { w: (w, off / w.square().sqrt() * UP), d: (m, relative), exponent: i64::from(e) }
    }

    /// The distance and the slope of [`Values`], if they are known so well.
    #[must_use]
    pub fn values(&self, units: &Units) -> Option<(i64, [i32; 2])> {
        let Self { w: (_, off_w), d: (_, off_d), .. } = *self;
        let is_useful = off_w < TOO_MUCH && off_d < TOO_MUCH;
        is_useful.then(|| self.rounded(units, 1.0)).flatten()
    }

    /// The distance and the slope of [`Values`] as if nothing were off. For a point that no bits decide.
    #[must_use]
    pub fn nearest_values(&self, units: &Units) -> (i64, [i32; 2]) {
        self.rounded(units, 0.0).unwrap_or_default()
    }

    /// With a share of the bounds.
    fn rounded(&self, units: &Units, share: f64) -> Option<(i64, [i32; 2])> {
        let Self { w: (w, off_w), d: (d, off_d), exponent } = *self;
        // log2 (|w| ln |w|) = h + log2 h + log2 ln 2 for h = log2 |w| >= 8: its derivative by ln |w| is below 1.8.
        let half = log2(w.square()) * 0.5;
        let of_d = log2(d.square()) * 0.5;
        let value = half + log2(half * std::f64::consts::LN_2) - of_d - log2(units.height);
        let distance = rounded(value, (2.0 * off_w + 2.0 * off_d + 1e-12) * share, DISTANCE_BITS)?;
        // The gradient of |w| is the direction of w / D.
        let [g, h] = [w.re * d.re + w.im * d.im, w.im * d.re - w.re * d.im];
        let along = units.pixel.map(|pixel| g * pixel.re + h * pixel.im);
        let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
        let most = (g * g + h * h).sqrt() * (units.pixel[0].taxicab() + units.pixel[1].taxicab());
        let doubt = 3.0 * (off_w + off_d + 1e-15) * most / length;
        let part = |part: f64| rounded(part / length, doubt * share, SLOPE_BITS).and_then(|part| part.try_into().ok());
        Some((distance - (exponent << DISTANCE_BITS), [part(along[0])?, part(along[1])?]))
    }
}

/// The values of a complex number of any tier in f64.
pub(super) fn in_f64<T: Mantissa>(z: Extended<T>) -> Extended<f64> {
    Extended::new(z.m.to_f64(), z.e)
}
