//! What the user is told of an error: the flag that it is about, what is wrong, a hint; and the exit code.
//!
//! The library's errors are values without words of the command line. Those words are here and nowhere else.

use crate::answers;
use dwell::{Error, InputError, Number, Parameter, Place, Problem, UnknownName, quote};
use std::borrow::Cow;

/// Anything that ends the program before its work is done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library {
        error: Error,
        /// The flag or argument that it is about, where its parameter alone does not tell.
        flag: Option<Cow<'static, str>>,
        /// A hint after the one that its problem has.
        hint: Option<Cow<'static, str>>,
        /// Whether `hint` is in place of the one that its problem has.
        instead: bool,
    },
    /// A mistake on the command line that the program itself finds.
    Usage(Usage),
    /// An engine that was chosen by name is not available.
    Engine(Usage),
}

/// What is wrong with a flag or an argument.
#[derive(Debug)]
pub(crate) struct Usage {
    flag: Cow<'static, str>,
    problem: Cow<'static, str>,
    accepted: Option<Cow<'static, str>>,
    hint: Option<Cow<'static, str>>,
}

impl Usage {
    pub(crate) fn new(flag: impl Into<Cow<'static, str>>, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { flag: flag.into(), problem: problem.into(), accepted: None, hint: None }
    }

    /// With the accepted range or form.
    pub(crate) fn accepts(self, accepted: impl Into<Cow<'static, str>>) -> Self {
        Self { accepted: Some(accepted.into()), ..self }
    }

    /// With what to do about it.
    pub(crate) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// With what to do about it where nothing is said yet.
    pub(crate) fn usual_hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }
}

impl From<Usage> for Failure {
    fn from(usage: Usage) -> Self {
        Self::Usage(usage)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library { error, flag: None, hint: None, instead: false }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Error::Input(error).into()
    }
}

impl From<UnknownName> for Failure {
    fn from(unknown: UnknownName) -> Self {
        InputError::from(unknown).into()
    }
}

impl Failure {
    /// The same about this flag or argument, whatever parameter the library names.
    pub(crate) fn about(self, name: impl Into<Cow<'static, str>>) -> Self {
        match self {
            Self::Library { error, hint, instead, .. } => {
                Self::Library { error, flag: Some(name.into()), hint, instead }
            }
            Self::Usage(usage) => Self::Usage(Usage { flag: name.into(), ..usage }),
            Self::Engine(usage) => Self::Engine(Usage { flag: name.into(), ..usage }),
        }
    }

    /// The same with more to do about it.
    pub(crate) fn hint(self, more: impl Into<Cow<'static, str>>) -> Self {
        match self {
            Self::Library { error, flag, instead, .. } => {
                Self::Library { error, flag, hint: Some(more.into()), instead }
            }
            Self::Usage(usage) => Self::Usage(usage.hint(more)),
            Self::Engine(usage) => Self::Engine(usage.hint(more)),
        }
    }

    /// The same with this to do about it, and nothing else.
    pub(crate) fn remedy(self, remedy: impl Into<Cow<'static, str>>) -> Self {
        match self.hint(remedy) {
            Self::Library { error, flag, hint, .. } => Self::Library { error, flag, hint, instead: true },
            other => other,
        }
    }

    /// Whether it is about memory: more was needed than is allowed or there.
    pub(crate) fn is_about_memory(&self) -> bool {
        matches!(self, Self::Library { error: Error::Input(e), .. } if matches!(e.problem(), Problem::Memory { .. }))
    }

    /// What is wrong, in one line.
    pub(crate) fn message(&self) -> String {
        let sentence = |name: &str, problem: &str, accepted: Option<&str>| match accepted {
            Some(accepted) => format!("{name}: {problem} (accepted: {accepted})"),
            None => format!("{name}: {problem}"),
        };
        match self {
            Self::Library { error: Error::Input(error), flag, .. } => match flag.clone().or_else(|| flag_of(error)) {
                Some(flag) => sentence(&flag, &error.problem().to_string(), error.accepted()),
                None => error.to_string(),
            },
            Self::Library { error, .. } => error.to_string(),
            Self::Usage(usage) | Self::Engine(usage) => {
                sentence(&usage.flag, &usage.problem, usage.accepted.as_deref())
            }
        }
    }

