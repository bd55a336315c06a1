//! A view in stages: what its scene leaves to be found, an eighth of its width and height, all its pixels from top to bottom, and the
//! picture that a render of the scene gives.
//!
//! A page that paints gets dwells, so that other colours need no iteration. Where colours need more than a dwell and a value
//! (layers, equalised colours, dwells beyond 32 bits), the server paints and the page gets pictures.

use crate::frame::{Header, Stage, of_field, of_picture};
use dwell::{
    Automatic, ChannelSet, Control, Depth, Engine, Error, Field, Limits, NumberKind, Outcome, PaintOutcome, Picture,
    Plan, Resolved, Samples, Scale, Scene, Scratch, Settings, Size, Strategy, Task,
};
use serde::Serialize;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Pixels on a side of the full view for each pixel of the coarse one.
const COARSER: u32 = 8;
/// The least and the greatest time between two messages of rows, and how many come of a view that takes longer than these. Threads wait for
/// one another at the end of each, and a browser without a graphics device draws each with a processor.
const SHORTEST_SLICE: Duration = Duration::from_millis(30);
const LONGEST_SLICE: Duration = Duration::from_millis(400);
const SLICES: u32 = 8;
/// Bytes of a pixel of a picture, and the most of a message, so that some are sent while others are painted.
const PIXEL_BYTES: usize = 3;
const MOST_MESSAGE: usize = 4 << 20;

/// What a page wants to see.
pub(crate) struct Wanted {
    pub(crate) id: u32,
    /// The scene, of which something may be left to be found, with the view that is shown.
    pub(crate) scene: Scene,
    /// Whether the page paints where it can.
    pub(crate) page_paints: bool,
    /// Whether the view rests, so that its picture is wanted.
    pub(crate) rests: bool,
}

/// What has been done in a stage.
#[derive(Debug, Serialize)]
pub(crate) struct Done {
    stage: &'static str,
    seconds: f64,
    #[serde(flatten)]
    counted: Counted,
}

/// What the dwells of a view tell.
#[derive(Clone, Debug, Default, Serialize)]
struct Counted {
    /// What the plain loop needs, as a text: it may exceed 53 bits.
    iterations: String,
    interior_pixels: u64,
    /// Whether every dwell is proved to be that of exact arithmetic.
    exact: bool,
}

/// The computation of a view whose scene is complete.
pub(crate) struct Stages<'a> {
    pub(crate) id: u32,
    pub(crate) complete: &'a Complete,
    pub(crate) engine: &'a dyn Engine,
    pub(crate) limits: &'a Limits,
    pub(crate) control: Control<'a>,
}

/// A view whose scene is complete.
pub(crate) struct Complete {
    pub(crate) resolved: Resolved,
    /// Whether the page paints.
    pub(crate) on_page: bool,
    /// The time between two messages of rows.
    slice: Duration,
    /// One sample in each pixel. It is kept from the first stage on, since plans of one deep view share its reference orbit while one
    /// of them is in use.
    plan: Plan,
}

/// Finds what a scene leaves to be found.
pub(crate) fn complete(
    wanted: &Wanted,
    engine: &dyn Engine,
    limits: &Limits,
    control: &Control<'_>,
) -> Result<Complete, Error> {
    let scene = Scene { depth: Depth::Eight, ..wanted.scene.clone() };
    scene.sample_view()?;
    let settings = Settings { number: scene.number(), ..scene.settings.clone() };
    let plan = Plan::new(&scene.view, &settings, limits)?;
    let resolved = dwell::resolve(&scene, engine, limits, control)?;
    let plan = plan.with_limit(resolved.scene.settings.limit);
    let on_page = wanted.page_paints && can_be_painted_by_a_page(&resolved.scene);
    Ok(Complete { resolved, on_page, slice: SHORTEST_SLICE, plan })
}

impl Complete {
    /// Expects the time of all pixels from that of the coarse ones.
    pub(crate) fn expect(&mut self, coarse: &Done) {
        let all = Duration::from_secs_f64(coarse.seconds * f64::from(COARSER * COARSER));
        self.slice = (all / SLICES).clamp(SHORTEST_SLICE, LONGEST_SLICE);
    }
}

/// Whether the dwell and one value of a pixel determine its colour.
fn can_be_painted_by_a_page(scene: &Scene) -> bool {
    let colouring = &scene.colouring;
    colouring.layers.is_empty() && colouring.scale != Scale::Histogram && u32::try_from(scene.settings.limit).is_ok()
}

