//! Blocks of several places of a reference, one in each lane of vectors.
//!
//! Powers of 2^scale are left out of B, S and T, so that the coefficients of a few steps are in the range of f64, and the remainder is a form of the third degree
//! in |z| and |c|:
//!
//! ```text
//! |delta| <= d3 |z|^3 + d2 |z|^2 |c| + d1 |z| |c|^2 + d0 |c|^3
//! ```
//!
//! Let L, N and D be the parts of x as in `blocks.rs`, r and eps the greatest |z| and |c|. On this domain
//!
//! ```text
//! N + D <= G = g2 |z|^2 + g1 |z| |c| + g0 |c|^2,    g2 = |Q| + r d3 + eps d2,    g1 = |S| + eps d1,    g0 = |T| + eps d0
//!     G <= H = h1 |z| + h0 |c|,                     h1 = r g2 + eps g1,          h0 = eps g0
//! ```
//!
//! so that the remainder of y after x, where 2 L N + N^2 + D (2 L + 2 N + D) = G (2 L + G), is at most
//!
//! ```text
//! D' = |Ay| D + |Qy| G (2 L + H) + |Sy c| G + dy(L + H)
//! ```
//!
//! with N + D for G: a form of the third degree again, of which nothing needs to be folded.

use super::super::REACH;
use super::super::merge::{Block, UP};
use crate::deep::extended::{Bound, Extended, power_of_two};
use crate::deep::lanes::{LANES, Marks, Reals};
use crate::deep::mantissa::{Complex, Dd, Pair};
use fearless_simd::Simd;

/// Coefficients outside of 2^-150 to 2^150 are left to blocks with exponents. Within, no operation on two blocks leaves the range of f64.
const RANGE: f64 = (1_u128 << 75) as f64 * (1_u128 << 75) as f64;
/// The greatest coefficient of a remainder.
const MOST_OF_REMAINDER: f64 = RANGE * RANGE;
/// The scale below which |c| is taken to be as large as this, where it bounds what is beside larger terms.
const LEAST_SCALE: i32 = -300;

/// Complex numbers in pairs of f64 in lanes.
type Pairs<S> = Complex<Pair<Reals<S>>>;

/// What all blocks of a table have in common.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) scale: i32,
    pub(super) tolerance: f64,
    /// The greatest |c|.
    eps: f64,
    escape_radius: f64,
}

impl Common {
    pub(super) fn new(scale: i32, tolerance: f64, escape_radius: f64) -> Self {
        let eps = REACH * power_of_two(scale.max(LEAST_SCALE));
        Self { scale, tolerance, eps, escape_radius: escape_radius * (1.0 - 1e-12) }
    }
}

/// A block in each lane.
#[derive(Clone, Copy)]
pub(super) struct Row<S: Simd> {
    pub(super) a: Pairs<S>,
    pub(super) b: Pairs<S>,
    pub(super) q: Pairs<S>,
    pub(super) s: Pairs<S>,
    pub(super) t: Pairs<S>,
    /// Of B, Q, S and T, as those of [`Block`].
    pub(super) majorants: [Reals<S>; 4],
    /// 0 where there is no block.
    pub(super) radius: Reals<S>,
    /// d0 to d3.
    pub(super) delta: [Reals<S>; 4],
}

/// The numbers of blocks in lanes.
pub(super) struct Blocks {
    /// A, B, Q, S and T: both parts of both.
    coefficients: [[[f64; LANES]; 4]; 5],
    majorants: [[f64; LANES]; 4],
    radius: [f64; LANES],
    delta: [[f64; LANES]; 4],
    scale: i32,
}

#[inline(always)]
fn stored<S: Simd>(x: Reals<S>) -> [f64; LANES] {
    let mut lanes = [0.0; LANES];
    x.store(&mut lanes);
    lanes
}

#[inline(always)]
fn stored_all<S: Simd>([a, b, c, d]: [Reals<S>; 4]) -> [[f64; LANES]; 4] {
    [stored(a), stored(b), stored(c), stored(d)]
}

#[inline(always)]
fn stored_pair<S: Simd>(z: Pairs<S>) -> [[f64; LANES]; 4] {
    stored_all([z.re.hi, z.re.lo, z.im.hi, z.im.lo])
}

/// The modulus, up to a few roundings.
#[inline(always)]
pub(super) fn modulus<S: Simd>(z: Pairs<S>) -> Reals<S> {
    (z.re.hi * z.re.hi + z.im.hi * z.im.hi).sqrt()
}

#[inline(always)]
fn doubled<S: Simd>(z: Pairs<S>) -> Pairs<S> {
    z + z
}

