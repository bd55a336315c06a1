//! The layout of a render in memory: how many rows are processed at once, and the size of every large buffer before any is
//! allocated.
//!
//! Rows are computed by *band*, while earlier bands are painted, encoded and written. Rows are encoded by *chunk*, each by one
//! thread. The rows at which chunks begin depend on the image alone, so that its bytes do too. Bands are as large as suits the
//! threads, and smaller if memory is limited.

use crate::base::error::InputError;
use crate::base::limits::Limits;
use crate::colour::{By, Depth, Samples};
use crate::encode::{self, Format};
use crate::field::channels::ChannelSet;
use crate::iterate::engine::{Engine, Task};
use crate::iterate::tiles::TileSize;
use crate::render::mirror::{Mirror, Originals};
use crate::render::pipeline::Pipeline;
use crate::render::pipeline::division::Division;
use crate::render::refine::Refiner;
use crate::render::request::Request;

/// Maximum number of bands in memory: one is computed while the others are painted, encoded and written.
pub(crate) const MAX_BANDS: u64 = 3;
/// Where colours depend on the whole field, a field of at most this many bytes is kept; a larger one is computed twice.
const KEPT_BYTES: u64 = 1 << 28;
/// Maximum bytes of rows that are kept to be mirrored.
const MIRRORED_BYTES: u64 = 1 << 28;
/// Bytes that the program takes before it renders anything: its code, the stacks of its threads, and tables.
const BASE_BYTES: u64 = 12 << 20;
/// Bytes of the counts of one octave of values, for colours by rank.
const OCTAVE_BYTES: u64 = 1 << 19;
/// Octaves of 1 + 1000 times the distance, for distances up to four heights of the view.
const DISTANCE_OCTAVES: u64 = 12;

/// The numbers of rows and the buffers of a render.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Rows of samples that are computed at once.
    pub band_rows: u32,
    /// Rows of samples that are encoded at once.
    pub chunk_rows: u32,
    /// How many times the field is computed: twice if colours depend on the whole field and it is too large to keep, otherwise
    /// once.
    pub passes: u32,
    /// Planned allocations: name and upper bound in bytes.
    pub memory: Vec<(&'static str, u64)>,
    /// Upper bound of the bytes of device memory that the engine allocates.
    pub device_bytes: u64,
    /// How bands are divided to be painted and encoded.
    pub(crate) division: Division,
    /// The channels to compute for each sample.
    pub(crate) channels: ChannelSet,
    /// Whether the whole field is kept.
    pub(crate) kept: bool,
    /// Where the originals of mirrored rows are.
    pub(crate) originals: Originals,
    /// Rows by which a tile of a strategy that infers may reach beyond its band.
    pub(crate) overhang: u32,
    /// Rows above and below a band that are needed to paint it: 1 if pixels are refined, otherwise 0.
    pub(crate) beside: u32,
}

impl Layout {
    /// Lays out a render within the limits: with smaller bands, fewer mirrored rows and a field computed twice if memory is
    /// limited.
    ///
    /// # Errors
    /// When even the smallest layout exceeds the limits.
    pub(crate) fn new(request: &Request<'_>, formats: &[Format], limits: &Limits) -> Result<Self, InputError> {
        let samples = request.engine.info().band_samples;
        let preferred = Self::with_sizes(request, formats, samples, KEPT_BYTES, MIRRORED_BYTES);
        if preferred.bytes() <= limits.memory_bytes {
            return Ok(preferred);
        }
        let mut last = preferred;
        for shift in 0..=20 {
            last = Self::with_sizes(
                request,
                formats,
                samples >> shift,
                0,
                if shift < 2 { MIRRORED_BYTES >> (2 + shift) } else { 0 },
            );
            if last.bytes() <= limits.memory_bytes {
                return Ok(last);
            }
        }
        limits.reserve("the render", last.bytes())?;
        Ok(last)
    }

    /// A layout with bands of about `band_samples` samples that keeps a field of at most `max_kept_bytes`.
    #[cfg(test)]
    pub(crate) fn of(request: &Request<'_>, formats: &[Format], band_samples: u64, max_kept_bytes: u64) -> Self {
        Self::with_sizes(request, formats, band_samples, max_kept_bytes, MIRRORED_BYTES)
    }

