//! Measures the kernels on the device of this machine, and compares every output with the processors'.
//!
//! `cargo bench -p dwell-cuda --bench device -- PART...` runs the named parts of `peak`, `ladder`, `ladders`, `proven`,
//! `brute`, `views`, `stages`, `blocks`, `bus`, `pictures`, `whole`, `small`, `tiles`, `inferred`, `random[:N]`, `proofs[:N]`; all of them if none is
//! named.
//! Without a device it prints the reason and succeeds.

#![expect(unsafe_code, reason = "an allocator that counts")]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers that prints its results and fails on any error"
)]

use dwell::store::{Output, PartialFiles};
use dwell::{
    Automatic, By, Cancel, Channel, ChannelBuffers, ChannelSet, ChannelSlices, ChannelSlicesMut, Colouring, Control,
    CpuEngine, Depth, DeviceReport, Engine, Field, FieldRows, FieldRowsMut, Fold, Format, Formula, Level, Limits,
    Location, NumberKind, Paint, Painter, PaintingEngine, Palette, Plan, Progress, Recipe, Request, Sample, Samples,
    Scale, Scene, Scratch, Settings, Shortcuts, Size, Strategy, Task, View,
};
use dwell_cuda::{BlockShape, CudaEngine, Device, GpuKernel, Options, Stages};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const LIMITS: Limits = Limits { memory_bytes: 1 << 40 };

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let wants = |part: &str| args.is_empty() || args.iter().any(|arg| arg.split(':').next() == Some(part));
    let device = match dwell_cuda::devices() {
        Ok(devices) => devices[0].clone(),
        Err(why) => {
            println!("nothing to measure: {why}");
            return;
        }
    };
    println!("{}, driver for CUDA {}", device.name, device.driver);
    // Keeps the context, which would otherwise be created again for each engine.
    let keeper = cuda(&device, Options::default(), Shortcuts::EXACT);
    timed(&keeper, &plan(&published(64), 100, NumberKind::F32), 1);
    if wants("peak") {
        peaks(&device);
    }
    if wants("ladder") {
        ladder(&device);
    }
    if wants("ladders") {
        ladders(&device);
    }
    if wants("proven") {
        proven(&device);
    }
    if wants("stages") {
        stages(&device);
    }
    if wants("brute") {
        brute(&device);
    }
    if wants("views") {
        views(&device);
    }
    if wants("blocks") {
        blocks(&device);
    }
    if wants("bus") {
        bus(&device);
    }
    if wants("pictures") {
        pictures(&device);
    }
    if wants("whole") {
        whole(&device);
    }
    if wants("small") {
        small(&device);
    }
    if wants("tiles") {
        tiles(&device);
    }
    if wants("inferred") {
        inferred(&device);
    }
    let count = |part: &str| {
        let given = args.iter().find_map(|arg| arg.strip_prefix(part)?.strip_prefix(':'));
        given.map_or(10_000, |n| n.parse().unwrap())
    };
    if wants("random") {
        random(&device, count("random"));
    }
    if wants("proofs") {
        random_proofs(&device, count("proofs"));
    }
}

/// The view of the published programs: [-1.5,0.5]x[-1,1].
fn published(size: u32) -> View {
    View::centred("-0.5", "0", "2").unwrap().sized(Size::new(size, size).unwrap())
}

fn plan(view: &View, limit: u64, number: NumberKind) -> Plan {
    Plan::new(view, &Settings { limit, number, force: true, ..Settings::default() }, &LIMITS).unwrap()
}

fn cpu(shortcuts: Shortcuts) -> CpuEngine {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    CpuEngine::new(Level::best(), threads).with_shortcuts(shortcuts)
}

fn cuda(device: &Device, options: Options, shortcuts: Shortcuts) -> CudaEngine {
    CudaEngine::new(device.clone(), cpu(shortcuts), options).unwrap()
}

fn strategy(kernel: GpuKernel) -> Strategy {
    if kernel.is_exact() { Strategy::EveryPixel } else { Strategy::MarianiSilver }
}

/// Dwells and channels of all rows of a plan, and the device's report.
fn run(engine: &CudaEngine, plan: &Plan, strategy: Strategy, set: ChannelSet) -> (ChannelBuffers, DeviceReport) {
    let size = plan.size();
    let pixels = size.pixels() as usize;
    let values = |channel| vec![1.0; if set.contains(channel) { pixels } else { 0 }];
    let mut channels = ChannelBuffers::from_fn(vec![1; pixels], values);
    let task = Task { plan, strategy, channels: set };
    let rows = FieldRowsMut::new(size.width, 0..size.height, channels.slices_mut()).unwrap();
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let notes = engine.run(&task, rows, &control).unwrap().notes;
    assert!(notes.warnings.is_empty(), "{:?}", notes.warnings);
    (channels, notes.device.unwrap())
}

