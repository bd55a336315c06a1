//! A view in stages: what its scene leaves to be found, an eighth of its width and height, all its pixels from top to bottom, and the
//! picture that a render of the scene gives.
//!
//! A page that paints gets dwells, so that other colours need no iteration. Where colours need more than a dwell and a value
//! (layers, equalised colours, dwells beyond 32 bits), the server paints and the page gets pictures.

use crate::frame::{Header, Stage, of_field, of_picture};
use dwell::{
    Automatic, ChannelSet, Control, Depth, Engine, Error, Field, Limits, NumberKind, Outcome, Plan, Resolved, Samples,
    Scale, Scene, Scratch, Settings, Size, Strategy, Task,
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
        self.all_pixels(&scene, &plan, Stage::Coarse, &mut Scratch::default(), send)
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
        let mut all = None;
        if *on_page || !rests || whole.samples == Samples::Fixed(1) {
            let done = self.all_pixels(&self.sampled_once(size), plan, Stage::Full, scratch, send)?;
            all = Some(done.counted.clone());
            told(done)?;
        }
        if !rests {
            return Ok(());
        }
        let begun = Instant::now();
        let header = self.header(Stage::Final, size, 0..size.height);
        if whole.samples.side() == 1 {
            let task = task(plan, whole);
            if all.is_none() {
                let (field, outcome) = scratch.field(&task, self.engine, self.limits, &self.control)?;
                all = Some(Counted::of(whole, field, plan.limit(), &outcome));
            }
            let picture = scratch.painted(whole, &task, self.engine, self.limits, &self.control)?;
            send(of_picture(header, picture.bytes()))?;
        } else {
            let picture = scratch.picture(whole, self.engine, self.limits, &self.control)?;
            send(of_picture(header, picture.bytes()))?;
        }
        told(Done {
            stage: Stage::Final.name(),
            seconds: begun.elapsed().as_secs_f64(),
            counted: all.unwrap_or_default(),
        })
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

    /// All pixels of a scene with one sample each: as dwells while they are computed, or as a picture in the end.
    fn all_pixels(
        &self,
        scene: &Scene,
        plan: &Plan,
        stage: Stage,
        scratch: &mut Scratch,
        send: &mut dyn FnMut(Vec<u8>) -> Result<(), Error>,
    ) -> Result<Done, Error> {
        let begun = Instant::now();
        let (task, by, size) = (task(plan, scene), scene.colouring.by, plan.size());
        self.control.progress.start(size.pixels(), Vec::new());
        let finished = |field: &Field, rows: Range<u32>| {
            if !self.complete.on_page {
                return Ok(());
            }
            send(of_field(self.header(stage, size, rows.clone()), field.some_rows(rows), by))
        };
        let outcome =
            scratch.field_by_rows(&task, self.engine, self.limits, &self.control, self.complete.slice, finished)?;
        if !self.complete.on_page {
            let picture = scratch.painted(scene, &task, self.engine, self.limits, &self.control)?;
            send(of_picture(self.header(stage, size, 0..size.height), picture.bytes()))?;
        }
        let counted = Counted::of(scene, scratch.last_field(), plan.limit(), &outcome);
        Ok(Done { stage: stage.name(), seconds: begun.elapsed().as_secs_f64(), counted })
    }
}

/// The dwells of a scene, and what its colours need.
fn task<'p>(plan: &'p Plan, scene: &Scene) -> Task<'p> {
    let channels = scene.colouring.channels().and(ChannelSet::of_dwells(plan.limit()));
    Task { plan, strategy: Strategy::EveryPixel, channels }
}

impl Counted {
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
