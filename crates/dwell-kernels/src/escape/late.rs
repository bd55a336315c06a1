//! Why testing late changes nothing, and where it would.
//!
//! Let u be the unit roundoff, R >= 2, and kappa = [`Number::LATE_TEST_MARGIN`] with 16 u << kappa << 1. The claim: if a
//! point that is not delicate (below) has |z_n|^2 > R^2 *as computed* at some n, then so it has, or is NaN, at every
//! later step. So an escape within a batch is still visible at its end, and the replay finds the first; and counting the
//! tests survived counts the steps up to the escape.
//!
//! Every formula is z -> w^N + c with |w| = |z| exactly, so the next modulus is at least |z|^N - |c|, less what rounding
//! takes: one computed step adds an error of at most a few N u |z|^N, far under kappa |z|^N / 4. From |z_n|^2 > R^2 as
//! computed follows |z_n| >= R (1 - 2u).
//!
//! # The parameter plane, N >= 3
//!
//! |c| = |z_1| was at most R (1 + 2u) when z_1 was tested, or n = 1 and |z_n| = |c|: so |c| is at most |z_n| (1 + 4u).
//! |z_{n+1}| is at least |z_n|^N - |c| - kappa |z_n|^N / 4, so at least |z_n| (|z_n|^(N-1) (1 - kappa / 4) - 1 - 4u):
//! more than 2.9 |z_n|. No point is delicate.
//!
//! # The parameter plane, N = 2
//!
//! At n = 1, |c| >= R (1 - 2u) is more than 2 - kappa, which is the second case or the third. At n >= 2, |c|^2 = |z_1|^2
//! as computed was at most R^2.
//!
//! * |c| <= 2 - kappa. Then |z_{n+1}| is at least |z_n|^2 - |c| - O(u)|z_n|^2, so at least R^2 - 2 + kappa - O(u) R^2.
//!   For R >= 2, R^2 - 2 is at least R, with equality at R = 2 only, where kappa alone exceeds the error: |z_{n+1}| > R
//!   (1 + 4u). The new modulus exceeds R by more than kappa / 2, and the excess at least triples each step (the
//!   derivative 2|z| is at least 4, less rounding), so every later test sees it.
//! * |c| >= 2 + kappa. Then |z_2| is at least |c|(|c| - 1)(1 - O(u)), so at least |c|(1 + kappa / 2); and while |z_m| is
//!   that large, the ratio |z_{m+1}| / |z_m| is at least |z_m| - |c| / |z_m| - O(u)|z_m|, so at least 1 + kappa / 2
//!   again: the modulus grows from z_1 on, by a factor beyond any rounding, and once over R it stays over R.
//! * 2 - kappa < |c| < 2 + kappa and R >= 2 + 3 kappa. Then |z_n| >= R (1 - 2u) > 2 + 2 kappa, and the ratio is at least
//!   |z_n| - |c| / |z_n| - O(u)|z_n| > 1 + kappa / 2: it grows.
//! * 2 - kappa < |c| < 2 + kappa and R < 2 + 3 kappa: a ring about the circle of radius 2, on which the tips of needles
//!   lie, where |z| stays at 2 for ever and rounding decides. *These points are iterated by the plain loop*, every step
//!   tested. The ring is thinner than a pixel in any view but those of a tip.
//!
//! For z^2 + c, which has one tip, c = -2, less will do. Let |c| > 2 - kappa and |c + 1| >= 1 + kappa. Then |z_2| =
//! |c||c + 1| is at least |c|(1 + kappa). While |z_m| is that large, m >= 2, the ratio |z_{m+1}| / |z_m| is at least
//! |z_m| - |c| / |z_m|, so at least (2 - kappa)(1 + kappa) - 1 / (1 + kappa) > 1 + kappa: the modulus grows from z_2 on.
//! What is left is |c| > 2 - kappa and |c + 1| < 1 + kappa: subtracting, |c|^2 - |c + 1|^2 = -2a - 1 > 3 - 6 kappa, so a <
//! -2 + 3 kappa; and a > -2 - kappa, or |c + 1| were more.
//!
//! No delicate point is known for which the late test fails: the plain loop there is for the proof's sake, and costs
//! nothing elsewhere.
//!
//! # Julia sets
//!
//! c is the same for all, and z_1 is the pixel. With R^N (1 - 4 kappa) - R (1 + 4 kappa) >= |c|, the next modulus of any
//! |z_n| >= R (1 - 2u) exceeds it by at least kappa R^N, since t^N - t grows with t; that is beyond rounding, so the
//! modulus grows from there on. Where it does not hold (|c| >= 2 at N = 2, R = 2: all dust) every point is iterated by the
//! plain loop.
//!
//! # Infinity and NaN do not come back
//!
//! From an infinite or NaN part of z a square makes two such parts, and so does a product of two numbers all of whose
//! parts are such; a fold and a finite c change nothing. Both count as escaped.
//!
//! The arguments need an error O(u) a step only, so they hold for both recipes. They are tested in `escape.rs` against
//! the plain loop, at the tips in steps of one ulp among others.

