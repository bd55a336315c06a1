//! A sheet of palettes: a picture with a bar for each.

use dwell::store::Output;
use dwell::{Depth, Error, Palette, Size, Team, png_bytes};
use font8x8::UnicodeFonts;
use std::io::Write;

/// Pixels of a letter on a side: the font has 8, each drawn as 2 x 2.
const LETTER: usize = 16;
/// Letters of a name that are shown.
const NAME: usize = 12;
const BAR: usize = 640;
/// The colour of the inside of the set, behind the bar.
const INSIDE: usize = 40;
const GAP: usize = 16;
/// Rows of a palette: its bar and the gap below.
const BAR_HEIGHT: usize = 32;
const LINE: usize = BAR_HEIGHT + 12;
/// So many palettes stand in one column; more stand in two.
const ONE_COLUMN: usize = 14;
const COLUMN: usize = GAP + NAME * LETTER + GAP + BAR + GAP + INSIDE + GAP;

const GROUND: [u8; 3] = [22, 22, 26];
const INK: [u8; 3] = [225, 225, 220];

/// Draws a sheet as a PNG: by palette its name, one turn of its colours, and the colour of the inside of the set.
///
/// # Errors
/// [`Error::Write`].
pub(crate) fn palette_sheet(palettes: &[Palette], mut output: Output) -> Result<(), Error> {
    let columns = if palettes.len() > ONE_COLUMN { 2 } else { 1 };
    let lines = palettes.len().div_ceil(columns).max(1);
    let (width, height) = (columns * COLUMN, GAP + lines * LINE);
    let mut picture: Vec<u8> = GROUND.repeat(width * height);
    for (i, palette) in palettes.iter().enumerate() {
        let (left, top) = (i / lines * COLUMN + GAP, i % lines * LINE + GAP);
        let mut put = |x: usize, y: usize, colour: [u8; 3]| {
            let at = ((top + y) * width + left + x) * 3;
            picture[at..at + 3].copy_from_slice(&colour);
        };
        write_name(palette.name(), |x, y| put(x, y + (BAR_HEIGHT - LETTER) / 2, INK));
        let byte = |colour: [u16; 3]| colour.map(|channel| (channel / 257) as u8);
        let from = NAME * LETTER + GAP;
        for y in 0..BAR_HEIGHT {
            for x in 0..BAR {
                put(from + x, y, byte(palette.at((x as f64 + 0.5) / BAR as f64)));
            }
            for x in 0..INSIDE {
                put(from + BAR + GAP + x, y, byte(palette.interior()));
            }
        }
    }
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let size = Size { width: side(width), height: side(height) };
    let encoded = png_bytes(&picture, size, Depth::Eight, "", &Team::new(1));
    encoded.and_then(|bytes| output.write_all(&bytes)).map_err(|e| output.error(e))?;
    output.commit()?;
    Ok(())
}

/// Calls `dot` for every dot of a name.
fn write_name(name: &str, mut dot: impl FnMut(usize, usize)) {
    for (i, letter) in name.chars().take(NAME).enumerate() {
        let Some(glyph) = font8x8::BASIC_FONTS.get(letter) else { continue };
        for (y, row) in glyph.iter().enumerate() {
            for x in (0..8).filter(|x| row >> x & 1 == 1) {
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    dot(i * LETTER + 2 * x + dx, 2 * y + dy);
                }
            }
        }
    }
}
