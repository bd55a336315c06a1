//! Fixed-point numbers in vectors, for products of 52-bit digits (AVX-512 IFMA): the digits of one place of eight numbers in the lanes of a vector (`digits/eight.rs`), or the products of the two parts of one number (`digits/one.rs`).
//!
//! A digit has 52 bits in a lane of 64. A number has n digits, least significant first: the last one is before the
//! point, and |z| is below 2^20. Magnitudes are multiplied, as in `limbs.rs`, and sums are made of digits with signs, in 64 bits, before carries are propagated.
//!
//! What steps take by the number of bits is in docs/deep.md.
//!
//! Tried: digits of one number side by side in a vector, which shifts vectors for each product; columns of single digits rather than of tiles of four,
//! 2.2 times the time with 20 digits; one sum for the lower halves of a column and the upper halves of the one before, 1.5 times.

mod eight;
mod few;
mod one;
mod square;
#[cfg(test)]
mod tests;

pub(super) use eight::EightOrbits;
pub(super) use one::OneOrbit;

use super::leading::{self, Leading};
use super::limbs::Fixed;
use crate::formula::Fold;
use crate::level::{Level, LevelName};
use std::arch::x86_64::{
    __m512d, __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cvtepu64_pd, _mm512_fmadd_pd,
    _mm512_maskz_set1_epi64, _mm512_movepi64_mask, _mm512_movm_epi64, _mm512_set1_epi64, _mm512_set1_pd,
    _mm512_setzero_pd, _mm512_setzero_si512, _mm512_srai_epi64, _mm512_xor_si512,
};

/// Numbers in a vector.
pub(super) const LANES: usize = 8;
/// Bits of a digit.
const BITS: u32 = 52;
const MASK: u64 = (1 << BITS) - 1;
/// Digits that are multiplied together.
const TILE: usize = 4;
/// The most digits: sums of a column, of at most 2 n products below 2^52, fit into 64 bits.
const MOST_DIGITS: usize = 2000;
/// The greatest |part of c| and R^2, so that z^2 + c is below 2^40.
const FARTHEST: u64 = 1 << 18;
const MOST_ESCAPE: f64 = 68_719_476_736.0;

