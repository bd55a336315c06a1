//! An engine computes the dwells of a range of rows. All engines give the same bytes.
//!
//! An engine states facts that never change ([`Engine::info`]) and the memory that a task takes ([`Engine::requirements`]),
//! and computes rows ([`Engine::run`]). Everything that one call did (times, warnings, facts of a device) is in the
//! [`Outcome`] of that call, so that one engine behind an `Arc` serves several renders at once and no call affects the
//! outcome of another. An engine that can also paint returns a [`PaintingEngine`].

use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::colour::Painter;
use crate::deep::pending::Pending;
use crate::deep::report::DeepReport;
use crate::field::FieldRowsMut;
use crate::field::channels::ChannelSet;
use crate::iterate::shortcuts::Shortcuts;
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::plan::Plan;
use crate::plan::points::Points;
use dwell_kernels::Level;
use serde::Serialize;
use std::ops::Range;
use std::time::Duration;

/// Computes the dwells and further channels of a range of rows of a plan.
pub trait Engine: Send + Sync {
    /// Facts that hold for every call.
    fn info(&self) -> EngineInfo;

    /// The thread pool that the engine computes with. Painting and encoding use it too.
    fn pool(&self) -> &ThreadPool;

    /// The level of the kernels by which processors compute points beside the engine, such as more samples in a pixel. It
    /// does not change a result.
    fn processor_level(&self) -> Level {
        Level::best()
    }

    /// The memory that a task takes, of which each call of [`Self::run`] computes at most `rows` rows. Known before the
    /// task begins.
    fn requirements(&self, task: &Task<'_>, rows: u32) -> Requirements;

    /// Fills rows of the image of a task: every dwell, and every channel whose slices are not empty. Concurrent calls are
    /// independent of each other.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when `control` was cancelled, [`Error::Input`] when the engine does not support the task or
    /// the system has not enough memory. The contents of the rows are then undefined.
    fn run(&self, task: &Task<'_>, rows: FieldRowsMut<'_>, control: &Control<'_>) -> Result<Outcome, Error>;

    /// As [`Self::run`], for some of the rows of a field that is computed slice by slice. An engine may leave pixels of them, and decide pixels that earlier slices left: all that `pending` requires.
    ///
    /// # Errors
    /// As [`Self::run`].
    fn run_slice(
        &self,
        task: &Task<'_>,
        (mut rows, slice): (FieldRowsMut<'_>, Range<u32>),
        control: &Control<'_>,
        pending: &mut Pending,
    ) -> Result<Outcome, Error> {
        let _ = pending;
        self.run(task, rows.some_rows_mut(slice), control)
    }

    /// How many lists of scattered points of a deep view, such as more samples in some pixels, the engine computes at once; 0 where threads that each take a list of a few thousand are sooner.
    /// Otherwise [`Self::run`] is called for lists of many points, as plans whose pixels are those points, by as many threads at a time at most. `task` is the one whose view the points are of.
    fn lists_at_once(&self, task: &Task<'_>) -> usize {
        let _ = task;
        0
    }

    /// The engine as one that also paints, if it can.
    fn painting(&self) -> Option<&dyn PaintingEngine> {
        None
    }
}

/// An engine that turns rows of a plan into rows of a picture without returning their dwells.
pub trait PaintingEngine: Send + Sync {
    /// Whether the engine can paint a task with this painter.
    fn can_paint(&self, task: &Task<'_>, painter: &Painter) -> bool;

    /// Computes rows of samples and paints them, to the same bytes as [`Painter::paint`]: `picture` holds whole rows of
    /// pixels, [`Painter::bytes_per_pixel`] bytes each.
    ///
    /// # Errors
    /// As [`Engine::run`]; [`Error::Input`] also when `picture` has another length or [`Self::can_paint`] is false.
    fn paint(
        &self,
        task: &Task<'_>,
        painter: &Painter,
        rows: Range<u32>,
        picture: &mut [u8],
        control: &Control<'_>,
    ) -> Result<PaintOutcome, Error>;
}

/// Facts of an engine that hold for every call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineInfo {
    /// The name of the engine, such as `cpu`.
    pub name: &'static str,
    /// The target of its kernels: an instruction set, or the architecture of a device.
    pub level: String,
    /// The shortcuts that it takes.
    pub shortcuts: Shortcuts,
    /// How tiles are distributed to threads.
    pub schedule: Schedule,
    /// The size of tiles, if one was given; otherwise it is chosen by the size of the image.
    pub tile: Option<TileSize>,
    /// What the wrong pixels of a heuristic strategy depend on, beside the tile: the engine, and its kernel if it has several.
    /// A render that is resumed goes on with an engine of the same text.
    pub inference: String,
    /// The number of samples of a band that is large enough to keep the engine busy.
    pub band_samples: u64,
}

impl EngineInfo {
    /// Samples of a band for an engine on processors: a few chunks for each of many threads, of which dwells and smooth
    /// values stay in a last-level cache until they are painted.
    pub const BAND_SAMPLES: u64 = 1 << 20;

    /// The size of tiles that a task is computed in, if it is not chosen by the size of the image.
    #[must_use]
    pub fn tile_for(&self, task: &Task<'_>) -> Option<TileSize> {
        self.tile.or(self.strategy_for(task).tile())
    }

    /// What the strategy of a task comes to with its channels and size, and with the shortcuts of the engine.
    #[must_use]
    pub fn strategy_for(&self, task: &Task<'_>) -> Strategy {
        let is_deep = matches!(task.plan.points(), Points::Deep(_));
        let samples = if is_deep { 0 } else { task.plan.size().pixels() };
        task.strategy.with(task.channels, self.shortcuts, samples)
    }
}

/// What to compute.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The points and the limit.
    pub plan: &'a Plan,
    /// Which pixels of a tile are computed and which are inferred.
    pub strategy: Strategy,
    /// The channels to compute beside the dwells.
    pub channels: ChannelSet,
}

/// The memory that a task takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Bytes of this machine's memory, pinned memory included.
    pub host_bytes: u64,
    /// Bytes of `host_bytes` that are pinned, through which a device's results pass.
    pub pinned_bytes: u64,
    /// Bytes of a device's memory.
    pub device_bytes: u64,
    /// Whether the engine takes the shortcut `symmetry` itself, so that rows need not be kept to be mirrored.
    pub mirrors: bool,
}

/// What a call of [`Engine::run`] did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Wall time.
    pub times: Times,
    /// Facts to be reported with the result.
    pub notes: Notes,
}

