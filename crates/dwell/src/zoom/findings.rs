//! What frames share, how they are made, and what was found for all of them.

use crate::colour::Scale;

/// The views that automatic colours fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shared {
    /// The whole film: a point keeps its colour.
    #[default]
    Film,
    /// Each frame by itself, as a picture alone: colours change from frame to frame.
    Frame,
}

dwell_kernels::named!(Shared, "fit": Film => "film", Frame => "frame");

/// How frames are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Each frame is rendered: the bytes of a picture of its scene.
    #[default]
    Direct,
    /// Frames are resampled from an exponential map, of which each sample is computed once: see [`crate::Resampler`].
    Exponential,
}

dwell_kernels::named!(Method, "method": Direct => "direct", Exponential => "exponential");

/// The warning in the text of a frame that was resampled.
pub(super) const RESAMPLED: &str =
    "resampled from an exponential map of the zoom; the scene of this text is that of the frame rendered directly";

/// The colours of a film that were found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilmColours {
    /// The scale.
    pub scale: Scale,
    /// Its density.
    pub density: f64,
    /// Its offset in turns.
    pub offset: f64,
}

impl FilmColours {
    /// Colours that were found before.
    #[must_use]
    pub fn new(scale: Scale, density: f64, offset: f64) -> Self {
        Self { scale, density, offset }
    }
}

/// What was found for a film. A program may keep it and make the same film without finding it again.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FilmFindings {
    /// The limit of each station, from the largest view on; empty where it was given.
    pub limits: Vec<u64>,
    /// The colours of all frames; `None` where their scale was given or is found for each frame.
    pub colours: Option<FilmColours>,
}

impl FilmFindings {
    /// Findings that were kept.
    #[must_use]
    pub fn new(limits: Vec<u64>, colours: Option<FilmColours>) -> Self {
        Self { limits, colours }
    }
}
