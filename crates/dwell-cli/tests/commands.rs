//! The smaller commands, the help texts, and silence where standard error is not a terminal.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

#[test]
fn help_lists_the_commands_and_render_help_has_examples() {
    let folder = Folder::new();
    let help = folder.good("--help").text();
    for word in [
        "render",
        "locations",
        "palettes",
        "compare",
        "check",
        "point",
        "peak",
        "info",
        "completions",
        "man",
        "Exit codes",
    ] {
        assert!(help.contains(word), "{word}");
    }
    let help = folder.good("render --help").text();
    for word in
        ["Examples:", "--center", "--bounds", "--max-iter", "dwell render -o mandelbrot.png", "iterations = 5000"]
    {
        assert!(help.contains(word), "{word}");
    }
    // The text after the flags is wrapped by hand at 96 columns and must not be wrapped again.
    let examples = help.split("Examples:").nth(1).unwrap();
    assert!(examples.lines().all(|line| line.chars().count() <= 96), "{examples}");
    assert_eq!(folder.run::<&str>([]).code, 2);
}

#[test]
fn the_examples_of_the_help_succeed() {
    let folder = Folder::new().with("my-place.toml", b"re = \"-0.5\"\nim = \"0\"\nzoom = \"1\"\niterations = 50\n");
    let help = folder.good("render --help").text();
    let examples = help.split("Examples:").nth(1).unwrap();
    let lines: Vec<_> = examples.lines().filter_map(|l| l.trim().strip_prefix("dwell ")).collect();
    assert!(lines.len() >= 5, "{help}");
    for line in lines {
        let line = line.split(" | ").next().unwrap();
        // Replace the size, or add one, to keep the test short.
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
fn locations_lists_every_location_and_the_precision_it_needs() {
    let folder = Folder::new();
    let list = folder.good("locations").text();
    assert!(list.contains("shallow-home") && list.contains("rf-e8000"));
    for line in list.lines().skip(1).take_while(|l| !l.is_empty()) {
        let words: Vec<_> = line.split_whitespace().collect();
        let ran = folder.run(["render", words[0], "--max-iter", "10", "--stats", "-"]);
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        let stats: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
        assert_eq!(stats["precision"] == "exact", line.contains(" bits"), "{line}");
    }
}

#[test]
fn locations_are_filtered_and_listed_as_json() {
    let folder = Folder::new();
    let names = |line: &str| -> Vec<String> {
        let list: serde_json::Value =
            serde_json::from_slice(&folder.good(&format!("locations --json {line}")).out).unwrap();
        list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = names("");
    assert!(all.len() > 40);
    assert_eq!(names("SEAHORSE shallow"), ["shallow-seahorse", "shallow-seahorse-1e13"]);
    assert_eq!(names("--formula tricorn"), ["tricorn", "tricorn-coast", "julia-tricorn-dragon"]);
    assert_eq!(names("--drawable").len() + names("--deep").len(), all.len());
    assert!(names("--deep").contains(&"rf-e8000".to_owned()));
    let zoomed = names("--min-zoom 1e4 --max-zoom 1e13");
    assert!(zoomed.contains(&"shallow-seahorse-1e13".to_owned()) && !zoomed.contains(&"tricorn".to_owned()));
    assert!(names("qqqq").is_empty());
    let text = folder.good("locations elephant --drawable").text();
    assert!(text.contains("mandelbrot-elephants") && !text.contains("rf-e8000"), "{text}");
}

#[test]
fn point_prints_the_dwell_in_every_precision() {
    let folder = Folder::new();
    let text = folder.good("point -2,0 --max-iter 1000").text();
    assert_eq!(text.matches("did not escape within 1000").count(), 3, "{text}");
    let text = folder.good("point 0.3,0.5 --max-iter 5").text();
    assert!(text.contains("did not escape within 5"), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&folder.good("point 1,0 --json").out).unwrap();
    assert_eq!((json["f32"].as_u64(), json["f64"].as_u64(), json["precise"].as_u64()), (Some(3), Some(3), Some(3)));
    // A point that f64 rounds to -2.
    let json: serde_json::Value =
        serde_json::from_slice(&folder.good("point -2.00000000000000000000001,0 --json").out).unwrap();
    assert_eq!((json["f64"].as_u64(), json["precise"].as_u64()), (Some(0), Some(1)));
    assert!(folder.good("point 0.25,0.5 --escape-radius 100 --rounding separate").code == 0);
}

#[test]
fn peak_and_info_print_json() {
    let folder = Folder::new();
    for number in ["f32", "f64"] {
        let out = folder.good(&format!("peak --precision {number} --threads 2 --json")).out;
        let peak: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert!(peak["peak_iterations_per_second"].as_f64().unwrap() > 1e6);
        assert_eq!((peak["number"].as_str(), peak["threads"].as_u64()), (Some(number), Some(2)));
    }
    assert!(folder.good("peak --level scalar --rounding separate").text().contains("iterations/s"));
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
    // The program, its 18 commands, and the 7 commands of the laboratory.
    assert_eq!(pages, 26);
    assert!(String::from_utf8(folder.read("man1/dwell-lab-run.1")).unwrap().contains("quick"));
}

#[test]
fn a_long_render_prints_nothing_without_a_terminal() {
    let folder = Folder::new();
    // The progress bar appears after a second, but only on a terminal.
    let ran =
        folder.good("render --size 300x200 --center -0.1,0 --zoom 100 --max-iter 300000 --shortcuts none -o a.png");
    assert!(ran.err.is_empty() && ran.out.is_empty(), "{}", ran.err);
}
