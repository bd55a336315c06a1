//! The true dwell of a point: arbitrary precision with an error bound, and more bits until every comparison is certain.
//!
//! z is kept in fixed point with P bits after the point and a bound e on |z - z_n|, which one step increases to
//! e' = 2|z|e + e^2 + the rounding error of the step. At each n the comparison of |z|^2 with R^2 is certain if they
//! differ by more than e allows; otherwise the iteration starts again with twice the bits. While no bits have been
//! rounded off (c = -2, or any short binary fraction early on) e is 0, and even |z_n| = R is decided.

pub(crate) mod exact_points;
mod fast_paths;
mod true_dwells;
mod values;

pub use true_dwells::{Method, TrueDwells};

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::truth::exact_points::{Enclosed, ExactPoint};
use crate::view::settings::Settings;
use dashu_int::IBig;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dwell_kernels::deep::values::Values;
use dwell_kernels::{Fold, Formula, with_standard_floats};
pub(crate) use values::Wanted;

/// The dwell of a point without rounding error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// The dwell, certain: the least n with |z_n| > R, or 0 if |z_1| to |z_limit| are all at most R.
    Dwell(u64),
    /// 2^20 bits did not decide whether |z_n| > R.
    Undecided {
        /// The undecided iteration, 1 to the limit.
        n: u64,
    },
}

/// Bits after the point of the first attempt.
const FIRST_BITS: usize = 128;
/// Bits after the point of the last attempt, at which an undecided comparison is reported.
const MAX_BITS: usize = 1 << 20;
/// Bits of the last attempt for a pixel beyond four times those of the first, and for each step of its orbit: a step takes the error at most
/// 2|z| times as far, 2 bits where |z| <= 2, and the derivatives of powers and the values need some more.
const MORE_BITS: usize = 1 << 13;
const BITS_OF_STEP: usize = 4;

/// The iterated map, with an exact constant.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactMap {
    /// The formula.
    pub formula: Formula,
    /// The constant c of a Julia set; `None`: c is the pixel.
    pub julia: Option<[Rational; 2]>,
}

impl ExactMap {
    /// That of some settings.
    pub(crate) fn of(settings: &Settings) -> Self {
        let julia = settings.julia.as_ref().map(|c| c.each_ref().map(Decimal::to_rational));
        Self { formula: settings.formula, julia }
    }
}

/// The true dwell of the point `pixel`, as real and imaginary part, up to `limit` iterations with the escape radius
/// R = `radius`, which is at least 2.
///
/// # Errors
/// [`Error::Interrupted`] after `cancel` was set.
pub fn dwell(
    map: &ExactMap,
    pixel: &[Rational; 2],
    limit: u64,
    radius: &Rational,
    cancel: &Cancel,
) -> Result<Truth, Error> {
    with_standard_floats(|| dwell_of(map, pixel, limit, radius, cancel))
}

fn dwell_of(
    map: &ExactMap,
    pixel: &[Rational; 2],
    limit: u64,
    radius: &Rational,
    cancel: &Cancel,
) -> Result<Truth, Error> {
    // If |z_1| > R, the dwell is 1 and the digits of a huge coordinate are not needed.
    let [re, im] = pixel;
    let norm = re.times(re).plus(&im.times(im));
    if norm > radius.times(radius) {
        return Ok(Truth::Dwell(1));
    }
    // Enough bits that the smallest part has 64 significant ones.
    let parts = pixel.iter().chain(map.julia.iter().flatten());
    let small = parts.filter_map(Rational::floor_log2).min().unwrap_or(0).min(0).unsigned_abs();
    let first = FIRST_BITS.max(usize::try_from(small).unwrap_or(MAX_BITS).min(MAX_BITS / 2) + 64);
    ArbitraryPrecision { map, limit, radius, within: &[1], cancel }.decide(pixel, first)
}

