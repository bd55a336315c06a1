//! Portable pixmaps, binary (P6).

use super::adler::Adler;
use super::encoder::{FileEncoder, Header, PictureEncoder};
use super::space::make_space;
use crate::colour::Depth;
use crate::view::Size;
use std::io;

/// The encoder.
pub(super) struct Ppm {
    size: Size,
    depth: Depth,
}

impl Ppm {
    pub(super) fn new(Header { size, depth, .. }: Header<'_>) -> Self {
        Self { size, depth }
    }
}

impl FileEncoder for Ppm {
    fn start(&self) -> io::Result<Vec<u8>> {
        let most = (1_u32 << self.depth.bits()) - 1;
        Ok(format!("P6\n{} {}\n{most}\n", self.size.width, self.size.height).into_bytes())
    }
}

impl PictureEncoder for Ppm {
    fn chunk(&self, picture: &[u8], out: &mut Vec<u8>) -> io::Result<Adler> {
        make_space(out, picture.len())?;
        out.extend_from_slice(picture);
        Ok(Adler::default())
    }
}
