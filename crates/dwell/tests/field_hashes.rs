//! Three hundred fields, a hundred of them of other formulas, have the committed hashes in every build and on every machine.
//!
//! `DWELL_BLESS=1 cargo test -p dwell --test field_hashes` rewrites the hashes; a changed hash is a changed result.

#![cfg(feature = "toml")]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Random;
use dwell::{
    Cancel, ChannelSet, CpuEngine, Field, Level, Limits, NumberKind, Plan, Recipe, Settings, Size, Strategy, Task, View,
};
use std::fmt::Write;

const COMMITTED: &str = include_str!("field_hashes.txt");

fn field(view: &View, settings: &Settings, engine: &CpuEngine) -> Field {
    let plan = Plan::new(view, settings, &Limits::default()).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    dwell::field(&task, engine, &Limits::default(), &Cancel::default()).unwrap()
}

fn cases() -> Vec<(String, View, Settings)> {
    let mut cases = Vec::new();
    for name in [
        "shallow-home",
        "shallow-elephant",
        "shallow-minibrot",
        "shallow-feigenbaum",
        "shallow-seahorse",
        "shallow-seahorse-1e13",
    ] {
        for number in NumberKind::DIRECT {
            for recipe in Recipe::ALL {
                let (view, iterations) = common::location(name, 160, 90);
                let limit = u32::try_from(iterations.min(3000)).unwrap();
                let settings = Settings { limit: limit.into(), number, recipe, force: true, ..Settings::default() };
                cases.push((format!("{name}-{}-{}", number.name(), recipe.name()), view, settings));
            }
        }
    }
    for seed in 1000..1176 {
        let mut random = Random::new(seed);
        let size = *random.one_of(&[(64, 64), (31, 17), (1, 1), (129, 63), (200, 3)]);
        let view = common::view(&mut random, 14, Size::new(size.0, size.1).unwrap());
        let mut settings = common::settings(&mut random, 2000);
        settings.number = *random.one_of(&NumberKind::DIRECT);
        settings.recipe = *random.one_of(&Recipe::ALL);
        cases.push((format!("random-{seed}"), view, settings));
    }
    for seed in 2000..2100 {
        let mut random = Random::new(seed);
        let size = *random.one_of(&[(64, 64), (31, 17), (1, 1), (129, 63), (200, 3)]);
        let view = common::view_of_any_formula(&mut random, Size::new(size.0, size.1).unwrap());
        let settings = common::settings(&mut random, 1000);
        let mut settings = common::any_formula(&mut random, settings);
        settings.number = *random.one_of(&NumberKind::DIRECT);
        settings.recipe = *random.one_of(&Recipe::ALL);
        let kind = if settings.julia.is_some() { "julia-" } else { "" };
        let name = format!("{kind}{}-{}-{seed}", settings.formula.name(), settings.formula.power());
        cases.push((name, view, settings));
    }
    cases
}

#[test]
fn three_hundred_fields_have_their_committed_hashes() {
    let cases = cases();
    assert_eq!(cases.len(), 300);
    let engine = CpuEngine::default();
    let mut found = String::new();
    for (name, view, settings) in &cases {
        let field = field(view, settings, &engine);
        let hash = blake3::hash(&field.all_rows().dwell_bytes().unwrap()).to_hex();
        writeln!(found, "{hash} {name} {}x{} limit {}", view.size.width, view.size.height, settings.limit).unwrap();
    }
    if std::env::var_os("DWELL_BLESS").is_some() {
        #[expect(clippy::disallowed_methods, reason = "a source file, on request")]
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/field_hashes.txt"), &found).unwrap();
        return;
    }
    for (found, committed) in found.lines().zip(COMMITTED.lines()) {
        assert_eq!(found, committed);
    }
    assert_eq!(found.lines().count(), COMMITTED.lines().count());
}

#[test]
fn every_level_gives_the_committed_hashes() {
    let cases = cases();
    for level in Level::available() {
        for (case, committed) in cases.iter().zip(COMMITTED.lines()).skip(24).step_by(9) {
            let (name, view, settings) = case;
            let field = field(view, settings, &CpuEngine::new(level, 2));
            let hash = blake3::hash(&field.all_rows().dwell_bytes().unwrap()).to_hex();
            assert!(committed.starts_with(hash.as_str()), "{name} on {level:?}");
        }
    }
}
