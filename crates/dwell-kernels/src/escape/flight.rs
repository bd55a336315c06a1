//! Bundles in flight: the survivors, in full vectors, many steps between tests.

#![allow(clippy::needless_range_loop, reason = "j is the same vector in many arrays")]

use super::lists::{LONG, Points, REPLAY, STAGES, WHOLE, all_lanes};
use super::{HEAD, LONGEST_BATCH, MOST_LANES, Run, WIDEST};
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Mask, Vector, bits};
use fearless_simd::{Simd, SimdMask};
use std::sync::atomic::Ordering;

/// Steps of the longest stage: bounds the time between two looks at `stop`, and for how long lanes that are done may
/// idle.
const LONGEST_STAGE: u32 = 4096;
/// A bundle goes on together while at least this part of its lanes, in quarters, is alive; then it is regrouped.
const QUARTERS_TO_GO_ON: usize = 3;
/// A bundle that loses more than one in so many lanes in a stage makes the next one there test more often.
const LOSSY: usize = 8;
/// From this n on cycles are looked for: before, batches are so short that it would cost more than it finds.
const CYCLES_FROM: u32 = 128;

/// Vectors in flight in a full bundle: enough to hide the latency of a multiply-add (8 cycles a step against 3, or 1.5
/// in 256 bits), few enough for z to stay in registers.
const fn full_vectors(registers: usize) -> usize {
    if registers > 1 { 8 } else { 5 }
}

/// Steps between tests from `n` on: a test costs about as much as a step, a replay as much as the batch. Where the last
/// bundle lost many there, a quarter of what suits one that loses none.
fn batch_after(n: u32, lossy: bool) -> u32 {
    (if lossy { n / 4 } else { n }).next_power_of_two().clamp(8, LONGEST_BATCH)
}

/// The queue of those who wait at n, which is at least [`HEAD`].
fn stage_of(n: u32) -> usize {
    let octave = n.ilog2();
    if n >= LONGEST_STAGE { LONG } else { (4 * (octave - HEAD.ilog2()) + (n >> (octave - 2) & 3)) as usize }
}

/// Steps of the stage that begins at n: up to the next power of two, or, where many are lost, to the next quarter of it,
/// so that lanes that are done do not idle for long.
fn stage_after(n: u32, lossy: bool) -> u32 {
    let octave = n.ilog2().min(LONGEST_STAGE.ilog2());
    if lossy {
        1 << (octave - 2)
    } else if n >= LONGEST_STAGE {
        LONGEST_STAGE
    } else {
        (2 << octave) - n
    }
}

/// A bundle, aligned with cache lines.
#[repr(C, align(64))]
pub(super) struct Flight<N> {
    /// z before and after the batch at hand: twice x and y.
    z: [[[N; MOST_LANES]; 2]; 2],
    c: [[N; MOST_LANES]; 2],
    /// z at the start of the stage, which a cycle would come back to; NaN, which equals nothing, in lanes that are gone.
    anchor: [[N; MOST_LANES]; 2],
    place: [N; MOST_LANES],
    n: [N; MOST_LANES],
    /// By stage, whether the last bundle there lost many to escapes.
    lossy: [bool; STAGES],
}

impl<N: Number> Flight<N> {
    pub(super) fn new() -> Self {
        let none = [N::default(); MOST_LANES];
        Self { z: [[none; 2]; 2], c: [none; 2], anchor: [none; 2], place: none, n: none, lossy: [false; STAGES] }
    }
}

/// A part of a flight: how far, and what to look for.
#[derive(Clone, Copy)]
struct Leg {
    /// The most batches.
    batches: u32,
    /// Steps of each.
    steps: u32,
    /// Whether to stop when somebody is back at the anchor.
    find_cycles: bool,
}

/// Where a leg ended.
#[derive(Clone, Copy)]
struct Landing {
    batches: u32,
    /// Somebody has escaped in the last batch.
    escaped: bool,
    /// Somebody may be back at the anchor.
    back: bool,
}

