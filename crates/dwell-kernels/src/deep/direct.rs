//! The orbits of points themselves in fixed point, for the few pixels that deltas do not decide: of z^2 + c with or without a fold, and of their Julia sets. Folds, which bring no two points further apart, change signs alone.
//! Other formulas, and derivatives of folded maps and of Julia sets, are in `formulas/points.rs`.
//!
//! With z off by at most e units of the last place, a step is off by (2 |z| + e) e + 8 units, as that of the reference, and by the error of c.
//! The comparisons with R and 256 are made in f64: they are certain but for |z|^2 within some 2^-44 of R^2, relatively, where limbs are compared
//! (`circle.rs`). So a point that is not decided here needs more bits.

mod alone;
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
mod under_way;

#[cfg(target_arch = "x86_64")]
use super::digits::{LANES, Products};
use super::limbs::Fixed;
use super::orbit::Found;
use super::values::Units;
use crate::formula::Formula;
use crate::level::Level;
use alone::follow_one;
use queue::LeftOrbit;
pub use queue::Queue;
use std::sync::atomic::{AtomicBool, Ordering};
pub use under_way::UnderWay;

/// How a thread followed orbits.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    /// Whether it left orbits under way when the queue stopped.
    pub leaves: bool,
    /// The share of its lanes that were in use, on average over its steps.
    pub used: f64,
}

/// What is iterated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Iterated<'a> {
    /// The formula.
    pub formula: Formula,
    /// The constant of a Julia set, with as many limbs as points have, and a bound on its error in units of the last place.
    pub julia: Option<([&'a Fixed; 2], f64)>,
}

impl<'a> Iterated<'a> {
    /// Whether this is z^2 + c in the parameter plane.
    fn is_mandelbrot(&self) -> bool {
        self.formula == Formula::MANDELBROT && self.julia.is_none()
    }

    /// The c of the orbit of a point.
    fn c<'p>(&self, point: [&'p Fixed; 2]) -> [&'p Fixed; 2]
    where
        'a: 'p,
    {
        self.julia.map_or(point, |(c, _)| c)
    }
}

/// What points in fixed point are iterated for.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// What is iterated.
    pub iterated: Iterated<'a>,
    /// The limbs of the parts of a point and of the constant of a Julia set, which are below 2^62. With |z_1| > R and |z_1| > 256 it is not iterated, so that squares fit below 2^64.
    pub limbs: usize,
    /// A bound on the error of a point in units of the last place.
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

impl Goal<'_> {
    /// A bound on the error of c in units of the last place.
    fn of_c(&self) -> f64 {
        self.iterated.julia.map_or(self.error, |(_, error)| error)
    }
}

/// The parts of a point, given its place in the list.
pub type Points<'a> = dyn FnMut(usize) -> [Fixed; 2] + 'a;

/// The relative error of |z|^2 and of its bounds in f64, with room.
pub(super) const ROUNDING: f64 = 1.0 / 35_184_372_088_832.0;
/// An error in the plane with which nothing is decided.
pub(super) const TOO_MUCH: f64 = 1e-9;

/// |z|^2 below which an orbit is looked at.
const LOOKED_AT: f64 = trap::NEAR * trap::NEAR;

/// |z| below which a derivative may leave the range of f64: 2^-200.
const NEAR_ZERO: f64 = 6.2e-61;

/// How many orbits a thread follows at once.
#[must_use]
pub fn at_once(level: Level) -> usize {
    #[cfg(target_arch = "x86_64")]
    if Products::of(level).is_some() {
        return LANES;
    }
    let _ = level;
    1
}

/// Whether [`follow`] does this: z^2 + c, and folds and Julia sets of power 2 without derivatives.
#[must_use]
pub fn follows(iterated: &Iterated<'_>, is_derived: bool) -> bool {
    iterated.formula.power() == 2 && (iterated.is_mandelbrot() || !is_derived)
}

