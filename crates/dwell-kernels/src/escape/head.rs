//! The head: the first steps of every point, from the block's columns and rows.

use super::late::Delicate;
use super::lists::{Points, WHOLE, all_lanes};
use super::watch::Watched;
use super::{HEAD, HEAD_BATCH, HEAD_SINGLE, HEAD_VECTORS, Run, WIDEST, place, small_counts};
use crate::interior::{self, Interior};
use crate::naive;
use crate::number::Number;
use crate::real::Real;
use crate::recipe::Rule;
use crate::vector::{Vector, bits};
use fearless_simd::Simd;
use std::sync::atomic::Ordering;

/// What the block as a whole needs.
#[derive(Clone, Copy)]
struct Block<N> {
    /// Where points have to be tested at every step, if there may be some.
    delicate: Option<Delicate<N>>,
    /// The test for the inside of the set, if there may be points there.
    interior: Option<Interior<N>>,
    /// Whether that is so likely that it is worth testing early.
    early: bool,
}

/// Where a bundle of the head lies: its vectors are of as many rows, or one behind the other in one row.
#[derive(Clone, Copy)]
struct Corner {
    row: usize,
    column: usize,
    /// From one vector to the next.
    down: usize,
    right: usize,
}

impl<N: Number, M: Rule> Run<'_, '_, N, M> {
    /// Every point's first [`HEAD`] steps; survivors go on at once, as soon as they fill a bundle. False when told to
    /// stop; otherwise some may still be waiting in the queues.
    #[inline(always)]
    pub(super) fn head<S: Simd, const REGISTERS: usize>(&mut self, simd: S) -> bool {
        let lanes = Vector::<S, N>::LEN;
        let (width, height) = (self.grid.width(), self.grid.height());
        let block = self.block();
        let mut row = 0;
        while row < height {
            let upright = height - row >= HEAD_VECTORS;
            let (down, right) = if upright { (1, 0) } else { (0, lanes) };
            let mut column = 0;
            while column < width {
                let corner = Corner { row, column, down, right };
                if self.keep_ends {
                    self.head_bundle::<S, HEAD_VECTORS, true>(simd, corner, block);
                } else {
                    self.head_bundle::<S, HEAD_VECTORS, false>(simd, corner, block);
                }
                if self.a_bundle_waits::<S, REGISTERS>() && !self.fly_full_bundles::<S, REGISTERS>(simd) {
                    return false;
                }
                column += if upright { lanes } else { HEAD_VECTORS * lanes };
            }
            row += if upright { HEAD_VECTORS } else { 1 };
        }
        block.delicate.is_none_or(|delicate| self.finish_plainly(|c| delicate.holds_point::<M>(c)))
    }

    fn block(&self) -> Block<N> {
        let grid = self.grid;
        let (extent, recipe) = (grid.extent(), self.bounds.map.recipe);
        let delicate = Delicate::of(&self.bounds).filter(|delicate| delicate.may_hold(extent));
        let near = self.bounds.shortcuts.interior && interior::may_hold(extent);
        let (right, bottom) = (grid.width() - 1, grid.height() - 1);
        let samples = [(0, 0), (right, 0), (0, bottom), (right, bottom), (right / 2, bottom / 2)];
        Block {
            delicate,
            interior: near.then(|| Interior::new(recipe)),
            early: near && samples.iter().any(|(i, j)| Interior::holds_point(grid.point(*i, *j), recipe)),
        }
    }

