//! The orbit of one pixel where it does something else than a step in the range of f64, and its end.

use super::blocks::{Before as BeforeBlock, Blocks};
use super::derivative::{Columns, Signs};
use super::folds::{Part, of_extended, of_value};
use super::orbits::Orbits;
use super::power::{difference, of_bound, of_real, raised, roundings};
use super::{NARROW, Setting, near};
use crate::deep::blocks::REACH;
use crate::deep::derivative::{UNDERFLOW, UP};
use crate::deep::extended::{Bound, Extended, power_of_two};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::orbit::escape::{is_inside, is_outside};
use crate::deep::orbit::trap::{Attempt, Before, Next, Trap};
use crate::deep::orbit::{Counts, Found};
use crate::deep::values::{FAR_SQUARED, MOST_STEPS, Values, values_of_columns};
use std::sync::atomic::Ordering;

/// The roundings of |w|^2 and R^2 in f64, relative to R^2.
pub(super) const ROUNDING: f64 = crate::deep::orbit::escape::ROUNDING;
/// Steps between two looks at the flag to stop, less one.
const STOP_MASK: u64 = 0xff;
/// Steps between two places where a proof that an orbit stays may begin, where there is no reference.
pub(super) const STRETCH: u64 = 64;

/// An orbit with a delta in the range of f64.
#[derive(Clone, Copy, Debug)]
pub(super) struct State<T> {
    pub(super) z: Complex<T>,
    pub(super) e: f64,
    pub(super) derivative: Columns,
    /// The index of the reference.
    pub(super) at: usize,
    pub(super) n: u64,
}

/// One of any magnitude.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide<T> {
    pub(super) z: Extended<T>,
    pub(super) e: Bound,
    pub(super) derivative: Columns,
    pub(super) at: usize,
    pub(super) n: u64,
}

/// A pixel under way.
pub(super) struct Pixel<T> {
    /// Its offset in units of 2^scale.
    pub(super) offset: Complex<T>,
    pub(super) trap: Trap<T, Columns>,
}

/// What all pixels of a tier share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a, T: Mantissa> {
    pub(super) setting: &'a Setting<'a>,
    pub(super) orbits: &'a Orbits,
    pub(super) blocks: Option<&'a Blocks<T>>,
    pub(super) power: u32,
    /// The unit of offsets, 0 below the range of f64.
    pub(super) unit: f64,
    /// C or the constant of a Julia set.
    pub(super) c: Complex<T>,
    pub(super) of_modulus: f64,
    pub(super) of_power: f64,
    pub(super) near: f64,
    /// Whether there is no reference.
    pub(super) direct: bool,
    /// What |z| + e of a block is multiplied by: with derivatives twice as much has to be within its radius.
    pub(super) reaches: f64,
    /// 1 / ([`REACH`] - |c|) at least, where derivatives are wanted; 0 in a Julia set.
    pub(super) over_margin: f64,
}

impl<'a, T: Mantissa> Shared<'a, T> {
    pub(super) fn new(setting: &'a Setting<'a>, blocks: Option<&'a Blocks<T>>) -> Self {
        let power = setting.formula.power();
        Self {
            setting,
            orbits: setting.orbits,
            blocks: blocks.filter(|_| setting.orbits.last > 0),
            power,
            unit: if setting.scale > -1000 { power_of_two(setting.scale) } else { 0.0 },
            c: Complex::of(setting.c),
            of_modulus: 8.0 * setting.escape_radius * T::UNIT,
            of_power: roundings(power) * T::UNIT,
            near: near(power),
            direct: setting.orbits.last == 0,
            reaches: if setting.units.is_some() { 2.0 } else { 1.0 },
            over_margin: match &setting.units {
                Some(units) if !setting.is_julia => UP / (REACH - units.farthest),
                _ => 0.0,
            },
        }
    }

    /// What a step at an index adds, in the range of f64, and a bound on its error.
    pub(super) fn added(&self, offset: Complex<T>, at: usize) -> (Complex<T>, f64) {
        let Setting { is_julia, .. } = *self.setting;
        let of_offset = 4.0 * T::UNIT * self.unit + UNDERFLOW;
        match (is_julia, self.direct && at == 0) {
            (false, false) => (offset.scaled(self.unit), of_offset),
            (false, true) => {
                let c = self.c + offset.scaled(self.unit);
                (c, of_offset + 4.0 * T::UNIT * (c.taxicab() + self.c.taxicab()))
            }
            (true, false) => (Complex::ZERO, UNDERFLOW),
            (true, true) => (self.c, 4.0 * T::UNIT * self.c.taxicab() + UNDERFLOW),
        }
    }

