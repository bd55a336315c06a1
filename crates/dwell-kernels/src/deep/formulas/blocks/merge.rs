//! Blocks while they are made: with coefficients in pairs of f64, of any magnitude, and bounds on their remainders.

use super::{BlockSetting, REACH};
use crate::deep::blocks::majorant::most;
use crate::deep::extended::{Bound, Extended};
use crate::deep::formulas::orbits::Orbits;
use crate::deep::formulas::power::{of_bound, raised};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::formula::Fold;

/// For the roundings of a bound: at most some hundred operations.
pub(super) const UP: f64 = 1.0 + 1e-13;
/// For the roundings of a radius, which bounds from below, and for the errors of Z, which are below 2^-100 of it.
const DOWN: f64 = 1.0 - 1e-12;
/// The greatest error of Z beside a part of it, for its sign to be known.
const OF_SIGN: f64 = 1e-13;

/// A polynomial of the third degree in |z| with coefficients of at least 0, the constant first.
pub(super) type Cubic = [Bound; 4];

/// A block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Whether zeta is the conjugate of z.
    pub(super) conjugates: bool,
    pub(super) a: Extended<Dd>,
    pub(super) q: Extended<Dd>,
    /// Of c and of its conjugate.
    pub(super) b: [Extended<Dd>; 2],
    /// Of zeta c and of zeta conj(c).
    pub(super) s: [Extended<Dd>; 2],
    /// Of c^2, of |c|^2 and of conj(c)^2.
    pub(super) t: [Extended<Dd>; 3],
    /// Bounds on |Q| and on the sums of the |B|, |S| and |T| that are sums of moduli: errors of coefficients are relative to these.
    pub(super) of_q: Bound,
    pub(super) of_b: Bound,
    pub(super) of_s: Bound,
    pub(super) of_t: Bound,
    pub(super) radius: Bound,
    /// The bound on the remainder.
    pub(super) delta: Cubic,
}

/// The steps that blocks are made of.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    orbits: &'a Orbits,
    fold: Fold,
    power: u32,
    /// 2^scale, 0 in a Julia set.
    unit: Extended<Dd>,
    escape_radius: f64,
    tolerance: f64,
    /// Whether coefficients for terms of the second degree with a factor of c are kept.
    with_c: bool,
}

fn whole(re: f64) -> Extended<Dd> {
    Extended::new(Complex { re: Dd::whole(re), im: Dd::ZERO }, 0)
}

#[inline(always)]
fn sum(p: Cubic, q: Cubic) -> Cubic {
    [p[0].plus(q[0]), p[1].plus(q[1]), p[2].plus(q[2]), p[3].plus(q[3])]
}

/// The sum of the moduli.
#[inline(always)]
pub(super) fn sum_of(of: &[Extended<Dd>]) -> Bound {
    let mut sum = Bound::ZERO;
    for of in of {
        // Coefficients of conj(c) are 0 where nothing is conjugated.
        if of.m.size() > 0.0 {
            sum = sum.plus(Bound::modulus(*of));
        }
    }
    sum
}

#[inline(always)]
fn times(p: Cubic, factor: Bound) -> Cubic {
    [p[0].times(factor), p[1].times(factor), p[2].times(factor), p[3].times(factor)]
}

/// The product on [0, r], where x^k of a power above the third is at most r^(k-3) x^3.
#[inline(always)]
fn product(p: Cubic, q: Cubic, r: Bound) -> Cubic {
    let squared = r.times(r);
    let of_four = p[1].times(q[3]).plus(p[2].times(q[2])).plus(p[3].times(q[1]));
    let of_five = p[2].times(q[3]).plus(p[3].times(q[2]));
    let of_three = p[0].times(q[3]).plus(p[1].times(q[2])).plus(p[2].times(q[1])).plus(p[3].times(q[0]));
    let of_six = p[3].times(q[3]).times(squared).times(r);
    [
        p[0].times(q[0]),
        p[0].times(q[1]).plus(p[1].times(q[0])),
        p[0].times(q[2]).plus(p[1].times(q[1])).plus(p[2].times(q[0])),
        of_three.plus(of_four.times(r)).plus(of_five.times(squared)).plus(of_six),
    ]
}

/// p(s r) / unit for s in [0, 1], in f64. What is too large for it makes s small.
#[inline(always)]
fn shares(p: Cubic, r: Bound, unit: Bound) -> [f64; 4] {
    let squared = r.times(r);
    [
        share(p[0], unit),
        share(p[1].times(r), unit),
        share(p[2].times(squared), unit),
        share(p[3].times(squared).times(r), unit),
    ]
}

