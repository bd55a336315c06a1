//! The attracting cycle of a point that does not escape: its period, its multiplier and one of its points.
//!
//! An orbit z_n that stays bounded usually converges to an attracting cycle: a point w with F(w) = w, where F is p steps,
//! p is the period, and the derivative of F at w, the multiplier, has a modulus below 1. For z^N + c there is at most one
//! such cycle for each c (Fatou), which then attracts every interior point of the filled Julia set. Formulas with a fold
//! may have several. Their F is a real map of the plane; its multiplier is an eigenvalue of its 2x2 Jacobian.
//!
//! # Method
//!
//! 1. The orbit is iterated in windows, which double in length. In each window, the distance of z_n from the z_k at which
//!    the window began is followed, and each n at which this distance is less than ever before in the window gives a
//!    candidate j = n - k for the period. The first window begins at z_0 = 0, the critical point (for a Julia set at z_1).
//! 2. For each candidate, Newton's method solves F(w) = w for F = j steps, from w = z_n. A candidate is dropped at once
//!    where the derivative shows that the cycle is far from attracting, which costs one evaluation of F.
//! 3. A solution whose multiplier has a modulus below 1 is an attracting cycle. Its period is the least divisor of j after
//!    which the cycle returns to w.
//! 4. The orbit is iterated by some more periods, and the point of the cycle that is nearest to it is found. With a fold,
//!    a cycle that is not near the orbit is dropped, since another cycle may attract the orbit.
//!
//! The search ends after the limit of the iteration, but after at least [`LEAST_STEPS`] and at most [`MOST_STEPS`] steps.
//! A point for which nothing is found has period 0: its orbit escapes later, converges too slowly, or has a longer period.
//!
//! Derivatives are 2x2 matrices for every formula. Without a fold they are those of complex numbers, to the bit, since the
//! second column is computed by the same products as the first.
//!
//! All of this is in f64 in the recipe of the map, for both number types, with additions, multiplications, divisions,
//! roots and fused multiply-adds of IEEE 754 in one fixed order, one point at a time on every level: results do not depend
//! on other points. Negating the imaginary parts of the point and of c negates that of the cycle, to the bit, and
//! leaves the other values as they are.

use crate::distance::{Orbit, step};
use crate::formula::Fold;
use crate::grid::Grid;
use crate::level::{Kernel, run_scalar};
use crate::map::Map;
use crate::number::Number;
use crate::recipe::{Rule, with_rule};
use fearless_simd::Simd;
use std::sync::atomic::{AtomicBool, Ordering};

/// The least number of steps after which the search for a cycle ends.
pub const LEAST_STEPS: u32 = 1 << 10;
/// The greatest number of steps after which the search for a cycle ends.
pub const MOST_STEPS: u32 = 1 << 16;
/// The length of the first window.
const FIRST_WINDOW: u32 = 32;
/// The most steps of Newton's method for a candidate.
const NEWTON_STEPS: u32 = 32;
/// The |z|^2 beyond which an orbit is given up.
const FAR_SQUARED: f64 = 1e6;
/// The square of the derivative of F beyond which a candidate is dropped after one evaluation.
const STEEP_SQUARED: f64 = 64.0;
/// The square of the distance within which two points of a cycle are one.
const SAME_SQUARED: f64 = 1e-14;
/// Steps that the orbit is iterated further before the nearest point of the cycle is found.
const FURTHER_STEPS: u32 = 256;
/// The square of the greatest distance of an orbit from its cycle, for formulas with a fold.
const NEAR_SQUARED: f64 = 1e-4;

/// The number of values of an attracting cycle.
pub const VALUES: usize = 5;

