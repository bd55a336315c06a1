//! `dwell render`: turns flags into values of the library, runs the render and reports. This file runs one job; `batch.rs`
//! runs several.

mod batch;
mod dry_run;
mod files;
mod job_table;
mod placeholders;
mod summary;

use crate::choice;
use crate::cli::RenderArgs;
use crate::deadline;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::{self, Machine};
use crate::progress_bar::Span;
use crate::scene;
use crate::standard_streams::Stream;
use crate::{engine, output, progress_bar};
use dwell::store::Output;
use dwell::{
    ChannelSet, Control, CpuEngine, Engine, Error, Format, Found, InputError, Journaling, LimitCheck, Limits, Paint,
    Plan, Problem, Progress, Report, Request, Resolved, Scene, Schedule, Scratch, Sidecar, Strategy, View,
};
use dwell_cuda::Options;
use dwell_engines::Work;
use files::File;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Most repeats.
const MAX_REPEATS: u64 = 100_000;
/// The time that a check of a given limit may take after a short render.
const LEAST_CHECK: Duration = Duration::from_secs(1);

/// What the flags ask for beside the scene.
struct Job<'a> {
    args: &'a RenderArgs,
    interrupt: &'a Interrupt,
    /// Its part of a batch; the default is that of a job alone.
    part: Part,
    files: Vec<File>,
    formats: Vec<Format>,
    limits: Limits,
    journaling: Journaling,
    repeats: u64,
    /// Where statistics go to standard error, nothing else may: a program reads them.
    stats_to_stderr: bool,
}

/// The part that a job has in a batch.
#[derive(Clone, Debug, Default)]
struct Part {
    /// The name of the job and its place in the batch, for the progress bar and before remarks; empty for a job alone.
    label: String,
    /// The progress of the batch before the job, and the job's share of it.
    span: Span,
    /// Whether the batch writes the statistics.
    reports_to_batch: bool,
}

/// Renders as the flags say. Returns the exit code.
pub(crate) fn run(args: &RenderArgs, interrupt: &Interrupt) -> Result<u8, Failure> {
    if batch::is_wanted(args) {
        return batch::run(args, interrupt);
    }
    // The process ends next: to give the memory of its buffers back page by page before takes two of 37 ms on 16 threads.
    let mut scratch = ManuallyDrop::new(Scratch::default());
    one(args, interrupt, Part::default(), &mut scratch)?;
    Ok(0)
}

/// Checks everything about a job that can be checked without an engine, and returns its expected cost, which is probed
/// only where progress is shown.
fn check(args: &RenderArgs, interrupt: &Interrupt) -> Result<f64, Failure> {
    let scene = scene::scene(args)?;
    if let Some(options) = engine::kernel(&args.kernel, args.strategy.as_deref())? {
        engine::check_kernel(options, scene.settings.formula)?;
    }
    args.schedule.parse::<Schedule>()?;
    choice::name(args.engine_choice.engine.as_deref())?;
    engine::level_and_threads(&args.engine)?;
    let job = Job::new(args, interrupt, Part::default())?;
    let (view, cpu) = (scene.sample_view()?, engine::engine(&args.engine)?);
    job.check_samples(&scene)?;
    let plan = Plan::new(&view, &scene.settings, &job.limits).map_err(|e| job.refused(e, &scene, &cpu))?;
    let progress = Progress::default();
    let request = job.request(&scene, "", &plan, &cpu, &progress);
    if !request.watched {
        return Ok(view.size.pixels() as f64);
    }
    let resolved = dwell::resolve(&job.painted(&scene), &cpu, &job.limits, &request.control);
    let Resolved { scene, .. } = resolved.map_err(without_probe)?;
    let plan = plan.with_limit(scene.settings.limit);
    Ok(dwell::expected_cost(&job.request(&scene, "", &plan, &cpu, &progress))?)
}

/// Renders one job. Returns its statistics; none of a dry run.
fn one(args: &RenderArgs, interrupt: &Interrupt, part: Part, scratch: &mut Scratch) -> Result<Option<Report>, Failure> {
    let mut scene = scene::scene(args)?;
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
    let job = Job::new(args, interrupt, part)?;
    if !args.dry_run {
        // After a look at the memory, of which threads reserve some.
        cpu.pool().start();
    }

    let has_dwells_alone = !job.formats.is_empty() && !job.formats.iter().any(|format| format.is_picture());
    if let Some(flag) = args.picture.of_colours().filter(|_| has_dwells_alone && args.jobs.is_none()) {
        job.remark(&format!("note: {flag} changes pictures alone, and every file of this render holds dwells"));
    }

    // Every check comes before the first write; planning checks the view.
    let began = Instant::now();
    let view = scene.sample_view()?;
    job.check_samples(&scene)?;
    let plan = Plan::new(&view, &scene.settings, &job.limits).map_err(|e| job.refused(e, &scene, &cpu))?;
    // The last check, because choosing an engine may take a second.
    let engine = job.engine(&scene, &plan, cpu, options)?;
    let engine = engine.as_ref();
    let progress = Progress::default();
    let Resolved { scene, found, .. } = job.resolved(&scene, engine, &progress)?;
    let plan = plan.with_limit(scene.settings.limit);
    let text = scene.text(plan.warnings());
    let progress = Progress::default();
    let request = job.request(&scene, &text, &plan, engine, &progress);
    let layout = dwell::layout(&request, &job.formats).map_err(|e| job.shortage(e.into(), &scene))?;
    if args.dry_run {
        return dry_run::print(&request, &layout, &job.files, &scene, found.as_ref()).map(|()| None);
    }
    if !job.stats_to_stderr {
        plan.warnings().iter().for_each(|warning| job.part.remark(&format!("warning: {warning}")));
    }
    files::check_space(&request, &job.files)?;
    job.render(&request, &view, &scene, found, began.elapsed().as_secs_f64(), scratch).map(Some)
}

