//! The engine: what the device can compute is computed there, and the rest, or what is left after a fault, by the
//! processors.

use crate::call::{Call, pieces};
use crate::deep;
use crate::deep::sessions::DeepSessions;
use crate::device::CudaDevice;
use crate::driver::{Device, Fault};
use crate::needs::ROUNDED;
use crate::options::{GpuKernel, Options};
use crate::paint_tables::{USUAL_TABLE_BYTES, can_paint};
use crate::pool::SessionPool;
use crate::session::{Budget, Content, DeliveredRows, OpenSession, SLOTS, SessionSpec};
use dwell::{
    By, Channel, ChannelSet, ChannelSlices, ChannelSlicesMut, Control, CpuEngine, Engine, EngineInfo, Error, FieldRows,
    FieldRowsMut, Formula, InputError, Notes, Outcome, PaintOutcome, Painter, PaintingEngine, Parameter, Pending, Plan,
    Problem, Requirements, Shortcuts, Strategy, Task, ThreadPool, Times,
};
use dwell_kernels::with_standard_floats;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Pixels delivered at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    /// So many that launches and copies are long, so few that the first piece arrives soon.
    pub(crate) pixels: u64,
    /// The fewest that are tried when the device's memory is full.
    pub(crate) fewest: u64,
}

const PIECES: Pieces = Pieces { pixels: 1 << 24, fewest: 1 << 11 };

/// Pixels from which on proofs for blocks are faster than every pixel.
const PROVEN_PIXELS: u64 = 1 << 25;

/// Free sessions that are kept in any case, if their memory is less than half of the device's.
const FEWEST_SESSIONS: usize = 8;

/// Computes on one CUDA device, and on the processors where the device fails.
///
/// Dwells, smooth values and pictures are those of [`CpuEngine`], bit for bit, unless a kernel that infers was chosen.
/// Other channels than [`Self::CHANNELS`] and, of deep views, [`Self::DEEP_CHANNELS`], and colours by them or by histogram, are left to the processors, and so are
/// pictures with layers, which the processors paint: from the device's channels where it computes all of them.
///
/// Calls from several threads run at once: each takes a device session of its own out of a pool, and no lock is held
/// while it works. Warnings and the device's report belong to a call. When the device is lost, the processors compute the
/// rest of the call, with a warning; later calls do not use the device and carry no warning, but the report's `lost`.
pub struct CudaEngine {
    pub(crate) device: Device,
    pub(crate) backend: Arc<dyn OpenSession>,
    cpu: CpuEngine,
    pub(crate) options: Options,
    shortcuts: Shortcuts,
    pub(crate) pieces: Pieces,
    pub(crate) sessions: Arc<SessionPool>,
    pub(crate) deep_sessions: DeepSessions,
    /// Why the device is not used again, once it is lost.
    lost: OnceLock<String>,
}

impl CudaEngine {
    /// The channels that a device computes; tasks with others are left to the processors.
    pub const CHANNELS: ChannelSet = ChannelSet::SMOOTH;

    /// The channels that devices compute of deep views, beside the dwells.
    pub const DEEP_CHANNELS: ChannelSet = deep::pixels::channels();

    /// An engine on a device; `cpu` computes whatever the device does not.
    ///
    /// # Errors
    /// When an option is out of range, or does not go with the kernel.
    pub fn new(device: Device, cpu: CpuEngine, options: Options) -> Result<Self, InputError> {
        let backend = Arc::new(CudaDevice::new(device.clone()));
        Self::over(device, backend, cpu, options, PIECES)
    }

    pub(crate) fn over(
        device: Device,
        backend: Arc<dyn OpenSession>,
        cpu: CpuEngine,
        options: Options,
        pieces: Pieces,
    ) -> Result<Self, InputError> {
        options.check()?;
        let shortcuts = if options.kernel.is_plain() { Shortcuts::NONE } else { cpu.info().shortcuts };
        // Those of all threads, and of a render's verification.
        let most = (2 * cpu.pool().threads()).max(FEWEST_SESSIONS);
        let sessions = Arc::new(SessionPool::new(most, options.memory_bytes.min(device.memory_bytes)));
        let lost = OnceLock::new();
        let deep_sessions = DeepSessions::default();
        Ok(Self { device, backend, cpu, options, shortcuts, pieces, sessions, deep_sessions, lost })
    }

