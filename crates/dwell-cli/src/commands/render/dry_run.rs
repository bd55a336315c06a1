//! `dwell render --dry-run`: the plan of a render.

use super::files::File;
use crate::error_text::Failure;
use crate::{output, progress_bar};
use dwell::{Journaling, Layout, Request, Samples, escape, store};

/// Prints the plan of a render without rendering.
pub(super) fn print(request: &Request<'_>, layout: &Layout, files: &[File]) -> Result<(), Failure> {
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
    line(
        "iterate",
        format!(
            "{} in {}, {}, limit {}; {}, shortcuts {}",
            plan.formula().name(),
            plan.number().name(),
            plan.recipe().name(),
            plan.limit(),
            request.strategy.name(),
            info.shortcuts
        ),
    );
    let tile = dwell::tile_of(engine, request.strategy, layout, size.width);
    line(
        "engine",
        format!(
            "{} {}, {} threads, {}, tiles of {tile} pixels",
            info.name,
            info.level,
            engine.pool().threads(),
            info.schedule
        ),
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
    for (path, format) in files {
        line("output", format!("{} ({})", path.display(), format.name()));
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
    let seconds = dwell::estimate(request, &files.iter().map(|(_, format)| *format).collect::<Vec<_>>())?;
    // The time that the system takes to store a file depends on the disk and on what else is written.
    let stored: u64 = files.iter().map(|(_, format)| format.max_bytes(request)).sum();
    let storing = if stored > 0 { format!(", and storing at most {}", mib(stored)) } else { String::new() };
    line("time", format!("about {}{storing}", progress_bar::duration(seconds)));
    for warning in plan.warnings() {
        line("warning", warning.clone());
    }
    output::print(&text)
}
