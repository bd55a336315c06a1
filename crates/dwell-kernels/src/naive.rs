//! The oracle: the plain loop, one point, every step tested. Nothing clever may ever enter this file.

use crate::formula::Map;
use crate::number::Number;
use crate::recipe::{Rule, with_rule};
use std::sync::atomic::{AtomicBool, Ordering};

/// The dwell of a pixel: the least n in 1..=limit with |z_n|^2 > `radius_squared` or NaN; 0 when there is none. Every
/// rounding is as in [`crate::recipe`].
#[must_use]
pub fn dwell<N: Number>(map: &Map<N>, pixel: [N; 2], limit: u32, radius_squared: N) -> u32 {
    escape(map, pixel, limit, radius_squared).map_or(0, |e| e.dwell)
}

/// [`dwell`] that gives up with `None` soon after `stop` is set.
#[must_use]
pub fn dwell_until<N: Number>(
    map: &Map<N>,
    pixel: [N; 2],
    limit: u32,
    radius_squared: N,
    stop: &AtomicBool,
) -> Option<u32> {
    let halt = || stop.load(Ordering::Relaxed);
    let orbit = [pixel, map.c(pixel)];
    let found = with_rule!(map.formula, map.recipe, rule => run(rule, orbit, limit, radius_squared, halt));
    if found.is_none() && halt() { None } else { Some(found.map_or(0, |e| e.dwell)) }
}

/// An escape: when, and from where the orbit goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Escape<N> {
    /// n, from 1.
    pub dwell: u32,
    /// Re z_n.
    pub x: N,
    /// Im z_n.
    pub y: N,
}

/// As [`dwell`], with z_n; `None` when the point does not escape within the limit.
#[must_use]
pub fn escape<N: Number>(map: &Map<N>, pixel: [N; 2], limit: u32, radius_squared: N) -> Option<Escape<N>> {
    let orbit = [pixel, map.c(pixel)];
    with_rule!(map.formula, map.recipe, rule => run(rule, orbit, limit, radius_squared, || false))
}

/// The orbit from z_1 with its c. `halt` is asked every 2^16 steps.
#[inline(always)]
pub(crate) fn run<N: Number, M: Rule>(
    rule: M,
    [[mut x, mut y], [a, b]]: [[N; 2]; 2],
    limit: u32,
    radius_squared: N,
    halt: impl Fn() -> bool,
) -> Option<Escape<N>> {
    let mut n = 1;
    while n <= limit {
        let norm = M::norm(x, y);
        // NaN counts as escaped: "not at most" and "greater" differ just there.
        if !matches!(norm.partial_cmp(&radius_squared), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)) {
            return Some(Escape { dwell: n, x, y });
        }
        if n == limit || (n & 0xffff == 0 && halt()) {
            return None;
        }
        (x, y) = rule.step(x, y, a, b);
        n += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Fold, Formula};
    use crate::recipe::Recipe;

    fn fused(a: f64, b: f64, limit: u32) -> u32 {
        dwell(&Map::mandelbrot(Recipe::Fused), [a, b], limit, 4.0)
    }

    #[test]
    fn other_formulas_by_hand() {
        let map =
            |fold, power, julia| Map { formula: Formula::new(fold, power).unwrap(), recipe: Recipe::Fused, julia };
        // 1.2, 1.2^3 + 1.2 = 2.928.
        assert_eq!(dwell(&map(Fold::None, 3, None), [1.2, 0.0], 10, 4.0), 2);
        // The ship: 1 - i folds to 1 + i, 2i + 1 - i = 1 + i, which is 1 + 2i - i... 2i + 1 - i = 1 + i for ever.
        assert_eq!(dwell(&map(Fold::Absolute, 2, None), [1.0, -1.0], 1000, 4.0), 0);
        // Not folded it is 1 - i, -2i + 1 - i = 1 - 3i.
        assert_eq!(fused(1.0, -1.0, 1000), 2);
        // The Tricorn: i, conj(i)^2 + i = -1 + i, conj(-1 + i)^2 + i = 2i + i.
        assert_eq!(dwell(&map(Fold::Conjugate, 2, None), [0.0, 1.0], 1000, 4.0), 3);
        // A Julia set: c = 0 leaves the closed unit disc where it is; c = 2 is never added to z_1.
        assert_eq!(dwell(&map(Fold::None, 2, Some([0.0, 0.0])), [1.0, 0.0], 1000, 4.0), 0);
        assert_eq!(dwell(&map(Fold::None, 2, Some([0.0, 0.0])), [1.5, 0.0], 1000, 4.0), 2);
        assert_eq!(dwell(&map(Fold::None, 2, Some([2.0, 0.0])), [0.0, 0.0], 1000, 4.0), 3);
    }

    #[test]
    fn points_known_by_hand() {
        assert_eq!(fused(0.0, 0.0, 1000), 0);
        assert_eq!(fused(-2.0, 0.0, 100_000), 0, "-2 is in the set: |z| = 2 for ever, never greater");
        assert_eq!(fused(-1.0, 0.0, 1000), 0);
        assert_eq!(fused(0.25, 0.0, 1000), 0);
        assert_eq!(fused(2.0, 0.0, 1000), 2, "|c| = 2 is not greater than 2; z_2 = 6 is");
        assert_eq!(fused(2.5, 0.0, 1000), 1);
        assert_eq!(fused(1.0, 0.0, 1000), 3, "1, 2, 5");
        assert_eq!(fused(0.0, 1.0, 1000), 0, "i, -1 + i, -i, ... is periodic");
    }

    #[test]
    fn the_limit_is_the_greatest_n_tried() {
        assert_eq!(fused(1.0, 0.0, 2), 0);
        assert_eq!(fused(1.0, 0.0, 3), 3);
        assert_eq!(fused(3.0, 0.0, 1), 1);
        assert_eq!(fused(2.0, 0.0, 1), 0);
    }

    #[test]
    fn overflow_and_nan_have_escaped() {
        assert_eq!(fused(1e300, 1e300, 10), 1);
        assert_eq!(fused(f64::NAN, 0.0, 10), 1);
        assert_eq!(fused(0.0, f64::NEG_INFINITY, 10), 1);
    }
}
