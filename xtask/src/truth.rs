//! Measures how often f32 and f64 give a wrong dwell: sampled pixels of real views at every depth are compared with
//! arbitrary precision.

use crate::random::Random;
use crate::{Done, root};
use dwell::store::{self, PartialFiles};
use dwell::truth::{self, ExactMap, Truth};
use dwell::{
    Cancel, DirectPoints, Formula, Frame, Kernels, Limits, Location, Magnification, NumberKind, Plan, PointsVisitor,
    Rational, Settings, Size, naive,
};
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pixels sampled at each depth, over all places together.
const SAMPLES: u64 = 4000;
/// Depths: zooms 1e0 to 1e13.
const DECADES: u32 = 14;
const SEED: u64 = 20_261_121;
const SIZE: Size = Size { width: 1920, height: 1080 };
const LIMIT: u64 = 10_000;

/// Locations of the centres, each on the boundary or close to it.
const PLACES: [&str; 5] = ["shallow-home", "shallow-elephant", "shallow-minibrot", "shallow-seahorse", "kf-1e50"];

/// Results at one depth.
#[derive(Default)]
struct Found {
    pixels: u64,
    escaped: u64,
    undecided: u64,
    /// Results in f32 and in f64.
    numbers: [Tally; 2],
}

#[derive(Default, Clone, Copy)]
struct Tally {
    /// Pixels compared; 0 where the number does not resolve the depth.
    compared: u64,
    /// Wrong dwells.
    wrong: u64,
    /// Wrong dwells where exactly one of the two is 0, so that the escape itself is wrong.
    wrong_side: u64,
    /// The largest difference between two dwells above 0.
    largest: u64,
}

pub(crate) fn write() -> Done {
    let mut table = String::from(
        "| zoom | pixels | f32 wrong | f32 largest error | f64 wrong | f64 largest error |\n|---|---|---|---|---|---|\n",
    );
    let (mut all_pixels, mut undecided) = (0, 0);
    for decade in 0..DECADES {
        let found = at_depth(decade)?;
        all_pixels += found.pixels;
        undecided += found.undecided;
        let cells = found.numbers.map(|t| match t.compared {
            0 => "not resolved | ".to_owned(),
            n => format!(
                "{} of {n} ({:.2} %), {} of them on the wrong side of the limit | {}",
                t.wrong,
                100.0 * t.wrong as f64 / n as f64,
                t.wrong_side,
                t.largest
            ),
        });
        writeln!(table, "| 1e{decade} | {} ({} escaped) | {} | {} |", found.pixels, found.escaped, cells[0], cells[1])?;
        println!(
            "1e{decade}: {} pixels, {} escaped, wrong: f32 {} f64 {}",
            found.pixels, found.escaped, found.numbers[0].wrong, found.numbers[1].wrong
        );
    }
    let text = format!(
        "# How often the numbers are wrong\n\n\
Dwells are exact with respect to the plain loop *in a number*: every engine gives the same dwells. This page shows how often\n\
that loop itself is wrong, because f32 and f64 round the point and every step. The true dwell is computed in arbitrary\n\
precision with an error bound (`dwell::truth`) at the exact rational c of the pixel.\n\n\
{all_pixels} pixels, sampled at random (seed {SEED}) from 1920x1080 views of {} at each depth, limit {LIMIT}, recipe `fused`; {undecided} undecided.\n\
\"Wrong\" is any difference in the dwell, of one or more. \"Largest error\" is the largest difference between two dwells above 0.\n\
A number is measured at the depths at which its spacing resolves the pixels, so that the view is drawn without `--force`.\n\
Written by `cargo xtask truth`.\n\n{table}\n\
f64 is wrong at depths that it resolves because, next to the boundary, the derivative dz/dc at the escape exceeds 10^16:\n\
rounding c alone moves z by more than its modulus. Such pixels are few at shallow depth and more frequent in dense places.\n\
Their neighbours are equally chaotic, so pictures look the same. Use `dwell point` where a single dwell must be true.\n",
        PLACES.join(", "),
    );
    store::write_text(&root().join("docs/truth.md"), &text, &PartialFiles::default())?;
    println!("docs/truth.md: {all_pixels} pixels");
    if undecided > 0 { Err(format!("{undecided} pixels undecided").into()) } else { Ok(()) }
}

fn at_depth(decade: u32) -> Result<Found, Box<dyn std::error::Error>> {
    let found = Mutex::new(Found::default());
    for (place, name) in PLACES.iter().enumerate() {
        let mut view = Location::built_in(name)?.view(SIZE);
        if let Frame::Centred { magnification, .. } = &mut view.frame {
            *magnification = Magnification::Zoom(format!("1e{decade}").parse()?);
        }
        let plan = |number| {
            Plan::new(&view, &Settings { limit: LIMIT, number, ..Settings::default() }, &Limits::default()).ok()
        };
        let plans = [plan(NumberKind::F32), plan(NumberKind::F64)];
        let next = AtomicU64::new(0);
        let samples = SAMPLES / PLACES.len() as u64;
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= samples {
                    return;
                }
                let mut random = Random::new(SEED ^ (u64::from(decade) << 40) ^ ((place as u64) << 32) ^ index);
                let mut below = |n: u32| random.below(n as usize) as u32;
                let (column, row) = (below(SIZE.width), below(SIZE.height));
                let Some(point) = view.plane_from_pixel(column, row) else { continue };
                let map = ExactMap { formula: Formula::MANDELBROT, julia: None };
                let Ok(truth) = truth::dwell(&map, &point, LIMIT, &Rational::whole(2), &Cancel::default()) else {
                    continue;
                };
                let numbers = plans.each_ref().map(|p| p.as_ref().and_then(|p| in_number(p, column, row)));
                let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                found.pixels += 1;
                let Truth::Dwell(truth) = truth else {
                    found.undecided += 1;
                    continue;
                };
                found.escaped += u64::from(truth > 0);
                for (tally, n) in found.numbers.iter_mut().zip(numbers) {
                    let Some(n) = n.map(u64::from) else { continue };
                    tally.compared += 1;
                    tally.wrong += u64::from(n != truth);
                    tally.wrong_side += u64::from((n == 0) != (truth == 0));
                    if n > 0 && truth > 0 {
                        tally.largest = tally.largest.max(n.abs_diff(truth));
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
        });
    }
    Ok(found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Computes the dwell of one pixel by the plain loop in the plan's number.
fn in_number(plan: &Plan, column: u32, row: u32) -> Option<u32> {
    struct DwellAt(u32, u32, u32);
    impl PointsVisitor for DwellAt {
        type Output = u32;
        fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> u32 {
            let Self(column, row, limit) = self;
            let point = points.axes.grid(column..column + 1, row..row + 1).point(0, 0);
            naive::dwell(&points.map, point, limit, points.radius_squared)
        }
    }
    plan.points().visit(DwellAt(column, row, plan.direct_limit()))
}
