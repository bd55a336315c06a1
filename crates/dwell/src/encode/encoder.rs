//! The interfaces of the formats: an encoder turns chunks of whole rows into bytes.

use super::adler::Adler;
use crate::colour::Depth;
use crate::field::FieldRows;
use crate::view::Size;
use std::io;

/// The properties of a file that precede its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'a> {
    /// The size of the picture, in pixels.
    pub(crate) size: Size,
    /// The greatest dwell that it may hold.
    pub(crate) limit: u64,
    /// The bits of its channels.
    pub(crate) depth: Depth,
    /// The text stored in the picture; none if empty.
    #[cfg_attr(not(feature = "png"), expect(dead_code, reason = "only a PNG stores a text"))]
    pub(crate) text: &'a str,
}

/// The start and the end of a file.
pub(crate) trait FileEncoder: Send + Sync {
    /// The bytes before the first row.
    fn start(&self) -> io::Result<Vec<u8>>;
    /// The bytes after the last row. The checksum is that of all chunks, the warnings are those of the render.
    fn end(&self, _: Adler, _warnings: &[String]) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// Encodes rows of pixels.
pub(crate) trait PictureEncoder: FileEncoder {
    /// Appends a chunk of whole rows. Returns the chunk's checksum, to be combined with those of the other chunks; that
    /// of no bytes if the format has none.
    fn chunk(&self, picture: &[u8], out: &mut Vec<u8>) -> io::Result<Adler>;
}

/// Encodes rows of dwells.
pub(crate) trait DwellEncoder: FileEncoder {
    /// Appends a chunk of whole rows.
    fn chunk(&self, rows: FieldRows<'_>, out: &mut Vec<u8>) -> io::Result<()>;
}

/// The approximate bytes of a chunk of a picture: so many that compressing its first row without the row above costs
/// little.
const CHUNK_BYTES: u64 = 1 << 18;
/// The rows of a chunk, a power of two: few enough for several chunks in a band of a wide image.
const CHUNK_ROWS: std::ops::RangeInclusive<u32> = 8..=64;
/// The most bytes of a chunk of several rows.
const MOST_CHUNK_BYTES: u64 = 1 << 26;

/// The rows of each chunk of an image with rows of so many bytes. They depend on the image alone, so that its files
/// have the same bytes in every run.
pub(crate) fn chunk_rows(row_bytes: u64) -> u32 {
    let row_bytes = row_bytes.max(1);
    let fitting = u32::try_from(CHUNK_BYTES / row_bytes).unwrap_or(u32::MAX);
    let fitting = fitting.clamp(*CHUNK_ROWS.start(), *CHUNK_ROWS.end());
    let most = u32::try_from(MOST_CHUNK_BYTES / row_bytes).unwrap_or(u32::MAX).max(1);
    // Round down to a power of two.
    1 << fitting.min(most).ilog2()
}
