//! The wall time of a render by stage.

use serde::Serialize;

/// Wall time of each stage of a render, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// Time to round coordinates, and to find the limit and the scale if they are `auto`.
    pub plan: f64,
    /// Time to compute dwells.
    pub iterate: f64,
    /// Time for smooth values, distances and painting. If colours depend on the whole field, it includes counting, and
    /// iterating the first of two passes.
    pub colour: f64,
    /// Time to encode pixels or dwells as the bytes of files.
    pub encode: f64,
    /// Time that the system took to write the bytes and make them durable.
    pub write: f64,
    /// Time to hash the dwells.
    pub hash: f64,
    /// Time to compute every pixel for verification; 0 without verification.
    #[serde(skip_serializing_if = "is_zero")]
    pub verify: f64,
    /// Time from the plan to the published files.
    pub total: f64,
}

impl Seconds {
    /// Every stage, in the order in which journals store them.
    pub(crate) fn each_mut(&mut self) -> [&mut f64; 8] {
        let Self { plan, iterate, colour, encode, write, hash, verify, total } = self;
        [plan, iterate, colour, encode, write, hash, verify, total]
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}
