//! The engine over a device that fails on request: results are the same after any fault at any operation.

use crate::deep::session::DeepSession;
use crate::driver::{Device, Fault};
use crate::engine::{CudaEngine, Pieces};
use crate::needs::{Capacity, Needs};
use crate::options::{GpuKernel, Options};
use crate::pool::SessionPool;
use crate::session::{Content, DeliveredRows, DeviceSession, Loss, OpenSession, PlanId, SLOTS, SessionSpec};
use dwell::{
    By, Cancel, Channel, ChannelSet, ChannelSlices, ChannelSlicesMut, Colouring, Control, Coverage, CpuEngine, Depth,
    DeviceReport, Engine, EngineInfo, Error, Field, FieldRows, FieldRowsMut, Format, Journaling, Layer, LayerContent,
    Level, Limits, Notes, Outcome, Paint, PaintOutcome, Painter, PaintingEngine, Palette, Plan, Progress, Request,
    Requirements, Samples, Scale, Scratch, Settings, Size, Strategy, Task, ThreadPool, View,
};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// When the device fails, and a count of its operations.
#[derive(Debug, Default)]
struct Script {
    /// Operations so far.
    done: usize,
    /// The first operation that fails, and its fault.
    fails: Option<(usize, Fault)>,
    /// Whether all later operations fail too.
    lasting: bool,
    /// Sessions opened, and plans loaded.
    opens: usize,
    loads: usize,
    /// Operations after the device was lost.
    after_loss: usize,
    lost: bool,
}

impl Script {
    fn step(&mut self) -> Result<(), Fault> {
        let number = self.done;
        self.done += 1;
        self.after_loss += usize::from(self.lost);
        match &self.fails {
            Some((first, fault)) if number == *first || (self.lasting && number > *first) => {
                self.lost |= *fault != Fault::Memory;
                Err(fault.clone())
            }
            _ => Ok(()),
        }
    }
}

const PIECES: Pieces = Pieces { pixels: 1 << 10, fewest: 1 << 8 };

/// A device whose sessions compute on the processors.
struct FakeDevice(Arc<Mutex<Script>>);

struct FakeSession {
    script: Arc<Mutex<Script>>,
    content: Content,
    room: Capacity,
    loaded: Option<FakePlan>,
    slots: [Done; SLOTS],
}

/// What a session has loaded.
struct FakePlan {
    id: PlanId,
    needs: Needs,
    plan: Plan,
    painter: Option<Painter>,
    next: u32,
}

/// Bytes, smooth values and totals of finished rows.
type Done = (Vec<u8>, Vec<u8>, (u64, u64));

fn cpu() -> CpuEngine {
    CpuEngine::new(Level::best(), 2)
}

impl OpenSession for FakeDevice {
    fn open(
        &self,
        _: &SessionSpec<'_>,
        needs: &Needs,
        room: &Capacity,
        _: &mut DeviceReport,
    ) -> Result<Box<dyn DeviceSession>, Fault> {
        // The context, and some allocations.
        for _ in 0..4 {
            self.0.lock().unwrap().step()?;
        }
        self.0.lock().unwrap().opens += 1;
        Ok(Box::new(FakeSession {
            script: Arc::clone(&self.0),
            content: needs.shape.content,
            room: *room,
            loaded: None,
            slots: Default::default(),
        }))
    }

    fn open_deep(&self, _: usize, _: &SessionPool, _: &mut DeviceReport) -> Result<Box<dyn DeepSession>, Fault> {
        Err(Fault::Lost("deep/faults.rs has these".to_owned()))
    }
}

impl DeviceSession for FakeSession {
    fn loss(&self, plan: &Plan) -> Loss {
        match &self.loaded {
            Some(loaded) if loaded.id.is_of(plan) => Loss::SamePlan,
            Some(FakePlan { id, needs, plan, next, .. })
                if !id.is_dropped() && needs.is_whole && *next < plan.size().height =>
            {
                Loss::Rows
            }
            _ => Loss::Nothing,
        }
    }

    fn has_colours(&self, spec: &SessionSpec<'_>) -> bool {
        spec.painter.is_none()
    }

