//! Rasters: fields and images of any program, read sequentially. The format is recognized by the first bytes of a file,
//! not by its name.
//!
//! Memory: a reader stores at most a row, so a false size in a header allocates little: a table of 2^31 columns is read
//! in pieces of [`PIECE`] pixels. Two inputs are stored whole: a table from a pipe, since its size is known only at its
//! end, and interlaced images, whose first row is complete only when the last one is. A table from a pipe is stored only
//! while it can have the size of the raster that it is compared with, if that is known. Everything that grows with the
//! input is within [`Limits`] before it is allocated, or the reader fails; [`Raster::memory_bytes`] says what one takes.
//!
//! Time: opening takes a time proportional to the bytes of the file; an image is not decoded. Reading takes a time
//! proportional to the pixels, which in a compressed image may be a thousand times the bytes of the file: 65535 x 65535
//! pixels of one colour take half a megabyte. Such images can be compared like any other, so the time is not limited;
//! images of different sizes are not decoded at all, progress is shown, and the stop flag is checked every [`PIECE`]
//! pixels. Decoding one row, or the whole of an interlaced image, is one step that the flag does not stop; a program can
//! exit during it.

mod csv;
mod npy;
#[cfg(feature = "png")]
mod png_file;
mod pnm;
mod stored_text;

use super::value::Value;
use crate::base::error::{Error, InputError};
use crate::base::limits::Limits;
use crate::base::problem::Problem;
use crate::base::quote::name_of;
use crate::input::open::{self, unreadable};
use crate::input::source::PNG_SIGNATURE;
use crate::view::{MAX_SIDE, Size};
use std::cmp::Ordering;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// The most pixels read at once.
pub(super) const PIECE: usize = 1 << 14;
/// The size of the read buffer in bytes.
const BUFFER: usize = 1 << 18;
/// The most bytes of memory of any reader: the read buffer, and the bytes of a piece.
const BUFFERS: u64 = (BUFFER + 8 * PIECE) as u64;
/// The accepted formats, for error messages.
const ACCEPTED: &str = "npy, csv, png, ppm, pgm";

/// A pixel of an image: red, green, blue and opacity, each 0 to 65535.
pub(super) type Pixel = [u16; 4];

/// A reader of numbers, pixel by pixel from the top left.
pub(super) trait Cells: Send {
    /// Reads the next pixels, which are all in one row.
    fn read(&mut self, into: &mut [Value]) -> Result<(), InputError>;
    /// Checks, after the last pixel, that the file ends.
    fn finish(&mut self) -> Result<(), InputError>;
}

/// A reader of colours, pixel by pixel from the top left.
pub(super) trait Pixels: Send {
    /// Reads the next pixels, which are all in one row.
    fn read(&mut self, into: &mut [Pixel]) -> Result<(), InputError>;
    /// Checks, after the last pixel, that the file ends.
    fn finish(&mut self) -> Result<(), InputError>;
}

/// The pixels of a raster.
pub(super) enum Content {
    /// A number for each pixel.
    Field(Box<dyn Cells>),
    /// A colour for each pixel.
    Image {
        pixels: Box<dyn Pixels>,
        /// The channel value of full intensity in the file.
        most: u16,
        /// Whether pixels have an opacity channel.
        alpha: bool,
    },
}

