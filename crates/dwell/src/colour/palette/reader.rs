//! Reading palettes: from files and texts of any format, and the built-in ones by name.

use super::built_in_stops::BUILT_IN;
use super::draft::Draft;
use super::format::MAX_BYTES;
use super::{Palette, PaletteFormat, PaletteSource};
use super::{ggr_file, gpl_file, inline_text, kf_file, map_file, ugr_file};
use crate::base::error::{Error, InputError};
use crate::base::place::{Parameter, Place};
use crate::base::problem::Problem;
use crate::input::source::{Input, foreign_text, of_another_kind};
use dwell_kernels::with_standard_floats;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

impl Palette {
    /// Reads the text of a palette file in TOML, of at most 1 MiB:
    ///
    /// ```toml
    /// colours = ["#04082b", "#2a7fd4", "#fff8dc"]  # 1 to 4096: #rgb, #rrggbb or #rrrrggggbbbb
    /// # The rest may be left out.
    /// positions = [0.0, 0.2, 0.7]  # increasing, from 0 to below 1; to 1 if not cyclic
    /// interior = "#000000"
    /// cyclic = true                # false: forth and back
    /// blend = "smooth"             # monotone cubics; linear; step: none; light: linear in linear light
    /// name = "mine"
    /// title = "Mine: blue and cream"
    /// # What the palette recommends for itself.
    /// by = "smooth"                # a name of By
    /// scale = "root"               # root, linear, log, limit, histogram
    /// density = 1.0                # above 0
    /// offset = 0.0                 # turns
    /// ```
    ///
    /// # Errors
    /// What is wrong and where.
    #[cfg(feature = "toml")]
    pub fn parse(text: &str, name: &str) -> Result<Self, InputError> {
        Self::from_text(PaletteFormat::Toml, text, name)
    }

    /// Reads the text of a `.map` file, as Fractint and its successors write it.
    ///
    /// # Errors
    /// What is wrong and in which line.
    pub fn parse_map(text: &str, name: &str) -> Result<Self, InputError> {
        Self::from_text(PaletteFormat::Map, text, name)
    }

    /// Reads colours in order, such as `#001,#fff,#fa0`: a smooth cycle. Each may have its position in the cycle, from 0 to
    /// below 1: `#001@0,#fff@0.3`. The text is the palette's name.
    ///
    /// # Errors
    /// What is wrong with which colour.
    pub fn inline(text: &str) -> Result<Self, InputError> {
        Self::from_text(PaletteFormat::Inline, text.trim(), text.trim())
    }

