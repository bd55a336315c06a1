//! Dwells as text: a line for each row, values separated by commas.

use super::encoder::{DwellEncoder, FileEncoder};
use super::space::make_space;
use crate::field::FieldRows;
use std::io;

/// The encoder.
pub(super) struct Csv;

impl FileEncoder for Csv {
    fn start(&self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

impl DwellEncoder for Csv {
    fn chunk(&self, rows: FieldRows<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        // Each value is followed by a comma or the end of the line.
        let digits = rows.dwells().max().map_or(0, |most| most.checked_ilog10().unwrap_or(0) as usize + 1);
        make_space(out, rows.dwell().len() * (digits + 1))?;
        let mut number = itoa::Buffer::new();
        let mut column = 0;
        for dwell in rows.dwells() {
            out.extend_from_slice(number.format(dwell).as_bytes());
            column = (column + 1) % rows.width();
            out.push(if column == 0 { b'\n' } else { b',' });
        }
        Ok(())
    }
}
