//! Opens the outputs of a render, resumes an earlier run from its journal, and publishes complete outputs.

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::problem::Problem;
use crate::base::quote::name_of;
use crate::encode::Format;
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::render::checkpoint::{Checkpoint, Checkpoints, FilePrefix};
use crate::render::computed_rows::ComputedRows;
use crate::render::files::Files;
use crate::render::identity::{difference, list};
use crate::render::journal::{Entry, Journal, Partials, State, whole};
use crate::render::layout::Layout;
use crate::render::request::Request;
use crate::render::tally::Tally;
use crate::render::writer::Writer;
use crate::store::{EarlierFile, Fingerprinter, Output};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A render whose outputs are open.
pub(super) struct Opened {
    pub(super) writer: Writer,
    /// The start of the render; `None` if every byte is in the partial files or published already.
    pub(super) start: Option<Start>,
    pub(super) warnings: Vec<String>,
}

/// The start of a render: the top of the image, or the state in which an earlier run was stopped.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// Rows before this one are in the files, or counted.
    pub(super) row: u32,
    /// Whether the counting pass is complete.
    pub(super) counted: bool,
    /// The counts of the counting pass.
    pub(super) counts: Vec<u8>,
    /// Rows that are computed, from `row` on, or from the row above it where pixels are refined.
    pub(super) computed: ComputedRows,
    /// For each output, the number of bytes in its partial file; empty at the top of the image.
    pub(super) lengths: Vec<u64>,
}

/// Opens the outputs of a render: empty, or at the end of the bytes that an earlier run of the same render stored.
pub(super) fn open(
    layout: &Layout,
    request: &Request<'_>,
    formats: &[Format],
    mut files: Files,
) -> Result<Opened, Error> {
    let mut journal = journal(request, formats, &files)?;
    if request.hash {
        files.outputs.iter_mut().for_each(Output::start_fingerprint);
    }
    let mut opening = Opening { layout, request, files, warnings: Vec::new() };
    let resumed = match &mut journal {
        Some(journal) => opening.resume(journal)?,
        None => None,
    };
    let Opening { mut files, warnings, .. } = opening;
    if let Some((start, checkpoints)) = resumed {
        let Checkpoint { files: prefixes, mut tally, .. } = checkpoints.last().cloned().unwrap_or_default();
        tally.resumes += 1;
        if !request.hash {
            // No hash is wanted any more, and the engine may now return painted rows, which have no dwells to hash.
            tally.hasher = None;
        }
        let mut warnings = warnings;
        if request.hash && tally.hasher.is_none() {
            warnings.push("resumed from a run that computed no hash: the dwells have no hash".to_owned());
        }
        let sums: Vec<_> = prefixes.iter().map(|prefix| prefix.sum).collect();
        files.open()?;
        let mut writer = Writer::new(files, tally);
        (writer.sums, writer.checkpoints) = (sums, checkpoints);
        (writer.journal, writer.journaled) = (journal, true);
        return Ok(Opened { writer, start, warnings });
    }
    files.refuse_existing()?;
    // The journal names the partial files before they are created, so that none is left without a journal after a kill.
    if let Some(journal) = &mut journal {
        begin(journal, &files)?;
    }
    files.open()?;
    let tally = Tally { hasher: request.hash.then(Default::default), ..Tally::default() };
    let mut writer = Writer::new(files, tally);
    writer.journal = journal;
    Ok(Opened { writer, start: Some(Start::default()), warnings })
}

/// Saves a journal that names the partial files.
fn begin(journal: &mut Journal, files: &Files) -> Result<(), Error> {
    journal.begin(files).map_err(|error| match (error, files.outputs.first()) {
        (Error::Write { source, .. }, Some(first)) if source.kind() == io::ErrorKind::AlreadyExists => {
            first.error(io::Error::other("another process is writing it"))
        }
        // What prevents the journal, such as a folder that cannot be written to, prevents the output too.
        (Error::Write { source, .. }, Some(first)) => first.error(source),
        (error, _) => error,
    })
}

