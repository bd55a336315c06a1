//! From a plan to a field: engines, the strategies by which they choose the pixels to compute, and the machine's peak rate.

pub(crate) mod cpu;
pub(crate) mod engine;
pub(crate) mod lists;
pub mod peak;
pub(crate) mod shortcuts;
pub(crate) mod strategy;
pub(crate) mod tiles;
pub(crate) mod trapped;
pub(crate) mod workspace;