    fn load(&mut self, spec: &SessionSpec<'_>, needs: &Needs) -> Result<(), Fault> {
        assert!(self.room.suffices(&needs.capacity) && self.content == spec.content);
        if self.loaded.as_ref().is_some_and(|loaded| loaded.id.is_of(spec.plan) && loaded.needs == *needs) {
            return Ok(());
        }
        let mut script = self.script.lock().unwrap();
        script.step()?;
        script.loads += 1;
        let painter = spec.painter.map(|painter| {
            let depth = if painter.bytes_per_pixel() == 3 { Depth::Eight } else { Depth::Sixteen };
            let (samples, dither) = (painter.samples(), painter.dither());
            Painter::new(painter.colouring(), spec.plan.limit(), depth, samples, dither).unwrap()
        });
        // As a device, a session does not keep the points alive.
        let plan = Plan::new(spec.plan.view(), &settings_of(spec.plan), &Limits::default()).unwrap();
        self.loaded = Some(FakePlan { id: PlanId::of(spec.plan), needs: *needs, plan, painter, next: 0 });
        Ok(())
    }

    fn start(&mut self, slot: usize, rows: Range<u32>, cancel: &Cancel) -> Result<(), Fault> {
        self.script.lock().unwrap().step()?;
        let Some(FakePlan { needs, plan, painter, next, .. }) = &mut self.loaded else { panic!("no plan") };
        *next = rows.end;
        let width = plan.size().width;
        assert!(rows.len() <= needs.rows as usize);
        let pixels = rows.len() * width as usize;
        let channels = match (&*painter, self.content) {
            (Some(painter), _) => painter.colouring().channels(),
            (None, Content::SmoothValues) => ChannelSet::SMOOTH,
            (None, _) => ChannelSet::NONE,
        };
        let with_smooth = channels.contains(Channel::Smooth);
        let (mut dwell, mut smooth) = (vec![0; pixels], vec![0.0; if with_smooth { pixels } else { 0 }]);
        let mut slices = ChannelSlicesMut::of_dwells(&mut dwell);
        slices[Channel::Smooth] = &mut smooth;
        let task = Task { plan, strategy: Strategy::EveryPixel, channels };
        let control = Control { cancel, progress: &Progress::default() };
        match cpu().run(&task, FieldRowsMut::new(width, rows.clone(), slices).unwrap(), &control) {
            // A cancelled device leaves rows out.
            Ok(_) | Err(Error::Interrupted) => {}
            Err(error) => panic!("{error}"),
        }
        let mut slices = ChannelSlices::of_dwells(&dwell);
        slices[Channel::Smooth] = &smooth;
        let field = FieldRows::new(width, slices).unwrap();
        self.slots[slot] = match painter {
            Some(painter) => {
                let samples = (painter.side() * painter.side()) as usize;
                let mut picture = vec![0; pixels / samples * painter.bytes_per_pixel()];
                painter.paint(field, rows.start / painter.side(), &mut picture);
                let totals = (field.iterations(plan.limit()) as u64, field.interior_pixels());
                (picture, Vec::new(), totals)
            }
            None => (bytemuck::cast_slice(&dwell).to_vec(), bytemuck::cast_slice(&smooth).to_vec(), (0, 0)),
        };
        Ok(())
    }

    fn finish(&mut self, slot: usize) -> Result<DeliveredRows<'_>, Fault> {
        self.script.lock().unwrap().step()?;
        let (bytes, smooth, totals) = &self.slots[slot];
        Ok(DeliveredRows { bytes, smooth, totals: *totals })
    }

    fn report(&mut self, _: &mut DeviceReport) {}
}