/// The journal of a render, if one was requested and every output is a file.
fn journal(request: &Request<'_>, formats: &[Format], files: &Files) -> Result<Option<Journal>, Error> {
    let outputs = &files.outputs;
    let Some(first) = outputs.first().filter(|_| request.journaling.is_some()) else { return Ok(None) };
    let places: Option<Vec<_>> = outputs.iter().map(Output::place).collect();
    let Some(places) = places else { return Ok(None) };
    let Some((first_place, disk)) = places.first().copied() else { return Ok(None) };
    let names: Vec<String> = formats
        .iter()
        .zip(&places)
        .map(|(format, (place, _))| format!("{} {}", format.name(), name_from(place, first_place)))
        .collect();
    let identity = format!(
        "program = \"dwell {}\"\noutputs = {}\nverify = {}\n{}{}",
        env!("CARGO_PKG_VERSION"),
        list(&names),
        request.verify,
        inference(request.engine, request.strategy),
        request.paint.text
    );
    Journal::beside(disk.clone(), first_place, files, identity).map(Some).map_err(|e| first.error(e))
}

/// The name of a file in the folder of the first output, so that the folder can be moved; the whole path of any other.
fn name_from(place: &Path, first: &Path) -> String {
    let place = whole(place);
    let name = if place.parent() == whole(first).parent() { place.file_name().map(Path::new) } else { None };
    name.unwrap_or(&place).to_string_lossy().into_owned()
}

/// Everything that the wrong pixels of a heuristic strategy depend on beside the scene, as a line of an identity; nothing for
/// an exact strategy, which has no wrong pixels.
fn inference(engine: &dyn Engine, strategy: Strategy) -> String {
    if strategy.is_exact() {
        return String::new();
    }
    let info = engine.info();
    let tile = info.tile.or(strategy.tile()).map_or_else(|| "any size".to_owned(), |tile| tile.to_string());
    format!("inference = \"{}, tiles of {tile}\"\n", info.inference)
}

/// The files of a render while they are opened.
struct Opening<'a> {
    layout: &'a Layout,
    request: &'a Request<'a>,
    files: Files,
    warnings: Vec<String>,
}

/// The partial files that an earlier run left; `None` for one that is missing or no own file.
struct Earlier {
    outputs: Vec<Option<EarlierFile>>,
    sidecar: Option<EarlierFile>,
}

/// Where a render continues; `None` for the start if it is complete.
type Resumed = (Option<Start>, Checkpoints);