    #[inline(always)]
    fn head_bundle<S: Simd, const U: usize, const ENDS: bool>(&mut self, simd: S, corner: Corner, block: Block<N>) {
        let lanes = Vector::<S, N>::LEN;
        let Corner { row, column, down, right } = corner;
        let one = Vector::<S, N>::splat(simd, N::from(1_u8));
        let zero = Vector::<S, N>::splat(simd, N::from(0_u8));
        let radius_squared = Vector::<S, N>::splat(simd, self.bounds.radius_squared);
        // The pixel, which is z_1.
        let (mut x, mut y) = ([zero; U], [zero; U]);
        let [re_of_column, im_of_column] = self.workspace.columns(self.grid, column, (U - 1) * right + lanes);
        let rows = row..row + (U - 1) * down + 1;
        let (re_of_row, im_of_row) = (&self.grid.re_of_row[rows.clone()], &self.grid.im_of_row[rows]);
        for j in 0..U {
            x[j] = Vector::load(simd, &re_of_column[j * right..]).add(Vector::splat(simd, re_of_row[j * down]));
            y[j] = Vector::load(simd, &im_of_column[j * right..]).add(Vector::splat(simd, im_of_row[j * down]));
        }
        if let Some(delicate) = block.delicate {
            // They are done by the plain loop, after the others; here they are sent away.
            let infinity = Vector::<S, N>::splat(simd, N::from(1_u8) / N::default());
            for j in 0..U {
                x[j] = infinity.where_else(delicate.holds::<S, M>(simd, [x[j], y[j]]), x[j]);
            }
        }
        let (mut a, mut b) = (x, y);
        if let Some([re, im]) = self.bounds.map.julia {
            a = [Vector::splat(simd, re); U];
            b = [Vector::splat(simd, im); U];
        }

        let last = HEAD.min(self.bounds.limit);
        let single = last.min(HEAD_SINGLE);
        let Watched { mut x, mut y, mut count, mut alive } = self.watch::<S, U, ENDS>(simd, single - 1, [x, y, a, b]);
        // z_n of those that have escaped; only with ENDS.
        let (mut end_x, mut end_y) = (x, y);
        let mut any = alive[0];
        for alive in &alive[1..] {
            any |= *alive;
        }
        // Nobody is inside until it is known.
        let mut inside = [radius_squared.not_at_most(radius_squared); U];
        let mut all_inside = false;
        if let Some(interior) = block.interior.filter(|_| block.early && bits(any) != 0) {
            let mut outside = any;
            for j in 0..U {
                inside[j] = interior.holds(simd, a[j], b[j]);
                outside = if j == 0 { alive[0] & !inside[0] } else { outside | (alive[j] & !inside[j]) };
            }
            all_inside = bits(outside) == 0;
        }

        if last > single && bits(any) != 0 && !all_inside {
            // Tested every few steps: the last z known not to have escaped is kept, and from it the exact n found.
            let early = alive;
            let (mut kept_x, mut kept_y) = (x, y);
            let mut n = single;
            while n < last && bits(any) != 0 {
                let batch = HEAD_BATCH.min(last - n);
                for _ in 0..batch {
                    self.rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
                }
                n += batch;
                let tests = Vector::<S, N>::splat(simd, N::from(batch as u8));
                for j in 0..U {
                    alive[j] = !M::norm(x[j], y[j]).not_at_most(radius_squared);
                    count[j] = count[j].add(tests).where_else(alive[j], count[j]);
                    kept_x[j] = x[j].where_else(alive[j], kept_x[j]);
                    kept_y[j] = y[j].where_else(alive[j], kept_y[j]);
                    any = if j == 0 { alive[0] } else { any | alive[j] };
                }
            }
            let mut pending = early;
            for j in 0..U {
                pending[j] &= !alive[j];
                any = if j == 0 { pending[0] } else { any | pending[j] };
            }
            // Without ends the last test is known to fail.
            for _ in 0..if ENDS { HEAD_BATCH } else { HEAD_BATCH - 1 } {
                if bits(any) == 0 {
                    break;
                }
                self.rule.step_all(&mut kept_x, &mut kept_y, |j| [a[j], b[j]]);
                for j in 0..U {
                    let still = pending[j] & !M::norm(kept_x[j], kept_y[j]).not_at_most(radius_squared);
                    if ENDS {
                        end_x[j] = kept_x[j].where_else(pending[j] & !still, end_x[j]);
                        end_y[j] = kept_y[j].where_else(pending[j] & !still, end_y[j]);
                    }
                    pending[j] = still;
                    count[j] = count[j].add(one).where_else(still, count[j]);
                    any = if j == 0 { still } else { any | still };
                }
            }
        }

        let pitch = self.workspace.pitch();
        let mut any = alive[0];
        for alive in &alive[1..] {
            any |= *alive;
        }
        let escaped = bits(any) == 0;
        for j in 0..U {
            let (row, column) = (row + j * down, column + j * right);
            // The first test is at n = 1, so who survives k of them escapes at k + 1.
            let dwell = if escaped { count[j].add(one) } else { zero.where_else(alive[j], count[j].add(one)) };
            let out = &mut *self.out[row];
            if let Some(out) = out.get_mut(column..column + lanes) {
                small_counts(dwell, out);
            } else if column < out.len() {
                let mut all = [0; WIDEST];
                small_counts(dwell, &mut all);
                let here = out.len() - column;
                out[column..].copy_from_slice(&all[..here]);
            }
            if ENDS && column < pitch {
                end_x[j].store(&mut self.workspace.ends[0][row * pitch + column..]);
                end_y[j].store(&mut self.workspace.ends[1][row * pitch + column..]);
            }
        }
        if self.bounds.limit > HEAD && !escaped && !all_inside {
            // Its own function, though compiled for the level: it is repeated for each j.
            simd.vectorize(
                #[inline(always)]
                || {
                    for j in 0..U {
                        let state = [x[j], y[j], a[j], b[j]];
                        let survivors = bits(alive[j]) & !bits(inside[j]);
                        if survivors != 0 {
                            self.survive(simd, state, survivors, row + j * down, column + j * right, block);
                        }
                    }
                },
            );
        }
    }

