//! Rasters: fields and images of any program, read as they stream by. What a file is, its first bytes say, not its name.
//!
//! No reader holds more than a row, so that what a header claims costs nothing until the bytes are there: a table of 2^31
//! columns is read in pieces of [`PIECE`] pixels. Only text that comes by a pipe is kept, since its size is not known
//! before its end, and interlaced images, whose first row is complete when the last one is.

mod csv;
mod npy;
mod png_file;
mod pnm;

use super::value::Value;
use crate::base::error::{Error, InputError, shown};
use crate::base::limits::Limits;
use crate::input::source::PNG_SIGNATURE;
use crate::view::{MAX_SIDE, Size};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// Pixels read at once.
pub(super) const PIECE: usize = 1 << 14;
/// Bytes gathered before the system is asked for more.
const BUFFER: usize = 1 << 18;
/// What is read, for error messages.
const ACCEPTED: &str = "npy, csv, png, ppm, pgm";

/// A pixel of an image: red, green, blue and opacity, each 0 to 65535.
pub(super) type Pixel = [u16; 4];

/// Numbers, pixel after pixel from the top left.
pub(super) trait Cells {
    /// The next ones, which all belong to one row.
    fn read(&mut self, into: &mut [Value]) -> Result<(), InputError>;
    /// All were read: is that all there is?
    fn finish(&mut self) -> Result<(), InputError>;
}

/// Colours, pixel after pixel from the top left.
pub(super) trait Pixels {
    /// The next ones, which all belong to one row.
    fn read(&mut self, into: &mut [Pixel]) -> Result<(), InputError>;
    /// All were read: is that all there is?
    fn finish(&mut self) -> Result<(), InputError>;
}

/// What a raster holds.
pub(super) enum Content {
    /// A number for each pixel.
    Field(Box<dyn Cells>),
    /// A colour for each pixel.
    Image {
        pixels: Box<dyn Pixels>,
        /// The greatest value of a channel in the file.
        most: u16,
        /// Whether pixels have an opacity.
        alpha: bool,
    },
}

/// A field or an image, open at its first pixel.
pub struct Raster {
    name: String,
    format: String,
    size: Size,
    pub(super) content: Content,
}

impl std::fmt::Debug for Raster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raster")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("size", &self.size)
            .finish()
    }
}

impl Raster {
    /// Opens a file, `-` being standard input, and reads its header: a NumPy array (.npy) of two dimensions or a table
    /// (.csv) is a field; a PNG, a PPM (P6) or a PGM (P5) is an image.
    ///
    /// # Errors
    /// [`Error::Input`], which names the file: it cannot be read, is of no kind that is known, is damaged, or a row of it
    /// would take more memory than `limits` allows.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, Error> {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { shown(path) };
        let opened = Input::open(path).and_then(|input| Self::of(input, limits));
        let mut raster = opened.map_err(|e| e.within(&name))?;
        raster.name = name;
        Ok(raster)
    }

    /// Reads the header of a raster in memory; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_bytes(bytes: Vec<u8>, name: &str, limits: &Limits) -> Result<Self, InputError> {
        let length = Some(bytes.len() as u64);
        let input = Input { bytes: Box::new(Cursor::new(bytes)), length, seekable: true };
        let mut raster = Self::of(input, limits).map_err(|e| e.within(name))?;
        name.clone_into(&mut raster.name);
        Ok(raster)
    }

    fn of(mut input: Input, limits: &Limits) -> Result<Self, InputError> {
        let first = input.peek()?;
        let (format, size, content) = if first.starts_with(b"\x93NUMPY") {
            npy::open(input)?
        } else if first == PNG_SIGNATURE {
            png_file::open(input, limits)?
        } else if matches!(first.as_slice(), [b'P', b'1'..=b'7', b' ' | b'\t' | b'\n' | b'\r' | b'#', ..]) {
            pnm::open(input, limits)?
        } else if first.is_empty() {
            return Err(InputError::new("", "is empty").accepted(ACCEPTED));
        } else if csv::may_begin(&first) {
            csv::open(input, limits)?
        } else {
            return Err(InputError::new("", "is neither a field nor an image that can be read").accepted(ACCEPTED));
        };
        Ok(Self { name: String::new(), format, size, content })
    }

    /// The name that errors have for it: the path, or `standard input`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file is, for people: `npy, uint32`, or `png, RGB, 8 bits`.
    #[must_use]
    pub fn format(&self) -> &str {
        &self.format
    }

    /// Pixels.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// Whether it is a field; otherwise it is an image.
    #[must_use]
    pub fn is_field(&self) -> bool {
        matches!(self.content, Content::Field(_))
    }
}

/// What a header is read into: what the file is, its size, and what follows.
type Opened = Result<(String, Size, Content), InputError>;

/// A size that a header claims.
fn size(width: u64, height: u64) -> Result<Size, InputError> {
    let side = |side: u64| u32::try_from(side).ok().filter(|side| (1..=MAX_SIDE).contains(side));
    match (side(width), side(height)) {
        (Some(width), Some(height)) => Ok(Size { width, height }),
        _ => Err(InputError::new("", format!("has {width} x {height} pixels")).accepted("1 to 2147483647 a side")),
    }
}

/// Bytes that can be gone back in, if the file allows it.
pub(super) trait Bytes: BufRead + Seek {}
impl<T: BufRead + Seek> Bytes for T {}

/// A file before anything is known of it.
struct Input {
    bytes: Box<dyn Bytes>,
    /// Of a regular file.
    length: Option<u64>,
    seekable: bool,
}

