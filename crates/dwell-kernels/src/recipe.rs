//! Recipes: the exact order of roundings of one iteration z -> w^N + c, with z = x + iy, c = a + ib, and w = u + iv the
//! folded z ([`crate::formula`]): z itself, |x| + i|y|, or x - iy. Folding is exact.
//!
//! `<.>` is one rounding to nearest, ties to even. Everything outside `<.>` is exact.
//!
//! w^N is computed by squarings and products: p + iq starts as w; for each binary digit of N after the first it is
//! squared, and then multiplied by w if the digit is 1. c is added in the last of these operations, which is a squaring
//! for even N and a product for odd N. So N = 2 is the one line "last squaring", and N = 3 is a squaring and a last
//! product.
//!
//! Recipe `fused` (the default):
//!
//! ```text
//! squaring        t = <q q>            p' = <p p - t>            q' = <2p q>
//! product         t = <q v>            p' = <p u - t>            q' = <p v + <q u>>
//! last squaring   t = <a - q q>        x' = <p p + t>            y' = <2p q + b>
//! last product    t = <a - q v>        x' = <p u + t>            y' = <p v + <q u + b>>
//! |z|^2 = <x x + <y y>>
//! ```
//!
//! For z^2 + c this is three fused multiply-adds and an addition (2p).
//!
//! Recipe `separate`, without fused operations: for hardware that lacks them and for comparing the two.
//!
//! ```text
//! squaring        p' = <<p p> - <q q>>                           q' = <2p q>
//! product         p' = <<p u> - <q v>>                           q' = <<p v> + <q u>>
//! last squaring   t = <a - <q q>>      x' = <<p p> + t>          y' = <<2p q> + b>
//! last product    t = <a - <q v>>      x' = <<p u> + t>          y' = <<p v> + <<q u> + b>>
//! |z|^2 = <<x x> + <y y>>
//! ```
//!
//! z_0 = 0, and z_1 = c is used as it is, without computing a step (for a Julia set z_1 is the pixel). A point has
//! escaped at n if |z_n|^2, rounded as above, is NaN or greater than <R^2>, which is computed exactly from the decimal
//! R and rounded once.
//!
//! Nothing is flushed to zero, contracted or reassociated. A GPU engine must compute the same operations in the same
//! order.

use crate::arithmetic::Arithmetic;
use crate::formula::{Fold, Formula};
use std::marker::PhantomData;

/// The order of roundings of an iteration. See the [module](self) for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Recipe {
    /// With fused multiply-add.
    #[default]
    Fused,
    /// Every product and sum is rounded separately.
    Separate,
}

crate::named!(Recipe, "recipe": Fused => "fused", Separate => "separate");

/// A recipe as a type: the operations of a step. Complex numbers are `[real, imaginary]`.
pub(crate) trait Roundings: Copy {
    /// p^2.
    fn square<T: Arithmetic>(p: [T; 2]) -> [T; 2];
    /// p w.
    fn product<T: Arithmetic>(p: [T; 2], w: [T; 2]) -> [T; 2];
    /// p^2 + c.
    fn last_square<T: Arithmetic>(p: [T; 2], c: [T; 2]) -> [T; 2];
    /// p w + c.
    fn last_product<T: Arithmetic>(p: [T; 2], w: [T; 2], c: [T; 2]) -> [T; 2];
    /// |z|^2.
    fn norm<T: Arithmetic>(x: T, y: T) -> T;
}

/// [`Recipe::Fused`].
#[derive(Clone, Copy)]
pub(crate) struct Fused;
/// [`Recipe::Separate`].
#[derive(Clone, Copy)]
pub(crate) struct Separate;

