//! What is read off a point that escapes, at its first |w| > 256: the smooth value, the distance and the slope.
//!
//! The smooth value is that of [`crate::smooth`], a multiple of 2^-[`SMOOTH_BITS`]. The distance is that of [`crate::distance`], |w| ln |w| / |D|, as a power of two
//! with an exponent that is a multiple of 2^-[`DISTANCE_BITS`], and the components of the slope are multiples of 2^-[`SLOPE_BITS`]: each the nearest to the exact one, so
//! that it does not depend on how it was computed (Ziv's strategy).

use super::derivative::{UP, WideDerivative};
use super::extended::{Bound, Extended, power_of_two};
use super::mantissa::{Complex, Mantissa};
use crate::formula::{Fold, Formula};
use crate::smooth::per_log2_power;
use fearless_simd::{Fallback, SimdBase};

/// |z|^2 beyond which values are taken: 256^2.
pub(super) const FAR_SQUARED: f64 = 65536.0;
/// The greatest number of further steps to there.
pub(super) const MOST_STEPS: u64 = 200;

/// Bits after the point of a smooth value. With 16, twelve times as many pixels of kf-1e50 need more than f64 as for dwells alone; with 12
/// three times as many.
pub const SMOOTH_BITS: u32 = 12;

/// Bits after the point of the base-2 logarithm of a distance.
pub const DISTANCE_BITS: u32 = 8;
/// Bits after the point of a slope's components.
pub const SLOPE_BITS: u32 = 10;
/// A relative error with which nothing is decided.
pub(super) const TOO_MUCH: f64 = 1e-3;

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
    /// The smooth value, in units of 2^-[`SMOOTH_BITS`].
    pub smooth: i128,
    /// The base-2 logarithm of the distance in heights of the view, in units of 2^-[`DISTANCE_BITS`].
    pub distance: i64,
    /// The components of the slope to the right and up, in units of 2^-[`SLOPE_BITS`].
    pub slope: [i32; 2],
}

/// The values of an orbit at w, which is beyond 256: the smooth value for the number of steps, the distance and the slope with their units,
/// each where it is wanted and if w and the derivative are known so well.
pub(super) fn values<T: Mantissa>(
    w: Complex<T>,
    off: f64,
    smooth_at: Option<u64>,
    units: Option<(&Units, WideDerivative)>,
) -> Option<Values> {
    let smooth = match smooth_at {
        Some(at) => smooth_value(w, off, at, 2)?,
        None => 0,
    };
    let (distance, slope) = match units {
        Some((units, derivative)) => Far::of(w.to_f64(), off, derivative).values(units)?,
        None => Default::default(),
    };
    Some(Values { smooth, distance, slope })
}

/// As [`values`], for a formula whose derivative has two columns, with a bound on the error of each; the second one is that of a formula with a fold.
pub(super) fn values_of_columns<T: Mantissa>(
    formula: Formula,
    (w, off): (Complex<T>, f64),
    smooth_at: Option<u64>,
    units: Option<(&Units, [Extended<f64>; 2], Bound)>,
) -> Option<Values> {
    let smooth = match smooth_at {
        Some(at) => smooth_value(w, off, at, formula.power())?,
        None => 0,
    };
    let (distance, slope) = match units {
        Some((units, [first, second], off_d)) => {
            let is_folded = formula.fold() != Fold::None;
            let e = if is_folded { first.e.max(second.e) } else { first.e };
            // What is below 2^-900 of the other column is nothing to it.
            let of = |column: Extended<f64>| {
                if e - column.e > 900 { Complex::ZERO } else { column.m.scaled(power_of_two(column.e - e)) }
            };
            let size = if first.m.size() == 0.0 && second.m.size() == 0.0 { 0.0 } else { 1.0 };
            let largest = Bound::new(size, e);
            let relative = if largest.is_zero() { f64::INFINITY } else { off_d.over(largest).to_f64() * UP };
            let far = Far {
                w: (w.to_f64(), off / w.square().sqrt() * UP),
                d: (of(first), relative),
                second: is_folded.then(|| of(second)),
                exponent: i64::from(e),
            };
            far.values(units)?
        }
        None => Default::default(),
    };
    Some(Values { smooth, distance, slope })
}

