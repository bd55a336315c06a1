//! Fills a field from top to bottom: computes rows in slices, copies rows that are mirror images of computed rows, and
//! verifies both if requested.

use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::deep::pending::Pending;
use crate::field::channels::ChannelSet;
use crate::field::{Field, FieldRows};
use crate::iterate::engine::{Engine, Task};
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::plan::points::Points;
use crate::render::mirror::Mirror;
use crate::render::tally::Tally;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Fills a field from top to bottom.
pub(crate) struct FieldFiller<'a> {
    pub(crate) task: Task<'a>,
    pub(crate) engine: &'a dyn Engine,
    pub(crate) control: Control<'a>,
    /// The mirror, prepared for the plan.
    pub(crate) mirror: &'a mut Mirror,
    /// The buffer for verification, if requested.
    pub(crate) verified: Option<&'a mut Field>,
    /// The time that a slice should take, and so the time between two calls of `after_slice` of [`Self::fill`].
    slice_time: Option<Duration>,
    /// Times, notes and the result of verification.
    pub(crate) tally: Tally,
    /// The first row with a pixel that is not filled.
    pub(crate) complete: u32,
    /// The first row that is not computed. Pixels of those before it may be pending.
    next: u32,
    pending: Pending,
    requiring: Requiring,
    /// Maximum rows of the next slice.
    slice_rows: u32,
    is_deep: bool,
    /// Height in rows of tiles in which a strategy infers pixels. Such tiles are always cut at the same rows, since what is
    /// inferred depends on where they are cut.
    tile_rows: Option<u32>,
    /// Originals of mirrored rows that are computed a second time.
    recomputed: Field,
}

/// When pixels that are pending are required.
struct Requiring {
    /// When that was so the last time, and the rows that were computed then: their pixels are required the next time.
    last: Instant,
    rows: u32,
    /// The time between two of these.
    interval: Duration,
}

/// Maximum factor by which a slice may be higher than the one before. Starting and ending a slice takes a tenth of a millisecond on 16 threads.
const MAX_GROWTH: u32 = 16;
/// That of deep views, where each slice ends with orbits that take long, so that a picture that takes less time than a slice should has two.
const MAX_GROWTH_DEEP: u32 = 1024;
/// The part of a slice that the last one is prolonged by instead of another one, at depth.
const LAST_PART: u32 = 4;
/// How many times as long as threads wait a slice should take, and the time between requests for pixels that are pending; and the longest that both are prolonged to, of which a kill loses twice as much. At the end of each slice of rf-dragon, 16 threads waited
/// for the last orbits for two seconds. The last orbits of fs-view25 have 10^8 steps and more and take half a minute,
/// in which most lanes are empty.
const TIMES_WAITING: u32 = 8;
const LONGEST: Duration = Duration::from_secs(150);
/// Rows of the first slice of a deep view, each of which may end with orbits that take long.
const FIRST_ROWS_DEEP: u32 = 2;
/// Iterations that a thread makes in a second at least: the first slice has so many rows that it ends in time even if no point of it escapes.
const LEAST_RATE: f64 = 1e8;

/// Rows that so many threads compute in a time, whatever their points do; at least one.
fn first_rows(plan: &Plan, threads: usize, time: Duration) -> u32 {
    let iterations = LEAST_RATE * threads as f64 * time.as_secs_f64();
    let of_row = f64::from(plan.size().width) * plan.limit() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
    let rows = (iterations / of_row) as u32;
    rows.max(1)
}

