//! Correct rounding of the values origin + k step for many integers k.
//!
//! Each value is first computed in fixed point with guard bits, as an interval that contains the exact value. If both
//! ends of the interval round to the same number, that number is the value rounded (Ziv's strategy): with 128-bit integers
//! first, then with more bits. Otherwise the value is near the midpoint of two numbers, and the side of the midpoint on which
//! it lies decides.
//!
//! A side can depend on the last of two million digits, so it must not be computed with all digits for every k. The
//! midpoints m(k) of a *run*, of successive undecided k, lie on a line themselves: m is affine in k. Then so is the
//! difference origin + k step - m(k), which has one zero, and a few operations with all digits give the sides of the
//! whole run. That m is affine is not assumed but checked, exactly; where it is not, a new run begins. Few runs are
//! needed: on an undecided k, m(k) differs from origin + k step by at most the width w of the interval, so two slopes
//! of m differ by at most 4 w. They are multiples of u / 2^32 divided by up to 2^32, where u is half the distance of
//! two numbers near a value of at least a quarter of the step, and 4 w is less than u / 2^64. So all slopes are equal,
//! except at the at most two k whose values are nearer to 0.

mod narrow;

use crate::base::error::InputError;
use crate::base::limits::resize;
use crate::exact::rational::Rational;
use crate::exact::trig::Real;
use dashu_int::IBig;
use dwell_kernels::Number;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

/// Bits of the first interval below the leading bit of the smallest value: its own significand, the 32 of k, and 64
/// guard bits.
const FIRST_BITS: i64 = 160;

/// The value origin + k(i) step for each i from 0 to `count` - 1, correctly rounded. The integer k(i) is affine in i and
/// less than 2^32 in absolute value.
///
/// # Errors
/// When the allocation of the values fails.
pub(super) fn rounded<N: Number>(
    origin: &Rational,
    step: &Real,
    count: u32,
    k: impl Fn(u32) -> i64,
) -> Result<Vec<N>, InputError> {
    // The smallest value is about one step, unless the origin is so much larger (any image is less than 2^34 half steps
    // wide) that no value is near 0.
    let step_log2 = step.about_log2().unwrap_or(0);
    let smallest = origin.floor_log2().filter(|o| *o > step_log2 + 36).unwrap_or(step_log2);
    let line = Line { origin, step };
    let most = k(0).unsigned_abs().max(k(count.saturating_sub(1)).unsigned_abs());
    let narrow = narrow::Intervals::new(&line, most);
    let intervals = line.intervals(FIRST_BITS - smallest);
    let mut values = Vec::new();
    resize(&mut values, count as usize, N::default(), "the coordinates")?;
    let mut undecided: Option<RangeInclusive<u32>> = None;
    for (i, value) in (0..count).zip(&mut values) {
        if let Some(number) = narrow.as_ref().and_then(|narrow| narrow.at(k(i))) {
            *value = number;
            continue;
        }
        match intervals.at(k(i)) {
            Rounding::Decided(number) => *value = number,
            Rounding::Between(..) => {
                undecided = Some(undecided.map_or(i, |range| *range.start())..=i);
            }
        }
    }
    let mut run: Option<Run> = None;
    for i in undecided.into_iter().flatten() {
        let Rounding::Between(low, high) = intervals.at::<N>(k(i)) else { continue };
        let Some(midpoint) = midpoint(low, high) else {
            values[i as usize] = line.value(k(i));
            continue;
        };
        if run.as_mut().is_some_and(|run| run.takes(i, k(i), &midpoint)) {
            continue;
        }
        if let Some(run) = run.replace(Run::new(i, k(i), midpoint)) {
            run.decide(&line, &intervals, &k, &mut values);
        }
    }
    if let Some(run) = run {
        run.decide(&line, &intervals, &k, &mut values);
    }
    Ok(values)
}

/// The line origin + k step.
struct Line<'a> {
    origin: &'a Rational,
    step: &'a Real,
}

