//! Proves that the points of blocks never escape, by discs that map into themselves.

use super::group::Group;
use super::model::{Bounds, Measure, Model, minus};
use crate::arithmetic::Arithmetic;
use crate::number::Number;
use crate::recipe::Rule;
use crate::returns::closest;
use crate::vector::{Vector, bits};
use fearless_simd::Simd;

/// The steps in which a return of the centre's orbit is looked for: the longest period that is found.
const LONGEST: u16 = 64;
/// Periods that are tried.
const ATTEMPTS: u8 = 8;

/// How the lanes ended. The group is unchanged.
pub(super) struct Trapped<const U: usize> {
    /// The lanes of which no point ever escapes.
    pub(super) proved: [u64; U],
    /// The lanes whose orbit returned, but whose discs grew.
    pub(super) too_large: [u64; U],
}

#[inline(always)]
pub(super) fn trap<S: Simd, N: Number, R: Rule, const U: usize>(
    simd: S,
    rule: R,
    bounds: &Bounds<N>,
    group: &Group<N, U>,
) -> Trapped<U> {
    let splat = |v: N| Vector::<S, N>::splat(simd, v);
    let [zero, one] = [N::from(0_u8), N::from(1_u8)].map(splat);
    let [near, growth, enlargement] = [bounds.near, bounds.growth, N::nearest(1.25)].map(splat);
    let mut result = Trapped { proved: [0; U], too_large: [0; U] };
    let mut models = [Model { z: [zero; 2], slope: [zero; 2], second: [zero; 2], e: zero }; U];
    let (mut z, mut c) = ([[zero; U]; 2], [[zero; U]; 2]);
    for (j, model) in models.iter_mut().enumerate() {
        *model = group.model(simd, j);
        model.e = model.e.mul(enlargement);
        for part in 0..2 {
            z[part][j] = model.z[part];
            c[part][j] = Vector::load(simd, &group.c[part][j]);
        }
    }
    let returns = closest(simd, rule, z, c, LONGEST);
    let mut active = group.used;
    for (active, close) in active.iter_mut().zip(returns.close) {
        *active &= close;
    }
    // The disc of each lane at the start of its period, the step within the period, and the displacement by the last one.
    let mut starts = models;
    let mut step = [zero; U];
    let mut attempts = [zero; U];
    // The lanes whose disc is larger than the displacements that are to come, so that it only fails where it is too large.
    let mut converged = [0; U];
    let mut displacements = [splat(N::nearest(f64::INFINITY)); U];
    while active.iter().any(|lanes| *lanes != 0) {
        for j in 0..U {
            let radius = Vector::load(simd, &group.radius[j]);
            let measure: Measure<_> = models[j].measure(simd, rule, radius);
            let inside = bits(!measure.reach.not_at_most(near));
            result.too_large[j] |= active[j] & !inside & converged[j];
            active[j] &= inside;
            models[j] = models[j].step(simd, rule, bounds, &measure, [c[0][j], c[1][j]]);
            step[j] = step[j].add(one);
            let at_end = step[j].equals(returns.period[j]);
            if active[j] & bits(at_end) == 0 {
                continue;
            }
            let Model { z, slope, second, e } = models[j];
            let start = starts[j];
            let [dx, dy] = minus(z, start.z);
            let [slopes, seconds] = [minus(slope, start.slope), minus(second, start.second)];
            let [linear, quadratic] = Model::terms(simd, rule, slopes, seconds, radius);
            let displacement = dx.fma(dx, dy.mul(dy)).sqrt().add(linear.add(quadratic));
            let into_itself = bits(!displacement.add(e).mul(growth).not_at_most(start.e));
            let ended = active[j] & bits(at_end);
            result.proved[j] |= ended & into_itself;
            // A disc that grows although it was large enough for the displacement is too large, or nothing attracts it. The
            // first disc need not be large enough.
            let grows = bits(start.e.less(e)) & bits(one.less(attempts[j]));
            result.too_large[j] |= ended & !into_itself & grows & converged[j];
            attempts[j] = attempts[j].add(one.where_else(at_end, zero));
            let tired = bits(!attempts[j].less(splat(N::from(ATTEMPTS))));
            active[j] &= !(ended & (into_itself | grows | tired));
            // The displacements of later periods add up to the last one times 1 / (1 - their ratio).
            let ratio = displacement.div(displacements[j]);
            let most = splat(N::nearest(0.98));
            let ratio = ratio.where_else(ratio.less(most), most);
            let factor = splat(N::from(2_u8)).div(one.sub(ratio));
            displacements[j] = displacement.where_else(at_end, displacements[j]);
            let added = displacement.mul(factor);
            converged[j] = converged[j] & !ended | ended & bits(added.less(e));
            models[j].e = added.add(e.mul(enlargement)).where_else(at_end, e);
            let renewed = |new: [Vector<S, N>; 2], old: [Vector<S, N>; 2]| {
                [new[0].where_else(at_end, old[0]), new[1].where_else(at_end, old[1])]
            };
            starts[j] = Model {
                z: renewed(z, start.z),
                slope: renewed(slope, start.slope),
                second: renewed(second, start.second),
                e: models[j].e.where_else(at_end, start.e),
            };
            step[j] = zero.where_else(at_end, step[j]);
        }
    }
    result
}
