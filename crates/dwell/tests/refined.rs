//! More samples for pixels that differ visibly from their neighbours: the same bytes however the work is divided, and the
//! pixels that the rule names.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::store::Output;
use dwell::{
    Automatic, By, Cancel, Colouring, Control, CpuEngine, Depth, Engine, EngineInfo, Error, FieldRowsMut, Format,
    Level, Limits, NumberKind, Outcome, Paint, Palette, Plan, Progress, Report, Request, Requirements, Samples, Scale,
    Scene, Scratch, Settings, Shortcuts, Size, Strategy, Task, ThreadPool, TileSize, View,
};

const WIDTH: usize = 300;
const HEIGHT: usize = 407;

/// A view with edges, noise and gradients in every chunk; some rows are mirror images of others.
fn scene(samples: Samples, depth: Depth) -> Scene {
    let size = Size::new(WIDTH as u32, HEIGHT as u32).unwrap();
    Scene {
        view: View::centred("-0.75", "0.02", "3").unwrap().sized(size),
        settings: Settings { limit: 400, ..Settings::default() },
        automatic: Automatic::NONE,
        samples,
        dither: depth == Depth::Eight,
        depth,
        ..Scene::default()
    }
}

/// An engine with bands of another size.
struct WithBands(CpuEngine, u64);

impl Engine for WithBands {
    fn info(&self) -> EngineInfo {
        EngineInfo { band_samples: self.1, ..self.0.info() }
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
}

/// The files of a scene in these formats, and the report.
fn render(scene: &Scene, engine: &dyn Engine, limits: Limits, formats: &[Format]) -> (Vec<Vec<u8>>, Report) {
    let plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &limits).unwrap();
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let request = Request::new(&plan, engine, Paint::of(scene, ""), control)
        .with_strategy(scene.strategy)
        .with_limits(limits)
        .with_hash(true);
    let outputs = formats.iter().map(|format| (*format, Output::in_memory("a")));
    let (outputs, files): (Vec<_>, Vec<_>) = outputs.map(|(format, (output, file))| ((format, output), file)).unzip();
    let report = dwell::render(&request, outputs, &mut Scratch::default()).unwrap();
    (files.iter().map(|file| file.bytes().to_vec()).collect(), report)
}

fn picture(scene: &Scene) -> Vec<u8> {
    let engine = CpuEngine::new(Level::best(), 2);
    dwell::picture(scene, &engine, &Limits::default(), &Cancel::default()).unwrap().into_bytes()
}

#[test]
fn the_bytes_do_not_depend_on_how_the_work_is_divided() {
    for (strategy, scale, by) in [
        (Strategy::EveryPixel, Scale::Root, By::Smooth),
        (Strategy::EveryPixel, Scale::Histogram, By::Banded),
        (Strategy::MarianiSilver, Scale::Root, By::Banded),
    ] {
        let mut scene = scene(Samples::Auto, Depth::Eight);
        scene.strategy = strategy;
        scene.colouring = Colouring { scale, ..Colouring::of(Palette::default()).by(by) };
        // What is inferred depends on the tiles.
        let tile = (!strategy.is_exact()).then_some(TileSize { width: 40, height: 28 });
        let engine = |level, threads| CpuEngine::new(level, threads).with_tile(tile);
        let formats = [Format::Ppm];
        let (expected, report) = render(&scene, &engine(Level::best(), 2), Limits::default(), &formats);
        assert!(report.refined_pixels.is_some_and(|pixels| pixels > 1000), "{:?}", report.refined_pixels);
        for level in Level::available() {
            for threads in [1, 3] {
                // Bands of one chunk, of two, and of the whole image.
                for band_samples in [1, 2 * 64 * WIDTH as u64, 1 << 20] {
                    let engine = WithBands(engine(level, threads), band_samples);
                    let (found, again) = render(&scene, &engine, Limits::default(), &formats);
                    assert!(found == expected, "{strategy:?} {scale:?} {level:?} {threads} {band_samples}");
                    let counts = |report: &Report| (report.refined_pixels, report.refined_samples, report.iterations);
                    assert_eq!(counts(&again), counts(&report));
                }
            }
        }
        if strategy.is_exact() {
            let plain = engine(Level::best(), 2).with_shortcuts(Shortcuts::NONE);
            assert!(render(&scene, &plain, Limits::default(), &formats).0 == expected, "{scale:?}");
        }
    }
}

