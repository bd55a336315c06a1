//! PNG and PPM.

use super::Encoder;
use crate::field::Field;
use crate::view::Size;
use std::io::{self, Write};

/// A PNG on its way.
pub(super) struct Png<W: Write + 'static> {
    stream: png::StreamWriter<'static, W>,
}

impl<W: Write> Png<W> {
    pub(super) fn start(size: Size, file: W) -> io::Result<Self> {
        let mut encoder = png::Encoder::new(file, size.width, size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        // Twenty times the speed of the default for files a seventh larger.
        encoder.set_compression(png::Compression::Fast);
        let stream = encoder.write_header()?.into_stream_writer_with_size(1 << 18)?;
        Ok(Self { stream })
    }
}

impl<W: Write> Encoder for Png<W> {
    fn rows(&mut self, _: &Field, picture: &[u8]) -> io::Result<()> {
        self.stream.write_all(picture)
    }
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(self.stream.finish()?)
    }
}

/// A PPM on its way.
pub(super) struct Ppm<W> {
    file: W,
}

impl<W: Write> Ppm<W> {
    pub(super) fn start(size: Size, mut file: W) -> io::Result<Self> {
        write!(file, "P6\n{} {}\n255\n", size.width, size.height)?;
        Ok(Self { file })
    }
}

impl<W: Write> Encoder for Ppm<W> {
    fn rows(&mut self, _: &Field, picture: &[u8]) -> io::Result<()> {
        self.file.write_all(picture)
    }
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()
    }
}
