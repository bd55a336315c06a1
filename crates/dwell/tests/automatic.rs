//! The automatic limit and the automatic scale.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::{
    Automatic, By, Cancel, ChannelSet, Colouring, Control, CpuEngine, Decimal, Error, Fold, Formula, Frame, Level,
    Limits, Location, Magnification, NumberKind, Palette, Plan, Progress, Recipe, Resolved, Samples, Scale, Scene,
    Settings, Size, Strategy, Task, View,
};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A point of the seahorse valley that every zoom up to 1e13 shows escaping late.
const SEAHORSE: [&str; 2] = ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"];

/// A point between the main cardioid and the disc of period 2, which escapes after some 157 million iterations, pi over its
/// distance from the real line. All points of a small view around it do.
const NECK: [&str; 2] = ["-0.75", "0.00000002"];

fn scene([re, im]: [&str; 2], zoom: &str) -> Scene {
    Scene { view: View::centred(re, im, zoom).unwrap().sized(Size::new(160, 90).unwrap()), ..Scene::default() }
}

/// A call whose progress is not shown.
fn unwatched(cancel: &Cancel) -> Control<'_> {
    static PROGRESS: LazyLock<Progress> = LazyLock::new(Progress::default);
    Control { cancel, progress: &PROGRESS }
}

fn resolved(scene: &Scene, engine: &CpuEngine) -> Resolved {
    dwell::resolve(scene, engine, &Limits::default(), &unwatched(&Cancel::default())).unwrap()
}

fn limit(scene: &Scene) -> u64 {
    resolved(scene, &CpuEngine::default()).scene.settings.limit
}

/// Pixels that do not escape within the automatic limit, but within a limit 16 times as high; and all pixels.
fn falsely_black(scene: &Scene) -> (usize, usize) {
    let limit = limit(scene);
    let settings = Settings { limit: 16 * limit, ..scene.settings.clone() };
    let plan = Plan::new(&scene.view, &settings, &Limits::default()).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let field = dwell::field(&task, &CpuEngine::default(), &Limits::default(), &Cancel::default()).unwrap();
    (field.dwell().iter().filter(|n| u64::from(**n) > limit).count(), field.dwell().len())
}

#[test]
fn views_that_escape_late_are_not_black() {
    // One of 14,400 pixels is allowed, since the limit is that of a share.
    for zoom in ["1e3", "1e9", "1e11", "1e12", "1e13"] {
        assert!(falsely_black(&scene(SEAHORSE, zoom)).0 <= 1, "{zoom}");
    }
    // No point of these views escapes before n = 60,000, or before n = 300,000.
    for (im, zoom, least) in [("0.00005", "1e6", 60_000), ("0.00001", "1e12", 300_000)] {
        let late = scene(["-0.75", im], zoom);
        assert!(limit(&late) > least, "{im}");
    }
    assert!(falsely_black(&scene(["-0.75", "0.00005"], "1e6")).0 <= 1);
}

#[test]
fn other_formulas_have_their_own_limits() {
    let of = |fold, power, julia: Option<[&str; 2]>, place, zoom| {
        let mut scene = scene(place, zoom);
        scene.settings.formula = Formula::new(fold, power).unwrap();
        scene.settings.julia = julia.map(|c| c.map(|part| part.parse().unwrap()));
        scene
    };
    for scene in [
        of(Fold::Absolute, 2, None, ["-1.762", "-0.028"], "40"),
        of(Fold::Conjugate, 2, None, ["-0.2", "0"], "1.2"),
        of(Fold::None, 3, None, ["0.2", "1.08"], "20"),
        of(Fold::None, 2, Some(["-0.745", "0.113"]), ["0", "0"], "1.3"),
        of(Fold::None, 2, Some(["0", "1"]), ["0", "0"], "1.3"),
    ] {
        let (black, pixels) = falsely_black(&scene);
        // The orbits of the Burning Ship may stay without a cycle, so its limit is lower.
        let allowed = if scene.settings.formula.fold() == Fold::Absolute { pixels / 2000 } else { 1 };
        assert!(black <= allowed, "{:?}: {black}", scene.settings);
    }
}

#[test]
fn a_view_inside_the_set_gets_the_least_limit_without_a_warning() {
    for (place, zoom) in [(["-0.1", "0"], "1e3"), (["-1.3107", "0"], "1e2"), (["-0.12256", "0.74486"], "1e4")] {
        let Resolved { scene, found, .. } = resolved(&scene(place, zoom), &CpuEngine::default());
        let found = found.unwrap();
        assert_eq!((scene.settings.limit, found.escaped, found.warnings.len()), (1000, 0, 0), "{place:?}");
    }
}

#[test]
fn a_search_without_a_result_ends_and_says_so() {
    let Resolved { scene, found, .. } = resolved(&scene(NECK, "1e10"), &CpuEngine::default());
    let found = found.unwrap();
    assert_eq!((scene.settings.limit, found.escaped, found.latest), (1000, 0, 0));
    assert!(found.warnings.iter().any(|warning| warning.contains("no point")), "{found:?}");
}

