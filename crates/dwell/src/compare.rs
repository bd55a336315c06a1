//! Comparison of two rasters, both fields or both images, pixel by pixel; of a field with the true dwells; and of a file with
//! the record of its render.
//!
//! A [`Raster`] is read from a file of any program, a piece of a row at a time. The numbers in a [`ComparisonReport`] are counts
//! and exact sums, so they do not depend on the order of summation.

mod check;
mod counts;
#[cfg(feature = "png")]
mod picture;
#[cfg(not(feature = "png"))]
#[path = "compare/no_picture.rs"]
mod picture;
#[cfg(feature = "png")]
mod png_chunks;
mod raster;
mod record;
mod report;
mod tally;
mod value;

pub use check::{MethodCounts, PixelCounts, Selection, TruthReport, WrongPixel, check};
#[cfg(feature = "png")]
pub use png_chunks::check_png_chunks;
pub use raster::Raster;
pub use record::{Digest, PictureCheck, digest, field_blake3};
pub use report::{
    Area, Compared, ComparisonReport, Details, DifferingPixel, FieldDifferences, FileInfo, ImageDifferences,
    LargestDifference, PixelValue,
};
pub use value::{Difference, Value};

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::limits::{Limits, resize};
use crate::base::problem::Problem;
use crate::base::progress::Progress;
use crate::store::Output;
use crate::view::Size;
use dwell_kernels::with_standard_floats;
use picture::DifferenceImage;
use raster::{Cells, Content, PIECE, Pixels};
use std::ops::Range;
use tally::{Change, FieldTally, ImageTally};

/// The memory limit, the stop flag and the progress of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Controls<'a> {
    /// The memory limit.
    pub limits: &'a Limits,
    /// The stop flag.
    pub cancel: &'a Cancel,
    /// The progress, updated while the comparison runs.
    pub progress: &'a Progress,
}

/// Compares two rasters. If their sizes are equal and there is an `output`, a PNG of the differences is written to it.
///
/// # Errors
/// [`Error::Input`] when one raster is a field and the other an image, or the file of one is damaged; [`Error::Write`]
/// when the PNG cannot be written; [`Error::Interrupted`] after the stop flag was set.
pub fn compare(
    a: Raster,
    b: Raster,
    output: Option<Output>,
    controls: Controls<'_>,
) -> Result<ComparisonReport, Error> {
    with_standard_floats(|| compared(a, b, output, controls))
}

fn compared(a: Raster, b: Raster, output: Option<Output>, controls: Controls<'_>) -> Result<ComparisonReport, Error> {
    let sides = [&a, &b].map(|raster| FileInfo {
        file: raster.name().to_owned(),
        format: raster.format().to_owned(),
        width: raster.size().width,
        height: raster.size().height,
    });
    if a.is_field() != b.is_field() {
        let kind = |raster: &Raster| if raster.is_field() { "a field" } else { "an image" };
        let problem =
            format!("{} is {} ({}), and {} is {} ({})", a.name(), kind(&a), a.format(), b.name(), kind(&b), b.format());
        return Err(InputError::new(Problem::KindsDiffer(problem))
            .accepts("two fields (npy, csv), or two images (png, ppm, pgm)")
            .into());
    }
    let kind = if a.is_field() { "fields" } else { "images" };
    let sizes_differ = a.size() != b.size();
    let compared = if sizes_differ { None } else { Some(pixels(a, b, output, controls)?) };
    let same = compared.as_ref().is_some_and(|compared| compared.differing_pixels == 0);
    let [a, b] = sides;
    Ok(ComparisonReport { kind, a, b, same, sizes_differ, compared })
}

