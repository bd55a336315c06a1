//! Chores: `cargo xtask` lists them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers, talking to them")]

mod kernels;
mod pictures;
mod readme;
mod speed;
mod truth;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a chore ends with.
type Done = Result<(), Box<dyn std::error::Error>>;

const HELP: &str = "cargo xtask CHORE
  readme                 run the commands of README.md as printed (all but the test command) and check what they leave
  readme --test-command  print the README's test command
  kernels                compile the CUDA kernels of crates/dwell-cuda/kernels into its folder `compiled`
  kernels --check        check that what is there is what the sources compile to
  truth                  compare f32 and f64 dwells with arbitrary precision, write docs/truth.md (some minutes)
  speed                  measure how near the machine's limit renders run, write docs/speed.md (some minutes)
  pictures               render the pictures of README.md and docs/ anew
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["readme"] => readme::check(),
        ["readme", "--test-command"] => readme::test_command().map(|command| println!("{command}")),
        ["kernels"] => kernels::write(),
        ["kernels", "--check"] => kernels::check(),
        ["truth"] => truth::write(),
        ["speed"] => speed::write(),
        ["pictures"] => pictures::write(),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Where things are built; absolute, for chores that run elsewhere.
fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    std::path::absolute(&target).unwrap_or(target)
}
