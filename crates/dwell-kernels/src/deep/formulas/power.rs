//! Powers and their differences, in every number, with the constants of their roundings.

use crate::deep::extended::{Bound, Extended};
use crate::deep::lanes::Reals;
use crate::deep::mantissa::{Complex, Mantissa, Real};
use fearless_simd::Simd;

/// Complex numbers of any kind.
pub(super) trait Ring: Copy {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
}

impl<T: Real> Ring for Complex<T> {
    #[inline(always)]
    fn sum(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn product(self, other: Self) -> Self {
        self * other
    }
}

impl<T: Mantissa> Ring for Extended<T> {
    #[inline(always)]
    fn sum(self, other: Self) -> Self {
        self.plus(other)
    }
    #[inline(always)]
    fn product(self, other: Self) -> Self {
        self.times(other)
    }
}

/// w^power for a power of at least 1, by its binary digits. Off by at most (2.24 (power - 1) + power f) u |w|^power where w is off by f u |w|.
#[inline(always)]
pub(super) fn raised<R: Ring>(w: R, power: u32) -> R {
    let mut result = w;
    for digit in (0..power.ilog2()).rev() {
        result = result.product(result);
        if power >> digit & 1 == 1 {
            result = result.product(w);
        }
    }
    result
}

/// (Z + z)^N - Z^N for w = Z + z, without cancellation: with d_j = w^j - Z^j, d_2j = d_j (w^j + Z^j) and d_(j+1) = d_j w + Z^j z.
///
/// **Roundings.** M bounds |w| and |Z|. Let Z be off by u M, w by 2.01 u M and z by k u |z|. A product of complex numbers is off by sqrt 5 u of its modulus (2.24 is above it),
/// a sum by u. So w^j is off by less than (4.25 j - 2.24) u M^j and Z^j by less than (3.24 j - 2.24) u M^j, by induction. As |d_j| <= j |z| M^(j-1),
/// with K_j u |z| M^(j-1) the error of d_j:
///
/// ```text
/// K_2j    <= 2 K_j + j (4.25 j + 3.24 j - 4.48 + 2) + 2.24 (2 j)  =  2 K_j + 7.49 j^2 + 2 j
/// K_(j+1) <= K_j + (2.01 + 2.24) j + (3.24 j - 2.24 + k + 2.24) + (j + 1)  =  K_j + 8.49 j + k + 1
/// ```
///
/// K_j = 4.75 j^2 + 0.4 j satisfies both for k <= 4.1 (where z is folded, see [`super::folds`]). The sum with c adds u N |z| M^(N-1) + u |c|, so that
/// [`roundings`] u |z| M^(N-1) + u |c| bounds a step, with room for terms of second order.
#[inline(always)]
pub(super) fn difference<R: Ring>(z: R, w: R, reference: R, power: u32) -> R {
    let (mut d, mut of_w, mut of_z) = (z, w, reference);
    for digit in (0..power.ilog2()).rev() {
        d = d.product(of_w.sum(of_z));
        let has_one = power >> digit & 1 == 1;
        if digit > 0 {
            of_w = of_w.product(of_w);
        }
        if digit > 0 || has_one {
            of_z = of_z.product(of_z);
        }
        if has_one {
            d = d.product(w).sum(of_z.product(z));
            if digit > 0 {
                of_w = of_w.product(w);
                of_z = of_z.product(reference);
            }
        }
    }
    d
}

/// K of the roundings of a step, K u |z| M^(N-1): see [`difference`].
pub(in crate::deep) fn roundings(power: u32) -> f64 {
    let n = f64::from(power);
    5.0 * n * n + 2.0 * n
}

/// x^power of a number of at least 0, for a power of at least 0.
#[inline(always)]
pub(in crate::deep) fn of_real(x: f64, power: u32) -> f64 {
    if power == 0 {
        return 1.0;
    }
    let mut result = x;
    for digit in (0..power.ilog2()).rev() {
        result *= result;
        if power >> digit & 1 == 1 {
            result *= x;
        }
    }
    result
}

/// As [`of_real`], of lanes.
#[inline(always)]
pub(super) fn of_lanes<S: Simd>(x: Reals<S>, power: u32) -> Reals<S> {
    let mut result = x;
    for digit in (0..power.ilog2()).rev() {
        result = result * result;
        if power >> digit & 1 == 1 {
            result = result * x;
        }
    }
    result
}

/// As [`of_real`], of any magnitude.
pub(in crate::deep) fn of_bound(x: Bound, power: u32) -> Bound {
    (0..power).fold(Bound::ONE, |product, _| product.times(x))
}
