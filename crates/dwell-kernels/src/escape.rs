//! The fast kernel: dwells of a block of points, equal bit for bit to those of [`crate::naive`].
//!
//! # The idea
//!
//! ```text
//! for each group of 8 vectors of points:
//!     if every point of the last group survived the prologue:      untested steps
//!         iterate to n = 32, then test once
//!         if no point has escaped: iterate them as a bundle, and take the next group
//! for each group of 4 vectors of the other points:                prologue
//!     iterate to n = 32, testing after steps 1 to 4 and then after every 4th
//!     write the dwells of the points that escaped; 0 for the others
//!     push the others to queue[32], unless they are proved to be interior
//!     while a queue holds a full bundle:
//!         iterate a bundle from the queue with the greatest such n
//! while a queue holds points:
//!     iterate a bundle from the queue with the least n, unless its points are late and may be left
//! while the replay queue holds points:
//!     replay
//!
//! iterate a bundle:                                               bundle
//!     load 8 vectors (5 with 16 registers) of points at one n
//!     while n < limit and 3/4 of the lanes are alive:
//!         for each batch of the stage that begins at n:
//!             iterate 8 to 128 steps without a test, then test once
//!             push z and n before the batch of each point that has escaped to the replay queue
//!             finish each point whose z is one of two earlier ones: its dwell is 0
//!     if n < limit: push the lanes that are alive to queue[n]     requeue
//!
//! replay:                                                         replay
//!     iterate 4 vectors of the queued points, testing after every step, and write their dwells
//! ```
//!
//! 1. *Prologue* (`prologue.rs`). The first `PROLOGUE_STEPS` steps of every point, for four vectors at a time, of four
//!    rows, so that the points of a group are close together and escape at about the same n. The first steps are tested
//!    one by one, because most exterior points of most views escape there. After that every fourth step is tested, and
//!    the exact n is found from the last z that had not escaped. Where every point of the last group has survived the
//!    prologue, the next group is iterated without tests, for eight vectors at a time, and tested at the end
//!    (`untested_steps.rs`). If a point has escaped, this is undone.
//! 2. *Bundles* (`bundle.rs`). The survivors are iterated in bundles of full vectors, all at the same n (except from n
//!    = 4096 on, where each point has its own), so n is one scalar and no vector is spent on counting. Escape is tested
//!    every 8 to 128 steps. When a lane has escaped, the point is queued for the replay with the z before the batch. At
//!    n = 64, 128, ... (at quarters of these octaves where many points escape) a bundle that has lost more than a
//!    quarter of its lanes is regrouped: the remaining points wait in the queue of their n (`queues.rs`) for a full
//!    bundle. A bundle that stays whole is iterated to the limit and is not stored in a queue again.
//! 3. *Replay* (`replay.rs`). The queued points are iterated again from the z before the batch, in full vectors, with a
//!    test after every step (`tested_steps.rs`), which finds the exact n.
//! 4. Points that have not escaped at the limit have dwell 0. So have, with the shortcut `cycles`, points that return to
//!    a z they had before, and, with the shortcut `interior`, points inside the main cardioid or the period-2 disc
//!    ([`crate::interior`]).
//!
//! At the end of a block few points are left, and a bundle of one takes as long as a full one: in a view beside a parabolic
//! point, with a limit of 10^8, the last points of each block took nearly all of the time. So a caller may ask for them to
//! be left ([`Workspace::leave_late`]), and computes those of many blocks together.
//!
//! # Why a cycle proves dwell 0
//!
//! A step is a function of the bits of z and c alone. If z_m = z_n as computed, m > n, then from m on the orbit repeats
//! for ever the part between n and m, in which no z escaped. This holds for every formula, recipe and R. Zeros of
//! opposite sign compare equal and may differ in bits. But the sign of a zero part of z only affects the sign of zeros
//! in the next z and in |z|^2 (a product or sum that is not zero does not depend on the sign of a zero operand), so the
//! orbits stay equal up to signs of zeros, and so do the tests. z is compared at the end of each batch (32 to 128
//! steps) with its value at the start of the stage (at most 4096 steps), so a cycle is found if its length divides the
//! number of steps between the two. Points of the set usually reach their cycle within some hundreds of steps: the
//! attraction exhausts the bits of the number quickly.
//!
//! The cycles of small copies of the set are longer. From n = 4096 on, z is also compared with an older one, which is
//! replaced when the number of steps has grown by a quarter (Brent, 1980, doubles it). All steps in between are whole
//! batches of 128, so a cycle of length p would be found once the distance between the two has reached 128 p steps, or that
//! divided by the power of two in p. Therefore z is compared after every step for the first n / 32 steps after the older one was
//! stored at n, which finds every cycle of up to n / 32 steps that has begun. A view of
//! a small copy with period 523 at a limit of 10^7 took 0.29 of the time of the comparison within stages alone, when the
//! steps doubled. Bundles that have found such cycles are regrouped later, at half of their lanes, since a point that is queued
//! again loses its older z. In a view of 90,000 points beside a parabolic point (boundary-07 of docs/places.csv), one thread of
//! an Intel Xeon took 1.26, 2.77 and 4.61 s at limits of 10^6, 10^7 and 10^8 with comparisons between batches alone and bundles
//! regrouped at a quarter; 0.50, 0.96 and 1.59 s with those after every step; and 0.45, 0.73 and 1.15 s regrouped at a half.
//!
//! # Why testing late changes nothing
//!
//! Once the modulus exceeds R, it grows by more than rounding could undo. See `late.rs` for the proof for each
//! formula, and for the few points that the proof does not cover, which are iterated by the plain loop.
//!
//! # What was tried
//!
//! Fractions of [`crate::peak`], one thread, avx512, no shortcuts, Zen 4; views [-2,1]x[-1,1] 3000x2000 limit 1000,
//! [-1.5,0.5]x[-1,1] 4096^2 limit 512, [-2,2]^2 2048^2 limits 256 and 32 (`cargo run --release -p xtask -- speed`
//! measures them again); f64, then f32 where it was measured:
//!
//! | | 1000 | 512 | 256 | 32 |
//! |---|---|---|---|---|
//! | prologue and stages over spans of 4096 points, batches of 8, a vector with an escape replayed at once | 0.58 | 0.51 | 0.35 | 0.17 |
//! | batches of 8 to 64, two steps in each turn of the loop | 0.65 | 0.55 | 0.28 | 0.17 |
//! | replays gathered into full vectors, no packing where no point escaped | 0.67 | 0.57 | 0.36 | 0.17 |
//! | packing and replays read memory instead of arrays of registers indexed by a variable | 0.70 | 0.61 | 0.42 | 0.20 |
//! | a prologue of 24 steps instead of 16; workspaces reused | 0.71 | 0.63 | 0.43 | 0.22 |
//! | blocks of columns and rows instead of spans: c is two additions, not two arrays; four rows in flight in the prologue; queues by n, full bundles only | 0.72 0.74 | 0.68 0.67 | 0.52 0.46 | 0.32 0.25 |
//! | a bundle that stays whole is iterated further; c and z of bundles in memory between batches | 0.81 0.77 | 0.76 0.72 | 0.57 0.50 | 0.31 0.27 |
//! | prologue: tests one by one up to n = 4 only, then every fourth, the exact n found from the last z kept | 0.85 0.82 | 0.79 0.77 | 0.59 0.54 | 0.35 0.31 |
//! | queues aligned with cache lines | 0.86 0.83 | 0.81 0.78 | 0.61 0.55 | 0.37 0.31 |
//! | dwells written to their final place, not copied | 0.86 0.85 | 0.82 0.80 | 0.63 0.58 | 0.40 0.35 |
//! | whole vectors in a queue of their own, which stays aligned | 0.86 0.84 | 0.82 0.80 | 0.63 0.59 | 0.41 0.36 |
//! | batches of n steps, not n / 2 | 0.87 0.85 | 0.83 0.81 | 0.65 0.61 | 0.40 0.38 |
//!
//! The last row is the present kernel, except for views with many late escapes: a stage in which many points of the
//! last bundle escaped is tested four times as often (1.16 times as fast at the edge of the seahorse valley, half a
//! percent slower here) and cut into quarters (1.03 times).
//!
//! On an Intel Xeon with two 512-bit multiply-add units, one thread, in rows of 32 pixels' height; the same views and then the
//! edge of the seahorse valley ([-0.7483,-0.7443]x[0.1082,0.1122], limit 5000, mean dwell 152):
//!
//! | | f64 | f32 |
//! |---|---|---|
//! | the kernel above | 0.89 0.83 0.64 0.37 0.39 | 0.88 0.83 0.62 0.37 0.37 |
//! | 32 steps without a test where the last group survived them, eight vectors in flight | 0.91 0.86 0.64 0.38 0.41 | 0.89 0.85 0.64 0.39 0.39 |
//! | which are a bundle at once, and wait in no queue | 0.92 0.88 0.66 0.39 0.43 | 0.90 0.86 0.64 0.40 0.40 |
//! | *lost:* z and n kept every 8 steps in stages with many escapes, so that replays are shorter | 0.86 0.81 0.62 0.37 0.41 | 0.85 0.80 0.61 0.37 0.38 |
//!
//! There the steps of four vectors wait for each other: a step takes 8 cycles and occupies the two units for 6. At the seahorse
//! valley 95 % of the lanes of bundles are alive, and of 71 cycles a pixel 28 are its steps; 14 are replays, of which a half
//! writes dwells to their places, 11 the prologue, 8 the queue of escapes, and 7 loading and regrouping bundles.
//!
//! *avx2* has sixteen registers: with eight vectors in flight z itself goes through the stack, and each step waits for
//! a store. Four to six vectors with c in registers: 0.60 on the second view; five, with c read again in each step:
//! 0.73 (six: 0.61; one step in each turn of the loop: 0.69).
//!
//! *Tried without gain:* a prologue of 8 or 16 steps, or 3 or 6 single tests (all within 0.02 below); 6 vectors in the
//! prologue (0.85 0.80 0.59 0.32: the points are less alike, so they finish later); regrouping at a half or at 7/8
//! instead of 3/4 of the lanes (0.79, 0.80 on the first view when it stood at 0.81); tests as an unsigned comparison of
//! bits, to relieve the multiply-add pipes (slower: it uses the same ones); six or seven vectors in flight (the same);
//! prefetching the lines that dwells will be written to (no gain, 0.02 lost); square tiles of 128 pixels on several
//! threads (see `TileSize::fitting`); a prologue that does not record which points have escaped and tests every fourth
//! step only whether any are left (0.71 0.62 0.40 0.19 when it was at 0.43); stages of at most 2^10 steps (more packing
//! than they save) and 2^14 (lanes idle for too long). `std::array::from_fn` and `map` over vectors are not inlined
//! into functions compiled for a level: each cost a quarter of the prologue.
//!
//! *scalar* ran at 0.03 of its peak: the inner loops were compiled without the fused multiply-add of the machine, as functions
//! that the vector library makes without features, so each fma was a call. With the loop of the bundles and the replays
//! compiled for it ([`crate::level`]): 0.79 0.71 0.51 0.26 in f64 and 0.84 0.78 0.54 0.28 in f32, on an Intel Xeon.
//!
//! *Library against intrinsics:* the loop of the bundles runs at 0.97 of the peak (`cargo bench -- bundle`), and the
//! peak, measured with the same vectors, is at the bound of the machine: one 512-bit multiply-add a cycle is 3 cycles
//! for 8 steps in f64, 9.79 G steps a second at the 3.672 GHz found by a chain of integer multiplications; measured
//! 9.80. A loop in hand-written assembly with seven chains gave 8.8. So intrinsics have nothing to gain.
//!
//! *What limits the rest.* On the second view, in cycles for each vector of eight pixels, of 722 at 0.83: 602 are steps
//! that the plain loop needs. 30 are tests of the prologue (a test is two multiply-adds and a comparison, all three on
//! the pipes that compute the steps, so it costs as much as a step). 12 are tests of bundles and 11 replays. 17 are the
//! 3 % by which the loop of the bundles misses the peak at the ends of batches (16 stores). 16 are coordinates, writing
//! dwells and loop control, 12 the queues; the other 22 are mispredicted ends of bundles, some 20 cycles for each four
//! vectors of the prologue. 99 % of the lanes of bundles are alive. At limit 32 a vector needs 5.8 useful steps, 17
//! cycles, of 43: the rest is tests (as many again), mispredicted ends and the 16 cycles of start-up and writing.

