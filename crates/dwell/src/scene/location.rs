//! Locations: named scenes in TOML files, and the built-in ones.

mod file;
mod fit;
mod layer;
mod palette;

use crate::base::error::{Error, InputError};
use crate::base::place::{Parameter, Place};
#[cfg(feature = "png")]
use crate::encode::png_text;
use crate::input::source::{self, Input, foreign_text, of_another_kind};
use crate::input::toml_reader::Document;
use crate::scene::Scene;
use crate::scene::foreign::{self, LocationFormat, Written};
use crate::view::{Size, View};
use dwell_kernels::with_standard_floats;
use file::{AUTO, File, Given, Iterations};
pub use fit::Fit;
#[cfg(feature = "png")]
use std::io::{BufRead, Seek};
use std::path::{Path, PathBuf};

/// The largest location file that is read, in bytes: twice the size of one with the most digits.
pub(crate) const MAX_FILE_BYTES: u64 = 8 << 20;

/// A named scene, with its description.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name: lower case, words joined by `-`.
    pub name: String,
    /// Notes; may be empty.
    pub notes: String,
    /// The scene. Where its frame is fitted, it is so for its size and rotation.
    pub scene: Scene,
    /// Whether the frame is adapted to other sizes and rotations.
    pub fit: Fit,
    /// The version of dwell that wrote it, if that is newer than this one: it may use keys with another meaning.
    pub newer: Option<String>,
    /// Keys of a file of another program that were not used. Empty for this project's own files.
    pub unused: Vec<String>,
}

impl Location {
    /// Reads the text of a location file:
    ///
    /// ```toml
    /// re = "-0.7436438870371587"        # in quotes, so that every digit is kept
    /// im = "0.1318259042053119"
    /// zoom = "1e9"                      # the height is 4 / zoom; or view_height = "4e-9"
    /// # The rest may be left out.
    /// # bounds = ["-2", "1", "-1", "1"] # without a size, the image has this shape
    /// # fit = true                     # without a centre, the whole set; with one, the whole set where it would be cut
    /// iterations = 5000                 # or "auto", as if left out: found from the view
    /// rotation = "30"
    /// flip = false
    /// sample = "centre"
    /// size = "1920x1080"                # or a name, such as "4k" or "a4@300dpi"
    /// samples = "auto"                  # or 1 to 16 on a side of each pixel
    /// depth = 8
    /// dither = true
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
    /// palette = "ember"                 # or, in a file, the path of a palette file from there
    /// by = "smooth"
    /// scale = "root"                    # or "auto", as if left out and not suggested by the palette
    /// density = 1.0
    /// offset = 0.0
    /// interior = "#000000"
    /// look = "relief"                   # palette and layers of a built-in look, before these keys
    ///
    /// [[layer]]                         # drawn over these colours, in this order; at most 8
    /// what = "slope"                    # smooth, banded, distance, period, multiplier, angle, final-z, outline, colour
    /// angle = 45.0
    /// height = 1.5
    /// blend = "overlay"
    /// opacity = 1.0
    /// ```
    ///
    /// `name` is used where the text gives none. No file is read, so a palette must be a built-in one.
    ///
    /// # Errors
    /// The problem and its line: the text is not TOML, a key is missing, unknown or of another type, a number is out of
    /// range. Of several, the first key in the text that is wrong by itself.
    pub fn parse(text: &str, name: &str) -> Result<Self, InputError> {
        Self::parse_in(text, name, None)
    }

    /// [`Self::parse`] with palette files, whose paths are relative to `folder`.
    fn parse_in(text: &str, name: &str, folder: Option<&Path>) -> Result<Self, InputError> {
        let document = Document::parse(text)?;
        // The version that wrote the text.
        let version = document.keys().peek("dwell").filter(|version| is_newer(version));
        let newer = version.map(str::to_owned);
        let given = with_standard_floats(|| Given::read(&document, folder));
        Self::of(given, name, newer.clone()).map_err(|e| match newer {
            Some(version) => e.by_newer_version(version),
            None => e,
        })
    }

