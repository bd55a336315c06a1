//! Layers: what is drawn over the base colour of a sample, one after the other, in linear light.

mod blend;
mod composer;

pub use blend::BlendMode;
pub(super) use composer::{Composer, MOST as MOST_SAMPLES_AT_ONCE};

use super::mapping::{By, MOST_TURNS, Scale};
use super::palette::Palette;
use super::rgb::Rgb16;
use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::quote::shown_number;
use crate::field::channels::{Channel, ChannelSet};

/// The most layers of a colouring.
pub const MOST_LAYERS: usize = 8;

/// A layer: its colours, how they are combined with what is below, and how strongly.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The colours.
    pub content: LayerContent,
    /// How they are combined with the colours below.
    pub blend: BlendMode,
    /// The weight of the combined colour, 0 to 1; that of the colour below is the rest.
    pub opacity: f64,
}

/// The colours of a layer, and the samples that it covers.
#[derive(Clone, Debug, PartialEq)]
pub enum LayerContent {
    /// The colour at a position of a palette, as [`super::Colouring`] has it. It covers the samples that have the quantity.
    Gradient {
        /// The quantity v.
        of: Quantity,
        /// The palette.
        palette: Palette,
        /// The scale: not `histogram`; `limit` for dwells and smooth values only.
        scale: Scale,
        /// Factor of the scale, above 0, at most 1e6.
        density: f64,
        /// Turns by which the palette is shifted, -1e6 to 1e6.
        offset: f64,
    },
    /// Shading by slope: grey, which is half the full light where a sample is flat, more where its slope is towards the
    /// light and less where it is away from it: (1 + cos a / height) / 2 for the angle a between both. It covers the
    /// samples that escaped.
    Slope {
        /// The direction of the light in the picture, in degrees counter-clockwise from the right, -360 to 360.
        angle: f64,
        /// The height of the light above the picture, 0.1 to 100. The higher, the weaker the shading.
        height: f64,
    },
    /// A line along the boundary of the set. It covers the samples that escaped: fully where the distance to the set is at
    /// most half the width, not at all from one and a half widths on.
    Outline {
        /// The width in thousandths of the view's height, above 0, at most 1000.
        width: f64,
        /// The colour.
        colour: [u16; 3],
    },
    /// One colour.
    Flat {
        /// The colour.
        colour: [u16; 3],
        /// The samples that it covers.
        over: Coverage,
    },
}

/// The samples that a layer of one colour covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// All.
    #[default]
    All,
    /// Those that escaped.
    Escaped,
    /// Those that did not escape.
    Interior,
}

dwell_kernels::named!(Coverage, "over": All => "all", Escaped => "escaped", Interior => "interior");

/// The quantity of a sample that selects the colour of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// As [`By::Smooth`].
    Smooth,
    /// As [`By::Banded`].
    Banded,
    /// As [`By::Distance`].
    Distance,
    /// v is the period of the attracting cycle.
    Period,
    /// v is 1 + 255 times the modulus of the cycle's multiplier: on the scale `linear`, about one turn from the centre of a
    /// component to its boundary.
    Multiplier,
    /// v is 1 + 255 times the angle of the multiplier in half turns, 0 to 1.
    Angle,
    /// v is 1 + 255 times the angle, in turns, of the point of the cycle to which z_p, z_2p, ... converges, for the period p.
    FinalZ,
}

dwell_kernels::named!(Quantity, "quantity":
    Smooth => "smooth",
    Banded => "banded",
    Distance => "distance",
    Period => "period",
    Multiplier => "multiplier",
    Angle => "angle",
    FinalZ => "final-z",
);

impl Quantity {
    /// The same quantity as one of a colouring, if it is one of samples that escaped.
    #[must_use]
    pub fn by(self) -> Option<By> {
        match self {
            Self::Smooth => Some(By::Smooth),
            Self::Banded => Some(By::Banded),
            Self::Distance => Some(By::Distance),
            Self::Period | Self::Multiplier | Self::Angle | Self::FinalZ => None,
        }
    }

    /// The scale used for it unless another is given.
    #[must_use]
    pub fn usual_scale(self) -> Scale {
        match self {
            Self::Smooth | Self::Banded => Scale::Root,
            Self::Distance | Self::Period => Scale::Log,
            Self::Multiplier | Self::Angle | Self::FinalZ => Scale::Linear,
        }
    }

    fn channels(self) -> &'static [Channel] {
        match self {
            Self::Banded => &[],
            Self::Smooth => &[Channel::Smooth],
            Self::Distance => &[Channel::Distance],
            Self::Period => &[Channel::Period],
            Self::Multiplier | Self::Angle => &[Channel::Period, Channel::MultiplierRe, Channel::MultiplierIm],
            Self::FinalZ => &[Channel::Period, Channel::FinalRe, Channel::FinalIm],
        }
    }
}

impl LayerContent {
    /// A gradient by a quantity on its usual scale.
    #[must_use]
    pub fn gradient(of: Quantity, palette: Palette) -> Self {
        Self::Gradient { of, palette, scale: of.usual_scale(), density: 1.0, offset: 0.0 }
    }

    /// The blend mode used for it unless another is given: `overlay` for slopes, which leaves flat samples as they are,
    /// and `normal` for everything else.
    #[must_use]
    pub fn usual_blend(&self) -> BlendMode {
        match self {
            Self::Slope { .. } => BlendMode::Overlay,
            Self::Gradient { .. } | Self::Outline { .. } | Self::Flat { .. } => BlendMode::Normal,
        }
    }
}

