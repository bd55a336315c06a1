//! A palette in one line, for a flag or a key: `#001,#fff,#fa0`, or with positions `#001@0,#fff@0.3`. It is a smooth cycle.

use super::draft::{Draft, MAX_STOPS};
use super::table::{Blend, even_positions, from_stops};
use crate::base::error::InputError;
use crate::base::place::Place;
use crate::base::quote::quote;
use crate::colour::rgb::parse_colour;

/// The accepted form, for messages.
const FORM: &str = "colours with commas between them: #001,#fff,#fa0; or each with its position: #001@0,#fff@0.3";

/// The palette of a text.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    let count = text.split(',').count();
    if count > MAX_STOPS {
        let many = InputError::malformed(format!("has {count} colours"));
        return Err(many.accepts(format!("1 to {MAX_STOPS} colours")));
    }
    let (mut colours, mut positions) = (Vec::new(), Vec::new());
    for (at, word) in text.split(',').enumerate() {
        let nth = |e: InputError| e.within(Place::Part(format!("colour {}", at + 1)));
        let (colour, position) = match word.split_once('@') {
            Some((colour, position)) => (colour, Some(position)),
            None => (word, None),
        };
        colours.push(parse_colour(colour.trim()).map_err(|e| nth(e.accepts(FORM)))?);
        if let Some(position) = position {
            let last = positions.last().copied();
            positions.push(place(position.trim(), last).map_err(nth)?);
        }
    }
    if !positions.is_empty() && positions.len() != colours.len() {
        let problem = format!("{} of {} colours have a position", positions.len(), colours.len());
        return Err(InputError::malformed(problem).accepts("a position for each colour, or for none"));
    }
    if positions.is_empty() {
        positions = even_positions(colours.len(), true, Blend::Smooth);
    }
    let stops: Vec<_> = positions.into_iter().zip(colours).collect();
    Ok(Draft::cycle(from_stops(&stops, Blend::Smooth, true)))
}

/// A position after the last one.
fn place(text: &str, last: Option<f64>) -> Result<f64, InputError> {
    let wrong = |problem: String| InputError::malformed(problem).accepts("increasing positions from 0 to below 1");
    let value: f64 = text.parse().map_err(|_| wrong(format!("{} is no position", quote(text))))?;
    if !(0.0..1.0).contains(&value) || last.is_some_and(|last| value <= last) {
        return Err(wrong(format!("the position {} is out of order or range", quote(text))));
    }
    // Not -0, of which the sign has no meaning here.
    Ok(value + 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;
    use crate::colour::rgb::from_bytes;

    #[test]
    fn colours_have_equal_shares_or_positions() {
        let even = draft("#001, #fff ,#fa0").unwrap();
        assert_eq!((even.table[0], even.cyclic), (from_bytes([0, 0, 17]), true));
        assert_eq!(draft("#000,#fff").unwrap().table[TABLE / 2], [65535; 3]);
        let placed = draft("#000@0,#fff@0.25").unwrap();
        assert_eq!(placed.table[TABLE / 4], [65535; 3]);
        assert_eq!(draft("#123456").unwrap().table[77], from_bytes([0x12, 0x34, 0x56]));
    }

    #[test]
    fn errors_name_the_colour() {
        let many = vec!["#000"; MAX_STOPS + 1].join(",");
        for (text, said) in [
            ("", "colour 1: \"\" is no colour"),
            ("#000,,#fff", "colour 2"),
            ("#000,red", "colour 2: \"red\" is no colour (accepted: colours with commas"),
            ("#000@0,#fff", "1 of 2 colours have a position"),
            ("#000@0,#fff@1", "colour 2: the position \"1\" is out"),
            ("#000@0.5,#fff@0.5", "colour 2"),
            ("#000@x", "colour 1: \"x\" is no position"),
            ("#000@nan", "colour 1"),
            (&many, "has 4097 colours"),
        ] {
            let error = draft(text).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
