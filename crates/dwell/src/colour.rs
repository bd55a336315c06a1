//! Colour: from the channels of a field to a picture.
//!
//! A [`Palette`] has a colour for each position, a [`Colouring`] is the rule that gives each pixel its position, and a
//! [`Painter`] applies the rule.

mod colouring;
mod elementary;
mod fit;
mod light;
mod mapping;
mod painter;
mod palette;
mod ranks;
mod rgb;
mod srgb;

pub use colouring::Colouring;
pub(crate) use fit::Fit;
pub use light::EncoderTables;
pub use mapping::{By, Scale, Suggestion};
pub use painter::{Depth, MOST_SAMPLES, Painter, Tables};
pub use palette::{Palette, PaletteFormat, PaletteSource};
pub use rgb::{colour_text, parse_colour};
