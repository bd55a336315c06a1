//! The chunks of a PNG: every checksum of a file, texts included. Readers of pixels skip a damaged text.

use super::Controls;
use super::record::BUFFER;
use crate::base::error::{Error, InputError};
use crate::base::place::Place;
use crate::base::quote::quote;
use crate::input::open::unreadable;
use crate::input::source::PNG_SIGNATURE;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The most bytes of data in a chunk, by the specification.
const MOST_DATA: u32 = i32::MAX as u32;

/// Checks the signature of a PNG, the order of its first and last chunk, the checksum of every chunk, and that the file ends
/// after the last one. Any single flipped bit is found, and any cut. The progress counts the bytes of the file.
///
/// # Errors
/// [`Error::Input`] with the chunk and the place of the first error, or when the file cannot be read;
/// [`Error::Interrupted`] after the stop flag was set.
pub fn check_png_chunks(path: &Path, controls: Controls<'_>) -> Result<(), Error> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (length, file) = opened.map_err(|e| unreadable(&e).in_file(path))?;
    controls.progress.start(length, Vec::new());
    let mut chunks = Chunks { file: BufReader::with_capacity(BUFFER, file), at: 0, controls };
    chunks.check().map_err(|e| match e {
        Error::Input(e) => e.in_file(path).into(),
        e => e,
    })
}

struct Chunks<'a, R> {
    file: R,
    /// The bytes read so far.
    at: u64,
    controls: Controls<'a>,
}

/// The error of a file that ends too early.
fn cut_short(at: u64) -> InputError {
    InputError::malformed(format!("is cut short: it ends at byte {at}"))
}

impl<R: Read> Chunks<'_, R> {
    /// Fills `into`. False at the end of the file, if no byte of it is left.
    fn fill(&mut self, into: &mut [u8]) -> Result<bool, InputError> {
        let mut filled = 0;
        while filled < into.len() {
            match self.file.read(&mut into[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(cut_short(self.at + filled as u64)),
                Ok(count) => filled += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(unreadable(&e)),
            }
        }
        self.at += filled as u64;
        self.controls.progress.add(filled as u64);
        Ok(true)
    }

    /// Fills `into`, before which the file must not end.
    fn fill_all(&mut self, into: &mut [u8]) -> Result<(), InputError> {
        if self.fill(into)? { Ok(()) } else { Err(cut_short(self.at)) }
    }

    fn check(&mut self) -> Result<(), Error> {
        let mut signature = [0; PNG_SIGNATURE.len()];
        self.fill_all(&mut signature)?;
        if signature != PNG_SIGNATURE {
            return Err(InputError::malformed("does not begin with the signature of a PNG").into());
        }
        let mut buffer = vec![0; BUFFER];
        let mut kind = [0; 4];
        while &kind != b"IEND" {
            let first = self.at == signature.len() as u64;
            kind = self.chunk(&mut buffer)?;
            if first && &kind != b"IHDR" {
                return Err(InputError::malformed("its first chunk is not IHDR").into());
            }
        }
        let end = self.at;
        if self.fill(&mut [0])? {
            return Err(InputError::malformed(format!("goes on after its last chunk, which ends at byte {end}")).into());
        }
        Ok(())
    }

    /// Checks the next chunk and returns its kind.
    fn chunk(&mut self, buffer: &mut [u8]) -> Result<[u8; 4], Error> {
        let start = self.at;
        let mut head = [0; 8];
        self.fill_all(&mut head)?;
        let [a, b, c, d, kind @ ..] = head;
        let name = if kind.is_ascii() { String::from_utf8_lossy(&kind) } else { "????".into() };
        let name = if kind.iter().all(u8::is_ascii_alphabetic) { name.into_owned() } else { quote(&name) };
        let wrong = |e: InputError| e.within(Place::Part(format!("chunk {name} at byte {start}")));
        let length = u32::from_be_bytes([a, b, c, d]);
        if length > MOST_DATA {
            return Err(wrong(InputError::malformed(format!("its length is {length} bytes"))).into());
        }
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&kind);
        let mut left = length as usize;
        while left > 0 {
            let piece = &mut buffer[..left.min(BUFFER)];
            self.fill_all(piece).map_err(wrong)?;
            checksum.update(piece);
            left -= piece.len();
            self.controls.cancel.check()?;
        }
        let mut stored = [0; 4];
        self.fill_all(&mut stored).map_err(wrong)?;
        if checksum.finalize() != u32::from_be_bytes(stored) {
            return Err(wrong(InputError::malformed("its checksum is wrong")).into());
        }
        Ok(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::limits::Limits;
    use crate::base::progress::Progress;

    fn check(bytes: &[u8]) -> Result<(), String> {
        let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
        let controls = Controls { limits: &limits, cancel: &cancel, progress: &progress };
        Chunks { file: bytes, at: 0, controls }.check().map_err(|e| e.to_string())
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let mut whole = Vec::new();
        let mut encoder = png::Encoder::new(&mut whole, 9, 3);
        encoder.add_itxt_chunk("dwell".to_owned(), "re = \"0\"".to_owned()).unwrap();
        encoder.add_text_chunk("Software".to_owned(), "dwell".to_owned()).unwrap();
        encoder.write_header().unwrap().write_image_data(&[7; 27]).unwrap();
        assert_eq!(check(&whole), Ok(()));
        for at in 0..whole.len() {
            assert!(check(&whole[..at]).unwrap_err().contains("is cut short: it ends at byte"), "{at}");
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                assert!(check(&flipped).is_err(), "bit {bit} of byte {at}");
            }
        }
        let text = whole.windows(4).position(|kind| kind == b"iTXt").unwrap();
        whole[text + 20] ^= 1;
        let error = check(&whole).unwrap_err();
        assert_eq!(error, format!("chunk iTXt at byte {}: its checksum is wrong", text - 4));
        whole[text + 20] ^= 1;
        whole.push(0);
        assert!(check(&whole).unwrap_err().starts_with("goes on after its last chunk"));
    }
}
