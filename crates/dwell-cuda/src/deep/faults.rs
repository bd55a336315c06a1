//! The engine over deep sessions that fail on request: results are the same after any fault at any operation.

use super::pixels::CHANNELS;
use super::session::{DeepSession, Part};
use crate::driver::{Device, Fault};
use crate::engine::{CudaEngine, Pieces};
use crate::needs::{Capacity, Needs};
use crate::options::Options;
use crate::pool::SessionPool;
use crate::session::{DeviceSession, OpenSession, SessionSpec};
use dwell::{
    Attempted, Automatic, Cancel, Channel, ChannelSet, ChannelSlicesMut, Control, Course, CpuEngine, DeepAttempt,
    DeepPoints, DeviceReport, Easing, Engine, Error, FieldRowsMut, Film, Level, Limits, Means, Notes, NumberKind, Plan,
    Progress, Resampler, Samples, Scene, Scratch, Settings, Shared, Size, Strategy, Task, View, store,
};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// When the device fails, and a count of its operations.
#[derive(Debug, Default)]
struct Script {
    done: usize,
    /// The first operation that fails, and its fault.
    fails: Option<(usize, Fault)>,
    /// Whether all later operations fail too.
    lasting: bool,
    /// The operation at which a render is cancelled.
    cancels: Option<usize>,
    after_loss: usize,
    lost: bool,
}

impl Script {
    fn step(script: &Arc<Mutex<Self>>) -> Result<(), Fault> {
        let mut script = script.lock().unwrap();
        let number = script.done;
        script.done += 1;
        script.after_loss += usize::from(script.lost);
        match script.fails.clone() {
            Some((first, fault)) if number == first || (script.lasting && number > first) => {
                script.lost |= fault != Fault::Memory;
                Err(fault)
            }
            _ => Ok(()),
        }
    }
}

/// Opens sessions, which it is given the number of.
type Open = dyn Fn(usize) -> Result<Box<dyn DeepSession>, Fault> + Send + Sync;

/// A device that opens nothing but deep sessions.
pub(super) struct TestDevice {
    open: Box<Open>,
}

impl TestDevice {
    /// An engine over sessions that are opened so.
    pub(super) fn engine(open: impl Fn() -> Box<dyn DeepSession> + Send + Sync + 'static) -> CudaEngine {
        Self::over(move |_| Ok(open()))
    }

    fn over(open: impl Fn(usize) -> Result<Box<dyn DeepSession>, Fault> + Send + Sync + 'static) -> CudaEngine {
        let device = Device {
            number: 0,
            name: "simulated".to_owned(),
            capability: (9, 0),
            memory_bytes: 1 << 40,
            multiprocessors: 1,
            threads_per_multiprocessor: 2048,
            clock_khz: 1,
            memory_clock_khz: 1,
            driver: "13.0".to_owned(),
        };
        let pieces = Pieces { pixels: 1 << 10, fewest: 1 << 8 };
        CudaEngine::over(device, Arc::new(Self { open: Box::new(open) }), processors(), Options::default(), pieces)
            .unwrap()
    }
}

impl OpenSession for TestDevice {
    fn open(
        &self,
        _: &SessionSpec<'_>,
        _: &Needs,
        _: &Capacity,
        _: &mut DeviceReport,
    ) -> Result<Box<dyn DeviceSession>, Fault> {
        Err(Fault::Lost("only deep sessions are opened".to_owned()))
    }

    fn open_deep(&self, pixels: usize, _: &SessionPool, _: &mut DeviceReport) -> Result<Box<dyn DeepSession>, Fault> {
        (self.open)(pixels)
    }
}

pub(super) fn processors() -> CpuEngine {
    CpuEngine::new(Level::best(), 2)
}

/// A session that knows the values of all pixels of [`deep_plan`], and leaves some of them open.
struct FakeSession {
    script: Arc<Mutex<Script>>,
    truth: Arc<Values>,
    capacity: usize,
    rows: Range<u32>,
    /// Whether the pixels are those of [`deep_plan`]. Others are all left open.
    knows: bool,
    is_decided: Vec<bool>,
}

/// Dwells and the other values of [`CHANNELS`].
pub(super) type Values = (Vec<u32>, [Vec<f64>; CHANNELS.len()]);

