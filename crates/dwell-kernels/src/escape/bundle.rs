//! Bundles: full vectors of points that have not escaped, iterated together with many steps between tests.
//!
//! - z_n is z at step n. A bundle starts with points of one queue (`queues.rs`). All points of a queue are at the same
//!   n, except in [`LONG_QUEUE`].
//! - A *batch* is a run of steps with one test for escape at its end. The test also finds the points that escaped at an
//!   earlier step of the batch (`late.rs`).
//! - A *stage* is a run of batches between two n at which a bundle can be *regrouped*: if too few of its lanes are
//!   alive, the remaining points go to the queue of their n, to be loaded into a bundle with others.
//! - A lane is *alive* or *finished*. It is finished if it holds no point, or if its point has escaped or has entered a
//!   cycle.
//! - A point that escaped within a batch is pushed to the queue of the replay (`replay.rs`), which finds the exact n.

#![expect(clippy::needless_range_loop, reason = "j is the index of the same vector in several arrays")]

use super::attracted::{Candidates, VECTORS, attracted, search_at};
use super::payoff::{STEPS_OF_DISC, STEPS_OF_SEARCH};
use super::queues::{LONG_QUEUE, QueuedPoints, REPLAY, STAGES, WHOLE_VECTORS, all_lanes};
use super::untested_steps::UNTESTED_VECTORS;
use super::{DwellKernel, MAX_BATCH, MAX_BUNDLE, MAX_LANES, PROLOGUE_STEPS, unpack_position};
use crate::level::separately;
use crate::number::Number;
use crate::recipe::Rule;
use crate::returns::closest;
use crate::vector::{Mask, Vector, bits};
use fearless_simd::{Simd, SimdMask};
use std::sync::atomic::Ordering;

/// The number of steps of the longest stage. It bounds the time between two reads of `stop` and the time for which
/// finished lanes are iterated in vain.
const MAX_STAGE: u32 = 4096;
/// A bundle is iterated further while at least this many quarters of its lanes are alive; then it is regrouped.
const MIN_ALIVE_QUARTERS: usize = 3;
/// A bundle of which lanes have entered cycles is iterated further while one lane in this many is alive.
const MOST_PER_ALIVE: usize = 2;
/// If more than one lane in this many of a bundle escapes in a stage, the next bundle in that stage is tested more
/// often.
const MANY_ESCAPES_DIVISOR: usize = 8;
/// The first n at which cycles are tested for. At smaller n, batches are so short that the test would cost more than it
/// saves.
const FIRST_CYCLE_TEST: u32 = 128;
/// The earlier z of a bundle at the start of the stage.
const STAGE_START: usize = 0;
/// The earlier z of a bundle for long cycles. It is replaced when the number of steps since the bundle was loaded has grown
/// by a quarter, so that the time between the two z grows without bound, and with it the length of the cycles found. With a
/// longer time between two replacements, points that enter their cycle soon after one are iterated longer in vain.
const LONG_START: usize = 1;
/// After the earlier z at [`LONG_START`] is replaced at n, z is compared with it after every step for n divided by this number
/// of steps: between batches of 128 steps alone, a cycle of p steps would be found only once 128 p steps have passed, or
/// fewer where p is even. These are at most an eighth of the steps, since n grows by a quarter of the steps until the next
/// replacement, and each has one more comparison.
const WINDOW_DIVISOR: u32 = 32;
/// The least number of steps between tests of a bundle.
const MIN_BATCH: u32 = 8;

/// The number of vectors in a full bundle on a machine with `registers * 16` vector registers, or of the scalar level (0).
///
/// The vectors are independent, so they hide the latency of the multiply-adds: one step of one vector has a latency of
/// 8 cycles, but occupies the multiply-add units for 3 cycles (1.5 in 256 bits). The number is small enough for z of
/// all vectors to stay in registers.
pub(super) const fn full_vectors(registers: usize) -> usize {
    match registers {
        0 => 4,
        1 => 5,
        _ => 8,
    }
}

/// The number of steps of a batch in the stage that begins at `n`: n rounded up to a power of two, or a quarter of it
/// where many points of the last bundle escaped in the stage. At least [`MIN_BATCH`], at most [`MAX_BATCH`].
///
/// A test costs about as much as a step, so batches are long where few points escape. An escape costs a replay of up to
/// the whole batch, so they are shorter where many do.
fn batch_steps(n: u32, many_escapes: bool) -> u32 {
    (if many_escapes { n / 4 } else { n }).clamp(MIN_BATCH, MAX_BATCH).next_power_of_two()
}