mod attracted;
mod bundle;
pub(crate) mod late;
mod payoff;
mod prologue;
mod queues;
mod replay;
mod tested_steps;
mod untested_steps;
mod workspace;

pub use workspace::{MAX_SIDE, Workspace};

use crate::formula::Formula;
use crate::grid::Grid;
use crate::interior::Interior;
use crate::level::{Kernel, Level};
use crate::map::Map;
use crate::number::Number;
use crate::recipe::{Rule, with_rule};
use crate::vector::{MAX_LANES, Vector, bits};
use fearless_simd::Simd;
use std::sync::atomic::AtomicBool;

/// The number of steps of the prologue.
const PROLOGUE_STEPS: u32 = 32;
/// The number of steps of the prologue that are tested one by one.
const PROLOGUE_SINGLE_STEPS: u32 = 4;
/// The number of steps between tests in the rest of the prologue.
const PROLOGUE_BATCH: u32 = 4;
/// The number of vectors of the prologue in flight.
const PROLOGUE_VECTORS: usize = 4;
/// The number of vectors of the replay in flight.
const REPLAY_VECTORS: usize = 4;
/// The greatest number of steps between tests of a bundle.
const MAX_BATCH: u32 = 128;
/// The lanes of the widest bundle: 8 vectors.
const MAX_BUNDLE: usize = 8 * MAX_LANES;

