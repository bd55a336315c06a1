//! Which variants of an experiment are run.

use crate::experiment::{Flags, Variant};

/// The flag that names an engine.
pub(crate) const ENGINE: &str = "engine";

/// Which variants are run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EngineFilter {
    /// All.
    #[default]
    Any,
    /// Those on the processors.
    Processors,
    /// Those on the device of this name: `cuda` or `cuda:N`.
    Device(String),
}

impl EngineFilter {
    /// The filter of a value of `--engine`; `None` if it is no engine.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Any),
            "cpu" => Some(Self::Processors),
            _ => (name == "cuda" || name.starts_with("cuda:")).then(|| Self::Device(name.to_owned())),
        }
    }

    /// Where a variant with these flags runs.
    pub(crate) fn of(variant: &Variant, flags: &Flags) -> Self {
        let engine = flags.get(ENGINE).filter(|_| variant.reference_loop.is_none() && variant.program.is_none());
        engine.and_then(|engine| Self::named(&engine.0)).unwrap_or(Self::Processors)
    }

    /// Why a variant that runs here is left out, if it is.
    pub(crate) fn is_left_out(&self, wanted: &Self) -> Option<String> {
        match (wanted, self) {
            (Self::Processors, Self::Device(_)) => Some("left out by --engine cpu".to_owned()),
            (Self::Device(device), Self::Processors) => Some(format!("left out by --engine {device}")),
            _ => None,
        }
    }
}
