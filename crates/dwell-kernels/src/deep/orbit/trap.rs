//! Proofs that an orbit never escapes: a disc of points that returns into itself.
//!
//! After a rebase the delta is the value of the orbit itself. There the bound e is raised to a radius r above it, and the orbit goes on. The bound then
//! holds for *every* point of the disc with this radius about z, for the exact c of the pixel: so if at a later rebase |z' - z| + e' <= r, all of them are
//! mapped into the disc, and since none of them escaped on the way, none ever does. Raising a bound is valid, so that an attempt costs nothing while it
//! lasts; one that fails, as those of orbits that are not attracted soon do, is taken back to where it began.

use super::Orbit;
use crate::deep::derivative::{UP, WideDerivative};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Mantissa};

/// Rebases before the first attempt: nearly all pixels that escape have fewer.
pub(in crate::deep) const FIRST: u64 = 32;
/// The radius of attempts relative to |z|, as powers of two, in turn.
const RADII: [i32; 4] = [-4, -8, -14, -22];

/// The attempts of an orbit.
pub(super) struct Trap<T> {
    pub(super) rebases: u64,
    next: u64,
    number: usize,
    pub(super) attempt: Option<Attempt<T>>,
}

/// An attempt under way.
pub(super) struct Attempt<T> {
    /// The disc that is to return into itself.
    centre: Extended<T>,
    radius: Bound,
    /// Where the orbit goes on if it fails.
    pub(super) before: Before<T>,
}

/// An orbit before its bound was raised.
#[derive(Clone, Copy)]
pub(super) struct Before<T> {
    pub(super) z: Extended<T>,
    pub(super) e: Bound,
    pub(super) derivative: WideDerivative,
    pub(super) n: u64,
}

/// What follows from a rebase.
pub(super) enum Next {
    /// The orbit never escapes.
    Trapped,
    /// The bound is raised.
    Raise(Bound),
    /// The orbit goes on.
    GoOn,
}

impl<T> Trap<T> {
    pub(super) fn new() -> Self {
        Self { rebases: 0, next: FIRST, number: 0, attempt: None }
    }
}

impl<T> Trap<T> {
    /// Counts a rebase, if nothing is to be proved at it.
    #[inline(always)]
    pub(super) fn passes(&mut self) -> bool {
        let passes = self.attempt.is_none() && self.rebases + 1 < self.next;
        self.rebases += u64::from(passes);
        passes
    }
}

impl<T: Mantissa, const DERIVED: bool> Orbit<'_, T, DERIVED> {
    /// After a rebase at n to z, known to within e, with its derivative.
    #[inline(never)]
    pub(super) fn after_rebase(
        &self,
        trap: &mut Trap<T>,
        (z, e, derivative): (Extended<T>, Bound, WideDerivative),
        n: u64,
    ) -> Next {
        if let Some(attempt) = &trap.attempt {
            let Extended { m: centre, e: exponent } = attempt.centre;
            let off = Bound::modulus(z.plus(Extended { m: Complex { re: -centre.re, im: -centre.im }, e: exponent }));
            // The difference is rounded, too.
            let rounding = z.taxicab().plus(attempt.centre.taxicab()).by(2.0 * T::UNIT);
            if !attempt.radius.below(off.plus(e).plus(rounding).by(UP)) {
                return Next::Trapped;
            }
        }
        trap.rebases += 1;
        if trap.rebases < trap.next {
            return Next::GoOn;
        }
        trap.next *= 2;
        let radius = Bound::modulus(z).times(Bound::new(1.0, RADII[trap.number % RADII.len()]));
        trap.number += 1;
        if !e.below(radius) {
            return Next::GoOn;
        }
        // While another attempt lasts, the bound is that of its disc already.
        let before = trap.attempt.take().map_or(Before { z, e, derivative, n }, |attempt| attempt.before);
        trap.attempt = Some(Attempt { centre: z, radius, before });
        Next::Raise(radius)
    }
}
