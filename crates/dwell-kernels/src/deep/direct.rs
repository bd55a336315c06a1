//! The orbits of points themselves in fixed point, for the few pixels that deltas do not decide.
//!
//! With z off by at most e units of the last place, a step is off by (2 |z| + e) e + 8 units, as that of the reference, and by the error of c.
//! The comparisons with R and 256 are made in f64: they are certain but for |z|^2 within some 2^-44 of R^2, relatively, where limbs are compared
//! (`circle.rs`). So a point that is not decided here needs more bits.

pub(super) mod circle;
mod follower;
mod of_point;
#[cfg(target_arch = "x86_64")]
mod ordinary;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only vectors leave orbits to other threads"))]
mod queue;
pub(super) mod running_error;
#[cfg(target_arch = "x86_64")]
mod together;
mod trap;

#[cfg(target_arch = "x86_64")]
use super::digits::Products;
use super::extended::Extended;
use super::fixed_orbit::FixedOrbit;
use super::limbs::Fixed;
use super::orbit::Found;
use super::values::Units;
use crate::level::Level;
use follower::{At, Follower};
use queue::LeftOrbit;
pub use queue::Queue;
use std::sync::atomic::{AtomicBool, Ordering};

/// What points in fixed point are iterated for.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// The limbs of the parts of c, which are below 2^62. With |c| > R and |c| > 256 it is not iterated, so that squares fit below 2^64.
    pub limbs: usize,
    /// A bound on the error of c in units of the last place.
    pub error: f64,
    /// R^2, rounded to nearest, at most 10^18.
    pub escape: f64,
    /// R^2 in as many limbs, rounded down.
    pub exact_escape: &'a Fixed,
    /// The greatest n.
    pub limit: u64,
    /// Whether the smooth value is wanted.
    pub smooth: bool,
    /// What distances and slopes are expressed in, with its scale, where they are wanted.
    pub units: Option<(Units, i32)>,
    /// Set to stop: what is left is then undecided.
    pub stop: &'a AtomicBool,
}

/// The parts of c of a point, given its place in the list.
pub type Points<'a> = dyn FnMut(usize) -> [Fixed; 2] + 'a;

/// The relative error of |z|^2 and of its bounds in f64, with room.
pub(super) const ROUNDING: f64 = 1.0 / 35_184_372_088_832.0;
/// An error in the plane with which nothing is decided.
pub(super) const TOO_MUCH: f64 = 1e-9;

/// |z| below which a derivative may leave the range of f64: 2^-200.
const NEAR_ZERO: f64 = 6.2e-61;

/// Follows the orbits of the points of a queue, until there are no more and no other thread leaves any. `found` gets the places of those that this thread has followed, in any order, and what
/// it found of them.
pub fn follow(
    level: Level,
    goal: &Goal<'_>,
    queue: &Queue,
    points: &mut Points<'_>,
    found: &mut dyn FnMut(usize, Found),
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(products) = Products::of(level) {
        together::follow((level, products), goal, queue, points, found);
    }
    while !goal.stop.load(Ordering::Relaxed) {
        if let Some(place) = queue.take() {
            let [x, y] = points(place);
            found(place, follow_one(level, goal, [&x, &y]));
        } else if let Some(LeftOrbit { place, z, follower }) = queue.wait() {
            let [x, y] = points(place);
            found(place, go_on((level, goal), [&x, &y], z, follower));
        } else {
            return;
        }
    }
}

/// Follows the orbit of a point.
fn follow_one(level: Level, goal: &Goal<'_>, c: [&Fixed; 2]) -> Found {
    go_on((level, goal), c, c.map(Fixed::clone), Follower::new(goal, c[0].unit(), goal.error))
}

/// The fewest limbs for which digits are the faster way, with z in f64 after each step.
const LEAST_LIMBS: usize = 11;

/// Follows the orbit of a point from z. Its error is in units of limbs, of which steps of digits add fewer.
fn go_on((level, goal): (Level, &Goal<'_>), c: [&Fixed; 2], z: [Fixed; 2], mut follower: Follower) -> Found {
    let mut orbit = FixedOrbit::from_limbs(LEAST_LIMBS, level, c, goal.escape);
    orbit.set(z);
    while !goal.stop.load(Ordering::Relaxed) {
        let at = At { z: orbit.near(), wide: || Extended::of(orbit.leading()), limbs: || orbit.parts() };
        if let Some(found) = follower.look(goal, &at) {
            return found;
        }
        orbit.step();
    }
    Found::Undecided
}