impl Line<'_> {
    /// Its intervals in units of 2^-bits.
    fn intervals(&self, bits: i64) -> Intervals {
        Intervals { bits, origin: self.origin.enclose_scaled(bits), step: self.step.enclose_scaled(bits) }
    }

    /// Its intervals with more bits each time, first with [`FIRST_BITS`] below the leading bit of the step, since the value
    /// is about as near to a midpoint as the step is small, or nearer.
    fn finer_intervals(&self) -> impl Iterator<Item = Intervals> {
        let step_log2 = self.step.about_log2().unwrap_or(0);
        let bits = std::iter::successors(Some(FIRST_BITS), |bits| bits.checked_mul(2));
        bits.map(move |bits| self.intervals(bits - step_log2))
    }

    /// The value at one k, with as many digits as it takes.
    fn value<N: Number>(&self, k: i64) -> N {
        match self.step {
            _ if k == 0 => self.origin.round(),
            Real::Rational(step) => self.origin.plus(&step.times_whole(k)).round(),
            Real::Cosine { .. } => {
                // The value is irrational, so it is not the midpoint of two numbers, and enough bits always decide.
                let mut numbers = self.finer_intervals().filter_map(|intervals| match intervals.at(k) {
                    Rounding::Decided(number) => Some(number),
                    Rounding::Between(..) => None,
                });
                numbers.next().unwrap_or_default()
            }
        }
    }
}

/// Intervals of origin and step in units of 2^-bits, from which origin + k step is computed as an interval.
struct Intervals {
    bits: i64,
    origin: (IBig, IBig),
    step: (IBig, IBig),
}

/// A value after rounding both ends of its interval.
enum Rounding<N> {
    Decided(N),
    /// The interval contains at least one midpoint between these two numbers.
    Between(N, N),
}

impl Intervals {
    /// The interval of origin + k step.
    fn ends(&self, k: i64) -> (IBig, IBig) {
        let (low, high) = if k >= 0 { (&self.step.0, &self.step.1) } else { (&self.step.1, &self.step.0) };
        (&self.origin.0 + low * IBig::from(k), &self.origin.1 + high * IBig::from(k))
    }

    fn at<N: Number>(&self, k: i64) -> Rounding<N> {
        let (low, high) = self.ends(k);
        let (low, high): (N, N) = (Rational::round_dyadic(&low, -self.bits), Rational::round_dyadic(&high, -self.bits));
        if low == high { Rounding::Decided(low) } else { Rounding::Between(low, high) }
    }
}

/// The midpoint of two numbers, if they are finite and neighbours.
fn midpoint<N: Number>(low: N, high: N) -> Option<Rational> {
    if !(low.to_f64().is_finite() && high.to_f64().is_finite()) {
        return None;
    }
    let [exact_low, exact_high] = [low, high].map(|number| Rational::from_f64(number.to_f64()));
    let midpoint = exact_low.plus(&exact_high).scaled_by_power_of_two(-1);
    // Any number between the two would be nearer to the midpoint than both.
    let nearest: N = midpoint.round();
    (nearest == low || nearest == high).then_some(midpoint)
}

/// Successive undecided values whose midpoints are on a line.
struct Run {
    first: (u32, i64),
    last: (u32, i64),
    midpoint: Rational,
    /// The change of the midpoint from one k to the next, once there are two values.
    slope: Option<Rational>,
}

impl Run {
    fn new(i: u32, k: i64, midpoint: Rational) -> Self {
        Self { first: (i, k), last: (i, k), midpoint, slope: None }
    }

    /// Adds a value if its midpoint is on the line.
    fn takes(&mut self, i: u32, k: i64, midpoint: &Rational) -> bool {
        let (rise, width) = (midpoint.minus(&self.midpoint), k - self.first.1);
        match &self.slope {
            None => self.slope = Some(rise.over(&Rational::whole(width))),
            Some(slope) if slope.times_whole(width) != rise => return false,
            Some(_) => {}
        }
        self.last = (i, k);
        true
    }

    /// Decides its values.
    fn decide<N: Number>(self, line: &Line<'_>, intervals: &Intervals, k: &impl Fn(u32) -> i64, values: &mut [N]) {
        let Some(slope) = &self.slope else {
            values[self.first.0 as usize] = line.value(self.first.1);
            return;
        };
        // The midpoint at k = 0.
        let at_zero = self.midpoint.minus(&slope.times_whole(self.first.1));
        let ks = self.first.1.min(self.last.1)..=self.first.1.max(self.last.1);
        let sides = line.sides(&at_zero, slope, ks);
        for i in self.first.0..=self.last.0 {
            let Rounding::Between(low, high) = intervals.at(k(i)) else { continue };
            let Some(midpoint) = midpoint(low, high) else { continue };
            values[i as usize] = match sides.at(k(i)) {
                Ordering::Less => low,
                Ordering::Equal => midpoint.round(),
                Ordering::Greater => high,
            };
        }
    }
}

