//! The colours of Kalles Fraktaler 2+, of a palette (`.kfp`) or a location (`.kfr`): lines `Key: value`.
//!
//! | key | meaning |
//! |---|---|
//! | `Colors` | blue, green and red of each key colour, 0 to 255, in that order |
//! | `IterDiv` | the divisor of the value |
//! | `ColorMethod` | the value: 0 the iterations n, 1 their square root, 3 their natural logarithm |
//! | `ColorOffset` | added to the quotient |
//! | `Flat` | 1: n is whole |
//! | `InteriorColor` | blue, green and red of the inside |
//!
//! A cycle has 1024 places, over which the key colours have equal shares. Between two of them every channel follows half
//! a period of a sine. A point has the colour at the place value / `IterDiv` + `ColorOffset`.
//!
//! Facts from the source of that program (functions `ApplyColors`, `SetColor`, `OpenString`), and from other programs that
//! read its files.

use super::draft::{Draft, MAX_STOPS};
use super::table::from_function;
use crate::base::error::InputError;
use crate::base::quote::quote;
use crate::colour::elementary::sine_of_turns;
use crate::colour::mapping::{By, MOST_TURNS, Scale, Suggestion};
use crate::colour::rgb::{Rgb16, channel, from_bytes};
use std::f64::consts::LN_2;

/// The keys that make up the palette.
#[cfg(feature = "toml")]
pub(crate) const KEYS: [&str; 6] = ["Colors", "IterDiv", "ColorMethod", "ColorOffset", "Flat", "InteriorColor"];

/// Places in a cycle.
const CYCLE: f64 = 1024.0;

/// The palette of a file. Lines with other keys are passed over.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    // Some editors begin a text with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut colours, mut interior) = (None, [0; 3]);
    let (mut divisor, mut offset, mut method, mut flat) = (1.0, 0.0, 0, false);
    for (at, line) in text.lines().enumerate() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let wrong = |accepted: &str| {
            InputError::malformed(format!("{} is {}", key.trim(), quote(value)))
                .accepts(accepted)
                .at_line(at as u64 + 1)
        };
        match key.trim() {
            "Colors" => colours = Some(key_colours(value).map_err(|e| e.at_line(at as u64 + 1))?),
            "IterDiv" => {
                divisor = number(value).filter(|d| *d > 0.0).ok_or_else(|| wrong("a number above 0"))?;
            }
            "ColorOffset" => offset = number(value).ok_or_else(|| wrong("a number"))?,
            "ColorMethod" => method = value.parse().map_err(|_| wrong("a whole number"))?,
            "Flat" => flat = value == "1",
            "InteriorColor" => {
                let colours = key_colours(value).map_err(|e| e.at_line(at as u64 + 1))?;
                interior = colours[0];
            }
            _ => {}
        }
    }
    let colours = colours.ok_or_else(|| InputError::malformed("holds no colours").accepts(FORM))?;
    let suggestion = suggestion(method, divisor, offset, flat);
    Ok(Draft { interior, suggestion, ..Draft::cycle(table(&colours)) })
}

/// Colours, scale, density and offset for which this project's rule gives the place value / divisor + offset of 1024.
fn suggestion(method: u64, divisor: f64, offset: f64, flat: bool) -> Suggestion {
    let by = Some(if flat { By::Banded } else { By::Smooth });
    // Turns of one unit of the value.
    let unit = 1.0 / (divisor * CYCLE);
    let (scale, density, from) = match method {
        0 => (Scale::Linear, unit / Scale::PER_UNIT, 0.0),
        // The scale root has no turns at 1.
        1 => (Scale::Root, unit / Scale::PER_ROOT, unit),
        3 => (Scale::Log, unit * LN_2 / Scale::PER_LOG2, 0.0),
        // The other methods have no scale here.
        _ => return Suggestion { by, ..Suggestion::default() },
    };
    let offset = offset / CYCLE + from;
    if !(density > 0.0 && density <= MOST_TURNS && offset.abs() <= MOST_TURNS) {
        return Suggestion { by, ..Suggestion::default() };
    }
    Suggestion { by, scale: Some(scale), density: Some(density), offset: Some(offset) }
}

/// The accepted colours, for messages.
const FORM: &str = "Colors: blue, green and red of 1 to 4096 colours, each 0 to 255, with commas between them";

