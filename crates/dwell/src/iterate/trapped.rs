//! Points that are proved to stay by trapping regions ([`dwell_kernels::trapping_region`]), many with one proof.
//!
//! A trapping region is sought for the rectangle that holds a set of points. Where it is longer than a cell, the set is halved first.
//! Where there is no region, finer cells are tried. A proof with finer cells takes longer, so it is tried only for sets whose points
//! would otherwise take a multiple of its time.
//!
//! *Tried:* rectangles halved after failed proofs down to a sixteenth of a cell prove a tenth more points, and took 34 times as long:
//! with 1920x1080 pixels beside Re c = 0.21, Im c = -1.11, 58 s on one thread instead of 1.7 with up to 128 cells in a unit.

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::limits::{collected, exhausted, extend, filled, push};
use crate::base::pieces::ChunksMut;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::plan::points::DirectPoints;
use dwell_kernels::trapping_region::TrappingRegion;
use dwell_kernels::{Fold, Kernels};

/// Cells in a unit, and the iterations of a vector's lane that take the time of a proof with them: 20 us, 0.25 ms and 1.3 ms on an
/// Intel Xeon with AVX-512.
const DIVISIONS: [(u32, u64); 3] = [(32, 150_000), (128, 1_800_000), (512, 9_000_000)];
/// How many times the time of a proof the points of a set must take, for a proof to be tried.
const WORTH: u64 = 2;
/// What the memory is for, in messages.
const WHAT: &str = "proofs that points stay";

/// Points that may have one trapping region.
#[derive(Default)]
struct Set {
    /// The numbers of the points.
    numbers: Vec<u32>,
    /// The index of [`DIVISIONS`] that is tried next.
    division: usize,
}

/// What a thread found.
#[derive(Default)]
struct Found {
    region: TrappingRegion,
    proved: Vec<u32>,
    sets: Vec<Set>,
}

/// Points of an image, and what proves them.
pub(crate) struct Trapped<'a, N> {
    pub(crate) points: &'a DirectPoints<N>,
    pub(crate) pool: &'a ThreadPool,
    pub(crate) schedule: Schedule,
    pub(crate) cancel: &'a Cancel,
}

