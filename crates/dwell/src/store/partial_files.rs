//! The partial files of a process.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The partial files of unfinished outputs. A program that exits without dropping its outputs removes them with
/// [`PartialFiles::remove`]. Otherwise dropping the output removes its partial file, unless a journal needs the file to
/// resume the render. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct PartialFiles(Arc<Mutex<Vec<PathBuf>>>);

impl PartialFiles {
    /// Removes the files. Errors are ignored.
    pub fn remove(&self) {
        for path in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }

    pub(crate) fn add(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    pub(crate) fn forget(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|p| p != path);
    }

    /// Whether there are none.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}