/// The queue of points at n, which is at least [`PROLOGUE_STEPS`]. Each octave of n, from a power of two to the next,
/// has four queues, one for each quarter of it. All n from [`MAX_STAGE`] on share [`LONG_QUEUE`].
fn queue_of(n: u32) -> usize {
    if n >= MAX_STAGE {
        return LONG_QUEUE;
    }
    let octave = n.ilog2();
    let quarter = n >> (octave - 2) & 3;
    (4 * (octave - PROLOGUE_STEPS.ilog2()) + quarter) as usize
}

/// The number of steps of the stage that begins at n: up to the next power of two, and [`MAX_STAGE`] from [`MAX_STAGE`]
/// on. Where many points escape, a quarter of the octave of n, or of [`MAX_STAGE`], so that finished lanes are soon
/// replaced.
fn stage_steps(n: u32, many_escapes: bool) -> u32 {
    let octave = n.ilog2().min(MAX_STAGE.ilog2());
    if many_escapes {
        1 << (octave - 2)
    } else if n >= MAX_STAGE {
        MAX_STAGE
    } else {
        (2 << octave) - n
    }
}

/// The buffers of a bundle, aligned with cache lines.
#[repr(C, align(64))]
pub(super) struct Bundle<N> {
    /// Two buffers of z, each a pair of x and y. `z[current]` is z before the current batch, and `z[1 - current]` is z
    /// after it; after each batch `current` changes to the other.
    z: [[[N; MAX_BUNDLE]; 2]; 2],
    /// c = a + ib.
    c: [[N; MAX_BUNDLE]; 2],
    /// Earlier z, with which z is compared to find cycles: that at the start of the stage ([`STAGE_START`]) and that at
    /// [`LONG_START`]. In finished lanes their real parts are NaN, which equals nothing.
    starts: [[[N; MAX_BUNDLE]; 2]; 2],
    /// The position of each point in the block, an integer stored in the bits of a number.
    position: [N; MAX_BUNDLE],
    /// The n at which each point was loaded, an integer stored in the bits of a number.
    n: [N; MAX_BUNDLE],
    /// For each stage, whether many points of the last bundle there escaped.
    pub(super) many_escapes: [bool; STAGES],
}

impl<N: Number> Bundle<N> {
    /// An empty bundle.
    pub(super) fn new() -> Self {
        let zeros = [N::default(); MAX_BUNDLE];
        Self {
            z: [[zeros; 2]; 2],
            c: [zeros; 2],
            starts: [[zeros; 2]; 2],
            position: zeros,
            n: zeros,
            many_escapes: [false; STAGES],
        }
    }
}

/// The number of batches to iterate, and what to test for after each.
#[derive(Clone, Copy)]
struct BatchRun {
    /// The greatest number of batches.
    max_batches: u32,
    /// The steps of each batch.
    steps_per_batch: u32,
    /// The number of earlier z of the bundle that z is compared with, to return when a point may have returned to one
    /// of them: 0, 1 ([`STAGE_START`]), or 2.
    starts: usize,
    /// Whether x is also compared after every step, with that of [`LONG_START`], to end a batch where they are equal.
    every_step: bool,
}

/// The number of batches that were iterated, and why the last of them ended the run.
#[derive(Clone, Copy)]
struct BatchResult {
    /// The number of batches iterated.
    batches: u32,
    /// The number of steps of the last batch.
    last_steps: u32,
    /// Whether a point escaped in the last batch.
    escaped: bool,
    /// Whether a point may have returned to an earlier z of the bundle.
    maybe_cycle: bool,
}

/// The lanes in which some vector equals the numbers of that lane in a buffer.
#[inline(always)]
fn equal<S: Simd, N: Number, const U: usize>(simd: S, x: &[Vector<S, N>; U], buffer: &[N]) -> Mask<S, N> {
    let lanes = Vector::<S, N>::LEN;
    let mut same = x[0].equals(Vector::load(simd, buffer));
    for j in 1..U {
        same |= x[j].equals(Vector::load(simd, &buffer[j * lanes..]));
    }
    same
}

impl<N: Number, R: Rule> DwellKernel<'_, '_, N, R> {
    /// Whether the points that survived the prologue fill a bundle. They wait in two queues: whole vectors in
    /// [`WHOLE_VECTORS`], the rest in queue 0, which holds the points at n = [`PROLOGUE_STEPS`].
    #[inline(always)]
    pub(super) fn has_full_bundle<S: Simd, const REGISTERS: usize>(&self) -> bool {
        let full = full_vectors(REGISTERS) * Vector::<S, N>::LEN;
        self.workspace.queues.len(WHOLE_VECTORS).max(self.workspace.queues.len(0)) >= full
    }

