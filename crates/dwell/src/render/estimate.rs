//! Estimates the time of a render and the sizes of its files by rendering a few of its own pixels.
//!
//! Trial renders grow until one takes long enough, and the last one is repeated. Its shortest times count: starting threads
//! and the first access to memory take as long for a few pixels as for many, and so does other work on the machine. Iterating
//! is in proportion to the pixels that are computed, since mirrored rows are copied, and everything else to all pixels. A
//! trial takes blocks of neighbouring pixels, since single pixels far from each other escape at unlike times and compress
//! badly. Storing the files is counted at a fixed speed, since an estimate writes nothing.

use super::layout::Layout;
use super::scratch::Scratch;
use super::{finer_plan, render};
use crate::base::error::Error;
use crate::deep::report::DeepReport;
use crate::encode::{Encoder, Format, Header, error_of_writing};
use crate::plan::Plan;
use crate::render::mirror;
use crate::render::probe::cost_of_strips;
use crate::render::request::Request;
use crate::store::Output;
use crate::view::Size;
use dwell_kernels::with_standard_floats;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The most pixels of the trials and the pixels of their blocks, columns and rows. The first trials are of single pixels:
/// where one takes long, it says more than its neighbours.
const TRIALS: [([u32; 2], [u32; 2]); 4] =
    [([64, 32], [1, 1]), ([256, 128], [4, 2]), ([1024, 512], [32, 8]), ([2048, 1024], [64, 16])];
/// The shortest time that is measured accurately enough.
const ENOUGH: Duration = Duration::from_millis(150);
/// The most repeats of the last trial.
const REPEATS: u32 = 6;
/// The bytes that are stored in a second. Files of 100 to 500 MB were stored at 0.4 to 1.3 GB/s on two machines.
const STORED_PER_SECOND: f64 = 1e9;
/// The time of the last trial and its repeats together, after which no further one begins.
const REPEATING: Duration = Duration::from_millis(700);

/// What a render takes, in seconds, and what it takes it for.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Pixels that are computed and not mirrored, in every pass.
    computed: f64,
    pixels: f64,
    iterating: f64,
    /// Everything else.
    other: f64,
    /// What is computed once, whatever the pixels: the reference orbit and the blocks of a deep view.
    once: f64,
}

impl Cost {
    /// The seconds of all pixels of an image of `self.computed` and `self.pixels`, in proportion to a trial.
    fn seconds_by(self, trial: Self) -> f64 {
        trial.iterating * self.computed / trial.computed.max(1.0) + trial.other * self.pixels / trial.pixels.max(1.0)
    }
}

/// What a render is expected to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Its time in seconds.
    pub seconds: f64,
    /// The bytes of each file, in the order of the formats: exact for PPM and NPY, estimated for PNG and CSV.
    pub bytes: Vec<u64>,
}

/// Estimates the time of a render and the sizes of its files, by rendering a few of its own pixels into the same formats
/// without storing them.
///
/// # Errors
/// As [`render()`].
pub fn estimate(request: &Request<'_>, formats: &[Format]) -> Result<Estimate, Error> {
    with_standard_floats(|| estimated(request, formats))
}

/// The expected cost of a render, in iterations of a coarse grid of its own points, for comparison with other renders.
///
/// # Errors
/// As [`render()`].
pub fn expected_cost(request: &Request<'_>) -> Result<f64, Error> {
    let strips = with_standard_floats(|| cost_of_strips(request))?;
    let cost: f64 = strips.iter().sum();
    Ok(cost / strips.len().max(1) as f64 * f64::from(request.plan.size().height))
}

fn estimated(request: &Request<'_>, formats: &[Format]) -> Result<Estimate, Error> {
    // Trials refine their pixels with the finer points of this plan.
    let finer = finer_plan(request, formats)?;
    let request = &finer.as_ref().map_or_else(|| request.clone(), |plan| request.clone().with_plan(plan));
    let layout = Layout::new(request, formats, &request.limits)?;
    let mut scratch = Scratch::default();
    let all = cost_of(request, request.plan, &layout);
    let (mut shortest, mut last, mut lengths) = (Cost::default(), None, Vec::new());
    let mut once = 0.0;
    for (most, block) in TRIALS {
        let samples = request.paint.samples.side();
        let size = |[width, height]: [u32; 2]| Size { width: width * samples, height: height * samples };
        let plan = request.plan.thinned(size(most), size(block));
        (shortest, lengths) = trial(request, &plan, formats, &mut scratch, once)?;
        once = shortest.once;
        let is_enough = shortest.iterating + shortest.other > ENOUGH.as_secs_f64() || shortest.pixels >= all.pixels;
        last = Some(plan);
        if is_enough {
            break;
        }
    }
    let mut spent = shortest.iterating + shortest.other;
    for _ in 0..REPEATS {
        let Some(plan) = last.as_ref().filter(|_| spent < REPEATING.as_secs_f64()) else { break };
        let (again, _) = trial(request, plan, formats, &mut scratch, once)?;
        once = again.once;
        spent += again.iterating + again.other;
        shortest.iterating = shortest.iterating.min(again.iterating);
        shortest.other = shortest.other.min(again.other);
    }
    let bytes = formats.iter().zip(lengths);
    let bytes = bytes.map(|(format, length)| bytes_by(*format, request, length, all.pixels / shortest.pixels.max(1.0)));
    let bytes = bytes.collect::<Result<Vec<u64>, Error>>()?;
    let storing = bytes.iter().sum::<u64>() as f64 / STORED_PER_SECOND;
    Ok(Estimate { seconds: all.seconds_by(shortest) + once + storing, bytes })
}

