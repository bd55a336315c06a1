//! The orbits of points themselves in fixed point, for every formula, one at a time: for the few pixels that deltas do not decide, where `direct.rs` does not follow them.
//!
//! As [`crate::deep::direct`], with the bound of `fixed.rs`: a step adds 8 (N - 1) units and the error of c for each unit of max(1, |z|)^(N-1).
//!
//! Chaotic orbits lose a bit every few steps. A limb all of whose bits are below the error is cut off, of z and of c: with the bound at 2^80 units it grows by less than a part in 30,000. An orbit
//! that loses most of its bits takes a third to a half of the time.

use super::derivative::{Columns, Signs};
use super::fixed::PowerStepper;
use crate::deep::derivative::UP;
use crate::deep::direct::circle::compared_with_radius;
use crate::deep::direct::running_error::RunningError;
use crate::deep::direct::{Goal, Iterated, ROUNDING, TOO_MUCH};
use crate::deep::extended::{Bound, Extended, power_of_two};
use crate::deep::fixed_orbit::NEAR_ONE;
use crate::deep::leading::pair;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Complex;
use crate::deep::orbit::Found;
use crate::deep::values::{FAR_SQUARED, MOST_STEPS, Values, values_of_columns};
use crate::formula::Formula;
use std::cmp::Ordering as Compared;
use std::sync::atomic::Ordering;

/// Whether powers of all points with |z| up to this, |z|^2 = `square`, fit in front of the point.
#[must_use]
pub fn fits(formula: Formula, square: f64) -> bool {
    let most = PowerStepper::greatest(formula);
    square <= most * most
}

/// The units of the error from which on the lowest limb is cut off, 2^80, and the fewest limbs that are kept.
const CUT_FROM: i32 = 80;
const LEAST_LIMBS: usize = 3;
/// The error of cutting off a limb, less than a unit for each part, in units of the limb above.
const OF_CUT: f64 = 2.0;

/// An orbit in fixed point with a bound on its error.
pub(super) struct Orbit {
    formula: Formula,
    pub(super) z: [Fixed; 2],
    c: [Fixed; 2],
    /// A bound on the error of c, in units of the last place.
    of_c: f64,
    stepper: PowerStepper,
    pub(super) error: RunningError,
    /// The least modulus whose powers are in the range of f64 with room.
    near_zero: f64,
}

impl Orbit {
    /// Of a point z_1, off by so many units of the last place.
    pub(super) fn new(iterated: Iterated<'_>, point: [&Fixed; 2], of_point: f64) -> Self {
        let Iterated { formula, julia } = iterated;
        let (c, of_c) = julia.map_or((point, of_point), |(c, error)| (c, error));
        let error = RunningError::of_formula(point[0].unit(), of_point, Self::of_step(formula, of_c));
        let near_zero = super::near(formula.power());
        let stepper = PowerStepper::new(formula, c);
        Self { formula, z: point.map(Fixed::clone), c: c.map(Fixed::clone), of_c, stepper, error, near_zero }
    }

    fn of_step(formula: Formula, of_c: f64) -> f64 {
        8.0 * f64::from(formula.power() - 1) + of_c
    }

    fn wide(&self) -> Extended<f64> {
        Extended::of(pair(&self.z[0], &self.z[1]))
    }

    /// z in f64, to 52 bits of its larger part.
    #[inline(always)]
    pub(super) fn near(&self) -> Complex<f64> {
        let [re, im] = self.z.each_ref().map(Fixed::at_point);
        let near = Complex { re, im };
        if near.size() < NEAR_ONE { self.wide().in_range().unwrap_or(Complex::ZERO) } else { near }
    }

    /// A step from z with this modulus.
    #[inline(always)]
    pub(super) fn step(&mut self, modulus: f64) {
        let Self { formula, z, error, near_zero, .. } = self;
        error.step_of_power(formula.power(), *near_zero, || Extended::of(pair(&z[0], &z[1])), modulus * UP);
        self.stepper.step(z);
        if self.error.has_bits(CUT_FROM) && self.z[0].limbs.len() > LEAST_LIMBS {
            self.cut();
        }
    }

    /// Cuts off the lowest limb.
    #[cold]
    fn cut(&mut self) {
        for part in self.z.iter_mut().chain(&mut self.c) {
            part.limbs.remove(0);
        }
        // Of 2^64 units one is left.
        self.of_c = self.of_c * power_of_two(-64) + OF_CUT;
        self.error = self.error.cut(64, OF_CUT, Self::of_step(self.formula, self.of_c));
        self.stepper = PowerStepper::new(self.formula, self.c.each_ref());
    }
}

/// Follows the orbit of a point z_1.
#[must_use]
pub fn follow(goal: &Goal<'_>, point: [&Fixed; 2]) -> Found {
    let Iterated { formula, julia } = goal.iterated;
    let mut orbit = Orbit::new(goal.iterated, point, goal.error);
    let scale = goal.units.map_or(0, |(_, scale)| scale);
    let mut derivative = Columns::first(scale);
    let mut escaped = None;
    let mut n = 1_u64;
    while !goal.stop.load(Ordering::Relaxed) {
        let near = orbit.near();
        let (square, off) = (near.square(), orbit.error.absolute());
        let modulus = square.sqrt();
        let doubt = (2.0 * modulus + off) * off + square * ROUNDING;
        let is_within = |bound: f64| square < bound - doubt - bound * ROUNDING;
        let is_beyond = |bound: f64| square > bound + doubt + bound * ROUNDING;
        if off.is_nan() || off > TOO_MUCH {
            return Found::Undecided;
        }
        if escaped.is_none() && !is_within(goal.escape) {
            let of_limbs = || compared_with_radius(&orbit.z, goal.exact_escape, orbit.error.bound());
            match if is_beyond(goal.escape) { Some(Compared::Greater) } else { of_limbs() } {
                Some(Compared::Greater) => escaped = Some(n),
                Some(_) => {}
                None => return Found::Undecided,
            }
        }
        if let Some(dwell) = escaped {
            if !goal.smooth && goal.units.is_none() {
                return Found::Escapes(dwell, Values::default());
            }
            if is_beyond(FAR_SQUARED) {
                let units = goal.units.as_ref().map(|(units, _)| (units, derivative.d, derivative.off));
                let values = values_of_columns(formula, (near, off), goal.smooth.then_some(n), units);
                return values.map_or(Found::Undecided, |values| Found::Escapes(dwell, values));
            }
            if !is_within(FAR_SQUARED) || n - dwell > MOST_STEPS {
                return Found::Undecided;
            }
        } else if n == goal.limit {
            return Found::Stays;
        }
        // With 2 units of room for the error.
        if !fits(formula, square * 1.01) {
            return Found::Undecided;
        }
        if goal.units.is_some() {
            let (wide, absolute) = (orbit.wide(), orbit.error.bound());
            let h = absolute.plus(Bound::modulus(wide).by(2.0 * ROUNDING));
            let signs = Signs::of(wide, [absolute; 2]);
            derivative = derivative.stepped(formula, (wide, h), signs, julia.is_none().then_some(scale));
        }
        orbit.step(modulus);
        n += 1;
    }
    Found::Undecided
}
