//! The model of the orbits of a block: where every computed z_n of every point of it is. See [`crate::blocks`] for the
//! derivation of the constants.

use crate::arithmetic::Arithmetic;
use crate::enclosure::{growth, power, roundings_of_a_step, smallest, sure_radii, unit};
use crate::escape::KernelSettings;
use crate::formula::{Fold, Formula};
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Mask, Vector};
use fearless_simd::Simd;

/// The numbers that the bounds of all blocks of a call have in common. Each is rounded in the safe direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<N> {
    /// N, the power.
    power: N,
    /// A point has not escaped where |z| is at most this number.
    pub(super) near: N,
    /// A point has escaped where |z| is greater than this number.
    pub(super) far: N,
    /// 1 - 8u.
    pub(super) reduction: N,
    /// See [`growth`].
    pub(super) growth: N,
    /// The greatest E with which points are evaluated: an eighth of R.
    pub(super) greatest_error: N,
    /// 32 u: the error of Z + D d + Q d^2 as it is evaluated, relative to the reach.
    pub(super) evaluation: N,
    /// N (N - 1) / 2.
    curvature: N,
    /// N (N - 1) (N - 2) / 6.
    third: N,
    /// k u: the errors of D' and Q' relative to their terms.
    slope_noise: N,
    /// 2 k u: the errors of z' and Z' relative to M^N.
    noise: N,
    /// The errors of z' and Z' relative to |c|, and of D' relative to 1.
    constant_noise: N,
    /// 1 where c is the point, 0 for a Julia set.
    slope_of_c: N,
}

/// Parts of the bounds that a test leaves out, to show that it would notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    All,
    #[cfg(test)]
    WithoutRoundings,
    #[cfg(test)]
    WithoutCurvature,
}

impl Parts {
    fn has_roundings(self) -> bool {
        #[cfg(test)]
        return self != Self::WithoutRoundings;
        #[cfg(not(test))]
        true
    }

    fn has_curvature(self) -> bool {
        #[cfg(test)]
        return self != Self::WithoutCurvature;
        #[cfg(not(test))]
        true
    }
}

impl<N: Number> Bounds<N> {
    /// The bounds for blocks whose constants have at most this modulus, and of at most this radius.
    pub(super) fn new(settings: &KernelSettings<N>, greatest_c: f64, greatest_radius: f64, parts: Parts) -> Self {
        let power = settings.map.formula.power();
        let (u, n) = (unit::<N>(), f64::from(power));
        let k = if parts.has_roundings() { roundings_of_a_step(power) } else { 0.0 };
        let smallest = if parts.has_roundings() { smallest::<N>() } else { 0.0 };
        let up = |value: f64| N::nearest(value * (1.0 + 4.0 * u));
        let [curvature, third] = [n * (n - 1.0) / 2.0, n * (n - 1.0) * (n - 2.0) / 6.0];
        let of_curvature = |value: f64| if parts.has_curvature() { N::nearest(value) } else { N::default() };
        let [near, far] = sure_radii(settings.radius_squared).map(N::nearest);
        Self {
            power: N::nearest(n),
            near,
            far,
            reduction: N::nearest(1.0 - 8.0 * u),
            growth: up(growth::<N>(power)),
            greatest_error: N::nearest(near.to_f64() / 8.0),
            evaluation: N::nearest(32.0 * u),
            curvature: of_curvature(curvature),
            third: of_curvature(third),
            slope_noise: up(k * u),
            noise: up(2.0 * k * u),
            constant_noise: up(2.0 * k * u * (greatest_c + greatest_radius) + smallest),
            slope_of_c: if settings.map.julia.is_some() { N::default() } else { N::from(1_u8) },
        }
    }
}

/// The model of a block at one n: every computed z_n is within `e` of Z + D d + Q d^2, where d is the point minus the centre
/// of the block.
///
/// Of a formula with a fold, D is a real 2x2 matrix with the columns `slope` and `second`, and Q is 0. Of any other, D is the
/// complex number `slope`, and Q is `second`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model<T> {
    pub(super) z: [T; 2],
    pub(super) slope: [T; 2],
    pub(super) second: [T; 2],
    pub(super) e: T,
}

/// Bounds that follow from a model and the radius of its block.
#[derive(Clone, Copy)]
pub(super) struct Measure<T> {
    /// |Z|.
    pub(super) modulus: T,
    /// |D| r.
    pub(super) linear: T,
    /// |Q| r^2.
    pub(super) quadratic: T,
    /// |D| r + |Q| r^2 + E, the distance of z_n from Z.
    pub(super) spread: T,
    /// |Z| + |D| r + |Q| r^2 + E.
    pub(super) reach: T,
}

