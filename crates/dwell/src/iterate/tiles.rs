//! Tiles are the pieces of a field that are distributed to threads.

use crate::base::error::{Error, InputError};
use crate::base::pieces::Pieces;
use crate::base::place::Parameter;
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelRowsMut, ChannelSet};
use crate::view::Size;
use std::ops::Range;

/// The size of a tile in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSize {
    /// Columns, 1 to [`Self::MOST`].
    pub width: u32,
    /// Rows, 1 to [`Self::MOST`].
    pub height: u32,
}

impl TileSize {
    /// Maximum width and height. With it and [`Self::MOST_PIXELS`] the buffers of a thread stay under 20 MiB.
    pub const MOST: u32 = 4096;
    /// Maximum number of pixels.
    pub const MOST_PIXELS: u32 = 1 << 20;

    /// This size brought within the bounds; the width is reduced where there are too many pixels.
    pub(crate) fn within_bounds(self) -> Self {
        let height = self.height.clamp(1, Self::MOST);
        Self { width: self.width.clamp(1, Self::MOST.min(Self::MOST_PIXELS / height)), height }
    }

    /// The size of tiles for `pixels` pixels of an image of `width` columns. Tiles are large, so that the bundles of a thread
    /// seldom end early at the end of a tile; but every thread gets several, so that a thread that finishes late does not
    /// leave the others idle for long.
    ///
    /// Tiles are flat rather than square: where a row of a tile is a few cache lines long, the processor prefetches lines of
    /// the next tile, which another thread is writing. Measured at limit 32 on two threads, tiles of 128 columns took 1.7
    /// times as long as tiles of 2048, which is as long as one thread took. Tiles of whole rows are also taken in less time,
    /// since nothing is allocated while the other threads wait: on 16 threads, 4096 tiles of 1024 x 4 pixels at limit 1 took
    /// 3.3 ms, and half as many of 2048 x 4 took 2.2 ms.
    pub(crate) fn fitting(pixels: u64, width: u32, threads: usize) -> Self {
        let area = (pixels / (threads as u64 * TILES_PER_THREAD)).clamp(MIN_AREA, MAX_AREA);
        // The prologue processes whole vectors over four rows.
        let whole_rows = pixels / (4 * u64::from(width)).max(1) >= threads as u64 * FEWEST_TILES_PER_THREAD;
        let max_columns = if whole_rows { Self::MOST } else { u32::try_from(area / 4).unwrap_or(Self::MOST).max(64) };
        let width = width.div_ceil(width.div_ceil(max_columns)).next_multiple_of(16).min(width);
        let rows = area / u64::from(width);
        let height = u32::try_from(rows).unwrap_or(Self::MOST).min(Self::MOST) / 4 * 4;
        Self { width, height: height.max(4) }
    }

    /// The largest tile that a thread makes of several of this size, one below the other. At the end of a tile, bundles are
    /// iterated that are not full. On one thread of an Intel Xeon, [-2,2]^2 at 2048^2 and limit 256, tiles of 2048 x 32
    /// instead of 2048 x 8 pixels take 0.95 of the time in f32 and 0.98 in f64; at limit 32, 0.92 and 0.96.
    pub(crate) fn joined(self) -> Self {
        let rows = (MAX_JOINED_AREA / self.width.max(1)).min(Self::MOST) / self.height.max(1) * self.height;
        Self { height: rows.max(self.height), ..self }
    }
}

impl std::str::FromStr for TileSize {
    type Err = InputError;

    /// Reads `WxH`, columns and rows.
    ///
    /// # Errors
    /// When a side is not 1 to [`Self::MOST`], or the product exceeds [`Self::MOST_PIXELS`].
    fn from_str(text: &str) -> Result<Self, InputError> {
        let accepted = format!("WxH, each 1 to {}, at most {} pixels", Self::MOST, Self::MOST_PIXELS);
        let wrong = |error: InputError| error.about(Parameter::Tile).accepts(&*accepted);
        let Size { width, height } = text.parse::<Size>().map_err(wrong)?;
        let within = |side: u32| side <= Self::MOST;
        if !within(width) || !within(height) || width * height > Self::MOST_PIXELS {
            return Err(wrong(InputError::out_of_range(text)));
        }
        Ok(Self { width, height })
    }
}

