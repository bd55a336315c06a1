//! A picture of the differences: the first raster dimmed to grey, and every pixel that differs in a colour of its own,
//! the brighter the more.

use super::raster::Pixel;
use super::tally::Change;
use super::value::{Difference, Value};
use crate::base::error::Error;
use crate::base::limits::{Limits, resize};
use crate::store::Output;
use crate::view::Size;
use png::StreamWriter;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

/// Greater in the first.
const MORE: [u8; 3] = [255, 106, 40];
/// Less in the first.
const LESS: [u8; 3] = [64, 160, 255];
/// Inside the set in one of the two, or otherwise without a difference.
const OTHER: [u8; 3] = [255, 232, 64];
/// The brightest grey of what is the same; differences begin at more than twice that.
const BRIGHTEST_GREY: u64 = 88;

/// A picture on its way into a file.
pub(super) struct Painting {
    path: PathBuf,
    output: Shared,
    stream: StreamWriter<'static, Shared>,
    piece: Vec<u8>,
}

/// An output that the PNG writer writes to, and that is completed once that is gone.
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

impl Painting {
    /// Begins the file.
    pub(super) fn start(output: Output, size: Size, limits: &Limits) -> Result<Self, Error> {
        // What the writer holds: a row, the one before, and the one filtered.
        limits.reserve("rows of the picture", u64::from(size.width).saturating_mul(3 * 4))?;
        let path = output.path().to_owned();
        let output = Shared(Rc::new(RefCell::new(output)));
        let mut encoder = png::Encoder::new(output.clone(), size.width, size.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let stream = encoder.write_header().and_then(png::Writer::into_stream_writer);
        let stream = stream.map_err(|e| Error::Write { path: path.clone(), source: e.into() })?;
        Ok(Self { path, output, stream, piece: Vec::new() })
    }

    /// The next pixels of a row.
    pub(super) fn paint(&mut self, pixels: impl ExactSizeIterator<Item = [u8; 3]>) -> Result<(), Error> {
        resize(&mut self.piece, 3 * pixels.len(), 0, "a piece of a row")?;
        for (place, pixel) in self.piece.chunks_exact_mut(3).zip(pixels) {
            place.copy_from_slice(&pixel);
        }
        self.stream.write_all(&self.piece).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// All was painted: the file is there, whole.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.stream.finish().map_err(|e| Error::Write { path: self.path, source: e.into() })?;
        // The stream, which held it too, is gone.
        Rc::into_inner(self.output.0).map_or(Ok(()), |output| output.into_inner().commit().map(drop))
    }
}

/// A pixel of two fields.
pub(super) fn of_fields(a: Value, change: Change) -> [u8; 3] {
    match change {
        Change::None => [grey(a); 3],
        Change::Kind => OTHER,
        Change::By(order, difference) => {
            let steps = match difference {
                Difference::Whole(n) => log2_in_sixteenths(u64::try_from(n).unwrap_or(u64::MAX)),
                // A thousandth is as little as 1.
                other => log2_in_sixteenths(whole(other.to_f64() * 1000.0)),
            };
            shade(if order == Ordering::Greater { MORE } else { LESS }, steps)
        }
    }
}

/// A pixel of two images; `largest` is the largest difference of its channels.
pub(super) fn of_images(a: Pixel, b: Pixel, largest: u16) -> [u8; 3] {
    let sum = |pixel: Pixel| pixel.iter().map(|v| u64::from(*v)).sum::<u64>();
    if largest == 0 {
        let [red, green, blue, _] = a.map(u64::from);
        // Weights of the three in the brightness that is seen, in 256.
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

/// The dwell as a grey: black inside, then brighter with its logarithm.
fn grey(value: Value) -> u8 {
    if value.is_inside() {
        return 0;
    }
    let n = match value {
        Value::Whole(n) => u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX),
        Value::Real(v) => whole(v.abs()),
    };
    // 18 at n = 1, the brightest from n = 2^14 on.
    byte((18 + log2_in_sixteenths(n) * 5 / 16).min(BRIGHTEST_GREY))
}

/// A colour at 70 % for the least difference and whole from 2^16 on.
fn shade(colour: [u8; 3], steps: u64) -> [u8; 3] {
    let part = 180 + (steps * 77 / 256).min(76);
    colour.map(|channel| byte(u64::from(channel) * part / 256))
}

/// 16 log2(n), the fraction taken linearly; 0 for 0 and 1.
fn log2_in_sixteenths(n: u64) -> u64 {
    let Some(whole) = n.checked_ilog2() else { return 0 };
    let fraction = (u128::from(n - (1 << whole)) * 16) >> whole;
    u64::from(whole) * 16 + u64::try_from(fraction).unwrap_or(0)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
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
    fn what_differs_stands_out() {
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
    fn logarithms() {
        assert_eq!([0, 1, 2, 3, 4, 6].map(log2_in_sixteenths), [0, 0, 16, 24, 32, 40]);
        assert_eq!(log2_in_sixteenths(u64::MAX), 63 * 16 + 15);
    }
}
