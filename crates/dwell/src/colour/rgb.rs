//! A colour: three channels of 16 bits, and its text.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::quote::quote;

/// Red, green, blue, sRGB-encoded; 65535 is full.
pub(super) type Rgb16 = [u16; 3];

/// Full strength of a channel.
pub(super) const FULL: f64 = 65535.0;

/// The channel nearest to a value, 0 to 65535; values out of range are clamped.
pub(super) fn channel(value: f64) -> u16 {
    // Clamped; NaN becomes 0.
    (value + 0.5).clamp(0.0, FULL) as u16
}

/// A colour with 8 bits a channel.
pub(super) fn from_bytes(colour: [u8; 3]) -> Rgb16 {
    colour.map(|c| u16::from(c) * 257)
}

/// Reads a colour: red, green, blue with 4, 8 or 16 bits each (`#rgb`, `#rrggbb`, `#rrrrggggbbbb`), 65535 being full.
///
/// # Errors
/// When the text is not a colour.
pub fn parse_colour(text: &str) -> Result<[u16; 3], InputError> {
    let digits = text.strip_prefix('#').filter(|d| matches!(d.len(), 3 | 6 | 12));
    let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    // The largest number with as many digits divides 65535.
    let parsed = digits.and_then(|digits| {
        let each = digits.len() / 3;
        let full = [0xf, 0xff, 0, 0xffff][each - 1];
        let mut colour = [0; 3];
        for (channel, digits) in colour.iter_mut().zip(digits.as_bytes().chunks_exact(each)) {
            let value = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            *channel = value * (0xffff / full);
        }
        Some(colour)
    });
    parsed.ok_or_else(|| {
        InputError::malformed(format!("{} is no colour", quote(text)))
            .about(Parameter::Colour)
            .accepts("#rrggbb, such as #0a2463; #rgb; #rrrrggggbbbb")
    })
}

/// The text of a colour: `#rrggbb` where that is exact, `#rrrrggggbbbb` otherwise.
#[must_use]
pub fn colour_text(colour: [u16; 3]) -> String {
    let [r, g, b] = colour;
    if colour.iter().all(|channel| channel % 257 == 0) {
        let [r, g, b] = [r, g, b].map(|channel| channel / 257);
        return format!("#{r:02x}{g:02x}{b:02x}");
    }
    format!("#{r:04x}{g:04x}{b:04x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_three_lengths() {
        assert_eq!(parse_colour("#0a2463"), Ok([0x0a0a, 0x2424, 0x6363]));
        assert_eq!(parse_colour("#0aF"), Ok([0, 0xaaaa, 0xffff]));
        assert_eq!(parse_colour("#0123456789aB"), Ok([0x0123, 0x4567, 0x89ab]));
        assert_eq!(parse_colour("#ffffff"), Ok(from_bytes([255; 3])));
        for text in
            ["", "#", "red", "123456", "#12", "#12345", "#12345g", "#+1+2+3", "#123456789", "#\u{e9}\u{e9}\u{e9}"]
        {
            assert!(parse_colour(text).unwrap_err().to_string().contains("#rrggbb"), "{text}");
        }
    }

    #[test]
    fn colours_are_written_as_they_are_read() {
        for text in ["#000000", "#0a2463", "#ffffff", "#123456789abc"] {
            assert_eq!(colour_text(parse_colour(text).unwrap()), text);
        }
        assert_eq!(colour_text(parse_colour("#fff").unwrap()), "#ffffff");
    }

    #[test]
    fn channels_round_and_stay_inside() {
        assert_eq!([-5.0, 0.49, 0.5, 65534.6, 1e9, f64::NAN].map(channel), [0, 0, 1, 65535, 65535, 0]);
    }
}
