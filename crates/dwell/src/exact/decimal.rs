//! Decimal numbers, kept exactly as typed: the centre of a view can have hundreds of digits, of which an f64 keeps
//! sixteen.

use crate::base::error::InputError;
use crate::base::problem::Problem;
use crate::exact::rational::Rational;
use dashu_int::IBig;
use std::fmt;
use std::str::FromStr;

/// The greatest absolute value accepted for an exponent of ten.
pub(crate) const MAX_EXPONENT: i64 = 1_000_000;
/// The most digits accepted: as many as a centre needs at the largest exponent.
pub(crate) const MAX_DIGITS: usize = 2_000_000;

/// An exact decimal number and the text from which it was read: at most 2,000,000 digits, exponent -10^6 to 10^6.
#[derive(Clone, Debug)]
pub struct Decimal {
    text: String,
    digits: IBig,
    exponent: i64,
}

/// A result with fewer zeros than this before or after its digits is written without an exponent.
const SHORT: i64 = 20;

/// The accepted form of a decimal, for error messages.
const FORM: &str = "a decimal number such as -0.75 or 2.5e-9, exponent at most 1000000 either way";

impl Decimal {
    /// The text from which the number was read, without white space at the ends.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The exact value.
    #[must_use]
    pub fn to_rational(&self) -> Rational {
        Rational::decimal(self.digits.clone(), self.exponent)
    }

    /// Whether the number is greater than 0.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.digits > IBig::ZERO
    }

    /// The number of digits after the decimal point without trailing zeros; 0 for whole numbers.
    #[must_use]
    pub fn decimals(&self) -> u64 {
        u64::try_from(-self.exponent).unwrap_or(0)
    }

    /// The number of digits as typed, without zeros before the first other digit.
    pub(crate) fn digits(&self) -> usize {
        let digits = self.text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E')).filter(u8::is_ascii_digit);
        digits.skip_while(|digit| *digit == b'0').count()
    }

    /// The significand and the exponent of ten: the value is their product.
    #[cfg(feature = "toml")]
    pub(crate) fn parts(&self) -> (&IBig, i64) {
        (&self.digits, self.exponent)
    }

    /// The exponent of ten of the last digit.
    #[cfg(feature = "toml")]
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The exact midpoint of this number and another.
    ///
    /// # Errors
    /// When the result has more than 2,000,000 digits or an exponent beyond 10^6 in absolute value.
    pub fn midpoint(&self, other: &Self) -> Result<Self, InputError> {
        let ([a, b], exponent) = self.aligned(other);
        Self::of((a + b) * IBig::from(5), exponent - 1)
    }

    /// The exact difference `self - other`.
    ///
    /// # Errors
    /// As [`Self::midpoint`].
    pub fn minus(&self, other: &Self) -> Result<Self, InputError> {
        let ([a, b], exponent) = self.aligned(other);
        Self::of(a - b, exponent)
    }

    /// A value as a decimal: exactly where it has a finite one, otherwise rounded towards 0 with at least `digits`
    /// significant digits.
    ///
    /// ```
    /// use dwell::{Decimal, Rational};
    ///
    /// let third = Rational::whole(1).over(&Rational::whole(3));
    /// assert_eq!(Decimal::rounded(&third, 5)?.text(), "0.333333");
    /// # Ok::<(), dwell::InputError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::midpoint`].
    #[cfg(feature = "toml")]
    pub fn rounded(value: &Rational, digits: usize) -> Result<Self, InputError> {
        super::roots::decimal(value, digits).map(|(decimal, _)| decimal)
    }

    /// The digits of both numbers scaled to a common exponent, and that exponent.
    fn aligned(&self, other: &Self) -> ([IBig; 2], i64) {
        let exponent = self.exponent.min(other.exponent);
        let digits = [self, other].map(|number| {
            let zeros = usize::try_from(number.exponent - exponent).unwrap_or(0);
            &number.digits * IBig::from(10).pow(zeros)
        });
        (digits, exponent)
    }

    /// `digits * 10^exponent`; the text has no exponent where it needs fewer than [`SHORT`] extra zeros, and otherwise one digit before the point.
    pub(crate) fn of(digits: IBig, exponent: i64) -> Result<Self, InputError> {
        let sign = if digits < IBig::ZERO { "-" } else { "" };
        let all = digits.to_string();
        let all = all.trim_start_matches('-');
        let kept = all.trim_end_matches('0');
        if kept.is_empty() {
            return Ok(Self::from(0));
        }
        let exponent = exponent + i64::try_from(all.len() - kept.len()).unwrap_or(i64::MAX);
        // The number of digits before the point; if not positive, minus the number of zeros after it.
        let whole = exponent + i64::try_from(kept.len()).unwrap_or(i64::MAX);
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        let text = match (usize::try_from(whole), exponent) {
            (Ok(_), 0..SHORT) => format!("{sign}{kept}{}", zeros(exponent)),
            (Ok(whole), ..0) if whole > 0 => format!("{sign}{}.{}", &kept[..whole], &kept[whole..]),
            _ if whole <= 0 && whole > -SHORT => format!("{sign}0.{}{kept}", zeros(-whole)),
            _ if kept.len() > 1 => format!("{sign}{}.{}e{}", &kept[..1], &kept[1..], whole - 1),
            _ => format!("{sign}{kept}e{exponent}"),
        };
        text.parse()
    }
}

