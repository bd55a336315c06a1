//! The orbits of points themselves in fixed point, for every formula: for the few pixels that deltas do not decide.
//!
//! As [`crate::deep::direct`], with the bound of `fixed.rs`. The bound is kept with an exponent, since its range is that of all derivatives.

use super::derivative::{Columns, Signs};
use super::fixed::{PowerStepper, error_after};
use crate::deep::direct::{Goal, ROUNDING, TOO_MUCH};
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
    let (mut error, of_c) = (Bound::of(goal.error), Bound::of(of_c));
    let scale = goal.units.map_or(0, |(_, scale)| scale);
    let mut derivative = Columns::first(scale);
    let mut escaped = None;
    let mut n = 1_u64;
    while !goal.stop.load(Ordering::Relaxed) {
        let wide = Extended::<f64>::of(pair(&z[0], &z[1]));
        let absolute = error.times(Bound::new(1.0, unit));
        let off = absolute.to_f64() + 1e-290;
        let near = wide.in_range().unwrap_or(Complex { re: f64::INFINITY, im: 0.0 });
        let (square, modulus) = (near.square(), Bound::modulus(wide));
        let doubt = (2.0 * modulus.to_f64() + off) * off + square * ROUNDING;
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
            let h = absolute.plus(modulus.by(2.0 * ROUNDING));
            let signs = Signs::of(wide, [absolute; 2]);
            derivative = derivative.stepped(formula, (wide, h), signs, julia.is_none().then_some(scale));
        }
        error = error_after(formula, modulus, error, unit, of_c);
        stepper.step(&mut z);
        n += 1;
    }
    Found::Undecided
}
