//! Bounds against real orbits, and proofs against the plain loop, by the kernels' own code, compiled for the host.

#![expect(unsafe_code, reason = "a function of a shared library has no types; each block says why it is sound")]

use super::*;
use crate::host::compiled;
use crate::shared::BLOCK_SIDE;
use crate::task::{Task, rule};
use dwell::{Fold, Formula, Limits, NumberKind, PointsVisitor, Recipe, Settings, Size, View};
use dwell_kernels::naive;
use libloading::Library;
use std::sync::OnceLock;

/// The rules, in the order of `EACH_RULE`.
const RULES: [&str; 6] =
    ["square_fused", "ship_fused", "tricorn_fused", "power_fused", "square_separate", "power_separate"];
/// Stands for the dwell of a block of which nothing is proved.
const NOTHING: u32 = u32::MAX;

/// `dwell_models_*` and `dwell_prove_*` of host.cpp.
type Models<N> = unsafe extern "C" fn(i32, *const Task<'_, N>, *const BlockProof, u32, *mut f64, *mut f64) -> u32;
type Prove<N> = unsafe extern "C" fn(i32, *const Task<'_, N>, *const BlockProof, u32, *mut u32);

/// The compiled code; `None` where there is no C++ compiler.
fn code() -> Option<&'static Library> {
    static CODE: OnceLock<Option<Library>> = OnceLock::new();
    CODE.get_or_init(|| compiled("proof", include_bytes!("host.cpp"))).as_ref()
}

/// A small generator: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    /// A number in -1..1.
    fn signed(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0
    }
}

/// Settings of every formula and recipe, and Julia sets of them.
fn some_settings() -> Vec<Settings> {
    let folds = [Fold::None, Fold::Absolute, Fold::Conjugate];
    let formulas = folds.iter().flat_map(|fold| [2, 3, 5, 16].map(|power| Formula::new(*fold, power).unwrap()));
    let mut all = Vec::new();
    for formula in formulas {
        for recipe in Recipe::ALL {
            for julia in [None, Some(["-0.390625", "0.5859375"].map(|part| part.parse().unwrap()))] {
                for number in NumberKind::DIRECT {
                    let settings = Settings { formula, recipe, number, limit: 700, force: true, ..Settings::default() };
                    all.push(Settings { julia: julia.clone(), ..settings });
                }
            }
        }
    }
    all
}

/// What is left out of the constants, to show that a test would notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    Roundings,
    Curvature,
}

impl Without {
    fn of(self, proof: BlockProof) -> BlockProof {
        match self {
            Self::Nothing => proof,
            Self::Roundings => BlockProof { slope_noise: 0.0, noise: 0.0, constant_noise: 0.0, ..proof },
            Self::Curvature => BlockProof { curvature: 0.0, third: 0.0, ..proof },
        }
    }
}

/// How often a computed orbit leaves the bound of the block that is the whole view, of how many steps.
struct Violations<'a>(&'a Plan, Without);

