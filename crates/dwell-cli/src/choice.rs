//! Who iterates: the processors, or a CUDA device.

use crate::engine::whole;
use dwell::store::{self, Leftovers};
use dwell::{CpuEngine, Engine, Error, Extras, InputError, Level, Limits, Plan, Settings, Size, Strategy, View, quote};
use dwell_cuda::{CudaEngine, Device, GpuKernel, Options};
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
    /// Whether either engine will do.
    pub(crate) fn is_free(self) -> bool {
        matches!(self, Self::Nothing | Self::Auto)
    }

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

/// What an engine is chosen for.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    /// Pixels to be iterated.
    pub(crate) pixels: u64,
    /// How they are asked for.
    pub(crate) strategy: Strategy,
    /// What is wanted of them.
    pub(crate) extras: Extras,
}

impl Work {
    /// Whether a device is worth a thought: what it does not do, or would infer otherwise, is for the processors, and so
    /// is what they have done before a device has begun.
    fn suits_a_device(self) -> bool {
        self.strategy == Strategy::EveryPixel && !self.extras.distance && self.pixels >= FEWEST_PIXELS
    }
}

/// The engine asked for. `options` say how kernels are launched, if flags say so.
pub(crate) fn choose(asked: Asked, cpu: CpuEngine, options: Option<Options>, work: Work) -> Result<Chosen, Error> {
    let on_device = |device: Device, cpu: CpuEngine| -> Result<Chosen, Error> {
        if options.is_some_and(|options| options.kernel == GpuKernel::DeviceLaunches) {
            let what = format!("--gpu-kernel {}", GpuKernel::DeviceLaunches.name());
            dwell_cuda::library().map_err(|why| Error::Engine(InputError::new(what, why)))?;
        }
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
            if options.is_some() || (work.suits_a_device() && device_is_faster(&device, &cpu, work.pixels)) {
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

/// With fewer pixels the processors are done in the time that a device takes to begin.
const FEWEST_PIXELS: u64 = 1 << 18;
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
    // With every shortcut and usual tiles, whatever this render was told: what is kept is for all.
    let plain = || Some(CpuEngine::new(Level::get(cpu.level().parse().ok()?)?, cpu.team().threads()));
    let on_cpu = {
        let plain = plain()?;
        // The first is for tables and threads.
        seconds(&plain)?;
        seconds(&plain)?
    };
    let engine = CudaEngine::new(device.clone(), plain()?, Options::default()).ok()?;
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
    fn what_a_device_does_not_do_is_not_for_it() {
        let work = Work { pixels: 1 << 30, strategy: Strategy::EveryPixel, extras: Extras::SMOOTH };
        assert!(work.suits_a_device());
        assert!(!Work { pixels: 1 << 10, ..work }.suits_a_device());
        assert!(!Work { strategy: Strategy::BoundaryTrace, ..work }.suits_a_device());
        assert!(!Work { strategy: Strategy::MarianiSilver, ..work }.suits_a_device(), "it infers otherwise");
        assert!(!Work { extras: Extras::DISTANCE, ..work }.suits_a_device());
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
