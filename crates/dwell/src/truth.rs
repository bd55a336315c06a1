//! One point's dwell in truth: arbitrary precision with a bound on the error, raised until every decision is certain.
//!
//! z is kept in fixed point, P bits behind the point, with a bound e on |z - z_n| that grows as e' = 2|z|e + e^2 + what
//! rounding the step adds. At each n, |z|^2 and R^2 decide only when they differ by more than e allows; otherwise
//! everything is done again with twice the bits. While nothing has been rounded off (c = -2, or any short binary
//! fraction early on) e is 0 and even a tie is decided.

pub(crate) mod exact_points;
mod oracle;
mod quick;

pub use oracle::{By, Oracle};

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::exact::rational::Rational;
use crate::truth::exact_points::Enclosed;
use dashu_int::IBig;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dwell_kernels::{Fold, Formula};

/// A point's dwell without rounding error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Certain: n, or 0 when z_1 to z_limit all stay within R.
    Dwell(u32),
    /// Not decided at n with the most bits allowed.
    Undecided {
        /// Where it stopped.
        n: u32,
    },
}

/// Bits tried first and last.
const FIRST_BITS: usize = 128;
const MOST_BITS: usize = 1 << 20;

/// What is iterated, exactly.
#[derive(Clone, Debug)]
pub struct ExactMap {
    /// The formula.
    pub formula: Formula,
    /// c, for a Julia set; otherwise c is the pixel.
    pub julia: Option<[Rational; 2]>,
}

/// The dwell of a pixel, exact rationals, up to `limit`, R = `radius` >= 2.
///
/// # Errors
/// [`Error::Interrupted`].
pub fn dwell(
    map: &ExactMap,
    pixel: &[Rational; 2],
    limit: u32,
    radius: &Rational,
    cancel: &Cancel,
) -> Result<Truth, Error> {
    // Further out than any orbit that matters: |z_1| > R at once, and no need for its digits.
    let [re, im] = pixel;
    let norm = re.times(re).plus(&im.times(im));
    if norm > radius.times(radius) {
        return Ok(Truth::Dwell(1));
    }
    // At least a few bits of the smallest part.
    let parts = pixel.iter().chain(map.julia.iter().flatten());
    let small = parts.filter_map(Rational::floor_log2).min().unwrap_or(0).min(0).unsigned_abs();
    let first = FIRST_BITS.max(usize::try_from(small).unwrap_or(MOST_BITS).min(MOST_BITS / 2) + 64);
    Question { map, limit, radius, starts_within: true, cancel }.decide(pixel, first)
}

/// What is asked of points.
#[derive(Clone, Copy)]
struct Question<'a> {
    map: &'a ExactMap,
    limit: u32,
    radius: &'a Rational,
    /// |z_1| <= R is known.
    starts_within: bool,
    cancel: &'a Cancel,
}

impl Question<'_> {
    /// The dwell of a pixel, wherever it is, with more and more bits from the first.
    fn decide(self, pixel: &(impl Enclosed + ?Sized), first_bits: usize) -> Result<Truth, Error> {
        let mut bits = first_bits;
        loop {
            let z = Fixed::of(pixel, bits);
            let c = self.map.julia.as_ref().map_or_else(|| z.clone(), |c| Fixed::of(c, bits));
            match self.attempt(z, &c, bits)? {
                Truth::Undecided { .. } if bits < MOST_BITS => bits *= 2,
                decided => return Ok(decided),
            }
        }
    }
}

/// A complex number in fixed point and a bound on its error, both in units of the last place.
#[derive(Clone)]
struct Fixed {
    x: IBig,
    y: IBig,
    error: Bound,
}

impl Fixed {
    fn of(point: &(impl Enclosed + ?Sized), bits: usize) -> Self {
        let [(x, right), (y, above)] = point.enclose(bits);
        // From one corner of a box to any point of it.
        let across = Bound::above(&(right - &x)).plus(Bound::above(&(above - &y)));
        Self { x, y, error: across }
    }

