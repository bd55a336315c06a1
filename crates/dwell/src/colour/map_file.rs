//! `.map` palette files as Fractint introduced them: one colour a line, red, green and blue from 0 to 255, anything
//! after them a comment.

use super::palette::{Draft, MAX_STOPS};
use super::rgb::from_bytes;
use super::table::{Blend, from_stops};
use crate::base::error::{InputError, quote};

/// The palette of a file: a cycle of its colours, smoothly blended.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    let colours = parse(text, MAX_STOPS)?;
    let count = colours.len() as f64;
    let stops: Vec<_> = colours.into_iter().enumerate().map(|(i, c)| (i as f64 / count, from_bytes(c))).collect();
    Ok(Draft::cycle(from_stops(&stops, Blend::Smooth, true)))
}

/// The colours of a file, at most `most`.
fn parse(text: &str, most: usize) -> Result<Vec<[u8; 3]>, InputError> {
    let mut colours = Vec::new();
    // Some editors begin a text with a mark of its byte order.
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
                InputError::new(format!("line {}", at + 1), format!("{} is no colour", quote(line)))
                    .accepted("red, green and blue, each 0 to 255")
            })?;
        }
        colours.push(colour);
        if colours.len() > most {
            return Err(InputError::new(format!("line {}", at + 1), "too many colours")
                .accepted(format!("1 to {most} colours")));
        }
    }
    if colours.is_empty() {
        return Err(InputError::new("", "holds no colour").accepted("lines of red, green and blue, each 0 to 255"));
    }
    Ok(colours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_and_says_which_is_wrong() {
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
