//! Decides lists of pixels: by each attempt those that the one before left undecided.

pub(crate) mod device;

use super::fixed_bits::{FEWEST, OF_FORMULAS, OF_SQUARES};
use super::formulas::{self, Aim, PreparedOrbits};
use super::points::DeepPoints;
use super::prepared::{Means, Prepared};
use super::report::{DeepReport, Tier, TierReport};
use super::values::{Outcome, has_cycles, has_slopes, store};
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::{extend, resize};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::exact::limbs::in_limbs;
use crate::field::channels::{Channel, ChannelSet, ChannelSlicesMut};
use crate::truth::exact_points::Enclosed;
use crate::truth::{Truth, Wanted, dwell_and_values};
use dwell_kernels::Level;
use dwell_kernels::deep::blocks::Table;
use dwell_kernels::deep::cycle::{Cycle, Search};
use dwell_kernels::deep::direct::{self, Queue};
use dwell_kernels::deep::formulas::points::fits;
use dwell_kernels::deep::limbs::Fixed;
use dwell_kernels::deep::mantissa::{Complex, Dd};
use dwell_kernels::deep::orbit::{Found, Setting, Shortcuts};
use dwell_kernels::deep::{DeepKernels, Degree, PROVED};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";
/// Bits of the first attempt in arbitrary precision beyond those of the view.
const MORE_BITS: i64 = 128;
/// The error of a pixel in fixed point, in units: 4 for each part of its enclosure.
const FIXED_ERROR: f64 = 6.0;
/// The tiers for dwells alone, and for other values, which need to be known closer to be decided: by measurement, the fastest; and fewer of them, for references
/// of which not all blocks fit into the memory. The first two of each have blocks of the fourth degree.
const OF_DWELLS: [&[usize]; 5] = [&[0, 2, 3, 4, 5, 6], &[0, 2, 3, 5, 6], &[0, 2, 5, 6], &[0, 2, 6], &[0, 6]];
const OF_VALUES: [&[usize]; 5] = [&[1, 2, 3, 4, 5, 6], &[1, 2, 3, 5, 6], &[1, 2, 5, 6], &[1, 2, 6], &[1, 6]];
/// The first list without them.
const WITHOUT_QUARTIC: usize = 2;
/// The tier with whose blocks cycles are found: the one that all lists have.
const OF_CYCLES: usize = 6;

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
    /// Pixels whose dwell is taken without a proof: see [`PROVED`] and `exactly`.
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

    /// The number of the attempt after another one, as far as it pays.
    pub(crate) fn next(&self, before: usize) -> Option<usize> {
        self.next_of(before, |_| true)
    }

    /// As [`Self::next`], of the attempts that pass a test.
    fn next_of(&self, before: usize, is_of: impl Fn(Attempt) -> bool) -> Option<usize> {
        let pixels = self.pixels();
        let pays = |number: &usize| match (self.attempts[*number], self.attempts[before]) {
            (Attempt::ByDeltas(tier), _) if self.is_detour(tier) => false,
            (Attempt::ByDeltas(tier), Attempt::ByDeltas(before)) => match (&self.prepared, &self.orbits) {
                (Some(prepared), _) => prepared.blocks.pays(tier, before, pixels),
                (None, Some(orbits)) => orbits.blocks.pays(tier, before, pixels),
                (None, None) => true,
            },
            (Attempt::InFixedPoint(attempt), _) => self.call.points.shared.fixed_attempts.pays(attempt),
            _ => true,
        };
        (before + 1..self.attempts.len()).filter(|number| is_of(self.attempts[*number])).find(pays)
    }

    /// Whether a tier is one of f64 after a first one that has cells: pairs of f64 have cells, too, and decide more in less time.
    fn is_detour(&self, tier: usize) -> bool {
        let has_cells = |prepared: &Arc<Prepared>| prepared.cells_of_pairs(&self.call.points.shared).is_some();
        let is_later = tier < Tier::IN_F64 && !Tier::is_first(tier) && !self.slopes;
        is_later
            && self.number_of(Attempt::ByDeltas(Tier::PairsMedium as usize)).is_some()
            && self.prepared.as_ref().is_some_and(has_cells)
    }

    /// The pixels of the view.
    fn pixels(&self) -> u64 {
        let points = self.call.points;
        points.columns().len() as u64 * points.rows().len() as u64
    }

    /// The attempt that some of the open pixels should be given first, before the one after another, so that its time is known.
    pub(crate) fn sampled(&self, before: usize) -> Option<usize> {
        let blocks = &self.prepared.as_ref()?.blocks;
        let of_tier = |tier: usize| self.attempts.iter().position(|attempt| *attempt == Attempt::ByDeltas(tier));
        let quartic = of_tier(Tier::QUARTIC);
        if let (Some(quartic), Some(next)) = (quartic, self.next(before)) {
            let trial = [(Tier::QUARTIC - 1, next), (Tier::QUARTIC, quartic)];
            if before == quartic || next == quartic {
                return None;
            }
            if self.attempts[next] == Attempt::ByDeltas(Tier::QUARTIC - 1)
                && let Some((_, number)) = trial.into_iter().find(|(tier, _)| blocks.needs_trial(*tier, self.pixels()))
            {
                return Some(number);
            }
        }
        let is_next = |number: &usize| {
            let is_detour = matches!(self.attempts[*number], Attempt::ByDeltas(tier) if self.is_detour(tier));
            Some(*number) != quartic && !is_detour
        };
        let next = (before + 1..self.attempts.len()).find(is_next)?;
        let (Attempt::ByDeltas(tier), Attempt::ByDeltas(before)) = (self.attempts[next], self.attempts[before]) else {
            return None;
        };
        let last = self.attempts.iter().rposition(|attempt| matches!(attempt, Attempt::ByDeltas(_)))?;
        blocks.needs_sample(tier, before).then_some(last)
    }

    /// The least number of pixels that an attempt takes as one list: fewer leave vectors empty.
    pub(crate) fn least_list(&self, number: usize) -> usize {
        match self.attempts[number] {
            Attempt::ByDeltas(_) | Attempt::BySteps(_) => 32,
            Attempt::InFixedPoint(_) if self.prepared.is_some() => direct::at_once(self.call.level),
            Attempt::InFixedPoint(_) | Attempt::Exactly => 1,
        }
    }

    /// Whether threads take the pixels of an attempt from a queue.
    pub(crate) fn is_queued(&self, number: usize) -> bool {
        matches!(self.attempts[number], Attempt::InFixedPoint(_))
    }

    /// Makes such an attempt at pixels of a list, which other threads take from the same queue. Those that this thread has taken, and what it found, are left in the buffers.
    /// `progress` gets numbers of pixels that are decided. Returns the time until the last pixel of this thread was decided.
    pub(crate) fn attempt_of_queue(
        &self,
        number: usize,
        (queue, list): (&Queue, &[u32]),
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        progress: impl Fn(u64),
    ) -> Result<Duration, Error> {
        let DeepBuffers { open, found, .. } = buffers;
        open.clear();
        found.clear();
        let mut stored = Ok(());
        let (report, used) =
            self.in_fixed_point(number, queue, |place| places[list[place] as usize], &mut |place, of| {
                progress(u64::from(of != Found::Undecided));
                let is_stored = extend(open, [list[place]], WHAT).and_then(|()| extend(found, [of], WHAT));
                if stored.is_ok() {
                    stored = is_stored;
                }
            });
        stored?;
        let busy = Duration::from_secs_f64(report.seconds * used);
        self.conclude(number, report, buffers, places)?;
        Ok(busy)
    }

    /// Makes an attempt at the open pixels, of which it leaves what it found in the buffers.
    pub(crate) fn attempt(&self, number: usize, buffers: &mut DeepBuffers, places: &[(u32, u32)]) -> Result<(), Error> {
        let DeepCall { points, control, .. } = self.call;
        control.cancel.check()?;
        buffers.found.clear();
        resize(&mut buffers.found, buffers.open.len(), Found::Undecided, WHAT)?;
        let report = match (self.attempts[number], &self.prepared) {
            (Attempt::ByDeltas(tier), Some(prepared)) if tier < Tier::IN_F64 => {
                let table = prepared.in_f64(tier, &points.shared, self.call.means())?;
                let mut pixels = std::mem::take(&mut buffers.in_f64);
                let has_cells = !self.slopes && Tier::is_first(tier);
                let cells = if has_cells { prepared.cells(self.smooth, &points.shared) } else { None };
                let shortcuts = Shortcuts { table: &table, cells };
                let report = self.by_deltas((tier, prepared, shortcuts), &mut pixels, buffers, places);
                buffers.in_f64 = pixels;
                report?
            }
            (Attempt::ByDeltas(tier), Some(prepared)) => {
                let table = prepared.in_pairs(tier, &points.shared, self.call.means())?;
                let mut pixels = std::mem::take(&mut buffers.in_pairs);
                let has_cells = !self.slopes && Tier::has_cells_of_pairs(tier);
                let cells = if has_cells { prepared.cells_of_pairs(&points.shared) } else { None };
                let shortcuts = Shortcuts { table: &table, cells };
                let report = self.by_deltas((tier, prepared, shortcuts), &mut pixels, buffers, places);
                buffers.in_pairs = pixels;
                report?
            }
            (Attempt::ByDeltas(tier), None) => self.of_formula(Tier::ALL[tier], Some(tier), buffers, places)?,
            (Attempt::BySteps(tier), _) => self.of_formula(tier, None, buffers, places)?,
            (Attempt::InFixedPoint(_), _) => {
                let DeepBuffers { open, found, .. } = buffers;
                let queue = Queue::new(open.len(), 1);
                let place = |number: usize| places[open[number] as usize];
                self.in_fixed_point(number, &queue, place, &mut |number, of| found[number] = of).0
            }
            _ => self.exactly(buffers, places)?,
        };
        self.conclude(number, report, buffers, places)
    }

    /// Notes what an attempt found, and finds what else is wanted of it.
    fn conclude(
        &self,
        number: usize,
        mut report: TierReport,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
    ) -> Result<(), Error> {
        let DeepCall { points, control, .. } = self.call;
        control.cancel.check()?;
        report.samples = buffers.open.len() as u64;
        report.decided = buffers.found.iter().filter(|found| **found != Found::Undecided).count() as u64;
        // With a bound on its steps, an attempt decides fewer.
        if let Attempt::InFixedPoint(attempt) = self.attempts[number]
            && self.most_steps >= self.call.limit
        {
            points.shared.fixed_attempts.add(attempt, report.samples, report.decided);
        }
        if let Attempt::ByDeltas(tier) = self.attempts[number] {
            if let Some(prepared) = &self.prepared {
                prepared.blocks.measured.add(tier, &report);
                buffers.unproved += if PROVED { 0 } else { report.decided };
            }
            if let Some(orbits) = &self.orbits {
                orbits.blocks.measured.add(tier, &report);
            }
        }
        add(&mut buffers.tiers, report);
        self.find_cycles(buffers, places)
    }

    /// Finds the cycles of the pixels that stay, where they are wanted.
    fn find_cycles(&self, buffers: &mut DeepBuffers, places: &[(u32, u32)]) -> Result<(), Error> {
        let DeepBuffers { open, found, cycles, .. } = buffers;
        cycles.clear();
        let Some(prepared) = self.prepared.as_ref().filter(|_| self.cycles && found.contains(&Found::Stays)) else {
            return Ok(());
        };
        let DeepCall { points, control, .. } = self.call;
        let setting = self.setting(prepared);
        let table = prepared.in_pairs(OF_CYCLES, &points.shared, self.call.means())?;
        let search = Search::new(&setting, &table);
        let cycle = |(pixel, found): (&u32, &Found)| {
            let (column, row) = places[*pixel as usize];
            (*found == Found::Stays).then(|| search.cycle(Complex::of(points.offset(column, row)))).flatten()
        };
        extend(cycles, open.iter().zip(&*found).map(cycle), WHAT)?;
        control.cancel.check()
    }

    fn setting<'s>(&'s self, prepared: &'s Prepared) -> Setting<'s> {
        let DeepCall { points, limit, control, .. } = &self.call;
        let shared = &points.shared;
        Setting {
            reference: &prepared.reference,
            scale: shared.unit(),
            escape_radius: shared.escape_radius(),
            escape: shared.escape(),
            limit: *limit,
            smooth: self.smooth,
            units: self.slopes.then(|| *points.units()),
            stop: control.cancel.flag(),
        }
    }

    fn by_deltas<T: DeepKernels>(
        &self,
        (tier, prepared, shortcuts): (usize, &Prepared, Shortcuts<'_, T>),
        pixels: &mut Vec<Complex<T>>,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
    ) -> Result<TierReport, Error> {
        let began = Instant::now();
        let DeepCall { level, .. } = self.call;
        self.offsets(pixels, &buffers.open, places)?;
        let setting = self.setting(prepared);
        let counts = T::decide(level, &setting, shortcuts, pixels, &mut buffers.found);
        if Tier::is_first(tier) {
            prepared.cells.note(&counts);
        }
        Ok(TierReport {
            seconds: began.elapsed().as_secs_f64(),
            steps: counts.steps + counts.wide,
            blocks: counts.blocks,
            cells: counts.cells,
            ..TierReport::new(Tier::ALL[tier])
        })
    }

    /// Decides pixels of other formulas and of Julia sets by deltas, with the blocks of a tier or by single steps.
    fn of_formula(
        &self,
        tier: Tier,
        blocks: Option<usize>,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
    ) -> Result<TierReport, Error> {
        let Some(orbits) = &self.orbits else { return Ok(TierReport::new(tier)) };
        let DeepCall { points, limit, .. } = self.call;
        let aim = Aim { points, limit, smooth: self.smooth, slopes: self.slopes };
        let means = self.call.means();
        if tier == Tier::F64Steps || blocks.is_some_and(|tier| tier < Tier::IN_F64) {
            let blocks = blocks.map(|tier| orbits.in_f64(tier, aim, means)).transpose()?;
            let DeepBuffers { in_f64, open, found, .. } = buffers;
            self.offsets(in_f64, open, places)?;
            return Ok(orbits.by_deltas((tier, blocks.as_deref()), (aim, means), in_f64, found));
        }
        let blocks = blocks.map(|tier| orbits.in_pairs(tier, aim, means)).transpose()?;
        let DeepBuffers { in_pairs, open, found, .. } = buffers;
        self.offsets(in_pairs, open, places)?;
        Ok(orbits.by_deltas((tier, blocks.as_deref()), (aim, means), in_pairs, found))
    }

    /// The offsets of the open pixels.
    fn offsets<T: DeepKernels>(
        &self,
        pixels: &mut Vec<Complex<T>>,
        open: &[u32],
        places: &[(u32, u32)],
    ) -> Result<(), Error> {
        pixels.clear();
        let offset = |pixel: &u32| {
            let (column, row) = places[*pixel as usize];
            Complex::of(self.call.points.offset(column, row))
        };
        Ok(extend(pixels, open.iter().map(offset), WHAT)?)
    }

    /// Whether fixed point with the fewest bits leaves a pixel of another formula than z^2 + c undecided: its orbit loses as many bits, as chaotic orbits do. It is
    /// the same on every machine, since these formulas are iterated in limbs on all of them.
    pub(crate) fn loses_all_bits(&self, place: (u32, u32)) -> bool {
        if self.orbits.is_none() || !self.attempts.contains(&Attempt::InFixedPoint(0)) {
            return false;
        }
        let (escape, mut is_undecided) = (self.escape_for(FEWEST), true);
        let goal = self.fixed_goal(&escape);
        let mut found = |_, found| is_undecided = found == Found::Undecided;
        formulas::in_fixed_point(self.call.points, &goal, &Queue::new(1, 1), |_| place, &mut found);
        is_undecided
    }

    /// R^2 with limbs for so many bits more than those of the view.
    fn escape_for(&self, more_bits: i64) -> Fixed {
        let points = self.call.points;
        let bits = usize::try_from((more_bits - points.own_scale()).max(more_bits)).unwrap_or(usize::MAX);
        points.shared.exact_escape(1 + bits.div_ceil(64))
    }

    /// What points are iterated for with as many limbs as R^2 has.
    fn fixed_goal<'s>(&'s self, escape: &'s Fixed) -> direct::Goal<'s> {
        let DeepCall { points, limit, control, .. } = &self.call;
        let shared = &points.shared;
        direct::Goal {
            limbs: escape.limbs.len(),
            error: FIXED_ERROR,
            escape: shared.escape(),
            exact_escape: escape,
            limit: self.most_steps.min(*limit),
            smooth: self.smooth,
            units: self.slopes.then(|| (*points.units(), shared.unit())),
            stop: control.cancel.flag(),
        }
    }

    /// Follows the points of a queue. The share of the lanes in use, beside the report.
    fn in_fixed_point(
        &self,
        number: usize,
        queue: &Queue,
        place: impl Fn(usize) -> (u32, u32),
        found: &mut dyn FnMut(usize, Found),
    ) -> (TierReport, f64) {
        let (began, mut report) = (Instant::now(), TierReport::new(Tier::FixedPoint));
        let Attempt::InFixedPoint(attempt) = self.attempts[number] else { return (report, 1.0) };
        let DeepCall { points, level, .. } = self.call;
        let ladder = if self.orbits.is_some() { OF_FORMULAS } else { OF_SQUARES };
        let escape = self.escape_for(ladder[attempt]);
        let (goal, limbs) = (self.fixed_goal(&escape), escape.limbs.len());
        let is_bounded = goal.limit < self.call.limit;
        let mut found = |number: usize, of: Found| {
            found(number, if is_bounded && of == Found::Stays { Found::Undecided } else { of });
            // At the end a thread may wait for others.
            report.seconds = began.elapsed().as_secs_f64();
        };
        if self.orbits.is_some() {
            formulas::in_fixed_point(points, &goal, queue, place, &mut found);
            return (report, 1.0);
        }
        let mut point = |number: usize| {
            let (column, row) = place(number);
            let (points, [right, up]) = points.exact(column, row);
            let enclosed = points.at_half_pixels(right, up).enclose(64 * (limbs - 1));
            enclosed.map(|(low, _)| in_limbs(&low, limbs))
        };
        let followed = direct::follow(level, &goal, queue, &mut point, &mut found);
        if followed.leaves {
            report.seconds = began.elapsed().as_secs_f64();
        }
        (report, followed.used)
    }

    fn exactly(&self, buffers: &mut DeepBuffers, places: &[(u32, u32)]) -> Result<TierReport, Error> {
        let began = Instant::now();
        let DeepCall { points, limit, control, .. } = self.call;
        let DeepBuffers { open, found, unproved, .. } = buffers;
        let shared = &points.shared;
        let bits = usize::try_from((MORE_BITS - points.own_scale()).max(2 * MORE_BITS)).unwrap_or(usize::MAX);
        let units = self.slopes.then(|| (points.units(), shared.scale()));
        let wanted = Wanted { smooth: self.smooth, units };
        for (pixel, found) in open.iter().zip(found) {
            let (column, row) = places[*pixel as usize];
            let (points, [right, up]) = points.exact(column, row);
            let point = points.at_half_pixels(right, up);
            let truth = dwell_and_values(shared.map(), &point, limit, shared.radius(), bits, wanted, control.cancel)?;
            *unproved += u64::from(!truth.is_proved);
            *found = match truth.truth {
                Truth::Dwell(0) => Found::Stays,
                Truth::Dwell(n) => Found::Escapes(n, truth.values),
                Truth::Undecided { n } => return Err(undecided(column, row, n)),
            };
        }
        Ok(TierReport { seconds: began.elapsed().as_secs_f64(), ..TierReport::new(Tier::ArbitraryPrecision) })
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

/// The error of a pixel of which no bits decide a value.
fn undecided(column: u32, row: u32, n: u64) -> Error {
    let problem = format!("the values at |z_{n}| > R are not decided at column {column}, row {row}");
    InputError::new(Problem::Unsupported(problem)).about(Parameter::View).into()
}

fn add(tiers: &mut Vec<TierReport>, of_tier: TierReport) {
    match tiers.iter_mut().find(|own| own.tier == of_tier.tier) {
        Some(own) => own.add(&of_tier),
        None => tiers.push(of_tier),
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::CHANNELS;
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::limits::Limits;
    use crate::base::progress::Progress;
    use crate::deep::prepared::MOST_FIRST_OF_PAIRS;
    use crate::exact::decimal::Decimal;
    use crate::field::channels::ChannelBuffers;
    use crate::view::settings::{NumberKind, Settings};
    use crate::view::{Size, View};
    use dwell_kernels::deep::blocks::{FIRST, MOST_FIRST};
    use dwell_kernels::{Fold, Formula};
    use std::collections::BTreeSet;

    /// The columns and rows of all pixels.
    fn all_places(size: Size) -> Vec<(u32, u32)> {
        (0..size.height).flat_map(|row| (0..size.width).map(move |column| (column, row))).collect()
    }

    /// What an attempt alone finds of all pixels.
    fn found_by(course: &Course<'_>, number: usize, places: &[(u32, u32)]) -> Vec<Found> {
        let mut buffers = DeepBuffers::default();
        buffers.open.extend(0..places.len() as u32);
        course.attempt(number, &mut buffers, places).unwrap();
        buffers.found
    }

    /// All values of all pixels of a view, by all tiers or by the last one alone.
    fn computed(points: &DeepPoints, size: Size, limit: u64, last_alone: bool) -> ChannelBuffers {
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let call = DeepCall {
            points,
            limit,
            level: Level::best(),
            threads: 2,
            control: Control { cancel: &cancel, progress: &progress },
        };
        let places = all_places(size);
        let mut found = ChannelBuffers::default();
        found.resize(places.len(), CHANNELS).unwrap();
        let mut buffers = DeepBuffers::default();
        let course = call.course(CHANNELS).unwrap();
        if last_alone {
            buffers.open.extend(0..places.len() as u32);
            course.attempt(course.attempts.len() - 1, &mut buffers, &places).unwrap();
            buffers.store(found.slices_mut());
        } else {
            course.compute(&mut buffers, &places, found.slices_mut()).unwrap();
        }
        found
    }

    #[test]
    fn all_places_are_there_once_with_neighbours_together() {
        for (width, height, missing) in [(1, 1, 0), (7, 5, 0), (8, 4, 3), (64, 3, 1), (5, 1, 0), (1, 9, 2)] {
            let mut places: Vec<_> =
                (0..height).flat_map(|row| (10..10 + width).map(move |column| (column, row))).collect();
            places.truncate(places.len() - missing);
            let mut numbers: Vec<u32> = by_neighbours(&places).collect();
            if (width, height) == (8, 4) {
                assert_eq!(numbers[..10], [0, 1, 2, 3, 8, 9, 10, 11, 4, 5]);
            }
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..places.len() as u32), "{width}x{height}");
        }
        assert_eq!(by_neighbours(&[]).count(), 0);
    }

    #[test]
    fn all_tiers_give_the_values_of_the_last() {
        let size = Size { width: 14, height: 10 };
        // A seahorse, an elephant, a spike that is real, a view from far away, and one of the whole set.
        for (re, im, zoom, rotation, limit) in [
            ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514", "1e13", "0", 5000),
            ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514", "3e27", "30", 5000),
            ("0.28693186889504513", "0.014286693904085048", "1e9", "-7.5", 3000),
            ("-1.76877883727888640", "0", "1e22", "0", 900),
            ("0", "0", "1e-5", "0", 50),
            ("-0.5", "0", "0.7", "90", 300),
            ("3e9", "1e9", "1e3", "0", 50),
            ("-0.75", "0.0000000001", "1e11", "0", 400),
        ] {
            let mut view = View::centred(re, im, zoom).unwrap().sized(size);
            view.rotation = rotation.parse().unwrap();
            let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
            let points = DeepPoints::new(&view, &settings, &Limits::default()).unwrap();
            let (all, last) = (computed(&points, size, limit, false), computed(&points, size, limit, true));
            assert_eq!(all.dwell, last.dwell, "{re} {im} {zoom}");
            for channel in CHANNELS.iter() {
                assert_eq!(all[channel], last[channel], "{} of {re} {im} {zoom}", channel.name());
            }
        }
    }

    #[test]
    fn orbits_beside_the_circle_of_escape_are_decided_in_fixed_point() {
        let size = Size { width: 14, height: 10 };
        let view = View::centred("-2", "0", "1e25").unwrap().sized(size);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let places = all_places(size);
        // z_1 = c is within 1e-25 of R, where f64 does not tell the side.
        for (fold, radius) in [(Fold::None, "2"), (Fold::Absolute, "2"), (Fold::None, "2.0000000000000000000000000001")]
        {
            let formula = Formula::new(fold, 2).unwrap();
            let escape_radius = radius.parse().unwrap();
            let settings = Settings { number: NumberKind::Exact, formula, escape_radius, ..Settings::default() };
            let points = DeepPoints::new(&view, &settings, &Limits::default()).unwrap();
            let call = DeepCall { points: &points, limit: 300, level: Level::best(), threads: 2, control };
            let course = call.course(ChannelSet::default()).unwrap();
            let of = |number: usize| found_by(&course, number, &places);
            let in_fixed_point = course.attempts.iter().position(|attempt| *attempt == Attempt::InFixedPoint(0));
            let found = of(in_fixed_point.unwrap());
            assert!(!found.contains(&Found::Undecided), "{fold:?} {radius}");
            assert_eq!(found, of(course.attempts.len() - 1), "{fold:?} {radius}");
        }
    }

    #[test]
    fn attempts_that_end_soon_leave_long_orbits_undecided() {
        let size = Size { width: 14, height: 10 };
        let view = View::centred("-2", "0", "1e25").unwrap().sized(size);
        let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
        let points = DeepPoints::new(&view, &settings, &Limits::default()).unwrap();
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let call = DeepCall { points: &points, limit: 5000, level: Level::best(), threads: 2, control };
        let places = all_places(size);
        let in_fixed_point = |most: u64| {
            let course = call.course(ChannelSet::default()).unwrap().within(most);
            assert!(!course.attempts.contains(&Attempt::Exactly));
            assert_eq!(course.attempts.last(), Some(&Attempt::InFixedPoint(0)));
            found_by(&course, course.attempts.len() - 1, &places)
        };
        let all = in_fixed_point(u64::MAX);
        let mut dwells: Vec<u64> =
            all.iter().map(|found| if let Found::Escapes(n, _) = found { *n } else { u64::MAX }).collect();
        dwells.sort_unstable();
        dwells.dedup();
        let most = dwells[dwells.len() / 2];
        assert!(dwells.len() > 2 && most < dwells[dwells.len() - 1], "{dwells:?}");
        for (found, of_all) in in_fixed_point(most).into_iter().zip(all) {
            let is_soon = matches!(of_all, Found::Escapes(n, _) if n <= most);
            assert_eq!(found, if is_soon { of_all } else { Found::Undecided });
        }
    }

    #[test]
    fn a_reference_of_another_view_gives_the_same() {
        let size = Size { width: 14, height: 10 };
        let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
        // By how much the view is larger than the next, the way to it in heights of the large one, and its rotation.
        for (larger, right, up, rotation) in [
            ("1", "0.05", "0.1", "0"),
            ("2", "-0.3", "0.2", "30"),
            ("40", "0.4", "0.35", "0"),
            ("4000", "0.3", "-0.4", "-80"),
        ] {
            for (re, im, zoom, limit) in [
                ("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e9", 5000),
                ("-1.768778833", "-0.001738996", "5e9", 900),
                ("-1.76877883727888640", "0", "1e22", 900),
                ("-0.16", "1.0408", "3e4", 300),
            ] {
                let number = |text: &str| text.parse::<Decimal>().unwrap().to_rational();
                let height = number("4").over(&number(zoom));
                let moved = |centre: &str, by: &str| {
                    let point = number(centre).plus(&number(by).times(&height));
                    Decimal::rounded(&point, 60).unwrap().text().to_owned()
                };
                let large = View::centred(re, im, zoom).unwrap().sized(size);
                let zoom = Decimal::rounded(&number(zoom).times(&number(larger)), 20).unwrap();
                let mut view = View::centred(&moved(re, right), &moved(im, up), zoom.text()).unwrap().sized(size);
                view.rotation = rotation.parse().unwrap();
                let of = |view: &View| DeepPoints::new(view, &settings, &Limits::default()).unwrap();
                let own = of(&view);
                let other = DeepPoints::with(&view, own.own_scale(), Arc::clone(&of(&large).shared)).unwrap();
                assert!(other.offset(7, 5) != own.offset(7, 5));
                let (own, other) = (computed(&own, size, limit, false), computed(&other, size, limit, false));
                assert_eq!(own.dwell, other.dwell, "{re} {im} {larger}");
                for channel in CHANNELS.iter() {
                    assert_eq!(own[channel], other[channel], "{} of {re} {im} {larger}", channel.name());
                }
            }
        }
    }

    #[test]
    fn blocks_of_the_fourth_degree_give_the_values_of_the_last_tier() {
        let size = Size { width: 14, height: 10 };
        let (re, im) = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
        let view = View::centred(re, im, "3e27").unwrap().sized(size);
        let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
        let points = DeepPoints::new(&view, &settings, &Limits::default()).unwrap();
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let call = DeepCall { points: &points, limit: 5000, level: Level::best(), threads: 2, control };
        let places = all_places(size);
        for wanted in [ChannelSet::default(), ChannelSet::default().with(Channel::Smooth)] {
            let course = call.course(wanted).unwrap();
            let of_tier = |tier: usize| course.attempts.iter().position(|attempt| *attempt == Attempt::ByDeltas(tier));
            let of = |number: usize| found_by(&course, number, &places);
            let last = of(course.attempts.len() - 1);
            for tier in [Tier::QUARTIC, Tier::QUARTIC_FINE] {
                let found = of(of_tier(tier).unwrap());
                let decided = found.iter().filter(|found| **found != Found::Undecided).count();
                assert!(decided * 2 > found.len(), "{tier}: {decided} of {} are decided", found.len());
                for (found, last) in found.into_iter().zip(&last) {
                    assert!(found == Found::Undecided || found == *last, "{tier}: {found:?}, {last:?}");
                }
            }
        }
        let is_quartic = |attempt: &Attempt| matches!(attempt, Attempt::ByDeltas(tier) if Tier::is_quartic(*tier));
        assert!(!call.course(CHANNELS).unwrap().attempts.iter().any(is_quartic), "no derivatives");
    }

    #[test]
    fn fewer_tiers_longer_blocks_and_compressed_orbits_give_the_same_where_memory_is_short() {
        let (re, im) = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
        let size = Size { width: 14, height: 10 };
        let view = View::centred(re, im, "3e27").unwrap().sized(size);
        let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
        let (mut kinds, mut first) = (Vec::new(), None);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let means = Means { level: Level::best(), threads: 2, control };
        for kibibytes in (64..512).step_by(8).chain((512..4096).step_by(32)).chain((4096..=16_384).step_by(2048)) {
            let limits = Limits { memory_bytes: kibibytes << 10 };
            let points = DeepPoints::new(&view, &settings, &limits).unwrap();
            let Ok(Some(prepared)) = points.shared.prepared(5000, means) else { continue };
            let fitting = prepared.fitting(&OF_DWELLS, &points.shared);
            if OF_DWELLS.last() == Some(&fitting) && prepared.first_level == MOST_FIRST {
                // Even these may not fit.
                continue;
            }
            kinds.push((prepared.reference.is_compressed(), prepared.first_level, fitting.len()));
            let found = computed(&points, size, 5000, false).dwell;
            assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{kibibytes} KiB");
        }
        kinds.dedup();
        let levels = |is_compressed| -> BTreeSet<u32> {
            kinds.iter().filter(|(compressed, ..)| *compressed == is_compressed).map(|(_, level, _)| *level).collect()
        };
        assert!((FIRST..=MOST_FIRST_OF_PAIRS).all(|level| levels(false).contains(&level)), "{kinds:?}");
        assert!((MOST_FIRST_OF_PAIRS..MOST_FIRST).all(|level| levels(true).contains(&level)), "{kinds:?}");
        let of_shortest = kinds.iter().filter(|(_, level, _)| *level == FIRST).map(|(.., length)| *length);
        assert!(of_shortest.eq(2..=6), "{kinds:?}");
    }
}
