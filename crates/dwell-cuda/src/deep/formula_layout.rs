//! What kernels of deep views of other formulas than z^2 + c, and of Julia sets, are given: the structs that they share with Rust.

use super::layout::pixel;
use crate::driver::ConstAddress;
use crate::shared::{fold_code, shared_struct};
use dwell_kernels::deep::device_constants::{UNITS, near_of_formula, over_margin, roundings_of_formula};
use dwell_kernels::deep::formulas::Setting;
use dwell_kernels::deep::formulas::blocks::Blocks;
use dwell_kernels::deep::formulas::orbits::Orbits;
use dwell_kernels::deep::mantissa::{Complex, Dd, Mantissa};
use dwell_kernels::smooth::per_log2_power;

/// Levels of blocks of each orbit.
const LEVELS: usize = 32;

/// Stands for the index of an orbit that there is not.
const NO_INDEX: u32 = u32::MAX;

shared_struct! {
    /// A Z_m with a part that is not 0 and below 2^-300: each part with what is left of it beyond double, and its power of two.
    struct DeepTinyParts {
        pub(crate) parts: [f64; 4],
        pub(crate) m: u32,
        pub(crate) exponents: [i32; 2],
        pub(crate) reserved: u32,
    }
}

shared_struct! {
    /// What all pixels of a deep view of a formula have in common in an attempt.
    struct DeepFormula<'a> {
        /// Of each Z_m its parts in double, and upper bounds on its modulus and its error.
        pub(crate) entries: ConstAddress<'a, f64>,
        /// What is left of both parts beyond double.
        pub(crate) low: ConstAddress<'a, f64>,
        /// Powers of two that are upper bounds on the errors.
        pub(crate) errors: ConstAddress<'a, i32>,
        /// In the order of m.
        pub(crate) tiny: ConstAddress<'a, DeepTinyParts>,
        /// The radius of each block, 0 where there is none, its numbers, and those of S and T, null where these are left out.
        pub(crate) radii: ConstAddress<'a, f64>,
        pub(crate) blocks: ConstAddress<'a, f64>,
        pub(crate) of_c: ConstAddress<'a, f64>,
        /// The centre, or the constant of a Julia set, as pairs.
        pub(crate) c: [f64; 4],
        /// 1 over what the offsets are away from the greatest, at least, 0 in a Julia set; the height of the view in units of 2^scale; and the steps of a pixel to the right and of one up, in a
        /// common unit. Where distances and slopes are wanted.
        pub(crate) over_margin: f64,
        pub(crate) height: f64,
        pub(crate) pixel: [f64; 4],
        /// What offsets are multiplied by for their value in the plane.
        pub(crate) unit: f64,
        /// The roundings of |w|, and those of a step relative to |z| M^(N-1).
        pub(crate) of_modulus: f64,
        pub(crate) of_power: f64,
        /// The least M of a step in the range of double.
        pub(crate) near: f64,
        pub(crate) twice_radius: f64,
        pub(crate) escape: f64,
        /// The radius of a disc about the last Z of the critical orbit of a Julia set that stays; 0 where there is none.
        pub(crate) stays: f64,
        pub(crate) per_log2_power: f64,
        pub(crate) limit: u64,
        /// The first block of each level of the critical orbit and of that of the centre, and how many there are.
        pub(crate) firsts: [u32; 64],
        pub(crate) counts: [u32; 64],
        /// The last m of the critical orbit, and the first and the last one of that of the centre of a Julia set, 2^32 - 1 where there is none.
        pub(crate) last: u32,
        pub(crate) centre_first: u32,
        pub(crate) centre_last: u32,
        pub(crate) tiny_count: u32,
        pub(crate) power: u32,
        pub(crate) fold: u32,
        pub(crate) is_julia: u32,
        /// Whether smooth values are wanted.
        pub(crate) smooth: u32,
        pub(crate) scale: i32,
        pub(crate) reserved: u32,
    }
}

const _: () = assert!(size_of::<DeepTinyParts>() == 48);

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

fn parts(of: Complex<Dd>) -> [f64; 4] {
    [of.re.hi, of.re.lo, of.im.hi, of.im.lo]
}

/// Each Z_m with a part that is not 0 and below 2^-300.
pub(super) fn tiny(orbits: &Orbits) -> impl Iterator<Item = DeepTinyParts> {
    let of = |tiny: dwell_kernels::deep::formulas::parts::TinyParts| DeepTinyParts {
        parts: tiny.parts,
        m: tiny.index,
        exponents: tiny.exponents,
        reserved: 0,
    };
    orbits.tiny_parts().map(of)
}

/// The numbers of a view, without its arrays.
pub(super) fn view<T: Mantissa>(blocks: &Blocks<T>, setting: &Setting<'_>) -> DeepFormula<'static> {
    let (orbits, u) = (setting.orbits, UNITS[T::PARTS - 1]);
    let (power, units) = (setting.formula.power(), setting.units);
    let (mut firsts, mut counts, mut before) = ([0; 64], [0; 64], 0);
    for list in blocks.lists() {
        let place = LEVELS * list.orbit + list.level as usize;
        (firsts[place], counts[place]) = (before, count(list.radii.len()));
        before += counts[place];
    }
    let (centre_first, centre_last) =
        orbits.of_centre().map_or((NO_INDEX, NO_INDEX), |(first, last)| (count(first), count(last)));
    DeepFormula {
        entries: ConstAddress::NULL,
        low: ConstAddress::NULL,
        errors: ConstAddress::NULL,
        tiny: ConstAddress::NULL,
        radii: ConstAddress::NULL,
        blocks: ConstAddress::NULL,
        of_c: ConstAddress::NULL,
        c: parts(setting.c),
        over_margin: units.filter(|_| !setting.is_julia).map_or(0.0, |units| over_margin(units.farthest)),
        height: units.map_or(0.0, |units| units.height),
        pixel: pixel(units),
        unit: if setting.scale > -1000 { 2_f64.powi(setting.scale) } else { 0.0 },
        of_modulus: 8.0 * setting.escape_radius * u,
        of_power: roundings_of_formula(power) * u,
        near: near_of_formula(power),
        twice_radius: 2.0 * setting.escape_radius,
        escape: setting.escape,
        stays: orbits.stays().unwrap_or(0.0),
        per_log2_power: per_log2_power(power),
        limit: setting.limit,
        firsts,
        counts,
        last: count(orbits.last()),
        centre_first,
        centre_last,
        tiny_count: count(orbits.tiny_parts().len()),
        power,
        fold: fold_code(setting.formula.fold()),
        is_julia: setting.is_julia.into(),
        smooth: setting.smooth.into(),
        scale: setting.scale,
        reserved: 0,
    }
}