impl FromStr for Decimal {
    type Err = InputError;

    /// Reads a finite decimal number: digits with or without a point and an exponent of ten of at most 10^6 in absolute
    /// value, at most 2,000,000 digits. The error has the offending character and its position, and is about no
    /// parameter; the caller adds one with [`InputError::about`].
    fn from_str(text: &str) -> Result<Self, InputError> {
        let wrong = |problem: Problem| InputError::new(problem).accepts(FORM);
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(wrong(Problem::Empty));
        }
        let unsigned = trimmed.trim_start_matches(['+', '-']).to_ascii_lowercase();
        if matches!(unsigned.as_str(), "nan" | "inf" | "infinity") {
            return Err(wrong(Problem::NotFinite { given: trimmed.to_owned() }));
        }
        let leading = text.chars().take_while(|c| c.is_whitespace()).count();
        // From here on the text is read byte by byte: the first byte that is not part of a number ends the loop, so all
        // bytes before it are ASCII.
        let bytes = trimmed.as_bytes();
        let bad = |at: usize| {
            let character = trimmed.get(..at).map_or(at, |s| s.chars().count());
            if at >= bytes.len() {
                wrong(Problem::NotANumber { given: trimmed.to_owned(), at: character })
            } else {
                wrong(Problem::NotANumber { given: text.to_owned(), at: leading + character })
            }
        };
        let mut at = usize::from(matches!(bytes[0], b'+' | b'-'));
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        let whole = start..at;
        let mut fraction = at..at;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            let start = at;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            fraction = start..at;
        }
        if whole.is_empty() && fraction.is_empty() {
            return Err(bad(at));
        }
        let mut exponent = 0_i64;
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1;
            let negative = bytes.get(at) == Some(&b'-');
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            let start = at;
            while let Some(digit) = bytes.get(at).filter(|d| d.is_ascii_digit()) {
                exponent = exponent.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
                at += 1;
            }
            if start == at {
                return Err(bad(at));
            }
            if exponent > MAX_EXPONENT {
                let sign = if negative { "-" } else { "" };
                let exponent = if at - start <= 20 {
                    format!("{sign}{}", &trimmed[start..at])
                } else {
                    format!("{sign}..., {} digits", at - start)
                };
                return Err(wrong(Problem::Exponent { given: trimmed.to_owned(), exponent }));
            }
            if negative {
                exponent = -exponent;
            }
        }
        if at != bytes.len() {
            return Err(bad(at));
        }
        let digits_text = [&trimmed[whole], trimmed[fraction.clone()].trim_end_matches('0')].concat();
        let digits_text = digits_text.trim_start_matches('0');
        if digits_text.len() > MAX_DIGITS {
            return Err(InputError::new(Problem::TooManyDigits { digits: digits_text.len() })
                .accepts(format!("at most {MAX_DIGITS} digits")));
        }
        let decimals = trimmed[fraction].trim_end_matches('0').len();
        let digits =
            if digits_text.is_empty() { IBig::ZERO } else { IBig::from_str(digits_text).map_err(|_| bad(0))? };
        let digits = if bytes[0] == b'-' { -digits } else { digits };
        let exponent = exponent - i64::try_from(decimals).unwrap_or(i64::MAX);
        Ok(Self { text: trimmed.to_owned(), digits, exponent })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Decimal {
    /// Compares values: `0.50` equals `5e-1`.
    fn eq(&self, o: &Self) -> bool {
        self.to_rational() == o.to_rational()
    }
}
impl Eq for Decimal {}

