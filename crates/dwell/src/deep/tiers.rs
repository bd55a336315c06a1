//! Decides lists of pixels: by each attempt those that the one before left undecided.

mod attempts;
mod choice;
pub(crate) mod device;
mod fixed_point;
#[cfg(test)]
mod tests;

use super::fixed_bits::{OF_FORMULAS, OF_SQUARES};
use super::formulas::PreparedOrbits;
use super::points::DeepPoints;
use super::prepared::{Means, Prepared};
use super::report::{DeepReport, Tier, TierReport};
use super::values::{Outcome, has_cycles, has_slopes, store};
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::extend;
use crate::field::channels::{Channel, ChannelSet, ChannelSlicesMut};
use dwell_kernels::Level;
use dwell_kernels::deep::Degree;
use dwell_kernels::deep::blocks::Table;
use dwell_kernels::deep::cycle::Cycle;
use dwell_kernels::deep::formulas::points::fits;
use dwell_kernels::deep::mantissa::{Complex, Dd};
use dwell_kernels::deep::orbit::Found;
use std::sync::Arc;

/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";
/// The tiers for dwells alone, and for other values, which need to be known closer to be decided: by measurement, the fastest; and fewer of them, for references
/// of which not all blocks fit into the memory. The first two of each have blocks of the fourth degree.
const OF_DWELLS: [&[usize]; 5] = [&[0, 2, 3, 4, 5, 6], &[0, 2, 3, 5, 6], &[0, 2, 5, 6], &[0, 2, 6], &[0, 6]];
const OF_VALUES: [&[usize]; 5] = [&[1, 2, 3, 4, 5, 6], &[1, 2, 3, 5, 6], &[1, 2, 5, 6], &[1, 2, 6], &[1, 6]];
/// The first list without them.
const WITHOUT_QUARTIC: usize = 2;

/// With so many threads or fewer, a tile makes one attempt by itself. With more it makes all attempts by deltas: while one thread iterates the last pixels of a list, the
/// others work on other tiles, and do not wait for the next attempt.
const FEW_THREADS: usize = 2;

/// The buffers of a thread.
#[derive(Debug, Default)]
pub(crate) struct DeepBuffers {
    /// Numbers of the pixels that are not decided.
    pub(crate) open: Vec<u32>,
    /// What an attempt found of each of them.
    found: Vec<Found>,
    /// The cycles of those that stay, where these are wanted.
    cycles: Vec<Option<Cycle>>,
    in_f64: Vec<Complex<f64>>,
    in_pairs: Vec<Complex<Dd>>,
    tiers: Vec<TierReport>,
    /// Pixels whose dwell is taken without a proof: see [`dwell_kernels::deep::PROVED`], and `exactly` in `attempts.rs`.
    unproved: u64,
}

/// A call for some pixels of a view.
#[derive(Clone, Copy)]
pub(crate) struct DeepCall<'a> {
    pub(crate) points: &'a DeepPoints,
    pub(crate) limit: u64,
    pub(crate) level: Level,
    /// The threads that compute blocks while others wait for them.
    pub(crate) threads: usize,
    pub(crate) control: Control<'a>,
}

/// A way to decide pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Attempt {
    /// With the blocks of a tier, by its number in [`Tier::ALL`].
    ByDeltas(usize),
    /// By single steps: other formulas than z^2 + c, and Julia sets, where there are no blocks.
    BySteps(Tier),
    /// With the bits of an attempt, by its number in the list of the formula (`fixed_bits.rs`).
    InFixedPoint(usize),
    /// With as many bits as it takes, which decides all.
    Exactly,
}

/// The attempts of a call, the cheapest first, and what they need.
pub(crate) struct Course<'a> {
    call: DeepCall<'a>,
    prepared: Option<Arc<Prepared>>,
    orbits: Option<Arc<PreparedOrbits>>,
    attempts: Vec<Attempt>,
    /// The greatest number of steps in fixed point; orbits with more are undecided.
    most_steps: u64,
    smooth: bool,
    slopes: bool,
    cycles: bool,
}

impl DeepBuffers {
    /// Bytes of the buffers for lists of so many pixels.
    pub(crate) fn bytes(pixels: usize) -> usize {
        let each = size_of::<u32>() + size_of::<Complex<f64>>() + size_of::<Complex<Dd>>() + size_of::<Outcome>();
        2 * pixels * each + dwell_kernels::deep::BYTES_OF_CALL
    }

    /// What the attempts did since the last call of this function.
    pub(crate) fn take_report(&mut self, points: &DeepPoints) -> Option<DeepReport> {
        let tiers = std::mem::take(&mut self.tiers);
        let mut report = points.shared.report();
        report.tiers = tiers;
        report.unproved = std::mem::take(&mut self.unproved);
        (!report.tiers.is_empty()).then_some(report)
    }

    /// What the last attempt found of each open pixel.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        let cycle = |number: usize| self.cycles.get(number).copied().flatten();
        self.found.iter().enumerate().map(move |(number, found)| Outcome { found: *found, cycle: cycle(number) })
    }

    /// Stores what was found of the open pixels, and leaves those of which nothing was.
    fn store(&mut self, out: ChannelSlicesMut<'_>) {
        store(out, self.open.iter().map(|pixel| *pixel as usize).zip(self.outcomes()));
        let mut found = self.found.iter();
        self.open.retain(|_| found.next().is_none_or(|found| *found == Found::Undecided));
    }
}