/// The numbers of a vector in memory.
macro_rules! in_memory {
    ($(#[$doc:meta])* $name:ident, $number:ty, $lanes:literal, $bytes:literal, $vector:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(align($bytes))]
        pub(super) struct $name(pub(super) [$number; $lanes]);

        impl $name {
            #[inline(always)]
            pub(super) fn vector(self) -> $vector {
                // SAFETY: both types have as many bytes, without padding, of which every value is valid.
                #[expect(unsafe_code, reason = "the only way from memory to a vector that keeps indices checked")]
                unsafe {
                    std::mem::transmute(self.0)
                }
            }

            #[inline(always)]
            pub(super) fn of(vector: $vector) -> Self {
                // SAFETY: both types have as many bytes, without padding, of which every value is valid.
                #[expect(unsafe_code, reason = "the inverse of the function above")]
                Self(unsafe { std::mem::transmute::<$vector, [$number; $lanes]>(vector) })
            }
        }
    };
}
use in_memory;

/// Calls a macro with the numbers of digits that are few: for each the name of a function, the number, and the columns of a square that are not left out.
macro_rules! for_few_digits {
    ($steps:ident) => {
        $steps! {
            of_four: 4, 2 3 4 5 6;
            of_five: 5, 3 4 5 6 7 8;
            of_six: 6, 4 5 6 7 8 9 10;
            of_seven: 7, 5 6 7 8 9 10 11 12;
            of_eight: 8, 6 7 8 9 10 11 12 13 14;
            of_nine: 9, 7 8 9 10 11 12 13 14 15 16;
            of_ten: 10, 8 9 10 11 12 13 14 15 16 17 18;
            of_eleven: 11, 9 10 11 12 13 14 15 16 17 18 19 20;
            of_twelve: 12, 10 11 12 13 14 15 16 17 18 19 20 21 22;
            of_fourteen: 14, 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26;
            of_sixteen: 16, 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30;
            of_eighteen: 18, 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34;
            of_twenty: 20, 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38;
        }
    };
}
use for_few_digits;

/// By a fold, which changes signs alone: in which lanes one part of a folded z is negative and the other is not.
#[derive(Clone, Copy, Debug)]
struct SignRule {
    /// Whether the signs of z matter, in all bits.
    counts: u8,
    /// Whether they are other ones then.
    flips: u8,
}

impl SignRule {
    fn of(fold: Fold) -> Self {
        let (counts, flips) = match fold {
            Fold::None => (u8::MAX, 0),
            Fold::Absolute => (0, 0),
            Fold::Conjugate => (u8::MAX, u8::MAX),
        };
        Self { counts, flips }
    }

    /// Of the lanes with a negative x and those with a negative y, as bits.
    #[inline(always)]
    fn differing(self, x: u8, y: u8) -> u8 {
        (x ^ y) & self.counts ^ self.flips
    }
}

in_memory! {
    /// The digits of one place of all lanes.
    Row, u64, 8, 64, __m512i
}

impl Row {
    const ZERO: Self = Self([0; LANES]);
}

in_memory! {
    /// A number of each lane.
    Reals, f64, 8, 64, __m512d
}

type Tile = [Row; TILE];

/// The proof that the machine has what the functions of this module are compiled for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Products(());

impl Products {
    /// For a level whose instructions have products of digits: the one of 512-bit vectors, which the vector library finds only where there is AVX-512 IFMA.
    pub(super) fn of(level: Level) -> Option<Self> {
        let has = !cfg!(fuzzing)
            && level.name() == LevelName::Avx512
            && std::arch::is_x86_feature_detected!("avx512ifma")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma");
        has.then_some(Self(()))
    }
}

/// The fewest digits of numbers that hold those of so many limbs, if orbits up to R^2 may be computed with them.
fn least_digits(limbs: usize, escape: f64) -> Option<usize> {
    let digits = 1 + (64 * limbs.checked_sub(1)?).div_ceil(BITS as usize);
    (digits <= MOST_DIGITS && escape <= MOST_ESCAPE).then_some(digits)
}

/// The exponent of a unit of the last place of so many digits.
fn unit(digits: usize) -> i32 {
    -i32::try_from(BITS as usize * (digits - 1)).unwrap_or(i32::MAX)
}

/// Whether the parts of c may be taken.
fn is_near(parts: [&Fixed; 2]) -> bool {
    parts.iter().all(|part| part.limbs.last().is_some_and(|whole| *whole < FARTHEST))
}

/// So many digits of a magnitude.
fn digits(fixed: &Fixed, count: usize) -> impl Iterator<Item = u64> + '_ {
    let bits = BITS as usize;
    // The place of the point in the limbs is that in the digits.
    let below = bits * (count - 1) - 64 * (fixed.limbs.len() - 1);
    // As if there were as many zeros in whole limbs below the first.
    let zeros = below.div_ceil(64);
    (0..count).map(move |i| {
        let limb = |at: usize| {
            let limb = at.checked_sub(zeros).and_then(|at| fixed.limbs.get(at));
            u128::from(limb.copied().unwrap_or(0))
        };
        let from = bits * i + 64 * zeros - below;
        ((limb(from / 64) | limb(from / 64 + 1) << 64) >> (from % 64)) as u64 & MASK
    })
}

/// 106 bits of a magnitude of so many digits.
fn leading(count: usize, digit: impl Fn(usize) -> u64) -> Leading {
    let Some(top) = (0..count).rfind(|place| digit(*place) != 0) else { return leading::ZERO };
    let at = |below: usize| top.checked_sub(below).map_or(0, |place| u128::from(digit(place)));
    let (upper, lower) = (at(0) << BITS | at(1), at(2) << BITS | at(3));
    // The top digit is not 0 and below 2^52, so that 24 to 75 bits are free.
    let shift = upper.leading_zeros();
    let bits = upper << shift | lower >> (2 * BITS - shift);
    let below_point = i32::try_from(count - 1 - top).unwrap_or(i32::MAX / 128);
    leading::of_bits(bits, 127 - shift.cast_signed() - BITS.cast_signed() * (below_point + 1))
}

