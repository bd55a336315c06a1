//! What a PNG remembers of itself: the text that its writer put there, read back from any file, hostile ones too.

use crate::error::{InputError, quote};
use std::io::{BufRead, Seek};

/// The keyword of the text, an `iTXt` chunk in front of the image data.
pub(super) const KEYWORD: &str = "dwell";
/// Bytes that a reader may take for all that is in front of the image data.
const MOST_BYTES: usize = 16 << 20;

/// The first bytes of every PNG.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// The text of a PNG that this program has written. Image data is not looked at.
///
/// # Errors
/// When it is no PNG, is damaged in front of its image data, or holds no such text.
pub(crate) fn read(file: impl BufRead + Seek) -> Result<String, InputError> {
    let mut decoder = png::Decoder::new_with_limits(file, png::Limits { bytes: MOST_BYTES });
    decoder.set_ignore_iccp_chunk(true);
    let broken = |e: png::DecodingError| InputError::new("", format!("is no PNG that can be read: {e}"));
    let reader = decoder.read_info().map_err(broken)?;
    let info = reader.info();
    if let Some(chunk) = info.utf8_text.iter().find(|chunk| chunk.keyword == KEYWORD) {
        // Written without compression, so anything else is somebody else's; but reading it does no harm.
        let mut chunk = chunk.clone();
        chunk.decompress_text_with_limit(MOST_BYTES).map_err(broken)?;
        return chunk.get_text().map_err(broken);
    }
    let software = info.uncompressed_latin1_text.iter().find(|chunk| chunk.keyword == "Software");
    let whose = software.map_or_else(String::new, |chunk| format!(", but by {}", quote(&chunk.text)));
    Err(InputError::new("", format!("was not made by dwell{whose}: it does not say what it shows"))
        .hint("any program that rewrites a picture may have dropped its text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn picture(text: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
        for (keyword, text) in text {
            encoder.add_itxt_chunk((*keyword).to_owned(), (*text).to_owned()).unwrap();
        }
        encoder.add_text_chunk("Software".to_owned(), "Paint".to_owned()).unwrap();
        encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
        bytes
    }

    #[test]
    fn reads_its_own_and_says_whose_another_is() {
        let own = picture(&[("Comment", "x"), (KEYWORD, "re = \"0\" # \u{e9}")]);
        assert_eq!(read(Cursor::new(&own)).unwrap(), "re = \"0\" # \u{e9}");
        let other = read(Cursor::new(picture(&[("Comment", "x")]))).unwrap_err().to_string();
        assert!(other.contains("not made by dwell, but by \"Paint\""), "{other}");
        assert!(own.starts_with(&SIGNATURE));
        for cut in [0, 5, 20, 40, 60] {
            assert!(read(Cursor::new(&own[..cut])).is_err(), "{cut}");
        }
        assert!(read(Cursor::new(b"GIF89a")).is_err());
    }
}
