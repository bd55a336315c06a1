//! The orbit of a point itself in fixed point, for the few pixels that deltas do not decide.
//!
//! With z off by at most e units of the last place, a step is off by (2 |z| + e) e + 8 units, as that of the reference, and by the error of c.
//! The comparisons with R and 256 are made in f64: they are certain but for |z|^2 within some 2^-44 of R^2, relatively, so that
//! a point that is not decided here needs more bits or a closer look.

use super::extended::Bound;
use super::limbs::{Fixed, Stepper};
use super::mantissa::Complex;
use super::orbit::{Found, SMOOTH_SQUARED, smooth_value};
use super::reference::pair;
use std::sync::atomic::{AtomicBool, Ordering};

/// A point c in fixed point and what it is iterated for.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The parts of c, which are below 2^62. With |c| > R and |c| > 256 it is not iterated, so that squares fit below 2^64.
    pub parts: [&'a Fixed; 2],
    /// A bound on the error of c in units of the last place.
    pub error: f64,
    /// R^2, rounded to nearest, at most 10^18.
    pub escape: f64,
    /// The greatest n.
    pub limit: u32,
    /// Whether the smooth value is wanted.
    pub smooth: bool,
    /// Set to stop: the point is then undecided.
    pub stop: &'a AtomicBool,
}

/// The relative error of |z|^2 and of its bounds in f64, with room.
const ROUNDING: f64 = 1.0 / 35_184_372_088_832.0;
/// Added to an error, for what is below the range of f64.
const UNDERFLOW: f64 = 1e-290;
/// An error in the plane with which nothing is decided.
const TOO_MUCH: f64 = 1e-9;
/// The greatest number of further steps for a smooth value.
const MOST_STEPS: u32 = 200;

/// Follows the orbit of a point.
#[must_use]
pub fn follow(point: Point<'_>) -> Found {
    let Point { parts: [x, y], error: of_c, escape, limit, smooth, stop } = point;
    let n = x.limbs.len();
    let unit = Bound::new(1.0, 64 * (1 - i32::try_from(n).unwrap_or(i32::MAX / 128)));
    let mut at = [x.clone(), y.clone()];
    let mut stepper = Stepper::new(n);
    let (of_c, of_step) = (Bound::of(of_c), Bound::of(8.0 + of_c));
    let mut error = of_c;
    let mut escaped = None;
    for m in 1..u32::MAX {
        if stop.load(Ordering::Relaxed) {
            return Found::Undecided;
        }
        let z: Complex<f64> = Complex::of(pair(&at[0], &at[1]).in_range().unwrap_or(Complex::ZERO));
        let (square, absolute) = (z.square(), unit.times(error));
        let (modulus, off) = (square.sqrt(), absolute.to_f64() + UNDERFLOW);
        let doubt = (2.0 * modulus + off) * off + square * ROUNDING;
        let is_within = |bound: f64| square < bound - doubt - bound * ROUNDING;
        let is_beyond = |bound: f64| square > bound + doubt + bound * ROUNDING;
        let is_useless = off.is_nan() || off > TOO_MUCH;
        if is_useless || escaped.is_none() && !is_within(escape) && !is_beyond(escape) {
            return Found::Undecided;
        }
        if escaped.is_none() && is_beyond(escape) {
            escaped = Some(m);
        }
        if let Some(dwell) = escaped {
            if !smooth {
                return Found::Escapes(dwell, 0);
            }
            if is_beyond(SMOOTH_SQUARED) {
                return smooth_value(z, off, m).map_or(Found::Undecided, |value| Found::Escapes(dwell, value));
            }
            if !is_within(SMOOTH_SQUARED) || m - dwell > MOST_STEPS {
                return Found::Undecided;
            }
        } else if m == limit {
            return Found::Stays;
        }
        let growth = Bound::of(2.0 * modulus + 1e-200).plus(absolute);
        error = growth.times(error).plus(of_step).by(1.0 + 1e-14);
        stepper.step(&mut at, [x, y]);
    }
    Found::Undecided
}
