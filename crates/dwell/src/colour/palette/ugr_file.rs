//! Ultra Fractal's gradients, `.ugr` files, which contain any number of gradients:
//!
//! ```text
//! ; a comment
//! Blues {
//! gradient:
//!   title="Blues and gold" smooth=yes rotation=1 index=0 color=6555392
//!   index=64 color=13331232 index=257 color=43775
//! opacity:
//!   smooth=no index=0 opacity=255
//! }
//! ```
//!
//! A gradient is a cycle of 400 places; `index` is a place (any integer, taken modulo 400), `color` is the number
//! 0xBBGGRR in decimal. `smooth=yes` means curves through the colours, here monotone cubics, and `no` straight lines.
//! `rotation` is the position of a slider in Ultra Fractal. The indices in the file are those after the rotation (the
//! program's default gradient, rotated by 1, has index 0 where the unrotated one has -1), so it is not applied again.
//! Opacity is for layers, and is ignored here.

use super::draft::Draft;
use super::table::{Blend, from_stops};
use crate::base::error::InputError;
use crate::base::place::{Parameter, Place};
use crate::base::quote::quote;
use crate::colour::rgb::{Rgb16, from_bytes};
use crate::input::entries::{self, Entry, Kind, unquoted};
use std::collections::BTreeMap;

/// Places in a cycle.
const CYCLE: u16 = 400;

/// What an entry of the file is.
const KIND: Kind = Kind { what: "gradient", form: "NAME { gradient: ... }", parameter: Parameter::Gradient };

/// The gradient of the wanted name; without a name, the first gradient.
pub(super) fn choose<'a>(text: &'a str, wanted: Option<&str>) -> Result<Entry<'a>, InputError> {
    entries::choose(text, wanted, &KIND, |_| true)
}

/// The palette of a gradient.
pub(super) fn draft(block: &Entry<'_>) -> Result<Draft, InputError> {
    let mut body = block.words();
    let mut here = false;
    let mut title = None;
    let mut blend = Blend::Linear;
    let mut index = None;
    let mut stops = BTreeMap::new();
    while let Some((line, word)) = body.word()? {
        if let Some(section) = word.strip_suffix(':').filter(|section| !section.contains('=')) {
            here = section.eq_ignore_ascii_case("gradient");
            continue;
        }
        if !here {
            continue;
        }
        let wrong = |accepted: &str| {
            InputError::malformed(format!("{} is not understood", quote(&word))).accepts(accepted).at_line(line)
        };
        let (key, value) = word.split_once('=').ok_or_else(|| wrong("KEY=VALUE"))?;
        match key.to_ascii_lowercase().as_str() {
            "title" => title = Some(unquoted(value)).filter(|title| !title.is_empty()),
            "smooth" => {
                blend = match value.to_ascii_lowercase().as_str() {
                    "yes" => Blend::Smooth,
                    "no" => Blend::Linear,
                    _ => return Err(wrong("smooth=yes, smooth=no")),
                }
            }
            "index" => index = Some(place(value).ok_or_else(|| wrong("index=INTEGER"))?),
            "color" => {
                let colour = colour(value).ok_or_else(|| wrong("color=INTEGER, 0 to 16777215"))?;
                let index = index.take().ok_or_else(|| wrong("an index before each color"))?;
                // Of two colours at one place, the later counts.
                stops.insert(index, colour);
            }
            // Other keys are for Ultra Fractal's editor.
            _ => {}
        }
    }
    if stops.is_empty() {
        return Err(InputError::malformed("holds no colour")
            .accepts("gradient: index=0 color=255 ...")
            .within(Place::Part(format!("gradient {}", quote(block.name)))));
    }
    let stops: Vec<_> = stops.into_iter().map(|(index, c)| (f64::from(index) / f64::from(CYCLE), c)).collect();
    let name = Some(block.name.to_owned()).filter(|name| !name.is_empty());
    Ok(Draft { name, title, ..Draft::cycle(from_stops(&stops, blend, true)) })
}

