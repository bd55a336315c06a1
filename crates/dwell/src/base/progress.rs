//! The progress of a render, readable from another thread while the render runs.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What is computed once, before or between the pixels of a deep view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The reference orbit, of which it is not known before how many steps it has.
    Reference,
    /// A table of blocks.
    Blocks,
    /// An orbit that is searched for a period.
    Period,
    /// An orbit that gives more digits of a point.
    Digits,
    /// An orbit with a proof.
    Proof,
}

dwell_kernels::named!(Phase, "phase": Reference => "reference orbit", Blocks => "blocks", Period => "period", Digits => "digits", Proof => "proof");

/// Progress of a render, measured as work rather than pixels: a row through the set takes a hundred times the time of a
/// row whose points all escape early, and an estimate that ignores the difference is wrong by the same factor.
#[derive(Debug, Default)]
pub struct Progress {
    pixels: AtomicU64,
    done: AtomicU64,
    /// Expected costs of the image's strips of equal height, top to bottom, in any common unit.
    strips: Mutex<Vec<f64>>,
    /// The phase under way: 1 + its place in [`Phase::ALL`], or 0.
    phase: AtomicU8,
    steps: AtomicU64,
    all_steps: AtomicU64,
}

/// Ends a phase when it is dropped.
#[derive(Debug)]
pub(crate) struct PhaseUnderWay<'a>(&'a Progress);

impl PhaseUnderWay<'_> {
    /// The steps done.
    pub(crate) fn steps(&self) -> &AtomicU64 {
        &self.0.steps
    }
}

impl Drop for PhaseUnderWay<'_> {
    fn drop(&mut self) {
        self.0.phase.store(0, Ordering::Relaxed);
    }
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

    /// Begins a phase of so many steps; 0 if that is not known. Where threads have phases at once, the last one is shown.
    pub(crate) fn begin(&self, phase: Phase, steps: u64) -> PhaseUnderWay<'_> {
        self.steps.store(0, Ordering::Relaxed);
        self.all_steps.store(steps, Ordering::Relaxed);
        self.phase.store(1 + phase as u8, Ordering::Relaxed);
        PhaseUnderWay(self)
    }

    /// The phase under way, in which no pixels are finished; the steps that it has done, and all of them if that is known.
    #[must_use]
    pub fn phase(&self) -> Option<(Phase, u64, Option<u64>)> {
        let phase = self.phase.load(Ordering::Relaxed).checked_sub(1)?;
        let (done, all) = (self.steps.load(Ordering::Relaxed), self.all_steps.load(Ordering::Relaxed));
        Some((*Phase::ALL.get(usize::from(phase))?, done, (all > 0).then_some(all)))
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
    fn a_phase_lasts_until_it_is_dropped() {
        let progress = Progress::default();
        assert_eq!(progress.phase(), None);
        let blocks = progress.begin(Phase::Blocks, 9);
        blocks.steps().store(4, Ordering::Relaxed);
        assert_eq!(progress.phase(), Some((Phase::Blocks, 4, Some(9))));
        drop(blocks);
        assert_eq!(progress.phase(), None);
        let _reference = progress.begin(Phase::Reference, 0);
        assert_eq!(progress.phase(), Some((Phase::Reference, 0, None)));
    }

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
