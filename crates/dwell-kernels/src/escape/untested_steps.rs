//! The prologue of points that are expected to survive it: all its steps, and one test at the end.
//!
//! The test at the end also finds the points that escaped at an earlier step (`late.rs`). Where it finds one, the steps are
//! lost and the prologue with its tests computes the group. So a group is computed this way where every point of the one before
//! it has survived: inside the set, and far into the picture of a deep view, that is nearly every group. Without tests eight
//! vectors fit in the registers, which hide the latency of two multiply-add units. They are a bundle, and need not wait in a
//! queue for one.

use super::bundle::full_vectors;
use super::late::ExceptionalPoints;
use super::prologue::{GroupLayout, PointTests, survivors_at};
use super::queues::all_lanes;
use super::{DwellKernel, PROLOGUE_STEPS, PROLOGUE_VECTORS};
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Vector, bits};
use fearless_simd::Simd;

/// The number of vectors in flight: a multiple of [`PROLOGUE_VECTORS`], and as many as fill a bundle where there are 32 registers.
pub(super) const UNTESTED_VECTORS: usize = 2 * PROLOGUE_VECTORS;
const _: () = assert!(UNTESTED_VECTORS == full_vectors(2), "the survivors of a group fill a bundle");

/// What a group without tests has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Untested {
    /// Nothing is done: the prologue with its tests is to compute the group.
    Nothing,
    /// Its points are in the bundle.
    Bundle,
    /// Its points are in queues, or are done.
    Queued,
}

impl<N: Number, R: Rule> DwellKernel<'_, '_, N, R> {
    /// Iterates a group of `U` vectors to the end of the prologue and writes 0 as the dwell of its points. They are put in the
    /// bundle, or in a queue if some of them are interior. Does nothing if they are not expected to survive, some of them do
    /// not, or some need other tests.
    #[inline(always)]
    pub(super) fn untested_group<S: Simd, const U: usize>(
        &mut self,
        simd: S,
        layout: GroupLayout,
        tests: PointTests<N>,
    ) -> Untested {
        let GroupLayout { row, column, down, right } = layout;
        if !self.workspace.all_survive || column + (U - 1) * right + Vector::<S, N>::LEN > self.grid.width() {
            return Untested::Nothing;
        }
        // A separate function compiled for the level, which leaves the registers of the tested prologue alone.
        simd.vectorize(
            #[inline(always)]
            || {
                let lanes = Vector::<S, N>::LEN;
                let radius_squared = Vector::<S, N>::splat(simd, self.settings.radius_squared);
                let [mut x, mut y] = self.pixels::<S, U>(simd, layout);
                let is_exceptional = |exceptional: ExceptionalPoints<N>, j: usize| {
                    bits(exceptional.contains::<S, R>(simd, [x[j], y[j]])) != 0
                };
                if let Some(exceptional) = tests.exceptional {
                    for j in 0..U {
                        if is_exceptional(exceptional, j) {
                            return Untested::Nothing;
                        }
                    }
                }
                let [a, b] = self.c_of(simd, [x, y]);
                // From z_1 on, two steps in each turn of the loop, as in bundles.
                self.rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
                for _ in 0..(PROLOGUE_STEPS - 2) / 2 {
                    self.rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
                    self.rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
                }
                let mut escaped = R::norm(x[0], y[0]).not_at_most(radius_squared);
                for j in 1..U {
                    escaped |= R::norm(x[j], y[j]).not_at_most(radius_squared);
                }
                if bits(escaped) != 0 {
                    return Untested::Nothing;
                }
                let mut outside = true;
                if let Some(interior) = tests.interior {
                    for j in 0..U {
                        outside &= bits(interior.contains(simd, a[j], b[j])) == 0;
                    }
                }
                let is_at_limit = self.settings.limit == PROLOGUE_STEPS;
                for j in 0..U {
                    let (row, column) = (row + j * down, column + j * right);
                    self.out[row][column..column + lanes].fill(0);
                    let state = [x[j], y[j], a[j], b[j]];
                    if outside && !is_at_limit {
                        self.put_in_bundle(j * lanes, survivors_at(simd, state, row, column));
                    } else if !is_at_limit {
                        self.queue_survivors(simd, state, all_lanes::<S, N>(), row, column, tests);
                    }
                }
                if outside && !is_at_limit { Untested::Bundle } else { Untested::Queued }
            },
        )
    }
}
