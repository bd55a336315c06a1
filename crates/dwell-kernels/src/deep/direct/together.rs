//! Eight orbits at a time, each lane with the next point when it is done. When there are no more points, lanes are left to threads that wait for an orbit, and the last ones, which fill the vector too
//! little, are iterated one by one.

use super::alone::follow_one;
use super::follower::{At, Follower};
use super::of_point::OfPoint;
use super::ordinary::Ordinary;
use super::queue::{self, LeftOrbit, Queue};
use super::under_way::UnderWay;
use super::{Followed, Goal, LOOKED_AT, Points};
use crate::deep::digits::{EightOrbits, LANES, Products};
use crate::deep::extended::{Extended, power_of_two};
use crate::deep::fixed_orbit::NEAR_ZERO;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Complex;
use crate::deep::orbit::Found;
use crate::level::Level;
use std::sync::atomic::Ordering;

/// The most steps until lanes are looked at, some milliseconds: so long may a thread wait that has no orbit.
const MOST_STEPS: u64 = 1 << 14;

/// The orbits of some points.
struct Together<'a, 'b> {
    level: Level,
    products: Products,
    goal: &'a Goal<'b>,
    orbits: EightOrbits,
    /// The place in the list of the point of each lane.
    places: [Option<usize>; LANES],
    followers: [Follower; LANES],
    ordinary: Ordinary,
    queue: queue::Together<'a>,
    /// Steps until a lane is looked at in any case, and how many there were when its number of steps was last counted.
    until_look: u64,
    entered: u64,
}

/// The fewest orbits of so many digits that are iterated together: a step of eight takes 2 to 3 times as long as one of an orbit alone with 8 digits and fewer, 4 to 5 times with up to 20, and 3 to 6 times with more (docs/deep.md).
fn least_together(digits: usize) -> usize {
    match digits {
        ..=8 => 3,
        9..=20 => 4,
        _ => 5,
    }
}

/// Follows orbits of a queue, as long as each thread has enough of them, if their limbs and R allow it.
pub(super) fn follow(
    (level, products): (Level, Products),
    goal: &Goal<'_>,
    queue: &Queue,
    points: &mut Points<'_>,
    found: &mut dyn FnMut(usize, Found),
) -> Option<Followed> {
    let orbits = EightOrbits::new(products, goal.iterated.formula.fold(), goal.limbs, goal.escape)?;
    let lanes = queue.share().min(LANES);
    if lanes < least_together(orbits.digits()) {
        return None;
    }
    let none = Follower::new(goal, orbits.unit(), 1.0);
    let mut together = Together {
        level,
        products,
        goal,
        queue: queue::Together::begin(queue),
        orbits,
        places: [None; LANES],
        followers: [none; LANES],
        ordinary: Ordinary::none(goal.units.map(|(_, scale)| scale)),
        until_look: 0,
        entered: 0,
    };
    Some(together.run(lanes, points, found))
}

impl Together<'_, '_> {
    fn run(&mut self, lanes: usize, points: &mut Points<'_>, found: &mut dyn FnMut(usize, Found)) -> Followed {
        let (mut steps, mut of_lanes) = (0, 0);
        for lane in 0..lanes {
            self.fill(lane, points, found);
        }
        // The bounds of orbits that go on, which `look` takes from there.
        self.enter_ordinary();
        let queue = self.queue.queue();
        let mut leaves = false;
        while self.places.iter().any(Option::is_some) && !self.goal.stop.load(Ordering::Relaxed) {
            let Self { ordinary, products, orbits, goal, until_look, .. } = self;
            *until_look -= ordinary.steps(*products, orbits, *until_look, [goal.stop, queue.stopping()]);
            let made = 1 + self.entered - self.until_look;
            steps += made;
            of_lanes += made * self.places.iter().flatten().count() as u64;
            self.look(points, found);
            if queue.is_stopping() {
                let left: Vec<_> = (0..LANES).filter_map(|lane| self.taken_from(lane)).collect();
                leaves = !left.is_empty();
                left.into_iter().for_each(|LeftOrbit { place, orbit }| queue.keep(place, orbit));
                break;
            }
        }
        Followed { leaves, used: of_lanes as f64 / (LANES as u64 * steps.max(1)) as f64 }
    }

    /// Looks at each lane by itself before a step.
    fn look(&mut self, points: &mut Points<'_>, found: &mut dyn FnMut(usize, Found)) {
        self.leave_ordinary();
        let mut magnitudes = self.orbits.magnitudes();
        for lane in 0..LANES {
            while let Some(place) = self.places[lane] {
                let [re, im] = magnitudes.each_ref().map(|of| of[lane]);
                let signed = |part: f64, is_negative: bool| if is_negative { -part } else { part };
                let [of_re, of_im] = self.orbits.signs(lane);
                let wide = || Extended::of(self.orbits.leading(lane));
                let limbs = || self.orbits.parts(lane, self.goal.limbs);
                let mut z = Complex { re: signed(re, of_re), im: signed(im, of_im) };
                if z.size() < NEAR_ZERO {
                    z = wide().in_range().unwrap_or(Complex::ZERO);
                }
                let Some(decided) = self.followers[lane].look(self.goal, &At { z, wide, limbs }) else { break };
                found(place, decided);
                self.fill(lane, points, found);
                magnitudes = self.orbits.magnitudes();
            }
        }
        self.orbits.step();
        self.leave();
        self.enter_ordinary();
    }

