//! What is known of one orbit in fixed point, step by step.

use super::circle::compared_with_radius;
use super::of_point::OfPoint;
use super::running_error::RunningError;
use super::trap::{self, Trap};
use super::{Goal, LOOKED_AT, ROUNDING, TOO_MUCH};
use crate::deep::extended::Extended;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Complex;
use crate::deep::orbit::Found;
use crate::deep::values::{FAR_SQUARED, MOST_STEPS, Values, values};
use std::cmp::Ordering;

/// What the certainty of a comparison takes of R^2: an error of at most 1e-9 changes |z|^2 by less than a millionth of bounds of at least 4.
const CERTAINLY: f64 = 1.0 - 1e-6;

/// z in f64, to 52 bits of its larger part, of any magnitude, and cut off to limbs.
pub(super) struct At<W, L> {
    pub(super) z: Complex<f64>,
    pub(super) wide: W,
    pub(super) limbs: L,
}

/// An orbit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follower {
    /// The number of the step that gave z: n of z_n.
    pub(super) n: u64,
    pub(super) error: RunningError,
    pub(super) derivative: Option<OfPoint>,
    pub(super) trap: Trap,
    pub(super) escaped: Option<u64>,
}

impl Follower {
    /// At z_1 in units of 2^unit, of which that of the limbs of a point is so many.
    pub(super) fn new(goal: &Goal<'_>, unit: i32, of_limbs: f64) -> Self {
        Self {
            n: 1,
            error: RunningError::new(unit, goal.error * of_limbs, goal.of_c() * of_limbs),
            derivative: goal.units.map(|(_, scale)| OfPoint::new(scale)),
            trap: Trap::new(),
            escaped: None,
        }
    }

    /// What is found at z, if anything; otherwise the bounds are those after the next step.
    #[inline(always)]
    pub(super) fn look(
        &mut self,
        goal: &Goal<'_>,
        at: &At<impl Fn() -> Extended<f64>, impl Fn() -> [Fixed; 2]>,
    ) -> Option<Found> {
        let z = at.z;
        let square = z.square();
        let (modulus, off) = (square.sqrt(), self.error.absolute());
        let doubt = (2.0 * modulus + off) * off + square * ROUNDING;
        let is_within = |bound: f64| square < bound - doubt - bound * ROUNDING;
        let is_beyond = |bound: f64| square > bound + doubt + bound * ROUNDING;
        if off.is_nan() || off > TOO_MUCH {
            return Some(Found::Undecided);
        }
        if self.escaped.is_none() && !is_within(goal.escape) {
            let of_limbs = || compared_with_radius(&(at.limbs)(), goal.exact_escape, self.error.bound());
            match if is_beyond(goal.escape) { Some(Ordering::Greater) } else { of_limbs() } {
                Some(Ordering::Greater) => self.escaped = Some(self.n),
                Some(_) => {}
                None => return Some(Found::Undecided),
            }
        }
        if let Some(dwell) = self.escaped {
            if !goal.smooth && goal.units.is_none() {
                return Some(Found::Escapes(dwell, Values::default()));
            }
            if is_beyond(FAR_SQUARED) {
                let units = goal.units.as_ref().map(|(units, _)| units).zip(self.derivative.map(OfPoint::widened));
                let values = values(z, off, goal.smooth.then_some(self.n), units);
                return Some(values.map_or(Found::Undecided, |values| Found::Escapes(dwell, values)));
            }
            if !is_within(FAR_SQUARED) || self.n - dwell > MOST_STEPS {
                return Some(Found::Undecided);
            }
        } else if self.n == goal.limit {
            return Some(Found::Stays);
        } else {
            self.trap.keep_within(goal.escape, square);
            if modulus < trap::NEAR && self.trap.passes((at.wide)(), &self.error) {
                return Some(Found::Stays);
            }
        }
        if let Some(derivative) = &mut self.derivative {
            derivative.step(&at.wide, (z, modulus), &self.error);
        }
        self.error.step(&at.wide, modulus);
        if let Some(attempt) = &mut self.trap.attempt {
            attempt.rho.step(&at.wide, modulus);
        }
        self.n += 1;
        None
    }

    /// The greatest |z|^2 at which it is certain that the orbit is within R and 256, and an attempt goes on.
    pub(super) fn certainly_within(&self, goal: &Goal<'_>) -> f64 {
        goal.escape.min(FAR_SQUARED) * if self.trap.attempt.is_some() { trap::WITHIN } else { CERTAINLY }
    }

