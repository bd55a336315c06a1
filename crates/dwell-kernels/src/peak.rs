//! The limit of a recipe on this machine: its operations on independent data, nothing else.
//!
//! Performance elsewhere is stated as a fraction of this rate, measured in the same minute. Several vectors are kept in
//! flight so that neither latency nor the number of registers binds; how many is best differs by machine, so each count
//! in [`IN_FLIGHT`] is tried and the fastest is the peak. No test, no load, no store: z stays at the attracting cycle
//! of its own c for ever, and its bits are returned so that nothing can be left out.

use crate::level::{Kernel, Level};
use crate::number::Number;
use crate::recipe::{Recipe, Roundings, with_recipe};
use crate::vector::Vector;
use fearless_simd::{Simd, SimdBase};
use std::marker::PhantomData;

/// Vectors in flight that [`crate::Kernels::peak`] can be asked for.
pub const IN_FLIGHT: [usize; 8] = [2, 3, 4, 5, 6, 7, 8, 10];

/// [`crate::Kernels::peak`] for either number.
#[must_use]
#[allow(clippy::panic, reason = "a caller's mistake, documented")]
pub(crate) fn run<N: Number>(level: Level, recipe: Recipe, in_flight: usize, steps: u32) -> (u64, f64) {
    macro_rules! dispatch {
        ($($u:literal)*) => {
            match in_flight {
                $($u => with_recipe!(recipe, R => level.run(Peak::<N, R, $u> { steps, what: PhantomData })),)*
                _ => panic!("{in_flight} is none of the counts in IN_FLIGHT"),
            }
        };
    }
    dispatch!(2 3 4 5 6 7 8 10)
}

struct Peak<N, R, const U: usize> {
    steps: u32,
    what: PhantomData<(N, R)>,
}

impl<N: Number, R: Roundings, const U: usize> Kernel for Peak<N, R, U> {
    type Output = (u64, f64);

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> (u64, f64) {
        // c inside the main cardioid: the orbit is drawn to a fixed point, so no number over- or underflows.
        let a = Vector::<S, N>::splat(simd, small::<N>(-100));
        let b = Vector::<S, N>::splat(simd, small::<N>(60));
        let mut x = [a; U];
        let mut y = [b; U];
        for (j, x) in (0_i8..).zip(&mut x) {
            *x = Vector(N::Native::<S>::from_fn(simd, |i| small::<N>(j + i8::try_from(i).unwrap_or(0))));
        }
        for _ in 0..self.steps {
            for j in 0..U {
                (x[j], y[j]) = R::step(x[j], y[j], a, b);
            }
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

/// k / 256.
fn small<N: Number>(k: i8) -> N {
    N::from_parts(k < 0, u64::from(k.unsigned_abs()), -8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_and_count_does_the_same_work() {
        let fixed_point = |recipe| {
            let (mut x, mut y) = (0.0_f64, 0.0);
            for _ in 0..300 {
                (x, y) = with_recipe!(recipe, R => R::step(x, y, -100.0 / 256.0, 60.0 / 256.0));
            }
            x + y
        };
        for level in Level::available() {
            for recipe in Recipe::ALL {
                for in_flight in IN_FLIGHT {
                    let (iterations, sum) = run::<f64>(level, recipe, in_flight, 300);
                    let lanes = iterations / 300;
                    assert_eq!(lanes % in_flight as u64, 0);
                    let each = sum / lanes as f64;
                    assert!((each - fixed_point(recipe)).abs() < 1e-9, "{level:?} {recipe:?} {in_flight}: {each}");
                }
            }
        }
    }
}
