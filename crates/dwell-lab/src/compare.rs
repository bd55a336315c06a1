//! Comparison of two runs, across machines and versions.

use crate::experiment::{Flags, Unit};
use crate::figures::SeriesFigures;
use crate::record::{Case, ExperimentRun, Header, Run, Status};
use crate::report::number::{seconds, significant};
use crate::statistics::{self, Estimate};
use crate::verdict::describe;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The least relative change that counts, beside intervals that are apart.
pub const LEAST_CHANGE: f64 = 0.02;

/// What two runs say of each other.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The names of the runs, the earlier one first.
    pub names: [String; 2],
    /// What differs between the runs besides their times.
    pub warnings: Vec<String>,
    /// Every variant at every point that both runs have.
    pub rows: Vec<Row>,
    /// Cases that only the first run has a field of, and those that only the second one has.
    pub only: [Vec<String>; 2],
}

/// A variant at a point in both runs.
#[derive(Clone, Debug)]
pub struct Row {
    /// Experiment and series.
    pub series: String,
    /// The variant.
    pub variant: String,
    /// The values of the sweep.
    pub point: String,
    /// What changed.
    pub change: Change,
}

/// What changed of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Both have a time.
    Time {
        /// Seconds before.
        before: Estimate,
        /// Seconds after.
        after: Estimate,
        /// The time before over the time after: above 1 is faster.
        ratio: Estimate,
        /// Which way, beyond noise.
        way: Way,
    },
    /// It had right counts and has a time no more, for this reason.
    Broken(String),
    /// It had no time for this reason, and has right counts.
    Repaired(String),
    /// The workloads differ, so no ratio means anything.
    OtherWork,
}

/// Which way a time changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Faster beyond noise.
    Gain,
    /// Slower beyond noise.
    Regression,
    /// No difference beyond noise.
    Same,
}

impl Comparison {
    /// Compares the second run with the first one.
    #[must_use]
    pub fn new(before: &Run, after: &Run) -> Self {
        let mut comparison = Self {
            names: [before.name.clone(), after.name.clone()],
            warnings: headers(&before.header, &after.header),
            rows: Vec::new(),
            only: [Vec::new(), Vec::new()],
        };
        for first in &before.experiments {
            let name = &first.experiment.name;
            match after.experiments.iter().find(|second| second.experiment.name == *name) {
                Some(second) => comparison.experiment(first, second),
                None => comparison.only[0].push(format!("the experiment {name}")),
            }
        }
        for second in &after.experiments {
            let name = &second.experiment.name;
            if !before.experiments.iter().any(|first| first.experiment.name == *name) {
                comparison.only[1].push(format!("the experiment {name}"));
            }
        }
        comparison
    }

    fn experiment(&mut self, before: &ExperimentRun, after: &ExperimentRun) {
        let name = &before.experiment.name;
        for (run, words) in [(before, "first"), (after, "second")] {
            if !run.finished {
                self.warnings.push(format!("{name} is not complete in the {words} run"));
            }
        }
        let (first, second) = (cases(before), cases(after));
        let figures = [before, after]
            .map(|run| run.experiment.series.iter().map(|series| SeriesFigures::new(run, series)).collect::<Vec<_>>());
        let mut other_flags = 0_usize;
        for case in &before.cases {
            let Some(other) = second.get(&key(case)) else {
                self.only[0].push(words(name, case));
                continue;
            };
            if without_threads(&case.entry.flags) != without_threads(&other.entry.flags) {
                other_flags += 1;
            }
            if let Some(change) = self.case(name, &figures, case, other) {
                let entry = &case.entry;
                self.rows.push(Row {
                    series: format!("{name}/{}", entry.series),
                    variant: entry.variant.clone(),
                    point: describe(&entry.point),
                    change,
                });
            }
        }
        for case in after.cases.iter().filter(|case| !first.contains_key(&key(case))) {
            self.only[1].push(words(name, case));
        }
        if other_flags > 0 {
            self.warnings.push(format!("{name}: the flags of {other_flags} cases differ between the runs"));
        }
    }

