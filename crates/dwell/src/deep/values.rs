//! Where results of deep views are written: the channels of a list of pixels.

use crate::field::channels::{Channel, ChannelSet, ChannelSlicesMut, stored};
use dwell_kernels::deep::cycle::Cycle;
use dwell_kernels::deep::orbit::Found;
use dwell_kernels::deep::values::{DISTANCE_BITS, SLOPE_BITS, SMOOTH_BITS, Values};
use std::sync::LazyLock;

/// What exact arithmetic computes beside dwells: all channels.
pub(crate) const CHANNELS: ChannelSet = ChannelSet::ALL;

/// What was found of a pixel, and the cycle that attracts its orbit if that is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) found: Found,
    pub(super) cycle: Option<Cycle>,
}

/// Whether distances or slopes are wanted.
pub(super) fn has_slopes(set: ChannelSet) -> bool {
    [Channel::Distance, Channel::SlopeRight, Channel::SlopeUp].into_iter().any(|channel| set.contains(channel))
}

/// Whether values of cycles are wanted.
pub(super) fn has_cycles(set: ChannelSet) -> bool {
    set.iter().any(Channel::is_of_interior)
}

/// Stores what was found of some pixels of a list, given by their numbers, where anything was.
pub(super) fn store(mut out: ChannelSlicesMut<'_>, found: impl Iterator<Item = (usize, Outcome)>) {
    for (pixel, Outcome { found, cycle }) in found {
        match found {
            Found::Escapes(n, values) => set(&mut out, pixel, n, values, None),
            Found::Stays => set(&mut out, pixel, 0, Values::default(), cycle),
            Found::Undecided => {}
        }
    }
}

fn set(out: &mut ChannelSlicesMut<'_>, pixel: usize, dwell: u64, values: Values, cycle: Option<Cycle>) {
    let (count, overflow) = stored(dwell);
    out.dwell[pixel] = count;
    // Exact as long as the whole part has at most 41 bits, and rounded to nearest beyond: the same everywhere.
    let smooth = values.smooth as f64 / f64::from(1_u32 << SMOOTH_BITS);
    let [right, up] = values.slope.map(|part| f64::from(part) / f64::from(1_u32 << SLOPE_BITS));
    let of_distance = || power_of_two(values.distance);
    for channel in CHANNELS.iter() {
        let Some(value) = out[channel].get_mut(pixel) else { continue };
        let of_cycle = |part: fn(&Cycle) -> f64| cycle.as_ref().map_or(0.0, part);
        *value = match channel {
            Channel::Period => of_cycle(|cycle| cycle.period as f64),
            Channel::MultiplierRe => of_cycle(|cycle| cycle.multiplier[0]),
            Channel::MultiplierIm => of_cycle(|cycle| cycle.multiplier[1]),
            Channel::FinalRe => of_cycle(|cycle| cycle.point[0]),
            Channel::FinalIm => of_cycle(|cycle| cycle.point[1]),
            _ if dwell == 0 => 0.0,
            Channel::Smooth => smooth,
            Channel::Distance => of_distance(),
            Channel::SlopeRight => right,
            Channel::Overflow => overflow,
            Channel::SlopeUp => up,
        };
    }
}

/// The powers of two with the exponents 0 to 1, in steps of 2^-[`DISTANCE_BITS`]: products of square roots, which IEEE 754 defines to the last bit.
static FRACTIONS: LazyLock<[f64; 1 << DISTANCE_BITS]> = LazyLock::new(|| {
    std::array::from_fn(|fraction| {
        let (mut root, mut power) = (2_f64, 1.0);
        for bit in (0..DISTANCE_BITS).rev() {
            root = root.sqrt();
            if fraction >> bit & 1 == 1 {
                power *= root;
            }
        }
        power
    })
});

/// 2^(units 2^-[`DISTANCE_BITS`]), the same bits on every machine; 0 below the range of f64.
fn power_of_two(units: i64) -> f64 {
    let (whole, fraction) = (units >> DISTANCE_BITS, units & ((1 << DISTANCE_BITS) - 1));
    let whole = i32::try_from(whole.clamp(-2000, 1000)).unwrap_or(0);
    FRACTIONS[fraction as usize] * 2_f64.powi(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_near_the_exact_ones() {
        for units in [-200_000, -2560, -257, -256, -1, 0, 1, 100, 256, 1000] {
            // The 256th power, by eight squarings, is an exact power of two.
            let fraction = units & 255;
            let power = (0..8).fold(power_of_two(fraction), |power, _| power * power);
            let exact = 2_f64.powi(fraction as i32);
            assert!((power - exact).abs() <= 1e-12 * exact, "{units}");
            let whole = 2_f64.powi((units >> 8) as i32);
            assert_eq!(power_of_two(units), power_of_two(fraction) * whole, "{units}");
        }
        assert_eq!((power_of_two(-512), power_of_two(512)), (0.25, 4.0));
        assert_eq!(power_of_two(i64::MIN), 0.0);
    }
}