/// The dwell of a point of a view, with the values that are wanted, by iteration in arbitrary precision, with `first_bits` bits at first.
///
/// Where [`most_bits`] do not decide whether |z_n| > R, as for a point with |z_n| = R that is no binary fraction, |z_n| is taken to be R, which is
/// no escape; [`Found::is_proved`] is then false.
///
/// # Errors
/// [`Error::Interrupted`] after `cancel` was set.
pub(crate) fn dwell_and_values(
    map: &ExactMap,
    point: &ExactPoint<'_>,
    limit: u64,
    radius: &Rational,
    first_bits: usize,
    wanted: Wanted<'_>,
    cancel: &Cancel,
) -> Result<Found, Error> {
    // A rational point is used directly: binary fractions have no error, and |z_1| = R is compared exactly.
    let rational = point.rational();
    let pixel: &dyn Enclosed = rational.as_ref().map_or(point, |pixel| pixel);
    let is_within = |[re, im]: &[Rational; 2]| re.times(re).plus(&im.times(im)) <= radius.times(radius);
    let mut within: Vec<u64> = rational.iter().filter(|pixel| is_within(pixel)).map(|_| 1).collect();
    let mut is_proved = true;
    loop {
        let of = ArbitraryPrecision { map, limit, radius, within: &within, cancel };
        let (truth, values) = of.decide_with_values(pixel, first_bits, wanted)?;
        match truth {
            Truth::Undecided { n } if !within.contains(&n) => {
                is_proved = false;
                within.push(n);
            }
            truth => return Ok(Found { truth, values, is_proved }),
        }
    }
}

/// What arbitrary precision finds of a point.
pub(crate) struct Found {
    /// The dwell; undecided where the values are.
    pub(crate) truth: Truth,
    /// The values that were wanted, 0 where it does not escape.
    pub(crate) values: Values,
    /// Whether each |z_n| was compared with R.
    pub(crate) is_proved: bool,
}

/// The iteration of points in arbitrary precision with an error bound.
#[derive(Clone, Copy)]
struct ArbitraryPrecision<'a> {
    map: &'a ExactMap,
    limit: u64,
    radius: &'a Rational,
    /// Each n for which |z_n| <= R is already certain, or taken so.
    within: &'a [u64],
    cancel: &'a Cancel,
}

impl ArbitraryPrecision<'_> {
    /// The dwell of a point. The first attempt has `first_bits` bits, each further one twice as many.
    fn decide(self, pixel: &(impl Enclosed + ?Sized), first_bits: usize) -> Result<Truth, Error> {
        let mut bits = first_bits;
        loop {
            match self.attempt(pixel, bits, false)?.truth {
                Truth::Undecided { .. } if bits < MAX_BITS => bits *= 2,
                decided => return Ok(decided),
            }
        }
    }

    /// The dwell of a point with the values that are wanted, which are 0 where it does not escape.
    fn decide_with_values(
        self,
        pixel: &(impl Enclosed + ?Sized),
        first_bits: usize,
        wanted: Wanted<'_>,
    ) -> Result<(Truth, Values), Error> {
        let mut bits = first_bits;
        loop {
            let attempt = self.attempt(pixel, bits, wanted.units.is_some())?;
            let truth = attempt.truth;
            let most_bits = most_bits(first_bits, of_truth(truth));
            let values = match truth {
                Truth::Dwell(n) if n > 0 && wanted.is_any() => {
                    self.values(n, attempt, (bits, bits >= most_bits), wanted)?
                }
                Truth::Dwell(_) => Some(Values::default()),
                Truth::Undecided { .. } => None,
            };
            match values {
                Some(values) => return Ok((truth, values)),
                None if bits < most_bits => bits *= 2,
                None => return Ok((Truth::Undecided { n: of_truth(truth) }, Values::default())),
            }
        }
    }
}

/// The bits of the last attempt to decide |z_n|, or values at n.
fn most_bits(first_bits: usize, n: u64) -> usize {
    let of_steps = usize::try_from(n).unwrap_or(MAX_BITS).saturating_mul(BITS_OF_STEP);
    first_bits.saturating_mul(4).saturating_add(MORE_BITS).saturating_add(of_steps).min(MAX_BITS)
}

/// The n of an escape or of what is undecided.
fn of_truth(truth: Truth) -> u64 {
    match truth {
        Truth::Dwell(n) | Truth::Undecided { n } => n,
    }
}

/// What an attempt with some number of bits found.
struct Attempt {
    truth: Truth,
    /// The orbit at its end.
    orbit: Orbit,
    c: Fixed,
}

