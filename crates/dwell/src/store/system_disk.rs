//! The file system of the operating system.

use super::disk::{Disk, DiskFile, FileId, Replaced};
use super::names::unguessable;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes that are written before they are synced: as many as take [`SYNC_TIME`] at the speed of the last sync, within these
/// bounds. A sync cannot be interrupted, so that this bounds the time from a signal to the end of the program. A fixed 32 MiB
/// cost 3 % of a render that writes 600 MB/s, and these bounds 1 %.
const UNSYNCED_BYTES: RangeInclusive<u64> = 32 << 20..=1 << 30;
/// Bytes that are written before the first sync.
const FIRST_UNSYNCED_BYTES: u64 = 256 << 20;
/// The time that a sync should take.
const SYNC_TIME: Duration = Duration::from_millis(80);

/// The file system of the operating system.
#[derive(Debug)]
pub(crate) struct SystemDisk;

impl Disk for SystemDisk {
    #[cfg_attr(not(unix), expect(unused_variables, reason = "permissions are set when a file is created on unix only"))]
    fn create(&self, path: &Path, model: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut options = options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if let Some(model) = model.symlink_metadata().ok().filter(Metadata::is_file) {
            use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
            // The final permissions are set before the file is published; until then it is also written.
            options.mode(model.mode() & 0o777 | 0o600);
        }
        Ok(Box::new(SystemFile::lock(options.open(path)?)?))
    }

    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        let file = match options().read(true).write(true).open(path) {
            Ok(file) => file,
            // A link is an error of its own kind on every system.
            Err(e) if e.kind() == io::ErrorKind::NotFound || !is_regular(path) => return Ok(None),
            Err(e) => return Err(e),
        };
        if why_not_own(&file.metadata()?, path).is_some() {
            return Ok(None);
        }
        let file = SystemFile::lock(file)?;
        // The process that held the lock may have renamed or removed the file before this one took the lock.
        Ok(if still_named(file.id, path) { Some(Box::new(file)) } else { None })
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Option<(FileId, Vec<u8>)>> {
        match path.symlink_metadata() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => not_own(&metadata?, path)?,
        }
        let file = options().read(true).open(path)?;
        let metadata = file.metadata()?;
        not_own(&metadata, path)?;
        let length = metadata.len().min(most);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(length).map_err(io::Error::other)?)?;
        file.take(length).read_to_end(&mut bytes)?;
        Ok(Some((id_of(&metadata), bytes)))
    }

    fn open_published(&self, path: &Path) -> io::Result<Option<Box<dyn Read>>> {
        if !is_regular(path) {
            return Ok(None);
        }
        let file = options().read(true).open(path)?;
        Ok(if file.metadata()?.is_file() { Some(Box::new(file)) } else { None })
    }

    fn rename(&self, from: &Path, to: &Path, replaced: Replaced) -> io::Result<()> {
        match replaced {
            Replaced::Nothing => rename_without_replacing(from, to),
            Replaced::Only(id) if !still_named(id, to) => Err(io::ErrorKind::AlreadyExists.into()),
            Replaced::File | Replaced::Only(_) => std::fs::rename(from, to),
        }
    }

    fn remove(&self, path: &Path, id: FileId) -> io::Result<()> {
        if !still_named(id, path) {
            return Ok(());
        }
        match std::fs::remove_file(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = match File::open(folder) {
            // A folder that may be written and not be read cannot be opened, and so not be synced.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            folder => folder?,
        };
        match folder.sync_all() {
            // Some file systems cannot sync folders, and say so.
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            synced => synced,
        }
    }

    /// Other systems do not open folders.
    #[cfg(not(unix))]
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Options that open the named file itself, whatever it is, without waiting: a link is an error, and a FIFO is opened
/// without waiting for its other end.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

/// The bytes that this process may still write in the file system of a folder; `None` where the system does not tell.
#[cfg(unix)]
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let of = rustix::fs::statvfs(folder).ok()?;
    // Some file systems, such as those over a network, report none of their blocks.
    of.f_bavail.checked_mul(of.f_frsize).filter(|_| of.f_blocks > 0)
}

#[cfg(not(unix))]
pub(super) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Renames a file to a name that must be free.
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system can do this in one step.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            renamed => return Ok(renamed?),
        }
    }
    // A hard link fails atomically if `to` exists. Where hard links are not supported, the check and the rename are two
    // steps.
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists || to.symlink_metadata().is_ok() => {
            Err(io::ErrorKind::AlreadyExists.into())
        }
        Err(_) => std::fs::rename(from, to),
    }
}

