//! Steps with few digits, whose number the compiler knows: all loops are unrolled, and with up to ten digits an orbit that is followed stays in registers.
//!
//! With n digits and the point after the digit n - 1, column k has the unit 2^(52 (k - 2 (n - 1))), and a part of z has the columns n - 1 to 2 (n - 1). Columns below n - 2 are left out: at most 4 n halves of
//! products below 2^52 in each, together less than n 2^-49 units of the last place.

use super::{
    BITS, Both, EachStep, MASK, SignRule, factors, for_few_digits, joined_column, near, negative_sums, with_c,
};
use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi64, _mm_and_si128, _mm_movepi64_mask, _mm_set1_epi64x, _mm_setzero_si128,
    _mm_srai_epi64, _mm_xor_si128, _mm256_add_epi64, _mm256_madd52hi_epu64, _mm256_madd52lo_epu64,
    _mm256_setzero_si256,
};

/// Column k of the products of factors of N digits.
#[target_feature(enable = "avx2,avx512f,avx512vl,avx512ifma")]
#[inline]
fn column<const N: usize, const K: usize>(a: &[__m256i; N], b: &[__m256i; N]) -> __m256i {
    let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    let mut i = (K + 1).saturating_sub(N);
    while 2 * i < K {
        low = _mm256_madd52lo_epu64(low, a[i], b[K - i]);
        i += 1;
    }
    // The upper halves of the column before.
    i = K.saturating_sub(N);
    while 2 * i + 1 < K {
        high = _mm256_madd52hi_epu64(high, a[i], b[K - 1 - i]);
        i += 1;
    }
    let once = _mm256_add_epi64(low, high);
    let twice = _mm256_add_epi64(once, once);
    let (a, b) = (a[K / 2], b[K / 2]);
    if K.is_multiple_of(2) { _mm256_madd52lo_epu64(twice, a, b) } else { _mm256_madd52hi_epu64(twice, a, b) }
}

/// Steps of orbits of N digits. The macro gives the columns as constants.
macro_rules! steps {
    ($($name:ident: $n:literal, $($k:literal)*;)*) => {
        /// The numbers of digits that are few.
        pub(super) const COUNTS: &[usize] = &[$($n),*];

        /// Makes steps as long as it is told to, of an orbit with one of these numbers of digits.
        #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512ifma")]
        #[inline]
        pub(super) fn steps(z: (&mut [Both], &mut u8), c: &[Both], sign: SignRule, each: &mut impl EachStep) {
            match z.0.len() {
                $($n => $name(z, c, sign, each),)*
                _ => {}
            }
        }
        $(
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512ifma")]
            #[inline(never)]
            fn $name(
                (digits, negative): (&mut [Both], &mut u8),
                c: &[Both],
                sign: SignRule,
                each: &mut impl EachStep,
            ) {
                const N: usize = $n;
                let (Some(digits), Some(c)) = (digits.first_chunk_mut::<N>(), c.first_chunk::<N>()) else { return };
                let zero = _mm_setzero_si128();
                let mask = _mm_set1_epi64x(MASK.cast_signed());
                let mut z = [zero; N];
                for (vector, digit) in z.iter_mut().zip(&*digits) {
                    *vector = digit.vector();
                }
                while each.goes_on(near(&[z[N - 3], z[N - 2], z[N - 1]], *negative)) {
                    let (mut a, mut b) = ([_mm256_setzero_si256(); N], [_mm256_setzero_si256(); N]);
                    for i in 0..N {
                        [a[i], b[i]] = factors(z[i]);
                    }
                    let (mut carry, is_negative) = (zero, negative_sums(sign, *negative));
                    $({
                        let place = usize::checked_sub($k + 1, N);
                        let of_c = place.map_or(zero, |place| c[place].vector());
                        let sums = with_c(of_c, joined_column(column::<N, $k>(&a, &b)), is_negative);
                        let sum = _mm_add_epi64(sums, carry);
                        carry = _mm_srai_epi64::<BITS>(sum);
                        if let Some(place) = place {
                            // The last digit keeps its sign.
                            z[place] = if place + 1 < N { _mm_and_si128(sum, mask) } else { sum };
                        }
                    })*
                    // The last digit has no carry.
                    let _ = carry;
                    let [signs, of_digits] = signs(z[N - 1], mask);
                    *negative = _mm_movepi64_mask(z[N - 1]);
                    for (place, digit) in z.iter_mut().enumerate() {
                        *digit = _mm_xor_si128(*digit, if place + 1 < N { of_digits } else { signs });
                    }
                }
                for (vector, digit) in z.into_iter().zip(digits) {
                    *digit = Both::of(vector);
                }
            }
        )*
    };
}

/// All bits of the parts that are negative by their last digits, and those of a digit.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
pub(super) fn signs(last: __m128i, mask: __m128i) -> [__m128i; 2] {
    let signs = _mm_srai_epi64::<63>(last);
    [signs, _mm_and_si128(signs, mask)]
}

for_few_digits!(steps);
