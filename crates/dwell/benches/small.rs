//! A small picture in memory from a warm scratch: `cargo bench -p dwell --bench small`. Without `--bench`, as
//! `cargo test` calls it, it runs a few times and only its bytes and its allocations are checked.
//!
//! The picture is 256 x 256 pixels of [-2, 2]^2 at limit 256, on one thread: a tile of a map or of a server. Each round
//! computes the field by the plain loop beside it, so that the ratio holds on a machine whose speed varies. Allocations are
//! those of the calling thread, which is the only one here.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers that prints its results and stops at the first problem"
)]

use dwell::{
    Automatic, Cancel, Control, CpuEngine, DirectPoints, Frame, Kernels, Level, Limits, Plan, PointsVisitor, Progress,
    Samples, Scene, Scratch, Settings, Size, View, naive,
};
use std::hint::black_box;
use std::time::Instant;

const SIDE: u32 = 256;
const ROUNDS: usize = 200;
/// Bytes that a warm call may hold at once in new allocations: those of exact coordinates, which are freed within the call.
/// A picture of this size has 196,608 bytes, its field 786,432.
const MOST_BYTES: u64 = 32 << 10;

/// The dwells by the plain loop, which takes no shortcut: what the time of the picture is compared with.
struct Plain<'a>(&'a Plan);

impl PointsVisitor for Plain<'_> {
    type Output = u64;
    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> u64 {
        let grid = points.axes.grid(0..SIDE, 0..SIDE);
        let places = (0..SIDE as usize).flat_map(|row| (0..SIDE as usize).map(move |column| (column, row)));
        let dwell = |(column, row)| {
            naive::dwell(&points.map, grid.point(column, row), self.0.direct_limit(), points.radius_squared)
        };
        places.map(|place| u64::from(dwell(place))).sum()
    }
}

fn main() {
    let check = std::env::args().all(|word| word != "--bench");
    let decimals = |[a, b]: [&str; 2]| [a.parse().unwrap(), b.parse().unwrap()];
    let ([xmin, xmax], [ymin, ymax]) = (decimals(["-2", "2"]), decimals(["-2", "2"]));
    let view = View { frame: Frame::Bounds { xmin, xmax, ymin, ymax }, ..View::centred("0", "0", "1").unwrap() };
    let settings = Settings { limit: 256, ..Settings::default() };
    let scene = Scene {
        view: view.sized(Size::new(SIDE, SIDE).unwrap()),
        settings,
        automatic: Automatic::NONE,
        samples: Samples::Fixed(1),
        dither: false,
        ..Scene::default()
    };
    let plan = Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap();
    let (engine, cancel, progress) = (CpuEngine::new(Level::best(), 1), Cancel::default(), Progress::default());
    let (control, limits, mut scratch) =
        (Control { cancel: &cancel, progress: &progress }, Limits::default(), Scratch::default());
    let first = scratch.picture(&scene, &engine, &limits, &control).unwrap().bytes().to_vec();
    let mut times = Vec::new();
    let mut plain = Vec::new();
    for _ in 0..if check { 2 } else { ROUNDS } {
        let began = Instant::now();
        let picture = scratch.picture(&scene, &engine, &limits, &control).unwrap();
        times.push(began.elapsed().as_secs_f64());
        assert!(picture.bytes() == first, "the same bytes in every call");
        let began = Instant::now();
        black_box(plan.points().visit(Plain(&plan)).unwrap());
        plain.push(began.elapsed().as_secs_f64());
    }
    let allocations = allocation_counter::measure(|| {
        scratch.picture(&scene, &engine, &limits, &control).unwrap();
    });
    assert!(allocations.bytes_max < MOST_BYTES, "a warm call held {} new bytes at once", allocations.bytes_max);
    assert_eq!(allocations.bytes_current, 0, "a warm call keeps no new memory");
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (time, plain) = (median(&mut times), median(&mut plain));
    println!("| picture | median | best | plain loop / picture | new memory in a warm call |\n|---|---|---|---|---|");
    println!(
        "| {SIDE} x {SIDE}, one thread | {:.2} ms | {:.2} ms | {:.1} | {} bytes at once, 0 kept |",
        time * 1e3,
        times[0] * 1e3,
        plain / time,
        allocations.bytes_max,
    );
}