/// The sign of an affine function of k.
#[derive(Debug, PartialEq)]
enum Sides {
    Everywhere(Ordering),
    /// The function has a zero at `whole`, or between `whole` and `whole` + 1.
    Change {
        whole: i64,
        /// Whether the zero is at `whole`.
        exact: bool,
        /// The sign after the zero.
        after: Ordering,
    },
}

impl Sides {
    fn at(&self, k: i64) -> Ordering {
        match *self {
            Self::Everywhere(sign) => sign,
            Self::Change { whole, exact, after } => match k.cmp(&whole) {
                Ordering::Equal if exact => Ordering::Equal,
                Ordering::Greater => after,
                Ordering::Equal | Ordering::Less => after.reverse(),
            },
        }
    }
}

impl Line<'_> {
    /// The sign of origin + k step - (`at_zero` + k `slope`), for k in `ks`.
    fn sides(&self, at_zero: &Rational, slope: &Rational, ks: RangeInclusive<i64>) -> Sides {
        let constant = self.origin.minus(at_zero);
        let sign = |value: &Rational| value.cmp(&Rational::whole(0));
        match self.step {
            Real::Rational(step) => {
                let factor = step.minus(slope);
                if factor.is_zero() {
                    return Sides::Everywhere(sign(&constant));
                }
                let (low, high) = constant.negated().over(&factor).enclose_scaled(0);
                let beyond = if low > IBig::ZERO { i64::MAX } else { i64::MIN };
                let whole = i64::try_from(&low).unwrap_or(beyond);
                Sides::Change { whole, exact: low == high, after: sign(&factor) }
            }
            Real::Cosine { .. } => {
                let mut sides = self.finer_intervals().filter_map(|intervals| {
                    let bits = intervals.bits;
                    let (at_zero, slope) = (at_zero.enclose_scaled(bits), slope.enclose_scaled(bits));
                    let difference = Intervals {
                        bits,
                        origin: (intervals.origin.0 - at_zero.1, intervals.origin.1 - at_zero.0),
                        step: (intervals.step.0 - slope.1, intervals.step.1 - slope.0),
                    };
                    // The difference is irrational, so not 0, except at k = 0, where it is `constant`.
                    let sign_at = |k: i64| match difference.ends(k) {
                        _ if k == 0 => Some(sign(&constant)),
                        (low, _) if low > IBig::ZERO => Some(Ordering::Greater),
                        (_, high) if high < IBig::ZERO => Some(Ordering::Less),
                        _ => None,
                    };
                    bisected(ks.clone(), sign_at)
                });
                sides.next().unwrap_or(Sides::Everywhere(sign(&constant)))
            }
        }
    }
}

