//! The limit of a formula on a device. See `kernels/peak.cu`.

use crate::driver::{self, Buffer, Context, Event, Fault, Stream};
use crate::modules::{Modules, Source};
use crate::task::rule;
use dwell::{Formula, NumberKind, Recipe};
use serde::Serialize;
use std::ffi::c_void;

/// The measured limit of a device.
#[derive(Clone, Debug, Serialize)]
pub struct DevicePeak {
    /// Iterations per second: each is the recipe's operations and nothing else.
    pub peak_iterations_per_second: f64,
    /// What was iterated.
    pub formula: &'static str,
    /// Its power.
    pub power: u32,
    /// The number.
    pub number: &'static str,
    /// The order of roundings.
    pub recipe: &'static str,
    /// The device's name.
    pub device: String,
    /// Its number.
    pub device_number: u32,
    /// How many orbits in flight in a thread were fastest.
    pub orbits_in_flight: u32,
    /// Clock that the multiprocessors ran at meanwhile, in MHz: their own cycles over the time.
    pub clock_mhz: f64,
    /// Iterations of a multiprocessor in one of its cycles.
    pub iterations_per_cycle: f64,
}

/// Steps of a round, and rounds.
const STEPS: u32 = 1 << 16;
const ROUNDS: usize = 7;
const THREADS: u32 = 256;
const ORBITS: [u32; 2] = [1, 2];

#[repr(C)]
struct Choice {
    fold: u32,
    power: u32,
}

/// Measures for about a second; the best round counts.
///
/// # Errors
/// Why the device could not.
pub fn peak(number: u32, formula: Formula, kind: NumberKind, recipe: Recipe) -> Result<DevicePeak, Fault> {
    let device = driver::device(number)?;
    let context = Context::new(number)?;
    let mut modules = Modules::new(&context);
    let stream = Stream::new(&context)?;
    let (began, ended) = (Event::new(&context)?, Event::new(&context)?);
    let name = rule(formula, recipe);
    let fold = match formula.fold() {
        dwell::Fold::None => 0,
        dwell::Fold::Absolute => 1,
        dwell::Fold::Conjugate => 2,
    };
    let mut choice = Choice { fold, power: formula.power() };
    let mut best = DevicePeak {
        peak_iterations_per_second: 0.0,
        formula: formula.name(),
        power: formula.power(),
        number: kind.name(),
        recipe: recipe.name(),
        device: device.name.clone(),
        device_number: number,
        orbits_in_flight: 0,
        clock_mhz: 0.0,
        iterations_per_cycle: 0.0,
    };
    for orbits in ORBITS {
        let function = modules.function(Source::Peak, &format!("peak_{name}_{}_{orbits}", kind.name()))?;
        let blocks = function.occupancy(THREADS, &device)?.blocks.max(1) * device.multiprocessors;
        let sums = Buffer::new(&context, blocks as usize * THREADS as usize * 8)?;
        let cycles = Buffer::new(&context, blocks as usize * 8)?;
        for _ in 0..ROUNDS {
            let (mut sums_at, mut cycles_at, mut steps) = (sums.at(0), cycles.at(0), STEPS / orbits);
            let arguments: &mut [*mut c_void] = &mut [
                (&raw mut choice).cast(),
                (&raw mut steps).cast(),
                (&raw mut sums_at).cast(),
                (&raw mut cycles_at).cast(),
            ];
            began.record(&stream)?;
            #[allow(unsafe_code, reason = "kernels have no types")]
            // SAFETY: the kernel's parameters in their order; the buffers live until the event has come.
            unsafe {
                stream.launch(function, [blocks, 1], [THREADS, 1], arguments)?;
            }
            ended.record(&stream)?;
            ended.wait()?;
            let seconds = ended.seconds_since(&began)?;
            let iterations = f64::from(blocks) * f64::from(THREADS) * f64::from(orbits) * f64::from(steps);
            let rate = iterations / seconds;
            if rate > best.peak_iterations_per_second {
                let longest = cycles.read_words()?.into_iter().take(blocks as usize).max().unwrap_or(0);
                best.peak_iterations_per_second = rate;
                best.orbits_in_flight = orbits;
                best.clock_mhz = longest as f64 / seconds / 1e6;
                best.iterations_per_cycle = iterations / f64::from(device.multiprocessors) / (longest as f64).max(1.0);
            }
        }
    }
    Ok(best)
}