/// m + 1 - log_N(log2 |w|^2 / 16) for the power N to the nearest multiple of 2^-[`SMOOTH_BITS`], in that unit, if |w| is known so well.
fn smooth_value<T: Mantissa>(w: Complex<T>, off: f64, m: u64, power: u32) -> Option<i128> {
    let square = w.square();
    let relative = 2.0 * off / square.sqrt() + off * off / square + 1e-15;
    let fraction = log2(log2(square) / 16.0) * per_log2_power(power);
    // d log2(log2 x / 16) = dx / (x log2 x (ln 2)^2), and log2 x >= 16. A factor of at most 1 for another power has a rounding of its own, and so has the product, of a number
    // below 2^5.
    let doubt = 0.14 * relative + 2e-14;
    rounded(fraction, doubt, SMOOTH_BITS).map(|fraction| ((i128::from(m) + 1) << SMOOTH_BITS) - i128::from(fraction))
}

/// An orbit beyond 256 with its derivative, as relative errors.
#[derive(Clone, Copy, Debug)]
pub struct Far {
    /// w, with the bound on its error relative to |w|.
    pub w: (Complex<f64>, f64),
    /// D up to a power of two, with the bound on its error relative to |D|.
    pub d: (Complex<f64>, f64),
    /// The second column of D, in the same unit and with the same bound relative to the larger column, where a fold makes D a real matrix; otherwise it is i times the first.
    pub second: Option<Complex<f64>>,
    /// The power of two of D.
    pub exponent: i64,
}

/// The base-2 logarithm, with an error of at most 2.5 units in the last place.
fn log2(x: f64) -> f64 {
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
        Self { w: (w, off / w.square().sqrt() * UP), d: (m, relative), second: None, exponent: i64::from(e) }
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
        let Self { w: (w, off_w), d: (d, off_d), second, exponent } = *self;
        // log2 (|w| ln |w|) = h + log2 h + log2 ln 2 for h = log2 |w| >= 8: its derivative by ln |w| is below 1.8.
        let half = log2(w.square()) * 0.5;
        // The gradient of |w| is D^T w / |w|, for a complex D the direction of w / D.
        let [g, h] = match second {
            None => [w.re * d.re + w.im * d.im, w.im * d.re - w.re * d.im],
            Some(second) => [w.re * d.re + w.im * d.im, w.re * second.re + w.im * second.im],
        };
        let gradient = (g * g + h * h).sqrt();
        let (of_d, doubt_of_d) = match second {
            None => (log2(d.square()) * 0.5, off_d),
            Some(second) => {
                let all = (w.square() * (d.square() + second.square())).sqrt();
                (log2(gradient * gradient / w.square()) * 0.5, 2.0 * (off_d + off_w + 1e-15) * all / gradient)
            }
        };
        let value = half + log2(half * std::f64::consts::LN_2) - of_d - log2(units.height);
        let distance = rounded(value, (2.0 * off_w + 2.0 * doubt_of_d + 1e-12) * share, DISTANCE_BITS)?;
        let along = units.pixel.map(|pixel| g * pixel.re + h * pixel.im);
        let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
        let all = second.map_or(gradient, |second| (w.square() * (d.square() + second.square())).sqrt());
        let most = all * (units.pixel[0].taxicab() + units.pixel[1].taxicab());
        let doubt = 3.0 * (off_w + off_d + 1e-15) * most / length;
        let part = |part: f64| rounded(part / length, doubt * share, SLOPE_BITS).and_then(|part| part.try_into().ok());
        Some((distance - (exponent << DISTANCE_BITS), [part(along[0])?, part(along[1])?]))
    }
}