impl std::fmt::Display for TileSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Tiles that each thread should get.
const TILES_PER_THREAD: u64 = 32;
/// Tiles of whole rows that each thread should get at least.
const FEWEST_TILES_PER_THREAD: u64 = 8;
/// Pixels of a tile below which scheduling it costs more than iterating it.
const MIN_AREA: u64 = 1024;
/// Pixels of a tile above which several threads do not share the work well.
const MAX_AREA: u64 = 1 << 14;
/// Pixels of a tile that a thread joins of several, above which larger ones are no faster.
const MAX_JOINED_AREA: u32 = 1 << 16;
/// A thread takes this part of its rows of tiles at once, so that its tiles become smaller towards the end, and others that
/// have finished can take half of what is left.
const SHARES: u32 = 4;

/// A rectangle of a field that a thread fills.
#[derive(Default)]
pub(crate) struct Tile<'a> {
    /// Its columns, numbered as in the image.
    pub(crate) columns: Range<u32>,
    /// Its rows, numbered as in the image.
    pub(crate) rows: Range<u32>,
    /// The slices that receive the values of its pixels, one for each row.
    pub(crate) out: ChannelRowsMut<'a>,
}

impl Tile<'_> {
    /// The number of columns.
    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The number of rows.
    #[inline]
    pub(crate) fn height(&self) -> usize {
        self.rows.len()
    }

    /// Whether a channel beside the dwells is wanted. Its values differ from pixel to pixel even where dwells are equal.
    #[inline]
    pub(crate) fn has_channels(&self) -> bool {
        !self.out.is_dwells_alone()
    }

    /// Stores dwell 0, and 0.0 in every channel, for some pixels of a row: they did not escape.
    #[inline]
    pub(crate) fn fill_inside(&mut self, row: usize, columns: Range<usize>) {
        let (dwell, values) = self.out.parts_mut();
        dwell[row][columns.clone()].fill(0);
        for values in values {
            if let Some(row) = values.get_mut(row) {
                row[columns.clone()].fill(0.0);
            }
        }
    }

    /// Removes the first `columns` columns and returns them.
    pub(crate) fn take_left(&mut self, columns: u32) -> Result<Self, InputError> {
        let middle = self.columns.end.min(self.columns.start.saturating_add(columns));
        let left = self.columns.start..middle;
        let out = self.out.take_left(left.len())?;
        self.columns.start = middle;
        Ok(Self { columns: left, rows: self.rows.clone(), out })
    }
}

/// The tiles of some rows of a field, from the top left, row by row. Tiles at the right and bottom edges may be smaller. A
/// tile is cut when a thread takes it, so that their number takes no memory.
pub(crate) struct Tiles<'a> {
    size: TileSize,
    /// The most rows of a tile that is made of several, one below the other; not above the height of one where none is.
    joined_rows: u32,
    /// The rest of a row of tiles.
    first: Option<Tile<'a>>,
    /// Whole rows of tiles.
    rows: FieldRowsMut<'a>,
    /// The start of a row of tiles.
    last: Option<Tile<'a>>,
}

impl<'a> Tiles<'a> {
    /// The tiles of `rows`.
    pub(crate) fn new(rows: FieldRowsMut<'a>, size: TileSize) -> Self {
        Self { size, joined_rows: 0, first: None, rows, last: None }
    }

    /// The same tiles, of which a thread that takes several may get one as large as [`TileSize::joined`].
    pub(crate) fn joined(self) -> Self {
        Self { joined_rows: self.size.joined().height, ..self }
    }

    /// Bytes of the slices of the rows of a tile that is cut: for a division at most two rows of tiles and a tile.
    pub(crate) fn bytes(size: TileSize, channels: ChannelSet) -> usize {
        3 * size.height as usize * size_of::<&[u32]>() * (1 + channels.iter().count())
    }

    /// The number of tiles in whole rows of the image.
    fn across(&self) -> usize {
        self.rows.width().div_ceil(self.size.width) as usize
    }

    /// The number of tiles of a rectangle that is one tile high.
    fn count_in(&self, tile: Option<&Tile<'a>>) -> usize {
        tile.map_or(0, |tile| (tile.columns.len() as u32).div_ceil(self.size.width) as usize)
    }