#[inline(always)]
fn rise<S: Simd>([p1, p2, p3]: [Reals<S>; 3], s: Reals<S>) -> Reals<S> {
    ((p3 * s + p2) * s + p1) * s
}

/// [`most`](super::super::majorant::most) of polynomials without a constant, for targets of at least 0.
#[inline(always)]
fn most<S: Simd>(simd: S, p: [Reals<S>; 3], target: Reals<S>) -> Reals<S> {
    let one = Reals::splat(simd, 1.0);
    let [p1, ..] = p;
    let first = target.div(p1).where_else(target.less(p1), one);
    let s = (first * target).div(rise(p, first));
    let larger = (s * first).sqrt();
    let at_larger = rise(p, larger);
    let other = larger.where_else(at_larger.at_most(target), (larger * target).div(at_larger));
    let part = s.max(other) * Reals::splat(simd, 1.0 - 1e-14);
    one.where_else(rise(p, one).at_most(target), part)
}

/// The lanes where all of these are above 0.
#[inline(always)]
fn are_positive<S: Simd, const COUNT: usize>(simd: S, values: [Reals<S>; COUNT]) -> Marks<S> {
    let zero = Reals::splat(simd, 0.0);
    values.into_iter().fold(
        Reals::first_lanes(simd, Reals::<S>::LEN),
        #[inline(always)]
        |all, value| all & zero.less(value),
    )
}

impl<S: Simd> Row<S> {
    /// The steps at Z_m and Z_{m+1} of each lane: see `two_steps.rs`.
    #[inline(always)]
    pub(super) fn two_steps(simd: S, z: [Pairs<S>; 2], common: &Common) -> Self {
        let real = |x: f64| Reals::splat(simd, x);
        let (zero, one, up) = (real(0.0), real(1.0), real(UP));
        let Common { eps, tolerance, escape_radius, .. } = *common;
        let (first, second) = (doubled(z[0]), doubled(z[1]));
        let (a, b) = (modulus(first), modulus(second));
        let half = real(0.5);
        let (of_first, of_second) = (real(escape_radius) - a * half, real(escape_radius) - b * half);
        let room = of_second - real(eps * UP);
        let is_some = are_positive(simd, [of_first, room]);
        let reach = [a * of_first * up, of_first * of_first * up, zero];
        let radius = of_first * most(simd, reach, room);
        let remainder = [real(2.0 * eps) * radius, real(2.0) * a * radius * radius, radius * radius * radius];
        let radius = radius * most(simd, remainder, real(tolerance) * (a * b));
        let whole = Complex { re: Pair { hi: one, lo: zero }, im: Pair { hi: zero, lo: zero } };
        Self {
            a: second * first,
            b: second + whole,
            q: second + first * first,
            s: doubled(first),
            t: whole,
            majorants: [(b + one) * up, (b + a * a) * up, a * real(2.0 * UP), one],
            radius: radius.where_else(is_some, zero),
            delta: [zero, zero, real(2.0 * UP), (a + a + radius) * up],
        }
    }

