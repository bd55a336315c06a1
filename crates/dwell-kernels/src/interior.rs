//! Interior points: points inside the main cardioid or the period-2 disc, whose computed orbits never escape.
//!
//! This holds for z -> z^2 + c, both recipes and every R >= 2, with the margins of [`Number::CARDIOID_MARGINS`] and
//! [`Number::DISC_MARGINS`].
//!
//! # Why the computed orbit stays bounded
//!
//! It is classical that the exact orbit of such a c is bounded. The computed orbit differs by a rounding error in every
//! step, which near the boundary could move it out of the set; so the margin must be shown to be large enough.
//!
//! *Noise.* With u the unit roundoff and |z| <= 1.8, |c| <= 1.3, the roundings of one step of either recipe move the
//! result by at most eta = 10 u in the recipe fused, 18 u in separate, which rounds three products more.
//!
//! *Cardioid.* c = lambda/2 - lambda^2/4 with l = |lambda| <= 1 - delta. f(z) = z^2 + c has the attracting fixed point
//! lambda/2 with multiplier lambda. Its immediate basin U is simply connected and holds 0, the only critical point, so
//! f: U -> U is proper of degree 2. Let phi: D -> U be a Riemann map with phi(0) = lambda/2. Then g = phi^-1 f phi is a
//! Blaschke product of degree 2 with g(0) = 0 and |g'(0)| = l, so
//!
//! ```text
//! |g(w)| <= |w| (|w| + l) / (1 + l |w|)  =  |w| - |w| (1 - |w|) (1 - l) / (1 + l |w|)
//! ```
//!
//! and its critical point, where phi takes 0, has modulus rho = l / (1 + sqrt(1 - l^2)). Let r = max(rho, 1/2). Claim:
//! every computed z_n is in phi(|w| <= r). z_0 = 0 is. If z_n is, f(z_n) = phi(w) with |w| <= r - d, where d = r (1 - r)
//! (1 - l) / (1 + l r). By Koebe's quarter theorem on the disc of radius d about w, phi(|w| <= r) holds the disc of
//! radius |phi'(w)| d / 4 about f(z_n). By Koebe's distortion theorem |phi'(w)| >= |phi'(0)| (1 - r) / (1 + r)^3, and
//! |phi'(0)| is at least the distance of lambda/2 to the boundary of U (Schwarz), which is at least 1 - l: |f(lambda/2 +
//! w) - lambda/2| = |w| |lambda + w| < |w| for |w| < 1 - l. So z_{n+1} is in phi(|w| <= r), too, if
//!
//! ```text
//! eta <= (1 - l) (1 - r) / (1 + r)^3 * r (1 - r) (1 - l) / (1 + l r) / 4.
//! ```
//!
//! *Disc.* l = 4 |c + 1| <= 1 - delta. Let p be the point of the attracting 2-cycle near 0 and U the component of its
//! basin around it. F = f f maps U to itself, properly and with degree 2, with multiplier 4 (c + 1) at p and critical
//! point 0. The argument is the same for F, with three changes. Two steps move the result by at most 4.5 eta, since |f'|
//! <= 2 * 1.73 on the way. |p| <= 1/2 and |q| <= 3/2 for the other point q = -1 - p, so F(p + w) - p = lambda w + (2 q +
//! 4 p^2) w^2 + 4 p w^3 + w^4 is at most |w| (l + 4 |w| + 2 |w|^2 + |w|^3), and |phi'(0)| is at least min(1 - l, 0.1) /
//! 4.2. And the points between lie in f(U).
//!
//! All of these sets lie in the filled Julia set, so |z| <= (1 + sqrt(1 + 4 |c|)) / 2, which is 1.5 for the cardioid
//! and 1.73 for the disc: below 2 by far more than the rounding errors, for every R >= 2 and for R^2 =
//! [`Number::BELOW_FOUR`]. A test in this file checks that
//! the margins satisfy the inequalities. The test below uses a margin larger by a twentieth, which covers its own
//! rounding: that rounding is a few u, and a twentieth of delta is far more.
//!
//! # The test
//!
//! |lambda| <= 1 - delta for c = a + ib, with lambda = 1 - sqrt(1 - 4c), p = |c - 1/4| and kappa = 2 delta - delta^2,
//! is 4 p + kappa <= 2 Re sqrt(1 - 4c). Squaring this, with Re sqrt(v) = sqrt((|v| + Re v) / 2), and collecting terms
//! gives
//!
//! ```text
//! m = (2 p^2 + (a - 1/4) + kappa^2 / 8 ) / (1 - kappa) <= p,
//! ```
//!
//! so m^2 <= p^2 is sufficient, and no root has to be computed.

