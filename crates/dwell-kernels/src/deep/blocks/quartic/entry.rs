//! Blocks of the fourth degree as orbits use them.

use super::{OF_C, Quartic, power};
use crate::deep::blocks::entry::{Entry, WideEntry};
use crate::deep::blocks::merge::{Block, UP};
use crate::deep::extended::Bound;
use crate::deep::lanes::Line;
use crate::deep::mantissa::{Complex, Mantissa};

/// The terms of the third and the fourth degree of a block: real and imaginary parts, by powers of c in each degree.
pub(in crate::deep) type HigherLines = [Line; 3];
/// In the place of a block that there is not.
pub(in crate::deep) const NO_HIGHER: HigherLines = [Line::ZERO; 3];
/// The error of H as orbits evaluate it in f64, beside those of its coefficients: z and c are rounded, up to four of them and a coefficient are multiplied (sqrt 5 u each), and eight terms are added.
const OF_EVALUATION: f64 = 32.0 / 9_007_199_254_740_992.0;
/// The greatest coefficient.
const MOST: f64 = 1e290;

impl Quartic {
    /// The radius, what blocks of the second degree have, with bounds for those of the fourth, and H; `None` where a coefficient is outside the range of f64.
    pub(in crate::deep::blocks) fn entry<T: Mantissa>(&self, steps: u64) -> Option<(f64, Entry<T>, HigherLines)> {
        let radius = self.low.radius;
        let [d0, d1, d2, d3] = self.low.delta;
        let [d4, d5] = self.rest;
        // Folded on the domain.
        let d3 = d5.times(radius).plus(d4).times(radius).plus(d3);
        let low = Block { delta: [d0, d1, d2, d3].map(|bound| bound.by(UP)), ..self.low };
        let mut wide = WideEntry::<T>::of(&low, steps);
        let x = radius.in_unit(self.of_z);
        let [h0, h1, h2, h3, h4] = self.higher();
        let unit = |bound: f64, degree: i32| Bound::new(bound, self.of_value - degree * self.of_z);
        let off = (self.off + OF_EVALUATION) * UP;
        let of_error = [h0, h1, h2, h3 + h4 * x];
        for (degree, (k, of_error)) in (0..).zip(wide.k.iter_mut().zip(of_error)) {
            *k = k.plus(unit(of_error * off, degree)).by(UP);
        }
        // The derivative of H by z, and half of the second one.
        let derivative = ((4.0 * h4 * x + 3.0 * h3) * x + 2.0 * h2) * x + h1;
        let second = (6.0 * h4 * x + 3.0 * h3) * x + h2;
        wide.slack = wide.slack.plus(unit(derivative, 1)).by(UP);
        wide.q_modulus = wide.q_modulus.plus(unit(second, 2)).by(UP);
        let (radius, entry) = wide.narrow()?;
        Some((radius, entry, self.lines()?))
    }

    /// H in the plane.
    fn lines(&self) -> Option<HigherLines> {
        let mut lines = NO_HIGHER;
        let mut numbers = lines.iter_mut().flat_map(|line| &mut line.0);
        let third = self.third.iter().zip((0..=3).rev());
        let fourth = self.fourth.iter().zip((0..=4).rev());
        for (term, by_z) in third.chain(fourth) {
            let exponent = self.of_value - by_z * self.of_z;
            // In two parts, since the exponent may be beyond that of a coefficient in the range.
            let Complex { re, im } = term.scaled(power(exponent / 2)).scaled(power(exponent - exponent / 2));
            if !(re.abs() < MOST && im.abs() < MOST) {
                return None;
            }
            for part in [re, im] {
                if let Some(place) = numbers.next() {
                    *place = part;
                }
            }
        }
        Some(lines)
    }
}

/// Adds bounds on H to what a block of the second degree leaves out, for deltas up to a radius.
pub(in crate::deep::blocks) fn leave_out<T: Mantissa>(entry: &mut WideEntry<T>, lines: &HigherLines, radius: f64) {
    let number = |index: usize| lines[index / 8].0[index % 8];
    let modulus = |term: usize, of_c: usize| (number(2 * term).abs() + number(2 * term + 1).abs()) * OF_C[of_c] * UP;
    // Terms 0 to 3 are of the third degree, 4 to 8 of the fourth.
    let by_powers = [
        modulus(3, 3) + modulus(8, 4),
        modulus(2, 2) + modulus(7, 3),
        modulus(1, 1) + modulus(6, 2),
        modulus(0, 0) + modulus(5, 1) + modulus(4, 0) * radius,
    ];
    for (k, bound) in entry.k.iter_mut().zip(by_powers) {
        *k = k.plus(Bound::of(bound)).by(UP);
    }
}
