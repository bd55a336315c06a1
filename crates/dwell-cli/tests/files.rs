//! Outputs are complete or absent; write errors have exit code 4; Ctrl-C has exit code 130 and leaves no file.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn existing_files_are_replaced_unless_no_clobber_is_given() {
    let folder = Folder::new().with("a.png", b"old");
    let ran = folder.run("render --size 8x8 -o a.png --no-clobber".split(' '));
    assert_eq!((ran.code, folder.read("a.png").as_slice()), (2, b"old".as_slice()));
    assert!(ran.err.contains("exists already"));
    folder.good("render --size 8x8 -o a.png");
    assert!(folder.read("a.png").starts_with(b"\x89PNG"));
    folder.good("render --size 8x8 -o b.png --no-clobber");
    assert_eq!(folder.names(), ["a.png", "b.png"]);
}

#[test]
fn a_directory_or_a_folder_that_cannot_be_created_is_code_4() {
    let folder = Folder::new().with("file", b"");
    std::fs::create_dir(folder.join("folder.png")).unwrap();
    for output in ["folder.png", "file/a.png", "file/b/a.png", "folder.png/", "/dev/null/a.png"] {
        let ran = folder.run(["render", "--size", "8x8", "-o", output]);
        assert_eq!(ran.code, 4, "{output}: {}", ran.err);
        assert!(ran.err.contains("cannot write") && ran.err.contains(output.trim_end_matches('/')), "{}", ran.err);
    }
    let ran = folder.run(["render", "--size", "8x8", "-o", "a.png", "--stats", "file/s.json"]);
    assert_eq!(ran.code, 4);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_code_4() {
    let folder = Folder::new();
    for format in ["png", "ppm", "npy", "csv"] {
        let ran = folder.run(["render", "--size", "640x480", "-o", "/dev/full", "--format", format]);
        assert_eq!(ran.code, 4, "{format}: {}", ran.err);
        assert!(ran.err.contains("/dev/full"), "{}", ran.err);
    }
    assert!(std::fs::metadata("/dev/full").is_ok(), "a device is written in place, never replaced");
}

#[test]
#[cfg(unix)]
fn a_file_size_limit_leaves_the_old_file() {
    let folder = Folder::new().with("a.ppm", b"old");
    // 8 blocks of 512 or 1024 bytes: the write fails with an error, and SIGXFSZ does not end the program.
    let script = "ulimit -f 8; exec \"$0\" render --size 640x480 -o a.ppm";
    let ran = Ran::from(folder.shell(script).output().unwrap());
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert_eq!(folder.read("a.ppm"), b"old");
    assert_eq!(folder.names(), ["a.ppm"]);
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_is_code_4() {
    let folder = Folder::new();
    for line in ["render --size 2000x2000 -o - --format ppm", "locations", "man"] {
        let ran = into_a_closed_pipe(&folder, line);
        assert_eq!(ran.code, 4, "{line}: {}", ran.err);
    }
}

/// With its standard output closed before it writes.
#[cfg(unix)]
fn into_a_closed_pipe(folder: &Folder, line: &str) -> Ran {
    let mut child =
        folder.command().args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
#[cfg(unix)]
fn a_help_text_may_be_cut_off() {
    let folder = Folder::new();
    for line in ["--help", "render --help", "-h", "--version"] {
        let ran = into_a_closed_pipe(&folder, line);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
    }
}

#[test]
#[cfg(unix)]
fn a_fifo_is_written_in_place() {
    let folder = Folder::new();
    let fifo = folder.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::read(fifo).unwrap()
    });
    folder.good("render --size 16x9 -o fifo");
    folder.good("render --size 16x9 -o a.png");
    assert_eq!(reader.join().unwrap(), folder.read("a.png"));
    use std::os::unix::fs::FileTypeExt;
    assert!(std::fs::metadata(&fifo).unwrap().file_type().is_fifo());
}

#[cfg(unix)]
fn interrupted(folder: &Folder, line: &str, after: Duration) -> (Ran, Duration) {
    let child = folder.command().args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    let began = Instant::now();
    common::interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    (ran, began.elapsed())
}

#[test]
#[cfg(unix)]
fn ctrl_c_stops_at_once_and_leaves_no_file() {
    let folder = Folder::new().with("a.png", b"old");
    for line in [
        // One pixel that takes a minute; many that take hours; arbitrary precision; a measurement.
        "render --center 0,0 --zoom 1e9 --size 64x64 --max-iter 4294967295 -o a.png --threads 2 --shortcuts none",
        "render --size 100000x100000 --max-iter 100000 -o a.png",
        // Chunks of 2^24 dwells as text, and a coordinate for each of as many columns.
        "render --size 4000000x400 --max-iter 2 --force -o a.csv",
        "point 0.25,0 --max-iter 4294967295",
        // Deep views: a reference of 417 limbs, one of millions of steps, and pixels.
        "render rf-e8000 --size 64x36 -o a.png",
        "render rf-dragon --size 64x36 -o a.png",
        "render shallow-seahorse-1e13 --size 3000x2000 --aa 1 -o a.png",
        "peak",
    ] {
        let (ran, took) = interrupted(&folder, line, Duration::from_millis(300));
        assert_eq!(ran.code, 130, "{line}: {}", ran.err);
        // The target is 100 ms; a loaded machine may delay `kill` and the notice of the end.
        assert!(took < Duration::from_millis(1000), "{line}: {took:?}");
        assert_eq!(folder.names(), ["a.png"], "{line}");
        assert_eq!(folder.read("a.png"), b"old", "{line}");
    }
}

#[test]
#[cfg(unix)]
fn ctrl_c_during_a_blocked_write() {
    let folder = Folder::new();
    assert!(std::process::Command::new("mkfifo").arg(folder.join("fifo")).status().unwrap().success());
    let (ran, _) = interrupted(&folder, "render --size 64x64 -o fifo", Duration::from_millis(300));
    assert_eq!(ran.code, 130);
    assert_eq!(folder.names(), ["fifo"]);
}

#[test]
#[cfg(unix)]
fn standard_output_that_appends_to_a_file_keeps_the_file() {
    let folder = Folder::new().with("log", b"precious\n");
    for name in ["/dev/stdout", "/dev/fd/1", "-"] {
        let script = format!("exec \"$0\" render --size 4x2 -o {name} --format csv >> log");
        let status = folder.shell(&script).status().unwrap();
        assert!(status.success(), "{name}");
    }
    let log = String::from_utf8(folder.read("log")).unwrap();
    assert!(log.starts_with("precious\n") && log.lines().count() == 7, "{log}");
}

#[test]
#[cfg(target_os = "linux")]
fn too_little_memory_is_an_error() {
    let folder = Folder::new();
    let limited = |limit: &str, line: &str| {
        let script = format!("{limit}; exec \"$0\" {line}");
        let output = folder.shell(&script).output().unwrap();
        Ran::from(output)
    };
    // The plan fails where the machine has little memory, and the reservation fails where it has much.
    for line in [
        "render --size 60000000x1 --threads 1 --max-iter 5 -o a.png",
        "render --size 2147483647x1 --zoom 1e-9 --threads 1 -o a.npy",
        "render --size 1x2147483647 --zoom 1e-9 --rotate 3 --threads 1 -o a.npy",
        "render --size 2147483647x2147483647 --zoom 1e-9 --threads 1 -o a.png",
    ] {
        let ran = limited("ulimit -v 400000", line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.err.contains("iB of memory"), "{line}: {}", ran.err);
    }
    assert!(folder.names().is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn too_few_file_descriptors_are_not_too_little_memory() {
    // With three, the program cannot be loaded.
    for descriptors in 4..=12 {
        let folder = Folder::new();
        let limited = |line: &str| {
            Ran::from(folder.shell(&format!("ulimit -n {descriptors}; exec \"$0\" {line}")).output().unwrap())
        };
        let ran = limited("render --size 64x48 -q -o a.png");
        assert!([0, 2, 4].contains(&ran.code), "{descriptors}: {} {}", ran.code, ran.err);
        assert!(!ran.err.contains("memory") && !ran.err.contains("MiB"), "{descriptors}: {}", ran.err);
        assert!(ran.code == 0 || ran.err.contains("Too many open files"), "{descriptors}: {}", ran.err);
        let ran = limited("compare --truth - --size 2x1 --max-iter 5 < /dev/null");
        assert!(ran.code == 2 && !ran.err.contains("MiB"), "{descriptors}: {}", ran.err);
        let ran = limited("info");
        assert!(ran.code == 0 && !ran.text().contains(" 0.0 GiB"), "{descriptors}: {}", ran.text());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn signals_ignored_by_the_parent_stay_ignored() {
    let folder = Folder::new();
    let script = "trap '' HUP; exec \"$0\" render --center 0,0 --zoom 1e9 --size 64x64 --max-iter 20000000 --shortcuts none -o a.npy";
    let child = folder.shell(script).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    // It still runs and can be interrupted.
    common::interrupt(&child);
    assert_eq!(Ran::from(child.wait_with_output().unwrap()).code, 130);
}

#[test]
fn statistics_files_follow_the_rules_of_outputs() {
    let folder = Folder::new().with("s.json", b"old").with("z", b"");
    let ran = folder.run("render --size 8x8 --stats s.json --no-clobber".split(' '));
    assert_eq!((ran.code, folder.read("s.json").as_slice()), (2, b"old".as_slice()));
    // The error comes before the render, which would take hours.
    let ran = folder.run("render --size 50000x50000 --max-iter 100000 -o a.png --stats z/s.json".split(' '));
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert_eq!(folder.names(), ["s.json", "z"]);
    // With `-`, standard error holds nothing else.
    let ran = folder.good("render kf-1e50 --force --size 8x8 --max-iter auto --stats -");
    let stats: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(
        (stats["view"]["zoom"].as_str(), stats["view"]["sample"].as_str()),
        (Some("1.00000000000000000E+50"), Some("centre"))
    );
    assert_eq!(stats["escape_radius"], "2");
}
