//! The buffers that a thread keeps from block to block.

use super::bundle::Bundle;
use super::payoff::Payoff;
use super::queues::{CAPACITY, LONG_QUEUE, Queues, STAGES};
use super::{MAX_LANES, PROLOGUE_VECTORS, unpack_position};
use crate::grid::Grid;
use crate::number::Number;
use std::collections::TryReserveError;

/// The greatest number of columns, and of rows, of a block: a position is a row and a column in 16 bits each.
pub const MAX_SIDE: usize = 1 << 15;

/// Buffers for blocks of any shape. They grow to the size that the largest block needs and are reused by the thread
/// that owns them.
pub struct Workspace<N> {
    /// The contributions of the last columns to re c and im c, followed by columns at infinity, whose points have
    /// escaped at once: the padding lets whole vectors be loaded.
    padded_columns: [Vec<N>; 2],
    /// The first column in `padded_columns`.
    padded_from: usize,
    /// z_n of escaped points, if it is kept: x and y, in rows of `pitch` numbers.
    pub(super) escaped_z: [Vec<N>; 2],
    /// The distance from one row of `escaped_z` to the next, in numbers.
    pitch: usize,
    pub(super) queues: Box<Queues<N>>,
    pub(super) bundle: Box<Bundle<N>>,
    /// Whether every point of the last groups of the prologue has survived it, so that those of the next ones may.
    pub(super) all_survive: bool,
    /// Where proofs that single points are attracted have paid lately.
    pub(super) payoff: Payoff,
    /// The n from which points are left at the end of a block.
    leaves_from: u32,
    /// The positions of those that the last block left.
    left: Vec<u32>,
}

impl<N> std::fmt::Debug for Workspace<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("pitch", &self.pitch).finish_non_exhaustive()
    }
}

impl<N: Number> Workspace<N> {
    /// A workspace without space for a block.
    ///
    /// # Errors
    /// When an allocation fails.
    pub fn new() -> Result<Self, TryReserveError> {
        let mut left = Vec::new();
        left.try_reserve_exact(CAPACITY)?;
        Ok(Self {
            padded_columns: [Vec::new(), Vec::new()],
            padded_from: 0,
            escaped_z: [Vec::new(), Vec::new()],
            pitch: 0,
            queues: Box::new(Queues::new()?),
            bundle: Box::new(Bundle::new()),
            all_survive: false,
            payoff: Payoff::default(),
            leaves_from: u32::MAX,
            left,
        })
    }

    /// From now on leaves points open that have not escaped after `from` steps, at least 4096, when a block has too few of
    /// them for full bundles; `u32::MAX`, as at first: none. Their dwell is then 0, and [`Self::left`] tells which they are.
    /// The last points of a block take as long as a full bundle of them, up to the limit, so a caller collects those of
    /// several blocks and computes them together.
    pub fn leave_late(&mut self, from: u32) {
        self.leaves_from = from.max(1 << 12);
    }

    /// The points that the last block left open, as columns and rows; at most [`Self::MOST_LEFT`].
    pub fn left(&self) -> impl ExactSizeIterator<Item = (usize, usize)> {
        self.left.iter().map(|position| {
            let (row, column) = unpack_position(*position);
            (column, row)
        })
    }

    /// The most points that a block leaves open.
    pub const MOST_LEFT: usize = CAPACITY;

    /// The n from which points are left at the end of a block.
    pub(super) fn leaves_from(&self) -> u32 {
        self.leaves_from
    }

    /// Leaves all points of the long queue if one of them is late. Returns whether it did.
    pub(super) fn leave_long_queue(&mut self) -> bool {
        let is_late = self.queues.positions_and_n(LONG_QUEUE).any(|(_, n)| n >= self.leaves_from);
        if is_late {
            self.left.extend(self.queues.positions_and_n(LONG_QUEUE).map(|(position, _)| position));
            self.queues.pop(LONG_QUEUE, self.queues.len(LONG_QUEUE));
        }
        is_late
    }

