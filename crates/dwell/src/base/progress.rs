//! The progress of a render, readable from another thread while the render runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Progress of a render, measured as work rather than pixels: a row through the set takes a hundred times the time of a
/// row whose points all escape early, and an estimate that ignores the difference is wrong by the same factor.
#[derive(Debug, Default)]
pub struct Progress {
    pixels: AtomicU64,
    done: AtomicU64,
    /// Expected costs of the image's strips of equal height, top to bottom, in any common unit.
    strips: Mutex<Vec<f64>>,
}

impl Progress {
    /// Starts a render of `pixels` pixels. `strips` are the expected costs of the image's strips of equal height, top
    /// to bottom, in any common unit; empty means equal costs.
    pub fn start(&self, pixels: u64, strips: Vec<f64>) {
        self.done.store(0, Ordering::Relaxed);
        *self.strips.lock().unwrap_or_else(PoisonError::into_inner) = strips;
        self.pixels.store(pixels, Ordering::Relaxed);
    }

    /// Counts `pixels` more as finished.
    pub fn add(&self, pixels: u64) {
        self.done.fetch_add(pixels, Ordering::Relaxed);
    }

    /// The number of finished pixels; a pixel that was counted twice counts twice.
    #[cfg(test)]
    pub(crate) fn pixels_done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The fraction of the work that is finished, 0 to 1; 0 before [`Self::start`].
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let (done, pixels) = (self.done.load(Ordering::Relaxed), self.pixels.load(Ordering::Relaxed));
        if pixels == 0 {
            return 0.0;
        }
        let area = done as f64 / pixels as f64;
        let strips = self.strips.lock().unwrap_or_else(PoisonError::into_inner);
        let total: f64 = strips.iter().sum();
        if total <= 0.0 {
            return area;
        }
        let at = area * strips.len() as f64;
        let before: f64 = strips.iter().enumerate().map(|(i, cost)| cost * (at - i as f64).clamp(0.0, 1.0)).sum();
        before / total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_work_not_area() {
        let progress = Progress::default();
        assert_eq!(progress.fraction(), 0.0);
        progress.start(100, vec![1.0, 9.0]);
        progress.add(50);
        assert_eq!(progress.fraction(), 0.1);
        progress.add(25);
        assert_eq!(progress.fraction(), 0.55);
        progress.add(25);
        assert_eq!(progress.fraction(), 1.0);
        progress.start(100, Vec::new());
        progress.add(30);
        assert_eq!(progress.fraction(), 0.3);
    }
}
