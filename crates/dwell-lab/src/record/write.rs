//! Writes a run: entries are appended to a log as they come.

use super::{Entry, FORMAT, Header, RunError, experiment_path, header_path, log_path};
use crate::experiment::Experiment;
use dwell::store::{self, Log, PartialFiles};
use std::path::Path;

/// Where the entries of an experiment go.
pub trait Sink {
    /// Takes an entry.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn add(&mut self, entry: Entry) -> Result<(), RunError>;
}

impl Sink for Vec<Entry> {
    fn add(&mut self, entry: Entry) -> Result<(), RunError> {
        self.push(entry);
        Ok(())
    }
}

/// The log of an experiment in a run's folder.
pub struct Recorder {
    log: Log,
}

impl Recorder {
    /// Opens the log of an experiment, and writes the experiment's own text beside it unless it is there.
    ///
    /// # Errors
    /// When a file cannot be written, or another process writes the log.
    pub fn open(folder: &Path, experiment: &Experiment) -> Result<Self, RunError> {
        let text = experiment_path(folder, &experiment.name);
        if !text.exists() {
            let toml = toml::to_string(experiment).map_err(|e| RunError::Defect(e.to_string()))?;
            store::write_text(&text, &toml, &PartialFiles::default())?;
        }
        Ok(Self { log: Log::open(&log_path(folder, &experiment.name))? })
    }
}

impl Sink for Recorder {
    fn add(&mut self, entry: Entry) -> Result<(), RunError> {
        let line = serde_json::to_string(&entry).map_err(|e| RunError::Defect(e.to_string()))?;
        self.log.append(&line)?;
        if entry == Entry::Finished { Ok(self.log.sync()?) } else { Ok(()) }
    }
}

/// Writes `run.json` into a run's folder, which is created if it is not there.
///
/// # Errors
/// When it cannot be written.
pub fn write_header(folder: &Path, header: &Header) -> Result<(), RunError> {
    debug_assert_eq!(header.format, FORMAT);
    std::fs::create_dir_all(folder)
        .map_err(|source| RunError::Folder { folder: folder.to_owned(), problem: source.to_string() })?;
    let json = serde_json::to_string_pretty(header).map_err(|e| RunError::Defect(e.to_string()))?;
    Ok(store::write_text(&header_path(folder), &format!("{json}\n"), &PartialFiles::default())?)
}
