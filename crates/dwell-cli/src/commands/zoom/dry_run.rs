//! `dwell zoom --dry-run`: the plan of a zoom, with its time and space.

use super::Zoom;
use super::record::Found;
use crate::error_text::Failure;
use crate::{output, progress_bar};
use dwell::{
    Control, FilmColours, Format, Limits, Method, Paint, Plan, Progress, Request, Resolved, Samples, escape, store,
};

/// The frames that are tried for an estimate, evenly from the first to the last.
const TRIED: u32 = 7;

/// Prints the plan of a zoom without rendering it.
pub(super) fn print(zoom: &mut Zoom<'_>, found: &Found) -> Result<(), Failure> {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<10} {}\n", escape(&value)));
    let course = zoom.film.course().clone();
    let (frames, first) = (course.frames(), zoom.film.scene(0));
    let [from, to] = course.ends().map(|end| end.text().to_owned());
    let octaves = course.octaves();
    line("zoom", format!("{from} to {to}, {}: {octaves:.1} doublings in {frames} frames", course.easing()));
    line("frames", format!("{}, {}", first.view.size, samples(first.samples)));
    let limits = &found.findings.limits;
    line(
        "limit",
        match (limits.iter().min(), limits.iter().max()) {
            (Some(least), Some(most)) => format!("{least} to {most} (auto, from {} probes)", limits.len()),
            _ => first.settings.limit.to_string(),
        },
    );
    let colour = match found.findings.colours {
        Some(FilmColours { scale, density, offset, .. }) => {
            format!("scale {scale} (auto), density {density:.3}, offset {offset:.3} for all frames")
        }
        None if first.automatic.scale => "auto for each frame".to_owned(),
        None => format!("scale {}, density {}", first.colouring.scale, first.colouring.density),
    };
    line("colour", colour);
    let (mut seconds, mut bytes) = (0.0, 0.0);
    let tried = TRIED.min(frames);
    for number in 0..tried {
        let frame = (u64::from(frames - 1) * u64::from(number) / u64::from((tried - 1).max(1))) as u32;
        let (time, space) = estimate(zoom, frame)?;
        // Each stands for the frames around it: by the trapezoidal rule the two ends for half as many.
        let weight = if number == 0 || number + 1 == tried { 0.5 } else { 1.0 };
        seconds += weight * time;
        bytes += weight * space;
    }
    let each = f64::from(frames) / f64::from(tried - 1);
    // With the exponential map, the frames that are tried say what its samples take.
    let samples_in_all = samples_in_all(zoom)?;
    let seconds = samples_in_all.map_or(seconds * each, |frames| seconds / f64::from(tried - 1) * frames);
    if let Some(frames) = samples_in_all {
        line("method", format!("exponential: as many samples as {frames:.1} frames have pixels"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
    let bytes = (bytes * each) as u64;
    let target = &zoom.target;
    line("output", format!("{}: frames of about {} in all", target.folder.display(), output::bytes(bytes)));
    if let Some((path, _)) = &target.film {
        let super::Encoding { fps, crf } = zoom.encoding;
        line(
            "film",
            format!("{}: {:.1} s at {fps} frames a second, rate factor {crf}", path.display(), f64::from(frames) / fps),
        );
    }
    if let Some(free) = store::free_bytes(&target.record()) {
        let short = if bytes > free { ": too little for the frames" } else { "" };
        line("disk", format!("{} free where {} goes{short}", output::bytes(free), target.folder.display()));
    }
    line("time", format!("about {}, from {tried} of the frames", progress_bar::duration(seconds)));
    output::print(&text)
}

fn samples(samples: Samples) -> String {
    match samples {
        Samples::Auto => "samples auto".to_owned(),
        Samples::Fixed(side) => format!("{side} x {side} samples a pixel"),
    }
}

/// The samples of an exponential map as multiples of a frame's pixels, with what resampling takes; `None` where frames are rendered
/// directly.
fn samples_in_all(zoom: &mut Zoom<'_>) -> Result<Option<f64>, Failure> {
    let Some(resampler) = zoom.resampler()? else { return Ok(None) };
    let new = |frame: u32| resampler.new_samples(&zoom.film, frame.checked_sub(1), frame) + super::RESAMPLING;
    Ok(Some((0..zoom.frames()).map(new).sum()))
}

/// The seconds that a frame is expected to take, and its bytes.
fn estimate(zoom: &mut Zoom<'_>, frame: u32) -> Result<(f64, f64), Failure> {
    let mut scene = zoom.film.scene(frame);
    if zoom.method == Method::Exponential {
        scene.samples = Samples::Fixed(1);
    }
    let engine = zoom.engines.of(&scene)?;
    let (progress, limits): (_, Limits) = (Progress::default(), zoom.limits);
    let control = Control { cancel: &zoom.interrupt.cancel, progress: &progress };
    let Resolved { scene, found, .. } = dwell::resolve(&scene, engine.as_ref(), &limits, &control)?;
    let plan = Plan::new(&scene.sample_view()?, &scene.settings, &limits)?;
    let text = scene.text(plan.warnings());
    let request = Request::new(&plan, engine.as_ref(), Paint::of(&scene, &text), control)
        .with_strategy(scene.strategy)
        .with_limits(limits);
    let estimate = dwell::estimate(&request, &[Format::Png])?;
    let probed = found.map_or(0.0, |found| found.seconds);
    Ok((estimate.seconds + probed, estimate.bytes.iter().sum::<u64>() as f64))
}
