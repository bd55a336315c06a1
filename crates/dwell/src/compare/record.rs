//! Checks of a file against the record of its render: the pixels of a picture against those of a second render, the bytes
//! of a file and the dwells of a field against the hashes in statistics.

use super::check::no_dwell;
use super::raster::{Content, PIECE, Pixel, Pixels, Raster};
use super::report::Compared;
use super::tally::ImageTally;
use super::value::Value;
use super::{Controls, pieces};
use crate::base::error::{Error, InputError};
use crate::base::limits::{filled, resize};
use crate::base::problem::Problem;
use crate::colour::Depth;
use crate::input::open::unreadable;
use crate::store::{Fingerprinter, Output};
use crate::view::Size;
use crate::view::settings::MOST_COUNT;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes of a file that are read at once.
pub(super) const BUFFER: usize = 1 << 18;
/// The lines of a PPM before its pixels, as [`crate::Format::Ppm`] writes them.
const HEADER_LINES: u32 = 3;

/// Compares the pixels of a picture with those that a render writes, and stores neither.
///
/// The render writes a PPM into the output that [`Self::start`] returns. In the result, the picture is `a` and the render
/// is `b`.
///
/// ```
/// use dwell::compare::{PictureCheck, Raster};
/// use dwell::{Cancel, Control, CpuEngine, Format, Paint, Plan, Progress, Request, Scene, Scratch, Size};
/// use dwell::store::Output;
///
/// let mut scene = Scene::default();
/// scene.view = scene.view.sized(Size::new(96, 54)?);
/// let plan = Plan::new(&scene.view, &scene.settings, &Default::default())?;
/// let (engine, cancel, progress) = (CpuEngine::default(), Cancel::default(), Progress::default());
/// let request = Request::new(&plan, &engine, Paint::of(&scene, ""), Control { cancel: &cancel, progress: &progress });
/// let (output, file) = Output::in_memory("picture.png");
/// dwell::render(&request, vec![(Format::Png, output)], &mut Scratch::default())?;
///
/// let picture = Raster::from_bytes(file.bytes(), "picture.png", &Default::default())?;
/// let (check, output) = PictureCheck::start(picture, scene.view.size, scene.depth)?;
/// dwell::render(&request, vec![(Format::Ppm, output)], &mut Scratch::default())?;
/// assert_eq!(check.finish()?.differing_pixels, 0);
/// # Ok::<(), dwell::Error>(())
/// ```
pub struct PictureCheck(Arc<Mutex<Comparison>>);

impl std::fmt::Debug for PictureCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PictureCheck").finish_non_exhaustive()
    }
}

impl PictureCheck {
    /// Starts a comparison with a render of this size and depth. Returns the output for the render, whose format is
    /// [`crate::Format::Ppm`].
    ///
    /// # Errors
    /// When the raster is a field or has another size, or the system has no memory for a piece of a row.
    pub fn start(picture: Raster, size: Size, depth: Depth) -> Result<(Self, Output), InputError> {
        let name = picture.name().to_owned();
        let wrong = |problem: Problem| InputError::new(problem).in_file(&name);
        if picture.size() != size {
            let [found, view] = [picture.size(), size].map(|size| [size.width, size.height]);
            return Err(wrong(Problem::SizesDiffer { found, view }));
        }
        let format = picture.format().to_owned();
        let Content::Image { pixels, most, alpha } = picture.content else {
            let (found, wanted) = (format!("a field ({format})"), "a picture".to_owned());
            return Err(wrong(Problem::WrongKind { found, wanted }));
        };
        let mut of_file = Vec::new();
        resize(&mut of_file, PIECE.min(size.width as usize), [0; 4], "a piece of a row")?;
        let of_render = if depth == Depth::Eight { 255 } else { u16::MAX };
        let shared = Arc::new(Mutex::new(Comparison {
            name: name.clone(),
            size,
            depth,
            pixels,
            tally: ImageTally::new(size, [most, of_render], alpha),
            of_file,
            header_lines: HEADER_LINES,
            next: (0, 0),
            rest: Vec::new(),
            damage: None,
        }));
        let output = Output::to_writer(&name, Box::new(Shared(Arc::clone(&shared))));
        Ok((Self(shared), output))
    }

