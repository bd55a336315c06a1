//! Palettes: what every position of a gradient looks like, and the inside of the set.

use super::built_in::BUILT_IN;
use super::mapping::Suggestion;
use super::rgb::Rgb16;
use super::table::TABLE;
use super::{ggr_file, map_file, toml_file, ugr_file};
use crate::base::error::{Error, InputError, shown, unknown_among_many, unknown_name};
use crate::input::source::{self, Input};
use std::path::{Path, PathBuf};

/// The most stops or segments of a palette.
pub(super) const MAX_STOPS: usize = 4096;
/// The largest palette, in bytes of its text: a picture remembers all of it.
const MAX_BYTES: u64 = 1 << 20;
/// The largest file of many gradients, of which one is chosen.
const MAX_COLLECTION_BYTES: u64 = 16 << 20;

/// Colours by position, repeating for ever, and one for the inside of the set.
///
/// A colour is red, green, blue with 16 bits each, sRGB-encoded, 65535 being full. Positions are in turns. A cyclic
/// palette runs through its colours once a turn. A sequential one does that too and runs back in the next turn, so that
/// it repeats without a seam.
#[derive(Clone)]
pub struct Palette {
    name: String,
    title: String,
    interior: Rgb16,
    /// The interior colour of its source.
    own_interior: Rgb16,
    cyclic: bool,
    suggestion: Suggestion,
    source: Source,
    table: Vec<Rgb16>,
}

/// Where a palette comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It comes with the library, under its name.
    BuiltIn,
    /// A text, which [`Palette::from_text`] makes the same palette of again.
    Text {
        /// The format of the text.
        format: PaletteFormat,
        /// The whole file; of a file with several gradients the chosen one alone.
        text: String,
    },
}

/// A format of palette files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaletteFormat {
    /// This project's own: see [`Palette::parse`].
    Toml,
    /// Fractint's: a line of red, green and blue, 0 to 255, for each colour of a cycle.
    Map,
    /// GIMP's gradients. They are sequential, unless they end with the colour that they begin with.
    Ggr,
    /// Ultra Fractal's gradients: cycles, several in a file.
    Ugr,
}

impl PaletteFormat {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Toml, Self::Map, Self::Ggr, Self::Ugr];

    /// Its name, which is the ending of its files without the dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::Map => "map",
            Self::Ggr => "ggr",
            Self::Ugr => "ugr",
        }
    }

    /// The one of that name.
    ///
    /// # Errors
    /// When there is none; the nearest name is the hint.
    pub fn parse(name: &str) -> Result<Self, InputError> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| unknown_name("palette format", name, Self::ALL.into_iter().map(Self::name)))
    }

    /// The largest file of this format that is read, in bytes.
    fn most_bytes(self) -> u64 {
        if self == Self::Ugr { MAX_COLLECTION_BYTES } else { MAX_BYTES }
    }
}

/// What a file of any format says.
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) interior: Rgb16,
    pub(super) cyclic: bool,
    pub(super) suggestion: Suggestion,
    pub(super) table: Vec<Rgb16>,
}

impl Draft {
    /// A cycle about which nothing more is said.
    pub(super) fn cycle(table: Vec<Rgb16>) -> Self {
        Self { name: None, title: None, interior: [0; 3], cyclic: true, suggestion: Suggestion::default(), table }
    }

    /// The palette; `name` is its name if the file has none.
    fn finish(self, name: &str, source: Source) -> Palette {
        let name = self.name.unwrap_or_else(|| name.to_owned());
        let title = self.title.unwrap_or_else(|| name.clone());
        let Self { interior, cyclic, suggestion, table, .. } = self;
        Palette { name, title, interior, own_interior: interior, cyclic, suggestion, source, table }
    }
}

impl Palette {
    /// Reads the text of a palette file in TOML, of at most 1 MiB:
    ///
    /// ```toml
    /// colours = ["#04082b", "#2a7fd4", "#fff8dc"]  # 1 to 4096: #rgb, #rrggbb or #rrrrggggbbbb
    /// # The rest may be left out.
    /// positions = [0.0, 0.2, 0.7]  # increasing, from 0 to below 1; to 1 if not cyclic
    /// interior = "#000000"
    /// cyclic = true                # false: there and back
    /// blend = "smooth"             # monotone cubics; linear; step: none; light: linear in linear light
    /// name = "mine"
    /// title = "Mine: blue and cream"
    /// # What the palette recommends for itself.
    /// by = "smooth"                # banded, smooth, distance
    /// scale = "root"               # root, linear, log, limit, histogram
    /// density = 1.0                # above 0
    /// offset = 0.0                 # turns
    /// ```
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(text: &str, name: &str) -> Result<Self, InputError> {
        Self::from_text(PaletteFormat::Toml, text, name)
    }

