//! How each kernel of dwells is launched over rows.

use crate::driver::{Address, Device, Fault, Occupancy, Stream};
use crate::kernel::{
    CdpDivide, Kernel, LevelsBorder, LevelsGrid, LevelsLeaf, Proven, ProvenLate, ProvenRest, Rows, Signature,
    TunedFirst, TunedStage,
};
use crate::lists::{COUNTS, Corners, Lists};
use crate::modules::Modules;
use crate::options::{BlockShape, Division, GpuKernel, MOST_THREADS, Options};
use crate::proof::BlockProof;
use crate::shared::{
    BLOCK_COLUMNS, BLOCK_ROWS, BLOCK_THREADS, LONG_BATCH, PROLOGUE_STEPS, PROVEN_THREADS, REGION_COLUMNS, REGION_ROWS,
    TILE_SIDE, shared_struct,
};
use crate::task::Task;
use dwell::Cancel;
use dwell_kernels::Kernels;
use std::ops::Range;
use std::time::Duration;

/// The most blocks of a grid, down.
const MOST_DOWN: u32 = 65_535;
/// The most steps of a launch: fractions of a second, so that a display's watchdog does not end it and Ctrl-C takes
/// effect.
const LONGEST_STAGE: u32 = 1 << 18;
/// Device-side launches that may be pending: the published workloads have 86,528.
const PENDING_LAUNCHES: usize = 1 << 18;
/// More steps than any point has left, in whole batches of either length.
const TO_THE_END: u32 = u32::MAX / LONG_BATCH * LONG_BATCH;
/// The shape of blocks of kernels that are compiled for one.
const BLOCK: [u32; 2] = [BLOCK_THREADS, 1];

shared_struct! {
    /// How device-side launches divide rectangles.
    struct LaunchDivision<'a> {
        parts: u32,
        min_size: u32,
        max_depth: u32,
        /// Device-side launches that failed, and the last error.
        failed: Address<'a, u32>,
        error: Address<'a, u32>,
    }
}

const _: () = assert!(size_of::<LaunchDivision<'_>>() == 32);

/// The kernels that one choice of options launches.
enum Code<N> {
    Tuned { first: Kernel<TunedFirst<N>>, stage: Kernel<TunedStage<N>> },
    Proven(ProvenCode<N>),
    PerPixel(Kernel<Rows<N>>),
    RowPerBlock(Kernel<Rows<N>>),
    GridStride(Kernel<Rows<N>>),
    Tiles(Kernel<Rows<N>>),
    Levels { grid: Kernel<LevelsGrid>, border: Kernel<LevelsBorder<N>>, leaf: Kernel<LevelsLeaf<N>> },
    DeviceLaunches(Kernel<CdpDivide<N>>),
}

/// What the kernels count as pixels written, of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Nothing,
    /// All of them.
    Written(u64),
    /// Those that are not proved.
    NotProved(u64),
}

impl Counted {
    /// This and what the same kernels count of other rows.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, other) => other,
            (Self::Written(own) | Self::NotProved(own), Self::Written(other)) => Self::Written(own + other),
            (Self::Written(own) | Self::NotProved(own), Self::NotProved(other)) => Self::NotProved(own + other),
            (own, Self::Nothing) => own,
        }
    }
}

/// The kernels that prove blocks, and those for the pixels that are left.
#[derive(Clone, Copy)]
struct ProvenCode<N> {
    blocks: Kernel<Proven<N>>,
    parts: Kernel<Proven<N>>,
    rest: Kernel<ProvenRest<N>>,
    late: Kernel<ProvenLate<N>>,
    stage: Kernel<TunedStage<N>>,
}

/// The stages of the surviving points of some rows: how many steps each has. See [`Stages`](crate::options::Stages).
#[derive(Clone, Copy)]
struct StageSteps {
    /// Steps of the stage at hand.
    steps: u32,
    /// Steps that points have left to the limit.
    left: u32,
    growth: u32,
}

/// The kernels of a session, ready to be launched.
pub(crate) struct Launcher<N> {
    options: Options,
    code: Code<N>,
    block: [u32; 2],
    multiprocessors: u32,
    pub(crate) occupancy: Occupancy,
}

