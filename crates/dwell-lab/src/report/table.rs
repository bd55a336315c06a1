//! Tables of a report, before they are HTML or Markdown.

use super::number::{exact, in_unit, interval_words, percent, seconds, significant, whole};
use super::{Report, Section, title};
use crate::experiment::{ClaimKind, Point, Unit, Variant};
use crate::figures::SeriesFigures;
use crate::record::{Case, Status};
use crate::statistics::{Estimate, Summary, geometric_mean};
use crate::verdict::Outcome;

/// A table of texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The heads of the columns.
    pub(super) head: Vec<&'static str>,
    /// The heads of the first columns, which are names of flags.
    pub(super) flags: Vec<String>,
    /// The rows.
    pub(super) rows: Vec<Vec<String>>,
    /// Columns of words; the others are numbers and aligned to the right.
    pub(super) words: Vec<usize>,
}

impl Table {
    /// The heads of all columns.
    pub(super) fn heads(&self) -> impl Iterator<Item = &str> {
        self.flags.iter().map(String::as_str).chain(self.head.iter().copied())
    }

    /// Removes columns, from the last, that hold nothing in any row.
    pub(super) fn without_empty(mut self) -> Self {
        let fixed = self.flags.len();
        for column in (0..self.head.len()).rev() {
            if self.rows.iter().all(|row| row[fixed + column].is_empty()) {
                self.head.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(fixed + column)));
                self.words.retain(|one| *one != fixed + column);
                self.words.iter_mut().filter(|one| **one > fixed + column).for_each(|one| *one -= 1);
            }
        }
        self
    }
}

/// A value of a sweep as a label: `2048²` for a square size.
pub(super) fn label(value: &str) -> String {
    match value.split_once('x') {
        Some((width, height)) if width == height && width.parse::<u64>().is_ok() => format!("{width}²"),
        Some((width, height)) if width.parse::<u64>().is_ok() => format!("{width}×{height}"),
        _ => value.to_owned(),
    }
}

/// The figures of a series: a row for each variant at each point that could be run.
pub(super) fn of_series(series: &SeriesFigures<'_>) -> Table {
    let flags: Vec<String> = series.series.sweep.iter().map(|axis| axis.flag.clone()).collect();
    let columns = flags.len();
    let mut table = Table {
        flags,
        head: vec![
            "variant",
            "check",
            "samples",
            "least",
            "median",
            "greatest",
            "published",
            "Mpixel/s",
            "G it/s",
            "of peak",
            "speed-up",
            "CPU J",
            "GPU J",
        ],
        rows: Vec::new(),
        words: (0..=columns + 1).collect(),
    };
    for point in &series.points {
        for variant in &series.series.variants {
            let Some(case) = series.case(point, &variant.name) else { continue };
            if let Some(cells) = row(series, point, variant, case) {
                let mut row: Vec<String> = table
                    .flags
                    .iter()
                    .map(|flag| point.get(flag).map_or(String::new(), |value| label(&value.0)))
                    .collect();
                row.push(title(variant).to_owned());
                row.extend(cells);
                table.rows.push(row);
            }
        }
    }
    table.without_empty()
}

/// The cells of a case behind its variant; none if it was not run.
fn row(series: &SeriesFigures<'_>, point: &Point, variant: &Variant, case: &Case) -> Option<[String; 12]> {
    let check = match &case.entry.status {
        Status::NotRun { .. } => return None,
        Status::Failed { .. } => "failed".to_owned(),
        Status::Equal => "equal".to_owned(),
        Status::Heuristic { wrong } => format!("heuristic, {} wrong", whole(*wrong)),
        Status::OtherRounding { differing, .. } => format!("rounding, {} differ", whole(*differing)),
        Status::Wrong { wrong, .. } => format!("{} wrong pixels", whole(*wrong)),
    };
    let figure = |unit| series.figure(point, variant, unit).ok();
    let rate = |unit| figure(unit).map_or(String::new(), |figure| significant(figure.estimate.value));
    let timed = series.figure(point, variant, Unit::Seconds);
    let check = match &timed {
        Err(why) if case.entry.status.is_timed() => format!("{check}; {why}"),
        _ => check,
    };
    let time = timed.ok().map(|figure| figure.summary);
    let of = |part: fn(&Summary) -> f64| time.as_ref().map_or(String::new(), |time| seconds(part(time)));
    let is_baseline = series.baseline().is_some_and(|baseline| baseline.name == variant.name);
    let speed_up = match figure(Unit::SpeedUp) {
        Some(_) if is_baseline => "1".to_owned(),
        Some(figure) => with_interval(&figure.estimate),
        None => String::new(),
    };
    let published: Vec<String> =
        series.published(point, &variant.name).map(|(value, published)| in_unit(value, published.measure)).collect();
    Some([
        check,
        time.as_ref().map_or(String::new(), |time| time.count.to_string()),
        of(|time| time.minimum),
        of(|time| time.median),
        of(|time| time.maximum),
        published.join("; "),
        rate(Unit::MegapixelsPerSecond),
        rate(Unit::GigaiterationsPerSecond),
        figure(Unit::PeakShare).map_or(String::new(), |figure| percent(figure.estimate.value)),
        speed_up,
        energy(case, "package"),
        energy(case, "device"),
    ])
}

fn with_interval(estimate: &Estimate) -> String {
    if estimate.samples == 1 {
        return significant(estimate.value);
    }
    format!("{} [{}, {}]", significant(estimate.value), significant(estimate.low), significant(estimate.high))
}

