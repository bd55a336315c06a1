//! How each kernel is launched over rows.

use crate::driver::{Buffer, Context, Device, Event, Fault, Function, Occupancy, Stream};
use crate::modules::{Modules, Source};
use crate::options::{BlockShape, Division, GpuKernel, MOST_THREADS, Options, Stages};
use crate::task::{Divide, Rectangle, RectangleList, Survivors, Task};
use dwell::{Cancel, Size};
use dwell_kernels::Kernels;
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The most blocks of a grid down.
const MOST_DOWN: u32 = 65_535;
/// Steps of the head in `kernels/orbit.cuh`, and z_1.
const HEAD: u32 = 17;
/// Steps come in whole batches of either length there.
const BATCH: u32 = 64;
/// The most steps of a launch: fractions of a second, so that a display's watchdog leaves it alone and Ctrl-C is heard.
const LONGEST_STAGE: u32 = 1 << 18;
/// Device-side launches that may wait: the published workloads come to 86,528.
const PENDING_LAUNCHES: usize = 1 << 18;
/// More steps than any flight has, in whole batches of either length.
const TO_THE_END: u32 = 0xffff_ffc0;
/// Rows of a block of the tuned kernel's first launch: two tiles of two warps of four rows.
const ROWS_OF_BLOCK: u32 = 16;
/// Where counts of lists begin in the counters, behind pixels written, failed launches and the last error.
const FIRST_COUNT: usize = 16;
/// Counts of lists.
const COUNTS: usize = 60;

/// Kernels of a job, ready to be launched.
pub(crate) struct Launcher {
    options: Options,
    kernels: Vec<Function>,
    block: [u32; 2],
    multiprocessors: u32,
    pub(crate) occupancy: Occupancy,
}

/// Lists that kernels keep, and their counts.
pub(crate) struct Lists {
    survivors: [Option<[Buffer; 3]>; 2],
    rectangles: Option<[Buffer; 3]>,
    capacity: u32,
    pub(crate) counters: Buffer,
    /// Whether nothing was counted since they were cleared.
    clear: Cell<bool>,
    /// Rows that they have room for.
    pub(crate) rows: u32,
    /// Where the count of survivors is looked at.
    waits: Event,
}

impl Lists {
    /// Nothing was written, no launch has failed. Done ahead of its time where that is possible: a clearing is short, but
    /// keeps kernels waiting as long as a launch.
    pub(crate) fn clear_counts(&self, stream: &Stream) -> Result<(), Fault> {
        if self.clear.replace(true) {
            return Ok(());
        }
        self.counters.clear(FIRST_COUNT + 4 * COUNTS, stream)
    }

    /// Address of the i-th count of a list.
    fn count(&self, i: usize) -> u64 {
        self.counters.at(FIRST_COUNT + 4 * i)
    }

    fn survivors(&self, which: usize, count: usize) -> Survivors {
        match &self.survivors[which] {
            Some([x, y, place]) => Survivors { z: [x.at(0), y.at(0)], place: place.at(0), count: self.count(count) },
            None => Survivors { count: self.count(count), ..Survivors::default() },
        }
    }

    fn rectangles(&self, which: usize, count: usize) -> RectangleList {
        let rectangles = self.rectangles.as_ref().map_or(0, |lists| lists[which].at(0));
        RectangleList { rectangles, count: self.count(count), capacity: self.capacity, padding: 0 }
    }
}

