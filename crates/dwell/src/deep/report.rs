//! What the computation of a deep view did.

use serde::Serialize;

/// The methods by which dwells of a deep view are proved, the cheapest first. Where one does not decide, the next is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Tier {
    /// Deltas in f64, blocks with a tolerance of 2^-26: for dwells alone.
    F64Coarse,
    /// Deltas in f64, blocks with a tolerance of 2^-32: for smooth values.
    F64Medium,
    /// Deltas in f64, blocks with a tolerance of 2^-44.
    F64Fine,
    /// Deltas in pairs of f64, blocks of the fourth degree with a tolerance of 2^-84: where what the tiers before leave open takes longer than these blocks.
    PairsQuartic,
    /// As [`Self::PairsQuartic`], with a tolerance of 2^-106: for what that leaves open.
    PairsQuarticFine,
    /// Deltas in pairs of f64, blocks with a tolerance of 2^-60.
    PairsMedium,
    /// Deltas in pairs of f64, blocks with a tolerance of 2^-88.
    PairsFine,
    /// Deltas in f64 by single steps: other formulas than z^2 + c, and Julia sets, where there is no reference or no memory for blocks.
    F64Steps,
    /// Deltas in pairs of f64 by single steps.
    PairsSteps,
    /// Iteration of the point itself in fixed point.
    FixedPoint,
    /// Iteration of the point itself in arbitrary precision, with as many bits as it takes.
    ArbitraryPrecision,
}

impl Tier {
    /// All tiers, the cheapest first.
    pub const ALL: [Self; Self::COUNT] = [
        Self::F64Coarse,
        Self::F64Medium,
        Self::F64Fine,
        Self::PairsQuartic,
        Self::PairsQuarticFine,
        Self::PairsMedium,
        Self::PairsFine,
        Self::F64Steps,
        Self::PairsSteps,
        Self::FixedPoint,
        Self::ArbitraryPrecision,
    ];
    /// The number of tiers.
    pub const COUNT: usize = 11;
    /// The tiers that iterate deltas with blocks, which come first.
    pub(crate) const OF_DELTAS: usize = 7;
    /// The tiers in f64, which come first of those.
    pub(crate) const IN_F64: usize = 3;
    /// The numbers of the tiers with blocks of the fourth degree.
    pub(crate) const QUARTIC: usize = 3;
    pub(crate) const QUARTIC_FINE: usize = 4;

    /// Whether the tier of this number is one in pairs that has cells, where the first tier has some: one of the two that may come next.
    pub(crate) fn has_cells_of_pairs(number: usize) -> bool {
        number == Self::QUARTIC || number == Self::PairsMedium as usize
    }

    /// Whether the tier of this number is the first of some list: of dwells, or of smooth values.
    pub(crate) fn is_first(number: usize) -> bool {
        number <= Self::F64Medium as usize
    }

    /// Whether the tier of this number has blocks of the fourth degree.
    pub(crate) fn is_quartic(number: usize) -> bool {
        matches!(number, Self::QUARTIC | Self::QUARTIC_FINE)
    }
}

/// What a tier did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TierReport {
    /// The tier.
    pub tier: Tier,
    /// The samples that came to it.
    pub samples: u64,
    /// Those that it decided.
    pub decided: u64,
    /// The time of all threads in seconds, blocks aside.
    pub seconds: f64,
    /// Steps, in the range of f64 and below it.
    pub steps: u64,
    /// Blocks that replaced steps.
    pub blocks: u64,
    /// Cells of the plane that replaced steps, of orbits that had parted from the reference.
    pub cells: u64,
    /// Those of the samples that a device iterated.
    pub device_samples: u64,
    /// The time of the device in seconds.
    pub device_seconds: f64,
    /// The share of its greatest rate of f64 that steps and blocks took in this time, 0 where that rate is not known.
    pub device_share_of_peak: f64,
}

/// What the computation of a deep view did. Its dwells do not depend on any of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeepReport {
    /// The length of the reference orbit.
    pub reference_length: u64,
    /// Why it ends there: `period`, `escape`, `limit`, or `trap` where no point of the view ever escapes; `none` where there is no reference.
    pub reference_end: &'static str,
    /// Bits after the point of the reference orbit.
    pub reference_bits: u64,
    /// The bytes that the reference orbit takes.
    pub reference_bytes: u64,
    /// Whether it is compressed: kept as every sixteenth value, from which the others are computed again.
    pub reference_compressed: bool,
    /// The time of the reference orbit in seconds.
    pub reference_seconds: f64,
    /// The time of the tables of blocks in seconds.
    pub blocks_seconds: f64,
    /// Samples whose orbit has some |z_n| that equals R as far as very many bits tell. It is taken to be R, which is no escape, and their dwells are not proved.
    pub unproved: u64,
    /// The tiers that were used, the cheapest first.
    pub tiers: Vec<TierReport>,
}

impl DeepReport {
    /// What is computed once for all pixels, in seconds.
    pub(crate) fn of_preparing(&self) -> f64 {
        self.reference_seconds + self.blocks_seconds
    }

    /// That of a view that has no reference.
    pub(crate) fn without_reference() -> Self {
        Self {
            reference_length: 0,
            reference_end: "none",
            reference_bits: 0,
            reference_bytes: 0,
            reference_compressed: false,
            reference_seconds: 0.0,
            blocks_seconds: 0.0,
            unproved: 0,
            tiers: Vec::new(),
        }
    }

    /// Adds what a later call did. The reference is that of the later one.
    pub(crate) fn add(&mut self, later: Self) {
        let mut tiers = std::mem::take(&mut self.tiers);
        for of_tier in &later.tiers {
            match tiers.iter_mut().find(|own| own.tier == of_tier.tier) {
                Some(own) => own.add(of_tier),
                None => tiers.push(*of_tier),
            }
        }
        tiers.sort_by_key(|of_tier| of_tier.tier);
        *self = Self {
            // Both are totals.
            reference_seconds: self.reference_seconds.max(later.reference_seconds),
            blocks_seconds: self.blocks_seconds.max(later.blocks_seconds),
            unproved: self.unproved + later.unproved,
            tiers,
            ..later
        };
    }
}

impl TierReport {
    /// Nothing, for a tier.
    pub(crate) fn new(tier: Tier) -> Self {
        Self {
            tier,
            samples: 0,
            decided: 0,
            seconds: 0.0,
            steps: 0,
            blocks: 0,
            cells: 0,
            device_samples: 0,
            device_seconds: 0.0,
            device_share_of_peak: 0.0,
        }
    }

    /// Adds what the same tier did elsewhere.
    pub(crate) fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.decided += other.decided;
        self.seconds += other.seconds;
        self.steps += other.steps;
        self.blocks += other.blocks;
        self.cells += other.cells;
        self.device_samples += other.device_samples;
        let [own, of_other] = [&*self, other].map(|of| of.device_share_of_peak * of.device_seconds);
        self.device_seconds += other.device_seconds;
        self.device_share_of_peak =
            if self.device_seconds > 0.0 { (own + of_other) / self.device_seconds } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_peak_are_averages_over_the_time_of_the_device() {
        let report = |seconds, share| TierReport {
            device_seconds: seconds,
            device_share_of_peak: share,
            ..TierReport::new(Tier::F64Coarse)
        };
        let mut sum = report(0.0, 0.0);
        sum.add(&report(1.0, 0.5));
        sum.add(&report(3.0, 0.1));
        sum.add(&report(0.0, 0.0));
        assert!((sum.device_share_of_peak - 0.2).abs() < 1e-15, "{sum:?}");
    }
}