impl Input {
    fn open(path: &Path) -> Result<Self, InputError> {
        if path == Path::new("-") {
            return Ok(Self::one_way(io::stdin()));
        }
        let unreadable = |e: io::Error| InputError::new("", format!("cannot be read: {e}"));
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(InputError::new("", "is a directory, not a file"));
        }
        if !metadata.is_file() {
            return Ok(Self::one_way(file));
        }
        let bytes = Box::new(BufReader::with_capacity(BUFFER, file));
        Ok(Self { bytes, length: Some(metadata.len()), seekable: true })
    }

    fn one_way(from: impl Read + 'static) -> Self {
        let bytes = Box::new(OneWay(BufReader::with_capacity(BUFFER, from)));
        Self { bytes, length: None, seekable: false }
    }

    /// The first bytes, up to 8, which stay to be read.
    fn peek(&mut self) -> Result<Vec<u8>, InputError> {
        let mut first = Vec::new();
        (&mut self.bytes).take(8).read_to_end(&mut first).map_err(|e| broken(&e))?;
        if self.seekable {
            self.bytes.rewind().map_err(|e| broken(&e))?;
        } else {
            let rest = std::mem::replace(&mut self.bytes, Box::new(io::empty()));
            self.bytes = Box::new(OneWay(Cursor::new(first.clone()).chain(rest)));
        }
        Ok(first)
    }

    /// Checks that a file of which the length is known has exactly so many bytes, before anything is allocated for them.
    fn holds(&self, bytes: u128, what: &str) -> Result<(), InputError> {
        let Some(length) = self.length else { return Ok(()) };
        let problem = match u128::from(length).cmp(&bytes) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => format!("is cut short: it has {length} bytes, and {what} take {bytes}"),
            Ordering::Greater => {
                format!("goes on after its last pixel: it has {length} bytes, and {what} take {bytes}")
            }
        };
        Err(InputError::new("", problem))
    }
}

/// What cannot be gone back in. The PNG reader asks for more than it uses.
struct OneWay<R>(R);

impl<R: Read> Read for OneWay<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}
impl<R: BufRead> BufRead for OneWay<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }
    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}
impl<R> Seek for OneWay<R> {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::NotSeekable.into())
    }
}

/// The system could not read on.
fn broken(error: &io::Error) -> InputError {
    InputError::new("", format!("cannot be read: {error}"))
}

/// Fills `into`; `pixel` (from 0) and the width say where a file that ends too early does so.
fn read_exact(bytes: &mut dyn Bytes, into: &mut [u8], pixel: u64, size: Size) -> Result<(), InputError> {
    bytes.read_exact(into).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            let row = pixel / u64::from(size.width);
            InputError::new("", format!("is cut short: it ends in row {row} of {}", size.height))
        }
        _ => broken(&e),
    })
}

/// Whether nothing follows the last pixel.
fn at_end(bytes: &mut dyn Bytes) -> Result<(), InputError> {
    let rest = bytes.fill_buf().map_err(|e| broken(&e))?;
    if rest.is_empty() {
        return Ok(());
    }
    Err(InputError::new("", "goes on after its last pixel")
        .hint("its header gives a smaller size than it has, or something was appended"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_gone_back_in_is_read_all_the_same() {
        let mut input = Input::one_way(Cursor::new(b"P5 1 1 255\nx".to_vec()));
        assert_eq!(input.peek().unwrap(), b"P5 1 1 2");
        assert!(input.bytes.rewind().is_err());
        let mut all = Vec::new();
        input.bytes.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"P5 1 1 255\nx");
    }

    #[test]
    fn kinds_are_told_by_content() {
        let limits = Limits::default();
        let of = |bytes: &[u8]| Raster::from_bytes(bytes.to_vec(), "x", &limits);
        assert!(of(b"1,2\n3,4\n").unwrap().is_field());
        assert!(!of(b"P5\n1 1\n255\nx").unwrap().is_field());
        for bytes in [&b""[..], b"GIF89a", b"\x89PNG\r\n\x1a", b"PK\x03\x04", b"\x00\x00", b"P8 1 1 255 x", b"hello"] {
            let error = of(bytes).unwrap_err().to_string();
            assert!(error.starts_with("x: ") && error.contains("npy, csv, png, ppm, pgm"), "{error}");
        }
    }
}

#[cfg(test)]
mod tests_support {
    use super::*;

    fn pieces<T: Clone>(
        raster: &Raster,
        filler: T,
        mut read: impl FnMut(&mut [T]) -> Result<(), InputError>,
    ) -> Result<Vec<T>, InputError> {
        let Size { width, height } = raster.size;
        let mut all = vec![filler; (width * height) as usize];
        for row in all.chunks_mut(width as usize) {
            // Pieces of two, so that rows end in the midst of one.
            for piece in row.chunks_mut(2) {
                read(piece)?;
            }
        }
        Ok(all)
    }

    pub(super) fn cells(mut raster: Raster) -> Result<Vec<Value>, InputError> {
        let content = std::mem::replace(&mut raster.content, Content::Field(Box::new(Nothing)));
        let Content::Field(mut cells) = content else { return Err(InputError::new("", "an image")) };
        let all = pieces(&raster, Value::Whole(0), |piece| cells.read(piece))?;
        cells.finish().map(|()| all)
    }

    pub(super) fn pixels(mut raster: Raster) -> Result<Vec<Pixel>, InputError> {
        let content = std::mem::replace(&mut raster.content, Content::Field(Box::new(Nothing)));
        let Content::Image { mut pixels, .. } = content else { return Err(InputError::new("", "a field")) };
        let all = pieces(&raster, [0; 4], |piece| pixels.read(piece))?;
        pixels.finish().map(|()| all)
    }

    struct Nothing;
    impl Cells for Nothing {
        fn read(&mut self, _: &mut [Value]) -> Result<(), InputError> {
            Ok(())
        }
        fn finish(&mut self) -> Result<(), InputError> {
            Ok(())
        }
    }
}