impl Stages<'_> {
    /// An eighth of the width and height.
    pub(crate) fn coarse(&self, send: &mut dyn FnMut(Vec<u8>) -> Result<(), Error>) -> Result<Done, Error> {
        let Size { width, height } = self.complete.plan.size();
        let size = Size::new(width.div_ceil(COARSER), height.div_ceil(COARSER))?;
        let scene = self.sampled_once(size);
        let plan = Plan::new(&scene.view, &scene.settings, self.limits)?;
        self.all_pixels(&scene, &plan, Stage::Coarse, &mut Scratch::default(), send).map(|(done, _)| done)
    }

    /// All pixels with one sample each; and where the view rests, its picture.
    pub(crate) fn full(
        &self,
        rests: bool,
        scratch: &mut Scratch,
        send: &mut dyn FnMut(Vec<u8>) -> Result<(), Error>,
        told: &mut dyn FnMut(Done) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Complete { resolved, on_page, plan, .. } = self.complete;
        let (whole, size) = (&resolved.scene, plan.size());
        // A painted picture of one sample a pixel would soon be replaced.
        let (mut all, mut has_field) = (None, false);
        if *on_page || !rests || whole.samples == Samples::Fixed(1) {
            let done = self.all_pixels(&self.sampled_once(size), plan, Stage::Full, scratch, send)?;
            (all, has_field) = (Some(done.0.counted.clone()), done.1);
            told(done.0)?;
        }
        if !rests {
            return Ok(());
        }
        let begun = Instant::now();
        let picture = if whole.samples.side() == 1 && (has_field || all.is_none()) {
            let task = task(plan, whole);
            if all.is_none() {
                let (field, outcome) = scratch.field(&task, self.engine, self.limits, &self.control)?;
                all = Some(Counted::of(whole, field, plan.limit(), &outcome));
            }
            scratch.painted(whole, &task, self.engine, self.limits, &self.control)?
        } else {
            scratch.picture(whole, self.engine, self.limits, &self.control)?
        };
        self.send_picture(Stage::Final, picture, send)?;
        told(Done {
            stage: Stage::Final.name(),
            seconds: begun.elapsed().as_secs_f64(),
            counted: all.unwrap_or_default(),
        })
    }

    /// Sends a picture in pieces that are not large.
    fn send_picture(
        &self,
        stage: Stage,
        picture: &Picture,
        send: &mut dyn FnMut(Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let size = picture.size();
        let rows = rows_at_once(size);
        let pieces = picture.bytes().chunks(PIXEL_BYTES * size.width as usize * rows as usize);
        for (first, bytes) in (0..size.height).step_by(rows as usize).zip(pieces) {
            send(of_picture(self.header(stage, size, first..first.saturating_add(rows).min(size.height)), bytes))?;
        }
        Ok(())
    }

    /// The scene at a size, with one sample in each pixel.
    fn sampled_once(&self, size: Size) -> Scene {
        let scene = &self.complete.resolved.scene;
        let view = scene.view.clone().sized(size);
        Scene { view, samples: Samples::Fixed(1), automatic: Automatic::NONE, ..scene.clone() }
    }

    fn header(&self, stage: Stage, size: Size, rows: Range<u32>) -> Header {
        Header { view: self.id, stage, size, first_row: rows.start, rows: rows.end - rows.start }
    }

    /// All pixels of a scene with one sample each: as dwells while they are computed, or as a picture; and whether the field is in memory
    /// afterwards.
    fn all_pixels(
        &self,
        scene: &Scene,
        plan: &Plan,
        stage: Stage,
        scratch: &mut Scratch,
        send: &mut dyn FnMut(Vec<u8>) -> Result<(), Error>,
    ) -> Result<(Done, bool), Error> {
        let Self { engine, limits, control, complete: Complete { on_page, slice, .. }, .. } = self;
        let begun = Instant::now();
        let (task, by, size) = (task(plan, scene), scene.colouring.by, plan.size());
        control.progress.start(size.pixels(), Vec::new());
        let done = |counted| Done { stage: stage.name(), seconds: begun.elapsed().as_secs_f64(), counted };
        if !on_page {
            let finished = |bytes: &[u8], rows: Range<u32>| send(of_picture(self.header(stage, size, rows), bytes));
            let rows = rows_at_once(size);
            let painted = scratch.painted_by_engine(scene, &task, *engine, limits, control, rows, finished)?;
            if let Some(outcome) = painted {
                return Ok((done(Counted::of_painted(&outcome)), false));
            }
        }
        let finished = |field: &Field, rows: Range<u32>| {
            if !on_page {
                return Ok(());
            }
            send(of_field(self.header(stage, size, rows.clone()), field.some_rows(rows), by))
        };
        let outcome = scratch.field_by_rows(&task, *engine, limits, control, *slice, finished)?;
        if !on_page {
            let picture = scratch.painted(scene, &task, *engine, limits, control)?;
            self.send_picture(stage, picture, send)?;
        }
        Ok((done(Counted::of(scene, scratch.last_field(), plan.limit(), &outcome)), true))
    }
}

/// Rows of a picture that are one message.
fn rows_at_once(size: Size) -> u32 {
    (MOST_MESSAGE / (PIXEL_BYTES * size.width as usize)).clamp(1, size.height.max(1) as usize) as u32
}

/// The dwells of a scene, and what its colours need.
fn task<'p>(plan: &'p Plan, scene: &Scene) -> Task<'p> {
    let channels = scene.colouring.channels().and(ChannelSet::of_dwells(plan.limit()));
    Task { plan, strategy: Strategy::EveryPixel, channels }
}

impl Counted {
    /// Devices that paint compute in f32 and f64.
    fn of_painted(outcome: &PaintOutcome) -> Self {
        let PaintOutcome { iterations, interior_pixels, .. } = *outcome;
        Self { iterations: iterations.to_string(), interior_pixels, exact: false }
    }

    fn of(scene: &Scene, field: &Field, limit: u64, outcome: &Outcome) -> Self {
        let rows = field.all_rows();
        let is_proved = outcome.notes.deep.as_ref().is_none_or(|deep| deep.unproved == 0);
        Self {
            iterations: rows.iterations(limit).to_string(),
            interior_pixels: rows.interior_pixels(),
            exact: scene.settings.number == NumberKind::Exact && is_proved,
        }
    }
}
