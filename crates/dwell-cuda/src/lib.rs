//! The CUDA engine of `dwell`: bit for bit what the CPU gives, on one NVIDIA device.
//!
//! It builds without any of CUDA's tools: kernels (`kernels/`) are compiled ahead to machine code for every architecture
//! from Turing to Blackwell, the driver is loaded when it runs, and the driver is all that a user needs. Only the kernels
//! that launch kernels are linked on the user's machine, with a library of CUDA's toolkit (see NOTICE).
//!
//! A device that is absent, full or lost in the middle means the same picture from the processors, and a warning.
//!
//! | file | what it holds |
//! |---|---|
//! | `engine.rs` | [`CudaEngine`]: rows over a device in turns, and what becomes of them when it fails |
//! | `lane.rs` | what the engine asks of a device |
//! | `real.rs` | a real device: its context and kernels, and lanes on it |
//! | `session.rs` | a lane there: buffers, streams, events |
//! | `faults.rs` | in tests, a device that fails at any operation |
//! | `launch.rs` | how each kernel is launched |
//! | `options.rs` | what can be chosen of that |
//! | `colours.rs` | a painter's tables on a device |
//! | `task.rs` | what kernels are told |
//! | `modules.rs` | kernels, compiled ahead |
//! | `peak.rs` | a device's limit |
//! | `driver.rs` | the driver, in types that give back what they take |

mod colours;
mod driver;
mod engine;
#[cfg(test)]
mod faults;
mod lane;
mod launch;
mod modules;
mod options;
mod peak;
mod real;
mod session;
mod task;

pub use driver::{Device, Fault};
pub use engine::CudaEngine;
pub use modules::library;
pub use options::{BlockShape, Division, GpuKernel, MOST_THREADS, Options, Stages};
pub use peak::{DevicePeak, peak};

/// The devices of this machine, or why none can be used.
///
/// # Errors
/// In words for a user, without a final stop.
pub fn devices() -> Result<Vec<Device>, String> {
    let count = driver::count()?;
    let devices: Vec<_> = (0..count).map(driver::device).collect();
    match devices.iter().find_map(|device| device.as_ref().err()) {
        // One that does not answer leaves the others.
        Some(fault) if devices.iter().all(Result::is_err) => Err(fault.to_string()),
        _ => Ok(devices.into_iter().flatten().collect()),
    }
}
