//! Facts about this build for `dwell --version`: commit, compiler, target, profile. Without the tool that states a fact,
//! the fact is "unknown"; it is never an error.

#![forbid(unsafe_code)]

use std::process::Command;

fn first_line(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|o| o.status.success())?;
    let line = String::from_utf8(output.stdout).ok()?.lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

/// The commit that is built, 12 digits. A published package states it in a file of its own; `git` would name the commit
/// of any repository that the package was unpacked in.
fn commit() -> Option<String> {
    match std::fs::read_to_string(".cargo_vcs_info.json") {
        Ok(record) => Some(record.split_once("\"sha1\": \"")?.1.get(..12)?.to_owned()),
        Err(_) => first_line("git", &["rev-parse", "--short=12", "HEAD"]),
    }
}

fn main() {
    let unknown = || "unknown".to_owned();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let facts = [
        ("DWELL_COMMIT", commit().unwrap_or_else(unknown)),
        ("DWELL_RUSTC", first_line(&rustc, &["--version"]).unwrap_or_else(unknown)),
        ("DWELL_TARGET", std::env::var("TARGET").unwrap_or_else(|_| unknown())),
        ("DWELL_PROFILE", std::env::var("PROFILE").unwrap_or_else(|_| unknown())),
    ];
    for (name, value) in facts {
        println!("cargo::rustc-env={name}={value}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    // Each commit appends a line to this log.
    if let Some(log) = first_line("git", &["rev-parse", "--git-path", "logs/HEAD"])
        && std::path::Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
}