/// Rows of values of attracting cycles: the period; the real and imaginary part of the multiplier, the imaginary part
/// being at least 0; the real and imaginary part of the point of the cycle to which z_p, z_2p, z_3p, ... converges for the
/// period p. Each has a row for each row of the block, or no rows where it is not wanted. All values are 0 where the dwell
/// is not 0 and where no cycle is found.
///
/// A multiplier of a formula with a fold is the eigenvalue of the Jacobian with the greatest modulus. Since the
/// eigenvalues of a real matrix come in conjugate pairs, the sign of an imaginary part has no meaning there, and it is
/// dropped for every formula.
pub type AttractorRows<'a, 'b> = [&'a mut [&'b mut [f64]]; VALUES];

/// Implements [`crate::Kernels::attractors`] for f32 and f64.
pub(crate) fn attractors<N: Number>(
    map: &Map<N>,
    grid: Grid<'_, N>,
    limit: u32,
    dwell: &[&mut [u32]],
    out: AttractorRows<'_, '_>,
    stop: &AtomicBool,
) -> bool {
    for values in out.iter().filter(|values| !values.is_empty()) {
        assert_eq!(dwell.len(), values.len(), "`dwell` and the values differ in their number of rows");
        for (dwell, values) in dwell.iter().zip(values.iter()) {
            assert_eq!(dwell.len(), values.len(), "rows of `dwell` and of the values differ in length");
        }
    }
    let point = &|column: usize, row: usize| grid.point(column, row).map(N::to_f64);
    let julia = map.julia.map(|c| c.map(N::to_f64));
    let most = limit.clamp(LEAST_STEPS, MOST_STEPS);
    with_rule!(map.formula, map.recipe, rule => {
        run_scalar(AttractorKernel { search: Search { rule, most }, julia, point, dwell, out, stop })
    })
}

/// The computation of the cycles of one block.
struct AttractorKernel<'a, 'b, 'c, R> {
    search: Search<R>,
    julia: Option<[f64; 2]>,
    /// The point at a column and a row.
    point: &'a dyn Fn(usize, usize) -> [f64; 2],
    dwell: &'a [&'b mut [u32]],
    out: AttractorRows<'a, 'c>,
    stop: &'a AtomicBool,
}

impl<R: Rule> Kernel for AttractorKernel<'_, '_, '_, R> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(mut self, _: S) -> bool {
        for (row, dwell) in self.dwell.iter().enumerate() {
            for (column, dwell) in dwell.iter().enumerate() {
                let mut values = [0.0; VALUES];
                if *dwell == 0 {
                    if self.stop.load(Ordering::Relaxed) {
                        return false;
                    }
                    let pixel = (self.point)(column, row);
                    if let Some(cycle) = self.search.cycle(pixel, self.julia) {
                        let ([re, im], [x, y]) = (cycle.multiplier, cycle.point);
                        // Adding 0 makes -0 to 0.
                        values = [f64::from(cycle.period), re + 0.0, im + 0.0, x + 0.0, y + 0.0];
                    }
                }
                for (rows, value) in self.out.iter_mut().zip(values) {
                    if let Some(out) = rows.get_mut(row) {
                        out[column] = value;
                    }
                }
            }
        }
        true
    }
}

/// The search for the cycle of one orbit.
#[derive(Clone, Copy)]
struct Search<R> {
    rule: R,
    /// The most steps of the orbit.
    most: u32,
}

/// An attracting cycle.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    period: u32,
    multiplier: [f64; 2],
    /// One of its points.
    point: [f64; 2],
}

#[inline(always)]
fn norm([x, y]: [f64; 2]) -> f64 {
    x * x + y * y
}

/// False for NaN.
#[inline(always)]
fn at_most(value: f64, most: f64) -> bool {
    value <= most
}

#[inline(always)]
fn minus([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a - c, b - d]
}