impl Roundings for Fused {
    #[inline(always)]
    fn square<T: Arithmetic>([p, q]: [T; 2]) -> [T; 2] {
        let t = q.mul(q);
        [p.fma(p, t.neg()), p.add(p).mul(q)]
    }
    #[inline(always)]
    fn product<T: Arithmetic>([p, q]: [T; 2], [u, v]: [T; 2]) -> [T; 2] {
        let t = q.mul(v);
        [p.fma(u, t.neg()), p.fma(v, q.mul(u))]
    }
    #[inline(always)]
    fn last_square<T: Arithmetic>([p, q]: [T; 2], [a, b]: [T; 2]) -> [T; 2] {
        let t = q.neg().fma(q, a);
        let y = p.add(p).fma(q, b);
        [p.fma(p, t), y]
    }
    #[inline(always)]
    fn last_product<T: Arithmetic>([p, q]: [T; 2], [u, v]: [T; 2], [a, b]: [T; 2]) -> [T; 2] {
        let t = q.neg().fma(v, a);
        let y = p.fma(v, q.fma(u, b));
        [p.fma(u, t), y]
    }
    #[inline(always)]
    fn norm<T: Arithmetic>(x: T, y: T) -> T {
        x.fma(x, y.mul(y))
    }
}

impl Roundings for Separate {
    #[inline(always)]
    fn square<T: Arithmetic>([p, q]: [T; 2]) -> [T; 2] {
        [p.mul(p).sub(q.mul(q)), p.add(p).mul(q)]
    }
    #[inline(always)]
    fn product<T: Arithmetic>([p, q]: [T; 2], [u, v]: [T; 2]) -> [T; 2] {
        [p.mul(u).sub(q.mul(v)), p.mul(v).add(q.mul(u))]
    }
    #[inline(always)]
    fn last_square<T: Arithmetic>([p, q]: [T; 2], [a, b]: [T; 2]) -> [T; 2] {
        let t = a.sub(q.mul(q));
        let y = p.add(p).mul(q).add(b);
        [p.mul(p).add(t), y]
    }
    #[inline(always)]
    fn last_product<T: Arithmetic>([p, q]: [T; 2], [u, v]: [T; 2], [a, b]: [T; 2]) -> [T; 2] {
        let t = a.sub(q.mul(v));
        let y = p.mul(v).add(q.mul(u).add(b));
        [p.mul(u).add(t), y]
    }
    #[inline(always)]
    fn norm<T: Arithmetic>(x: T, y: T) -> T {
        x.mul(x).add(y.mul(y))
    }
}

/// A formula and a recipe as one value: the step and the test. Kernels are compiled for each type that implements it.
pub(crate) trait Rule: Copy {
    /// The order of roundings.
    type Roundings: Roundings;
    /// The formula of this rule.
    fn formula(self) -> Formula;

    /// Computes one step of `U` points in place. `c(j)` is the constant of point `j`.
    fn step_all<T: Arithmetic, const U: usize>(self, x: &mut [T; U], y: &mut [T; U], c: impl Fn(usize) -> [T; 2]);

    /// The derivative of the fold at z, applied to a small displacement `d` of z. Where |x| or |y| is not
    /// differentiable, the derivative from the right.
    fn fold_derivative<T: Arithmetic>(self, z: [T; 2], d: [T; 2]) -> [T; 2];

    /// N w^(N - 1), the factor by which a step multiplies a small displacement of w. `power` is N.
    fn power_derivative<T: Arithmetic>(self, z: [T; 2], power: T) -> [T; 2];

    /// One step of one point z = x + iy with c = a + ib.
    #[inline(always)]
    fn step<T: Arithmetic>(self, x: T, y: T, a: T, b: T) -> (T, T) {
        let (mut xs, mut ys) = ([x], [y]);
        self.step_all(&mut xs, &mut ys, |_| [a, b]);
        (xs[0], ys[0])
    }

    /// |z|^2.
    #[inline(always)]
    fn norm<T: Arithmetic>(x: T, y: T) -> T {
        Self::Roundings::norm(x, y)
    }
}
/// A fold as a type.
pub(crate) trait Folding: Copy {
    /// The fold of this type.
    const FOLD: Fold;
    /// The folded z.
    fn fold<T: Arithmetic>(z: [T; 2]) -> [T; 2];
    /// See [`Rule::fold_derivative`].
    fn derivative<T: Arithmetic>(z: [T; 2], d: [T; 2]) -> [T; 2];
}
/// [`Fold::None`].
#[derive(Clone, Copy)]
pub(crate) struct Unfolded;
/// [`Fold::Absolute`].
#[derive(Clone, Copy)]
pub(crate) struct Absolute;
/// [`Fold::Conjugate`].
#[derive(Clone, Copy)]
pub(crate) struct Conjugate;

