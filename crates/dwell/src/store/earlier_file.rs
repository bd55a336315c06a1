//! The partial file that an earlier run left.

use super::disk::{Disk, DiskFile};
use super::fingerprint::Fingerprinter;
use super::names::is_partial;
use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::limits::filled;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are read at once. The time of reading them bounds the delay of a cancellation.
pub(super) const READ_BYTES: usize = 1 << 20;

/// The name of their buffer, for messages.
pub(super) const READING: &str = "reading a file back";

/// The partial file that an earlier run left, locked where the file system has locks.
#[derive(Debug)]
pub(crate) struct EarlierFile {
    disk: Arc<dyn Disk>,
    pub(super) file: Box<dyn DiskFile>,
    pub(super) path: PathBuf,
}

impl EarlierFile {
    /// Opens the partial file at `path`. `None` if there is none that is an own file.
    ///
    /// # Errors
    /// [`Error::Write`] when another process is writing it, or it cannot be opened.
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &Path) -> Result<Option<Self>, Error> {
        if !is_partial(path) {
            return Ok(None);
        }
        let opened = disk.open(path).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => {
                let source = io::Error::other("another process is writing it");
                Error::Write { path: path.to_owned(), source }
            }
            _ => Error::Write { path: path.to_owned(), source },
        })?;
        Ok(opened.map(|file| Self { disk: Arc::clone(disk), file, path: path.to_owned() }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads on until `state` has `length` bytes, or the file ends, and passes the bytes to `each`.
    pub(crate) fn read_to(
        &mut self,
        state: &mut Fingerprinter,
        length: u64,
        cancel: &Cancel,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), Error> {
        let mut buffer = filled(READ_BYTES, 0, READING)?;
        while state.length() < length {
            cancel.check()?;
            let wanted = usize::try_from(length - state.length()).unwrap_or(READ_BYTES).min(READ_BYTES);
            let read = self.file.read_at(state.length(), &mut buffer[..wanted]).map_err(|e| self.error(e))?;
            if read == 0 {
                break;
            }
            each(&buffer[..read]).map_err(|e| self.error(e))?;
            state.update(&buffer[..read]);
        }
        Ok(())
    }

    /// Removes the file.
    pub(crate) fn remove(self) -> Result<(), Error> {
        self.disk.remove(&self.path, self.file.id()).map_err(|e| self.error(e))
    }

    pub(super) fn error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}
