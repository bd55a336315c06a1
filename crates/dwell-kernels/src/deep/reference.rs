//! The reference orbit: Z_0 = 0, Z_{m+1} = Z_m^2 + C in fixed point, with a running bound on its error, kept as pairs of f64.
//!
//! A step is off by less than 8 units u of the last place (`fixed_orbit.rs`), so |error'| <= (2 |Z| + error) error + 8 u. The orbit ends
//! - where a nucleus of period m is in the view, to first order: |Z_m| < r |dZ_m/dC|. From there on the orbit nearly repeats itself, and a
//!   delta that is rebased to its beginning loses nothing;
//! - where it escapes;
//! - where all points of the view are proved never to escape;
//! - at the limit.
//!
//! Where it ends changes no result, since rebasing is exact, and only speed.
//!
//! An orbit for which there is no memory as pairs of f64 is kept as waypoints, from which it is computed again (`reference/waypoints.rs`).

mod waypoints;

use super::Watch;
use super::extended::{Bound, Extended, power_of_two};
use super::fixed_orbit::FixedOrbit;
use super::lanes::LANES;
use super::limbs::Fixed;
use super::mantissa::{Complex, Dd, Mantissa};
use super::running::{RunningBound, RunningDerivative};
use super::view_trap::ViewTrap;
use crate::level::Level;
use crate::prefetch::prefetch;
use std::sync::atomic::Ordering;
use waypoints::{NoMemory, Value, Waypoints};

/// Bits by which Z_m is more precise, relative to itself, than the last bit of a [`Dd`]: 2^-112 |Z_m| bounds its error.
const RELATIVE_ERROR: i32 = -112;
/// Z_m below this, 2^-300, is kept with an exponent of its own.
pub const TINY: f64 = 4.909_093_465_297_727e-91;

/// Some Z_m one after the other.
pub(super) type Window = [[f64; 2]; WINDOW];
/// The most steps of an orbit between two places where a block may begin that are looked at.
pub(super) const WINDOW: usize = 16;
const NO_WINDOW: Window = [[0.0; 2]; WINDOW];
/// Windows of each part and lane that are computed again.
pub(super) type Windows = [[Window; LANES]; 2];
/// Bytes that a thread keeps of orbits that are kept as waypoints.
pub(super) const BYTES_OF_THREAD: usize = waypoints::BYTES_OF_THREAD;

/// Windows with zeros.
pub(super) fn windows() -> Box<Windows> {
    Box::new([[NO_WINDOW; LANES]; 2])
}

/// Why an orbit ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At a period of the view.
    Period,
    /// At its escape.
    Escape,
    /// Where all points of the view are proved never to escape: see `view_trap.rs`.
    Trap,
    /// At the limit.
    Limit,
}

impl End {
    /// The word for it: `period`, `escape`, `trap` or `limit`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Period => "period",
            Self::Escape => "escape",
            Self::Trap => "trap",
            Self::Limit => "limit",
        }
    }
}

/// A reference orbit Z_0 to Z_M.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The parts of Z_m, rounded to f64, and [`WINDOW`] - 1 zeros; empty where there are waypoints in their place.
    high: Vec<[f64; 2]>,
    /// What is left of them.
    low: Vec<[f64; 2]>,
    /// While an orbit is computed, beside the pairs that they may take the place of.
    waypoints: Option<Box<Waypoints>>,
    last: usize,
    /// Each Z_m, 0 < m, of less than 2^-300, in the order of m.
    pub tiny: Vec<(u32, Extended<Dd>)>,
    /// A bound on the absolute error of Z_M, which may be near 0.
    pub end_error: Bound,
    /// Why it ends.
    pub end: End,
}

/// The most memory of an orbit.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Entries as pairs of f64.
    pub pairs: usize,
    /// Entries as waypoints, which an orbit with more than that many pairs is kept as.
    pub waypoints: usize,
}

impl Room {
    /// For so many entries as pairs of f64, and no waypoints.
    #[must_use]
    pub fn of_pairs(pairs: usize) -> Self {
        Self { pairs, waypoints: 0 }
    }
}

/// Why there is no orbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReference {
    /// The given number of bits is too small.
    TooFewBits,
    /// There is no memory for it.
    Memory,
    /// The flag was set.
    Stopped,
}

impl Reference {
    /// The index M of the last Z.
    #[must_use]
    #[inline(always)]
    pub fn last(&self) -> usize {
        self.last
    }

    /// Bytes that are allocated for it.
    #[must_use]
    pub fn allocated(&self) -> u64 {
        Self::bytes(self.high.capacity() as u64) + self.waypoints.as_ref().map_or(0, |waypoints| waypoints.allocated())
    }

    /// Bytes of an orbit of so many entries as pairs of f64.
    #[must_use]
    pub fn bytes(entries: u64) -> u64 {
        entries.saturating_mul(32)
    }

    /// The same as waypoints.
    #[must_use]
    pub fn bytes_of_waypoints(entries: u64) -> u64 {
        Waypoints::bytes(entries)
    }

