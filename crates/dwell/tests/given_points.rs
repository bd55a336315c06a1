//! Plans with given points, and the test |z|^2 >= 4 as R^2 just below 4: every level, number, recipe and shortcut gives the
//! dwells of the plain loop.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::{
    Axes, Cancel, ChannelSet, CpuEngine, Decimal, DirectPoints, Fold, Formula, Kernels, Level, Limits, Map, Number,
    NumberKind, Plan, Points, Recipe, Settings, Shortcuts, Size, Strategy, Task, View, naive,
};

/// A number with its neighbours.
trait Neighbours: Number {
    fn up(self) -> Self;
    fn down(self) -> Self;
    fn points(direct: DirectPoints<Self>) -> Points;
    const KIND: NumberKind;
}

macro_rules! neighbours {
    ($($t:ident $kind:ident)*) => {
        $(impl Neighbours for $t {
            fn up(self) -> Self {
                self.next_up()
            }
            fn down(self) -> Self {
                self.next_down()
            }
            fn points(direct: DirectPoints<Self>) -> Points {
                Points::$kind(direct)
            }
            const KIND: NumberKind = NumberKind::$kind;
        })*
    };
}
neighbours!(f32 F32 f64 F64);

/// A coordinate and two neighbours on each side.
fn around<N: Neighbours>(value: f64) -> [N; 5] {
    let value = N::nearest(value);
    [value.down().down(), value.down(), value, value.up(), value.up().up()]
}

/// Coordinates with their neighbours and their negatives in ascending order.
fn line<N: Neighbours>(values: &[f64]) -> Vec<N> {
    let mut all: Vec<N> = values.iter().flat_map(|v| [around(*v), around(-*v)].concat()).collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all
}

/// The settings of z^N + c with a limit.
fn settings<N: Neighbours>(map: Map<f64>, limit: u32) -> Settings {
    let julia = map.julia.map(|c| c.map(|v| v.to_string().parse::<Decimal>().unwrap()));
    Settings {
        formula: map.formula,
        recipe: map.recipe,
        julia,
        number: N::KIND,
        limit: limit.into(),
        ..Settings::default()
    }
}

/// A plan with these coordinates and R^2 just below 4 (or 4).
fn plan<N: Neighbours>(re: &[N], im: &[N], map: Map<f64>, limit: u32, radius_squared: N) -> Plan {
    let size = Size::new(re.len() as u32, im.len() as u32).unwrap();
    let view = View::centred("-0.5", "0", "1").unwrap().sized(size);
    let plan = Plan::new(&view, &settings::<N>(map, limit), &Limits::default()).unwrap();
    let axes = Axes::from_coordinates(re.to_vec(), im.to_vec()).unwrap();
    let map = Map { formula: map.formula, recipe: map.recipe, julia: map.julia.map(|c| c.map(N::nearest)) };
    plan.with_points(N::points(DirectPoints {
        axes,
        map,
        radius_squared,
        per_height: 0.25,
        pixel: [[0.1, 0.0], [0.0, 0.1]],
    }))
    .unwrap()
}

