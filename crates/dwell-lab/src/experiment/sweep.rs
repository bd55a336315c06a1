//! Lists and ranges of values, and the points that they span.

use super::{Flags, Series, Text};
use std::fmt;

/// Most values of a list.
const MOST_VALUES: usize = 10_000;

/// A point of a sweep: a value for each flag that is varied.
pub type Point = Flags;

/// Why a list of values is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepError {
    /// The value.
    pub given: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.given, self.problem)
    }
}

impl std::error::Error for SweepError {}

/// The amount of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Everything.
    #[default]
    Whole,
    /// The quick values.
    Quick,
    /// The small values of a check.
    Check,
}

/// The values of a list in which texts may be ranges: `A..B` counts from A to B, `A..B+S` in steps of S, and `A..B*F`
/// multiplies by F, rounded down to a whole number.
///
/// # Errors
/// When a range is malformed, empty or has more than 10,000 values.
pub fn values(list: &[Text]) -> Result<Vec<Text>, SweepError> {
    let mut values = Vec::new();
    for text in list {
        expand_text(&text.0, &mut values)?;
        if values.len() > MOST_VALUES {
            return Err(SweepError {
                given: text.0.clone(),
                problem: "gives too many values; accepted: at most 10000",
            });
        }
    }
    Ok(values)
}

fn expand_text(text: &str, values: &mut Vec<Text>) -> Result<(), SweepError> {
    let wrong = |problem| SweepError { given: text.to_owned(), problem };
    let Some((from, rest)) = text.split_once("..") else {
        values.push(Text(text.to_owned()));
        return Ok(());
    };
    // Anything else with two dots, such as the path of a palette, is a value.
    let Ok(from) = from.parse::<u64>() else {
        values.push(Text(text.to_owned()));
        return Ok(());
    };
    let (to, factor, step) = match (rest.split_once('*'), rest.split_once('+')) {
        (Some((to, factor)), None) => (to, factor.parse::<f64>().ok(), 0),
        (None, Some((to, step))) => (to, None, step.parse().unwrap_or(0)),
        _ => (rest, None, 1),
    };
    let to: u64 = to.parse().map_err(|_| wrong("is no range; accepted: A..B, A..B+STEP, A..B*FACTOR"))?;
    if to < from {
        return Err(wrong("is an empty range"));
    }
    if factor.is_none() && step == 0 || factor.is_some_and(|factor| !(1.001..=1e9).contains(&factor) || from == 0) {
        return Err(wrong("has no usable step; accepted: whole steps from 1, factors from 1.001"));
    }
    let (mut value, mut exact) = (from, from as f64);
    while value <= to && values.len() <= MOST_VALUES {
        values.push(Text(value.to_string()));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates above `to`")]
        match factor {
            Some(factor) => {
                while exact as u64 == value {
                    exact *= factor;
                }
                value = exact as u64;
            }
            None => value = value.saturating_add(step),
        }
        if value == u64::MAX {
            break;
        }
    }
    Ok(())
}

/// The points of a series: the product of its lists, the last one fastest.
///
/// # Errors
/// When a range is malformed, empty or too long.
pub fn expand(series: &Series, extent: Extent) -> Result<Vec<Point>, SweepError> {
    let mut points = vec![Point::new()];
    for axis in &series.sweep {
        let list = match extent {
            Extent::Whole => values(&axis.values)?,
            Extent::Quick => values(axis.quick.as_ref().unwrap_or(&axis.values))?,
            Extent::Check => match &axis.check {
                Some(list) => values(list)?,
                None => values(&axis.values)?.into_iter().take(1).collect(),
            },
        };
        points = points
            .into_iter()
            .flat_map(|point| {
                list.iter().map(move |value| {
                    let mut point = point.clone();
                    point.insert(axis.flag.clone(), value.clone());
                    point
                })
            })
            .collect();
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<String>, SweepError> {
        values(&[Text::from(text)]).map(|values| values.into_iter().map(|value| value.0).collect())
    }

    #[test]
    fn ranges_count_step_and_multiply() {
        assert_eq!(list("1..4").unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(list("1..8+3").unwrap(), ["1", "4", "7"]);
        assert_eq!(list("256..1000*1.25").unwrap(), ["256", "320", "400", "500", "625", "781", "976"]);
        assert_eq!(list("1..4*1.1").unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(list("640x480").unwrap(), ["640x480"]);
        assert_eq!(list("../a.toml").unwrap(), ["../a.toml"]);
        for wrong in ["4..1", "1..x", "1..9+0", "1..9*1", "0..9*2", "1..99999999", "1..18446744073709551615*1.001"] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
    }
}
