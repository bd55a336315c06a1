//! How far a set extends in a direction, by branch and bound.
//!
//! A square of the plane lies in a disc. The disc around z_n that holds the orbits of all its points grows by at most
//! (m + e)^N - m^N from one step to the next, where m = |z_n|, e is its radius and N the power: folds do not increase
//! distances. A square whose disc leaves the circle outside of which every orbit escapes holds no point of the set. Of all
//! other squares, the one that reaches farthest is divided, until it is small. So the result is never less than the true
//! extent, and greater by a few of the smallest squares at most. It needs about ten thousand steps, since squares that
//! cannot change the result are not examined, and it holds for sets without an interior, whose points no grid meets.
//!
//! Only sums, products and square roots are used, so the result is the same on every machine.

use dwell_kernels::{Fold, Formula};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The most steps after which a square is examined. A square near a point that never escapes is divided until it is small.
const STEPS: u32 = 300;
/// The side of the smallest squares is the radius of escape times 2 to this power.
const SMALLEST: f64 = 1.0 / 1024.0;
/// The most squares. Sets with a straight edge across the direction need the most: about 30,000.
const MOST_SQUARES: u32 = 1 << 18;
/// The greatest |c| of a Julia set whose extent is found.
const MOST_CONSTANT: f64 = 1e9;
/// Half the diagonal of a square over half its side, and a little more.
const DIAGONAL: f64 = 1.4143;

/// A set: the points whose orbits stay bounded.
pub(super) struct Set {
    fold: Fold,
    power: u32,
    /// The constant of a Julia set.
    julia: Option<[f64; 2]>,
    /// An orbit that leaves the circle of this radius escapes.
    radius: f64,
}

/// A square of the plane.
struct Square {
    /// How far it reaches in the direction.
    reach: f64,
    centre: [f64; 2],
    half: f64,
}

impl Ord for Square {
    fn cmp(&self, other: &Self) -> Ordering {
        self.reach.total_cmp(&other.reach)
    }
}

impl PartialOrd for Square {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Square {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Square {}

impl Set {
    /// The set of a formula, or its filled Julia set of the constant; `None` if the constant is too large.
    pub(super) fn new(formula: Formula, julia: Option<[f64; 2]>) -> Option<Self> {
        let mut radius = 2.0_f64;
        if let Some([re, im]) = julia {
            let size = (re * re + im * im).sqrt();
            if size.is_nan() || size > MOST_CONSTANT {
                return None;
            }
            // |z|^N - |c| exceeds |z| from the radius on, at which R^N - R = |c|.
            while (1..formula.power()).fold(radius, |power, _| power * radius) - radius < size {
                radius *= 1.0625;
            }
        }
        Some(Self { fold: formula.fold(), power: formula.power(), julia, radius })
    }

    /// The greatest product of a point of the set and a direction, whose length is 1; `None` if the set is empty.
    pub(super) fn reach(&self, direction: [f64; 2]) -> Option<f64> {
        let [right, up] = direction;
        let across = right.abs() + up.abs();
        let whole = Square { reach: self.radius * across, centre: [0.0; 2], half: self.radius };
        let mut squares = BinaryHeap::from([whole]);
        let mut examined = 0;
        while let Some(Square { reach, centre: [x, y], half }) = squares.pop() {
            if self.misses([x, y], half) {
                continue;
            }
            examined += 1;
            if 2.0 * half <= self.radius * SMALLEST || examined > MOST_SQUARES {
                return Some(reach);
            }
            let half = half / 2.0;
            for [dx, dy] in [[-half, -half], [half, -half], [-half, half], [half, half]] {
                let centre = [x + dx, y + dy];
                let reach = centre[0] * right + centre[1] * up + half * across;
                squares.push(Square { reach, centre, half });
            }
        }
        None
    }

