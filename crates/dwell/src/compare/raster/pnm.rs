//! Binary portable pixmaps (P6) and greymaps (P5) with 8 and 16 bits per channel.

use super::{Bytes, Content, Opened, Pixel, Pixels, RasterInput, at_end, read_exact, size};
use crate::base::error::InputError;
use crate::base::limits::resize;
use crate::base::place::Place;
use crate::base::quote::quote;
use crate::input::open::unreadable;
use crate::view::Size;

/// The most bytes of a header, comments included.
const MOST_HEADER: usize = 1 << 16;

struct Pnm {
    bytes: Box<dyn Bytes>,
    size: Size,
    channels: usize,
    most: u16,
    pixel: u64,
    raw: Vec<u8>,
}

pub(super) fn open(mut input: RasterInput) -> Result<Opened, InputError> {
    let mut header = Header { bytes: &mut input.bytes, left: MOST_HEADER };
    let (_, kind) = (header.byte()?, header.byte()?);
    let channels = match kind {
        b'5' => 1,
        b'6' => 3,
        other => {
            let problem = format!("is a portable map of kind P{}", char::from(other));
            return Err(InputError::malformed(problem).accepts("P5 (grey) and P6 (colours), the binary ones"));
        }
    };
    let (width, height, most) = (header.number()?, header.number()?, header.number()?);
    let before = MOST_HEADER - header.left;
    let size = size(width, height)?;
    let most = u16::try_from(most)
        .ok()
        .filter(|most| *most > 0)
        .ok_or_else(|| InputError::malformed(format!("its greatest value is {most}")).accepts("1 to 65535"))?;
    let depth = if most > 255 { 2 } else { 1 };
    let data = u128::from(size.pixels()) * channels as u128 * depth;
    input.holds(data + before as u128, "its header and pixels")?;
    let name = if channels == 1 { "pgm, grey" } else { "ppm, RGB" };
    let format = match most {
        255 => format!("{name}, 8 bits"),
        65_535 => format!("{name}, 16 bits"),
        _ => format!("{name}, 0 to {most}"),
    };
    let pnm = Pnm { bytes: input.bytes, size, channels, most, pixel: 0, raw: Vec::new() };
    let content = Content::Image { pixels: Box::new(pnm), most, alpha: false };
    Ok(Opened { format, size, content, memory_bytes: 0 })
}

/// A reader of a header.
struct Header<'a> {
    bytes: &'a mut dyn Bytes,
    left: usize,
}

impl Header<'_> {
    fn byte(&mut self) -> Result<u8, InputError> {
        if self.left == 0 {
            return Err(InputError::malformed("has a header of more than 65536 bytes"));
        }
        self.left -= 1;
        let mut byte = [0];
        self.bytes.read_exact(&mut byte).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => InputError::malformed("is cut short: it ends in its header"),
            _ => unreadable(&e),
        })?;
        Ok(byte[0])
    }

    /// Reads the next number and one white space character after it. Text from `#` to the end of a line is a comment.
    fn number(&mut self) -> Result<u64, InputError> {
        let mut number: Option<u64> = None;
        loop {
            match self.byte()? {
                digit @ b'0'..=b'9' => {
                    let so_far = number.unwrap_or(0);
                    number = Some(so_far.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
                }
                b' ' | b'\t' | b'\n' | b'\r' => {
                    if let Some(number) = number {
                        return Ok(number);
                    }
                }
                b'#' => {
                    while !matches!(self.byte()?, b'\n' | b'\r') {}
                    if let Some(number) = number {
                        return Ok(number);
                    }
                }
                other => {
                    let shown = quote(char::from(other).encode_utf8(&mut [0; 4]));
                    return Err(InputError::malformed(format!("has {shown} in its header"))
                        .accepts("width, height and greatest value"));
                }
            }
        }
    }
}

impl Pixels for Pnm {
    fn read(&mut self, into: &mut [Pixel]) -> Result<(), InputError> {
        let wide = self.most > 255;
        let bytes = self.channels * if wide { 2 } else { 1 };
        resize(&mut self.raw, into.len() * bytes, 0, "a piece of a row")?;
        read_exact(&mut self.bytes, &mut self.raw, self.pixel, self.size)?;
        let most = u32::from(self.most);
        for (place, (pixel, raw)) in into.iter_mut().zip(self.raw.chunks_exact(bytes)).enumerate() {
            *pixel = [u16::MAX; 4];
            for channel in 0..3 {
                let at = if self.channels == 1 { 0 } else { channel };
                let value = if wide { u16::from_be_bytes([raw[2 * at], raw[2 * at + 1]]) } else { raw[at].into() };
                let value = u32::from(value);
                if value > most {
                    let pixel = self.pixel + place as u64;
                    let (column, row) = (pixel % u64::from(self.size.width), pixel / u64::from(self.size.width));
                    let problem = format!("a channel is {value}");
                    return Err(InputError::malformed(problem)
                        .accepts(format!("up to {most}, as its header says"))
                        .within(Place::Pixel { column, row }));
                }
                // Scaled to 65535 and rounded to nearest: 8-bit values are multiplied by 257, 16-bit values unchanged.
                pixel[channel] = u16::try_from((value * 65_535 + most / 2) / most).unwrap_or(u16::MAX);
            }
        }
        self.pixel += into.len() as u64;
        Ok(())
    }
    fn finish(&mut self) -> Result<(), InputError> {
        at_end(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::limits::Limits;
    use crate::compare::raster::{Raster, tests_support::pixels};

    fn read(bytes: &[u8]) -> Result<Vec<Pixel>, InputError> {
        pixels(Raster::from_bytes(bytes.to_vec(), "x", &Limits::default())?)
    }

    #[test]
    fn pixels_of_every_depth_are_read() {
        let most = u16::MAX;
        assert_eq!(read(b"P6\n1 1\n255\n\x00\x01\xff").unwrap(), [[0, 257, most, most]]);
        assert_eq!(
            read(b"P5 # grey\n2 # columns\n1\n65535\n\x01\x02\xff\xff").unwrap(),
            [[258, 258, 258, most], [most; 4]]
        );
        assert_eq!(read(b"P5\t1\r1 1 \x01").unwrap(), [[most; 4]]);
        assert_eq!(read(b"P5 1 1 100 \x32").unwrap(), [[32768, 32768, 32768, most]]);
    }

    #[test]
    fn damaged_files_are_errors() {
        for (bytes, expected) in [
            (&b"P3 1 1 255 1 2 3\n"[..], "P3"),
            (b"P4 1 1 ", "P4"),
            (b"P6 1 1", "cut short"),
            (b"P6 1 1 255\nxx", "cut short"),
            (b"P6 1 1 255\nxxxx", "goes on"),
            (b"P6 0 1 255\n", "0 x 1"),
            (b"P6 -1 1 255\n", "\"-\""),
            (b"P6 99999999999999999999 1 255\n", "a side"),
            (b"P6 2147483647 2147483647 255\n", "cut short"),
            (b"P6 1 1 0\nxxx", "1 to 65535"),
            (b"P6 1 1 65536\nxxx", "1 to 65535"),
            (b"P5 1 1 100\n\x65", "column 0, row 0: a channel is 101"),
        ] {
            let error = read(bytes).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
        let comments = [b"P5 #".as_slice(), &[b'x'; 100_000]].concat();
        assert!(read(&comments).unwrap_err().to_string().contains("header"));
    }
}
