//! Maintenance commands of the workspace: `cargo xtask` lists them.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program reports on the terminal")]

mod archive;
mod kernels;
mod limits;
mod locate;
mod package;
mod palettes;
mod pictures;
mod random;
mod readme;
mod release;
mod samples;
mod soak;
mod sources;
mod speed;
mod truth;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The result of a command.
type Done = Result<(), Box<dyn std::error::Error>>;

const HELP: &str = "cargo xtask COMMAND
  readme                 run the commands of README.md, docs/pictures.md and docs/making.md as printed, except
                         the test command, and check their files
  readme --test-command  print the test command of README.md
  kernels                write generated.cuh and compile the CUDA kernels of crates/dwell-cuda/kernels into `compiled`
  kernels --check        check that both are up to date
  package                pack every crate, check its files, and compile the packages outside the checkout
  palettes               write the library's constants of the palettes in crates/dwell/palettes
  release [--out DIR]    build dwell-VERSION-TARGET.tar.gz from the commit (default DIR: target/release-archive)
  release --check        build the archive in two folders and compare the bytes (some minutes)
  sources                check where `unsafe` is, that every other crate forbids it, and that nothing opens a connection
  limits [--views N | --only K,L,... | --record]
                         count the pixels that automatic limits draw falsely black in random views, and time the search
                         (some minutes in a release build). --record writes the results into docs/defaults.md
  locate [--boxes N | --boxes FIRST..END | --record]
                         locate the minibrots of random boxes and time it beside their reference orbits (some minutes in a
                         release build). --record writes the results into docs/locate.md
  truth                  compare f32 and f64 dwells with arbitrary precision and write docs/truth.md (some minutes)
  speed [--levels | --latency]
                         compare renders with the machine's peak rate, account for the time of whole commands, and write
                         docs/speed.md (some minutes). --levels and --latency write one section of this machine alone
  samples                measure `--aa auto` and dithering and write the table of docs/colour.md (some minutes)
  pictures               render the pictures of README.md and docs/
  soak [--kills N] [--power FACTOR] [--gigapixels N] [--fuzz N [--target NAME]] [--seed S] [--record]
                         test random kills, lost power, huge images and mutated inputs; all of them (some hours) without
                         flags. --record writes the table of docs/reliability.md
  soak --input TARGET FILE  run a stored input of a fuzz target
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["readme"] => readme::check(),
        ["readme", "--test-command"] => readme::test_command().map(|command| println!("{command}")),
        ["kernels"] => kernels::write(),
        ["kernels", "--check"] => kernels::check(),
        ["package"] => package::check(),
        ["palettes"] => palettes::write(),
        ["release"] => release::write(None),
        ["release", "--out", folder] => release::write(Some(folder)),
        ["release", "--check"] => release::check(),
        ["sources"] => sources::check(),
        ["limits", flags @ ..] => limits::run(flags),
        ["locate", flags @ ..] => locate::run(flags),
        ["truth"] => truth::write(),
        ["speed", flags @ ..] => speed::run(flags),
        ["samples"] => samples::write(),
        ["pictures"] => pictures::write(),
        ["soak", flags @ ..] => soak::run(flags),
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

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// The target folder of cargo, as an absolute path, so that commands may run in other folders.
fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    std::path::absolute(&target).unwrap_or(target)
}

/// The cargo that runs this program.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The median of some numbers; 0 without any.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
