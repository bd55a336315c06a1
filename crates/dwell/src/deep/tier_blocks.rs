//! The blocks of the tiers of a view: each table is made when it is first needed, by the thread that needs it, while others that need the same wait. What the tables take of memory and time, and
//! which of them pay.

use super::measured::Measured;
use super::report::Tier;
use crate::base::error::{Error, InputError};
use crate::base::limits::exhausted;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::quote::allowed_bytes;
use dwell_kernels::deep::NoTable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the memory is for, in messages.
const WHAT: &str = "the reference orbit and its blocks";

/// The tolerances of the blocks of the tiers that iterate deltas: 2^-26, 2^-32, 2^-44, 2^-84 and 2^-106 for those of the fourth degree, 2^-60 and 2^-88.
const TOLERANCES: [f64; Tier::OF_DELTAS] = [
    1.0 / (1_u64 << 26) as f64,
    1.0 / (1_u64 << 32) as f64,
    1.0 / (1_u64 << 44) as f64,
    1.0 / (1_u128 << 84) as f64,
    1.0 / (1_u128 << 106) as f64,
    1.0 / (1_u128 << 60) as f64,
    1.0 / (1_u128 << 88) as f64,
];

/// How many times as long as others blocks of the fourth degree take (fs-view25, one core of a Zen 3).
const OF_QUARTIC: f64 = 5.0;

/// The few pixels of a trial take up to five times as long as those of a full list, so that blocks are made for a trial where they pay so many times over.
const OF_TRIAL: f64 = 4.0;

/// The blocks of a tier.
type Slot<B> = Mutex<Option<Arc<B>>>;

/// The blocks of all tiers, of two types: for f64 and for pairs.
#[derive(Debug)]
pub(crate) struct TierBlocks<F, P> {
    in_f64: [Slot<F>; Tier::IN_F64],
    in_pairs: [Slot<P>; Tier::OF_DELTAS - Tier::IN_F64],
    most_bytes: u64,
    used: Mutex<Used>,
    pub(super) measured: Measured,
}

/// What the orbit and the blocks took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub(super) bytes: u64,
    /// The tiers whose blocks are counted, as bits by their numbers.
    tiers: u32,
    pub(super) of_reference: Duration,
    pub(super) of_blocks: Duration,
}