impl<'a> FieldFiller<'a> {
    /// A filler that starts at the first row. With a `slice_time`, rows are computed in slices that take about that long.
    pub(crate) fn new(
        task: Task<'a>,
        engine: &'a dyn Engine,
        control: Control<'a>,
        mirror: &'a mut Mirror,
        slice_time: Option<Duration>,
    ) -> Self {
        let tile = engine.info().tile_for(&task);
        let tile_rows = tile.filter(|_| !task.strategy.is_exact()).map(|tile| tile.height);
        let is_deep = matches!(task.plan.points(), Points::Deep(_));
        let slice_rows = match slice_time {
            Some(_) if is_deep => FIRST_ROWS_DEEP,
            Some(time) => first_rows(task.plan, engine.pool().threads(), time),
            None => u32::MAX,
        };
        Self {
            task,
            engine,
            control,
            mirror,
            verified: None,
            slice_time,
            tally: Tally::default(),
            complete: 0,
            next: 0,
            pending: Pending::default(),
            requiring: Requiring { last: Instant::now(), rows: 0, interval: slice_time.unwrap_or_default() },
            slice_rows,
            is_deep,
            tile_rows,
            recomputed: Field::default(),
        }
    }

    /// Continues after the rows before `next`, of which `field` holds those from its first row on.
    pub(crate) fn resume(&mut self, field: &Field, next: u32) {
        let present = field.rows().start.min(next)..next;
        // With a strategy that infers, the originals are recomputed before they are mirrored: computing the images instead
        // would infer other pixels, since their tiles differ.
        if self.tile_rows.is_none() {
            self.mirror.exclude_originals_before(present.start);
        }
        self.mirror.keep(field, present, self.engine.pool());
        (self.next, self.complete) = (next, next);
    }

    /// Starts at the first row again.
    pub(crate) fn restart(&mut self) {
        (self.next, self.complete) = (0, 0);
    }

    /// The first row of the tile that a row is in, with a strategy that infers; otherwise the row.
    pub(crate) fn tile_start(&self, row: u32) -> u32 {
        let Some(tile) = self.tile_rows else { return row };
        let first = self.mirror.first_uniform_row(row);
        // Rows that are images are copied one by one.
        if self.mirror.is_image(row) { row } else { first + (row - first) / tile * tile }
    }

    /// Fills all rows before `end`. With strategies that infer, it may fill further rows up to the end of a tile, if the field
    /// has room for them. `after_slice` is called after each slice.
    pub(crate) fn fill(
        &mut self,
        field: &mut Field,
        end: u32,
        mut after_slice: impl FnMut(&Self, &Field) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while self.next < end {
            let begun = Instant::now();
            let (rows, images) = self.mirror.uniform_rows(self.next, field.rows().end);
            let wanted = self.slice_end(end);
            let wanted = match self.tile_rows {
                // Whole tiles, counted from the first of these rows.
                Some(tile) if !images => {
                    self.next.saturating_add((wanted - self.next).div_ceil(tile).saturating_mul(tile))
                }
                _ => wanted,
            };
            let rows = rows.start..rows.end.min(wanted);
            let mut apart = Duration::ZERO;
            let mut waiting = Duration::ZERO;
            let is_due = self.require(rows.end, end);
            let had_pending = self.pending.first_row().is_some();
            if images {
                self.recompute_originals(&rows)?;
                self.mirror.fill(field, rows.clone(), self.engine.pool());
                self.control.progress.add(rows.len() as u64 * u64::from(field.width()));
                self.tally.add_iterating(begun.elapsed());
            } else {
                let of_slice = (field.all_rows_mut(), rows.clone());
                let outcome = self.engine.run_slice(&self.task, of_slice, &self.control, &mut self.pending)?;
                waiting = outcome.times.waiting;
                apart = waiting + outcome.times.preparing;
                self.tally.add_outcome(outcome.times, outcome.notes);
                self.mirror.keep(field, rows.clone(), self.engine.pool());
            }
            self.next = rows.end;
            self.complete = self.pending.first_row().unwrap_or(self.next);
            self.verify(field.some_rows(rows.clone()), rows.clone())?;
            let working = begun.elapsed().saturating_sub(apart);
            if is_due {
                (self.requiring.last, self.requiring.rows) = (Instant::now(), self.next);
                if had_pending {
                    // It was the time of pixels of many slices.
                    self.requiring.interval = self.prolonged(std::mem::take(&mut waiting));
                }
            }
            self.fit_slice(rows.len() as u32, working, waiting);
            after_slice(self, field)?;
        }
        Ok(())
    }