    /// Iterates a full bundle for as long as a queue holds the points of one. The queue with the greatest n comes
    /// first, so that no queue ever holds two bundles. Returns false if `stop` was set.
    #[inline(always)]
    pub(super) fn iterate_full_bundles<S: Simd, const REGISTERS: usize>(&mut self, simd: S) -> bool {
        let full = full_vectors(REGISTERS) * Vector::<S, N>::LEN;
        // `vectorize` compiles this as a separate function with the instructions of the level `S`, instead of inlining
        // it twice: it is called from two places.
        simd.vectorize(
            #[inline(always)]
            || {
                let next_queue = |kernel: &Self| {
                    (0..STAGES).rev().chain([WHOLE_VECTORS]).find(|queue| kernel.workspace.queues.len(*queue) >= full)
                };
                while let Some(queue) = next_queue(self) {
                    if !self.iterate_queued::<S, REGISTERS>(simd, queue, full) {
                        return false;
                    }
                }
                true
            },
        )
    }

    /// Empties all queues at the end of a block: iterates and replays all points, in bundles that need not be full, but for
    /// those that are left ([`super::Workspace::leave_late`]). Returns false if `stop` was set.
    #[inline(always)]
    pub(super) fn finish_queues<S: Simd, const REGISTERS: usize>(&mut self, simd: S) -> bool {
        self.finishes = true;
        let full = full_vectors(REGISTERS) * Vector::<S, N>::LEN;
        // The smallest n first: the points that survive may fill a bundle in a queue of greater n.
        let next_queue = |kernel: &Self| {
            [WHOLE_VECTORS].into_iter().chain(0..STAGES).find(|queue| kernel.workspace.queues.len(*queue) > 0)
        };
        while let Some(queue) = next_queue(self) {
            // All other queues are empty then, so that these are all points that are left.
            if queue == LONG_QUEUE && self.workspace.leave_long_queue() {
                continue;
            }
            let count = self.workspace.queues.len(queue).min(full);
            let completed = simd.vectorize(
                #[inline(always)]
                || self.iterate_queued::<S, REGISTERS>(simd, queue, count),
            );
            if !completed || !self.iterate_full_bundles::<S, REGISTERS>(simd) {
                return false;
            }
        }
        while self.workspace.queues.len(REPLAY) > 0 {
            self.replay(simd);
        }
        true
    }

    /// Iterates the last `count` points of a queue as one bundle, and then replays escaped points while they fill
    /// vectors. Returns false if `stop` was set.
    ///
    /// Empty vectors cost as much as full ones, so the bundle is compiled for several numbers of vectors, up to
    /// [`full_vectors`], and the least that holds the points is taken.
    #[inline(always)]
    fn iterate_queued<S: Simd, const REGISTERS: usize>(&mut self, simd: S, queue: usize, count: usize) -> bool {
        let vectors = count.div_ceil(Vector::<S, N>::LEN);
        let completed = if REGISTERS > 1 {
            if vectors > 4 {
                self.iterate_bundle::<S, 8, false>(simd, Some(queue), count)
            } else if vectors > 2 {
                self.iterate_bundle::<S, 4, false>(simd, Some(queue), count)
            } else {
                self.iterate_bundle::<S, 2, false>(simd, Some(queue), count)
            }
        } else if REGISTERS == 0 {
            // The vectors of the scalar level are pairs or fours of numbers, and bundles of it take the longest to compile.
            self.iterate_bundle::<S, 4, true>(simd, Some(queue), count)
        } else if vectors > 2 {
            self.iterate_bundle::<S, 5, true>(simd, Some(queue), count)
        } else {
            self.iterate_bundle::<S, 2, true>(simd, Some(queue), count)
        };
        self.replay_full_vectors(simd);
        completed
    }

