//! The replay finds at which step a point escaped.
//!
//! A bundle (`bundle.rs`) is tested only after each batch of steps, so the last test shows that a point escaped within
//! the batch, but not at which n. Such a point is queued with z and n before the batch. The replay iterates it again
//! from there with a test after every step, and writes the n of the escape as its dwell.

use super::queues::{QueuedPoints, REPLAY};
use super::tested_steps::Tested;
use super::{DwellKernel, MAX_BUNDLE, REPLAY_VECTORS, store_counts, unpack_position};
use crate::level::separately;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::Vector;
use fearless_simd::Simd;

impl<N: Number, R: Rule> DwellKernel<'_, '_, N, R> {
    /// Replays queued points, [`REPLAY_VECTORS`] full vectors at a time. Points that do not fill as many stay queued.
    #[inline(always)]
    pub(super) fn replay_full_vectors<S: Simd>(&mut self, simd: S) {
        while self.workspace.queues.len(REPLAY) >= REPLAY_VECTORS * Vector::<S, N>::LEN {
            self.replay(simd);
        }
    }

    /// Replays the last points of the queue, at most [`REPLAY_VECTORS`] vectors, and removes them from it.
    #[inline(always)]
    pub(super) fn replay<S: Simd>(&mut self, simd: S) {
        // `separately` compiles this as a separate function with the instructions of the level `S`, instead of inlining
        // it into every caller, because it is called rarely.
        separately(
            simd,
            #[inline(always)]
            || {
                if self.keep_escaped_z {
                    self.replay_vectors::<S, REPLAY_VECTORS, true>(simd);
                } else {
                    self.replay_vectors::<S, REPLAY_VECTORS, false>(simd);
                }
            },
        );
    }

    /// Replays up to `U` vectors of points: writes the n at which each escaped as its dwell and, with `KEEP_Z`, its
    /// z_n.
    #[inline(always)]
    fn replay_vectors<S: Simd, const U: usize, const KEEP_Z: bool>(&mut self, simd: S) {
        let lanes = Vector::<S, N>::LEN;
        let queues = &mut self.workspace.queues;
        let points_taken = queues.len(REPLAY).min(U * lanes);
        let from = queues.pop(REPLAY, points_taken);
        // Lanes without a point start at infinity, which has escaped: the loop ends when every lane has escaped.
        let infinity = Vector::<S, N>::splat(simd, N::from(1_u8) / N::default());
        let [mut x, mut y, mut a, mut b] = [[infinity; U]; 4];
        for j in 0..U {
            if j * lanes < points_taken {
                let points: QueuedPoints<S, N> = queues.get(simd, from + j * lanes);
                let occupied = Vector::<S, N>::first_lanes(simd, points_taken - j * lanes);
                x[j] = points.x.where_else(occupied, infinity);
                (y[j], a[j], b[j]) = (points.y, points.a, points.b);
            }
        }
        let Tested { x, y, count, .. } = self.test_each_step::<S, U, KEEP_Z>(simd, u32::MAX, [x, y, a, b]);
        let mut tests_passed = [0_u32; MAX_BUNDLE];
        let (mut end_x, mut end_y) = ([N::default(); MAX_BUNDLE], [N::default(); MAX_BUNDLE]);
        for j in 0..U {
            store_counts(count[j], &mut tests_passed[j * lanes..(j + 1) * lanes]);
            if KEEP_Z {
                x[j].store(&mut end_x[j * lanes..]);
                y[j].store(&mut end_y[j * lanes..]);
            }
        }
        let pitch = self.workspace.pitch();
        for (i, tests_passed) in tests_passed[..points_taken].iter().enumerate() {
            let (position, n) = self.workspace.queues.position_and_n(from + i);
            let (row, column) = unpack_position(position);
            // The first test is of the queued z, at n. A point that passes k tests escapes at n + k.
            self.out[row][column] = n + tests_passed;
            if KEEP_Z {
                self.workspace.escaped_z[0][row * pitch + column] = end_x[i];
                self.workspace.escaped_z[1][row * pitch + column] = end_y[i];
            }
        }
    }
}
