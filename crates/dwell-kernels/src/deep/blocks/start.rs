//! The beginning that all pixels of a view share: blocks applied to the delta as a polynomial of c.
//!
//! Every pixel begins with z = c, at m = 1. As long as the same blocks and steps are valid for all c of the view, the delta is
//!
//! ```text
//! z = P + (B + T c) c + d,    |d| <= D
//! ```
//!
//! for all of them, and one chain of blocks replaces the same operations of every pixel: a series approximation (K. I. Martin, 2013) of the second
//! degree with a proof. A block y after it has
//!
//! ```text
//! P' = (A + Q P) P,    B' = (A + 2 Q P) B + S P + B_y,    T' = A T + S B + Q (2 P T + B^2) + T_y
//! D' = (|A + S c + 2 Q z| + |Q| D) D + |Q| (2 |B T| + |T|^2) + |S T| + k(|z| + D)
//! ```
//!
//! with k of the block, which has 9 u for each of its terms: no monomial of P', B' and T' has more than two products and four sums. At the end of
//! the reference P is rebased by Z_M. The chain ends where no block and no step is valid for the whole view, or D exceeds a quarter of the
//! tolerance of the blocks.
//!
//! What it gives, as operations of all tiers without it by those with it, at 480x270: rf-e8000 3.1 (5.4 in time: it spares the operations below the range of f64), kf-1e1086 1.3 (2.4),
//! kf-4e533 1.14 (1.9), rf-e1000 1.26, rf-flake 1.15, kf-1e50, kf-5e113, fs-view05, fs-view11 and kf-1e14 1.01 to 1.12. With D up to the whole of the tolerance, what later tiers
//! had to do grew by up to 16 %, and fs-view05 and shallow-seahorse-1e13 took more operations with it than without (up to 4 %); with an eighth of it, kf-1e1086 takes 1.16 times as many.

use super::{REACH, SHARE, Table, WideEntry};
use crate::deep::TableSetting;
use crate::deep::derivative::{U, WideDerivative};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::reference::End;

/// For the roundings of a bound.
const UP: f64 = 1.0 + 1e-13;
/// The share of the tolerance of blocks that D may use up: what the pixels that are hardest to decide are left with.
const SHARE_OF_TOLERANCE: f64 = 0.25;
/// The most operations, some ten milliseconds: a view within an attracted disc goes round for ever.
const MOST: usize = 1 << 15;
/// The exponent of B from which the polynomial is evaluated in the range of f64.
const IN_RANGE: i32 = -400;

/// A polynomial of c, in units of 2^scale.
#[derive(Clone, Copy, Debug)]
struct Chain<T> {
    p: Extended<T>,
    b: Extended<T>,
    t: Extended<T>,
    d: Bound,
    m: usize,
    n: u64,
}

/// Where the pixels of a view begin.
#[derive(Clone, Copy, Debug)]
pub(in crate::deep) struct Start<T> {
    chain: Chain<T>,
    /// P, B and T in units of 2^unit.
    coefficients: [Complex<T>; 3],
    unit: i32,
    /// A bound on the error of z, that of c included.
    pub(in crate::deep) e: Bound,
}

impl<T: Mantissa> Chain<T> {
    /// c itself, at m = 1.
    fn first(scale: i32) -> Self {
        let one = Complex::of(Complex { re: Dd::whole(1.0), im: Dd::ZERO });
        Self { p: Extended::ZERO, b: Extended::new(one, scale), t: Extended::ZERO, d: Bound::ZERO, m: 1, n: 1 }
    }

    /// |P|, |B c|, |T c^2| and a bound on |z|.
    fn moduli(&self) -> [Bound; 4] {
        let [p, b, t] = [self.p, self.b, self.t].map(Bound::modulus);
        let (b, t) = (b.by(REACH * UP), t.by(REACH * REACH * UP));
        [p, b, t, p.plus(b).plus(t).plus(self.d).by(UP)]
    }

    /// This chain and then a block.
    fn then(&self, y: &WideEntry<T>, steps: usize) -> Self {
        let Self { p, b, t, d, .. } = *self;
        let q_p = y.q.times(p);
        let [_, of_b, of_t, reach] = self.moduli();
        let [a, s, q] = [y.a, y.s, y.q].map(Bound::modulus);
        let derivative = a
            .plus(s.by(REACH))
            .plus(q.times(reach).by(2.0))
            .plus(y.slack)
            .plus(y.q_modulus.times(d.plus(reach.by(SHARE))));
        let cut = q.times(of_b.by(2.0).plus(of_t)).times(of_t).plus(s.by(REACH).times(of_t));
        let [k0, k1, k2, k3] = y.k;
        let k = k3.times(reach).plus(k2).times(reach).plus(k1).times(reach).plus(k0);
        Self {
            p: y.a.plus(q_p).times(p),
            b: y.a.plus(q_p.doubled()).times(b).plus(y.s.times(p)).plus(y.b),
            t: y.a.times(t).plus(y.s.times(b)).plus(y.q.times(p.times(t).doubled().plus(b.times(b)))).plus(y.t),
            d: derivative.times(d).plus(cut).plus(k).by(UP),
            m: self.m + steps,
            n: self.n + steps as u64,
        }
    }

