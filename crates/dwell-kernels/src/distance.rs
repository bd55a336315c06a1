//! Exterior distance and slope: what the derivative of its orbit says about an escaped point. The distance is that from
//! the set, estimated. The slope is the direction in which |z| grows fastest, the normal for shading.
//!
//! The derivative D_n of z_n with respect to the pixel is iterated together with z_n. With w = u + iv the folded z (see
//! [`crate::formula`]), m = N w^(N-1), and d a column of D,
//!
//! ```text
//! d' = m fold(d) + (1 or i in the parameter plane, 0 for a Julia set),    D_1 = 1, i
//! distance = |z| ln|z| / |grad |z||
//! ```
//!
//! at the first m >= n with |z_m| > 256. For formulas without a fold D is a complex number (the second column is i
//! times the first and is not computed) and |grad |z|| = |D|. This is the classical estimate (Milnor 1989; Peitgen and
//! Saupe, "The Science of Fractal Images", 1988). By its bounds from Koebe's theorem, near the Mandelbrot set or a
//! connected Julia set the true distance is between half and twice the estimate. With a fold D is a real 2x2 matrix. No
//! bounds are known to the authors for that case, but the estimate has the same meaning.
//!
//! The slope at the same m is the gradient of |z|, D^T z / |z|, expressed in steps of a pixel to the right and up and
//! scaled to length 1. Without a fold this is the direction of z / D, the analytic normal of other programs. It points
//! away from the set, and the gradient of the distance has nearly the same direction. With a fold, D is the real 2x2
//! Jacobian, so that the slope is exact there as well, apart from the lines on which a fold is not differentiable. Since
//! |z_m| > 256, the slope is continuous where the dwell changes, to about 1 part in 256. Where a derivative is beyond the
//! range of the number or the gradient is 0, the slope is 0: the point is flat.
//!
//! Roundings: m is computed with the squarings and products of the recipe for w^(N-1) and then one product with N for
//! each part (for N = 2 a sum, which is exact); d' is one product of the recipe and a sum. Up to z_n the computation
//! uses the number type of the map and the same orbit that escaped, and f64 after that. A derivative beyond the range
//! of the number gives the distance 0, since such a point is very near the set.

use crate::arithmetic::Arithmetic;
use crate::escape::Workspace;
use crate::formula::Fold;
use crate::grid::Grid;
use crate::level::{Kernel, Level};
use crate::log2::log2;
use crate::map::Map;
use crate::number::Number;
use crate::recipe::{Roundings, Rule, with_rule};
use crate::smooth::{MAX_STEPS, SMOOTH_RADIUS_SQUARED};
use crate::vector::{Vector, bits};
use fearless_simd::Simd;
use std::sync::atomic::{AtomicBool, Ordering};

/// ln 2 / 2, nearest double: ln|z| is this times log2 |z|^2.
const HALF_LN_2: f64 = 0.346_573_590_279_972_64;
/// The number of steps between two reads of `stop`.
const STEPS_PER_STOP_CHECK: u32 = 1 << 14;
/// The number of vectors in flight.
const IN_FLIGHT: usize = 2;
/// The greatest number of points computed together: [`IN_FLIGHT`] of the widest vectors.
const MAX_POINTS: usize = IN_FLIGHT * 16;

/// The units that distances and slopes are expressed in.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// The factor that distances are multiplied by.
    pub per_distance: f64,
    /// The steps in the plane of a pixel to the right and of a pixel up, in any common unit in which they are about 1 or
    /// somewhat smaller.
    pub pixel: [[f64; 2]; 2],
}

/// Rows of distances, and of the slope's components to the right and up. Each has a row of values for each row of the
/// block, or no rows where it is not wanted.
#[derive(Debug)]
pub struct Derived<'a, 'b> {
    /// Estimated distances.
    pub distance: &'a mut [&'b mut [f64]],
    /// The components of the slope.
    pub slope: [&'a mut [&'b mut [f64]]; 2],
}

