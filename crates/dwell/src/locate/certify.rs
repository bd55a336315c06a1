//! The proof of what was found, about the point that is written: its decimals.

use super::find::too_long;
use super::refine::{Complex, rational};
use super::{Means, place, unproved};
use crate::base::error::Error;
use crate::base::progress::Phase;
use crate::exact::decimal::Decimal;
use crate::exact::limbs::fixed;
use crate::exact::rational::Rational;
use dashu_int::IBig;
use dwell_kernels::deep::Watch;
use dwell_kernels::deep::extended::Bound;
use dwell_kernels::deep::reference::NoReference;
use dwell_kernels::deep::roots::proof::{self, NoProof};
use dwell_kernels::deep::roots::shape::{self, Shape};
use dwell_kernels::deep::roots::{self, Equation};

/// Bits of the orbit beyond those of the point.
const GUARD_BITS: i64 = 64;
/// Limbs that are added when the bits did not suffice, at most so many times.
const MORE_LIMBS: usize = 2;
const MOST_ATTEMPTS: usize = 8;

/// A point with a proof.
pub(super) struct Proved {
    pub(super) point: [Decimal; 2],
    /// Rounded up.
    pub(super) within: Rational,
    /// Rounded down.
    pub(super) alone_within: Rational,
    pub(super) shape: Shape,
    /// Bits of the orbit after the point.
    pub(super) bits: usize,
}

/// Proves that the equation has one root near a point, rounded to decimals beyond 2^-wanted, and that its period is exact.
pub(super) fn certified(centre: Complex, equation: Equation, wanted: i64, means: Means<'_>) -> Result<Proved, Error> {
    let decimals = place::decimals(wanted);
    let rounded = |part: &IBig| place::nearest(&rational(part, centre.bits), decimals);
    let point = [rounded(&centre.re)?, rounded(&centre.im)?];
    let control = means.control;
    let phase = control.progress.begin(Phase::Proof, equation.last());
    let watch = Watch { stop: control.cancel.flag(), done: phase.steps() };
    let mut limbs = 1 + usize::try_from(wanted + GUARD_BITS).unwrap_or(0).div_ceil(64).max(2);
    for _ in 0..MOST_ATTEMPTS {
        let [x, y] = point.each_ref().map(|part| fixed(&part.to_rational(), limbs));
        let bits = 64 * (limbs - 1);
        let orbit = match roots::orbit(means.level, [&x, &y], equation, means.most_entries(), watch) {
            Ok(orbit) if orbit.last() as u64 == equation.last() => orbit,
            Ok(_) => return Err(unproved().into()),
            Err(NoReference::Stopped) => return Err(Error::Interrupted),
            Err(NoReference::Memory) => return Err(too_long(means).into()),
            Err(NoReference::TooFewBits) => {
                limbs += MORE_LIMBS;
                continue;
            }
        };
        // Each part is rounded down by less than a unit.
        let rounding = Bound::new(1.5, -i32::try_from(bits).unwrap_or(i32::MAX));
        let proof = match proof::prove(&orbit, equation, rounding, watch) {
            Ok(proof) if proof.is_exact => proof,
            Err(NoProof::Stopped) => return Err(Error::Interrupted),
            _ => return Err(unproved().into()),
        };
        let shape = shape::shape(&orbit, equation, watch).ok_or(Error::Interrupted)?;
        let value = |bound: Bound| Rational::from_f64(bound.mantissa()).scaled_by_power_of_two(bound.exponent().into());
        // More than what is cut off from three digits.
        let up = Rational::from_f64(1.015_625);
        let (within, alone_within) = (value(proof.within).times(&up), value(proof.alone_within));
        return Ok(Proved { point, within, alone_within, shape, bits });
    }
    Err(unproved().into())
}
