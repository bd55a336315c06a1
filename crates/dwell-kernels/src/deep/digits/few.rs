//! Steps of eight orbits with few digits, whose number the compiler knows.
//!
//! Products of digits are added up column by column, x^2 - y^2 and 2 |x| |y| at once, so that carries are propagated once for each part, after c is added, and no sum x + y is kept. With n digits and the point after
//! the digit n - 1, column k has the unit 2^(52 (k - 2 (n - 1))), and a part of z has the columns n - 1 to 2 (n - 1).
//!
//! **Error.** Columns below n - 2 are left out: at most 4 n halves of products below 2^52 in each, together less than n 2^-49 units of the last place. What is below the last place is cut off, less than a unit. The
//! magnitude of a negative part is its complement instead of its negative: a unit less, and no carry. So each part is off by less than 2.1 units, and a step by less than 3.
//!
//! Nanoseconds of a step of eight orbits on one core of a Xeon (Sapphire Rapids), and by three squares of tiles of four digits (`square.rs`):
//!
//! | digits | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 14 | 16 | 18 | 20 | 24 |
//! |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
//! | here | 30 | 36 | 45 | 54 | 64 | 77 | 92 | 107 | 122 | 159 | 209 | 275 | 337 | 488 |
//! | tiles | 86 | | | | 162 | | | | 232 | | 306 | | 389 | 492 |
//!
//! Products of two numbers take twice as long as a square, so that from 24 digits on three squares are as fast.
//!
//! Tried, with 5 digits: products over whole squares of digits, with all sums in registers, 70 instead of 37, since the compiler does not unroll loops in loops that far; lower and upper halves, x y and y x
//! in sums of their own, 52; carries added before what does not depend on them, 52.

use super::{BITS, MASK, Row, eight::EightOrbits, for_few_digits};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_sub_epi64,
    _mm512_mask_xor_epi64, _mm512_movepi64_mask, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srai_epi64,
    _mm512_sub_epi64,
};

/// Column k of x^2 - y^2 and of 2 |x| |y|, of magnitudes of N digits.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn column<const N: usize, const K: usize>(x: &[__m512i; N], y: &[__m512i; N]) -> [__m512i; 2] {
    let zero = _mm512_setzero_si512();
    // Products of different digits occur twice in a square.
    let (mut of_x, mut of_y, mut mixed) = (zero, zero, zero);
    let mut i = (K + 1).saturating_sub(N);
    while 2 * i < K {
        let j = K - i;
        of_x = _mm512_madd52lo_epu64(of_x, x[i], x[j]);
        of_y = _mm512_madd52lo_epu64(of_y, y[i], y[j]);
        mixed = _mm512_madd52lo_epu64(mixed, x[i], y[j]);
        mixed = _mm512_madd52lo_epu64(mixed, y[i], x[j]);
        i += 1;
    }
    // The upper halves of the column before.
    i = K.saturating_sub(N);
    while 2 * i + 1 < K {
        let j = K - 1 - i;
        of_x = _mm512_madd52hi_epu64(of_x, x[i], x[j]);
        of_y = _mm512_madd52hi_epu64(of_y, y[i], y[j]);
        mixed = _mm512_madd52hi_epu64(mixed, x[i], y[j]);
        mixed = _mm512_madd52hi_epu64(mixed, y[i], x[j]);
        i += 1;
    }
    let once = _mm512_sub_epi64(of_x, of_y);
    let twice = _mm512_add_epi64(once, once);
    let (x, y) = (x[K / 2], y[K / 2]);
    let (of_x, of_y, mixed) = if K.is_multiple_of(2) {
        (_mm512_madd52lo_epu64(twice, x, x), _mm512_madd52lo_epu64(zero, y, y), _mm512_madd52lo_epu64(mixed, x, y))
    } else {
        (_mm512_madd52hi_epu64(twice, x, x), _mm512_madd52hi_epu64(zero, y, y), _mm512_madd52hi_epu64(mixed, x, y))
    };
    [_mm512_sub_epi64(of_x, of_y), _mm512_add_epi64(mixed, mixed)]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn vectors<const N: usize>(rows: &[Row; N]) -> [__m512i; N] {
    let mut vectors = [_mm512_setzero_si512(); N];
    for (vector, row) in vectors.iter_mut().zip(rows) {
        *vector = row.vector();
    }
    vectors
}

/// A step of orbits of N digits. The macro gives the columns as constants.
macro_rules! steps {
    ($($name:ident: $n:literal, $($k:literal)*;)*) => {
        /// The numbers of digits that are few.
        pub(super) const COUNTS: &[usize] = &[$($n),*];

        /// Makes a step in all lanes, off by less than 3 units of the last place, of orbits with one of these numbers of digits.
        #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
        #[inline]
        pub(super) fn step(orbits: &mut EightOrbits) {
            match orbits.digits() {
                $($n => $name(orbits),)*
                _ => {}
            }
        }
        $(
            #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
            #[inline(never)]
            fn $name(orbits: &mut EightOrbits) {
                const N: usize = $n;
                let is_negative = orbits.differing();
                let EightOrbits { z: [of_x, of_y, _], c, negative, .. } = orbits;
                let (Some(of_x), Some(of_y)) = (of_x.first_chunk_mut::<N>(), of_y.first_chunk_mut::<N>()) else { return };
                let (Some(c_x), Some(c_y)) = (c[0].first_chunk::<N>(), c[1].first_chunk::<N>()) else { return };
                let (x, y, c) = (vectors(of_x), vectors(of_y), [vectors(c_x), vectors(c_y)]);
                let zero = _mm512_setzero_si512();
                let mask = _mm512_set1_epi64(MASK.cast_signed());
                let mut carries = [zero; 2];
                let mut out = [[zero; N]; 2];
                $({
                    let [square, mixed] = column::<N, $k>(&x, &y);
                    let place = usize::checked_sub($k + 1, N);
                    let [c_x, c_y] = place.map_or([zero; 2], |place| [c[0][place], c[1][place]]);
                    let sums = [
                        _mm512_add_epi64(square, c_x),
                        _mm512_mask_sub_epi64(_mm512_add_epi64(c_y, mixed), is_negative, c_y, mixed),
                    ];
                    for ((out, sum), carry) in out.iter_mut().zip(sums).zip(&mut carries) {
                        let sum = _mm512_add_epi64(sum, *carry);
                        *carry = _mm512_srai_epi64::<BITS>(sum);
                        if let Some(place) = place {
                            // The last digit keeps its sign.
                            out[place] = if place + 1 < N { _mm512_and_si512(sum, mask) } else { sum };
                        }
                    }
                })*
                for (part, number) in [of_x, of_y].into_iter().enumerate() {
                    let lanes = _mm512_movepi64_mask(out[part][N - 1]);
                    negative[part] = lanes;
                    for (place, (row, digit)) in number.iter_mut().zip(out[part]).enumerate() {
                        let all = if place + 1 < N { mask } else { _mm512_set1_epi64(-1) };
                        *row = Row::of(_mm512_mask_xor_epi64(digit, lanes, digit, all));
                    }
                }
            }
        )*
    };
}

for_few_digits!(steps);
