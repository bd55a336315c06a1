//! The statistics of a render, which `--stats` writes.

use crate::deep::report::DeepReport;
use crate::exact::decimal::Decimal;
use crate::iterate::engine::{DeviceReport, Engine};
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::render::automatic::Found;
use crate::render::seconds::Seconds;
use crate::render::tally::Tally;
use crate::store::Output;
use crate::view::{Frame, Magnification, View};
use serde::Serialize;

/// Statistics of a render.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this library.
    pub version: &'static str,
    /// The commit that the program was built from, if the program says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When the render ended, in UTC by RFC 3339, if the program says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The processor of the machine, if the program says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
    /// Columns of the field. If a pixel of the picture has several samples, these are columns of samples.
    pub width: u32,
    /// Rows of the field, counted like the columns.
    pub height: u32,
    /// Samples of the field on a side of a pixel of the picture.
    pub samples: u32,
    /// Pixels of the picture that got more samples than the field has; only if they were found automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refined_pixels: Option<u64>,
    /// The samples that those pixels got, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refined_samples: Option<u64>,
    /// The view that was rendered.
    pub view: ViewText,
    /// The limit: the greatest n tried.
    pub max_iterations: u64,
    /// The escape radius R.
    pub escape_radius: String,
    /// The name of the formula that was iterated.
    pub formula: &'static str,
    /// The power of the formula.
    pub power: u32,
    /// The real and imaginary parts of the constant c of a Julia set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub julia: Option<[String; 2]>,
    /// The number that dwells were computed in, `f32`, `f64` or `exact`.
    pub number: &'static str,
    /// The same as `number`, under the name of the program's flag.
    pub precision: &'static str,
    /// The name of the recipe, the order of roundings.
    pub recipe: &'static str,
    /// The same as `recipe`, under the name of the program's flag.
    pub rounding: &'static str,
    /// The instruction set of the kernels, or the architecture of the device.
    pub level: String,
    /// The name of the engine that computed the dwells.
    pub engine: &'static str,
    /// Threads of the engine's pool.
    pub threads: usize,
    /// The strategy: which pixels of a tile were computed and which were inferred.
    pub strategy: &'static str,
    /// The exact shortcuts that the engine took.
    pub shortcuts: String,
    /// The schedule by which tiles were distributed to threads.
    pub schedule: String,
    /// The size of the tiles, WxH, if the engine cuts the image into tiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    /// Whether every dwell equals that of the plain loop, by construction.
    pub exact: bool,
    /// Pixels whose dwell differs from that of the strategy `every-pixel`; only with verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differing_pixels: Option<u64>,
    /// width * height.
    pub pixels: u64,
    /// Iterations that the plain loop needs for the field: the dwell of each pixel that escaped, the limit for each other.
    pub iterations: u128,
    /// Pixels that did not escape.
    pub interior_pixels: u64,
    /// The BLAKE3 hash, in hex, of the dwells as little-endian uint32, row by row from the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_blake3: Option<String>,
    /// The published files; only with a hash.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputReport>,
    /// Wall time by stage; medians if the render was repeated.
    pub seconds: Seconds,
    /// iterations / seconds.iterate.
    pub iterations_per_second: f64,
    /// pixels / seconds.total.
    pub pixels_per_second: f64,
    /// How many times the render was interrupted and resumed. Times are sums over all its runs.
    #[serde(skip_serializing_if = "is_zero")]
    pub resumes: u32,
    /// How many times it was rendered. The times of the first of several runs are not used.
    pub repeats: u32,
    /// How the limit and the scale were found, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automatic: Option<Found>,
    /// Planned upper bound of memory in bytes, the program included.
    pub planned_memory_bytes: u64,
    /// The most bytes of memory that the process used, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// What a device did, if one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceReport>,
    /// How dwells in exact arithmetic were proved, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deep: Option<DeepReport>,
    /// Sentences for the user about problems that are not errors.
    pub warnings: Vec<String>,
}

/// A published output.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OutputReport {
    /// The path as given, `-` for standard output.
    pub path: String,
    /// The length in bytes.
    pub bytes: u64,
    /// The XXH3 hash of the bytes, 128 bits in hex as `xxhsum -H2` prints it.
    pub xxh3_128: String,
}

