//! Modules that all stages use: errors, cancellation, progress, memory limits, schedules, threads.

pub(crate) mod cancel;
pub(crate) mod control;
pub(crate) mod error;
pub(crate) mod kept;
pub(crate) mod limits;
pub(crate) mod names;
pub(crate) mod pieces;
pub(crate) mod place;
pub(crate) mod problem;
pub(crate) mod progress;
pub(crate) mod quote;
pub(crate) mod schedule;
pub(crate) mod thread_pool;
