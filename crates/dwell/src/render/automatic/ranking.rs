//! Escapes in the order of their dwells, of which the latest and the one at the median are wanted.
//!
//! Sorting all takes one thread half a millisecond, and selecting from all 0.1 ms. Counting them by ranges of dwells first leaves few to
//! select from.

use super::points::WHAT;
use crate::base::error::InputError;
use crate::base::limits::collected;

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

/// The range of a dwell of at least 1. Ranges ascend with dwells, and each of those below 64 has its own.
fn range_of(dwell: u64) -> usize {
    let shift = dwell.ilog2().saturating_sub(PER_OCTAVE);
    ((shift as usize) << PER_OCTAVE) + (dwell >> shift) as usize
}

/// How many escapes are in each range of dwells.
pub(super) struct Ranking<'a> {
    escapes: &'a [Escape],
    /// Their number and their weight in each range.
    ranges: Vec<(usize, u64)>,
}

impl<'a> Ranking<'a> {
    /// A ranking of escapes with dwells of at least 1.
    ///
    /// # Errors
    /// When the system has not enough memory, as everywhere here.
    pub(super) fn of(escapes: &'a [Escape]) -> Result<Self, InputError> {
        let mut ranges = collected(std::iter::repeat_n((0, 0), RANGES), WHAT)?;
        for escape in escapes {
            let (count, weight) = &mut ranges[range_of(escape.dwell())];
            *count += 1;
            *weight += escape.weight();
        }
        Ok(Self { escapes, ranges })
    }

    /// The median dwell by weight; 0 without escapes.
    pub(super) fn median(&self) -> Result<u64, InputError> {
        let mut wanted = self.ranges.iter().map(|(_, weight)| weight).sum::<u64>() / 2;
        for (range, (_, weight)) in self.ranges.iter().enumerate().rev().filter(|(_, (count, _))| *count > 0) {
            if *weight >= wanted {
                let within = self.escapes.iter().filter(|escape| range_of(escape.dwell()) == range).copied();
                return Ok(nth_by_weight(&mut collected(within, WHAT)?, wanted));
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
        let least = least.unwrap_or(0);
        let mut latest =
            collected(self.escapes.iter().filter(|escape| range_of(escape.dwell()) >= least).copied(), WHAT)?;
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
        assert_eq!((range_of(1), range_of(63), range_of(64), range_of(65)), (1, 63, 64, 64));
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
                let ranking = Ranking::of(&escapes).unwrap();
                assert_eq!(ranking.median().unwrap(), expected.map_or(0, |escape| escape.dwell()));
                for wanted in [0, 1, 2, 10, 150, 500] {
                    assert_eq!(ranking.latest(wanted).unwrap(), sorted[..sorted.len().min(wanted)]);
                }
            }
        }
    }
}
