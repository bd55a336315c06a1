//! Sizes by name: screens, and paper at a resolution.

use super::{MAX_SIDE, Size};
use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::quote::quote;

/// Screens, with the sides of each in pixels.
const SCREENS: [(&str, [u32; 2]); 14] = [
    ("720p", [1280, 720]),
    ("hd", [1280, 720]),
    ("1080p", [1920, 1080]),
    ("fhd", [1920, 1080]),
    ("1440p", [2560, 1440]),
    ("qhd", [2560, 1440]),
    ("4k", [3840, 2160]),
    ("uhd", [3840, 2160]),
    ("8k", [7680, 4320]),
    ("square", [2048, 2048]),
    ("desktop", [2560, 1440]),
    ("ultrawide", [3440, 1440]),
    ("tablet", [2732, 2048]),
    ("phone", [1170, 2532]),
];

/// Paper in portrait, with the sides of each in tenths of a millimetre: ISO 216, US letter, and a poster of 24 x 36 inches.
const PAPERS: [(&str, [u32; 2]); 9] = [
    ("a0", [8410, 11890]),
    ("a1", [5940, 8410]),
    ("a2", [4200, 5940]),
    ("a3", [2970, 4200]),
    ("a4", [2100, 2970]),
    ("a5", [1480, 2100]),
    ("a6", [1050, 1480]),
    ("letter", [2159, 2794]),
    ("poster", [6096, 9144]),
];

/// Tenths of a millimetre in an inch.
const INCH: u64 = 254;
/// Pixels per inch of a paper without a resolution.
const USUAL_DPI: u64 = 300;
/// The greatest resolution.
const MOST_DPI: u64 = 4800;

impl Size {
    /// The names that a size is read from beside `WIDTHxHEIGHT`: screens, then paper. Each may be followed by `-portrait`
    /// or `-landscape`, and paper by a resolution such as `@300dpi`, which is the usual one.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SCREENS.iter().chain(&PAPERS).map(|(name, _)| *name)
    }

    /// The size of that name; `None` if the text begins with no name.
    pub(super) fn named(text: &str) -> Option<Result<Self, InputError>> {
        let lower = text.trim().to_ascii_lowercase();
        let end = lower.find(['-', '@']).unwrap_or(lower.len());
        let (name, rest) = lower.split_at(end);
        let of = |list: &[(&str, [u32; 2])]| list.iter().find(|(known, _)| *known == name).map(|(_, sides)| *sides);
        let (screen, paper) = (of(&SCREENS), of(&PAPERS));
        let sides = screen.or(paper)?;
        Some(with_suffixes(sides, paper.is_some(), rest).ok_or_else(|| {
            let accepted = if paper.is_some() {
                format!("{name}, with -portrait or -landscape, and with @1dpi to @{MOST_DPI}dpi")
            } else {
                format!("{name}, {name}-portrait, {name}-landscape")
            };
            InputError::malformed(format!("{} is no form of the size {name}", quote(text)))
                .about(Parameter::Size)
                .accepts(accepted)
        }))
    }
}

/// The size of these sides with the orientation and the resolution in `rest`; `None` if it has anything else.
fn with_suffixes([width, height]: [u32; 2], is_paper: bool, rest: &str) -> Option<Size> {
    let (mut turned, mut dpi) = (None, None);
    let mut rest = rest;
    while !rest.is_empty() {
        let end = rest[1..].find(['-', '@']).map_or(rest.len(), |at| at + 1);
        let (suffix, more) = rest.split_at(end);
        let earlier = match suffix {
            "-portrait" => turned.replace(width > height).is_some(),
            "-landscape" => turned.replace(width < height).is_some(),
            _ => dpi.replace(resolution(suffix).filter(|_| is_paper)?).is_some(),
        };
        if earlier {
            return None;
        }
        rest = more;
    }
    let pixels = |side: u32| {
        // Rounded to the nearest.
        let pixels = (u64::from(side) * dpi.unwrap_or(USUAL_DPI) + INCH / 2) / INCH;
        u32::try_from(pixels).ok().filter(|side| (1..=MAX_SIDE).contains(side))
    };
    let (width, height) = if is_paper { (pixels(width)?, pixels(height)?) } else { (width, height) };
    Some(if turned == Some(true) { Size { width: height, height: width } } else { Size { width, height } })
}

/// The resolution in a text such as `@300dpi`.
fn resolution(suffix: &str) -> Option<u64> {
    let digits = suffix.strip_prefix('@')?.strip_suffix("dpi")?;
    let is_number = (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|dpi| is_number && (1..=MOST_DPI).contains(dpi))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sizes() {
        for (text, width, height) in [
            ("4k", 3840, 2160),
            ("4K-portrait", 2160, 3840),
            ("UHD", 3840, 2160),
            ("1080p", 1920, 1080),
            ("fhd-landscape", 1920, 1080),
            ("phone", 1170, 2532),
            ("phone-landscape", 2532, 1170),
            ("square-portrait", 2048, 2048),
            ("a4", 2480, 3508),
            ("a4@300dpi", 2480, 3508),
            ("a4@300dpi-landscape", 3508, 2480),
            ("a4-landscape@150dpi", 1754, 1240),
            ("a0@4800dpi", 158_929, 224_693),
            ("letter@100dpi", 850, 1100),
            ("poster@300dpi", 7200, 10_800),
        ] {
            assert_eq!(text.parse::<Size>().unwrap(), Size { width, height }, "{text}");
        }
        for name in Size::names() {
            assert!(name.parse::<Size>().is_ok(), "{name}");
        }
    }

    #[test]
    fn other_forms_of_names_are_refused() {
        for (text, said) in [
            ("4k@300dpi", "4k, 4k-portrait, 4k-landscape"),
            ("a4@dpi", "@1dpi to @4800dpi"),
            ("a4@0dpi", "@1dpi"),
            ("a4@4801dpi", "@1dpi"),
            ("a4@+30dpi", "@1dpi"),
            ("a4@300", "@1dpi"),
            ("a4@300dpi@300dpi", "@1dpi"),
            ("a4-portrait-portrait", "@1dpi"),
            ("a4-", "@1dpi"),
            ("phone-upright", "phone-landscape"),
            ("a9", "4k"),
            ("5k", "phone"),
            ("-portrait", "letter"),
        ] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