    /// Gives a lane the next point, if there is one.
    fn fill(&mut self, lane: usize, points: &mut Points<'_>, found: &mut dyn FnMut(usize, Found)) {
        self.clear(lane);
        let queue = self.queue.queue();
        while let Some(place) = queue.take() {
            let [x, y] = points(place);
            let orbit = queue.take_under_way(place);
            // The digits go further than the limbs.
            let unit = self.orbits.unit();
            let of_limbs = power_of_two(x.unit() - unit);
            let (point, goal) = ([&x, &y], self.goal);
            let z = orbit.as_ref().map_or(point, |orbit| orbit.z.each_ref());
            if self.orbits.begin(lane, [z, goal.iterated.c(point)]) {
                self.places[lane] = Some(place);
                self.followers[lane] = orbit.map_or_else(
                    || Follower::new(goal, unit, of_limbs),
                    |orbit| orbit.follower_in(goal, unit, of_limbs),
                );
                return;
            }
            match follow_one((self.level, self.goal, queue), [&x, &y], orbit) {
                Ok(of) => found(place, of),
                Err(orbit) => queue.keep(place, *orbit),
            }
        }
    }

    /// Leaves a lane without a point. Nothing is found of the orbit of 0.
    fn clear(&mut self, lane: usize) {
        self.places[lane] = None;
        let zero = Fixed::zero(self.goal.limbs);
        self.orbits.begin(lane, [[&zero, &zero]; 2]);
    }

    /// Leaves orbits to be iterated one by one, once there are no more points: one for each thread that waits, and all where a step of the vector takes longer.
    fn leave(&mut self) {
        if !self.queue.is_empty() {
            return;
        }
        let used = self.places.iter().flatten().count();
        let leaving = if used < least_together(self.orbits.digits()) { used } else { self.queue.wanted() };
        let lanes = (0..LANES).filter(|lane| self.places[*lane].is_some()).take(leaving).collect::<Vec<_>>();
        for lane in lanes {
            if let Some(orbit) = self.taken_from(lane) {
                self.queue.leave(orbit);
            }
        }
    }

    /// The orbit of a lane, if there is one, which is then without a point.
    fn taken_from(&mut self, lane: usize) -> Option<LeftOrbit> {
        let place = self.places[lane]?;
        let z = self.orbits.parts(lane, self.goal.limbs);
        let orbit = UnderWay::cut(self.goal, z, self.followers[lane], self.orbits.unit());
        self.clear(lane);
        Some(LeftOrbit { place, orbit })
    }

    /// Takes the followers' errors and numbers of steps.
    fn enter_ordinary(&mut self) {
        let mut least = u64::MAX;
        let of = &mut self.ordinary;
        of.has_discs = false;
        for lane in 0..LANES {
            let follower = &self.followers[lane];
            let Follower { n, error, trap, escaped, derivative, .. } = follower;
            let is_used = self.places[lane].is_some();
            let attempt = trap.attempt.as_ref().filter(|_| is_used);
            of.errors.set(lane, is_used.then_some(error));
            of.has_discs |= attempt.is_some();
            of.discs.set(lane, attempt.map(|attempt| &attempt.rho));
            of.beyond.0[lane] = if is_used { LOOKED_AT } else { -1.0 };
            of.within.0[lane] = if is_used { follower.certainly_within(self.goal) } else { f64::MAX };
            let derivative = derivative.as_ref().filter(|_| is_used).map(OfPoint::in_range);
            if let Some(of) = &mut of.derivatives {
                of.set(lane, derivative.flatten());
            }
            if is_used {
                // Below the range of f64 it is stepped where the lane is looked at.
                let is_looked_at = escaped.is_some() || derivative == Some(None);
                least = least.min(if is_looked_at { 0 } else { self.goal.limit - n });
            }
        }
        self.until_look = least.min(MOST_STEPS);
        self.entered = self.until_look;
    }

    /// Gives the followers their errors and numbers of steps.
    fn leave_ordinary(&mut self) {
        let steps = self.entered - self.until_look;
        for (lane, follower) in self.followers.iter_mut().enumerate() {
            if self.places[lane].is_some() {
                follower.n += steps;
                follower.error.m = self.ordinary.errors.m.0[lane];
                if let Some(attempt) = &mut follower.trap.attempt {
                    attempt.rho.m = self.ordinary.discs.m.0[lane];
                }
                if let Some((of, own)) = self.ordinary.derivatives.as_ref().zip(follower.derivative.as_mut())
                    && own.in_range().is_some()
                {
                    own.narrow = of.get(lane);
                }
            }
        }
        self.entered = self.until_look;
    }
}
