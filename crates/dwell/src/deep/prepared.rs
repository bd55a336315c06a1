//! What all pixels of a deep view share: the reference orbit and the blocks. Each is computed when it is first needed, by the thread that
//! needs it, while others that need the same wait.

use super::fixed_bits::FixedAttempts;
use super::formulas::{self, PreparedOrbits};
use super::kept;
use super::report::{DeepReport, Tier};
use super::tier_blocks::{TierBlocks, Used, too_large};
use super::view_cells::ViewCells;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::Limits;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::progress::Phase;
use crate::exact::limbs::fixed;
use crate::exact::rational::Rational;
use crate::truth::ExactMap;
use crate::view::settings::Settings;
use dwell_kernels::deep::blocks::{FIRST, MOST_FIRST, REACH, Table};
use dwell_kernels::deep::cells::Cells;
use dwell_kernels::deep::extended::Bound;
use dwell_kernels::deep::limbs::Fixed;
use dwell_kernels::deep::mantissa::Dd;
use dwell_kernels::deep::reference::{End, NoReference, Reference, Room};
use dwell_kernels::deep::{DeepKernels, Degree, NoTable, TableSetting, Watch};
use dwell_kernels::{Formula, Level};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Bits of a reference beyond those of the view. Its errors grow as deltas do, so that they stay this far below the size of a pixel's
/// delta; where they do not, the orbit is computed again with more.
pub(super) const GUARD_BITS: i64 = 170;
/// Limbs that are added when the bits did not suffice, at most so many times.
pub(super) const MORE_LIMBS: usize = 2;
pub(super) const MOST_ATTEMPTS: usize = 8;
/// The scales of views whose offsets the tiers below arbitrary precision work with.
const SCALES: std::ops::RangeInclusive<i64> = -30_000_000..=60;
/// The greatest |part of the centre| that fits beside its square into the limb before the point.
const FARTHEST: i64 = 1 << 30;

/// The greatest level of the shortest blocks beside an orbit in pairs of f64; where these do not fit, it is kept as waypoints. Single steps take five times as long from waypoints (rf-dragon), so that longer blocks are the lesser loss up to here.
pub(super) const MOST_FIRST_OF_PAIRS: u32 = 6;

/// What all pixels of a view share.
#[derive(Debug)]
pub(crate) struct Shared {
    centre: [Rational; 2],
    scale: i64,
    /// How much of it is more than the view needs.
    margin: i64,
    /// R and R^2, exact and rounded.
    radius: Rational,
    escape_radius: f64,
    escape: f64,
    most_bytes: u64,
    map: ExactMap,
    prepared: Mutex<Option<Arc<Prepared>>>,
    /// Of other formulas than z^2 + c and of Julia sets.
    pub(super) prepared_orbits: Mutex<Option<Arc<PreparedOrbits>>>,
    pub(super) fixed_attempts: FixedAttempts,
}

/// The reference orbit of a view and the blocks made of it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) reference: Reference,
    bits: u64,
    limit: u64,
    threads: usize,
    /// The level of the shortest blocks.
    pub(super) first_level: u32,
    pub(super) blocks: TierBlocks<Table<f64>, Table<Dd>>,
    pub(super) cells: ViewCells,
}

/// What blocks are computed with.
#[derive(Clone, Copy)]
pub(super) struct Means<'a> {
    pub(super) level: Level,
    pub(super) threads: usize,
    pub(super) control: Control<'a>,
}

impl Shared {
    /// What a view shares with earlier ones: see `kept.rs`.
    pub(super) fn of(wanted: &kept::Wanted<'_>, settings: &Settings, limits: &Limits) -> Arc<Self> {
        kept::shared(wanted, |margin| Self::new(wanted.centre.clone(), wanted.scale, margin, settings, limits))
    }