/// Compares two rasters of equal size and kind.
fn pixels(a: Raster, b: Raster, output: Option<Output>, controls: Controls<'_>) -> Result<Compared, Error> {
    let size = a.size();
    let readers = a.memory_bytes().saturating_add(b.memory_bytes());
    let rows = if output.is_some() { DifferenceImage::memory_bytes(size) } else { 0 };
    controls.limits.reserve("the comparison", readers.saturating_add(rows).saturating_add(PIECES_BYTES))?;
    controls.progress.start(size.pixels(), Vec::new());
    let names = [a.name().to_owned(), b.name().to_owned()];
    let image = output.map(|output| DifferenceImage::start(output, size)).transpose()?;
    let work = Comparison { size, names, image, controls };
    match (a.content, b.content) {
        (Content::Field(a), Content::Field(b)) => work.fields(a, b),
        (
            Content::Image { pixels: a, most: most_a, alpha: alpha_a },
            Content::Image { pixels: b, most: most_b, alpha: alpha_b },
        ) => work.images(a, b, ImageTally::new(size, [most_a, most_b], alpha_a || alpha_b)),
        _ => Err(InputError::malformed("a field and an image").into()),
    }
}

/// The most bytes of the pieces of both rasters, of their differences, and of the picture's pixels.
const PIECES_BYTES: u64 = (PIECE * (2 * size_of::<Value>() + size_of::<Change>() + 3)) as u64;

/// `PIECE` places for pixels.
fn piece<T: Clone>(filler: T) -> Result<Vec<T>, InputError> {
    let mut piece = Vec::new();
    resize(&mut piece, PIECE, filler, "pieces of rows").map(|()| piece)
}

/// The state of a comparison of two rasters of equal size.
struct Comparison<'a> {
    size: Size,
    names: [String; 2],
    image: Option<DifferenceImage>,
    controls: Controls<'a>,
}

impl Comparison<'_> {
    fn fields(mut self, mut a: Box<dyn Cells>, mut b: Box<dyn Cells>) -> Result<Compared, Error> {
        let mut tally = FieldTally::new(self.size);
        let (mut of_a, mut of_b) = (piece(Value::Whole(0))?, piece(Value::Whole(0))?);
        let mut changes = piece(Change::None)?;
        for (columns, row) in pieces(self.size) {
            let (of_a, of_b) = (&mut of_a[..columns.len()], &mut of_b[..columns.len()]);
            a.read(of_a).map_err(|e| e.in_file(&self.names[0]))?;
            b.read(of_b).map_err(|e| e.in_file(&self.names[1]))?;
            changes.clear();
            let pairs = columns.zip(of_a.iter().zip(of_b.iter()));
            changes.extend(pairs.map(|(column, (a, b))| tally.add(column, row, *a, *b)));
            if let Some(image) = &mut self.image {
                image.fields(of_a, &changes)?;
            }
            self.done(changes.len())?;
        }
        a.finish().map_err(|e| e.in_file(&self.names[0]))?;
        b.finish().map_err(|e| e.in_file(&self.names[1]))?;
        self.image.map_or(Ok(()), DifferenceImage::finish)?;
        Ok(tally.report())
    }

    fn images(
        mut self,
        mut a: Box<dyn Pixels>,
        mut b: Box<dyn Pixels>,
        mut tally: ImageTally,
    ) -> Result<Compared, Error> {
        let (mut of_a, mut of_b) = (piece([0; 4])?, piece([0; 4])?);
        let mut changes = piece(0)?;
        for (columns, row) in pieces(self.size) {
            let (of_a, of_b) = (&mut of_a[..columns.len()], &mut of_b[..columns.len()]);
            a.read(of_a).map_err(|e| e.in_file(&self.names[0]))?;
            b.read(of_b).map_err(|e| e.in_file(&self.names[1]))?;
            changes.clear();
            let pairs = columns.zip(of_a.iter().zip(of_b.iter()));
            changes.extend(pairs.map(|(column, (a, b))| tally.add(column, row, *a, *b)));
            if let Some(image) = &mut self.image {
                image.images(of_a, of_b, &changes)?;
            }
            self.done(changes.len())?;
        }
        a.finish().map_err(|e| e.in_file(&self.names[0]))?;
        b.finish().map_err(|e| e.in_file(&self.names[1]))?;
        self.image.map_or(Ok(()), DifferenceImage::finish)?;
        Ok(tally.report())
    }

    fn done(&self, pixels: usize) -> Result<(), Error> {
        self.controls.progress.add(pixels as u64);
        self.controls.cancel.check()
    }
}

