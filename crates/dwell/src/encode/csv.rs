//! Dwells as text: a line for each row, values separated by commas.

use super::encoder::{DwellEncoder, FileEncoder};
use std::io;

/// The encoder.
pub(super) struct Csv;

impl FileEncoder for Csv {
    fn start(&self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

impl DwellEncoder for Csv {
    fn chunk(&self, dwell: &[u32], width: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let mut number = itoa::Buffer::new();
        for row in dwell.chunks(width) {
            for (column, n) in row.iter().enumerate() {
                if column > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(number.format(*n).as_bytes());
            }
            out.push(b'\n');
        }
        Ok(())
    }
}
