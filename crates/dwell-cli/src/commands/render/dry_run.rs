//! `dwell render --dry-run`: the plan of a render.

use super::files::{self, File};
use crate::error_text::Failure;
use crate::{output, progress_bar};
use dwell::{Colouring, Format, Found, Journaling, Layout, NumberKind, Request, Samples, Scene, escape, store};

/// Prints the plan of a render without rendering.
pub(super) fn print(
    request: &Request<'_>,
    layout: &Layout,
    files: &[File],
    scene: &Scene,
    found: Option<&Found>,
) -> Result<(), Failure> {
    let (plan, engine, samples) = (request.plan, request.engine, request.paint.samples.side());
    let size = plan.size();
    let info = engine.info();
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<10} {}\n", escape(&value)));
    line("picture", format!("{} x {}", size.width / samples, size.height / samples));
    if samples > 1 {
        line("samples", format!("{samples} x {samples} a pixel: {} x {}", size.width, size.height));
    } else if request.paint.samples == Samples::Auto && files.iter().any(|(_, format)| format.is_picture()) {
        line("samples", "auto: 1 a pixel, and up to 16 more where neighbours differ visibly".to_owned());
    }
    let is_exact = plan.number() == NumberKind::Exact;
    let number = if is_exact {
        "exact arithmetic, each dwell proved".to_owned()
    } else {
        format!("{}, {}", plan.number().name(), plan.recipe().name())
    };
    let limit = if found.is_some_and(|found| found.limit.is_some()) { " (auto)" } else { "" };
    let method =
        if is_exact { String::new() } else { format!("; {}, shortcuts {}", request.strategy.name(), info.shortcuts) };
    line("iterate", format!("{} in {number}, limit {}{limit}{method}", plan.formula().name(), plan.limit()));
    found.into_iter().for_each(|found| automatic(found, scene, &mut line));
    let tiles = if is_exact { String::new() } else { format!(", tiles of {} pixels", dwell::tile_of(request, layout)) };
    line(
        "engine",
        format!("{} {}, {} threads, {}{tiles}", info.name, info.level, engine.pool().threads(), info.schedule),
    );
    let twice = if layout.passes > 1 { ", twice: the colours depend on the whole field" } else { "" };
    line(
        "bands",
        format!(
            "{} of {} rows, encoded {} rows at a time{twice}",
            size.height.div_ceil(layout.band_rows),
            layout.band_rows,
            layout.chunk_rows
        ),
    );
    line("memory", format!("{} at most, of {} allowed", mib(layout.bytes()), mib(request.limits.memory_bytes)));
    for (what, bytes) in layout.memory.iter().filter(|(_, bytes)| *bytes > 0) {
        line("", format!("{:>12}  {what}", mib(*bytes)));
    }
    if layout.device_bytes > 0 {
        line("device", format!("{} of its memory at most", mib(layout.device_bytes)));
    }
    let estimate = dwell::estimate(request, &files.iter().map(|(_, format)| *format).collect::<Vec<_>>())?;
    for ((path, format), bytes) in files.iter().zip(&estimate.bytes) {
        let about = if matches!(format, Format::Ppm | Format::Npy) { "" } else { "about " };
        line("output", format!("{} ({}), {about}{}", path.display(), format.name(), output::bytes(*bytes)));
    }
    if let Some((free, path)) = files.iter().find_map(|(path, _)| Some((files::free_bytes(path)?, path))) {
        let total: u64 = estimate.bytes.iter().sum();
        let short = if total > free { ": too little for the outputs" } else { "" };
        line("disk", format!("{} free where {} goes{short}", output::bytes(free), path.display()));
    }
    let found = files.first().and_then(|(path, _)| store::journal_of(path));
    let journal = match (&request.journaling, found) {
        (Some(journaling), Some(path)) if !journaling.fresh => format!("{} will be resumed", path.display()),
        (Some(Journaling { interval: Some(interval), .. }), _) => {
            format!("every {} s, beside the first output if all are files", interval.as_secs_f64())
        }
        _ => "no entries".to_owned(),
    };
    line("journal", journal);
    line("time", format!("about {}", time(estimate.seconds)));
    for warning in plan.warnings() {
        line("warning", warning.clone());
    }
    output::print(&text)
}

/// Writes how the limit and the scale were found.
fn automatic(found: &Found, scene: &Scene, line: &mut impl FnMut(&str, String)) {
    if found.scale {
        let Colouring { scale, density, offset, .. } = &scene.colouring;
        line("colour", format!("scale {scale} (auto), density {density:.3}, offset {offset:.3}"));
    }
    let latest =
        if found.escaped > 0 { format!(", the latest after {} iterations", found.latest) } else { String::new() };
    line("probe", format!("{} of {} points escaped{latest}", found.escaped, found.points));
    found.warnings.iter().for_each(|warning| line("warning", warning.clone()));
}

/// A time: below ten seconds with one decimal, or two below one.
fn time(seconds: f64) -> String {
    match seconds {
        ..1.0 => format!("{seconds:.2} s"),
        ..10.0 => format!("{seconds:.1} s"),
        _ => progress_bar::duration(seconds),
    }
}
