//! Dwells of more than 32 bits in files, hashes, statistics, colours and rows that are kept: from an engine that computes none, since a point that
//! escapes so late takes too long for a test.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::compare::{Controls, Raster, field_blake3};
use dwell::store::{Output, PartialFiles};
use dwell::{
    Automatic, By, Cancel, Channel, ChannelSet, Colouring, Control, CpuEngine, Engine, EngineInfo, Error, FieldRowsMut,
    Format, Limits, NumberKind, Outcome, Paint, Palette, Plan, Progress, Report, Request, Requirements, Samples, Scale,
    Scene, Scratch, Settings, Size, Task, ThreadPool, View,
};

const SIZE: Size = Size { width: 48, height: 40 };
const COUNTS: u64 = u32::MAX as u64;

/// The dwell of a pixel by its number: 0, multiples of 2^32 - 1 and of 2^32 and their neighbours, and the greatest.
fn dwell_of(pixel: u64) -> u64 {
    match pixel % 8 {
        0 => 0,
        1 => 1 + pixel,
        2 => COUNTS * (1 + pixel),
        3 => COUNTS * (1 + pixel) + 1,
        4 => (1 + pixel) << 32,
        5 => (1 + pixel) << 40,
        6 => Settings::MOST_LIMIT - pixel,
        _ => COUNTS - 1 + pixel / 8 % 3,
    }
}

/// Writes these dwells.
struct Written(CpuEngine);

impl Engine for Written {
    fn info(&self) -> EngineInfo {
        EngineInfo { band_samples: 1 << 9, ..self.0.info() }
    }
    fn pool(&self) -> &ThreadPool {
        self.0.pool()
    }
    fn requirements(&self, _: &Task<'_>, _: u32) -> Requirements {
        Requirements::default()
    }
    fn run(&self, _: &Task<'_>, mut rows: FieldRowsMut<'_>, _: &Control<'_>) -> Result<Outcome, Error> {
        let first = u64::from(rows.rows().start) * u64::from(rows.width());
        let mut channels = rows.channels_mut();
        for i in 0..channels.dwell.len() {
            let dwell = dwell_of(first + i as u64);
            // As documented by `Channel::Overflow`.
            let overflow = dwell.saturating_sub(1) / COUNTS;
            channels.dwell[i] = u32::try_from(dwell - overflow * COUNTS).unwrap();
            channels[Channel::Overflow][i] = overflow as f64;
        }
        Ok(Outcome::default())
    }
}

fn scene(limit: u64) -> Scene {
    Scene {
        view: View::centred("-0.75", "0.1", "1e20").unwrap().sized(SIZE),
        settings: Settings { limit, number: NumberKind::Exact, ..Settings::default() },
        colouring: Colouring::of(Palette::default()).by(By::Banded),
        automatic: Automatic::NONE,
        samples: Samples::Fixed(1),
        dither: false,
        ..Scene::default()
    }
}

/// The files of a render, and its statistics.
fn rendered(scene: &Scene, engine: &dyn Engine, formats: &[(Format, &str)]) -> (Vec<Vec<u8>>, Report) {
    let plan = Plan::new(&scene.view, &scene.settings, &Limits::default()).unwrap();
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let mut request = Request::new(&plan, engine, Paint::of(scene, ""), control);
    request.verify = true;
    request.hash = true;
    let folder = tempfile::tempdir().unwrap();
    let output = |(format, name): &(Format, &str)| {
        (*format, Output::create(&folder.path().join(name), false, &PartialFiles::default()).unwrap())
    };
    let report = dwell::render(&request, formats.iter().map(output).collect(), &mut Scratch::default()).unwrap();
    (formats.iter().map(|(_, name)| std::fs::read(folder.path().join(name)).unwrap()).collect(), report)
}

