//! An output: a file that is written atomically, or a stream.

use super::disk::{Disk, DiskFile, Replaced};
use super::earlier_file::{EarlierFile, READ_BYTES, READING};
use super::fingerprint::{Fingerprint, Fingerprinter};
use super::names::{are_of_one_output, end_of_links, is_stdout, names_a_descriptor, partial_beside, unguessable};
use super::partial_files::PartialFiles;
use super::system_disk::SystemDisk;
use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::limits::{filled, reserve};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::encode::{error_of_writing, out_of_memory};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An output under way: a regular file that gets its name when it is complete, standard output, a device or a FIFO.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
    /// Bytes that are not yet passed to the system.
    pending: Vec<u8>,
    /// The number of bytes passed to the system, those of an earlier run included.
    length: u64,
    /// The fingerprint of these bytes, if one is wanted.
    fingerprinter: Option<Fingerprinter>,
    spent: Duration,
    partial_files: PartialFiles,
}

#[derive(Debug)]
enum Target {
    /// A partial file in the same folder, renamed when complete.
    Replace(Replace),
    /// An existing device, FIFO or open descriptor, written in place.
    InPlace(File),
    Stdout(io::Stdout),
    /// Kept in memory.
    Memory(Arc<Mutex<Vec<u8>>>),
    /// Complete, with its final name.
    Published {
        disk: Arc<dyn Disk>,
        place: PathBuf,
    },
    /// Passed to a writer of the caller.
    Writer(CallersWriter),
    /// Discards all bytes: for benchmarks.
    Discard,
}

/// A writer that the caller of the library gave.
struct CallersWriter(Box<dyn Write + Send>);

impl std::fmt::Debug for CallersWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallersWriter")
    }
}

#[derive(Debug)]
struct Replace {
    disk: Arc<dyn Disk>,
    /// The partial file, once it is created.
    file: Option<Box<dyn DiskFile>>,
    /// The path of the partial file.
    partial: PathBuf,
    /// The final path.
    place: PathBuf,
    no_clobber: bool,
    /// Whether the partial file stays if this output is dropped before it is complete.
    kept: bool,
}

impl Replace {
    /// The partial file, which is created if that is not done yet.
    fn open(&mut self, partial_files: &PartialFiles) -> io::Result<&mut dyn DiskFile> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = self.disk.create(&self.partial, &self.place)?;
                if !self.kept {
                    partial_files.add(&self.partial);
                }
                file
            }
        };
        Ok(self.file.insert(file).as_mut())
    }

    /// Removes the partial file.
    fn remove(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| self.disk.remove(&self.partial, file.id()))
    }
}

/// The bytes of an output in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl MemoryFile {
    /// A copy of the bytes written so far; the whole file after the render has returned.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The size of the write buffer in bytes.
const BUFFER: usize = 1 << 20;

impl Output {
    /// An output at `path`; `-` is standard output. The partial file of a regular file is created by [`Self::open`] or when
    /// the first byte is written; other files are opened now. With `no_clobber`, an existing file is not replaced: see
    /// [`Self::refuse_existing`].
    ///
    /// # Errors
    /// [`Error::Write`] when the output cannot be written.
    pub fn create(path: &Path, no_clobber: bool, partial_files: &PartialFiles) -> Result<Self, Error> {
        let fail = |source: io::Error| Error::Write { path: path.to_owned(), source };
        let place = end_of_links(path).map_err(fail)?;
        if is_stdout(&place) {
            return Ok(Self::on(path, Target::Stdout(io::stdout()), partial_files));
        }
        match std::fs::metadata(&place) {
            Ok(metadata) if metadata.is_dir() => Err(fail(io::Error::other("it is a directory"))),
            Ok(metadata) if !metadata.is_file() || names_a_descriptor(&place) => {
                if no_clobber {
                    return Err(exists_already(path).into());
                }
                // Opened for appending: a file that the shell opened with `>>` continues at its end, and for devices
                // and FIFOs it makes no difference.
                let file = File::options().append(true).open(&place).map_err(fail)?;
                Ok(Self::on(path, Target::InPlace(file), partial_files))
            }
            _ => Self::beside(Arc::new(SystemDisk), path, &place, no_clobber, partial_files),
        }
    }