#[inline(always)]
fn share(bound: Bound, unit: Bound) -> f64 {
    if bound.is_zero() { 0.0 } else { bound.over(unit).to_f64().min(1e280) }
}

impl<'a> Steps<'a> {
    pub(super) fn new(wanted: &BlockSetting<'a>) -> Self {
        let setting = &wanted.setting;
        Self {
            orbits: setting.orbits,
            fold: setting.formula.fold(),
            power: setting.formula.power(),
            unit: if setting.is_julia { Extended::ZERO } else { Extended { e: setting.scale, ..whole(1.0) } },
            escape_radius: setting.escape_radius,
            tolerance: wanted.tolerance,
            with_c: wanted.with_c(),
        }
    }

    pub(super) fn power(&self) -> u32 {
        self.power
    }

    pub(super) fn with_c(&self) -> bool {
        self.with_c
    }

    /// The step at an index; `None` where nothing is left of its domain.
    #[inline(always)]
    pub(super) fn at(&self, index: usize) -> Option<Block> {
        let parts = self.orbits.parts::<Dd>(index);
        let n = f64::from(self.power);
        let [re, im] = parts.map(|part| Extended::new(Complex { re: part.m, im: Dd::ZERO }, part.e));
        let signs = parts.map(|part| if part.m.hi < 0.0 { -1.0 } else { 1.0 });
        let modulus = Bound::modulus(re.plus(Extended { m: Complex { re: Dd::ZERO, im: im.m.re }, e: im.e }));
        let room = self.escape_radius * DOWN - modulus.to_f64();
        if modulus.is_zero() || room <= 0.0 {
            return None;
        }
        // A constant of the remainder is right for its whole domain, and the domain not larger than it is of use.
        let of_use = modulus.by((6.0 * self.tolerance / ((n - 1.0) * (n - 2.0)).max(1e-3)).sqrt());
        let mut radius = Bound::of(room);
        if self.power > 2 && of_use.below(radius) {
            radius = of_use;
        }
        let (mut s, mut folded, mut conjugates) = (1.0, [re, im], false);
        match self.fold {
            Fold::None => {}
            Fold::Conjugate => {
                folded[1].m.re = -folded[1].m.re;
                conjugates = true;
            }
            Fold::Absolute => {
                for (part, sign) in folded.iter_mut().zip(signs) {
                    let distance = Bound::modulus(*part);
                    if !self.orbits.error(index).below(distance.by(OF_SIGN)) {
                        return None;
                    }
                    radius = if distance.by(DOWN).below(radius) { distance.by(DOWN) } else { radius };
                    part.m.re = part.m.re * Dd::whole(sign);
                }
                (s, conjugates) = (signs[0], signs[0] != signs[1]);
            }
        }
        let [re, im] = folded;
        let v = re.plus(Extended { m: Complex { re: Dd::ZERO, im: im.m.re }, e: im.e });
        let below = if self.power == 2 { whole(1.0) } else { raised(v, self.power - 2) };
        let q = below.times(whole(n * (n - 1.0) / 2.0));
        let mut rest = Bound::ZERO;
        let mut binomial = n * (n - 1.0) / 2.0;
        for k in 3..=self.power {
            binomial *= (n - f64::from(k) + 1.0) / f64::from(k);
            let of_v = of_bound(modulus, self.power - k);
            rest = rest.plus(of_v.times(of_bound(radius, k - 3)).by(binomial));
        }
        Some(Block {
            conjugates,
            a: below.times(v).times(whole(s * n)),
            q,
            b: [self.unit, Extended::ZERO],
            s: [Extended::ZERO; 2],
            t: [Extended::ZERO; 3],
            of_q: Bound::modulus(q).by(UP),
            of_b: Bound::modulus(self.unit),
            of_s: Bound::ZERO,
            of_t: Bound::ZERO,
            radius,
            delta: [Bound::ZERO, Bound::ZERO, Bound::ZERO, rest.by(UP)],
        })
    }
}

impl Block {
    /// The block whose value is the conjugate.
    #[inline(always)]
    fn conjugate(&self) -> Self {
        let ([b, of_b], [s, of_s], [t, both, of_t]) = (self.b, self.s, self.t);
        Self {
            conjugates: !self.conjugates,
            a: self.a.conjugate(),
            q: self.q.conjugate(),
            b: [of_b.conjugate(), b.conjugate()],
            s: [of_s.conjugate(), s.conjugate()],
            t: [of_t.conjugate(), both.conjugate(), t.conjugate()],
            ..*self
        }
    }

