//! The journal of a render: its state on disk, from which the render resumes after it was killed.
//!
//! The journal is stored beside the first output as `NAME.dwell-journal`, and the finished part of each output beside that
//! output in a partial file, whose name the journal records. It also records the partial file of a sidecar, which is empty
//! until the outputs are complete. A journal is replaced whole. It has the checkpoints of the
//! render (`checkpoint.rs`): for each, the length and the fingerprint of the bytes in every partial file, and the state that
//! encoding them left; and the rows that were computed but not yet encoded. The following holds at every moment, so that a
//! kill or a loss of power at any moment loses no file:
//!
//! 1. When a render begins, a journal without a state names its partial files, so that the next run removes them if this one
//!    is killed. It is not synced: after a loss of power it may be missing or incomplete, and there is no work to lose.
//! 2. A journal with a state is renamed into place only after the bytes that it describes, and then the journal itself, were
//!    synced.
//! 3. A run that resumes reads the partial files back. It continues after the last checkpoint whose bytes have the fingerprints in
//!    the journal; bytes after them are cut off.
//! 4. When every byte is in the partial files and synced, a journal is saved that marks the render as complete. Only then are
//!    the partial files renamed. From then on a missing partial file is one that has been renamed, if the final file has the
//!    bytes that the journal records; otherwise the render starts over.
//! 5. The journal is removed last, after the sidecar is written.
//!
//! The file consists of a line that identifies the format; the identity, a text that describes what is rendered, to be
//! compared with that of the request; the paths of the partial files; the state; and the BLAKE3 hash of all of that.

use crate::base::error::{Error, InputError};
use crate::base::limits::reserved;
use crate::base::problem::Problem;
use crate::render::checkpoint::Checkpoints;
use crate::render::computed_rows::ComputedRows;
use crate::render::files::Files;
use crate::render::record::{Reader, Record};
use crate::store::{Disk, DiskFile, FileId, JOURNAL, JOURNAL_START, Output, PartialFiles, Replaced, beside};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a render keeps its journal.
#[derive(Clone, Debug)]
pub struct Journaling {
    /// The time from one entry to the next, and from the start to the first entry. `None` for no entries: then the journal
    /// only names the partial files, and makes the publication of several outputs one transaction.
    pub interval: Option<Duration>,
    /// Whether to remove an existing journal and start from the beginning.
    pub fresh: bool,
    /// The unfinished work of another render that took at least this long is not dropped: a journal of it is an error.
    pub protected: Duration,
}

/// The suffix of a new journal while it is written, after the name of the first output's partial file.
const NEW_SUFFIX: &str = ".journal-new";
/// The first bytes of a journal without a state.
const BEGUN: &[u8; 16] = b"dwell begun   3\n";
/// The first bytes of a journal without a state, of any version.
const BEGUN_START: &[u8] = b"dwell begun ";
/// The first bytes of a journal with a state.
const MAGIC: &[u8; 16] = b"dwell journal 5\n";
/// Bytes of a BLAKE3 hash.
const HASH: usize = 32;
/// Maximum size of a journal in bytes. The rows in it are at most those of a band or of a kept field.
const MAX_BYTES: u64 = 1 << 30;

/// The journal of a render.
#[derive(Debug)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    identity: String,
    /// The paths of the partial files.
    partials: Partials,
    /// The file that this run, or one that it resumes, saved as the journal.
    placed: Option<FileId>,
    /// Whether that file has a state, and so was synced.
    has_state: bool,
    /// The files to remove if the program ends at once: the journal too, as long as it only names others.
    partial_files: PartialFiles,
}

/// What a journal stores.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) identity: String,
    /// The paths of the partial files.
    pub(crate) partials: Partials,
    /// The state; `None` before the first entry was due.
    pub(crate) state: Option<State>,
}

/// The paths of the partial files of a render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partials {
    /// Those of the outputs.
    pub(crate) outputs: Vec<PathBuf>,
    /// That of the sidecar, if it is a regular file.
    pub(crate) sidecar: Option<PathBuf>,
}

/// The state of a render.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether every byte is in the partial files.
    pub(crate) complete: bool,
    /// Whether the counting pass is complete, if colours need one.
    pub(crate) counted: bool,
    /// The checkpoints; the last one is the latest.
    pub(crate) checkpoints: Checkpoints,
    /// The counts of the counting pass, as the painter writes them.
    pub(crate) counts: Vec<u8>,
    /// Rows from that of the last checkpoint on that are computed.
    pub(crate) computed: ComputedRows,
}