impl<N: Kernels> Launcher<N> {
    /// Loads the kernels for a rule. With `with_ends`, they store z_n.
    pub(crate) fn new(
        modules: &mut Modules,
        device: &Device,
        options: Options,
        rule: &str,
        with_ends: bool,
    ) -> Result<Self, Fault> {
        let code = match options.kernel {
            GpuKernel::Tuned => Code::Tuned {
                first: modules.tuned_first(rule, with_ends)?,
                stage: modules.tuned_stage(rule, with_ends)?,
            },
            GpuKernel::Proven => Code::Proven(ProvenCode {
                blocks: modules.proven("proven_blocks", rule)?,
                parts: modules.proven("proven_parts", rule)?,
                rest: modules.proven_rest(rule)?,
                late: modules.proven_late(rule)?,
                stage: modules.tuned_stage(rule, false)?,
            }),
            GpuKernel::PerPixel => Code::PerPixel(modules.per_pixel(rule)?),
            GpuKernel::RowPerBlock => Code::RowPerBlock(modules.row_per_block(rule)?),
            GpuKernel::GridStride => Code::GridStride(modules.grid_stride(rule)?),
            GpuKernel::Block => Code::Tiles(modules.block_fill(rule)?),
            GpuKernel::Levels => Code::Levels {
                grid: modules.levels_grid()?,
                border: modules.levels_border(rule)?,
                leaf: modules.levels_leaf(rule)?,
            },
            GpuKernel::DeviceLaunches => {
                modules.allow_pending_launches(PENDING_LAUNCHES)?;
                Code::DeviceLaunches(modules.cdp_divide(rule)?)
            }
        };
        let (block, occupancy) = match &code {
            Code::Tuned { first, .. } => shape(*first, options, device),
            Code::Proven(code) => shape(code.rest, options, device),
            Code::PerPixel(kernel) | Code::RowPerBlock(kernel) | Code::GridStride(kernel) | Code::Tiles(kernel) => {
                shape(*kernel, options, device)
            }
            Code::Levels { border, .. } => shape(*border, options, device),
            Code::DeviceLaunches(divide) => shape(*divide, options, device),
        }?;
        Ok(Self { options, code, block, multiprocessors: device.multiprocessors.max(1), occupancy })
    }

    /// Whether the kernel infers pixels from their surroundings.
    pub(crate) fn infers(&self) -> bool {
        !self.options.kernel.is_exact()
    }

