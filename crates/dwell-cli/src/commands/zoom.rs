//! `dwell zoom`: the frames of a zoom, and a film of them. This file turns flags into a film and renders its frames; `target.rs` says
//! where they go, `record.rs` keeps what was found for all of them, and `encoder.rs` passes them to ffmpeg.

mod dry_run;
mod encoder;
mod engines;
mod flags;
mod record;
mod target;

use crate::cli::ZoomArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::progress_bar::{self, Span};
use crate::{engine, output, overlap, scene};
use dwell::store::Output;
use dwell::{
    Control, Error, Film, FilmFindings, Journaling, KeepReferences, Limits, Location, Means, Method, Plan, Progress,
    Resampler, Scratch, Shared,
};
use encoder::Encoding;
use engines::Engines;
use record::{Found, Identity};
use std::time::Instant;
use target::Target;

/// What resampling a frame takes, as a share of the time of its pixels.
const RESAMPLING: f64 = 0.03;

/// What the flags ask for.
struct Zoom<'a> {
    args: &'a ZoomArgs,
    interrupt: &'a Interrupt,
    target: Target,
    encoding: Encoding,
    limits: Limits,
    journaling: Journaling,
    engines: Engines,
    film: Film,
    method: Method,
    identity: Identity,
    /// The warnings that were printed.
    warned: Vec<String>,
}

pub(crate) fn run(args: &ZoomArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut zoom = Zoom::new(args, interrupt)?;
    let found = record::read(&zoom.target, &zoom.identity, args.fresh)?;
    if let Some((film, _)) = zoom.target.film.as_ref().filter(|_| !args.dry_run) {
        encoder::check(film)?;
    }
    let found = match found {
        Some(found) => {
            let known = zoom.film.clone().with_findings(found.findings.clone());
            zoom.film = known.map_err(|_| record::damaged(&zoom.target))?;
            found
        }
        None => zoom.find()?,
    };
    if args.dry_run {
        return dry_run::print(&mut zoom, &found);
    }
    zoom.make(&found)
}

impl<'a> Zoom<'a> {
    /// Everything that can be checked before anything is computed.
    fn new(args: &'a ZoomArgs, interrupt: &'a Interrupt) -> Result<Self, Failure> {
        let frames = flags::frames(args)?;
        let target = Target::of(args.output.as_deref(), frames)?;
        let what = args.what.iter().map(|path| ("WHAT", Location::file(path)));
        let palette = args.picture.palette.iter().map(|name| ("--palette", overlap::palette_file(name)));
        overlap::check(what.chain(palette), target.film.iter().map(|(path, _)| ("-o", path.as_path())))?;
        let mut scene = scene::picture(args.what.as_deref(), &args.view, &args.iteration, &args.picture, !args.quiet)?;
        let course = flags::course(args, &scene, frames)?;
        // The limit of a location is that of its own zoom.
        scene.automatic.limit |= args.iteration.max_iter.is_none();
        let shared = args.fit.as_deref().map_or(Ok(Shared::default()), str::parse)?;
        let encoding = flags::encoding(args)?;
        let size = scene.view.size;
        if target.film.is_some() && !(size.width.is_multiple_of(2) && size.height.is_multiple_of(2)) {
            return Err(Usage::new("--size", format!("{size} has an odd side, which films do not have"))
                .accepts("even sides for a film")
                .into());
        }
        let engines = Engines::new(args)?;
        let memory_bytes = match &args.max_memory {
            Some(text) => engine::bytes("--max-memory", text)?,
            None => Machine::planned_bytes(engine::level_and_threads(&args.engine)?.1),
        };
        let limits = Limits { memory_bytes };
        let method = args.method.as_deref().map_or(Ok(Method::default()), str::parse)?;
        let identity = flags::identity(&scene, &course, shared, method);
        let film = Film::new(scene, course, shared)?;
        if method == Method::Exponential {
            Resampler::check(&film)?;
        }
        // Frames that cannot be planned are refused before the first is rendered: the deepest and the least deep.
        for frame in [0, frames - 1] {
            let scene = film.scene(frame);
            Plan::new(&scene.sample_view()?, &scene.settings, &limits).map_err(|error| {
                let name = if frame == 0 { "--from" } else { "--to" };
                Failure::from(error).about(name)
            })?;
        }
        Ok(Self {
            args,
            interrupt,
            target,
            encoding,
            limits,
            journaling: engine::journaling(&args.sync_interval, args.fresh)?,
            engines,
            film,
            method,
            identity,
            warned: Vec::new(),
        })
    }

