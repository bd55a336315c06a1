//! Dwells of a span of points, bit for bit those of [`crate::naive`].
//!
//! # How
//!
//! 1. *Head.* The first `HEAD` steps are tested every time: most exterior points of most views end here. Several
//!    vectors are in flight, since one alone waits for the latency of its own multiply-adds.
//! 2. *Stages.* The survivors are packed into full vectors. All are at the same n, so n is one scalar and no vector is
//!    spent on counting. Within a stage escape is tested every 8 to 64 steps; when a lane has escaped, the point is noted
//!    with the z saved before the batch. After the stage the points noted are replayed together with a test at every
//!    step, which finds the exact n, and the survivors are packed again, for a stage twice as long.
//! 3. Whoever is left at the limit has dwell 0; and so has, if cycles are looked for, whoever comes back to a z it had
//!    before.
//!
//! # Why a cycle proves dwell 0
//!
//! A step is a function of the bits of z and c alone. If z_m = z_n as computed, m > n, then from n on the orbit repeats
//! for ever what it did between, and none of that escaped. Holds for every formula, recipe and R. Zeros of unlike sign
//! compare equal and may differ in bits; but the sign of a zero part of z only ever decides the sign of zeros in the
//! next z and in |z|^2 (a product or sum that is not zero does not depend on the sign of a zero that goes into it), so
//! the orbits stay equal up to signs of zeros, and so do the tests. z is compared at the end of each batch with its
//! value at the start of the stage, so a cycle is found whose length divides some multiple of 64 within the stage (4096
//! at most); stages double, so that is at most about as many steps after the orbit has settled as it took to settle.
//! Points in the set usually settle within some hundreds of steps, attracted faster than bits last.
//!
//! # Why testing late changes nothing
//!
//! Let u be the unit roundoff, R >= 2, and kappa = [`Number::LATE_TEST_MARGIN`] with 16 u << kappa << 1. The claim: if
//! a point with a >= -2 + 3 kappa has |z_n|^2 > R^2 *as computed* at some n >= 2, then so it has, or is NaN, at every
//! later step. So an escape within a batch is still visible at its end, and the replay finds the first.
//!
//! The point reached n >= 2, so |c|^2 = |z_1|^2 as computed was at most R^2. From |z_n|^2 > R^2 as computed follows
//! |z_n| >= R (1 - 2u). One computed step adds an error of at most a few u |z_n|^2.
//!
//! * |c| <= 2 - kappa. Then |z_{n+1}| is at least |z_n|^2 - |c| - O(u)|z_n|^2, so at least R^2 - 2 + kappa - O(u) R^2.
//!   For R >= 2, R^2 - 2 is at least R, with equality at R = 2 only, where kappa alone exceeds the error: |z_{n+1}| > R
//!   (1 + 4u). The new modulus exceeds R by more than kappa / 2, and the excess at least triples each step (the
//!   derivative 2|z| is at least 4, less rounding), so every later test sees it.
//! * |c| > 2 - kappa and |c + 1| >= 1 + kappa. Then |z_2| = |c||c + 1| is at least |c|(1 + kappa). While |z_m| is that
//!   large, m >= 2, the ratio |z_{m+1}| / |z_m| is at least |z_m| - |c| / |z_m|, so at least (2 - kappa)(1 + kappa) - 1
//!   / (1 + kappa) > 1 + kappa: the modulus grows by a factor beyond any rounding from z_2 on, so once over R it stays
//!   over R.
//! * |c| > 2 - kappa and |c + 1| < 1 + kappa: the neighbourhood of the tip c = -2, where |z| stays at 2 for ever and
//!   rounding decides. Subtracting, |c|^2 - |c + 1|^2 = -2a - 1 > 3 - 6 kappa, so a < -2 + 3 kappa. *These points are
//!   iterated by the plain loop*, every step tested (`pack_new` takes them out).
//!
//! No point at the tip is known for which the late test fails: the plain loop there is for the proof's sake, and costs
//! nothing elsewhere.
//!
//! Infinity and NaN do not come back: an infinite x or y gives NaN or infinity in the next step for either recipe, and
//! both count as escaped. The argument uses z -> z^2 + c and an error O(u) a step only, so it holds for both recipes.
//! It is tested in this file against the plain loop, at the tip of the needle in steps of one ulp among others.
//!
//! # What was tried
//!
//! Fractions of [`crate::peak`], one thread, avx512, f64, no shortcuts, Zen 4; views [-2,1]x[-1,1] 3000x2000 limit
//! 1000, [-1.5,0.5]x[-1,1] 4096^2 limit 512, [-2,2]^2 2048^2 limits 256 and 32 (`dwell render --bounds ... --repeat 8
//! --shortcuts none --stats -` against `dwell peak --threads 1`):
//!
//! | | 1000 | 512 | 256 | 32 |
//! |---|---|---|---|---|
//! | head and stages, batches of 8, a vector with an escape replayed at once | 0.58 | 0.51 | 0.35 | 0.17 |
//! | batches of 8 to 64, two steps a turn | 0.65 | 0.55 | 0.28 | 0.17 |
//! | replays gathered into full vectors, nothing packed where nothing escaped | 0.67 | 0.57 | 0.36 | 0.17 |
//! | packing and replays work from memory, not from arrays of registers indexed by a variable | 0.70 | 0.61 | 0.42 | 0.20 |
//! | a head of 24 steps instead of 16; workspaces kept | 0.71 | 0.63 | 0.43 | 0.22 |
//!
//! Lost: a head of 8 (0.66 0.56 0.39 0.19), 12 (0.70 0.60 0.41 0.20) or 32 steps (better but for f32 at limit 256); a
//! head that forgets who has escaped, since a later test sees it too, and looks every fourth step whether anybody is
//! left (0.71 0.62 0.40 0.19: the steps that it does for nobody cost more than the masks); stages of at most 2^10 steps
//! (more packing than they save) and 2^14 (lanes that end early idle for too long; with cycles looked for, 1.1 times
//! the time of 2^12 at limit 100,000). What limits the rest: the inner loop runs at the peak and has 70 % of the time
//! on the second view; the head, whose tests use the multiply-add pipes as much as its steps do, and packing have the
//! rest.

