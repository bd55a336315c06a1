//! Computes a field or renders a picture in memory, in one call.

use super::picture::Picture;
use super::scratch::Scratch;
use super::{check_samples, contained};
use crate::base::cancel::Cancel;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::{Limits, resize};
use crate::base::pieces::ChunksMut;
use crate::base::problem::Problem;
use crate::base::progress::Progress;
use crate::base::schedule::Schedule;
use crate::colour::{Painter, Samples};
use crate::encode::chunk_rows;
use crate::field::Field;
use crate::field::channels::ChannelSet;
use crate::iterate::engine::{Engine, Notes, Outcome, PaintOutcome, Task, Times};
use crate::plan::Plan;
use crate::render::automatic::resolve;
use crate::render::field_filler::FieldFiller;
use crate::render::mirror::{Mirror, Originals};
use crate::render::pipeline::division::Division;
use crate::render::refine::Refiner;
use crate::scene::Automatic;
use crate::scene::Scene;
use crate::view::Size;
use crate::view::settings::{NumberKind, Settings};
use std::ops::Range;
use std::time::Duration;

/// Renders a scene into memory, with what the scene leaves to be found ([`crate::resolve`]). The engine paints the picture if it can. Shortcuts, schedule and tiles are those of the
/// engine.
///
/// ```
/// use dwell::{CpuEngine, Scene, Size};
///
/// let mut scene = Scene::default();
/// scene.view = scene.view.sized(Size::new(96, 54)?);
/// let picture = dwell::picture(&scene, &CpuEngine::default(), &Default::default(), &Default::default())?;
/// assert_eq!(picture.bytes().len(), 96 * 54 * 3);
/// # Ok::<(), dwell::Error>(())
/// ```
///
/// [`Scratch::picture`] does the same with buffers that are kept from call to call.
///
/// # Errors
/// [`Error::Input`] when a value of the scene is out of range or the picture would take more memory than `limits` allows,
/// [`Error::Interrupted`] when `cancel` was cancelled, [`Error::Internal`] when a thread panicked.
pub fn picture(scene: &Scene, engine: &dyn Engine, limits: &Limits, cancel: &Cancel) -> Result<Picture, Error> {
    let mut scratch = Scratch::default();
    scratch.picture(scene, engine, limits, &Control { cancel, progress: &Progress::default() })?;
    Ok(scratch.picture)
}

/// Computes the whole field of a task in memory.
///
/// ```
/// use dwell::{ChannelSet, CpuEngine, Plan, Scene, Size, Strategy, Task};
///
/// let mut scene = Scene::default();
/// scene.view = scene.view.sized(Size::new(96, 54)?);
/// let plan = Plan::new(&scene.view, &scene.settings, &Default::default())?;
/// let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::SMOOTH };
/// let field = dwell::field(&task, &CpuEngine::default(), &Default::default(), &Default::default())?;
/// assert!(field.smooth().len() == 96 * 54 && field.interior_pixels() > 0);
/// # Ok::<(), dwell::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`] when the field would take more memory than `limits` allows, [`Error::Interrupted`] when `cancel` was
/// cancelled, [`Error::Internal`] when a thread panicked.
pub fn field(task: &Task<'_>, engine: &dyn Engine, limits: &Limits, cancel: &Cancel) -> Result<Field, Error> {
    let control = Control { cancel, progress: &Progress::default() };
    let (mut field, mut mirror) = (Field::default(), Mirror::default());
    contained(|| Filling::new(task, engine, limits, &control).fill(&mut field, &mut mirror, |_, _| Ok(())))?;
    Ok(field)
}

/// How a whole field is computed.
struct Filling<'a> {
    task: &'a Task<'a>,
    engine: &'a dyn Engine,
    limits: &'a Limits,
    control: &'a Control<'a>,
    /// Bytes that are planned for other buffers and count towards the limit.
    other_bytes: u64,
    /// The time between two calls of what is told of finished rows; `None` for one call at the end.
    slice_time: Option<Duration>,
}