impl PointsVisitor for Violations<'_> {
    type Output = [u64; 2];

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> [u64; 2] {
        const MOST: usize = 60;
        let Self(plan, without) = self;
        let (task, proof) = on_host(plan, points);
        let proof = without.of(proof);
        let Size { width, height } = plan.size();
        let (mut models, mut orbits) = (vec![0.0; 7 * MOST], vec![0.0; 2 * MOST * (width * height) as usize]);
        // SAFETY: the function of that name has this type.
        let of_host = unsafe { function::<Models<N>>("models", N::NAME) };
        let (models_to, orbits_to) = (models.as_mut_ptr(), orbits.as_mut_ptr());
        // SAFETY: the coordinates live as long as the points, and there is room for so many models and orbits.
        let count =
            unsafe { of_host(rule_of(plan, points), &raw const task, &raw const proof, 60, models_to, orbits_to) };
        let models: Vec<&[f64]> = models.chunks(7).take(count as usize).collect();
        let grid = points.axes.grid(0..width, 0..height);
        let [mut wrong, mut all] = [0, 0];
        for (i, orbit) in orbits.chunks(2 * count as usize).take((width * height) as usize).enumerate() {
            let point = grid.point(i % width as usize, i / width as usize).map(N::to_f64);
            let d = [point[0] - models[0][0], point[1] - models[0][1]];
            for (z, model) in orbit.chunks(2).zip(&models) {
                let [x, y, p, q, s, t, e] = **model else { unreachable!() };
                let linear = if points.map.formula.fold() == Fold::None {
                    let factor = [p + s * d[0] - t * d[1], q + s * d[1] + t * d[0]];
                    [factor[0] * d[0] - factor[1] * d[1], factor[0] * d[1] + factor[1] * d[0]]
                } else {
                    [p * d[0] + s * d[1], q * d[0] + t * d[1]]
                };
                let error = (z[0] - x - linear[0]).hypot(z[1] - y - linear[1]);
                // What this comparison rounds, in f64: far less than E has for the roundings of the orbits.
                let own = 2.0 * f64::EPSILON * (linear[0].abs() + linear[1].abs() + z[0].abs());
                all += 1;
                wrong += u64::from(error > e + own);
            }
        }
        [wrong, all]
    }
}

/// The proved pixels of a view, and the wrong ones of them.
struct Proofs<'a>(&'a Plan, u32);

impl PointsVisitor for Proofs<'_> {
    type Output = [u64; 2];

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> [u64; 2] {
        let Self(plan, side) = self;
        let (task, proof) = on_host(plan, points);
        let Size { width, height } = plan.size();
        let mut dwells = vec![0; (width.div_ceil(side) * height.div_ceil(side)) as usize];
        // SAFETY: the function of that name has this type.
        let of_host = unsafe { function::<Prove<N>>("prove", N::NAME) };
        // SAFETY: the coordinates live as long as the points, and there is room for each block.
        unsafe { of_host(rule_of(plan, points), &raw const task, &raw const proof, side, dwells.as_mut_ptr()) };
        let grid = points.axes.grid(0..width, 0..height);
        let [mut proved, mut wrong] = [0, 0];
        for (column, row) in (0..height).flat_map(|row| (0..width).map(move |column| (column, row))) {
            let dwell = dwells[(row / side * width.div_ceil(side) + column / side) as usize];
            if dwell == NOTHING {
                continue;
            }
            let point = grid.point(column as usize, row as usize);
            proved += 1;
            wrong += u64::from(naive::dwell(&points.map, point, plan.direct_limit(), points.radius_squared) != dwell);
        }
        [proved, wrong]
    }
}

/// The task of a plan with coordinates on the host, and its proofs.
fn on_host<'a, N: Kernels>(plan: &Plan, points: &'a DirectPoints<N>) -> (Task<'a, N>, BlockProof) {
    let task = Task::new(plan, points, Shortcuts::EXACT);
    (task.on_host(points.axes.arrays()), BlockProof::new(plan, points, Shortcuts::EXACT))
}

fn rule_of<N: Kernels>(plan: &Plan, points: &DirectPoints<N>) -> i32 {
    let name = rule(plan.formula(), points.map.recipe);
    RULES.iter().zip(0..).find(|(rule, _)| **rule == name).unwrap().1
}

/// A function of the compiled code.
///
/// # Safety
/// It has the type `F`.
unsafe fn function<F: Copy>(name: &str, number: &str) -> F {
    let name = format!("dwell_{name}_{number}\0");
    // SAFETY: by the caller's promise.
    *unsafe { code().unwrap().get::<F>(name.as_bytes()) }.unwrap()
}

fn plan_of(settings: &Settings, centre: [f64; 2], zoom: f64, size: Size, rotation: u32) -> Plan {
    let [re, im] = centre.map(|part| format!("{part:.12}"));
    let mut view = View::centred(&re, &im, &format!("{zoom:.6e}")).unwrap().sized(size);
    view.rotation = rotation.to_string().parse().unwrap();
    Plan::new(&view, settings, &Limits::default()).unwrap()
}

