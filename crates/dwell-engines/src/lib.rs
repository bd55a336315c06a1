//! The engines of this machine: the processors and CUDA devices, chosen by name or by measurement.
//!
//! All engines give the same bytes, so a choice affects only the time. `auto` measures both once, keeps the figures in the
//! user's cache folder, and takes the engine that should finish first.
//!
//! | file | what it holds |
//! |---|---|
//! | `choice.rs` | [`choose`]: an engine for a name and an amount of work |
//! | `name.rs` | [`EngineName`]: `auto`, `cpu`, `cuda`, `cuda:N` |
//! | `measurement.rs` | the speeds of both engines, measured once and cached |

#![forbid(unsafe_code)]

mod choice;
mod measurement;
mod name;

pub use choice::{ChoiceError, Chosen, Work, choose};
pub use name::EngineName;

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
