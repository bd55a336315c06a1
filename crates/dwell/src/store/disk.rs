//! Storage of files: the file system or, in tests, a disk that fails or loses power.

use std::fmt::Debug;
use std::io;
use std::path::Path;

/// Storage of files. Only synced data survive a power loss: bytes after [`DiskFile::sync`], names after
/// [`Disk::sync_folder`].
///
/// A file is *own* if it is a regular file with one name, of the owner that new files get. Only own files are opened,
/// replaced or removed under names that this program chooses; links are not followed.
pub(crate) trait Disk: Debug + Send + Sync {
    /// Creates a file and opens it for writing, under an exclusive lock where the file system has locks. The file is not
    /// readable by more users than the file `model`, if that exists.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when anything has this name.
    fn create(&self, path: &Path, model: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens an own file for reading and writing, under an exclusive lock where the file system has locks. `None` if
    /// nothing has this name, or something that is no own file.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when another process holds the lock.
    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>>;
    /// Reads at most `most` bytes from the start of an own file. `None` if nothing has this name.
    ///
    /// # Errors
    /// When something has this name that is no own file.
    fn read(&self, path: &Path, most: u64) -> io::Result<Option<(FileId, Vec<u8>)>>;
    /// Opens a published file for reading; `None` if no regular file has this name.
    fn open_published(&self, path: &Path) -> io::Result<Option<Box<dyn io::Read>>>;
    /// Renames a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when something has the name `to` that is not to be replaced.
    fn rename(&self, from: &Path, to: &Path, replaced: Replaced) -> io::Result<()>;
    /// Removes the file `id` if it still has this name; anything else of this name is left alone.
    fn remove(&self, path: &Path, id: FileId) -> io::Result<()>;
    /// Makes the names in the folder of `path` durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// A file open for writing.
pub(crate) trait DiskFile: Debug + Send {
    /// The identity of the file, whatever its name.
    fn id(&self) -> FileId;
    /// Whether the file is locked, so that no other process writes to it. False where the file system has no locks.
    fn is_locked(&self) -> bool;
    /// Reads bytes from `offset` on; 0 at the end. Writing goes on at the end.
    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;
    /// Truncates the file to `length` bytes, at most its present length, and continues writing there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Writes `bytes` at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes the written bytes durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Gives the file the permissions, and where the process may the owner and group, of the regular file at `path` that
    /// it is about to replace; does nothing if there is none.
    ///
    /// # Errors
    /// When something else has this name, which a rename would replace.
    fn take_permissions(&self, path: &Path) -> io::Result<()>;
}

/// The identity of a file: device and inode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileId(pub(super) u64, pub(super) u64);

/// What a rename may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// Nothing: the new name must be free.
    Nothing,
    /// Any file.
    File,
    /// This file only.
    Only(FileId),
}
