//! `dwell render`: turns flags into values of the library, runs the render and reports.

mod dry_run;
mod files;
mod summary;

use crate::choice;
use crate::cli::RenderArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::{self, Machine};
use crate::scene::{self, MaxIter};
use crate::standard_streams::Stream;
use crate::{engine, output, progress_bar};
use dwell::store::Output;
use dwell::{
    ChannelSet, Control, CpuEngine, Engine, Format, InputError, Journaling, Limits, Paint, Plan, Progress, Report,
    Request, Samples, Scene, Scratch, Strategy, View, auto_limit, quote,
};
use dwell_cuda::Options;
use dwell_engines::Work;
use files::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Most repeats.
const MAX_REPEATS: u64 = 100_000;

/// What the flags ask for beside the scene.
struct Job<'a> {
    args: &'a RenderArgs,
    interrupt: &'a Interrupt,
    files: Vec<File>,
    formats: Vec<Format>,
    limits: Limits,
    journaling: Journaling,
    repeats: u64,
    /// Where statistics go to standard error, nothing else may: a program reads them.
    stats_to_stderr: bool,
}

/// Renders as the flags say.
pub(crate) fn run(args: &RenderArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let (mut scene, max_iter) = scene::scene(args)?;
    let options = engine::kernel(&args.kernel, args.strategy.as_deref())?;
    if let Some(options) = options {
        engine::check_kernel(options, scene.settings.formula)?;
        if args.strategy.is_none() && args.kernel.gpu_kernel.is_some() {
            // The kernel decides the strategy.
            scene.strategy = if options.kernel.is_exact() { Strategy::EveryPixel } else { Strategy::MarianiSilver };
        }
    }
    let schedule = args.schedule.parse()?;
    let cpu =
        engine::engine(&args.engine)?.with_schedule(schedule).with_shortcuts(scene.shortcuts).with_tile(scene.tile);
    let job = Job::new(args, interrupt)?;

    // Every check comes before the first write; planning checks the view.
    let began = Instant::now();
    let view = scene.sample_view()?;
    job.check_samples(&scene)?;
    let mut plan = Plan::new(&view, &scene.settings, &job.limits).map_err(|e| job.refused(e, &scene))?;
    if let MaxIter::TooMany(iterations) = max_iter {
        return Err(too_many_iterations(args, iterations).into());
    }
    // The last check, because choosing an engine may take a second.
    let engine = job.engine(&scene, &plan, cpu, options)?;
    let engine = engine.as_ref();
    if max_iter == MaxIter::Auto {
        scene.settings.limit = auto_limit(&scene.view, &scene.settings, engine, &interrupt.cancel)?;
        plan = Plan::new(&view, &scene.settings, &job.limits)?;
        job.remark(&format!("max-iter auto: {}", scene.settings.limit));
    }
    let text = scene.text(plan.warnings());
    let progress = Progress::default();
    let request = job.request(&scene, &text, &plan, engine, &progress);
    let layout = dwell::layout(&request, &job.formats).map_err(|e| job.shortage(e))?;
    if args.dry_run {
        return dry_run::print(&request, &layout, &job.files);
    }
    if !job.stats_to_stderr {
        plan.warnings().iter().for_each(|warning| output::remark(&format!("warning: {warning}")));
    }
    job.render(&request, &view, &scene, began.elapsed().as_secs_f64())
}

/// The error of a location whose limit no render can have.
pub(super) fn too_many_iterations(args: &RenderArgs, iterations: u64) -> Usage {
    let what = args.what.as_deref().unwrap_or(Path::new("")).to_string_lossy();
    Usage::new(format!("{}, iterations", quote(&what)), format!("{iterations} are more than a render counts to"))
        .accepts("1 to 4294967295")
        .hint("give a limit with --max-iter")
}

impl<'a> Job<'a> {
    fn new(args: &'a RenderArgs, interrupt: &'a Interrupt) -> Result<Self, Failure> {
        let repeats = match &args.repeat {
            None => 1,
            Some(text) => engine::whole("--repeat", text, 1, MAX_REPEATS)?,
        };
        let files = files::files(args)?;
        files::check_overlap(args, &files)?;
        let stats_to_stderr = args.stats.as_deref() == Some(Path::new("-"));
        if stats_to_stderr && !args.dry_run {
            // Before the work, whose statistics would be lost.
            Stream::Error.check()?;
        }
        let memory_bytes = match &args.max_memory {
            Some(text) => engine::bytes("--max-memory", text)?,
            None => Machine::planned_bytes(engine::level_and_threads(&args.engine)?.1),
        };
        Ok(Self {
            args,
            interrupt,
            formats: files.iter().map(|(_, format)| *format).collect(),
            files,
            limits: Limits { memory_bytes },
            journaling: engine::journaling(&args.sync_interval, args.fresh)?,
            repeats,
            stats_to_stderr,
        })
    }

    /// Prints a remark on standard error, unless that is for statistics or nothing is to be said.
    fn remark(&self, text: &str) {
        if !self.args.quiet && !self.stats_to_stderr {
            output::remark(text);
        }
    }

    /// Refuses to write dwells of several samples.
    fn check_samples(&self, scene: &Scene) -> Result<(), Usage> {
        match self.formats.iter().find(|format| scene.samples.side() > 1 && !format.is_picture()) {
            None => Ok(()),
            Some(format) => {
                let problem = format!("a .{} file holds dwells, which have no average", format.name());
                Err(Usage::new("--aa", problem).accepts("1 or auto for dwells"))
            }
        }
    }

