//! The numbers that kernels iterate in: IEEE 754 binary32 and binary64.

use crate::real::Real;
use fearless_simd::SimdFloatElement;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A machine number: `f32` or `f64`.
pub trait Number: Real + SimdFloatElement + sealed::Sealed + Send + Sync + 'static {
    /// Its name as users write it: `f32` or `f64`.
    const NAME: &'static str;
    /// Bits of the significand, the implicit one included: 24 or 53.
    const SIGNIFICAND_BITS: u32;
    /// Exponent of the smallest normal number as in 2^e: -126 or -1022.
    const MIN_EXPONENT: i64;
    /// Exponent of the largest finite numbers as in 2^e: 127 or 1023.
    const MAX_EXPONENT: i64;
    /// The margin kappa of [`crate::escape`]'s argument that a late test still sees an escape, far above the rounding
    /// error of one step (16 u = 2^-20 in f32, 2^-49 in f64) and small enough that hardly a pixel falls under it.
    const LATE_TEST_MARGIN: Self;

    /// `significand * 2^exponent`, exactly; the caller has rounded: `significand` has at most
    /// [`Self::SIGNIFICAND_BITS`] bits and the value is representable.
    fn from_parts(negative: bool, significand: u64, exponent: i64) -> Self;
    /// How far inside the main cardioid a point must be for [`crate::interior`]'s proof: delta, where the multiplier of
    /// the fixed point has a modulus of at most 1 - delta. In the recipe `fused`, then in `separate`.
    const CARDIOID_MARGINS: [f64; 2];
    /// The same for the disc of period 2 and the multiplier of its cycle.
    const DISC_MARGINS: [f64; 2];

    /// An integer carried in the bits, to be moved about with numbers and not to be reckoned with.
    #[doc(hidden)]
    fn carrying(integer: u32) -> Self;
    /// The integer that [`Self::carrying`] put there.
    #[doc(hidden)]
    fn carried(self) -> u32;
    /// The nearest number.
    fn nearest(value: f64) -> Self;
    /// A whole number below 2^20 as an integer, without a conversion instruction.
    #[doc(hidden)]
    fn small_to_u32(self) -> u32;
    /// The value as f64: exact for both numbers.
    fn to_f64(self) -> f64;
    /// The distance to the next number of greater magnitude in the same binade, as a power of two's exponent; the
    /// subnormal spacing for values under the smallest normal number.
    fn ulp_exponent(self) -> i64;
}

/// 2^e for e in -1022..=1023.
fn power_of_two(e: i64) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

macro_rules! number {
    ($t:ident, $bits:literal, $min:literal, $max:literal, $margin:expr, $cardioid:expr, $disc:expr) => {
        impl Number for $t {
            const NAME: &'static str = stringify!($t);
            const SIGNIFICAND_BITS: u32 = $bits;
            const MIN_EXPONENT: i64 = $min;
            const MAX_EXPONENT: i64 = $max;
            const LATE_TEST_MARGIN: Self = $margin;
            const CARDIOID_MARGINS: [f64; 2] = $cardioid;
            const DISC_MARGINS: [f64; 2] = $disc;

            #[allow(clippy::cast_precision_loss, reason = "the caller has rounded: nothing is lost")]
            #[allow(clippy::cast_possible_truncation, reason = "f64 to f32 of a value that f32 holds")]
            fn from_parts(negative: bool, significand: u64, exponent: i64) -> Self {
                // Two exact factors, since 2^exponent alone may be below the smallest subnormal f64.
                let half = exponent / 2;
                let magnitude = significand as f64 * power_of_two(half) * power_of_two(exponent - half);
                let magnitude = magnitude as $t;
                if negative { -magnitude } else { magnitude }
            }

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_lossless,
                reason = "the low bits are what is wanted"
            )]
            fn small_to_u32(self) -> u32 {
                const SHIFT: $t = (1_u64 << ($bits - 1)) as $t;
                (self + SHIFT).to_bits() as u32 & 0xf_ffff
            }

            #[inline(always)]
            fn carrying(integer: u32) -> Self {
                Self::from_bits(integer.into())
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::cast_lossless, reason = "what was put there has 32 bits")]
            fn carried(self) -> u32 {
                self.to_bits() as u32
            }

            #[allow(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
            fn nearest(value: f64) -> Self {
                value as $t
            }

            fn to_f64(self) -> f64 {
                #[allow(clippy::useless_conversion, reason = "one text for both numbers")]
                f64::from(self)
            }

            #[allow(
                clippy::cast_possible_wrap,
                clippy::cast_lossless,
                reason = "a biased exponent has 11 bits at most"
            )]
            fn ulp_exponent(self) -> i64 {
                let biased = (self.abs().to_bits() >> ($bits - 1)) as i64;
                biased.max(1) - $max - ($bits - 1)
            }
        }
    };
}

number!(f32, 24, -126, 127, 1.0 / 65536.0, [1.0 / 37.0, 1.0 / 30.0], [1.0 / 14.0, 1.0 / 11.0]);
number!(
    f64,
    53,
    -1022,
    1023,
    1.0 / 17_592_186_044_416.0,
    [1.0 / 30_000.0, 1.0 / 24_000.0],
    [1.0 / 11_000.0, 1.0 / 9_000.0]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_number_that_they_name() {
        assert_eq!(f64::from_parts(false, 3, -1), 1.5);
        assert_eq!(f64::from_parts(true, 1, -1074), -f64::from_bits(1));
        assert_eq!(f64::from_parts(false, (1 << 53) - 1, 971), f64::MAX);
        assert_eq!(f32::from_parts(false, (1 << 24) - 1, 104), f32::MAX);
        assert_eq!(f32::from_parts(false, 1, -149), f32::from_bits(1));
    }

    #[test]
    fn ulps() {
        assert_eq!(1.0_f64.ulp_exponent(), -52);
        assert_eq!(1.999_f64.ulp_exponent(), -52);
        assert_eq!(2.0_f32.ulp_exponent(), -22);
        assert_eq!((-0.75_f64).ulp_exponent(), -53);
        assert_eq!(0.0_f64.ulp_exponent(), -1074);
        assert_eq!(f32::from_bits(7).ulp_exponent(), -149);
        assert_eq!(f64::MAX.ulp_exponent(), 971);
    }
}
