//! Locations: named views in TOML files, and those that come with the library.

mod file;

use crate::encode::png_text;
use crate::error::{Error, InputError, quote, shown, unknown_name};
use crate::scene::Scene;
use crate::view::{Size, View};
use file::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

/// The largest location file read, in bytes: room for the most digits twice over.
pub(crate) const MAX_FILE_BYTES: u64 = 8 << 20;

/// A named place: a scene and what there is to say about it.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name: lower case, words joined by `-`.
    pub name: String,
    /// The limit it is meant to be drawn with; may be beyond what an engine counts to. The scene has it as far as it can.
    pub iterations: u64,
    /// Anything else.
    pub notes: String,
    /// What is to be seen.
    pub scene: Scene,
}

impl Location {
    /// Reads the text of a location file:
    ///
    /// ```toml
    /// iterations = 5000                 # needed; and either a centre or bounds:
    /// re = "-0.7436438870371587"        # in quotes, so that every digit is kept
    /// im = "0.1318259042053119"
    /// zoom = "1e9"                      # the height is 4 / zoom; or view_height = "4e-9"
    /// # The rest may be left out.
    /// # bounds = ["-2", "1", "-1", "1"]
    /// rotation = "30"
    /// flip = false
    /// sample = "centre"
    /// size = "1920x1080"
    /// samples = 2                       # on a side of each pixel
    /// depth = 8
    /// formula = "multibrot"
    /// power = 3
    /// julia = ["-0.8", "0.156"]
    /// escape_radius = "2"
    /// number = "f64"
    /// recipe = "fused"
    /// name = "here"
    /// title = "Here"
    ///
    /// [colour]
    /// palette = "ember"
    /// by = "smooth"
    /// scale = "root"
    /// density = 1.0
    /// offset = 0.0
    /// interior = "#000000"
    /// ```
    ///
    /// `name` is used where the file gives none.
    ///
    /// # Errors
    /// What is wrong and in which line: not TOML, a field that is missing, unknown or of another type, a number out of
    /// range.
    pub fn parse(text: &str, name: &str) -> Result<Self, InputError> {
        let file: File = toml::from_str(text).map_err(|e| {
            let error = toml_error(text, &e);
            let message = e.message();
            if message.contains("expected a string") {
                return error.hint("write numbers in quotes, so that every digit is kept: zoom = \"1.5e9\"");
            }
            if message.contains("u64") { error.accepted("iterations: a whole number from 1") } else { error }
        })?;
        let at = |key: &'static str, e: InputError| {
            let line = line_of_field(text, key);
            e.nameless().within(&line.map_or_else(|| key.to_owned(), |l| format!("line {l}, {key}")))
        };
        let Some(iterations) = file.iterations else {
            return Err(InputError::new("", "no \"iterations\" are given")
                .accepted("1 to 2^63 - 1")
                .hint("such as iterations = 1000; what a file must say is in `dwell render --help`"));
        };
        if iterations == 0 {
            return Err(at("iterations", InputError::new("", "0 is out of range").accepted("1 to 2^63 - 1")));
        }
        let scene = file.scene(at)?;
        let name = file.name.unwrap_or_else(|| name.to_owned());
        Ok(Self { name, iterations, notes: file.notes.unwrap_or_default(), scene })
    }

    /// What a picture remembers of itself: the location that renders it again. `name` is used where it has none.
    ///
    /// # Errors
    /// When the bytes are no PNG, or none that this program has made, or are damaged.
    pub fn from_png(file: impl BufRead + Seek, name: &str) -> Result<Self, InputError> {
        Self::parse(&png_text::read(file)?, name).map_err(|e| e.within("its text"))
    }

    /// Reads a location file, or the text of a picture (PNG) that this program has made.
    ///
    /// # Errors
    /// As [`Self::parse`] and [`Self::from_png`], with the path; and when the file cannot be read, is no file, or is larger than
    /// 8 MiB.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let shown = shown(path);
        let ending = |ending: &str| path.to_string_lossy().to_ascii_lowercase().ends_with(ending);
        for (suffix, program) in [(".kfr", "Kalles Fraktaler"), (".f3.toml", "Fraktaler 3")] {
            if ending(suffix) {
                return Err(InputError::new(shown, format!("is a file of {program}, which this version cannot read"))
                    .accepted("location files (.toml) with re, im, zoom and iterations")
                    .hint("copy its centre, zoom and iterations into --center, --zoom and --max-iter")
                    .into());
            }
        }
        let name = path.file_stem().map_or_else(|| "location".to_owned(), |s| s.to_string_lossy().into_owned());
        let read = if ending(".png") || is_png(path) {
            let wrong = |e: std::io::Error| InputError::new("", format!("cannot be read: {e}"));
            std::fs::File::open(path).map_err(wrong).and_then(|file| Self::from_png(BufReader::new(file), &name))
        } else {
            read_text(path, MAX_FILE_BYTES).map_err(InputError::nameless).and_then(|text| Self::parse(&text, &name))
        };
        read.map_err(|e| e.within(&shown).into())
    }

    /// What a picture remembers of itself, as it stands there; `None` when the file is no PNG.
    ///
    /// # Errors
    /// As [`Self::from_png`], with the path.
    pub fn text_in_picture(path: &Path) -> Result<Option<String>, Error> {
        if !is_png(path) {
            return Ok(None);
        }
        let wrong = |e: std::io::Error| InputError::new("", format!("cannot be read: {e}"));
        let text = std::fs::File::open(path).map_err(wrong).and_then(|file| png_text::read(BufReader::new(file)));
        Ok(Some(text.map_err(|e| e.within(&shown(path)))?))
    }

    /// The built-in location of that name.
    ///
    /// # Errors
    /// When there is none; the nearest name is the hint.
    pub fn built_in(name: &str) -> Result<Self, InputError> {
        match BUILT_IN.iter().find(|(n, _)| *n == name) {
            Some((name, text)) => Self::parse(text, name).map_err(|e| e.within(name)),
            None => Err(unknown_name("location", name, BUILT_IN.iter().map(|(n, _)| *n))
                .hint_unless_present("`dwell locations` lists them; a path to a location file works too")),
        }
    }

    /// The names of the built-in locations: those of the Mandelbrot set, of other formulas, and the deep ones.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The location as the text of a file with every key.
    #[must_use]
    pub fn text(&self) -> String {
        let mut file = File::of(&self.scene, &[]);
        file.iterations = Some(self.iterations);
        file.name = Some(self.name.clone());
        file.notes = (!self.notes.is_empty()).then(|| self.notes.clone());
        toml::to_string(&file).unwrap_or_default()
    }

    /// The view of this location at a size.
    #[must_use]
    pub fn view(&self, size: Size) -> View {
        self.scene.view.clone().sized(size)
    }
}