    /// Removes the first `count` tiles of a rectangle that is one tile high.
    fn take_tiles(&self, tile: &mut Tile<'a>, count: usize) -> Result<Tile<'a>, InputError> {
        let columns = u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(self.size.width);
        if columns as usize >= tile.width() { Ok(std::mem::take(tile)) } else { tile.take_left(columns) }
    }

    /// Removes the first whole row of tiles with so many rows of pixels.
    fn take_row(&mut self, height: u32) -> Result<Option<Tile<'a>>, InputError> {
        if self.rows.rows().is_empty() {
            return Ok(None);
        }
        let (columns, rows) = (0..self.rows.width(), self.rows.take_top(height));
        let tile_rows = rows.rows();
        let out = rows.into_channels().into_rows(columns.len())?;
        Ok(Some(Tile { columns, rows: tile_rows, out }))
    }
}

impl<'a> Pieces<Error> for Tiles<'a> {
    type Piece = Tile<'a>;

    fn count(&self) -> usize {
        let down = (self.rows.rows().len() as u32).div_ceil(self.size.height) as usize;
        self.count_in(self.first.as_ref()) + down * self.across() + self.count_in(self.last.as_ref())
    }

    fn at_once(&self) -> usize {
        let down = (self.rows.rows().len() as u32).div_ceil(self.size.height);
        if self.joined_rows <= self.size.height || self.first.is_some() || down == 0 {
            return 1;
        }
        (down / SHARES).clamp(1, self.joined_rows / self.size.height) as usize * self.across()
    }

    fn take_front(&mut self, mut count: usize) -> Result<Self, Error> {
        let mut front = Self { rows: self.rows.take_top(0), first: None, last: None, ..*self };
        if let Some(mut tile) = self.first.take() {
            let tiles = self.count_in(Some(&tile));
            front.first = Some(self.take_tiles(&mut tile, count)?).filter(|tile| tile.width() > 0);
            self.first = Some(tile).filter(|tile| tile.width() > 0);
            count = count.saturating_sub(tiles);
        }
        if self.first.is_none() && count > 0 {
            let down = u32::try_from(count / self.across()).unwrap_or(u32::MAX);
            let whole = (self.rows.rows().len() as u32).div_ceil(self.size.height).min(down);
            front.rows = self.rows.take_top(whole.saturating_mul(self.size.height));
            count -= whole as usize * self.across();
        }
        if self.first.is_none() && count > 0 {
            // The division is within a row of tiles.
            let row = self.take_row(self.size.height)?;
            let is_whole = row.is_some();
            if let Some(mut tile) = row.or_else(|| self.last.take()) {
                front.last = Some(self.take_tiles(&mut tile, count)?);
                let rest = Some(tile).filter(|tile| tile.width() > 0);
                if is_whole { self.first = rest } else { self.last = rest }
            }
        }
        Ok(front)
    }

