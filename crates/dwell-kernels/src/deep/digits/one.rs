//! One orbit, of which the products x x, x y, y y and y x are made at once, in the four lanes of a vector of 256 bits.
//!
//! With the digits of |x| and |y| as a = (x, x, y, y) and b = (x, y, y, x), the products a_i b_j with i < j, doubled, and those of the digits of one place are the columns of x^2 and y^2, and of two halves of 2 |x| |y|: so
//! each product of two digits is made once, and carries are propagated once for both parts, after c is added. Processors make two such vectors in a cycle, and one or two of 512 bits, of which three squares
//! of |x|, |y| and |x + y| would fill three lanes of eight.
//!
//! **Error.** What is left out (`one/few.rs`, `one/many.rs`) is less than n 2^-49 units of the last place for n digits, and what is below that place is cut off, less than a unit. The magnitude of a negative part is its complement in
//! place of its negative: a unit less, and no carry. So each part is off by less than 2.1 units, and a step by less than 3.
//!
//! Nanoseconds of a step of an orbit that is followed alone, with its bounds (Zen 4), beside three squares, of |x|, |y| and |x + y|, in lanes of 512 bits and the limbs of `limbs.rs`:
//!
//! | bits | 192 | 256 | 320 | 384 | 448 | 576 | 704 | 960 | 1,856 | 3,776 | 8,896 | 18,496 |
//! |---|---|---|---|---|---|---|---|---|---|---|---|---|
//! | here | 18 | 20 | 25 | 30 | 33 | 46 | 54 | 71 | 256 | 642 | 2,646 | 9,904 |
//! | three squares | | | | | 83 | 138 | 168 | 175 | 437 | 1,193 | 5,317 | 19,886 |
//! | limbs | 49 | 62 | 86 | 87 | | | | | | | | |

mod few;
mod many;

use super::{
    BITS, MASK, Products, SignRule, digits, for_few_digits, in_limbs, in_memory, is_near, leading, least_digits, unit,
};
use crate::deep::extended::Extended;
use crate::deep::fixed_orbit::{EachStep, NEAR_ZERO};
use crate::deep::leading::joined;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::{Complex, Dd};
use crate::formula::Fold;
use std::arch::x86_64::{
    __m128d, __m128i, __m256i, _mm_add_epi64, _mm_add_pd, _mm_castsi128_pd, _mm_cvtepu64_pd, _mm_cvtsd_f64,
    _mm_fmadd_pd, _mm_mask_sub_epi64, _mm_mul_pd, _mm_set_epi64x, _mm_set1_pd, _mm_setzero_pd, _mm_sub_pd,
    _mm_unpackhi_pd, _mm_xor_pd, _mm256_broadcastsi128_si256, _mm256_castpd_si256, _mm256_castsi256_pd,
    _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_permute_pd,
};

in_memory! {
    /// The digits of one place of x and y.
    Both, u64, 2, 16, __m128i
}

impl Both {
    const ZERO: Self = Self([0; 2]);
}

/// The orbit of a point.
#[derive(Debug)]
pub(in crate::deep) struct OneOrbit {
    /// |x| and |y|.
    pub(super) z: Vec<Both>,
    /// The parts of c, of which the digits have the sign of the number.
    c: Vec<Both>,
    /// Whether x and y are negative, as bits.
    pub(super) negative: u8,
    sign: SignRule,
    /// Where there are many digits.
    many: Option<many::Scratch>,
    products: Products,
}

impl OneOrbit {
    /// The orbit from z by a fold, its square and c, if R^2, z, c and the number of their limbs allow it.
    pub(in crate::deep) fn new(products: Products, fold: Fold, [z, c]: [[&Fixed; 2]; 2], escape: f64) -> Option<Self> {
        let least = least_digits(c[0].limbs.len(), escape).filter(|_| is_near(z) && is_near(c))?;
        let few = few::COUNTS.iter().find(|count| **count >= least);
        let count = few.copied().unwrap_or(least.next_multiple_of(many::TILE));
        let zeros = vec![Both::ZERO; count];
        let many = few.is_none().then(|| many::Scratch::new(count));
        let mut orbit = Self { z: zeros.clone(), c: zeros, negative: 0, sign: SignRule::of(fold), many, products };
        for number in 0..2 {
            orbit.negative |= u8::from(z[number].negative) << number;
            for (both, digit) in orbit.z.iter_mut().zip(digits(z[number], count)) {
                both.0[number] = digit;
            }
            for (both, digit) in orbit.c.iter_mut().zip(digits(c[number], count)) {
                both.0[number] = if c[number].negative { digit.wrapping_neg() } else { digit };
            }
        }
        Some(orbit)
    }

