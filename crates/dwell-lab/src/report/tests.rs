//! The report of a run that was made up: structure, completeness, escaping.

use super::*;
use crate::experiment::{self, Experiment, Extent, Point, expand};
use crate::record::{CaseEntry, Header, Machine, QuantityEntry, SampleEntry};
use std::collections::BTreeSet;

const LADDER: &str = r#"
title = "Naive against Mariani-Silver & <friends>"
about = "Is `border tracing` *faster*?\n\n* on CPUs\n* on devices"
[publication]
citation = "A. Author, A title with <b>tags</b>, 2017"
year = 2017
hardware = "GTX 1060"
note = "Times without copies."
[[series]]
name = "limits"
title = "Time over the limit"
flags = { size = "2048x2048" }
sweep = [{ flag = "max-iter", values = ["256..1600*1.25"] }]
variant = [
  { name = "naive", title = "Plain loop" },
  { name = "tiles", title = "Mariani-Silver" },
  { name = "device", title = "Mariani-Silver on a device" },
]
published = [
  { variant = "naive", measure = "megapixels-per-second", values = [1061, 870, 714, 577, 475, 380, 311, 250, nan], source = "figure 1" },
  { variant = "tiles", measure = "megapixels-per-second", values = [1900, 1402, 1191, 1025, 867, 735, 620, 513, 418], source = "figure 1" },
]
plot = [
  { title = "Pixel rate over the limit", measure = "megapixels-per-second", log-x = true },
  { title = "Time over the limit", measure = "seconds", log-x = true, log-y = true },
]
[[series]]
name = "threads"
title = "Threads and schedules"
sweep = [{ flag = "threads", values = [1, 2, 4, 8] }, { flag = "schedule", values = ["static", "dynamic"] }]
variant = [{ name = "f64" }, { name = "f32" }]
plot = [{ title = "Efficiency", measure = "efficiency" }, { title = "Speed-up", measure = "speed-up", kind = "bars" }]
[[quantity]]
name = "differing"
title = "Pixels that differ between f32 and f64"
compute = "differing"
expect = 7559
source = "table 5"
[[quantity]]
name = "mean"
title = "Mean iterations"
compute = "mean-iterations"
expect = 103.6
tolerance = 0.01
[[claim]]
name = "faster"
says = "Mariani-Silver is 1.9 to 3.9 times as fast as the `plain loop`."
source = "figure 2"
published = "3.91×"
holds = "1.3..3.9"
measure = { kind = "ratio", series = "limits", of = "tiles", to = "naive", over = "geometric-mean" }
[[claim]]
name = "nearly-20"
says = "It needs nearly 20 % of the time."
source = "page 5"
holds = ">= 4.5"
measure = { kind = "ratio", series = "limits", of = "tiles", to = "naive", over = "greatest" }
[[claim]]
name = "close"
says = "Both schedules take the same time."
source = "page 6"
holds = "< 4.0"
measure = { kind = "value", series = "limits", variant = "tiles", unit = "speed-up", over = "last" }
[[claim]]
name = "on-device"
says = "A device is 40 times as fast."
source = "abstract"
holds = ">= 40"
measure = { kind = "ratio", series = "limits", of = "device", to = "naive" }
[[claim]]
name = "share"
kind = "defect"
says = "The printed share of differing pixels is six times too high."
source = "table 5"
published = "3.02 %"
holds = "= 7559"
measure = { kind = "quantity", name = "differing" }
explained = "7559 of 1.5 million pixels are 0.50 %."
[[claim]]
name = "overflow"
kind = "defect"
says = "The largest picture fails for want of memory."
source = "page 6"
explained = "A product of `int` overflows."
[[claim]]
name = "growth"
says = "The time grows linearly."
source = "page 4"
holds = "0.6..1.1"
measure = { kind = "exponent", series = "limits", variant = "naive", flag = "max-iter" }
"#;

const BLOCKS: &str = r#"
title = "Shapes of blocks"
[[series]]
name = "blocks"
title = "Block shapes"
sweep = [{ flag = "block-x", values = [1, 2, 4, 8, 16] }, { flag = "block-y", values = [1, 2, 4, 8, 16] }]
variant = [{ name = "double", title = "f64" }]
published = [{ variant = "double", measure = "seconds", source = "table 11", values = [
  81.67, 40, 20, 10, 5, 40, 20, 10, 5, 3, 20, 10, 5, 3, 2.8, 10, 5, 3, 2.8, 2.7, 5, 3, 2.8, 2.7, 2.713] }]
