//! What every stage needs: errors, cancellation, progress, limits on memory, threads.

pub(crate) mod cancel;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod progress;
pub(crate) mod thread_pool;