    /// The kernel, and how it is launched.
    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    /// Starts a thread that gets the device ready for deep views, which takes 0.2 s. Meanwhile the caller can plan one, and calls for deep views compute rows by the processors. The first call that uses the device
    /// reports a fault of it.
    pub fn get_ready_for_deep_views(&self) {
        if self.lost().is_none() {
            self.deep_sessions.open_ahead(&self.backend, &self.sessions);
        }
    }

    /// Why the device is not used again, if it is lost: the processors then compute everything.
    #[must_use]
    pub fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// Never uses the device again. Returns the reason, which is that of the first fault: calls that run at the same time fail together.
    pub(crate) fn lose(&self, fault: &Fault) -> &str {
        let reason = self.lost.get_or_init(|| fault.to_string());
        self.free_idle();
        reason
    }

    /// Frees the device memory of sessions that no call is using. False when there are none.
    pub(crate) fn free_idle(&self) -> bool {
        self.sessions.clear() | self.deep_sessions.clear()
    }

    /// The options for a strategy: every pixel by the chosen kernel if it is exact, Mariani-Silver by the chosen kernel
    /// if it infers.
    fn options_for(&self, strategy: Strategy) -> Options {
        let kernel = match (strategy, self.options.kernel) {
            (Strategy::MarianiSilver, kernel) if kernel.is_exact() => GpuKernel::Levels,
            (Strategy::Auto | Strategy::EveryPixel | Strategy::Proven, kernel) if !kernel.is_exact() => {
                GpuKernel::Tuned
            }
            (_, kernel) => kernel,
        };
        let block = if kernel == self.options.kernel { self.options.block } else { None };
        Options { kernel, block, ..self.options }
    }

    /// Whether blocks of a task are proved where the kernel leaves the choice: where it is the strategy, and in large images
    /// otherwise.
    fn proves(&self, task: &Task<'_>) -> bool {
        match task.strategy {
            Strategy::Proven => true,
            Strategy::Auto => {
                task.plan.size().pixels() >= PROVEN_PIXELS && self.shortcuts.cycles && self.shortcuts.interior
            }
            _ => false,
        }
    }

