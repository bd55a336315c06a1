//! Tiles: the pieces of a field that are handed out to threads.

use crate::base::error::{InputError, quote};
use crate::field::FieldPart;
use crate::view::Size;
use std::ops::Range;

/// Pixels of a tile, across and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSize {
    /// Columns, 1 to [`Self::MOST`].
    pub width: u32,
    /// Rows, 1 to [`Self::MOST`].
    pub height: u32,
}

impl TileSize {
    /// The longest side, and [`Self::MOST_PIXELS`] the most pixels: with them a thread's buffers stay under 20 MiB.
    pub const MOST: u32 = 4096;
    /// The most pixels.
    pub const MOST_PIXELS: u32 = 1 << 20;

    /// Reads `WxH`.
    ///
    /// # Errors
    /// When it has another form or is out of bounds.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let accepted = format!("WxH, each 1 to {}, at most {} pixels", Self::MOST, Self::MOST_PIXELS);
        let Size { width, height } = Size::parse(text).map_err(|e| e.accepted(accepted.clone()))?;
        let within = |side: u32| side <= Self::MOST;
        if !within(width) || !within(height) || width * height > Self::MOST_PIXELS {
            return Err(InputError::new("", format!("{} is too large", quote(text))).accepted(accepted));
        }
        Ok(Self { width, height })
    }

    /// The nearest size that is within the bounds, narrower rather than lower.
    pub(crate) fn within_bounds(self) -> Self {
        let height = self.height.clamp(1, Self::MOST);
        Self { width: self.width.clamp(1, Self::MOST.min(Self::MOST_PIXELS / height)), height }
    }

    /// Tiles that keep `threads` busy: large, so that a thread's bundles are seldom broken off at a tile's end; but some
    /// for each thread, so that one that is late does not leave the others idle for long.
    ///
    /// Flat ones, rather than square: where a row of a tile is a few cache lines long, a processor's prefetching draws
    /// in lines of the next tile, which another thread is writing. Measured at limit 32 on two threads, 128 columns took
    /// 1.7 times as long as 2048, as long as one thread.
    pub(crate) fn fitting(pixels: u64, width: u32, threads: usize) -> Self {
        let area = (pixels / (threads as u64 * TILES_PER_THREAD)).clamp(LEAST_AREA, MOST_AREA);
        // Whole vectors of the head reach over four rows.
        let most_columns = u32::try_from(area / 4).unwrap_or(Self::MOST).max(64);
        let width = width.div_ceil(width.div_ceil(most_columns)).next_multiple_of(16).min(width);
        let rows = area / u64::from(width);
        let height = u32::try_from(rows).unwrap_or(Self::MOST).min(Self::MOST) / 4 * 4;
        Self { width, height: height.max(4) }
    }
}

impl std::fmt::Display for TileSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Tiles that each thread should find.
const TILES_PER_THREAD: u64 = 16;
/// Pixels below which handing out costs more than iterating.
const LEAST_AREA: u64 = 256;
/// Pixels beyond which a tile gains no more.
const MOST_AREA: u64 = 1 << 14;

/// A rectangle of a field, to be filled.
pub(crate) struct Tile<'a> {
    /// Columns of the image.
    pub(crate) columns: Range<u32>,
    /// Rows of the image.
    pub(crate) rows: Range<u32>,
    /// Dwells, row by row.
    pub(crate) dwell: Vec<&'a mut [u32]>,
    /// Smooth values, row by row; no rows where they are not wanted.
    pub(crate) smooth: Vec<&'a mut [f64]>,
    /// Distances, row by row; no rows where they are not wanted.
    pub(crate) distance: Vec<&'a mut [f64]>,
}

impl Tile<'_> {
    /// Columns.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Rows.
    pub(crate) fn height(&self) -> usize {
        self.rows.len()
    }

    /// Whether something is wanted that differs from pixel to pixel even where dwells are alike.
    pub(crate) fn with_extras(&self) -> bool {
        !self.smooth.is_empty() || !self.distance.is_empty()
    }

    /// Notes that some pixels of a row are inside the set.
    pub(crate) fn fill_inside(&mut self, row: usize, columns: Range<usize>) {
        self.dwell[row][columns.clone()].fill(0);
        for extra in [&mut self.smooth, &mut self.distance] {
            if let Some(row) = extra.get_mut(row) {
                row[columns.clone()].fill(0.0);
            }
        }
    }
}