    /// Whether it is kept as waypoints.
    #[must_use]
    #[inline(always)]
    pub fn is_compressed(&self) -> bool {
        self.high.is_empty()
    }

    /// Z_0 to Z_M, both parts rounded to f64, and what is left of each of them; both empty where the orbit is kept as waypoints.
    #[must_use]
    pub fn pairs(&self) -> [&[[f64; 2]]; 2] {
        [&self.high, &self.low].map(|list| list.get(..=self.last).unwrap_or_default())
    }

    /// The first or the second f64 of the parts of Z_m and of those after it, of which there are zeros beyond the last; zeros where the orbit is kept as waypoints.
    #[inline(always)]
    pub(super) fn window(&self, part: usize, m: usize) -> &Window {
        let list = if part == 0 { &self.high } else { &self.low };
        let start = m.min(self.last);
        list.get(start..).and_then(<[_]>::first_chunk).unwrap_or(&NO_WINDOW)
    }

    /// Computes windows of an orbit that is kept as waypoints, each up to the next waypoint.
    #[inline(never)]
    pub(super) fn fill(&self, at: &[usize; LANES], windows: &mut Windows) {
        let Some(waypoints) = &self.waypoints else { return };
        let [high, low] = windows;
        for ((m, high), low) in at.iter().zip(high).zip(low) {
            waypoints.fill(*m, [high, low]);
        }
    }

    /// Begins to load Z_m and what follows it.
    #[inline(always)]
    pub(super) fn prefetch(&self, m: usize, parts: usize) {
        for part in 0..parts.min(2) {
            prefetch(self.window(part, m));
        }
    }

    /// Z_m.
    #[inline(always)]
    pub(crate) fn at<T: Mantissa>(&self, m: usize) -> Complex<T> {
        let Complex { re, im } = match (self.high.get(m), self.low.get(m)) {
            (Some([re, im]), Some([re_low, im_low])) => {
                Complex { re: Dd { hi: *re, lo: *re_low }, im: Dd { hi: *im, lo: *im_low } }
            }
            _ => self.computed(m),
        };
        Complex { re: T::of(re), im: T::of(im) }
    }

    /// Z_m of an orbit that is kept as waypoints.
    #[cold]
    #[inline(never)]
    fn computed(&self, m: usize) -> Complex<Dd> {
        assert!(self.waypoints.is_some(), "Z_{m} of an orbit up to {}", self.last);
        self.waypoints.as_ref().map_or(Complex::ZERO, |waypoints| waypoints.at(m))
    }

    /// Z_m, of any magnitude.
    pub(crate) fn extended<T: Mantissa>(&self, m: usize) -> Extended<T> {
        let z = self.at::<T>(m);
        if z.size() < TINY
            && let Ok(place) = self.tiny.binary_search_by_key(&(m as u32), |(m, _)| *m)
        {
            return Extended::of(self.tiny[place].1);
        }
        Extended::new(z, 0)
    }

    /// The orbit of C = x + iy, up to Z_limit. `radius` is that of a disc about C that holds the view, and `escape` is R^2.
    ///
    /// # Errors
    /// When the limbs are too few for the view, when there is no memory, and when the flag of the watch is set.
    pub fn new(
        level: Level,
        c: [&Fixed; 2],
        radius: Bound,
        escape: f64,
        limit: u64,
        room: Room,
        watch: Watch<'_>,
    ) -> Result<Self, NoReference> {
        let mut derivative = RunningDerivative::FIRST;
        let mut trap = ViewTrap::new(radius, escape);
        Self::until(level, c, escape, limit, room, watch, |_, step| {
            let Step { m, z, kept, size, square, .. } = step;
            let before = derivative;
            derivative.step(kept.to_f64());
            if trap.step(z, size, step.error_in_f64(), m) {
                return Ok(Some(End::Trap));
            }
            if size < TINY || before.may_reach(radius, size) {
                let reach = radius.times(Bound::modulus(before.value()));
                if step.modulus().below(reach) {
                    // Deltas have at least the size of the view times the derivative.
                    let is_known = step.error().below(reach.times(Bound::new(1.0, RELATIVE_ERROR)));
                    return if is_known { Ok(Some(End::Period)) } else { Err(NoReference::TooFewBits) };
                }
            }
            let is_last = u64::from(m) >= limit;
            Ok(if square > escape { Some(End::Escape) } else { is_last.then_some(End::Limit) })
        })
    }