    fn with_sizes(
        request: &Request<'_>,
        formats: &[Format],
        band_samples: u64,
        max_kept_bytes: u64,
        mirrored_bytes: u64,
    ) -> Self {
        let Request { plan, engine, strategy, paint, .. } = *request;
        let size = plan.size();
        let samples = paint.samples.side();
        let with_picture = formats.iter().any(|format| format.is_picture());
        let of_picture = if with_picture { paint.colouring.channels() } else { ChannelSet::NONE };
        let channels = of_picture.and(ChannelSet::of_dwells(plan.limit()));
        let task = Task { plan, strategy, channels };
        let pixels_across = u64::from(size.width / samples);
        let row_bytes = pixels_across * if with_picture { paint.depth.bytes_per_pixel() as u64 } else { 4 };
        let chunk_rows = encode::chunk_rows(row_bytes).min(size.height / samples) * samples;
        let chunk_samples = u64::from(chunk_rows) * u64::from(size.width);
        let threads = engine.pool().threads();
        let of_image = [size.width, size.height];
        let division = Division::for_threads(chunk_rows, samples, of_image, threads, plan.number());
        let chunks = u32::try_from(band_samples / chunk_samples).unwrap_or(u32::MAX).max(1);
        let band_rows = chunk_rows.saturating_mul(chunks).min(size.height);
        let overhang = match engine.info().tile_for(&task) {
            Some(tile) if !strategy.is_exact() => tile.height - 1,
            _ => 0,
        };
        let refines = with_picture && paint.samples == Samples::Auto;
        let beside = u32::from(refines);
        let requirements = engine.requirements(&task, band_rows.saturating_add(overhang + beside));
        let counted = with_picture && paint.colouring.needs_counts();
        let kept = counted && channels.bytes(size.pixels()) <= max_kept_bytes;

        let row = |channels: ChannelSet| channels.bytes(u64::from(size.width));
        let band = u64::from(band_rows);
        // A render of one band may continue one of smaller bands, whose rows are no longer in memory. Their images are computed then, except with a strategy that infers, which
        // would infer other pixels.
        let holds_all = kept || band_rows >= size.height && strategy.is_exact();
        let originals = if holds_all {
            Originals::in_field(engine, &task)
        } else {
            Originals::copied(engine, &task, mirrored_bytes)
        };
        let one_band = row(channels) * (band + u64::from(overhang + 2 * beside)).min(u64::from(size.height));
        let bands = u64::from(size.height).div_ceil(band).min(MAX_BANDS);
        let threads = threads as u64;
        // At most the encoded bytes of every format for all rows of the bands that are painted, encoded and written.
        let encoded: u64 = formats.iter().map(|format| format.max_row_bytes(size.width / samples, paint.depth)).sum();
        let rows_in_pipeline = (bands - 1).max(1) * band / u64::from(samples);
        let picture_chunk_bytes = if with_picture { row_bytes * u64::from(chunk_rows / samples) } else { 0 };
        let octaves = octaves(paint.colouring.by, plan.limit());
        let image = 0..size.height;
        let refining = [threads.min(division.pieces(&image) as u64), band_rows.into(), bands];
        let saves = request.journaling.as_ref().is_some_and(|journaling| journaling.interval.is_some());
        let saved = if kept { channels.bytes(size.pixels()) } else { one_band };
        let memory = vec![
            ("program", BASE_BYTES),
            ("coordinates", plan.bytes() + if refines { plan.finer_bytes() } else { 0 }),
            ("iterating threads", requirements.host_bytes.saturating_sub(requirements.pinned_bytes)),
            ("pinned memory", requirements.pinned_bytes),
            ("rows to be mirrored", Mirror::bytes(plan, channels, originals)),
            ("field", if kept { channels.bytes(size.pixels()) } else { one_band.saturating_mul(bands) }),
            (
                "verification",
                if request.verify {
                    row(ChannelSet::of_dwells(plan.limit())) * (band + u64::from(overhang + beside))
                } else {
                    0
                },
            ),
            ("counts for the colours", if counted { OCTAVE_BYTES * octaves * (threads + 1) } else { 0 }),
            ("painting threads", painting_bytes(picture_chunk_bytes, threads, division.chunks(&image) as u64)),
            ("refined pixels", if refines { refining_bytes(&task, engine, refining) } else { 0 }),
            ("encoded rows", encoded.saturating_mul(rows_in_pipeline)),
            ("lists of chunks", Pipeline::list_bytes(division, &(0..band_rows)).saturating_mul(bands)),
            // A copy of the computed rows, while the journal is written.
            ("journal", if saves { saved } else { 0 }),
        ];
        let passes = if counted && !kept { 2 } else { 1 };
        Self {
            band_rows,
            chunk_rows,
            division,
            passes,
            memory,
            device_bytes: requirements.device_bytes,
            channels,
            kept,
            originals,
            overhang,
            beside,
        }
    }

