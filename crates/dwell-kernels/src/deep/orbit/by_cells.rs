//! Orbits that go on by the cells of the plane (`cells.rs`).
//!
//! An orbit does so from a place of the reference on at which a block might begin but none holds, where its bound is at least the error that is given for it: what cells add then leaves few pixels more to the next tier. It comes back, by a rebase, where |w| is so small that a long block from m = 0 holds or that what cells add would count. After [`MOST`] cells, it does where its bound is still small, as in a basin of attraction,
//! since proofs that it stays are made at rebases. Where there is no cell, mostly just before the escape, it does single steps of w itself.
//!
//! f64-coarse at rf-dragon takes 0.19 of the time so (960x540, one thread of a Xeon with AVX-512: 1.17 s for 6.1), with 45 million single steps for 1,526. What was tried:
//!
//! - tails of any length by cells: 1.3 times the time at kf-1e14 and 1.4 times at kf-5e113, where pixels have some 100 single steps, most of them in groups;
//! - cells of 2^-10 with polynomials of the sixth degree: more tiles at kf-1e50 than there was room for (960x540), and equal otherwise;
//! - tiles that are computed as a whole instead of row by row: a seventh of the time at 480x270;
//! - from deltas of any size on: a third of the pixels of kf-1e50 was left to the next tier, as a delta shrinks where the reference passes 0, and what cells add does not;
//! - an attempt to prove that an orbit stays after each [`MOST`] cells: 135 to 320 million single steps more at rf-dragon at 480x270;
//! - cells of f64 in the later tiers, too: see `view_cells.rs` of `dwell`;
//! - cells in pairs for orbits of any error, as soon as they part, with blocks of the second degree, too: as many steps, and 1.3 times as many pixels left as from an error of 2^-66 on.

use super::group::Group;
use super::operations::{DerivativeLanes, Here, count_of};
use super::pile::{Orbits, Row};
use super::pool::Pool;
use super::{Found, Orbit, Phase, State};
use crate::deep::PROVED;
use crate::deep::blocks::Table;
use crate::deep::cells::{Cells, NEAREST};
use crate::deep::derivative::{Derivative, UNDERFLOW, UP};
use crate::deep::lanes::{ComplexInLanes, ComplexLanes, LANES, Lanes, Marks, Reals};
use crate::deep::mantissa::{Complex, Mantissa};
use crate::vector::bits;
use fearless_simd::Simd;

/// An orbit goes on by cells where its delta is more than this share of w: what cells add to its error has to be small beside the delta, also where that is near 0 for some steps.
const LEAST_RATIO: f64 = 1.0 / 2048.0;
/// An orbit leaves cells where a block of so many steps from m = 0 holds.
const STEPS_FROM_ZERO: usize = 128;
/// But not where |w| is above this.
const MOST_MODULUS: f64 = 0.125;
/// Orbits on the square of the cells: |w|^2 is at most this.
const MOST_SQUARE: f64 = 4.0;
/// The most cells and single steps of an orbit before it is rebased.
const MOST: f64 = 256.0;
/// Orbits whose errors are at most so many times that of a cell are taken to be attracted.
const ATTRACTED: f64 = 256.0;
/// Cells that an orbit goes through before it is sorted.
const MOST_RUNS: usize = 8;
/// What |z| is multiplied by for a bound on its error in a build without bounds.
const WITHOUT_BOUNDS: f64 = 1.0 / (1 << 26) as f64;

/// The cells of a view, and when orbits go by them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByCells<'a, T: Mantissa> {
    cells: &'a Cells<T>,
    least_error: f64,
    /// The square of the |w| at which orbits leave them.
    least_square: f64,
}

impl<'a, T: Mantissa> ByCells<'a, T> {
    pub(super) fn new(cells: &'a Cells<T>, table: &Table<T>) -> Self {
        let modulus = table.radius_from_zero(STEPS_FROM_ZERO).clamp(NEAREST, MOST_MODULUS);
        // Errors by blocks of the fourth degree are so small that orbits would pass a gap by single steps before they reach the least one.
        let least_error = if table.is_quartic() { 0.0 } else { cells.least_error() };
        Self { cells, least_error, least_square: modulus * modulus }
    }

