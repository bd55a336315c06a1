//! The engine: rows in turns over a device, copied to where they belong while the next are on their way; and what becomes
//! of them when the device is full or gets lost.

use crate::colours::can_paint;
use crate::driver::{Device, Fault};
use crate::lane::{Delivered, Job, Lane, Opens, SLOTS, Wanted};
use crate::options::{BlockShape, GpuKernel, Options};
use crate::real::Real;
use dwell::{
    By, Cancel, Colouring, Coordinates, CpuEngine, DeviceReport, Engine, Error, Extras, FieldPart, FieldRows, Formula,
    InputError, Painted, Painter, Plan, Progress, Scale, Shortcuts, Spent, Strategy, Team, Work,
};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Pixels that are delivered at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    /// So many that launches and copies are long, so few that the first comes soon.
    pub(crate) pixels: u64,
    /// With fewer than this a device is of no use.
    pub(crate) fewest: u64,
}

const PIECES: Pieces = Pieces { pixels: 1 << 24, fewest: 1 << 11 };

/// Lanes that are kept at hand: one for what is asked for, and one to verify it.
const LANES: usize = 2;

/// Iterates on one CUDA device, and on the processors where the device fails.
///
/// Dwells, smooth values and pictures are those of [`CpuEngine`], bit for bit, unless a kernel that infers was chosen.
/// Distances, and colours by them or by histogram, are left to the processors.
pub struct CudaEngine {
    device: Device,
    devices: Box<dyn Opens>,
    cpu: CpuEngine,
    options: Options,
    shortcuts: Shortcuts,
    pieces: Pieces,
    state: Mutex<State>,
}

struct State {
    /// The lanes at hand, and what they are for, the one used last behind.
    lanes: Vec<(Key, Box<dyn Lane>)>,
    /// Pixels delivered at once: fewer after the memory was full.
    pixels: u64,
    /// Why the device is not used again.
    dead: Option<String>,
    warnings: Vec<String>,
    report: DeviceReport,
}

/// What a lane was opened for, to know whether it will do again.
#[derive(PartialEq)]
struct Key {
    plan: String,
    wanted: Wanted,
    options: Options,
    look: Option<Look>,
}

/// How a picture looks.
#[derive(PartialEq)]
struct Look {
    by: By,
    scale: Scale,
    density: f64,
    offset: f64,
    period: f64,
    interior: [u16; 3],
    palette: Vec<[u16; 3]>,
    bytes_per_pixel: usize,
    samples: u32,
}

impl Look {
    fn of(painter: &Painter) -> Self {
        let Colouring { palette, by, scale, density, offset, .. } = painter.colouring();
        Self {
            by: *by,
            scale: *scale,
            density: *density,
            offset: *offset,
            period: palette.period(),
            interior: palette.interior(),
            palette: palette.table().to_vec(),
            bytes_per_pixel: painter.bytes_per_pixel(),
            samples: painter.samples(),
        }
    }
}

impl Key {
    fn of(job: &Job<'_>) -> Self {
        let Job { plan, wanted, painter, options, .. } = *job;
        // Coordinates follow from the view to the bit, so the view's text will do; but a plan may be thinned.
        let settings = (plan.limit(), plan.number(), plan.formula(), plan.recipe(), plan.julia(), plan.escape_radius());
        let ends = match plan.coordinates() {
            Coordinates::F32(points) => format!("{:?}", ends(points.axes.arrays())),
            Coordinates::F64(points) => format!("{:?}", ends(points.axes.arrays())),
        };
        let view = (plan.view(), plan.size());
        Self { plan: format!("{view:?} {settings:?} {ends}"), wanted, options, look: painter.map(Look::of) }
    }
}

/// The first and last entries of the axes.
fn ends<N: Copy>(axes: [&[N]; 4]) -> [(Option<N>, Option<N>); 4] {
    axes.map(|axis| (axis.first().copied(), axis.last().copied()))
}

/// Where delivered rows go.
type Take<'a> = dyn FnMut(Range<u32>, Delivered<'_>) + 'a;

impl CudaEngine {
    /// On a device, with the processors of `cpu` for what the device does not do.
    ///
    /// # Errors
    /// When the options do not go together.
    pub fn new(device: Device, cpu: CpuEngine, options: Options) -> Result<Self, InputError> {
        let devices = Box::new(Real::new(device.clone()));
        Self::over(device, devices, cpu, options, PIECES)
    }

