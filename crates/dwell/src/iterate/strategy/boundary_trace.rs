//! The boundary trace follows pixels that have a neighbour of another dwell, and fills the areas that they enclose.
//!
//! It starts at the border of the tile; where the tile may contain the whole Mandelbrot set, also at the row and the column
//! through c = 0; and between any two neighbours on a coarse lattice whose dwells differ, since a bulb can be attached by a
//! neck thinner than a pixel. In each round the four neighbours of every pixel of the round are computed, all at once,
//! so that the kernel's vectors are full. The neighbours that differ, and the corners between them, are the pixels of the
//! next round. A pixel that is never computed takes the dwell of the pixel to its left, since no boundary lies between them.

use super::inference::{Rectangle, Scratch, TileComputer};
use crate::iterate::tiles::Tile;

/// Pixels from one point of the lattice to the next. An island wider than this is found whether it is connected or not.
const LATTICE: usize = 16;

/// Fills a tile. Returns false when the call was cancelled.
pub(super) fn fill(tile: &mut Tile<'_>, computer: &mut impl TileComputer, scratch: &mut Scratch) -> bool {
    let (width, height) = (tile.width(), tile.height());
    scratch.start(tile);
    let whole = Rectangle::of(tile);
    let mut front: Vec<(usize, usize)> = whole.border().collect();
    if whole.may_hold_the_set(tile, computer) {
        let (column, row) = nearest_to_zero(tile, computer);
        front.extend((0..width).map(|column| (column, row)));
        front.extend((0..height).map(|row| (column, row)));
    }
    if !seed_by_lattice(tile, computer, scratch, &mut front) {
        return false;
    }
    front.retain(|(column, row)| !std::mem::replace(&mut scratch.seen[row * width + column], true));
    while !front.is_empty() {
        for &(column, row) in &front {
            scratch.request(width, column, row);
            for (c, r) in around(column, row, width, height).filter(|(c, r)| *c == column || *r == row) {
                scratch.request(width, c, r);
            }
        }
        if !scratch.compute_requested(tile, computer) {
            return false;
        }
        let mut next = Vec::new();
        for &(column, row) in &front {
            let here = tile.out.dwell[row][column];
            let differs = |c: usize, r: usize| (c == column || r == row) && tile.out.dwell[r][c] != here;
            let neighbours = around(column, row, width, height);
            if neighbours.clone().any(|(c, r)| differs(c, r)) {
                // The boundary may continue at the neighbours that differ and at the corners.
                for (c, r) in neighbours {
                    let corner = c != column && r != row;
                    if (corner || differs(c, r)) && !std::mem::replace(&mut scratch.seen[r * width + c], true) {
                        next.push((c, r));
                    }
                }
            }
        }
        front = next;
    }
    infer(tile, computer, scratch)
}

/// Adds to `front` the pixels between any two neighbours of the lattice whose dwells differ. Returns false when the call was
/// cancelled.
fn seed_by_lattice(
    tile: &mut Tile<'_>,
    computer: &mut impl TileComputer,
    scratch: &mut Scratch,
    front: &mut Vec<(usize, usize)>,
) -> bool {
    let (width, height) = (tile.width(), tile.height());
    let places = || (0..height).step_by(LATTICE).flat_map(|row| (0..width).step_by(LATTICE).map(move |c| (c, row)));
    for (column, row) in places() {
        scratch.request(width, column, row);
    }
    if !scratch.compute_requested(tile, computer) {
        return false;
    }
    for (column, row) in places() {
        let here = tile.out.dwell[row][column];
        let (right, below) = (column + LATTICE, row + LATTICE);
        if right < width && tile.out.dwell[row][right] != here {
            front.extend((column..=right).map(|column| (column, row)));
        }
        if below < height && tile.out.dwell[below][column] != here {
            front.extend((row..=below).map(|row| (column, row)));
        }
    }
    true
}

/// The neighbours of a pixel, up to eight.
fn around(column: usize, row: usize, width: usize, height: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let rows = row.saturating_sub(1)..=(row + 1).min(height - 1);
    rows.flat_map(move |r| (column.saturating_sub(1)..=(column + 1).min(width - 1)).map(move |c| (c, r)))
        .filter(move |place| *place != (column, row))
}

/// Gives every pixel that was not computed the dwell to its left. Escaped pixels are computed instead where further channels
/// are wanted, which differ from pixel to pixel, or where the set is not known to be connected. Returns false when the call
/// was cancelled.
fn infer(tile: &mut Tile<'_>, computer: &mut impl TileComputer, scratch: &mut Scratch) -> bool {
    let width = tile.width();
    for row in 0..tile.height() {
        for column in 1..width {
            if scratch.is_known(width, column, row) {
                continue;
            }
            let dwell = tile.out.dwell[row][column - 1];
            if dwell == 0 {
                tile.fill_inside(row, column..column + 1);
                continue;
            }
            tile.out.dwell[row][column] = dwell;
            if tile.has_channels() || !computer.is_connected() {
                scratch.request(width, column, row);
            }
        }
    }
    scratch.compute_requested(tile, computer)
}

/// The pixel whose c is nearest to 0.
fn nearest_to_zero(tile: &Tile<'_>, computer: &impl TileComputer) -> (usize, usize) {
    let distance = |(column, row): (usize, usize)| {
        let [a, b] = computer.point(tile, column, row);
        a * a + b * b
    };
    let places = (0..tile.height()).flat_map(|row| (0..tile.width()).map(move |column| (column, row)));
    places.min_by(|p, q| distance(*p).total_cmp(&distance(*q))).unwrap_or((0, 0))
}