    /// The exponent of a unit of the last place.
    pub(in crate::deep) fn unit(&self) -> i32 {
        unit(self.z.len())
    }

    /// Makes a step, off by less than 3 units of the last place.
    #[inline(always)]
    pub(in crate::deep) fn step(&mut self) {
        struct Once(bool);
        impl EachStep for Once {
            #[inline(always)]
            fn goes_on(&mut self, _: Complex<f64>) -> bool {
                std::mem::take(&mut self.0)
            }
        }
        self.steps(&mut Once(true));
    }

    /// Makes steps as long as it is told to, at z as [`Self::near`] has it.
    #[inline(always)]
    pub(in crate::deep) fn steps(&mut self, each: &mut impl EachStep) {
        let Products(()) = self.products;
        // SAFETY: `Products` is made only where the machine has these instructions.
        #[expect(unsafe_code, reason = "a call of a function compiled for instructions that were detected")]
        unsafe {
            steps(self, each);
        }
    }

    /// The parts of z in fixed point with so many limbs, at most those of c: cut off to those.
    pub(in crate::deep) fn parts(&self, limbs: usize) -> [Fixed; 2] {
        [0, 1].map(|part: usize| {
            let is_negative = self.negative >> part & 1 != 0;
            in_limbs(self.z.len(), |place| self.z[place].0[part], is_negative, limbs)
        })
    }

    /// z to 106 bits of its larger part.
    pub(in crate::deep) fn leading(&self) -> Extended<Dd> {
        if let [.., fourth, third, second, first] = &self.z[..] {
            let Products(()) = self.products;
            let digits = [fourth, third, second, first].map(|digit| digit.vector());
            // SAFETY: `Products` is made only where the machine has these instructions.
            #[expect(unsafe_code, reason = "a call of a function compiled for instructions that were detected")]
            let near = unsafe { pairs(&digits, self.negative) };
            if near.size() >= NEAR_ZERO {
                return Extended::new(near, 0);
            }
        }
        let parts = [0, 1].map(|part: usize| leading(self.z.len(), |place| self.z[place].0[part]));
        joined(parts, [self.negative & 1 != 0, self.negative & 2 != 0])
    }

    /// z in f64, each part off by less than 2^-104 and two roundings.
    pub(in crate::deep) fn near(&self) -> Complex<f64> {
        let Products(()) = self.products;
        let z: [__m128i; 3] = std::array::from_fn(|place| self.z[self.z.len() - 3 + place].vector());
        // SAFETY: `Products` is made only where the machine has these instructions.
        #[expect(unsafe_code, reason = "a call of a function compiled for instructions that were detected")]
        unsafe {
            near(&z, self.negative)
        }
    }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512ifma")]
#[inline]
fn steps(orbit: &mut OneOrbit, each: &mut impl EachStep) {
    let OneOrbit { z, c, negative, sign, many, .. } = orbit;
    match many {
        None => few::steps((z, negative), c, *sign, each),
        Some(scratch) => {
            while each.goes_on(match &z[..] {
                [.., third, second, first] => near(&[third.vector(), second.vector(), first.vector()], *negative),
                _ => Complex::ZERO,
            }) {
                many::step((z, negative), c, *sign, scratch);
            }
        }
    }
}

/// The factors a = (x, x, y, y) and b = (x, y, y, x) of the digits of a place.
#[target_feature(enable = "avx2,avx512f,avx512vl")]
#[inline]
fn factors(z: __m128i) -> [__m256i; 2] {
    let z = _mm256_castsi256_pd(_mm256_broadcastsi128_si256(z));
    [_mm256_permute_pd::<0b1100>(z), _mm256_permute_pd::<0b0110>(z)].map(|factor| _mm256_castpd_si256(factor))
}

/// The sums x x - y y and x y + y x of a column.
#[target_feature(enable = "avx2,avx512f,avx512vl")]
#[inline]
fn joined_column(column: __m256i) -> __m128i {
    let (of_x, of_y) = (_mm256_castsi256_si128(column), _mm256_extracti128_si256::<1>(column));
    _mm_mask_sub_epi64(_mm_add_epi64(of_x, of_y), 0b01, of_x, of_y)
}

/// Whether the second of such sums is negative, as a bit of its lane, where these parts of z are.
#[inline(always)]
fn negative_sums(sign: SignRule, negative: u8) -> u8 {
    sign.differing(negative, negative << 1) & 0b10
}

/// c and what such sums are, negative in some lanes.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn with_c(c: __m128i, sums: __m128i, negative: u8) -> __m128i {
    _mm_mask_sub_epi64(_mm_add_epi64(c, sums), negative, c, sums)
}