fn device() -> Device {
    Device {
        number: 0,
        name: "simulated".to_owned(),
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
    let fake = Arc::new(FakeDevice(Arc::clone(&script)));
    (CudaEngine::over(device(), fake, cpu(), Options::default(), PIECES).unwrap(), script)
}

/// The settings that a plan was made with.
fn settings_of(plan: &Plan) -> Settings {
    Settings { limit: plan.limit(), number: plan.number(), formula: plan.formula(), ..Settings::default() }
}

fn plan() -> Plan {
    let view = View::centred("-0.6", "0.1", "1.2").unwrap().sized(Size::new(96, 66).unwrap());
    Plan::new(&view, &Settings { limit: 120, ..Settings::default() }, &Limits::default()).unwrap()
}

/// Calls a check for every fault at every operation up to one that is never reached, once and lasting.
fn for_each_fault(mut check: impl FnMut(Option<(usize, Fault)>, bool)) {
    check(None, false);
    for fault in [Fault::Memory, Fault::Lost("an injected fault".to_owned())] {
        for lasting in [false, true] {
            for at in 0..40 {
                check(Some((at, fault.clone())), lasting);
            }
        }
    }
}

/// The field of a task and what the engine reported.
fn field(engine: &dyn Engine, plan: &Plan, strategy: Strategy, channels: ChannelSet) -> (Vec<u32>, Vec<f64>, Notes) {
    let size = plan.size();
    let pixels = size.pixels() as usize;
    let with_smooth = channels.contains(Channel::Smooth);
    let (mut dwell, mut smooth) = (vec![1; pixels], vec![1.0; if with_smooth { pixels } else { 0 }]);
    let mut slices = ChannelSlicesMut::of_dwells(&mut dwell);
    slices[Channel::Smooth] = &mut smooth;
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let task = Task { plan, strategy, channels };
    let rows = FieldRowsMut::new(size.width, 0..size.height, slices).unwrap();
    let notes = engine.run(&task, rows, &control).unwrap().notes;
    (dwell, smooth, notes)
}

/// The field by the processors.
fn truth(plan: &Plan, channels: ChannelSet) -> Field {
    let task = Task { plan, strategy: Strategy::EveryPixel, channels };
    dwell::field(&task, &cpu(), &Limits::default(), &Cancel::default()).unwrap()
}

/// The painter of a way to colour.
fn painter(plan: &Plan, by: By, depth: Depth, samples: u32, dither: bool) -> Painter {
    let colouring = Colouring { by, scale: Scale::Root, ..Colouring::of(Palette::default()) };
    Painter::new(&colouring, plan.limit(), depth, Samples::Fixed(samples), dither).unwrap()
}

/// A picture of a plan by an engine.
fn picture(engine: &CudaEngine, plan: &Plan, painter: &Painter) -> (Vec<u8>, PaintOutcome) {
    let size = plan.size();
    let pixels = size.pixels() as usize / (painter.side() * painter.side()) as usize;
    let mut picture = vec![1; pixels * painter.bytes_per_pixel()];
    let task = Task { plan, strategy: Strategy::EveryPixel, channels: painter.colouring().channels() };
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let outcome = engine.paint(&task, painter, 0..size.height, &mut picture, &control).unwrap();
    (picture, outcome)
}

/// What must hold for the notes of two calls that are made one after the other.
fn check_notes(notes: [&Notes; 2], script: &Arc<Mutex<Script>>, fails: &Option<(usize, Fault)>, lasting: bool) {
    let script = script.lock().unwrap();
    let what = format!("{fails:?} lasting {lasting}");
    assert_eq!(script.after_loss, 0, "the context is not used after {what}");
    let reached = fails.as_ref().is_some_and(|(at, _)| *at < script.done);
    let is_memory = fails.as_ref().is_some_and(|(_, fault)| *fault == Fault::Memory);
    let warnings = notes.map(|notes| notes.warnings.len());
    let devices = notes.map(|notes| notes.device.as_ref().unwrap());
    let on_cpu = devices.map(|device| device.rows_on_cpu);
    for call in 0..2 {
        // Rows are left to the processors with a warning, or since the device is lost. A fault with the last rows may
        // leave none to compute.
        assert!(on_cpu[call] == 0 || warnings[call] == 1 || devices[call].lost.is_some(), "{what}: {on_cpu:?}");
        assert!(warnings[call] <= 1 && (warnings[call] == 0 || reached), "{what}: {:?}", notes[call].warnings);
    }
    match reached {
        true if !is_memory => {
            // Lost in one of the calls, which alone has the warning.
            assert_eq!(warnings[0] + warnings[1], 1, "{what}");
            assert!(devices[1].lost.as_deref().is_some_and(|lost| lost.contains("injected")), "{what}");
            assert!(warnings[0] == 0 || on_cpu[1] == 66, "{what}: later calls do not try the device");
        }
        true if !lasting => assert_eq!(warnings, [0, 0], "{what}"),
        // Memory that stays full is tried again by each call.
        true => assert_eq!(warnings[1], 1, "{what}"),
        false => assert_eq!((warnings, on_cpu), ([0, 0], [0, 0]), "{what}"),
    }
}

#[test]
fn fields_are_equal_after_any_fault() {
    let plan = plan();
    for channels in [ChannelSet::NONE, ChannelSet::SMOOTH] {
        let truth = truth(&plan, channels);
        for_each_fault(|fails, lasting| {
            let (engine, script) = engine(fails.clone(), lasting);
            // Twice, so that state left by a fault shows.
            let [first, second] = [(); 2].map(|()| {
                let (dwell, smooth, notes) = field(&engine, &plan, Strategy::EveryPixel, channels);
                assert_eq!(dwell, truth.dwell(), "{fails:?} lasting {lasting}");
                assert_eq!(smooth, truth.smooth(), "{fails:?} lasting {lasting}");
                notes
            });
            check_notes([&first, &second], &script, &fails, lasting);
        });
    }
}

#[test]
fn pictures_are_equal_after_any_fault() {
    let plan = plan();
    for (by, depth, samples, dither) in [
        (By::Banded, Depth::Eight, 1, true),
        (By::Smooth, Depth::Sixteen, 1, false),
        (By::Smooth, Depth::Eight, 2, false),
        (By::Smooth, Depth::Eight, 2, true),
    ] {
        let painter = painter(&plan, by, depth, samples, dither);
        let field = truth(&plan, painter.colouring().channels());
        let pixels = field.dwell().len() / (samples * samples) as usize;
        let mut truth = vec![0; pixels * painter.bytes_per_pixel()];
        painter.paint(field.all_rows(), 0, &mut truth);
        for_each_fault(|fails, lasting| {
            let (engine, script) = engine(fails.clone(), lasting);
            let [first, second] = [(); 2].map(|()| {
                let (picture, painted) = picture(&engine, &plan, &painter);
                assert!(picture == truth, "{by:?} {samples} {fails:?} lasting {lasting}");
                assert_eq!(u128::from(painted.iterations), field.all_rows().iterations(plan.limit()));
                assert_eq!(painted.interior_pixels, field.interior_pixels());
                painted.notes
            });
            check_notes([&first, &second], &script, &fails, lasting);
        });
    }
}

#[test]
fn fewer_pixels_are_tried_before_the_device_is_given_up() {
    // The memory is full at first; the next try has half of the pixels.
    let (engine, script) = engine(Some((0, Fault::Memory)), false);
    let plan = plan();
    let (dwell, _, notes) = field(&engine, &plan, Strategy::EveryPixel, ChannelSet::NONE);
    assert_eq!(dwell, truth(&plan, ChannelSet::NONE).dwell());
    assert!(notes.warnings.is_empty());
    // 96 x 66 pixels in pieces of 512, which is 5 rows: 14 pieces, each started and finished; and two attempts to open,
    // and one to load the plan.
    assert_eq!(script.lock().unwrap().done, 1 + 4 + 1 + 2 * 14);
}

#[test]
fn distances_are_computed_by_the_processors() {
    let (engine, script) = engine(None, false);
    let plan = plan();
    let size = plan.size();
    let pixels = size.pixels() as usize;
    let (mut dwell, mut distance) = (vec![0; pixels], vec![0.0; pixels]);
    let mut slices = ChannelSlicesMut::of_dwells(&mut dwell);
    slices[Channel::Distance] = &mut distance;
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::DISTANCE };
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let rows = FieldRowsMut::new(size.width, 0..size.height, slices).unwrap();
    let notes = engine.run(&task, rows, &control).unwrap().notes;
    assert_eq!(distance, truth(&plan, ChannelSet::DISTANCE).distance());
    assert_eq!((script.lock().unwrap().done, notes.device.unwrap().rows_on_cpu), (0, 66));
}

