//! The boundary trace follows pixels that have a neighbour of another dwell, and fills the areas that they enclose.
//!
//! The trace works in rounds. The pixels of the first round are
//!
//! - the border of the tile,
//! - the row and the column through c = 0, where the tile may contain the whole Mandelbrot set, which need not touch
//!   the border, and
//! - the pixels between any two neighbours on a coarse lattice whose dwells differ, since a bulb can be attached by a
//!   neck thinner than a pixel.
//!
//! In each round, the pixels of the round and their four direct neighbours are computed, all at once, so that the
//! kernel's vectors are full. Where a direct neighbour has another dwell than its pixel, that neighbour and the up to
//! four diagonal neighbours of the pixel are in the next round, unless they were in an earlier one. A pixel that is
//! never computed takes the dwell of the pixel to its left, since no traced boundary lies between them.

use super::inference::{PixelRequests, Rectangle, TileComputer};
use crate::base::error::Error;
use crate::base::limits::{collected, extend, push};
use crate::iterate::tiles::Tile;

/// Pixels from one point of the lattice to the next, in both directions. Any square of this many pixels on a side
/// contains a point of the lattice, so an area that contains such a square is compared with its surroundings even where
/// no boundary leads to it from the border.
const LATTICE: usize = 16;

/// The name of the pixels of a round, for messages.
const WHAT: &str = "the boundaries in a tile";

/// Computes the pixels at the boundaries in a tile and infers the others. Fails as [`TileComputer`] does.
pub(super) fn fill(
    tile: &mut Tile<'_>,
    computer: &mut impl TileComputer,
    scratch: &mut PixelRequests,
) -> Result<(), Error> {
    let (width, height) = (tile.width(), tile.height());
    scratch.start(tile)?;
    let whole = Rectangle::of(tile);
    // The pixels of the round, as columns and rows.
    let mut front: Vec<(usize, usize)> = collected(whole.border(), WHAT)?;
    if whole.may_hold_the_set(tile, computer) {
        let (column, row) = nearest_to_zero(tile, computer);
        extend(&mut front, (0..width).map(|column| (column, row)), WHAT)?;
        extend(&mut front, (0..height).map(|row| (column, row)), WHAT)?;
    }
    seed_by_lattice(tile, computer, scratch, &mut front)?;
    // Each pixel is in one round only.
    front.retain(|(column, row)| !std::mem::replace(&mut scratch.seen[row * width + column], true));
    while !front.is_empty() {
        for &(column, row) in &front {
            scratch.request(width, column, row);
            for (c, r) in neighbours_of(column, row, width, height).filter(|(c, r)| *c == column || *r == row) {
                scratch.request(width, c, r);
            }
        }
        scratch.compute_requested(tile, computer)?;
        let mut next = Vec::new();
        for &(column, row) in &front {
            let here = tile.out.dwell[row][column];
            // False for diagonal neighbours, which may not be computed.
            let differs = |c: usize, r: usize| (c == column || r == row) && tile.out.dwell[r][c] != here;
            let neighbours = neighbours_of(column, row, width, height);
            if neighbours.clone().any(|(c, r)| differs(c, r)) {
                // The boundary may continue at the neighbours that differ and at the diagonal neighbours.
                for (c, r) in neighbours {
                    let diagonal = c != column && r != row;
                    if (diagonal || differs(c, r)) && !std::mem::replace(&mut scratch.seen[r * width + c], true) {
                        push(&mut next, (c, r), WHAT)?;
                    }
                }
            }
        }
        front = next;
    }
    infer(tile, computer, scratch)
}

/// Computes the points of the lattice and adds to `front` the pixels from each to its right or lower neighbour on the
/// lattice where their dwells differ, both included.
fn seed_by_lattice(
    tile: &mut Tile<'_>,
    computer: &mut impl TileComputer,
    scratch: &mut PixelRequests,
    front: &mut Vec<(usize, usize)>,
) -> Result<(), Error> {
    let (width, height) = (tile.width(), tile.height());
    let lattice = || (0..height).step_by(LATTICE).flat_map(|row| (0..width).step_by(LATTICE).map(move |c| (c, row)));
    for (column, row) in lattice() {
        scratch.request(width, column, row);
    }
    scratch.compute_requested(tile, computer)?;
    for (column, row) in lattice() {
        let here = tile.out.dwell[row][column];
        let (right, below) = (column + LATTICE, row + LATTICE);
        if right < width && tile.out.dwell[row][right] != here {
            extend(front, (column..=right).map(|column| (column, row)), WHAT)?;
        }
        if below < height && tile.out.dwell[below][column] != here {
            extend(front, (row..=below).map(|row| (column, row)), WHAT)?;
        }
    }
    Ok(())
}

/// The direct and diagonal neighbours of a pixel within the tile, up to eight, as columns and rows.
#[inline]
fn neighbours_of(
    column: usize,
    row: usize,
    width: usize,
    height: usize,
) -> impl Iterator<Item = (usize, usize)> + Clone {
    let rows = row.saturating_sub(1)..=(row + 1).min(height - 1);
    rows.flat_map(move |r| (column.saturating_sub(1)..=(column + 1).min(width - 1)).map(move |c| (c, r)))
        .filter(move |place| *place != (column, row))
}

/// Gives every pixel that was not computed the dwell to its left. If that is not 0, the pixel is computed after all
/// where channels are requested, whose values differ from pixel to pixel, or where the set is not known to be
/// connected.
fn infer(tile: &mut Tile<'_>, computer: &mut impl TileComputer, scratch: &mut PixelRequests) -> Result<(), Error> {
    let width = tile.width();
    // Decided once, since the loop below runs over every pixel.
    let has_channels = tile.has_channels();
    let may_infer = !has_channels && computer.is_connected();
    for row in 0..tile.height() {
        for column in 1..width {
            if scratch.is_known(width, column, row) {
                continue;
            }
            let dwell = tile.out.dwell[row][column - 1];
            tile.out.dwell[row][column] = dwell;
            if dwell != 0 {
                if !may_infer {
                    scratch.request(width, column, row);
                }
            } else if has_channels {
                tile.fill_inside(row, column..column + 1);
            }
        }
    }
    scratch.compute_requested(tile, computer)
}

/// The column and row of the pixel whose c is nearest to 0.
fn nearest_to_zero(tile: &Tile<'_>, computer: &impl TileComputer) -> (usize, usize) {
    let distance = |(column, row): (usize, usize)| {
        let [a, b] = computer.point(tile, column, row);
        a * a + b * b
    };
    let places = (0..tile.height()).flat_map(|row| (0..tile.width()).map(move |column| (column, row)));
    places.min_by(|p, q| distance(*p).total_cmp(&distance(*q))).unwrap_or((0, 0))
}
