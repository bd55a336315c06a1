//! PNG: each chunk of rows is filtered and compressed separately, and the results are joined into one stream.
//!
//! A chunk of rows is an `IDAT` chunk of the file. Its first row is filtered without the row above, so that the bytes
//! depend on the rows of the chunk alone; with 8 rows and more that costs at most a few per cent of the size.
//! Compression is that of [`fdeflate`], made for filtered images.

mod filters;
#[cfg(feature = "toml")]
pub(crate) mod text;
mod whole;
mod zlib;

pub use whole::png_bytes;

use super::adler::Adler;
use super::encoder::{FileEncoder, Header, PictureEncoder};
use super::space::{Growing, WHAT, make_space, out_of_memory};
use crate::base::error::InputError;
use crate::base::limits::{copied, reserved};
use crate::colour::Depth;
use crate::view::Size;
use filters::Filters;
use std::io::{self, Cursor};

/// The keyword of the text, an `iTXt` chunk before the image data.
const KEYWORD: &str = "dwell";
/// The `Software` text of the pictures written here.
pub(crate) const SOFTWARE: &str = concat!("dwell ", env!("CARGO_PKG_VERSION"));
/// The `Description` text of a picture of differences.
pub(crate) const COMPARISON: &str = "The differences of two files";
/// Bytes of the last chunk, `IEND`.
const END: usize = 12;
/// Bytes of a PNG chunk's length and kind.
const CHUNK_HEADER: usize = 8;
/// The most bytes of data in a PNG chunk written here; the format allows 2^31 - 1.
const MOST_CHUNK: usize = 1 << 30;

/// The encoder.
pub(super) struct Png {
    size: Size,
    depth: Depth,
    /// UTF-8.
    text: Vec<u8>,
}

impl Png {
    /// # Errors
    /// When the system has not enough memory for the text.
    pub(super) fn new(header: Header<'_>) -> Result<Self, InputError> {
        Ok(Self { size: header.size, depth: header.depth, text: copied(header.text.as_bytes(), "the text")? })
    }
}

impl FileEncoder for Png {
    fn start(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.size.width, self.size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(match self.depth {
            Depth::Eight => png::BitDepth::Eight,
            Depth::Sixteen => png::BitDepth::Sixteen,
        });
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.add_text_chunk("Software".to_owned(), SOFTWARE.to_owned())?;
        drop(encoder.write_header()?);
        // Dropping the writer has appended the `IEND` chunk.
        bytes.truncate(bytes.len() - END);
        if !self.text.is_empty() {
            append_text(&mut bytes, KEYWORD, &self.text)?;
        }
        append(&mut bytes, *b"IDAT", &zlib::HEADER);
        Ok(bytes)
    }

    fn end(&self, sum: Adler, warnings: &[String]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        append(&mut bytes, *b"IDAT", &zlib::end(sum));
        if !warnings.is_empty() {
            // A keyword of the specification.
            append_text(&mut bytes, "Warning", warnings.join("\n").as_bytes())?;
        }
        append(&mut bytes, *b"IEND", &[]);
        Ok(bytes)
    }
}

impl PictureEncoder for Png {
    fn chunk(&self, picture: &[u8], out: &mut Vec<u8>) -> io::Result<Adler> {
        let pixel = self.depth.bytes_per_pixel();
        let row = self.size.width as usize * pixel;
        let raw = picture.len() / row * (row + 1);
        let mut filters = Filters::new(pixel, row).map_err(out_of_memory)?;
        // The stream's header takes the last bytes of the place for the chunk's header, which overwrites it.
        let start = out.len();
        out.resize(start + CHUNK_HEADER - zlib::HEADER_BYTES, 0);
        let stream = out.len();
        // Most chunks need no more.
        make_space(out, raw / 3 + 64)?;
        let mut compressor = fdeflate::Compressor::new(Growing(std::mem::take(out)))?;
        let mut above = None;
        for row in picture.chunks_exact(row) {
            compressor.write_data(filters.filter(above, row))?;
            above = Some(row);
        }
        *out = compressor.finish()?.0;
        let stored_bytes = fdeflate::StoredOnlyCompressor::<()>::compressed_size(raw);
        if out.len() - stream > stored_bytes {
            // The compressor writes within this space.
            let space = reserved(stored_bytes, WHAT).map_err(out_of_memory)?;
            let mut stored = fdeflate::StoredOnlyCompressor::new(Cursor::new(space))?;
            for row in picture.chunks_exact(row) {
                stored.write_data(&[0])?;
                stored.write_data(row)?;
            }
            out.truncate(stream);
            out.extend_from_slice(stored.finish()?.get_ref());
        }
        // For the ends of the stream and of the chunk.
        make_space(out, 64)?;
        let sum = zlib::open(out, stream, raw as u64)?;
        let data = out.len() - start - CHUNK_HEADER;
        if data <= MOST_CHUNK {
            seal(out, start, *b"IDAT");
        } else {
            let data = copied(&out[start + CHUNK_HEADER..], WHAT).map_err(out_of_memory)?;
            out.truncate(start);
            for data in data.chunks(MOST_CHUNK) {
                make_space(out, data.len() + 64)?;
                append(out, *b"IDAT", data);
            }
        }
        Ok(sum)
    }
}