    /// Whether it is certain that [`Self::look`] finds nothing at z before its escape, of which |z|^2 is certainly at most `within`, and bounds stay in the range that they are kept in: they are then those after
    /// the next step.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, z: Complex<f64>, within: f64) -> bool {
        let square = z.square();
        let modulus = square.sqrt();
        let error = self.error.ordinary_step(modulus, TOO_MUCH);
        let disc = match &self.trap.attempt {
            Some(attempt) => attempt.rho.ordinary_step(modulus, trap::MOST).map(Some),
            None => Some(None),
        };
        let derivative = match &self.derivative {
            Some(derivative) => derivative.ordinary_step((z, modulus), &self.error).map(Some),
            None => Some(None),
        };
        let (true, Some(error), Some(disc), Some(derivative)) =
            (square < within && square > LOOKED_AT, error, disc, derivative)
        else {
            return false;
        };
        self.error.m = error;
        if let Some((attempt, m)) = self.trap.attempt.as_mut().zip(disc) {
            attempt.rho.m = m;
        }
        if let Some((own, after)) = self.derivative.as_mut().zip(derivative) {
            own.narrow = after;
        }
        self.n += 1;
        true
    }

    /// For z with so many bits fewer, or more where that is negative, cut off to within `of_cut` of the new units, where a step adds `of_step` of those.
    pub(super) fn cut(&mut self, bits: i32, of_cut: f64, of_step: f64) {
        self.error = self.error.cut(bits, of_cut, of_step);
        if let Some(attempt) = &mut self.trap.attempt {
            attempt.rho = attempt.rho.cut(bits, of_cut, of_step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Iterated;
    use super::*;
    use crate::deep::extended::Bound;
    use crate::deep::leading::pair;
    use crate::deep::limbs::Stepper;
    use crate::formula::Fold;
    use crate::test_random::Random;
    use std::sync::atomic::AtomicBool;

    /// A number cut off to its uppermost limbs.
    fn cut(part: &Fixed, limbs: usize) -> Fixed {
        let from = part.limbs.len() - limbs;
        Fixed { negative: part.negative, limbs: part.limbs[from..].to_vec() }
    }

    fn modulus(z: &[Fixed; 2]) -> Bound {
        Bound::modulus(pair(&z[0], &z[1]))
    }

    /// Orbits of points in the unit disc, with six limbs and, from some step on, with four: the difference is within the bound.
    #[test]
    fn orbits_that_are_cut_off_are_within_their_bound() {
        let (mut random, stop) = (Random(61), AtomicBool::new(false));
        let (mut escape, mut steps, mut too_small) = (Fixed::zero(6), 0, 0);
        escape.limbs[5] = 4;
        let goal = Goal {
            iterated: Iterated::default(),
            limbs: 6,
            error: 0.0,
            escape: 4.0,
            exact_escape: &escape,
            limit: 1 << 40,
            smooth: false,
            units: None,
            stop: &stop,
        };
        for first in 1..40 {
            // The last two limbs of c are 0, so that it is the same number in four.
            let c = [(); 2].map(|()| {
                let limbs = vec![0, 0, random.next(), random.next(), random.next(), 0];
                Fixed { negative: random.next().is_multiple_of(2), limbs }
            });
            let (mut long, mut of_long) = (c.clone(), Stepper::new(Fold::None, c.each_ref()));
            let short_c = c.each_ref().map(|part| cut(part, 4));
            let mut of_short = Stepper::new(Fold::None, short_c.each_ref());
            let mut follower = Follower::new(&goal, c[0].unit(), 1.0);
            let mut short = None;
            for n in 1..300 {
                let at = |z: &[Fixed; 2]| {
                    let wide = Extended::of(pair(&z[0], &z[1]));
                    (wide.in_range().unwrap(), wide)
                };
                if n == first {
                    follower.cut(128, 2.0, RunningError::of_step(0.0));
                    short = Some(long.each_ref().map(|part| cut(part, 4)));
                }
                if let Some(z) = &short {
                    let mut off = long.clone();
                    for (part, other) in off.iter_mut().zip(z) {
                        let limbs = [&[0, 0], other.limbs.as_slice()].concat();
                        part.add(&Fixed { negative: !other.negative, limbs });
                    }
                    let (off, bound) = (modulus(&off), follower.error.bound());
                    assert!(off.below(bound), "{n} of {first}: {off:?}, {bound:?}");
                    steps += 1;
                    // Where it was cut off, hardly any is as small as the bound without that.
                    too_small += usize::from(n == first && Bound::new(0.1, z[0].unit()).below(off));
                }
                let (z, wide) = at(short.as_ref().unwrap_or(&long));
                if follower.look(&goal, &At { z, wide: || wide, limbs: || long.clone() }).is_some() {
                    break;
                }
                of_long.step(&mut long);
                if let Some(z) = &mut short {
                    of_short.step(z);
                }
            }
        }
        assert!(steps > 500 && too_small > 10, "{steps} steps, {too_small}");
    }
}