    /// Iterates the last `count` points of a queue, or without one those that the bundle holds already, stage by stage, in a
    /// bundle of `U` vectors, until they have finished or so few are left that regrouping pays. The points left are moved to the queue of the n that they have
    /// reached. Returns false if `stop` was set. `RELOAD` is explained at [`Self::iterate_batches`].
    #[inline(always)]
    fn iterate_bundle<S: Simd, const U: usize, const RELOAD: bool>(
        &mut self,
        simd: S,
        queue: Option<usize>,
        count: usize,
    ) -> bool {
        // `vectorize` compiles this as a separate function with the instructions of the level `S`.
        simd.vectorize(
            #[inline(always)]
            || {
                let lanes = Vector::<S, N>::LEN;
                let limit = self.settings.limit;
                let mut finished = queue.map_or([0; U], |queue| self.load_bundle::<S, U>(simd, queue, count));
                let differing_n = queue == Some(LONG_QUEUE);
                // Whether it has as many vectors as [`full_vectors`], and not fewer for the last points of a block.
                let is_largest = U == 8 || RELOAD && U > 2;
                // The n of all points or, where it differs, the greatest, so that no point is iterated beyond the
                // limit.
                let n = self.workspace.bundle.n[..count].iter().map(|n| n.low_bits()).max().unwrap_or(limit);
                let mut steps_done = 0;
                // The number of steps from which on the z for long cycles is replaced, and up to which it is compared after
                // every step.
                let (mut next_long_start, mut window_end) = (0, 0);
                // `z[current]` of the bundle is z after `steps_done` steps.
                let (mut current, mut alive) = (0, count);
                // The number of lanes that were found to cycle while longer cycles were searched for.
                let mut cycled = 0;
                // No points join those of the last queue when it holds less than a full bundle.
                let whole = if differing_n { count } else { U * lanes };
                // At least one stage, so that a bundle that starts with few points makes progress. Lanes that cycle are
                // kept up to another bound, since regrouping forgets the z that longer cycles are found by.
                while steps_done == 0
                    || (alive + cycled) * 4 >= whole * MIN_ALIVE_QUARTERS && alive * MOST_PER_ALIVE >= whole
                {
                    if self.stop.load(Ordering::Relaxed) {
                        return false;
                    }
                    let at = n + steps_done;
                    let leaves = self.finishes && at >= self.workspace.leaves_from();
                    if at == limit || alive == 0 || leaves && !(is_largest && alive == U * lanes) {
                        break;
                    }
                    let stage = queue_of(at);
                    let many_escapes = self.workspace.bundle.many_escapes[stage];
                    let end = steps_done + stage_steps(at, many_escapes).min(limit - at);
                    let batch = batch_steps(at, many_escapes);
                    let mut escapes = 0;
                    let find_cycles = self.settings.shortcuts.cycles && at >= FIRST_CYCLE_TEST;
                    if find_cycles {
                        self.record_start::<S, U>(simd, STAGE_START, current, &finished);
                    }
                    let find_long_cycles = find_cycles && at >= MAX_STAGE;
                    if find_long_cycles && steps_done >= next_long_start {
                        self.record_start::<S, U>(simd, LONG_START, current, &finished);
                        next_long_start = (steps_done / 4).saturating_mul(5).max(MAX_STAGE);
                        window_end = steps_done.saturating_add(at / WINDOW_DIVISOR);
                    }
                    let starts = usize::from(find_cycles) + usize::from(find_long_cycles);
                    while steps_done < end && alive > 0 {
                        let every_step = find_long_cycles && steps_done < window_end;
                        let run_end = if every_step { end.min(window_end) } else { end };
                        let steps = batch.min(run_end - steps_done);
                        let max_batches = (run_end - steps_done) / steps;
                        let run = BatchRun { max_batches, steps_per_batch: steps, starts, every_step };
                        let result = self.iterate_batches::<S, U, RELOAD>(simd, current, run);
                        // All but the last batch: a point that escaped is queued with z and n before that batch.
                        steps_done += (result.batches - 1) * steps;
                        if result.escaped {
                            escapes +=
                                self.queue_escapes::<S, U>(simd, current, steps_done, differing_n, &mut finished);
                        }
                        if result.maybe_cycle {
                            let found = self.finish_cycles::<S, U>(simd, 1 - current, starts, &mut finished);
                            cycled += if find_long_cycles { found } else { 0 };
                        }
                        if result.escaped || result.maybe_cycle {
                            alive = U * lanes
                                - finished.iter().map(|finished| finished.count_ones() as usize).sum::<usize>();
                        }
                        steps_done += result.last_steps;
                        current = 1 - current;
                    }
                    self.workspace.bundle.many_escapes[stage] = escapes * MANY_ESCAPES_DIVISOR > U * lanes;
                    // At the end of a stage, so that the lanes that are finished here are regrouped at once, and no point is
                    // examined twice.
                    let search = search_at(n + steps_done, limit).filter(|_| self.settings.shortcuts.traps);
                    if let Some(search) = search.filter(|_| alive > 0 && !differing_n)
                        && (self.settings.proved != 0 || self.workspace.payoff.examines(n + steps_done))
                    {
                        let (found, cost) = self.finish_attracted::<S, U>(simd, current, search, &mut finished);
                        alive -= found;
                        self.workspace.payoff.record::<N>(n + steps_done, limit, found, cost);
                    }
                }
                if alive > 0 {
                    self.requeue::<S, U>(simd, current, n + steps_done, steps_done, differing_n, &finished);
                }
                true
            },
        )
    }

    /// Puts a vector of points into the bundle, from lane `at` on.
    #[inline(always)]
    pub(super) fn put_in_bundle<S: Simd>(&mut self, at: usize, points: QueuedPoints<S, N>) {
        let Bundle { z: [[x, y], _], c: [a, b], position, n, .. } = &mut *self.workspace.bundle;
        points.x.store(&mut x[at..]);
        points.y.store(&mut y[at..]);
        points.a.store(&mut a[at..]);
        points.b.store(&mut b[at..]);
        points.position.store(&mut position[at..]);
        points.n.store(&mut n[at..]);
    }

