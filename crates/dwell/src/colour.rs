//! Colour: from the channels of a field to a picture.
//!
//! A [`Palette`] has a colour for each position, a [`Colouring`] is the rule that gives each pixel its position, and a
//! [`Painter`] applies the rule.

mod colouring;
pub(crate) mod contrast;
mod dither;
mod elementary;
mod light;
mod mapping;
mod painter;
mod palette;
mod ranks;
mod rgb;
mod samples;
mod srgb;

pub use colouring::Colouring;
pub use light::EncoderTables;
pub use mapping::{By, Scale, Suggestion};
pub(crate) use painter::Wide;
pub use painter::{Depth, Painter, Tables};
pub use palette::{Palette, PaletteFormat, PaletteSource};
pub use rgb::{colour_text, parse_colour};
pub use samples::{MOST_SAMPLES, Samples};
