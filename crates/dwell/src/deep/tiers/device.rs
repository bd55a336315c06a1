//! Attempts by deltas that a device makes in place of the processors: what it is given, and what is noted of it.

use super::attempts::add;
use super::{Attempt, Course, DeepBuffers};
use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::deep::formulas::PreparedOrbits;
use crate::deep::points::DeepPoints;
use crate::deep::prepared::Prepared;
use crate::deep::report::{Tier, TierReport};
use crate::field::channels::ChannelSlicesMut;
use dwell_kernels::deep::blocks::{self, Table};
use dwell_kernels::deep::formulas::blocks::Blocks;
use dwell_kernels::deep::formulas::{self, Setting as FormulaSetting};
use dwell_kernels::deep::mantissa::Dd;
use dwell_kernels::deep::orbit::Setting;
use dwell_kernels::deep::reference::End;
use std::ops::Range;
use std::sync::Arc;

/// The blocks of an attempt.
#[derive(Clone, Debug)]
pub enum DeepTable {
    /// For deltas in f64.
    InF64(Arc<Table<f64>>),
    /// For deltas in pairs of f64.
    InPairs(Arc<Table<Dd>>),
}

/// The blocks of an attempt at another formula than z^2 + c, or at a Julia set.
#[derive(Clone, Debug)]
pub enum DeepBlocks {
    /// For deltas in f64.
    InF64(Arc<Blocks<f64>>),
    /// For deltas in pairs of f64.
    InPairs(Arc<Blocks<Dd>>),
}

/// What pixels are iterated by.
#[derive(Clone, Debug)]
pub enum DeepWork<'a> {
    /// z^2 + c in the parameter plane.
    Squares {
        /// What all pixels share.
        setting: Setting<'a>,
        /// The blocks, which are made of the setting's reference.
        table: DeepTable,
    },
    /// Another formula, or a Julia set.
    Formula {
        /// What all pixels share.
        setting: FormulaSetting<'a>,
        /// The blocks, which are made of the setting's orbits.
        blocks: DeepBlocks,
    },
}

/// An attempt to decide pixels by deltas with the blocks of a tier.
#[derive(Clone, Debug)]
pub struct DeepAttempt<'a> {
    /// The tier.
    pub tier: Tier,
    /// What is done.
    pub work: DeepWork<'a>,
}

impl DeepAttempt<'_> {
    /// Whether deltas are in pairs of f64.
    #[must_use]
    pub fn is_in_pairs(&self) -> bool {
        match &self.work {
            DeepWork::Squares { table, .. } => matches!(table, DeepTable::InPairs(_)),
            DeepWork::Formula { blocks, .. } => matches!(blocks, DeepBlocks::InPairs(_)),
        }
    }

    /// Whether derivatives are wanted.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        match &self.work {
            DeepWork::Squares { setting, .. } => setting.units.is_some(),
            DeepWork::Formula { setting, .. } => setting.units.is_some(),
        }
    }
}

/// The device has failed, and noted why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFailed;

/// What a device did in an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attempted {
    /// The pixels that it decided.
    pub decided: u64,
    /// The time that it took, in seconds.
    pub seconds: f64,
    /// The part of it in which few orbits were under way, too few to keep the device busy.
    pub few_seconds: f64,
    /// Steps.
    pub steps: u64,
    /// Blocks that replaced steps.
    pub blocks: u64,
    /// The share of its greatest rate of f64 that these took, 0 where that rate is not known.
    pub share_of_peak: f64,
}

/// A device that decides pixels of deep views, each with a proof.
pub trait DeepDevice {
    /// Whether it can begin at once. As long as it cannot, the processors compute rows.
    fn is_ready(&mut self) -> bool;

    /// The most rows, at least 1, of so many columns that it takes at once.
    ///
    /// # Errors
    /// When it has no memory for them.
    fn most_rows(&mut self, width: u32) -> Result<u32, DeviceFailed>;

    /// Begins rows of a view. All of their pixels are open.
    ///
    /// # Errors
    /// When it fails.
    fn begin(&mut self, points: &DeepPoints, rows: Range<u32>) -> Result<(), DeviceFailed>;

