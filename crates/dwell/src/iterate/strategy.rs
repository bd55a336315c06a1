//! Strategies: how the pixels of a tile are asked for.
//!
//! Asking for every pixel is exact. The others infer pixels from their surroundings and are heuristic on a grid of
//! pixels, however sound they are in the plane: a filament can pass between two samples of a border. They ask for far
//! fewer pixels where large parts of a view are alike.
//!
//! What they infer rests on one theorem. Every set of the points that have not escaped after n steps is connected and
//! holds the Mandelbrot set: each of its components holds a zero of the polynomial z_n(c), by the maximum principle for
//! 1/z_n, and those zeros never escape; and the Mandelbrot set itself is connected. It is also full. So around a
//! rectangle whose border has one dwell, nothing else can be inside, unless the border has escaped *and the whole
//! Mandelbrot set is inside*. That last case is what the published programs forget (a small set in the middle of a large
//! tile vanishes); here a rectangle that may hold c = 0 is never filled with a dwell other than 0.
//!
//! The same holds for z^N + c, whose set is connected and full like this one. Of a filled Julia set only the second half
//! is known, that it is full: within a border that has not escaped there is nothing else, but islands may lie anywhere
//! within one that has. For formulas with a fold neither is known. So there dwells other than 0 are never inferred.

mod boundary_trace;
mod mariani_silver;

use crate::iterate::tiles::{Tile, TileSize};

/// How the pixels of a tile are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Each of them. Exact.
    #[default]
    EveryPixel,
    /// Rectangles whose border has one dwell are filled, others divided (Mariani 1982, Silver). Heuristic.
    MarianiSilver,
    /// Only the boundaries between dwells are followed, and what they enclose filled. Heuristic.
    BoundaryTrace,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::EveryPixel, Self::MarianiSilver, Self::BoundaryTrace];

    /// Its name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EveryPixel => "every-pixel",
            Self::MarianiSilver => "mariani-silver",
            Self::BoundaryTrace => "boundary-trace",
        }
    }

    /// Whether every dwell is that of the plain loop, by construction.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self == Self::EveryPixel
    }

    /// Pixels of a tile, across and down, that suit it; `None`: any.
    pub(crate) fn tile(self) -> Option<TileSize> {
        // What is inferred lies inside a tile: large and square ones have the shortest borders.
        const SQUARE: TileSize = TileSize { width: 256, height: 256 };
        (!self.is_exact()).then_some(SQUARE)
    }

    /// Fills a tile. False when told to stop.
    pub(crate) fn fill(self, tile: &mut Tile<'_>, ask: &mut impl Ask, scratch: &mut Scratch) -> bool {
        match self {
            Self::EveryPixel => ask.all(tile),
            Self::MarianiSilver => mariani_silver::fill(tile, ask, scratch),
            Self::BoundaryTrace => boundary_trace::fill(tile, ask, scratch),
        }
    }
}

/// Whom a strategy asks. Places are columns and rows within the tile.
pub(crate) trait Ask {
    /// Has every pixel of a tile computed. False when told to stop.
    fn all(&mut self, tile: &mut Tile<'_>) -> bool;
    /// Has these pixels computed. False when told to stop.
    fn places(&mut self, tile: &mut Tile<'_>, places: &[(u32, u32)]) -> bool;
    /// c of a pixel.
    fn point(&self, tile: &Tile<'_>, column: usize, row: usize) -> [f64; 2];
    /// Whether the points that have not escaped after n steps are connected, for every n, and hold c = 0.
    fn is_connected(&self) -> bool;
}

/// Buffers that a thread keeps from tile to tile.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// By pixel: asked for, or filled.
    known: Vec<bool>,
    /// By pixel: its surroundings are to be looked at, or were.
    seen: Vec<bool>,
    /// Pixels to be asked for.
    asked: Vec<(u32, u32)>,
}

impl Scratch {
    fn start(&mut self, tile: &Tile<'_>) {
        let pixels = tile.width() * tile.height();
        for flags in [&mut self.known, &mut self.seen] {
            flags.clear();
            flags.resize(pixels, false);
        }
        self.asked.clear();
    }

    /// Has the pixels computed that are wanted. False when told to stop.
    fn answer(&mut self, tile: &mut Tile<'_>, ask: &mut impl Ask) -> bool {
        let finished = ask.places(tile, &self.asked);
        self.asked.clear();
        finished
    }

    /// Wants a pixel computed, unless it is known.
    fn want(&mut self, width: usize, column: usize, row: usize) {
        let known = &mut self.known[row * width + column];
        if !*known {
            *known = true;
            self.asked.push((column as u32, row as u32));
        }
    }
}

/// A rectangle of pixels of a tile, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rectangle {
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
}

impl Rectangle {
    fn of(tile: &Tile<'_>) -> Self {
        Self { left: 0, right: tile.width() - 1, top: 0, bottom: tile.height() - 1 }
    }