    /// The bytes that a workspace takes after blocks of up to `width` columns and `height` rows, with z_n kept or not.
    #[must_use]
    pub fn bytes(width: usize, height: usize, keep_escaped_z: bool) -> usize {
        let escaped_z =
            if keep_escaped_z { 2 * (width.next_multiple_of(MAX_LANES) * height + MAX_GROUP_COLUMNS) } else { 0 };
        Queues::<N>::BYTES
            + size_of::<Bundle<N>>()
            + CAPACITY * size_of::<u32>()
            + (escaped_z + 4 * MAX_GROUP_COLUMNS) * size_of::<N>()
    }

    /// Makes space for a block, with z_n kept or not, so that computing it allocates no more than a few kilobytes.
    ///
    /// # Errors
    /// When the allocation fails.
    pub fn reserve(&mut self, grid: Grid<'_, N>, keep_escaped_z: bool) -> Result<(), TryReserveError> {
        let size = Self::escaped_z_size(grid);
        for escaped_z in self.escaped_z.iter_mut().filter(|_| keep_escaped_z) {
            escaped_z.try_reserve_exact(size.saturating_sub(escaped_z.len()))?;
        }
        Ok(())
    }

    /// The numbers of x, and of y, of z_n of a block.
    fn escaped_z_size(grid: Grid<'_, N>) -> usize {
        grid.width().next_multiple_of(MAX_LANES) * grid.height() + MAX_GROUP_COLUMNS
    }

    /// Prepares the workspace for a block: copies the padded columns, grows the buffers and empties the queues.
    pub(super) fn prepare(&mut self, grid: Grid<'_, N>, keep_escaped_z: bool) {
        let width = grid.width();
        let infinity = N::from(1_u8) / N::default();
        self.padded_from = width.saturating_sub(MAX_GROUP_COLUMNS);
        for (padded_columns, (columns, filler)) in
            self.padded_columns.iter_mut().zip([(grid.re_of_column, infinity), (grid.im_of_column, N::default())])
        {
            padded_columns.clear();
            padded_columns.extend_from_slice(&columns[self.padded_from..]);
            padded_columns.resize(width - self.padded_from + MAX_GROUP_COLUMNS, filler);
        }
        self.pitch = width.next_multiple_of(MAX_LANES);
        let size = Self::escaped_z_size(grid);
        for escaped_z in &mut self.escaped_z {
            if keep_escaped_z && escaped_z.len() < size {
                escaped_z.resize(size, N::default());
            }
        }
        self.queues.clear();
        self.left.clear();
    }

    /// Forgets what earlier blocks were like. It decides in which bundles points are iterated, and so which of the points that
    /// never escape are found to return to an earlier z or to be attracted.
    pub(super) fn forget_earlier_blocks(&mut self) {
        self.bundle.many_escapes = [false; STAGES];
        self.all_survive = false;
        self.payoff = Payoff::default();
    }

    /// The contributions of `count` columns from `from` on to re c and im c. They may extend beyond the last column.
    ///
    /// If `count` is greater than [`MAX_GROUP_COLUMNS`] and the columns extend beyond the last.
    #[inline(always)]
    pub(crate) fn columns<'a>(&'a self, grid: Grid<'a, N>, from: usize, count: usize) -> [&'a [N]; 2] {
        if from + count <= grid.re_of_column.len() {
            return [&grid.re_of_column[from..from + count], &grid.im_of_column[from..from + count]];
        }
        let from = from - self.padded_from;
        [&self.padded_columns[0][from..from + count], &self.padded_columns[1][from..from + count]]
    }

    /// The distance from one row of `escaped_z` to the next, in numbers.
    pub(super) fn pitch(&self) -> usize {
        self.pitch
    }

    /// z_n of the points of a row, x and y, followed by padding. It has a meaning only for points that escaped in a run
    /// that kept z_n.
    pub(crate) fn escaped_z(&self, row: usize) -> [&[N]; 2] {
        let from = row * self.pitch;
        [&self.escaped_z[0][from..], &self.escaped_z[1][from..]]
    }
}

/// The greatest number of columns loaded together: those of a group of the prologue that lies in one row.
const MAX_GROUP_COLUMNS: usize = PROLOGUE_VECTORS * MAX_LANES;