impl<'a> Filling<'a> {
    fn new(task: &'a Task<'a>, engine: &'a dyn Engine, limits: &'a Limits, control: &'a Control<'a>) -> Self {
        Self { task, engine, limits, control, other_bytes: 0, slice_time: None }
    }

    /// Computes the field from top to bottom, and calls `finished` with it and the rows that were finished last.
    fn fill(
        self,
        field: &mut Field,
        mirror: &mut Mirror,
        mut finished: impl FnMut(&Field, Range<u32>) -> Result<(), Error>,
    ) -> Result<Outcome, Error> {
        let Self { task, engine, limits, control, other_bytes, slice_time } = self;
        let (plan, channels) = (task.plan, task.channels);
        let size = plan.size();
        let buffers = engine.requirements(task, size.height).host_bytes;
        let bytes = channels.bytes(size.pixels()).saturating_add(buffers).saturating_add(other_bytes);
        limits.reserve("the field", bytes)?;
        field.prepare(size.width, 0..size.height, channels)?;
        mirror.prepare(plan, channels, Originals::in_field(engine, task));
        let mut filler = FieldFiller::new(*task, engine, *control, mirror, slice_time);
        let mut first = 0;
        filler.fill(field, size.height, |filler, field| {
            finished(field, first..filler.complete)?;
            first = filler.complete;
            Ok(())
        })?;
        let seconds = filler.tally.seconds;
        let times = Times {
            iterate: Duration::from_secs_f64(seconds.iterate),
            channels: Duration::from_secs_f64(seconds.colour),
            ..Times::default()
        };
        Ok(Outcome { times, notes: filler.tally.notes })
    }
}

impl Scratch {
    /// Computes the whole field of a task into buffers that are kept from call to call, with the time that the engine took
    /// and its notes. The field is valid until the next call.
    ///
    /// # Errors
    /// As [`field()`].
    pub fn field(
        &mut self,
        task: &Task<'_>,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
    ) -> Result<(&Field, Outcome), Error> {
        let filling = Filling::new(task, engine, limits, control);
        let computed = contained(|| filling.fill(&mut self.kept, &mut self.mirror, |_, _| Ok(())));
        if computed.is_err() {
            // A panic may have left the buffers in any state.
            *self = Self::default();
        }
        computed.map(|outcome| (&self.kept, outcome))
    }

    /// Computes the whole field of a task as [`Self::field`] does, from top to bottom, and calls `finished` about every `slice_time`
    /// with the field, in which the rows given are finished and were not before.
    ///
    /// # Errors
    /// As [`field()`], and those of `finished`, which end the computation.
    pub fn field_by_rows(
        &mut self,
        task: &Task<'_>,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
        slice_time: Duration,
        finished: impl FnMut(&Field, Range<u32>) -> Result<(), Error>,
    ) -> Result<Outcome, Error> {
        let filling = Filling { slice_time: Some(slice_time), ..Filling::new(task, engine, limits, control) };
        let computed = contained(|| filling.fill(&mut self.kept, &mut self.mirror, finished));
        if computed.is_err() {
            *self = Self::default();
        }
        computed
    }

    /// Paints the field that the last call computed by the task given then, whose channels are at least those of the colouring: the
    /// picture that [`picture()`] returns for the scene. Nothing of the scene may be left to be found, and its samples are one a pixel
    /// or [`Samples::Auto`].
    ///
    /// # Errors
    /// As [`picture()`]; [`Error::Input`] where the field is not one of that task.
    pub fn painted(
        &mut self,
        scene: &Scene,
        task: &Task<'_>,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
    ) -> Result<&Picture, Error> {
        let rendered = contained(|| self.paint_kept(scene, task, engine, limits, control));
        if rendered.is_err() {
            *self = Self::default();
        }
        rendered.map(|()| &self.picture)
    }