    /// Where an orbit begins.
    pub(super) fn begin(&self, offset: Complex<T>) -> Wide<T> {
        let Setting { is_julia, scale, centre, .. } = *self.setting;
        let begins = if is_julia { self.orbits.of_centre.map(|(first, _)| first) } else { (!self.direct).then_some(1) };
        let derivative = Columns::first(scale);
        let delta = Extended::new(offset, scale);
        let e = Bound::new(4.0 * T::UNIT, scale);
        if let Some(at) = begins {
            return Wide { z: delta, e, derivative, at, n: 1 };
        }
        let centre: Complex<T> = Complex::of(centre);
        let z = Extended::new(centre, 0).plus(delta);
        Wide { z, e: e.plus(Bound::of(4.0 * T::UNIT * centre.taxicab() + UNDERFLOW)), derivative, at: 0, n: 1 }
    }

    /// Whether an orbit at an index has no next reference value.
    pub(super) fn is_at_end(&self, at: usize) -> bool {
        at == self.orbits.last && !self.direct || self.orbits.of_centre.is_some_and(|(_, last)| last == at)
    }

    /// Whether w is within R for certain, by |w|^2 and the bound on its error.
    fn is_within(&self, square: f64, error: f64) -> bool {
        let Setting { escape_radius, escape, .. } = *self.setting;
        let doubt = (2.0 * escape_radius + error) * error + escape * ROUNDING;
        square <= escape - doubt * UP
    }

    /// Whether vectors step this delta.
    pub(super) fn is_narrow(&self, z: Complex<T>, w: Complex<T>, at: usize) -> bool {
        z.size() >= NARROW && w.square().sqrt().max(self.orbits.entries[at].modulus) >= self.near
    }

    /// Goes on with an orbit that is not simply stepped, to a delta that is or to the end.
    pub(super) fn resolve(&self, pixel: &mut Pixel<T>, start: Wide<T>, counts: &mut Counts) -> Result<State<T>, Found> {
        let Setting { limit, stop, .. } = *self.setting;
        let mut now = start;
        let mut steps = 0_u64;
        loop {
            steps += 1;
            if steps & STOP_MASK == 0 && stop.load(Ordering::Relaxed) {
                return Err(Found::Undecided);
            }
            let at_end = self.is_at_end(now.at);
            let reference: Complex<T> = self.orbits.at(now.at);
            let z = now.z.in_range().unwrap_or(Complex { re: T::of(Dd::whole(1e300)), im: T::ZERO });
            let w = reference + z;
            let off = now.e.to_f64() + self.of_modulus + UNDERFLOW;
            if off.is_nan() || !self.is_within(w.square(), off) {
                match pixel.trap.attempt.take() {
                    Some(Attempt { before: Before { z, e, derivative, n }, .. }) => {
                        now = Wide { z, e, derivative, at: 0, n };
                        continue;
                    }
                    None => return Err(self.at_escape(pixel.offset, (w, off, now.derivative), now.n)),
                }
            }
            if now.n == limit {
                return Err(Found::Stays);
            }
            if at_end && now.at == self.orbits.last && self.stays(&now) {
                return Err(Found::Stays);
            }
            let is_stretch = self.direct && now.at == 0 && now.n.is_multiple_of(STRETCH);
            if self.is_smaller(&now, at_end) || is_stretch {
                counts.rebases += u64::from(!is_stretch);
                self.rebase(&mut now);
                match self.prove(pixel, &mut now) {
                    Some(found) => return Err(found),
                    None if now.z.in_range().is_some_and(|z| self.is_narrow(z, z, 0)) => return Ok(self.narrow(now)),
                    None => {}
                }
            } else if steps > 1 && now.z.in_range().is_some_and(|z| self.is_narrow(z, w, now.at)) {
                return Ok(self.narrow(now));
            }
            counts.wide += 1;
            if !self.take_block(pixel.offset, &mut now) {
                self.step(pixel.offset, &mut now);
            }
        }
    }

    fn narrow(&self, now: Wide<T>) -> State<T> {
        let Wide { z, e, derivative, at, n } = now;
        State { z: z.in_range().unwrap_or(Complex::ZERO), e: e.to_f64() + UNDERFLOW, derivative, at, n }
    }

