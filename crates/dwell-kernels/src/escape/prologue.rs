//! The prologue: the first steps of every point, which is computed from the columns and rows of the block.

use super::late::ExceptionalPoints;
use super::queues::{QueuedPoints, WHOLE_VECTORS, all_lanes};
use super::tested_steps::Tested;
use super::untested_steps::{UNTESTED_VECTORS, Untested};
use super::{
    DwellKernel, MAX_LANES, PROLOGUE_BATCH, PROLOGUE_SINGLE_STEPS, PROLOGUE_STEPS, PROLOGUE_VECTORS, pack_position,
    store_counts,
};
use crate::arithmetic::Arithmetic;
use crate::interior::{self, Interior};
use crate::naive;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Vector, bits};
use fearless_simd::Simd;
use std::sync::atomic::Ordering;

/// The tests that the points of a block need, decided for the block as a whole.
#[derive(Clone, Copy)]
pub(super) struct PointTests<N> {
    /// The points that must be tested at every step, if the block may contain some.
    pub(super) exceptional: Option<ExceptionalPoints<N>>,
    /// The test for interior points, if the block may contain some.
    pub(super) interior: Option<Interior<N>>,
    /// Whether interior points are so likely that the test pays for itself early in the prologue.
    pub(super) interior_early: bool,
}

/// The layout of a group of vectors of the prologue in the block: one vector in each of several rows, or one behind the
/// other in one row.
#[derive(Clone, Copy)]
pub(super) struct GroupLayout {
    pub(super) row: usize,
    pub(super) column: usize,
    /// The step from one vector to the next, in rows (`down`) and columns (`right`).
    pub(super) down: usize,
    pub(super) right: usize,
}

impl GroupLayout {
    /// The layout of the vectors after the first `vectors`.
    fn after(self, vectors: usize) -> Self {
        Self { row: self.row + vectors * self.down, column: self.column + vectors * self.right, ..self }
    }
}

impl<N: Number, R: Rule> DwellKernel<'_, '_, N, R> {
    /// Iterates every point for its first [`PROLOGUE_STEPS`] steps. Survivors are iterated further as soon as they fill
    /// a bundle. Returns false if `stop` was set; otherwise some survivors may still be waiting in the queues.
    #[inline(always)]
    pub(super) fn prologue<S: Simd, const REGISTERS: usize>(&mut self, simd: S) -> bool {
        let lanes = Vector::<S, N>::LEN;
        let (width, height) = (self.grid.width(), self.grid.height());
        let tests = self.point_tests();
        let may_skip_tests = REGISTERS > 1 && !tests.interior_early && self.settings.limit >= PROLOGUE_STEPS;
        let mut row = 0;
        while row < height {
            let stacked = height - row >= PROLOGUE_VECTORS;
            let (down, right) = if stacked { (1, 0) } else { (0, lanes) };
            // Enough rows, or a single one, for the groups that are computed without tests.
            let several = may_skip_tests && (!stacked || height - row >= UNTESTED_VECTORS);
            let groups = if several { UNTESTED_VECTORS / PROLOGUE_VECTORS } else { 1 };
            let mut column = 0;
            while column < width {
                let layout = GroupLayout { row, column, down, right };
                let untested = if several {
                    self.untested_group::<S, UNTESTED_VECTORS>(simd, layout, tests)
                } else {
                    Untested::Nothing
                };
                if untested == Untested::Bundle && !self.iterate_loaded_bundle::<S, REGISTERS>(simd) {
                    return false;
                }
                if untested == Untested::Nothing {
                    let mut all_survive = true;
                    for group in 0..groups {
                        let layout = layout.after(group * PROLOGUE_VECTORS);
                        if layout.column < width {
                            all_survive &= if self.keep_escaped_z {
                                self.prologue_group::<S, PROLOGUE_VECTORS, true>(simd, layout, tests)
                            } else {
                                self.prologue_group::<S, PROLOGUE_VECTORS, false>(simd, layout, tests)
                            };
                        }
                    }
                    self.workspace.all_survive = all_survive;
                }
                if self.has_full_bundle::<S, REGISTERS>() && !self.iterate_full_bundles::<S, REGISTERS>(simd) {
                    return false;
                }
                column += if stacked { lanes } else { groups * PROLOGUE_VECTORS * lanes };
            }
            row += if stacked { groups * PROLOGUE_VECTORS } else { 1 };
        }
        tests.exceptional.is_none_or(|exceptional| self.run_plain_loop(|c| exceptional.contains_point::<R>(c)))
    }

