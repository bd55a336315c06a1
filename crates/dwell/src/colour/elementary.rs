//! The elementary functions that palettes need, with the same bits on every machine.
//!
//! Mathematics libraries differ in their last bits, and colours must not. The functions here consist of IEEE additions,
//! multiplications, divisions, fused multiply-adds (all correctly rounded) and integer operations in a fixed order. The
//! errors stated are those found by the tests against the standard library's functions, which are within 1 ulp on the
//! machines tested.

use dwell_kernels::log2::log2_each;
use dwell_kernels::{Level, LevelName};
use std::f64::consts::{LN_2, TAU};

/// Bits of sqrt(1/2): subtracting them carries into the exponent just when the significand is at least sqrt(1/2).
const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
const SIGNIFICAND: u64 = (1 << 52) - 1;

/// log2 x for any x >= 0: -infinity at 0, NaN where x is negative or NaN. Within 4 ulp.
pub(crate) fn log2(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        f64::INFINITY => x,
        _ if x > 0.0 => {
            let (m, e) = split(x);
            // With e = 0 nothing cancels; otherwise e is the larger term, and the kernel computes the same sum.
            e + kernel_log2(m)
        }
        _ => f64::NAN,
    }
}

/// 2^x for any x: 0 and infinity beyond the range. Within 2 ulp where the result is a normal number.
pub(crate) fn exp2(x: f64) -> f64 {
    exp2_sum(x, 0.0)
}

/// x^y for x >= 0, with 0^0 = 1; NaN where x is negative or either is NaN. Within 4 ulp for |y| <= 2.5; for larger |y|
/// the relative error is about |y| 2^-53.
pub(super) fn power(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if !(x > 0.0 && x < f64::INFINITY) {
        let beyond = if y > 0.0 { x } else { 1.0 / x };
        return if x >= 0.0 && !y.is_nan() { beyond } else { f64::NAN };
    }
    if !y.is_finite() {
        return if y.is_nan() { y } else { exp2(log2(x) * y) };
    }
    // y log2 x = y e + y log2 m. The first term, which may be large, is kept exactly as the sum of two numbers, so that
    // its integer part, which becomes the exponent, costs no precision.
    let (m, e) = split(x);
    let whole = y * e;
    let lost = y.mul_add(e, -whole);
    if !whole.is_finite() {
        return exp2(whole);
    }
    exp2_sum(whole, y.mul_add(kernel_log2(m), lost))
}

/// sin(2 pi t) for any finite t: exact at multiples of a quarter. Within 2 ulp of the sine of the exact angle for
/// |t| <= 1/2; for larger |t| with the same absolute error.
pub(super) fn sine_of_turns(t: f64) -> f64 {
    // Both steps are exact: subtract the nearest integer, then reflect about a quarter turn.
    let t = t - t.round();
    let folded = if t.abs() > 0.25 { 0.5 - t.abs() } else { t.abs() };
    let size = if folded <= 0.125 { sine(TAU * folded) } else { cosine(TAU * (0.25 - folded)) };
    if t < 0.0 { -size } else { size }
}

/// The angle of the point (x, y), counter-clockwise from the positive x axis, in turns: 0 to below 1, and 0 at the origin.
/// Within 2^-52 turns. Neither is NaN or infinite.
pub(super) fn turns_of(x: f64, y: f64) -> f64 {
    const EIGHTH: f64 = 0.125;
    /// tan(pi / 8).
    const TANGENT: f64 = 0.414_213_562_373_095_03;
    let (long, short) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    if long == 0.0 {
        return 0.0;
    }
    // From the nearer axis, 0 to 1/8.
    let t = short / long;
    let octant = if t > TANGENT { EIGHTH + arctangent((t - 1.0) / (t + 1.0)) / TAU } else { arctangent(t) / TAU };
    let quadrant = if y.abs() > x.abs() { 0.25 - octant } else { octant };
    let half = if x < 0.0 { 0.5 - quadrant } else { quadrant };
    // Just below the positive x axis, the difference may round to 1.
    let turns = if y < 0.0 { 1.0 - half } else { half };
    if turns < 1.0 { turns } else { 0.0 }
}

