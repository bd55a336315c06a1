//! Where an allocation fails or a thread cannot be started, the program goes on or ends with an error: it never aborts or
//! panics, and a file that it writes is right.
//!
//! `faulty-alloc` takes the place of the allocator of the program itself.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use std::path::{Path, PathBuf};

/// Renders that are large enough for allocations of 64 KiB in every stage, and the files that they write.
const RENDERS: [(&str, &[&str]); 6] = [
    ("--size 500x400 --max-iter 100 --threads 2 -o a.png", &["a.png"]),
    ("--size 300x250 --max-iter 100 --threads 1 -o a.npy -o b.csv --stats s.json", &["a.npy", "b.csv"]),
    ("--size 150x120 --max-iter 100 --threads 2 --aa 2 --scale histogram -o a.png", &["a.png"]),
    (
        "--size 300x250 --max-iter 100 --threads 2 --julia=-0.8,0.156 --depth 16 --verify --strategy mariani-silver -o a.png",
        &["a.png"],
    ),
    (
        "--size 300x250 --max-iter 100 --threads 2 --color-by distance --strategy boundary-trace --depth 16 --aa 2 -o a.ppm",
        &["a.ppm"],
    ),
    (
        "--size 600x400 --max-iter 60000 --threads 2 --color-by banded --scale histogram --tile 16x4096 -o a.png",
        &["a.png"],
    ),
];

/// The more failures a render is tested with, the longer the test takes; every render here has fewer.
const MOST: usize = 400;

/// The library that `LD_PRELOAD` names.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_dwell")).parent().unwrap();
    let places = ["deps/libfaulty_alloc.so", "libfaulty_alloc.so"].map(|name| folder.join(name));
    places.into_iter().find(|path| path.is_file()).expect("cargo builds the library for the tests of this package")
}

/// Renders with the N-th operation failing. `None` if the program has fewer operations.
fn render(folder: &Folder, line: &str, variable: &str, n: usize, lasting: bool) -> Option<Ran> {
    let log = folder.join("log");
    let mut command = folder.command();
    command.env("LD_PRELOAD", library()).env("FAULTY_LOG", &log).env(variable, n.to_string());
    if lasting {
        command.env("FAULTY_LASTING", "1");
    }
    let ran = Ran::from(command.arg("render").args(line.split(' ')).output().unwrap());
    std::fs::remove_file(&log).is_ok().then_some(ran)
}

/// Fails every operation in turn, once and lastingly. Returns a summary.
fn check(line: &str, names: &[&str], variable: &str) -> String {
    let good = Folder::new();
    good.good(&format!("render {line}"));
    let (mut failures, mut errors) = (0, 0);
    for n in 1.. {
        assert!(n < MOST, "{line}: more than {MOST} operations");
        let mut any = false;
        for lasting in [false, true] {
            let folder = Folder::new();
            let Some(ran) = render(&folder, line, variable, n, lasting) else { continue };
            any = true;
            failures += 1;
            let what = format!("{line}, {variable} {n}, lasting: {lasting}: exit code {}, {}", ran.code, ran.err);
            if ran.code == 0 {
                for name in names {
                    assert!(folder.read(name) == good.read(name), "{what}: {name} differs");
                }
            } else {
                errors += 1;
                assert!(matches!(ran.code, 2 | 4), "{what}");
                assert_eq!(ran.err.matches("error: ").count(), 1, "{what}");
                assert!(ran.err.contains("memory"), "{what}");
                assert!(!names.iter().any(|name| folder.join(name).exists()), "{what}: a file is left");
            }
        }
        if !any {
            break;
        }
    }
    assert!(failures > 0, "{line}: no {variable} failed");
    format!("{line}, {variable}: {failures} runs, {errors} ended with an error")
}

#[test]
fn every_failed_allocation_is_an_error_or_does_no_harm() {
    for (line, names) in RENDERS {
        println!("{}", check(line, names, "FAULTY_ALLOCATION"));
    }
}

#[test]
fn threads_that_cannot_be_started_are_done_without() {
    for (line, names) in RENDERS {
        println!("{}", check(line, names, "FAULTY_THREAD"));
    }
}