impl Opening<'_> {
    /// Opens the outputs at the end of the bytes that an earlier run of the same render stored. `None` if there are none.
    fn resume(&mut self, journal: &mut Journal) -> Result<Option<Resumed>, Error> {
        let Some(entry) = journal.find(self.is_fresh())? else { return Ok(None) };
        let earlier = self.earlier(journal, &entry)?;
        let Entry { identity, partials, state } = entry;
        let is_fresh = self.is_fresh();
        let state = match state {
            Some(state) if !is_fresh && identity == journal.identity() => state,
            Some(state) if !is_fresh => {
                self.check_dropped(journal, &identity, &state, &earlier)?;
                return drop_all(journal, earlier);
            }
            _ => return drop_all(journal, earlier),
        };
        if !self.fits(&state, partials.outputs.len()) {
            return Err(damaged(Some(journal.path())));
        }
        if state.complete {
            return self.resume_complete(journal, state, earlier, partials);
        }
        self.files.refuse_existing()?;
        self.resume_partial(journal, state, earlier)
    }

    fn is_fresh(&self) -> bool {
        self.request.journaling.as_ref().is_some_and(|journaling| journaling.fresh)
    }

    /// Opens the partial files of an earlier run: no other process writes to them afterwards, where the system has locks.
    fn earlier(&self, journal: &Journal, entry: &Entry) -> Result<Earlier, Error> {
        let open = |path: &PathBuf| EarlierFile::open(journal.disk(), path);
        // This finds a process that still writes.
        let Partials { outputs, sidecar } = &entry.partials;
        let outputs = outputs.iter().map(open).collect::<Result<_, _>>()?;
        let sidecar = sidecar.as_ref().map(open).transpose()?.flatten();
        if let Some(partial) = entry.partials.outputs.first() {
            journal.remove_new(partial)?;
        }
        Ok(Earlier { outputs, sidecar })
    }

    /// Whether a state can be one of this render.
    fn fits(&self, state: &State, partials: usize) -> bool {
        let height = self.request.plan.size().height;
        let chunk = self.layout.chunk_rows;
        let all = state.checkpoints.all();
        let fits = |checkpoint: &Checkpoint| {
            checkpoint.files.len() == self.files.outputs.len()
                && (checkpoint.row.is_multiple_of(chunk) && checkpoint.row < height || checkpoint.row == height)
                && checkpoint.files.len() == partials
        };
        !all.is_empty() && all.iter().all(fits)
    }

    /// Checks that the unfinished work of another render may be dropped, and says so.
    ///
    /// # Errors
    /// When it is worth much time.
    fn check_dropped(
        &mut self,
        journal: &Journal,
        identity: &str,
        state: &State,
        earlier: &Earlier,
    ) -> Result<(), Error> {
        if earlier.outputs.iter().all(Option::is_none) {
            // Its outputs are published, or lost.
            return Ok(());
        }
        let differing = difference(identity, journal.identity());
        let last = state.checkpoints.last();
        let seconds = last.map_or(0.0, |checkpoint| checkpoint.tally.seconds.total);
        let protected = self.request.journaling.as_ref().map_or(Duration::ZERO, |journaling| journaling.protected);
        if seconds >= protected.as_secs_f64() {
            let problem = Problem::JournalOfAnotherRender { differing, seconds: seconds.round() as u64 };
            return Err(InputError::new(problem).in_file(journal.path()).into());
        }
        self.warnings
            .push(format!("dropped {seconds:.1} s of unfinished work of another render to this file: {differing}"));
        Ok(())
    }

    /// Resumes a render of which every byte was written: its files are published already, or their partial files have every
    /// byte. If a file is lost, the render goes on from its last good checkpoint. The earlier run
    /// named the partial files `named`.
    fn resume_complete(
        &mut self,
        journal: &mut Journal,
        state: State,
        mut earlier: Earlier,
        named: Partials,
    ) -> Result<Option<Resumed>, Error> {
        let cancel = self.request.control.cancel;
        let files = state.checkpoints.last().map(|last| last.files.clone()).unwrap_or_default();
        let mut states = Vec::new();
        for ((output, file), prefix) in self.files.outputs.iter().zip(&mut earlier.outputs).zip(&files) {
            let mut found = read_back(file.as_mut(), std::slice::from_ref(prefix), cancel)?;
            // Empty files do not exist: every format has a header or a pixel.
            let partial = found.pop().filter(|_| prefix.length > 0);
            let published = if partial.is_none() { output.read_published(cancel)? } else { None };
            let published = published.filter(|state| prefix.is_that_of(state));
            if partial.is_none() && published.is_none() {
                return self.resume_partial(journal, State { complete: false, ..state }, earlier);
            }
            states.push((partial, published));
        }
        let mut left = Vec::new();
        for ((output, file), states) in self.files.outputs.iter_mut().zip(earlier.outputs).zip(states) {
            match (file, states) {
                (Some(file), (Some(state), _)) => {
                    left.extend(output.continue_in(file, state, cancel)?);
                    output.keep();
                }
                (file, (_, Some(state))) => {
                    output.assume_published(state)?;
                    file.map_or(Ok(()), EarlierFile::remove)?;
                }
                _ => {}
            }
        }
        if let Some(sidecar) = &self.files.sidecar
            && let Err(exists) = sidecar.refuse_existing()
        {
            if named.sidecar.is_none() || earlier.sidecar.is_some() {
                return Err(exists);
            }
            // The earlier run published it.
            self.files.sidecar = None;
        }
        left.extend(self.resume_sidecar(earlier.sidecar)?);
        // A published output has no partial file. It keeps the name of the one that it had.
        let outputs = self.files.outputs.iter().zip(named.outputs);
        let outputs = outputs.map(|(output, had)| output.partial().map_or(had, whole)).collect();
        let partials = Partials { outputs, ..self.files.partials() };
        if !journal.names(&partials) {
            journal.save(&state, partials)?;
        }
        left.into_iter().try_for_each(EarlierFile::remove)?;
        Ok(Some((None, state.checkpoints)))
    }

    /// Resumes a render after the last checkpoint whose bytes are in the partial files.
    fn resume_partial(
        &mut self,
        journal: &mut Journal,
        state: State,
        mut earlier: Earlier,
    ) -> Result<Option<Resumed>, Error> {
        let cancel = self.request.control.cancel;
        let State { counted, mut checkpoints, counts, computed, .. } = state;
        let all = checkpoints.all().len();
        let mut states = Vec::new();
        let mut good = all;
        for (number, file) in earlier.outputs.iter_mut().enumerate() {
            let prefixes: Vec<FilePrefix> = checkpoints.all()[..good].iter().map(|c| c.files[number]).collect();
            let found = read_back(file.as_mut(), &prefixes, cancel)?;
            good = good.min(found.len());
            states.push(found);
        }
        checkpoints.truncate(good);
        let Some(last) = checkpoints.last() else {
            self.warn_of_changed_files(0);
            return drop_all(journal, earlier);
        };
        let row = last.row;
        if good < all {
            self.warn_of_changed_files(row);
        }
        let lengths: Vec<u64> = last.files.iter().map(|file| file.length).collect();
        let mut left: Vec<_> = self.resume_sidecar(earlier.sidecar)?.into_iter().collect();
        for ((output, file), states) in self.files.outputs.iter_mut().zip(earlier.outputs).zip(states) {
            // The last good state; a file of no bytes may be missing.
            if let (Some(file), Some(state)) = (file, states.into_iter().nth(good - 1)) {
                left.extend(output.continue_in(file, state, cancel)?);
            }
            output.keep();
        }
        let computed = if good == all { computed } else { ComputedRows::default() };
        let state = State { complete: false, counted, checkpoints, counts, computed };
        let partials = self.files.partials();
        if !journal.names(&partials) {
            // It names files that were copied and are now removed, or another sidecar.
            journal.save(&state, partials)?;
        }
        left.into_iter().try_for_each(EarlierFile::remove)?;
        let State { counted, checkpoints, counts, computed, .. } = state;
        Ok(Some((Some(Start { row, counted, counts, computed, lengths }), checkpoints)))
    }

    /// Takes over the empty partial file of the earlier run's sidecar. Returns it if it is not needed.
    fn resume_sidecar(&mut self, earlier: Option<EarlierFile>) -> Result<Option<EarlierFile>, Error> {
        match (&mut self.files.sidecar, earlier) {
            (Some(sidecar), Some(file)) if sidecar.is_partial(file.path()) => {
                sidecar.continue_in(file, Fingerprinter::new(), self.request.control.cancel)
            }
            (_, earlier) => Ok(earlier),
        }
    }

    fn warn_of_changed_files(&mut self, row: u32) {
        let names: Vec<String> = self.files.outputs.iter().map(|output| name_of(output.path())).collect();
        self.warnings.push(format!(
            "a partial file of {} is missing or was changed since it was written: rows from {row} on are rendered again",
            names.join(", ")
        ));
    }
}