    /// The pixels of its border, some of them twice where it is narrow.
    fn border(self) -> impl Iterator<Item = (usize, usize)> {
        let Self { left, right, top, bottom } = self;
        let across = (left..=right).flat_map(move |column| [(column, top), (column, bottom)]);
        across.chain((top..=bottom).flat_map(move |row| [(left, row), (right, row)]))
    }

    /// Whether it may hold c = 0, and so the whole Mandelbrot set: the least upright rectangle in the plane around its
    /// corners does. Of a set that is not known to be connected any rectangle may hold a part.
    fn may_hold_the_set(self, tile: &Tile<'_>, ask: &impl Ask) -> bool {
        if !ask.is_connected() {
            return true;
        }
        let Self { left, right, top, bottom } = self;
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let corners = corners.map(|(column, row)| ask.point(tile, column, row));
        [0, 1].into_iter().all(|part| {
            corners.iter().any(|corner| corner[part] <= 0.0) && corners.iter().any(|corner| corner[part] >= 0.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::thread_pool::Schedule;
    use crate::iterate::cpu::CpuEngine;
    use crate::iterate::engine::Work;
    use crate::{Extras, Field, Level, Limits, Plan, Settings, Shortcuts, Size, View};

    fn dwells(view: &View, limit: u32, strategy: Strategy, tile: u32, extras: Extras) -> Field {
        let plan =
            Plan::new(view, &Settings { limit, force: true, ..Settings::default() }, &Limits::default()).unwrap();
        let tile = Some(TileSize { width: tile, height: tile });
        let engine = CpuEngine::new(Level::best(), 2)
            .with_shortcuts(Shortcuts::NONE)
            .with_work(Work { schedule: Schedule::default(), tile });
        crate::field(&plan, &engine, strategy, extras, &Limits::default(), &Cancel::default()).unwrap()
    }

    fn differing(view: &View, limit: u32, tile: u32, strategy: Strategy) -> usize {
        let exact = dwells(view, limit, Strategy::EveryPixel, tile, Extras::NONE);
        let other = dwells(view, limit, strategy, tile, Extras::NONE);
        exact.dwell().iter().zip(other.dwell()).filter(|(a, b)| a != b).count()
    }

    const HEURISTIC: [Strategy; 2] = [Strategy::MarianiSilver, Strategy::BoundaryTrace];

    #[test]
    fn the_whole_set_in_one_tile_does_not_vanish() {
        // 20 pixels of set in a sea of escaped points, inside a tile, also off its middle and turned; a published
        // program draws nothing at all here.
        for (centre, rotation) in [("0", "0"), ("7.3", "0"), ("-4", "33")] {
            let mut view = View::centred(centre, "0", "0.125").unwrap().sized(Size::new(200, 200).unwrap());
            view.rotation = rotation.parse().unwrap();
            let set = dwells(&view, 100, Strategy::EveryPixel, 256, Extras::NONE).interior_pixels();
            assert!(set > 20);
            for strategy in HEURISTIC {
                assert!(differing(&view, 100, 256, strategy) <= 2, "{strategy:?} {centre} {rotation}");
            }
        }
    }

    #[test]
    fn a_set_of_a_few_pixels_in_one_tile_does_not_vanish() {
        for centre in ["0.3", "5", "-9"] {
            let view = View::centred(centre, "0.4", "0.03").unwrap().sized(Size::new(240, 240).unwrap());
            assert!(dwells(&view, 100, Strategy::EveryPixel, 256, Extras::NONE).interior_pixels() > 1);
            for strategy in HEURISTIC {
                assert!(differing(&view, 100, 256, strategy) <= 1, "{strategy:?} {centre}");
            }
        }
    }

    #[test]
    fn a_contour_along_a_tile_s_edge_is_seen() {
        // The contour of dwell 1 is a circle of radius 2, nearly straight here: along a tile's edge one side has one dwell,
        // and the next pixels another.
        for (re, im) in [("-2.0000023437499999", "0"), ("0", "1.999"), ("1.9999", "0")] {
            let view = View::centred(re, im, "1000").unwrap().sized(Size::new(256, 256).unwrap());
            for (strategy, tile) in HEURISTIC.into_iter().flat_map(|s| [16, 64, 256].map(|tile| (s, tile))) {
                let wrong = differing(&view, 2, tile, strategy);
                assert!(wrong <= 64, "{strategy:?} {re} tile {tile}: {wrong}");
            }
        }
    }

    #[test]
    fn few_pixels_differ_at_any_size_and_tile() {
        for (re, im, zoom, limit) in [("-0.75", "0", "1.5", 300), ("-0.1592", "1.0317", "300", 200)] {
            for (width, height) in [(1, 1), (1, 50), (50, 1), (2, 3), (129, 65), (200, 133)] {
                let view = View::centred(re, im, zoom).unwrap().sized(Size::new(width, height).unwrap());
                for tile in [1, 2, 3, 16, 64, 257] {
                    for strategy in HEURISTIC {
                        let wrong = differing(&view, limit, tile, strategy);
                        let most = (width * height / 200) as usize;
                        assert!(wrong <= most, "{strategy:?} {width}x{height} tile {tile}: {wrong} of {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn pixels_with_one_dwell_around_them_are_not_asked_for() {
        // Counted by what would come out if nothing were inferred: an asker that knows one island off the border.
        struct Island(usize);
        impl Ask for Island {
            fn all(&mut self, _: &mut Tile<'_>) -> bool {
                panic!("not every pixel")
            }
            fn places(&mut self, tile: &mut Tile<'_>, places: &[(u32, u32)]) -> bool {
                self.0 += places.len();
                for (column, row) in places {
                    let inside = (20..30).contains(column) && (20..30).contains(row);
                    tile.dwell[*row as usize][*column as usize] = if inside { 0 } else { 5 };
                }
                true
            }
            fn point(&self, _: &Tile<'_>, column: usize, row: usize) -> [f64; 2] {
                [1.0 + column as f64, 1.0 + row as f64]
            }
            fn is_connected(&self) -> bool {
                true
            }
        }
        for strategy in HEURISTIC {
            let mut pixels = vec![9; 64 * 64];
            let dwell = pixels.chunks_mut(64).collect();
            let mut tile = Tile { columns: 0..64, rows: 0..64, dwell, smooth: Vec::new(), distance: Vec::new() };
            let mut island = Island(0);
            assert!(strategy.fill(&mut tile, &mut island, &mut Scratch::default()));
            // The border; the trace looks at what lies next to it, too, and at the nine points of its lattice within, none
            // of which hits the island.
            let most = 4 * 63 + if strategy == Strategy::BoundaryTrace { 4 * 61 + 9 } else { 0 };
            assert_eq!(island.0, most, "{strategy:?}");
            assert!(pixels.iter().all(|n| *n == 5));
        }
    }

    #[test]
    fn smooth_values_are_never_inferred() {
        let view = View::centred("-0.75", "0", "1.5").unwrap().sized(Size::new(160, 90).unwrap());
        let exact = dwells(&view, 200, Strategy::EveryPixel, 64, Extras::SMOOTH);
        for strategy in HEURISTIC {
            let other = dwells(&view, 200, strategy, 64, Extras::SMOOTH);
            for i in 0..exact.dwell().len() {
                if other.dwell()[i] != 0 {
                    assert_eq!(exact.smooth()[i], other.smooth()[i], "{strategy:?}");
                    assert_eq!(exact.dwell()[i], other.dwell()[i], "{strategy:?}");
                }
            }
        }
    }
}
