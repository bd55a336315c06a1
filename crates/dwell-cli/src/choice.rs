//! Who iterates: the processors, or a CUDA device.

use crate::engine::whole;
use dwell::store::{self, Leftovers};
use dwell::{CpuEngine, Engine, Error, Extras, InputError, Limits, Plan, Settings, Size, Strategy, View, quote};
use dwell_cuda::{CudaEngine, Device, Options};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Instant;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Nothing: the faster one, without a word where there is no device.
    Nothing,
    /// The faster one.
    Auto,
    /// The processors.
    Cpu,
    /// The device of that number.
    Cuda(u32),
}

impl Asked {
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, InputError> {
        match text {
            None => Ok(Self::Nothing),
            Some("auto") => Ok(Self::Auto),
            Some("cpu") => Ok(Self::Cpu),
            Some("cuda") => Ok(Self::Cuda(0)),
            Some(text) => match text.strip_prefix("cuda:") {
                Some(number) => {
                    whole("--engine cuda:N", number, 0, 1023).map(|n| Self::Cuda(u32::try_from(n).unwrap_or(0)))
                }
                None => Err(InputError::new("--engine", format!("there is no {}", quote(text)))
                    .accepted("auto, cpu, cuda, cuda:N")),
            },
        }
    }
}

/// An engine, and what a person should know of the choice.
pub(crate) struct Chosen {
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) remark: Option<String>,
}

/// The engine asked for. `pixels` are those to be iterated; `options` say how kernels are launched, if flags say so.
pub(crate) fn choose(asked: Asked, cpu: CpuEngine, options: Option<Options>, pixels: u64) -> Result<Chosen, Error> {
    let on_device = |device: Device, cpu: CpuEngine| -> Result<Chosen, Error> {
        let engine = CudaEngine::new(device, cpu, options.unwrap_or_default()).map_err(|e| e.as_flag())?;
        Ok(Chosen { engine: Box::new(engine), remark: None })
    };
    let not_there = |asked: &str, why: String| {
        Error::Engine(
            InputError::new("--engine", format!("{asked} is not available: {why}"))
                .hint("--engine cpu, or auto, draws the same"),
        )
    };
    match asked {
        Asked::Cpu if options.is_some() => Err(InputError::new("--engine", "cpu has none of the CUDA kernels")
            .hint("--engine cuda, or leave out what chooses a kernel")
            .into()),
        Asked::Cpu => Ok(Chosen { engine: Box::new(cpu), remark: None }),
        Asked::Cuda(number) => {
            let devices = dwell_cuda::devices().map_err(|why| not_there(&format!("cuda:{number}"), why))?;
            let count = devices.len();
            let found = devices.into_iter().find(|device| device.number == number);
            let found = found.ok_or_else(|| {
                let s = if count == 1 { "" } else { "s" };
                not_there(&format!("cuda:{number}"), format!("this machine has {count} device{s}, numbered from 0"))
            })?;
            on_device(found, cpu)
        }
        Asked::Nothing | Asked::Auto => {
            let found = dwell_cuda::devices();
            let device = match found.map(|devices| devices.into_iter().next()) {
                Ok(Some(device)) => device,
                Ok(None) => return Err(not_there("cuda", "there is no device".to_owned())),
                // A kernel was named, which no processor has.
                Err(why) if options.is_some() => return Err(not_there("cuda", why)),
                Err(why) => {
                    let remark = (asked == Asked::Auto).then(|| format!("warning: on processors: {why}"));
                    return Ok(Chosen { engine: Box::new(cpu), remark });
                }
            };
            if options.is_some() || device_is_faster(&device, &cpu, pixels) {
                return on_device(device, cpu);
            }
            Ok(Chosen { engine: Box::new(cpu), remark: None })
        }
    }
}

/// What was measured of both, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Measured {
    /// Who was measured: another machine, driver or version is measured anew.
    what: String,
    cpu_pixels_per_second: f64,
    device_pixels_per_second: f64,
    /// Seconds until a device has begun.
    device_start_seconds: f64,
}

