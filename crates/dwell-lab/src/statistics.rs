//! Statistics of samples: order statistics, distribution-free intervals of a median, geometric means and fitted exponents.
//!
//! Times of runs have no known distribution, and a few samples are disturbed by other programs. So medians stand for them,
//! and intervals of medians come from the binomial distribution of the ranks, which holds for every distribution.

/// The level of confidence that intervals reach where there are enough samples (6 or more).
pub const LEVEL: f64 = 0.95;
/// Relative noise that is assumed of a figure that comes from one sample, whose own noise is unknown.
pub const ASSUMED_NOISE: f64 = 0.1;
/// Samples from which the ranks of an interval are computed with the normal distribution: 2^-n is 0 for more than 1,074.
const MANY: usize = 1000;

/// Order statistics of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The number of samples.
    pub count: usize,
    /// The least.
    pub minimum: f64,
    /// A quarter of the samples is below it (interpolated linearly).
    pub lower_quartile: f64,
    /// Half of the samples is below it.
    pub median: f64,
    /// Three quarters of the samples are below it.
    pub upper_quartile: f64,
    /// The greatest.
    pub maximum: f64,
    /// The arithmetic mean.
    pub mean: f64,
}

impl Summary {
    /// The summary of samples; none if there are none or one is not finite.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        let sorted = sorted(samples)?;
        Some(Self {
            count: sorted.len(),
            minimum: sorted[0],
            lower_quartile: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            upper_quartile: quantile(&sorted, 0.75),
            maximum: sorted[sorted.len() - 1],
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
        })
    }
}

/// The samples in ascending order; none if there are none or one is not finite.
fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || samples.iter().any(|sample| !sample.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

/// A quantile of ascending samples, interpolated linearly between the ranks 0 and n - 1. `share` is 0 to 1.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = share * (sorted.len() - 1) as f64;
    let below = rank as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (rank - below as f64) * (sorted[above] - sorted[below])
}

/// A value with an interval that contains it with a probability of at least `level`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The level of confidence: 0 for one sample, 1 for an exact value.
    pub level: f64,
    /// The least number of samples behind it; 0 for an exact value.
    pub samples: usize,
}

impl Estimate {
    /// A value that is computed, not measured.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value, level: 1.0, samples: 0 }
    }

    /// The median of samples with its distribution-free interval: from the k-th least to the k-th greatest sample, with the
    /// greatest k that reaches [`LEVEL`]. Fewer than 6 samples do not reach it: the interval then is that of all samples,
    /// with the level 1 - 2^(1 - n). None if there are no samples or one is not finite.
    #[must_use]
    pub fn median(samples: &[f64]) -> Option<Self> {
        let sorted = sorted(samples)?;
        let (rank, level) = ranks(sorted.len());
        Some(Self {
            value: quantile(&sorted, 0.5),
            low: sorted[rank],
            high: sorted[sorted.len() - 1 - rank],
            level,
            samples: sorted.len(),
        })
    }

    /// This value over another one, where both are above 0 and their samples are no pairs: the interval spans the extreme
    /// quotients. It contains the quotient if both intervals contain their values.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        Self {
            value: self.value / other.value,
            low: self.low / other.high,
            high: self.high / other.low,
            level: (self.level + other.level - 1.0).max(0.0),
            samples: fewest(self.samples, other.samples),
        }
    }

    /// The interval for decisions: a single sample says nothing of its noise, so [`ASSUMED_NOISE`] is assumed.
    #[must_use]
    pub fn widened(self) -> Self {
        if self.samples != 1 {
            return self;
        }
        let noise = ASSUMED_NOISE * self.value.abs();
        Self { low: self.low - noise, high: self.high + noise, ..self }
    }

    /// The value in another unit: `factor` is above 0.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor, ..self }
    }

    /// `amount` over this value, which is above 0: a rate from a time.
    #[must_use]
    pub fn rate_of(self, amount: f64) -> Self {
        Self { value: amount / self.value, low: amount / self.high, high: amount / self.low, ..self }
    }
}

/// The lesser of two numbers of samples, where 0 stands for an exact value.
fn fewest(a: usize, b: usize) -> usize {
    if a == 0 || b == 0 { a.max(b) } else { a.min(b) }
}