/// Those of [`deep_plan`].
fn truth() -> Arc<Values> {
    static TRUTH: OnceLock<Arc<Values>> = OnceLock::new();
    let channels = ChannelSet::SMOOTH.and(ChannelSet::DISTANCE);
    Arc::clone(TRUTH.get_or_init(|| Arc::new(field_of(&processors(), &deep_plan(), channels).0)))
}

impl FakeSession {
    fn open(&self) -> Vec<u32> {
        let open = self.is_decided.iter().zip(0..).filter(|(is_decided, _)| !**is_decided);
        open.map(|(_, pixel)| pixel).collect()
    }

    fn decide(&mut self, in_f64: bool) {
        for (pixel, is_decided) in self.is_decided.iter_mut().enumerate() {
            // Some are left to later attempts, and some to the processors.
            *is_decided |= self.knows && pixel % 7 != 3 && (pixel % 5 != 1 || !in_f64);
        }
    }
}

impl DeepSession for FakeSession {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn begin(&mut self, points: &DeepPoints, rows: Range<u32>) -> Result<(), Fault> {
        Script::step(&self.script)?;
        let begun = points.in_rows(rows.clone());
        let pixels = begun.width as usize * begun.height as usize;
        assert!(pixels <= self.capacity);
        self.is_decided = vec![false; pixels];
        // Lists and patches are of other points.
        self.knows = !begun.is_list && begun.width as usize == WIDTH;
        self.rows = rows;
        Ok(())
    }

    fn attempt(&mut self, attempt: &DeepAttempt<'_>, _: &SessionPool, cancel: &Cancel) -> Result<Attempted, Fault> {
        Script::step(&self.script)?;
        {
            let script = self.script.lock().unwrap();
            if script.cancels.is_some_and(|at| script.done > at) {
                cancel.cancel();
                return Ok(Attempted::default());
            }
        }
        let before = self.open().len();
        self.decide(!attempt.is_in_pairs());
        // So many steps that the processors would take longer for what is left.
        let decided = (before - self.open().len()) as u64;
        Ok(Attempted { decided, seconds: 0.01, steps: 1 << 40, ..Attempted::default() })
    }

    fn finish(&mut self, channels: ChannelSet, store: &mut dyn FnMut(Part, &[u8])) -> Result<Vec<u32>, Fault> {
        Script::step(&self.script)?;
        let first = self.rows.start as usize * WIDTH;
        let pixels = self.is_decided.iter().enumerate();
        // What is not decided has any value.
        let dwell =
            pixels.clone().map(|(pixel, is_decided)| if *is_decided { self.truth.0[first + pixel] } else { 77 });
        store(Part::Dwells, bytemuck::cast_slice(&dwell.collect::<Vec<u32>>()));
        for (channel, truth) in
            CHANNELS.into_iter().zip(&self.truth.1).filter(|(channel, _)| channels.contains(*channel))
        {
            let values = pixels.clone().map(|(pixel, is_decided)| if *is_decided { truth[first + pixel] } else { 7.7 });
            store(Part::Values(channel), bytemuck::cast_slice(&values.collect::<Vec<f64>>()));
        }
        Ok(self.open())
    }

    fn report(&mut self, _: &mut DeviceReport) {}
}

fn engine(script: Script) -> (CudaEngine, Arc<Mutex<Script>>) {
    let script = Arc::new(Mutex::new(script));
    let of_device = Arc::clone(&script);
    let engine = TestDevice::over(move |pixels| {
        // The context, and some allocations.
        for _ in 0..3 {
            Script::step(&of_device)?;
        }
        let script = Arc::clone(&of_device);
        // In several pieces.
        let capacity = (pixels >> 11).max(64 * 11);
        Ok(Box::new(FakeSession { script, truth: truth(), capacity, rows: 0..0, knows: true, is_decided: Vec::new() }))
    });
    (engine, script)
}

/// The plan of a view in exact arithmetic.
pub(super) fn plan_of(view: &View, limit: u64) -> Plan {
    Plan::new(view, &Settings { limit, number: NumberKind::Exact, ..Settings::default() }, &Limits::default()).unwrap()
}

/// The columns of [`deep_plan`].
const WIDTH: usize = 64;

fn deep_plan() -> Plan {
    let (re, im) = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
    plan_of(&View::centred(re, im, "1e27").unwrap().sized(Size::new(64, 36).unwrap()), 4000)
}