impl<R: Rule> Search<R> {
    /// The cycle that attracts the orbit of a pixel; its point is that to which z_p, z_2p, ... converges.
    #[inline(always)]
    fn cycle(self, pixel: [f64; 2], julia: Option<[f64; 2]>) -> Option<Cycle> {
        let c = julia.unwrap_or(pixel);
        let (mut z, mut n) = if julia.is_some() { (pixel, 1) } else { ([0.0; 2], 0) };
        let mut window = FIRST_WINDOW;
        while n < self.most {
            let (start, mut least) = (z, f64::INFINITY);
            for j in 1..=window.min(self.most - n) {
                z = self.next(z, c);
                let distance = norm(minus(z, start));
                if !at_most(norm(z), FAR_SQUARED) {
                    return None;
                }
                if distance < least {
                    least = distance;
                    if let Some(cycle) = self.candidate(z, c, j)
                        && let Some(point) = self.point_of(cycle, z, c, n + j)
                    {
                        return Some(Cycle { point, ..cycle });
                    }
                }
            }
            if least == 0.0 {
                // The orbit is on a cycle that does not attract: it stays there.
                return None;
            }
            n += window.min(self.most - n);
            window *= 2;
        }
        None
    }

    #[inline(always)]
    fn next(self, [x, y]: [f64; 2], [a, b]: [f64; 2]) -> [f64; 2] {
        let (x, y) = self.rule.step(x, y, a, b);
        [x, y]
    }

    /// z after `steps` steps and its derivative, as the columns of a matrix. `None` where the orbit leaves.
    #[inline(always)]
    fn derivative(self, z: [f64; 2], c: [f64; 2], steps: u32) -> Option<([f64; 2], [[f64; 2]; 2])> {
        run_scalar(Derivative { rule: self.rule, z, c, steps })
    }

    /// The attracting cycle that Newton's method finds from z for `steps` steps.
    #[inline(always)]
    fn candidate(self, z: [f64; 2], c: [f64; 2], steps: u32) -> Option<Cycle> {
        run_scalar(Candidate { search: self, z, c, steps })
    }

    #[inline(always)]
    fn newton(self, z: [f64; 2], c: [f64; 2], steps: u32) -> Option<Cycle> {
        let mut point = z;
        let mut before = f64::INFINITY;
        for i in 0..NEWTON_STEPS {
            let (end, [u, v]) = self.derivative(point, c, steps)?;
            if i == 0 && norm(u).max(norm(v)) > STEEP_SQUARED {
                return None;
            }
            let correction = newton_correction(minus(end, point), [u, v]);
            let size = norm(correction);
            if !at_most(size, 1.0) {
                return None;
            }
            point = [point[0] + correction[0], point[1] + correction[1]];
            // Near a parabolic point, corrections stay at the level of the rounding errors.
            if size <= 1e-28 || (size >= before && before <= 1e-16) {
                return self.attracting(point, c, steps);
            }
            before = size;
        }
        None
    }

    /// The cycle through a point to which it returns after `steps` steps, if it attracts.
    #[inline(always)]
    fn attracting(self, point: [f64; 2], c: [f64; 2], steps: u32) -> Option<Cycle> {
        let mut z = point;
        let mut period = steps;
        for i in 1..steps {
            z = self.next(z, c);
            if steps.is_multiple_of(i) && norm(minus(z, point)) <= SAME_SQUARED {
                period = i;
                break;
            }
        }
        let (_, columns) = self.derivative(point, c, period)?;
        let multiplier = eigenvalue(columns);
        (norm(multiplier) < 1.0).then_some(Cycle { period, multiplier, point })
    }

    /// The point of a cycle to which z_p, z_2p, ... converges for its period p, where z is z_n. `None` where the orbit is
    /// not near the cycle, although another cycle may attract it.
    #[inline(always)]
    fn point_of(self, cycle: Cycle, z: [f64; 2], c: [f64; 2], n: u32) -> Option<[f64; 2]> {
        let period = cycle.period;
        let mut z = z;
        for _ in 0..(FURTHER_STEPS / period).max(2) * period {
            z = self.next(z, c);
        }
        let (mut w, mut nearest, mut least) = (cycle.point, cycle.point, f64::INFINITY);
        for _ in 0..period {
            let distance = norm(minus(w, z));
            if distance < least {
                (nearest, least) = (w, distance);
            }
            w = self.next(w, c);
        }
        if self.rule.formula().fold() != Fold::None && !at_most(least, NEAR_SQUARED) {
            return None;
        }
        // `nearest` belongs to z_n, since whole periods were added to n.
        for _ in 0..(period - n % period) % period {
            nearest = self.next(nearest, c);
        }
        Some(nearest)
    }
}

