//! Other programs as contestants: a description of a command, the command run on a plan, and its counts read back.

mod output;
mod placeholders;
mod process;
mod read;

use crate::convention::{Convention, Counts};
use crate::counts;
use crate::record::Status;
use crate::rounding;
use dwell::store::PartialFiles;
use dwell::{Cancel, Error, NumberKind, Plan, Recipe, Sample, Size};
use placeholders::Values;
use process::{Bounds, Command};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The text that describes the built-in programs.
pub const BUILT_IN: &str = include_str!("../lab/engines.toml");

/// Other programs by name.
#[derive(Clone, Debug, Default)]
pub struct Programs(BTreeMap<String, Program>);

/// Another program: how it is run, how its counts are read, and what they mean.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    title: String,
    command: Vec<String>,
    available: Vec<String>,
    install: String,
    /// Files that are written beside the output before the program starts: name and text, with placeholders.
    files: Vec<File>,
    /// The name of the file that the program writes.
    output: String,
    reads: Reads,
    /// The weights of red, green and blue in a count.
    weights: [u32; 3],
    /// The program's names of the numbers that it has.
    precision: BTreeMap<Precision, String>,
    /// The greatest limit that it can do.
    most_limit: u32,
    sample: Sample,
    convention: Convention,
    agreement: Agreement,
    timeout: Duration,
    /// What stands before the seconds that the program reports.
    seconds_after: Option<String>,
    /// The folder of the file that describes it.
    here: String,
}

/// A number, as the descriptions of programs name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Precision {
    F32,
    F64,
}

/// How the output holds counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reads {
    /// A field (npy, csv), or an image (png, ppm, pgm) whose colours are counts.
    #[default]
    Raster,
    /// Integers of 16 bits, the least significant byte first, without a header.
    RawU16,
    /// Integers of 32 bits, the least significant byte first, without a header.
    RawU32,
}

/// A file that a program needs.
#[derive(Clone, Debug)]
struct File {
    name: String,
    text: String,
    /// Whether placeholders in the text are replaced.
    fills: bool,
}

/// How the counts of a program agree with ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It rounds as this recipe does, at the given coordinates: every count of a plan with this recipe is equal.
    Recipe(Recipe),
    /// It rounds in an order of its own: see [`rounding::check`].
    OtherRounding,
}

/// What a program computed.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// The dwell of each pixel, in the order of the plan's: n, or 0 for no escape. A count that may be either, under the
    /// program's convention, is 0.
    pub dwells: Vec<u32>,
    /// `total` for the whole process, and `compute` where the program reports its own.
    pub seconds: BTreeMap<String, f64>,
}

/// Seconds within which a program must say whether it is there.
const AVAILABLE_SECONDS: u64 = 30;

impl Programs {
    /// The programs that the laboratory describes.
    ///
    /// # Errors
    /// When the built-in description is malformed, which a test excludes.
    pub fn built_in() -> Result<Self, crate::experiment::ReadError> {
        Self::read("engines.toml", BUILT_IN)
    }

    /// The program with a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Program> {
        self.0.get(name)
    }

    /// All programs, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        self.0.values()
    }

    /// These programs and those of a user's file, which take precedence over others of the same name.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }
}

impl Program {
    /// Its name in experiments.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name in reports.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// How it samples, tests and counts.
    #[must_use]
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// How its counts agree with ours.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// Runs the command that says whether the program is there.
    ///
    /// # Errors
    /// Why it cannot run here, and how it is installed.
    pub fn available(&self) -> Result<(), String> {
        let arguments = self.available.iter().map(|argument| argument.replace("{here}", &self.here)).collect();
        let command = Command { arguments, folder: std::env::temp_dir() };
        let bounds = Bounds { timeout: Duration::from_secs(AVAILABLE_SECONDS), output: None };
        process::run(&command, bounds, &Cancel::default()).map(drop).map_err(|why| {
            let install =
                if self.install.is_empty() { String::new() } else { format!("; install it: {}", self.install) };
            format!("{} is not here: {why}{install}", self.title)
        })
    }

    /// Runs the program on a plan. Its files are in a folder of their own in `folder`, which is removed afterwards.
    ///
    /// # Errors
    /// When the program cannot compute the plan, cannot be started, fails, takes too long or is cancelled, or its output is
    /// missing, too large, malformed or of another size.
    pub fn run(&self, plan: &Plan, folder: &Path, cancel: &Cancel) -> Result<ProgramRun, String> {
        self.computed(plan, folder, cancel).map_err(|why| format!("{}: {why}", self.title))
    }

    fn computed(&self, plan: &Plan, folder: &Path, cancel: &Cancel) -> Result<ProgramRun, String> {
        let precision = match plan.number() {
            NumberKind::F32 => Some(Precision::F32),
            NumberKind::F64 => Some(Precision::F64),
            NumberKind::Exact => None,
        };
        let Some(precision) = precision.and_then(|precision| self.precision.get(&precision)) else {
            return Err(format!("it does not compute in {}", plan.number()));
        };
        if plan.direct_limit() > self.most_limit {
            return Err(format!(
                "a limit of {} is too large for it; accepted: 1 to {}",
                plan.direct_limit(),
                self.most_limit
            ));
        }
        let own = OwnFolder::create(folder, &self.name)?;
        let output = own.0.join(&self.output);
        let mut values = Values::of(plan, self.sample, precision)?;
        values.insert("output", output.to_string_lossy().into_owned());
        values.insert("here", self.here.clone());
        self.write_files(plan, &own.0, &mut values)?;
        let arguments = self.command.iter().map(|argument| values.fill(argument)).collect();
        let command = Command { arguments, folder: own.0.clone() };
        let shape = self.shape(plan.size());
        let bounds = Bounds { timeout: self.timeout, output: Some((&output, output::most_bytes(shape))) };
        let ended = process::run(&command, bounds, cancel)?;
        let recorded = output::read(&output, self.reads, self.weights, shape, cancel)?;
        let dwells = self.canonical(recorded, plan)?;
        let mut seconds = BTreeMap::from([("total".to_owned(), ended.seconds)]);
        if let Some(label) = &self.seconds_after {
            seconds.insert("compute".to_owned(), reported(label, &ended.printed, ended.seconds)?);
        }
        Ok(ProgramRun { dwells, seconds })
    }