/// The field of a plan, and what was noted.
pub(super) fn field_of(engine: &dyn Engine, plan: &Plan, channels: ChannelSet) -> (Values, Notes) {
    let size = plan.size();
    let pixels = size.pixels() as usize;
    let mut dwell = vec![1; pixels];
    let mut values = CHANNELS.map(|channel| vec![1.0; if channels.contains(channel) { pixels } else { 0 }]);
    let mut slices = ChannelSlicesMut::of_dwells(&mut dwell);
    for (channel, values) in CHANNELS.into_iter().zip(&mut values) {
        slices[channel] = values;
    }
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let task = Task { plan, strategy: Strategy::Auto, channels };
    let rows = FieldRowsMut::new(size.width, 0..size.height, slices).unwrap();
    let notes = engine.run(&task, rows, &control).unwrap().notes;
    ((dwell, values), notes)
}

#[test]
fn deep_fields_are_equal_after_any_fault() {
    let plan = deep_plan();
    for channels in [ChannelSet::NONE, ChannelSet::SMOOTH, ChannelSet::SMOOTH.and(ChannelSet::DISTANCE)] {
        let (field, _) = field_of(&processors(), &plan, channels);
        let mut reached = 0;
        for fault in [Fault::Memory, Fault::Lost("an injected fault".to_owned())] {
            for lasting in [false, true] {
                for at in 0..30 {
                    let what = format!("{fault:?} at {at}, lasting {lasting}");
                    let fails = Some((at, fault.clone()));
                    let (engine, script) = engine(Script { fails, lasting, ..Script::default() });
                    // Twice, so that state left by a fault shows.
                    let notes = [(); 2].map(|()| {
                        let (own, notes) = field_of(&engine, &plan, channels);
                        assert!(own == field, "{what}");
                        notes
                    });
                    let script = script.lock().unwrap();
                    assert_eq!(script.after_loss, 0, "the context is not used after {what}");
                    let warned: usize = notes.iter().map(|notes| notes.warnings.len()).sum();
                    let on_cpu = notes.each_ref().map(|notes| notes.device.as_ref().unwrap().rows_on_cpu);
                    if script.done <= at {
                        assert_eq!((warned, on_cpu), (0, [0, 0]), "{what}");
                        continue;
                    }
                    reached += 1;
                    if fault == Fault::Memory {
                        // Memory that is full once is tried again with less.
                        assert!(lasting || warned <= 1, "{what}");
                    } else {
                        assert_eq!(warned, 1, "only the call that loses the device warns: {what}");
                        assert!(notes[1].device.as_ref().unwrap().lost.is_some(), "{what}");
                    }
                }
            }
        }
        assert!(reached > 40, "{reached}");
    }
}

/// Waits until the device is ready.
fn wait_for(engine: &CudaEngine) {
    while engine.deep_sessions.is_getting_ready() {
        std::thread::yield_now();
    }
}

#[test]
fn processors_compute_until_the_device_is_ready() {
    let plan = deep_plan();
    let (opens, waits) = std::sync::mpsc::channel();
    let waits = Mutex::new(waits);
    let engine = TestDevice::over(move |_| {
        waits.lock().unwrap().recv().unwrap();
        let (script, capacity) = (Arc::default(), WIDTH * 36);
        Ok(Box::new(FakeSession { script, truth: truth(), capacity, rows: 0..0, knows: true, is_decided: Vec::new() }))
    });
    engine.get_ready_for_deep_views();
    let (field, _) = field_of(&processors(), &plan, ChannelSet::NONE);
    for (is_ready, on_cpu) in [(false, 36), (true, 0)] {
        if is_ready {
            opens.send(()).unwrap();
            wait_for(&engine);
        }
        let (own, notes) = field_of(&engine, &plan, ChannelSet::NONE);
        assert!(own == field && notes.warnings.is_empty(), "ready: {is_ready}");
        assert_eq!(notes.device.unwrap().rows_on_cpu, on_cpu, "ready: {is_ready}");
    }
}

