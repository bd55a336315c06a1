//! Smooth values: the dwell made continuous, so that colours run without bands.
//!
//! From z_n on the orbit is iterated (same recipe) to the first m >= n with |z_m|^2 > 256^2; the value is
//!
//! ```text
//! m + 1 - log2(ln|z_m| / ln 256)  =  m + 1 - log2(log2(|z_m|^2) / 16)
//! ```
//!
//! the usual normalised count (Linas Vepstas, 1997; bailout 256 so that the error term O(1/R) is under what an eye
//! sees). Not escaped: 0. Points with |c| > 256 start below 2 and may be negative: at least -4 in f64, where |z|^2 is
//! capped at the largest finite number.
//!
//! Doubles in and out for both numbers: a float has no digits left for the fraction at ten million iterations.

use crate::escape::Workspace;
use crate::grid::Grid;
use crate::level::{Kernel, Level};
use crate::log2::log2;
use crate::number::Number;
use crate::real::Real;
use crate::recipe::{Recipe, Roundings, with_recipe};
use crate::vector::{Vector, bits};
use fearless_simd::{Simd, SimdBase};
use std::marker::PhantomData;

/// |z|^2 beyond which the orbit is left: 256^2.
const FAR_SQUARED: u32 = 65536;
/// Steps after which an orbit that has not got there is taken as it is. From |z| = 2 (1 + 2^-53) the excess over 2
/// grows fourfold a step, so 30 steps reach 256; orbits that need more than this are NaN.
const MOST_STEPS: u32 = 200;

/// [`crate::Kernels::smooth_values`] for either number.
pub(crate) fn values<N: Number>(
    level: Level,
    recipe: Recipe,
    workspace: &Workspace<N>,
    grid: Grid<'_, N>,
    dwell: &[&mut [u32]],
    smooth: &mut [&mut [f64]],
) {
    assert_eq!(dwell.len(), smooth.len(), "one row of smooth values for each row of points");
    for (dwell, smooth) in dwell.iter().zip(smooth.iter()) {
        assert_eq!(dwell.len(), smooth.len(), "one smooth value for each point");
    }
    with_recipe!(recipe, R => level.run(Run::<N, R> { workspace, grid, dwell, smooth, recipe: PhantomData }));
}

struct Run<'a, 'b, 'c, N, R> {
    workspace: &'a Workspace<N>,
    grid: Grid<'a, N>,
    dwell: &'a [&'b mut [u32]],
    smooth: &'a mut [&'c mut [f64]],
    recipe: PhantomData<R>,
}

/// Points treated together: the widest vector there is.
const GROUP: usize = 16;

impl<N: Number, R: Roundings> Kernel for Run<'_, '_, '_, N, R> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) {
        for (row, (dwell, smooth)) in self.dwell.iter().zip(self.smooth).enumerate() {
            for (group, smooth) in smooth.chunks_mut(GROUP).enumerate() {
                let from = group * GROUP;
                let columns = self.workspace.columns(self.grid, from, GROUP);
                let ends = self.workspace.ends(row).map(|end| &end[from..from + GROUP]);
                let of_row = [self.grid.re_of_row[row], self.grid.im_of_row[row]];
                one_group::<S, N, R>(simd, columns, of_row, ends, &dwell[from..from + smooth.len()], smooth);
            }
        }
    }
}