    /// The change of a case that both runs have; none if one of them could not run it.
    fn case(&mut self, experiment: &str, figures: &[Vec<SeriesFigures<'_>>; 2], a: &Case, b: &Case) -> Option<Change> {
        let name = words(experiment, a);
        match (&a.entry.status, &b.entry.status) {
            (Status::NotRun { .. }, Status::NotRun { .. }) => return None,
            (_, Status::NotRun { .. }) => {
                self.only[0].push(name);
                return None;
            }
            (Status::NotRun { .. }, _) => {
                self.only[1].push(name);
                return None;
            }
            (old, Status::Wrong { why, .. } | Status::Failed { why }) => {
                return old.is_timed().then(|| Change::Broken(why.clone()));
            }
            (Status::Wrong { why, .. } | Status::Failed { why }, _) => return Some(Change::Repaired(why.clone())),
            _ => {}
        }
        if (a.entry.pixels, a.entry.iterations) != (b.entry.pixels, b.entry.iterations) {
            return Some(Change::OtherWork);
        }
        let time = |figures: &[SeriesFigures<'_>], case: &Case| {
            let figures = figures.iter().find(|figures| figures.series.name == case.entry.series)?;
            let variant = figures.variant(&case.entry.variant)?;
            figures.figure(&case.entry.point, variant, Unit::Seconds).ok().map(|figure| figure.estimate)
        };
        match (time(&figures[0], a), time(&figures[1], b)) {
            (Some(before), Some(after)) => Some(timed(before, after)),
            (Some(_), None) => {
                self.only[0].push(name);
                None
            }
            (None, Some(_)) => {
                self.only[1].push(name);
                None
            }
            (None, None) => None,
        }
    }

    /// Whether a time is longer beyond noise, or a variant that was right is wrong or fails.
    #[must_use]
    pub fn has_regressions(&self) -> bool {
        self.rows.iter().any(|row| row.change.is_regression())
    }

    /// The geometric mean of the ratios of each variant of each series, with the number of points.
    #[must_use]
    pub fn means(&self) -> Vec<(String, String, usize, Estimate)> {
        let mut groups: Vec<(&str, &str, Vec<Estimate>)> = Vec::new();
        for row in &self.rows {
            let Change::Time { ratio, .. } = row.change else { continue };
            match groups.iter_mut().find(|group| (group.0, group.1) == (row.series.as_str(), row.variant.as_str())) {
                Some(group) => group.2.push(ratio),
                None => groups.push((&row.series, &row.variant, vec![ratio])),
            }
        }
        let mean = |(series, variant, ratios): (&str, &str, Vec<Estimate>)| {
            let mean = statistics::geometric_mean(&ratios)?;
            Some((series.to_owned(), variant.to_owned(), ratios.len(), mean))
        };
        groups.into_iter().filter_map(mean).collect()
    }

    /// The comparison as a text.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = format!("{} -> {}\n", self.names[0], self.names[1]);
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        let header = ["series", "variant", "point", "before", "after", "ratio", "interval", ""].map(str::to_owned);
        let mut rows = vec![header];
        rows.extend(self.rows.iter().map(Row::cells));
        text.push('\n');
        columns(&mut text, &rows);
        let means = self.means();
        if !means.is_empty() {
            text.push_str("\nGeometric means of the ratios\n");
            let cells = means.iter().map(|(series, variant, points, mean)| {
                let ratio = format!("{} x", significant(mean.value));
                [series.clone(), variant.clone(), format!("{points} points"), ratio, interval(mean)]
            });
            columns(&mut text, &cells.collect::<Vec<_>>());
        }
        for (only, name) in self.only.iter().zip(&self.names) {
            if !only.is_empty() {
                let _ = writeln!(text, "\nOnly in {name}: {}", only.len());
                for case in only {
                    let _ = writeln!(text, "  {case}");
                }
            }
        }
        let count = |test: fn(&Change) -> bool| self.rows.iter().filter(|row| test(&row.change)).count();
        let _ = writeln!(
            text,
            "\n{} compared: {} regressions, {} gains, the others unchanged within noise. A ratio is the time before over \
             the time after. A change counts if the intervals of the medians are apart and the ratio is more than {} % off 1.",
            self.rows.len(),
            count(Change::is_regression),
            count(Change::is_gain),
            LEAST_CHANGE * 100.0
        );
        text
    }
}

impl Change {
    /// Whether it is slower beyond noise, or wrong now.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Time { way: Way::Regression, .. })
    }

    /// Whether it is faster beyond noise, or right now.
    #[must_use]
    pub fn is_gain(&self) -> bool {
        matches!(self, Self::Repaired(_) | Self::Time { way: Way::Gain, .. })
    }
}

