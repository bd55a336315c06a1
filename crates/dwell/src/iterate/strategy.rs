//! A strategy decides which pixels of a tile are computed and which are inferred.
//!
//! Computing every pixel is exact. The other strategies infer pixels from their surroundings. In the plane the inference is
//! sound, but on a grid of pixels it is heuristic, since a filament can pass between two samples of a border. These
//! strategies compute far fewer pixels where large parts of a view have equal dwells.
//!
//! The inference rests on one theorem. For every n, the set of points that have not escaped after n steps is connected and
//! contains the Mandelbrot set: each of its components contains a zero of the polynomial z_n(c), by the maximum principle
//! for 1/z_n, and those zeros never escape; and the Mandelbrot set itself is connected. The set is also full. So a rectangle
//! whose border has one dwell contains no other dwell, unless the border has escaped *and the whole Mandelbrot set is
//! inside*. Published programs omit that last case, and a small set in the middle of a large tile vanishes; here a rectangle
//! that may contain c = 0 is never filled with a dwell other than 0.
//!
//! The same holds for z^N + c, whose set is also connected and full. A filled Julia set is only known to be full: a border
//! that has not escaped encloses nothing else, but a border that has escaped may enclose islands anywhere. For formulas with
//! a fold neither property is known. So dwells other than 0 are never inferred for Julia sets and formulas with a fold.

mod boundary_trace;
mod inference;
mod mariani_silver;

use crate::base::error::Error;
use crate::field::channels::ChannelSet;
use crate::iterate::shortcuts::Shortcuts;
use crate::iterate::tiles::{Tile, TileSize};
pub(crate) use inference::{PixelRequests, TileComputer};

/// The fewest samples of an image in which `auto` tries proofs: of the whole set at 2048 x 2048, every pixel is faster at every
/// limit up to 1,000 (docs/proven.md).
const FEWEST_SAMPLES: u64 = 1 << 23;

/// Which pixels of a tile are computed and which are inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// `proven` where the dwells of a large image are wanted and that has been faster lately, otherwise `every-pixel`. Exact:
    /// both give the same dwells.
    #[default]
    Auto,
    /// Every pixel is computed. Exact.
    EveryPixel,
    /// Blocks of pixels are proved to have one dwell, and single pixels never to escape; every other pixel is computed. Where
    /// channels beside the dwells are wanted, every pixel is computed up to the proof that it never escapes. Exact. See
    /// [`dwell_kernels::blocks`].
    Proven,
    /// A rectangle whose border has one dwell is filled with it, any other is divided (Mariani 1982, Silver). Heuristic.
    MarianiSilver,
    /// The boundaries between dwells are computed, and the areas that they enclose are filled. Heuristic.
    BoundaryTrace,
}

dwell_kernels::named!(Strategy, "strategy":
    Auto => "auto",
    EveryPixel => "every-pixel",
    Proven => "proven",
    MarianiSilver => "mariani-silver",
    BoundaryTrace => "boundary-trace",
);