use crate::level::{Kernel, Level};
use crate::naive;
use crate::number::Number;
use crate::real::Real;
use crate::recipe::{Recipe, Roundings, with_recipe};
use crate::vector::{Mask, Vector, bits};
use fearless_simd::{Simd, SimdMask};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of the head, each tested.
const HEAD: u32 = 24;
/// The most steps between tests in a stage.
const LONGEST_BATCH: u32 = 64;
/// The longest stage: bounds the time between two looks at `stop` to about a millisecond.
const LONGEST_STAGE: u32 = 1 << 12;
/// From this n on cycles are looked for: before, batches are so short that it would cost more than it finds.
const CYCLES_FROM: u32 = 128;
/// Slack behind every buffer so that whole vectors may be loaded and stored: the widest bundle (8 vectors of 16 f32).
const SLACK: usize = 8 * WIDEST;
/// Lanes of the widest vector: 16 f32 in 512 bits.
const WIDEST: usize = 16;
/// Lanes of the head's vectors together.
const MOST_LANES: usize = 4 * WIDEST;

/// Steps between tests in a stage from `n` on: a test costs about as much as a step, a replay as much as the batch; the
/// later, the rarer escapes are.
fn batch_after(n: u32) -> u32 {
    (n / 4).next_power_of_two().clamp(8, LONGEST_BATCH)
}

/// Buffers for spans of up to a fixed number of points, kept by a thread for as long as it works.
pub struct Workspace<N> {
    len: usize,
    re: Vec<N>,
    im: Vec<N>,
    x: Vec<N>,
    y: Vec<N>,
    /// The points still iterating, packed: all at the same n.
    stage: Packed<N>,
    /// Points that escaped within a batch, with the z saved before it.
    replay: Packed<N>,
    /// The n of that z.
    replay_n: Vec<u32>,
}

/// Points in full vectors: z, c and the place in the span.
struct Packed<N> {
    len: usize,
    x: Vec<N>,
    y: Vec<N>,
    a: Vec<N>,
    b: Vec<N>,
    index: Vec<u32>,
}

