//! An output: a file that is written atomically, or a stream.

use super::disk::{Disk, DiskFile, SystemDisk};
use super::names::{PARTIAL, beside, end_of_links, is_stdout, names_a_descriptor};
use super::partial_files::PartialFiles;
use crate::base::error::{Error, InputError};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::encode::error_of_writing;
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
    /// Discards all bytes: for benchmarks.
    Discard,
}

#[derive(Debug)]
struct Replace {
    disk: Arc<dyn Disk>,
    file: Box<dyn DiskFile>,
    /// The path of the partial file.
    partial: PathBuf,
    /// The final path.
    place: PathBuf,
    no_clobber: bool,
    /// Whether the partial file still has the contents of an earlier run.
    stale: bool,
    /// Whether the partial file stays if this output is dropped before it is complete.
    kept: bool,
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
    /// Opens an output at `path`; `-` is standard output. With `no_clobber`, an existing file is an error, both now and
    /// if it is created before this output is complete.
    ///
    /// # Errors
    /// [`Error::Input`] when the file exists and `no_clobber` is set; [`Error::Write`] when it cannot be written, or
    /// another process is writing it.
    pub fn create(path: &Path, no_clobber: bool, partial_files: &PartialFiles) -> Result<Self, Error> {
        if is_stdout(path) {
            return Ok(Self::on(path, Target::Stdout(io::stdout()), partial_files));
        }
        let fail = |source: io::Error| Error::Write { path: path.to_owned(), source };
        let place = end_of_links(path).map_err(fail)?;
        match std::fs::metadata(&place) {
            Ok(metadata) if metadata.is_dir() => Err(fail(io::Error::other("it is a directory"))),
            Ok(_) if no_clobber => Err(exists_already(path).into()),
            Ok(metadata) if !metadata.is_file() || names_a_descriptor(path) => {
                // Opened for appending: a file that the shell opened with `>>` continues at its end, and for devices
                // and FIFOs it makes no difference.
                let file = File::options().append(true).open(path).map_err(fail)?;
                Ok(Self::on(path, Target::InPlace(file), partial_files))
            }
            _ => Self::beside(Arc::new(SystemDisk), path, &place, no_clobber, partial_files),
        }
    }

    /// A regular file on `disk`: `path` as given, `place` after following links.
    pub(crate) fn beside(
        disk: Arc<dyn Disk>,
        path: &Path,
        place: &Path,
        no_clobber: bool,
        partial_files: &PartialFiles,
    ) -> Result<Self, Error> {
        let fail = |path: &Path, source: io::Error| Error::Write { path: path.to_owned(), source };
        let partial = beside(place, PARTIAL).map_err(|e| fail(path, e))?;
        let file = disk.open(&partial).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => fail(path, io::Error::other("another process is writing it")),
            // A directory has the name of the partial file, not of the output.
            io::ErrorKind::IsADirectory => fail(&partial, source),
            _ => fail(path, source),
        })?;
        partial_files.add(&partial);
        let place = place.to_owned();
        let replace = Replace { disk, file, partial, place, no_clobber, stale: true, kept: false };
        Ok(Self::on(path, Target::Replace(replace), partial_files))
    }

    fn on(path: &Path, target: Target, partial_files: &PartialFiles) -> Self {
        let partial_files = partial_files.clone();
        Self { path: path.to_owned(), target, pending: Vec::new(), spent: Duration::ZERO, partial_files }
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

    /// The final path and the disk, if the output is a regular file, whose partial file can outlive this process.
    pub(crate) fn place(&self) -> Option<(&Path, &Arc<dyn Disk>)> {
        match &self.target {
            Target::Replace(replace) => Some((&replace.place, &replace.disk)),
            _ => None,
        }
    }

    /// Keeps the first `length` bytes of the partial file of an earlier run and continues after them. False if it has
    /// fewer.
    pub(crate) fn resume_at(&mut self, length: u64) -> Result<bool, Error> {
        let Target::Replace(replace) = &mut self.target else { return Ok(length == 0) };
        let resumed = replace.file.length().and_then(|there| {
            if there < length {
                return Ok(false);
            }
            replace.stale = false;
            replace.file.truncate(length).map(|()| true)
        });
        resumed.map_err(|e| self.error(e))
    }

    /// Whether neither this run nor an earlier one has written bytes to it.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.target {
            Target::Replace(replace) => replace.file.length().is_ok_and(|length| length == 0),
            _ => true,
        }
    }

    /// Whether a file of the final name exists; true for an output that is no regular file.
    pub(crate) fn is_published(&self) -> Result<bool, Error> {
        match &self.target {
            Target::Replace(replace) => {
                replace.disk.read(&replace.place, 0).map(|found| found.is_some()).map_err(|e| self.error(e))
            }
            _ => Ok(true),
        }
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
            self.partial_files.add(&replace.partial);
        }
    }

    /// Makes the bytes written so far durable. Returns the length of a regular file, 0 for other outputs.
    pub(crate) fn sync(&mut self) -> Result<u64, Error> {
        let began = Instant::now();
        let synced = self.flush_buffer().and_then(|()| match &mut self.target {
            Target::Replace(replace) => {
                replace.file.sync()?;
                replace.disk.sync_folder(&replace.partial)?;
                replace.file.length()
            }
            Target::InPlace(file) => file.flush().map(|()| 0),
            Target::Stdout(out) => out.flush().map(|()| 0),
            Target::Memory(_) | Target::Discard => Ok(0),
        });
        self.spent += began.elapsed();
        synced.map_err(|e| self.error(e))
    }

    /// Renames a complete and synced file to its final name.
    pub(crate) fn publish(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let target = std::mem::replace(&mut self.target, Target::Discard);
        let Target::Replace(Replace { disk, file, partial, place, no_clobber, kept, .. }) = target else {
            return Ok(());
        };
        let renamed = disk.rename(&partial, &place, !no_clobber).and_then(|()| disk.sync_folder(&place));
        if renamed.is_err() && !kept {
            let _ = disk.remove(&partial);
        }
        drop(file);
        self.partial_files.forget(&partial);
        self.spent += began.elapsed();
        renamed.map_err(|source| {
            // The file was created after this output was opened.
            if no_clobber && source.kind() == io::ErrorKind::AlreadyExists {
                return Error::Input(exists_already(&self.path));
            }
            self.error(source)
        })
    }

    /// Syncs the file and renames it to its final name. Returns the wall time spent in writing, including this call.
    ///
    /// # Errors
    /// [`Error::Write`], or [`Error::Input`] when `no_clobber` was set and the file exists. An existing file keeps its
    /// contents then.
    pub fn commit(mut self) -> Result<Duration, Error> {
        self.sync()?;
        self.publish()?;
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
        match &mut self.target {
            Target::Replace(replace) => {
                if replace.stale {
                    replace.file.truncate(0)?;
                    replace.stale = false;
                }
                if bytes.is_empty() { Ok(()) } else { replace.file.append(bytes) }
            }
            Target::InPlace(file) => file.write_all(bytes),
            Target::Stdout(out) => out.write_all(bytes),
            Target::Memory(file) => {
                file.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
                Ok(())
            }
            Target::Discard => Ok(()),
        }
    }
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
            Target::Replace(_) | Target::Memory(_) | Target::Discard => Ok(()),
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
            let _ = replace.disk.remove(&replace.partial);
            self.partial_files.forget(&replace.partial);
        }
    }
}
