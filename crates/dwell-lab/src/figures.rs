//! Figures of a run: what a variant reached at a point, in each unit, with its spread, and what was published for it.

use crate::experiment::{Extent, Point, Published, Series, Unit, Variant, expand};
use crate::record::{Case, ExperimentRun, SampleEntry, Status};
use crate::statistics::{Estimate, Summary};
use std::collections::BTreeMap;

/// A figure with its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The median with its interval.
    pub estimate: Estimate,
    /// The samples.
    pub summary: Summary,
}

impl Figure {
    /// The figure of samples; none if there are none or one is not finite.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        Some(Self { estimate: Estimate::median(samples)?, summary: Summary::of(samples)? })
    }
}

/// A series of a run, with its cases by point and variant.
pub struct SeriesFigures<'a> {
    /// The series.
    pub series: &'a Series,
    /// The points at which there are cases, in the order of the run.
    pub points: Vec<&'a Point>,
    /// The points of the whole sweep, for which figures were published.
    whole: Vec<Point>,
    cases: BTreeMap<(&'a Point, &'a str), &'a Case>,
    peaks: &'a BTreeMap<String, f64>,
}

impl<'a> SeriesFigures<'a> {
    /// The cases of a series of a run.
    #[must_use]
    pub fn new(run: &'a ExperimentRun, series: &'a Series) -> Self {
        let mut points: Vec<&Point> = Vec::new();
        let mut cases = BTreeMap::new();
        let mut seen = std::collections::BTreeSet::new();
        for case in run.cases.iter().filter(|case| case.entry.series == series.name) {
            if seen.insert(&case.entry.point) {
                points.push(&case.entry.point);
            }
            cases.insert((&case.entry.point, case.entry.variant.as_str()), case);
        }
        // A malformed range is refused when the experiment is read.
        let whole = expand(series, Extent::Whole).unwrap_or_default();
        Self { series, points, whole, cases, peaks: &run.peaks }
    }

    /// The points of the whole sweep.
    #[must_use]
    pub fn whole(&self) -> &[Point] {
        &self.whole
    }

