//! Exact rationals: the arithmetic that a view needs, on the integers of `dashu-int`. Fractions are not reduced: they
//! are built in a few steps from decimals, and reducing would cost more time than it saves.

use dashu_int::ops::{Abs, BitTest, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
use dwell_kernels::Number;
use std::cmp::Ordering;

/// An exact rational number: an integer numerator over a positive denominator, not reduced.
#[derive(Clone, Debug)]
pub struct Rational {
    num: IBig,
    den: UBig,
}

impl Rational {
    /// The number `num / den`.
    ///
    /// # Panics
    /// When `den` is 0.
    #[must_use]
    pub fn new(num: IBig, den: UBig) -> Self {
        assert!(den != UBig::ZERO, "a fraction has a denominator");
        Self { num, den }
    }

    /// The integer `n`.
    #[must_use]
    pub fn whole(n: i64) -> Self {
        Self::new(n.into(), UBig::ONE)
    }

    /// The number `digits * 10^exponent`.
    #[must_use]
    pub fn decimal(digits: IBig, exponent: i64) -> Self {
        let power = UBig::from(10_u8).pow(usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX));
        if exponent >= 0 { Self::new(digits * IBig::from(power), UBig::ONE) } else { Self::new(digits, power) }
    }

    /// The exact value of `v`, which must be finite.
    #[must_use]
    pub fn from_f64(v: f64) -> Self {
        let bits = v.abs().to_bits();
        let exponent = (bits >> 52).max(1);
        let significand = if bits >> 52 == 0 { bits } else { (bits & ((1 << 52) - 1)) | (1 << 52) };
        let signed = if v < 0.0 { -IBig::from(significand) } else { IBig::from(significand) };
        let power = i64::try_from(exponent).unwrap_or(0) - 1075;
        Self::new(signed, UBig::ONE).scaled_by_power_of_two(power)
    }

    /// The product `self * 2^exponent`.
    #[must_use]
    pub fn scaled_by_power_of_two(self, exponent: i64) -> Self {
        let by = usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
        if exponent >= 0 { Self::new(self.num << by, self.den) } else { Self::new(self.num, self.den << by) }
    }

    /// The sum `self + o`.
    #[must_use]
    pub fn plus(&self, o: &Self) -> Self {
        if self.den == o.den {
            return Self::new(&self.num + &o.num, self.den.clone());
        }
        Self::new(&self.num * IBig::from(o.den.clone()) + &o.num * IBig::from(self.den.clone()), &self.den * &o.den)
    }

    /// The difference `self - o`.
    #[must_use]
    pub fn minus(&self, o: &Self) -> Self {
        self.plus(&o.negated())
    }

    /// The product `self * o`.
    #[must_use]
    pub fn times(&self, o: &Self) -> Self {
        Self::new(&self.num * &o.num, &self.den * &o.den)
    }

    /// The product `self * k`.
    #[must_use]
    pub fn times_whole(&self, k: i64) -> Self {
        Self::new(&self.num * IBig::from(k), self.den.clone())
    }

    /// The quotient `self / o`.
    ///
    /// # Panics
    /// When `o` is 0.
    #[must_use]
    pub fn over(&self, o: &Self) -> Self {
        let (sign, magnitude) = o.num.clone().into_parts();
        let num = &self.num * IBig::from(o.den.clone());
        Self::new(if sign == Sign::Negative { -num } else { num }, &self.den * magnitude)
    }

    /// The negation `-self`.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self::new(-self.num.clone(), self.den.clone())
    }

    /// The absolute value `|self|`.
    #[must_use]
    pub fn magnitude(&self) -> Self {
        Self::new(self.num.clone().abs(), self.den.clone())
    }

    /// The numerator and the denominator.
    #[cfg(feature = "toml")]
    pub(crate) fn parts(&self) -> (&IBig, &UBig) {
        (&self.num, &self.den)
    }

    /// Whether the number is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.num == IBig::ZERO
    }

    /// Whether the number is greater than 0.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.num > IBig::ZERO
    }

    /// The floor of `self * 2^bits`.
    #[must_use]
    pub fn floor_scaled(&self, bits: usize) -> IBig {
        use dashu_int::ops::DivRemEuclid;
        let den = IBig::from(self.den.clone());
        (self.num.clone() << bits).div_rem_euclid(den).0
    }

    /// Whether `self * 2^bits` is an integer.
    #[must_use]
    pub fn is_whole_scaled(&self, bits: usize) -> bool {
        use dashu_int::ops::DivRemEuclid;
        (self.num.clone() << bits).div_rem_euclid(IBig::from(self.den.clone())).1 == UBig::ZERO
    }

    /// The floor and the ceiling of `self * 2^bits`.
    pub(crate) fn enclose_scaled(&self, bits: i64) -> (IBig, IBig) {
        use dashu_int::ops::DivRemEuclid;
        let scaled = self.clone().scaled_by_power_of_two(bits);
        let (low, rest) = scaled.num.div_rem_euclid(IBig::from(scaled.den));
        let high = if rest == UBig::ZERO { low.clone() } else { &low + IBig::ONE };
        (low, high)
    }

    /// The greatest e with 2^e <= |self|, which is floor(log2 |self|); `None` for 0.
    #[must_use]
    pub fn floor_log2(&self) -> Option<i64> {
        if self.is_zero() {
            return None;
        }
        let magnitude = self.num.clone().unsigned_abs();
        let bits = |u: &UBig| i64::try_from(u.bit_len()).unwrap_or(i64::MAX);
        let e = bits(&magnitude) - bits(&self.den);
        let shift = usize::try_from(e.unsigned_abs()).unwrap_or(usize::MAX);
        let reached = if e >= 0 { magnitude >= self.den.clone() << shift } else { magnitude << shift >= self.den };
        Some(if reached { e } else { e - 1 })
    }

    /// The nearest value of `N`, ties to even, subnormal values included; an infinity where |self| rounds beyond the
    /// largest finite value.
    #[must_use]
    pub fn round<N: Number>(&self) -> N {
        let Some(e) = self.floor_log2() else { return N::default() };
        let negative = self.num < IBig::ZERO;
        let precision = i64::from(N::SIGNIFICAND_BITS);
        if e > N::MAX_EXPONENT {
            return infinite(negative);
        }
        // The exponent of the last bit of a normal or, near 0, a subnormal number.
        let ulp = e.max(N::MIN_EXPONENT) - (precision - 1);
        let shift = usize::try_from(ulp.unsigned_abs()).unwrap_or(usize::MAX);
        let magnitude = self.num.clone().unsigned_abs();
        let (num, den) =
            if ulp < 0 { (magnitude << shift, self.den.clone()) } else { (magnitude, self.den.clone() << shift) };
        use dashu_int::ops::DivRem;
        let (quotient, rest) = num.div_rem(&den);
        let mut significand = u64::try_from(&quotient).unwrap_or(u64::MAX);
        match (rest << 1_usize).cmp(&den) {
            Ordering::Greater => significand += 1,
            Ordering::Equal => significand += significand & 1,
            Ordering::Less => {}
        }
        if significand >> precision == 1 && e == N::MAX_EXPONENT {
            return infinite(negative);
        }
        N::from_parts(negative, significand, ulp)
    }

    /// The nearest value of `N` to `value * 2^exponent`, as [`Self::round`] returns it, in a time that does not depend on
    /// the exponent.
    pub(crate) fn round_dyadic<N: Number>(value: &IBig, exponent: i64) -> N {
        // The leading bits and one for all others: the result depends on no more, since a midpoint of two numbers has one
        // bit more than a significand. With 128 bits, an exponent outside this range gives 0 or an infinity as its ends do.
        const KEPT: usize = 128;
        const EXPONENTS: [i64; 2] = [-2000, 2000];
        let negative = *value < IBig::ZERO;
        let magnitude = value.unsigned_abs();
        let dropped = magnitude.bit_len().saturating_sub(KEPT);
        let others = magnitude.trailing_zeros().is_some_and(|zeros| zeros < dropped);
        let kept = IBig::from((magnitude >> dropped) | UBig::from(others));
        let exponent = exponent.saturating_add(i64::try_from(dropped).unwrap_or(i64::MAX));
        let kept = Self::new(if negative { -kept } else { kept }, UBig::ONE);
        kept.scaled_by_power_of_two(exponent.clamp(EXPONENTS[0], EXPONENTS[1])).round()
    }

    /// The value as text with three significant digits for messages, such as `3.72e-17`; truncated, not rounded.
    #[must_use]
    pub fn scientific(&self) -> String {
        let Some(e2) = self.floor_log2() else { return "0".to_owned() };
        // The estimate is within 1 of floor(log10 |self|), and the loop corrects it.
        let mut e10 = (e2 as f64 * std::f64::consts::LOG10_2).floor() as i64;
        loop {
            let scaled = self.magnitude().times(&Self::decimal(IBig::ONE, 2 - e10));
            let digits = i64::try_from(scaled.floor_scaled(0)).unwrap_or(i64::MAX);
            if digits >= 1000 {
                e10 += 1;
            } else if digits < 100 {
                e10 -= 1;
            } else {
                let sign = if self.num < IBig::ZERO { "-" } else { "" };
                let text = format!("{}.{:02}", digits / 100, digits % 100);
                let text = text.trim_end_matches('0').trim_end_matches('.');
                return match e10 {
                    0 => format!("{sign}{text}"),
                    _ => format!("{sign}{text}e{e10}"),
                };
            }
        }
    }
}