    /// Decides which tests the points of the block need.
    fn point_tests(&self) -> PointTests<N> {
        let grid = self.grid;
        let (extent, recipe) = (grid.extent(), self.settings.map.recipe);
        let exceptional = ExceptionalPoints::of(&self.settings).filter(|exceptional| exceptional.may_contain(extent));
        let may_be_interior = self.settings.shortcuts.interior && interior::may_contain(extent);
        let (right, bottom) = (grid.width() - 1, grid.height() - 1);
        let samples = [(0, 0), (right, 0), (0, bottom), (right, bottom), (right / 2, bottom / 2)];
        PointTests {
            exceptional,
            interior: may_be_interior.then(|| Interior::new(recipe)),
            interior_early: may_be_interior
                && samples.iter().any(|(i, j)| Interior::contains_point(grid.point(*i, *j), recipe)),
        }
    }

    /// The pixels of a group of `U` vectors.
    #[inline(always)]
    pub(super) fn pixels<S: Simd, const U: usize>(&self, simd: S, layout: GroupLayout) -> [[Vector<S, N>; U]; 2] {
        let lanes = Vector::<S, N>::LEN;
        let GroupLayout { row, column, down, right } = layout;
        let zero = Vector::<S, N>::splat(simd, N::from(0_u8));
        let (mut x, mut y) = ([zero; U], [zero; U]);
        let [re_of_column, im_of_column] = self.workspace.columns(self.grid, column, (U - 1) * right + lanes);
        let rows = row..row + (U - 1) * down + 1;
        let (re_of_row, im_of_row) = (&self.grid.re_of_row[rows.clone()], &self.grid.im_of_row[rows]);
        for j in 0..U {
            x[j] = Vector::load(simd, &re_of_column[j * right..]).add(Vector::splat(simd, re_of_row[j * down]));
            y[j] = Vector::load(simd, &im_of_column[j * right..]).add(Vector::splat(simd, im_of_row[j * down]));
        }
        [x, y]
    }

    /// c of pixels.
    #[inline(always)]
    pub(super) fn c_of<S: Simd, const U: usize>(
        &self,
        simd: S,
        pixels: [[Vector<S, N>; U]; 2],
    ) -> [[Vector<S, N>; U]; 2] {
        self.settings.map.julia.map_or(pixels, |c| [[Vector::splat(simd, c[0]); U], [Vector::splat(simd, c[1]); U]])
    }