/// The rank, from 0, of the lower end of the interval of the median of `count` samples, and its level.
fn ranks(count: usize) -> (usize, f64) {
    if count > MANY {
        // Half the ranks less 1.96 standard deviations, which are sqrt(n) / 2.
        let n = count as f64;
        return ((n / 2.0 - 0.98 * n.sqrt()) as usize, LEVEL);
    }
    // The probability that fewer than k of n samples are below the median, for k = 1, 2, ...
    let mut term = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = term;
    let (mut rank, mut level) = (0, 1.0 - 2.0 * below);
    for i in 1..=count / 2 {
        term *= (count + 1 - i) as f64 / i as f64;
        below += term;
        if 1.0 - 2.0 * below < LEVEL {
            break;
        }
        (rank, level) = (i, 1.0 - 2.0 * below);
    }
    (rank, level.max(0.0))
}

/// The geometric mean of values above 0. Its interval spans the geometric means of the lower and of the upper ends, which is
/// wider than that of independent errors. None without values, or if one is not above 0.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "statistics of times: no pixel depends on them")]
pub fn geometric_mean(values: &[Estimate]) -> Option<Estimate> {
    if values.is_empty() || values.iter().any(|one| !(one.low > 0.0 && one.high.is_finite())) {
        return None;
    }
    let mean = |of: fn(&Estimate) -> f64| {
        let sum: f64 = values.iter().map(|one| of(one).ln()).sum();
        (sum / values.len() as f64).exp()
    };
    Some(Estimate {
        value: mean(|one| one.value),
        low: mean(|one| one.low),
        high: mean(|one| one.high),
        level: values.iter().map(|one| one.level).fold(1.0, f64::min),
        samples: values.iter().map(|one| one.samples).fold(0, fewest),
    })
}

/// An exponent that was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponent {
    /// The exponent, with its 95 % interval from the distribution of Student; for two points, from the intervals of both.
    pub estimate: Estimate,
    /// The standard error of the exponent; none for two points.
    pub standard_error: Option<f64>,
    /// The number of points.
    pub points: usize,
}

/// The exponent e of y = constant * x^e by least squares in logarithms. None for fewer than two different x, or values that
/// are not above 0.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "statistics of times: no pixel depends on them")]
pub fn exponent(points: &[(f64, Estimate)]) -> Option<Exponent> {
    let usable = |(x, y): &(f64, Estimate)| *x > 0.0 && x.is_finite() && y.low > 0.0 && y.high.is_finite();
    if points.len() < 2 || !points.iter().all(usable) {
        return None;
    }
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.value.ln())).collect();
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if squares <= 0.0 {
        return None;
    }
    let slope = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / squares;
    let samples = points.iter().map(|(_, y)| y.samples).fold(0, fewest);
    let estimate = |low, high, level| Estimate { value: slope, low, high, level, samples };
    if let [(x0, y0), (x1, y1)] = points {
        let distance = x1.ln() - x0.ln();
        let ends = [(y1.low / y0.high).ln() / distance, (y1.high / y0.low).ln() / distance];
        let estimate = estimate(ends[0].min(ends[1]), ends[0].max(ends[1]), y0.over(*y1).level);
        return Some(Exponent { estimate, standard_error: None, points: 2 });
    }
    let residues: f64 = logs.iter().map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
    let error = (residues / (n - 2.0) / squares).sqrt();
    let reach = student(points.len() - 2) * error;
    let estimate = Estimate { samples: samples.max(2), ..estimate(slope - reach, slope + reach, LEVEL) };
    Some(Exponent { estimate, standard_error: Some(error), points: points.len() })
}

