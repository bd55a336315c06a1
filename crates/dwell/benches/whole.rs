//! A render from view to PNG beside its stages, each alone on all threads: `cargo bench -p dwell --bench whole`; with
//! `-- --check` a small one, of which only the bytes are checked.
//!
//! What is waited for the disk does not count. Stages overlap, so the whole may take less than their sum; what it takes
//! more is what bands, buffers and hand-overs cost.

#![allow(
    clippy::print_stdout,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a program for developers, talking to them"
)]

use dwell::store::{Leftovers, Output};
use dwell::{
    Buffers, By, Cancel, Colouring, CpuEngine, Depth, Engine, Format, Level, Limits, Paint, Plan, Progress, Request,
    Settings, Size, Strategy, View, png_bytes,
};
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() {
    let check = std::env::args().any(|word| word == "--check");
    let side = if check { 300 } else { 16384 };
    println!("| colours | iterate | colour | encode | sum | whole | whole / sum |\n|---|---|---|---|---|---|---|");
    for by in [By::Banded, By::Smooth] {
        let mut rounds: Vec<[f64; 4]> = (0..if check { 1 } else { ROUNDS }).map(|_| one(by, side)).collect();
        rounds.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let median = rounds[rounds.len() / 2];
        let [iterate, colour, encode, whole] = median;
        println!(
            "| {} | {iterate:.2} s | {colour:.2} s | {encode:.2} s | {:.2} s | {whole:.2} s | {:.2} |",
            by.name(),
            iterate + colour + encode,
            ratio(&median)
        );
    }
}

fn ratio([iterate, colour, encode, whole]: &[f64; 4]) -> f64 {
    whole / (iterate + colour + encode)
}

/// Seconds of each stage, and of the whole.
fn one(by: By, side: u32) -> [f64; 4] {
    let size = Size { width: side, height: side };
    let view = View::centred("-0.75", "0", "1.5").unwrap().sized(size);
    let settings = Settings { limit: 256, ..Settings::default() };
    let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
    let colouring = Colouring::default().by(by);
    let engine = CpuEngine::new(Level::best(), std::thread::available_parallelism().map_or(1, usize::from));
    let limits = Limits { memory_bytes: 16 << 30 };
    let none = Cancel::default();

    let progress = Progress::default();
    let request = Request {
        plan: &plan,
        engine: &engine,
        strategy: Strategy::EveryPixel,
        verify: false,
        paint: Paint { colouring: &colouring, samples: 1, depth: Depth::Eight, text: "a text" },
        hash: false,
        journaling: None,
        limits,
        watched: false,
        cancel: &none,
        progress: &progress,
    };
    let mut buffers = Buffers::default();
    let mut seconds = |outputs| {
        let report = dwell::render(&request, outputs, &mut buffers).unwrap();
        report.seconds.total - report.seconds.write
    };
    let iterate = seconds(Vec::new());
    // Smooth values are part of colouring, though the engine computes them; so is what a PPM is: the bare picture.
    let colour = seconds(vec![(Format::Ppm, Output::nowhere())]) - iterate;
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str| Output::create(&folder.path().join(name), false, &Leftovers::default()).unwrap();
    seconds(vec![(Format::Ppm, create("a.ppm"))]);
    let picture = std::fs::read(folder.path().join("a.ppm")).unwrap();
    let picture = &picture[picture.len() - side as usize * side as usize * 3..];
    let began = Instant::now();
    let bytes = png_bytes(picture, size, Depth::Eight, "a text", engine.team()).unwrap();
    let encode = began.elapsed().as_secs_f64();
    let whole = seconds(vec![(Format::Png, create("a.png"))]);
    assert!(std::fs::read(folder.path().join("a.png")).unwrap() == bytes, "the same file however it is made");
    [iterate, colour, encode, whole]
}