/// A list of colours; a comma at its end is usual.
fn key_colours(value: &str) -> Result<Vec<Rgb16>, InputError> {
    let wrong = |problem: String| InputError::malformed(problem).accepts(FORM);
    let list = value.strip_suffix(',').unwrap_or(value);
    let mut channels = Vec::new();
    for word in list.split(',') {
        let word = word.trim();
        channels.push(word.parse::<u8>().map_err(|_| wrong(format!("{} is no channel of a colour", quote(word))))?);
        if channels.len() > 3 * MAX_STOPS {
            return Err(wrong("has too many colours".to_owned()));
        }
    }
    let (colours, rest) = channels.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(wrong(format!("has {} channels, not three for each colour", channels.len())));
    }
    Ok(colours.iter().map(|[b, g, r]| from_bytes([*r, *g, *b])).collect())
}

/// A finite number.
fn number(value: &str) -> Option<f64> {
    value.parse().ok().filter(|value: &f64| value.is_finite())
}

fn table(colours: &[Rgb16]) -> Vec<Rgb16> {
    from_function(true, |at| {
        let place = at * colours.len() as f64;
        let key = (place as usize).min(colours.len() - 1);
        let (a, b) = (colours[key], colours[(key + 1) % colours.len()]);
        let t = place - key as f64;
        let share = 0.5 * sine_of_turns(0.5 * t - 0.25) + 0.5;
        std::array::from_fn(|c| {
            let (a, b) = (f64::from(a[c]), f64::from(b[c]));
            channel(share * (b - a) + a)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    #[test]
    fn colours_are_blue_green_red_and_joined_by_sines() {
        let draft = draft("\u{feff}Zoom: 1\r\nColors: 255,128,0,0,0,255,\r\nInteriorColor: 1,2,3,\r\n").unwrap();
        assert_eq!(draft.table[0], from_bytes([0, 128, 255]));
        assert_eq!(draft.table[TABLE / 2], from_bytes([255, 0, 0]));
        // An eighth of the way between two keys: (1 - cos(pi / 8)) / 2 = 0.0380602.
        assert_eq!(draft.table[TABLE / 16][0], 2494);
        assert_eq!((draft.interior, draft.cyclic), (from_bytes([3, 2, 1]), true));
        let expected =
            Suggestion { by: Some(By::Smooth), scale: Some(Scale::Linear), density: Some(0.25), offset: Some(0.0) };
        assert_eq!(draft.suggestion, expected);
    }

    #[test]
    fn the_place_of_a_value_is_that_of_the_program() {
        for (method, value, of_value) in
            [(0, 700.0, 700.0), (1, 700.0, 26.457_513_110_645_906), (3, 1024.0, 6.931_471_805_599_453)]
        {
            let Suggestion { scale, density, offset, .. } = suggestion(method, 0.5, 100.0, false);
            let v: f64 = value;
            let turns = match scale.unwrap() {
                Scale::Linear => v * Scale::PER_UNIT,
                Scale::Root => (v.sqrt() - 1.0) * Scale::PER_ROOT,
                // log2 1024.
                _ => 10.0 * Scale::PER_LOG2,
            };
            let expected: f64 = (of_value / 0.5 + 100.0) / 1024.0;
            let found = turns * density.unwrap() + offset.unwrap();
            assert!((found - expected).abs() < 1e-12, "{method}: {found} {expected}");
        }
        assert_eq!(suggestion(7, 1.0, 0.0, true), Suggestion { by: Some(By::Banded), ..Suggestion::default() });
        assert_eq!(suggestion(0, 1e-300, 0.0, true).density, None);
    }

    #[test]
    fn errors_name_the_line() {
        let many = format!("Colors: {}", "1,2,3,".repeat(MAX_STOPS + 1));
        for (text, said) in [
            ("", "holds no colours (accepted: Colors: blue"),
            ("Re: 0\nColors: \n", "line 2: \"\" is no channel"),
            ("Colors: 1,2\n", "line 1: has 2 channels"),
            ("Colors: 1,2,256\n", "\"256\" is no channel"),
            ("Colors: 1,2,3\nIterDiv: 0\n", "line 2: IterDiv is \"0\" (accepted: a number above 0)"),
            ("Colors: 1,2,3\nColorMethod: x\n", "line 2: ColorMethod"),
            ("Colors: 1,2,3\nColorOffset: inf\n", "line 2: ColorOffset"),
            (&many, "too many colours"),
        ] {
            let error = draft(text).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