/// The pieces of all rows, from the top left: a range of columns and the row.
fn pieces(size: Size) -> impl Iterator<Item = (Range<u32>, u32)> {
    (0..size.height).flat_map(move |row| {
        let starts = (0..size.width).step_by(PIECE);
        starts.map(move |start| (start..size.width.min(start.saturating_add(PIECE as u32)), row))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controls<T>(run: impl FnOnce(Controls<'_>) -> T) -> T {
        run(Controls { limits: &Limits::default(), cancel: &Cancel::default(), progress: &Progress::default() })
    }

    fn report(a: &[u8], b: &[u8]) -> Result<ComparisonReport, Error> {
        controls(|controls| {
            let open = |bytes: &[u8], name| Raster::from_bytes(bytes.to_vec(), name, controls.limits);
            compare(open(a, "a")?, open(b, "b")?, None, controls)
        })
    }

    #[test]
    fn different_sizes_are_reported_and_different_kinds_and_damage_are_errors() {
        assert!(report(b"1,2\n", b"1,2\n").unwrap().same);
        let other = report(b"1,2\n", b"1\n2\n").unwrap();
        assert!(other.sizes_differ && !other.same && other.compared.is_none());
        let error = report(b"1,2\n", b"P5 2 1 255 xx").unwrap_err().to_string();
        assert!(error.contains("a is a field (csv), and b is an image (pgm, grey, 8 bits)"), "{error}");
        let error = report(b"P5 2 1 255 xx", b"P5 2 1 255 xxx").unwrap_err().to_string();
        assert!(error.starts_with("b: goes on"), "{error}");
    }

    #[test]
    fn rows_longer_than_a_piece_are_compared_whole() {
        let wide = |n: u64| (0..40_000).map(|i| format!("{},", i % 7 + n * u64::from(i == 30_000))).collect::<String>();
        let (a, b) = ([wide(0), "\n".into(), wide(0)].concat(), [wide(0), "\n".into(), wide(5)].concat());
        let compared = report(a.as_bytes(), b.as_bytes()).unwrap().compared.unwrap();
        assert_eq!((compared.pixels, compared.differing_pixels), (80_000, 1));
        assert_eq!((compared.first[0].column, compared.first[0].row), (30_000, 1));
        assert_eq!(pieces(Size { width: 40_000, height: 2 }).count(), 6);
    }

    /// A small file of every format. Those that are hostile as a whole are in the test `fuzz_seeds`.
    fn seeds() -> Vec<Vec<u8>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/raster");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let names = |path: &std::path::PathBuf, part| path.to_string_lossy().contains(part);
        let seeds = files.filter(|path| names(path, "seed-") && !names(path, "hostile"));
        seeds.map(|path| std::fs::read(path).unwrap()).collect()
    }

    #[test]
    fn damaged_files_are_read_or_rejected() {
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let (mut read, mut rejected) = (0, 0);
        let seeds = seeds();
        assert!(seeds.len() >= 9 && seeds.iter().all(|seed| report(seed, seed).unwrap().same));
        for seed in &seeds {
            for _ in 0..1000 {
                let mut bytes = seed.clone();
                for _ in 0..=random(3) {
                    let at = random(bytes.len());
                    match random(4) {
                        0 => bytes[at] ^= 1 << random(8),
                        1 => bytes[at] = b"0,9-. \n\xff"[random(8)],
                        2 => bytes.truncate(at + 1),
                        _ => bytes.insert(at, bytes[random(bytes.len())]),
                    }
                }
                match report(&bytes, &bytes) {
                    Ok(report) => {
                        assert!(report.same);
                        read += 1;
                    }
                    Err(error) => {
                        let error = error.to_string();
                        assert!(error.starts_with('a') && !error.contains('\n') && error.len() < 400, "{error}");
                        rejected += 1;
                    }
                }
            }
        }
        assert!(read > 500 && rejected > 3000, "{read} {rejected}");
    }
}