plot = [{ title = "Time by block shape", measure = "seconds", kind = "heatmap" }]
[[series]]
name = "stages"
title = "Stages of optimisation"
variant = [
  { name = "first", title = "First version" },
  { name = "wrong", title = "A version with a lost tile" },
  { name = "guess", title = "Heuristic", exact = false },
  { name = "numpy", title = "NumPy" },
]
published = [{ variant = "first", measure = "seconds", values = [3.630], source = "table 1" }]
plot = [{ title = "Time of each version", measure = "seconds", kind = "bars" }]
[[series]]
name = "cut"
title = "Cut short"
sweep = [{ flag = "size", values = ["64x64", "128x128"] }]
variant = [{ name = "one" }]
"#;

/// A generator of repeatable numbers from 0 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }
}

fn point_value(point: &Point, flag: &str) -> Option<f64> {
    point.get(flag).and_then(|value| crate::figures::number(&value.0))
}

/// Seconds of a variant at a point, without noise.
fn model(variant: &str, point: &Point) -> f64 {
    let limit = point_value(point, "max-iter").unwrap_or(256.0);
    let threads = point_value(point, "threads").unwrap_or(1.0);
    let block = point_value(point, "block-x").unwrap_or(1.0) * point_value(point, "block-y").unwrap_or(1.0);
    let dynamic =
        if point.get("schedule").is_some_and(|value| value.0 == "static") { 1.0 + 0.05 * threads } else { 1.0 };
    let base = match variant {
        "naive" => 1.5e-5 * limit,
        "tiles" => 8e-4 + 5e-6 * limit,
        "f64" => 0.4,
        "f32" => 0.22,
        "double" => 0.9 / block.min(24.0),
        _ => 0.05,
    };
    base * dynamic * (1.0 + 0.04 * (threads - 1.0)) / threads
}

fn status(variant: &str) -> Status {
    match variant {
        "device" => Status::NotRun { why: "there is no CUDA device: the driver libcuda.so was not found".to_owned() },
        "wrong" => {
            Status::Wrong { wrong: 4096, why: "a lost tile: pixel (64, 0) has 0 in place of 3 & <more>".to_owned() }
        }
        "guess" => Status::Heuristic { wrong: 12 },
        "numpy" => Status::OtherRounding { differing: 41, right: 20 },
        _ => Status::Equal,
    }
}

fn cases(experiment: &Experiment, noise: &mut Noise) -> Vec<Case> {
    let mut cases = Vec::new();
    for series in &experiment.series {
        for (at, point) in expand(series, Extent::Whole).unwrap().into_iter().enumerate() {
            for variant in &series.variants {
                let status = status(&variant.name);
                let rounds = match (series.name.as_str(), at) {
                    _ if !status.is_timed() => 0,
                    ("cut", 0) => 1,
                    ("cut", _) => 0,
                    _ => 10,
                };
                let time = model(&variant.name, &point);
                let samples = (0..rounds).map(|round| SampleEntry {
                    series: series.name.clone(),
                    point: point.clone(),
                    variant: variant.name.clone(),
                    round,
                    batch: 1,
                    seconds: [("total", 1.1), ("compute", 1.0)]
                        .map(|(stage, factor)| {
                            let late = if noise.next() > 0.9 { 1.3 } else { 1.0 };
                            (stage.to_owned(), factor * time * late * (1.0 + 0.06 * noise.next()))
                        })
                        .into(),
                    joules: [("package".to_owned(), 40.0 * time)].into(),
                    clock_mhz: Some(2600.0),
                });
                let entry = CaseEntry {
                    series: series.name.clone(),
                    point: point.clone(),
                    variant: variant.name.clone(),
                    flags: series.flags.clone(),
                    pixels: if matches!(status, Status::NotRun { .. }) { 0 } else { 1 << 22 },
                    iterations: (point_value(&point, "max-iter").unwrap_or(256.0) * 0.45 * f64::from(1 << 22)) as u64,
                    interior: 1 << 20,
                    reference: "00".repeat(32),
                    peak: if experiment.name == "ladder" { "cpu avx2 f64 fused 2 threads" } else { "cpu avx2 f32" }
                        .to_owned(),
                    facts: [("threads", &point)]
                        .map(|(name, point)| {
                            (name.to_owned(), point.get("threads").map_or("1".to_owned(), |value| value.0.clone()))
                        })
                        .into(),
                    status,
                };
                cases.push(Case { samples: samples.collect(), entry });
            }
        }
    }
    cases
}

