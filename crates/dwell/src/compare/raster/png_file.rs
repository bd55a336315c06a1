//! PNG images of every colour type and bit depth, read row by row.

use super::{Bytes, Content, Opened, Pixel, Pixels, RasterInput, size};
use crate::base::error::InputError;
use crate::base::limits::{Limits, resize};
use crate::input::open::unreadable;
use png::{ColorType, Decoder, DecodingError, Reader, Transformations};

/// The most bytes that the PNG reader may allocate for data other than pixels: texts, a palette.
const MOST_BYTES: usize = 16 << 20;
/// The rows in memory: one of ours, and those that the PNG reader filters, expands and decompresses.
const ROWS: u64 = 4;
/// The most bytes to which one byte of compressed data can expand: in DEFLATE, 258 bytes for two bits.
const MOST_RATIO: u128 = 1032;

struct Png {
    reader: Reader<Box<dyn Bytes>>,
    channels: usize,
    wide: bool,
    /// The current row, or all rows of an interlaced image.
    raw: Vec<u8>,
    row_bytes: usize,
    /// The number of bytes of `raw` already returned.
    taken: usize,
    interlaced: bool,
}

fn wrong(error: DecodingError) -> InputError {
    match error {
        DecodingError::IoError(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
            InputError::malformed("is cut short: its image data end too early")
        }
        DecodingError::IoError(e) => unreadable(&e),
        other => InputError::malformed(format!("is no PNG that can be read: {other}")),
    }
}

pub(super) fn open(input: RasterInput, limits: &Limits) -> Result<Opened, InputError> {
    let length = input.length;
    let mut decoder = Decoder::new_with_limits(input.bytes, png::Limits { bytes: MOST_BYTES });
    // The checksum of the pixels, too, which the reader does not check by default.
    decoder.ignore_checksums(false);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    // Expands palettes to colours, a transparent colour to an opacity channel, and fewer than 8 bits to 8.
    decoder.set_transformations(Transformations::EXPAND);
    let header = decoder.read_header_info().map_err(wrong)?;
    let size = size(header.width.into(), header.height.into())?;
    let interlaced = header.interlaced;
    // Before a row is allocated, check that the file can contain the pixels and that a row of at most 8 bytes per pixel
    // is within the limit.
    let raw_row = u128::from(header.width) * header.color_type.samples() as u128 * header.bit_depth as u128 / 8 + 1;
    let raw = raw_row * u128::from(header.height);
    if let Some(length) = length
        && u128::from(length) * MOST_RATIO < raw
    {
        return Err(InputError::malformed(format!("is cut short: {length} bytes cannot hold {raw} bytes of pixels")));
    }
    let others = length.unwrap_or(u64::MAX).min(MOST_BYTES as u64);
    let rows = u64::from(size.width).saturating_mul(8 * ROWS) + others;
    limits.reserve("its rows", rows)?;
    let reader = decoder.read_info().map_err(wrong)?;
    check_palette(reader.info())?;
    let (colour, depth) = reader.output_color_type();
    let row_bytes =
        reader.output_line_size(size.width).ok_or_else(|| InputError::malformed("its rows are too long"))?;
    let mut memory_bytes = rows;
    if interlaced {
        let whole = u128::from(size.height).saturating_mul(row_bytes as u128);
        memory_bytes = memory_bytes.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX));
        limits.reserve("an interlaced image", memory_bytes)?;
    }
    let (name, alpha) = match colour {
        ColorType::Grayscale => ("grey", false),
        ColorType::GrayscaleAlpha => ("grey with alpha", true),
        ColorType::Rgba => ("RGB with alpha", true),
        ColorType::Rgb | ColorType::Indexed => ("RGB", false),
    };
    let wide = depth == png::BitDepth::Sixteen;
    let format = format!("png, {name}, {} bits", if wide { 16 } else { 8 });
    let most = if wide { u16::MAX } else { 255 };
    let png = Png { reader, channels: colour.samples(), wide, raw: Vec::new(), row_bytes, taken: 0, interlaced };
    Ok(Opened { format, size, content: Content::Image { pixels: Box::new(png), most, alpha }, memory_bytes })
}

/// Checks that a palette has 1 to 256 entries of 3 bytes. The row reader of png 0.18 panics on others (found by
/// fuzzing).
fn check_palette(info: &png::Info<'_>) -> Result<(), InputError> {
    match info.palette.as_deref() {
        Some(palette) if !palette.len().is_multiple_of(3) || !(3..=768).contains(&palette.len()) => {
            let problem = format!("is no PNG that can be read: its palette has {} bytes", palette.len());
            Err(InputError::malformed(problem).accepts("3 for each of 1 to 256 colours"))
        }
        _ => Ok(()),
    }
}

impl Png {
    /// Reads the next row, or all rows of an interlaced image.
    fn next_row(&mut self) -> Result<(), InputError> {
        if self.interlaced {
            if self.raw.is_empty() {
                let bytes = self.reader.output_buffer_size().unwrap_or(usize::MAX);
                resize(&mut self.raw, bytes, 0, "an interlaced image")?;
                self.reader.next_frame(&mut self.raw).map_err(wrong)?;
            }
            return Ok(());
        }
        resize(&mut self.raw, self.row_bytes, 0, "a row")?;
        self.taken = 0;
        match self.reader.read_row(&mut self.raw).map_err(wrong)? {
            Some(_) => Ok(()),
            None => Err(InputError::malformed("is cut short: its image data end too early")),
        }
    }
}

