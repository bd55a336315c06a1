//! The leading bits of numbers in fixed point.

use super::extended::{Extended, power_of_two};
use super::limbs::Fixed;
use super::mantissa::{Complex, Dd, Mantissa};

/// The exponent of zero.
const OF_ZERO: i32 = i32::MIN / 8;

/// A magnitude in [1, 2) and the exponent of its unit, or zero.
pub(super) type Leading = (Dd, i32);

/// Zero.
pub(super) const ZERO: Leading = (Dd::ZERO, OF_ZERO);

/// 106 bits of a magnitude: those of the first 128, of which the first is set, and the exponent of that bit.
pub(super) fn of_bits(bits: u128, exponent: i32) -> Leading {
    let (first, second) = ((bits >> 64) as u64, bits as u64);
    // 53 bits as multiples of 2^-63, then 64 of the other 75, rounded to 53: a conversion of 75 bits is a call.
    let unit = 1.0 / (1_u64 << 63) as f64;
    let high = (first >> 11 << 11) as f64 * unit;
    let rest = ((first & 0x7ff) << 53 | second >> 11) as f64 * (unit / (1_u64 << 53) as f64);
    (Dd::sum(high, rest), exponent)
}

/// 106 bits of a magnitude.
pub(super) fn of_limbs(limbs: &[u64]) -> Leading {
    let Some(top) = limbs.iter().rposition(|limb| *limb != 0) else { return ZERO };
    let at = |below: usize| top.checked_sub(below).map_or(0, |place| limbs[place]);
    let shift = limbs[top].leading_zeros();
    let upper = u128::from(at(0)) << 64 | u128::from(at(1));
    let bits = upper << shift | u128::from(at(2)) >> (64 - shift.max(1)) >> u32::from(shift == 0);
    let below_point = i32::try_from(limbs.len() - 1 - top).unwrap_or(i32::MAX / 128);
    of_bits(bits, 63 - 64 * below_point - i32::try_from(shift).unwrap_or(0))
}

/// The complex number of two magnitudes and whether they are negative, to 106 bits of the larger part.
pub(super) fn joined([re, im]: [Leading; 2], is_negative: [bool; 2]) -> Extended<Dd> {
    let e = re.1.max(im.1);
    let aligned = |(part, of_part): Leading, is_negative: bool| {
        let sign = if is_negative { -1.0 } else { 1.0 };
        if e - of_part > 900 { Dd::ZERO } else { part.scaled(sign * power_of_two(of_part - e)) }
    };
    Extended::new(Complex { re: aligned(re, is_negative[0]), im: aligned(im, is_negative[1]) }, e)
}

/// A point in fixed point, to 106 bits of its larger part.
pub(super) fn pair(x: &Fixed, y: &Fixed) -> Extended<Dd> {
    joined([x, y].map(|part| of_limbs(&part.limbs)), [x.negative, y.negative])
}
