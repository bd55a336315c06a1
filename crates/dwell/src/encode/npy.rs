//! NumPy arrays, format version 1.0: magic, version, header length, a Python literal padded to 64 bytes, raw data.

use super::encoder::{DwellEncoder, FileEncoder};
use super::space::make_space;
use crate::field::channels::dwell_bytes;
use crate::view::Size;
use std::io;

/// The encoder.
pub(super) struct Npy {
    size: Size,
}

impl Npy {
    pub(super) fn new(size: Size) -> Self {
        Self { size }
    }
}

impl FileEncoder for Npy {
    fn start(&self) -> io::Result<Vec<u8>> {
        const BEFORE: usize = 10;
        let Size { width, height } = self.size;
        let mut header = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({height}, {width}), }}");
        let padded = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
        header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
        header.push('\n');
        let length = u16::try_from(header.len()).map_err(io::Error::other)?;
        Ok([b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), header.as_bytes()].concat())
    }
}

impl DwellEncoder for Npy {
    fn chunk(&self, dwell: &[u32], _: usize, out: &mut Vec<u8>) -> io::Result<()> {
        make_space(out, size_of_val(dwell))?;
        out.extend_from_slice(&dwell_bytes(dwell));
        Ok(())
    }
}
