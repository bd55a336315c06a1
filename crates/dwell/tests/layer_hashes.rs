//! Pictures of every kind of layer, blend mode and look have the committed hashes, on every level and with any number of
//! threads. Each picture was inspected when its hash was committed.
//!
//! `DWELL_BLESS=1 cargo test -p dwell --test layer_hashes` rewrites the hashes; with `DWELL_PICTURES=FOLDER` it writes the
//! pictures for inspection as well. A changed hash is a changed result.

#![cfg(all(feature = "png", feature = "toml"))]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::{
    BlendMode, By, Cancel, Channel, ChannelSet, Colouring, Coverage, CpuEngine, Depth, Engine, Fold, Formula, Layer,
    LayerContent, Level, Limits, Location, Look, Painter, Palette, Picture, Plan, Quantity, Samples, Scale, Scene,
    Shortcuts, Size, Strategy, Task, TileSize, View,
};
use std::fmt::Write;
use std::path::Path;

const COMMITTED: &str = include_str!("layer_hashes.txt");

/// Name, view, rotation, fold, power, c.
type Kind = (&'static str, [&'static str; 3], &'static str, Fold, u32, Option<[&'static str; 2]>);

const KINDS: [Kind; 7] = [
    ("mandelbrot", ["-0.7", "0", "1.5"], "0", Fold::None, 2, None),
    ("minibrot", ["-1.7685", "0.0015", "60"], "20", Fold::None, 2, None),
    ("multibrot-4", ["0", "0", "1.5"], "0", Fold::None, 4, None),
    ("burning-ship", ["-0.45", "-0.5", "1.3"], "0", Fold::Absolute, 2, None),
    ("tricorn", ["-0.2", "0", "1.1"], "0", Fold::Conjugate, 2, None),
    ("julia", ["0", "0", "1.3"], "0", Fold::None, 2, Some(["-0.123", "0.745"])),
    ("julia-of-the-ship", ["0", "0", "1.1"], "0", Fold::Absolute, 2, Some(["-0.3", "-0.2"])),
];

fn gradient(of: Quantity, palette: &str) -> Layer {
    Layer::of(LayerContent::gradient(of, Palette::built_in(palette).unwrap()))
}

/// Colourings with layers, and their names.
fn colourings() -> Vec<(String, Colouring)> {
    let base = |scale| Colouring { scale, ..Colouring::of(Palette::built_in("ember").unwrap()) };
    let red = [50000, 9000, 3000];
    let mut all = Vec::new();
    let mut add = |name: String, scale, layers| all.push((name, Colouring { layers, ..base(scale) }));
    for blend in BlendMode::ALL {
        add(format!("slope {}", blend.name()), Scale::Root, vec![Layer { blend, opacity: 0.8, ..Layer::slope() }]);
        let flat = Layer::of(LayerContent::Flat { colour: red, over: Coverage::All });
        add(format!("colour {}", blend.name()), Scale::Root, vec![Layer { blend, opacity: 0.6, ..flat }]);
    }
    for of in Quantity::ALL {
        add(format!("by {}", of.name()), Scale::Log, vec![gradient(of, "spectrum")]);
    }
    for over in Coverage::ALL {
        let flat = Layer { opacity: 0.5, ..Layer::of(LayerContent::Flat { colour: red, over }) };
        add(format!("over {}", over.name()), Scale::Histogram, vec![flat]);
    }
    let outline = Layer::of(LayerContent::Outline { width: 20.0, colour: [0; 3] });
    let low = Layer::of(LayerContent::Slope { angle: 135.0, height: 0.4 });
    add("outline".to_owned(), Scale::Root, vec![outline.clone()]);
    add("everything".to_owned(), Scale::Histogram, vec![low, gradient(Quantity::Period, "candy"), outline]);
    for look in Look::ALL {
        all.push((format!("look {}", look.name()), look.of(base(Scale::Root))));
    }
    all
}

/// Each colouring with three kinds of scenes, samples and depths, the last with more samples where they are needed.
fn scenes() -> Vec<(String, Scene)> {
    let mut scenes = Vec::new();
    for (i, (name, colouring)) in colourings().into_iter().enumerate() {
        let fixed = |j: usize| (j, Samples::Fixed(1 + u32::try_from(j % 2).unwrap()));
        for (j, samples) in [fixed(i), fixed(i + 3), (i + 1, Samples::Auto)] {
            let (kind, [re, im, zoom], rotation, fold, power, julia) = KINDS[j % KINDS.len()];
            let mut scene =
                Location::parse("dwell = \"0.1.0\"\nre = \"0\"\nim = \"0\"\nzoom = \"1\"\niterations = 400", "x")
                    .unwrap()
                    .scene;
            scene.view = View::centred(re, im, zoom).unwrap().sized(Size::new(96, 54).unwrap());
            scene.view.rotation = rotation.parse().unwrap();
            scene.view.flip = fold == Fold::Absolute;
            (scene.samples, scene.dither) = (samples, samples == Samples::Auto);
            scene.depth = if j % 3 == 0 { Depth::Sixteen } else { Depth::Eight };
            scene.settings.formula = Formula::new(fold, power).unwrap();
            scene.settings.julia = julia.map(|c| c.map(|part| part.parse().unwrap()));
            scene.colouring = colouring.clone();
            scenes.push((format!("{kind} {name} samples {samples} bits {}", scene.depth.bits()), scene));
        }
    }
    scenes
}

fn picture(scene: &Scene, engine: &CpuEngine) -> Vec<u8> {
    dwell::picture(scene, engine, &Limits::default(), &Cancel::default()).unwrap().into_bytes()
}

fn png(picture: &Picture, engine: &CpuEngine) -> Vec<u8> {
    dwell::png_bytes(picture.bytes(), picture.size(), picture.depth(), "", engine.pool()).unwrap()
}