use crate::arithmetic::Arithmetic;
use crate::number::Number;
use crate::recipe::Recipe;
use crate::vector::{Mask, Vector};
use fearless_simd::Simd;

/// The factor by which the margins of the test exceed the proved ones, for the rounding of the test itself.
const TEST_MARGIN_FACTOR: f64 = 1.05;

/// The constants of the test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interior<N> {
    /// 2 / (1 - kappa).
    square_factor: N,
    /// 1 / (1 - kappa).
    real_factor: N,
    /// kappa^2 / 8 / (1 - kappa).
    constant_term: N,
    /// ((1 - delta) / 4)^2.
    disc_radius_squared: N,
}

/// The proved margins delta of the cardioid and of the disc.
pub(crate) fn margins<N: Number>(recipe: Recipe) -> [f64; 2] {
    let index = match recipe {
        Recipe::Fused => 0,
        Recipe::Separate => 1,
    };
    [N::CARDIOID_MARGINS[index], N::DISC_MARGINS[index]]
}

impl<N: Number> Interior<N> {
    /// The constants for a recipe.
    pub(crate) fn new(recipe: Recipe) -> Self {
        let [cardioid, disc] = margins::<N>(recipe);
        let delta = TEST_MARGIN_FACTOR * cardioid;
        let kappa = delta * (2.0 - delta);
        let disc = (1.0 - TEST_MARGIN_FACTOR * disc) / 4.0;
        Self {
            square_factor: N::nearest(2.0 / (1.0 - kappa)),
            real_factor: N::nearest(1.0 / (1.0 - kappa)),
            constant_term: N::nearest(kappa * kappa / 8.0 / (1.0 - kappa)),
            disc_radius_squared: N::nearest(disc * disc),
        }
    }

    /// The constants in the order in which the test uses them.
    pub(crate) fn constants(self) -> [N; 4] {
        [self.square_factor, self.real_factor, self.constant_term, self.disc_radius_squared]
    }

    /// The lanes whose point c = a + ib is proved to be interior.
    #[inline(always)]
    pub(crate) fn contains<S: Simd>(self, simd: S, a: Vector<S, N>, b: Vector<S, N>) -> Mask<S, N> {
        let splat = |v: N| Vector::<S, N>::splat(simd, v);
        let b_squared = b.mul(b);
        let from_cusp = a.sub(splat(N::nearest(0.25)));
        let p_squared = from_cusp.fma(from_cusp, b_squared);
        let m =
            p_squared.fma(splat(self.square_factor), from_cusp.fma(splat(self.real_factor), splat(self.constant_term)));
        let from_centre = a.add(splat(N::from(1_u8)));
        let disc = from_centre.fma(from_centre, b_squared);
        !m.mul(m).not_at_most(p_squared) | !disc.not_at_most(splat(self.disc_radius_squared))
    }

    /// Whether one point is proved to be interior, computed in f64 with the margins of `N`.
    pub(crate) fn contains_point([a, b]: [N; 2], recipe: Recipe) -> bool {
        let [square_factor, real_factor, constant_term, disc_radius_squared] =
            Self::new(recipe).constants().map(N::to_f64);
        let (a, b) = (a.to_f64(), b.to_f64());
        let square = |v: f64| v * v;
        let p_squared = square(a - 0.25) + square(b);
        let m = p_squared * square_factor + (a - 0.25) * real_factor + constant_term;
        square(m) <= p_squared || square(a + 1.0) + square(b) <= disc_radius_squared
    }