#[test]
fn layers_are_painted_by_the_processors() {
    let plan = plan();
    // Of the channels of the device, and of channels that processors compute.
    let flat = Layer::of(LayerContent::Flat { colour: [65535, 0, 0], over: Coverage::Interior });
    for (layer, device_computes) in [(flat, true), (Layer::slope(), false)] {
        let (engine, script) = engine(None, false);
        let colouring = Colouring { layers: vec![layer], ..Colouring::default() };
        let painter = Painter::new(&colouring, plan.limit(), Depth::Eight, Samples::Fixed(1), false).unwrap();
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: colouring.channels() };
        assert!(engine.painting().is_none_or(|painting| !painting.can_paint(&task, &painter)));
        let truth = truth(&plan, colouring.channels());
        let mut expected = vec![0; truth.dwell().len() * 3];
        painter.paint(truth.all_rows(), 0, &mut expected);
        let field = dwell::field(&task, &engine, &Limits::default(), &Cancel::default()).unwrap();
        assert!(field.dwell() == truth.dwell());
        let mut picture = vec![0; expected.len()];
        painter.paint(field.all_rows(), 0, &mut picture);
        assert!(picture == expected);
        assert_eq!(script.lock().unwrap().done > 0, device_computes);
    }
}

#[test]
fn what_does_not_fit_together_is_an_input_error() {
    let (engine, script) = engine(None, false);
    let plan = plan();
    let painter = painter(&plan, By::Banded, Depth::Eight, 2, false);
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    // Another length, half a pixel, rows outside of the image, and a strategy without a kernel.
    for (rows, bytes, strategy) in [
        (0..66, 48 * 33 * 3 - 1, Strategy::EveryPixel),
        (0..65, 48 * 32 * 3, Strategy::EveryPixel),
        (60..68, 48 * 4 * 3, Strategy::EveryPixel),
        (0..66, 48 * 33 * 3, Strategy::BoundaryTrace),
    ] {
        let painted = engine.paint(&Task { strategy, ..task }, &painter, rows, &mut vec![0; bytes], &control);
        assert!(matches!(painted, Err(Error::Input(_))), "{bytes}");
    }
    let mut dwell = vec![0; 96];
    let rows = FieldRowsMut::new(96, 66..67, ChannelSlicesMut::of_dwells(&mut dwell)).unwrap();
    assert!(matches!(engine.run(&task, rows, &control), Err(Error::Input(_))));
    // A kernel for another formula.
    let ship = dwell::Formula::new(dwell::Fold::Absolute, 2).unwrap();
    let settings = Settings { formula: ship, limit: 10, ..Settings::default() };
    let plan = Plan::new(plan.view(), &settings, &Limits::default()).unwrap();
    let options = Options { kernel: GpuKernel::DeviceLaunches, ..Options::default() };
    let fake = Arc::new(FakeDevice(Arc::clone(&script)));
    let engine = CudaEngine::over(device(), fake, cpu(), options, PIECES).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::MarianiSilver, channels: ChannelSet::NONE };
    let rows = FieldRowsMut::new(96, 0..1, ChannelSlicesMut::of_dwells(&mut dwell)).unwrap();
    assert!(matches!(engine.run(&task, rows, &control), Err(Error::Input(_))));
    assert_eq!(script.lock().unwrap().done, 0);
}