/// A value of an orbit, with the columns of its derivative by the pixel where that is wanted: one where it is a complex number, two where a fold makes it a real matrix.
struct Orbit {
    z: Fixed,
    derivative: Option<Vec<Fixed>>,
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
        // The distance from the lower left corner of the box to any of its points is at most width plus height.
        let diameter = Bound::above(&(right - &x)).plus(Bound::above(&(above - &y)));
        Self { x, y, error: diameter }
    }

    /// 1 or i.
    fn unit(column: usize, bits: usize) -> Self {
        let (one, zero) = (IBig::ONE << bits, IBig::ZERO);
        let (x, y) = if column == 0 { (one, zero) } else { (zero, one) };
        Self { x, y, error: Bound::ZERO }
    }

    /// x^2 and y^2, with twice the bits, and an upper bound on |z| in units of the last place.
    fn squares(&self) -> (IBig, IBig, Bound) {
        let (xx, yy) = (IBig::from(self.x.sqr()), IBig::from(self.y.sqr()));
        let modulus = Bound::sqrt_above(&(&xx + &yy));
        (xx, yy, modulus)
    }

    /// A product truncated to P bits. `error` is the error that its factors' errors cause, with twice the bits.
    fn truncated(x: IBig, y: IBig, error: Bound, bits: usize) -> Self {
        let exact = zeros(&x) >= bits && zeros(&y) >= bits;
        let one = Bound::power_of_two(i64::try_from(bits).unwrap_or(i64::MAX));
        let error = error.over(one);
        Self { x: x >> bits, y: y >> bits, error: if exact { error } else { error.plus(Bound::TWO) } }
    }

    /// The square, from the squares of the parts. Its error is 2|z|e + e^2.
    fn squared(&self, (xx, yy, modulus): (IBig, IBig, Bound), bits: usize) -> Self {
        let error = modulus.times(self.error).times(Bound::TWO).plus(self.error.times(self.error));
        Self::truncated(xx - yy, (&self.x * &self.y) << 1_usize, error, bits)
    }

    fn times(&self, o: &Self, bits: usize) -> Self {
        let (of_self, of_other) = (self.squares().2, o.squares().2);
        let error = of_self.times(o.error).plus(of_other.times(self.error)).plus(self.error.times(o.error));
        let (x, y) = (&self.x * &o.x - &self.y * &o.y, &self.x * &o.y + &self.y * &o.x);
        Self::truncated(x, y, error, bits)
    }
}

impl ArbitraryPrecision<'_> {
    fn attempt(self, pixel: &(impl Enclosed + ?Sized), bits: usize, with_derivative: bool) -> Result<Attempt, Error> {
        let ArbitraryPrecision { map, limit, radius, within, cancel } = self;
        let z = Fixed::of(pixel, bits);
        let c = map.julia.as_ref().map_or_else(|| z.clone(), |c| Fixed::of(c, bits));
        let columns = if map.formula.fold() == Fold::None { 1 } else { 2 };
        let first = || (0..columns).map(|column| Fixed::unit(column, bits)).collect();
        let mut orbit = Orbit { z, derivative: with_derivative.then(first) };
        let ended = |truth: Truth, orbit: Orbit, c: Fixed| Ok(Attempt { truth, orbit, c });
        // R^2 with 2P bits.
        let radius_squared = radius.times(radius).floor_scaled(2 * bits);
        let exact_radius = radius.times(radius).is_whole_scaled(2 * bits);
        for n in 1..=limit {
            if n & 0x3ff == 0 {
                cancel.check()?;
            }
            let z = &orbit.z;
            let (xx, yy, modulus) = z.squares();
            // | |z|^2 - |z_n|^2 | <= 2|z|e + e^2, and truncation reduced R^2 by less than one unit.
            let slack = modulus.times(z.error).times(Bound::TWO).plus(z.error.times(z.error));
            let difference = &xx + &yy - &radius_squared;
            let certain = slack.is_zero() && exact_radius || Bound::below(&difference) > slack.plus(Bound::TWO);
            let known_within = within.contains(&n);
            if !certain && !known_within {
                return ended(Truth::Undecided { n }, orbit, c);
            }
            if difference > IBig::ZERO && !known_within {
                return ended(Truth::Dwell(n), orbit, c);
            }
            if n == limit {
                break;
            }
            orbit = self.next(orbit, &c, (xx, yy, modulus), bits);
            if orbit.z.error.exponent_above() > i64::try_from(bits).unwrap_or(i64::MAX) - 8 {
                return ended(Truth::Undecided { n }, orbit, c);
            }
        }
        ended(Truth::Dwell(0), orbit, c)
    }

    /// What follows in an orbit with the squares of z. A column of the derivative by the pixel is folded as a small displacement of z is, multiplied by N w^(N-1), and in the parameter plane 1 or
    /// i is added.
    fn next(self, Orbit { z, derivative }: Orbit, c: &Fixed, squares: (IBig, IBig, Bound), bits: usize) -> Orbit {
        let derivative = derivative.map(|columns| {
            let power = self.map.formula.power();
            let by = raised(&self.folded(z.clone()), power - 1, None, bits);
            let n = Bound::up(f64::from(power), 0);
            let after = |(column, of_column): (usize, Fixed)| {
                let Fixed { x, y, error } = by.times(&self.folded_derivative(&z, of_column), bits);
                let product = Fixed { x: x * power, y: y * power, error: error.times(n) };
                if self.map.julia.is_some() {
                    return product;
                }
                let unit = Fixed::unit(column, bits);
                Fixed { x: product.x + unit.x, y: product.y + unit.y, ..product }
            };
            columns.into_iter().enumerate().map(after).collect()
        });
        Orbit { z: self.next_z(z, c, squares, bits), derivative }
    }

    /// z after the fold. Folding does not increase the distance between two points, so the error bound stays valid.
    fn folded(self, z: Fixed) -> Fixed {
        match self.map.formula.fold() {
            Fold::None => z,
            Fold::Absolute => Fixed { x: z.x.unsigned_abs().into(), y: z.y.unsigned_abs().into(), error: z.error },
            Fold::Conjugate => Fixed { y: -z.y, ..z },
        }
    }

    /// A displacement of z after the fold. Where the sign of a part of z is not certain, it is off by twice its own part; the sign of 0 is that of a positive number.
    fn folded_derivative(self, z: &Fixed, of_column: Fixed) -> Fixed {
        match self.map.formula.fold() {
            Fold::None => of_column,
            Fold::Conjugate => Fixed { y: -of_column.y, ..of_column },
            Fold::Absolute => {
                let mut error = of_column.error;
                let mut signed = |of_z: &IBig, part: IBig| {
                    if !z.error.is_zero() && Bound::below(of_z) <= z.error {
                        error = error.plus(Bound::above(&part).times(Bound::TWO));
                    }
                    if *of_z < IBig::ZERO { -part } else { part }
                };
                let (x, y) = (signed(&z.x, of_column.x), signed(&z.y, of_column.y));
                Fixed { x, y, error }
            }
        }
    }

    /// The z after `z`, whose squares are given.
    fn next_z(self, z: Fixed, c: &Fixed, squares: (IBig, IBig, Bound), bits: usize) -> Fixed {
        // The squares are those of the folded z, too.
        let p = raised(&self.folded(z), self.map.formula.power(), Some(squares), bits);
        Fixed { x: p.x + &c.x, y: p.y + &c.y, error: p.error.plus(c.error) }
    }
}