    /// Writes the program's own files, and the coordinates if it reads them.
    fn write_files(&self, plan: &Plan, folder: &Path, values: &mut Values) -> Result<(), String> {
        let partial_files = PartialFiles::default();
        let texts = self.files.iter().filter(|file| file.fills).map(|file| &file.text);
        let uses = |name: &str| self.command.iter().chain(texts.clone()).any(|text| text.contains(name));
        if uses("{columns}") || uses("{rows}") {
            placeholders::write_coordinates(plan, folder, values, &partial_files)?;
        }
        for file in &self.files {
            let text = if file.fills { values.fill(&file.text) } else { file.text.clone() };
            let path = folder.join(&file.name);
            dwell::store::write_text(&path, &text, &partial_files).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The size of the output for a plan of this size.
    fn shape(&self, size: Size) -> Size {
        if self.convention.transposed { Size { width: size.height, height: size.width } } else { size }
    }

    /// The dwells in the order of the plan's pixels, of the counts in the order of the output.
    fn canonical(&self, recorded: Vec<u32>, plan: &Plan) -> Result<Vec<u32>, String> {
        let Convention { counts, transposed, upward, .. } = self.convention;
        let (width, height) = (plan.size().width as usize, plan.size().height as usize);
        let mut dwells = recorded;
        if transposed {
            let columns = dwells;
            dwells = (0..width * height).map(|at| columns[at % width * height + at / width]).collect();
        }
        if upward {
            let (mut above, mut below) = (0, height.saturating_sub(1));
            while above < below {
                let (upper, lower) = dwells.split_at_mut(below * width);
                upper[above * width..][..width].swap_with_slice(&mut lower[..width]);
                (above, below) = (above + 1, below - 1);
            }
        }
        for (at, count) in dwells.iter_mut().enumerate() {
            *count = match counts::canonical(*count, plan.direct_limit(), counts) {
                Some(counts::Canonical::Dwell(dwell)) => dwell,
                Some(counts::Canonical::Interior | counts::Canonical::Merged) => 0,
                None => {
                    let (column, row) = (at % width, at / width);
                    let limit = plan.direct_limit();
                    return Err(format!("column {column}, row {row}: {count} is no count for the limit {limit}"));
                }
            };
        }
        Ok(dwells)
    }

    /// Checks the dwells that [`Self::run`] gave against the reference, which has the dwells of `plan`: as the program's
    /// agreement says, where the plan has the recipe that it names; as another rounding elsewhere.
    ///
    /// # Errors
    /// As [`rounding::check`].
    pub fn check(&self, plan: &Plan, reference: &[u32], dwells: &[u32], cancel: &Cancel) -> Result<Status, Error> {
        let counts = self.convention.counts;
        let status = rounding::check(plan, reference, dwells, counts, rounding::ONE_IN, cancel)?;
        Ok(match (self.agreement, status) {
            (Agreement::Recipe(recipe), Status::OtherRounding { differing, .. }) if recipe == plan.recipe() => {
                let why = not_equal(plan, reference, dwells, counts, recipe);
                Status::Wrong { wrong: differing, why }
            }
            (_, status) => status,
        })
    }
}

/// What is wrong with counts that are to be those of a recipe.
fn not_equal(plan: &Plan, reference: &[u32], dwells: &[u32], counts: Counts, recipe: Recipe) -> String {
    let recorded = |dwell: u32| counts::recorded(dwell, plan.direct_limit(), counts);
    let width = plan.size().width as usize;
    let mut pairs = dwells.iter().zip(reference).enumerate();
    let first = pairs.find(|(_, (dwell, right))| recorded(**dwell) != recorded(**right));
    let place = first.map_or_else(String::new, |(at, (dwell, right))| {
        format!(": at column {}, row {}, the first, {dwell} instead of {right}", at % width, at / width)
    });
    format!("every count of the recipe {recipe} was promised{place}")
}

/// The seconds that a program printed after `label`, in its last such line.
fn reported(label: &str, printed: &str, total: f64) -> Result<f64, String> {
    let line = printed.lines().rev().find_map(|line| line.trim_start().strip_prefix(label));
    let Some(line) = line else { return Err(format!("it printed no line that begins with {label:?}")) };
    let text = line.split_whitespace().next().unwrap_or_default();
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=total).contains(&seconds) => Ok(seconds),
        _ => Err(format!(
            "it printed {} as its seconds; accepted: 0 to {total}, those of the process",
            dwell::quote(text)
        )),
    }
}

/// A folder of one run, removed when this is dropped.
struct OwnFolder(PathBuf);

impl OwnFolder {
    fn create(folder: &Path, name: &str) -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let failed = |error: std::io::Error| format!("no folder can be made in {}: {error}", folder.display());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::path::absolute(folder).map_err(failed)?;
        let path = folder.join(format!("{name}-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).map_err(failed)?;
        Ok(Self(path))
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // What cannot be removed is left behind; the run has its result all the same.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
