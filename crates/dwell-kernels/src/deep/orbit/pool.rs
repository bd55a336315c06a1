//! Many orbits at once, in vectors.
//!
//! Orbits begin in groups of neighbours (`group.rs`). Where those part, orbits lie in columns, by what is next: a block, or steps up to the next m at which a
//! block may begin, which is at most four. A round works off both lists in whole vectors, so that lanes are in use whatever the orbits do, and sorts the
//! results into the lists of the next round. What is rare, an escape, a rebase, the limit, or a delta below the range of f64, is done one orbit at a time.
//!
//! What was tried before there were groups, as times of one core (Zen 5, 512 bits) for a pixel of shallow-seahorse-1e13 and of rf-flake with blocks of 2^-26, in microseconds;
//! one orbit at a time takes 2.24 and 1.24:
//!
//! - vectors whose lanes wait for each other's branches, sorted anew for every four steps: 2.17, 0.91;
//! - blocks looked up by vectors of radii and transposed by zips instead of gathered number by number: 1.41, 0.67;
//! - blocks from m = 0 to the end of the reference (`blocks/path.rs`): 1.41, 0.62; and 2.0 in place of 5.1 at fs-view11;
//! - vectors that stay together as long as six of eight orbits go on in the same way: no gain, since the branches are mispredicted;
//! - lists of marks instead of branches, and windows of the reference instead of an index for each step: 1.37, 0.60;
//! - two vectors side by side in each operation: 1.34, 0.59, and twice the code;
//! - arrays that are filled lane by lane and then loaded as vectors wait for their stores: up to 1.6 times the time.

use super::group::{self, Groups};
use super::operations::{Chosen, Here, count_of};
use super::pile::{self, MOST, Orbits, Pile, Row};
use super::{Counts, Event, Found, Orbit, Phase, Pixel, Setting, Shortcuts, State, Trap};
use crate::deep::blocks::Start;
use crate::deep::lanes::{Marks, Reals};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::reference;
use fearless_simd::Simd;
use std::sync::atomic::Ordering;

/// Where there are so many steps for each block,
const FEW_BLOCKS: u64 = 4;
/// orbits are stepped so many times over before they are sorted.
const MOST_RUNS: usize = 4;
/// And so many times where one vector is all that is left, which is sorted for nothing.
const MOST_RUNS_AT_END: usize = 64;

/// Vectors whose blocks are looked up together where these are not in a cache, so that all of them are loaded at once: with 8 lanes of pairs 28 KB of blocks.
const AHEAD: usize = 8;

/// The greatest room of a row, which is stored as f64. An orbit that has used it up gets more: [`Pool::resolved`] counts it anew. Tests use it up.
pub(super) const MOST_ROOM: u64 = if cfg!(test) { 1 << 9 } else { 1 << 52 };

/// A pixel under way.
pub(super) struct Slot<T> {
    pub(super) pixel: Pixel<T>,
    /// Its number.
    number: usize,
    /// n - m since the last rebase, modulo 2^64.
    pub(super) ahead: u64,
}

/// Orbits by what is next.
pub(super) struct Lists<T, const DERIVED: bool> {
    /// Not known.
    pub(super) fresh: Pile<T, DERIVED>,
    /// A block.
    blocks: Pile<T, DERIVED>,
    /// Steps.
    steps: Pile<T, DERIVED>,
    /// Anything else.
    rare: Pile<T, DERIVED>,
    /// A cell of the plane, for the values of orbits, with the number of cells up to now.
    pub(super) cells: Pile<T, false>,
    /// What comes after cells, with their number.
    pub(super) parted: Pile<T, false>,
}

