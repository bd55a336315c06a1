//! Averages of blocks of samples in linear light, level by level, and samples between them.

use super::strip::WHAT;
use crate::base::error::InputError;
use crate::base::limits::{collected, filled, reserved};
use crate::colour::Wide;
use crate::colour::elementary::log2;

/// Linear light by 16-bit sRGB value.
#[derive(Debug)]
pub(super) struct Lights(Vec<f32>);

impl Lights {
    /// From the light of each value, at most 2^23, which f32 holds exactly.
    pub(super) fn new(lights: &[u32]) -> Result<Self, InputError> {
        Ok(Self(collected(lights.iter().map(|light| *light as f32), WHAT)?))
    }

    fn of(&self, colour: Wide) -> Light {
        let [red, green, blue, _] = colour.map(|value| self.0[usize::from(value)]);
        [red, green, blue]
    }
}

/// The light of red, green and blue.
pub(super) type Light = [f32; 3];

/// A picture and its averages over 2 x 2, 4 x 4, ... pixels.
#[derive(Debug)]
pub(super) struct Pyramid {
    pub(super) width: usize,
    pub(super) height: usize,
    levels: Vec<Vec<Light>>,
}

impl Pyramid {
    /// The pyramid of a picture, row by row, with at most `most` levels of averages, down to a single pixel. A side that is odd is extended
    /// by its last pixels.
    pub(super) fn new(colours: &[Wide], width: usize, lights: &Lights, most: usize) -> Result<Self, InputError> {
        let mut first = reserved(colours.len(), WHAT)?;
        first.extend(colours.iter().map(|colour| lights.of(*colour)));
        let height = colours.len() / width.max(1);
        let (mut levels, mut size) = (vec![first], [width, height]);
        while levels.len() <= most && size != [1, 1] {
            let halved = size.map(|side| side.div_ceil(2));
            let Some(last) = levels.last() else { break };
            let mut next = filled(halved[0] * halved[1], Light::default(), WHAT)?;
            for (at, light) in next.iter_mut().enumerate() {
                let [column, row] = [at % halved[0], at / halved[0]];
                for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let [x, y] = [(2 * column + x).min(size[0] - 1), (2 * row + y).min(size[1] - 1)];
                    let part = last[y * size[0] + x];
                    light.iter_mut().zip(part).for_each(|(sum, part)| *sum += 0.25 * part);
                }
            }
            levels.push(next);
            size = halved;
        }
        Ok(Self { width, height, levels })
    }

    /// An upper bound of the bytes of a pyramid of so many pixels.
    pub(super) fn bytes(pixels: usize) -> u64 {
        (pixels as u64 + pixels as u64 / 2) * size_of::<Light>() as u64
    }

    /// The light of a pixel of a level; of the nearest one outside.
    pub(super) fn at(&self, level: usize, column: usize, row: usize) -> Light {
        let [width, height] = [self.width, self.height].map(|side| side.div_ceil(1 << level));
        self.levels[level][row.min(height - 1) * width + column.min(width - 1)]
    }

    /// The light at a place in pixels, averaged over `wide` pixels along a side, at least 1: between the two levels around that.
    pub(super) fn light(&self, [x, y]: [f64; 2], wide: f64) -> Light {
        let most = (self.levels.len() - 1) as f64;
        let level = log2(wide.max(1.0)).min(most);
        let (fine, share) = (level.floor(), level.fract());
        let at_level = |level: usize| {
            let unit = (1_u64 << level) as f64;
            let [x, y] = [x / unit - 0.5, y / unit - 0.5].map(|at| at.max(0.0));
            let (left, upper) = (x.floor(), y.floor());
            let sample = |dx: usize, dy: usize| self.at(level, left as usize + dx, upper as usize + dy);
            let corners = [[sample(0, 0), sample(1, 0)], [sample(0, 1), sample(1, 1)]];
            between(corners, [(x - left) as f32, (y - upper) as f32])
        };
        let finer = at_level(fine as usize);
        if share > 0.0 { mixed(finer, at_level(fine as usize + 1), share as f32) } else { finer }
    }
}

/// The average of four lights at the corners of a square, by the place in it, 0 to 1 each.
pub(super) fn between(corners: [[Light; 2]; 2], [x, y]: [f32; 2]) -> Light {
    std::array::from_fn(|channel| {
        let row = |[left, right]: [Light; 2]| left[channel] + (right[channel] - left[channel]) * x;
        let [upper, lower] = corners.map(row);
        upper + (lower - upper) * y
    })
}

/// The average of two lights, by the share of the second.
pub(super) fn mixed(a: Light, b: Light, share: f32) -> Light {
    std::array::from_fn(|channel| a[channel] + (b[channel] - a[channel]) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_averages_of_light() {
        let lights = Lights::new(&(0..=u32::from(u16::MAX)).collect::<Vec<_>>()).unwrap();
        let colours: Vec<Wide> = (0..32).map(|value: u16| [value * 100, 7, 65535, 0]).collect();
        let pyramid = Pyramid::new(&colours, 8, &lights, 9).unwrap();
        assert_eq!((pyramid.width, pyramid.height, pyramid.levels.len()), (8, 4, 4));
        assert_eq!(pyramid.at(0, 3, 2), [1900.0, 7.0, 65535.0]);
        // (2, 2), (3, 2), (2, 3) and (3, 3).
        assert_eq!(pyramid.at(1, 1, 1), [(18.0 + 19.0 + 26.0 + 27.0) * 25.0, 7.0, 65535.0]);
        assert_eq!(pyramid.at(3, 0, 0), [1550.0, 7.0, 65535.0]);
    }

    #[test]
    fn light_between_pixels_is_linear() {
        let corners = [[[0.0; 3], [4.0; 3]], [[8.0; 3], [16.0; 3]]];
        assert_eq!(between(corners, [0.5, 0.0]), [2.0; 3]);
        assert_eq!(between(corners, [1.0, 0.5]), [10.0; 3]);
        assert_eq!(mixed([0.0; 3], [8.0; 3], 0.25), [2.0; 3]);
    }
}
