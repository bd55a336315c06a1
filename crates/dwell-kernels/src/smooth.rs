//! Smooth values: a continuous version of the dwell, so that colours show no bands.
//!
//! From z_n the orbit is iterated further, in the recipe of the map, to the first m >= n with |z_m|^2 > 256^2. The
//! value is
//!
//! ```text
//! m + 1 - log_N(ln|z_m| / ln 256)  =  m + 1 - log2(log2(|z_m|^2) / 16) / log2(N)
//! ```
//!
//! the usual normalised count (Linas Vepstas, 1997; bailout 256, for which the error term O(1/R) is invisible), for the
//! power N. Points that have not escaped have the value 0. Points with |c| > 256 have values below 2, which may be
//! negative: at least -4, where |z|^2 is capped at the largest finite number.
//!
//! z_n and c may be f32. The further steps are computed in f64 for both number types, since the square of 256^16 is
//! beyond the range of f32. Results are f64, since f32 has no bits left for the fraction at ten million iterations.

use crate::arithmetic::Arithmetic;
use crate::escape::Workspace;
use crate::grid::Grid;
use crate::level::{Kernel, Level};
use crate::log2::log2;
use crate::map::Map;
use crate::number::Number;
use crate::recipe::{Rule, with_rule};
use crate::vector::{Vector, bits};
use fearless_simd::{Simd, SimdBase};

/// The |z|^2 beyond which the orbit is not iterated further: 256^2.
pub const SMOOTH_RADIUS_SQUARED: f64 = 65536.0;
/// The greatest number of further steps. From |z| = 2 (1 + 2^-53) the excess over 2 grows fourfold a step, so 30 steps
/// reach 256; orbits that need more steps than this limit are NaN.
pub const MAX_STEPS: u32 = 200;
/// 1 / log2([`SMOOTH_RADIUS_SQUARED`]), exactly.
pub const PER_LOG2_RADIUS_SQUARED: f64 = 1.0 / 16.0;

/// 1 / log2(N) for N = 2..=16, nearest doubles.
#[expect(clippy::approx_constant, reason = "one of a table of computed constants")]
const PER_LOG2_POWER: [f64; 15] = [
    1.0,
    0.630_929_753_571_457_5,
    0.5,
    0.430_676_558_073_393_06,
    0.386_852_807_234_541_63,
    0.356_207_187_108_022_2,
    0.333_333_333_333_333_3,
    0.315_464_876_785_728_77,
    0.301_029_995_663_981_2,
    0.289_064_826_317_887_9,
    0.278_942_945_651_129_87,
    0.270_238_154_427_319_74,
    0.262_649_535_037_193_57,
    0.255_958_024_809_815_5,
    0.25,
];

/// The constant 1 / log2(N) of smooth values, for a power N of 2 to 16.
///
/// If the power is not in 2..=16.
#[must_use]
pub fn per_log2_power(power: u32) -> f64 {
    PER_LOG2_POWER[power as usize - 2]
}

/// Implements [`crate::Kernels::smooth_values`] for f32 and f64.
pub(crate) fn values<N: Number>(
    level: Level,
    map: &Map<N>,
    workspace: &Workspace<N>,
    grid: Grid<'_, N>,
    dwell: &[&mut [u32]],
    smooth: &mut [&mut [f64]],
) {
    assert_eq!(dwell.len(), smooth.len(), "`dwell` and `smooth` differ in their number of rows");
    for (dwell, smooth) in dwell.iter().zip(smooth.iter()) {
        assert_eq!(dwell.len(), smooth.len(), "rows of `dwell` and `smooth` differ in length");
    }
    let julia = map.julia.map(|c| c.map(N::to_f64));
    with_rule!(map.formula, map.recipe, rule => level.run(SmoothKernel { rule, julia, workspace, grid, dwell, smooth }));
}

/// The computation of the smooth values of one block.
struct SmoothKernel<'a, 'b, 'c, N, R> {
    rule: R,
    julia: Option<[f64; 2]>,
    workspace: &'a Workspace<N>,
    grid: Grid<'a, N>,
    dwell: &'a [&'b mut [u32]],
    smooth: &'a mut [&'c mut [f64]],
}

/// The number of points computed together: two of the widest vectors.
const GROUP: usize = 16;

