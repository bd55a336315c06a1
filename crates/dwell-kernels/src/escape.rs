//! Dwells of a block of points, bit for bit those of [`crate::naive`].
//!
//! # How
//!
//! 1. *Head* (`head.rs`). The first `HEAD` steps of every point, four vectors at a time, of four rows, so that what is
//!    in flight lies close together and ends together. The first steps are tested one by one, since most exterior points
//!    of most views end there; then every fourth, and the exact n is found from the last z known not to have escaped.
//! 2. *Flight* (`flight.rs`). The survivors fly in bundles of full vectors, all at the same n, so n is one scalar and no
//!    vector is spent on counting. Escape is tested every 32 to 128 steps; when a lane has escaped, the point is noted
//!    with the z before the batch. At n = 64, 128, ... a bundle that has lost a quarter of its lanes is broken up: what is
//!    left waits in the queue of its n (`lists.rs`) until a full bundle has come together. A bundle that stays whole
//!    flies on to the limit without ever being stored.
//! 3. *Replay* (`replay.rs`). The points noted are iterated again from the z noted, in full vectors, with a test at every
//!    step, which finds the exact n.
//! 4. Whoever is left at the limit has dwell 0; and so has, with the shortcut `cycles`, whoever comes back to a z it had
//!    before, and, with the shortcut `interior`, whoever is inside the main cardioid or the period-2 disc
//!    ([`crate::interior`]).
//!
//! # Why a cycle proves dwell 0
//!
//! A step is a function of the bits of z and c alone. If z_m = z_n as computed, m > n, then from n on the orbit repeats
//! for ever what it did between, and none of that escaped. Holds for every formula, recipe and R. Zeros of unlike sign
//! compare equal and may differ in bits; but the sign of a zero part of z only ever decides the sign of zeros in the
//! next z and in |z|^2 (a product or sum that is not zero does not depend on the sign of a zero that goes into it), so
//! the orbits stay equal up to signs of zeros, and so do the tests. z is compared at the end of each batch (32 to
//! 128 steps) with its value at the start of the stage (4096 steps at most), so a cycle is found whose length divides the
//! number of steps between. Points in the set usually settle within some hundreds of steps, attracted faster than
//! bits last.
//!
//! # Why testing late changes nothing
//!
//! Once over R, the modulus grows, beyond what rounding could undo: see `late.rs` for the proof, formula by formula, and
//! for the few points for which there is none and that are iterated by the plain loop.
//!
//! # What was tried
//!
//! Fractions of [`crate::peak`], one thread, avx512, no shortcuts, Zen 4; views [-2,1]x[-1,1] 3000x2000 limit 1000,
//! [-1.5,0.5]x[-1,1] 4096^2 limit 512, [-2,2]^2 2048^2 limits 256 and 32 (`cargo run --release -p xtask -- speed`
//! measures them anew), f64, then f32 where it was measured:
//!
//! | | 1000 | 512 | 256 | 32 |
//! |---|---|---|---|---|
//! | head and stages over spans of 4096 points, batches of 8, a vector with an escape replayed at once | 0.58 | 0.51 | 0.35 | 0.17 |
//! | batches of 8 to 64, two steps a turn | 0.65 | 0.55 | 0.28 | 0.17 |
//! | replays gathered into full vectors, nothing packed where nothing escaped | 0.67 | 0.57 | 0.36 | 0.17 |
//! | packing and replays work from memory, not from arrays of registers indexed by a variable | 0.70 | 0.61 | 0.42 | 0.20 |
//! | a head of 24 steps instead of 16; workspaces kept | 0.71 | 0.63 | 0.43 | 0.22 |
//! | blocks of columns and rows instead of spans: c is two additions, not two arrays; four rows in flight in the head; queues by n, full bundles only | 0.72 0.74 | 0.68 0.67 | 0.52 0.46 | 0.32 0.25 |
//! | a bundle that stays whole flies on; c and z in flight in memory between batches | 0.81 0.77 | 0.76 0.72 | 0.57 0.50 | 0.31 0.27 |
//! | head: tests one by one up to n = 4 only, then every fourth, the exact n found from the last z kept | 0.85 0.82 | 0.79 0.77 | 0.59 0.54 | 0.35 0.31 |
//! | queues aligned with cache lines | 0.86 0.83 | 0.81 0.78 | 0.61 0.55 | 0.37 0.31 |
//! | dwells written where they belong, not copied | 0.86 0.85 | 0.82 0.80 | 0.63 0.58 | 0.40 0.35 |
//! | whole vectors wait in a queue of their own, which so stays aligned | 0.86 0.84 | 0.82 0.80 | 0.63 0.59 | 0.41 0.36 |
//! | batches of n steps, not n / 2 | 0.87 0.85 | 0.83 0.81 | 0.65 0.61 | 0.40 0.38 |
//!
//! The last row is what there is now, but for views full of late escapes, where a stage in which the last bundle lost many
//! is tested four times as often (1.16 times as fast at the edge of the seahorse valley, half a percent slower here) and
//! cut in quarters (1.03 times).
//!
//! *avx2* has sixteen registers: with eight vectors in flight z itself goes through the stack, and each step waits for a
//! store. Four to six vectors with c in registers: 0.60 on the second view; five, with c read again in each step: 0.73
//! (six: 0.61; one step a turn: 0.69).
//!
//! *Lost:* a head of 8 or 16 steps, or 3 or 6 single tests (all within 0.02 below); 6 vectors in the head (0.85 0.80 0.59
//! 0.32: less alike, so later done); regrouping at a half or at 7/8 instead of 3/4 of the lanes (0.79, 0.80 on the first
//! view when it stood at 0.81); tests as an unsigned comparison of bits, to relieve the multiply-add pipes (slower: it
//! uses the same ones); six or seven vectors in flight (the same); prefetching the lines that dwells will be written to
//! (no gain, 0.02 lost); square tiles of 128 pixels on several threads (see `TileSize::fitting`); a head that forgets who
//! has escaped and looks every fourth step only whether anybody is left (0.71 0.62 0.40 0.19 when it was at 0.43); stages
//! of at most 2^10 steps (more packing than they save) and 2^14 (lanes idle for too long). `std::array::from_fn` and `map`
//! over vectors are not inlined into functions compiled for a level: each cost a quarter of the head.
//!
//! *Library against intrinsics:* the flight's loop runs at 0.97 of the peak (`cargo bench -- flight`), and the peak, of
//! the same vectors, at the bound of the machine: one 512-bit multiply-add a cycle is 3 cycles for 8 steps in f64, 9.79 G
//! steps a second at the 3.672 GHz found by a chain of integer multiplications; measured 9.80. A loop in hand-written
//! assembly with seven chains gave 8.8. So there is nothing for intrinsics to gain.
//!
//! *What limits the rest.* On the second view, in cycles for each vector of eight pixels, of 722 at 0.83: 602 are steps
//! that the plain loop needs. 30 are tests of the head (a test is two multiply-adds and a comparison, all three on the
//! pipes that do the steps: as dear as a step). 12 are tests in flight and 11 replays. 17 is the 3 % by which the flight's
//! loop misses the peak at the seams of batches (16 stores). 16 are coordinates, writing dwells and loop control, 12 the
//! queues; the other 22 are mispredicted ends of bundles, some 20 cycles for each four vectors of the head. Lanes are busy:
//! 99 % of those in flight are alive. At limit 32 a vector needs 5.8 useful steps, 17 cycles, of 43: there the tests (as
//! many again), the ends and the 16 cycles of start-up and writing are what is left.