/// Smooth values of at most [`GROUP`] points, from what their columns and their row contribute to c and from z_n.
#[inline(always)]
fn one_group<S: Simd, N: Number, R: Roundings>(
    simd: S,
    [re_of_column, im_of_column]: [&[N]; 2],
    of_row: [N; 2],
    [end_x, end_y]: [&[N]; 2],
    dwell: &[u32],
    smooth: &mut [f64],
) {
    let lanes = Vector::<S, N>::LEN;
    let far = Vector::<S, N>::splat(simd, N::from_parts(false, u64::from(FAR_SQUARED), 0));
    let [re_of_row, im_of_row] = of_row.map(|of_row| Vector::<S, N>::splat(simd, of_row));
    let mut norms = [0.0_f64; GROUP];
    let mut extra = [0.0_f64; GROUP];
    let mut at = 0;
    while at < smooth.len() {
        let a = Vector::<S, N>::load(simd, &re_of_column[at..]).add(re_of_row);
        let b = Vector::<S, N>::load(simd, &im_of_column[at..]).add(im_of_row);
        let mut x = Vector::<S, N>::load(simd, &end_x[at..]);
        let mut y = Vector::<S, N>::load(simd, &end_y[at..]);
        let mut inside = 0_u64;
        for i in 0..lanes {
            inside |= u64::from(dwell.get(at + i).is_none_or(|n| *n == 0)) << i;
        }
        for _ in 0..MOST_STEPS {
            let near = !R::norm(x, y).not_at_most(far);
            let going = bits(near) & !inside;
            if going == 0 {
                break;
            }
            let (next_x, next_y) = R::step(x, y, a, b);
            x = next_x.where_else(near, x);
            y = next_y.where_else(near, y);
            for (i, extra) in extra[at..at + lanes].iter_mut().enumerate() {
                *extra += f64::from(u8::from(going >> i & 1 == 1));
            }
        }
        let norm = R::norm(x, y).0;
        for i in 0..lanes {
            let norm = norm[i].to_f64();
            // Infinite and NaN: beyond every finite modulus. Not escaped: any number that has a logarithm.
            norms[at + i] = if norm <= f64::MAX { norm.max(65536.0) } else { f64::MAX };
        }
        at += lanes;
    }
    let mut logs = [0.0_f64; GROUP];
    let wide = S::f64s::LEN;
    let sixteenth = S::f64s::splat(simd, 1.0 / 16.0);
    for (norm, out) in norms.chunks_exact(wide).zip(logs.chunks_exact_mut(wide)) {
        let once = log2(simd, S::f64s::from_slice(simd, norm));
        log2(simd, once * sixteenth).store_slice(out);
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
    use std::sync::atomic::AtomicBool;

    fn smooth_of<N: Number>(level: Level, recipe: Recipe, points: &[(N, N)], limit: u32) -> (Vec<u32>, Vec<f64>) {
        let mut workspace = Workspace::default();
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let nothing = [Grid::<N>::nothing()];
        let grid = Grid::list(&re, &im, &nothing);
        let mut dwell = vec![0; points.len()];
        let mut smooth = vec![f64::NAN; points.len()];
        let bounds = Bounds { recipe, limit, radius_squared: N::from_parts(false, 4, 0), shortcuts: Shortcuts::ALL };
        let stop = AtomicBool::new(false);
        assert!(dwells(level, bounds, &mut workspace, grid, &mut [&mut dwell], true, &stop));
        values(level, recipe, &workspace, grid, &[&mut dwell], &mut [&mut smooth]);
        (dwell, smooth)
    }

    /// The formula with the standard library's logarithms.
    #[allow(clippy::disallowed_methods, reason = "the reference that our logarithm is compared with")]
    fn reference(a: f64, b: f64, limit: u32) -> f64 {
        let Some(end) = crate::naive::escape(Recipe::Fused, a, b, limit, 4.0) else { return 0.0 };
        let (mut x, mut y, mut m) = (end.x, end.y, end.dwell);
        while x * x + y * y <= 65536.0 {
            (x, y) = crate::recipe::Fused::step(x, y, a, b);
            m += 1;
        }
        f64::from(m) + 1.0 - (x.hypot(y).ln() / 256_f64.ln()).log2()
    }

    #[test]
    fn follows_the_formula_and_is_the_same_on_every_level() {
        let points: Vec<_> =
            (0..999).map(|i| (f64::from(i % 37) / 12.0 - 2.2, f64::from(i / 37) / 9.0 - 1.5)).collect();
        let narrow: Vec<_> = points.iter().map(|&(a, b)| (a as f32, b as f32)).collect();
        for recipe in Recipe::ALL {
            let (dwell, first) = smooth_of(Level::best(), recipe, &points, 500);
            let (_, first_narrow) = smooth_of(Level::best(), recipe, &narrow, 500);
            for (i, &(a, b)) in points.iter().enumerate() {
                if recipe == Recipe::Fused {
                    let expected = reference(a, b, 500);
                    assert!((first[i] - expected).abs() < 1e-11 * expected.abs().max(1.0), "{} {expected}", first[i]);
                }
                assert_eq!(dwell[i] == 0, first[i] == 0.0);
            }
            for level in Level::available() {
                let same = |p: &[f64], q: &[f64]| p.iter().zip(q).all(|(p, q)| p.to_bits() == q.to_bits());
                assert!(same(&first, &smooth_of(level, recipe, &points, 500).1), "{level:?}");
                assert!(same(&first_narrow, &smooth_of(level, recipe, &narrow, 500).1), "{level:?}");
            }
        }
    }

    #[test]
    fn is_continuous_across_a_change_of_dwell() {
        let points: Vec<_> = (0..20_000).map(|i| (0.4 + f64::from(i) * 1e-5, 0.3)).collect();
        let (dwell, smooth) = smooth_of(Level::best(), Recipe::Fused, &points, 1000);
        assert!(dwell.first() != dwell.last());
        for pair in smooth.windows(2) {
            assert!((pair[0] - pair[1]).abs() < 0.01, "{pair:?}");
        }
    }

    #[test]
    fn far_away_is_finite() {
        let points =
            [(1e3, 0.0), (1e10, -1e10), (1e200, 0.0), (f64::MAX, f64::MAX), (f64::INFINITY, 0.0), (f64::NAN, 0.0)];
        let (dwell, smooth) = smooth_of(Level::best(), Recipe::Fused, &points, 10);
        assert_eq!(dwell, [1; 6]);
        assert!(smooth.iter().all(|s| (-4.0..2.0).contains(s)), "{smooth:?}");
    }
}