impl<N> std::fmt::Debug for Workspace<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<N: Number> Workspace<N> {
    /// A workspace for spans of up to `capacity` points.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let zeros = || vec![N::default(); capacity + SLACK];
        Self {
            len: 0,
            re: zeros(),
            im: zeros(),
            x: zeros(),
            y: zeros(),
            stage: Packed::new(capacity),
            replay: Packed::new(capacity),
            replay_n: vec![0; capacity + SLACK],
        }
    }

    /// Starts a span of `len` points: the real and imaginary parts of c, to be filled by the caller.
    ///
    /// # Panics
    /// When `len` is above the capacity.
    pub fn points(&mut self, len: usize) -> (&mut [N], &mut [N]) {
        assert!(len + SLACK <= self.re.len(), "a span of {len} points is above the workspace's capacity");
        self.len = len;
        (&mut self.re[..len], &mut self.im[..len])
    }

    /// c and, where [`crate::Kernels::dwells`] was asked to keep it and the point escaped, z_n: re c, im c, x, y.
    #[must_use]
    pub fn ends(&self) -> [&[N]; 4] {
        [&self.re[..self.len], &self.im[..self.len], &self.x[..self.len], &self.y[..self.len]]
    }

    /// As [`Self::ends`] with the slack behind, so that whole vectors can be loaded.
    pub(crate) fn whole(&self) -> [&[N]; 4] {
        [&self.re, &self.im, &self.x, &self.y]
    }
}

/// What to iterate to.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<N> {
    /// The order of roundings.
    pub recipe: Recipe,
    /// The greatest n tried, at least 1.
    pub limit: u32,
    /// R^2, R >= 2.
    pub radius_squared: N,
    /// Whether to look for cycles and spare them the rest of the iterations.
    pub find_cycles: bool,
}

/// [`crate::Kernels::dwells`] for either number.
pub(crate) fn dwells<N: Number>(
    level: Level,
    bounds: Bounds<N>,
    workspace: &mut Workspace<N>,
    dwell: &mut [u32],
    keep_ends: bool,
    stop: &AtomicBool,
) -> bool {
    assert_eq!(dwell.len(), workspace.len, "one dwell for each point");
    assert!(bounds.radius_squared.to_f64() >= 4.0, "testing late is exact for R >= 2 only");
    with_recipe!(bounds.recipe, R => {
        level.run(Run::<N, R> { bounds, workspace, dwell, keep_ends, stop, recipe: PhantomData })
    })
}

struct Run<'a, N, R> {
    bounds: Bounds<N>,
    workspace: &'a mut Workspace<N>,
    dwell: &'a mut [u32],
    keep_ends: bool,
    stop: &'a AtomicBool,
    recipe: PhantomData<R>,
}

impl<N: Number, R: Roundings> Kernel for Run<'_, N, R> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(mut self, simd: S) -> bool {
        let finished = if self.keep_ends { self.head::<S, 4, true>(simd) } else { self.head::<S, 4, false>(simd) };
        if !finished {
            return false;
        }
        let mut n = HEAD;
        let mut steps = HEAD;
        while n < self.bounds.limit && self.workspace.stage.len > 0 {
            let steps_here = steps.min(self.bounds.limit - n);
            let finished = if REGISTERS > 1 {
                self.stage::<S, 8>(simd, n, steps_here)
            } else {
                self.stage::<S, 4>(simd, n, steps_here)
            };
            if !finished {
                return false;
            }
            // Its own function, though compiled for the level: it is rare.
            simd.vectorize(
                #[inline(always)]
                || {
                    if self.keep_ends {
                        self.replay::<S, 4, true>(simd, batch_after(n));
                    } else {
                        self.replay::<S, 4, false>(simd, batch_after(n));
                    }
                },
            );
            n += steps_here;
            steps = (2 * steps).min(LONGEST_STAGE);
        }
        true
    }
}

/// What [`Run::watch`] finds, by lane.
struct Watched<S: Simd, N: Number, const U: usize> {
    /// z at the escape, if it is kept; otherwise of no use where the point escaped.
    x: [Vector<S, N>; U],
    y: [Vector<S, N>; U],
    /// Tests survived, as numbers: exact up to 2^24.
    count: [Vector<S, N>; U],
    /// Lanes that survived all.
    alive: [Mask<S, N>; U],
}