    pub(crate) fn over(
        device: Device,
        devices: Box<dyn Opens>,
        cpu: CpuEngine,
        options: Options,
        pieces: Pieces,
    ) -> Result<Self, InputError> {
        check(options)?;
        let shortcuts = if options.kernel.is_plain() { Shortcuts::NONE } else { cpu.shortcuts() };
        let state = State {
            lanes: Vec::new(),
            pixels: pieces.pixels,
            dead: None,
            warnings: Vec::new(),
            report: DeviceReport { name: device.name.clone(), kernel: described(options), ..DeviceReport::default() },
        };
        Ok(Self { device, devices, cpu, options, shortcuts, pieces, state: Mutex::new(state) })
    }

    /// What can be chosen of launches.
    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether kernels can do a plan at all.
    fn can_do(&self, plan: &Plan) -> Result<(), String> {
        if self.options.kernel == GpuKernel::DeviceLaunches && plan.formula() != Formula::MANDELBROT {
            return Err(format!("kernel {} is for z^2 + c only", self.options.kernel.name()));
        }
        Ok(())
    }

    /// Has the device do rows, as far as it can. Returns the first row that is left.
    fn drive(&self, job: &Job<'_>, rows: Range<u32>, take: &mut Take<'_>, cancel: &Cancel, progress: &Progress) -> u32 {
        let mut state = self.state();
        let mut next = rows.start;
        while state.dead.is_none() && !cancel.is_cancelled() && next < rows.end {
            let fault = match self.try_rows(&mut state, job, next..rows.end, &mut next, take, cancel, progress) {
                Ok(()) => break,
                Err(fault) => fault,
            };
            // What the lane holds on the device is given back before anything else is tried.
            state.lanes.clear();
            if fault == Fault::Memory && state.pixels / 2 >= self.pieces.fewest {
                state.pixels /= 2;
                continue;
            }
            let name = &self.device.name;
            let warning = format!("cuda:{} ({name}) failed, so processors went on: {fault}", self.device.number);
            state.warnings.push(warning);
            state.dead = Some(fault.to_string());
        }
        next
    }

    #[allow(clippy::too_many_arguments, reason = "a call's parts")]
    fn try_rows(
        &self,
        state: &mut State,
        job: &Job<'_>,
        rows: Range<u32>,
        next: &mut u32,
        take: &mut Take<'_>,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<(), Fault> {
        let key = Key::of(job);
        match state.lanes.iter().position(|(there, _)| *there == key) {
            Some(place) => {
                let lane = state.lanes.remove(place);
                state.lanes.push(lane);
            }
            None => {
                if state.lanes.len() == LANES {
                    state.lanes.remove(0);
                }
                let frugal = state.pixels < self.pieces.pixels;
                let lane = self.devices.open(job, state.pixels, frugal, &mut state.report)?;
                state.lanes.push((key, lane));
            }
        }
        let State { lanes, report, .. } = state;
        let Some((_, lane)) = lanes.last_mut() else { return Ok(()) };
        let width = u64::from(job.plan.size().width);
        let done = Self::turns(lane.as_mut(), rows, width, next, take, cancel, progress);
        lane.report(report);
        done
    }

    /// Rows in turns: some are on their way while those before are taken.
    fn turns(
        lane: &mut dyn Lane,
        rows: Range<u32>,
        width: u64,
        next: &mut u32,
        take: &mut Take<'_>,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<(), Fault> {
        let mut pieces = pieces(rows, lane.rows());
        let mut begun: Vec<(usize, Range<u32>)> = Vec::new();
        let mut slot = 0;
        loop {
            while begun.len() < SLOTS && !cancel.is_cancelled() {
                let Some(piece) = pieces.next() else { break };
                lane.start(slot, piece.clone(), cancel)?;
                begun.push((slot, piece));
                slot = (slot + 1) % SLOTS;
            }
            if begun.is_empty() {
                break;
            }
            let (done, piece) = begun.remove(0);
            let delivered = lane.finish(done)?;
            *next = piece.end;
            progress.add(width * piece.len() as u64);
            take(piece, delivered);
        }
        Ok(())
    }
}

/// Brings a buffer to a length, or says that the system has no memory for it.
fn resize<T: Clone>(buffer: &mut Vec<T>, length: usize, value: T) -> Result<(), InputError> {
    let more = length.saturating_sub(buffer.len());
    let problem = |_| InputError::new("memory", format!("the system has none for {length} pixels"));
    buffer.try_reserve_exact(more).map_err(problem)?;
    buffer.resize(length, value);
    Ok(())
}

/// Rows in pieces of so many.
fn pieces(rows: Range<u32>, most: u32) -> impl Iterator<Item = Range<u32>> {
    let end = rows.end;
    rows.step_by(most.max(1) as usize).map(move |start| start..start.saturating_add(most).min(end))
}

