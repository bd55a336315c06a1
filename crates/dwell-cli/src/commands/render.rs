//! `dwell render`: flags -> values of the library -> run -> report.

use crate::choice::{self, Asked, Chosen};
use crate::cli::RenderArgs;
use crate::interrupt::Interrupt;
use crate::machine::{self, Machine};
use crate::scene::{self, MaxIter};
use crate::{engine, output, overlap, progress_bar};
use dwell::store::{self, Output};
use dwell::{
    Buffers, Error, Extras, Format, InputError, Layout, Limits, Paint, Plan, Progress, Report, Request, Strategy, Work,
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
    let options = engine::kernel(&args.kernel, args.strategy.as_deref())?;
    if let Some(options) = options.filter(|_| args.strategy.is_none() && args.kernel.gpu_kernel.is_some()) {
        // A kernel says how pixels are asked for, too.
        scene.strategy = if options.kernel.is_exact() { Strategy::EveryPixel } else { Strategy::MarianiSilver };
    }
    let shortcuts = scene.shortcuts;
    let processors = || engine::engine(&args.engine).map(|cpu| cpu.with_shortcuts(shortcuts).with_work(work));
    let cpu = processors()?;
    let asked = Asked::parse(args.who.engine.as_deref())?;
    if let Some(options) = options {
        engine::check_kernel(options, scene.settings.formula)?;
    }
    let repeats = match &args.repeat {
        None => 1,
        Some(text) => engine::whole("--repeat", text, 1, MAX_REPEATS)?,
    };
    let files = files(args)?;
    check_overlap(args, &files)?;
    // Statistics on standard error are to be read by a program: nothing else goes there.
    let stats_to_stderr = args.stats.as_deref() == Some(Path::new("-"));
    let limits = Limits {
        memory_bytes: match &args.max_memory {
            Some(text) => engine::bytes("--max-memory", text)?,
            None => Machine::look().available_bytes / 10 * 9,
        },
    };
    let journaling = engine::journaling(&args.sync_interval, args.fresh)?;

    // Everything that can be refused is refused before a file is touched; planning checks the view.
    let began = Instant::now();
    let view = scene.sample_view().map_err(|e| e.named("--aa"))?;
    if let Some((_, format)) = files.iter().find(|(_, format)| scene.samples > 1 && !format.is_picture()) {
        return Err(InputError::new("--aa", format!("a .{} file holds dwells, which have no average", format.name()))
            .accepted("1 for dwells")
            .into());
    }
    let too_fine = |e: InputError| if scene.samples > 1 { e.hint("or fewer samples with --aa") } else { e };
    let of_memory = |e: InputError| match args.max_memory {
        Some(_) if e.to_string().contains("of memory") => e.named("--max-memory"),
        _ => e,
    };
    let mut plan = Plan::new(&view, &scene.settings, &limits).map_err(|e| of_memory(too_fine(e)))?;
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
    // Last of all that can be refused: it may take a moment.
    let work = choice::Work {
        pixels: plan.size().pixels(),
        strategy: scene.strategy,
        extras: if files.iter().any(|(_, format)| format.is_picture()) {
            scene.colouring.extras()
        } else {
            Extras::NONE
        },
    };
    let Chosen { mut engine, remark } = choice::choose(asked, cpu, options, work)?;
    if engine.name() != "cpu" && asked.is_free() && options.is_none() {
        // Which has buffers of its own: where they are too large, the processors may still do it.
        let formats: Vec<Format> = files.iter().map(|(_, format)| *format).collect();
        let request = Request {
            plan: &plan,
            engine: engine.as_ref(),
            strategy: scene.strategy,
            verify: args.verify,
            paint: Paint { colouring: &scene.colouring, samples: scene.samples, depth: scene.depth, text: "" },
            hash: args.stats.is_some(),
            journaling: journaling.clone(),
            limits,
            watched: false,
            cancel: &interrupt.cancel,
            progress: &Progress::default(),
        };
        if dwell::layout(&request, &formats).is_err() {
            engine = Box::new(processors()?);
        }
    }
    let engine = engine.as_ref();
    if let Some(remark) = remark.filter(|_| !args.quiet && !stats_to_stderr) {
        output::remark(&remark);
    }
    if max_iter == MaxIter::Auto {
        scene.settings.limit = auto_limit(&scene.view, &scene.settings, engine, &interrupt.cancel)?;
        plan = Plan::new(&view, &scene.settings, &limits)?;
        if !args.quiet && !stats_to_stderr {
            output::remark(&format!("max-iter auto: {}", scene.settings.limit));
        }
    }
    let text = scene.text(plan.warnings());
    let watched = progress_bar::wanted(args.quiet || stats_to_stderr);
    let progress = Progress::default();
    let request = Request {
        plan: &plan,
        engine,
        strategy: scene.strategy,
        verify: args.verify,
        paint: Paint { colouring: &scene.colouring, samples: scene.samples, depth: scene.depth, text: &text },
        hash: args.stats.is_some(),
        journaling: journaling.clone(),
        limits,
        watched,
        cancel: &interrupt.cancel,
        progress: &progress,
    };
    let formats: Vec<Format> = files.iter().map(|(_, format)| *format).collect();
    let layout = dwell::layout(&request, &formats).map_err(|e| shortage(args, e))?;
    if args.dry_run {
        return dry_run(&request, &layout, &files);
    }
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

    let mut buffers = Buffers::default();
    let mut reports = Vec::new();
    for repeat in 0..repeats {
        let mut planned = None;
        if repeat > 0 {
            let began = Instant::now();
            planned = Some(Plan::new(&view, &scene.settings, &limits)?);
            plan_seconds.push(began.elapsed().as_secs_f64());
        }
        // Only the last run writes; the others encode for nobody.
        let last = repeat + 1 == repeats;
        let outputs: Vec<_> = if last {
            std::mem::take(&mut outputs)
        } else {
            files.iter().map(|(_, format)| (*format, Output::nowhere())).collect()
        };
        let plan = planned.as_ref().unwrap_or(&plan);
        let request = Request { plan, journaling: journaling.clone(), ..request };
        let what = if repeats == 1 { "rendering".to_owned() } else { format!("run {} of {repeats}", repeat + 1) };
        let rendered =
            progress_bar::during(watched, &what, &progress, || dwell::render(&request, outputs, &mut buffers));
        let mut report = rendered.inspect_err(|error| say_how_to_go_on(error, &files))?;
        report.planned_in(plan_seconds.last().copied().unwrap_or(0.0));
        reports.push(report);
    }
    let Some(mut report) = Report::median(&reports) else { return Ok(()) };
    report.peak_memory_bytes = machine::peak_memory_bytes();
    if let Some(mut stats) = stats {
        let text = format!("{}\n", output::json(&report));
        stats.write_all(text.as_bytes()).map_err(|e| stats.error(e))?;
        stats.commit()?;
    }
    if stats_to_stderr {
        return output::json_to_stderr(&report);
    }
    summarise(args, &report, &files, plan.warnings());
    Ok(())
}