impl OutputReport {
    /// The report of an output that is written; `None` if it has no fingerprint.
    pub(crate) fn of(output: &Output) -> Option<Self> {
        let (bytes, fingerprint) = output.written();
        let path = output.path().to_string_lossy().into_owned();
        Some(Self { path, bytes, xxh3_128: fingerprint?.to_string() })
    }
}

/// A view as text. With the rest of the report it suffices to render the view again. Fields that do not apply are omitted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ViewText {
    /// The real part of the centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub re: Option<String>,
    /// The imaginary part of the centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub im: Option<String>,
    /// The zoom, if the view is given by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoom: Option<String>,
    /// The height of the view in the plane, if the view is given by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<String>,
    /// The same as `height`, under the name of the program's flag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_height: Option<String>,
    /// The bounds of the view in the plane: `XMIN,XMAX,YMIN,YMAX`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<String>,
    /// Whether the picture is upside down.
    pub flip: bool,
    /// The rotation in degrees, counter-clockwise.
    pub rotation: String,
    /// The point of a pixel that is iterated, `centre` or `corner`.
    pub sample: &'static str,
}

impl ViewText {
    fn new(view: &View) -> Self {
        let text = |d: &Decimal| Some(d.text().to_owned());
        let mut view_text =
            Self { rotation: view.rotation.text().to_owned(), sample: view.sample.name(), ..Self::default() };
        view_text.flip = view.flip;
        match &view.frame {
            Frame::Centred { re, im, magnification } => {
                (view_text.re, view_text.im) = (text(re), text(im));
                match magnification {
                    Magnification::Zoom(zoom) => view_text.zoom = text(zoom),
                    Magnification::Height(height) => {
                        (view_text.height, view_text.view_height) = (text(height), text(height))
                    }
                }
            }
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                view_text.bounds = Some([xmin, xmax, ymin, ymax].map(Decimal::text).join(","));
            }
        }
        view_text
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
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
        let info = engine.info();
        let mut report = Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: None,
            date: None,
            processor: None,
            width: plan.size().width,
            height: plan.size().height,
            samples: tally.samples,
            refined_pixels: tally.refines.then_some(tally.refined.pixels),
            refined_samples: tally.refines.then_some(tally.refined.samples),
            view: ViewText::new(plan.view()),
            max_iterations: plan.limit(),
            escape_radius: plan.escape_radius().text().to_owned(),
            formula: plan.formula().name(),
            power: plan.formula().power(),
            julia: plan.julia().map(|c| c.each_ref().map(|part| part.text().to_owned())),
            number: plan.number().name(),
            precision: plan.number().name(),
            recipe: plan.recipe().name(),
            rounding: plan.recipe().name(),
            level: info.level,
            engine: info.name,
            threads: engine.pool().threads(),
            strategy: strategy.name(),
            shortcuts: info.shortcuts.to_string(),
            schedule: info.schedule.to_string(),
            tile: tally.tile.map(|tile| tile.to_string()),
            exact: strategy.is_exact() && tally.notes.deep.as_ref().is_none_or(|deep| deep.unproved == 0),
            differing_pixels: tally.differing,
            pixels: plan.size().pixels(),
            iterations: tally.iterations,
            interior_pixels: tally.interior_pixels,
            field_blake3: tally.hasher.map(|hasher| hasher.hex()),
            outputs: Vec::new(),
            seconds: tally.seconds,
            iterations_per_second: 0.0,
            pixels_per_second: 0.0,
            resumes: tally.resumes,
            repeats: 1,
            automatic: None,
            planned_memory_bytes: tally.planned_bytes,
            peak_memory_bytes: None,
            device: tally.notes.device,
            deep: tally.notes.deep,
            warnings,
        };
        report.rate();
        report
    }

    /// Adds the time that planning took, in seconds.
    pub fn planned_in(&mut self, seconds: f64) {
        self.seconds.plan += seconds;
        self.seconds.total += seconds;
        self.rate();
    }

    /// The report of several runs of the same render. Times are medians over all runs but the first; every other value is that
    /// of the last run. `None` if there are no runs.
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
