//! The plain loop, which is the reference for every other kernel: one point at a time, tested after every step. This
//! file must stay without optimisations.

use crate::map::Map;
use crate::number::Number;
use crate::recipe::{Rule, with_rule};
use std::sync::atomic::{AtomicBool, Ordering};

/// The dwell of a pixel: the least n in 1..=`limit` for which |z_n|^2 is greater than `radius_squared` or NaN, or 0 if
/// there is none. Every rounding is as in [`crate::recipe`].
#[must_use]
pub fn dwell<N: Number>(map: &Map<N>, pixel: [N; 2], limit: u32, radius_squared: N) -> u32 {
    escape(map, pixel, limit, radius_squared).map_or(0, |e| e.dwell)
}

/// As [`dwell`], but returns `None` if `stop` is set before the dwell is known. `stop` is read every 2^16 steps.
#[must_use]
pub fn dwell_until<N: Number>(
    map: &Map<N>,
    pixel: [N; 2],
    limit: u32,
    radius_squared: N,
    stop: &AtomicBool,
) -> Option<u32> {
    let should_stop = || stop.load(Ordering::Relaxed);
    let orbit = [pixel, map.c(pixel)];
    let found = with_rule!(map.formula, map.recipe, rule => iterate(rule, orbit, limit, radius_squared, should_stop));
    if found.is_none() && should_stop() { None } else { Some(found.map_or(0, |e| e.dwell)) }
}

/// The escape of an orbit: the dwell n and z_n, from which the orbit can be continued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Escape<N> {
    /// n, at least 1.
    pub dwell: u32,
    /// Re z_n.
    pub x: N,
    /// Im z_n.
    pub y: N,
}

/// As [`dwell`], with z_n. Returns `None` if the point does not escape within the limit.
#[must_use]
pub fn escape<N: Number>(map: &Map<N>, pixel: [N; 2], limit: u32, radius_squared: N) -> Option<Escape<N>> {
    let orbit = [pixel, map.c(pixel)];
    with_rule!(map.formula, map.recipe, rule => iterate(rule, orbit, limit, radius_squared, || false))
}

/// Iterates the orbit of z_1 with its c. Calls `should_stop` every 2^16 steps and returns `None` once it returns true.
#[inline(always)]
pub(crate) fn iterate<N: Number, R: Rule>(
    rule: R,
    [[mut x, mut y], [a, b]]: [[N; 2]; 2],
    limit: u32,
    radius_squared: N,
    should_stop: impl Fn() -> bool,
) -> Option<Escape<N>> {
    let mut n = 1;
    while n <= limit {
        let norm = R::norm(x, y);
        // NaN counts as escaped: "not at most" and "greater" differ for NaN only.
        if !matches!(norm.partial_cmp(&radius_squared), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)) {
            return Some(Escape { dwell: n, x, y });
        }
        if n == limit || (n & 0xffff == 0 && should_stop()) {
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
    fn hand_computed_dwells_of_other_formulas() {
        let map =
            |fold, power, julia| Map { formula: Formula::new(fold, power).unwrap(), recipe: Recipe::Fused, julia };
        // 1.2, 1.2^3 + 1.2 = 2.928.
        assert_eq!(dwell(&map(Fold::None, 3, None), [1.2, 0.0], 10, 4.0), 2);
        // The Burning Ship: 1 - i folds to 1 + i, whose square is 2i, and 2i + 1 - i = 1 + i for ever.
        assert_eq!(dwell(&map(Fold::Absolute, 2, None), [1.0, -1.0], 1000, 4.0), 0);
        // Without the fold: 1 - i, then -2i + 1 - i = 1 - 3i.
        assert_eq!(fused(1.0, -1.0, 1000), 2);
        // The Tricorn: i, conj(i)^2 + i = -1 + i, conj(-1 + i)^2 + i = 2i + i.
        assert_eq!(dwell(&map(Fold::Conjugate, 2, None), [0.0, 1.0], 1000, 4.0), 3);
        // Julia sets: with c = 0 the closed unit disc is mapped to itself; c = 2 is not added to z_1.
        assert_eq!(dwell(&map(Fold::None, 2, Some([0.0, 0.0])), [1.0, 0.0], 1000, 4.0), 0);
        assert_eq!(dwell(&map(Fold::None, 2, Some([0.0, 0.0])), [1.5, 0.0], 1000, 4.0), 2);
        assert_eq!(dwell(&map(Fold::None, 2, Some([2.0, 0.0])), [0.0, 0.0], 1000, 4.0), 3);
    }

    #[test]
    fn hand_computed_dwells() {
        assert_eq!(fused(0.0, 0.0, 1000), 0);
        assert_eq!(fused(-2.0, 0.0, 100_000), 0, "-2 is in the set: |z| stays at 2 and is never greater");
        assert_eq!(fused(-1.0, 0.0, 1000), 0);
        assert_eq!(fused(0.25, 0.0, 1000), 0);
        assert_eq!(fused(2.0, 0.0, 1000), 2, "|c| = 2 is not greater than 2; z_2 = 6 is");
        assert_eq!(fused(2.5, 0.0, 1000), 1);
        assert_eq!(fused(1.0, 0.0, 1000), 3, "1, 2, 5");
        assert_eq!(fused(0.0, 1.0, 1000), 0, "i, -1 + i, -i, ... is periodic");
    }

    #[test]
    fn the_limit_is_the_last_n_tested() {
        assert_eq!(fused(1.0, 0.0, 2), 0);
        assert_eq!(fused(1.0, 0.0, 3), 3);
        assert_eq!(fused(3.0, 0.0, 1), 1);
        assert_eq!(fused(2.0, 0.0, 1), 0);
    }

    #[test]
    fn infinite_and_nan_points_have_escaped() {
        assert_eq!(fused(1e300, 1e300, 10), 1);
        assert_eq!(fused(f64::NAN, 0.0, 10), 1);
        assert_eq!(fused(0.0, f64::NEG_INFINITY, 10), 1);
    }
}