impl Row {
    fn cells(&self) -> [String; 8] {
        let [before, after, ratio, range, words] = match &self.change {
            Change::Time { before, after, ratio, way } => [
                seconds(before.value),
                seconds(after.value),
                format!("{} x", significant(ratio.value)),
                interval(ratio),
                match way {
                    Way::Gain => "faster".to_owned(),
                    Way::Regression => "SLOWER".to_owned(),
                    Way::Same => "same".to_owned(),
                },
            ],
            Change::Broken(why) => ["right", "", "", "", &format!("BROKEN: {why}")].map(str::to_owned),
            Change::Repaired(why) => ["", "right", "", "", &format!("repaired: {why}")].map(str::to_owned),
            Change::OtherWork => ["", "", "", "", "not comparable: the fields differ"].map(str::to_owned),
        };
        [self.series.clone(), self.variant.clone(), self.point.clone(), before, after, ratio, range, words]
    }
}

/// The change of a time: it counts if the intervals are apart and the medians are more than [`LEAST_CHANGE`] apart.
fn timed(before: Estimate, after: Estimate) -> Change {
    let (a, b) = (before.widened(), after.widened());
    let ratio = before.over(after);
    let way = if a.high < b.low && 1.0 / ratio.value > 1.0 + LEAST_CHANGE {
        Way::Regression
    } else if b.high < a.low && ratio.value > 1.0 + LEAST_CHANGE {
        Way::Gain
    } else {
        Way::Same
    };
    Change::Time { before, after, ratio, way }
}

fn interval(estimate: &Estimate) -> String {
    if estimate.samples == 1 {
        return "one sample".to_owned();
    }
    format!("{} to {}", significant(estimate.low), significant(estimate.high))
}

type Key<'a> = (&'a str, &'a str, &'a Flags);

fn key(case: &Case) -> Key<'_> {
    (&case.entry.series, &case.entry.variant, &case.entry.point)
}

fn cases(run: &ExperimentRun) -> BTreeMap<Key<'_>, &Case> {
    run.cases.iter().map(|case| (key(case), case)).collect()
}

fn words(experiment: &str, case: &Case) -> String {
    let point = describe(&case.entry.point);
    let at = if point.is_empty() { String::new() } else { format!(", {point}") };
    format!("{experiment}/{}, {}{at}", case.entry.series, case.entry.variant)
}

/// The flags without the number of threads, in which machines differ.
fn without_threads(flags: &Flags) -> Vec<(&String, &String)> {
    flags.iter().filter(|(flag, _)| *flag != "threads").map(|(flag, value)| (flag, &value.0)).collect()
}

/// What differs between the headers of two runs.
fn headers(before: &Header, after: &Header) -> Vec<String> {
    let (a, b) = (&before.machine, &after.machine);
    let pairs = [
        ("the version", before.version.clone(), after.version.clone()),
        ("the extent", before.extent.clone(), after.extent.clone()),
        ("the engine", before.engine.clone(), after.engine.clone()),
        ("the processor", a.processor.clone(), b.processor.clone()),
        ("the number of processors", a.processors.to_string(), b.processors.to_string()),
        ("the instruction sets", a.levels.join(" "), b.levels.join(" ")),
        ("the system", a.system.clone(), b.system.clone()),
        ("the governor", a.governor.clone(), b.governor.clone()),
        ("the devices", a.devices.join("; "), b.devices.join("; ")),
    ];
    let mut warnings: Vec<String> = pairs
        .into_iter()
        .filter(|(_, old, new)| old != new)
        .map(|(what, old, new)| format!("{what} differs: {old:?} and {new:?}"))
        .collect();
    for (header, words) in [(before, "first"), (after, "second")] {
        let processors = header.machine.processors.max(1) as f64;
        if let Some(load) = header.machine.load.filter(|load| *load > 0.5 * processors) {
            warnings.push(format!("the {words} run began under a load of {load:.1} on {processors} processors"));
        }
    }
    warnings
}