#[test]
fn a_deep_picture_has_the_same_bytes_however_it_is_computed_and_a_bounded_number_of_samples() {
    let (re, im) = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
    let size = Size::new(120, 90).unwrap();
    let scene = Scene {
        view: View::centred(re, im, "3e27").unwrap().sized(size),
        settings: Settings { limit: 20_000, number: NumberKind::Exact, ..Settings::default() },
        ..scene(Samples::Auto, Depth::Eight)
    };
    let (expected, report) = render(&scene, &CpuEngine::new(Level::best(), 2), Limits::default(), &[Format::Ppm]);
    // Each pixel costs the same there, and nearly each has contrast: at most 8 times the cost of one sample for each.
    let refined = report.refined_samples.unwrap();
    assert!((1..=size.pixels() * 7).contains(&refined), "{refined} of {}", size.pixels());
    for (level, threads, mebibytes) in
        [(Level::available()[0], 1, 4096), (Level::best(), 3, 4096), (Level::best(), 1, 64)]
    {
        let engine = CpuEngine::new(level, threads);
        let (found, _) = render(&scene, &engine, Limits { memory_bytes: mebibytes << 20 }, &[Format::Ppm]);
        assert!(found == expected, "{level:?}, {threads} threads, {mebibytes} MiB");
    }
}

#[test]
fn dwells_and_statistics_are_those_of_one_sample_a_pixel() {
    let formats = [Format::Png, Format::Npy];
    let engine = CpuEngine::new(Level::best(), 2);
    let (auto, of_auto) = render(&scene(Samples::Auto, Depth::Eight), &engine, Limits::default(), &formats);
    let (one, of_one) = render(&scene(Samples::Fixed(1), Depth::Eight), &engine, Limits::default(), &formats);
    assert!(auto[1] == one[1] && auto[0] != one[0]);
    assert_eq!(of_auto.field_blake3, of_one.field_blake3);
    let counts = |report: &Report| (report.width, report.height, report.iterations, report.interior_pixels);
    assert_eq!(counts(&of_auto), counts(&of_one));
    assert_eq!((of_one.refined_pixels, of_one.refined_samples), (None, None));
    let (pixels, samples) = (of_auto.refined_pixels.unwrap(), of_auto.refined_samples.unwrap());
    assert!(4 * pixels <= samples && samples <= 16 * pixels);
}

/// The 16-bit values of a picture.
fn values(picture: &[u8]) -> Vec<[i32; 3]> {
    let value = |pixel: &[u8], at: usize| i32::from(u16::from_be_bytes([pixel[at], pixel[at + 1]]));
    picture.chunks(6).map(|pixel| [0, 2, 4].map(|at| value(pixel, at))).collect()
}

/// Whether a pixel has contrast, by the definition: the greatest curvature of 12-bit values in four directions, with the
/// border of the picture repeated.
fn has_contrast(picture: &[[i32; 3]], column: usize, row: usize) -> bool {
    let near = |at: usize, step: isize, length: usize| at.saturating_add_signed(step).min(length - 1);
    let at = |right: isize, down: isize, channel: usize| {
        picture[near(row, down, HEIGHT) * WIDTH + near(column, right, WIDTH)][channel] >> 4
    };
    (0..3).any(|channel| {
        [(1, 0), (0, 1), (1, 1), (1, -1)].into_iter().any(|(right, down)| {
            let curvature = at(right, down, channel) + at(-right, -down, channel) - 2 * at(0, 0, channel);
            curvature.abs() > 8 << 4
        })
    })
}

