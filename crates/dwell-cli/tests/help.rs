//! Help texts, manual pages and completions: they fit the screen, refer to nothing that is not there, and offer values.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};

/// Every command, as it is typed.
const COMMANDS: [&str; 26] = [
    "",
    "render",
    "locations",
    "palettes",
    "looks",
    "show",
    "locate",
    "convert",
    "zoom",
    "gallery",
    "explore",
    "compare",
    "check",
    "point",
    "peak",
    "lab",
    "lab list",
    "lab show",
    "lab run",
    "lab report",
    "lab compare",
    "lab check",
    "lab sweep",
    "info",
    "completions",
    "man",
];
/// The most lines of `-h`.
const SCREEN: usize = 60;

/// A help text as it is printed on a terminal of so many columns.
fn help(folder: &Folder, command: &str, flag: &str, columns: usize) -> String {
    let mut program = folder.command();
    program.args(command.split_whitespace()).arg(flag).env("COLUMNS", columns.to_string());
    let ran = Ran::from(program.output().unwrap());
    assert_eq!(ran.code, 0, "{command} {flag}: {}", ran.err);
    ran.text()
}

#[test]
fn short_help_fits_one_screen() {
    let folder = Folder::new();
    for command in COMMANDS {
        for columns in [80, 100] {
            let text = help(&folder, command, "-h", columns);
            assert!(text.lines().count() <= SCREEN, "{command} -h at {columns} columns:\n{text}");
            let wide = text.lines().find(|line| line.chars().count() > columns);
            assert_eq!(wide, None, "{command} -h at {columns} columns");
        }
    }
}

#[test]
fn kernels_of_a_device_come_last() {
    let folder = Folder::new();
    let text = help(&folder, "render", "--help", 100);
    let sections: Vec<&str> = text
        .split("\nExamples:")
        .next()
        .unwrap()
        .lines()
        .filter(|line| line.ends_with(':') && !line.starts_with(' '))
        .collect();
    assert_eq!(
        sections,
        ["Arguments:", "Options:", "View:", "Colour:", "Iteration:", "Running:", "Measuring:", "CUDA kernels:"]
    );
    assert!(!help(&folder, "render", "-h", 100).contains("--gpu-kernel"));
}

/// The text behind the flags of `--help`.
fn closing_text(text: &str) -> Option<&str> {
    let starts = ["\nExamples:\n", "\nStart with:\n"];
    starts.into_iter().filter_map(|start| text.find(start)).min().map(|at| &text[at..])
}

#[test]
fn examples_are_not_wrapped_on_a_narrow_terminal_or_in_a_manual_page() {
    let folder = Folder::new();
    for command in COMMANDS {
        let (narrow, wide) = (help(&folder, command, "--help", 80), help(&folder, command, "--help", 100));
        let Some(closing) = closing_text(&narrow) else { continue };
        assert_eq!(Some(closing), closing_text(&wide), "{command}");
        // A manual page indents these lines by 5 columns more.
        let long = closing.lines().find(|line| line.chars().count() > 75);
        assert_eq!(long, None, "{command}");
        // The same lines, unfilled, in the page.
        let page = folder.good(&format!("man {command}")).text();
        let plain = page.replace("\\-", "-").replace("\\(aq", "'").replace("\\(ga", "`").replace("\\e", "\\");
        for line in closing.lines().filter(|line| line.starts_with("  ")) {
            assert!(plain.lines().any(|of_page| of_page == &line[2..]), "{command}: {line}");
        }
        assert!(page.contains(".nf\n"), "{command}");
    }
}

#[test]
fn manual_pages_are_the_same_from_both_commands_and_refer_to_what_is_there() {
    let folder = Folder::new();
    folder.good("man --output-dir pages");
    let mut pages: Vec<String> = std::fs::read_dir(folder.join("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    pages.sort();
    let mut expected = COMMANDS.map(|command| format!("dwell {command}").trim().replace(' ', "-") + ".1");
    expected.sort();
    assert_eq!(pages, expected);
    for command in COMMANDS {
        let name = format!("dwell {command}").trim().replace(' ', "-");
        let written = String::from_utf8(folder.read(&format!("pages/{name}.1"))).unwrap();
        assert_eq!(written, folder.good(&format!("man {command}")).text(), "{name}");
        // No other page is named, since none may be installed.
        assert!(!written.contains("(1)"), "{name}");
    }
}

#[test]
fn completions_offer_values_and_files() {
    let folder = Folder::new();
    let script = |shell: &str| folder.good(&format!("completions {shell}")).text();
    for shell in ["bash", "zsh", "fish"] {
        let script = script(shell);
        for value in [
            "burning-ship",
            "verdigris",
            "shallow-seahorse",
            "histogram",
            "npy",
            "boundary-trace",
            "cuda",
            "avx512",
            "f32",
            "separate",
            "banded",
            "nvidia",
            "every-pixel",
            "symmetry",
            "work-stealing",
        ] {
            assert!(script.contains(value), "{shell} does not offer {value}");
        }
    }
    let zsh = script("zsh");
    assert!(zsh.contains("NAME|FILE:_dwell_names_or_files_"), "{zsh}");
    let function = zsh.split("_dwell_names_or_files_0() {").nth(1).unwrap();
    assert!(function.contains("'files:file:_files'"), "{function}");
    let fish = script("fish");
    let palette = fish.lines().find(|line| line.contains("render") && line.contains("-l palette")).unwrap();
    assert!(palette.contains("-r -F -a \"twilight"), "{palette}");
    let what = fish.lines().find(|line| line.contains("using_subcommand render\" -a \"shallow-home")).unwrap();
    assert!(what.ends_with("rf-e8000\""), "{what}");
    // The parser still leaves values to the commands, whose errors say more.
    let ran = folder.run(["render", "-o", "a.png", "--formula", "mandelbrt"]);
    assert!(ran.err.starts_with("error: --formula: \"mandelbrt\" is not known (accepted: mandelbrot, "), "{}", ran.err);
}