impl Launcher {
    pub(crate) fn new(
        context: &Arc<Context>,
        modules: &mut Modules,
        device: &Device,
        options: Options,
        rule: &str,
        number: &str,
        with_ends: bool,
    ) -> Result<Self, Fault> {
        let ends = if with_ends { "_ends" } else { "" };
        let (source, kinds): (Source, &[&str]) = match options.kernel {
            GpuKernel::Tuned => (Source::Tuned, &["tuned_first", "tuned_stage"]),
            GpuKernel::PerPixel => (Source::PerPixel, &["per_pixel"]),
            GpuKernel::RowPerBlock => (Source::PerPixel, &["row_per_block"]),
            GpuKernel::GridStride => (Source::PerPixel, &["grid_stride"]),
            GpuKernel::Levels => (Source::Levels, &["levels_border", "levels_leaf"]),
            GpuKernel::Block => (Source::Levels, &["block_fill"]),
            GpuKernel::DeviceLaunches => (Source::DeviceLaunches, &["cdp_divide"]),
        };
        let name = |kind: &&str| {
            format!(
                "{kind}_{rule}_{number}{}",
                if *kind == "tuned_first" || *kind == "tuned_stage" { ends } else { "" }
            )
        };
        let mut kernels =
            kinds.iter().map(|kind| modules.function(source, &name(kind))).collect::<Result<Vec<_>, _>>()?;
        if options.kernel == GpuKernel::Levels {
            kernels.push(modules.function(source, "levels_grid")?);
        }
        if options.kernel == GpuKernel::DeviceLaunches {
            context.allow_pending_launches(PENDING_LAUNCHES)?;
        }
        let block = match options.block {
            None => options.kernel.usual_block(),
            Some(BlockShape::Threads(block)) => block,
            Some(BlockShape::Occupancy) => {
                let threads = kernels[0].best_block()?.min(MOST_THREADS);
                if options.kernel == GpuKernel::RowPerBlock || threads < 32 { [threads, 1] } else { [32, threads / 32] }
            }
        };
        let occupancy = kernels[0].occupancy(block[0] * block[1], device)?;
        Ok(Self { options, kernels, block, multiprocessors: device.multiprocessors.max(1), occupancy })
    }

    /// Whether the kernel infers pixels from their surroundings.
    pub(crate) fn infers(&self) -> bool {
        !self.options.kernel.is_exact()
    }

    /// Room for what the kernel keeps while it computes about so many pixels.
    pub(crate) fn lists<N: Kernels>(
        &self,
        context: &Arc<Context>,
        size: Size,
        pixels: u64,
        free: u64,
    ) -> Result<Lists, Fault> {
        let width = u64::from(size.width);
        let mut lists = Lists {
            survivors: [None, None],
            rectangles: None,
            capacity: 0,
            counters: Buffer::new(context, FIRST_COUNT + 4 * COUNTS)?,
            clear: Cell::new(false),
            rows: size.height,
            waits: Event::new(context)?,
        };
        let bytes =
            |count: u64, each: usize| usize::try_from(count.saturating_mul(each as u64)).map_err(|_| Fault::Memory);
        match self.options.kernel {
            GpuKernel::Tuned => {
                let each = 2 * (2 * size_of::<N>() + 4) as u64;
                // More at once than are delivered at once, where there is plenty: fewer launches that wait for a last warp.
                let roomy = pixels * 4;
                // Places are counted in 32 bits.
                let count = if roomy * each <= free / 8 { roomy } else { pixels }.min(u64::from(u32::MAX));
                if count.min(size.pixels()) * each > free {
                    return Err(Fault::Memory);
                }
                let rows = (count / width).clamp(1, u64::from(size.height));
                let count = rows * width;
                for list in &mut lists.survivors {
                    let z = bytes(count, size_of::<N>())?;
                    *list = Some([
                        Buffer::new(context, z)?,
                        Buffer::new(context, z)?,
                        Buffer::new(context, bytes(count, 4)?)?,
                    ]);
                }
                lists.rows = u32::try_from(rows).unwrap_or(u32::MAX);
            }
            GpuKernel::Levels => {
                // A rectangle that is divided has a shorter side of more than parts * min_size, so children of more than
                // min_size, less the border; those of the first level may be any.
                let Division { initial, min_size, .. } = self.options.division;
                let least = u64::from(min_size.max(2)).pow(2) / 2;
                let count = u64::from(initial).pow(2) + size.pixels() / least + 1024;
                lists.capacity = u32::try_from(count).map_err(|_| Fault::Memory)?;
                let list = || Buffer::new(context, bytes(count, size_of::<Rectangle>())?);
                lists.rectangles = Some([list()?, list()?, list()?]);
            }
            _ => {}
        }
        Ok(lists)
    }

    /// Launches a kernel whose arguments live as long as the call: the driver copies them.
    pub(crate) fn launch(
        &self,
        stream: &Stream,
        function: Function,
        grid: [u32; 2],
        block: [u32; 2],
        arguments: &mut [*mut c_void],
    ) -> Result<(), Fault> {
        #[allow(unsafe_code, reason = "kernels have no types; every caller is in this crate, and names what it passes")]
        // SAFETY: callers pass twins of the kernels' parameters (`task.rs`), with addresses of buffers that the session owns
        // and frees only when the device is done with them.
        unsafe {
            stream.launch(function, grid, block, arguments)
        }
    }

