//! `dwell lab`: experiments run, checked, recorded, gone on with, compared and reported.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A small experiment with a sweep, a heuristic, a device that may be missing, and claims.
const SMALL: &str = r#"
title = "Small"
[[series]]
name = "strategies"
title = "Strategies at two limits"
repeats = 3
flags = { bounds = "-2,1,-1,1", size = "151x101", threads = 1 }
baseline = "plain"
[[series.sweep]]
flag = "max-iter"
values = [50, 200]
[[series.variant]]
name = "plain"
flags = { shortcuts = "none" }
[[series.variant]]
name = "usual"
[[series.variant]]
name = "inferred"
flags = { strategy = "mariani-silver" }
[[series.variant]]
name = "picture"
stage = "picture"
time = ["total"]
[[series.variant]]
name = "device"
flags = { engine = "cuda:1000" }
[[quantity]]
name = "mean"
title = "Mean iterations"
compute = "mean-iterations"
flags = { bounds = "-2,1,-1,1", size = "151x101", max-iter = 50 }
check = true
[[claim]]
name = "growth"
says = "A limit four times as high takes longer"
source = "here"
holds = ">= 1.1"
measure = { kind = "growth", series = "strategies", variant = "plain", flag = "max-iter", from = 50, to = 200 }
[[claim]]
name = "device"
says = "A device is faster"
source = "here"
holds = ">= 1"
measure = { kind = "ratio", series = "strategies", of = "device", to = "plain" }
"#;

fn lab(folder: &Folder, line: &str) -> Ran {
    folder.run(["lab"].into_iter().chain(line.split_whitespace()))
}

