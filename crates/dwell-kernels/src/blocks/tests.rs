//! Bounds against real orbits, and proofs against the plain loop.

use super::model::{Bounds, Model, Parts};
use super::*;
use crate::map::Map;
use crate::map::tests::some_maps;
use crate::naive;
use crate::recipe::{Recipe, with_rule};
use crate::test_random::Random;

/// A number in -1..1.
fn signed(random: &mut Random) -> f64 {
    2.0 * random.unit() - 1.0
}

/// A point near the sets of all formulas.
fn point(random: &mut Random) -> [f64; 2] {
    [1.6 * signed(random) - 0.4, 1.3 * signed(random)]
}

fn settings<N: Number>(map: Map<N>, limit: u32, radius: f64) -> KernelSettings<N> {
    KernelSettings {
        map,
        limit,
        radius_squared: N::nearest(radius * radius),
        shortcuts: crate::escape::KernelShortcuts::NONE,
        proved: 0,
    }
}

/// The models of a block for n = 1, 2, ..., as long as no point can have escaped, at most `steps`.
struct Models<'a, N> {
    bounds: &'a Bounds<N>,
    formula: Formula,
    c: [N; 2],
    centre: [N; 2],
    radius: N,
    steps: usize,
}

impl<N: Number> Kernel for Models<'_, N> {
    type Output = Vec<Model<N>>;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Self::Output {
        let (one, zero) = (N::from(1_u8), N::default());
        let second = [zero, if self.formula.fold() == Fold::None { zero } else { one }];
        let first = Model { z: self.centre, slope: [one, zero], second, e: zero };
        let mut group = Group::<N, 1>::new();
        group.set([0, 0], &first, self.c, self.radius);
        let rule = Powers::<Fused>::of(self.formula);
        let (mut model, mut found) = (group.model(simd, 0), vec![first]);
        let c = [&group.c[0][0], &group.c[1][0]].map(|c| Vector::load(simd, c));
        let radius = Vector::load(simd, &group.radius[0]);
        for _ in 0..self.steps {
            let measure = model.measure(simd, rule, radius);
            let mut reach = [zero; MAX_LANES];
            measure.reach.store(&mut reach);
            if reach[0].to_f64().is_nan() || reach[0] > self.bounds.near {
                break;
            }
            model = model.step(simd, rule, self.bounds, &measure, c);
            group.store(simd, 0, 1, &model);
            found.push(group.get([0, 0]));
        }
        found
    }
}

/// How often a computed orbit leaves the bound of its block, of how many steps.
fn violations<N: Number>(map: Map<N>, radius_log2: i32, parts: Parts, seed: u64) -> [u64; 2] {
    let mut random = Random(seed);
    let settings = settings(map, 1000, 3.0);
    let [mut wrong, mut all] = [0, 0];
    for _ in 0..40 {
        let centre = point(&mut random).map(N::nearest);
        let radius = 0.5_f64.powi(radius_log2);
        let c = map.c(centre);
        let greatest_c = c[0].to_f64().hypot(c[1].to_f64()) + radius;
        let bounds = Bounds::new(&settings, greatest_c, radius, parts);
        let models = Models { bounds: &bounds, formula: map.formula, c, centre, radius: N::nearest(radius), steps: 60 };
        let models = Level::best().run(models);
        for _ in 0..12 {
            let part = || 0.7 * radius;
            let point = [0, 1].map(|i| N::nearest(centre[i].to_f64() + part() * signed(&mut random)));
            let d = [0, 1].map(|i| point[i].to_f64() - centre[i].to_f64());
            if d[0].hypot(d[1]) > radius {
                continue;
            }
            let (mut z, c) = (point, map.c(point));
            for Model { z: centre, slope, second, e } in &models {
                let [slope, second] = [slope, second].map(|column| column.map(N::to_f64));
                let times = |p: [f64; 2], q: [f64; 2]| [p[0] * q[0] - p[1] * q[1], p[0] * q[1] + p[1] * q[0]];
                let linear = if map.formula.fold() == Fold::None {
                    let sum = times(second, d);
                    times([slope[0] + sum[0], slope[1] + sum[1]], d)
                } else {
                    [0, 1].map(|i| slope[i] * d[0] + second[i] * d[1])
                };
                let error = [0, 1].map(|i| z[i].to_f64() - centre[i].to_f64() - linear[i]);
                // What this comparison rounds, in f64: far less than E has for the roundings of the orbits.
                let own = 2.0 * f64::EPSILON * (linear[0].abs() + linear[1].abs() + z[0].to_f64().abs());
                all += 1;
                wrong += u64::from(error[0].hypot(error[1]) > e.to_f64() + own);
                z = with_rule!(map.formula, map.recipe, rule => rule.step(z[0], z[1], c[0], c[1])).into();
            }
        }
    }
    [wrong, all]
}

#[test]
fn computed_orbits_stay_within_their_bounds() {
    for (i, (wide, narrow)) in some_maps().into_iter().enumerate() {
        for radius_log2 in [3, 6, 10, 16, 30] {
            let seed = 1 + i as u64;
            let [wrong, all] = violations(wide, radius_log2, Parts::All, seed);
            assert!(wrong == 0 && all > 500, "{wide:?}: {wrong} of {all} with radius 2^-{radius_log2}");
            let [wrong, _] = violations(narrow, radius_log2.min(16), Parts::All, seed);
            assert_eq!(wrong, 0, "{narrow:?} with radius 2^-{radius_log2}");
        }
    }
}

