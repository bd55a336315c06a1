//! What can go wrong, as values: no caller needs to read a message.

use crate::base::names::{nearest, short_list};
#[cfg(feature = "toml")]
use crate::base::place::KeyPlace;
use crate::base::place::{Parameter, Place};
use crate::base::problem::Problem;
use crate::base::quote::quote;
use dwell_kernels::UnknownName;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Anything that stops a render.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that was given is wrong: a name, a number, a size, a file, a view that is too deep.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An output could not be written: the disk is full, the path is a directory, a pipe is closed.
    #[error("cannot write {}: {source}", quote(&path.to_string_lossy()))]
    Write {
        /// The output, `-` for standard output.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A defect of this program: a thread panicked, with this message.
    #[error("internal error: {0}")]
    Internal(String),
    /// Cancelled: see [`crate::Cancel`].
    #[error("interrupted")]
    Interrupted,
}

impl From<UnknownName> for Error {
    fn from(unknown: UnknownName) -> Self {
        Self::Input(unknown.into())
    }
}

/// One thing wrong in what was given: what is wrong, with which parameter, where, and what is accepted instead.
///
/// ```
/// use dwell::{Parameter, Problem, Size};
/// let error = "0x5".parse::<Size>().unwrap_err();
/// assert_eq!(error.parameter(), Some(&Parameter::Size));
/// assert!(matches!(error.problem(), Problem::OutOfRange { given } if given == "0x5"));
/// assert!(error.to_string().starts_with("size: \"0x5\" is out of range (accepted: WIDTHxHEIGHT"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
// In a box, so that a `Result` is not much larger than its value.
pub struct InputError(Box<Parts>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    problem: Problem,
    parameter: Option<Parameter>,
    places: Vec<Place>,
    accepted: Option<String>,
    newer_version: Option<String>,
}

impl InputError {
    /// An error about no parameter and no place yet.
    #[must_use]
    pub fn new(problem: Problem) -> Self {
        Self(Box::new(Parts { problem, parameter: None, places: Vec::new(), accepted: None, newer_version: None }))
    }

    /// [`Problem::Malformed`], in words.
    pub fn malformed(problem: impl Into<String>) -> Self {
        Self::new(Problem::Malformed(problem.into()))
    }

    /// [`Problem::OutOfRange`].
    pub fn out_of_range(given: impl Into<String>) -> Self {
        Self::new(Problem::OutOfRange { given: given.into() })
    }

