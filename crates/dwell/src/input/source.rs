//! Input files: opened once, since pipes and standard input cannot be read twice, and recognised by their first bytes.

use crate::base::error::InputError;
use crate::base::problem::Problem;
use crate::input::open::{Opened, open, unreadable};
use std::fs::File;
#[cfg(all(feature = "png", feature = "toml"))]
use std::io::{BufRead, BufReader, Cursor};
use std::io::{Read, Seek};
use std::path::Path;

/// The most bytes read from a pipe or device: more than any text that is accepted, and all that precedes the image data
/// of a picture.
const MOST_PIPED: u64 = 16 << 20;
/// The bytes by which a file is recognised.
const HEAD: usize = 256;

/// The first bytes of every PNG.
pub(crate) const PNG_SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// An open input and its first bytes.
pub(crate) struct Input {
    head: Vec<u8>,
    source: Contents,
}

enum Contents {
    /// A regular file, positioned at its start.
    File(File),
    /// The first [`MOST_PIPED`] bytes of any other input, and one more byte if there is one.
    Bytes(Vec<u8>),
}

/// The interface that the PNG reader requires.
#[cfg(all(feature = "png", feature = "toml"))]
pub(crate) trait PictureReader: BufRead + Seek {}
#[cfg(all(feature = "png", feature = "toml"))]
impl<T: BufRead + Seek> PictureReader for T {}

/// The error when a file or a value is `found`, not `wanted`.
pub(crate) fn of_another_kind(found: impl Into<String>, wanted: impl Into<String>) -> InputError {
    InputError::new(Problem::WrongKind { found: found.into(), wanted: wanted.into() })
}

impl Input {
    /// Opens a file; `-` is standard input. The error does not name the file.
    ///
    /// # Errors
    /// When it cannot be read or is a directory.
    pub(crate) fn open(path: &Path) -> Result<Self, InputError> {
        let wrong = |e: std::io::Error| unreadable(&e);
        match open(path)? {
            Opened::Stream(stream) => Self::all_of(stream).map_err(wrong),
            Opened::File(mut file, _) => {
                let mut head = Vec::new();
                file.by_ref().take(HEAD as u64).read_to_end(&mut head).and_then(|_| file.rewind()).map_err(wrong)?;
                Ok(Self { head, source: Contents::File(file) })
            }
        }
    }

    fn all_of(source: impl Read) -> std::io::Result<Self> {
        let mut bytes = Vec::new();
        source.take(MOST_PIPED + 1).read_to_end(&mut bytes)?;
        Ok(Self { head: bytes.iter().copied().take(HEAD).collect(), source: Contents::Bytes(bytes) })
    }

    /// Its first bytes, at most [`HEAD`].
    #[cfg(feature = "toml")]
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether it begins with the signature of PNG.
    pub(crate) fn is_png(&self) -> bool {
        self.head.starts_with(&PNG_SIGNATURE)
    }

    /// The kind of file, if it is recognised as one that is neither a location, nor a palette, nor a PNG.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        kind(&self.head)
    }

    /// The input for a PNG reader; of a pipe only the first [`MOST_PIPED`] bytes.
    #[cfg(all(feature = "png", feature = "toml"))]
    pub(crate) fn picture(self) -> Box<dyn PictureReader> {
        match self.source {
            Contents::File(file) => Box::new(BufReader::new(file)),
            Contents::Bytes(bytes) => Box::new(Cursor::new(bytes)),
        }
    }

    /// The whole input, at most `most` bytes.
    ///
    /// # Errors
    /// When the input cannot be read or is larger.
    pub(crate) fn bytes(self, most: u64) -> Result<Vec<u8>, InputError> {
        let bytes = match self.source {
            Contents::Bytes(bytes) => bytes,
            Contents::File(file) => {
                let mut bytes = Vec::new();
                let read = file.take(most + 1).read_to_end(&mut bytes);
                read.map_err(|e| unreadable(&e))?;
                bytes
            }
        };
        if bytes.len() as u64 > most {
            return Err(InputError::new(Problem::TooLarge { most_bytes: most }));
        }
        Ok(bytes)
    }
}

