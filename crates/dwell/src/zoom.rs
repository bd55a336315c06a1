//! Zooms: the frames of a film that approaches a place, or leaves it.
//!
//! A [`Course`] gives each frame its zoom, and a [`Film`] its scene: the same place, settings and colours at that zoom, with the limits and
//! the colours that the whole film shares (`film.rs`). [`Film::render`] renders a frame as an ordinary picture of its scene, in
//! buffers and with reference orbits that are kept from frame to frame. A [`Resampler`] makes frames from an exponential map (`strip.rs`).

mod course;
mod film;
mod findings;
mod pyramid;
mod resampler;
mod strip;

pub use course::{Course, Easing};
pub use film::{Film, Means};
pub use findings::{FilmColours, FilmFindings, Method, Shared};
pub use resampler::Resampler;