/// arctan t for |t| <= tan(pi / 8), by its series to t^43.
fn arctangent(t: f64) -> f64 {
    let q = t * t;
    let mut series = 0.0;
    for k in (1..=21_u32).rev() {
        let term = 1.0 / f64::from(2 * k + 1);
        series = q.mul_add(series, if k % 2 == 1 { -term } else { term });
    }
    (q * series).mul_add(t, t)
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x.
fn split(x: f64) -> (f64, f64) {
    const TWO_TO_54: f64 = 18_014_398_509_481_984.0;
    let (x, moved) = if x < f64::MIN_POSITIVE { (x * TWO_TO_54, 54.0) } else { (x, 0.0) };
    // As in the kernel; adding 1024 keeps the exponent positive.
    let shifted = x.to_bits() + ((1024 << 52) - SQRT_HALF_BITS);
    let m = f64::from_bits((shifted & SIGNIFICAND) + SQRT_HALF_BITS);
    (m, (shifted >> 52) as f64 - 1024.0 - moved)
}

/// The kernel's logarithm of one number. Every level gives the same result; every machine has the scalar one.
fn kernel_log2(x: f64) -> f64 {
    let mut value = [x];
    log2_each(Level::get(LevelName::Scalar).unwrap_or_else(Level::best), &mut value);
    value[0]
}

/// 2^(a + b), where |b| is small or not much greater than |a|.
fn exp2_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_nan() || sum >= 1025.0 {
        return if sum.is_nan() { sum } else { f64::INFINITY };
    }
    if sum < -1080.0 {
        return 0.0;
    }
    let whole = sum.round();
    // a - whole is exact: both are multiples of the last place of a, and their difference is small.
    let t = ((a - whole) + b) * LN_2;
    // e^t by its series: |t| < 0.35, so the terms after t^13 / 13! sum to less than 2^-57.
    let mut series = 1.0 / 6_227_020_800.0;
    for one_over in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        series = t.mul_add(series, one_over);
    }
    // Two factors of 2^whole, each a normal number, so that results at both ends of the range are rounded once.
    #[expect(clippy::cast_possible_truncation, reason = "-1080 <= whole <= 1025")]
    let whole = whole as i64;
    let half = whole / 2;
    let two_to = |e: i64| f64::from_bits((e + 1023).unsigned_abs() << 52);
    series * two_to(half) * two_to(whole - half)
}

/// sin x for |x| <= pi / 4, by its series to x^17.
fn sine(x: f64) -> f64 {
    let q = x * x;
    let mut series = 1.0 / 355_687_428_096_000.0;
    for one_over in [
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
    ] {
        series = q.mul_add(series, one_over);
    }
    (q * series).mul_add(x, x)
}