    /// The prologue of one group of `U` vectors: computes c, iterates, writes the dwells of escaped points and 0 for
    /// the others, and queues the survivors. Returns whether every point has survived.
    #[expect(clippy::too_many_lines, reason = "one loop nest whose vectors must stay in registers")]
    #[inline(always)]
    fn prologue_group<S: Simd, const U: usize, const KEEP_Z: bool>(
        &mut self,
        simd: S,
        layout: GroupLayout,
        tests: PointTests<N>,
    ) -> bool {
        let lanes = Vector::<S, N>::LEN;
        let GroupLayout { row, column, down, right } = layout;
        let one = Vector::<S, N>::splat(simd, N::from(1_u8));
        let zero = Vector::<S, N>::splat(simd, N::from(0_u8));
        let radius_squared = Vector::<S, N>::splat(simd, self.settings.radius_squared);
        // The pixel is z_1.
        let [mut x, y] = self.pixels::<S, U>(simd, layout);
        if let Some(exceptional) = tests.exceptional {
            // The plain loop computes these points afterwards. Here they are moved to infinity, so that they escape at
            // once.
            let infinity = Vector::<S, N>::splat(simd, N::from(1_u8) / N::default());
            for j in 0..U {
                x[j] = infinity.where_else(exceptional.contains::<S, R>(simd, [x[j], y[j]]), x[j]);
            }
        }
        let [a, b] = self.c_of(simd, [x, y]);

        let last = PROLOGUE_STEPS.min(self.settings.limit);
        let single = last.min(PROLOGUE_SINGLE_STEPS);
        let Tested { mut x, mut y, mut count, mut alive } =
            self.test_each_step::<S, U, KEEP_Z>(simd, single - 1, [x, y, a, b]);
        // z_n of escaped points, used only with `KEEP_Z`.
        let (mut end_x, mut end_y) = (x, y);
        let mut any = alive[0];
        for alive in &alive[1..] {
            any |= *alive;
        }
        // No point counts as interior before the test.
        let mut inside = [radius_squared.not_at_most(radius_squared); U];
        let mut all_inside = false;
        if let Some(interior) = tests.interior.filter(|_| tests.interior_early && bits(any) != 0) {
            let mut outside = any;
            for j in 0..U {
                inside[j] = interior.contains(simd, a[j], b[j]);
                outside = if j == 0 { alive[0] & !inside[0] } else { outside | (alive[j] & !inside[j]) };
            }
            all_inside = bits(outside) == 0;
        }

        if last > single && bits(any) != 0 && !all_inside {
            // Tested every few steps: the last z that had not escaped is kept, and the exact n is found from it.
            let alive_at_start = alive;
            let (mut kept_x, mut kept_y) = (x, y);
            let mut n = single;
            while n < last && bits(any) != 0 {
                let batch = PROLOGUE_BATCH.min(last - n);
                for _ in 0..batch {
                    self.rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
                }
                n += batch;
                let batch_tests = Vector::<S, N>::splat(simd, N::from(batch as u8));
                for j in 0..U {
                    alive[j] = !R::norm(x[j], y[j]).not_at_most(radius_squared);
                    count[j] = count[j].add(batch_tests).where_else(alive[j], count[j]);
                    kept_x[j] = x[j].where_else(alive[j], kept_x[j]);
                    kept_y[j] = y[j].where_else(alive[j], kept_y[j]);
                    any = if j == 0 { alive[0] } else { any | alive[j] };
                }
            }
            let mut pending = alive_at_start;
            for j in 0..U {
                pending[j] &= !alive[j];
                any = if j == 0 { pending[0] } else { any | pending[j] };
            }
            // Without `KEEP_Z` the last step and test are not needed, since the last test is known to fail.
            for _ in 0..if KEEP_Z { PROLOGUE_BATCH } else { PROLOGUE_BATCH - 1 } {
                if bits(any) == 0 {
                    break;
                }
                self.rule.step_all(&mut kept_x, &mut kept_y, |j| [a[j], b[j]]);
                for j in 0..U {
                    let survives = pending[j] & !R::norm(kept_x[j], kept_y[j]).not_at_most(radius_squared);
                    if KEEP_Z {
                        end_x[j] = kept_x[j].where_else(pending[j] & !survives, end_x[j]);
                        end_y[j] = kept_y[j].where_else(pending[j] & !survives, end_y[j]);
                    }
                    pending[j] = survives;
                    count[j] = count[j].add(one).where_else(survives, count[j]);
                    any = if j == 0 { survives } else { any | survives };
                }
            }
        }

        let pitch = self.workspace.pitch();
        let (mut any, mut all) = (alive[0], alive[0]);
        for alive in &alive[1..] {
            any |= *alive;
            all &= *alive;
        }
        let escaped = bits(any) == 0;
        for j in 0..U {
            let (row, column) = (row + j * down, column + j * right);
            // The first test is at n = 1, so a point that passes k tests escapes at k + 1.
            let dwell = if escaped { count[j].add(one) } else { zero.where_else(alive[j], count[j].add(one)) };
            let out = &mut *self.out[row];
            if let Some(out) = out.get_mut(column..column + lanes) {
                store_counts(dwell, out);
            } else if column < out.len() {
                let mut all = [0; MAX_LANES];
                store_counts(dwell, &mut all);
                let count_left = out.len() - column;
                out[column..].copy_from_slice(&all[..count_left]);
            }
            if KEEP_Z && column < pitch {
                end_x[j].store(&mut self.workspace.escaped_z[0][row * pitch + column..]);
                end_y[j].store(&mut self.workspace.escaped_z[1][row * pitch + column..]);
            }
        }
        if self.settings.limit > PROLOGUE_STEPS && !escaped && !all_inside {
            // A separate function compiled for the level, because the code is repeated for each j.
            simd.vectorize(
                #[inline(always)]
                || {
                    for j in 0..U {
                        let state = [x[j], y[j], a[j], b[j]];
                        let survivors = bits(alive[j]) & !bits(inside[j]);
                        if survivors != 0 {
                            self.queue_survivors(simd, state, survivors, row + j * down, column + j * right, tests);
                        }
                    }
                },
            );
        }
        bits(all) == all_lanes::<S, N>()
    }

