//! Micro-benchmarks: each kernel on each level, as a fraction of the peak measured around it; a formula's peak is that of
//! z^2 + c times the ratio of their operations. `cargo bench` runs them;
//! `cargo bench -- --check` runs each once and checks its output only. Words select cases by name, level or number.
//!
//! Every case's output is compared with the plain loop before a time is taken: a kernel that gets it wrong has none.
//! Each round measures the peak and the case in turn, so that a machine that slows down slows both; the median of the
//! rounds' ratios is shown.

#![allow(clippy::print_stdout, clippy::panic, reason = "a program for developers, talking to them")]

use dwell_kernels::escape::{Bounds, Shortcuts, Workspace};
use dwell_kernels::{Fold, Formula, Grid, Kernels, Level, Map, Recipe, naive, peak};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A block of points and what to do with it.
struct Case {
    name: &'static str,
    what: &'static str,
    /// xmin, xmax, ymin, ymax.
    bounds: [f64; 4],
    formula: (Fold, u32),
    julia: Option<[f64; 2]>,
    limit: u32,
    shortcuts: Shortcuts,
    with_smooth: bool,
    with_distance: bool,
    /// As one row of points instead of a block.
    listed: bool,
}

const PLAIN: Case = Case {
    name: "",
    what: "",
    bounds: [0.0; 4],
    formula: (Fold::None, 2),
    julia: None,
    limit: 0,
    shortcuts: Shortcuts::NONE,
    with_smooth: false,
    with_distance: false,
    listed: false,
};

const CASES: [Case; 17] = [
    Case {
        name: "far",
        what: "escaped at once: reading and writing",
        bounds: [2.0, 3.0, 2.0, 3.0],
        limit: 32,
        ..PLAIN
    },
    Case { name: "head", what: "escaped within the head", bounds: [0.5, 1.0, 0.2, 0.7], limit: 64, ..PLAIN },
    Case {
        name: "flight",
        what: "inside: bundles that stay whole",
        bounds: [-0.1, 0.1, -0.1, 0.1],
        limit: 4000,
        ..PLAIN
    },
    Case {
        name: "replay",
        what: "late escapes everywhere: regrouping, replay",
        bounds: [-0.7454, -0.7452, 0.1129, 0.1131],
        limit: 4000,
        ..PLAIN
    },
    Case { name: "set", what: "the whole set", bounds: [-2.0, 1.0, -1.5, 1.5], limit: 256, ..PLAIN },
    Case {
        name: "interior",
        what: "the same with the test for the inside",
        bounds: [-2.0, 1.0, -1.5, 1.5],
        limit: 256,
        shortcuts: Shortcuts { interior: true, cycles: false },
        ..PLAIN
    },
    Case {
        name: "cycles",
        what: "an island of period 3, with cycles looked for",
        bounds: [-1.79, -1.74, -0.025, 0.025],
        limit: 4000,
        shortcuts: Shortcuts { interior: false, cycles: true },
        ..PLAIN
    },
    Case {
        name: "list",
        what: "the set as a list of points",
        bounds: [-2.0, 1.0, -1.5, 1.5],
        limit: 256,
        listed: true,
        ..PLAIN
    },
    Case {
        name: "smooth",
        what: "the set with smooth values",
        bounds: [-2.0, 1.0, -1.5, 1.5],
        limit: 256,
        with_smooth: true,
        ..PLAIN
    },
    Case {
        name: "distance",
        what: "the set with distances",
        bounds: [-2.0, 1.0, -1.5, 1.5],
        limit: 256,
        with_distance: true,
        ..PLAIN
    },
    Case { name: "julia", what: "a Julia set", julia: Some([-0.75, 0.11]), ..FORMULA },
    Case { name: "burning-ship", what: "the Burning Ship", formula: (Fold::Absolute, 2), ..FORMULA },
    Case { name: "tricorn", what: "the Tricorn", formula: (Fold::Conjugate, 2), ..FORMULA },
    Case { name: "multibrot-3", what: "z^3 + c", formula: (Fold::None, 3), ..FORMULA },
    Case { name: "multibrot-4", what: "z^4 + c", formula: (Fold::None, 4), ..FORMULA },
    Case { name: "multibrot-16", what: "z^16 + c", formula: (Fold::None, 16), ..FORMULA },
    Case { name: "burning-ship-3", what: "the Burning Ship of power 3", formula: (Fold::Absolute, 3), ..FORMULA },
];

/// A formula's whole set.
const FORMULA: Case = Case { bounds: [-1.6, 1.4, -1.5, 1.5], limit: 1000, ..PLAIN };

/// Points across and down.
const SIDE: usize = 128;
const ROUNDS: usize = 9;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let check = words.iter().any(|word| word == "--check");
    let words: Vec<&str> = words.iter().filter(|word| !word.starts_with("--")).map(String::as_str).collect();
    println!("| case | number | level | ns a point | iterations a second / peak | |\n|---|---|---|---|---|---|");
    for level in Level::available() {
        run::<f32>(level, &words, check);
        run::<f64>(level, &words, check);
    }
}

fn run<N: Kernels>(level: Level, words: &[&str], check: bool) {
    for case in CASES {
        let names = [case.name, level.name().as_str(), N::NAME];
        if words.iter().all(|word| names.contains(word)) {
            one::<N>(level, &case, check);
        }
    }
}

