//! The orbits of points themselves in fixed point, for every formula: for the few pixels that deltas do not decide.
//!
//! As [`crate::deep::direct`], with the bound of `fixed.rs`: a step adds 8 (N - 1) units and the error of c for each unit of max(1, |z|)^(N-1).

use super::derivative::{Columns, Signs};
use super::fixed::PowerStepper;
use crate::deep::derivative::UP;
use crate::deep::direct::running_error::RunningError;
use crate::deep::direct::{Goal, NEAR_ONE, ROUNDING, TOO_MUCH};
use crate::deep::extended::{Bound, Extended};
use crate::deep::leading::pair;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Complex;
use crate::deep::orbit::Found;
use crate::deep::values::{FAR_SQUARED, MOST_STEPS, Values, values_of_columns};
use crate::formula::Formula;
use std::sync::atomic::Ordering;

/// What is iterated.
#[derive(Clone, Copy, Debug)]
pub struct Iterated<'a> {
    /// The formula.
    pub formula: Formula,
    /// The constant of a Julia set, with as many limbs as points have, and a bound on its error in units of the last place.
    pub julia: Option<([&'a Fixed; 2], f64)>,
}

/// Whether powers of all points with |z| up to this, |z|^2 = `square`, fit in front of the point.
#[must_use]
pub fn fits(formula: Formula, square: f64) -> bool {
    let most = PowerStepper::greatest(formula);
    square <= most * most
}

/// Follows the orbit of a point z_1.
#[must_use]
pub fn follow(goal: &Goal<'_>, iterated: Iterated<'_>, point: [&Fixed; 2]) -> Found {
    let Iterated { formula, julia } = iterated;
    let (c, of_c) = julia.map_or((point, goal.error), |(c, error)| (c, error));
    let mut z = point.map(Fixed::clone);
    let mut stepper = PowerStepper::new(formula, c);
    let unit = z[0].unit();
    let power = formula.power();
    let mut error = RunningError::of_formula(unit, goal.error, 8.0 * f64::from(power - 1) + of_c);
    let near_zero = super::near(power);
    let scale = goal.units.map_or(0, |(_, scale)| scale);
    let mut derivative = Columns::first(scale);
    let mut escaped = None;
    let mut n = 1_u64;
    while !goal.stop.load(Ordering::Relaxed) {
        let wide = || Extended::<f64>::of(pair(&z[0], &z[1]));
        let [re, im] = z.each_ref().map(Fixed::at_point);
        let mut near = Complex { re, im };
        if near.size() < NEAR_ONE {
            near = wide().in_range().unwrap_or(Complex::ZERO);
        }
        let (square, off) = (near.square(), error.absolute());
        let modulus = square.sqrt();
        let doubt = (2.0 * modulus + off) * off + square * ROUNDING;
        let is_within = |bound: f64| square < bound - doubt - bound * ROUNDING;
        let is_beyond = |bound: f64| square > bound + doubt + bound * ROUNDING;
        if off.is_nan() || off > TOO_MUCH || escaped.is_none() && !is_within(goal.escape) && !is_beyond(goal.escape) {
            return Found::Undecided;
        }
        if escaped.is_none() && is_beyond(goal.escape) {
            escaped = Some(n);
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
            let (wide, absolute) = (wide(), error.bound());
            let h = absolute.plus(Bound::modulus(wide).by(2.0 * ROUNDING));
            let signs = Signs::of(wide, [absolute; 2]);
            derivative = derivative.stepped(formula, (wide, h), signs, julia.is_none().then_some(scale));
        }
        error.step_of_power(power, near_zero, wide, modulus * UP);
        stepper.step(&mut z);
        n += 1;
    }
    Found::Undecided
}
