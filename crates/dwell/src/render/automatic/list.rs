//! Lists of points of a probe.

use super::nominal::Place;
use super::points::WHAT;
use super::stages::FACTOR;
use crate::base::error::InputError;
use crate::base::limits::{collected, extend, reserve, reserved};
use crate::base::pieces::{Segment, Segments};
use std::ops::{Deref, DerefMut, Range};

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
    /// The numbers of the undecided points, in order, and of some that have been decided.
    open: Vec<u32>,
}

/// The numbers of the points that a thread has iterated and that are still open: each thread notes them, since one alone takes 60 us to look at all points for
/// them.
#[derive(Debug, Default)]
pub(super) struct StillOpen(Vec<u32>);

impl StillOpen {
    /// Notes the points of a piece that are undecided or have escaped in the later stages of an iteration up to `limit`.
    pub(super) fn note(&mut self, piece: &Segment<'_, Point>, limit: u64) -> Result<(), InputError> {
        let late = limit / FACTOR.pow(2);
        let open = piece.numbers().iter().zip(piece.chosen());
        let open = open.filter(|(_, point)| point.is_undecided() || point.dwell() > late);
        extend(&mut self.0, open.map(|(number, _)| *number), WHAT)
    }
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

    /// Adds undecided points, several at a time: one at a time takes 100 us.
    pub(super) fn extend<const N: usize>(
        &mut self,
        points: impl ExactSizeIterator<Item = [Point; N]>,
    ) -> Result<(), InputError> {
        let first = self.points.len();
        let added = N * points.len();
        reserve(&mut self.points, added, WHAT)?;
        reserve(&mut self.open, added, WHAT)?;
        points.for_each(|several| self.points.extend_from_slice(&several));
        self.open.extend(first as u32..self.points.len() as u32);
        Ok(())
    }

    /// Adds the points of another list. Returns the numbers that they have in this.
    pub(super) fn add(&mut self, other: Self) -> Result<Range<usize>, InputError> {
        let first = self.points.len();
        extend(&mut self.points, other.points, WHAT)?;
        extend(&mut self.open, other.open.into_iter().map(|number| first as u32 + number), WHAT)?;
        Ok(first..self.points.len())
    }

    /// Takes note of the points that are open after an iteration.
    pub(super) fn iterated(&mut self, open: impl Iterator<Item = StillOpen>) -> Result<(), InputError> {
        self.open.clear();
        open.into_iter().try_for_each(|StillOpen(open)| extend(&mut self.open, open, WHAT))?;
        self.open.sort_unstable();
        Ok(())
    }

    /// The points that are undecided or have escaped in the last two stages of the last iteration, at least.
    pub(super) fn open(&self) -> impl Iterator<Item = &Point> {
        self.open.iter().map(|number| &self.points[*number as usize])
    }

    /// Makes the points undecided that have escaped beyond a limit. All must be among [`Self::open`].
    pub(super) fn forget_beyond(&mut self, limit: u64) {
        for number in &self.open {
            let point = &mut self.points[*number as usize];
            if point.dwell() > limit {
                point.set(Outcome::Undecided);
            }
        }
    }

    /// Takes what is decided out of [`Self::open`].
    pub(super) fn forget_decided(&mut self) {
        let Self { points, open } = self;
        open.retain(|number| points[*number as usize].is_undecided());
    }

    /// The undecided points in pieces for so many threads, and how many of them a piece has at most.
    pub(super) fn pieces(&mut self, threads: usize) -> (Segments<'_, Point>, usize) {
        self.forget_decided();
        let Self { points, open } = self;
        let size = (open.len() / (PIECES_PER_THREAD * threads)).clamp(*AT_ONCE.start(), *AT_ONCE.end());
        (Segments::new(points, open, size), size)
    }
}

#[cfg(test)]
impl Point {
    /// A point with this dwell, if it is not 0, and this weight.
    pub(super) fn with((dwell, weight): (u64, u32)) -> Self {
        let mut point = Self::new(Place::new(0, 0), weight);
        if dwell > 0 {
            point.set(Outcome::Escaped(dwell));
        }
        point
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
            list.extend((0..300).map(|cell| [Point::new(Place::new(cell, 0), 9)])).unwrap();
            list.extend((30..100).map(|ten| [0; 10].map(|_| Point::new(Place::new(ten, 1), 10 * ten as u32)))).unwrap();
            assert_eq!((list.len(), list[299].weight, list[999].weight), (1000, 9, 990));
            let decide = |(_, point): (usize, &mut Point)| point.set(Outcome::Escaped(5));
            list.iter_mut().enumerate().filter(|(i, _)| i % 3 > 0).for_each(decide);
            list.iter_mut().zip(0..).for_each(|(point, number)| point.weight = number);
            let (pieces, size) = list.pieces(4);
            let seen = |seen: &mut Vec<u32>, mut piece: Segment<'_, Point>| {
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