    /// What to do about it, in one line.
    pub(crate) fn hints(&self) -> Option<String> {
        let hints: Vec<Cow<'_, str>> = match self {
            Self::Library { error: Error::Input(error), flag, hint, instead: false } => {
                let flag = flag.clone().or_else(|| flag_of(error));
                hints_of(error, flag.as_deref()).into_iter().chain(hint.clone()).collect()
            }
            Self::Library { hint, .. } => hint.clone().into_iter().collect(),
            Self::Usage(usage) | Self::Engine(usage) => usage.hint.clone().into_iter().collect(),
        };
        hints.into_iter().map(Cow::into_owned).reduce(|text, more| {
            let joint = if text.ends_with('?') { "" } else { ";" };
            format!("{text}{joint} {more}")
        })
    }

    /// The program's exit code: 2, 4, 5, 101 or 130.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Library { error: Error::Write { .. }, .. } => 4,
            Self::Library { error: Error::Input(error), .. } if is_in_the_way(error) => 4,
            Self::Library { error: Error::Internal(_), .. } => 101,
            Self::Library { error: Error::Interrupted, .. } => 130,
            Self::Engine(_) => 5,
            Self::Library { .. } | Self::Usage(_) => 2,
        }
    }
}

/// Whether a file of a journal's name is in the way of an output.
fn is_in_the_way(error: &InputError) -> bool {
    matches!(
        error.problem(),
        Problem::NotAJournal
            | Problem::JournalUnreadable { .. }
            | Problem::JournalOfAnotherVersion
            | Problem::JournalDamaged
            | Problem::JournalDoesNotFit
    )
}

/// The flag that a value was given with. A value from a file was given with none.
fn flag_of(error: &InputError) -> Option<Cow<'static, str>> {
    if !error.places().is_empty() {
        return None;
    }
    if matches!(error.problem(), Problem::Exists { .. }) {
        return Some("--no-clobber".into());
    }
    let flag = match error.parameter()? {
        Parameter::Size => "--size",
        Parameter::Re => "--center RE",
        Parameter::Im => "--center IM",
        Parameter::Zoom => "--zoom",
        Parameter::Height => "--view-height",
        Parameter::Bounds => "--bounds",
        Parameter::Rotation => "--rotate",
        Parameter::MaxIterations => "--max-iter",
        Parameter::EscapeRadius => "--escape-radius",
        Parameter::Power => "--power",
        Parameter::Samples => "--aa",
        Parameter::Tile => "--tile",
        Parameter::Threads => "--threads",
        Parameter::Palette => "--palette",
        Parameter::Density => "--density",
        Parameter::Offset => "--offset",
        Parameter::Colour => "--interior",
        Parameter::Output => "-o",
        Parameter::Named("number") => "--precision",
        Parameter::Named("recipe") => "--rounding",
        Parameter::Named("by") => "--color-by",
        Parameter::Named(name) => return Some(format!("--{name}").into()),
        // No flag gives a view as a whole, and the others are given in files or as arguments.
        _ => return None,
    };
    Some(flag.into())
}

/// What to do about an error of the library about a value that this flag gave.
fn hints_of(error: &InputError, flag: Option<&str>) -> Vec<Cow<'static, str>> {
    let mut hints: Vec<Cow<'static, str>> = Vec::new();
    match error.problem() {
        Problem::Unknown { given, nearest } => {
            if let Some(remedy) = flag.and_then(|flag| answers::value(flag, given)) {
                return vec![remedy];
            }
            let like = match error.parameter() {
                Some(Parameter::Location) => answers::locations_like(given),
                _ => Vec::new(),
            };
            let names = if like.is_empty() { nearest.as_deref().into_iter().collect() } else { like };
            if !names.is_empty() {
                let names: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
                hints.push(format!("did you mean {}?", names.join(" or ")).into());
            }
        }
        Problem::UnknownKey { given, nearest, .. } => {
            let meant = || nearest.as_ref().map(|key| format!("did you mean {key}?").into());
            hints.extend(answers::key(given).map(Cow::from).or_else(meant));
        }
        _ => {}
    }
    let hint: Option<Cow<'static, str>> = match error.problem() {
        Problem::Unknown { .. } => where_names_are(error).map(Cow::from),
        Problem::Conflict(_) if error.parameter() == Some(&Parameter::Power) => {
            Some("powers above 2 are those of the formula multibrot: add --formula multibrot".into())
        }
        Problem::UnquotedNumber { written } => {
            let key = error.key().unwrap_or("key");
            Some(format!("write it in quotes, so that every digit is kept: {key} = \"{written}\"").into())
        }
        Problem::SizesDiffer { found: [width, height], .. } => {
            Some(format!("give the size it was rendered with: --size {width}x{height}").into())
        }
        Problem::Memory { .. } if error.parameter() == Some(&Parameter::MaxIterations) => {
            Some("allow more with --max-memory: half of it is for them".into())
        }
        Problem::NotANumber { given, .. } => answers::number(given).map(Cow::from),
        Problem::UnknownEnding { ending, .. } => {
            let usual = "give the format with --format, or change the ending";
            Some(answers::ending(ending).map_or(usual.into(), Cow::from))
        }
        problem => fixed_hint(problem).map(Cow::from),
    };
    hints.extend(hint);
    if let Some(version) = error.newer_version() {
        let own = env!("CARGO_PKG_VERSION");
        hints.push(format!("dwell {} wrote it, which is newer than this one ({own})", quote(version)).into());
    }
    hints
}

