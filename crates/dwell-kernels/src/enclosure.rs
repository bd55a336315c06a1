//! Bounds on the roundings of computed orbits, for proofs about whole discs of points ([`crate::blocks`] derives them).

use crate::arithmetic::Arithmetic;
use crate::number::Number;

/// The unit roundoff u.
pub(crate) fn unit<N: Number>() -> f64 {
    0.5_f64.powi(N::SIGNIFICAND_BITS.cast_signed())
}

/// k: a computed step of a formula of this power differs from the exact one by at most k u (|z|^N + |c|), in both recipes, but
/// for [`smallest`].
pub(crate) fn roundings_of_a_step(power: u32) -> f64 {
    f64::from(3 * power + 4)
}

/// What results below the smallest normal numbers can lose in the operations of a step.
pub(crate) fn smallest<N: Number>() -> f64 {
    64.0 * N::from_parts(false, 1, N::MIN_EXPONENT).to_f64()
}

/// The factor by which a computed bound of a step, a sum of products of positive numbers, is enlarged for its own roundings.
pub(crate) fn growth<N: Number>(power: u32) -> f64 {
    1.0 + f64::from(8 * power + 72) * unit::<N>()
}

/// The moduli up to which, and beyond which, every computed test finds that a point has not escaped, and that it has: R but for
/// more than the roundings of |z|^2 in either recipe.
pub(crate) fn sure_radii<N: Number>(radius_squared: N) -> [f64; 2] {
    let radius = radius_squared.to_f64().sqrt();
    [radius * (1.0 - 40.0 * unit::<N>()), radius * (1.0 + 40.0 * unit::<N>())]
}

/// v^k, for k of at least 1.
#[inline(always)]
pub(crate) fn power<T: Arithmetic>(v: T, k: u32) -> T {
    let mut result = v;
    for _ in 1..k {
        result = result.mul(v);
    }
    result
}
