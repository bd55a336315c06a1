//! Pictures of every formula, colouring and number of samples have the committed hashes. Each picture was inspected when its
//! hash was committed.
//!
//! `DWELL_BLESS=1 cargo test -p dwell --test picture_hashes` rewrites the hashes; with `DWELL_PICTURES=FOLDER` it writes the
//! pictures for inspection as well. A changed hash is a changed result.

#![cfg(feature = "png")]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::store::{Output, PartialFiles};
use dwell::{
    Automatic, By, Cancel, Colouring, Control, CpuEngine, Depth, Fold, Format, Formula, Level, Limits, NumberKind,
    Paint, Palette, Plan, Progress, Recipe, Request, Samples, Scale, Scene, Scratch, Size, View,
};
use std::fmt::Write;
use std::path::Path;

const COMMITTED: &str = include_str!("picture_hashes.txt");

/// Name, view, fold, power, c.
type Kind = (&'static str, [&'static str; 3], Fold, u32, Option<[&'static str; 2]>);

const KINDS: [Kind; 10] = [
    ("mandelbrot", ["-0.7", "0", "1.5"], Fold::None, 2, None),
    ("seahorses", ["-0.7436", "0.1318", "600"], Fold::None, 2, None),
    ("multibrot-3", ["0", "0", "1.5"], Fold::None, 3, None),
    ("multibrot-7", ["0", "0", "1.6"], Fold::None, 7, None),
    ("burning-ship", ["-0.45", "-0.5", "1.3"], Fold::Absolute, 2, None),
    ("burning-ship-3", ["0", "0", "1.3"], Fold::Absolute, 3, None),
    ("tricorn", ["-0.2", "0", "1.1"], Fold::Conjugate, 2, None),
    ("julia", ["0", "0", "1.3"], Fold::None, 2, Some(["-0.745", "0.113"])),
    ("julia-of-the-ship", ["0", "0", "1.1"], Fold::Absolute, 2, Some(["-1.2", "-0.3"])),
    ("julia-of-the-tricorn-3", ["0", "0", "1.3"], Fold::Conjugate, 3, Some(["0.5", "0.4"])),
];

const PALETTES: [&str; 7] = ["twilight", "fire", "viridis", "neon", "toader", "classic", "romaO"];

fn scenes() -> Vec<(String, Scene)> {
    let mut scenes = Vec::new();
    let colourings: Vec<(By, Scale)> = By::ALL
        .into_iter()
        .flat_map(|by| Scale::ALL.map(|scale| (by, scale)))
        .filter(|pair| *pair != (By::Distance, Scale::Limit))
        .collect();
    for (i, (by, scale)) in colourings.into_iter().enumerate() {
        for (j, (name, [re, im, zoom], fold, power, julia)) in KINDS.into_iter().enumerate() {
            // Each colouring is combined with half of the formulas, each of those with another number of samples.
            if (i + j) % 2 == 1 {
                continue;
            }
            let samples = 1 + u32::try_from((i + j / 2) % 3).unwrap();
            let mut palette = PALETTES[(2 * i + j) % PALETTES.len()];
            if (by, scale) == (By::Distance, Scale::Root) && j % 3 == 0 {
                palette = "ink";
            }
            let palette = Palette::built_in(palette).unwrap();
            let mut scene = Scene {
                view: View::centred(re, im, zoom).unwrap().sized(Size::new(96, 54).unwrap()),
                automatic: Automatic::NONE,
                samples: Samples::Fixed(samples),
                dither: false,
                depth: if (i + j) % 6 == 4 { Depth::Sixteen } else { Depth::Eight },
                ..Scene::default()
            };
            scene.view.flip = fold == Fold::Absolute;
            scene.settings.formula = Formula::new(fold, power).unwrap();
            scene.settings.julia = julia.map(|c| c.map(|part| part.parse().unwrap()));
            scene.settings.limit = 300;
            let name = format!(
                "{name} by {} scale {} palette {} samples {samples} bits {}",
                by.name(),
                scale.name(),
                palette.name(),
                scene.depth.bits()
            );
            scene.colouring = Colouring { by, scale, ..Colouring::of(palette) };
            scenes.push((name, scene));
        }
    }
    scenes.extend(refined_scenes());
    scenes
}

/// Pictures with more samples where they are needed, and dithered ones: of each kind, one of its first in each way.
fn refined_scenes() -> Vec<(String, Scene)> {
    let ways = [
        (Samples::Auto, true, Depth::Eight),
        (Samples::Auto, false, Depth::Eight),
        (Samples::Auto, false, Depth::Sixteen),
        (Samples::Fixed(1), true, Depth::Eight),
        (Samples::Fixed(2), true, Depth::Eight),
    ];
    let mut scenes = Vec::new();
    for (i, (name, [re, im, zoom], fold, power, julia)) in KINDS.into_iter().enumerate() {
        for (j, (samples, dither, depth)) in ways.into_iter().enumerate().filter(|(j, _)| (i + j) % 2 == 0) {
            let by = By::ALL[(i + j / 2) % 3];
            let palette = Palette::built_in(PALETTES[(i + 3 * j) % PALETTES.len()]).unwrap();
            let mut scene = Scene {
                view: View::centred(re, im, zoom).unwrap().sized(Size::new(96, 54).unwrap()),
                automatic: Automatic::NONE,
                samples,
                dither,
                depth,
                ..Scene::default()
            };
            if i % 3 == 1 {
                scene.view.rotation = "33.3".parse().unwrap();
            }
            scene.view.flip = fold == Fold::Absolute;
            scene.settings.formula = Formula::new(fold, power).unwrap();
            scene.settings.julia = julia.map(|c| c.map(|part| part.parse().unwrap()));
            scene.settings.limit = 300;
            if i % 4 == 3 {
                (scene.settings.number, scene.settings.recipe) = (NumberKind::F32, Recipe::Separate);
            }
            let scale = if (i + j) % 5 == 4 { Scale::Histogram } else { Colouring::of(palette.clone()).by(by).scale };
            let name = format!(
                "{name} by {} scale {} palette {} samples {samples} dither {dither} bits {}",
                by.name(),
                scale.name(),
                palette.name(),
                depth.bits()
            );
            scene.colouring = Colouring { by, scale, ..Colouring::of(palette) };
            scenes.push((name, scene));
        }
    }
    scenes
}

/// Renders a scene into a file.
fn render(scene: &Scene, engine: &CpuEngine, format: Format, path: &Path) {
    let plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &Limits::default()).unwrap();
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let request = Request::new(&plan, engine, Paint::of(scene, ""), control).with_strategy(scene.strategy);
    let output = Output::create(path, false, &PartialFiles::default()).unwrap();
    dwell::render(&request, vec![(format, output)], &mut Scratch::default()).unwrap();
}

