//! The output of a program: a file of counts.

use super::Reads;
use dwell::compare::Raster;
use dwell::{Cancel, Limits, Size};
use std::io::Read;
use std::path::Path;

/// Bytes beside the pixels: a header, texts.
const HEADER_BYTES: u64 = 1 << 20;
/// Bytes of a pixel, of which decimal numbers take the most.
const PIXEL_BYTES: u64 = 32;

/// The most bytes of the output of so many pixels.
pub(super) fn most_bytes(size: Size) -> u64 {
    HEADER_BYTES.saturating_add(size.pixels().saturating_mul(PIXEL_BYTES))
}

/// The counts in a file, from the top left.
pub(super) fn read(
    path: &Path,
    reads: Reads,
    weights: [u32; 3],
    size: Size,
    cancel: &Cancel,
) -> Result<Vec<u32>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A link is not followed, and a FIFO or a device is not opened: reading it might not end.
    let Ok(about) = std::fs::symlink_metadata(path) else { return Err(format!("it wrote no file {name:?}")) };
    if !about.is_file() {
        return Err(format!("its output {name:?} is no regular file"));
    }
    if about.len() > most_bytes(size) {
        return Err(format!("its output has {} bytes; accepted: at most {} for {size}", about.len(), most_bytes(size)));
    }
    match reads {
        Reads::Raster => {
            let limits = Limits::default();
            let raster = Raster::open(path, &limits).map_err(|error| error.to_string())?;
            if raster.size() != size {
                return Err(format!("its output has {} pixels; expected: {size}", raster.size()));
            }
            raster.counts(weights, &limits, cancel).map_err(|error| error.to_string())
        }
        Reads::RawU16 => raw(path, size, |[low, high]| u16::from_le_bytes([low, high]).into()),
        Reads::RawU32 => raw(path, size, u32::from_le_bytes),
    }
}

/// Integers of `BYTES` bytes each, without a header.
fn raw<const BYTES: usize>(path: &Path, size: Size, count: fn([u8; BYTES]) -> u32) -> Result<Vec<u32>, String> {
    let unreadable = |error: std::io::Error| format!("its output cannot be read: {error}");
    let expected = size.pixels().saturating_mul(BYTES as u64);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(expected.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 != expected {
        let has = if bytes.len() as u64 > expected { "more".to_owned() } else { bytes.len().to_string() };
        return Err(format!("its output has {has} bytes; expected: {expected} for {size} of {BYTES} bytes each"));
    }
    Ok(bytes.as_chunks::<BYTES>().0.iter().map(|bytes| count(*bytes)).collect())
}
