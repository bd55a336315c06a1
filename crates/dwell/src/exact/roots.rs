//! Numbers that are not decimals, as the nearest decimals: quotients, square roots and angles. Locations of other programs
//! need them, in which a view is given by its corners, by a magnification that is not 4 / height, or by R^2.

use crate::base::error::InputError;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use dashu_int::ops::{DivRem, SquareRoot};
use dashu_int::{IBig, UBig};

/// Fraction bits of angles: 48 digits.
const BITS: usize = 160;
/// Decimals of an angle in degrees.
const DECIMALS: i64 = 30;

/// A quotient as a decimal, and whether that is exact. A value without a finite decimal is rounded towards 0 with at
/// least `digits` significant digits, at most two more.
///
/// # Errors
/// When the result has more than 2,000,000 digits or an exponent beyond 10^6 in absolute value.
pub(crate) fn decimal(value: &Rational, digits: usize) -> Result<(Decimal, bool), InputError> {
    let (digits, exponent, exact) = rounded(value, digits);
    Ok((Decimal::of(digits, exponent)?, exact))
}

/// `number * n / d` as [`decimal`] has it, in a time that does not depend on the exponent; `d` is above 0.
///
/// # Errors
/// As [`decimal`].
pub(crate) fn product(number: &Decimal, n: u32, d: u32, digits: usize) -> Result<(Decimal, bool), InputError> {
    let (significand, exponent) = number.parts();
    let value = Rational::new(significand * IBig::from(n), UBig::from(d));
    let (found, shift, exact) = rounded(&value, digits);
    Ok((Decimal::of(found, shift + exponent)?, exact))
}

/// `n / number`, in the same way; the number is above 0.
///
/// # Errors
/// As [`decimal`].
pub(crate) fn quotient(n: u32, number: &Decimal, digits: usize) -> Result<(Decimal, bool), InputError> {
    let (significand, exponent) = number.parts();
    let value = Rational::new(significand.clone(), UBig::ONE);
    let (found, shift, exact) = rounded(&Rational::whole(n.into()).over(&value), digits);
    Ok((Decimal::of(found, shift - exponent)?, exact))
}

/// Digits and an exponent of ten of a value as [`decimal`] has it, and whether they are exact.
fn rounded(value: &Rational, digits: usize) -> (IBig, i64, bool) {
    let (num, den) = value.parts();
    let mut rest = den.clone();
    let mut times = |factor: u8| rest.remove(&UBig::from(factor)).unwrap_or(0);
    let (twos, fives) = (times(2), times(5));
    let (quotient, left) = num.clone().div_rem(IBig::from(rest));
    if left == IBig::ZERO {
        let decimals = twos.max(fives);
        let factor = UBig::from(2_u8).pow(decimals - twos) * UBig::from(5_u8).pow(decimals - fives);
        let exponent = -i64::try_from(decimals).unwrap_or(i64::MAX);
        return (quotient * IBig::from(factor), exponent, true);
    }
    let scale = decimals_of(value, digits);
    let (num, den) = scaled(num, den, scale);
    (num.div_rem(IBig::from(den)).0, -scale, false)
}

/// The square root of a value of at least 0: exact where it has at most `digits` digits, otherwise rounded down.
///
/// # Errors
/// As [`decimal`].
pub(crate) fn square_root(value: &Rational, digits: usize) -> Result<Decimal, InputError> {
    use dashu_int::ops::UnsignedAbs;
    if value.is_zero() {
        return Ok(Decimal::from(0));
    }
    let (num, den) = value.parts();
    // The root has half the value's exponent.
    let scale = decimals_of(value, 2 * digits).div_euclid(2) + 1;
    let (num, den) = scaled(num, den, 2 * scale);
    Decimal::of(IBig::from((num.unsigned_abs() / den).sqrt()), -scale)
}

/// The angle of the vector (x, y), which is not (0, 0), in degrees from -180 (exclusive) to 180, counter-clockwise from
/// (1, 0): rounded towards 0 after 30 decimals.
///
/// # Errors
/// None for a vector; the error of a decimal is passed on.
pub(crate) fn degrees(x: &Rational, y: &Rational) -> Result<Decimal, InputError> {
    let whole = |n: i64| IBig::from(n) << BITS;
    let (across, up) = (x.magnitude(), y.magnitude());
    // The angle in the first quadrant. The series needs a tangent of at most 1.
    let first = match across.cmp(&up) {
        std::cmp::Ordering::Equal => whole(45),
        std::cmp::Ordering::Greater => in_degrees(&up.over(&across)),
        std::cmp::Ordering::Less => whole(90) - in_degrees(&across.over(&up)),
    };
    let upper = if x.is_positive() || x.is_zero() { first } else { whole(180) - first };
    let angle = if y.is_positive() || y.is_zero() { upper } else { -upper };
    let scaled = angle * IBig::from(10).pow(usize::try_from(DECIMALS).unwrap_or(0));
    Decimal::of(scaled.div_rem(IBig::from(1) << BITS).0, -DECIMALS)
}

