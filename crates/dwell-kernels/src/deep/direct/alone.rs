//! One orbit at a time.

use super::Goal;
use super::follower::{At, Follower};
use super::queue::Queue;
use super::under_way::UnderWay;
use crate::deep::extended::Extended;
use crate::deep::fixed_orbit::{EachStep, FixedOrbit};
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Complex;
use crate::deep::orbit::Found;
use crate::level::Level;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps at which it is certain that nothing is found.
struct Ordinary<'a> {
    follower: &'a mut Follower,
    /// The greatest |z|^2.
    within: f64,
    /// How many more there may be.
    most: u64,
    stop: [&'a AtomicBool; 2],
}

impl EachStep for Ordinary<'_> {
    #[inline(always)]
    fn goes_on(&mut self, z: Complex<f64>) -> bool {
        let is_stopped = self.stop.iter().any(|stop| stop.load(Ordering::Relaxed));
        let goes_on = self.most > 0 && !is_stopped && self.follower.goes_on(z, self.within);
        self.most -= u64::from(goes_on);
        goes_on
    }
}

/// Follows the orbit of a point, from its beginning or one under way, until the queue stops. Its error is in units of limbs, of which steps of digits add fewer.
pub(super) fn follow_one(
    (level, goal, queue): (Level, &Goal<'_>, &Queue),
    point: [&Fixed; 2],
    from: Option<UnderWay>,
) -> Result<Found, Box<UnderWay>> {
    let UnderWay { z, mut follower } = from.unwrap_or_else(|| UnderWay::new(goal, point));
    let (fold, c) = (goal.iterated.formula.fold(), goal.iterated.c(point));
    let mut orbit = FixedOrbit::from(level, fold, [z.each_ref(), c], goal.escape);
    while !goal.stop.load(Ordering::Relaxed) {
        if follower.escaped.is_none() {
            let (within, most) = (follower.certainly_within(goal), goal.limit - follower.n);
            orbit.steps(&mut Ordinary { follower: &mut follower, within, most, stop: [goal.stop, queue.stopping()] });
        }
        let at = At { z: orbit.near(), wide: || Extended::of(orbit.leading()), limbs: || orbit.parts() };
        if let Some(found) = follower.look(goal, &at) {
            return Ok(found);
        }
        orbit.step();
        if queue.is_stopping() {
            return Err(Box::new(UnderWay::cut(goal, orbit.parts(), follower, point[0].unit())));
        }
    }
    Ok(Found::Undecided)
}
