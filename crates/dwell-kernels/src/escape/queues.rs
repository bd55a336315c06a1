//! Queues of points: survivors that wait for a full bundle, and points that wait for the replay.

use super::{MAX_BUNDLE, MAX_LANES};
use crate::number::Number;
use crate::vector::{Mask, Vector};
use fearless_simd::{Simd, SimdMask};
use std::collections::TryReserveError;

/// The capacity of a queue in points. Up to one bundle less one point may be waiting when the survivors of another
/// bundle are added, and whole vectors are written behind the last point.
pub(super) const CAPACITY: usize = 2 * MAX_BUNDLE + 2 * MAX_LANES;

/// The number of queues of survivors. There is one for each n that a bundle can be regrouped at: `PROLOGUE_STEPS` times
/// 4/4, 5/4, 6/4, 7/4 of each power of two from 1 to 64, and one for all n from 4096 on, in which each point has its
/// own n.
pub(super) const STAGES: usize = 4 * 7 + 1;
/// The queue of survivors with n of 4096 or more.
pub(super) const LONG_QUEUE: usize = STAGES - 1;
/// The queue of survivors of the prologue that fill whole vectors, which keeps them aligned with cache lines. Most
/// points of the interior of the set go through it.
pub(super) const WHOLE_VECTORS: usize = STAGES;
/// The queue of points that escaped within a batch, with z and n before the batch.
pub(super) const REPLAY: usize = STAGES + 1;
const QUEUES: usize = STAGES + 2;

/// One column of all queues, aligned with cache lines: a 64-byte store that crosses two lines costs twice as much.
#[repr(C, align(64))]
struct Column<N>([N; QUEUES * CAPACITY]);

/// All queues, column by column. `position` and `n` are integers stored in the bits of numbers.
pub(super) struct Queues<N> {
    len: [usize; QUEUES],
    x: OneColumn<N>,
    y: OneColumn<N>,
    a: OneColumn<N>,
    b: OneColumn<N>,
    position: OneColumn<N>,
    n: OneColumn<N>,
}

/// A column on the heap. An array of one, since a vector of one element, whose allocation may fail, becomes that.
type OneColumn<N> = Box<[Column<N>; 1]>;

/// A vector of points: z = x + iy, c = a + ib, the position in the block, and n.
#[derive(Clone, Copy)]
pub(super) struct QueuedPoints<S: Simd, N: Number> {
    pub(super) x: Vector<S, N>,
    pub(super) y: Vector<S, N>,
    pub(super) a: Vector<S, N>,
    pub(super) b: Vector<S, N>,
    pub(super) position: Vector<S, N>,
    pub(super) n: Vector<S, N>,
}

impl<N: Number> Queues<N> {
    /// Bytes of all columns.
    pub(super) const BYTES: usize = 6 * size_of::<Column<N>>();

    /// Empty queues.
    ///
    /// # Errors
    /// When an allocation fails.
    pub(super) fn new() -> Result<Self, TryReserveError> {
        let column = || -> Result<OneColumn<N>, TryReserveError> {
            let mut column = Vec::new();
            column.try_reserve_exact(1)?;
            column.push(Column([N::default(); QUEUES * CAPACITY]));
            let Ok(column) = column.into_boxed_slice().try_into() else { unreachable!("one element") };
            Ok(column)
        };
        let len = [0; QUEUES];
        Ok(Self { len, x: column()?, y: column()?, a: column()?, b: column()?, position: column()?, n: column()? })
    }

    /// Empties all queues.
    pub(super) fn clear(&mut self) {
        self.len = [0; QUEUES];
    }

    /// The number of points in a queue.
    pub(super) fn len(&self, queue: usize) -> usize {
        self.len[queue]
    }

    /// Removes the last `count` points of a queue and returns their index, which is valid for [`Self::get`] until
    /// points are pushed to the same queue.
    pub(super) fn pop(&mut self, queue: usize, count: usize) -> usize {
        self.len[queue] -= count;
        queue * CAPACITY + self.len[queue]
    }

    /// The vector of points at an index.
    #[inline(always)]
    pub(super) fn get<S: Simd>(&self, simd: S, at: usize) -> QueuedPoints<S, N> {
        QueuedPoints {
            x: Vector::load(simd, &self.x[0].0[at..]),
            y: Vector::load(simd, &self.y[0].0[at..]),
            a: Vector::load(simd, &self.a[0].0[at..]),
            b: Vector::load(simd, &self.b[0].0[at..]),
            position: Vector::load(simd, &self.position[0].0[at..]),
            n: Vector::load(simd, &self.n[0].0[at..]),
        }
    }

    /// The positions and the n of the points of a queue.
    pub(super) fn positions_and_n(&self, queue: usize) -> impl Iterator<Item = (u32, u32)> {
        (queue * CAPACITY..queue * CAPACITY + self.len[queue]).map(|at| self.position_and_n(at))
    }

    /// The position and the n of the point at an index.
    #[inline(always)]
    pub(super) fn position_and_n(&self, at: usize) -> (u32, u32) {
        (self.position[0].0[at].low_bits(), self.n[0].0[at].low_bits())
    }

    /// Appends the points in the lanes `chosen` to a queue. Whole vectors are written; the numbers behind the last
    /// point have no meaning.
    #[inline(always)]
    pub(super) fn push<S: Simd>(&mut self, simd: S, queue: usize, chosen: u64, points: QueuedPoints<S, N>) {
        let to = queue * CAPACITY + self.len[queue];
        let QueuedPoints { mut x, mut y, mut a, mut b, mut position, mut n } = points;
        if chosen == all_lanes::<S, N>() {
            self.len[queue] += Vector::<S, N>::LEN;
        } else {
            let mask = Mask::<S, N>::from_bitmask(simd, chosen);
            x = x.compress(mask);
            y = y.compress(mask);
            a = a.compress(mask);
            b = b.compress(mask);
            position = position.compress(mask);
            n = n.compress(mask);
            self.len[queue] += chosen.count_ones() as usize;
        }
        x.store(&mut self.x[0].0[to..]);
        y.store(&mut self.y[0].0[to..]);
        a.store(&mut self.a[0].0[to..]);
        b.store(&mut self.b[0].0[to..]);
        position.store(&mut self.position[0].0[to..]);
        n.store(&mut self.n[0].0[to..]);
    }
}

/// All lanes of a vector, one bit for each.
#[inline(always)]
pub(super) fn all_lanes<S: Simd, N: Number>() -> u64 {
    u64::MAX >> (64 - Vector::<S, N>::LEN)
}
