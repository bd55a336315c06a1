//! The speeds of the processors and of a device, measured once on a machine and cached.

use dwell::store::{self, PartialFiles};
use dwell::{ChannelSet, CpuEngine, Engine, Limits, NumberKind, Plan, Settings, Size, Strategy, Task, View};
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
    /// In f64 and f32, and of deep views.
    shallow: Speeds,
    deep: Speeds,
    /// Seconds that a device takes to start.
    device_start_seconds: f64,
}

/// Pixels per second of both engines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Speeds {
    cpu: f64,
    device: f64,
}

/// Side in pixels of the picture that is measured, and its limit: some milliseconds on either engine.
const SIDE: u32 = 1024;
const LIMIT: u64 = 1000;
/// The deep view that is measured: some hundredths of a second on processors. Its pixels take as many operations as those of most places.
const DEEP: [&str; 3] = ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e20"];
const DEEP_SIZE: [u32; 2] = [512, 288];
const DEEP_LIMIT: u64 = 5000;

/// Whether an earlier measurement says that the processors finish first. It does not open the driver of a device, which takes
/// longer than a small picture, so it does not find out either whether the device is still the same.
pub(crate) fn processors_are_known_to_be_faster(cpu: &CpuEngine, pixels: u64, is_deep: bool) -> bool {
    kept().is_some_and(|kept| kept.host == host(cpu) && !faster(&kept, pixels, is_deep))
}

/// Whether a device would finish first.
pub(crate) fn device_is_faster(device: &Device, cpu: &CpuEngine, pixels: u64, is_deep: bool) -> bool {
    let (host, named) = (host(cpu), format!("{} with CUDA {}", device.name, device.driver));
    let measured = match kept().filter(|kept| (&kept.host, &kept.device) == (&host, &named)) {
        Some(kept) => kept,
        None => {
            let Some(measured) = measure(device, cpu, [host, named]) else { return false };
            store_in_cache(&measured);
            measured
        }
    };
    faster(&measured, pixels, is_deep)
}

/// The program and the processors.
fn host(cpu: &CpuEngine) -> String {
    format!("dwell {}, {} on {} threads", env!("CARGO_PKG_VERSION"), cpu.level().name(), cpu.pool().threads())
}

/// The cached measurement.
fn kept() -> Option<Measured> {
    serde_json::from_str(&std::fs::read_to_string(cache_file()?).ok()?).ok()
}

fn faster(measured: &Measured, pixels: u64, is_deep: bool) -> bool {
    let speeds = if is_deep { measured.deep } else { measured.shallow };
    let on_device = measured.device_start_seconds + pixels as f64 / speeds.device;
    on_device < pixels as f64 / speeds.cpu
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
    let [re, im, zoom] = DEEP;
    let deep_view = View::centred(re, im, zoom).ok()?.sized(Size::new(DEEP_SIZE[0], DEEP_SIZE[1]).ok()?);
    let deep_settings = Settings { limit: DEEP_LIMIT, number: NumberKind::Exact, ..Settings::default() };
    let deep_plan = Plan::new(&deep_view, &deep_settings, &Limits::default()).ok()?;
    let seconds = |engine: &dyn Engine, plan: &Plan| -> Option<f64> {
        let task = Task { plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
        let begun = Instant::now();
        let (limits, cancel) = (Limits::default(), dwell::Cancel::default());
        dwell::field(&task, engine, &limits, &cancel).ok()?;
        Some(begun.elapsed().as_secs_f64())
    };
    // With every shortcut and default tiles, whatever the flags of this render: the cached measurement serves every
    // render.
    let plain = || CpuEngine::new(cpu.level(), cpu.pool().threads());
    // The first run builds tables, the reference orbit and its blocks, and starts threads.
    let second = |engine: &dyn Engine, plan: &Plan| {
        seconds(engine, plan)?;
        seconds(engine, plan)
    };
    let on_cpu = plain();
    let on_cpu = [second(&on_cpu, &plan)?, second(&on_cpu, &deep_plan)?];
    let engine = CudaEngine::new(device.clone(), plain(), Options::default()).ok()?;
    let first = seconds(&engine, &plan)?;
    let then = [seconds(&engine, &plan)?, second(&engine, &deep_plan)?];
    if engine.lost().is_some() {
        return None;
    }
    let speeds = |number: usize, plan: &Plan| {
        let pixels = plan.size().pixels() as f64;
        Speeds { cpu: pixels / on_cpu[number], device: pixels / then[number] }
    };
    Some(Measured {
        host,
        device: named,
        shallow: speeds(0, &plan),
        deep: speeds(1, &deep_plan),
        device_start_seconds: (first - then[0]).max(0.0),
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
            shallow: Speeds { cpu: 1e8, device: 1e10 },
            deep: Speeds { cpu: 1e6, device: 1e7 },
            device_start_seconds: 0.3,
        };
        assert!(!faster(&measured, 1 << 20, false) && faster(&measured, 1 << 28, false));
        assert!(faster(&measured, 1 << 20, true) && !faster(&measured, 1 << 17, true));
        let text = serde_json::to_string(&measured).unwrap();
        assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), measured);
    }
}
