//! Locations: named views in TOML files, and those that come with the library.

use crate::decimal::Decimal;
use crate::error::{Error, InputError, quote, shown, unknown_name};
use crate::view::{Frame, Magnification, Sample, Size, View};
use serde::Deserialize;
use std::path::Path;

/// The largest location file read, in bytes: room for the most digits twice over.
pub(crate) const MAX_FILE_BYTES: u64 = 8 << 20;

/// A named view without its pixels: centre, magnification and a limit that suits it.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name: lower case, words joined by `-`.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Real part of the centre.
    pub re: Decimal,
    /// Imaginary part of the centre.
    pub im: Decimal,
    /// How large.
    pub magnification: Magnification,
    /// The limit it is meant to be drawn with; may be beyond what an engine counts to.
    pub iterations: u64,
    /// Where the coordinates come from.
    pub source: String,
    /// Anything else.
    pub notes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    title: Option<String>,
    zoom: Option<String>,
    view_height: Option<String>,
    iterations: u64,
    #[serde(default)]
    source: String,
    #[serde(default)]
    notes: String,
    re: String,
    im: String,
}

impl Location {
    /// Reads the text of a location file. `name` is used where the file gives none.
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
        let field = |name: &'static str| {
            let line = line_of_field(text, name);
            move |e: InputError| e.within(&line.map_or_else(|| name.to_owned(), |l| format!("line {l}, {name}")))
        };
        let magnification = match (file.zoom, file.view_height) {
            // Where a file gives both, zoom rules: view_height is its rounding.
            (Some(zoom), _) => Magnification::Zoom(Decimal::parse(&zoom).map_err(field("zoom"))?),
            (None, Some(height)) => Magnification::Height(Decimal::parse(&height).map_err(field("view_height"))?),
            (None, None) => return Err(InputError::new("", "neither \"zoom\" nor \"view_height\" is given")),
        };
        if file.iterations == 0 {
            return Err(field("iterations")(InputError::new("", "0 is out of range").accepted("1 to 2^63 - 1")));
        }
        let name = file.name.unwrap_or_else(|| name.to_owned());
        let location = Self {
            title: file.title.unwrap_or_else(|| name.clone()),
            name,
            re: Decimal::parse(&file.re).map_err(field("re"))?,
            im: Decimal::parse(&file.im).map_err(field("im"))?,
            magnification,
            iterations: file.iterations,
            source: file.source,
            notes: file.notes,
        };
        location.view(View::DEFAULT_SIZE).check().map_err(|e| {
            let name = if matches!(location.magnification, Magnification::Zoom(_)) { "zoom" } else { "view_height" };
            line_of_field(text, name).map_or(e.clone(), |l| e.within(&format!("line {l}")))
        })?;
        Ok(location)
    }

    /// Reads a location file.
    ///
    /// # Errors
    /// As [`Self::parse`], with the path; and when the file cannot be read, is no file, or is larger than
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
        let text = read_text(path, MAX_FILE_BYTES)?;
        let name = path.file_stem().map_or_else(|| "location".to_owned(), |s| s.to_string_lossy().into_owned());
        Self::parse(&text, &name).map_err(|e| e.within(&shown).into())
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

    /// The names of the built-in locations, shallow ones first.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The view of this location at a size, upright, sampled at pixel centres.
    #[must_use]
    pub fn view(&self, size: Size) -> View {
        View {
            frame: Frame::Centred {
                re: self.re.clone(),
                im: self.im.clone(),
                magnification: self.magnification.clone(),
            },
            rotation: Decimal::from(0),
            size,
            sample: Sample::Centre,
            flip: false,
        }
    }
}

/// Reads a text file of at most `most` bytes.
///
/// # Errors
/// When it cannot be read, is a directory, too large, or not UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> Result<String, InputError> {
    use std::io::Read;
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
        /// Name and text of every built-in location, shallow ones first.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../locations/", $name, ".toml")))),*];
    };
}
built_in!(
    "shallow-home" "shallow-elephant" "shallow-minibrot" "shallow-feigenbaum" "shallow-seahorse" "shallow-seahorse-1e13"
    "kf-1e14" "fs-view05" "rf-glitch_test_1" "kf-1e50" "fs-view20" "kf-5e113" "rf-flake" "rf-dragon" "fs-view25" "fs-view11" "kf-4e533"
    "rf-e1000" "kf-1e1086" "rf-e8000"
);

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(matches!(location.magnification, Magnification::Zoom(_)));
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