#[test]
fn levels_threads_and_size_change_nothing() {
    let scene = scene(SEAHORSE, "1e4");
    let expected = resolved(&scene, &CpuEngine::default()).scene.text(&[]);
    for level in Level::available() {
        for threads in [1, 3] {
            assert_eq!(
                resolved(&scene, &CpuEngine::new(level, threads)).scene.text(&[]),
                expected,
                "{level:?} {threads}"
            );
        }
    }
    // With a fold, the search goes on with some of the points, whichever are proved by then.
    let mut ship = self::scene(["-0.5", "-0.5"], "1.3");
    ship.settings.formula = Formula::new(Fold::Absolute, 2).unwrap();
    let found = Level::available().into_iter().map(|level| resolved(&ship, &CpuEngine::new(level, 2)).scene.text(&[]));
    let found: std::collections::HashSet<String> = found.collect();
    assert!(found.len() == 1 && limit(&ship) > 1 << 20, "{found:?}");
    let large =
        Scene { view: scene.view.clone().sized(Size::new(7680, 4320).unwrap()), samples: Samples::Fixed(3), ..scene };
    let large = resolved(&large, &CpuEngine::default()).scene;
    let key = |text: &str, key: &str| text.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    for name in ["iterations", "scale", "density", "offset"] {
        assert_eq!(key(&large.text(&[]), name), key(&expected, name));
    }
}

#[test]
fn every_number_and_recipe_is_probed_in_its_own_arithmetic() {
    for number in NumberKind::DIRECT {
        for recipe in Recipe::ALL {
            let mut scene = scene(["-0.7436", "0.1318"], "300");
            (scene.settings.number, scene.settings.recipe) = (number, recipe);
            assert!(falsely_black(&scene).0 <= 1, "{number} {recipe}");
        }
    }
    // f32 does not resolve this view, and f64 does: what is rendered with --force is probed, too.
    let mut deep = scene(SEAHORSE, "1e9");
    (deep.settings.number, deep.settings.force) = (NumberKind::F32, true);
    assert!(limit(&deep) >= 1000);
}

#[test]
fn nothing_is_probed_where_nothing_is_left_to_be_found() {
    let scene = Scene { automatic: Automatic::NONE, ..scene(SEAHORSE, "1e13") };
    let Resolved { scene, found, .. } = resolved(&scene, &CpuEngine::default());
    assert!(found.is_none());
    assert_eq!((scene.settings.limit, scene.colouring), (1000, Colouring::default()));
}

#[test]
fn a_cancelled_search_ends_at_once() {
    let scene = scene(NECK, "1e10");
    let (engine, cancel) = (CpuEngine::default(), Cancel::default());
    let other = cancel.clone();
    let asked = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        other.cancel();
        Instant::now()
    });
    let found = dwell::resolve(&scene, &engine, &Limits::default(), &unwatched(&cancel));
    let ended = Instant::now();
    assert!(matches!(found, Err(Error::Interrupted)), "{found:?}");
    // A hundred times what is expected, since tests share the machine.
    assert!(ended - asked.join().unwrap() < Duration::from_secs(10));
}

#[test]
fn the_memory_of_a_probe_is_within_the_limits() {
    let limits = Limits { memory_bytes: 1 << 10 };
    let error = dwell::resolve(&scene(SEAHORSE, "1e3"), &CpuEngine::default(), &limits, &unwatched(&Cancel::default()))
        .unwrap_err();
    assert!(error.to_string().contains("the probe"), "{error}");
}

#[test]
fn a_limit_that_is_too_low_is_noticed() {
    let check = |zoom: &str, limit: u64| {
        let mut scene = Scene { automatic: Automatic::NONE, ..scene(SEAHORSE, zoom) };
        scene.settings.limit = limit;
        scene.settings.number = if zoom == "1e15" { NumberKind::Exact } else { NumberKind::F64 };
        dwell::check_limit(&scene, &CpuEngine::default(), &Limits::default(), &unwatched(&Cancel::default())).unwrap()
    };
    let low = check("1e9", 1500);
    assert!(low.is_too_low() && low.changing <= 1.0, "{low:?}");
    assert_eq!(low.automatic, Some(limit(&scene(SEAHORSE, "1e9"))));
    assert!(!check("1e9", low.automatic.unwrap()).is_too_low());
    assert!(!check("1.2", 1000).is_too_low());
    // No point escapes within four times the limit, neither in f64 nor in exact arithmetic.
    let low = check("1e9", 50);
    assert!(low.changing > 0.9 && low.automatic.is_some_and(|automatic| automatic > 200), "{low:?}");
    let low = check("1e15", 50);
    assert!(low.is_too_low() && low.black_until == Some(200), "{low:?}");
    // With a fold the limit is not searched, which takes seconds.
    let check = |limit: u64| {
        let mut scene = Scene { automatic: Automatic::NONE, ..scene(["-0.25", "0.1"], "1.75") };
        scene.settings.formula = Formula::new(Fold::Absolute, 2).unwrap();
        scene.settings.limit = limit;
        dwell::check_limit(&scene, &CpuEngine::default(), &Limits::default(), &unwatched(&Cancel::default())).unwrap()
    };
    let low = check(77);
    assert!(low.is_too_low() && low.automatic.is_none(), "{low:?}");
    assert!(!check(100_000).is_too_low());
}

