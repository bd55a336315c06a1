//! Smooth values of points in arbitrary precision, rounded correctly to a multiple of a power of two.
//!
//! The value is m + 1 - log2(log2 |z_m|^2 / 16), see [`dwell_kernels::smooth`]. It is enclosed in an interval; where both ends round to the same
//! multiple, that is the result (Ziv's strategy), otherwise the caller tries again with more bits. This ends: a value halfway between two
//! multiples would make |z_m|^2 transcendental by the theorem of Gelfond and Schneider, and it is rational for a rational point.

use super::{ArbitraryPrecision, Bound, Fixed};
use crate::base::error::Error;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// log2 of the norm beyond which an orbit is not followed further: |z| > 256.
const NORM_EXPONENT: usize = 16;
/// The most further steps.
const MOST_STEPS: u32 = 200;

impl ArbitraryPrecision<'_> {
    /// The smooth value of a point that escapes at n with z_n = `z`, in units of 2^-`fraction_bits`; `None` where the bits do not
    /// suffice.
    pub(super) fn smooth_units(
        self,
        n: u32,
        mut z: Fixed,
        c: &Fixed,
        bits: usize,
        fraction_bits: u32,
    ) -> Result<Option<i64>, Error> {
        let beyond = IBig::ONE << (2 * bits + NORM_EXPONENT);
        for m in n..=n.saturating_add(MOST_STEPS) {
            self.cancel.check()?;
            let (xx, yy, modulus) = z.squares();
            let slack = modulus.times(z.error).times(Bound::TWO).plus(z.error.times(z.error));
            let norm = &xx + &yy;
            let difference = &norm - &beyond;
            if Bound::below(&difference) <= slack {
                return Ok(None);
            }
            if difference > IBig::ZERO {
                return Ok(units(m, norm.unsigned_abs(), slack, bits, fraction_bits));
            }
            z = self.next(z, c, (xx, yy, modulus), bits);
        }
        Ok(None)
    }
}

/// The smooth value for |z_m|^2 = `norm` 2^(-2 bits), which is off by at most `slack` units.
fn units(m: u32, norm: UBig, slack: Bound, bits: usize, fraction_bits: u32) -> Option<i64> {
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
    let (low, high) = (of(low), of(high) + IBig::from(2));
    // Rounded to units.
    let half = IBig::ONE << (fine - fraction_bits as usize - 1);
    let rounded = |fraction: IBig| i64::try_from((fraction + &half) >> (fine - fraction_bits as usize)).ok();
    let (low, high) = (rounded(low)?, rounded(high)?);
    (low == high).then(|| ((i64::from(m) + 1) << fraction_bits) - low)
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