impl<N: Number, M: Rule> Run<'_, '_, N, M> {
    /// Whether survivors of the head fill a bundle.
    #[inline(always)]
    pub(super) fn a_bundle_waits<S: Simd, const REGISTERS: usize>(&self) -> bool {
        let full = full_vectors(REGISTERS) * Vector::<S, N>::LEN;
        self.workspace.lists.len(WHOLE).max(self.workspace.lists.len(0)) >= full
    }

    /// Flies full bundles, the farthest first, so that no queue ever holds two. False when told to stop.
    #[inline(always)]
    pub(super) fn fly_full_bundles<S: Simd, const REGISTERS: usize>(&mut self, simd: S) -> bool {
        let full = full_vectors(REGISTERS) * Vector::<S, N>::LEN;
        // Its own function, though compiled for the level: it is used twice.
        simd.vectorize(
            #[inline(always)]
            || {
                let waiting =
                    |run: &Self| (0..STAGES).rev().chain([WHOLE]).find(|queue| run.workspace.lists.len(*queue) >= full);
                while let Some(queue) = waiting(self) {
                    if !self.fly::<S, REGISTERS>(simd, queue, full) {
                        return false;
                    }
                }
                true
            },
        )
    }

    /// Flies what is left, and replays what is left. False when told to stop.
    #[inline(always)]
    pub(super) fn finish<S: Simd, const REGISTERS: usize>(&mut self, simd: S) -> bool {
        let full = full_vectors(REGISTERS) * Vector::<S, N>::LEN;
        // The nearest first: they may fill up those farther on.
        let waiting =
            |run: &Self| [WHOLE].into_iter().chain(0..STAGES).find(|queue| run.workspace.lists.len(*queue) > 0);
        while let Some(queue) = waiting(self) {
            let count = self.workspace.lists.len(queue).min(full);
            let flown = simd.vectorize(
                #[inline(always)]
                || self.fly::<S, REGISTERS>(simd, queue, count),
            );
            if !flown || !self.fly_full_bundles::<S, REGISTERS>(simd) {
                return false;
            }
        }
        while self.workspace.lists.len(REPLAY) > 0 {
            self.replay(simd);
        }
        true
    }

    /// Takes the last `count` points of a queue, in the narrowest bundle that holds them: empty vectors cost as much as
    /// full ones.
    #[inline(always)]
    fn fly<S: Simd, const REGISTERS: usize>(&mut self, simd: S, queue: usize, count: usize) -> bool {
        let vectors = count.div_ceil(Vector::<S, N>::LEN);
        let flown = if REGISTERS > 1 {
            if vectors > 4 {
                self.fly_bundle::<S, 8, false>(simd, queue, count)
            } else if vectors > 2 {
                self.fly_bundle::<S, 4, false>(simd, queue, count)
            } else {
                self.fly_bundle::<S, 2, false>(simd, queue, count)
            }
        } else if vectors > 2 {
            self.fly_bundle::<S, 5, true>(simd, queue, count)
        } else {
            self.fly_bundle::<S, 2, true>(simd, queue, count)
        };
        self.replay_full_vectors(simd);
        flown
    }