    /// Decides which of the pixels that are pending are required of the slice that ends with a row, of those before `end`: all of the last slice, and where rows are used as soon as they are computed. Otherwise from
    /// time to time those that were pending at the last time, so that a journal gets rows. Whether it is such a time.
    fn require(&mut self, slice_end: u32, end: u32) -> bool {
        let is_used_at_once = self.slice_time.is_none() || self.verified.is_some() || !self.mirror.is_empty();
        let Requiring { last, rows, interval } = self.requiring;
        let is_due = last.elapsed() >= interval;
        self.pending.require_before(if is_used_at_once || slice_end >= end {
            u32::MAX
        } else if is_due {
            rows
        } else {
            0
        });
        is_due
    }

    /// The end of the next slice of the rows before `end`.
    fn slice_end(&self, end: u32) -> u32 {
        let wanted = self.next.saturating_add(self.slice_rows).min(end);
        if self.is_deep && end - wanted <= self.slice_rows / LAST_PART { end } else { wanted }
    }

    /// Chooses the height of the next slice after one whose rows took some time, and threads waited for some more.
    fn fit_slice(&mut self, rows: u32, working: Duration, waiting: Duration) {
        if self.slice_time.is_none() {
            return;
        }
        let wanted = self.prolonged(waiting);
        let rate = wanted.as_secs_f64() / working.as_secs_f64().max(1e-9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
        let fitting = (f64::from(rows) * rate) as u32;
        let max_growth = if self.is_deep { MAX_GROWTH_DEEP } else { MAX_GROWTH };
        self.slice_rows = fitting.clamp(1, self.slice_rows.max(rows).saturating_mul(max_growth));
    }

    /// The time of a slice, prolonged where threads wait.
    fn prolonged(&self, waiting: Duration) -> Duration {
        self.slice_time.unwrap_or_default().max((waiting * TIMES_WAITING).min(LONGEST))
    }

    /// Recomputes the originals of some images if an earlier process computed them.
    fn recompute_originals(&mut self, images: &Range<u32>) -> Result<(), Error> {
        let Some(tile) = self.tile_rows else { return Ok(()) };
        let missing = self.mirror.originals_to_recompute(images);
        if missing.is_empty() {
            return Ok(());
        }
        // All originals are above the first image, where tiles are cut from the top of the image.
        let size = self.task.plan.size();
        let (rows, _) = self.mirror.uniform_rows(0, size.height);
        let rows = missing.start / tile * tile..missing.end.next_multiple_of(tile).min(rows.end);
        self.recomputed.prepare(size.width, rows.clone(), self.task.channels)?;
        let progress = Progress::default();
        let outcome = self.engine.run(
            &self.task,
            self.recomputed.all_rows_mut(),
            &Control { progress: &progress, ..self.control },
        )?;
        self.tally.notes.add(outcome.notes);
        self.mirror.keep(&self.recomputed, rows, self.engine.pool());
        Ok(())
    }

    /// Counts the dwells that differ from those of the strategy that computes every pixel.
    fn verify(&mut self, found: FieldRows<'_>, rows: Range<u32>) -> Result<(), Error> {
        let Some(verified) = &mut self.verified else { return Ok(()) };
        let begun = Instant::now();
        let channels = ChannelSet::of_dwells(self.task.plan.limit());
        verified.prepare(found.width(), rows, channels)?;
        let task = Task { strategy: Strategy::EveryPixel, channels, ..self.task };
        let progress = Progress::default();
        let control = Control { progress: &progress, ..self.control };
        let outcome = self.engine.run(&task, verified.all_rows_mut(), &control)?;
        self.tally.notes.add(outcome.notes);
        let differing = found.dwells().zip(verified.all_rows().dwells()).filter(|(a, b)| a != b).count() as u64;
        self.tally.differing = Some(self.tally.differing.unwrap_or(0) + differing);
        self.tally.seconds.verify += begun.elapsed().as_secs_f64();
        Ok(())
    }
}