impl Pixels for Png {
    fn read(&mut self, into: &mut [Pixel]) -> Result<(), InputError> {
        if self.raw.is_empty() || (!self.interlaced && self.taken == self.row_bytes) {
            self.next_row()?;
        }
        let bytes = self.channels * if self.wide { 2 } else { 1 };
        let raw = &self.raw[self.taken..self.taken + into.len() * bytes];
        self.taken += raw.len();
        for (pixel, raw) in into.iter_mut().zip(raw.chunks_exact(bytes)) {
            let value = |at: usize| match self.wide {
                true => u16::from_be_bytes([raw[2 * at], raw[2 * at + 1]]),
                false => u16::from(raw[at]) * 257,
            };
            *pixel = match self.channels {
                1 => [value(0), value(0), value(0), u16::MAX],
                2 => [value(0), value(0), value(0), value(1)],
                3 => [value(0), value(1), value(2), u16::MAX],
                _ => [value(0), value(1), value(2), value(3)],
            };
        }
        Ok(())
    }
    fn finish(&mut self) -> Result<(), InputError> {
        self.reader.finish().map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::raster::{Raster, tests_support::pixels};
    use png::BitDepth;

    fn picture(colour: ColorType, depth: BitDepth, (w, h): (u32, u32), data: &[u8], palette: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, w, h);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if palette {
            encoder.set_palette(vec![1, 2, 3, 255, 254, 253]);
            encoder.set_trns(vec![128]);
        }
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        bytes
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<Pixel>, InputError> {
        pixels(Raster::from_bytes(bytes, "x", &Limits::default())?)
    }

    #[test]
    fn every_colour_type_is_read() {
        let m = u16::MAX;
        let one = |colour, depth, data: &[u8]| read(picture(colour, depth, (1, 1), data, false)).unwrap()[0];
        assert_eq!(one(ColorType::Grayscale, BitDepth::Eight, &[2]), [514, 514, 514, m]);
        assert_eq!(one(ColorType::Grayscale, BitDepth::One, &[0x80]), [m; 4]);
        assert_eq!(one(ColorType::Grayscale, BitDepth::Two, &[0x40]), [85 * 257, 85 * 257, 85 * 257, m]);
        assert_eq!(one(ColorType::Grayscale, BitDepth::Sixteen, &[1, 2]), [258, 258, 258, m]);
        assert_eq!(one(ColorType::GrayscaleAlpha, BitDepth::Eight, &[1, 0]), [257, 257, 257, 0]);
        assert_eq!(one(ColorType::Rgb, BitDepth::Eight, &[0, 1, 255]), [0, 257, m, m]);
        assert_eq!(one(ColorType::Rgb, BitDepth::Sixteen, &[0, 1, 0, 2, 0, 3]), [1, 2, 3, m]);
        assert_eq!(one(ColorType::Rgba, BitDepth::Sixteen, &[0, 1, 0, 2, 0, 3, 0, 4]), [1, 2, 3, 4]);
        let palette = read(picture(ColorType::Indexed, BitDepth::One, (2, 1), &[0x40], true)).unwrap();
        assert_eq!(palette, [[257, 514, 771, 128 * 257], [m, 254 * 257, 253 * 257, m]]);
    }

    #[test]
    fn palettes_of_invalid_length_are_errors() {
        // The encoder of the png crate writes palettes of any length.
        for (bytes, good) in
            [(0, false), (1, false), (2, false), (3, true), (4, false), (768, true), (769, false), (771, false)]
        {
            let mut file = Vec::new();
            let mut encoder = png::Encoder::new(&mut file, 1, 1);
            encoder.set_color(ColorType::Indexed);
            encoder.set_palette(vec![7; bytes]);
            encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
            assert_eq!(read(file).is_ok(), good, "{bytes}");
        }
    }

    #[test]
    fn rows_are_read_and_damage_is_an_error() {
        let data: Vec<u8> = (0..40 * 30 * 3).map(|i: u32| (i % 251) as u8).collect();
        let whole = picture(ColorType::Rgb, BitDepth::Eight, (40, 30), &data, false);
        let read_back = read(whole.clone()).unwrap();
        assert!(read_back.iter().flat_map(|p| p[..3].iter()).zip(&data).all(|(a, b)| *a == u16::from(*b) * 257));
        for cut in [8, 20, 33, 40, 60, whole.len() / 2, whole.len() - 13, whole.len() - 5] {
            assert!(read(whole[..cut].to_vec()).is_err(), "{cut}");
        }
        // A header of 2^31 - 1 x 2^31 - 1 pixels in a few bytes.
        let mut huge = whole.clone();
        huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        assert!(read(huge).is_err());
        for at in 8..whole.len() {
            let mut spoiled = whole.clone();
            spoiled[at] ^= 0x55;
            let _ = read(spoiled);
        }
    }
}