/// [`Search::derivative`] as a function of its own: it is called from several places.
struct Derivative<R> {
    rule: R,
    z: [f64; 2],
    c: [f64; 2],
    steps: u32,
}

impl<R: Rule> Kernel for Derivative<R> {
    type Output = Option<([f64; 2], [[f64; 2]; 2])>;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, _: S) -> Self::Output {
        let power = f64::from(self.rule.formula().power());
        let mut orbit = Orbit { z: self.z, columns: [[1.0, 0.0], [0.0, 1.0]] };
        for _ in 0..self.steps {
            orbit = step::<f64, R, false>(self.rule, orbit, self.c, None, power);
            if !at_most(norm(orbit.z), FAR_SQUARED) {
                return None;
            }
        }
        Some((orbit.z, orbit.columns))
    }
}

/// [`Search::candidate`] as a function of its own, which keeps the loop over the orbit small.
struct Candidate<R> {
    search: Search<R>,
    z: [f64; 2],
    c: [f64; 2],
    steps: u32,
}

impl<R: Rule> Kernel for Candidate<R> {
    type Output = Option<Cycle>;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, _: S) -> Self::Output {
        self.search.newton(self.z, self.c, self.steps)
    }
}

/// (1 - D)^-1 r: what Newton's method adds to w, where r is F(w) - w and D the derivative of F.
#[inline(always)]
fn newton_correction([r, s]: [f64; 2], [u, v]: [[f64; 2]; 2]) -> [f64; 2] {
    let [a, b, c, d] = [1.0 - u[0], -v[0], -u[1], 1.0 - v[1]];
    let determinant = a * d - b * c;
    [(d * r - b * s) / determinant, (a * s - c * r) / determinant]
}