    fn of(given: Result<Given, InputError>, name: &str, newer: Option<String>) -> Result<Self, InputError> {
        let mut given = given?;
        let name = given.name.take().unwrap_or_else(|| name.to_owned());
        let notes = given.notes.take().unwrap_or_default();
        let fit = match (given.fit, given.has_place()) {
            (false, _) => Fit::Never,
            (true, true) => Fit::WhereCut,
            (true, false) => Fit::Always,
        };
        Ok(Self { name, notes, scene: given.scene()?, fit, newer, unused: Vec::new() })
    }

    /// The location stored in a picture, which renders it again. `name` is used where it gives none.
    ///
    /// # Errors
    /// When the file is not a PNG, was not made by dwell, or is damaged.
    #[cfg(feature = "png")]
    pub fn from_png(file: impl BufRead + Seek, name: &str) -> Result<Self, InputError> {
        Self::parse(&png_text::read(file)?, name).map_err(in_its_text)
    }

    /// Reads the text of a file of any program. Of a file with several entries, `wanted` is the name of one; without a name
    /// it is the first. `name` is used where the text gives none. What the text says and is not used is named in
    /// [`Self::unused`].
    ///
    /// # Errors
    /// What is wrong and where; what cannot be drawn, such as a formula that dwell does not have.
    pub fn from_text(format: LocationFormat, text: &str, wanted: Option<&str>, name: &str) -> Result<Self, InputError> {
        let Some(translation) = with_standard_floats(|| foreign::translate(format, text, wanted))? else {
            return Self::parse(text, name);
        };
        let location = Self::parse(&translation.location(), name).map_err(|e| translation.explained(&e))?;
        Ok(Self { unused: translation.all_unused(), ..location })
    }