#[test]
fn weaker_bounds_are_left() {
    for (i, (wide, narrow)) in some_maps().into_iter().enumerate() {
        let seed = 1 + i as u64;
        for parts in [Parts::WithoutRoundings, Parts::WithoutCurvature] {
            // Where roundings are most of E, and where curvature is.
            let [for_f64, for_f32] = if parts == Parts::WithoutRoundings { [40, 18] } else { [6, 6] };
            let [wrong, _] = violations(wide, for_f64, parts, seed);
            assert!(wrong > 0, "{wide:?} {parts:?}");
            let [wrong, _] = violations(narrow, for_f32, parts, seed);
            assert!(wrong > 0, "{narrow:?} {parts:?}");
        }
    }
}

/// Proves a grid of `side` squared points and compares it with the plain loop. Returns how many points were proved.
fn check<N: Number>(settings: KernelSettings<N>, [re, im]: [f64; 2], step: f64, side: usize) -> usize {
    let axis = |from: f64, sign: f64| -> Vec<N> {
        (0..side).map(|i| N::nearest(from + sign * step * (i as f64 - side as f64 / 2.0))).collect()
    };
    let (columns, rows) = (axis(re, 1.0), axis(im, -1.0));
    let zeros = vec![Grid::<N>::negative_zero(); side];
    let grid =
        Grid { re_of_column: &columns, im_of_column: &zeros, re_of_row: &zeros, im_of_row: &rows, monotonic: true };
    const UNPROVED: u32 = u32::MAX;
    let mut proved = 0;
    for level in Level::available() {
        let mut dwells = vec![UNPROVED; side * side];
        let mut out: Vec<_> = dwells.chunks_mut(side).collect();
        let mut workspace = BlockWorkspace::default();
        let stop = AtomicBool::new(false);
        assert!(prove(level, settings, &mut workspace, grid, &mut out, &stop).unwrap());
        for (column, row) in workspace.unproved() {
            dwells[*row as usize * side + *column as usize] = UNPROVED - 1;
        }
        proved = 0;
        for (place, dwell) in dwells.iter().enumerate() {
            assert_ne!(*dwell, UNPROVED, "neither proved nor not");
            if *dwell < UNPROVED - 1 {
                proved += 1;
                let point = grid.point(place % side, place / side);
                let expected = naive::dwell(&settings.map, point, settings.limit, settings.radius_squared);
                assert_eq!(*dwell, expected, "{} {level:?} {settings:?} at {point:?}", N::NAME);
            }
        }
    }
    proved
}

#[test]
fn proved_dwells_are_those_of_the_plain_loop() {
    let mut random = Random(5);
    let mut proved = 0;
    for (wide, narrow) in some_maps() {
        for (side, limit, radius) in [(64, 40, 2.0), (70, 300, 2.0), (50, 1000, 8.0)] {
            let (centre, step) = (point(&mut random), 0.05 * 0.5_f64.powi((random.next() % 10) as i32));
            proved += check(settings(wide, limit, radius), centre, step, side);
            proved += check(settings(narrow, limit, radius), centre, step, side);
        }
    }
    assert!(proved > 100_000, "{proved}");
}

#[test]
fn the_inside_is_proved_by_traps() {
    // Parts of components of periods 1 to 5, far from their rims.
    for (centre, size) in
        [([-0.1, 0.1], 0.2), ([-1.0, 0.05], 0.1), ([-0.12, 0.75], 0.03), ([-1.31, 0.0], 0.02), ([-0.504, 0.563], 0.01)]
    {
        for recipe in Recipe::ALL {
            let map = Map::<f64>::mandelbrot(recipe);
            let proved = check(settings(map, 3_000, 2.0), centre, size / 48.0, 48);
            assert_eq!(proved, 48 * 48, "{centre:?}");
        }
    }
}

/// Coordinates that were computed elsewhere are monotonic, and need not be equally spaced: a column may be anywhere in the box of
/// the ends of its block.
#[test]
fn radii_hold_for_curved_grids() {
    const SIDE: usize = 70;
    let curve = |power: i32, from: f64, to: f64| -> Vec<f64> {
        (0..SIDE).map(|i| from + (to - from) * (i as f64 / SIDE as f64).powi(power)).collect()
    };
    let contributions = [curve(1, -1.0, 0.5), curve(5, 0.0, 0.7), curve(3, 0.4, -0.4), curve(1, 0.3, 1.1)];
    let [re_of_column, im_of_column, re_of_row, im_of_row] = contributions.each_ref().map(Vec::as_slice);
    let grid = Grid { re_of_column, im_of_column, re_of_row, im_of_row, monotonic: true };
    for i in 0..LAYERS {
        let mut layer = Layer::new();
        layer.fill(&grid, LARGEST >> i, greatest_modulus(&grid)).unwrap();
        for (column, row) in (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (column, row))) {
            let ([a, b], [c, d]) = (grid.point(column, row), layer.centre(column / layer.side, row / layer.side));
            assert!((a - c).hypot(b - d) <= layer.radius, "{column} {row} in blocks of {}", layer.side);
        }
    }
}
