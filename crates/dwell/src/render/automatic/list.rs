//! Lists of points of a probe.

use super::nominal::Place;
use super::points::WHAT;
use crate::base::error::InputError;
use crate::base::limits::{collected, extend, reserved};
use crate::base::pieces::Segments;
use std::ops::{Deref, DerefMut};

/// Points that a thread computes at once. In late stages a few hundred points take nearly all the time, each up to a
/// millisecond: pieces of 128 would leave most of 16 threads without any. Eight points fill a vector.
const AT_ONCE: std::ops::RangeInclusive<usize> = 8..=128;
/// Pieces for each thread, where there are enough points.
const PIECES_PER_THREAD: usize = 4;

/// What is known of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It has not escaped yet.
    Undecided,
    /// It is proved never to escape.
    Inside,
    /// It has this dwell.
    Escaped(u64),
    /// It has not escaped and is not iterated further: others stand for it.
    Skipped,
}

/// A point of the probe: a pixel of the nominal picture. In 24 bytes, since after each stage one thread reads the points that others computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) place: Place,
    /// The part of the view that it stands for, in units of the list.
    pub(super) weight: u32,
    /// The dwell, 0, or one of the two values below, which no dwell has.
    state: u64,
    /// The channel of the quantity that was searched for, if the point has escaped.
    pub(super) value: f64,
}

const INSIDE: u64 = u64::MAX;
const SKIPPED: u64 = u64::MAX - 1;

impl Point {
    pub(super) fn new(place: Place, weight: u32) -> Self {
        Self { place, weight, state: 0, value: 0.0 }
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self.state {
            0 => Outcome::Undecided,
            INSIDE => Outcome::Inside,
            SKIPPED => Outcome::Skipped,
            dwell => Outcome::Escaped(dwell),
        }
    }

    pub(super) fn set(&mut self, outcome: Outcome) {
        self.state = match outcome {
            Outcome::Undecided => 0,
            Outcome::Inside => INSIDE,
            Outcome::Skipped => SKIPPED,
            Outcome::Escaped(dwell) => dwell,
        };
    }

    /// The dwell; 0 without an escape.
    pub(super) fn dwell(&self) -> u64 {
        if self.state < SKIPPED { self.state } else { 0 }
    }

    pub(super) fn is_undecided(&self) -> bool {
        self.state == 0
    }
}

/// Points, and which of them are undecided: in late stages only a few are, which are divided among threads without a look at the others.
#[derive(Debug, Default)]
pub(super) struct List {
    points: Vec<Point>,
    /// The numbers of the undecided points, in order, and perhaps of some that have been decided since.
    open: Vec<u32>,
}

impl Deref for List {
    type Target = [Point];

    fn deref(&self) -> &[Point] {
        &self.points
    }
}

impl DerefMut for List {
    fn deref_mut(&mut self) -> &mut [Point] {
        &mut self.points
    }
}

impl List {
    /// A list of these points.
    ///
    /// # Errors
    /// When the system has not enough memory, as everywhere here.
    pub(super) fn new(points: impl Iterator<Item = Point>) -> Result<Self, InputError> {
        let points = collected(points, WHAT)?;
        let open = collected((0..points.len() as u32).filter(|number| points[*number as usize].is_undecided()), WHAT)?;
        Ok(Self { points, open })
    }

    /// An empty list with memory for so many points.
    pub(super) fn with_room(points: usize) -> Result<Self, InputError> {
        Ok(Self { points: reserved(points, WHAT)?, open: reserved(points, WHAT)? })
    }

    /// Adds undecided points.
    pub(super) fn extend(&mut self, points: impl Iterator<Item = Point>) -> Result<(), InputError> {
        let first = self.points.len();
        extend(&mut self.points, points, WHAT)?;
        extend(&mut self.open, first as u32..self.points.len() as u32, WHAT)
    }

    /// The undecided points in pieces for so many threads, and how many of them a piece has at most.
    pub(super) fn pieces(&mut self, threads: usize) -> (Segments<'_, Point>, usize) {
        let Self { points, open } = self;
        open.retain(|number| points[*number as usize].is_undecided());
        let size = (open.len() / (PIECES_PER_THREAD * threads)).clamp(*AT_ONCE.start(), *AT_ONCE.end());
        (Segments::new(points, open, size), size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use crate::base::schedule::Schedule;
    use crate::base::thread_pool::ThreadPool;

    #[test]
    fn points_keep_what_they_are_given() {
        let place = Place::new(9999, 8);
        let mut point = Point::new(place, 9);
        assert_eq!((point.place, point.weight, point.outcome()), (place, 9, Outcome::Undecided));
        for outcome in [Outcome::Inside, Outcome::Skipped, Outcome::Escaped(1), Outcome::Escaped(1 << 63)] {
            point.set(outcome);
            assert_eq!(point.outcome(), outcome);
            assert_eq!(point.dwell(), if let Outcome::Escaped(dwell) = outcome { dwell } else { 0 });
            assert!(!point.is_undecided());
        }
        assert_eq!(point.place, place);
    }

    #[test]
    fn pieces_hold_the_undecided_points() {
        let pool = ThreadPool::new(2);
        for room in [0, 5000] {
            let mut list = List::with_room(room).unwrap();
            list.extend((0..300).map(|cell| Point::new(Place::new(cell, 0), 9))).unwrap();
            list.extend((300..1000).map(|cell| Point::new(Place::new(cell, 1), cell as u32))).unwrap();
            assert_eq!((list.len(), list[999].weight), (1000, 999));
            let decide = |(_, point): (usize, &mut Point)| point.set(Outcome::Escaped(5));
            list.iter_mut().enumerate().filter(|(i, _)| i % 3 > 0).for_each(decide);
            list.iter_mut().zip(0..).for_each(|(point, number)| point.weight = number);
            let (pieces, size) = list.pieces(4);
            let seen = |seen: &mut Vec<u32>, mut piece: crate::base::pieces::Segment<'_, Point>| {
                seen.extend(piece.chosen_mut().map(|point| point.weight));
                Ok(())
            };
            let seen = pool.for_each::<Error, _, _>(Schedule::default(), pieces, || Ok(Vec::new()), seen).unwrap();
            let mut seen = seen.concat();
            seen.sort_unstable();
            assert!(seen.into_iter().eq((0..1000).step_by(3)) && size == 20);
        }
    }
}