/// Writes rows with columns of equal width.
fn columns<const N: usize>(text: &mut String, rows: &[[String; N]]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::sample_run;

    /// The row of a variant at a point.
    fn row<'a>(comparison: &'a Comparison, variant: &str, point: &str) -> &'a Change {
        &comparison.rows.iter().find(|row| row.variant == variant && row.point == point).unwrap().change
    }

    /// The case of a variant at a limit.
    fn case<'a>(run: &'a mut Run, variant: &str, limit: &str) -> &'a mut Case {
        let is = |case: &&mut Case| {
            case.entry.variant == variant && case.entry.point.get("max-iter").is_some_and(|value| value.0 == limit)
        };
        run.experiments[0].cases.iter_mut().find(is).unwrap()
    }

    fn slow_down(case: &mut Case, factor: f64) {
        for sample in &mut case.samples {
            sample.seconds.values_mut().for_each(|seconds| *seconds *= factor);
        }
    }

    #[test]
    fn a_run_is_equal_to_itself() {
        let run = sample_run();
        let comparison = Comparison::new(&run, &run);
        assert!(!comparison.has_regressions());
        assert!(comparison.rows.iter().all(|row| matches!(row.change, Change::Time { way: Way::Same, .. })));
        // 18 limits, 16 threads, 25 blocks, 3 stages, one of the two points that were cut short.
        assert_eq!(comparison.rows.len(), 63);
        assert!(comparison.only.iter().all(Vec::is_empty));
        assert!(comparison.means().iter().all(|(_, _, _, mean)| mean.low <= 1.0 && mean.high >= 1.0));
    }

    #[test]
    fn times_count_beyond_noise_only() {
        let before = sample_run();
        let mut after = sample_run();
        slow_down(case(&mut after, "naive", "256"), 1.5);
        slow_down(case(&mut after, "naive", "320"), 1.01);
        slow_down(case(&mut after, "tiles", "256"), 0.5);
        let comparison = Comparison::new(&before, &after);
        assert!(matches!(row(&comparison, "naive", "max-iter = 256"), Change::Time { way: Way::Regression, .. }));
        assert!(matches!(row(&comparison, "naive", "max-iter = 320"), Change::Time { way: Way::Same, .. }));
        assert!(matches!(row(&comparison, "tiles", "max-iter = 256"), Change::Time { way: Way::Gain, .. }));
        assert!(comparison.has_regressions());
        let table = comparison.table();
        assert!(table.contains("SLOWER") && table.contains("1 regressions, 1 gains"), "{table}");
    }

    #[test]
    fn single_samples_need_a_large_change() {
        let one = |seconds| Estimate::median(&[seconds]).unwrap();
        assert!(matches!(timed(one(1.0), one(1.15)), Change::Time { way: Way::Same, .. }));
        assert!(matches!(timed(one(1.0), one(1.3)), Change::Time { way: Way::Regression, .. }));
    }

    #[test]
    fn wrong_counts_and_other_work_are_no_times() {
        let before = sample_run();
        let mut after = sample_run();
        case(&mut after, "naive", "256").entry.status = Status::Wrong { wrong: 1, why: "one pixel".to_owned() };
        case(&mut after, "naive", "320").entry.iterations += 1;
        let comparison = Comparison::new(&before, &after);
        assert_eq!(*row(&comparison, "naive", "max-iter = 256"), Change::Broken("one pixel".to_owned()));
        assert_eq!(*row(&comparison, "naive", "max-iter = 320"), Change::OtherWork);
        assert!(comparison.has_regressions());
        let back = Comparison::new(&after, &before);
        assert_eq!(*row(&back, "naive", "max-iter = 256"), Change::Repaired("one pixel".to_owned()));
        assert!(!back.has_regressions());
    }

    #[test]
    fn what_is_in_one_run_only_and_other_machines_are_named() {
        let before = sample_run();
        let mut after = sample_run();
        after.header.machine.processor = "Another".to_owned();
        case(&mut after, "naive", "256").entry.flags.insert("shortcuts".to_owned(), "none".into());
        case(&mut after, "naive", "320").entry.status = Status::NotRun { why: "absent".to_owned() };
        after.experiments.remove(1);
        let comparison = Comparison::new(&before, &after);
        assert_eq!(comparison.only[0], ["ladder/limits, naive, max-iter = 320", "the experiment blocks"]);
        let warned = |text: &str| comparison.warnings.iter().any(|warning| warning.contains(text));
        assert!(warned("the processor differs") && warned("the flags of 1 cases differ"), "{:?}", comparison.warnings);
        assert!(comparison.table().contains("Only in 2026-11-22-example: 2"));
    }
}
