//! Rendering: this is the only folder in which the order of the stages is written.
//!
//! [`render()`] streams a plan into outputs, a band of rows at a time: plan -> field -> picture -> files. A render is a
//! `Session`: it opens the outputs or resumes an earlier run (`resumption`), counts the field where colours depend on all of
//! it (`counting`), submits rows (`sources`) to the `pipeline`, and publishes the files. [`in_memory::field`] and [`in_memory::picture`] do the
//! same in memory (`in_memory`).

pub(crate) mod automatic;
mod bands;
mod checkpoint;
mod clock;
mod computed_rows;
mod counting;
pub(crate) mod estimate;
mod field_filler;
mod field_hash;
mod files;
mod identity;
pub(crate) mod in_memory;
pub(crate) mod journal;
pub(crate) mod layout;
mod mirror;
pub(crate) mod picture;
mod pipeline;
mod probe;
mod record;
mod refine;
pub(crate) mod report;
pub(crate) mod request;
mod resumption;
pub(crate) mod scratch;
pub(crate) mod seconds;
mod session;
pub(crate) mod sidecar;
mod sources;
#[cfg(test)]
mod survival;
mod tally;
mod writer;

use crate::base::error::{Error, InputError};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::colour::{MOST_SAMPLES, Samples};
use crate::encode::Format;
use crate::plan::Plan;
use crate::render::layout::Layout;
use crate::render::report::Report;
use crate::render::request::Request;
use crate::render::scratch::Scratch;
use crate::render::sidecar::Sidecar;
use crate::store::Output;
use crate::view::Size;
use dwell_kernels::with_standard_floats;
use session::Session;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The rows and buffers of a render into files of these formats.
///
/// # Errors
/// When the render would take more memory than the limits allow, when the samples do not divide the sides of the plan, or
/// when a format holds dwells and a pixel has several samples.
pub fn layout(request: &Request<'_>, formats: &[Format]) -> Result<Layout, InputError> {
    check_samples(request.plan.size(), request.paint.samples, formats.iter().copied())?;
    Layout::new(request, formats, &request.limits)
}

/// Renders into any number of outputs at once. The outputs are complete when the function returns `Ok`; after an error,
/// outputs that are regular files are as they were before.
///
/// With [`Request::journaling`], a render that is killed or fails keeps the work that is done, and the same call resumes it.
///
/// # Errors
/// [`Error::Interrupted`] when the render was cancelled; [`Error::Write`] when an output or the journal cannot be written;
/// [`Error::Input`] when the render would take more memory than is allowed or available, when dwells of several samples a
/// pixel are to be written, or when the journal is of another render; [`Error::Internal`] when a thread panicked.
pub fn render(request: &Request<'_>, outputs: Vec<(Format, Output)>, scratch: &mut Scratch) -> Result<Report, Error> {
    render_with(request, outputs, None, scratch)
}

/// Renders as [`render()`] does, and then writes a sidecar.
///
/// ```
/// use dwell::{Cancel, Control, CpuEngine, Format, Paint, Plan, Progress, Request, Scene, Scratch, Sidecar, Size};
/// use dwell::store::Output;
///
/// let mut scene = Scene::default();
/// scene.view = scene.view.sized(Size::new(96, 54)?);
/// let plan = Plan::new(&scene.view, &scene.settings, &Default::default())?;
/// let (engine, cancel, progress) = (CpuEngine::default(), Cancel::default(), Progress::default());
/// let request = Request::new(&plan, &engine, Paint::of(&scene, ""), Control { cancel: &cancel, progress: &progress });
/// let (picture, _) = Output::in_memory("picture.png");
/// let (output, file) = Output::in_memory("pixels.txt");
/// let sidecar = Sidecar::new(output, |report| Ok(report.pixels.to_string().into_bytes()));
/// dwell::render_with(&request, vec![(Format::Png, picture)], Some(sidecar), &mut Scratch::default())?;
/// assert_eq!(file.bytes(), b"5184");
/// # Ok::<(), dwell::Error>(())
/// ```
///
/// # Errors
/// As [`render()`], and the errors of the sidecar.
pub fn render_with(
    request: &Request<'_>,
    outputs: Vec<(Format, Output)>,
    sidecar: Option<Sidecar<'_>>,
    scratch: &mut Scratch,
) -> Result<Report, Error> {
    let (formats, outputs): (Vec<_>, Vec<_>) = outputs.into_iter().unzip();
    let layout = layout(request, &formats)?;
    let finer = finer_plan(request, &formats)?;
    let request = &finer.as_ref().map_or_else(|| request.clone(), |plan| request.clone().with_plan(plan));
    let rendered = contained(|| Session::render(&layout, request, &formats, outputs, sidecar, scratch));
    if matches!(rendered, Err(Error::Internal(_))) {
        // A panic may have left the buffers in any state.
        *scratch = Scratch::default();
    }
    rendered
}

/// Calls `work` in the standard floating-point environment, which threads that it starts have too, and returns a panic in it,
/// or in a thread that it waits for, as an error.
fn contained<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    with_standard_floats(|| catch_unwind(AssertUnwindSafe(work)))
        .unwrap_or_else(|panic| Err(Error::Internal(message_of(panic.as_ref()))))
}

/// The message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a thread panicked".to_owned())
}

/// The plan of a request with the points by which pixels are refined, if a picture needs them.
fn finer_plan(request: &Request<'_>, formats: &[Format]) -> Result<Option<Plan>, InputError> {
    let refines = request.paint.samples == Samples::Auto && formats.iter().any(|format| format.is_picture());
    refines.then(|| request.plan.with_finer_points(&request.limits)).transpose()
}

