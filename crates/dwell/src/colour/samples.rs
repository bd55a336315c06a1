//! How many samples make a pixel of a picture.

use std::fmt;

/// The most samples along a side of a pixel.
pub const MOST_SAMPLES: u32 = 16;

/// The samples of each pixel of a picture, averaged in linear light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Samples {
    /// So many along each side of every pixel, 1 to [`MOST_SAMPLES`]. They are points of the field.
    Fixed(u32),
    /// The field has one sample for each pixel. Pixels whose colours differ visibly from those around them get up to 16
    /// more, which are points of no field: statistics, hashes and dwells are those of one sample a pixel.
    #[default]
    Auto,
}

impl Samples {
    /// The accepted texts, for messages.
    pub const ACCEPTED: &str = "auto, or 1 to 16";

    /// Samples of the field along a side of a pixel.
    #[must_use]
    pub fn side(self) -> u32 {
        match self {
            Self::Fixed(side) => side,
            Self::Auto => 1,
        }
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(side) => write!(f, "{side}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}
