//! An engine for a name and an amount of work.

use crate::measurement::{device_is_faster, processors_are_known_to_be_faster};
use crate::name::EngineName;
use dwell::{ChannelSet, CpuEngine, Engine, InputError, NumberKind, Strategy};
use dwell_cuda::{CudaEngine, Device, GpuKernel, Options};
use std::sync::Arc;

/// With fewer pixels the processors finish in the time that a device takes to start: its driver alone takes 0.1 to 0.4 s, in
/// which 16 threads draw several pictures of 1920 x 1080.
const FEWEST_PIXELS: u64 = 1 << 21;
/// The same for deep views, of which a pixel takes some hundred times as long.
const FEWEST_DEEP_PIXELS: u64 = 1 << 18;

/// The work that an engine is chosen for.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Pixels to compute.
    pub pixels: u64,
    /// Which of them are computed and which are inferred.
    pub strategy: Strategy,
    /// The channels wanted beside the dwells.
    pub channels: ChannelSet,
    /// The number that they are computed in.
    pub number: NumberKind,
}

impl Work {
    /// Whether a device can be the faster engine. The processors take what a device does not compute or would infer
    /// otherwise, and pictures that they finish before a device has started.
    fn suits_a_device(self) -> bool {
        matches!(self.strategy, Strategy::Auto | Strategy::EveryPixel | Strategy::Proven)
            && self.channels_of_devices().includes(self.channels)
            && self.pixels >= if self.is_deep() { FEWEST_DEEP_PIXELS } else { FEWEST_PIXELS }
    }

    /// The channels that a device computes.
    fn channels_of_devices(self) -> ChannelSet {
        if self.is_deep() { CudaEngine::DEEP_CHANNELS } else { CudaEngine::CHANNELS }
    }

    /// Whether dwells are proved, which takes longer.
    fn is_deep(self) -> bool {
        self.number == NumberKind::Exact
    }
}

/// A chosen engine.
#[derive(Clone)]
pub struct Chosen {
    /// The engine: usable from several threads at once.
    pub engine: Arc<dyn Engine>,
    /// Why `auto` could not consider a device, if it could not.
    pub without_device: Option<String>,
}

/// Why no engine was chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// The engine named is not available on this machine.
    #[error("{name} is not available: {reason}")]
    Unavailable {
        /// The engine.
        name: EngineName,
        /// Why, without a final stop.
        reason: String,
    },
    /// The chosen kernel needs a library that is not on this machine.
    #[error("{kernel}: {reason}")]
    NoLibrary {
        /// The kernel.
        kernel: GpuKernel,
        /// What is missing, and where it was looked for.
        reason: String,
    },
    /// Options of CUDA kernels were given for the processors.
    #[error("cpu has none of the CUDA kernels")]
    OptionsForProcessors,
    /// The options are out of range or do not go together.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// The engine of that name, or for `auto` the one that should finish the work first. The processors of `cpu` compute what a
