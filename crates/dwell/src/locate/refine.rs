//! More digits of a root, by the secant method with rising precision.
//!
//! With f the left side of the equation, c'' = c' - f(c') (c' - c) / (f(c') - f(c)) has an error of about e e' / R where the last two have the errors e and e', and R is the radius in which f is nearly linear. The number of correct bits beyond
//! those of R is the sum of the last two: 1.6 times as many in each step, for one orbit and no derivative, whose products take longer than the squares of an orbit. The first slope is the derivative that the search has found to some 76 bits.
//! The orbit of a step needs the bits of its c and as many again, as far as they are beyond R, since the slope should be as precise as the step is. So the last two orbits take nearly all of the time.

use super::{Means, Region, unproved};
use crate::base::error::Error;
use crate::base::progress::Phase;
use crate::exact::limbs::{in_limbs, units};
use crate::exact::rational::Rational;
use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};
use dwell_kernels::deep::Watch;
use dwell_kernels::deep::extended::Extended;
use dwell_kernels::deep::mantissa::Dd;
use dwell_kernels::deep::roots::search::Found;

/// Bits of the root that the search has found, beyond those of the region, and of its derivative.
const FOUND_BITS: i64 = 80;
const SLOPE_BITS: i64 = 72;
/// Bits of an orbit beyond those of its value.
const GUARD_BITS: i64 = 64;
/// Bits that a step is expected to lose.
const LOST_BITS: i64 = 6;
/// The most steps: 1.6^40 is more than any number of bits.
const MOST_STEPS: usize = 40;

/// A complex number in units of 2^-bits.
#[derive(Clone, Debug)]
pub(super) struct Complex {
    pub(super) re: IBig,
    pub(super) im: IBig,
    pub(super) bits: i64,
}

impl Complex {
    fn of(parts: [Rational; 2], bits: i64) -> Self {
        let [re, im] = parts.map(|part| part.floor_scaled(usize::try_from(bits).unwrap_or(0)));
        Self { re, im, bits }
    }

    /// The same with other bits, rounded down.
    pub(super) fn with_bits(&self, bits: i64) -> Self {
        let by = usize::try_from((bits - self.bits).unsigned_abs()).unwrap_or(0);
        let part = |part: &IBig| if bits >= self.bits { part << by } else { part >> by };
        Self { re: part(&self.re), im: part(&self.im), bits }
    }

    fn minus(&self, other: &Self) -> Self {
        let bits = self.bits.max(other.bits);
        let (a, b) = (self.with_bits(bits), other.with_bits(bits));
        Self { re: a.re - b.re, im: a.im - b.im, bits }
    }

    /// The exact product.
    fn times(&self, other: &Self) -> Self {
        let re = &self.re * &other.re - &self.im * &other.im;
        let im = &self.re * &other.im + &self.im * &other.re;
        Self { re, im, bits: self.bits + other.bits }
    }

    /// The quotient to so many bits after the point; `None` by 0.
    fn over(&self, other: &Self, bits: i64) -> Option<Self> {
        let square = &other.re * &other.re + &other.im * &other.im;
        if square == IBig::ZERO {
            return None;
        }
        let conjugate = Self { re: other.re.clone(), im: -other.im.clone(), bits: other.bits };
        // In units of 2^-(bits of this - bits of the other).
        let product = self.times(&conjugate);
        let up = bits - (self.bits - other.bits);
        let by = usize::try_from(up.unsigned_abs()).unwrap_or(0);
        let part = |part: IBig| if up >= 0 { (part << by) / &square } else { part / (&square << by) };
        Some(Self { re: part(product.re), im: part(product.im), bits })
    }

    /// -log2 of the modulus, to within one.
    fn below_one(&self) -> i64 {
        let length = self.re.bit_len().max(self.im.bit_len());
        self.bits - i64::try_from(length).unwrap_or(i64::MAX)
    }

    fn is_zero(&self) -> bool {
        self.re == IBig::ZERO && self.im == IBig::ZERO
    }
}

/// The value of a pair with an exponent.
fn exact(number: Extended<Dd>) -> [Rational; 2] {
    let part = |part: Dd| Rational::from_f64(part.hi).plus(&Rational::from_f64(part.lo));
    [number.m.re, number.m.im].map(|m| part(m).scaled_by_power_of_two(number.e.into()))
}

/// The root to within about 2^-wanted.
pub(super) fn refined(region: &Region, found: &Found, wanted: i64, means: Means<'_>) -> Result<Complex, Error> {
    let linear = -region.scale;
    let most_bits = wanted + GUARD_BITS;
    let mut known = linear + FOUND_BITS;
    let start = exact(found.delta);
    let parts = [0, 1].map(|axis: usize| region.centre[axis].plus(&start[axis]));
    let mut c = Complex::of(parts, known.max(most_bits) + GUARD_BITS);
    let derivative = Complex::of(exact(Extended { e: 0, ..found.derivative }), 128);
    let slope_bits = i64::from(found.derivative.e);
    let mut last: Option<(Complex, Complex, i64)> = None;
    for _ in 0..MOST_STEPS {
        if known >= wanted {
            return Ok(c);
        }
        let bits = (2 * known - linear + GUARD_BITS).min(most_bits).max(known + GUARD_BITS);
        let (at, value) = value(&c, found, bits, means)?;
        if value.is_zero() {
            return Ok(at);
        }
        let (correction, gained) = match &last {
            None => {
                // f / (m 2^e)
                let quotient = value.over(&derivative, value.bits + GUARD_BITS);
                (quotient.map(|quotient| Complex { bits: quotient.bits + slope_bits, ..quotient }), SLOPE_BITS)
            }
            Some((before, of_before, known_before)) => {
                let change = value.minus(of_before);
                let product = value.times(&at.minus(before));
                (product.over(&change, most_bits + GUARD_BITS), known_before - linear)
            }
        };
        let correction = correction.ok_or_else(unproved)?;
        // The error of c, as it turns out.
        let measured = correction.below_one();
        c = at.minus(&correction);
        last = Some((at, value, measured));
        known = (measured + gained).min(bits) - LOST_BITS;
        c = c.with_bits(most_bits.max(known) + GUARD_BITS);
    }
    Err(unproved().into())
}

/// The left side of the equation at c with so many bits, and that c.
fn value(c: &Complex, found: &Found, bits: i64, means: Means<'_>) -> Result<(Complex, Complex), Error> {
    let limbs = 1 + usize::try_from(bits).unwrap_or(0).div_ceil(64).max(2);
    let bits = 64 * i64::try_from(limbs - 1).unwrap_or(i64::MAX / 64);
    let at = c.with_bits(bits);
    let phase = means.control.progress.begin(Phase::Digits, found.equation.last());
    let watch = Watch { stop: means.control.cancel.flag(), done: phase.steps() };
    let parts = [in_limbs(&at.re, limbs), in_limbs(&at.im, limbs)];
    let value = found.equation.value(means.level, parts.each_ref(), watch).ok_or(Error::Interrupted)?;
    let [re, im] = value.each_ref().map(units);
    Ok((at, Complex { re, im, bits }))
}

/// The value of a number in units of 2^-bits.
pub(super) fn rational(part: &IBig, bits: i64) -> Rational {
    Rational::new(part.clone(), UBig::ONE).scaled_by_power_of_two(-bits)
}
