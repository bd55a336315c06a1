//! Numbers with a mantissa of f64 or [`Dd`] and an exponent of 32 bits, for values beyond the range of f64.

use super::mantissa::{Complex, Dd, Mantissa};

/// The exponent of zero, below that of any other number and far enough from the ends of the range.
const OF_ZERO: i32 = i32::MIN / 4;
/// Where two exponents differ by more than this, the smaller summand is left out: below a unit in the last place of either type,
/// with 90 bits to spare.
const APART: i32 = 200;

/// 2^power, for powers from -1022 to 1023.
#[inline(always)]
pub(crate) fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((1023 + power) as u64) << 52)
}

/// floor(log2 x) of a positive normal number.
#[inline(always)]
pub(super) fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// A number of at least 0: m 2^e with m in [1, 2), or 0. It bounds other numbers, and each operation rounds to nearest: a sum of
/// k of them multiplies by 1 + k 2^-52.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    m: f64,
    e: i32,
}

impl Bound {
    /// Zero.
    pub const ZERO: Self = Self { m: 0.0, e: OF_ZERO };
    /// One.
    pub const ONE: Self = Self { m: 1.0, e: 0 };
    /// A bound from which nothing follows: 2^(2^27), in the place of infinity.
    pub(crate) const BEYOND: Self = Self { m: 1.0, e: 1 << 27 };

    /// m 2^e for m >= 0, neither infinite nor subnormal.
    #[inline(always)]
    pub fn new(m: f64, e: i32) -> Self {
        if m == 0.0 {
            return Self::ZERO;
        }
        let of_m = exponent(m);
        Self { m: m * power_of_two(-of_m), e: e + of_m }
    }
    /// A number of f64, at least 0 and not subnormal.
    #[inline(always)]
    pub fn of(m: f64) -> Self {
        Self::new(m, 0)
    }
    /// m and e of m 2^e.
    #[must_use]
    pub fn parts(self) -> (f64, i32) {
        (self.m, self.e)
    }
    /// The modulus of a complex number.
    #[inline(always)]
    pub fn modulus<T: Mantissa>(z: Extended<T>) -> Self {
        Self::new(z.m.square().sqrt(), z.e)
    }
    /// The value in f64; 0 below its range (the true value is then below 2^-1000), infinity above it.
    #[inline(always)]
    pub fn to_f64(self) -> f64 {
        match self.e {
            ..-1000 => 0.0,
            1001.. => f64::INFINITY,
            e => self.m * power_of_two(e),
        }
    }
    /// The value in units of 2^unit; 0 below 2^-1000, and 2^1000 or more from there on.
    #[inline(always)]
    pub(crate) fn in_unit(self, unit: i32) -> f64 {
        let power = self.e.saturating_sub(unit);
        if power < -1000 { 0.0 } else { self.m * power_of_two(power.min(1000)) }
    }
    /// Whether this is 0.
    #[inline(always)]
    pub(crate) fn is_zero(self) -> bool {
        self.m == 0.0
    }
    /// The exponent e of m 2^e with m in [1, 2).
    #[inline(always)]
    pub fn exponent(self) -> i32 {
        self.e
    }
    /// The m of m 2^e, in [1, 2); 0 for 0.
    #[inline(always)]
    pub fn mantissa(self) -> f64 {
        self.m
    }
    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        Self::new(self.m * other.m, self.e.max(OF_ZERO / 2) + other.e.max(OF_ZERO / 2))
    }
    #[inline(always)]
    pub(crate) fn by(self, factor: f64) -> Self {
        Self::new(self.m * factor, self.e)
    }
    /// The quotient by a number other than 0.
    #[inline(always)]
    pub(crate) fn over(self, other: Self) -> Self {
        Self::new(self.m / other.m, self.e - other.e)
    }
    /// The square root.
    pub(crate) fn sqrt(self) -> Self {
        let odd = self.e & 1;
        Self::new((self.m * f64::from(1 + odd)).sqrt(), (self.e - odd) / 2)
    }
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let (big, small) = if self.e >= other.e { (self, other) } else { (other, self) };
        let gap = big.e - small.e;
        // What is left out is below 2^-200 of the sum, which the factor for the roundings of a sum covers.
        if gap > APART { big } else { Self::new(big.m + small.m * power_of_two(-gap), big.e) }
    }
    #[inline(always)]
    pub(crate) fn below(self, other: Self) -> bool {
        self.e < other.e || self.e == other.e && self.m < other.m
    }
}

/// A complex number m 2^e, of which the larger part of m is in [1, 2), or 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extended<T> {
    /// The mantissas.
    pub m: Complex<T>,
    /// The exponent of both.
    pub e: i32,
}

impl<T: Mantissa> Extended<T> {
    /// Zero.
    pub const ZERO: Self = Self { m: Complex::ZERO, e: OF_ZERO };

    /// m 2^e, of which no part is subnormal in a way that matters: below 2^-900 of the other.
    #[inline(always)]
    pub fn new(m: Complex<T>, e: i32) -> Self {
        let size = m.size();
        if size == 0.0 {
            return Self::ZERO;
        }
        let of_m = exponent(size);
        Self { m: m.scaled(power_of_two(-of_m)), e: e + of_m }
    }
    /// Rounded to another type.
    #[inline(always)]
    pub fn of(pair: Extended<Dd>) -> Self {
        Self { m: Complex::of(pair.m), e: pair.e }
    }
    /// In the range of f64: rounded towards 0 below it by less than 2^-1000, `None` above it.
    #[inline(always)]
    pub(crate) fn in_range(self) -> Option<Complex<T>> {
        match self.e {
            ..-1000 => Some(Complex::ZERO),
            1001.. => None,
            e => Some(self.m.scaled(power_of_two(e))),
        }
    }
    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        Self::new(self.m * other.m, self.e.max(OF_ZERO / 2) + other.e.max(OF_ZERO / 2))
    }
    #[inline(always)]
    pub(crate) fn doubled(self) -> Self {
        Self { e: self.e + 1, ..self }
    }
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let (big, small) = if self.e >= other.e { (self, other) } else { (other, self) };
        let gap = big.e - small.e;
        if gap > APART { big } else { Self::new(big.m + small.m.scaled(power_of_two(-gap)), big.e) }
    }
    /// One.
    pub(crate) fn one() -> Self {
        Self::new(Complex::of(Complex { re: Dd::whole(1.0), im: Dd::ZERO }), 0)
    }
    /// The complex conjugate.
    #[inline(always)]
    pub(crate) fn conjugate(self) -> Self {
        Self { m: Complex { re: self.m.re, im: -self.m.im }, e: self.e }
    }
    /// The difference.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self { m: other.m.scaled(-1.0), e: other.e })
    }
    /// The quotient by a number other than 0, to the precision of f64.
    pub(crate) fn over(self, other: Extended<f64>) -> Self {
        let Complex { re, im } = other.m;
        let of_square = 1.0 / (re * re + im * im);
        let part = |x: f64| Dd::whole(x);
        let inverse = Complex::of(Complex { re: part(re * of_square), im: part(-im * of_square) });
        self.times(Self::new(inverse, -other.e))
    }
    /// Rounded to f64.
    pub(crate) fn in_f64(self) -> Extended<f64> {
        Extended::new(self.m.to_f64(), self.e)
    }
    #[inline(always)]
    pub(crate) fn taxicab(self) -> Bound {
        Bound::new(self.m.taxicab(), self.e)
    }
}