/// The eigenvalue of greatest modulus of a matrix of these columns; of two conjugate ones, that with the positive
/// imaginary part.
#[inline(always)]
fn eigenvalue([u, v]: [[f64; 2]; 2]) -> [f64; 2] {
    let half = 0.5 * (u[0] + v[1]);
    let difference = 0.5 * (u[0] - v[1]);
    let discriminant = difference * difference + u[1] * v[0];
    if discriminant < 0.0 {
        return [half, (-discriminant).sqrt()];
    }
    let root = discriminant.sqrt();
    [if half < 0.0 { half - root } else { half + root }, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;
    use crate::map::tests::some_maps;
    use crate::recipe::Recipe;

    /// The values of points that are treated as points of dwell 0.
    fn values_of<N: Number>(map: Map<N>, points: &[(N, N)]) -> [Vec<f64>; VALUES] {
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let negative_zero = [Grid::<N>::negative_zero()];
        let grid = Grid::list(&re, &im, &negative_zero);
        let mut dwell = vec![0; points.len()];
        let mut values: [Vec<f64>; VALUES] = std::array::from_fn(|_| vec![f64::NAN; points.len()]);
        let mut rows = values.each_mut().map(|values| [&mut values[..]]);
        let out = rows.each_mut().map(|row| &mut row[..]);
        assert!(attractors(&map, grid, 5000, &[&mut dwell[..]], out, &AtomicBool::new(false)));
        values
    }

    fn mandelbrot(points: &[(f64, f64)]) -> [Vec<f64>; VALUES] {
        values_of(Map::mandelbrot(Recipe::Fused), points)
    }

    #[test]
    fn periods_of_known_points() {
        let points = [
            (0.0, 0.0, 1),
            (-0.1, 0.2, 1),
            (-1.0, 0.0, 2),
            (-0.122_561_166_876_653_6, 0.744_861_766_619_744_2, 3),
            (-1.754_877_666_246_693, 0.0, 3),
            (0.282, 0.53, 4),
            (-1.310_702_641_336_833, 0.0, 4),
            (-1.940_799_806_529_485, 0.0, 4),
            (-0.504_340_175_446_244, 0.562_765_761_452_982, 5),
            (-1.625_413_725_123_303, 0.0, 5),
            // The centres of a minibrot of period 6 on the needle and of one of period 12 of the seahorse valley's size.
            (-1.996_376_137_711_193, 0.0, 6),
        ];
        let places: Vec<_> = points.iter().map(|(a, b, _)| (*a, *b)).collect();
        let [period, re, im, ..] = mandelbrot(&places);
        for (i, (a, b, expected)) in points.into_iter().enumerate() {
            assert_eq!(period[i], f64::from(expected), "{a} {b}");
            assert!(re[i] * re[i] + im[i] * im[i] < 1.0);
        }
        // Escaping points, a parabolic one, and a repelling cycle: nothing attracts.
        let [period, ..] = mandelbrot(&[(1.0, 0.0), (0.3, 0.6), (-2.0, 0.0), (0.0, 1.0), (0.26, 0.0), (f64::NAN, 0.0)]);
        assert_eq!(period, [0.0; 6]);
    }

    #[test]
    fn cycles_of_the_cardioid_and_of_the_disc_have_their_closed_forms() {
        // z* = lambda / 2 and c = lambda / 2 - lambda^2 / 4 for a fixed point; lambda = 4 (c + 1) for the cycle of two.
        for i in 0..60 {
            let (modulus, turn) = (f64::from(i % 10) * 0.0985, f64::from(i) * 0.377);
            let tangent = (0.5 * turn - 1.2).clamp(-8.0, 8.0);
            let unit =
                [(1.0 - tangent * tangent) / (1.0 + tangent * tangent), 2.0 * tangent / (1.0 + tangent * tangent)];
            let [x, y] = unit.map(|part| part * modulus);
            let c = (x / 2.0 - (x * x - y * y) / 4.0, y / 2.0 - x * y / 2.0);
            let [period, re, im, to_x, to_y] = mandelbrot(&[c, (-1.0 + x / 4.0, y / 4.0)]);
            assert_eq!(period, [1.0, 2.0], "{x} {y}");
            for k in 0..2 {
                assert!((re[k] - x).abs() < 1e-9 && (im[k] - y.abs()).abs() < 1e-9, "{x} {y}: {} {}", re[k], im[k]);
            }
            assert!((to_x[0] - x / 2.0).abs() < 1e-9 && (to_y[0] - y / 2.0).abs() < 1e-9);
            // Of the two points of the cycle, z_2, z_4, ... converges to the one near 0.
            assert!(to_x[1].abs() < 0.5);
        }
    }

    #[test]
    fn cycles_satisfy_their_definition_for_every_formula() {
        for (map, _) in some_maps() {
            let points: Vec<_> =
                (0..400).map(|i| (f64::from(i % 20) / 8.0 - 1.3, f64::from(i / 20) / 9.0 - 1.1)).collect();
            let inside: Vec<_> =
                points.into_iter().filter(|(a, b)| crate::naive::dwell(&map, [*a, *b], 3000, 4.0) == 0).collect();
            let [period, re, im, x, y] = values_of(map, &inside);
            let mut found = 0;
            for (i, &(a, b)) in inside.iter().enumerate() {
                if period[i] == 0.0 {
                    continue;
                }
                found += 1;
                let c = map.c([a, b]);
                let mut z = [a, b];
                // z_n with n a multiple of the period, after many of them.
                let n = 200_000 / period[i] as u32 * period[i] as u32;
                let next = |[x, y]: [f64; 2]| {
                    let (x, y) = with_rule!(map.formula, map.recipe, rule => rule.step(x, y, c[0], c[1]));
                    [x, y]
                };
                for _ in 1..n {
                    z = next(z);
                }
                assert!(norm(minus(z, [x[i], y[i]])) < 1e-8, "{map:?} {a} {b}: {z:?} {} {}", x[i], y[i]);
                let mut back = z;
                for k in 1..=period[i] as u32 {
                    back = next(back);
                    let returned = norm(minus(back, z)) < 1e-10;
                    assert_eq!(returned, f64::from(k) == period[i], "{map:?} {a} {b} {k}");
                }
                assert!(re[i] * re[i] + im[i] * im[i] < 1.0 && im[i] >= 0.0);
            }
            // Many bounded orbits of the Burning Ship converge to no cycle.
            let least = if map.formula.fold() == Fold::Absolute { 0.3 } else { 0.9 };
            assert!(f64::from(found) >= inside.len() as f64 * least, "{map:?}: {found} of {}", inside.len());
        }
    }

    #[test]
    fn multipliers_are_the_derivative_of_a_whole_cycle() {
        // By finite differences: the rate at which an orbit approaches its cycle, for the Tricorn and the Ship.
        for (fold, c) in [(Fold::Conjugate, (-0.2, 0.1)), (Fold::Absolute, (-0.3, -0.1)), (Fold::None, (-1.1, 0.05))] {
            let map = Map { formula: Formula::new(fold, 2).unwrap(), recipe: Recipe::Fused, julia: None };
            let [period, re, im, x, y] = values_of(map, &[c]).map(|values| values[0]);
            let steps = period as u32;
            let h = 1e-6;
            let after = |dx: f64, dy: f64| {
                let mut z = (x + dx, y + dy);
                for _ in 0..steps {
                    z = with_rule!(map.formula, map.recipe, rule => rule.step(z.0, z.1, c.0, c.1));
                }
                [z.0, z.1]
            };
            let column = |a: [f64; 2], b: [f64; 2]| minus(a, b).map(|part| part / (2.0 * h));
            let columns = [column(after(h, 0.0), after(-h, 0.0)), column(after(0.0, h), after(0.0, -h))];
            let expected = eigenvalue(columns);
            assert!(
                (re - expected[0]).abs() < 1e-6 && (im - expected[1]).abs() < 1e-4,
                "{fold:?} {re} {im} {expected:?}"
            );
        }
        assert_eq!(eigenvalue([[0.0, 2.0], [-2.0, 0.0]]), [0.0, 2.0]);
        assert_eq!(eigenvalue([[-3.0, 0.0], [0.0, 2.0]]), [-3.0, 0.0]);
    }

    #[test]
    fn values_depend_on_neither_sign_nor_neighbours() {
        let points: Vec<_> =
            (0..200).map(|i| (f64::from(i % 20) / 9.0 - 1.4, f64::from(i / 20) / 9.0 + 0.01)).collect();
        let narrow: Vec<_> = points.iter().map(|&(a, b)| (a as f32, b as f32)).collect();
        let bits = |of: &[Vec<f64>; VALUES]| of.each_ref().map(|v| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        for (map, narrow_map) in some_maps() {
            let first = values_of(map, &points);
            let first_narrow = values_of(narrow_map, &narrow);
            for at in (0..points.len()).step_by(7) {
                let alone = |of: &[Vec<f64>; VALUES]| of.each_ref().map(|values| vec![values[at]]);
                assert_eq!(bits(&alone(&first)), bits(&values_of(map, &points[at..=at])), "{map:?} {at}");
                assert_eq!(bits(&alone(&first_narrow)), bits(&values_of(narrow_map, &narrow[at..=at])), "{map:?} {at}");
            }
            if map.formula.mirrors(map.julia) {
                let mirrored: Vec<_> = points.iter().map(|(a, b)| (*a, -*b)).collect();
                let [period, re, im, x, y] = values_of(map, &mirrored);
                let y = if map.formula.fold() == Fold::Absolute { y } else { y.iter().map(|y| 0.0 - y).collect() };
                assert_eq!(bits(&first), bits(&[period, re, im, x, y]), "{map:?}");
            }
        }
    }
}
