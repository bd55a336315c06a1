//! The nominal picture of a probe: the view at about 1920 x 1080 pixels, whatever its own size.

use super::points::WHAT;
use crate::base::error::InputError;
use crate::base::limits::reserved;
use crate::view::Size;

/// Pixels of a nominal picture.
const PIXELS: f64 = 1920.0 * 1080.0;
/// The longest side of a nominal picture: it bounds the time to round coordinates.
const MOST: f64 = 16_384.0;
/// The side of a cell in pixels. Each cell has one point of the probe, or nine.
pub(super) const CELL: u32 = 15;

/// The size of the nominal picture of a view: as many pixels as 1920 x 1080 have, in the ratio of the view's sides, and at
/// most 16,384 on a side. Pictures of one view at several sizes have the same nominal picture.
pub(super) fn size(of: Size) -> Size {
    let ratio = f64::from(of.width) / f64::from(of.height);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 16,384")]
    let side = |pixels: f64| pixels.sqrt().round().clamp(1.0, MOST) as u32;
    Size { width: side(PIXELS * ratio), height: side(PIXELS / ratio) }
}

/// A pixel of a nominal picture by its cell. Few bytes, from which each thread computes the columns and rows that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Below 10,000.
    cell: u16,
    block: u8,
    neighbour: Neighbour,
}

/// A pixel beside another, or that itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neighbour {
    None,
    /// To the right; at the right edge to the left.
    Beside,
    /// Below; at the lower edge above.
    Below,
}

impl Place {
    /// The pixel of a cell in its block 0 to 8.
    pub(super) fn new(cell: usize, block: u32) -> Self {
        Self { cell: cell as u16, block: block as u8, neighbour: Neighbour::None }
    }

    /// The number of the cell.
    pub(super) fn cell(self) -> usize {
        self.cell.into()
    }

    /// A pixel beside this one.
    pub(super) fn beside(self, neighbour: Neighbour) -> Self {
        Self { neighbour, ..self }
    }
}

/// The cells of a nominal picture: squares of [`CELL`] pixels, cut at the right and the lower edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    size: Size,
    pub(super) columns: u32,
    pub(super) rows: u32,
}

impl Cells {
    pub(super) fn of(size: Size) -> Self {
        Self { size, columns: size.width.div_ceil(CELL), rows: size.height.div_ceil(CELL) }
    }

    pub(super) fn count(self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Column and row of a pixel. The cell is divided into nine blocks; block 0 to 8 holds the pixel, at a position in the block that
    /// depends on cell and block as if by chance, so that no regular structure of the view is missed throughout.
    pub(super) fn pixel(self, place: Place) -> [u32; 2] {
        const BLOCK: u32 = CELL / 3;
        let (cell, block) = (u32::from(place.cell), u32::from(place.block));
        let chance = mixed(u64::from(cell) << 8 | u64::from(block));
        let [i, j] = [chance >> 40, chance >> 20].map(|bits| (bits & 0xfffff) as u32 % BLOCK);
        let (column, row) = (cell % self.columns, cell / self.columns);
        let x = (column * CELL + block % 3 * BLOCK + i).min(self.size.width - 1);
        let y = (row * CELL + block / 3 * BLOCK + j).min(self.size.height - 1);
        let step = |at: u32, side: u32| if at + 1 < side { at + 1 } else { at.saturating_sub(1) };
        match place.neighbour {
            Neighbour::None => [x, y],
            Neighbour::Beside => [step(x, self.size.width), y],
            Neighbour::Below => [x, step(y, self.size.height)],
        }
    }

    /// The block of a cell that holds its first point.
    pub(super) fn first_block(cell: usize) -> u32 {
        (mixed(!(cell as u64)) >> 32) as u32 % 9
    }

    /// The pixels of a cell in the other blocks.
    pub(super) fn other_blocks(cell: usize) -> [Place; 8] {
        let first = Self::first_block(cell);
        let block = |turn: u32| if first + turn < 9 { first + turn } else { first + turn - 9 };
        std::array::from_fn(|i| Place::new(cell, block(i as u32 + 1)))
    }

    /// For each cell, the values of the cells within one of it, itself included, in one: `combined` must not depend on the order of values or on
    /// how often one is given.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn around<T: Copy>(self, values: &[T], combined: impl Fn(T, T) -> T) -> Result<Vec<T>, InputError> {
        let [columns, rows] = [self.columns, self.rows].map(|count| count as usize);
        // The numbers of what is before and after one of so many; at the ends that itself.
        let beside = |at: usize, count: usize| [at.saturating_sub(1), (at + 1).min(count - 1)];
        let mut in_rows = reserved(values.len(), WHAT)?;
        for row in values.chunks_exact(columns) {
            in_rows.extend((0..columns).map(|i| {
                let [before, after] = beside(i, columns);
                combined(combined(row[before], row[i]), row[after])
            }));
        }
        let mut around = reserved(values.len(), WHAT)?;
        let row = |at: usize| &in_rows[at * columns..][..columns];
        for at in 0..rows {
            let [before, after] = beside(at, rows).map(row);
            let three = before.iter().zip(row(at)).zip(after);
            around.extend(three.map(|((before, here), after)| combined(combined(*before, *here), *after)));
        }
        Ok(around)
    }
}

