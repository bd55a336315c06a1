//! The orbit of a point itself in fixed point, for the few pixels that deltas do not decide.
//!
//! With z off by at most e units of the last place, a step is off by (2 |z| + e) e + 8 units, as that of the reference, and by the error of c.
//! The comparisons with R and 256 are made in f64: they are certain but for |z|^2 within some 2^-44 of R^2, relatively, so that
//! a point that is not decided here needs more bits or a closer look.

use super::derivative::{Derivative, UNDERFLOW, WideDerivative};
use super::extended::{Bound, Extended, power_of_two};
use super::limbs::{Fixed, Stepper};
use super::mantissa::Complex;
use super::orbit::Found;
use super::reference::pair;
use super::values::{FAR_SQUARED, MOST_STEPS, Units, Values, values};
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
    pub limit: u64,
    /// Whether the smooth value is wanted.
    pub smooth: bool,
    /// What distances and slopes are expressed in, with its scale, where they are wanted.
    pub units: Option<(Units, i32)>,
    /// Set to stop: the point is then undecided.
    pub stop: &'a AtomicBool,
}

/// The relative error of |z|^2 and of its bounds in f64, with room.
const ROUNDING: f64 = 1.0 / 35_184_372_088_832.0;
/// An error in the plane with which nothing is decided.
const TOO_MUCH: f64 = 1e-9;

/// |z| from which the limbs at the point have 53 bits of the larger part: 2^-10.
const NEAR_ONE: f64 = 1.0 / 1024.0;
/// |z| below which a derivative may leave the range of f64: 2^-200.
const NEAR_ZERO: f64 = 6.2e-61;
/// The exponent of derivatives from which they are iterated in the range of f64, and the power of two: what is added to their bounds for results below that range
/// stays far below them through a step from [`NEAR_ZERO`].
const IN_RANGE: i32 = -600;
const LEAST: f64 = 2.4e-181;

/// Follows the orbit of a point.
#[must_use]
pub fn follow(point: Point<'_>) -> Found {
    let Point { parts: [x, y], error: of_c, escape, limit, smooth, units, stop } = point;
    let n = x.limbs.len();
    let mut at = [x.clone(), y.clone()];
    let mut stepper = Stepper::new([x, y]);
    let mut error = RunningError::new(n, of_c);
    let mut derivative = units.map(|(_, scale)| OfPoint::new(scale));
    let mut escaped = None;
    for m in 1..u64::MAX {
        if stop.load(Ordering::Relaxed) {
            return Found::Undecided;
        }
        let z = value(&at);
        let square = z.square();
        let (modulus, off) = (square.sqrt(), error.absolute());
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
            if !smooth && units.is_none() {
                return Found::Escapes(dwell, Values::default());
            }
            if is_beyond(FAR_SQUARED) {
                let units = units.as_ref().map(|(units, _)| units).zip(derivative.map(OfPoint::widened));
                return values(z, off, smooth.then_some(m), units)
                    .map_or(Found::Undecided, |values| Found::Escapes(dwell, values));
            }
            if !is_within(FAR_SQUARED) || m - dwell > MOST_STEPS {
                return Found::Undecided;
            }
        } else if m == limit {
            return Found::Stays;
        }
        if let Some(derivative) = &mut derivative {
            derivative.step(&at, (z, modulus), &error);
        }
        error.step(&at, modulus);
        stepper.step(&mut at);
    }
    Found::Undecided
}

/// z in f64, to 52 bits of its larger part.
#[inline(always)]
fn value(at: &[Fixed; 2]) -> Complex<f64> {
    let [re, im] = at.each_ref().map(Fixed::at_point);
    let z = Complex { re, im };
    if z.size() >= NEAR_ONE { z } else { wide_value(at).in_range().unwrap_or(Complex::ZERO) }
}

fn wide_value([x, y]: &[Fixed; 2]) -> Extended<f64> {
    Extended::of(pair(x, y))
}