fn hash(scene: &Scene, engine: &CpuEngine) -> String {
    blake3::hash(&picture(scene, engine)).to_hex().to_string()
}

#[test]
fn pictures_with_layers_have_their_committed_hashes() {
    let engine = CpuEngine::default();
    let mut found = String::new();
    for (i, (name, scene)) in scenes().iter().enumerate() {
        writeln!(found, "{} {name}", hash(scene, &engine)).unwrap();
        if let Some(folder) = std::env::var_os("DWELL_PICTURES") {
            let picture = dwell::picture(scene, &engine, &Limits::default(), &Cancel::default()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "pictures for inspection, on request")]
            std::fs::write(Path::new(&folder).join(format!("{i:02}.png")), png(&picture, &engine)).unwrap();
        }
    }
    if std::env::var_os("DWELL_BLESS").is_some() {
        #[expect(clippy::disallowed_methods, reason = "a source file, on request")]
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layer_hashes.txt"), &found).unwrap();
        return;
    }
    for (found, committed) in found.lines().zip(COMMITTED.lines()) {
        assert_eq!(found, committed);
    }
    assert_eq!(found.lines().count(), COMMITTED.lines().count());
}

#[test]
fn levels_threads_tiles_and_shortcuts_give_the_committed_hashes() {
    for (i, level) in Level::available().into_iter().enumerate() {
        let engines = [
            CpuEngine::new(level, 3).with_tile(Some(TileSize { width: 16, height: 16 })),
            CpuEngine::new(level, 1 + i).with_shortcuts(Shortcuts::NONE),
        ];
        for engine in engines {
            for ((name, scene), committed) in scenes().iter().zip(COMMITTED.lines()).skip(i).step_by(3) {
                assert!(committed.starts_with(&hash(scene, &engine)), "{name} on {level:?}");
            }
        }
    }
}

#[test]
fn strategies_that_infer_give_the_same_pictures_where_the_interior_has_colours() {
    for (name, scene) in scenes() {
        if !scene.colouring.channels().has_interior() {
            continue;
        }
        for strategy in [Strategy::MarianiSilver, Strategy::BoundaryTrace] {
            let inferred = Scene { strategy, ..scene.clone() };
            let engine = CpuEngine::default();
            assert!(picture(&inferred, &engine) == picture(&scene, &engine), "{name} {strategy:?}");
        }
    }
}

#[test]
fn scenes_with_layers_are_written_and_read_back() {
    for (name, scene) in scenes() {
        let text = scene.text(&[]);
        let read = Location::parse(&text, "x").unwrap().scene;
        assert_eq!(read.colouring, scene.colouring, "{name}");
        assert_eq!(read.text(&[]), text, "{name}");
    }
    // A palette file is stored whole.
    let palette = Palette::parse("colours = [\"#010203\", \"#fefefe\"]\n", "mine").unwrap();
    let layers = vec![Layer::of(LayerContent::gradient(Quantity::Period, palette))];
    let scene = Scene { colouring: Colouring { layers, ..Colouring::default() }, ..Scene::default() };
    assert_eq!(Location::parse(&scene.text(&[]), "x").unwrap().scene.colouring, scene.colouring);
}

/// The light of a picture of 16 bits is that of the definitions, one sample at a time.
#[test]
fn layers_are_combined_as_documented() {
    let mut scene = scenes().swap_remove(0).1;
    (scene.samples, scene.depth) = (Samples::Fixed(1), Depth::Sixteen);
    let slope = Layer {
        blend: BlendMode::Multiply,
        opacity: 0.75,
        ..Layer::of(LayerContent::Slope { angle: 90.0, height: 2.0 })
    };
    scene.colouring =
        Colouring { layers: vec![slope], ..Colouring::of(Palette::built_in("fire").unwrap()).by(By::Banded) };
    let plan = Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap();
    let channels = ChannelSet::NONE.with(Channel::SlopeRight).with(Channel::SlopeUp);
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
    let engine = CpuEngine::default();
    let field = dwell::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap();
    let plain = Colouring { layers: Vec::new(), ..scene.colouring.clone() };
    let mut base = vec![0; field.dwell().len() * 6];
    Painter::new(&plain, plan.limit(), Depth::Sixteen, Samples::Fixed(1), false).unwrap().paint(
        field.all_rows(),
        0,
        &mut base,
    );
    let mut found = vec![0; base.len()];
    Painter::new(&scene.colouring, plan.limit(), Depth::Sixteen, Samples::Fixed(1), false).unwrap().paint(
        field.all_rows(),
        0,
        &mut found,
    );
    assert!(engine.info().name == "cpu" && picture(&scene, &engine) == found);
    let value = |bytes: &[u8]| f64::from(u16::from_be_bytes([bytes[0], bytes[1]])) / 65535.0;
    #[expect(clippy::disallowed_methods, reason = "a reference computation")]
    let light = |v: f64| if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
    let (mut darker, mut brighter) = (0, 0);
    for (i, n) in field.dwell().iter().enumerate() {
        let grey = 0.5 * (1.0 + field.channel(Channel::SlopeUp)[i] / 2.0);
        for c in 0..3 {
            let at = 6 * i + 2 * c..6 * i + 2 * c + 2;
            let (below, found) = (light(value(&base[at.clone()])), light(value(&found[at])));
            let expected = if *n == 0 { below } else { 0.25 * below + 0.75 * below * grey };
            assert!((found - expected).abs() < 1e-4, "{i} {c}: {found} {expected}");
            darker += usize::from(found < 0.6 * below);
            brighter += usize::from(found > 0.7 * below);
        }
    }
    assert!(darker > 100 && brighter > 100, "{darker} {brighter}");
}