/// Converts bytes to text.
///
/// # Errors
/// The place of the first byte that is not UTF-8.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, InputError> {
    String::from_utf8(bytes).map_err(|e| {
        InputError::malformed(format!("is not text: byte {} is not UTF-8", e.utf8_error().valid_up_to() + 1))
    })
}

/// Text of another program: UTF-8, or else Windows-1252.
pub(crate) fn foreign_text(bytes: Vec<u8>) -> String {
    // 0x80 to 0x9f; the other bytes are Latin-1, the first 256 characters of Unicode. Five of these bytes are undefined
    // in Windows-1252 and keep their Latin-1 meaning.
    const HIGH_CONTROLS: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
        '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}',
        '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}',
        '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
    ];
    let character = |byte: u8| match byte {
        0x80..=0x9f => HIGH_CONTROLS[usize::from(byte - 0x80)],
        byte => char::from(byte),
    };
    String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().into_iter().map(character).collect())
}

/// The kind of a file that begins with these bytes; none for a PNG or a text of unknown kind.
fn kind(head: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 15] = [
        (b"\x93NUMPY", "a NumPy array"),
        (b"\xff\xd8\xff", "a JPEG picture"),
        (b"GIF8", "a GIF picture"),
        (b"BM", "a BMP picture"),
        (b"II*\0", "a TIFF picture"),
        (b"MM\0*", "a TIFF picture"),
        (b"RIFF", "a WebP picture or another RIFF file"),
        (b"\0\0\0\x0cJXL ", "a JPEG XL picture"),
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x7fELF", "a program"),
        (b"{", "JSON"),
        (b"<", "HTML or XML"),
        (b"\xfe\xff", "text in UTF-16"),
    ];
    if let Some((_, kind)) = KINDS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(kind);
    }
    let netpbm = head.first() == Some(&b'P') && head.get(1).is_some_and(|n| (b'1'..=b'7').contains(n));
    if netpbm && head.get(2).is_some_and(u8::is_ascii_whitespace) {
        return Some("a PPM picture or one of its kin");
    }
    // A key of a TOML file may consist of digits, but is not followed by a comma.
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    let numbers = line.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'\r'));
    (numbers && line.contains(&b',')).then_some("a table of numbers (CSV)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_first_bytes() {
        for (head, said) in [
            (b"\x93NUMPY\x01\0".as_slice(), Some("NumPy")),
            (b"P6\n8 8\n255\n", Some("PPM")),
            (b"\xff\xd8\xff\xe0", Some("JPEG")),
            (b"GIF89a", Some("GIF")),
            (b"12,0,7\n1,2,3\n", Some("CSV")),
            (b"{\n  \"dwell\": 1", Some("JSON")),
            (b"re = \"0\"\n", None),
            (b"P6x = 1", None),
            (b"1 2 3\n", None),
            (b"[1,2]", None),
            (b"", None),
            (&PNG_SIGNATURE, None),
        ] {
            let found = kind(head);
            assert!(found.is_some() == said.is_some() && found.unwrap_or("").contains(said.unwrap_or("")), "{found:?}");
        }
    }

    #[test]
    fn texts_of_other_programs_may_be_windows_1252() {
        assert_eq!(foreign_text("bl\u{e4}ulich".into()), "bl\u{e4}ulich");
        assert_eq!(
            foreign_text(b"bl\xe4ulich \x80 \x96 \x9f \x81".to_vec()),
            "bl\u{e4}ulich \u{20ac} \u{2013} \u{178} \u{81}"
        );
    }

    #[test]
    fn piped_input_is_kept_and_bounded() {
        let input = Input::all_of(b"re = 1".as_slice()).unwrap();
        assert!(!input.is_png() && input.kind().is_none());
        assert_eq!(input.bytes(6).unwrap(), b"re = 1");
        assert!(Input::all_of(b"re = 1".as_slice()).unwrap().bytes(5).is_err());
        let endless = Input::all_of(std::io::repeat(b' ')).unwrap();
        assert!(endless.bytes(MOST_PIPED).unwrap_err().to_string().contains("16 MiB"));
    }
}