    /// Reads a location file, the file of another program, or the text of a picture (PNG) made by dwell; `-` is standard
    /// input. Files of other programs are recognised by their ending or their first bytes; `file.upr#NAME` and
    /// `file.par#NAME` choose one of several entries. The path of a palette file is relative to the folder of the location
    /// file, or to the current folder if the location is not read from a regular file.
    ///
    /// # Errors
    /// As [`Self::parse`], [`Self::from_text`] and `from_png`, with the path; and when the file cannot be read, is not a
    /// file, is of another kind, or is larger than 8 MiB.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_with_text(path).map(|(location, _)| location)
    }

    /// [`Self::read`], with the text stored in a picture; `None` if the file is not a PNG.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_with_text(path: &Path) -> Result<(Self, Option<String>), Error> {
        let (path, wanted) = foreign::split_choice(path);
        Self::read_nameless(&path, wanted.as_deref()).map_err(|e| e.in_file(path).into())
    }

    /// The file that [`Self::read`] opens for a path: the path without the name of an entry.
    #[must_use]
    pub fn file(path: &Path) -> PathBuf {
        foreign::split_choice(path).0
    }

    fn read_nameless(path: &Path, wanted: Option<&str>) -> Result<(Self, Option<String>), InputError> {
        let ending = |ending: &str| path.to_string_lossy().to_ascii_lowercase().ends_with(ending);
        let name = path.file_stem().map(|s| s.to_string_lossy()).filter(|name| name != "-");
        let name = name.as_deref().unwrap_or("location");
        let input = Input::open(path)?;
        if let Some(kind) = input.kind() {
            let accepted = "a location file (.toml, .kfr, .f3.toml, .upr, .par, .xpf), or a PNG made by dwell";
            return Err(of_another_kind(kind, "a location").accepts(accepted));
        }
        if input.is_png() || ending(".png") {
            return Self::of_picture(input, name);
        }
        if let Some(format) = LocationFormat::of_file(path, input.head()) {
            // `place.f3.toml` has two endings.
            let name = name.strip_suffix(".f3").unwrap_or(name);
            let text = foreign_text(input.bytes(MAX_FILE_BYTES)?);
            return Ok((Self::from_text(format, &text, wanted, name)?, None));
        }
        // Names of open descriptors are not in the folder of the file.
        let has_folder = path.is_file() && !["/dev", "/proc"].iter().any(|names| path.starts_with(names));
        let folder = path.parent().filter(|_| has_folder).unwrap_or(Path::new(""));
        let text = source::text(input.bytes(MAX_FILE_BYTES)?)?;
        Ok((Self::parse_in(&text, name, Some(folder))?, None))
    }

    /// The location in the text of a picture, and the text.
    #[cfg(feature = "png")]
    fn of_picture(input: Input, name: &str) -> Result<(Self, Option<String>), InputError> {
        let text = png_text::read(input.picture())?;
        let location = Self::parse(&text, name).map_err(in_its_text)?;
        Ok((location, Some(text)))
    }

    /// Fails: this build reads no picture.
    #[cfg(not(feature = "png"))]
    fn of_picture(_: Input, _: &str) -> Result<(Self, Option<String>), InputError> {
        Err(InputError::new(crate::base::problem::Problem::LeftOut {
            what: "reading the text of a PNG",
            feature: "png",
        }))
    }

    /// The built-in location of that name.
    ///
    /// # Errors
    /// When no built-in location has that name: [`crate::Problem::Unknown`], with the nearest name.
    pub fn built_in(name: &str) -> Result<Self, InputError> {
        match BUILT_IN.iter().find(|(n, _)| *n == name) {
            Some((name, text)) => Self::parse(text, name).map_err(|e| e.within(Place::Part((*name).to_owned()))),
            None => Err(InputError::unknown_among_many(name, Self::built_in_names()).about(Parameter::Location)),
        }
    }

    /// The names of the built-in locations: those of the Mandelbrot set, of other formulas, and the deep ones.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> + Clone {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The limit, 1 to 2^63 - 1; `None` if it is to be found from the view.
    #[must_use]
    pub fn iterations(&self) -> Option<u64> {
        (!self.scene.automatic.limit).then_some(self.scene.settings.limit)
    }

    /// Whether this is a built-in location that takes hours to draw: its reference orbit has hundreds of millions of steps, or nearly all of
    /// its pixels need arbitrary precision.
    #[must_use]
    pub fn takes_hours(&self) -> bool {
        ["fs-view20", "fs-view25"].contains(&self.name.as_str())
    }

    /// The location as the text of a location file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut file = File::of(&self.scene, &[]);
        file.iterations = Some(Iterations::of(self.iterations()));
        file.name = Some(self.name.clone());
        file.notes = (!self.notes.is_empty()).then(|| self.notes.clone());
        file.fit(self.fit);
        toml::to_string(&file).unwrap_or_default()
    }

    /// The location as the text of a file of another program, or of a location file.
    ///
    /// # Errors
    /// When the program does not draw such a picture: another formula, a Julia set; and when the limit is still to be
    /// found, since other programs need one ([`crate::resolve`] finds it).
    pub fn text_in(&self, format: LocationFormat) -> Result<Written, InputError> {
        if format == LocationFormat::Toml {
            return Ok(Written { text: self.text(), left_out: Vec::new() });
        }
        let Some(iterations) = self.iterations() else {
            let problem = format!("a {format} file needs a number, not {AUTO}");
            return Err(InputError::malformed(problem).about(Parameter::MaxIterations).accepts("1 to 2^63 - 1"));
        };
        let written = with_standard_floats(|| foreign::write(format, &self.scene, &self.name, iterations))?;
        Ok(written.unwrap_or_else(|| Written { text: self.text(), left_out: Vec::new() }))
    }

    /// The view of this location at another size, with its frame adapted as [`Self::fit`] says.
    #[must_use]
    pub fn view(&self, size: Size) -> View {
        self.fit.adapted(self.scene.view.clone().sized(size), &self.scene.settings)
    }
}

