//! The orbit of one pixel as a delta from the reference, with a running bound on its error.
//!
//! z is the computed delta and e a bound on its distance from the exact one, w = Z_m + z the value of the orbit itself. u is
//! [`Mantissa::UNIT`].
//!
//! **Step.** t = Z + w and z' = z t + c, exactly z' = z (2 Z + z) + c. Before a step |z| <= |w|, from which |Z| <= |t| / sqrt 2 and |w| <= |t|. The
//! roundings of Z (twice), of w, of t, of the product (sqrt 5 u without fused operations) and of the last sum are
//! less than (1.42 + 1 + 1 + 2.24 + 1) u |z| |t| + u |c|; with 9 there is room for the terms of second order and for a rebase that was
//! decided by rounded numbers. Vectors of pairs are added with errors of 3/8 u times the sum of the moduli (`mantissa.rs`): of w at most 3/8 u (|Z| + |z|) <= 9/8 u |w|, as |Z| <= |w| + |z|, of t at most 3/8 u (|Z| + |w|) <= 0.65 u |t|,
//! and of the last sum 3/8 u (|z t| + |c|), which is less in all. The derivative of z (2 Z + z) over the distance is at most 2 |w| + e:
//!
//! ```text
//! e' = (2 |w| + e) e + 9 u |z| |t| + u |c| + (error of c)
//! ```
//!
//! **Rebase**, where |w| < |z| or the reference ends: z = w, m = 0, e' = e + 2 u (|Z| + |w|), and the error of Z_M at the end. This is a change of representation,
//! valid wherever it is made.
//!
//! **Block.** For |z| + e within its radius, see `blocks.rs`:
//!
//! ```text
//! e' = (|A + S c + 2 Q z| + |Q| e) e + k(|z| + e)
//! ```
//!
//! where k has the truncation, the errors of the coefficients, the roundings (9 u for each term) and |dz'/dc| (error of c).
//!
//! **Cells.** An orbit that has parted from the reference goes on by the map of the place in the plane where it is (`by_cells.rs`).
//!
//! Vectors of orbits do steps and blocks, those of neighbours together (`group.rs`) and others as they come (`pool.rs`); what is rare is done here, one orbit at a
//! time.
//!
//! **Escape.** |w| is off by less than E = e + 8 R u. The orbit is within R for certain if |w|^2 - R^2 <= -(2 R E + E^2 + s), and
//! outside for certain if |w|^2 - R^2 > 2 |w| E + s, where s bounds the roundings of |w|^2 and R^2. If neither, the pixel is undecided here.
//! 8 R u covers the roundings of Z and of w where |Z| <= 7 R: of pairs, Z is off by less than 2^-105 |Z| = |Z| u / 8, and w, in vectors, by 3/8 u (|Z| + |z|) <= 5.7 R u. At the end of a reference that escapes, |Z| may be larger, up to R^2 + R; e then covers that of Z:
//! the step or block before added 9 u (|z| - |c|) or more, |z| >= |Z| - R, and |c| <= 2 R (C and C + c are both within R), so that e >= 9 u (|Z| - 3 R) > u |Z|.
//!
//! Every bound is multiplied by 1 + 2^-45 for its own roundings.

mod by_cells;
pub(super) mod escape;
mod group;
mod operations;
mod pile;
mod pool;
#[cfg(test)]
mod tests;
pub(super) mod trap;
mod wide;

use super::blocks::{REACH, Table};
use super::cells::Cells;
use super::derivative::{Derivative, UNDERFLOW, UP, WideDerivative};
use super::device_constants::over_margin;
use super::extended::{Bound, Extended, power_of_two};
use super::mantissa::{Complex, Mantissa};
use super::reference::Reference;
use super::values::{Units, Values};
use by_cells::ByCells;
use operations::Spacing;
pub(super) use pool::{BYTES, Pool};
use std::sync::atomic::{AtomicBool, Ordering};
pub(super) use trap::FIRST as FIRST_ATTEMPT;
use trap::{Next, Trap};
pub(super) use wide::{NEAR_ZERO, SMALL_EXPONENT, TOO_MUCH};

/// Deltas below this are kept with an exponent: 2^-430.
pub(super) const SMALL: f64 = 3.6e-130;
/// Operations between two looks at the flag to stop, less one: a fraction of a millisecond.
const STOP_MASK: u64 = 0xfff;
/// What all pixels of a view share.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The reference.
    pub reference: &'a Reference,
    /// c is in units of 2^scale, at most [`REACH`] in modulus.
    pub scale: i32,
    /// R.
    pub escape_radius: f64,
    /// R^2, rounded to nearest.
    pub escape: f64,
    /// The greatest n.
    pub limit: u64,
    /// Whether smooth values are wanted.
    pub smooth: bool,
    /// What distances and slopes are expressed in, where they are wanted.
    pub units: Option<Units>,
    /// Set to stop: orbits then end undecided.
    pub stop: &'a AtomicBool,
}