/// w^power by the binary digits of a power of at least 1: the first digit is w itself. `squares` are those of w, if they are known.
fn raised(w: &Fixed, power: u32, mut squares: Option<(IBig, IBig, Bound)>, bits: usize) -> Fixed {
    let mut p = w.clone();
    for digit in (0..power.ilog2()).rev() {
        let of_p = squares.take().unwrap_or_else(|| p.squares());
        p = p.squared(of_p, bits);
        if power >> digit & 1 == 1 {
            p = p.times(w, bits);
        }
    }
    p
}

/// The number of trailing zero bits; `usize::MAX` for 0.
fn zeros(v: &IBig) -> usize {
    v.trailing_zeros().unwrap_or(usize::MAX)
}

/// A non-negative upper bound m 2^e. Each operation multiplies its result by 1 + 1e-12, which is more than the rounding
/// errors of the operation can reduce it. The exponent has 64 bits because error bounds may have any magnitude before
/// the attempt is given up.
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
    /// The bound m 2^e, increased by one part in 10^12 and normalized to a significand in [1, 2).
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
        // A summand below the other by more than a factor 2^60 is covered by the rounding up.
        let gap = (big.e - small.e).min(60);
        Self::up(big.m + small.m * 2f64.powi(-i32::try_from(gap).unwrap_or(60)), big.e)
    }
    /// The value in f64, for one that is not large.
    fn to_f64(self) -> f64 {
        self.m * 2_f64.powi(i32::try_from(self.e.max(-1000)).unwrap_or(1023).min(1023))
    }
    fn exponent_above(self) -> i64 {
        if self.is_zero() { i64::MIN } else { self.e + 1 }
    }
    /// An upper bound on sqrt(v), for v >= 0.
    fn sqrt_above(v: &IBig) -> Self {
        let (m, e) = leading(v);
        if m == 0.0 {
            return Self::ZERO;
        }
        // The bits that `leading` truncates are less than one part in 2^52.
        let (m, e) = if e % 2 == 0 { (m, e) } else { (2.0 * m, e - 1) };
        Self::up((m * (1.0 + 1e-12)).sqrt(), e / 2)
    }
    /// An upper bound on |v|.
    fn above(v: &IBig) -> Self {
        let (m, e) = leading(v);
        Self::up(m, e)
    }
    /// A lower bound on |v|.
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