    /// Whether the delta is in the disc about the end of the critical orbit that stays.
    fn stays(&self, now: &Wide<T>) -> bool {
        let size = Bound::modulus(now.z).plus(now.e).by(UP);
        self.orbits.stays.is_some_and(|radius| size.below(Bound::of(radius)))
    }

    /// Z of any magnitude.
    fn reference(&self, at: usize) -> Extended<T> {
        let [re, im] = self.orbits.parts::<T>(at);
        let of = |re: T, im: T, e: i32| Extended::new(Complex { re, im }, e);
        of(re.m, T::ZERO, re.e).plus(of(T::ZERO, im.m, im.e))
    }

    fn is_smaller(&self, now: &Wide<T>, at_end: bool) -> bool {
        if at_end {
            return true;
        }
        if now.at == 0 {
            return false;
        }
        let w = self.reference(now.at).plus(now.z);
        Bound::modulus(w).below(Bound::modulus(now.z))
    }

    /// z = Z + z, a change of representation.
    fn rebase(&self, now: &mut Wide<T>) {
        if now.at == 0 {
            return;
        }
        let reference = self.reference(now.at);
        let w = reference.plus(now.z);
        let roundings = reference.taxicab().plus(w.taxicab()).by(2.0 * T::UNIT);
        let error = self.orbits.error(now.at);
        (now.z, now.e, now.at) = (w, now.e.plus(roundings).plus(error).by(UP), 0);
    }

    /// After a rebase: proofs that the orbit stays.
    fn prove(&self, pixel: &mut Pixel<T>, now: &mut Wide<T>) -> Option<Found> {
        if pixel.trap.passes() {
            return None;
        }
        match pixel.trap.after_rebase((now.z, now.e, now.derivative), now.n) {
            Next::Trapped => Some(Found::Stays),
            Next::Raise(radius) => {
                now.e = radius.by(UP);
                None
            }
            Next::GoOn => None,
        }
    }

    /// Takes a block of any magnitude, if there is one.
    fn take_block(&self, offset: Complex<T>, now: &mut Wide<T>) -> bool {
        let reach = Bound::modulus(now.z).plus(now.e).by(UP * self.reaches);
        let room = self.setting.limit - now.n;
        let Some((block, steps)) = self.blocks.and_then(|blocks| blocks.longest_wide(now.at, room, reach)) else {
            return false;
        };
        let over_margin = self.setting.units.map(|_| self.over_margin);
        let after = block.apply(offset, BeforeBlock { z: now.z, e: now.e, derivative: now.derivative }, over_margin);
        let (at, n) = (now.at + steps, now.n + steps as u64);
        *now = Wide { z: after.z, e: after.e, derivative: after.derivative, at, n };
        true
    }

    /// A step of any magnitude: see the module.
    fn step(&self, offset: Complex<T>, now: &mut Wide<T>) {
        let Setting { formula, scale, is_julia, units, .. } = *self.setting;
        let fold = formula.fold();
        let reference = self.reference(now.at);
        let w = reference.plus(now.z);
        if units.is_some() {
            let h = Self::error_of_w(Bound::modulus(w), Bound::modulus(reference), now.e);
            let in_f64 = Extended::new(w.m.to_f64(), w.e);
            let signs = self.signs(now);
            now.derivative = now.derivative.stepped(formula, (in_f64, h), signs, (!is_julia).then_some(scale));
        }
        let folded =
            if now.at == 0 { of_value(fold, now.z) } else { of_extended(fold, now.z, self.orbits.parts(now.at)) };
        let product = difference(folded, of_value(fold, w), of_value(fold, reference), self.power);
        let (modulus, of_reference) = (Bound::modulus(w), Bound::modulus(reference));
        let most = if modulus.below(of_reference) { of_reference } else { modulus };
        let of_most = of_bound(most, self.power - 1);
        let growth = of_bound(modulus.plus(now.e), self.power - 1).by(f64::from(self.power));
        let mut e = growth.times(now.e).plus(now.z.taxicab().times(of_most).by(self.of_power));
        if fold == crate::formula::Fold::Absolute && now.at > 0 {
            let of_fold = self.orbits.error(now.at).by(4.0 * f64::from(self.power));
            e = e.plus(of_fold.times(of_bound(most.plus(now.e), self.power - 1)));
        }
        let (added, of_added) = if self.direct && now.at == 0 {
            let (c, of_c) = self.added(offset, 0);
            (Extended::new(c, 0), Bound::of(of_c))
        } else if is_julia {
            (Extended::ZERO, Bound::ZERO)
        } else {
            (Extended::new(offset, scale), Bound::new(4.0 * T::UNIT, scale))
        };
        now.z = product.plus(added);
        now.e = e.plus(of_added).plus(now.z.taxicab().by(T::UNIT)).by(UP);
        now.at = if self.direct && now.at == 0 { 0 } else { now.at + 1 };
        now.n += 1;
    }