#[test]
fn files_hashes_and_statistics_have_every_bit() {
    let engine = Written(CpuEngine::default());
    let formats = [(Format::Npy, "a.npy"), (Format::Csv, "a.csv")];
    let (files, report) = rendered(&scene(Settings::MOST_LIMIT), &engine, &formats);
    let dwells: Vec<u64> = (0..SIZE.pixels()).map(dwell_of).collect();
    let bytes: Vec<u8> = dwells.iter().flat_map(|dwell| dwell.to_le_bytes()).collect();
    assert!(files[0].ends_with(&bytes) && files[0].windows(3).any(|three| three == b"<u8"));
    let rows = dwells.chunks(SIZE.width as usize);
    let rows = rows.map(|row| row.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
    assert_eq!(String::from_utf8(files[1].clone()).unwrap().lines().collect::<Vec<_>>(), rows.collect::<Vec<_>>());
    assert_eq!(report.field_blake3.as_deref(), Some(blake3::hash(&bytes).to_hex().as_str()));
    let iterations = |dwell: &u64| u128::from(if *dwell == 0 { Settings::MOST_LIMIT } else { *dwell });
    assert_eq!(report.iterations, dwells.iter().map(iterations).sum());
    assert_eq!((report.max_iterations, report.interior_pixels), (Settings::MOST_LIMIT, SIZE.pixels() / 8));
    // The files are read back to the same hash.
    let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
    for file in files {
        let controls = Controls { limits: &limits, cancel: &cancel, progress: &progress };
        let field = Raster::from_bytes(file, "a", &limits).unwrap();
        assert_eq!(Some(field_blake3(field, Settings::MOST_LIMIT, controls).unwrap()), report.field_blake3);
    }
}

#[test]
fn an_array_has_64_bits_exactly_where_the_limit_exceeds_32() {
    for (limit, kind, bytes) in [(COUNTS, b"<u4", 4), (COUNTS + 1, b"<u8", 8)] {
        let (files, report) = rendered(&scene(limit), &CpuEngine::default(), &[(Format::Npy, "a.npy")]);
        assert_eq!(files[0].len() as u64, 128 + bytes * SIZE.pixels());
        assert!(files[0].windows(3).any(|three| three == kind));
        assert_eq!(report.field_blake3, Some(blake3::hash(&files[0][128..]).to_hex().to_string()));
    }
}

#[test]
fn colours_depend_on_the_whole_dwell() {
    let mut scene = scene(Settings::MOST_LIMIT);
    let engine = Written(CpuEngine::default());
    for (by, scale) in [(By::Banded, Scale::Root), (By::Banded, Scale::Histogram)] {
        scene.colouring = Colouring { scale, ..Colouring::of(Palette::default()).by(by) };
        let (files, _) = rendered(&scene, &engine, &[(Format::Ppm, "a.ppm")]);
        let pixels: Vec<&[u8]> = files[0][files[0].len() - 3 * SIZE.pixels() as usize..].chunks(3).collect();
        // 2^32 - 1 and twice as much have the same 32 bits in the field. The inside is black.
        let of = |dwell: u64| (0..SIZE.pixels()).find(|pixel| dwell_of(*pixel) == dwell).unwrap() as usize;
        assert_ne!(pixels[of(COUNTS * 3)], pixels[of(COUNTS * 11)], "{by} {scale}");
        assert_eq!(pixels[0], [0; 3]);
    }
}

#[test]
fn a_limit_beyond_32_bits_needs_exact_arithmetic_and_its_channel() {
    let settings = |number: NumberKind, limit: u64| Settings { number, limit, ..Settings::default() };
    for (number, limit) in [
        (NumberKind::F64, COUNTS + 1),
        (NumberKind::F32, 1 << 40),
        (NumberKind::Exact, 1 << 63),
        (NumberKind::Exact, 0),
    ] {
        let error = settings(number, limit).check().unwrap_err().to_string();
        assert!(error.contains(&limit.to_string()) && error.contains("accepted: 1 to"), "{error}");
    }
    let plan = |limit: u64| Plan::new(&scene(9).view, &settings(NumberKind::Exact, limit), &Limits::default()).unwrap();
    let engine = CpuEngine::default();
    let field = |plan: &Plan, channels: ChannelSet| {
        let task = Task { plan, strategy: dwell::Strategy::EveryPixel, channels };
        dwell::field(&task, &engine, &Limits::default(), &Cancel::default())
    };
    let error = field(&plan(COUNTS + 1), ChannelSet::NONE).unwrap_err().to_string();
    assert!(error.contains("32 bits"), "{error}");
    // The same dwells at any limit beyond the latest.
    let low = field(&plan(COUNTS), ChannelSet::NONE).unwrap();
    let high = field(&plan(Settings::MOST_LIMIT), ChannelSet::of_dwells(Settings::MOST_LIMIT)).unwrap();
    assert!(low.all_rows().dwells().eq(high.all_rows().dwells()));
    assert!(low.dwell().iter().any(|dwell| *dwell > 0));
}