fn experiment_run(name: &str, text: &str, finished: bool) -> ExperimentRun {
    let experiment = experiment::read(name, name, text).unwrap();
    let cases = cases(&experiment, &mut Noise(7));
    let quantity = |name: &str, value, picture: Option<&str>| QuantityEntry {
        name: name.to_owned(),
        value,
        picture: picture.map(str::to_owned),
    };
    let quantities = if name == "ladder" {
        vec![quantity("differing", Ok(7559.0), Some("differing.png")), quantity("mean", Ok(103.55), None)]
    } else {
        Vec::new()
    };
    let peaks = [("cpu avx2 f64 fused 2 threads".to_owned(), 2.1e11), ("cpu avx2 f32".to_owned(), 3.0e10)].into();
    ExperimentRun { experiment, finished, cases, quantities, peaks }
}

/// A run with two experiments, the second of which was interrupted.
pub(crate) fn sample_run() -> Run {
    let machine = Machine {
        processor: "Intel(R) Xeon(R) <Processor> @ 2.60GHz".to_owned(),
        processors: 2,
        levels: ["scalar", "avx2", "avx512"].map(str::to_owned).to_vec(),
        memory_bytes: 8 << 30,
        system: "Debian 12".to_owned(),
        load: Some(0.2),
        no_device: Some("the driver libcuda.so was not found".to_owned()),
        energy: "RAPL cannot be read".to_owned(),
        ..Machine::default()
    };
    let header = Header {
        format: 1,
        version: "0.1.0 (0123abc)".to_owned(),
        began: "2026-11-22T06:00:00Z".to_owned(),
        extent: "whole".to_owned(),
        engine: "auto".to_owned(),
        experiments: ["ladder", "blocks", "later"].map(str::to_owned).to_vec(),
        seed: 7,
        machine,
    };
    let experiments = vec![experiment_run("ladder", LADDER, true), experiment_run("blocks", BLOCKS, false)];
    Run { name: "2026-11-22-example".to_owned(), header, experiments }
}

fn picture(name: &str) -> Option<Vec<u8>> {
    (name == "differing.png").then(|| b"\x89PNG\r\n\x1a\nrest".to_vec())
}

const SURROUNDINGS: Surroundings<'_> = Surroundings { file: &picture, data: Some("report") };

/// Checks that every element is closed in order, and that no attribute is open. Returns the number of elements.
fn well_formed(markup: &str) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let (mut rest, mut count) = (markup.trim_start_matches("<!DOCTYPE html>"), 0);
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains('<'), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
            continue;
        }
        count += 1;
        let name = tag.split([' ', '\n', '/']).next().unwrap();
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("a style ends") + 8..];
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    count
}

/// The text of markup without its tags and styles.
fn text_of(markup: &str) -> String {
    let mut text = String::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        let close = if rest[at..].starts_with("<style") { "</style>" } else { ">" };
        rest = rest[at..].find(close).map_or("", |end| &rest[at + end + close.len()..]);
    }
    text.push_str(rest);
    text
}

#[test]
fn the_page_is_well_formed_and_needs_no_other_file() {
    let run = sample_run();
    let page = Report::new(&run).html(&SURROUNDINGS);
    assert!(well_formed(&page) > 1000);
    for forbidden in
        ["<script", "src=\"http", "@import", "url(", "href=\"http", "<link", "<b>tags", "<Processor>", "<friends>"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("A title with &lt;b&gt;tags&lt;/b&gt;"));
    assert!(page.contains("src=\"data:image/png;base64,iVBORw0KGgpyZXN0\""));
    assert!(page.contains("href=\"./report.csv\"") && page.contains("href=\"./report.json\""));
    let text = text_of(&page);
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        assert!(!matches!(word.to_lowercase().as_str(), "nan" | "inf" | "infinity"), "{word}");
    }
    for attribute in page.split('"').skip(1).step_by(2) {
        let numbers = attribute.split([' ', 'M', 'L', 'Z', ',']);
        assert!(numbers.clone().all(|number| !matches!(number, "NaN" | "inf" | "-inf")), "{attribute}");
    }
    // Every anchor exists.
    let anchors: BTreeSet<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    for link in page.split("href=\"#").skip(1) {
        let link = link.split('"').next().unwrap();
        assert!(anchors.contains(link), "{link}");
    }
}