fn one<N: Kernels>(level: Level, case: &Case, check: bool) {
    let [xmin, xmax, ymin, ymax] = case.bounds;
    let along = |least: f64, most: f64| -> Vec<N> {
        (0..SIDE).map(|i| N::nearest(least + (i as f64 + 0.5) * (most - least) / SIDE as f64)).collect()
    };
    let (columns, rows) = (along(xmin, xmax), along(ymax, ymin));
    let nothing = vec![Grid::<N>::nothing(); SIDE];
    let block =
        Grid { re_of_column: &columns, im_of_column: &nothing, re_of_row: &nothing, im_of_row: &rows, monotonic: true };
    let points: Vec<[N; 2]> = (0..SIDE * SIDE).map(|i| block.point(i % SIDE, i / SIDE)).collect();
    let (re, im): (Vec<N>, Vec<N>) = points.iter().map(|[a, b]| (*a, *b)).unzip();
    let one_row = [Grid::<N>::nothing()];
    let (grid, width) = if case.listed { (Grid::list(&re, &im, &one_row), SIDE * SIDE) } else { (block, SIDE) };

    let radius_squared = N::from(4_u8);
    let (fold, power) = case.formula;
    let Some(formula) = Formula::new(fold, power) else { panic!("{power} is no power") };
    let map = Map { formula, recipe: Recipe::Fused, julia: case.julia.map(|c| c.map(N::nearest)) };
    let bounds = Bounds { map, limit: case.limit, radius_squared, shortcuts: case.shortcuts };
    let stop = AtomicBool::new(false);
    let mut workspace = Workspace::default();
    let (mut dwell, mut smooth) = (vec![u32::MAX; SIDE * SIDE], vec![f64::NAN; SIDE * SIDE]);
    let mut once = || {
        let mut dwell_rows: Vec<&mut [u32]> = dwell.chunks_mut(width).collect();
        let done = N::dwells(level, bounds, &mut workspace, grid, &mut dwell_rows, case.with_smooth, &stop);
        assert!(done, "nobody told it to stop");
        if case.with_smooth {
            let mut smooth_rows: Vec<&mut [f64]> = smooth.chunks_mut(width).collect();
            N::smooth_values(level, &map, &workspace, grid, &dwell_rows, &mut smooth_rows);
        }
        if case.with_distance {
            let mut rows: Vec<&mut [f64]> = smooth.chunks_mut(width).collect();
            assert!(N::distances(level, &map, &workspace, grid, 1.0, &dwell_rows, &mut rows, &stop));
        }
    };
    let began = Instant::now();
    once();
    let once_seconds = began.elapsed().as_secs_f64();
    // The second run is timed below; the first must be right, and so must the last.
    let repeats = if check { 1 } else { (0.02 / once_seconds).ceil().max(1.0) as u32 };
    let mut ratios = Vec::new();
    let mut nanoseconds = Vec::new();
    for _ in 0..if check { 1 } else { ROUNDS } {
        // What the formula's operations allow, at the rate of those of z^2 + c.
        let allowed = f64::from(Formula::MANDELBROT.operations()) / f64::from(formula.operations());
        let peak = if check { 1.0 } else { peak_rate::<N>(level) * allowed };
        let began = Instant::now();
        for _ in 0..repeats {
            once();
        }
        let seconds = began.elapsed().as_secs_f64() / f64::from(repeats);
        nanoseconds.push(seconds * 1e9 / (SIDE * SIDE) as f64);
        ratios.push(1.0 / (seconds * peak));
    }
    let expected: Vec<u32> =
        points.iter().map(|point| naive::dwell(&map, *point, case.limit, radius_squared)).collect();
    assert_eq!(dwell, expected, "{} {} {:?}", case.name, N::NAME, level);
    if case.with_smooth {
        let right = |(n, s): (&u32, &f64)| if *n == 0 { *s == 0.0 } else { (*s - f64::from(*n)).abs() < 9.0 };
        assert!(dwell.iter().zip(&smooth).all(right), "{} {} {:?}", case.name, N::NAME, level);
    }
    if case.with_distance {
        let right = |(n, d): (&u32, &f64)| if *n == 0 { *d == 0.0 } else { *d > 0.0 && *d < 2.5 };
        assert!(dwell.iter().zip(&smooth).all(right), "{} {} {:?}", case.name, N::NAME, level);
    }
    let iterations: f64 = expected.iter().map(|n| f64::from(if *n == 0 { case.limit } else { *n })).sum();
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let times = if check {
        "right | |".to_owned()
    } else {
        format!("{:.3} | {:.3} |", median(&mut nanoseconds), iterations * median(&mut ratios))
    };
    println!("| {} | {} | {} | {times} {} |", case.name, N::NAME, level.name(), case.what);
}

/// Iterations per second of z^2 + c alone, with the number of vectors in flight that is best here.
fn peak_rate<N: Kernels>(level: Level) -> f64 {
    let rate = |in_flight: usize| {
        let began = Instant::now();
        let (iterations, sum) = N::peak(level, Formula::MANDELBROT, Recipe::Fused, in_flight, 60_000);
        assert!(sum.is_finite(), "the orbit of a point in the set");
        iterations as f64 / began.elapsed().as_secs_f64()
    };
    peak::IN_FLIGHT.into_iter().map(rate).fold(0.0, f64::max)
}
