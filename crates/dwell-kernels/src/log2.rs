//! The base-2 logarithm, the only logarithm that affects pixels.
//!
//! Mathematics libraries differ in the last bits from one another and from one release to the next, and colours must
//! not. So this is the only logarithm used on the way to a picture: integer operations, additions, multiplications, one
//! division and fused multiply-adds in one fixed order, the same on every level.
//!
//! With x = m 2^e, m in [sqrt(1/2), sqrt(2)), and s = (m - 1) / (m + 1): log2 x = e + (2 / ln 2) (s + s^3/3 + s^5/5 +
//! ...), from artanh. |s| < 0.1716, so 11 terms leave under 2^-60 of s. Error against a correctly rounded logarithm: at
//! most 2.5 ulp on [2^-1022, 2^1024) (tested on 200,000 values).

use crate::arithmetic::Arithmetic;
use crate::level::{Kernel, Level};
use crate::vector::Vector;
use fearless_simd::{Bytes, Simd, SimdBase};

/// Terms of the series.
pub const TERMS: usize = 11;
/// 2 / ln 2, rounded to nearest.
pub const TWO_OVER_LN_2: f64 = 2.885_390_081_777_926_8;
/// Coefficients 2 / (ln 2 (2k + 1)) for k = 0..=10, nearest doubles.
const COEFFICIENTS: [f64; TERMS] = {
    let mut c = [0.0; TERMS];
    let mut k = 0;
    while k < TERMS {
        c[k] = TWO_OVER_LN_2 / (2 * k + 1) as f64;
        k += 1;
    }
    c
};
/// The rounding error of [`TWO_OVER_LN_2`]: 2 / ln 2 less that constant, rounded to nearest.
pub const FIRST_LOW: f64 = 4.071_054_748_186_206_6e-17;
/// The bits of sqrt(1/2). Subtracting them from the bits of x borrows from the exponent exactly when the significand of
/// x is below that of sqrt(1/2).
pub const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
/// A mask of the stored bits of the significand.
const SIGNIFICAND: u64 = (1 << 52) - 1;

/// The base-2 logarithm of each lane, for positive normal numbers.
#[inline(always)]
pub(crate) fn log2<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let bits: S::u64s = x.bitcast();
    let shifted = bits - S::u64s::splat(simd, SQRT_HALF_BITS);
    // e + 1024 is positive. It is placed in the significand of 2^52, and subtracting 2^52 + 1024 then leaves e. This is
    // exact and needs no conversion instruction, which not every level has.
    let biased = (shifted + S::u64s::splat(simd, 1024 << 52)) >> 52;
    let e = (biased + S::u64s::splat(simd, TWO_TO_52.to_bits())).bitcast::<S::f64s>()
        - S::f64s::splat(simd, TWO_TO_52 + 1024.0);
    let m_bits = (shifted & S::u64s::splat(simd, SIGNIFICAND)) + S::u64s::splat(simd, SQRT_HALF_BITS);
    let m = m_bits.bitcast::<S::f64s>();

    let one = S::f64s::splat(simd, 1.0);
    let s = Vector::<S, f64>((m - one) / (m + one));
    let q = s.mul(s);
    let mut p = Vector::splat(simd, COEFFICIENTS[TERMS - 1]);
    let mut k = TERMS - 2;
    while k >= 1 {
        p = p.fma(q, Vector::splat(simd, COEFFICIENTS[k]));
        k -= 1;
    }
    // (p q + low) s is small beside C0 s. C0 s is added last, so that its rounding dominates the error.
    let p = p.fma(q, Vector::splat(simd, FIRST_LOW));
    let correction = p.mul(s);
    let log2_m = s.fma(Vector::splat(simd, COEFFICIENTS[0]), correction);
    (Vector::<S, f64>(e)).add(log2_m).0
}

/// Replaces every value by its base-2 logarithm. The results have the same bits on every level and do not depend on the
/// number of values or on their positions in the slice.
///
/// Values are positive normal numbers; the result for any other value is unspecified (this is not an error).
pub fn log2_each(level: Level, values: &mut [f64]) {
    level.run(Log2Kernel(values));
}

/// The kernel of [`log2_each`].
struct Log2Kernel<'a>(&'a mut [f64]);

/// At least the number of lanes of the widest vector.
const MAX_LANES: usize = 16;