    /// Iterates the points that the bundle holds, in each of its lanes, and then other bundles for as long as a queue holds the
    /// points of one. Returns false if `stop` was set.
    #[inline(always)]
    pub(super) fn iterate_loaded_bundle<S: Simd, const REGISTERS: usize>(&mut self, simd: S) -> bool {
        let completed =
            self.iterate_bundle::<S, UNTESTED_VECTORS, false>(simd, None, UNTESTED_VECTORS * Vector::<S, N>::LEN);
        self.replay_full_vectors(simd);
        completed && self.iterate_full_bundles::<S, REGISTERS>(simd)
    }

    /// Moves the last `count` points of a queue to the bundle. Returns for each vector the lanes that hold no point,
    /// one bit for each lane.
    #[inline(always)]
    fn load_bundle<S: Simd, const U: usize>(&mut self, simd: S, queue: usize, count: usize) -> [u64; U] {
        let lanes = Vector::<S, N>::LEN;
        let from = self.workspace.queues.pop(queue, count);
        let mut empty = [0; U];
        for j in 0..U {
            let at = j * lanes;
            let points: QueuedPoints<S, N> = self.workspace.queues.get(simd, from + at);
            self.put_in_bundle(at, points);
            let occupied = count.saturating_sub(at).min(lanes);
            empty[j] = all_lanes::<S, N>() & !(((1_u128 << occupied) - 1) as u64);
        }
        // Lanes without a point iterate z = c = 0, which never escapes.
        let Bundle { z: [[x, y], _], c: [a, b], .. } = &mut *self.workspace.bundle;
        for buffer in [x, y, a, b] {
            buffer[count..U * lanes].fill(N::default());
        }
        empty
    }

    /// Stores `z[current]` as the earlier z of that index, to find cycles. The real part is NaN in finished lanes.
    #[inline(always)]
    fn record_start<S: Simd, const U: usize>(&mut self, simd: S, start: usize, current: usize, finished: &[u64; U]) {
        let lanes = Vector::<S, N>::LEN;
        let Bundle { z, starts, .. } = &mut *self.workspace.bundle;
        let [start_x, start_y] = &mut starts[start];
        let nan = Vector::<S, N>::splat(simd, N::default() / N::default());
        for j in 0..U {
            let at = j * lanes;
            let finished = Mask::<S, N>::from_bitmask(simd, finished[j]);
            nan.where_else(finished, Vector::load(simd, &z[current][0][at..])).store(&mut start_x[at..]);
            Vector::<S, N>::load(simd, &z[current][1][at..]).store(&mut start_y[at..]);
        }
    }

    /// Iterates batches from `z[current]` on and ends after the first batch in which a point escaped or may have
    /// returned to an earlier z, or after `run.max_batches`. Then `z[1 - current]` is z after the
    /// last batch, and `z[current]` is overwritten with z before the last batch.
    ///
    /// With `RELOAD`, c is read from memory in each step. It is set on machines with 16 registers: there the compiler
    /// would keep c in registers and z on the stack, where each step waits for the store of the step before it.
    #[inline(always)]
    fn iterate_batches<S: Simd, const U: usize, const RELOAD: bool>(
        &mut self,
        simd: S,
        current: usize,
        run: BatchRun,
    ) -> BatchResult {
        let radius_squared = Vector::<S, N>::splat(simd, self.settings.radius_squared);
        let rule = self.rule;
        let Bundle { z: [even, odd], c, starts, .. } = &mut *self.workspace.bundle;
        let ([before_x, before_y], [after_x, after_y]) = if current == 0 { (even, odd) } else { (odd, even) };
        separately(
            simd,
            #[inline(always)]
            || {
                let lanes = Vector::<S, N>::LEN;
                let zero = Vector::<S, N>::splat(simd, N::default());
                let [mut x, mut y, mut a, mut b] = [[zero; U]; 4];
                for j in 0..U {
                    x[j] = Vector::load(simd, &before_x[j * lanes..]);
                    y[j] = Vector::load(simd, &before_y[j * lanes..]);
                    a[j] = Vector::load(simd, &c[0][j * lanes..]);
                    b[j] = Vector::load(simd, &c[1][j * lanes..]);
                }
                macro_rules! step {
                    () => {
                        if RELOAD {
                            let [a, b] = std::hint::black_box(&*c);
                            let load_c =
                                |j: usize| [Vector::load(simd, &a[j * lanes..]), Vector::load(simd, &b[j * lanes..])];
                            rule.step_all(&mut x, &mut y, load_c);
                        } else {
                            rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
                        }
                    };
                }
                let (mut batches, mut last_steps) = (0, run.steps_per_batch);
                loop {
                    if run.every_step {
                        let [long_start, _] = &starts[LONG_START];
                        let mut same = false;
                        last_steps = 0;
                        while last_steps < run.steps_per_batch && !same {
                            step!();
                            same = bits(equal(simd, &x, long_start)) != 0;
                            last_steps += 1;
                        }
                    } else {
                        if run.steps_per_batch % 2 == 1 {
                            step!();
                        }
                        // Two steps in each turn of the loop, so that z alternates between two sets of registers and is not
                        // moved back.
                        for _ in 0..run.steps_per_batch / 2 {
                            step!();
                            step!();
                        }
                    }
                    batches += 1;
                    let mut escaped = R::norm(x[0], y[0]).not_at_most(radius_squared);
                    for j in 1..U {
                        escaped |= R::norm(x[j], y[j]).not_at_most(radius_squared);
                    }
                    let escaped = bits(escaped) != 0;
                    let mut maybe_cycle = false;
                    if run.starts > 0 {
                        // Only x is compared here: it is rarely equal by chance. [`Self::finish_cycles`] compares both
                        // parts.
                        let mut same = equal(simd, &x, &starts[STAGE_START][0]);
                        if run.starts > 1 {
                            same |= equal(simd, &x, &starts[LONG_START][0]);
                        }
                        maybe_cycle = bits(same) != 0;
                    }
                    if escaped || maybe_cycle || batches == run.max_batches {
                        for j in 0..U {
                            x[j].store(&mut after_x[j * lanes..]);
                            y[j].store(&mut after_y[j * lanes..]);
                        }
                        return BatchResult { batches, last_steps, escaped, maybe_cycle };
                    }
                    for j in 0..U {
                        x[j].store(&mut before_x[j * lanes..]);
                        y[j].store(&mut before_y[j * lanes..]);
                    }
                }
            },
        )
    }

