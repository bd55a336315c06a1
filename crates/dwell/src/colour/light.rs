//! Averages in linear light: the eye averages the light of fine detail, not the encoded values.
//!
//! Light is a whole number from 0 to [`FULL`], so sums are exact and do not depend on their order. An average is
//! encoded as the nearest sRGB value, found by the light of the midpoints between neighbouring values.

use super::rgb::Rgb16;
use super::srgb::linear_from_srgb;
use crate::base::error::InputError;
use crate::base::limits::collected;

/// Full light. Fine enough for the darkest step of 16-bit sRGB, which is 9.9 units; 256 of them fit in 32 bits.
pub(super) const FULL: u32 = 1 << 23;

/// The light of a colour.
pub(super) fn of_colour(colour: Rgb16) -> [u32; 3] {
    colour.map(|channel| light(f64::from(channel) / 65535.0))
}

/// The light of a 16-bit value of a channel.
#[cfg(all(feature = "png", feature = "toml"))]
pub(crate) fn light_of_value(value: u16) -> u32 {
    light(f64::from(value) / 65535.0)
}

/// The light of an sRGB value from 0 to 1.
fn light(value: f64) -> u32 {
    // 0 to FULL.
    (linear_from_srgb(value) * f64::from(FULL) + 0.5) as u32
}

/// Encodes light as the nearest of the values 0 to 255 or 0 to 65535.
#[derive(Debug)]
pub(super) struct Encoder {
    /// By value, the least light that is nearer to the next value.
    midpoints: Vec<u32>,
    /// By the leading bits of light, the value of the least light with these bits.
    start: Vec<u16>,
    /// The bits of light below the leading ones.
    shift: u32,
}

/// The tables of an encoder of light. The value of a light is the first v, from `start[light >> shift]` on, whose
/// `midpoints[v]`, if there is one, is greater than the light.
#[derive(Clone, Copy, Debug)]
pub struct EncoderTables<'a> {
    /// By value, the least light that is nearer to the next value.
    pub midpoints: &'a [u32],
    /// By the leading bits of light, the value of the least light with these bits.
    pub start: &'a [u16],
    /// The bits of light below the leading ones.
    pub shift: u32,
}

impl Encoder {
    /// Its tables.
    pub(super) fn tables(&self) -> EncoderTables<'_> {
        EncoderTables { midpoints: &self.midpoints, start: &self.start, shift: self.shift }
    }

    /// The encoder for values up to `most`: 255 or 65535.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn new(most: u16) -> Result<Self, InputError> {
        const WHAT: &str = "the tables of the colours";
        let midpoint = |value: u16| light((f64::from(value) + 0.5) / f64::from(most));
        let midpoints: Vec<u32> = collected((0..most).map(midpoint), WHAT)?;
        let shift = if most == 255 { 11 } else { 7 };
        let mut value = 0_u16;
        let start = (0..=FULL >> shift).map(|bits| {
            while midpoints.get(usize::from(value)).is_some_and(|next| *next <= bits << shift) {
                value += 1;
            }
            value
        });
        let start = collected(start, WHAT)?;
        Ok(Self { midpoints, start, shift })
    }

    /// The nearest value.
    #[inline]
    pub(super) fn encode(&self, light: u32) -> u16 {
        let mut value = self.start[(light >> self.shift) as usize];
        while self.midpoints.get(usize::from(value)).is_some_and(|next| *next <= light) {
            value += 1;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_encoded_as_itself() {
        for most in [255_u16, 65535] {
            let encoder = Encoder::new(most).unwrap();
            for value in 0..=most {
                assert_eq!(encoder.encode(light(f64::from(value) / f64::from(most))), value, "of {most}");
            }
            assert!(encoder.midpoints.is_sorted());
        }
    }

    #[test]
    fn light_is_encoded_as_the_nearest_value() {
        // Half the light of white is 188, not 128; known values of IEC 61966-2-1.
        let encoder = Encoder::new(255).unwrap();
        assert_eq!(encoder.encode(FULL / 2), 188);
        assert_eq!(encoder.encode(FULL / 4), 137);
        assert_eq!((encoder.encode(0), encoder.encode(FULL)), (0, 255));
        for light in (0..=FULL).step_by(997) {
            let value = encoder.encode(light);
            let off = |value: u16| super::light(f64::from(value) / 255.0).abs_diff(light);
            let srgb = super::super::srgb::srgb_from_linear(f64::from(light) / f64::from(FULL)) * 255.0;
            assert!((srgb - f64::from(value)).abs() < 0.5001, "{light}: {value} {srgb} {}", off(value));
        }
    }
}
