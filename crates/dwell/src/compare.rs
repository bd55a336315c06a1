//! Two rasters, fields or images, compared pixel by pixel as they stream by; and a field compared with the truth.
//!
//! Both are read from files of any program ([`Raster`]), a piece of a row at a time. What is found ([`Report`]) is exact:
//! counts, and sums that do not depend on their order.

mod check;
mod picture;
mod raster;
mod report;
mod tally;
mod value;

pub use check::{Means, Tally, TruthReport, Which, Wrong, check};
pub use raster::Raster;
pub use report::{Area, Compared, Fields, Found, Images, Largest, Pair, Report, Shown, Side};
pub use value::{Difference, Value};

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::store::Output;
use crate::view::Size;
use picture::Painting;
use raster::{Cells, Content, PIECE, Pixels};
use std::ops::Range;
use tally::{OfFields, OfImages};

/// Who watches a comparison, and what it may take.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// Memory.
    pub limits: &'a Limits,
    /// How to stop it.
    pub cancel: &'a Cancel,
    /// How far it is.
    pub progress: &'a Progress,
}

/// Compares two rasters; a picture of the differences goes to `output`, if there is one and the sizes are the same.
///
/// # Errors
/// [`Error::Input`] when one is a field and the other an image, or one turns out to be damaged; [`Error::Write`];
/// [`Error::Interrupted`].
pub fn compare(a: Raster, b: Raster, output: Option<Output>, watch: Watch<'_>) -> Result<Report, Error> {
    let sides = [&a, &b].map(|raster| Side {
        file: raster.name().to_owned(),
        format: raster.format().to_owned(),
        width: raster.size().width,
        height: raster.size().height,
    });
    if a.is_field() != b.is_field() {
        let kind = |raster: &Raster| if raster.is_field() { "a field" } else { "an image" };
        let problem =
            format!("{} is {} ({}), and {} is {} ({})", a.name(), kind(&a), a.format(), b.name(), kind(&b), b.format());
        return Err(InputError::new("", problem)
            .accepted("two fields (npy, csv), or two images (png, ppm, pgm)")
            .hint("a field holds dwells, an image colours made of them: write the dwells of both, with -o FILE.npy")
            .into());
    }
    let kind = if a.is_field() { "fields" } else { "images" };
    let sizes_differ = a.size() != b.size();
    let compared = if sizes_differ { None } else { Some(pixels(a, b, output, watch)?) };
    let same = compared.as_ref().is_some_and(|compared| compared.differing_pixels == 0);
    let [a, b] = sides;
    Ok(Report { kind, a, b, same, sizes_differ, compared })
}

/// Two rasters of one size and one kind.
fn pixels(a: Raster, b: Raster, output: Option<Output>, watch: Watch<'_>) -> Result<Compared, Error> {
    let size = a.size();
    watch.progress.start(size.pixels(), Vec::new());
    let names = [a.name().to_owned(), b.name().to_owned()];
    let painting = output.map(|output| Painting::start(output, size, watch.limits)).transpose()?;
    let work = Work { size, names, painting, watch };
    match (a.content, b.content) {
        (Content::Field(a), Content::Field(b)) => work.fields(a, b),
        (
            Content::Image { pixels: a, most: most_a, alpha: alpha_a },
            Content::Image { pixels: b, most: most_b, alpha: alpha_b },
        ) => work.images(a, b, OfImages::new(size, [most_a, most_b], alpha_a || alpha_b)),
        _ => Err(InputError::new("", "a field and an image").into()),
    }
}

/// A comparison under way.
struct Work<'a> {
    size: Size,
    names: [String; 2],
    painting: Option<Painting>,
    watch: Watch<'a>,
}

