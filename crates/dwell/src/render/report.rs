//! What a render did: the statistics that `--stats` writes. They are facts of the run, checked from outside.

use crate::exact::decimal::Decimal;
use crate::iterate::engine::{DeviceReport, Engine};
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::plan::Plan;
use crate::render::field_hash::FieldHasher;
use crate::render::record::{Reader, Record};
use crate::view::{Frame, Magnification, View};
use serde::Serialize;
use std::time::Duration;

/// Statistics of a render.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Columns of the field: of the samples, where a pixel of the picture has several.
    pub width: u32,
    /// Rows of the field.
    pub height: u32,
    /// Samples of a pixel of the picture on a side.
    pub samples: u32,
    /// What was looked at.
    pub view: ViewText,
    /// The limit: the greatest n tried.
    pub max_iterations: u32,
    /// R.
    pub escape_radius: String,
    /// What was iterated.
    pub formula: &'static str,
    /// Its power.
    pub power: u32,
    /// c, for a Julia set: real and imaginary part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub julia: Option<[String; 2]>,
    /// The number it was iterated in.
    pub number: &'static str,
    /// The order of roundings.
    pub recipe: &'static str,
    /// The instruction set.
    pub level: String,
    /// Who iterated.
    pub engine: &'static str,
    /// Threads.
    pub threads: usize,
    /// How pixels were asked for.
    pub strategy: &'static str,
    /// Which shortcuts were taken.
    pub shortcuts: String,
    /// How pieces of work were handed out to threads.
    pub schedule: String,
    /// Pixels of a piece, WxH, where the engine cuts the image into such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    /// Whether every dwell is that of the plain loop, by construction.
    pub exact: bool,
    /// Pixels whose dwell differs from that of every pixel asked for; only when that was to be verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differing_pixels: Option<u64>,
    /// width * height.
    pub pixels: u64,
    /// Iterations that the plain loop needs: n where escaped, the limit where not.
    pub iterations: u128,
    /// Pixels that did not escape.
    pub interior_pixels: u64,
    /// BLAKE3, in hex, of the row-major little-endian uint32 dwells, row 0 on top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_blake3: Option<String>,
    /// Wall time by stage; medians when the render was repeated.
    pub seconds: Seconds,
    /// iterations / seconds.iterate.
    pub iterations_per_second: f64,
    /// pixels / seconds.total.
    pub pixels_per_second: f64,
    /// How often it was interrupted and gone on with; times are those of all its parts.
    #[serde(skip_serializing_if = "is_none")]
    pub resumes: u32,
    /// How often it was rendered; the first of several is not counted.
    pub repeats: u32,
    /// Bytes of memory that it was planned to take at most, the program included.
    pub planned_memory_bytes: u64,
    /// Bytes that the process came to take, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// What a device did, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceReport>,
    /// What the user should know although it is no error.
    pub warnings: Vec<String>,
}

/// What is summed up over bands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) hasher: Option<FieldHasher>,
    pub(crate) iterations: u128,
    pub(crate) interior_pixels: u64,
    /// Samples of a pixel on a side.
    pub(crate) samples: u32,
    /// Whether iterating is for the colours only.
    pub(crate) for_colour: bool,
    /// Pixels of a piece of work, where bands are cut into such.
    pub(crate) tile: Option<TileSize>,
    /// Pixels whose dwell is not that of every pixel asked for, if that was verified.
    pub(crate) differing: Option<u64>,
    /// Bytes of the layout.
    pub(crate) planned_bytes: u64,
    /// How often it was interrupted and gone on with.
    pub(crate) resumes: u32,
    pub(crate) seconds: Seconds,
}

impl Tally {
    /// Adds time that iterating took.
    pub(crate) fn iterated_in(&mut self, time: Duration) {
        let seconds = if self.for_colour { &mut self.seconds.colour } else { &mut self.seconds.iterate };
        *seconds += time.as_secs_f64();
    }

    /// Adds the sums of another, which has no hash.
    pub(crate) fn add(&mut self, other: &Self) {
        self.iterations += other.iterations;
        self.interior_pixels += other.interior_pixels;
        self.samples = self.samples.max(other.samples);
        self.resumes += other.resumes;
        if let Some(differing) = other.differing {
            self.differing = Some(self.differing.unwrap_or(0) + differing);
        }
        for (own, other) in self.seconds.each_mut().into_iter().zip(other.seconds.clone().each_mut()) {
            *own += *other;
        }
    }

    /// Writes down what outlives the process.
    pub(crate) fn write(&self, record: &mut Record) {
        record.u128(self.iterations);
        record.u64(self.interior_pixels);
        record.u32(self.resumes);
        record.option(self.differing, Record::u64);
        record.option(self.hasher.as_ref(), |record, hasher| {
            let (grouped, subtrees, rest) = hasher.parts();
            record.u64(grouped);
            record.bytes(subtrees.as_flattened());
            record.bytes(rest);
        });
        for seconds in self.seconds.clone().each_mut() {
            record.f64(*seconds);
        }
    }

    /// The opposite of [`Self::write`].
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut tally = Self {
            iterations: reader.u128()?,
            interior_pixels: reader.u64()?,
            resumes: reader.u32()?,
            differing: reader.option(Reader::u64)?,
            hasher: reader.option(|reader| {
                let (grouped, subtrees, rest) = (reader.u64()?, reader.bytes()?, reader.bytes()?);
                let (subtrees, odd) = subtrees.as_chunks();
                if odd.is_empty() { FieldHasher::from_parts(grouped, subtrees.to_vec(), rest.to_vec()) } else { None }
            })?,
            ..Self::default()
        };
        for seconds in tally.seconds.each_mut() {
            *seconds = reader.f64()?;
        }
        Some(tally)
    }
}

