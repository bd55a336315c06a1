//! The reference orbits of a formula: the critical one, from 0, and for a Julia set that of the view's centre.
//!
//! In the parameter plane both are the same: Z_0 = 0 and Z_1 = C. For a Julia set of c, the deltas of pixels begin beside the orbit of the centre, Z_1 = C, and nothing is added in steps. Where
//! such a delta is rebased, the value of the orbit itself becomes the delta from the critical orbit, Z_0 = 0 and Z_1 = c; from there on that is the reference.
//!
//! An orbit ends as that of z^2 + c does ([`crate::deep::reference`]): at a period of the view, at the limit, where a disc about it is proved to stay, and before it leaves the disc of
//! radius R, so that |Z| <= (1 + 10^-6) R. It also ends where its error is no longer below 2^-112 |Z|. Where it ends changes no result, since a rebase is valid everywhere. With a fold the derivative is a real 2x2
//! matrix, and a period is where the solution v of D v = Z is within the view.

use super::fixed::{PowerStepper, error_after};
use super::folds::Part;
use super::power::{of_bound, raised};
use crate::deep::Watch;
use crate::deep::extended::{Bound, Extended, exponent, power_of_two};
use crate::deep::leading::{Leading, of_limbs, pair};
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::reference::{End, NoReference};
use crate::deep::view_trap::ViewTrap;
use crate::formula::{Fold, Formula};
use std::sync::atomic::Ordering;

/// The error of Z relative to itself: 2^-112.
const RELATIVE_ERROR: i32 = -112;
/// Parts below 2^-300 are kept with exponents of their own.
const TINY: f64 = 4.909_093_465_297_727e-91;
/// The most steps of the critical orbit of a Julia set.
const MOST_CRITICAL: u64 = 1 << 20;

/// A value of an orbit: its parts rounded to f64, and upper bounds on its modulus and on its error in fixed point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(super) struct Entry {
    pub(super) re: f64,
    pub(super) im: f64,
    pub(super) modulus: f64,
    pub(super) error: f64,
}

/// The reference orbits of a view.
#[derive(Clone, Debug)]
pub struct Orbits {
    /// Those of the critical orbit, and after them those of the centre of a Julia set.
    pub(super) entries: Vec<Entry>,
    /// What is left of the parts.
    pub(super) low: Vec<[f64; 2]>,
    /// The exponents of bounds on the errors, for deltas below the range of f64.
    pub(super) errors: Vec<i32>,
    /// Z with a part that is not 0 and below 2^-300, in the order of indices.
    pub(super) tiny: Vec<(u32, [Part<Dd>; 2])>,
    /// The index of the last Z of the critical orbit. Where it is 0, there is no reference, and deltas are values.
    pub(super) last: usize,
    /// The index of the first and of the last Z of the orbit of the centre.
    pub(super) of_centre: Option<(usize, usize)>,
    /// The radius of a disc about the last Z of the critical orbit of a Julia set, of which no point ever escapes.
    pub(super) stays: Option<f64>,
    /// Why the orbit of the centre ends.
    pub end: End,
}

