//! The counting pass: colours by rank depend on the whole field, which is counted before the first pixel is painted.

use super::bands::{Bands, Position};
use super::clock::Clock;
use super::resumption::damaged;
use crate::base::error::{Error, InputError};
use crate::colour::Painter;
use crate::field::Field;
use crate::render::computed_rows::ComputedRows;
use crate::render::field_filler::FieldFiller;
use crate::render::journal::Journal;
use crate::render::pipeline::BandBuffers;
use crate::render::writer::{Reached, Writer};
use std::ops::Range;
use std::time::Instant;

/// A counting pass: the painter that it counts for, and the writer that saves its position in the journal.
pub(super) struct Counting<'a> {
    pub(super) painter: &'a Painter,
    pub(super) bands: Bands<'a>,
    pub(super) clock: &'a Clock,
    pub(super) writer: &'a mut Writer,
}

impl Counting<'_> {
    /// Computes the whole image into one field, counts it, and keeps it to be painted.
    pub(super) fn fill_and_count(
        &mut self,
        field: &mut Field,
        filler: &mut FieldFiller<'_>,
        position: &mut Position,
    ) -> Result<(), Error> {
        let size = self.bands.plan.size();
        self.bands
            .restore_whole(field, filler, position.computed.take())?
            .ok_or_else(|| damaged(self.writer.journal.as_ref().map(Journal::path)))?;
        let (clock, writer) = (self.clock, &mut *self.writer);
        let save = |filler: &FieldFiller<'_>, field: &Field, writer: &mut Writer| {
            let tally = clock.tally(&filler.tally, [0.0; 3], 1);
            writer.save(Reached {
                tally,
                computed: ComputedRows::of(field.some_rows(0..filler.complete))?,
                ..Reached::default()
            })
        };
        filler.fill(field, size.height, |filler, field| clock.if_due(|| save(filler, field, writer)))?;
        if writer.journaled {
            save(filler, field, writer)?;
        }
        self.count(field, 0..size.height, filler)?;
        position.first = 0;
        Ok(())
    }

    /// Computes and counts the image band by band. The bands are computed a second time to be painted.
    pub(super) fn count_by_bands(
        &mut self,
        buffers: &mut Vec<BandBuffers>,
        filler: &mut FieldFiller<'_>,
        position: &mut Position,
    ) -> Result<(), Error> {
        let height = self.bands.plan.size().height;
        let (mut field, mut next) = (buffers.pop().unwrap_or_default(), buffers.pop().unwrap_or_default());
        let computed = position.computed.take();
        let mut first = position.first;
        self.bands
            .restore(&mut field.field, filler, first, computed)?
            .ok_or_else(|| damaged(self.writer.journal.as_ref().map(Journal::path)))?;
        while first < height {
            let band = self.bands.from(first);
            let (clock, painter, writer) = (self.clock, self.painter, &mut *self.writer);
            filler.fill(&mut field.field, band.end, |filler, field| {
                clock.if_due(|| {
                    let (tally, counts) = (clock.tally(&filler.tally, [0.0; 3], 1), painter.counts()?);
                    let computed = ComputedRows::of(field.some_rows(first..filler.complete))?;
                    writer.save(Reached { row: first, tally, counts, computed, ..Reached::default() })
                })
            })?;
            self.count(&field.field, band.clone(), filler)?;
            first = band.end;
            if first < height {
                self.bands.prepare(&mut next.field, first, first, filler.complete.saturating_sub(first))?;
                next.field.copy_rows(&field.field, first..filler.complete);
                std::mem::swap(&mut field, &mut next);
            }
        }
        buffers.extend([field, next]);
        Ok(())
    }

    fn count(&self, field: &Field, rows: Range<u32>, filler: &mut FieldFiller<'_>) -> Result<(), InputError> {
        let begun = Instant::now();
        self.painter.count(field.some_rows(rows), filler.engine.pool())?;
        filler.tally.seconds.colour += begun.elapsed().as_secs_f64();
        Ok(())
    }
}
