//! The engine that `--engine` chooses, with the messages about it.

use crate::error_text::{Failure, Usage};
use dwell::{CpuEngine, Engine};
use dwell_cuda::Options;
use dwell_engines::{ChoiceError, EngineName, Work};
use std::sync::Arc;

/// The value of `--engine`; `None` where the flag is absent, which chooses as `auto` does, without a remark where there is
/// no device.
pub(crate) fn name(flag: Option<&str>) -> Result<Option<EngineName>, Failure> {
    flag.map(|text| text.parse().map_err(|error| Failure::from(dwell::Error::Input(error)).about("--engine")))
        .transpose()
}

/// Whether the program may choose either engine.
pub(crate) fn is_free(name: Option<EngineName>) -> bool {
    matches!(name, None | Some(EngineName::Auto))
}

/// The chosen engine, and a remark on the choice. `options` are the launch options that flags give, if they give any.
pub(crate) fn choose(
    name: Option<EngineName>,
    cpu: CpuEngine,
    options: Option<Options>,
    work: Work,
) -> Result<(Arc<dyn Engine>, Option<String>), Failure> {
    let chosen = dwell_engines::choose(name.unwrap_or_default(), cpu, options, work)?;
    let remark = chosen.without_device.filter(|_| name == Some(EngineName::Auto));
    Ok((chosen.engine, remark.map(|why| format!("warning: on processors: {why}"))))
}

impl From<ChoiceError> for Failure {
    fn from(error: ChoiceError) -> Self {
        match error {
            ChoiceError::Unavailable { .. } => Self::Engine(
                Usage::new("--engine", error.to_string()).hint("--engine cpu, or auto, renders the same bytes"),
            ),
            ChoiceError::NoLibrary { kernel, reason } => {
                Self::Engine(Usage::new(format!("--gpu-kernel {kernel}"), reason))
            }
            ChoiceError::OptionsForProcessors => Usage::new("--engine", error.to_string())
                .hint("--engine cuda, or leave out what chooses a kernel")
                .into(),
            ChoiceError::Input(error) => error.into(),
            // Errors of a newer library are shown in its own words.
            error => Self::Engine(Usage::new("--engine", error.to_string())),
        }
    }
}
