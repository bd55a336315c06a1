//! Blocks of two steps, half of all that are merged, by a formula of their own: a quarter of the time of the general one.
//!
//! With A_1 = 2 Z_m and A_2 = 2 Z_{m+1}, z_1 = (A_1 + z) z + c and z_2 = (A_2 + z_1) z_1 + c:
//!
//! ```text
//! z_2 = A_1 A_2 z + (A_2 + 1) c + (A_2 + A_1^2) z^2 + 2 A_1 c z + c^2  +  2 A_1 z^3 + 2 c z^2 + z^4
//! ```
//!
//! of which the last three terms are the remainder, at most (2 |A_1| + R) |z|^3 + 2 |c| |z|^2.

use super::REACH;
use super::majorant::most;
use super::merge::{Block, UP};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Dd, Mantissa};

/// The exponent of Z below which f64 does not hold all of the bounds.
const LEAST_EXPONENT: i32 = -200;

impl Block {
    /// The steps at Z_m and Z_{m+1}, with `unit` = 2^scale; `None` where nothing is left of their domain.
    #[inline(always)]
    pub(super) fn two_steps(
        z: [Extended<Dd>; 2],
        unit: Extended<Dd>,
        escape_radius: f64,
        tolerance: f64,
    ) -> Option<Self> {
        let [x, y] = z.map(|z| Self::step(z, unit, escape_radius));
        let (x, y) = (x?, y?);
        if z.iter().any(|z| z.e < LEAST_EXPONENT) {
            return x.then(&y, tolerance);
        }
        let [of_x, of_y, of_unit] = [x.a, y.a, unit].map(Bound::modulus);
        let [a, b, u] = [of_x, of_y, of_unit].map(Bound::to_f64);
        // |z_1| is within the radius of the second step, and the remainder within the tolerance.
        let first = x.radius.to_f64();
        let room = y.radius.to_f64() - u * REACH * UP;
        if room <= 0.0 {
            return None;
        }
        let radius = first * most([0.0, a * first * UP, first * first * UP, 0.0], room);
        let remainder = [0.0, 2.0 * REACH * u * radius, 2.0 * a * radius * radius, radius * radius * radius];
        let radius = radius * most(remainder, tolerance * (a * b));
        let one = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, 0);
        // `unit` is a power of two.
        let in_units = |v: Extended<Dd>| Extended { m: v.m, e: v.e + unit.e };
        let majorants = [of_y.times(of_unit).plus(of_unit), of_y.plus(of_x.times(of_x)), of_x.times(of_unit).by(2.0)];
        let [of_b, of_q, of_s] = majorants.map(|bound| bound.by(UP));
        Some(Self {
            a: y.a.times(x.a),
            b: in_units(y.a.plus(one)),
            q: y.a.plus(x.a.times(x.a)),
            s: in_units(x.a.doubled()),
            t: in_units(unit),
            majorants: [of_b, of_q, of_s, of_unit.times(of_unit)],
            radius: Bound::of(radius),
            delta: [Bound::ZERO, Bound::ZERO, of_unit.by(2.0 * REACH * UP), Bound::of((2.0 * a + radius) * UP)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::Random;

    #[test]
    fn two_steps_are_those_that_are_merged() {
        let mut random = Random(41);
        for number in 0..4000 {
            let scale = [2, -3, -20, -60, -300, -2000][number % 6];
            let unit = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, scale);
            let mut part = || Dd::sum((random.unit() - 0.5) * 2.8, (random.unit() - 0.5) * 2_f64.powi(-70));
            let mut z = [(); 2].map(|()| Extended::new(Complex { re: part(), im: part() }, 0));
            z[number % 2].e -= [0, 40, 80, 120, 160, 200, 240][number % 7];
            let tolerance = 2_f64.powi([-26, -44, -88][number % 3]);
            let [x, y] = z.map(|z| Block::step(z, unit, 2.0));
            let merged = x.zip(y).and_then(|(x, y)| x.then(&y, tolerance));
            let Some((found, merged)) = Block::two_steps(z, unit, 2.0, tolerance).zip(merged) else { continue };
            let ratio = found.radius.over(merged.radius).to_f64();
            assert!((0.5..4.0).contains(&ratio), "{number}: the radius is {ratio} of the other");
            let parts = |of: &Block| [(of.a, None), (of.b, Some(0)), (of.q, Some(1)), (of.s, Some(2)), (of.t, Some(3))];
            for ((own, majorant), (other, _)) in parts(&found).into_iter().zip(parts(&merged)) {
                let difference = own.plus(Extended { m: other.m.scaled(-1.0), e: other.e });
                let scale = majorant.map_or(Bound::modulus(other), |place: usize| merged.majorants[place]);
                assert!(Bound::modulus(difference).below(scale.by(2_f64.powi(-95))), "{number}: {own:?}, {other:?}");
            }
            for (own, other) in found.majorants.into_iter().zip(merged.majorants) {
                assert!((0.99..1.01).contains(&own.over(other).to_f64()), "{number}");
            }
            // The remainder, for deltas at the edge of the domain, in f64.
            if scale > -100 && z.iter().all(|z| z.e >= LEAST_EXPONENT) {
                let r = found.radius.to_f64();
                let [d0, d1, d2, d3] = found.delta.map(Bound::to_f64);
                assert!(d0 == 0.0 && d1 == 0.0);
                let a = Bound::modulus(z[0]).to_f64() * 2.0;
                let u = 2_f64.powi(scale) * REACH;
                let exact = 2.0 * a * r.powi(3) + 2.0 * u * r * r + r.powi(4);
                assert!(exact <= d2 * r * r + d3 * r.powi(3), "{number}");
                assert!(
                    exact <= 1.01 * tolerance * 4.0 * r * Bound::modulus(z[0]).times(Bound::modulus(z[1])).to_f64()
                );
                assert!(a * r + r * r + u <= 2.0 - Bound::modulus(z[1]).to_f64(), "{number}: a point may escape");
            }
        }
    }
}
