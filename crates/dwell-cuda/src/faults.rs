//! The engine over a device that fails when it is told to: whatever fails, and whenever, the rows are the same.

use crate::driver::{Device, Fault};
use crate::engine::{CudaEngine, Pieces};
use crate::lane::{Delivered, Job, Lane, Opens, SLOTS, Wanted};
use crate::options::Options;
use dwell::{
    By, Cancel, Colouring, CpuEngine, Depth, DeviceReport, Engine, Extras, Field, FieldPart, FieldRows, Level, Limits,
    Painter, Palette, Plan, Progress, Scale, Settings, Size, Strategy, View,
};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// When to fail, and what was done.
#[derive(Debug, Default)]
struct Script {
    /// Operations so far.
    done: usize,
    /// The first that fails, and with what.
    fails: Option<(usize, Fault)>,
    /// Whether all later ones fail too.
    lasting: bool,
    /// Operations after a fault from which there is no way back.
    after_the_end: usize,
    lost: bool,
}

impl Script {
    fn step(&mut self) -> Result<(), Fault> {
        let number = self.done;
        self.done += 1;
        self.after_the_end += usize::from(self.lost);
        match &self.fails {
            Some((first, fault)) if number == *first || (self.lasting && number > *first) => {
                self.lost |= *fault != Fault::Memory;
                Err(fault.clone())
            }
            _ => Ok(()),
        }
    }
}

/// A device whose kernels are the processors'.
struct Fake(Arc<Mutex<Script>>);

struct FakeLane {
    script: Arc<Mutex<Script>>,
    plan: Plan,
    wanted: Wanted,
    painter: Option<Painter>,
    rows: u32,
    slots: [Done; SLOTS],
}

/// Bytes, smooth values and totals of rows that are done.
type Done = (Vec<u8>, Vec<u8>, (u64, u64));

fn cpu() -> CpuEngine {
    CpuEngine::new(Level::best(), 2)
}

impl Opens for Fake {
    fn open(&self, job: &Job<'_>, pixels: u64, _: bool, _: &mut DeviceReport) -> Result<Box<dyn Lane>, Fault> {
        // Context, and some allocations.
        for _ in 0..4 {
            self.0.lock().unwrap().step()?;
        }
        let painter = job.painter.map(|painter| {
            let depth = if painter.bytes_per_pixel() == 3 { Depth::Eight } else { Depth::Sixteen };
            Painter::new(painter.colouring(), job.plan.limit(), depth, painter.samples())
        });
        let samples = painter.as_ref().map_or(1, Painter::samples);
        let rows = u32::try_from(pixels / u64::from(job.plan.size().width)).unwrap().max(1).next_multiple_of(samples);
        Ok(Box::new(FakeLane {
            script: Arc::clone(&self.0),
            plan: job.plan.clone(),
            wanted: job.wanted,
            painter,
            rows,
            slots: Default::default(),
        }))
    }
}

impl Lane for FakeLane {
    fn start(&mut self, slot: usize, rows: Range<u32>, cancel: &Cancel) -> Result<(), Fault> {
        self.script.lock().unwrap().step()?;
        let width = self.plan.size().width;
        let pixels = rows.len() * width as usize;
        let with_smooth = match &self.painter {
            Some(painter) => painter.colouring().extras().smooth,
            None => self.wanted == Wanted::SmoothValues,
        };
        let (mut dwell, mut smooth) = (vec![0; pixels], vec![0.0; if with_smooth { pixels } else { 0 }]);
        let part = FieldPart { width, rows, dwell: &mut dwell, smooth: &mut smooth, distance: &mut [] };
        cpu().iterate(&self.plan, Strategy::EveryPixel, part, cancel, &Progress::default()).unwrap();
        let field = FieldRows { width, dwell: &dwell, smooth: &smooth, distance: &[] };
        self.slots[slot] = match &self.painter {
            Some(painter) => {
                let samples = (painter.samples() * painter.samples()) as usize;
                let mut picture = vec![0; pixels / samples * painter.bytes_per_pixel()];
                painter.paint(field, &mut picture);
                let totals = (field.iterations(self.plan.limit()) as u64, field.interior_pixels());
                (picture, Vec::new(), totals)
            }
            None => (bytemuck::cast_slice(&dwell).to_vec(), bytemuck::cast_slice(&smooth).to_vec(), (0, 0)),
        };
        Ok(())
    }

