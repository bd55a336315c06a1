//! Proof that testing for escape late changes no dwell, and the points for which it does not apply.
//!
//! Let u be the unit roundoff, R >= 2 (or just below, see the end), and kappa = [`Number::LATE_TEST_MARGIN`] with 16 u << kappa << 1. Claim: if a
//! point that is not exceptional (below) has |z_n|^2 > R^2 *as computed* at some n, then the same holds, or |z|^2 is
//! NaN, at every later step. So an escape within a batch is still visible at the end of the batch, and the replay finds
//! the first one; and the number of tests passed is the number of steps before the escape.
//!
//! Every formula is z -> w^N + c with |w| = |z| exactly, so the next modulus is at least |z|^N - |c| less the rounding
//! error. One computed step adds an error of at most a few N u |z|^N, far below kappa |z|^N / 4. |z_n|^2 > R^2 as
//! computed implies |z_n| >= R (1 - 2u).
//!
//! # The parameter plane, N >= 3
//!
//! |c| = |z_1| was at most R (1 + 2u) when z_1 was tested, or n = 1 and |z_n| = |c|. In both cases |c| is at most |z_n|
//! (1 + 4u). |z_{n+1}| is at least |z_n|^N - |c| - kappa |z_n|^N / 4, so at least |z_n| (|z_n|^(N-1) (1 - kappa / 4) -
//! 1 - 4u): more than 2.9 |z_n|. No point is exceptional.
//!
//! # The parameter plane, N = 2
//!
//! At n = 1, |c| >= R (1 - 2u) is more than 2 - kappa, which is the second case or the third. At n >= 2, |c|^2 = |z_1|^2
//! as computed was at most R^2.
//!
//! * |c| <= 2 - kappa. Then |z_{n+1}| is at least |z_n|^2 - |c| - O(u)|z_n|^2, so at least R^2 - 2 + kappa - O(u) R^2.
//!   For R >= 2, R^2 - 2 is at least R, with equality for R = 2 only, where kappa alone exceeds the error: |z_{n+1}| >
//!   R (1 + 4u). The new modulus exceeds R by more than kappa / 2, and the excess at least triples in each step (the
//!   derivative 2|z| is at least 4, less rounding), so every later test detects it.
//! * |c| >= 2 + kappa. Then |z_2| is at least |c|(|c| - 1)(1 - O(u)), so at least |c|(1 + kappa / 2); and while |z_m| is
//!   that large, the ratio |z_{m+1}| / |z_m| is at least |z_m| - |c| / |z_m| - O(u)|z_m|, so at least 1 + kappa / 2
//!   again: the modulus grows from z_1 on, by a factor beyond any rounding, and once over R it stays over R.
//! * 2 - kappa < |c| < 2 + kappa and R >= 2 + 3 kappa. Then |z_n| >= R (1 - 2u) > 2 + 2 kappa, and the ratio is at least
//!   |z_n| - |c| / |z_n| - O(u)|z_n| > 1 + kappa / 2: it grows.
//! * 2 - kappa < |c| < 2 + kappa and R < 2 + 3 kappa: a ring about the circle of radius 2. It contains the tips of
//!   needles, where |z| stays at 2 for ever and rounding decides the escape. *These points are iterated by the plain
//!   loop*, with a test after every step. The ring is thinner than a pixel in every view except those of a tip.
//!
//! For z^2 + c, which has one tip, c = -2, a smaller region suffices. Let |c| > 2 - kappa and |c + 1| >= 1 + kappa.
//! Then |z_2| = |c||c + 1| is at least |c|(1 + kappa). While |z_m| is that large, m >= 2, the ratio |z_{m+1}| / |z_m|
//! is at least |z_m| - |c| / |z_m|, so at least (2 - kappa)(1 + kappa) - 1 / (1 + kappa) > 1 + kappa: the modulus grows
//! from z_2 on. The remaining points have |c| > 2 - kappa and |c + 1| < 1 + kappa. Subtracting gives |c|^2 - |c + 1|^2
//! = -2a - 1 > 3 - 6 kappa, so a < -2 + 3 kappa; and a > -2 - kappa, since otherwise |c + 1| would be greater.
//!
//! No exceptional point is known for which the late test fails. The plain loop is needed there for the proof only, and
//! it costs nothing elsewhere.
//!
//! # Julia sets
//!
//! c is the same for all points, and z_1 is the pixel. If R^N (1 - 4 kappa) - R (1 + 4 kappa) >= |c|, the next modulus
//! of any |z_n| >= R (1 - 2u) exceeds it by at least kappa R^N, since t^N - t grows with t. That is beyond rounding, so
//! the modulus grows from there on. Where the inequality does not hold (|c| >= 2 at N = 2, R = 2: Julia sets that are
//! all dust) every point is iterated by the plain loop.
//!
//! # R^2 just below 4
//!
//! The arguments also hold for R^2 = [`Number::BELOW_FOUR`] = 4 (1 - u), with which the test |z|^2 > R^2 is |z|^2 >= 4: R
//! is 2 (1 - u / 2), less O(u^2). R >= 2 is used in four places. For N >= 3, |z_n|^(N-1) is at least R^2 (1 - 4u) > 4 (1 -
//! 6u), which leaves more than 2.9. For N = 2 and |c| <= 2 - kappa, R^2 - 2 is at least R - 4u in place of R, kappa exceeds
//! 4u and the rounding error together, and the derivative 2|z| is at least 4 - O(u). |c| >= R (1 - 2u) at n = 1 is still
//! more than 2 - kappa. And R < 2 + 3 kappa, so points of the ring, or of the tip, are iterated by the plain loop. The other
//! cases compare |z| with |c| and do not use R. For Julia sets t^N - t grows with t from 1 on, and the inequality is checked
//! with this R.
//!
//! # Infinity and NaN stay
//!
//! If a part of z is infinite or NaN, a square makes both parts infinite or NaN, and so does a product of two numbers
//! all of whose parts are infinite or NaN. A fold and a finite c change nothing in this. Infinity and NaN both count as
//! escaped.
//!
//! The arguments need only an error of O(u) in each step, so they hold for both recipes. Tests in `escape.rs` compare
//! the results with the plain loop, among others at the tips in steps of one ulp.