/// Whether `path` is a name of the file `id`; links are not followed.
fn still_named(id: FileId, path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && id_of(&metadata) == id)
}

/// The error for a file that is not own.
fn not_own(metadata: &Metadata, path: &Path) -> io::Result<()> {
    why_not_own(metadata, path).map_or(Ok(()), |why| Err(io::Error::other(why)))
}

/// Why a file is not own; `None` if it is.
fn why_not_own(metadata: &Metadata, path: &Path) -> Option<String> {
    if metadata.is_symlink() {
        return Some("it is a symbolic link, which is not followed".to_owned());
    }
    if !metadata.is_file() {
        return Some("it is not a regular file".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if metadata.nlink() > 1 {
            return Some(format!("it has {} names (hard links)", metadata.nlink()));
        }
        if metadata.nlink() == 0 {
            return Some("it was removed".to_owned());
        }
    }
    (!has_own_owner(metadata, path)).then(|| "it belongs to another user".to_owned())
}

/// Whether a file has the owner that new files in its folder get: the user of this process, except on file systems that give
/// all files one owner.
#[cfg(unix)]
fn has_own_owner(metadata: &Metadata, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_that_of_a_new_file = || {
        let random = unguessable().ok()?;
        let path = path.with_file_name(format!(".{random}.dwell-owner"));
        let new = options().write(true).create_new(true).open(&path).ok()?;
        let removed = std::fs::remove_file(&path);
        let owner = new.metadata().ok()?.uid();
        removed.ok().map(|()| owner == metadata.uid())
    };
    metadata.uid() == rustix::process::geteuid().as_raw() || is_that_of_a_new_file().unwrap_or(false)
}

#[cfg(not(unix))]
fn has_own_owner(_: &Metadata, _: &Path) -> bool {
    true
}

#[cfg(unix)]
fn id_of(metadata: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    FileId(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn id_of(_: &Metadata) -> FileId {
    FileId::default()
}

#[derive(Debug)]
struct SystemFile {
    file: File,
    id: FileId,
    locked: bool,
    /// Bytes written since the last sync.
    unsynced: u64,
    /// So many unsynced bytes are synced.
    most_unsynced: u64,
}

impl SystemFile {
    fn lock(file: File) -> io::Result<Self> {
        let locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => false,
        };
        let metadata = file.metadata()?;
        Ok(Self { file, id: id_of(&metadata), locked, unsynced: 0, most_unsynced: FIRST_UNSYNCED_BYTES })
    }
}

impl DiskFile for SystemFile {
    fn id(&self) -> FileId {
        self.id
    }

    fn is_locked(&self) -> bool {
        self.locked
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let end = self.file.stream_position()?;
        self.file.seek(SeekFrom::Start(offset))?;
        let read = self.file.read(bytes);
        self.file.seek(SeekFrom::Start(end))?;
        read
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(drop)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(*UNSYNCED_BYTES.start() as usize) {
            self.file.write_all(piece)?;
            self.unsynced += piece.len() as u64;
            if self.unsynced >= self.most_unsynced {
                let begun = Instant::now();
                self.file.sync_data()?;
                let fitting = self.unsynced as f64 * SYNC_TIME.as_secs_f64() / begun.elapsed().as_secs_f64().max(1e-6);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
                let fitting = fitting as u64;
                self.most_unsynced = fitting.clamp(*UNSYNCED_BYTES.start(), *UNSYNCED_BYTES.end());
                self.unsynced = 0;
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.unsynced = 0;
        self.file.sync_all()
    }

    fn take_permissions(&self, path: &Path) -> io::Result<()> {
        let old = match path.symlink_metadata() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            old => old?,
        };
        if !old.is_file() {
            return Err(io::Error::other("it is not a regular file any more"));
        }
        take_permissions(&self.file, &old)
    }
}

/// Gives a file the permission bits of another, and its owner and group where the process may.
#[cfg(unix)]
fn take_permissions(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    /// The permission bits of user, group and others; those of set-user-ID, set-group-ID and sticky are not taken.
    const BITS: u32 = 0o777;
    let new = file.metadata()?;
    let mut bits = old.mode() & BITS;
    if new.uid() != old.uid() {
        // Only a privileged process may do this.
        let _ = fchown(file, Some(old.uid()), None);
    }
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        // The permissions of the old group are not for another one, which has those of others instead.
        bits = bits & !0o070 | (bits & 0o007) << 3;
    }
    if new.mode() & BITS == bits { Ok(()) } else { file.set_permissions(PermissionsExt::from_mode(bits)) }
}

#[cfg(not(unix))]
fn take_permissions(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}
