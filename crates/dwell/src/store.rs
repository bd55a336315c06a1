//! Files that appear whole or not at all.
//!
//! A regular file is written beside its place, under its name and `.dwell-partial`, synced, and renamed over the old one;
//! then the folder is synced, so that the new name survives a power loss too. A run that was killed leaves that file, and
//! the next one to write the same output takes it over. An output that exists and is no regular file (a device, a FIFO)
//! and standard output are written in place: there is nothing to rename.

mod disk;
#[cfg(test)]
pub(crate) mod faulty;
mod names;
mod output;

pub(crate) use disk::Disk;
pub(crate) use names::beside;
pub use names::{identity, is_stdout};
pub use output::Output;

use crate::base::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What follows the name of a file while it is written.
pub(crate) const PARTIAL: &str = ".dwell-partial";

/// What follows the name of the first output of a render in that of its journal.
pub(crate) const JOURNAL: &str = ".dwell-journal";

/// The unfinished files of outputs under way. A program that must leave at once removes them by [`Leftovers::remove`];
/// in every other case they are gone when their output is dropped, or stay because a journal tells how to go on.
#[derive(Clone, Debug, Default)]
pub struct Leftovers(Arc<Mutex<Vec<PathBuf>>>);

impl Leftovers {
    /// Removes what is left.
    pub fn remove(&self) {
        for path in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn note(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    fn forget(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|p| p != path);
    }
}

/// The journal of a render into `path`, if there is one: the same render goes on from it.
#[must_use]
pub fn journal_of(path: &Path) -> Option<PathBuf> {
    let place = names::end_of_links(path).ok()?;
    beside(&place, JOURNAL).ok().filter(|journal| journal.is_file())
}

/// Writes a small text whole or not at all.
///
/// # Errors
/// As [`Output::create`] and [`Output::commit`].
pub fn write_text(path: &Path, text: &str, leftovers: &Leftovers) -> Result<(), Error> {
    let mut output = Output::create(path, false, leftovers)?;
    output.write_all(text.as_bytes()).map_err(|e| output.error(e))?;
    output.commit().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn appears_when_committed_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let leftovers = Leftovers::default();
        let mut output = Output::create(&path, false, &leftovers).unwrap();
        output.write_all(b"new").unwrap();
        assert!(!path.exists());
        output.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let mut output = Output::create(&path, false, &leftovers).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!((std::fs::read(&path).unwrap().as_slice(), names(folder.path()).len()), (b"new".as_slice(), 1));
        let mut output = Output::create(&path, false, &leftovers).unwrap();
        output.write_all(b"half").unwrap();
        leftovers.remove();
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn no_clobber_keeps_what_is_there_and_what_comes_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let leftovers = Leftovers::default();
        let mut output = Output::create(&path, true, &leftovers).unwrap();
        // Meanwhile by somebody else: another of ours would be told that this one is writing it.
        assert_eq!(Output::create(&path, true, &leftovers).unwrap_err().exit_code(), 4);
        #[allow(clippy::disallowed_methods, reason = "a file of somebody else's")]
        std::fs::write(&path, "first").unwrap();
        output.write_all(b"second").unwrap();
        assert_eq!(output.commit().unwrap_err().exit_code(), 2);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(Output::create(&path, true, &leftovers).unwrap_err().exit_code(), 2);
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    #[cfg(unix)]
    fn follows_links_and_keeps_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_text(&file, "old", &Leftovers::default()).unwrap();
        assert_ne!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o044,
            0,
            "readable by others, as any new file"
        );
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_text(&link, "new", &Leftovers::default()).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    #[cfg(unix)]
    fn links_to_what_does_not_exist_yet_are_followed_and_circles_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("later", &link).unwrap();
        write_text(&link, "new", &Leftovers::default()).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("later")).unwrap(), b"new");
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::os::unix::fs::symlink(&b, &a).unwrap();
        std::os::unix::fs::symlink(&a, &b).unwrap();
        assert_eq!(Output::create(&a, false, &Leftovers::default()).unwrap_err().exit_code(), 4);
        assert_eq!(identity(&link), identity(&folder.path().join("./later")));
        assert_ne!(identity(&link), identity(&a));
        assert_eq!(identity(Path::new("/dev/stdout")), identity(Path::new("-")));
    }

    #[test]
    fn directories_and_missing_folders_are_write_errors() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("none/a.png")] {
            assert_eq!(Output::create(&path, false, &Leftovers::default()).unwrap_err().exit_code(), 4);
        }
    }
}