    /// The orbits that may go on by cells, by the squares of |w| and |z|.
    #[inline(always)]
    fn may_begin<S: Simd>(&self, simd: S, e: Reals<S>, w_square: Reals<S>, z_square: Reals<S>) -> Marks<S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let known = if PROVED { e } else { z_square.sqrt() * splat(WITHOUT_BOUNDS) };
        splat(self.least_error).at_most(known)
            & e.at_most(splat(Cells::<T>::MOST_ERROR))
            & splat(self.least_square).at_most(w_square)
            & w_square.less(splat(MOST_SQUARE))
            & (splat(LEAST_RATIO * LEAST_RATIO) * w_square).at_most(z_square)
    }
}

impl<T: Mantissa, const DERIVED: bool> Orbit<'_, T, DERIVED> {
    /// Whether orbits may go by cells: without derivatives. Known before code is generated.
    pub(super) const HAS_CELLS: bool = !DERIVED;

    /// The orbits that may go on by cells where no block holds.
    #[inline(always)]
    pub(super) fn may_go_by_cells<S: Simd>(
        &self,
        simd: S,
        orbits: &Orbits<T, S>,
        here: &Here<'_, T, S>,
    ) -> Option<Marks<S>> {
        let cells = self.cells.as_ref().filter(|_| Self::HAS_CELLS)?;
        Some(cells.may_begin(simd, orbits.e, here.value.w_square, here.value.z_square))
    }

    /// Whether all orbits of a group part from the reference at a place at which a block might begin.
    #[inline(always)]
    pub(super) fn parts<S: Simd>(
        &self,
        simd: S,
        group: &Group<T, S>,
        (w_square, z_square): (Reals<S>, Reals<S>),
    ) -> bool {
        let Some(cells) = self.cells.as_ref().filter(|_| Self::HAS_CELLS && group.is_at_place(self.table.shortest()))
        else {
            return false;
        };
        let reach = (z_square.sqrt() + group.orbits.e) * Reals::splat(simd, UP * Self::REACHES);
        let none_holds = Reals::splat(simd, self.table.shortest_radius(group.m)).less(reach);
        let parts = none_holds & cells.may_begin(simd, group.orbits.e, w_square, z_square) & group.active;
        bits::<S, _>(parts) == bits::<S, _>(group.active)
    }
}