/// The bound on the error, m 2^k units of the last place, so that m is in the range of f64 whatever the number of limbs.
struct RunningError {
    m: f64,
    /// What a step adds, in units of the last place and in units of 2^k of those, there 0 below 2^-1000.
    of_step: f64,
    scaled_step: f64,
    k: i32,
    /// The exponent of a unit.
    unit: i32,
    /// 2^(k + unit), 0 below 2^-1000.
    scale: f64,
}

impl RunningError {
    const RANGE: i32 = 400;

    fn new(limbs: usize, of_c: f64) -> Self {
        let unit = 64 * (1 - i32::try_from(limbs).unwrap_or(i32::MAX / 128));
        let of_step = 8.0 + of_c;
        let mut error = Self { m: of_c, of_step, scaled_step: of_step, k: 0, unit, scale: 0.0 };
        error.rescale(0);
        error
    }

    fn rescale(&mut self, by: i32) {
        self.k += by;
        self.m *= power_of_two(-by);
        let power = |power: i32| if power < -1000 { 0.0 } else { power_of_two(power.min(1000)) };
        self.scaled_step = self.of_step * power(-self.k);
        self.scale = power(self.k.saturating_add(self.unit));
    }

    /// In the plane.
    #[inline(always)]
    fn absolute(&self) -> f64 {
        self.m * self.scale + UNDERFLOW
    }

    /// In the plane, below the range of f64, too.
    fn bound(&self) -> Bound {
        Bound::new(self.m, self.k.saturating_add(self.unit))
    }

    #[inline(always)]
    fn step(&mut self, at: &[Fixed; 2], modulus: f64) {
        if modulus < NEAR_ZERO {
            return self.step_near_zero(at);
        }
        self.m = ((2.0 * modulus + self.absolute()) * self.m + self.scaled_step) * (1.0 + 1e-14);
        if self.m > 1e180 {
            self.rescale(Self::RANGE);
        } else if self.m < 1e-100 && self.k > 0 {
            self.rescale(-self.k.min(Self::RANGE));
        }
    }

    /// A step that the range of f64 does not hold: an orbit that returns to near 0 loses nearly all of its error there.
    fn step_near_zero(&mut self, at: &[Fixed; 2]) {
        let growth = Bound::modulus(wide_value(at)).by(2.0).plus(self.bound());
        let units = self.bound().times(growth).over(Bound::new(1.0, self.unit));
        let after = units.plus(Bound::of(self.of_step)).by(1.0 + 1e-14);
        // At least what a step adds, and so at least one unit.
        (self.m, self.k) = (after.in_unit(after.exponent()), after.exponent());
        self.rescale(0);
    }
}

/// The derivative of a point in the range of f64 where that suffices.
#[derive(Clone, Copy)]
struct OfPoint {
    narrow: Derivative,
    /// Taken instead, if any.
    wide: Option<WideDerivative>,
    scale: i32,
    unit: f64,
}

impl OfPoint {
    fn new(scale: i32) -> Self {
        let unit = if scale < -1000 { 0.0 } else { power_of_two(scale) };
        Self { narrow: Derivative::NONE, wide: Some(WideDerivative::first(scale)), scale, unit }
    }

    fn widened(self) -> WideDerivative {
        self.wide.unwrap_or_else(|| self.narrow.widened())
    }

    #[inline(always)]
    fn step(&mut self, at: &[Fixed; 2], (z, modulus): (Complex<f64>, f64), error: &RunningError) {
        if self.wide.is_none() && modulus > NEAR_ZERO {
            self.narrow = self.narrow.stepped(z, modulus, error.absolute(), self.unit);
            if self.narrow.d.size() < LEAST {
                self.wide = Some(self.narrow.widened());
            }
        } else {
            let after = self.widened().stepped(wide_value(at), error.bound(), self.scale);
            let is_in_range = after.d.e > IN_RANGE;
            (self.narrow, self.wide) =
                if is_in_range { (after.narrow(), None) } else { (Derivative::NONE, Some(after)) };
        }
    }
}
