//! Verdicts: what a run says of each claim and each defect of a publication.

mod condition;

pub use condition::{Condition, ConditionError};

use crate::experiment::{Claim, ClaimKind, Flags, Measure, Over, Point, Text};
use crate::figures::{self, Figure, SeriesFigures};
use crate::record::{Case, ExperimentRun, Status};
use crate::statistics::{self, Estimate};
use condition::Decision;

/// What a run says of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The decision.
    pub outcome: Outcome,
    /// Our figure, with its interval; none if it was not tested or needs no figure.
    pub figure: Option<Estimate>,
    /// What the figure is: `times as fast`, `s`, `pixels`.
    pub unit: &'static str,
    /// Which points the figure comes from and which are missing, or why there is none.
    pub detail: String,
}

/// A decision about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The whole interval satisfies the condition.
    Holds,
    /// No part of the interval satisfies the condition.
    DoesNotHold,
    /// The interval straddles the threshold.
    WithinNoise,
    /// There is no figure.
    NotTested,
    /// It has no measure: it is explained.
    Explained,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 5] = [Self::Holds, Self::DoesNotHold, Self::WithinNoise, Self::NotTested, Self::Explained];

    /// The words for it.
    #[must_use]
    pub fn words(self, kind: ClaimKind) -> &'static str {
        match (self, kind) {
            (Self::Holds, ClaimKind::Claim) => "holds",
            (Self::Holds, ClaimKind::Defect) => "reproduced",
            (Self::DoesNotHold, ClaimKind::Claim) => "does not hold",
            (Self::DoesNotHold, ClaimKind::Defect) => "not reproduced",
            (Self::WithinNoise, _) => "within noise",
            (Self::NotTested, _) => "cannot be tested here",
            (Self::Explained, _) => "explained",
        }
    }
}

/// The verdict of every claim of an experiment, in the order of its file.
#[must_use]
pub fn verdicts(run: &ExperimentRun) -> Vec<(Claim, Verdict)> {
    run.experiment.claims.iter().map(|claim| (claim.clone(), verdict(run, claim))).collect()
}

fn verdict(run: &ExperimentRun, claim: &Claim) -> Verdict {
    let without = |outcome, detail| Verdict { outcome, figure: None, unit: "", detail };
    let (Some(measure), Some(holds)) = (&claim.measure, &claim.holds) else {
        return without(Outcome::Explained, String::new());
    };
    let condition = match holds.parse::<Condition>() {
        Ok(condition) => condition,
        Err(error) => return without(Outcome::NotTested, error.to_string()),
    };
    let reading = match read(run, measure) {
        Ok(reading) => reading,
        Err(why) => return without(Outcome::NotTested, why),
    };
    let decided = reading.estimate.widened();
    let outcome = match condition.within(reading.tolerance).decide(decided.low, decided.high) {
        Decision::Inside => Outcome::Holds,
        Decision::Outside => Outcome::DoesNotHold,
        Decision::Straddles => Outcome::WithinNoise,
    };
    Verdict { outcome, figure: Some(reading.estimate), unit: reading.unit, detail: reading.detail }
}

/// A figure that a measure gave.
struct Reading {
    estimate: Estimate,
    unit: &'static str,
    detail: String,
    /// The accepted relative difference from a threshold.
    tolerance: f64,
}

