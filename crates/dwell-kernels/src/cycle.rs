//! Whether a point is proved never to escape, by one scalar loop: it is interior, or its orbit returns to a z that it had
//! before.
//!
//! The kernel in [`crate::escape`] looks for cycles where that costs nothing, so the n at which it finds one depends on the
//! vectors of the level. The answer here is the same on every machine, which a decision about a whole view needs.

use crate::formula::Formula;
use crate::interior::Interior;
use crate::map::Map;
use crate::number::Number;
use crate::recipe::{Rule, with_rule};
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of steps after which a pixel is proved never to escape: 0 where the test of [`crate::interior`] proves it,
/// otherwise the number, at most `steps`, after which its orbit is found to have returned to an earlier z. `None` if it is not
/// found, or the orbit escapes, or `stop` is set, which is read every 2^12 steps.
#[must_use]
pub fn proved_after<N: Number>(map: &Map<N>, pixel: [N; 2], steps: u32, stop: &AtomicBool) -> Option<u32> {
    if map.formula == Formula::MANDELBROT && map.julia.is_none() && Interior::contains_point(pixel, map.recipe) {
        return Some(0);
    }
    found_after(map, pixel, steps, stop)
}

/// The number of steps after which the orbit of a pixel is found to have returned, bit for bit up to signs of zeros, to an
/// earlier z: at most `steps`. `None` if it is not found, or the orbit escapes beyond the radius 2^8, or `stop` is set, which
/// is read every 2^12 steps.
///
/// The earlier z is replaced when the number of steps has doubled (Brent, 1980), so a cycle is found after at most three times
/// the number of steps before it begins, or its length.
fn found_after<N: Number>(map: &Map<N>, pixel: [N; 2], steps: u32, stop: &AtomicBool) -> Option<u32> {
    let c = map.c(pixel);
    with_rule!(map.formula, map.recipe, rule => search(rule, pixel, c, steps, stop))
}

fn search<N: Number, R: Rule>(rule: R, z: [N; 2], [a, b]: [N; 2], steps: u32, stop: &AtomicBool) -> Option<u32> {
    let far = N::nearest(65_536.0);
    let [mut x, mut y] = z;
    let mut earlier = z;
    let mut replaced = 1;
    for step in 1..=steps {
        (x, y) = rule.step(x, y, a, b);
        if earlier == [x, y] {
            return Some(step);
        }
        if step == replaced {
            let norm = R::norm(x, y);
            if norm.partial_cmp(&far) != Some(std::cmp::Ordering::Less) {
                return None;
            }
            earlier = [x, y];
            replaced = replaced.saturating_mul(2);
        }
        if step & 0xfff == 0 && stop.load(Ordering::Relaxed) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Fold, Formula};
    use crate::recipe::Recipe;

    #[test]
    fn cycles_of_every_length_are_found() {
        let go_on = AtomicBool::new(false);
        let map = Map::mandelbrot(Recipe::Fused);
        let found = |a: f64, b: f64, steps| found_after(&map, [a, b], steps, &go_on);
        assert_eq!(found(0.0, 0.0, 10), Some(1));
        assert_eq!(found(-1.0, 0.0, 10), Some(4));
        assert!(found(-0.12, 0.74, 10_000).is_some());
        // The nucleus of a small copy with an orbit of period 523.
        let nucleus = found(-0.741_087_059_265_146_2, 0.123_112_193_581_171_43, 20_000);
        assert!(nucleus.is_some_and(|step| step >= 523), "{nucleus:?}");
        assert_eq!((found(0.3, 0.6, 10_000), found(0.26, 0.0, 10_000), found(4.0, 4.0, 10_000)), (None, None, None));
    }

    #[test]
    fn interior_points_take_no_step() {
        let go_on = AtomicBool::new(false);
        let map = Map::mandelbrot(Recipe::Fused);
        assert_eq!(proved_after(&map, [0.1, 0.1], 10, &go_on), Some(0));
        assert_eq!(proved_after(&map, [-1.0, 0.1], 10, &go_on), Some(0));
        let julia = Map { julia: Some([0.0, 0.0]), ..map };
        assert_eq!(proved_after(&julia, [0.0, 0.0], 10, &go_on), Some(1));
        // In the margin of f32, and not of f64.
        let near = 0.2499_f32;
        assert_eq!(proved_after(&Map::mandelbrot(Recipe::Fused), [near, 0.0], 0, &go_on), None);
        assert_eq!(proved_after(&map, [f64::from(near), 0.0], 0, &go_on), Some(0));
    }

    #[test]
    fn some_orbits_of_folded_maps_stay_and_never_return() {
        let formula = Formula::new(Fold::Absolute, 2).unwrap();
        let map = Map { formula, recipe: Recipe::Fused, julia: None };
        let point = [0.225_213_68, -1.106_837_61];
        assert_eq!(found_after(&map, point, 20_000, &AtomicBool::new(false)), None);
        assert_eq!(crate::naive::dwell(&map, point, 20_000, 4.0), 0);
    }

    #[test]
    fn the_search_can_be_stopped() {
        let map = Map::mandelbrot(Recipe::Fused);
        // Beside the cusp: the orbit takes 3 * 10^7 steps to pass.
        assert_eq!(found_after(&map, [0.25 + 1e-14, 0.0], u32::MAX, &AtomicBool::new(true)), None);
    }
}