impl Work<'_> {
    fn fields(mut self, mut a: Box<dyn Cells>, mut b: Box<dyn Cells>) -> Result<Compared, Error> {
        let mut tally = OfFields::new(self.size);
        let (mut of_a, mut of_b) = (vec![Value::Whole(0); PIECE], vec![Value::Whole(0); PIECE]);
        let mut changes = Vec::with_capacity(PIECE);
        for (columns, row) in pieces(self.size) {
            let (of_a, of_b) = (&mut of_a[..columns.len()], &mut of_b[..columns.len()]);
            a.read(of_a).map_err(|e| e.within(&self.names[0]))?;
            b.read(of_b).map_err(|e| e.within(&self.names[1]))?;
            changes.clear();
            let pairs = columns.zip(of_a.iter().zip(of_b.iter()));
            changes.extend(pairs.map(|(column, (a, b))| tally.add(column, row, *a, *b)));
            if let Some(painting) = &mut self.painting {
                painting.paint(of_a.iter().zip(&changes).map(|(a, change)| picture::of_fields(*a, *change)))?;
            }
            self.done(changes.len())?;
        }
        a.finish().map_err(|e| e.within(&self.names[0]))?;
        b.finish().map_err(|e| e.within(&self.names[1]))?;
        self.painting.map_or(Ok(()), Painting::finish)?;
        Ok(tally.report())
    }

    fn images(
        mut self,
        mut a: Box<dyn Pixels>,
        mut b: Box<dyn Pixels>,
        mut tally: OfImages,
    ) -> Result<Compared, Error> {
        let (mut of_a, mut of_b) = (vec![[0; 4]; PIECE], vec![[0; 4]; PIECE]);
        let mut changes = Vec::with_capacity(PIECE);
        for (columns, row) in pieces(self.size) {
            let (of_a, of_b) = (&mut of_a[..columns.len()], &mut of_b[..columns.len()]);
            a.read(of_a).map_err(|e| e.within(&self.names[0]))?;
            b.read(of_b).map_err(|e| e.within(&self.names[1]))?;
            changes.clear();
            let pairs = columns.zip(of_a.iter().zip(of_b.iter()));
            changes.extend(pairs.map(|(column, (a, b))| tally.add(column, row, *a, *b)));
            if let Some(painting) = &mut self.painting {
                let pairs = of_a.iter().zip(of_b.iter()).zip(&changes);
                painting.paint(pairs.map(|((a, b), largest)| picture::of_images(*a, *b, *largest)))?;
            }
            self.done(changes.len())?;
        }
        a.finish().map_err(|e| e.within(&self.names[0]))?;
        b.finish().map_err(|e| e.within(&self.names[1]))?;
        self.painting.map_or(Ok(()), Painting::finish)?;
        Ok(tally.report())
    }

    fn done(&self, pixels: usize) -> Result<(), Error> {
        self.watch.progress.add(pixels as u64);
        self.watch.cancel.check()
    }
}

/// Rows from the top, each in pieces: columns and row.
fn pieces(size: Size) -> impl Iterator<Item = (Range<u32>, u32)> {
    (0..size.height).flat_map(move |row| {
        let starts = (0..size.width).step_by(PIECE);
        starts.map(move |start| (start..size.width.min(start.saturating_add(PIECE as u32)), row))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch<T>(run: impl FnOnce(Watch<'_>) -> T) -> T {
        run(Watch { limits: &Limits::default(), cancel: &Cancel::default(), progress: &Progress::default() })
    }

    fn report(a: &[u8], b: &[u8]) -> Result<Report, Error> {
        watch(|watch| {
            let open = |bytes: &[u8], name| Raster::from_bytes(bytes.to_vec(), name, watch.limits);
            compare(open(a, "a")?, open(b, "b")?, None, watch)
        })
    }

    #[test]
    fn sizes_kinds_and_damage() {
        assert!(report(b"1,2\n", b"1,2\n").unwrap().same);
        let other = report(b"1,2\n", b"1\n2\n").unwrap();
        assert!(other.sizes_differ && !other.same && other.compared.is_none());
        let error = report(b"1,2\n", b"P5 2 1 255 xx").unwrap_err().to_string();
        assert!(error.contains("a is a field (csv), and b is an image (pgm, grey, 8 bits)"), "{error}");
        let error = report(b"P5 2 1 255 xx", b"P5 2 1 255 xxx").unwrap_err().to_string();
        assert!(error.starts_with("b: goes on"), "{error}");
    }

    #[test]
    fn rows_longer_than_a_piece() {
        let wide = |n: u64| (0..40_000).map(|i| format!("{},", i % 7 + n * u64::from(i == 30_000))).collect::<String>();
        let (a, b) = ([wide(0), "\n".into(), wide(0)].concat(), [wide(0), "\n".into(), wide(5)].concat());
        let compared = report(a.as_bytes(), b.as_bytes()).unwrap().compared.unwrap();
        assert_eq!((compared.pixels, compared.differing_pixels), (80_000, 1));
        assert_eq!((compared.first[0].column, compared.first[0].row), (30_000, 1));
        assert_eq!(pieces(Size { width: 40_000, height: 2 }).count(), 6);
    }

    /// Every kind of file, small.
    fn seeds() -> Vec<Vec<u8>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/raster");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.to_string_lossy().contains("seed-")).map(|path| std::fs::read(path).unwrap()).collect()
    }

    #[test]
    fn damaged_files_are_read_or_refused() {
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let (mut read, mut refused) = (0, 0);
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
                        refused += 1;
                    }
                }
            }
        }
        assert!(read > 500 && refused > 3000, "{read} {refused}");
    }
}