#[test]
fn built_in_locations_draw_without_a_warning() {
    // The limit of this one is that of published measurements; its view has points that escape up to 50 million.
    let measured = ["shallow-feigenbaum"];
    for name in Location::built_in_names().filter(|name| !measured.contains(name)) {
        let location = Location::built_in(name).unwrap();
        if location.iterations().is_none() || location.scene.number() == NumberKind::Exact {
            continue;
        }
        let (engine, cancel) = (CpuEngine::default(), Cancel::default());
        let check = dwell::check_limit(&location.scene, &engine, &Limits::default(), &unwatched(&cancel)).unwrap();
        assert!(!check.is_too_low(), "{name}: {check:?}");
    }
}

#[test]
fn views_without_anything_to_see_are_noticed() {
    let warnings = |at: [&str; 2], zoom: &str| {
        resolved(&scene(at, zoom), &CpuEngine::default()).found.map_or_else(Vec::new, |found| found.warnings)
    };
    let alike = warnings(["0.5", "0.7"], "1e6");
    assert!(alike.iter().any(|warning| warning.contains("every point of a probe of the view has dwell")), "{alike:?}");
    assert!(warnings(SEAHORSE, "1e6").is_empty() && warnings(["-0.1", "0"], "100").is_empty());
}

#[test]
fn density_and_offset_apply_to_the_scale_that_is_found() {
    let place = scene(SEAHORSE, "1e6");
    let with = |density, offset| {
        let colouring = Colouring { density, offset, ..Colouring::default() };
        resolved(&Scene { colouring, ..place.clone() }, &CpuEngine::default()).scene.colouring
    };
    let plain = with(1.0, 0.0);
    assert_eq!(plain.scale, Scale::Root);
    assert_eq!(with(2.0, 0.0).density, 2.0 * plain.density);
    assert_eq!(with(1.0, 0.25).offset, plain.offset + 0.25);
    let by_distance = Scene {
        colouring: Colouring::of(Palette::default()).by(By::Distance),
        automatic: Automatic { limit: true, scale: true, number: false },
        ..place
    };
    let by_distance = resolved(&by_distance, &CpuEngine::default()).scene.colouring;
    assert_eq!((by_distance.scale, by_distance.offset), (Scale::Log, 0.0));
    assert!(by_distance.density > 0.1 && by_distance.density < 20.0, "{}", by_distance.density);
}

/// The position of a value in the palette, in turns from its first colour.
fn position(colouring: &Colouring, v: f64) -> f64 {
    colouring.offset + colouring.density * Scale::PER_ROOT * (v.sqrt() - 1.0)
}

/// The smooth value below which a twentieth of the escaped pixels of a resolved scene lie.
fn least_value(scene: &Scene) -> f64 {
    let view = scene.view.clone().sized(Size::new(96, 54).unwrap());
    let plan = Plan::new(&view, &scene.settings, &Limits::default()).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::SMOOTH };
    let field = dwell::field(&task, &CpuEngine::default(), &Limits::default(), &Cancel::default()).unwrap();
    let mut values: Vec<f64> = field.smooth().iter().copied().filter(|v| *v > 0.0).collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 20]
}

#[test]
fn a_zoom_changes_its_colours_gradually() {
    // Sixty frames from zoom 1 to 1e12, a factor of 1.6 from one to the next.
    let mut frames: Vec<(Colouring, f64)> = Vec::new();
    let mut zoom = 1.0_f64;
    for _ in 0..60 {
        let mut scene = scene(SEAHORSE, "1");
        if let Frame::Centred { magnification, .. } = &mut scene.view.frame {
            *magnification = Magnification::Zoom(format!("{zoom:e}").parse::<Decimal>().unwrap());
        }
        let scene = resolved(&scene, &CpuEngine::default()).scene;
        let least = least_value(&scene);
        frames.push((scene.colouring, least));
        zoom *= 1.597;
    }
    for (i, pair) in frames.windows(2).enumerate() {
        let [(before, least), (after, _)] = pair else { unreachable!() };
        let ratio = after.density / before.density;
        assert!(ratio < 2.0 && ratio > 0.5, "frame {i}: density {} to {}", before.density, after.density);
        // The value that has the palette's first colour in one frame is close to it in the next.
        for colouring in [before, after] {
            let moved = position(colouring, *least);
            let moved = moved - 2.0 * (moved / 2.0).round();
            assert!(moved.abs() < 0.75, "frame {i}: the first colour moved by {moved} turns");
        }
    }
}
