//! Products of magnitudes of n limbs, cut off to n limbs.
//!
//! As squares ([`mod@super::square`]), by rows without the columns that do not matter: products a_i b_j with i + j < n - 3 are left out, which are less than n 2^-64 units of the
//! last place together. So a product is below the exact one by less than 2 units.

use super::square::OWN;
use dashu_int::UBig;

/// The product of two magnitudes, cut off: below the exact one by less than 2 units of the last place. `columns` has twice as many limbs.
#[inline(always)]
pub(in crate::deep) fn product(a: &[u64], b: &[u64], columns: &mut [u64], out: &mut [u64]) {
    let n = a.len();
    if n > OWN {
        let whole = |limbs: &[u64]| {
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            UBig::from_le_bytes(&bytes)
        };
        let product = (whole(a) * whole(b)).to_le_bytes();
        let kept = product.get(8 * (n - 1)..).unwrap_or_default();
        out.fill(0);
        for (limb, bytes) in out.iter_mut().zip(kept.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *limb = u64::from_le_bytes(whole);
        }
        return;
    }
    let first = (n - 1).saturating_sub(2);
    columns.fill(0);
    for (i, a) in a.iter().enumerate() {
        let from = first.saturating_sub(i);
        if from >= n {
            continue;
        }
        let mut carry = 0;
        for (b, column) in b[from..].iter().zip(&mut columns[i + from..]) {
            (*column, carry) = a.carrying_mul_add(*b, *column, carry);
        }
        columns[i + n] = carry;
    }
    out.copy_from_slice(&columns[n - 1..2 * n - 1]);
}
