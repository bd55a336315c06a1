//! `dwell lab list` and `dwell lab show`.

use super::experiments;
use crate::cli::LabShowArgs;
use crate::error_text::Failure;
use crate::output;
use dwell_lab::experiment::{Extent, expand};
use dwell_lab::{catalogue, program};

/// Lists the experiments.
pub(super) fn list() -> Result<(), Failure> {
    let mut text = String::new();
    let mut sums = [0, 0];
    for experiment in experiments::all()? {
        let cases = |extent: Extent| -> usize {
            let of = |series: &dwell_lab::experiment::Series| {
                expand(series, extent).map_or(0, |points| points.len()) * series.variants.len()
            };
            experiment.series.iter().map(of).sum()
        };
        let (whole, quick) = (cases(Extent::Whole), cases(Extent::Quick));
        sums = [sums[0] + whole, sums[1] + quick];
        text.push_str(&format!(
            "{:<12}{}\n{:<12}{} series, {whole} cases ({quick} with --quick), {} quantities, {} claims and defects\n",
            experiment.name,
            experiment.title,
            "",
            experiment.series.len(),
            experiment.quantities.len(),
            experiment.claims.len(),
        ));
        if let Some(publication) = &experiment.publication {
            text.push_str(&format!("{:<12}{}\n", "", publication.citation));
        }
    }
    text.push_str(&format!(
        "\nA case is a variant at a point of a sweep: {} in all, {} with --quick.\n\
         Start with `dwell lab run nvidia --quick`, then `dwell lab report` and the folder that it names.\n",
        sums[0], sums[1]
    ));
    output::print(&text)
}

/// Prints an experiment, or the descriptions of other programs.
pub(super) fn show(args: &LabShowArgs) -> Result<(), Failure> {
    match args.what.as_str() {
        "engines" => output::print(program::BUILT_IN),
        "methodology" => output::print(catalogue::METHODOLOGY),
        "bias" => output::print(catalogue::BIAS),
        what => output::print(&experiments::one(what)?.1),
    }
}
