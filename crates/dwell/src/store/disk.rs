//! What files are kept on: the system's disks, or in tests one that fails or loses power.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A place for files. Only what was synced is there after a loss of power: bytes by [`DiskFile::sync`], names by
/// [`Disk::sync_folder`].
pub(crate) trait Disk: Debug + Send + Sync {
    /// Opens a regular file for writing, made if it is not there, without touching what is in it; nobody else has it
    /// open then.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when another process holds it.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// What is in a file, at most `most` bytes of it; `None` if there is none of that name.
    fn read(&self, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>>;
    /// Gives a file another name: in place of the file of that name, whose permissions it then has; or, without
    /// `replace`, only if there is none.
    fn rename(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()>;
    /// Removes a file, if it is there.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in the folder of `path` durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// A file open for writing.
pub(crate) trait DiskFile: Debug + Send {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Cuts it to a length that it has at least, and goes on there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Writes at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
}

/// The system's disks.
#[derive(Debug)]
pub(crate) struct SystemDisk;

impl Disk for SystemDisk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        // Whoever held the file may have given it another name, or removed it, while this waited for the lock: then the
        // name means another file now.
        for _ in 0..100 {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
                // There are file systems without locks.
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
            return Err(io::Error::other("it is no regular file"));
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
        // A link is made only where there is nothing yet; where the system has no links, a look must do.
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
        // A system that cannot open or sync folders has its own way.
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
