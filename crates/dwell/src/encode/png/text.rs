//! The text that the encoder stores in a PNG, read back. The file may be any, also one made to do harm.

use super::{COMPARISON, KEYWORD};
use crate::base::error::InputError;
use crate::base::problem::Problem;
use crate::input::source::PNG_SIGNATURE;
use std::io::{BufRead, Cursor, Read, Seek, SeekFrom};

/// The most bytes that a reader may allocate for everything but image data.
const MOST_BYTES: usize = 16 << 20;

/// The texts found in a picture.
struct Texts {
    /// The text stored by the encoder.
    text: Option<String>,
    /// The program that wrote the file.
    software: Option<String>,
    /// Whether the file describes itself as a comparison.
    is_comparison: bool,
}

/// The text stored in a PNG by this library. Image data is not read.
///
/// # Errors
/// When the file is not a PNG, is damaged before its image data, or contains no such text.
pub(crate) fn read(mut file: impl BufRead + Seek) -> Result<String, InputError> {
    let mut texts = texts(&mut file)?;
    if texts.text.is_none() {
        // A program that adds a comment to a picture may move all texts behind the image data.
        let behind = text_chunks(&mut file).ok().and_then(|picture| self::texts(Cursor::new(picture)).ok());
        if let Some(behind) = behind {
            texts = Texts {
                text: behind.text,
                software: texts.software.or(behind.software),
                is_comparison: texts.is_comparison || behind.is_comparison,
            };
        }
    }
    if let Some(text) = texts.text {
        return Ok(text);
    }
    let problem = if texts.is_comparison { Problem::Comparison } else { Problem::NoScene { software: texts.software } };
    Err(InputError::new(problem))
}

/// The texts before the image data.
fn texts(file: impl BufRead + Seek) -> Result<Texts, InputError> {
    let mut decoder = png::Decoder::new_with_limits(file, png::Limits { bytes: MOST_BYTES });
    decoder.set_ignore_iccp_chunk(true);
    let broken = |e: png::DecodingError| InputError::malformed(format!("is no PNG that can be read: {e}"));
    let reader = decoder.read_info().map_err(broken)?;
    let info = reader.info();
    // The encoder writes an uncompressed `iTXt` chunk. Other programs that rewrite the file may compress the text or
    // store it as Latin-1, so those chunks are read too.
    let own = info.utf8_text.iter().find(|chunk| chunk.keyword == KEYWORD).and_then(|chunk| {
        let mut chunk = chunk.clone();
        chunk.decompress_text_with_limit(MOST_BYTES).ok()?;
        chunk.get_text().ok()
    });
    let plain = || info.uncompressed_latin1_text.iter().find(|chunk| chunk.keyword == KEYWORD).map(|c| c.text.clone());
    let packed = || {
        let mut chunk = info.compressed_latin1_text.iter().find(|chunk| chunk.keyword == KEYWORD)?.clone();
        chunk.decompress_text_with_limit(MOST_BYTES).ok()?;
        chunk.get_text().ok()
    };
    let named = |name: &str| info.uncompressed_latin1_text.iter().find(|chunk| chunk.keyword == name);
    Ok(Texts {
        text: own.or_else(plain).or_else(packed),
        software: named("Software").map(|chunk| chunk.text.clone()),
        is_comparison: named("Description").is_some_and(|chunk| chunk.text == COMPARISON),
    })
}

/// The most chunks that are read or skipped.
const MOST_CHUNKS: usize = 1 << 20;

