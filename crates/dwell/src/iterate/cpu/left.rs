//! Points that tiles leave open, computed together: the last points of a tile take as long as a full bundle of them would, each up
//! to the limit (`dwell_kernels::escape`). In a view of 400x225 pixels beside a parabolic point, with the limit 10^8 that is found
//! for it, this took 9 of 10 seconds.
//!
//! Of a map with a fold, tiles leave all points that reach the first n without a proof. Many of them have chaotic orbits that never
//! escape, and trapping regions prove this for many points at once ([`crate::iterate::trapped`]).
//!
//! A list of points leaves points too, of greater n. So each pass has fewer points in fuller bundles, and only in the last are there
//! bundles with empty lanes. A pass begins anew at n = 0: it takes a sixteenth of its time for what the pass before did.

use super::CpuEngine;
use super::worker::{Buffers, Call, LIST};
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{extend, push};
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelBuffers, ChannelSet};
use crate::iterate::shortcuts::Shortcuts;
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::iterate::trapped::Trapped;
use dwell_kernels::escape::Workspace;
use dwell_kernels::{Fold, Kernels, Map, Number};
use std::time::{Duration, Instant};

/// The n from which tiles leave points open. Until there a tile takes some 0.04 ms for the last ones.
const FIRST: u32 = 1 << 14;
/// The factor from the n of a pass to that of the next.
const FACTOR: u32 = 16;
/// Lists for each thread, where each has at least so many points.
const LISTS_PER_THREAD: usize = 4;
const FULL_LIST: usize = 1 << 10;
/// What the memory is for, in messages.
pub(super) const WHAT: &str = "points that take long";

/// Which points tiles leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// None: strategies that infer need the dwells of a tile at once, the search for an attracting cycle of a point would be
    /// repeated, and up to low limits it gains nothing.
    None,
    /// Those that take long, where they are few.
    Few,
    /// All that reach [`FIRST`] without a proof.
    All(Fold),
}

impl Leaving {
    /// What is left in a call with this strategy, channels, limit, map and shortcuts.
    pub(super) fn of<N: Number>(
        strategy: Strategy,
        channels: ChannelSet,
        limit: u32,
        map: &Map<N>,
        shortcuts: Shortcuts,
    ) -> Self {
        let fold = map.formula.fold();
        if !strategy.is_exact() || channels.has_interior() || next(FIRST / FACTOR, limit) == u32::MAX {
            Self::None
        } else if fold == Fold::None || !shortcuts.cycles {
            Self::Few
        } else {
            Self::All(fold)
        }
    }

    /// The limit of tiles, and the n from which they leave points where they are few.
    pub(super) fn limits(self, limit: u32) -> (u32, u32) {
        match self {
            Self::None => (limit, u32::MAX),
            Self::Few => (limit, FIRST),
            Self::All(_) => (FIRST, u32::MAX),
        }
    }

    /// Bytes of memory for the points that so many tiles of this size leave. Of a tile that is computed in lists, each list may leave
    /// some, and where both ways to compute a tile are tried, each half of it.
    pub(super) fn bytes<N: Kernels>(self, tile: TileSize, tiles: u64, channels: ChannelSet, threads: u64) -> u64 {
        let pixels = u64::from(tile.width) * u64::from(tile.height);
        let (most, proofs) = match self {
            Self::None => (0, 0),
            Self::Few => {
                let of_lists = (pixels.div_ceil(LIST as u64) + 1) * Workspace::<N>::MOST_LEFT as u64;
                (tiles * pixels.min(of_lists), 0)
            }
            Self::All(fold) => (tiles * pixels, Trapped::<N>::bytes(fold, tiles * pixels, threads)),
        };
        // Two passes at once, in lists that grow by doubling.
        4 * most * size_of::<(u32, u32)>() as u64 + channels.bytes(most) + proofs
    }
}

/// The n from which points are left in the pass after one, or `u32::MAX` where one more pass gains nothing.
fn next(from: u32, limit: u32) -> u32 {
    let next = from.saturating_mul(FACTOR);
    if limit / FACTOR >= next { next } else { u32::MAX }
}

/// A list of points that has been computed.
struct Computed {
    first: usize,
    values: ChannelBuffers,
}

/// The state of a thread.
struct Thread<N> {
    buffers: Box<Buffers<N>>,
    computed: Vec<Computed>,
    left: Vec<(u32, u32)>,
    busy: Duration,
}

