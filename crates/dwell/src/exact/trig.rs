//! Sine and cosine of a decimal number of degrees, to any requested number of bits. Rotated coordinates are correctly
//! rounded too, and no mathematics library guarantees correctly rounded sines and cosines.

use crate::exact::rational::Rational;
use dashu_int::IBig;

/// A direction: an angle in degrees, exact, reduced to 0 <= angle < 360.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    degrees: Rational,
}

/// A real number: a rational, or a rational times the sine or cosine of a [`Direction`], where that is irrational.
#[derive(Clone, Debug)]
pub(crate) enum Real {
    /// A rational number.
    Rational(Rational),
    /// `factor` times the cosine of `degrees`. It is irrational: by Niven's theorem the cosine of a rational number of
    /// degrees is rational only at 0, 60, 90, 120, 180, 240, 270 and 300 degrees, which this variant excludes.
    Cosine {
        /// Not 0.
        factor: Rational,
        /// The angle, 0 <= angle < 360.
        degrees: Rational,
    },
}

impl Direction {
    /// The direction at `degrees`, counter-clockwise from the positive real axis.
    #[must_use]
    pub(crate) fn new(degrees: &Rational) -> Self {
        Self { degrees: reduced(degrees) }
    }

    /// Whether the angle is a multiple of 360 degrees, which is no rotation.
    #[must_use]
    pub(crate) fn is_none(&self) -> bool {
        self.degrees.is_zero()
    }

    /// `factor * cos(angle)`.
    #[must_use]
    pub(crate) fn cosine_times(&self, factor: &Rational) -> Real {
        cosine_times(&self.degrees, factor)
    }

    /// `factor * sin(angle)`, computed as `factor * cos(angle - 90)`.
    #[must_use]
    pub(crate) fn sine_times(&self, factor: &Rational) -> Real {
        cosine_times(&reduced(&self.degrees.minus(&Rational::whole(90))), factor)
    }
}

/// `degrees` modulo 360, 0 to 360 exclusive.
fn reduced(degrees: &Rational) -> Rational {
    let turns = degrees.over(&Rational::whole(360)).floor_scaled(0);
    degrees.minus(&Rational::new(turns * IBig::from(360), dashu_int::UBig::ONE))
}

fn cosine_times(degrees: &Rational, factor: &Rational) -> Real {
    // Niven's theorem: the cosine of a rational number of degrees is rational only at these angles.
    for (angle, numerator) in [(0, 2), (60, 1), (90, 0), (120, -1), (180, -2), (240, -1), (270, 0), (300, 1)] {
        if *degrees == Rational::whole(angle) {
            let cosine = Rational::new(IBig::from(numerator), 2_u8.into());
            return Real::Rational(factor.times(&cosine));
        }
    }
    if factor.is_zero() {
        return Real::Rational(Rational::whole(0));
    }
    Real::Cosine { factor: factor.clone(), degrees: degrees.clone() }
}

impl Real {
    /// Integers low and high with low <= self * 2^bits <= high and high - low <= 4. They are equal only if self *
    /// 2^bits is that integer.
    #[must_use]
    pub(crate) fn enclose(&self, bits: usize) -> (IBig, IBig) {
        self.enclose_scaled(i64::try_from(bits).unwrap_or(i64::MAX))
    }

    /// [`Self::enclose`] for any power of two, negative ones included.
    #[must_use]
    pub(crate) fn enclose_scaled(&self, bits: i64) -> (IBig, IBig) {
        match self {
            Self::Rational(r) => r.enclose_scaled(bits),
            Self::Cosine { factor, degrees } => {
                // The cosine is computed to as many bits as its product with the factor needs: |factor| < 2^(e + 1),
                // and the error of the cosine is at most 2^-(bits + e + 8), so the error of the product is below
                // 2^-(bits + 7).
                let e = factor.floor_log2().unwrap_or(0);
                let wanted = bits.saturating_add(e).saturating_add(8);
                let wanted = usize::try_from(wanted).unwrap_or(0).max(16);
                let cosine = Rational::new(cosine(degrees, wanted), dashu_int::UBig::ONE << wanted);
                let (middle, _) = factor.times(&cosine).enclose_scaled(bits);
                (&middle - IBig::ONE, middle + IBig::from(2))
            }
        }
    }

    /// An estimate of floor(log2 |self|), for choosing a precision: the cosine is taken as 1. `None` for 0.
    #[must_use]
    pub(crate) fn about_log2(&self) -> Option<i64> {
        match self {
            Self::Rational(r) => r.floor_log2(),
            Self::Cosine { factor, .. } => factor.floor_log2(),
        }
    }
}

