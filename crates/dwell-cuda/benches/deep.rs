//! Compares deep views on the device of this machine with the processors, value by value, and measures both.
//!
//! `cargo bench -p dwell-cuda --bench deep -- PART...` runs the named parts of `places`, `random[:N or FIRST..END]`, `formulas`, `times[:PLACE,PLACE...]`, `times-of-formulas` and `cancel`; all of them if none
//! is named. Without a device it prints the reason and succeeds.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers that prints its results and fails on any error"
)]

use dwell::{
    Cancel, Channel, ChannelSet, ChannelSlicesMut, Control, CpuEngine, Engine, Error, FieldRowsMut, Fold, Formula,
    Level, Limits, Location, Notes, NumberKind, Plan, Progress, Settings, Size, Strategy, Task, View,
};
use dwell_cuda::{CudaEngine, Device, Options};
use std::ops::Range;
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits { memory_bytes: 1 << 36 };
/// Deep built-in places, without those that take minutes, and the exponents of their zooms.
const PLACES: [(&str, u32); 13] = [
    ("shallow-seahorse-1e13", 13),
    ("kf-1e14", 14),
    ("kf-1e50", 50),
    ("kf-5e113", 113),
    ("rf-flake", 157),
    ("rf-glitch_test_1", 46),
    ("fs-view05", 45),
    ("kf-4e533", 533),
    ("fs-view11", 712),
    ("rf-e1000", 1000),
    ("kf-1e1086", 1086),
    ("rf-dragon", 191),
    ("rf-e8000", 8000),
];
/// Views of other formulas and Julia sets: the formula, the constant of a Julia set, the centre, the greatest exponent of a zoom, and the limit.
type OfFormula = ((Fold, u32), Option<[&'static str; 2]>, [&'static str; 2], u32, u64);
/// (Points whose orbits meet a repelling cycle, and repelling fixed points of Julia sets, to 60 digits; the first two are near minibrots.)
const FORMULAS: [OfFormula; 9] = [
    ((Fold::Absolute, 2), None, ["-1.8600000000000000000003", "0"], 22, 10_000),
    (
        (Fold::Absolute, 2),
        None,
        [
            "-1.7440482698167536417604576579052554413467486576835753243",
            "-0.0176772055672213554941585900118889558372676633599361089",
        ],
        50,
        116_600,
    ),
    ((Fold::Absolute, 3), None, ["-1.41421356237309504880168872420969807856967187537694807317667", "0"], 50, 3000),
    (
        (Fold::None, 3),
        None,
        [
            "0.340625019316606640194394244037830888977210102549125303119702",
            "1.271229878418706239135612991021064976728414328226777678213679",
        ],
        50,
        3000,
    ),
    ((Fold::Conjugate, 2), None, ["-1.54368901269207636157085597180174798652520329765098393524080", "0"], 50, 3000),
    ((Fold::Conjugate, 4), None, ["-1.25992104989487316476721060727822835057025146470150798008197", "0"], 50, 3000),
    (
        (Fold::None, 2),
        Some(["-0.8", "0.156"]),
        [
            "1.527503118643534610789746402444915337566745947811708160339875",
            "-0.07591217835228786707181419482634804636642219484797802253973",
        ],
        50,
        5000,
    ),
    (
        (Fold::None, 5),
        Some(["0.6", "0.55"]),
        [
            "-0.08775958978371231317004809317876442563528905743608650994781",
            "-1.12234930131758694017224892745921911230056013417531795546444",
        ],
        50,
        1000,
    ),
    (
        (Fold::Absolute, 2),
        Some(["-1.5", "-0.1"]),
        [
            "1.823415054753385070927333974570679265107799938079681861953193",
            "0.037781042176006807657577480517250180856657023058650753377803",
        ],
        50,
        1000,
    ),
];
/// Those that are measured: their number, and the zoom.
const MEASURED_FORMULAS: [(usize, &str); 3] = [(0, "1e17"), (1, "3.286e45"), (6, "1e40")];
/// What is compared, and what is measured.
const CHANNELS: [Channel; 5] =
    [Channel::Smooth, Channel::Distance, Channel::SlopeRight, Channel::SlopeUp, Channel::Overflow];
const SLOPES: ChannelSet = ChannelSet::DISTANCE.with(Channel::SlopeRight).with(Channel::SlopeUp);
const SETS: [(&str, ChannelSet); 3] =
    [("dwells", ChannelSet::NONE), ("smooth", ChannelSet::SMOOTH), ("distances", SLOPES)];
