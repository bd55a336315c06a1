//! Recipes: the exact order of roundings of one iteration, z -> z^2 + c with z = x + iy, c = a + ib.
//!
//! `<.>` is one rounding to nearest, ties to even; everything not in `<.>` below is exact.
//!
//! Recipe `fused` (the default): three fused multiply-adds and an addition.
//!
//! ```text
//! t  = <a - y y>
//! y' = <2x y + b>
//! x' = <x x + t>
//! |z|^2 = <x x + <y y>>
//! ```
//!
//! Recipe `separate`: no fusing, for hardware without it and for comparing the two.
//!
//! ```text
//! t  = <a - <y y>>
//! y' = <<2x y> + b>
//! x' = <<x x> + t>
//! |z|^2 = <<x x> + <y y>>
//! ```
//!
//! z_0 = 0 and z_1 = c is taken as it is: no step is done for it. A point has escaped at n when |z_n|^2, so rounded, is
//! greater than <R^2> (R^2 computed exactly from the decimal R and rounded once) or is NaN.
//!
//! Nothing is flushed to zero, contracted or reassociated. A GPU engine must use the same operations in the same order.

use crate::real::Real;

/// Which order of roundings an iteration uses. See the [module](self) for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Recipe {
    /// With fused multiply-add.
    #[default]
    Fused,
    /// Every product and sum rounded on its own.
    Separate,
}

impl Recipe {
    /// Every recipe.
    pub const ALL: [Self; 2] = [Self::Fused, Self::Separate];

    /// Its name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::Separate => "separate",
        }
    }
}

/// A recipe as a type, so that a kernel is compiled for it.
pub(crate) trait Roundings: Copy {
    /// The step from z to z^2 + c.
    fn step<R: Real>(x: R, y: R, a: R, b: R) -> (R, R);
    /// |z|^2.
    fn norm<R: Real>(x: R, y: R) -> R;
}

/// [`Recipe::Fused`].
#[derive(Clone, Copy)]
pub(crate) struct Fused;
/// [`Recipe::Separate`].
#[derive(Clone, Copy)]
pub(crate) struct Separate;

impl Roundings for Fused {
    #[inline(always)]
    fn step<R: Real>(x: R, y: R, a: R, b: R) -> (R, R) {
        let t = y.neg().fma(y, a);
        let y = x.add(x).fma(y, b);
        let x = x.fma(x, t);
        (x, y)
    }
    #[inline(always)]
    fn norm<R: Real>(x: R, y: R) -> R {
        x.fma(x, y.mul(y))
    }
}

impl Roundings for Separate {
    #[inline(always)]
    fn step<R: Real>(x: R, y: R, a: R, b: R) -> (R, R) {
        let t = a.sub(y.mul(y));
        let y = x.add(x).mul(y).add(b);
        let x = x.mul(x).add(t);
        (x, y)
    }
    #[inline(always)]
    fn norm<R: Real>(x: R, y: R) -> R {
        x.mul(x).add(y.mul(y))
    }
}

/// Runs `$body` with `$r` naming the recipe's type.
macro_rules! with_recipe {
    ($recipe:expr, $r:ident => $body:expr) => {
        match $recipe {
            $crate::recipe::Recipe::Fused => {
                type $r = $crate::recipe::Fused;
                $body
            }
            $crate::recipe::Recipe::Separate => {
                type $r = $crate::recipe::Separate;
                $body
            }
        }
    };
}
pub(crate) use with_recipe;

#[cfg(test)]
mod tests {
    use super::*;

    /// One step by hand in numbers where the two recipes differ: y = 1 + 2^-30, y y = 1 + 2^-29 + 2^-60.
    #[test]
    fn each_rounding_stands_where_the_page_says() {
        let e = 2f64.powi(-30);
        let (x, y, a, b) = (0.5, 1.0 + e, 1.0, 0.25);
        // fused: a - y y = -2^-29 - 2^-60 kept whole; separate: y y rounds to 1 + 2^-29 first.
        let (fx, fy) = Fused::step(x, y, a, b);
        let (sx, sy) = Separate::step(x, y, a, b);
        assert_eq!(fx, 0.25 - 2f64.powi(-29) - 2f64.powi(-60));
        assert_eq!(sx, 0.25 - 2f64.powi(-29));
        assert_eq!((fy, sy), (1.25 + e, 1.25 + e));
        // 2x y = 1.5 (1 + 2^-30)(1 + 2^-30) needs 62 bits.
        let (x, y, b) = (0.75 * (1.0 + e), 1.0 + e, -1.5);
        let (_, fy) = Fused::step(x, y, a, b);
        let (_, sy) = Separate::step(x, y, a, b);
        assert_eq!(fy, 3.0 * e + 1.5 * e * e);
        assert_eq!(sy, 3.0 * e);
        // x x = 1 + 2^-26 + 2^-54 and y y = 1.5625 * 2^-54: together over half an ulp of 1, each alone under it.
        let (x, y) = (1.0 + 2f64.powi(-27), 1.25 * 2f64.powi(-27));
        assert_eq!(Fused::norm(x, y), 1.0 + 2f64.powi(-26) + 2f64.powi(-52));
        assert_eq!(Separate::norm(x, y), 1.0 + 2f64.powi(-26));
    }
}