/// The figure of a measure, or why there is none.
fn read(run: &ExperimentRun, measure: &Measure) -> Result<Reading, String> {
    let series = |name: &String| {
        let series = run.experiment.series.iter().find(|series| series.name == *name);
        series.map(|series| SeriesFigures::new(run, series)).ok_or_else(|| format!("{name} is no series"))
    };
    match measure {
        Measure::Ratio { series: name, of, to, over, at } => {
            let (series, at) = (series(name)?, At { flags: at, over: *over });
            let (of, to) = (variant(&series, of)?, variant(&series, to)?);
            at.reading(&series, "times as fast", |point| series.ratio(point, of, to).map(|figure| figure.estimate))
        }
        Measure::Value { series: name, variant: of, unit, over, at } => {
            let (series, at) = (series(name)?, At { flags: at, over: *over });
            let of = variant(&series, of)?;
            at.reading(&series, crate::report::number::unit_name(*unit), |point| {
                series.figure(point, of, *unit).map(|figure| figure.estimate)
            })
        }
        Measure::Growth { series: name, variant: of, flag, from, to, over, at } => {
            let (series, of) = (series(name)?, of.as_str());
            let of = variant(&series, of)?;
            let mut flags = at.clone();
            flags.insert(flag.clone(), from.clone());
            At { flags: &flags, over: *over }
                .reading(&series, "times the time", |point| growth(&series, of, point, flag, to))
        }
        Measure::Exponent { series: name, variant: of, flag, at } => {
            let series = series(name)?;
            let of = variant(&series, of)?;
            exponent(&series, of, flag, at)
        }
        Measure::Share { series: name, variant: of, of: part, to: whole, over, at } => {
            let (series, at) = (series(name)?, At { flags: at, over: *over });
            at.reading(&series, "of the time", |point| {
                let case = series.timed(point, of)?;
                let mut shares = Vec::with_capacity(case.samples.len());
                for sample in &case.samples {
                    shares.push(figures::seconds(sample, part)? / figures::seconds(sample, whole)?);
                }
                Figure::of(&shares).map(|figure| figure.estimate).ok_or_else(|| "a share is no number".to_owned())
            })
        }
        Measure::WrongPixels { series: name, variant: of, over, at } => {
            let series = series(name)?;
            // A geometric mean of counts, some of which are 0, says nothing: the greatest stands for it.
            let over = if *over == Over::GeometricMean { Over::Greatest } else { *over };
            At { flags: at, over }.reading(&series, "pixels", |point| {
                let case = series.case(point, of).ok_or("it was not begun: the run was interrupted or is a part")?;
                wrong_pixels(case).map(|wrong| Estimate::exact(wrong as f64))
            })
        }
        Measure::Quantity { name } => quantity(run, name),
    }
}

fn variant<'a>(series: &SeriesFigures<'a>, name: &str) -> Result<&'a crate::experiment::Variant, String> {
    series.variant(name).ok_or_else(|| format!("{name} is no variant of the series {}", series.series.name))
}

/// Pixels of a case whose count differs from the reference's, or why they are not known.
fn wrong_pixels(case: &Case) -> Result<u64, String> {
    match &case.entry.status {
        Status::Equal => Ok(0),
        Status::Heuristic { wrong } | Status::Wrong { wrong, .. } => Ok(*wrong),
        Status::OtherRounding { differing, .. } => Ok(*differing),
        Status::NotRun { why } => Err(format!("not run: {why}")),
        Status::Failed { why } => Err(format!("failed: {why}")),
    }
}

/// The time of a variant at a point with another value of a flag, over its time at the point.
fn growth(
    series: &SeriesFigures<'_>,
    variant: &crate::experiment::Variant,
    point: &Point,
    flag: &str,
    to: &Text,
) -> Result<Estimate, String> {
    let mut other = point.clone();
    other.insert(flag.to_owned(), to.clone());
    let time = |point: &Point| {
        let figure = series.figure(point, variant, crate::experiment::Unit::Seconds);
        figure.map(|figure| figure.estimate).map_err(|why| format!("{}: {why}", describe(point)))
    };
    Ok(time(&other)?.over(time(point)?))
}

fn exponent(
    series: &SeriesFigures<'_>,
    variant: &crate::experiment::Variant,
    flag: &str,
    at: &Flags,
) -> Result<Reading, String> {
    let (mut points, mut missing) = (Vec::new(), Missing::default());
    for point in series.points.iter().filter(|point| matches(point, at)) {
        match series.figure(point, variant, crate::experiment::Unit::Seconds) {
            Ok(figure) => {
                let value = point.get(flag).and_then(|value| figures::number(&value.0));
                let value = value.ok_or_else(|| format!("a value of {flag} is no number"))?;
                points.push((value, figure.estimate));
            }
            Err(why) => missing.add(why),
        }
    }
    let fit = statistics::exponent(&points).ok_or_else(|| match missing.first {
        Some(ref why) => format!("fewer than two points have a time: {why}"),
        None => format!("the run has fewer than two values of {flag}"),
    })?;
    let error = fit.standard_error.map_or(String::new(), |error| format!(", standard error {error:.3}"));
    let detail = format!("exponent fitted to {} points{error}{}", fit.points, missing.words());
    Ok(Reading { estimate: fit.estimate, unit: "exponent", detail, tolerance: 0.0 })
}

