//! PNG and PPM.

use super::{Encoder, Header, png_text};
use crate::colour::Depth;
use crate::field::FieldRows;
use std::io::{self, Write};

/// A PNG on its way.
pub(super) struct Png<W: Write + 'static> {
    stream: png::StreamWriter<'static, W>,
}

impl<W: Write> Png<W> {
    pub(super) fn start(Header { size, depth, text }: Header<'_>, file: W) -> io::Result<Self> {
        let mut encoder = png::Encoder::new(file, size.width, size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(match depth {
            Depth::Eight => png::BitDepth::Eight,
            Depth::Sixteen => png::BitDepth::Sixteen,
        });
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        // Twenty times the speed of the default for files a seventh larger.
        encoder.set_compression(png::Compression::Fast);
        encoder.add_text_chunk("Software".to_owned(), concat!("dwell ", env!("CARGO_PKG_VERSION")).to_owned())?;
        if !text.is_empty() {
            encoder.add_itxt_chunk(png_text::KEYWORD.to_owned(), text.to_owned())?;
        }
        let stream = encoder.write_header()?.into_stream_writer_with_size(1 << 18)?;
        Ok(Self { stream })
    }
}

impl<W: Write> Encoder for Png<W> {
    fn rows(&mut self, _: FieldRows<'_>, picture: &[u8]) -> io::Result<()> {
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
    pub(super) fn start(Header { size, depth, .. }: Header<'_>, mut file: W) -> io::Result<Self> {
        let most = (1_u32 << depth.bits()) - 1;
        write!(file, "P6\n{} {}\n{most}\n", size.width, size.height)?;
        Ok(Self { file })
    }
}

impl<W: Write> Encoder for Ppm<W> {
    fn rows(&mut self, _: FieldRows<'_>, picture: &[u8]) -> io::Result<()> {
        self.file.write_all(picture)
    }
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.file.flush()
    }
}
