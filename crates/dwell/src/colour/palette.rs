//! Palettes: a cycle of colours, from a few stops.

use super::map_file;
use crate::error::{Error, InputError, quote, shown, unknown_name};
use crate::location::{read_text, toml_error};
use serde::Deserialize;
use std::path::Path;

/// Colours in the table of a palette: two neighbours differ by less than one step of an 8-bit channel for any
/// palette whose stops are at least 1/32 of a cycle apart.
const TABLE: usize = 8192;
/// The most stops of a palette.
const MAX_STOPS: usize = 4096;
/// The largest palette file read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Red, green, blue in sRGB.
type Rgb = [u8; 3];

/// A cycle of colours and one for the inside of the set.
#[derive(Clone)]
pub struct Palette {
    name: String,
    title: String,
    interior: Rgb,
    table: Vec<Rgb>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    title: Option<String>,
    interior: Option<String>,
    #[serde(alias = "colors")]
    colours: Vec<String>,
    positions: Option<Vec<f64>>,
}

impl Palette {
    /// The palette with these stops: position in the cycle (from 0, increasing, below 1) and colour. Between stops each
    /// channel follows a monotone cubic through its neighbours (Fritsch and Carlson, 1980), so that no channel
    /// overshoots and no stop shows as a crease; the last stop runs on into the first.
    fn from_stops(name: String, title: String, interior: Rgb, stops: &[(f64, Rgb)]) -> Self {
        let table = (0..TABLE).map(|i| interpolate(stops, i as f64 / TABLE as f64)).collect();
        Self { name, title, interior, table }
    }

    /// Reads the text of a palette file in TOML: `colours = ["#rrggbb", ...]`, and if wanted `positions`, `interior`,
    /// `name`, `title`.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(text: &str, name: &str) -> Result<Self, InputError> {
        let file: File = toml::from_str(text).map_err(|e| toml_error(text, &e))?;
        let nth = |(i, c): (usize, &String)| hex(c).map_err(|e| e.named(&format!("colour {}", i + 1)));
        let colours = file.colours.iter().enumerate().map(nth).collect::<Result<Vec<_>, _>>()?;
        if !(1..=MAX_STOPS).contains(&colours.len()) {
            return Err(
                InputError::new("colours", format!("there are {}", colours.len())).accepted("1 to 4096 colours")
            );
        }
        let positions = match file.positions {
            None => (0..colours.len()).map(|i| i as f64 / colours.len() as f64).collect(),
            Some(positions) => {
                let rises = positions.windows(2).all(|p| p[0] < p[1]);
                let inside = positions.iter().all(|p| (0.0..1.0).contains(p));
                if positions.len() != colours.len() || !rises || !inside {
                    return Err(InputError::new("positions", "do not fit the colours")
                        .accepted("one for each colour, increasing, from 0 to below 1"));
                }
                positions
            }
        };
        let interior = file.interior.as_deref().map_or(Ok([0; 3]), hex).map_err(|e| e.named("interior"))?;
        let name = file.name.unwrap_or_else(|| name.to_owned());
        let title = file.title.unwrap_or_else(|| name.clone());
        let stops: Vec<_> = positions.into_iter().zip(colours).collect();
        Ok(Self::from_stops(name, title, interior, &stops))
    }

    /// Reads a palette file: `.toml`, or `.map` (a line of red, green and blue, 0 to 255, for each colour).
    ///
    /// # Errors
    /// As [`Self::parse`], with the path; and when the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let shown = shown(path);
        let name = path.file_stem().map_or_else(|| "palette".to_owned(), |s| s.to_string_lossy().into_owned());
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let parsed = match ending.as_deref() {
            Some("toml") => Self::parse(&read_text(path, MAX_FILE_BYTES)?, &name),
            Some("map") => Self::parse_map(&read_text(path, MAX_FILE_BYTES)?, &name),
            _ => Err(InputError::new("", "has no ending that is known").accepted(".toml, .map")),
        };
        parsed.map_err(|e| e.within(&shown).into())
    }

    /// Reads the text of a `.map` file, as Fractint and its successors have them.
    ///
    /// # Errors
    /// What is wrong and in which line.
    pub fn parse_map(text: &str, name: &str) -> Result<Self, InputError> {
        let colours = map_file::parse(text, MAX_STOPS)?;
        let count = colours.len() as f64;
        let stops: Vec<_> = colours.into_iter().enumerate().map(|(i, c)| (i as f64 / count, c)).collect();
        Ok(Self::from_stops(name.to_owned(), name.to_owned(), [0; 3], &stops))
    }

    /// The built-in palette of that name.
    ///
    /// # Errors
    /// When there is none; the nearest name is the hint.
    pub fn built_in(name: &str) -> Result<Self, InputError> {
        match BUILT_IN.iter().find(|(n, _)| *n == name) {
            Some((name, text)) => Self::parse(text, name).map_err(|e| e.within(name)),
            None => Err(unknown_name("palette", name, Self::built_in_names())
                .hint_unless_present("a path to a palette file (.toml, .map) works too")),
        }
    }

    /// The names of the built-in palettes, the default first.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A title for people.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The colour of points that did not escape.
    #[must_use]
    pub fn interior(&self) -> [u8; 3] {
        self.interior
    }

    /// The colour at a position of at least 0, in turns.
    #[must_use]
    #[inline]
    pub fn at(&self, position: f64) -> [u8; 3] {
        let turn = position - position.floor();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 <= turn < 1; the mask bounds it all the same"
        )]
        let index = (turn * TABLE as f64) as usize;
        self.table[index & (TABLE - 1)]
    }
}