    /// These blocks and then those of `y`.
    #[inline(always)]
    pub(super) fn then(&self, simd: S, y: &Self, common: &Common) -> Self {
        let real = |x: f64| Reals::splat(simd, x);
        let (x, zero, up) = (self, real(0.0), real(UP));
        let (eps, tolerance) = (real(common.eps), real(common.tolerance));
        let (ax, bx, qx, sx, tx) = (modulus(x.a), modulus(x.b), modulus(x.q), modulus(x.s), modulus(x.t));
        let (ay, qy, sy) = (modulus(y.a), modulus(y.q), modulus(y.s));
        let [x0, x1, x2, x3] = x.delta;
        let [y0, y1, y2, y3] = y.delta;
        // The largest disc whose image is within the radius of y.
        let constant = ((x0 * eps + tx) * eps + bx) * eps * up;
        let room = y.radius - constant;
        let r = x.radius;
        let linear = ((x1 * eps + sx) * eps + ax) * r * up;
        let r = r * most(simd, [linear, (x2 * eps + qx) * (r * r) * up, x3 * (r * r * r) * up], room);
        // The remainder.
        let [g0, g1, g2] = [tx + eps * x0, sx + eps * x1, qx + r * x3 + eps * x2];
        let [h0, h1] = [eps * g0, r * g2 + eps * g1];
        let [m0, m1] = [bx + bx + h0, ax + ax + h1];
        let [w0, w1] = [bx + h0, ax + h1];
        let (w00, w01, w11) = (w0 * w0, w0 * w1, w1 * w1);
        let three = real(3.0);
        let d0 = ay * x0 + qy * (m0 * g0) + sy * g0 + y3 * (w00 * w0) + y2 * w00 + y1 * w0 + y0;
        let d1 = ay * x1 + qy * (m1 * g0 + m0 * g1) + sy * g1 + three * y3 * (w00 * w1) + (y2 + y2) * w01 + y1 * w1;
        let d2 = ay * x2 + qy * (m1 * g1 + m0 * g2) + sy * g2 + three * y3 * (w11 * w0) + y2 * w11;
        let d3 = ay * x3 + qy * (m1 * g2) + y3 * (w11 * w1);
        let [d0, d1, d2, d3] = [d0 * up, d1 * up, d2 * up, d3 * up];
        // What the tolerance allows.
        let b = y.a * x.b + y.b;
        let target = tolerance * (ax * ay) - d1 * eps * eps;
        let share = most(simd, [zero, d2 * eps * r, d3 * r * r], target);
        let constant_target = tolerance * modulus(b) - d0 * eps * eps;
        let radius = r * share;
        let is_some = are_positive(simd, [x.radius, y.radius, room, target, constant_target]);
        let [xb, xq, xs, xt] = x.majorants;
        let [yb, yq, ys, yt] = y.majorants;
        let majorants = [
            (ay * xb + yb) * up,
            (ay * xq + yq * (ax * ax)) * up,
            (ay * xs + yq * (ax * (xb + xb)) + ys * ax) * up,
            (ay * xt + yq * (xb * xb) + ys * xb + yt) * up,
        ];
        Self {
            a: y.a * x.a,
            b,
            q: y.a * x.q + y.q * (x.a * x.a),
            s: y.a * x.s + doubled(y.q * (x.a * x.b)) + y.s * x.a,
            t: y.a * x.t + y.q * (x.b * x.b) + y.s * x.b + y.t,
            majorants,
            radius: radius.where_else(is_some, zero),
            delta: [d0, d1, d2, d3],
        }
    }

    /// The lanes with a block that is outside of the range of these numbers.
    #[inline(always)]
    pub(super) fn out_of_range(&self, simd: S) -> Marks<S> {
        let real = |x: f64| Reals::splat(simd, x);
        let a = modulus(self.a);
        let [b, q, s, t] = self.majorants;
        let [d0, d1, d2, d3] = self.delta;
        let greatest = a.max(b).max(q).max(s).max(t);
        let of_remainder = d0.max(d1).max(d2).max(d3);
        let is_within = real(1.0 / RANGE).at_most(self.radius)
            & greatest.at_most(real(RANGE))
            & of_remainder.at_most(real(MOST_OF_REMAINDER));
        // Where A is 0 or nearly, the radius is not a number or too small.
        let is_far_from_zero = real(1.0 / RANGE).at_most(a);
        !(is_far_from_zero & (is_within | self.radius.equals(real(0.0))))
    }

    /// The blocks of the lanes.
    #[inline(always)]
    pub(super) fn blocks(&self, common: &Common) -> Blocks {
        Blocks {
            coefficients: [
                stored_pair(self.a),
                stored_pair(self.b),
                stored_pair(self.q),
                stored_pair(self.s),
                stored_pair(self.t),
            ],
            majorants: stored_all(self.majorants),
            radius: stored(self.radius),
            delta: stored_all(self.delta),
            scale: common.scale,
        }
    }
}

impl Blocks {
    /// The block of a lane, if there is one.
    #[inline(always)]
    pub(super) fn of(&self, lane: usize) -> Option<Block> {
        let radius = self.radius[lane];
        if radius == 0.0 {
            return None;
        }
        let scale = self.scale;
        let coefficient = |number: usize, scale: i32| {
            let [re, re_low, im, im_low] = &self.coefficients[number];
            let part = |hi: &[f64; LANES], lo: &[f64; LANES]| Dd { hi: hi[lane], lo: lo[lane] };
            Extended::new(Complex { re: part(re, re_low), im: part(im, im_low) }, scale)
        };
        let [b, q, s, t] = &self.majorants;
        let [d0, d1, d2, d3] = &self.delta;
        Some(Block {
            a: coefficient(0, 0),
            b: coefficient(1, scale),
            q: coefficient(2, 0),
            s: coefficient(3, scale),
            t: coefficient(4, 2 * scale),
            majorants: [
                Bound::new(b[lane], scale),
                Bound::of(q[lane]),
                Bound::new(s[lane], scale),
                Bound::new(t[lane], 2 * scale),
            ],
            radius: Bound::of(radius),
            delta: [
                Bound::new(d0[lane] * (REACH * REACH * REACH * UP), 3 * scale),
                Bound::new(d1[lane] * (REACH * REACH * UP), 2 * scale),
                Bound::new(d2[lane] * (REACH * UP), scale),
                Bound::of(d3[lane]),
            ],
        })
    }
}
