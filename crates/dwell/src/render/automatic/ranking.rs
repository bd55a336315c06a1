//! Escapes in the order of their dwells, of which the latest and the one at the median are wanted.
//!
//! Sorting all takes one thread half a millisecond, and selecting from all 0.1 ms. Counting them by ranges of dwells first leaves few to
//! select from, and needs no copy of all, which takes 0.2 ms.

use super::list::Point;
use super::points::WHAT;
use crate::base::error::InputError;
use crate::base::limits::{collected, filled, reserved};
use std::ops::RangeInclusive;

/// A dwell and, in the lower 32 bits, a weight: one number is compared without branches, so that selection is faster than that of
/// pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Escape(u128);

impl Escape {
    pub(super) fn new(dwell: u64, weight: u32) -> Self {
        Self(u128::from(dwell) << 32 | u128::from(weight))
    }

    pub(super) fn dwell(self) -> u64 {
        (self.0 >> 32) as u64
    }

    pub(super) fn weight(self) -> u64 {
        self.0 as u64 & u64::from(u32::MAX)
    }
}

fn latest_first(a: &Escape, b: &Escape) -> std::cmp::Ordering {
    b.cmp(a)
}

/// The logarithm of the number of ranges of an octave.
const PER_OCTAVE: u32 = 5;

/// The number of ranges of all dwells.
const RANGES: usize = ((u64::BITS - PER_OCTAVE) as usize + 1) << PER_OCTAVE;

/// The range of a dwell. Ranges ascend with dwells, and each of those below 64 has its own.
fn range_of(dwell: u64) -> usize {
    let shift = (dwell | 1).ilog2().saturating_sub(PER_OCTAVE);
    ((shift as usize) << PER_OCTAVE) + (dwell >> shift) as usize
}

/// The least dwell of a range.
fn first_of(range: usize) -> u64 {
    let shift = (range >> PER_OCTAVE).saturating_sub(1);
    ((range - (shift << PER_OCTAVE)) as u64) << shift
}

/// How many escapes are in each range of dwells.
///
/// Points at an edge escape or do not as if by chance: a branch by that costs some 10 cycles for each point, three times as much as all the rest.
pub(super) struct Ranking<'a> {
    points: &'a [Point],
    /// The number and the weight of the escapes in each range. Those of range 0 are of points that have not escaped.
    ranges: Vec<(usize, u64)>,
}

impl<'a> Ranking<'a> {
    /// A ranking of the escapes among these points. Points that stand for no part of the view are left out.
    ///
    /// # Errors
    /// When the system has not enough memory, as everywhere here.
    pub(super) fn of(points: &'a [Point]) -> Result<Self, InputError> {
        // Weight and count in one number, and two of them in turns: an addition has to wait for one to the same number just before it. There are fewer than 2^16
        // points, with weights below 2^32.
        let mut sums = filled(RANGES, [0_u64; 2], WHAT)?;
        for (point, turn) in points.iter().zip([0, 1].into_iter().cycle()) {
            sums[range_of(point.dwell())][turn] += u64::from(point.weight) << 16 | u64::from(point.weight > 0);
        }
        sums[0] = [0; 2];
        let count = |sum: u64| (sum & 0xffff) as usize;
        let ranges = collected(sums.into_iter().map(|[a, b]| (count(a) + count(b), (a >> 16) + (b >> 16))), WHAT)?;
        Ok(Self { points, ranges })
    }

    /// The number of escapes.
    pub(super) fn count(&self) -> u64 {
        self.ranges.iter().map(|(count, _)| *count as u64).sum()
    }

    /// The escapes in the ranges from one on, at least 1, up to another.
    fn within(&self, ranges: RangeInclusive<usize>) -> Result<Vec<Escape>, InputError> {
        let count = self.ranges[ranges.clone()].iter().map(|(count, _)| count).sum();
        let mut within = reserved(count, WHAT)?;
        let least = first_of(*ranges.start());
        let width = ranges.end().checked_add(1).filter(|next| *next < RANGES).map_or(u64::MAX, first_of) - least;
        let points = self.points.iter().filter(|point| point.dwell().wrapping_sub(least) < width && point.weight > 0);
        within.extend(points.map(|point| Escape::new(point.dwell(), point.weight)));
        Ok(within)
    }

