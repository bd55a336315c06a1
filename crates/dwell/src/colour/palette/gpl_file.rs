//! `.gpl` palettes of GIMP (also of Inkscape and Krita): a list of colours.
//!
//! ```text
//! GIMP Palette
//! Name: Sea
//! Columns: 4
//! # a comment
//!   0  10  40  deep
//! 250 240 200  sand
//! ```
//!
//! The list says nothing of a gradient. It is read as a smooth cycle through its colours in order, since neighbours in
//! such a list are usually shades of each other; `.map` files are read in the same way.

use super::draft::{Draft, MAX_STOPS};
use super::table::{Blend, from_stops};
use crate::base::error::InputError;
use crate::base::quote::quote;
use crate::colour::rgb::{Rgb16, from_bytes};

/// The palette of a file.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    // Some editors begin a text with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, first)) if first.trim() == "GIMP Palette" => {}
        _ => return Err(InputError::malformed("does not begin with \"GIMP Palette\"").at_line(1)),
    }
    let (mut name, mut colours) = (None, Vec::new());
    for (at, line) in lines {
        let line = line.trim();
        let value = |key: &str| line.strip_prefix(key).map(str::trim);
        // Names and columns stand before the colours.
        if let Some(value) = value("Name:").filter(|_| colours.is_empty()) {
            name = Some(value.to_owned()).filter(|name| !name.is_empty());
        } else if !(line.is_empty() || line.starts_with('#') || value("Columns:").is_some()) {
            colours.push(colour(line).map_err(|e| e.at_line(at as u64 + 1))?);
        }
        if colours.len() > MAX_STOPS {
            let many = InputError::malformed("has too many colours").accepts(format!("1 to {MAX_STOPS} colours"));
            return Err(many.at_line(at as u64 + 1));
        }
    }
    if colours.is_empty() {
        return Err(InputError::malformed("holds no colour").accepts(FORM));
    }
    let count = colours.len() as f64;
    let stops: Vec<_> = colours.into_iter().enumerate().map(|(i, c)| (i as f64 / count, c)).collect();
    Ok(Draft { title: name, ..Draft::cycle(from_stops(&stops, Blend::Smooth, true)) })
}

/// The accepted lines, for messages.
const FORM: &str = "lines of red, green and blue, each 0 to 255";

/// The colour of a line; what follows it is its name.
fn colour(line: &str) -> Result<Rgb16, InputError> {
    let mut words = line.split_whitespace();
    let mut colour = [0; 3];
    for channel in &mut colour {
        let value = words.next().and_then(|word| word.parse().ok());
        *channel = value.ok_or_else(|| InputError::malformed(format!("{} is no colour", quote(line))).accepts(FORM))?;
    }
    Ok(from_bytes(colour))
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    #[test]
    fn colours_are_a_smooth_cycle_in_their_order() {
        let text =
            "\u{feff}GIMP Palette\r\nName: Sea \r\nColumns: 2\r\n#\r\n  0   0   0\tblack\n255 128   7 Name: no key\n";
        let draft = draft(text).unwrap();
        assert_eq!((draft.name, draft.title.as_deref(), draft.cyclic), (None, Some("Sea"), true));
        assert_eq!((draft.table[0], draft.table[TABLE / 2]), ([0; 3], from_bytes([255, 128, 7])));
    }

    #[test]
    fn errors_name_the_line() {
        let many = format!("GIMP Palette\n{}", "1 2 3\n".repeat(MAX_STOPS + 1));
        for (text, said) in [
            ("", "line 1: does not begin"),
            ("GIMP Gradient\n", "line 1: does not begin"),
            ("GIMP Palette\nName: x\n", "holds no colour (accepted: lines of red"),
            ("GIMP Palette\n#\n1 2\n", "line 3: \"1 2\" is no colour"),
            ("GIMP Palette\n1 2 256\n", "line 2"),
            (&many, "line 4098: has too many colours"),
        ] {
            let error = draft(text).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
