//! The interface of engines: calls at once on one engine, engines that panic or fail, and pictures in memory.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::store::{Output, PartialFiles};
use dwell::{
    Automatic, By, Cancel, ChannelSet, Colouring, Control, CpuEngine, Depth, Engine, EngineInfo, Error, FieldRowsMut,
    Format, Level, Limits, Outcome, Paint, PaintOutcome, Painter, PaintingEngine, Palette, Plan, Progress, Request,
    Requirements, Samples, Scale, Scene, Scratch, Settings, Size, Strategy, Task, ThreadPool, View,
};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

fn scene(re: &str, im: &str, zoom: &str, size: (u32, u32)) -> Scene {
    let view = View::centred(re, im, zoom).unwrap().sized(Size::new(size.0, size.1).unwrap());
    let settings = Settings { limit: 300, ..Settings::default() };
    let automatic = Automatic::NONE;
    Scene { view, settings, automatic, samples: Samples::Fixed(1), dither: false, ..Scene::default() }
}

/// Small tiles at different places of one picture, every fourth coloured in another way.
fn tile(number: u32) -> Scene {
    let (re, im) =
        (format!("{}", -2.0 + 0.1 * f64::from(number % 32)), format!("{}", -1.5 + 0.1 * f64::from(number / 32)));
    let mut scene = scene(&re, &im, "40", (24 + number % 9, 16));
    if number.is_multiple_of(4) {
        scene.colouring = Colouring::of(Palette::default()).by(By::Banded);
    }
    scene
}

fn bytes(scene: &Scene, engine: &dyn Engine, scratch: &mut Scratch) -> Vec<u8> {
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    scratch.picture(scene, engine, &Limits::default(), &control).unwrap().bytes().to_vec()
}

#[test]
fn two_threads_render_a_thousand_tiles_on_one_engine_to_the_same_bytes() {
    const TILES: u32 = 1000;
    let alone = CpuEngine::new(Level::best(), 1);
    let mut scratch = Scratch::default();
    let expected: Vec<Vec<u8>> = (0..TILES).map(|number| bytes(&tile(number), &alone, &mut scratch)).collect();
    for threads in [1, 3] {
        let shared = CpuEngine::new(Level::best(), threads);
        std::thread::scope(|scope| {
            for first in [0, 1] {
                let (shared, expected) = (&shared, &expected);
                scope.spawn(move || {
                    let mut scratch = Scratch::default();
                    for number in (0..TILES).map(|number| (number + first * TILES / 2) % TILES) {
                        let found = bytes(&tile(number), shared, &mut scratch);
                        assert!(found == expected[number as usize], "tile {number}, {threads} threads");
                    }
                });
            }
        });
    }
}

#[test]
fn a_picture_in_memory_is_the_picture_of_a_file() {
    let engine = CpuEngine::new(Level::best(), 2);
    let mut scratch = Scratch::default();
    for by in By::ALL {
        for scale in [Scale::Root, Scale::Histogram] {
            for (samples, dither, depth) in [
                (Samples::Fixed(1), false, Depth::Eight),
                (Samples::Fixed(3), false, Depth::Sixteen),
                (Samples::Fixed(2), true, Depth::Eight),
                (Samples::Auto, true, Depth::Eight),
                (Samples::Auto, false, Depth::Sixteen),
            ] {
                let mut scene = scene("-0.6", "0.1", "1.2", (90, 67));
                scene.colouring = Colouring { by, scale, ..Colouring::of(Palette::default()) };
                (scene.samples, scene.dither, scene.depth) = (samples, dither, depth);
                let plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &Limits::default()).unwrap();
                let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
                let request = Request::new(&plan, &engine, Paint::of(&scene, ""), control);
                let (output, file) = Output::in_memory("a.ppm");
                dwell::render(&request, vec![(Format::Ppm, output)], &mut Scratch::default()).unwrap();
                let found = bytes(&scene, &engine, &mut scratch);
                assert!(file.bytes().ends_with(&found), "{by:?} {scale:?} {samples} {dither} {depth:?}");
                assert_eq!(found.len(), 90 * 67 * depth.bytes_per_pixel());
                // A second time, from warm buffers and with the painter of the call before.
                assert!(found == bytes(&scene, &engine, &mut scratch));
            }
        }
    }
}