    /// Has rows computed. Returns how many pixels the kernel is to count as written; 0 where it does not count.
    pub(crate) fn iterate<N: Kernels>(
        &self,
        stream: &Stream,
        lists: &Lists,
        task: Task<N>,
        rows: Range<u32>,
        cancel: &Cancel,
    ) -> Result<u64, Fault> {
        if self.options.kernel != GpuKernel::Tuned {
            lists.clear.set(false);
        }
        let mut task = task.over(rows.clone());
        let (width, height) = (task.width, rows.end - rows.start);
        let pixels = u64::from(width) * u64::from(height);
        let [across, down] = self.block;
        let covered = [width.div_ceil(across), height.div_ceil(down).min(MOST_DOWN)];
        match self.options.kernel {
            GpuKernel::Tuned => {
                for begin in rows.clone().step_by(lists.rows.min(MOST_DOWN * ROWS_OF_BLOCK) as usize) {
                    let end = begin.saturating_add(lists.rows.min(MOST_DOWN * ROWS_OF_BLOCK)).min(rows.end);
                    self.tuned(stream, lists, task.over(begin..end), cancel)?;
                }
                Ok(0)
            }
            GpuKernel::PerPixel => {
                self.launch(stream, self.kernels[0], covered, self.block, &mut [(&raw mut task).cast()])?;
                Ok(0)
            }
            GpuKernel::RowPerBlock => {
                let grid = [height, 1];
                self.launch(stream, self.kernels[0], grid, self.block, &mut [(&raw mut task).cast()])?;
                Ok(0)
            }
            GpuKernel::GridStride => {
                self.launch(stream, self.kernels[0], [32, 32], self.block, &mut [(&raw mut task).cast()])?;
                Ok(0)
            }
            GpuKernel::Block => {
                task.written = lists.counters.at(0);
                for begin in rows.clone().step_by(64 * MOST_DOWN as usize) {
                    let end = begin.saturating_add(64 * MOST_DOWN).min(rows.end);
                    let grid = [width.div_ceil(64), (end - begin).div_ceil(64)];
                    let mut task = task.over(begin..end);
                    self.launch(stream, self.kernels[0], grid, self.block, &mut [(&raw mut task).cast()])?;
                }
                Ok(pixels)
            }
            GpuKernel::Levels => {
                task.written = lists.counters.at(0);
                self.levels(stream, lists, task)?;
                Ok(pixels)
            }
            GpuKernel::DeviceLaunches => {
                task.written = lists.counters.at(0);
                let Division { initial, parts, max_depth, min_size } = self.options.division;
                let counters = lists.counters.at(0);
                let mut divide =
                    Divide { parts, min_size, max_depth, padding: 0, failed: counters + 8, error: counters + 12 };
                let (mut all, mut parts, mut depth): (Rectangle, u32, u32) =
                    ([0, rows.start, width, rows.end], initial, 1);
                let arguments: &mut [*mut c_void] = &mut [
                    (&raw mut task).cast(),
                    (&raw mut divide).cast(),
                    (&raw mut all).cast(),
                    (&raw mut parts).cast(),
                    (&raw mut depth).cast(),
                ];
                self.launch(stream, self.kernels[0], [initial, initial], self.block, arguments)?;
                Ok(pixels)
            }
        }
    }

