//! Points that tiles leave open, computed together: the last points of a tile take as long as a full bundle of them would, each up
//! to the limit (`dwell_kernels::escape`). In a view of 400x225 pixels beside a parabolic point, with the limit 10^8 that is found
//! for it, this took 9 of 10 seconds.
//!
//! A list of them leaves points too, of greater n. So each pass has fewer points in fuller bundles, and only in the last are there
//! bundles with empty lanes. A pass begins anew at n = 0: it takes a sixteenth of its time for what the pass before did.

use super::CpuEngine;
use super::worker::{Buffers, Call, LIST};
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{extend, push};
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelBuffers, ChannelSet};
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use dwell_kernels::Kernels;
use dwell_kernels::escape::Workspace;
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

/// The n from which tiles leave points; `u32::MAX` where no tile does. Strategies that infer need the dwells of a tile at once, and
/// the search for an attracting cycle of a point would be repeated.
pub(super) fn leaves_from(strategy: Strategy, channels: ChannelSet, limit: u32) -> u32 {
    if strategy.is_exact() && !channels.has_interior() { next(FIRST / FACTOR, limit) } else { u32::MAX }
}

/// The n from which points are left in the pass after one, or `u32::MAX` where one more pass gains nothing.
fn next(from: u32, limit: u32) -> u32 {
    let next = from.saturating_mul(FACTOR);
    if limit / FACTOR >= next { next } else { u32::MAX }
}

/// Bytes of memory for the points that so many tiles of this size leave. Of a tile that is computed in lists, each list may leave
/// some, and where both ways to compute a tile are tried, each half of it.
pub(super) fn bytes<N: Kernels>(tile: TileSize, tiles: u64, channels: ChannelSet) -> u64 {
    let pixels = u64::from(tile.width) * u64::from(tile.height);
    let most = tiles * pixels.min((pixels.div_ceil(LIST as u64) + 1) * Workspace::<N>::MOST_LEFT as u64);
    // Two passes at once, in lists that grow by doubling.
    4 * most * size_of::<(u32, u32)>() as u64 + channels.bytes(most)
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
        mut places: Vec<(u32, u32)>,
        rows: &mut FieldRowsMut<'_>,
        control: &Control<'_>,
    ) -> Result<Duration, Error> {
        let [columns, _, height, _] = call.points.axes.arrays().map(|axis| axis.len() as u32);
        let grid = call.points.axes.grid(0..columns, 0..height);
        let (set, threads) = (rows.set(), self.pool.threads());
        let (mut from, mut waiting) = (call.leaves_from, Duration::ZERO);
        while !places.is_empty() {
            let began = Instant::now();
            from = next(from, call.settings.limit);
            let call = Call { leaves_from: from, ..*call };
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
                extend(&mut thread.left, left.map(|(number, _)| list[number]), WHAT)?;
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
                self.return_buffers(thread.buffers);
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
    use crate::{Limits, Plan, Settings, Size, View};
    use dwell_kernels::Level;

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
        let from = |strategy, channels, limit| leaves_from(strategy, channels, limit);
        assert_eq!(from(Strategy::EveryPixel, ChannelSet::NONE, 100_000), u32::MAX);
        assert_eq!(from(Strategy::Auto, ChannelSet::SMOOTH, 1_000_000), FIRST);
        assert_eq!(from(Strategy::MarianiSilver, ChannelSet::NONE, 1_000_000), u32::MAX);
        assert_eq!(from(Strategy::EveryPixel, ChannelSet::NONE.with(Channel::Period), 1_000_000), u32::MAX);
        assert_eq!((next(FIRST, 100_000_000), next(1 << 18, 100_000_000)), (1 << 18, 1 << 22));
        assert_eq!(next(1 << 22, 100_000_000), u32::MAX);
    }
}