/// Reads a partial file back. Returns the states of its fingerprint at those prefixes that it still has, up to the first that it
/// has not.
fn read_back(
    mut file: Option<&mut EarlierFile>,
    prefixes: &[FilePrefix],
    cancel: &Cancel,
) -> Result<Vec<Fingerprinter>, Error> {
    let mut state = Fingerprinter::new();
    let mut found = Vec::new();
    for prefix in prefixes {
        if let Some(file) = &mut file {
            file.read_to(&mut state, prefix.length, cancel, |_| Ok(()))?;
        }
        if !prefix.is_that_of(&state) {
            break;
        }
        found.push(state.clone());
    }
    Ok(found)
}

/// Removes the partial files of an earlier run and its journal.
fn drop_all(journal: &mut Journal, earlier: Earlier) -> Result<Option<Resumed>, Error> {
    for file in earlier.outputs.into_iter().flatten().chain(earlier.sidecar) {
        file.remove()?;
    }
    journal.remove()?;
    Ok(None)
}

/// Publishes complete outputs by renaming them, as one transaction: a journal that marks the render as complete is saved
/// before, so that the next run finishes what a kill or an error leaves. The journal is to be removed afterwards.
pub(super) fn publish(writer: &mut Writer, cancel: &Cancel) -> Result<(), Error> {
    cancel.check()?;
    for output in &mut writer.files.outputs {
        output.publish()?;
    }
    for output in &mut writer.files.outputs {
        output.sync_name()?;
    }
    Ok(())
}

/// The error for a journal whose state does not fit the render.
pub(super) fn damaged(journal: Option<&Path>) -> Error {
    let error = InputError::new(Problem::JournalDoesNotFit);
    journal.into_iter().fold(error, |error, journal| error.in_file(journal)).into()
}
