//! Killed renders resume and write the same bytes; files in the way are errors that change nothing.
//!
//! `DWELL_KILLS=1000 DWELL_KILL_LIMIT=200000 DWELL_KILL_INTERVAL=0.5` makes the test longer. With one test thread and
//! `--nocapture` it prints how much work was lost.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A value from the environment.
fn setting<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn names_but(folder: &Folder, known: &[&str]) -> Vec<String> {
    folder.names().into_iter().filter(|name| !known.contains(&name.as_str())).collect()
}

#[test]
#[cfg(unix)]
fn killed_renders_resume_to_the_same_bytes() {
    let folder = Folder::new();
    let (kills, limit): (u32, u32) = (setting("DWELL_KILLS", 60), setting("DWELL_KILL_LIMIT", 20_000));
    let interval: f64 = setting("DWELL_KILL_INTERVAL", 0.1);
    let line = format!("render --size 1000x1001 --shortcuts none --max-iter {limit} --threads 2 -o");
    let journal = format!("--sync-interval {interval} --stats");
    let began = Instant::now();
    folder.good(&format!("{line} whole.png --sync-interval off --stats whole.json"));
    let undisturbed = began.elapsed();
    let whole = folder.read("whole.png");
    let hash = |name: &str| -> (String, u64, String) {
        let stats: serde_json::Value = serde_json::from_slice(&folder.read(name)).unwrap();
        let text = |value: &serde_json::Value| value.to_string();
        (text(&stats["field_blake3"]), stats["interior_pixels"].as_u64().unwrap(), text(&stats["iterations"]))
    };
    let expected = hash("whole.json");

    let mut seed = 77_u64;
    let mut random = |below: f64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64 * below
    };
    let (mut killed, mut finished, mut spent, mut chain) = (0, 0, Duration::ZERO, 0);
    let mut lost = Vec::new();
    while killed < kills || chain > 0 {
        let mut command = folder.command();
        command
            .args(format!("{line} out.png {journal} out.json").split(' '))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().unwrap();
        // A quarter is killed while it reads its journal, most while they render, and some finish.
        let patience = Duration::from_secs_f64(match killed % 4 {
            0 => random(0.03),
            _ => random(undisturbed.as_secs_f64() * 0.7),
        });
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if begun.elapsed() >= patience && killed < kills {
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        if let Some(status) = ended {
            spent += begun.elapsed();
            assert!(status.success(), "after {killed} kills");
            assert!(folder.read("out.png") == whole, "other bytes after {killed} kills");
            assert_eq!(hash("out.json"), expected);
            assert_eq!(names_but(&folder, &["whole.png", "whole.json", "out.png", "out.json"]), [""; 0]);
            if chain > 0 {
                lost.push((spent.as_secs_f64() - undisturbed.as_secs_f64()) / f64::from(chain));
            }
            std::fs::remove_file(folder.join("out.png")).unwrap();
            (spent, chain, finished) = (Duration::ZERO, 0, finished + 1);
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
            spent += begun.elapsed();
            (killed, chain) = (killed + 1, chain + 1);
        }
    }
    println!(
        "{killed} kills, {finished} identical images; a whole one takes {:.1} s; lost by a kill: {:?} s",
        undisturbed.as_secs_f64(),
        lost.iter().map(|s| (s * 100.0).round() / 100.0).collect::<Vec<_>>()
    );
}

/// Whether a journal in the folder keeps work.
#[cfg(unix)]
fn has_a_state(folder: &Folder) -> bool {
    let journals = folder.names().into_iter().filter(|name| name.ends_with(".dwell-journal"));
    journals.into_iter().any(|name| std::fs::read(folder.join(&name)).is_ok_and(|b| b.starts_with(b"dwell journal")))
}