/// Implements [`crate::Kernels::derived`] for f32 and f64.
#[expect(clippy::too_many_arguments, reason = "the parts of one call")]
pub(crate) fn derived<N: Number>(
    level: Level,
    map: &Map<N>,
    workspace: &Workspace<N>,
    grid: Grid<'_, N>,
    units: Units,
    dwell: &[&mut [u32]],
    out: Derived<'_, '_>,
    stop: &AtomicBool,
) -> bool {
    for values in [&out.distance, &out.slope[0], &out.slope[1]].into_iter().filter(|values| !values.is_empty()) {
        assert_eq!(dwell.len(), values.len(), "`dwell` and the values differ in their number of rows");
        for (dwell, values) in dwell.iter().zip(values.iter()) {
            assert_eq!(dwell.len(), values.len(), "rows of `dwell` and of the values differ in length");
        }
    }
    let conformal = map.formula.fold() == Fold::None;
    let julia = map.julia;
    with_rule!(map.formula, map.recipe, rule => {
        if conformal {
            level.run(DistanceKernel::<_, _, true> { rule, julia, workspace, grid, units, dwell, out, stop })
        } else {
            level.run(DistanceKernel::<_, _, false> { rule, julia, workspace, grid, units, dwell, out, stop })
        }
    })
}

/// The computation of the distances and slopes of one block. With `CONFORMAL`, D is a complex number.
struct DistanceKernel<'a, 'b, 'c, N, R, const CONFORMAL: bool> {
    rule: R,
    julia: Option<[N; 2]>,
    workspace: &'a Workspace<N>,
    grid: Grid<'a, N>,
    units: Units,
    dwell: &'a [&'b mut [u32]],
    out: Derived<'a, 'c>,
    stop: &'a AtomicBool,
}

/// A point of an orbit with its derivative: z and the columns of D.
#[derive(Clone, Copy)]
pub(crate) struct Orbit<T> {
    pub(crate) z: [T; 2],
    pub(crate) columns: [[T; 2]; 2],
}

/// Computes one step of z and D. `pixel_term` is one where c depends on the pixel, and is added to the derivative.
#[inline(always)]
pub(crate) fn step<T: Arithmetic, R: Rule, const CONFORMAL: bool>(
    rule: R,
    Orbit { z, columns }: Orbit<T>,
    c: [T; 2],
    pixel_term: Option<T>,
    power: T,
) -> Orbit<T> {
    let power_derivative = rule.power_derivative(z, power);
    let mut next = columns;
    for (i, column) in next.iter_mut().enumerate() {
        if CONFORMAL && i == 1 {
            break;
        }
        *column = R::Roundings::product(power_derivative, rule.fold_derivative(z, *column));
        if let Some(one) = pixel_term {
            column[i] = column[i].add(one);
        }
    }
    let (x, y) = rule.step(z[0], z[1], c[0], c[1]);
    Orbit { z: [x, y], columns: next }
}

impl<N: Number, R: Rule, const CONFORMAL: bool> Kernel for DistanceKernel<'_, '_, '_, N, R, CONFORMAL> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(mut self, simd: S) -> bool {
        let group = IN_FLIGHT * Vector::<S, N>::LEN;
        for row in 0..self.dwell.len() {
            let width = self.dwell[row].len();
            let mut from = 0;
            while from < width {
                let count = group.min(width - from);
                if !self.group(simd, row, from, count) {
                    return false;
                }
                from += count;
            }
        }
        true
    }
}

