//! Places that are located: known ones, random ones, deep ones, and what is refused.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail that way")]

use dwell::{
    Cancel, ChannelSet, Control, CpuEngine, Decimal, Error, Formula, Level, Limits, Located, Location, NumberKind,
    Plan, Progress, Scene, Settings, Size, Sought, Special, Strategy, Task, View, Wanted, Within, ZoomTo, locate,
};

fn find(scene: &Scene, wanted: &Wanted) -> Result<Located, Error> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    locate(scene, wanted, Level::best(), &Limits::default(), &Control { cancel: &cancel, progress: &progress })
}

fn scene(re: &str, im: &str, zoom: &str) -> Scene {
    Scene { view: View::centred(re, im, zoom).unwrap(), ..Scene::default() }
}

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

/// A number below 1, from a seed.
fn unit(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 53) as f64
}

fn in_f64(found: &Located) -> [f64; 2] {
    [&found.re, &found.im].map(|part| part.to_rational().round::<f64>())
}

/// The radius that a text with an exponent tells.
fn radius(text: &str) -> f64 {
    text.parse().unwrap()
}

#[test]
fn known_points_are_located() {
    let mini = Wanted::default();
    let near = |re: &str, im: &str| Wanted { within: Within::Near([decimal(re), decimal(im)]), ..Wanted::default() };
    let boxed = |edges: [&str; 4]| Wanted { within: Within::Box(edges.map(decimal)), ..Wanted::default() };
    let home = scene("-0.75", "0", "1.4");
    for (scene, wanted, period, expected) in [
        (&home, &mini, 1, [0.0, 0.0]),
        (&home, &near("-1.76", "0.001"), 3, [-1.754_877_666_246_692_8, 0.0]),
        (&home, &near("-1.05", "0.02"), 2, [-1.0, 0.0]),
        (&home, &boxed(["-1.8", "-1.7", "-0.04", "0.05"]), 3, [-1.754_877_666_246_692_8, 0.0]),
        (&scene("-0.16", "1.033", "100"), &mini, 4, [-0.156_520_166_833_755_06, 1.032_247_108_922_831_8]),
    ] {
        let found = find(scene, wanted).unwrap();
        assert_eq!(found.point.period(), period);
        let [x, y] = in_f64(&found);
        assert!((x - expected[0]).hypot(y - expected[1]) < 1e-15, "{x} {y}");
        assert!(radius(&found.within) < 1e-16 && radius(&found.alone_within) > 1e-3, "{found:?}");
    }
    // Of period 3, by one digit after the other of -1.7548776662466927600495088963585286918946...
    let found = find(&home, &near("-1.76", "0.001")).unwrap();
    assert!(found.re.text().starts_with("-1.754877666246692760"), "{}", found.re);
    let Special::Minibrot { is_cardioid: true, turned, size, .. } = &found.point else { panic!("{found:?}") };
    assert_eq!(*turned, Decimal::from(0));
    assert!(size.text().starts_with("0.0190"), "{size}");
}

#[test]
fn misiurewicz_points_are_located() {
    let wanted = Wanted { sought: Sought::Misiurewicz, ..Wanted::default() };
    let found = find(&scene("-1.9999", "0.00001", "1e4"), &wanted).unwrap();
    let Special::Misiurewicz { preperiod: 2, period: 1, multiplier, .. } = &found.point else { panic!("{found:?}") };
    assert_eq!(in_f64(&found), [-2.0, 0.0]);
    assert_eq!(*multiplier, Decimal::from(4));
    let found = find(&scene("0.0001", "0.9999", "5e3"), &wanted).unwrap();
    assert!(matches!(found.point, Special::Misiurewicz { preperiod: 2, period: 2, .. }), "{found:?}");
    let embedded = Wanted { zoom_to: ZoomTo::Embedded, ..wanted };
    assert!(find(&scene("-1.9999", "0.00001", "1e4"), &embedded).is_err());
}