/// The exact shortcuts of the kernel. They change only the time, never a dwell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelShortcuts {
    /// Do not iterate points inside the main cardioid or the period-2 disc. Applies to z^2 + c, both recipes and every
    /// R >= 2, and just below. See [`crate::interior`].
    pub interior: bool,
    /// Stop iterating a point whose orbit returns to a z that it had before. Applies to every formula, recipe and R.
    /// See the [module](self).
    pub cycles: bool,
    /// Stop iterating a point once an attracting cycle is proved to hold its orbit. Applies to every formula, recipe and R.
    /// See `attracted.rs`. Bundles are examined where that has paid lately, or all of them if [`KernelSettings::proved`] is not 0,
    /// so that the points that it is written for are the same in every run.
    pub traps: bool,
}

impl KernelShortcuts {
    /// All shortcuts.
    pub const ALL: Self = Self { interior: true, cycles: true, traps: true };
    /// No shortcut: every point is iterated to its escape or to the limit.
    pub const NONE: Self = Self { interior: false, cycles: false, traps: false };
}

/// The map, the limit, the escape radius and the shortcuts of a computation.
#[derive(Clone, Copy, Debug)]
pub struct KernelSettings<N> {
    /// The iterated map and its order of roundings.
    pub map: Map<N>,
    /// The greatest n tested, at least 1.
    pub limit: u32,
    /// The squared escape radius R^2, R >= 2, or [`Number::BELOW_FOUR`].
    pub radius_squared: N,
    /// The enabled shortcuts.
    pub shortcuts: KernelShortcuts,
    /// What is written for points that a shortcut proves never to escape: 0, their dwell, or a number above the limit,
    /// which tells them from points that are undecided at the limit.
    pub proved: u32,
}