impl<N: Number, R: Roundings> Run<'_, N, R> {
    /// Tests z, and again after each of `steps` steps, unless all have escaped before. With `ENDS`, a point that has
    /// escaped keeps its z.
    #[inline(always)]
    fn watch<S: Simd, const U: usize, const ENDS: bool>(
        &self,
        simd: S,
        steps: u32,
        [mut x, mut y, a, b]: [[Vector<S, N>; U]; 4],
    ) -> Watched<S, N, U> {
        let radius_squared = Vector::<S, N>::splat(simd, self.bounds.radius_squared);
        let one = Vector::<S, N>::splat(simd, N::from(1_u8));
        let mut count = [Vector::<S, N>::splat(simd, N::from(0_u8)); U];
        let mut alive = [!radius_squared.not_at_most(radius_squared); U];
        let mut step = 0;
        loop {
            let mut any = alive[0];
            for j in 0..U {
                alive[j] &= !R::norm(x[j], y[j]).not_at_most(radius_squared);
                count[j] = count[j].add(one).where_else(alive[j], count[j]);
                any = if j == 0 { alive[0] } else { any | alive[j] };
            }
            if step == steps || bits(any) == 0 {
                return Watched { x, y, count, alive };
            }
            for j in 0..U {
                let (next_x, next_y) = R::step(x[j], y[j], a[j], b[j]);
                if ENDS {
                    x[j] = next_x.where_else(alive[j], x[j]);
                    y[j] = next_y.where_else(alive[j], y[j]);
                } else {
                    (x[j], y[j]) = (next_x, next_y);
                }
            }
            step += 1;
        }
    }

    /// The first [`HEAD`] steps of every point; the survivors are packed. `U` vectors are in flight.
    #[inline(always)]
    fn head<S: Simd, const U: usize, const ENDS: bool>(&mut self, simd: S) -> bool {
        let lanes = Vector::<S, N>::LEN;
        let len = self.workspace.len;
        let one = Vector::<S, N>::splat(simd, N::from(1_u8));
        let zero = Vector::<S, N>::splat(simd, N::from(0_u8));
        let last = HEAD.min(self.bounds.limit);
        self.workspace.stage.len = 0;
        self.workspace.replay.len = 0;
        // Whole vectors are computed past the end: their c is 0, which never escapes and is not packed.
        self.workspace.re[len..len + U * lanes].fill(N::from(0_u8));
        self.workspace.im[len..len + U * lanes].fill(N::from(0_u8));

        let mut at = 0;
        while at < len {
            let a: [_; U] = std::array::from_fn(|j| Vector::load(simd, &self.workspace.re[at + j * lanes..]));
            let b: [_; U] = std::array::from_fn(|j| Vector::load(simd, &self.workspace.im[at + j * lanes..]));
            let Watched { x, y, count, alive } = self.watch::<S, U, ENDS>(simd, last - 1, [a, b, a, b]);
            // Everything to memory first: what follows is rare or by lane, and registers cannot be indexed.
            let mut dwell = [0_u32; MOST_LANES];
            let mut survivors = [0_u64; U];
            for j in 0..U {
                // The first test is at n = 1, so who survives k of them escapes at k + 1.
                small_counts(zero.where_else(alive[j], count[j].add(one)), &mut dwell[j * lanes..(j + 1) * lanes]);
                x[j].store(&mut self.workspace.x[at + j * lanes..]);
                y[j].store(&mut self.workspace.y[at + j * lanes..]);
                survivors[j] = bits(alive[j]);
            }
            let here = (U * lanes).min(len - at);
            self.dwell[at..at + here].copy_from_slice(&dwell[..here]);
            if last == HEAD {
                for (j, survivors) in survivors.into_iter().enumerate() {
                    let from = at + j * lanes;
                    let survivors = survivors & !behind_the_end(here, j * lanes, lanes);
                    if survivors != 0 && !self.pack(simd, from, survivors) {
                        return false;
                    }
                }
            }
            at += U * lanes;
        }
        true
    }

    /// Packs the survivors of the head; those at the tip of the needle are finished by the plain loop instead.
    #[inline(always)]
    fn pack<S: Simd>(&mut self, simd: S, from: usize, survivors: u64) -> bool {
        let three_kappa = N::LATE_TEST_MARGIN * N::from(3_u8);
        let tip = Vector::<S, N>::splat(simd, N::from(-2_i8) + three_kappa);
        let at_the_tip = bits(Vector::load(simd, &self.workspace.re[from..]).less(tip)) & survivors;
        if at_the_tip != 0 && !self.finish_plainly(from, at_the_tip) {
            return false;
        }
        let Workspace { re, im, x, y, stage, .. } = &mut *self.workspace;
        let state = [x, y, re, im].map(|buffer| Vector::load(simd, &buffer[from..]));
        let first = u32::try_from(from).unwrap_or(u32::MAX);
        let points = std::array::from_fn(|lane| first + lane as u32);
        stage.len = stage.put(simd, stage.len, survivors & !at_the_tip, points, state);
        true
    }

    /// Iterates the points `which` (bits, from point `from` on) by the plain loop. False when told to stop.
    #[cold]
    fn finish_plainly(&mut self, from: usize, which: u64) -> bool {
        for i in (0..64).filter(|i| which >> i & 1 == 1).map(|i| from + i) {
            let (a, b) = (self.workspace.re[i], self.workspace.im[i]);
            let halt = || self.stop.load(Ordering::Relaxed);
            match naive::run::<N, R>(a, b, self.bounds.limit, self.bounds.radius_squared, halt) {
                Some(end) => {
                    self.dwell[i] = end.dwell;
                    self.workspace.x[i] = end.x;
                    self.workspace.y[i] = end.y;
                }
                None if halt() => return false,
                None => {}
            }
        }
        true
    }

    /// `steps` steps from n for every point of the stage; those left are packed again. At most `U` vectors in flight.
    #[inline(always)]
    fn stage<S: Simd, const U: usize>(&mut self, simd: S, n: u32, steps: u32) -> bool {
        let lanes = Vector::<S, N>::LEN;
        let len = self.workspace.stage.len;
        self.workspace.stage.pad(U * lanes);
        let mut at = 0;
        let mut kept = 0;
        while at < len {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            // The narrowest bundle that holds what is left: empty vectors cost as much as full ones.
            let left = (len - at).div_ceil(lanes);
            let width;
            (width, kept) = if left > 4 && U >= 8 {
                (8, self.bundle::<S, 8>(simd, n, steps, at, kept))
            } else if left > 2 {
                (4, self.bundle::<S, 4>(simd, n, steps, at, kept))
            } else {
                (2, self.bundle::<S, 2>(simd, n, steps, at, kept))
            };
            at += width * lanes;
        }
        self.workspace.stage.len = kept;
        true
    }

    /// `steps` steps for `U` vectors from position `at` of the stage; survivors go to position `kept` on, which is at
    /// most `at`. Returns the position after them.
    #[inline(always)]
    fn bundle<S: Simd, const U: usize>(&mut self, simd: S, n: u32, steps: u32, at: usize, kept: usize) -> usize {
        let lanes = Vector::<S, N>::LEN;
        let radius_squared = Vector::<S, N>::splat(simd, self.bounds.radius_squared);
        let zero = Vector::<S, N>::splat(simd, N::from(0_u8));
        let Workspace { stage, replay, replay_n, .. } = &mut *self.workspace;
        let load = |buffer: &[N]| -> [Vector<S, N>; U] {
            let buffer = &buffer[at..at + U * lanes];
            std::array::from_fn(|j| Vector::load(simd, &buffer[j * lanes..]))
        };
        let [mut x, mut y, mut a, mut b] = [load(&stage.x), load(&stage.y), load(&stage.a), load(&stage.b)];
        let all = (stage.len - at).min(U * lanes);
        let mut alive = all;
        // Lanes that need no more steps: escaped, in a cycle, or behind the end.
        let mut gone_by_vector: [u64; U] = std::array::from_fn(|j| behind_the_end(all, j * lanes, lanes));
        // z at the start of the stage, NaN in lanes that are gone: equal to nothing.
        let nan = Vector::<S, N>::splat(simd, N::default() / N::default());
        let find_cycles = self.bounds.find_cycles && n >= CYCLES_FROM;
        let (mut anchor_x, anchor_y) = (x, y);
        for j in 0..U {
            if gone_by_vector[j] != 0 {
                anchor_x[j] = nan.where_else(Mask::<S, N>::from_bitmask(simd, gone_by_vector[j]), anchor_x[j]);
            }
        }
        let batch_length = batch_after(n);
        let mut done = 0;
        while done < steps && alive > 0 {
            let batch = batch_length.min(steps - done);
            // Two steps a turn, so that z alternates between two sets of registers and is not moved back.
            for _ in 0..batch / 2 {
                for _ in 0..2 {
                    for j in 0..U {
                        (x[j], y[j]) = R::step(x[j], y[j], a[j], b[j]);
                    }
                }
            }
            if batch % 2 == 1 {
                for j in 0..U {
                    (x[j], y[j]) = R::step(x[j], y[j], a[j], b[j]);
                }
            }
            let mut any = R::norm(x[0], y[0]).not_at_most(radius_squared);
            for j in 1..U {
                any |= R::norm(x[j], y[j]).not_at_most(radius_squared);
            }
            if bits(any) != 0 {
                for j in 0..U {
                    let gone = R::norm(x[j], y[j]).not_at_most(radius_squared);
                    let gone_bits = bits(gone);
                    if gone_bits == 0 {
                        continue;
                    }
                    alive -= gone_bits.count_ones() as usize;
                    gone_by_vector[j] |= gone_bits;
                    // Its own function, though compiled for the level: it would be repeated for each j.
                    simd.vectorize(
                        #[inline(always)]
                        || replay.take(simd, stage, at + j * lanes, gone_bits, replay_n, n + done),
                    );
                    // The lane goes on with c = z = 0, where nothing happens any more.
                    x[j] = zero.where_else(gone, x[j]);
                    y[j] = zero.where_else(gone, y[j]);
                    a[j] = zero.where_else(gone, a[j]);
                    b[j] = zero.where_else(gone, b[j]);
                    anchor_x[j] = nan.where_else(gone, anchor_x[j]);
                }
            }
            if find_cycles {
                let mut any = x[0].equals(anchor_x[0]) & y[0].equals(anchor_y[0]);
                for j in 1..U {
                    any |= x[j].equals(anchor_x[j]) & y[j].equals(anchor_y[j]);
                }
                if bits(any) != 0 {
                    for j in 0..U {
                        let back = x[j].equals(anchor_x[j]) & y[j].equals(anchor_y[j]);
                        // The head has written their dwell: 0.
                        alive -= bits(back).count_ones() as usize;
                        gone_by_vector[j] |= bits(back);
                        anchor_x[j] = nan.where_else(back, anchor_x[j]);
                    }
                }
            }
            // From here the next replay starts.
            let (to_x, to_y) = (&mut stage.x[at..at + U * lanes], &mut stage.y[at..at + U * lanes]);
            for j in 0..U {
                x[j].store(&mut to_x[j * lanes..]);
                y[j].store(&mut to_y[j * lanes..]);
            }
            done += batch;
        }
        if alive == all && kept == at {
            // Nothing moves.
            return at + all;
        }
        if alive == 0 {
            return kept;
        }
        simd.vectorize(
            #[inline(always)]
            || stage.close_up(simd, at, kept, &gone_by_vector),
        )
    }

    /// Finds the exact n of the points noted, each of which escapes within `batch` steps.
    #[inline(always)]
    fn replay<S: Simd, const U: usize, const ENDS: bool>(&mut self, simd: S, batch: u32) {
        let lanes = Vector::<S, N>::LEN;
        let len = self.workspace.replay.len;
        self.workspace.replay.pad(U * lanes);
        let mut at = 0;
        while at < len {
            let replay = &self.workspace.replay;
            let load = |buffer: &[N]| -> [Vector<S, N>; U] {
                let buffer = &buffer[at..at + U * lanes];
                std::array::from_fn(|j| Vector::load(simd, &buffer[j * lanes..]))
            };
            let state = [load(&replay.x), load(&replay.y), load(&replay.a), load(&replay.b)];
            // The padding never escapes: without a bound of its own it would run to the end of the batch.
            let Watched { x, y, count, .. } = self.watch::<S, U, ENDS>(simd, batch, state);
            for j in 0..U {
                let from = at + j * lanes;
                let here = lanes.min(len.saturating_sub(from));
                let mut counts = [0_u32; WIDEST];
                small_counts(count[j], &mut counts[..lanes]);
                for (lane, count) in counts[..here].iter().enumerate() {
                    let point = self.workspace.replay.index[from + lane] as usize;
                    // The first test is of the saved z, at n; who survives k tests escapes at n + k.
                    self.dwell[point] = self.workspace.replay_n[from + lane] + count;
                    if ENDS {
                        self.workspace.x[point] = x[j].0[lane];
                        self.workspace.y[point] = y[j].0[lane];
                    }
                }
            }
            at += U * lanes;
        }
        self.workspace.replay.len = 0;
    }
}