impl<T: Mantissa, const DERIVED: bool> Pool<'_, T, DERIVED> {
    /// Of the orbits that are marked, those without an attempt to prove that they stay: it ends at a rebase.
    #[inline(always)]
    pub(super) fn without_attempts<S: Simd>(&self, simd: S, orbits: &Orbits<T, S>, marks: Marks<S>) -> Marks<S> {
        let mut marked = bits::<S, _>(marks);
        if marked == 0 {
            return marks;
        }
        let mut slots = [0.0; LANES];
        orbits.slot.store(&mut slots);
        for (lane, slot) in slots.iter().enumerate().take(Reals::<S>::LEN) {
            if marked >> lane & 1 != 0 && self.slots[*slot as usize].pixel.trap.attempt.is_some() {
                marked &= !(1 << lane);
            }
        }
        Reals::<S>::mask(simd, marked)
    }

    /// Appends the values of orbits that are marked to those of the next round that go by cells.
    #[inline(always)]
    pub(super) fn leave_reference<S: Simd>(
        &mut self,
        simd: S,
        orbits: &Orbits<T, S>,
        here: &Here<'_, T, S>,
        marks: Marks<S>,
    ) {
        let values = values(simd, orbits, here.value.w, here.value.reference);
        self.next.cells.append_with(&values, Reals::splat(simd, 0.0), marks);
    }

    /// Takes orbits through cells, several for each.
    #[inline(always)]
    pub(super) fn apply_cells<S: Simd>(&mut self, simd: S) {
        let Some(by) = self.orbit.cells.filter(|_| Orbit::<T, DERIVED>::HAS_CELLS) else { return };
        let splat = |x: f64| Reals::splat(simd, x);
        for at in (0..self.now.cells.len()).step_by(Reals::<S>::LEN) {
            let mut orbits = self.now.cells.load(simd, at);
            let mut applied = self.now.cells.notes(simd, at);
            let active = Reals::<S>::first_lanes(simd, self.now.cells.len() - at);
            let mut goes_on = active;
            for _ in 0..MOST_RUNS {
                let after = by.cells.applied(simd, (orbits.z, orbits.e, orbits.room), goes_on);
                let made = splat(0.0).less(after.steps);
                orbits.z = ComplexInLanes::where_else(after.w, made, orbits.z);
                orbits.e = after.e.where_else(made, orbits.e);
                orbits.m = orbits.m + after.steps;
                orbits.room = orbits.room - after.steps;
                applied = applied + splat(1.0).where_else(made, splat(0.0));
                self.counts.cells += count_of::<S>(made) as u64;
                goes_on = made & splat(by.least_square).at_most(orbits.z.square_of()) & applied.less(splat(MOST));
                if 2 * count_of::<S>(goes_on) < count_of::<S>(active) {
                    break;
                }
            }
            self.next.cells.append_with(&orbits, applied, goes_on);
            self.next.parted.append_with(&orbits, applied, active & !goes_on);
        }
        self.now.cells.clear();
    }

    /// Does what comes after cells, one orbit at a time: single steps, the escape, or a rebase.
    #[inline(always)]
    pub(super) fn after_cells<S: Simd>(&mut self, simd: S, found: &mut [Found]) {
        let Some(by) = self.orbit.cells.filter(|_| Orbit::<T, DERIVED>::HAS_CELLS) else { return };
        for at in 0..self.now.parted.len() {
            let (row, applied) = self.now.parted.row(at);
            self.after_cells_of(simd, by, (row, applied as f64), found);
        }
        self.now.parted.clear();
    }

    #[inline(always)]
    fn after_cells_of<S: Simd>(
        &mut self,
        simd: S,
        by: ByCells<'_, T>,
        (row, mut applied): (Row<T>, f64),
        found: &mut [Found],
    ) {
        let Row { z: mut w, mut e, mut m, mut room, slot: place, .. } = row;
        let (orbit, slot) = (self.orbit, &mut self.slots[place]);
        let ahead = slot.ahead;
        let pixel = &mut slot.pixel;
        // The cell that it came from has been looked up.
        let mut goes_on = false;
        let phase = loop {
            let n = ahead.wrapping_add(m as u64);
            let off = e + orbit.of_modulus;
            if !orbit.is_within(w.square(), off) {
                break orbit.ends(pixel, (w, off, Derivative::NONE.widened()), n);
            }
            if n == orbit.setting.limit {
                break Phase::Ends(Found::Stays);
            }
            // Where orbits are attracted their errors stay near those of one cell.
            let is_long = applied >= MOST;
            let may_stay = is_long && e <= ATTRACTED * by.cells.tolerance();
            applied = if is_long { 0.0 } else { applied };
            if may_stay || room == 0 || w.square() < by.least_square || e > Cells::<T>::MOST_ERROR {
                if may_stay {
                    pixel.trap.hasten();
                }
                self.counts.rebases += 1;
                let state = State { z: w, e, derivative: Derivative::NONE, m: 0, n };
                break Orbit::<T, DERIVED>::after_rebase(pixel, state);
            }
            if is_long || goes_on {
                self.next.cells.push_with(Row { z: w, e, m, room, ..row }, applied);
                return;
            }
            (w, e) = by.cells.stepped(w, e);
            (m, room, applied) = (m + 1, room - 1, applied + 1.0);
            self.counts.steps += 1;
            goes_on = by.cells.has(simd, w, e, room);
        };
        if let Some(row) = self.resolved(simd, place, phase, found) {
            self.next.fresh.push(row);
        }
    }
}

/// The values w = Z + z of orbits, with their bounds: as at a rebase.
#[inline(always)]
pub(super) fn values<T: Mantissa, S: Simd>(
    simd: S,
    orbits: &Orbits<T, S>,
    w: ComplexLanes<T, S>,
    z: ComplexLanes<T, S>,
) -> Orbits<T, S> {
    let splat = |x: f64| Reals::splat(simd, x);
    let off = splat(2.0 * T::UNIT) * (z.taxicab_of() + w.taxicab_of()) + splat(UNDERFLOW);
    let zero = <T::Lanes<S>>::from_parts(|_| splat(0.0));
    Orbits {
        z: w,
        c: Complex { re: zero, im: zero },
        e: (orbits.e + off) * splat(UP),
        derivative: DerivativeLanes::none(simd),
        m: orbits.m,
        room: orbits.room,
        slot: orbits.slot,
    }
}
