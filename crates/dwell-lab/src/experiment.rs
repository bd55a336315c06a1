//! An experiment as data: what its file holds.

mod parts;
mod read;
pub(crate) mod sweep;

pub use parts::join_parts;
pub(crate) use read::place;
pub use read::{ReadError, read};
pub use sweep::{Extent, Point, SweepError, expand, values};

use crate::convention::Convention;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values of flags of `dwell render`, by their names without dashes: `max-iter = "256"`.
pub type Flags = BTreeMap<String, Text>;

/// A value of a flag as text. A file may give it as a text, a number or a truth value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Scalar", into = "String")]
pub struct Text(pub String);

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Whole(i64),
    Real(f64),
    Truth(bool),
    Text(String),
}

impl From<Scalar> for Text {
    fn from(value: Scalar) -> Self {
        Self(match value {
            Scalar::Whole(value) => value.to_string(),
            Scalar::Real(value) => value.to_string(),
            Scalar::Truth(value) => value.to_string(),
            Scalar::Text(value) => value,
        })
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// What a file of an experiment holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// The name: the file's, without its ending. Not a key of the file.
    #[serde(skip)]
    pub name: String,
    /// One line.
    pub title: String,
    /// What is asked, in Markdown paragraphs.
    #[serde(default)]
    pub about: String,
    /// The publication that is run again, if it is one.
    pub publication: Option<Publication>,
    /// What is timed.
    #[serde(default)]
    pub series: Vec<Series>,
    /// What is computed and not timed.
    #[serde(default, rename = "quantity")]
    pub quantities: Vec<Quantity>,
    /// Statements of the publication, and its defects.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A publication.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Publication {
    /// Author, title, place.
    pub citation: String,
    /// Its year.
    pub year: u32,
    /// The hardware of its figures.
    pub hardware: String,
    /// How its figures were obtained, and what is doubtful about them.
    #[serde(default)]
    pub note: String,
}

/// Measurements that are compared with each other: every variant at every point of a sweep.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Series {
    /// A name within the experiment: lower case, digits and hyphens.
    pub name: String,
    /// One line.
    pub title: String,
    /// What is asked.
    #[serde(default)]
    pub about: String,
    /// The workload: flags of every variant.
    #[serde(default)]
    pub flags: Flags,
    /// Coordinates, test and counts of the publication.
    #[serde(default)]
    pub convention: Convention,
    /// Flags in place of those above in `dwell lab run --quick`.
    #[serde(default)]
    pub quick: Flags,
    /// Flags in place of those above in `dwell lab check`.
    #[serde(default)]
    pub check: Flags,
    /// Samples of each variant at each point.
    #[serde(default = "ten")]
    pub repeats: u32,
    /// What is varied: the points are the product of these lists, the last one fastest.
    #[serde(default)]
    pub sweep: Vec<Axis>,
    /// What is compared.
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
    /// The variant that ratios refer to; the first if none is named.
    pub baseline: Option<String>,
    /// Figures of the publication.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The plots that its paper has; a plot of time over the first list of the sweep if there is none.
    #[serde(default, rename = "plot")]
    pub plots: Vec<Plot>,
}

fn ten() -> u32 {
    10
}

/// A flag that is varied.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Axis {
    /// The flag's name without dashes. `NAME-x` and `NAME-y` are two lists for one flag: see [`join_parts`].
    pub flag: String,
    /// Its values. A text may be a range: `1..8`, `1..9+2`, `256..4096*2`.
    pub values: Vec<Text>,
    /// Its values in a quick run, of those above; all if absent.
    pub quick: Option<Vec<Text>>,
    /// Its values in a check, which may be others; the first if absent.
    pub check: Option<Vec<Text>>,
}

impl Experiment {
    /// An experiment with nothing in it.
    #[must_use]
    pub fn named(name: String, title: String) -> Self {
        Self {
            name,
            title,
            about: String::new(),
            publication: None,
            series: Vec::new(),
            quantities: Vec::new(),
            claims: Vec::new(),
        }
    }
}