impl<'a> DeepCall<'a> {
    /// The attempts for dwells and those of [`CHANNELS`](super::values::CHANNELS) that are wanted.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn course(&self, wanted: ChannelSet) -> Result<Course<'a>, Error> {
        let shared = &self.points.shared;
        let has_blocks = shared.has_blocks();
        let prepared = if has_blocks { shared.prepared(self.limit, self.means())? } else { None };
        let orbits = if has_blocks { None } else { shared.orbits(self.limit, self.means())? };
        let mut attempts = Vec::new();
        let (smooth, slopes) = (wanted.contains(Channel::Smooth), has_slopes(wanted));
        let lists = if smooth || slopes { &OF_VALUES } else { &OF_DWELLS };
        // These have no derivatives, and are of z^2 + c.
        let has_quartic = has_blocks && !slopes && Table::<Dd>::has_quartic(shared.unit(), Degree::Fourth);
        let lists = if has_quartic { &lists[..] } else { &lists[WITHOUT_QUARTIC..] };
        if let Some(orbits) = &orbits {
            match orbits.fitting(lists, shared) {
                Some(tiers) => attempts.extend(tiers.iter().map(|tier| Attempt::ByDeltas(*tier))),
                None => attempts.extend([Tier::F64Steps, Tier::PairsSteps].map(Attempt::BySteps)),
            }
            if fits(shared.map().formula, shared.escape()) {
                attempts.extend((0..OF_FORMULAS.len()).map(Attempt::InFixedPoint));
            }
        }
        if let Some(prepared) = &prepared {
            if !slopes {
                // Before it is known which blocks fit.
                prepared.reserve_cells(shared);
            }
            attempts.extend(prepared.fitting(lists, shared).iter().map(|tier| Attempt::ByDeltas(*tier)));
            attempts.extend((0..OF_SQUARES.len()).map(Attempt::InFixedPoint));
        }
        attempts.push(Attempt::Exactly);
        let (most_steps, cycles) = (u64::MAX, has_cycles(wanted));
        Ok(Course { call: *self, prepared, orbits, attempts, most_steps, smooth, slopes, cycles })
    }

    fn means(&self) -> Means<'a> {
        Means { level: self.level, threads: self.threads, control: self.control }
    }
}

impl Course<'_> {
    /// The attempts that end soon, which leave some pixels undecided: without arbitrary precision, and in fixed point with the fewest bits, of other formulas with all, for at most so many steps. Without
    /// a bound, an orbit with a limit of a thousand million that loses more bits takes hours.
    pub(crate) fn within(mut self, most_steps: u64) -> Self {
        let is_of_squares = self.prepared.is_some();
        self.attempts.retain(|attempt| match attempt {
            Attempt::Exactly => false,
            Attempt::InFixedPoint(attempt) => *attempt == 0 || !is_of_squares,
            _ => true,
        });
        self.most_steps = most_steps;
        self
    }

    /// Computes pixels, given by columns and rows.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn compute(
        &self,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        mut out: ChannelSlicesMut<'_>,
    ) -> Result<(), Error> {
        self.begin(buffers, places, out.reborrow())?;
        self.finish(buffers, places, out)
    }

    /// Makes the attempts that a tile makes by itself, which leave the pixels that are open in the buffers.
    pub(crate) fn begin(
        &self,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        mut out: ChannelSlicesMut<'_>,
    ) -> Result<(), Error> {
        buffers.open.clear();
        extend(&mut buffers.open, by_neighbours(places), WHAT)?;
        self.attempt(0, buffers, places)?;
        buffers.store(out.reborrow());
        self.go_on(0, self.last_of_tile(), buffers, places, out)
    }

    /// Makes the other attempts.
    pub(crate) fn finish(
        &self,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        out: ChannelSlicesMut<'_>,
    ) -> Result<(), Error> {
        self.go_on(self.last_of_tile(), self.attempts.len() - 1, buffers, places, out)
    }

    /// Makes the attempts after one of them, up to the last.
    fn go_on(
        &self,
        mut before: usize,
        last: usize,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        mut out: ChannelSlicesMut<'_>,
    ) -> Result<(), Error> {
        while let Some(next) = self.next(before).filter(|next| *next <= last && !buffers.open.is_empty()) {
            self.attempt(next, buffers, places)?;
            buffers.store(out.reborrow());
            before = next;
        }
        Ok(())
    }

    /// The number of the last attempt that a tile makes by itself. What that leaves is decided with what other tiles leave (`rest.rs`).
    pub(crate) fn last_of_tile(&self) -> usize {
        if self.call.threads <= FEW_THREADS {
            return 0;
        }
        let is_by_deltas = |attempt: &Attempt| matches!(attempt, Attempt::ByDeltas(_) | Attempt::BySteps(_));
        self.attempts.iter().rposition(is_by_deltas).unwrap_or(0)
    }

    /// The numbers of all attempts.
    pub(super) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.attempts.len()
    }

    /// The attempt with a number of [`Self::numbers`], by which the course of a later call finds its own number.
    pub(super) fn attempt_at(&self, number: usize) -> Attempt {
        self.attempts[number]
    }

    pub(super) fn number_of(&self, attempt: Attempt) -> Option<usize> {
        self.attempts.iter().position(|own| *own == attempt)
    }
}

/// The numbers of all places so that neighbours follow one another, whose orbits do the same for long: where rows of the same length follow one another, four
/// of one and four of the next.
fn by_neighbours(places: &[(u32, u32)]) -> impl Iterator<Item = u32> {
    let count = places.len() as u32;
    let is_of_first = |place: &&(u32, u32)| places.first().is_some_and(|first| first.1 == place.1);
    let width = places.iter().take_while(is_of_first).count().max(1) as u32;
    let rows = count.div_ceil(width);
    (0..rows).step_by(2).flat_map(move |row| {
        (0..width).step_by(4).flat_map(move |column| {
            let of_row = move |row: u32| row * width + column..(row * width + (column + 4).min(width)).min(count);
            (row..(row + 2).min(rows)).flat_map(of_row)
        })
    })
}
