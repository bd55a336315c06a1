//! How the rows of a band are divided: into chunks, which are encoded at once, and these into pieces, which are painted at once.
//!
//! Chunks are fixed by the image, since the bytes of a file depend on them. A picture of 1920x1080 has 34, of which 16 threads would
//! process three each at most and one on average twice, and refined pixels are distributed unevenly over them. Pieces change no byte, so
//! that they can be as small as the number of threads requires.

use crate::base::error::InputError;
use crate::base::limits::reserve;
use crate::view::settings::NumberKind;
use std::ops::Range;

/// Pieces of an image for each thread, at least.
const PIECES_PER_THREAD: u64 = 8;
/// The fewest samples of a piece. The rows beside it are coloured a second time where pixels are refined.
const LEAST_SAMPLES: u64 = 1 << 13;
/// The same in exact arithmetic, where a sample may take milliseconds.
const LEAST_SAMPLES_EXACT: u64 = 1 << 8;

/// The rows of chunks and of pieces, of which each chunk has a whole number, but for the last of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    chunk_rows: u32,
    piece_rows: u32,
}

impl Division {
    /// Chunks of one piece each.
    pub(crate) fn of_chunks(chunk_rows: u32) -> Self {
        Self { chunk_rows, piece_rows: chunk_rows }
    }

    /// The same chunks, of one piece each.
    pub(super) fn of_whole_chunks(self) -> Self {
        Self::of_chunks(self.chunk_rows)
    }

    /// Chunks of so many rows, in pieces for so many threads. The rows of a piece are a multiple of `samples`, as those of a chunk are.
    /// `width` and `height` are those of the image, in samples.
    pub(crate) fn for_threads(
        chunk_rows: u32,
        samples: u32,
        [width, height]: [u32; 2],
        threads: usize,
        number: NumberKind,
    ) -> Self {
        let mut piece_rows = chunk_rows;
        let least = if number == NumberKind::Exact { LEAST_SAMPLES_EXACT } else { LEAST_SAMPLES };
        let is_too_few = |rows: u32| u64::from(height.div_ceil(rows)) < PIECES_PER_THREAD * threads as u64;
        let is_large = |rows: u32| u64::from(rows) * u64::from(width) >= least;
        while is_too_few(piece_rows)
            && let Some(factor) = least_factor(piece_rows / samples.max(1))
            && is_large(piece_rows / factor)
        {
            piece_rows /= factor;
        }
        Self { chunk_rows, piece_rows }
    }

    /// The rows of a piece.
    pub(crate) fn piece_rows(self) -> u32 {
        self.piece_rows
    }

    /// The chunks of a band of these rows.
    pub(crate) fn chunks(self, band: &Range<u32>) -> usize {
        band.len().div_ceil(self.chunk_rows as usize)
    }

    /// The pieces of a band of these rows.
    pub(crate) fn pieces(self, band: &Range<u32>) -> usize {
        band.len().div_ceil(self.piece_rows as usize)
    }

    /// The chunk of a piece, and the number of the piece in it.
    pub(super) fn chunk_of(self, piece: usize) -> [usize; 2] {
        let pieces = (self.chunk_rows / self.piece_rows) as usize;
        [piece / pieces, piece % pieces]
    }

    /// The rows of a chunk.
    pub(super) fn chunk(self, band: &Range<u32>, number: usize) -> Range<u32> {
        part(band, self.chunk_rows, number)
    }

    /// The rows of a piece.
    pub(super) fn piece(self, band: &Range<u32>, number: usize) -> Range<u32> {
        part(band, self.piece_rows, number)
    }
}

/// The least prime factor of a number above 1.
fn least_factor(number: u32) -> Option<u32> {
    (2..=number).find(|factor| number.is_multiple_of(*factor))
}

fn part(band: &Range<u32>, rows: u32, number: usize) -> Range<u32> {
    let first = band.start + number as u32 * rows;
    first..band.end.min(first.saturating_add(rows))
}

/// Appends the pictures of the pieces of a chunk. Each is freed once it is copied.
///
/// # Errors
/// When the system has not enough memory.
pub(super) fn joined(pieces: Vec<Vec<u8>>) -> Result<Vec<u8>, InputError> {
    let more = pieces.iter().skip(1).map(Vec::len).sum::<usize>();
    let mut pieces = pieces.into_iter();
    let mut picture = pieces.next().unwrap_or_default();
    reserve(&mut picture, more, "the picture")?;
    pieces.for_each(|piece| picture.extend_from_slice(&piece));
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_suffice_for_the_threads_and_fill_their_chunks() {
        let rows = |chunk, samples, size, threads| {
            Division::for_threads(chunk, samples, size, threads, NumberKind::F64).piece_rows
        };
        assert_eq!(rows(32, 1, [1920, 1080], 1), 32);
        assert_eq!(rows(32, 1, [1920, 1080], 2), 32);
        assert_eq!(rows(32, 1, [1920, 1080], 8), 16);
        assert_eq!(rows(32, 1, [1920, 1080], 16), 8);
        assert_eq!(rows(32, 1, [1920, 1080], 64), 8, "pieces are not too small");
        assert_eq!(rows(96, 3, [5760, 3240], 64), 6, "a piece has whole pixels");
        assert_eq!(rows(45, 3, [900, 45], 16), 15, "a piece has whole pixels");
        let exact = |chunk, size| Division::for_threads(chunk, 1, size, 2, NumberKind::Exact).piece_rows;
        assert_eq!((exact(27, [48, 27]), exact(32, [1920, 1080])), (9, 32));
        assert_eq!(exact(27, [20, 27]), 27, "pieces are not too small");
        for division in [Division::for_threads(32, 1, [1920, 1080], 16, NumberKind::F64), Division::of_chunks(32)] {
            let band = 64..1061;
            let mut next = band.start;
            for piece in 0..division.pieces(&band) {
                let ([chunk, within], rows) = (division.chunk_of(piece), division.piece(&band, piece));
                assert_eq!(rows.start, next);
                let chunk = division.chunk(&band, chunk);
                assert_eq!(rows.start, chunk.start + within as u32 * division.piece_rows);
                assert!(rows.end <= chunk.end && !rows.is_empty());
                next = rows.end;
            }
            assert_eq!((next, division.chunk(&band, division.chunks(&band) - 1).end), (band.end, band.end));
        }
    }

    #[test]
    fn pieces_are_joined_in_order() {
        assert_eq!(joined(vec![vec![1, 2], vec![3], Vec::new(), vec![4]]).unwrap(), [1, 2, 3, 4]);
        assert!(joined(Vec::new()).unwrap().is_empty());
    }
}
