//! Points of the probe of a deep view.

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
use crate::deep::points::DeepPoints;
use crate::deep::tiers::{DeepBuffers, DeepCall};
use crate::field::channels::{ChannelBuffers, ChannelSet};
use dwell_kernels::{Fold, Level};

/// The greatest limit relative to the median dwell. Beside a small copy of the set, whose views have a median dwell of some of its periods, chaotic orbits lose a bit in each
/// period: those of more than some 300 periods leave pairs of f64 with blocks undecided, and take every single step in fixed point, 10^4 to 10^5 times as long for each
/// period. Of 9,216 pixels of the copy of period 86,614 in kf-1e50, two such orbits took 4.5 of 4.7 s.
const MOST_OF_MEDIAN: f64 = 32.0;

/// The iterations that are allowed for points which are not proved to stay, as a mean over all pixels, where the map has a fold: many
/// of them never are.
const MOST_ADDED_FOLDED: f64 = 50_000.0;

/// Computes points given by offsets from the centre of a deep view.
pub(super) struct Deep<'a> {
    pub(super) points: &'a DeepPoints,
    pub(super) cells: Cells,
    pub(super) pool: &'a ThreadPool,
    pub(super) level: Level,
    pub(super) control: Control<'a>,
    /// The quantity to compute beside the dwells.
    pub(super) by: By,
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
        let call = DeepCall { points: self.points, limit, level: self.level, threads, control: self.control };
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

    fn most_of_median(&self) -> f64 {
        if self.points.shared.has_blocks() { MOST_OF_MEDIAN } else { f64::INFINITY }
    }
}

impl Deep<'_> {
    fn piece(&self, call: &DeepCall<'_>, buffers: &mut Buffers, mut piece: Segment<'_, Point>) -> Result<(), Error> {
        let Buffers { deep, places, values, open } = buffers;
        *places = collected(piece.chosen().map(|point| self.cells.pixel(point.place).into()), WHAT)?;
        let channel = self.by.channel();
        let set = channel.map_or(ChannelSet::NONE, |channel| ChannelSet::NONE.with(channel));
        values.resize(places.len(), set.and(ChannelSet::of_dwells(call.limit)))?;
        call.course(values.slices().set())?.compute(deep, places, values.slices_mut())?;
        for (number, (point, dwell)) in piece.chosen_mut().zip(values.slices().dwells()).enumerate() {
            if dwell > 0 {
                point.set(Outcome::Escaped(dwell));
                point.value = channel.map_or(0.0, |channel| values[channel][number]);
            }
        }
        Ok(open.note(&piece, call.limit)?)
    }
}