/// Whether this rule has no fold, so that D and Q are complex numbers.
#[inline(always)]
pub(super) fn is_holomorphic<R: Rule>(rule: R) -> bool {
    rule.formula().fold() == Fold::None
}

/// A bound on the modulus of a complex number, at most 8.3 % above it: max + (sqrt 2 - 1) min. NaN stays NaN. It takes a
/// third of the time of a square root.
#[inline(always)]
pub(super) fn modulus_bound<S: Simd, N: Number>(simd: S, [x, y]: [Vector<S, N>; 2]) -> Vector<S, N> {
    let [of_sum, of_greater] = [0.414_213_6, 0.585_786_5].map(|v| Vector::<S, N>::splat(simd, N::nearest(v)));
    let (x, y) = (x.abs(), y.abs());
    x.max(y).mul(of_greater).add(x.add(y).mul(of_sum))
}

#[inline(always)]
pub(super) fn minus<T: Arithmetic>(p: [T; 2], q: [T; 2]) -> [T; 2] {
    [p[0].sub(q[0]), p[1].sub(q[1])]
}

/// p q.
#[inline(always)]
fn product<T: Arithmetic>(p: [T; 2], q: [T; 2]) -> [T; 2] {
    [p[0].fma(q[0], p[1].mul(q[1]).neg()), p[0].fma(q[1], p[1].mul(q[0]))]
}

/// p q + s.
#[inline(always)]
pub(super) fn product_plus<T: Arithmetic>(p: [T; 2], q: [T; 2], s: [T; 2]) -> [T; 2] {
    [p[0].fma(q[0], p[1].neg().fma(q[1], s[0])), p[0].fma(q[1], p[1].fma(q[0], s[1]))]
}

impl<N: Number> Model<N> {
    /// The model at n = 1 of the block around a point, which is exact.
    pub(super) fn first(centre: [N; 2], formula: Formula) -> Self {
        let (one, zero) = (N::from(1_u8), N::default());
        let second = [zero, if formula.fold() == Fold::None { zero } else { one }];
        Self { z: centre, slope: [one, zero], second, e: zero }
    }
}

impl<S: Simd, N: Number> Model<Vector<S, N>> {
    /// |D| r and |Q| r^2.
    #[inline(always)]
    pub(super) fn terms<R: Rule>(
        simd: S,
        rule: R,
        slope: [Vector<S, N>; 2],
        second: [Vector<S, N>; 2],
        radius: Vector<S, N>,
    ) -> [Vector<S, N>; 2] {
        if is_holomorphic(rule) {
            let linear = modulus_bound(simd, slope).mul(radius);
            [linear, second[0].abs().add(second[1].abs()).mul(radius.mul(radius))]
        } else {
            // The norm of a matrix is at most the root of the sum of its squares.
            let squares = slope[0].fma(slope[0], slope[1].mul(slope[1]));
            let squares = second[0].fma(second[0], second[1].fma(second[1], squares));
            [squares.sqrt().mul(radius), Vector::splat(simd, N::default())]
        }
    }

    #[inline(always)]
    pub(super) fn measure<R: Rule>(&self, simd: S, rule: R, radius: Vector<S, N>) -> Measure<Vector<S, N>> {
        let [x, y] = self.z;
        let modulus = x.fma(x, y.mul(y)).sqrt();
        let [linear, quadratic] = Self::terms(simd, rule, self.slope, self.second, radius);
        let spread = linear.add(quadratic).add(self.e);
        Measure { modulus, linear, quadratic, spread, reach: modulus.add(spread) }
    }

    /// Whether the disc meets an axis along which the formula folds.
    #[inline(always)]
    pub(super) fn meets_a_fold<R: Rule>(&self, rule: R, measure: &Measure<Vector<S, N>>) -> Option<Mask<S, N>> {
        (rule.formula().fold() == Fold::Absolute).then(|| {
            let [x, y] = self.z;
            !x.abs().not_at_most(measure.spread) | !y.abs().not_at_most(measure.spread)
        })
    }

