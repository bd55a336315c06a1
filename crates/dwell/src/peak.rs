//! Measuring the limit of a recipe on this machine. See [`dwell_kernels::peak`].

use crate::cancel::Cancel;
use crate::error::Error;
use crate::settings::NumberKind;
use dwell_kernels::{Level, Recipe, peak};
use serde::Serialize;
use std::sync::Barrier;
use std::time::Instant;

/// The measured limit.
#[derive(Clone, Debug, Serialize)]
pub struct Peak {
    /// Iterations per second of all threads together: each is the recipe's operations and nothing else.
    pub peak_iterations_per_second: f64,
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
/// [`Error::Interrupted`].
pub fn measure(
    number: NumberKind,
    recipe: Recipe,
    level: Level,
    threads: usize,
    cancel: &Cancel,
) -> Result<Peak, Error> {
    let threads = threads.max(1);
    let run = |in_flight: usize, steps: u32| match number {
        NumberKind::F32 => peak::run::<f32>(level, recipe, in_flight, steps),
        NumberKind::F64 => peak::run::<f64>(level, recipe, in_flight, steps),
    };
    // One round: every thread at once, from a common start to the last one's end.
    let rate = |in_flight: usize, steps: u32| {
        let barrier = Barrier::new(threads);
        let timed = || {
            barrier.wait();
            let began = Instant::now();
            let (iterations, sum) = run(in_flight, steps);
            assert!(sum.is_finite(), "the orbit of a point in the set");
            iterations as f64 / began.elapsed().as_secs_f64()
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(timed)).collect();
            let own = timed();
            others.into_iter().map(|t| t.join().unwrap_or(0.0)).sum::<f64>() + own
        })
    };
    let steps_for = |in_flight: usize, seconds: f64| {
        let (began, trial) = (Instant::now(), 100_000);
        let _ = run(in_flight, trial);
        let per_step = began.elapsed().as_secs_f64() / f64::from(trial);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let steps = (seconds / per_step).clamp(1e4, 1e9) as u32;
        steps
    };
    let mut best = (0.0, peak::IN_FLIGHT[0]);
    for in_flight in peak::IN_FLIGHT {
        let steps = steps_for(in_flight, ROUND_SECONDS / 4.0);
        for _ in 0..3 {
            cancel.check()?;
            let found = rate(in_flight, steps);
            if found > best.0 {
                best = (found, in_flight);
            }
        }
    }
    let steps = steps_for(best.1, ROUND_SECONDS);
    for _ in 0..ROUNDS {
        cancel.check()?;
        best.0 = rate(best.1, steps).max(best.0);
    }
    Ok(Peak {
        peak_iterations_per_second: best.0,
        number: number.name(),
        recipe: recipe.name(),
        level: level.name().as_str(),
        threads,
        vectors_in_flight: best.1,
    })
}
