//! NumPy arrays, format version 1.0: magic, version, header length, a Python literal padded to 64 bytes, raw data.

use super::Encoder;
use crate::field::FieldRows;
use crate::view::Size;
use std::io::{self, Write};

/// An array on its way.
pub(super) struct Npy<W> {
    file: W,
}

impl<W: Write> Npy<W> {
    pub(super) fn start(size: Size, mut file: W) -> io::Result<Self> {
        const BEFORE: usize = 10;
        let mut header =
            format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({}, {}), }}", size.height, size.width);
        let padded = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
        header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
        header.push('\n');
        let length = u16::try_from(header.len()).map_err(io::Error::other)?;
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        Ok(Self { file })
    }
}

impl<W: Write> Encoder for Npy<W> {
    fn rows(&mut self, field: FieldRows<'_>, _: &[u8]) -> io::Result<()> {
        self.file.write_all(&field.dwell_bytes())
    }
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()
    }
}