/// What replaces steps in a tier.
#[derive(Clone, Copy, Debug)]
pub struct Shortcuts<'a, T: Mantissa> {
    /// Blocks of the reference.
    pub table: &'a Table<T>,
    /// Of this reference and scale, for orbits that have parted from the reference, where they take many steps from there on. Where distances are wanted they are not used.
    pub cells: Option<&'a Cells<T>>,
}

impl<'a, T: Mantissa> Shortcuts<'a, T> {
    /// Blocks alone.
    #[must_use]
    pub const fn blocks(table: &'a Table<T>) -> Self {
        Self { table, cells: None }
    }
}

/// What is known of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// It escapes at n, with the values that were wanted.
    Escapes(u64, Values),
    /// It does not escape up to the limit.
    Stays,
    /// Not decided with these numbers.
    Undecided,
}

/// Counts of what orbits did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Single steps in the range of f64.
    pub steps: u64,
    /// Blocks in the range of f64.
    pub blocks: u64,
    /// Cells of the plane.
    pub cells: u64,
    /// Steps and blocks below it.
    pub wide: u64,
    /// Rebases.
    pub rebases: u64,
}

/// Where there are so many steps for each block, blocks are looked for at every fourth place where one may begin: 0.8 of the time at rf-dragon, where
/// there are 32.
const FAR_BLOCKS: u64 = 8;
impl Counts {
    /// Whether most steps are far from blocks.
    #[inline(always)]
    fn are_far(&self) -> bool {
        self.cells > 0 || self.steps > FAR_BLOCKS * self.blocks
    }
}

/// An orbit under way, with a delta in the range of f64.
#[derive(Clone, Copy, Debug)]
struct State<T> {
    z: Complex<T>,
    e: f64,
    derivative: Derivative,
    m: usize,
    n: u64,
}

/// The answer of a phase.
enum Phase<T> {
    /// The delta is in the range of f64.
    Narrow(State<T>),
    /// The delta is below it.
    Wide {
        z: Extended<T>,
        e: Bound,
        derivative: WideDerivative,
        m: usize,
        n: u64,
    },
    Ends(Found),
}

/// What of a view an orbit in a tier needs. Its derivative is iterated, too, where `DERIVED`.
#[derive(Debug)]
struct Orbit<'a, T: Mantissa, const DERIVED: bool> {
    setting: &'a Setting<'a>,
    table: &'a Table<T>,
    cells: Option<ByCells<'a, T>>,
    /// Where blocks may begin.
    spacing: Spacing,
    /// What c is multiplied by for its value in the plane; 0 below the range of f64.
    unit: f64,
    /// What a step adds to the error for c.
    of_c: f64,
    /// The error of c in units of 2^scale.
    relative: f64,
    /// The roundings of |w|.
    of_modulus: f64,
    /// 1 / ([`REACH`] - |c|), at least.
    over_margin: f64,
}

impl<T: Mantissa, const DERIVED: bool> Clone for Orbit<'_, T, DERIVED> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Mantissa, const DERIVED: bool> Copy for Orbit<'_, T, DERIVED> {}

/// One pixel.
struct Pixel<T> {
    /// c in units of 2^scale.
    c: Complex<T>,
    trap: Trap<T>,
}

/// What vectors found of a delta where it is not simply iterated.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// The orbit is within R for certain.
    is_within: bool,
    /// The orbit is smaller than its delta.
    is_smaller: bool,
}

impl<'a, T: Mantissa, const DERIVED: bool> Orbit<'a, T, DERIVED> {
    fn new(setting: &'a Setting<'a>, Shortcuts { table, cells }: Shortcuts<'a, T>) -> Self {
        let scale = setting.scale;
        let unit = if scale > -1000 { power_of_two(scale) } else { 0.0 };
        Self {
            setting,
            table,
            cells: cells.filter(|_| Self::HAS_CELLS).map(|cells| ByCells::new(cells, table)),
            spacing: Spacing::of(table.shortest()),
            unit,
            of_c: 4.0 * T::UNIT * REACH * unit + UNDERFLOW,
            relative: 2.0 * T::UNIT * REACH,
            of_modulus: 8.0 * setting.escape_radius * T::UNIT,
            over_margin: setting.units.map_or(0.0, |units| over_margin(units.farthest)),
        }
    }

    /// c in the plane.
    #[inline(always)]
    fn plain(&self, c: Complex<T>) -> Complex<T> {
        c.scaled(self.unit)
    }

