//! Measures the highest rate at which this machine can iterate a formula. See [`dwell_kernels::peak`].

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::thread_pool::ThreadPool;
use crate::view::settings::NumberKind;
use dwell_kernels::{Formula, Kernels, Level, Recipe, keep_standard_floats, peak, with_standard_floats};
use serde::Serialize;
use std::time::Instant;

/// A measured peak rate, and the formula, number, recipe, level and threads that it holds for.
#[derive(Clone, Debug, Serialize)]
pub struct Peak {
    /// Iterations per second of all threads together. An iteration is the operations of the recipe and nothing else.
    pub peak_iterations_per_second: f64,
    /// The name of the formula that was iterated.
    pub formula: &'static str,
    /// The power of the formula.
    pub power: u32,
    /// The number, `f32` or `f64`.
    pub number: &'static str,
    /// The same as `number`, under the name of the program's flag.
    pub precision: &'static str,
    /// The name of the recipe, the order of roundings.
    pub recipe: &'static str,
    /// The same as `recipe`, under the name of the program's flag.
    pub rounding: &'static str,
    /// The instruction set of the kernels.
    pub level: &'static str,
    /// Threads that iterated at the same time.
    pub threads: usize,
    /// The number of vectors iterated at the same time by each thread that gave the highest rate.
    pub vectors_in_flight: usize,
}

/// Seconds of each of the [`ROUNDS`] rounds with the best number of vectors. A round that tries a number of vectors takes a
/// quarter of it.
const ROUND_SECONDS: f64 = 0.08;
/// Rounds with the best number of vectors.
const ROUNDS: usize = 9;

/// Measures the peak rate in about two seconds on `threads` threads (at least 1). The result is the rate of the fastest
/// round, since other work on the machine can only lower the rate.
///
/// # Errors
/// [`Error::Interrupted`] when `cancel` was cancelled, or [`Error::Input`] when the system cannot start so many threads.
pub fn measure(
    formula: Formula,
    number: NumberKind,
    recipe: Recipe,
    level: Level,
    threads: usize,
    cancel: &Cancel,
) -> Result<Peak, Error> {
    with_standard_floats(|| measured(formula, number, recipe, level, threads, cancel))
}

fn measured(
    formula: Formula,
    number: NumberKind,
    recipe: Recipe,
    level: Level,
    threads: usize,
    cancel: &Cancel,
) -> Result<Peak, Error> {
    let threads = threads.max(1);
    let run = |in_flight: usize, steps: u32| match number {
        NumberKind::F32 => f32::peak(level, formula, recipe, in_flight, steps),
        // The deltas of exact arithmetic are iterated in f64.
        NumberKind::F64 | NumberKind::Exact => f64::peak(level, formula, recipe, in_flight, steps),
    };
    // In a round all threads iterate at once. The rate is the work of all threads over the time from the first start to the
    // last end, so that the time of threads that take turns on one processor is not counted twice.
    let rate = |in_flight: usize, steps: u32| -> Result<f64, Error> {
        let timed = || {
            keep_standard_floats();
            let began = Instant::now();
            let (iterations, sum) = run(in_flight, steps);
            assert!(sum.is_finite(), "the orbit of a point in the set");
            (iterations, began, Instant::now())
        };
        let rounds = std::thread::scope(|scope| {
            let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, timed);
            let others = (1..threads).map(spawn).collect::<Result<Vec<_>, _>>()?;
            let own = timed();
            Ok(others.into_iter().filter_map(|t| t.join().ok()).chain([own]).collect::<Vec<_>>())
        });
        let rounds: Vec<(u64, Instant, Instant)> = rounds.map_err(|e: std::io::Error| {
            InputError::new(Problem::NoThreads { threads, why: e.to_string() }).about(Parameter::Threads)
        })?;
        let (first, last) = (rounds.iter().map(|r| r.1).min(), rounds.iter().map(|r| r.2).max());
        let wall = first.zip(last).map_or(0.0, |(first, last)| (last - first).as_secs_f64());
        Ok(rounds.iter().map(|r| r.0 as f64).sum::<f64>() / wall)
    };
    // Threads in excess of the processors take turns, so rounds are shortened to keep the total within seconds.
    let processors = ThreadPool::processors();
    let turns = threads.div_ceil(processors) as f64;
    let steps_for = |in_flight: usize, seconds: f64| {
        let (began, trial) = (Instant::now(), 20_000);
        let _ = run(in_flight, trial);
        let per_step = began.elapsed().as_secs_f64() / f64::from(trial);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let steps = (seconds / turns / per_step).clamp(1e3, 1e9) as u32;
        steps
    };
    let mut best = (0.0, peak::IN_FLIGHT[0]);
    for in_flight in peak::IN_FLIGHT {
        let steps = steps_for(in_flight, ROUND_SECONDS / 4.0);
        for _ in 0..3 {
            cancel.check()?;
            let found = rate(in_flight, steps)?;
            if found > best.0 {
                best = (found, in_flight);
            }
        }
    }
    let steps = steps_for(best.1, ROUND_SECONDS);
    for _ in 0..ROUNDS {
        cancel.check()?;
        best.0 = rate(best.1, steps)?.max(best.0);
    }
    Ok(Peak {
        peak_iterations_per_second: best.0,
        formula: formula.name(),
        power: formula.power(),
        number: number.name(),
        precision: number.name(),
        recipe: recipe.name(),
        rounding: recipe.name(),
        level: level.name().name(),
        threads,
        vectors_in_flight: best.1,
    })
}
