//! The number types that kernels iterate in: IEEE 754 binary32 and binary64.

use crate::arithmetic::Arithmetic;
use fearless_simd::SimdFloatElement;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A machine number: `f32` or `f64`.
pub trait Number: Arithmetic + SimdFloatElement + sealed::Sealed + Send + Sync + 'static {
    /// The name as users write it: `f32` or `f64`.
    const NAME: &'static str;
    /// Bits of the significand, including the implicit one: 24 or 53.
    const SIGNIFICAND_BITS: u32;
    /// The exponent e of the smallest normal number 2^e: -126 or -1022.
    const MIN_EXPONENT: i64;
    /// The exponent e of the largest power of two 2^e: 127 or 1023.
    const MAX_EXPONENT: i64;
    /// The margin kappa of the proof in `escape/late.rs` that a late test still detects an escape: far above the
    /// rounding error of one step (16 u = 2^-20 in f32, 2^-49 in f64) and so small that few pixels lie within it.
    const LATE_TEST_MARGIN: Self;

    /// The number just below 4. |z|^2 > this number is |z|^2 >= 4, the test of several publications.
    const BELOW_FOUR: Self;

    /// The number `significand * 2^exponent`, negated if `negative`, exactly. The caller has already rounded:
    /// `significand` has at most [`Self::SIGNIFICAND_BITS`] bits and the value is representable.
    fn from_parts(negative: bool, significand: u64, exponent: i64) -> Self;
    /// The margin delta of the cardioid in the proof of [`crate::interior`]: points are proved to be interior where the
    /// multiplier of the fixed point has a modulus of at most 1 - delta. First for the recipe `fused`, then for
    /// `separate`.
    const CARDIOID_MARGINS: [f64; 2];
    /// The margin delta of the period-2 disc, for the multiplier of its cycle, in the same order.
    const DISC_MARGINS: [f64; 2];

    /// A number whose low bits are `integer`, so that an integer can be moved through vectors of numbers. The result is
    /// not meant for arithmetic.
    #[doc(hidden)]
    fn from_low_bits(integer: u32) -> Self;
    /// The integer passed to [`Self::from_low_bits`].
    #[doc(hidden)]
    fn low_bits(self) -> u32;
    /// The number nearest to `value`.
    fn nearest(value: f64) -> Self;
    /// Converts an integer in 0..2^20 held as a number, without a conversion instruction.
    #[doc(hidden)]
    fn small_to_u32(self) -> u32;
    /// The value as f64, which is exact for both types.
    fn to_f64(self) -> f64;
    /// The exponent e of the distance 2^e to the next number of greater magnitude in the same binade; for values below
    /// the smallest normal number, that of the subnormal spacing.
    fn ulp_exponent(self) -> i64;
}

/// 2^e, for e in -1022..=1023.
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
            const BELOW_FOUR: Self = (4.0 as $t).next_down();
            const CARDIOID_MARGINS: [f64; 2] = $cardioid;
            const DISC_MARGINS: [f64; 2] = $disc;

            fn from_parts(negative: bool, significand: u64, exponent: i64) -> Self {
                // Two exact factors, because 2^exponent alone may be below the smallest subnormal f64.
                let half = exponent / 2;
                let magnitude = significand as f64 * power_of_two(half) * power_of_two(exponent - half);
                let magnitude = magnitude as $t;
                if negative { -magnitude } else { magnitude }
            }

            #[inline(always)]
            fn small_to_u32(self) -> u32 {
                const SHIFT: $t = (1_u64 << ($bits - 1)) as $t;
                (self + SHIFT).to_bits() as u32 & 0xf_ffff
            }

            #[inline(always)]
            fn from_low_bits(integer: u32) -> Self {
                Self::from_bits(integer.into())
            }

            #[inline(always)]
            fn low_bits(self) -> u32 {
                self.to_bits() as u32
            }

            fn nearest(value: f64) -> Self {
                value as $t
            }

            fn to_f64(self) -> f64 {
                #[allow(clippy::useless_conversion, reason = "the conversion is needed for f32 only")]
                f64::from(self)
            }

            #[allow(
                clippy::cast_possible_wrap,
                clippy::cast_lossless,
                reason = "a biased exponent has at most 11 bits; one lint fires for f64 only, the other for f32 only"
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
    fn from_parts_returns_the_exact_value() {
        assert_eq!(f64::from_parts(false, 3, -1), 1.5);
        assert_eq!(f64::from_parts(true, 1, -1074), -f64::from_bits(1));
        assert_eq!(f64::from_parts(false, (1 << 53) - 1, 971), f64::MAX);
        assert_eq!(f32::from_parts(false, (1 << 24) - 1, 104), f32::MAX);
        assert_eq!(f32::from_parts(false, 1, -149), f32::from_bits(1));
    }

    #[test]
    fn ulp_exponents() {
        assert_eq!(1.0_f64.ulp_exponent(), -52);
        assert_eq!(1.999_f64.ulp_exponent(), -52);
        assert_eq!(2.0_f32.ulp_exponent(), -22);
        assert_eq!((-0.75_f64).ulp_exponent(), -53);
        assert_eq!(0.0_f64.ulp_exponent(), -1074);
        assert_eq!(f32::from_bits(7).ulp_exponent(), -149);
        assert_eq!(f64::MAX.ulp_exponent(), 971);
    }
}
