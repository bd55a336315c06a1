//! `dwell peak`: measures the highest iteration rate of the machine.

use crate::choice;
use crate::cli::PeakArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::{engine, output};
use dwell::{Formula, NumberKind, Recipe, peak};
use dwell_engines::EngineName;

pub(crate) fn run(args: &PeakArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let (level, threads) = engine::level_and_threads(&args.engine)?;
    let formula = engine::formula(Some(&args.formula), args.power.as_deref(), Formula::MANDELBROT)?;
    let (number, recipe) = (args.precision.parse()?, args.rounding.parse()?);
    if number == NumberKind::Exact {
        let problem = "exact arithmetic has no rate of its own";
        return Err(Usage::new("--precision", problem).accepts("f32, f64").into());
    }
    if let Some(EngineName::Cuda(device)) = choice::name(args.engine_choice.engine.as_deref())? {
        return of_device(args, device, formula, number, recipe);
    }
    let peak = peak::measure(formula, number, recipe, level, threads, &interrupt.cancel)?;
    if args.json {
        return output::print_json(&peak);
    }
    output::print(&format!(
        "{:.3} G iterations/s: {} of power {}, {}, rounding {}, {}, {} thread{}, {} vectors in flight\n",
        peak.peak_iterations_per_second / 1e9,
        peak.formula,
        peak.power,
        peak.number,
        peak.recipe,
        peak.level,
        peak.threads,
        if peak.threads == 1 { "" } else { "s" },
        peak.vectors_in_flight,
    ))
}

/// Measures a CUDA device.
fn of_device(
    args: &PeakArgs,
    device: u32,
    formula: Formula,
    number: NumberKind,
    recipe: Recipe,
) -> Result<(), Failure> {
    let why = |why: String| Failure::Engine(Usage::new("--engine", format!("cuda:{device} is not available: {why}")));
    let count = dwell_cuda::devices().map_err(why)?.len();
    if device as usize >= count {
        return Err(why(format!("this machine has {count}, numbered from 0")));
    }
    let peak = dwell_cuda::peak(device, formula, number, recipe).map_err(|fault| why(fault.to_string()))?;
    if args.json {
        return output::print_json(&peak);
    }
    output::print(&format!(
        "{:.1} G iterations/s: {} of power {}, {}, rounding {}, {} at {:.0} MHz, {:.1} iterations per cycle and multiprocessor, {} \
         orbits in flight\n",
        peak.peak_iterations_per_second / 1e9,
        peak.formula,
        peak.power,
        peak.number,
        peak.recipe,
        peak.device,
        peak.clock_mhz,
        peak.iterations_per_cycle,
        peak.orbits_in_flight,
    ))
}