impl<T: Mantissa, const DERIVED: bool> Lists<T, DERIVED> {
    fn new() -> Self {
        Self {
            fresh: Pile::new(),
            blocks: Pile::new(),
            steps: Pile::new(),
            rare: Pile::new(),
            cells: Pile::new(),
            parted: Pile::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        let of_reference = self.fresh.len() + self.blocks.len() + self.steps.len() + self.rare.len();
        of_reference + self.cells.len() + self.parted.len()
    }
}

/// What is next in the lanes of a vector.
struct Next<'a, T: Mantissa, S: Simd> {
    here: Here<'a, T, S>,
    block: Marks<S>,
    step: Marks<S>,
    /// Where orbits go by cells.
    cell: Option<Marks<S>>,
}

/// Bytes of the orbits under way: two rounds of six lists, what is kept of each pixel, groups, and what is computed of a reference that is kept as waypoints.
pub(in crate::deep) const BYTES: usize = 12 * pile::BYTES
    + MOST * size_of::<Slot<Dd>>()
    + group::BYTES
    + size_of::<reference::Windows>()
    + reference::BYTES_OF_THREAD;

/// Orbits under way.
pub(in crate::deep) struct Pool<'a, T: Mantissa, const DERIVED: bool> {
    pub(super) orbit: Orbit<'a, T, DERIVED>,
    /// Where pixels begin.
    pub(super) start: Start<T>,
    /// Those of this round.
    pub(super) now: Lists<T, DERIVED>,
    /// Those of the next.
    pub(super) next: Lists<T, DERIVED>,
    pub(super) slots: Vec<Slot<T>>,
    free: Vec<usize>,
    pub(super) counts: Counts,
    /// Of a reference that is kept as waypoints.
    windows: Option<Box<reference::Windows>>,
}

impl<'a, T: Mantissa, const DERIVED: bool> Pool<'a, T, DERIVED> {
    pub(in crate::deep) fn new(setting: &'a Setting<'a>, shortcuts: Shortcuts<'a, T>) -> Self {
        let table = shortcuts.table;
        let start = if table.start.n() <= setting.limit { table.start } else { Start::first(setting.scale) };
        Self {
            orbit: Orbit::new(setting, shortcuts),
            start,
            now: Lists::new(),
            next: Lists::new(),
            slots: Vec::with_capacity(MOST),
            free: Vec::with_capacity(MOST),
            counts: Counts::default(),
            windows: setting.reference.is_compressed().then(reference::windows),
        }
    }

    /// Decides pixels, until the flag to stop is set.
    #[inline(always)]
    pub(in crate::deep) fn run<S: Simd>(mut self, simd: S, pixels: &[Complex<T>], found: &mut [Found]) -> Counts {
        found.fill(Found::Undecided);
        let mut groups = Groups::new();
        loop {
            self.advance_groups(simd, &mut groups, pixels, found);
            if self.now.len() == 0 || self.orbit.setting.stop.load(Ordering::Relaxed) {
                return self.counts;
            }
            self.sort_fresh(simd);
            self.apply_blocks(simd);
            self.step(simd);
            self.apply_cells(simd);
            self.do_rare(simd, found);
            self.after_cells(simd, found);
            std::mem::swap(&mut self.now, &mut self.next);
        }
    }

    /// A place for a pixel.
    #[inline(always)]
    pub(super) fn slot(&mut self, number: usize, c: Complex<T>) -> usize {
        let slot = Slot { pixel: Pixel { c, trap: Trap::new() }, number, ahead: 0 };
        match self.free.pop() {
            Some(place) => {
                self.slots[place] = slot;
                place
            }
            None => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
        }
    }

    /// What follows from a phase: the orbit in the range of f64, unless it ends.
    #[inline(always)]
    pub(super) fn resolved<S: Simd>(
        &mut self,
        simd: S,
        place: usize,
        phase: Phase<T>,
        found: &mut [Found],
    ) -> Option<Row<T>> {
        let Self { orbit, slots, counts, .. } = self;
        let Slot { pixel, number, ahead } = &mut slots[place];
        let state = match phase {
            Phase::Narrow(state) => Ok(state),
            Phase::Ends(found) => Err(found),
            wide @ Phase::Wide { .. } => simd.vectorize(
                #[inline(always)]
                || orbit.resolve(pixel, wide, counts),
            ),
        };
        match state {
            Ok(State { z, e, derivative, m, n }) => {
                *ahead = n.wrapping_sub(m as u64);
                let room = usize::try_from((orbit.setting.limit - n).min(MOST_ROOM)).unwrap_or(usize::MAX);
                Some(Row { z, c: pixel.c, e, derivative, m, room, slot: place })
            }
            Err(end) => {
                found[*number] = end;
                self.free.push(place);
                None
            }
        }
    }