    /// The failure of a plan. One about memory or depth names the flag that helps.
    fn refused(&self, error: InputError, scene: &Scene) -> Failure {
        let failure = Failure::from(error);
        match (&self.args.max_memory, scene.samples) {
            (Some(_), _) if failure.is_about_memory() => failure.about("--max-memory"),
            (_, Samples::Fixed(2..)) => failure.hint("or use fewer samples with --aa"),
            _ => failure,
        }
    }

    /// The failure of a layout. One about memory names the flag that helps.
    fn shortage(&self, error: InputError) -> Failure {
        let failure = Failure::from(error);
        match &self.args.max_memory {
            _ if !failure.is_about_memory() => failure,
            Some(_) => failure.about("--max-memory").hint("or allow more, or use fewer threads or a smaller tile"),
            None => failure.hint("or use fewer threads or a smaller tile"),
        }
    }

    /// The engine: `cpu`, or a device with `cpu` beside it.
    fn engine(
        &self,
        scene: &Scene,
        plan: &Plan,
        cpu: CpuEngine,
        options: Option<Options>,
    ) -> Result<Arc<dyn Engine>, Failure> {
        let with_picture = self.formats.iter().any(|format| format.is_picture());
        let channels = if with_picture { scene.colouring.channels() } else { ChannelSet::NONE };
        let work = Work { pixels: plan.size().pixels(), strategy: scene.strategy, channels };
        let name = choice::name(self.args.engine_choice.engine.as_deref())?;
        let processors = cpu.like();
        let (engine, remark) = choice::choose(name, cpu, options, work)?;
        if let Some(remark) = remark {
            self.remark(&remark);
        }
        if engine.info().name != "cpu" && choice::is_free(name) && options.is_none() {
            // A device needs buffers of its own. Where they do not fit, the processors may still render the picture.
            let progress = Progress::default();
            let request = self.request(scene, "", plan, engine.as_ref(), &progress);
            if dwell::layout(&request, &self.formats).is_err() {
                return Ok(Arc::new(processors));
            }
        }
        Ok(engine)
    }

    fn request<'r>(
        &'r self,
        scene: &'r Scene,
        text: &'r str,
        plan: &'r Plan,
        engine: &'r dyn Engine,
        progress: &'r Progress,
    ) -> Request<'r> {
        let control = Control { cancel: &self.interrupt.cancel, progress };
        Request::new(plan, engine, Paint::of(scene, text), control)
            .with_strategy(scene.strategy)
            .with_verification(self.args.verify)
            .with_hash(self.args.stats.is_some())
            .with_journal(Some(self.journaling.clone()))
            .with_limits(self.limits)
            .with_observer(progress_bar::wanted(self.args.quiet || self.stats_to_stderr))
    }

    /// Renders, as often as asked, and reports. The first plan took `plan_seconds`.
    fn render(&self, request: &Request<'_>, view: &View, scene: &Scene, mut plan_seconds: f64) -> Result<(), Failure> {
        let create = |path: &Path| Output::create(path, self.args.no_clobber, &self.interrupt.partial_files);
        let outputs = self.files.iter().map(|(path, format)| Ok((*format, create(path)?)));
        let mut outputs = outputs.collect::<Result<Vec<_>, Failure>>()?;
        let stats = self.args.stats.as_deref().filter(|_| !self.stats_to_stderr);
        if let Some(stats) = stats {
            // Opened again at the end, so that a killed render leaves no empty partial file of it.
            let mut stats = create(stats)?;
            stats.refuse_existing()?;
            stats.open()?;
        }

        let mut scratch = Scratch::default();
        let mut reports = Vec::new();
        for repeat in 0..self.repeats {
            let mut plan_again = None;
            if repeat > 0 {
                let began = Instant::now();
                plan_again = Some(Plan::new(view, &scene.settings, &self.limits)?);
                plan_seconds = began.elapsed().as_secs_f64();
            }
            // Only the last run writes. The others encode and discard the bytes.
            let outputs: Vec<_> = if repeat + 1 == self.repeats {
                std::mem::take(&mut outputs)
            } else {
                self.formats.iter().map(|format| (*format, Output::discarding())).collect()
            };
            let request = request.clone().with_plan(plan_again.as_ref().unwrap_or(request.plan));
            let what = match self.repeats {
                1 => "rendering".to_owned(),
                repeats => format!("run {} of {repeats}", repeat + 1),
            };
            let rendered = progress_bar::during(request.watched, &what, request.control.progress, || {
                dwell::render(&request, outputs, &mut scratch)
            });
            let mut report = rendered.inspect_err(|error| summary::remark_on_journal(error, &self.files))?;
            report.planned_in(plan_seconds);
            reports.push(report);
        }
        let Some(mut report) = Report::median(&reports) else { return Ok(()) };
        report.peak_memory_bytes = machine::peak_memory_bytes();
        if let Some(path) = stats {
            let mut stats = create(path)?;
            let text = format!("{}\n", output::json(&report));
            stats.write_all(text.as_bytes()).map_err(|e| stats.error(e))?;
            stats.commit()?;
        }
        if self.stats_to_stderr {
            return output::json_to_stderr(&report);
        }
        summary::print(self.args, &report, &self.files, request.plan.warnings());
        Ok(())
    }
}
