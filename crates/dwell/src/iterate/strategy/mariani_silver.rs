//! Mariani-Silver: a rectangle whose border has one dwell is filled with it, any other is divided.
//!
//! Level by level over the tile: all borders of a level are asked for at once, so that the kernel's vectors are full,
//! and borders between rectangles are asked for once.

use super::{Ask, Rectangle, Scratch};
use crate::iterate::tiles::Tile;

/// A rectangle that is narrower than this, or lower, is not divided: its border would be most of it.
const NARROWEST: usize = 8;

/// Fills a tile. False when told to stop.
pub(super) fn fill(tile: &mut Tile<'_>, ask: &mut impl Ask, scratch: &mut Scratch) -> bool {
    let width = tile.width();
    scratch.start(tile);
    let whole = Rectangle::of(tile);
    for (column, row) in whole.border() {
        scratch.want(width, column, row);
    }
    let mut rectangles = vec![whole];
    while !rectangles.is_empty() || !scratch.asked.is_empty() {
        if !scratch.answer(tile, ask) {
            return false;
        }
        let mut parts = Vec::new();
        for rectangle in rectangles {
            let Rectangle { left, right, top, bottom } = rectangle;
            if right - left < 2 || bottom - top < 2 {
                continue;
            }
            if let Some(dwell) = one_dwell(tile, rectangle)
                && may_fill(tile, ask, rectangle, dwell)
            {
                for row in top + 1..bottom {
                    if dwell == 0 {
                        tile.fill_inside(row, left + 1..right);
                    } else {
                        tile.dwell[row][left + 1..right].fill(dwell);
                    }
                }
            } else if right - left < NARROWEST || bottom - top < NARROWEST {
                for row in top + 1..bottom {
                    for column in left + 1..right {
                        scratch.want(width, column, row);
                    }
                }
            } else {
                divide(rectangle, width, scratch, &mut parts);
            }
        }
        rectangles = parts;
    }
    true
}

/// The dwell of the border, if it has one.
fn one_dwell(tile: &Tile<'_>, rectangle: Rectangle) -> Option<u32> {
    let Rectangle { left, right, top, bottom } = rectangle;
    let dwell = tile.dwell[top][left];
    let same = |of: &[u32]| of.iter().all(|n| *n == dwell);
    let sides = (top..=bottom).all(|row| tile.dwell[row][left] == dwell && tile.dwell[row][right] == dwell);
    (sides && same(&tile.dwell[top][left..=right]) && same(&tile.dwell[bottom][left..=right])).then_some(dwell)
}

/// Whether what is inside can be inferred: escaped points have extras of their own, and must not hide the set.
fn may_fill(tile: &Tile<'_>, ask: &impl Ask, rectangle: Rectangle, dwell: u32) -> bool {
    dwell == 0 || (!tile.with_extras() && !rectangle.may_hold_the_set(tile, ask))
}

/// Divides a rectangle in four, or in two across its longer side if it is long. The parts share the dividing lines,
/// which are asked for.
fn divide(rectangle: Rectangle, width: usize, scratch: &mut Scratch, parts: &mut Vec<Rectangle>) {
    let Rectangle { left, right, top, bottom } = rectangle;
    let (column, row) = (left + (right - left) / 2, top + (bottom - top) / 2);
    let (across, down) = (right - left, bottom - top);
    let columns = if down >= 2 * across { vec![(left, right)] } else { vec![(left, column), (column, right)] };
    let rows = if across >= 2 * down { vec![(top, bottom)] } else { vec![(top, row), (row, bottom)] };
    if columns.len() == 2 {
        for row in top..=bottom {
            scratch.want(width, column, row);
        }
    }
    if rows.len() == 2 {
        for column in left..=right {
            scratch.want(width, column, row);
        }
    }
    for (top, bottom) in rows {
        for (left, right) in &columns {
            parts.push(Rectangle { left: *left, right: *right, top, bottom });
        }
    }
}