    /// Reads the text of a `.map` file, as Fractint and its successors have them.
    ///
    /// # Errors
    /// What is wrong and in which line.
    pub fn parse_map(text: &str, name: &str) -> Result<Self, InputError> {
        Self::from_text(PaletteFormat::Map, text, name)
    }

    /// Reads a text of at most 1 MiB in any format; of several gradients, in at most 16 MiB, the first. `name` is the
    /// palette's name if the text has none.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn from_text(format: PaletteFormat, text: &str, name: &str) -> Result<Self, InputError> {
        check_length(text, format.most_bytes())?;
        let draft = match format {
            PaletteFormat::Toml => toml_file::draft(text)?,
            PaletteFormat::Map => map_file::draft(text)?,
            PaletteFormat::Ggr => ggr_file::draft(text)?,
            PaletteFormat::Ugr => return Self::from_ugr(text, None, name),
        };
        Ok(draft.finish(name, Source::Text { format, text: text.to_owned() }))
    }

    /// One gradient of an Ultra Fractal file.
    fn from_ugr(text: &str, wanted: Option<&str>, name: &str) -> Result<Self, InputError> {
        let block = ugr_file::choose(text, wanted)?;
        check_length(block.text(), MAX_BYTES).map_err(|e| e.within("the gradient"))?;
        let source = Source::Text { format: PaletteFormat::Ugr, text: block.text().to_owned() };
        Ok(ugr_file::draft(&block)?.finish(name, source))
    }

    /// Reads a palette file of at most 1 MiB; its ending says the format: `.toml`, `.map`, `.ggr`, `.ugr`. A `.ugr` file,
    /// of at most 16 MiB, may hold several gradients: `file.ugr#NAME` is the one of that name, `file.ugr` the first. Files
    /// of other programs that are not UTF-8 are taken for Windows-1252, which such programs have written.
    ///
    /// # Errors
    /// As [`Self::from_text`], with the path; when the file cannot be read; when it has no gradient of that name.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (path, wanted) = split_choice(path);
        Self::read_nameless(&path, wanted.as_deref()).map_err(|e| e.within(&shown(&path)).into())
    }

    fn read_nameless(path: &Path, wanted: Option<&str>) -> Result<Self, InputError> {
        let name = path.file_stem().map_or_else(|| "palette".to_owned(), |s| s.to_string_lossy().into_owned());
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let input = Input::open(path)?;
        if input.is_png() {
            return Err(InputError::new("", "is a picture, not a palette")
                .accepted(ENDINGS)
                .hint("`dwell show` says which palette a picture made by dwell has"));
        }
        if let Some(kind) = input.kind() {
            return Err(InputError::new("", format!("is {kind}, not a palette")).accepted(ENDINGS));
        }
        let format = PaletteFormat::ALL.into_iter().find(|format| format.name() == ending);
        let format = format.ok_or_else(|| InputError::new("", "has no ending that is known").accepted(ENDINGS))?;
        let bytes = input.bytes(format.most_bytes())?;
        let text = if format == PaletteFormat::Toml { source::text(bytes)? } else { foreign_text(bytes) };
        match wanted {
            Some(wanted) => Self::from_ugr(&text, Some(wanted), &name),
            None => Self::from_text(format, &text, &name),
        }
    }

    /// The file that a path names as [`Self::read`] takes it: without the gradient chosen in it.
    #[must_use]
    pub fn file(path: &Path) -> PathBuf {
        split_choice(path).0
    }

    /// The built-in palette of that name.
    ///
    /// # Errors
    /// When there is none; the nearest name is the hint.
    pub fn built_in(name: &str) -> Result<Self, InputError> {
        match BUILT_IN.iter().find(|(n, _)| *n == name) {
            Some((name, text)) => {
                let draft = toml_file::draft(text).map_err(|e| e.within(name))?;
                Ok(draft.finish(name, Source::BuiltIn))
            }
            None => Err(unknown_among_many("palette", name, Self::built_in_names(), "`dwell palettes` shows them")),
        }
    }

    /// The names of the built-in palettes, the default first.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The same palette with another colour for the inside of the set.
    #[must_use]
    pub fn with_interior(self, interior: [u16; 3]) -> Self {
        Self { interior, ..self }
    }

    /// The colour for the inside of the set, if it is not the one that the palette came with.
    #[must_use]
    pub fn chosen_interior(&self) -> Option<[u16; 3]> {
        (self.interior != self.own_interior).then_some(self.interior)
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

    /// Where it comes from. The colour given to [`Self::with_interior`] is not in there.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What it recommends for itself.
    #[must_use]
    pub fn suggestion(&self) -> &Suggestion {
        &self.suggestion
    }

    /// The colour of points that did not escape.
    #[must_use]
    pub fn interior(&self) -> [u16; 3] {
        self.interior
    }

    /// The colours over one period, evenly spaced from position 0: 8192 entries.
    #[must_use]
    pub fn table(&self) -> &[[u16; 3]] {
        &self.table
    }

    /// The turns of position that the table covers: 1 if the palette is cyclic, 2 if it is sequential. Then the first half
    /// of the table runs from the first colour to the last, which is in the middle, and the second half back.
    #[must_use]
    pub fn period(&self) -> f64 {
        if self.cyclic { 1.0 } else { 2.0 }
    }

    /// The colour at a position, in turns: any finite number, negative ones too.
    #[must_use]
    #[inline]
    pub fn at(&self, position: f64) -> [u16; 3] {
        let periods = if self.cyclic { position } else { 0.5 * position };
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 1, since a small negative number less its floor rounds to 1; the mask bounds it"
        )]
        let index = ((periods - periods.floor()) * TABLE as f64) as usize;
        self.table[index & (TABLE - 1)]
    }
}

