//! Compares f32 and f64 with arbitrary precision on a small sample. `cargo xtask truth` uses a large one and writes
//! docs/truth.md.

#![cfg(feature = "toml")]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Random;
use dwell::truth::{self, ExactMap, Truth};
use dwell::{
    Cancel, DirectPoints, Formula, Kernels, Limits, NumberKind, Plan, PointsVisitor, Rational, Settings, Size, View,
    naive,
};

fn mandelbrot() -> ExactMap {
    ExactMap { formula: Formula::MANDELBROT, julia: None }
}

/// The dwell of one pixel by the plain loop.
struct DwellAt {
    column: u32,
    row: u32,
    limit: u32,
}

impl PointsVisitor for DwellAt {
    type Output = u32;
    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> u32 {
        let Self { column, row, limit } = self;
        let point = points.axes.grid(column..column + 1, row..row + 1).point(0, 0);
        naive::dwell(&points.map, point, limit, points.radius_squared)
    }
}

fn wrong(view: &View, number: NumberKind, limit: u32, samples: u64, random: &mut Random) -> u64 {
    let settings = Settings { limit: limit.into(), number, ..Settings::default() };
    let plan = Plan::new(view, &settings, &Limits::default()).unwrap();
    let mut wrong = 0;
    for _ in 0..samples {
        let (column, row) = (random.below(view.size.width.into()), random.below(view.size.height.into()));
        let point = view.plane_from_pixel(column as u32, row as u32).unwrap();
        let truth = truth::dwell(&mandelbrot(), &point, limit.into(), &Rational::whole(2), &Cancel::default()).unwrap();
        let (column, row) = (column as u32, row as u32);
        let found = plan.points().visit(DwellAt { column, row, limit }).unwrap();
        wrong += u64::from(truth != Truth::Dwell(found.into()));
    }
    wrong
}

#[test]
fn on_shallow_views_f64_is_right_and_f32_nearly_always() {
    let mut random = Random::new(77);
    let (view, _) = common::location("shallow-home", 1920, 1080);
    assert_eq!(wrong(&view, NumberKind::F64, 500, 1500, &mut random), 0);
    let f32 = wrong(&view, NumberKind::F32, 500, 1500, &mut random);
    assert!(f32 <= 15, "{f32} of 1500");
}

#[test]
fn f64_is_mostly_right_at_zoom_1e5() {
    let mut random = Random::new(78);
    let (view, _) = common::location("shallow-seahorse", 640, 360);
    let found = wrong(&common::zoomed(view, "1e5"), NumberKind::F64, 1500, 600, &mut random);
    assert!(found <= 12, "{found} of 600");
}

#[test]
fn the_oracle_agrees_with_another_arbitrary_precision_library() {
    // Pixels next to the boundary (|dz/dc| over 10^16 at the escape, so f64 misses most of them), computed once with
    // mpmath 1.3 at 400 bits from the exact coordinates.
    let (view, _) = common::location("shallow-seahorse", 640, 360);
    let view = common::zoomed(view, "1e5");
    for (column, row, n) in [
        (229, 60, 663),
        (43, 274, 616),
        (273, 66, 516),
        (451, 241, 448),
        (572, 70, 632),
        (283, 222, 122),
        (517, 103, 142),
    ] {
        let point = view.plane_from_pixel(column, row).unwrap();
        let truth = truth::dwell(&mandelbrot(), &point, 1500, &Rational::whole(2), &Cancel::default()).unwrap();
        assert_eq!(truth, Truth::Dwell(n), "{column} {row}");
    }
}

#[test]
fn the_oracle_finds_wrong_dwells_of_f32() {
    // At the end of its resolution f32 is often wrong; an oracle that agreed with it would be wrong, too.
    let mut random = Random::new(79);
    let view = View::centred("-0.743643887", "0.131825904", "5000").unwrap().sized(Size::new(640, 360).unwrap());
    assert!(wrong(&view, NumberKind::F32, 1500, 200, &mut random) > 8);
}