    /// Iterates `count` points of a queue until they are done, or so few that they are better regrouped: those go to the
    /// queue of the n that they have reached.
    #[inline(always)]
    fn fly_bundle<S: Simd, const U: usize, const RELOAD: bool>(&mut self, simd: S, queue: usize, count: usize) -> bool {
        // Its own function, though compiled for the level.
        simd.vectorize(
            #[inline(always)]
            || {
                let lanes = Vector::<S, N>::LEN;
                let limit = self.bounds.limit;
                let mut gone = self.board::<S, U>(simd, queue, count);
                // n of all points, or where they differ the greatest.
                let n = self.workspace.flight.n[..count].iter().map(|n| n.carried()).max().unwrap_or(limit);
                let mut done = 0;
                let mut now = 0;
                let mut alive = count;
                while alive * 4 >= U * lanes * QUARTERS_TO_GO_ON || done == 0 {
                    if self.stop.load(Ordering::Relaxed) {
                        return false;
                    }
                    let at = n + done;
                    if at == limit || alive == 0 {
                        break;
                    }
                    let stage = stage_of(at);
                    let lossy = self.workspace.flight.lossy[stage];
                    let end = done + stage_after(at, lossy).min(limit - at);
                    let batch = batch_after(at, lossy);
                    let mut escapes = 0;
                    let find_cycles = self.bounds.shortcuts.cycles && at >= CYCLES_FROM;
                    if find_cycles {
                        self.drop_anchor::<S, U>(simd, now, &gone);
                    }
                    while done < end && alive > 0 {
                        let steps = batch.min(end - done);
                        let leg = Leg { batches: (end - done) / steps, steps, find_cycles };
                        let landing = self.advance::<S, U, RELOAD>(simd, now, leg);
                        done += (landing.batches - 1) * steps;
                        if landing.escaped {
                            escapes += self.note_escapes::<S, U>(simd, now, done, queue == LONG, &mut gone);
                        }
                        if landing.back {
                            self.note_cycles::<S, U>(simd, 1 - now, &mut gone);
                        }
                        if landing.escaped || landing.back {
                            alive = U * lanes - gone.iter().map(|gone| gone.count_ones() as usize).sum::<usize>();
                        }
                        done += steps;
                        now = 1 - now;
                    }
                    self.workspace.flight.lossy[stage] = escapes * LOSSY > U * lanes;
                }
                if alive > 0 {
                    self.land::<S, U>(simd, now, n + done, done, queue == LONG, &gone);
                }
                true
            },
        )
    }

    /// Takes points off a queue into the flight. Returns the lanes behind the last, by vector, as bits.
    #[inline(always)]
    fn board<S: Simd, const U: usize>(&mut self, simd: S, queue: usize, count: usize) -> [u64; U] {
        let lanes = Vector::<S, N>::LEN;
        let from = self.workspace.lists.pop(queue, count);
        let Flight { z: [[x, y], _], c: [a, b], place, n, .. } = &mut *self.workspace.flight;
        let mut behind = [0; U];
        for j in 0..U {
            let at = j * lanes;
            let points: Points<S, N> = self.workspace.lists.get(simd, from + at);
            points.x.store(&mut x[at..]);
            points.y.store(&mut y[at..]);
            points.a.store(&mut a[at..]);
            points.b.store(&mut b[at..]);
            points.place.store(&mut place[at..]);
            points.n.store(&mut n[at..]);
            let inside = count.saturating_sub(at).min(lanes);
            behind[j] = all_lanes::<S, N>() & !(((1_u128 << inside) - 1) as u64);
        }
        // z = c = 0 never escapes.
        for buffer in [x, y, a, b] {
            buffer[count..U * lanes].fill(N::default());
        }
        behind
    }

    #[inline(always)]
    fn drop_anchor<S: Simd, const U: usize>(&mut self, simd: S, now: usize, gone: &[u64; U]) {
        let lanes = Vector::<S, N>::LEN;
        let Flight { z, anchor: [anchor_x, anchor_y], .. } = &mut *self.workspace.flight;
        let nothing = Vector::<S, N>::splat(simd, N::default() / N::default());
        for j in 0..U {
            let at = j * lanes;
            let gone = Mask::<S, N>::from_bitmask(simd, gone[j]);
            nothing.where_else(gone, Vector::load(simd, &z[now][0][at..])).store(&mut anchor_x[at..]);
            Vector::<S, N>::load(simd, &z[now][1][at..]).store(&mut anchor_y[at..]);
        }
    }

