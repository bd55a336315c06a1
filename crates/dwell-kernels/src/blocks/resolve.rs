//! Decides the single points of a block that meets the escape radius, from the model of the block.

use super::model::{Bounds, Model, is_holomorphic, product_plus};
use crate::arithmetic::Arithmetic;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{MAX_LANES, Vector, bits};
use fearless_simd::Simd;

/// The most points of a block that is resolved.
pub(super) const MOST_POINTS: usize = 64;
/// The steps in which the points of a block may escape.
const STEPS: u8 = 8;
/// The points of a block, as their differences from its centre, and what was found.
pub(super) struct Points<N> {
    /// Real and imaginary parts, padded with points at the centre.
    pub(super) differences: [[N; MOST_POINTS + MAX_LANES]; 2],
    pub(super) count: usize,
    /// c of the centre, or of the Julia set.
    pub(super) c: [N; 2],
    /// The radius of the block.
    pub(super) radius: N,
    /// The number of steps from the n of the model to the limit.
    pub(super) left: u32,
    /// How many steps after the n of the model each point escaped, or [`NOT_ESCAPED`], or [`UNDECIDED`].
    pub(super) steps: [u32; MOST_POINTS + MAX_LANES],
}

pub(super) const NOT_ESCAPED: u32 = 1000;
pub(super) const UNDECIDED: u32 = 1001;

impl<N: Number> Points<N> {
    pub(super) fn new() -> Self {
        let none = [N::default(); MOST_POINTS + MAX_LANES];
        let zero = N::default();
        let steps = [UNDECIDED; MOST_POINTS + MAX_LANES];
        Self { differences: [none; 2], count: 0, c: [zero; 2], radius: zero, left: 0, steps }
    }
}

/// Finds the dwells of the points of a block with this model.
#[inline(always)]
pub(super) fn resolve<S: Simd, N: Number, R: Rule>(
    simd: S,
    rule: R,
    bounds: &Bounds<N>,
    model: &Model<N>,
    points: &mut Points<N>,
) {
    let splat = |v: N| Vector::<S, N>::splat(simd, v);
    let pair = |p: [N; 2]| [splat(p[0]), splat(p[1])];
    let lanes = Vector::<S, N>::LEN;
    let mut model = Model { z: pair(model.z), slope: pair(model.slope), second: pair(model.second), e: splat(model.e) };
    let (c, radius) = (pair(points.c), splat(points.radius));
    let [near, far, rounding, most, down, up] =
        [bounds.near, bounds.far, bounds.evaluation, bounds.greatest_error, bounds.reduction, bounds.growth].map(splat);
    let mut alive = [0_u64; MOST_POINTS];
    let mut found = [splat(N::from(0_u8)); MOST_POINTS];
    let vectors = points.count.div_ceil(lanes);
    for j in 0..vectors {
        alive[j] = bits(Vector::<S, N>::first_lanes(simd, points.count - j * lanes));
        found[j] = splat(N::nearest(f64::from(UNDECIDED)));
    }
    for k in 0..STEPS {
        let measure = model.measure(simd, rule, radius);
        // The errors of the model and of its evaluation.
        let error = measure.reach.fma(rounding, model.e);
        if bits(error.less(most)) == 0 {
            break;
        }
        let (least, greatest) = (near.sub(error).mul(down), far.add(error).mul(up));
        let (least, greatest) = (least.mul(least), greatest.mul(greatest));
        let mut any = 0;
        for j in 0..vectors {
            if alive[j] == 0 {
                continue;
            }
            let d = [0, 1].map(|i| Vector::load(simd, &points.differences[i][j * lanes..]));
            let [x, y] = if is_holomorphic(rule) {
                product_plus(product_plus(model.second, d, model.slope), d, model.z)
            } else {
                let part = |i: usize| d[0].fma(model.slope[i], d[1].fma(model.second[i], model.z[i]));
                [part(0), part(1)]
            };
            let norm = x.fma(x, y.mul(y));
            let escaped = greatest.less(norm);
            let mask = Vector::<S, N>::mask(simd, alive[j]) & escaped;
            found[j] = splat(N::from(k)).where_else(mask, found[j]);
            let inside = alive[j] & bits(norm.less(least));
            alive[j] = inside;
            any |= inside;
        }
        if any == 0 {
            break;
        }
        if u32::from(k) == points.left {
            for j in 0..vectors {
                let mask = Vector::<S, N>::mask(simd, alive[j]);
                found[j] = splat(N::nearest(f64::from(NOT_ESCAPED))).where_else(mask, found[j]);
            }
            break;
        }
        model = model.step(simd, rule, bounds, &measure, c);
    }
    for (j, found) in found[..vectors].iter().enumerate() {
        crate::escape::store_counts(*found, &mut points.steps[j * lanes..]);
    }
}
