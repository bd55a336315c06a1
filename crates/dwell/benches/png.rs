//! The time of encoding a PNG compared with the crate `png` at its level `Fast`: `cargo bench -p dwell --bench png`;
//! `-- burning-ship` selects pictures by name. Without `--bench`, as `cargo test` calls it, small pictures are encoded once,
//! decoded, and compared.
//!
//! Each round encodes with the crate, with one thread of ours and with all threads, so that changes of the clock rate
//! affect all three; medians of the rounds are shown. The last column is the gain of all threads at the machine's peak.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers that prints its results")]

use dwell::{
    Cancel, CpuEngine, Depth, Engine, Formula, Level, Limits, Location, NumberKind, Painter, Plan, Recipe, Samples,
    Size, Strategy, Task, ThreadPool, peak, png_bytes,
};
use std::hint::black_box;
use std::time::Instant;

const SIZE: Size = Size { width: 4096, height: 2304 };
const ROUNDS: usize = 9;
/// From large areas of one colour to pictures in which almost all neighbouring pixels differ.
const LOCATIONS: [&str; 4] = ["shallow-home", "shallow-seahorse", "mandelbrot-reef", "burning-ship"];

fn main() {
    let check = std::env::args().all(|word| word != "--bench");
    let size = if check { Size { width: 307, height: 173 } } else { SIZE };
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "| picture | bits | bytes / those of the library | speed / that of the library | speed on {all} threads / on one | that of peak |"
    );
    println!("|---|---|---|---|---|---|");
    let named: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    for name in LOCATIONS.into_iter().filter(|name| named.is_empty() || named.iter().any(|n| n == name)) {
        for depth in Depth::ALL {
            one(name, depth, size, all, check);
        }
    }
}

fn one(name: &str, depth: Depth, size: Size, all: usize, check: bool) {
    let scene = Location::built_in(name).unwrap().scene;
    let plan = Plan::new(&scene.view.clone().sized(size), &scene.settings, &Limits::default()).unwrap();
    let engine = CpuEngine::new(Level::best(), all);
    let channels = scene.colouring.channels();
    let none = Cancel::default();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
    let field = dwell::field(&task, &engine, &Limits::default(), &none).unwrap();
    let mut painter =
        Painter::new(&scene.colouring, plan.limit(), depth, Samples::Fixed(1), false).expect("memory for the tables");
    if scene.colouring.needs_counts() {
        painter.count(field.all_rows(), engine.pool()).expect("memory for the counts");
        painter.finish_counting().expect("memory for the counts");
    }
    let mut picture = vec![0; field.dwell().len() * depth.bytes_per_pixel()];
    painter.paint(field.all_rows(), 0, &mut picture);

    let teams = [ThreadPool::new(1), ThreadPool::new(all)];
    let ours = png_bytes(&picture, size, depth, "", &teams[0]).unwrap();
    assert_eq!(
        ours,
        png_bytes(&picture, size, depth, "", &teams[1]).unwrap(),
        "the bytes do not depend on the threads"
    );
    assert_eq!(decoded(&ours), picture, "{name}");
    let library = by_the_library(&picture, size, depth);
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..if check { 1 } else { ROUNDS } {
        times[0].push(timed(|| by_the_library(&picture, size, depth)));
        for (team, times) in teams.iter().zip(&mut times[1..]) {
            times.push(timed(|| png_bytes(&picture, size, depth, "", team).unwrap()));
        }
    }
    let [library_time, one_time, all_time] = times.map(median);
    let gain = if check {
        f64::NAN
    } else {
        let rate = |threads| {
            let peak =
                peak::measure(Formula::MANDELBROT, NumberKind::F64, Recipe::Fused, Level::best(), threads, &none);
            peak.unwrap().peak_iterations_per_second
        };
        rate(all) / rate(1)
    };
    println!(
        "| {name} | {} | {:.3} | {:.2} | {:.2} | {gain:.2} |",
        depth.bits(),
        ours.len() as f64 / library.len() as f64,
        library_time / one_time,
        one_time / all_time,
    );
}

fn by_the_library(picture: &[u8], size: Size, depth: Depth) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.width, size.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(if depth == Depth::Eight { png::BitDepth::Eight } else { png::BitDepth::Sixteen });
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header().unwrap().write_image_data(picture).unwrap();
    bytes
}

fn decoded(bytes: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut picture = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut picture).unwrap();
    reader.finish().unwrap();
    picture
}

fn timed<R>(work: impl FnOnce() -> R) -> f64 {
    let began = Instant::now();
    black_box(work());
    began.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
