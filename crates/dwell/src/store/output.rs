//! An output: a file that appears whole or not at all, or a stream.

use super::disk::{Disk, DiskFile, SystemDisk};
use super::names::{beside, end_of_links, is_stdout, names_a_descriptor};
use super::{Leftovers, PARTIAL};
use crate::base::error::{Error, InputError, quote};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file being written.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
    /// Bytes gathered before the system is asked to write.
    pending: Vec<u8>,
    spent: Duration,
    leftovers: Leftovers,
}

#[derive(Debug)]
enum Target {
    /// Written beside its place, then renamed.
    Replace(Replace),
    /// Written where it is.
    InPlace(File),
    Stdout(io::Stdout),
    /// Nowhere: for runs that are only timed.
    Nowhere,
}

#[derive(Debug)]
struct Replace {
    disk: Arc<dyn Disk>,
    file: Box<dyn DiskFile>,
    /// Where it is written.
    partial: PathBuf,
    /// Where it will be.
    place: PathBuf,
    no_clobber: bool,
    /// Whether what an earlier run has left in the file is still there.
    stale: bool,
    /// Whether it stays if it is not completed.
    kept: bool,
}

/// Bytes gathered before the system is asked to write.
const BUFFER: usize = 1 << 20;

impl Output {
    /// Opens an output at `path`, `-` being standard output. With `no_clobber`, one that exists is an error now, and
    /// again if it has come to exist by the time this one is complete.
    ///
    /// # Errors
    /// [`Error::Input`] when it exists and `no_clobber` is set; [`Error::Write`] when it cannot be written there, or
    /// another process is writing it.
    pub fn create(path: &Path, no_clobber: bool, leftovers: &Leftovers) -> Result<Self, Error> {
        if is_stdout(path) {
            return Ok(Self::on(path, Target::Stdout(io::stdout()), leftovers));
        }
        let fail = |source: io::Error| Error::Write { path: path.to_owned(), source };
        let place = end_of_links(path).map_err(fail)?;
        match std::fs::metadata(&place) {
            Ok(metadata) if metadata.is_dir() => Err(fail(io::Error::other("it is a directory"))),
            Ok(_) if no_clobber => Err(exists_already(path).into()),
            Ok(metadata) if !metadata.is_file() || names_a_descriptor(path) => {
                // Appending is where a shell's `>>` would have it, and nothing else for what has no place in it.
                let file = File::options().append(true).open(path).map_err(fail)?;
                Ok(Self::on(path, Target::InPlace(file), leftovers))
            }
            _ => Self::beside(Arc::new(SystemDisk), path, &place, no_clobber, leftovers),
        }
    }

