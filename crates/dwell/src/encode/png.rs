//! PNG: parts of the image are filtered and compressed each on its own, and spliced into one stream.
//!
//! Each part is an `IDAT` chunk. Its first row is filtered without a look at the row above, which with 8 rows and more
//! costs at most a few per cent of the size and makes a part a function of its own rows alone. Compression is that of
//! [`fdeflate`], made for filtered images.

use super::filters::Filters;
use super::{Encoder, Header, png_text, zlib};
use crate::colour::Depth;
use crate::field::FieldRows;
use crate::view::Size;
use std::io::{self, Cursor};

/// Bytes of the last chunk, `IEND`.
const END: usize = 12;
/// Bytes of a chunk's length and kind.
const CHUNK_HEADER: usize = 8;
/// Bytes of a chunk: the format allows just under 2^31.
const MOST_CHUNK: usize = 1 << 30;

/// A PNG.
pub(super) struct Png {
    size: Size,
    depth: Depth,
    text: String,
}

impl Png {
    pub(super) fn new(header: Header<'_>) -> Self {
        Self { size: header.size, depth: header.depth, text: header.text.to_owned() }
    }
}

impl Encoder for Png {
    fn start(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.size.width, self.size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(match self.depth {
            Depth::Eight => png::BitDepth::Eight,
            Depth::Sixteen => png::BitDepth::Sixteen,
        });
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.add_text_chunk("Software".to_owned(), concat!("dwell ", env!("CARGO_PKG_VERSION")).to_owned())?;
        if !self.text.is_empty() {
            encoder.add_itxt_chunk(png_text::KEYWORD.to_owned(), self.text.clone())?;
        }
        drop(encoder.write_header()?);
        // Dropping it ended the file.
        bytes.truncate(bytes.len() - END);
        chunk(&mut bytes, *b"IDAT", &zlib::HEADER);
        Ok(bytes)
    }

    fn part(&self, _: FieldRows<'_>, picture: &[u8], out: &mut Vec<u8>) -> io::Result<zlib::Adler> {
        let pixel = self.depth.bytes_per_pixel();
        let row = self.size.width as usize * pixel;
        let raw = picture.len() / row * (row + 1);
        let mut filters = Filters::new(pixel, row);
        // The stream's header is where the chunk's will be.
        let start = out.len();
        out.resize(start + CHUNK_HEADER - zlib::HEADER_BYTES, 0);
        let stream = out.len();
        // Seldom more is needed.
        out.reserve(raw / 3 + 64);
        let mut compressor = fdeflate::Compressor::new(std::mem::take(out))?;
        let mut above = None;
        for row in picture.chunks_exact(row) {
            compressor.write_data(filters.filter(above, row))?;
            above = Some(row);
        }
        *out = compressor.finish()?;
        if out.len() - stream > fdeflate::StoredOnlyCompressor::<()>::compressed_size(raw) {
            let mut stored = fdeflate::StoredOnlyCompressor::new(Cursor::new(Vec::new()))?;
            for row in picture.chunks_exact(row) {
                stored.write_data(&[0])?;
                stored.write_data(row)?;
            }
            out.truncate(stream);
            out.extend_from_slice(stored.finish()?.get_ref());
        }
        let sum = zlib::open(out, stream, raw as u64)?;
        let data = out.len() - start - CHUNK_HEADER;
        if data <= MOST_CHUNK {
            seal(out, start, *b"IDAT");
        } else {
            let data = out.split_off(start + CHUNK_HEADER);
            out.truncate(start);
            for data in data.chunks(MOST_CHUNK) {
                chunk(out, *b"IDAT", data);
            }
        }
        Ok(sum)
    }

    fn end(&self, sum: zlib::Adler, warnings: &[String]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        chunk(&mut bytes, *b"IDAT", &zlib::end(sum));
        if !warnings.is_empty() {
            // One of the keywords of the specification; not compressed, no language.
            let text = [b"Warning\0\0\0\0\0", warnings.join("\n").as_bytes()].concat();
            chunk(&mut bytes, *b"iTXt", &text);
        }
        chunk(&mut bytes, *b"IEND", &[]);
        Ok(bytes)
    }
}

/// Appends a chunk of at most [`MOST_CHUNK`] bytes.
fn chunk(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&[0; CHUNK_HEADER]);
    out.extend_from_slice(data);
    seal(out, start, kind);
}

/// Makes a chunk of what is behind a place for its header.
fn seal(out: &mut Vec<u8>, start: usize, kind: [u8; 4]) {
    #[allow(clippy::cast_possible_truncation, reason = "at most MOST_CHUNK")]
    let length = (out.len() - start - CHUNK_HEADER) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    out[start + 4..start + CHUNK_HEADER].copy_from_slice(&kind);
    let sum = crc32fast::hash(&out[start + 4..]);
    out.extend_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Adler, part_rows};

    /// An image in parts, decoded again.
    fn there_and_back(size: Size, depth: Depth, rows: usize, picture: &[u8]) -> (Vec<u8>, usize) {
        let encoder = Png { size, depth, text: "text".to_owned() };
        let mut bytes = encoder.start().unwrap();
        let row = size.width as usize * depth.bytes_per_pixel();
        let mut sum = Adler::default();
        for part in picture.chunks(row * rows) {
            sum = sum.then(
                encoder.part(FieldRows { width: 0, dwell: &[], smooth: &[], distance: &[] }, part, &mut bytes).unwrap(),
            );
        }
        bytes.extend(encoder.end(sum, &[]).unwrap());
        let mut reader = png::Decoder::new(Cursor::new(&bytes)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut decoded).unwrap();
        reader.finish().unwrap();
        (decoded, bytes.len())
    }

    #[test]
    fn parts_of_any_kind_make_one_stream() {
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
                        let (decoded, bytes) = there_and_back(Size { width, height }, depth, rows, picture);
                        assert!(decoded == *picture, "{width} x {height}, {depth:?}, {which}, {rows} rows a part");
                        let parts = (height as usize).div_ceil(rows);
                        assert!(
                            bytes <= length + length / 1000 + height as usize + 200 + 100 * parts,
                            "{bytes} of {length}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_end_of_a_block_can_be_found() {
        // By its last bit, which is 1 whatever was in front of it.
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
    fn parts_fit_their_images() {
        assert_eq!([1, 300, 5760, 49_152, 98_304].map(part_rows), [64, 64, 32, 8, 8]);
        assert_eq!([1 << 23, 1 << 24, 1 << 26, 1 << 40].map(part_rows), [8, 4, 1, 1]);
    }
}
