//! Blocks in lanes, as orbits use them in the range of f64: what `entry.rs` does, for several at once.

use super::super::merge::UP;
use super::super::{EPSILON, REACH, SHARE, UNDERFLOW};
use super::row::{Common, Row, modulus};
use crate::deep::extended::power_of_two;
use crate::deep::lanes::{LANES, Reals};
use crate::deep::mantissa::{Complex, Mantissa, Pair};
use fearless_simd::Simd;

/// The most f64 of an entry.
const MOST: usize = 26;
/// The scale below which 2^scale is 0 here: coefficients are below the range of f64 then, which the constant bound covers.
const LEAST_SCALE: i32 = -900;

/// Entries of blocks, one in each lane.
pub(super) struct Entries {
    /// The f64 of the entries, in the order of [`Entry::write`](super::super::Entry::write).
    numbers: [[f64; LANES]; MOST],
    /// 0 where there is no block.
    pub(super) radius: [f64; LANES],
}

/// 2^scale, or 0.
fn unit(scale: i32) -> f64 {
    if scale < LEAST_SCALE { 0.0 } else { power_of_two(scale) }
}

impl Entries {
    /// Of blocks of so many steps.
    #[inline(always)]
    pub(super) fn new<T: Mantissa, S: Simd>(simd: S, row: &Row<S>, common: &Common, steps: usize) -> Self {
        let real = |x: f64| Reals::splat(simd, x);
        let [by_c, by_square] = [common.scale, common.scale.saturating_mul(2)].map(unit);
        let (a, q) = (modulus(row.a), modulus(row.q));
        let (b, s, t) = (modulus(row.b) * real(by_c), modulus(row.s) * real(by_c), modulus(row.t) * real(by_square));
        let [mb, mq, ms, mt] = row.majorants;
        let (mb, ms, mt) = (mb * real(by_c), ms * real(by_c), mt * real(by_square));
        let [d0, d1, d2, d3] = row.delta;
        let of_c = REACH * by_c * UP;
        let (d0, d1, d2) = (d0 * real(of_c * of_c * of_c), d1 * real(of_c * of_c), d2 * real(of_c));
        let (reach, up, rounding) = (real(REACH), real(UP), real(9.0 * T::UNIT));
        let epsilon = real(steps as f64 * EPSILON);
        let linear = a + s * reach;
        let constant = (b + t * reach) * reach;
        // The errors of the coefficients.
        let two = real(2.0);
        let of_linear = (a + two * ms * reach) * epsilon;
        let of_constants = (mb + two * mt * reach) * reach * epsilon;
        let of_q = two * mq * epsilon;
        let slack = of_linear + linear * real(power_of_two(-46));
        // The error of c adds to the constant and, by S, to the linear part.
        let of_error = real(2.0 * T::UNIT * REACH);
        let of_constant = (b + two * t * reach + real(UNDERFLOW)) * of_error + real(UNDERFLOW);
        let bounds = [
            d0 + constant * rounding + of_constants + of_constant,
            d1 + linear * rounding + of_linear + s * of_error,
            d2 + q * rounding + of_q,
            d3,
            slack,
            q + of_q * real(2.0 / SHARE),
        ];
        let mut numbers = [[0.0; LANES]; MOST];
        let units = [real(1.0), real(by_c), real(1.0), real(by_c), real(by_square)];
        let parts = [row.a, row.b, row.q, row.s, row.t];
        for (coefficient, (Complex { re, im }, unit)) in parts.into_iter().zip(units).enumerate() {
            for (number, pair) in [re, im].into_iter().enumerate() {
                for part in 0..T::PARTS {
                    let Pair { hi, lo } = pair;
                    let value = if part == 0 { hi } else { lo };
                    (value * unit).store(&mut numbers[(2 * coefficient + number) * T::PARTS + part]);
                }
            }
        }
        for (number, bound) in bounds.into_iter().enumerate() {
            (bound * up).store(&mut numbers[10 * T::PARTS + number]);
        }
        let mut radius = [0.0; LANES];
        (row.radius * real(1.0 - 1e-13)).store(&mut radius);
        Self { numbers, radius }
    }

    /// Writes the entry of a lane.
    #[inline(always)]
    pub(super) fn write<T: Mantissa>(&self, lane: usize, lines: &mut T::Lines) {
        let places = lines.as_mut().iter_mut().flat_map(|line| &mut line.0);
        for (place, number) in places.zip(&self.numbers[..10 * T::PARTS + 6]) {
            *place = number[lane];
        }
    }
}