/// The bytes of a file, by the length of the file of a trial of `ratio` times fewer pixels.
fn bytes_by(format: Format, request: &Request<'_>, length: u64, ratio: f64) -> Result<u64, Error> {
    let (plan, paint, samples) = (request.plan, request.paint, request.paint.samples.side());
    let size = Size { width: plan.size().width / samples, height: plan.size().height / samples };
    let encoder = Encoder::new(format, Header { size, limit: plan.limit(), depth: paint.depth, text: paint.text })?;
    let start = encoder.start().map_err(|e| error_of_writing(PathBuf::new(), e))?.len() as u64;
    Ok(match format {
        Format::Ppm | Format::Npy => start + format.max_bytes(request),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
        Format::Png | Format::Csv => start + (length.saturating_sub(start) as f64 * ratio) as u64,
    })
}

/// The pixels of a plan, without times.
fn cost_of(request: &Request<'_>, plan: &Plan, layout: &Layout) -> Cost {
    let size = plan.size();
    let task = layout.task(&Request { plan, ..request.clone() });
    let mirrored = if mirror::is_needed(request.engine, &task) { plan.mirrored_rows().0.len() } else { 0 };
    let computed = (f64::from(size.height) - mirrored as f64) * f64::from(size.width);
    Cost { computed: computed * f64::from(layout.passes), pixels: size.pixels() as f64, ..Cost::default() }
}

/// A writer that counts the bytes and keeps none.
struct Counter(Arc<AtomicU64>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Renders a plan and measures what it takes, and the lengths of its files. What was computed once took `once_before` so far.
fn trial(
    request: &Request<'_>,
    plan: &Plan,
    formats: &[Format],
    scratch: &mut Scratch,
    once_before: f64,
) -> Result<(Cost, Vec<u64>), Error> {
    let begun = Instant::now();
    let thinned = Request { plan, journaling: None, watched: false, ..request.clone() };
    let layout = Layout::new(&thinned, formats, &request.limits)?;
    let lengths: Vec<Arc<AtomicU64>> = formats.iter().map(|_| Arc::default()).collect();
    let counting = |length: &Arc<AtomicU64>| Output::to_writer("", Box::new(Counter(Arc::clone(length))));
    let outputs = formats.iter().zip(&lengths).map(|(format, length)| (*format, counting(length))).collect();
    let report = render(&thinned, outputs, scratch)?;
    let (spent, iterating) = (begun.elapsed().as_secs_f64(), report.seconds.iterate);
    // Trials, and the render after them, share what is computed once.
    let once = report.deep.as_ref().map_or(0.0, DeepReport::of_preparing);
    let other = (spent - iterating).max(0.0);
    let iterating = (iterating - (once - once_before).max(0.0)).max(0.0);
    let cost = Cost { iterating, other, once, ..cost_of(request, plan, &layout) };
    Ok((cost, lengths.iter().map(|length| length.load(Ordering::Relaxed)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_files_are_estimated() {
        use crate::{Cancel, Control, CpuEngine, Limits, Paint, Progress, Scene, View};
        let size = Size { width: 1280, height: 720 };
        let scene = Scene { view: View::centred("-0.75", "0", "1.5").unwrap().sized(size), ..Scene::default() };
        let plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &Limits::default()).unwrap();
        let (engine, cancel, progress) = (CpuEngine::default(), Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let request = Request::new(&plan, &engine, Paint::of(&scene, "text"), control);
        for formats in [vec![Format::Png], vec![Format::Ppm], vec![Format::Npy, Format::Csv]] {
            let estimate = estimate(&request, &formats).unwrap();
            let (outputs, files): (Vec<_>, Vec<_>) = formats.iter().map(|_| Output::in_memory("a")).unzip();
            let outputs = formats.iter().copied().zip(outputs).collect();
            render(&request, outputs, &mut Scratch::default()).unwrap();
            for ((format, bytes), file) in formats.iter().zip(&estimate.bytes).zip(&files) {
                let (bytes, real) = (*bytes as f64, file.bytes().len() as f64);
                let tolerance = if matches!(format, Format::Ppm | Format::Npy) { 1e-9 } else { 0.35 };
                assert!((bytes / real - 1.0).abs() < tolerance, "{format}: {bytes} of {real}");
                assert!(format.least_bytes(&request) <= file.bytes().len() as u64);
            }
            assert!(estimate.seconds > 0.0);
        }
    }

    #[test]
    fn mirrored_rows_are_not_iterated_but_count_for_everything_else() {
        let cost = |computed, pixels, iterating, other| Cost { computed, pixels, iterating, other, once: 0.0 };
        let all = cost(500.0, 1000.0, 0.0, 0.0);
        assert!((all.seconds_by(cost(20.0, 40.0, 3.0, 1.4)) - (75.0 + 35.0)).abs() < 1e-9);
    }
}
