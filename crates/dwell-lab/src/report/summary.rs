//! Sentences of a report that are generated from the figures of the run.

use super::number::{in_unit, in_words, interval_words, percent, significant, whole};
use super::{Report, Section, title};
use crate::experiment::{Claim, Point, Unit, Variant};
use crate::figures::{Figure, SeriesFigures};
use crate::record::Status;
use crate::statistics::{Estimate, geometric_mean};
use crate::verdict::{Outcome, Verdict, describe};

/// Our figure for a claim in words, with where it comes from.
pub(super) fn finding(verdict: &Verdict) -> String {
    match &verdict.figure {
        Some(figure) => {
            let (value, interval) = (in_words(figure.value, verdict.unit), interval_words(figure, verdict.unit));
            let unit = match verdict.unit {
                "of the peak" | "of the time" | "times as fast" | "times the time" | "efficiency" => {
                    format!(" {}", verdict.unit.trim_start_matches("times "))
                }
                _ => String::new(),
            };
            format!("{value}{unit} ({interval}); {}", verdict.detail)
        }
        None => verdict.detail.clone(),
    }
}

/// The verdict in words with its explanation.
pub(super) fn judgement(claim: &Claim, verdict: &Verdict) -> String {
    let words = verdict.outcome.words(claim.kind);
    if claim.explained.is_empty() { words.to_owned() } else { format!("{words}. {}", claim.explained) }
}

/// A variant at a point with a figure.
struct Found<'a> {
    section: &'a Section<'a>,
    series: &'a SeriesFigures<'a>,
    point: &'a Point,
    variant: &'a Variant,
    figure: Figure,
}

impl Found<'_> {
    /// What and where it is.
    fn words(&self) -> String {
        let place = describe(self.point);
        let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
        format!("“{}” ({}, {}){at}", title(self.variant), self.section.name(), self.series.series.title)
    }
}

/// Every figure in a unit.
fn figures<'a>(report: &'a Report<'a>, unit: Unit) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    for section in &report.sections {
        for series in &section.series {
            for point in &series.points {
                for variant in &series.series.variants {
                    if let Ok(figure) = series.figure(point, variant, unit) {
                        found.push(Found { section, series, point, variant, figure });
                    }
                }
            }
        }
    }
    found
}