use super::Bounds;
use crate::formula::Formula;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Mask, Vector};
use fearless_simd::Simd;

/// Whether testing late is exact for all points but those that [`Delicate`] names.
pub(crate) fn is_exact<N: Number>(bounds: &Bounds<N>) -> bool {
    let Some(c) = bounds.map.julia else { return true };
    let kappa = N::LATE_TEST_MARGIN.to_f64();
    let radius = bounds.radius_squared.to_f64().sqrt();
    let mut power = radius;
    for _ in 1..bounds.map.formula.power() {
        power *= radius;
    }
    let [re, im] = c.map(N::to_f64);
    // The square root and the product are wrong by far less than kappa.
    power * (1.0 - 5.0 * kappa) - radius * (1.0 + 5.0 * kappa) >= (re * re + im * im).sqrt()
}

/// Points of the parameter plane that have to be tested at every step.
#[derive(Clone, Copy)]
pub(crate) enum Delicate<N> {
    /// Those with a real part in a range, upper end excluded.
    Tip([N; 2]),
    /// Those with |c|^2, as computed, in a range, upper end excluded.
    Ring([N; 2]),
}

impl<N: Number> Delicate<N> {
    /// Which they are, if there are some.
    pub(crate) fn of(bounds: &Bounds<N>) -> Option<Self> {
        let map = &bounds.map;
        let kappa = N::LATE_TEST_MARGIN.to_f64();
        if map.julia.is_some() || map.formula.power() > 2 {
            return None;
        }
        if map.formula == Formula::MANDELBROT {
            return Some(Self::Tip([-2.0 - 2.0 * kappa, -2.0 + 3.0 * kappa].map(N::nearest)));
        }
        // (2 - kappa)^2 and (2 + kappa)^2 with room for rounding; (2 + 3 kappa)^2 likewise.
        let ring = [4.0 - 5.0 * kappa, 4.0 + 5.0 * kappa].map(N::nearest);
        (bounds.radius_squared.to_f64() < 4.0 + 13.0 * kappa).then_some(Self::Ring(ring))
    }

    /// Whether there may be some among points with these least and greatest real and imaginary parts.
    pub(super) fn may_hold(self, [re, im]: [[f64; 2]; 2]) -> bool {
        match self {
            Self::Tip(range) => {
                let [least, next] = range.map(N::to_f64);
                re[0] < next && re[1] >= least
            }
            Self::Ring(range) => {
                let [least, next] = range.map(N::to_f64);
                let nearest = |[low, high]: [f64; 2]| low.max(0.0) + high.min(0.0);
                let farthest = |[low, high]: [f64; 2]| low.abs().max(high.abs());
                let norm = |x: f64, y: f64| x * x + y * y;
                // Wider by far more than the rounding of |c|^2.
                let slack = (next - least) / 8.0;
                norm(nearest(re), nearest(im)) < next + slack && norm(farthest(re), farthest(im)) >= least - slack
            }
        }
    }

    /// Whether a point is one of them.
    pub(super) fn holds_point<M: Rule>(self, [a, b]: [N; 2]) -> bool {
        match self {
            Self::Tip([least, next]) => a >= least && a < next,
            Self::Ring([least, next]) => {
                let norm = M::norm(a, b);
                norm >= least && norm < next
            }
        }
    }

    /// Which points of a vector are: the same decision as [`Self::holds_point`].
    #[inline(always)]
    pub(super) fn holds<S: Simd, M: Rule>(self, simd: S, [a, b]: [Vector<S, N>; 2]) -> Mask<S, N> {
        let (value, [least, next]) = match self {
            Self::Tip(range) => (a, range),
            Self::Ring(range) => (M::norm(a, b), range),
        };
        value.less(Vector::splat(simd, next)) & !value.less(Vector::splat(simd, least))
    }
}