/// The median energy of a run from a source, in joules.
fn energy(case: &Case, source: &str) -> String {
    let joules: Vec<f64> = case.samples.iter().filter_map(|sample| sample.joules.get(source).copied()).collect();
    Summary::of(&joules).map_or(String::new(), |summary| significant(summary.median))
}

/// The geometric mean of each variant's speed-up over the points, where there are several variants.
pub(super) fn of_means(series: &SeriesFigures<'_>) -> Option<Table> {
    let baseline = series.baseline()?;
    let mut table = Table {
        head: vec!["variant", "points", "geometric mean", "interval", "published"],
        words: vec![0, 3],
        ..Table::default()
    };
    for variant in series.series.variants.iter().filter(|variant| variant.name != baseline.name) {
        let (mut ratios, mut published) = (Vec::new(), Vec::new());
        for point in &series.points {
            let Ok(ratio) = series.ratio(point, variant, baseline) else { continue };
            ratios.push(ratio.estimate);
            let value = series.published_as(point, &variant.name, Unit::SpeedUp);
            published.extend(value.map(Estimate::exact));
        }
        let Some(mean) = geometric_mean(&ratios) else { continue };
        let part = published.len();
        let published = geometric_mean(&published);
        table.rows.push(vec![
            title(variant).to_owned(),
            ratios.len().to_string(),
            in_unit(mean.value, Unit::SpeedUp),
            interval_words(&mean, "times as fast"),
            published.map_or(String::new(), |published| {
                // A mean of other points than ours says so.
                let points = if part == ratios.len() { String::new() } else { format!(" ({part} points)") };
                format!("{}{points}", in_unit(published.value, Unit::SpeedUp))
            }),
        ]);
    }
    (!table.rows.is_empty()).then(|| table.without_empty())
}

/// The quantities of an experiment.
pub(super) fn of_quantities(section: &Section<'_>) -> Option<Table> {
    let mut table = Table {
        head: vec!["quantity", "computed", "expected", "agreement", "source of the expected value"],
        words: vec![0, 3, 4],
        ..Table::default()
    };
    for quantity in &section.run.experiment.quantities {
        let entry = section.run.quantities.iter().find(|entry| entry.name == quantity.name);
        let (computed, agreement) = match entry.map(|entry| &entry.value) {
            None => ("–".to_owned(), "not computed in this run".to_owned()),
            Some(Err(why)) => ("–".to_owned(), why.clone()),
            Some(Ok(value)) => (exact(*value), agreement(*value, quantity.expect, quantity.tolerance)),
        };
        table.rows.push(vec![
            quantity.title.clone(),
            computed,
            quantity.expect.map_or(String::new(), exact),
            agreement,
            quantity.source.clone(),
        ]);
    }
    (!table.rows.is_empty()).then(|| table.without_empty())
}

/// Whether a computed value is the expected one.
fn agreement(value: f64, expected: Option<f64>, tolerance: f64) -> String {
    let Some(expected) = expected else { return String::new() };
    if value == expected {
        return "equal".to_owned();
    }
    let off = (value - expected).abs();
    if off <= tolerance.max(0.0) * expected.abs() {
        return format!("agrees within {}", percent(tolerance));
    }
    if expected == 0.0 { "differs".to_owned() } else { format!("differs by {}", percent(off / expected.abs())) }
}

/// The experiments of the run.
pub(super) fn of_experiments(report: &Report<'_>) -> Table {
    let mut table = Table {
        head: vec![
            "experiment",
            "subject",
            "timed cases",
            "holds",
            "does not hold",
            "within noise",
            "not tested",
            "explained",
            "state",
        ],
        words: vec![0, 1, 8],
        ..Table::default()
    };
    for section in &report.sections {
        let (timed, all) = section.timed();
        let mut row = vec![
            section.name().to_owned(),
            section.run.experiment.title.clone(),
            format!("{} of {}", whole(timed as u64), whole(all as u64)),
        ];
        for outcome in Outcome::ALL {
            let count = section.verdicts.iter().filter(|(_, verdict)| verdict.outcome == outcome).count();
            row.push(if count == 0 { "·".to_owned() } else { count.to_string() });
        }
        row.push(if section.run.finished { "complete" } else { "interrupted" }.to_owned());
        table.rows.push(row);
    }
    for name in &report.run.header.experiments {
        if !report.sections.iter().any(|section| section.name() == name) {
            let dots = std::iter::repeat_n("·".to_owned(), Outcome::ALL.len());
            let mut row = vec![name.clone(), String::new(), "0".to_owned()];
            row.extend(dots);
            row.push("not begun".to_owned());
            table.rows.push(row);
        }
    }
    table
}

/// The claims of an experiment with their verdicts.
pub(super) fn of_claims(section: &Section<'_>) -> Option<Table> {
    let mut table =
        Table { head: vec!["statement", "published", "here", "verdict"], words: vec![0, 1, 2, 3], ..Table::default() };
    for (claim, verdict) in &section.verdicts {
        let kind = if claim.kind == ClaimKind::Defect { "Defect: " } else { "" };
        table.rows.push(vec![
            format!("{kind}{} ({})", claim.says, claim.source),
            claim.published.clone().unwrap_or_default(),
            super::summary::finding(verdict),
            super::summary::judgement(claim, verdict),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}