impl<N: Number> Packed<N> {
    fn new(capacity: usize) -> Self {
        let zeros = || vec![N::default(); capacity + SLACK];
        Self { len: 0, x: zeros(), y: zeros(), a: zeros(), b: zeros(), index: vec![0; capacity + SLACK] }
    }

    /// Makes the `count` points behind the end harmless: z = c = 0 never escapes.
    fn pad(&mut self, count: usize) {
        let behind = self.len..self.len + count;
        for buffer in [&mut self.x, &mut self.y, &mut self.a, &mut self.b] {
            buffer[behind.clone()].fill(N::default());
        }
    }

    /// Moves the points of the vectors from position `at` on, less the lanes `gone`, to position `kept` on, which is at
    /// most `at`. Returns the position after them. Lanes behind the end count as gone.
    #[inline(always)]
    fn close_up<S: Simd>(&mut self, simd: S, at: usize, kept: usize, gone: &[u64]) -> usize {
        let lanes = Vector::<S, N>::LEN;
        let mut kept = kept;
        for (j, gone) in gone.iter().enumerate() {
            let survivors = !gone & (u64::MAX >> (64 - lanes));
            if survivors != 0 {
                let (points, state) = self.get(simd, at + j * lanes);
                kept = self.put(simd, kept, survivors, points, state);
            }
        }
        kept
    }