impl<N: Number, R: Rule, const CONFORMAL: bool> DistanceKernel<'_, '_, '_, N, R, CONFORMAL> {
    /// Computes the values of `count` points of a row from column `from` on: at most [`IN_FLIGHT`] vectors. Returns
    /// false if `stop` was set.
    #[inline(always)]
    fn group<S: Simd>(&mut self, simd: S, row: usize, from: usize, count: usize) -> bool {
        let lanes = Vector::<S, N>::LEN;
        let zero = Vector::<S, N>::splat(simd, N::default());
        let one = Vector::<S, N>::splat(simd, N::from(1_u8));
        let power = self.rule.formula().power();
        let power_here = Vector::splat(simd, N::from_parts(false, u64::from(power), 0));
        let columns = self.workspace.columns(self.grid, from, IN_FLIGHT * lanes);
        let of_row = [Vector::splat(simd, self.grid.re_of_row[row]), Vector::splat(simd, self.grid.im_of_row[row])];
        let dwell = &self.dwell[row][from..from + count];

        let start = Orbit { z: [zero, zero], columns: [[one, zero], [zero, one]] };
        let mut orbit = [start; IN_FLIGHT];
        let mut c = [[zero; 2]; IN_FLIGHT];
        for j in 0..IN_FLIGHT {
            for part in 0..2 {
                orbit[j].z[part] = Vector::load(simd, &columns[part][j * lanes..]).add(of_row[part]);
            }
            c[j] = match self.julia {
                Some([re, im]) => [Vector::splat(simd, re), Vector::splat(simd, im)],
                None => orbit[j].z,
            };
        }
        let pixel_term = self.julia.is_none().then_some(one);
        // z_n, c and D_n of each point: two, two and four numbers.
        let mut ends = [[0.0_f64; MAX_POINTS]; 8];
        let mut n = 1;
        loop {
            // The n of the next escape. Points that escaped before it are iterated further, and the results are
            // ignored.
            let next = dwell.iter().copied().filter(|d| *d >= n).min();
            let Some(next) = next else { break };
            while n < next {
                if self.stop.load(Ordering::Relaxed) {
                    return false;
                }
                let steps = (next - n).min(STEPS_PER_STOP_CHECK);
                for _ in 0..steps {
                    for j in 0..IN_FLIGHT {
                        orbit[j] = step::<_, _, CONFORMAL>(self.rule, orbit[j], c[j], pixel_term, power_here);
                    }
                }
                n += steps;
            }
            let mut all = [[N::default(); MAX_POINTS]; 8];
            for j in 0..IN_FLIGHT {
                let Orbit { z, columns: [u, v] } = orbit[j];
                for (part, all) in [z[0], z[1], c[j][0], c[j][1], u[0], u[1], v[0], v[1]].into_iter().zip(&mut all) {
                    part.store(&mut all[j * lanes..]);
                }
            }
            for (i, _) in dwell.iter().enumerate().filter(|(_, d)| **d == next) {
                for (ends, all) in ends.iter_mut().zip(&all) {
                    ends[i] = all[i].to_f64();
                }
            }
            if next == u32::MAX {
                break;
            }
            for j in 0..IN_FLIGHT {
                orbit[j] = step::<_, _, CONFORMAL>(self.rule, orbit[j], c[j], pixel_term, power_here);
            }
            n += 1;
        }
        let far = far_orbits::<S, R, CONFORMAL>(simd, self.rule, &ends, self.julia.is_none(), count);
        if let Some(distance) = self.out.distance.get_mut(row) {
            let out = &mut distance[from..from + count];
            estimate_distances::<S, R, CONFORMAL>(simd, &far, self.units.per_distance, out);
            for (out, dwell) in out.iter_mut().zip(&self.dwell[row][from..]) {
                if *dwell == 0 {
                    *out = 0.0;
                }
            }
        }
        for i in 0..if self.out.slope.iter().any(|rows| row < rows.len()) { count } else { 0 } {
            let slope = if self.dwell[row][from + i] == 0 { [0.0; 2] } else { far.slope::<CONFORMAL>(i, self.units) };
            for (rows, slope) in self.out.slope.iter_mut().zip(slope) {
                if let Some(values) = rows.get_mut(row) {
                    values[from + i] = slope;
                }
            }
        }
        true
    }
}

/// z_m and the columns of D_m of each point of a group, with |z_m| > 256: two and four numbers.
struct FarOrbits([[f64; MAX_POINTS]; 6]);

