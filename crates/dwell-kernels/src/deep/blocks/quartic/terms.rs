//! Polynomials of z and c by their terms of the first to the fourth degree, and one of them after another.

use crate::deep::mantissa::Complex;
use std::ops::{Add, Mul};

/// A coefficient: a complex number, or a bound on the modulus of one.
pub(super) trait Coefficient: Copy + Add<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    fn by(self, factor: f64) -> Self;
}

impl Coefficient for f64 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn by(self, factor: f64) -> Self {
        self * factor
    }
}

impl Coefficient for Complex<f64> {
    const ZERO: Self = Self { re: 0.0, im: 0.0 };
    #[inline(always)]
    fn by(self, factor: f64) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }
}

/// The terms of each degree: number j of degree k is the coefficient of z^(k - j) c^j.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms<K> {
    pub(super) first: [K; 2],
    pub(super) second: [K; 3],
    pub(super) third: [K; 4],
    pub(super) fourth: [K; 5],
}

/// Adds the product of the terms of two degrees and c^`shift` to those of the sum of the degrees.
#[inline(always)]
fn add_product<K: Coefficient, const A: usize, const B: usize, const C: usize>(
    to: &mut [K; C],
    p: &[K; A],
    q: &[K; B],
    shift: usize,
) {
    for i in 0..A {
        for j in 0..B {
            to[i + j + shift] = to[i + j + shift] + p[i] * q[j];
        }
    }
}

impl<K: Coefficient> Terms<K> {
    /// The terms of the third and the fourth degree of this polynomial and then `y`, which is one of the values of this and c.
    ///
    /// With X_k and Y_k the terms of each degree k, and y_kj the coefficients of Y_k, these are
    ///
    /// ```text
    /// y_10 X_3 + y_20 2 X_1 X_2 + y_21 c X_2 + Y_3(X_1, c)
    /// y_10 X_4 + y_20 (2 X_1 X_3 + X_2^2) + y_21 c X_3 + (3 y_30 X_1^2 + 2 y_31 c X_1 + y_32 c^2) X_2 + Y_4(X_1, c)
    /// ```
    pub(super) fn then(&self, y: &Self) -> ([K; 4], [K; 5]) {
        let Self { first, second, third, fourth } = self;
        let (mut square, mut cube, mut power) = ([K::ZERO; 3], [K::ZERO; 4], [K::ZERO; 5]);
        add_product(&mut square, first, first, 0);
        add_product(&mut cube, &square, first, 0);
        add_product(&mut power, &square, &square, 0);
        let twice = [first[0].by(2.0), first[1].by(2.0)];
        let mut cross = [K::ZERO; 4];
        add_product(&mut cross, &twice, second, 0);
        let mut of_third = [K::ZERO, K::ZERO, K::ZERO, y.third[3]];
        add_product(&mut of_third, &[y.first[0]], third, 0);
        add_product(&mut of_third, &[y.second[0]], &cross, 0);
        add_product(&mut of_third, &[y.second[1]], second, 1);
        add_product(&mut of_third, &[y.third[0]], &cube, 0);
        add_product(&mut of_third, &[y.third[1]], &square, 1);
        add_product(&mut of_third, &[y.third[2]], first, 2);
        let mut of_square = [K::ZERO; 5];
        add_product(&mut of_square, &twice, third, 0);
        add_product(&mut of_square, second, second, 0);
        let mut by_second = [K::ZERO, K::ZERO, y.third[2]];
        add_product(&mut by_second, &[y.third[0].by(3.0)], &square, 0);
        add_product(&mut by_second, &[y.third[1]], &twice, 1);
        let mut of_fourth = [K::ZERO, K::ZERO, K::ZERO, K::ZERO, y.fourth[4]];
        add_product(&mut of_fourth, &[y.first[0]], fourth, 0);
        add_product(&mut of_fourth, &[y.second[0]], &of_square, 0);
        add_product(&mut of_fourth, &[y.second[1]], third, 1);
        add_product(&mut of_fourth, &by_second, second, 0);
        add_product(&mut of_fourth, &[y.fourth[0]], &power, 0);
        add_product(&mut of_fourth, &[y.fourth[1]], &cube, 1);
        add_product(&mut of_fourth, &[y.fourth[2]], &square, 2);
        add_product(&mut of_fourth, &[y.fourth[3]], first, 3);
        (of_third, of_fourth)
    }
}
