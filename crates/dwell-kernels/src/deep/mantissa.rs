//! The numbers that deltas are iterated in: f64, and pairs of f64 with twice the bits; one of them, or a vector.

use super::lanes::{Lanes, Line};
use crate::arithmetic::Arithmetic;
use crate::vector::Vector;
use fearless_simd::Simd;
use std::ops::{Add, Mul, Neg, Sub};

/// A number, or a vector of numbers to which each operation is applied lane by lane.
pub trait Real: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {}
impl Real for f64 {}
impl<S: Simd> Real for Vector<S, f64> {}
impl<F: Arithmetic> Real for Pair<F> {}

/// A number type of a tier.
pub trait Mantissa: Real + Send + Sync + 'static {
    /// Vectors of it.
    type Lanes<S: Simd>: Lanes<S>;
    /// The f64 that it is made of.
    const PARTS: usize;
    /// A block of a table.
    type Lines: AsRef<[Line]> + AsMut<[Line]> + Copy + Send + Sync + std::fmt::Debug;
    /// One with zeros.
    const NO_LINES: Self::Lines;
    /// A cell of the plane (`cells.rs`).
    type Cell: AsRef<[Line]> + AsMut<[Line]> + Copy + Send + Sync + std::fmt::Debug;
    /// One that is of no use.
    const NO_CELL: &'static Self::Cell;
    /// The cells of a unit of length.
    const CELLS_OF_UNIT: f64;
    /// The degree of the polynomials of cells.
    const CELL_DEGREE: usize;
    /// How many of their coefficients, from the first on, are computed in pairs of f64, and kept in as many parts as this number has.
    const CELL_PAIRS: usize;
    /// A bound on the relative error of one operation, and of the rounding of a value to this type.
    const UNIT: f64;
    /// Zero.
    const ZERO: Self;
    /// The value hi + lo, of which lo is at most half a unit in the last place of hi.
    fn of(pair: Dd) -> Self;
    /// The nearest f64, or one of the two nearest.
    fn to_f64(self) -> f64;
    /// The product with a power of two, which is exact unless it leaves the range of f64.
    fn scaled(self, power_of_two: f64) -> Self;
    /// One of the f64 that it is made of, the largest first.
    fn part(self, index: usize) -> f64;
    /// The number made of these.
    fn from_parts(part: impl FnMut(usize) -> f64) -> Self;
}

impl Mantissa for f64 {
    type Lanes<S: Simd> = Vector<S, Self>;
    const PARTS: usize = 1;
    type Lines = [Line; 2];
    const NO_LINES: Self::Lines = [Line::ZERO; 2];
    type Cell = [Line; 3];
    const NO_CELL: &'static Self::Cell = &[Line::ZERO; 3];
    const CELLS_OF_UNIT: f64 = 256.0;
    const CELL_DEGREE: usize = 10;
    const CELL_PAIRS: usize = 1;
    const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn of(pair: Dd) -> Self {
        pair.hi
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn scaled(self, power_of_two: f64) -> Self {
        self * power_of_two
    }
    #[inline(always)]
    fn part(self, _: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn from_parts(mut part: impl FnMut(usize) -> f64) -> Self {
        part(0)
    }
}

/// Pairs of f64, of which the value is the sum: 106 bits. The operations are those of Joldes, Muller and Popescu, "Tight and
/// rigorous error bounds for basic building blocks of double-word arithmetic" (2017): relative errors of at most 3 u^2 for sums and
/// 5 u^2 for products, u = 2^-53. [`Mantissa::UNIT`] is 2^-102.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<F> {
    /// The sum, rounded to nearest.
    pub hi: F,
    /// What is left.
    pub lo: F,
}

/// A pair of f64.
pub type Dd = Pair<f64>;

#[inline(always)]
fn two_sum<F: Arithmetic>(a: F, b: F) -> Pair<F> {
    let hi = a.add(b);
    let of_b = hi.sub(a);
    let of_a = hi.sub(of_b);
    Pair { hi, lo: a.sub(of_a).add(b.sub(of_b)) }
}

/// The sum of two numbers of which the first is the larger one, or 0.
#[inline(always)]
fn fast_two_sum<F: Arithmetic>(a: F, b: F) -> Pair<F> {
    let hi = a.add(b);
    Pair { hi, lo: b.sub(hi.sub(a)) }
}

impl Dd {
    /// A number of 53 bits.
    #[inline(always)]
    pub const fn whole(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }

    /// The sum of two numbers in any order.
    #[inline(always)]
    pub fn sum(a: f64, b: f64) -> Self {
        two_sum(a, b)
    }
}

impl<F: Arithmetic> Add for Pair<F> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let s = two_sum(self.hi, other.hi);
        let t = two_sum(self.lo, other.lo);
        let v = fast_two_sum(s.hi, s.lo.add(t.hi));
        fast_two_sum(v.hi, v.lo.add(t.lo))
    }
}

impl<F: Arithmetic> Neg for Pair<F> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { hi: self.hi.neg(), lo: self.lo.neg() }
    }
}

impl<F: Arithmetic> Sub for Pair<F> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<F: Arithmetic> Mul for Pair<F> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let p = self.hi.mul(other.hi);
        let e = self.hi.fma(other.hi, p.neg());
        let cross = self.hi.fma(other.lo, self.lo.mul(other.hi));
        fast_two_sum(p, e.add(cross))
    }
}

/// Sums and products of complex pairs whose errors are in proportion to the moduli of what is added and multiplied, not to those of the results: all that bounds of orbits need, in little more than half as many operations.
///
/// The proofs take the second part of a pair to be at most u times the first. After a sum that nearly cancels it may be larger, by u times what that sum is off by, which changes later errors by parts of third order.
impl<F: Arithmetic> Pair<F> {
    /// The difference from an f64, off by at most u times what is left of that of the first part, and of the second part.
    #[inline(always)]
    pub(super) fn minus(self, other: F) -> Self {
        let s = two_sum(self.hi, other.neg());
        fast_two_sum(s.hi, s.lo.add(self.lo))
    }

    /// The sum, off by at most 6 u^2 (|a| + |b|), u = 2^-53: 11 operations instead of 20.
    ///
    /// With M = |a| + |b|, the sum of the second parts is at most u M, and that with the rounding of the first sum 2 u M, whose roundings are at most u^2 M and 2 u^2 M. Where they are larger than the first sum, the last
    /// operation is off by at most 2 u^2 M.
    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        let s = two_sum(self.hi, other.hi);
        fast_two_sum(s.hi, s.lo.add(self.lo.add(other.lo)))
    }

    /// a b + c d, or a b - c d where `is_difference`: off by at most 23 u^2 P for P = |a b| + |c d|. 19 operations instead of 36.
    ///
    /// The second parts of the two products and of the sum of the first parts are at most u P, u P and, with the four mixed products, 4 u P together. They are added in that order: the roundings of the six sums are at
    /// most u^2 P, 2 u^2 P and four times up to 4 u^2 P, less than 18 u^2 P. The products of second parts, which are left out, are at most u^2 P, and where the second parts are larger than the first, the last
    /// operation is off by at most 4 u^2 P.
    #[inline(always)]
    fn of_products(a: Self, b: Self, c: Self, d: Self, is_difference: bool) -> Self {
        let c = if is_difference { -c } else { c };
        let (ab, cd) = (a.hi.mul(b.hi), c.hi.mul(d.hi));
        let (of_ab, of_cd) = (a.hi.fma(b.hi, ab.neg()), c.hi.fma(d.hi, cd.neg()));
        let s = two_sum(ab, cd);
        let first = of_ab.add(of_cd).add(s.lo);
        let lo = c.lo.fma(d.hi, c.hi.fma(d.lo, a.lo.fma(b.hi, a.hi.fma(b.lo, first))));
        fast_two_sum(s.hi, lo)
    }
}