    /// The damage that the comparison found in the file of the picture. The write to the output has failed then, and with it
    /// the render.
    #[must_use]
    pub fn damage(&self) -> Option<InputError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).damage.clone()
    }

    /// The differences, after the render has returned without an error.
    ///
    /// # Errors
    /// When the file of the picture is damaged, or the render wrote fewer pixels than the picture has.
    pub fn finish(self) -> Result<Compared, InputError> {
        let mut comparison = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(damage) = comparison.damage.take() {
            return Err(damage);
        }
        let size = comparison.size;
        if comparison.next.1 != size.height || !comparison.rest.is_empty() {
            let problem = format!("the render wrote {} rows of {}", comparison.next.1, size.height);
            return Err(InputError::malformed(problem).in_file(&comparison.name));
        }
        let finished = comparison.pixels.finish();
        finished.map_err(|e| e.in_file(&comparison.name))?;
        let tally = std::mem::replace(&mut comparison.tally, ImageTally::new(size, [255; 2], false));
        Ok(tally.report())
    }
}

/// The state of a comparison with a render.
struct Comparison {
    name: String,
    size: Size,
    depth: Depth,
    /// The pixels of the file.
    pixels: Box<dyn Pixels>,
    tally: ImageTally,
    /// Pixels of the file, at most [`PIECE`] of a row.
    of_file: Vec<Pixel>,
    /// Lines of the header that the render has not yet written.
    header_lines: u32,
    /// Column and row of the next pixel.
    next: (u32, u32),
    /// The first bytes of a pixel whose other bytes are not yet written.
    rest: Vec<u8>,
    /// What is wrong with the file.
    damage: Option<InputError>,
}

impl Comparison {
    /// Compares the next bytes of the render.
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), InputError> {
        while self.header_lines > 0 {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return Ok(()) };
            (self.header_lines, bytes) = (self.header_lines - 1, &bytes[end + 1..]);
        }
        let bytes_per_pixel = self.depth.bytes_per_pixel();
        if !self.rest.is_empty() {
            let missing = (bytes_per_pixel - self.rest.len()).min(bytes.len());
            self.rest.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.rest.len() < bytes_per_pixel {
                return Ok(());
            }
            let pixel = std::mem::take(&mut self.rest);
            self.pixels(&pixel)?;
        }
        let (whole, rest) = bytes.split_at(bytes.len() / bytes_per_pixel * bytes_per_pixel);
        self.rest.extend_from_slice(rest);
        self.pixels(whole)
    }

    /// Compares whole pixels of the render.
    fn pixels(&mut self, mut bytes: &[u8]) -> Result<(), InputError> {
        let bytes_per_pixel = self.depth.bytes_per_pixel();
        while !bytes.is_empty() {
            let (column, row) = self.next;
            if row == self.size.height {
                return Err(InputError::malformed("the render has more pixels").in_file(&self.name));
            }
            let count = PIECE.min((self.size.width - column) as usize).min(bytes.len() / bytes_per_pixel);
            let (now, later) = bytes.split_at(count * bytes_per_pixel);
            let of_file = &mut self.of_file[..count];
            self.pixels.read(of_file).map_err(|e| e.in_file(&self.name))?;
            for ((column, file), render) in (column..).zip(of_file).zip(now.chunks_exact(bytes_per_pixel)) {
                let value = |at: usize| match self.depth {
                    Depth::Eight => u16::from(render[at]) * 257,
                    Depth::Sixteen => u16::from_be_bytes([render[2 * at], render[2 * at + 1]]),
                };
                self.tally.add(column, row, *file, [value(0), value(1), value(2), u16::MAX]);
            }
            #[expect(clippy::cast_possible_truncation, reason = "at most PIECE")]
            let column = column + count as u32;
            self.next = if column == self.size.width { (0, row + 1) } else { (column, row) };
            bytes = later;
        }
        Ok(())
    }
}

