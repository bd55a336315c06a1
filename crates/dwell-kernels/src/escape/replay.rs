//! The replay: the exact n of points that escaped within a batch.

use super::lists::{Points, REPLAY};
use super::watch::Watched;
use super::{MOST_LANES, REPLAY_VECTORS, Run, at_place, small_counts};
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::Vector;
use fearless_simd::Simd;

impl<N: Number, M: Rule> Run<'_, '_, N, M> {
    /// Replays full vectors until fewer points are left than fill them.
    #[inline(always)]
    pub(super) fn replay_full_vectors<S: Simd>(&mut self, simd: S) {
        while self.workspace.lists.len(REPLAY) >= REPLAY_VECTORS * Vector::<S, N>::LEN {
            self.replay(simd);
        }
    }

    /// Replays the last points of the list, as many as fit.
    #[inline(always)]
    pub(super) fn replay<S: Simd>(&mut self, simd: S) {
        // Its own function, though compiled for the level: it is rare.
        simd.vectorize(
            #[inline(always)]
            || {
                if self.keep_ends {
                    self.replay_vectors::<S, REPLAY_VECTORS, true>(simd);
                } else {
                    self.replay_vectors::<S, REPLAY_VECTORS, false>(simd);
                }
            },
        );
    }

    #[inline(always)]
    fn replay_vectors<S: Simd, const U: usize, const ENDS: bool>(&mut self, simd: S) {
        let lanes = Vector::<S, N>::LEN;
        let lists = &mut self.workspace.lists;
        let here = lists.len(REPLAY).min(U * lanes);
        let from = lists.pop(REPLAY, here);
        // What lies behind the last point has escaped, or the watch would never end.
        let infinity = Vector::<S, N>::splat(simd, N::from(1_u8) / N::default());
        let [mut x, mut y, mut a, mut b] = [[infinity; U]; 4];
        for j in 0..U {
            if j * lanes < here {
                let points: Points<S, N> = lists.get(simd, from + j * lanes);
                let inside = Vector::<S, N>::first_lanes(simd, here - j * lanes);
                x[j] = points.x.where_else(inside, infinity);
                (y[j], a[j], b[j]) = (points.y, points.a, points.b);
            }
        }
        let Watched { x, y, count, .. } = self.watch::<S, U, ENDS>(simd, u32::MAX, [x, y, a, b]);
        let mut tests = [0_u32; MOST_LANES];
        let (mut end_x, mut end_y) = ([N::default(); MOST_LANES], [N::default(); MOST_LANES]);
        for j in 0..U {
            small_counts(count[j], &mut tests[j * lanes..(j + 1) * lanes]);
            if ENDS {
                x[j].store(&mut end_x[j * lanes..]);
                y[j].store(&mut end_y[j * lanes..]);
            }
        }
        let pitch = self.workspace.pitch();
        for (i, tests) in tests[..here].iter().enumerate() {
            let (place, n) = self.workspace.lists.whereabouts(from + i);
            let (row, column) = at_place(place);
            // The first test is of the z kept, at n; who survives k tests escapes at n + k.
            self.out[row][column] = n + tests;
            if ENDS {
                self.workspace.ends[0][row * pitch + column] = end_x[i];
                self.workspace.ends[1][row * pitch + column] = end_y[i];
            }
        }
    }
}
