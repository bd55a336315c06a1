//! A field from top to bottom: rows that are computed, in slices; rows that are mirror images of those; and, where it is
//! asked for, the verification of both.

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::field::{Extras, Field, FieldRows};
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::render::mirror::Mirror;
use crate::render::report::Tally;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How the rows of a field come to be.
pub(crate) struct Sweep<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) engine: &'a dyn Engine,
    pub(crate) strategy: Strategy,
    pub(crate) cancel: &'a Cancel,
    pub(crate) progress: &'a Progress,
    /// Prepared for the plan.
    pub(crate) mirror: &'a mut Mirror,
    /// For verification, where that is asked for.
    pub(crate) verified: Option<&'a mut Field>,
    /// How long a slice should take, so that somebody can look up in between.
    pub(crate) pause: Option<Duration>,
    /// What it took, and what verification found.
    pub(crate) tally: Tally,
    /// The first row that is not there yet.
    pub(crate) next: u32,
    /// Rows of a slice.
    slice: u32,
    /// Rows of which tiles are high that infer what is in them: such a tile is never cut otherwise, as what it infers
    /// depends on where it is cut.
    tile_rows: Option<u32>,
    recalled: Field,
}

/// A slice is at most so many times as high as the one before.
const GROWTH: u32 = 4;

impl<'a> Sweep<'a> {
    /// From row `next` on.
    #[allow(clippy::too_many_arguments, reason = "a render's parts, each of which it needs")]
    pub(crate) fn new(
        plan: &'a Plan,
        engine: &'a dyn Engine,
        strategy: Strategy,
        cancel: &'a Cancel,
        progress: &'a Progress,
        mirror: &'a mut Mirror,
        verified: Option<&'a mut Field>,
        pause: Option<Duration>,
    ) -> Self {
        let tile_rows = engine.work().tile.or(strategy.tile()).filter(|_| !strategy.is_exact()).map(|t| t.height);
        let slice = if pause.is_some() { 1 } else { u32::MAX };
        let (tally, recalled) = (Tally::default(), Field::default());
        Self {
            plan,
            engine,
            strategy,
            cancel,
            progress,
            mirror,
            verified,
            pause,
            tally,
            next: 0,
            slice,
            tile_rows,
            recalled,
        }
    }

    /// Goes on behind rows up to `next`, of which those from the field's first on are in it.
    pub(crate) fn resume(&mut self, field: &Field, next: u32) {
        let there = field.rows().start.min(next)..next;
        // Tiles that infer are computed again before they are mirrored: computing their images instead would give others.
        if self.tile_rows.is_none() {
            self.mirror.begin_at(there.start);
        }
        self.mirror.keep(field, there);
        self.next = next;
    }

    /// Computes rows until all before `end` are there; with strategies that infer perhaps some more, if the field has room.
    /// `between` is called after each slice.
    pub(crate) fn fill(
        &mut self,
        field: &mut Field,
        end: u32,
        mut between: impl FnMut(&Self, &Field) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while self.next < end {
            let begun = Instant::now();
            let (rows, images) = self.mirror.alike(self.next, field.rows().end);
            let wanted = self.next.saturating_add(self.slice).min(end);
            let wanted = match self.tile_rows {
                // Whole tiles, from the first row of those that are alike.
                Some(tile) if !images => {
                    self.next.saturating_add((wanted - self.next).div_ceil(tile).saturating_mul(tile))
                }
                _ => wanted,
            };
            let rows = rows.start..rows.end.min(wanted);
            if images {
                self.recall(&rows)?;
                self.mirror.fill(field.part(rows.clone()));
                self.progress.add(rows.len() as u64 * u64::from(field.width()));
                self.tally.iterated_in(begun.elapsed());
            } else {
                let part = field.part(rows.clone());
                let spent = self.engine.iterate(self.plan, self.strategy, part, self.cancel, self.progress)?;
                self.tally.iterated_in(spent.iterate);
                self.tally.seconds.colour += spent.extras.as_secs_f64();
                self.mirror.keep(field, rows.clone());
            }
            self.next = rows.end;
            self.verify(field.some_rows(rows.clone()), rows.clone())?;
            if let Some(pause) = self.pause {
                let rate = pause.as_secs_f64() / begun.elapsed().as_secs_f64().max(1e-9);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
                let fitting = (rows.len() as f64 * rate) as u32;
                self.slice = fitting.clamp(1, self.slice.max(rows.len() as u32).saturating_mul(GROWTH));
            }
            between(self, field)?;
        }
        Ok(())
    }

    /// Computes again what some images are images of, where an earlier process had computed it.
    fn recall(&mut self, images: &Range<u32>) -> Result<(), Error> {
        let Some(tile) = self.tile_rows else { return Ok(()) };
        let missing = self.mirror.missing(images);
        if missing.is_empty() {
            return Ok(());
        }
        // Everything that is mirrored is above the first image, where tiles begin at the top.
        let (rows, _) = self.mirror.alike(0, self.plan.size().height);
        let rows = missing.start / tile * tile..missing.end.next_multiple_of(tile).min(rows.end);
        self.recalled.prepare(self.plan, rows.clone(), self.mirror.extras())?;
        let quiet = Progress::default();
        self.engine.iterate(self.plan, self.strategy, self.recalled.whole(), self.cancel, &quiet)?;
        self.mirror.keep(&self.recalled, rows);
        Ok(())
    }

    /// Counts the dwells that differ when every pixel is asked for.
    fn verify(&mut self, found: FieldRows<'_>, rows: Range<u32>) -> Result<(), Error> {
        let Some(verified) = &mut self.verified else { return Ok(()) };
        let begun = Instant::now();
        verified.prepare(self.plan, rows, Extras::NONE)?;
        let quiet = Progress::default();
        self.engine.iterate(self.plan, Strategy::EveryPixel, verified.whole(), self.cancel, &quiet)?;
        let differing = found.dwell.iter().zip(verified.dwell()).filter(|(a, b)| a != b).count() as u64;
        self.tally.differing = Some(self.tally.differing.unwrap_or(0) + differing);
        self.tally.seconds.verify += begun.elapsed().as_secs_f64();
        Ok(())
    }
}