    /// A variant of the series by its name.
    #[must_use]
    pub fn variant(&self, name: &str) -> Option<&'a Variant> {
        self.series.variants.iter().find(|variant| variant.name == name)
    }

    /// The variant that ratios refer to.
    #[must_use]
    pub fn baseline(&self) -> Option<&'a Variant> {
        match &self.series.baseline {
            Some(name) => self.variant(name),
            None => self.series.variants.first(),
        }
    }

    /// The case of a variant at a point.
    #[must_use]
    pub fn case(&self, point: &Point, variant: &str) -> Option<&'a Case> {
        self.cases.get(&(point, variant)).copied()
    }

    /// The case of a variant at a point if it has a time, or why it has none.
    ///
    /// # Errors
    /// When the variant was not run, failed, gave wrong counts or has no sample.
    pub fn timed(&self, point: &Point, variant: &str) -> Result<&'a Case, String> {
        let case = self.case(point, variant).ok_or("it was not begun: the run was interrupted or is a part")?;
        match &case.entry.status {
            Status::NotRun { why } => Err(format!("not run: {why}")),
            Status::Failed { why } => Err(format!("failed: {why}")),
            Status::Wrong { why, .. } => Err(format!("wrong counts: {why}")),
            _ if case.samples.is_empty() => {
                Err("no sample was taken: the run was interrupted or is a check".to_owned())
            }
            _ => Ok(case),
        }
    }

    /// The seconds of each sample of a variant at a point, with its round.
    ///
    /// # Errors
    /// When there is no time.
    pub fn rounds(&self, point: &Point, variant: &Variant) -> Result<Vec<(u32, f64)>, String> {
        let case = self.timed(point, &variant.name)?;
        let mut rounds = Vec::with_capacity(case.samples.len());
        for sample in &case.samples {
            rounds.push((sample.round, seconds(sample, &variant.time)?));
        }
        Ok(rounds)
    }

    /// How many times as fast `of` is as `to` at a point, by the samples of the same rounds.
    ///
    /// # Errors
    /// When one of them has no time or there is no pair.
    pub fn ratio(&self, point: &Point, of: &Variant, to: &Variant) -> Result<Figure, String> {
        let faster = self.rounds(point, of).map_err(|why| format!("{}: {why}", of.name))?;
        let slower: BTreeMap<u32, f64> =
            self.rounds(point, to).map_err(|why| format!("{}: {why}", to.name))?.into_iter().collect();
        let ratios: Vec<f64> =
            faster.iter().filter_map(|(round, time)| slower.get(round).map(|other| other / time)).collect();
        Figure::of(&ratios).ok_or_else(|| format!("{} and {} have no sample of the same round", of.name, to.name))
    }

    /// A variant's figure at a point.
    ///
    /// # Errors
    /// When there is none, with the reason.
    pub fn figure(&self, point: &Point, variant: &Variant, unit: Unit) -> Result<Figure, String> {
        let case = self.timed(point, &variant.name)?;
        let amount = match unit {
            Unit::SpeedUp => {
                let baseline = self.baseline().ok_or("the series has no baseline")?;
                return self.ratio(point, variant, baseline);
            }
            Unit::Seconds => None,
            Unit::MegapixelsPerSecond => Some(case.entry.pixels as f64 * 1e-6),
            Unit::GigaiterationsPerSecond => Some(case.entry.iterations as f64 * 1e-9),
            Unit::PeakShare => Some(case.entry.iterations as f64 / self.peak(case)?),
            Unit::Efficiency => Some(self.single_thread(point, variant)? / threads(case)?),
        };
        let times = self.rounds(point, variant)?;
        let samples: Vec<f64> = times.iter().map(|(_, time)| amount.map_or(*time, |amount| amount / time)).collect();
        Figure::of(&samples).ok_or_else(|| "a sample is no finite number".to_owned())
    }

    /// The measured peak of a case, in iterations per second.
    fn peak(&self, case: &Case) -> Result<f64, String> {
        let name = &case.entry.peak;
        let peak = self.peaks.get(name).filter(|peak| **peak > 0.0 && peak.is_finite()).copied();
        peak.ok_or_else(|| match name.as_str() {
            "" => "no peak is defined for it".to_owned(),
            name => format!("the peak {name} was not measured"),
        })
    }

    /// The median of a variant's seconds with one thread and the same other values.
    fn single_thread(&self, point: &Point, variant: &Variant) -> Result<f64, String> {
        let mut single = point.clone();
        let threads = single.get_mut("threads").ok_or("the flag threads is not varied")?;
        "1".clone_into(&mut threads.0);
        let times = self.rounds(&single, variant).map_err(|why| format!("with one thread: {why}"))?;
        let times: Vec<f64> = times.into_iter().map(|(_, time)| time).collect();
        Summary::of(&times).map(|summary| summary.median).ok_or_else(|| "a sample is no finite number".to_owned())
    }

    /// Every published figure of a variant at a point, in its own unit.
    pub fn published(&self, point: &Point, variant: &str) -> impl Iterator<Item = (f64, &'a Published)> {
        // Most variants have no published figures, and the search for the point takes as long as the sweep.
        let has_any = self.series.published.iter().any(|published| published.variant == variant);
        let at = if has_any { self.whole.iter().position(|one| one == point) } else { None };
        self.series.published.iter().filter(move |published| published.variant == variant).filter_map(
            move |published| {
                let value = published.values.get(at?).copied().filter(|value| value.is_finite())?;
                Some((value, published))
            },
        )
    }

    /// The published figure of a variant at a point in a unit: as it was published, or converted with the pixels and
    /// iterations of the field or the published figure of the baseline.
    #[must_use]
    pub fn published_as(&self, point: &Point, variant: &str, unit: Unit) -> Option<f64> {
        let own = self.published(point, variant).find(|(_, published)| published.measure == unit);
        if let Some((value, _)) = own {
            return Some(value);
        }
        let value = match unit {
            Unit::SpeedUp => {
                self.published_seconds(point, &self.baseline()?.name)? / self.published_seconds(point, variant)?
            }
            Unit::Seconds => self.published_seconds(point, variant)?,
            Unit::MegapixelsPerSecond => self.work(point)?.0 / self.published_seconds(point, variant)? * 1e-6,
            Unit::GigaiterationsPerSecond => self.work(point)?.1 / self.published_seconds(point, variant)? * 1e-9,
            Unit::PeakShare | Unit::Efficiency => return None,
        };
        Some(value).filter(|value| value.is_finite() && *value > 0.0)
    }

    /// The published time of a variant at a point, directly or from a rate.
    fn published_seconds(&self, point: &Point, variant: &str) -> Option<f64> {
        self.published(point, variant).find_map(|(value, published)| match published.measure {
            Unit::Seconds => Some(value),
            Unit::MegapixelsPerSecond => Some(self.work(point)?.0 * 1e-6 / value),
            Unit::GigaiterationsPerSecond => Some(self.work(point)?.1 * 1e-9 / value),
            _ => None,
        })
    }

    /// Pixels and iterations at a point: those of the first variant whose field was computed.
    fn work(&self, point: &Point) -> Option<(f64, f64)> {
        let case = self.series.variants.iter().filter_map(|variant| self.case(point, &variant.name));
        case.map(|case| &case.entry).find(|entry| entry.pixels > 0).map(|e| (e.pixels as f64, e.iterations as f64))
    }
}

