//! The request for a render.

use crate::base::control::Control;
use crate::base::limits::Limits;
use crate::colour::{Colouring, Depth, Samples};
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::render::journal::Journaling;

/// What to render, with which engine and limits, and how the render is cancelled and observed.
///
/// ```
/// use dwell::{Cancel, Colouring, Control, CpuEngine, Format, Paint, Plan, Progress, Request, Scene, Scratch, Size};
/// use dwell::store::Output;
///
/// let mut scene = Scene::default();
/// scene.view = scene.view.sized(Size::new(96, 54)?);
/// let plan = Plan::new(&scene.view, &scene.settings, &Default::default())?;
/// let (engine, cancel, progress) = (CpuEngine::default(), Cancel::default(), Progress::default());
/// let request = Request::new(&plan, &engine, Paint::of(&scene, ""), Control { cancel: &cancel, progress: &progress })
///     .with_hash(true);
/// let (output, file) = Output::in_memory("picture.png");
/// let report = dwell::render(&request, vec![(Format::Png, output)], &mut Scratch::default())?;
/// assert!(file.bytes().starts_with(b"\x89PNG") && report.field_blake3.is_some());
/// # Ok::<(), dwell::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The points and the limit. These are the points of the field's samples, [`Samples::side`] times as many as the pixels
    /// of the picture in each direction.
    pub plan: &'a Plan,
    /// Computes the dwells.
    pub engine: &'a dyn Engine,
    /// Which pixels of a tile are computed and which are inferred.
    pub strategy: Strategy,
    /// Whether to compute every pixel as well, and count those whose dwell differs.
    pub verify: bool,
    /// How pictures are painted.
    pub paint: Paint<'a>,
    /// Whether to hash the dwells.
    pub hash: bool,
    /// How to keep a journal, if all outputs are files; `None` for no journal.
    pub journaling: Option<Journaling>,
    /// The limits on memory.
    pub limits: Limits,
    /// Whether `control.progress` is observed. If so, a large image is probed first, so that the estimate of the remaining time
    /// takes the cost of each row into account.
    pub watched: bool,
    /// Cancels the render and observes its progress.
    pub control: Control<'a>,
}

impl<'a> Request<'a> {
    /// A request that computes every pixel, without verification, hash or journal, in at most 4 GiB.
    #[must_use]
    pub fn new(plan: &'a Plan, engine: &'a dyn Engine, paint: Paint<'a>, control: Control<'a>) -> Self {
        Self {
            plan,
            engine,
            strategy: Strategy::default(),
            verify: false,
            paint,
            hash: false,
            journaling: None,
            limits: Limits::default(),
            watched: false,
            control,
        }
    }

    /// The same request with another strategy.
    #[must_use]
    pub fn with_strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// The same request with or without verification.
    #[must_use]
    pub fn with_verification(self, verify: bool) -> Self {
        Self { verify, ..self }
    }

    /// The same request with or without a hash of the dwells.
    #[must_use]
    pub fn with_hash(self, hash: bool) -> Self {
        Self { hash, ..self }
    }

    /// The same request with or without a journal.
    #[must_use]
    pub fn with_journal(self, journaling: Option<Journaling>) -> Self {
        Self { journaling, ..self }
    }

    /// The same request with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same request with or without a probe for an observer of the progress.
    #[must_use]
    pub fn with_observer(self, watched: bool) -> Self {
        Self { watched, ..self }
    }

    /// The same request for another plan.
    #[must_use]
    pub fn with_plan(self, plan: &'a Plan) -> Self {
        Self { plan, ..self }
    }
}

/// How pictures are painted.
#[derive(Clone, Copy, Debug)]
pub struct Paint<'a> {
    /// The colours of samples.
    pub colouring: &'a Colouring,
    /// The samples of a pixel, averaged in linear light.
    pub samples: Samples,
    /// Whether pictures of 8 bits are dithered.
    pub dither: bool,
    /// Bits of each of a pixel's three values.
    pub depth: Depth,
    /// A text that is stored in pictures whose format has texts (PNG), such as [`crate::Scene::text`]; none if empty. It is
    /// part of the identity by which a journal distinguishes renders.
    pub text: &'a str,
}

impl<'a> Paint<'a> {
    /// The painting of a scene, with this text.
    #[must_use]
    pub fn of(scene: &'a crate::scene::Scene, text: &'a str) -> Self {
        Self { colouring: &scene.colouring, samples: scene.samples, dither: scene.dither, depth: scene.depth, text }
    }
}