/// Violations of blocks around random points, whose radius is about 2^-`radius_log2`.
fn violations(settings: &Settings, radius_log2: i32, without: Without, seed: u64) -> [u64; 2] {
    let mut random = Random(seed);
    let size = Size::new(BLOCK_SIDE, BLOCK_SIDE).unwrap();
    let mut sum = [0, 0];
    for i in 0..8 {
        let centre = [1.6 * random.signed() - 0.4, 1.3 * random.signed()];
        let plan = plan_of(settings, centre, 2.0_f64.powi(radius_log2), size, 11 * (i % 3));
        let found = plan.points().visit(Violations(&plan, without)).unwrap();
        sum = [sum[0] + found[0], sum[1] + found[1]];
    }
    sum
}

#[test]
fn computed_orbits_stay_within_the_bounds_of_kernels() {
    if code().is_none() {
        return;
    }
    for (i, settings) in some_settings().iter().enumerate() {
        for radius_log2 in [3, 6, 10, 16, 30] {
            let radius_log2 = if settings.number == NumberKind::F32 { radius_log2.min(16) } else { radius_log2 };
            let [wrong, all] = violations(settings, radius_log2, Without::Nothing, 1 + i as u64);
            assert!(wrong == 0 && all > 2000, "{settings:?}: {wrong} of {all} with radius 2^-{radius_log2}");
        }
    }
}

#[test]
fn weaker_bounds_of_kernels_are_left() {
    if code().is_none() {
        return;
    }
    for (i, settings) in some_settings().iter().enumerate() {
        for without in [Without::Roundings, Without::Curvature] {
            // Where roundings are most of E, and where curvature is.
            let radius_log2 = match (without, settings.number) {
                (Without::Roundings, NumberKind::F64) => 40,
                (Without::Roundings, _) => 18,
                _ => 6,
            };
            let [wrong, _] = violations(settings, radius_log2, without, 1 + i as u64);
            assert!(wrong > 0, "{settings:?} {without:?}");
        }
    }
}

#[test]
fn kernels_prove_the_dwells_of_the_plain_loop() {
    if code().is_none() {
        return;
    }
    let mut random = Random(77);
    let [mut proved, mut all] = [0, 0];
    for settings in some_settings() {
        for side in [BLOCK_SIDE, CELL_SIDE] {
            let zoom = [0.4, 4.0, 40.0, 400.0, 4000.0][random.below(5)];
            let centre = [1.6 * random.signed() - 0.4, 1.3 * random.signed()];
            let limit = [20, 300, 700, 3000][random.below(4)];
            let settings = Settings { limit, ..settings.clone() };
            let rotation = [0, 0, 37][random.below(3)];
            let plan = plan_of(&settings, centre, zoom, Size::new(85, 52).unwrap(), rotation);
            let [of_view, wrong] = plan.points().visit(Proofs(&plan, side)).unwrap();
            assert_eq!(wrong, 0, "{settings:?} {centre:?} {zoom} {rotation}");
            proved += of_view;
            all += plan.size().pixels();
        }
    }
    assert!(proved * 2 > all, "{proved} of {all} pixels are proved");
}

#[test]
fn traps_prove_what_is_inside() {
    if code().is_none() {
        return;
    }
    // Components beside the cardioid, whose pixels no test for the cardioid finds.
    for number in NumberKind::DIRECT {
        let settings = Settings { number, limit: 5000, ..Settings::default() };
        for (centre, zoom) in [([-0.125, 0.745], 60.0), ([-1.31, 0.0], 80.0), ([-1.755, 0.0], 400.0)] {
            let plan = plan_of(&settings, centre, zoom, Size::new(64, 64).unwrap(), 0);
            let [proved, wrong] = plan.points().visit(Proofs(&plan, CELL_SIDE)).unwrap();
            assert_eq!(wrong, 0, "{centre:?}");
            assert!(proved > 2000, "{proved} of 4096 pixels at {centre:?} in {}", number.name());
        }
    }
}