/// A field or an image, opened and positioned at its first pixel.
pub struct Raster {
    name: String,
    format: String,
    size: Size,
    pub(super) content: Content,
    memory_bytes: u64,
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
    /// Opens a file and reads its header; `-` is standard input. A two-dimensional NumPy array (.npy) and a table
    /// (.csv) are fields; a PNG, a PPM (P6) and a PGM (P5) are images.
    ///
    /// # Errors
    /// [`Error::Input`] with the name of the file when it cannot be read, has an unknown format, is damaged, or needs
    /// more memory than `limits` allows.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, Error> {
        Self::open_beside(path, None, limits)
    }

    /// [`Self::open`] for a raster that is to be compared with one of the size `other`. A table from a pipe is stored only
    /// while it may have this size.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_beside(path: &Path, other: Option<Size>, limits: &Limits) -> Result<Self, Error> {
        let name = name_of(path);
        let opened = RasterInput::open(path).and_then(|input| Self::of(input, other, limits));
        let mut raster = opened.map_err(|e| e.in_file(path))?;
        raster.name = name;
        Ok(raster)
    }

    /// Reads the header of a file in memory; `name` is its name in error messages.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_bytes(bytes: Vec<u8>, name: &str, limits: &Limits) -> Result<Self, InputError> {
        let length = Some(bytes.len() as u64);
        let input = RasterInput { bytes: Box::new(Cursor::new(bytes)), length, seekable: true };
        let mut raster = Self::of(input, None, limits).map_err(|e| e.in_file(name))?;
        name.clone_into(&mut raster.name);
        Ok(raster)
    }

    fn of(mut input: RasterInput, other: Option<Size>, limits: &Limits) -> Result<Self, InputError> {
        limits.reserve("reading it", BUFFERS)?;
        let first = input.peek()?;
        let Opened { format, size, content, memory_bytes } = if first.starts_with(b"\x93NUMPY") {
            npy::open(input)?
        } else if first == PNG_SIGNATURE {
            #[cfg(feature = "png")]
            {
                png_file::open(input, limits)?
            }
            #[cfg(not(feature = "png"))]
            return Err(InputError::new(Problem::LeftOut { what: "reading a PNG", feature: "png" }));
        } else if matches!(first.as_slice(), [b'P', b'1'..=b'7', b' ' | b'\t' | b'\n' | b'\r' | b'#', ..]) {
            pnm::open(input)?
        } else if first.is_empty() {
            return Err(InputError::malformed("is empty").accepts(ACCEPTED));
        } else if csv::may_begin(&first) {
            csv::open(input, other, limits)?
        } else {
            return Err(InputError::malformed("is neither a field nor an image that can be read").accepts(ACCEPTED));
        };
        Ok(Self { name: String::new(), format, size, content, memory_bytes: BUFFERS + memory_bytes })
    }

    /// The name in error messages: the path, or `standard input`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format of the file as text, such as `npy, uint32` or `png, RGB, 8 bits`.
    #[must_use]
    pub fn format(&self) -> &str {
        &self.format
    }

    /// The size in pixels.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The most bytes of memory that this reader takes, now or while pixels are read.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Whether the raster is a field; otherwise it is an image.
    #[must_use]
    pub fn is_field(&self) -> bool {
        matches!(self.content, Content::Field(_))
    }
}

/// The result of reading a header.
struct Opened {
    /// The format as text.
    format: String,
    size: Size,
    /// The reader of the pixels.
    content: Content,
    /// The most bytes that the reader allocates beside [`BUFFERS`].
    memory_bytes: u64,
}

/// The size in a header, checked to be 1 to [`MAX_SIDE`] pixels wide and high.
fn size(width: u64, height: u64) -> Result<Size, InputError> {
    let side = |side: u64| u32::try_from(side).ok().filter(|side| (1..=MAX_SIDE).contains(side));
    match (side(width), side(height)) {
        (Some(width), Some(height)) => Ok(Size { width, height }),
        _ => Err(InputError::malformed(format!("has {width} x {height} pixels")).accepts("1 to 2147483647 a side")),
    }
}

/// A buffered reader that can seek if the file can.
pub(super) trait Bytes: BufRead + Seek + Send {}
impl<T: BufRead + Seek + Send> Bytes for T {}

/// An open file whose format is not yet known.
struct RasterInput {
    bytes: Box<dyn Bytes>,
    /// The length in bytes, of a regular file only.
    length: Option<u64>,
    seekable: bool,
}

impl RasterInput {
    fn open(path: &Path) -> Result<Self, InputError> {
        match open::open(path)? {
            open::Opened::Stream(stream) => Ok(Self::one_way(stream)),
            open::Opened::File(file, length) => {
                let bytes = Box::new(BufReader::with_capacity(BUFFER, file));
                Ok(Self { bytes, length: Some(length), seekable: true })
            }
        }
    }