    /// The first kernel over rows that the lists have room for, then stages over who still flies.
    fn tuned<N: Kernels>(
        &self,
        stream: &Stream,
        lists: &Lists,
        mut task: Task<N>,
        cancel: &Cancel,
    ) -> Result<(), Fault> {
        let Stages { first, growth } = self.options.stages;
        let whole_batches = |steps: u32| steps.max(1).div_ceil(BATCH).saturating_mul(BATCH).min(LONGEST_STAGE);
        // Without a look for cycles most survivors stay to the end: fewer and longer stages.
        let (first, growth) = match task.looks_for_cycles() {
            true => (first, growth),
            false => (first.saturating_mul(4), growth.saturating_mul(2)),
        };
        let mut steps = whole_batches(first);
        let mut left = task.limit.saturating_sub(HEAD);
        // Who would be left for less than another such stage flies on at once.
        let or_to_the_end = |steps: u32, left: u32| if left <= steps.saturating_mul(2) { TO_THE_END } else { steps };
        let mut now = or_to_the_end(steps, left);
        lists.clear_counts(stream)?;
        lists.clear.set(false);
        let mut list = lists.survivors(0, 0);
        let grid = [task.width.div_ceil(32), (task.end - task.begin).div_ceil(ROWS_OF_BLOCK)];
        let arguments: &mut [*mut c_void] =
            &mut [(&raw mut task).cast(), (&raw mut list).cast(), (&raw mut now).cast()];
        self.launch(stream, self.kernels[0], grid, [256, 1], arguments)?;
        let mut stage = 0;
        while now == steps && left > steps {
            left -= steps;
            let last = steps;
            steps = whole_batches(steps.saturating_mul(growth));
            now = or_to_the_end(steps, left);
            stage += 1;
            // Every count was cleared before the first; later ones are used again.
            if stage >= COUNTS {
                lists.counters.clear_word(FIRST_COUNT + 4 * (stage % COUNTS), stream)?;
            }
            let mut next = lists.survivors(stage % 2, stage % COUNTS);
            // Many more blocks than fit at once, so that none waits for long for a few slow ones.
            let grid = [self.multiprocessors * 32, 1];
            let mut left_now = left;
            let arguments: &mut [*mut c_void] = &mut [
                (&raw mut task).cast(),
                (&raw mut list).cast(),
                (&raw mut next).cast(),
                (&raw mut left_now).cast(),
                (&raw mut now).cast(),
            ];
            self.launch(stream, self.kernels[1], grid, [256, 1], arguments)?;
            list = next;
            if last >= LONGEST_STAGE {
                self.keep_pace(stream, lists, cancel)?;
                if cancel.is_cancelled() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn clear_count(&self, lists: &Lists, count: usize, stream: &Stream) -> Result<(), Fault> {
        lists.counters.clear_word(FIRST_COUNT + 4 * count, stream)
    }

    /// Waits until the device has come so far, so that not much is queued when somebody cancels.
    fn keep_pace(&self, stream: &Stream, lists: &Lists, cancel: &Cancel) -> Result<(), Fault> {
        lists.waits.record(stream)?;
        while !lists.waits.has_come()? && !cancel.is_cancelled() {
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    fn levels<N: Kernels>(&self, stream: &Stream, lists: &Lists, mut task: Task<N>) -> Result<(), Fault> {
        let Division { initial, mut parts, max_depth, min_size } = self.options.division;
        let (mut list, mut leaves) = (lists.rectangles(0, 0), lists.rectangles(2, 2));
        for count in 0..3 {
            self.clear_count(lists, count, stream)?;
        }
        let (mut width, mut begin, mut end, mut first_parts) = (task.width, task.begin, task.end, initial);
        let arguments: &mut [*mut c_void] = &mut [
            (&raw mut list).cast(),
            (&raw mut width).cast(),
            (&raw mut begin).cast(),
            (&raw mut end).cast(),
            (&raw mut first_parts).cast(),
        ];
        self.launch(stream, self.kernels[2], [(initial * initial).div_ceil(256), 1], [256, 1], arguments)?;
        let blocks = [self.multiprocessors * self.occupancy.blocks.max(1) * 4, 1];
        for depth in 1..max_depth.max(2) {
            let which = (depth % 2) as usize;
            let mut children = lists.rectangles(which, which);
            self.clear_count(lists, which, stream)?;
            // Shorter than that, children would be no longer than `min_size`.
            let (mut min, mut divides) = (min_size.saturating_mul(parts), u32::from(depth + 1 < max_depth));
            let arguments: &mut [*mut c_void] = &mut [
                (&raw mut task).cast(),
                (&raw mut list).cast(),
                (&raw mut children).cast(),
                (&raw mut leaves).cast(),
                (&raw mut parts).cast(),
                (&raw mut min).cast(),
                (&raw mut divides).cast(),
            ];
            self.launch(stream, self.kernels[0], blocks, [256, 1], arguments)?;
            if divides == 0 {
                break;
            }
            list = children;
        }
        let arguments: &mut [*mut c_void] = &mut [(&raw mut task).cast(), (&raw mut leaves).cast()];
        self.launch(stream, self.kernels[1], blocks, [256, 1], arguments)
    }
}
