//! A log: a file to which lines are appended, so that a process that is killed leaves every line but the one under way.

use super::disk::{Disk, DiskFile};
use super::names::end_of_links;
use super::system_disk::SystemDisk;
use crate::base::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// A file of lines, open for appending by this process alone where the file system has locks.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: Box<dyn DiskFile>,
}

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

impl Log {
    /// Opens a log, or creates it. What follows its last complete line is removed: a line that an earlier process was writing
    /// when it was killed.
    ///
    /// # Errors
    /// [`Error::Write`]: also when another process writes to it, or when it is no regular file of this user.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::opened(path).map_err(|source| Error::Write { path: path.to_owned(), source })
    }

    fn opened(path: &Path) -> io::Result<Self> {
        let place = end_of_links(path)?;
        let mut file = match SystemDisk.create(&place, &place) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                let opened = SystemDisk.open(&place).map_err(|e| match e.kind() {
                    io::ErrorKind::WouldBlock => io::Error::other("another process writes to it"),
                    _ => e,
                })?;
                opened.ok_or_else(|| io::Error::other("it is no regular file of this user with one name"))?
            }
            created => created?,
        };
        let end = end_of_lines(file.as_mut())?;
        file.truncate(end)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a line, which must not contain a line end.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn append(&mut self, line: &str) -> Result<(), Error> {
        let bytes = [line.as_bytes(), b"\n"].concat();
        self.file.append(&bytes).map_err(|source| self.error(source))
    }

    /// Makes the lines durable.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn sync(&mut self) -> Result<(), Error> {
        self.file.sync().map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }
}

/// The number of bytes up to the end of the last complete line.
fn end_of_lines(file: &mut dyn DiskFile) -> io::Result<u64> {
    let (mut end, mut offset, mut bytes) = (0, 0, vec![0; PIECE]);
    loop {
        let read = file.read_at(offset, &mut bytes)?;
        if read == 0 {
            return Ok(end);
        }
        if let Some(newline) = bytes[..read].iter().rposition(|byte| *byte == b'\n') {
            end = offset + newline as u64 + 1;
        }
        offset += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_line_is_removed_and_lines_are_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut log = Log::open(&path).unwrap();
        log.append("one").unwrap();
        let other = Log::open(&path).unwrap_err().to_string();
        assert!(other.contains("another process writes to it"), "{other}");
        drop(log);
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .map(|mut f| io::Write::write_all(&mut f, b"tw"))
            .unwrap()
            .unwrap();
        let mut log = Log::open(&path).unwrap();
        log.append("three").unwrap();
        log.sync().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nthree\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_a_second_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        drop(Log::open(&other).unwrap());
        std::fs::hard_link(&other, &path).unwrap();
        assert!(Log::open(&path).is_err());
    }
}