use super::KernelSettings;
use crate::formula::Formula;
use crate::number::Number;
use crate::recipe::Rule;
use crate::vector::{Mask, Vector};
use fearless_simd::Simd;

/// Whether testing late is exact for all points except those of [`ExceptionalPoints`].
pub(crate) fn is_exact<N: Number>(settings: &KernelSettings<N>) -> bool {
    let Some(c) = settings.map.julia else { return true };
    let kappa = N::LATE_TEST_MARGIN.to_f64();
    let radius = settings.radius_squared.to_f64().sqrt();
    let mut power = radius;
    for _ in 1..settings.map.formula.power() {
        power *= radius;
    }
    let [re, im] = c.map(N::to_f64);
    // The errors of the square root and of the product are far below kappa.
    power * (1.0 - 5.0 * kappa) - radius * (1.0 + 5.0 * kappa) >= (re * re + im * im).sqrt()
}

/// The points of the parameter plane that must be tested after every step.
#[derive(Clone, Copy)]
pub(crate) enum ExceptionalPoints<N> {
    /// Points whose real part is in a range, upper end excluded.
    Tip([N; 2]),
    /// Points whose |c|^2, as computed, is in a range, upper end excluded.
    Ring([N; 2]),
}

impl<N: Number> ExceptionalPoints<N> {
    /// The exceptional points of a map and an escape radius, or `None` if there are none.
    pub(crate) fn of(settings: &KernelSettings<N>) -> Option<Self> {
        let map = &settings.map;
        let kappa = N::LATE_TEST_MARGIN.to_f64();
        if map.julia.is_some() || map.formula.power() > 2 {
            return None;
        }
        if map.formula == Formula::MANDELBROT {
            return Some(Self::Tip([-2.0 - 2.0 * kappa, -2.0 + 3.0 * kappa].map(N::nearest)));
        }
        // (2 - kappa)^2 and (2 + kappa)^2 with room for rounding; (2 + 3 kappa)^2 likewise.
        let ring = [4.0 - 5.0 * kappa, 4.0 + 5.0 * kappa].map(N::nearest);
        (settings.radius_squared.to_f64() < 4.0 + 13.0 * kappa).then_some(Self::Ring(ring))
    }

    /// Whether points with these least and greatest real and imaginary parts may include exceptional ones.
    pub(super) fn may_contain(self, [re, im]: [[f64; 2]; 2]) -> bool {
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
                // The slack is far greater than the rounding error of |c|^2.
                let slack = (next - least) / 8.0;
                norm(nearest(re), nearest(im)) < next + slack && norm(farthest(re), farthest(im)) >= least - slack
            }
        }
    }

    /// Whether the point c = a + ib is exceptional.
    pub(super) fn contains_point<R: Rule>(self, [a, b]: [N; 2]) -> bool {
        match self {
            Self::Tip([least, next]) => a >= least && a < next,
            Self::Ring([least, next]) => {
                let norm = R::norm(a, b);
                norm >= least && norm < next
            }
        }
    }

    /// The lanes whose point is exceptional, decided as in [`Self::contains_point`].
    #[inline(always)]
    pub(super) fn contains<S: Simd, R: Rule>(self, simd: S, [a, b]: [Vector<S, N>; 2]) -> Mask<S, N> {
        let (value, [least, next]) = match self {
            Self::Tip(range) => (a, range),
            Self::Ring(range) => (R::norm(a, b), range),
        };
        value.less(Vector::splat(simd, next)) & !value.less(Vector::splat(simd, least))
    }
}
