//! How a render is laid out in memory: which rows are worked on at once, and every large buffer, before any is taken.
//!
//! A *band* is iterated at a time, while the bands before it are painted, encoded and written; a *part* is encoded at a
//! time, by one thread. Where parts begin depends on the image alone, so that its bytes do; bands are as large as is good
//! for the threads, and smaller where memory is short.

use crate::base::error::InputError;
use crate::base::limits::Limits;
use crate::colour::Depth;
use crate::encode::{self, Format};
use crate::field::{Extras, Field};
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::plan::Plan;
use crate::render::mirror::{self, Mirror};
use crate::render::request::Paint;

/// Bands at hand at most: one being iterated, others being finished.
pub(crate) const BANDS_AT_HAND: u64 = 3;
/// A field of up to so many bytes is kept where the whole image has to be known before it can be coloured; a larger one is
/// computed twice.
const KEPT_BYTES: u64 = 1 << 28;
/// The most bytes of rows that are kept to be mirrored.
const MIRRORED_BYTES: u64 = 1 << 28;
/// What the program takes before it renders anything: its code, threads' stacks, tables.
const BASE_BYTES: u64 = 12 << 20;
/// Bytes of the counts of an octave of values, where colours are by rank, and the most octaves to be expected of a limit.
const OCTAVE_BYTES: u64 = 1 << 19;

/// What to lay out.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) engine: &'a dyn Engine,
    pub(crate) strategy: Strategy,
    pub(crate) paint: Paint<'a>,
    pub(crate) formats: &'a [Format],
    pub(crate) verify: bool,
    pub(crate) journaled: bool,
}

/// Rows and buffers of a render.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Rows of samples that are iterated at once.
    pub band_rows: u32,
    /// Rows of samples that are encoded at once.
    pub part_rows: u32,
    /// How often the field is iterated: twice where the colours need to know all of it and it is too large to keep.
    pub passes: u32,
    /// What takes memory, and how many bytes at most.
    pub memory: Vec<(&'static str, u64)>,
    /// What is wanted of each sample.
    pub(crate) extras: Extras,
    /// Whether the whole field is kept.
    pub(crate) kept: bool,
    /// The most bytes of rows kept to be mirrored.
    pub(crate) mirrored_bytes: u64,
    /// Rows that a tile of a strategy that infers may reach beyond its band.
    pub(crate) overhang: u32,
}

impl Layout {
    /// Lays out a render within the limits: with smaller bands, fewer mirrored rows and a field iterated twice where
    /// memory is short.
    ///
    /// # Errors
    /// When even the least is too much.
    pub(crate) fn new(task: &Task<'_>, limits: &Limits) -> Result<Self, InputError> {
        let samples = task.engine.band_samples();
        let roomy = Self::with(task, samples, KEPT_BYTES, MIRRORED_BYTES);
        if roomy.bytes() <= limits.memory_bytes {
            return Ok(roomy);
        }
        let mut last = roomy;
        for shift in 0..=20 {
            last = Self::with(task, samples >> shift, 0, if shift < 2 { MIRRORED_BYTES >> (2 + shift) } else { 0 });
            if last.bytes() <= limits.memory_bytes {
                return Ok(last);
            }
        }
        limits.reserve("the render", last.bytes())?;
        Ok(last)
    }

    /// With bands of about so many samples and a field kept of up to so many bytes.
    #[cfg(test)]
    pub(crate) fn of(task: &Task<'_>, band_samples: u64, most_kept: u64) -> Self {
        Self::with(task, band_samples, most_kept, MIRRORED_BYTES)
    }

