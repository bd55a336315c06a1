//! What is known of one orbit in fixed point, step by step.

use super::of_point::OfPoint;
use super::running_error::RunningError;
use super::trap::{self, Trap};
use super::{Goal, ROUNDING, TOO_MUCH};
use crate::deep::extended::Extended;
use crate::deep::mantissa::Complex;
use crate::deep::orbit::Found;
use crate::deep::values::{FAR_SQUARED, MOST_STEPS, Values, values};

/// z in f64, to 52 bits of its larger part, and of any magnitude.
pub(super) struct At<W> {
    pub(super) z: Complex<f64>,
    pub(super) wide: W,
}

/// An orbit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follower {
    /// The number of the step that gave z: n of z_n.
    pub(super) n: u64,
    pub(super) error: RunningError,
    derivative: Option<OfPoint>,
    pub(super) trap: Trap,
    pub(super) escaped: Option<u64>,
}

impl Follower {
    /// At z_1 = c in units of 2^unit, of which c is off by so many.
    pub(super) fn new(goal: &Goal<'_>, unit: i32, of_c: f64) -> Self {
        Self {
            n: 1,
            error: RunningError::new(unit, of_c),
            derivative: goal.units.map(|(_, scale)| OfPoint::new(scale)),
            trap: Trap::new(),
            escaped: None,
        }
    }

    /// What is found at z, if anything; otherwise the bounds are those after the next step.
    #[inline(always)]
    pub(super) fn look(&mut self, goal: &Goal<'_>, at: &At<impl Fn() -> Extended<f64>>) -> Option<Found> {
        let z = at.z;
        let square = z.square();
        let (modulus, off) = (square.sqrt(), self.error.absolute());
        let doubt = (2.0 * modulus + off) * off + square * ROUNDING;
        let is_within = |bound: f64| square < bound - doubt - bound * ROUNDING;
        let is_beyond = |bound: f64| square > bound + doubt + bound * ROUNDING;
        let is_useless = off.is_nan() || off > TOO_MUCH;
        if is_useless || self.escaped.is_none() && !is_within(goal.escape) && !is_beyond(goal.escape) {
            return Some(Found::Undecided);
        }
        if self.escaped.is_none() && is_beyond(goal.escape) {
            self.escaped = Some(self.n);
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
}