/// An engine that panics or fails in its n-th call, and paints if told to.
struct Faulty {
    inner: CpuEngine,
    calls: AtomicUsize,
    fails_at: usize,
    panics: bool,
    paints: bool,
}

impl Faulty {
    fn new(fails_at: usize, panics: bool, paints: bool) -> Self {
        Self { inner: CpuEngine::new(Level::best(), 2), calls: AtomicUsize::new(0), fails_at, panics, paints }
    }

    fn call(&self) -> Result<(), Error> {
        if self.calls.fetch_add(1, Ordering::Relaxed) != self.fails_at {
            return Ok(());
        }
        assert!(!self.panics, "a bug in the engine");
        Err(Error::Interrupted)
    }
}

impl Engine for Faulty {
    fn info(&self) -> EngineInfo {
        // Bands of few rows, so that some are in the pipeline when the fault comes.
        EngineInfo { band_samples: 1 << 12, ..self.inner.info() }
    }
    fn pool(&self) -> &ThreadPool {
        self.inner.pool()
    }
    fn requirements(&self, task: &Task<'_>, rows: u32) -> Requirements {
        self.inner.requirements(task, rows)
    }
    fn run(&self, task: &Task<'_>, rows: FieldRowsMut<'_>, control: &Control<'_>) -> Result<Outcome, Error> {
        self.call()?;
        self.inner.run(task, rows, control)
    }
    fn painting(&self) -> Option<&dyn PaintingEngine> {
        self.paints.then_some(self)
    }
}

impl PaintingEngine for Faulty {
    fn can_paint(&self, _: &Task<'_>, _: &Painter) -> bool {
        true
    }
    fn paint(
        &self,
        _: &Task<'_>,
        _: &Painter,
        _: Range<u32>,
        picture: &mut [u8],
        _: &Control<'_>,
    ) -> Result<PaintOutcome, Error> {
        self.call()?;
        picture.fill(7);
        Ok(PaintOutcome::default())
    }
}

/// Paints on processors, as an engine of a device does there.
struct Painting(CpuEngine);

impl Engine for Painting {
    fn info(&self) -> EngineInfo {
        self.0.info()
    }
    fn pool(&self) -> &ThreadPool {
        self.0.pool()
    }
    fn requirements(&self, task: &Task<'_>, rows: u32) -> Requirements {
        self.0.requirements(task, rows)
    }
    fn run(&self, task: &Task<'_>, rows: FieldRowsMut<'_>, control: &Control<'_>) -> Result<Outcome, Error> {
        self.0.run(task, rows, control)
    }
    fn painting(&self) -> Option<&dyn PaintingEngine> {
        Some(self)
    }
}

impl PaintingEngine for Painting {
    fn can_paint(&self, _: &Task<'_>, painter: &Painter) -> bool {
        painter.colouring().scale != Scale::Histogram
    }
    fn paint(
        &self,
        task: &Task<'_>,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        control: &Control<'_>,
    ) -> Result<PaintOutcome, Error> {
        let field = dwell::field(task, &self.0, &Limits::default(), control.cancel)?;
        painter.paint(field.some_rows(rows.clone()), rows.start, picture);
        let rows = field.some_rows(rows);
        Ok(PaintOutcome { interior_pixels: rows.interior_pixels(), ..PaintOutcome::default() })
    }
}

