//! Smooth values: the dwell made continuous, so that colours run without bands.
//!
//! From z_n on the orbit is iterated, in the map's recipe, to the first m >= n with |z_m|^2 > 256^2; the value is
//!
//! ```text
//! m + 1 - log_N(ln|z_m| / ln 256)  =  m + 1 - log2(log2(|z_m|^2) / 16) / log2(N)
//! ```
//!
//! the usual normalised count (Linas Vepstas, 1997; bailout 256 so that the error term O(1/R) is under what an eye
//! sees), for the power N. Not escaped: 0. Points with |c| > 256 start below 2 and may be negative: at least -4, where
//! |z|^2 is capped at the largest finite number.
//!
//! z_n and c may be f32: the way on from there is done in f64 for both numbers, since 256^16 squared is beyond f32; and
//! results are f64, since a float has no digits left for the fraction at ten million iterations.

use crate::escape::Workspace;
use crate::formula::Map;
use crate::grid::Grid;
use crate::level::{Kernel, Level};
use crate::log2::log2;
use crate::number::Number;
use crate::real::Real;
use crate::recipe::{Rule, with_rule};
use crate::vector::{Vector, bits};
use fearless_simd::{Simd, SimdBase};

/// |z|^2 beyond which the orbit is left: 256^2.
pub(crate) const FAR_SQUARED: f64 = 65536.0;
/// Steps after which an orbit that has not got there is taken as it is. From |z| = 2 (1 + 2^-53) the excess over 2
/// grows fourfold a step, so 30 steps reach 256; orbits that need more than this are NaN.
pub(crate) const MOST_STEPS: u32 = 200;

/// 1 / log2(N) for N = 2..=16, nearest doubles.
#[allow(clippy::approx_constant, reason = "one of a list of alike")]
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

/// 1 / log2(N) as smooth values take it, for a power N of 2 to 16.
///
/// # Panics
/// For any other power.
#[must_use]
pub fn per_log2_power(power: u32) -> f64 {
    PER_LOG2_POWER[power as usize - 2]
}

/// [`crate::Kernels::smooth_values`] for either number.
pub(crate) fn values<N: Number>(
    level: Level,
    map: &Map<N>,
    workspace: &Workspace<N>,
    grid: Grid<'_, N>,
    dwell: &[&mut [u32]],
    smooth: &mut [&mut [f64]],
) {
    assert_eq!(dwell.len(), smooth.len(), "one row of smooth values for each row of points");
    for (dwell, smooth) in dwell.iter().zip(smooth.iter()) {
        assert_eq!(dwell.len(), smooth.len(), "one smooth value for each point");
    }
    let julia = map.julia.map(|c| c.map(N::to_f64));
    with_rule!(map.formula, map.recipe, rule => level.run(Run { rule, julia, workspace, grid, dwell, smooth }));
}

struct Run<'a, 'b, 'c, N, M> {
    rule: M,
    julia: Option<[f64; 2]>,
    workspace: &'a Workspace<N>,
    grid: Grid<'a, N>,
    dwell: &'a [&'b mut [u32]],
    smooth: &'a mut [&'c mut [f64]],
}

/// Points treated together: two of the widest vectors there are.
const GROUP: usize = 16;

impl<N: Number, M: Rule> Kernel for Run<'_, '_, '_, N, M> {
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
                let end = self.workspace.ends(row).map(|end| &end[from..from + GROUP]);
                let mut points = [[0.0; GROUP]; 4];
                for i in 0..GROUP {
                    let c = self.julia.unwrap_or_else(|| [0, 1].map(|part| (columns[part][i] + of_row[part]).to_f64()));
                    (points[0][i], points[1][i]) = (end[0][i].to_f64(), end[1][i].to_f64());
                    [points[2][i], points[3][i]] = c;
                }
                one_group(simd, self.rule, &points, dwell, per_log2_power, smooth);
            }
        }
    }
}

