//! Smooth values, distances and slopes of points in arbitrary precision, rounded correctly to a multiple of a power of two.
//!
//! The smooth value is m + 1 - log_N(log2 |z_m|^2 / 16) for the power N, see [`dwell_kernels::smooth`]. It is enclosed in an interval; where both ends round to the same
//! multiple, that is the result (Ziv's strategy), otherwise the caller tries again with more bits. This ends: a value halfway between two
//! multiples would make |z_m|^2 transcendental by the theorem of Gelfond and Schneider, and it is rational for a rational point.
//!
//! Distances and slopes are evaluated in f64 from z_m and its derivative. Where these are known to 2^-48 and the roundings of f64 leave open which of two multiples is
//! the nearer one, the point is within 1e-11 of the middle, and the one that f64 gives is taken: the same everywhere, since integers lead to it.

use super::{ArbitraryPrecision, Attempt, Bound, Fixed, Orbit, leading};
use crate::base::error::Error;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dwell_kernels::Fold;
use dwell_kernels::deep::mantissa::Complex;
use dwell_kernels::deep::values::{Far, SMOOTH_BITS, Units, Values};

/// log2 of the norm beyond which an orbit is not followed further: |z| > 256.
const NORM_EXPONENT: usize = 16;
/// The most further steps.
const MOST_STEPS: u64 = 200;

/// z_m and its derivative are known well enough for f64 from here on.
const KNOWN: f64 = 1.0 / (1_u64 << 48) as f64;

/// The values that are wanted of points that escape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The smooth value.
    pub(crate) smooth: bool,
    /// Distance and slope, with what they are expressed in and the power of two of its unit.
    pub(crate) units: Option<(&'a Units, i64)>,
}

impl Wanted<'_> {
    pub(super) fn is_any(self) -> bool {
        self.smooth || self.units.is_some()
    }
}

impl ArbitraryPrecision<'_> {
    /// The values of a point that escapes at n, where an attempt ended; `None` where the bits do not suffice.
    pub(super) fn values(
        self,
        n: u64,
        attempt: Attempt,
        (bits, is_last): (usize, bool),
        wanted: Wanted<'_>,
    ) -> Result<Option<Values>, Error> {
        let Attempt { mut orbit, c, .. } = attempt;
        let beyond = IBig::ONE << (2 * bits + NORM_EXPONENT);
        for m in n..=n.saturating_add(MOST_STEPS) {
            self.cancel.check()?;
            let (xx, yy, modulus) = orbit.z.squares();
            let error = orbit.z.error;
            let slack = modulus.times(error).times(Bound::TWO).plus(error.times(error));
            let norm = &xx + &yy;
            let difference = &norm - &beyond;
            if Bound::below(&difference) <= slack {
                return Ok(None);
            }
            if difference > IBig::ZERO {
                let norm = (norm.unsigned_abs(), slack);
                let is_last = is_last && self.map.formula.fold() == Fold::Absolute;
                return Ok(values_at((m, self.map.formula.power()), &orbit, norm, (bits, is_last), wanted));
            }
            orbit = self.next(orbit, &c, (xx, yy, modulus), bits);
        }
        Ok(None)
    }
}

fn values_at(
    (m, power): (u64, u32),
    orbit: &Orbit,
    norm: (UBig, Bound),
    (bits, is_last): (usize, bool),
    wanted: Wanted<'_>,
) -> Option<Values> {
    let mut values = Values::default();
    if wanted.smooth {
        values.smooth = units((m, power), norm, bits, SMOOTH_BITS)?;
    }
    if let (Some((units, scale)), Some([first, rest @ ..])) = (wanted.units, orbit.derivative.as_deref()) {
        let (z, mut d) = (in_f64(&orbit.z), in_f64(first));
        let mut second = rest.first().map(in_f64);
        if let Some(second) = &mut second {
            d.join(second);
        }
        let places = i64::try_from(bits).ok()?;
        let power = |exponent: i64| 2_f64.powi(i32::try_from(exponent).unwrap_or(0));
        let w =
            Complex { re: z.mantissa.re * power(z.exponent - places), im: z.mantissa.im * power(z.exponent - places) };
        let far = Far {
            w: (w, z.relative),
            d: (d.mantissa, d.relative),
            second: second.map(|second| second.mantissa),
            exponent: d.exponent - places + scale,
        };
        // On a line where a fold is not differentiable no bits decide the sign of a derivative, which is then that of a positive number.
        let is_known = is_last || z.relative < KNOWN && d.relative < KNOWN;
        let found = far.values(units).or_else(|| is_known.then(|| far.nearest_values(units)));
        (values.distance, values.slope) = found?;
    }
    Some(values)
}

/// A complex number, mantissa 2^exponent, with a bound on its relative error.
struct InF64 {
    mantissa: Complex<f64>,
    exponent: i64,
    relative: f64,
}

impl InF64 {
    /// Expresses this and another number in one unit, in which the larger one has its own mantissa, with bounds relative to that one.
    fn join(&mut self, other: &mut Self) {
        let is_zero = |of: &Self| of.mantissa.re == 0.0 && of.mantissa.im == 0.0;
        let exponent = match (is_zero(self), is_zero(other)) {
            (true, _) => other.exponent,
            (_, true) => self.exponent,
            _ => self.exponent.max(other.exponent),
        };
        let mut relative: f64 = 0.0;
        for of in [&mut *self, other] {
            let gap = (exponent - of.exponent).clamp(0, 1000);
            let by = 2_f64.powi(-i32::try_from(gap).unwrap_or(1000));
            of.mantissa = Complex { re: of.mantissa.re * by, im: of.mantissa.im * by };
            // A mantissa is below 3, and one of them at least 1.
            relative = relative.max(if by == 1.0 { of.relative } else { 3.0 * by * of.relative });
            of.exponent = exponent;
        }
        (self.relative, other.relative) = (relative, relative);
    }
}

