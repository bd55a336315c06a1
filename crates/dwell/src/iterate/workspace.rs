//! The workspace of a kernel, which threads keep from one use to the next.

use crate::base::error::InputError;
use crate::base::limits::exhausted;
use crate::base::thread_pool::ThreadPool;
use dwell_kernels::Kernels;
use dwell_kernels::escape::Workspace;

/// A workspace that a thread of the pool has kept ([`ThreadPool::kept`]), or a new one. `what` is said of the memory in a message.
///
/// # Errors
/// When the system has not enough memory.
pub(crate) fn take_workspace<N: Kernels>(
    pool: &ThreadPool,
    what: &'static str,
) -> Result<Box<Workspace<N>>, InputError> {
    let new = || Workspace::new().map(Box::new).map_err(|_| exhausted(Workspace::<N>::bytes(0, 0, false), what));
    pool.kept().take().map_or_else(new, Ok)
}
