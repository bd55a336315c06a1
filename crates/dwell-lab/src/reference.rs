//! The field that every variant of a workload is compared with.
//!
//! Where the plain loop is affordable it computes the whole field. Otherwise the processors' engine does, by the strategy
//! that computes every pixel, and the plain loop computes pixels at random: [`SAMPLE`] of them, among them all corners. The
//! engine's equality with the plain loop is proved and tested elsewhere; the sample guards against a defect of this machine.

use crate::random::Random;
use dwell::{
    Cancel, ChannelSet, Control, CpuEngine, DirectPoints, Error, Kernels, Level, Limits, Plan, PointsVisitor, Progress,
    Scratch, Strategy, Task, naive,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pixels that the plain loop computes where the whole field would take too long.
const SAMPLE: u64 = 4096;
/// Iterations of the plain loop for each thread that are always affordable: about a second.
const AFFORDABLE: u64 = 300_000_000;

/// The dwells of a workload.
pub(crate) struct Reference {
    /// n, or 0 inside; row by row from the top.
    pub(crate) dwells: Vec<u32>,
    /// BLAKE3 of the dwells, as `dwell render --stats` has it.
    pub(crate) hash: String,
    /// Iterations of the plain loop.
    pub(crate) iterations: u64,
    /// Pixels that do not escape.
    pub(crate) interior: u64,
}

/// Computes the reference of a plan.
pub(crate) fn compute(
    plan: &Plan,
    level: Level,
    threads: usize,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Reference, Error> {
    let engine = CpuEngine::new(level, threads);
    let task = Task { plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let mut scratch = Scratch::default();
    let control = Control { cancel, progress: &Progress::default() };
    let (field, _) = scratch.field(&task, &engine, limits, &control)?;
    let dwells = field.dwell();
    let iterations = iterations(dwells, plan.direct_limit());
    let wrong = if iterations <= AFFORDABLE.saturating_mul(threads as u64) {
        first_wrong(plan, dwells, threads, cancel, None)
    } else {
        first_wrong(plan, dwells, threads, cancel, Some(SAMPLE))
    };
    cancel.check()?;
    if let Some(pixel) = wrong {
        return Err(Error::Internal(format!("the engine and the plain loop differ at pixel {pixel}")));
    }
    let interior = dwells.iter().filter(|dwell| **dwell == 0).count() as u64;
    let hash = hash(dwells);
    Ok(Reference { dwells: dwells.to_vec(), hash, iterations, interior })
}

/// Iterations of the plain loop for some dwells.
pub(crate) fn iterations(dwells: &[u32], limit: u32) -> u64 {
    dwells.iter().map(|dwell| u64::from(if *dwell == 0 { limit } else { *dwell })).sum()
}

/// BLAKE3 of dwells as little-endian numbers.
pub(crate) fn hash(dwells: &[u32]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = Vec::with_capacity(4 << 16);
    for piece in dwells.chunks(1 << 16) {
        bytes.clear();
        bytes.extend(piece.iter().flat_map(|dwell| dwell.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher.finalize().to_hex().to_string()
}

/// The first pixel found whose dwell is not the plain loop's: of all pixels, or of so many at random.
fn first_wrong(plan: &Plan, dwells: &[u32], threads: usize, cancel: &Cancel, sample: Option<u64>) -> Option<u64> {
    struct Visitor<'a> {
        plan: &'a Plan,
        dwells: &'a [u32],
        threads: usize,
        cancel: &'a Cancel,
        sample: Option<u64>,
    }
    impl PointsVisitor for Visitor<'_> {
        type Output = Option<u64>;
        fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Option<u64> {
            let (size, limit) = (self.plan.size(), self.plan.direct_limit());
            let grid = points.axes.grid(0..size.width, 0..size.height);
            let width = u64::from(size.width);
            let is_wrong = |pixel: u64| {
                #[expect(clippy::cast_possible_truncation, reason = "indices within the image")]
                let at = grid.point((pixel % width) as usize, (pixel / width) as usize);
                naive::dwell(&points.map, at, limit, points.radius_squared) != self.dwells[pixel as usize]
            };
            let pixels = size.pixels();
            match self.sample.filter(|sample| *sample < pixels) {
                Some(sample) => {
                    let mut random = Random::new(pixels);
                    let corners = [0, width - 1, pixels - width, pixels - 1];
                    let some = (0..sample).map(|_| random.below(pixels));
                    corners.into_iter().chain(some).find(|pixel| !self.cancel.is_cancelled() && is_wrong(*pixel))
                }
                None => in_parallel(pixels, self.threads, self.cancel, is_wrong),
            }
        }
    }
    plan.points().visit(Visitor { plan, dwells, threads, cancel, sample }).flatten()
}

/// A number below `count` for which `found` holds, if there is one; on several threads.
fn in_parallel(count: u64, threads: usize, cancel: &Cancel, found: impl Fn(u64) -> bool + Sync) -> Option<u64> {
    const PIECE: u64 = 4096;
    let next = std::sync::atomic::AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let result = Mutex::new(None);
    let work = || {
        while !stop.load(Ordering::Relaxed) && !cancel.is_cancelled() {
            let from = next.fetch_add(PIECE, Ordering::Relaxed);
            if from >= count {
                return;
            }
            if let Some(pixel) = (from..(from + PIECE).min(count)).find(|pixel| found(*pixel)) {
                stop.store(true, Ordering::Relaxed);
                *result.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(pixel);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where a thread cannot be started, the others do its part.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    result.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::{Settings, Size, View};

    #[test]
    fn a_wrong_dwell_is_found_by_the_whole_loop_and_by_a_sample() {
        let view = View::centred("-0.5", "0", "1").unwrap().sized(Size::new(90, 70).unwrap());
        let plan = Plan::new(&view, &Settings { limit: 60, ..Settings::default() }, &Limits::default()).unwrap();
        let cancel = Cancel::default();
        let reference = compute(&plan, Level::best(), 2, &Limits::default(), &cancel).unwrap();
        assert_eq!(reference.interior, reference.dwells.iter().filter(|n| **n == 0).count() as u64);
        let mut wrong = reference.dwells.clone();
        wrong[4321] += 1;
        assert_eq!(first_wrong(&plan, &wrong, 2, &cancel, None), Some(4321));
        wrong[90 * 70 - 1] += 1;
        assert_eq!(first_wrong(&plan, &wrong, 1, &cancel, Some(10)), Some(90 * 70 - 1), "a corner");
        assert_ne!(hash(&wrong), reference.hash);
    }
}