/// Smooth values of at most [`GROUP`] points, from z_n and c: x, y, a, b.
#[inline(always)]
fn one_group<S: Simd, M: Rule>(
    simd: S,
    rule: M,
    [x, y, a, b]: &[[f64; GROUP]; 4],
    dwell: &[u32],
    per_log2_power: f64,
    smooth: &mut [f64],
) {
    let lanes = Vector::<S, f64>::LEN;
    let far = Vector::<S, f64>::splat(simd, FAR_SQUARED);
    let mut norms = [0.0_f64; GROUP];
    let mut extra = [0.0_f64; GROUP];
    let mut at = 0;
    while at < smooth.len() {
        let load = |of: &[f64; GROUP]| Vector::<S, f64>::load(simd, &of[at..]);
        let (mut x, mut y, a, b) = (load(x), load(y), load(a), load(b));
        let mut inside = 0_u64;
        for i in 0..lanes {
            inside |= u64::from(dwell.get(at + i).is_none_or(|n| *n == 0)) << i;
        }
        for _ in 0..MOST_STEPS {
            let near = !M::norm(x, y).not_at_most(far);
            let going = bits(near) & !inside;
            if going == 0 {
                break;
            }
            let (next_x, next_y) = rule.step(x, y, a, b);
            x = next_x.where_else(near, x);
            y = next_y.where_else(near, y);
            for (i, extra) in extra[at..at + lanes].iter_mut().enumerate() {
                *extra += f64::from(u8::from(going >> i & 1 == 1));
            }
        }
        let norm = M::norm(x, y).0;
        for i in 0..lanes {
            // Infinite and NaN: beyond every finite modulus. Not escaped: any number that has a logarithm.
            norms[at + i] = if norm[i] <= f64::MAX { norm[i].max(FAR_SQUARED) } else { f64::MAX };
        }
        at += lanes;
    }
    let mut logs = [0.0_f64; GROUP];
    let wide = S::f64s::LEN;
    let sixteenth = S::f64s::splat(simd, 1.0 / 16.0);
    let per_log2_power = Vector::<S, f64>::splat(simd, per_log2_power);
    for (norm, out) in norms.chunks_exact(wide).zip(logs.chunks_exact_mut(wide)) {
        let once = log2(simd, S::f64s::from_slice(simd, norm));
        Vector::<S, f64>(log2(simd, once * sixteenth)).mul(per_log2_power).store(out);
    }
    for (i, smooth) in smooth.iter_mut().enumerate() {
        let n = dwell[i];
        *smooth = if n == 0 { 0.0 } else { f64::from(n) + extra[i] + 1.0 - logs[i] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::{Bounds, Shortcuts, dwells};
    use crate::recipe::Recipe;
    use std::sync::atomic::AtomicBool;

    fn smooth_of<N: Number>(level: Level, map: Map<N>, points: &[(N, N)], limit: u32) -> (Vec<u32>, Vec<f64>) {
        let mut workspace = Workspace::default();
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let nothing = [Grid::<N>::nothing()];
        let grid = Grid::list(&re, &im, &nothing);
        let mut dwell = vec![0; points.len()];
        let mut smooth = vec![f64::NAN; points.len()];
        let bounds = Bounds { map, limit, radius_squared: N::from_parts(false, 4, 0), shortcuts: Shortcuts::ALL };
        let stop = AtomicBool::new(false);
        assert!(dwells(level, bounds, &mut workspace, grid, &mut [&mut dwell], true, &stop));
        values(level, &map, &workspace, grid, &[&mut dwell], &mut [&mut smooth]);
        (dwell, smooth)
    }

    /// The formula with the standard library's logarithms.
    #[allow(clippy::disallowed_methods, reason = "the reference that our logarithm is compared with")]
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
    fn follows_the_formula_and_is_the_same_on_every_level() {
        let points: Vec<_> =
            (0..999).map(|i| (f64::from(i % 37) / 12.0 - 2.2, f64::from(i / 37) / 9.0 - 1.5)).collect();
        let narrow: Vec<_> = points.iter().map(|&(a, b)| (a as f32, b as f32)).collect();
        for (map, narrow_map) in crate::formula::tests::some_maps() {
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
    fn is_continuous_across_a_change_of_dwell() {
        for (map, narrow_map) in crate::formula::tests::some_maps() {
            // Far enough from every set for the value to change little from one point to the next.
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
    #[allow(clippy::disallowed_methods, reason = "the reference that the constants are compared with")]
    fn the_constants_are_right() {
        for (i, constant) in PER_LOG2_POWER.into_iter().enumerate() {
            assert!((constant * (i as f64 + 2.0).log2() - 1.0).abs() < 3e-16, "{i}");
        }
    }

    #[test]
    fn far_away_is_finite() {
        let points =
            [(1e3, 0.0), (1e10, -1e10), (1e200, 0.0), (f64::MAX, f64::MAX), (f64::INFINITY, 0.0), (f64::NAN, 0.0)];
        let (dwell, smooth) = smooth_of(Level::best(), Map::mandelbrot(Recipe::Fused), &points, 10);
        assert_eq!(dwell, [1; 6]);
        assert!(smooth.iter().all(|s| (-4.0..2.0).contains(s)), "{smooth:?}");
    }
}