impl From<i64> for Decimal {
    fn from(n: i64) -> Self {
        Self { text: n.to_string(), digits: n.into(), exponent: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_accepted_form() {
        for (text, same) in [
            ("1", "1.0"),
            ("-.5", "-0.5"),
            ("+2.", "2"),
            ("1e3", "1000"),
            ("1E-3", "0.001"),
            (" 7 ", "7"),
            ("0.000", "0"),
            ("-0", "0"),
            ("00012.500", "12.5"),
            ("1.50000000000000000E+0", "1.5"),
        ] {
            assert_eq!(text.parse::<Decimal>().unwrap(), same.parse().unwrap(), "{text}");
        }
        assert_eq!("0.7500".parse::<Decimal>().unwrap().decimals(), 2);
        assert_eq!("75e3".parse::<Decimal>().unwrap().decimals(), 0);
    }

    #[test]
    fn midpoints_and_differences_are_exact() {
        let number = |text: &str| text.parse::<Decimal>().unwrap();
        for (a, b, midpoint, difference) in [
            ("-2", "1", "-0.5", "-3"),
            ("-1", "1", "0", "-2"),
            ("0.1", "0.30", "0.2", "-0.2"),
            ("1e3", "1", "500.5", "999"),
            ("3e25", "1e25", "2e25", "2e25"),
            ("1e-30", "3e-30", "2e-30", "-2e-30"),
            ("-0.74364388703715870", "-0.74364388703715869", "-0.743643887037158695", "-0.00000000000000001"),
        ] {
            let (a, b) = (number(a), number(b));
            assert_eq!(a.midpoint(&b).unwrap().text(), midpoint);
            assert_eq!(a.minus(&b).unwrap().text(), difference);
            let sum = a.to_rational().plus(&b.to_rational());
            assert_eq!(a.midpoint(&b).unwrap().to_rational(), sum.over(&Rational::whole(2)));
        }
        assert!(number("1e-1000000").midpoint(&number("0")).is_err(), "the midpoint has an exponent of -1000001");
    }

    #[test]
    fn rejects_text_that_is_not_a_number() {
        for text in [
            "",
            " ",
            "x",
            "nan",
            "-inf",
            "Infinity",
            "1x",
            "1.2.3",
            "1e",
            "1e+",
            "e5",
            ".",
            "-",
            "--1",
            "1,5",
            "0x10",
            "1_000",
            "1e1000001",
            "1e-99999999999999999999",
            "\u{0661}",
            "1\u{0}",
            "1 2",
            "½",
        ] {
            let error = text.parse::<Decimal>().expect_err(text).to_string();
            assert!(error.contains("accepted"), "{error}");
        }
    }

    #[test]
    fn keeps_every_digit_and_locates_an_invalid_one() {
        let long = format!("0.{}1", "9".repeat(10_000));
        let value = long.parse::<Decimal>().unwrap();
        assert_eq!(value.text(), long);
        assert!(value.to_rational() < Rational::whole(1));
        let bad = format!("0.{}o{}", "9".repeat(6000), "9".repeat(4000));
        let error = bad.parse::<Decimal>().unwrap_err().to_string();
        assert!(error.contains("\"o\" at character 6003") && error.len() < 300, "{error}");
    }
}
