//! Numbers in files of other programs.

use crate::base::error::InputError;
use crate::base::quote::value;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::exact::roots::{decimal, product, square_root};

/// Digits that a rounded number has more than the longest number that it is computed from.
pub(super) const MORE_DIGITS: usize = 40;
/// The most characters of a whole number and of R^2.
const MOST_SQUARE_DIGITS: usize = 100;
/// The most digits and zeros of a whole number.
const MOST_EXPONENT: i64 = 200;

/// A whole number, which may be written as 1000, 1000.0 or 1e3.
pub(super) fn whole(text: &str, least: u64, most: u64) -> Result<u64, InputError> {
    let accepted = || format!("a whole number, {least} to {most}");
    let text = text.trim();
    let given = || InputError::out_of_range(text).accepts(accepted());
    let short = text.len() <= MOST_SQUARE_DIGITS;
    let number: Decimal = text.parse().map_err(|e: InputError| e.accepts(accepted()))?;
    // A large exponent would give a number of a million digits.
    let digits = i64::try_from(number.digits()).unwrap_or(i64::MAX);
    if !short || digits + number.exponent().abs() > MOST_EXPONENT {
        return Err(given());
    }
    let rational = number.to_rational();
    let found = rational.is_whole_scaled(0).then(|| u64::try_from(rational.floor_scaled(0)).ok()).flatten();
    found.filter(|found| (least..=most).contains(found)).ok_or_else(given)
}

/// Whether a text is a number equal to 0.
pub(super) fn is_zero(text: &str) -> bool {
    text.trim().parse::<Decimal>().is_ok_and(|number| number.to_rational().is_zero())
}

/// A number of a list, with what it is for messages.
pub(super) fn number(what: &str, text: &str) -> Result<Decimal, InputError> {
    text.trim().parse().map_err(|e: InputError| {
        let place = crate::base::place::Place::Part(what.to_owned());
        e.within(place)
    })
}

/// The negative of a number.
pub(super) fn negative(number: &Decimal) -> Result<Decimal, InputError> {
    Decimal::from(0).minus(number)
}

/// `value`, with [`MORE_DIGITS`] more digits than `digits` if it has no finite decimal.
pub(super) fn near(value: &Rational, digits: usize) -> Result<Decimal, InputError> {
    Ok(decimal(value, digits + MORE_DIGITS)?.0)
}

/// `number * n / d`, with [`MORE_DIGITS`] more digits than the number if it has no finite decimal.
pub(super) fn times(number: &Decimal, n: u32, d: u32) -> Result<Decimal, InputError> {
    Ok(product(number, n, d, number.digits() + MORE_DIGITS)?.0)
}

/// The escape radius R of a bailout R^2; `None` where it is not a number, or outside the accepted radii for any power.
pub(super) fn radius_of_square(text: &str) -> Option<Decimal> {
    let square: Decimal = text.trim().parse().ok().filter(|_| text.len() <= MOST_SQUARE_DIGITS)?;
    let in_range = square.exponent().abs() <= 60
        && square.to_rational() >= Rational::whole(4)
        && square.to_rational() <= Rational::whole(1_000_000_000_000_000_000);
    in_range.then(|| square_root(&square.to_rational(), 30).ok()).flatten()
}

/// The error when a value is none of the accepted ones.
pub(super) fn not_accepted(given: &str, accepted: &str) -> InputError {
    InputError::malformed(format!("{} is not understood", value(given))).accepts(accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_in_every_form() {
        for (text, expected) in
            [("5", Some(5)), (" 1e3 ", Some(1000)), ("7.0", Some(7)), ("0", None), ("7.5", None), ("-1", None)]
        {
            assert_eq!(whole(text, 1, 1 << 40).ok(), expected, "{text}");
        }
        for bad in ["1e999999", "1e-999999", "x", "", "9999999999999"] {
            assert!(whole(bad, 1, 1 << 40).unwrap_err().to_string().contains("1 to 1099511627776"), "{bad}");
        }
        assert!(is_zero("0.000") && !is_zero("0.1") && !is_zero("x"));
    }

    #[test]
    fn radii_are_roots_of_bailouts() {
        assert_eq!(radius_of_square("4").unwrap().text(), "2");
        assert_eq!(radius_of_square("1e18").unwrap().text(), "1000000000");
        assert!(radius_of_square("128").unwrap().text().starts_with("11.3137084989847603904135"));
        for bad in ["3.9", "-5", "x", "1e19", "1e400000"] {
            assert!(radius_of_square(bad).is_none(), "{bad}");
        }
    }
}
