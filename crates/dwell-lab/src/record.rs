//! What a run leaves behind: a folder with `run.json` and, for each experiment, its text `NAME.toml` and a log `NAME.jsonl`
//! of entries, to which each sample is appended as soon as it is taken.

mod read;
mod write;

pub use read::{collect, read_experiment, read_header, read_log, read_run};
pub use write::{Recorder, Sink, write_header};

use crate::experiment::{Experiment, Flags, Point, ReadError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of the format of a run.
pub const FORMAT: u32 = 1;

/// Why a run cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A folder holds no run, or cannot be made.
    #[error("{}: {problem}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A file of a run is damaged.
    #[error("{}{}: {problem}", path.display(), line.map_or(String::new(), |line| format!(", line {line}")))]
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where it is known.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
    /// The text of an experiment is wrong.
    #[error(transparent)]
    Experiment(#[from] ReadError),
    /// Computing or writing failed.
    #[error(transparent)]
    Render(#[from] dwell::Error),
    /// A defect of the program.
    #[error("{0}; this is a defect of dwell")]
    Defect(String),
}

/// The file with what holds for a whole run.
#[must_use]
pub fn header_path(folder: &Path) -> PathBuf {
    folder.join("run.json")
}

/// The file with the text of an experiment.
#[must_use]
pub fn experiment_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.toml"))
}

/// The log of an experiment.
#[must_use]
pub fn log_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.jsonl"))
}

/// What holds for a whole run: `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of this format.
    pub format: u32,
    /// The version of the program and its commit.
    pub version: String,
    /// When the run began, in UTC: `2026-11-22T06:00:00Z`.
    pub began: String,
    /// `whole`, `quick` or `check`.
    pub extent: String,
    /// The engine that was asked for: `auto`, `cpu`, `cuda`, `cuda:N`.
    pub engine: String,
    /// The experiments, in the order in which they run.
    pub experiments: Vec<String>,
    /// The seed of every random order.
    pub seed: u64,
    /// The machine.
    pub machine: Machine,
}

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Processors that the program may use.
    pub processors: usize,
    /// The instruction sets it has, narrowest first.
    pub levels: Vec<String>,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The operating system and its version.
    pub system: String,
    /// The frequency governor; empty if unknown.
    pub governor: String,
    /// Load average over a minute at the start.
    pub load: Option<f64>,
    /// CUDA devices: name, architecture, memory, driver.
    pub devices: Vec<String>,
    /// Why there is no device, if there is none.
    pub no_device: Option<String>,
    /// Whether processors and devices tell their energy, or why not.
    pub energy: String,
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Entry {
    /// A variant at a point was checked.
    Case(CaseEntry),
    /// A sample was taken.
    Sample(SampleEntry),
    /// A quantity was computed.
    Quantity(QuantityEntry),
    /// A peak was measured.
    Peak(PeakEntry),
    /// The experiment is complete.
    Finished,
}

/// A variant at a point, and what the check of its field said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseEntry {
    /// The series.
    pub series: String,
    /// The values of the sweep.
    pub point: Point,
    /// The variant.
    pub variant: String,
    /// Every flag.
    pub flags: Flags,
    /// What the check said.
    pub status: Status,
    /// Pixels of the field.
    pub pixels: u64,
    /// Iterations of the plain loop for this field.
    pub iterations: u64,
    /// Pixels that do not escape.
    pub interior: u64,
    /// BLAKE3 of the field that the others are compared with, as `dwell render --stats` has it.
    pub reference: String,
    /// The [`PeakEntry`] of the same processor or device, number and recipe; empty if there is none.
    pub peak: String,
    /// Facts of the run, such as `kernel`, `device`, `theoretical occupancy`, `threads`, `level`.
    pub facts: BTreeMap<String, String>,
}

/// What the check of a field said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Status {
    /// Every count is equal to the reference's.
    Equal,
    /// A heuristic, with so many wrong pixels.
    Heuristic {
        /// Pixels that differ from the reference.
        wrong: u64,
    },
    /// Another rounding: few pixels differ, each where rounding decides.
    OtherRounding {
        /// Pixels that differ from the reference.
        differing: u64,
        /// Those of them whose count is that of exact arithmetic.
        right: u64,
    },
    /// Wrong counts: it gets no time.
    Wrong {
        /// Pixels that differ from the reference.
        wrong: u64,
        /// What is wrong, with the first pixel.
        why: String,
    },
    /// It could not be run here.
    NotRun {
        /// Why.
        why: String,
    },
    /// It failed.
    Failed {
        /// How.
        why: String,
    },
}

impl Status {
    /// Whether the variant may be timed.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        matches!(self, Self::Equal | Self::Heuristic { .. } | Self::OtherRounding { .. })
    }
}

/// A sample: the times of one run, or the means of a batch of runs in a row where one is too short to be timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleEntry {
    /// The series.
    pub series: String,
    /// The values of the sweep.
    pub point: Point,
    /// The variant.
    pub variant: String,
    /// The number of the round, from 0. Samples of one round at one point are pairs.
    pub round: u32,
    /// Runs in the batch.
    pub batch: u32,
    /// Seconds by stage: `total`, `compute` (the dwells, as the engine reports it), and where they are known `kernel`,
    /// `copy`, `allocate`, `paint`, `colour`, `encode`, `plan`, `write`.
    pub seconds: BTreeMap<String, f64>,
    /// Joules of one run by source: `package`, `device`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joules: BTreeMap<String, f64>,
    /// The mean clock of the processors after the sample, in MHz, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<f64>,
}

/// A quantity that was computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantityEntry {
    /// Its name.
    pub name: String,
    /// Its value, or why there is none.
    pub value: Result<f64, String>,
    /// The file of a picture in the run's folder, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

/// A measured peak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeakEntry {
    /// What it is the peak of: `cpu avx512 f64 fused 2 threads`, `cuda:0 f32 separate`.
    pub name: String,
    /// Iterations per second.
    pub iterations_per_second: f64,
}

/// A run, read back.
#[derive(Clone, Debug)]
pub struct Run {
    /// The name of its folder.
    pub name: String,
    /// What holds for all of it.
    pub header: Header,
    /// The experiments that were begun.
    pub experiments: Vec<ExperimentRun>,
}

/// An experiment of a run.
#[derive(Clone, Debug)]
pub struct ExperimentRun {
    /// What was run.
    pub experiment: Experiment,
    /// Whether it is complete.
    pub finished: bool,
    /// Every variant at every point, in the order of series, points and variants.
    pub cases: Vec<Case>,
    /// Quantities.
    pub quantities: Vec<QuantityEntry>,
    /// Peaks by name.
    pub peaks: BTreeMap<String, f64>,
}

/// A variant at a point with its samples.
#[derive(Clone, Debug)]
pub struct Case {
    /// What was run and what its check said.
    pub entry: CaseEntry,
    /// Its samples in the order of their rounds.
    pub samples: Vec<SampleEntry>,
}
