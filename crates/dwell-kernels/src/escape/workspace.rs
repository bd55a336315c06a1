//! What a thread keeps from block to block.

use super::flight::Flight;
use super::lists::Lists;
use super::{HEAD_VECTORS, WIDEST};
use crate::grid::Grid;
use crate::number::Number;

/// The most columns, and the most rows, of a block: a place is a row and a column in 16 bits each.
pub const LONGEST_SIDE: usize = 1 << 15;

/// Buffers for blocks of any shape, kept by a thread for as long as it works: they grow to the largest block.
pub struct Workspace<N> {
    /// What the last columns contribute to re c and im c, with points at infinity behind, which have escaped at once: so
    /// whole vectors can be loaded.
    tail: [Vec<N>; 2],
    /// The column that the tail begins with.
    tail_from: usize,
    /// z_n of points that escaped, x and y, if it is kept: rows of `pitch`.
    pub(super) ends: [Vec<N>; 2],
    pitch: usize,
    pub(super) lists: Box<Lists<N>>,
    pub(super) flight: Box<Flight<N>>,
}

impl<N> std::fmt::Debug for Workspace<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("pitch", &self.pitch).finish_non_exhaustive()
    }
}

impl<N: Number> Default for Workspace<N> {
    fn default() -> Self {
        Self {
            tail: [Vec::new(), Vec::new()],
            tail_from: 0,
            ends: [Vec::new(), Vec::new()],
            pitch: 0,
            lists: Box::new(Lists::new()),
            flight: Box::new(Flight::new()),
        }
    }
}

impl<N: Number> Workspace<N> {
    /// Bytes that a workspace comes to take for blocks of up to so many columns and rows, with z_n kept or not.
    #[must_use]
    pub fn bytes(width: usize, height: usize, keep_ends: bool) -> usize {
        let ends = if keep_ends { 2 * (width.next_multiple_of(WIDEST) * height + REACH) } else { 0 };
        Lists::<N>::BYTES + size_of::<Flight<N>>() + (ends + 4 * REACH) * size_of::<N>()
    }

    /// Starts a block.
    pub(super) fn start(&mut self, grid: Grid<'_, N>, keep_ends: bool) {
        let width = grid.width();
        let infinity = N::from(1_u8) / N::default();
        self.tail_from = width.saturating_sub(REACH);
        for (tail, (columns, filler)) in
            self.tail.iter_mut().zip([(grid.re_of_column, infinity), (grid.im_of_column, N::default())])
        {
            tail.clear();
            tail.extend_from_slice(&columns[self.tail_from..]);
            tail.resize(width - self.tail_from + REACH, filler);
        }
        self.pitch = width.next_multiple_of(WIDEST);
        let size = self.pitch * grid.height() + REACH;
        for ends in &mut self.ends {
            if keep_ends && ends.len() < size {
                ends.resize(size, N::default());
            }
        }
        self.lists.clear();
    }

    /// What `count` columns from `from` on contribute to re c and im c; they may reach beyond the last.
    ///
    /// # Panics
    /// When `count` is above [`REACH`] and they do.
    #[inline(always)]
    pub(crate) fn columns<'a>(&'a self, grid: Grid<'a, N>, from: usize, count: usize) -> [&'a [N]; 2] {
        if from + count <= grid.re_of_column.len() {
            return [&grid.re_of_column[from..from + count], &grid.im_of_column[from..from + count]];
        }
        let from = from - self.tail_from;
        [&self.tail[0][from..from + count], &self.tail[1][from..from + count]]
    }

    /// From a row of ends to the next.
    pub(super) fn pitch(&self) -> usize {
        self.pitch
    }

    /// z_n of the points of a row, where they escaped and it was asked for, with slack behind: x and y.
    pub(crate) fn ends(&self, row: usize) -> [&[N]; 2] {
        let from = row * self.pitch;
        [&self.ends[0][from..], &self.ends[1][from..]]
    }
}

/// How many columns are looked at together at most: by a bundle of the head that lies in one row.
const REACH: usize = HEAD_VECTORS * WIDEST;
