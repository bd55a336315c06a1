//! A picture in memory, the result of a render without files.

use crate::colour::Depth;
use crate::iterate::engine::Notes;
use crate::view::Size;

/// A picture in memory, painted from a field or by an engine.
#[derive(Clone, Debug)]
pub struct Picture {
    pub(super) size: Size,
    pub(super) depth: Depth,
    pub(super) bytes: Vec<u8>,
    pub(super) notes: Notes,
}

impl Default for Picture {
    /// A picture without pixels.
    fn default() -> Self {
        let size = Size { width: 0, height: 0 };
        Self { size, depth: Depth::default(), bytes: Vec::new(), notes: Notes::default() }
    }
}

impl Picture {
    /// Its size in pixels.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// Bits of each of a pixel's three values.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Red, green and blue of each pixel in sRGB, row by row from the top. Each value is one byte, or two bytes in big-endian
    /// order, depending on [`Self::depth`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of [`Self::bytes`], without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Warnings of the plan and the engine, and facts of a device.
    #[must_use]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }
}
