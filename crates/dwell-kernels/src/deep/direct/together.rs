//! Eight orbits at a time, each lane with the next point when it is done.

use super::follower::{At, Follower};
use super::running_error::{GREATEST, LEAST, RunningError, UP};
use super::trap;
use super::{Goal, Points, TOO_MUCH, follow_one};
use crate::deep::derivative::UNDERFLOW;
use crate::deep::digits::{EightOrbits, LANES, Products};
use crate::deep::extended::{Extended, power_of_two};
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Complex;
use crate::deep::orbit::Found;
use crate::deep::values::FAR_SQUARED;
use std::sync::atomic::Ordering;

/// |z| from which the digits at the point have 53 bits of the larger part: 2^-40.
const NEAR_ZERO: f64 = 9.1e-13;
/// |z|^2 below which a lane is looked at.
const LOOKED_AT: f64 = trap::NEAR * trap::NEAR;
/// What the certainty of a comparison takes of R^2: an error of at most 1e-9 changes |z|^2 by less than a millionth of bounds of at least 4.
const CERTAINLY: f64 = 1.0 - 1e-6;

/// The orbits of some points.
struct Together<'a, 'b> {
    goal: &'a Goal<'b>,
    orbits: EightOrbits,
    /// The place in the list of the point of each lane.
    places: [Option<usize>; LANES],
    followers: [Follower; LANES],
    ordinary: Ordinary,
    /// Steps until a lane is looked at in any case, and how many there were when its number of steps was last counted.
    until_look: u64,
    entered: u64,
}

/// What a step that decides nothing needs, of all lanes.
struct Ordinary {
    errors: Errors,
    /// Those of the discs of attempts ([`trap`]).
    discs: Errors,
    /// The greatest |z|^2, certainly within R and 256, and the least one, negative in lanes without a point.
    within: [f64; LANES],
    beyond: [f64; LANES],
}

/// Bounds as [`RunningError`] has them. In a lane without one all is 0 and stays so.
struct Errors {
    m: [f64; LANES],
    scaled_step: [f64; LANES],
    scale: [f64; LANES],
    /// The least m, negative in a lane without a bound, and the greatest bound in the plane.
    least: [f64; LANES],
    most: f64,
}

impl Errors {
    fn none(most: f64) -> Self {
        Self { m: [0.0; LANES], scaled_step: [0.0; LANES], scale: [0.0; LANES], least: [-1.0; LANES], most }
    }

    fn set(&mut self, lane: usize, error: Option<&RunningError>) {
        let (m, scaled_step, scale, least) =
            error.map_or((0.0, 0.0, 0.0, -1.0), |error| (error.m, error.scaled_step, error.scale, LEAST));
        (self.m[lane], self.scaled_step[lane], self.scale[lane], self.least[lane]) = (m, scaled_step, scale, least);
    }

    /// m of all lanes after a step from these moduli. Whether each is in the range that it is kept in.
    #[inline(always)]
    fn stepped(&self, moduli: &[f64; LANES]) -> ([f64; LANES], bool) {
        let (mut after, mut is_in_range) = ([0.0; LANES], true);
        for lane in 0..LANES {
            let off = self.m[lane] * self.scale[lane] + UNDERFLOW;
            let m = ((2.0 * moduli[lane] + off) * self.m[lane] + self.scaled_step[lane]) * UP;
            after[lane] = m;
            is_in_range &= off <= self.most && m > self.least[lane] && m < GREATEST;
        }
        (after, is_in_range)
    }
}

/// Follows the orbits of points, if their limbs and R allow it.
pub(super) fn follow(products: Products, goal: &Goal<'_>, points: &mut Points<'_>, found: &mut [Found]) -> Option<()> {
    let orbits = EightOrbits::new(products, goal.limbs, goal.escape)?;
    let none = Follower::new(goal, orbits.unit(), 0.0);
    let ordinary = Ordinary {
        errors: Errors::none(TOO_MUCH),
        discs: Errors::none(trap::MOST),
        within: [f64::MAX; LANES],
        beyond: [-1.0; LANES],
    };
    let mut together =
        Together { goal, orbits, places: [None; LANES], followers: [none; LANES], ordinary, until_look: 0, entered: 0 };
    products.vectorize(
        #[inline(always)]
        || together.run(points, found),
    );
    Some(())
}

impl Together<'_, '_> {
    #[inline(always)]
    fn run(&mut self, points: &mut Points<'_>, found: &mut [Found]) {
        let mut next = 0;
        for lane in 0..LANES {
            self.fill(lane, &mut next, points, found);
        }
        while self.places.iter().any(Option::is_some) && !self.goal.stop.load(Ordering::Relaxed) {
            let magnitudes = self.orbits.magnitudes();
            let is_ordinary = self.goal.units.is_none() && self.until_look > 0;
            if is_ordinary && self.ordinary.step(magnitudes) {
                self.until_look -= 1;
                self.orbits.step();
            } else {
                self.look(magnitudes, &mut next, points, found);
            }
        }
    }

