//! Dwells as text: a line for each row, values separated by commas.

use super::encoder::{DwellEncoder, FileEncoder};
use super::space::make_space;
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
        // Each value is followed by a comma or the end of the line.
        let digits = dwell.iter().max().map_or(0, |most| most.checked_ilog10().unwrap_or(0) as usize + 1);
        make_space(out, dwell.len() * (digits + 1))?;
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