impl Series {
    /// A series with nothing in it.
    #[must_use]
    pub fn named(name: String) -> Self {
        Self {
            title: name.clone(),
            name,
            about: String::new(),
            flags: Flags::new(),
            convention: Convention::default(),
            quick: Flags::new(),
            check: Flags::new(),
            repeats: ten(),
            sweep: Vec::new(),
            variants: Vec::new(),
            baseline: None,
            published: Vec::new(),
            plots: Vec::new(),
        }
    }
}

impl Variant {
    /// The variant without any flag: an engine that computes the field in memory.
    #[must_use]
    pub fn named(name: String) -> Self {
        Self {
            name,
            title: None,
            flags: Flags::new(),
            reference_loop: None,
            program: None,
            stage: Stage::Field,
            time: compute(),
            cold: false,
            exact: None,
        }
    }
}

impl Quantity {
    /// Whether a value is the expected one, where one is expected.
    #[must_use]
    pub fn agrees(&self, value: f64) -> bool {
        self.expect.is_none_or(|expected| (value - expected).abs() <= self.tolerance * expected.abs())
    }
}

/// A way to compute the field.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variant {
    /// A name within the series: lower case, digits and hyphens.
    pub name: String,
    /// One line; the name if absent.
    pub title: Option<String>,
    /// Flags beside those of the series; they take precedence.
    #[serde(default)]
    pub flags: Flags,
    /// A reference loop of the laboratory computes the field, not an engine: `pow`, `abs`, `norm`.
    #[serde(rename = "loop")]
    pub reference_loop: Option<String>,
    /// An external program of engines.toml computes the field, not an engine.
    pub program: Option<String>,
    /// How much is done and timed.
    #[serde(default)]
    pub stage: Stage,
    /// Which of the times of a sample are added to its time.
    #[serde(default = "compute")]
    pub time: Vec<String>,
    /// Whether each sample starts with a new engine, so that its context and its memory count.
    #[serde(default)]
    pub cold: bool,
    /// Whether every count must be right, where the flags do not say it: a strategy that infers may be wrong.
    pub exact: Option<bool>,
}

fn compute() -> Vec<String> {
    vec!["compute".to_owned()]
}

/// How much of the path to a file a variant does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The field in memory.
    #[default]
    Field,
    /// Everything up to the encoded bytes of `format`, which are discarded.
    Picture,
}

/// Figures of a publication for one variant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Published {
    /// The variant's name.
    pub variant: String,
    /// What the figures are.
    pub measure: Unit,
    /// A figure for each point of the whole sweep, in its order; `nan` where there is none.
    pub values: Vec<f64>,
    /// Where in the publication.
    pub source: String,
}

/// What a figure says of a variant at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The variant's time.
    Seconds,
    /// Millions of pixels per second.
    MegapixelsPerSecond,
    /// Thousands of millions of iterations of the plain loop per second.
    GigaiterationsPerSecond,
    /// The baseline's time over this one's.
    SpeedUp,
    /// The iteration rate over the measured peak of the same processor or device.
    PeakShare,
    /// The time with one thread over the threads and the time with them.
    Efficiency,
}

/// A plot of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plot {
    /// One line.
    pub title: String,
    /// What is drawn.
    pub measure: Unit,
    /// The flag on the horizontal axis; the first of the sweep if absent.
    pub x: Option<String>,
    /// The flag on the vertical axis of a heat map: the second of the sweep if absent.
    pub y: Option<String>,
    /// Lines over x, one for each variant and each value of the other flags; bars; or a heat map for each variant.
    #[serde(default)]
    pub kind: PlotKind,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub log_y: bool,
}

/// The form of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// Lines with their spread.
    #[default]
    Lines,
    /// A bar for each variant.
    Bars,
    /// A field of cells, one for each pair of values.
    Heatmap,
}