    /// Appends the lanes `chosen` of a vector of another list, which is at `n`.
    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, from: &Self, at: usize, chosen: u64, ns: &mut [u32], n: u32) {
        let (points, state) = from.get(simd, at);
        let end = self.put(simd, self.len, chosen, points, state);
        ns[self.len..end].fill(n);
        self.len = end;
    }

    /// The vector at a position: places in the span, and z and c.
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, at: usize) -> ([u32; WIDEST], [Vector<S, N>; 4]) {
        let points = std::array::from_fn(|lane| self.index[at + lane]);
        (points, [&self.x, &self.y, &self.a, &self.b].map(|buffer| Vector::load(simd, &buffer[at..])))
    }

    /// Puts the lanes `chosen`, whose places in the span are `points[lane]`, at position `to` on. Returns the position
    /// after them. Whole vectors are written; what lies behind the last one is overwritten later or past the end.
    #[inline(always)]
    fn put<S: Simd>(
        &mut self,
        simd: S,
        to: usize,
        chosen: u64,
        points: [u32; WIDEST],
        state: [Vector<S, N>; 4],
    ) -> usize {
        let lanes = Vector::<S, N>::LEN;
        let buffers = [&mut self.x, &mut self.y, &mut self.a, &mut self.b];
        if chosen == u64::MAX >> (64 - lanes) {
            for (vector, buffer) in state.into_iter().zip(buffers) {
                vector.store(&mut buffer[to..]);
            }
            self.index[to..to + lanes].copy_from_slice(&points[..lanes]);
            return to + lanes;
        }
        let mask = Mask::<S, N>::from_bitmask(simd, chosen);
        for (vector, buffer) in state.into_iter().zip(buffers) {
            vector.compress(mask).store(&mut buffer[to..]);
        }
        let mut left = chosen;
        let mut end = to;
        while left != 0 {
            self.index[end] = points[left.trailing_zeros() as usize];
            left &= left - 1;
            end += 1;
        }
        end
    }
}

