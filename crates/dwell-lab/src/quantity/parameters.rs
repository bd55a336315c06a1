//! The numbers that a quantity is given in a file.

use super::Kind;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The parameters of a quantity, all of which its kind has.
pub(super) struct Parameters<'a> {
    given: &'a BTreeMap<String, f64>,
    kind: Kind,
}

impl<'a> Parameters<'a> {
    /// Checks that a kind has all given parameters.
    pub(super) fn read(given: &'a BTreeMap<String, f64>, kind: Kind) -> Result<Self, String> {
        let known = kind.parameters();
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) if known.is_empty() => {
                Err(format!("{kind} has no parameters, but {} is given", dwell::quote(name)))
            }
            Some(name) => {
                Err(format!("{kind} has no parameter {} (accepted: {})", dwell::quote(name), known.join(", ")))
            }
            None => Ok(Self { given, kind }),
        }
    }

    /// A whole number in a range.
    pub(super) fn whole(&self, name: &str, range: RangeInclusive<u32>) -> Result<u32, String> {
        let (kind, least, most) = (self.kind, range.start(), range.end());
        let accepted = format!("accepted: a whole number from {least} to {most}");
        let value = *self.given.get(name).ok_or_else(|| format!("{kind} needs the parameter {name} ({accepted})"))?;
        if value.fract() == 0.0 && value >= f64::from(*least) && value <= f64::from(*most) {
            Ok(value as u32)
        } else {
            Err(format!("the parameter {name} of {kind} is {value} ({accepted})"))
        }
    }

    /// A whole number in a range, or `otherwise` if it is not given.
    pub(super) fn whole_or(&self, name: &str, otherwise: u32, range: RangeInclusive<u32>) -> Result<u32, String> {
        if self.given.contains_key(name) { self.whole(name, range) } else { Ok(otherwise) }
    }

    /// 0 or 1.
    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        Ok(self.whole(name, 0..=1)? == 1)
    }
}