impl CpuEngine {
    /// Computes points of the image, given by columns and rows, that a call has left open, into `rows`, which hold them. Returns the
    /// time in which threads waited.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(super) fn compute_left<N: Kernels>(
        &self,
        call: &Call<'_, N>,
        leaving: Leaving,
        mut places: Vec<(u32, u32)>,
        rows: &mut FieldRowsMut<'_>,
        control: &Control<'_>,
    ) -> Result<Duration, Error> {
        let [columns, _, height, _] = call.points.axes.arrays().map(|axis| axis.len() as u32);
        let grid = call.points.axes.grid(0..columns, 0..height);
        let (set, threads) = (rows.set(), self.pool.threads());
        let (mut from, mut waiting) = (FIRST, Duration::ZERO);
        if matches!(leaving, Leaving::All(_)) {
            let proofs =
                Trapped { points: call.points, pool: &self.pool, schedule: self.schedule, cancel: control.cancel };
            let proved = proofs.find(&places, call.settings.limit.into())?;
            let before = places.len();
            let mut proved = proved.into_iter();
            places.retain(|_| proved.next() != Some(true));
            control.progress.add((before - places.len()) as u64);
        }
        while !places.is_empty() {
            let began = Instant::now();
            from = next(from, call.settings.limit);
            let call = Call { first_limit: call.settings.limit, leaves_from: from, ..*call };
            let lists = if places.len() < threads * FULL_LIST { threads } else { threads * LISTS_PER_THREAD };
            let size = places.len().div_ceil(lists).min(LIST);
            let start = || -> Result<_, Error> {
                let buffers = self.take_buffers()?;
                Ok(Thread { buffers, computed: Vec::new(), left: Vec::new(), busy: Duration::ZERO })
            };
            let work = |thread: &mut Thread<N>, number: usize| -> Result<(), Error> {
                let began = Instant::now();
                control.cancel.check()?;
                let first = number * size;
                let list = &places[first..places.len().min(first + size)];
                let mut values = ChannelBuffers::default();
                values.resize(list.len(), set)?;
                call.compute_list(&mut thread.buffers, grid, list, values.slices_mut())?;
                let left = thread.buffers.left();
                control.progress.add((list.len() - left.len()) as u64);
                extend(&mut thread.left, left.iter().map(|(number, _)| list[*number as usize]), WHAT)?;
                push(&mut thread.computed, Computed { first, values }, WHAT)?;
                thread.busy += began.elapsed();
                Ok(())
            };
            let used = self.pool.for_each(self.schedule, 0..places.len().div_ceil(size), start, work)?;
            let (mut left, mut busy) = (Vec::new(), Duration::ZERO);
            for thread in used {
                for Computed { first, values } in thread.computed {
                    rows.write_points(&places[first..first + values.dwell.len()], values.slices());
                }
                extend(&mut left, thread.left, WHAT)?;
                busy += thread.busy;
                self.pool.kept().keep(thread.buffers);
            }
            places = left;
            // A list that is not full has as many lanes idle, though its thread is busy.
            let is_short = size < FULL_LIST;
            waiting += if is_short { began.elapsed() } else { began.elapsed().saturating_sub(busy / threads as u32) };
        }
        Ok(waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::progress::Progress;
    use crate::field::Field;
    use crate::field::channels::Channel;
    use crate::iterate::engine::{Engine, Task};
    use crate::view::settings::NumberKind;
    use crate::{Limits, Plan, Settings, Size, View};
    use dwell_kernels::{Formula, Level, Recipe};

    #[test]
    fn points_that_tiles_leave_have_the_dwells_of_a_list() {
        // Beside a parabolic point. Some points escape after 10^5 steps and more, and cycles are entered late.
        let (width, height, limit) = (80, 45, 1 << 20);
        let view = View::centred("-0.63372371541160799", "0.44303627638272502", "4.95e4").unwrap();
        let view = view.sized(Size::new(width, height).unwrap());
        let plan = Plan::new(&view, &Settings { limit, ..Settings::default() }, &Limits::default()).unwrap();
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let places: Vec<_> = (0..height).flat_map(|row| (0..width).map(move |column| (column, row))).collect();
        for channels in [ChannelSet::NONE, ChannelSet::SMOOTH] {
            let mut expected = ChannelBuffers::default();
            expected.resize(places.len(), channels).unwrap();
            let out = expected.slices_mut();
            let engine = CpuEngine::new(Level::best(), 1);
            engine.compute_scattered(plan.points(), [limit; 2], &places, out, &control).unwrap();
            assert!(expected.dwell.iter().any(|dwell| *dwell > FIRST), "no point is late");
            for (threads, strategy) in [(1, Strategy::EveryPixel), (3, Strategy::EveryPixel), (2, Strategy::Proven)] {
                let engine = CpuEngine::new(Level::best(), threads).with_tile(Some(TileSize { width: 40, height: 9 }));
                let task = Task { plan: &plan, strategy, channels };
                let (mut field, done) = (Field::default(), progress.pixels_done());
                field.prepare(width, 0..height, channels).unwrap();
                let outcome = engine.run(&task, field.all_rows_mut(), &control).unwrap();
                assert!(outcome.times.waiting <= outcome.times.iterate);
                assert_eq!(progress.pixels_done() - done, places.len() as u64, "each pixel is counted once");
                let found = field.all_rows();
                assert!(found.dwell() == expected.dwell, "{threads} threads, {strategy}");
                for channel in channels.iter() {
                    assert!(found.channel(channel) == expected[channel], "{threads} threads, {strategy}, {channel:?}");
                }
            }
        }
    }

    #[test]
    fn points_are_left_where_the_limit_is_high() {
        let [plain, folded] = [Fold::None, Fold::Absolute].map(|fold| {
            let formula = Formula::new(fold, 2).unwrap();
            Map::<f64> { formula, recipe: Recipe::Fused, julia: None }
        });
        let of = |map, strategy, channels, limit| Leaving::of(strategy, channels, limit, map, Shortcuts::EXACT);
        let (exact, none) = (Strategy::EveryPixel, ChannelSet::NONE);
        assert_eq!(of(&plain, exact, none, 100_000), Leaving::None);
        assert_eq!(of(&plain, Strategy::Auto, ChannelSet::SMOOTH, 1_000_000), Leaving::Few);
        assert_eq!(of(&plain, Strategy::MarianiSilver, none, 1_000_000), Leaving::None);
        assert_eq!(of(&plain, exact, none.with(Channel::Period), 1_000_000), Leaving::None);
        assert_eq!(of(&folded, exact, none, 100_000), Leaving::None);
        assert_eq!(of(&folded, exact, none, 1_000_000), Leaving::All(Fold::Absolute));
        let without = Leaving::of(exact, none, 1_000_000, &folded, Shortcuts::NONE);
        assert_eq!(without, Leaving::Few);
        assert_eq!(Leaving::None.limits(7), (7, u32::MAX));
        assert_eq!(Leaving::Few.limits(1_000_000), (1_000_000, FIRST));
        assert_eq!(Leaving::All(Fold::Absolute).limits(1_000_000), (FIRST, u32::MAX));
        assert_eq!((next(FIRST, 100_000_000), next(1 << 18, 100_000_000)), (1 << 18, 1 << 22));
        assert_eq!(next(1 << 22, 100_000_000), u32::MAX);
    }

    #[test]
    fn chaotic_orbits_have_the_dwells_of_the_plain_loop() {
        // Inside a small copy of the Burning Ship: orbits on a chaotic attractor, beside some that escape late.
        let (width, height, limit) = (64, 36, 1 << 19);
        let view = View::centred("0.20938588800305544", "-1.11015783080576647", "7").unwrap();
        let view = view.sized(Size::new(width, height).unwrap());
        let formula = Formula::new(Fold::Absolute, 2).unwrap();
        for (number, levels) in [(NumberKind::F64, Level::available()), (NumberKind::F32, vec![Level::best()])] {
            let settings = Settings { limit, formula, number, force: true, ..Settings::default() };
            let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
            let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
            let (cancel, progress) = (Cancel::default(), Progress::default());
            let control = Control { cancel: &cancel, progress: &progress };
            let mut expected = Field::default();
            expected.prepare(width, 0..height, ChannelSet::NONE).unwrap();
            let without = CpuEngine::new(Level::best(), 2).with_shortcuts(Shortcuts::NONE);
            without.run(&task, expected.all_rows_mut(), &control).unwrap();
            let dwells = expected.all_rows().dwell();
            assert!(dwells.iter().filter(|dwell| **dwell == 0).count() > 300, "few stay");
            assert!(dwells.iter().any(|dwell| *dwell > FIRST), "no point escapes late");
            for (level, strategy) in levels.into_iter().flat_map(|level| {
                [Strategy::EveryPixel, Strategy::Proven, Strategy::Auto].map(|strategy| (level, strategy))
            }) {
                for (threads, tile) in [(1, None), (3, Some(TileSize { width: 16, height: 9 }))] {
                    let engine = CpuEngine::new(level, threads).with_tile(tile);
                    let task = Task { strategy, ..task };
                    let (mut field, done) = (Field::default(), progress.pixels_done());
                    field.prepare(width, 0..height, ChannelSet::NONE).unwrap();
                    engine.run(&task, field.all_rows_mut(), &control).unwrap();
                    assert_eq!(progress.pixels_done() - done, u64::from(width * height), "each pixel is counted once");
                    assert!(field.all_rows().dwell() == dwells, "{number:?} {level:?} {strategy} {threads} threads");
                }
            }
        }
    }
}