    /// Has an engine that paints paint a scene whose samples are one a pixel, some rows at a time from the top, and calls `finished` with
    /// the bytes of each and their rows; nothing of the scene may be left to be found. Afterwards there is no field in memory. `None` where the engine does not paint the task.
    ///
    /// # Errors
    /// As [`picture()`], and those of `finished`, which end the computation.
    #[expect(clippy::too_many_arguments, reason = "those of its sisters, and how it is divided")]
    pub fn painted_by_engine(
        &mut self,
        scene: &Scene,
        task: &Task<'_>,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
        rows_at_once: u32,
        mut finished: impl FnMut(&[u8], Range<u32>) -> Result<(), Error>,
    ) -> Result<Option<PaintOutcome>, Error> {
        let Scene { colouring, samples, depth, dither, .. } = scene;
        let painter = self.take_painter(colouring, task.plan.limit(), *depth, *samples, *dither)?;
        let painting = engine.painting().filter(|painting| painting.can_paint(task, &painter));
        let Some(painting) = painting.filter(|_| *samples == Samples::Fixed(1)) else {
            self.painter = Some(painter);
            return Ok(None);
        };
        let Size { width, height } = task.plan.size();
        let line = width as usize * painter.bytes_per_pixel();
        let rows_at_once = rows_at_once.clamp(1, height.max(1));
        let length = line.saturating_mul(rows_at_once as usize);
        limits.reserve("rows of the picture", length as u64)?;
        resize(&mut self.picture.bytes, length, 0, "rows of the picture")?;
        let mut all = PaintOutcome::default();
        for first in (0..height).step_by(rows_at_once as usize) {
            let rows = first..first.saturating_add(rows_at_once).min(height);
            let bytes = &mut self.picture.bytes[..line * rows.len()];
            let outcome = contained(|| painting.paint(task, &painter, rows.clone(), bytes, control))?;
            all.add(outcome);
            finished(bytes, rows)?;
        }
        self.painter = Some(painter);
        Ok(Some(all))
    }

    fn paint_kept(
        &mut self,
        scene: &Scene,
        task: &Task<'_>,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let Scene { colouring, samples, depth, dither, .. } = scene;
        let size = task.plan.size();
        let is_of_task = (self.kept.width(), self.kept.rows()) == (size.width, 0..size.height)
            && self.kept.all_rows().channels().set().includes(colouring.channels())
            && scene.automatic == Automatic::NONE
            && samples.side() == 1;
        if !is_of_task {
            let problem = "the field in memory is not one of this scene";
            return Err(InputError::new(Problem::Conflict(problem.to_owned())).into());
        }
        let finer = (*samples == Samples::Auto).then(|| task.plan.with_finer_points(limits)).transpose()?;
        let task = &Task { plan: finer.as_ref().unwrap_or(task.plan), ..*task };
        let mut painter = self.take_painter(colouring, task.plan.limit(), *depth, *samples, *dither)?;
        let line = size.width as usize * painter.bytes_per_pixel();
        let length = line.saturating_mul(size.height as usize);
        limits.reserve("the picture", length as u64)?;
        resize(&mut self.picture.bytes, length, 0, "the picture")?;
        let mut notes = Notes { warnings: task.plan.warnings().to_vec(), ..Notes::default() };
        notes.add(self.paint_field(&mut painter, scene, task, engine, *control, line)?);
        (self.picture.size, self.picture.depth, self.picture.notes) = (size, *depth, notes);
        self.painter = Some(painter);
        Ok(())
    }

    /// Paints the field that is kept, in lines of so many bytes. Returns what the engine reported of further samples.
    fn paint_field(
        &mut self,
        painter: &mut Painter,
        scene: &Scene,
        task: &Task<'_>,
        engine: &dyn Engine,
        control: Control<'_>,
        line: usize,
    ) -> Result<Notes, Error> {
        let field = &self.kept;
        if scene.colouring.needs_counts() {
            painter.count(field.all_rows(), engine.pool())?;
            painter.finish_counting()?;
        }
        let refiner = match scene.samples {
            Samples::Auto => Refiner::new(painter, task.plan, task.channels, engine, control)?,
            Samples::Fixed(_) => None,
        };
        paint(painter, refiner.as_ref(), field, engine, line, &mut self.picture.bytes)?;
        Ok(refiner.map_or_else(Notes::default, |refiner| refiner.take_notes()))
    }