/// What a call of [`PaintingEngine::paint`] did.
#[derive(Clone, Debug, Default)]
pub struct PaintOutcome {
    /// Wall time.
    pub times: Times,
    /// Facts to be reported with the result.
    pub notes: Notes,
    /// Iterations that the plain loop needs for these rows.
    pub iterations: u64,
    /// Samples that did not escape.
    pub interior_pixels: u64,
}

impl PaintOutcome {
    /// Adds what a call for other rows of the same picture did.
    pub(crate) fn add(&mut self, other: Self) {
        self.times.iterate += other.times.iterate;
        self.times.channels += other.times.channels;
        self.times.waiting += other.times.waiting;
        self.times.preparing += other.times.preparing;
        self.notes.add(other.notes);
        self.iterations += other.iterations;
        self.interior_pixels += other.interior_pixels;
    }
}

/// Wall time that an engine spent on a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Time spent on dwells.
    pub iterate: Duration,
    /// Time spent on the other channels. It is reported as part of colouring, although the engine computes them.
    pub channels: Duration,
    /// The part of these in which threads waited for few points that take long. Rows are computed in slices that are so high that it is a small part.
    pub waiting: Duration,
    /// The part of them in which an engine computed what later calls for the same plan do not compute again.
    pub preparing: Duration,
}