/// Returns the samples of the field on a side of a pixel if they fit the size of the field and the formats.
fn check_samples(size: Size, samples: Samples, mut formats: impl Iterator<Item = Format>) -> Result<u32, InputError> {
    let samples = samples.side();
    let fits = |side: u32| side.is_multiple_of(samples);
    if !(1..=MOST_SAMPLES).contains(&samples) || !fits(size.width) || !fits(size.height) {
        return Err(InputError::malformed(format!("{samples} do not divide {} x {}", size.width, size.height))
            .about(Parameter::Samples)
            .accepts(format!("1 to {MOST_SAMPLES}, a divisor of both sides of the plan")));
    }
    if let Some(format) = formats.find(|format| samples > 1 && !format.is_picture()) {
        let problem = format!("a .{} file holds dwells, and those of several samples have no average", format.name());
        return Err(InputError::new(Problem::Conflict(problem)).about(Parameter::Samples).accepts("1"));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::control::Control;
    use crate::base::limits::Limits;
    use crate::base::progress::Progress;
    use crate::colour::{By, Colouring, Palette, Scale};
    use crate::iterate::cpu::CpuEngine;
    use crate::render::request::Paint;
    use crate::scene::Scene;
    use crate::store::PartialFiles;
    use crate::{Level, Settings, Shortcuts, View};

    /// The picture of a scene as the bytes of a PPM, its report, and how many times its field was iterated.
    fn picture(scene: &Scene, max_kept_bytes: u64, shortcuts: Shortcuts) -> (Vec<u8>, Report, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ppm");
        let output = Output::create(&path, false, &PartialFiles::default()).unwrap();
        let mut plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &Limits::default()).unwrap();
        if scene.samples == Samples::Auto {
            plan = plan.with_finer_points(&Limits::default()).unwrap();
        }
        let progress = Progress::default();
        let engine = CpuEngine::new(Level::best(), 2).with_shortcuts(shortcuts);
        let control = Control { cancel: &Cancel::default(), progress: &progress };
        let request = Request::new(&plan, &engine, Paint::of(scene, ""), control)
            .with_strategy(scene.strategy)
            .with_verification(true)
            .with_hash(true);
        let formats = [Format::Ppm];
        let layout = Layout::of(&request, &formats, 1 << 18, max_kept_bytes);
        let report = Session::render(&layout, &request, &formats, vec![output], None, &mut Scratch::default()).unwrap();
        (std::fs::read(&path).unwrap(), report, progress.pixels_done() / plan.size().pixels())
    }

    /// A scene of several bands that crosses the real axis, whose mirrored rows are aligned with neither bands nor pixels.
    fn scene(by: By, scale: Scale, samples: Samples) -> Scene {
        let size = Size::new(2400 / samples.side(), 1302 / samples.side()).unwrap();
        let mut scene = Scene {
            view: View::centred("-0.6", "0.1", "1.2").unwrap().sized(size),
            settings: Settings { limit: 60, ..Settings::default() },
            samples,
            dither: false,
            ..Scene::default()
        };
        scene.colouring = Colouring { by, scale, ..Colouring::of(Palette::default()) };
        scene
    }

    #[test]
    fn a_kept_field_and_a_field_computed_twice_give_the_same_picture() {
        let fixed = Samples::Fixed;
        let all =
            [(By::Smooth, fixed(1)), (By::Banded, fixed(3)), (By::Distance, fixed(2)), (By::Smooth, Samples::Auto)];
        for (by, samples) in all {
            let scene = scene(by, Scale::Histogram, samples);
            let (kept, kept_report, once) = picture(&scene, u64::MAX, Shortcuts::EXACT);
            let (twice, twice_report, passes) = picture(&scene, 0, Shortcuts::EXACT);
            assert!(kept == twice, "{by:?}");
            // Refining counts as a further pass.
            let refining = u64::from(samples == Samples::Auto);
            assert_eq!((once, passes), (1 + refining, 2 + refining), "{by:?}");
            assert_eq!(kept_report.field_blake3, twice_report.field_blake3);
            assert_eq!((kept_report.differing_pixels, twice_report.differing_pixels), (Some(0), Some(0)));
            assert_eq!(kept_report.iterations, twice_report.iterations);
        }
    }

    #[test]
    fn mirrored_rows_do_not_change_the_picture() {
        for samples in [1, 2, 3, 6].map(Samples::Fixed).into_iter().chain([Samples::Auto]) {
            let scene = scene(By::Smooth, Scale::Root, samples);
            let (mirrored, report, _) = picture(&scene, u64::MAX, Shortcuts::EXACT);
            let (plain, plain_report, _) = picture(&scene, u64::MAX, Shortcuts::NONE);
            assert!(mirrored == plain, "{samples}");
            assert_eq!(report.field_blake3, plain_report.field_blake3);
        }
    }

    #[test]
    fn samples_that_do_not_fit_are_refused() {
        let size = Size::new(12, 9).unwrap();
        let formats = || [Format::Png].into_iter();
        assert!(check_samples(size, Samples::Fixed(3), formats()).is_ok());
        assert!(
            check_samples(size, Samples::Fixed(2), formats()).is_err()
                && check_samples(size, Samples::Fixed(0), formats()).is_err()
        );
        assert!(check_samples(Size::new(34, 34).unwrap(), Samples::Fixed(17), formats()).is_err());
        assert!(check_samples(size, Samples::Fixed(3), [Format::Png, Format::Npy].into_iter()).is_err());
        assert!(check_samples(size, Samples::Fixed(1), [Format::Csv].into_iter()).is_ok());
    }
}