    /// The model at n + 1. `measure` is that of this model.
    #[inline(always)]
    pub(super) fn step<R: Rule>(
        self,
        simd: S,
        rule: R,
        bounds: &Bounds<N>,
        measure: &Measure<Vector<S, N>>,
        c: [Vector<S, N>; 2],
    ) -> Self {
        let (x, y) = rule.step(self.z[0], self.z[1], c[0], c[1]);
        let z = [x, y];
        let next = if is_holomorphic(rule) {
            self.holomorphic_step(simd, rule, bounds, measure, z)
        } else {
            self.folded_step(simd, rule, bounds, measure, z)
        };
        // The roundings of z' and Z'.
        let splat = |v: N| Vector::<S, N>::splat(simd, v);
        let reach = power(measure.reach, rule.formula().power());
        let noise = splat(bounds.noise).fma(reach, splat(bounds.constant_noise));
        Self { e: next.e.add(noise).mul(splat(bounds.growth)), ..next }
    }

    /// D' = f' D + 1 and Q' = f' Q + f'' D^2 / 2.
    #[inline(always)]
    fn holomorphic_step<R: Rule>(
        self,
        simd: S,
        rule: R,
        bounds: &Bounds<N>,
        measure: &Measure<Vector<S, N>>,
        z: [Vector<S, N>; 2],
    ) -> Self {
        let splat = |v: N| Vector::<S, N>::splat(simd, v);
        let n = rule.formula().power();
        let Measure { modulus, linear, quadratic, spread, reach } = *measure;
        let factor = rule.power_derivative(self.z, splat(bounds.power));
        let [p, q] = product(factor, self.slope);
        let slope = [p.add(splat(bounds.slope_of_c)), q];
        let squared = product(self.slope, self.slope);
        // (w^2 - (D d)^2) f'' / 2, where w is the distance from Z, and the roundings of the terms of Q'.
        let crossed = quadratic.add(self.e).mul(linear.add(spread));
        let noise = splat(bounds.slope_noise);
        let bent = linear.mul(linear).fma(noise, crossed);
        // f'' / 2 and its modulus.
        let half = splat(bounds.curvature);
        let (bend, mut rest) = if n == 2 {
            (squared, bent.mul(half))
        } else {
            let of_z = (3..n).fold(self.z, |p, _| product(p, self.z));
            (product([of_z[0].mul(half), of_z[1].mul(half)], squared), bent.mul(half).mul(power(modulus, n - 2)))
        };
        if n > 2 {
            let cubic = spread.mul(spread).mul(spread).mul(splat(bounds.third));
            rest = rest.add(if n == 3 { cubic } else { cubic.mul(power(reach, n - 3)) });
        }
        let steepness = splat(bounds.power).mul(power(modulus, n - 1));
        let e = steepness.fma(noise.fma(linear.add(quadratic), self.e), rest);
        Self { z, slope, second: product_plus(factor, self.second, bend), e }
    }

    /// D' = f' D + 1, with the derivative of the fold, where the disc meets no axis of the fold. Where it does, D' = 1, and
    /// all of the disc is in E: a fold moves two points no farther apart.
    #[inline(always)]
    fn folded_step<R: Rule>(
        self,
        simd: S,
        rule: R,
        bounds: &Bounds<N>,
        measure: &Measure<Vector<S, N>>,
        z: [Vector<S, N>; 2],
    ) -> Self {
        let splat = |v: N| Vector::<S, N>::splat(simd, v);
        let n = rule.formula().power();
        let Measure { modulus, mut linear, spread, reach, .. } = *measure;
        let (mut columns, mut e) = ([self.slope, self.second], self.e);
        if let Some(meets) = self.meets_a_fold(rule, measure) {
            let zero = splat(N::default());
            for part in columns.iter_mut().flatten() {
                *part = zero.where_else(meets, *part);
            }
            e = spread.where_else(meets, e);
            linear = zero.where_else(meets, linear);
        }
        let factor = rule.power_derivative(self.z, splat(bounds.power));
        for (i, column) in columns.iter_mut().enumerate() {
            *column = product(factor, rule.fold_derivative(self.z, *column));
            column[i] = column[i].add(splat(bounds.slope_of_c));
        }
        let steepness = splat(bounds.power).mul(power(modulus, n - 1));
        let mut bent = spread.mul(spread).mul(splat(bounds.curvature));
        if n > 2 {
            bent = bent.mul(power(reach, n - 2));
        }
        let e = steepness.fma(splat(bounds.slope_noise).fma(linear, e), bent);
        Self { z, slope: columns[0], second: columns[1], e }
    }
}
