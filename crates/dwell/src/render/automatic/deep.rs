//! Points of the probe of a deep view.

use super::late_orbits::{Chaotic, most_by_median};
use super::list::{List, Outcome, Point, StillOpen};
use super::nominal::Cells;
use super::points::{Computer, MOST_ADDED, WHAT};
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{collected, filled};
use crate::base::pieces::Segment;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::colour::By;
use crate::deep::fixed_bits::FEWEST;
use crate::deep::points::DeepPoints;
use crate::deep::tiers::{DeepBuffers, DeepCall};
use crate::field::channels::{ChannelBuffers, ChannelSet};
use dwell_kernels::{Fold, Level};

/// The iterations that are allowed for points which are not proved to stay, as a mean over all pixels, where the map has a fold: many
/// of them never are.
const MOST_ADDED_FOLDED: f64 = 50_000.0;

/// The steps in fixed point of a point of a check, at most: a second.
const MOST_CHECKED: u64 = 1 << 24;

/// Points that stay of which is found how many are chaotic.
const SAMPLED: usize = 64;

/// Computes points given by offsets from the centre of a deep view.
pub(super) struct Deep<'a> {
    pub(super) points: &'a DeepPoints,
    pub(super) cells: Cells,
    pub(super) pool: &'a ThreadPool,
    pub(super) level: Level,
    pub(super) control: Control<'a>,
    /// The quantity to compute beside the dwells.
    pub(super) by: By,
    /// Whether a limit that was given is checked. Points that fixed point does not decide in a second then count as points that have not escaped: each may take longer than the picture.
    pub(super) is_check: bool,
}

/// The buffers of a thread.
#[derive(Default)]
struct Buffers {
    deep: DeepBuffers,
    places: Vec<(u32, u32)>,
    values: ChannelBuffers,
    open: StillOpen,
}

impl Computer for Deep<'_> {
    fn run(&self, list: &mut List, limit: u64) -> Result<(), Error> {
        let threads = self.pool.threads();
        let call = self.call(limit);
        let work = |buffers: &mut Buffers, piece: Segment<'_, Point>| self.piece(&call, buffers, piece);
        let used = self.pool.for_each(Schedule::default(), list.pieces(threads).0, || Ok(Buffers::default()), work)?;
        list.iterated(used.into_iter().map(|buffers| buffers.open))?;
        self.control.cancel.check()
    }

    fn proved(&self, list: &[Point], _: u64) -> Result<Vec<bool>, Error> {
        // Inside the set blocks of whole periods take the orbit to any limit. Without blocks, an orbit that is not proved to stay takes each step.
        Ok(filled(list.len(), self.points.shared.has_blocks(), WHAT)?)
    }

    fn is_folded(&self) -> bool {
        self.points.shared.map().formula.fold() != Fold::None
    }

    fn samples_long_orbits(&self) -> bool {
        true
    }

    /// A reference orbit takes up to a microsecond a step.
    fn last_without_escape(&self) -> u64 {
        1 << 24
    }

    /// Orbits that escape late may take single steps in fixed point.
    fn looks_ahead(&self) -> bool {
        false
    }

    fn price(&self) -> f64 {
        f64::INFINITY
    }

    fn most_added(&self) -> f64 {
        if self.is_folded() { MOST_ADDED_FOLDED } else { MOST_ADDED }
    }

    fn most_limit(&self, list: &[Point], limit: u64) -> Result<f64, Error> {
        if self.points.shared.has_blocks() {
            return Ok(most_by_median(list, limit)?);
        }
        let chaotic = if self.is_folded() { self.chaotic(list, limit)? } else { None };
        Ok(chaotic.map_or(f64::INFINITY, |chaotic| chaotic.most()))
    }
}

impl Deep<'_> {
    fn call(&self, limit: u64) -> DeepCall<'_> {
        let Self { points, level, control, pool, .. } = *self;
        DeepCall { points, limit, level, threads: pool.threads(), control }
    }

    /// The chaotic orbits among those of a list that do not escape, by a sample.
    fn chaotic(&self, list: &[Point], limit: u64) -> Result<Option<Chaotic>, Error> {
        let Some(all) = Chaotic::of(list, limit, -self.points.own_scale().min(-1) as f64)? else { return Ok(None) };
        let stays = || list.iter().filter(|point| point.dwell() == 0);
        let step = stays().count().div_ceil(SAMPLED).max(1);
        let places = collected(stays().step_by(step).map(|point| self.cells.pixel(point.place).into()), WHAT)?;
        let call = self.call(all.until_lost(FEWEST as f64));
        let course = call.course(ChannelSet::NONE)?;
        let mut lost = filled(places.len(), false, WHAT)?;
        self.pool.for_each_chunk(Schedule::default(), &mut lost, 1, |number, lost| {
            lost.iter_mut().zip(&places[number..]).for_each(|(lost, place)| *lost = course.loses_all_bits(*place));
            self.control.cancel.check()
        })?;
        let lost = lost.iter().filter(|lost| **lost).count() as f64;
        Ok((lost > 0.0).then(|| all.part(lost / places.len() as f64)))
    }

    fn piece(&self, call: &DeepCall<'_>, buffers: &mut Buffers, mut piece: Segment<'_, Point>) -> Result<(), Error> {
        let Buffers { deep, places, values, open } = buffers;
        *places = collected(piece.chosen().map(|point| self.cells.pixel(point.place).into()), WHAT)?;
        let channel = self.by.channel();
        let set = channel.map_or(ChannelSet::NONE, |channel| ChannelSet::NONE.with(channel));
        // What stays undecided is 0.
        values.truncate(0);
        values.resize(places.len(), set.and(ChannelSet::of_dwells(call.limit)))?;
        let course = call.course(values.slices().set())?;
        let course = if self.is_check { course.within(MOST_CHECKED) } else { course };
        course.compute(deep, places, values.slices_mut())?;
        for (number, (point, dwell)) in piece.chosen_mut().zip(values.slices().dwells()).enumerate() {
            if dwell > 0 {
                point.set(Outcome::Escaped(dwell));
                point.value = channel.map_or(0.0, |channel| values[channel][number]);
            }
        }
        Ok(open.note(&piece, call.limit)?)
    }
}