    /// Appends orbits to the lists of what is next.
    ///
    /// Nothing here depends on the orbits but by marks: a branch would be mispredicted, and only once all that it depends on is computed.
    #[inline(always)]
    fn sort<S: Simd>(&mut self, simd: S, orbits: &Orbits<T, S>, next: &Next<'a, T, S>, active: Marks<S>) {
        let splat = |x: f64| Reals::splat(simd, x);
        let Next { here, block, step, cell } = next;
        let (step, others) = match *cell {
            Some(cell) => {
                let parts = self.without_attempts(simd, orbits, cell);
                self.leave_reference(simd, orbits, here, parts);
                (*step | cell & !parts, active & !*block & !*step & !cell)
            }
            None => (*step, active & !*block & !*step),
        };
        self.next.blocks.append(orbits, *block);
        self.next.steps.append(orbits, step);
        let of_value = &here.value;
        let events = splat(1.0).where_else(of_value.is_within, splat(0.0))
            + splat(2.0).where_else(of_value.is_smaller, splat(0.0));
        self.next.rare.append_with(orbits, events, others);
    }

    /// What is next of the orbits of a mask.
    #[inline(always)]
    fn next<S: Simd>(&self, simd: S, orbits: &Orbits<T, S>, active: Marks<S>) -> Next<'a, T, S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let here = self.orbit.here(simd, orbits);
        let goes_on = here.value.goes_on & splat(0.0).less(here.most) & active;
        // The shortest block is that from m = 0, with one step more than those from elsewhere.
        let is_origin = here.after_origin.min(orbits.m).at_most(splat(0.0));
        let may_begin = is_origin & splat(self.orbit.table.shortest() as f64).less(here.most);
        let block = self.orbit.with_block(simd, orbits.e, &here) & may_begin & goes_on;
        let step = goes_on & !block;
        match self.orbit.may_go_by_cells(simd, orbits, &here) {
            Some(cells) => {
                let cell = cells & is_origin & step;
                Next { here, block, step: step & !cell, cell: Some(cell) }
            }
            None => Next { here, block, step, cell: None },
        }
    }

    /// Sorts the orbits of which nothing is known.
    #[inline(always)]
    fn sort_fresh<S: Simd>(&mut self, simd: S) {
        for at in (0..self.now.fresh.len()).step_by(Reals::<S>::LEN) {
            let orbits = self.now.fresh.load(simd, at);
            let active = Reals::<S>::first_lanes(simd, self.now.fresh.len() - at);
            let next = self.next(simd, &orbits, active);
            self.sort(simd, &orbits, &next, active);
        }
        self.now.fresh.clear();
    }

    /// Applies a block to each orbit that has one.
    #[inline(always)]
    fn apply_blocks<S: Simd>(&mut self, simd: S) {
        let is_far = self.orbit.table.is_far();
        let mut ahead = [Chosen::NONE; AHEAD];
        for at in (0..self.now.blocks.len()).step_by(Reals::<S>::LEN) {
            let number = at / Reals::<S>::LEN % AHEAD;
            if is_far && number == 0 {
                self.look_ahead(simd, at, &mut ahead);
            }
            let mut orbits = self.now.blocks.load(simd, at);
            let active = Reals::<S>::first_lanes(simd, self.now.blocks.len() - at);
            let chosen = if is_far { ahead[number] } else { self.orbit.longest(simd, &orbits, active) };
            self.orbit.block(simd, &mut orbits, active, &chosen);
            let next = self.next(simd, &orbits, active);
            self.sort(simd, &orbits, &next, active);
        }
        self.counts.blocks += self.now.blocks.len() as u64;
        self.now.blocks.clear();
    }

    /// Looks up the blocks of the vectors from `at` on, and begins to load them.
    #[inline(always)]
    fn look_ahead<S: Simd>(&self, simd: S, at: usize, ahead: &mut [Chosen; AHEAD]) {
        let blocks = &self.now.blocks;
        let end = blocks.len().min(at + AHEAD * Reals::<S>::LEN);
        for at in at..end {
            self.orbit.table.prefetch_radii(blocks.m(at));
        }
        for (at, chosen) in (at..end).step_by(Reals::<S>::LEN).zip(ahead) {
            let orbits = blocks.load(simd, at);
            let active = Reals::<S>::first_lanes(simd, blocks.len() - at);
            *chosen = self.orbit.longest(simd, &orbits, active);
            self.orbit.prefetch(simd, &orbits, chosen);
        }
    }

    /// Steps the others, up to the next m at which a block may begin, or through a window of the reference where that is farther; and on where few blocks are found.
    #[inline(always)]
    fn step<S: Simd>(&mut self, simd: S) {
        let runs = if self.now.len() + self.next.len() <= Reals::<S>::LEN {
            MOST_RUNS_AT_END
        } else if self.counts.steps > FEW_BLOCKS * self.counts.blocks {
            MOST_RUNS
        } else {
            1
        };
        let far = self.orbit.table.is_coarse() || self.counts.are_far();
        for at in (0..self.now.steps.len()).step_by(Reals::<S>::LEN) {
            let mut orbits = self.now.steps.load(simd, at);
            let active = Reals::<S>::first_lanes(simd, self.now.steps.len() - at);
            let (mut here, mut stepped) = (self.orbit.here(simd, &orbits), active);
            let mut run = 1;
            // One call of `steps` in a loop: a second one for the first run doubled the longest function of this crate.
            let next = loop {
                let windows = self.windows.as_deref_mut();
                self.counts.steps += self.orbit.steps(simd, &mut orbits, here, stepped, far, windows) as u64;
                let next = self.next(simd, &orbits, active);
                if run == runs || 2 * count_of::<S>(next.step) < count_of::<S>(active) {
                    break next;
                }
                (here, stepped) = (next.here, next.step);
                run += 1;
            };
            self.sort(simd, &orbits, &next, active);
        }
        self.now.steps.clear();
    }

    /// Does what neither a step nor a block is, one orbit at a time.
    #[inline(always)]
    fn do_rare<S: Simd>(&mut self, simd: S, found: &mut [Found]) {
        for at in 0..self.now.rare.len() {
            let (row, events) = self.now.rare.row(at);
            let event = Event { is_within: events & 1 != 0, is_smaller: events & 2 != 0 };
            let Row { z, e, derivative, m, room, slot: place, .. } = row;
            let Self { orbit, slots, counts, .. } = self;
            let slot = &mut slots[place];
            let is_rebase = event.is_within && event.is_smaller && room > 0 && m < orbit.setting.reference.last();
            let before = State { z, e, derivative, m, n: 0 };
            if is_rebase && let Some(after) = orbit.rebased(&mut slot.pixel, before, room) {
                let State { z, e, derivative, m: at, n } = after;
                counts.rebases += 1;
                counts.steps += n;
                slot.ahead = slot.ahead.wrapping_add(m as u64);
                self.next.fresh.push(Row { z, e, derivative, m: at, room: room - at, ..row });
                continue;
            }
            let n = slot.ahead.wrapping_add(m as u64);
            let phase = simd.vectorize(
                #[inline(always)]
                || orbit.event(&mut slot.pixel, State { n, ..before }, event, counts),
            );
            if let Some(row) = self.resolved(simd, place, phase, found) {
                self.next.fresh.push(row);
            }
        }
        self.now.rare.clear();
    }
}