    /// Adds the survivors among the points of a vector to a queue, except those that are interior.
    #[inline(always)]
    pub(super) fn queue_survivors<S: Simd>(
        &mut self,
        simd: S,
        [x, y, a, b]: [Vector<S, N>; 4],
        survivors: u64,
        row: usize,
        column: usize,
        tests: PointTests<N>,
    ) {
        let mut survivors = survivors;
        if let Some(interior) = tests.interior.filter(|_| !tests.interior_early) {
            survivors &= !bits(interior.contains(simd, a, b));
        }
        if survivors == 0 {
            return;
        }
        let points = survivors_at(simd, [x, y, a, b], row, column);
        let queue = if survivors == all_lanes::<S, N>() { WHOLE_VECTORS } else { 0 };
        self.workspace.queues.push(simd, queue, survivors, points);
    }

    /// Computes with the plain loop the points whose c satisfies `select`. Returns false if `stop` was set.
    #[cold]
    pub(super) fn run_plain_loop(&mut self, select: impl Fn([N; 2]) -> bool) -> bool {
        for row in 0..self.grid.height() {
            for column in 0..self.grid.width() {
                let pixel = self.grid.point(column, row);
                let c = self.settings.map.c(pixel);
                if !select(c) {
                    continue;
                }
                let should_stop = || self.stop.load(Ordering::Relaxed);
                let end = naive::iterate(
                    self.rule,
                    [pixel, c],
                    self.settings.limit,
                    self.settings.radius_squared,
                    should_stop,
                );
                if end.is_none() && should_stop() {
                    return false;
                }
                self.out[row][column] = end.map_or(0, |end| end.dwell);
                if let (Some(end), true) = (end, self.keep_escaped_z) {
                    let at = row * self.workspace.pitch() + column;
                    let [end_x, end_y] = &mut self.workspace.escaped_z;
                    (end_x[at], end_y[at]) = (end.x, end.y);
                }
            }
        }
        true
    }
}

/// The points of a vector at the end of the prologue, the first of which is at this row and column.
#[inline(always)]
pub(super) fn survivors_at<S: Simd, N: Number>(
    simd: S,
    [x, y, a, b]: [Vector<S, N>; 4],
    row: usize,
    column: usize,
) -> QueuedPoints<S, N> {
    let mut positions = [N::default(); MAX_LANES];
    for (lane, carrier) in positions.iter_mut().enumerate() {
        *carrier = N::from_low_bits(pack_position(row, column + lane));
    }
    let n = Vector::splat(simd, N::from_low_bits(PROLOGUE_STEPS));
    QueuedPoints { x, y, a, b, position: Vector::load(simd, &positions), n }
}