/// The endings of palette files, as messages name them.
const ENDINGS: &str = ".toml, .map, .ggr, .ugr";

fn check_length(text: &str, most: u64) -> Result<(), InputError> {
    if text.len() as u64 > most {
        return Err(InputError::new("", format!("is larger than {} MiB", most >> 20)));
    }
    Ok(())
}

/// Text of another program: UTF-8, or Windows-1252 if it is not.
fn foreign_text(bytes: Vec<u8>) -> String {
    // From 0x80 to 0x9f; elsewhere that encoding is Latin-1, whose bytes are the first characters of Unicode. Five bytes
    // mean nothing and stay what they are there.
    const EXTRA: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
        '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}',
        '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}',
        '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
    ];
    let character = |byte: u8| match byte {
        0x80..=0x9f => EXTRA[usize::from(byte - 0x80)],
        byte => char::from(byte),
    };
    String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().into_iter().map(character).collect())
}

/// `file.ugr#NAME` in two. A file whose whole name is that is itself.
fn split_choice(path: &Path) -> (PathBuf, Option<String>) {
    let whole = || (path.to_owned(), None);
    let Some(text) = path.to_str().filter(|_| !path.exists()) else { return whole() };
    match text.to_ascii_lowercase().find(".ugr#") {
        Some(at) => (PathBuf::from(&text[..at + 4]), Some(text[at + 5..].to_owned())),
        None => whole(),
    }
}

impl Default for Palette {
    /// The first built-in palette.
    fn default() -> Self {
        // A test reads every built-in palette; a library that is wrong all the same shows white rather than panic.
        let (name, text) = BUILT_IN[0];
        let draft = toml_file::draft(text).unwrap_or_else(|_| Draft::cycle(vec![[u16::MAX; 3]; TABLE]));
        draft.finish(name, Source::BuiltIn)
    }
}

impl std::fmt::Debug for Palette {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Palette").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rgb::from_bytes;
    use super::*;