/// The arctangent of 0 to 1 in degrees, times 2^[`BITS`].
fn in_degrees(tangent: &Rational) -> IBig {
    let eighth = arctangent(&(IBig::from(1) << BITS));
    ((arctangent(&tangent.floor_scaled(BITS)) * IBig::from(45)) << BITS) / eighth
}

/// The arctangent of t / 2^[`BITS`], 0 to 1, times 2^[`BITS`], by Euler's series: t / (1 + t^2) times the sum of the
/// products of 2k / (2k + 1) y, where y = t^2 / (1 + t^2) is at most 1/2.
fn arctangent(t: &IBig) -> IBig {
    let square = (t * t) >> BITS;
    let below = (IBig::from(1) << BITS) + &square;
    let y = (square << BITS) / &below;
    let mut term = (t.clone() << BITS) / below;
    let mut sum = IBig::ZERO;
    let mut k = 0;
    while term != IBig::ZERO {
        sum += &term;
        k += 1;
        term = ((term * &y) >> BITS) * IBig::from(2 * k) / IBig::from(2 * k + 1);
    }
    sum
}

/// The decimals after which a value, not 0, has `digits` digits and one or two more; negative where the value is larger.
fn decimals_of(value: &Rational, digits: usize) -> i64 {
    let bits = value.floor_log2().unwrap_or(0) as f64;
    let whole = (bits * std::f64::consts::LOG10_2).floor() as i64;
    i64::try_from(digits).unwrap_or(i64::MAX) - whole
}

/// `num / den * 10^decimals` as a numerator and a denominator.
fn scaled(num: &IBig, den: &UBig, decimals: i64) -> (IBig, UBig) {
    let power = UBig::from(10_u8).pow(usize::try_from(decimals.unsigned_abs()).unwrap_or(usize::MAX));
    if decimals >= 0 { (num * IBig::from(power), den.clone()) } else { (num.clone(), den * power) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(text: &str) -> Rational {
        text.parse::<Decimal>().unwrap().to_rational()
    }

    #[test]
    fn quotients_are_exact_where_they_can_be() {
        for (a, b, expected, exact) in [
            ("4", "3", "1.333333333", false),
            ("-4", "3", "-1.333333333", false),
            ("4", "1e50", "4e-50", true),
            ("4", "1.6e-30", "2.5e30", true),
            ("81", "27", "3", true),
            ("0", "7", "0", true),
            ("1", "7e30", "1.4285714285e-31", false),
        ] {
            let (found, is_exact) = decimal(&rational(a).over(&rational(b)), 10).unwrap();
            let difference = found.to_rational().minus(&rational(expected)).magnitude();
            let allowed =
                if exact { Rational::whole(0) } else { rational(expected).magnitude().times(&rational("1e-8")) };
            assert!(difference <= allowed && is_exact == exact, "{a} / {b}: {found}");
        }
    }

    #[test]
    fn products_and_quotients_of_large_exponents_are_fast() {
        let number: Decimal = "1.5e999990".parse().unwrap();
        let (found, exact) = product(&number, 4, 3, 10).unwrap();
        assert_eq!((found.text(), exact), ("2e999990", true));
        let (found, exact) = quotient(3, &number, 10).unwrap();
        assert_eq!((found.text(), exact), ("2e-999990", true));
        let (third, exact) = product(&"1e5".parse().unwrap(), 1, 3, 6).unwrap();
        assert!(third.text().starts_with("33333.3") && !exact, "{third}");
        assert!(product(&"5e1000000".parse().unwrap(), 2, 1, 10).is_err());
    }

    #[test]
    fn roots_of_squares_are_exact() {
        for (value, root) in
            [("4", "2"), ("6.25", "2.5"), ("1e-40", "1e-20"), ("65536", "256"), ("0", "0"), ("1e18", "1e9")]
        {
            assert_eq!(square_root(&rational(value), 30).unwrap(), root.parse().unwrap(), "{value}");
        }
        let two = square_root(&rational("2"), 30).unwrap();
        assert!(two.text().starts_with("1.41421356237309504880168872420"), "{two}");
    }

    #[test]
    fn angles_of_all_quadrants() {
        for (x, y, expected) in [
            ("1", "0", "0"),
            ("2", "2", "45"),
            ("0", "3", "90"),
            ("-1", "1", "135"),
            ("-1", "0", "180"),
            ("-1", "-1", "-135"),
            ("0", "-1", "-90"),
            ("1", "-1", "-45"),
        ] {
            assert_eq!(degrees(&rational(x), &rational(y)).unwrap(), expected.parse().unwrap(), "{x} {y}");
        }
        // arctan(1/2) = 26.565051177077989351572193720453294671...
        let half = degrees(&rational("2"), &rational("1")).unwrap();
        assert!(half.text().starts_with("26.5650511770779893515721937204"), "{half}");
        let steep = degrees(&rational("1"), &rational("2")).unwrap();
        assert!(steep.text().starts_with("63.434948822922010648427806279"), "{steep}");
    }
}