/// What orbits are computed for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The formula.
    pub formula: Formula,
    /// The centre of the view.
    pub centre: [&'a Fixed; 2],
    /// The constant c of a Julia set with an upper bound on its error in units of the last place, with limbs of its own.
    pub julia: Option<([&'a Fixed; 2], f64)>,
    /// The radius of a disc about the centre that holds the view.
    pub radius: Bound,
    /// R^2.
    pub escape: f64,
    /// The greatest n.
    pub limit: u64,
    /// The most entries.
    pub most: usize,
    /// Looked at meanwhile.
    pub watch: Watch<'a>,
}

/// One of the orbits.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Parameter,
    Critical,
    Centre,
}

/// The derivative by the pixel: its columns, or its modulus.
enum Derivative {
    Columns([Extended<f64>; 2]),
    Modulus(Bound),
}

fn unit(re: f64, im: f64) -> Extended<f64> {
    Extended::new(Complex { re, im }, 0)
}

/// The imaginary part of conj(a) b, as a modulus.
fn area(a: Extended<f64>, b: Extended<f64>) -> Bound {
    let product = Extended { m: Complex { re: a.m.re, im: -a.m.im }, e: a.e }.times(b);
    Bound::new(product.m.im.abs(), product.e)
}

impl Derivative {
    fn after(self, formula: Formula, z: Extended<f64>) -> Self {
        let power = formula.power();
        match self {
            Self::Modulus(modulus) => {
                Self::Modulus(of_bound(Bound::modulus(z), power - 1).by(f64::from(power)).times(modulus))
            }
            Self::Columns(columns) => {
                let sign = |part: f64| if part < 0.0 { -1.0 } else { 1.0 };
                let [re, im] = match formula.fold() {
                    Fold::None => [1.0, 1.0],
                    Fold::Conjugate => [1.0, -1.0],
                    Fold::Absolute => [sign(z.m.re), sign(z.m.im)],
                };
                let folded = |v: Extended<f64>| Extended { m: Complex { re: v.m.re * re, im: v.m.im * im }, e: v.e };
                let by = raised(folded(z), power - 1).times(unit(f64::from(power), 0.0));
                let [a, b] = columns.map(|column| by.times(folded(column)));
                Self::Columns([a.plus(unit(1.0, 0.0)), b.plus(unit(0.0, 1.0))])
            }
        }
    }

    /// Whether Z is that of a point of the view, to first order, moved by the derivative: so that the orbit of that point passes 0.
    fn reaches(&self, z: Extended<f64>, radius: Bound) -> bool {
        match self {
            Self::Modulus(modulus) => Bound::modulus(z).below(radius.times(*modulus)),
            Self::Columns([a, b]) => {
                let [of_a, of_b] = [area(z, *b), area(*a, z)];
                of_a.plus(of_b).below(area(*a, *b).times(radius))
            }
        }
    }

    fn modulus(&self) -> Bound {
        match self {
            Self::Modulus(modulus) => *modulus,
            Self::Columns([a, b]) => Bound::modulus(*a).plus(Bound::modulus(*b)),
        }
    }
}

impl Orbits {
    /// Computes them.
    ///
    /// # Errors
    /// When the limbs are too few for the view, when there is no memory, and when the flag of the watch is set.
    pub fn new(wanted: &Wanted<'_>) -> Result<Self, NoReference> {
        let mut orbits = Self {
            entries: Vec::new(),
            low: Vec::new(),
            errors: Vec::new(),
            tiny: Vec::new(),
            last: 0,
            of_centre: None,
            stays: None,
            end: End::Escape,
        };
        let origin = Entry { re: 0.0, im: 0.0, modulus: 0.0, error: 0.0 };
        orbits.entries.push(origin);
        orbits.low.push([0.0; 2]);
        orbits.errors.push(Bound::ZERO.exponent());
        match wanted.julia {
            None => {
                orbits.end = orbits.follow(wanted, Kind::Parameter, wanted.centre, (wanted.centre, 0.0))?;
                orbits.last = orbits.entries.len() - 1;
            }
            Some((c, of_c)) => {
                orbits.follow(wanted, Kind::Critical, c, (c, of_c))?;
                orbits.last = orbits.entries.len() - 1;
                // With the limbs of the centre.
                let own = c.map(|part| shortened(part, wanted.centre[0].limbs.len()));
                let first = orbits.entries.len();
                orbits.end = orbits.follow(wanted, Kind::Centre, wanted.centre, ([&own[0], &own[1]], of_c + 2.0))?;
                let last = orbits.entries.len() - 1;
                orbits.of_centre = (last >= first).then_some((first, last));
            }
        }
        Ok(orbits)
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no value beside 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.len() < 2
    }

    /// Whether there is a reference: otherwise deltas are values.
    #[must_use]
    pub fn has_reference(&self) -> bool {
        self.last > 0
    }

    /// The entries that memory is allocated for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// Bytes of orbits of so many entries.
    #[must_use]
    pub fn bytes(entries: u64) -> u64 {
        entries.saturating_mul((size_of::<Entry>() + size_of::<[f64; 2]>() + size_of::<i32>()) as u64)
    }

    /// Z, in the range of f64.
    #[inline(always)]
    pub(super) fn at<T: Mantissa>(&self, index: usize) -> Complex<T> {
        let (Entry { re, im, .. }, [re_low, im_low]) = (self.entries[index], self.low[index]);
        Complex { re: T::of(Dd { hi: re, lo: re_low }), im: T::of(Dd { hi: im, lo: im_low }) }
    }

    /// The parts of Z, of any magnitude.
    pub(super) fn parts<T: Mantissa>(&self, index: usize) -> [Part<T>; 2] {
        let key = index as u32;
        let parts = match self.tiny.binary_search_by_key(&key, |(index, _)| *index) {
            Ok(place) => self.tiny[place].1,
            Err(_) => {
                let Complex { re, im } = self.at::<Dd>(index);
                [re, im].map(|part| Part { m: part, e: 0 })
            }
        };
        parts.map(|Part { m, e }| {
            if m.hi == 0.0 {
                return Part { m: T::ZERO, e: 0 };
            }
            let of_m = exponent(m.hi.abs());
            Part { m: T::of(m.scaled(power_of_two(-of_m))), e: e + of_m }
        })
    }

    /// A bound on the error of Z, of any magnitude.
    pub(super) fn error(&self, index: usize) -> Bound {
        Bound::new(1.0, self.errors[index])
    }

    /// Appends an orbit from z_1, up to where it ends, with c and a bound on its error in units of the last place.
    fn follow(
        &mut self,
        wanted: &Wanted<'_>,
        kind: Kind,
        start: [&Fixed; 2],
        (c, of_c): ([&Fixed; 2], f64),
    ) -> Result<End, NoReference> {
        let Wanted { formula, radius, limit, most, watch, .. } = *wanted;
        // Powers fit in front of the point.
        let greatest = PowerStepper::greatest(formula);
        let escape = wanted.escape.min(greatest * greatest);
        let mut z = start.map(Fixed::clone);
        let mut stepper = PowerStepper::new(formula, c);
        let unit_exponent = z[0].unit();
        let unit_of_place = Bound::new(1.0, unit_exponent);
        let of_c = if of_c > 0.0 { Bound::of(of_c) } else { Bound::ZERO };
        let mut error = if kind == Kind::Critical { of_c } else { Bound::ZERO };
        let mut derivative = match kind {
            Kind::Parameter => Derivative::Columns([unit(1.0, 0.0), unit(0.0, 1.0)]),
            Kind::Critical | Kind::Centre => Derivative::Modulus(Bound::ONE),
        };
        let (view, added) = match kind {
            Kind::Parameter => (radius, radius),
            Kind::Critical => (Bound::ZERO, Bound::ZERO),
            Kind::Centre => (radius, Bound::ZERO),
        };
        let mut trap = ViewTrap::of_power(formula.power(), view, added, escape);
        let first = self.entries.len();
        let limit = if kind == Kind::Critical { limit.min(MOST_CRITICAL).min(most as u64 / 4) } else { limit };
        for m in 1..u32::MAX {
            if watch.stop.load(Ordering::Relaxed) || watch.stops(m as usize) {
                return Err(NoReference::Stopped);
            }
            let value = pair(&z[0], &z[1]);
            let modulus = Bound::modulus(value);
            let absolute = unit_of_place.times(error);
            let kept = value.in_range().unwrap_or(Complex::ZERO);
            // Values on the circle, such as -2, are kept.
            if value.e > 1000 || kept.square() > escape * (1.0 + 1e-6) {
                return Ok(End::Escape);
            }
            let is_precise = absolute.below(modulus.times(Bound::new(1.0, RELATIVE_ERROR)));
            if kind == Kind::Critical && !is_precise {
                return Ok(End::Limit);
            }
            self.push(&z, kept, absolute, most)?;
            let is_trapped = trap.step(value, Bound::modulus(value).to_f64(), absolute.to_f64(), m);
            if is_trapped && kind == Kind::Critical {
                if let Some((of_disc, radius)) = trap.disc() {
                    self.truncate(first + of_disc as usize);
                    self.stays = Some(radius);
                }
                return Ok(End::Trap);
            }
            let in_f64 = Extended::<f64>::of(value);
            let end = if is_trapped {
                Some(End::Trap)
            } else if kind != Kind::Critical && derivative.reaches(in_f64, radius) {
                Some(End::Period)
            } else {
                (u64::from(m) >= limit).then_some(End::Limit)
            };
            if let Some(end) = end {
                let reach = radius.times(derivative.modulus());
                if end == End::Period && !absolute.below(reach.times(Bound::new(1.0, RELATIVE_ERROR))) {
                    return Err(NoReference::TooFewBits);
                }
                return Ok(end);
            }
            if !is_precise {
                return Err(NoReference::TooFewBits);
            }
            derivative = derivative.after(formula, in_f64);
            error = error_after(formula, modulus, error, unit_exponent, of_c);
            stepper.step(&mut z);
        }
        Err(NoReference::Memory)
    }

    fn push(&mut self, z: &[Fixed; 2], kept: Complex<Dd>, absolute: Bound, most: usize) -> Result<(), NoReference> {
        if self.entries.len() == self.entries.capacity() {
            let more = self.entries.len().max(4096);
            if self.entries.len() + more > most.max(8192)
                || self.entries.try_reserve_exact(more).is_err()
                || self.low.try_reserve_exact(more).is_err()
                || self.errors.try_reserve_exact(more).is_err()
            {
                return Err(NoReference::Memory);
            }
        }
        let up = 1.0 + 1e-14;
        self.entries.push(Entry {
            re: kept.re.hi,
            im: kept.im.hi,
            modulus: kept.square().sqrt() * up + 1e-300,
            error: absolute.to_f64() * up + 1e-300,
        });
        self.low.push([kept.re.lo, kept.im.lo]);
        self.errors.push(absolute.exponent() + 1);
        let is_tiny = |part: Dd, fixed: &Fixed| part.hi.abs() < TINY && fixed.limbs.iter().any(|limb| *limb != 0);
        if is_tiny(kept.re, &z[0]) || is_tiny(kept.im, &z[1]) {
            let part = |fixed: &Fixed| {
                let (m, e): Leading = of_limbs(&fixed.limbs);
                Part { m: if fixed.negative { -m } else { m }, e }
            };
            self.tiny.push((self.entries.len() as u32 - 1, [part(&z[0]), part(&z[1])]));
        }
        Ok(())
    }

    fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
        self.low.truncate(len);
        self.errors.truncate(len);
        self.tiny.retain(|(index, _)| (*index as usize) < len);
    }
}

/// A number with fewer limbs, cut off.
fn shortened(part: &Fixed, limbs: usize) -> Fixed {
    let more = part.limbs.len().saturating_sub(limbs);
    let mut limbs_of = part.limbs[more..].to_vec();
    while limbs_of.len() < limbs {
        limbs_of.insert(0, 0);
    }
    Fixed { negative: part.negative, limbs: limbs_of }
}
