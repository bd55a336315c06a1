//! Special points of the Mandelbrot set: the centres of its components, where 0 returns to itself, and Misiurewicz points, where the orbit of 0 runs into a cycle.
//!
//! Both are roots of an [`Equation`]. [`search`] finds the equation of least period with a root in a disc, and the root to some 90 bits, beside a reference orbit; [`Equation::value`] is what a
//! caller needs to find more digits; [`proof`] proves that a disc has exactly one root, of exactly this period; [`shape`] has what the surroundings of a root look like.

mod newton;
pub mod proof;
pub mod search;
pub mod shape;

#[cfg(test)]
mod tests;

use super::Watch;
use super::extended::Extended;
use super::fixed_orbit::FixedOrbit;
use super::limbs::Fixed;
use super::mantissa::Dd;
use super::reference::{End, NoReference, Reference, Room};
use crate::level::Level;

/// R^2 of orbits in the neighbourhood of a root: far above 4, so that a centre of a view may be outside of the set.
pub const ESCAPE: f64 = 4_294_967_296.0;

/// An equation in c, with z_0 = 0 and z_1 = c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// z_p = 0, for p >= 1. Its roots are the centres of components of period p and of its divisors.
    Nucleus {
        /// p.
        period: u64,
    },
    /// z_(k+p-1) + z_(k-1) = 0, for k >= 2 and p >= 1. Since z_(k+p) - z_k is the product of this sum and of the difference z_(k+p-1) - z_(k-1), whose roots have a smaller preperiod, the roots are those
    /// with a preperiod of exactly k, and the centres of periods that divide both k - 1 and p. Their periods are p and its divisors.
    Misiurewicz {
        /// k, the least number with z_(k+p) = z_k.
        preperiod: u64,
        /// p.
        period: u64,
    },
}

impl Equation {
    /// The index of the last z in it.
    #[must_use]
    pub fn last(self) -> u64 {
        match self {
            Self::Nucleus { period } => period,
            Self::Misiurewicz { preperiod, period } => preperiod - 1 + period,
        }
    }

    /// The index of the z before that, if there is one.
    pub(super) fn earlier(self) -> Option<u64> {
        match self {
            Self::Nucleus { .. } => None,
            Self::Misiurewicz { preperiod, .. } => Some(preperiod - 1),
        }
    }

    /// The period.
    #[must_use]
    pub fn period(self) -> u64 {
        match self {
            Self::Nucleus { period } | Self::Misiurewicz { period, .. } => period,
        }
    }

    /// Equations of which every root of this one with a smaller period, or that is another kind of point, solves one.
    #[must_use]
    pub fn degenerate(self) -> Vec<Self> {
        let divisors = proper_divisors(self.period()).into_iter();
        match self {
            Self::Nucleus { .. } => divisors.map(|period| Self::Nucleus { period }).collect(),
            Self::Misiurewicz { preperiod, .. } => divisors
                .map(|period| Self::Misiurewicz { preperiod, period })
                .chain([Self::Nucleus { period: preperiod - 1 }])
                .collect(),
        }
    }

    /// The left side at c, in fixed point with so many limbs as c, or `None` when the flag is set. A step is off by less than 8 units of the last place.
    #[must_use]
    pub fn value(self, level: Level, c: [&Fixed; 2], watch: Watch<'_>) -> Option<[Fixed; 2]> {
        let mut orbit = FixedOrbit::new(level, c, ESCAPE);
        let mut earlier = None;
        for n in 1..self.last() {
            if watch.is_stopped() || watch.stops(n as usize) {
                return None;
            }
            if Some(n) == self.earlier() {
                earlier = Some(orbit.parts());
            }
            orbit.step();
        }
        let mut value = orbit.parts();
        for (value, earlier) in value.iter_mut().zip(earlier.iter().flatten()) {
            value.add(earlier);
        }
        Some(value)
    }
}

/// The orbit of c up to the last z of an equation, for [`proof::prove`] and [`shape::shape`].
///
/// # Errors
/// When the limbs are too few, when there is no memory for `most` entries, and when the flag is set.
pub fn orbit(
    level: Level,
    c: [&Fixed; 2],
    equation: Equation,
    most: usize,
    watch: Watch<'_>,
) -> Result<Reference, NoReference> {
    let last = equation.last();
    Reference::until(level, c, ESCAPE, last, Room::of_pairs(most), watch, |_, step| {
        let ends = if u64::from(step.m) == last { End::Period } else { End::Escape };
        Ok((ends == End::Period || step.square > ESCAPE).then_some(ends))
    })
}

/// The divisors of a number, except itself.
fn proper_divisors(number: u64) -> Vec<u64> {
    let small = (1..).take_while(|d| d * d <= number).filter(|d| number.is_multiple_of(*d));
    let mut all: Vec<u64> = small.flat_map(|d| [d, number / d]).filter(|d| *d < number).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A number in fixed point, to 106 bits of its larger part.
#[must_use]
pub fn leading([re, im]: [&Fixed; 2]) -> Extended<Dd> {
    super::leading::pair(re, im)
}
