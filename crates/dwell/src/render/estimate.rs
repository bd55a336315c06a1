//! Estimates the time of a render by rendering a few of its own pixels.

use super::render;
use super::scratch::Scratch;
use crate::base::error::Error;
use crate::encode::Format;
use crate::render::request::Request;
use crate::store::Output;
use crate::view::Size;
use dwell_kernels::with_standard_floats;
use std::time::{Duration, Instant};

/// Sizes in pixels of the renders that a time is estimated from. They are rendered in this order until one takes longer than
/// [`ENOUGH`].
const ESTIMATES: [(u32, u32); 4] = [(64, 32), (256, 128), (1024, 512), (2048, 1024)];
/// The shortest time that is measured accurately enough.
const ENOUGH: Duration = Duration::from_millis(150);

/// Estimates the time of a render in seconds, by rendering a few of its own pixels, evenly spaced, into the same formats
/// without storing them.
///
/// # Errors
/// As [`render()`].
pub fn estimate(request: &Request<'_>, formats: &[Format]) -> Result<f64, Error> {
    with_standard_floats(|| estimated(request, formats))
}

fn estimated(request: &Request<'_>, formats: &[Format]) -> Result<f64, Error> {
    let samples = request.paint.samples;
    let Size { width, height } = request.plan.size();
    let mut scratch = Scratch::default();
    let mut seconds = 0.0;
    for (across, down) in ESTIMATES {
        let begun = Instant::now();
        let plan = request.plan.thinned(across * samples, down * samples);
        let thinned = Request { plan: &plan, journaling: None, watched: false, ..request.clone() };
        let outputs = formats.iter().map(|format| (*format, Output::discarding())).collect();
        render(&thinned, outputs, &mut scratch)?;
        let spent = begun.elapsed();
        let pixels = u64::from(width) * u64::from(height);
        seconds = spent.as_secs_f64() * pixels as f64 / plan.size().pixels() as f64;
        if spent > ENOUGH || plan.size() == request.plan.size() {
            break;
        }
    }
    Ok(seconds)
}