/// device does not. `options` chooses a CUDA kernel and its launch; with options, `auto` takes a device.
///
/// The first call with a device measures both engines, which takes about a second, and stores the figures in the user's
/// cache folder (`$XDG_CACHE_HOME/dwell/engines.json`).
///
/// # Errors
/// See [`ChoiceError`].
pub fn choose(name: EngineName, cpu: CpuEngine, options: Option<Options>, work: Work) -> Result<Chosen, ChoiceError> {
    let processors = |cpu: CpuEngine, without_device| Chosen { engine: Arc::new(cpu), without_device };
    let unavailable = |number: u32, reason: String| ChoiceError::Unavailable { name: EngineName::Cuda(number), reason };
    match name {
        EngineName::Cpu if options.is_some() => Err(ChoiceError::OptionsForProcessors),
        EngineName::Cpu => Ok(processors(cpu, None)),
        EngineName::Cuda(number) => {
            let devices = dwell_cuda::devices().map_err(|reason| unavailable(number, reason))?;
            let count = devices.len();
            let found = devices.into_iter().find(|device| device.number == number);
            let s = if count == 1 { "" } else { "s" };
            let none = || unavailable(number, format!("this machine has {count} device{s}, numbered from 0"));
            on_device(found.ok_or_else(none)?, cpu, options, work)
        }
        EngineName::Auto if options.is_none() && !is_for_a_device(&cpu, work) => Ok(processors(cpu, None)),
        EngineName::Auto => {
            let found = dwell_cuda::devices().map(|devices| devices.into_iter().next());
            match (found, options) {
                (Ok(Some(device)), Some(_)) => on_device(device, cpu, options, work),
                (Ok(Some(device)), None) => {
                    if device_is_faster(&device, &cpu, work.pixels, work.is_deep()) {
                        on_device(device, cpu, options, work)
                    } else {
                        Ok(processors(cpu, None))
                    }
                }
                // The options chose a CUDA kernel, so the processors are no substitute.
                (Err(reason), Some(_)) => Err(unavailable(0, reason)),
                (Err(reason), None) => Ok(processors(cpu, Some(reason))),
                (Ok(None), _) => Err(unavailable(0, "there is no device".to_owned())),
            }
        }
    }
}

/// Whether a device is to be looked for, which takes longer than small pictures.
fn is_for_a_device(cpu: &CpuEngine, work: Work) -> bool {
    work.suits_a_device() && !processors_are_known_to_be_faster(cpu, work.pixels, work.is_deep())
}

fn on_device(device: Device, cpu: CpuEngine, options: Option<Options>, work: Work) -> Result<Chosen, ChoiceError> {
    let options = options.unwrap_or_default();
    if options.kernel == GpuKernel::DeviceLaunches {
        let kernel = options.kernel;
        dwell_cuda::library().map_err(|reason| ChoiceError::NoLibrary { kernel, reason })?;
    }
    let engine = CudaEngine::new(device, cpu, options)?;
    if work.is_deep() {
        engine.get_ready_for_deep_views();
    }
    Ok(Chosen { engine: Arc::new(engine), without_device: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::Channel;

    #[test]
    fn processors_take_what_a_device_does_not_compute() {
        let work = Work {
            pixels: 1 << 30,
            strategy: Strategy::EveryPixel,
            channels: ChannelSet::SMOOTH,
            number: NumberKind::F64,
        };
        assert!(work.suits_a_device());
        assert!(!Work { pixels: 1 << 10, ..work }.suits_a_device());
        assert!(!Work { strategy: Strategy::BoundaryTrace, ..work }.suits_a_device());
        assert!(!Work { strategy: Strategy::MarianiSilver, ..work }.suits_a_device(), "a device infers other pixels");
        assert!(!Work { channels: ChannelSet::DISTANCE, ..work }.suits_a_device());
        let deep = Work { number: NumberKind::Exact, ..work };
        assert!(deep.suits_a_device() && Work { pixels: 1920 * 1080, ..deep }.suits_a_device());
        assert!(!Work { pixels: 480 * 270, ..deep }.suits_a_device());
        assert!(Work { channels: ChannelSet::DISTANCE, ..deep }.suits_a_device());
        assert!(!Work { channels: ChannelSet::NONE.with(Channel::Period), ..deep }.suits_a_device());
    }

    #[test]
    fn processors_are_always_there_and_have_no_kernels_of_a_device() {
        let work =
            Work { pixels: 100, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE, number: NumberKind::F64 };
        let chosen = choose(EngineName::Cpu, CpuEngine::default(), None, work).unwrap();
        assert_eq!((chosen.engine.info().name, chosen.without_device), ("cpu", None));
        let error = choose(EngineName::Cpu, CpuEngine::default(), Some(Options::default()), work).err();
        assert!(matches!(error, Some(ChoiceError::OptionsForProcessors)));
        let error = choose(EngineName::Cuda(1000), CpuEngine::default(), None, work).err();
        assert!(matches!(error, Some(ChoiceError::Unavailable { name: EngineName::Cuda(1000), .. })));
    }
}