#[test]
fn every_claim_is_there_once_with_its_verdict() {
    let run = sample_run();
    let report = Report::new(&run);
    let page = report.html(&SURROUNDINGS);
    for claim in &run.experiments[0].experiment.claims {
        assert_eq!(page.matches(&format!("id=\"claim-ladder-{}\"", claim.name)).count(), 1, "{}", claim.name);
    }
    let outcome = |name: &str| {
        let (_, verdict) = report.sections[0].verdicts.iter().find(|(claim, _)| claim.name == name).unwrap();
        verdict.clone()
    };
    let faster = outcome("faster");
    assert_eq!(faster.outcome, Outcome::Holds);
    assert_eq!(faster.detail, "geometric mean of 9 points");
    assert_eq!(outcome("nearly-20").outcome, Outcome::DoesNotHold);
    assert_eq!(outcome("close").outcome, Outcome::Holds);
    assert_eq!(outcome("share").outcome, Outcome::Holds);
    assert_eq!(outcome("share").figure.unwrap().value, 7559.0);
    assert_eq!(outcome("overflow").outcome, Outcome::Explained);
    assert_eq!(outcome("growth").outcome, Outcome::Holds);
    let absent = outcome("on-device");
    assert_eq!(absent.outcome, Outcome::NotTested);
    assert!(absent.detail.contains("there is no CUDA device"), "{}", absent.detail);
    assert_eq!(report.counts().values().sum::<usize>(), 7);
    assert!(page.contains(">reproduced<") && page.contains(">does not hold<"));
}

#[test]
fn a_claim_over_points_without_figures_says_so() {
    let mut run = sample_run();
    let ladder = &mut run.experiments[0];
    let first = ladder.cases.iter_mut().find(|case| case.entry.variant == "tiles").unwrap();
    first.entry.status = Status::Wrong { wrong: 3, why: "three pixels".to_owned() };
    let last = ladder.cases.iter().rposition(|case| case.entry.series == "limits").unwrap();
    ladder.cases.drain(last - 2..=last);
    let verdicts = verdicts(ladder);
    let detail = &verdicts[0].1.detail;
    assert!(
        detail.starts_with("geometric mean of 7 points; one point has no figure: tiles: wrong counts: three pixels"),
        "{detail}"
    );
    assert!(detail.ends_with("; the whole sweep has 9 such points"), "{detail}");
}

#[test]
fn an_interval_across_a_threshold_is_within_noise() {
    let mut run = sample_run();
    let ladder = &mut run.experiments[0];
    ladder.experiment.claims.truncate(1);
    let value = verdicts(ladder)[0].1.figure.unwrap();
    for (holds, expected) in [
        (format!(">= {}", value.value), Outcome::WithinNoise),
        (format!(">= {}", value.low), Outcome::Holds),
        (format!("> {}", value.high), Outcome::DoesNotHold),
    ] {
        ladder.experiment.claims[0].holds = Some(holds);
        assert_eq!(verdicts(ladder)[0].1.outcome, expected);
    }
}

#[test]
fn csv_has_a_row_for_each_sample_and_each_case_without_samples() {
    let run = sample_run();
    let csv = Report::new(&run).csv();
    let cases = || run.experiments.iter().flat_map(|experiment| &experiment.cases);
    let expected: usize = cases().map(|case| case.samples.len().max(1)).sum();
    // No cell of this run holds a line end.
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 1 + expected);
    let columns = lines[0].split(',').count();
    let cells = |line: &str| {
        let mut quoted = false;
        1 + line
            .chars()
            .filter(|c| {
                quoted ^= *c == '"';
                *c == ',' && !quoted
            })
            .count()
    };
    assert!(lines.iter().all(|line| cells(line) == columns));
    assert!(csv.contains("\"a lost tile: pixel (64, 0) has 0 in place of 3 & <more>\""));
    assert!(lines[0].contains("point.max-iter") && lines[0].contains("seconds.compute"));
}

