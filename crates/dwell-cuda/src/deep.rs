//! Deep views: the attempts by deltas and blocks that the device makes (docs/deep.md), while the processors compute the reference and the tables before
//! and decide what is left open afterwards.
//!
//! | file | contents |
//! |---|---|
//! | `device.rs` | the device as the library sees it, and its faults |
//! | `session.rs` | the interface between that and a device session |
//! | `sessions.rs` | those that are kept, and the one that is opened ahead |
//! | `cuda.rs` | a session on a CUDA device: pixels under way, and launches |
//! | `pixels.rs` | memory for the pixels under way |
//! | `tables.rs`, `tables/` | references and blocks on the device: of z^2 + c, and of other formulas and Julia sets |
//! | `layout.rs`, `formula_layout.rs` | what kernels are given |
//! | `share.rs` | the share of a device's peak rate that orbits take |
//! | `faults.rs` | in tests, sessions that fail at any operation |
//! | `host.rs`, `host.cpp` | in tests, a session that runs the kernels' code on the host |

pub(crate) mod cuda;
pub(crate) mod device;
#[cfg(test)]
mod faults;
pub(crate) mod formula_layout;
#[cfg(test)]
mod host;
pub(crate) mod layout;
pub(crate) mod pixels;
pub(crate) mod session;
pub(crate) mod sessions;
mod share;
mod tables;