/// cos x for |x| <= pi / 4, by its series to x^16.
fn cosine(x: f64) -> f64 {
    let q = x * x;
    let mut series = 1.0 / 20_922_789_888_000.0;
    for one_over in [
        -1.0 / 87_178_291_200.0,
        1.0 / 479_001_600.0,
        -1.0 / 3_628_800.0,
        1.0 / 40_320.0,
        -1.0 / 720.0,
        1.0 / 24.0,
        -0.5,
        1.0,
    ] {
        series = q.mul_add(series, one_over);
    }
    series
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the functions of the standard library are the reference")]
mod tests {
    use super::*;

    fn ulps(a: f64, b: f64) -> f64 {
        let ulp = f64::from_bits(b.abs().to_bits() + 1) - b.abs();
        (a - b).abs() / ulp
    }

    /// Numbers from 0 to 1, evenly distributed without a period.
    fn units() -> impl Iterator<Item = f64> {
        (1..=100_000).map(|i| (f64::from(i) * 0.618_033_988_749_895).fract())
    }

    #[test]
    fn logarithms_and_exponentials_are_within_their_bounds() {
        for u in units() {
            for x in [u + 0.5, u * 1e300, u * 1e-300 + f64::MIN_POSITIVE, u * 1e-310 + 5e-324] {
                assert!(ulps(log2(x), x.log2()) <= 4.0, "{x:e}: {:e} {:e}", log2(x), x.log2());
            }
            for x in [u - 0.5, u * 2040.0 - 1020.0, u * 20.0 - 10.0] {
                assert!(ulps(exp2(x), x.exp2()) <= 2.0, "{x:e}");
            }
        }
        for e in -1074..1024 {
            let x = f64::from(e);
            assert_eq!(exp2(x), x.exp2());
            assert_eq!(log2(x.exp2()), x);
        }
        assert_eq!((log2(0.0), log2(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(log2(-1.0).is_nan() && log2(f64::NAN).is_nan() && exp2(f64::NAN).is_nan());
        assert_eq!((exp2(1024.0), exp2(1e300), exp2(-1e300), exp2(-1075.5)), (f64::INFINITY, f64::INFINITY, 0.0, 0.0));
        assert_eq!((exp2(f64::INFINITY), exp2(f64::NEG_INFINITY)), (f64::INFINITY, 0.0));
    }

    #[test]
    fn powers_are_within_their_bounds() {
        for u in units() {
            for y in [2.4, 1.0 / 2.4, 0.5, -1.3, 2.5] {
                for x in [u, u * 1e-4, u * 9.0] {
                    assert!(ulps(power(x, y), x.powf(y)) <= 4.0, "{x:e}^{y}: {:e} {:e}", power(x, y), x.powf(y));
                }
            }
            let (a, b) = (power(u, 33.2), u.powf(33.2));
            assert!((a - b).abs() <= b * 33.2 * f64::EPSILON || b < 1e-300);
        }
        for x in [0.0, 1e-320, 0.3, 1.0, 7.0, f64::INFINITY] {
            for y in [f64::NEG_INFINITY, -1e308, -1.0, 0.0, 0.5, 1e308, f64::INFINITY] {
                let (a, b) = (power(x, y), x.powf(y));
                assert!(a == b || (a - b).abs() <= 1e-15 * b.abs(), "{x:e}^{y:e}: {a:e} {b:e}");
            }
        }
        assert!(power(-1.0, 2.0).is_nan() && power(f64::NAN, 2.0).is_nan() && power(2.0, f64::NAN).is_nan());
    }

    #[test]
    fn angles_are_those_of_the_standard_library() {
        for u in units() {
            for (x, y) in
                [(u, 1.0 - u), (u - 0.5, 0.3), (-u, -0.7), (0.2, u - 1.0), (1e-300, 1e-300 * u), (-1.0, 1e-9 * u)]
            {
                let expected = y.atan2(x) / TAU;
                let expected = if expected < 0.0 { expected + 1.0 } else { expected };
                assert!((turns_of(x, y) - expected).abs() < 2.3e-16, "{x} {y}: {} {expected}", turns_of(x, y));
            }
        }
        let axes = [(1.0, 0.0, 0.0), (1.0, 1.0, 0.125), (0.0, 2.0, 0.25), (-3.0, 0.0, 0.5), (0.0, -1.0, 0.75)];
        assert!(axes.into_iter().all(|(x, y, turns)| turns_of(x, y) == turns));
        assert_eq!((turns_of(0.0, 0.0), turns_of(1.0, -1e-300), turns_of(2.0, -0.0)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn sines_are_within_their_bounds() {
        let quarters = [0.0, 1.0, 0.0, -1.0];
        for i in -8..8_i32 {
            assert_eq!(sine_of_turns(f64::from(i) / 4.0), quarters[usize::try_from(i.rem_euclid(4)).unwrap()]);
        }
        for u in units() {
            // The angle is small enough that rounding 2 pi t changes the standard library's sine by less than an ulp.
            let t = u * 0.25 - 0.125;
            assert!(ulps(sine_of_turns(t), (TAU * t).sin()) <= 2.0, "{t}");
            let t = u * 2.0 - 1.0;
            assert!((sine_of_turns(t) - (TAU * t).sin()).abs() < 1e-15, "{t}");
        }
        assert!((sine_of_turns(1.0 / 12.0) - 0.5).abs() < 1e-16);
    }
}
