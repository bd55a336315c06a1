//! The report of a run: a page, Markdown, CSV, JSON and plots, all functions of the run.

mod csv;
mod html;
mod json;
mod markdown;
mod markup;
pub mod number;
mod plots;
mod roofline;
mod summary;
mod svg;
mod table;
mod terminal;

use crate::experiment::{Claim, Variant};
use crate::figures::SeriesFigures;
use crate::record::{Case, ExperimentRun, Run, Status};
use crate::verdict::{Outcome, Verdict, verdicts};
use std::collections::BTreeMap;

/// A run with everything that follows from it.
pub struct Report<'a> {
    run: &'a Run,
    sections: Vec<Section<'a>>,
}

/// An experiment of a report.
struct Section<'a> {
    run: &'a ExperimentRun,
    series: Vec<SeriesFigures<'a>>,
    verdicts: Vec<(Claim, Verdict)>,
}

/// What a page needs beside the run.
pub struct Surroundings<'a> {
    /// The bytes of a file of the run's folder; none if it cannot be read.
    pub file: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    /// The name, without an ending, of the CSV and the JSON file beside the page; none if they are not written.
    pub data: Option<&'a str>,
}

/// A plot as a file of its own.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The name of its file, without the ending `.svg`.
    pub name: String,
    /// Its text.
    pub svg: String,
}

impl<'a> Report<'a> {
    /// The report of a run.
    #[must_use]
    pub fn new(run: &'a Run) -> Self {
        let section = |run: &'a ExperimentRun| Section {
            run,
            series: run.experiment.series.iter().map(|series| SeriesFigures::new(run, series)).collect(),
            verdicts: verdicts(run),
        };
        Self { run, sections: run.experiments.iter().map(section).collect() }
    }

    /// One self-contained page.
    #[must_use]
    pub fn html(&self, surroundings: &Surroundings<'_>) -> String {
        html::page(self, surroundings)
    }

    /// The same in short as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::text(self)
    }

    /// A row for each sample, and for each case without samples.
    #[must_use]
    pub fn csv(&self) -> String {
        csv::table(self)
    }

    /// Everything: the machine, experiments, cases, samples, figures, quantities, peaks, verdicts.
    #[must_use]
    pub fn json(&self) -> String {
        json::text(self)
    }

    /// The times of each series and the outcomes of claims, for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        terminal::text(self)
    }

    /// Every plot as a file of its own.
    #[must_use]
    pub fn plots(&self) -> Vec<Picture> {
        html::pictures(self)
    }

    /// How many claims have each outcome.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Outcome, usize> {
        let mut counts = BTreeMap::new();
        for (_, verdict) in self.sections.iter().flat_map(|section| &section.verdicts) {
            *counts.entry(verdict.outcome).or_insert(0) += 1;
        }
        counts
    }
}

impl<'a> Section<'a> {
    fn name(&self) -> &'a str {
        &self.run.experiment.name
    }

    /// Cases that have a time, and all cases.
    fn timed(&self) -> (usize, usize) {
        let timed = self.run.cases.iter().filter(|case| case.entry.status.is_timed() && !case.samples.is_empty());
        (timed.count(), self.run.cases.len())
    }

    /// Cases that were not run or failed, by the reason: the reason, the number of cases, and series with variants.
    fn not_run(&self) -> Vec<(String, usize, Vec<String>)> {
        let reason = |case: &Case| match &case.entry.status {
            Status::NotRun { why } => Some(why.clone()),
            Status::Failed { why } => Some(format!("It failed: {why}")),
            _ => None,
        };
        let mut groups: Vec<(String, usize, Vec<String>)> = Vec::new();
        for case in &self.run.cases {
            let Some(why) = reason(case) else { continue };
            let variant = format!("{}: {}", case.entry.series, self.title(case));
            match groups.iter_mut().find(|group| group.0 == why) {
                Some(group) => {
                    group.1 += 1;
                    if !group.2.contains(&variant) {
                        group.2.push(variant);
                    }
                }
                None => groups.push((why, 1, vec![variant])),
            }
        }
        groups
    }

    /// Cases with wrong counts: the case, the number of wrong pixels and what is wrong.
    fn wrong(&self) -> impl Iterator<Item = (&'a Case, u64, &'a str)> {
        self.run.cases.iter().filter_map(|case| match &case.entry.status {
            Status::Wrong { wrong, why } => Some((case, *wrong, why.as_str())),
            _ => None,
        })
    }

    /// The title of the variant of a case.
    fn title(&self, case: &'a Case) -> &'a str {
        let series = self.series.iter().find(|series| series.series.name == case.entry.series);
        series.and_then(|series| series.variant(&case.entry.variant)).map_or(&case.entry.variant, title)
    }
}

/// The title of a variant: its name if it has none.
fn title(variant: &Variant) -> &str {
    variant.title.as_deref().unwrap_or(&variant.name)
}

#[cfg(test)]
pub(crate) mod tests;
