//! One orbit, of which |x|, |y| and |x + y| are squared at once, in three lanes.

use super::square::square;
use super::{Products, Row, TILE, digits, in_limbs, is_near, leading, least_digits, settle, unit};
use crate::deep::extended::Extended;
use crate::deep::leading::joined;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Dd;
use std::arch::x86_64::{_mm512_add_epi64, _mm512_maskz_permutex_epi64, _mm512_permutex_epi64, _mm512_sub_epi64};

/// The orbit of a point.
#[derive(Debug)]
pub(in crate::deep) struct OneOrbit {
    /// |x|, |y| and |x + y| in lanes 0 to 2.
    z: Vec<Row>,
    /// The parts of c and their sum, of which the digits have the sign of the number.
    c: Vec<Row>,
    squares: Vec<Row>,
    /// The lanes with negative numbers, as bits.
    negative: u8,
    products: Products,
}

impl OneOrbit {
    /// The orbit of c from z = c, if R^2, c and the number of its limbs allow it.
    pub(in crate::deep) fn new(products: Products, parts: [&Fixed; 2], escape: f64) -> Option<Self> {
        let least = least_digits(parts[0].limbs.len(), escape).filter(|_| is_near(parts))?;
        let zeros = vec![Row::ZERO; least.next_multiple_of(TILE)];
        let mut orbit = Self { z: zeros.clone(), c: zeros.clone(), squares: zeros, negative: 0, products };
        orbit.set(parts);
        for (z, c) in orbit.z.iter().zip(&mut orbit.c) {
            for lane in 0..3 {
                let is_negative = orbit.negative >> lane & 1 != 0;
                c.0[lane] = if is_negative { z.0[lane].wrapping_neg() } else { z.0[lane] };
            }
        }
        Some(orbit)
    }

    /// Goes on from another z, with at most as many limbs as c.
    pub(in crate::deep) fn set(&mut self, parts: [&Fixed; 2]) {
        let mut sum = parts[0].clone();
        sum.add(parts[1]);
        let count = self.z.len();
        self.negative = 0;
        for (lane, part) in [parts[0], parts[1], &sum].into_iter().enumerate() {
            self.negative |= u8::from(part.negative) << lane;
            for (row, digit) in self.z.iter_mut().zip(digits(part, count)) {
                row.0[lane] = digit;
            }
        }
    }

    /// The exponent of a unit of the last place.
    pub(in crate::deep) fn unit(&self) -> i32 {
        unit(self.z.len())
    }

    /// Replaces z by z^2 + c, off by less than 8 units of the last place: see [`super::EightOrbits::step`].
    #[inline(always)]
    pub(in crate::deep) fn step(&mut self) {
        let Products(()) = self.products;
        // SAFETY: `Products` is made only where the machine has these instructions.
        #[expect(unsafe_code, reason = "a call of a function compiled for instructions that were detected")]
        unsafe {
            step(self);
        }
    }

    /// The parts of z in fixed point with so many limbs, at most those of c: cut off to those.
    pub(in crate::deep) fn parts(&self, limbs: usize) -> [Fixed; 2] {
        [0, 1].map(|lane: usize| in_limbs(&self.z, lane, self.negative >> lane & 1 != 0, limbs))
    }

    /// z to 106 bits of its larger part.
    pub(in crate::deep) fn leading(&self) -> Extended<Dd> {
        let parts = [leading(&self.z, 0), leading(&self.z, 1)];
        joined(parts, [self.negative & 1 != 0, self.negative & 2 != 0])
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn step(orbit: &mut OneOrbit) {
    let OneOrbit { z, c, squares, negative, .. } = orbit;
    square(z.as_chunks().0, squares.as_chunks_mut().0);
    let count = z.len();
    let (squares, c) = (&squares[..count], &c[..count]);
    // With the squares X, Y and S in lanes 0 to 2: X - Y, S - X - Y and, as their sum, S - 2 Y.
    let sums = |place: usize| {
        let squares = squares[place].vector();
        let first = _mm512_permutex_epi64::<0b10_10_00>(squares);
        let second = _mm512_permutex_epi64::<0b01_00_01>(squares);
        let third = _mm512_maskz_permutex_epi64::<0b01_01_00>(0b110, squares);
        let difference = _mm512_sub_epi64(_mm512_sub_epi64(first, second), third);
        [_mm512_add_epi64(difference, c[place].vector())]
    };
    [*negative] = settle(sums, [z]);
}
