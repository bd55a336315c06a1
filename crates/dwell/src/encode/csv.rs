//! Dwells as text.

use super::{Encoder, zlib::Adler};
use crate::field::FieldRows;
use std::io;

/// A table.
pub(super) struct Csv;

impl Encoder for Csv {
    fn start(&self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn part(&self, field: FieldRows<'_>, _: &[u8], out: &mut Vec<u8>) -> io::Result<Adler> {
        let mut number = itoa::Buffer::new();
        for row in field.dwell.chunks(field.width as usize) {
            for (column, n) in row.iter().enumerate() {
                if column > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(number.format(*n).as_bytes());
            }
            out.push(b'\n');
        }
        Ok(Adler::default())
    }
}
