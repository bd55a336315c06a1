//! Standard output and standard error that are closed, read-only or /dev/null when the program starts.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]
#![cfg(unix)]

mod common;

use common::{Folder, Ran};
use std::fs::{File, OpenOptions};
use std::process::Stdio;

/// Commands whose result goes to standard output.
const RESULTS: [&str; 14] = [
    "info",
    "info --json",
    "locations",
    "palettes",
    "palettes -o -",
    "show shallow-home",
    "point=-0.75,0.1",
    "man",
    "completions bash",
    "--help",
    "render --help",
    "--version",
    "render --size 8x8 --format png -o -",
    "render --size 8x8 --format csv -o /dev/stdout",
];

/// Runs the program with the words of `line` and a redirection.
fn redirected(folder: &Folder, line: &str, redirection: &str) -> Ran {
    let line = line.replace("point=", "point -- ");
    Ran::from(folder.shell(&format!("exec \"$0\" {line} {redirection}")).output().unwrap())
}

#[test]
fn a_closed_standard_output_is_code_4_for_every_result() {
    let folder = Folder::new().with("a.csv", b"1,2\n");
    for line in RESULTS.into_iter().chain(["compare a.csv a.csv", "compare a.csv a.csv --json", "peak --threads 1"]) {
        let ran = redirected(&folder, line, ">&-");
        assert_eq!(ran.code, 4, "{line}: {}", ran.err);
        assert_eq!(ran.err, "error: cannot write \"-\": it is closed\n", "{line}");
    }
    assert_eq!(redirected(&folder, "info", ">&- 2>&-").code, 4, "with no place for the error");
}

#[test]
fn a_standard_output_that_is_open_for_reading_is_code_4() {
    let folder = Folder::new();
    for line in RESULTS {
        let ran = redirected(&folder, line, "1</dev/null");
        assert_eq!((ran.code, ran.err.matches("not open for writing").count()), (4, 1), "{line}: {}", ran.err);
    }
}

#[test]
fn closed_standard_error_is_code_4_for_statistics_only() {
    let folder = Folder::new();
    let render = "render --size 8x8 -o a.png";
    let ran = redirected(&folder, &format!("{render} --stats -"), "2>&-");
    assert_eq!((ran.code, folder.names().contains(&"a.png".to_owned())), (4, false), "nothing is rendered for nothing");
    assert_eq!(redirected(&folder, render, "2>&-").code, 0, "remarks are no result");
    assert_eq!(redirected(&folder, "info", "2>&-").code, 0);
    assert_eq!(redirected(&folder, "render --sizes", "2>&-").code, 2);
    assert_eq!(redirected(&folder, render, ">&-").code, 0, "a file is the only result");
    assert_eq!(redirected(&folder, &format!("{render} --dry-run"), ">&-").code, 4);
}

#[test]
fn a_null_device_of_the_user_is_accepted() {
    let folder = Folder::new();
    let null = || -> [(&str, File); 2] {
        [
            ("for writing", OpenOptions::new().write(true).open("/dev/null").unwrap()),
            // As the runtime opens it in place of a closed descriptor.
            ("for both", OpenOptions::new().read(true).write(true).open("/dev/null").unwrap()),
        ]
    };
    for line in RESULTS {
        for (how, file) in null() {
            let line = line.replace("point=", "point -- ");
            let mut command = folder.command();
            let ran = command.args(line.split_whitespace()).stdout(Stdio::from(file)).output().unwrap();
            assert!(ran.status.success(), "{line}, {how}: {}", String::from_utf8_lossy(&ran.stderr));
        }
    }
    for (how, file) in null() {
        let mut command = folder.command();
        command.args(["render", "--size", "8x8", "-o", "a.png", "--stats", "-"]);
        assert!(command.stderr(Stdio::from(file)).status().unwrap().success(), "{how}");
    }
}