/// Whether [`follow`] is the faster way to do this. Where the level has no vectors of digits, chaotic orbits of folded maps and of Julia sets take less time in `formulas/points.rs`, where limbs are cut off that they have lost.
#[must_use]
pub fn is_best(level: Level, iterated: &Iterated<'_>, is_derived: bool) -> bool {
    follows(iterated, is_derived) && (iterated.is_mandelbrot() || at_once(level) > 1)
}

/// Follows the orbits of the points of a queue, of a goal that [`follows`] allows, until there are no more and no other thread leaves any, or the queue stops. `found` gets the places of those that this thread has decided, in any order, and what
/// it found of them.
pub fn follow(
    level: Level,
    goal: &Goal<'_>,
    queue: &Queue,
    points: &mut Points<'_>,
    found: &mut dyn FnMut(usize, Found),
) -> Followed {
    assert!(follows(&goal.iterated, goal.units.is_some()), "squares, with derivatives by c alone");
    let mut followed = Followed { leaves: false, used: 1.0 };
    let mut found = |place: usize, of: Found| {
        queue.note_decided(place);
        found(place, of);
    };
    #[cfg(target_arch = "x86_64")]
    if let Some(products) = Products::of(level)
        && let Some(of_lanes) = together::follow((level, products), goal, queue, points, &mut found)
    {
        followed = of_lanes;
    }
    while !goal.stop.load(Ordering::Relaxed) && !queue.is_stopping() {
        let (place, orbit) = if let Some(place) = queue.take() {
            (place, queue.take_under_way(place))
        } else if let Some(LeftOrbit { place, orbit }) = queue.wait() {
            (place, Some(orbit))
        } else {
            break;
        };
        let [x, y] = points(place);
        match follow_one((level, goal, queue), [&x, &y], orbit) {
            Ok(of) => found(place, of),
            Err(orbit) => {
                queue.keep(place, *orbit);
                followed.leaves = true;
            }
        }
    }
    followed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deep::extended::Bound;

    /// A number of five limbs.
    fn fixed(value: f64) -> Fixed {
        let fraction = (value.abs().fract() * 18_446_744_073_709_551_616.0) as u64;
        Fixed { negative: value < 0.0, limbs: vec![0, 0, 0, fraction, value.abs() as u64] }
    }

    #[test]
    fn orbits_that_go_on_keep_the_bounds_on_their_errors() {
        let (stop, mut four) = (AtomicBool::new(false), Fixed::zero(5));
        four.limbs[4] = 4;
        let goal = Goal {
            iterated: Iterated::default(),
            limbs: 5,
            error: 6.0,
            escape: 4.0,
            exact_escape: &four,
            limit: 1_000_000,
            smooth: false,
            units: None,
            stop: &stop,
        };
        // A chaotic orbit that stays, and others that end after some 60 and 10 steps.
        let points = [-1.8, 0.2526, 0.3].map(|re| [fixed(re), fixed(0.0)]);
        for level in Level::available().into_iter().filter(|level| at_once(*level) > 1) {
            let turn = |other: usize, under_way| {
                let queue = Queue::that_stops((5, under_way), 1, 0);
                let mut point = |place: usize| points[if place == 0 { 0 } else { other }].clone();
                let mut ended = Vec::new();
                follow(level, &goal, &queue, &mut point, &mut |place, _| ended.push(place));
                ended.sort_unstable();
                assert_eq!(ended, [1, 2, 3, 4]);
                let mut under_way = queue.into_under_way();
                under_way.remove(&0).map(|orbit| (orbit.follower.n, orbit.follower.error.bound(), orbit)).unwrap()
            };
            let (first, before, orbit) = turn(1, std::collections::HashMap::new());
            let (second, after, _) = turn(2, std::collections::HashMap::from([(0, orbit)]));
            assert!(first > 40 && second > first && second < first + 20, "{first}, {second}");
            // Of 2^-256 after 40 steps, in each of which it doubles, or nearly so.
            assert!(Bound::new(1.0, -230).below(before), "{before:?}");
            assert!(before.times(Bound::new(1.0, -10)).below(after), "{before:?}, {after:?}");
        }
    }
}