#[test]
fn an_engine_that_paints_does_so_in_rows() {
    let cpu = || CpuEngine::new(Level::best(), 2);
    let scene = Scene { dither: true, ..scene("-0.6", "0.1", "1.2", (90, 67)) };
    let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let plan = Plan::new(&scene.view, &scene.settings, &limits).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: scene.colouring.channels() };
    let expected = bytes(&scene, &cpu(), &mut Scratch::default());
    let inside = dwell::field(&task, &cpu(), &limits, &cancel).unwrap().interior_pixels();
    let mut scratch = Scratch::default();
    for rows_at_once in [0, 1, 20, 67, 1000] {
        let mut painted = Vec::new();
        let outcome = scratch.painted_by_engine(
            &scene,
            &task,
            &Painting(cpu()),
            &limits,
            &control,
            rows_at_once,
            |bytes, rows| {
                assert_eq!(painted.len(), rows.start as usize * 90 * 3);
                painted.extend_from_slice(bytes);
                Ok(())
            },
        );
        assert_eq!(outcome.unwrap().unwrap().interior_pixels, inside);
        assert!(painted == expected, "{rows_at_once}");
    }
    let refused = |_: &[u8], _: Range<u32>| Err(Error::Interrupted);
    let mut paint = |scene: &Scene, engine: &dyn Engine| {
        scratch.painted_by_engine(scene, &task, engine, &limits, &control, 9, refused).map(|outcome| outcome.is_some())
    };
    assert!(matches!(paint(&scene, &Painting(cpu())), Err(Error::Interrupted)));
    // What the engine does not paint.
    assert!(!paint(&scene, &cpu()).unwrap());
    assert!(!paint(&Scene { samples: Samples::Auto, ..scene.clone() }, &Painting(cpu())).unwrap());
    let equalised = Colouring { scale: Scale::Histogram, ..scene.colouring.clone() };
    assert!(!paint(&Scene { colouring: equalised, ..scene.clone() }, &Painting(cpu())).unwrap());
}

#[test]
fn an_engine_that_panics_or_fails_is_an_error_and_never_a_hang() {
    let scene = scene("-0.6", "0.1", "1.2", (200, 300));
    let plan = Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap();
    let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let is_expected = |error: &Error, panics: bool| match error {
        Error::Internal(message) => panics && message.contains("a bug in the engine"),
        Error::Interrupted => !panics,
        _ => false,
    };
    for panics in [false, true] {
        for paints in [false, true] {
            let engine = Faulty::new(0, panics, paints);
            let error = dwell::picture(&scene, &engine, &limits, &cancel).unwrap_err();
            assert!(is_expected(&error, panics), "{error}");
            // The engine and the buffers are usable afterwards.
            let mut scratch = Scratch::default();
            assert!(scratch.picture(&scene, &Faulty::new(0, panics, paints), &limits, &control).is_err());
            assert!(scratch.picture(&scene, &engine, &limits, &control).is_ok());
            // Three bands are computed; the others are mirror images.
            for fails_at in [0, 1, 2] {
                let engine = Faulty::new(fails_at, panics, paints);
                let request = Request::new(&plan, &engine, Paint::of(&scene, ""), control);
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("a.png");
                let output = Output::create(&path, false, &PartialFiles::default()).unwrap();
                let error = dwell::render(&request, vec![(Format::Png, output)], &mut scratch).unwrap_err();
                assert!(is_expected(&error, panics), "{error}, call {fails_at}");
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left");
            }
        }
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::SMOOTH };
        let error = dwell::field(&task, &Faulty::new(0, panics, false), &limits, &cancel).unwrap_err();
        assert!(is_expected(&error, panics), "{error}");
    }
}

#[test]
fn too_little_memory_is_refused_before_anything_is_computed() {
    let scene = scene("-0.6", "0.1", "1.2", (4000, 4000));
    let limits = Limits { memory_bytes: 16 << 20 };
    let engine = Faulty::new(0, true, false);
    let error = dwell::picture(&scene, &engine, &limits, &Cancel::default()).unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
}
