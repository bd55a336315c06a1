//! Estimates the time of a render by rendering a few of its own pixels.
//!
//! Trial renders grow until one takes long enough, and the last one is repeated. Its shortest times count: starting threads
//! and the first access to memory take as long for a few pixels as for many, and so does other work on the machine. Iterating
//! is in proportion to the pixels that are computed, since mirrored rows are copied, and everything else to all pixels. A
//! trial takes blocks of neighbouring pixels, since single pixels far from each other escape at unlike times and compress
//! badly. Storing the files is not included.

use super::layout::Layout;
use super::scratch::Scratch;
use super::{finer_plan, render};
use crate::base::error::Error;
use crate::encode::Format;
use crate::plan::Plan;
use crate::render::mirror;
use crate::render::request::Request;
use crate::store::Output;
use crate::view::Size;
use dwell_kernels::with_standard_floats;
use std::time::{Duration, Instant};

/// The most pixels of the trials and the pixels of their blocks, columns and rows. The first trials are of single pixels:
/// where one takes long, it says more than its neighbours.
const TRIALS: [([u32; 2], [u32; 2]); 4] =
    [([64, 32], [1, 1]), ([256, 128], [4, 2]), ([1024, 512], [32, 8]), ([2048, 1024], [64, 16])];
/// The shortest time that is measured accurately enough.
const ENOUGH: Duration = Duration::from_millis(150);
/// The most repeats of the last trial.
const REPEATS: u32 = 6;
/// The time of the last trial and its repeats together, after which no further one begins.
const REPEATING: Duration = Duration::from_millis(700);

/// What a render takes, in seconds, and what it takes it for.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Pixels that are computed and not mirrored, in every pass.
    computed: f64,
    pixels: f64,
    iterating: f64,
    /// Everything else.
    other: f64,
}

impl Cost {
    /// The seconds of an image of `self.computed` and `self.pixels`, in proportion to a trial.
    fn seconds_by(self, trial: Self) -> f64 {
        trial.iterating * self.computed / trial.computed.max(1.0) + trial.other * self.pixels / trial.pixels.max(1.0)
    }
}

/// Estimates the time of a render in seconds, by rendering a few of its own pixels into the same formats without storing
/// them.
///
/// # Errors
/// As [`render()`].
pub fn estimate(request: &Request<'_>, formats: &[Format]) -> Result<f64, Error> {
    with_standard_floats(|| estimated(request, formats))
}

fn estimated(request: &Request<'_>, formats: &[Format]) -> Result<f64, Error> {
    // Trials refine their pixels with the finer points of this plan.
    let finer = finer_plan(request, formats)?;
    let request = &finer.as_ref().map_or_else(|| request.clone(), |plan| request.clone().with_plan(plan));
    let layout = Layout::new(request, formats, &request.limits)?;
    let mut scratch = Scratch::default();
    let all = cost_of(request, request.plan, &layout);
    let (mut shortest, mut last) = (Cost::default(), None);
    for (most, block) in TRIALS {
        let samples = request.paint.samples.side();
        let size = |[width, height]: [u32; 2]| Size { width: width * samples, height: height * samples };
        let plan = request.plan.thinned(size(most), size(block));
        shortest = trial(request, &plan, formats, &mut scratch)?;
        let is_enough = shortest.iterating + shortest.other > ENOUGH.as_secs_f64() || shortest.pixels >= all.pixels;
        last = Some(plan);
        if is_enough {
            break;
        }
    }
    let mut spent = shortest.iterating + shortest.other;
    for _ in 0..REPEATS {
        let Some(plan) = last.as_ref().filter(|_| spent < REPEATING.as_secs_f64()) else { break };
        let again = trial(request, plan, formats, &mut scratch)?;
        spent += again.iterating + again.other;
        shortest.iterating = shortest.iterating.min(again.iterating);
        shortest.other = shortest.other.min(again.other);
    }
    Ok(all.seconds_by(shortest))
}

/// The pixels of a plan, without times.
fn cost_of(request: &Request<'_>, plan: &Plan, layout: &Layout) -> Cost {
    let size = plan.size();
    let task = layout.task(&Request { plan, ..request.clone() });
    let mirrored = if mirror::is_needed(request.engine, &task) { plan.mirrored_rows().0.len() } else { 0 };
    let computed = (f64::from(size.height) - mirrored as f64) * f64::from(size.width);
    Cost { computed: computed * f64::from(layout.passes), pixels: size.pixels() as f64, ..Cost::default() }
}

/// Renders a plan and measures what it takes.
fn trial(request: &Request<'_>, plan: &Plan, formats: &[Format], scratch: &mut Scratch) -> Result<Cost, Error> {
    let begun = Instant::now();
    let thinned = Request { plan, journaling: None, watched: false, ..request.clone() };
    let layout = Layout::new(&thinned, formats, &request.limits)?;
    let outputs = formats.iter().map(|format| (*format, Output::discarding())).collect();
    let report = render(&thinned, outputs, scratch)?;
    let (spent, iterating) = (begun.elapsed().as_secs_f64(), report.seconds.iterate);
    Ok(Cost { iterating, other: (spent - iterating).max(0.0), ..cost_of(request, plan, &layout) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_rows_are_not_iterated_but_count_for_everything_else() {
        let cost = |computed, pixels, iterating, other| Cost { computed, pixels, iterating, other };
        let all = cost(500.0, 1000.0, 0.0, 0.0);
        assert!((all.seconds_by(cost(20.0, 40.0, 3.0, 1.4)) - (75.0 + 35.0)).abs() < 1e-9);
    }
}