impl Folding for Unfolded {
    const FOLD: Fold = Fold::None;
    #[inline(always)]
    fn fold<T: Arithmetic>(z: [T; 2]) -> [T; 2] {
        z
    }
    #[inline(always)]
    fn derivative<T: Arithmetic>(_: [T; 2], d: [T; 2]) -> [T; 2] {
        d
    }
}
impl Folding for Absolute {
    const FOLD: Fold = Fold::Absolute;
    #[inline(always)]
    fn fold<T: Arithmetic>([x, y]: [T; 2]) -> [T; 2] {
        [x.abs(), y.abs()]
    }
    #[inline(always)]
    fn derivative<T: Arithmetic>([x, y]: [T; 2], [dx, dy]: [T; 2]) -> [T; 2] {
        [dx.negated_where_negative(x), dy.negated_where_negative(y)]
    }
}
impl Folding for Conjugate {
    const FOLD: Fold = Fold::Conjugate;
    #[inline(always)]
    fn fold<T: Arithmetic>([x, y]: [T; 2]) -> [T; 2] {
        [x, y.neg()]
    }
    #[inline(always)]
    fn derivative<T: Arithmetic>(_: [T; 2], [dx, dy]: [T; 2]) -> [T; 2] {
        [dx, dy.neg()]
    }
}

/// The rule of a formula of power 2, with the fold and the recipe fixed by its type.
#[derive(Clone, Copy)]
pub(crate) struct Quadratic<F, O>(PhantomData<(F, O)>);

impl<F, O> Quadratic<F, O> {
    pub(crate) const RULE: Self = Self(PhantomData);
}

impl<F: Folding, O: Roundings> Rule for Quadratic<F, O> {
    type Roundings = O;

    fn formula(self) -> Formula {
        Formula::new(F::FOLD, 2).unwrap_or_default()
    }

    #[inline(always)]
    fn fold_derivative<T: Arithmetic>(self, z: [T; 2], d: [T; 2]) -> [T; 2] {
        F::derivative(z, d)
    }

    #[inline(always)]
    fn power_derivative<T: Arithmetic>(self, z: [T; 2], _: T) -> [T; 2] {
        let [u, v] = F::fold(z);
        [u.add(u), v.add(v)]
    }

    #[inline(always)]
    fn step_all<T: Arithmetic, const U: usize>(self, x: &mut [T; U], y: &mut [T; U], c: impl Fn(usize) -> [T; 2]) {
        for j in 0..U {
            [x[j], y[j]] = O::last_square(F::fold([x[j], y[j]]), c(j));
        }
    }
}

/// The rule of a formula of any fold and power, which are read in every step. The digits of N select the same few
/// branches in every step, so they are predicted, and each operation is applied to all points at once.
#[derive(Clone, Copy)]
pub(crate) struct Powers<O> {
    formula: Formula,
    roundings: PhantomData<O>,
}

impl<O> Powers<O> {
    pub(crate) fn of(formula: Formula) -> Self {
        Self { formula, roundings: PhantomData }
    }
}

impl<O: Roundings> Rule for Powers<O> {
    type Roundings = O;

    fn formula(self) -> Formula {
        self.formula
    }

    #[inline(always)]
    fn fold_derivative<T: Arithmetic>(self, z: [T; 2], d: [T; 2]) -> [T; 2] {
        match self.formula.fold() {
            Fold::None => Unfolded::derivative(z, d),
            Fold::Absolute => Absolute::derivative(z, d),
            Fold::Conjugate => Conjugate::derivative(z, d),
        }
    }

    #[inline(always)]
    fn power_derivative<T: Arithmetic>(self, z: [T; 2], power: T) -> [T; 2] {
        let w = match self.formula.fold() {
            Fold::None => z,
            Fold::Absolute => Absolute::fold(z),
            Fold::Conjugate => Conjugate::fold(z),
        };
        let exponent = self.formula.power() - 1;
        let mut p = w;
        let mut digit = exponent.ilog2();
        while digit > 0 {
            digit -= 1;
            p = O::square(p);
            if exponent >> digit & 1 == 1 {
                p = O::product(p, w);
            }
        }
        [p[0].mul(power), p[1].mul(power)]
    }