/// Implements [`crate::Kernels::dwells`] for f32 and f64.
pub(crate) fn dwells<N: Number>(
    level: Level,
    settings: KernelSettings<N>,
    workspace: &mut Workspace<N>,
    grid: Grid<'_, N>,
    out: &mut [&mut [u32]],
    keep_escaped_z: bool,
    stop: &AtomicBool,
) -> bool {
    let (width, height) = (grid.width(), grid.height());
    assert!(
        width <= MAX_SIDE && height <= MAX_SIDE,
        "a block of {width} x {height} points is larger than {MAX_SIDE} x {MAX_SIDE}"
    );
    assert!(
        grid.im_of_column.len() == width && grid.im_of_row.len() == height,
        "the arrays of re c and im c differ in length"
    );
    assert!(
        out.len() == height && out.iter().all(|row| row.len() == width),
        "the shape of `out` differs from that of the block"
    );
    assert!(settings.radius_squared >= N::BELOW_FOUR, "testing late is exact for R >= 2 only, and just below");
    if width == 0 || height == 0 {
        return true;
    }
    workspace.prepare(grid, keep_escaped_z);
    if settings.proved != 0 {
        // The points that it is written for must not depend on the blocks that this thread computed before.
        workspace.forget_earlier_blocks();
    }
    let is_mandelbrot = settings.map.formula == Formula::MANDELBROT && settings.map.julia.is_none();
    let shortcuts = KernelShortcuts { interior: settings.shortcuts.interior && is_mandelbrot, ..settings.shortcuts };
    let settings = KernelSettings { shortcuts, ..settings };
    let finished = with_rule!(settings.map.formula, settings.map.recipe, rule => {
        level.run(DwellKernel { rule, settings, workspace, grid, out: &mut *out, keep_escaped_z, finishes: false, stop })
    });
    if finished && settings.proved != 0 && settings.shortcuts.interior {
        level.run(MarkInterior { settings, grid, out });
    }
    finished
}

/// Writes [`KernelSettings::proved`] for the points that the test for the interior has left out. The test is repeated here:
/// with its result kept in the prologue, the compiler takes minutes longer.
struct MarkInterior<'a, 'b, N> {
    settings: KernelSettings<N>,
    grid: Grid<'a, N>,
    out: &'a mut [&'b mut [u32]],
}

impl<N: Number> Kernel for MarkInterior<'_, '_, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) {
        let test = Interior::<N>::new(self.settings.map.recipe);
        let lanes = Vector::<S, N>::LEN;
        for (row, out) in self.out.iter_mut().enumerate() {
            for (first, out) in (0..).step_by(lanes).zip(out.chunks_mut(lanes)) {
                let (mut re, mut im) = ([N::default(); MAX_LANES], [N::default(); MAX_LANES]);
                for (column, (re, im)) in (first..first + out.len()).zip(re.iter_mut().zip(&mut im)) {
                    [*re, *im] = self.grid.point(column, row);
                }
                let [a, b] = [re, im].each_ref().map(|part| Vector::load(simd, part));
                let inside = bits(test.contains(simd, a, b));
                for (lane, out) in out.iter_mut().enumerate() {
                    if *out == 0 && inside >> lane & 1 == 1 {
                        *out = self.settings.proved;
                    }
                }
            }
        }
    }
}