    /// Looks at each lane by itself before a step.
    #[cold]
    fn look(&mut self, magnitudes: [[f64; LANES]; 2], next: &mut usize, points: &mut Points<'_>, found: &mut [Found]) {
        self.leave_ordinary();
        for lane in 0..LANES {
            while let Some(place) = self.places[lane] {
                let is_new = self.followers[lane].n == 1;
                let [re, im] = if is_new { self.orbits.magnitudes() } else { magnitudes }.map(|of| of[lane]);
                let signed = |part: f64, is_negative: bool| if is_negative { -part } else { part };
                let [of_re, of_im] = self.orbits.signs(lane);
                let wide = || Extended::of(self.orbits.leading(lane));
                let mut z = Complex { re: signed(re, of_re), im: signed(im, of_im) };
                if z.size() < NEAR_ZERO {
                    z = wide().in_range().unwrap_or(Complex::ZERO);
                }
                let Some(decided) = self.followers[lane].look(self.goal, &At { z, wide }) else { break };
                found[place] = decided;
                self.fill(lane, next, points, found);
            }
        }
        self.orbits.step();
        self.enter_ordinary();
    }

    /// Gives a lane the next point, if there is one.
    fn fill(&mut self, lane: usize, next: &mut usize, points: &mut Points<'_>, found: &mut [Found]) {
        self.places[lane] = None;
        while let Some(decided) = found.get_mut(*next) {
            let place = *next;
            *next += 1;
            let [x, y] = points(place);
            // The digits go further than the limbs.
            let of_c = self.goal.error * power_of_two(x.unit() - self.orbits.unit());
            if self.orbits.begin(lane, [&x, &y]) {
                self.places[lane] = Some(place);
                self.followers[lane] = Follower::new(self.goal, self.orbits.unit(), of_c);
                return;
            }
            *decided = follow_one(self.goal, [&x, &y]);
        }
        // Nothing is found of the orbit of 0.
        let zero = Fixed::zero(self.goal.limbs);
        self.orbits.begin(lane, [&zero, &zero]);
    }

    /// Takes the followers' errors and numbers of steps.
    fn enter_ordinary(&mut self) {
        let mut least = u64::MAX;
        let within = self.goal.escape.min(FAR_SQUARED);
        let of = &mut self.ordinary;
        for lane in 0..LANES {
            let Follower { n, error, trap, escaped, .. } = &self.followers[lane];
            let is_used = self.places[lane].is_some();
            let attempt = trap.attempt.as_ref().filter(|_| is_used);
            of.errors.set(lane, is_used.then_some(error));
            of.discs.set(lane, attempt.map(|attempt| &attempt.rho));
            of.beyond[lane] = if is_used { LOOKED_AT } else { -1.0 };
            of.within[lane] = match attempt {
                Some(_) => within * trap::WITHIN,
                None if is_used => within * CERTAINLY,
                None => f64::MAX,
            };
            if is_used {
                least = least.min(if escaped.is_some() { 0 } else { self.goal.limit - n });
            }
        }
        self.until_look = least;
        self.entered = least;
    }

    /// Gives the followers their errors and numbers of steps.
    fn leave_ordinary(&mut self) {
        let steps = self.entered - self.until_look;
        for (lane, follower) in self.followers.iter_mut().enumerate() {
            if self.places[lane].is_some() {
                follower.n += steps;
                follower.error.m = self.ordinary.errors.m[lane];
                if let Some(attempt) = &mut follower.trap.attempt {
                    attempt.rho.m = self.ordinary.discs.m[lane];
                }
            }
        }
        self.entered = self.until_look;
    }
}

impl Ordinary {
    /// Makes a step from |x| and |y|, if in each lane it is certain that nothing is found, and the bounds are in the range that they are kept in. Whether it is made.
    #[inline(always)]
    fn step(&mut self, [x, y]: [[f64; LANES]; 2]) -> bool {
        let (mut moduli, mut is_ordinary) = ([0.0; LANES], true);
        for lane in 0..LANES {
            let square = x[lane] * x[lane] + y[lane] * y[lane];
            moduli[lane] = square.sqrt();
            is_ordinary &= square < self.within[lane] && square > self.beyond[lane];
        }
        let (errors, errors_in_range) = self.errors.stepped(&moduli);
        let (discs, discs_in_range) = self.discs.stepped(&moduli);
        is_ordinary &= errors_in_range && discs_in_range;
        if is_ordinary {
            (self.errors.m, self.discs.m) = (errors, discs);
        }
        is_ordinary
    }
}
