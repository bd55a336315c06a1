//! Attempts at lists of pixels, and what is noted of them.

use super::{Attempt, Course, DeepBuffers, DeepCall, WHAT};
use crate::base::error::{Error, InputError};
use crate::base::limits::{extend, resize};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::deep::formulas::Aim;
use crate::deep::prepared::Prepared;
use crate::deep::report::{Tier, TierReport};
use crate::truth::{Truth, Wanted, dwell_and_values};
use dwell_kernels::deep::cycle::Search;
use dwell_kernels::deep::direct::Queue;
use dwell_kernels::deep::mantissa::Complex;
use dwell_kernels::deep::orbit::{Found, Setting, Shortcuts};
use dwell_kernels::deep::{DeepKernels, PROVED};
use std::time::{Duration, Instant};

/// Bits of the first attempt in arbitrary precision beyond those of the view.
const MORE_BITS: i64 = 128;
/// The tier with whose blocks cycles are found: the one that all lists have.
const OF_CYCLES: usize = 6;

impl Course<'_> {
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

    pub(super) fn setting<'s>(&'s self, prepared: &'s Prepared) -> Setting<'s> {
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
        let aim = self.aim();
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

    /// What pixels of other formulas and of Julia sets are iterated for.
    pub(super) fn aim(&self) -> Aim<'_> {
        let DeepCall { points, limit, .. } = self.call;
        Aim { points, limit, smooth: self.smooth, slopes: self.slopes }
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

/// The error of a pixel of which no bits decide a value.
fn undecided(column: u32, row: u32, n: u64) -> Error {
    let problem = format!("the values at |z_{n}| > R are not decided at column {column}, row {row}");
    InputError::new(Problem::Unsupported(problem)).about(Parameter::View).into()
}

pub(super) fn add(tiers: &mut Vec<TierReport>, of_tier: TierReport) {
    match tiers.iter_mut().find(|own| own.tier == of_tier.tier) {
        Some(own) => own.add(&of_tier),
        None => tiers.push(of_tier),
    }
}