/// A number that is computed and not timed, the same on every machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Quantity {
    /// A name within the experiment: lower case, digits and hyphens.
    pub name: String,
    /// One line.
    pub title: String,
    /// Which quantity: see [`crate::quantity`].
    pub compute: String,
    /// The workload: flags of `dwell render`.
    #[serde(default)]
    pub flags: Flags,
    /// Flags of the second workload of a comparison, in place of those above.
    #[serde(default)]
    pub other: Flags,
    /// Coordinates, test and counts.
    #[serde(default)]
    pub convention: Convention,
    /// The convention of the second workload of a comparison, if it is another.
    pub other_convention: Option<Convention>,
    /// A reference loop computes the field of a comparison, not an engine: see [`crate::loops`].
    #[serde(rename = "loop")]
    pub reference_loop: Option<String>,
    /// A reference loop computes the second field of a comparison, not an engine.
    pub other_loop: Option<String>,
    /// Numbers that the quantity needs, such as `tile = 16`.
    #[serde(default)]
    pub params: BTreeMap<String, f64>,
    /// The published or derived value.
    pub expect: Option<f64>,
    /// The accepted relative difference.
    #[serde(default)]
    pub tolerance: f64,
    /// Where the expected value is from.
    #[serde(default)]
    pub source: String,
    /// Whether it takes less than a second on two cores, so that a check computes it.
    #[serde(default)]
    pub check: bool,
    /// Whether a quick run computes it.
    #[serde(default = "yes")]
    pub quick: bool,
}

fn yes() -> bool {
    true
}

/// A statement of a publication, or a defect of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// A name within the experiment: lower case, digits and hyphens.
    pub name: String,
    /// Whether it is a claim or a defect.
    #[serde(default)]
    pub kind: ClaimKind,
    /// What is said, in our words.
    pub says: String,
    /// Where in the publication.
    pub source: String,
    /// The published figure, as text.
    pub published: Option<String>,
    /// The measurement that decides it.
    pub measure: Option<Measure>,
    /// The condition under which it holds: `>= 1.3`, `<= 6`, `1.3..6`, `= 7559`.
    pub holds: Option<String>,
    /// Why it cannot be measured, or what the measurement means.
    #[serde(default)]
    pub explained: String,
}

/// Whether a statement is a claim or a defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimKind {
    /// A statement of the publication.
    #[default]
    Claim,
    /// A defect of the publication: it is reproduced or explained.
    Defect,
}

/// A figure of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Measure {
    /// How many times as fast `of` is as `to` at the same point: the paired ratio of their times.
    Ratio {
        /// The series.
        series: String,
        /// The faster variant, by the claim.
        of: String,
        /// The slower variant.
        to: String,
        /// Which of the points.
        #[serde(default)]
        over: Over,
        /// Only points with these values of the sweep.
        #[serde(default)]
        at: Flags,
    },
    /// A variant's own figure.
    Value {
        /// The series.
        series: String,
        /// The variant.
        variant: String,
        /// What is read.
        unit: Unit,
        /// Which of the points.
        #[serde(default)]
        over: Over,
        /// Only points with these values of the sweep.
        #[serde(default)]
        at: Flags,
    },
    /// How many times as long a variant takes at one value of a flag as at another.
    Growth {
        /// The series.
        series: String,
        /// The variant.
        variant: String,
        /// The flag.
        flag: String,
        /// Its first value.
        from: Text,
        /// Its second value.
        to: Text,
        /// Which of the other points.
        #[serde(default)]
        over: Over,
        /// Only points with these values of the sweep.
        #[serde(default)]
        at: Flags,
    },
    /// The exponent e of time = constant * value^e, fitted by least squares; the value of `size` is its pixels.
    Exponent {
        /// The series.
        series: String,
        /// The variant.
        variant: String,
        /// The flag.
        flag: String,
        /// Only points with these values of the sweep.
        #[serde(default)]
        at: Flags,
    },
    /// The share of some of a variant's times in others.
    Share {
        /// The series.
        series: String,
        /// The variant.
        variant: String,
        /// Times of a sample that are added up.
        of: Vec<String>,
        /// Times of a sample that they are divided by.
        to: Vec<String>,
        /// Which of the points.
        #[serde(default)]
        over: Over,
        /// Only points with these values of the sweep.
        #[serde(default)]
        at: Flags,
    },
    /// Pixels of a variant whose count is wrong.
    WrongPixels {
        /// The series.
        series: String,
        /// The variant.
        variant: String,
        /// Which of the points.
        #[serde(default)]
        over: Over,
        /// Only points with these values of the sweep.
        #[serde(default)]
        at: Flags,
    },
    /// A quantity of the experiment.
    Quantity {
        /// Its name.
        name: String,
    },
}

/// How the figures of several points become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The geometric mean.
    #[default]
    GeometricMean,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
    /// The first point's.
    First,
    /// The last point's.
    Last,
}