    fn with(task: &Task<'_>, band_samples: u64, most_kept: u64, mirrored_bytes: u64) -> Self {
        let Task { plan, engine, strategy, paint, formats, .. } = *task;
        let size = plan.size();
        let samples = paint.samples;
        let with_picture = formats.iter().any(|format| format.is_picture());
        let extras = if with_picture { paint.colouring.extras() } else { Extras::NONE };
        let pixels_across = u64::from(size.width / samples);
        let row_bytes = pixels_across * if with_picture { paint.depth.bytes_per_pixel() as u64 } else { 4 };
        let part_rows = encode::part_rows(row_bytes).min(size.height / samples) * samples;
        let part_samples = u64::from(part_rows) * u64::from(size.width);
        let parts = u32::try_from(band_samples / part_samples).unwrap_or(u32::MAX).max(1);
        let band_rows = part_rows.saturating_mul(parts).min(size.height);
        let overhang = match engine.work().tile.or(strategy.tile()) {
            Some(tile) if !strategy.is_exact() => tile.height - 1,
            _ => 0,
        };
        let counted = with_picture && paint.colouring.needs_counts();
        let kept = counted && Field::bytes(size.pixels(), extras) <= most_kept;

        let row = |extras| Field::bytes(u64::from(size.width), extras);
        let band = u64::from(band_rows);
        let symmetric = mirror::serves(engine, strategy, extras) && !kept;
        let one_band = row(extras) * (band + u64::from(overhang)).min(u64::from(size.height));
        let bands = u64::from(size.height).div_ceil(band).min(BANDS_AT_HAND);
        let threads = engine.team().threads() as u64;
        // A part's worth of each file for each part in the bands that are being finished, at most.
        let encoded: u64 = formats.iter().map(|format| format.most_bytes(size.width / samples, paint.depth)).sum();
        let finishing = (bands - 1).max(1) * band / u64::from(samples);
        let drawn = if with_picture { row_bytes * u64::from(part_rows / samples) } else { 0 };
        let octaves = u64::from(plan.limit().ilog2() + 2);
        let parts_in_all = u64::from(size.height.div_ceil(part_rows));
        let memory = vec![
            ("program", BASE_BYTES),
            ("coordinates", plan.bytes()),
            ("iterating threads", engine.bytes(plan, strategy, extras)),
            ("rows to be mirrored", if symmetric { Mirror::bytes(plan, extras, mirrored_bytes) } else { 0 }),
            ("field", if kept { Field::bytes(size.pixels(), extras) } else { one_band.saturating_mul(bands) }),
            ("verification", if task.verify { row(Extras::NONE) * (band + u64::from(overhang)) } else { 0 }),
            ("counts for the colours", if counted { OCTAVE_BYTES * octaves * (threads + 2) } else { 0 }),
            // Beside the picture, the encoder's copies of it.
            ("painting threads", threads.min(parts_in_all).saturating_mul(drawn).saturating_mul(2)),
            ("encoded rows", encoded.saturating_mul(finishing)),
            // A copy of the rows at hand, while it is written.
            (
                "journal",
                if !task.journaled {
                    0
                } else if kept {
                    Field::bytes(size.pixels(), extras)
                } else {
                    one_band
                },
            ),
        ];
        let passes = if counted && !kept { 2 } else { 1 };
        Self { band_rows, part_rows, passes, memory, extras, kept, mirrored_bytes, overhang }
    }

    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.memory.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

/// Pixels of the tiles that the bands of a layout are cut into.
#[must_use]
pub fn tile_of(engine: &dyn Engine, strategy: Strategy, layout: &Layout, width: u32) -> TileSize {
    let pixels = u64::from(layout.band_rows) * u64::from(width);
    let fitting = || TileSize::fitting(pixels, width, engine.team().threads());
    engine.work().tile.or(strategy.tile()).unwrap_or_else(fitting)
}

impl Format {
    /// Bytes of a row of so many pixels at most.
    fn most_bytes(self, width: u32, depth: Depth) -> u64 {
        u64::from(width)
            * match self {
                Self::Png | Self::Ppm => depth.bytes_per_pixel() as u64,
                Self::Npy => 4,
                // Ten digits and a comma; seldom more than five.
                Self::Csv => 6,
            }
    }
}