/// The writer of the output: passes the bytes on to the comparison.
struct Shared(Arc<Mutex<Comparison>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut comparison = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match comparison.take(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(damage) => {
                let text = damage.to_string();
                comparison.damage = Some(damage);
                Err(io::Error::other(text))
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The length and the hash of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The length in bytes.
    pub bytes: u64,
    /// The XXH3 hash, 128 bits in hex.
    pub xxh3_128: String,
}

/// The length and the XXH3 hash of a regular file, as [`crate::OutputReport`] has them. The progress counts its bytes.
///
/// # Errors
/// [`Error::Input`] when the file cannot be read, and [`Error::Interrupted`] after the stop flag was set.
pub fn digest(path: &Path, controls: Controls<'_>) -> Result<Digest, Error> {
    let wrong = |e: io::Error| unreadable(&e).in_file(path);
    let mut file = File::open(path).map_err(wrong)?;
    controls.progress.start(file.metadata().map_err(wrong)?.len(), Vec::new());
    let mut state = Fingerprinter::new();
    let mut buffer = filled(BUFFER, 0_u8, "reading the file")?;
    loop {
        let count = file.read(&mut buffer).map_err(wrong)?;
        if count == 0 {
            return Ok(Digest { bytes: state.length(), xxh3_128: state.value().to_string() });
        }
        state.update(&buffer[..count]);
        controls.progress.add(count as u64);
        controls.cancel.check()?;
    }
}

/// The hash of the dwells of a field, in hex, as [`crate::Report::field_blake3`] has it: BLAKE3 of little-endian integers, row
/// by row from the top, of 32 bits if the limit of the render was at most 2^32 - 1, otherwise of 64.
///
/// # Errors
/// [`Error::Input`] when the raster is an image, holds numbers other than integers from 0 to 2^32 - 1 or 2^63 - 1, or its file is
/// damaged; [`Error::Interrupted`] after the stop flag was set.
pub fn field_blake3(field: Raster, limit: u64, controls: Controls<'_>) -> Result<String, Error> {
    let (name, format, size) = (field.name().to_owned(), field.format().to_owned(), field.size());
    let Content::Field(mut cells) = field.content else {
        let (found, wanted) = (format!("an image ({format})"), "a field of dwells".to_owned());
        return Err(InputError::new(Problem::WrongKind { found, wanted }).in_file(&name).accepts("npy, csv").into());
    };
    controls.progress.start(size.pixels(), Vec::new());
    let mut hasher = blake3::Hasher::new();
    let longest = PIECE.min(size.width as usize);
    let (mut values, mut bytes) = (vec![Value::Whole(0); longest], Vec::with_capacity(8 * longest));
    for (columns, row) in pieces(size) {
        let values = &mut values[..columns.len()];
        cells.read(values).map_err(|e| e.in_file(&name))?;
        bytes.clear();
        for (column, value) in columns.zip(values.iter()) {
            let dwell = value.dwell().ok_or_else(|| no_dwell(*value, column, row).in_file(&name))?;
            match u32::try_from(dwell) {
                _ if limit > MOST_COUNT => bytes.extend_from_slice(&dwell.to_le_bytes()),
                Ok(dwell) => bytes.extend_from_slice(&dwell.to_le_bytes()),
                Err(_) => return Err(no_dwell(*value, column, row).in_file(&name).into()),
            }
        }
        hasher.update(&bytes);
        controls.progress.add(values.len() as u64);
        controls.cancel.check()?;
    }
    cells.finish().map_err(|e| e.in_file(&name))?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::limits::Limits;
    use crate::base::progress::Progress;

    fn ppm(width: u32, height: u32, depth: Depth) -> Vec<u8> {
        let most = (1_u32 << depth.bits()) - 1;
        let pixels = (0..width as usize * height as usize * depth.bytes_per_pixel()).map(|i| (i * 7 % 251) as u8);
        [format!("P6\n{width} {height}\n{most}\n").into_bytes(), pixels.collect()].concat()
    }

    fn check(file: &[u8], render: &[u8], size: Size, depth: Depth, step: usize) -> Result<Compared, InputError> {
        let picture = Raster::from_bytes(file.to_vec(), "a.ppm", &Limits::default())?;
        let (check, mut output) = PictureCheck::start(picture, size, depth)?;
        let written = render.chunks(step).try_for_each(|piece| output.write_all(piece)).and_then(|()| output.flush());
        assert_eq!(written.is_err(), check.damage().is_some());
        drop(output);
        check.finish()
    }

    #[test]
    fn pixels_are_compared_whatever_the_pieces_in_which_they_are_written() {
        for (width, height, depth) in [(5, 7, Depth::Eight), (3, 4, Depth::Sixteen), (20_000, 2, Depth::Eight)] {
            let (size, whole) = (Size { width, height }, ppm(width, height, depth));
            for step in [1, 2, 5, 64, 1 << 20] {
                assert_eq!(check(&whole, &whole, size, depth, step).unwrap().differing_pixels, 0);
            }
            let mut other = whole.clone();
            *other.last_mut().unwrap() ^= 1;
            let found = check(&whole, &other, size, depth, 11).unwrap();
            assert_eq!((found.differing_pixels, found.first[0].column), (1, width - 1));
            assert_eq!(found.first[0].row, height - 1);
            let other = Size { width, height: height + 1 };
            assert!(matches!(
                check(&whole, &whole, other, depth, 11).unwrap_err().problem(),
                Problem::SizesDiffer { .. }
            ));
            let short = check(&whole, &whole[..whole.len() - 1], size, depth, 11).unwrap_err().to_string();
            assert!(short.contains("the render wrote"), "{short}");
        }
    }

    #[test]
    fn a_damaged_picture_stops_the_render() {
        let size = Size { width: 600, height: 700 };
        let whole = ppm(600, 700, Depth::Eight);
        let cut = [&whole[..whole.len() - 1], b""].concat();
        assert!(check(&cut, &whole, size, Depth::Eight, 1 << 20).is_err());
        let field = Raster::from_bytes(b"1,2\n".to_vec(), "a.csv", &Limits::default()).unwrap();
        let error = PictureCheck::start(field, Size { width: 2, height: 1 }, Depth::Eight).unwrap_err().to_string();
        assert!(error.contains("a field (csv), not a picture"), "{error}");
    }

    #[test]
    fn hashes_are_those_of_bytes_and_of_dwells() {
        let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
        let controls = Controls { limits: &limits, cancel: &cancel, progress: &progress };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        #[expect(clippy::disallowed_methods, reason = "an input of a test")]
        std::fs::write(&path, b"1,2\n3,4294967295\n").unwrap();
        let expected = format!("{:032x}", twox_hash::XxHash3_128::oneshot(b"1,2\n3,4294967295\n"));
        assert_eq!(digest(&path, controls).unwrap(), Digest { bytes: 17, xxh3_128: expected });
        let hash = |text: &[u8]| {
            field_blake3(Raster::from_bytes(text.to_vec(), "a", &limits).unwrap(), 9, controls)
                .map_err(|e| e.to_string())
        };
        let dwells: Vec<u8> = [1_u32, 2, 3, u32::MAX].iter().flat_map(|dwell| dwell.to_le_bytes()).collect();
        assert_eq!(hash(b"1,2\n3,4294967295\n").unwrap(), blake3::hash(&dwells).to_hex().as_str());
        assert!(hash(b"1,2\n3,-1\n").unwrap_err().contains("-1 is no dwell"));
        assert!(hash(b"P5 1 1 255 x").unwrap_err().contains("not a field of dwells"));
    }
}
