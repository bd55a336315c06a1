//! The CUDA engine of `dwell`: results equal those of the CPU engine bit for bit, computed on one NVIDIA device.
//!
//! Building it needs none of CUDA's tools: kernels (`kernels/`) are compiled ahead to machine code for every
//! architecture from Turing to Blackwell, and the driver is loaded at run time. Users need the driver and nothing else,
//! except that kernels which launch kernels are linked on the user's machine with a library of CUDA's toolkit (see
//! NOTICE).
//!
//! When a device is absent, out of memory or lost during a render, the processors compute the same picture, with a
//! warning.
//!
//! | file | contents |
//! |---|---|
//! | `engine.rs` | [`CudaEngine`]: what the device computes and what the processors do |
//! | `call.rs` | one call of it: rows in turns, and faults |
//! | `pool.rs` | sessions that are kept open from call to call |
//! | `needs.rs` | which sessions serve a request, and the sizes of their buffers |
//! | `session.rs` | the interface between the engine and a device session |
//! | `device.rs` | a CUDA device: its context and kernels, and sessions on it |
//! | `cuda_session.rs` | a session there: rows of the loaded plan |
//! | `workspace.rs` | what a session allocates: buffers, streams, events |
//! | `loaded_plan.rs` | the plan that a session has loaded, and its computed rows |
//! | `deep.rs`, `deep/` | deep views |
//! | `upload.rs` | tables that are copied to the device |
//! | `faults.rs` | in tests, a device that fails at any operation |
//! | `launch.rs` | how each kernel is launched |
//! | `lists.rs` | lists and counters that kernels keep between launches |
//! | `paint_tables.rs` | a painter's tables on a device |
//! | `task.rs` | what a launch computes |
//! | `options.rs` | the choice of kernel and launch |
//! | `shared.rs` | constants and struct layouts that Rust and the kernels share, and the header with them |
//! | `kernel.rs` | kernels with the types of their parameters |
//! | `modules.rs` | the compiled kernels |
//! | `peak.rs` | a device's limit |
//! | `driver.rs` | the driver, in types that release what they allocate |

mod call;
mod cuda_session;
mod deep;
mod device;
mod driver;
mod engine;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod host;
mod kernel;
mod launch;
mod lists;
mod loaded_plan;
mod modules;
mod needs;
mod options;
mod paint_tables;
mod peak;
mod pool;
mod proof;
mod session;
mod shared;
mod task;
mod upload;
mod workspace;

pub use driver::{Device, Fault};
pub use engine::CudaEngine;
pub use modules::library;
pub use options::{BlockShape, Division, GpuKernel, MOST_THREADS, Options, Stages};
pub use peak::{DevicePeak, peak};
pub use shared::header;

/// Compiles and runs the example in the package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The devices of this machine, or why none can be used.
///
/// # Errors
/// When there is no driver, an old driver, or no device that answers: in words for a user, without a final stop.
pub fn devices() -> Result<Vec<Device>, String> {
    let count = driver::count()?;
    let devices: Vec<_> = (0..count).map(driver::device).collect();
    match devices.iter().find_map(|device| device.as_ref().err()) {
        Some(fault) if devices.iter().all(Result::is_err) => Err(fault.to_string()),
        // A device that cannot be read does not hide the others.
        _ => Ok(devices.into_iter().flatten().collect()),
    }
}