fn infinite<N: Number>(negative: bool) -> N {
    let one = N::from(1_u8);
    let infinity = one / N::default();
    if negative { -infinity } else { infinity }
}

impl PartialEq for Rational {
    fn eq(&self, o: &Self) -> bool {
        self.cmp(o) == Ordering::Equal
    }
}
impl Eq for Rational {}
impl PartialOrd for Rational {
    fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}
impl Ord for Rational {
    fn cmp(&self, o: &Self) -> Ordering {
        // The signs decide most comparisons, among them those with 0.
        let sign = |n: &IBig| n.cmp(&IBig::ZERO);
        match sign(&self.num).cmp(&sign(&o.num)) {
            Ordering::Equal if self.den == o.den => self.num.cmp(&o.num),
            Ordering::Equal => (&self.num * IBig::from(o.den.clone())).cmp(&(&o.num * IBig::from(self.den.clone()))),
            unequal => unequal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Rational {
        text.parse::<crate::Decimal>().unwrap().to_rational()
    }

    #[test]
    fn rounds_as_the_standard_library_parses() {
        let mut texts: Vec<String> = [
            "0",
            "1",
            "-0.75",
            "0.1",
            "1e-400",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e309",
            "-1e309",
            "3.4028235e38",
            "3.4028236e38",
            "1e-45",
            "7.0064923216240853e-46",
            "7.0064923216240854e-46",
            "1.00000005960464477539062500",
            "1.00000005960464477539062501",
            "1.00000017881393432617187500",
            "9007199254740993",
            "9007199254740992.99999",
            "16777217",
            "-1.401155189093314712",
            "-0.743643887037158704752191506114774",
            "1.1754943e-38",
            "1.17549429e-38",
        ]
        .map(str::to_owned)
        .to_vec();
        let mut state = 5_u64;
        for _ in 0..3000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let e = i64::try_from(state % 700).unwrap() - 350;
            texts.push(format!("{}.{}e{e}", state >> 60, state >> 8));
        }
        for text in texts {
            let exact = decimal(&text);
            assert_eq!(exact.round::<f64>().to_bits(), (text.parse::<f64>().unwrap() + 0.0).to_bits(), "{text}");
            assert_eq!(exact.round::<f32>().to_bits(), (text.parse::<f32>().unwrap() + 0.0).to_bits(), "{text}");
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        let (a, b) = (decimal("-0.75"), decimal("1.5"));
        assert_eq!(a.plus(&b), decimal("0.75"));
        assert_eq!(a.minus(&b), decimal("-2.25"));
        assert_eq!(a.times(&b), decimal("-1.125"));
        assert_eq!(a.over(&b), decimal("-0.5"));
        assert_eq!(b.over(&a), decimal("-2"));
        assert!(a < b && a.magnitude() > decimal("0.7"));
        assert_eq!(Rational::from_f64(0.1), decimal("0.1000000000000000055511151231257827021181583404541015625"));
        assert_eq!(Rational::from_f64(-5e-324).round::<f64>(), -5e-324);
        assert_eq!(a.floor_scaled(1), IBig::from(-2));
        assert!(a.is_whole_scaled(2) && !a.is_whole_scaled(1));
    }

    #[test]
    fn scientific_text_has_three_truncated_digits() {
        assert_eq!(decimal("0.0000372").scientific(), "3.72e-5");
        assert_eq!(decimal("-1").scientific(), "-1");
        assert_eq!(decimal("999.9").scientific(), "9.99e2");
        assert_eq!(decimal("1e-8000").scientific(), "1e-8000");
        assert_eq!(decimal("0").scientific(), "0");
    }
}
