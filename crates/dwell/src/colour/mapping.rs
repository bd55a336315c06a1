//! How a position in a palette comes from a pixel: by which quantity, on which scale.

use crate::base::error::{InputError, unknown_name};

/// The quantity of a pixel that is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The dwell itself: bands.
    Banded,
    /// The continuous dwell: no bands.
    #[default]
    Smooth,
    /// The estimated distance to the set.
    Distance,
}

impl By {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Banded, Self::Smooth, Self::Distance];

    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Banded => "banded",
            Self::Smooth => "smooth",
            Self::Distance => "distance",
        }
    }

    /// The one of that name.
    ///
    /// # Errors
    /// When there is none; the nearest name is the hint.
    pub fn parse(name: &str) -> Result<Self, InputError> {
        let found = Self::ALL.into_iter().find(|by| by.name() == name);
        found.ok_or_else(|| unknown_name("by", name, Self::ALL.into_iter().map(Self::name)))
    }
}

/// How many turns of the palette a quantity v is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// 0.11 (sqrt(v) - 1) turns.
    #[default]
    Root,
    /// v / 256 turns.
    Linear,
    /// log2(v) / 4 turns.
    Log,
    /// v / limit turns.
    Limit,
    /// The share of samples that have a smaller value, in turns.
    Histogram,
}

impl Scale {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Root, Self::Linear, Self::Log, Self::Limit, Self::Histogram];

    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Linear => "linear",
            Self::Log => "log",
            Self::Limit => "limit",
            Self::Histogram => "histogram",
        }
    }

    /// The one of that name.
    ///
    /// # Errors
    /// When there is none; the nearest name is the hint.
    pub fn parse(name: &str) -> Result<Self, InputError> {
        let found = Self::ALL.into_iter().find(|scale| scale.name() == name);
        found.ok_or_else(|| unknown_name("scale", name, Self::ALL.into_iter().map(Self::name)))
    }

    /// What is wrong with [`Self::Limit`] for [`By::Distance`].
    pub(super) fn limit_of_distances() -> InputError {
        InputError::new("scale", "\"limit\" does not go with distances, which have none")
            .accepted("root, linear, log, histogram")
    }
}

/// What a palette recommends for itself, used where nothing else is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Suggestion {
    /// The quantity.
    pub by: Option<By>,
    /// The scale.
    pub scale: Option<Scale>,
    /// A positive finite factor of the scale's turns.
    pub density: Option<f64>,
    /// Turns added to them, finite.
    pub offset: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        assert!(By::ALL.into_iter().all(|by| By::parse(by.name()) == Ok(by)));
        assert!(Scale::ALL.into_iter().all(|scale| Scale::parse(scale.name()) == Ok(scale)));
        assert_eq!((By::default(), Scale::default()), (By::Smooth, Scale::Root));
        let error = By::parse("smoth").unwrap_err();
        assert_eq!(error.hint_text(), Some("did you mean \"smooth\"?"));
        assert!(Scale::parse("").unwrap_err().to_string().contains("root, linear, log, limit, histogram"));
    }
}