impl<F, P> TierBlocks<F, P> {
    /// No blocks yet, beside an orbit that took so many bytes and so long.
    pub(super) fn new(most_bytes: u64, bytes: u64, of_reference: Duration) -> Self {
        Self {
            in_f64: Default::default(),
            in_pairs: Default::default(),
            most_bytes,
            used: Mutex::new(Used { bytes, of_reference, ..Used::default() }),
            measured: Measured::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the orbit and the blocks took up to now.
    pub(super) fn used(&self) -> Used {
        *self.lock()
    }

    /// Takes so many bytes for something else, if that leaves `others`.
    pub(super) fn takes(&self, bytes: u64, others: u64) -> bool {
        let mut used = self.lock();
        let takes = used.bytes.saturating_add(bytes).saturating_add(others) <= self.most_bytes;
        if takes {
            used.bytes += bytes;
        }
        takes
    }

    /// The first of some lists of tiers whose blocks fit into the memory. `bytes` has those of a tier.
    pub(super) fn fitting(&self, lists: &[&'static [usize]], bytes: impl Fn(usize) -> u64) -> Option<&'static [usize]> {
        let used = self.used();
        let more = |list: &[usize]| {
            let missing = list.iter().filter(|tier| used.tiers >> **tier & 1 == 0);
            missing.map(|tier| bytes(*tier)).sum::<u64>()
        };
        lists.iter().find(|list| used.bytes + more(list) <= self.most_bytes).copied()
    }

    /// Whether a tier is of use after another one, and its blocks are made, or pay for what the tier before leaves of a view of so many pixels.
    pub(super) fn pays(&self, tier: usize, before: usize, pixels: u64) -> bool {
        let pays = |seconds| self.measured.pays(tier, before, seconds, pixels);
        self.measured.is_of_use(tier, before) && self.missing(tier).is_none_or(pays)
    }

    /// Whether it would be worth to know what the last tier takes, before blocks of a tier are made for what the tier before leaves.
    pub(super) fn needs_sample(&self, tier: usize, before: usize) -> bool {
        self.missing(tier).is_some_and(|seconds| self.measured.needs_sample(tier, before, seconds))
    }

    /// Whether some pixels should go to a tier of f64 first, or from there to blocks of the fourth degree, so that it is known which of the two tiers is better for the others.
    pub(super) fn needs_trial(&self, tier: usize, pixels: u64) -> bool {
        if self.measured.is_known(tier) {
            return false;
        }
        let pays = |seconds: f64| self.measured.pays(tier, Tier::QUARTIC - 1, OF_TRIAL * seconds, pixels);
        tier != Tier::QUARTIC || self.missing(tier).is_none_or(pays)
    }

    /// The time that the blocks of a tier will take, unless they are made.
    fn missing(&self, tier: usize) -> Option<f64> {
        let used = self.used();
        // Blocks of every tier of the second degree take about as long.
        let weight = |tier: usize| if Tier::is_quartic(tier) { OF_QUARTIC } else { 1.0 };
        let of_made: f64 = (0..Tier::OF_DELTAS).filter(|tier| used.tiers >> tier & 1 != 0).map(weight).sum();
        (used.tiers >> tier & 1 == 0).then(|| used.of_blocks.as_secs_f64() / of_made.max(1.0) * weight(tier))
    }

    /// The blocks of a tier in f64, by its number in [`Tier::ALL`]: made with its tolerance, of at most so many bytes, if they are not there.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when `make` was stopped; [`Error::Input`] when the blocks take more memory than is allowed.
    pub(super) fn in_f64(
        &self,
        tier: usize,
        bytes: u64,
        make: impl FnOnce(f64) -> Result<F, NoTable>,
    ) -> Result<Arc<F>, Error> {
        self.made(&self.in_f64[tier], tier, bytes, make)
    }

    /// As [`Self::in_f64`], in pairs of f64.
    ///
    /// # Errors
    /// As [`Self::in_f64`].
    pub(super) fn in_pairs(
        &self,
        tier: usize,
        bytes: u64,
        make: impl FnOnce(f64) -> Result<P, NoTable>,
    ) -> Result<Arc<P>, Error> {
        self.made(&self.in_pairs[tier - self.in_f64.len()], tier, bytes, make)
    }

    fn made<B>(
        &self,
        slot: &Slot<B>,
        tier: usize,
        bytes: u64,
        make: impl FnOnce(f64) -> Result<B, NoTable>,
    ) -> Result<Arc<B>, Error> {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = slot.as_ref() {
            return Ok(Arc::clone(found));
        }
        let began = Instant::now();
        {
            let mut used = self.lock();
            if used.tiers >> tier & 1 == 0 {
                if used.bytes + bytes > self.most_bytes {
                    return Err(too_large(used.bytes + bytes, self.most_bytes));
                }
                used.bytes += bytes;
                used.tiers |= 1 << tier;
            }
        }
        let made = match make(TOLERANCES[tier]) {
            Ok(made) => Arc::new(made),
            Err(NoTable::Stopped) => return Err(Error::Interrupted),
            Err(NoTable::Memory) => return Err(exhausted(bytes as usize, WHAT).into()),
        };
        *slot = Some(Arc::clone(&made));
        self.lock().of_blocks += began.elapsed();
        Ok(made)
    }
}

/// The error of an orbit or of blocks that take more memory than is allowed.
pub(super) fn too_large(needed_bytes: u64, most_bytes: u64) -> Error {
    let problem = Problem::Memory { what: WHAT.to_owned(), needed_bytes, allowed_bytes: Some(most_bytes) };
    let accepted = format!("at most {} here, half of what is allowed", allowed_bytes(most_bytes));
    InputError::new(problem).about(Parameter::MaxIterations).accepts(accepted).into()
}
