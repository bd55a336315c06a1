//! An image of the differences: equal pixels in dark grey after the first raster, differing pixels in a colour by the
//! sign of the difference, brighter for larger differences.

use super::raster::Pixel;
use super::tally::Change;
use super::value::{Difference, Value};
use crate::base::error::Error;
use crate::base::limits::resize;
use crate::encode::{COMPARISON, SOFTWARE};
use crate::store::Output;
use crate::view::Size;
use png::StreamWriter;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

/// The colour of pixels whose value is greater in the first raster.
const MORE: [u8; 3] = [255, 106, 40];
/// The colour of pixels whose value is less in the first raster.
const LESS: [u8; 3] = [64, 160, 255];
/// The colour of other differing pixels: inside the set in one raster only, infinite or NaN, or channels of equal sum.
const OTHER: [u8; 3] = [255, 232, 64];
/// The brightest grey of equal pixels; the brightest channel of a differing pixel is at least twice as bright.
const BRIGHTEST_GREY: u64 = 88;

/// The image of the differences while it is written.
pub(super) struct DifferenceImage {
    path: PathBuf,
    output: Shared,
    stream: StreamWriter<'static, Shared>,
    piece: Vec<u8>,
}

/// An output that is shared with the PNG writer, so that it can be committed after the writer is dropped.
#[derive(Clone)]
struct Shared(Rc<RefCell<Output>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

impl DifferenceImage {
    /// The most bytes of memory that it takes: the PNG writer stores a row, the previous one, the filtered one, and what
    /// it has compressed.
    pub(super) fn memory_bytes(size: Size) -> u64 {
        u64::from(size.width) * 3 * 4
    }

    /// Writes the header.
    pub(super) fn start(output: Output, size: Size) -> Result<Self, Error> {
        let path = output.path().to_owned();
        let output = Shared(Rc::new(RefCell::new(output)));
        let mut encoder = png::Encoder::new(output.clone(), size.width, size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        // `dwell show` recognises the picture by its description.
        let described = [("Software", SOFTWARE), ("Description", COMPARISON)]
            .into_iter()
            .try_for_each(|(name, text)| encoder.add_text_chunk(name.to_owned(), text.to_owned()));
        let stream = described.and_then(|()| encoder.write_header()).and_then(png::Writer::into_stream_writer);
        let stream = stream.map_err(|e| Error::Write { path: path.clone(), source: e.into() })?;
        Ok(Self { path, output, stream, piece: Vec::new() })
    }

    /// Writes the next pixels of two fields: the values of the first, and the changes to the second.
    pub(super) fn fields(&mut self, a: &[Value], changes: &[Change]) -> Result<(), Error> {
        self.paint(a.iter().zip(changes).map(|(a, change)| of_fields(*a, *change)))
    }

    /// Writes the next pixels of two images; `largest` are the largest differences of the channels.
    pub(super) fn images(&mut self, a: &[Pixel], b: &[Pixel], largest: &[u16]) -> Result<(), Error> {
        let pairs = a.iter().zip(b).zip(largest);
        self.paint(pairs.map(|((a, b), largest)| of_images(*a, *b, *largest)))
    }

    /// Writes the next pixels.
    fn paint(&mut self, pixels: impl ExactSizeIterator<Item = [u8; 3]>) -> Result<(), Error> {
        resize(&mut self.piece, 3 * pixels.len(), 0, "a piece of a row")?;
        for (place, pixel) in self.piece.chunks_exact_mut(3).zip(pixels) {
            place.copy_from_slice(&pixel);
        }
        self.stream.write_all(&self.piece).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// Completes and commits the file after the last pixel.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.stream.finish().map_err(|e| Error::Write { path: self.path, source: e.into() })?;
        // The stream is dropped, so this is the last reference.
        Rc::into_inner(self.output.0).map_or(Ok(()), |output| output.into_inner().commit().map(drop))
    }
}

/// The colour of a pixel of two fields, of which `a` is the first.
fn of_fields(a: Value, change: Change) -> [u8; 3] {
    match change {
        Change::None => [grey(a); 3],
        Change::Kind => OTHER,
        Change::By(order, difference) => {
            let steps = match difference {
                Difference::Whole(n) => log2_in_sixteenths(u64::try_from(n).unwrap_or(u64::MAX)),
                // A difference of 0.001 in floating point is shown as a difference of 1 in integers.
                other => log2_in_sixteenths(whole(other.to_f64() * 1000.0)),
            };
            shade(if order == Ordering::Greater { MORE } else { LESS }, steps)
        }
    }
}

/// The colour of a pixel of two images; `largest` is the largest difference of its channels.
fn of_images(a: Pixel, b: Pixel, largest: u16) -> [u8; 3] {
    let sum = |pixel: Pixel| pixel.iter().map(|v| u64::from(*v)).sum::<u64>();
    if largest == 0 {
        let [red, green, blue, _] = a.map(u64::from);
        // The luminance weights of red, green and blue (Rec. 709), in 1/256.
        let brightness = (54 * red + 183 * green + 19 * blue) >> 8;
        return [byte(brightness * BRIGHTEST_GREY / 65_535); 3];
    }
    let colour = match sum(a).cmp(&sum(b)) {
        Ordering::Greater => MORE,
        Ordering::Less => LESS,
        Ordering::Equal => OTHER,
    };
    shade(colour, log2_in_sixteenths(u64::from(largest)))
}

/// The grey of an equal pixel: black inside the set, brighter with the logarithm of the dwell outside.
fn grey(value: Value) -> u8 {
    if value.is_inside() {
        return 0;
    }
    let n = match value {
        Value::Whole(n) => u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX),
        Value::Real(v) => whole(v.abs()),
    };
    // 18 at n = 1, the maximum from n = 2^14 on.
    byte((18 + log2_in_sixteenths(n) * 5 / 16).min(BRIGHTEST_GREY))
}

/// A colour at 70 % of its brightness for the smallest difference and at 100 % from 2^16 on.
fn shade(colour: [u8; 3], steps: u64) -> [u8; 3] {
    let part = 180 + (steps * 77 / 256).min(76);
    colour.map(|channel| byte(u64::from(channel) * part / 256))
}

/// An approximation of 16 log2(n), linear between powers of two; 0 for 0 and 1.
fn log2_in_sixteenths(n: u64) -> u64 {
    let Some(whole) = n.checked_ilog2() else { return 0 };
    let fraction = (u128::from(n - (1 << whole)) * 16) >> whole;
    u64::from(whole) * 16 + u64::try_from(fraction).unwrap_or(0)
}

/// The integer part, saturating: 0 for negative numbers and NaN.
fn whole(value: f64) -> u64 {
    value as u64
}

fn byte(value: u64) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_pixels_are_brighter_than_equal_ones() {
        let brightest = |pixel: [u8; 3]| *pixel.iter().max().unwrap();
        for n in [1, 2, 50, 10_000, i128::from(u64::MAX)] {
            let same = of_fields(Value::Whole(n), Change::None);
            assert!(same[0] == same[1] && (18..=88).contains(&same[0]), "{n}: {same:?}");
            for order in [Ordering::Less, Ordering::Greater] {
                let differs = of_fields(Value::Whole(n), Change::By(order, Difference::Whole(n.unsigned_abs())));
                assert!(brightest(differs) > 170 && differs[0] != differs[2], "{n}: {differs:?}");
            }
        }
        assert_eq!(of_fields(Value::Whole(0), Change::None), [0; 3]);
        assert_eq!(of_fields(Value::Whole(0), Change::Kind), OTHER);
        let by = |n| brightest(of_fields(Value::Whole(1), Change::By(Ordering::Greater, Difference::Whole(n))));
        assert!(by(1) < by(100) && by(100) < by(100_000) && by(u128::MAX) == 255);
        let (black, white) = ([0, 0, 0, u16::MAX], [u16::MAX; 4]);
        assert_eq!((of_images(black, black, 0), of_images(white, white, 0)), ([0; 3], [88; 3]));
        assert!(brightest(of_images(white, black, u16::MAX)) == 255);
    }

    #[test]
    fn logarithms_are_linear_between_powers_of_two() {
        assert_eq!([0, 1, 2, 3, 4, 6].map(log2_in_sixteenths), [0, 0, 16, 24, 32, 40]);
        assert_eq!(log2_in_sixteenths(u64::MAX), 63 * 16 + 15);
    }
}
