//! Iterates the models of a group of blocks until each is decided, meets the escape radius, or has made its number of steps.

use super::group::{Group, Lanes};
use super::model::{Bounds, Measure, Model};
use crate::arithmetic::Arithmetic;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{MAX_LANES, Vector, bits};
use fearless_simd::Simd;

/// What a lane is to do.
pub(super) struct Orders<N, const U: usize> {
    /// The number of steps after which it stops.
    pub(super) steps: Lanes<N, U>,
    /// How large E may be relative to |D| r in a model that is handed to the parts of the block.
    pub(super) tolerance: Lanes<N, U>,
}

/// How the lanes ended. The group has the models at their ends.
pub(super) struct Ends<N, const U: usize> {
    /// The steps that were made.
    pub(super) steps: Lanes<N, U>,
    /// The lanes that have made all their steps, and of which no point has escaped at the end.
    pub(super) remaining: [u64; U],
    /// The lanes of which all points have escaped at the end, and none before.
    pub(super) escaped: [u64; U],
    /// The last models within the tolerance.
    pub(super) sharp: Group<N, U>,
    /// The steps up to these.
    pub(super) sharp_steps: Lanes<N, U>,
}

#[inline(always)]
pub(super) fn follow<S: Simd, N: Number, R: Rule, const U: usize>(
    simd: S,
    rule: R,
    bounds: &Bounds<N>,
    group: &mut Group<N, U>,
    orders: &Orders<N, U>,
) -> Ends<N, U> {
    let splat = |v: N| Vector::<S, N>::splat(simd, v);
    let zero = splat(N::default());
    let one = splat(N::from(1_u8));
    let none = [[N::default(); MAX_LANES]; U];
    let mut ends = Ends { steps: none, remaining: [0; U], escaped: [0; U], sharp: Group::new(), sharp_steps: none };
    let mut active = group.used;
    let mut sharp = group.used;
    let mut models = [Model { z: [zero; 2], slope: [zero; 2], second: [zero; 2], e: zero }; U];
    for (j, model) in models.iter_mut().enumerate() {
        *model = group.model(simd, j);
    }
    let [near, far, reduction] = [bounds.near, bounds.far, bounds.reduction].map(splat);
    let mut count = zero;
    loop {
        let mut any = 0;
        let mut measures = [Measure { modulus: zero, linear: zero, quadratic: zero, spread: zero, reach: zero }; U];
        for j in 0..U {
            let model = &models[j];
            let measure = model.measure(simd, rule, Vector::load(simd, &group.radius[j]));
            measures[j] = measure;
            // Comparisons with NaN are false: such a lane ends without a proof.
            let inside = !measure.reach.not_at_most(near);
            let going = bits(inside & count.less(Vector::load(simd, &orders.steps[j])));
            let within = !model.e.not_at_most(measure.linear.mul(Vector::load(simd, &orders.tolerance[j])));
            let ending = active[j] & !going;
            let blurred = sharp[j] & !(bits(within) & going);
            if blurred != 0 {
                ends.sharp.store(simd, j, blurred, model);
                let mask = Vector::<S, N>::mask(simd, blurred);
                count.where_else(mask, Vector::load(simd, &ends.sharp_steps[j])).store(&mut ends.sharp_steps[j]);
                sharp[j] &= !blurred;
            }
            if ending != 0 {
                group.store(simd, j, ending, model);
                let mask = Vector::<S, N>::mask(simd, ending);
                count.where_else(mask, Vector::load(simd, &ends.steps[j])).store(&mut ends.steps[j]);
                ends.remaining[j] |= ending & bits(inside);
                let escaped = far.less(measure.modulus.fma(reduction, measure.spread.neg()));
                ends.escaped[j] |= ending & bits(escaped);
                active[j] &= going;
            }
            any |= active[j];
        }
        if any == 0 {
            return ends;
        }
        for j in 0..U {
            let c = [&group.c[0][j], &group.c[1][j]].map(|c| Vector::load(simd, c));
            models[j] = models[j].step(simd, rule, bounds, &measures[j], c);
        }
        count = count.add(one);
    }
}
