//! What share of a device's rate of f64 orbits take.

use crate::driver::Device;
use dwell::{Fold, Formula};

/// Operations of f64 of a step and of a block with what is tested before, in f64 and in pairs of it, where a fused one counts as one: as `kernels/deep_narrow.cuh` and
/// `kernels/deep_number.cuh` have them. A sum of pairs takes 20, a product 8.
const OF_STEP: [u64; 2] = [31, 215];
const OF_BLOCK: [u64; 2] = [61, 707];
/// What derivatives add to these, in f64 whatever the number: `kernels/deep_derivative.cuh`.
const OF_DERIVATIVE: [u64; 2] = [18, 52];

/// Operations of f64 that a multiprocessor begins in a cycle, by its compute capability (CUDA C++ Programming Guide, throughput of native arithmetic instructions).
fn in_a_cycle(capability: (u32, u32)) -> Option<u32> {
    match capability {
        (7, 0 | 2) | (8, 0) => Some(32),
        (9 | 10, 0) => Some(64),
        (7, 5) | (8, 6 | 7 | 9) | (12, _) => Some(2),
        _ => None,
    }
}

/// What the terms of the third and the fourth degree add to a block.
const OF_HIGHER: u64 = 94;

/// Those of a step and of a block of z^2 + c.
pub(super) fn of_squares((in_pairs, is_derived): (bool, bool), is_quartic: bool) -> [u64; 2] {
    let number = usize::from(in_pairs);
    let [of_step, of_block] = OF_DERIVATIVE.map(|more| if is_derived { more } else { 0 });
    let of_higher = if is_quartic { OF_HIGHER } else { 0 };
    [OF_STEP[number] + of_step, OF_BLOCK[number] + of_block + of_higher]
}

/// Those of a step and of a block of another formula, as `kernels/deep_formula.cuh` and `kernels/deep_powers.cuh` have them, without the terms of c that blocks of some views have.
pub(super) fn of_formula((in_pairs, is_derived): (bool, bool), formula: Formula) -> [u64; 2] {
    let power = formula.power();
    // Of complex numbers.
    let [sum, product] = if in_pairs { [40, 72] } else { [2, 4] };
    // A digit of the power takes a product with a sum of two powers, and the squares of both but for the last one; a 1 two products and a sum more, and the products of both powers.
    let (digits, ones) = (u64::from(power.ilog2()), u64::from(power.count_ones()) - 1);
    let difference = digits * (3 * product + sum) + ones * (4 * product + sum) - if ones > 0 { 2 } else { 1 } * product;
    let tests_and_bounds = 36 + 2 * digits + ones;
    // A power, and products for each column.
    let columns = if formula.fold() == Fold::None { 1 } else { 2 };
    let of_derivative =
        [4 * (digits + ones) + 20 + 14 * columns, 20 + 14 * columns].map(|more| if is_derived { more } else { 0 });
    [2 * sum + difference + tests_and_bounds + of_derivative[0], 5 * sum + 4 * product + 50 + of_derivative[1]]
}

/// The share of the greatest rate of f64 with which a device made so many steps and blocks, of so many operations each, in so many seconds; 0 where that rate is not known.
pub(super) fn of_peak(
    device: &Device,
    [of_step, of_block]: [u64; 2],
    (steps, blocks): (u64, u64),
    seconds: f64,
) -> f64 {
    let operations = steps as f64 * of_step as f64 + blocks as f64 * of_block as f64;
    let cycles = f64::from(device.clock_khz) * 1e3 * seconds;
    let most = f64::from(in_a_cycle(device.capability).unwrap_or(0)) * f64::from(device.multiprocessors) * cycles;
    if most > 0.0 { operations / most } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(capability: (u32, u32)) -> Device {
        Device {
            number: 0,
            name: String::new(),
            capability,
            memory_bytes: 0,
            multiprocessors: 100,
            threads_per_multiprocessor: 2048,
            clock_khz: 2_000_000,
            memory_clock_khz: 0,
            driver: String::new(),
        }
    }

    #[test]
    fn a_share_is_that_of_the_greatest_rate_of_the_generation() {
        // 1.28e13 operations a second, of which these are 3.1e10 in a hundredth.
        let share =
            |capability| of_peak(&device(capability), of_squares((false, false), false), (1_000_000_000, 0), 0.01);
        assert!((share((9, 0)) - 31.0 / 128.0).abs() < 1e-12);
        assert!((share((8, 0)) - 31.0 / 64.0).abs() < 1e-12);
        let of_pairs = of_peak(&device((9, 0)), of_squares((true, false), false), (0, 1_000_000), 0.01);
        assert!((of_pairs - 0.707 / 128.0).abs() < 1e-12);
        let with_derivatives = of_peak(&device((9, 0)), of_squares((false, true), false), (1_000_000_000, 0), 0.01);
        assert!((with_derivatives - 49.0 / 128.0).abs() < 1e-12);
        // z^2: a product with a sum and two sums; z^3: two more squares, products and a sum.
        let of_power = |power| of_formula((false, false), Formula::new(Fold::None, power).unwrap());
        assert_eq!([2, 3].map(|power| of_power(power)[0]), [2 * 2 + 10 + 38, 2 * 2 + 24 + 39]);
        for unknown in [share((42, 0)), of_peak(&device((9, 0)), of_squares((false, false), false), (1, 1), 0.0)] {
            assert_eq!(unknown.to_bits(), 0.0_f64.to_bits());
        }
    }
}
