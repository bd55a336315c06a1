//! A deep session on a CUDA device.
//!
//! An attempt is a sequence of launches, each of some operations of every orbit under way, and then of those that go on: so that a launch takes
//! milliseconds, whatever the limit, and warps are full. The host reads after each how many go on.

use super::layout::DeepPixels;
use super::pixels::{CHANNELS, COUNTERS, Pixels};
use super::session::{DeepSession, Part};
use super::share;
use super::tables::{Tables, View};
use crate::driver::{Context, Device, Event, Fault, Pinned, Stream};
use crate::kernel::{DeepDecide, DeepDecideFormula, Kernel};
use crate::modules::Modules;
use crate::pool::SessionPool;
use crate::shared::{BLOCK_THREADS, WARP_COLUMNS, WARP_ROWS};
use dwell::{Attempted, Cancel, ChannelSet, DeepAttempt, DeepPoints, DeepWork, DeviceReport, Tier};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Operations of each orbit in the first launch of an attempt, in which most orbits of most views are under way; and the most.
const FIRST_OPERATIONS: u32 = 64;
const MOST_OPERATIONS: u32 = 1 << 16;
/// Launches have twice the operations of the one before as long as that took less than this, and half of them where it took more than the other, in seconds: Ctrl-C takes
/// effect after a launch.
const SHORT: f64 = 0.02;
const LONG: f64 = 0.06;

/// Fewer orbits than these leave most of a device idle.
const FEW: u32 = 1 << 14;

/// So few orbits, which have gone on alone for so many seconds, are left open: a thread of the device is as slow as its longest orbit, which takes tens of times as long as
/// on a processor.
const STRAGGLERS: u32 = 64;
const ALONE: f64 = 0.25;

/// The lists of those that go on, in turns, and of those that are not decided, in turns by attempts.
const NEXT: [usize; 2] = [0, 1];
const OPEN: [usize; 2] = [2, 3];

/// Buffers and kernels on a CUDA device.
pub(crate) struct CudaDeepSession {
    stream: Stream,
    /// In f64 and in pairs of it, without derivatives and with them.
    kernels: [[Kernel<DeepDecide>; 2]; 2],
    /// Of other formulas than z^2 + c, and of Julia sets.
    of_formulas: [[Kernel<DeepDecideFormula>; 2]; 2],
    occupancy: f64,
    pixels: Pixels,
    tables: Tables,
    /// Counters, dwells, smooth values and lists on their way to the host.
    pinned: Pinned,
    began: Event,
    ended: Event,
    /// The open pixels: all of the rows, or those of a list.
    open: Open,
    done: DeviceReport,
    device: Device,
    context: Arc<Context>,
}

#[derive(Clone, Copy)]
struct Open {
    list: Option<usize>,
    count: u32,
}

impl CudaDeepSession {
    /// Allocates buffers for so many pixels and loads kernels.
    pub(crate) fn open(
        context: &Arc<Context>,
        device: &Device,
        modules: &mut Modules,
        pixels: usize,
        memory: &SessionPool,
    ) -> Result<Self, Fault> {
        let mut kernel = |name: &str| modules.deep(name);
        let kernels = [
            [kernel("deep_f64")?, kernel("deep_pairs")?],
            [kernel("deep_f64_derived")?, kernel("deep_pairs_derived")?],
        ];
        let mut kernel = |name: &str| modules.deep_formula(name);
        let of_formulas = [
            [kernel("deep_formula_f64")?, kernel("deep_formula_pairs")?],
            [kernel("deep_formula_f64_derived")?, kernel("deep_formula_pairs_derived")?],
        ];
        let (stream, memory) = (Stream::new(context)?, Pixels::new(context, pixels, memory)?);
        // Values of pixels that are left open are copied like the others.
        memory.dwell.clear(0..pixels, &stream)?;
        CHANNELS.into_iter().try_for_each(|channel| memory.values(channel).clear(0..pixels, &stream))?;
        Ok(Self {
            stream,
            occupancy: kernels[0][0].occupancy(BLOCK_THREADS, device)?.part,
            kernels,
            of_formulas,
            pixels: memory,
            tables: Tables::new(context)?,
            // Dwells, smooth values and the numbers of those that are open.
            pinned: Pinned::new(context, pixels * 16 + 4 * COUNTERS)?,
            began: Event::new(context)?,
            ended: Event::new(context)?,
            open: Open { list: None, count: 0 },
            done: DeviceReport::default(),
            device: device.clone(),
            context: Arc::clone(context),
        })
    }
}

/// The places of the pixels of a list, or of whole tiles of rows.
fn places(task: &DeepPixels<'_>) -> u32 {
    if task.is_list != 0 {
        return task.width * task.height;
    }
    task.width.div_ceil(WARP_COLUMNS) * task.height.div_ceil(WARP_ROWS) * 32
}

/// A word of 32 bits.
fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[4 * at..4 * at + 4]);
    u32::from_ne_bytes(word)
}

/// A word of 64 bits.
fn long_word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[4 * at..4 * at + 8]);
    u64::from_ne_bytes(word)
}

impl DeepSession for CudaDeepSession {
    fn capacity(&self) -> usize {
        self.pixels.capacity()
    }

    fn begin(&mut self, points: &DeepPoints, rows: Range<u32>) -> Result<(), Fault> {
        self.context.enter()?;
        self.pixels.load(points, rows, &self.stream)?;
        let task = self.pixels.task();
        self.open = Open { list: None, count: task.width * task.height };
        Ok(())
    }

