//! The check of a file against the statistics of its render.

use super::{BytesReport, FileReport, Job, Verdict, damage, shown};
use crate::error_text::{Failure, Usage};
use dwell::compare::{self, Digest, Raster};
use dwell::quote;
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file of statistics that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;
/// The most outputs that an error lists.
const LISTED: usize = 8;

/// The part of the statistics that describes files.
#[derive(Debug, Deserialize)]
pub(super) struct Statistics {
    /// The published files.
    #[serde(default)]
    outputs: Vec<Recorded>,
    /// The hash of the dwells.
    field_blake3: Option<String>,
    /// The limit.
    #[serde(default)]
    max_iterations: u64,
}

/// A published file.
#[derive(Debug, Deserialize)]
struct Recorded {
    path: PathBuf,
    bytes: u64,
    /// In hex.
    xxh3_128: String,
}

impl Statistics {
    /// Reads statistics; `-` is standard input.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = quote(&path.to_string_lossy());
        let wrong = |problem: String| Usage::new(format!("--stats {name}"), problem);
        let mut text = Vec::new();
        let read = if path == Path::new("-") {
            std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut text)
        } else {
            std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text))
        };
        read.map_err(|e| wrong(format!("cannot be read: {e}")))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(wrong(format!("is larger than {} MiB", MOST_BYTES >> 20)).into());
        }
        let statistics: Self = serde_json::from_slice(&text).map_err(|e| {
            wrong(format!("is not the statistics of a render: {e}")).accepts("the JSON of `dwell render --stats`")
        })?;
        if statistics.outputs.is_empty() && statistics.field_blake3.is_none() {
            let problem = "has neither the hash of a file nor that of the dwells".to_owned();
            return Err(wrong(problem).accepts("the JSON of `dwell render --stats`").into());
        }
        Ok(statistics)
    }

    /// The record of a file: that of the same path or, if there is just one, of the same name. Without either, that of the
    /// only output.
    fn of(&self, path: &Path) -> Found<'_> {
        if let Some(recorded) = self.outputs.iter().find(|recorded| recorded.path == path) {
            return Found::Named(recorded);
        }
        let named: Vec<_> =
            self.outputs.iter().filter(|recorded| recorded.path.file_name() == path.file_name()).collect();
        match (named.as_slice(), self.outputs.as_slice()) {
            ([recorded], _) => Found::Named(recorded),
            ([], [only]) => Found::Renamed(only),
            ([], _) => Found::None,
            (several, _) => Found::Several(several.len()),
        }
    }

    /// The names of the outputs, for an error.
    fn names(&self) -> String {
        let mut names: Vec<_> = self.outputs.iter().take(LISTED).map(|recorded| shown(&recorded.path)).collect();
        if self.outputs.len() > LISTED {
            names.push(format!("{} more", self.outputs.len() - LISTED));
        }
        names.join(", ")
    }
}

/// The record of a file.
enum Found<'a> {
    /// That of an output of the same name.
    Named(&'a Recorded),
    /// That of the only output, which has another name.
    Renamed(&'a Recorded),
    /// Several outputs in several folders have the name.
    Several(usize),
    /// No output has the name, and there are several or none.
    None,
}

impl Job<'_> {
    /// Checks a file against statistics.
    pub(super) fn by_statistics(&self, path: &Path, statistics: &Statistics) -> Result<FileReport, Failure> {
        let name = || quote(&path.to_string_lossy());
        let (recorded, is_named) = match statistics.of(path) {
            Found::Named(recorded) => (Some(recorded), true),
            Found::Renamed(recorded) => (Some(recorded), false),
            Found::Several(count) => {
                let problem = format!("{count} outputs in the statistics have this name: {}", statistics.names());
                return Err(Usage::new(name(), problem).hint("give the path that the render was given").into());
            }
            Found::None => (None, false),
        };
        let mut report = match recorded {
            Some(recorded) => self.bytes(path, recorded)?,
            None => FileReport::new(Verdict::Unchecked, ""),
        };
        if report.verdict == Verdict::Same {
            return Ok(report);
        }
        // The bytes differ, or are not recorded. The dwells of a converted field are still those of the render.
        if let Some(expected) = &statistics.field_blake3
            && let Ok(field) = Raster::open(path, &self.limits)
            && field.is_field()
        {
            return self.dwells(field, (expected, statistics.max_iterations), report, is_named);
        }
        if report.verdict == Verdict::Unchecked {
            let outputs = if statistics.outputs.is_empty() { "no outputs".to_owned() } else { statistics.names() };
            return Err(Usage::new(name(), format!("is no output in the statistics, which have {outputs}"))
                .hint("a field (.npy, .csv) of another name is compared by its dwells")
                .into());
        }
        report.message = format!("differs from its record: {}", report.message);
        Ok(report)
    }

    /// Compares the length and the hash of a file.
    fn bytes(&self, path: &Path, recorded: &Recorded) -> Result<FileReport, Failure> {
        let Digest { bytes, xxh3_128 } = self.stage("reading", |controls| compare::digest(path, controls))?;
        let (verdict, message) = if bytes != recorded.bytes {
            (Verdict::Different, format!("it has {bytes} bytes, recorded are {}", recorded.bytes))
        } else if !xxh3_128.eq_ignore_ascii_case(&recorded.xxh3_128) {
            (Verdict::Different, format!("its {bytes} bytes have another hash"))
        } else {
            (Verdict::Same, format!("its {bytes} bytes are those of its record"))
        };
        let recorded_xxh3_128 = recorded.xxh3_128.clone();
        let found = BytesReport { bytes, recorded_bytes: recorded.bytes, xxh3_128, recorded_xxh3_128 };
        Ok(FileReport { bytes: Some(found), ..FileReport::new(verdict, message) })
    }

    /// Compares the dwells of a field of which the bytes differ or are not recorded. A file with the name of an output must
    /// have its bytes, too.
    fn dwells(
        &self,
        field: Raster,
        (expected, limit): (&str, u64),
        report: FileReport,
        is_named: bool,
    ) -> Result<FileReport, Failure> {
        let pixels = field.size().pixels();
        let found = match self.stage("reading", |controls| compare::field_blake3(field, limit, controls)) {
            Ok(found) => found,
            Err(error) => return damage(error),
        };
        let is_same = found.eq_ignore_ascii_case(expected);
        let (verdict, message) = match (is_same, is_named) {
            (true, false) => (Verdict::Same, format!("all {pixels} dwells are those of its record")),
            (true, true) => (
                Verdict::Different,
                format!("differs from its record: {}; its dwells are the recorded ones", report.message),
            ),
            (false, _) if report.message.is_empty() => {
                (Verdict::Different, "differs from its record: its dwells have another hash".to_owned())
            }
            (false, _) => {
                (Verdict::Different, format!("differs from its record: {}, and so have its dwells", report.message))
            }
        };
        Ok(FileReport { verdict, message, same_dwells: Some(is_same), ..report })
    }
}
