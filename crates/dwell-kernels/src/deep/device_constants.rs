//! The constants of the orbits of [`mod@orbit`], for engines that iterate them on a device.

use super::mantissa::{Dd, Mantissa};
use super::{blocks, derivative, formulas, orbit, values};

/// u of a number.
pub const UNITS: [f64; 2] = [<f64 as Mantissa>::UNIT, <Dd as Mantissa>::UNIT];
/// For the roundings of a bound.
pub const UP: f64 = derivative::UP;
/// Added to bounds for results below the range of f64.
pub const UNDERFLOW: f64 = derivative::UNDERFLOW;
/// Deltas below this have an exponent of their own.
pub const SMALL: f64 = orbit::SMALL;
/// The exponent of [`SMALL`].
pub const SMALL_EXPONENT: i32 = orbit::SMALL_EXPONENT;
/// Where |Z| is below this, the sum of Z and a delta below the range of f64 is computed with an exponent.
pub const NEAR_ZERO: f64 = orbit::NEAR_ZERO;
/// A relative error with which nothing is decided.
pub const TOO_MUCH: f64 = orbit::TOO_MUCH;
/// Rebases before the first attempt to prove that an orbit stays.
pub const FIRST_ATTEMPT: u32 = orbit::FIRST_ATTEMPT as u32;
/// |z|^2 beyond which smooth values are taken, a square.
pub const FAR_SQUARED: f64 = values::FAR_SQUARED;
/// The greatest number of further steps to there.
pub const MOST_STEPS: u32 = values::MOST_STEPS as u32;

/// A relative error of w or of a derivative with which no distance is decided.
pub const FAR_TOO_MUCH: f64 = values::TOO_MUCH;
/// What is multiplied by the remainder of a polynomial for that of its derivative by c, for |c| up to this: 1 over what is left to the greatest |c|.
#[must_use]
pub fn over_margin(farthest: f64) -> f64 {
    UP / (blocks::REACH - farthest)
}

/// The least delta of a formula that is stepped in the range of f64.
pub const NARROW_OF_FORMULA: f64 = formulas::NARROW;

/// The least M with which deltas of a power are stepped in the range of f64.
#[must_use]
pub fn near_of_formula(power: u32) -> f64 {
    formulas::near(power)
}

/// The roundings of a step of a power, in units of u |z| M^(N-1).
#[must_use]
pub fn roundings_of_formula(power: u32) -> f64 {
    formulas::power::roundings(power)
}

const _: () = {
    assert!(orbit::FIRST_ATTEMPT <= u32::MAX as u64);
    assert!(values::MOST_STEPS <= u32::MAX as u64);
};