    /// Creates the partial file of a regular file, unless that is done. Writing does this too; this shows early whether the
    /// output can be written.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn open(&mut self) -> Result<(), Error> {
        let opened = match &mut self.target {
            Target::Replace(replace) => replace.open(&self.partial_files).map(drop),
            _ => Ok(()),
        };
        opened.map_err(|e| self.error(e))
    }

    /// A regular file on `disk`: `path` as given, `place` after following links.
    pub(crate) fn beside(
        disk: Arc<dyn Disk>,
        path: &Path,
        place: &Path,
        no_clobber: bool,
        partial_files: &PartialFiles,
    ) -> Result<Self, Error> {
        let fail = |source: io::Error| Error::Write { path: path.to_owned(), source };
        let partial = unguessable().and_then(|random| partial_beside(place, &random)).map_err(fail)?;
        let replace = Replace { disk, file: None, partial, place: place.to_owned(), no_clobber, kept: false };
        Ok(Self::on(path, Target::Replace(replace), partial_files))
    }

    fn on(path: &Path, target: Target, partial_files: &PartialFiles) -> Self {
        Self {
            path: path.to_owned(),
            target,
            pending: Vec::new(),
            length: 0,
            fingerprinter: None,
            spent: Duration::ZERO,
            partial_files: partial_files.clone(),
        }
    }

    /// An output that discards its bytes, for benchmarks.
    #[must_use]
    pub fn discarding() -> Self {
        Self::on(Path::new(""), Target::Discard, &PartialFiles::default())
    }

    /// An output in memory, and the [`MemoryFile`] that reads its bytes. `name` is its name in errors.
    #[must_use]
    pub fn in_memory(name: &str) -> (Self, MemoryFile) {
        let file = MemoryFile::default();
        (Self::on(Path::new(name), Target::Memory(Arc::clone(&file.0)), &PartialFiles::default()), file)
    }

    /// An output that passes its bytes to a writer, in order. `name` is its name in errors.
    #[must_use]
    pub fn to_writer(name: &str, writer: Box<dyn Write + Send>) -> Self {
        Self::on(Path::new(name), Target::Writer(CallersWriter(writer)), &PartialFiles::default())
    }

    /// The final path, as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The [`Error::Write`] of this output for an I/O error.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        error_of_writing(self.path.clone(), source)
    }

    /// The wall time spent so far in passing bytes to the system.
    #[must_use]
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// Refuses to replace a file that exists, if the output was created with `no_clobber`. A file that appears later is
    /// refused when the output is published.
    ///
    /// # Errors
    /// [`Error::Input`] when the file exists.
    pub fn refuse_existing(&self) -> Result<(), Error> {
        match &self.target {
            Target::Replace(replace) if replace.no_clobber => {
                match replace.disk.open_published(&replace.place).map_err(|e| self.error(e))? {
                    Some(_) => Err(exists_already(&self.path).into()),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The final path and the disk, if the output is a regular file, whose partial file can outlive this process.
    pub(crate) fn place(&self) -> Option<(&Path, &Arc<dyn Disk>)> {
        match &self.target {
            Target::Replace(replace) => Some((&replace.place, &replace.disk)),
            _ => None,
        }
    }

    /// The path of the partial file.
    pub(crate) fn partial(&self) -> Option<&Path> {
        match &self.target {
            Target::Replace(replace) => Some(&replace.partial),
            _ => None,
        }
    }

    /// Whether a path can be that of a partial file of this output.
    pub(crate) fn is_partial(&self, path: &Path) -> bool {
        self.partial().is_some_and(|partial| are_of_one_output(partial, path))
    }

    /// The partial files of the process.
    pub(crate) fn partial_files(&self) -> PartialFiles {
        self.partial_files.clone()
    }

    /// Makes the fingerprint of all bytes, from the first one on.
    pub(crate) fn start_fingerprint(&mut self) {
        self.fingerprinter = Some(Fingerprinter::new());
    }

    /// The number of bytes passed to the system so far, and their fingerprint if one is made.
    pub(crate) fn written(&self) -> (u64, Option<Fingerprint>) {
        (self.length, self.fingerprinter.as_ref().map(Fingerprinter::value))
    }

    /// The fingerprint of the bytes passed to the system so far. At its first call the bytes of a regular file are read back,
    /// so that a render that ends before its first journal entry needs no time for it.
    pub(crate) fn fingerprint(&mut self) -> Result<Fingerprint, Error> {
        if let Some(state) = &self.fingerprinter {
            return Ok(state.value());
        }
        let began = Instant::now();
        let mut state = Fingerprinter::new();
        if let Target::Replace(replace) = &mut self.target {
            let read = replace.open(&self.partial_files).and_then(|file| read_back(file, self.length, &mut state));
            read.map_err(|e| self.error(e))?;
        }
        let fingerprint = state.value();
        self.fingerprinter = Some(state);
        self.spent += began.elapsed();
        Ok(fingerprint)
    }

    /// Continues after the first bytes of an earlier run's partial file, of which `state` has the fingerprint: in
    /// that file if it is locked, otherwise in a copy. Returns the file that is no longer needed.
    ///
    /// # Errors
    /// [`Error::Write`]; also when the file is not locked and the bytes that are copied have another hash.
    pub(crate) fn continue_in(
        &mut self,
        mut earlier: EarlierFile,
        state: Fingerprinter,
        cancel: &Cancel,
    ) -> Result<Option<EarlierFile>, Error> {
        let length = state.length();
        let Target::Replace(replace) = &mut self.target else { return Ok(Some(earlier)) };
        let left = if earlier.file.is_locked() {
            earlier.file.truncate(length).map_err(|e| earlier.error(e))?;
            replace.remove().map_err(|e| earlier.error(e))?;
            self.partial_files.forget(&replace.partial);
            (replace.file, replace.partial) = (Some(earlier.file), earlier.path);
            None
        } else {
            // Without locks, the process that wrote the file may still write to it. So its bytes are copied.
            let mut copied = Fingerprinter::new();
            let file = replace.open(&self.partial_files).map_err(|e| earlier.error(e))?;
            earlier.read_to(&mut copied, length, cancel, |bytes| file.append(bytes))?;
            if copied.value() != state.value() {
                return Err(earlier.error(io::Error::other("another process changed it")));
            }
            Some(earlier)
        };
        (self.length, self.fingerprinter) = (length, Some(state));
        Ok(left)
    }

    /// Makes the partial file stay when this output is dropped before it is complete.
    pub(crate) fn keep(&mut self) {
        if let Target::Replace(replace) = &mut self.target {
            replace.kept = true;
            self.partial_files.forget(&replace.partial);
        }
    }

    /// Makes the partial file disappear when this output is dropped before it is complete; undoes [`Self::keep`].
    pub(crate) fn abandon(&mut self) {
        if let Target::Replace(replace) = &mut self.target {
            replace.kept = false;
            if replace.file.is_some() {
                self.partial_files.add(&replace.partial);
            }
        }
    }

    /// Makes the bytes written so far durable.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let synced = self.flush_buffer().and_then(|()| match &mut self.target {
            Target::Replace(replace) => {
                replace.open(&self.partial_files)?.sync()?;
                replace.disk.sync_folder(&replace.partial)
            }
            Target::InPlace(file) => file.flush(),
            Target::Stdout(out) => out.flush(),
            Target::Writer(writer) => writer.0.flush(),
            Target::Memory(_) | Target::Published { .. } | Target::Discard => Ok(()),
        });
        self.spent += began.elapsed();
        synced.map_err(|e| self.error(e))
    }

    /// Renames a complete and synced file to its final name, which is not yet durable. After an error, [`Self::publish`]
    /// can be called again.
    pub(crate) fn publish(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let Target::Replace(replace) = &mut self.target else { return Ok(()) };
        let replaced = if replace.no_clobber { Replaced::Nothing } else { Replaced::File };
        // From here on a signal must not remove the file.
        self.partial_files.forget(&replace.partial);
        let place = replace.place.clone();
        let renamed = replace
            .open(&PartialFiles::default())
            .and_then(|file| file.take_permissions(&place))
            .and_then(|()| replace.disk.rename(&replace.partial, &replace.place, replaced));
        self.spent += began.elapsed();
        match renamed {
            Ok(()) => {
                let target = std::mem::replace(&mut self.target, Target::Discard);
                if let Target::Replace(Replace { disk, place, .. }) = target {
                    self.target = Target::Published { disk, place };
                }
                Ok(())
            }
            // The file was created after this output was opened.
            Err(e) if replace.no_clobber && e.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::Input(exists_already(&self.path)))
            }
            Err(e) => Err(self.error(e)),
        }
    }

    /// Reads the final file and returns the state of its fingerprint; `None` if there is no regular file.
    pub(crate) fn read_published(&self, cancel: &Cancel) -> Result<Option<Fingerprinter>, Error> {
        let Target::Replace(replace) = &self.target else { return Ok(None) };
        let opened = replace.disk.open_published(&replace.place).map_err(|e| self.error(e))?;
        let Some(mut file) = opened else { return Ok(None) };
        let mut state = Fingerprinter::new();
        let mut buffer = filled(READ_BYTES, 0, READING)?;
        loop {
            cancel.check()?;
            match file.read(&mut buffer).map_err(|e| self.error(e))? {
                0 => return Ok(Some(state)),
                count => state.update(&buffer[..count]),
            }
        }
    }

    /// Treats the final file, whose bytes have this fingerprint, as published by this output, whose partial file is removed.
    pub(crate) fn assume_published(&mut self, state: Fingerprinter) -> Result<(), Error> {
        let Target::Replace(replace) = &self.target else { return Ok(()) };
        (self.length, self.fingerprinter) = (state.length(), Some(state));
        self.partial_files.forget(&replace.partial);
        let removed = replace.remove();
        self.target = Target::Published { disk: Arc::clone(&replace.disk), place: replace.place.clone() };
        removed.map_err(|e| self.error(e))
    }

    /// Makes the final name durable.
    pub(crate) fn sync_name(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let synced = match &self.target {
            Target::Published { disk, place } => disk.sync_folder(place),
            _ => Ok(()),
        };
        self.spent += began.elapsed();
        synced.map_err(|e| self.error(e))
    }

    /// Syncs the file and renames it to its final name. Returns the wall time spent in writing, including this call.
    ///
    /// # Errors
    /// [`Error::Write`], or [`Error::Input`] when `no_clobber` was set and the file exists. An existing file keeps its
    /// contents then.
    pub fn commit(mut self) -> Result<Duration, Error> {
        self.sync()?;
        self.publish()?;
        self.sync_name()?;
        Ok(self.spent)
    }

    /// Passes the pending bytes to the system.
    fn flush_buffer(&mut self) -> io::Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let written = self.append(&pending);
        pending.clear();
        self.pending = pending;
        written
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        match &mut self.target {
            Target::Replace(replace) => replace.open(&self.partial_files)?.append(bytes)?,
            Target::InPlace(file) => file.write_all(bytes)?,
            Target::Stdout(out) => out.write_all(bytes)?,
            Target::Memory(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                reserve(&mut file, bytes.len(), "the file").map_err(out_of_memory)?;
                file.extend_from_slice(bytes);
            }
            Target::Published { .. } => return Err(io::Error::other("it is complete")),
            Target::Writer(writer) => writer.0.write_all(bytes)?,
            Target::Discard => {}
        }
        self.length += bytes.len() as u64;
        if let Some(state) = &mut self.fingerprinter {
            state.update(bytes);
        }
        Ok(())
    }
}

