//! Squares of magnitudes of n limbs, cut off to n limbs.
//!
//! By rows, columns below the last two that matter are not computed: with f = n - 1 limbs after the point, products a_i b_j with i + j < f - 2 are left out, which are less than
//! n 2^-64 units of the last place together, and the result is cut off to that place. So a square is below the exact one by less than 2 units.
//!
//! `dashu-int` computes all columns, but takes less than quadratic time. Microseconds of a step with three squares on a Zen 5 core, by rows and by
//! `dashu-int`: 3.0 and 3.6 with 60 limbs, 14 and 17 with 134, 38 and 36 with 212, 63 and 63 with 290, 141 and 100 with 419, 213 and 146 with 523.
//!
//! Tried: products column by column, with three limbs of sums or with sums of lower and of upper halves: 1.6 times the time with 6 limbs, 0.9 with 60.

use dashu_int::UBig;

/// The most limbs of squares by rows.
pub(super) const OWN: usize = 300;

/// The square of a magnitude, cut off: below the exact one by less than 2 units of the last place. `columns` has twice as many limbs.
#[inline(always)]
pub(in crate::deep) fn square(a: &[u64], columns: &mut [u64], out: &mut [u64]) {
    if a.len() <= OWN {
        by_rows(a, columns, out);
    } else {
        let bytes: Vec<u8> = a.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let square = UBig::from_le_bytes(&bytes).sqr().to_le_bytes();
        let kept = square.get(8 * (a.len() - 1)..).unwrap_or_default();
        out.fill(0);
        for (limb, bytes) in out.iter_mut().zip(kept.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *limb = u64::from_le_bytes(whole);
        }
    }
}

#[inline(always)]
fn by_rows(a: &[u64], columns: &mut [u64], out: &mut [u64]) {
    let n = a.len();
    let first = (n - 1).saturating_sub(2);
    columns.fill(0);
    // Products of different limbs, once.
    for i in 0..n {
        let from = (i + 1).max(first.saturating_sub(i));
        if from >= n {
            continue;
        }
        let mut carry = 0;
        for (b, column) in a[from..].iter().zip(&mut columns[i + from..]) {
            (*column, carry) = a[i].carrying_mul_add(*b, *column, carry);
        }
        columns[i + n] = carry;
    }
    // Twice those, and the squares of the limbs.
    let (mut top, mut carry) = (0, false);
    let begin = first / 2 * 2;
    for (i, columns) in columns[begin..].chunks_exact_mut(2).enumerate() {
        let [low, high] = columns else { continue };
        let (of_low, of_high) = (*low << 1 | top, *high << 1 | *low >> 63);
        top = *high >> 63;
        let (square, over) = a[begin / 2 + i].carrying_mul(a[begin / 2 + i], 0);
        (*low, carry) = of_low.carrying_add(square, carry);
        (*high, carry) = of_high.carrying_add(over, carry);
    }
    out.copy_from_slice(&columns[n - 1..2 * n - 1]);
}
