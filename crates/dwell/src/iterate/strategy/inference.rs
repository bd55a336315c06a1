//! What strategies that infer pixels have in common: the interface to the code that computes pixels, the buffers of a
//! thread, and rectangles.

use crate::base::error::{Error, InputError};
use crate::base::limits::{reserve, resize};
use crate::iterate::tiles::Tile;

/// Computes pixels of a tile for a strategy. Places are columns and rows within the tile. Methods that compute fail with
/// [`Error::Interrupted`] when the call was cancelled, and with [`Error::Input`] when the system has not enough memory.
pub(crate) trait TileComputer {
    /// Computes every pixel of a tile.
    fn compute_all(&mut self, tile: &mut Tile<'_>) -> Result<(), Error>;
    /// Computes the pixels at these places.
    fn compute_places(&mut self, tile: &mut Tile<'_>, places: &[(u32, u32)]) -> Result<(), Error>;
    /// Proves the dwells of blocks and computes the other pixels.
    fn compute_proven(&mut self, tile: &mut Tile<'_>) -> Result<(), Error>;
    /// Computes every pixel, with or without proofs for blocks, as has been faster lately.
    fn compute_faster(&mut self, tile: &mut Tile<'_>) -> Result<(), Error>;
    /// c of a pixel.
    fn point(&self, tile: &Tile<'_>, column: usize, row: usize) -> [f64; 2];
    /// Whether the set of points that have not escaped after n steps is connected and contains c = 0, for every n.
    fn is_connected(&self) -> bool;
}

/// Buffers that a thread keeps from tile to tile.
#[derive(Debug, Default)]
pub(crate) struct PixelRequests {
    /// For each pixel, whether it was requested.
    known: Vec<bool>,
    /// For each pixel, whether its neighbours are or will be compared with it.
    pub(super) seen: Vec<bool>,
    /// Places that are computed next.
    requested: Vec<(u32, u32)>,
}

/// The name of these buffers, for messages.
const WHAT: &str = "the pixels of a tile";

impl PixelRequests {
    /// Bytes that the buffers grow to for a tile of so many pixels, each of which is requested once.
    pub(crate) fn bytes(pixels: usize) -> usize {
        pixels * (2 * size_of::<bool>() + size_of::<(u32, u32)>())
    }

    /// Resets the buffers for a tile, and makes space for requests of all its pixels.
    pub(super) fn start(&mut self, tile: &Tile<'_>) -> Result<(), InputError> {
        let pixels = tile.width() * tile.height();
        for flags in [&mut self.known, &mut self.seen] {
            flags.clear();
            resize(flags, pixels, false, WHAT)?;
        }
        self.requested.clear();
        reserve(&mut self.requested, pixels, WHAT)
    }

    /// Computes the requested pixels and clears the list.
    pub(super) fn compute_requested(
        &mut self,
        tile: &mut Tile<'_>,
        computer: &mut impl TileComputer,
    ) -> Result<(), Error> {
        let finished = computer.compute_places(tile, &self.requested);
        self.requested.clear();
        finished
    }

    /// Requests a pixel of a tile of `width` columns, unless it was requested before.
    #[inline]
    pub(super) fn request(&mut self, width: usize, column: usize, row: usize) {
        let known = &mut self.known[row * width + column];
        if !*known {
            *known = true;
            self.requested.push((column as u32, row as u32));
        }
    }

    /// Whether a pixel of a tile of `width` columns was requested.
    #[inline]
    pub(super) fn is_known(&self, width: usize, column: usize, row: usize) -> bool {
        self.known[row * width + column]
    }

    /// Whether pixels are requested that are not computed yet.
    pub(super) fn has_requests(&self) -> bool {
        !self.requested.is_empty()
    }
}

/// A rectangle of pixels of a tile, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) top: usize,
    pub(super) bottom: usize,
}

impl Rectangle {
    /// All pixels of a tile.
    pub(super) fn of(tile: &Tile<'_>) -> Self {
        Self { left: 0, right: tile.width() - 1, top: 0, bottom: tile.height() - 1 }
    }

    /// The pixels of its border. Corners appear twice, and in a rectangle of one row or column every pixel does.
    pub(super) fn border(self) -> impl Iterator<Item = (usize, usize)> {
        let Self { left, right, top, bottom } = self;
        let across = (left..=right).flat_map(move |column| [(column, top), (column, bottom)]);
        across.chain((top..=bottom).flat_map(move |row| [(left, row), (right, row)]))
    }

    /// Whether it may contain c = 0, and so the whole Mandelbrot set: true if the smallest upright rectangle in the plane
    /// around its corners contains 0. Any rectangle may contain a part of a set that is not known to be connected.
    pub(super) fn may_hold_the_set(self, tile: &Tile<'_>, computer: &impl TileComputer) -> bool {
        if !computer.is_connected() {
            return true;
        }
        let Self { left, right, top, bottom } = self;
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let corners = corners.map(|(column, row)| computer.point(tile, column, row));
        [0, 1].into_iter().all(|part| {
            corners.iter().any(|corner| corner[part] <= 0.0) && corners.iter().any(|corner| corner[part] >= 0.0)
        })
    }
}
