//! Encoding: rows of a picture or of dwells as the bytes of a file, streamed. Nothing here is proportional to the
//! image.

mod csv;
mod npy;
mod picture;
pub(crate) mod png_text;

use crate::colour::Depth;
use crate::error::{InputError, quote, unknown_name};
use crate::field::FieldRows;
use crate::view::Size;
use std::io::{self, Write};
use std::path::Path;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Portable Network Graphics: RGB with 8 or 16 bits, tagged sRGB, with the parameters of the picture as text.
    Png,
    /// Portable pixmap, binary (P6).
    Ppm,
    /// `NumPy` array of the dwells: uint32, shape (height, width), row 0 on top, 0 = did not escape.
    Npy,
    /// The dwells as text: a line for each row from the top, values separated by commas.
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Png, Self::Ppm, Self::Npy, Self::Csv];

    /// Its name and file ending.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Ppm => "ppm",
            Self::Npy => "npy",
            Self::Csv => "csv",
        }
    }

    /// The format of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(name: &str) -> Result<Self, InputError> {
        let lower = name.to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|f| f.name() == lower);
        found.ok_or_else(|| unknown_name("format", name, Self::ALL.map(Self::name)))
    }

    /// The format that a path's ending says; PNG for standard output (`-`) and for paths without an ending.
    ///
    /// # Errors
    /// When the ending is none that is known.
    pub fn of_path(path: &Path) -> Result<Self, InputError> {
        if path == Path::new("-") {
            return Ok(Self::Png);
        }
        let Some(ending) = path.extension() else { return Ok(Self::Png) };
        let ending = ending.to_string_lossy();
        let lower = ending.to_ascii_lowercase();
        Self::ALL.into_iter().find(|f| f.name() == lower).ok_or_else(|| {
            InputError::new(
                "",
                format!(
                    "the ending {} of {} is no format",
                    quote(&format!(".{ending}")),
                    quote(&path.to_string_lossy())
                ),
            )
            .accepted("png, ppm, npy, csv")
            .hint("give the format with --format, or change the ending")
        })
    }

    /// Whether it holds a picture; otherwise it holds dwells.
    #[must_use]
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Png | Self::Ppm)
    }
}

/// What a file begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'a> {
    /// Of the picture.
    pub(crate) size: Size,
    /// Bits of a channel of it.
    pub(crate) depth: Depth,
    /// What the picture remembers of itself.
    pub(crate) text: &'a str,
}

/// Rows on their way into a file.
pub(crate) trait Encoder {
    /// The next rows: of the picture for a picture format, of the field for the others.
    fn rows(&mut self, rows: FieldRows<'_>, picture: &[u8]) -> io::Result<()>;
    /// All rows were given.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Starts a file of an image.
pub(crate) fn start(format: Format, header: Header<'_>, file: impl Write + 'static) -> io::Result<Box<dyn Encoder>> {
    Ok(match format {
        Format::Png => Box::new(picture::Png::start(header, file)?),
        Format::Ppm => Box::new(picture::Ppm::start(header, file)?),
        Format::Npy => Box::new(npy::Npy::start(header.size, file)?),
        Format::Csv => Box::new(csv::Csv::start(file)),
    })
}
