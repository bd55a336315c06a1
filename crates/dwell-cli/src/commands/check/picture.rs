//! The check of a picture against its own text, by a second render.

use super::{FileReport, Job, PixelReport, Verdict, damage};
use crate::error_text::{Failure, Usage};
use crate::{choice, engine, output, progress_bar, scene};
use dwell::compare::{Compared, PictureCheck, Raster, check_png_chunks};
use dwell::store::Output;
use dwell::{
    Control, Engine, Error, Format, InputError, Location, Paint, Plan, Problem, Progress, Report, Request, Resolved,
    Scene, Scratch, quote,
};
use dwell_engines::Work;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The first bytes of every PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Whether a file begins as a PNG, or has the name of one.
fn is_png(path: &Path) -> Result<bool, Failure> {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(PNG.len() as u64).read_to_end(&mut head));
    read.map_err(|e| {
        let problem = Problem::Unreadable { why: e.to_string() };
        InputError::new(problem).within(dwell::Place::File(path.to_owned()))
    })?;
    Ok(head == PNG || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")))
}

impl Job<'_> {
    /// Checks a picture against its own text.
    pub(super) fn picture(&self, path: &Path) -> Result<FileReport, Failure> {
        let name = path.to_string_lossy();
        if !is_png(path)? {
            return Err(Usage::new(quote(&name), "is no PNG, and only a PNG made by dwell stores what it shows")
                .hint("--stats STATS checks a file of any format against the statistics of its render")
                .into());
        }
        // The checksums come first: a damaged file is not rendered.
        if let Err(error) = self.stage("reading", |controls| check_png_chunks(path, controls)) {
            return damage(error);
        }
        let location = Location::read(path).map_err(|error| {
            let is_bare = matches!(&error, Error::Input(e) if matches!(e.problem(), Problem::NoScene { .. } | Problem::Comparison));
            let failure = Failure::from(error);
            if is_bare { failure.hint("--stats STATS checks it against the statistics of its render") } else { failure }
        })?;
        scene::remark_on(path, &location);
        self.against(path, &location.scene)
    }

    /// Compares a picture with a render of the scene.
    fn against(&self, path: &Path, scene: &Scene) -> Result<FileReport, Failure> {
        let raster = match Raster::open(path, &self.limits) {
            Ok(raster) => raster,
            Err(error) => return damage(error),
        };
        let (found, recorded) = (raster.size(), scene.view.size);
        if found != recorded {
            let message = format!(
                "has {} x {} pixels, and its record {} x {}",
                found.width, found.height, recorded.width, recorded.height
            );
            return Ok(FileReport::new(Verdict::Different, message));
        }
        let (check, output) = PictureCheck::start(raster, recorded, scene.depth)?;
        let rendered = self.render(path, scene, output);
        if let Some(found) = check.damage() {
            return damage(found.into());
        }
        let report = rendered?;
        match check.finish() {
            Ok(compared) => Ok(verdict(compared, report)),
            Err(error) => damage(error.into()),
        }
    }

    /// Renders a scene into `output` as a PPM.
    fn render(&self, path: &Path, scene: &Scene, output: Output) -> Result<Report, Failure> {
        let view = scene.sample_view()?;
        let plan = Plan::new(&view, &scene.settings, &self.limits).map_err(|e| self.shortage(e))?;
        let progress = Progress::default();
        let engine = self.engine(scene, &plan, &progress)?;
        let what = format!("checking {}", output::tame(&path.to_string_lossy(), 24));
        let control = Control { cancel: &self.interrupt.cancel, progress: &progress };
        let resolved = progress_bar::during(self.watched, &what, &progress, || {
            dwell::resolve(scene, engine.as_ref(), &self.limits, &control)
        });
        let Resolved { scene, .. } = &resolved?;
        let plan = plan.with_limit(scene.settings.limit);
        let request = self.request(scene, &plan, engine.as_ref(), &progress);
        dwell::layout(&request, &[Format::Ppm]).map_err(|e| self.shortage(e))?;
        let rendered = progress_bar::during(self.watched, &what, &progress, || {
            dwell::render(&request, vec![(Format::Ppm, output)], &mut Scratch::default())
        });
        Ok(rendered?)
    }

    fn request<'r>(
        &'r self,
        scene: &'r Scene,
        plan: &'r Plan,
        engine: &'r dyn Engine,
        progress: &'r Progress,
    ) -> Request<'r> {
        let control = Control { cancel: &self.interrupt.cancel, progress };
        Request::new(plan, engine, Paint::of(scene, ""), control)
            .with_strategy(scene.strategy)
            .with_limits(self.limits)
            .with_observer(self.watched)
    }

    /// The engine that the flags choose for a scene.
    fn engine(&self, scene: &Scene, plan: &Plan, progress: &Progress) -> Result<Arc<dyn Engine>, Failure> {
        let cpu = engine::engine(&self.args.engine)?.with_shortcuts(scene.shortcuts).with_tile(scene.tile);
        let work = Work {
            pixels: plan.size().pixels(),
            strategy: scene.strategy,
            channels: scene.colouring.channels(),
            number: plan.number(),
        };
        let name = choice::name(self.args.engine_choice.engine.as_deref())?;
        let processors = cpu.like();
        let (engine, remark) = choice::choose(name, cpu, None, work)?;
        if let Some(remark) = remark.filter(|_| !self.args.quiet) {
            output::remark(&remark);
        }
        if engine.info().name != "cpu" && choice::is_free(name) {
            // A device needs buffers of its own. Where they do not fit, the processors may still render the picture.
            let request = self.request(scene, plan, engine.as_ref(), progress);
            if dwell::layout(&request, &[Format::Ppm]).is_err() {
                return Ok(Arc::new(processors));
            }
        }
        Ok(engine)
    }

    /// The failure of a plan or a layout. One about memory names the flag that helps.
    fn shortage(&self, error: InputError) -> Failure {
        let failure = Failure::from(error);
        if !failure.is_about_memory() {
            return failure;
        }
        let failure = if self.args.max_memory.is_some() { failure.about("--max-memory") } else { failure };
        failure.hint("or allow more memory, or use fewer threads")
    }
}

/// The report of a comparison with a render.
fn verdict(compared: Compared, report: Report) -> FileReport {
    let Compared { pixels, differing_pixels, first, .. } = compared;
    let by = format!("{}, {}, {:.2} s", report.engine, report.level, report.seconds.total);
    let (verdict, message) = match first.first() {
        None => (Verdict::Same, format!("all {pixels} pixels are those of its record ({by})")),
        Some(pixel) => {
            let message = format!(
                "{differing_pixels} of {pixels} pixels differ from its record, the first at column {}, row {}: {} in the \
                 file, {} rendered ({by})",
                pixel.column, pixel.row, pixel.a, pixel.b
            );
            (Verdict::Different, message)
        }
    };
    let pixels = PixelReport {
        pixels,
        differing_pixels,
        first,
        engine: report.engine,
        level: report.level,
        seconds: report.seconds.total,
    };
    FileReport { pixels: Some(pixels), ..FileReport::new(verdict, message) }
}