    /// Whether every point of a disc is proved to be interior, computed in f64 with the margins of `N`.
    ///
    /// The disc is in that of period 2 if the sum of its radius and the distance of the centres is at most the radius of
    /// that. For the cardioid, lambda = 1 - s with s = sqrt(1 - 4c), Re s > 0. Where |1 - 4c| > 4r at the centre, s is
    /// holomorphic in the disc, and its values s and s_0 differ in direction by less than a right angle, so |s + s_0| >=
    /// |s_0| and |s - s_0| = 4 |c - c_0| / |s + s_0| <= 4 r / |s_0|. The test leaves 2^-40 for its own roundings.
    pub(crate) fn contains_disc(centre: [N; 2], radius: N, recipe: Recipe) -> bool {
        const ROUNDINGS: f64 = 1.0 / (1_u64 << 40) as f64;
        let [cardioid, disc] = margins::<N>(recipe);
        let ([a, b], r) = (centre.map(N::to_f64), radius.to_f64());
        if (a + 1.0).hypot(b) + r <= (1.0 - disc) / 4.0 - ROUNDINGS {
            return true;
        }
        let (v, w) = (1.0 - 4.0 * a, -4.0 * b);
        let modulus = v.hypot(w);
        if modulus.is_nan() || modulus <= 4.0 * r + ROUNDINGS || modulus > 16.0 {
            return false;
        }
        // The part without cancellation first.
        let larger = ((modulus + v.abs()) / 2.0).sqrt();
        let smaller = w.abs() / (2.0 * larger);
        let (re, im) = if v >= 0.0 { (larger, smaller) } else { (smaller, larger) };
        (1.0 - re).hypot(im) + 4.0 * r / modulus.sqrt() <= 1.0 - cardioid - ROUNDINGS
    }
}

