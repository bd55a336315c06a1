//! Which pixels of a picture differ visibly from the pixels around them.
//!
//! Colours are compared as they are written, sRGB-encoded, since equal differences of encoded values look about equal.
//! In a smooth gradient, neighbours differ and one sample is as good as many. So the measure is not the difference but
//! the curvature |a - 2 v + b| of a pixel v and its neighbours a and b on opposite sides, in four directions and each of the
//! three channels. Outside the picture, the colours of its border repeat.

use super::painter::Wide;
use crate::base::error::InputError;
use crate::base::limits::resize;

/// The least curvature that counts, 8 of 255, in units of [`Plane`].
const CURVATURE: i16 = 8 << 4;
/// The least difference of two neighbours that counts as visible, 12 of 255, in units of [`Plane`].
const DIFFERENCE: i16 = 12 << 4;
/// Visibly different neighbours, of 8, from which on a pixel counts as noise.
const NOISY: usize = 7;

/// The values of one channel, in 4095ths of full strength.
type Plane = Vec<i16>;

/// How a pixel differs from the pixels around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Contrast {
    /// Not visibly, or in a gradient.
    #[default]
    None,
    /// From some: it is at an edge or on a line.
    Edge,
    /// From nearly all.
    Noise,
}

/// A row of colours, prepared for comparison: a plane for each channel, with the first and the last value repeated.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContrastRow([Plane; 3]);

impl ContrastRow {
    /// Bytes of a row of `width` pixels.
    pub(crate) fn bytes(width: u64) -> u64 {
        3 * (width + 2) * size_of::<i16>() as u64
    }

    /// Takes the colours of a row, at least one.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn take(&mut self, colours: &[Wide]) -> Result<(), InputError> {
        let width = colours.len();
        for (channel, plane) in self.0.iter_mut().enumerate() {
            resize(plane, width + 2, 0, "the contrasts of the colours")?;
            for (value, colour) in plane[1..].iter_mut().zip(colours) {
                // 0 to 4095.
                *value = (colour[channel] >> 4).cast_signed();
            }
            (plane[0], plane[width + 1]) = (plane[1], plane[width]);
        }
        Ok(())
    }
}

/// Finds the contrast of each pixel of the middle one of three rows of equal width.
pub(crate) fn contrasts(
    rows: [&ContrastRow; 3],
    curved: &mut Vec<i16>,
    found: &mut [Contrast],
) -> Result<(), InputError> {
    let width = found.len();
    resize(curved, width, 0, "the contrasts of the colours")?;
    curved.fill(0);
    for channel in 0..3 {
        let [above, middle, below] = rows.map(|row| &row.0[channel][..width + 2]);
        add_curvature(above, middle, below, curved);
    }
    for (x, (found, curved)) in found.iter_mut().zip(curved.iter()).enumerate() {
        *found = match *curved > CURVATURE {
            false => Contrast::None,
            true if is_noisy(rows, x) => Contrast::Noise,
            true => Contrast::Edge,
        };
    }
    Ok(())
}

/// Raises each value of `curved` to the greatest curvature of one channel. Rows have two values more than `curved`.
fn add_curvature(above: &[i16], middle: &[i16], below: &[i16], curved: &mut [i16]) {
    let width = curved.len();
    let [above, middle, below] = [above, middle, below].map(|row| [&row[..width], &row[1..=width], &row[2..width + 2]]);
    for x in 0..width {
        let twice = 2 * middle[1][x];
        let most = (middle[0][x] + middle[2][x] - twice)
            .abs()
            .max((above[1][x] + below[1][x] - twice).abs())
            .max((above[0][x] + below[2][x] - twice).abs())
            .max((above[2][x] + below[0][x] - twice).abs());
        curved[x] = curved[x].max(most);
    }
}

/// Whether at least [`NOISY`] of the 8 neighbours of the pixel at column `x` of the middle row differ visibly from it in some
/// channel. Most pixels with contrast are at edges, where this is decided by the first few neighbours.
fn is_noisy(rows: [&ContrastRow; 3], x: usize) -> bool {
    const NEIGHBOURS: [(usize, usize); 8] = [(0, 1), (2, 1), (1, 0), (1, 2), (0, 0), (2, 2), (0, 2), (2, 0)];
    let own = [0, 1, 2].map(|channel: usize| rows[1].0[channel][x + 1]);
    let is_near = |(row, column): &&(usize, usize)| {
        (0..3).all(|channel: usize| (rows[*row].0[channel][x + column] - own[channel]).abs() <= DIFFERENCE)
    };
    NEIGHBOURS.iter().filter(is_near).nth(NEIGHBOURS.len() - NOISY).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: [&[u16]; 3]) -> Vec<Contrast> {
        let rows = rows.map(|row| {
            let mut prepared = ContrastRow::default();
            prepared.take(&row.iter().map(|v| [v * 257, v * 257, v * 257, 0]).collect::<Vec<_>>()).unwrap();
            prepared
        });
        let mut found = vec![Contrast::None; rows[0].0[0].len() - 2];
        contrasts(rows.each_ref(), &mut Vec::new(), &mut found).unwrap();
        found
    }

    #[test]
    fn gradients_have_no_contrast_and_edges_and_spots_have() {
        use Contrast::{Edge, Noise, None};
        let gradient: [&[u16]; 3] = [&[10, 30, 50, 70], &[20, 40, 60, 80], &[30, 50, 70, 90]];
        assert_eq!(found(gradient)[1..3], [None, None]);
        let edge: [&[u16]; 3] = [&[10, 10, 200, 200], &[10, 10, 200, 200], &[10, 10, 200, 200]];
        assert_eq!(found(edge), [None, Edge, Edge, None]);
        let spot: [&[u16]; 3] = [&[10, 10, 10, 10], &[10, 90, 10, 10], &[10, 10, 10, 10]];
        assert_eq!(found(spot), [Edge, Noise, Edge, None]);
        assert_eq!(found([&[7], &[7], &[7]]), [None]);
        assert_eq!(found([&[100], &[7], &[100]]), [Edge]);
    }
}
