//! The orbits of points themselves in fixed point, for the few pixels that deltas do not decide.
//!
//! With z off by at most e units of the last place, a step is off by (2 |z| + e) e + 8 units, as that of the reference, and by the error of c.
//! The comparisons with R and 256 are made in f64: they are certain but for |z|^2 within some 2^-44 of R^2, relatively, so that
//! a point that is not decided here needs more bits or a closer look.

mod follower;
mod of_point;
pub(super) mod running_error;
#[cfg(target_arch = "x86_64")]
mod together;
mod trap;

#[cfg(target_arch = "x86_64")]
use super::digits::Products;
use super::extended::Extended;
use super::leading::pair;
use super::limbs::{Fixed, Stepper};
use super::mantissa::Complex;
use super::orbit::Found;
use super::values::Units;
use crate::level::Level;
use follower::{At, Follower};
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

/// |z| from which the limbs at the point have 53 bits of the larger part: 2^-10.
pub(super) const NEAR_ONE: f64 = 1.0 / 1024.0;
/// |z| below which a derivative may leave the range of f64: 2^-200.
const NEAR_ZERO: f64 = 6.2e-61;

/// Points that are followed at once where the processor can.
pub const AT_ONCE: usize = 8;

/// Follows the orbits of as many points as there are results, which are undecided before.
pub fn follow(level: Level, goal: &Goal<'_>, points: &mut Points<'_>, found: &mut [Found]) {
    #[cfg(target_arch = "x86_64")]
    if found.len() >= least_together(goal.limbs)
        && Products::of(level).and_then(|products| together::follow(products, goal, points, found)).is_some()
    {
        return;
    }
    let _ = level;
    for (place, found) in found.iter_mut().enumerate() {
        let [x, y] = points(place);
        *found = follow_one(goal, [&x, &y]);
    }
}

/// The fewest points for which a step of eight takes less time than one of each by limbs (`digits.rs`).
#[cfg(target_arch = "x86_64")]
fn least_together(limbs: usize) -> usize {
    match limbs {
        ..6 => 3,
        6..12 => 2,
        _ => 1,
    }
}

/// Follows the orbit of a point.
fn follow_one(goal: &Goal<'_>, parts: [&Fixed; 2]) -> Found {
    let mut z = parts.map(Fixed::clone);
    let mut stepper = Stepper::new(parts);
    let mut follower = Follower::new(goal, z[0].unit(), goal.error);
    while !goal.stop.load(Ordering::Relaxed) {
        let wide = || Extended::of(pair(&z[0], &z[1]));
        let [re, im] = z.each_ref().map(Fixed::at_point);
        let mut near = Complex { re, im };
        if near.size() < NEAR_ONE {
            near = wide().in_range().unwrap_or(Complex::ZERO);
        }
        if let Some(found) = follower.look(goal, &At { z: near, wide }) {
            return found;
        }
        stepper.step(&mut z);
    }
    Found::Undecided
}