impl Journal {
    /// The journal of a render into `files`, the first of which will be at `place`. `identity` is everything that the bytes
    /// of the outputs depend on, as TOML.
    pub(crate) fn beside(disk: Arc<dyn Disk>, place: &Path, files: &Files, identity: String) -> io::Result<Self> {
        let path = beside(place, JOURNAL)?;
        let partial_files = files.outputs.first().map(Output::partial_files).unwrap_or_default();
        Ok(Self { disk, path, identity, partials: files.partials(), placed: None, has_state: false, partial_files })
    }

    /// The path of the journal.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The identity of the render.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    /// The disk of the journal and its partial files.
    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Whether the journal names these partial files.
    pub(crate) fn names(&self, partials: &Partials) -> bool {
        self.partials == *partials
    }

    /// Reads the journal that an earlier run left; `None` if there is none. With `fresh`, one that is damaged or of another
    /// version is removed.
    ///
    /// # Errors
    /// When the file cannot be read, is not own, is not a journal, of another version, or damaged.
    pub(crate) fn find(&mut self, fresh: bool) -> Result<Option<Entry>, Error> {
        let refused = |problem: Problem| InputError::new(problem).in_file(&self.path);
        let unreadable = |e: io::Error| refused(Problem::JournalUnreadable { why: e.to_string() });
        let found = self.disk.read(&self.path, MAX_BYTES).map_err(unreadable)?;
        let Some((id, bytes)) = found else { return Ok(None) };
        // The parts of the journal are copied, together at most as many bytes.
        drop(reserved::<u8>(bytes.len(), "the journal")?);
        let is_incomplete = bytes.iter().all(|byte| *byte == 0) || BEGUN.starts_with(&bytes);
        let body = bytes
            .split_last_chunk::<HASH>()
            .and_then(|(body, hash)| (blake3::hash(body).as_bytes() == hash).then_some(body));
        if is_incomplete || bytes.starts_with(BEGUN) && body.is_none() {
            // A loss of power came before the system wrote the bytes of a journal without a state.
            self.placed = Some(id);
            self.remove()?;
            return Ok(None);
        }
        if !bytes.starts_with(JOURNAL_START) && !bytes.starts_with(BEGUN_START) {
            return Err(refused(Problem::NotAJournal).into());
        }
        let is_of_this_version = bytes.starts_with(MAGIC) || bytes.starts_with(BEGUN);
        let entry = body.filter(|_| is_of_this_version).and_then(|body| self.read(&mut Reader(&body[MAGIC.len()..])));
        let entry = match entry {
            Some(entry) => entry,
            None if fresh => {
                self.placed = Some(id);
                self.remove()?;
                return Ok(None);
            }
            None if is_of_this_version => return Err(refused(Problem::JournalDamaged).into()),
            None => return Err(refused(Problem::JournalOfAnotherVersion).into()),
        };
        (self.placed, self.has_state) = (Some(id), entry.state.is_some());
        self.partials.clone_from(&entry.partials);
        Ok(Some(entry))
    }

    /// Saves a journal without a state.
    ///
    /// # Errors
    /// [`Error::Write`], of kind [`io::ErrorKind::AlreadyExists`] when another process has just begun a journal.
    pub(crate) fn begin(&mut self, files: &Files) -> Result<(), Error> {
        self.partials = files.partials();
        let mut record = Record(BEGUN.to_vec());
        self.write(None, &mut record);
        let hash = blake3::hash(&record.0);
        record.array(hash.as_bytes());
        // In place, so that a kill leaves no other file. A journal without a state may be incomplete.
        let mut file = self.disk.create(&self.path, &self.path).map_err(|e| self.error(e))?;
        self.placed = Some(file.id());
        self.partial_files.add(&self.path);
        let written = file.append(&record.0);
        if written.is_err() {
            let _ = self.remove();
        }
        written.map_err(|e| self.error(e))
    }

    /// Replaces the journal by one with this state of a render with these partial files.
    ///
    /// # Errors
    /// [`Error::Write`], of kind [`io::ErrorKind::AlreadyExists`] when the journal is not the one that this render saved.
    pub(crate) fn save(&mut self, state: &State, partials: Partials) -> Result<(), Error> {
        self.partial_files.forget(&self.path);
        self.partials = partials;
        // All of it is reserved at once, since a record does not report an allocation that fails.
        let mut record = Record(reserved(self.record_bytes(state), "the journal")?);
        record.array(MAGIC);
        self.write(Some(state), &mut record);
        self.place(|file| {
            let mut hasher = blake3::Hasher::new();
            // The rows are most of the bytes, so they are written without another copy.
            for bytes in std::iter::once(&record.0).chain(state.computed.pieces()) {
                hasher.update(bytes);
                file.append(bytes)?;
            }
            file.append(hasher.finalize().as_bytes())?;
            file.sync()
        })?;
        self.disk.sync_folder(&self.path).map_err(|e| self.error(e))
    }