    /// The orbit of C = x + iy with |Z|^2 up to about `escape` and at most Z_limit, until `ends` says why it ends. It gets what there is of the orbit, Z_m included, and Z_m. The last Z may be of any
    /// precision; the others are known to 2^-112 of their magnitude.
    ///
    /// # Errors
    /// As [`Self::new`], and those of `ends`.
    pub(super) fn until(
        level: Level,
        c: [&Fixed; 2],
        escape: f64,
        limit: u64,
        room: Room,
        watch: Watch<'_>,
        mut ends: impl FnMut(&Self, Step) -> Result<Option<End>, NoReference>,
    ) -> Result<Self, NoReference> {
        let mut exact = FixedOrbit::new(level, c, escape);
        let unit = exact.unit();
        let mut orbit = Self {
            high: vec![[0.0; 2]],
            low: vec![[0.0; 2]],
            // Noted from the beginning on, since they have more bits than pairs of f64.
            waypoints: (room.waypoints > room.pairs && limit >= room.pairs as u64).then(|| Box::new(Waypoints::new(c))),
            last: 0,
            tiny: Vec::new(),
            end_error: Bound::ZERO,
            end: End::Limit,
        };
        // In units of the last place. C itself is exact.
        let mut error = RunningBound::new(Bound::ZERO, Bound::of(8.0));
        for m in 1..u32::MAX {
            // A step of many limbs takes a millisecond.
            if watch.stop.load(Ordering::Relaxed) || watch.stops(m as usize) {
                return Err(NoReference::Stopped);
            }
            let z = exact.leading();
            let kept = z.in_range().unwrap_or(Complex::ZERO);
            let (square, is_tiny) = (kept.square(), kept.size() < TINY);
            let size = if is_tiny { Bound::modulus(z).to_f64() } else { square.sqrt() };
            let step = Step { m, z, kept, size, square, unit, running: error };
            orbit.push(Value { m, orbit: &exact, kept, size, error: step.error_in_f64() }, room)?;
            if is_tiny {
                orbit.tiny.push((m, z));
            }
            if let Some(end) = ends(&orbit, step)? {
                orbit.end = end;
                orbit.ends_here();
                orbit.end_error = step.error().plus(step.modulus().times(Bound::new(1.0, -103)));
                return Ok(orbit);
            }
            let is_known = if is_tiny {
                step.error().below(step.modulus().times(Bound::new(1.0, RELATIVE_ERROR)))
            } else {
                step.error_in_f64() < size * power_of_two(RELATIVE_ERROR)
            };
            if !is_known {
                return Err(NoReference::TooFewBits);
            }
            // The error, at most 2^-112 |Z|, adds less to the growth than its roundings.
            error.step(2.0 * size * (1.0 + 1e-14) + 1e-300);
            exact.step();
        }
        Err(NoReference::Memory)
    }

    /// Adds Z_m.
    #[inline(always)]
    fn push(&mut self, value: Value<'_>, room: Room) -> Result<(), NoReference> {
        if let Some(waypoints) = &mut self.waypoints {
            let most = Self::bytes_of_waypoints(room.waypoints as u64);
            waypoints.add(&value, most).map_err(|NoMemory| NoReference::Memory)?;
        }
        let Complex { re, im } = value.kept;
        self.last = value.m as usize;
        if self.is_compressed() {
            return Ok(());
        }
        if self.high.len() + WINDOW > self.high.capacity() && !self.grow(room.pairs) {
            if self.waypoints.is_none() {
                return Err(NoReference::Memory);
            }
            (self.high, self.low) = (Vec::new(), Vec::new());
            return Ok(());
        }
        self.high.push([re.hi, im.hi]);
        self.low.push([re.lo, im.lo]);
        Ok(())
    }

    /// Makes room for more pairs, of at most so many. Whether there is.
    fn grow(&mut self, most: usize) -> bool {
        // By doubling, the last time up to the most. Where there is little memory, an orbit may still have some pairs.
        let len = self.high.len();
        let most = if self.waypoints.is_some() { most } else { most.max(8192) };
        let more = most.saturating_sub(len).min(len.max(4096));
        more >= WINDOW && self.high.try_reserve_exact(more).is_ok() && self.low.try_reserve_exact(more).is_ok()
    }

    /// Keeps it in one way, and with zeros behind it.
    fn ends_here(&mut self) {
        if self.is_compressed() {
            return;
        }
        self.waypoints = None;
        self.high.extend_from_slice(&NO_WINDOW[1..]);
        self.low.extend_from_slice(&NO_WINDOW[1..]);
    }
}

/// A step of a reference orbit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) m: u32,
    pub(super) z: Extended<Dd>,
    /// Z_m, |Z_m| and the square of that in the range of f64: 0 below it.
    pub(super) kept: Complex<Dd>,
    pub(super) size: f64,
    pub(super) square: f64,
    /// A bound on the error of Z_m before it was rounded, in units of 2^unit.
    running: RunningBound,
    unit: i32,
}

impl Step {
    /// |Z_m|.
    pub(super) fn modulus(&self) -> Bound {
        Bound::modulus(self.z)
    }

    /// A bound on the error of Z_m before it was rounded.
    pub(super) fn error(&self) -> Bound {
        Bound::new(1.0, self.unit).times(self.running.value())
    }

    /// The same in f64, and below its range up to 2^-600.
    #[inline(always)]
    pub(super) fn error_in_f64(&self) -> f64 {
        self.running.scaled(self.unit)
    }
}