    #[test]
    fn every_built_in_palette_reads_and_every_file_is_built_in() {
        for name in Palette::built_in_names() {
            let palette = Palette::built_in(name).unwrap();
            assert_eq!(palette.name(), name);
            assert_eq!((palette.source(), palette.table().len()), (&Source::BuiltIn, TABLE));
            assert!(palette.title() != name, "{name} has a title");
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
        for turns in [-3.0, 0.0, 3.0, 1e9] {
            assert_eq!(palette.at(turns), [0, 0, 0]);
            assert_eq!(palette.at(turns + 0.25), from_bytes([255, 128, 0]));
            assert_eq!(palette.at(turns + 0.5), [65535; 3]);
        }
        assert_eq!(palette.interior(), from_bytes([1, 2, 3]));
        let other = palette.clone().with_interior([7, 8, 9]);
        assert_eq!((other.interior(), other.chosen_interior()), ([7, 8, 9], Some([7, 8, 9])));
        assert_eq!(palette.chosen_interior(), None);
        // No channel overshoots, and each next colour is near.
        for i in 0..4096 {
            let (a, b) = (palette.at(f64::from(i) / 4096.0), palette.at(f64::from(i + 1) / 4096.0));
            assert!((0..3).all(|c| a[c].abs_diff(b[c]) <= 2 * 257), "{i}");
        }
        let one = Palette::parse("colors = [\"#123456\"]", "x").unwrap();
        assert_eq!(one.at(0.7), from_bytes([0x12, 0x34, 0x56]));
        // Numbers that make no sense have a colour all the same.
        for odd in [-1e-300, f64::MAX, f64::MIN, f64::INFINITY, f64::NAN] {
            let _ = palette.at(odd);
        }
    }

    #[test]
    fn a_sequence_runs_there_in_one_turn_and_back_in_the_next() {
        let text = "colours = [\"#000\", \"#fff\"]\ncyclic = false\nblend = \"linear\"";
        let palette = Palette::parse(text, "x").unwrap();
        assert_eq!((palette.period(), Palette::default().period()), (2.0, 1.0));
        assert_eq!((palette.at(0.0), palette.at(1.0), palette.at(2.0)), ([0; 3], [65535; 3], [0; 3]));
        assert_eq!(palette.table()[TABLE / 2], [65535; 3]);
        for (a, b) in [(0.25, 1.75), (0.25, -0.25), (0.25, 4.25), (0.75, -1.25)] {
            assert_eq!(palette.at(a), palette.at(b));
        }
        assert_eq!(palette.at(0.25), [16384; 3]);
    }

    #[test]
    fn its_text_makes_it_again() {
        let ugr = "other { gradient: index=0 color=1 }\nmine {\ngradient:\n  index=0 color=255\n}\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.UGR");
        #[allow(clippy::disallowed_methods, reason = "a file of the test's own")]
        std::fs::write(&path, ugr).unwrap();
        let read = |choice: &str| Palette::read(Path::new(&format!("{}{choice}", path.display())));
        let palette = read("#mine").unwrap();
        assert_eq!((palette.name(), palette.at(0.3)), ("mine", [65535, 0, 0]));
        let Source::Text { format, text } = palette.source() else { panic!("a text") };
        assert_eq!(text, "mine {\ngradient:\n  index=0 color=255\n}");
        let again = Palette::from_text(*format, text, palette.name()).unwrap();
        assert_eq!((again.table(), again.source()), (palette.table(), palette.source()));
        assert_eq!(read("").unwrap().name(), "other");
        let error = read("#mime").unwrap_err();
        assert!(
            error.to_string().contains("a.UGR, gradient: \"mime\" is not known (accepted: other, mine)"),
            "{error}"
        );
        assert!(PaletteFormat::ALL.into_iter().all(|f| PaletteFormat::parse(f.name()) == Ok(f)));
    }

    #[test]
    fn texts_of_other_programs_need_not_be_utf_8() {
        assert_eq!(foreign_text("bl\u{e4}ulich".into()), "bl\u{e4}ulich");
        assert_eq!(
            foreign_text(b"bl\xe4ulich \x80 \x96 \x9f \x81".to_vec()),
            "bl\u{e4}ulich \u{20ac} \u{2013} \u{178} \u{81}"
        );
        let block = "bl\u{e4}u { gradient: index=0 color=255 }\n";
        let many = block.repeat((2 << 20) / block.len());
        assert_eq!(Palette::from_text(PaletteFormat::Ugr, &many, "x").unwrap().name(), "bl\u{e4}u");
        let one = format!("x {{ gradient: index=0 color=255 ; {} \n }}", "x".repeat(1 << 20));
        assert!(Palette::from_text(PaletteFormat::Ugr, &one, "x").unwrap_err().to_string().contains("1 MiB"));
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
        let long = format!("colours = [\"#000000\"]\n# {}", "x".repeat(1 << 20));
        assert!(Palette::parse(&long, "x").unwrap_err().to_string().contains("1 MiB"));
    }
}