    /// For the same view with the same limits. Its disc may be larger.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.view_scale() == other.view_scale() && self.centre == other.centre && self.has_settings_of(other)
    }

    pub(super) fn has_settings_of(&self, other: &Self) -> bool {
        self.most_bytes == other.most_bytes && self.radius == other.radius && self.map == other.map
    }

    /// Whether all points within `reach` of a centre are within 2^scale of this one.
    pub(super) fn holds(&self, centre: &[Rational; 2], reach: &Rational) -> bool {
        let [right, up] = self.to(centre).map(|part| part.magnitude());
        right.plus(&up).plus(reach) <= Rational::whole(1).scaled_by_power_of_two(self.scale)
    }

    /// The way from this centre to another.
    pub(super) fn to(&self, [re, im]: &[Rational; 2]) -> [Rational; 2] {
        [re.minus(&self.centre[0]), im.minus(&self.centre[1])]
    }

    /// The power of two above the size of the view that this was made for.
    pub(super) fn view_scale(&self) -> i64 {
        self.scale - self.margin
    }

    /// What was computed for this, without tiers.
    pub(crate) fn report(&self) -> DeepReport {
        let orbits = self.prepared_orbits.lock().unwrap_or_else(PoisonError::into_inner);
        match (orbits.as_ref(), self.already_prepared()) {
            (Some(orbits), _) => orbits.report(),
            (None, Some(prepared)) => prepared.report(),
            (None, None) => DeepReport::without_reference(),
        }
    }

    /// Whether there is an orbit, and making it and the blocks took longer than a share of the time of some pixels; not while it is made.
    pub(super) fn is_worth(&self, share: f64, pixels: u64) -> bool {
        let Ok(prepared) = self.prepared.try_lock() else { return false };
        prepared.as_ref().is_some_and(|prepared| {
            let Used { of_reference, of_blocks, .. } = prepared.blocks.used();
            let of_pixels = prepared.blocks.measured.seconds(pixels) / prepared.threads as f64;
            (of_reference + of_blocks).as_secs_f64() >= share * of_pixels
        })
    }

    pub(super) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Bytes of the orbit and its blocks; 0 before they are computed.
    pub(super) fn bytes_used(&self) -> u64 {
        if let Ok(orbits) = self.prepared_orbits.try_lock()
            && let Some(orbits) = orbits.as_ref()
        {
            return orbits.bytes();
        }
        let prepared = self.prepared.try_lock().ok();
        let bytes = |prepared: &Arc<Prepared>| prepared.blocks.used().bytes;
        prepared.and_then(|prepared| prepared.as_ref().map(bytes)).unwrap_or(0)
    }

    fn new(centre: [Rational; 2], view_scale: i64, margin: i64, settings: &Settings, limits: &Limits) -> Self {
        let radius = settings.escape_radius.to_rational();
        Self {
            centre,
            scale: view_scale + margin,
            margin,
            escape_radius: radius.round(),
            escape: radius.times(&radius).round(),
            radius,
            // The other half is for rows.
            most_bytes: limits.memory_bytes / 2,
            map: ExactMap::of(settings),
            prepared: Mutex::default(),
            prepared_orbits: Mutex::default(),
            fixed_attempts: FixedAttempts::default(),
        }
    }

    pub(crate) fn map(&self) -> &ExactMap {
        &self.map
    }
    /// Whether this is for z^2 + c in the parameter plane, for which there are blocks.
    pub(crate) fn has_blocks(&self) -> bool {
        self.map.formula == Formula::MANDELBROT && self.map.julia.is_none()
    }
    pub(super) fn centre(&self) -> &[Rational; 2] {
        &self.centre
    }
    pub(crate) fn scale(&self) -> i64 {
        self.scale
    }
    pub(crate) fn radius(&self) -> &Rational {
        &self.radius
    }
    pub(crate) fn escape_radius(&self) -> f64 {
        self.escape_radius
    }
    pub(crate) fn escape(&self) -> f64 {
        self.escape
    }
    /// R^2 with so many limbs, rounded down.
    pub(super) fn exact_escape(&self, limbs: usize) -> Fixed {
        fixed(&self.radius.times(&self.radius), limbs)
    }

    /// An upper bound of the bytes that the orbit and the blocks take for a limit.
    pub(crate) fn bytes(&self, limit: u64) -> u64 {
        let (entries, scale) = (limit.saturating_add(1), self.unit());
        if !self.has_blocks() {
            return formulas::bytes(limit, scale).min(self.most_bytes);
        }
        let of_tables = (0..Tier::OF_DELTAS).map(|tier| bytes_of_blocks(tier, entries, scale, FIRST));
        let of_tables = of_tables.fold(0, u64::saturating_add);
        // An orbit grows by doubling.
        Reference::bytes(entries.max(4096)).saturating_mul(2).saturating_add(of_tables).min(self.most_bytes)
    }

    /// The scale as kernels take it.
    pub(crate) fn unit(&self) -> i32 {
        i32::try_from(self.scale).unwrap_or(i32::MIN / 8)
    }

    /// The orbit up to a limit, and its blocks; `None` for a view that is so large, so far out or so small that only arbitrary
    /// precision takes it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when the orbit takes more memory than is allowed.
    pub(super) fn prepared(&self, limit: u64, means: Means<'_>) -> Result<Option<Arc<Prepared>>, Error> {
        if !self.is_near() {
            return Ok(None);
        }
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = prepared.as_ref().filter(|found| found.limit >= limit || found.reference.end != End::Limit)
        {
            return Ok(Some(Arc::clone(found)));
        }
        *prepared = None;
        let made = Arc::new(self.prepare(limit, means)?);
        *prepared = Some(Arc::clone(&made));
        Ok(Some(made))
    }

    /// Whether the centre and the scale are such that deltas and fixed point take them.
    pub(super) fn is_near(&self) -> bool {
        let is_far = self.centre.iter().any(|part| part.magnitude() >= Rational::whole(FARTHEST));
        let of_constant = self.map.julia.iter().flatten().any(|part| part.magnitude() >= Rational::whole(FARTHEST));
        !is_far && !of_constant && SCALES.contains(&self.scale)
    }

    /// What was prepared last, if anything.
    pub(super) fn already_prepared(&self) -> Option<Arc<Prepared>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn prepare(&self, limit: u64, means: Means<'_>) -> Result<Prepared, Error> {
        let Means { level, threads, control } = means;
        let began = Instant::now();
        let phase = control.progress.begin(Phase::Reference, 0);
        let watch = Watch { stop: control.cancel.flag(), done: phase.steps() };
        let bits = usize::try_from((GUARD_BITS - self.scale).max(GUARD_BITS)).unwrap_or(usize::MAX);
        let mut limbs = 1 + bits.div_ceil(64);
        let room = room(self.most_bytes, self.unit());
        for _ in 0..MOST_ATTEMPTS {
            let [x, y] = self.centre.each_ref().map(|part| fixed(part, limbs));
            let radius = Bound::new(REACH, self.unit());
            match Reference::new(level, [&x, &y], radius, self.escape, limit, room, watch) {
                Ok(reference) => {
                    let bytes = reference.allocated();
                    let first_level =
                        first_level(reference.last() as u64, self.unit(), self.most_bytes.saturating_sub(bytes));
                    return Ok(Prepared {
                        reference,
                        first_level,
                        bits: 64 * (limbs as u64 - 1),
                        limit,
                        threads: threads.max(1),
                        blocks: TierBlocks::new(self.most_bytes, bytes, began.elapsed()),
                        cells: ViewCells::default(),
                    });
                }
                Err(NoReference::TooFewBits) => limbs += MORE_LIMBS,
                Err(NoReference::Memory) => return Err(self.too_large(2 * self.most_bytes)),
                Err(NoReference::Stopped) => return Err(Error::Interrupted),
            }
        }
        let problem = "no reference orbit of this view is precise enough";
        Err(InputError::new(Problem::Unsupported(problem.to_owned())).about(Parameter::View).into())
    }

    pub(super) fn too_large(&self, needed: u64) -> Error {
        too_large(needed, self.most_bytes)
    }
}

