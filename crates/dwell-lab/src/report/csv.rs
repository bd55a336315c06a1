//! Samples as CSV (RFC 4180): a row for each sample, and one for each case without samples.

use super::Report;
use crate::figures;
use crate::record::{Case, SampleEntry, Status};
use std::collections::BTreeSet;

const CASE: [&str; 11] = [
    "experiment",
    "series",
    "variant",
    "status",
    "detail",
    "wrong_pixels",
    "pixels",
    "iterations",
    "interior",
    "reference",
    "peak_iterations_per_second",
];
const SAMPLE: [&str; 4] = ["round", "batch", "seconds", "clock_mhz"];

/// The table.
pub(super) fn table(report: &Report<'_>) -> String {
    let cases = || report.sections.iter().flat_map(|section| &section.run.cases);
    let samples = || cases().flat_map(|case| &case.samples);
    let flags: BTreeSet<&str> = cases().flat_map(|case| case.entry.point.keys()).map(String::as_str).collect();
    let stages: BTreeSet<&str> = samples().flat_map(|sample| sample.seconds.keys()).map(String::as_str).collect();
    let sources: BTreeSet<&str> = samples().flat_map(|sample| sample.joules.keys()).map(String::as_str).collect();

    let mut text = String::new();
    let named =
        |kind: &str, names: &BTreeSet<&str>| names.iter().map(|name| format!("{kind}.{name}")).collect::<Vec<_>>();
    let mut head: Vec<String> = CASE.map(str::to_owned).to_vec();
    head.extend(named("point", &flags));
    head.extend(SAMPLE.map(str::to_owned));
    head.extend(named("seconds", &stages));
    head.extend(named("joules", &sources));
    row(&mut text, &head);
    for section in &report.sections {
        for case in &section.run.cases {
            let series = section.series.iter().find(|series| series.series.name == case.entry.series);
            let time = series.and_then(|series| series.variant(&case.entry.variant)).map(|variant| &variant.time);
            let peak = section.run.peaks.get(&case.entry.peak).copied();
            let mut fixed = case_cells(section.name(), case, peak);
            fixed.extend(flags.iter().map(|flag| case.entry.point.get(*flag).map_or(String::new(), |v| v.0.clone())));
            let width = head.len();
            let mut write = |cells: Vec<String>| {
                let mut all = fixed.clone();
                all.extend(cells);
                all.resize(width, String::new());
                row(&mut text, &all);
            };
            if case.samples.is_empty() {
                write(Vec::new());
            }
            for sample in &case.samples {
                let seconds = time.and_then(|time| figures::seconds(sample, time).ok());
                write(sample_cells(sample, seconds, &stages, &sources));
            }
        }
    }
    text
}

fn case_cells(experiment: &str, case: &Case, peak: Option<f64>) -> Vec<String> {
    let entry = &case.entry;
    let (status, detail, wrong) = match &entry.status {
        Status::Equal => ("equal", String::new(), "0".to_owned()),
        Status::Heuristic { wrong } => ("heuristic", String::new(), wrong.to_string()),
        Status::OtherRounding { differing, right } => {
            ("other-rounding", format!("{right} right"), differing.to_string())
        }
        Status::Wrong { wrong, why } => ("wrong", why.clone(), wrong.to_string()),
        Status::NotRun { why } => ("not-run", why.clone(), String::new()),
        Status::Failed { why } => ("failed", why.clone(), String::new()),
    };
    vec![
        experiment.to_owned(),
        entry.series.clone(),
        entry.variant.clone(),
        status.to_owned(),
        detail,
        wrong,
        entry.pixels.to_string(),
        entry.iterations.to_string(),
        entry.interior.to_string(),
        entry.reference.clone(),
        peak.map_or(String::new(), number),
    ]
}

fn sample_cells(
    sample: &SampleEntry,
    seconds: Option<f64>,
    stages: &BTreeSet<&str>,
    sources: &BTreeSet<&str>,
) -> Vec<String> {
    let optional = |value: Option<f64>| value.map_or(String::new(), number);
    let mut cells =
        vec![sample.round.to_string(), sample.batch.to_string(), optional(seconds), optional(sample.clock_mhz)];
    cells.extend(stages.iter().map(|stage| optional(sample.seconds.get(*stage).copied())));
    cells.extend(sources.iter().map(|source| optional(sample.joules.get(*source).copied())));
    cells
}

/// A number with all its digits; nothing if it is not finite.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

fn row(text: &mut String, cells: &[String]) {
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        if cell.contains([',', '"', '\n', '\r']) {
            text.push('"');
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(cell);
        }
    }
    text.push_str("\r\n");
}