/// Reads the first `length` bytes of a file.
fn read_back(file: &mut dyn DiskFile, length: u64, state: &mut Fingerprinter) -> io::Result<()> {
    let mut buffer = filled(READ_BYTES, 0, READING).map_err(out_of_memory)?;
    while state.length() < length {
        let wanted = usize::try_from(length - state.length()).unwrap_or(READ_BYTES).min(READ_BYTES);
        match file.read_at(state.length(), &mut buffer[..wanted])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => state.update(&buffer[..count]),
        }
    }
    Ok(())
}

/// The error of an existing output under `--no-clobber`.
fn exists_already(path: &Path) -> InputError {
    InputError::new(Problem::Exists { path: path.to_owned() }).about(Parameter::Output)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Without memory for the buffer, bytes are passed on at once.
        if self.pending.len() + bytes.len() < BUFFER && self.pending.try_reserve(bytes.len()).is_ok() {
            self.pending.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let began = Instant::now();
        let written = self.flush_buffer().and_then(|()| self.append(bytes));
        self.spent += began.elapsed();
        written.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let began = Instant::now();
        let flushed = self.flush_buffer().and_then(|()| match &mut self.target {
            Target::InPlace(file) => file.flush(),
            Target::Stdout(out) => out.flush(),
            Target::Writer(writer) => writer.0.flush(),
            Target::Replace(_) | Target::Memory(_) | Target::Published { .. } | Target::Discard => Ok(()),
        });
        self.spent += began.elapsed();
        flushed
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // An unfinished output is removed, or resumed from its last sync: pending bytes are not written.
        if let Target::Replace(replace) = &mut self.target
            && !replace.kept
        {
            let _ = replace.remove();
            self.partial_files.forget(&replace.partial);
        }
    }
}
