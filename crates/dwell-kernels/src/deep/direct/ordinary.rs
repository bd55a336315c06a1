//! Steps of eight orbits at which it is certain that nothing is found in any lane, with the bounds on their errors in vectors.
//!
//! Compiled from loops over arrays, the bounds were computed lane by lane, since their comparisons became branches: a step of eight orbits with five digits took 93 ns with them, of which the step itself takes 36 (a Xeon, Sapphire
//! Rapids). In vectors it takes 50. Roots by an estimate and two steps of Newton's method in place of `sqrt` took as long.

use super::of_point::{LEAST as LEAST_OF_DERIVATIVE, unit_of};
use super::running_error::{GREATEST, LEAST, RunningError, UP};
use super::{TOO_MUCH, trap};
use crate::deep::derivative::{Derivative, U, UNDERFLOW, UP as UP_OF_DERIVATIVE};
use crate::deep::digits::{EightOrbits, LANES, Products, Reals};
use crate::deep::mantissa::Complex;
use std::arch::x86_64::{
    __m512d, __mmask8, _CMP_GE_OQ, _CMP_GT_OQ, _CMP_LE_OQ, _CMP_LT_OQ, _mm512_abs_pd, _mm512_add_pd,
    _mm512_cmp_pd_mask, _mm512_fmadd_pd, _mm512_fmsub_pd, _mm512_mask_sub_pd, _mm512_max_pd, _mm512_mul_pd,
    _mm512_set1_pd, _mm512_setzero_pd, _mm512_sqrt_pd,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// What such steps need, of all lanes.
pub(super) struct Ordinary {
    pub(super) errors: Errors,
    /// Those of the discs of attempts ([`trap`]).
    pub(super) discs: Errors,
    /// Whether a lane has such a disc.
    pub(super) has_discs: bool,
    /// Where they are wanted.
    pub(super) derivatives: Option<Derivatives>,
    /// The greatest |z|^2, certainly within R and 256, and the least one, negative in lanes without a point.
    pub(super) within: Reals,
    pub(super) beyond: Reals,
}

/// Bounds as [`RunningError`] has them. In a lane without one all is 0 and stays so.
pub(super) struct Errors {
    pub(super) m: Reals,
    scaled_step: Reals,
    scale: Reals,
    /// The least m, negative in a lane without a bound, and the greatest bound in the plane.
    least: Reals,
    most: f64,
}

/// Derivatives as [`Derivative`] has them, with the bounds on their errors. In a lane without one nothing is looked at.
pub(super) struct Derivatives {
    re: Reals,
    im: Reals,
    off: Reals,
    /// The least part of one, negative in a lane without one.
    least: Reals,
    /// 2^scale.
    unit: f64,
}

impl Derivatives {
    /// None, of points with c in units of 2^scale.
    pub(super) fn none(scale: i32) -> Self {
        let of = |x: f64| Reals([x; LANES]);
        Self { re: of(0.0), im: of(0.0), off: of(0.0), least: of(-1.0), unit: unit_of(scale) }
    }

    pub(super) fn set(&mut self, lane: usize, derivative: Option<Derivative>) {
        let Derivative { d: Complex { re, im }, off } = derivative.unwrap_or(Derivative::NONE);
        let least = if derivative.is_some() { LEAST_OF_DERIVATIVE } else { -1.0 };
        let Self { re: of_re, im: of_im, off: of_off, least: of_least, .. } = self;
        for (of, value) in [(of_re, re), (of_im, im), (of_off, off), (of_least, least)] {
            of.0[lane] = value;
        }
    }

    pub(super) fn get(&self, lane: usize) -> Derivative {
        Derivative { d: Complex { re: self.re.0[lane], im: self.im.0[lane] }, off: self.off.0[lane] }
    }

    /// The derivatives of all lanes and their bounds after a step from z = x + iy, of this modulus and known to within `off_z`: as [`Derivative::stepped`]. The lanes in which they stay in the range that they are kept in.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn stepped(
        &self,
        [re, im, off]: [__m512d; 3],
        [x, y]: [__m512d; 2],
        (modulus, off_z): (__m512d, __m512d),
    ) -> ([__m512d; 3], __mmask8) {
        let splat = |x: f64| _mm512_set1_pd(x);
        let add = |a: __m512d, b: __m512d| _mm512_add_pd(a, b);
        let of_re = _mm512_fmsub_pd(x, re, _mm512_mul_pd(y, im));
        let of_im = _mm512_fmadd_pd(x, im, _mm512_mul_pd(y, re));
        let after = [add(add(of_re, of_re), splat(self.unit)), add(of_im, of_im)];
        let by_z = _mm512_fmadd_pd(modulus, splat(24.0 * U), add(off_z, off_z));
        let beyond = add(modulus, off_z);
        let taxicab = add(_mm512_abs_pd(re), _mm512_abs_pd(im));
        let growth = _mm512_fmadd_pd(by_z, taxicab, splat(2.0 * U * self.unit + UNDERFLOW));
        let off = _mm512_mul_pd(_mm512_fmadd_pd(add(beyond, beyond), off, growth), splat(UP_OF_DERIVATIVE));
        let size = _mm512_max_pd(_mm512_abs_pd(after[0]), _mm512_abs_pd(after[1]));
        ([after[0], after[1], off], _mm512_cmp_pd_mask::<_CMP_GE_OQ>(size, self.least.vector()))
    }
}

