//! The orbit of one pixel as a delta from the reference, with a running bound on its error.
//!
//! z is the computed delta and e a bound on its distance from the exact one, w = Z_m + z the value of the orbit itself. u is
//! [`Mantissa::UNIT`].
//!
//! **Step.** t = Z + w and z' = z t + c, exactly z' = z (2 Z + z) + c. Before a step |z| <= |w|, from which |Z| <= |t| / sqrt 2 and |w| <= |t|. The
//! roundings of Z (twice), of w, of t, of the product (sqrt 5 u without fused operations) and of the last sum are
//! less than (1.42 + 1 + 1 + 2.24 + 1) u |z| |t| + u |c|; with 9 there is room for the terms of second order and for a rebase that was
//! decided by rounded numbers. The derivative of z (2 Z + z) over the distance is at most 2 |w| + e:
//!
//! ```text
//! e' = (2 |w| + e) e + 9 u |z| |t| + u |c| + (error of c)
//! ```
//!
//! **Rebase**, where |w| < |z| or the reference ends: z = w, m = 0, e' = e + 2 u (|Z| + |w|), and the error of Z_M at the end. This is a change of representation,
//! valid wherever it is made.
//!
//! **Block.** For |z| + e within its radius, see `blocks.rs`:
//!
//! ```text
//! e' = (|A + S c + 2 Q z| + |Q| e) e + k(|z| + e) + |dz'/dc| (error of c)
//! ```
//!
//! where k has the truncation, the errors of the coefficients and the roundings: 9 u for each term.
//!
//! **Escape.** |w| is off by less than E = e + 8 R u. The orbit is within R for certain if |w|^2 - R^2 <= -(2 R E + E^2 + s), and
//! outside for certain if |w|^2 - R^2 > 2 |w| E + s, where s bounds the roundings of |w|^2 and R^2. If neither, the pixel is undecided here.
//!
//! Every bound is multiplied by 1 + 2^-45 for its own roundings.

mod escape;
mod trap;
mod wide;

use super::blocks::{Entry, FIRST, REACH, SHARE, Table};
use super::extended::{Bound, Extended, power_of_two};
use super::mantissa::{Complex, Mantissa};
use super::reference::Reference;
pub(super) use escape::{SMOOTH_SQUARED, smooth_value};
use std::sync::atomic::{AtomicBool, Ordering};
use trap::{Attempt, Next, Trap};

/// For the roundings of a bound.
const UP: f64 = 1.0 + 1.0 / 35_184_372_088_832.0;
/// Deltas below this are kept with an exponent: 2^-430.
const SMALL: f64 = 3.6e-130;
/// Added to bounds for results below the range of f64.
const UNDERFLOW: f64 = 1.0e-290;
/// Operations between two looks at the flag to stop, less one: a fraction of a millisecond.
const STOP_MASK: u64 = 0xfff;
/// Bits after the point of a smooth value. With 16, twelve times as many pixels of kf-1e50 need more than f64 as for dwells alone; with 12
/// three times as many.
pub const SMOOTH_BITS: u32 = 12;

/// What all pixels of a view share.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The reference.
    pub reference: &'a Reference,
    /// c is in units of 2^scale, at most [`REACH`] in modulus.
    pub scale: i32,
    /// R.
    pub escape_radius: f64,
    /// R^2, rounded to nearest.
    pub escape: f64,
    /// The greatest n.
    pub limit: u32,
    /// Whether smooth values are wanted.
    pub smooth: bool,
    /// Set to stop: orbits then end undecided.
    pub stop: &'a AtomicBool,
}

/// What is known of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// It escapes at n, with the smooth value in units of 2^-[`SMOOTH_BITS`] where that was wanted.
    Escapes(u32, i64),
    /// It does not escape up to the limit.
    Stays,
    /// Not decided with these numbers.
    Undecided,
}

/// Counts of what orbits did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Single steps in the range of f64.
    pub steps: u64,
    /// Blocks in the range of f64.
    pub blocks: u64,
    /// Steps and blocks below it.
    pub wide: u64,
    /// Rebases.
    pub rebases: u64,
}

/// An orbit under way, with a delta in the range of f64.
struct State<T> {
    z: Complex<T>,
    e: f64,
    m: usize,
    n: u32,
    trap: Trap<T>,
}

/// The answer of a phase.
enum Phase<T> {
    /// The delta is now of the other magnitude.
    Changes,
    /// An attempt to prove that the orbit never escapes has failed: it is taken back.
    Returns(Attempt<T>),
    Ends(Found),
}

/// The orbit of c in units of 2^scale.
#[inline(always)]
pub fn follow<T: Mantissa>(setting: &Setting<'_>, table: &Table<T>, c: Complex<T>, counts: &mut Counts) -> Found {
    let scale = setting.scale;
    // c in the plane, 0 below the range of f64.
    let in_range = scale > -1000;
    let plain = if in_range { c.scaled(power_of_two(scale)) } else { Complex::ZERO };
    let unit = if in_range { power_of_two(scale) } else { 0.0 };
    let orbit = Orbit {
        setting,
        table,
        c,
        plain,
        of_c: 4.0 * T::UNIT * REACH * unit + UNDERFLOW,
        relative: 2.0 * T::UNIT * REACH,
    };
    let mut state = State { z: plain, e: orbit.of_c, m: 1, n: 1, trap: Trap::new() };
    let mut wide = None;
    if plain.size() < SMALL {
        wide = Some((Extended::new(c, scale), Bound::new(orbit.relative, scale)));
    }
    loop {
        let phase = match wide.take() {
            Some((z, e)) => orbit.wide(&mut state, z, e, counts),
            None => Phase::Changes,
        };
        let phase = match phase {
            Phase::Changes => orbit.narrow(&mut state, counts),
            other => other,
        };
        wide = match phase {
            Phase::Ends(found) => return found,
            Phase::Changes => Some((Extended::new(state.z, 0), Bound::of(state.e))),
            Phase::Returns(Attempt { z, e, n, .. }) => {
                (state.m, state.n) = (0, n);
                Some((z, e))
            }
        };
    }
}

