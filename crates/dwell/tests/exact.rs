//! Every level, thread count, number and recipe gives the dwells of the plain loop: no pixel differs.

#![cfg(feature = "toml")]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Random;
use dwell::{
    Cancel, ChannelSet, CpuEngine, DirectPoints, Kernels, Level, Limits, NumberKind, Plan, PointsVisitor, Recipe,
    Settings, Shortcuts, Size, Strategy, Task, View, naive,
};

const THREADS: [usize; 4] = [1, 2, 3, 8];

/// The dwells of the plain loop at the plan's coordinates.
fn plain(plan: &Plan) -> Vec<u32> {
    struct Plain<'a>(&'a Plan);
    impl PointsVisitor for Plain<'_> {
        type Output = Vec<u32>;
        fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Vec<u32> {
            let Size { width, height } = self.0.size();
            let grid = points.axes.grid(0..width, 0..height);
            let places = (0..height as usize).flat_map(|row| (0..width as usize).map(move |column| (column, row)));
            let dwell = |point| naive::dwell(&points.map, point, self.0.direct_limit(), points.radius_squared);
            places.map(|(column, row)| dwell(grid.point(column, row))).collect()
        }
    }
    plan.points().visit(Plain(plan)).unwrap()
}

/// Compares every number, recipe, level and thread count with the plain loop. Returns the number of compared pixels.
fn check(view: &View, settings: &Settings, what: &str) -> u64 {
    let mut compared = 0;
    for number in NumberKind::DIRECT {
        for recipe in Recipe::ALL {
            let settings = Settings { number, recipe, ..settings.clone() };
            let plan = Plan::new(view, &settings, &Limits::default()).unwrap();
            let expected = plain(&plan);
            for level in Level::available() {
                for threads in THREADS {
                    let shortcuts = if threads == 3 { Shortcuts::NONE } else { Shortcuts::EXACT };
                    let engine = CpuEngine::new(level, threads).with_shortcuts(shortcuts);
                    let channels = if threads == 2 { ChannelSet::SMOOTH } else { ChannelSet::NONE };
                    let strategy = match threads {
                        1 | 2 => Strategy::Proven,
                        _ => Strategy::EveryPixel,
                    };
                    let task = Task { plan: &plan, strategy, channels };
                    let field = dwell::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap();
                    let differ = field.dwell().iter().zip(&expected).filter(|(a, b)| a != b).count();
                    assert_eq!(
                        differ, 0,
                        "{what}: {number:?} {recipe:?} {level:?} {threads} threads, {strategy}, limit {}: {view:?}",
                        settings.limit
                    );
                    compared += expected.len() as u64;
                }
            }
        }
    }
    compared
}

#[test]
fn three_hundred_random_views() {
    let sizes = [(1, 1), (1, 97), (97, 1), (31, 17), (31, 17), (31, 17), (64, 9), (5, 70)];
    let mut compared = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (width, height) = if seed % 60 == 7 { (257, 129) } else { *random.one_of(&sizes) };
        let view = common::view(&mut random, 14, Size::new(width, height).unwrap());
        let most = if seed % 60 == 7 { 200 } else { 700 };
        let settings = common::settings(&mut random, most);
        compared += check(&view, &settings, &format!("seed {seed}"));
    }
    eprintln!("{compared} pixels compared with the plain loop, 0 differ");
    assert!(compared > 1_000_000, "{compared}");
}

#[test]
fn two_hundred_and_fifty_random_views_of_other_formulas() {
    let mut compared = 0;
    for seed in 0..250 {
        let mut random = Random::new(seed + 5000);
        let (width, height) = *random.one_of(&[(1, 1), (1, 57), (61, 1), (31, 17), (40, 24), (5, 40)]);
        let view = common::view_of_any_formula(&mut random, Size::new(width, height).unwrap());
        let settings = common::settings(&mut random, 400);
        let settings = common::any_formula(&mut random, settings);
        compared += check(&view, &settings, &format!("seed {seed}, {:?} {:?}", settings.formula, settings.julia));
    }
    eprintln!("{compared} pixels compared with the plain loop, 0 differ");
    assert!(compared > 1_000_000, "{compared}");
}

#[test]
fn limits_around_the_stages_of_the_kernel() {
    for (i, limit) in [1, 2, 15, 16, 17, 23, 24, 25, 31, 32, 33, 48, 49].into_iter().enumerate() {
        let (view, _) = common::location("shallow-home", 31, 17);
        check(&view, &Settings { limit, ..Settings::default() }, &format!("limit {limit}, {i}"));
    }
}

#[test]
fn a_limit_of_two_to_the_31() {
    // Every point of these views escapes; dwells reach a thousand.
    for (re, im, zoom) in [("0.25001", "0", "1e9"), ("-0.7501", "0.01", "1e6"), ("-2.3", "0.1", "10")] {
        let view = View::centred(re, im, zoom).unwrap().sized(Size::new(5, 3).unwrap());
        check(&view, &Settings { limit: 1 << 31, force: true, ..Settings::default() }, re);
    }
}

#[test]
fn outside_radius_two_the_tip_and_the_real_axis() {
    for (re, im, zoom, w, h) in [
        ("-2", "0", "1e12", 31, 17),
        ("-2", "0", "4", 33, 5),
        ("-1.5", "0", "1e3", 64, 1),
        ("3", "4", "1", 31, 17),
        ("0", "0", "0.001", 31, 17),
        ("0", "0", "1e-30", 9, 9),
        ("-1.25", "0", "2", 257, 3),
    ] {
        let view = View::centred(re, im, zoom).unwrap().sized(Size::new(w, h).unwrap());
        check(&view, &Settings { limit: 400, force: true, ..Settings::default() }, re);
    }
}

#[test]
fn rotated_views() {
    for degrees in ["90", "180", "270", "45", "0.001", "-33.3"] {
        let (mut view, _) = common::location("shallow-seahorse", 31, 17);
        view.rotation = degrees.parse().unwrap();
        check(&common::zoomed(view, "1e4"), &Settings { limit: 500, force: true, ..Settings::default() }, degrees);
    }
}

#[test]
fn smooth_values_are_the_same_bits_everywhere() {
    let (view, _) = common::location("shallow-elephant", 97, 61);
    for number in NumberKind::DIRECT {
        let plan =
            Plan::new(&view, &Settings { number, limit: 900, ..Settings::default() }, &Limits::default()).unwrap();
        let mut first: Option<Vec<u64>> = None;
        for level in Level::available() {
            for threads in THREADS {
                let engine = CpuEngine::new(level, threads);
                let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::SMOOTH };
                let field = dwell::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap();
                let bits: Vec<u64> = field.smooth().iter().map(|s| s.to_bits()).collect();
                assert_eq!(*first.get_or_insert_with(|| bits.clone()), bits, "{level:?} {threads}");
            }
        }
    }
}