mod flight;
mod head;
pub(crate) mod late;
mod lists;
mod replay;
mod watch;
mod workspace;

pub use workspace::{LONGEST_SIDE, Workspace};

use crate::formula::{Formula, Map};
use crate::grid::Grid;
use crate::level::{Kernel, Level};
use crate::number::Number;
use crate::recipe::{Rule, with_rule};
use crate::vector::Vector;
use fearless_simd::Simd;
use std::sync::atomic::AtomicBool;

/// Steps of the head.
const HEAD: u32 = 32;
/// Steps of the head that are tested one by one.
const HEAD_SINGLE: u32 = 4;
/// Steps between tests in the rest of the head.
const HEAD_BATCH: u32 = 4;
/// Vectors of the head in flight.
const HEAD_VECTORS: usize = 4;
/// Vectors of the replay in flight.
const REPLAY_VECTORS: usize = 4;
/// The most steps between tests in a flight.
const LONGEST_BATCH: u32 = 128;
/// Lanes of the widest vector: 16 f32 in 512 bits.
const WIDEST: usize = 16;
/// Lanes of the widest bundle: 8 vectors.
const MOST_LANES: usize = 8 * WIDEST;

/// Exact shortcuts of the kernel: they change no dwell, only the time it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Points inside the main cardioid or the period-2 disc are not iterated. Holds for z^2 + c, both recipes and every
    /// R >= 2. See [`crate::interior`].
    pub interior: bool,
    /// A point whose orbit comes back to a z that it had before is spared the rest. Holds for every formula, recipe and
    /// R. See above.
    pub cycles: bool,
}

