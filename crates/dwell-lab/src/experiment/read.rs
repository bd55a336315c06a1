//! Reads the file of an experiment. An error names the line and the column, or the series and the name in it.

use super::{Axis, Experiment, Measure, PlotKind, Series, parts, sweep};
use crate::verdict::Condition;
use std::collections::BTreeSet;
use std::fmt;

/// Most bytes of a file.
const MOST_BYTES: usize = 1 << 20;
/// Most points of a series, times its variants.
const MOST_CASES: usize = 100_000;

/// Why a text is no experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file or the name of the experiment.
    pub file: String,
    /// Line and column, from 1, where they are known.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, problem } = self;
        match place {
            Some((line, column)) => write!(f, "{file}, line {line}, column {column}: {problem}"),
            None => write!(f, "{file}: {problem}"),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads the text of an experiment. `file` names it in errors, `name` is its name.
///
/// # Errors
/// When the text is not TOML, a key is unknown, missing or of another type, or names contradict each other.
pub fn read(file: &str, name: &str, text: &str) -> Result<Experiment, ReadError> {
    let wrong = |place, problem: String| ReadError { file: file.to_owned(), place, problem };
    if text.len() > MOST_BYTES {
        return Err(wrong(None, format!("{} bytes are too many; accepted: at most {MOST_BYTES}", text.len())));
    }
    dwell::check_toml(text).map_err(|error| wrong(None, error.to_string()))?;
    let mut experiment: Experiment = toml::from_str(text).map_err(|error| {
        let place = error.span().map(|span| place(text, span.start));
        wrong(place, error.message().trim().replace('\n', "; "))
    })?;
    experiment.name = name.to_owned();
    check(&experiment).map_err(|problem| wrong(None, problem))?;
    Ok(experiment)
}

/// Line and column of a byte of a text, from 1.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// Checks what the types do not say.
fn check(experiment: &Experiment) -> Result<(), String> {
    unique("series", experiment.series.iter().map(|series| &series.name))?;
    unique("quantity", experiment.quantities.iter().map(|quantity| &quantity.name))?;
    unique("claim", experiment.claims.iter().map(|claim| &claim.name))?;
    for series in &experiment.series {
        check_series(series).map_err(|problem| format!("series {}: {problem}", series.name))?;
    }
    for claim in &experiment.claims {
        let checked = claim.measure.as_ref().map_or(Ok(()), |measure| check_measure(experiment, measure));
        let complete = match (&claim.measure, &claim.holds) {
            (Some(_), None) => Err("a measure needs `holds`".to_owned()),
            (None, Some(_)) => Err("`holds` needs a measure".to_owned()),
            (None, None) if claim.explained.is_empty() => Err("a measure or `explained` is needed".to_owned()),
            (Some(_), Some(holds)) => holds.parse::<Condition>().map(drop).map_err(|error| format!("holds: {error}")),
            (None, None) => Ok(()),
        };
        checked.and(complete).map_err(|problem| format!("claim {}: {problem}", claim.name))?;
    }
    Ok(())
}

/// Checks that names are well formed and occur once.
fn unique<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        let is_name = !name.is_empty() && name.len() <= 80;
        if !is_name || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(format!("{what} {name:?}: a name has 1 to 80 lower-case letters, digits and hyphens"));
        }
        if !seen.insert(name) {
            return Err(format!("{what} {name} is there twice"));
        }
    }
    Ok(())
}

fn check_series(series: &Series) -> Result<(), String> {
    if series.variants.is_empty() {
        return Err("it has no variant".to_owned());
    }
    if !(1..=1000).contains(&series.repeats) {
        return Err(format!("repeats = {} is out of range; accepted: 1 to 1000", series.repeats));
    }
    unique("variant", series.variants.iter().map(|variant| &variant.name))?;
    parts::check(&series.sweep)?;
    let mut points = 1_usize;
    for axis in &series.sweep {
        points = points.saturating_mul(check_axis(axis)?);
    }
    if points.saturating_mul(series.variants.len()) > MOST_CASES {
        return Err(format!("more than {MOST_CASES} points and variants"));
    }
    let has = |name: &str| series.variants.iter().any(|variant| variant.name == name);
    if let Some(name) = series.baseline.as_ref().filter(|name| !has(name)) {
        return Err(format!("the baseline {name} is no variant"));
    }
    for published in &series.published {
        if !has(&published.variant) {
            return Err(format!("published figures: {} is no variant", published.variant));
        }
        if published.values.len() != points {
            let (variant, count) = (&published.variant, published.values.len());
            return Err(format!("published figures of {variant}: {count} values for {points} points"));
        }
    }
    for variant in &series.variants {
        if variant.reference_loop.is_some() && variant.program.is_some() {
            return Err(format!("variant {}: either a loop or a program", variant.name));
        }
    }
    for plot in &series.plots {
        let swept = |flag: &String| series.sweep.iter().any(|axis| axis.flag == *flag);
        if let Some(flag) = plot.x.iter().chain(&plot.y).find(|flag| !swept(flag)) {
            return Err(format!("plot {:?}: {flag} is not varied", plot.title));
        }
        if plot.kind == PlotKind::Heatmap && series.sweep.len() < 2 {
            return Err(format!("plot {:?}: a heat map needs two lists", plot.title));
        }
    }
    Ok(())
}