/// cos(degrees) * 2^bits to within 1, for 0 <= degrees < 360.
fn cosine(degrees: &Rational, bits: usize) -> IBig {
    // Reduction to 0 to 90 degrees: cos(360 - x) = cos(x) and cos(180 - x) = -cos(x).
    let half_turn = Rational::whole(180);
    let folded = if *degrees > half_turn { Rational::whole(360).minus(degrees) } else { degrees.clone() };
    let (acute, negative) =
        if folded > Rational::whole(90) { (half_turn.minus(&folded), true) } else { (folded, false) };
    // 64 guard bits: each of the few thousand truncations below adds an error of at most one unit of the last guard
    // bit.
    let work = bits + 64;
    let one = IBig::ONE << work;
    let x = acute.over(&half_turn).times(&Rational::new(pi(work), dashu_int::UBig::ONE << work)).floor_scaled(work);
    let x_squared = (&x * &x) >> work;
    let (mut term, mut sum, mut k) = (one.clone(), one, 0_u64);
    while term != IBig::ZERO {
        // Taylor series with alternating signs: cos x = sum (-1)^k x^2k / (2k)!.
        term = ((&term * &x_squared) >> work) / IBig::from((2 * k + 1) * (2 * k + 2));
        k += 1;
        sum = if k % 2 == 1 { sum - &term } else { sum + &term };
    }
    let cosine = sum >> 64_usize;
    if negative { -cosine } else { cosine }
}

/// pi * 2^bits to within 2^-40, by Machin's formula pi = 16 atan(1/5) - 4 atan(1/239).
fn pi(bits: usize) -> IBig {
    let work = bits + 64;
    let atan_inverse = |n: u64| {
        let square = IBig::from(n * n);
        let mut power = (IBig::ONE << work) / IBig::from(n);
        let (mut sum, mut k) = (power.clone(), 1_u64);
        while power != IBig::ZERO {
            power /= &square;
            let term = &power / IBig::from(2 * k + 1);
            sum = if k % 2 == 1 { sum - term } else { sum + term };
            k += 1;
        }
        sum
    };
    let pi: IBig = atan_inverse(5) * IBig::from(16) - atan_inverse(239) * IBig::from(4);
    pi >> 64_usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(text: &str) -> Direction {
        Direction::new(&text.parse::<crate::Decimal>().unwrap().to_rational())
    }

    #[test]
    fn pi_to_two_hundred_bits() {
        // 3.1415926535897932384626433832795028841971693993751058209749445923 (published digits).
        let digits = "3.1415926535897932384626433832795028841971693993751058209749445923";
        let published = digits.parse::<crate::Decimal>().unwrap().to_rational();
        let error = published.minus(&Rational::new(pi(200), dashu_int::UBig::ONE << 200_usize)).magnitude();
        assert!(error < Rational::whole(1).scaled_by_power_of_two(-199));
    }

    #[test]
    fn multiples_of_ninety_are_exact() {
        let one = Rational::whole(1);
        for (text, cos, sin) in
            [("0", 1, 0), ("90", 0, 1), ("180", -1, 0), ("-90", 0, -1), ("720", 1, 0), ("450", 0, 1)]
        {
            let direction = degrees(text);
            for (real, expected) in [(direction.cosine_times(&one), cos), (direction.sine_times(&one), sin)] {
                let Real::Rational(value) = real else { panic!("{text} is exact") };
                assert_eq!(value, Rational::whole(expected), "{text}");
            }
        }
        let Real::Rational(half) = degrees("30").sine_times(&one) else { panic!("sin 30 is exact") };
        assert_eq!(half, Rational::new(IBig::ONE, 2_u8.into()));
        assert!(degrees("-720").is_none() && !degrees("1e-9").is_none());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the mathematics library as a reference to within its error")]
    fn agrees_with_the_mathematics_library() {
        for i in 0..200 {
            let angle = f64::from(i) * 7.3 - 500.0;
            let direction = Direction::new(&Rational::from_f64(angle));
            for (real, expected) in [
                (direction.cosine_times(&Rational::whole(3)), 3.0 * angle.to_radians().cos()),
                (direction.sine_times(&Rational::whole(-5)), -5.0 * angle.to_radians().sin()),
            ] {
                let (low, high) = real.enclose(100);
                assert!(&high - &low <= IBig::from(4));
                let value: f64 = Rational::new(low, dashu_int::UBig::ONE << 100_usize).round();
                assert!((value - expected).abs() < 1e-14, "{angle} {value} {expected}");
            }
        }
    }

    #[test]
    fn enclosures_nest() {
        let real = degrees("12.5").sine_times(&Rational::whole(7));
        let (low, high) = real.enclose(500);
        for bits in [10_usize, 53, 64, 100, 301] {
            let (l, h) = real.enclose(bits);
            assert!(l.clone() << (500 - bits) <= low && high <= h << (500 - bits), "{bits}");
        }
    }
}
