//! Eight orbits at once, one in each lane.

use super::square::square;
use super::{
    LANES, Products, Reals, Row, SignRule, TILE, digits, few, in_limbs, is_near, leading, least_digits, magnitudes,
    settle, unit,
};
use crate::deep::extended::Extended;
use crate::deep::leading::joined;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Dd;
use crate::formula::Fold;
use std::arch::x86_64::{__m512d, _mm512_add_epi64, _mm512_mask_sub_epi64, _mm512_sub_epi64};

/// The orbits of up to eight points.
pub(in crate::deep) struct EightOrbits {
    /// |x|, |y| and, where there are many digits, |x + y|.
    pub(super) z: [Vec<Row>; 3],
    /// c, of which the digits have the sign of the number.
    pub(super) c: [Vec<Row>; 2],
    /// Where there are many digits.
    squares: [Vec<Row>; 3],
    /// The lanes with negative x, y and x + y, as bits.
    pub(super) negative: [u8; 3],
    sign: SignRule,
    products: Products,
}

impl EightOrbits {
    /// Orbits of 0 for c of so many limbs, if R^2 and the number of limbs allow it.
    pub(in crate::deep) fn new(products: Products, fold: Fold, limbs: usize, escape: f64) -> Option<Self> {
        let least = least_digits(limbs, escape)?;
        let few = few::COUNTS.iter().find(|count| **count >= least);
        Some(few.map_or_else(
            || Self::of_digits(products, fold, least.next_multiple_of(TILE), false),
            |count| Self::of_digits(products, fold, *count, true),
        ))
    }

    /// With so many digits: one of [`few::COUNTS`], or a multiple of [`TILE`].
    fn of_digits(products: Products, fold: Fold, count: usize, is_few: bool) -> Self {
        let numbers = |is_used: bool| vec![Row::ZERO; if is_used { count } else { 0 }];
        Self {
            z: [true, true, !is_few].map(numbers),
            c: [true; 2].map(numbers),
            squares: [!is_few; 3].map(numbers),
            negative: [0; 3],
            sign: SignRule::of(fold),
            products,
        }
    }

    /// Whether digits are few, so that x + y is not kept.
    pub(super) fn is_few(&self) -> bool {
        self.z[2].is_empty()
    }

    /// Digits of a number.
    pub(in crate::deep) fn digits(&self) -> usize {
        self.z[0].len()
    }

    /// The exponent of a unit of the last place.
    pub(in crate::deep) fn unit(&self) -> i32 {
        unit(self.digits())
    }

    /// The lanes in which one part of a folded z is negative, as bits.
    pub(super) fn differing(&self) -> u8 {
        let [x, y] = self.negative_parts();
        self.sign.differing(x, y)
    }

    /// Begins an orbit in a lane, from z, with at most as many limbs as there were at the beginning, by c. Whether both are near enough.
    pub(in crate::deep) fn begin(&mut self, lane: usize, [z, c]: [[&Fixed; 2]; 2]) -> bool {
        if !is_near(z) || !is_near(c) {
            return false;
        }
        let count = self.digits();
        for (of_c, part) in self.c.iter_mut().zip(c) {
            for (row, digit) in of_c.iter_mut().zip(digits(part, count)) {
                row.0[lane] = if part.negative { digit.wrapping_neg() } else { digit };
            }
        }
        let mut sum = z[0].clone();
        sum.add(z[1]);
        for (k, part) in [z[0], z[1], &sum].into_iter().enumerate() {
            let bit = 1 << lane;
            self.negative[k] = self.negative[k] & !bit | if part.negative { bit } else { 0 };
            for (row, digit) in self.z[k].iter_mut().zip(digits(part, count)) {
                row.0[lane] = digit;
            }
        }
        true
    }

    /// Makes a step in all lanes, off by less than 8 units of the last place. With few digits as `few.rs` does; otherwise x^2 - y^2 and (x + y)^2 - x^2 - y^2 from three squares, each below the exact one
    /// by less than 2 units: so the parts are off by less than 4 and 6.
    #[inline(always)]
    pub(in crate::deep) fn step(&mut self) {
        let Products(()) = self.products;
        // SAFETY: `Products` is made only where the machine has these instructions.
        #[expect(unsafe_code, reason = "a call of a function compiled for instructions that were detected")]
        unsafe {
            self.step_in_vectors();
        }
    }

    /// The same, for functions that are compiled for these instructions.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    pub(in crate::deep) fn step_in_vectors(&mut self) {
        if self.is_few() { few::step(self) } else { step(self) }
    }

    /// |x| and |y| of all lanes in f64, each off by less than 2^-104 and two roundings.
    pub(in crate::deep) fn magnitudes(&self) -> [[f64; LANES]; 2] {
        let Products(()) = self.products;
        // SAFETY: `Products` is made only where the machine has these instructions.
        #[expect(unsafe_code, reason = "a call of a function compiled for instructions that were detected")]
        unsafe {
            self.magnitudes_in_vectors().map(|part| Reals::of(part).0)
        }
    }

    /// The same, for functions that are compiled for these instructions.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    pub(in crate::deep) fn magnitudes_in_vectors(&self) -> [__m512d; 2] {
        [magnitudes(&self.z[0]), magnitudes(&self.z[1])]
    }

    /// The lanes with a negative x and those with a negative y, as bits.
    pub(in crate::deep) fn negative_parts(&self) -> [u8; 2] {
        let [x, y, _] = self.negative;
        [x, y]
    }

    /// Whether x and y of a lane are negative.
    pub(in crate::deep) fn signs(&self, lane: usize) -> [bool; 2] {
        [0, 1].map(|part: usize| self.negative[part] >> lane & 1 != 0)
    }

    /// The parts of z of a lane in fixed point with so many limbs, at most those of c: cut off to those.
    pub(in crate::deep) fn parts(&self, lane: usize, limbs: usize) -> [Fixed; 2] {
        let signs = self.signs(lane);
        [0, 1].map(|part: usize| in_limbs(self.digits(), |place| self.z[part][place].0[lane], signs[part], limbs))
    }

    /// z of a lane, to 106 bits of its larger part.
    pub(in crate::deep) fn leading(&self, lane: usize) -> Extended<Dd> {
        let [x, y] = [0, 1].map(|part: usize| leading(self.digits(), |place| self.z[part][place].0[lane]));
        joined([x, y], self.signs(lane))
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
#[inline]
fn step(orbits: &mut EightOrbits) {
    let differing = orbits.differing();
    let EightOrbits { z, c, squares, negative, .. } = orbits;
    // Those in which 2 |x| |y|, which is found with the sign of x y, has the other one.
    let other = differing ^ negative[0] ^ negative[1];
    for (z, square_of_z) in z.iter().zip(&mut *squares) {
        square(z.as_chunks().0, square_of_z.as_chunks_mut().0);
    }
    let count = z[0].len();
    let [xx, yy, ss] = squares.each_ref().map(|number| &number[..count]);
    let [of_x, of_y] = c.each_ref().map(|number| &number[..count]);
    let sums = |place: usize| {
        let [xx, yy, ss, of_x, of_y] = [xx, yy, ss, of_x, of_y].map(|number| number[place].vector());
        let x = _mm512_add_epi64(_mm512_sub_epi64(xx, yy), of_x);
        let mixed = _mm512_sub_epi64(_mm512_sub_epi64(ss, xx), yy);
        let y = _mm512_mask_sub_epi64(_mm512_add_epi64(of_y, mixed), other, of_y, mixed);
        [x, y, _mm512_add_epi64(x, y)]
    };
    *negative = settle(sums, z.each_mut().map(|number| &mut number[..]));
}
