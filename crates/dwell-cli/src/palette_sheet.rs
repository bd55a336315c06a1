//! A sheet of palettes: a picture with one bar per palette.

use dwell::store::Output;
use dwell::{Depth, Error, Palette, Size, ThreadPool, png_bytes};
use font8x8::UnicodeFonts;
use std::io::Write;

/// Side of a letter in pixels: the font's 8 dots, each drawn as 2 x 2 pixels.
const LETTER: usize = 16;
/// Number of letters of a name that are drawn; further letters are left out.
const NAME: usize = 12;
/// Width in pixels of the bar that shows one turn of the palette.
const BAR: usize = 640;
/// Width in pixels of the box in the interior colour, right of the bar.
const INSIDE: usize = 40;
/// Space in pixels between the parts of a line, and at the edges of the sheet.
const GAP: usize = 16;
/// Height of a bar in pixels.
const BAR_HEIGHT: usize = 32;
/// Space in pixels between two lines.
const LINE_GAP: usize = 12;
/// Height of a line in pixels: the bar and the gap below it.
const LINE: usize = BAR_HEIGHT + LINE_GAP;
/// Maximum number of palettes in one column; a sheet of more has two columns.
const ONE_COLUMN: usize = 14;
/// Width of a column in pixels.
const COLUMN: usize = GAP + NAME * LETTER + GAP + BAR + GAP + INSIDE + GAP;

/// The background, sRGB.
const GROUND: [u8; 3] = [22, 22, 26];
/// The colour of names, sRGB.
const INK: [u8; 3] = [225, 225, 220];

/// Writes the sheet as a PNG. Each line shows a palette's name, one turn of its colours and its interior colour.
///
/// # Errors
/// [`Error::Write`] if the output cannot be written.
pub(crate) fn palette_sheet(palettes: &[Palette], mut output: Output) -> Result<(), Error> {
    let columns = if palettes.len() > ONE_COLUMN { 2 } else { 1 };
    let lines = palettes.len().div_ceil(columns).max(1);
    let (width, height) = (columns * COLUMN, GAP + lines * LINE);
    let mut picture: Vec<u8> = GROUND.repeat(width * height);
    for (i, palette) in palettes.iter().enumerate() {
        let (left, top) = (i / lines * COLUMN + GAP, i % lines * LINE + GAP);
        // Paints a pixel of the line; `x` and `y` count from its top left corner.
        let mut put = |x: usize, y: usize, colour: [u8; 3]| {
            let at = ((top + y) * width + left + x) * 3;
            picture[at..at + 3].copy_from_slice(&colour);
        };
        draw_name(palette.name(), |x, y| put(x, y + (BAR_HEIGHT - LETTER) / 2, INK));
        // From 16 bits to 8: 65535 is 257 * 255.
        let to_bytes = |colour: [u16; 3]| colour.map(|channel| (channel / 257) as u8);
        let bar_left = NAME * LETTER + GAP;
        for y in 0..BAR_HEIGHT {
            for x in 0..BAR {
                // The colour at the middle of the pixel, with the whole bar as one turn.
                put(bar_left + x, y, to_bytes(palette.at((x as f64 + 0.5) / BAR as f64)));
            }
            for x in 0..INSIDE {
                put(bar_left + BAR + GAP + x, y, to_bytes(palette.interior()));
            }
        }
    }
    let pixels = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let size = Size { width: pixels(width), height: pixels(height) };
    let encoded = png_bytes(&picture, size, Depth::Eight, "", &ThreadPool::new(1));
    encoded.and_then(|bytes| output.write_all(&bytes)).map_err(|e| output.error(e))?;
    output.commit()?;
    Ok(())
}

/// Calls `dot` with the x and y of every pixel of a name, counted from the top left corner of its first letter. Letters
/// that the font lacks are left blank.
fn draw_name(name: &str, mut dot: impl FnMut(usize, usize)) {
    for (i, letter) in name.chars().take(NAME).enumerate() {
        let Some(glyph) = font8x8::BASIC_FONTS.get(letter) else { continue };
        for (y, row) in glyph.iter().enumerate() {
            // A row of a glyph is 8 bits, the lowest of which is the leftmost dot.
            for x in (0..8).filter(|x| row >> x & 1 == 1) {
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    dot(i * LETTER + 2 * x + dx, 2 * y + dy);
                }
            }
        }
    }
}