impl Strategy {
    /// Whether every dwell equals that of the plain loop, by construction.
    #[must_use]
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Auto | Self::EveryPixel | Self::Proven)
    }

    /// The size of tiles that the strategy needs; `None` if it works with any size.
    pub(crate) fn tile(self) -> Option<TileSize> {
        // Pixels are inferred inside a tile, and large square tiles have the shortest borders for their area.
        const SQUARE: TileSize = TileSize { width: 256, height: 256 };
        (self != Self::EveryPixel).then_some(SQUARE)
    }

    /// What it comes to with these channels and shortcuts in an image of so many samples: the orbit of every pixel is needed
    /// for any channel, and `auto` proves nothing where no shortcut is wanted and in images in which no proof pays.
    pub(crate) fn with(self, channels: ChannelSet, shortcuts: Shortcuts, samples: u64) -> Self {
        let is_wanted = shortcuts.interior && shortcuts.cycles && samples >= FEWEST_SAMPLES;
        match self {
            Self::Proven if channels != ChannelSet::NONE => Self::EveryPixel,
            Self::Auto if channels != ChannelSet::NONE || !is_wanted => Self::EveryPixel,
            _ => self,
        }
    }

    /// Fills a tile.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the call was cancelled, [`Error::Input`] when the system has not enough memory.
    pub(crate) fn fill(
        self,
        tile: &mut Tile<'_>,
        computer: &mut impl TileComputer,
        scratch: &mut PixelRequests,
    ) -> Result<(), Error> {
        match self {
            // Nothing is inferred where the interior has values of its own.
            _ if tile.out.set().has_interior() => computer.compute_all(tile),
            Self::EveryPixel => computer.compute_all(tile),
            Self::Proven => computer.compute_proven(tile),
            Self::Auto => computer.compute_faster(tile),
            Self::MarianiSilver => mariani_silver::fill(tile, computer, scratch),
            Self::BoundaryTrace => boundary_trace::fill(tile, computer, scratch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::field::channels::{ChannelSet, ChannelSlicesMut};
    use crate::iterate::cpu::CpuEngine;
    use crate::iterate::engine::Task;
    use crate::{Field, Level, Limits, Plan, Settings, Shortcuts, Size, View};

    fn dwells(view: &View, limit: u64, strategy: Strategy, tile: u32, channels: ChannelSet) -> Field {
        let plan =
            Plan::new(view, &Settings { limit, force: true, ..Settings::default() }, &Limits::default()).unwrap();
        let tile = Some(TileSize { width: tile, height: tile });
        let engine = CpuEngine::new(Level::best(), 2).with_shortcuts(Shortcuts::NONE).with_tile(tile);
        let task = Task { plan: &plan, strategy, channels };
        crate::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap()
    }

    fn differing(view: &View, limit: u64, tile: u32, strategy: Strategy) -> usize {
        let exact = dwells(view, limit, Strategy::EveryPixel, tile, ChannelSet::NONE);
        let other = dwells(view, limit, strategy, tile, ChannelSet::NONE);
        exact.dwell().iter().zip(other.dwell()).filter(|(a, b)| a != b).count()
    }

    const HEURISTIC: [Strategy; 2] = [Strategy::MarianiSilver, Strategy::BoundaryTrace];

    #[test]
    fn the_whole_set_in_one_tile_does_not_vanish() {
        // About 20 pixels of the set inside a tile of escaped points: in its middle, off its middle, and rotated. A
        // published program draws nothing here.
        for (centre, rotation) in [("0", "0"), ("7.3", "0"), ("-4", "33")] {
            let mut view = View::centred(centre, "0", "0.125").unwrap().sized(Size::new(200, 200).unwrap());
            view.rotation = rotation.parse().unwrap();
            let set = dwells(&view, 100, Strategy::EveryPixel, 256, ChannelSet::NONE).interior_pixels();
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
            assert!(dwells(&view, 100, Strategy::EveryPixel, 256, ChannelSet::NONE).interior_pixels() > 1);
            for strategy in HEURISTIC {
                assert!(differing(&view, 100, 256, strategy) <= 1, "{strategy:?} {centre}");
            }
        }
    }

    #[test]
    fn a_contour_along_the_edge_of_a_tile_is_found() {
        // The contour of dwell 1 is a circle of radius 2, nearly straight here: along an edge of a tile all pixels have one
        // dwell, and the pixels next to them have another.
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
                        let allowed = (width * height / 200) as usize;
                        assert!(wrong <= allowed, "{strategy:?} {width}x{height} tile {tile}: {wrong} of {allowed}");
                    }
                }
            }
        }
    }

    #[test]
    fn pixels_surrounded_by_one_dwell_are_not_computed() {
        // Counts the computed pixels. If the inside were computed, an island of another dwell would appear in the tile.
        struct Island(usize);
        impl TileComputer for Island {
            fn compute_all(&mut self, _: &mut Tile<'_>) -> Result<(), Error> {
                panic!("not every pixel")
            }
            fn compute_places(&mut self, tile: &mut Tile<'_>, places: &[(u32, u32)]) -> Result<(), Error> {
                self.0 += places.len();
                for (column, row) in places {
                    let inside = (20..30).contains(column) && (20..30).contains(row);
                    tile.out.dwell[*row as usize][*column as usize] = if inside { 0 } else { 5 };
                }
                Ok(())
            }
            fn compute_proven(&mut self, _: &mut Tile<'_>) -> Result<(), Error> {
                panic!("nothing is proved")
            }
            fn compute_faster(&mut self, _: &mut Tile<'_>) -> Result<(), Error> {
                panic!("nothing is proved")
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
            let out = ChannelSlicesMut::of_dwells(&mut pixels).into_rows(64).unwrap();
            let mut tile = Tile { columns: 0..64, rows: 0..64, out };
            let mut island = Island(0);
            strategy.fill(&mut tile, &mut island, &mut PixelRequests::default()).unwrap();
            // The border is computed. The boundary trace also computes the pixels next to it and the nine points of its
            // lattice inside, none of which is on the island.
            let expected = 4 * 63 + if strategy == Strategy::BoundaryTrace { 4 * 61 + 9 } else { 0 };
            assert_eq!(island.0, expected, "{strategy:?}");
            assert!(pixels.iter().all(|n| *n == 5));
        }
    }

    #[test]
    fn smooth_values_are_never_inferred() {
        let view = View::centred("-0.75", "0", "1.5").unwrap().sized(Size::new(160, 90).unwrap());
        let exact = dwells(&view, 200, Strategy::EveryPixel, 64, ChannelSet::SMOOTH);
        for strategy in HEURISTIC {
            let other = dwells(&view, 200, strategy, 64, ChannelSet::SMOOTH);
            for i in 0..exact.dwell().len() {
                if other.dwell()[i] != 0 {
                    assert_eq!(exact.smooth()[i], other.smooth()[i], "{strategy:?}");
                    assert_eq!(exact.dwell()[i], other.dwell()[i], "{strategy:?}");
                }
            }
        }
    }
}