struct Orbit<'a, T> {
    setting: &'a Setting<'a>,
    table: &'a Table<T>,
    c: Complex<T>,
    plain: Complex<T>,
    /// What a step adds to the error for c.
    of_c: f64,
    /// The error of c in units of 2^scale.
    relative: f64,
}

impl<T: Mantissa> Orbit<'_, T> {
    /// Whether the flag to stop is set, looked at once in a while.
    #[inline(always)]
    fn stops(&self, count: u64) -> bool {
        count & STOP_MASK == 0 && self.setting.stop.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn narrow(&self, state: &mut State<T>, counts: &mut Counts) -> Phase<T> {
        let Setting { reference, escape_radius, limit, .. } = *self.setting;
        let last = reference.last();
        let u = T::UNIT;
        let of_modulus = 8.0 * escape_radius * u;
        let State { mut z, mut e, mut m, mut n, .. } = *state;
        loop {
            let reference_z = reference.at::<T>(m);
            let mut w = reference_z + z;
            let w_square = w.square();
            let mut z_square = z.square();
            let at_end = m == last;
            if at_end {
                e += reference.end_error.to_f64() + UNDERFLOW;
            }
            let off = e + of_modulus;
            if !self.is_within(w_square, off) {
                return self.ends(&mut state.trap, w, off, n);
            }
            if n == limit {
                return Phase::Ends(Found::Stays);
            }
            let w_modulus = w_square.sqrt();
            let mut anchor = reference_z;
            if w_square < z_square || at_end {
                e = (e + 2.0 * u * (anchor.taxicab() + w.taxicab()) + UNDERFLOW) * UP;
                z = w;
                z_square = w_square;
                m = 0;
                anchor = Complex::ZERO;
                counts.rebases += 1;
                match self.after_rebase(&mut state.trap, Extended::new(z, 0), Bound::of(e), n) {
                    Next::Trapped => return Phase::Ends(Found::Stays),
                    Next::Raise(radius) => e = radius.to_f64() * UP,
                    Next::GoOn => {}
                }
                if z.size() < SMALL {
                    (state.z, state.e, state.m, state.n) = (z, e, m, n);
                    return Phase::Changes;
                }
            }
            if m > 0 {
                let reach = (z_square.sqrt() + e) * UP;
                if let Some((entry, steps)) = self.longest(m, limit - n, reach) {
                    self.apply(entry, &mut z, &mut e, reach);
                    m += steps;
                    n += steps as u32;
                    counts.blocks += 1;
                    if self.stops(counts.blocks) {
                        return Phase::Ends(Found::Undecided);
                    }
                    if z.size() < SMALL {
                        (state.z, state.e, state.m, state.n) = (z, e, m, n);
                        return Phase::Changes;
                    }
                    continue;
                }
            }
            let t = anchor + w;
            e = ((2.0 * w_modulus + e) * e + 9.0 * u * z.taxicab() * t.taxicab() + self.of_c) * UP;
            z = z * t + self.plain;
            w = z;
            m += 1;
            n += 1;
            counts.steps += 1;
            if self.stops(counts.steps) {
                return Phase::Ends(Found::Undecided);
            }
            if w.size() < SMALL {
                (state.z, state.e, state.m, state.n) = (z, e, m, n);
                return Phase::Changes;
            }
        }
    }

    /// The longest block at m for deltas up to `reach` and at most `most` steps.
    #[inline(always)]
    fn longest(&self, m: usize, most: u32, reach: f64) -> Option<(&Entry<T>, usize)> {
        let place = m - 1;
        let mut found = None;
        let aligned = place.trailing_zeros();
        for (level, kept) in (FIRST..).zip(&self.table.levels) {
            if level > aligned {
                break;
            }
            let index = place >> level;
            let Some(radius) = kept.radius.get(index) else { break };
            if *radius < reach || most >> level == 0 {
                break;
            }
            found = Some((kept, index, 1 << level));
        }
        found.map(|(kept, index, steps)| (&kept.entries[index], steps))
    }

    #[inline(always)]
    fn apply(&self, entry: &Entry<T>, z: &mut Complex<T>, e: &mut f64, reach: f64) {
        let q = entry.q * *z;
        let linear = entry.a + entry.s * self.c + q;
        let derivative = (linear + q).square().sqrt();
        let [k0, k1, k2, k3] = entry.k;
        *e = ((derivative + entry.slack + entry.q_modulus * (*e + reach * SHARE)) * *e
            + ((k3 * reach + k2) * reach + k1) * reach
            + k0
            + (entry.by_c + entry.s_modulus * reach) * self.relative)
            * UP;
        *z = linear * *z + (entry.b + entry.t * self.c) * self.c;
    }
}
