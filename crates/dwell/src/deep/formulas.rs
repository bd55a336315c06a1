//! Deep views of other formulas than z^2 + c and of Julia sets: their reference orbits and blocks, and pixels by deltas and in fixed point.

use super::points::{DeepPoints, pair};
use super::prepared::{GUARD_BITS, MORE_LIMBS, MOST_ATTEMPTS, Means, Shared};
use super::report::{DeepReport, Tier, TierReport};
use super::tier_blocks::TierBlocks;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::progress::Phase;
use crate::exact::limbs::fixed;
use crate::exact::rational::Rational;
use crate::exact::trig::Real;
use dwell_kernels::deep::blocks::REACH;
use dwell_kernels::deep::direct::{Goal, Iterated, Queue};
use dwell_kernels::deep::extended::Bound;
use dwell_kernels::deep::formulas::Setting;
use dwell_kernels::deep::formulas::blocks::{BlockSetting, Blocks};
use dwell_kernels::deep::formulas::orbits::{Orbits, Wanted};
use dwell_kernels::deep::formulas::points::follow;
use dwell_kernels::deep::limbs::Fixed;
use dwell_kernels::deep::mantissa::{Complex, Dd};
use dwell_kernels::deep::orbit::Found;
use dwell_kernels::deep::reference::{End, NoReference};
use dwell_kernels::deep::{DeepKernels, NoTable, Watch};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// The error of the constant of a Julia set in units of the last place: each part is rounded down.
const OF_CONSTANT: f64 = 2.0;

/// The reference orbits of a view.
#[derive(Debug)]
pub(crate) struct PreparedOrbits {
    orbits: Orbits,
    /// The centre, and the constant of a Julia set or the centre, rounded to pairs.
    centre: Complex<Dd>,
    c: Complex<Dd>,
    bits: u64,
    limit: u64,
    pub(super) blocks: TierBlocks<Blocks<f64>, Blocks<Dd>>,
}

/// An upper bound of the bytes that orbits and their blocks take for a limit.
pub(super) fn bytes(limit: u64, scale: i32) -> u64 {
    let entries = limit.saturating_add(1).max(4096);
    let of_blocks =
        Blocks::<f64>::bytes(entries, scale).saturating_mul(3).saturating_add(Blocks::<Dd>::bytes(entries, scale));
    // An orbit grows by doubling, and a Julia set has two.
    Orbits::bytes(entries).saturating_add(of_blocks).saturating_mul(4)
}

fn rounded([re, im]: &[Rational; 2]) -> Complex<Dd> {
    let part = |part: &Rational| pair(&Real::Rational(part.clone()), 0);
    Complex { re: part(re), im: part(im) }
}

/// What pixels are iterated for.
#[derive(Clone, Copy)]
pub(super) struct Aim<'a> {
    pub(super) points: &'a DeepPoints,
    pub(super) limit: u64,
    pub(super) smooth: bool,
    pub(super) slopes: bool,
}

impl Shared {
    /// The orbits up to a limit; `None` as [`Shared::prepared`].
    ///
    /// # Errors
    /// As [`Shared::prepared`].
    pub(super) fn orbits(&self, limit: u64, means: Means<'_>) -> Result<Option<Arc<PreparedOrbits>>, Error> {
        if !self.is_near() {
            return Ok(None);
        }
        let mut prepared = self.prepared_orbits.lock().unwrap_or_else(PoisonError::into_inner);
        let serves = |found: &&Arc<PreparedOrbits>| found.limit >= limit || found.orbits.end != End::Limit;
        if let Some(found) = prepared.as_ref().filter(serves) {
            return Ok(Some(Arc::clone(found)));
        }
        *prepared = None;
        let made = Arc::new(self.make_orbits(limit, means)?);
        *prepared = Some(Arc::clone(&made));
        Ok(Some(made))
    }

