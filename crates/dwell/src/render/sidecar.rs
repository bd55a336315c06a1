//! A sidecar: a file that describes the outputs of a render, such as its statistics.

use crate::base::error::Error;
use crate::render::report::Report;
use crate::store::Output;

/// A file beside the outputs of a render, whose bytes are made of the report. It is written when the outputs have their final
/// names, and belongs to their journal: a render that is killed before the sidecar is complete writes it when it is repeated,
/// without rendering again where the journal has every byte of the outputs, and leaves no partial file of it then.
pub struct Sidecar<'a> {
    pub(super) output: Output,
    pub(super) describe: Describe<'a>,
}

/// Completes the report of a render and returns the bytes of the sidecar.
pub(super) type Describe<'a> = Box<dyn FnOnce(&mut Report) -> Result<Vec<u8>, Error> + 'a>;

impl<'a> Sidecar<'a> {
    /// A sidecar in `output`. `describe` may complete the report, which the render returns, and returns the bytes of the
    /// sidecar. After an error of it the outputs are complete and the sidecar is as it was before.
    pub fn new(output: Output, describe: impl FnOnce(&mut Report) -> Result<Vec<u8>, Error> + 'a) -> Self {
        Self { output, describe: Box::new(describe) }
    }
}

impl std::fmt::Debug for Sidecar<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sidecar").field("output", &self.output).finish_non_exhaustive()
    }
}