/// The degree of the blocks of a tier.
fn degree(tier: usize) -> Degree {
    if Tier::is_quartic(tier) { Degree::Fourth } else { Degree::Second }
}

/// Bytes of the blocks of a tier, of a reference of so many steps, where the shortest have 2^`first_level` steps.
fn bytes_of_blocks(tier: usize, steps: u64, scale: i32, first_level: u32) -> u64 {
    let of_tier = if tier < Tier::IN_F64 { Table::<f64>::bytes } else { Table::<Dd>::bytes };
    of_tier(steps, scale, degree(tier), first_level)
}

/// Bytes of the blocks that a view is not drawn without: those of a first tier and of the last.
fn least_bytes(steps: u64, scale: i32, first_level: u32) -> u64 {
    [0, Tier::OF_DELTAS - 1]
        .map(|tier| bytes_of_blocks(tier, steps, scale, first_level))
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// The most entries of an orbit that fits into so many bytes beside the blocks that take the least.
fn room(most_bytes: u64, scale: i32) -> Room {
    /// For the bytes of a step.
    const MANY: u64 = 1 << 20;
    let entries = |bytes: u64, first_level: u32| {
        let bytes = bytes + least_bytes(MANY, scale, first_level);
        usize::try_from(u128::from(most_bytes) * u128::from(MANY) / u128::from(bytes)).unwrap_or(usize::MAX)
    };
    let of_waypoints = Reference::bytes_of_waypoints(MANY);
    Room {
        pairs: entries(Reference::bytes(MANY) + of_waypoints, MOST_FIRST_OF_PAIRS),
        // Their list may be longer by a quarter.
        waypoints: entries(of_waypoints + of_waypoints / 4, MOST_FIRST),
    }
}

/// The level of the shortest blocks of a reference of so many steps: the lowest with which those that are needed fit into so many bytes.
fn first_level(steps: u64, scale: i32, bytes: u64) -> u32 {
    let fits = |level: &u32| least_bytes(steps, scale, *level) <= bytes;
    (FIRST..=MOST_FIRST).find(fits).unwrap_or(MOST_FIRST)
}

impl Prepared {
    /// The first of some lists of tiers whose blocks fit into the memory, or the last.
    pub(crate) fn fitting(&self, lists: &[&'static [usize]], shared: &Shared) -> &'static [usize] {
        let fitting = self.blocks.fitting(lists, |tier| self.bytes_of_blocks(tier, shared));
        fitting.or(lists.last().copied()).unwrap_or_default()
    }

    fn bytes_of_blocks(&self, tier: usize, shared: &Shared) -> u64 {
        bytes_of_blocks(tier, self.reference.last() as u64, shared.unit(), self.first_level)
    }

    /// Takes memory for cells of the plane, if there is some beside the blocks that a view is not drawn without.
    pub(super) fn reserve_cells(&self, shared: &Shared) {
        let others = least_bytes(self.reference.last() as u64, shared.unit(), self.first_level);
        self.cells.reserve(|bytes| self.blocks.takes(bytes, others));
    }

    /// The cells of the plane, where they save time.
    pub(super) fn cells(&self, smooth: bool, shared: &Shared) -> Option<&Cells<f64>> {
        self.cells.wanted(smooth, |setting| Cells::new(&self.reference, shared.unit(), shared.escape_radius(), setting))
    }

    /// As [`Self::cells`], in pairs of f64, for what the first tier leaves.
    pub(super) fn cells_of_pairs(&self, shared: &Shared) -> Option<&Cells<Dd>> {
        let scale = shared.unit();
        self.cells.of_pairs(scale, |setting| Cells::new(&self.reference, scale, shared.escape_radius(), setting))
    }

    /// The blocks of a tier in f64, by its number in [`Tier::ALL`].
    pub(super) fn in_f64(&self, tier: usize, shared: &Shared, means: Means<'_>) -> Result<Arc<Table<f64>>, Error> {
        let bytes = self.bytes_of_blocks(tier, shared);
        self.blocks.in_f64(tier, bytes, |tolerance| self.table((tier, tolerance), shared, means))
    }

    /// The blocks of a tier in pairs of f64, by its number in [`Tier::ALL`].
    pub(super) fn in_pairs(&self, tier: usize, shared: &Shared, means: Means<'_>) -> Result<Arc<Table<Dd>>, Error> {
        let bytes = self.bytes_of_blocks(tier, shared);
        self.blocks.in_pairs(tier, bytes, |tolerance| self.table((tier, tolerance), shared, means))
    }

    fn table<T: DeepKernels>(
        &self,
        (tier, tolerance): (usize, f64),
        shared: &Shared,
        means: Means<'_>,
    ) -> Result<Table<T>, NoTable> {
        let Means { level, control, .. } = means;
        let phase = control.progress.begin(Phase::Blocks, self.reference.last() as u64);
        let setting = TableSetting {
            reference: &self.reference,
            scale: shared.unit(),
            escape_radius: shared.escape_radius(),
            tolerance,
            degree: degree(tier),
            first_level: self.first_level,
            threads: means.threads,
            watch: Watch { stop: control.cancel.flag(), done: phase.steps() },
        };
        T::table(level, setting)
    }

    /// What the orbit and the blocks are, without tiers.
    pub(crate) fn report(&self) -> DeepReport {
        let used = self.blocks.used();
        DeepReport {
            reference_length: self.reference.last() as u64,
            reference_end: self.reference.end.name(),
            reference_bits: self.bits,
            reference_bytes: self.reference.allocated(),
            reference_compressed: self.reference.is_compressed(),
            reference_seconds: used.of_reference.as_secs_f64(),
            blocks_seconds: used.of_blocks.as_secs_f64(),
            unproved: 0,
            tiers: Vec::new(),
        }
    }
}