    /// What the engine computes in a render of this layout.
    pub(crate) fn task<'r>(&self, request: &Request<'r>) -> Task<'r> {
        Task { plan: request.plan, strategy: request.strategy, channels: self.channels }
    }

    /// All planned allocations on this machine, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.memory.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

/// The octaves that the values of a colouring may lie in.
fn octaves(by: By, limit: u64) -> u64 {
    match by {
        // A smooth value is less than 1 above the dwell.
        By::Banded | By::Smooth => u64::from(limit.saturating_add(1).ilog2() + 1),
        By::Distance => DISTANCE_OCTAVES,
    }
}

/// Bytes of the pictures of chunks, of so many bytes each, on so many threads: twice as many, since each is joined from its pieces, and
/// copied by the encoder. All pieces of one chunk may have been taken while a thread works on each of the others.
fn painting_bytes(of_chunk: u64, threads: u64, chunks: u64) -> u64 {
    (threads + 1).min(chunks).saturating_mul(of_chunk).saturating_mul(2)
}

/// Bytes of the buffers in which so many threads refine pixels, or an engine those of bands of so many rows, of which so many are under way.
fn refining_bytes(task: &Task<'_>, engine: &dyn Engine, [threads, rows, bands]: [u64; 3]) -> u64 {
    let of_threads = threads.saturating_mul(Refiner::bytes_of_thread(task.plan, task.channels));
    of_threads.saturating_add(Refiner::bytes_of_bands(task, engine, rows, bands))
}

/// The size of the tiles into which the engine of a request cuts the bands of its layout.
#[must_use]
pub fn tile_of(request: &Request<'_>, layout: &Layout) -> TileSize {
    let (engine, width) = (request.engine, request.plan.size().width);
    let pixels = u64::from(layout.band_rows) * u64::from(width);
    let fitting = || TileSize::fitting(pixels, width, engine.pool().threads());
    engine.info().tile_for(&layout.task(request)).unwrap_or_else(fitting)
}

impl Format {
    /// Upper bound of the bytes of a file of a render, headers aside. CSV is an estimate.
    #[must_use]
    pub fn max_bytes(self, request: &Request<'_>) -> u64 {
        let (size, samples) = (request.plan.size(), request.paint.samples.side());
        let row = self.max_row_bytes(size.width / samples, request.paint.depth);
        row.saturating_mul(u64::from(size.height / samples))
    }

    /// Lower bound of the bytes of a file of a render, headers aside: exact for PPM and NPY. DEFLATE compresses 1032 bytes
    /// to no less than one, and a dwell in CSV takes a digit and a comma or a line end.
    #[must_use]
    pub fn least_bytes(self, request: &Request<'_>) -> u64 {
        match self {
            Self::Png => self.max_bytes(request) / 1032,
            Self::Csv => request.plan.size().pixels().saturating_mul(2),
            Self::Ppm | Self::Npy => self.max_bytes(request),
        }
    }

    /// Upper bound of the encoded bytes of a row of `width` pixels. CSV is an estimate.
    fn max_row_bytes(self, width: u32, depth: Depth) -> u64 {
        u64::from(width)
            * match self {
                Self::Png | Self::Ppm => depth.bytes_per_pixel() as u64,
                Self::Npy => 4,
                // A dwell has up to ten digits and a comma, but seldom more than five digits.
                Self::Csv => 6,
            }
    }
}
