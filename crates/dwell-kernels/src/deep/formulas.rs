//! Deep zoom for every formula and for Julia sets: deltas by blocks and single steps, with bounds on their errors, and orbits in fixed point.
//!
//! w' = F(w)^N + c for a fold F ([`crate::formula`]). z is the computed delta from the reference Z ([`mod@orbits`]), e a bound on its distance from the exact one, w = Z + z.
//!
//! **Step.** With the folded delta d = F(Z + z) - F(Z) of `folds.rs`, z' = F(w)^N - F(Z)^N + c by `power.rs`. The exact delta lies within e of z, and F brings no two
//! points further apart, so that by the mean value inequality for w^N on the segment between the folded values, which are within |w| + e of 0:
//!
//! ```text
//! e' = N (|w| + e)^(N-1) e + K u |z| M^(N-1) + 4 N E M^(N-1) + (error of c)
//! ```
//!
//! where M is the greater one of |w| and |Z|, K the constant of the roundings (`power.rs`), and E the error of Z in fixed point, which counts for the fold of the Burning Ship alone.
//! In the parameter plane c is the pixel's offset; in a Julia set nothing is added. u is 2^-53, or 2^-102 for pairs of f64.
//!
//! **Block**, where |z| + e is within its radius ([`mod@blocks`]):
//!
//! ```text
//! e' = (|A + 2 Q zeta| + |Q| e) e + k(|z| + e)
//! ```
//!
//! where k has the truncation, the errors of the coefficients, the roundings (9 u for each term) and |B| + |B'| times the error of c.
//!
//! **Rebase**, where |w| < |z| or the reference ends: z = w, and Z is that of the critical orbit, from 0; e' = e + 2 u (|Z| + |w|) + E. A change of representation, valid wherever it is made.
//!
//! **Escape** and proofs that an orbit stays are those of z^2 + c ([`crate::deep::orbit`]): they depend on bounds alone. Folds and powers map discs into discs of the radius that the step's bound gives.
//!
//! Where there is no reference, since C or the constant of a Julia set is beyond R, deltas are values: Z = 0 throughout, and c itself is added.
//!
//! `lanes.rs` iterates deltas in vectors, each lane with a pixel of its own; `pixel.rs` does what is rare. Deltas below 2^-800, and steps near 0 whose results may be below the range of f64, have exponents of their own.

pub mod blocks;
mod derivative;
mod fixed;
mod folds;
mod lanes;
pub mod orbits;
pub mod parts;
mod pixel;
pub mod points;
pub(super) mod power;
#[cfg(test)]
mod tests;

use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::orbit::{Counts, Found};
use crate::deep::reference::End;
use crate::deep::values::Units;
use crate::formula::{Fold, Formula};
use crate::level::{Kernel, Level};
use blocks::Blocks;
use fearless_simd::Simd;
use lanes::Lanes;
use orbits::Orbits;
use std::sync::atomic::AtomicBool;

/// The least delta that vectors step: 2^-800. What is added for results below the range of f64, 10^-290, is below 2^-160 of it.
pub(super) const NARROW: f64 = 1.5e-241;

/// The least M with which vectors step: M^(N-1) is at least 2^-150, so that products stay above 2^-960.
pub(super) fn near(power: u32) -> f64 {
    crate::deep::extended::power_of_two(-150 / (power.cast_signed() - 1))
}

/// What all pixels of a view share.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The formula.
    pub formula: Formula,
    /// Whether pixels are z_1 and c is a constant.
    pub is_julia: bool,
    /// The reference orbits.
    pub orbits: &'a Orbits,
    /// The centre of the view.
    pub centre: Complex<Dd>,
    /// The constant of a Julia set, or the centre.
    pub c: Complex<Dd>,
    /// Offsets are in units of 2^scale, and at most 1 in modulus.
    pub scale: i32,
    /// R.
    pub escape_radius: f64,
    /// R^2, rounded to nearest.
    pub escape: f64,
    /// The greatest n.
    pub limit: u64,
    /// Whether smooth values are wanted.
    pub smooth: bool,
    /// What distances and slopes are expressed in, where they are wanted.
    pub units: Option<Units>,
    /// Set to stop: orbits then end undecided.
    pub stop: &'a AtomicBool,
}

/// See [`DeepKernels::decide_formula`](super::DeepKernels::decide_formula).
pub(super) fn decide<T: Mantissa>(
    level: Level,
    setting: &Setting<'_>,
    blocks: Option<&Blocks<T>>,
    pixels: &[Complex<T>],
    found: &mut [Found],
) -> Counts {
    assert_eq!(pixels.len(), found.len(), "the lists differ in length");
    if setting.orbits.end == End::Trap {
        found.fill(Found::Stays);
        return Counts::default();
    }
    match (setting.units.is_some(), setting.formula.fold() == Fold::None) {
        (false, _) => level.run(Decide::<T, 0> { setting, blocks, pixels, found }),
        (true, true) => level.run(Decide::<T, 1> { setting, blocks, pixels, found }),
        (true, false) => level.run(Decide::<T, 2> { setting, blocks, pixels, found }),
    }
}

struct Decide<'a, T: Mantissa, const COLUMNS: usize> {
    setting: &'a Setting<'a>,
    blocks: Option<&'a Blocks<T>>,
    pixels: &'a [Complex<T>],
    found: &'a mut [Found],
}

impl<T: Mantissa, const COLUMNS: usize> Kernel for Decide<'_, T, COLUMNS> {
    type Output = Counts;
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Counts {
        Lanes::<T, S, COLUMNS>::new(simd, self.setting, self.blocks).run(simd, self.pixels, self.found)
    }
}
