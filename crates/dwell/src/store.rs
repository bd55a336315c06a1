//! Output files, written atomically.
//!
//! A regular file is written to a partial file in the same folder, synced, and renamed to its final name; then the folder is
//! synced, so that the new name survives a power loss too. The name of the partial file is that of the output followed by
//! 128 random bits in hex and `.dwell-partial`, so that no other process writes to it, by accident or on purpose. A file
//! that an earlier run left is opened only if it is regular, has one name and the owner of this process's files.
//!
//! Standard output and an existing output that is not a regular file (a device, a FIFO, an open descriptor) are written in
//! place, since they cannot be replaced by a rename.
//!
//! A replaced file gives its successor its permission bits (not set-user-ID, set-group-ID and sticky), and its owner and
//! group where the process may set them; where it may not set the group, the permissions of the group are those of others.
//! Of several hard links to a replaced file, the others keep the old contents. Where an output is a symbolic link, its
//! target is replaced.

mod disk;
mod earlier_file;
#[cfg(test)]
pub(crate) mod faulty;
mod fingerprint;
mod log;
mod names;
mod output;
mod partial_files;
mod system_disk;

pub(crate) use disk::{Disk, DiskFile, FileId, Replaced};
pub(crate) use earlier_file::EarlierFile;
pub(crate) use fingerprint::{Fingerprint, Fingerprinter};
pub use log::Log;
pub(crate) use names::beside;
pub use names::{identity, is_stdout};
pub use output::{MemoryFile, Output};
pub use partial_files::PartialFiles;

use crate::base::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use system_disk::SystemDisk;

/// The ending that is added to the name of a render's first output for its journal.
pub(crate) const JOURNAL: &str = ".dwell-journal";
/// The first bytes of a journal that keeps work, of any version.
pub(crate) const JOURNAL_START: &[u8] = b"dwell journal ";

/// The journal of a render into `path`, if there is one that keeps finished work: the same render resumes from it.
#[must_use]
pub fn journal_of(path: &Path) -> Option<PathBuf> {
    let place = names::end_of_links(path).ok()?;
    let journal = beside(&place, JOURNAL).ok()?;
    let (_, start) = SystemDisk.read(&journal, JOURNAL_START.len() as u64).ok()??;
    (start == JOURNAL_START).then_some(journal)
}

/// The bytes that this process may still write in the file system of `path`, which need not exist; `None` where the system
/// does not tell.
#[must_use]
pub fn free_bytes(path: &Path) -> Option<u64> {
    let place = names::end_of_links(path).ok()?;
    let folder =
        place.ancestors().skip(1).map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    folder.filter(|folder| folder.is_dir()).find_map(system_disk::free_bytes)
}

/// Writes `text` to a file atomically: after an error the file has its former contents.
///
/// # Errors
/// As [`Output::create`] and [`Output::commit`].
pub fn write_text(path: &Path, text: &str, partial_files: &PartialFiles) -> Result<(), Error> {
    let mut output = Output::create(path, false, partial_files)?;
    output.write_all(text.as_bytes()).map_err(|e| output.error(e))?;
    output.commit().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn free_bytes_are_those_of_the_nearest_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(&folder.path().join("a/b/c.png")).is_some_and(|free| free > 0));
        assert!(free_bytes(Path::new("a.png")).is_some());
    }

    #[test]
    fn files_in_missing_folders_have_an_identity() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert_eq!(identity(&path("a/b/c.png")), identity(&path("./a/b/c.png")));
        assert_ne!(identity(&path("a/b/c.png")), identity(&path("a/c.png")));
        assert_eq!(identity(&path("a/../c.png")), None, "the folder a does not exist");
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_it_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let partial_files = PartialFiles::default();
        let mut output = Output::create(&path, false, &partial_files).unwrap();
        output.write_all(b"new").unwrap();
        assert!(!path.exists());
        output.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let mut output = Output::create(&path, false, &partial_files).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!((std::fs::read(&path).unwrap().as_slice(), names(folder.path()).len()), (b"new".as_slice(), 1));
        let mut output = Output::create(&path, false, &partial_files).unwrap();
        output.write_all(b"half").unwrap();
        partial_files.remove();
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn no_clobber_keeps_a_file_that_exists_or_is_created_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let partial_files = PartialFiles::default();
        let mut output = Output::create(&path, true, &partial_files).unwrap();
        output.refuse_existing().unwrap();
        // The file is created by another program.
        #[expect(clippy::disallowed_methods, reason = "a file of another program")]
        std::fs::write(&path, "first").unwrap();
        output.write_all(b"second").unwrap();
        assert!(matches!(output.commit(), Err(Error::Input(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        let again = Output::create(&path, true, &partial_files).unwrap();
        assert!(matches!(again.refuse_existing(), Err(Error::Input(_))));
        drop(again);
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    #[cfg(unix)]
    fn follows_links_and_keeps_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_text(&file, "old", &PartialFiles::default()).unwrap();
        assert_ne!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o044,
            0,
            "a new file is readable by others"
        );
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_text(&link, "new", &PartialFiles::default()).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    #[cfg(unix)]
    fn links_to_missing_files_are_followed_and_cycles_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("later", &link).unwrap();
        write_text(&link, "new", &PartialFiles::default()).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("later")).unwrap(), b"new");
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::os::unix::fs::symlink(&b, &a).unwrap();
        std::os::unix::fs::symlink(&a, &b).unwrap();
        assert!(matches!(Output::create(&a, false, &PartialFiles::default()), Err(Error::Write { .. })));
        assert_eq!(identity(&link), identity(&folder.path().join("./later")));
        assert_ne!(identity(&link), identity(&a));
        assert_eq!(identity(Path::new("/dev/stdout")), identity(Path::new("-")));
    }

    #[test]
    fn directories_and_missing_folders_are_write_errors() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("none/a.png")] {
            assert!(matches!(write_text(&path, "new", &PartialFiles::default()), Err(Error::Write { .. })));
        }
    }
}