    fn attempt(
        &mut self,
        attempt: &DeepAttempt<'_>,
        memory: &SessionPool,
        cancel: &Cancel,
    ) -> Result<Attempted, Fault> {
        self.context.enter()?;
        let begun = Instant::now();
        let Self { stream, pixels, tables, pinned, began, ended, .. } = self;
        let (in_pairs, is_derived) = (attempt.is_in_pairs(), attempt.is_derived());
        let kernel = self.kernels[usize::from(is_derived)][usize::from(in_pairs)];
        let of_formula = self.of_formulas[usize::from(is_derived)][usize::from(in_pairs)];
        let view = tables.view(attempt, memory, stream)?;
        self.done.copy_seconds += begun.elapsed().as_secs_f64();
        let task = pixels.task();
        let Open { list, count: open } = self.open;
        let of_open = if list == Some(OPEN[0]) { OPEN[1] } else { OPEN[0] };
        let (mut from, mut count) = (list, if list.is_none() { places(&task) } else { open });
        let mut operations = FIRST_OPERATIONS;
        let mut attempted = Attempted::default();
        pixels.counters.clear(0..COUNTERS, stream)?;
        let (mut left, mut alone) = (0, 0.0);
        for number in 0.. {
            if count == 0 || cancel.is_cancelled() {
                break;
            }
            let (before, next) = (count, NEXT[number % 2]);
            let mut lists = pixels.lists(from, count, next, of_open);
            lists.operations = operations;
            lists.begins = u32::from(number == 0);
            began.record(stream)?;
            let (blocks, threads) = ([count.div_ceil(BLOCK_THREADS), 1], [BLOCK_THREADS, 1]);
            match view {
                View::Squares(view) => kernel.launch(stream, blocks, threads, (view, task, lists))?,
                View::Formula(view) => of_formula.launch(stream, blocks, threads, (view, task, lists))?,
            }
            ended.record(stream)?;
            pixels.counters.copy_to(0..COUNTERS, pinned, 0, stream)?;
            pixels.counters.clear(0..1, stream)?;
            pinned.wait()?;
            let seconds = ended.seconds_since(began)?;
            let counters = pinned.bytes();
            (from, count, left) = (Some(next), word(counters, 0), word(counters, 1));
            (attempted.steps, attempted.blocks) = (long_word(counters, 2), long_word(counters, 4));
            attempted.seconds += seconds;
            attempted.few_seconds += if before < FEW { seconds } else { 0.0 };
            alone += if count <= STRAGGLERS { seconds } else { 0.0 };
            if (1..=STRAGGLERS).contains(&count) && alone > ALONE {
                pixels.list(of_open).copy_from(left as usize, pixels.list(next), count as usize, stream)?;
                left += count;
                break;
            }
            operations = match seconds {
                ..SHORT => (operations * 2).min(MOST_OPERATIONS),
                LONG.. => (operations / 2).max(1),
                _ => operations,
            };
        }
        self.done.kernel_seconds += attempted.seconds;
        attempted.decided = u64::from(open.saturating_sub(left));
        let made = (attempted.steps, attempted.blocks);
        let operations = match &attempt.work {
            DeepWork::Squares { .. } => {
                let is_quartic = matches!(attempt.tier, Tier::PairsQuartic | Tier::PairsQuarticFine);
                share::of_squares((in_pairs, is_derived), is_quartic)
            }
            DeepWork::Formula { setting, .. } => share::of_formula((in_pairs, is_derived), setting.formula),
        };
        attempted.share_of_peak = share::of_peak(&self.device, operations, made, attempted.seconds);
        self.open = Open { list: Some(of_open), count: left };
        Ok(attempted)
    }

    fn finish(&mut self, channels: ChannelSet, store: &mut dyn FnMut(Part, &[u8])) -> Result<Vec<u32>, Fault> {
        self.context.enter()?;
        let Self { stream, pixels, pinned, began, ended, .. } = self;
        let task = pixels.task();
        let count = task.width as usize * task.height as usize;
        let open = self.open.count as usize;
        // What is copied at once fits into the pinned memory: the dwells with the open ones, and then the values of each channel.
        let list_at = 4 * count;
        began.record(stream)?;
        pixels.dwell.copy_to(0..count, pinned, 0, stream)?;
        if let Some(list) = self.open.list {
            pixels.list(list).copy_to(0..open, pinned, list_at, stream)?;
        }
        ended.record(stream)?;
        pinned.wait()?;
        self.done.copy_seconds += ended.seconds_since(began)?;
        let bytes = pinned.bytes();
        store(Part::Dwells, &bytes[..list_at]);
        let open: Vec<u32> = match self.open.list {
            Some(_) => (0..open).map(|number| word(&bytes[list_at..], number)).collect(),
            None => (0..self.open.count).collect(),
        };
        for channel in channels.iter() {
            began.record(stream)?;
            pixels.values(channel).copy_to(0..count, pinned, 0, stream)?;
            ended.record(stream)?;
            pinned.wait()?;
            self.done.copy_seconds += ended.seconds_since(began)?;
            store(Part::Values(channel), &pinned.bytes()[..8 * count]);
        }
        let of_values = 8 * channels.iter().count() * count;
        self.done.copied_bytes += (list_at + 4 * open.len() + of_values) as u64;
        Ok(open)
    }

    fn report(&mut self, report: &mut DeviceReport) {
        let done = std::mem::take(&mut self.done);
        report.kernel_seconds += done.kernel_seconds;
        report.copy_seconds += done.copy_seconds;
        report.copied_bytes += done.copied_bytes;
        report.theoretical_occupancy = self.occupancy;
    }
}
