//! Micro-benchmarks: the rate of each kernel on each level, as a fraction of the peak measured around it. The peak of a
//! formula is that of z^2 + c times the ratio of their operations. `cargo bench` runs the benchmarks. Without
//! `--bench`, as `cargo test` calls it, each runs once and only its output is checked. Words select cases by name, level or number type.
//!
//! The output of every case is compared with the plain loop before its time is reported. Each round measures the peak
//! and then the case, so that a change of the clock rate affects both; the median of the ratios of all rounds is shown.

#![expect(clippy::print_stdout, clippy::panic, reason = "a program for developers that reports on the terminal")]

use dwell_kernels::distance::{Derived, Units};
use dwell_kernels::escape::{KernelSettings, KernelShortcuts, Workspace};
use dwell_kernels::{Fold, Formula, Grid, Kernels, Level, Map, Recipe, naive, peak};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A block of points and the kernels to run on it.
struct Case {
    name: &'static str,
    what: &'static str,
    /// The view: xmin, xmax, ymin, ymax.
    bounds: [f64; 4],
    formula: (Fold, u32),
    julia: Option<[f64; 2]>,
    limit: u32,
    shortcuts: KernelShortcuts,
    with_smooth: bool,
    with_distance: bool,
    /// Whether the points are given as a list instead of a block.
    listed: bool,
}

const PLAIN: Case = Case {
    name: "",
    what: "",
    bounds: [0.0; 4],
    formula: (Fold::None, 2),
    julia: None,
    limit: 0,
    shortcuts: KernelShortcuts::NONE,
    with_smooth: false,
    with_distance: false,
    listed: false,
};

const CASES: [Case; 17] = [
    Case {
        name: "far",
        what: "escapes at n = 1: reading and writing",
        bounds: [2.0, 3.0, 2.0, 3.0],
        limit: 32,
        ..PLAIN
    },
    Case { name: "prologue", what: "escapes within the prologue", bounds: [0.5, 1.0, 0.2, 0.7], limit: 64, ..PLAIN },
    Case {
        name: "bundle",
        what: "interior points: bundles that stay whole",
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
        what: "the whole set with the test for interior points",
        bounds: [-2.0, 1.0, -1.5, 1.5],
        limit: 256,
        shortcuts: KernelShortcuts { interior: true, cycles: false, traps: false },
        ..PLAIN
    },
    Case {
        name: "cycles",
        what: "an island of period 3, with the test for cycles",
        bounds: [-1.79, -1.74, -0.025, 0.025],
        limit: 4000,
        shortcuts: KernelShortcuts { interior: false, cycles: true, traps: false },
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

/// The whole set of a formula.
const FORMULA: Case = Case { bounds: [-1.6, 1.4, -1.5, 1.5], limit: 1000, ..PLAIN };

/// The number of columns and of rows of the block.
const SIDE: usize = 128;
/// The number of rounds that are timed.
const ROUNDS: usize = 9;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let check = words.iter().all(|word| word != "--bench");
    let words: Vec<&str> = words.iter().filter(|word| !word.starts_with("--")).map(String::as_str).collect();
    println!("| case | number | level | ns a point | iterations a second / peak | |\n|---|---|---|---|---|---|");
    for level in Level::available() {
        run_cases::<f32>(level, &words, check);
        run_cases::<f64>(level, &words, check);
    }
}

/// Runs the cases that all words select.
fn run_cases<N: Kernels>(level: Level, words: &[&str], check: bool) {
    for case in CASES {
        let names = [case.name, level.name().name(), N::NAME];
        if words.iter().all(|word| names.contains(word)) {
            run_case::<N>(level, &case, check);
        }
    }
}

/// The coordinate arrays of a case.
struct Coordinates<N> {
    columns: Vec<N>,
    rows: Vec<N>,
    /// As many -0 as there are columns.
    negative_zeros: Vec<N>,
    /// Re c and im c of every point, row by row.
    re: Vec<N>,
    im: Vec<N>,
}

impl<N: Kernels> Coordinates<N> {
    fn of(case: &Case) -> Self {
        let [xmin, xmax, ymin, ymax] = case.bounds;
        let along = |least: f64, most: f64| -> Vec<N> {
            (0..SIDE).map(|i| N::nearest(least + (i as f64 + 0.5) * (most - least) / SIDE as f64)).collect()
        };
        let mut coordinates = Self {
            columns: along(xmin, xmax),
            rows: along(ymax, ymin),
            negative_zeros: vec![Grid::<N>::negative_zero(); SIDE],
            re: Vec::new(),
            im: Vec::new(),
        };
        let block = coordinates.block();
        (coordinates.re, coordinates.im) =
            (0..SIDE * SIDE).map(|i| block.point(i % SIDE, i / SIDE)).map(|[re, im]| (re, im)).unzip();
        coordinates
    }

    fn block(&self) -> Grid<'_, N> {
        Grid {
            re_of_column: &self.columns,
            im_of_column: &self.negative_zeros,
            re_of_row: &self.negative_zeros,
            im_of_row: &self.rows,
            monotonic: true,
        }
    }
}

/// The results of a case: dwells, and smooth values or distances if the case computes them.
struct Values {
    dwell: Vec<u32>,
    value: Vec<f64>,
}

