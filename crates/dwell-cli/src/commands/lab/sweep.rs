//! `dwell lab sweep`: an experiment from lists and ranges of flags.

use super::flags::RenderFlags;
use super::run::{self, Job};
use super::{experiments, failure};
use crate::cli::{LabSweepArgs, LabSweepRunningArgs};
use crate::engine;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use clap::Parser;
use dwell::quote;
use dwell_lab::EngineFilter;
use dwell_lab::energy::Meter;
use dwell_lab::experiment::{Axis, Experiment, Extent, Flags, Series, Text, Variant, expand, values};
use dwell_lab::record;
use dwell_lab::run::Amount;
use dwell_lab::{FlagReader, Unusable};

/// Flags of which a list is a list of variants, which are compared with each other.
const COMPARED: [&str; 10] =
    ["engine", "gpu-kernel", "level", "precision", "rounding", "schedule", "shortcuts", "strategy", "tile", "block"];
/// Flags whose values have commas: their lists have semicolons.
const WITH_COMMAS: [&str; 4] = ["bounds", "center", "julia", "shortcuts"];
/// Flags of this command, which may stand among those of `dwell render`.
const OWN: [&str; 3] = ["repeats", "record", "seed"];

/// Flags of this command that stand among those of `dwell render`.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Own {
    #[arg(long)]
    repeats: Option<String>,
    #[command(flatten)]
    running: LabSweepRunningArgs,
}

/// A flag and its list of values.
type List = (String, Vec<Text>);

pub(super) fn run(args: &LabSweepArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let (own, lists) = split(&args.flags)?;
    let own = Own::try_parse_from(own).map_err(|e| Usage::new("sweep", e.kind().to_string()))?;
    let repeats = engine::whole("--repeats", own.repeats.as_ref().unwrap_or(&args.repeats), 1, 1000)?;
    let repeats = u32::try_from(repeats).unwrap_or(1);
    let record = own.running.record.or_else(|| args.running.record.clone());
    let quiet = own.running.quiet || args.running.quiet;
    let seed = run::seed(own.running.seed.as_deref().or(args.running.seed.as_deref()))?;
    let experiment = experiment(lists, repeats);
    check(&experiment)?;
    let amount = Amount { extent: Extent::Whole, engine: EngineFilter::Any, seed };
    let meter = Meter::find();
    let experiments = vec![experiment];
    let header = run::header(&experiments, &amount, "auto", &meter);
    let folder = match record {
        Some(folder) => folder,
        None => run::new_folder(&header)?,
    };
    if record::read_header(&folder).map_err(failure)?.is_some() {
        let problem = format!("{} holds a run already", folder.display());
        let go_on = format!("`dwell lab run --record {}` goes on with it", folder.display());
        return Err(Usage::new("--record", problem).accepts("a folder without a run").hint(go_on).into());
    }
    let again = format!("dwell lab run --record {}", folder.display());
    let programs = experiments::programs(None)?;
    Job { experiments, programs, header, amount, folder, quiet, again }.run(&meter, interrupt)
}

/// The words of this command, and the flags of `dwell render` with their values.
fn split(words: &[String]) -> Result<(Vec<String>, Vec<List>), Failure> {
    let (mut own, mut lists): (Vec<String>, Vec<List>) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "-q" || word == "--quiet" {
            own.push(word.clone());
            continue;
        }
        let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
            return Err(Usage::new("sweep", format!("{} is no flag", quote(word)))
                .accepts("flags of `dwell render` with their values, such as --max-iter 100,1000")
                .into());
        };
        let (flag, value) = match flag.split_once('=') {
            Some((flag, value)) => (flag, value.to_owned()),
            None => {
                let value = words.next().ok_or_else(|| Usage::new(word.clone(), "it has no value"))?;
                (flag, value.clone())
            }
        };
        if OWN.contains(&flag) {
            own.push(format!("--{flag}={value}"));
            continue;
        }
        if ["output", "stats", "dry-run", "repeat", "no-clobber"].contains(&flag) {
            return Err(Usage::new(format!("--{flag}"), "a sweep writes no picture").into());
        }
        if lists.iter().any(|(other, _)| other == flag) {
            return Err(Usage::new(format!("--{flag}"), "it is given twice").accepts("one list").into());
        }
        let separator = if value.contains(';') { ';' } else { ',' };
        let whole = separator == ',' && WITH_COMMAS.contains(&flag);
        let parts: Vec<Text> = match whole {
            true => vec![Text(value)],
            false => value.split(separator).map(|part| Text::from(part.trim())).collect(),
        };
        let parts = values(&parts)
            .map_err(|e| Usage::new(format!("--{flag}"), e.to_string()).accepts("A..B, A..B+STEP, A..B*FACTOR"))?;
        lists.push((flag.to_owned(), parts));
    }
    Ok((own, lists))
}