    /// A file of a disk.
    pub(crate) fn beside(
        disk: Arc<dyn Disk>,
        path: &Path,
        place: &Path,
        no_clobber: bool,
        leftovers: &Leftovers,
    ) -> Result<Self, Error> {
        let fail = |path: &Path, source: io::Error| Error::Write { path: path.to_owned(), source };
        let partial = beside(place, PARTIAL).map_err(|e| fail(path, e))?;
        let file = disk.open(&partial).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => fail(path, io::Error::other("another process is writing it")),
            // What is in the way is not the output itself.
            io::ErrorKind::IsADirectory => fail(&partial, source),
            _ => fail(path, source),
        })?;
        leftovers.note(&partial);
        let place = place.to_owned();
        let replace = Replace { disk, file, partial, place, no_clobber, stale: true, kept: false };
        Ok(Self::on(path, Target::Replace(replace), leftovers))
    }

    fn on(path: &Path, target: Target, leftovers: &Leftovers) -> Self {
        let leftovers = leftovers.clone();
        Self { path: path.to_owned(), target, pending: Vec::new(), spent: Duration::ZERO, leftovers }
    }

    /// An output that is read by nobody.
    #[must_use]
    pub fn nowhere() -> Self {
        Self::on(Path::new(""), Target::Nowhere, &Leftovers::default())
    }

    /// Where it will be, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What an error in writing this output is reported as.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }

    /// Wall time spent in handing bytes to the system so far.
    #[must_use]
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// Where the file will be and on which disk, if it is one whose parts can outlive this process.
    pub(crate) fn place(&self) -> Option<(&Path, &Arc<dyn Disk>)> {
        match &self.target {
            Target::Replace(replace) => Some((&replace.place, &replace.disk)),
            _ => None,
        }
    }

    /// Goes on behind the first `length` bytes of what an earlier run has left. False if there are fewer.
    pub(crate) fn go_on_at(&mut self, length: u64) -> Result<bool, Error> {
        let Target::Replace(replace) = &mut self.target else { return Ok(length == 0) };
        let went_on = replace.file.length().and_then(|there| {
            if there < length {
                return Ok(false);
            }
            replace.stale = false;
            replace.file.truncate(length).map(|()| true)
        });
        went_on.map_err(|e| self.error(e))
    }

    /// Whether nothing was ever written to it, by an earlier run either.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.target {
            Target::Replace(replace) => replace.file.length().is_ok_and(|length| length == 0),
            _ => true,
        }
    }

    /// Whether there is a file of its name.
    pub(crate) fn is_published(&self) -> Result<bool, Error> {
        match &self.target {
            Target::Replace(replace) => {
                replace.disk.read(&replace.place, 0).map(|found| found.is_some()).map_err(|e| self.error(e))
            }
            _ => Ok(true),
        }
    }

    /// From now on the parts stay where they are when this output is dropped before it is complete.
    pub(crate) fn keep(&mut self) {
        if let Target::Replace(replace) = &mut self.target {
            replace.kept = true;
            self.leftovers.forget(&replace.partial);
        }
    }

    /// The opposite of [`Self::keep`].
    pub(crate) fn abandon(&mut self) {
        if let Target::Replace(replace) = &mut self.target {
            replace.kept = false;
            self.leftovers.note(&replace.partial);
        }
    }

    /// Makes what was written so far durable. Returns the length of the file, if it is one.
    pub(crate) fn secure(&mut self) -> Result<u64, Error> {
        let began = Instant::now();
        let secured = self.hand_on().and_then(|()| match &mut self.target {
            Target::Replace(replace) => {
                replace.file.sync()?;
                replace.disk.sync_folder(&replace.partial)?;
                replace.file.length()
            }
            Target::InPlace(file) => file.flush().map(|()| 0),
            Target::Stdout(out) => out.flush().map(|()| 0),
            Target::Nowhere => Ok(0),
        });
        self.spent += began.elapsed();
        secured.map_err(|e| self.error(e))
    }

    /// Gives a file that is complete and secured its name.
    pub(crate) fn publish(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let target = std::mem::replace(&mut self.target, Target::Nowhere);
        let Target::Replace(Replace { disk, file, partial, place, no_clobber, kept, .. }) = target else {
            return Ok(());
        };
        let renamed = disk.rename(&partial, &place, !no_clobber).and_then(|()| disk.sync_folder(&place));
        if renamed.is_err() && !kept {
            let _ = disk.remove(&partial);
        }
        drop(file);
        self.leftovers.forget(&partial);
        self.spent += began.elapsed();
        renamed.map_err(|source| {
            // It has come to exist since this output was opened.
            if no_clobber && source.kind() == io::ErrorKind::AlreadyExists {
                return Error::Input(exists_already(&self.path));
            }
            self.error(source)
        })
    }

    /// Completes the file: from now on it is there, whole. Returns the time spent in writing, this included.
    ///
    /// # Errors
    /// [`Error::Write`]; what was there before is untouched then.
    pub fn commit(mut self) -> Result<Duration, Error> {
        self.secure()?;
        self.publish()?;
        Ok(self.spent)
    }

    /// Hands what is pending to the system.
    fn hand_on(&mut self) -> io::Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let handed = self.append(&pending);
        pending.clear();
        self.pending = pending;
        handed
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
            Target::Nowhere => Ok(()),
        }
    }
}

/// What is refused under `--no-clobber`.
fn exists_already(path: &Path) -> InputError {
    InputError::new("--no-clobber", format!("{} exists already", quote(&path.to_string_lossy())))
        .hint("leave --no-clobber out to replace it")
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.len() + bytes.len() < BUFFER {
            self.pending.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let began = Instant::now();
        let written = self.hand_on().and_then(|()| self.append(bytes));
        self.spent += began.elapsed();
        written.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let began = Instant::now();
        let flushed = self.hand_on().and_then(|()| match &mut self.target {
            Target::InPlace(file) => file.flush(),
            Target::Stdout(out) => out.flush(),
            Target::Replace(_) | Target::Nowhere => Ok(()),
        });
        self.spent += began.elapsed();
        flushed
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // What is pending is not worth writing.
        if let Target::Replace(replace) = &mut self.target
            && !replace.kept
        {
            let _ = replace.disk.remove(&replace.partial);
            self.leftovers.forget(&replace.partial);
        }
    }
}
