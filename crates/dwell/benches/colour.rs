//! The time of colouring on one thread, and of copying its input: `cargo bench -p dwell --bench colour`.
//! Without `--bench`, as `cargo test` calls it, each case runs once and only its output is checked.
//!
//! Each round copies and then colours, so that changes of the clock rate affect both; medians of the rounds are shown.

#![expect(clippy::print_stdout, clippy::panic, reason = "a program for developers that prints its results")]

use dwell::{
    By, Cancel, Channel, ChannelSet, Colouring, CpuEngine, Depth, Engine, Field, Layer, Level, Limits, Painter,
    Palette, Plan, Samples, Scale, Scene, Settings, Size, Strategy, Task, View,
};
use std::hint::black_box;
use std::time::Instant;

/// An image of the whole set that exceeds every cache.
const SIZE: Size = Size { width: 2880, height: 1920 };
const ROUNDS: usize = 9;

struct Case {
    name: &'static str,
    by: By,
    scale: Scale,
    depth: Depth,
    samples: u32,
    dither: bool,
    /// Whether there is a layer of shading by slope.
    shaded: bool,
}

const fn case(name: &'static str, by: By, scale: Scale, depth: Depth, samples: u32) -> Case {
    Case { name, by, scale, depth, samples, dither: false, shaded: false }
}

const fn dithered(name: &'static str, by: By, scale: Scale, samples: u32) -> Case {
    Case { dither: true, ..case(name, by, scale, Depth::Eight, samples) }
}

const fn shaded(case: Case) -> Case {
    Case { shaded: true, ..case }
}

const CASES: [Case; 15] = [
    case("banded", By::Banded, Scale::Root, Depth::Eight, 1),
    case("banded, 16 bits", By::Banded, Scale::Root, Depth::Sixteen, 1),
    case("smooth, root", By::Smooth, Scale::Root, Depth::Eight, 1),
    case("smooth, linear", By::Smooth, Scale::Linear, Depth::Eight, 1),
    case("smooth, log", By::Smooth, Scale::Log, Depth::Eight, 1),
    case("smooth, histogram", By::Smooth, Scale::Histogram, Depth::Eight, 1),
    case("smooth, root, 16 bits", By::Smooth, Scale::Root, Depth::Sixteen, 1),
    case("distance, log", By::Distance, Scale::Log, Depth::Eight, 1),
    dithered("banded, dithered", By::Banded, Scale::Root, 1),
    dithered("smooth, root, dithered", By::Smooth, Scale::Root, 1),
    dithered("smooth, root, 2 x 2 samples, dithered", By::Smooth, Scale::Root, 2),
    case("smooth, root, 2 x 2 samples", By::Smooth, Scale::Root, Depth::Eight, 2),
    case("smooth, root, 4 x 4 samples", By::Smooth, Scale::Root, Depth::Eight, 4),
    shaded(case("smooth, root, slope", By::Smooth, Scale::Root, Depth::Eight, 1)),
    shaded(case("smooth, root, slope, 2 x 2 samples", By::Smooth, Scale::Root, Depth::Eight, 2)),
];

fn main() {
    let check = std::env::args().all(|word| word != "--bench");
    let size = if check { Size { width: 288, height: 192 } } else { SIZE };
    let view = View::centred("-0.75", "0", "1.5").map(|view| view.sized(size));
    let settings = Settings { limit: 1000, ..Scene::default().settings };
    let engine = CpuEngine::new(Level::best(), 1);
    let plan = view.and_then(|view| Plan::new(&view, &settings, &Limits::default()));
    let Ok(plan) = plan else { panic!("the plan failed") };
    let channels = Channel::ALL.into_iter().fold(ChannelSet::NONE, ChannelSet::with);
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
    let field = dwell::field(&task, &engine, &Limits::default(), &Cancel::default());
    let Ok(field) = field else { panic!("the field failed") };
    println!("| colouring | ns a sample | ns a sample to copy what it reads | ratio |\n|---|---|---|---|");
    for case in CASES {
        one(&case, &field, &engine, check);
    }
}

fn one(case: &Case, field: &Field, engine: &CpuEngine, check: bool) {
    let layers = if case.shaded { vec![Layer::slope()] } else { Vec::new() };
    let colouring = Colouring { by: case.by, scale: case.scale, layers, ..Colouring::of(Palette::default()) };
    let samples = Samples::Fixed(case.samples);
    let mut painter = Painter::new(&colouring, 1000, case.depth, samples, case.dither).expect("memory for the tables");
    if colouring.needs_counts() {
        painter.count(field.all_rows(), engine.pool()).expect("memory for the counts");
        painter.finish_counting().expect("memory for the counts");
    }
    let samples = field.dwell().len();
    let pixels = samples / (case.samples * case.samples) as usize;
    let mut picture = vec![0_u8; pixels * painter.bytes_per_pixel()];
    let values = case.by.channel().map_or(&[][..], |channel| field.channel(channel));
    let (mut dwell_copy, mut values_copy) = (field.dwell().to_vec(), values.to_vec());
    let (mut copies, mut paints) = (Vec::new(), Vec::new());
    for _ in 0..if check { 1 } else { ROUNDS } {
        let began = Instant::now();
        dwell_copy.copy_from_slice(black_box(field.dwell()));
        values_copy.copy_from_slice(black_box(values));
        black_box((&dwell_copy, &values_copy));
        copies.push(began.elapsed().as_secs_f64());
        let began = Instant::now();
        painter.paint(field.all_rows(), 0, &mut picture);
        black_box(&picture);
        paints.push(began.elapsed().as_secs_f64());
    }
    if case.samples == 1 && case.depth == Depth::Eight && !case.shaded {
        check_colours(case, &colouring, field, &picture);
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] * 1e9 / samples as f64
    };
    let (copy, paint) = (median(copies), median(paints));
    if check {
        println!("| {} | right | | |", case.name);
    } else {
        println!("| {} | {paint:.2} | {copy:.2} | {:.1} |", case.name, paint / copy);
    }
}

/// Checks every 101st pixel by the definition of the rule.
fn check_colours(case: &Case, colouring: &Colouring, field: &Field, picture: &[u8]) {
    let turns: fn(f64) -> f64 = match case.scale {
        Scale::Root => |v| 0.11 * (v.sqrt() - 1.0),
        Scale::Linear => |v| v / 256.0,
        // The logarithm and the ranks have unit tests.
        _ => return,
    };
    for i in (0..field.dwell().len()).step_by(101) {
        let v = if case.by == By::Banded { f64::from(field.dwell()[i]) } else { field.smooth()[i].max(1.0) };
        let palette = &colouring.palette;
        let colour = if field.dwell()[i] == 0 { palette.interior() } else { palette.at(turns(v)) };
        for (channel, found) in colour.into_iter().zip(&picture[3 * i..]) {
            let off = (f64::from(channel) / 257.0 - f64::from(*found)).abs();
            assert!(off < 1.6, "{}: pixel {i}, {found} for {channel}", case.name);
        }
    }
}
