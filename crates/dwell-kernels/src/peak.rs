//! The peak rate of a formula on this machine: the operations of its recipe on independent data, and nothing else.
//!
//! Performance is stated elsewhere as a fraction of this rate, measured within the same minute. Several vectors are
//! kept in flight so that neither the latency of an operation nor the number of registers limits the rate. The best
//! number of vectors depends on the machine, so each count in [`IN_FLIGHT`] is measured and the fastest is the peak.
//! The loop has no test, no load and no store. z stays at the attracting cycle of its own c, and the final z is
//! returned so that the compiler cannot remove the loop.

use crate::formula::Formula;
use crate::level::{Kernel, Level};
use crate::number::Number;
use crate::recipe::{Recipe, Rule, with_rule};
use crate::vector::Vector;
use fearless_simd::{Simd, SimdBase};
use std::marker::PhantomData;

/// The numbers of vectors in flight that [`crate::Kernels::peak`] accepts.
pub const IN_FLIGHT: [usize; 8] = [2, 3, 4, 5, 6, 7, 8, 10];

/// Implements [`crate::Kernels::peak`] for f32 and f64.
#[must_use]
pub(crate) fn run<N: Number>(
    level: Level,
    formula: Formula,
    recipe: Recipe,
    in_flight: usize,
    steps: u32,
) -> (u64, f64) {
    macro_rules! dispatch {
        ($($u:literal)*) => {
            match in_flight {
                $($u => with_rule!(formula, recipe, rule => level.run(PeakKernel::<N, _, $u> { rule, steps, number: PhantomData })),)*
                _ => panic!("{in_flight} vectors in flight are not supported: expected one of {IN_FLIGHT:?}"),
            }
        };
    }
    dispatch!(2 3 4 5 6 7 8 10)
}

/// The loop of [`run`] over `U` vectors.
struct PeakKernel<N, R, const U: usize> {
    rule: R,
    steps: u32,
    number: PhantomData<N>,
}

impl<N: Number, R: Rule, const U: usize> Kernel for PeakKernel<N, R, U> {
    type Output = (u64, f64);

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> (u64, f64) {
        // c is so near 0 that the orbit of every formula converges to a fixed point: no number overflows or underflows.
        let a = Vector::<S, N>::splat(simd, from_256ths::<N>(-25));
        let b = Vector::<S, N>::splat(simd, from_256ths::<N>(15));
        let mut x = [a; U];
        let mut y = [b; U];
        for (j, x) in (0_i8..).zip(&mut x) {
            *x = Vector(N::Native::<S>::from_fn(simd, |i| from_256ths::<N>(j + i8::try_from(i).unwrap_or(0))));
        }
        for _ in 0..self.steps {
            self.rule.step_all(&mut x, &mut y, |_| [a, b]);
        }
        let mut sum = 0.0;
        for j in 0..U {
            for i in 0..Vector::<S, N>::LEN {
                sum += x[j].0[i].to_f64() + y[j].0[i].to_f64();
            }
        }
        let lanes = (U * Vector::<S, N>::LEN) as u64;
        (lanes * u64::from(self.steps), sum)
    }
}

/// The number k / 256.
fn from_256ths<N: Number>(k: i8) -> N {
    N::from_parts(k < 0, u64::from(k.unsigned_abs()), -8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Fold;

    #[test]
    fn every_level_and_vector_count_reaches_the_same_fixed_point() {
        let formulas = [(Fold::None, 2), (Fold::Absolute, 2), (Fold::Conjugate, 2), (Fold::None, 3), (Fold::None, 16)];
        for formula in formulas.map(|(fold, power)| Formula::new(fold, power).unwrap()) {
            let fixed_point = |recipe| {
                let (mut x, mut y) = (0.0_f64, 0.0);
                for _ in 0..300 {
                    (x, y) = with_rule!(formula, recipe, rule => rule.step(x, y, -25.0 / 256.0, 15.0 / 256.0));
                }
                x + y
            };
            for level in Level::available() {
                for recipe in Recipe::ALL {
                    for in_flight in IN_FLIGHT {
                        let (iterations, sum) = run::<f64>(level, formula, recipe, in_flight, 300);
                        let lanes = iterations / 300;
                        assert_eq!(lanes % in_flight as u64, 0);
                        let each = sum / lanes as f64;
                        let expected = fixed_point(recipe);
                        assert!((each - expected).abs() < 1e-9, "{formula:?} {level:?} {recipe:?} {in_flight}: {each}");
                    }
                }
            }
        }
    }
}