/// Appends a PNG chunk with at most [`MOST_CHUNK`] bytes of data.
fn append(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&[0; CHUNK_HEADER]);
    out.extend_from_slice(data);
    seal(out, start, kind);
}

/// Appends a text that is not compressed and names no language, as an `iTXt` chunk.
fn append_text(out: &mut Vec<u8>, keyword: &str, text: &[u8]) -> io::Result<()> {
    let parts = [keyword.as_bytes(), &[0; 5], text];
    let length = parts.iter().map(|part| part.len()).sum::<usize>();
    make_space(out, length + 64)?;
    let start = out.len();
    out.extend_from_slice(&[0; CHUNK_HEADER]);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    seal(out, start, *b"iTXt");
    Ok(())
}

/// Completes the PNG chunk that begins at `start` with a place for its header: fills in length and kind, and appends
/// the checksum.
fn seal(out: &mut Vec<u8>, start: usize, kind: [u8; 4]) {
    #[expect(clippy::cast_possible_truncation, reason = "at most MOST_CHUNK")]
    let length = (out.len() - start - CHUNK_HEADER) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    out[start + 4..start + CHUNK_HEADER].copy_from_slice(&kind);
    let sum = crc32fast::hash(&out[start + 4..]);
    out.extend_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::encoder::chunk_rows;

    /// A picture encoded in chunks of so many rows and decoded again, and the bytes of its file.
    fn round_trip(size: Size, depth: Depth, rows: usize, picture: &[u8]) -> (Vec<u8>, usize) {
        let encoder = Png { size, depth, text: b"text".to_vec() };
        let mut bytes = encoder.start().unwrap();
        let row = size.width as usize * depth.bytes_per_pixel();
        let mut sum = Adler::default();
        for chunk in picture.chunks(row * rows) {
            sum = sum.then(encoder.chunk(chunk, &mut bytes).unwrap());
        }
        bytes.extend(encoder.end(sum, &[]).unwrap());
        let mut reader = png::Decoder::new(Cursor::new(&bytes)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut decoded).unwrap();
        reader.finish().unwrap();
        (decoded, bytes.len())
    }

    #[test]
    fn chunks_of_any_content_join_into_one_stream() {
        let mut seed = 1_u32;
        let mut noise = move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        for (width, height) in [(1, 1), (1, 9), (3, 2), (17, 31), (200, 40), (1000, 70), (9001, 3)] {
            for depth in Depth::ALL {
                let length = width as usize * height as usize * depth.bytes_per_pixel();
                let pictures: [Vec<u8>; 4] = [
                    vec![0; length],
                    (0..length).map(|i| (i / 7) as u8).collect(),
                    (0..length).map(|_| noise()).collect(),
                    (0..length).map(|i| if i / 4000 % 2 == 0 { noise() } else { 9 }).collect(),
                ];
                for (which, picture) in pictures.iter().enumerate() {
                    for rows in [1, 2, 8, 64] {
                        let (decoded, bytes) = round_trip(Size { width, height }, depth, rows, picture);
                        assert!(decoded == *picture, "{width} x {height}, {depth:?}, {which}, {rows} rows a chunk");
                        let chunks = (height as usize).div_ceil(rows);
                        assert!(
                            bytes <= length + length / 1000 + height as usize + 200 + 100 * chunks,
                            "{bytes} of {length}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_code_of_the_end_of_a_block_ends_with_a_one() {
        // So the last byte before the checksum is not 0, and the filling bits can be counted, as `zlib::open` does.
        for length in 0..64_u8 {
            let data: Vec<u8> = (0..length).map(|i| i.wrapping_mul(length)).collect();
            let mut compressor = fdeflate::Compressor::new(Vec::new()).unwrap();
            compressor.write_data(&data).unwrap();
            let stream = compressor.finish().unwrap();
            assert_ne!(stream[stream.len() - 5], 0);
            let mut spliced = stream.clone();
            let sum = zlib::open(&mut spliced, 0, u64::from(length)).unwrap();
            let mut second = stream;
            let again = zlib::open(&mut second, 0, u64::from(length)).unwrap();
            spliced.extend(&second[zlib::HEADER_BYTES..]);
            spliced.extend(zlib::end(sum.then(again)));
            let mut found = vec![0; 200];
            let (_, count) = fdeflate::Decompressor::new().read(&spliced, &mut found, 0, true).unwrap();
            assert_eq!(found[..count], [data.as_slice(), &data].concat());
        }
    }

    #[test]
    fn the_rows_of_a_chunk_depend_on_the_bytes_of_a_row() {
        assert_eq!([1, 300, 5760, 49_152, 98_304].map(chunk_rows), [64, 64, 32, 8, 8]);
        assert_eq!([1 << 23, 1 << 24, 1 << 26, 1 << 40].map(chunk_rows), [8, 4, 1, 1]);
    }
}