    /// Whether it is proved that the square holds no point of the set.
    fn misses(&self, centre: [f64; 2], half: f64) -> bool {
        let mut error = half * DIAGONAL;
        let mut z = centre;
        // In the parameter plane, c lies in the disc, too.
        let (c, error_of_c) = self.julia.map_or((centre, error), |c| (c, 0.0));
        for _ in 0..STEPS {
            let size = (z[0] * z[0] + z[1] * z[1]).sqrt();
            if size - error > self.radius {
                return true;
            }
            if error > 2.0 * self.radius {
                return false;
            }
            let w = match self.fold {
                Fold::None => z,
                Fold::Absolute => [z[0].abs(), z[1].abs()],
                Fold::Conjugate => [z[0], -z[1]],
            };
            // (m + e)^N - m^N, by (m + e)^(k + 1) - m^(k + 1) = (m + e) ((m + e)^k - m^k) + m^k e.
            let (mut power, mut growth, mut of_size) = (w, error, size);
            for _ in 1..self.power {
                power = [power[0] * w[0] - power[1] * w[1], power[0] * w[1] + power[1] * w[0]];
                growth = growth * (size + error) + of_size * error;
                of_size *= size;
            }
            z = [power[0] + c[0], power[1] + c[1]];
            error = growth + error_of_c;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The extents of a set to the left, to the right, downwards and upwards.
    fn extents(fold: Fold, power: u32, julia: Option<[f64; 2]>) -> [f64; 4] {
        let set = Set::new(Formula::new(fold, power).unwrap(), julia).unwrap();
        [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]].map(|direction| set.reach(direction).unwrap())
    }

    /// Checks that extents are those known, or greater by at most 1 % of the diameter.
    fn check(found: [f64; 4], known: [f64; 4], what: &str) {
        for (found, known) in found.into_iter().zip(known) {
            assert!((-1e-9..0.03).contains(&(found - known)), "{what}: {found} is not about {known}");
        }
    }

    #[test]
    fn known_extents_are_found() {
        // The needle ends at -2; the other three are the published extremes of the set.
        check(extents(Fold::None, 2, None), [2.0, 0.471_185, 1.122_757, 1.122_757], "mandelbrot");
        // z^3 + c is symmetric in both axes.
        let cubic = extents(Fold::None, 3, None);
        assert!((cubic[0] - cubic[1]).abs() < 1e-9 && (cubic[2] - cubic[3]).abs() < 1e-9, "{cubic:?}");
        // The three needles of the tricorn have length 2, at 120 degrees from each other.
        check(extents(Fold::Conjugate, 2, None), [2.0, 1.0, 1.732_050, 1.732_050], "tricorn");
        // The filled Julia sets of 0 and -2 are the unit disc and the segment from -2 to 2.
        check(extents(Fold::None, 2, Some([0.0, 0.0])), [1.0; 4], "disc");
        check(extents(Fold::None, 9, Some([0.0, 0.0])), [1.0; 4], "disc of power 9");
        check(extents(Fold::None, 2, Some([-2.0, 0.0])), [2.0, 2.0, 0.0, 0.0], "segment");
        // The Julia set of 6 is a Cantor set, symmetric in both axes.
        let dust = extents(Fold::None, 2, Some([6.0, 0.0]));
        assert!((dust[2] - dust[3]).abs() < 1e-9 && dust[3] > 2.4 && dust[3] < 3.0, "{dust:?}");
    }

    #[test]
    fn every_formula_has_an_extent_within_its_bound() {
        for fold in [Fold::None, Fold::Absolute, Fold::Conjugate] {
            for power in 2..=Formula::MAX_POWER {
                // |c|^(N - 1) > 2 escapes.
                let known = (1..64).fold(2.0_f64, |root, _| {
                    let below = (2..power).fold(1.0, |product, _| product * root);
                    root - (below * root - 2.0) / (f64::from(power - 1) * below)
                });
                let found = extents(fold, power, None);
                assert!(found.iter().all(|reach| (0.4..=known + 0.02).contains(reach)), "{fold:?} {power}: {found:?}");
            }
        }
    }

    #[test]
    fn a_set_in_which_every_point_escapes_has_no_extent() {
        let ship = Formula::new(Fold::Absolute, 2).unwrap();
        assert_eq!(Set::new(ship, Some([0.0, 3.0])).unwrap().reach([1.0, 0.0]), None);
        for c in [f64::NAN, f64::INFINITY, 1e300] {
            assert!(Set::new(ship, Some([c, 0.0])).is_none());
        }
    }
}
