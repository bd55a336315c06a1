//! Computes a field or renders a picture in memory, in one call.

use super::picture::Picture;
use super::scratch::Scratch;
use super::{check_samples, contained};
use crate::base::cancel::Cancel;
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{Limits, resize};
use crate::base::pieces::ChunksMut;
use crate::base::progress::Progress;
use crate::base::schedule::Schedule;
use crate::colour::{Painter, Samples};
use crate::encode::chunk_rows;
use crate::field::Field;
use crate::field::channels::ChannelSet;
use crate::iterate::engine::{Engine, Notes, Outcome, Task, Times};
use crate::plan::Plan;
use crate::render::automatic::resolve;
use crate::render::field_filler::FieldFiller;
use crate::render::mirror::{self, Mirror};
use crate::render::refine::Refiner;
use crate::scene::Automatic;
use crate::scene::Scene;
use crate::view::settings::Settings;
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
    contained(|| fill(task, engine, limits, &control, &mut field, &mut mirror, 0))?;
    Ok(field)
}

/// Computes the whole field of a task. `other_bytes` are planned for other buffers and count towards the limit.
fn fill(
    task: &Task<'_>,
    engine: &dyn Engine,
    limits: &Limits,
    control: &Control<'_>,
    field: &mut Field,
    mirror: &mut Mirror,
    other_bytes: u64,
) -> Result<Outcome, Error> {
    let (plan, channels) = (task.plan, task.channels);
    let size = plan.size();
    let max_mirrored = if mirror::is_needed(engine, task) { u64::MAX } else { 0 };
    let buffers =
        Mirror::bytes(plan, channels, max_mirrored).saturating_add(engine.requirements(task, size.height).host_bytes);
    let bytes = channels.bytes(size.pixels()).saturating_add(buffers).saturating_add(other_bytes);
    limits.reserve("the field", bytes)?;
    field.prepare(size.width, 0..size.height, channels)?;
    mirror.prepare(plan, channels, max_mirrored);
    let mut filler = FieldFiller::new(*task, engine, *control, mirror, None);
    filler.fill(field, size.height, |_, _| Ok(()))?;
    let seconds = filler.tally.seconds;
    let times = Times {
        iterate: Duration::from_secs_f64(seconds.iterate),
        channels: Duration::from_secs_f64(seconds.colour),
        ..Times::default()
    };
    Ok(Outcome { times, notes: filler.tally.notes })
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
        let computed = contained(|| fill(task, engine, limits, control, &mut self.kept, &mut self.mirror, 0));
        if computed.is_err() {
            // A panic may have left the buffers in any state.
            *self = Self::default();
        }
        computed.map(|outcome| (&self.kept, outcome))
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
        let picture = &mut self.picture;
        resize(&mut picture.bytes, length, 0, "the picture")?;
        let painting = engine.painting().filter(|painting| painting.can_paint(&task, &painter));
        if let Some(painting) = painting {
            let outcome = painting.paint(&task, &painter, 0..plan.size().height, &mut picture.bytes, control)?;
            notes.add(outcome.notes);
        } else {
            let (field, mirror) = (&mut self.kept, &mut self.mirror);
            notes.add(fill(&task, engine, limits, control, field, mirror, length as u64)?.notes);
            if scene.colouring.needs_counts() {
                painter.count(field.all_rows(), engine.pool())?;
                painter.finish_counting()?;
            }
            let refiner = match samples {
                Samples::Auto => Refiner::new(&painter, &plan, task.channels, engine, *control)?,
                Samples::Fixed(_) => None,
            };
            paint(&painter, refiner.as_ref(), field, engine, line, &mut picture.bytes)?;
        }
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
    let rows = chunk_rows(line as u64);
    let samples = painter.side();
    let chunks = ChunksMut::new(picture, line * rows as usize);
    let work = |(): &mut (), (number, out): (usize, &mut [u8])| {
        let first = number as u32 * rows * samples;
        let end = first.saturating_add(rows * samples).min(field.rows().end);
        match refiner {
            Some(refiner) => drop(refiner.paint(field, first..end, out)?),
            None => painter.paint(field.some_rows(first..end), number as u32 * rows, out),
        }
        Ok(())
    };
    engine.pool().for_each::<Error, _, _>(Schedule::default(), chunks, || Ok(()), work).map(drop)
}
