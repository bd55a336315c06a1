//! Which attempt follows another one.

use super::{Attempt, Course};
use crate::deep::prepared::Prepared;
use crate::deep::report::Tier;
use std::sync::Arc;

impl Course<'_> {
    /// The number of the attempt after another one, as far as it pays.
    pub(crate) fn next(&self, before: usize) -> Option<usize> {
        let pixels = self.pixels();
        let pays = |number: &usize| match (self.attempts[*number], self.attempts[before]) {
            (Attempt::ByDeltas(tier), _) if self.is_detour(tier) => false,
            (Attempt::ByDeltas(tier), Attempt::ByDeltas(before)) => match (&self.prepared, &self.orbits) {
                (Some(prepared), _) => prepared.blocks.pays(tier, before, pixels),
                (None, Some(orbits)) => orbits.blocks.pays(tier, before, pixels),
                (None, None) => true,
            },
            (Attempt::InFixedPoint(attempt), _) => self.call.points.shared.fixed_attempts.pays(attempt),
            _ => true,
        };
        (before + 1..self.attempts.len()).find(pays)
    }

    /// Whether pairs of f64 have cells of the plane, after a first tier that has some.
    pub(super) fn has_cells_of_pairs(&self) -> bool {
        let has_cells = |prepared: &Arc<Prepared>| prepared.cells_of_pairs(&self.call.points.shared).is_some();
        !self.slopes
            && self.number_of(Attempt::ByDeltas(Tier::PairsMedium as usize)).is_some()
            && self.prepared.as_ref().is_some_and(has_cells)
    }

    /// Whether a tier is one of f64 after a first one that has cells: pairs of f64 have cells, too, and decide more in less time.
    pub(super) fn is_detour(&self, tier: usize) -> bool {
        tier < Tier::IN_F64 && !Tier::is_first(tier) && self.has_cells_of_pairs()
    }

    /// The pixels of the view.
    fn pixels(&self) -> u64 {
        self.call.points.pixels()
    }

    /// The attempt that some of the open pixels should be given first, before the one after another, so that its time is known.
    pub(crate) fn sampled(&self, before: usize) -> Option<usize> {
        let blocks = &self.prepared.as_ref()?.blocks;
        let of_tier = |tier: usize| self.attempts.iter().position(|attempt| *attempt == Attempt::ByDeltas(tier));
        let quartic = of_tier(Tier::QUARTIC);
        if let (Some(quartic), Some(next)) = (quartic, self.next(before)) {
            let trial = [(Tier::QUARTIC - 1, next), (Tier::QUARTIC, quartic)];
            if before == quartic || next == quartic {
                return None;
            }
            if self.attempts[next] == Attempt::ByDeltas(Tier::QUARTIC - 1)
                && let Some((_, number)) = trial.into_iter().find(|(tier, _)| blocks.needs_trial(*tier, self.pixels()))
            {
                return Some(number);
            }
        }
        let is_next = |number: &usize| {
            let is_detour = matches!(self.attempts[*number], Attempt::ByDeltas(tier) if self.is_detour(tier));
            Some(*number) != quartic && !is_detour
        };
        let next = (before + 1..self.attempts.len()).find(is_next)?;
        let (Attempt::ByDeltas(tier), Attempt::ByDeltas(before)) = (self.attempts[next], self.attempts[before]) else {
            return None;
        };
        let last = self.attempts.iter().rposition(|attempt| matches!(attempt, Attempt::ByDeltas(_)))?;
        blocks.needs_sample(tier, before).then_some(last)
    }

    /// The least number of pixels that an attempt takes as one list: fewer leave vectors empty.
    pub(crate) fn least_list(&self, number: usize) -> usize {
        match self.attempts[number] {
            Attempt::ByDeltas(_) | Attempt::BySteps(_) => 32,
            Attempt::InFixedPoint(_) => self.at_once(),
            Attempt::Exactly => 1,
        }
    }

    /// Whether threads take the pixels of an attempt from a queue.
    pub(crate) fn is_queued(&self, number: usize) -> bool {
        matches!(self.attempts[number], Attempt::InFixedPoint(_))
    }
}