/// Cuts rows of a field into tiles, from the top left, row by row; those at the right and the bottom may be smaller.
pub(crate) fn cut(part: FieldPart<'_>, size: TileSize) -> Vec<Tile<'_>> {
    let FieldPart { width, rows, dwell, smooth, distance } = part;
    let (across, down) = (width.div_ceil(size.width), (rows.len() as u32).div_ceil(size.height));
    let mut tiles: Vec<Tile<'_>> = (0..down)
        .flat_map(|j| (0..across).map(move |i| (i, j)))
        .map(|(i, j)| {
            let (left, top) = (i * size.width, rows.start + j * size.height);
            Tile {
                columns: left..width.min(left.saturating_add(size.width)),
                rows: top..rows.end.min(top.saturating_add(size.height)),
                dwell: Vec::new(),
                smooth: Vec::new(),
                distance: Vec::new(),
            }
        })
        .collect();
    let of_row = |row: usize| row / size.height as usize * across as usize;
    for (row, dwell) in dwell.chunks_mut(width as usize).enumerate() {
        for (tile, dwell) in tiles[of_row(row)..].iter_mut().zip(dwell.chunks_mut(size.width as usize)) {
            tile.dwell.push(dwell);
        }
    }
    for (row, smooth) in smooth.chunks_mut(width as usize).enumerate() {
        for (tile, smooth) in tiles[of_row(row)..].iter_mut().zip(smooth.chunks_mut(size.width as usize)) {
            tile.smooth.push(smooth);
        }
    }
    for (row, distance) in distance.chunks_mut(width as usize).enumerate() {
        for (tile, distance) in tiles[of_row(row)..].iter_mut().zip(distance.chunks_mut(size.width as usize)) {
            tile.distance.push(distance);
        }
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_is_in_one_tile() {
        for (width, rows, size) in [
            (1, 0..1, (1, 1)),
            (10, 5..9, (3, 2)),
            (10, 5..9, (1024, 1024)),
            (7, 0..100, (7, 1)),
            (33, 2..35, (16, 16)),
        ] {
            let pixels = width as usize * rows.len();
            let (mut dwell, mut smooth) = (vec![0; pixels], vec![0.0; pixels]);
            let part =
                FieldPart { width, rows: rows.clone(), dwell: &mut dwell, smooth: &mut smooth, distance: &mut [] };
            for tile in cut(part, TileSize { width: size.0, height: size.1 }) {
                assert!(tile.width() <= size.0 as usize && tile.height() <= size.1 as usize);
                assert_eq!((tile.dwell.len(), tile.smooth.len()), (tile.height(), tile.height()));
                for ((dwell, smooth), row) in tile.dwell.into_iter().zip(tile.smooth).zip(tile.rows) {
                    assert_eq!((dwell.len(), smooth.len()), (tile.columns.len(), tile.columns.len()));
                    for ((dwell, smooth), column) in dwell.iter_mut().zip(smooth).zip(tile.columns.clone()) {
                        *dwell += row * 1000 + column;
                        *smooth += f64::from(row * 1000 + column);
                    }
                }
            }
            for (i, (dwell, smooth)) in (0..).zip(dwell.iter().zip(&smooth)) {
                let expected = (rows.start + i / width) * 1000 + i % width;
                assert_eq!((*dwell, *smooth), (expected, f64::from(expected)));
            }
        }
    }

    #[test]
    fn sizes_are_brought_within_bounds() {
        let within = |width, height| {
            let size = TileSize { width, height }.within_bounds();
            (size.width, size.height)
        };
        assert_eq!(within(0, 0), (1, 1));
        assert_eq!(within(1024, 1024), (1024, 1024));
        assert_eq!(within(4096, 1), (4096, 1));
        assert_eq!(within(u32::MAX, u32::MAX), (256, 4096));
    }

    #[test]
    fn sizes_fit() {
        assert_eq!(TileSize::fitting(1 << 20, 3000, 1), TileSize { width: 3000, height: 4 });
        assert_eq!(TileSize::fitting(1 << 20, 3000, 64), TileSize { width: 256, height: 4 });
        assert_eq!(TileSize::fitting(1, 1, 8), TileSize { width: 1, height: 256 });
        assert_eq!(TileSize::fitting(1 << 20, 1, 1), TileSize { width: 1, height: 4096 });
        assert_eq!(TileSize::fitting(1 << 20, 10_000, 1), TileSize { width: 3344, height: 4 });
        assert_eq!(TileSize::fitting(1 << 20, 2048, 2), TileSize { width: 2048, height: 8 });
        assert_eq!(TileSize::fitting(40, 40, 3), TileSize { width: 40, height: 4 });
    }
}