    /// Puts the survivors among the points of a vector into a queue, less those that are inside.
    #[inline(always)]
    fn survive<S: Simd>(
        &mut self,
        simd: S,
        [x, y, a, b]: [Vector<S, N>; 4],
        survivors: u64,
        row: usize,
        column: usize,
        block: Block<N>,
    ) {
        let mut survivors = survivors;
        if let Some(interior) = block.interior.filter(|_| !block.early) {
            survivors &= !bits(interior.holds(simd, a, b));
        }
        if survivors == 0 {
            return;
        }
        let mut places = [N::default(); WIDEST];
        for (lane, carrier) in places.iter_mut().enumerate() {
            *carrier = N::carrying(place(row, column + lane));
        }
        let points =
            Points { x, y, a, b, place: Vector::load(simd, &places), n: Vector::splat(simd, N::carrying(HEAD)) };
        let queue = if survivors == all_lanes::<S, N>() { WHOLE } else { 0 };
        self.workspace.lists.push(simd, queue, survivors, points);
    }

    /// Iterates points by the plain loop: those whose c is chosen. False when told to stop.
    #[cold]
    pub(super) fn finish_plainly(&mut self, chosen: impl Fn([N; 2]) -> bool) -> bool {
        for row in 0..self.grid.height() {
            for column in 0..self.grid.width() {
                let pixel = self.grid.point(column, row);
                let c = self.bounds.map.c(pixel);
                if !chosen(c) {
                    continue;
                }
                let halt = || self.stop.load(Ordering::Relaxed);
                let end = naive::run(self.rule, [pixel, c], self.bounds.limit, self.bounds.radius_squared, halt);
                if end.is_none() && halt() {
                    return false;
                }
                self.out[row][column] = end.map_or(0, |end| end.dwell);
                if let (Some(end), true) = (end, self.keep_ends) {
                    let at = row * self.workspace.pitch() + column;
                    let [end_x, end_y] = &mut self.workspace.ends;
                    (end_x[at], end_y[at]) = (end.x, end.y);
                }
            }
        }
        true
    }
}