impl Seconds {
    fn each_mut(&mut self) -> [&mut f64; 8] {
        let Self { plan, iterate, colour, encode, write, hash, verify, total } = self;
        [plan, iterate, colour, encode, write, hash, verify, total]
    }
}

/// A view as text: with the rest of the report, enough to render it again. Fields that do not apply are left out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ViewText {
    /// Real part of the centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub re: Option<String>,
    /// Imaginary part of the centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub im: Option<String>,
    /// The zoom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoom: Option<String>,
    /// The height in the plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<String>,
    /// XMIN,XMAX,YMIN,YMAX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<String>,
    /// Whether the picture is upside down.
    pub flip: bool,
    /// Degrees, counter-clockwise.
    pub rotation: String,
    /// `centre` or `corner`.
    pub sample: &'static str,
}

impl ViewText {
    fn new(view: &View) -> Self {
        let text = |d: &Decimal| Some(d.text().to_owned());
        let mut it = Self { rotation: view.rotation.text().to_owned(), sample: view.sample.name(), ..Self::default() };
        it.flip = view.flip;
        match &view.frame {
            Frame::Centred { re, im, magnification } => {
                (it.re, it.im) = (text(re), text(im));
                match magnification {
                    Magnification::Zoom(zoom) => it.zoom = text(zoom),
                    Magnification::Height(height) => it.height = text(height),
                }
            }
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                it.bounds = Some([xmin, xmax, ymin, ymax].map(Decimal::text).join(","));
            }
        }
        it
    }
}

/// Wall time in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// Rounding coordinates, and finding the limit where it is `auto`.
    pub plan: f64,
    /// Dwells.
    pub iterate: f64,
    /// Smooth values, distances and palette; counting, and iterating twice for it, where colours need that.
    pub colour: f64,
    /// From pixels or dwells to the bytes of a file.
    pub encode: f64,
    /// Waiting for the system to take the bytes and make them durable.
    pub write: f64,
    /// Hashing and counting.
    pub hash: f64,
    /// Asking for every pixel, to compare.
    #[serde(skip_serializing_if = "is_zero")]
    pub verify: f64,
    /// From the plan to the finished file.
    pub total: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Report {
    pub(crate) fn new(
        plan: &Plan,
        engine: &dyn Engine,
        strategy: Strategy,
        tally: Tally,
        warnings: Vec<String>,
    ) -> Self {
        let work = engine.work();
        let mut report = Self {
            width: plan.size().width,
            height: plan.size().height,
            samples: tally.samples,
            view: ViewText::new(plan.view()),
            max_iterations: plan.limit(),
            escape_radius: plan.escape_radius().text().to_owned(),
            formula: plan.formula().name(),
            power: plan.formula().power(),
            julia: plan.julia().map(|c| c.each_ref().map(|part| part.text().to_owned())),
            number: plan.number().name(),
            recipe: plan.recipe().name(),
            level: engine.level(),
            engine: engine.name(),
            threads: engine.team().threads(),
            strategy: strategy.name(),
            shortcuts: engine.shortcuts().to_string(),
            schedule: work.schedule.to_string(),
            tile: tally.tile.map(|tile| tile.to_string()),
            exact: strategy.is_exact(),
            differing_pixels: tally.differing,
            pixels: plan.size().pixels(),
            iterations: tally.iterations,
            interior_pixels: tally.interior_pixels,
            field_blake3: tally.hasher.map(|hasher| hasher.hex()),
            seconds: tally.seconds,
            iterations_per_second: 0.0,
            pixels_per_second: 0.0,
            resumes: tally.resumes,
            repeats: 1,
            planned_memory_bytes: tally.planned_bytes,
            peak_memory_bytes: None,
            device: engine.device(),
            warnings,
        };
        report.rate();
        report
    }

    /// Adds the time that planning took.
    pub fn planned_in(&mut self, seconds: f64) {
        self.seconds.plan += seconds;
        self.seconds.total += seconds;
        self.rate();
    }

    /// The report of several runs of the same render: the first is dropped, times are medians.
    #[must_use]
    pub fn median(runs: &[Self]) -> Option<Self> {
        let mut report = runs.last()?.clone();
        let counted = if runs.len() > 1 { &runs[1..] } else { runs };
        let of = |get: fn(&Seconds) -> f64| {
            let mut times: Vec<f64> = counted.iter().map(|r| get(&r.seconds)).collect();
            times.sort_by(f64::total_cmp);
            let middle = times.len() / 2;
            if times.len() % 2 == 1 { times[middle] } else { f64::midpoint(times[middle - 1], times[middle]) }
        };
        report.seconds = Seconds {
            plan: of(|s| s.plan),
            iterate: of(|s| s.iterate),
            colour: of(|s| s.colour),
            encode: of(|s| s.encode),
            // Only the last run writes to the real outputs.
            write: report.seconds.write,
            hash: of(|s| s.hash),
            verify: of(|s| s.verify),
            total: of(|s| s.total - s.write) + report.seconds.write,
        };
        report.repeats = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        report.rate();
        Some(report)
    }

    fn rate(&mut self) {
        let per = |count: f64, seconds: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
        self.iterations_per_second = per(self.iterations as f64, self.seconds.iterate);
        self.pixels_per_second = per(self.pixels as f64, self.seconds.total);
    }
}
