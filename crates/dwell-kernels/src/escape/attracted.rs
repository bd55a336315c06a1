//! Proves that single points never escape, long before their orbits repeat to the bit.
//!
//! A disc of radius s around a computed z_n that is mapped into itself by p computed steps holds every later z_{n+kp}, and
//! with all its images within R no point of it escapes. The images are bounded by discs around the computed z_{n+k}: if w is
//! within E of z, then
//!
//! ```text
//! |f(w) - f(z)| <= N (|z| + E)^(N - 1) E
//! E'  = N (|z| + E)^(N - 1) E  +  2 k u ((|z| + E)^N + |c|)
//! ```
//!
//! with k = 3N + 4, where the last term covers the roundings of both orbits ([`crate::blocks`] derives k; a fold moves two
//! points no farther apart). The disc is mapped into itself if |z_{n+p} - z_n| + E_{n+p} <= s. This holds for every formula,
//! recipe and R.
//!
//! p is the number of steps after which the orbit returns closest, and s may be any number, since z_n itself is exact. The first
//! s is a multiple of the distance by which the orbit returns. If that fails, E_{n+p} / s says how far a disc contracts, and the
//! next s leaves room for the displacement. An attempt costs p steps of about five times the operations of a plain one.

use super::KernelSettings;
use crate::arithmetic::Arithmetic;
use crate::enclosure::{growth, power, roundings_of_a_step, smallest, sure_radii, unit};
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Vector, bits};
use fearless_simd::Simd;

/// The radius of the first disc, in distances by which the orbit returns.
const FIRST_RADIUS: f64 = 3.0;
/// The number of discs that are tried.
const ATTEMPTS: u8 = 6;

/// The first and the last n at which points are examined; in between, whenever n has doubled.
pub(super) const FIRST: u32 = 256;
pub(super) const LAST: u32 = 4096;
/// How many times greater the limit must be than n.
const WORTHWHILE: u32 = 3;
/// A return is looked for within n divided by this number of steps.
const SEARCH_DIVISOR: u32 = 8;
/// The greatest radius of a disc that is tried: larger ones are hardly ever mapped into themselves.
const GREATEST_RADIUS: f64 = 1.0 / 64.0;

/// The number of steps in which a return is looked for, if points that have not escaped at `n` are to be examined there.
pub(super) fn search_at(n: u32, limit: u32) -> Option<u16> {
    let is_examined = n.is_power_of_two() && (FIRST..=LAST).contains(&n) && limit / WORTHWHILE >= n;
    is_examined.then_some((n / SEARCH_DIVISOR) as u16)
}

/// Points of about the same period, which are examined together.
pub(super) struct Candidates<N, const W: usize> {
    pub(super) z: [[N; W]; 2],
    pub(super) c: [[N; W]; 2],
    pub(super) period: [N; W],
    /// How far z returns from itself after a period.
    pub(super) distance: [N; W],
    pub(super) count: usize,
}

/// The vectors of candidates that are examined together.
pub(super) const VECTORS: usize = 2;

/// Examines `VECTORS` vectors of candidates. Returns those that are proved never to escape, one bit for each, and the number of
/// steps taken.
#[inline(always)]
pub(super) fn attracted<S: Simd, N: Number, R: Rule, const W: usize>(
    simd: S,
    rule: R,
    settings: &KernelSettings<N>,
    candidates: &Candidates<N, W>,
) -> (u64, u32) {
    let splat = |v: N| Vector::<S, N>::splat(simd, v);
    let number = |v: f64| splat(N::nearest(v));
    let lanes = Vector::<S, N>::LEN;
    let [zero, one] = [0, 1].map(|v: u8| splat(N::from(v)));
    let u = unit::<N>();
    let n = settings.map.formula.power();
    let [near, _] = sure_radii(settings.radius_squared).map(number);
    let growth = number(growth::<N>(n));
    let noise = number(2.0 * roundings_of_a_step(n) * u);
    let smallest = number(smallest::<N>());
    let (factor, enlargement, larger) = (number(f64::from(n)), number(1.5), number(8.0));
    // Displacements below it are roundings.
    let floor = number(1024.0 * u);
    let greatest = number(GREATEST_RADIUS);
    let most_attempts = splat(N::from(ATTEMPTS));
    let load = |of: &[N; W]| -> [Vector<S, N>; VECTORS] {
        let mut all = [zero; VECTORS];
        for (j, vector) in all.iter_mut().enumerate() {
            *vector = Vector::load(simd, &of[j * lanes..]);
        }
        all
    };
    let [mut x, mut y] = [load(&candidates.z[0]), load(&candidates.z[1])];
    let c = [load(&candidates.c[0]), load(&candidates.c[1])];
    let period = load(&candidates.period);
    let (mut from_x, mut from_y) = (x, y);
    let mut e = load(&candidates.distance);
    for e in &mut e {
        *e = e.fma(number(FIRST_RADIUS), floor);
    }
    let mut radius = e;
    let (mut step, mut attempts) = ([zero; VECTORS], [zero; VECTORS]);
    let (mut active, mut proved) = ([0_u64; VECTORS], 0);
    for (j, active) in active.iter_mut().enumerate() {
        *active = bits(Vector::<S, N>::first_lanes(simd, candidates.count.saturating_sub(j * lanes)));
    }
    let mut steps = 0;
    while active.iter().any(|lanes| *lanes != 0) {
        steps += 1;
        for j in 0..VECTORS {
            let modulus = x[j].fma(x[j], y[j].mul(y[j])).sqrt();
            let reach = modulus.add(e[j]);
            active[j] &= bits(!reach.not_at_most(near));
            let size_of_c = c[0][j].abs().add(c[1][j].abs());
            let steepness = power(reach, n - 1).mul(factor);
            let roundings = power(reach, n).add(size_of_c).fma(noise, smallest);
            e[j] = steepness.fma(e[j], roundings).mul(growth);
        }
        rule.step_all(&mut x, &mut y, |j| [c[0][j], c[1][j]]);
        for j in 0..VECTORS {
            step[j] = step[j].add(one);
            let at_end = step[j].equals(period[j]);
            let ended = active[j] & bits(at_end);
            if ended == 0 {
                continue;
            }
            let (dx, dy) = (x[j].sub(from_x[j]), y[j].sub(from_y[j]));
            let displacement = dx.fma(dx, dy.mul(dy)).sqrt();
            let into_itself = ended & bits(!displacement.add(e[j]).mul(growth).not_at_most(radius[j]));
            proved |= into_itself << (j * lanes);
            attempts[j] = attempts[j].add(one.where_else(at_end, zero));
            // A disc that contracts by mu holds a displacement of 1 - mu times its radius.
            let contraction = e[j].div(radius[j]);
            let next = enlargement.mul(displacement).div(one.sub(contraction)).add(floor);
            // A disc that grows is too large, or so small that it holds no more than the roundings.
            let next = next.where_else(contraction.less(one), radius[j].mul(larger));
            let given_up = bits(!next.less(greatest)) | bits(!attempts[j].less(most_attempts));
            active[j] &= !into_itself & !(ended & given_up);
            e[j] = next.where_else(at_end, e[j]);
            radius[j] = next.where_else(at_end, radius[j]);
            from_x[j] = x[j].where_else(at_end, from_x[j]);
            from_y[j] = y[j].where_else(at_end, from_y[j]);
            step[j] = zero.where_else(at_end, step[j]);
        }
    }
    (proved, steps)
}