    /// Writes a new journal and renames it into place.
    fn place(&mut self, write: impl FnOnce(&mut dyn DiskFile) -> io::Result<()>) -> Result<(), Error> {
        let new_path = self.partials.outputs.first().map_or_else(|| self.path.clone(), |partial| new_path(partial));
        let mut file = self.disk.create(&new_path, &self.path).map_err(|e| self.error(e))?;
        let replaced = self.placed.map_or(Replaced::Nothing, Replaced::Only);
        let placed = write(file.as_mut()).and_then(|()| self.disk.rename(&new_path, &self.path, replaced));
        if let Err(e) = placed {
            let _ = self.disk.remove(&new_path, file.id());
            return Err(self.error(e));
        }
        (self.placed, self.has_state) = (Some(file.id()), true);
        Ok(())
    }

    /// Removes the journal, if it is the one that this render saved or resumed from. The render cannot be resumed
    /// afterwards. The removal of a journal with a state is synced, since the journal would refuse other renders.
    pub(crate) fn remove(&mut self) -> Result<(), Error> {
        self.partial_files.forget(&self.path);
        let Some(id) = self.placed.take() else { return Ok(()) };
        let removed = self.disk.remove(&self.path, id);
        let synced = removed.and_then(|()| if self.has_state { self.disk.sync_folder(&self.path) } else { Ok(()) });
        self.has_state = false;
        synced.map_err(|e| self.error(e))
    }

    /// Removes what remains of a new journal if an earlier run, the first of whose partial files was `partial`, was stopped
    /// while it wrote one.
    pub(crate) fn remove_new(&self, partial: &Path) -> Result<(), Error> {
        let path = new_path(partial);
        let removed = match self.disk.open(&path) {
            Ok(Some(file)) => self.disk.remove(&path, file.id()),
            // Another process is writing it.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(()),
            other => other.map(drop),
        };
        removed.map_err(|source| Error::Write { path, source })
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }

    /// Upper bound of the bytes of a record without those of the computed rows.
    fn record_bytes(&self, state: &State) -> usize {
        const NUMBERS: usize = 1 << 12;
        let Partials { outputs, sidecar } = &self.partials;
        let partials: usize =
            outputs.iter().chain(sidecar).map(|partial| partial.as_os_str().len() + size_of::<u64>()).sum();
        NUMBERS + self.identity.len() + partials + state.counts.len() + state.checkpoints.record_bytes()
    }

    /// Writes everything but the bytes of the computed rows, which follow in the file.
    fn write(&self, state: Option<&State>, record: &mut Record) {
        record.bytes(self.identity.as_bytes());
        let Partials { outputs, sidecar } = &self.partials;
        record.u32(outputs.len() as u32);
        for partial in outputs {
            record.bytes(&path_bytes(self.beside_or_whole(partial)));
        }
        record.option(sidecar.as_deref(), |record, partial| record.bytes(&path_bytes(self.beside_or_whole(partial))));
        record.option(state, |record, state| {
            record.u32(u32::from(state.complete) | u32::from(state.counted) << 1);
            state.checkpoints.write(record);
            record.bytes(&state.counts);
            state.computed.write(record);
        });
    }

    fn read(&self, reader: &mut Reader<'_>) -> Option<Entry> {
        let identity = String::from_utf8_lossy(reader.bytes()?).into_owned();
        let path = |reader: &mut Reader<'_>| Some(self.path.with_file_name(path_of(reader.bytes()?)));
        let outputs = (0..reader.u32()?).map(|_| path(reader)).collect::<Option<_>>()?;
        let partials = Partials { outputs, sidecar: reader.option(path)? };
        let state = reader.option(|reader| {
            let flags = reader.u32().filter(|flags| *flags < 4)?;
            let checkpoints = Checkpoints::read(reader)?;
            let counts = reader.bytes()?.to_vec();
            let computed = ComputedRows::read(reader)?;
            let (complete, counted) = (flags & 1 != 0, flags & 2 != 0);
            Some(State { complete, counted, checkpoints, counts, computed })
        })?;
        reader.0.is_empty().then_some(Entry { identity, partials, state })
    }

    /// The name of a file in the folder of the journal, so that the folder can be moved; the whole path of any other.
    fn beside_or_whole<'p>(&self, path: &'p Path) -> &'p Path {
        match path.file_name() {
            Some(name) if path.parent() == whole(&self.path).parent() => Path::new(name),
            _ => path,
        }
    }
}

/// A path in full, since the next run may have another working folder.
pub(super) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The path of a journal while it is written.
fn new_path(partial: &Path) -> PathBuf {
    beside(partial, NEW_SUFFIX).unwrap_or_else(|_| partial.with_extension("journal-new"))
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    let text: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    text.into()
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}
