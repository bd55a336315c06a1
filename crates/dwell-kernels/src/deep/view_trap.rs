//! Proofs that no point of a view ever escapes, beside the reference orbit.
//!
//! rho bounds |z_n(c) - Z_n| for every c of the view, which is within r of C: rho_1 = r and rho' = (2 |Z| + rho) rho + r. For another power N, rho' = ((|Z| + rho)^N - |Z|^N) + r,
//! and for a Julia set nothing is added, and rho_1 is the radius of the view, or 0 for the critical orbit. Folds bring no two points further apart. An attempt at m
//! raises rho to a radius s; if later |Z_n - Z_m| + rho_n <= s, and |Z| + rho < R all the way, every point of the disc about Z_m is mapped into the disc by every c of
//! the view, and so none escapes. The error of Z is added to rho where it counts.

use super::extended::{Bound, Extended};
use super::mantissa::{Complex, Dd};
use super::running::RunningBound;

/// The first attempt; others follow at twice the m each.
const FIRST: u32 = 64;
/// The radii of attempts, in turn.
const RADII: [f64; 4] = [1.0 / 16.0, 1.0 / 256.0, 1.0 / 8192.0, 1.0 / 1_048_576.0];
/// For the roundings of a step.
const UP: f64 = 1.0 + 1e-13;

/// The attempts beside an orbit.
pub(super) struct ViewTrap {
    view: Bound,
    added: Bound,
    power: u32,
    escape_radius: f64,
    /// A bound for all points of the view, as long as none of them may have escaped.
    all: Option<RunningBound>,
    attempt: Option<Attempt>,
    next: u32,
    number: usize,
    last: f64,
}

struct Attempt {
    m: u32,
    z: Extended<Dd>,
    radius: f64,
    rho: f64,
}

impl ViewTrap {
    /// For a view of a radius, and R^2.
    pub(super) fn new(view: Bound, escape: f64) -> Self {
        Self::of_power(2, view, view, escape)
    }

    /// For a power, a bound for the first z, and what each step adds to it.
    pub(super) fn of_power(power: u32, view: Bound, added: Bound, escape: f64) -> Self {
        let escape_radius = escape.sqrt() * (1.0 - 1e-12);
        Self { view, added, power, escape_radius, all: None, attempt: None, next: FIRST, number: 0, last: 0.0 }
    }

    /// The index and the radius of the disc that returns into itself, once a step has said so.
    pub(super) fn disc(&self) -> Option<(u32, f64)> {
        self.attempt.as_ref().map(|attempt| (attempt.m, attempt.radius))
    }

    /// The next Z, the m-th, whose modulus is `size` in f64, and which is off by at most `error`, both 0 below its range. Whether all points of the view are trapped.
    #[inline(always)]
    pub(super) fn step(&mut self, z: Extended<Dd>, size: f64, error: f64, m: u32) -> bool {
        let modulus = (size + error + 1e-300) * UP;
        // Both bounds follow from those of the last Z.
        match &mut self.all {
            None if m == 1 => self.all = Some(RunningBound::new(self.view, self.added)),
            None => {}
            // Where |Z| is below the range of f64, the growth is more than this.
            Some(rho) => rho.step((growth(self.power, self.last, rho.scaled(0)) + 1e-300) * UP),
        }
        if let Some(rho) = self.attempt.as_ref().map(|attempt| attempt.rho) {
            let after = (growth(self.power, self.last, rho) * rho + self.added.to_f64() + 1e-290) * UP;
            self.attempt.iter_mut().for_each(|attempt| attempt.rho = after);
        }
        self.last = modulus;
        self.all = self.all.filter(|rho| modulus + rho.scaled(0) + 1e-290 < self.escape_radius);
        self.attempt.take_if(|attempt| modulus + attempt.rho >= self.escape_radius);
        let Some(all) = self.all else { return false };
        if let Some(attempt) = &self.attempt {
            let start = Complex { re: -attempt.z.m.re, im: -attempt.z.m.im };
            let off = Bound::modulus(z.plus(Extended { m: start, e: attempt.z.e })).to_f64() + 2.0 * error + 1e-28;
            if (off + attempt.rho) * UP <= attempt.radius {
                return true;
            }
        }
        if m >= self.next {
            self.next = m.saturating_mul(2);
            let radius = RADII[self.number % RADII.len()];
            self.number += 1;
            let fits = all.scaled(0) < radius && modulus + radius < self.escape_radius;
            self.attempt = fits.then_some(Attempt { m, z, radius, rho: radius });
        }
        false
    }
}

/// (|Z| + rho)^(N-1) + (|Z| + rho)^(N-2) |Z| + ... + |Z|^(N-1), for |Z| up to `last`.
#[inline(always)]
fn growth(power: u32, last: f64, rho: f64) -> f64 {
    let (mut sum, mut of_z) = (1.0, 1.0);
    for _ in 1..power {
        of_z *= last;
        sum = sum * (last + rho) + of_z;
    }
    sum
}