impl Layer {
    /// The angle of the light of a slope unless another is given, in degrees.
    pub const ANGLE: f64 = 45.0;
    /// The height of the light of a slope unless another is given.
    pub const HEIGHT: f64 = 1.5;
    /// The width of an outline unless another is given.
    pub const WIDTH: f64 = 1.0;

    /// A layer with its usual blend mode, opaque.
    #[must_use]
    pub fn of(content: LayerContent) -> Self {
        Self { blend: content.usual_blend(), opacity: 1.0, content }
    }

    /// Shading by slope with the usual light.
    #[must_use]
    pub fn slope() -> Self {
        Self::of(LayerContent::Slope { angle: Self::ANGLE, height: Self::HEIGHT })
    }

    /// Whether it is shading by slope.
    #[must_use]
    pub fn is_slope(&self) -> bool {
        matches!(self.content, LayerContent::Slope { .. })
    }

    /// The channels that a field needs besides the dwells.
    #[must_use]
    pub fn channels(&self) -> ChannelSet {
        let channels = match self.content {
            LayerContent::Gradient { of, .. } => of.channels(),
            LayerContent::Slope { .. } => &[Channel::SlopeRight, Channel::SlopeUp],
            LayerContent::Outline { .. } => &[Channel::Distance],
            LayerContent::Flat { .. } => &[],
        };
        channels.iter().copied().fold(ChannelSet::NONE, ChannelSet::with)
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// When a value is out of range, or the scale does not go with the quantity.
    pub fn check(&self) -> Result<(), InputError> {
        let check = |name, value: f64, least: f64, most: f64, accepted: &str| {
            // NaN is not in any range.
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(InputError::out_of_range(shown_number(value)).about(Parameter::Named(name)).accepts(accepted))
        };
        check("opacity", self.opacity, 0.0, 1.0, "0 to 1")?;
        match &self.content {
            LayerContent::Gradient { of, scale, density, offset, .. } => {
                check("density", *density, f64::from_bits(1), MOST_TURNS, "above 0, at most 1000000")?;
                check("offset", *offset, -MOST_TURNS, MOST_TURNS, "-1000000 to 1000000")?;
                check_scale(*of, *scale)
            }
            LayerContent::Slope { angle, height } => {
                check("angle", *angle, -360.0, 360.0, "-360 to 360, in degrees")?;
                check("height", *height, 0.1, 100.0, "0.1 to 100")
            }
            LayerContent::Outline { width, .. } => {
                check("width", *width, f64::from_bits(1), 1000.0, "above 0, at most 1000, in thousandths of the height")
            }
            LayerContent::Flat { .. } => Ok(()),
        }
    }
}

/// Checks that the scale of a layer goes with its quantity.
fn check_scale(of: Quantity, scale: Scale) -> Result<(), InputError> {
    let conflict = |problem: String, accepted: &str| {
        Err(InputError::new(Problem::Conflict(problem)).about(Parameter::Named("scale")).accepts(accepted))
    };
    let has_limit = matches!(of, Quantity::Smooth | Quantity::Banded);
    match scale {
        Scale::Root | Scale::Linear | Scale::Log => Ok(()),
        Scale::Limit if has_limit => Ok(()),
        Scale::Limit => {
            conflict(format!("\"limit\" does not go with {}, which has no limit", of.name()), "root, linear, log")
        }
        _ => {
            let accepted = if has_limit { "root, linear, log, limit" } else { "root, linear, log" };
            conflict(format!("\"{}\" is a scale of the base colours, not of a layer", scale.name()), accepted)
        }
    }
}

/// A colour as light, 0 to 1 in each part.
fn light_of(colour: Rgb16) -> [f64; 3] {
    super::light::of_colour(colour).map(|part| f64::from(part) / f64::from(super::light::FULL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused() {
        let gradient = |of, scale, density: f64| {
            let content = LayerContent::Gradient { of, palette: Palette::default(), scale, density, offset: 0.0 };
            Layer::of(content)
        };
        for good in [
            Layer::slope(),
            gradient(Quantity::Smooth, Scale::Limit, 1e6),
            gradient(Quantity::Period, Scale::Root, 1e-300),
            Layer::of(LayerContent::Outline { width: 1000.0, colour: [0; 3] }),
            Layer { opacity: 0.0, ..Layer::slope() },
        ] {
            assert!(good.check().is_ok(), "{good:?}");
        }
        for bad in [
            Layer { opacity: 1.01, ..Layer::slope() },
            Layer { opacity: f64::NAN, ..Layer::slope() },
            Layer::of(LayerContent::Slope { angle: 361.0, height: 1.0 }),
            Layer::of(LayerContent::Slope { angle: 0.0, height: 0.0 }),
            Layer::of(LayerContent::Outline { width: 0.0, colour: [0; 3] }),
            gradient(Quantity::Smooth, Scale::Root, 0.0),
            gradient(Quantity::Smooth, Scale::Histogram, 1.0),
            gradient(Quantity::Distance, Scale::Limit, 1.0),
            gradient(Quantity::Period, Scale::Limit, 1.0),
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_read_back() {
        assert!(Quantity::ALL.into_iter().all(|of| of.name().parse() == Ok(of)));
        assert!(Coverage::ALL.into_iter().all(|over| over.name().parse() == Ok(over)));
        assert!(BlendMode::ALL.into_iter().all(|blend| blend.name().parse() == Ok(blend)));
    }
}