/// A number of so many digits in fixed point with so many limbs, of which digits have at least the bits: what is below them is cut off.
fn in_limbs(count: usize, digit: impl Fn(usize) -> u64, negative: bool, limbs: usize) -> Fixed {
    let bits = BITS as usize;
    let digit = |at: usize| if at < count { u128::from(digit(at)) } else { 0 };
    let below = bits * (count - 1) - 64 * (limbs - 1);
    let limb = |i: usize| {
        let (at, shift) = ((64 * i + below) / bits, (64 * i + below) % bits);
        // Three digits hold the 64 bits, as 52 - shift + 2 * 52 >= 64.
        (digit(at) >> shift | digit(at + 1) << (bits - shift) | digit(at + 2) << (2 * bits - shift)) as u64
    };
    Fixed { negative, limbs: (0..limbs).map(limb).collect() }
}

/// Propagates the carries of K sums, digit by digit, and leaves their magnitudes. Returns which lanes are negative.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn settle<const K: usize>(sums: impl Fn(usize) -> [__m512i; K], mut out: [&mut [Row]; K]) -> [u8; K] {
    let count = out[0].len();
    let mask = _mm512_set1_epi64(MASK.cast_signed());
    let mut carries = [_mm512_setzero_si512(); K];
    let mut place = 0;
    while place < count {
        let sums = sums(place);
        for ((number, sum), carry) in out.iter_mut().zip(sums).zip(&mut carries) {
            let sum = _mm512_add_epi64(sum, *carry);
            *carry = _mm512_srai_epi64::<BITS>(sum);
            // The last digit keeps its sign.
            number[place] = Row::of(if place + 1 < count { _mm512_and_si512(sum, mask) } else { sum });
        }
        place += 1;
    }
    out.map(|number| {
        let negative = _mm512_movepi64_mask(number[count - 1].vector());
        if negative != 0 {
            negate(number, negative);
        }
        negative
    })
}

/// Replaces the numbers of some lanes, in two's complement, by their negatives.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn negate(number: &mut [Row], lanes: u8) {
    let (all, mask) = (_mm512_movm_epi64(lanes), _mm512_set1_epi64(MASK.cast_signed()));
    let of_digits = _mm512_and_si512(all, mask);
    let last = number.len() - 1;
    for row in &mut number[..last] {
        *row = Row::of(_mm512_xor_si512(row.vector(), of_digits));
    }
    number[last] = Row::of(_mm512_xor_si512(number[last].vector(), all));
    // One more in the last place.
    let first = _mm512_add_epi64(number[0].vector(), _mm512_maskz_set1_epi64(lanes, 1));
    number[0] = Row::of(first);
    // It is carried only where the digit was 0.
    if _mm512_cmpeq_epi64_mask(first, _mm512_set1_epi64(1 << BITS)) != 0 {
        let mut carry = _mm512_setzero_si512();
        for row in &mut number[..last] {
            let sum = _mm512_add_epi64(row.vector(), carry);
            carry = _mm512_srai_epi64::<BITS>(sum);
            *row = Row::of(_mm512_and_si512(sum, mask));
        }
        number[last] = Row::of(_mm512_add_epi64(number[last].vector(), carry));
    }
}

/// The magnitudes in f64, off by less than 2^-104 and two roundings.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn magnitudes(number: &[Row]) -> __m512d {
    let [.., second, first, whole] = number else { return _mm512_setzero_pd() };
    let unit = _mm512_set1_pd(1.0 / (1_u64 << BITS) as f64);
    let of_whole = _mm512_cvtepu64_pd(whole.vector());
    let of_rest = _mm512_fmadd_pd(_mm512_cvtepu64_pd(second.vector()), unit, _mm512_cvtepu64_pd(first.vector()));
    _mm512_fmadd_pd(of_rest, unit, of_whole)
}