    fn finish(&mut self, slot: usize) -> Result<Delivered<'_>, Fault> {
        self.script.lock().unwrap().step()?;
        let (bytes, smooth, totals) = &self.slots[slot];
        Ok(Delivered { bytes, smooth, totals: *totals })
    }

    fn rows(&self) -> u32 {
        self.rows
    }

    fn report(&mut self, _: &mut DeviceReport) {}
}

fn device() -> Device {
    Device {
        number: 0,
        name: "pretended".to_owned(),
        capability: (9, 0),
        memory_bytes: 1 << 30,
        multiprocessors: 1,
        threads_per_multiprocessor: 2048,
        clock_khz: 1,
        memory_clock_khz: 1,
        driver: "13.0".to_owned(),
    }
}

fn engine(fails: Option<(usize, Fault)>, lasting: bool) -> (CudaEngine, Arc<Mutex<Script>>) {
    let script = Arc::new(Mutex::new(Script { fails, lasting, ..Script::default() }));
    let pieces = Pieces { pixels: 1 << 10, fewest: 1 << 8 };
    let fake = Box::new(Fake(Arc::clone(&script)));
    (CudaEngine::over(device(), fake, cpu(), Options::default(), pieces).unwrap(), script)
}

fn plan() -> Plan {
    let view = View::centred("-0.6", "0.1", "1.2").unwrap().sized(Size::new(96, 66).unwrap());
    Plan::new(&view, &Settings { limit: 120, ..Settings::default() }, &Limits::default()).unwrap()
}

/// Every fault at every operation up to one that is never reached, once and lasting.
fn each_fault(mut check: impl FnMut(Option<(usize, Fault)>, bool)) {
    check(None, false);
    for fault in [Fault::Memory, Fault::Lost("an injected fault".to_owned())] {
        for lasting in [false, true] {
            for at in 0..40 {
                check(Some((at, fault.clone())), lasting);
            }
        }
    }
}

/// What must hold after a call, whatever it gave.
fn check_manners(engine: &CudaEngine, script: &Arc<Mutex<Script>>, fails: &Option<(usize, Fault)>, lasting: bool) {
    let script = script.lock().unwrap();
    assert_eq!(script.after_the_end, 0, "a context is not used after {fails:?}");
    let reached = fails.as_ref().is_some_and(|(at, _)| *at < script.done);
    let is_memory = fails.as_ref().is_some_and(|(_, fault)| *fault == Fault::Memory);
    let warned = engine.warnings().len();
    let expected = usize::from(reached && (lasting || !is_memory));
    assert_eq!(warned, expected, "{fails:?} lasting {lasting}: {:?}", engine.warnings());
    let on_cpu = engine.device().unwrap().rows_on_cpu;
    // A fault as the last rows come may leave none to do.
    assert!(on_cpu == 0 || expected > 0, "{fails:?} lasting {lasting}: {on_cpu} rows");
}

#[test]
fn fields_are_the_same_whatever_fails() {
    let plan = plan();
    let field = |engine: &dyn Engine, extras| -> Field {
        dwell::field(&plan, engine, Strategy::EveryPixel, extras, &Limits::default(), &Cancel::default()).unwrap()
    };
    for extras in [Extras::NONE, Extras::SMOOTH] {
        let truth = field(&cpu(), extras);
        each_fault(|fails, lasting| {
            let (engine, script) = engine(fails.clone(), lasting);
            // Twice, so that what a fault leaves behind is seen.
            for _ in 0..2 {
                let found = field(&engine, extras);
                assert_eq!(found.dwell(), truth.dwell(), "{fails:?} lasting {lasting}");
                assert_eq!(found.smooth(), truth.smooth(), "{fails:?} lasting {lasting}");
            }
            check_manners(&engine, &script, &fails, lasting);
        });
    }
}