#[test]
fn a_session_is_opened_while_the_caller_does_other_things() {
    let plan = deep_plan();
    let (field, _) = field_of(&processors(), &plan, ChannelSet::NONE);
    let (ready, script) = engine(Script::default());
    ready.get_ready_for_deep_views();
    ready.get_ready_for_deep_views();
    wait_for(&ready);
    let (own, notes) = field_of(&ready, &plan, ChannelSet::NONE);
    assert!(own == field && notes.warnings.is_empty());
    assert_eq!(notes.device.unwrap().rows_on_cpu, 0);
    let (other, of_other) = engine(Script::default());
    field_of(&other, &plan, ChannelSet::NONE);
    assert_eq!(script.lock().unwrap().done, of_other.lock().unwrap().done, "it is opened once");
    // Its faults are those of the call that needs it.
    for at in 0..3 {
        for fault in [Fault::Memory, Fault::Lost("an injected fault".to_owned())] {
            let (failing, script) = engine(Script { fails: Some((at, fault.clone())), ..Script::default() });
            failing.get_ready_for_deep_views();
            wait_for(&failing);
            let (own, notes) = field_of(&failing, &plan, ChannelSet::NONE);
            assert!(own == field, "{fault:?} at {at}");
            assert_eq!(notes.warnings.len(), usize::from(fault != Fault::Memory), "{fault:?} at {at}");
            assert_eq!(script.lock().unwrap().after_loss, 0, "the context is not used after {fault:?} at {at}");
        }
    }
    // An engine that is not used waits for the thread.
    let (unused, script) = engine(Script::default());
    unused.get_ready_for_deep_views();
    drop(unused);
    assert_eq!(Arc::strong_count(&script), 1);
}

/// The scene of [`deep_plan`] with further samples.
fn refined_scene(size: Size) -> Scene {
    let plan = deep_plan();
    Scene {
        view: plan.view().clone().sized(size),
        settings: Settings { limit: plan.limit(), number: NumberKind::Exact, ..Settings::default() },
        samples: Samples::Auto,
        automatic: Automatic::NONE,
        ..Scene::default()
    }
}

#[test]
fn lists_of_two_threads_are_equal_after_a_fault() {
    let mut scene = refined_scene(Size::new(240, 135).unwrap());
    scene.settings.limit = 40_000;
    let picture = |engine: &dyn Engine| dwell::picture(&scene, engine, &Limits::default(), &Cancel::default()).unwrap();
    let expected = picture(&processors());
    let (faultless, script) = engine(Script::default());
    let own = picture(&faultless);
    assert!(own.bytes() == expected.bytes() && own.notes().warnings.is_empty());
    let operations = script.lock().unwrap().done;
    let (of_field, script) = engine(Script::default());
    let unrefined = Scene { samples: Samples::Fixed(1), ..scene.clone() };
    dwell::picture(&unrefined, &of_field, &Limits::default(), &Cancel::default()).unwrap();
    let of_lists = operations - script.lock().unwrap().done;
    // A list has 2^15 samples at most, of which a session takes 2^10 at a time, with three operations and more.
    assert!(of_lists > 3 << 5, "{of_lists}");
    for part in 3..6 {
        let fails = Some((operations * part / 6, Fault::Lost("an injected fault".to_owned())));
        let own = picture(&engine(Script { fails, lasting: true, ..Script::default() }).0);
        assert!(own.bytes() == expected.bytes(), "{part}");
        let [warning] = &own.notes().warnings[..] else { panic!("{part}: {:?}", own.notes()) };
        assert!(warning.contains("an injected fault"), "{warning}");
    }
}

#[test]
fn refined_pictures_are_equal_after_any_fault() {
    let scene = refined_scene(Size::new(64, 36).unwrap());
    let picture = |engine: &dyn Engine| dwell::picture(&scene, engine, &Limits::default(), &Cancel::default()).unwrap();
    let expected = picture(&processors());
    let (faultless, script) = engine(Script::default());
    assert!(picture(&faultless).bytes() == expected.bytes());
    let operations = script.lock().unwrap().done;
    assert!(operations > 20, "the picture and the search for the effort take {operations}");
    for fault in [Fault::Memory, Fault::Lost("an injected fault".to_owned())] {
        for at in 0..operations {
            let fails = Some((at, fault.clone()));
            let (engine, script) = engine(Script { fails, lasting: at % 2 == 0, ..Script::default() });
            let own = picture(&engine);
            assert!(own.bytes() == expected.bytes(), "{fault:?} at {at}");
            assert_eq!(script.lock().unwrap().after_loss, 0, "the context is not used after {fault:?} at {at}");
            if fault != Fault::Memory {
                let [warning] = &own.notes().warnings[..] else { panic!("{fault:?} at {at}: {:?}", own.notes()) };
                assert!(warning.contains("an injected fault"), "{warning}");
            }
        }
    }
}