    /// The median dwell by weight; 0 without escapes.
    pub(super) fn median(&self) -> Result<u64, InputError> {
        let mut wanted = self.ranges.iter().map(|(_, weight)| weight).sum::<u64>() / 2;
        for (range, (_, weight)) in self.ranges.iter().enumerate().rev().filter(|(_, (count, _))| *count > 0) {
            if *weight >= wanted {
                return Ok(nth_by_weight(&mut self.within(range..=range)?, wanted));
            }
            wanted -= weight;
        }
        Ok(0)
    }

    /// The latest escapes, latest first: so many, or all if there are fewer.
    pub(super) fn latest(&self, count: usize) -> Result<Vec<Escape>, InputError> {
        let mut found = 0;
        let least = self.ranges.iter().rposition(|(in_range, _)| {
            found += in_range;
            found >= count
        });
        let least = least.unwrap_or(1);
        let mut latest = self.within(least..=RANGES - 1)?;
        if count < latest.len() {
            latest.select_nth_unstable_by(count, latest_first);
            latest.truncate(count);
        }
        latest.sort_unstable_by(latest_first);
        Ok(latest)
    }
}

/// The dwell of the first escape, of the latest first, that has `wanted` of the weight up to it; 0 without escapes. Changes their order.
fn nth_by_weight(mut escapes: &mut [Escape], mut wanted: u64) -> u64 {
    while !escapes.is_empty() {
        let middle = escapes.len() / 2;
        let (later, escape, earlier) = escapes.select_nth_unstable_by(middle, latest_first);
        let above = later.iter().map(|escape| escape.weight()).sum::<u64>();
        if above >= wanted && !later.is_empty() {
            escapes = later;
        } else if above + escape.weight() >= wanted {
            return escape.dwell();
        } else {
            wanted -= above + escape.weight();
            escapes = earlier;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_ascend_and_end_with_the_greatest_dwell() {
        let mut dwells: Vec<u64> = (1..1000).chain((10..64).flat_map(|power| [(1 << power) - 1, 1 << power])).collect();
        dwells.push(u64::MAX);
        dwells.sort_unstable();
        assert!(dwells.windows(2).all(|pair| range_of(pair[0]) <= range_of(pair[1])));
        assert!((0..RANGES).all(|range| range_of(first_of(range)) == range));
        assert!((1..RANGES).all(|range| range_of(first_of(range) - 1) == range - 1));
        assert_eq!((range_of(0), range_of(1), range_of(63), range_of(64), range_of(65)), (0, 1, 63, 64, 64));
        assert_eq!(range_of(u64::MAX), RANGES - 1);
    }

    #[test]
    fn rankings_are_those_of_sorted_escapes() {
        for count in 0..200_u32 {
            for spread in [1, 23, 40_000, 1 << 40] {
                let of = |i: u32| Escape::new(1 + (u64::from(i).pow(2) * 7919).pow(2) % spread, 1 + i * 31 % 9);
                let escapes: Vec<Escape> = (count..2 * count).map(of).collect();
                let mut sorted = escapes.clone();
                sorted.sort_unstable_by(latest_first);
                let half = sorted.iter().map(|escape| escape.weight()).sum::<u64>() / 2;
                let mut above = 0;
                let expected = sorted.iter().find(|escape| {
                    above += escape.weight();
                    above >= half
                });
                // Beside points that have not escaped, and one that stands for no part of the view.
                let escaped = escapes.iter().map(|escape| (escape.dwell(), escape.weight() as u32));
                let points: Vec<Point> = escaped.chain([(0, 5), (77, 0)]).map(Point::with).collect();
                let ranking = Ranking::of(&points).unwrap();
                assert_eq!(ranking.count(), u64::from(count));
                assert_eq!(ranking.median().unwrap(), expected.map_or(0, |escape| escape.dwell()));
                for wanted in [0, 1, 2, 10, 150, 500] {
                    assert_eq!(ranking.latest(wanted).unwrap(), sorted[..sorted.len().min(wanted)]);
                }
            }
        }
    }
}
