//! Folds of deltas.
//!
//! The fold F of a formula is applied to each part of w, or is linear. With Z the reference, the delta after the fold is F(Z + z) - F(Z).
//!
//! **Conjugation** is linear: the folded delta is the conjugate of z, exactly.
//!
//! **Absolute values.** For a part X of Z and x of z, f(X, x) = |X + x| - |X| is, by the signs of X and X + x, one of x, -x, 2 X + x and -(2 X + x): nothing cancels but in 2 X + x,
//! which is taken only where |X| <= |x|, so that it is X + (X + x) with roundings of at most 2 u |x|.
//!
//! *Why the case need not be certain.* f is continuous: it is 1-Lipschitz in x, as | |a| - |b| | <= |a - b|, and so the values for the computed and for the exact x differ by at most their distance: the
//! bound e on the error of z passes through unchanged, whichever cases the two are in. In X it is 2-Lipschitz, and constant where |X| > |x|. So where the computed X is off
//! by h from the exact one, f is off by at most 2 h where |X| <= |x| + h, and by nothing elsewhere. With h = u |X| + E, of which E is the error of the reference's fixed point:
//! 2 u |x| + 2 E and terms of second order. Together the folded delta is off by e + 4 u |z| + 3 E (the factor of E is 2 sqrt 2 for both parts).
//!
//! **Derivatives.** The fold of a derivative multiplies its parts by the signs of those of w. Where |X + x| is within the error of w, the sign is unknown, and the derivative off by twice its part. At 0 the sign
//! is taken as that of a positive number, as in shallow views.

use crate::deep::extended::{Extended, power_of_two};
use crate::deep::lanes::{ComplexLanes, Lanes, Reals};
use crate::deep::mantissa::{Complex, Mantissa};
use crate::formula::Fold;
use fearless_simd::Simd;

/// The folded delta, w and Z of lanes, given those before the fold.
#[inline(always)]
pub(super) fn of_lanes<T: Mantissa, S: Simd>(
    simd: S,
    fold: Fold,
    [z, w, reference]: [ComplexLanes<T, S>; 3],
) -> [ComplexLanes<T, S>; 3] {
    match fold {
        Fold::None => [z, w, reference],
        Fold::Conjugate => [conjugate::<T, S>(z), conjugate::<T, S>(w), conjugate::<T, S>(reference)],
        Fold::Absolute => {
            let re = absolute::<T, S>(simd, z.re, w.re, reference.re);
            let im = absolute::<T, S>(simd, z.im, w.im, reference.im);
            [Complex { re: re[0], im: im[0] }, Complex { re: re[1], im: im[1] }, Complex { re: re[2], im: im[2] }]
        }
    }
}

#[inline(always)]
fn conjugate<T: Mantissa, S: Simd>(v: ComplexLanes<T, S>) -> ComplexLanes<T, S> {
    Complex { re: v.re, im: -v.im }
}

/// A part of the folded delta, of w and of Z. (The steps of the Ship took 2.3 times as long while this was a closure for `map`, which is compiled without the instructions of the level.)
#[inline(always)]
fn absolute<T: Mantissa, S: Simd>(simd: S, x: T::Lanes<S>, w: T::Lanes<S>, reference: T::Lanes<S>) -> [T::Lanes<S>; 3] {
    let zero = Reals::splat(simd, 0.0);
    let (below, of_reference) = (w.part(0).less(zero), reference.part(0).less(zero));
    let crosses = (below & !of_reference) | (of_reference & !below);
    let inner = (reference + w).where_else(crosses, x);
    [(-inner).where_else(below, inner), (-w).where_else(below, w), (-reference).where_else(of_reference, reference)]
}

/// A part of a reference value of any magnitude: m 2^e.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<T> {
    pub(super) m: T,
    pub(super) e: i32,
}

/// The folded delta and the folded Z of any magnitude, from the parts of Z.
pub(super) fn of_extended<T: Mantissa>(fold: Fold, z: Extended<T>, parts: [Part<T>; 2]) -> Extended<T> {
    match fold {
        Fold::None => z,
        Fold::Conjugate => Extended { m: Complex { re: z.m.re, im: -z.m.im }, e: z.e },
        Fold::Absolute => {
            let folded = |x: T, part: Part<T>| {
                let shift = part.e - z.e;
                let is_negative = part.m.to_f64() < 0.0;
                // Beyond 2^64, X is larger than any x below 2, and it is not added.
                let x_of_sign = if is_negative { -x } else { x };
                if part.m.to_f64() == 0.0 || shift < -1000 {
                    return if x.to_f64() < 0.0 { -x } else { x };
                }
                if shift > 64 {
                    return x_of_sign;
                }
                let reference = part.m.scaled(power_of_two(shift));
                let w = reference + x;
                let below = w.to_f64() < 0.0;
                let inner = if below == is_negative { x } else { reference + w };
                if below { -inner } else { inner }
            };
            Extended::new(Complex { re: folded(z.m.re, parts[0]), im: folded(z.m.im, parts[1]) }, z.e)
        }
    }
}

/// A folded value of any magnitude.
pub(super) fn of_value<T: Mantissa>(fold: Fold, w: Extended<T>) -> Extended<T> {
    let absolute = |x: T| if x.to_f64() < 0.0 { -x } else { x };
    let m = match fold {
        Fold::None => w.m,
        Fold::Conjugate => Complex { re: w.m.re, im: -w.m.im },
        Fold::Absolute => Complex { re: absolute(w.m.re), im: absolute(w.m.im) },
    };
    Extended { m, e: w.e }
}