    /// The next operation, if one is valid for the whole view and within the tolerance.
    fn next(&self, table: &Table<T>, setting: &TableSetting<'_>) -> Option<Self> {
        let TableSetting { reference, scale, escape_radius, tolerance, .. } = *setting;
        let [.., reach] = self.moduli();
        if self.m == reference.last() {
            if reference.end != End::Period {
                return None;
            }
            let z = reference.extended::<T>(self.m);
            let p = z.plus(self.p);
            let rounding = z.taxicab().plus(p.taxicab()).by(2.0 * T::UNIT);
            let d = self.d.plus(rounding).plus(reference.end_error).by(UP);
            return Some(Self { p, d, m: 0, ..*self }).filter(|next| next.is_within(tolerance));
        }
        let next = match table.longest_of_either(self.m, usize::MAX, reach) {
            Some((entry, steps)) => self.then(&entry, steps),
            None => {
                let step = WideEntry::step(reference.extended(self.m), scale, escape_radius)?;
                if step.radius.below(reach) {
                    return None;
                }
                self.then(&step, 1)
            }
        };
        next.is_within(tolerance).then_some(next)
    }

    fn is_within(&self, tolerance: f64) -> bool {
        let [_, b, t, _] = self.moduli();
        self.d.below(b.plus(t).by(SHARE_OF_TOLERANCE * tolerance))
    }
}

impl<T: Mantissa> Start<T> {
    /// The first delta, c itself, for c in units of 2^scale.
    pub(in crate::deep) fn first(scale: i32) -> Self {
        Self::of(Chain::first(scale))
    }

    /// The longest chain.
    pub(super) fn new(table: &Table<T>, setting: &TableSetting<'_>) -> Self {
        let mut chain = Chain::first(setting.scale);
        for _ in 0..MOST {
            match chain.next(table, setting) {
                Some(next) => chain = next,
                None => break,
            }
        }
        Self::of(chain)
    }

    fn of(chain: Chain<T>) -> Self {
        let [p, b, t, _] = chain.moduli();
        let rounding = p.plus(b).plus(t).by(9.0 * T::UNIT);
        let of_c = b.plus(t.by(2.0)).by(2.0 * T::UNIT * REACH);
        let Chain { p, b, t, d, .. } = chain;
        let is_in_range = Bound::modulus(b).exponent() > IN_RANGE;
        let in_range = || Some(([p.in_range()?, b.in_range()?, t.in_range()?], 0));
        let (coefficients, unit) = if is_in_range { in_range() } else { None }.unwrap_or_else(|| {
            // What is below the range of f64 in the unit of the largest is nothing beside the roundings.
            let unit = p.e.max(b.e).max(t.e);
            ([p, b, t].map(|part| Extended { e: part.e - unit, ..part }.in_range().unwrap_or(Complex::ZERO)), unit)
        });
        Self { chain, coefficients, unit, e: d.plus(rounding).plus(of_c).by(UP) }
    }

    /// The index in the reference.
    pub(in crate::deep) fn m(&self) -> usize {
        self.chain.m
    }

    /// The number of steps.
    pub(in crate::deep) fn n(&self) -> u64 {
        self.chain.n
    }

    /// The derivative of the delta by c, where `over_margin` is 1 / ([`REACH`] - |c|).
    ///
    /// The rest is an analytic function of c with |d| <= D for |c| up to [`REACH`], so that its derivative is at most D over what c is away from there. The
    /// coefficients and c are rounded to f64, each term with one product.
    pub(in crate::deep) fn derivative(&self, c: Complex<T>, over_margin: f64) -> WideDerivative {
        let Chain { b, t, d, .. } = self.chain;
        let (b, t, c) = (b.in_f64(), t.in_f64(), Extended::new(c.to_f64(), 0));
        let roundings = Bound::modulus(b).plus(Bound::modulus(t).by(2.0)).by(16.0 * U);
        WideDerivative { d: b.plus(t.times(c).doubled()), off: d.by(over_margin).plus(roundings).by(UP) }
    }

    /// P, B and T of the delta P + (B + T c) c in units of 2^unit, and the unit: 0 where all is in the range of f64.
    #[inline(always)]
    pub(in crate::deep) fn coefficients(&self) -> ([Complex<T>; 3], i32) {
        (self.coefficients, self.unit)
    }
}