/// |v| truncated to 53 bits, as m 2^e with m in [1, 2), or 0 for 0.
fn leading(v: &IBig) -> (f64, i64) {
    let length = v.bit_len();
    if *v == IBig::ZERO {
        return (0.0, 0);
    }
    let magnitude = v.clone().unsigned_abs();
    let top = if length > 53 { magnitude >> (length - 53) } else { magnitude << (53 - length) };
    let top = u64::try_from(&top).unwrap_or(1 << 52);
    // Exact: `top` has 53 bits.
    let m = top as f64 / (1_u64 << 52) as f64;
    (m, i64::try_from(length).unwrap_or(i64::MAX) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mandelbrot() -> ExactMap {
        ExactMap::of(&Settings::default())
    }

    fn at(re: &str, im: &str, limit: u64) -> Truth {
        let number = |text: &str| text.parse::<crate::Decimal>().unwrap().to_rational();
        dwell(&mandelbrot(), &[number(re), number(im)], limit, &Rational::whole(2), &Cancel::default()).unwrap()
    }

    #[test]
    fn points_with_known_dwells() {
        assert_eq!(at("0", "0", 1000), Truth::Dwell(0));
        assert_eq!(at("-2", "0", 20_000), Truth::Dwell(0), "no step rounds, so the error stays 0");
        assert_eq!(at("2", "0", 10), Truth::Dwell(2));
        assert_eq!(at("1", "0", 10), Truth::Dwell(3));
        assert_eq!(at("1e-1000", "1e400", 10), Truth::Dwell(1));
        assert_eq!(at("0", "1", 500), Truth::Dwell(0));
    }

    #[test]
    fn points_close_to_the_boundary_escape_late() {
        // For c = -2 - 10^-k, |z_1| > 2. On the real axis, c = -2 + 10^-k is in the set.
        assert_eq!(at("-2.00000000000000000000000000000000000000000000000001", "0", 1000), Truth::Dwell(1));
        assert_eq!(at("-1.99999999999999999999999999999999999999999999999999", "0", 5000), Truth::Dwell(0));
        // At a distance of 10^-50 from the axis the excess grows by a factor of 4 per step: about log_4 10^50 = 83
        // steps.
        let c = "-1.99999999999999999999999999999999999999999999999999";
        let Truth::Dwell(n) = at(c, "1e-50", 1000) else { panic!("decided") };
        assert!((80..95).contains(&n), "{n}");
        // For c = 1/4 + epsilon, right of the cusp, an orbit takes about pi / sqrt(epsilon) steps to escape.
        let Truth::Dwell(n) = at("0.250001", "0", 10_000) else { panic!("decided") };
        assert!((3100..3200).contains(&n), "{n}");
    }

    #[test]
    fn agrees_with_the_f64_loop_where_rounding_does_not_matter() {
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
                assert_eq!(truth.unwrap(), Truth::Dwell(plain.into()), "{map:?} {pixel:?}");
            }
        }
    }

    #[test]
    fn late_escapes_have_the_bits_that_their_steps_need() {
        // An orbit on the real axis that never settles; beside it, the difference about doubles with each step.
        let number = |text: &str| text.parse::<crate::Decimal>().unwrap().to_rational();
        let pixel = [number("-1.9"), number("1e-4500")];
        let radius = Rational::whole(2);
        let map = mandelbrot();
        let of = ArbitraryPrecision {
            map: &map,
            limit: 1_000_000,
            radius: &radius,
            within: &[],
            cancel: &Cancel::default(),
        };
        let (truth, _) = of.decide_with_values(&pixel, 64, Wanted { smooth: true, units: None }).unwrap();
        let Truth::Dwell(n) = truth else { panic!("{truth:?}") };
        // 4500 log2(10) = 14,949 bits, at 0.79 bits a step.
        assert!((14_000..25_000).contains(&n), "{n}");
    }

    #[test]
    fn is_cancellable() {
        let cancel = Cancel::default();
        cancel.cancel();
        let zero = Rational::whole(0);
        assert!(matches!(
            dwell(&mandelbrot(), &[zero.clone(), zero], u64::MAX, &Rational::whole(2), &cancel),
            Err(Error::Interrupted)
        ));
    }
}
