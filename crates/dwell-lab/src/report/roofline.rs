//! The rates of all variants of a run under the measured peaks.

use super::number::{in_unit, percent, significant};
use super::svg::{Dot, Roofline};
use super::table::Table;
use super::{Report, title};
use crate::experiment::Unit;
use crate::verdict::describe;
use std::collections::BTreeMap;

/// The rates under one peak.
pub(super) struct Roof {
    /// The plot.
    pub(super) plot: Roofline,
    /// The best share of each variant.
    pub(super) table: Table,
}

/// Fewest figures under a peak that are worth a plot of their own; each share of a peak is in the tables of its series, too.
const FEWEST: usize = 8;

/// A variant's best case: share of the peak, rate, place.
struct Best {
    experiment: String,
    variant: String,
    share: f64,
    rate: f64,
    place: String,
}

/// The rates of the run, by peak.
pub(super) fn roofs(report: &Report<'_>) -> Vec<Roof> {
    let mut groups: BTreeMap<&str, (f64, Vec<Dot>, Vec<Best>)> = BTreeMap::new();
    for (colour, section) in report.sections.iter().enumerate() {
        for series in &section.series {
            for point in &series.points {
                for variant in &series.series.variants {
                    let Ok(share) = series.figure(point, variant, Unit::PeakShare) else { continue };
                    let Ok(rate) = series.figure(point, variant, Unit::GigaiterationsPerSecond) else { continue };
                    let Some(entry) = series.case(point, &variant.name).map(|case| &case.entry) else { continue };
                    let (share, rate) = (share.estimate.value, rate.estimate.value);
                    if entry.pixels == 0 || !(share > 0.0 && rate > 0.0) {
                        continue;
                    }
                    let peak = section.run.peaks.get(&entry.peak).copied().unwrap_or_default() * 1e-9;
                    let group = groups.entry(&entry.peak).or_insert_with(|| (peak, Vec::new(), Vec::new()));
                    let place = describe(point);
                    group.1.push(Dot {
                        x: entry.iterations as f64 / entry.pixels as f64,
                        y: rate,
                        colour,
                        note: format!(
                            "{}, {}, {place}: {}, {} of the peak",
                            section.name(),
                            title(variant),
                            in_unit(rate, Unit::GigaiterationsPerSecond),
                            percent(share)
                        ),
                    });
                    let best = Best {
                        experiment: format!("{}/{}", section.name(), series.series.name),
                        variant: title(variant).to_owned(),
                        share,
                        rate,
                        place,
                    };
                    keep_best(&mut group.2, best);
                }
            }
        }
    }
    let name = |colour: usize| (colour, report.sections.get(colour).map_or("", |section| section.name()).to_owned());
    let most = groups.values().map(|(_, dots, _)| dots.len()).max().unwrap_or(0);
    groups.retain(|_, (_, dots, _)| dots.len() >= FEWEST.min(most));
    groups.into_iter().map(|(peak, (rate, dots, best))| roof(peak, rate, dots, best, name)).collect()
}

fn keep_best(all: &mut Vec<Best>, new: Best) {
    match all.iter_mut().find(|one| (&one.experiment, &one.variant) == (&new.experiment, &new.variant)) {
        Some(old) if old.share < new.share => *old = new,
        Some(_) => {}
        None => all.push(new),
    }
}

fn roof(peak: &str, rate: f64, dots: Vec<Dot>, mut best: Vec<Best>, name: impl Fn(usize) -> (usize, String)) -> Roof {
    let mut colours: Vec<usize> = dots.iter().map(|dot| dot.colour).collect();
    colours.sort_unstable();
    colours.dedup();
    best.sort_by(|a, b| b.share.total_cmp(&a.share));
    let rows = best
        .into_iter()
        .map(|one| vec![one.experiment, one.variant, significant(one.rate), percent(one.share), one.place]);
    let table = Table {
        head: vec!["series", "variant", "G it/s", "of peak", "best at"],
        rows: rows.collect(),
        words: vec![0, 1, 4],
        flags: Vec::new(),
    };
    let plot = Roofline { name: peak.to_owned(), peak: rate, dots, legend: colours.into_iter().map(name).collect() };
    Roof { plot, table }
}