impl Errors {
    fn none(most: f64) -> Self {
        let of = |x: f64| Reals([x; LANES]);
        Self { m: of(0.0), scaled_step: of(0.0), scale: of(0.0), least: of(-1.0), most }
    }

    pub(super) fn set(&mut self, lane: usize, error: Option<&RunningError>) {
        let (m, scaled_step, scale, least) =
            error.map_or((0.0, 0.0, 0.0, -1.0), |error| (error.m, error.scaled_step, error.scale, LEAST));
        let Self { m: of_m, scaled_step: of_step, scale: of_scale, least: of_least, .. } = self;
        for (of, value) in [(of_m, m), (of_step, scaled_step), (of_scale, scale), (of_least, least)] {
            of.0[lane] = value;
        }
    }

    /// m of all lanes after a step from z, with 2 |z|, and the bounds before it. The lanes in which it is in the range that it is kept in.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn stepped(&self, m: __m512d, twice: __m512d) -> (__m512d, __m512d, __mmask8) {
        let Self { scaled_step, scale, least, most, .. } = self;
        let off = _mm512_fmadd_pd(m, scale.vector(), _mm512_set1_pd(UNDERFLOW));
        let after = _mm512_fmadd_pd(_mm512_add_pd(twice, off), m, scaled_step.vector());
        let after = _mm512_mul_pd(after, _mm512_set1_pd(UP));
        let is_known = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(off, _mm512_set1_pd(*most));
        let is_in_range = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(after, least.vector())
            & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(after, _mm512_set1_pd(GREATEST));
        (after, off, is_known & is_in_range)
    }
}

impl Ordinary {
    /// Without any point, with derivatives by c in units of 2^scale where there is a scale.
    pub(super) fn none(scale: Option<i32>) -> Self {
        Self {
            errors: Errors::none(TOO_MUCH),
            discs: Errors::none(trap::MOST),
            has_discs: false,
            derivatives: scale.map(Derivatives::none),
            within: Reals([f64::MAX; LANES]),
            beyond: Reals([-1.0; LANES]),
        }
    }

    /// Makes steps, at most so many, as long as it is certain in each lane that nothing is found, and the bounds are in the range that they are kept in. The number of steps.
    /// Ends at a flag to stop, too: with thousands of digits a step takes a millisecond.
    pub(super) fn steps(&mut self, _: Products, orbits: &mut EightOrbits, most: u64, stop: [&AtomicBool; 2]) -> u64 {
        // SAFETY: `Products` is made only where the machine has these instructions.
        #[expect(unsafe_code, reason = "a call of a function compiled for instructions that were detected")]
        unsafe {
            self.steps_in_vectors(orbits, most, stop)
        }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn steps_in_vectors(&mut self, orbits: &mut EightOrbits, most: u64, [stop, or_stop]: [&AtomicBool; 2]) -> u64 {
        let (mut of_errors, mut of_discs) = (self.errors.m.vector(), self.discs.m.vector());
        let mut derivatives = self.derivatives.as_ref().map_or([_mm512_setzero_pd(); 3], |derivatives| {
            [derivatives.re.vector(), derivatives.im.vector(), derivatives.off.vector()]
        });
        let mut steps = 0;
        while steps < most && !stop.load(Ordering::Relaxed) && !or_stop.load(Ordering::Relaxed) {
            let [x, y] = orbits.magnitudes_in_vectors();
            let square = _mm512_fmadd_pd(x, x, _mm512_mul_pd(y, y));
            let modulus = _mm512_sqrt_pd(square);
            let twice = _mm512_add_pd(modulus, modulus);
            let is_within = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(square, self.within.vector())
                & _mm512_cmp_pd_mask::<_CMP_GT_OQ>(square, self.beyond.vector());
            let (errors, off, is_known) = self.errors.stepped(of_errors, twice);
            let mut is_ordinary = is_within & is_known;
            let mut discs = of_discs;
            if self.has_discs {
                let (after, _, is_known) = self.discs.stepped(of_discs, twice);
                (discs, is_ordinary) = (after, is_ordinary & is_known);
            }
            let mut after = derivatives;
            if let Some(own) = &self.derivatives {
                let [negative_x, negative_y] = orbits.negative_parts();
                let zero = _mm512_setzero_pd();
                let z = [_mm512_mask_sub_pd(x, negative_x, zero, x), _mm512_mask_sub_pd(y, negative_y, zero, y)];
                let (of_step, is_in_range) = own.stepped(derivatives, z, (modulus, off));
                (after, is_ordinary) = (of_step, is_ordinary & is_in_range);
            }
            if is_ordinary != __mmask8::MAX {
                break;
            }
            (of_errors, of_discs, derivatives) = (errors, discs, after);
            orbits.step_in_vectors();
            steps += 1;
        }
        (self.errors.m, self.discs.m) = (Reals::of(of_errors), Reals::of(of_discs));
        if let Some(own) = &mut self.derivatives {
            [own.re, own.im, own.off] = derivatives.map(Reals::of);
        }
        steps
    }
}