impl Shortcuts {
    /// All of them.
    pub const ALL: Self = Self { interior: true, cycles: true };
    /// None of them: every point is iterated to its escape or the limit.
    pub const NONE: Self = Self { interior: false, cycles: false };
}

/// What to iterate to.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<N> {
    /// What is iterated, and in which order of roundings.
    pub map: Map<N>,
    /// The greatest n tried, at least 1.
    pub limit: u32,
    /// R^2, R >= 2.
    pub radius_squared: N,
    /// Which shortcuts to take.
    pub shortcuts: Shortcuts,
}

/// [`crate::Kernels::dwells`] for either number.
pub(crate) fn dwells<N: Number>(
    level: Level,
    bounds: Bounds<N>,
    workspace: &mut Workspace<N>,
    grid: Grid<'_, N>,
    out: &mut [&mut [u32]],
    keep_ends: bool,
    stop: &AtomicBool,
) -> bool {
    let (width, height) = (grid.width(), grid.height());
    assert!(width <= LONGEST_SIDE && height <= LONGEST_SIDE, "{width} x {height} points are too many for a block");
    assert!(grid.im_of_column.len() == width && grid.im_of_row.len() == height, "both parts of c of each point");
    assert!(out.len() == height && out.iter().all(|row| row.len() == width), "one dwell for each point");
    assert!(bounds.radius_squared.to_f64() >= 4.0, "testing late is exact for R >= 2 only");
    if width == 0 || height == 0 {
        return true;
    }
    workspace.start(grid, keep_ends);
    let of_the_set = bounds.map.formula == Formula::MANDELBROT && bounds.map.julia.is_none();
    let shortcuts = Shortcuts { interior: bounds.shortcuts.interior && of_the_set, ..bounds.shortcuts };
    let bounds = Bounds { shortcuts, ..bounds };
    with_rule!(bounds.map.formula, bounds.map.recipe, rule => {
        level.run(Run { rule, bounds, workspace, grid, out, keep_ends, stop })
    })
}

/// The work on one block.
struct Run<'a, 'b, N, M> {
    rule: M,
    bounds: Bounds<N>,
    workspace: &'a mut Workspace<N>,
    grid: Grid<'a, N>,
    /// Dwells, row by row. Whoever survives the head has 0 until it escapes.
    out: &'a mut [&'b mut [u32]],
    keep_ends: bool,
    stop: &'a AtomicBool,
}

