//! Measuring the limit of a formula on this machine. See [`dwell_kernels::peak`].

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::view::settings::NumberKind;
use dwell_kernels::{Formula, Kernels, Level, Recipe, peak};
use serde::Serialize;
use std::time::Instant;

/// The measured limit.
#[derive(Clone, Debug, Serialize)]
pub struct Peak {
    /// Iterations per second of all threads together: each is the recipe's operations and nothing else.
    pub peak_iterations_per_second: f64,
    /// What was iterated.
    pub formula: &'static str,
    /// Its power.
    pub power: u32,
    /// The number.
    pub number: &'static str,
    /// The order of roundings.
    pub recipe: &'static str,
    /// The instruction set.
    pub level: &'static str,
    /// Threads at work at the same time.
    pub threads: usize,
    /// How many vectors in flight were fastest.
    pub vectors_in_flight: usize,
}

/// Seconds of each of [`ROUNDS`] rounds, once a good count of vectors is known; a quarter of it for each count tried.
const ROUND_SECONDS: f64 = 0.08;
const ROUNDS: usize = 9;

/// Measures for about two seconds. The best round counts: everything else that runs on a machine only takes away.
///
/// # Errors
/// [`Error::Interrupted`], or [`Error::Input`] when the system refuses so many threads.
pub fn measure(
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
        NumberKind::F64 => f64::peak(level, formula, recipe, in_flight, steps),
    };
    // One round: every thread at once; all work over the time from the first one's start to the last one's end, so that
    // threads that take turns on a processor do not count twice.
    let rate = |in_flight: usize, steps: u32| -> Result<f64, Error> {
        let timed = || {
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
            InputError::new("threads", format!("{threads} threads cannot be had: {e}")).hint("ask for fewer")
        })?;
        let (first, last) = (rounds.iter().map(|r| r.1).min(), rounds.iter().map(|r| r.2).max());
        let wall = first.zip(last).map_or(0.0, |(first, last)| (last - first).as_secs_f64());
        Ok(rounds.iter().map(|r| r.0 as f64).sum::<f64>() / wall)
    };
    // Threads beyond the processors take turns: their rounds are shortened so that the whole still takes seconds.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let turns = threads.div_ceil(processors) as f64;
    let steps_for = |in_flight: usize, seconds: f64| {
        let (began, trial) = (Instant::now(), 20_000);
        let _ = run(in_flight, trial);
        let per_step = began.elapsed().as_secs_f64() / f64::from(trial);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
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
        recipe: recipe.name(),
        level: level.name().as_str(),
        threads,
        vectors_in_flight: best.1,
    })
}
