//! Proofs that an orbit in fixed point never escapes: a disc about a value of the orbit that returns into itself.
//!
//! As in `orbit/trap.rs`, but the bound of the disc is kept beside that of the orbit, so that an attempt that fails costs nothing. With the disc of radius r about
//! the computed z_m, rho = r there, and from step to step as the bound on the error of the orbit: rho' = (2 |z| + rho) rho + what a step adds. So every point of the disc is
//! within rho of z_n after n - m steps with the exact c of the point, and as r is above the bound on the error of z_m, the exact orbit is one of them. If |z| + rho stays within R
//! up to an n with |z_n - z_m| + rho <= r, the disc is mapped into itself, and the orbit never escapes.
//!
//! Orbits that are attracted to a cycle pass 0 once in each period at the same distance, the least one: attempts begin there. Near small copies of the set that is
//! far below [`NEAR`], and a vector of orbits looks at single lanes only there.

use super::running_error::RunningError;
use crate::deep::derivative::UP;
use crate::deep::extended::{Bound, Extended};

/// |z| up to which an orbit is near 0: 2^-20.
pub(super) const NEAR: f64 = 1.0 / 1_048_576.0;
/// The passages in the first stretch, in which nothing is attempted but the least |z| is found; each further stretch is twice as long, with one attempt.
const FIRST: u64 = 32;
/// The radius of attempts relative to |z|, as powers of two, in turn.
const RADII: [i32; 4] = [-4, -8, -14, -22];
/// The rho with which an attempt is given up: the disc is then within R wherever z is within 1 - 2^-8 of it.
pub(super) const MOST: f64 = 1.0 / 4096.0;
/// That part of R^2.
pub(super) const WITHIN: f64 = 1.0 - 1.0 / 256.0;

/// The attempts of an orbit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trap {
    passages: u64,
    /// The number of the passage with which the stretch ends, and of stretches that have ended.
    end: u64,
    stretch: usize,
    /// The least |z| of this stretch and of the one before.
    least: Bound,
    least_before: Bound,
    /// Whether an attempt is to begin in this stretch.
    is_due: bool,
    pub(super) attempt: Option<Attempt>,
}

/// An attempt under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    centre: Extended<f64>,
    radius: Bound,
    pub(super) rho: RunningError,
}

impl Trap {
    pub(super) fn new() -> Self {
        Self {
            passages: 0,
            end: FIRST,
            stretch: 0,
            least: Bound::BEYOND,
            least_before: Bound::BEYOND,
            is_due: false,
            attempt: None,
        }
    }

    /// Gives up an attempt whose disc may not be within R, of which this is the square, at |z|^2.
    #[inline(always)]
    pub(super) fn keep_within(&mut self, escape: f64, square: f64) {
        self.attempt.take_if(|attempt| {
            let rho = attempt.rho.absolute();
            rho.is_nan() || rho > MOST || square > escape * WITHIN
        });
    }

    /// At z near 0, known to within `error`. Whether the orbit never escapes.
    #[cold]
    pub(super) fn passes(&mut self, z: Extended<f64>, error: &RunningError) -> bool {
        if self.attempt.as_ref().is_some_and(|attempt| attempt.returns_at(z)) {
            return true;
        }
        let modulus = Bound::modulus(z);
        self.passages += 1;
        if modulus.below(self.least) {
            self.least = modulus;
        }
        if self.is_due && modulus.below(self.least_before.by(2.0)) {
            self.is_due = false;
            let radius = modulus.times(Bound::new(1.0, RADII[self.stretch % RADII.len()]));
            // The disc has to hold the exact value. At a nucleus |z| is below the error.
            let least = error.bound().by(2.0);
            let radius = if radius.below(least) { least } else { radius };
            self.attempt = Some(Attempt { centre: z, radius, rho: error.raised(radius) });
        }
        if self.passages == self.end {
            self.end *= 2;
            self.stretch += 1;
            self.least_before = std::mem::replace(&mut self.least, Bound::BEYOND);
            self.is_due = true;
        }
        false
    }
}

impl Attempt {
    /// Whether every point of the disc is in it again at z.
    fn returns_at(&self, z: Extended<f64>) -> bool {
        let off = Bound::modulus(z.plus(Extended { m: self.centre.m.scaled(-1.0), e: self.centre.e }));
        // z and the centre are to 52 bits, and the difference is rounded.
        let rounding = z.taxicab().plus(self.centre.taxicab()).times(Bound::new(1.0, -50));
        !self.radius.below(off.plus(self.rho.bound()).plus(rounding).by(UP))
    }
}