    /// This block and then `y`; `None` where nothing is left of its domain.
    #[inline(always)]
    pub(super) fn then(&self, y: &Self, steps: &Steps<'_>) -> Option<Self> {
        let x = if y.conjugates { self.conjugate() } else { *self };
        let (a, q) = (Bound::modulus(x.a), Bound::modulus(x.q));
        let (ya, yq) = (Bound::modulus(y.a), Bound::modulus(y.q));
        let [b, s, t] = [sum_of(&x.b).by(REACH), sum_of(&x.s).by(REACH), sum_of(&x.t).by(REACH * REACH)];
        let ys = sum_of(&y.s).by(REACH);
        // L, N + D and V, and the largest disc on which V is within the radius of y.
        let linear = [b, a, Bound::ZERO, Bound::ZERO];
        let rest = sum([t, s, q, Bound::ZERO], x.delta);
        let value = times(sum(linear, rest), Bound::of(UP));
        let of_y = shares(value, x.radius, y.radius);
        if of_y[0] >= 1.0 {
            return None;
        }
        let radius = x.radius.by(most(of_y, 1.0 - of_y[0]));
        let factor = sum(times(sum(sum(linear, linear), rest), yq), [ys, Bound::ZERO, Bound::ZERO, Bound::ZERO]);
        let mut delta = sum(times(x.delta, ya), product(rest, factor, radius));
        if !steps.with_c {
            delta[0] = delta[0].plus(yq.times(b).times(b));
            delta[1] = delta[1].plus(yq.times(a).times(b).by(2.0));
        }
        let squared = product(value, value, radius);
        let of_powers = sum(times(value, y.delta[1]), times(squared, y.delta[2]));
        delta = sum(delta, sum(of_powers, times(product(squared, value, radius), y.delta[3])));
        delta[0] = delta[0].plus(y.delta[0]);
        let mut merged = x.coefficients(y, steps.with_c);
        merged.delta = times(delta, Bound::of(UP));
        merged.radius = merged.useful(radius, steps.tolerance)?;
        Some(merged)
    }

    /// The radius up to which the remainder is a small share of the linear part: of A |z| where it has a factor of z, and of B c where it has none.
    #[inline(always)]
    fn useful(&self, radius: Bound, tolerance: f64) -> Option<Bound> {
        let [d0, d1, d2, d3] = self.delta;
        let target = Bound::modulus(self.a).by(tolerance);
        if sum_of(&self.b).by(tolerance).below(d0) || target.is_zero() {
            return None;
        }
        let [of_first, of_second, of_third, _] = shares([d1, d2, d3, Bound::ZERO], radius, target);
        if of_first >= 1.0 {
            return None;
        }
        let useful = radius.by(most([0.0, of_second, of_third, 0.0], 1.0 - of_first));
        (!useful.is_zero()).then_some(useful)
    }

    /// The coefficients of this block and then `y`, which does not conjugate, with their majorants.
    #[inline(always)]
    fn coefficients(&self, y: &Self, with_c: bool) -> Self {
        let x = self;
        let (a, ya) = (Bound::modulus(x.a), Bound::modulus(y.a));
        let mut merged = Self {
            conjugates: x.conjugates,
            a: y.a.times(x.a),
            q: y.a.times(x.q).plus(y.q.times(x.a.times(x.a))),
            b: [y.a.times(x.b[0]).plus(y.b[0]), y.a.times(x.b[1]).plus(y.b[1])],
            of_q: ya.times(x.of_q).plus(y.of_q.times(a).times(a)).by(UP),
            of_b: ya.times(x.of_b).plus(y.of_b).by(UP),
            ..*x
        };
        if with_c {
            let [b, of_b] = x.b;
            let by_a = y.q.times(x.a).doubled();
            merged.s = [
                y.a.times(x.s[0]).plus(by_a.times(b)).plus(y.s[0].times(x.a)),
                y.a.times(x.s[1]).plus(by_a.times(of_b)).plus(y.s[1].times(x.a)),
            ];
            let both = y.q.times(b).times(of_b).doubled().plus(y.s[0].times(of_b)).plus(y.s[1].times(b));
            merged.t = [
                y.a.times(x.t[0]).plus(y.q.times(b).plus(y.s[0]).times(b)).plus(y.t[0]),
                y.a.times(x.t[1]).plus(both).plus(y.t[1]),
                y.a.times(x.t[2]).plus(y.q.times(of_b).plus(y.s[1]).times(of_b)).plus(y.t[2]),
            ];
            let of_s = ya.times(x.of_s).plus(y.of_q.times(a).times(x.of_b).by(2.0)).plus(y.of_s.times(a));
            let of_t = ya.times(x.of_t).plus(y.of_q.times(x.of_b).plus(y.of_s).times(x.of_b)).plus(y.of_t);
            (merged.of_s, merged.of_t) = (of_s.by(UP), of_t.by(UP));
        }
        merged
    }
}
