//! The probe for an estimate of the remaining time: the expected cost of each part of an image.

use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::field::Field;
use crate::field::channels::ChannelSet;
use crate::iterate::engine::Task;
use crate::iterate::strategy::Strategy;
use crate::render::request::Request;
use crate::view::Size;
use crate::view::settings::NumberKind;

/// The points across each strip of the probe, and the number of strips.
const PROBE: Size = Size { width: 32, height: 64 };

/// What a pixel of a deep view takes, in iterations.
const DEEP_COST: f64 = 10_000.0;

/// The expected costs of strips of equal height, from the top of the image, in iterations of a coarse grid of its own points.
pub(super) fn cost_of_strips(request: &Request<'_>) -> Result<Vec<f64>, Error> {
    if request.plan.number() == NumberKind::Exact {
        // Blocks make the costs of pixels nearly equal, whatever their dwells.
        return Ok(vec![DEEP_COST * f64::from(request.plan.size().width)]);
    }
    let probe = request.plan.thinned(PROBE, Size { width: 1, height: 1 });
    let Size { width, height } = probe.size();
    let mut field = Field::default();
    field.prepare(width, 0..height, ChannelSet::NONE)?;
    let task = Task { plan: &probe, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let progress = Progress::default();
    let control = Control { progress: &progress, ..request.control };
    request.engine.run(&task, field.all_rows_mut(), &control)?;
    let limit = probe.limit();
    let cost = |row: u32| {
        let rows = field.some_rows(row..row + 1);
        rows.dwells().map(|n| if n == 0 { limit } else { n } as f64 + 20.0).sum()
    };
    Ok((0..height).map(cost).collect())
}