    /// Makes an attempt at the open pixels. Once it is cancelled it returns soon, with any result.
    ///
    /// # Errors
    /// When it fails, or has no memory for the blocks.
    fn attempt(&mut self, attempt: &DeepAttempt<'_>, cancel: &Cancel) -> Result<Attempted, DeviceFailed>;

    /// Stores the dwells and the other values that are wanted of all pixels that are decided, of others any, and returns the open ones, by their
    /// numbers along the rows.
    ///
    /// # Errors
    /// When it fails.
    fn finish(&mut self, out: ChannelSlicesMut<'_>) -> Result<Vec<u32>, DeviceFailed>;

    /// Notes rows that the processors compute.
    fn leaves(&mut self, rows: Range<u32>);
}

/// How many operations the next attempt makes at a pixel for each one of the attempt before, in f64 and in pairs: the pixels that are left are those with long orbits.
const GROWTH: [f64; 2] = [4.0, 2.2];
/// What these take on a processor for each one of the attempt before, in seconds: 4 of 6.5 ns in f64, and 1.5 of 30 ns in pairs, with blocks of the fourth degree (kf-1e50 and fs-view05 on a Xeon).
const ON_PROCESSOR: [f64; 2] = [26e-9, 45e-9];
/// The same of other formulas and of Julia sets, which have no such blocks: 4 of 27 ns in f64, and 2.2 of 47 ns in pairs (a view of the Burning Ship at 3e45, on another Xeon).
const ON_PROCESSOR_OF_FORMULA: [f64; 2] = [108e-9, 103e-9];
/// How many times as long as in f64 a device takes for operations in pairs, where it is busy, and where few orbits are under way.
const PAIRS_BUSY: f64 = 8.0;
const PAIRS_FEW: f64 = 1.7;
/// How many times as long as before few orbits are under way.
const LONGER: f64 = 1.5;
/// How many times as many operations the next attempt makes at a pixel where the one before decided fewer than half of them, and so gave most orbits up early (fs-view25, from f64 to blocks of the fourth degree).
const OF_GIVEN_UP: f64 = 7.0;

/// What is known of the attempt after one that a device made at so many samples.
struct Next<'a> {
    samples: u64,
    made: &'a Attempted,
    was_in_pairs: bool,
    is_in_pairs: bool,
    on_processor: [f64; 2],
}

impl Next<'_> {
    /// Whether so many threads of processors would probably make it sooner than the device, which is as slow as its longest orbits, of which one of its threads makes an operation in a microsecond.
    fn is_sooner_without_device(&self, threads: usize) -> bool {
        let Attempted { decided, seconds, few_seconds, steps, blocks, .. } = *self.made;
        let open = self.samples.saturating_sub(decided) as f64;
        if open == 0.0 {
            return true;
        }
        let (all, kind) = ((steps + blocks) as f64, usize::from(self.is_in_pairs));
        let given_up = if 2.0 * open > self.samples as f64 { OF_GIVEN_UP } else { 1.0 };
        let operations = open * all / self.samples.max(1) as f64 * given_up;
        let is_wider = self.is_in_pairs && !self.was_in_pairs;
        let (of_busy, of_few) = if is_wider { (PAIRS_BUSY, PAIRS_FEW) } else { (1.0, 1.0) };
        let busy = operations * GROWTH[kind] * of_busy * (seconds - few_seconds) / all.max(1.0);
        let on_device = busy + LONGER * of_few * few_seconds;
        operations * self.on_processor[kind] < threads as f64 * on_device
    }
}

