//! Steps that are tested one by one.

use super::Run;
use crate::number::Number;
use crate::real::Real;
use crate::recipe::Rule;
use crate::vector::{Mask, Vector, bits};
use fearless_simd::Simd;

/// What [`Run::watch`] finds, by lane.
pub(super) struct Watched<S: Simd, N: Number, const U: usize> {
    /// z at the escape, if it is kept; otherwise of no use where the point escaped.
    pub(super) x: [Vector<S, N>; U],
    pub(super) y: [Vector<S, N>; U],
    /// Tests survived, as numbers.
    pub(super) count: [Vector<S, N>; U],
    /// Lanes that survived all.
    pub(super) alive: [Mask<S, N>; U],
}

impl<N: Number, M: Rule> Run<'_, '_, N, M> {
    /// Tests z, and again after each of `steps` steps, unless all have escaped before. With `ENDS`, a point that has
    /// escaped keeps its z.
    ///
    /// A lane counts by every test by itself, not only until its first escape: who has escaped never comes back.
    #[inline(always)]
    pub(super) fn watch<S: Simd, const U: usize, const ENDS: bool>(
        &self,
        simd: S,
        steps: u32,
        [mut x, mut y, a, b]: [[Vector<S, N>; U]; 4],
    ) -> Watched<S, N, U> {
        let radius_squared = Vector::<S, N>::splat(simd, self.bounds.radius_squared);
        let one = Vector::<S, N>::splat(simd, N::from(1_u8));
        let mut count = [Vector::<S, N>::splat(simd, N::from(0_u8)); U];
        let mut alive = [!radius_squared.not_at_most(radius_squared); U];
        let mut step = 0;
        loop {
            let mut any = alive[0];
            for j in 0..U {
                alive[j] = !M::norm(x[j], y[j]).not_at_most(radius_squared);
                count[j] = count[j].add(one).where_else(alive[j], count[j]);
                any = if j == 0 { alive[0] } else { any | alive[j] };
            }
            if step == steps || bits(any) == 0 {
                return Watched { x, y, count, alive };
            }
            let (before_x, before_y) = (x, y);
            self.rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
            if ENDS {
                for j in 0..U {
                    x[j] = x[j].where_else(alive[j], before_x[j]);
                    y[j] = y[j].where_else(alive[j], before_y[j]);
                }
            }
            step += 1;
        }
    }
}
