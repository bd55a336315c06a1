//! Eight orbits at a time, each lane with the next point when it is done.

use super::follower::{At, Follower};
use super::running_error::{GREATEST, LEAST, UP};
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

/// What a step that decides nothing needs, of all lanes: the bounds on the errors as [`RunningError`](super::running_error::RunningError) has them.
#[derive(Clone, Copy)]
struct Ordinary {
    m: [f64; LANES],
    scaled_step: [f64; LANES],
    scale: [f64; LANES],
    /// The greatest |z|^2, certainly within R and 256, and the least one, negative in lanes without a point.
    within: [f64; LANES],
    beyond: [f64; LANES],
}

/// Follows the orbits of points, if their limbs and R allow it.
pub(super) fn follow(products: Products, goal: &Goal<'_>, points: &mut Points<'_>, found: &mut [Found]) -> Option<()> {
    let orbits = EightOrbits::new(products, goal.limbs, goal.escape)?;
    let none = Follower::new(goal, orbits.unit(), 0.0);
    let zero = [0.0; LANES];
    let ordinary =
        Ordinary { m: zero, scaled_step: zero, scale: zero, within: [f64::MAX; LANES], beyond: [-1.0; LANES] };
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
            match is_ordinary.then(|| self.ordinary.stepped(magnitudes)).flatten() {
                Some(after) => {
                    self.ordinary = after;
                    self.until_look -= 1;
                    self.orbits.step();
                }
                None => self.look(magnitudes, &mut next, points, found),
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
        // Certainly within: an error of at most 1e-9 changes |z|^2 by less than a millionth of bounds of at least 4.
        let within = self.goal.escape.min(FAR_SQUARED) * (1.0 - 1e-6);
        let of = &mut self.ordinary;
        for lane in 0..LANES {
            let Follower { n, error, escaped, .. } = &self.followers[lane];
            let is_used = self.places[lane].is_some();
            (of.m[lane], of.scaled_step[lane], of.scale[lane]) = (error.m, error.scaled_step, error.scale);
            of.beyond[lane] = if is_used { NEAR_ZERO * NEAR_ZERO } else { -1.0 };
            of.within[lane] = if is_used { within } else { f64::MAX };
            if is_used {
                least = least.min(if escaped.is_some() { 0 } else { self.goal.limit - n });
            } else {
                (of.m[lane], of.scaled_step[lane], of.scale[lane]) = (1.0, 1.0, 0.0);
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
                follower.error.m = self.ordinary.m[lane];
            }
        }
        self.entered = self.until_look;
    }
}

impl Ordinary {
    /// What follows a step from |x| and |y|, if in each lane it is certain that nothing is found, and the error is in the range that it is kept in.
    #[inline(always)]
    fn stepped(&self, [x, y]: [[f64; LANES]; 2]) -> Option<Self> {
        let mut after = *self;
        let mut is_ordinary = true;
        for lane in 0..LANES {
            let square = x[lane] * x[lane] + y[lane] * y[lane];
            let off = self.m[lane] * self.scale[lane] + UNDERFLOW;
            let m = ((2.0 * square.sqrt() + off) * self.m[lane] + self.scaled_step[lane]) * UP;
            after.m[lane] = m;
            is_ordinary &= square < self.within[lane]
                && square > self.beyond[lane]
                && off <= TOO_MUCH
                && m > LEAST
                && m < GREATEST;
        }
        is_ordinary.then_some(after)
    }
}
