//! The values of fields, their differences, and exact sums of differences.

use crate::view::settings::Settings;
use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;

/// The value of a pixel of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer that fits in i64 or u64.
    Whole(i128),
    /// A floating point number.
    Real(f64),
}

impl Value {
    /// Whether the value is 0, the dwell of a point that has not escaped at the limit.
    #[must_use]
    pub fn is_inside(self) -> bool {
        match self {
            Self::Whole(n) => n == 0,
            Self::Real(v) => v == 0.0,
        }
    }

    /// The value as a dwell, if it is an integer from 0 to 2^63 - 1.
    pub(super) fn dwell(self) -> Option<u64> {
        match self.normalized() {
            Self::Whole(n) => u64::try_from(n).ok().filter(|n| *n <= Settings::MOST_LIMIT),
            Self::Real(_) => None,
        }
    }

    /// The same value, as [`Self::Whole`] if it is an integer below 2^100 in absolute value.
    fn normalized(self) -> Self {
        match self {
            // Exact: the number is an integer below 2^100.
            Self::Real(v) if v.abs() < 2f64.powi(100) && v.fract() == 0.0 => Self::Whole(v as i128),
            other => other,
        }
    }

    /// The number as f64, rounded to nearest.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Whole(n) => n as f64,
            Self::Real(v) => v,
        }
    }

    /// The absolute difference of two values, and which is greater; `None` if they are equal or both NaN.
    pub(super) fn apart(self, o: Self) -> Option<Apart> {
        if let (Self::Whole(a), Self::Whole(b)) = (self.normalized(), o.normalized()) {
            let difference = Difference::Whole(a.abs_diff(b));
            return (a != b).then_some(Apart { difference, order: a.cmp(&b) });
        }
        let (a, b) = (self.to_f64(), o.to_f64());
        if a.is_nan() && b.is_nan() {
            return None;
        }
        match a.partial_cmp(&b) {
            // An integer beyond 2^53 may round to the other value, although they differ by less than the rounding
            // error.
            Some(Ordering::Equal) if self.normalized() == o.normalized() => None,
            Some(order) if (a - b).is_finite() => Some(Apart { difference: Difference::Real((a - b).abs()), order }),
            _ => Some(Apart { difference: Difference::None, order: Ordering::Equal }),
        }
    }
}

/// The difference of two values that are not equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Apart {
    pub(super) difference: Difference,
    pub(super) order: Ordering,
}

/// The absolute difference of two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// The exact difference of two integers.
    Whole(u128),
    /// The difference of two floating point numbers, rounded once.
    Real(f64),
    /// No difference, because a value is infinite or NaN.
    None,
}

impl Difference {
    /// The number as f64, rounded to nearest.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Whole(n) => n as f64,
            Self::Real(v) => v,
            Self::None => 0.0,
        }
    }

    /// Whether this difference is greater than another; exact for integers.
    pub(super) fn exceeds(self, o: Self) -> bool {
        match (self, o) {
            (Self::Whole(a), Self::Whole(b)) => a > b,
            (a, b) => a.to_f64() > b.to_f64(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => n.fmt(f),
            Self::Real(v) => v.fmt(f),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => n.fmt(f),
            Self::Real(v) => v.fmt(f),
            Self::None => f.write_str("none"),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Whole(n) => match (i64::try_from(n), u64::try_from(n)) {
                (Ok(n), _) => serializer.serialize_i64(n),
                (_, Ok(n)) => serializer.serialize_u64(n),
                _ => serializer.serialize_f64(self.to_f64()),
            },
            Self::Real(v) => serializer.serialize_f64(v),
        }
    }
}

impl Serialize for Difference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Whole(n) => match u64::try_from(n) {
                Ok(n) => serializer.serialize_u64(n),
                Err(_) => serializer.serialize_f64(self.to_f64()),
            },
            Self::Real(v) => serializer.serialize_f64(v),
            Self::None => serializer.serialize_none(),
        }
    }
}