#[test]
fn a_render_reports_a_fault() {
    use dwell::store::{Output, PartialFiles};
    let plan = plan();
    let colouring = Colouring::of(Palette::default());
    let folder = std::env::temp_dir().join(format!("dwell-cuda-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let render = |engine: &dyn Engine, name: &str, hash: bool| {
        let format = Format::of_path(std::path::Path::new(name)).unwrap();
        let path = folder.join(name);
        let output = Output::create(&path, false, &PartialFiles::default()).unwrap();
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let paint =
            Paint { colouring: &colouring, samples: Samples::Fixed(1), dither: false, depth: Depth::Eight, text: "" };
        let control = Control { cancel: &cancel, progress: &progress };
        let request = Request::new(&plan, engine, paint, control).with_hash(hash);
        let report = dwell::render(&request, vec![(format, output)], &mut Scratch::default()).unwrap();
        (std::fs::read(&path).unwrap(), report)
    };
    let (truth, _) = render(&cpu(), "cpu.ppm", true);
    let lost = || Some((9, Fault::Lost("an injected fault".to_owned())));
    // Painted on the device, and on the processors where the dwells are hashed.
    for hash in [false, true] {
        let (engine, _) = engine(lost(), true);
        let (bytes, report) = render(&engine, "cuda.ppm", hash);
        assert!(bytes == truth);
        assert!(report.warnings.iter().any(|w| w.contains("an injected fault")), "{:?}", report.warnings);
        let device = report.device.unwrap();
        assert!(device.rows_on_cpu > 0 && device.rows_on_cpu < 66, "{}", device.rows_on_cpu);
        assert_eq!(device.lost.as_deref(), Some("an injected fault"));
        assert_eq!(report.field_blake3.is_some(), hash);
    }
    // A PNG has the warning at its end; all other bytes are the same.
    let (truth, _) = render(&cpu(), "cpu.png", false);
    let (engine, _) = engine(lost(), true);
    let (bytes, report) = render(&engine, "cuda.png", false);
    let end = truth.len() - 12;
    let warning = &report.warnings[0];
    assert!(bytes[..end] == truth[..end] && bytes[bytes.len() - 12..] == truth[end..]);
    let chunk = &bytes[end..bytes.len() - 12];
    assert_eq!(&chunk[4..20], b"iTXtWarning\0\0\0\0\0");
    assert_eq!(&chunk[20..chunk.len() - 4], warning.as_bytes());
    // Later renders do not use the device: their files have no warning, and are equal each time.
    for _ in 0..2 {
        let (bytes, report) = render(&engine, "cuda.png", false);
        assert!(bytes == truth && report.warnings.is_empty(), "{:?}", report.warnings);
        let device = report.device.unwrap();
        assert_eq!((device.rows_on_cpu, device.lost.as_deref()), (66, Some("an injected fault")));
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// An engine that is cancelled after some calls, as by Ctrl-C.
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
    fn info(&self) -> EngineInfo {
        self.inner.info()
    }
    fn pool(&self) -> &ThreadPool {
        self.inner.pool()
    }
    fn requirements(&self, task: &Task<'_>, rows: u32) -> Requirements {
        self.inner.requirements(task, rows)
    }
    fn run(&self, task: &Task<'_>, rows: FieldRowsMut<'_>, control: &Control<'_>) -> Result<Outcome, Error> {
        self.call();
        self.inner.run(task, rows, control)
    }
    fn painting(&self) -> Option<&dyn PaintingEngine> {
        self.inner.painting().map(|_| self as &dyn PaintingEngine)
    }
}

impl PaintingEngine for Stopper<'_> {
    fn can_paint(&self, task: &Task<'_>, painter: &Painter) -> bool {
        self.inner.painting().is_some_and(|inner| inner.can_paint(task, painter))
    }
    fn paint(
        &self,
        task: &Task<'_>,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        control: &Control<'_>,
    ) -> Result<PaintOutcome, Error> {
        self.call();
        self.inner.painting().unwrap().paint(task, painter, rows, picture, control)
    }
}

#[test]
fn a_journal_is_resumed_by_any_engine() {
    use dwell::store::{Output, PartialFiles};
    // Rows so long that a slice is one row, a band of the processors 16, and a band of the simulated device all rows or
    // 4.
    let view = View::centred("-0.6", "0.1", "1.2").unwrap().sized(Size::new(1 << 16, 52).unwrap());
    let plan = Plan::new(&view, &Settings { limit: 8, ..Settings::default() }, &Limits::default()).unwrap();
    let device = |pixels: u64| {
        let fake = Arc::new(FakeDevice(Arc::new(Mutex::new(Script::default()))));
        CudaEngine::over(device(), fake, cpu(), Options::default(), Pieces { pixels, fewest: 1 << 8 }).unwrap()
    };
    let (large, small, processors) = (device(1 << 22), device(1 << 18), cpu());
    let colouring = Colouring { by: By::Banded, ..Colouring::of(Palette::default()) };
    let folder = std::env::temp_dir().join(format!("dwell-cuda-journal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let render = |engine: &dyn Engine, cancel: &Cancel, hash: bool, format: Format| {
        let path = folder.join(format!("a.{}", format.name()));
        let output = Output::create(&path, false, &PartialFiles::default()).unwrap();
        let progress = Progress::default();
        let paint =
            Paint { colouring: &colouring, samples: Samples::Fixed(1), dither: false, depth: Depth::Eight, text: "" };
        let interval = Some(std::time::Duration::ZERO);
        let journaling = Journaling { interval, fresh: false, protected: std::time::Duration::ZERO };
        let request = Request::new(&plan, engine, paint, Control { cancel, progress: &progress })
            .with_hash(hash)
            .with_journal(Some(journaling));
        let report = dwell::render(&request, vec![(format, output)], &mut Scratch::default());
        (std::fs::read(&path).unwrap_or_default(), report)
    };
    for format in [Format::Ppm, Format::Npy] {
        // Other formats take the same path except for painting.
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
fn verification_uses_another_kernel() {
    let (engine, script) = engine(None, false);
    let plan = plan();
    let compute = |strategy| field(&engine, &plan, strategy, ChannelSet::NONE);
    let steps = || script.lock().unwrap().done;
    compute(Strategy::MarianiSilver);
    let once = steps();
    compute(Strategy::EveryPixel);
    // The other session was opened: as many steps as for the first.
    assert_eq!(steps(), 2 * once);
    compute(Strategy::MarianiSilver);
    compute(Strategy::EveryPixel);
    // Both were kept.
    assert_eq!(steps(), 4 * once - 2 * (4 + 1));
}

/// The plan of a small tile: its place and its size depend on its number.
fn tile(number: u32) -> Plan {
    let re = format!("-{}e-4", 5000 + number);
    let size = Size::new(29 + number % 4, 21 + number % 3).unwrap();
    let view = View::centred(&re, "0.55", "40").unwrap().sized(size);
    Plan::new(&view, &Settings { limit: 40, ..Settings::default() }, &Limits::default()).unwrap()
}

/// The pictures of some tiles, by two threads at once on one engine.
fn tiles_by_two_threads(engine: &CudaEngine, count: u32) -> Vec<(Vec<u8>, Notes)> {
    let numbers: Vec<u32> = (0..count).collect();
    let draw = |numbers: &[u32]| -> Vec<_> {
        let draw = |number: &u32| {
            let plan = tile(*number);
            let (picture, outcome) = picture(engine, &plan, &painter(&plan, By::Banded, Depth::Eight, 1, false));
            (picture, outcome.notes)
        };
        numbers.iter().map(draw).collect()
    };
    let (first, second) = numbers.split_at(numbers.len() / 2);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| draw(second));
        let mut pictures = draw(first);
        pictures.extend(second.join().unwrap());
        pictures
    })
}

#[test]
fn tiles_at_different_places_share_sessions() {
    let (engine, script) = engine(None, false);
    for (number, (picture, notes)) in (0..).zip(tiles_by_two_threads(&engine, 1000)) {
        let plan = tile(number);
        let field = truth(&plan, ChannelSet::NONE);
        let mut truth = vec![0; picture.len()];
        painter(&plan, By::Banded, Depth::Eight, 1, false).paint(field.all_rows(), 0, &mut truth);
        assert!(picture == truth, "tile {number}");
        assert!(notes.warnings.is_empty());
    }
    let script = script.lock().unwrap();
    // The sizes round up to one of two: at most a session of each for each thread. Every tile is loaded once.
    assert!(script.opens <= 4 && script.loads == 1000, "{} opened, {} loaded", script.opens, script.loads);
}

#[test]
fn a_fault_in_one_thread_leaves_the_pictures_of_both() {
    let truth = tiles_by_two_threads(&engine(None, false).0, 60);
    for at in [0, 3, 5, 50, 101] {
        let (engine, script) = engine(Some((at, Fault::Lost("an injected fault".to_owned()))), true);
        let found = tiles_by_two_threads(&engine, 60);
        assert!(found.iter().zip(&truth).all(|(found, truth)| found.0 == truth.0), "operation {at}");
        // The device is used by at most one call of each thread when it is lost.
        let warned = found.iter().filter(|(_, notes)| !notes.warnings.is_empty()).count();
        assert!((1..=2).contains(&warned), "operation {at}: {warned} warnings");
        assert!(found.iter().all(|(_, notes)| notes.warnings.len() <= 1));
        // Later calls do not use it.
        let done = script.lock().unwrap().done;
        let again = tiles_by_two_threads(&engine, 10);
        assert!(again.iter().all(|(_, notes)| notes.warnings.is_empty()));
        assert!(again.iter().all(|(_, notes)| notes.device.as_ref().is_some_and(|device| device.lost.is_some())));
        assert_eq!(script.lock().unwrap().done, done);
    }
}

#[test]
fn bands_of_one_plan_use_one_session_while_others_are_rendered() {
    let (engine, script) = engine(None, false);
    let (large, other) = (plan(), plan());
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let mut dwell = vec![0; 96 * 66];
    for (rows, plan) in [(0..33, &large), (0..66, &other), (33..66, &large), (0..66, &other)] {
        let task = Task { plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
        let slices = ChannelSlicesMut::of_dwells(&mut dwell[..96 * rows.len()]);
        engine.run(&task, FieldRowsMut::new(96, rows, slices).unwrap(), &control).unwrap();
    }
    let script = script.lock().unwrap();
    // The second plan did not take the session of the first between its bands.
    assert_eq!((script.opens, script.loads), (2, 2));
}

#[test]
fn free_sessions_are_closed_before_fewer_pixels_are_computed_at_once() {
    let plan = plan();
    let truth = truth(&plan, ChannelSet::NONE);
    // Bytes for either of two sessions, and for both.
    for (memory_bytes, opens) in [(160_000, 4), (1_000_000, 2)] {
        let script = Arc::default();
        let fake = Arc::new(FakeDevice(Arc::clone(&script)));
        let options = Options { memory_bytes, ..Options::default() };
        let engine = CudaEngine::over(device(), fake, cpu(), options, PIECES).unwrap();
        for strategy in [Strategy::MarianiSilver, Strategy::EveryPixel].repeat(2) {
            let (dwell, _, notes) = field(&engine, &plan, strategy, ChannelSet::NONE);
            assert!(dwell == truth.dwell() && notes.warnings.is_empty(), "{:?}", notes.warnings);
        }
        assert_eq!(script.lock().unwrap().opens, opens, "{memory_bytes}");
    }
}

#[test]
fn sessions_are_kept_where_memory_is_short() {
    let plan = plan();
    let truth = truth(&plan, ChannelSet::NONE);
    let script = Arc::default();
    let fake = Arc::new(FakeDevice(Arc::clone(&script)));
    // Room for half of the usual pixels at once, which is found out without the device.
    let options = Options { memory_bytes: 30_000, ..Options::default() };
    let engine = CudaEngine::over(device(), fake, cpu(), options, PIECES).unwrap();
    for _ in 0..3 {
        let (dwell, _, notes) = field(&engine, &plan, Strategy::EveryPixel, ChannelSet::NONE);
        assert!(dwell == truth.dwell() && notes.warnings.is_empty(), "{:?}", notes.warnings);
    }
    let script = script.lock().unwrap();
    // Pieces of 5 rows.
    assert_eq!((script.opens, script.loads, script.done), (1, 1, 4 + 1 + 3 * 2 * 14));
}

#[test]
fn requirements_are_within_the_memory() {
    let plan = plan();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::SMOOTH };
    let requirements = |memory_bytes| {
        let fake = Arc::new(FakeDevice(Arc::default()));
        let options = Options { memory_bytes, ..Options::default() };
        CudaEngine::over(device(), fake, cpu(), options, PIECES).unwrap().requirements(&task, plan.size().height)
    };
    let (all, little) = (requirements(u64::MAX), requirements(1 << 16));
    // Dwells, both parts of z_n and smooth values of 96 x 66 pixels, rounded up, and coordinates and tables.
    assert!((96 * 66 * 20..4 << 20).contains(&all.device_bytes), "{all:?}");
    assert!(little.device_bytes < 1 << 20 && all.mirrors && all.host_bytes > 96 * 66 * 12);
    let distances = Task { channels: ChannelSet::DISTANCE, ..task };
    let fake = Arc::new(FakeDevice(Arc::default()));
    let engine = CudaEngine::over(device(), fake, cpu(), Options::default(), PIECES).unwrap();
    assert_eq!(engine.requirements(&distances, 64), cpu().requirements(&distances, 64));
}
