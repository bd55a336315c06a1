//! Fractint's `colors=`: 256 colours of 6 bits a channel. A channel is one of 64 characters: digits, capital letters, `_`,
//! `` ` ``, small letters. `<n>` stands for n colours between the one before and the one after, at equal distances.
//! Colour 0 is usually black and that of `inside=0`; an iteration n has the colour (n - 1) mod 255 + 1.

use crate::base::error::InputError;
use crate::base::quote::quote;

/// Colours of a map.
const COLOURS: usize = 256;
/// The greatest channel.
const MOST: u8 = 63;
/// A colour that the text leaves out.
const UNSET: u8 = 40;

/// The accepted form, for messages.
const FORM: &str = "three of 0-9 A-Z _ ` a-z for each of up to 256 colours, or <2> to <254> between two of them";

/// The colours, with 8 bits a channel.
pub(super) fn read(text: &str) -> Result<[[u8; 3]; COLOURS], InputError> {
    let wrong = |problem: &str| InputError::malformed(format!("{problem} in {}", quote(text))).accepts(FORM);
    let mut colours = [[UNSET; 3]; COLOURS];
    let (mut at, mut between) = (0, 0);
    let mut rest = text.as_bytes();
    while let Some(first) = rest.first() {
        if *first == b'<' {
            let end = rest.iter().position(|byte| *byte == b'>').ok_or_else(|| wrong("a < has no >"))?;
            let count = std::str::from_utf8(&rest[1..end]).ok().and_then(|count| count.parse::<usize>().ok());
            let count = count.filter(|count| (2..COLOURS).contains(count) && at > 0 && between == 0);
            between = count.ok_or_else(|| wrong("< > is out of place or range"))?;
            rest = &rest[end + 1..];
            continue;
        }
        let last = at + between;
        let (Some(colour), true) = (rest.first_chunk::<3>(), last < COLOURS) else {
            let problem =
                if last < COLOURS { "a colour has less than three characters" } else { "there are too many colours" };
            return Err(wrong(problem));
        };
        let mut channels = [0; 3];
        for (channel, byte) in channels.iter_mut().zip(colour) {
            *channel = value(*byte).ok_or_else(|| wrong("a character stands for no channel"))?;
        }
        colours[last] = channels;
        if between > 0 {
            let (start, steps) = (colours[at - 1], between + 1);
            for step in 1..steps {
                colours[at - 1 + step] = mixed(start, channels, step, steps);
            }
        }
        (at, between) = (last + 1, 0);
        rest = &rest[3..];
    }
    if between > 0 || at == 0 {
        return Err(wrong("no colour follows"));
    }
    Ok(colours.map(|colour| colour.map(|channel| (u16::from(channel) * 255 / u16::from(MOST)) as u8)))
}

/// The colour after so many of `steps` steps from one to the other, rounded as the program rounds it.
fn mixed(from: [u8; 3], to: [u8; 3], step: usize, steps: usize) -> [u8; 3] {
    std::array::from_fn(|c| {
        let sum = step * usize::from(to[c]) + (steps - step) * usize::from(from[c]) + steps / 2;
        u8::try_from(sum / steps).unwrap_or(MOST)
    })
}

fn value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'0'..=b'9' => byte - b'0',
        b'A'..=b'Z' => byte - b'A' + 10,
        b'_'..=b'z' => byte - b'_' + 36,
        _ => return None,
    })
}

/// The text of 256 colours.
pub(super) fn write(colours: &[[u8; 3]]) -> String {
    let digit = |channel: u8| {
        let six = ((u16::from(channel) * u16::from(MOST) + 127) / 255) as u8;
        char::from(match six {
            0..=9 => b'0' + six,
            10..=35 => b'A' + six - 10,
            _ => b'_' + six - 36,
        })
    };
    colours.iter().flat_map(|colour| colour.map(digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_decoded_and_ranges_filled() {
        let colours = read("000zzz<3>000A_`").unwrap();
        assert_eq!(colours[..2], [[0; 3], [255; 3]]);
        // 63, 47.25, 31.5, 15.75, 0, rounded to nearest, halves up.
        assert_eq!(
            colours[2..6],
            [[47_u8; 3], [32; 3], [16; 3], [0; 3]].map(|c| c.map(|v| (u16::from(v) * 255 / 63) as u8))
        );
        assert_eq!(colours[6], [40, 145, 149]);
        assert_eq!(colours[7], [161; 3]);
        let text = write(&colours);
        assert_eq!((read(&text).unwrap(), text.len()), (colours, 768));
    }

    #[test]
    fn every_error_is_found() {
        for text in
            ["", "00", "0", "000<2>", "<2>000", "000<1>000", "000<255>zzz", "000<2", "000<2><2>zzz", "000!00", "^^^"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"000".repeat(257)).is_err() && read(&"000".repeat(256)).is_ok());
    }
}