#[test]
fn pictures_are_the_same_whatever_fails() {
    let plan = plan();
    for (by, depth, samples) in
        [(By::Banded, Depth::Eight, 1), (By::Smooth, Depth::Sixteen, 1), (By::Smooth, Depth::Eight, 2)]
    {
        let colouring = Colouring { by, scale: Scale::Root, ..Colouring::of(Palette::default()) };
        let painter = Painter::new(&colouring, plan.limit(), depth, samples);
        let field = dwell::field(
            &plan,
            &cpu(),
            Strategy::EveryPixel,
            colouring.extras(),
            &Limits::default(),
            &Cancel::default(),
        )
        .unwrap();
        let pixels = field.dwell().len() / (samples * samples) as usize;
        let mut truth = vec![0; pixels * painter.bytes_per_pixel()];
        painter.paint(field.all_rows(), &mut truth);
        each_fault(|fails, lasting| {
            let (engine, script) = engine(fails.clone(), lasting);
            assert!(engine.paints(&painter, Strategy::EveryPixel));
            let mut picture = vec![1; truth.len()];
            let progress = Progress::default();
            let painted = engine
                .paint(&plan, Strategy::EveryPixel, &painter, 0..66, &mut picture, &Cancel::default(), &progress)
                .unwrap();
            assert!(picture == truth, "{by:?} {samples} {fails:?} lasting {lasting}");
            assert_eq!(u128::from(painted.iterations), field.all_rows().iterations(plan.limit()));
            assert_eq!(painted.interior_pixels, field.interior_pixels());
            check_manners(&engine, &script, &fails, lasting);
        });
    }
}

#[test]
fn less_memory_is_asked_for_before_the_device_is_given_up() {
    // Full the first two times: the third has a quarter of the pixels.
    let (engine, script) = engine(Some((0, Fault::Memory)), false);
    let plan = plan();
    let field = |engine: &dyn Engine| {
        let limits = Limits::default();
        dwell::field(&plan, engine, Strategy::EveryPixel, Extras::NONE, &limits, &Cancel::default()).unwrap()
    };
    assert_eq!(field(&engine).dwell(), field(&cpu()).dwell());
    assert!(engine.warnings().is_empty());
    // 96 x 66 in pieces of 512 pixels, 5 rows each: 14 of them, started and finished; and two openings.
    assert_eq!(script.lock().unwrap().done, 1 + 4 + 2 * 14);
}

#[test]
fn distances_are_left_to_the_processors() {
    let (engine, script) = engine(None, false);
    let plan = plan();
    let field = |engine: &dyn Engine| {
        let limits = Limits::default();
        dwell::field(&plan, engine, Strategy::EveryPixel, Extras::DISTANCE, &limits, &Cancel::default()).unwrap()
    };
    assert_eq!(field(&engine).distance(), field(&cpu()).distance());
    assert_eq!((script.lock().unwrap().done, engine.device().unwrap().rows_on_cpu), (0, 66));
}