    /// x^2, y^2 and |z|, with twice the bits, the last from above and as a number of units.
    fn squares(&self) -> (IBig, IBig, Bound) {
        let (xx, yy) = (IBig::from(self.x.sqr()), IBig::from(self.y.sqr()));
        let modulus = Bound::sqrt_above(&(&xx + &yy));
        (xx, yy, modulus)
    }

    /// Both parts of a product, cut at P bits; `error` is what its factors' errors make, with twice the bits.
    fn cut(x: IBig, y: IBig, error: Bound, bits: usize) -> Self {
        let exact = zeros(&x) >= bits && zeros(&y) >= bits;
        let one = Bound::power_of_two(i64::try_from(bits).unwrap_or(i64::MAX));
        let error = error.over(one);
        Self { x: x >> bits, y: y >> bits, error: if exact { error } else { error.plus(Bound::TWO) } }
    }

    /// Its square, from the squares of its parts. The error of a square is 2|z|e + e^2.
    fn squared(&self, (xx, yy, modulus): (IBig, IBig, Bound), bits: usize) -> Self {
        let error = modulus.times(self.error).times(Bound::TWO).plus(self.error.times(self.error));
        Self::cut(xx - yy, (&self.x * &self.y) << 1_usize, error, bits)
    }

    fn times(&self, o: &Self, bits: usize) -> Self {
        let (of_self, of_other) = (self.squares().2, o.squares().2);
        let error = of_self.times(o.error).plus(of_other.times(self.error)).plus(self.error.times(o.error));
        let (x, y) = (&self.x * &o.x - &self.y * &o.y, &self.x * &o.y + &self.y * &o.x);
        Self::cut(x, y, error, bits)
    }
}

impl Question<'_> {
    fn attempt(self, mut z: Fixed, c: &Fixed, bits: usize) -> Result<Truth, Error> {
        let Question { map, limit, radius, starts_within, cancel } = self;
        let power = map.formula.power();
        // R^2 with 2P bits.
        let radius_squared = radius.times(radius).floor_scaled(2 * bits);
        let exact_radius = radius.times(radius).is_whole_scaled(2 * bits);
        for n in 1..=limit {
            if n & 0x3ff == 0 {
                cancel.check()?;
            }
            let (xx, yy, modulus) = z.squares();
            // | |z|^2 - |z_n|^2 | <= 2|z|e + e^2, and R^2 may be cut by one.
            let slack = modulus.times(z.error).times(Bound::TWO).plus(z.error.times(z.error));
            let difference = &xx + &yy - &radius_squared;
            let certain = slack.is_zero() && exact_radius || Bound::below(&difference) > slack.plus(Bound::TWO);
            let known_within = n == 1 && starts_within;
            if !certain && !known_within {
                return Ok(Truth::Undecided { n });
            }
            if difference > IBig::ZERO && !known_within {
                return Ok(Truth::Dwell(n));
            }
            if n == limit {
                break;
            }
            // Folding moves two points no further apart.
            let w = match map.formula.fold() {
                Fold::None => z,
                Fold::Absolute => Fixed { x: z.x.unsigned_abs().into(), y: z.y.unsigned_abs().into(), error: z.error },
                Fold::Conjugate => Fixed { y: -z.y, ..z },
            };
            // w^N by its binary digits, the first of which is w itself, and whose first squaring has its squares.
            let mut squares = Some((xx, yy, modulus));
            let mut p = w.clone();
            for digit in (0..power.ilog2()).rev() {
                let of_p = squares.take().unwrap_or_else(|| p.squares());
                p = p.squared(of_p, bits);
                if power >> digit & 1 == 1 {
                    p = p.times(&w, bits);
                }
            }
            z = Fixed { x: p.x + &c.x, y: p.y + &c.y, error: p.error.plus(c.error) };
            if z.error.exponent_above() > i64::try_from(bits).unwrap_or(i64::MAX) - 8 {
                return Ok(Truth::Undecided { n });
            }
        }
        Ok(Truth::Dwell(0))
    }
}