    /// Queues the computation of rows, with lists of survivors that have room for so many. Returns what the kernels count.
    pub(crate) fn iterate(
        &self,
        stream: &Stream,
        (lists, list_rows): (&Lists<N>, u32),
        (task, proof): (Task<'_, N>, &BlockProof),
        rows: Range<u32>,
        cancel: &Cancel,
    ) -> Result<Counted, Fault> {
        let task = task.over(rows.clone());
        let (width, height) = (task.width(), rows.end - rows.start);
        let pixels = u64::from(width) * u64::from(height);
        let [across, down] = self.block;
        match self.code {
            Code::Tuned { first, stage } => {
                for rows in pieces(rows, list_rows.min(MOST_DOWN * BLOCK_ROWS)) {
                    self.tuned(stream, (first, stage), lists, task.over(rows), cancel)?;
                }
                Ok(Counted::Nothing)
            }
            Code::Proven(code) => {
                for rows in pieces(rows, list_rows) {
                    self.proven(stream, code, lists, (task.over(rows), proof), cancel)?;
                }
                Ok(Counted::NotProved(pixels))
            }
            Code::PerPixel(kernel) => {
                let grid = [width.div_ceil(across), height.div_ceil(down).min(MOST_DOWN)];
                kernel.launch(stream, grid, self.block, (task,))?;
                Ok(Counted::Nothing)
            }
            Code::RowPerBlock(kernel) => {
                kernel.launch(stream, [height, 1], self.block, (task,))?;
                Ok(Counted::Nothing)
            }
            Code::GridStride(kernel) => {
                kernel.launch(stream, [32, 32], self.block, (task,))?;
                Ok(Counted::Nothing)
            }
            Code::Tiles(kernel) => {
                lists.counters.will_change();
                let task = task.counting(lists.counters.written());
                for rows in pieces(rows, TILE_SIDE * MOST_DOWN) {
                    let grid = [width.div_ceil(TILE_SIDE), (rows.end - rows.start).div_ceil(TILE_SIDE)];
                    kernel.launch(stream, grid, self.block, (task.over(rows),))?;
                }
                Ok(Counted::Written(pixels))
            }
            Code::Levels { grid, border, leaf } => {
                lists.counters.will_change();
                self.levels(stream, (grid, border, leaf), lists, task.counting(lists.counters.written()))?;
                Ok(Counted::Written(pixels))
            }
            Code::DeviceLaunches(divide) => {
                lists.counters.will_change();
                let Division { initial, parts, max_depth, min_size } = self.options.division;
                let (failed, error) = (lists.counters.failed(), lists.counters.error());
                let division = LaunchDivision { parts, min_size, max_depth, failed, error };
                let all = Corners { left: 0, top: rows.start, right: width, bottom: rows.end };
                let task = task.counting(lists.counters.written());
                divide.launch(stream, [initial, initial], self.block, (task, division, all, initial, 1))?;
                Ok(Counted::Written(pixels))
            }
        }
    }

    /// Launches the first kernel over rows that the lists have room for, then stages over the surviving points.
    fn tuned(
        &self,
        stream: &Stream,
        (first, stage): (Kernel<TunedFirst<N>>, Kernel<TunedStage<N>>),
        lists: &Lists<N>,
        task: Task<'_, N>,
        cancel: &Cancel,
    ) -> Result<(), Fault> {
        let steps = self.first_stage(&task);
        lists.counters.clear(stream)?;
        lists.counters.will_change();
        let rows = task.rows();
        let pixels = u64::from(task.width()) * u64::from(rows.end - rows.start);
        let list = lists.survivors(0, 0, pixels)?;
        let grid = [task.width().div_ceil(BLOCK_COLUMNS), (rows.end - rows.start).div_ceil(BLOCK_ROWS)];
        first.launch(stream, grid, BLOCK, (task, list, steps.or_to_the_end()))?;
        self.stages(stream, stage, lists, task, steps, cancel)
    }

    /// Proves blocks of rows that the lists have room for, then launches the first kernel over the cells that are left, and stages
    /// over the surviving points.
    fn proven(
        &self,
        stream: &Stream,
        code: ProvenCode<N>,
        lists: &Lists<N>,
        (task, proof): (Task<'_, N>, &BlockProof),
        cancel: &Cancel,
    ) -> Result<(), Fault> {
        let steps = self.first_stage(&task);
        lists.counters.clear_counts(stream)?;
        lists.counters.will_change();
        let task = task.counting(lists.counters.written());
        let rows = task.rows();
        let size = [task.width(), rows.end - rows.start];
        let list = lists.survivors(0, 0, u64::from(size[0]) * u64::from(size[1]))?;
        let cells = lists.cells(size)?;
        let regions = u64::from(size[0].div_ceil(REGION_COLUMNS)) * u64::from(size[1].div_ceil(REGION_ROWS));
        let blocks = u32::try_from(regions.div_ceil(u64::from(PROVEN_THREADS / 32))).unwrap_or(u32::MAX);
        let [many, threads] = [[self.multiprocessors * 32, 1], [PROVEN_THREADS, 1]];
        code.blocks.launch(stream, [blocks, 1], threads, (task, *proof, cells))?;
        code.parts.launch(stream, many, threads, (task, *proof, cells))?;
        // As many as fit at once: each takes cells as it comes to them.
        let at_once = [self.multiprocessors * self.occupancy.blocks.max(1), 1];
        code.rest.launch(stream, at_once, threads, (task, *proof, cells, list, steps.or_to_the_end()))?;
        code.late.launch(stream, many, BLOCK, (task, cells, list, steps.or_to_the_end()))?;
        self.stages(stream, code.stage, lists, task, steps, cancel)
    }

    /// The steps that points make before those that survive are listed.
    fn first_stage(&self, task: &Task<'_, N>) -> StageSteps {
        let stages = self.options.stages;
        // Without a test for cycles most survivors stay to the end: fewer and longer stages.
        let (first, growth) = match task.tests_for_cycles() {
            true => (stages.first, stages.growth),
            false => (stages.first.saturating_mul(4), stages.growth.saturating_mul(2)),
        };
        // The prologue starts from z_1.
        StageSteps { steps: whole_batches(first), left: task.limit().saturating_sub(PROLOGUE_STEPS + 1), growth }
    }

    /// Launches stages over the points that have survived the first kernel, with `first` steps.
    fn stages(
        &self,
        stream: &Stream,
        stage: Kernel<TunedStage<N>>,
        lists: &Lists<N>,
        task: Task<'_, N>,
        first: StageSteps,
        cancel: &Cancel,
    ) -> Result<(), Fault> {
        let rows = task.rows();
        let pixels = u64::from(task.width()) * u64::from(rows.end - rows.start);
        let mut list = lists.survivors(0, 0, pixels)?;
        let mut now = first;
        let mut number = 0;
        while let Some(next) = now.next() {
            let last = std::mem::replace(&mut now, next);
            number += 1;
            // Every count was cleared before the first stage; later stages use them again.
            if number >= COUNTS {
                lists.counters.clear_count(number % COUNTS, stream)?;
            }
            let survivors = lists.survivors(number % 2, number % COUNTS, pixels)?;
            // Many more blocks than fit at once, so that none waits long for a few slow ones.
            let blocks = [self.multiprocessors * 32, 1];
            stage.launch(stream, blocks, BLOCK, (task, list, survivors, now.left, now.or_to_the_end()))?;
            list = survivors;
            if last.steps >= LONGEST_STAGE {
                keep_pace(stream, lists, cancel)?;
                if cancel.is_cancelled() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn levels(
        &self,
        stream: &Stream,
        (grid, border, leaf): (Kernel<LevelsGrid>, Kernel<LevelsBorder<N>>, Kernel<LevelsLeaf<N>>),
        lists: &Lists<N>,
        task: Task<'_, N>,
    ) -> Result<(), Fault> {
        let Division { initial, parts, max_depth, min_size } = self.options.division;
        let (mut list, leaves) = (lists.rectangles(0, 0)?, lists.rectangles(2, 2)?);
        for count in 0..3 {
            lists.counters.clear_count(count, stream)?;
        }
        let rows = task.rows();
        let blocks = [(initial * initial).div_ceil(BLOCK_THREADS), 1];
        grid.launch(stream, blocks, BLOCK, (list, task.width(), rows.start, rows.end, initial))?;
        let blocks = [self.multiprocessors * self.occupancy.blocks.max(1) * 4, 1];
        for depth in 1..max_depth.max(2) {
            let which = (depth % 2) as usize;
            let children = lists.rectangles(which, which)?;
            lists.counters.clear_count(which, stream)?;
            // Below this side, children would be no longer than `min_size`.
            let least = min_size.saturating_mul(parts);
            let divides = depth + 1 < max_depth;
            border.launch(stream, blocks, BLOCK, (task, list, children, leaves, parts, least, divides.into()))?;
            if !divides {
                break;
            }
            list = children;
        }
        leaf.launch(stream, blocks, BLOCK, (task, leaves))
    }
}

impl StageSteps {
    /// The steps of a stage, or more than any point has left: points that would be left with less than another such stage are
    /// iterated to the end at once.
    fn or_to_the_end(self) -> u32 {
        if self.left <= self.steps.saturating_mul(2) { TO_THE_END } else { self.steps }
    }

    /// The stage after this one.
    fn next(self) -> Option<Self> {
        let left = self.left.checked_sub(self.steps).filter(|left| *left > 0)?;
        let steps = whole_batches(self.steps.saturating_mul(self.growth));
        (self.or_to_the_end() != TO_THE_END).then_some(Self { steps, left, ..self })
    }
}

/// Steps in whole batches of either length, and no more than a launch may have.
fn whole_batches(steps: u32) -> u32 {
    steps.max(1).div_ceil(LONG_BATCH).saturating_mul(LONG_BATCH).min(LONGEST_STAGE)
}

/// The block of a kernel, and its occupancy.
fn shape<S: Signature>(kernel: Kernel<S>, options: Options, device: &Device) -> Result<([u32; 2], Occupancy), Fault> {
    let block = match options.block {
        None => options.kernel.usual_block(),
        Some(BlockShape::Threads(block)) => block,
        Some(BlockShape::Occupancy) => {
            let threads = kernel.best_block()?.min(MOST_THREADS);
            if options.kernel == GpuKernel::RowPerBlock || threads < 32 { [threads, 1] } else { [32, threads / 32] }
        }
    };
    Ok((block, kernel.occupancy(block[0] * block[1], device)?))
}

/// Rows in pieces of so many.
fn pieces(rows: Range<u32>, most: u32) -> impl Iterator<Item = Range<u32>> {
    let end = rows.end;
    rows.step_by(most as usize).map(move |begin| begin..begin.saturating_add(most).min(end))
}

/// Waits until the device has done the work queued so far, so that little is queued when the render is cancelled.
fn keep_pace<N>(stream: &Stream, lists: &Lists<N>, cancel: &Cancel) -> Result<(), Fault> {
    lists.pace.record(stream)?;
    while !lists.pace.has_occurred()? && !cancel.is_cancelled() {
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}