fn hash(scene: &Scene, engine: &CpuEngine) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ppm");
    render(scene, engine, Format::Ppm, &path);
    blake3::hash(&std::fs::read(&path).unwrap()).to_hex().to_string()
}

#[test]
fn every_picture_has_its_committed_hash() {
    let scenes = scenes();
    assert!(scenes.len() >= 60, "{}", scenes.len());
    let engine = CpuEngine::default();
    let mut found = String::new();
    for (name, scene) in &scenes {
        writeln!(found, "{} {name}", hash(scene, &engine)).unwrap();
    }
    if let Some(folder) = std::env::var_os("DWELL_PICTURES") {
        for (i, (_, scene)) in scenes.iter().enumerate() {
            render(scene, &engine, Format::Png, &Path::new(&folder).join(format!("{i:02}.png")));
        }
    }
    if std::env::var_os("DWELL_BLESS").is_some() {
        #[expect(clippy::disallowed_methods, reason = "a source file, on request")]
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/picture_hashes.txt"), &found).unwrap();
        return;
    }
    for (found, committed) in found.lines().zip(COMMITTED.lines()) {
        assert_eq!(found, committed);
    }
    assert_eq!(found.lines().count(), COMMITTED.lines().count());
}

#[test]
fn every_level_gives_the_committed_hashes() {
    for level in Level::available() {
        for ((name, scene), committed) in scenes().iter().zip(COMMITTED.lines()).step_by(5) {
            let hash = hash(scene, &CpuEngine::new(level, 3));
            assert!(committed.starts_with(&hash), "{name} on {level:?}");
        }
    }
}