#[test]
fn pixels_with_contrast_are_refined_in_every_row_and_others_are_not() {
    let of = |samples| values(&picture(&scene(samples, Depth::Sixteen)));
    let (one, auto, four) = (of(Samples::Fixed(1)), of(Samples::Auto), of(Samples::Fixed(4)));
    let off = |a: [i32; 3], b: [i32; 3]| (0..3).map(|channel| (a[channel] - b[channel]).abs()).max().unwrap();
    let (mut refined, mut equal, mut missed) = (0, 0, 0);
    for row in 0..HEIGHT {
        for column in 0..WIDTH {
            let at = row * WIDTH + column;
            // A chunk that saw other neighbours at its border would refine other pixels.
            if !has_contrast(&one, column, row) {
                assert_eq!(auto[at], one[at], "column {column}, row {row}");
                continue;
            }
            refined += 1;
            missed += u32::from(auto[at] == one[at] && off(one[at], four[at]) >= 32 * 257);
            equal += u32::from(auto[at] == four[at]);
        }
    }
    // The few samples of a pixel may have the mean that its own has.
    assert!(refined > 1000 && 20 * missed <= refined, "{missed} of {refined}");
    // Most have a great contrast and every sample; the others are near.
    assert!(2 * equal > refined, "{equal} of {refined}");
    let mean = |a: &[[i32; 3]]| -> f64 {
        let each = a.iter().zip(&four).map(|(a, b)| f64::from(off(*a, *b)));
        each.sum::<f64>() / (257.0 * a.len() as f64)
    };
    assert!(mean(&auto) < 0.6 && mean(&one) > 8.0 * mean(&auto), "{} {}", mean(&auto), mean(&one));
}

#[test]
fn a_view_at_the_end_of_the_number_has_fewer_samples_or_a_warning() {
    let engine = CpuEngine::new(Level::best(), 2);
    let at = |zoom: &str| {
        let mut scene = scene(Samples::Auto, Depth::Eight);
        let size = scene.view.size;
        scene.view = View::centred("-0.743643887037158704", "0.131825904205311970", zoom).unwrap().sized(size);
        render(&scene, &engine, Limits::default(), &[Format::Ppm]).1
    };
    // 4 x 4 samples, 2 x 2, and one.
    for (zoom, most, warns) in [("1e12", 16, false), ("2e13", 4, false), ("4e13", 0, true)] {
        let report = at(zoom);
        assert!(report.refined_samples.unwrap_or(0) <= most * report.refined_pixels.unwrap_or(0), "{zoom}");
        assert_eq!(report.warnings.iter().any(|warning| warning.contains("one sample in a pixel")), warns, "{zoom}");
        assert_eq!(report.refined_pixels.is_none(), warns, "{zoom}");
    }
}

#[test]
fn dithering_keeps_exact_colours_and_changes_others_by_one_step() {
    let of = |palette: &str, samples, dither| {
        let mut scene = scene(samples, Depth::Eight);
        scene.colouring = Colouring { scale: Scale::Root, ..Colouring::of(Palette::built_in(palette).unwrap()) };
        scene.dither = dither;
        picture(&scene)
    };
    assert!(of("toader", Samples::Fixed(1), true) == of("toader", Samples::Fixed(1), false), "steps of 8-bit colours");
    for samples in [Samples::Fixed(1), Samples::Fixed(2), Samples::Auto] {
        let (plain, dithered) = (of("twilight", samples, false), of("twilight", samples, true));
        let off = |(a, b): (&u8, &u8)| a.abs_diff(*b);
        assert_eq!(plain.iter().zip(&dithered).map(off).max(), Some(1), "{samples}");
        // c = -0.4 is inside the set, and its colour is exact.
        let inside = 3 * (209 * WIDTH + 257)..3 * (209 * WIDTH + 258);
        assert_eq!(plain[inside.clone()], dithered[inside], "{samples}");
    }
}