fn check(options: Options) -> Result<(), InputError> {
    if let Some(BlockShape::Threads([across, down])) = options.block {
        let threads = u64::from(across) * u64::from(down);
        let most = u64::from(crate::MOST_THREADS);
        if !(1..=most).contains(&threads) || down > 1024 {
            return Err(InputError::new("block", format!("{across}x{down} are {threads} threads"))
                .accepted(format!("1 to {most} threads")));
        }
    }
    let chosen = options.block.is_some();
    if chosen && matches!(options.kernel, GpuKernel::Tuned | GpuKernel::Levels | GpuKernel::Block) {
        return Err(InputError::new("block", format!("the kernel {} has its own", options.kernel.name()))
            .accepted("with per-pixel, row-per-block, grid-stride or mariani-silver-cdp"));
    }
    let division = options.division;
    let within = |what: &str, value: u32, least: u32, most: u32| {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(InputError::new(what, format!("{value} is out of range")).accepted(format!("{least} to {most}")))
    };
    within("init-subdiv", division.initial, 1, 1024)?;
    within("subdiv", division.parts, 2, 16)?;
    within("max-depth", division.max_depth, 1, 20)?;
    within("min-size", division.min_size, 1, 65_536)
}

fn described(options: Options) -> String {
    let kernel = options.kernel;
    let [across, down] = match options.block {
        Some(BlockShape::Occupancy) => return format!("{}, blocks by occupancy", kernel.name()),
        Some(BlockShape::Threads(block)) => block,
        None => kernel.usual_block(),
    };
    format!("{}, blocks of {across}x{down}", kernel.name())
}

/// Whether the device does it at all: no kernel knows distances, or follows boundaries.
fn iterates(strategy: Strategy, extras: Extras) -> bool {
    !extras.distance && strategy != Strategy::BoundaryTrace
}

/// Bytes of whole pieces, side by side.
fn copy<T: bytemuck::Pod>(team: &Team, to: &mut [T], from: &[u8]) {
    team.copy(bytemuck::cast_slice_mut(to), from);
}

impl Engine for CudaEngine {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn level(&self) -> String {
        let (major, minor) = self.device.capability;
        format!("sm_{major}{minor}")
    }

    fn shortcuts(&self) -> Shortcuts {
        self.shortcuts
    }

    fn team(&self) -> &Team {
        self.cpu.team()
    }

    fn work(&self) -> Work {
        self.cpu.work()
    }

    fn bytes(&self, plan: &Plan, strategy: Strategy, extras: Extras) -> u64 {
        // Whole rows, of dwells and smooth values or of a picture of 16 bits, whichever is more.
        let width = u64::from(plan.size().width) * u64::from(dwell::MOST_SAMPLES);
        let pixels = self.pieces.pixels.max(width).min(plan.size().pixels()) * SLOTS as u64;
        pixels.saturating_mul(if extras.smooth { 12 } else { 6 }).saturating_add(self.cpu.bytes(plan, strategy, extras))
    }