    fn frames(&self) -> u32 {
        self.film.course().frames()
    }

    fn is_watched(&self) -> bool {
        progress_bar::wanted(self.args.quiet)
    }

    /// Finds the limits and the colours of the film.
    fn find(&mut self) -> Result<Found, Failure> {
        let (progress, mut seconds) = (Progress::default(), Vec::new());
        let engine = self.engines.of(&self.film.scene(0))?;
        let control = Control { cancel: &self.interrupt.cancel, progress: &progress };
        let stations = self.film.stations() as u64;
        progress.start(stations, Vec::new());
        let (film, limits) = (&mut self.film, &self.limits);
        progress_bar::during(progress_bar::wanted(self.args.quiet), "probing", &progress, || {
            film.find(engine.as_ref(), limits, &control, |spent| {
                seconds.push(spent);
                progress.add(1);
            })
        })?;
        let findings = self.film.findings().cloned().unwrap_or_else(|| FilmFindings::new(Vec::new(), None));
        Ok(Found { findings, seconds })
    }

    /// Renders the frames that are not there, and encodes the film.
    fn make(&mut self, found: &Found) -> Result<(), Failure> {
        let began = Instant::now();
        self.target.create_folder()?;
        let missing = self.missing()?;
        record::write(&self.target, &self.identity, found, &self.interrupt.partial_files)?;
        self.render(&missing, found)?;
        if let Some(film) = self.target.film.clone() {
            self.remark_if_interrupted(self.frames());
            let progress = Progress::default();
            let interrupt = self.interrupt;
            progress_bar::during(self.is_watched(), "encoding", &progress, || {
                let Interrupt { cancel, partial_files, .. } = interrupt;
                encoder::encode(&self.target, &film, self.frames(), self.encoding, cancel, &progress, partial_files)
            })?;
            if !self.args.keep_frames {
                self.remove_frames();
            }
        }
        self.interrupt.set_remark(None);
        self.summarise(self.frames() as usize - missing.len(), began);
        Ok(())
    }

    /// The frames that are to be rendered.
    ///
    /// # Errors
    /// When a file is in the way of one.
    fn missing(&self) -> Result<Vec<u32>, Failure> {
        if self.args.fresh {
            self.remove_others()?;
        }
        let mut missing = Vec::new();
        for frame in 0..self.frames() {
            self.interrupt.cancel.check()?;
            let path = self.target.frame(frame);
            match target::text_of(&path)? {
                None => missing.push(frame),
                Some(text) if self.film.is_frame(frame, &text, self.method, &self.limits)? => {}
                Some(_) => {
                    return Err(target::in_the_way(&path).hint("move it, --fresh replaces it, or give another -o"));
                }
            }
        }
        Ok(missing)
    }

    /// Removes pictures of dwell that have the name of a frame.
    fn remove_others(&self) -> Result<(), Failure> {
        let folder = &self.target.folder;
        let there = self.target.frames_there().map_err(|source| Error::Write { path: folder.clone(), source })?;
        for path in there {
            // A picture that is cut off has no text that counts, and is replaced.
            if target::text_of(&path)?.is_some() {
                std::fs::remove_file(&path).map_err(|source| Error::Write { path: path.clone(), source })?;
            }
        }
        Ok(())
    }

