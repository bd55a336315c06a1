//! The Mariani-Silver algorithm fills a rectangle whose border has one dwell with it, and divides any other.
//!
//! It works level by level over the tile: all borders of a level are computed at once, so that the kernel's vectors are
//! full, and a border between two rectangles is computed once.

use super::inference::{PixelRequests, Rectangle, TileComputer};
use crate::base::error::{Error, InputError};
use crate::base::limits::push;
use crate::iterate::tiles::Tile;

/// A rectangle narrower or lower than this is computed rather than divided, since its border is most of it.
const MIN_DIVIDED_SIDE: usize = 8;

/// Fills a tile. Fails as [`TileComputer`] does.
pub(super) fn fill(
    tile: &mut Tile<'_>,
    computer: &mut impl TileComputer,
    scratch: &mut PixelRequests,
) -> Result<(), Error> {
    let width = tile.width();
    scratch.start(tile)?;
    let whole = Rectangle::of(tile);
    for (column, row) in whole.border() {
        scratch.request(width, column, row);
    }
    let mut rectangles = vec![whole];
    while !rectangles.is_empty() || scratch.has_requests() {
        scratch.compute_requested(tile, computer)?;
        let mut parts = Vec::new();
        for rectangle in rectangles {
            let Rectangle { left, right, top, bottom } = rectangle;
            if right - left < 2 || bottom - top < 2 {
                continue;
            }
            if let Some(dwell) = one_dwell(tile, rectangle)
                && may_fill(tile, computer, rectangle, dwell)
            {
                for row in top + 1..bottom {
                    if dwell == 0 {
                        tile.fill_inside(row, left + 1..right);
                    } else {
                        tile.out.dwell[row][left + 1..right].fill(dwell);
                    }
                }
            } else if right - left < MIN_DIVIDED_SIDE || bottom - top < MIN_DIVIDED_SIDE {
                for row in top + 1..bottom {
                    for column in left + 1..right {
                        scratch.request(width, column, row);
                    }
                }
            } else {
                divide(rectangle, width, scratch, &mut parts)?;
            }
        }
        rectangles = parts;
    }
    Ok(())
}

/// The dwell of all pixels of the border, if they are equal.
fn one_dwell(tile: &Tile<'_>, rectangle: Rectangle) -> Option<u32> {
    let Rectangle { left, right, top, bottom } = rectangle;
    let dwell = tile.out.dwell[top][left];
    let same = |of: &[u32]| of.iter().all(|n| *n == dwell);
    let sides = (top..=bottom).all(|row| tile.out.dwell[row][left] == dwell && tile.out.dwell[row][right] == dwell);
    (sides && same(&tile.out.dwell[top][left..=right]) && same(&tile.out.dwell[bottom][left..=right])).then_some(dwell)
}

/// Whether the inside of a rectangle whose border has one dwell can be inferred. Escaped points cannot be inferred if they
/// have further channels, which differ from pixel to pixel, or if the rectangle may contain the set.
fn may_fill(tile: &Tile<'_>, computer: &impl TileComputer, rectangle: Rectangle, dwell: u32) -> bool {
    dwell == 0 || (!tile.has_channels() && !rectangle.may_hold_the_set(tile, computer))
}

/// Divides a rectangle in four, or, if one side is at least twice the other, in two across the longer side. The parts
/// share the dividing lines, which are requested.
fn divide(
    rectangle: Rectangle,
    width: usize,
    scratch: &mut PixelRequests,
    parts: &mut Vec<Rectangle>,
) -> Result<(), InputError> {
    let Rectangle { left, right, top, bottom } = rectangle;
    let (column, row) = (left + (right - left) / 2, top + (bottom - top) / 2);
    let (across, down) = (right - left, bottom - top);
    let columns = if down >= 2 * across { vec![(left, right)] } else { vec![(left, column), (column, right)] };
    let rows = if across >= 2 * down { vec![(top, bottom)] } else { vec![(top, row), (row, bottom)] };
    if columns.len() == 2 {
        for row in top..=bottom {
            scratch.request(width, column, row);
        }
    }
    if rows.len() == 2 {
        for column in left..=right {
            scratch.request(width, column, row);
        }
    }
    for (top, bottom) in rows {
        for (left, right) in &columns {
            push(parts, Rectangle { left: *left, right: *right, top, bottom }, "the rectangles of a tile")?;
        }
    }
    Ok(())
}
