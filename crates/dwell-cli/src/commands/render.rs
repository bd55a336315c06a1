//! `dwell render`: flags -> values of the library -> run -> report.

use crate::cli::RenderArgs;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::{engine, output, progress_bar};
use dwell::store::{self, Output};
use dwell::{
    Buffers, Decimal, Engine, Error, Format, Formula, Frame, InputError, Limits, Location, Magnification, Palette,
    Plan, Progress, Report, Request, Sample, Settings, Size, View, Work, auto_limit, quote, unknown_name,
};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The most repeats.
const MAX_REPEATS: u64 = 100_000;
/// The location drawn when none is named.
const DEFAULT_LOCATION: &str = "shallow-home";

pub(crate) fn run(args: &RenderArgs, interrupt: &Interrupt) -> Result<(), Error> {
    let location = location(args.what.as_deref())?;
    let view = view(args, &location)?;
    let max_iter = max_iter(args, &location)?;
    let settings = settings(args, &max_iter)?;
    let palette = palette(args.palette.as_deref())?;
    let work =
        Work { schedule: engine::schedule(&args.schedule)?, tile: args.tile.as_deref().map(engine::tile).transpose()? };
    let strategy = engine::strategy(&args.strategy)?;
    let engine = engine::engine(&args.engine)?.with_shortcuts(engine::shortcuts(&args.shortcuts)?).with_work(work);
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
    let mut plan = Plan::new(&view, &settings, &limits)?;
    if let MaxIter::TooMany(iterations) = max_iter {
        let name = &location.name;
        return Err(InputError::new(
            "--max-iter",
            format!("the location {} asks for {iterations} iterations", quote(name)),
        )
        .accepted("1 to 4294967295")
        .hint("give a limit with --max-iter")
        .into());
    }
    if max_iter == MaxIter::Auto {
        let limit = auto_limit(&view, &settings, &engine, &interrupt.cancel)?;
        plan = Plan::new(&view, &Settings { limit, ..settings.clone() }, &limits)?;
        if !args.quiet && !stats_to_stderr {
            output::remark(&format!("max-iter auto: {limit}"));
        }
    }
    let with_picture = files.iter().any(|(_, format)| format.is_picture());
    limits
        .reserve(
            "the buffers of all threads",
            engine.bytes(&plan, if with_picture { dwell::Extras::SMOOTH } else { dwell::Extras::NONE }),
        )
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

    let watched = progress_bar::wanted(args.quiet || stats_to_stderr);
    let progress = Progress::default();
    let mut buffers = Buffers::default();
    let mut reports = Vec::new();
    for repeat in 0..repeats {
        if repeat > 0 {
            let began = Instant::now();
            plan = Plan::new(&view, &Settings { limit: plan.limit(), ..settings.clone() }, &limits)?;
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
            strategy,
            verify: args.verify,
            palette: &palette,
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
    let inputs = [("WHAT", args.what.as_deref()), ("--palette", args.palette.as_deref().map(Path::new))];
    let mut taken: Vec<(&str, PathBuf)> = inputs
        .into_iter()
        .filter_map(|(what, path)| Some((what, store::identity(path.filter(|p| p.is_file())?)?)))
        .collect();
    let stats = args.stats.iter().filter(|p| *p != Path::new("-")).map(|p| ("--stats", p));
    for (what, path) in files.iter().map(|(path, _)| ("-o", path)).chain(stats) {
        let Some(identity) = store::identity(path) else { continue };
        if let Some((other, _)) = taken.iter().find(|(_, i)| *i == identity) {
            let problem = format!("{} is the file of {other} as well", quote(&path.to_string_lossy()));
            return Err(InputError::new(what, problem).hint("give each a file of its own"));
        }
        taken.push((what, identity));
    }
    Ok(())
}

/// WHAT: a name or a file.
fn location(what: Option<&Path>) -> Result<Location, Error> {
    let Some(what) = what else { return Ok(Location::built_in(DEFAULT_LOCATION)?) };
    let text = what.to_string_lossy();
    let known = Location::built_in_names().any(|name| name == text);
    if !known && (looks_like_a_path(&text) || what.exists()) {
        return Location::read(what);
    }
    Ok(Location::built_in(&text)?)
}

fn looks_like_a_path(text: &str) -> bool {
    text.contains(['/', '\\', '.'])
}

/// The view: the location's, with whatever the flags say instead.
fn view(args: &RenderArgs, location: &Location) -> Result<View, InputError> {
    let size = match &args.size {
        None => View::DEFAULT_SIZE,
        Some(text) => Size::parse(text).map_err(|e| e.named("--size"))?,
    };
    let mut view = location.view(size);
    if let Some(text) = &args.bounds {
        let [xmin, xmax, ymin, ymax] = engine::decimals("--bounds", text, "XMIN,XMAX,YMIN,YMAX")?;
        view.frame = Frame::Bounds { xmin, xmax, ymin, ymax };
        view.check().map_err(|e| e.named("--bounds"))?;
    }
    if let Frame::Centred { re, im, magnification } = &mut view.frame {
        if let Some(text) = &args.center {
            [*re, *im] = engine::decimals("--center", text, "RE,IM")?;
        }
        if let Some(text) = &args.zoom {
            *magnification = Magnification::Zoom(engine::decimal("--zoom", text)?);
        }
        if let Some(text) = &args.height {
            *magnification = Magnification::Height(engine::decimal("--height", text)?);
        }
        let flag = if args.height.is_some() { "--height" } else { "--zoom" };
        view.check().map_err(|e| e.named(flag))?;
    }
    if let Some(text) = &args.rotate {
        view.rotation = engine::decimal("--rotate", text)?;
        view.check().map_err(|e| e.named("--rotate"))?;
    }
    if let Some(text) = &args.sample {
        view.sample = match text.as_str() {
            "center" => Sample::Centre,
            text => Sample::ALL
                .into_iter()
                .find(|s| s.name() == text)
                .ok_or_else(|| unknown_name("--sample", text, Sample::ALL.map(Sample::name)))?,
        };
    }
    Ok(view)
}

/// What was asked for as the limit.
#[derive(PartialEq)]
enum MaxIter {
    Given(u32),
    Auto,
    /// The location's own, beyond what is counted to.
    TooMany(u64),
}

fn max_iter(args: &RenderArgs, location: &Location) -> Result<MaxIter, InputError> {
    match args.max_iter.as_deref() {
        Some("auto") => Ok(MaxIter::Auto),
        Some(text) => {
            let limit = engine::whole("--max-iter", text, 1, u64::from(u32::MAX)).map_err(|e| e.hint("or \"auto\""))?;
            Ok(MaxIter::Given(u32::try_from(limit).unwrap_or(u32::MAX)))
        }
        None => Ok(u32::try_from(location.iterations).map_or(MaxIter::TooMany(location.iterations), MaxIter::Given)),
    }
}

fn settings(args: &RenderArgs, max_iter: &MaxIter) -> Result<Settings, InputError> {
    let escape_radius: Decimal = engine::decimal("--escape-radius", &args.escape_radius)?;
    let settings = Settings {
        formula: engine::formula(args.formula.formula.as_deref(), args.formula.power.as_deref(), Formula::MANDELBROT)?,
        julia: engine::julia(args.formula.julia.as_deref(), None)?,
        limit: if let MaxIter::Given(limit) = max_iter { *limit } else { u32::MAX },
        escape_radius,
        number: engine::number(&args.number)?,
        recipe: engine::recipe(&args.recipe)?,
        force: args.force,
    };
    settings.check().map_err(|e| e.named("--escape-radius"))?;
    Ok(settings)
}

fn palette(name: Option<&str>) -> Result<Palette, Error> {
    match name {
        None => Ok(Palette::default()),
        Some(name) if looks_like_a_path(name) || (Path::new(name).exists() && Palette::built_in(name).is_err()) => {
            Palette::read(Path::new(name))
        }
        Some(name) => Palette::built_in(name).map_err(|e| e.named("--palette").into()),
    }
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