/// The field of a plan by the fast kernels.
fn fast(plan: &Plan, level: Level, shortcuts: Shortcuts) -> Vec<u32> {
    let engine = CpuEngine::new(level, 2).with_shortcuts(shortcuts);
    let task = Task { plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    dwell::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap().dwell().to_vec()
}

/// Compares every level with the plain loop, shortcuts on and off. Returns how many dwells differ from those of R^2 = 4.
fn check<N: Neighbours + Kernels>(re: &[N], im: &[N], map: Map<f64>, limit: u32) -> usize {
    let narrow = Map { formula: map.formula, recipe: map.recipe, julia: map.julia.map(|c| c.map(N::nearest)) };
    let plain = |radius_squared: N| -> Vec<u32> {
        let places = im.iter().flat_map(|b| re.iter().map(|a| [*a, *b]));
        places.map(|c| naive::dwell(&narrow, c, limit, radius_squared)).collect()
    };
    let (expected, beyond) = (plain(N::BELOW_FOUR), plain(N::nearest(4.0)));
    for (radius_squared, expected) in [(N::BELOW_FOUR, &expected), (N::nearest(4.0), &beyond)] {
        let plan = plan(re, im, map, limit, radius_squared);
        for level in Level::available() {
            for shortcuts in [Shortcuts::EXACT, Shortcuts::NONE] {
                let found = fast(&plan, level, shortcuts);
                let wrong = found.iter().zip(expected).position(|(a, b)| a != b);
                let place = wrong.map(|i| [re[i % re.len()], im[i / re.len()]]);
                assert!(wrong.is_none(), "{} {map:?} {level:?} {shortcuts:?} limit {limit} at {place:?}", N::NAME);
            }
        }
    }
    expected.iter().zip(&beyond).filter(|(a, b)| a != b).count()
}

/// Grids with exact ties, with the tip of the needle, and with the whole set.
fn check_grids<N: Neighbours + Kernels>(map: Map<f64>) -> usize {
    let needle = 2f64.powi(-if N::SIGNIFICAND_BITS == 53 { 40 } else { 12 });
    let mut changed = 0;
    for limit in [1, 2, 16, 33, 300] {
        // |c|^2 = 4 exactly or nearly: (-2, 0), (1.92, 0.56), (1.2, 1.6), (sqrt 3, 1), (sqrt 2, sqrt 2).
        let ties = [2.0, 1.92, 1.6, 1.2, 0.56, 0.0, 1.0, 3_f64.sqrt(), 2_f64.sqrt()];
        changed += check::<N>(&line(&ties), &line(&ties), map, limit);
        let tip: Vec<N> = (-40..40).map(|i| N::nearest(-2.0 + f64::from(i) * needle)).collect();
        let mut across = line::<N>(&[0.0, needle, needle * needle]);
        across.dedup();
        changed += check::<N>(&tip, &across, map, limit);
        let step = |from: f64, i: i32| N::nearest(from + f64::from(i) / 25.0);
        let (re, im): (Vec<N>, Vec<N>) = (0..100).map(|i| (step(-2.2, i), step(-2.0, i))).unzip();
        changed += check::<N>(&re, &im, map, limit);
    }
    changed
}

#[test]
fn the_test_at_least_four_is_that_of_the_plain_loop() {
    for recipe in Recipe::ALL {
        let map = Map::mandelbrot(recipe);
        // c = -2 and 1.92 + 0.56 i among others.
        assert!(check_grids::<f64>(map) > 20, "{recipe:?}");
        assert!(check_grids::<f32>(map) > 20, "{recipe:?}");
    }
}

#[test]
fn the_test_at_least_four_of_other_maps() {
    let maps = [
        (Fold::None, 3, None),
        (Fold::Absolute, 2, None),
        (Fold::Conjugate, 2, None),
        (Fold::None, 2, Some([-0.390_625, 0.585_937_5])),
        (Fold::None, 2, Some([-2.0, 0.0])),
        (Fold::Absolute, 3, Some([1.5, -1.0])),
    ];
    for (fold, power, julia) in maps {
        let map = Map { formula: Formula::new(fold, power).unwrap(), recipe: Recipe::Fused, julia };
        assert!(check_grids::<f64>(map) > 0, "{map:?}");
        assert!(check_grids::<f32>(map) > 0, "{map:?}");
    }
}

#[test]
fn points_that_do_not_fit_are_refused() {
    let map = Map::mandelbrot(Recipe::Fused);
    let own = plan::<f64>(&[-2.0, 0.0], &[1.0, 0.0, -1.0], map, 50, 4.0);
    let direct = |re: &[f64], radius_squared: f64, recipe: Recipe| DirectPoints {
        axes: Axes::from_coordinates(re.to_vec(), vec![1.0, 0.0, -1.0]).unwrap(),
        map: Map::mandelbrot(recipe),
        radius_squared,
        per_height: 0.25,
        pixel: [[0.1, 0.0], [0.0, 0.1]],
    };
    let below = 4_f64.next_down();
    let given = |points: DirectPoints<f64>| own.clone().with_points(Points::F64(points)).map(drop);
    given(direct(&[-1.0, 0.0], 4.0, Recipe::Fused)).unwrap();
    given(direct(&[-1.0, 0.0], below, Recipe::Fused)).unwrap();
    for (wrong, says) in [
        (direct(&[-1.0], 4.0, Recipe::Fused), "1 x 3 points do not fit a plan of 2x3"),
        (direct(&[-1.0, 0.0], 4.0, Recipe::Separate), "the map of the points differs from the plan's"),
        (direct(&[-1.0, 0.0], below.next_down(), Recipe::Fused), "R^2 = 3.999999999999999"),
        (direct(&[-1.0, 0.0], 5.0, Recipe::Fused), "R^2 = 5"),
        (direct(&[-1.0, 0.0], f64::NAN, Recipe::Fused), "R^2 = NaN"),
    ] {
        let error = given(wrong).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let axes = Axes::from_coordinates(vec![-1.0_f32, 0.0], vec![1.0, 0.0, -1.0]).unwrap();
    let narrow = DirectPoints {
        axes,
        map: Map::mandelbrot(Recipe::Fused),
        radius_squared: 4.0,
        per_height: 0.25,
        pixel: [[0.1, 0.0], [0.0, 0.1]],
    };
    let error = own.with_points(Points::F32(narrow)).unwrap_err().to_string();
    assert!(error.contains("points in f32 do not fit a plan in f64"), "{error}");
}
