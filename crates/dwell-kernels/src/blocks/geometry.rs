//! Where the blocks of a grid are: their centres and radii.

use crate::enclosure::unit;
use crate::grid::Grid;
use crate::number::Number;
use std::collections::TryReserveError;
use std::ops::Range;

/// The centres of all blocks of one size, as contributions of columns and rows to c, and a radius that holds for all.
#[derive(Debug)]
pub(super) struct Layer<N> {
    /// The side of a block in points.
    pub(super) side: usize,
    /// The greatest distance of a point from the centre of its block, in the plane, rounded up.
    pub(super) radius: N,
    /// Real and imaginary parts for each column of blocks.
    columns: Vec<[N; 2]>,
    /// Real and imaginary parts for each row of blocks.
    rows: Vec<[N; 2]>,
}

/// The centre of these points of one direction, and half the differences of the first and the last.
fn middle<N: Number>(re: &[N], im: &[N], points: Range<usize>) -> ([N; 2], [f64; 2]) {
    let ends = |of: &[N]| [of[points.start].to_f64(), of[points.end - 1].to_f64()];
    let ([re0, re1], [im0, im1]) = (ends(re), ends(im));
    ([N::nearest((re0 + re1) / 2.0), N::nearest((im0 + im1) / 2.0)], [(re1 - re0) / 2.0, (im1 - im0) / 2.0])
}

/// The range of points of a block.
fn points(block: usize, side: usize, all: usize) -> Range<usize> {
    block * side..((block + 1) * side).min(all)
}

impl<N: Number> Layer<N> {
    pub(super) fn new() -> Self {
        Self { side: 0, radius: N::default(), columns: Vec::new(), rows: Vec::new() }
    }

    /// Bytes of a layer of a grid.
    pub(super) fn bytes(width: usize, height: usize, side: usize) -> usize {
        (width.div_ceil(side) + height.div_ceil(side)) * size_of::<[N; 2]>()
    }

    /// Computes the layer for a monotonic grid, whose points have at most the modulus `greatest_c`.
    ///
    /// Each part of the contribution of a column or a row is between those of the ends of the block, so that c is in a box around
    /// the centre whose sides are the sums of those of both. Of a straight view, this is the block itself; of a view rotated by
    /// 45 degrees, the box has sqrt 2 times its diagonal. The contributions, their sum and the centres are rounded: each by at
    /// most u of the greatest part.
    pub(super) fn fill(&mut self, grid: &Grid<'_, N>, side: usize, greatest_c: f64) -> Result<(), TryReserveError> {
        let mut half = [[0.0_f64; 2]; 2];
        let mut greatest_part = greatest_c;
        let directions = [
            (&mut self.columns, grid.re_of_column, grid.im_of_column),
            (&mut self.rows, grid.re_of_row, grid.im_of_row),
        ];
        for (half, (centres, re, im)) in half.iter_mut().zip(directions) {
            let blocks = re.len().div_ceil(side);
            centres.clear();
            centres.try_reserve(blocks)?;
            for block in 0..blocks {
                let (centre, reach) = middle(re, im, points(block, side, re.len()));
                for (half, reach) in half.iter_mut().zip(reach) {
                    *half = half.max(reach.abs());
                }
                for (centre, reach) in centre.iter().zip(reach) {
                    greatest_part = greatest_part.max(centre.to_f64().abs() + reach.abs());
                }
                centres.push(centre);
            }
        }
        let [column, row] = half;
        let radius = (column[0] + row[0]).hypot(column[1] + row[1]);
        // Eight roundings of parts, and one of this radius.
        let slack = 16.0 * unit::<N>() * greatest_part + N::from_parts(false, 1, N::MIN_EXPONENT).to_f64();
        self.radius = N::nearest((radius + slack) * (1.0 + 24.0 * unit::<N>()));
        self.side = side;
        Ok(())
    }

    /// The numbers of columns and rows of blocks.
    pub(super) fn size(&self) -> [usize; 2] {
        [self.columns.len(), self.rows.len()]
    }

    /// The centre of a block.
    #[inline]
    pub(super) fn centre(&self, column: usize, row: usize) -> [N; 2] {
        let ([a, b], [c, d]) = (self.columns[column], self.rows[row]);
        [a + c, b + d]
    }
}

/// The columns and rows of the points of a block of a grid.
pub(super) fn rectangle<N: Number>(grid: &Grid<'_, N>, side: usize, column: usize, row: usize) -> [Range<usize>; 2] {
    [points(column, side, grid.width()), points(row, side, grid.height())]
}
