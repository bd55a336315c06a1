//! The floating-point environment of the host process changes no result: the rounding mode, flush-to-zero and
//! denormals-are-zero of the calling thread, which new threads may inherit.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]
#![cfg(all(feature = "toml", feature = "png", any(target_arch = "x86_64", target_arch = "aarch64")))]

use dwell::store::{Output, PartialFiles};
use dwell::truth::{TrueDwells, Truth};
use dwell::{
    Automatic, By, Cancel, Channel, ChannelBuffers, ChannelSet, ChannelSlices, Control, CpuEngine, Depth, Engine,
    FieldRowsMut, Format, Formula, Level, LevelName, Limits, Location, Look, Map, NumberKind, Paint, Palette, Plan,
    Progress, Recipe, Request, Samples, Scale, Scene, Scratch, Size, Strategy, Task, naive,
};
use dwell_kernels::float_environment::{control_bits, with_hostile_floats};

const LOCATION: &str = "re = \"-0.743643887037158704752191506114774\"\nim = \"0.131825904205311970493132056385139\"\n\
    zoom = \"1e4\"\nrotation = \"33.3\"\niterations = 700\nsize = \"96x54\"\nsamples = 2\n\
    [colour]\nby = \"smooth\"\nscale = \"root\"\ndensity = 0.1\noffset = 0.3\n";

/// The bytes of every channel.
fn bytes_of(channels: ChannelSlices<'_>) -> Vec<u8> {
    let values = Channel::ALL.map(|channel| channels[channel]).concat();
    let dwells = channels.dwell.iter().flat_map(|n| n.to_le_bytes());
    dwells.chain(values.into_iter().flat_map(|v| v.to_bits().to_le_bytes())).collect()
}

/// The bytes of a file that is rendered in bands, with a thread for the writer.
fn file_of(scene: &Scene, engine: &CpuEngine) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    let output = Output::create(&path, false, &PartialFiles::default()).unwrap();
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &Limits::default()).unwrap();
    let request = Request::new(&plan, engine, Paint::of(scene, ""), Control { cancel: &cancel, progress: &progress });
    dwell::render(&request, vec![(Format::Png, output)], &mut Scratch::default()).unwrap();
    std::fs::read(&path).unwrap()
}

/// Everything that a host gets from the library, as bytes, made from nothing that existed before the call.
fn results() -> Vec<Vec<u8>> {
    let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
    let mut results = Vec::new();
    let mut scene = Location::parse(LOCATION, "x").unwrap().scene;
    results
        .push(format!("{:?} {:?}", scene.colouring.density.to_bits(), scene.colouring.offset.to_bits()).into_bytes());
    for name in Palette::built_in_names() {
        let palette = Palette::built_in(name).unwrap();
        results.push(palette.table().iter().flatten().flat_map(|code| code.to_le_bytes()).collect());
    }
    for (number, recipe, level) in [
        (NumberKind::F64, Recipe::Fused, Level::best()),
        (NumberKind::F32, Recipe::Separate, Level::get(LevelName::Scalar).unwrap()),
    ] {
        scene.settings.number = number;
        scene.settings.recipe = recipe;
        scene.settings.force = true;
        for threads in [1, 2] {
            // The pool starts its threads in the environment of this one.
            let engine = CpuEngine::new(level, threads);
            let plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &limits).unwrap();
            results.push(format!("{:?}", plan.points()).into_bytes());
            for channels in [ChannelSet::SMOOTH, Channel::ALL.into_iter().fold(ChannelSet::NONE, ChannelSet::with)] {
                let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
                let field = dwell::field(&task, &engine, &limits, &cancel).unwrap();
                results.push(bytes_of(field.all_rows().channels()));
                // The engine by itself.
                let Size { width, height } = plan.size();
                let mut buffers = ChannelBuffers::from_fn(vec![0; field.dwell().len()], |channel| {
                    vec![0.0; field.channel(channel).len()]
                });
                let rows = FieldRowsMut::new(width, 0..height, buffers.slices_mut()).unwrap();
                engine.run(&task, rows, &Control { cancel: &cancel, progress: &progress }).unwrap();
                results.push(bytes_of(buffers.slices()));
            }
            for (by, scale, depth) in [
                (By::Smooth, Scale::Root, Depth::Eight),
                (By::Smooth, Scale::Histogram, Depth::Sixteen),
                (By::Distance, Scale::Log, Depth::Eight),
                (By::Banded, Scale::Linear, Depth::Eight),
            ] {
                let mut scene = scene.clone();
                (scene.colouring.by, scene.colouring.scale, scene.depth) = (by, scale, depth);
                results.push(dwell::picture(&scene, &engine, &limits, &cancel).unwrap().bytes().to_vec());
            }
            let colouring = Look::Relief.of(scene.colouring.clone());
            let refined = Scene { colouring, samples: Samples::Auto, dither: true, ..scene.clone() };
            results.push(dwell::picture(&refined, &engine, &limits, &cancel).unwrap().bytes().to_vec());
        }
    }
    let engine = CpuEngine::new(Level::best(), 2);
    let open = Scene { automatic: Automatic::ALL, ..scene.clone() };
    results.push(
        dwell::resolve(&open, &engine, &limits, &Control { cancel: &cancel, progress: &Progress::default() })
            .unwrap()
            .scene
            .text(&[])
            .into_bytes(),
    );
    let truth = TrueDwells::new(&scene.view, &scene.settings);
    for pixel in 0..20 {
        let (Truth::Dwell(n), method) = truth.dwell(4 * pixel, 2 * pixel, &cancel).unwrap() else { continue };
        results.push(format!("{n} {method:?}").into_bytes());
    }
    results.push(file_of(&scene, &engine));
    results
}

/// Dwells by the plain loop of the kernels, which computes in the environment of its caller.
fn plain_dwells() -> Vec<u32> {
    let map = Map { formula: Formula::MANDELBROT, recipe: Recipe::Fused, julia: None };
    (0..200_u16).map(|k| naive::dwell(&map, [f32::from(k).mul_add(1e-6, -0.7436), 0.1318], 5000, 4.0)).collect()
}

#[test]
fn the_environment_of_these_tests_changes_what_is_computed_in_it() {
    assert_ne!(with_hostile_floats(plain_dwells), plain_dwells());
}

#[test]
fn the_environment_of_the_caller_changes_no_result() {
    let before = control_bits();
    let expected = results();
    let (found, inside, afterwards) = with_hostile_floats(|| {
        let inside = control_bits();
        (results(), inside, control_bits())
    });
    assert!(inside != before && inside == afterwards && control_bits() == before, "the caller's environment is kept");
    assert_eq!(expected.len(), found.len());
    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert!(expected == found, "result {number} differs");
    }
}

#[test]
fn threads_that_were_started_in_another_environment_compute_the_same() {
    let (limits, cancel) = (Limits::default(), Cancel::default());
    let scene = Location::parse(LOCATION, "x").unwrap().scene;
    let engine = CpuEngine::new(Level::best(), 4);
    let hostile = with_hostile_floats(|| {
        let mut to = vec![0; 8 << 20];
        engine.pool().copy(&mut to, &vec![1; 8 << 20]);
        dwell::picture(&scene, &engine, &limits, &cancel).unwrap()
    });
    let expected = dwell::picture(&scene, &CpuEngine::new(Level::best(), 4), &limits, &cancel).unwrap();
    assert_eq!(hostile.bytes(), expected.bytes());
    assert_eq!(dwell::picture(&scene, &engine, &limits, &cancel).unwrap().bytes(), expected.bytes());
}