/// How many low bits are 0; all of them for 0.
fn zeros(v: &IBig) -> usize {
    v.trailing_zeros().unwrap_or(usize::MAX)
}

/// A non-negative bound m 2^e, every operation rounded up by more than the machine could round down. Its range is that
/// of e, since errors may grow to any number of bits before they are given up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    /// 0, or in [1, 2).
    m: f64,
    e: i64,
}

impl Bound {
    const ZERO: Self = Self { m: 0.0, e: 0 };
    const TWO: Self = Self { m: 1.0, e: 1 };

    fn power_of_two(e: i64) -> Self {
        Self { m: 1.0, e }
    }
    fn is_zero(self) -> bool {
        self.m == 0.0
    }
    /// m scaled to [1, 2) after adding a little.
    fn up(m: f64, e: i64) -> Self {
        if m == 0.0 {
            return Self::ZERO;
        }
        let m = m * (1.0 + 1e-12);
        let shift = i64::try_from(m.to_bits() >> 52).unwrap_or(0) - 1023;
        let unit = f64::from_bits((m.to_bits() & ((1 << 52) - 1)) | (1023 << 52));
        Self { m: unit, e: e + shift }
    }
    fn times(self, o: Self) -> Self {
        Self::up(self.m * o.m, self.e + o.e)
    }
    fn over(self, o: Self) -> Self {
        Self::up(self.m / o.m, self.e - o.e)
    }
    fn plus(self, o: Self) -> Self {
        if self.is_zero() || o.is_zero() {
            return if self.is_zero() { o } else { self };
        }
        let (big, small) = if self.e >= o.e { (self, o) } else { (o, self) };
        // More than 60 binades below, it is covered by the rounding up.
        let gap = (big.e - small.e).min(60);
        Self::up(big.m + small.m * 2f64.powi(-i32::try_from(gap).unwrap_or(60)), big.e)
    }
    fn exponent_above(self) -> i64 {
        if self.is_zero() { i64::MIN } else { self.e + 1 }
    }
    /// At least sqrt(v), v >= 0.
    fn sqrt_above(v: &IBig) -> Self {
        let (m, e) = leading(v);
        if m == 0.0 {
            return Self::ZERO;
        }
        // The digits that `leading` cut are under one part in 2^52.
        let (m, e) = if e % 2 == 0 { (m, e) } else { (2.0 * m, e - 1) };
        Self::up((m * (1.0 + 1e-12)).sqrt(), e / 2)
    }
    /// At least |v|.
    fn above(v: &IBig) -> Self {
        let (m, e) = leading(v);
        Self::up(m, e)
    }
    /// At most |v|.
    fn below(v: &IBig) -> Self {
        let (m, e) = leading(v);
        Self { m, e }
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> {
        let zero = (o.is_zero(), self.is_zero());
        match zero {
            (true, true) => Some(std::cmp::Ordering::Equal),
            (true, false) => Some(std::cmp::Ordering::Greater),
            (false, true) => Some(std::cmp::Ordering::Less),
            (false, false) => self.e.cmp(&o.e).then(self.m.total_cmp(&o.m)).into(),
        }
    }
}

/// |v| cut to its first 53 bits, as m 2^e with m in [1, 2).
fn leading(v: &IBig) -> (f64, i64) {
    let length = v.bit_len();
    if *v == IBig::ZERO {
        return (0.0, 0);
    }
    let magnitude = v.clone().unsigned_abs();
    let top = if length > 53 { magnitude >> (length - 53) } else { magnitude << (53 - length) };
    let top = u64::try_from(&top).unwrap_or(1 << 52);
    #[allow(clippy::cast_precision_loss, reason = "53 bits")]
    let m = top as f64 / (1_u64 << 52) as f64;
    (m, i64::try_from(length).unwrap_or(i64::MAX) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mandelbrot() -> ExactMap {
        ExactMap { formula: Formula::MANDELBROT, julia: None }
    }

    fn at(re: &str, im: &str, limit: u32) -> Truth {
        let number = |text: &str| text.parse::<crate::Decimal>().unwrap().to_rational();
        dwell(&mandelbrot(), &[number(re), number(im)], limit, &Rational::whole(2), &Cancel::default()).unwrap()
    }

    #[test]
    fn points_known_by_hand() {
        assert_eq!(at("0", "0", 1000), Truth::Dwell(0));
        assert_eq!(at("-2", "0", 20_000), Truth::Dwell(0), "exact for ever: no rounding, no error");
        assert_eq!(at("2", "0", 10), Truth::Dwell(2));
        assert_eq!(at("1", "0", 10), Truth::Dwell(3));
        assert_eq!(at("1e-1000", "1e400", 10), Truth::Dwell(1));
        assert_eq!(at("0", "1", 500), Truth::Dwell(0));
    }

    #[test]
    fn a_hair_outside_the_tip_takes_its_time() {
        // c = -2 - 10^-k: |z_1| > 2 at once; c = -2 + 10^-k on the axis is inside.
        assert_eq!(at("-2.00000000000000000000000000000000000000000000000001", "0", 1000), Truth::Dwell(1));
        assert_eq!(at("-1.99999999999999999999999999999999999999999999999999", "0", 5000), Truth::Dwell(0));
        // Off the axis by 10^-50 the excess grows fourfold a step: about log_4 10^50 = 83 steps.
        let c = "-1.99999999999999999999999999999999999999999999999999";
        let Truth::Dwell(n) = at(c, "1e-50", 1000) else { panic!("decided") };
        assert!((80..95).contains(&n), "{n}");
        // Just right of the cusp 1/4, an orbit needs about pi / sqrt(epsilon) steps.
        let Truth::Dwell(n) = at("0.250001", "0", 10_000) else { panic!("decided") };
        assert!((3100..3200).contains(&n), "{n}");
    }

    #[test]
    fn agrees_with_the_plain_loop_where_that_is_safe() {
        let kinds = [
            (Fold::None, 2, None),
            (Fold::None, 3, None),
            (Fold::None, 7, None),
            (Fold::None, 16, None),
            (Fold::Absolute, 2, None),
            (Fold::Absolute, 5, None),
            (Fold::Conjugate, 2, None),
            (Fold::Conjugate, 4, None),
            (Fold::None, 2, Some([-0.75, 0.125])),
            (Fold::Absolute, 2, Some([-0.75, 0.125])),
            (Fold::Conjugate, 3, Some([0.5, -0.625])),
        ];
        for (fold, power, julia) in kinds {
            let formula = Formula::new(fold, power).unwrap();
            let exact = |v: [f64; 2]| v.map(Rational::from_f64);
            let map = crate::Map { formula, recipe: crate::Recipe::Fused, julia };
            let exact_map = ExactMap { formula, julia: julia.map(exact) };
            for i in 0..200_i32 {
                let pixel = [f64::from(i % 20) / 8.0 - 2.1, f64::from(i / 20) / 8.0 - 0.6];
                let truth = dwell(&exact_map, &exact(pixel), 40, &Rational::whole(2), &Cancel::default());
                let plain = dwell_kernels::naive::dwell(&map, pixel, 40, 4.0);
                assert_eq!(truth.unwrap(), Truth::Dwell(plain), "{map:?} {pixel:?}");
            }
        }
    }

    #[test]
    fn can_be_stopped() {
        let cancel = Cancel::default();
        cancel.cancel();
        let zero = Rational::whole(0);
        assert!(matches!(
            dwell(&mandelbrot(), &[zero.clone(), zero], u32::MAX, &Rational::whole(2), &cancel),
            Err(Error::Interrupted)
        ));
    }
}