/// The sign of an affine function in a range, found by bisection; `None` where a sign that is needed is not known. The
/// function is not 0 in the whole range.
fn bisected(ks: RangeInclusive<i64>, sign_at: impl Fn(i64) -> Option<Ordering>) -> Option<Sides> {
    let (mut low, mut high) = ks.into_inner();
    let (first, last) = (sign_at(low)?, sign_at(high)?);
    let exact = |whole: i64, after: Ordering| Some(Sides::Change { whole, exact: true, after });
    match (first, last) {
        (Ordering::Equal, after) => return exact(low, after),
        (before, Ordering::Equal) => return exact(high, before.reverse()),
        (first, last) if first == last => return Some(Sides::Everywhere(first)),
        _ => {}
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match sign_at(middle)? {
            Ordering::Equal => return exact(middle, last),
            sign if sign == first => low = middle,
            _ => high = middle,
        }
    }
    Some(Sides::Change { whole: low, exact: false, after: last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;
    use crate::exact::trig::Direction;

    fn number(text: &str) -> Rational {
        text.parse::<Decimal>().unwrap().to_rational()
    }

    /// Half of the distance of f64 from 1 to the next number: 1 + HALF is a midpoint.
    fn half_ulp() -> Rational {
        Rational::whole(1).scaled_by_power_of_two(-53)
    }

    #[test]
    fn values_near_midpoints_are_rounded_as_one_by_one() {
        let tiny = |exponent: i64, digit: i64| Rational::decimal(IBig::from(digit), -exponent);
        let midpoint = Rational::whole(1).plus(&half_ulp());
        let step = |ulps: i64| half_ulp().times_whole(2 * ulps);
        for exponent in [40, 60, 300, 3000] {
            for digit in [-1, 0, 1] {
                for (step, name) in [
                    (step(1), "every value as near"),
                    (step(3).plus(&tiny(exponent + 3, -7)), "the side changes"),
                    (step(1).plus(&tiny(exponent + 1, -1)), "the side changes, and one is a midpoint"),
                    (half_ulp().over(&Rational::whole(3)), "every third"),
                    (tiny(exponent + 9, 3), "all at one midpoint"),
                ] {
                    let origin = midpoint.plus(&tiny(exponent, digit));
                    for k in [|i: u32| 2 * i64::from(i) - 41, |i: u32| 20 - i64::from(i)] {
                        let found: Vec<f64> = rounded(&origin, &Real::Rational(step.clone()), 42, k).unwrap();
                        for (i, found) in (0..42).zip(found) {
                            let expected: f64 = origin.plus(&step.times_whole(k(i))).round();
                            assert_eq!(found.to_bits(), expected.to_bits(), "{name}, 1e-{exponent}, {digit}, {i}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn irrational_values_near_midpoints_are_rounded_as_one_by_one() {
        let midpoint = Rational::whole(1).plus(&half_ulp());
        let direction = Direction::new(&number("12.5"));
        for exponent in [300, 2000] {
            for (shift, factor) in [("0", "1"), ("3.7", "-1"), ("-9.2", "1"), ("1e9", "1")] {
                let scale = Rational::decimal(IBig::ONE, -exponent);
                let origin = midpoint.plus(&number(shift).times(&scale));
                let step = direction.cosine_times(&number(factor).times(&scale));
                let k = |i: u32| i64::from(i) - 20;
                let found: Vec<f64> = rounded(&origin, &step, 41, k).unwrap();
                let line = Line { origin: &origin, step: &step };
                for (i, found) in (0..41).zip(found) {
                    assert_eq!(found.to_bits(), line.value::<f64>(k(i)).to_bits(), "1e-{exponent}, {shift}, {i}");
                }
            }
        }
    }

    #[test]
    fn signs_of_affine_functions_are_found() {
        let sides = |a: i64, b: i64| bisected(-10..=10, |k| Some((a + b * k).cmp(&0))).unwrap();
        for (a, b) in [(1, 0), (-1, 0), (0, 1), (0, -3), (7, 2), (-6, 2), (10, 1), (-10, 1), (99, 1), (5, -10)] {
            for k in -10..=10 {
                assert_eq!(sides(a, b).at(k), (a + b * k).cmp(&0), "{a} + {b} {k}");
            }
        }
        assert_eq!(bisected(-1..=1, |_| None), None);
    }

    #[test]
    fn numbers_beyond_the_range_are_rounded() {
        let line = |origin: &str, step: &str| -> Vec<f64> {
            rounded(&number(origin), &Real::Rational(number(step)), 3, |i| i64::from(i) - 1).unwrap()
        };
        assert_eq!(line("1e400", "1"), [f64::INFINITY; 3]);
        assert_eq!(line("-1", "1e1000000"), [f64::NEG_INFINITY, -1.0, f64::INFINITY]);
        assert_eq!(line("0", "1e-1000000"), [0.0; 3]);
        assert_eq!(line("1e-900000", "1e-1000000"), [0.0; 3]);
        // Halfway between the largest number and the next power of two, and just below.
        let half =
            Rational::whole(1).scaled_by_power_of_two(1024).minus(&Rational::whole(1).scaled_by_power_of_two(970));
        let step = Real::Rational(number("1e-400"));
        let found: Vec<f64> = rounded(&half, &step, 3, |i| i64::from(i) - 1).unwrap();
        assert_eq!(found, [f64::MAX, f64::INFINITY, f64::INFINITY]);
    }
}
