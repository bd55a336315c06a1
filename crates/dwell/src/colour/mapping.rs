//! The position of a pixel in a palette: by which quantity, on which scale.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::field::channels::{Channel, dwell_of, stored};
use dwell_kernels::log2::log2_each;
use dwell_kernels::{Level, UnknownName};

/// The greatest density, and the greatest offset in turns.
pub(super) const MOST_TURNS: f64 = 1e6;

/// The quantity of a pixel that determines its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// v is the dwell itself: bands.
    Banded,
    /// v is the smooth value, a continuous dwell, at least 1: no bands.
    #[default]
    Smooth,
    /// v is 1 + the estimated distance to the set in thousandths of the view's height, so that a picture looks the same
    /// at every size.
    Distance,
}

dwell_kernels::named!(By, "by": Banded => "banded", Smooth => "smooth", Distance => "distance");

impl By {
    /// The channel that it is made of; none for the dwell.
    #[must_use]
    pub fn channel(self) -> Option<Channel> {
        match self {
            Self::Banded => None,
            Self::Smooth => Some(Channel::Smooth),
            Self::Distance => Some(Channel::Distance),
        }
    }

    /// The values that it is made of beside the counts: its channel; for the dwell what exceeds 32 bits, empty where nothing does.
    pub(super) fn values<'a>(self, channel: impl Fn(Channel) -> &'a [f64]) -> &'a [f64] {
        channel(self.channel().unwrap_or(Channel::Overflow))
    }

    /// The scale used for it unless another is given.
    pub(super) fn usual_scale(self) -> Scale {
        match self {
            Self::Banded | Self::Smooth => Scale::Root,
            Self::Distance => Scale::Log,
        }
    }

    /// v of a sample by its dwell and the value of its channel.
    pub(crate) fn quantity(self, dwell: u64, value: f64) -> f64 {
        let ((count, overflow), mut v) = (stored(dwell), [0.0]);
        self.quantities(&[count], &[if self.channel().is_some() { value } else { overflow }], &mut v);
        v[0]
    }

    /// v of each sample by its count and its value ([`Self::values`]); v of a sample that has not escaped is any number of at least 1.
    #[inline]
    pub(super) fn quantities(self, dwell: &[u32], values: &[f64], v: &mut [f64]) {
        fn of_values(values: &[f64], v: &mut [f64], of: impl Fn(f64) -> f64) {
            v.iter_mut().zip(values).for_each(|(v, value)| *v = of(*value));
        }
        match self {
            Self::Banded if values.is_empty() => {
                v.iter_mut().zip(dwell).for_each(|(v, dwell)| *v = f64::from((*dwell).max(1)));
            }
            Self::Banded => {
                let counts = dwell.iter().zip(values);
                v.iter_mut()
                    .zip(counts)
                    .for_each(|(v, (count, overflow))| *v = dwell_of(*count, *overflow).max(1) as f64);
            }
            Self::Smooth => of_values(values, v, |value| value.max(1.0)),
            Self::Distance => of_values(values, v, |value| 1.0 + 1000.0 * value),
        }
    }
}

/// The turns of the palette that correspond to a quantity v.
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
    /// The share of samples with a smaller value, in turns.
    Histogram,
}

dwell_kernels::named!(Scale, "scale":
    Root => "root",
    Linear => "linear",
    Log => "log",
    Limit => "limit",
    Histogram => "histogram",
);

impl Scale {
    /// Turns for each unit of sqrt(v) - 1 on [`Self::Root`].
    pub const PER_ROOT: f64 = 0.11;
    /// Turns for each unit of v on [`Self::Linear`].
    pub const PER_UNIT: f64 = 1.0 / 256.0;
    /// Turns for each unit of log2(v) on [`Self::Log`].
    pub const PER_LOG2: f64 = 0.25;

    /// Replaces each v of a field with this limit by its turns. [`Self::Histogram`] has none without a field: v stays.
    #[inline]
    pub(super) fn turns(self, level: Level, limit: f64, v: &mut [f64]) {
        match self {
            Self::Root => v.iter_mut().for_each(|v| *v = Self::PER_ROOT * (v.sqrt() - 1.0)),
            Self::Linear => v.iter_mut().for_each(|v| *v *= Self::PER_UNIT),
            Self::Log => {
                log2_each(level, v);
                v.iter_mut().for_each(|v| *v *= Self::PER_LOG2);
            }
            Self::Limit => v.iter_mut().for_each(|v| *v /= limit),
            Self::Histogram => {}
        }
    }

    /// The scale of that name; `None` for `auto`, the scale that is found from the view.
    ///
    /// # Errors
    /// When no scale has that name.
    pub fn or_auto(text: &str) -> Result<Option<Self>, UnknownName> {
        if text == "auto" {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|mut error: UnknownName| {
            error.known.insert(0, "auto");
            error
        })
    }

    /// The error for [`Self::Limit`] with [`By::Distance`].
    pub(super) fn limit_of_distances() -> InputError {
        let problem = "\"limit\" does not go with distances, which have none";
        InputError::new(Problem::Conflict(problem.to_owned()))
            .about(Parameter::Named("scale"))
            .accepts("root, linear, log, histogram")
    }
}

/// The colouring that a palette recommends, used where no other is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Suggestion {
    /// The quantity.
    pub by: Option<By>,
    /// The scale.
    pub scale: Option<Scale>,
    /// The factor of the scale's turns, above 0, at most 1e6.
    pub density: Option<f64>,
    /// Turns added to them, -1e6 to 1e6.
    pub offset: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        assert!(By::ALL.into_iter().all(|by| by.name().parse() == Ok(by)));
        assert!(Scale::ALL.into_iter().all(|scale| scale.name().parse() == Ok(scale)));
        assert_eq!((By::default(), Scale::default()), (By::Smooth, Scale::Root));
        assert_eq!("smoth".parse::<By>().unwrap_err().known, By::ALL.map(By::name));
        assert_eq!((Scale::or_auto("auto"), Scale::or_auto("log")), (Ok(None), Ok(Some(Scale::Log))));
        assert_eq!(Scale::or_auto("Auto").unwrap_err().known[..2], ["auto", "root"]);
        assert!("".parse::<Scale>().unwrap_err().to_string().contains("root, linear, log, limit, histogram"));
    }
}
