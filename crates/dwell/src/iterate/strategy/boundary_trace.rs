//! Boundary trace: pixels next to a pixel of another dwell are followed, and what they enclose is filled.
//!
//! Starts at the tile's border; where the tile may hold the whole Mandelbrot set, at the row and the column through c =
//! 0; and, since a bulb can hang by a neck that is thinner than a pixel, wherever two neighbours on a coarse lattice
//! differ. A pixel's four neighbours are asked for; those that differ, and the corners between, are looked at next. Round
//! by round, all pixels of a round at once, so that the kernel's vectors are full. Pixels never asked for take the dwell
//! of the one to their left: no boundary lies between.

use super::{Ask, Rectangle, Scratch};
use crate::iterate::tiles::Tile;

/// Pixels from one point of the lattice to the next: an island that is wider than this is found, connected or not.
const LATTICE: usize = 16;

/// Fills a tile. False when told to stop.
pub(super) fn fill(tile: &mut Tile<'_>, ask: &mut impl Ask, scratch: &mut Scratch) -> bool {
    let (width, height) = (tile.width(), tile.height());
    scratch.start(tile);
    let whole = Rectangle::of(tile);
    let mut front: Vec<(usize, usize)> = whole.border().collect();
    if whole.may_hold_the_set(tile, ask) {
        let (column, row) = nearest_to_zero(tile, ask);
        front.extend((0..width).map(|column| (column, row)));
        front.extend((0..height).map(|row| (column, row)));
    }
    if !seed_by_lattice(tile, ask, scratch, &mut front) {
        return false;
    }
    front.retain(|(column, row)| !std::mem::replace(&mut scratch.seen[row * width + column], true));
    while !front.is_empty() {
        for &(column, row) in &front {
            scratch.want(width, column, row);
            for (c, r) in around(column, row, width, height).filter(|(c, r)| *c == column || *r == row) {
                scratch.want(width, c, r);
            }
        }
        if !scratch.answer(tile, ask) {
            return false;
        }
        let mut next = Vec::new();
        for &(column, row) in &front {
            let here = tile.dwell[row][column];
            let differs = |c: usize, r: usize| (c == column || r == row) && tile.dwell[r][c] != here;
            let neighbours = around(column, row, width, height);
            if neighbours.clone().any(|(c, r)| differs(c, r)) {
                // Whoever differs, and the corners, where the boundary may go on.
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
    infer(tile, ask, scratch)
}

/// Adds the pixels between any two neighbours of the lattice that differ. False when told to stop.
fn seed_by_lattice(
    tile: &mut Tile<'_>,
    ask: &mut impl Ask,
    scratch: &mut Scratch,
    front: &mut Vec<(usize, usize)>,
) -> bool {
    let (width, height) = (tile.width(), tile.height());
    let places = || (0..height).step_by(LATTICE).flat_map(|row| (0..width).step_by(LATTICE).map(move |c| (c, row)));
    for (column, row) in places() {
        scratch.want(width, column, row);
    }
    if !scratch.answer(tile, ask) {
        return false;
    }
    for (column, row) in places() {
        let here = tile.dwell[row][column];
        let (right, below) = (column + LATTICE, row + LATTICE);
        if right < width && tile.dwell[row][right] != here {
            front.extend((column..=right).map(|column| (column, row)));
        }
        if below < height && tile.dwell[below][column] != here {
            front.extend((row..=below).map(|row| (column, row)));
        }
    }
    true
}

/// The up to eight pixels around one.
fn around(column: usize, row: usize, width: usize, height: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let rows = row.saturating_sub(1)..=(row + 1).min(height - 1);
    rows.flat_map(move |r| (column.saturating_sub(1)..=(column + 1).min(width - 1)).map(move |c| (c, r)))
        .filter(move |place| *place != (column, row))
}

/// Gives every pixel that was not asked for the dwell to its left; asks after all for those that need extras of their
/// own, or that nothing is known about.
fn infer(tile: &mut Tile<'_>, ask: &mut impl Ask, scratch: &mut Scratch) -> bool {
    let width = tile.width();
    for row in 0..tile.height() {
        for column in 1..width {
            if scratch.known[row * width + column] {
                continue;
            }
            let dwell = tile.dwell[row][column - 1];
            if dwell == 0 {
                tile.fill_inside(row, column..column + 1);
                continue;
            }
            tile.dwell[row][column] = dwell;
            if tile.with_extras() || !ask.is_connected() {
                scratch.asked.push((column as u32, row as u32));
            }
        }
    }
    scratch.answer(tile, ask)
}

/// The pixel whose c is nearest to 0.
fn nearest_to_zero(tile: &Tile<'_>, ask: &impl Ask) -> (usize, usize) {
    let distance = |(column, row): (usize, usize)| {
        let [a, b] = ask.point(tile, column, row);
        a * a + b * b
    };
    let places = (0..tile.height()).flat_map(|row| (0..tile.width()).map(move |column| (column, row)));
    places.min_by(|p, q| distance(*p).total_cmp(&distance(*q))).unwrap_or((0, 0))
}