/// An index, wrapped into the cycle.
fn place(value: &str) -> Option<u16> {
    let index: i64 = value.parse().ok()?;
    u16::try_from(index.rem_euclid(i64::from(CYCLE))).ok()
}

/// 0xBBGGRR.
fn colour(value: &str) -> Option<Rgb16> {
    let value: u32 = value.parse().ok().filter(|value| *value <= 0xff_ffff)?;
    let [r, g, b, _] = value.to_le_bytes();
    Some(from_bytes([r, g, b]))
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;
    use crate::base::problem::Problem;

    const FILE: &str = "\u{feff}; made by hand\r\nOne-1,a {\r\ngradient:\r\n  title=\"A; \\\r\n    {title}\" smooth=no rotation=9\r\n  \
        index=100 color=255\tindex=-100\r\n color=16711680; a comment }\r\nopacity:\r\n  smooth=yes index=0 opacity=1\r\n}\r\n\
        Two { gradient: smooth=yes index=0 color=65280 index=400 color=65793 index=600 color=0 }";

    fn palette(wanted: Option<&str>) -> Draft {
        draft(&choose(FILE, wanted).unwrap()).unwrap()
    }

    #[test]
    fn gradients_are_read_by_name() {
        let one = palette(None);
        assert_eq!(
            (one.name.as_deref(), one.title.as_deref(), one.cyclic),
            (Some("One-1,a"), Some("A; {title}"), true)
        );
        // Red at 1/4, blue at 3/4 (-100 wraps), straight lines: half of each at 1/2 and at 0.
        assert_eq!((one.table[TABLE / 4], one.table[3 * TABLE / 4]), ([65535, 0, 0], [0, 0, 65535]));
        assert_eq!((one.table[TABLE / 2], one.table[0]), ([32768, 0, 32768], [32768, 0, 32768]));
        assert_eq!(one.table[TABLE * 3 / 8], [49151, 0, 16384]);
        // Of two colours at one place the later counts; curves are flat at extrema.
        let two = palette(Some("Two"));
        assert_eq!((two.title, two.table[0], two.table[TABLE / 2]), (None, [257; 3], [0; 3]));
        assert_eq!(two.table[TABLE / 8][0], 217, "a cubic from 257 to 0, a quarter of the way: 27/32 of it");
        assert!(choose(FILE, Some("Two")).unwrap().text.starts_with("Two {"));
    }

    #[test]
    fn errors_name_the_line_and_what_is_accepted() {
        let error = choose(FILE, Some("Twos")).err().unwrap();
        assert_eq!(error.to_string(), "gradient: \"Twos\" is not known (accepted: One-1,a, Two)");
        assert!(matches!(error.problem(), Problem::Unknown { nearest: Some(name), .. } if name == "Two"));
        let many: String = (0..5000).map(|i| format!("g{i} {{ }}\n")).collect();
        assert!(choose(&many, Some("x")).err().unwrap().to_string().contains("g7 and 4992 more"));
        for (text, said) in [
            ("", "holds no gradient"),
            ("; nothing\n", "holds no gradient"),
            ("x", "line 1"),
            ("\n}", "line 2"),
            ("x\ny {", "line 1"),
            ("x {\ngradient:", "not closed"),
            ("x {\ntitle=\"a }", "line 2"),
            ("x { }", "holds no colour"),
            ("x { opacity: index=0 color=1 }", "holds no colour"),
            ("x {\n gradient:\n color=1 }", "line 3"),
            ("x {\n gradient:\n\n index=0.5 color=1 }", "line 4: \"index=0.5\""),
            ("x { gradient: index=0 color=16777216 }", "0 to 16777215"),
            ("x { gradient: index=0 color=-1 }", "0 to 16777215"),
            ("x { gradient: index=99999999999999999999 color=1 }", "index=INTEGER"),
            ("x { gradient: smooth=maybe }", "smooth=yes, smooth=no"),
            ("x { gradient: index }", "KEY=VALUE"),
        ] {
            let error = choose(text, None).and_then(|block| draft(&block)).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