    fn iterate(
        &self,
        plan: &Plan,
        strategy: Strategy,
        part: FieldPart<'_>,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<Spent, Error> {
        let begun = Instant::now();
        let FieldPart { width, rows, dwell, smooth, distance } = part;
        let wanted = if smooth.is_empty() { Wanted::Dwells } else { Wanted::SmoothValues };
        let shortcuts = self.shortcuts;
        let job = Job { plan, shortcuts, options: self.options_for(strategy), wanted, painter: None };
        self.can_do(plan).map_err(|problem| InputError::new("gpu-kernel", problem))?;
        let mut next = rows.start;
        if iterates(strategy, Extras { smooth: false, distance: !distance.is_empty() }) {
            let at = |row: u32| (row - rows.start) as usize * width as usize;
            let mut take = |piece: Range<u32>, delivered: Delivered<'_>| {
                let pixels = at(piece.start)..at(piece.end);
                copy(self.team(), &mut dwell[pixels.clone()], delivered.bytes);
                if !smooth.is_empty() {
                    copy(self.team(), &mut smooth[pixels], delivered.smooth);
                }
            };
            next = self.drive(&job, rows.clone(), &mut take, cancel, progress);
        }
        if cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        if next < rows.end {
            let done = (next - rows.start) as usize * width as usize;
            self.state().report.rows_on_cpu += u64::from(rows.end - next);
            let rest = FieldPart {
                width,
                rows: next..rows.end,
                dwell: &mut dwell[done..],
                smooth: if smooth.is_empty() { smooth } else { &mut smooth[done..] },
                distance: if distance.is_empty() { distance } else { &mut distance[done..] },
            };
            let spent = self.cpu.iterate(plan, strategy, rest, cancel, progress)?;
            return Ok(Spent { iterate: begun.elapsed().saturating_sub(spent.extras), extras: spent.extras });
        }
        Ok(Spent { iterate: begun.elapsed(), ..Spent::default() })
    }

    fn band_samples(&self) -> u64 {
        self.pieces.pixels
    }

    fn mirrors(&self, strategy: Strategy, extras: Extras) -> bool {
        iterates(strategy, extras)
    }

    fn paints(&self, painter: &Painter, strategy: Strategy) -> bool {
        can_paint(painter) && iterates(strategy, painter.colouring().extras()) && self.state().dead.is_none()
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
    ) -> Result<Painted, Error> {
        let begun = Instant::now();
        self.can_do(plan).map_err(|problem| InputError::new("gpu-kernel", problem))?;
        let options = self.options_for(strategy);
        let job = Job { plan, shortcuts: self.shortcuts, options, wanted: Wanted::Picture, painter: Some(painter) };
        let samples = painter.samples();
        let line = plan.size().width as usize / samples as usize * painter.bytes_per_pixel();
        let at = |row: u32| ((row - rows.start) / samples) as usize * line;
        let mut painted = Painted::default();
        let mut take = |piece: Range<u32>, delivered: Delivered<'_>| {
            self.team().copy(&mut picture[at(piece.start)..at(piece.end)], delivered.bytes);
            painted.iterations += delivered.totals.0;
            painted.interior_pixels += delivered.totals.1;
        };
        let next = self.drive(&job, rows.clone(), &mut take, cancel, progress);
        if cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        if next < rows.end {
            self.state().report.rows_on_cpu += u64::from(rows.end - next);
            let rest = &mut picture[at(next)..];
            self.paint_on_cpu(plan, strategy, painter, next..rows.end, rest, &mut painted, cancel, progress)?;
        }
        if cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        painted.spent = Spent { iterate: begun.elapsed(), ..Spent::default() };
        Ok(painted)
    }

    fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    fn device(&self) -> Option<DeviceReport> {
        Some(self.state().report.clone())
    }
}

impl CudaEngine {
    /// The options for a strategy: every pixel is asked for by the kernel chosen, and Mariani-Silver by one that does so.
    fn options_for(&self, strategy: Strategy) -> Options {
        let kernel = match (strategy, self.options.kernel) {
            (Strategy::MarianiSilver, kernel) if kernel.is_exact() => GpuKernel::Levels,
            (Strategy::EveryPixel, kernel) if !kernel.is_exact() => GpuKernel::Tuned,
            (_, kernel) => kernel,
        };
        let block = if kernel == self.options.kernel { self.options.block } else { None };
        Options { kernel, block, ..self.options }
    }

    /// Rows that the device left, a few at a time: the processors know dwells and paint them.
    #[allow(clippy::too_many_arguments, reason = "a call's parts")]
    fn paint_on_cpu(
        &self,
        plan: &Plan,
        strategy: Strategy,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        painted: &mut Painted,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<(), Error> {
        let width = plan.size().width;
        let samples = painter.samples();
        let few = u32::try_from((1_u64 << 20) / u64::from(width)).unwrap_or(u32::MAX).max(1).next_multiple_of(samples);
        let with_smooth = painter.colouring().extras().smooth;
        let (mut dwell, mut smooth) = (Vec::new(), Vec::new());
        let line = (width / samples) as usize * painter.bytes_per_pixel();
        for piece in pieces(rows.clone(), few) {
            let pixels = piece.len() * width as usize;
            resize(&mut dwell, pixels, 0)?;
            resize(&mut smooth, if with_smooth { pixels } else { 0 }, 0.0)?;
            let part =
                FieldPart { width, rows: piece.clone(), dwell: &mut dwell, smooth: &mut smooth, distance: &mut [] };
            self.cpu.iterate(plan, strategy, part, cancel, progress)?;
            let field = FieldRows { width, dwell: &dwell, smooth: &smooth, distance: &[] };
            let at = |row: u32| ((row - rows.start) / samples) as usize * line;
            painter.paint(field, &mut picture[at(piece.start)..at(piece.end)]);
            painted.iterations += u64::try_from(field.iterations(plan.limit())).unwrap_or(u64::MAX);
            painted.interior_pixels += field.interior_pixels();
        }
        Ok(())
    }
}
