//! Conditions of claims: `>= 1.3`, `< 6`, `1.3..6`, `= 7559`.

use std::fmt;
use std::str::FromStr;

/// Numbers that satisfy a claim: all between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    low: f64,
    high: f64,
    /// Whether the ends do not belong to it.
    open: bool,
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError(String);

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accepted = "`< X`, `<= X`, `> X`, `>= X`, `= X` or `LOW..HIGH` with finite numbers";
        write!(f, "{:?} is no condition; accepted: {accepted}", self.0)
    }
}

impl std::error::Error for ConditionError {}

/// How an interval lies to a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// All of it satisfies the condition.
    Inside,
    /// None of it does.
    Outside,
    /// A part of it does.
    Straddles,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let wrong = || ConditionError(text.to_owned());
        let number = |text: &str| {
            let number = text.trim().parse::<f64>().ok();
            number.filter(|number| number.is_finite()).ok_or_else(wrong)
        };
        let text = text.trim();
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        if let Some(rest) = text.strip_prefix("<=") {
            return Ok(Self { low, high: number(rest)?, open: false });
        }
        if let Some(rest) = text.strip_prefix(">=") {
            return Ok(Self { low: number(rest)?, high, open: false });
        }
        if let Some(rest) = text.strip_prefix('<') {
            return Ok(Self { low, high: number(rest)?, open: true });
        }
        if let Some(rest) = text.strip_prefix('>') {
            return Ok(Self { low: number(rest)?, high, open: true });
        }
        if let Some(rest) = text.strip_prefix('=') {
            // Equal when rounded to the digits that are written: 3.5312 is equal to 3.53.
            let (value, half) = (number(rest)?, 0.5 * last_digit(rest));
            return Ok(Self { low: value - half, high: value + half, open: false });
        }
        let (low, high) = text.split_once("..").ok_or_else(wrong)?;
        let (low, high) = (number(low)?, number(high)?);
        if low > high {
            return Err(wrong());
        }
        Ok(Self { low, high, open: false })
    }
}

/// The value of a unit of the last written digit of a decimal number.
fn last_digit(text: &str) -> f64 {
    let digits = text.trim().split(['e', 'E']).next().unwrap_or("");
    let exponent = text.trim().split(['e', 'E']).nth(1).and_then(|text| text.parse::<i32>().ok()).unwrap_or(0);
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    10.0_f64.powi(exponent.saturating_sub(i32::try_from(decimals).unwrap_or(i32::MAX)))
}

impl Condition {
    /// The condition with a relative tolerance at both ends.
    pub(super) fn within(self, tolerance: f64) -> Self {
        let slack = |end: f64| if end.is_finite() { tolerance.max(0.0) * end.abs() } else { 0.0 };
        Self { low: self.low - slack(self.low), high: self.high + slack(self.high), ..self }
    }

    /// How the interval from `low` to `high` lies to it.
    pub(super) fn decide(self, low: f64, high: f64) -> Decision {
        let inside = |value: f64| {
            if self.open { self.low < value && value < self.high } else { self.low <= value && value <= self.high }
        };
        let apart = if self.open { high <= self.low || low >= self.high } else { high < self.low || low > self.high };
        match (inside(low) && inside(high), apart) {
            (true, _) => Decision::Inside,
            (false, true) => Decision::Outside,
            (false, false) => Decision::Straddles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_decide_intervals() {
        for (text, low, high, expected) in [
            ("> 0", 0.0, 0.0, Decision::Outside),
            (">= 0", 0.0, 0.0, Decision::Inside),
            ("< 2", 1.0, 1.9, Decision::Inside),
            ("<2", 1.0, 2.1, Decision::Straddles),
            ("<= 2", 2.0, 2.0, Decision::Inside),
            ("1.3..6", 1.2, 7.0, Decision::Straddles),
            ("1.3..6", 1.3, 6.0, Decision::Inside),
            ("1.3..6", 6.1, 6.2, Decision::Outside),
            ("= 7559", 7559.0, 7559.0, Decision::Inside),
            ("= 7559", 7560.0, 7560.0, Decision::Outside),
            ("= 3.53", 3.5312, 3.5312, Decision::Inside),
            ("= 3.53", 3.536, 3.536, Decision::Outside),
            ("= 1.5e3", 1540.0, 1540.0, Decision::Inside),
            ("-2..-1", -1.5, -1.25, Decision::Inside),
        ] {
            assert_eq!(text.parse::<Condition>().unwrap().decide(low, high), expected, "{text} {low} {high}");
        }
        for text in ["", "2", "=> 2", "> x", "3..2", "1..", "= nan", "> inf"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_tolerance_is_relative() {
        let condition: Condition = "= 100".parse().unwrap();
        assert_eq!(condition.decide(103.0, 103.0), Decision::Outside);
        assert_eq!(condition.within(0.03).decide(103.0, 103.0), Decision::Inside);
    }
}