/// The lanes, as bits, of the vector of `lanes` lanes from lane `first` on that are not among the first `all`.
fn behind_the_end(all: usize, first: usize, lanes: usize) -> u64 {
    let inside = all.saturating_sub(first).min(lanes);
    let vector = u64::MAX >> (64 - lanes);
    if inside == 0 { vector } else { vector & !(u64::MAX >> (64 - inside)) }
}

/// Whole numbers below 2^20, held exactly, as integers: added to 2^52 (2^23) they stand in the low bits of the
/// significand.
#[inline(always)]
fn small_counts<S: Simd, N: Number>(counts: Vector<S, N>, out: &mut [u32]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = counts.0[i].small_to_u32();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::LevelName;

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

    /// Every level and recipe against the plain loop, dwell and z_n, on these points.
    fn check<N: Cast>(points: &[(N, N)], limit: u32, radius: f64) {
        let stop = AtomicBool::new(false);
        let mut workspace = Workspace::new(points.len());
        for recipe in Recipe::ALL {
            let radius_squared = N::of(radius * radius);
            let expected: Vec<_> =
                points.iter().map(|&(a, b)| naive::escape(recipe, a, b, limit, radius_squared)).collect();
            for level in Level::available() {
                for (keep_ends, find_cycles) in [(false, false), (true, false), (true, true)] {
                    let bounds = Bounds { recipe, limit, radius_squared, find_cycles };
                    let (re, im) = workspace.points(points.len());
                    for (i, &(a, b)) in points.iter().enumerate() {
                        (re[i], im[i]) = (a, b);
                    }
                    let mut dwell = vec![77; points.len()];
                    assert!(dwells(level, bounds, &mut workspace, &mut dwell, keep_ends, &stop));
                    let [_, _, x, y] = workspace.ends();
                    for (i, e) in expected.iter().enumerate() {
                        let what =
                            format!("{} {level:?} {recipe:?} limit {limit} R {radius} at {:?}", N::NAME, points[i]);
                        assert_eq!(dwell[i], e.map_or(0, |e| e.dwell), "{what}");
                        if let (true, Some(e)) = (keep_ends, e) {
                            let same = |p: N, q: N| p == q || (p.to_f64().is_nan() && q.to_f64().is_nan());
                            assert!(same(x[i], e.x) && same(y[i], e.y), "{what}");
                        }
                    }
                }
            }
        }
    }

    fn both(points: &[(f64, f64)], limit: u32, radius: f64) {
        check::<f64>(points, limit, radius);
        let narrow: Vec<_> = points.iter().map(|&(a, b)| (f32::of(a), f32::of(b))).collect();
        check::<f32>(&narrow, limit, radius);
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

    #[test]
    fn a_cycle_spares_the_rest() {
        // Three points that settle on cycles of 1, 2 and 3: at the greatest limit this ends only if that is noticed.
        for level in Level::available() {
            let mut workspace = Workspace::<f64>::new(3);
            let (re, im) = workspace.points(3);
            re.copy_from_slice(&[-0.1, -1.05, -0.12]);
            im.copy_from_slice(&[0.2, 0.02, 0.74]);
            let bounds = Bounds { recipe: Recipe::Fused, limit: u32::MAX, radius_squared: 4.0, find_cycles: true };
            let mut dwell = [7; 3];
            assert!(dwells(level, bounds, &mut workspace, &mut dwell, false, &AtomicBool::new(false)));
            assert_eq!(dwell, [0; 3]);
        }
    }

    #[test]
    fn gives_up_when_told() {
        let stop = AtomicBool::new(true);
        for name in LevelName::ALL {
            let Some(level) = Level::get(name) else { continue };
            for a in [0.0, -2.0] {
                let mut workspace = Workspace::<f64>::new(64);
                workspace.points(64).0.fill(a);
                let bounds = Bounds { recipe: Recipe::Fused, limit: u32::MAX, radius_squared: 4.0, find_cycles: false };
                assert!(!dwells(level, bounds, &mut workspace, &mut [0; 64], false, &stop));
            }
        }
    }
}