/// Whether a rectangle, as [least, greatest] of re c and im c, may contain interior points: whether it meets one of two
/// discs, one of which covers the cardioid.
pub(crate) fn may_contain([re, im]: [[f64; 2]; 2]) -> bool {
    let distance_squared = |a: f64| {
        let (dx, dy) = (a.clamp(re[0], re[1].max(re[0])) - a, 0.0_f64.clamp(im[0], im[1].max(im[0])));
        dx * dx + dy * dy
    };
    // No point of the cardioid is farther than 0.6498 from -0.12.
    re[0] <= re[1] && im[0] <= im[1] && (distance_squared(-0.12) < 0.651 * 0.651 || distance_squared(-1.0) < 0.0625)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::{Kernel, Level};
    use crate::map::Map;
    use crate::naive;
    use crate::recipe::Recipe;
    use crate::vector::bits;
    use std::f64::consts::TAU;

    /// The right-hand side of the inequality of the proof, without its first factor.
    fn allowed_noise(l: f64) -> f64 {
        let r = (l / (1.0 + (1.0 - l * l).sqrt())).max(0.5);
        (1.0 - r) / (1.0 + r).powi(3) * r * (1.0 - r) * (1.0 - l) / (1.0 + l * r) / 4.0
    }

    /// Checks the inequalities of the proof for 10,001 values of l and both recipes.
    fn check_margins<N: Number>() {
        for (recipe, units) in [(Recipe::Fused, 10.0), (Recipe::Separate, 18.0)] {
            let eta = units * 0.5_f64.powi(i32::try_from(N::SIGNIFICAND_BITS).unwrap());
            let [cardioid, disc] = margins::<N>(recipe);
            for i in 0..=10_000 {
                let part = f64::from(i) / 10_000.0;
                let l = part * (1.0 - cardioid);
                assert!(eta <= (1.0 - l) * allowed_noise(l), "{} {recipe:?} cardioid {l}", N::NAME);
                let l = part * (1.0 - disc);
                assert!(4.5 * eta <= (1.0 - l).min(0.1) / 4.2 * allowed_noise(l), "{} {recipe:?} disc {l}", N::NAME);
            }
        }
    }

    #[test]
    fn margins_satisfy_the_inequalities_of_the_proof() {
        check_margins::<f32>();
        check_margins::<f64>();
    }

    struct ContainsKernel<'a, N>(&'a [[N; 2]], Recipe);
    impl<N: Number> Kernel for ContainsKernel<'_, N> {
        type Output = Vec<bool>;
        #[inline(always)]
        fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Vec<bool> {
            let test = Interior::<N>::new(self.1);
            let mut found = Vec::new();
            for &[a, b] in self.0 {
                found.push(bits(test.contains(simd, Vector::splat(simd, a), Vector::splat(simd, b))) & 1 == 1);
            }
            found
        }
    }

    /// Points c on the curve |lambda| = l of the cardioid, and of the disc.
    fn on_the_curves(l: f64) -> Vec<([f64; 2], [f64; 2])> {
        (0..2000)
            .map(|i| {
                let (s, c) = (TAU * f64::from(i) / 2000.0).sin_cos();
                let (s2, c2) = (2.0 * s * c, c * c - s * s);
                ([l * c / 2.0 - l * l * c2 / 4.0, l * s / 2.0 - l * l * s2 / 4.0], [-1.0 + l * c / 4.0, l * s / 4.0])
            })
            .collect()
    }

    fn inside_and_outside<N: Number>() {
        for (level, recipe) in
            Level::available().into_iter().flat_map(|level| Recipe::ALL.map(|recipe| (level, recipe)))
        {
            let run_test = |times: f64| {
                let delta = margins::<N>(recipe).map(|margin| times * margin);
                let narrow = |[a, b]: [f64; 2]| [N::nearest(a), N::nearest(b)];
                let cardioid: Vec<_> = on_the_curves(1.0 - delta[0]).iter().map(|c| narrow(c.0)).collect();
                let disc: Vec<_> = on_the_curves(1.0 - delta[1]).iter().map(|c| narrow(c.1)).collect();
                [level.run(ContainsKernel(&cardioid, recipe)), level.run(ContainsKernel(&disc, recipe))]
            };
            // With 1.1 times the proved margin the test finds every point, since its own margin is smaller. With the
            // proved margin itself it finds none.
            let found = run_test(1.1);
            assert!(found.iter().flatten().all(|f| *f), "{} {level:?}", N::NAME);
            let found = run_test(1.0);
            assert!(!found.iter().flatten().any(|f| *f), "{} {level:?}", N::NAME);
        }
    }

    #[test]
    fn the_test_agrees_with_the_curves() {
        inside_and_outside::<f32>();
        inside_and_outside::<f64>();
    }

    #[test]
    fn interior_points_do_not_escape() {
        for recipe in Recipe::ALL {
            for delta in margins::<f32>(recipe) {
                for (on_cardioid, on_disc) in on_the_curves(1.0 - 1.06 * delta).into_iter().step_by(20) {
                    for c in [on_cardioid, on_disc].map(|c| c.map(|v| v as f32)) {
                        if Interior::contains_point(c, recipe) {
                            assert_eq!(naive::dwell(&Map::mandelbrot(recipe), c, 20_000, 4.0), 0, "{c:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn may_contain_finds_rectangles_that_meet_the_interior() {
        for (rectangle, expected) in [
            ([[-2.0, 1.0], [-1.0, 1.0]], true),
            ([[-0.1, 0.1], [-0.1, 0.1]], true),
            ([[-1.01, -1.0], [0.1, 0.2]], true),
            ([[-1.8, -1.7], [-0.1, 0.1]], false),
            ([[-1.2, -1.1], [0.4, 0.5]], false),
            ([[0.6, 1.0], [-1.0, 1.0]], false),
            ([[f64::INFINITY, f64::NEG_INFINITY], [0.0, 0.0]], false),
        ] {
            assert_eq!(may_contain(rectangle), expected, "{rectangle:?}");
        }
        for (cardioid, disc) in on_the_curves(0.999) {
            for [a, b] in [cardioid, disc] {
                assert!(may_contain([[a, a], [b, b]]), "{a} {b}");
            }
        }
    }
}