    /// Renders a scene into buffers that are kept from call to call: a picture of the size and the colours of the one before
    /// allocates no buffer. The picture is valid until the next call.
    ///
    /// # Errors
    /// As [`picture()`].
    pub fn picture(
        &mut self,
        scene: &Scene,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
    ) -> Result<&Picture, Error> {
        let rendered = contained(|| self.render_picture(scene, engine, limits, control));
        if rendered.is_err() {
            // A panic may have left the buffers in any state.
            *self = Self::default();
        }
        rendered.map(|()| &self.picture)
    }

    fn render_picture(
        &mut self,
        scene: &Scene,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let settings = Settings { number: scene.number(), ..scene.settings.clone() };
        let plan = Plan::new(&scene.sample_view()?, &settings, limits)?;
        // A copy of the scene holds its palettes, so that it is made only where something is to be found.
        let found;
        let scene = if scene.automatic != Automatic::NONE {
            found = resolve(scene, engine, limits, control)?.scene;
            &found
        } else {
            scene
        };
        let mut plan = plan.with_limit(scene.settings.limit);
        check_samples(plan.size(), scene.samples, std::iter::empty())?;
        if scene.samples == Samples::Auto {
            plan = plan.with_finer_points(limits)?;
        }
        scene.colouring.check()?;
        let Scene { colouring, samples, depth, dither, .. } = scene;
        let mut painter = self.take_painter(colouring, plan.limit(), *depth, *samples, *dither)?;
        let channels = scene.colouring.channels().and(ChannelSet::of_dwells(plan.limit()));
        let task = Task { plan: &plan, strategy: scene.strategy, channels };
        let line = scene.view.size.width as usize * painter.bytes_per_pixel();
        let length = line.saturating_mul(scene.view.size.height as usize);
        limits.reserve("the picture", length as u64)?;
        let mut notes = Notes { warnings: plan.warnings().to_vec(), ..Notes::default() };
        let refines = plan.finer_points().is_some();
        control.progress.start(plan.size().pixels() * (1 + u64::from(refines)), Vec::new());
        resize(&mut self.picture.bytes, length, 0, "the picture")?;
        let painting = engine.painting().filter(|painting| painting.can_paint(&task, &painter));
        if let Some(painting) = painting {
            let outcome = painting.paint(&task, &painter, 0..plan.size().height, &mut self.picture.bytes, control)?;
            notes.add(outcome.notes);
        } else {
            let filling = Filling { other_bytes: length as u64, ..Filling::new(&task, engine, limits, control) };
            let of_field = filling.fill(&mut self.kept, &mut self.mirror, |_, _| Ok(()))?.notes;
            notes.add(self.paint_field(&mut painter, scene, &task, engine, *control, line)?);
            notes.add(of_field);
        }
        let picture = &mut self.picture;
        (picture.size, picture.depth, picture.notes) = (scene.view.size, scene.depth, notes);
        self.painter = Some(painter);
        Ok(())
    }
}

/// Paints a whole field on all threads of an engine.
fn paint(
    painter: &Painter,
    refiner: Option<&Refiner<'_>>,
    field: &Field,
    engine: &dyn Engine,
    line: usize,
    picture: &mut [u8],
) -> Result<(), Error> {
    let samples = painter.side();
    let size = [field.width(), field.rows().len() as u32];
    let band = match refiner {
        Some(refiner) => refiner.refine_band(field, field.rows())?,
        None => None,
    };
    let (threads, number) = (engine.pool().threads(), refiner.map_or(NumberKind::F64, Refiner::number));
    let division = Division::for_threads(chunk_rows(line as u64) * samples, samples, size, threads, number);
    let rows = division.piece_rows() / samples;
    let chunks = ChunksMut::new(picture, line * rows as usize);
    let work = |(): &mut (), (number, out): (usize, &mut [u8])| {
        let first = number as u32 * rows * samples;
        let end = first.saturating_add(rows * samples).min(field.rows().end);
        match refiner {
            Some(refiner) => drop(refiner.paint(field, band.as_ref(), first..end, out)?),
            None => painter.paint(field.some_rows(first..end), number as u32 * rows, out),
        }
        Ok(())
    };
    engine.pool().for_each::<Error, _, _>(Schedule::default(), chunks, || Ok(()), work).map(drop)
}
