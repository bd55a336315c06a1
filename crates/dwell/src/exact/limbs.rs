//! Numbers in fixed point, as kernels take them.

use crate::exact::rational::Rational;
use dashu_int::IBig;
use dashu_int::ops::UnsignedAbs;
use dwell_kernels::deep::limbs::Fixed;

/// A number in fixed point with so many limbs, rounded down.
pub(crate) fn fixed(value: &Rational, limbs: usize) -> Fixed {
    in_limbs(&value.floor_scaled(64 * (limbs - 1)), limbs)
}

/// A number of units of the last place, in so many limbs.
pub(crate) fn in_limbs(units: &IBig, limbs: usize) -> Fixed {
    let bytes = units.clone().unsigned_abs().to_le_bytes();
    let mut fixed = Fixed::zero(limbs);
    fixed.negative = *units < IBig::ZERO;
    for (limb, bytes) in fixed.limbs.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *limb = u64::from_le_bytes(whole);
    }
    fixed
}

/// The units of the last place of a number.
#[cfg(feature = "toml")]
pub(crate) fn units(fixed: &Fixed) -> IBig {
    let bytes: Vec<u8> = fixed.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let magnitude = IBig::from(dashu_int::UBig::from_le_bytes(&bytes));
    if fixed.negative { -magnitude } else { magnitude }
}

#[cfg(all(test, feature = "toml"))]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_limbs() {
        for text in ["0", "1", "-1", "0.5", "-1.7548776662466927", "1e-40", "-3e-19"] {
            let value = text.parse::<crate::Decimal>().unwrap().to_rational();
            for limbs in [2, 3, 7] {
                assert_eq!(units(&fixed(&value, limbs)), value.floor_scaled(64 * (limbs - 1)), "{text}");
            }
        }
    }
}
