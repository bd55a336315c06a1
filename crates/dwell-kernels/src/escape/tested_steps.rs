//! Steps with a test after each.

use super::DwellKernel;
use crate::arithmetic::Arithmetic;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Mask, Vector, bits};
use fearless_simd::Simd;

/// The result of [`DwellKernel::test_each_step`], by lane.
pub(super) struct Tested<S: Simd, N: Number, const U: usize> {
    /// z at the escape, if it is kept. Otherwise the z of escaped points has no meaning.
    pub(super) x: [Vector<S, N>; U],
    /// The imaginary part of that z.
    pub(super) y: [Vector<S, N>; U],
    /// The number of tests passed, as a number.
    pub(super) count: [Vector<S, N>; U],
    /// The lanes that passed all tests.
    pub(super) alive: [Mask<S, N>; U],
}

impl<N: Number, R: Rule> DwellKernel<'_, '_, N, R> {
    /// Tests z, and again after each of `steps` steps, and returns early once all points have escaped. With `KEEP_Z`, a
    /// point keeps the z with which it escaped.
    ///
    /// A lane adds the result of every test, not only of those up to its first escape: a point that has escaped never
    /// passes a later test (see `late.rs`).
    #[inline(always)]
    pub(super) fn test_each_step<S: Simd, const U: usize, const KEEP_Z: bool>(
        &self,
        simd: S,
        steps: u32,
        [mut x, mut y, a, b]: [[Vector<S, N>; U]; 4],
    ) -> Tested<S, N, U> {
        let radius_squared = Vector::<S, N>::splat(simd, self.settings.radius_squared);
        let one = Vector::<S, N>::splat(simd, N::from(1_u8));
        let mut count = [Vector::<S, N>::splat(simd, N::from(0_u8)); U];
        let mut alive = [!radius_squared.not_at_most(radius_squared); U];
        let mut step = 0;
        loop {
            let mut any = alive[0];
            for j in 0..U {
                alive[j] = !R::norm(x[j], y[j]).not_at_most(radius_squared);
                count[j] = count[j].add(one).where_else(alive[j], count[j]);
                any = if j == 0 { alive[0] } else { any | alive[j] };
            }
            if step == steps || bits(any) == 0 {
                return Tested { x, y, count, alive };
            }
            let (before_x, before_y) = (x, y);
            self.rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
            if KEEP_Z {
                for j in 0..U {
                    x[j] = x[j].where_else(alive[j], before_x[j]);
                    y[j] = y[j].where_else(alive[j], before_y[j]);
                }
            }
            step += 1;
        }
    }
}