/// The field of a plan by the processors.
fn truth(plan: &Plan, set: ChannelSet) -> Field {
    static REFERENCE: LazyLock<CpuEngine> = LazyLock::new(|| cpu(Shortcuts::EXACT));
    let task = Task { plan, strategy: Strategy::EveryPixel, channels: set };
    dwell::field(&task, &*REFERENCE, &LIMITS, &Cancel::default()).unwrap()
}

/// The dwells of a plan, and the least kernel time of some runs, in milliseconds.
fn timed(engine: &CudaEngine, plan: &Plan, runs: usize) -> (Vec<u32>, f64) {
    let (dwells, report) = reported(engine, plan, runs);
    (dwells, report.kernel_seconds * 1e3)
}

/// The dwells of a plan, and the report of the run with the least kernel time.
fn reported(engine: &CudaEngine, plan: &Plan, runs: usize) -> (Vec<u32>, DeviceReport) {
    let strategy = strategy(engine.options().kernel);
    let runs = (0..runs).map(|_| run(engine, plan, strategy, ChannelSet::NONE));
    let (channels, report) = runs.min_by(|(_, a), (_, b)| a.kernel_seconds.total_cmp(&b.kernel_seconds)).unwrap();
    (channels.dwell, report)
}

fn differing(a: &[u32], b: &[u32]) -> usize {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

fn peaks(device: &Device) {
    println!("\n| number | recipe | G iterations/s | MHz | iterations a cycle and multiprocessor | orbits at once |");
    println!("|---|---|---|---|---|---|");
    for number in [NumberKind::F32, NumberKind::F64] {
        for recipe in Recipe::ALL {
            let peak = dwell_cuda::peak(device.number, Formula::MANDELBROT, number, recipe).unwrap();
            println!(
                "| {} | {} | {:.0} | {:.0} | {:.2} | {} |",
                number.name(),
                recipe.name(),
                peak.peak_iterations_per_second / 1e9,
                peak.clock_mhz,
                peak.iterations_per_cycle,
                peak.orbits_in_flight
            );
        }
    }
}

const LADDER: [(u32, u64); 11] = [
    (1024, 512),
    (2048, 256),
    (2048, 2980),
    (4096, 128),
    (4096, 512),
    (4096, 4096),
    (8192, 256),
    (8192, 512),
    (16384, 512),
    (16384, 4096),
    (23150, 256),
];

fn ladder(device: &Device) {
    println!("\nKernel time in ms by events on the device, f32, [-1.5,0.5]x[-1,1]; wrong pixels in brackets");
    println!(
        "| size, limit | per-pixel | tuned | cdp | levels | block | per-pixel / tuned | cdp / tuned | cdp / levels |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (size, limit) in LADDER {
        let plan = plan(&published(size), limit, NumberKind::F32);
        let truth = truth(&plan, ChannelSet::NONE);
        let mut cells = Vec::new();
        let kernels =
            [GpuKernel::PerPixel, GpuKernel::Tuned, GpuKernel::DeviceLaunches, GpuKernel::Levels, GpuKernel::Block];
        for kernel in kernels {
            if kernel == GpuKernel::DeviceLaunches && dwell_cuda::library().is_err() {
                cells.push((f64::NAN, 0));
                continue;
            }
            let engine = cuda(device, Options { kernel, ..Options::default() }, Shortcuts::EXACT);
            let (field, ms) = timed(&engine, &plan, if size > 10_000 { 3 } else { 5 });
            let wrong = differing(&field, truth.dwell());
            assert!(wrong == 0 || !kernel.is_exact(), "{}: {wrong} pixels differ", kernel.name());
            cells.push((ms, wrong));
        }
        let cell = |i: usize| format!("{:.3} ({})", cells[i].0, cells[i].1);
        let ratio = |a: usize, b: usize| cells[a].0 / cells[b].0;
        println!(
            "| {size}^2, {limit} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {:.2} |",
            cell(0),
            cell(1),
            cell(2),
            cell(3),
            cell(4),
            ratio(0, 1),
            ratio(2, 1),
            ratio(2, 3)
        );
    }
}

/// Proofs for blocks against every pixel, with the same shortcuts, in one run after the other.
fn proven(device: &Device) {
    println!("\nEvery pixel and proven blocks, kernel time in ms by events on the device (least of 15), their ratio");
    println!("| view | size, limit | number | tuned | proven | ratio |");
    println!("|---|---|---|---|---|---|");
    let seahorses = |size: u32| boundary().sized(Size::new(size, size).unwrap());
    let views = LADDER.map(|(size, limit)| ("[-1.5,0.5]x[-1,1]", published(size), size, limit)).into_iter().chain([
        ("[-1.5,0.5]x[-1,1]", published(8192), 8192, 4096),
        ("[-1.5,0.5]x[-1,1]", published(4096), 4096, 65_536),
        ("edge", seahorses(2048), 2048, 1000),
        ("edge", seahorses(4096), 4096, 5000),
        ("edge", seahorses(16_384), 16_384, 5000),
    ]);
    for (name, view, size, limit) in views {
        for number in [NumberKind::F32, NumberKind::F64] {
            let plan = plan(&view, limit, number);
            let engines = [GpuKernel::Tuned, GpuKernel::Proven]
                .map(|kernel| cuda(device, Options { kernel, ..Options::default() }, Shortcuts::EXACT));
            let (mut least, mut fields) = ([f64::INFINITY; 2], [const { Vec::new() }; 2]);
            for _ in 0..if size > 10_000 { 3 } else { 15 } {
                for ((engine, least), field) in engines.iter().zip(&mut least).zip(&mut fields) {
                    let (dwells, ms) = timed(engine, &plan, 1);
                    *least = least.min(ms);
                    *field = dwells;
                }
            }
            let [tuned, proven] = least;
            let ratio = tuned / proven;
            println!("| {name} | {size}^2, {limit} | {} | {tuned:.3} | {proven:.3} | {ratio:.2} |", number.name());
            assert_eq!(differing(&fields[0], &fields[1]), 0);
        }
    }
}

/// All sizes and limits of the published ladders.
fn ladders(device: &Device) {
    let sizes = [2048, 2560, 3200, 4000, 5000, 6250, 7812, 9765, 12207, 15258, 19073, 23150].map(|size| (size, 256));
    let limits = [256, 320, 400, 500, 625, 781, 976, 1220, 1525, 1907, 2384, 2980].map(|limit| (2048, limit));
    let others = [4096, 8192, 16384].into_iter().flat_map(|size| [128, 256, 512].map(|limit| (size, limit)));
    println!("\nThe published ladders, f32: ms");
    println!("| size, limit | per-pixel | cdp | tuned | per-pixel / tuned | cdp / tuned |");
    println!("|---|---|---|---|---|---|");
    let mut least = [f64::INFINITY; 2];
    for (size, limit) in sizes.into_iter().chain(limits).chain(others) {
        let plan = plan(&published(size), limit, NumberKind::F32);
        let run = |kernel| {
            let engine = cuda(device, Options { kernel, ..Options::default() }, Shortcuts::EXACT);
            timed(&engine, &plan, 3)
        };
        let (plain, slow) = run(GpuKernel::PerPixel);
        let (tuned, fast) = run(GpuKernel::Tuned);
        assert_eq!(differing(&plain, &tuned), 0, "{size} {limit}");
        let (_, launched) = run(GpuKernel::DeviceLaunches);
        println!(
            "| {size}^2, {limit} | {slow:.3} | {launched:.3} | {fast:.3} | {:.1} | {:.1} |",
            slow / fast,
            launched / fast
        );
        least = [least[0].min(slow / fast), least[1].min(launched / fast)];
    }
    println!("least ratios: {:.2} to the plain loop, {:.2} to device-side launches", least[0], least[1]);
}

fn stages(device: &Device) {
    println!("\nStages of the tuned kernel, ms");
    let views = [(published(4096), 512), (published(4096), 4096), (published(16384), 4096), (boundary(), 5000)];
    println!("| first, growth | 4096^2 512 | 4096^2 4096 | 16384^2 4096 | boundary 4096^2 5000 |");
    println!("|---|---|---|---|---|");
    for (first, growth) in [(1 << 18, 4), (16, 2), (32, 4), (64, 2), (64, 4), (64, 8), (128, 4), (256, 4), (512, 4)] {
        let options = Options { stages: Stages { first, growth }, ..Options::default() };
        let mut line = format!("| {first}, {growth} |");
        for (view, limit) in &views {
            let plan = plan(view, *limit, NumberKind::F32);
            let (_, ms) = timed(&cuda(device, options, Shortcuts::EXACT), &plan, 3);
            line += &format!(" {ms:.3} |");
        }
        println!("{line}");
    }
}

/// [-0.7483,-0.7443]x[0.1082,0.1122].
fn boundary() -> View {
    View::centred("-0.7463", "0.1102", "1000").unwrap().sized(Size::new(4096, 4096).unwrap())
}

fn brute(device: &Device) {
    println!("\nWithout shortcuts, 4096^2, limit 4096: part of the peak");
    for number in [NumberKind::F32, NumberKind::F64] {
        let peak = dwell_cuda::peak(device.number, Formula::MANDELBROT, number, Recipe::Fused).unwrap();
        let plan = plan(&published(4096), 4096, number);
        for (first, growth) in [(1 << 18, 2), (64, 1), (64, 2), (64, 4), (32, 2), (128, 2)] {
            let options = Options { stages: Stages { first, growth }, ..Options::default() };
            let (field, ms) = timed(&cuda(device, options, Shortcuts::NONE), &plan, 5);
            let rate =
                FieldRows::new(4096, ChannelSlices::of_dwells(&field)).unwrap().iterations(4096) as f64 / ms * 1e3;
            println!(
                "{}, stages {first}, {growth}: {:.0} G iterations/s, {:.3} of the peak",
                number.name(),
                rate / 1e9,
                rate / peak.peak_iterations_per_second
            );
        }
    }
}

fn views(device: &Device) {
    println!("\nShallow locations, 2048x2048: kernel time in ms");
    println!("| location | number | limit | per-pixel | tuned | ratio |");
    println!("|---|---|---|---|---|---|");
    for name in Location::built_in_names().filter(|name| name.starts_with("shallow")) {
        let scene = Location::built_in(name).unwrap().scene;
        let view = scene.view.clone().sized(Size::new(2048, 2048).unwrap());
        let Ok(plan) = Plan::new(&view, &scene.settings, &LIMITS) else { continue };
        let (plain, slow) = timed(
            &cuda(device, Options { kernel: GpuKernel::PerPixel, ..Options::default() }, Shortcuts::NONE),
            &plan,
            3,
        );
        let (tuned, fast) = timed(&cuda(device, Options::default(), Shortcuts::EXACT), &plan, 3);
        assert_eq!(differing(&plain, &tuned), 0, "{name}");
        println!(
            "| {name} | {} | {} | {slow:.3} | {fast:.3} | {:.2} |",
            plan.number().name(),
            plan.limit(),
            slow / fast
        );
    }
}

fn blocks(device: &Device) {
    println!("\nPlain loops by launch, 4096^2, limit 512, f32: ms, occupancy");
    let plan = plan(&published(4096), 512, NumberKind::F32);
    let mut launches: Vec<(GpuKernel, Option<BlockShape>)> = [1, 2, 4, 8, 16, 32]
        .map(|side| (GpuKernel::PerPixel, Some(BlockShape::Threads([side, side]))))
        .into_iter()
        .chain([
            (GpuKernel::PerPixel, None),
            (GpuKernel::PerPixel, Some(BlockShape::Occupancy)),
            (GpuKernel::PerPixel, Some(BlockShape::Threads([1024, 1]))),
        ])
        .collect();
    launches.extend([(GpuKernel::RowPerBlock, None), (GpuKernel::GridStride, None)]);
    let (truth, _) = timed(&cuda(device, Options::default(), Shortcuts::EXACT), &plan, 1);
    for (kernel, block) in launches {
        let engine = cuda(device, Options { kernel, block, ..Options::default() }, Shortcuts::EXACT);
        let (field, report) = reported(&engine, &plan, 3);
        assert_eq!(differing(&field, &truth), 0);
        println!("{}: {:.3}, {:.2}", report.kernel, report.kernel_seconds * 1e3, report.theoretical_occupancy);
    }
}

/// Dwells into memory of the host: the time in all, and the time of the copies alone.
fn bus(device: &Device) {
    let plan = plan(&published(23150), 256, NumberKind::F32);
    let engine = cuda(device, Options::default(), Shortcuts::EXACT);
    let mut dwell = vec![1_u32; plan.size().pixels() as usize];
    println!("\n23150^2 dwells into host memory");
    for _ in 0..4 {
        let begun = Instant::now();
        let rows = FieldRowsMut::new(23150, 0..23150, ChannelSlicesMut::of_dwells(&mut dwell)).unwrap();
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
        let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
        let report = engine.run(&task, rows, &control).unwrap().notes.device.unwrap();
        let seconds = begun.elapsed().as_secs_f64();
        let copy = report.copy_seconds;
        println!(
            "{:.1} ms in all, copies {:.1} ms ({:.1} GB/s), kernels {:.1} ms: {:.2} of the copies",
            seconds * 1e3,
            copy * 1e3,
            report.copied_bytes as f64 / copy / 1e9,
            report.kernel_seconds * 1e3,
            seconds / copy
        );
    }
}

/// Kernels that infer, at awkward sizes and in awkward views: the number of wrong pixels. All pixels must be written,
/// and those that are not inferred must be right to the bit.
fn inferred(device: &Device) {
    println!("\nKernels that infer: wrong pixels");
    let views = [
        ("whole", "-0.75", "0", "1.5", 300),
        ("one tile holds the set", "0", "0", "0.02", 100),
        ("off the axis", "-0.16", "1.03", "300", 400),
        ("edge", "-0.7463", "0.1102", "1000", 3000),
    ];
    for (what, re, im, zoom, limit) in views {
        for (width, height) in [(1, 1), (1, 300), (300, 1), (31, 33), (600, 400), (1000, 1000), (2049, 1537)] {
            let view = View::centred(re, im, zoom).unwrap().sized(Size::new(width, height).unwrap());
            let plan = plan(&view, limit, NumberKind::F64);
            let truth = truth(&plan, ChannelSet::SMOOTH);
            let mut line = String::new();
            for kernel in [GpuKernel::DeviceLaunches, GpuKernel::Levels, GpuKernel::Block] {
                let engine = cuda(device, Options { kernel, ..Options::default() }, Shortcuts::EXACT);
                for set in [ChannelSet::NONE, ChannelSet::SMOOTH] {
                    let (found, _) = run(&engine, &plan, Strategy::MarianiSilver, set);
                    let wrong = differing(&found.dwell, truth.dwell());
                    assert!(
                        wrong * 200 <= truth.dwell().len() + 400,
                        "{what} {width}x{height} {}: {wrong}",
                        kernel.name()
                    );
                    line += &format!(" {wrong}");
                    let smooth = found[Channel::Smooth].iter().enumerate();
                    for (i, value) in smooth.filter(|(i, _)| found.dwell[*i] != 0) {
                        assert_eq!(value.to_bits(), truth.smooth()[i].to_bits(), "{what} {}", kernel.name());
                    }
                }
            }
            println!("{what} {width}x{height}: cdp, levels, block, each without and with smooth values:{line}");
        }
    }
}

/// Pictures painted on the device in every way, compared with the processors'.
fn pictures(device: &Device) {
    let (mut checked, mut bytes, mut wrong) = (0, 0, 0);
    let formulas =
        [(Fold::None, 2, false), (Fold::Absolute, 2, false), (Fold::None, 5, false), (Fold::Conjugate, 2, true)];
    for (fold, power, is_julia) in formulas {
        for (number, recipe) in [(NumberKind::F32, Recipe::Fused), (NumberKind::F64, Recipe::Separate)] {
            for (width, height) in [(1, 1), (7, 5), (253, 191), (1920, 1080)] {
                for (by, scale) in
                    By::ALL.into_iter().flat_map(|by| Scale::ALL.into_iter().map(move |scale| (by, scale)))
                {
                    for (depth, samples, dither, limit) in [
                        (Depth::Eight, 1, false, 400),
                        (Depth::Eight, 1, true, 400),
                        (Depth::Sixteen, 1, false, 100_000),
                        (Depth::Eight, 3, false, 300),
                        (Depth::Eight, 2, true, 300),
                        (Depth::Sixteen, 2, true, 300),
                    ] {
                        let palette = Palette::built_in("ember").unwrap();
                        let colouring =
                            Colouring { by, scale, density: 1.3, offset: -0.2, palette, layers: Vec::new() };
                        let painter = Painter::new(&colouring, limit, depth, Samples::Fixed(samples), dither)
                            .expect("memory for the tables");
                        let engine = cuda(device, Options::default(), Shortcuts::EXACT);
                        if colouring.check().is_err() {
                            continue;
                        }
                        let size = Size::new(width * samples, height * samples).unwrap();
                        let view = View::centred("-0.6", "0.1", "1.2").unwrap().sized(size);
                        let julia = is_julia.then(|| ["-0.4", "0.6"].map(|text| text.parse().unwrap()));
                        let formula = Formula::new(fold, power).unwrap();
                        let settings = Settings { limit, number, recipe, formula, julia, ..Settings::default() };
                        let plan = Plan::new(&view, &settings, &LIMITS).unwrap();
                        let channels = colouring.channels();
                        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
                        if !engine.can_paint(&task, &painter) {
                            continue;
                        }
                        let field = truth(&plan, channels);
                        let mut truth = vec![0; (width * height) as usize * painter.bytes_per_pixel()];
                        painter.paint(field.all_rows(), 0, &mut truth);
                        let mut picture = vec![1; truth.len()];
                        let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
                        let painted = engine.paint(&task, &painter, 0..size.height, &mut picture, &control).unwrap();
                        assert!(painted.notes.warnings.is_empty(), "{:?}", painted.notes.warnings);
                        assert_eq!(u128::from(painted.iterations), field.all_rows().iterations(limit));
                        assert_eq!(painted.interior_pixels, field.interior_pixels());
                        let here = picture.iter().zip(&truth).filter(|(a, b)| a != b).count();
                        if here > 0 {
                            println!(
                                "{here} bytes differ: {by:?} {scale:?} {depth:?} {samples} {dither} {formula:?} {number:?} {size:?}"
                            );
                        }
                        (checked, bytes, wrong) = (checked + 1, bytes + truth.len(), wrong + here);
                    }
                }
            }
        }
    }
    println!("\n{checked} pictures painted on the device, {bytes} bytes: {wrong} differ");
}

/// From view to PNG, and encoding alone.
fn whole(device: &Device) {
    let side = 16384;
    let size = Size::new(side, side).unwrap();
    let plan = plan(&published(side), 512, NumberKind::F32);
    println!("\n{side}^2, limit 512, to PNG, without writing, with an existing context");
    for by in [By::Banded, By::Smooth] {
        let colouring = Colouring::default().by(by);
        let engine = cuda(device, Options::default(), Shortcuts::EXACT);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let paint =
            Paint { colouring: &colouring, samples: Samples::Fixed(1), dither: false, depth: Depth::Eight, text: "" };
        let control = Control { cancel: &cancel, progress: &progress };
        let request = Request::new(&plan, &engine, paint, control).with_limits(LIMITS);
        let mut scratch = Scratch::default();
        let path = std::env::temp_dir().join("dwell-whole.ppm");
        let output = |path: &std::path::Path| Output::create(path, false, &PartialFiles::default()).unwrap();
        dwell::render(&request, vec![(Format::Ppm, output(&path))], &mut scratch).unwrap();
        let file = std::fs::read(&path).unwrap();
        let picture = &file[file.len() - side as usize * side as usize * 3..];
        let (mut encode, mut all) = (f64::INFINITY, f64::INFINITY);
        let mut last = None;
        for _ in 0..5 {
            let begun = Instant::now();
            let bytes =
                dwell::png_bytes(picture, size, Depth::Eight, "", engine.pool()).expect("memory for the counts");
            encode = encode.min(begun.elapsed().as_secs_f64());
            assert!(bytes.len() > 1 << 20);
            let report = dwell::render(&request, vec![(Format::Png, Output::discarding())], &mut scratch).unwrap();
            all = all.min(report.seconds.total - report.seconds.write);
            last = Some(report);
        }
        let png = std::env::temp_dir().join("dwell-whole.png");
        dwell::render(&request, vec![(Format::Png, output(&png))], &mut scratch).unwrap();
        assert!(
            std::fs::read(&png).unwrap() == dwell::png_bytes(picture, size, Depth::Eight, "", engine.pool()).unwrap()
        );
        println!(
            "{}: {:.1} ms in all, encoding alone {:.1} ms: {:.2}; {:?}",
            by.name(),
            all * 1e3,
            encode * 1e3,
            all / encode,
            last.unwrap().seconds
        );
    }
}

/// Counts allocations of the host.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED_BYTES: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        ALLOCATED_BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A scene of 256 x 256 pixels.
fn small_scene(re: &str, im: &str, zoom: &str, limit: u64, number: NumberKind) -> Scene {
    let view = View::centred(re, im, zoom).unwrap().sized(Size::new(256, 256).unwrap());
    let settings = Settings { limit, number, ..Settings::default() };
    Scene { view, settings, automatic: Automatic::NONE, ..Scene::default() }
}

/// The wall time of a small picture from a warm scratch.
fn small(device: &Device) {
    println!("\n256^2 of [-2,2]^2, limit 256, from a warm scratch: wall time of a call, in ms");
    println!("| number | colours | median | best | kernel | paint | copy | allocations | bytes |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let engine = cuda(device, Options::default(), Shortcuts::EXACT);
    let reference = cpu(Shortcuts::EXACT);
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    for (number, by) in [NumberKind::F32, NumberKind::F64]
        .into_iter()
        .flat_map(|number| [By::Banded, By::Smooth].map(|by| (number, by)))
    {
        let mut scene = small_scene("0", "0", "1", 256, number);
        scene.colouring = Colouring::default().by(by);
        let truth = dwell::picture(&scene, &reference, &LIMITS, &Cancel::default()).unwrap();
        let mut scratch = Scratch::default();
        for _ in 0..10 {
            scratch.picture(&scene, &engine, &LIMITS, &control).unwrap();
        }
        let (allocations, bytes) = (ALLOCATIONS.load(Ordering::Relaxed), ALLOCATED_BYTES.load(Ordering::Relaxed));
        let mut times = Vec::with_capacity(200);
        let (mut kernel, mut paint, mut copy) = (0.0, 0.0, 0.0);
        for _ in 0..200 {
            let begun = Instant::now();
            let picture = scratch.picture(&scene, &engine, &LIMITS, &control).unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            let report = picture.notes().device.as_ref().unwrap();
            assert!(picture.bytes() == truth.bytes() && picture.notes().warnings.is_empty());
            assert!(report.allocate_seconds == 0.0, "no memory of the device is allocated");
            (kernel, paint, copy) =
                (kernel + report.kernel_seconds, paint + report.paint_seconds, copy + report.copy_seconds);
        }
        let of_call = |now: u64, before: u64| (now - before) / 200;
        times.sort_by(f64::total_cmp);
        println!(
            "| {} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {} | {} |",
            number.name(),
            by.name(),
            times[100],
            times[0],
            kernel / 200.0 * 1e3,
            paint / 200.0 * 1e3,
            copy / 200.0 * 1e3,
            of_call(ALLOCATIONS.load(Ordering::Relaxed), allocations),
            of_call(ALLOCATED_BYTES.load(Ordering::Relaxed), bytes)
        );
    }
}

/// Small tiles at different places, by one thread and by two at once on one engine: the bytes are the processors'.
fn tiles(device: &Device) {
    const COUNT: usize = 1000;
    let scene = |number: usize| {
        let re = format!("{:.6}", -2.0 + 0.003 * number as f64);
        let im = format!("{:.6}", 0.0007 * number as f64);
        small_scene(&re, &im, ["8", "64", "1024"][number % 3], 500, NumberKind::F64)
    };
    let scenes: Vec<Scene> = (0..COUNT).map(scene).collect();
    let reference = cpu(Shortcuts::EXACT);
    let draw = |engine: &dyn Engine, scenes: &[Scene]| -> Vec<(Vec<u8>, f64)> {
        let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
        let mut scratch = Scratch::default();
        let mut draw = |scene| {
            let picture = scratch.picture(scene, engine, &LIMITS, &control).unwrap();
            assert!(picture.notes().warnings.is_empty(), "{:?}", picture.notes().warnings);
            let allocating = picture.notes().device.as_ref().map_or(0.0, |device| device.allocate_seconds);
            (picture.bytes().to_vec(), allocating)
        };
        scenes.iter().map(&mut draw).collect()
    };
    let truth = draw(&reference, &scenes);
    let check = |what: &str, begun: Instant, found: &[(Vec<u8>, f64)]| {
        let seconds = begun.elapsed().as_secs_f64();
        let wrong = found.iter().zip(&truth).filter(|(found, truth)| found.0 != truth.0).count();
        let allocating = found.iter().filter(|(_, seconds)| *seconds > 0.0).count();
        println!(
            "{what}: {:.0} tiles/s, {wrong} of {} differ, {allocating} calls allocated device memory",
            found.len() as f64 / seconds,
            found.len()
        );
        assert!(wrong == 0 && found.len() == COUNT);
    };
    println!("\n{COUNT} tiles of 256^2 at different places, limit 500");
    let engine = cuda(device, Options::default(), Shortcuts::EXACT);
    for _ in 0..2 {
        let begun = Instant::now();
        let found = draw(&engine, &scenes);
        check("one thread", begun, &found);
        let begun = Instant::now();
        let (first, second) = scenes.split_at(COUNT / 2);
        let found = std::thread::scope(|scope| {
            let second = scope.spawn(|| draw(&engine, second));
            let mut found = draw(&engine, first);
            found.extend(second.join().unwrap());
            found
        });
        check("two threads", begun, &found);
    }
}

/// A small generator: xorshift64*.
struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 20) % n
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A random view of any kind, whose sides have at least so many pixels. `None` where it has no plan.
fn random_plan(random: &mut Random, least: u32) -> Option<(View, Settings, Plan)> {
    let formula = match random.below(8) {
        0..4 => Formula::MANDELBROT,
        4 => Formula::new(Fold::Absolute, 2).unwrap(),
        5 => Formula::new(Fold::Conjugate, 2).unwrap(),
        _ => {
            let fold = [Fold::None, Fold::Absolute, Fold::Conjugate][random.below(3) as usize];
            Formula::new(fold, 2 + random.below(15) as u32).unwrap()
        }
    };
    let julia =
        (random.below(4) == 0).then(|| [(); 2].map(|()| format!("{:.6}", random.unit() * 2.4 - 1.2).parse().unwrap()));
    let decades = if random.below(3) == 0 { 13 } else { 4 };
    let zoom = f64::from(1 + random.below(9) as u32) * 10_f64.powi(random.below(decades) as i32 - 1);
    let centre = match random.below(3) {
        0 => [format!("{:.9}", random.unit() * 3.0 - 2.0), format!("{:.9}", random.unit() * 2.4 - 1.2)],
        1 => [format!("{:.9}", random.unit() * 3.0 - 2.0), "0".to_owned()],
        _ => ["-2".to_owned(), format!("{:.12}", (random.unit() - 0.5) / zoom)],
    };
    let size = Size::new(least + random.below(150) as u32, least + random.below(150) as u32).unwrap();
    let mut view = View::centred(&centre[0], &centre[1], &format!("{zoom:.6e}")).unwrap().sized(size);
    if random.below(4) == 0 {
        view.rotation = format!("{}", random.below(360)).parse().unwrap();
    }
    if random.below(3) == 0 {
        view.sample = Sample::Corner;
    }
    let settings = Settings {
        limit: [1, 2, 15, 16, 17, 18, 33, 100, 500, 3000, 20_000][random.below(11) as usize],
        formula,
        julia,
        recipe: Recipe::ALL[random.below(2) as usize],
        number: if random.below(2) == 0 { NumberKind::F32 } else { NumberKind::F64 },
        escape_radius: ["2", "2.5", "16"][random.below(3) as usize].parse().unwrap(),
        force: true,
    };
    let plan = Plan::new(&view, &settings, &LIMITS).ok()?;
    Some((view, settings, plan))
}

/// Random views of all kinds by every exact kernel in turn, compared with the processors.
fn random(device: &Device, count: u64) {
    let seed = 0x9e37_79b9_7f4a_7c15;
    let mut random = Random(seed);
    let (mut pixels, mut wrong, mut smooth_values) = (0_u64, 0, 0_u64);
    let begun = Instant::now();
    for i in 0..count {
        let Some((view, settings, plan)) = random_plan(&mut random, 1) else { continue };
        let kernel = match random.below(6) {
            0 => GpuKernel::PerPixel,
            1 => [GpuKernel::RowPerBlock, GpuKernel::GridStride][random.below(2) as usize],
            2 | 3 => GpuKernel::Proven,
            _ => GpuKernel::Tuned,
        };
        let shortcuts = [Shortcuts::EXACT, Shortcuts::NONE][usize::from(random.below(5) == 0)];
        let stages = Stages { first: [16, 64, 1 << 18][random.below(3) as usize], growth: 1 + random.below(4) as u32 };
        // All memory, or so little that the image is computed in pieces, or a little more.
        let memory_bytes = [u64::MAX, 300 << 10, 1 << 20][random.below(3) as usize];
        let engine = cuda(device, Options { kernel, stages, memory_bytes, ..Options::default() }, shortcuts);
        let set = if random.below(3) == 0 { ChannelSet::SMOOTH } else { ChannelSet::NONE };
        let (found, _) = run(&engine, &plan, Strategy::EveryPixel, set);
        let truth = truth(&plan, set);
        pixels += plan.size().pixels();
        let smooth = &found[Channel::Smooth];
        let here = differing(&found.dwell, truth.dwell())
            + smooth.iter().zip(truth.smooth()).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        smooth_values += smooth.len() as u64;
        if here > 0 && wrong < 2000 {
            println!("view {i}: {here} differ: {} {view:?} {settings:?} {stages:?} {shortcuts:?}", kernel.name());
        }
        wrong += here;
    }
    println!(
        "\n{count} random views, seed {seed:#x}: {pixels} pixels, {smooth_values} smooth values, {wrong} differ ({:.0} s)",
        begun.elapsed().as_secs_f64()
    );
}

/// Random views of at least 128 x 128 pixels by proven blocks, compared with the processors, and how much of them is proved.
fn random_proofs(device: &Device, count: u64) {
    let seed = 0x2545_f491_4f6c_dd1d;
    let mut random = Random(seed);
    let [mut pixels, mut proved, mut wrong, mut views, mut with_proofs] = [0_u64; 5];
    let engine = cuda(device, Options { kernel: GpuKernel::Proven, ..Options::default() }, Shortcuts::EXACT);
    let begun = Instant::now();
    while views < count {
        let Some((view, settings, plan)) = random_plan(&mut random, 128) else { continue };
        let (found, report) = run(&engine, &plan, Strategy::Proven, ChannelSet::NONE);
        let here = differing(&found.dwell, truth(&plan, ChannelSet::NONE).dwell()) as u64;
        if here > 0 && wrong < 2000 {
            println!("{here} differ: {view:?} {settings:?}");
        }
        let of_view = report.proved_pixels.unwrap();
        views += 1;
        pixels += plan.size().pixels();
        proved += of_view;
        wrong += here;
        with_proofs += u64::from(of_view * 10 > plan.size().pixels());
    }
    println!(
        "\n{views} random views, seed {seed:#x}: {pixels} pixels, {proved} proved with their block, in {with_proofs} views more than a \
         tenth; {wrong} differ ({:.0} s)",
        begun.elapsed().as_secs_f64()
    );
}