/// Measures one case, checks its output and prints its row of the table.
fn run_case<N: Kernels>(level: Level, case: &Case, check: bool) {
    let coordinates = Coordinates::<N>::of(case);
    let one_row = [Grid::<N>::negative_zero()];
    let list = Grid::list(&coordinates.re, &coordinates.im, &one_row);
    let (grid, width) = if case.listed { (list, SIDE * SIDE) } else { (coordinates.block(), SIDE) };
    let (fold, power) = case.formula;
    let Some(formula) = Formula::new(fold, power) else { panic!("{power} is not a supported power") };
    let map = Map { formula, recipe: Recipe::Fused, julia: case.julia.map(|c| c.map(N::nearest)) };
    let settings =
        KernelSettings { map, limit: case.limit, radius_squared: N::from(4_u8), shortcuts: case.shortcuts, proved: 0 };
    let stop = AtomicBool::new(false);
    let mut workspace = Workspace::new().expect("memory for a workspace");
    let mut values = Values { dwell: vec![u32::MAX; SIDE * SIDE], value: vec![f64::NAN; SIDE * SIDE] };
    let mut compute = |Values { dwell, value }: &mut Values| {
        let mut dwell_rows: Vec<&mut [u32]> = dwell.chunks_mut(width).collect();
        let completed = N::dwells(level, settings, &mut workspace, grid, &mut dwell_rows, case.with_smooth, &stop);
        assert!(completed, "the kernel returned early although `stop` is not set");
        let mut rows: Vec<&mut [f64]> = value.chunks_mut(width).collect();
        if case.with_smooth {
            N::smooth_values(level, &map, &workspace, grid, &dwell_rows, &mut rows);
        }
        if case.with_distance {
            let units = Units { per_distance: 1.0, pixel: [[1.0, 0.0], [0.0, 1.0]] };
            let out = Derived { distance: &mut rows, slope: [&mut [], &mut []] };
            assert!(N::derived(level, &map, &workspace, grid, units, &dwell_rows, out, &stop));
        }
    };
    let began = Instant::now();
    compute(&mut values);
    let first_seconds = began.elapsed().as_secs_f64();
    // The output is checked after the last run; a workspace that has been used must give the same dwells.
    let repeats = if check { 1 } else { (0.02 / first_seconds).ceil().max(1.0) as u32 };
    let mut ratios = Vec::new();
    let mut nanoseconds = Vec::new();
    for _ in 0..if check { 1 } else { ROUNDS } {
        // The rate that the operations of the formula allow, from the rate of those of z^2 + c.
        let allowed = f64::from(Formula::MANDELBROT.operations()) / f64::from(formula.operations());
        let peak = if check { 1.0 } else { peak_rate::<N>(level) * allowed };
        let began = Instant::now();
        for _ in 0..repeats {
            compute(&mut values);
        }
        let seconds = began.elapsed().as_secs_f64() / f64::from(repeats);
        nanoseconds.push(seconds * 1e9 / (SIDE * SIDE) as f64);
        ratios.push(1.0 / (seconds * peak));
    }
    let iterations = check_values(level, case, &settings, &coordinates, &values);
    let times = if check {
        "right | |".to_owned()
    } else {
        format!("{:.3} | {:.3} |", median(&mut nanoseconds), iterations * median(&mut ratios))
    };
    println!("| {} | {} | {} | {times} {} |", case.name, N::NAME, level.name(), case.what);
}

/// Compares the results of a case with the plain loop. Returns the number of iterations that the plain loop needs.
fn check_values<N: Kernels>(
    level: Level,
    case: &Case,
    settings: &KernelSettings<N>,
    coordinates: &Coordinates<N>,
    Values { dwell, value }: &Values,
) -> f64 {
    let KernelSettings { map, limit, radius_squared, .. } = settings;
    let expected: Vec<u32> = coordinates
        .re
        .iter()
        .zip(&coordinates.im)
        .map(|(re, im)| naive::dwell(map, [*re, *im], *limit, *radius_squared))
        .collect();
    let label = format!("{} {} {level:?}", case.name, N::NAME);
    assert_eq!(*dwell, expected, "{label}");
    if case.with_smooth {
        let right = |(n, s): (&u32, &f64)| if *n == 0 { *s == 0.0 } else { (*s - f64::from(*n)).abs() < 9.0 };
        assert!(dwell.iter().zip(value).all(right), "{label}");
    }
    if case.with_distance {
        let right = |(n, d): (&u32, &f64)| if *n == 0 { *d == 0.0 } else { *d > 0.0 && *d < 2.5 };
        assert!(dwell.iter().zip(value).all(right), "{label}");
    }
    expected.iter().map(|n| f64::from(if *n == 0 { *limit } else { *n })).sum()
}

/// The median; the values are sorted.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Iterations per second of z^2 + c alone, with the number of vectors in flight that is fastest on this machine.
fn peak_rate<N: Kernels>(level: Level) -> f64 {
    let rate = |in_flight: usize| {
        let began = Instant::now();
        let (iterations, sum) = N::peak(level, Formula::MANDELBROT, Recipe::Fused, in_flight, 60_000);
        assert!(sum.is_finite(), "the orbit of a point of the set is bounded");
        iterations as f64 / began.elapsed().as_secs_f64()
    };
    peak::IN_FLIGHT.into_iter().map(rate).fold(0.0, f64::max)
}