/// A number mixed by the finalizer of splitmix64.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nominal_picture_depends_on_the_ratio_alone() {
        let nominal = |width, height| size(Size { width, height });
        for (width, height) in [(1920, 1080), (16, 9), (3840, 2160), (320, 180), (2_147_483_632, 1_207_959_543)] {
            assert_eq!(nominal(width, height), Size { width: 1920, height: 1080 });
        }
        assert_eq!(nominal(1000, 1000), Size { width: 1440, height: 1440 });
        assert_eq!(nominal(1, 2_147_483_647), Size { width: 1, height: 16_384 });
        assert_eq!(nominal(2_147_483_647, 1), Size { width: 16_384, height: 1 });
    }

    #[test]
    fn every_cell_has_pixels_of_its_own() {
        for sides in [(1920, 1080), (1170, 2532), (7, 5000), (1, 1)] {
            let nominal = size(Size { width: sides.0, height: sides.1 });
            let cells = Cells::of(nominal);
            assert!(cells.count() < 10_000, "{sides:?}");
            for cell in (0..cells.count()).step_by(7) {
                for block in 0..9 {
                    let place = Place::new(cell, block);
                    let [x, y] = cells.pixel(place);
                    assert!(x < nominal.width && y < nominal.height);
                    assert_eq!((y / CELL * cells.columns + x / CELL) as usize, cell);
                    let beside = cells.pixel(place.beside(Neighbour::Beside));
                    let below = cells.pixel(place.beside(Neighbour::Below));
                    let is_one_step = |from: u32, to: u32, side: u32| side == 1 || to < side && from.abs_diff(to) == 1;
                    assert!(beside[1] == y && is_one_step(x, beside[0], nominal.width));
                    assert!(below[0] == x && is_one_step(y, below[1], nominal.height));
                }
            }
            // The rows and columns of the cells around each.
            let places: Vec<_> = (0..cells.count()).map(|cell| [cell, cell]).collect();
            let around = cells.around(&places, |[a, b], [c, d]| [a.min(c), b.max(d)]).unwrap();
            let [columns, rows] = [cells.columns, cells.rows].map(|count| count as usize);
            for (cell, around) in around.into_iter().enumerate() {
                let (column, row) = (cell % columns, cell / columns);
                let least = row.saturating_sub(1) * columns + column.saturating_sub(1);
                let greatest = (row + 1).min(rows - 1) * columns + (column + 1).min(columns - 1);
                assert_eq!(around, [least, greatest]);
            }
        }
    }
}