    fn make_orbits(&self, limit: u64, means: Means<'_>) -> Result<PreparedOrbits, Error> {
        let Means { control, .. } = means;
        let began = Instant::now();
        let phase = control.progress.begin(Phase::Reference, 0);
        let watch = Watch { stop: control.cancel.flag(), done: phase.steps() };
        let map = self.map();
        let depth = (-self.scale()).max(0);
        let limbs_for = |bits: i64| 1 + usize::try_from(bits).unwrap_or(usize::MAX).div_ceil(64);
        let mut limbs = limbs_for(GUARD_BITS + depth);
        // A delta from the centre's orbit may pass 0 where it is as small as a pixel; its power is then the delta from the critical orbit.
        let mut limbs_of_c = limbs_for(GUARD_BITS + depth.saturating_mul(i64::from(map.formula.power())));
        // Half of the memory is for the blocks.
        let most = usize::try_from(self.most_bytes() / (2 * Orbits::bytes(1))).unwrap_or(usize::MAX);
        for _ in 0..MOST_ATTEMPTS {
            let centre = self.centre().each_ref().map(|part| fixed(part, limbs));
            let julia = map.julia.as_ref().map(|c| c.each_ref().map(|part| fixed(part, limbs_of_c)));
            let wanted = Wanted {
                formula: map.formula,
                centre: centre.each_ref(),
                julia: julia.as_ref().map(|c| (c.each_ref(), OF_CONSTANT)),
                radius: Bound::new(REACH, self.unit()),
                escape: self.escape(),
                limit,
                most,
                watch,
            };
            match Orbits::new(&wanted) {
                Ok(orbits) => {
                    let bytes = Orbits::bytes(orbits.capacity() as u64);
                    return Ok(PreparedOrbits {
                        orbits,
                        centre: rounded(self.centre()),
                        c: rounded(map.julia.as_ref().unwrap_or(self.centre())),
                        bits: 64 * (limbs as u64 - 1),
                        limit,
                        blocks: TierBlocks::new(self.most_bytes(), bytes, began.elapsed()),
                    });
                }
                Err(NoReference::TooFewBits) => (limbs, limbs_of_c) = (limbs + MORE_LIMBS, limbs_of_c + MORE_LIMBS),
                Err(NoReference::Memory) => return Err(self.too_large(2 * self.most_bytes())),
                Err(NoReference::Stopped) => return Err(Error::Interrupted),
            }
        }
        let problem = "no reference orbit of this view is precise enough";
        Err(InputError::new(Problem::Unsupported(problem.to_owned())).about(Parameter::View).into())
    }
}

impl PreparedOrbits {
    /// The orbits.
    pub(super) fn orbits(&self) -> &Orbits {
        &self.orbits
    }

    /// What the orbits are, without tiers.
    pub(super) fn report(&self) -> DeepReport {
        let used = self.blocks.used();
        DeepReport {
            reference_length: self.orbits.len() as u64,
            reference_end: self.orbits.end.name(),
            reference_bits: self.bits,
            reference_bytes: Orbits::bytes(self.orbits.capacity() as u64),
            reference_seconds: used.of_reference.as_secs_f64(),
            blocks_seconds: used.of_blocks.as_secs_f64(),
            ..DeepReport::without_reference()
        }
    }