/// Places that are measured.
const MEASURED: &str = "kf-1e50,kf-5e113,rf-flake,kf-4e533,fs-view05,rf-e1000,rf-dragon";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let part = |part: &str| args.iter().find(|arg| arg.split(':').next() == Some(part));
    let wants = |name: &str| args.is_empty() || part(name).is_some();
    let value = |name: &str| part(name).and_then(|arg| arg.split_once(':')).map(|(_, value)| value.to_owned());
    let device = match dwell_cuda::devices() {
        Ok(devices) => devices[0].clone(),
        Err(why) => {
            println!("nothing to measure: {why}");
            return;
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{}, driver for CUDA {}; {threads} threads, {}", device.name, device.driver, Level::best().name());
    let engines = Engines::new(&device, threads);
    if wants("places") {
        for (place, _) in PLACES {
            let (view, limit) = place_of(place);
            engines.compare(place, &view.sized(Size::new(192, 108).unwrap()), &squares(limit));
        }
    }
    if wants("random") {
        let numbers = value("random").unwrap_or_default();
        let (first, end) = numbers.split_once("..").unwrap_or(("0", &numbers));
        random(&engines, first.parse().unwrap_or(0)..end.parse().unwrap_or(200));
    }
    if wants("formulas") {
        of_formulas(&engines);
    }
    if wants("times-of-formulas") {
        for (number, zoom) in MEASURED_FORMULAS {
            let (view, settings) = formula_at(&FORMULAS[number], zoom);
            let size = Size::new(1920, 1080).unwrap();
            engines.measure(&format!("{} {zoom}", name_of(&settings)), &plan(&view.sized(size), &settings));
        }
    }
    if wants("times") {
        for place in value("times").as_deref().unwrap_or(MEASURED).split(',') {
            let (view, limit) = place_of(place);
            engines.measure(place, &plan(&view.sized(Size::new(1920, 1080).unwrap()), &squares(limit)));
        }
    }
    if wants("cancel") {
        engines.cancel();
    }
}

struct Engines {
    cpu: CpuEngine,
    cuda: CudaEngine,
}

/// The view and the limit of a place.
fn place_of(name: &str) -> (View, u64) {
    let scene = Location::built_in(name).unwrap().scene;
    (scene.view, scene.settings.limit)
}

/// z^2 + c in exact arithmetic.
fn squares(limit: u64) -> Settings {
    Settings { limit, number: NumberKind::Exact, formula: Formula::MANDELBROT, ..Settings::default() }
}

/// The view and the settings of a formula.
fn formula_at(&((fold, power), julia, [re, im], _, limit): &OfFormula, zoom: &str) -> (View, Settings) {
    let julia = julia.map(|parts| parts.map(|part| part.parse().unwrap()));
    let formula = Formula::new(fold, power).unwrap();
    (View::centred(re, im, zoom).unwrap(), Settings { formula, julia, ..squares(limit) })
}

fn name_of(settings: &Settings) -> String {
    let of_julia = if settings.julia.is_some() { ", a Julia set" } else { "" };
    format!("{} of power {}{of_julia}", settings.formula.name(), settings.formula.power())
}

fn plan(view: &View, settings: &Settings) -> Plan {
    Plan::new(view, settings, &LIMITS).unwrap()
}

/// Dwells, and the values of each channel of [`CHANNELS`].
type Values = (Vec<u32>, [Vec<f64>; CHANNELS.len()]);

/// The values of a plan, what was noted, and the time.
fn field(engine: &dyn Engine, plan: &Plan, channels: ChannelSet) -> (Values, Notes, f64) {
    let size = plan.size();
    let pixels = size.pixels() as usize;
    let mut dwell = vec![1; pixels];
    let mut values = CHANNELS.map(|channel| vec![1.0; if channels.contains(channel) { pixels } else { 0 }]);
    let mut slices = ChannelSlicesMut::of_dwells(&mut dwell);
    for (channel, values) in CHANNELS.into_iter().zip(&mut values) {
        slices[channel] = values;
    }
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let task = Task { plan, strategy: Strategy::EveryPixel, channels };
    let rows = FieldRowsMut::new(size.width, 0..size.height, slices).unwrap();
    let began = Instant::now();
    let notes = engine.run(&task, rows, &control).unwrap().notes;
    ((dwell, values), notes, began.elapsed().as_secs_f64())
}

/// What each tier did, in a line.
fn tiers(notes: &Notes) -> String {
    let deep = notes.deep.as_ref().unwrap();
    let of_tier = |of: &dwell::TierReport| {
        format!(
            " {:?} {}/{} {:.1}+{:.1} ms ({:.3} of the peak)",
            of.tier,
            of.decided,
            of.samples,
            of.device_seconds * 1e3,
            of.seconds * 1e3,
            of.device_share_of_peak
        )
    };
    deep.tiers.iter().map(of_tier).collect()
}

impl Engines {
    fn new(device: &Device, threads: usize) -> Self {
        let cpu = || CpuEngine::new(Level::best(), threads);
        Self { cpu: cpu(), cuda: CudaEngine::new(device.clone(), cpu(), Options::default()).unwrap() }
    }

    /// Compares the values of a view.
    fn compare(&self, name: &str, view: &View, settings: &Settings) {
        let plan = plan(view, settings);
        let mut wrong = 0;
        let mut said = String::new();
        for (_, channels) in SETS {
            let ((dwell, values), ..) = field(&self.cpu, &plan, channels);
            let ((own, own_values), notes, _) = field(&self.cuda, &plan, channels);
            assert!(notes.warnings.is_empty(), "{:?}", notes.warnings);
            wrong += dwell.iter().zip(&own).filter(|(a, b)| a != b).count();
            for (values, own) in values.iter().zip(&own_values) {
                wrong += values.iter().zip(own).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            }
            let deep = notes.deep.as_ref().unwrap();
            let of_device: u64 =
                deep.tiers.iter().filter(|tier| tier.device_samples > 0).map(|tier| tier.decided).sum();
            said += &format!(" {of_device} of {} by the device;", dwell.len());
        }
        println!("{name}: {wrong} differ,{said}");
        assert_eq!(wrong, 0, "{name}");
    }

    /// Measures both engines with the reference and the blocks made, and the device with them copied.
    fn measure(&self, name: &str, plan: &Plan) {
        for (of, channels) in SETS {
            let runs = |engine: &dyn Engine, count: usize| {
                let first = field(engine, plan, channels);
                let mut best = field(engine, plan, channels);
                for _ in 2..count {
                    let next = field(engine, plan, channels);
                    best = if next.2 < best.2 { next } else { best };
                }
                (best, first.2)
            };
            let (cuda, first) = runs(&self.cuda, 5);
            println!("{name} {of}: device {:.1} ms (first {:.1}){}", cuda.2 * 1e3, first * 1e3, tiers(&cuda.1));
            if std::env::var_os("DEVICE_ALONE").is_some() {
                continue;
            }
            let (cpu, _) = runs(&self.cpu, 2);
            println!("    processors {:.1} ms, {:.2} times{}", cpu.2 * 1e3, cpu.2 / cuda.2, tiers(&cpu.1));
            assert!(cpu.0 == cuda.0, "{name}");
        }
    }

    /// How long a call goes on after it is cancelled, at places with long orbits.
    fn cancel(&self) {
        for (name, size) in [("rf-dragon", [1920, 1080]), ("kf-1e50", [8192, 4096])] {
            let (view, limit) = place_of(name);
            let plan = plan(&view.sized(Size::new(size[0], size[1]).unwrap()), &squares(limit));
            let _ = field(&self.cuda, &plan.clone(), ChannelSet::NONE);
            let mut longest = Duration::ZERO;
            for after in [5, 20, 50, 100] {
                let cancel = Cancel::default();
                let mut dwell = vec![0; plan.size().pixels() as usize];
                let control = Control { cancel: &cancel, progress: &Progress::default() };
                let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
                let slices = ChannelSlicesMut::of_dwells(&mut dwell);
                let rows = FieldRowsMut::new(size[0], 0..size[1], slices).unwrap();
                let (outcome, late) = std::thread::scope(|scope| {
                    let timer = scope.spawn(|| {
                        std::thread::sleep(Duration::from_millis(after));
                        cancel.cancel();
                        Instant::now()
                    });
                    let outcome = self.cuda.run(&task, rows, &control);
                    let ended = Instant::now();
                    (outcome, ended.saturating_duration_since(timer.join().unwrap()))
                });
                assert!(outcome.is_ok() || matches!(outcome, Err(Error::Interrupted)));
                longest = longest.max(late);
            }
            println!("{name}: at most {:.1} ms after it was cancelled", longest.as_secs_f64() * 1e3);
        }
    }
}

/// Views of other formulas at several zooms, every other one turned.
fn of_formulas(engines: &Engines) {
    for formula in &FORMULAS {
        for (number, zoom) in (14..=formula.3).step_by(6).enumerate() {
            let (mut view, settings) = formula_at(formula, &format!("{}e{zoom}", 1 + number % 5));
            if number % 2 == 1 {
                view.rotation = format!("{}", 25 * number).parse().unwrap();
            }
            let name = format!("{} 1e{zoom}", name_of(&settings));
            engines.compare(&name, &view.sized(Size::new(96, 54).unwrap()), &settings);
        }
    }
}

/// Views near the centres of places, at random zooms between 1e14 and theirs, half of them turned: those of some numbers.
fn random(engines: &Engines, numbers: Range<usize>) {
    let mut seed = 7_u64;
    let mut unit = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    let began = Instant::now();
    for number in 0..numbers.end {
        // The last two take longest.
        let (place, most) = PLACES[(unit() * (PLACES.len() - 2) as f64) as usize];
        let (view, limit) = place_of(place);
        let dwell::Frame::Centred { re, im, .. } = &view.frame else { continue };
        let zoom = 14.0 + unit() * f64::from(most.clamp(14, 1000) - 14);
        let magnification = format!("{:.3}e{}", 1.0 + 8.0 * unit(), zoom as u32);
        let mut view = View::centred(re.text(), im.text(), &magnification).unwrap();
        if number % 2 == 1 {
            view.rotation = format!("{}", (unit() * 340.0) as i32 - 170).parse().unwrap();
        }
        if number < numbers.start {
            continue;
        }
        let name = format!("{number} {place} 1e{}", zoom as u32);
        engines.compare(&name, &view.sized(Size::new(96, 54).unwrap()), &squares(limit));
        if began.elapsed() > Duration::from_secs(240) {
            println!("{} views, all equal", number + 1 - numbers.start);
            return;
        }
    }
    println!("{} views, all equal", numbers.len());
}
