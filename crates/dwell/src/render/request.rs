//! What a render is asked for.

use crate::base::cancel::Cancel;
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::colour::{Colouring, Depth};
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::render::journal::Journaling;

/// What to render and who watches.
pub struct Request<'a> {
    /// The points and the limit: of the samples, [`Paint::samples`] times as many as the picture's pixels each way.
    pub plan: &'a Plan,
    /// Who iterates.
    pub engine: &'a dyn Engine,
    /// How pixels are asked for.
    pub strategy: Strategy,
    /// Whether to ask for every pixel as well, and count those whose dwell differs.
    pub verify: bool,
    /// How pictures look.
    pub paint: Paint<'a>,
    /// Whether to hash the dwells.
    pub hash: bool,
    /// How to keep a journal, if all outputs are files; none if it is not worth it.
    pub journaling: Option<Journaling>,
    /// What it may take.
    pub limits: Limits,
    /// Whether somebody watches `progress`, so that a probe for an honest estimate is worth its time.
    pub watched: bool,
    /// How to stop it.
    pub cancel: &'a Cancel,
    /// How far it is.
    pub progress: &'a Progress,
}

/// How pictures look.
#[derive(Clone, Copy, Debug)]
pub struct Paint<'a> {
    /// Which colour a sample has.
    pub colouring: &'a Colouring,
    /// Samples of a pixel on a side, 1 to [`crate::MOST_SAMPLES`], averaged in linear light.
    pub samples: u32,
    /// Bits of a channel.
    pub depth: Depth,
    /// A text to go into a picture that can hold one (PNG), such as [`crate::Scene::text`]; none if empty. A journal
    /// tells renders apart by it.
    pub text: &'a str,
}
