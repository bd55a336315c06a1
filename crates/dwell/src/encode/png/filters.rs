//! The filters of PNG: each byte of a row as the difference from a prediction by the bytes to the left and above (PNG
//! specification, section 9).
//!
//! Each row gets the filter whose differences, as signed bytes, have the smallest sum of magnitudes: the usual
//! heuristic. In long rows an eighth of the bytes is sampled, which makes files 0.1 % larger and halves the time. The
//! filter of the row above is tried first: usually it is the best again, and a filter is abandoned once its sum reaches
//! the smallest.

use crate::base::error::InputError;
use crate::base::limits::filled;

/// The bytes from the start of one sample to the start of the next.
const STRIDE: usize = 1024;
/// The bytes of a sample.
const SAMPLE: usize = 128;
/// Rows shorter than this, in bytes, are summed whole.
const SHORT: usize = 4 * STRIDE;

/// The filter of a row; its value is the number that PNG gives it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sub = 1,
    Up = 2,
    Average = 3,
    Paeth = 4,
}

impl Kind {
    /// Every filter, the cheapest first.
    const ALL: [Self; 4] = [Self::Up, Self::Sub, Self::Paeth, Self::Average];
}

/// Filters the rows of a picture.
pub(super) struct Filters {
    /// Bytes of a pixel.
    pixel: usize,
    /// The filter's number, then the differences.
    filtered: Vec<u8>,
    /// Every filter, in the order in which they are tried.
    order: [Kind; 4],
}

impl Filters {
    /// # Errors
    /// When the system has not enough memory for a row.
    pub(super) fn new(pixel: usize, row: usize) -> Result<Self, InputError> {
        Ok(Self { pixel, filtered: filled(row + 1, 0, "the filtered rows")?, order: Kind::ALL })
    }

    /// The filtered row, after the number of its filter. Without a row above, the filter is `Sub`, which does not use
    /// it.
    pub(super) fn filter(&mut self, above: Option<&[u8]>, row: &[u8]) -> &[u8] {
        let kind = above.map_or(Kind::Sub, |above| self.choose(above, row));
        if let Some(place) = self.order.iter().position(|other| *other == kind).filter(|_| above.is_some()) {
            self.order[..=place].rotate_right(1);
        }
        let above = above.unwrap_or(row);
        self.filtered[0] = kind as u8;
        let out = &mut self.filtered[1..];
        // The bytes to the left of the first pixel count as 0.
        let first = self.pixel.min(row.len());
        for i in 0..first {
            let predicted = match kind {
                Kind::Sub => 0,
                Kind::Up | Kind::Paeth => above[i],
                Kind::Average => above[i] / 2,
            };
            out[i] = row[i].wrapping_sub(predicted);
        }
        apply(kind, self.pixel, above, row, first, &mut out[first..]);
        &self.filtered
    }

    /// The filter with the smallest sum of differences; of several, the one tried first.
    fn choose(&self, above: &[u8], row: &[u8]) -> Kind {
        let stride = if row.len() < SHORT { SAMPLE } else { STRIDE };
        let mut best = (u64::MAX, Kind::Up);
        let mut out = [0; SAMPLE];
        for kind in self.order {
            let mut sum = 0;
            for from in (self.pixel..row.len()).step_by(stride) {
                let out = &mut out[..SAMPLE.min(row.len() - from)];
                apply(kind, self.pixel, above, row, from, out);
                sum += magnitudes(out);
                if sum >= best.0 {
                    break;
                }
            }
            if sum < best.0 {
                best = (sum, kind);
            }
            if sum == 0 {
                break;
            }
        }
        best.1
    }
}

/// Filters `out.len()` bytes of a row from `from` on, which lies behind its first pixel.
fn apply(kind: Kind, pixel: usize, above: &[u8], row: &[u8], from: usize, out: &mut [u8]) {
    let to = from + out.len();
    let (now, up) = (&row[from..to], &above[from..to]);
    let (left, corner) = (&row[from - pixel..to - pixel], &above[from - pixel..to - pixel]);
    match kind {
        Kind::Sub => each(out, now, left, left, left, |a, _, _| a),
        Kind::Up => each(out, now, up, up, up, |b, _, _| b),
        Kind::Average => each(out, now, left, up, up, |a, b, _| (a & b) + ((a ^ b) >> 1)),
        Kind::Paeth => each(out, now, left, up, corner, paeth),
    }
}

#[inline(always)]
fn each(out: &mut [u8], now: &[u8], a: &[u8], b: &[u8], c: &[u8], predict: impl Fn(u8, u8, u8) -> u8) {
    // Slices of equal length, so that the loop below is vectorised without bounds checks.
    let n = out.len();
    let (now, a, b, c) = (&now[..n], &a[..n], &b[..n], &c[..n]);
    for i in 0..n {
        out[i] = now[i].wrapping_sub(predict(a[i], b[i], c[i]));
    }
}

/// Which of a (left), b (above) and c (above left) is nearest to a + b - c; of equals the first.
///
/// Computed in bytes: the distances of a and b are |b - c| and |a - c|. That of c is the sum of these where a and b lie
/// on the same side of c, so it is never the smallest, and their difference otherwise.
#[inline(always)]
fn paeth(a: u8, b: u8, c: u8) -> u8 {
    let (from_a, from_b) = (b.max(c) - b.min(c), a.max(c) - a.min(c));
    let apart = from_a.max(from_b) - from_a.min(from_b);
    let from_c = if (a > c) == (b > c) { 255 } else { apart };
    let nearer = if from_a <= from_b { a } else { b };
    if from_a.min(from_b) <= from_c { nearer } else { c }
}

/// The sum of the magnitudes of the bytes as signed numbers.
fn magnitudes(bytes: &[u8]) -> u64 {
    // A sum of 32 fits into two bytes, and of a chunk into four.
    let (chunks, rest) = bytes.as_chunks::<32>();
    let of = |bytes: &[u8]| bytes.iter().map(|b| u32::from(b.cast_signed().unsigned_abs())).sum::<u32>();
    u64::from(chunks.iter().map(|chunk| of(chunk)).sum::<u32>() + of(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paeth_equals_the_specification() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                for c in (0..=255_u8).step_by(if a % 16 == 3 { 1 } else { 7 }) {
                    let p = i32::from(a) + i32::from(b) - i32::from(c);
                    let distance = |x: u8| (p - i32::from(x)).abs();
                    let (pa, pb, pc) = (distance(a), distance(b), distance(c));
                    let nearest = if pa <= pb && pa <= pc {
                        a
                    } else if pb <= pc {
                        b
                    } else {
                        c
                    };
                    assert_eq!(paeth(a, b, c), nearest, "{a} {b} {c}");
                }
            }
        }
    }
}