    /// Steps from `z[now]` to `z[1 - now]`, until somebody has escaped or may be back at the anchor. `z[now]` becomes z
    /// before the last batch.
    ///
    /// With `RELOAD`, c is read from memory in each step: the compiler would rather keep it in registers and z on the
    /// stack, where each step waits for the one before it to be stored.
    #[inline(always)]
    fn advance<S: Simd, const U: usize, const RELOAD: bool>(&mut self, simd: S, now: usize, leg: Leg) -> Landing {
        let radius_squared = Vector::<S, N>::splat(simd, self.bounds.radius_squared);
        let rule = self.rule;
        let Flight { z: [even, odd], c, anchor, .. } = &mut *self.workspace.flight;
        let ([before_x, before_y], [after_x, after_y]) = if now == 0 { (even, odd) } else { (odd, even) };
        simd.vectorize(
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
                            let of =
                                |j: usize| [Vector::load(simd, &a[j * lanes..]), Vector::load(simd, &b[j * lanes..])];
                            rule.step_all(&mut x, &mut y, of);
                        } else {
                            rule.step_all(&mut x, &mut y, |j| [a[j], b[j]]);
                        }
                    };
                }
                let mut batches = 0;
                loop {
                    if leg.steps % 2 == 1 {
                        step!();
                    }
                    // Two steps a turn, so that z alternates between two sets of registers and is not moved back.
                    for _ in 0..leg.steps / 2 {
                        step!();
                        step!();
                    }
                    batches += 1;
                    let mut escaped = M::norm(x[0], y[0]).not_at_most(radius_squared);
                    for j in 1..U {
                        escaped |= M::norm(x[j], y[j]).not_at_most(radius_squared);
                    }
                    let escaped = bits(escaped) != 0;
                    let mut back = false;
                    if leg.find_cycles {
                        // x alone first: it is hardly ever the same by chance.
                        let mut same = x[0].equals(Vector::load(simd, &anchor[0]));
                        for j in 1..U {
                            same |= x[j].equals(Vector::load(simd, &anchor[0][j * lanes..]));
                        }
                        back = bits(same) != 0;
                    }
                    if escaped || back || batches == leg.batches {
                        for j in 0..U {
                            x[j].store(&mut after_x[j * lanes..]);
                            y[j].store(&mut after_y[j * lanes..]);
                        }
                        return Landing { batches, escaped, back };
                    }
                    for j in 0..U {
                        x[j].store(&mut before_x[j * lanes..]);
                        y[j].store(&mut before_y[j * lanes..]);
                    }
                }
            },
        )
    }

    /// A vector of the bundle, with z of `z[now]`, `done` steps after it boarded.
    #[inline(always)]
    fn passengers<S: Simd>(&self, simd: S, now: usize, at: usize, done: u32, each_its_own: bool) -> Points<S, N> {
        let flight = &self.workspace.flight;
        let load = |buffer: &[N]| Vector::<S, N>::load(simd, &buffer[at..]);
        Points {
            x: load(&flight.z[now][0]),
            y: load(&flight.z[now][1]),
            a: load(&flight.c[0]),
            b: load(&flight.c[1]),
            place: load(&flight.place),
            n: self.n_after(simd, at, done, each_its_own),
        }
    }

    /// The n of the points of a vector, `done` steps after they boarded.
    #[inline(always)]
    fn n_after<S: Simd>(&self, simd: S, at: usize, done: u32, each_its_own: bool) -> Vector<S, N> {
        let n = &self.workspace.flight.n[at..at + Vector::<S, N>::LEN];
        if !each_its_own {
            return Vector::splat(simd, N::carrying(n[0].carried().wrapping_add(done)));
        }
        let mut all = [N::default(); WIDEST];
        for (all, n) in all.iter_mut().zip(n) {
            *all = N::carrying(n.carried().wrapping_add(done));
        }
        Vector::load(simd, &all)
    }

    /// Notes who has escaped in the batch from `z[now]`, `done` steps after boarding, for the replay. Returns how many.
    #[inline(always)]
    fn note_escapes<S: Simd, const U: usize>(
        &mut self,
        simd: S,
        now: usize,
        done: u32,
        each_its_own: bool,
        gone: &mut [u64; U],
    ) -> usize {
        simd.vectorize(
            #[inline(always)]
            || {
                let before = self.workspace.lists.len(REPLAY);
                let lanes = Vector::<S, N>::LEN;
                let radius_squared = Vector::<S, N>::splat(simd, self.bounds.radius_squared);
                let zero = Vector::<S, N>::splat(simd, N::default());
                let nothing = Vector::<S, N>::splat(simd, N::default() / N::default());
                for j in 0..U {
                    let at = j * lanes;
                    let load = |buffer: &[N]| Vector::<S, N>::load(simd, &buffer[at..]);
                    let flight = &self.workspace.flight;
                    let [after_x, after_y] = &flight.z[1 - now];
                    let escaped = M::norm(load(after_x), load(after_y)).not_at_most(radius_squared);
                    let lanes_escaped = bits(escaped);
                    if lanes_escaped == 0 {
                        continue;
                    }
                    gone[j] |= lanes_escaped;
                    let points = self.passengers(simd, now, at, done, each_its_own);
                    self.workspace.lists.push(simd, REPLAY, lanes_escaped, points);
                    // The lane goes on with c = z = 0, where nothing happens any more.
                    let flight = &mut *self.workspace.flight;
                    let [a, b] = &mut flight.c;
                    let [x, y] = &mut flight.z[1 - now];
                    for buffer in [x, y, a, b] {
                        zero.where_else(escaped, Vector::load(simd, &buffer[at..])).store(&mut buffer[at..]);
                    }
                    let anchor = &mut flight.anchor[0];
                    nothing.where_else(escaped, Vector::load(simd, &anchor[at..])).store(&mut anchor[at..]);
                }
                self.workspace.lists.len(REPLAY) - before
            },
        )
    }

    /// Notes whose `z[now]` is its anchor: their dwell is 0, which the head has written.
    #[inline(always)]
    fn note_cycles<S: Simd, const U: usize>(&mut self, simd: S, now: usize, gone: &mut [u64; U]) {
        simd.vectorize(
            #[inline(always)]
            || {
                let lanes = Vector::<S, N>::LEN;
                let Flight { z, anchor, .. } = &mut *self.workspace.flight;
                let nothing = Vector::<S, N>::splat(simd, N::default() / N::default());
                for j in 0..U {
                    let at = j * lanes;
                    let same = |part: usize| {
                        Vector::<S, N>::load(simd, &z[now][part][at..]).equals(Vector::load(simd, &anchor[part][at..]))
                    };
                    let back = same(0) & same(1);
                    gone[j] |= bits(back);
                    let anchor = &mut anchor[0];
                    nothing.where_else(back, Vector::load(simd, &anchor[at..])).store(&mut anchor[at..]);
                }
            },
        );
    }

    /// Puts those left, at `z[now]`, into the queue of their n.
    #[inline(always)]
    fn land<S: Simd, const U: usize>(
        &mut self,
        simd: S,
        now: usize,
        n: u32,
        done: u32,
        each_its_own: bool,
        gone: &[u64; U],
    ) {
        let lanes = Vector::<S, N>::LEN;
        let limit = self.bounds.limit;
        if n == limit && !each_its_own {
            return;
        }
        let queue = stage_of(n);
        for j in 0..U {
            let at = j * lanes;
            let mut survivors = all_lanes::<S, N>() & !gone[j];
            if each_its_own {
                for (lane, n) in self.workspace.flight.n[at..at + lanes].iter().enumerate() {
                    let over = u64::from(n.carried().wrapping_add(done) >= limit);
                    survivors &= !(over << lane);
                }
            }
            if survivors == 0 {
                continue;
            }
            let points = self.passengers(simd, now, at, done, each_its_own);
            self.workspace.lists.push(simd, queue, survivors, points);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_end_where_others_begin() {
        let mut seen = std::collections::BTreeSet::new();
        let mut at = vec![HEAD];
        while let Some(n) = at.pop() {
            if n < LONGEST_STAGE && seen.insert(n) {
                at.extend([n + stage_after(n, true), n + stage_after(n, false)]);
            }
        }
        // Each n that a bundle can be regrouped at has a queue of its own.
        let queues: Vec<usize> = seen.iter().map(|n| stage_of(*n)).collect();
        assert!(queues.iter().copied().eq(0..LONG), "{seen:?} {queues:?}");
        assert_eq!((stage_of(4096), stage_of(5000), stage_of(u32::MAX)), (LONG, LONG, LONG));
        assert_eq!((stage_after(5000, false), stage_after(u32::MAX, true)), (4096, 1024));
    }
}
