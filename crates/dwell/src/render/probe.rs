//! The probe for an estimate of the remaining time: the expected cost of each part of an image.

use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::field::Field;
use crate::field::channels::ChannelSet;
use crate::iterate::engine::{Control, Task};
use crate::iterate::strategy::Strategy;
use crate::render::request::Request;
use crate::view::Size;

/// The points across each strip of the probe, and the number of strips.
const PROBE: Size = Size { width: 32, height: 64 };

/// The expected costs of strips of equal height, from the top of the image, in iterations of a coarse grid of its own points.
pub(super) fn cost_of_strips(request: &Request<'_>) -> Result<Vec<f64>, Error> {
    let probe = request.plan.thinned(PROBE, Size { width: 1, height: 1 });
    let Size { width, height } = probe.size();
    let mut field = Field::default();
    field.prepare(width, 0..height, ChannelSet::NONE)?;
    let task = Task { plan: &probe, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let progress = Progress::default();
    let control = Control { progress: &progress, ..request.control };
    request.engine.run(&task, field.all_rows_mut(), &control)?;
    let limit = probe.limit();
    let cost = |row: &[u32]| row.iter().map(|n| f64::from(if *n == 0 { limit } else { *n }) + 20.0).sum();
    Ok(field.dwell().chunks(field.width() as usize).map(cost).collect())
}