impl<F: Arithmetic> Complex<Pair<F>> {
    /// The product, off by at most sqrt 5 [`Mantissa::UNIT`] |a| |b|: the parts are off by at most 23 u^2 (|a.re b.re| + |a.im b.im|) and 23 u^2 (|a.re b.im| + |a.im b.re|), whose squares are at most 2 (23 u^2 |a| |b|)^2
    /// together, and sqrt 2 * 23 < sqrt 5 * 16.
    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        Self {
            re: Pair::of_products(self.re, other.re, self.im, other.im, true),
            im: Pair::of_products(self.re, other.im, self.im, other.re, false),
        }
    }
}

impl Mantissa for Dd {
    type Lanes<S: Simd> = Pair<Vector<S, f64>>;
    const PARTS: usize = 2;
    type Lines = [Line; 4];
    const NO_LINES: Self::Lines = [Line::ZERO; 4];
    type Cell = [Line; 4];
    const NO_CELL: &'static Self::Cell = &[Line::ZERO; 4];
    const CELLS_OF_UNIT: f64 = 512.0;
    const CELL_DEGREE: usize = 12;
    const CELL_PAIRS: usize = 2;
    const UNIT: f64 = 1.0 / 5_070_602_400_912_917_605_986_812_821_504.0;
    const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    #[inline(always)]
    fn of(pair: Dd) -> Self {
        pair
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.hi
    }
    #[inline(always)]
    fn scaled(self, power_of_two: f64) -> Self {
        Self { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }
    #[inline(always)]
    fn part(self, index: usize) -> f64 {
        if index == 0 { self.hi } else { self.lo }
    }
    #[inline(always)]
    fn from_parts(mut part: impl FnMut(usize) -> f64) -> Self {
        Self { hi: part(0), lo: part(1) }
    }
}

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T: Mantissa> Complex<T> {
    /// Zero.
    pub const ZERO: Self = Self { re: T::ZERO, im: T::ZERO };

    /// The value of each part, rounded to this type.
    #[inline(always)]
    pub fn of(pair: Complex<Dd>) -> Self {
        Self { re: T::of(pair.re), im: T::of(pair.im) }
    }
    #[inline(always)]
    pub(crate) fn scaled(self, power_of_two: f64) -> Self {
        Self { re: self.re.scaled(power_of_two), im: self.im.scaled(power_of_two) }
    }
    #[inline(always)]
    pub(crate) fn to_f64(self) -> Complex<f64> {
        Complex { re: self.re.to_f64(), im: self.im.to_f64() }
    }
    /// |re| + |im|, at least the modulus, up to a relative error of 2^-51.
    #[inline(always)]
    pub(crate) fn taxicab(self) -> f64 {
        self.re.to_f64().abs() + self.im.to_f64().abs()
    }
    /// The square of the modulus, in f64.
    #[inline(always)]
    pub(crate) fn square(self) -> f64 {
        let Complex { re, im } = self.to_f64();
        re * re + im * im
    }
    /// The greater of |re| and |im|.
    #[inline(always)]
    pub(crate) fn size(self) -> f64 {
        self.re.to_f64().abs().max(self.im.to_f64().abs())
    }
}

impl<T: Real> Add for Complex<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<T: Real> Mul for Complex<T> {
    type Output = Self;
    /// The product, off by at most sqrt 5 u |self| |other| (Brent, Percival and Zimmermann, 2007).
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deep::extended::power_of_two;
    use crate::test_random::Random;
    use dashu_int::IBig;
    use dashu_int::ops::Abs;

    /// A number of 60 bits below 2^30 as a pair, and in units of 2^-30.
    fn number(random: &mut Random) -> (Dd, i128) {
        let units = i128::from(random.next() >> 4) * if random.next().is_multiple_of(2) { 1 } else { -1 };
        let hi = units as f64;
        let pair = Dd::sum(hi, (units - hi as i128) as f64);
        (pair.scaled(1.0 / (1_u64 << 30) as f64), units)
    }

