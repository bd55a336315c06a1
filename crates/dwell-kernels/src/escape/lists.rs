//! Lists of points: the queues of survivors and the list of those to be replayed.

use super::{MOST_LANES, WIDEST};
use crate::number::Number;
use crate::vector::{Mask, Vector};
use fearless_simd::{Simd, SimdMask};

/// Points of a list: one bundle less a point may be waiting when another bundle's survivors come, and whole vectors are
/// written behind the last.
pub(super) const CAPACITY: usize = 2 * MOST_LANES + 2 * WIDEST;

/// Queues of survivors by the n that they have reached: `HEAD` times 4/4, 5/4, 6/4, 7/4 of each power of two from 1 to
/// 64, and one for all from 4096 on, where each point is at an n of its own.
pub(super) const STAGES: usize = 4 * 7 + 1;
/// The last of them.
pub(super) const LONG: usize = STAGES - 1;
/// Survivors of the head in whole vectors, which so stay aligned with the machine's cache lines: what the inside of the
/// set consists of.
pub(super) const WHOLE: usize = STAGES;
/// Points that escaped within a batch, with the z before it and its n.
pub(super) const REPLAY: usize = STAGES + 1;
const LISTS: usize = STAGES + 2;

/// A column of all lists, aligned with cache lines: a 64-byte store across two lines costs twice.
#[repr(C, align(64))]
struct Column<N>([N; LISTS * CAPACITY]);

/// The lists, column by column. `place` and `n` are integers carried in numbers.
pub(super) struct Lists<N> {
    len: [usize; LISTS],
    x: Box<Column<N>>,
    y: Box<Column<N>>,
    a: Box<Column<N>>,
    b: Box<Column<N>>,
    place: Box<Column<N>>,
    n: Box<Column<N>>,
}

/// A vector of points: z = x + iy, c = a + ib, place, n.
#[derive(Clone, Copy)]
pub(super) struct Points<S: Simd, N: Number> {
    pub(super) x: Vector<S, N>,
    pub(super) y: Vector<S, N>,
    pub(super) a: Vector<S, N>,
    pub(super) b: Vector<S, N>,
    pub(super) place: Vector<S, N>,
    pub(super) n: Vector<S, N>,
}

impl<N: Number> Lists<N> {
    /// Bytes of all columns.
    pub(super) const BYTES: usize = 6 * size_of::<Column<N>>();

    pub(super) fn new() -> Self {
        let column = || Box::new(Column([N::default(); LISTS * CAPACITY]));
        Self { len: [0; LISTS], x: column(), y: column(), a: column(), b: column(), place: column(), n: column() }
    }

    pub(super) fn clear(&mut self) {
        self.len = [0; LISTS];
    }

    pub(super) fn len(&self, list: usize) -> usize {
        self.len[list]
    }

    /// Takes the last `count` points off a list and returns where they are: until something is pushed there.
    pub(super) fn pop(&mut self, list: usize, count: usize) -> usize {
        self.len[list] -= count;
        list * CAPACITY + self.len[list]
    }

    /// The vector at a position.
    #[inline(always)]
    pub(super) fn get<S: Simd>(&self, simd: S, at: usize) -> Points<S, N> {
        Points {
            x: Vector::load(simd, &self.x.0[at..]),
            y: Vector::load(simd, &self.y.0[at..]),
            a: Vector::load(simd, &self.a.0[at..]),
            b: Vector::load(simd, &self.b.0[at..]),
            place: Vector::load(simd, &self.place.0[at..]),
            n: Vector::load(simd, &self.n.0[at..]),
        }
    }

    /// The place and the n of the point at a position.
    #[inline(always)]
    pub(super) fn whereabouts(&self, at: usize) -> (u32, u32) {
        (self.place.0[at].carried(), self.n.0[at].carried())
    }

    /// Appends the lanes `chosen`. Whole vectors are written; what lies behind the last point is of no meaning.
    #[inline(always)]
    pub(super) fn push<S: Simd>(&mut self, simd: S, list: usize, chosen: u64, points: Points<S, N>) {
        let to = list * CAPACITY + self.len[list];
        let Points { mut x, mut y, mut a, mut b, mut place, mut n } = points;
        if chosen == all_lanes::<S, N>() {
            self.len[list] += Vector::<S, N>::LEN;
        } else {
            let mask = Mask::<S, N>::from_bitmask(simd, chosen);
            x = x.compress(mask);
            y = y.compress(mask);
            a = a.compress(mask);
            b = b.compress(mask);
            place = place.compress(mask);
            n = n.compress(mask);
            self.len[list] += chosen.count_ones() as usize;
        }
        x.store(&mut self.x.0[to..]);
        y.store(&mut self.y.0[to..]);
        a.store(&mut self.a.0[to..]);
        b.store(&mut self.b.0[to..]);
        place.store(&mut self.place.0[to..]);
        n.store(&mut self.n.0[to..]);
    }
}

/// Every lane of a vector, as bits.
#[inline(always)]
pub(super) fn all_lanes<S: Simd, N: Number>() -> u64 {
    u64::MAX >> (64 - Vector::<S, N>::LEN)
}
