//! `dwell peak`: the machine's limit.

use crate::cli::PeakArgs;
use crate::interrupt::Interrupt;
use crate::{engine, output};
use dwell::{Error, Formula, peak};

pub(crate) fn run(args: &PeakArgs, interrupt: &Interrupt) -> Result<(), Error> {
    let (level, threads) = engine::level_and_threads(&args.engine)?;
    let formula = engine::formula(Some(&args.formula), args.power.as_deref(), Formula::MANDELBROT)?;
    let (number, recipe) = (engine::number(&args.number)?, engine::recipe(&args.recipe)?);
    let peak = peak::measure(formula, number, recipe, level, threads, &interrupt.cancel)?;
    if args.json {
        return output::print_json(&peak);
    }
    output::print(&format!(
        "{:.3} G iterations/s: {} of power {}, {}, recipe {}, {}, {} thread{}, {} vectors in flight\n",
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