    /// [`Problem::Unknown`] about a name that is none of `known`, all of which are listed.
    #[must_use]
    pub fn unknown<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let list: Vec<&str> = known.clone().into_iter().collect();
        let nearest = nearest(given, known).map(str::to_owned);
        Self::new(Problem::Unknown { given: given.to_owned(), nearest }).accepts(list.join(", "))
    }

    /// The same for a long list: only its beginning is accepted in words, and none of it where a name is near.
    pub(crate) fn unknown_among_many<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let nearest = nearest(given, known.clone()).map(str::to_owned);
        let list = nearest.is_none().then(|| short_list(known));
        let error = Self::new(Problem::Unknown { given: given.to_owned(), nearest });
        list.into_iter().fold(error, Self::accepts)
    }

    /// With the parameter that is wrong.
    #[must_use]
    pub fn about(mut self, parameter: Parameter) -> Self {
        self.0.parameter = Some(parameter);
        self
    }

    /// With the accepted range or form, in words.
    #[must_use]
    pub fn accepts(mut self, accepted: impl Into<String>) -> Self {
        self.0.accepted = Some(accepted.into());
        self
    }

    /// With a place around the places that it has: a file around a line.
    #[must_use]
    pub fn within(mut self, outer: Place) -> Self {
        self.0.places.insert(0, outer);
        self
    }

    /// With a line, from 1, around the places that it has.
    #[must_use]
    pub(crate) fn at_line(self, line: u64) -> Self {
        self.within(Place::Line(line))
    }

    /// With a file around the places that it has; `name` is its path, or `-`.
    #[must_use]
    pub(crate) fn in_file(self, name: impl Into<PathBuf>) -> Self {
        self.within(Place::File(name.into()))
    }

    /// With the line and the key around the places that it has.
    #[cfg(feature = "toml")]
    #[must_use]
    pub(crate) fn at_key(self, (line, key): &KeyPlace) -> Self {
        self.within(Place::Key(key.clone())).at_line(*line)
    }

    /// With the version that wrote the file, which is newer than this one.
    #[cfg(feature = "toml")]
    #[must_use]
    pub(crate) fn by_newer_version(mut self, version: String) -> Self {
        self.0.newer_version = Some(version);
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The parameter that is wrong, if it is one of a fixed set.
    #[must_use]
    pub fn parameter(&self) -> Option<&Parameter> {
        self.0.parameter.as_ref()
    }

    /// Where it is wrong, from the outermost place to the innermost: a file, a line, a key. Empty for a value that came
    /// from no file.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.0.places
    }

    /// The innermost file that it is in; `-` is standard input.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0
            .places
            .iter()
            .rev()
            .find_map(|place| if let Place::File(path) = place { Some(path.as_path()) } else { None })
    }

    /// The innermost line that it is in, from 1.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.0.places.iter().rev().find_map(|place| if let Place::Line(line) = place { Some(*line) } else { None })
    }

    /// The key of a file that has the wrong value, as it is written there.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        if let Some(Place::Key(key)) = self.0.places.last() { Some(key) } else { None }
    }

    /// The accepted range or form, in words.
    #[must_use]
    pub fn accepted(&self) -> Option<&str> {
        self.0.accepted.as_deref()
    }

    /// The version of dwell that wrote the file, where that is newer than this one: the file may be right, and this
    /// version too old for it.
    #[must_use]
    pub fn newer_version(&self) -> Option<&str> {
        self.0.newer_version.as_deref()
    }
}

impl From<UnknownName> for InputError {
    fn from(unknown: UnknownName) -> Self {
        Self::unknown(&unknown.given, unknown.known.iter().copied()).about(Parameter::Named(unknown.of))
    }
}

impl fmt::Display for InputError {
    /// One sentence: the places, the parameter unless a place within a file names it, the problem, what is accepted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<String> = self.places().iter().map(Place::to_string).collect();
        if matches!(self.places().last(), None | Some(Place::File(_))) {
            names.extend(self.parameter().map(Parameter::to_string));
        }
        if !names.is_empty() {
            write!(f, "{}: ", names.join(", "))?;
        }
        self.problem().fmt(f)?;
        match self.accepted() {
            Some(accepted) => write!(f, " (accepted: {accepted})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for InputError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_places_and_parameter() {
        let error = InputError::out_of_range("-1").about(Parameter::Density).accepts("above 0");
        assert_eq!(error.to_string(), "density: -1 is out of range (accepted: above 0)");
        let error =
            error.within(Place::Key("density".to_owned())).within(Place::Line(3)).within(Place::File("a".into()));
        assert_eq!(error.to_string(), "a, line 3, density: -1 is out of range (accepted: above 0)");
        assert_eq!((error.file(), error.line(), error.key()), (Some(Path::new("a")), Some(3), Some("density")));
        assert_eq!(InputError::malformed("is cut short").to_string(), "is cut short");
    }

    #[test]
    fn an_unknown_name_has_the_nearest() {
        let error: InputError = "fuse".parse::<dwell_kernels::Recipe>().unwrap_err().into();
        assert_eq!(error.to_string(), "recipe: \"fuse\" is not known (accepted: fused, separate)");
        assert_eq!(error.parameter(), Some(&Parameter::Named("recipe")));
        let Problem::Unknown { nearest, .. } = error.problem() else { panic!("{error}") };
        assert_eq!(nearest.as_deref(), Some("fused"));
        let many: Vec<String> = (0..20).map(|i| format!("name-{i}")).collect();
        let many = |given| InputError::unknown_among_many(given, many.iter().map(String::as_str));
        assert_eq!(many("name-x").accepted(), None, "one near name is enough");
        assert!(many("zzz").accepted().unwrap().ends_with("name-7 and 12 more"));
    }
}