    /// Reads a text of at most 1 MiB in any format; of several gradients, in at most 16 MiB, the first. `name` is the
    /// palette's name if the text has none.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn from_text(format: PaletteFormat, text: &str, name: &str) -> Result<Self, InputError> {
        check_length(text, format.most_bytes())?;
        with_standard_floats(|| Self::of_text(format, text, name))
    }

    fn of_text(format: PaletteFormat, text: &str, name: &str) -> Result<Self, InputError> {
        let draft = match format {
            #[cfg(feature = "toml")]
            PaletteFormat::Toml => super::toml_file::draft(text)?,
            #[cfg(not(feature = "toml"))]
            PaletteFormat::Toml => {
                return Err(InputError::new(Problem::LeftOut { what: "reading a palette in TOML", feature: "toml" }));
            }
            PaletteFormat::Map => map_file::draft(text)?,
            PaletteFormat::Ggr => ggr_file::draft(text)?,
            PaletteFormat::Ugr => return Self::from_ugr(text, None, name),
            PaletteFormat::Gpl => gpl_file::draft(text)?,
            PaletteFormat::Kfp => kf_file::draft(text)?,
            PaletteFormat::Inline => inline_text::draft(text)?,
        };
        Ok(finish(draft, name, PaletteSource::Text { format, text: text.to_owned() }))
    }

    /// One gradient of an Ultra Fractal file.
    fn from_ugr(text: &str, wanted: Option<&str>, name: &str) -> Result<Self, InputError> {
        let block = ugr_file::choose(text, wanted)?;
        check_length(block.text, MAX_BYTES).map_err(|e| e.within(Place::Part("the gradient".to_owned())))?;
        let source = PaletteSource::Text { format: PaletteFormat::Ugr, text: block.text.to_owned() };
        Ok(finish(ugr_file::draft(&block)?, name, source))
    }

    /// Reads a palette file of at most 1 MiB, in the format that its ending names: `.toml`, `.map`, `.ggr`, `.ugr`, `.gpl`,
    /// `.kfp`, or `.kfr` for the colours of a location of Kalles Fraktaler. A `.ugr` file, of at most 16 MiB, may hold
    /// several gradients: `file.ugr#NAME` is the one of that name, `file.ugr` the first. Files of other programs that are
    /// not UTF-8 are read as Windows-1252, which those programs wrote.
    ///
    /// # Errors
    /// As [`Self::from_text`], with the path; when the file cannot be read; when it has no gradient of that name.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (path, wanted) = split_choice(path);
        Self::read_unnamed(&path, wanted.as_deref()).map_err(|e| e.in_file(path).into())
    }

    /// [`Self::read`] with errors that do not name the path.
    fn read_unnamed(path: &Path, wanted: Option<&str>) -> Result<Self, InputError> {
        let name = path.file_stem().map_or_else(|| "palette".to_owned(), |s| s.to_string_lossy().into_owned());
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let input = Input::open(path)?;
        if input.is_png() {
            return Err(InputError::new(Problem::PictureAsPalette).accepts(ENDINGS));
        }
        if let Some(kind) = input.kind() {
            return Err(of_another_kind(kind, "a palette").accepts(ENDINGS));
        }
        let format = match ending.as_str() {
            "kfr" => Ok(PaletteFormat::Kfp),
            "inline" => Err("has no ending that is known"),
            "upr" => Err(
                "is a file of parameters of Ultra Fractal, of which no palette is read: save its gradient as a .ugr file",
            ),
            ending => ending.parse().map_err(|_| "has no ending that is known"),
        };
        let format: PaletteFormat = format.map_err(|why| InputError::malformed(why).accepts(ENDINGS))?;
        let bytes = input.bytes(format.most_bytes())?;
        let text = if format == PaletteFormat::Toml { crate::input::source::text(bytes)? } else { foreign_text(bytes) };
        match wanted {
            Some(wanted) => with_standard_floats(|| Self::from_ugr(&text, Some(wanted), &name)),
            None => Self::from_text(format, &text, &name),
        }
    }

    /// The file that [`Self::read`] opens for a path: the path without the name of a gradient.
    #[must_use]
    pub fn file(path: &Path) -> PathBuf {
        split_choice(path).0
    }

    /// The built-in palette of that name.
    ///
    /// # Errors
    /// When there is none; the nearest name is the hint.
    pub fn built_in(name: &str) -> Result<Self, InputError> {
        match BUILT_IN.iter().position(|built_in| built_in.name == name) {
            Some(number) => Ok(made(number).clone()),
            None => Err(InputError::unknown_among_many(name, Self::built_in_names()).about(Parameter::Palette)),
        }
    }

    /// The names of the built-in palettes, the default first.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|built_in| built_in.name)
    }
}

impl Default for Palette {
    /// The first built-in palette.
    fn default() -> Self {
        made(0).clone()
    }
}

/// The built-in palette of that number, made when it is first asked for. A table takes up to a millisecond, and a command asks for its palette
/// several times.
fn made(number: usize) -> &'static Palette {
    static MADE: [OnceLock<Palette>; BUILT_IN.len()] = [const { OnceLock::new() }; BUILT_IN.len()];
    let built_in = &BUILT_IN[number];
    MADE[number]
        .get_or_init(|| finish(with_standard_floats(|| built_in.draft()), built_in.name, PaletteSource::BuiltIn))
}

/// The palette of a draft; `name` is its name if the draft has none.
fn finish(draft: Draft, name: &str, source: PaletteSource) -> Palette {
    let Draft { name: own, title, interior, cyclic, suggestion, table } = draft;
    let name = own.unwrap_or_else(|| name.to_owned());
    let title = title.unwrap_or_else(|| name.clone());
    Palette { name, title, interior, own_interior: interior, cyclic, suggestion, source, table: table.into() }
}

/// The endings of palette files, for messages.
const ENDINGS: &str = ".toml, .map, .ggr, .ugr, .gpl, .kfp, .kfr";

fn check_length(text: &str, most: u64) -> Result<(), InputError> {
    if text.len() as u64 > most {
        return Err(InputError::new(Problem::TooLarge { most_bytes: most }));
    }
    Ok(())
}

