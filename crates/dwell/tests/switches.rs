//! Shortcuts, schedules, tiles, threads and levels change the time only. Each is compared with the plain engine on random
//! views of every formula: no pixel differs, in dwells and in the bits of smooth values and distances.

#![cfg(feature = "toml")]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Random;
use dwell::{
    Cancel, Channel, ChannelSet, CpuEngine, Field, Frame, Level, Limits, NumberKind, Plan, Schedule, Settings,
    Shortcuts, Size, Strategy, Task, TileSize,
};

const VIEWS: u64 = 200;

/// Names, and engines that differ from the plain one in the named setting only.
fn switches() -> Vec<(String, CpuEngine)> {
    let plain = || CpuEngine::new(Level::best(), 1).with_shortcuts(Shortcuts::NONE);
    let tiles = |width, height| Some(TileSize { width, height });
    let mut switches = vec![];
    for shortcuts in [
        Shortcuts { interior: true, ..Shortcuts::NONE },
        Shortcuts { cycles: true, ..Shortcuts::NONE },
        Shortcuts { symmetry: true, ..Shortcuts::NONE },
        Shortcuts::EXACT,
    ] {
        switches.push((format!("shortcuts {shortcuts}"), plain().with_shortcuts(shortcuts)));
    }
    for schedule in [
        Schedule::Static,
        Schedule::Dynamic { chunk: 1 },
        Schedule::Dynamic { chunk: 5 },
        Schedule::Guided,
        Schedule::WorkStealing,
    ] {
        let engine = CpuEngine::new(Level::best(), 3).with_shortcuts(Shortcuts::NONE);
        switches.push((format!("schedule {schedule}"), engine.with_schedule(schedule).with_tile(tiles(8, 8))));
    }
    for (width, height) in [(1, 1), (16, 16), (64, 64), (257, 257), (3, 200), (4096, 1)] {
        switches.push((format!("tile {width}x{height}"), plain().with_tile(tiles(width, height))));
    }
    for threads in [2, 3, 8] {
        let engine = CpuEngine::new(Level::best(), threads).with_shortcuts(Shortcuts::NONE);
        switches.push((format!("{threads} threads"), engine));
    }
    for level in Level::available() {
        switches.push((format!("{level:?}"), CpuEngine::new(level, 1).with_shortcuts(Shortcuts::EXACT)));
    }
    switches
}

fn field(plan: &Plan, engine: &CpuEngine) -> Field {
    let channels = Channel::ALL.into_iter().fold(ChannelSet::NONE, ChannelSet::with);
    let task = Task { plan, strategy: Strategy::EveryPixel, channels };
    dwell::field(&task, engine, &Limits::default(), &Cancel::default()).unwrap()
}

#[test]
fn no_switch_changes_a_pixel_of_two_hundred_views() {
    let switches = switches();
    assert!(switches.len() >= 12);
    let plain = CpuEngine::new(Level::best(), 1).with_shortcuts(Shortcuts::NONE);
    let (mut compared, mut interior, mut mirrored) = (0, 0, 0);
    for seed in 0..VIEWS {
        let mut random = Random::new(seed + 1000);
        let size = *random.one_of(&[(31, 17), (64, 33), (70, 50), (1, 40), (97, 2), (20, 64)]);
        // Shallow views, which show much of the interior; every fourth is centred on the real axis.
        let mut view = common::view(&mut random, 6, Size::new(size.0, size.1).unwrap());
        if seed % 4 == 0
            && let Frame::Centred { im, .. } = &mut view.frame
        {
            *im = "0".parse().unwrap();
            mirrored += u64::from(view.rotation.text() == "0");
        }
        let mut settings = common::settings(&mut random, 1500);
        // Every third view shows another formula.
        if seed % 3 == 1 {
            let flat = if seed % 4 == 0 { "0" } else { "0.1" };
            view = common::view_of_any_formula(&mut random, view.size);
            if let Frame::Centred { im, .. } = &mut view.frame {
                *im = flat.parse().unwrap();
            }
            settings = common::any_formula(&mut random, Settings { limit: settings.limit.min(500), ..settings });
        }
        let number = NumberKind::DIRECT[usize::try_from(seed % 2).unwrap()];
        let plan = Plan::new(&view, &Settings { number, ..settings }, &Limits::default()).unwrap();
        let expected = field(&plan, &plain);
        interior += expected.interior_pixels();
        for (name, engine) in &switches {
            let found = field(&plan, engine);
            let pairs = found.dwell().iter().zip(expected.dwell());
            assert_eq!(pairs.filter(|(a, b)| a != b).count(), 0, "seed {seed}, {name}: dwells of {view:?}");
            for channel in Channel::ALL {
                let pairs = found.channel(channel).iter().zip(expected.channel(channel));
                let differ = pairs.filter(|(a, b)| a.to_bits() != b.to_bits()).count();
                assert_eq!(differ, 0, "seed {seed}, {name}: {} of {view:?}", channel.name());
            }
            compared += found.dwell().len();
        }
    }
    eprintln!("{} switches, {compared} pixels compared, 0 differ; {mirrored} views mirrored", switches.len());
    assert!(interior > 10_000 && mirrored > 20, "too few interior pixels or mirrored views: {interior} {mirrored}");
}