impl Scene {
    /// The scene as the text of a location file, with the warnings of a render: the text stored in a picture.
    #[must_use]
    pub fn text(&self, warnings: &[String]) -> String {
        // Every value can be serialised, so this does not fail; if it did, the picture would be stored without its
        // text.
        toml::to_string(&File::of(self, warnings)).unwrap_or_default()
    }
}

/// An error in the text of a picture.
#[cfg(feature = "png")]
fn in_its_text(error: InputError) -> InputError {
    error.within(Place::Part("its text".to_owned()))
}

/// Whether a version is newer than this one; false for a text that is not a version.
fn is_newer(version: &str) -> bool {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        let release = version.split(['-', '+']).next().unwrap_or("");
        // One more than a version has, so that a longer text is recognised as none.
        release.split('.').take(4).map(|number| number.parse().ok()).collect()
    };
    numbers(version).filter(|numbers| numbers.len() == 3) > numbers(env!("CARGO_PKG_VERSION"))
}

macro_rules! built_in {
    ($($name:literal)*) => {
        /// Name and text of every built-in location.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../locations/", $name, ".toml")))),*];
    };
}
built_in!(
    "shallow-home" "shallow-elephant" "shallow-minibrot" "shallow-feigenbaum" "shallow-seahorse" "shallow-seahorse-1e13"
    "mandelbrot-triple-spiral" "mandelbrot-double-spiral" "mandelbrot-quad-spiral" "mandelbrot-elephants" "mandelbrot-elephant-trunk"
    "mandelbrot-scepter" "mandelbrot-whorl" "mandelbrot-flower" "mandelbrot-reef" "mandelbrot-ink" "multibrot-3"
    "multibrot-4-coral" "multibrot-5" "burning-ship" "burning-ship-armada" "burning-ship-ghost" "tricorn" "tricorn-coast"
    "julia-seahorse" "julia-rabbit" "julia-dendrite" "julia-cathedral" "julia-tricorn-dragon" "kf-1e14" "fs-view05"
    "rf-glitch_test_1" "kf-1e50" "fs-view20" "kf-5e113" "rf-flake" "rf-dragon" "fs-view25" "fs-view11" "kf-4e533" "rf-e1000"
    "kf-1e1086" "rf-e8000"
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::problem::Problem;
    use crate::scene::Automatic;
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
    fn zoom_takes_precedence_over_view_height() {
        let text = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\nview_height = \"1.999999\"\niterations = 50000000000\n";
        let location = Location::parse(text, "x").unwrap();
        assert!(matches!(location.scene.view.frame, Frame::Centred { magnification: Magnification::Zoom(_), .. }));
        assert_eq!((location.name.as_str(), location.iterations()), ("x", Some(50_000_000_000)));
    }

    #[test]
    fn what_is_left_out_is_found_from_the_view_except_in_records() {
        let place = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\n";
        let automatic = |more: &str| Location::parse(&format!("{place}{more}"), "x").unwrap().scene.automatic;
        let (all, none) = (Automatic::ALL, Automatic::NONE);
        for (more, expected) in [
            ("", all),
            ("iterations = \"auto\"", all),
            ("iterations = 9", Automatic { limit: false, ..all }),
            ("[colour]\ndensity = 2.0", all),
            ("[colour]\nscale = \"auto\"\npalette = \"ink\"", all),
            ("[colour]\npalette = \"ink\"", Automatic { scale: false, ..all }),
            ("[colour]\nscale = \"root\"", Automatic { scale: false, ..all }),
            ("dwell = \"0.1.0\"\niterations = 9", none),
            ("dwell = \"0.1.0\"\niterations = 9\n[colour]\npalette = \"ember\"", none),
            ("number = \"f64\"", Automatic { number: false, ..all }),
            ("number = \"auto\"", all),
            ("dwell = \"0.1.0\"\niterations = \"auto\"\nnumber = \"auto\"\n[colour]\nscale = \"auto\"", all),
        ] {
            assert_eq!(automatic(more), expected, "{more}");
        }
    }

    #[test]
    fn what_is_to_be_found_is_written_and_read_back() {
        let text = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\n[colour]\ndensity = 2.0\n";
        let location = Location::parse(text, "x").unwrap();
        let written = location.text();
        assert!(written.contains("iterations = \"auto\"") && written.contains("scale = \"auto\""), "{written}");
        let again = Location::parse(&written, "x").unwrap();
        assert_eq!((again.scene.automatic, again.iterations()), (Automatic::ALL, None));
        assert_eq!(again.scene.colouring, location.scene.colouring);
        assert_eq!(again.text(), written);
    }

    #[test]
    fn errors_name_line_and_key() {
        let good = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\niterations = 5\n";
        for (from, to, expected) in [
            ("zoom = \"2\"", "zoom = \"2x\"", "line 3, zoom"),
            ("zoom = \"2\"", "zoom = 2", "line 3"),
            ("zoom = \"2\"", "zoom = \"-2\"", "line 3"),
            ("im = \"0\"", "im = \"nan\"", "line 2, im"),
            ("iterations = 5", "iterations = -5", "line 4"),
            (
                "iterations = 5",
                "iterations = 0",
                "line 4, iterations: 0 is out of range (accepted: 1 to 2^63 - 1, or \"auto\")",
            ),
            ("iterations = 5", "iterations = \"many\"", "line 4, iterations: is the text \"many\""),
            ("iterations = 5", "iterations = 9223372036854775808", "accepted: 1 to 2^63 - 1"),
            ("iterations = 5", "iterations = 5.5", "is the number 5.5, not a whole number"),
            ("iterations = 5", "iteration = 5", "iteration"),
            ("re = \"0\"", "re = \"0", "line 1"),
            ("re = \"0\"\n", "", "re"),
            ("zoom = \"2\"\n", "", "zoom"),
        ] {
            let error = Location::parse(&good.replace(from, to), "x").expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
        let error = Location::built_in("shalow-seahorse").unwrap_err();
        assert!(matches!(error.problem(), Problem::Unknown { nearest: Some(name), .. } if name == "shallow-seahorse"));
        assert!(!error.to_string().contains("kf-1e50"), "one near name is enough: {error}");
    }

    #[test]
    fn errors_are_in_terms_of_the_file() {
        let good = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\niterations = 5\n";
        for (more, said, nearest) in [
            ("zoomm = \"3\"", "line 5: \"zoomm\" is no key of a location", "zoom"),
            ("x9 = 1\nsamples = 99", "line 5: \"x9\" is no key of a location (accepted: dwell, name", ""),
            ("zoom = \"3\"", "line 5: the key \"zoom\" is given twice", ""),
            ("samples = 2\naa = 3", "line 6, aa: is given twice: it is samples in line 5", ""),
            ("max_iter = 5", "line 5, max_iter: is given twice: it is iterations in line 4", ""),
            ("rotation = 30", "line 5, rotation: is the number 30, not text in quotes", ""),
            ("power = 4294967296", "line 5, power: 4294967296 is out of range (accepted: 2 to 16)", ""),
            ("samples = \"2\"", "line 5, samples: is the text \"2\", not a whole number", ""),
            ("depth = 10", "line 5, depth: 10 is not known (accepted: 8, 16)", ""),
            ("flip = \"yes\"", "not true or false", ""),
            ("julia = [\"1\"]", "line 5, julia: has 1 number, not 2", ""),
            ("julia = [1, 2]", "line 5, julia: has \"1\": it is to be a list of 2 texts in quotes", ""),
            ("colour = 3", "line 5, colour: is the number 3, not a table", ""),
            ("[colour]\npalette = 3", "line 6, palette: is the number 3, not text in quotes", ""),
            ("[colour]\npalete = 3", "line 6: \"palete\" is no key of the table colour", "palette"),
            ("[colour]\ndensity = \"3\"", "line 6, density: is the text \"3\", not a number", ""),
            ("[colour]\ndensity = 1e300", "line 6, density: 1e300 is out of range", ""),
            ("[colour]\nby = \"distance\"\nscale = \"limit\"", "line 7, scale", ""),
            ("[colour]\npalette = \"a/b.ggr\"", "\"a/b.ggr\" is a file", ""),
            ("dwell = \"99.0.0\"\nshine = 3", "line 6: \"shine\"", "size"),
            ("formula = \"mandelbulb\"\nsize = \"0x0\"", "line 5, formula", ""),
            ("size = \"0x0\"\nformula = \"mandelbulb\"", "line 5, size", ""),
        ] {
            let error = Location::parse(&format!("{good}{more}\n"), "x").expect_err(more);
            assert!(error.to_string().contains(said), "{more}: {error}");
            let found = match error.problem() {
                Problem::UnknownKey { nearest, .. } => nearest.as_deref().unwrap_or(""),
                _ => "",
            };
            assert_eq!(found, nearest, "{more}");
            assert_eq!(error.newer_version(), more.contains("99.0.0").then_some("99.0.0"));
            for jargon in ["u64", "u32", "f64", "i128", "sequence", "unknown field", "recursion"] {
                assert!(!error.to_string().contains(jargon), "{error}");
            }
        }
        let nested = Location::parse(&format!("julia = {}", "[".repeat(10_000)), "x").unwrap_err().to_string();
        assert!(nested.contains("nested too deeply"), "{nested}");
    }

    #[test]
    fn whole_sets_fit_the_size_and_bounds_choose_one() {
        let read = |text: &str| Location::parse(text, "x").unwrap();
        let text = "julia = [\"-0.8\", \"0.156\"]\nfit = true\niterations = 5\n";
        let julia = read(text);
        assert_eq!(julia.fit, Fit::Always);
        let again = Location::parse(&julia.text(), "x").unwrap();
        assert_eq!((again.fit, again.text()), (Fit::Always, julia.text()));
        // A resolved frame is stored in pictures.
        assert!(!julia.scene.text(&[]).contains("fit") && julia.scene.text(&[]).contains("view_height"));
        let home = Location::built_in("shallow-home").unwrap();
        assert_eq!(home.fit, Fit::WhereCut);
        let at = |size: &str| home.view(size.parse().unwrap()).exact().half_pixel[1].clone();
        let height = |size: &str| at(size).times_whole(2 * i64::from(size.parse::<Size>().unwrap().height));
        assert_eq!(height("4k"), height("1080p"));
        assert!(height("phone").round::<f64>() > 6.0);

        // Built-in locations have their own frames at the usual shape.
        for name in Location::built_in_names() {
            let location = Location::built_in(name).unwrap();
            assert_ne!(location.fit, Fit::Always, "{name}");
            let view = location.view(View::DEFAULT_SIZE);
            assert_eq!(format!("{:?}", view.frame), format!("{:?}", location.scene.view.frame), "{name}");
        }

        let text = "bounds = [\"-2\", \"1\", \"-1\", \"1\"]\niterations = 5\n";
        assert_eq!(read(text).scene.view.size.to_string(), "1764x1176");
        assert_eq!(read(&format!("size = \"a6@100dpi\"\n{text}")).scene.view.size.to_string(), "413x583");
        let error = Location::parse("iterations = 5", "x").unwrap_err().to_string();
        assert!(error.contains("fit = true"), "{error}");
    }

    #[test]
    fn newer_versions_are_recognised() {
        assert!(is_newer("99.0.0") && is_newer("99.0.0-rc.1") && !is_newer(env!("CARGO_PKG_VERSION")));
        assert!(!is_newer("0.0.1") && !is_newer("newer") && !is_newer("") && !is_newer("99"));
        let text = "dwell = \"99.1.0\"\nre = \"0\"\nim = \"0\"\nzoom = \"2\"\niterations = 5\n";
        assert_eq!(Location::parse(text, "x").unwrap().newer.as_deref(), Some("99.1.0"));
        assert_eq!(Location::parse(&text.replace("99.1.0", "0.0.1"), "x").unwrap().newer, None);
    }
}
