//! Squares of magnitudes of n digits in each lane, cut off to n digits.
//!
//! Digits are multiplied by tiles of four. With the point after the digit n - 1, column k has the unit 2^(52 (k - 2 (n - 1))), and the results are columns
//! n - 1 and above. Tiles whose products all belong to columns below n - 3 are left out: less than n 2^-52 units of the last place together, and what is
//! below that place is cut off. So a square is below the exact one by less than 2 units.

use super::{BITS, MASK, Row, TILE, Tile};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_srli_epi64,
};

/// The columns of a product of two tiles, in units of the first.
const COLUMNS: usize = 2 * TILE;

/// Sums of the lower and of the upper halves of products, by the column of the lower half: fourteen chains of at most four sums, which hide
/// their latency.
struct Sums {
    low: [__m512i; COLUMNS - 1],
    high: [__m512i; COLUMNS - 1],
}

impl Sums {
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn add(&mut self, i: usize, j: usize, a: __m512i, b: __m512i) {
        self.low[i + j] = _mm512_madd52lo_epu64(self.low[i + j], a, b);
        self.high[i + j] = _mm512_madd52hi_epu64(self.high[i + j], a, b);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn add_tiles(&mut self, a: &Tile, b: &Tile) {
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                self.add(i, j, a.vector(), b.vector());
            }
        }
    }

    /// Twice the sums, by columns.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn doubled(&self) -> [__m512i; COLUMNS] {
        let mut columns = [_mm512_setzero_si512(); COLUMNS];
        columns[..COLUMNS - 1].copy_from_slice(&self.low);
        for (column, high) in columns[1..].iter_mut().zip(self.high) {
            *column = _mm512_add_epi64(*column, high);
        }
        columns.map(|column| _mm512_add_epi64(column, column))
    }
}

/// The squares, cut off: below the exact ones by less than 2 units of the last place. Both have as many tiles.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn square(a: &[Tile], out: &mut [Tile]) {
    let count = a.len();
    let zero = _mm512_setzero_si512();
    let mask = _mm512_set1_epi64(MASK.cast_signed());
    let out = out[..count].as_flattened_mut();
    // Sums of tiles t hold the columns from 4 t to 4 t + 7: the first t with one from n - 3 on.
    let first = (TILE * count).saturating_sub(3 + COLUMNS - 1).div_ceil(TILE);
    let (mut carry, mut upper) = (zero, [zero; TILE]);
    for t in first..2 * count {
        let mut sums = Sums { low: [zero; COLUMNS - 1], high: [zero; COLUMNS - 1] };
        for i in (t + 1).saturating_sub(count)..t.div_ceil(2) {
            sums.add_tiles(&a[i], &a[t - i]);
        }
        let middle = a.get(t / 2).filter(|_| t % 2 == 0);
        if let Some(middle) = middle {
            for i in 0..TILE {
                for j in i + 1..TILE {
                    sums.add(i, j, middle[i].vector(), middle[j].vector());
                }
            }
        }
        let mut columns = sums.doubled();
        if let Some(middle) = middle {
            for i in 0..TILE {
                let digit = middle[i].vector();
                columns[2 * i] = _mm512_madd52lo_epu64(columns[2 * i], digit, digit);
                columns[2 * i + 1] = _mm512_madd52hi_epu64(columns[2 * i + 1], digit, digit);
            }
        }
        for column in 0..TILE {
            let sum = _mm512_add_epi64(_mm512_add_epi64(columns[column], upper[column]), carry);
            carry = _mm512_srli_epi64::<BITS>(sum);
            upper[column] = columns[TILE + column];
            // The result begins with column n - 1.
            let Some(place) = (TILE * t + column + 1).checked_sub(TILE * count) else { continue };
            if let Some(row) = out.get_mut(place) {
                *row = Row::of(_mm512_and_si512(sum, mask));
            }
        }
    }
}
