//! The speeds of the processors and of a device, measured once on a machine and cached.

use dwell::store::{self, PartialFiles};
use dwell::{ChannelSet, CpuEngine, Engine, Limits, Plan, Settings, Size, Strategy, Task, View};
use dwell_cuda::{CudaEngine, Device, Options};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Instant;

/// Speeds of both engines, measured once and cached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Measured {
    /// The program and the processors that were measured; others are measured again.
    host: String,
    /// The device and its driver.
    device: String,
    cpu_pixels_per_second: f64,
    device_pixels_per_second: f64,
    /// Seconds that a device takes to start.
    device_start_seconds: f64,
}

/// Side in pixels of the picture that is measured, and its limit: some milliseconds on either engine.
const SIDE: u32 = 1024;
const LIMIT: u64 = 1000;

/// Whether an earlier measurement says that the processors finish first. It does not open the driver of a device, which takes
/// longer than a small picture, so it does not find out either whether the device is still the same.
pub(crate) fn processors_are_known_to_be_faster(cpu: &CpuEngine, pixels: u64) -> bool {
    kept().is_some_and(|kept| kept.host == host(cpu) && !faster(&kept, pixels))
}

/// Whether a device would finish first.
pub(crate) fn device_is_faster(device: &Device, cpu: &CpuEngine, pixels: u64) -> bool {
    let (host, named) = (host(cpu), format!("{} with CUDA {}", device.name, device.driver));
    let measured = match kept().filter(|kept| (&kept.host, &kept.device) == (&host, &named)) {
        Some(kept) => kept,
        None => {
            let Some(measured) = measure(device, cpu, [host, named]) else { return false };
            store_in_cache(&measured);
            measured
        }
    };
    faster(&measured, pixels)
}

/// The program and the processors.
fn host(cpu: &CpuEngine) -> String {
    format!("dwell {}, {} on {} threads", env!("CARGO_PKG_VERSION"), cpu.level().name(), cpu.pool().threads())
}

/// The cached measurement.
fn kept() -> Option<Measured> {
    serde_json::from_str(&std::fs::read_to_string(cache_file()?).ok()?).ok()
}

fn faster(measured: &Measured, pixels: u64) -> bool {
    let on_device = measured.device_start_seconds + pixels as f64 / measured.device_pixels_per_second;
    on_device < pixels as f64 / measured.cpu_pixels_per_second
}

/// The path of the cached measurement, if the system has a cache folder.
fn cache_file() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = var("XDG_CACHE_HOME").or_else(|| var("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("dwell").join("engines.json"))
}

/// Caches a measurement, as a whole file or not at all. Where it cannot be written, the next run measures again.
fn store_in_cache(measured: &Measured) {
    let Some(path) = cache_file() else { return };
    let Some(folder) = path.parent() else { return };
    let Ok(text) = serde_json::to_string_pretty(measured) else { return };
    if std::fs::create_dir_all(folder).is_ok() {
        // A cache that cannot be written costs a measurement and is no error.
        let _ = store::write_text(&path, &text, &PartialFiles::default());
    }
}

/// Measures both engines; `None` where the device fails.
fn measure(device: &Device, cpu: &CpuEngine, [host, named]: [String; 2]) -> Option<Measured> {
    let view = View::centred("-0.75", "0", "1.5").ok()?.sized(Size::new(SIDE, SIDE).ok()?);
    let plan = Plan::new(&view, &Settings { limit: LIMIT, ..Settings::default() }, &Limits::default()).ok()?;
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let pixels = plan.size().pixels() as f64;
    let seconds = |engine: &dyn Engine| -> Option<f64> {
        let begun = Instant::now();
        let (limits, cancel) = (Limits::default(), dwell::Cancel::default());
        dwell::field(&task, engine, &limits, &cancel).ok()?;
        Some(begun.elapsed().as_secs_f64())
    };
    // With every shortcut and default tiles, whatever the flags of this render: the cached measurement serves every
    // render.
    let plain = || CpuEngine::new(cpu.level(), cpu.pool().threads());
    let on_cpu = {
        let plain = plain();
        // The first run builds tables and starts threads.
        seconds(&plain)?;
        seconds(&plain)?
    };
    let engine = CudaEngine::new(device.clone(), plain(), Options::default()).ok()?;
    let first = seconds(&engine)?;
    let then = seconds(&engine)?;
    if engine.lost().is_some() {
        return None;
    }
    Some(Measured {
        host,
        device: named,
        cpu_pixels_per_second: pixels / on_cpu,
        device_pixels_per_second: pixels / then,
        device_start_seconds: (first - then).max(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_is_not_worth_a_device() {
        let measured = Measured {
            host: String::new(),
            device: String::new(),
            cpu_pixels_per_second: 1e8,
            device_pixels_per_second: 1e10,
            device_start_seconds: 0.3,
        };
        assert!(!faster(&measured, 1 << 20) && faster(&measured, 1 << 28));
        let text = serde_json::to_string(&measured).unwrap();
        assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), measured);
    }
}
