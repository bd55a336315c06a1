//! The files of a render while it runs.

use super::journal::{Partials, whole};
use crate::base::error::Error;
use crate::store::Output;

/// The outputs of a render, and the output of its sidecar.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) outputs: Vec<Output>,
    pub(crate) sidecar: Option<Output>,
}

impl Files {
    /// The paths of the partial files.
    pub(super) fn partials(&self) -> Partials {
        Partials {
            outputs: self.outputs.iter().filter_map(Output::partial).map(whole).collect(),
            sidecar: self.sidecar.as_ref().and_then(Output::partial).map(whole),
        }
    }

    /// Refuses to replace a file that exists, where that was asked.
    pub(super) fn refuse_existing(&self) -> Result<(), Error> {
        self.outputs.iter().chain(&self.sidecar).try_for_each(Output::refuse_existing)
    }

    /// Creates the partial files that do not exist yet.
    pub(super) fn open(&mut self) -> Result<(), Error> {
        self.outputs.iter_mut().chain(&mut self.sidecar).try_for_each(Output::open)
    }
}