impl<N: Kernels> Trapped<'_, N> {
    /// Bytes of memory that [`Self::find`] takes for so many points.
    pub(crate) fn bytes(fold: Fold, points: u64, threads: u64) -> u64 {
        let regions = threads * TrappingRegion::bytes(fold, DIVISIONS[DIVISIONS.len() - 1].0) as u64;
        // Numbers in the sets before a round and after it, in vectors that may be twice as large, and sets of one point.
        let of_point = 2 * (2 * size_of::<u32>() + size_of::<Set>()) + size_of::<bool>();
        regions + points * of_point as u64
    }

    /// Which of these points, given by columns and rows, are proved never to escape. `steps` is the number of iterations that
    /// each of them takes without a proof. The answer is the same for any number of threads and on every machine.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after cancellation; [`Error::Input`] when memory is exhausted.
    pub(crate) fn find(&self, places: &[(u32, u32)], steps: u64) -> Result<Vec<bool>, Error> {
        let mut proved = filled(places.len(), false, WHAT)?;
        let mut sets = Vec::new();
        push(&mut sets, Set { numbers: collected(0..places.len() as u32, WHAT)?, division: 0 }, WHAT)?;
        while !sets.is_empty() {
            let work = |found: &mut Found, (_, set): (usize, &mut [Set])| -> Result<(), Error> {
                self.cancel.check()?;
                set.iter_mut().try_for_each(|set| self.work_on(found, std::mem::take(set), places, steps))
            };
            let pieces = ChunksMut::new(&mut sets, 1);
            let found = self.pool.for_each(self.schedule, pieces, || Ok(Found::default()), work)?;
            sets.clear();
            for found in found {
                found.proved.into_iter().for_each(|number| proved[number as usize] = true);
                extend(&mut sets, found.sets, WHAT)?;
            }
        }
        Ok(proved)
    }

    /// Tries to prove a set, or divides it.
    fn work_on(&self, found: &mut Found, set: Set, places: &[(u32, u32)], steps: u64) -> Result<(), Error> {
        let Set { numbers, division } = set;
        let (per_unit, cost) = DIVISIONS[division];
        if (numbers.len() as u64).saturating_mul(steps) < WORTH * cost {
            return Ok(());
        }
        let axes = self.points.axes.arrays();
        let coordinate = |number: u32, part: usize| {
            let (column, row) = places[number as usize];
            (axes[part][column as usize] + axes[2 + part][row as usize]).to_f64()
        };
        let range = |part: usize| {
            let start = [f64::INFINITY, f64::NEG_INFINITY];
            let within = |[low, high]: [f64; 2], v: f64| [low.min(v), high.max(v)];
            numbers.iter().map(|number| coordinate(*number, part)).fold(start, within)
        };
        let rectangle = [range(0), range(1)];
        let sides = rectangle.map(|[low, high]| high - low);
        let (longer, side) = if sides[1] > sides[0] { (1, sides[1]) } else { (0, sides[0]) };
        if side * f64::from(per_unit) <= 1.0 {
            let Self { points: DirectPoints { map, radius_squared, .. }, .. } = self;
            let bytes = || exhausted(TrappingRegion::bytes(map.formula.fold(), per_unit), WHAT);
            if found.region.proves(map, *radius_squared, rectangle, per_unit).map_err(|_| bytes())? {
                return Ok(extend(&mut found.proved, numbers, WHAT)?);
            }
            if division + 1 < DIVISIONS.len() {
                push(&mut found.sets, Set { numbers, division: division + 1 }, WHAT)?;
            }
            return Ok(());
        }
        let middle = f64::midpoint(rectangle[longer][0], rectangle[longer][1]);
        let half = |is_low: bool| {
            let is_in = |number: &u32| (coordinate(*number, longer) <= middle) == is_low;
            collected(numbers.iter().copied().filter(is_in), WHAT)
        };
        let halves = [half(true)?, half(false)?];
        // Points at one place cannot be divided.
        if halves.iter().all(|half| !half.is_empty()) {
            for numbers in halves {
                push(&mut found.sets, Set { numbers, division }, WHAT)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::points::Points;
    use crate::{Limits, Plan, Settings, Size, View};
    use dwell_kernels::{Formula, naive};

    fn plan(centre: [&str; 2], zoom: &str, fold: Fold) -> Plan {
        let view = View::centred(centre[0], centre[1], zoom).unwrap().sized(Size::new(32, 18).unwrap());
        let settings = Settings { formula: Formula::new(fold, 2).unwrap(), ..Settings::default() };
        Plan::new(&view, &settings, &Limits::default()).unwrap()
    }

    fn find(plan: &Plan, threads: usize, places: &[(u32, u32)], steps: u64) -> Vec<bool> {
        let Points::F64(points) = plan.points() else { panic!("other points") };
        let (pool, cancel) = (ThreadPool::new(threads), Cancel::default());
        let trapped = Trapped { points, pool: &pool, schedule: Schedule::default(), cancel: &cancel };
        trapped.find(places, steps).unwrap()
    }

    fn all_places() -> Vec<(u32, u32)> {
        (0..18).flat_map(|row| (0..32).map(move |column| (column, row))).collect()
    }

    #[test]
    fn points_that_stay_are_found_for_any_number_of_threads() {
        let plan = plan(["0.20938588800305544", "-1.11015783080576647"], "7", Fold::Absolute);
        let Points::F64(points) = plan.points() else { panic!("other points") };
        let places = all_places();
        let proved = find(&plan, 1, &places, 1 << 24);
        assert!(find(&plan, 3, &places, 1 << 24) == proved);
        let axes = points.axes.arrays();
        let mut found = 0;
        for (proved, (column, row)) in proved.iter().zip(&places) {
            let (column, row) = (*column as usize, *row as usize);
            let pixel = [axes[0][column] + axes[2][row], axes[1][column] + axes[3][row]];
            assert!(!proved || naive::dwell(&points.map, pixel, 20_000, 4.0) == 0, "{pixel:?}");
            found += usize::from(*proved);
        }
        assert!(found > 100, "{found}");
        // Points that would take little time are not proved, and fewer are where few proofs pay.
        let count = |steps| find(&plan, 1, &places, steps).iter().filter(|proved| **proved).count();
        assert!(count(1) == 0 && count(1 << 19) < found);
    }

    #[test]
    fn a_view_inside_takes_one_proof_and_points_at_one_place_end() {
        let inside = plan(["0.30621128", "-0.98476101"], "1e9", Fold::Absolute);
        assert!(find(&inside, 2, &all_places(), 1 << 20).iter().all(|proved| *proved));
        let outside = plan(["0.5", "-1.5"], "1e9", Fold::Absolute);
        assert!(!find(&outside, 2, &[(3, 4); 50], 1 << 30).contains(&true));
        assert!(find(&outside, 2, &[], 1 << 30).is_empty());
        let tricorn = plan(["-0.1", "0.1"], "1e3", Fold::Conjugate);
        assert!(find(&tricorn, 1, &all_places(), 1 << 20).iter().all(|proved| *proved));
    }
}