    /// The points of the vector that begins at lane `at` of the bundle, with z from `z[current]` and with n
    /// `steps_done` steps after loading. `differing_n` is explained at [`Self::n_after`].
    #[inline(always)]
    fn bundle_points<S: Simd>(
        &self,
        simd: S,
        current: usize,
        at: usize,
        steps_done: u32,
        differing_n: bool,
    ) -> QueuedPoints<S, N> {
        let bundle = &self.workspace.bundle;
        let load = |buffer: &[N]| Vector::<S, N>::load(simd, &buffer[at..]);
        QueuedPoints {
            x: load(&bundle.z[current][0]),
            y: load(&bundle.z[current][1]),
            a: load(&bundle.c[0]),
            b: load(&bundle.c[1]),
            position: load(&bundle.position),
            n: self.n_after(simd, at, steps_done, differing_n),
        }
    }

    /// The n of the points of the vector that begins at lane `at`, `steps_done` steps after they were loaded. Without
    /// `differing_n`, all points of the bundle have the same n, which is computed once.
    #[inline(always)]
    fn n_after<S: Simd>(&self, simd: S, at: usize, steps_done: u32, differing_n: bool) -> Vector<S, N> {
        let n = &self.workspace.bundle.n[at..at + Vector::<S, N>::LEN];
        if !differing_n {
            return Vector::splat(simd, N::from_low_bits(n[0].low_bits().wrapping_add(steps_done)));
        }
        let mut all = [N::default(); MAX_LANES];
        for (all, n) in all.iter_mut().zip(n) {
            *all = N::from_low_bits(n.low_bits().wrapping_add(steps_done));
        }
        Vector::load(simd, &all)
    }

    /// Pushes the points that escaped in the last batch to the replay queue and marks their lanes as finished. They are
    /// queued as they were before the batch: with z from `z[current]`, `steps_done` steps after loading. Returns their
    /// number.
    #[inline(always)]
    fn queue_escapes<S: Simd, const U: usize>(
        &mut self,
        simd: S,
        current: usize,
        steps_done: u32,
        differing_n: bool,
        finished: &mut [u64; U],
    ) -> usize {
        simd.vectorize(
            #[inline(always)]
            || {
                let before = self.workspace.queues.len(REPLAY);
                let lanes = Vector::<S, N>::LEN;
                let radius_squared = Vector::<S, N>::splat(simd, self.settings.radius_squared);
                let zero = Vector::<S, N>::splat(simd, N::default());
                let nan = Vector::<S, N>::splat(simd, N::default() / N::default());
                for j in 0..U {
                    let at = j * lanes;
                    let load = |buffer: &[N]| Vector::<S, N>::load(simd, &buffer[at..]);
                    let bundle = &self.workspace.bundle;
                    let [after_x, after_y] = &bundle.z[1 - current];
                    let escaped = R::norm(load(after_x), load(after_y)).not_at_most(radius_squared);
                    let lanes_escaped = bits(escaped);
                    if lanes_escaped == 0 {
                        continue;
                    }
                    finished[j] |= lanes_escaped;
                    let points = self.bundle_points(simd, current, at, steps_done, differing_n);
                    self.workspace.queues.push(simd, REPLAY, lanes_escaped, points);
                    // A finished lane is iterated further with c = z = 0, which never escapes, and with NaN as its
                    // earlier z, which no z equals.
                    let bundle = &mut *self.workspace.bundle;
                    let [a, b] = &mut bundle.c;
                    let [x, y] = &mut bundle.z[1 - current];
                    for buffer in [x, y, a, b] {
                        zero.where_else(escaped, Vector::load(simd, &buffer[at..])).store(&mut buffer[at..]);
                    }
                    for [start_x, _] in &mut bundle.starts {
                        nan.where_else(escaped, Vector::load(simd, &start_x[at..])).store(&mut start_x[at..]);
                    }
                }
                self.workspace.queues.len(REPLAY) - before
            },
        )
    }