#[test]
fn resampled_frames_are_equal_after_a_fault_and_tell_of_it() {
    let deep = deep_plan();
    let settings = Settings { limit: deep.limit(), number: NumberKind::Exact, ..Settings::default() };
    let automatic = Automatic::NONE;
    let scene = Scene { view: deep.view().clone(), settings, automatic, ..Scene::default() };
    let course = Course::new("1e26".parse().unwrap(), "1e27".parse().unwrap(), 3, Easing::Linear).unwrap();
    let mut film = Film::new(scene, course, Shared::Film).unwrap();
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    film.find(&processors(), &Limits::default(), &control, |_| ()).unwrap();
    let frame = |engine: &dyn Engine| {
        let means = Means { engine, limits: Limits::default(), control, journaling: None };
        let mut resampler = Resampler::new(&film, &Limits::default()).unwrap();
        let (output, file) = store::Output::in_memory("a frame");
        let warnings = resampler.frame(&film, 1, &means, output, &mut Scratch::default()).unwrap();
        (file.bytes(), warnings)
    };
    let (bytes, none) = frame(&processors());
    assert!(none.is_empty());
    let (faultless, script) = engine(Script::default());
    assert!(frame(&faultless) == (bytes.clone(), none));
    let operations = script.lock().unwrap().done;
    assert!(operations > 20, "{operations}");
    for at in [0, operations / 2, operations - 1] {
        let fails = Some((at, Fault::Lost("an injected fault".to_owned())));
        let (failing, _) = engine(Script { fails, lasting: true, ..Script::default() });
        let (own, warnings) = frame(&failing);
        assert!(own == bytes, "a fault at {at}");
        assert!(matches!(&warnings[..], [warning] if warning.contains("an injected fault")), "{at}: {warnings:?}");
    }
}

#[test]
fn a_device_decides_most_of_a_deep_view_in_tiers() {
    let (engine, _) = engine(Script::default());
    let notes = field_of(&engine, &deep_plan(), ChannelSet::NONE).1;
    let deep = notes.deep.unwrap();
    let first = deep.tiers[0];
    assert_eq!((first.device_samples, first.samples), (64 * 36, 64 * 36), "{deep:?}");
    assert!(first.device_seconds > 0.0 && first.seconds == 0.0, "{deep:?}");
    // What the device leaves is decided by the processors in later tiers.
    let decided: u64 = deep.tiers.iter().map(|tier| tier.decided).sum();
    assert_eq!(decided, 64 * 36, "{deep:?}");
    assert!(deep.tiers.iter().any(|tier| tier.device_samples < tier.samples), "{deep:?}");
    assert_eq!(notes.device.unwrap().rows_on_cpu, 0);
}

#[test]
fn what_a_device_does_not_compute_is_left_to_the_processors() {
    // The cycles of points that stay.
    let plan = plan_of(&deep_plan().view().clone().sized(Size::new(6, 4).unwrap()), 4000);
    for channels in [ChannelSet::NONE.with(Channel::Period), ChannelSet::SMOOTH.with(Channel::FinalRe)] {
        let (engine, script) = engine(Script::default());
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
        let field = |engine: &dyn Engine| dwell::field(&task, engine, &Limits::default(), &Cancel::default()).unwrap();
        let (own, truth) = (field(&engine), field(&processors()));
        assert!(own.dwell() == truth.dwell() && own.smooth() == truth.smooth());
        assert_eq!(script.lock().unwrap().done, 0);
    }
}

#[test]
fn a_deep_render_is_cancelled_between_launches() {
    let plan = deep_plan();
    for cancels in 0..12 {
        let (engine, script) = engine(Script { cancels: Some(cancels), ..Script::default() });
        let (cancel, mut dwell) = (Cancel::default(), vec![0; 64 * 36]);
        let control = Control { cancel: &cancel, progress: &Progress::default() };
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
        let rows = FieldRowsMut::new(64, 0..36, ChannelSlicesMut::of_dwells(&mut dwell)).unwrap();
        let outcome = engine.run(&task, rows, &control);
        let done = script.lock().unwrap().done;
        assert!(matches!(outcome, Err(Error::Interrupted)), "{cancels}");
        assert!(done <= cancels + 6, "{done} operations, cancelled after {cancels}");
        // The engine serves the next call.
        script.lock().unwrap().cancels = None;
        assert!(field_of(&engine, &plan, ChannelSet::NONE).0 == field_of(&processors(), &plan, ChannelSet::NONE).0);
    }
}