impl Kernel for Log2Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) {
        let len = S::f64s::LEN;
        let mut vectors = self.0.chunks_exact_mut(len);
        for x in &mut vectors {
            log2(simd, S::f64s::from_slice(simd, x)).store_slice(x);
        }
        // The remainder is padded with ones: the same operations give the same bits.
        let rest = vectors.into_remainder();
        let mut padded = [1.0; MAX_LANES];
        padded[..rest.len()].copy_from_slice(rest);
        let padded = &mut padded[..len];
        log2(simd, S::f64s::from_slice(simd, padded)).store_slice(padded);
        rest.copy_from_slice(&padded[..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// log2 to about 100 bits: e + 2 / ln 2 artanh(s) in double-double arithmetic, with 40 terms of the series.
    fn reference(x: f64) -> (f64, f64) {
        #[derive(Clone, Copy)]
        struct Dd(f64, f64);
        fn two_sum(a: f64, b: f64) -> Dd {
            let s = a + b;
            let t = s - a;
            Dd(s, (a - (s - t)) + (b - t))
        }
        fn add(a: Dd, b: Dd) -> Dd {
            let s = two_sum(a.0, b.0);
            two_sum(s.0, s.1 + a.1 + b.1)
        }
        fn mul(a: Dd, b: Dd) -> Dd {
            let p = a.0 * b.0;
            two_sum(p, a.0.mul_add(b.0, -p) + a.0 * b.1 + a.1 * b.0)
        }
        fn div(a: Dd, b: Dd) -> Dd {
            let q = a.0 / b.0;
            let r = add(a, {
                let m = mul(Dd(q, 0.0), b);
                Dd(-m.0, -m.1)
            });
            two_sum(q, (r.0 + r.1) / b.0)
        }
        let mut e = 0;
        let mut m = x;
        while m >= std::f64::consts::SQRT_2 {
            m /= 2.0;
            e += 1;
        }
        while m < std::f64::consts::FRAC_1_SQRT_2 {
            m *= 2.0;
            e -= 1;
        }
        let s = div(two_sum(m, -1.0), two_sum(m, 1.0));
        let q = mul(s, s);
        let (mut power, mut sum) = (s, Dd(0.0, 0.0));
        for k in 0..40 {
            sum = add(sum, div(power, Dd(f64::from(2 * k + 1), 0.0)));
            power = mul(power, q);
        }
        let scale = Dd(COEFFICIENTS[0], FIRST_LOW);
        let r = add(Dd(f64::from(e), 0.0), mul(sum, scale));
        (r.0, r.1)
    }

    #[test]
    fn the_constant_is_two_over_ln_two() {
        // 2 / ln 2 (C0 + low) times ln 2 must be 2 to beyond double precision; ln 2 = hi + lo from its published digits
        // 0.69314718055994530941723212145817656807550013436.
        let (hi, lo) = (std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
        let p = COEFFICIENTS[0] * hi;
        let error = COEFFICIENTS[0].mul_add(hi, -p) + (p - 2.0) + COEFFICIENTS[0] * lo + FIRST_LOW * hi;
        assert!(error.abs() < 1e-31, "{error:e}");
    }

    #[test]
    fn error_is_below_two_and_a_half_ulp_and_levels_agree() {
        let mut x = Vec::new();
        let mut state = 7_u64;
        for i in 0..200_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i | 1);
            let r = state >> 12;
            x.push(match i % 4 {
                // Any normal number; numbers near one; the range of ln|z|; the range of |z|^2.
                0 => f64::from_bits(((state % 2046) + 1) << 52 | r),
                1 => 1.0 + (r as f64 - (1u64 << 51) as f64) * 2f64.powi(-(56 + (i % 40) as i32)),
                2 => 1.0 + r as f64 * 2f64.powi(-52),
                _ => 65536.0 * (1.0 + r as f64 * 2f64.powi(-44)),
            });
        }
        let mut first: Option<Vec<f64>> = None;
        for level in Level::available() {
            let mut y = x.clone();
            log2_each(level, &mut y);
            match &first {
                None => {
                    let mut worst = 0.0_f64;
                    for (x, y) in x.iter().zip(&y) {
                        let (hi, lo) = reference(*x);
                        let ulp = 2f64.powi(i32::try_from(crate::Number::ulp_exponent(hi)).unwrap());
                        worst = worst.max((((y - hi) - lo) / ulp).abs());
                    }
                    assert!(worst < 2.5, "{worst} ulp");
                    first = Some(y);
                }
                Some(first) => {
                    assert!(first.iter().zip(&y).all(|(a, b)| a.to_bits() == b.to_bits()), "{level:?}");
                }
            }
        }
    }

    #[test]
    fn logarithms_of_powers_of_two_are_exact() {
        let x: Vec<f64> = (0..64).map(|e| 2f64.powi(e * 31 - 1000)).collect();
        for level in Level::available() {
            let mut y = x.clone();
            log2_each(level, &mut y);
            for (e, y) in (0..64).zip(y) {
                assert_eq!(y, f64::from(e * 31 - 1000));
            }
        }
    }

    #[test]
    fn results_depend_on_neither_length_nor_position_nor_level() {
        let x: Vec<f64> = (1..=67).map(|i| f64::from(i) * f64::from(i) / 37.0).collect();
        let mut alone = x.clone();
        alone.iter_mut().for_each(|x| log2_each(Level::best(), std::slice::from_mut(x)));
        for level in Level::available() {
            for from in 0..5 {
                for to in from..x.len() {
                    let mut y = x[from..to].to_vec();
                    log2_each(level, &mut y);
                    let same = y.iter().zip(&alone[from..to]).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same, "{level:?}, {from}..{to}");
                }
            }
        }
    }
}