    /// What the device is to compute of a task; an error when the kernel is not for the task's formula.
    fn spec<'a>(
        &self,
        task: &Task<'a>,
        content: Content,
        painter: Option<&'a Painter>,
    ) -> Result<SessionSpec<'a>, InputError> {
        let points = task.plan.points();
        if !points.are_direct() {
            return Err(points.unsupported_by(self.info().name));
        }
        let by_smooth_values = painter.is_some_and(|painter| painter.colouring().by == By::Smooth);
        let mut options = self.options_for(task.strategy);
        // Proofs are made where the dwells alone are wanted: z_n of each pixel that escapes is not known from its block.
        let only_dwells = content != Content::SmoothValues && !by_smooth_values;
        if options.kernel == GpuKernel::Proven && !only_dwells {
            options.kernel = GpuKernel::Tuned;
        } else if options.kernel == GpuKernel::Tuned && only_dwells && self.proves(task) {
            options.kernel = GpuKernel::Proven;
        }
        if options.kernel == GpuKernel::DeviceLaunches && task.plan.formula() != Formula::MANDELBROT {
            let problem = format!("{} computes z^2 + c only", options.kernel.name());
            return Err(InputError::new(Problem::Unsupported(problem)).about(Parameter::Named("gpu-kernel")));
        }
        Ok(SessionSpec { plan: task.plan, shortcuts: self.shortcuts, options, content, painter })
    }

    /// Paints rows that the device has not painted, a few at a time: the processors compute their channels and paint
    /// them.
    fn paint_on_cpu(
        &self,
        task: &Task<'_>,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        painted: &mut PaintOutcome,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let width = task.plan.size().width;
        let samples = painter.side();
        let few = u32::try_from((1_u64 << 20) / u64::from(width)).unwrap_or(u32::MAX).max(1).next_multiple_of(samples);
        let channels = painter.colouring().channels();
        let task = Task { channels, ..*task };
        let (mut dwell, mut smooth) = (Vec::new(), Vec::new());
        let line = (width / samples) as usize * painter.bytes_per_pixel();
        for piece in pieces(rows.clone(), few) {
            let pixels = piece.len() * width as usize;
            resize(&mut dwell, pixels, 0)?;
            resize(&mut smooth, if channels.contains(Channel::Smooth) { pixels } else { 0 }, 0.0)?;
            let mut slices = ChannelSlicesMut::of_dwells(&mut dwell);
            slices[Channel::Smooth] = &mut smooth;
            self.cpu.run(&task, FieldRowsMut::new(width, piece.clone(), slices)?, control)?;
            let mut slices = ChannelSlices::of_dwells(&dwell);
            slices[Channel::Smooth] = &smooth;
            let field = FieldRows::new(width, slices)?;
            let at = |row: u32| ((row - rows.start) / samples) as usize * line;
            painter.paint(field, piece.start / samples, &mut picture[at(piece.start)..at(piece.end)]);
            painted.iterations += u64::try_from(field.iterations(task.plan.limit())).unwrap_or(u64::MAX);
            painted.interior_pixels += field.interior_pixels();
        }
        Ok(())
    }
}

/// Resizes a buffer; an error when the system has no memory for it.
fn resize<T: Clone>(buffer: &mut Vec<T>, length: usize, value: T) -> Result<(), InputError> {
    let more = length.saturating_sub(buffer.len());
    let needed_bytes = length.saturating_mul(size_of::<T>()) as u64;
    let what = || format!("{length} pixels");
    buffer.try_reserve_exact(more).map_err(|_| {
        InputError::new(Problem::Memory { what: what(), needed_bytes, allowed_bytes: None }).about(Parameter::Size)
    })?;
    buffer.resize(length, value);
    Ok(())
}

/// Whether the device computes these channels of a task: no kernel computes other channels, traces boundaries or proves dwells in
/// exact arithmetic. The processors compute the rest.
fn computes(task: &Task<'_>, channels: ChannelSet) -> bool {
    CudaEngine::CHANNELS.includes(channels)
        && task.strategy != Strategy::BoundaryTrace
        && task.plan.points().are_direct()
}

/// Refuses rows that are not of a plan's image.
fn check_rows(plan: &Plan, width: u32, rows: &Range<u32>) -> Result<(), InputError> {
    let size = plan.size();
    if width == size.width && rows.start <= rows.end && rows.end <= size.height {
        return Ok(());
    }
    let problem = format!("{width} columns, rows {rows:?} are not of the plan's image");
    Err(InputError::malformed(problem).about(Parameter::Named("field")))
}

/// Copies bytes into pixels, on all threads where there are many.
pub(crate) fn copy<T: bytemuck::Pod>(pool: &ThreadPool, to: &mut [T], from: &[u8]) {
    /// Bytes that one thread copies faster than others start.
    const FEW: usize = 1 << 20;
    let to = bytemuck::cast_slice_mut(to);
    if from.len() <= FEW { to.copy_from_slice(from) } else { pool.copy(to, from) }
}

/// An error if the call was cancelled.
fn check_cancelled(control: &Control<'_>) -> Result<(), Error> {
    if control.cancel.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
}