#[test]
fn a_render_tells_what_failed() {
    use dwell::store::{Leftovers, Output};
    use dwell::{Buffers, Format, Paint, Request};
    let plan = plan();
    let colouring = Colouring::of(Palette::default());
    let folder = std::env::temp_dir().join(format!("dwell-cuda-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let render = |engine: &dyn Engine, name: &str, hash: bool| {
        let format = Format::of_path(std::path::Path::new(name)).unwrap();
        let path = folder.join(name);
        let output = Output::create(&path, false, &Leftovers::default()).unwrap();
        let progress = Progress::default();
        let request = Request {
            plan: &plan,
            engine,
            strategy: Strategy::EveryPixel,
            verify: false,
            paint: Paint { colouring: &colouring, samples: 1, depth: Depth::Eight, text: "" },
            hash,
            journaling: None,
            limits: Limits::default(),
            watched: false,
            cancel: &Cancel::default(),
            progress: &progress,
        };
        let report = dwell::render(&request, vec![(format, output)], &mut Buffers::default()).unwrap();
        (std::fs::read(&path).unwrap(), report)
    };
    let (truth, _) = render(&cpu(), "cpu.ppm", true);
    // Painted where it is iterated, and not, when somebody wants a hash of the dwells.
    for hash in [false, true] {
        let (engine, _) = engine(Some((9, Fault::Lost("an injected fault".to_owned()))), true);
        let (bytes, report) = render(&engine, "cuda.ppm", hash);
        assert!(bytes == truth);
        assert!(report.warnings.iter().any(|w| w.contains("an injected fault")), "{:?}", report.warnings);
        let device = report.device.unwrap();
        assert!(device.rows_on_cpu > 0 && device.rows_on_cpu < 66, "{}", device.rows_on_cpu);
        assert_eq!(report.field_blake3.is_some(), hash);
    }
    // A PNG tells it at its end; all else is the same.
    let (truth, _) = render(&cpu(), "cpu.png", false);
    let (engine, _) = engine(Some((9, Fault::Lost("an injected fault".to_owned()))), true);
    let (bytes, report) = render(&engine, "cuda.png", false);
    let end = truth.len() - 12;
    let warning = &report.warnings[0];
    assert!(bytes[..end] == truth[..end] && bytes[bytes.len() - 12..] == truth[end..]);
    let chunk = &bytes[end..bytes.len() - 12];
    assert_eq!(&chunk[4..20], b"iTXtWarning\0\0\0\0\0");
    assert_eq!(&chunk[20..chunk.len() - 4], warning.as_bytes());
    let _ = std::fs::remove_dir_all(&folder);
}

/// An engine that is told to stop after some calls, as by Ctrl-C.
struct Stopper<'a> {
    inner: &'a dyn Engine,
    calls: Mutex<usize>,
    cancel: Cancel,
}

impl Stopper<'_> {
    fn call(&self) {
        let mut calls = self.calls.lock().unwrap();
        if *calls == 0 {
            self.cancel.cancel();
        } else {
            *calls -= 1;
        }
    }
}

impl Engine for Stopper<'_> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn level(&self) -> String {
        self.inner.level()
    }
    fn shortcuts(&self) -> dwell::Shortcuts {
        self.inner.shortcuts()
    }
    fn team(&self) -> &dwell::Team {
        self.inner.team()
    }
    fn work(&self) -> dwell::Work {
        self.inner.work()
    }
    fn bytes(&self, plan: &Plan, strategy: Strategy, extras: Extras) -> u64 {
        self.inner.bytes(plan, strategy, extras)
    }
    fn iterate(
        &self,
        plan: &Plan,
        strategy: Strategy,
        part: FieldPart<'_>,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<dwell::Spent, dwell::Error> {
        self.call();
        self.inner.iterate(plan, strategy, part, cancel, progress)
    }
    fn band_samples(&self) -> u64 {
        self.inner.band_samples()
    }
    fn mirrors(&self, strategy: Strategy, extras: Extras) -> bool {
        self.inner.mirrors(strategy, extras)
    }
    fn paints(&self, painter: &Painter, strategy: Strategy) -> bool {
        self.inner.paints(painter, strategy)
    }
    fn paint(
        &self,
        plan: &Plan,
        strategy: Strategy,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<dwell::Painted, dwell::Error> {
        self.call();
        self.inner.paint(plan, strategy, painter, rows, picture, cancel, progress)
    }
}

