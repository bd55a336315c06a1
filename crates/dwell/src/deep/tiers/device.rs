//! Attempts by deltas that a device makes in place of the processors: what it is given, and what is noted of it.

use super::{Attempt, Course, DeepBuffers, add};
use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::deep::points::DeepPoints;
use crate::deep::report::{Tier, TierReport};
use dwell_kernels::deep::blocks::Table;
use dwell_kernels::deep::mantissa::Dd;
use dwell_kernels::deep::orbit::Setting;
use dwell_kernels::deep::reference::End;
use std::ops::Range;
use std::sync::Arc;

/// The greatest limit up to which a device counts steps: dwells have 32 bits there.
const MOST_LIMIT: u64 = u32::MAX as u64 - 1;

/// The blocks of an attempt.
#[derive(Clone, Debug)]
pub enum DeepTable {
    /// For deltas in f64.
    InF64(Arc<Table<f64>>),
    /// For deltas in pairs of f64.
    InPairs(Arc<Table<Dd>>),
}

/// An attempt to decide pixels by deltas with the blocks of a tier.
#[derive(Clone, Debug)]
pub struct DeepAttempt<'a> {
    /// The tier.
    pub tier: Tier,
    /// What all pixels share.
    pub setting: Setting<'a>,
    /// The blocks, which are made of the setting's reference.
    pub table: DeepTable,
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
    /// Steps.
    pub steps: u64,
    /// Blocks that replaced steps.
    pub blocks: u64,
}

/// A device that decides pixels of deep views, each with a proof.
pub trait DeepDevice {
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

    /// Stores the dwells and, where they are wanted, the smooth values of all pixels that are decided, of others any, and returns the open ones, by their
    /// numbers along the rows.
    ///
    /// # Errors
    /// When it fails.
    fn finish(&mut self, dwell: &mut [u32], smooth: &mut [f64]) -> Result<Vec<u32>, DeviceFailed>;

    /// Notes rows that the processors compute.
    fn leaves(&mut self, rows: Range<u32>);
}

impl Course<'_> {
    /// Whether a device can make attempts: for dwells and smooth values of views that are not decided as a whole.
    pub(crate) fn suits_a_device(&self) -> bool {
        let is_iterated = self.prepared.as_ref().is_some_and(|prepared| prepared.reference.end != End::Trap);
        is_iterated && !self.slopes && !self.cycles && self.call.limit <= MOST_LIMIT
    }

    /// The number of the attempt of a device after another one, as far as it pays. Blocks of the fourth degree are for the processors alone.
    pub(crate) fn next_on_device(&self, before: usize) -> Option<usize> {
        self.next_of(before, |attempt| !matches!(attempt, Attempt::ByDeltas(tier) if Tier::is_quartic(tier)))
    }

    /// An attempt by deltas, by its number; `None` for another one. Its blocks are computed unless they are there.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn for_device(&self, number: usize) -> Result<Option<DeepAttempt<'_>>, Error> {
        let (Some(Attempt::ByDeltas(tier)), Some(prepared)) = (self.attempts.get(number).copied(), &self.prepared)
        else {
            return Ok(None);
        };
        let (shared, means) = (&self.call.points.shared, self.call.means());
        let table = if tier < Tier::IN_F64 {
            DeepTable::InF64(prepared.in_f64(tier, shared, means)?)
        } else {
            DeepTable::InPairs(prepared.in_pairs(tier, shared, means)?)
        };
        Ok(Some(DeepAttempt { tier: Tier::ALL[tier], setting: self.setting(prepared), table }))
    }

    /// Notes what a device did with so many samples.
    pub(crate) fn note(&self, tier: Tier, samples: u64, attempted: Attempted, buffers: &mut DeepBuffers) {
        let Attempted { decided, seconds, steps, blocks } = attempted;
        let report = TierReport { samples, decided, steps, blocks, ..TierReport::new(tier) };
        if let (Some(prepared), Some(number)) = (&self.prepared, Tier::ALL.iter().position(|other| *other == tier)) {
            // What blocks save is time, whichever engine takes it.
            prepared.blocks.measured.add(number, &TierReport { seconds, ..report });
        }
        add(&mut buffers.tiers, TierReport { device_samples: samples, device_seconds: seconds, ..report });
    }
}
