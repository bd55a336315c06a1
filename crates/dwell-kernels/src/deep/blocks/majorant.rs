//! Polynomials with coefficients of at least 0, on [0, 1]: bounds on parts of blocks. The constant is first.

/// Of the third degree.
pub(in crate::deep) type Cubic = [f64; 4];
/// Of the fifth degree.
pub(super) type Quintic = [f64; 6];

/// The product on [0, 1], where a power above the third is at most the third.
#[inline(always)]
pub(super) fn product(p: Cubic, q: Cubic) -> Cubic {
    let mut out = [0.0; 4];
    for (i, p) in p.iter().enumerate() {
        for (j, q) in q.iter().enumerate() {
            let degree = if i + j > 3 { 3 } else { i + j };
            out[degree] = p.mul_add(*q, out[degree]);
        }
    }
    out
}

/// The product on [0, 1], where a power above the fifth is at most the fifth. Blocks of the fourth degree are merged in functions that are compiled for no level, in which a fused
/// operation would be a call.
pub(super) fn product_of_quintics(p: &Quintic, q: &Quintic) -> Quintic {
    let mut out = [0.0; 6];
    for (i, p) in p.iter().enumerate() {
        for (j, q) in q.iter().enumerate() {
            let degree = if i + j > 5 { 5 } else { i + j };
            out[degree] += p * q;
        }
    }
    out
}

/// The sum.
#[inline(always)]
pub(super) fn sum<const N: usize>(p: [f64; N], q: [f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for i in 0..N {
        out[i] = p[i] + q[i];
    }
    out
}

/// The product with a number.
#[inline(always)]
pub(super) fn times<const N: usize>(p: [f64; N], factor: f64) -> [f64; N] {
    let mut out = [0.0; N];
    for i in 0..N {
        out[i] = p[i] * factor;
    }
    out
}

/// The polynomial of s x in place of x.
#[inline(always)]
pub(super) fn stretched<const N: usize>(p: [f64; N], s: f64) -> [f64; N] {
    let (mut out, mut power) = (p, s);
    for i in 1..N {
        out[i] = p[i] * power;
        power *= s;
    }
    out
}

/// The greatest s in [0, 1], or one not much smaller, with p(s) - p(0) <= target > 0.
pub(super) fn most_of_quintic(p: Quintic, target: f64) -> f64 {
    let rise = |s: f64| ((((p[5] * s + p[4]) * s + p[3]) * s + p[2]) * s + p[1]) * s;
    let slope = |s: f64| (((5.0 * p[5] * s + 4.0 * p[4]) * s + 3.0 * p[3]) * s + 2.0 * p[2]) * s + p[1];
    if rise(1.0) <= target {
        return 1.0;
    }
    // No term alone may exceed the target. From a bound above, Newton's method comes down to the value, since the rise is convex.
    let root = |degree: usize, root: f64| if p[degree] > target { root } else { 1.0 };
    let of_first = root(1, target / p[1]);
    let of_second = root(2, (target / p[2]).sqrt());
    let of_fourth = root(4, (target / p[4]).sqrt().sqrt());
    let mut s = of_first.min(of_second).min(of_fourth);
    for _ in 0..MOST_ROUNDS {
        let above = rise(s);
        if above <= target * CLOSE {
            break;
        }
        s -= (above - target) / slope(s);
    }
    // The rise is convex and 0 at 0, so that rise(s t) <= t rise(s) for t <= 1.
    let above = rise(s);
    (if above <= target { s } else { s * (target / above) }) * (1.0 - 1e-14)
}

/// Rounds of Newton's method: each takes s to 0.67 of itself where a term of the third degree is far above the target, and to 0.8 for the fifth.
const MOST_ROUNDS: usize = 40;
/// How near to its target the rise is to come.
const CLOSE: f64 = 1.01;

/// The greatest s in [0, 1], or one not much smaller, with p(s) - p(0) <= target.
pub(in crate::deep) fn most(p: Cubic, target: f64) -> f64 {
    let rise = |s: f64| ((p[3] * s + p[2]) * s + p[1]) * s;
    if rise(1.0) <= target {
        return 1.0;
    }
    // The rise is convex and 0 at 0, so that rise(s t) <= s rise(t) for s <= 1. The first bound comes from the linear term.
    let first = if p[1] > target { target / p[1] } else { 1.0 };
    let s = first * target / rise(first);
    // Once more from a larger s that may be valid.
    let larger = (s * first).sqrt();
    let at_larger = rise(larger);
    s.max(if at_larger <= target { larger } else { larger * target / at_larger }) * (1.0 - 1e-14)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::Random;

    fn value_of(p: &Quintic, x: f64) -> f64 {
        p.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
    }

    #[test]
    fn products_bound_products_and_the_most_is_within() {
        let mut random = Random(1);
        for number in 0..1000 {
            let [p, q] = [0; 2].map(|_| [0; 4].map(|_| random.unit()));
            let value = |p: Cubic, x: f64| ((p[3] * x + p[2]) * x + p[1]) * x + p[0];
            let x = random.unit();
            assert!(value(product(p, q), x) * (1.0 + 1e-12) >= value(p, x) * value(q, x));
            let target = random.unit() * 2.0;
            let s = most(p, target);
            assert!((0.0..=1.0).contains(&s) && value(p, s) - p[0] <= target * (1.0 + 1e-12));
            assert!(s == 1.0 || value(p, (s * 2.0).min(1.0)) - p[0] > target, "not much smaller");
            assert!((value(stretched(p, s), x) - value(p, s * x)).abs() < 1e-12);
            let mut quintic = [0; 6].map(|_| random.unit());
            quintic[number % 6] *= 2_f64.powi((random.next() % 40) as i32);
            let other = [0; 6].map(|_| random.unit());
            let bound = value_of(&product_of_quintics(&quintic, &other), x);
            assert!(bound * (1.0 + 1e-12) >= value_of(&quintic, x) * value_of(&other, x));
            // Without the constant, beside which the others may be small.
            let without = [0.0, quintic[1], quintic[2], quintic[3], quintic[4], quintic[5]];
            let rise = |s: f64| value_of(&without, s);
            let s = most_of_quintic(quintic, target);
            assert!((0.0..=1.0).contains(&s) && rise(s) <= target * (1.0 + 1e-12));
            assert!(s == 1.0 || rise((s * 1.02).min(1.0)) > target, "not much smaller: {quintic:?}, {target}");
        }
    }
}
