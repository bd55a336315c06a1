//! NumPy arrays, format version 1.0: magic, version, header length, a Python literal padded to 64 bytes, raw data.

use super::encoder::{DwellEncoder, FileEncoder};
use super::space::make_space;
use crate::field::FieldRows;
use crate::view::Size;
use crate::view::settings::MOST_COUNT;
use std::io;

/// The encoder.
pub(super) struct Npy {
    size: Size,
    limit: u64,
}

impl Npy {
    /// For an array of that size, of dwells up to a limit: of 4 bytes each where that suffices, otherwise of 8.
    pub(super) fn new(size: Size, limit: u64) -> Self {
        Self { size, limit }
    }
}

impl FileEncoder for Npy {
    fn start(&self) -> io::Result<Vec<u8>> {
        const BEFORE: usize = 10;
        let Size { width, height } = self.size;
        let kind = if self.limit > MOST_COUNT { "<u8" } else { "<u4" };
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({height}, {width}), }}");
        let padded = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
        header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
        header.push('\n');
        let length = u16::try_from(header.len()).map_err(io::Error::other)?;
        Ok([b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), header.as_bytes()].concat())
    }
}

impl DwellEncoder for Npy {
    fn chunk(&self, rows: FieldRows<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        let bytes = rows.dwell_bytes().map_err(io::Error::other)?;
        make_space(out, bytes.len())?;
        out.extend_from_slice(&bytes);
        Ok(())
    }
}