/// Facts about calls that are reported with a result and do not change it.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Problems that did not prevent the result, as sentences for the user.
    pub warnings: Vec<String>,
    /// What a device did, if one was used.
    pub device: Option<DeviceReport>,
    /// How dwells in exact arithmetic were proved, if they were.
    pub deep: Option<DeepReport>,
}

impl Notes {
    /// Those of points that are not the pixels of a result: warnings, and the times and the loss of a device, without what is said of pixels and of their kernel.
    pub(crate) fn beside_pixels(self) -> Self {
        let of_points = |device| DeviceReport {
            rows_on_cpu: 0,
            theoretical_occupancy: 0.0,
            written_pixels: None,
            proved_pixels: None,
            ..device
        };
        let device = self.device.map(of_points);
        Self { device, deep: None, ..self }
    }

    /// Adds the notes of a later call.
    pub fn add(&mut self, later: Self) {
        for warning in later.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        match (&mut self.device, later.device) {
            (Some(device), Some(later)) => device.add(later),
            (device @ None, later) => *device = later,
            (Some(_), None) => {}
        }
        match (&mut self.deep, later.deep) {
            (Some(deep), Some(later)) => deep.add(later),
            (deep @ None, later) => *deep = later,
            (Some(_), None) => {}
        }
    }
}

/// What a device did. Times are in seconds; stages overlap, so that their sum can exceed the wall time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceReport {
    /// The name of the device.
    pub name: String,
    /// The kernel that computed dwells, and how it was launched.
    pub kernel: String,
    /// Time to find the device and create a context on it.
    pub context_seconds: f64,
    /// Time to load kernels.
    pub load_seconds: f64,
    /// Time to allocate memory on the device and pinned memory on the host.
    pub allocate_seconds: f64,
    /// Time of the kernels that compute dwells, by events on the device.
    pub kernel_seconds: f64,
    /// Time of smooth values and painting, by events on the device.
    pub paint_seconds: f64,
    /// Time of copies over the bus, by events on the device.
    pub copy_seconds: f64,
    /// Bytes that were copied from the device.
    pub copied_bytes: u64,
    /// Rows that the CPU engine computed because the device could not, or was not ready yet.
    pub rows_on_cpu: u64,
    /// The fraction of a multiprocessor's threads that the kernel's blocks can keep resident, 0 to 1.
    pub theoretical_occupancy: f64,
    /// Pixels that the kernel wrote, if the kernel counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_pixels: Option<u64>,
    /// Pixels whose dwell was proved with that of their block, among those of the rows that were computed, if blocks were proved:
    /// rows that are mirror images of others are not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved_pixels: Option<u64>,
    /// The reason why the device is no longer used, if it was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

impl DeviceReport {
    /// Adds what a later call did on the same device: times and counts are summed, names are those of the later call, the
    /// occupancy is the greater one, and the reason of a loss is the latest.
    fn add(&mut self, later: Self) {
        *self = Self {
            name: later.name,
            kernel: later.kernel,
            context_seconds: self.context_seconds + later.context_seconds,
            load_seconds: self.load_seconds + later.load_seconds,
            allocate_seconds: self.allocate_seconds + later.allocate_seconds,
            kernel_seconds: self.kernel_seconds + later.kernel_seconds,
            paint_seconds: self.paint_seconds + later.paint_seconds,
            copy_seconds: self.copy_seconds + later.copy_seconds,
            copied_bytes: self.copied_bytes + later.copied_bytes,
            rows_on_cpu: self.rows_on_cpu + later.rows_on_cpu,
            theoretical_occupancy: later.theoretical_occupancy.max(self.theoretical_occupancy),
            written_pixels: sum(self.written_pixels, later.written_pixels),
            proved_pixels: sum(self.proved_pixels, later.proved_pixels),
            lost: later.lost.or(self.lost.take()),
        };
    }
}

/// The sum of counts, of which there may be none.
fn sum(own: Option<u64>, later: Option<u64>) -> Option<u64> {
    match (own, later) {
        (Some(own), Some(later)) => Some(own + later),
        (own, later) => own.or(later),
    }
}
