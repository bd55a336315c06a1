//! Buffers that are kept from one render to the next.

use crate::base::error::InputError;
use crate::colour::{Colouring, Depth, Painter, Samples};
use crate::field::Field;
use crate::render::mirror::Mirror;
use crate::render::picture::Picture;
use crate::render::pipeline::BandBuffers;

/// Buffers that are kept from one render to the next, since the first access to newly allocated memory can cost more than
/// computing the values stored there. A render of the size of the one before allocates none of them.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) bands: Vec<BandBuffers>,
    /// A field that holds a whole image.
    pub(super) kept: Field,
    pub(super) verified: Field,
    pub(super) mirror: Mirror,
    pub(super) picture: Picture,
    /// The painter of the last picture in memory, kept because its tables take longer to compute than a small picture.
    pub(super) painter: Option<Painter>,
}

impl Scratch {
    /// The field that the last call computed: of a task, or of a picture whose dwells were not painted on a device.
    #[must_use]
    pub fn last_field(&self) -> &Field {
        &self.kept
    }

    /// A painter with these parameters: the one of the last call, if its parameters are equal.
    pub(super) fn take_painter(
        &mut self,
        colouring: &Colouring,
        limit: u64,
        depth: Depth,
        samples: Samples,
        dither: bool,
    ) -> Result<Painter, InputError> {
        let kept = self.painter.take().filter(|painter| painter.is_for(colouring, limit, depth, samples, dither));
        kept.map_or_else(|| Painter::new(colouring, limit, depth, samples, dither), Ok)
    }
}
