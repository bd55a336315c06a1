//! The bands of an image, and the clock by which a journal is kept while they are computed.

use super::resumption::damaged;
use crate::base::error::{Error, InputError};
use crate::colour::Painter;
use crate::field::Field;
use crate::plan::Plan;
use crate::render::field_filler::Sweep;
use crate::render::journal::{Ahead, State};
use crate::render::layout::Layout;
use crate::render::pipeline::Writer;
use crate::render::report::Tally;
use crate::render::request::Request;
use std::time::{Duration, Instant};

/// The longest time between two looks at the clock of a journal.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// When to make the next entry of a journal.
pub(super) struct Clock {
    began: Instant,
    pub(super) interval: Option<Duration>,
    last: std::cell::Cell<Instant>,
}

impl Clock {
    pub(super) fn new(request: &Request<'_>, began: Instant) -> Self {
        let interval = request.journaling.as_ref().map(|journaling| journaling.interval);
        Self { began, interval, last: std::cell::Cell::new(Instant::now()) }
    }

    /// How long to work between two looks at it.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.interval.map(|interval| (interval / 8).min(LONGEST_PAUSE))
    }

    pub(super) fn is_due(&self) -> bool {
        let due = self.interval.is_some_and(|interval| self.last.get().elapsed() >= interval);
        if due {
            self.last.set(Instant::now());
        }
        due
    }

    /// What was done since the process began, less what the writer has counted.
    pub(super) fn tally(&self, sweep: &Sweep<'_>, thread_seconds: [f64; 2], threads: usize) -> Tally {
        self.tally_of(&sweep.tally, thread_seconds, threads)
    }

    /// The same from the tally of who iterates.
    pub(super) fn tally_of(&self, tally: &Tally, [colour, encode]: [f64; 2], threads: usize) -> Tally {
        let mut tally = tally.clone();
        // As though all threads had done it at once, and nothing else.
        tally.seconds.colour += colour / threads as f64;
        tally.seconds.encode += encode / threads as f64;
        tally.seconds.total = self.began.elapsed().as_secs_f64();
        tally
    }
}

/// The bands of an image.
#[derive(Clone, Copy)]
pub(super) struct Bands<'a> {
    pub(super) layout: &'a Layout,
    pub(super) plan: &'a Plan,
}

impl Bands<'_> {
    /// The band that begins at a row.
    pub(super) fn from(&self, start: u32) -> std::ops::Range<u32> {
        start..start.saturating_add(self.layout.band_rows).min(self.plan.size().height)
    }

    /// Makes room for the band that begins at a row, and for so many rows from there on that are known already: a process
    /// before, with larger bands, may have left many.
    pub(super) fn prepare(&self, field: &mut Field, start: u32, known: u32) -> Result<(), InputError> {
        let rows = (self.layout.band_rows.saturating_add(self.layout.overhang)).max(known);
        let end = start.saturating_add(rows).min(self.plan.size().height);
        field.prepare(self.plan, start..end, self.layout.extras)
    }

    /// Puts what is there of a band into its field. False if it does not fit.
    pub(super) fn restore(&self, field: &mut Field, sweep: &mut Sweep<'_>, start: u32, ahead: Option<Ahead>) -> bool {
        let ahead = ahead.unwrap_or_default();
        if ahead.rows() > 0 && !ahead.restore(field, start) {
            return false;
        }
        sweep.resume(field, start + ahead.rows());
        true
    }

    /// Shows the whole of a field that is kept to a painter.
    pub(super) fn count_kept(
        &self,
        painter: &Painter,
        field: &mut Field,
        sweep: &mut Sweep<'_>,
        ahead: Option<Ahead>,
        writer: &mut Writer<'_>,
        clock: &Clock,
    ) -> Result<(), Error> {
        let height = self.plan.size().height;
        field.prepare(self.plan, 0..height, self.layout.extras)?;
        if !self.restore(field, sweep, 0, ahead) {
            return Err(damaged(writer.journal));
        }
        sweep.progress.add(u64::from(sweep.next) * u64::from(field.width()));
        let save = |sweep: &Sweep<'_>, field: &Field, writer: &mut Writer<'_>| {
            let tally = clock.tally(sweep, [0.0; 2], 1);
            writer.save(State { tally, ahead: Ahead::of(field.some_rows(0..sweep.next)), ..State::default() })
        };
        sweep.fill(field, height, |sweep, field| if clock.is_due() { save(sweep, field, writer) } else { Ok(()) })?;
        if writer.journaled {
            save(sweep, field, writer)?;
        }
        self.show(painter, field, 0..height, sweep);
        Ok(())
    }

    /// Shows a field to a painter, band by band.
    pub(super) fn count(
        &self,
        painter: &Painter,
        fields: &mut Vec<Field>,
        sweep: &mut Sweep<'_>,
        (mut first, mut ahead): (u32, Option<Ahead>),
        writer: &mut Writer<'_>,
        clock: &Clock,
    ) -> Result<(), Error> {
        let height = self.plan.size().height;
        let (mut field, mut next) = (fields.pop().unwrap_or_default(), fields.pop().unwrap_or_default());
        self.prepare(&mut field, first, ahead.as_ref().map_or(0, Ahead::rows))?;
        if !self.restore(&mut field, sweep, first, ahead.take()) {
            return Err(damaged(writer.journal));
        }
        sweep.progress.add(u64::from(sweep.next) * u64::from(field.width()));
        while first < height {
            let band = self.from(first);
            sweep.fill(&mut field, band.end, |sweep, field| {
                if !clock.is_due() {
                    return Ok(());
                }
                let (tally, counts) = (clock.tally(sweep, [0.0; 2], 1), painter.counts());
                let ahead = Ahead::of(field.some_rows(first..sweep.next));
                writer.save(State { row: first, tally, counts, ahead, ..State::default() })
            })?;
            self.show(painter, &field, band.clone(), sweep);
            first = band.end;
            if first < height {
                self.prepare(&mut next, first, sweep.next.saturating_sub(first))?;
                next.take_over(&field, first..sweep.next);
                std::mem::swap(&mut field, &mut next);
            }
        }
        fields.extend([field, next]);
        Ok(())
    }

    pub(super) fn show(&self, painter: &Painter, field: &Field, rows: std::ops::Range<u32>, sweep: &mut Sweep<'_>) {
        let begun = Instant::now();
        painter.count(field.some_rows(rows), sweep.engine.team());
        sweep.tally.seconds.colour += begun.elapsed().as_secs_f64();
    }
}
