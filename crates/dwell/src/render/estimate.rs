//! Estimates the time of a render by rendering a few of its own pixels.
//!
//! Trial renders grow until one takes long enough. The time of an image follows from the *difference* of the last two:
//! starting threads and computing tables takes as long for a few pixels as for many. Iterating is counted by pixels that
//! are computed, since mirrored rows are copied, and everything else by pixels. A trial takes blocks of neighbouring pixels,
//! since single pixels far from each other escape at unlike times and compress badly. Other work on the machine makes a
//! short trial take longer, so the last one is repeated and its shortest times count.

use super::layout::Layout;
use super::render;
use super::scratch::Scratch;
use crate::base::error::Error;
use crate::encode::Format;
use crate::plan::Plan;
use crate::render::mirror;
use crate::render::request::Request;
use crate::store::Output;
use crate::view::Size;
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
    /// The cost of an image of `self.computed` and `self.pixels` after two trials.
    fn seconds_after(self, first: Self, second: Self) -> f64 {
        let rest = |first: [f64; 2], second: [f64; 2], all: f64| {
            let difference = (second[1] - first[1]) / (second[0] - first[0]);
            // The smaller trial may have been disturbed.
            let each = if difference > 0.0 { difference } else { second[1] / second[0].max(1.0) };
            second[1] + (all - second[0]).max(0.0) * each
        };
        rest([first.computed, first.iterating], [second.computed, second.iterating], self.computed)
            + rest([first.pixels, first.other], [second.pixels, second.other], self.pixels)
    }
}

/// Estimates the time of a render in seconds, by rendering a few of its own pixels into the same formats without storing
/// them.
///
/// # Errors
/// As [`render()`].
pub fn estimate(request: &Request<'_>, formats: &[Format]) -> Result<f64, Error> {
    let layout = Layout::new(request, formats, &request.limits)?;
    let mut scratch = Scratch::default();
    let all = cost_of(request, request.plan, &layout);
    let (mut first, mut second) = (Cost::default(), Cost::default());
    let mut last = None;
    for (most, block) in TRIALS {
        let samples = request.paint.samples;
        let size = |[width, height]: [u32; 2]| Size { width: width * samples, height: height * samples };
        let plan = request.plan.thinned(size(most), size(block));
        first = second;
        second = trial(request, &plan, formats, &mut scratch)?;
        if second.pixels >= all.pixels {
            return Ok(second.iterating + second.other);
        }
        let is_enough = second.iterating + second.other > ENOUGH.as_secs_f64();
        last = Some(plan);
        if is_enough {
            break;
        }
    }
    let mut spent = second.iterating + second.other;
    for _ in 0..REPEATS {
        let Some(plan) = last.as_ref().filter(|_| spent < REPEATING.as_secs_f64()) else { break };
        let again = trial(request, plan, formats, &mut scratch)?;
        spent += again.iterating + again.other;
        second.iterating = second.iterating.min(again.iterating);
        second.other = second.other.min(again.other);
    }
    Ok(all.seconds_after(first, second))
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
    fn fixed_costs_are_counted_once_and_mirrored_rows_are_not_iterated() {
        let cost = |computed, pixels, iterating, other| Cost { computed, pixels, iterating, other };
        let all = cost(500.0, 1000.0, 0.0, 0.0);
        // 1 s of set-up each, then 0.1 s for a computed pixel and 0.01 s for any.
        let (first, second) = (cost(10.0, 10.0, 2.0, 1.1), cost(20.0, 40.0, 3.0, 1.4));
        assert!((all.seconds_after(first, second) - (51.0 + 11.0)).abs() < 1e-9);
        // Without a difference, in proportion.
        assert!((all.seconds_after(second, second) - (75.0 + 35.0)).abs() < 1e-9);
        assert!((all.seconds_after(Cost::default(), second) - (75.0 + 35.0)).abs() < 1e-9);
    }
}
