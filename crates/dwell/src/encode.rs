//! Encoding: rows of a picture or of dwells as the bytes of a file.
//!
//! An image is encoded in chunks of rows. The bytes of a chunk depend on its rows alone, so chunks are encoded on all
//! threads, in any order, and again after an interruption, always with the same result.

mod adler;
mod csv;
mod encoder;
mod npy;
#[cfg(feature = "png")]
mod png;
mod ppm;
mod space;

pub(crate) use adler::Adler;
pub(crate) use encoder::{DwellEncoder, FileEncoder, Header, PictureEncoder, chunk_rows};
#[cfg(feature = "png")]
pub use png::png_bytes;
#[cfg(all(feature = "png", feature = "toml"))]
pub(crate) use png::text as png_text;
#[cfg(feature = "png")]
pub(crate) use png::{COMPARISON, SOFTWARE};
pub(crate) use space::{error_of_writing, out_of_memory};

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use dwell_kernels::UnknownName;
use std::io;
use std::path::Path;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Portable Network Graphics: RGB with 8 or 16 bits, tagged sRGB, with the parameters of the picture as text.
    /// Written with the Cargo feature `png`.
    Png,
    /// Portable pixmap, binary (P6).
    Ppm,
    /// `NumPy` array of the dwells: uint32, shape (height, width), row 0 on top, 0 = did not escape.
    Npy,
    /// The dwells as text: a line for each row from the top, values separated by commas.
    Csv,
}

dwell_kernels::named!(Format, "format": Png => "png", Ppm => "ppm", Npy => "npy", Csv => "csv");

impl Format {
    /// The format that the path's ending names; PNG for standard output (`-`) and for paths without an ending.
    ///
    /// # Errors
    /// When the ending names no format.
    pub fn of_path(path: &Path) -> Result<Self, InputError> {
        if path == Path::new("-") {
            return Ok(Self::Png);
        }
        let Some(ending) = path.extension() else { return Ok(Self::Png) };
        let ending = ending.to_string_lossy();
        ending.to_ascii_lowercase().parse().map_err(|unknown: UnknownName| {
            let problem = Problem::UnknownEnding { ending: ending.into_owned(), path: path.to_owned() };
            InputError::new(problem).about(Parameter::Output).accepts(unknown.known.join(", "))
        })
    }

    /// Whether a file of this format holds a picture; otherwise it holds dwells.
    #[must_use]
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Png | Self::Ppm)
    }
}

/// The encoder of a format.
pub(crate) enum Encoder {
    /// Encodes pictures and never reads dwells.
    Picture(Box<dyn PictureEncoder>),
    /// Encodes dwells.
    Dwells(Box<dyn DwellEncoder>),
}

impl Encoder {
    /// The encoder of a format.
    ///
    /// # Errors
    /// When this build does not include the format.
    pub(crate) fn new(format: Format, header: Header<'_>) -> Result<Self, InputError> {
        Ok(match format {
            #[cfg(feature = "png")]
            Format::Png => Self::Picture(Box::new(png::Png::new(header)?)),
            #[cfg(not(feature = "png"))]
            Format::Png => {
                return Err(InputError::new(Problem::LeftOut { what: "writing a PNG", feature: "png" }));
            }
            Format::Ppm => Self::Picture(Box::new(ppm::Ppm::new(header))),
            Format::Npy => Self::Dwells(Box::new(npy::Npy::new(header.size, header.limit))),
            Format::Csv => Self::Dwells(Box::new(csv::Csv)),
        })
    }

    fn file(&self) -> &dyn FileEncoder {
        match self {
            Self::Picture(encoder) => encoder.as_ref(),
            Self::Dwells(encoder) => encoder.as_ref(),
        }
    }

    /// See [`FileEncoder::start`].
    pub(crate) fn start(&self) -> io::Result<Vec<u8>> {
        self.file().start()
    }

    /// See [`FileEncoder::end`].
    pub(crate) fn end(&self, sum: Adler, warnings: &[String]) -> io::Result<Vec<u8>> {
        self.file().end(sum, warnings)
    }
}
