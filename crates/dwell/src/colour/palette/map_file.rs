//! `.map` palette files as introduced by Fractint: each line has red, green and blue of a colour, 0 to 255; the rest of
//! the line is a comment.

use super::draft::{Draft, MAX_STOPS};
use super::table::{Blend, from_stops};
use crate::base::error::InputError;
use crate::base::quote::quote;
use crate::colour::rgb::from_bytes;

/// The palette of a file: a cycle of its colours, blended by monotone cubics.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    let colours = parse(text, MAX_STOPS)?;
    let count = colours.len() as f64;
    let stops: Vec<_> = colours.into_iter().enumerate().map(|(i, c)| (i as f64 / count, from_bytes(c))).collect();
    Ok(Draft::cycle(from_stops(&stops, Blend::Smooth, true)))
}

/// The colours of a file, at most `most`.
fn parse(text: &str, most: usize) -> Result<Vec<[u8; 3]>, InputError> {
    let mut colours = Vec::new();
    // Some editors begin a text with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        let mut words = line.split_whitespace();
        let mut colour = [0; 3];
        for channel in &mut colour {
            let value = words.next().and_then(|word| word.parse().ok());
            *channel = value.ok_or_else(|| {
                InputError::malformed(format!("{} is no colour", quote(line)))
                    .accepts("red, green and blue, each 0 to 255")
                    .at_line(at as u64 + 1)
            })?;
        }
        colours.push(colour);
        if colours.len() > most {
            return Err(InputError::malformed("too many colours")
                .accepts(format!("1 to {most} colours"))
                .at_line(at as u64 + 1));
        }
    }
    if colours.is_empty() {
        return Err(InputError::malformed("holds no colour").accepts("lines of red, green and blue, each 0 to 255"));
    }
    Ok(colours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_errors_name_the_line() {
        assert_eq!(parse("\u{feff}1 2 3", 9).unwrap(), [[1, 2, 3]]);
        assert_eq!(parse("0 0 0 black\n\n255 128 7\n; end\n", 9).unwrap(), [[0, 0, 0], [255, 128, 7]]);
        for (text, line) in [
            ("0 0 0\n1 2\n", "line 2"),
            ("0 0 256", "line 1"),
            ("a b c", "line 1"),
            ("", "no colour"),
            ("-1 0 0", "line 1"),
        ] {
            assert!(parse(text, 9).unwrap_err().to_string().contains(line), "{text}");
        }
        assert!(parse(&"1 2 3\n".repeat(10), 9).is_err());
    }
}
