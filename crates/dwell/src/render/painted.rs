//! Rows that an engine paints where it iterates: what comes back is the picture, not the field.

use super::bands::{Bands, Clock};
use crate::base::error::Error;
use crate::base::thread_pool::Crew;
use crate::colour::Painter;
use crate::encode::Format;
use crate::render::journal::{Ahead, State};
use crate::render::pipeline::{Pipeline, Rows};
use crate::render::report::Tally;
use crate::render::request::Request;

/// Whether the engine is to paint: it can, and nobody wants to see the dwells.
pub(super) fn is_wanted(request: &Request<'_>, painter: &Painter, formats: &[Format]) -> bool {
    let dwells_are_wanted = request.hash || request.verify || !formats.iter().all(|format| format.is_picture());
    !dwells_are_wanted && request.engine.paints(painter, request.strategy)
}

/// Has bands painted from a row on, all of them or until the engine does so no more. Returns the first row that is not
/// painted. What was iterated of the first band before an interruption is painted anew.
#[allow(clippy::too_many_arguments, reason = "a render's parts, each of which it needs")]
pub(super) fn fill<'a, 'scope>(
    painter: &Painter,
    request: &Request<'_>,
    bands: Bands<'_>,
    mut first: u32,
    tally: &mut Tally,
    clock: &Clock,
    pipeline: &'scope Pipeline<'a>,
    crew: &Crew<'_, 'scope>,
) -> Result<u32, Error> {
    let size = request.plan.size();
    let samples = u64::from(request.paint.samples);
    request.progress.add(u64::from(first) * u64::from(size.width));
    while first < size.height && request.engine.paints(painter, request.strategy) {
        request.cancel.check()?;
        let band = bands.from(first);
        let mut field = pipeline.empty_field()?;
        let pixels = u64::from(size.width) * band.len() as u64 / (samples * samples);
        let bytes = usize::try_from(pixels).unwrap_or(usize::MAX).saturating_mul(painter.bytes_per_pixel());
        field.prepare_painted(request.plan, band.clone(), bytes)?;
        if let Some(rows) = field.painted_mut() {
            let painted = request.engine.paint(
                request.plan,
                request.strategy,
                painter,
                band.clone(),
                &mut rows.picture,
                request.cancel,
                request.progress,
            )?;
            rows.totals = (painted.iterations, painted.interior_pixels);
            tally.iterated_in(painted.spent.iterate);
            tally.seconds.colour += painted.spent.extras.as_secs_f64();
        }
        first = band.end;
        pipeline.submit(Rows::Own(field, band), crew);
        if clock.is_due() {
            pipeline.checkpoint(|| State {
                row: first,
                tally: clock.tally_of(tally, pipeline.thread_seconds(), request.engine.team().threads()),
                ahead: Ahead::default(),
                ..State::default()
            });
        }
    }
    Ok(first)
}