/// Splits `file.ugr#NAME` into the file and the gradient's name. A path that exists is not split.
fn split_choice(path: &Path) -> (PathBuf, Option<String>) {
    let whole = || (path.to_owned(), None);
    let Some(text) = path.to_str().filter(|_| !path.exists()) else { return whole() };
    match text.to_ascii_lowercase().find(".ugr#") {
        Some(at) => (PathBuf::from(&text[..at + 4]), Some(text[at + 5..].to_owned())),
        None => whole(),
    }
}

#[cfg(all(test, feature = "toml"))]
mod tests {
    use super::super::draft::MAX_STOPS;
    use super::super::table::TABLE;
    use super::*;
    use crate::colour::rgb::from_bytes;

    #[test]
    fn every_built_in_palette_equals_its_file_and_every_file_is_built_in() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/palettes"));
        for name in Palette::built_in_names() {
            let palette = Palette::built_in(name).unwrap();
            assert_eq!((palette.name(), palette.source()), (name, &PaletteSource::BuiltIn));
            let text = std::fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
            let read = Palette::parse(&text, "").unwrap();
            assert!(palette.table() == read.table(), "{name}: `cargo xtask palettes` writes the table anew");
            assert_eq!((palette.table().len(), palette.period()), (TABLE, read.period()), "{name}");
            assert_eq!((palette.name(), palette.title()), (read.name(), read.title()));
            assert_eq!((palette.interior(), palette.suggestion()), (read.interior(), read.suggestion()), "{name}");
            assert!(palette.title() != name, "{name} has a title");
        }
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), BUILT_IN.len());
        assert_eq!(Palette::default().name(), BUILT_IN[0].name);
    }

    #[test]
    fn a_cycle_passes_through_its_stops_every_turn() {
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
        // No channel overshoots, and neighbouring entries are close.
        for i in 0..4096 {
            let (a, b) = (palette.at(f64::from(i) / 4096.0), palette.at(f64::from(i + 1) / 4096.0));
            assert!((0..3).all(|c| a[c].abs_diff(b[c]) <= 2 * 257), "{i}");
        }
        let one = Palette::parse("colors = [\"#123456\"]", "x").unwrap();
        assert_eq!(one.at(0.7), from_bytes([0x12, 0x34, 0x56]));
        // Positions that are not finite, or far out of range, do not panic.
        for odd in [-1e-300, f64::MAX, f64::MIN, f64::INFINITY, f64::NAN] {
            let _ = palette.at(odd);
        }
    }

    #[test]
    fn a_sequence_runs_forth_in_one_turn_and_back_in_the_next() {
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
    fn the_text_of_a_palette_gives_the_same_palette() {
        let ugr = "other { gradient: index=0 color=1 }\nmine {\ngradient:\n  index=0 color=255\n}\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.UGR");
        #[expect(clippy::disallowed_methods, reason = "a temporary file of the test")]
        std::fs::write(&path, ugr).unwrap();
        let read = |choice: &str| Palette::read(Path::new(&format!("{}{choice}", path.display())));
        let palette = read("#mine").unwrap();
        assert_eq!((palette.name(), palette.at(0.3)), ("mine", [65535, 0, 0]));
        let PaletteSource::Text { format, text } = palette.source() else { panic!("a text") };
        assert_eq!(text, "mine {\ngradient:\n  index=0 color=255\n}");
        let again = Palette::from_text(*format, text, palette.name()).unwrap();
        assert_eq!((again.table(), again.source()), (palette.table(), palette.source()));
        assert_eq!(read("").unwrap().name(), "other");
        let error = read("#mime").unwrap_err();
        assert!(
            error.to_string().contains("a.UGR, gradient: \"mime\" is not known (accepted: other, mine)"),
            "{error}"
        );
    }

    #[test]
    fn of_many_gradients_one_is_kept() {
        let block = "bl\u{e4}u { gradient: index=0 color=255 }\n";
        let many = block.repeat((2 << 20) / block.len());
        assert_eq!(Palette::from_text(PaletteFormat::Ugr, &many, "x").unwrap().name(), "bl\u{e4}u");
        let one = format!("x {{ gradient: index=0 color=255 ; {} \n }}", "x".repeat(1 << 20));
        assert!(Palette::from_text(PaletteFormat::Ugr, &one, "x").unwrap_err().to_string().contains("1 MiB"));
    }

    #[test]
    fn refuses_a_text_that_is_not_a_palette() {
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