    #[inline(always)]
    fn step_all<T: Arithmetic, const U: usize>(self, x: &mut [T; U], y: &mut [T; U], c: impl Fn(usize) -> [T; 2]) {
        match self.formula.fold() {
            Fold::None => {}
            Fold::Absolute => {
                for j in 0..U {
                    [x[j], y[j]] = Absolute::fold([x[j], y[j]]);
                }
            }
            Fold::Conjugate => {
                for j in 0..U {
                    [x[j], y[j]] = Conjugate::fold([x[j], y[j]]);
                }
            }
        }
        let power = self.formula.power();
        let (mut p, mut q) = (*x, *y);
        // The binary digits after the first and before the last.
        let mut digit = power.ilog2();
        while digit > 1 {
            digit -= 1;
            for j in 0..U {
                [p[j], q[j]] = O::square([p[j], q[j]]);
            }
            if power >> digit & 1 == 1 {
                for j in 0..U {
                    [p[j], q[j]] = O::product([p[j], q[j]], [x[j], y[j]]);
                }
            }
        }
        if power & 1 == 1 {
            for j in 0..U {
                [p[j], q[j]] = O::square([p[j], q[j]]);
                [x[j], y[j]] = O::last_product([p[j], q[j]], [x[j], y[j]], c(j));
            }
        } else {
            for j in 0..U {
                [x[j], y[j]] = O::last_square([p[j], q[j]], c(j));
            }
        }
    }
}

/// Evaluates `$body` with `$rule` bound to the rule of a formula and a recipe. Common kinds have a type of their own:
/// for a quadratic formula this is 1.35 times as fast as reading the power in every step, for a higher power hardly
/// faster. Each further type compiles every kernel once more.
macro_rules! with_rule {
    ($formula:expr, $recipe:expr, $rule:ident => $body:expr) => {
        match $recipe {
            $crate::recipe::Recipe::Fused => match ($formula.fold(), $formula.power()) {
                ($crate::formula::Fold::None, 2) => {
                    let $rule = $crate::recipe::Quadratic::<$crate::recipe::Unfolded, $crate::recipe::Fused>::RULE;
                    $body
                }
                ($crate::formula::Fold::Absolute, 2) => {
                    let $rule = $crate::recipe::Quadratic::<$crate::recipe::Absolute, $crate::recipe::Fused>::RULE;
                    $body
                }
                ($crate::formula::Fold::Conjugate, 2) => {
                    let $rule = $crate::recipe::Quadratic::<$crate::recipe::Conjugate, $crate::recipe::Fused>::RULE;
                    $body
                }
                _ => {
                    let $rule = $crate::recipe::Powers::<$crate::recipe::Fused>::of($formula);
                    $body
                }
            },
            $crate::recipe::Recipe::Separate => match ($formula.fold(), $formula.power()) {
                ($crate::formula::Fold::None, 2) => {
                    let $rule = $crate::recipe::Quadratic::<$crate::recipe::Unfolded, $crate::recipe::Separate>::RULE;
                    $body
                }
                _ => {
                    let $rule = $crate::recipe::Powers::<$crate::recipe::Separate>::of($formula);
                    $body
                }
            },
        }
    };
}
pub(crate) use with_rule;

#[cfg(test)]
mod tests {
    use super::*;

    fn step<O: Roundings>(x: f64, y: f64, a: f64, b: f64) -> (f64, f64) {
        Quadratic::<Unfolded, O>::RULE.step(x, y, a, b)
    }