fn quantity(run: &ExperimentRun, name: &str) -> Result<Reading, String> {
    let entry = run.quantities.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| format!("the quantity {name} was not computed in this run"))?;
    let value = entry.value.clone().map_err(|why| format!("the quantity {name} has no value: {why}"))?;
    if !value.is_finite() {
        return Err(format!("the quantity {name} is no finite number"));
    }
    let quantity = run.experiment.quantities.iter().find(|quantity| quantity.name == name);
    Ok(Reading {
        estimate: Estimate::exact(value),
        unit: "",
        detail: format!("computed: {name}"),
        tolerance: quantity.map_or(0.0, |quantity| quantity.tolerance),
    })
}

/// Points without a figure.
#[derive(Default)]
struct Missing {
    count: usize,
    first: Option<String>,
}

impl Missing {
    fn add(&mut self, why: String) {
        self.count += 1;
        self.first.get_or_insert(why);
    }

    /// A part of a sentence; empty if nothing is missing.
    fn words(&self) -> String {
        match &self.first {
            Some(why) if self.count == 1 => format!("; one point has no figure: {why}"),
            Some(why) => format!("; {} points have no figure, the first: {why}", self.count),
            None => String::new(),
        }
    }
}

/// Which points a figure is read at, and how several become one.
struct At<'a> {
    flags: &'a Flags,
    over: Over,
}

impl At<'_> {
    fn reading(
        &self,
        series: &SeriesFigures<'_>,
        unit: &'static str,
        figure: impl Fn(&Point) -> Result<Estimate, String>,
    ) -> Result<Reading, String> {
        let (mut figures, mut missing) = (Vec::new(), Missing::default());
        for point in series.points.iter().filter(|point| matches(point, self.flags)) {
            match figure(point) {
                Ok(estimate) if estimate.value.is_finite() => figures.push((*point, estimate)),
                Ok(_) => missing.add("a time is 0".to_owned()),
                Err(why) => missing.add(why),
            }
        }
        let whole = series.whole().iter().filter(|point| matches(point, self.flags)).count();
        let nothing = || match &missing.first {
            Some(why) => why.clone(),
            None if self.flags.is_empty() => "no point of the series was run".to_owned(),
            None => format!("this run has no point with {}", describe(self.flags)),
        };
        let (estimate, chosen) = self.choose(&figures).ok_or_else(nothing)?;
        let part = if whole > figures.len() + missing.count {
            format!("; the whole sweep has {whole} such points")
        } else {
            String::new()
        };
        let detail = format!("{chosen}{}{part}", missing.words());
        Ok(Reading { estimate, unit, detail, tolerance: 0.0 })
    }

    /// One figure of several, and which it is.
    fn choose(&self, figures: &[(&Point, Estimate)]) -> Option<(Estimate, String)> {
        let (only, count) = (figures.first()?, figures.len());
        if count == 1 {
            let place = describe(only.0);
            return Some((
                only.1,
                if place.is_empty() { "at the only point".to_owned() } else { format!("at {place}") },
            ));
        }
        let by_value = |a: &&(&Point, Estimate), b: &&(&Point, Estimate)| a.1.value.total_cmp(&b.1.value);
        let (which, (point, estimate)) = match self.over {
            Over::GeometricMean => {
                let estimates: Vec<Estimate> = figures.iter().map(|(_, estimate)| *estimate).collect();
                return Some((statistics::geometric_mean(&estimates)?, format!("geometric mean of {count} points")));
            }
            Over::Least => ("least", figures.iter().min_by(by_value)?),
            Over::Greatest => ("greatest", figures.iter().max_by(by_value)?),
            Over::First => ("first", only),
            Over::Last => ("last", figures.last()?),
        };
        Some((*estimate, format!("{which} of {count} points, at {}", describe(point))))
    }
}

/// Whether a point has certain values.
fn matches(point: &Point, flags: &Flags) -> bool {
    flags.iter().all(|(flag, value)| point.get(flag) == Some(value))
}

/// A point in words: `max-iter = 256, size = 64x64`.
#[must_use]
pub fn describe(point: &Point) -> String {
    let words: Vec<String> = point.iter().map(|(flag, value)| format!("{flag} = {}", value.0)).collect();
    words.join(", ")
}