impl FarOrbits {
    /// The slope at point `i`: the gradient of |z| in steps of a pixel, scaled to length 1.
    #[inline(always)]
    fn slope<const CONFORMAL: bool>(&self, i: usize, units: Units) -> [f64; 2] {
        let [x, y, u0, u1, v0, v1] = self.0.each_ref().map(|of| of[i]);
        let [v0, v1] = if CONFORMAL { [-u1, u0] } else { [v0, v1] };
        // Scaled, so that no product is beyond the range.
        let of_z = x.abs().max(y.abs());
        let of_d = u0.abs().max(u1.abs()).max(v0.abs()).max(v1.abs());
        let (x, y) = (x / of_z, y / of_z);
        let gradient = [x * (u0 / of_d) + y * (u1 / of_d), x * (v0 / of_d) + y * (v1 / of_d)];
        let along = units.pixel.map(|[re, im]| gradient[0] * re + gradient[1] * im);
        let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
        // Adding 0 makes -0 to 0. NaN, where a derivative overflowed, becomes 0.
        if length > 0.0 { along.map(|part| part / length + 0.0) } else { [0.0; 2] }
    }
}

/// Iterates the first `count` points from z_n, c and D_n to |z| > 256.
#[inline(always)]
fn far_orbits<S: Simd, R: Rule, const CONFORMAL: bool>(
    simd: S,
    rule: R,
    ends: &[[f64; MAX_POINTS]; 8],
    pixel_term: bool,
    count: usize,
) -> FarOrbits {
    let lanes = Vector::<S, f64>::LEN;
    let splat = |v: f64| Vector::<S, f64>::splat(simd, v);
    let radius_squared = splat(SMOOTH_RADIUS_SQUARED);
    let pixel_term = pixel_term.then_some(splat(1.0));
    let power = splat(f64::from(rule.formula().power()));
    let mut far = FarOrbits([[0.0; MAX_POINTS]; 6]);
    for at in (0..count).step_by(lanes) {
        let load = |of: &[f64; MAX_POINTS]| Vector::<S, f64>::load(simd, &of[at..]);
        let [a, b] = [load(&ends[2]), load(&ends[3])];
        let columns = [[load(&ends[4]), load(&ends[5])], [load(&ends[6]), load(&ends[7])]];
        let mut orbit = Orbit { z: [load(&ends[0]), load(&ends[1])], columns };
        for _ in 0..MAX_STEPS {
            let inside_radius = !R::norm(orbit.z[0], orbit.z[1]).not_at_most(radius_squared);
            if bits(inside_radius) == 0 {
                break;
            }
            let next = step::<_, _, CONFORMAL>(rule, orbit, [a, b], pixel_term, power);
            for part in 0..2 {
                orbit.z[part] = next.z[part].where_else(inside_radius, orbit.z[part]);
                for column in 0..2 {
                    let (next, current) = (next.columns[column][part], orbit.columns[column][part]);
                    orbit.columns[column][part] = next.where_else(inside_radius, current);
                }
            }
        }
        let Orbit { z: [x, y], columns: [u, v] } = orbit;
        for (part, far) in [x, y, u[0], u[1], v[0], v[1]].into_iter().zip(&mut far.0) {
            part.store(&mut far[at..]);
        }
    }
    far
}

