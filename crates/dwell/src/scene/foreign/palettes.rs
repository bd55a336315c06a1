//! The colours of a location in the forms of other programs.

use crate::colour::{Colouring, Palette, PaletteFormat, PaletteSource, Scale};
use std::f64::consts::LN_2;

/// Key colours of a palette that is sampled for Kalles Fraktaler and Ultra Fractal.
const KEYS: u16 = 100;

/// Colours over one period, evenly spaced, with 8 bits a channel.
pub(super) fn sampled(palette: &Palette, count: u16) -> Vec<[u8; 3]> {
    let place = |i: u16| f64::from(i) / f64::from(count) * palette.period();
    (0..count).map(|i| in_bytes(palette.at(place(i)))).collect()
}

/// A colour with 8 bits a channel.
pub(super) fn in_bytes(colour: [u16; 3]) -> [u8; 3] {
    #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
    colour.map(|channel| ((u32::from(channel) + 128) / 257) as u8)
}

/// The lines of a file of Kalles Fraktaler. What its three scales cannot express is noted.
pub(super) fn kalles(colouring: &Colouring, left_out: &mut Vec<String>) -> String {
    let bgr = |colours: &[[u8; 3]]| -> String { colours.iter().map(|[r, g, b]| format!("{b},{g},{r},")).collect() };
    let palette = &colouring.palette;
    let colours = match palette.source() {
        PaletteSource::Text { format: PaletteFormat::Kfp, text } => {
            let line = text.lines().find_map(|line| line.trim().strip_prefix("Colors:"));
            line.map_or_else(String::new, |line| line.trim().to_owned())
        }
        _ => {
            left_out.push(format!("the palette, except for {KEYS} of its colours"));
            bgr(&sampled(palette, KEYS))
        }
    };
    let interior = bgr(&[in_bytes(palette.interior())]);
    // Turns of the cycle of 1024 for each unit of the value, and at 0 of it.
    let turns = colouring.density / palette.period();
    let offset = colouring.offset / palette.period();
    let (method, unit, offset) = match colouring.scale {
        Scale::Linear => (0, turns * Scale::PER_UNIT, offset),
        Scale::Root => (1, turns * Scale::PER_ROOT, offset - turns * Scale::PER_ROOT),
        Scale::Log => (3, turns * Scale::PER_LOG2 / LN_2, offset),
        scale => {
            left_out.push(format!("scale {scale}"));
            (0, Scale::PER_UNIT, 0.0)
        }
    };
    let divisor = 1.0 / (1024.0 * unit);
    // Whole places of the cycle, as the program has them.
    let places = ((offset - offset.floor()) * 1024.0).round() % 1024.0;
    let flat = u8::from(colouring.by == crate::colour::By::Banded);
    format!(
        "IterDiv: {divisor}\r\nSmoothMethod: 0\r\nColorMethod: {method}\r\nColorOffset: {places}\r\nFlat: {flat}\r\n\
         Colors: {colours}\r\nInteriorColor: {interior}\r\n"
    )
}

/// The sections of an Ultra Fractal gradient.
pub(super) fn ultra(palette: &Palette, left_out: &mut Vec<String>) -> String {
    if let PaletteSource::Text { format: PaletteFormat::Ugr, text } = palette.source() {
        let body = text.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}'));
        if let Some((body, _)) = body {
            return format!("{}\n", body.trim());
        }
    }
    left_out.push(format!("the palette, except for {KEYS} of its colours"));
    let number = |[r, g, b]: [u8; 3]| u32::from_le_bytes([r, g, b, 0]);
    let mut text = "gradient:\n  smooth=yes".to_owned();
    for (at, colour) in sampled(palette, KEYS).into_iter().enumerate() {
        let space = if at % 4 == 0 { "\n  " } else { " " };
        text.push_str(&format!("{space}index={} color={}", at * 400 / usize::from(KEYS), number(colour)));
    }
    text + "\nopacity:\n  smooth=no index=0 opacity=255\n"
}
