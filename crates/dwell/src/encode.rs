//! Encoding: rows of a picture or of dwells as the bytes of a file.
//!
//! An image is encoded in parts of some rows, each a function of those rows alone: on all threads at once, in any order,
//! and again after an interruption, always with the same bytes.

mod csv;
mod filters;
mod npy;
mod png;
pub(crate) mod png_text;
mod ppm;
mod zlib;

pub(crate) use zlib::Adler;

use crate::base::error::{InputError, quote, unknown_name};
use crate::base::thread_pool::{Schedule, Team};
use crate::colour::Depth;
use crate::field::FieldRows;
use crate::view::Size;
use std::io;
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

/// A format, as a function from whole rows to bytes.
pub(crate) trait Encoder: Send + Sync {
    /// What the file begins with.
    fn start(&self) -> io::Result<Vec<u8>>;
    /// Appends a part of the file: rows of the field for a format of dwells, rows of the picture for the others. Returns
    /// the checksum of it that is combined with those of its neighbours, if the format has one.
    fn part(&self, rows: FieldRows<'_>, picture: &[u8], out: &mut Vec<u8>) -> io::Result<Adler>;
    /// What the file ends with, after parts with these checksums, of a render about which there are such warnings.
    fn end(&self, _: Adler, _warnings: &[String]) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// The encoder of a format.
pub(crate) fn encoder(format: Format, header: Header<'_>) -> Box<dyn Encoder> {
    match format {
        Format::Png => Box::new(png::Png::new(header)),
        Format::Ppm => Box::new(ppm::Ppm::new(header)),
        Format::Npy => Box::new(npy::Npy::new(header.size)),
        Format::Csv => Box::new(csv::Csv),
    }
}

/// A picture as the bytes of a PNG, encoded by a team: rows from the top, red, green and blue of each pixel with as many
/// bytes as the depth says, the high one first. `text` is what it remembers of itself, if it is not empty.
///
/// # Errors
/// When there are not as many bytes as pixels.
pub fn png_bytes(picture: &[u8], size: Size, depth: Depth, text: &str, team: &Team) -> io::Result<Vec<u8>> {
    let row = size.width as usize * depth.bytes_per_pixel();
    if row.checked_mul(size.height as usize) != Some(picture.len()) {
        return Err(io::Error::other(format!(
            "{} bytes are no picture of {} x {}",
            picture.len(),
            size.width,
            size.height
        )));
    }
    let encoder = encoder(Format::Png, Header { size, depth, text });
    let none = FieldRows { width: size.width, dwell: &[], smooth: &[], distance: &[] };
    let rows = part_rows(row as u64) as usize;
    let count = (size.height as usize).div_ceil(rows);
    // Each thread appends what it encodes to one buffer: fresh memory for each part would cost as much as a tenth of it.
    let pieces = picture.chunks(row * rows).enumerate().collect();
    let work = |(bytes, parts): &mut (Vec<u8>, Vec<_>), (number, picture): (usize, &[u8])| {
        let start = bytes.len();
        let sum = encoder.part(none, picture, bytes);
        parts.push((number, start..bytes.len(), sum));
    };
    let start = encoder.start()?;
    let mut done = team.for_each(Schedule::default(), pieces, || (start.clone(), Vec::new()), work);
    let mut places: Vec<Option<(usize, std::ops::Range<usize>, Adler)>> = vec![None; count];
    for (thread, (_, parts)) in done.iter_mut().enumerate() {
        for (number, place, sum) in parts.drain(..) {
            places[number] = Some((thread, place, sum?));
        }
    }
    let sum = places.iter().flatten().fold(Adler::default(), |sum, (_, _, part)| sum.then(*part));
    let mut file = if done.len() == 1 {
        // One thread has all of it in its order.
        done.swap_remove(0).0
    } else {
        let length = places.iter().flatten().map(|(_, place, _)| place.len()).sum::<usize>();
        let mut file = Vec::with_capacity(start.len() + length + 64);
        file.extend_from_slice(&start);
        places.iter().flatten().for_each(|(thread, place, _)| file.extend_from_slice(&done[*thread].0[place.clone()]));
        file
    };
    file.extend(encoder.end(sum, &[])?);
    Ok(file)
}

/// Bytes of a part of a picture, about: enough for a part's first row, compressed without the one above it, not to
/// matter.
const PART_BYTES: u64 = 1 << 18;
/// Rows of a part: few enough for several parts in a band of a wide image, and a power of two.
const PART_ROWS: std::ops::RangeInclusive<u32> = 8..=64;
/// A part of wide rows is not larger than this, unless it is a single row.
const MOST_PART_BYTES: u64 = 1 << 26;

/// Rows of each part of an image with rows of so many bytes: by the image alone, so that its files are the same however
/// they are made.
pub(crate) fn part_rows(row_bytes: u64) -> u32 {
    let row_bytes = row_bytes.max(1);
    let fitting = u32::try_from(PART_BYTES / row_bytes).unwrap_or(u32::MAX);
    let fitting = fitting.clamp(*PART_ROWS.start(), *PART_ROWS.end());
    let most = u32::try_from(MOST_PART_BYTES / row_bytes).unwrap_or(u32::MAX).max(1);
    // The power of two below.
    1 << fitting.min(most).ilog2()
}
