//! Dwells as text.

use super::Encoder;
use crate::field::FieldRows;
use std::io::{self, Write};

/// A table on its way.
pub(super) struct Csv<W> {
    file: W,
    line: Vec<u8>,
}

impl<W: Write> Csv<W> {
    pub(super) fn start(file: W) -> Self {
        Self { file, line: Vec::new() }
    }
}

/// Text is handed on in pieces of about this size.
const PIECE: usize = 1 << 16;

impl<W: Write> Encoder for Csv<W> {
    fn rows(&mut self, field: FieldRows<'_>, _: &[u8]) -> io::Result<()> {
        let mut number = itoa::Buffer::new();
        for row in field.dwell.chunks(field.width as usize) {
            for (column, n) in row.iter().enumerate() {
                if column > 0 {
                    self.line.push(b',');
                }
                self.line.extend_from_slice(number.format(*n).as_bytes());
                if self.line.len() >= PIECE {
                    self.file.write_all(&self.line)?;
                    self.line.clear();
                }
            }
            self.line.push(b'\n');
        }
        self.file.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()
    }
}