/// The experiment of some lists.
fn experiment(lists: Vec<List>, repeats: u32) -> Experiment {
    let mut flags = Flags::new();
    let mut sweep = Vec::new();
    let mut variants = vec![Flags::new()];
    let mut title = Vec::new();
    for (flag, list) in lists {
        title.push(format!("{flag} {}", list.iter().map(|value| value.0.as_str()).collect::<Vec<_>>().join(", ")));
        if let [value] = list.as_slice() {
            flags.insert(flag, value.clone());
        } else if COMPARED.contains(&flag.as_str()) {
            variants = variants
                .iter()
                .flat_map(|variant| {
                    list.iter().map(|value| {
                        let mut variant = variant.clone();
                        variant.insert(flag.clone(), value.clone());
                        variant
                    })
                })
                .collect();
        } else {
            sweep.push(Axis { flag, values: list, quick: None, check: None });
        }
    }
    let variants = variants.into_iter().enumerate().map(|(number, flags)| {
        let values: Vec<&str> = flags.values().map(|value| value.0.as_str()).collect();
        let title = if values.is_empty() { "render".to_owned() } else { values.join(", ") };
        let name: String =
            title.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = format!("{}-{}", number + 1, &name[..name.len().min(60)]);
        Variant { flags, title: Some(title), ..Variant::named(name) }
    });
    let series = Series {
        title: title.join("; "),
        flags,
        repeats,
        sweep,
        variants: variants.collect(),
        ..Series::named("sweep".to_owned())
    };
    Experiment { series: vec![series], ..Experiment::named("sweep".to_owned(), "A sweep of flags".to_owned()) }
}

/// Refuses flags that are wrong at the first point, before anything runs.
fn check(experiment: &Experiment) -> Result<(), Failure> {
    for series in &experiment.series {
        let points = expand(series, Extent::Whole).map_err(|e| Usage::new("sweep", e.to_string()))?;
        if points.len().saturating_mul(series.variants.len()) > 100_000 {
            return Err(Usage::new("sweep", "the lists have too many points").accepts("at most 100000 cases").into());
        }
        for (i, variant) in points.iter().flat_map(|point| series.variants.iter().map(move |v| (point, v))) {
            let mut flags = series.flags.clone();
            flags.extend(i.clone());
            flags.extend(variant.flags.clone());
            if let Err(Unusable::Wrong(why)) = RenderFlags.setup(&flags) {
                return Err(Usage::new("sweep", why).hint("`dwell render --help` describes every flag").into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn lists_become_points_and_variants() {
        let line = "--size 64x64,128x128 --strategy=every-pixel,mariani-silver --max-iter 100..400*2 --bounds -2,1,-1,1 -q --repeats 3";
        let (own, lists) = split(&words(line)).unwrap();
        assert_eq!(own, ["-q", "--repeats=3"]);
        let experiment = experiment(lists, 3);
        let series = &experiment.series[0];
        assert_eq!(expand(series, Extent::Whole).unwrap().len(), 6);
        assert_eq!(series.variants.len(), 2);
        assert_eq!(series.variants[1].name, "2-mariani-silver");
        assert_eq!(series.flags["bounds"].0, "-2,1,-1,1");
        check(&experiment).unwrap();
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in ["size 4", "--size", "--size 4x4 --size 5x5", "--max-iter 9..1", "--output a.png"] {
            assert!(split(&words(line)).is_err(), "{line}");
        }
        let (_, lists) = split(&words("--sise 64x64")).unwrap();
        assert!(check(&experiment(lists, 1)).is_err());
    }
}