/// What the engine does, in the standard floating-point environment.
impl CudaEngine {
    fn compute(
        &self,
        task: &Task<'_>,
        (mut rows, wanted): (FieldRowsMut<'_>, Range<u32>),
        control: &Control<'_>,
        pending: &mut Pending,
    ) -> Result<Outcome, Error> {
        let begun = Instant::now();
        check_rows(task.plan, rows.width(), &rows.rows())?;
        let channels = rows.set();
        if deep::device::computes(task, channels) {
            return deep::device::run(self, &self.cpu, task, (rows, wanted), control, pending);
        }
        let mut call = Call::new(self, control);
        let mut next = wanted.start;
        if computes(task, channels) {
            let with_smooth = channels.contains(Channel::Smooth);
            let content = if with_smooth { Content::SmoothValues } else { Content::Dwells };
            let spec = self.spec(task, content, None)?;
            let mut store = |piece: Range<u32>, delivered: DeliveredRows<'_>| {
                let mut to = rows.some_rows_mut(piece);
                let mut to = to.channels_mut();
                copy(self.pool(), to.dwell, delivered.bytes);
                copy(self.pool(), to[Channel::Smooth], delivered.smooth);
            };
            next = call.on_device(&spec, wanted.clone(), &mut store);
        }
        check_cancelled(control)?;
        let (mut of_channels, mut of_cpu) = (Duration::ZERO, Notes::default());
        if next < wanted.end {
            let rest = next..wanted.end;
            call.leave_to_cpu(&rest);
            let outcome = self.cpu.run(task, rows.some_rows_mut(rest), control)?;
            (of_channels, of_cpu) = (outcome.times.channels, outcome.notes);
        }
        let times =
            Times { iterate: begun.elapsed().saturating_sub(of_channels), channels: of_channels, ..Times::default() };
        let mut notes = call.into_notes();
        notes.add(of_cpu);
        Ok(Outcome { times, notes })
    }

    fn paint_rows(
        &self,
        task: &Task<'_>,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        control: &Control<'_>,
    ) -> Result<PaintOutcome, Error> {
        let begun = Instant::now();
        let width = task.plan.size().width;
        check_rows(task.plan, width, &rows)?;
        let samples = painter.side();
        let line = (width / samples) as usize * painter.bytes_per_pixel();
        let at = |row: u32| ((row - rows.start) / samples) as usize * line;
        let is_whole = |side: u32| side.is_multiple_of(samples);
        if !is_whole(width) || !is_whole(rows.end - rows.start) || picture.len() != at(rows.end) {
            let problem = format!("{} bytes are not the picture of rows {rows:?}", picture.len());
            return Err(InputError::malformed(problem)
                .about(Parameter::Named("picture"))
                .accepts(format!("{} bytes", at(rows.end)))
                .into());
        }
        // The device may be lost since `can_paint` was called: then the processors paint.
        if !can_paint(painter) || !computes(task, painter.colouring().channels()) {
            let problem = Problem::Unsupported("no kernel paints these colours".to_owned());
            return Err(InputError::new(problem).about(Parameter::Named("colouring")).into());
        }
        let spec = self.spec(task, Content::Picture, Some(painter))?;
        let mut call = Call::new(self, control);
        let mut painted = PaintOutcome::default();
        let mut store = |piece: Range<u32>, delivered: DeliveredRows<'_>| {
            copy(self.pool(), &mut picture[at(piece.start)..at(piece.end)], delivered.bytes);
            painted.iterations += delivered.totals.0;
            painted.interior_pixels += delivered.totals.1;
        };
        let next = call.on_device(&spec, rows.clone(), &mut store);
        check_cancelled(control)?;
        if next < rows.end {
            call.leave_to_cpu(&(next..rows.end));
            self.paint_on_cpu(task, painter, next..rows.end, &mut picture[at(next)..], &mut painted, control)?;
        }
        painted.times = Times { iterate: begun.elapsed(), ..Times::default() };
        painted.notes = call.into_notes();
        Ok(painted)
    }
}

impl Engine for CudaEngine {
    fn info(&self) -> EngineInfo {
        let (major, minor) = self.device.capability;
        EngineInfo {
            name: "cuda",
            level: format!("sm_{major}{minor}"),
            shortcuts: self.shortcuts,
            inference: format!("cuda {:?}", self.options_for(Strategy::MarianiSilver)),
            band_samples: self.pieces.pixels,
            ..self.cpu.info()
        }
    }