/// The 97.5 % quantile of Student's distribution; from 10 degrees of freedom by the first terms of its expansion in their
/// reciprocal, within 0.003.
fn student(freedom: usize) -> f64 {
    const FEW: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    let reciprocal = 1.0 / freedom as f64;
    FEW.get(freedom.wrapping_sub(1)).copied().unwrap_or(1.96 + reciprocal * (2.372 + reciprocal * 2.823))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn a_summary_has_interpolated_quartiles() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        let expected = Summary {
            count: 4,
            minimum: 1.0,
            lower_quartile: 1.75,
            median: 2.5,
            upper_quartile: 3.25,
            maximum: 4.0,
            mean: 2.5,
        };
        assert_eq!(summary, expected);
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[7.0]).unwrap().upper_quartile, 7.0);
    }

    #[test]
    fn intervals_of_medians_have_the_ranks_of_the_binomial_table() {
        // Table of the sign test: n = 5 has no 95 % interval, 6..8 take the extremes, 9 the second, 20 the sixth.
        for (count, rank, level) in [
            (1, 0, 0.0),
            (2, 0, 0.5),
            (5, 0, 0.9375),
            (6, 0, 0.96875),
            (8, 0, 0.9921875),
            (9, 1, 0.9609375),
            (10, 1, 0.978515625),
            (20, 5, 0.958610534668),
        ] {
            let found = ranks(count);
            assert_eq!(found.0, rank, "{count}");
            assert!(near(found.1, level), "{count}: {}", found.1);
        }
        // The normal distribution gives the same rank within one where both apply.
        assert!(ranks(1000).0.abs_diff((500.0_f64 - 0.98 * 1000.0_f64.sqrt()) as usize) <= 1);
        assert_eq!(ranks(4000).0, 1938);
        let samples: Vec<f64> = (1..=10).map(f64::from).collect();
        let median = Estimate::median(&samples).unwrap();
        assert_eq!((median.value, median.low, median.high, median.samples), (5.5, 2.0, 9.0, 10));
    }

    #[test]
    fn one_sample_is_widened_and_more_are_not() {
        let one = Estimate::median(&[2.0]).unwrap();
        assert_eq!((one.low, one.high, one.level), (2.0, 2.0, 0.0));
        assert!(near(one.widened().low, 1.8) && near(one.widened().high, 2.2));
        let two = Estimate::median(&[2.0, 2.5]).unwrap();
        assert_eq!(two.widened(), two);
        assert_eq!(Estimate::exact(3.0).widened(), Estimate::exact(3.0));
    }

    #[test]
    fn quotients_span_the_extremes() {
        let a = Estimate { value: 10.0, low: 8.0, high: 12.0, level: 0.96, samples: 10 };
        let b = Estimate { value: 5.0, low: 4.0, high: 6.0, level: 0.97, samples: 7 };
        let quotient = a.over(b);
        assert!(near(quotient.value, 2.0) && near(quotient.low, 8.0 / 6.0) && near(quotient.high, 3.0));
        assert!(near(quotient.level, 0.93));
        assert_eq!(quotient.samples, 7);
        assert_eq!(a.over(Estimate::exact(2.0)).samples, 10);
        let rate = a.rate_of(120.0);
        assert_eq!((rate.value, rate.low, rate.high), (12.0, 10.0, 15.0));
    }

    #[test]
    fn geometric_means_are_roots_of_products() {
        let mean = geometric_mean(&[1.0, 2.0, 4.0].map(Estimate::exact)).unwrap();
        assert!(near(mean.value, 2.0) && near(mean.low, 2.0));
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[Estimate::exact(0.0)]), None);
    }

    #[test]
    fn exponents_are_fitted_with_their_error() {
        let cube: Vec<_> = [1.0, 2.0, 3.0, 5.0].map(|x: f64| (x, Estimate::exact(7.0 * x.powi(3)))).to_vec();
        let fit = exponent(&cube).unwrap();
        assert!(near(fit.estimate.value, 3.0) && fit.standard_error.unwrap() < 1e-12);
        // x = 1, e, e^2 and ln y = 0, 1, 1: slope 1/2, residues -1/6, 1/3, -1/6, error sqrt(1/6 / 1 / 2).
        let e = std::f64::consts::E;
        let bent = [(1.0, 1.0), (e, e), (e * e, e)].map(|(x, y)| (x, Estimate::exact(y)));
        let fit = exponent(&bent).unwrap();
        assert!(near(fit.estimate.value, 0.5) && near(fit.standard_error.unwrap(), (1.0_f64 / 12.0).sqrt()));
        assert!(near(fit.estimate.high, 0.5 + 12.706 * (1.0_f64 / 12.0).sqrt()));
        let two = exponent(&[
            (1.0, Estimate { value: 1.0, low: 0.5, high: 2.0, level: 0.96, samples: 9 }),
            (4.0, Estimate { value: 4.0, low: 2.0, high: 8.0, level: 0.96, samples: 9 }),
        ])
        .unwrap();
        assert!(near(two.estimate.value, 1.0) && near(two.estimate.low, 0.0) && near(two.estimate.high, 2.0));
        assert_eq!(exponent(&[(1.0, Estimate::exact(1.0))]), None);
        assert_eq!(exponent(&[(2.0, Estimate::exact(1.0)), (2.0, Estimate::exact(3.0))]), None);
    }

    #[test]
    fn quantiles_of_student_are_those_of_the_table() {
        for (freedom, expected) in [(1, 12.706), (9, 2.262), (10, 2.228), (30, 2.042), (1000, 1.962)] {
            assert!((student(freedom) - expected).abs() < 0.003, "{freedom}");
        }
    }
}
