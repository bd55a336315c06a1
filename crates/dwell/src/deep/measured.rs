//! Which tiers pay: the blocks of a tier cost the same for one pixel as for all, so that few pixels are better left to the next one.

use super::report::{Tier, TierReport};
use std::sync::{Mutex, PoisonError};

/// What a pixel costs more in the tier after f64 of 2^-44, and in that after pairs of 2^-60, than it cost in the tier before these: 8 to 45 times as much, and 2 to 4
/// times (of the places of docs/deep.md, one core of a Zen 5). Where it is not known, more blocks are the better error, so these are upper bounds.
const OF_F64_FINE: f64 = 50.0;
const OF_PAIRS_MEDIUM: f64 = 10.0;
/// What a tier saves of the time of the last one, where that is known.
const OF_LAST: f64 = 0.7;
/// The last tier with blocks, which is always used, and the samples from which its time is known.
const LAST: usize = Tier::OF_DELTAS - 1;
const FEWEST: u64 = 16;
/// Blocks are worth a sample of the last tier if they take this share of the time of the tier before.
const DEAR: f64 = 0.05;

/// What the tiers of a view took up to now.
#[derive(Debug)]
pub(super) struct Measured(Mutex<[TierReport; Tier::OF_DELTAS]>);

impl Default for Measured {
    fn default() -> Self {
        Self(Mutex::new(std::array::from_fn(|tier| TierReport::new(Tier::ALL[tier]))))
    }
}

impl Measured {
    pub(super) fn add(&self, tier: usize, report: &TierReport) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[tier].add(report);
    }

    /// The time that all tiers take for so many pixels, of all threads together; 0 before any was computed.
    pub(super) fn seconds(&self, pixels: u64) -> f64 {
        let reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = reports.iter().map(|of_tier| of_tier.samples).max().unwrap_or(0);
        reports.iter().map(|of_tier| of_tier.seconds).sum::<f64>() / all.max(1) as f64 * pixels as f64
    }

    /// Whether blocks of a tier that take some seconds pay for what the tier before leaves of a view of so many pixels.
    pub(super) fn pays(&self, tier: usize, before: usize, block_seconds: f64, pixels: u64) -> bool {
        let factor = match Tier::ALL[tier] {
            Tier::F64Fine => OF_F64_FINE,
            Tier::PairsMedium => OF_PAIRS_MEDIUM,
            _ => return true,
        };
        let reports = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = reports.iter().map(|of_tier| of_tier.samples).max().unwrap_or(0);
        let TierReport { samples, decided, .. } = reports[before];
        // The share of all samples that comes here, of those of which it is known.
        let share = (samples - decided + 1) as f64 / (all + 1) as f64;
        let each = |of_tier: &TierReport| of_tier.seconds / (of_tier.samples + 1) as f64;
        let last = reports[LAST];
        let saved = if last.samples < FEWEST { factor * each(&reports[before]) } else { OF_LAST * each(&last) };
        block_seconds < saved * share * pixels as f64
    }

    /// Whether some pixels should go to the last tier first, so that its time is known: where blocks of a tier take long, and may not pay.
    pub(super) fn needs_sample(&self, tier: usize, before: usize, block_seconds: f64) -> bool {
        let reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_optional = matches!(Tier::ALL[tier], Tier::F64Fine | Tier::PairsMedium);
        is_optional && reports[LAST].samples < FEWEST && block_seconds > DEAR * reports[before].seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_pay_for_many_pixels() {
        let measured = Measured::default();
        let report = |tier: usize, samples, decided, seconds| TierReport {
            samples,
            decided,
            seconds,
            ..TierReport::new(Tier::ALL[tier])
        };
        // 2 % of 10,000 samples of a microsecond are left open.
        measured.add(0, &report(0, 10_000, 9_800, 0.01));
        assert!(measured.pays(2, 0, 0.1, 1_000_000));
        assert!(!measured.pays(2, 0, 0.1, 10_000));
        // Of these, 10 of 20 microseconds.
        measured.add(2, &report(2, 200, 190, 0.004));
        assert!(measured.pays(3, 2, 0.1, 1_000_000));
        assert!(!measured.pays(3, 2, 0.5, 1_000_000));
        // The last one takes 100 microseconds for each of the 2 %.
        assert!(
            measured.needs_sample(2, 0, 0.1) && !measured.needs_sample(2, 0, 1e-5) && !measured.needs_sample(4, 3, 1.0)
        );
        measured.add(4, &report(4, 20, 20, 0.002));
        assert!(!measured.needs_sample(2, 0, 0.1));
        assert!(measured.pays(2, 0, 0.1, 100_000) && !measured.pays(2, 0, 0.2, 100_000));
        assert!((measured.seconds(20_000) - 0.032).abs() < 1e-9);
        // The last one is always there, and so is the first.
        assert!(measured.pays(4, 3, 1e9, 1) && measured.pays(0, 0, 1e9, 1));
    }
}
