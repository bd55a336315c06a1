//! The time of a render from view to PNG compared with its stages, each alone on all threads:
//! `cargo bench -p dwell --bench whole`. Without `--bench`, as `cargo test` calls it, a small render, of which only the bytes are checked.
//!
//! Time spent waiting for the disk does not count. Stages overlap, so the whole may take less than their sum; any
//! excess is the cost of bands, buffers and synchronisation.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers that prints its results")]

use dwell::store::{Output, PartialFiles};
use dwell::{
    By, Cancel, Colouring, Control, CpuEngine, Depth, Engine, Format, Level, Limits, Paint, Plan, Progress, Request,
    Samples, Scratch, Settings, Size, View, png_bytes,
};
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() {
    let check = std::env::args().all(|word| word != "--bench");
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

/// The seconds of each stage and of the whole.
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
    let (samples, depth) = (Samples::Fixed(1), Depth::Eight);
    let paint = Paint { colouring: &colouring, samples, dither: false, depth, text: "a text" };
    let control = Control { cancel: &none, progress: &progress };
    let request = Request::new(&plan, &engine, paint, control).with_limits(limits);
    let mut scratch = Scratch::default();
    let mut seconds = |outputs| {
        let report = dwell::render(&request, outputs, &mut scratch).unwrap();
        report.seconds.total - report.seconds.write
    };
    let iterate = seconds(Vec::new());
    // Smooth values count as colouring, though the engine computes them. A PPM is the bare picture, so writing one
    // costs the time of colouring alone.
    let colour = seconds(vec![(Format::Ppm, Output::discarding())]) - iterate;
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str| Output::create(&folder.path().join(name), false, &PartialFiles::default()).unwrap();
    seconds(vec![(Format::Ppm, create("a.ppm"))]);
    let picture = std::fs::read(folder.path().join("a.ppm")).unwrap();
    let picture = &picture[picture.len() - side as usize * side as usize * 3..];
    let began = Instant::now();
    let bytes = png_bytes(picture, size, Depth::Eight, "a text", engine.pool()).unwrap();
    let encode = began.elapsed().as_secs_f64();
    let whole = seconds(vec![(Format::Png, create("a.png"))]);
    assert!(std::fs::read(folder.path().join("a.png")).unwrap() == bytes, "both ways give the same file");
    [iterate, colour, encode, whole]
}
