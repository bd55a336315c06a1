//! The derivative of an orbit in fixed point.

use super::NEAR_ZERO;
use super::running_error::RunningError;
use crate::deep::derivative::{Derivative, WideDerivative};
use crate::deep::extended::{Extended, power_of_two};
use crate::deep::mantissa::Complex;

/// The exponent of derivatives from which they are iterated in the range of f64, and the power of two: what is added to their bounds for results below that range
/// stays far below them through a step from [`NEAR_ZERO`].
const IN_RANGE: i32 = -600;
pub(super) const LEAST: f64 = 2.4e-181;

/// The derivative of a point in the range of f64 where that suffices.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfPoint {
    pub(super) narrow: Derivative,
    /// Taken instead, if any.
    wide: Option<WideDerivative>,
    scale: i32,
    unit: f64,
}

/// What a step adds to the derivative by c in units of 2^scale; 0 below the range of f64.
pub(super) fn unit_of(scale: i32) -> f64 {
    if scale < -1000 { 0.0 } else { power_of_two(scale) }
}

impl OfPoint {
    pub(super) fn new(scale: i32) -> Self {
        Self { narrow: Derivative::NONE, wide: Some(WideDerivative::first(scale)), scale, unit: unit_of(scale) }
    }

    /// That in the range of f64, if it is.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only vectors take it over"))]
    pub(super) fn in_range(&self) -> Option<Derivative> {
        self.wide.is_none().then_some(self.narrow)
    }

    pub(super) fn widened(self) -> WideDerivative {
        self.wide.unwrap_or_else(|| self.narrow.widened())
    }

    /// The derivative in the range of f64 after a step from z that is not near 0, if it is and stays in that range.
    #[inline(always)]
    pub(super) fn ordinary_step(&self, (z, modulus): (Complex<f64>, f64), error: &RunningError) -> Option<Derivative> {
        let after = self.narrow.stepped(z, modulus, error.absolute(), self.unit);
        (self.wide.is_none() && after.d.size() >= LEAST).then_some(after)
    }

    /// After a step from z.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        wide: impl Fn() -> Extended<f64>,
        (z, modulus): (Complex<f64>, f64),
        error: &RunningError,
    ) {
        if self.wide.is_none() && modulus > NEAR_ZERO {
            self.narrow = self.narrow.stepped(z, modulus, error.absolute(), self.unit);
            if self.narrow.d.size() < LEAST {
                self.wide = Some(self.narrow.widened());
            }
        } else {
            let after = self.widened().stepped(wide(), error.bound(), self.scale);
            let is_in_range = after.d.e > IN_RANGE;
            (self.narrow, self.wide) =
                if is_in_range { (after.narrow(), None) } else { (Derivative::NONE, Some(after)) };
        }
    }
}
