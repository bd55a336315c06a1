//! Everything of a run as JSON. Numbers that are not finite are null.

use super::{Report, Section};
use crate::experiment::Unit;
use crate::figures::{Figure, SeriesFigures};
use crate::record::Case;
use serde_json::{Map, Value, json};

const UNITS: [(&str, Unit); 6] = [
    ("seconds", Unit::Seconds),
    ("megapixels_per_second", Unit::MegapixelsPerSecond),
    ("gigaiterations_per_second", Unit::GigaiterationsPerSecond),
    ("speed_up", Unit::SpeedUp),
    ("peak_share", Unit::PeakShare),
    ("efficiency", Unit::Efficiency),
];

/// The text.
pub(super) fn text(report: &Report<'_>) -> String {
    let value = json!({
        "run": report.run.name,
        "header": report.run.header,
        "experiments": report.sections.iter().map(section).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn section(section: &Section<'_>) -> Value {
    let verdicts = section.verdicts.iter().map(|(claim, verdict)| {
        json!({
            "claim": claim.name,
            "verdict": verdict.outcome.words(claim.kind),
            "value": verdict.figure.map(|figure| figure.value),
            "low": verdict.figure.map(|figure| figure.low),
            "high": verdict.figure.map(|figure| figure.high),
            "level": verdict.figure.map(|figure| figure.level),
            "unit": verdict.unit,
            "detail": verdict.detail,
        })
    });
    json!({
        "name": section.name(),
        "finished": section.run.finished,
        "experiment": section.run.experiment,
        "verdicts": verdicts.collect::<Vec<_>>(),
        "quantities": section.run.quantities,
        "peaks": section.run.peaks,
        "cases": section.run.cases.iter().map(|one| case(section, one)).collect::<Vec<_>>(),
    })
}

fn case(section: &Section<'_>, case: &Case) -> Value {
    let mut figures = Map::new();
    let series = section.series.iter().find(|series| series.series.name == case.entry.series);
    if let Some(series) = series {
        for (name, unit) in UNITS {
            if let Some(figure) = figure_of(series, case, unit) {
                figures.insert(name.to_owned(), figure_value(&figure));
            }
        }
    }
    json!({ "case": case.entry, "figures": figures, "samples": case.samples })
}

fn figure_of(series: &SeriesFigures<'_>, case: &Case, unit: Unit) -> Option<Figure> {
    series.figure(&case.entry.point, series.variant(&case.entry.variant)?, unit).ok()
}

fn figure_value(figure: &Figure) -> Value {
    let (estimate, summary) = (&figure.estimate, &figure.summary);
    json!({
        "samples": summary.count,
        "minimum": summary.minimum,
        "lower_quartile": summary.lower_quartile,
        "median": summary.median,
        "upper_quartile": summary.upper_quartile,
        "maximum": summary.maximum,
        "mean": summary.mean,
        "low": estimate.low,
        "high": estimate.high,
        "level": estimate.level,
    })
}