#[test]
fn json_is_read_back_and_has_every_sample() {
    let run = sample_run();
    let json: serde_json::Value = serde_json::from_str(&Report::new(&run).json()).unwrap();
    let cases = json["experiments"][0]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), run.experiments[0].cases.len());
    let samples: usize = cases.iter().map(|case| case["samples"].as_array().unwrap().len()).sum();
    let expected: usize = run.experiments[0].cases.iter().map(|case| case.samples.len()).sum();
    assert_eq!(samples, expected);
    assert_eq!(cases[0]["figures"]["speed_up"]["median"], 1.0);
    assert_eq!(json["experiments"][0]["verdicts"][0]["verdict"], "holds");
}

#[test]
fn markdown_has_tables_of_equal_width_and_every_claim() {
    let run = sample_run();
    let text = Report::new(&run).markdown();
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair[0].starts_with('|') && pair[1].starts_with('|')) {
        assert_eq!(cells(pair[0]), cells(pair[1]), "{pair:?}");
    }
    for claim in &run.experiments[0].experiment.claims {
        assert_eq!(text.matches(claim.says.as_str()).count(), 1, "{}", claim.says);
    }
    assert!(!text.contains("NaN") && !text.contains("<b>"));
}

#[test]
fn plots_are_files_of_their_own() {
    let run = sample_run();
    let plots = Report::new(&run).plots();
    let names: BTreeSet<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
    assert_eq!(names.len(), plots.len());
    for name in ["ladder-limits-1", "ladder-threads-2", "blocks-blocks-1", "blocks-stages-1", "peak-1"] {
        assert!(names.contains(name), "{name} of {names:?}");
    }
    for plot in &plots {
        assert!(plot.svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(plot.svg.contains("<style>") && plot.svg.contains("<title>") && plot.svg.contains("<desc>"));
        well_formed(&plot.svg);
    }
    let map = plots.iter().find(|plot| plot.name == "blocks-blocks-1").unwrap();
    assert_eq!(map.svg.matches("class=\"cell\"").count(), 25);
    assert_eq!(map.svg.matches("class=\"best\"").count(), 1);
    let lines = plots.iter().find(|plot| plot.name == "ladder-limits-1").unwrap();
    // Nine measured points of two variants, 8 and 9 published ones, and one of each in the key.
    assert_eq!(lines.svg.matches("class=\"mark c").count(), 19);
    assert_eq!(lines.svg.matches("class=\"hollow c").count(), 18);
}

#[test]
fn an_empty_run_has_a_report() {
    let mut run = sample_run();
    run.experiments.clear();
    let report = Report::new(&run);
    well_formed(&report.html(&Surroundings { file: &|_| None, data: None }));
    assert_eq!(report.csv().lines().count(), 1);
    assert!(report.markdown().contains("not begun"));
    let mut run = sample_run();
    run.experiments.iter_mut().for_each(|experiment| experiment.cases.clear());
    well_formed(&Report::new(&run).html(&SURROUNDINGS));
}

#[test]
fn a_heuristic_a_single_sample_and_no_sample_are_told_apart() {
    let run = sample_run();
    let page = Report::new(&run).html(&SURROUNDINGS);
    assert!(page.contains("heuristic, 12 wrong"));
    assert!(page.contains("4096 wrong pixels"));
    assert!(page.contains("rounding, 41 differ"));
    let series = &run.experiments[1].experiment.series[2];
    let figures = SeriesFigures::new(&run.experiments[1], series);
    let figure = |i: usize| figures.figure(figures.points[i], &series.variants[0], crate::experiment::Unit::Seconds);
    assert_eq!(figure(0).unwrap().summary.count, 1);
    assert!(figure(1).unwrap_err().contains("no sample was taken"));
}

#[test]
fn conditions_are_read_aloud() {
    for (text, words) in
        [("<= 6", "at most 6"), ("> 0", "above 0"), ("= 7559", "equal to 7559"), ("1.3..6", "from 1.3 to 6")]
    {
        assert_eq!(summary::condition(text), words);
    }
}
