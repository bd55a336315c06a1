//! Polynomials of the third degree with coefficients of at least 0, on [0, 1]: bounds on parts of blocks.

/// The coefficients, the constant first.
pub(in crate::deep) type Cubic = [f64; 4];

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

/// The sum.
#[inline(always)]
pub(super) fn sum(p: Cubic, q: Cubic) -> Cubic {
    [p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3]]
}

/// The product with a number.
#[inline(always)]
pub(super) fn times(p: Cubic, factor: f64) -> Cubic {
    p.map(|coefficient| coefficient * factor)
}

/// The polynomial of s x in place of x.
#[inline(always)]
pub(super) fn stretched(p: Cubic, s: f64) -> Cubic {
    [p[0], p[1] * s, p[2] * (s * s), p[3] * (s * s * s)]
}

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

    #[test]
    fn products_bound_products_and_the_most_is_within() {
        let mut random = Random(1);
        for _ in 0..1000 {
            let [p, q] = [0; 2].map(|_| [0; 4].map(|_| random.unit()));
            let value = |p: Cubic, x: f64| ((p[3] * x + p[2]) * x + p[1]) * x + p[0];
            let x = random.unit();
            assert!(value(product(p, q), x) * (1.0 + 1e-12) >= value(p, x) * value(q, x));
            let target = random.unit() * 2.0;
            let s = most(p, target);
            assert!((0.0..=1.0).contains(&s) && value(p, s) - p[0] <= target * (1.0 + 1e-12));
            assert!(s == 1.0 || value(p, (s * 2.0).min(1.0)) - p[0] > target, "not much smaller");
            assert!((value(stretched(p, s), x) - value(p, s * x)).abs() < 1e-12);
        }
    }
}