fn greatest(found: Vec<Found<'_>>) -> Option<Found<'_>> {
    found.into_iter().max_by(|a, b| a.figure.estimate.value.total_cmp(&b.figure.estimate.value))
}

/// The first sentences of a report: the verdicts, the fastest variants and what differs most from the expectation.
pub(super) fn sentences(report: &Report<'_>) -> Vec<String> {
    let mut sentences = vec![checked(report)];
    if let Some(fastest) = greatest(figures(report, Unit::GigaiterationsPerSecond)) {
        let rate = in_unit(fastest.figure.estimate.value, Unit::GigaiterationsPerSecond);
        let share = fastest.series.figure(fastest.point, fastest.variant, Unit::PeakShare);
        let share =
            share.map_or(String::new(), |share| format!(", {} of its measured peak", percent(share.estimate.value)));
        sentences.push(format!(
            "The highest rate, counting iterations that shortcuts avoid, is {rate}{share}: {}.",
            fastest.words()
        ));
    }
    let speed_ups = figures(report, Unit::SpeedUp);
    let slower = slower_than_baseline(&speed_ups);
    let (compared, baseline) =
        (speed_ups.len(), |found: &Found<'_>| found.series.baseline().map_or("", title).to_owned());
    if let Some(best) = greatest(speed_ups).filter(|best| best.figure.estimate.low > 1.0) {
        let ratio = in_unit(best.figure.estimate.value, Unit::SpeedUp);
        sentences.push(format!("The largest speed-up is {ratio} against “{}”: {}.", baseline(&best), best.words()));
    }
    if slower > 0 {
        sentences.push(format!(
            "Variants that are slower than their baseline beyond noise: {} of {} ratios.",
            whole(slower as u64),
            whole(compared as u64)
        ));
    }
    sentences.extend(surprise(report));
    sentences.extend(report.sections.iter().filter_map(against_publication));
    sentences
}

/// How many fields were checked, and with what result.
fn checked(report: &Report<'_>) -> String {
    let (mut computed, mut equal, mut wrong, mut absent) = (0_u64, 0_u64, 0_u64, 0_u64);
    for case in report.sections.iter().flat_map(|section| &section.run.cases) {
        match case.entry.status {
            Status::NotRun { .. } | Status::Failed { .. } => absent += 1,
            Status::Wrong { .. } => (computed, wrong) = (computed + 1, wrong + 1),
            Status::Equal => (computed, equal) = (computed + 1, equal + 1),
            Status::Heuristic { .. } | Status::OtherRounding { .. } => computed += 1,
        }
    }
    let was = if computed == 1 { "field was" } else { "fields were" };
    let are = |count: u64| format!("{} {}", whole(count), if count == 1 { "is" } else { "are" });
    let mut text = format!("{} {was} checked: {} equal to the reference in every count", whole(computed), are(equal));
    if wrong > 0 {
        text.push_str(&format!(", {} wrong and not timed", are(wrong)));
    }
    if absent > 0 {
        text.push_str(&format!("; {} could not be computed here", whole(absent)));
    }
    text.push('.');
    text
}

/// The number of ratios to a baseline whose whole interval is below 1.
fn slower_than_baseline(found: &[Found<'_>]) -> usize {
    found.iter().filter(|found| found.figure.estimate.widened().high < 1.0).count()
}

/// The published speed-up that differs most from ours.
fn surprise(report: &Report<'_>) -> Option<String> {
    let mut most: Option<(f64, Found<'_>, f64)> = None;
    for found in figures(report, Unit::SpeedUp) {
        let Some(published) = found.series.published_as(found.point, &found.variant.name, Unit::SpeedUp) else {
            continue;
        };
        let ratio = found.figure.estimate.value / published;
        let factor = ratio.max(1.0 / ratio);
        if factor.is_finite() && most.as_ref().is_none_or(|most| factor > most.0) {
            most = Some((factor, found, published));
        }
    }
    let (factor, found, published) = most.filter(|most| most.0 > 1.5)?;
    Some(format!(
        "The largest difference from a published ratio is a factor of {}: {} was published as {} and is {} here.",
        significant(factor),
        found.words(),
        in_unit(published, Unit::SpeedUp),
        in_unit(found.figure.estimate.value, Unit::SpeedUp)
    ))
}

/// How the times of an experiment here compare with the published ones.
fn against_publication(section: &Section<'_>) -> Option<String> {
    let publication = section.run.experiment.publication.as_ref()?;
    let mut ratios = Vec::new();
    for series in &section.series {
        for point in &series.points {
            for variant in &series.series.variants {
                let Ok(figure) = series.figure(point, variant, Unit::Seconds) else { continue };
                let Some(published) = series.published_as(point, &variant.name, Unit::Seconds) else { continue };
                ratios.push(Estimate::exact(published / figure.estimate.value));
            }
        }
    }
    let mean = geometric_mean(&ratios)?;
    let (ratio, than) = if mean.value >= 1.0 { (mean.value, "as fast") } else { (1.0 / mean.value, "slower") };
    Some(format!(
        "{}: the same variants are {} times {than} here {} published in {} ({}), by the geometric mean of {} figure{}.",
        section.name(),
        significant(ratio),
        if mean.value >= 1.0 { "as was" } else { "than was" },
        publication.year,
        publication.hardware,
        ratios.len(),
        if ratios.len() == 1 { "" } else { "s" },
    ))
}

/// What a number of claims with an outcome do.
pub(super) fn outcome_words(outcome: Outcome, count: usize) -> &'static str {
    match (outcome, count) {
        (Outcome::Holds, 1) => "holds or is reproduced",
        (Outcome::Holds, _) => "hold or are reproduced",
        (Outcome::DoesNotHold, 1) => "does not hold or is not reproduced",
        (Outcome::DoesNotHold, _) => "do not hold or are not reproduced",
        (Outcome::WithinNoise, 1) => "is within noise",
        (Outcome::WithinNoise, _) => "are within noise",
        (Outcome::NotTested, _) => "could not be tested here",
        (Outcome::Explained, 1) => "is explained without a measurement",
        (Outcome::Explained, _) => "are explained without a measurement",
    }
}

/// A condition in words.
pub(super) fn condition(text: &str) -> String {
    let text = text.trim();
    let signs = [("<=", "at most"), (">=", "at least"), ("<", "below"), (">", "above"), ("=", "equal to")];
    let sign = signs.iter().find_map(|(sign, words)| text.strip_prefix(sign).map(|rest| (words, rest.trim())));
    match (sign, text.split_once("..")) {
        (Some((words, number)), _) => format!("{words} {number}"),
        (None, Some((low, high))) => format!("from {} to {}", low.trim(), high.trim()),
        (None, None) => text.to_owned(),
    }
}

/// How the figures were obtained.
pub(super) const METHOD: [&str; 6] = [
    "Every field is checked before its variant is timed. A variant that claims exactness and gives wrong counts has no time; \
     the wrong pixels of a heuristic stand beside its time.",
    "A sample is one run, or the mean of a batch of runs in a row where one is too short for the clock. Variants of a point \
     are run in rounds in a random order after a warm-up, and the samples of one round are pairs.",
    "Figures are medians. An interval of a median goes from one order statistic to another (binomial distribution of the \
     ranks) and assumes no distribution of the times. Its level is 95 % or more from 6 samples on; fewer samples reach less, \
     and the level is stated.",
    "A ratio is the median of the ratios of pairs. Ratios of several points are summarised by their geometric mean; its \
     interval spans the geometric means of the ends, which is wider than that of independent errors. A single sample is \
     taken to be uncertain by 10 %.",
    "A claim holds if the whole interval satisfies its condition, does not hold if no part does, and is within noise otherwise.",
    "Iterations are those of the plain loop for the same field, so a shortcut raises the rate, which can exceed the peak. \
     The peak is that of the multiply and add chain of one iteration, measured on the same processor or device.",
];
