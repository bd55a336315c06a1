//! What all requests share.

use crate::admission::Admission;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::jobs::Jobs;
use crate::peaks::Peaks;
use crate::reports::Reports;
use crate::scene_json::SceneJson;
use dwell::{Engine, KeepReferences, Limits, Size};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Pages that are connected at the same time.
const MOST_PAGES: usize = 64;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) engine: Arc<dyn Engine>,
    /// The memory that a single computation may take.
    pub(crate) limits: Limits,
    pub(crate) admission: Admission,
    /// The scene that a page without another one begins with.
    pub(crate) start: SceneJson,
    pub(crate) folder: Option<Folder>,
    pub(crate) jobs: Jobs,
    /// Those of the laboratory, if it has recorded runs here.
    pub(crate) reports: Option<Arc<dyn Reports>>,
    pub(crate) peaks: Peaks,
    /// Whether pages offer what tests need.
    pub(crate) is_test: bool,
    /// Views that follow one another share what they can.
    _references: KeepReferences,
    pages: Arc<AtomicUsize>,
    /// Thumbnails of built-in locations, by name.
    thumbnails: Mutex<HashMap<String, Arc<Vec<u8>>>>,
}

/// A connected page, counted as long as it is.
pub(crate) struct Page(Arc<AtomicUsize>);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        limits: Limits,
        start: SceneJson,
        folder: Option<Folder>,
        jobs: Jobs,
        reports: Option<Arc<dyn Reports>>,
        is_test: bool,
    ) -> Self {
        let (admission, pages, thumbnails) = (Admission::default(), Arc::default(), Mutex::default());
        let (peaks, _references) = (Peaks::default(), KeepReferences::default());
        Self { engine, limits, admission, start, folder, jobs, reports, peaks, is_test, _references, pages, thumbnails }
    }

    /// Counts one more page.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn connect(&self) -> Result<Page, Failure> {
        let page = Page(self.pages.clone());
        if self.pages.fetch_add(1, Ordering::Relaxed) >= MOST_PAGES { Err(Failure::busy()) } else { Ok(page) }
    }

    pub(crate) fn thumbnail(&self, name: &str) -> Option<Arc<Vec<u8>>> {
        self.thumbnails.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Keeps the thumbnail of a built-in location, of which there are few.
    pub(crate) fn keep_thumbnail(&self, name: &str, png: Arc<Vec<u8>>) {
        self.thumbnails.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), png);
    }
}

/// The size of views where none is given.
pub(crate) fn usual_size() -> Size {
    Size { width: 1280, height: 720 }
}
