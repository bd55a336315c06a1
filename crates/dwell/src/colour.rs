//! Colour: from what is known of each pixel to a picture.
//!
//! A [`Palette`] is what every position looks like, a [`Colouring`] which position a pixel has, and a [`Painter`] does it.

mod built_in;
mod colouring;
mod elementary;
mod ggr_file;
mod light;
mod map_file;
mod mapping;
mod painter;
mod palette;
mod ranks;
mod rgb;
mod srgb;
mod table;
mod toml_file;
mod ugr_file;

pub use colouring::Colouring;
pub use light::EncoderTables;
pub use mapping::{By, Scale, Suggestion};
pub use painter::{Depth, MOST_SAMPLES, Painter, Tables};
pub use palette::{Palette, PaletteFormat, Source};
pub use rgb::{colour_text, parse_colour};