/// The entries of a log.
fn entries(folder: &Folder, log: &str) -> Vec<Value> {
    let text = String::from_utf8(folder.read(log)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn count(entries: &[Value], kind: &str) -> usize {
    entries.iter().filter(|entry| entry["entry"] == kind).count()
}

#[test]
fn a_run_checks_times_and_reports_every_variant() {
    let folder = Folder::new().with("small.toml", SMALL.as_bytes());
    let ran = lab(&folder, "run small.toml --record a --seed 7");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("not run: device, "), "{}", ran.err);
    assert!(ran.text().contains("report: a/report.html"), "{}", ran.text());
    let found = entries(&folder, "a/small.jsonl");
    // Five variants at two points, of which four are timed in three rounds.
    assert_eq!((count(&found, "case"), count(&found, "sample"), count(&found, "quantity")), (10, 24, 1));
    let status = |variant: &str| {
        let of = found.iter().find(|entry| entry["entry"] == "case" && entry["variant"] == variant).unwrap();
        of["status"]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(["plain", "usual", "picture"].map(status), ["equal"; 3]);
    assert_eq!((status("inferred").as_str(), status("device").as_str()), ("heuristic", "not-run"));
    for file in ["a/run.json", "a/small.toml", "a/report.html", "a/report.md", "a/report.json", "a/report.csv"] {
        assert!(!folder.read(file).is_empty(), "{file}");
    }
    let page = String::from_utf8(folder.read("a/report.html")).unwrap();
    assert!(page.contains("A device is faster") && page.contains("cannot be tested here"), "the claims");
    // The same run compared with itself shows no change.
    let same = lab(&folder, "compare a a");
    assert_eq!(same.code, 0, "{}{}", same.text(), same.err);
    let again = lab(&folder, "report a -o b.md -o b.json");
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(folder.read("a/report.md"), folder.read("b.md"));
    assert_eq!(lab(&folder, "report a -o b.pdf").code, 2);
}

#[test]
fn a_killed_run_keeps_its_samples_and_goes_on() {
    let long =
        SMALL.replace("151x101", "700x500").replace("[50, 200]", "[2000, 4000]").replace("repeats = 3", "repeats = 9");
    let folder = Folder::new().with("small.toml", long.as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_dwell"))
        .args(["lab", "run", "small.toml", "--record", "a"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let log = folder.path().join("a/small.jsonl");
    let began = Instant::now();
    let samples = || std::fs::read_to_string(&log).unwrap_or_default().matches("\"entry\":\"sample\"").count();
    while samples() < 4 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    let kept = &text[..text.rfind('\n').unwrap() + 1];
    assert!(kept.matches("\"entry\":\"sample\"").count() >= 4 && !kept.contains("finished"), "{kept}");
    let ran = lab(&folder, "run --record a");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let after = std::fs::read_to_string(&log).unwrap();
    assert!(after.starts_with(kept), "samples were lost");
    assert!(after.contains("finished"));
    let found = entries(&folder, "a/small.jsonl");
    assert_eq!(count(&found, "sample"), 2 * 4 * 9, "no sample was taken twice");
    // A finished run has nothing left to do, and other experiments do not go into its folder.
    assert_eq!(lab(&folder, "run --record a").code, 0);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), after);
    assert_eq!(lab(&folder, "run ours --record a").code, 2);
}

#[test]
fn a_sweep_of_flags_needs_no_file() {
    let folder = Folder::new();
    let line = "sweep --size 64x48,96x64 --threads 1..2 --strategy every-pixel,mariani-silver --max-iter 60 --repeats 2 --record a";
    let ran = lab(&folder, line);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let found = entries(&folder, "a/sweep.jsonl");
    assert_eq!((count(&found, "case"), count(&found, "sample")), (8, 16));
    assert!(String::from_utf8(folder.read("a/report.csv")).unwrap().contains("96x64"));
    assert_eq!(lab(&folder, &line.replace("64x48", "64x0")).code, 2);
}

/// An array of dwells with another value in place of each.
#[cfg(unix)]
fn changed(npy: &[u8], change: impl Fn(usize, u32) -> u32) -> Vec<u8> {
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    let (dwells, _) = npy[header..].as_chunks::<4>();
    let changed =
        dwells.iter().enumerate().flat_map(|(at, dwell)| change(at, u32::from_le_bytes(*dwell)).to_le_bytes());
    npy[..header].iter().copied().chain(changed).collect()
}

#[cfg(unix)]
#[test]
fn a_program_with_wrong_counts_gets_no_time_and_the_others_do() {
    const WIDTH: usize = 640;
    let view = "--bounds -2,1,-1,1 --size 640x480 --max-iter 300 --rounding separate --engine cpu -q";
    let folder = Folder::new();
    folder.good(&format!("render {view} -o right.npy"));
    let right = folder.read("right.npy");
    // One count too many everywhere; a tile of 16 x 16 that was never computed, below 1 pixel in 1,000; every eighth lane of
    // some rows runs to the limit.
    let in_tile = |at: usize| (80..96).contains(&(at % WIDTH)) && (64..80).contains(&(at / WIDTH));
    let in_lane = |at: usize| (at % WIDTH).is_multiple_of(8) && (200..203).contains(&(at / WIDTH));
    let folder = folder
        .with("off-by-one.npy", &changed(&right, |_, dwell| if dwell == 0 { 0 } else { dwell + 1 }))
        .with("lost-tile.npy", &changed(&right, |at, dwell| if in_tile(at) { 0 } else { dwell }))
        .with("nan-lane.npy", &changed(&right, |at, dwell| if in_lane(at) { 0 } else { dwell }))
        .with("garbage.npy", b"these are no counts");
    let (mut programs, mut variants) = (String::new(), String::new());
    for name in ["right", "off-by-one", "lost-tile", "nan-lane", "garbage", "missing"] {
        for (ending, agreement) in [("", "\"recipe\"\nrounding = \"separate\""), ("-other", "\"other-rounding\"")] {
            programs.push_str(&format!(
                "[[engine]]\nname = \"{name}{ending}\"\ntitle = \"a copy\"\ncommand = [\"cp\", \"{{here}}/{name}.npy\", \"{{output}}\"]\n\
                 available = [\"true\"]\nprecision = {{ f64 = \"\" }}\noutput = \"counts.npy\"\nagreement = {agreement}\n"
            ));
            variants
                .push_str(&format!("[[series.variant]]\nname = \"{name}{ending}\"\nprogram = \"{name}{ending}\"\n"));
        }
    }
    let experiment = format!(
        "title = \"Copies\"\n[[series]]\nname = \"copies\"\ntitle = \"Copies\"\nrepeats = 2\n\
         flags = {{ bounds = \"-2,1,-1,1\", size = \"640x480\", max-iter = 300, rounding = \"separate\" }}\n{variants}"
    );
    let folder = folder.with("programs.toml", programs.as_bytes()).with("copies.toml", experiment.as_bytes());
    let ran = lab(&folder, "run copies.toml --engines programs.toml --record a");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let found = entries(&folder, "a/copies.jsonl");
    let timed =
        |variant: &str| found.iter().filter(|entry| entry["entry"] == "sample" && entry["variant"] == variant).count();
    let status = |variant: &str| {
        let case = found.iter().find(|entry| entry["entry"] == "case" && entry["variant"] == variant).unwrap();
        case["status"]["status"].as_str().unwrap().to_owned()
    };
    for ending in ["", "-other"] {
        let right = format!("right{ending}");
        assert_eq!((timed(&right), status(&right).as_str()), (2, "equal"));
        for (name, expected) in [
            ("off-by-one", "wrong"),
            ("lost-tile", "wrong"),
            ("nan-lane", "wrong"),
            ("garbage", "failed"),
            ("missing", "failed"),
        ] {
            let name = format!("{name}{ending}");
            assert_eq!((timed(&name), status(&name).as_str()), (0, expected), "{name}: {}", ran.err);
        }
    }
    // The report says what is wrong with each.
    let page = String::from_utf8(folder.read("a/report.md")).unwrap();
    assert!(page.contains("lost-tile") && page.contains("nan-lane"), "{page}");
}

#[test]
fn every_experiment_is_right_at_a_small_size() {
    let folder = Folder::new();
    let ran = lab(&folder, "check");
    assert_eq!(ran.code, 0, "{}{}", ran.text(), ran.err);
    for name in ["zhong", "hybridizer", "genova", "nvidia", "toader", "ours"] {
        assert!(ran.text().lines().any(|line| line.starts_with(name) && line.ends_with("; 0 wrong")), "{}", ran.text());
    }
}

#[test]
fn bad_input_is_one_clear_error() {
    let folder = Folder::new()
        .with("key.toml", b"title = \"x\"\nnothing = 1\n")
        .with("text.toml", b"title = \n")
        .with("programs.toml", b"[[engine]]\nnam = \"x\"\n")
        .with("flag.toml", SMALL.replace("shortcuts = \"none\"", "shortcut = \"none\"").as_bytes());
    for (line, said) in [
        ("run zhongg", "zhong"),
        ("run missing.toml", "missing.toml"),
        ("run key.toml", "key.toml, line 2, column 1: unknown field `nothing`"),
        ("run text.toml", "text.toml, line 1, column "),
        ("run ours ours", "named twice"),
        ("run", "no experiment is named"),
        ("run ours --engine gpu", "--engine"),
        ("run ours --engines programs.toml", "programs.toml, line 2"),
        ("report nowhere", "nowhere: it holds no run"),
        ("compare nowhere nowhere", "nowhere: it holds no run"),
        ("show nothing", "nothing"),
        ("sweep --sise 64x64", "--sise"),
        ("sweep --repeats 0 --size 64x64", "--repeats"),
    ] {
        let ran = lab(&folder, line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
    }
    // A flag that does not exist fails its variant; the rest of the run goes on.
    let ran = lab(&folder, "run flag.toml --record a");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("failed: plain: ") && ran.err.contains("--shortcut"), "{}", ran.err);
    assert_eq!(count(&entries(&folder, "a/flag.jsonl"), "sample"), 2 * 3 * 3);
}
