//! The sources of rows for the pipeline: a field that is kept, an engine that paints, or a field that is filled band by
//! band.

use super::bands::{Bands, Position};
use super::clock::Clock;
use super::resumption::damaged;
use crate::base::error::{Error, InputError};
use crate::base::limits::{copied, resize};
use crate::base::thread_pool::BackgroundJobs;
use crate::colour::Painter;
use crate::field::Field;
use crate::iterate::engine::PaintingEngine;
use crate::render::computed_rows::ComputedRows;
use crate::render::field_filler::FieldFiller;
use crate::render::pipeline::{BandBuffers, BandRows, Pipeline};
use crate::render::writer::Reached;
use std::path::Path;

/// Submits the rows of a render to the pipeline.
pub(super) struct RowSource<'c, 's, 'a> {
    pub(super) pipeline: &'s Pipeline<'a>,
    pub(super) jobs: &'c BackgroundJobs<'c, 's>,
    pub(super) bands: Bands<'a>,
    pub(super) clock: &'c Clock,
    /// The path of the journal.
    pub(super) journal: Option<&'c Path>,
    /// The counts of a finished counting pass; empty if colours need none or there is no journal.
    pub(super) counts: &'c [u8],
}

impl<'a> RowSource<'_, '_, 'a> {
    /// Submits a field that holds the whole image.
    pub(super) fn kept(&self, field: &'a Field) -> Result<(), Error> {
        for start in (0..self.bands.plan.size().height).step_by(self.bands.layout.band_rows as usize) {
            self.pipeline.cancel().check()?;
            self.pipeline.submit(BandRows::Kept(field), self.bands.from(start), self.jobs)?;
        }
        Ok(())
    }

    /// Paints bands on the engine from `position` on, until the last or until the engine cannot paint any more. `position`
    /// is then the first row that is not painted. Rows that an earlier process computed are computed again.
    pub(super) fn painted(
        &self,
        engine: &dyn PaintingEngine,
        painter: &Painter,
        filler: &mut FieldFiller<'_>,
        position: &mut Position,
    ) -> Result<(), Error> {
        let size = self.bands.plan.size();
        let samples = painter.side() as usize;
        filler.control.progress.add(u64::from(position.first) * u64::from(size.width));
        while position.first < size.height && engine.can_paint(&filler.task, painter) {
            self.pipeline.cancel().check()?;
            let band = self.bands.from(position.first);
            let mut buffers = self.pipeline.free_buffers()?;
            let pixels = size.width as usize * band.len() / (samples * samples);
            resize(&mut buffers.picture, pixels.saturating_mul(painter.bytes_per_pixel()), 0, "the picture")?;
            let outcome = engine.paint(&filler.task, painter, band.clone(), &mut buffers.picture, &filler.control)?;
            filler.tally.add_outcome(outcome.times, outcome.notes);
            position.first = band.end;
            let (iterations, interior_pixels) = (outcome.iterations, outcome.interior_pixels);
            self.pipeline.submit(BandRows::Picture { buffers, iterations, interior_pixels }, band, self.jobs)?;
            let reached = || Ok(Reached { row: position.first, tally: self.tally(filler), ..Reached::default() });
            self.checkpoint_if_due(reached)?;
        }
        // Rows that an earlier process computed are painted, or begin before the rows that are left.
        position.computed = None;
        Ok(())
    }

    /// Computes bands from `position` on and submits them.
    pub(super) fn filled(&self, filler: &mut FieldFiller<'_>, position: &mut Position) -> Result<(), Error> {
        let size = self.bands.plan.size();
        let mut first = position.first;
        let computed = position.computed.take();
        let mut band_buffers = self.pipeline.free_buffers()?;
        let restored = self.bands.restore(&mut band_buffers.field, filler, first, computed)?;
        restored.ok_or_else(|| damaged(self.journal))?;
        while first < size.height {
            let band = self.bands.from(first);
            let held = self.bands.first_row(first);
            filler.fill(&mut band_buffers.field, self.bands.end_row(&band), |filler, field| {
                let reached = || {
                    Ok(Reached {
                        counted: self.bands.layout.passes > 1,
                        row: first,
                        tally: self.tally(filler),
                        counts: copied(self.counts, "the counts for the colours")?,
                        computed: ComputedRows::of(field.some_rows(held..filler.complete.max(held)))?,
                        ..Reached::default()
                    })
                };
                Ok(self.checkpoint_if_due(reached)?)
            })?;
            first = band.end;
            let mut next = BandBuffers::default();
            if first < size.height {
                next = self.pipeline.free_buffers()?;
                let held = self.bands.first_row(first);
                self.bands.prepare(&mut next.field, held, first, filler.complete.saturating_sub(held))?;
                next.field.copy_rows(&band_buffers.field, held..filler.complete);
            }
            let buffers = std::mem::replace(&mut band_buffers, next);
            self.pipeline.submit(BandRows::Field(buffers), band, self.jobs)?;
        }
        position.first = first;
        Ok(())
    }

    fn checkpoint_if_due(&self, reached: impl FnOnce() -> Result<Reached, InputError>) -> Result<(), InputError> {
        self.clock.if_due(|| self.pipeline.checkpoint(reached))
    }

    fn tally(&self, filler: &FieldFiller<'_>) -> crate::render::tally::Tally {
        self.clock.tally(&filler.tally, self.pipeline.thread_seconds(), filler.engine.pool().threads())
    }
}