/// Starts a long render and kills it once its journal keeps work.
#[cfg(unix)]
fn killed_with_a_journal(folder: &Folder, line: &str) {
    let mut command = folder.command();
    let mut child = command.args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while !has_a_state(folder) {
        assert!(began.elapsed() < Duration::from_secs(60), "no journal: {:?}", folder.names());
        assert!(child.try_wait().unwrap().is_none(), "still rendering");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

const LONG: &str = "render --size 900x900 --shortcuts none --max-iter 60000 --threads 2 --sync-interval 0.1";

#[test]
#[cfg(unix)]
fn little_work_of_another_render_is_dropped_with_a_warning() {
    let folder = Folder::new();
    for (flags, differs) in [
        ("--max-iter 60001", "iterations"),
        ("--palette ember", "palette"),
        ("--zoom 2", "zoom"),
        ("--precision f32", "number"),
    ] {
        killed_with_a_journal(&folder, &format!("{LONG} -o a.png"));
        let before = folder.names();
        let plan = folder.good(&format!("{LONG} -o a.png --dry-run")).text();
        assert!(plan.contains("a.png.dwell-journal will be resumed"), "{plan}");
        assert_eq!(folder.names(), before, "--dry-run changes nothing");
        let ran = folder.good(&format!("render --size 90x90 -o a.png {flags}"));
        assert!(ran.err.contains("of unfinished work of another render") && ran.err.contains(differs), "{}", ran.err);
        assert_eq!(folder.names(), ["a.png"]);
    }
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_the_journal_and_prints_how_to_resume() {
    let folder = Folder::new();
    let line = LONG.replace("60000", "1000000") + " -o a.png";
    let child = folder.command().args(line.split(' ')).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !has_a_state(&folder) {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
    common::interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 130);
    assert!(ran.err.contains("the same command resumes the render"), "{}", ran.err);
    let names = folder.names();
    let is_partial = |name: &String| name.starts_with("a.png.") && name.ends_with(".dwell-partial");
    assert!(names.len() == 2 && names.iter().any(is_partial), "{names:?}");
}

#[test]
#[cfg(unix)]
fn two_commands_that_share_an_output_do_not_mix() {
    let folder = Folder::new();
    let first =
        "render --size 600x601 --shortcuts none --max-iter 30000 --threads 2 --sync-interval 0.1 -o a.npy -o b.npy";
    let second = "render --size 600x601 --shortcuts none --max-iter 30000 --threads 2 --sync-interval off \
                  --center=-0.5,0.1 -o c.npy -o b.npy";
    let second: Vec<&str> = second.split_whitespace().collect();
    folder.good(&format!("{first} --stats whole.json"));
    let (whole_a, whole_b) = (folder.read("a.npy"), folder.read("b.npy"));
    killed_with_a_journal(&folder, &format!("{first} --stats s.json"));
    let mut child = folder.command().args(&second).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    folder.good(&format!("{first} --stats s.json"));
    assert!(folder.read("a.npy") == whole_a && folder.read("b.npy") == whole_b);
    let stats = |name: &str| -> serde_json::Value { serde_json::from_slice(&folder.read(name)).unwrap() };
    assert_eq!(stats("s.json")["field_blake3"], stats("whole.json")["field_blake3"]);
    assert_eq!(stats("s.json")["outputs"], stats("whole.json")["outputs"]);
    assert!(folder.run(second.iter().copied()).code == 0);
    assert_eq!(folder.names(), ["a.npy", "b.npy", "c.npy", "s.json", "whole.json"]);
}

#[test]
#[cfg(unix)]
fn a_changed_partial_file_is_rendered_again() {
    let folder = Folder::new();
    folder.good(&format!("{LONG} -o whole.png"));
    killed_with_a_journal(&folder, &format!("{LONG} -o a.png"));
    let partial = folder.names().into_iter().find(|name| name.ends_with(".dwell-partial")).unwrap();
    let mut bytes = folder.read(&partial);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    let folder = folder.with(&partial, &bytes);
    let ran = folder.good(&format!("{LONG} -o a.png"));
    assert!(ran.err.contains("rendered again"), "{}", ran.err);
    assert!(folder.read("a.png") == folder.read("whole.png"));
    assert_eq!(folder.names(), ["a.png", "whole.png"]);
}

#[test]
#[cfg(unix)]
fn planted_links_and_fifos_are_left_alone() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = Folder::new().with("victim", b"precious").with("out.png.dwell-partial", b"a file of the user");
    symlink("victim", folder.join("out.png.dwell-journal")).unwrap();
    let ran = folder.run("render --size 9x9 -o out.png".split(' '));
    assert!(ran.code == 4 && ran.err.contains("is a symbolic link"), "{} {}", ran.code, ran.err);
    std::fs::remove_file(folder.join("out.png.dwell-journal")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(folder.join("out.png.dwell-journal")).status().unwrap();
    assert!(status.success());
    let ran = folder.run("render --size 9x9 -o out.png".split(' '));
    assert!(ran.code == 4 && ran.err.contains("not a regular file"), "{} {}", ran.code, ran.err);
    let metadata = std::fs::metadata(folder.join("out.png.dwell-journal")).unwrap();
    assert!(metadata.file_type().is_fifo(), "it is not replaced");
    std::fs::remove_file(folder.join("out.png.dwell-journal")).unwrap();
    std::fs::hard_link(folder.join("victim"), folder.join("out.png.dwell-journal")).unwrap();
    let ran = folder.run("render --size 9x9 -o out.png --fresh".split(' '));
    assert!(ran.code == 4 && ran.err.contains("2 names"), "{} {}", ran.code, ran.err);
    std::fs::remove_file(folder.join("out.png.dwell-journal")).unwrap();
    folder.good("render --size 9x9 -o out.png");
    assert_eq!(folder.read("victim"), b"precious");
    assert_eq!(folder.read("out.png.dwell-partial"), b"a file of the user");
    assert_eq!(folder.names(), ["out.png", "out.png.dwell-partial", "victim"]);
}

#[test]
#[cfg(unix)]
fn files_in_the_way_are_named_in_the_error() {
    let folder = Folder::new().with("a.png.dwell-journal", b"my diary").with("a.png", b"old");
    for flags in ["", " --fresh"] {
        let ran = folder.run(format!("render --size 9x9 -o a.png{flags}").split(' '));
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(ran.err.contains("a.png.dwell-journal") && ran.err.contains("no journal of dwell's"), "{}", ran.err);
    }
    assert_eq!(folder.read("a.png.dwell-journal"), b"my diary");
    std::fs::create_dir(folder.join("c.png.dwell-journal")).unwrap();
    let ran = folder.run("render --size 9x9 -o c.png".split(' '));
    assert!(ran.code == 4 && ran.err.contains("c.png.dwell-journal"), "{}", ran.err);
    assert_eq!(folder.read("a.png"), b"old");

    // A truncated journal.
    let folder = Folder::new();
    killed_with_a_journal(&folder, &format!("{LONG} -o a.png"));
    let journal = folder.read("a.png.dwell-journal");
    let folder = folder.with("a.png.dwell-journal", &journal[..journal.len() - 1000]);
    let ran = folder.run(format!("{LONG} -o a.png").split(' '));
    assert!(ran.code == 4 && ran.err.contains("is damaged") && ran.err.contains("--fresh"), "{}", ran.err);

    // A journal of another version.
    let folder = Folder::new().with("a.png.dwell-journal", b"dwell journal 1\n and more");
    let ran = folder.run("render --size 9x9 -o a.png".split(' '));
    assert!(ran.code == 4 && ran.err.contains("another version of dwell"), "{}", ran.err);
    folder.good("render --size 9x9 -o a.png --fresh");
    assert_eq!(folder.names(), ["a.png"]);

    // A loss of power before the first entry leaves an empty journal.
    let folder = Folder::new().with("a.png.dwell-journal", b"");
    folder.good("render --size 9x9 -o a.png");
    assert_eq!(folder.names(), ["a.png"]);
}

#[test]
#[cfg(unix)]
fn one_process_at_a_time_writes_an_output() {
    let folder = Folder::new();
    let mut command = folder.command();
    let mut child = command.args(format!("{LONG} -o a.png").split(' ')).stderr(Stdio::null()).spawn().unwrap();
    while folder.names().len() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    for flags in ["", " --fresh"] {
        let ran = folder.run(format!("render --size 9x9 -o a.png{flags}").split(' '));
        assert!(ran.code == 4 && ran.err.contains("another process is writing it"), "{}", ran.err);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    folder.good("render --size 9x9 -o a.png");
    assert_eq!(folder.names(), ["a.png"], "the files of the killed process are removed");
}

#[test]
fn the_values_of_journal_and_memory_flags_are_checked() {
    let folder = Folder::new();
    for (flags, named) in [
        ("--sync-interval 0", "--sync-interval"),
        ("--sync-interval nan", "--sync-interval"),
        ("--sync-interval 1e9", "--sync-interval"),
        ("--max-memory 12Q", "--max-memory"),
        ("--max-memory -1", "--max-memory"),
        ("--max-memory 99999999999T", "--max-memory"),
        ("--max-memory 1M", "--max-memory"),
    ] {
        let ran = folder.run(format!("render --size 9x9 -o a.png {flags}").split(' '));
        assert!(ran.code == 2 && ran.err.contains(named), "{flags}: {}", ran.err);
    }
    assert!(folder.names().is_empty());
    for flags in ["--sync-interval off", "--sync-interval 0.1", "--max-memory 256M", "--max-memory 1gib"] {
        folder.good(&format!("render --size 9x9 -o a.png {flags}"));
    }
}
