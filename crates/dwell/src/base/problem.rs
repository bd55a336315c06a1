//! What is wrong with a value or a file.

use crate::base::quote::{needed_bytes as shown_bytes, quote, quote_place, value};
use std::fmt;
use std::path::PathBuf;

/// What is wrong. `given` is always the text as it was given. A program that has hints for its users chooses them by
/// this value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A text is empty where a number should be.
    Empty,
    /// A number is `nan` or infinite.
    NotFinite {
        /// The text.
        given: String,
    },
    /// A text is no number.
    NotANumber {
        /// The text.
        given: String,
        /// The first character, from 0, that is not part of a number; the length of the text where it ends too early.
        at: usize,
    },
    /// The exponent of a number is too large or too small.
    Exponent {
        /// The text.
        given: String,
        /// The exponent, shortened.
        exponent: String,
    },
    /// A number has too many digits.
    TooManyDigits {
        /// Its digits.
        digits: usize,
    },
    /// A value is outside its range.
    OutOfRange {
        /// The value.
        given: String,
    },
    /// The lower of two edges is not below the upper one.
    NotBelow {
        /// The lower edge.
        low: String,
        /// The upper edge.
        high: String,
    },
    /// A name is unknown.
    Unknown {
        /// The name.
        given: String,
        /// The known name that is nearest, if it is near enough to be what was meant.
        nearest: Option<String>,
    },
    /// A file has an unknown key.
    UnknownKey {
        /// The key.
        given: String,
        /// What the keys are of: `a location`.
        of: &'static str,
        /// The known key that is nearest, if it is near enough to be what was meant.
        nearest: Option<String>,
    },
    /// A file's name has an ending that is no format's.
    UnknownEnding {
        /// The ending, without the dot.
        ending: String,
        /// The path.
        path: PathBuf,
    },
    /// A file or a value is of another kind.
    WrongKind {
        /// What it is: `a NumPy array`, `the text "x"`.
        found: String,
        /// What it should be: `a palette`, `a whole number`.
        wanted: String,
    },
    /// A number stands without quotes, in which every digit would be kept.
    UnquotedNumber {
        /// The number as it is written, shortened.
        written: String,
    },
    /// A picture was given as a palette.
    PictureAsPalette,
    /// A PNG has no text that describes a scene.
    NoScene {
        /// The program that made it, if the PNG says so; `dwell` itself where the text was lost.
        software: Option<String>,
    },
    /// A text or file is not of the form that it should have, in words.
    Malformed(String),
    /// Something that is needed is not given, in words.
    Missing(String),
    /// Two things that were given do not go together, in words.
    Conflict(String),
    /// Something cannot be done, in words.
    Unsupported(String),
    /// Something that this build of the library leaves out, since a Cargo feature is off.
    LeftOut {
        /// What it is: `reading a PNG`.
        what: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// A palette file is named by a text that is in no file, so that there is no folder to look for it in.
    NoFolder {
        /// The path.
        given: String,
    },
    /// A file cannot be read.
    Unreadable {
        /// The system's error.
        why: String,
    },
    /// A file is too large.
    TooLarge {
        /// The most bytes that are read.
        most_bytes: u64,
    },
    /// A pipe carries more than can be kept of it; a file of the same content could be read.
    PipeTooLong {
        /// The most bytes that are kept.
        most_bytes: u64,
    },
    /// A file goes on after its last pixel.
    TrailingBytes,
    /// Two sizes that should be equal differ.
    SizesDiffer {
        /// Width and height that were found in a file.
        found: [u32; 2],
        /// Width and height of the view.
        view: [u32; 2],
    },
    /// A field of dwells and an image cannot be compared, in words.
    KindsDiffer(String),
    /// A PNG shows the differences of two files, and no view.
    Comparison,
    /// More memory is needed than is allowed, or than the system has.
    Memory {
        /// What the memory is for.
        what: String,
        /// The bytes that are needed.
        needed_bytes: u64,
        /// The bytes that are allowed; `None` where the system refused to allocate.
        allowed_bytes: Option<u64>,
    },
    /// The system refuses to start threads.
    NoThreads {
        /// The threads that were requested.
        threads: usize,
        /// The system's error.
        why: String,
    },
    /// Neighbouring pixels are too close together for the number that the view is computed in.
    TooDeep {
        /// The number: `f32`, `f64`.
        number: &'static str,
        /// Bits of its significand.
        has_bits: u32,
        /// Bits that the view needs.
        needed_bits: i64,
        /// The axis: `real axis`, `imaginary axis`.
        axis: &'static str,
        /// The distance of pixels on it, rounded down to three digits.
        step: String,
        /// The largest coordinate on it, rounded down to three digits.
        largest: String,
        /// The distance of neighbouring numbers near that coordinate, rounded down to three digits.
        spacing: String,
    },
    /// Neighbouring pixels are closer together than the smallest steps that the number has anywhere, those around 0. More bits
    /// of the significand would not help; a number with a greater range of exponents would.
    TooSmall {
        /// The number: `f32`, `f64`.
        number: &'static str,
        /// The axis: `real axis`, `imaginary axis`.
        axis: &'static str,
        /// The distance of pixels on it, rounded down to three digits.
        step: String,
        /// The smallest distance of neighbouring numbers, rounded down to three digits.
        spacing: String,
        /// The number that resolves this axis, if there is one.
        resolved_by: Option<&'static str>,
    },
    /// Coordinates are larger than the number can be that the view is computed in.
    TooFar {
        /// The number: `f32`, `f64`.
        number: &'static str,
        /// The axis: `real axis`, `imaginary axis`.
        axis: &'static str,
        /// The largest coordinate on it, rounded down to three digits.
        largest: String,
    },
    /// An output exists already and is not to be replaced.
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// A journal cannot be read.
    JournalUnreadable {
        /// The system's error.
        why: String,
    },
    /// A file that has the journal's name is no journal.
    NotAJournal,
    /// A journal was written by a version of this program with another format.
    JournalOfAnotherVersion,
    /// A journal is damaged.
    JournalDamaged,
    /// A journal does not fit the files that it describes.
    JournalDoesNotFit,
    /// A journal is of a render with other parameters.
    JournalOfAnotherRender {
        /// The parameters that differ, with both values.
        differing: String,
        /// The seconds of work that it keeps.
        seconds: u64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty"),
            Self::NotFinite { given } => write!(f, "{} is not a finite number", quote(given)),
            Self::NotANumber { given, at } if *at >= given.chars().count() => {
                write!(f, "{} is not a number: it ends too early", quote(given))
            }
            Self::NotANumber { given, at } => write!(f, "is not a number: {}", quote_place(given, *at)),
            Self::Exponent { given, exponent } => {
                write!(f, "the exponent {exponent} is beyond what is accepted, in {}", quote(given))
            }
            Self::TooManyDigits { digits } => write!(f, "has {digits} digits"),
            Self::OutOfRange { given } => write!(f, "{} is out of range", value(given)),
            Self::NotBelow { low, high } => write!(f, "{} is not below {}", value(low), value(high)),
            Self::Unknown { given, .. } => write!(f, "{} is not known", value(given)),
            Self::UnknownKey { given, of, .. } => write!(f, "{} is no key of {of}", quote(given)),
            Self::UnknownEnding { ending, path } => {
                let (ending, path) = (quote(&format!(".{ending}")), quote(&path.to_string_lossy()));
                write!(f, "the ending {ending} of {path} is no format")
            }
            Self::WrongKind { found, wanted } => write!(f, "is {found}, not {wanted}"),
            Self::UnquotedNumber { written } => write!(f, "is the number {written}, not text in quotes"),
            Self::PictureAsPalette => f.write_str("is a picture, not a palette"),
            Self::NoScene { software: Some(name) } if name.split(' ').next() == Some("dwell") => {
                f.write_str("was made by dwell, but its text is missing or damaged, so it does not say what it shows")
            }
            Self::NoScene { software: Some(name) } => {
                write!(f, "was not made by dwell, but by {}: it does not say what it shows", quote(name))
            }
            Self::NoScene { software: None } => f.write_str("was not made by dwell: it does not say what it shows"),
            Self::Comparison => f.write_str(
                "is a comparison: it shows the differences of two files, and stores no view that could be rendered",
            ),
            Self::Malformed(text)
            | Self::Missing(text)
            | Self::Conflict(text)
            | Self::Unsupported(text)
            | Self::KindsDiffer(text) => f.write_str(text),
            Self::LeftOut { what, feature } => {
                write!(f, "{what} is not part of this build, which leaves out the feature \"{feature}\"")
            }
            Self::NoFolder { given } => {
                write!(f, "{} is a file, and this text is in no file that it could be found beside", quote(given))
            }
            Self::Unreadable { why } | Self::JournalUnreadable { why } => write!(f, "cannot be read: {why}"),
            Self::TooLarge { most_bytes } => write!(f, "is larger than {} MiB", most_bytes >> 20),
            Self::PipeTooLong { most_bytes } => write!(f, "goes on after {} MiB", most_bytes >> 20),
            Self::TrailingBytes => f.write_str("goes on after its last pixel"),
            Self::SizesDiffer { found: [width, height], view: [of_view, high] } => {
                write!(f, "has {width} x {height} pixels, and the view {of_view} x {high}")
            }
            Self::Memory { what, needed_bytes, allowed_bytes: Some(_) } => {
                write!(f, "{what} needs {} of memory", shown_bytes(*needed_bytes))
            }
            Self::Memory { what, needed_bytes, allowed_bytes: None } => {
                write!(f, "the system has no {} of memory for {what}", shown_bytes(*needed_bytes))
            }
            Self::NoThreads { threads, why } => write!(f, "{threads} threads cannot be started: {why}"),
            Self::TooDeep { number, has_bits, needed_bits, axis, step, largest, spacing } => write!(
                f,
                "too deep for {number}: pixels on the {axis} are {step} apart, and near {largest} this number has steps \
                 of {spacing}; {needed_bits} bits would be needed, it has {has_bits}"
            ),
            Self::TooSmall { number, axis, step, spacing, .. } => write!(
                f,
                "too deep for {number}: pixels on the {axis} are {step} apart, and the smallest steps of this number, \
                 near 0, are {spacing}"
            ),
            Self::TooFar { number, axis, largest } => {
                write!(f, "coordinates reach {largest} on the {axis}, beyond {number}")
            }
            Self::Exists { path } => write!(f, "{} exists already", quote(&path.to_string_lossy())),
            Self::NotAJournal => f.write_str("is in the way: it is no journal of dwell's"),
            Self::JournalOfAnotherVersion => f.write_str("is of another version of dwell"),
            Self::JournalDamaged => f.write_str("is damaged"),
            Self::JournalDoesNotFit => f.write_str("does not fit the files that it describes"),
            Self::JournalOfAnotherRender { differing, seconds } => {
                write!(f, "keeps {seconds} s of unfinished work of another render: {differing}")
            }
        }
    }
}
