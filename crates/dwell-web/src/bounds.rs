//! The largest sizes of what is asked for. They hold for the finished request, whatever path led there.

use crate::failure::Failure;
use dwell::{MAX_SIDE, Size};

/// Bytes of the path and query of a request.
pub(crate) const MOST_URL: usize = 8 << 10;
/// Bytes of a body with a scene, and of a message of a page: a centre of 20,000 digits fits.
pub(crate) const MOST_BODY: usize = 64 << 10;
/// Bytes of a file that is dropped on the page: as much as the program reads.
pub(crate) const MOST_FILE: usize = 8 << 20;
/// Pixels of a picture that is made in memory.
pub(crate) const MOST_PIXELS: u64 = 16 << 20;
/// Pixels of a poster.
const MOST_POSTER_PIXELS: u64 = 1 << 32;
/// Posters that are kept.
pub(crate) const MOST_JOBS: usize = 100;
/// Bookmarks that are kept.
pub(crate) const MOST_BOOKMARKS: usize = 10_000;

/// The size of a picture in memory.
pub(crate) fn picture(width: u32, height: u32) -> Result<Size, Failure> {
    sized(width, height, MOST_PIXELS)
}

/// The size of a poster.
pub(crate) fn poster(width: u32, height: u32) -> Result<Size, Failure> {
    sized(width, height, MOST_POSTER_PIXELS)
}

fn sized(width: u32, height: u32, most: u64) -> Result<Size, Failure> {
    let size = Size::new(width.min(MAX_SIDE), height.min(MAX_SIDE))?;
    if size.pixels() > most {
        let error = format!("{width} x {height} pixels are too many (accepted: at most {most} in all)");
        return Err(Failure::unprocessable(error).hint("a poster may be larger"));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_the_bounds_are_refused() {
        assert!(picture(4096, 4096).is_ok() && picture(4097, 4096).is_err());
        assert!(picture(0, 5).is_err() && picture(u32::MAX, u32::MAX).is_err() && picture(1, u32::MAX).is_err());
        assert!(poster(65_536, 65_536).is_ok() && poster(65_537, 65_536).is_err());
    }
}
