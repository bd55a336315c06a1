//! Dwells in exact arithmetic against the true dwells of [`dwell::truth`], which iterates each point by itself.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::truth::{TrueDwells, Truth};
use dwell::{
    Cancel, Channel, ChannelSet, CpuEngine, Engine, Field, Frame, Level, Limits, NumberKind, Plan, Recipe, Settings,
    Size, Strategy, Task, TileSize, View,
};

/// A number below 1, from a seed.
fn unit(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 53) as f64
}

/// A view whose centre is near the boundary of the set: found by bisection, with random digits behind.
fn view(seed: &mut u64, size: Size) -> View {
    let escapes = |[x, y]: [f64; 2]| {
        let (mut a, mut b) = (0.0_f64, 0.0_f64);
        (0..2000).any(|_| {
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
    let digits = |seed: &mut u64| (0..30).map(|_| char::from(b'0' + (unit(seed) * 10.0) as u8)).collect::<String>();
    let part = |seed: &mut u64, v: f64| format!("{v:.15}{}", digits(seed));
    let (re, im) = (part(seed, outside[0]), part(seed, outside[1]));
    let zoom = format!("1e{}", 3 + (unit(seed) * 30.0) as u32);
    let mut view = View::centred(&re, &im, &zoom).unwrap().sized(size);
    if unit(seed) < 0.3 {
        view.rotation = "17".parse().unwrap();
    }
    view
}

fn exact(limit: u32) -> Settings {
    Settings { number: NumberKind::Exact, limit: limit.into(), ..Settings::default() }
}

fn field(engine: &CpuEngine, plan: &Plan, channels: ChannelSet) -> Field {
    let task = Task { plan, strategy: Strategy::EveryPixel, channels };
    dwell::field(&task, engine, &Limits::default(), &Cancel::default()).unwrap()
}

#[test]
fn dwells_are_the_true_ones() {
    let mut seed = 1;
    let size = Size::new(20, 12).unwrap();
    let engine = CpuEngine::new(Level::best(), 2);
    for number in 0..30 {
        let mut settings = exact(if number % 4 == 0 { 200 } else { 3000 });
        if number % 5 == 0 {
            settings.escape_radius = "7.5".parse().unwrap();
        }
        let view = view(&mut seed, size);
        let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
        let field = field(&engine, &plan, ChannelSet::NONE);
        let truth = TrueDwells::new(&view, &settings);
        for (pixel, dwell) in field.dwell().iter().enumerate() {
            let (column, row) = (pixel as u32 % size.width, pixel as u32 / size.width);
            let (true_dwell, _) = truth.dwell(column, row, &Cancel::default()).unwrap();
            assert_eq!(true_dwell, Truth::Dwell((*dwell).into()), "view {number}: {view:?}, {column} {row}");
        }
    }
}

/// All channels.
const ALL: ChannelSet = ChannelSet::ALL;

#[test]
fn levels_threads_and_tiles_change_no_bit() {
    let mut seed = 2;
    let size = Size::new(40, 24).unwrap();
    for number in 0..12 {
        let view = view(&mut seed, size);
        let channels = if number % 2 == 0 { ChannelSet::SMOOTH } else { ALL };
        // A plan is freed before the next is made, so that each has a reference and blocks of its own.
        let computed = |engine: &CpuEngine| {
            let plan = Plan::new(&view, &exact(2000), &Limits::default()).unwrap();
            field(engine, &plan, channels)
        };
        let plain = computed(&CpuEngine::new(Level::best(), 1));
        for level in Level::available() {
            let tile = TileSize { width: 7, height: 5 };
            let other = computed(&CpuEngine::new(level, 3).with_tile(Some(tile)));
            assert_eq!(plain.dwell(), other.dwell(), "{number} {:?}", level.name());
            for channel in channels.iter() {
                assert_eq!(
                    plain.channel(channel),
                    other.channel(channel),
                    "{number} {:?} {}",
                    level.name(),
                    channel.name()
                );
            }
        }
    }
}

/// Where f64 resolves the view, its distances and slopes are those of exact arithmetic, but for its roundings and for the multiples to which the latter are rounded.
#[test]
fn distances_and_slopes_are_those_of_f64_where_that_suffices() {
    let size = Size::new(60, 40).unwrap();
    let engine = CpuEngine::new(Level::best(), 2);
    let [xmin, xmax, ymin, ymax] = ["-0.76", "-0.73", "0.12", "0.125"].map(|edge| edge.parse().unwrap());
    let stretched = Frame::Bounds { xmin, xmax, ymin, ymax };
    for (frame, rotation) in [
        (View::centred("-0.75", "0", "1.2").unwrap().frame, "0"),
        (View::centred("-0.743643887", "0.131825904", "1e4").unwrap().frame, "31"),
        (View::centred("0.2869318", "0.0142866", "1e3").unwrap().frame, "-90"),
        (View::centred("-1.7687788", "0.0001", "1e2").unwrap().frame, "200"),
        (stretched, "20"),
    ] {
        let mut view = View::centred("0", "0", "1").unwrap().sized(size);
        (view.frame, view.rotation) = (frame, rotation.parse().unwrap());
        let of = |settings: Settings| {
            let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
            field(&engine, &plan, ALL)
        };
        let (proved, plain) = (of(exact(1000)), of(Settings { limit: 1000, ..Settings::default() }));
        let same: Vec<usize> = (0..proved.dwell().len())
            .filter(|pixel| proved.dwell()[*pixel] > 0 && proved.dwell()[*pixel] == plain.dwell()[*pixel])
            .collect();
        assert!(same.len() * 3 > proved.dwell().len(), "{view:?}");
        let far = same.iter().filter(|pixel| {
            let of = |field: &Field, channel| field.channel(channel)[**pixel];
            let ratio = of(&proved, Channel::Distance) / of(&plain, Channel::Distance);
            let off = |channel| (of(&proved, channel) - of(&plain, channel)).abs();
            // Half a multiple, 2^(1/512) and 2^-11, with a little room for f64, which is off by more at sensitive points.
            (ratio - 1.0).abs() > 0.001_4 || off(Channel::SlopeRight).max(off(Channel::SlopeUp)) > 0.000_5
        });
        let far = far.count();
        assert!(far * 20 < same.len(), "{far} of {} differ: {view:?}", same.len());
    }
}

/// The attracting cycles of points that stay are those that f64 finds, where it suffices.
#[test]
fn cycles_are_those_of_f64_where_that_suffices() {
    let size = Size::new(48, 32).unwrap();
    let engine = CpuEngine::new(Level::best(), 2);
    for (re, im, zoom) in [("-0.6", "0", "1.2"), ("-0.1225", "0.7449", "20"), ("-1.7549", "0", "80")] {
        let view = View::centred(re, im, zoom).unwrap().sized(size);
        let of = |settings: Settings| {
            let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
            field(&engine, &plan, ALL)
        };
        let (exact, plain) = (of(exact(4000)), of(Settings { limit: 4000, ..Settings::default() }));
        let inside: Vec<usize> = (0..exact.dwell().len()).filter(|pixel| exact.dwell()[*pixel] == 0).collect();
        assert!(inside.len() > 100, "{re}");
        let differ = inside.iter().filter(|pixel| {
            let off = |channel| (exact.channel(channel)[**pixel] - plain.channel(channel)[**pixel]).abs();
            off(Channel::Period) > 0.0
                || [Channel::MultiplierRe, Channel::MultiplierIm, Channel::FinalRe, Channel::FinalIm]
                    .into_iter()
                    .any(|channel| off(channel) > 1e-6)
        });
        // Beside rims, either may find nothing or what f64 gives is off by more.
        let differ = differ.count();
        assert!(differ * 20 < inside.len(), "{differ} of {} differ at {re}", inside.len());
        for channel in [Channel::Period, Channel::MultiplierRe, Channel::FinalIm] {
            let outside = (0..exact.dwell().len()).filter(|pixel| exact.dwell()[*pixel] > 0);
            assert!(outside.clone().all(|pixel| exact.channel(channel)[pixel] == 0.0));
        }
    }
}

#[test]
fn what_exact_arithmetic_does_not_support_is_an_error() {
    let view = View::centred("-0.75", "0.1", "1e40").unwrap().sized(Size::new(8, 8).unwrap());
    let refused = |settings: Settings| Plan::new(&view, &settings, &Limits::default()).unwrap_err().to_string();
    let of = |change: fn(&mut Settings)| {
        let mut settings = exact(100);
        change(&mut settings);
        refused(settings)
    };
    assert!(of(|s| s.recipe = Recipe::Separate).contains("rounds nothing"));
    assert!(of(|s| s.force = true).contains("resolves every view"));
    let plan = Plan::new(&view, &exact(100), &Limits::default()).unwrap();
    let cancel = Cancel::default();
    let engine = CpuEngine::new(Level::best(), 1);
    let task = Task { plan: &plan, strategy: Strategy::MarianiSilver, channels: ChannelSet::NONE };
    assert!(dwell::field(&task, &engine, &Limits::default(), &cancel).is_err());
    // A stop is noticed in every phase.
    cancel.cancel();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    assert!(matches!(dwell::field(&task, &engine, &Limits::default(), &cancel), Err(dwell::Error::Interrupted)));
    assert_eq!(engine.info().name, "cpu");
}
