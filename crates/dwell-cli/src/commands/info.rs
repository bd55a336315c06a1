//! `dwell info`: prints the processor, instruction sets, threads, memory and CUDA devices of this machine.

use crate::cli::InfoArgs;
use crate::error_text::Failure;
use crate::machine::{self, Machine};
use crate::output;
use dwell::{Level, LevelName, escape, quote};
use dwell_cuda::Device;
use serde::Serialize;

/// The report, as `--json` prints it.
#[derive(Serialize)]
struct Info {
    version: &'static str,
    commit: &'static str,
    target: &'static str,
    processor: String,
    levels: Vec<&'static str>,
    default_level: &'static str,
    /// The environment variable DWELL_LEVEL, if it is set.
    dwell_level: Option<String>,
    threads: usize,
    memory_bytes: u64,
    available_bytes: u64,
    cuda_devices: Vec<Device>,
    /// Why there is no CUDA device.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_cuda: Option<String>,
}

pub(crate) fn run(args: &InfoArgs) -> Result<(), Failure> {
    let machine = Machine::look();
    let (cuda_devices, no_cuda) = match dwell_cuda::devices() {
        Ok(devices) => (devices, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        commit: env!("DWELL_COMMIT"),
        target: env!("DWELL_TARGET"),
        processor: machine.processor,
        levels: Level::available().into_iter().map(|level| level.name().name()).collect(),
        default_level: Level::best().name().name(),
        dwell_level: crate::engine::level_from_environment(),
        threads: machine::processors(),
        memory_bytes: machine.memory_bytes,
        available_bytes: machine.available_bytes,
        cuda_devices,
        no_cuda,
    };
    if args.json {
        return output::print_json(&info);
    }
    let levels: Vec<String> = LevelName::ALL
        .iter()
        .map(|name| match name.name() {
            name if name == info.default_level => format!("{name} (default)"),
            name if info.levels.contains(&name) => name.to_owned(),
            name => format!("{name} (not available)"),
        })
        .collect();
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let mut text = format!(
        "dwell      {} ({}, {})\nprocessor  {}\nlevels     {}\nthreads    {}\nmemory     {:.1} GiB, {:.1} GiB of it available\n",
        info.version,
        info.commit,
        info.target,
        escape(&info.processor),
        levels.join(", "),
        info.threads,
        gib(info.memory_bytes),
        gib(info.available_bytes),
    );
    for device in &info.cuda_devices {
        let (major, minor) = device.capability;
        text.push_str(&format!(
            "cuda:{:<5} {}, compute capability {major}.{minor}, {:.1} GiB, {} multiprocessors, {} MHz, memory {} MHz, driver for \
             CUDA {}\n",
            device.number,
            escape(&device.name),
            gib(device.memory_bytes),
            device.multiprocessors,
            device.clock_khz / 1000,
            device.memory_clock_khz / 1000,
            device.driver
        ));
    }
    if let Some(why) = &info.no_cuda {
        text.push_str(&format!("cuda       none: {}\n", escape(why)));
    }
    if let Some(level) = &info.dwell_level {
        text.push_str(&format!("DWELL_LEVEL is set to {}\n", quote(level)));
    }
    output::print(&text)
}