/// Where the names are listed of which one is unknown.
fn where_names_are(error: &InputError) -> Option<&'static str> {
    let in_picture = error.places().iter().any(|place| matches!(place, Place::Part(_)));
    match error.parameter()? {
        Parameter::Location => Some("`dwell locations` lists them; a path to a location file works too"),
        Parameter::Palette if in_picture => Some("`dwell palettes` shows them"),
        Parameter::Palette if error.key().is_some() => Some(
            "`dwell palettes` shows them; a palette file works too, by its path from the folder of this one: \
             palette = \"./my.ggr\"",
        ),
        Parameter::Palette => Some(
            "`dwell palettes` shows them; a palette file (.toml, .map, .ggr, .ugr, .gpl, .kfp) or colours (#001,#fff,#fa0) work too",
        ),
        _ => None,
    }
}

/// The hint for a problem that has always the same.
fn fixed_hint(problem: &Problem) -> Option<&'static str> {
    let f64_resolves = |bits: i64| bits <= i64::from(f64::SIGNIFICAND_BITS);
    Some(match problem {
        Problem::Missing(_) => "`dwell render --help` shows what a location file and a palette file say",
        Problem::Comparison => "give one of the two pictures that were compared",
        Problem::NoScene { .. } => "any program that rewrites a picture may have dropped its text",
        Problem::PictureAsPalette => "`dwell show` says which palette a picture made by dwell has",
        Problem::NoFolder { .. } => "`dwell palettes` shows the built-in palettes",
        Problem::PipeTooLong { .. } => "write it to a file first",
        Problem::TrailingBytes => "its header gives a smaller size than it has, or something was appended",
        Problem::KindsDiffer(_) => {
            "a field holds dwells, an image colours made of them: write the dwells of both, with -o FILE.npy"
        }
        Problem::Memory { .. } => "draw fewer pixels",
        Problem::NoThreads { .. } => "use fewer threads",
        Problem::TooDeep { number: "f32", needed_bits, .. } if f64_resolves(*needed_bits) => {
            "use --precision f64, or --force to render it anyway"
        }
        Problem::TooSmall { resolved_by: Some("f64"), .. } => "use --precision f64, or --force to render it anyway",
        Problem::TooDeep { .. } | Problem::TooSmall { .. } => {
            "--precision exact, or auto, renders every formula at any depth; otherwise a lower zoom or, where there are several, \
             fewer pixels resolve it, and --force renders it anyway, in blocks"
        }
        Problem::Exists { .. } => "leave --no-clobber out to replace it",
        Problem::NotAJournal | Problem::JournalUnreadable { .. } => "move it, or give another -o",
        Problem::JournalOfAnotherVersion => {
            "the version that wrote it resumes that render; --fresh removes it, and the .dwell-partial files beside it are \
             then of no use; another -o leaves it alone"
        }
        Problem::JournalDamaged | Problem::JournalDoesNotFit => {
            "--fresh starts over; the .dwell-partial files beside it are then of no use"
        }
        Problem::JournalOfAnotherRender { .. } => {
            "the command of that render resumes it; --fresh drops it; another -o leaves it alone"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::{Location, Recipe, Size};

    #[test]
    fn a_flag_is_named_where_the_value_came_from_one() {
        let failure = Failure::from("0x5".parse::<Size>().unwrap_err());
        assert!(failure.message().starts_with("--size: \"0x5\" is out of range (accepted: "), "{}", failure.message());
        assert_eq!((failure.exit_code(), failure.hints()), (2, None));
        let failure = Failure::from("fuse".parse::<Recipe>().unwrap_err());
        assert_eq!(failure.message(), "--rounding: \"fuse\" is not known (accepted: fused, separate)");
        assert_eq!(failure.hints().as_deref(), Some("did you mean \"fused\"?"));
        let text = "re = \"0\"\nim = \"0\"\nzoom = 2\niterations = 5\n";
        let failure = Failure::from(Location::parse(text, "x").unwrap_err());
        assert_eq!(failure.message(), "line 3, zoom: is the number 2, not text in quotes");
        assert!(failure.hints().unwrap().ends_with(": zoom = \"2\""));
    }

    #[test]
    fn hints_are_joined() {
        let failure = Failure::from(Location::built_in("shalow-home").unwrap_err()).hint("more");
        let hints = failure.hints().unwrap();
        assert!(hints.starts_with("did you mean \"shallow-home\"? `dwell locations`"), "{hints}");
        assert!(hints.ends_with("works too; more"), "{hints}");
    }
}
