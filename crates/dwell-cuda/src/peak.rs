//! The limit of a formula on a device. See `kernels/peak.cu`.

use crate::driver::{self, Buffer, Context, Device, Event, Fault, Stream};
use crate::modules::Modules;
use crate::shared::{BLOCK_THREADS, PEAK_BATCH, fold_code, shared_struct};
use crate::task::rule;
use bytemuck::Pod;
use dwell::{Formula, NumberKind, Recipe};
use dwell_kernels::Kernels;
use serde::Serialize;
use std::sync::Arc;

/// The measured limit of a device.
#[derive(Clone, Debug, Serialize)]
pub struct DevicePeak {
    /// Iterations per second: each is the recipe's operations and nothing else.
    pub peak_iterations_per_second: f64,
    /// The formula's name.
    pub formula: &'static str,
    /// The formula's power.
    pub power: u32,
    /// The number's name.
    pub number: &'static str,
    /// The same as `number`, under the name of the program's flag.
    pub precision: &'static str,
    /// The order of roundings.
    pub recipe: &'static str,
    /// The same as `recipe`, under the name of the program's flag.
    pub rounding: &'static str,
    /// The device's name.
    pub device: String,
    /// The device's number.
    pub device_number: u32,
    /// Orbits iterated at once in a thread, in the fastest round.
    pub orbits_in_flight: u32,
    /// Clock of the multiprocessors during that round, in MHz: their own cycles divided by the time.
    pub clock_mhz: f64,
    /// Iterations of a multiprocessor in each of its cycles.
    pub iterations_per_cycle: f64,
}

/// Steps of a round.
const STEPS: u32 = 1 << 16;
/// Rounds of each kernel.
const ROUNDS: usize = 7;
/// Numbers of orbits that kernels are compiled for.
const ORBITS: [u32; 2] = [1, 2];

const _: () = assert!((STEPS / ORBITS[1]).is_multiple_of(PEAK_BATCH));

shared_struct! {
    /// The rule that `peak` iterates.
    struct PeakRule {
        fold: u32,
        power: u32,
    }
}

const _: () = assert!(size_of::<PeakRule>() == 8);

/// A measured round.
#[derive(Clone, Copy, Debug)]
struct Round {
    iterations: f64,
    seconds: f64,
    /// Cycles of the slowest block.
    cycles: f64,
    orbits: u32,
}

impl Round {
    fn rate(&self) -> f64 {
        self.iterations / self.seconds
    }
}

/// Measures for about a second; the fastest round counts.
///
/// # Errors
/// When the device fails.
pub fn peak(number: u32, formula: Formula, kind: NumberKind, recipe: Recipe) -> Result<DevicePeak, Fault> {
    let device = driver::device(number)?;
    let context = Context::new(number)?;
    let best = match kind {
        NumberKind::F32 => fastest::<f32>(&context, &device, formula, recipe),
        NumberKind::F64 | NumberKind::Exact => fastest::<f64>(&context, &device, formula, recipe),
    }?;
    Ok(DevicePeak {
        peak_iterations_per_second: best.rate(),
        formula: formula.name(),
        power: formula.power(),
        number: kind.name(),
        precision: kind.name(),
        recipe: recipe.name(),
        rounding: recipe.name(),
        device: device.name,
        device_number: number,
        orbits_in_flight: best.orbits,
        clock_mhz: best.cycles / best.seconds / 1e6,
        iterations_per_cycle: best.iterations / f64::from(device.multiprocessors) / best.cycles.max(1.0),
    })
}

/// The fastest of some rounds of each kernel.
fn fastest<N: Kernels + Pod>(
    context: &Arc<Context>,
    device: &Device,
    formula: Formula,
    recipe: Recipe,
) -> Result<Round, Fault> {
    let mut modules = Modules::new(context);
    let stream = Stream::new(context)?;
    let (began, ended) = (Event::new(context)?, Event::new(context)?);
    let peak_rule = PeakRule { fold: fold_code(formula.fold()), power: formula.power() };
    let mut best: Option<Round> = None;
    for orbits in ORBITS {
        let kernel = modules.peak::<N>(rule(formula, recipe), orbits)?;
        let blocks = kernel.occupancy(BLOCK_THREADS, device)?.blocks.max(1) * device.multiprocessors;
        let sums = Buffer::<N>::new(context, blocks as usize * BLOCK_THREADS as usize)?;
        let cycles = Buffer::<u64>::new(context, blocks as usize)?;
        for _ in 0..ROUNDS {
            let steps = STEPS / orbits;
            began.record(&stream)?;
            let arguments = (peak_rule, steps, sums.address(), cycles.address());
            kernel.launch(&stream, [blocks, 1], [BLOCK_THREADS, 1], arguments)?;
            ended.record(&stream)?;
            ended.wait()?;
            let seconds = ended.seconds_since(&began)?;
            let iterations = f64::from(blocks) * f64::from(BLOCK_THREADS) * f64::from(orbits) * f64::from(steps);
            if best.is_none_or(|best| iterations / seconds > best.rate()) {
                let cycles = cycles.read()?.into_iter().max().unwrap_or(0) as f64;
                best = Some(Round { iterations, seconds, cycles, orbits });
            }
        }
    }
    best.ok_or_else(|| Fault::Lost("no round was measured".to_owned()))
}