    /// Finishes the lanes whose `z[current]` equals one of the first `starts` earlier z: they are proved never to escape.
    /// Returns their number.
    #[inline(always)]
    fn finish_cycles<S: Simd, const U: usize>(
        &mut self,
        simd: S,
        current: usize,
        starts: usize,
        finished: &mut [u64; U],
    ) -> usize {
        simd.vectorize(
            #[inline(always)]
            || {
                let lanes = Vector::<S, N>::LEN;
                let nan = Vector::<S, N>::splat(simd, N::default() / N::default());
                let mut cycled = 0;
                for j in 0..U {
                    let at = j * lanes;
                    let bundle = &mut *self.workspace.bundle;
                    let z = &bundle.z[current];
                    let same = |start: &[[N; MAX_BUNDLE]; 2], part: usize| {
                        Vector::<S, N>::load(simd, &z[part][at..]).equals(Vector::load(simd, &start[part][at..]))
                    };
                    let mut cycle = same(&bundle.starts[0], 0) & same(&bundle.starts[0], 1);
                    for start in &bundle.starts[1..starts] {
                        cycle |= same(start, 0) & same(start, 1);
                    }
                    finished[j] |= bits(cycle);
                    cycled += bits(cycle).count_ones() as usize;
                    for [start_x, _] in &mut bundle.starts {
                        nan.where_else(cycle, Vector::load(simd, &start_x[at..])).store(&mut start_x[at..]);
                    }
                    if self.settings.proved != 0 {
                        self.write_proved_lanes(at, bits(cycle));
                    }
                }
                cycled
            },
        )
    }

    /// Finishes the lanes whose points are proved never to escape by the discs of [`super::attracted`], from `z[current]`.
    /// Returns their number, and the cost in steps of single points.
    #[inline(always)]
    fn finish_attracted<S: Simd, const U: usize>(
        &mut self,
        simd: S,
        current: usize,
        search: u16,
        finished: &mut [u64; U],
    ) -> (usize, u64) {
        let lanes = Vector::<S, N>::LEN;
        let unfinished = |lane: usize| finished[lane / lanes] >> (lane % lanes) & 1 == 0;
        // The candidates, by their period, so that those examined together take about the same number of steps.
        let mut candidates = [(N::default(), N::default(), 0_u16); MAX_BUNDLE];
        let mut count = 0;
        for first in (0..U).step_by(2) {
            let vectors = [first, (first + 1).min(U - 1)];
            let ([periods, distances], close) = self.returns_of(simd, current, vectors, search);
            for (i, j) in vectors.into_iter().enumerate().take(U - first) {
                for lane in (0..lanes).filter(|lane| close[i] >> lane & 1 == 1 && unfinished(j * lanes + lane)) {
                    candidates[count] = (periods[i][lane], distances[i][lane], (j * lanes + lane) as u16);
                    count += 1;
                }
            }
        }
        let candidates = &mut candidates[..count];
        candidates.sort_unstable_by(|p, q| p.partial_cmp(q).unwrap_or(std::cmp::Ordering::Equal));
        let mut proved = 0;
        let mut cost = STEPS_OF_SEARCH * u64::from(search) * (U * lanes) as u64;
        for together in candidates.chunks(VECTORS * lanes) {
            let (mut found, steps) = self.attracted_lanes(simd, current, together);
            cost += STEPS_OF_DISC * u64::from(steps) * (VECTORS * lanes) as u64;
            proved += found.count_ones() as usize;
            while found != 0 {
                let lane = usize::from(together[found.trailing_zeros() as usize].2);
                found &= found - 1;
                finished[lane / lanes] |= 1 << (lane % lanes);
                for [start_x, _] in &mut self.workspace.bundle.starts {
                    start_x[lane] = N::default() / N::default();
                }
                if self.settings.proved != 0 {
                    self.write_proved_lanes(lane, 1);
                }
            }
        }
        (proved, cost)
    }

