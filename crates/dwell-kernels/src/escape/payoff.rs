//! Decides where proofs that single points are attracted (`attracted.rs`) are worth their time.
//!
//! Most points of a bundle at some n are attracted in one view and none in another, and an attempt costs as much as hundreds of
//! steps. So the steps that attempts have saved and cost are summed for each n, with the last attempts counting most, and n at
//! which they cost more than they save is passed over, but for one bundle in [`PROBE`]. No dwell depends on it, only the time;
//! where proved points are told from undecided ones, every bundle is examined.
//! Measured, f64, every pixel, times as fast as without attempts and, in brackets, with an attempt for every bundle: seahorse
//! valley at a limit of 1000, 1.01 (0.74); [-1.5,0.5]x[-1,1] 8192^2 at 4096, 1.17 (1.05); the whole set 1024^2 at 50,000, 1.73
//! (1.54); at the Feigenbaum point at 20,000, 1.28 (1.20). In f32: 0.98 (0.69), 0.97 (0.80), 1.02 (1.02), 0.92 (0.44).

use super::attracted::{FIRST, LAST};
use crate::number::Number;

/// The cost of a step in which a return is looked for, in plain steps.
pub(super) const STEPS_OF_SEARCH: u64 = 4;
/// The cost of a step of a disc, in plain steps: it has a square root and a division.
pub(super) const STEPS_OF_DISC: u64 = 12;
/// One bundle in so many is examined where that has not paid lately.
const PROBE: u32 = 16;
/// The share of the balance that is forgotten at each attempt.
const FORGOTTEN: i64 = 8;
/// The n at which points are examined: powers of two.
const LEVELS: usize = (LAST / FIRST).ilog2() as usize + 1;

/// What attempts have saved and cost lately, by n.
#[derive(Debug, Default)]
pub(super) struct Payoff {
    /// Steps saved, less steps spent.
    balance: [i64; LEVELS],
    /// Bundles since the last one that was examined.
    passed: [u32; LEVELS],
}

impl Payoff {
    /// Whether to examine a bundle at n.
    pub(super) fn examines(&mut self, n: u32) -> bool {
        let level = level(n);
        self.passed[level] += 1;
        let examines = self.balance[level] >= 0 || self.passed[level] >= PROBE;
        if examines {
            self.passed[level] = 0;
        }
        examines
    }

    /// Records an attempt at n that proved so many points and cost so many steps.
    pub(super) fn record<N: Number>(&mut self, n: u32, limit: u32, proved: usize, cost: u64) {
        // Without a proof an orbit would be found to return to an earlier z after some more steps, the sooner the fewer bits its
        // numbers have. Here the factors are those that gave the least time in five views.
        let factor = if N::SIGNIFICAND_BITS > 24 { 8 } else { 3 };
        let saved = proved as u64 * u64::from(n.saturating_mul(factor).min(limit) - n);
        let balance = &mut self.balance[level(n)];
        *balance += saved.cast_signed() - cost.cast_signed() - *balance / FORGOTTEN;
    }
}

fn level(n: u32) -> usize {
    ((n / FIRST).ilog2() as usize).min(LEVELS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_do_not_pay_become_rare_and_those_that_do_come_back() {
        let mut payoff = Payoff::default();
        let mut examined = |pays: bool, bundles: u32| {
            let mut examined = 0;
            for _ in 0..bundles {
                if payoff.examines(1024) {
                    examined += 1;
                    payoff.record::<f64>(1024, u32::MAX, if pays { 10 } else { 0 }, 1000);
                }
            }
            examined
        };
        assert_eq!(examined(true, 100), 100);
        let failing = examined(false, 1600);
        assert!((100..200).contains(&failing), "{failing}");
        let paying = examined(true, 1600);
        assert!(paying > 1500, "{paying}");
    }
}