/// An error about memory, as one about the flag that would help.
fn shortage(args: &RenderArgs, error: InputError) -> InputError {
    match &args.max_memory {
        Some(_) => error
            .named("--max-memory")
            .hint("allow more, draw fewer pixels, or ask for fewer threads or a smaller tile"),
        None => error.hint("draw fewer pixels, or ask for fewer threads or a smaller tile"),
    }
}

/// After an error: that nothing is lost, if it is so.
fn say_how_to_go_on(error: &Error, files: &[(PathBuf, Format)]) {
    if matches!(error, Error::Input(_)) {
        return;
    }
    if let Some(journal) = files.first().and_then(|(path, _)| store::journal_of(path)) {
        output::remark(&format!("what is done is kept ({}): the same command goes on with it", journal.display()));
    }
}

/// Prints what would be done.
fn dry_run(request: &Request<'_>, layout: &Layout, files: &[(PathBuf, Format)]) -> Result<(), Error> {
    let (plan, engine, samples) = (request.plan, request.engine, request.paint.samples);
    let size = plan.size();
    let work = engine.work();
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<10} {value}\n"));
    line("picture", format!("{} x {}", size.width / samples, size.height / samples));
    if samples > 1 {
        line("samples", format!("{samples} x {samples} a pixel: {} x {}", size.width, size.height));
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
            engine.shortcuts()
        ),
    );
    let tile = dwell::tile_of(engine, request.strategy, layout, size.width);
    line(
        "engine",
        format!(
            "{} {}, {} threads, {}, tiles of {tile} pixels",
            engine.name(),
            engine.level(),
            engine.team().threads(),
            work.schedule
        ),
    );
    let twice = if layout.passes > 1 { ", twice: the colours ask for the whole field first" } else { "" };
    line(
        "bands",
        format!(
            "{} of {} rows, encoded {} rows at a time{twice}",
            size.height.div_ceil(layout.band_rows),
            layout.band_rows,
            layout.part_rows
        ),
    );
    line("memory", format!("{} at most, of {} allowed", mib(layout.bytes()), mib(request.limits.memory_bytes)));
    for (what, bytes) in layout.memory.iter().filter(|(_, bytes)| *bytes > 0) {
        line("", format!("{:>12}  {what}", mib(*bytes)));
    }
    for (path, format) in files {
        line("output", format!("{} ({})", path.display(), format.name()));
    }
    let found = files.first().and_then(|(path, _)| store::journal_of(path));
    let journal = match (&request.journaling, found) {
        (None, _) => "none".to_owned(),
        (Some(journaling), Some(path)) if !journaling.fresh => format!("{} is there to go on with", path.display()),
        (Some(journaling), _) => {
            format!("every {} s, beside the first output if all are files", journaling.interval.as_secs_f64())
        }
    };
    line("journal", journal);
    let seconds = dwell::estimate(request, &files.iter().map(|(_, format)| *format).collect::<Vec<_>>())?;
    line("time", format!("about {}", progress_bar::duration(seconds)));
    for warning in plan.warnings() {
        line("warning", warning.clone());
    }
    output::print(&text)
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
    if args.output.is_empty() && args.stats.is_none() && !args.dry_run {
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
fn summarise(args: &RenderArgs, report: &Report, files: &[(PathBuf, Format)], plan_warnings: &[String]) {
    if args.quiet {
        return;
    }
    let names: Vec<_> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    if report.resumes > 0 {
        output::remark_to_person(&format!("gone on with after {} interruption(s)", report.resumes));
    }
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
        report.device.as_ref().map_or(report.level.clone(), |device| format!("{}, {}", device.name, report.level)),
    ));
    for warning in report.warnings.iter().filter(|warning| !plan_warnings.contains(warning)) {
        output::remark(&format!("warning: {warning}"));
    }
    if scene::has_place(&args.view)
        && args.iteration.max_iter.is_none()
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