/// A PNG with the header and all texts of `file`, before empty image data.
fn text_chunks(file: &mut (impl BufRead + Seek)) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(PNG_SIGNATURE.len() as u64))?;
    let mut picture = PNG_SIGNATURE.to_vec();
    for _ in 0..MOST_CHUNKS {
        let mut head = [0; 8];
        if file.read_exact(&mut head).is_err() || &head[4..] == b"IEND" {
            break;
        }
        let [a, b, c, d, ..] = head;
        // The checksum follows the data.
        let length = u64::from(u32::from_be_bytes([a, b, c, d])) + 4;
        let wanted = matches!(&head[4..], b"IHDR" | b"tEXt" | b"zTXt" | b"iTXt");
        if wanted && picture.len() as u64 + length <= MOST_BYTES as u64 {
            picture.extend_from_slice(&head);
            file.take(length).read_to_end(&mut picture)?;
        } else {
            file.seek_relative(i64::try_from(length).unwrap_or(i64::MAX))?;
        }
    }
    // The reader stops here: an empty `IDAT` chunk with its checksum.
    picture.extend_from_slice(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn picture(text: &[(&str, &str)]) -> Vec<u8> {
        picture_by("Paint", text)
    }

    fn picture_by(software: &str, text: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
        for (keyword, text) in text {
            encoder.add_itxt_chunk((*keyword).to_owned(), (*text).to_owned()).unwrap();
        }
        encoder.add_text_chunk("Software".to_owned(), software.to_owned()).unwrap();
        encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
        bytes
    }

    #[test]
    fn reads_the_text_of_its_own_files_and_names_the_program_of_others() {
        let own = picture(&[("Comment", "x"), (KEYWORD, "re = \"0\" # \u{e9}")]);
        assert_eq!(read(Cursor::new(&own)).unwrap(), "re = \"0\" # \u{e9}");
        let other = read(Cursor::new(picture(&[("Comment", "x")]))).unwrap_err().to_string();
        assert!(other.contains("not made by dwell, but by \"Paint\""), "{other}");
        assert!(own.starts_with(&PNG_SIGNATURE));
        for cut in [0, 5, 20, 40, 60] {
            assert!(read(Cursor::new(&own[..cut])).is_err(), "{cut}");
        }
        assert!(read(Cursor::new(b"GIF89a")).is_err());
    }

    #[test]
    fn a_comparison_is_recognised() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
        encoder.add_text_chunk("Description".to_owned(), COMPARISON.to_owned()).unwrap();
        encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
        assert_eq!(read(Cursor::new(bytes)).unwrap_err().problem(), &Problem::Comparison);
    }

    /// The bytes of a chunk, from its length to its checksum.
    fn chunk(picture: &[u8], kind: &[u8; 4]) -> std::ops::Range<usize> {
        let at = picture.windows(4).position(|w| w == kind).unwrap() - 4;
        let length = u32::from_be_bytes(picture[at..at + 4].try_into().unwrap()) as usize;
        at..at + length + 12
    }

    #[test]
    fn a_missing_or_damaged_text_is_reported() {
        let bare = read(Cursor::new(picture_by("dwell 0.1.0", &[]))).unwrap_err().to_string();
        assert!(bare.contains("was made by dwell, but its text is missing or damaged"), "{bare}");
        let mut damaged = picture_by("dwell 0.1.0", &[(KEYWORD, "re = \"0\"")]);
        let at = chunk(&damaged, b"iTXt").end - 6;
        damaged[at] ^= 1;
        let damaged = read(Cursor::new(damaged)).unwrap_err().to_string();
        assert!(damaged.contains("missing or damaged"), "{damaged}");
        let other = read(Cursor::new(picture_by("dwellings", &[]))).unwrap_err().to_string();
        assert!(other.contains("not made by dwell, but by \"dwellings\""), "{other}");
    }

    #[test]
    fn a_text_behind_the_image_data_is_found() {
        let own = picture_by("dwell 0.1.0", &[(KEYWORD, "re = \"0\"")]);
        let text = chunk(&own, b"iTXt");
        let mut moved = own.clone();
        let chunk_bytes: Vec<u8> = moved.drain(text.clone()).collect();
        let end = chunk(&moved, b"IEND").start;
        moved.splice(end..end, chunk_bytes);
        assert_eq!(read(Cursor::new(&moved)).unwrap(), "re = \"0\"");
        // Cut off behind the text, as the input from a pipe may be; then within it.
        assert_eq!(read(Cursor::new(&moved[..end + text.len()])).unwrap(), "re = \"0\"");
        assert!(read(Cursor::new(&moved[..end + text.len() - 5])).is_err());
        // A chunk length beyond the end of the file.
        let at = chunk(&moved, b"IDAT").start;
        moved[at..at + 4].fill(0xff);
        assert!(read(Cursor::new(&moved)).is_err());
    }
}
