//! The writer of a render: its files, and the journal in which it saves how far they are.

use crate::base::error::Error;
use crate::encode::Adler;
use crate::render::checkpoint::{Checkpoint, Checkpoints, FilePrefix};
use crate::render::computed_rows::ComputedRows;
use crate::render::files::Files;
use crate::render::journal::{Journal, State};
use crate::render::tally::Tally;
use crate::store::Output;
use std::io::{self, Write};

/// Writes bands in their order.
pub(crate) struct Writer {
    pub(crate) files: Files,
    pub(crate) sums: Vec<Adler>,
    pub(crate) tally: Tally,
    pub(crate) journal: Option<Journal>,
    /// Whether the journal on disk has a state, which describes the outputs.
    pub(crate) journaled: bool,
    /// The checkpoints saved so far.
    pub(crate) checkpoints: Checkpoints,
}

/// How far a render is, without what the writer knows itself.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// Whether every byte is in the partial files.
    pub(crate) complete: bool,
    /// Whether the counting pass is complete, if colours need one.
    pub(crate) counted: bool,
    /// Rows of samples before this one are in the files, or counted.
    pub(crate) row: u32,
    /// Sums over the rows before `row` that are not the writer's.
    pub(crate) tally: Tally,
    /// The counts of the counting pass, as the painter writes them.
    pub(crate) counts: Vec<u8>,
    /// Rows that are computed, from `row` on, or from the row above it where pixels are refined.
    pub(crate) computed: ComputedRows,
}

impl Writer {
    /// A writer without a journal.
    pub(crate) fn new(files: Files, tally: Tally) -> Self {
        let sums = vec![Adler::default(); files.outputs.len()];
        Self { files, sums, tally, journal: None, journaled: false, checkpoints: Checkpoints::default() }
    }

    /// Saves to the journal how far the render is; does nothing without one. The outputs are passed to the disk before. From
    /// the first saved state on, partial outputs are kept if the render fails, so that it can be resumed.
    pub(crate) fn save(&mut self, reached: Reached) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let Reached { complete, counted, row, mut tally, counts, computed } = reached;
        let mut prefixes = Vec::new();
        for (output, sum) in self.files.outputs.iter_mut().zip(&self.sums) {
            output.sync()?;
            let fingerprint = output.fingerprint()?;
            prefixes.push(FilePrefix { length: output.written().0, fingerprint, sum: *sum });
        }
        tally.add(&self.tally);
        tally.hasher.clone_from(&self.tally.hasher);
        self.checkpoints.push(Checkpoint { row, files: prefixes, tally });
        let checkpoints = std::mem::take(&mut self.checkpoints);
        let state = State { complete, counted, checkpoints, counts, computed };
        let saved = journal.save(&state, self.files.partials());
        self.checkpoints = state.checkpoints;
        match saved {
            Ok(()) => {}
            Err(Error::Write { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                // Without locks, another process took the journal. This one goes on without.
                let path = journal.path().display().to_string();
                self.tally.notes.warnings.push(format!(
                    "another process has replaced {path}: if this render is interrupted, its work is lost"
                ));
                self.journal = None;
                self.files.outputs.iter_mut().for_each(Output::abandon);
                self.journaled = false;
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        if !self.journaled {
            self.files.outputs.iter_mut().for_each(Output::keep);
            self.journaled = true;
        }
        Ok(())
    }
}

impl Writer {
    /// Writes and publishes the sidecar.
    pub(crate) fn publish_sidecar(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(mut sidecar) = self.files.sidecar.take() else { return Ok(()) };
        sidecar.write_all(bytes).map_err(|e| sidecar.error(e))?;
        sidecar.commit().map(drop)
    }
}

impl Drop for Writer {
    /// Removes a journal that only names partial files, after these.
    fn drop(&mut self) {
        self.files = Files::default();
        if let Some(journal) = self.journal.as_mut().filter(|_| !self.journaled) {
            let _ = journal.remove();
        }
    }
}