/// An exact sum of differences, which does not depend on their order: the sum of the integers, and for each exponent
/// the sum of the significands of floating point numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum {
    whole: u128,
    /// The sum of significands for each biased exponent. 128 bits hold 2^64 summands of 53 bits.
    reals: Vec<u128>,
}

/// The number of biased exponents of finite f64 numbers.
const EXPONENTS: usize = 2047;

impl Sum {
    pub(super) fn add(&mut self, difference: Difference) {
        match difference {
            Difference::Whole(n) => self.whole = self.whole.saturating_add(n),
            Difference::Real(v) => {
                self.reals.resize(EXPONENTS, 0);
                let bits = v.abs().to_bits();
                let exponent = usize::try_from(bits >> 52).unwrap_or(0).min(EXPONENTS - 1);
                let implicit = u64::from(exponent > 0) << 52;
                self.reals[exponent] += u128::from(bits & ((1 << 52) - 1) | implicit);
            }
            Difference::None => {}
        }
    }

    /// The sum divided by `count`; 0 if `count` is 0.
    pub(super) fn over(&self, count: u64) -> f64 {
        if count == 0 {
            return 0.0;
        }
        // Each summand is divided by the count first, so that no sum overflows. Summands are added in ascending order.
        let scale = |exponent: usize| {
            let power = i32::try_from(exponent.max(1)).unwrap_or(1) - 1075;
            // Two factors, since 2^power may be below the range of normal numbers.
            2f64.powi(power / 2) * 2f64.powi(power - power / 2)
        };
        let reals = self.reals.iter().enumerate().filter(|(_, sum)| **sum > 0);
        let reals: f64 = reals.map(|(exponent, sum)| *sum as f64 / count as f64 * scale(exponent)).sum();
        reals + self.whole as f64 / count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_reals_compare_by_value() {
        let (whole, real) = (Value::Whole, Value::Real);
        assert_eq!(whole(5).apart(real(5.0)), None);
        assert_eq!(real(0.0).apart(real(-0.0)), None);
        assert_eq!(real(f64::NAN).apart(real(f64::NAN)), None);
        assert_eq!(real(f64::INFINITY).apart(real(f64::INFINITY)), None);
        let apart = |a: Value, b: Value| a.apart(b).map(|apart| (apart.difference, apart.order));
        assert_eq!(apart(whole(7), whole(-3)), Some((Difference::Whole(10), Ordering::Greater)));
        assert_eq!(apart(real(1.5), whole(4)), Some((Difference::Real(2.5), Ordering::Less)));
        assert_eq!(apart(real(f64::NAN), whole(4)), Some((Difference::None, Ordering::Equal)));
        assert_eq!(apart(real(f64::INFINITY), whole(4)), Some((Difference::None, Ordering::Equal)));
        let most = i128::from(u64::MAX);
        assert_eq!(apart(whole(most), whole(most - 1)), Some((Difference::Whole(1), Ordering::Greater)));
        assert!(whole(most).apart(real(most as f64)).is_some(), "2^64 is greater by 1");
        assert_eq!(
            (whole(9).dwell(), real(9.0).dwell(), real(9.5).dwell(), whole(-1).dwell()),
            (Some(9), Some(9), None, None)
        );
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let values = [1e300, 1e-300, 0.1, 3.0, 5e-324, 1e16, 1.0, 0.7];
        let (mut forth, mut back) = (Sum::default(), Sum::default());
        values.into_iter().for_each(|v| forth.add(Difference::Real(v)));
        values.into_iter().rev().for_each(|v| back.add(Difference::Real(v)));
        assert_eq!(forth, back);
        assert_eq!(forth.over(1), 1e300);
        let mut sum = Sum::default();
        (0..10).for_each(|_| sum.add(Difference::Real(0.1)));
        assert_eq!(sum.over(10), 0.1);
        sum.add(Difference::Whole(9));
        assert_eq!((sum.over(4), sum.over(0)), (2.5, 0.0));
        let mut sum = Sum::default();
        sum.add(Difference::Real(5e-324));
        assert_eq!(sum.over(1), 5e-324);
    }
}