impl<N: Number, R: Rule> Kernel for SmoothKernel<'_, '_, '_, N, R> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) {
        let per_log2_power = per_log2_power(self.rule.formula().power());
        for (row, (dwell, smooth)) in self.dwell.iter().zip(self.smooth).enumerate() {
            let of_row = [self.grid.re_of_row[row], self.grid.im_of_row[row]];
            for (group, smooth) in smooth.chunks_mut(GROUP).enumerate() {
                let from = group * GROUP;
                let dwell = &dwell[from..from + smooth.len()];
                let columns = self.workspace.columns(self.grid, from, GROUP);
                let end = self.workspace.escaped_z(row).map(|end| &end[from..from + GROUP]);
                let mut points = [[0.0; GROUP]; 4];
                for i in 0..GROUP {
                    let c = self.julia.unwrap_or_else(|| [0, 1].map(|part| (columns[part][i] + of_row[part]).to_f64()));
                    (points[0][i], points[1][i]) = (end[0][i].to_f64(), end[1][i].to_f64());
                    [points[2][i], points[3][i]] = c;
                }
                smooth_group(simd, self.rule, &points, dwell, per_log2_power, smooth);
            }
        }
    }
}

/// Computes the smooth values of at most [`GROUP`] points from z_n = x + iy and c = a + ib.
#[inline(always)]
fn smooth_group<S: Simd, R: Rule>(
    simd: S,
    rule: R,
    [x, y, a, b]: &[[f64; GROUP]; 4],
    dwell: &[u32],
    per_log2_power: f64,
    smooth: &mut [f64],
) {
    let lanes = Vector::<S, f64>::LEN;
    let radius_squared = Vector::<S, f64>::splat(simd, SMOOTH_RADIUS_SQUARED);
    let mut norms = [0.0_f64; GROUP];
    let mut extra_steps = [0.0_f64; GROUP];
    let mut at = 0;
    while at < smooth.len() {
        let load = |of: &[f64; GROUP]| Vector::<S, f64>::load(simd, &of[at..]);
        let (mut x, mut y, a, b) = (load(x), load(y), load(a), load(b));
        let mut not_escaped = 0_u64;
        for i in 0..lanes {
            not_escaped |= u64::from(dwell.get(at + i).is_none_or(|n| *n == 0)) << i;
        }
        for _ in 0..MAX_STEPS {
            let inside_radius = !R::norm(x, y).not_at_most(radius_squared);
            let iterating = bits(inside_radius) & !not_escaped;
            if iterating == 0 {
                break;
            }
            let (next_x, next_y) = rule.step(x, y, a, b);
            x = next_x.where_else(inside_radius, x);
            y = next_y.where_else(inside_radius, y);
            for (i, extra_steps) in extra_steps[at..at + lanes].iter_mut().enumerate() {
                *extra_steps += f64::from(u8::from(iterating >> i & 1 == 1));
            }
        }
        let norm = R::norm(x, y).0;
        for i in 0..lanes {
            // An infinite or NaN norm is capped at the greatest finite number. Points that have not escaped get a
            // number that has a logarithm.
            norms[at + i] = if norm[i] <= f64::MAX { norm[i].max(SMOOTH_RADIUS_SQUARED) } else { f64::MAX };
        }
        at += lanes;
    }
    let mut logs = [0.0_f64; GROUP];
    let lanes_f64 = S::f64s::LEN;
    let sixteenth = S::f64s::splat(simd, PER_LOG2_RADIUS_SQUARED);
    let per_log2_power = Vector::<S, f64>::splat(simd, per_log2_power);
    for (norm, out) in norms.chunks_exact(lanes_f64).zip(logs.chunks_exact_mut(lanes_f64)) {
        let log_norm = log2(simd, S::f64s::from_slice(simd, norm));
        Vector::<S, f64>(log2(simd, log_norm * sixteenth)).mul(per_log2_power).store(out);
    }
    for (i, smooth) in smooth.iter_mut().enumerate() {
        let n = dwell[i];
        *smooth = if n == 0 { 0.0 } else { f64::from(n) + extra_steps[i] + 1.0 - logs[i] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::{KernelSettings, KernelShortcuts, dwells};
    use crate::recipe::Recipe;
    use std::sync::atomic::AtomicBool;

    fn smooth_of<N: Number>(level: Level, map: Map<N>, points: &[(N, N)], limit: u32) -> (Vec<u32>, Vec<f64>) {
        let mut workspace = Workspace::new().unwrap();
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let negative_zero = [Grid::<N>::negative_zero()];
        let grid = Grid::list(&re, &im, &negative_zero);
        let mut dwell = vec![0; points.len()];
        let mut smooth = vec![f64::NAN; points.len()];
        let settings = KernelSettings {
            map,
            limit,
            radius_squared: N::from_parts(false, 4, 0),
            shortcuts: KernelShortcuts::ALL,
            proved: 0,
        };
        let stop = AtomicBool::new(false);
        assert!(dwells(level, settings, &mut workspace, grid, &mut [&mut dwell], true, &stop));
        values(level, &map, &workspace, grid, &[&mut dwell], &mut [&mut smooth]);
        (dwell, smooth)
    }

    /// The formula, evaluated with the logarithms of the standard library.
    #[expect(clippy::disallowed_methods, reason = "the reference that the logarithm of this crate is compared with")]
    fn reference(map: &Map<f64>, pixel: [f64; 2], limit: u32) -> f64 {
        let Some(end) = crate::naive::escape(map, pixel, limit, 4.0) else { return 0.0 };
        let (mut x, mut y, mut m) = (end.x, end.y, end.dwell);
        let [a, b] = map.c(pixel);
        while x * x + y * y <= 65536.0 {
            (x, y) = with_rule!(map.formula, map.recipe, rule => rule.step(x, y, a, b));
            m += 1;
        }
        f64::from(m) + 1.0 - (x.hypot(y).ln() / 256_f64.ln()).log(f64::from(map.formula.power()))
    }

    #[test]
    fn agrees_with_the_formula_and_between_levels() {
        let points: Vec<_> =
            (0..999).map(|i| (f64::from(i % 37) / 12.0 - 2.2, f64::from(i / 37) / 9.0 - 1.5)).collect();
        let narrow: Vec<_> = points.iter().map(|&(a, b)| (a as f32, b as f32)).collect();
        for (map, narrow_map) in crate::map::tests::some_maps() {
            let (dwell, first) = smooth_of(Level::best(), map, &points, 500);
            let (_, first_narrow) = smooth_of(Level::best(), narrow_map, &narrow, 500);
            for (i, &(a, b)) in points.iter().enumerate() {
                let expected = reference(&map, [a, b], 500);
                let near = (first[i] - expected).abs() < 1e-11 * expected.abs().max(1.0);
                assert!(near, "{} {expected} {map:?}", first[i]);
                assert_eq!(dwell[i] == 0, first[i] == 0.0);
            }
            for level in Level::available() {
                let same = |p: &[f64], q: &[f64]| p.iter().zip(q).all(|(p, q)| p.to_bits() == q.to_bits());
                assert!(same(&first, &smooth_of(level, map, &points, 500).1), "{level:?}");
                assert!(same(&first_narrow, &smooth_of(level, narrow_map, &narrow, 500).1), "{level:?}");
            }
        }
    }

    #[test]
    fn smooth_values_are_continuous_where_the_dwell_changes() {
        for (map, narrow_map) in crate::map::tests::some_maps() {
            // Far enough from every set that neighbouring points have nearly equal values.
            let points: Vec<_> = (0..20_000).map(|i| (1.0 + f64::from(i) * 1e-4, 1.1)).collect();
            let (dwell, smooth) = smooth_of(Level::best(), map, &points, 1000);
            assert!(dwell.iter().min() < dwell.iter().max(), "{map:?}");
            for pair in smooth.windows(2) {
                assert!((pair[0] - pair[1]).abs() < 0.01, "{map:?} {pair:?}");
            }
            let narrow: Vec<_> = points.iter().map(|&(a, b)| (a as f32, b as f32)).collect();
            let (_, smooth) = smooth_of(Level::best(), narrow_map, &narrow, 1000);
            for pair in smooth.windows(2) {
                assert!((pair[0] - pair[1]).abs() < 0.01, "{map:?} {pair:?}");
            }
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the reference that the constants are compared with")]
    fn per_log2_power_is_correctly_rounded() {
        for (i, constant) in PER_LOG2_POWER.into_iter().enumerate() {
            assert!((constant * (i as f64 + 2.0).log2() - 1.0).abs() < 3e-16, "{i}");
        }
    }

    #[test]
    fn distant_points_have_finite_smooth_values() {
        let points =
            [(1e3, 0.0), (1e10, -1e10), (1e200, 0.0), (f64::MAX, f64::MAX), (f64::INFINITY, 0.0), (f64::NAN, 0.0)];
        let (dwell, smooth) = smooth_of(Level::best(), Map::mandelbrot(Recipe::Fused), &points, 10);
        assert_eq!(dwell, [1; 6]);
        assert!(smooth.iter().all(|s| (-4.0..2.0).contains(s)), "{smooth:?}");
    }
}