/// The computation of the dwells of one block.
struct DwellKernel<'a, 'b, N, R> {
    rule: R,
    settings: KernelSettings<N>,
    workspace: &'a mut Workspace<N>,
    grid: Grid<'a, N>,
    /// Dwells, row by row. Survivors of the prologue have 0 until they escape.
    out: &'a mut [&'b mut [u32]],
    keep_escaped_z: bool,
    /// Whether all points have passed the prologue, and none will join those in the queues.
    finishes: bool,
    stop: &'a AtomicBool,
}

impl<N: Number, R: Rule> Kernel for DwellKernel<'_, '_, N, R> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(mut self, simd: S) -> bool {
        if !late::is_exact(&self.settings) {
            return self.run_plain_loop(|_| true);
        }
        self.prologue::<S, REGISTERS>(simd) && self.finish_queues::<S, REGISTERS>(simd)
    }
}

/// Packs a row and a column into one integer.
#[inline(always)]
fn pack_position(row: usize, column: usize) -> u32 {
    ((row << 16) + column) as u32
}

/// The row and the column of a packed position.
#[inline(always)]
fn unpack_position(position: u32) -> (usize, usize) {
    ((position >> 16) as usize, (position & 0xffff) as usize)
}

/// Converts counts below 2^20, held as numbers, to integers and writes them to `out`: added to 2^52 (2^23 for f32) they
/// appear in the low bits of the significand.
#[inline(always)]
pub(crate) fn store_counts<S: Simd, N: Number>(counts: Vector<S, N>, out: &mut [u32]) {
    let mut all = [N::default(); MAX_LANES];
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
    use crate::test_random::Random;

    /// A number type with a conversion from f64.
    trait Cast: Number {
        fn from_f64(v: f64) -> Self;
    }
    impl Cast for f32 {
        fn from_f64(v: f64) -> Self {
            v as Self
        }
    }
    impl Cast for f64 {
        fn from_f64(v: f64) -> Self {
            v
        }
    }

    /// Compares dwell and z_n of these points with the plain loop, on every level.
    fn check<N: Cast>(map: Map<N>, points: &[(N, N)], limit: u32, radius: f64) {
        let stop = AtomicBool::new(false);
        let mut workspace = Workspace::new().unwrap();
        let (re, im): (Vec<N>, Vec<N>) = points.iter().copied().unzip();
        let negative_zero = [Grid::<N>::negative_zero()];
        let grid = Grid::list(&re, &im, &negative_zero);
        let radius_squared = N::from_f64(radius * radius);
        let expected: Vec<_> =
            points.iter().map(|&(a, b)| naive::escape(&map, [a, b], limit, radius_squared)).collect();
        for level in Level::available() {
            for (keep_escaped_z, shortcuts) in
                [(false, KernelShortcuts::NONE), (true, KernelShortcuts::NONE), (true, KernelShortcuts::ALL)]
            {
                let settings = KernelSettings { map, limit, radius_squared, shortcuts, proved: 0 };
                let mut dwell = vec![77; points.len()];
                assert!(dwells(level, settings, &mut workspace, grid, &mut [&mut dwell], keep_escaped_z, &stop));
                let [x, y] = if keep_escaped_z { workspace.escaped_z(0) } else { [&re[..], &im] };
                for (i, e) in expected.iter().enumerate() {
                    let what = format!("{} {level:?} {map:?} limit {limit} R {radius} at {:?}", N::NAME, points[i]);
                    assert_eq!(dwell[i], e.map_or(0, |e| e.dwell), "{what}");
                    if let (true, Some(e)) = (keep_escaped_z, e) {
                        let same = |p: N, q: N| p == q || (p.to_f64().is_nan() && q.to_f64().is_nan());
                        assert!(same(x[i], e.x) && same(y[i], e.y), "{what}");
                    }
                }
            }
        }
    }

    fn check_f64_and_f32(wide: Map<f64>, narrow: Map<f32>, points: &[(f64, f64)], limit: u32, radius: f64) {
        check(wide, points, limit, radius);
        let points: Vec<_> = points.iter().map(|&(a, b)| (f32::from_f64(a), f32::from_f64(b))).collect();
        check(narrow, &points, limit, radius);
    }

    /// Checks z^2 + c in both recipes.
    fn check_mandelbrot(points: &[(f64, f64)], limit: u32, radius: f64) {
        for recipe in Recipe::ALL {
            check_f64_and_f32(Map::mandelbrot(recipe), Map::mandelbrot(recipe), points, limit, radius);
        }
    }

    /// Checks every other kind of map.
    fn check_other_maps(points: &[(f64, f64)], limit: u32, radius: f64) {
        for (wide, narrow) in crate::map::tests::some_maps().into_iter().skip(2) {
            check_f64_and_f32(wide, narrow, points, limit, radius);
        }
    }

    #[test]
    fn every_other_formula_agrees_with_the_plain_loop() {
        let mut random = Random(11);
        for (len, limit, radius) in [(31, 3, 2.0), (65, 1000, 2.0), (257, 100, 2.0), (500, 300, 2.5), (65, 50, 15.0)] {
            let points: Vec<_> = (0..len).map(|_| (random.unit() * 4.4 - 2.2, random.unit() * 4.0 - 2.0)).collect();
            check_other_maps(&points, limit, radius);
        }
        let extremes = [1e10, -1e160, f64::INFINITY, f64::NAN, 0.0, -0.0, 2.0, -3.0];
        let points: Vec<_> = extremes.iter().flat_map(|&a| extremes.iter().map(move |&b| (a, b))).collect();
        check_other_maps(&points, 50, 2.0);
    }

    #[test]
    fn points_one_ulp_apart_around_every_tip() {
        // The points where |z| stays at 2: c = -2 for the Tricorn and its rotations by a third of a turn; -2 and 1 - i
        // sqrt 3 for the Burning Ship.
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
        for (wide, narrow) in crate::map::tests::some_maps() {
            if wide.formula.power() == 2 && wide.julia.is_none() {
                check_f64_and_f32(wide, narrow, &points, 500, 2.0);
                check_f64_and_f32(wide, narrow, &points, 60, 3.0);
            }
        }
    }

    #[test]
    fn julia_sets_for_many_constants() {
        let mut random = Random(13);
        let points: Vec<_> = (0..200).map(|_| (random.unit() * 4.0 - 2.0, random.unit() * 4.0 - 2.0)).collect();
        // |c| within the radius, on it, just inside it and beyond it; and c at a tip.
        for c in [[0.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [1.999_999_9, 0.0], [-3.0, 4.0], [1e200, 0.0]] {
            for (wide, narrow) in crate::map::tests::some_maps() {
                if wide.julia.is_some() {
                    let narrow = Map { julia: Some(c.map(f32::from_f64)), ..narrow };
                    check_f64_and_f32(Map { julia: Some(c), ..wide }, narrow, &points, 200, 2.0);
                    check_f64_and_f32(Map { julia: Some(c), ..wide }, narrow, &points[..40], 200, 4.0);
                }
            }
        }
    }

    #[test]
    fn random_points_for_many_lengths_limits_and_radii() {
        let mut random = Random(1);
        for len in [1, 2, 7, 8, 9, 31, 63, 64, 65, 257, 1000] {
            let points: Vec<_> = (0..len).map(|_| (random.unit() * 4.0 - 2.6, random.unit() * 3.0 - 1.5)).collect();
            for limit in [1, 2, 3, 15, 16, 17, 18, 23, 24, 25, 31, 32, 33, 47, 48, 49, 100, 1000] {
                check_mandelbrot(&points, limit, 2.0);
            }
            for radius in [2.000_000_1, 2.5, 4.0, 256.0, 1e9] {
                check_mandelbrot(&points, 300, radius);
            }
        }
    }

    #[test]
    fn points_one_ulp_apart_around_the_needle_tip() {
        // At c = -2 the late test could fail: |z| stays at 2 and rounding decides.
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
        check_mandelbrot(&points, 700, 2.0);
        check_mandelbrot(&points, 100, 3.0);
    }

    #[test]
    fn points_around_the_circle_of_radius_two() {
        let mut points = Vec::new();
        for i in 0..720 {
            let angle = f64::from(i) * std::f64::consts::PI / 360.0;
            #[expect(clippy::disallowed_methods, reason = "any points near the circle will do")]
            let (s, c) = (angle.sin(), angle.cos());
            for k in -2..=2_i64 {
                let grow = |v: f64| f64::from_bits((2.0 * v).to_bits().wrapping_add_signed(k));
                points.push((grow(c), grow(s)));
            }
        }
        check_mandelbrot(&points, 100, 2.0);
    }

    #[test]
    fn distant_infinite_and_nan_points() {
        let extremes = [1e10, -1e10, 1e30, 1e160, -1e300, f64::MAX, f64::INFINITY, f64::NAN, 0.0, 2.0, -2.0, 3.0];
        let points: Vec<_> = extremes.iter().flat_map(|&a| extremes.iter().map(move |&b| (a, b))).collect();
        check_mandelbrot(&points, 50, 2.0);
        check_mandelbrot(&points, 50, 1e9);
    }

    #[test]
    fn late_escapes_next_to_the_real_axis() {
        let mut random = Random(3);
        let points: Vec<_> = (0..600)
            .map(|i| match i % 2 {
                0 => (-1.75 + random.unit() * 0.01, (random.unit() - 0.5) * 2f64.powi(-20)),
                _ => (0.25 + random.unit() * 1e-5, (random.unit() - 0.5) * 1e-7),
            })
            .collect();
        check_mandelbrot(&points, 5000, 2.0);
    }

    #[test]
    fn cycles_of_every_kind() {
        // Centres of components (where z returns to 0 exactly), points that converge slowly next to a parabolic one, c
        // = 0 and the signs of zero, and the long cycles that rounding causes at the boundary.
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
        check_mandelbrot(&points, 6000, 2.0);
    }

    /// The dwells of a list of points, or `None` if the kernel returned early.
    fn dwells_of_list(
        level: Level,
        settings: KernelSettings<f64>,
        re: &[f64],
        im: &[f64],
        stop: bool,
    ) -> Option<Vec<u32>> {
        let negative_zero = [Grid::<f64>::negative_zero()];
        let grid = Grid::list(re, im, &negative_zero);
        let mut dwell = vec![7; re.len()];
        let stop = AtomicBool::new(stop);
        dwells(level, settings, &mut Workspace::new().unwrap(), grid, &mut [&mut dwell], false, &stop).then_some(dwell)
    }

    #[test]
    fn a_cycle_ends_the_iteration() {
        // Three points that converge to cycles of lengths 1, 2 and 3: with the greatest limit this ends only if the
        // cycles are found.
        for level in Level::available() {
            let shortcuts = KernelShortcuts { interior: false, cycles: true, traps: false };
            let settings = KernelSettings {
                map: Map::mandelbrot(Recipe::Fused),
                limit: u32::MAX,
                radius_squared: 4.0,
                shortcuts,
                proved: 0,
            };
            assert_eq!(
                dwells_of_list(level, settings, &[-0.1, -1.05, -0.12], &[0.2, 0.02, 0.74], false),
                Some(vec![0; 3])
            );
        }
    }

    #[test]
    fn long_cycles_are_found() {
        // The nucleus of a small copy with an orbit of period 523, beside points that escape and one of period 2.
        for level in Level::available() {
            let shortcuts = KernelShortcuts { interior: false, cycles: true, traps: false };
            let map = Map::mandelbrot(Recipe::Fused);
            // Between batches alone, the cycle would be found after 128 times 523 steps from an older z to one a quarter later.
            let limit = 1 << 16;
            let settings = KernelSettings { map, limit, radius_squared: 4.0, shortcuts, proved: u32::MAX };
            let (re, im) = ([-0.7410870592651462, -1.05, 0.3, -2.5], [0.12311219358117143, 0.02, 0.6, 0.0]);
            let found = dwells_of_list(level, settings, &re, &im, false).unwrap();
            assert_eq!(found[..2], [u32::MAX; 2], "{level:?}");
            assert!(found[2..].iter().all(|n| *n > 0 && *n < 100), "{level:?}: {found:?}");
        }
    }

    #[test]
    fn late_points_are_left_where_they_are_few() {
        // Beside a parabolic point: some points escape after 10^5 steps, and cycles are entered late.
        let side = |middle: f64, count: usize| -> Vec<f64> {
            (0..count).map(|i| middle + (i as f64 - count as f64 / 2.0) * 2e-6).collect()
        };
        let (re, im) = (side(-0.633_723_715_411_608, 40), side(0.443_036_276_382_725, 24));
        let zero = |count: usize| vec![Grid::<f64>::negative_zero(); count];
        let (zero_of_column, zero_of_row) = (zero(40), zero(24));
        let grid = Grid {
            re_of_column: &re,
            im_of_column: &zero_of_column,
            re_of_row: &zero_of_row,
            im_of_row: &im,
            monotonic: true,
        };
        let settings = KernelSettings {
            map: Map::mandelbrot(Recipe::Fused),
            limit: 200_000,
            radius_squared: 4.0,
            shortcuts: KernelShortcuts { interior: true, cycles: true, traps: false },
            proved: 0,
        };
        let stop = AtomicBool::new(false);
        for level in Level::available() {
            let mut workspace = Workspace::new().unwrap();
            let mut dwells_of = |from: u32| {
                workspace.leave_late(from);
                let mut dwell = vec![7; 40 * 24];
                let mut rows: Vec<_> = dwell.chunks_mut(40).collect();
                assert!(dwells(level, settings, &mut workspace, grid, &mut rows, false, &stop));
                (dwell, workspace.left().collect::<Vec<_>>())
            };
            let (all, none) = dwells_of(u32::MAX);
            let (mut some, left) = dwells_of(4096);
            assert!(none.is_empty() && (1..=Workspace::<f64>::MOST_LEFT).contains(&left.len()), "{level:?}: {left:?}");
            for (column, row) in left {
                let at = row * 40 + column;
                assert_eq!(some[at], 0, "{level:?}: {column}, {row}");
                assert!(all[at] == 0 || all[at] > 32, "{level:?}: {column}, {row} is not late");
                some[at] = all[at];
            }
            assert!(some == all, "{level:?}: a point that is not left differs");
        }
    }

    #[test]
    fn points_that_are_proved_interior_are_told_from_undecided_ones() {
        for level in Level::available() {
            let map = Map::mandelbrot(Recipe::Fused);
            let shortcuts = KernelShortcuts::ALL;
            let settings = KernelSettings { map, limit: 2000, radius_squared: 4.0, shortcuts, proved: u32::MAX };
            // In the cardioid, in the disc, outside; and beside the root of the disc of period 3, undecided at 2000.
            let (re, im) = ([-0.1, -1.0, 0.5, -0.124_9], [0.2, 0.1, 0.0, 0.649_6]);
            let found = dwells_of_list(level, settings, &re, &im, false).unwrap();
            assert_eq!((found[0], found[1], found[2], found[3]), (u32::MAX, u32::MAX, 5, 0), "{level:?}");
            let settings = KernelSettings { proved: 0, ..settings };
            assert_eq!(dwells_of_list(level, settings, &re, &im, false).unwrap(), [0, 0, 5, 0], "{level:?}");
        }
    }

    #[test]
    fn interior_points_are_not_iterated() {
        // Points near the boundary that converge so slowly that they do not return to a z within minutes.
        for level in Level::available() {
            let shortcuts = KernelShortcuts { interior: true, cycles: false, traps: false };
            let settings = KernelSettings {
                map: Map::mandelbrot(Recipe::Fused),
                limit: u32::MAX,
                radius_squared: 4.0,
                shortcuts,
                proved: 0,
            };
            let (re, im) = ([-0.7499, 0.249, -1.2499, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.2]);
            assert_eq!(dwells_of_list(level, settings, &re, &im, false), Some(vec![0; 5]));
        }
    }

    #[test]
    fn blocks_of_every_shape() {
        // Numbers of rows and columns around those of vectors and bundles; rotated, so that all four arrays contribute.
        let mut random = Random(9);
        let mut workspace = Workspace::new().unwrap();
        for (width, height) in [(1, 1), (1, 9), (3, 2), (16, 4), (17, 5), (33, 7), (64, 3), (130, 131), (5, 40)] {
            let mut samples = |n: usize, from: f64, step: f64| -> Vec<f64> {
                (0..n).map(|i| from + (i as f64 + random.unit()) * step / n as f64).collect()
            };
            let (re_of_column, im_of_column) = (samples(width, -2.2, 3.0), samples(width, -0.1, 0.2));
            let (re_of_row, im_of_row) = (samples(height, -0.1, 0.2), samples(height, -1.2, 2.4));
            let grid = Grid {
                re_of_column: &re_of_column,
                im_of_column: &im_of_column,
                re_of_row: &re_of_row,
                im_of_row: &im_of_row,
                monotonic: false,
            };
            for level in Level::available() {
                for (limit, shortcuts) in
                    [(3, KernelShortcuts::NONE), (300, KernelShortcuts::NONE), (5000, KernelShortcuts::ALL)]
                {
                    let settings = KernelSettings {
                        map: Map::mandelbrot(Recipe::Fused),
                        limit,
                        radius_squared: 4.0,
                        shortcuts,
                        proved: 0,
                    };
                    let mut dwell = vec![9; width * height];
                    let mut rows: Vec<&mut [u32]> = dwell.chunks_mut(width).collect();
                    let stop = AtomicBool::new(false);
                    assert!(dwells(level, settings, &mut workspace, grid, &mut rows, true, &stop));
                    for (i, dwell) in dwell.iter().enumerate() {
                        let [a, b] = grid.point(i % width, i / width);
                        let expected = naive::escape(&settings.map, [a, b], limit, 4.0);
                        assert_eq!(*dwell, expected.map_or(0, |e| e.dwell), "{width} x {height} at {i}, {limit}");
                        if let Some(end) = expected {
                            let [x, y] = workspace.escaped_z(i / width);
                            assert_eq!((x[i % width], y[i % width]), (end.x, end.y), "{width} x {height} at {i}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn returns_false_once_stop_is_set() {
        for level in Level::available() {
            for a in [0.0, -2.0] {
                let settings = KernelSettings {
                    map: Map::mandelbrot(Recipe::Fused),
                    limit: u32::MAX,
                    radius_squared: 4.0,
                    shortcuts: KernelShortcuts::NONE,
                    proved: 0,
                };
                assert_eq!(dwells_of_list(level, settings, &[a; 64], &[0.0; 64], true), None);
            }
        }
    }
}
