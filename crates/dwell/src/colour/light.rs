//! Averages in linear light: the eye averages the light of fine detail, not the encoded values.
//!
//! Light is a whole number from 0 to [`FULL`], so sums are exact and do not depend on their order. An average is
//! encoded as the nearest sRGB value, found by the light of the midpoints between neighbouring values.

use super::rgb::Rgb16;
use super::srgb::{KNEE, OFFSET, linear_from_srgb};
use crate::base::error::InputError;
use crate::base::limits::filled;
use std::sync::OnceLock;

/// Full light. Fine enough for the darkest step of 16-bit sRGB, which is 9.9 units; 256 of them fit in 32 bits.
pub(super) const FULL: u32 = 1 << 23;

/// What the memory is for, in messages.
const WHAT: &str = "the tables of the colours";

/// The light of a colour.
pub(super) fn of_colour(colour: Rgb16) -> [u32; 3] {
    colour.map(|channel| light(f64::from(channel) / 65535.0))
}

/// The light of every 16-bit value of a channel. The table is made once.
///
/// # Errors
/// When the system has not enough memory.
pub(crate) fn of_values() -> Result<&'static [u32], InputError> {
    static LIGHTS: OnceLock<Vec<u32>> = OnceLock::new();
    kept(&LIGHTS, || lights(0.0, u16::MAX, 1 << 16)).map(Vec::as_slice)
}

/// What is kept in a place, made first if it is not there. Several threads may make it at the same time; one is kept.
fn kept<T>(place: &'static OnceLock<T>, make: impl Fn() -> Result<T, InputError>) -> Result<&'static T, InputError> {
    match place.get() {
        Some(made) => Ok(made),
        None => {
            let made = make()?;
            Ok(place.get_or_init(|| made))
        }
    }
}

/// The light of an sRGB value from 0 to 1.
fn light(value: f64) -> u32 {
    rounded(linear_from_srgb(value))
}

/// Light of a linear value from 0 to 1.
#[inline]
fn rounded(linear: f64) -> u32 {
    /// 2^52: in the sum of it and a smaller number the low bits are those of the nearest whole number.
    const ABOVE: f64 = 4_503_599_627_370_496.0;
    // 0 to FULL. A conversion would not be compiled to vectors.
    (linear * f64::from(FULL) + ABOVE).to_bits() as u32
}

/// The light of the values `first`, `first` + 1, ..., as parts of `most`, `count` of them.
///
/// A power takes some 0.1 us, so that a table of 65536 took 6 ms, a tenth of the time of a picture of 1920x1080 on 16 threads.
/// So there is one power for 63 neighbouring values v, and beside it, with d = (v - m) / (m + 0.055), the binomial series
/// ((v + 0.055) / 1.055)^2.4 = ((m + 0.055) / 1.055)^2.4 (1 + 2.4 d + ...). |d| is at most 0.0051, so that the terms after d^6 are below 10^-18.
/// Without a division and with a rounding that is compiled to vectors, a table takes 0.3 ms in place of 0.4.
fn lights(first: f64, most: u16, count: usize) -> Result<Vec<u32>, InputError> {
    /// The exponent, and the binomial coefficients (2.4 over k) divided by (2.4 over k - 1).
    const FACTORS: [f64; 6] = [2.4, 1.4 / 2.0, 0.4 / 3.0, -0.6 / 4.0, -1.6 / 5.0, -2.6 / 6.0];
    let series = |d: f64| FACTORS.iter().rev().fold(1.0, |sum, factor| 1.0 + factor * d * sum);
    let value = |number: usize| (number as f64 + first) / f64::from(most);
    let step = (usize::from(most) / 1024).max(1);
    let mut lights = filled(count, 0, WHAT)?;
    for (start, lights) in (0..).step_by(step).zip(lights.chunks_mut(step)) {
        if value(start) <= KNEE {
            lights.iter_mut().zip(start..).for_each(|(of_number, number)| *of_number = light(value(number)));
            continue;
        }
        let middle = value(start + step / 2);
        let (linear, part) = (linear_from_srgb(middle), 1.0 / ((middle + OFFSET) * f64::from(most)));
        let before = -((step / 2) as f64);
        for (of_number, number) in lights.iter_mut().zip(0_i32..) {
            *of_number = rounded(linear * series((f64::from(number) + before) * part));
        }
    }
    Ok(lights)
}

/// Encodes light as the nearest of the values 0 to 255 or 0 to 65535. Both are made once: that takes as long as a small picture.
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

    /// The encoder for values up to 255.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn eight() -> Result<&'static Self, InputError> {
        static ENCODER: OnceLock<Encoder> = OnceLock::new();
        kept(&ENCODER, || Self::new(255))
    }

    /// The encoder for values up to 65535.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn sixteen() -> Result<&'static Self, InputError> {
        static ENCODER: OnceLock<Encoder> = OnceLock::new();
        kept(&ENCODER, || Self::new(65535))
    }

    fn new(most: u16) -> Result<Self, InputError> {
        let midpoints = lights(0.5, most, most.into())?;
        let shift = if most == 255 { 11 } else { 7 };
        // How many midpoints are first reached at each of the leading bits, and then how many are reached up to there. To compare with the next midpoint in turn took 0.24 ms
        // in place of 0.16.
        let mut start = filled((FULL >> shift) as usize + 1, 0_u16, WHAT)?;
        for midpoint in &midpoints {
            start[midpoint.div_ceil(1 << shift) as usize] += 1;
        }
        let mut reached = 0;
        for start in &mut start {
            reached += *start;
            *start = reached;
        }
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
    fn tables_equal_single_values() {
        for (first, most, count) in
            [(0.0, u16::MAX, 1 << 16), (0.5, u16::MAX, 65535), (0.5, 255, 255), (0.25, 4000, 900)]
        {
            for (number, found) in lights(first, most, count).unwrap().into_iter().enumerate() {
                assert_eq!(found, light((number as f64 + first) / f64::from(most)), "{number} + {first} of {most}");
            }
        }
    }

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