impl Course<'_> {
    /// Whether a device can make attempts: for all values but those of cycles, of views that are not decided as a whole, by pairs of f64 and blocks from 4 steps on, which its kernels know. Of other formulas than z^2 + c
    /// and of Julia sets they have no blocks for deltas below the range of f64, and no deltas that are values.
    pub(crate) fn suits_a_device(&self) -> bool {
        let suits = |prepared: &Prepared| {
            let reference = &prepared.reference;
            reference.end != End::Trap && !reference.is_compressed() && prepared.first_level == blocks::FIRST
        };
        let suits_as_formula = |prepared: &PreparedOrbits| {
            let (orbits, shared) = (prepared.orbits(), &self.call.points.shared);
            let is_julia = shared.map().julia.is_some();
            let begins = if is_julia { orbits.of_centre().is_some() } else { orbits.has_reference() };
            let has_blocks = matches!(self.attempts.first(), Some(Attempt::ByDeltas(_)));
            begins && has_blocks && orbits.end != End::Trap && shared.unit() >= formulas::blocks::WIDE_BELOW
        };
        !self.cycles
            && (self.prepared.as_deref().is_some_and(suits) || self.orbits.as_deref().is_some_and(suits_as_formula))
    }

    /// The number of the attempt of a device after another one, which it made at so many samples, as far as it pays. Cells of the plane are for the processors alone: where there are some, they make what follows sooner.
    pub(crate) fn next_on_device(&self, before: usize, samples: u64, made: &Attempted) -> Option<usize> {
        if self.has_cells_of_pairs() {
            return None;
        }
        let next = self.next(before)?;
        let in_pairs = |number: usize| matches!(self.attempts[number], Attempt::ByDeltas(tier) if tier >= Tier::IN_F64);
        if !matches!(self.attempts[next], Attempt::ByDeltas(_)) {
            return None;
        }
        let on_processor = if self.prepared.is_some() { ON_PROCESSOR } else { ON_PROCESSOR_OF_FORMULA };
        let (was_in_pairs, is_in_pairs) = (in_pairs(before), in_pairs(next));
        let of_next = Next { samples, made, was_in_pairs, is_in_pairs, on_processor };
        (!of_next.is_sooner_without_device(self.call.threads)).then_some(next)
    }

    /// An attempt by deltas, by its number; `None` for another one. Its blocks are computed unless they are there.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn for_device(&self, number: usize) -> Result<Option<DeepAttempt<'_>>, Error> {
        let Some(Attempt::ByDeltas(tier)) = self.attempts.get(number).copied() else { return Ok(None) };
        let (shared, means) = (&self.call.points.shared, self.call.means());
        let in_f64 = tier < Tier::IN_F64;
        let work = match (&self.prepared, &self.orbits) {
            (Some(prepared), _) => {
                let table = if in_f64 {
                    DeepTable::InF64(prepared.in_f64(tier, shared, means)?)
                } else {
                    DeepTable::InPairs(prepared.in_pairs(tier, shared, means)?)
                };
                DeepWork::Squares { setting: self.setting(prepared), table }
            }
            (None, Some(orbits)) => {
                let aim = self.aim();
                let blocks = if in_f64 {
                    DeepBlocks::InF64(orbits.in_f64(tier, aim, means)?)
                } else {
                    DeepBlocks::InPairs(orbits.in_pairs(tier, aim, means)?)
                };
                DeepWork::Formula { setting: orbits.setting(aim, means.control), blocks }
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(DeepAttempt { tier: Tier::ALL[tier], work }))
    }

    /// Notes what a device did with so many samples.
    pub(crate) fn note(&self, tier: Tier, samples: u64, attempted: Attempted, buffers: &mut DeepBuffers) {
        let Attempted { decided, seconds, steps, blocks, share_of_peak, .. } = attempted;
        let report = TierReport { samples, decided, steps, blocks, ..TierReport::new(tier) };
        if let Some(number) = Tier::ALL.iter().position(|other| *other == tier) {
            // What blocks save is time, whichever engine takes it.
            let of_tier = TierReport { seconds, ..report };
            if let Some(prepared) = &self.prepared {
                prepared.blocks.measured.add(number, &of_tier);
            }
            if let Some(orbits) = &self.orbits {
                orbits.blocks.measured.add(number, &of_tier);
            }
        }
        let of_device = TierReport {
            device_samples: samples,
            device_seconds: seconds,
            device_share_of_peak: share_of_peak,
            ..report
        };
        add(&mut buffers.tiers, of_device);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_take_over_once_there_are_few_open_pixels_for_each() {
        let made = |decided, [seconds, few_seconds]: [f64; 2], steps| Attempted {
            decided,
            seconds,
            few_seconds,
            steps,
            ..Attempted::default()
        };
        let next = |samples, made, [was_in_pairs, is_in_pairs]: [bool; 2]| {
            let of = |on_processor| {
                let next = Next { samples, made: &made, was_in_pairs, is_in_pairs, on_processor };
                [1, 2, 16, 128].map(|threads| next.is_sooner_without_device(threads))
            };
            let [squares, formula] = [of(ON_PROCESSOR), of(ON_PROCESSOR_OF_FORMULA)];
            // Never sooner where operations take longer.
            assert!(squares.iter().zip(formula).all(|(of_squares, of_formula)| *of_squares || !of_formula));
            squares
        };
        // On an H100: kf-1e50 in f64 with 2^-26 and with 2^-44, and in pairs with 2^-60; the first at kf-5e113, and the third at fs-view05.
        let f64_coarse = made(1_937_468, [0.0154, 0.0015], 751_000_000);
        assert_eq!(next(2_073_600, f64_coarse, [false, false]), [false; 4]);
        let f64_fine = made(125_980, [0.0160, 0.0077], 179_500_000);
        assert_eq!(next(136_189, f64_fine, [false, true]), [false, false, false, true]);
        let in_pairs = made(9531, [0.0178, 0.0178], 30_000_000);
        assert_eq!(next(10_212, in_pairs, [true, true]), [false, false, true, true]);
        let of_other = made(2_056_452, [0.0077, 0.0005], 500_000_000);
        assert_eq!(next(2_073_600, of_other, [false, false]), [false, false, false, true]);
        let long = made(60_087, [0.105, 0.060], 290_000_000);
        assert_eq!(next(65_359, long, [true, true]), [false, false, true, true]);
        // Nothing was decided of part of fs-view25 in f64 (H200).
        let none = made(500, [0.35, 0.30], 380_000_000);
        assert_eq!(next(108_800, none, [false, true]), [false, false, false, true]);
        // And whatever the device took, when nothing is open.
        assert_eq!(next(100, made(100, [0.0, 0.0], 1_000_000), [false, true]), [true; 4]);
    }
}