impl Default for Palette {
    /// The first built-in palette.
    fn default() -> Self {
        let (name, text) = BUILT_IN[0];
        Self::parse(text, name)
            .unwrap_or_else(|_| Self::from_stops(name.to_owned(), String::new(), [0; 3], &[(0.0, [255; 3])]))
    }
}

impl std::fmt::Debug for Palette {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Palette").field("name", &self.name).finish_non_exhaustive()
    }
}

/// `#rrggbb`.
fn hex(text: &str) -> Result<Rgb, InputError> {
    let digits = text.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()));
    let value = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
    match value {
        Some(value) => {
            let [_, r, g, b] = value.to_be_bytes();
            Ok([r, g, b])
        }
        None => {
            Err(InputError::new("colour", format!("{} is no colour", quote(text))).accepted("#rrggbb, such as #0a2463"))
        }
    }
}

/// The colour at `at` in 0..1 of a cycle of stops.
fn interpolate(stops: &[(f64, Rgb)], at: f64) -> Rgb {
    let count = stops.len();
    let after = stops.iter().position(|s| s.0 > at).unwrap_or(count);
    // Stop i of the endless cycle: position and channel value.
    let stop = |i: isize, channel: usize| {
        let count = count.cast_signed();
        let (turn, index) = (i.div_euclid(count), i.rem_euclid(count));
        let (position, colour) = stops[index.unsigned_abs()];
        (position + turn as f64, f64::from(colour[channel]))
    };
    let right = after.cast_signed();
    std::array::from_fn(|channel| {
        let points = [right - 2, right - 1, right, right + 1].map(|i| stop(i, channel));
        let slope = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0);
        let slopes = [0, 1, 2].map(|i| slope(points[i], points[i + 1]));
        // The harmonic mean of the slopes on both sides, 0 at a turn: never steeper than thrice the lesser.
        let tangent = |a: f64, b: f64| if a * b <= 0.0 { 0.0 } else { 2.0 * a * b / (a + b) };
        let (m0, m1) = (tangent(slopes[0], slopes[1]), tangent(slopes[1], slopes[2]));
        let width = points[2].0 - points[1].0;
        let t = (at - points[1].0) / width;
        let (t2, t3) = (t * t, t * t * t);
        let value = (2.0 * t3 - 3.0 * t2 + 1.0) * points[1].1
            + (t3 - 2.0 * t2 + t) * width * m0
            + (3.0 * t2 - 2.0 * t3) * points[2].1
            + (t3 - t2) * width * m1;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
        let byte = (value + 0.5).clamp(0.0, 255.0) as u8;
        byte
    })
}

macro_rules! built_in {
    ($($name:literal)*) => {
        /// Name and text of every built-in palette, the default first.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../palettes/", $name, ".toml")))),*];
    };
}
built_in!("twilight" "ember" "glacier" "verdigris" "graphite" "spectrum");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_palette_reads_and_every_file_is_built_in() {
        for name in Palette::built_in_names() {
            assert_eq!(Palette::built_in(name).unwrap().name(), name);
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/palettes");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), BUILT_IN.len());
        assert_eq!(Palette::default().name(), BUILT_IN[0].0);
    }

    #[test]
    fn goes_through_its_stops_and_round() {
        let text =
            "colours = [\"#000000\", \"#ff8000\", \"#ffffff\"]\npositions = [0.0, 0.25, 0.5]\ninterior = \"#010203\"";
        let palette = Palette::parse(text, "x").unwrap();
        assert_eq!(palette.at(0.0), [0, 0, 0]);
        assert_eq!(palette.at(3.25), [255, 128, 0]);
        assert_eq!(palette.at(0.5), [255, 255, 255]);
        assert_eq!(palette.interior(), [1, 2, 3]);
        // No channel overshoots, and each next colour is near.
        for i in 0..4096 {
            let (a, b) = (palette.at(f64::from(i) / 4096.0), palette.at(f64::from(i + 1) / 4096.0));
            assert!((0..3).all(|c| a[c].abs_diff(b[c]) <= 2), "{i}");
        }
        let one = Palette::parse("colors = [\"#123456\"]", "x").unwrap();
        assert_eq!(one.at(0.7), [0x12, 0x34, 0x56]);
    }

    #[test]
    fn refuses_what_is_no_palette() {
        for text in [
            "",
            "colours = []",
            "colours = [\"red\"]",
            "colours = [\"#12345\"]",
            "colours = [\"#12345g\"]",
            "colours = [1]",
            "colours = [\"#000000\"]\npositions = [1.0]",
            "colours = [\"#000000\", \"#ffffff\"]\npositions = [0.5, 0.5]",
            "colours = [\"#000000\"]\npositions = [nan]",
            "colours = [\"#000000\"]\nx = 1",
            "colours = [\"#000000\"]\ninterior = \"\"",
            "colours = [\"#\u{e9}\u{e9}\u{e9}\"]",
        ] {
            assert!(Palette::parse(text, "x").is_err(), "{text}");
        }
        let many = format!("colours = [{}]", "\"#000000\",".repeat(MAX_STOPS + 1));
        assert!(Palette::parse(&many, "x").is_err());
    }
}