    fn pool(&self) -> &ThreadPool {
        self.cpu.pool()
    }

    fn requirements(&self, task: &Task<'_>, rows: u32) -> Requirements {
        let on_cpu = self.cpu.requirements(task, rows);
        if deep::device::computes(task, task.channels) {
            let memory = self.options.memory_bytes.min(self.device.memory_bytes);
            return deep::device::requirements(on_cpu, memory);
        }
        if !computes(task, task.channels) {
            return on_cpu;
        }
        // Whole rows of dwells and smooth values, or of a picture of 16 bits a channel, whichever is more.
        let size = task.plan.size();
        let width = u64::from(size.width) * u64::from(dwell::MOST_SAMPLES);
        let pixels = self.pieces.pixels.max(width).min(size.pixels());
        let rounded = if pixels < ROUNDED as u64 { pixels.next_power_of_two() } else { pixels };
        let pixels = rounded * SLOTS as u64;
        let with_smooth = task.channels.contains(Channel::Smooth);
        let delivered = pixels.saturating_mul(if with_smooth { 12 } else { 6 });
        // Coordinates and tables pass through pinned memory as well.
        let uploaded = 2 * task.plan.bytes() + USUAL_TABLE_BYTES as u64;
        let memory = self.options.memory_bytes.min(self.device.memory_bytes);
        let content = if with_smooth { Content::SmoothValues } else { Content::Dwells };
        let of_rows = || {
            let spec = self.spec(task, content, None).ok()?;
            let needs = self.sessions.needs(&spec, Budget { pixels: self.pieces.pixels, frugal: false }).ok()?;
            // The picture of the same rows, for a call that paints.
            Some(needs.capacity.rounded().device_bytes(&needs.shape).saturating_add(6 * pixels).min(memory))
        };
        Requirements {
            host_bytes: delivered.saturating_add(uploaded).saturating_add(on_cpu.host_bytes),
            pinned_bytes: delivered.saturating_add(uploaded),
            // Fewer rows are computed at once where so many do not fit.
            device_bytes: of_rows().unwrap_or(memory).saturating_add(uploaded),
            mirrors: true,
        }
    }

    fn run(&self, task: &Task<'_>, rows: FieldRowsMut<'_>, control: &Control<'_>) -> Result<Outcome, Error> {
        let slice = rows.rows();
        self.run_slice(task, (rows, slice), control, &mut Pending::default())
    }

    fn run_slice(
        &self,
        task: &Task<'_>,
        slice: (FieldRowsMut<'_>, Range<u32>),
        control: &Control<'_>,
        pending: &mut Pending,
    ) -> Result<Outcome, Error> {
        with_standard_floats(|| self.compute(task, slice, control, pending))
    }

    fn lists_at_once(&self, task: &Task<'_>) -> usize {
        if !deep::device::computes(task, task.channels) || self.lost().is_some() {
            return 0;
        }
        // Each session has blocks of its own on the device, and each list a thread beside those of the pool.
        let memory = self.options.memory_bytes.min(self.device.memory_bytes);
        let is_roomy = deep::device::memory_of_sessions(2, &self.cpu.requirements(task, 1)) <= memory;
        if is_roomy && self.pool().threads() > 1 { 2 } else { 1 }
    }

    fn painting(&self) -> Option<&dyn PaintingEngine> {
        Some(self)
    }
}

impl PaintingEngine for CudaEngine {
    fn can_paint(&self, task: &Task<'_>, painter: &Painter) -> bool {
        can_paint(painter) && computes(task, painter.colouring().channels()) && self.lost().is_none()
    }

    fn paint(
        &self,
        task: &Task<'_>,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        control: &Control<'_>,
    ) -> Result<PaintOutcome, Error> {
        with_standard_floats(|| self.paint_rows(task, painter, rows, picture, control))
    }
}