/// Checks a list and returns the number of its values.
fn check_axis(axis: &Axis) -> Result<usize, String> {
    let flag = &axis.flag;
    let values = sweep::values(&axis.values).map_err(|error| format!("{flag}: {error}"))?;
    if values.is_empty() {
        return Err(format!("{flag} has no values"));
    }
    for (what, reduced) in [("quick", &axis.quick), ("check", &axis.check)] {
        if let Some(reduced) = reduced {
            let reduced = sweep::values(reduced).map_err(|error| format!("{flag}, {what}: {error}"))?;
            if reduced.is_empty() {
                return Err(format!("{flag}, {what}: there are no values"));
            }
            let other = reduced.iter().find(|value| what == "quick" && !values.contains(value));
            if let Some(other) = other {
                return Err(format!("{flag}, quick: {} is none of its values", other.0));
            }
        }
    }
    Ok(values.len())
}

/// Checks that the names in a measure exist.
fn check_measure(experiment: &Experiment, measure: &Measure) -> Result<(), String> {
    let (series, variants, flag) = match measure {
        Measure::Quantity { name } => {
            let known = experiment.quantities.iter().any(|quantity| quantity.name == *name);
            return if known { Ok(()) } else { Err(format!("{name} is no quantity")) };
        }
        Measure::Ratio { series, of, to, .. } => (series, vec![of, to], None),
        Measure::Value { series, variant, .. }
        | Measure::Share { series, variant, .. }
        | Measure::WrongPixels { series, variant, .. } => (series, vec![variant], None),
        Measure::Growth { series, variant, flag, .. } | Measure::Exponent { series, variant, flag, .. } => {
            (series, vec![variant], Some(flag))
        }
    };
    let name = series;
    let series = experiment.series.iter().find(|series| series.name == *name);
    let series = series.ok_or_else(|| format!("{name} is no series"))?;
    let known = |name: &String| series.variants.iter().any(|variant| variant.name == *name);
    if let Some(unknown) = variants.into_iter().find(|name| !known(name)) {
        return Err(format!("{unknown} is no variant of the series {name}"));
    }
    let swept = |flag: &String| series.sweep.iter().any(|axis| axis.flag == *flag);
    match flag.filter(|flag| !swept(flag)) {
        Some(flag) => Err(format!("{flag} is not varied in the series {name}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
title = "T"
[[series]]
name = "one"
title = "One"
flags = { size = "64x64", max-iter = 100 }
[[series.sweep]]
flag = "max-iter"
values = ["100..400*2", 1000]
quick = [100, 400]
[[series.variant]]
name = "plain"
flags = { shortcuts = "none" }
[[series.published]]
variant = "plain"
measure = "seconds"
values = [1, 2, nan, 4]
source = "table 1"
[[claim]]
name = "growth"
says = "The time doubles"
source = "page 1"
holds = ">= 1.9"
measure = { kind = "growth", series = "one", variant = "plain", flag = "max-iter", from = 100, to = 200 }
"#;

    fn error(text: &str) -> String {
        read("x.toml", "x", text).unwrap_err().to_string()
    }

    #[test]
    fn deep_texts_are_refused() {
        let error = read("deep.toml", "deep", &("a={".to_owned() + &"{".repeat(100_000))).unwrap_err().to_string();
        assert!(error.contains("deep.toml") && error.contains("nested too deeply"), "{error}");
    }

    #[test]
    fn a_good_text_is_read() {
        let experiment = read("x.toml", "x", GOOD).unwrap();
        assert_eq!(experiment.series[0].flags["max-iter"].0, "100");
        assert_eq!(experiment.series[0].repeats, 10);
        assert_eq!(experiment.name, "x");
    }

    #[test]
    fn errors_name_the_line_and_the_column_or_the_name() {
        let unknown = GOOD.replace("title = \"One\"", "titel = \"One\"");
        assert!(error(&unknown).starts_with("x.toml, line 5, column 1: unknown field `titel`"), "{}", error(&unknown));
        assert!(error("title = ").starts_with("x.toml, line 1, column "));
        for (from, to, expected) in [
            (
                "values = [1, 2, nan, 4]",
                "values = [1]",
                "series one: published figures of plain: 1 values for 4 points",
            ),
            ("quick = [100, 400]", "quick = [101]", "series one: max-iter, quick: 101 is none of its values"),
            (
                "variant = \"plain\", flag",
                "variant = \"plan\", flag",
                "claim growth: plan is no variant of the series one",
            ),
            (
                "flag = \"max-iter\", from",
                "flag = \"size\", from",
                "claim growth: size is not varied in the series one",
            ),
            ("name = \"plain\"", "name = \"Plain\"", "variant \"Plain\": a name has"),
            ("100..400*2", "400..100", "series one: max-iter: "),
            ("holds = \">= 1.9\"", "", "claim growth: a measure needs `holds`"),
            ("\">= 1.9\"", "\"=> 1.9\"", "claim growth: holds: \"=> 1.9\" is no condition; accepted: `< X`"),
        ] {
            assert!(GOOD.contains(from));
            let error = error(&GOOD.replacen(from, to, 1));
            assert!(error.contains(expected), "{error}");
        }
    }
}
