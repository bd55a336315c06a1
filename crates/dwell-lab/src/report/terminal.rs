//! A run in a terminal: the median times of each series, and how many claims have each outcome.

use super::number;
use super::{Report, Section};
use crate::experiment::{Point, Unit, Variant};
use crate::figures::SeriesFigures;
use crate::record::Status;
use crate::verdict::Outcome;
use std::fmt::Write;

/// Most points of a series that are shown.
const MOST_ROWS: usize = 16;
/// Most variants of a series that are shown.
const MOST_COLUMNS: usize = 6;
/// Characters of a column.
const WIDTH: usize = 16;

pub(super) fn text(report: &Report<'_>) -> String {
    let mut text = String::new();
    for section in &report.sections {
        let _ = writeln!(text, "\n{}: {}", section.name(), section.run.experiment.title);
        for series in &section.series {
            table(series, &mut text);
        }
        wrong(section, &mut text);
        claims(section, &mut text);
    }
    text
}

/// The median time of each variant at each point.
fn table(figures: &SeriesFigures<'_>, text: &mut String) {
    let variants: Vec<&Variant> = figures.series.variants.iter().collect();
    let timed: Vec<&Variant> = variants
        .into_iter()
        .filter(|v| figures.points.iter().any(|point| figures.timed(point, &v.name).is_ok()))
        .collect();
    if timed.is_empty() {
        return;
    }
    let labels: Vec<String> = figures.points.iter().map(|point| label(point)).collect();
    let shown = labels.len().min(MOST_ROWS);
    let first = labels[..shown].iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "  {}", figures.series.title);
    let columns = &timed[..timed.len().min(MOST_COLUMNS)];
    let names = columns.iter().fold(String::new(), |line, variant| {
        let title = variant.title.as_ref().filter(|title| title.chars().count() <= WIDTH);
        let name: String = title.unwrap_or(&variant.name).chars().take(WIDTH).collect();
        format!("{line}  {name:>WIDTH$}")
    });
    let _ = writeln!(text, "    {:first$}{names}", "");
    for (point, label) in figures.points.iter().zip(&labels).take(shown) {
        let cells = columns.iter().fold(String::new(), |line, variant| {
            let figure = figures.figure(point, variant, Unit::Seconds);
            let cell = figure.map_or_else(|_| "-".to_owned(), |figure| number::seconds(figure.estimate.value));
            format!("{line}  {cell:>WIDTH$}")
        });
        let _ = writeln!(text, "    {label:first$}{cells}");
    }
    let (rows, others) = (labels.len() - shown, timed.len() - columns.len());
    if rows + others > 0 {
        let _ = writeln!(text, "    the report has {rows} more points and {others} more variants");
    }
}

/// The values of a point, with their flags where there are several.
fn label(point: &Point) -> String {
    if let (Some(value), 1) = (point.values().next(), point.len()) {
        return value.0.clone();
    }
    let values: Vec<String> = point.iter().map(|(flag, value)| format!("{flag} {}", value.0)).collect();
    values.join(", ")
}

/// Variants without a time because their counts are wrong or they failed, each once with the number of its points.
fn wrong(section: &Section<'_>, text: &mut String) {
    let mut found: Vec<(&str, &str, String, usize)> = Vec::new();
    for case in &section.run.cases {
        let (Status::Wrong { why, .. } | Status::Failed { why }) = &case.entry.status else { continue };
        let entry = &case.entry;
        match found.iter_mut().find(|(series, variant, ..)| *series == entry.series && *variant == entry.variant) {
            Some((.., points)) => *points += 1,
            None => {
                let point = label(&entry.point);
                let at = if point.is_empty() { String::new() } else { format!(" at {point}") };
                found.push((&entry.series, &entry.variant, format!("{at}: {}", dwell::escape(why)), 1));
            }
        }
    }
    for (series, variant, why, points) in found {
        let others = if points > 1 { format!(" (and at {} more points)", points - 1) } else { String::new() };
        let _ = writeln!(text, "  no time for {series}/{variant}{why}{others}");
    }
}

/// How many claims have each outcome.
fn claims(section: &Section<'_>, text: &mut String) {
    if section.verdicts.is_empty() {
        return;
    }
    let count = |outcome: Outcome| section.verdicts.iter().filter(|(_, verdict)| verdict.outcome == outcome).count();
    let _ = writeln!(
        text,
        "  claims and defects: {} hold or are reproduced, {} do not, {} within noise, {} not tested, {} explained",
        count(Outcome::Holds),
        count(Outcome::DoesNotHold),
        count(Outcome::WithinNoise),
        count(Outcome::NotTested),
        count(Outcome::Explained),
    );
}