    /// Bytes of the orbits and blocks.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.used().bytes
    }

    /// The first of some lists of tiers whose blocks fit into the memory; `None` where none does, and where no blocks are needed, since there is no reference or all pixels stay.
    pub(super) fn fitting(&self, lists: &[&'static [usize]], shared: &Shared) -> Option<&'static [usize]> {
        let fitting = || self.blocks.fitting(lists, |tier| self.bytes_of_blocks(tier, shared));
        (self.orbits.has_reference() && self.orbits.end != End::Trap).then(fitting).flatten()
    }

    fn bytes_of_blocks(&self, tier: usize, shared: &Shared) -> u64 {
        let of_tier = if tier < Tier::IN_F64 { Blocks::<f64>::bytes } else { Blocks::<Dd>::bytes };
        of_tier(self.orbits.len() as u64, shared.unit())
    }

    /// The blocks of a tier in f64, by its number in [`Tier::ALL`].
    pub(super) fn in_f64(&self, tier: usize, aim: Aim<'_>, means: Means<'_>) -> Result<Arc<Blocks<f64>>, Error> {
        let bytes = self.bytes_of_blocks(tier, &aim.points.shared);
        self.blocks.in_f64(tier, bytes, |tolerance| self.made(tolerance, aim, means))
    }

    /// The blocks of a tier in pairs of f64, by its number in [`Tier::ALL`].
    pub(super) fn in_pairs(&self, tier: usize, aim: Aim<'_>, means: Means<'_>) -> Result<Arc<Blocks<Dd>>, Error> {
        let bytes = self.bytes_of_blocks(tier, &aim.points.shared);
        self.blocks.in_pairs(tier, bytes, |tolerance| self.made(tolerance, aim, means))
    }

    fn made<T: DeepKernels>(&self, tolerance: f64, aim: Aim<'_>, means: Means<'_>) -> Result<Blocks<T>, NoTable> {
        let Means { level, control, .. } = means;
        let phase = control.progress.begin(Phase::Blocks, self.orbits.len() as u64);
        let watch = Watch { stop: control.cancel.flag(), done: phase.steps() };
        T::blocks_of_formula(level, &BlockSetting { setting: self.setting(aim, control), tolerance, watch })
    }

    /// What pixels are iterated with.
    pub(super) fn setting<'a>(
        &'a self,
        Aim { points, limit, smooth, slopes }: Aim<'_>,
        control: Control<'a>,
    ) -> Setting<'a> {
        let shared = &points.shared;
        Setting {
            formula: shared.map().formula,
            is_julia: shared.map().julia.is_some(),
            orbits: &self.orbits,
            centre: self.centre,
            c: self.c,
            scale: shared.unit(),
            escape_radius: shared.escape_radius(),
            escape: shared.escape(),
            limit,
            smooth,
            units: slopes.then(|| *points.units()),
            stop: control.cancel.flag(),
        }
    }

    /// Decides pixels by these blocks and single steps, as far as a number does.
    pub(super) fn by_deltas<T: DeepKernels>(
        &self,
        (tier, blocks): (Tier, Option<&Blocks<T>>),
        (aim, means): (Aim<'_>, Means<'_>),
        pixels: &[Complex<T>],
        found: &mut [Found],
    ) -> TierReport {
        let began = Instant::now();
        let counts = T::decide_formula(means.level, &self.setting(aim, means.control), blocks, pixels, found);
        TierReport {
            seconds: began.elapsed().as_secs_f64(),
            steps: counts.steps + counts.wide,
            blocks: counts.blocks,
            ..TierReport::new(tier)
        }
    }
}

/// The constant of a Julia set with so many limbs.
pub(super) fn constant(shared: &Shared, limbs: usize) -> Option<[Fixed; 2]> {
    shared.map().julia.as_ref().map(|c| c.each_ref().map(|part| fixed(part, limbs)))
}

/// What is iterated in fixed point, with such a constant.
pub(super) fn iterated<'a>(shared: &Shared, constant: Option<&'a [Fixed; 2]>) -> Iterated<'a> {
    Iterated { formula: shared.map().formula, julia: constant.map(|c| (c.each_ref(), OF_CONSTANT)) }
}

/// Follows the orbits of the points of a queue in fixed point and one at a time, given by their columns and rows.
pub(super) fn in_fixed_point(
    points: &DeepPoints,
    goal: &Goal<'_>,
    queue: &Queue,
    place: impl Fn(usize) -> (u32, u32),
    found: &mut dyn FnMut(usize, Found),
) {
    while let Some(number) = queue.take().filter(|_| !goal.stop.load(Ordering::Relaxed)) {
        found(number, follow(goal, points.in_fixed_point(place(number), goal.limbs).each_ref()));
    }
}