/// Computes the estimates of some points.
#[inline(always)]
fn estimate_distances<S: Simd, R: Rule, const CONFORMAL: bool>(simd: S, far: &FarOrbits, scale: f64, out: &mut [f64]) {
    let lanes = Vector::<S, f64>::LEN;
    let splat = |v: f64| Vector::<S, f64>::splat(simd, v);
    let radius_squared = splat(SMOOTH_RADIUS_SQUARED);
    for (group, out) in out.chunks_mut(lanes).enumerate() {
        let [x, y, u0, u1, v0, v1] = far.0.each_ref().map(|of| Vector::<S, f64>::load(simd, &of[group * lanes..]));
        let norm = R::norm(x, y);
        // |grad |z||^2 is |D|^2, or |D^T z|^2 / |z|^2.
        let (gradient, over) = if CONFORMAL {
            (R::norm(u0, u1), splat(1.0))
        } else {
            let along = |[a, b]: [Vector<S, f64>; 2]| x.mul(a).add(y.mul(b));
            (R::norm(along([u0, u1]), along([v0, v1])), norm)
        };
        let capped = splat(f64::MAX).where_else(norm.not_at_most(splat(f64::MAX)), norm);
        // Points that have not escaped get a number that has a logarithm.
        let capped = radius_squared.where_else(capped.less(splat(2.0)), capped);
        let log = Vector::<S, f64>(log2(simd, capped.0)).mul(splat(HALF_LN_2));
        for (i, out) in out.iter_mut().enumerate() {
            let gradient = (gradient.0[i] / over.0[i]).sqrt();
            let distance = capped.0[i].sqrt() * log.0[i] / gradient * scale;
            // NaN, where the derivative overflowed, becomes 0.
            *out = if distance >= 0.0 { distance.min(f64::MAX) } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::{KernelSettings, KernelShortcuts, dwells};
    use crate::map::tests::some_maps;
    use crate::recipe::Recipe;

    const UNITS: Units = Units { per_distance: 1.0, pixel: [[1.0, 0.0], [0.0, 1.0]] };

    /// Distances and slopes.
    fn all_of<N: Number>(level: Level, map: Map<N>, points: &[(N, N)], limit: u32) -> (Vec<u32>, [Vec<f64>; 3]) {
        let mut workspace = Workspace::new().unwrap();
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let negative_zero = [Grid::<N>::negative_zero()];
        let grid = Grid::list(&re, &im, &negative_zero);
        let mut dwell = vec![0; points.len()];
        let [mut distance, mut right, mut up] = [(); 3].map(|()| vec![f64::NAN; points.len()]);
        let settings = KernelSettings {
            map,
            limit,
            radius_squared: N::from_parts(false, 4, 0),
            shortcuts: KernelShortcuts::ALL,
            proved: 0,
        };
        let stop = AtomicBool::new(false);
        assert!(dwells(level, settings, &mut workspace, grid, &mut [&mut dwell], false, &stop));
        let rows = [&mut [&mut right[..]], &mut [&mut up[..]]];
        let out = Derived { distance: &mut [&mut distance], slope: rows.map(|row| &mut row[..]) };
        assert!(derived(level, &map, &workspace, grid, UNITS, &[&mut dwell[..]], out, &stop));
        (dwell, [distance, right, up])
    }

    #[test]
    fn slopes_have_the_direction_of_the_gradient_of_the_distance() {
        let h = 1e-6;
        let points: Vec<_> =
            (0..400).map(|i| (f64::from(i % 23) / 9.0 - 1.3, f64::from(i / 23) / 7.0 - 1.21)).collect();
        // With a fold, the estimate has kinks wherever the orbit meets a fold; its slope is tested by the next test.
        for (map, _) in some_maps().into_iter().filter(|(map, _)| map.formula.fold() == Fold::None) {
            let moved = |dx: f64, dy: f64| -> Vec<f64> {
                let points: Vec<_> = points.iter().map(|(a, b)| (a + dx, b + dy)).collect();
                all_of(Level::best(), map, &points, 60).1[0].clone()
            };
            let (dwell, [distance, right, up]) = all_of(Level::best(), map, &points, 60);
            let gradient = [[moved(h, 0.0), moved(-h, 0.0)], [moved(0.0, h), moved(0.0, -h)]];
            let (mut compared, mut near) = (0, 0);
            for i in 0..points.len() {
                let along = gradient.each_ref().map(|[plus, minus]| plus[i] - minus[i]);
                let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
                // Orbits that escape at once are far outside; dwells that change between the points give no gradient.
                let is_smooth = (0.2..5.0).contains(&(length / (2.0 * h))) && distance[i] > 100.0 * h;
                if dwell[i] < 3 || !is_smooth {
                    continue;
                }
                assert!((right[i] * right[i] + up[i] * up[i] - 1.0).abs() < 1e-14);
                let cosine = (along[0] * right[i] + along[1] * up[i]) / length;
                compared += 1;
                near += usize::from(cosine > 0.85);
            }
            assert!(compared > 20 && near * 10 > compared * 9, "{map:?}: {near} of {compared}");
        }
    }

    #[test]
    fn slopes_are_normals_of_level_lines_of_the_modulus() {
        // By finite differences of |z_m| at a fixed m, which the slope is the gradient of.
        let h = 1e-7;
        for (map, _) in some_maps() {
            let points: Vec<_> = (0..50).map(|i| (1.1 + f64::from(i) * 3e-3, 0.9 - f64::from(i) * 2e-3)).collect();
            let (dwell, [_, right, up]) = all_of(Level::best(), map, &points, 500);
            for (i, &(a, b)) in points.iter().enumerate() {
                assert!(dwell[i] > 0, "{map:?}");
                let far = |pixel: [f64; 2], steps: u32| {
                    let [c, mut z] = [map.c(pixel), pixel];
                    let mut n = 1;
                    while if steps == 0 { z[0] * z[0] + z[1] * z[1] <= 65536.0 } else { n < steps } {
                        let (x, y) = with_rule!(map.formula, map.recipe, rule => rule.step(z[0], z[1], c[0], c[1]));
                        (z, n) = ([x, y], n + 1);
                    }
                    (n, (z[0] * z[0] + z[1] * z[1]).sqrt())
                };
                let (steps, _) = far([a, b], 0);
                let along = [
                    far([a + h, b], steps).1 - far([a - h, b], steps).1,
                    far([a, b + h], steps).1 - far([a, b - h], steps).1,
                ];
                let length = (along[0] * along[0] + along[1] * along[1]).sqrt();
                let sine = (along[0] * up[i] - along[1] * right[i]) / length;
                let cosine = (along[0] * right[i] + along[1] * up[i]) / length;
                assert!(sine.abs() < 1e-5 && cosine > 0.99, "{map:?} {a} {b}: {sine} {cosine}");
            }
        }
    }

    #[test]
    fn slopes_are_those_of_the_picture_and_do_not_depend_on_the_level() {
        let points: Vec<_> =
            (0..333).map(|i| (f64::from(i % 37) / 12.0 - 2.2, f64::from(i / 37) / 3.0 - 1.5)).collect();
        let narrow: Vec<_> = points.iter().map(|&(a, b)| (a as f32, b as f32)).collect();
        for (map, narrow_map) in some_maps() {
            let first = all_of(Level::best(), map, &points, 300).1;
            let first_narrow = all_of(Level::best(), narrow_map, &narrow, 300).1;
            for level in Level::available() {
                let bits =
                    |of: &[Vec<f64>; 3]| of.each_ref().map(|v| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
                assert_eq!(bits(&first), bits(&all_of(level, map, &points, 300).1), "{level:?} {map:?}");
                assert_eq!(bits(&first_narrow), bits(&all_of(level, narrow_map, &narrow, 300).1), "{level:?}");
            }
        }
        // Outside a disc the slope points away from its centre; a view turned by a quarter turns the slope back.
        let far = FarOrbits([300.0, 0.0, 1.0, 0.0, 0.0, 1.0].map(|v| [v; MAX_POINTS]));
        let turned = Units { pixel: [[0.0, 1.0], [-1.0, 0.0]], ..UNITS };
        assert_eq!([far.slope::<true>(0, UNITS), far.slope::<false>(0, turned)], [[1.0, 0.0], [0.0, -1.0]]);
        for lost in [f64::INFINITY, f64::NAN, 0.0] {
            let far = FarOrbits([300.0, 0.0, lost, lost, lost, lost].map(|v| [v; MAX_POINTS]));
            assert_eq!([far.slope::<true>(0, UNITS), far.slope::<false>(0, UNITS)], [[0.0; 2]; 2]);
        }
    }

    fn distance_of<N: Number>(level: Level, map: Map<N>, points: &[(N, N)], limit: u32) -> (Vec<u32>, Vec<f64>) {
        let mut workspace = Workspace::new().unwrap();
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let negative_zero = [Grid::<N>::negative_zero()];
        let grid = Grid::list(&re, &im, &negative_zero);
        let mut dwell = vec![0; points.len()];
        let mut distance = vec![f64::NAN; points.len()];
        let settings = KernelSettings {
            map,
            limit,
            radius_squared: N::from_parts(false, 4, 0),
            shortcuts: KernelShortcuts::ALL,
            proved: 0,
        };
        let stop = AtomicBool::new(false);
        assert!(dwells(level, settings, &mut workspace, grid, &mut [&mut dwell], false, &stop));
        let rows = (&[&mut dwell[..]], &mut [&mut distance[..]]);
        let out = Derived { distance: rows.1, slope: [&mut [], &mut []] };
        assert!(derived(level, &map, &workspace, grid, UNITS, rows.0, out, &stop));
        (dwell, distance)
    }

    #[test]
    fn distance_to_a_disc() {
        // The Julia set of z^2 is the unit circle: ln|z| |z| is |z| - 1 near it, for every power.
        for power in [2, 3, 8] {
            let formula = crate::Formula::new(Fold::None, power).unwrap();
            let map = Map { formula, recipe: Recipe::Fused, julia: Some([0.0, 0.0]) };
            let points: Vec<_> = (1..200).map(|i| (0.0, 1.0 + f64::from(i) * 1e-6)).collect();
            let (_, distance) = distance_of(Level::best(), map, &points, 1 << 26);
            for ((_, y), distance) in points.iter().zip(distance) {
                assert!((distance / (y - 1.0) - 1.0).abs() < 1e-3, "{y} {distance}");
            }
        }
    }

    #[test]
    fn distance_to_the_mandelbrot_set_within_a_factor_of_two() {
        // Left of the tip the nearest point of the set is -2. Right of the cusp it is near the cardioid, whose bays
        // extend past 1/4. It lies on the discs attached to the cardioid: at an angle t they have radii of about t^3 /
        // (8 pi^2) where the bay is t^3 / 4 wide, so the set is up to a tenth nearer than the cardioid itself.
        #[expect(clippy::disallowed_methods, reason = "a reference value of a test")]
        let to_cardioid = |a: f64| {
            let at = |t: f64| {
                let (re, im) = (t.cos() / 2.0 - (2.0 * t).cos() / 4.0, t.sin() / 2.0 - (2.0 * t).sin() / 4.0);
                (re - a).hypot(im)
            };
            (0..100_000).map(|k| at(f64::from(k) * 3e-5)).fold(f64::INFINITY, f64::min)
        };
        let to_tip = |a: f64| -2.0 - a;
        let cases = [-2.000_001, -2.01, -2.3, -2.9].map(|a| (a, to_tip(a)));
        for (a, expected) in cases.into_iter().chain([0.2501, 0.26, 0.3, 0.5, 1.0].map(|a| (a, to_cardioid(a)))) {
            let (_, distance) = distance_of(Level::best(), Map::mandelbrot(Recipe::Fused), &[(a, 0.0)], 100_000);
            let ratio = distance[0] / expected;
            let least = if a > 0.0 { 0.49 * 0.9 } else { 0.49 };
            assert!((least..2.01).contains(&ratio), "{a}: {distance:?} {expected}, {ratio}");
        }
    }

    /// Compares the derivative of |z_n|, on which the estimate rests, with finite differences for every formula.
    #[test]
    fn derivative_agrees_with_finite_differences() {
        for (map, _) in some_maps() {
            for pixel in [(0.9, 0.83), (-1.3, 0.7), (0.8, -1.1), (-2.5, 1.7)] {
                let (dwell, found) = distance_of(Level::best(), map, &[pixel], 100);
                if dwell[0] == 0 {
                    continue;
                }
                let modulus = |dx: f64, dy: f64| {
                    let pixel = [pixel.0 + dx, pixel.1 + dy];
                    let [a, b] = map.c(pixel);
                    let [mut x, mut y] = pixel;
                    let mut n = 1;
                    // As many steps as for the point without the displacement.
                    let (mut x0, mut y0) = pixel_of(pixel, dx, dy);
                    let [a0, b0] = map.c([x0, y0]);
                    while n < dwell[0] || x0 * x0 + y0 * y0 <= SMOOTH_RADIUS_SQUARED {
                        with_rule!(map.formula, map.recipe, rule => {
                            (x, y) = rule.step(x, y, a, b);
                            (x0, y0) = rule.step(x0, y0, a0, b0);
                        });
                        n += 1;
                    }
                    (x * x + y * y).sqrt()
                };
                let h = 1e-6;
                let gradient = [
                    (modulus(h, 0.0) - modulus(-h, 0.0)) / (2.0 * h),
                    (modulus(0.0, h) - modulus(0.0, -h)) / (2.0 * h),
                ];
                let z = modulus(0.0, 0.0);
                #[expect(clippy::disallowed_methods, reason = "a reference value of a test")]
                let expected = z * z.ln() / (gradient[0] * gradient[0] + gradient[1] * gradient[1]).sqrt();
                assert!((found[0] / expected - 1.0).abs() < 1e-3, "{map:?} {pixel:?}: {} {expected}", found[0]);
            }
        }
    }

    /// The pixel without the displacement `dx`, `dy`.
    fn pixel_of(moved: [f64; 2], dx: f64, dy: f64) -> (f64, f64) {
        (moved[0] - dx, moved[1] - dy)
    }

    #[test]
    fn distances_depend_on_neither_level_nor_neighbours() {
        let points: Vec<_> =
            (0..333).map(|i| (f64::from(i % 37) / 12.0 - 2.2, f64::from(i / 37) / 3.0 - 1.5)).collect();
        let narrow: Vec<_> = points.iter().map(|&(a, b)| (a as f32, b as f32)).collect();
        for (map, narrow_map) in some_maps() {
            let (dwell, first) = distance_of(Level::best(), map, &points, 300);
            let (_, first_narrow) = distance_of(Level::best(), narrow_map, &narrow, 300);
            assert!(dwell.iter().zip(&first).all(|(n, d)| if *n == 0 { *d == 0.0 } else { d.is_finite() }));
            for level in Level::available() {
                let same = |p: &[f64], q: &[f64]| p.iter().zip(q).all(|(p, q)| p.to_bits() == q.to_bits());
                assert!(same(&first, &distance_of(level, map, &points, 300).1), "{level:?} {map:?}");
                assert!(same(&first_narrow, &distance_of(level, narrow_map, &narrow, 300).1), "{level:?} {map:?}");
                let alone: Vec<f64> =
                    points.iter().step_by(17).map(|p| distance_of(level, map, &[*p], 300).1[0]).collect();
                assert!(same(&alone, &first.iter().copied().step_by(17).collect::<Vec<_>>()), "{level:?} {map:?}");
            }
        }
    }

    #[test]
    fn distant_points_and_overflowing_derivatives_give_finite_distances() {
        let points = [(1e3, 0.0), (1e200, 0.0), (f64::INFINITY, 0.0), (f64::NAN, 0.0), (0.0, 0.0)];
        let (_, distance) = distance_of(Level::best(), Map::mandelbrot(Recipe::Fused), &points, 10);
        assert!(distance.iter().all(|d| d.is_finite() && *d >= 0.0), "{distance:?}");
        assert!((distance[0] / 6900.0 - 1.0).abs() < 0.01 && distance[4] == 0.0, "{distance:?}");
        // At the tip of the needle the derivative grows fourfold a step and exceeds the range of f32 within 64 steps.
        let narrow = [(-2.0_f32 + 2e-7, 1e-30)];
        let (dwell, distance) = distance_of(Level::best(), Map::mandelbrot(Recipe::Fused), &narrow, 1 << 20);
        assert!(distance[0] == 0.0 || dwell[0] > 0, "{dwell:?} {distance:?}");
    }
}