    /// One step computed by hand in numbers for which the two recipes differ: y = 1 + 2^-30, y y = 1 + 2^-29 + 2^-60.
    #[test]
    fn each_rounding_is_where_the_module_documentation_says() {
        let e = 2f64.powi(-30);
        let (x, y, a, b) = (0.5, 1.0 + e, 1.0, 0.25);
        // fused: a - y y = -2^-29 - 2^-60 is exact; separate: y y rounds to 1 + 2^-29 first.
        let (fx, fy) = step::<Fused>(x, y, a, b);
        let (sx, sy) = step::<Separate>(x, y, a, b);
        assert_eq!(fx, 0.25 - 2f64.powi(-29) - 2f64.powi(-60));
        assert_eq!(sx, 0.25 - 2f64.powi(-29));
        assert_eq!((fy, sy), (1.25 + e, 1.25 + e));
        // 2x y = 1.5 (1 + 2^-30)(1 + 2^-30) needs 62 bits.
        let (x, y, b) = (0.75 * (1.0 + e), 1.0 + e, -1.5);
        let (_, fy) = step::<Fused>(x, y, a, b);
        let (_, sy) = step::<Separate>(x, y, a, b);
        assert_eq!(fy, 3.0 * e + 1.5 * e * e);
        assert_eq!(sy, 3.0 * e);
        // x x = 1 + 2^-26 + 2^-54 and y y = 1.5625 * 2^-54: together over half an ulp of 1, each alone under it.
        let (x, y) = (1.0 + 2f64.powi(-27), 1.25 * 2f64.powi(-27));
        assert_eq!(Fused::norm(x, y), 1.0 + 2f64.powi(-26) + 2f64.powi(-52));
        assert_eq!(Separate::norm(x, y), 1.0 + 2f64.powi(-26));
    }

    /// The lines of the module documentation, written with the operators of f64 and without any abstraction.
    fn documented_step(fold: Fold, power: u32, recipe: Recipe, [x, y]: [f64; 2], [a, b]: [f64; 2]) -> [f64; 2] {
        let fused = recipe == Recipe::Fused;
        let [u, v] = match fold {
            Fold::None => [x, y],
            Fold::Absolute => [x.abs(), y.abs()],
            Fold::Conjugate => [x, -y],
        };
        let square = |[p, q]: [f64; 2]| match fused {
            true => [p.mul_add(p, -(q * q)), 2.0 * p * q],
            false => [p * p - q * q, 2.0 * p * q],
        };
        let product = |[p, q]: [f64; 2]| match fused {
            true => [p.mul_add(u, -(q * v)), p.mul_add(v, q * u)],
            false => [p * u - q * v, p * v + q * u],
        };
        let mut w = [u, v];
        let digits: Vec<char> = format!("{power:b}").chars().skip(1).collect();
        for digit in &digits[..digits.len() - 1] {
            w = square(w);
            if *digit == '1' {
                w = product(w);
            }
        }
        if power % 2 == 1 {
            let [p, q] = square(w);
            match fused {
                true => [p.mul_add(u, (-q).mul_add(v, a)), p.mul_add(v, q.mul_add(u, b))],
                false => [p * u + (a - q * v), p * v + (q * u + b)],
            }
        } else {
            let [p, q] = w;
            match fused {
                true => [p.mul_add(p, (-q).mul_add(q, a)), (2.0 * p).mul_add(q, b)],
                false => [p * p + (a - q * q), 2.0 * p * q + b],
            }
        }
    }

    #[test]
    fn every_formula_is_rounded_as_documented() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 51) as f64 - 2.0
        };
        for fold in [Fold::None, Fold::Absolute, Fold::Conjugate] {
            for power in 2..=Formula::MAX_POWER {
                let formula = Formula::new(fold, power).unwrap();
                for recipe in Recipe::ALL {
                    for _ in 0..50 {
                        let (z, c) = ([random(), random()], [random(), random()]);
                        let (x, y) = with_rule!(formula, recipe, rule => {
                            assert_eq!(rule.formula(), formula);
                            rule.step(z[0], z[1], c[0], c[1])
                        });
                        assert_eq!([x, y], documented_step(fold, power, recipe, z, c), "{formula:?} {recipe:?} {z:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn integer_powers_are_exact() {
        // (1 + i)^N + c in integers, which is exact.
        for power in 2..=Formula::MAX_POWER {
            let (mut p, mut q) = (1_i64, 1_i64);
            for _ in 1..power {
                (p, q) = (p - q, p + q);
            }
            for (fold, z, sign) in
                [(Fold::None, [1.0, 1.0], 1), (Fold::Absolute, [-1.0, 1.0], 1), (Fold::Conjugate, [1.0, -1.0], 1)]
            {
                let formula = Formula::new(fold, power).unwrap();
                let (x, y) = with_rule!(formula, Recipe::Fused, rule => rule.step(z[0], z[1], 3.0, -5.0));
                assert_eq!((x, y), ((p + 3) as f64, (sign * q - 5) as f64), "{formula:?}");
            }
        }
    }
}