    fn units(v: Dd, scale: f64) -> i128 {
        let v = v.scaled(scale);
        v.hi as i128 + v.lo as i128
    }

    #[test]
    fn operations_keep_a_hundred_bits() {
        let mut random = Random(3);
        let one = (1_u64 << 30) as f64;
        for _ in 0..20_000 {
            let ((a, of_a), (b, of_b)) = (number(&mut random), number(&mut random));
            assert_eq!(units(a + b, one), of_a + of_b, "62 bits are exact");
            let (product, exact) = (units(a * b, one * one), of_a * of_b);
            let off = (product - exact).unsigned_abs() as f64;
            assert!(off <= (exact.unsigned_abs() as f64) * 2_f64.powi(-102) + 1.0, "{a:?} {b:?}");
        }
    }

    /// A pair below 2^106 of multiples of 2^-60, or now and then nearly another one or its negative.
    fn pair(random: &mut Random, other: Dd) -> Dd {
        let mut part = || (random.next() >> 11).cast_signed() - (1 << 52);
        let (hi, lo, kind, scale) = (part() as f64 * (1_u64 << 53) as f64, part() as f64, part() % 4, part() % 60);
        let of_scale = 1.0 / (1_u64 << scale.unsigned_abs()) as f64;
        match kind {
            0 => Dd::sum(other.hi, lo * of_scale),
            1 => Dd::sum(-other.hi, lo * of_scale),
            _ => Dd::sum(hi, lo).scaled(of_scale),
        }
    }

    /// A multiple of 2^-bits in that unit.
    fn whole(number: Dd, bits: i32) -> IBig {
        let of = |part: f64| {
            let (sign, part) = (part < 0.0, part.abs() * power_of_two(bits));
            let bits = part.to_bits();
            let (exponent, mantissa) = ((bits >> 52) as i32 - 1075, bits & ((1 << 52) - 1) | 1 << 52);
            let magnitude = match exponent {
                0.. => IBig::from(mantissa) << exponent.unsigned_abs() as usize,
                -52.. => IBig::from(mantissa >> -exponent),
                _ => IBig::ZERO,
            };
            if sign { -magnitude } else { magnitude }
        };
        of(number.hi) + of(number.lo)
    }

    #[test]
    fn sums_and_products_are_as_near_as_moduli_tell() {
        let mut random = Random(4);
        let square = |re: &IBig, im: &IBig| re * re + im * im;
        let (mut of_sums, mut of_products) = (0, 0);
        for _ in 0..20_000 {
            let mut parts = [Dd::ZERO; 4];
            for i in 0..4 {
                parts[i] = pair(&mut random, parts[i.saturating_sub(1)]);
            }
            let [a, b, c, d] = parts;
            let [of_a, of_b, of_c, of_d] = parts.map(|part| whole(part, 60));
            let off = (whole(a.plus(b), 60) - &of_a - &of_b).abs() << 106;
            let moduli = of_a.clone().abs() + of_b.clone().abs();
            assert!(off <= IBig::from(6) * &moduli, "{a:?} + {b:?}");
            of_sums += usize::from(off > moduli);
            let product = Complex { re: a, im: b }.times(Complex { re: c, im: d });
            let re = whole(product.re, 120) - (&of_a * &of_c - &of_b * &of_d);
            let im = whole(product.im, 120) - (&of_a * &of_d + &of_b * &of_c);
            let (off, moduli) = (square(&re, &im) << 212, square(&of_a, &of_b) * square(&of_c, &of_d));
            assert!(off <= IBig::from(5 * 16 * 16) * &moduli, "{a:?} {b:?}, {c:?} {d:?}");
            of_products += usize::from(off > IBig::from(4) * moduli);
        }
        assert!(of_sums > 10 && of_products > 10, "the bounds are never near: {of_sums}, {of_products}");
    }
}
