//! Deep views of every formula and of Julia sets against the true dwells of [`dwell::truth`], at places on the boundary.
//!
//! `DWELL_DEEP_PLACES=N cargo test --release -p dwell --test deep_formulas -- --nocapture` checks N places of each kind, at zooms up to 1e200, in place of one.
//! `DWELL_DEEP_SEED=S` checks other places, so that many processes can share the work, and `DWELL_DEEP_FROM=K` leaves the first K kinds out.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::truth::{TrueDwells, Truth};
use dwell::{
    Cancel, Channel, ChannelSet, CpuEngine, Decimal, Engine, Field, Fold, Formula, Level, Limits, NumberKind, Plan,
    Rational, Settings, Size, Strategy, Task, TileSize, View,
};

/// A number below 1, from a seed.
fn unit(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 53) as f64
}

/// Every fold with small and large powers, in the parameter plane and as Julia sets: connected ones, dust, a dendrite, and one whose critical orbit ends at once.
fn kinds() -> Vec<(Fold, u32, Option<[&'static str; 2]>)> {
    let mut kinds: Vec<_> = (3..=16).map(|power| (Fold::None, power, None)).collect();
    for fold in [Fold::Absolute, Fold::Conjugate] {
        kinds.extend([2, 3, 4, 5, 7, 16].map(|power| (fold, power, None)));
    }
    kinds.extend([
        (Fold::None, 2, Some(["-0.8", "0.156"])),
        (Fold::None, 2, Some(["-0.1225611668766536", "0.7448617666197442"])),
        (Fold::None, 2, Some(["0", "1"])),
        (Fold::None, 2, Some(["-2", "0"])),
        (Fold::None, 2, Some(["2.5", "0.3"])),
        (Fold::None, 3, Some(["0.4", "0.55"])),
        (Fold::None, 7, Some(["-0.7", "0.3"])),
        (Fold::Absolute, 2, Some(["-0.5", "-0.6"])),
        (Fold::Absolute, 3, Some(["-0.5", "0.3"])),
        (Fold::Conjugate, 2, Some(["-0.3", "0.5"])),
        (Fold::Conjugate, 5, Some(["0.2", "0.6"])),
    ]);
    kinds
}

fn settings((fold, power, julia): (Fold, u32, Option<[&str; 2]>), limit: u64) -> Settings {
    Settings {
        formula: Formula::new(fold, power).unwrap(),
        julia: julia.map(|c| c.map(|part| part.parse().unwrap())),
        number: NumberKind::Exact,
        limit,
        ..Settings::default()
    }
}

/// A point on the boundary of the points that do not escape up to the limit, to within 10^-digits: by bisection between one of these and one that escapes.
fn boundary_point(settings: &Settings, seed: &mut u64, digits: u32) -> [Rational; 2] {
    let view = View::centred("0", "0", "1").unwrap();
    let truth = TrueDwells::new(&view, settings);
    let stays = |point: &[Rational; 2]| {
        let (truth, _) = truth.dwell_at(point, &Cancel::default()).unwrap();
        matches!(truth, Truth::Dwell(n) if n == 0 || n > 40)
    };
    let random = |seed: &mut u64| [(); 2].map(|()| Rational::from_f64(3.0 * unit(seed) - 1.5));
    let mut inside = loop {
        let point = random(seed);
        if stays(&point) {
            break point;
        }
        if unit(seed) < 0.002 {
            break [Rational::whole(0), Rational::whole(0)];
        }
    };
    let mut outside = loop {
        let point = random(seed).map(|part| part.times_whole(2));
        if !stays(&point) {
            break point;
        }
    };
    let stays = |point: &[Rational; 2]| {
        let (truth, _) = truth.dwell_at(point, &Cancel::default()).unwrap();
        truth == Truth::Dwell(0)
    };
    for _ in 0..(f64::from(digits) * 3.33) as u32 {
        // Rounded, since sums of fractions keep all of their factors.
        let part = |part: usize| {
            let middle = inside[part].plus(&outside[part]).scaled_by_power_of_two(-1);
            Decimal::rounded(&middle, digits as usize + 20).unwrap().to_rational()
        };
        let middle = [part(0), part(1)];
        let side = if stays(&middle) { &mut inside } else { &mut outside };
        *side = middle;
    }
    outside
}

/// A random place: its view, and the settings with which it is computed.
fn place(kind: (Fold, u32, Option<[&str; 2]>), seed: &mut u64, deepest: u32, size: Size) -> (View, Settings) {
    let depth = 14 + (unit(seed) * f64::from(deepest - 14)) as u32;
    let limit = 400 + u64::from(depth) * 12;
    let settings = settings(kind, limit);
    let point = boundary_point(&settings, seed, depth + 1);
    let [re, im] = point.map(|part| Decimal::rounded(&part, depth as usize + 30).unwrap());
    let mut view = View::centred(re.text(), im.text(), &format!("1e{depth}")).unwrap().sized(size);
    if unit(seed) < 0.4 {
        view.rotation = "17".parse().unwrap();
    }
    (view, settings)
}

fn field(engine: &CpuEngine, view: &View, settings: &Settings, channels: ChannelSet) -> Field {
    let plan = Plan::new(view, settings, &Limits::default()).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
    dwell::field(&task, engine, &Limits::default(), &Cancel::default()).unwrap()
}

/// Compares a field with the truth; how many dwells differ from their right neighbour.
fn check(engine: &CpuEngine, (view, settings): &(View, Settings)) -> usize {
    let field = field(engine, view, settings, ChannelSet::NONE);
    let truth = TrueDwells::new(view, settings);
    for (pixel, dwell) in field.dwell().iter().enumerate() {
        let (column, row) = (pixel as u32 % view.size.width, pixel as u32 / view.size.width);
        let (true_dwell, _) = truth.dwell(column, row, &Cancel::default()).unwrap();
        assert_eq!(true_dwell, Truth::Dwell((*dwell).into()), "{settings:?} {view:?}, {column} {row}");
    }
    field.dwell().windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[test]
fn dwells_are_the_true_ones() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let places = number("DWELL_DEEP_PLACES");
    let size = if places.is_some() { Size::new(10, 10) } else { Size::new(7, 5) }.unwrap();
    let engine = CpuEngine::new(Level::best(), 2);
    let (mut seed, mut checked) = (number("DWELL_DEEP_SEED").unwrap_or(3), 0_usize);
    for kind in kinds().into_iter().skip(number("DWELL_DEEP_FROM").unwrap_or(0) as usize) {
        let mut changes = 0;
        for _ in 0..places.unwrap_or(1) {
            let deepest = if places.is_some() { 200 } else { 60 };
            changes += check(&engine, &place(kind, &mut seed, deepest, size));
            checked += (size.width * size.height) as usize;
        }
        if places.is_some() {
            eprintln!("{kind:?}: {checked} pixels so far, {changes} changes");
        }
    }
}

#[test]
fn extreme_places_are_true() {
    let engine = CpuEngine::new(Level::best(), 2);
    let size = Size::new(9, 7).unwrap();
    let of = |re: &str, im: &str, zoom: &str| View::centred(re, im, zoom).unwrap().sized(size);
    for (kind, view, radius, limit) in [
        // Beyond the range of f64, on the needle of the Ship, whose imaginary part is 0; at the centre of a Julia set, where its points and their folds are as small as pixels.
        ((Fold::Absolute, 2, None), of("-1.9", "0", "1e320"), "2", 900),
        ((Fold::Absolute, 2, None), of("-1.8", "1e-30", "1e29"), "2", 300),
        ((Fold::None, 2, Some(["0", "1"])), of("0", "0", "1e40"), "2", 700),
        ((Fold::Absolute, 3, Some(["-0.5", "0.3"])), of("0", "0", "1e260"), "2", 300),
        ((Fold::None, 16, None), of("1e-90", "0", "1e100"), "2", 300),
        // From far away, where the centre is beyond R, and beside the circle of escape.
        ((Fold::Conjugate, 2, None), of("3", "0", "0.4"), "2", 200),
        ((Fold::None, 2, Some(["-0.8", "0.156"])), of("2.5", "0", "0.5"), "2", 200),
        ((Fold::None, 4, None), of("3e9", "1e9", "1e3"), "2", 50),
        ((Fold::None, 3, None), of("1.6", "1.2", "1e20"), "2", 50),
        ((Fold::Absolute, 2, None), of("-0.3", "-0.4", "0.5"), "100", 200),
        ((Fold::None, 5, Some(["0.5", "0.5"])), of("0.1", "0.2", "1"), "7.5", 200),
    ] {
        let mut settings = settings(kind, limit);
        settings.escape_radius = radius.parse().unwrap();
        check(&engine, &(view, settings));
    }
}

#[test]
fn levels_threads_and_tiles_change_no_bit() {
    let size = Size::new(16, 9).unwrap();
    let mut seed = 11;
    for kind in [
        (Fold::None, 3, None),
        (Fold::Absolute, 2, None),
        (Fold::Conjugate, 2, None),
        (Fold::None, 2, Some(["-0.8", "0.156"])),
        (Fold::Absolute, 3, Some(["-0.5", "0.3"])),
    ] {
        let (view, settings) = place(kind, &mut seed, 40, size);
        let computed = |engine: &CpuEngine| field(engine, &view, &settings, ChannelSet::ALL);
        let plain = computed(&CpuEngine::new(Level::best(), 1));
        for level in Level::available() {
            let tile = TileSize { width: 7, height: 5 };
            let engine = CpuEngine::new(level, 3).with_tile(Some(tile));
            let other = computed(&engine);
            assert_eq!(plain.dwell(), other.dwell(), "{kind:?} {:?} {}", level.name(), engine.info().name);
            for channel in ChannelSet::ALL.iter() {
                assert_eq!(plain.channel(channel), other.channel(channel), "{kind:?} {}", channel.name());
            }
        }
    }
}

/// Where f64 resolves the view, its smooth values, distances and slopes are those of exact arithmetic, but for roundings and sensitive points.
#[test]
fn values_are_those_of_f64_where_that_suffices() {
    let size = Size::new(48, 32).unwrap();
    let engine = CpuEngine::new(Level::best(), 2);
    for (kind, re, im, zoom, rotation) in [
        ((Fold::None, 3, None), "0.1", "0.2", "1.1", "0"),
        ((Fold::None, 8, None), "0.7", "0.6", "9", "20"),
        ((Fold::Absolute, 2, None), "-0.4", "-0.5", "1.1", "0"),
        ((Fold::Absolute, 4, None), "-0.6", "-0.4", "3", "-70"),
        ((Fold::Conjugate, 2, None), "-0.4", "0.7", "5", "31"),
        ((Fold::None, 2, Some(["-0.8", "0.156"])), "0.1", "0.2", "1.4", "0"),
        ((Fold::Absolute, 2, Some(["-0.5", "-0.6"])), "0.3", "0.3", "2", "10"),
        ((Fold::Conjugate, 3, Some(["0.4", "0.5"])), "0.3", "0.3", "2", "0"),
    ] {
        let mut view = View::centred(re, im, zoom).unwrap().sized(size);
        view.rotation = rotation.parse().unwrap();
        let exact = settings(kind, 300);
        let plain = Settings { number: NumberKind::F64, ..exact.clone() };
        let (proved, plain) =
            (field(&engine, &view, &exact, ChannelSet::ALL), field(&engine, &view, &plain, ChannelSet::ALL));
        let same: Vec<usize> = (0..proved.dwell().len())
            .filter(|pixel| proved.dwell()[*pixel] > 0 && proved.dwell()[*pixel] == plain.dwell()[*pixel])
            .collect();
        assert!(same.len() * 10 > proved.dwell().len(), "{kind:?}");
        let off = |channel: Channel, pixel: usize| proved.channel(channel)[pixel] - plain.channel(channel)[pixel];
        let far = same.iter().filter(|pixel| {
            let ratio = proved.channel(Channel::Distance)[**pixel] / plain.channel(Channel::Distance)[**pixel];
            (ratio - 1.0).abs() > 0.001_4
                || off(Channel::Smooth, **pixel).abs() > 0.000_13
                || off(Channel::SlopeRight, **pixel).abs().max(off(Channel::SlopeUp, **pixel).abs()) > 0.000_5
        });
        let far = far.count();
        assert!(far * 20 < same.len(), "{far} of {} differ: {kind:?}", same.len());
    }
}
