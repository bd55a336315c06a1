//! Which tiers pay: the blocks of a tier cost the same for one pixel as for all, so that few pixels are better left to the next one.

use super::report::{Tier, TierReport};
use std::sync::{Mutex, PoisonError};

/// What a pixel costs more in the tier after f64 of 2^-44, and in that after pairs of 2^-60, than it cost in the tier before these: 8 to 45 times as much, and 2 to 4
/// times (of the places of docs/deep.md, one core of a Zen 5). Where it is not known, more blocks are the better error, so these are upper bounds.
const OF_F64_FINE: f64 = 50.0;
const OF_PAIRS_MEDIUM: f64 = 10.0;
/// What blocks of the fourth degree save of the tiers after them for a pixel, of its time in the tier before: at least so many times as much (on one core of a Xeon 2 at kf-1e50, 4 at fs-view05, 60 at fs-view25).
const OF_QUARTIC: f64 = 2.0;
/// What such blocks with a finer tolerance save of the tiers after them for a pixel that the first ones leave, of the time of a pixel in the first: pairs of 2^-88 take 4 times as long at fs-view05, 8 at shallow-seahorse-1e13 and 60 to 260 at
/// fs-view25 (one core of a Zen 3), and fixed point more than that. Where they decide little, as at fs-view05, they are a 30th of the whole.
const OF_QUARTIC_FINE: f64 = 40.0;
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
            Tier::PairsQuartic => OF_QUARTIC,
            Tier::PairsQuarticFine => OF_QUARTIC_FINE,
            Tier::PairsMedium => OF_PAIRS_MEDIUM,
            _ => return true,
        };
        let reports = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = |of_tier: &TierReport| (of_tier.samples - of_tier.decided + 1) as f64 / (of_tier.samples + 1) as f64;
        // The share of all samples that comes here, of those of which it is known. All of them came to the first tier, and of a trial of what that left, few came to the tier before.
        let first = reports[..Tier::IN_F64].iter().max_by_key(|of_tier| of_tier.samples).unwrap_or(&reports[0]);
        let TierReport { samples, decided, .. } = reports[before];
        let is_second = before == Tier::QUARTIC - 1 && first.tier != Tier::ALL[before];
        let share = if is_second {
            left(first) * left(&reports[before])
        } else {
            (samples - decided + 1) as f64 / (first.samples + 1) as f64
        };
        let each = |of_tier: &TierReport| of_tier.seconds / (of_tier.samples + 1) as f64;
        let last = reports[LAST];
        let saved = if last.samples < FEWEST || Tier::is_quartic(tier) {
            factor * each(&reports[before])
        } else {
            OF_LAST * each(&last)
        };
        block_seconds < saved * share * pixels as f64
    }

    /// Whether the time of a pixel in a tier is known.
    pub(super) fn is_known(&self, tier: usize) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[tier].samples >= FEWEST
    }

    /// Whether a tier may decide what the tier before leaves, and is no detour: after blocks of the fourth degree, finer ones decide more, those of 2^-60 nothing, and those of 2^-88 little that finer ones leave; and f64
    /// before these takes longer in some views than what it decides takes with them.
    pub(super) fn is_of_use(&self, tier: usize, before: usize) -> bool {
        match (before, Tier::ALL[tier]) {
            (Tier::QUARTIC_FINE, _) => return false,
            (Tier::QUARTIC, of_tier) => return of_tier != Tier::PairsMedium,
            (_, Tier::PairsQuarticFine) => return false,
            _ => {}
        }
        let are_known = || [Tier::QUARTIC - 1, Tier::QUARTIC].into_iter().all(|tier| self.is_known(tier));
        if tier != Tier::QUARTIC - 1 || !are_known() {
            return true;
        }
        let reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let [in_f64, quartic] = [reports[Tier::QUARTIC - 1], reports[Tier::QUARTIC]];
        in_f64.seconds <= quartic.seconds / quartic.samples as f64 * in_f64.decided as f64
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
        assert!(measured.pays(5, 2, 0.1, 1_000_000));
        assert!(!measured.pays(5, 2, 0.5, 1_000_000));
        // Of the fourth degree, where twice the time before is more than the blocks take; and none of a larger tolerance after them.
        assert!(measured.pays(3, 2, 0.035, 1_000_000) && !measured.pays(3, 2, 0.05, 1_000_000));
        assert!(!measured.is_of_use(5, 3) && measured.is_of_use(6, 3) && measured.is_of_use(5, 2));
        // Finer ones after them alone, and nothing in pairs after those.
        assert!(measured.is_of_use(4, 3) && !measured.is_of_use(4, 2) && !measured.is_of_use(6, 4));
        // The last one takes 100 microseconds for each of the 2 %.
        assert!(
            measured.needs_sample(2, 0, 0.1) && !measured.needs_sample(2, 0, 1e-5) && !measured.needs_sample(6, 5, 1.0)
        );
        measured.add(6, &report(6, 20, 20, 0.002));
        assert!(!measured.needs_sample(2, 0, 0.1));
        assert!(measured.pays(2, 0, 0.1, 100_000) && !measured.pays(2, 0, 0.2, 100_000));
        assert!((measured.seconds(20_000) - 0.032).abs() < 1e-9);
        // The last one is always there, and so is the first.
        assert!(measured.pays(6, 5, 1e9, 1) && measured.pays(0, 0, 1e9, 1));
        // 190 pixels took 4 ms in f64, and a pixel takes less than a 190th of that, or more, with blocks of the fourth degree.
        assert!(!measured.is_known(3));
        measured.add(3, &report(3, 16, 16, 16.0 * 0.000_022));
        assert!(measured.is_known(3) && measured.is_of_use(2, 0));
        measured.add(3, &report(3, 16, 16, 16.0 * 0.000_018));
        assert!(!measured.is_of_use(2, 0));
        // Of 1,000 pixels, each of a millisecond, 50 are left of a view with 100 times as many: 5,000, which take 40 times as long.
        let measured = Measured::default();
        measured.add(0, &report(0, 1_000, 0, 0.1));
        measured.add(3, &report(3, 1_000, 950, 1.0));
        assert!(measured.pays(4, 3, 180.0, 100_000) && !measured.pays(4, 3, 240.0, 100_000));
    }
}
