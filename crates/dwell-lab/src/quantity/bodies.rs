//! Iterations and loop bodies: the work of a loop of a publication.

use super::bands::Workload;
use crate::convention::Counts;
use dwell::{Cancel, DirectPoints, Kernels, PointsVisitor};
use std::ops::Range;

/// n of each escaped point and the limit of each other one, summed.
pub(super) fn iterations(workload: &Workload, cancel: &Cancel) -> Result<u64, String> {
    let limit = workload.plan.direct_limit();
    workload.sum(|n| if n == 0 { limit.into() } else { n.into() }, cancel)
}

/// The loop bodies that the loop of a convention executes for a point with this dwell, with `extra` bodies more for an interior
/// point. A body is one step and its test: from z_0 = 0 it is number n that reaches z_n, and from z_1 = c number n - 1. A
/// lagging test sees z_n in the body after it.
pub(super) fn bodies_of(dwell: u32, limit: u32, extra: u64, counts: Counts) -> u64 {
    match (counts, u64::from(dwell)) {
        (_, 0) => u64::from(limit) + extra,
        (Counts::Dwell | Counts::Byte, n) => n,
        (Counts::FromZero, n) => n - 1,
        (Counts::Lagging, n) => (n + 1).min(limit.into()),
    }
}

/// The loop bodies of all pixels.
pub(super) fn bodies(workload: &Workload, extra: u64, cancel: &Cancel) -> Result<u64, String> {
    let (limit, counts) = (workload.plan.direct_limit(), workload.convention.counts);
    workload.sum(|n| bodies_of(n, limit, extra, counts), cancel)
}

/// The loop bodies of all pixels for a loop that ends after the body number `limit` + 1, where points that `[cardioid, bulb]`
/// find take none.
pub(super) fn with_tests(workload: &Workload, tests: [bool; 2], cancel: &Cancel) -> Result<u64, String> {
    let mut sum = 0;
    workload.for_each_band(cancel, |rows, dwells| {
        sum += workload.plan.points().visit(Tested { workload, tests, rows, dwells }).unwrap_or_default();
    })?;
    Ok(sum)
}

/// The sum of the loop bodies of a band.
struct Tested<'a> {
    workload: &'a Workload,
    tests: [bool; 2],
    rows: Range<u32>,
    dwells: &'a [u32],
}

impl PointsVisitor for Tested<'_> {
    type Output = u64;

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> u64 {
        let (plan, counts) = (&self.workload.plan, self.workload.convention.counts);
        let width = plan.size().width;
        let grid = points.axes.grid(0..width, self.rows);
        let bodies = |(i, dwell): (usize, &u32)| {
            let c = grid.point(i % width as usize, i / width as usize);
            if is_found(c, self.tests) { 0 } else { bodies_of(*dwell, plan.direct_limit(), 1, counts) }
        };
        self.dwells.iter().enumerate().map(bodies).sum()
    }
}

/// Whether the usual test for the main cardioid or for the period-2 bulb finds a point, each operation rounded.
fn is_found<N: Kernels>([a, b]: [N; 2], [cardioid, bulb]: [bool; 2]) -> bool {
    let bb = b * b;
    let (left, right) = (a - N::nearest(0.25), a + N::nearest(1.0));
    let q = left * left + bb;
    (cardioid && q * (q + left) < N::nearest(0.25) * bb) || (bulb && right * right + bb < N::nearest(0.0625))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_those_of_the_published_loops() {
        for (counts, bodies) in [
            (Counts::Dwell, [1, 2, 99, 100, 100]),
            (Counts::FromZero, [0, 1, 98, 99, 100]),
            (Counts::Lagging, [2, 3, 100, 100, 100]),
            (Counts::Byte, [1, 2, 99, 100, 100]),
        ] {
            assert_eq!([1, 2, 99, 100, 0].map(|n| bodies_of(n, 100, 0, counts)), bodies, "{counts:?}");
            assert_eq!(bodies_of(0, 100, 1, counts), 101);
        }
    }

    #[test]
    fn tests_find_the_cardioid_and_the_bulb() {
        let found = |c: [f64; 2]| [[true, false], [false, true]].map(|tests| is_found(c, tests));
        // On the real axis the cardioid's test compares with 0: only points off the axis are safe examples.
        assert_eq!(found([-0.1, 0.1]), [true, false]);
        assert_eq!(found([-1.0, 0.1]), [false, true]);
        assert_eq!(found([-1.3, 0.1]), [false, false]);
        assert!(!is_found([-0.1, 0.1], [false, false]));
    }
}
