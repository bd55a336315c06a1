//! Colour: from smooth values to pixels of a picture.

mod built_in;
mod elementary;
mod ggr_file;
mod map_file;
mod mapping;
mod palette;
mod rgb;
mod srgb;
mod table;
mod toml_file;
mod ugr_file;

pub use mapping::{By, Scale, Suggestion};
pub use palette::{Palette, PaletteFormat, Source};
pub use rgb::parse_colour;

use crate::field::Field;
use crate::parallel::{Schedule, Team};

/// Bytes of a pixel: red, green, blue, in sRGB.
pub const CHANNELS: usize = 3;

/// Pixels coloured by a thread at once.
const SPAN: usize = 1 << 14;

/// Writes the picture of a field, which has smooth values, row by row: red, green, blue of each pixel.
///
/// A pixel that did not escape has the palette's interior colour. One that did is at position 0.11 (sqrt(smooth) - 1)
/// of the palette, which repeats with period 1 (smooth values under 1 are taken as 1): the root keeps the wide bands
/// around the set and the dense ones at its boundary both readable, at any depth, without knowing the rest of the
/// image; the far surroundings, which escape at once, have the palette's first colour.
///
/// # Panics
/// When the field has no smooth values or `picture` is not three bytes a pixel.
pub fn colour(field: &Field, palette: &Palette, team: &Team, picture: &mut [u8]) {
    assert_eq!(field.smooth().len() * CHANNELS, picture.len(), "a smooth value and three bytes for each pixel");
    let spans = picture.chunks_mut(SPAN * CHANNELS).zip(field.smooth().chunks(SPAN).zip(field.dwell().chunks(SPAN)));
    let work = |(): &mut (), (out, (smooth, dwell)): (&mut [u8], (&[f64], &[u32]))| {
        for ((out, smooth), dwell) in out.chunks_exact_mut(CHANNELS).zip(smooth).zip(dwell) {
            let colour = if *dwell == 0 { palette.interior() } else { palette.at(position(*smooth)) };
            out.copy_from_slice(&colour.map(byte));
        }
    };
    team.for_each(Schedule::default(), spans.collect(), || (), work);
}

/// The nearest 8-bit value of a channel.
#[inline]
fn byte(channel: u16) -> u8 {
    #[allow(clippy::cast_possible_truncation, reason = "at most (65535 + 128) / 257 = 255")]
    let byte = ((u32::from(channel) + 128) / 257) as u8;
    byte
}

/// Turns of the palette for each unit of the root of the smooth value.
const DENSITY: f64 = 0.11;

/// Where in the palette a smooth value is, in turns. IEEE operations only: the same on every machine.
#[inline]
fn position(smooth: f64) -> f64 {
    DENSITY * (smooth.max(1.0).sqrt() - 1.0)
}
