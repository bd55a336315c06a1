//! The bound on the error of an orbit in fixed point.

use super::NEAR_ZERO;
use crate::deep::derivative::UNDERFLOW;
use crate::deep::extended::{Bound, Extended, exponent, power_of_two};
use crate::deep::formulas::power::{of_bound, of_real};

/// Where m is kept.
pub(super) const LEAST: f64 = 1e-100;
pub(super) const GREATEST: f64 = 1e180;
/// For the roundings of a step.
pub(super) const UP: f64 = 1.0 + 1e-14;

/// The bound on the error, m 2^k units of the last place, so that m is in the range of f64 whatever the number of limbs.
#[derive(Clone, Copy, Debug)]
pub(in crate::deep) struct RunningError {
    pub(super) m: f64,
    /// What a step adds, in units of the last place and in units of 2^k of those, there 0 below 2^-1000.
    of_step: f64,
    pub(super) scaled_step: f64,
    k: i32,
    /// The exponent of a unit.
    unit: i32,
    /// 2^(k + unit), 0 below 2^-1000.
    pub(super) scale: f64,
}

impl RunningError {
    const RANGE: i32 = 400;

    /// Of z and c that are off by so many units of the last place, which is 2^unit.
    pub(super) fn new(unit: i32, of_z: f64, of_c: f64) -> Self {
        let of_step = Self::of_step(of_c);
        let mut error = Self { m: of_z, of_step, scaled_step: of_step, k: 0, unit, scale: 0.0 };
        error.rescale(0);
        error
    }

    /// What a step adds in units of the last place, of which c is off by so many.
    pub(super) fn of_step(of_c: f64) -> f64 {
        8.0 + of_c
    }

    /// Of a point of any formula, off by so many units, where a step adds `of_step` units for each unit of max(1, |z|)^(N-1).
    pub(in crate::deep) fn of_formula(unit: i32, of_start: f64, of_step: f64) -> Self {
        let mut error = Self { m: of_start.max(1.0), of_step, scaled_step: of_step, k: 0, unit, scale: 0.0 };
        error.rescale(0);
        error
    }

    /// A greater bound, at least one unit, in the plane.
    pub(super) fn raised(&self, to: Bound) -> Self {
        let mut raised = *self;
        raised.set(to.over(Bound::new(1.0, self.unit)));
        raised
    }

    /// Whether it is 2^`bits` units or more.
    pub(in crate::deep) fn has_bits(&self, bits: i32) -> bool {
        exponent(self.m) + self.k >= bits
    }

    /// The bound for z with so many bits fewer, or more where that is negative, cut off to within `of_cut` of the new units, where a step adds `of_step` of those.
    pub(in crate::deep) fn cut(&self, bits: i32, of_cut: f64, of_step: f64) -> Self {
        let unit = self.unit + bits;
        let mut cut = Self { m: 0.0, of_step, scaled_step: of_step, k: 0, unit, scale: 0.0 };
        cut.set(self.bound().over(Bound::new(1.0, unit)).plus(Bound::of(of_cut)).by(1.0 + 1e-13));
        cut
    }

    /// Takes a bound in units of the last place.
    fn set(&mut self, units: Bound) {
        (self.m, self.k) = (units.in_unit(units.exponent()), units.exponent());
        self.rescale(0);
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
    pub(in crate::deep) fn absolute(&self) -> f64 {
        self.m * self.scale + UNDERFLOW
    }

    /// In the plane, below the range of f64, too.
    pub(in crate::deep) fn bound(&self) -> Bound {
        Bound::new(self.m, self.k.saturating_add(self.unit))
    }

    /// The bound after a step from z.
    #[inline(always)]
    pub(super) fn step(&mut self, z: impl Fn() -> Extended<f64>, modulus: f64) {
        if modulus < NEAR_ZERO {
            return self.step_near_zero(z());
        }
        self.m = ((2.0 * modulus + self.absolute()) * self.m + self.scaled_step) * UP;
        self.keep_in_range();
    }

    /// The bound after a step of a formula from z, of which `near` is the least modulus whose powers are in the range of f64 with room.
    #[inline(always)]
    pub(in crate::deep) fn step_of_power(
        &mut self,
        power: u32,
        near: f64,
        z: impl Fn() -> Extended<f64>,
        modulus: f64,
    ) {
        let n = f64::from(power);
        if modulus < near {
            let growth = of_bound(Bound::modulus(z()).plus(self.bound()), power - 1).by(n);
            let units = self.bound().times(growth).over(Bound::new(1.0, self.unit));
            return self.set(units.plus(Bound::of(self.of_step)).by(1.0 + 1e-13));
        }
        let beyond = modulus + self.absolute();
        let (growth, of_one) = (n * of_real(beyond, power - 1), of_real(beyond.max(1.0), power - 1));
        self.m = (growth * self.m + self.scaled_step * of_one) * (1.0 + 1e-13);
        self.keep_in_range();
    }

    /// m after a step from z that is not near 0, if the bound is at most `most` before it, and m in the range that it is kept in.
    #[inline(always)]
    pub(super) fn ordinary_step(&self, modulus: f64, most: f64) -> Option<f64> {
        let off = self.absolute();
        let after = ((2.0 * modulus + off) * self.m + self.scaled_step) * UP;
        (off <= most && after > LEAST && after < GREATEST).then_some(after)
    }

    #[inline(always)]
    fn keep_in_range(&mut self) {
        if self.m > GREATEST {
            self.rescale(Self::RANGE);
        } else if self.m < LEAST && self.k > 0 {
            self.rescale(-self.k.min(Self::RANGE));
        }
    }

    /// A step that the range of f64 does not hold: an orbit that returns to near 0 loses nearly all of its error there.
    fn step_near_zero(&mut self, z: Extended<f64>) {
        let growth = Bound::modulus(z).by(2.0).plus(self.bound());
        let units = self.bound().times(growth).over(Bound::new(1.0, self.unit));
        let after = units.plus(Bound::of(self.of_step)).by(UP);
        // At least what a step adds, and so at least one unit.
        self.set(after);
    }
}