#[test]
fn a_journal_is_gone_on_with_by_whichever_engine() {
    use dwell::store::{Leftovers, Output};
    use dwell::{Buffers, Format, Journaling, Paint, Request};
    // Rows so long that a slice is a row, a band of the processors 16, and one of the pretended device all of them or 4.
    let view = View::centred("-0.6", "0.1", "1.2").unwrap().sized(Size::new(1 << 16, 52).unwrap());
    let plan = Plan::new(&view, &Settings { limit: 8, ..Settings::default() }, &Limits::default()).unwrap();
    let device = |pixels: u64| {
        let fake = Box::new(Fake(Arc::new(Mutex::new(Script::default()))));
        CudaEngine::over(device(), fake, cpu(), Options::default(), Pieces { pixels, fewest: 1 << 8 }).unwrap()
    };
    let (large, small, processors) = (device(1 << 22), device(1 << 18), cpu());
    let colouring = Colouring { by: By::Banded, ..Colouring::of(Palette::default()) };
    let folder = std::env::temp_dir().join(format!("dwell-cuda-journal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let render = |engine: &dyn Engine, cancel: &Cancel, hash: bool, format: Format| {
        let path = folder.join(format!("a.{}", format.name()));
        let output = Output::create(&path, false, &Leftovers::default()).unwrap();
        let request = Request {
            plan: &plan,
            engine,
            strategy: Strategy::EveryPixel,
            verify: false,
            paint: Paint { colouring: &colouring, samples: 1, depth: Depth::Eight, text: "" },
            hash,
            journaling: Some(Journaling { interval: std::time::Duration::ZERO, fresh: false }),
            limits: Limits::default(),
            watched: false,
            cancel,
            progress: &Progress::default(),
        };
        let report = dwell::render(&request, vec![(format, output)], &mut Buffers::default());
        (std::fs::read(&path).unwrap_or_default(), report)
    };
    for format in [Format::Ppm, Format::Npy] {
        // Others go the same way but for what is painted.
        let few = format == Format::Npy;
        let (truth, whole) = render(&processors, &Cancel::default(), true, format);
        let whole = whole.unwrap();
        let engines: [&dyn Engine; 3] = [&large, &small, &processors];
        for (i, first) in engines.into_iter().enumerate() {
            for (j, second) in engines.into_iter().enumerate() {
                for (hash_first, hash_second) in [(true, true), (true, false)] {
                    if few && (i, j, hash_second) != (0, 2, true) {
                        continue;
                    }
                    let what = format!("{format:?}, engine {i} then {j}, hash {hash_first} then {hash_second}");
                    let _ = std::fs::remove_file(folder.join(format!("a.{}", format.name())));
                    let cancel = Cancel::default();
                    let stopper = Stopper { inner: first, calls: Mutex::new(45), cancel: cancel.clone() };
                    let (_, stopped) = render(&stopper, &cancel, hash_first, format);
                    let (bytes, report) = render(second, &Cancel::default(), hash_second, format);
                    let report = report.unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(bytes == truth, "{what}");
                    assert_eq!(report.iterations, whole.iterations, "{what}");
                    assert_eq!(report.interior_pixels, whole.interior_pixels, "{what}");
                    if let Some(hash) = &report.field_blake3 {
                        assert_eq!(Some(hash), whole.field_blake3.as_ref(), "{what}");
                    }
                    assert!(
                        stopped.is_ok() || hash_first != hash_second || report.field_blake3.is_some() == hash_second
                    );
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn what_is_verified_is_asked_for_by_another_kernel() {
    let (engine, script) = engine(None, false);
    let plan = plan();
    let field = |strategy| {
        let (limits, cancel) = (Limits::default(), Cancel::default());
        dwell::field(&plan, &engine, strategy, Extras::NONE, &limits, &cancel).unwrap()
    };
    let steps = || script.lock().unwrap().done;
    field(Strategy::MarianiSilver);
    let once = steps();
    field(Strategy::EveryPixel);
    // The other lane was opened: as many steps as for the first.
    assert_eq!(steps(), 2 * once);
    field(Strategy::MarianiSilver);
    field(Strategy::EveryPixel);
    // Both were kept.
    assert_eq!(steps(), 4 * once - 2 * 4);
}