impl<N: Number, M: Rule> Kernel for Run<'_, '_, N, M> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(mut self, simd: S) -> bool {
        if !late::is_exact(&self.bounds) {
            return self.finish_plainly(|_| true);
        }
        self.head::<S, REGISTERS>(simd) && self.finish::<S, REGISTERS>(simd)
    }
}

/// Where in the block a point is, as one integer.
#[inline(always)]
fn place(row: usize, column: usize) -> u32 {
    ((row << 16) + column) as u32
}

/// Row and column of a place.
#[inline(always)]
fn at_place(place: u32) -> (usize, usize) {
    ((place >> 16) as usize, (place & 0xffff) as usize)
}

/// Whole numbers below 2^20, held exactly, as integers: added to 2^52 (2^23) they stand in the low bits of the
/// significand.
#[inline(always)]
fn small_counts<S: Simd, N: Number>(counts: Vector<S, N>, out: &mut [u32]) {
    let mut all = [N::default(); WIDEST];
    counts.store(&mut all);
    let lanes = Vector::<S, N>::LEN;
    for (out, count) in out[..lanes].iter_mut().zip(&all[..lanes]) {
        *out = count.small_to_u32();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use crate::recipe::Recipe;

    /// A small generator with a printed seed: xorshift64*.
    struct Random(u64);
    impl Random {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
        }
        fn unit(&mut self) -> f64 {
            (self.next() >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    trait Cast: Number {
        fn of(v: f64) -> Self;
    }
    impl Cast for f32 {
        fn of(v: f64) -> Self {
            v as Self
        }
    }
    impl Cast for f64 {
        fn of(v: f64) -> Self {
            v
        }
    }

    /// Every level against the plain loop, dwell and z_n, on these points.
    fn check<N: Cast>(map: Map<N>, points: &[(N, N)], limit: u32, radius: f64) {
        let stop = AtomicBool::new(false);
        let mut workspace = Workspace::default();
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let nothing = [Grid::<N>::nothing()];
        let grid = Grid::list(&re, &im, &nothing);
        let radius_squared = N::of(radius * radius);
        let expected: Vec<_> =
            points.iter().map(|&(a, b)| naive::escape(&map, [a, b], limit, radius_squared)).collect();
        for level in Level::available() {
            for (keep_ends, shortcuts) in [(false, Shortcuts::NONE), (true, Shortcuts::NONE), (true, Shortcuts::ALL)] {
                let bounds = Bounds { map, limit, radius_squared, shortcuts };
                let mut dwell = vec![77; points.len()];
                assert!(dwells(level, bounds, &mut workspace, grid, &mut [&mut dwell], keep_ends, &stop));
                let [x, y] = if keep_ends { workspace.ends(0) } else { [&re[..], &im] };
                for (i, e) in expected.iter().enumerate() {
                    let what = format!("{} {level:?} {map:?} limit {limit} R {radius} at {:?}", N::NAME, points[i]);
                    assert_eq!(dwell[i], e.map_or(0, |e| e.dwell), "{what}");
                    if let (true, Some(e)) = (keep_ends, e) {
                        let same = |p: N, q: N| p == q || (p.to_f64().is_nan() && q.to_f64().is_nan());
                        assert!(same(x[i], e.x) && same(y[i], e.y), "{what}");
                    }
                }
            }
        }
    }

    fn check_both(wide: Map<f64>, narrow: Map<f32>, points: &[(f64, f64)], limit: u32, radius: f64) {
        check(wide, points, limit, radius);
        let points: Vec<_> = points.iter().map(|&(a, b)| (f32::of(a), f32::of(b))).collect();
        check(narrow, &points, limit, radius);
    }

    /// z^2 + c.
    fn both(points: &[(f64, f64)], limit: u32, radius: f64) {
        for recipe in Recipe::ALL {
            check_both(Map::mandelbrot(recipe), Map::mandelbrot(recipe), points, limit, radius);
        }
    }

    /// Every other kind of map.
    fn others(points: &[(f64, f64)], limit: u32, radius: f64) {
        for (wide, narrow) in crate::formula::tests::some_maps().into_iter().skip(2) {
            check_both(wide, narrow, points, limit, radius);
        }
    }

    #[test]
    fn every_other_formula() {
        let mut random = Random(11);
        for (len, limit, radius) in [(31, 3, 2.0), (65, 1000, 2.0), (257, 100, 2.0), (500, 300, 2.5), (65, 50, 15.0)] {
            let points: Vec<_> = (0..len).map(|_| (random.unit() * 4.4 - 2.2, random.unit() * 4.0 - 2.0)).collect();
            others(&points, limit, radius);
        }
        let far = [1e10, -1e160, f64::INFINITY, f64::NAN, 0.0, -0.0, 2.0, -3.0];
        let points: Vec<_> = far.iter().flat_map(|&a| far.iter().map(move |&b| (a, b))).collect();
        others(&points, 50, 2.0);
    }

    #[test]
    fn around_every_tip_in_steps_of_an_ulp() {
        // Where |z| stays at 2: c = -2 for the Tricorn and its turns by a third; -2 and 1 - i sqrt 3 for the Ship.
        let root = 3_f64.sqrt();
        let mut points = Vec::new();
        for (a, b) in [(-2.0, 0.0), (1.0, -root), (1.0, root), (-1.0, root), (0.0, 2.0), (0.0, -2.0), (2.0, 0.0)] {
            for i in -12..12_i32 {
                for j in [-3, -1, 0, 1, 2] {
                    let near = |v: f64, k: i32, unit: i32| v + f64::from(k) * 2f64.powi(unit);
                    points.push((near(a, i, -52), near(b, j, -52)));
                    points.push((near(a, i, -22), near(b, j, -22)));
                    points.push((near(a, i, -43), near(b, j, -20)));
                }
            }
        }
        for (wide, narrow) in crate::formula::tests::some_maps() {
            if wide.formula.power() == 2 && wide.julia.is_none() {
                check_both(wide, narrow, &points, 500, 2.0);
                check_both(wide, narrow, &points, 60, 3.0);
            }
        }
    }

    #[test]
    fn julia_sets_with_any_constant() {
        let mut random = Random(13);
        let points: Vec<_> = (0..200).map(|_| (random.unit() * 4.0 - 2.0, random.unit() * 4.0 - 2.0)).collect();
        // Within the radius, on it, a hair inside, beyond it; and c at a tip.
        for c in [[0.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [1.999_999_9, 0.0], [-3.0, 4.0], [1e200, 0.0]] {
            for (wide, narrow) in crate::formula::tests::some_maps() {
                if wide.julia.is_some() {
                    let narrow = Map { julia: Some(c.map(f32::of)), ..narrow };
                    check_both(Map { julia: Some(c), ..wide }, narrow, &points, 200, 2.0);
                    check_both(Map { julia: Some(c), ..wide }, narrow, &points[..40], 200, 4.0);
                }
            }
        }
    }

    #[test]
    fn the_whole_set_at_odd_lengths_limits_and_radii() {
        let mut random = Random(1);
        for len in [1, 2, 7, 8, 9, 31, 63, 64, 65, 257, 1000] {
            let points: Vec<_> = (0..len).map(|_| (random.unit() * 4.0 - 2.6, random.unit() * 3.0 - 1.5)).collect();
            for limit in [1, 2, 3, 15, 16, 17, 18, 23, 24, 25, 31, 32, 33, 47, 48, 49, 100, 1000] {
                both(&points, limit, 2.0);
            }
            for radius in [2.000_000_1, 2.5, 4.0, 256.0, 1e9] {
                both(&points, 300, radius);
            }
        }
    }

    #[test]
    fn around_the_tip_of_the_needle_in_steps_of_an_ulp() {
        // c = -2 is where the late test could go wrong: |z| stays at 2 and rounding decides.
        let mut points = Vec::new();
        for i in -40..40_i32 {
            for j in [-3, -1, 0, 1, 2, 5] {
                let a = f64::from_bits((-2.0_f64).to_bits().wrapping_add_signed(i.into()));
                points.push((a, f64::from(j) * 2f64.powi(-53)));
                points.push((a, f64::from(j) * 2f64.powi(-27)));
                points.push((-2.0 + f64::from(i) * 2f64.powi(-22), f64::from(j) * 2f64.powi(-24)));
                points.push((-2.0 + f64::from(i) * 2f64.powi(-43), f64::from(j) * 2f64.powi(-22)));
                points.push((-2.0 + f64::from(i) * 2f64.powi(-17), f64::from(j) * 2f64.powi(-9)));
            }
        }
        both(&points, 700, 2.0);
        both(&points, 100, 3.0);
    }

    #[test]
    fn around_the_circle_of_radius_two() {
        let mut points = Vec::new();
        for i in 0..720 {
            let angle = f64::from(i) * std::f64::consts::PI / 360.0;
            #[allow(clippy::disallowed_methods, reason = "any points near the circle will do")]
            let (s, c) = (angle.sin(), angle.cos());
            for k in -2..=2_i64 {
                let grow = |v: f64| f64::from_bits((2.0 * v).to_bits().wrapping_add_signed(k));
                points.push((grow(c), grow(s)));
            }
        }
        both(&points, 100, 2.0);
    }

    #[test]
    fn far_away_infinite_and_nan() {
        let far = [1e10, -1e10, 1e30, 1e160, -1e300, f64::MAX, f64::INFINITY, f64::NAN, 0.0, 2.0, -2.0, 3.0];
        let points: Vec<_> = far.iter().flat_map(|&a| far.iter().map(move |&b| (a, b))).collect();
        both(&points, 50, 2.0);
        both(&points, 50, 1e9);
    }

    #[test]
    fn deep_escapes_next_to_the_real_axis() {
        let mut random = Random(3);
        let points: Vec<_> = (0..600)
            .map(|i| match i % 2 {
                0 => (-1.75 + random.unit() * 0.01, (random.unit() - 0.5) * 2f64.powi(-20)),
                _ => (0.25 + random.unit() * 1e-5, (random.unit() - 0.5) * 1e-7),
            })
            .collect();
        both(&points, 5000, 2.0);
    }

    #[test]
    fn cycles_of_every_kind() {
        // Centres of components (z comes back to 0 exactly), points settling slowly next to a parabolic one, c = 0 and the signs
        // of zero, and the long cycles that rounding makes at the boundary.
        let mut random = Random(5);
        let mut points =
            vec![(0.0, 0.0), (-0.0, -0.0), (-1.0, 0.0), (-1.0, -0.0), (0.0, 1.0), (-2.0, 0.0), (0.25, 0.0)];
        for i in 0..500 {
            let near = |random: &mut Random, a: f64, b: f64, r: f64| {
                (a + (random.unit() - 0.5) * r, b + (random.unit() - 0.5) * r)
            };
            points.push(match i % 5 {
                0 => near(&mut random, -0.122_561_166_876_654, 0.744_861_766_619_744, 0.1),
                1 => near(&mut random, -0.75, 0.0, 0.01),
                2 => near(&mut random, -1.401_155, 0.0, 0.01),
                3 => near(&mut random, -0.1, 0.0, 0.8),
                _ => near(&mut random, -1.754_877_666, 0.0, 0.02),
            });
        }
        both(&points, 6000, 2.0);
    }

    /// Dwells of a list of points.
    fn list(level: Level, bounds: Bounds<f64>, re: &[f64], im: &[f64], stop: bool) -> Option<Vec<u32>> {
        let nothing = [Grid::<f64>::nothing()];
        let grid = Grid::list(re, im, &nothing);
        let mut dwell = vec![7; re.len()];
        let stop = AtomicBool::new(stop);
        dwells(level, bounds, &mut Workspace::default(), grid, &mut [&mut dwell], false, &stop).then_some(dwell)
    }

    #[test]
    fn a_cycle_spares_the_rest() {
        // Three points that settle on cycles of 1, 2 and 3: at the greatest limit this ends only if that is noticed.
        for level in Level::available() {
            let shortcuts = Shortcuts { interior: false, cycles: true };
            let bounds =
                Bounds { map: Map::mandelbrot(Recipe::Fused), limit: u32::MAX, radius_squared: 4.0, shortcuts };
            assert_eq!(list(level, bounds, &[-0.1, -1.05, -0.12], &[0.2, 0.02, 0.74], false), Some(vec![0; 3]));
        }
    }

    #[test]
    fn the_inside_is_spared_all() {
        // Points that do not come back to a z within a second or a minute: settling slowly, near the boundary.
        for level in Level::available() {
            let shortcuts = Shortcuts { interior: true, cycles: false };
            let bounds =
                Bounds { map: Map::mandelbrot(Recipe::Fused), limit: u32::MAX, radius_squared: 4.0, shortcuts };
            let (re, im) = ([-0.7499, 0.249, -1.2499, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.2]);
            assert_eq!(list(level, bounds, &re, &im, false), Some(vec![0; 5]));
        }
    }

    #[test]
    fn blocks_of_every_shape() {
        // Rows and columns both, of lengths around the vectors' and the bundles'; rotated, so that all four arrays count.
        let mut random = Random(9);
        let mut workspace = Workspace::default();
        for (width, height) in [(1, 1), (1, 9), (3, 2), (16, 4), (17, 5), (33, 7), (64, 3), (130, 131), (5, 40)] {
            let mut some = |n: usize, from: f64, step: f64| -> Vec<f64> {
                (0..n).map(|i| from + (i as f64 + random.unit()) * step / n as f64).collect()
            };
            let (re_of_column, im_of_column) = (some(width, -2.2, 3.0), some(width, -0.1, 0.2));
            let (re_of_row, im_of_row) = (some(height, -0.1, 0.2), some(height, -1.2, 2.4));
            let grid = Grid {
                re_of_column: &re_of_column,
                im_of_column: &im_of_column,
                re_of_row: &re_of_row,
                im_of_row: &im_of_row,
                monotonic: false,
            };
            for level in Level::available() {
                for (limit, shortcuts) in [(3, Shortcuts::NONE), (300, Shortcuts::NONE), (5000, Shortcuts::ALL)] {
                    let bounds = Bounds { map: Map::mandelbrot(Recipe::Fused), limit, radius_squared: 4.0, shortcuts };
                    let mut dwell = vec![9; width * height];
                    let mut rows: Vec<&mut [u32]> = dwell.chunks_mut(width).collect();
                    let stop = AtomicBool::new(false);
                    assert!(dwells(level, bounds, &mut workspace, grid, &mut rows, true, &stop));
                    for (i, dwell) in dwell.iter().enumerate() {
                        let [a, b] = grid.point(i % width, i / width);
                        let expected = naive::escape(&bounds.map, [a, b], limit, 4.0);
                        assert_eq!(*dwell, expected.map_or(0, |e| e.dwell), "{width} x {height} at {i}, {limit}");
                        if let Some(end) = expected {
                            let [x, y] = workspace.ends(i / width);
                            assert_eq!((x[i % width], y[i % width]), (end.x, end.y), "{width} x {height} at {i}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn gives_up_when_told() {
        for level in Level::available() {
            for a in [0.0, -2.0] {
                let bounds = Bounds {
                    map: Map::mandelbrot(Recipe::Fused),
                    limit: u32::MAX,
                    radius_squared: 4.0,
                    shortcuts: Shortcuts::NONE,
                };
                assert_eq!(list(level, bounds, &[a; 64], &[0.0; 64], true), None);
            }
        }
    }
}