impl Part {
    /// Prints a remark on standard error, with the name of the job in a batch.
    fn remark(&self, text: &str) {
        match self.label.as_str() {
            "" => output::remark(text),
            label => output::remark(&format!("{label}: {text}")),
        }
    }
}

/// The failure of a probe. One about memory names the flags that help.
fn without_probe(error: Error) -> Failure {
    let failure = Failure::from(error);
    if !failure.is_about_memory() {
        return failure;
    }
    failure.about("--max-memory").remedy("allow more, or give --max-iter and --scale, which need no probe")
}

impl<'a> Job<'a> {
    fn new(args: &'a RenderArgs, interrupt: &'a Interrupt, part: Part) -> Result<Self, Failure> {
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
            part,
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
            self.part.remark(text);
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
    fn refused(&self, error: InputError, scene: &Scene, cpu: &CpuEngine) -> Failure {
        let is_about_depth = matches!(error.problem(), Problem::TooDeep { .. } | Problem::TooSmall { .. });
        let failure = Failure::from(error);
        if failure.is_about_memory() {
            return self.shortage_of_all(scene, cpu).unwrap_or_else(|| self.shortage(failure, scene));
        }
        if is_about_depth && scene.samples.side() > 1 { failure.hint("or fewer samples with --aa") } else { failure }
    }

    /// The failure of the whole render where already its plan is refused for its memory: a plan takes a small part of what a
    /// render needs. `None` where this machine has not enough memory for the plan either.
    fn shortage_of_all(&self, scene: &Scene, cpu: &CpuEngine) -> Option<Failure> {
        let roomy = Limits { memory_bytes: Machine::planned_bytes(cpu.pool().threads()) };
        let plan = Plan::new(&scene.sample_view().ok()?, &scene.settings, &roomy).ok()?;
        let progress = Progress::default();
        let request = self.request(scene, "", &plan, cpu, &progress);
        let error = dwell::layout(&request, &self.formats).err()?;
        Some(self.shortage(error.into(), scene))
    }

    /// The failure of a layout. One about memory names the flag that helps.
    fn shortage(&self, failure: Failure, scene: &Scene) -> Failure {
        if !failure.is_about_memory() {
            return failure;
        }
        let less = if scene.samples.side() > 1 { ", fewer samples with --aa" } else { "" };
        let hint = format!("or use fewer threads{less} or a smaller tile");
        match &self.args.max_memory {
            Some(_) => failure.about("--max-memory").hint(format!("allow more, {hint}")),
            None => failure.hint(hint),
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
        let work = Work { pixels: plan.size().pixels(), strategy: scene.strategy, channels, number: plan.number() };
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

    /// Adds a warning if the limit was given and leaves many pixels undecided. A probe decides, unless almost all pixels
    /// escaped. It takes a tenth of the time of the render at most: its points are iterated further than those of the picture, which takes minutes where some stay within
    /// a limit of thousands of millions. Where that is not enough there is no warning.
    fn check_limit(&self, scene: &Scene, engine: &dyn Engine, report: &mut Report) -> Result<(), Error> {
        let found = report.automatic.as_ref();
        let inside = report.interior_pixels as f64 / report.pixels as f64;
        if found.is_some_and(|found| found.limit.is_some()) || inside <= LimitCheck::MOST_CHANGING {
            return Ok(());
        }
        let most = Duration::from_secs_f64(report.seconds.total / 10.0).max(LEAST_CHECK);
        let check = deadline::within(most, &self.interrupt.cancel, |cancel| {
            dwell::check_limit(scene, engine, &self.limits, &Control { cancel, progress: &Progress::default() })
        });
        let check = match check {
            // The picture is complete, so an interruption, a lack of time or of memory here is no failure of the render.
            Err(Error::Interrupted | Error::Input(_)) => return Ok(()),
            check => check?,
        };
        if let Some(limit) = check.black_until {
            let problem = format!("no point of a probe of the view escapes within {limit} iterations");
            report.warnings.push(format!("{problem}, so the picture is black; --max-iter auto looks further"));
        } else if check.is_too_low() {
            let remedy = match check.automatic {
                Some(limit) => format!("--max-iter auto chooses {limit}"),
                None => "--max-iter auto finds a limit".to_owned(),
            };
            report.warnings.push(format!(
                "{:.2} % of the view escapes only after the limit {} and is drawn as inside the set; {remedy}",
                100.0 * check.changing,
                report.max_iterations,
            ));
        }
        Ok(())
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
    fn render(
        &self,
        request: &Request<'_>,
        view: &View,
        scene: &Scene,
        found: Option<Found>,
        mut plan_seconds: f64,
        scratch: &mut Scratch,
    ) -> Result<Report, Failure> {
        files::create_folders(self.args, &self.files, &self.part)?;
        let create = |path: &Path| Output::create(path, self.args.no_clobber, &self.interrupt.partial_files);
        let outputs = self.files.iter().map(|(path, format)| Ok((*format, create(path)?)));
        let outputs = outputs.collect::<Result<Vec<_>, Failure>>()?;
        let writes_stats = !self.stats_to_stderr && !self.part.reports_to_batch;
        let stats = self.args.stats.as_deref().filter(|_| writes_stats).map(create).transpose()?;

        // Only the last run writes. The others encode and discard the bytes.
        let (mut earlier, mut planned) = (Vec::new(), None);
        while earlier.len() + 1 < self.repeats as usize {
            let request = request.clone().with_plan(planned.as_ref().unwrap_or(request.plan));
            let discarded = self.formats.iter().map(|format| (*format, Output::discarding())).collect();
            let mut report = self.watch(&request, earlier.len(), || dwell::render(&request, discarded, scratch))?;
            report.planned_in(plan_seconds);
            earlier.push(report);
            let began = Instant::now();
            planned = Some(Plan::new(view, &scene.settings, &self.limits)?);
            plan_seconds = began.elapsed().as_secs_f64();
        }
        let request = &request.clone().with_plan(planned.as_ref().unwrap_or(request.plan));
        let completed = |report: &mut Report| {
            report.planned_in(plan_seconds);
            self.complete(report, &earlier, scene, request.engine, found.clone())
        };
        let has_sidecar = stats.is_some();
        let sidecar = stats.map(|output| {
            Sidecar::new(output, |report| {
                completed(report)?;
                Ok(format!("{}\n", output::json(report)).into_bytes())
            })
        });
        let work = || dwell::render_with(request, outputs, sidecar, scratch);
        let mut report = self.watch(request, earlier.len(), work)?;
        if !has_sidecar {
            completed(&mut report)?;
        }
        if !self.stats_to_stderr {
            summary::print(self.args, &report, &self.files, &self.part, request.plan.warnings());
        } else if !self.part.reports_to_batch {
            output::json_to_stderr(&report)?;
        }
        Ok(report)
    }

    /// Finds what a scene leaves to be found. At depth the reference orbit may take long, which is shown.
    fn resolved(&self, scene: &Scene, engine: &dyn Engine, progress: &Progress) -> Result<Resolved, Failure> {
        let control = Control { cancel: &self.interrupt.cancel, progress };
        let is_watched = progress_bar::wanted(self.args.quiet || self.stats_to_stderr);
        let what = if self.part.label.is_empty() { "probing" } else { &self.part.label };
        let scene = self.painted(scene);
        let resolve = || dwell::resolve(&scene, engine, &self.limits, &control);
        self.part.span.during(is_watched, what, progress, resolve).map_err(without_probe)
    }

    /// The scene, with colours to be found only where there is a picture: the probe takes a tenth of a render.
    fn painted(&self, scene: &Scene) -> Scene {
        let mut scene = scene.clone();
        scene.automatic.scale &= self.formats.iter().any(|format| format.is_picture());
        scene
    }

    /// Shows the progress of `work`, which renders after `earlier` other runs.
    fn watch(
        &self,
        request: &Request<'_>,
        earlier: usize,
        work: impl FnOnce() -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let what = match self.repeats {
            1 if self.part.label.is_empty() => "rendering".to_owned(),
            1 => self.part.label.clone(),
            repeats => format!("run {} of {repeats}", earlier + 1),
        };
        let rendered = self.part.span.during(request.watched, &what, request.control.progress, work);
        rendered.inspect_err(|error| summary::remark_on_journal(error, &self.files))
    }

    /// Completes the report of the last run, after those of `earlier` runs.
    fn complete(
        &self,
        report: &mut Report,
        earlier: &[Report],
        scene: &Scene,
        engine: &dyn Engine,
        found: Option<Found>,
    ) -> Result<(), Error> {
        let reports: Vec<Report> = earlier.iter().chain([&*report]).cloned().collect();
        *report = Report::median(&reports).ok_or_else(|| Error::Internal("a render has no statistics".to_owned()))?;
        report.peak_memory_bytes = machine::peak_memory_bytes();
        if self.args.stats.is_some() {
            report.commit = Some(env!("DWELL_COMMIT").to_owned());
            report.date = Some(dwell_lab::machine::date(SystemTime::now()));
            report.processor = Some(machine::processor());
        }
        report.automatic = found;
        if !self.args.quiet || self.args.stats.is_some() {
            self.check_limit(scene, engine, report)?;
        }
        Ok(())
    }
}
