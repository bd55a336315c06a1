//! The other commands, help, and manners.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail that way")]

mod common;

use common::Folder;

#[test]
fn help_teaches() {
    let folder = Folder::new();
    let help = folder.good("--help").text();
    for word in
        ["render", "locations", "palettes", "compare", "point", "peak", "info", "completions", "man", "Exit codes"]
    {
        assert!(help.contains(word), "{word}");
    }
    let help = folder.good("render --help").text();
    for word in
        ["Examples:", "--center", "--bounds", "--max-iter", "dwell render -o mandelbrot.png", "iterations = 5000"]
    {
        assert!(help.contains(word), "{word}");
    }
    // What follows the flags is wrapped by hand, so that nobody's terminal wraps it anew.
    let examples = help.split("Examples:").nth(1).unwrap();
    assert!(examples.lines().all(|line| line.chars().count() <= 96), "{examples}");
    assert_eq!(folder.run::<&str>([]).code, 2);
}

#[test]
fn the_examples_in_the_help_run() {
    let folder = Folder::new().with("my-place.toml", b"re = \"-0.5\"\nim = \"0\"\nzoom = \"1\"\niterations = 50\n");
    let help = folder.good("render --help").text();
    let lines: Vec<_> = help.lines().filter_map(|l| l.trim().strip_prefix("dwell ")).collect();
    assert!(lines.len() >= 5, "{help}");
    for line in lines {
        let line = line.split(" | ").next().unwrap();
        // Smaller, for the test's sake: the size is repeated, so it is replaced where it is given.
        let mut words: Vec<&str> = line.split_whitespace().collect();
        match words.iter().position(|w| *w == "--size") {
            Some(at) => words[at + 1] = "48x27",
            None => words.extend(["--size", "48x27"]),
        }
        let ran = folder.run(&words);
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    }
}

#[test]
fn version_has_build_facts() {
    let folder = Folder::new();
    let long = folder.good("--version").text();
    for fact in ["commit:", "rustc:", "target:", "profile:"] {
        assert!(long.contains(fact), "{long}");
    }
    assert_eq!(folder.good("-V").text().lines().count(), 1);
}

#[test]
fn every_location_is_listed_and_says_what_it_needs() {
    let folder = Folder::new();
    let list = folder.good("locations").text();
    assert!(list.contains("shallow-home") && list.contains("rf-e8000"));
    for line in list.lines().skip(1).take_while(|l| !l.is_empty()) {
        let words: Vec<_> = line.split_whitespace().collect();
        let deep = line.contains(" bits");
        let ran = folder.run(["render", words[0], "--max-iter", "10", "--stats", "-"]);
        assert_eq!(ran.code, if deep { 2 } else { 0 }, "{line}: {}", ran.err);
    }
}

#[test]
fn points() {
    let folder = Folder::new();
    let text = folder.good("point -2,0 --max-iter 1000").text();
    assert_eq!(text.matches("did not escape within 1000").count(), 3, "{text}");
    let text = folder.good("point 0.3,0.5 --max-iter 5").text();
    assert!(text.contains("did not escape within 5"), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&folder.good("point 1,0 --json").out).unwrap();
    assert_eq!((json["f32"].as_u64(), json["f64"].as_u64(), json["precise"].as_u64()), (Some(3), Some(3), Some(3)));
    // A point that f64 cannot tell from -2, but arbitrary precision can.
    let json: serde_json::Value =
        serde_json::from_slice(&folder.good("point -2.00000000000000000000001,0 --json").out).unwrap();
    assert_eq!((json["f64"].as_u64(), json["precise"].as_u64()), (Some(0), Some(1)));
    assert!(folder.good("point 0.25,0.5 --escape-radius 100 --recipe separate").code == 0);
}

#[test]
fn peak_and_info_speak_json() {
    let folder = Folder::new();
    for number in ["f32", "f64"] {
        let out = folder.good(&format!("peak --number {number} --threads 2 --json")).out;
        let peak: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert!(peak["peak_iterations_per_second"].as_f64().unwrap() > 1e6);
        assert_eq!((peak["number"].as_str(), peak["threads"].as_u64()), (Some(number), Some(2)));
    }
    assert!(folder.good("peak --level scalar --recipe separate").text().contains("iterations/s"));
    let info: serde_json::Value = serde_json::from_slice(&folder.good("info --json").out).unwrap();
    assert!(info["memory_bytes"].as_u64().unwrap() > 1 << 20);
    assert!(info["levels"].as_array().unwrap().iter().any(|l| l == "scalar"));
    assert!(folder.good("info").text().contains("neon"));
}

#[test]
fn completions_and_manual_pages() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(folder.good(&format!("completions {shell}")).text().contains("max-iter"), "{shell}");
    }
    let page = folder.good("man").text();
    assert!(page.contains(".TH") && page.contains("dwell"));
    std::fs::create_dir(folder.join("man1")).unwrap();
    folder.good("man --output-dir man1");
    let pages = std::fs::read_dir(folder.join("man1")).unwrap().count();
    assert_eq!(pages, 12);
}

#[test]
fn quiet_when_piped() {
    let folder = Folder::new();
    // Over a second of work, standard error not a terminal: not a byte.
    let ran =
        folder.good("render --size 300x200 --center -0.1,0 --zoom 100 --max-iter 300000 --shortcuts none -o a.png");
    assert!(ran.err.is_empty() && ran.out.is_empty(), "{}", ran.err);
}
