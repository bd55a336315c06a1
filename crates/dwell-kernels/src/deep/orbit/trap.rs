//! Proofs that an orbit never escapes: a disc of points that returns into itself.
//!
//! After a rebase the delta is the value of the orbit itself. There the bound e is raised to a radius r above it, and the orbit goes on. The bound then
//! holds for *every* point of the disc with this radius about z, for the exact c of the pixel: so if at a later rebase |z' - z| + e' <= r, all of them are
//! mapped into the disc, and since none of them escaped on the way, none ever does. Raising a bound is valid, so that an attempt costs nothing while it
//! lasts; one that fails, as those of orbits that are not attracted soon do, is taken back to where it began.

use crate::deep::derivative::{UP, WideDerivative};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Mantissa};

/// Rebases before the first attempt: nearly all pixels that escape have fewer.
pub(in crate::deep) const FIRST: u64 = 32;
/// The radius of attempts relative to |z|, as powers of two, in turn.
const RADII: [i32; 4] = [-4, -8, -14, -22];

/// The attempts of an orbit.
pub(in crate::deep) struct Trap<T, D = WideDerivative> {
    pub(in crate::deep) rebases: u64,
    next: u64,
    number: usize,
    pub(in crate::deep) attempt: Option<Attempt<T, D>>,
}

/// An attempt under way.
pub(in crate::deep) struct Attempt<T, D = WideDerivative> {
    /// The disc that is to return into itself.
    centre: Extended<T>,
    radius: Bound,
    /// Where the orbit goes on if it fails.
    pub(in crate::deep) before: Before<T, D>,
}

/// An orbit before its bound was raised.
#[derive(Clone, Copy)]
pub(in crate::deep) struct Before<T, D = WideDerivative> {
    pub(in crate::deep) z: Extended<T>,
    pub(in crate::deep) e: Bound,
    pub(in crate::deep) derivative: D,
    pub(in crate::deep) n: u64,
}

/// What follows from a rebase.
pub(in crate::deep) enum Next {
    /// The orbit never escapes.
    Trapped,
    /// The bound is raised.
    Raise(Bound),
    /// The orbit goes on.
    GoOn,
}

impl<T, D> Trap<T, D> {
    pub(in crate::deep) fn new() -> Self {
        Self { rebases: 0, next: FIRST, number: 0, attempt: None }
    }
}

impl<T, D> Trap<T, D> {
    /// Counts a rebase, if nothing is to be proved at it.
    #[inline(always)]
    pub(in crate::deep) fn passes(&mut self) -> bool {
        let passes = self.attempt.is_none() && self.rebases + 1 < self.next;
        self.rebases += u64::from(passes);
        passes
    }
}

impl<T, D> Trap<T, D> {
    /// Makes the next rebase one at which something is to be proved: for an orbit that goes on for long without rebases.
    pub(in crate::deep) fn hasten(&mut self) {
        self.rebases = self.rebases.max(self.next - 1);
    }
}

impl<T: Mantissa, D: Copy> Trap<T, D> {
    /// How many rebases pass before one at which something is to be proved.
    pub(in crate::deep) fn passing(&self) -> u64 {
        if self.attempt.is_some() { 0 } else { self.next.saturating_sub(self.rebases + 1) }
    }

    /// After a rebase at n to z, known to within e, with its derivative.
    #[inline(never)]
    pub(in crate::deep) fn after_rebase(&mut self, (z, e, derivative): (Extended<T>, Bound, D), n: u64) -> Next {
        let trap = self;
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