/// A box across the boundary: between a point outside and a point inside, to the digits of an f64.
fn boundary_box(seed: &mut u64) -> Scene {
    let escapes = |[x, y]: [f64; 2]| {
        let (mut a, mut b) = (0.0_f64, 0.0_f64);
        (0..20_000).any(|_| {
            (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
            a * a + b * b > 4.0
        })
    };
    let mut outside = [3.0 * unit(seed) - 2.0, 2.0 * unit(seed) + 0.9];
    let mut inside = [-0.2 * unit(seed), 0.0];
    for _ in 0..50 {
        let middle = [f64::midpoint(inside[0], outside[0]), f64::midpoint(inside[1], outside[1])];
        *(if escapes(middle) { &mut outside } else { &mut inside }) = middle;
    }
    let zoom = format!("1e{}", 3 + (unit(seed) * 9.0) as u32);
    let mut scene = scene(&format!("{:.17}", outside[0]), &format!("{:.17}", outside[1]), &zoom);
    if unit(seed) < 0.3 {
        scene.view.rotation = Decimal::from(33);
    }
    scene
}

#[test]
fn random_boxes_across_the_boundary_have_a_proved_point() {
    let mut seed = 5;
    for number in 0..40 {
        let scene = boundary_box(&mut seed);
        let found = find(&scene, &Wanted::default()).unwrap_or_else(|error| panic!("{number}: {error}"));
        // In the view, and z_p is nearly 0 beside its derivative there.
        let [x, y] = in_f64(&found);
        let [re, im] = scene.view.plane_from_pixel(960, 540).map_or([x, y], |c| c.map(|part| part.round::<f64>()));
        let height = 4.0 / zoom_of(&scene);
        assert!((x - re).hypot(y - im) < 1.1 * height, "{number}");
        let (mut z, mut d) = ([0.0_f64; 2], [0.0_f64; 2]);
        for _ in 0..found.point.period() {
            d = [2.0 * (z[0] * d[0] - z[1] * d[1]) + 1.0, 2.0 * (z[0] * d[1] + z[1] * d[0])];
            z = [z[0] * z[0] - z[1] * z[1] + x, 2.0 * z[0] * z[1] + y];
        }
        let off = z[0].hypot(z[1]) / d[0].hypot(d[1]);
        assert!(off < 1e-14, "{number}: {off}");
        assert!(radius(&found.within) < 1e-3 * radius(&found.alone_within));
    }
}

fn zoom_of(scene: &Scene) -> f64 {
    let dwell::Frame::Centred { magnification: dwell::Magnification::Zoom(zoom), .. } = &scene.view.frame else {
        panic!()
    };
    zoom.to_rational().round()
}

#[test]
fn deep_minibrots_are_located() {
    for (name, least_zoom) in [("kf-1e50", 50), ("kf-5e113", 113), ("kf-4e533", 533)] {
        let scene = Location::built_in(name).unwrap().scene;
        let found = find(&scene, &Wanted::default()).unwrap();
        let Special::Minibrot { zoom, .. } = &found.point else { panic!() };
        let exponent = zoom.to_rational().floor_log2().unwrap() as f64 * std::f64::consts::LOG10_2;
        assert!(exponent > f64::from(least_zoom), "{name}: {zoom}");
        // Digits for the size of the minibrot and more.
        assert!(found.re.decimals() as f64 > exponent + 10.0);
        let location = found.location(&scene).unwrap();
        let again = Location::parse(&location.text(), "x").unwrap();
        assert_eq!(again.text(), location.text());
    }
}

/// Whether pixels of the minibrot that a location shows are inside of the set, by their place c in the whole set.
fn are_inside(location: &Location, places: &[[f64; 2]]) -> Vec<bool> {
    let size = Size::new(160, 90).unwrap();
    let view = location.view(size);
    let settings = Settings { number: NumberKind::Exact, limit: 200_000, ..Settings::default() };
    let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let field = dwell::field(&task, &CpuEngine::default(), &Limits::default(), &Cancel::default()).unwrap();
    let dwells: Vec<u64> = field.all_rows().dwells().collect();
    let inside = |[x, y]: [f64; 2]| {
        let (column, row) = (80.0 + (x + 0.75) * 30.0, 45.0 - y * 30.0);
        dwells[row as usize * 160 + column as usize] == 0
    };
    places.iter().map(|place| inside(*place)).collect()
}

#[test]
fn minibrots_are_shown_whole_and_upright() {
    let mut shown = 0;
    let mut seed = 9;
    while shown < 2 {
        let scene = boundary_box(&mut seed);
        let found = find(&scene, &Wanted::default()).unwrap();
        // The limit has to be many periods, so that points outside of the minibrot escape.
        let Special::Minibrot { is_cardioid: true, period: ..=2000, turned, .. } = &found.point else { continue };
        shown += 1;
        let location = found.location(&scene).unwrap();
        assert_eq!(location.scene.view.rotation, *turned);
        // The cardioid above and below the axis, the discs of periods 2 and 3, and four points outside.
        let places = [
            [0.0, 0.0],
            [-0.2, 0.5],
            [-0.2, -0.5],
            [-1.0, 0.0],
            [-0.12, 0.74],
            [-0.12, -0.74],
            [0.6, 0.0],
            [-1.5, 0.8],
            [-1.5, -0.8],
            [-0.7, 0.9],
        ];
        let inside = are_inside(&location, &places);
        assert_eq!(inside, [true, true, true, true, true, true, false, false, false, false], "{}", location.text());
    }
}

#[test]
fn views_without_a_minibrot_and_other_sets_are_refused() {
    let message = |scene: &Scene, wanted: &Wanted| find(scene, wanted).unwrap_err().to_string();
    let mini = Wanted::default();
    assert!(message(&scene("-0.5", "0.1", "100"), &mini).contains("bounded"));
    assert!(message(&scene("0.6", "0.6", "100"), &mini).contains("no minibrot was found"));
    assert!(message(&scene("3000", "0", "100"), &mini).contains("far outside"));
    let few = Wanted { most_period: 2, ..Wanted::default() };
    assert!(message(&scene("-1.76", "0", "20"), &few).contains("up to 2"));
    let mut ship = scene("-1.76", "0", "20");
    ship.settings.formula = "burning-ship".parse::<Formula>().unwrap();
    assert!(message(&ship, &mini).contains("Mandelbrot set only"));
    let mut julia = scene("-1.76", "0", "20");
    julia.settings.julia = Some([decimal("0"), decimal("1")]);
    assert!(message(&julia, &mini).contains("Mandelbrot set only"));
    let reversed = Wanted { within: Within::Box(["0", "-1", "0", "1"].map(decimal)), ..Wanted::default() };
    assert!(message(&julia, &reversed).contains("Mandelbrot set only"));
    assert!(message(&scene("0", "0", "1"), &reversed).contains("is not below"));
    let backwards = Wanted { zoom_to: ZoomTo::Zoom(decimal("-3")), ..Wanted::default() };
    assert!(message(&scene("0", "0", "1"), &backwards).contains("out of range"));
}

#[test]
fn a_search_is_cancelled() {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    cancel.cancel();
    let control = Control { cancel: &cancel, progress: &progress };
    let scene = Location::built_in("kf-4e533").unwrap().scene;
    let found = locate(&scene, &Wanted::default(), Level::best(), &Limits::default(), &control);
    assert!(matches!(found, Err(Error::Interrupted)));
}