    /// The signs of w by parts, which may differ by more than any number has bits.
    fn signs(&self, now: &Wide<T>) -> Signs {
        let parts = if now.at == 0 { [Part { m: T::ZERO, e: 0 }; 2] } else { self.orbits.parts::<T>(now.at) };
        let real = |m: T, e: i32| Extended::new(Complex { re: m, im: T::ZERO }, e);
        let sums = [(parts[0], now.z.m.re), (parts[1], now.z.m.im)].map(|(part, z)| {
            let (reference, z) = (real(part.m, part.e), real(z, now.z.e));
            let sum = reference.plus(z);
            let off = now.e.plus(reference.taxicab().plus(z.taxicab()).by(4.0 * f64::UNIT));
            ((sum.m.re.to_f64() < 0.0, Bound::modulus(sum)), off)
        });
        let error = self.orbits.error(now.at);
        Signs::of_parts(sums.map(|(part, _)| part), sums.map(|(_, off)| off.plus(error)))
    }

    /// The bound on the error of w with its roundings in f64, whatever the tier: Z is off by u |Z| and their sum by u |w|.
    fn error_of_w(w: Bound, reference: Bound, e: Bound) -> Bound {
        e.plus(w.plus(reference).by(4.0 * f64::UNIT))
    }

    /// An orbit that is not within R for certain at n.
    fn at_escape(
        &self,
        offset: Complex<T>,
        (mut w, mut off, mut derivative): (Complex<T>, f64, Columns),
        n: u64,
    ) -> Found {
        let Setting { escape, smooth, units, scale, is_julia, formula, .. } = *self.setting;
        if !is_outside(w, off, escape) {
            return Found::Undecided;
        }
        if !smooth && units.is_none() {
            return Found::Escapes(n, Values::default());
        }
        let (c, of_c) = if is_julia {
            (self.c, 4.0 * T::UNIT * self.c.taxicab())
        } else {
            let c = self.c + offset.scaled(self.unit);
            (c, 4.0 * T::UNIT * (self.unit + c.taxicab() + self.c.taxicab()))
        };
        for at in n..n.saturating_add(MOST_STEPS) {
            if is_outside(w, off, FAR_SQUARED) {
                let units = units.as_ref().map(|units| (units, derivative.d, derivative.off));
                let found = values_of_columns(formula, (w, off), smooth.then_some(at), units);
                return found.map_or(Found::Undecided, |values| Found::Escapes(n, values));
            }
            if !is_inside(w, off, FAR_SQUARED) {
                return Found::Undecided;
            }
            let modulus = w.square().sqrt();
            if units.is_some() {
                let h = Self::error_of_w(Bound::of(modulus), Bound::ZERO, Bound::of(off));
                let in_f64 = Extended::new(w.to_f64(), 0);
                // Its parts are off by the roundings of f64 of themselves.
                let of_part = |part: f64| Bound::of(off).plus(Bound::of(4.0 * f64::UNIT * part.abs()));
                let signs = Signs::of(in_f64, [of_part(w.re.to_f64()), of_part(w.im.to_f64())]);
                derivative = derivative.stepped(formula, (in_f64, h), signs, (!is_julia).then_some(scale));
            }
            let n = f64::from(self.power);
            // w^N is off by less than (4.25 N) u |w|^N, the sum by u of its parts.
            let of_step = (5.0 * n + 2.0) * T::UNIT * of_real(modulus, self.power);
            off = (n * of_real(modulus + off, self.power - 1) * off + of_step + 2.0 * of_c + UNDERFLOW) * UP;
            let folded = of_value(formula.fold(), Extended::new(w, 0)).in_range().unwrap_or(Complex::ZERO);
            w = raised(folded, self.power) + c;
        }
        Found::Undecided
    }
}
