//! `dwell render`: flags -> values of the library -> run -> report.

use crate::cli::RenderArgs;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::scene::{self, MaxIter};
use crate::{engine, output, overlap, progress_bar};
use dwell::store::Output;
use dwell::{
    Buffers, Engine, Error, Extras, Format, InputError, Limits, Paint, Plan, Progress, Report, Request, Work,
    auto_limit, quote,
};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The most repeats.
const MAX_REPEATS: u64 = 100_000;
pub(crate) fn run(args: &RenderArgs, interrupt: &Interrupt) -> Result<(), Error> {
    let (mut scene, max_iter) = scene::scene(args)?;
    let work = Work { schedule: engine::schedule(&args.schedule)?, tile: scene.tile };
    let engine = engine::engine(&args.engine)?.with_shortcuts(scene.shortcuts).with_work(work);
    let repeats = match &args.repeat {
        None => 1,
        Some(text) => engine::whole("--repeat", text, 1, MAX_REPEATS)?,
    };
    let files = files(args)?;
    check_overlap(args, &files)?;
    // Statistics on standard error are to be read by a program: nothing else goes there.
    let stats_to_stderr = args.stats.as_deref() == Some(Path::new("-"));
    let limits = Limits { memory_bytes: Machine::look().available_bytes / 10 * 9 };

    // Everything that can be refused is refused before a file is touched; planning checks the view.
    let began = Instant::now();
    let view = scene.sample_view().map_err(|e| e.named("--aa"))?;
    if let Some((_, format)) = files.iter().find(|(_, format)| scene.samples > 1 && !format.is_picture()) {
        return Err(InputError::new("--aa", format!("a .{} file holds dwells, which have no average", format.name()))
            .accepted("1 for dwells")
            .into());
    }
    let too_fine = |e: InputError| if scene.samples > 1 { e.hint("or fewer samples with --aa") } else { e };
    let mut plan = Plan::new(&view, &scene.settings, &limits).map_err(too_fine)?;
    if let MaxIter::TooMany(iterations) = max_iter {
        let what = args.what.as_deref().unwrap_or(Path::new("")).to_string_lossy();
        return Err(InputError::new(
            format!("{}, iterations", quote(&what)),
            format!("{iterations} are more than a render counts to"),
        )
        .accepted("1 to 4294967295")
        .hint("give a limit with --max-iter")
        .into());
    }
    if max_iter == MaxIter::Auto {
        scene.settings.limit = auto_limit(&scene.view, &scene.settings, &engine, &interrupt.cancel)?;
        plan = Plan::new(&view, &scene.settings, &limits)?;
        if !args.quiet && !stats_to_stderr {
            output::remark(&format!("max-iter auto: {}", scene.settings.limit));
        }
    }
    let with_picture = files.iter().any(|(_, format)| format.is_picture());
    let extras = if with_picture { scene.colouring.extras() } else { Extras::NONE };
    limits
        .reserve("the buffers of all threads", engine.bytes(&plan, extras))
        .map_err(|e| e.named("--threads").hint("ask for fewer threads or a smaller tile"))?;
    let mut plan_seconds = vec![began.elapsed().as_secs_f64()];
    for warning in plan.warnings() {
        if !stats_to_stderr {
            output::remark(&format!("warning: {warning}"));
        }
    }
    let mut outputs = files
        .iter()
        .map(|(path, format)| Ok((*format, Output::create(path, args.no_clobber, &interrupt.leftovers)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let stats = match &args.stats {
        Some(path) if !stats_to_stderr => Some(Output::create(path, args.no_clobber, &interrupt.leftovers)?),
        _ => None,
    };

    let text = scene.text(plan.warnings());
    let watched = progress_bar::wanted(args.quiet || stats_to_stderr);
    let progress = Progress::default();
    let mut buffers = Buffers::default();
    let mut reports = Vec::new();
    for repeat in 0..repeats {
        if repeat > 0 {
            let began = Instant::now();
            plan = Plan::new(&view, &scene.settings, &limits)?;
            plan_seconds.push(began.elapsed().as_secs_f64());
        }
        // Only the last run writes; the others encode for nobody.
        let last = repeat + 1 == repeats;
        let outputs: Vec<_> = if last {
            std::mem::take(&mut outputs)
        } else {
            files.iter().map(|(_, format)| (*format, Output::nowhere())).collect()
        };
        let request = Request {
            plan: &plan,
            engine: &engine,
            strategy: scene.strategy,
            verify: args.verify,
            paint: Paint { colouring: &scene.colouring, samples: scene.samples, depth: scene.depth, text: &text },
            hash: args.stats.is_some(),
            watched,
            cancel: &interrupt.cancel,
            progress: &progress,
        };
        let what = if repeats == 1 { "rendering".to_owned() } else { format!("run {} of {repeats}", repeat + 1) };
        let mut report =
            progress_bar::during(watched, &what, &progress, || dwell::render(&request, outputs, &mut buffers))?;
        report.planned_in(plan_seconds.last().copied().unwrap_or(0.0));
        reports.push(report);
    }
    let Some(report) = Report::median(&reports) else { return Ok(()) };
    if let Some(mut stats) = stats {
        let text = format!("{}\n", output::json(&report));
        stats.write_all(text.as_bytes()).map_err(|e| stats.error(e))?;
        stats.commit()?;
    }
    if stats_to_stderr {
        return output::json_to_stderr(&report);
    }
    summarise(args, &report, &files);
    Ok(())
}

/// Refuses to write two things to one file, or over an input.
fn check_overlap(args: &RenderArgs, files: &[(PathBuf, Format)]) -> Result<(), InputError> {
    let what = args.what.iter().map(|path| ("WHAT", path.clone()));
    let palette = args.palette.iter().map(|name| ("--palette", overlap::palette_file(name)));
    let stats = args.stats.iter().filter(|p| *p != Path::new("-")).map(|p| ("--stats", p.as_path()));
    overlap::check(what.chain(palette), files.iter().map(|(path, _)| ("-o", path.as_path())).chain(stats))
}

/// Each output and its format.
fn files(args: &RenderArgs) -> Result<Vec<(PathBuf, Format)>, InputError> {
    if args.output.is_empty() && args.stats.is_none() {
        return Err(InputError::new("-o", "no output is named")
            .hint("give a file with -o, such as -o mandelbrot.png; or --stats alone"));
    }
    let format = args.format.as_deref().map(Format::parse).transpose().map_err(|e| e.named("--format"))?;
    let mut files: Vec<(PathBuf, Format)> = Vec::new();
    for path in &args.output {
        if path.as_os_str().is_empty() {
            return Err(InputError::new("-o", "the name is empty").accepted("a file, or - for standard output"));
        }
        let format = match format {
            Some(format) => format,
            None => Format::of_path(path).map_err(|e| e.named("-o"))?,
        };
        if path == Path::new("-") && std::io::stdout().is_terminal() && format != Format::Csv {
            return Err(InputError::new("-o", "standard output is a terminal, which cannot show this")
                .hint("redirect it to a file or another program"));
        }
        files.push((path.clone(), format));
    }
    Ok(files)
}

/// One line for a person at the end.
fn summarise(args: &RenderArgs, report: &Report, files: &[(PathBuf, Format)]) {
    if args.quiet {
        return;
    }
    let names: Vec<_> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    let wrote = if names.is_empty() { "rendered".to_owned() } else { format!("wrote {}", names.join(", ")) };
    output::remark_to_person(&format!(
        "{wrote}: {} x {}, limit {}, {:.2} s, {:.2} G iterations/s on {} thread{} ({})",
        report.width,
        report.height,
        report.max_iterations,
        report.seconds.total,
        report.iterations_per_second / 1e9,
        report.threads,
        if report.threads == 1 { "" } else { "s" },
        report.level,
    ));
    if scene::has_place(args)
        && args.max_iter.is_none()
        && let Some(remark) = output::limit_too_low(report.interior_pixels, report.pixels, report.max_iterations)
    {
        output::remark_to_person(&remark);
    }
    if let Some(differing) = report.differing_pixels {
        let percent = 100.0 * differing as f64 / report.pixels as f64;
        output::remark(&format!(
            "verified: {differing} of {} pixels differ ({percent:.4} %) from every pixel asked for",
            report.pixels
        ));
    } else if !report.exact {
        output::remark_to_person(&format!(
            "{} is a heuristic: some pixels may be wrong; --verify counts them",
            report.strategy
        ));
    }
}