/// z in pairs of f64, of the four digits from the point on, the last one before the point: each part is off by less than 2^-105 of it and 2^-156, what is below the digits.
///
/// Below 2 the first two digits fit into an f64. From there up to 2^20 their sum s is off by e, a multiple of 2^-52; the other two, below 2^-52, leave s as it is. So the two sums that are rounded are at most 2^-53 of the part, and their roundings 2^-106 and half of that.
#[target_feature(enable = "avx512f,avx512vl,avx512dq")]
#[inline]
fn pairs(digits: &[__m128i; 4], negative: u8) -> Complex<Dd> {
    let unit = 1.0 / (1_u64 << BITS) as f64;
    let [fourth, third, second, first] = digits.map(|digit| _mm_cvtepu64_pd(digit));
    let scaled = |digit: __m128d, unit: f64| _mm_mul_pd(digit, _mm_set1_pd(unit));
    let (s, e) = two_sum(first, scaled(second, unit));
    let (t, of_t) = two_sum(scaled(third, unit * unit), scaled(fourth, unit * unit * unit));
    let (s, r) = two_sum(s, t);
    let low = _mm_add_pd(r, _mm_add_pd(e, of_t));
    let (high, low) = two_sum(s, low);
    // The signs of a pair are those of the number.
    let signs = _mm_set_epi64x(i64::from(negative & 2) << 62, i64::from(negative & 1) << 63);
    let [high, low] = [high, low].map(|part| _mm_xor_pd(part, _mm_castsi128_pd(signs)));
    let parts = |parts: __m128d| [_mm_cvtsd_f64(parts), _mm_cvtsd_f64(_mm_unpackhi_pd(parts, parts))];
    let ([re, im], [re_low, im_low]) = (parts(high), parts(low));
    Complex { re: Dd { hi: re, lo: re_low }, im: Dd { hi: im, lo: im_low } }
}

/// The sums of two numbers and what they are off by.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn two_sum(a: __m128d, b: __m128d) -> (__m128d, __m128d) {
    let sum = _mm_add_pd(a, b);
    let of_b = _mm_sub_pd(sum, a);
    let of_a = _mm_sub_pd(sum, of_b);
    (sum, _mm_add_pd(_mm_sub_pd(a, of_a), _mm_sub_pd(b, of_b)))
}

/// z in f64, of the three digits from the point on, the last one before the point.
#[target_feature(enable = "fma,avx512f,avx512vl,avx512dq")]
#[inline]
fn near([third, second, first]: &[__m128i; 3], negative: u8) -> Complex<f64> {
    let unit = _mm_set1_pd(1.0 / (1_u64 << BITS) as f64);
    let [third, second, first]: [__m128d; 3] = [third, second, first].map(|digit| _mm_cvtepu64_pd(*digit));
    let magnitudes = _mm_fmadd_pd(_mm_fmadd_pd(third, unit, second), unit, first);
    let [re, im] = [_mm_cvtsd_f64(magnitudes), _mm_cvtsd_f64(_mm_unpackhi_pd(magnitudes, _mm_setzero_pd()))];
    let signed = |part: f64, by: u8| f64::from_bits(part.to_bits() | u64::from(negative >> by & 1) << 63);
    Complex { re: signed(re, 0), im: signed(im, 1) }
}
