//! The cells of the plane of a view, and whether its orbits go by them.

use dwell_kernels::deep::cells::{CellSetting, Cells};
use dwell_kernels::deep::mantissa::Dd;
use dwell_kernels::deep::orbit::Counts;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most tiles, 12 KB each in f64 and 16 KB in pairs: the first number for which there is memory.
const MOST_TILES: [usize; 3] = [4096, 1024, 256];
/// The tolerance of cells, and the error of an orbit from which on it goes by them, for dwells alone and for smooth values, which need to be known closer.
const SETTINGS: [[f64; 2]; 2] = [
    [1.0 / (1_u64 << 42) as f64, 1.0 / (1_u64 << 44) as f64],
    [1.0 / (1_u64 << 48) as f64, 1.0 / (1_u64 << 42) as f64],
];
/// Those of cells in pairs of f64, for what the first tier leaves.
const OF_PAIRS: [f64; 2] = [1.0 / (1_u64 << 56) as f64, 1.0 / (1_u128 << 66) as f64];
/// The greatest scale of a view whose cells are in pairs of f64: where c differs by more, that is more than their tolerance, and blocks of the fourth degree leave most pixels to the next ones.
const MOST_SCALE_OF_PAIRS: i32 = -60;
/// Where there are so many single steps for each block, orbits go by cells. Short tails take less time in single steps, most of them in vectors of neighbours: at kf-5e113, where there are 7, the first tier takes 1.4 times as long by cells; at rf-dragon there are 30.
const STEPS_OF_BLOCK: u64 = 16;
/// Once so many steps are made.
const LEAST_STEPS: u64 = 1 << 17;

/// The cells of a view: in f64 for the tiers that come first, and in pairs of f64 for the tier that what they leave goes to, by blocks of 2^-60 or those of the fourth degree.
///
/// Orbits that come to later tiers lose more bits in cells of f64 than in single steps, whose roundings are in proportion to their deltas. At rf-dragon, where deltas shrink to a hundredth in the gap at -3/4 and grow again, five times as many pixels were left to pairs of f64 with such cells in the
/// second tier. So where the first tier has cells, that of pairs with blocks of 2^-60 comes next, and takes half of the time of f64 with blocks of 2^-44 and pairs after it: at rf-dragon (960x540, one thread of a Xeon with AVX-512) 0.55 s for 5,908 pixels, of which it leaves 189 to pairs of 2^-88, in place of 0.98 and 0.67 s for 5,913 and
/// 766 pixels, and the blocks of one tier less. With a tolerance of 2^-62, it leaves 159, and takes 1.2 times as long.
#[derive(Debug, Default)]
pub(crate) struct ViewCells {
    most_tiles: OnceLock<Option<usize>>,
    /// For dwells alone and for smooth values.
    cells: [OnceLock<Option<Cells<f64>>>; 2],
    in_pairs: OnceLock<Option<Cells<Dd>>>,
    /// Of orbits without cells.
    steps: AtomicU64,
    blocks: AtomicU64,
}

impl ViewCells {
    /// Takes the memory, if `takes` says that there is so much.
    pub(super) fn reserve(&self, takes: impl Fn(u64) -> bool) {
        self.most_tiles.get_or_init(|| {
            MOST_TILES.into_iter().find(|tiles| takes(2 * Cells::<f64>::bytes(*tiles) + Cells::<Dd>::bytes(*tiles)))
        });
    }

    /// The cells, where orbits go by them; `make` makes them.
    pub(super) fn wanted(
        &self,
        smooth: bool,
        make: impl FnOnce(CellSetting) -> Option<Cells<f64>>,
    ) -> Option<&Cells<f64>> {
        let most_tiles = self.most_tiles.get().copied().flatten()?;
        let cells = &self.cells[usize::from(smooth)];
        if cells.get().is_none() && !self.save_time() {
            return None;
        }
        let [tolerance, least_error] = SETTINGS[usize::from(smooth)];
        cells.get_or_init(|| make(CellSetting { tolerance, least_error, most_tiles })).as_ref()
    }

    /// Those in pairs, in views of a small scale whose first tier has cells.
    pub(super) fn of_pairs(
        &self,
        scale: i32,
        make: impl FnOnce(CellSetting) -> Option<Cells<Dd>>,
    ) -> Option<&Cells<Dd>> {
        let most_tiles = self.most_tiles.get().copied().flatten()?;
        let has_some = self.cells.iter().any(|cells| cells.get().is_some_and(Option::is_some));
        let [tolerance, least_error] = OF_PAIRS;
        let make = || make(CellSetting { tolerance, least_error, most_tiles });
        if has_some && scale <= MOST_SCALE_OF_PAIRS { self.in_pairs.get_or_init(make).as_ref() } else { None }
    }

    /// Notes what orbits of a first tier did.
    pub(super) fn note(&self, counts: &Counts) {
        if counts.cells == 0 {
            self.steps.fetch_add(counts.steps, Ordering::Relaxed);
            self.blocks.fetch_add(counts.blocks, Ordering::Relaxed);
        }
    }

    fn save_time(&self) -> bool {
        let [steps, blocks] = [&self.steps, &self.blocks].map(|count| count.load(Ordering::Relaxed));
        steps > (STEPS_OF_BLOCK * blocks).max(LEAST_STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_made_where_orbits_have_long_tails_and_there_is_memory() {
        let counts = |steps, blocks| Counts { steps, blocks, ..Counts::default() };
        let asked = |view: &ViewCells| {
            let mut asked = None;
            view.wanted(false, |setting| {
                asked = Some(setting.most_tiles);
                None
            });
            asked
        };
        let without_memory = ViewCells::default();
        without_memory.reserve(|_| false);
        without_memory.note(&counts(1 << 30, 1));
        assert_eq!(asked(&without_memory), None);
        let view = ViewCells::default();
        view.reserve(|bytes| bytes < 2 * Cells::<f64>::bytes(2000) + Cells::<Dd>::bytes(2000));
        assert_eq!(asked(&view), None);
        view.note(&counts(100_000, 10));
        assert_eq!(asked(&view), None, "too few steps");
        view.note(&counts(100_000, 20_000));
        assert_eq!(asked(&view), None, "too many blocks");
        view.note(&Counts { cells: 1, ..counts(1 << 30, 0) });
        assert_eq!(asked(&view), None, "by cells");
        view.note(&counts(1_000_000, 10));
        assert_eq!(asked(&view), Some(1024));
        assert_eq!(asked(&view), None, "once");
    }
}
