//! After how many steps orbits return closest to where they are: a guess at the period of the cycle that attracts them.

use crate::arithmetic::Arithmetic;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Vector, bits};
use fearless_simd::Simd;

/// The square of the distance within which an orbit has to return.
const CLOSE: f64 = 1.0 / 1024.0;

/// The closest return of each orbit.
pub(crate) struct Returns<S: Simd, N: Number, const U: usize> {
    /// The number of steps.
    pub(crate) period: [Vector<S, N>; U],
    /// The distance from the start.
    pub(crate) distance: [Vector<S, N>; U],
    /// The lanes that return close.
    pub(crate) close: [u64; U],
}

/// Follows `U` vectors of orbits from z = `start` for `steps` steps.
#[inline(always)]
pub(crate) fn closest<S: Simd, N: Number, R: Rule, const U: usize>(
    simd: S,
    rule: R,
    start: [[Vector<S, N>; U]; 2],
    c: [[Vector<S, N>; U]; 2],
    steps: u16,
) -> Returns<S, N, U> {
    let number = |v: f64| Vector::<S, N>::splat(simd, N::nearest(v));
    let [mut x, mut y] = start;
    let (mut distance, mut period) = ([number(f64::INFINITY); U], [number(0.0); U]);
    let (mut count, one) = (number(0.0), number(1.0));
    for _ in 0..steps {
        count = count.add(one);
        rule.step_all(&mut x, &mut y, |j| [c[0][j], c[1][j]]);
        for j in 0..U {
            let (dx, dy) = (x[j].sub(start[0][j]), y[j].sub(start[1][j]));
            let squared = dx.fma(dx, dy.mul(dy));
            let nearer = squared.less(distance[j]);
            distance[j] = squared.where_else(nearer, distance[j]);
            period[j] = count.where_else(nearer, period[j]);
        }
    }
    let mut close = [0; U];
    for (distance, close) in distance.iter_mut().zip(&mut close) {
        *close = bits(distance.less(number(CLOSE)));
        *distance = distance.sqrt();
    }
    Returns { period, distance, close }
}
