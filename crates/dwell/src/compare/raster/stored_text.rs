//! A text of unknown length that is stored while it is read.

use crate::base::error::InputError;
use crate::base::limits::resize;
use crate::base::problem::Problem;
use std::collections::VecDeque;
use std::io::{self, BufRead, Cursor, Read};

/// The bytes of a piece. Pieces are never copied to grow.
const PIECE_BYTES: usize = 1 << 20;

/// A stored text.
pub(super) struct StoredText {
    /// Full pieces, and the one that is being filled, of [`PIECE_BYTES`] bytes each.
    pieces: VecDeque<Vec<u8>>,
    /// The bytes used of the last piece.
    used: usize,
    /// The most bytes of all pieces.
    most: u64,
}

impl StoredText {
    /// A store of at most `most` bytes.
    pub(super) fn new(most: u64) -> Self {
        Self { pieces: VecDeque::new(), used: PIECE_BYTES, most }
    }

    /// Adds a text and a byte after it.
    ///
    /// # Errors
    /// When the store is full, or the system has no memory.
    pub(super) fn add(&mut self, text: &[u8], then: u8) -> Result<(), InputError> {
        for byte in text.iter().chain([&then]) {
            if self.used == PIECE_BYTES {
                self.grow()?;
            }
            if let Some(place) = self.pieces.back_mut().and_then(|piece| piece.get_mut(self.used)) {
                *place = *byte;
            }
            self.used += 1;
        }
        Ok(())
    }

    fn grow(&mut self) -> Result<(), InputError> {
        if self.allocated() + PIECE_BYTES as u64 > self.most {
            return Err(InputError::new(Problem::PipeTooLong { most_bytes: self.most }));
        }
        let mut piece = Vec::new();
        resize(&mut piece, PIECE_BYTES, 0, "a table from a pipe")?;
        self.pieces.push_back(piece);
        self.used = 0;
        Ok(())
    }

    /// The bytes of memory that it takes.
    pub(super) fn allocated(&self) -> u64 {
        (self.pieces.len() * PIECE_BYTES) as u64
    }

    /// A reader of the text from its start. A piece is freed once it has been read.
    pub(super) fn into_reader(mut self) -> StoredReader {
        if let Some(last) = self.pieces.back_mut() {
            last.truncate(self.used);
        }
        StoredReader(self.pieces.into_iter().map(Cursor::new).collect())
    }
}

/// A reader of a [`StoredText`].
pub(super) struct StoredReader(VecDeque<Cursor<Vec<u8>>>);

impl BufRead for StoredReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.0.front().is_some_and(|piece| piece.position() >= piece.get_ref().len() as u64) {
            self.0.pop_front();
        }
        self.0.front_mut().map_or(Ok(&[]), Cursor::fill_buf)
    }
    fn consume(&mut self, count: usize) {
        if let Some(piece) = self.0.front_mut() {
            piece.consume(count);
        }
    }
}

impl Read for StoredReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_several_pieces_are_read_back() {
        let mut stored = StoredText::new(3 << 20);
        let mut expected = Vec::new();
        for i in 0..300_000 {
            let text = i.to_string();
            stored.add(text.as_bytes(), b'\n').unwrap();
            expected.extend_from_slice(text.as_bytes());
            expected.push(b'\n');
        }
        assert_eq!(stored.allocated(), 2 << 20);
        let mut found = Vec::new();
        stored.into_reader().read_to_end(&mut found).unwrap();
        assert!(found == expected);
        let mut nothing = Vec::new();
        StoredText::new(0).into_reader().read_to_end(&mut nothing).unwrap();
        assert!(nothing.is_empty() && StoredText::new(1000).add(b"1", b',').is_err());
    }
}
