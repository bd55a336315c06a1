//! The experiments that the program has built in, as the texts of their files.

/// Name and text of every built-in experiment, the publications in the order of their numbers.
const BUILT_IN: [(&str, &str); 6] = [
    ("zhong", include_str!("../lab/zhong.toml")),
    ("hybridizer", include_str!("../lab/hybridizer.toml")),
    ("genova", include_str!("../lab/genova.toml")),
    ("nvidia", include_str!("../lab/nvidia.toml")),
    ("toader", include_str!("../lab/toader.toml")),
    ("ours", include_str!("../lab/ours.toml")),
];

/// How figures are obtained: Markdown.
pub const METHODOLOGY: &str = include_str!("../lab/METHODOLOGY.md");
/// What favours or hurts a contestant: Markdown.
pub const BIAS: &str = include_str!("../lab/BIAS.md");

/// The names of the built-in experiments.
#[must_use]
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// Name and text of every built-in experiment.
#[must_use]
pub fn built_in() -> Vec<(&'static str, &'static str)> {
    BUILT_IN.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{ClaimKind, Experiment, Extent, Flags, Measure, Series, expand, join_parts, read};
    use crate::quantity::Kind;
    use std::collections::BTreeSet;

    /// Times of a sample.
    const TIMES: [&str; 11] =
        ["total", "compute", "kernel", "copy", "allocate", "context", "load", "paint", "colour", "encode", "write"];
    /// Flags of `dwell render` that experiments use.
    const FLAGS: [&str; 20] = [
        "block",
        "bounds",
        "engine",
        "format",
        "gpu-kernel",
        "init-subdiv",
        "level",
        "max-depth",
        "max-iter",
        "min-size",
        "precision",
        "rounding",
        "sample",
        "schedule",
        "shortcuts",
        "size",
        "strategy",
        "subdiv",
        "threads",
        "tile",
    ];

    fn all() -> Vec<Experiment> {
        let read = |(name, text): (&str, &str)| read(name, name, text).unwrap_or_else(|error| panic!("{error}"));
        built_in().into_iter().map(read).collect()
    }

    #[test]
    fn claims_and_published_figures_have_sources_and_questions_are_put() {
        for experiment in all() {
            let name = &experiment.name;
            assert!(!experiment.about.is_empty() && !experiment.claims.is_empty(), "{name}");
            assert_eq!(experiment.publication.is_some(), *name != "ours");
            for claim in &experiment.claims {
                assert!(!claim.source.trim().is_empty() && claim.says.ends_with('.'), "{name}: {}", claim.name);
            }
            for series in &experiment.series {
                for published in &series.published {
                    assert!(!published.source.trim().is_empty(), "{name}: {}", series.name);
                    assert!(published.values.iter().any(|value| value.is_finite() && *value > 0.0));
                }
            }
            for quantity in &experiment.quantities {
                assert_eq!(quantity.expect.is_some(), !quantity.source.is_empty(), "{name}: {}", quantity.name);
            }
        }
    }

    #[test]
    fn each_publication_has_claims_and_defects() {
        for (name, claims, defects) in
            [("zhong", 15, 13), ("hybridizer", 8, 8), ("genova", 12, 10), ("nvidia", 10, 8), ("toader", 8, 8)]
        {
            let experiment = all().into_iter().find(|experiment| experiment.name == name).unwrap();
            let of = |kind| experiment.claims.iter().filter(|claim| claim.kind == kind).count();
            assert!(of(ClaimKind::Claim) >= claims, "{name}: {}", of(ClaimKind::Claim));
            assert!(of(ClaimKind::Defect) >= defects, "{name}: {}", of(ClaimKind::Defect));
        }
    }

    #[test]
    fn names_in_the_files_are_those_of_the_program() {
        for experiment in all() {
            let known: BTreeSet<&str> = FLAGS.into_iter().collect();
            for quantity in &experiment.quantities {
                let kind = quantity.compute.parse::<Kind>().unwrap();
                let params: BTreeSet<&str> = quantity.params.keys().map(String::as_str).collect();
                assert!(params.is_subset(&kind.parameters().iter().copied().collect()), "{}", quantity.name);
                assert!(quantity.flags.keys().all(|flag| known.contains(flag.as_str())), "{}", quantity.name);
            }
            for series in &experiment.series {
                for (point, variant, flags) in cases(series, Extent::Whole) {
                    let unknown = flags.keys().find(|flag| !known.contains(flag.as_str()));
                    assert_eq!(unknown, None, "{}, {}, {variant}, {point:?}", experiment.name, series.name);
                }
                for variant in &series.variants {
                    let is_known = |time: &String| TIMES.contains(&time.as_str());
                    assert!(!variant.time.is_empty() && variant.time.iter().all(is_known), "{}", variant.name);
                }
            }
        }
    }

    /// A flag with a value that the measure selects points by occurs among the points, in a whole run.
    #[test]
    fn measures_select_points_that_exist() {
        for experiment in all() {
            for claim in &experiment.claims {
                let (series, at) = match &claim.measure {
                    Some(
                        Measure::Ratio { series, at, .. }
                        | Measure::Value { series, at, .. }
                        | Measure::Exponent { series, at, .. }
                        | Measure::Share { series, at, .. }
                        | Measure::WrongPixels { series, at, .. },
                    ) => (series, vec![at.clone()]),
                    Some(Measure::Growth { series, flag, from, to, at, .. }) => {
                        let with = |value| {
                            let mut at = at.clone();
                            at.insert(flag.clone(), value);
                            at
                        };
                        (series, vec![with(from.clone()), with(to.clone())])
                    }
                    Some(Measure::Quantity { .. }) | None => continue,
                };
                let series = experiment.series.iter().find(|other| other.name == *series).unwrap();
                let points = expand(series, Extent::Whole).unwrap();
                for at in at {
                    let selects =
                        points.iter().any(|point| at.iter().all(|(flag, value)| point.get(flag) == Some(value)));
                    assert!(selects, "{}: {}: {at:?}", experiment.name, claim.name);
                }
            }
        }
    }

    #[test]
    fn checks_are_small_and_of_odd_sizes() {
        for experiment in all() {
            for series in &experiment.series {
                let mut is_odd = false;
                for (point, variant, flags) in cases(series, Extent::Check) {
                    let (pixels, limit, odd) = amount(&flags);
                    let place = format!("{}, {}, {variant}, {point:?}", experiment.name, series.name);
                    assert!(pixels * limit <= 101 * 67 * 300 * 2, "{place}");
                    is_odd |= odd;
                }
                assert!(is_odd, "{}, {}", experiment.name, series.name);
            }
        }
    }

    /// The least time of a quick run without a device is that of one check and two rounds of each case. Slow loops decide it.
    #[test]
    fn slow_loops_are_small_in_quick_runs() {
        for experiment in all() {
            for series in &experiment.series {
                for variant in series.variants.iter().filter(|variant| variant.reference_loop.is_some()) {
                    let cases = cases(series, Extent::Quick);
                    for (point, _, flags) in cases.into_iter().filter(|(_, name, _)| *name == variant.name) {
                        let (pixels, limit, _) = amount(&flags);
                        let most =
                            if variant.reference_loop.as_deref() == Some("norm") { 2_000_000_000 } else { 100_000_000 };
                        let place = format!("{}, {}, {}, {point:?}", experiment.name, series.name, variant.name);
                        assert!(pixels * limit <= most, "{place}: {}", pixels * limit);
                    }
                }
            }
        }
    }

    /// Every point of a series with every variant: the point, the variant's name, all flags.
    fn cases(series: &Series, extent: Extent) -> Vec<(crate::experiment::Point, String, Flags)> {
        let mut cases = Vec::new();
        for point in expand(series, extent).unwrap() {
            for variant in &series.variants {
                let mut flags = series.flags.clone();
                match extent {
                    Extent::Whole => {}
                    Extent::Quick => flags.extend(series.quick.clone()),
                    Extent::Check => flags.extend(series.check.clone()),
                }
                flags.extend(point.clone());
                flags.extend(variant.flags.clone());
                join_parts(&mut flags);
                cases.push((point.clone(), variant.name.clone(), flags));
            }
        }
        cases
    }

    /// Pixels, limit, and whether a side is odd.
    fn amount(flags: &Flags) -> (u64, u64, bool) {
        let (width, height) = flags["size"].0.split_once('x').unwrap();
        let (width, height): (u64, u64) = (width.parse().unwrap(), height.parse().unwrap());
        (width * height, flags["max-iter"].0.parse().unwrap(), width % 2 == 1 || height % 2 == 1)
    }
}