    fn next(&mut self) -> Result<Option<Tile<'a>>, Error> {
        if self.first.is_none() {
            self.first = self.take_row(self.size.height.max(self.joined_rows))?.or_else(|| self.last.take());
        }
        let Some(mut tile) = self.first.take() else { return Ok(None) };
        let next = self.take_tiles(&mut tile, 1)?;
        self.first = Some(tile).filter(|tile| tile.width() > 0);
        Ok(Some(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::channels::{Channel, ChannelSlicesMut};

    /// Adds a number that depends on its place to each pixel of some tiles. Returns the number of tiles.
    fn mark(mut tiles: Tiles<'_>, size: (u32, u32)) -> usize {
        let (count, mut seen) = (tiles.count(), 0);
        while let Some(mut tile) = tiles.next().unwrap() {
            assert!(tile.width() <= size.0 as usize && tile.height() <= size.1 as usize);
            let smooth = std::mem::take(&mut tile.out[Channel::Smooth]);
            assert_eq!((tile.out.dwell.len(), smooth.len()), (tile.height(), tile.height()));
            for ((dwell, smooth), row) in tile.out.dwell.into_iter().zip(smooth).zip(tile.rows) {
                assert_eq!((dwell.len(), smooth.len()), (tile.columns.len(), tile.columns.len()));
                for ((dwell, smooth), column) in dwell.iter_mut().zip(smooth).zip(tile.columns.clone()) {
                    *dwell += row * 1000 + column;
                    *smooth += f64::from(row * 1000 + column);
                }
            }
            seen += 1;
        }
        assert_eq!((seen, tiles.count()), (count, 0));
        seen
    }

    #[test]
    fn every_pixel_is_in_exactly_one_tile_however_tiles_are_divided() {
        for (width, rows, size) in [
            (1, 0..1, (1, 1)),
            (10, 5..9, (3, 2)),
            (10, 5..9, (1024, 1024)),
            (7, 0..100, (7, 1)),
            (33, 2..35, (16, 16)),
            (33, 2..36, (1, 1)),
        ] {
            for step in [1, 2, 3, 5, 11, 64, usize::MAX] {
                let pixels = width as usize * rows.len();
                let (mut dwell, mut smooth) = (vec![0; pixels], vec![0.0; pixels]);
                let mut slices = ChannelSlicesMut::of_dwells(&mut dwell);
                slices[Channel::Smooth] = &mut smooth;
                let field_rows = FieldRowsMut::new(width, rows.clone(), slices).unwrap();
                let mut tiles = Tiles::new(field_rows, TileSize { width: size.0, height: size.1 });
                let (count, mut marked) = (tiles.count(), 0);
                assert_eq!(count as u32, width.div_ceil(size.0) * (rows.len() as u32).div_ceil(size.1));
                while tiles.count() > 0 {
                    let left = tiles.count();
                    let mut front = tiles.take_front(step).unwrap();
                    assert_eq!((front.count(), tiles.count()), (step.min(left), left - step.min(left)));
                    // Divided again, as where a thread takes half of the pieces of another.
                    let half = front.take_front(front.count() / 2).unwrap();
                    marked += mark(half, size) + mark(front, size);
                }
                assert_eq!(marked, count);
                for (i, (dwell, smooth)) in (0..).zip(dwell.iter().zip(&smooth)) {
                    let expected = (rows.start + i / width) * 1000 + i % width;
                    assert_eq!((*dwell, *smooth), (expected, f64::from(expected)), "{width} {rows:?} {size:?} {step}");
                }
            }
        }
    }

    #[test]
    fn threads_join_tiles_and_fewer_towards_the_end() {
        let (width, rows) = (2048, 512);
        let mut dwell = vec![0; width as usize * rows as usize];
        let field_rows = FieldRowsMut::new(width, 0..rows, ChannelSlicesMut::of_dwells(&mut dwell)).unwrap();
        let mut tiles = Tiles::new(field_rows, TileSize { width, height: 4 }).joined();
        assert_eq!(tiles.count(), 128);
        let mut heights = Vec::new();
        while tiles.count() > 0 {
            let mut taken = tiles.take_front(tiles.at_once()).unwrap();
            while let Some(mut tile) = taken.next().unwrap() {
                heights.push(tile.height());
                tile.out.dwell.iter_mut().for_each(|row| row.iter_mut().for_each(|dwell| *dwell += 1));
            }
        }
        // No more rows than 65536 pixels have, and a quarter of what is left.
        assert_eq!((heights[0], heights.iter().sum::<usize>()), (32, rows as usize));
        assert!(heights.is_sorted_by(|a, b| a >= b) && heights.ends_with(&[4, 4, 4]), "{heights:?}");
        assert!(dwell.iter().all(|dwell| *dwell == 1));
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
    fn sizes_suit_the_image_and_the_threads() {
        assert_eq!(TileSize::fitting(1 << 20, 3000, 1), TileSize { width: 3000, height: 4 });
        assert_eq!(TileSize::fitting(1 << 20, 3000, 64), TileSize { width: 256, height: 4 });
        assert_eq!(TileSize::fitting(1, 1, 8), TileSize { width: 1, height: 1024 });
        assert_eq!(TileSize::fitting(1 << 20, 1, 1), TileSize { width: 1, height: 4096 });
        assert_eq!(TileSize::fitting(1 << 20, 10_000, 1), TileSize { width: 3344, height: 4 });
        assert_eq!(TileSize::fitting(1 << 20, 2048, 2), TileSize { width: 2048, height: 8 });
        assert_eq!(TileSize::fitting(40, 40, 3), TileSize { width: 40, height: 24 });
    }
}
