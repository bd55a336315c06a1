//! The transfer functions of sRGB (IEC 61966-2-1): encoded values to linear light and back.

use super::elementary::power;

/// The encoded value at which the straight piece ends.
pub(super) const KNEE: f64 = 0.04045;
/// What is added to an encoded value beyond it, before its power is taken.
pub(super) const OFFSET: f64 = 0.055;
/// The slope of the straight piece.
const SLOPE: f64 = 12.92;

/// Linear light, 0 to 1, of an encoded value, 0 to 1. Within 1e-15.
pub(crate) fn linear_from_srgb(v: f64) -> f64 {
    if v <= KNEE { v / SLOPE } else { power((v + OFFSET) / (1.0 + OFFSET), 2.4) }
}

/// The encoded value, 0 to 1, of linear light, 0 to 1. Inverse of [`linear_from_srgb`] within 1e-12.
///
/// The standard gives 0.0031308 for the end of the straight piece, which is `KNEE / SLOPE` rounded down. With the
/// rounded value the function would jump by 3e-8 there, so the quotient itself is used.
pub(crate) fn srgb_from_linear(v: f64) -> f64 {
    if v <= KNEE / SLOPE { v * SLOPE } else { (1.0 + OFFSET).mul_add(power(v, 1.0 / 2.4), -OFFSET) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_are_inverse() {
        for i in 0..=1_000_000 {
            let v = f64::from(i) / 1e6;
            assert!((srgb_from_linear(linear_from_srgb(v)) - v).abs() < 1e-12, "{v}");
        }
        // Values on both sides of the knee.
        for v in [0.040_449_9, 0.040_449_95, 0.040_449_999_9, 0.04045, 0.040_450_000_1] {
            assert!((srgb_from_linear(linear_from_srgb(v)) - v).abs() < 1e-12, "{v}");
        }
    }

    #[test]
    fn values_equal_those_computed_with_30_digits() {
        // To 15 digits, by arithmetic to 30.
        for (encoded, linear) in [
            (0.0, 0.0),
            (1.0, 1.0),
            (0.5, 0.214_041_140_482_232),
            (128.0 / 255.0, 0.215_860_500_113_899),
            (0.04, 0.003_095_975_232_198),
            (10.0 / 255.0, 0.003_035_269_835_488),
        ] {
            assert!((linear_from_srgb(encoded) - linear).abs() < 1e-14, "{encoded}: {}", linear_from_srgb(encoded));
            assert!((srgb_from_linear(linear) - encoded).abs() < 1e-12);
        }
        assert_eq!((linear_from_srgb(1.0), srgb_from_linear(0.0)), (1.0, 0.0));
    }
}