    /// Whether the flag to stop is set, looked at once in a while.
    #[inline(always)]
    fn stops(&self, count: u64) -> bool {
        count & STOP_MASK == 0 && self.setting.stop.load(Ordering::Relaxed)
    }

    /// Goes on with a delta that vectors do not iterate: to the end of the orbit or to a delta that they do.
    #[inline(always)]
    fn resolve(&self, pixel: &mut Pixel<T>, phase: Phase<T>, counts: &mut Counts) -> Result<State<T>, Found> {
        let mut phase = phase;
        loop {
            phase = match phase {
                Phase::Narrow(state) => return Ok(state),
                Phase::Ends(found) => return Err(found),
                Phase::Wide { z, e, derivative, m, n } => self.wide(pixel, (z, e, derivative), m, n, counts),
            };
        }
    }

    /// A rebase without anything else, before the end of the reference, with nothing to prove, and the step after it, unless a block may follow:
    /// the new state, with n counted from here.
    #[inline(always)]
    fn rebased(&self, pixel: &mut Pixel<T>, state: State<T>, room: usize) -> Option<State<T>> {
        let State { z, e, derivative, m, .. } = state;
        let reference_z = self.setting.reference.at::<T>(m);
        let w = reference_z + z;
        if w.size() < SMALL || !pixel.trap.passes() {
            return None;
        }
        let e = self.error_of_rebase(reference_z, w, e);
        let modulus = w.square().sqrt();
        if room == 0 || (modulus + e) * UP * Self::REACHES <= self.table.shortest_radius(0) {
            return Some(State { z: w, e, derivative, m: 0, n: 0 });
        }
        // As `operations.rs` steps, with Z = 0.
        let roundings = 9.0 * T::UNIT * w.taxicab() * w.taxicab();
        let derivative = if DERIVED { derivative.stepped(w.to_f64(), modulus, e, self.unit) } else { Derivative::NONE };
        let e = ((2.0 * modulus + e) * e + roundings + self.of_c) * UP;
        Some(State { z: w * w + self.plain(pixel.c), e, derivative, m: 1, n: 1 })
    }

    #[inline(always)]
    fn error_of_rebase(&self, reference_z: Complex<T>, w: Complex<T>, e: f64) -> f64 {
        (e + 2.0 * T::UNIT * (reference_z.taxicab() + w.taxicab()) + UNDERFLOW) * UP
    }

    /// A delta in the range of f64 where something else than a step or a block follows.
    #[inline(always)]
    fn event(&self, pixel: &mut Pixel<T>, state: State<T>, event: Event, counts: &mut Counts) -> Phase<T> {
        let Setting { reference, limit, .. } = *self.setting;
        let State { z, mut e, derivative, m, n } = state;
        let reference_z = reference.at::<T>(m);
        let w = reference_z + z;
        let at_end = m == reference.last();
        if at_end {
            e += reference.end_error.to_f64() + UNDERFLOW;
        }
        let off = e + self.of_modulus;
        if !event.is_within || !self.is_within(w.square(), off) {
            return self.ends(pixel, (w, off, derivative.widened()), n);
        }
        if n == limit {
            return Phase::Ends(Found::Stays);
        }
        if !event.is_smaller && !at_end {
            // It is below the range of f64.
            let derivative = derivative.widened();
            return Phase::Wide { z: Extended::new(z, 0), e: Bound::of(e), derivative, m, n };
        }
        counts.rebases += 1;
        let e = self.error_of_rebase(reference_z, w, e);
        Self::after_rebase(pixel, State { z: w, e, derivative, m: 0, n })
    }

    /// What follows from a rebase to this state.
    #[inline(always)]
    fn after_rebase(pixel: &mut Pixel<T>, state: State<T>) -> Phase<T> {
        let State { z: w, e, derivative, n, .. } = state;
        let (z, bound) = (Extended::new(w, 0), Bound::of(e));
        let wide = derivative.widened();
        let next = pixel.trap.after_rebase((z, bound, wide), n);
        match next {
            Next::Trapped => Phase::Ends(Found::Stays),
            Next::GoOn if w.size() >= SMALL => Phase::Narrow(State { z: w, e, derivative, m: 0, n }),
            Next::Raise(radius) if w.size() >= SMALL => {
                Phase::Narrow(State { z: w, e: radius.to_f64() * UP, derivative, m: 0, n })
            }
            Next::GoOn => Phase::Wide { z, e: bound, derivative: wide, m: 0, n },
            Next::Raise(radius) => Phase::Wide { z, e: radius, derivative: wide, m: 0, n },
        }
    }
}