fn in_f64(z: &Fixed) -> InF64 {
    let [(x, of_x), (y, of_y)] = [leading(&z.x), leading(&z.y)];
    let exponent = match (x > 0.0, y > 0.0) {
        (true, true) => of_x.max(of_y),
        (true, false) => of_x,
        _ => of_y,
    };
    let part = |v: &IBig, m: f64, e: i64| {
        let m = m * 2_f64.powi(i32::try_from((e - exponent).max(-1000)).unwrap_or(0));
        if *v < IBig::ZERO { -m } else { m }
    };
    let mantissa = Complex { re: part(&z.x, x, of_x), im: part(&z.y, y, of_y) };
    let modulus = Bound::up((mantissa.re * mantissa.re + mantissa.im * mantissa.im).sqrt(), exponent);
    // Each part was cut off below 2^-52 of itself.
    let relative =
        if modulus.is_zero() { f64::INFINITY } else { z.error.over(modulus).to_f64() * (1.0 + 1e-9) + 1e-15 };
    InF64 { mantissa, exponent, relative }
}

/// The smooth value for |z_m|^2 = `norm` 2^(-2 bits), which is off by at most `slack` units.
fn units((m, power): (u64, u32), (norm, slack): (UBig, Bound), bits: usize, fraction_bits: u32) -> Option<i128> {
    let exponent = i64::try_from(2 * bits).ok()?;
    // More than the slack.
    let off = UBig::ONE << usize::try_from(slack.exponent_above().clamp(0, exponent)).ok()?;
    let (low, high) = (&norm - off.clone().min(norm.clone() >> 1_usize), norm + off);
    // Bits of the logarithms.
    let fine = (bits / 2).clamp(64, 256);
    // log2 |z|^2 / 16 as a multiple of 2^-(fine + 4).
    let (low, high) = (log2_below(&low, exponent, fine), log2_below(&high, exponent, fine) + IBig::from(2));
    let scale = i64::try_from(fine + 4).ok()?;
    let of = |inner: IBig| log2_below(&inner.unsigned_abs(), scale, fine);
    let (low, high) = in_powers(power, [of(low), of(high) + IBig::from(2)], fine);
    // Rounded to units.
    let half = IBig::ONE << (fine - fraction_bits as usize - 1);
    let rounded = |fraction: IBig| i128::try_from((fraction + &half) >> (fine - fraction_bits as usize)).ok();
    let (low, high) = (rounded(low)?, rounded(high)?);
    (low == high).then(|| ((i128::from(m) + 1) << fraction_bits) - low)
}

/// The ends of an interval of base-2 logarithms as logarithms to the base of a power, in units of 2^-fine.
fn in_powers(power: u32, [low, high]: [IBig; 2], fine: usize) -> (IBig, IBig) {
    if power == 2 {
        return (low, high);
    }
    let below = log2_below(&UBig::from(power), 0, fine);
    let over = |v: &IBig, by: IBig| (v << fine) / by;
    // A quotient is cut off by less than a unit, and it decreases with the divisor where it is positive.
    let ends = [below.clone(), below + IBig::from(2)];
    let all: Vec<IBig> = [&low, &high].into_iter().flat_map(|v| ends.iter().map(|by| over(v, by.clone()))).collect();
    let least = all.iter().min().cloned().unwrap_or_default() - IBig::ONE;
    let most = all.iter().max().cloned().unwrap_or_default() + IBig::ONE;
    (least, most)
}

/// A multiple of 2^-fine that is at most log2(v 2^-exponent) and less than 2 units below it, for v > 0.
///
/// Each squaring of the significand gives one bit. The square is cut off to 32 bits more than `fine`, which reduces its logarithm by less than
/// 2^-(fine + 31); after i squarings that counts 2^-i, so that all cuts together are far below one unit.
fn log2_below(v: &UBig, exponent: i64, fine: usize) -> IBig {
    let kept = fine + 32;
    let length = v.bit_len();
    let mut m = if length > kept + 1 { v >> (length - kept - 1) } else { v << (kept + 1 - length) };
    let whole = i64::try_from(length).unwrap_or(i64::MAX) - 1 - exponent;
    let mut result = IBig::from(whole);
    for _ in 0..fine {
        m = m.sqr() >> kept;
        result <<= 1_usize;
        if m.bit_len() > kept + 1 {
            result += IBig::ONE;
            m >>= 1_usize;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_below_by_less_than_two_units() {
        // log2 3 = 1.58496250072115618145373894394781650875981440769248...
        let three = log2_below(&UBig::from(3_u8), 0, 100);
        let digits: IBig = "158496250072115618145373894394781650875981440769248".parse().unwrap();
        let exact = (digits << 100_usize) / IBig::from(10_u8).pow(50);
        assert!(three <= exact && exact < &three + IBig::from(2), "{three} {exact}");
        assert_eq!(log2_below(&UBig::from(1024_u16), 3, 80), IBig::from(7) << 80_usize);
    }
}