/// A scene as the text of a location.
pub(crate) fn text_of(scene: &Scene, warnings: &[String]) -> String {
    // Every value can be written, so it cannot fail; a picture would do without its text.
    toml::to_string(&File::of(scene, warnings)).unwrap_or_default()
}

/// Whether a file begins like a PNG.
fn is_png(path: &Path) -> bool {
    let mut first = [0; png_text::SIGNATURE.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == png_text::SIGNATURE
}

/// Reads a text file of at most `most` bytes.
///
/// # Errors
/// When it cannot be read, is a directory, too large, or not UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> Result<String, InputError> {
    let shown = shown(path);
    let wrong = |problem: String| InputError::new(shown.clone(), problem);
    let metadata = std::fs::metadata(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    if metadata.is_dir() {
        return Err(wrong("is a directory, not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .map_err(|e| wrong(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > most {
        return Err(wrong(format!("is larger than {} MiB", most >> 20)));
    }
    String::from_utf8(bytes)
        .map_err(|e| wrong(format!("is not text: byte {} is not UTF-8", e.utf8_error().valid_up_to() + 1)))
}

/// A TOML error as one line: where, what, and the offending line if it is short.
pub(crate) fn toml_error(text: &str, error: &toml::de::Error) -> InputError {
    // What it repeats of the text stands between backquotes, however long it is.
    let message: Vec<_> = error.message().trim().split('`').map(|piece| shortened(piece, 80)).collect();
    let message = message.join("`").replace('\n', "; ");
    let Some(span) = error.span() else { return InputError::new("", message) };
    let start = span.start.min(text.len());
    let before = text.get(..start).unwrap_or("");
    let line_number = before.matches('\n').count() + 1;
    let line = text.lines().nth(line_number - 1).unwrap_or("").trim();
    let shown = if line.is_empty() { String::new() } else { format!(", in {}", quote(line)) };
    InputError::new(format!("line {line_number}"), format!("{message}{shown}"))
}

/// `text` if it has at most so many characters, else its beginning and its end.
fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    text.chars().take(24).chain("...".chars()).chain(text.chars().skip(length - 40)).collect()
}

/// The line, from 1, where a field is set.
fn line_of_field(text: &str, field: &str) -> Option<usize> {
    let sets =
        |line: &str| line.trim_start().strip_prefix(field).is_some_and(|rest| rest.trim_start().starts_with('='));
    text.lines().position(sets).map(|at| at + 1)
}

macro_rules! built_in {
    ($($name:literal)*) => {
        /// Name and text of every built-in location.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../locations/", $name, ".toml")))),*];
    };
}
built_in!(
    "shallow-home" "shallow-elephant" "shallow-minibrot" "shallow-feigenbaum" "shallow-seahorse" "shallow-seahorse-1e13"
    "mandelbrot-triple-spiral" "mandelbrot-double-spiral" "mandelbrot-quad-spiral" "mandelbrot-elephant-trunk"
    "mandelbrot-scepter" "mandelbrot-whorl" "mandelbrot-flower" "mandelbrot-reef" "mandelbrot-ink" "multibrot-3"
    "multibrot-4-coral" "multibrot-5" "burning-ship" "burning-ship-armada" "burning-ship-ghost" "tricorn" "tricorn-coast"
    "julia-seahorse" "julia-rabbit" "julia-dendrite" "julia-cathedral" "julia-tricorn-dragon" "kf-1e14" "fs-view05"
    "rf-glitch_test_1" "kf-1e50" "fs-view20" "kf-5e113" "rf-flake" "rf-dragon" "fs-view25" "fs-view11" "kf-4e533" "rf-e1000"
    "kf-1e1086" "rf-e8000"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Frame, Magnification};

    #[test]
    fn every_built_in_location_reads_and_every_file_is_built_in() {
        for name in Location::built_in_names() {
            assert_eq!(Location::built_in(name).unwrap().name, name);
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/locations");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, BUILT_IN.len());
    }

    #[test]
    fn zoom_rules_over_view_height() {
        let text = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\nview_height = \"1.999999\"\niterations = 50000000000\n";
        let location = Location::parse(text, "x").unwrap();
        assert!(matches!(location.scene.view.frame, Frame::Centred { magnification: Magnification::Zoom(_), .. }));
        assert_eq!((location.name.as_str(), location.iterations), ("x", 50_000_000_000));
    }

    #[test]
    fn errors_say_where() {
        let good = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\niterations = 5\n";
        for (from, to, expected) in [
            ("zoom = \"2\"", "zoom = \"2x\"", "line 3, zoom"),
            ("zoom = \"2\"", "zoom = 2", "line 3"),
            ("zoom = \"2\"", "zoom = \"-2\"", "line 3"),
            ("im = \"0\"", "im = \"nan\"", "line 2, im"),
            ("iterations = 5", "iterations = -5", "line 4"),
            ("iterations = 5", "iterations = 0", "line 4, iterations"),
            ("iterations = 5", "iteration = 5", "iteration"),
            ("re = \"0\"", "re = \"0", "line 1"),
            ("re = \"0\"\n", "", "re"),
            ("zoom = \"2\"\n", "", "zoom"),
        ] {
            let error = Location::parse(&good.replace(from, to), "x").expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
        let error = Location::built_in("shalow-seahorse").unwrap_err();
        assert!(error.hint_text().unwrap().contains("shallow-seahorse"));
    }
}