    /// Renders frames.
    fn render(&mut self, missing: &[u32], found: &Found) -> Result<(), Failure> {
        let (began, mut before, mut scratch) = (Instant::now(), 0.0, Scratch::default());
        let _keep = KeepReferences::default();
        let mut resampler = self.resampler()?;
        let cost = |number: usize| {
            let (frame, last) = (missing[number], number.checked_sub(1).map(|last| missing[last]));
            let shares = resampler.as_ref().map(|made| made.new_samples(&self.film, last, frame) + RESAMPLING);
            self.cost(frame, &found.seconds) * shares.unwrap_or(1.0)
        };
        let costs: Vec<f64> = (0..missing.len()).map(cost).collect();
        let total: f64 = costs.iter().sum();
        for (number, (frame, cost)) in missing.iter().zip(costs).enumerate() {
            self.remark_if_interrupted(self.frames() - (missing.len() - number) as u32);
            let engine = self.engines.of(&self.film.scene(*frame))?;
            let output = Output::create(&self.target.frame(*frame), false, &self.interrupt.partial_files)?;
            let progress = Progress::default();
            let control = Control { cancel: &self.interrupt.cancel, progress: &progress };
            let share = cost / total.max(f64::MIN_POSITIVE);
            let what = format!("frame {} of {}", frame + 1, self.frames());
            let rendered = Span::of(began, before, share).during(self.is_watched(), &what, &progress, || {
                let journaling = Some(self.journaling.clone());
                let means = Means { engine: engine.as_ref(), limits: self.limits, control, journaling };
                match &mut resampler {
                    Some(made) => made.frame(&self.film, *frame, &means, output, &mut scratch),
                    None => self.film.render(*frame, &means, output, &mut scratch).map(|report| report.warnings),
                }
            });
            before += share;
            match rendered {
                Ok(warnings) => self.warn(warnings),
                Err(error) => {
                    if matches!(error, Error::Interrupted) {
                        self.interrupt.print_remark();
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// Prints warnings of frames, each once for a film.
    fn warn(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            if !self.args.quiet && !self.warned.contains(&warning) {
                output::remark(&format!("warning: {warning}"));
                self.warned.push(warning);
            }
        }
    }

    /// What resamples the frames, if they are.
    fn resampler(&mut self) -> Result<Option<Resampler>, Failure> {
        if self.method == Method::Direct {
            return Ok(None);
        }
        Ok(Some(Resampler::new(&self.film, &self.limits)?))
    }

    /// What a frame is expected to take, in proportion to the probes of the stations around it.
    fn cost(&self, frame: u32, seconds: &[f64]) -> f64 {
        let Some(last) = seconds.len().checked_sub(1) else { return 1.0 };
        let at = self.film.course().depth(frame) / self.film.course().octaves() * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the number of stations")]
        let below = (at.floor() as usize).min(last);
        let above = (below + 1).min(last);
        (seconds[below] + (seconds[above] - seconds[below]) * (at - below as f64)).max(1e-3)
    }

    /// Sets the remark at the end of an interrupted program.
    fn remark_if_interrupted(&self, done: u32) {
        if !self.args.quiet {
            let text = format!("interrupted with {done} of {} frames; the same command goes on", self.frames());
            self.interrupt.set_remark(Some(text));
        }
    }

    /// Removes the frames of a film that is complete, and their folder if nothing else is in it.
    fn remove_frames(&self) {
        // What cannot be removed stays, and does no harm.
        for path in (0..self.frames()).map(|frame| self.target.frame(frame)).chain([self.target.record()]) {
            _ = std::fs::remove_file(path);
        }
        _ = std::fs::remove_dir(&self.target.folder);
    }

    fn summarise(&self, kept: usize, began: Instant) {
        if self.args.quiet {
            return;
        }
        let course = self.film.course();
        let [from, to] = course.ends().map(|zoom| output::tame(zoom.text(), 30));
        let kept = if kept > 0 { format!(", of which {kept} were there") } else { String::new() };
        output::remark_to_person(&format!(
            "wrote {}: {} frames of {}{kept}, zoom {from} to {to}, in {}",
            self.target.name().display(),
            course.frames(),
            self.film.scene(0).view.size,
            progress_bar::duration(began.elapsed().as_secs_f64())
        ));
    }
}