/// The sum of some of the times of a sample.
///
/// # Errors
/// When one of them is not there.
pub fn seconds(sample: &SampleEntry, names: &[String]) -> Result<f64, String> {
    let times = names
        .iter()
        .map(|name| sample.seconds.get(name).copied().ok_or_else(|| format!("its samples have no time {name}")));
    times.sum()
}

/// The threads of a case: what the run says, or the flag.
fn threads(case: &Case) -> Result<f64, String> {
    let fact = case.entry.facts.get("threads").map(String::as_str);
    let flag = case.entry.flags.get("threads").or_else(|| case.entry.point.get("threads")).map(|text| text.0.as_str());
    let threads = fact.or(flag).and_then(|text| text.parse::<f64>().ok()).filter(|threads| *threads >= 1.0);
    threads.ok_or_else(|| "the number of its threads is unknown".to_owned())
}

/// The number that a value of a flag is on an axis: the number itself, or the pixels of `WIDTHxHEIGHT`.
#[must_use]
pub fn number(value: &str) -> Option<f64> {
    let plain = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    match value.split_once('x') {
        Some((width, height)) => Some(plain(width)? * plain(height)?),
        None => plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Run;
    use crate::report::tests::sample_run;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    /// Gives the samples of a variant, in each case of a series, these seconds.
    fn set(run: &mut Run, series: usize, variant: &str, seconds: impl Fn(&Case) -> Vec<f64>) {
        let experiment = &mut run.experiments[0];
        let name = &experiment.experiment.series[series].name;
        let cases = experiment.cases.iter_mut();
        for case in cases.filter(|case| case.entry.series == *name && case.entry.variant == variant) {
            let seconds = seconds(case);
            case.samples.truncate(seconds.len());
            for (sample, seconds) in case.samples.iter_mut().zip(seconds) {
                sample.seconds.insert("compute".to_owned(), seconds);
            }
        }
    }

    #[test]
    fn ratios_are_those_of_pairs() {
        let mut run = sample_run();
        // The machine is slow in the second round: the ratio of each pair is 2.
        set(&mut run, 0, "naive", |_| vec![2.0, 20.0, 2.2]);
        set(&mut run, 0, "tiles", |_| vec![1.0, 10.0, 1.1]);
        let series = SeriesFigures::new(&run.experiments[0], &run.experiments[0].experiment.series[0]);
        let (point, tiles) = (series.points[0], series.variant("tiles").unwrap());
        let ratio = series.figure(point, tiles, Unit::SpeedUp).unwrap();
        assert!(near(ratio.estimate.low, 2.0) && near(ratio.estimate.high, 2.0));
        assert_eq!(ratio.summary.count, 3);
        // A pair needs both samples.
        let first = &mut run.experiments[0].cases[0];
        first.samples.remove(0);
        let series = SeriesFigures::new(&run.experiments[0], &run.experiments[0].experiment.series[0]);
        let tiles = series.variant("tiles").unwrap();
        assert_eq!(series.figure(series.points[0], tiles, Unit::SpeedUp).unwrap().summary.count, 2);
    }

    #[test]
    fn rates_and_shares_follow_from_the_time() {
        let mut run = sample_run();
        set(&mut run, 0, "naive", |_| vec![0.5; 6]);
        let experiment = &run.experiments[0];
        let series = SeriesFigures::new(experiment, &experiment.experiment.series[0]);
        let (point, naive) = (series.points[0], series.variant("naive").unwrap());
        let entry = &series.case(point, "naive").unwrap().entry;
        let value = |unit| series.figure(point, naive, unit).unwrap().estimate.value;
        assert!(near(value(Unit::Seconds), 0.5));
        assert!(near(value(Unit::MegapixelsPerSecond), 4.194304 / 0.5));
        assert!(near(value(Unit::GigaiterationsPerSecond), entry.iterations as f64 * 2e-9));
        assert!(near(value(Unit::PeakShare), entry.iterations as f64 * 2.0 / 2.1e11));
        assert_eq!(series.figure(point, naive, Unit::Efficiency).unwrap_err(), "the flag threads is not varied");
        let device = series.variant("device").unwrap();
        assert!(series.figure(point, device, Unit::Seconds).unwrap_err().starts_with("not run: there is no CUDA"));
    }

    #[test]
    fn efficiency_refers_to_one_thread_with_the_same_other_flags() {
        let mut run = sample_run();
        set(&mut run, 1, "f64", |case| {
            let fixed = if case.entry.point["schedule"].0 == "static" { 8.0 } else { 6.0 };
            let threads: f64 = case.entry.point["threads"].0.parse().unwrap();
            vec![if threads > 1.0 { fixed / threads * 1.25 } else { fixed }; 3]
        });
        let experiment = &run.experiments[0];
        let series = SeriesFigures::new(experiment, &experiment.experiment.series[1]);
        let variant = series.variant("f64").unwrap();
        for point in &series.points {
            let expected = if point["threads"].0 == "1" { 1.0 } else { 0.8 };
            assert!(near(series.figure(point, variant, Unit::Efficiency).unwrap().estimate.value, expected));
        }
    }

    #[test]
    fn published_figures_are_converted() {
        let run = sample_run();
        let experiment = &run.experiments[0];
        let series = SeriesFigures::new(experiment, &experiment.experiment.series[0]);
        let value = |at: usize, unit| series.published_as(series.points[at], "tiles", unit);
        assert_eq!(value(0, Unit::MegapixelsPerSecond), Some(1900.0));
        assert!(near(value(0, Unit::Seconds).unwrap(), 4.194304 / 1900.0));
        assert!(near(value(0, Unit::SpeedUp).unwrap(), 1900.0 / 1061.0));
        // The baseline has no published figure at the last point.
        assert_eq!(value(8, Unit::SpeedUp), None);
        assert_eq!(value(0, Unit::PeakShare), None);
        assert_eq!(series.published_as(series.points[0], "device", Unit::Seconds), None);
    }

    #[test]
    fn values_of_flags_are_numbers_or_pixels() {
        assert_eq!(number("256"), Some(256.0));
        assert_eq!(number("3000x2000"), Some(6e6));
        assert_eq!(number("static"), None);
        assert_eq!(number("inf"), None);
    }
}
