//! The strategy `proven` gives the dwells of the plain loop on views large enough for proofs of every kind.
//!
//! `DWELL_VIEWS` sets the number of random views, for a long run, and `DWELL_FIRST_VIEW` the first, so that several processes can
//! share them: `DWELL_VIEWS=10000 cargo test --release -p dwell --test proven -- --nocapture`

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Random;
use dwell::{
    Cancel, ChannelSet, CpuEngine, DirectPoints, Engine, Kernels, Level, Limits, NumberKind, Plan, PointsVisitor,
    Recipe, Settings, Shortcuts, Size, Strategy, Task, TileSize, View, naive,
};
use std::sync::atomic::AtomicBool;

/// Compares the proved blocks of a plan, and the field of the strategy, with the plain loop. Returns the numbers of pixels, of
/// proved ones and of wrong ones.
struct Compare<'a>(&'a Plan, Level);

impl PointsVisitor for Compare<'_> {
    type Output = [usize; 3];

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> [usize; 3] {
        let Self(plan, level) = self;
        let Size { width, height } = plan.size();
        let grid = points.axes.grid(0..width, 0..height);
        let engine = CpuEngine::new(level, 2).with_shortcuts(Shortcuts::EXACT);
        let task = Task { plan, strategy: Strategy::Proven, channels: ChannelSet::NONE };
        let field = dwell::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap();
        let mut workspace = dwell_kernels::blocks::BlockWorkspace::default();
        let settings = dwell_kernels::escape::KernelSettings {
            map: points.map,
            limit: plan.direct_limit(),
            radius_squared: points.radius_squared,
            shortcuts: dwell_kernels::escape::KernelShortcuts::ALL,
            proved: 0,
        };
        let mut dwells = vec![0; (width * height) as usize];
        let mut out: Vec<_> = dwells.chunks_mut(width as usize).collect();
        let stop = AtomicBool::new(false);
        assert!(N::prove_blocks(level, settings, &mut workspace, grid, &mut out, &stop).unwrap());
        let mut wrong = 0;
        for (i, dwell) in field.dwell().iter().enumerate() {
            let place = (i % width as usize, i / width as usize);
            let point = grid.point(place.0, place.1);
            wrong +=
                usize::from(naive::dwell(&points.map, point, plan.direct_limit(), points.radius_squared) != *dwell);
        }
        [dwells.len(), dwells.len() - workspace.unproved().len(), wrong]
    }
}

#[test]
fn random_views_of_every_formula() {
    let setting = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    let (first, views) = (setting("DWELL_FIRST_VIEW").unwrap_or(0), setting("DWELL_VIEWS").unwrap_or(60));
    let levels = Level::available();
    let [mut compared, mut proved, mut with_proofs] = [0, 0, 0];
    for seed in first..first + views {
        let mut random = Random::new(seed + 90_000);
        let size = Size::new(128 + random.below(70) as u32, 128 + random.below(40) as u32).unwrap();
        let any_formula = random.below(2) == 0;
        let view = if any_formula {
            common::view_of_any_formula(&mut random, size)
        } else {
            common::view(&mut random, 9, size)
        };
        let most = *random.one_of(&[60, 300, 300, 2000]);
        let mut settings = common::settings(&mut random, most);
        if any_formula {
            settings = common::any_formula(&mut random, settings);
        }
        settings.number = *random.one_of(&NumberKind::DIRECT);
        settings.recipe = *random.one_of(&Recipe::ALL);
        let level = *random.one_of(&levels);
        let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
        let [pixels, of_them, wrong] = plan.points().visit(Compare(&plan, level)).unwrap();
        assert_eq!(wrong, 0, "seed {seed}: {level:?} {settings:?} {view:?}");
        compared += pixels;
        proved += of_them;
        with_proofs += usize::from(of_them * 10 > pixels);
    }
    eprintln!(
        "{views} views, {compared} pixels, {proved} proved; {with_proofs} views with over a tenth proved: 0 differ"
    );
    assert!(with_proofs * 2 > views as usize, "{with_proofs} of {views} views");
}

/// Points near and on the rims of components, at limits that only proofs make quick.
#[test]
fn attracted_orbits_never_escape() {
    for (re, im, zoom) in [
        ("-0.125", "0.744", "13"),
        ("-1.3107", "0", "33"),
        ("-0.504", "0.563", "40"),
        ("-0.75", "0", "200"),
        ("0.2501", "0", "400"),
        ("-1.7548", "0", "133"),
    ] {
        let view = View::centred(re, im, zoom).unwrap().sized(Size::new(64, 64).unwrap());
        for (number, recipe) in NumberKind::DIRECT.into_iter().flat_map(|n| Recipe::ALL.map(|r| (n, r))) {
            let settings = Settings { number, recipe, limit: 20_000, ..Settings::default() };
            let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
            for level in Level::available() {
                let [_, _, wrong] = plan.points().visit(Compare(&plan, level)).unwrap();
                assert_eq!(wrong, 0, "{re} {im} {number:?} {recipe:?} {level:?}");
            }
        }
    }
}

#[test]
fn auto_gives_the_dwells_of_every_pixel() {
    let view = View::centred("-0.75", "0", "1").unwrap().sized(Size::new(4096, 2304).unwrap());
    for number in NumberKind::DIRECT {
        let settings = Settings { limit: 700, number, ..Settings::default() };
        let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
        let dwells = |strategy: Strategy, tile: Option<&str>| {
            let tile = tile.map(|text| text.parse::<TileSize>().unwrap());
            let engine = CpuEngine::new(Level::best(), 2).with_tile(tile);
            let task = Task { plan: &plan, strategy, channels: ChannelSet::NONE };
            assert_eq!(engine.info().strategy_for(&task), strategy);
            dwell::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap()
        };
        let expected = dwells(Strategy::EveryPixel, None);
        // With small tiles there are many trials, and halves of odd sizes.
        for tile in [None, Some("64x64"), Some("33x17"), Some("1x300")] {
            assert!(dwells(Strategy::Auto, tile).dwell() == expected.dwell(), "{number:?} {tile:?}");
        }
    }
}

#[test]
fn auto_computes_every_pixel_where_no_proof_is_wanted_or_pays() {
    let strategy = |side: u32, channels: ChannelSet, shortcuts: Shortcuts| {
        let view = View::centred("-0.75", "0", "1").unwrap().sized(Size::new(side, side).unwrap());
        let plan = Plan::new(&view, &Settings::default(), &Limits::default()).unwrap();
        let engine = CpuEngine::new(Level::best(), 1).with_shortcuts(shortcuts);
        engine.info().strategy_for(&Task { plan: &plan, strategy: Strategy::Auto, channels })
    };
    assert_eq!(strategy(4096, ChannelSet::NONE, Shortcuts::EXACT), Strategy::Auto);
    assert_eq!(strategy(1024, ChannelSet::NONE, Shortcuts::EXACT), Strategy::EveryPixel);
    assert_eq!(strategy(4096, ChannelSet::SMOOTH, Shortcuts::EXACT), Strategy::EveryPixel);
    assert_eq!(strategy(4096, ChannelSet::NONE, Shortcuts::NONE), Strategy::EveryPixel);
}
