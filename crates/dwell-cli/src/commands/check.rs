//! `dwell check`: checks that files are what their own record says: the text of a picture, or the statistics of a render.

mod picture;
mod statistics;

use crate::cli::CheckArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::{Machine, processors};
use crate::{choice, engine, output, progress_bar};
use dwell::compare::{Controls, DifferingPixel};
use dwell::{Error, InputError, Limits, Problem, Progress, quote};
use serde::Serialize;
use statistics::Statistics;
use std::path::Path;

/// Whether a file is what its record says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// It is.
    #[default]
    Same,
    /// It is not.
    Different,
    /// Its checksums are wrong, or it is cut short.
    Damaged,
    /// It has no record, or one of the two cannot be read.
    Unchecked,
}

impl Verdict {
    fn exit_code(self) -> u8 {
        match self {
            Self::Same => 0,
            Self::Different | Self::Damaged => 1,
            Self::Unchecked => 2,
        }
    }
}

/// The result of the check of a file.
#[derive(Debug, Default, Serialize)]
struct FileReport {
    file: String,
    verdict: Verdict,
    /// `text` for the text of a picture, otherwise the path of the statistics.
    record: String,
    /// The result in words.
    message: String,
    #[serde(flatten)]
    pixels: Option<PixelReport>,
    #[serde(flatten)]
    bytes: Option<BytesReport>,
    /// Whether the hash of the dwells is the recorded one, where it was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_dwells: Option<bool>,
}

/// The comparison of a picture with a second render.
#[derive(Debug, Serialize)]
struct PixelReport {
    pixels: u64,
    differing_pixels: u64,
    /// The first differing pixels: `a` in the file, `b` rendered.
    first: Vec<DifferingPixel>,
    engine: &'static str,
    level: String,
    seconds: f64,
}

/// The comparison of a file with its length and hash.
#[derive(Debug, Serialize)]
struct BytesReport {
    bytes: u64,
    recorded_bytes: u64,
    xxh3_128: String,
    recorded_xxh3_128: String,
}

impl FileReport {
    fn new(verdict: Verdict, message: impl Into<String>) -> Self {
        Self { verdict, message: message.into(), ..Self::default() }
    }
}

/// The values of flags that every check needs.
struct Job<'a> {
    args: &'a CheckArgs,
    interrupt: &'a Interrupt,
    limits: Limits,
    watched: bool,
}

/// Checks each file. Returns the exit code.
pub(crate) fn run(args: &CheckArgs, interrupt: &Interrupt) -> Result<u8, Failure> {
    let memory_bytes = match &args.max_memory {
        Some(text) => engine::bytes("--max-memory", text)?,
        None => Machine::planned_bytes(processors()),
    };
    // Wrong values of flags are reported before any file is read.
    choice::name(args.engine_choice.engine.as_deref())?;
    engine::level_and_threads(&args.engine)?;
    let job = Job {
        args,
        interrupt,
        limits: Limits { memory_bytes },
        watched: progress_bar::wanted(args.quiet || args.json),
    };
    let statistics = args.stats.as_deref().map(Statistics::read).transpose()?;
    let mut reports = Vec::new();
    for path in &args.files {
        let checked = regular(path).and_then(|()| match &statistics {
            Some(statistics) => job.by_statistics(path, statistics),
            None => job.picture(path),
        });
        let mut report = match checked {
            Ok(report) => report,
            Err(stop @ Failure::Library { error: Error::Interrupted | Error::Internal(_), .. }) => return Err(stop),
            Err(failure) => {
                output::failure(&failure);
                FileReport::new(Verdict::Unchecked, failure.message())
            }
        };
        report.file = shown(path);
        report.record = args.stats.as_deref().map_or_else(|| "text".to_owned(), shown);
        let is_silent = args.quiet && report.verdict == Verdict::Same || report.verdict == Verdict::Unchecked;
        if !args.json && !is_silent {
            output::print(&format!("{}: {}\n", report.file, report.message))?;
        }
        reports.push(report);
    }
    if args.json {
        output::print_json(&reports)?;
    }
    Ok(reports.iter().map(|report| report.verdict.exit_code()).max().unwrap_or(0))
}

/// A path as the reports name it.
fn shown(path: &Path) -> String {
    /// Paths are at most 4096 bytes long on most systems.
    const MOST: usize = 4096;
    output::tame(&path.to_string_lossy(), MOST)
}

/// Checks that a file is a regular one: it is read twice, and the length of a pipe is not known.
fn regular(path: &Path) -> Result<(), Failure> {
    let metadata = std::fs::metadata(path);
    let problem = match metadata {
        Ok(metadata) if metadata.is_file() => return Ok(()),
        Ok(metadata) if metadata.is_dir() => "is a directory".to_owned(),
        Err(e) if path != Path::new("-") => format!("cannot be read: {e}"),
        _ => "is read twice, and a pipe can be read only once".to_owned(),
    };
    Err(Usage::new(quote(&path.to_string_lossy()), problem).accepts("a regular file").into())
}

/// The damage of a file that an error is about; the error itself if it is about something else.
fn damage(error: Error) -> Result<FileReport, Failure> {
    match &error {
        Error::Input(e) if matches!(e.problem(), Problem::Malformed(_) | Problem::TrailingBytes) => {
            Ok(FileReport::new(Verdict::Damaged, format!("damaged: {}", without_file(e))))
        }
        _ => Err(error.into()),
    }
}

/// The text of an error without the name of its file.
fn without_file(error: &InputError) -> String {
    let text = error.to_string();
    let file = error.places().first().map(|place| format!("{place}"));
    let rest =
        file.and_then(|file| text.strip_prefix(&file).map(|rest| rest.trim_start_matches([':', ',', ' ']).to_owned()));
    rest.unwrap_or(text)
}

impl Job<'_> {
    /// Runs a stage of a check with its progress.
    fn stage<T>(&self, what: &str, work: impl FnOnce(Controls<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let progress = Progress::default();
        let controls = Controls { limits: &self.limits, cancel: &self.interrupt.cancel, progress: &progress };
        progress_bar::during(self.watched, what, &progress, || work(controls))
    }
}