    /// [`closest`] for two vectors of the bundle. It is compiled once for bundles of every size, as the next one is.
    #[inline(never)]
    fn returns_of<S: Simd>(
        &self,
        simd: S,
        current: usize,
        vectors: [usize; 2],
        search: u16,
    ) -> ([[[N; MAX_LANES]; 2]; 2], [u64; 2]) {
        separately(
            simd,
            #[inline(always)]
            || {
                let lanes = Vector::<S, N>::LEN;
                let bundle = &*self.workspace.bundle;
                let load = |part: &[N; MAX_BUNDLE]| vectors.map(|j| Vector::<S, N>::load(simd, &part[j * lanes..]));
                let [z, c] = [&bundle.z[current], &bundle.c].map(|[x, y]| [load(x), load(y)]);
                let found = closest(simd, self.rule, z, c, search);
                let mut stored = [[[N::default(); MAX_LANES]; 2]; 2];
                let values = [found.period, found.distance];
                for (values, stored) in values.as_flattened().iter().zip(stored.as_flattened_mut()) {
                    values.store(stored);
                }
                (stored, found.close)
            },
        )
    }

    /// [`attracted`] for lanes of the bundle, each with its period.
    #[inline(never)]
    fn attracted_lanes<S: Simd>(&self, simd: S, current: usize, lanes: &[(N, N, u16)]) -> (u64, u32) {
        let none = [N::default(); VECTORS * MAX_LANES];
        let mut candidates =
            Candidates { z: [none; 2], c: [none; 2], period: none, distance: none, count: lanes.len() };
        let bundle = &*self.workspace.bundle;
        for (i, (period, distance, lane)) in lanes.iter().enumerate() {
            for part in 0..2 {
                candidates.z[part][i] = bundle.z[current][part][usize::from(*lane)];
                candidates.c[part][i] = bundle.c[part][usize::from(*lane)];
            }
            candidates.period[i] = *period;
            candidates.distance[i] = *distance;
        }
        separately(
            simd,
            #[inline(always)]
            || attracted(simd, self.rule, &self.settings, &candidates),
        )
    }

    /// Writes [`KernelSettings::proved`](super::KernelSettings) for lanes of the vector that begins at lane `at` of the bundle,
    /// one bit for each lane.
    #[cold]
    #[inline(never)]
    fn write_proved_lanes(&mut self, at: usize, mut proved: u64) {
        while proved != 0 {
            let lane = proved.trailing_zeros() as usize;
            proved &= proved - 1;
            let (row, column) = unpack_position(self.workspace.bundle.position[at + lane].low_bits());
            self.out[row][column] = self.settings.proved;
        }
    }

    /// Pushes the points of the lanes that are alive, with z from `z[current]`, to the queue of `n`, which is their n
    /// or, with `differing_n`, the greatest of theirs. Points that have reached the limit are dropped: their dwell is
    /// 0, which the prologue has already written.
    #[inline(always)]
    fn requeue<S: Simd, const U: usize>(
        &mut self,
        simd: S,
        current: usize,
        n: u32,
        steps_done: u32,
        differing_n: bool,
        finished: &[u64; U],
    ) {
        let lanes = Vector::<S, N>::LEN;
        let limit = self.settings.limit;
        if n == limit && !differing_n {
            return;
        }
        let queue = queue_of(n);
        for j in 0..U {
            let at = j * lanes;
            let mut survivors = all_lanes::<S, N>() & !finished[j];
            if differing_n {
                for (lane, n) in self.workspace.bundle.n[at..at + lanes].iter().enumerate() {
                    let at_limit = u64::from(n.low_bits().wrapping_add(steps_done) >= limit);
                    survivors &= !(at_limit << lane);
                }
            }
            if survivors == 0 {
                continue;
            }
            let points = self.bundle_points(simd, current, at, steps_done, differing_n);
            self.workspace.queues.push(simd, queue, survivors, points);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_ends_where_a_queue_begins() {
        let mut seen = std::collections::BTreeSet::new();
        let mut at = vec![PROLOGUE_STEPS];
        while let Some(n) = at.pop() {
            if n < MAX_STAGE && seen.insert(n) {
                at.extend([n + stage_steps(n, true), n + stage_steps(n, false)]);
            }
        }
        // Each n at which a bundle can be regrouped has a queue of its own.
        let queues: Vec<usize> = seen.iter().map(|n| queue_of(*n)).collect();
        assert!(queues.iter().copied().eq(0..LONG_QUEUE), "{seen:?} {queues:?}");
        assert_eq!((queue_of(4096), queue_of(5000), queue_of(u32::MAX)), (LONG_QUEUE, LONG_QUEUE, LONG_QUEUE));
        assert_eq!((stage_steps(5000, false), stage_steps(u32::MAX, true)), (4096, 1024));
        assert_eq!([33, 100, 4096, u32::MAX].map(|n| batch_steps(n, false)), [64, 128, 128, 128]);
        assert_eq!([33, 100, 4096, u32::MAX].map(|n| batch_steps(n, true)), [8, 32, 128, 128]);
    }
}