/// Pixels on a side of the picture that is measured, and its limit: some milliseconds for either.
const SIDE: u32 = 1024;
const LIMIT: u32 = 1000;

/// Whether a device would be done first.
fn device_is_faster(device: &Device, cpu: &CpuEngine, pixels: u64) -> bool {
    let threads = cpu.team().threads();
    let what = format!(
        "dwell {}, {} on {threads} threads, {} with CUDA {}",
        env!("CARGO_PKG_VERSION"),
        cpu.level(),
        device.name,
        device.driver
    );
    let kept = kept_in().and_then(|path| std::fs::read_to_string(path).ok());
    let kept = kept.and_then(|text| serde_json::from_str::<Measured>(&text).ok()).filter(|kept| kept.what == what);
    let measured = match kept {
        Some(kept) => kept,
        None => {
            let Some(measured) = measure(device, cpu, what) else { return false };
            keep(&measured);
            measured
        }
    };
    faster(&measured, pixels)
}

fn faster(measured: &Measured, pixels: u64) -> bool {
    let on_device = measured.device_start_seconds + pixels as f64 / measured.device_pixels_per_second;
    on_device < pixels as f64 / measured.cpu_pixels_per_second
}

/// Where it is kept, if the system has a place for such things.
fn kept_in() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = var("XDG_CACHE_HOME").or_else(|| var("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("dwell").join("engines.json"))
}

/// Keeps it, whole or not at all; where that cannot be, it is measured again next time.
fn keep(measured: &Measured) {
    let Some(path) = kept_in() else { return };
    let Some(folder) = path.parent() else { return };
    let Ok(text) = serde_json::to_string_pretty(measured) else { return };
    if std::fs::create_dir_all(folder).is_ok() {
        // Nobody need know that it could not be kept.
        let _ = store::write_text(&path, &text, &Leftovers::default());
    }
}

/// Measures both; nothing where the device fails.
fn measure(device: &Device, cpu: &CpuEngine, what: String) -> Option<Measured> {
    let view = View::centred("-0.75", "0", "1.5").ok()?.sized(Size::new(SIDE, SIDE).ok()?);
    let plan = Plan::new(&view, &Settings { limit: LIMIT, ..Settings::default() }, &Limits::default()).ok()?;
    let pixels = plan.size().pixels() as f64;
    let seconds = |engine: &dyn Engine| -> Option<f64> {
        let begun = Instant::now();
        let (limits, cancel) = (Limits::default(), dwell::Cancel::default());
        dwell::field(&plan, engine, Strategy::EveryPixel, Extras::NONE, &limits, &cancel).ok()?;
        Some(begun.elapsed().as_secs_f64())
    };
    // The first is for tables and threads.
    seconds(cpu)?;
    let on_cpu = seconds(cpu)?;
    let other = CpuEngine::new(dwell::Level::best(), cpu.team().threads());
    let engine = CudaEngine::new(device.clone(), other, Options::default()).ok()?;
    let first = seconds(&engine)?;
    let then = seconds(&engine)?;
    if !engine.warnings().is_empty() {
        return None;
    }
    Some(Measured {
        what,
        cpu_pixels_per_second: pixels / on_cpu,
        device_pixels_per_second: pixels / then,
        device_start_seconds: (first - then).max(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Asked::parse(None).unwrap(), Asked::Nothing);
        assert_eq!(Asked::parse(Some("cuda")).unwrap(), Asked::Cuda(0));
        assert_eq!(Asked::parse(Some("cuda:7")).unwrap(), Asked::Cuda(7));
        for wrong in ["gpu", "cuda:", "cuda:-1", "cuda:1.5", "CUDA", "", "cuda:1024"] {
            assert!(Asked::parse(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_small_picture_is_not_worth_a_device() {
        let measured = Measured {
            what: String::new(),
            cpu_pixels_per_second: 1e8,
            device_pixels_per_second: 1e10,
            device_start_seconds: 0.3,
        };
        assert!(!faster(&measured, 1 << 20) && faster(&measured, 1 << 28));
        let text = serde_json::to_string(&measured).unwrap();
        assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), measured);
    }
}
