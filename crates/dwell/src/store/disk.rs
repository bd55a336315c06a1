//! Storage of files: the file system or, in tests, a disk that fails or loses power.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Storage of files. Only synced data survive a power loss: bytes after [`DiskFile::sync`], names after
/// [`Disk::sync_folder`].
pub(crate) trait Disk: Debug + Send + Sync {
    /// Opens a regular file for writing under an exclusive lock. It is created if it does not exist; its contents are
    /// kept.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when another process holds the lock.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Reads at most `most` bytes from the start of a file; `None` if the file does not exist.
    fn read(&self, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>>;
    /// Renames a file. With `replace`, an existing file `to` is replaced and its permissions are kept; without, an
    /// existing file `to` is an error.
    fn rename(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()>;
    /// Removes a file; a missing file is not an error.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in the folder of `path` durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// A file open for writing.
pub(crate) trait DiskFile: Debug + Send {
    /// The length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Truncates the file to `length` bytes, at most its present length, and continues writing there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Writes `bytes` at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes the written bytes durable.
    fn sync(&self) -> io::Result<()>;
}

/// The file system of the operating system.
#[derive(Debug)]
pub(crate) struct SystemDisk;

impl Disk for SystemDisk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        // The process that held the lock may have renamed or removed the file before this one took the lock. The path
        // then names another file, so it is opened again.
        for _ in 0..100 {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
                // Some file systems have no locks.
                Err(std::fs::TryLockError::Error(_)) => {}
            }
            if still_named(&file, path) {
                return Ok(Box::new(SystemFile(file)));
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match File::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn rename(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()> {
        if let Ok(old) = std::fs::metadata(to)
            && replace
        {
            std::fs::set_permissions(from, old.permissions())?;
        }
        if replace {
            return std::fs::rename(from, to);
        }
        // A hard link fails atomically if `to` exists. Where hard links are not supported, the check and the rename are
        // two steps.
        match std::fs::hard_link(from, to) {
            Ok(()) => std::fs::remove_file(from),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists || to.symlink_metadata().is_ok() => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            Err(_) => std::fs::rename(from, to),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Some systems cannot open or sync folders; errors are ignored there.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Whether `path` is still a name of `file`.
#[cfg(unix)]
fn still_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn still_named(_: &File, _: &Path) -> bool {
    true
}

#[derive(Debug)]
struct SystemFile(File);

impl DiskFile for SystemFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        self.0.seek(SeekFrom::Start(length)).map(drop)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}
