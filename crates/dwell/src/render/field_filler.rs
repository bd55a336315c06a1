//! Fills a field from top to bottom: computes rows in slices, copies rows that are mirror images of computed rows, and
//! verifies both if requested.

use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::progress::Progress;
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
    /// The first row that is not filled.
    pub(crate) next: u32,
    /// Maximum rows of the next slice.
    slice_rows: u32,
    is_deep: bool,
    /// Height in rows of tiles in which a strategy infers pixels. Such tiles are always cut at the same rows, since what is
    /// inferred depends on where they are cut.
    tile_rows: Option<u32>,
    /// Originals of mirrored rows that are computed a second time.
    recomputed: Field,
}

/// Maximum factor by which a slice may be higher than the one before. Starting and ending a slice takes a tenth of a millisecond on 16 threads.
const MAX_GROWTH: u32 = 16;
/// That of deep views, where each slice ends with orbits that take long, so that a picture that takes less time than a slice should has two.
const MAX_GROWTH_DEEP: u32 = 1024;
/// The part of a slice that the last one is prolonged by instead of another one, at depth.
const LAST_PART: u32 = 4;
/// How many times as long as that waiting a slice should take, and the longest that it is prolonged to: at the end of each slice of rf-dragon, 16 threads waited
/// for the last orbits for two seconds. The last orbits of a slice of fs-view25 have 10^8 steps and more and take half a minute,
/// in which most lanes are empty.
const TIMES_WAITING: u32 = 8;
const LONGEST: Duration = Duration::from_secs(300);
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
            next: 0,
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
        self.next = next;
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
            if images {
                self.recompute_originals(&rows)?;
                self.mirror.fill(field, rows.clone(), self.engine.pool());
                self.control.progress.add(rows.len() as u64 * u64::from(field.width()));
                self.tally.add_iterating(begun.elapsed());
            } else {
                let outcome = self.engine.run(&self.task, field.rows_mut(rows.clone()), &self.control)?;
                waiting = outcome.times.waiting;
                apart = waiting + outcome.times.preparing;
                self.tally.add_outcome(outcome.times, outcome.notes);
                self.mirror.keep(field, rows.clone(), self.engine.pool());
            }
            self.next = rows.end;
            self.verify(field.some_rows(rows.clone()), rows.clone())?;
            self.fit_slice(rows.len() as u32, begun.elapsed().saturating_sub(apart), waiting);
            after_slice(self, field)?;
        }
        Ok(())
    }

    /// The end of the next slice of the rows before `end`.
    fn slice_end(&self, end: u32) -> u32 {
        let wanted = self.next.saturating_add(self.slice_rows).min(end);
        if self.is_deep && end - wanted <= self.slice_rows / LAST_PART { end } else { wanted }
    }

    /// Chooses the height of the next slice after one whose rows took some time, and threads waited for some more.
    fn fit_slice(&mut self, rows: u32, working: Duration, waiting: Duration) {
        let Some(slice_time) = self.slice_time else { return };
        let wanted = slice_time.max((waiting * TIMES_WAITING).min(LONGEST));
        let rate = wanted.as_secs_f64() / working.as_secs_f64().max(1e-9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
        let fitting = (f64::from(rows) * rate) as u32;
        let max_growth = if self.is_deep { MAX_GROWTH_DEEP } else { MAX_GROWTH };
        self.slice_rows = fitting.clamp(1, self.slice_rows.max(rows).saturating_mul(max_growth));
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
