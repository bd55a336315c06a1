//! Colour: from the channels of a field to a picture.
//!
//! A [`Palette`] has a colour for each position, a [`Colouring`] is the rule that gives each pixel its position, with the
//! [`Layer`]s that are drawn over it, and a [`Painter`] applies the rule. A [`Look`] is a colouring with a name.

mod colouring;
pub(crate) mod contrast;
mod dither;
pub(crate) mod elementary;
mod fit;
mod layers;
mod light;
mod looks;
mod mapping;
mod painter;
mod palette;
mod ranks;
mod rgb;
mod samples;
mod srgb;

pub use colouring::Colouring;
pub(crate) use fit::Fit;
pub use layers::{BlendMode, Coverage, Layer, LayerContent, MOST_LAYERS, Quantity};
pub use light::EncoderTables;
#[cfg(all(feature = "png", feature = "toml"))]
pub(crate) use light::of_values as lights_of_values;
pub use looks::Look;
pub use mapping::{By, Scale, Suggestion};
pub(crate) use painter::Wide;
pub use painter::{Depth, Painter, Tables};
#[cfg(feature = "toml")]
pub(crate) use palette::KF_COLOUR_KEYS;
pub use palette::{Palette, PaletteFormat, PaletteSource};
pub use rgb::{colour_text, parse_colour};
pub use samples::{MOST_SAMPLES, Samples};