    fn one_way(from: impl Read + Send + 'static) -> Self {
        let bytes = Box::new(Unseekable(BufReader::with_capacity(BUFFER, from)));
        Self { bytes, length: None, seekable: false }
    }

    /// The first bytes, at most 8, which are not consumed.
    fn peek(&mut self) -> Result<Vec<u8>, InputError> {
        let mut first = Vec::new();
        (&mut self.bytes).take(8).read_to_end(&mut first).map_err(|e| unreadable(&e))?;
        if self.seekable {
            self.bytes.rewind().map_err(|e| unreadable(&e))?;
        } else {
            let rest = std::mem::replace(&mut self.bytes, Box::new(io::empty()));
            self.bytes = Box::new(Unseekable(Cursor::new(first.clone()).chain(rest)));
        }
        Ok(first)
    }

    /// Checks that a file of known length has exactly `bytes` bytes, before memory for them is allocated.
    fn holds(&self, bytes: u128, what: &str) -> Result<(), InputError> {
        let Some(length) = self.length else { return Ok(()) };
        let problem = match u128::from(length).cmp(&bytes) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => format!("is cut short: it has {length} bytes, and {what} take {bytes}"),
            Ordering::Greater => {
                format!("goes on after its last pixel: it has {length} bytes, and {what} take {bytes}")
            }
        };
        Err(InputError::malformed(problem))
    }
}

/// A reader that cannot seek. The PNG reader requires [`Seek`] but does not use it.
struct Unseekable<R>(R);

impl<R: Read> Read for Unseekable<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}
impl<R: BufRead> BufRead for Unseekable<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }
    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}
impl<R> Seek for Unseekable<R> {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::NotSeekable.into())
    }
}

/// Fills `into`. The error of a file that ends too early names the row of `pixel`, an index from 0.
fn read_exact(bytes: &mut dyn Bytes, into: &mut [u8], pixel: u64, size: Size) -> Result<(), InputError> {
    bytes.read_exact(into).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            let row = pixel / u64::from(size.width);
            InputError::malformed(format!("is cut short: it ends in row {row} of {}", size.height))
        }
        _ => unreadable(&e),
    })
}

/// Checks that no bytes follow the last pixel.
fn at_end(bytes: &mut dyn Bytes) -> Result<(), InputError> {
    let rest = bytes.fill_buf().map_err(|e| unreadable(&e))?;
    if rest.is_empty() {
        return Ok(());
    }
    Err(InputError::new(Problem::TrailingBytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_cannot_seek_are_read() {
        let mut input = RasterInput::one_way(Cursor::new(b"P5 1 1 255\nx".to_vec()));
        assert_eq!(input.peek().unwrap(), b"P5 1 1 2");
        assert!(input.bytes.rewind().is_err());
        let mut all = Vec::new();
        input.bytes.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"P5 1 1 255\nx");
    }

    #[test]
    fn formats_are_recognized_by_content() {
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
            // Pieces of two pixels, so that the last piece of a row can be shorter.
            for piece in row.chunks_mut(2) {
                read(piece)?;
            }
        }
        Ok(all)
    }

    pub(super) fn cells(mut raster: Raster) -> Result<Vec<Value>, InputError> {
        let content = std::mem::replace(&mut raster.content, Content::Field(Box::new(Empty)));
        let Content::Field(mut cells) = content else { return Err(InputError::malformed("an image")) };
        let all = pieces(&raster, Value::Whole(0), |piece| cells.read(piece))?;
        cells.finish().map(|()| all)
    }

    pub(super) fn pixels(mut raster: Raster) -> Result<Vec<Pixel>, InputError> {
        let content = std::mem::replace(&mut raster.content, Content::Field(Box::new(Empty)));
        let Content::Image { mut pixels, .. } = content else { return Err(InputError::malformed("a field")) };
        let all = pieces(&raster, [0; 4], |piece| pixels.read(piece))?;
        pixels.finish().map(|()| all)
    }

    struct Empty;
    impl Cells for Empty {
        fn read(&mut self, _: &mut [Value]) -> Result<(), InputError> {
            Ok(())
        }
        fn finish(&mut self) -> Result<(), InputError> {
            Ok(())
        }
    }
}
