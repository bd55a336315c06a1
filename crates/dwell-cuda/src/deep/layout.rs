//! What kernels of deep views are given: the structs that they share with Rust.

use crate::driver::{Address, ConstAddress};
use crate::shared::shared_struct;
use dwell_kernels::deep::blocks::{REACH, Table};
use dwell_kernels::deep::device_constants::{UNDERFLOW, UNITS, over_margin};
use dwell_kernels::deep::mantissa::Mantissa;
use dwell_kernels::deep::orbit::Setting;
use dwell_kernels::deep::reference::Reference;
use dwell_kernels::deep::values::Units;

shared_struct! {
    /// A Z_m below 2^-300: parts of both numbers, each with its second one, and the power of two.
    struct DeepTiny {
        pub(crate) parts: [f64; 4],
        pub(crate) m: u32,
        pub(crate) exponent: i32,
    }
}

shared_struct! {
    /// The blocks that begin at one m: the radius of the shortest, its place, and how many there are.
    struct DeepOrigin {
        pub(crate) shortest: f64,
        pub(crate) first: u32,
        pub(crate) count: u32,
    }
}

shared_struct! {
    /// A block for deltas below the range of double: A, B, Q, S and T, nine bounds, and the powers of two of these fourteen.
    struct WideBlock {
        pub(crate) parts: [f64; 20],
        pub(crate) bounds: [f64; 9],
        pub(crate) exponents: [i32; 14],
    }
}

shared_struct! {
    /// What all pixels of a deep view have in common in an attempt.
    struct DeepView<'a> {
        /// Z_m, and what is left of it beyond double.
        pub(crate) high: ConstAddress<'a, f64>,
        pub(crate) low: ConstAddress<'a, f64>,
        /// In the order of m.
        pub(crate) tiny: ConstAddress<'a, DeepTiny>,
        pub(crate) origins: ConstAddress<'a, DeepOrigin>,
        /// The radius of each block, and its numbers.
        pub(crate) radii: ConstAddress<'a, f64>,
        pub(crate) blocks: ConstAddress<'a, f64>,
        /// The terms of the third and the fourth degree of each block; null where there are none.
        pub(crate) higher: ConstAddress<'a, f64>,
        /// Steps of the blocks from m = 0.
        pub(crate) from_zero: ConstAddress<'a, u32>,
        /// The number of the block for deltas below the range of double at each place, counted from 1; null where there are none.
        pub(crate) wide_numbers: ConstAddress<'a, u32>,
        pub(crate) wide: ConstAddress<'a, WideBlock>,
        /// P, B and T of the beginning.
        pub(crate) start: [f64; 12],
        pub(crate) start_error: f64,
        /// What c is multiplied by for its value in the plane; 0 below the range of double.
        pub(crate) unit: f64,
        /// What a step adds to the error for c.
        pub(crate) of_c: f64,
        /// The error of c in units of 2^scale.
        pub(crate) relative: f64,
        /// The roundings of |w|.
        pub(crate) of_modulus: f64,
        pub(crate) twice_radius: f64,
        pub(crate) escape: f64,
        /// The error of the last Z, as m 2^e and in double.
        pub(crate) end_error: f64,
        pub(crate) end_error_in_double: f64,
        /// 1 over what |c| is away from the greatest, at least; the height of the view in units of 2^scale; and the steps of a pixel to the right and of one up, in a
        /// common unit. Where distances and slopes are wanted.
        pub(crate) over_margin: f64,
        pub(crate) height: f64,
        pub(crate) pixel: [f64; 4],
        pub(crate) limit: u64,
        pub(crate) start_n: u64,
        pub(crate) start_m: u32,
        /// The last m.
        pub(crate) last: u32,
        pub(crate) tiny_count: u32,
        pub(crate) origin_count: u32,
        /// Whether smooth values are wanted.
        pub(crate) smooth: u32,
        pub(crate) scale: i32,
        pub(crate) start_unit: i32,
        pub(crate) start_error_exponent: i32,
        pub(crate) end_error_exponent: i32,
        pub(crate) reserved: u32,
    }
}

shared_struct! {
    /// Pixels under way: those of whole rows of an image, or of a list. Arrays have `capacity` values of each kind, one kind after the other.
    struct DeepPixels<'a> {
        /// Offsets of columns and rows in half pixels; of a list, those of each pixel.
        pub(crate) columns: ConstAddress<'a, i64>,
        pub(crate) rows: ConstAddress<'a, i64>,
        /// Both parts of z, each with its second one, and e.
        pub(crate) orbits: Address<'a, f64>,
        pub(crate) n: Address<'a, u64>,
        /// m, rebases, and the unit of z.
        pub(crate) words: Address<'a, u32>,
        /// The centre of the disc (4), its radius, and the orbit before: z (4) and e.
        pub(crate) traps: Address<'a, f64>,
        pub(crate) trap_n: Address<'a, u64>,
        /// Whether an attempt is under way, the rebase of the next, their number, and the units of the disc and of the orbit before.
        pub(crate) trap_words: Address<'a, u32>,
        /// Derivatives by the pixel with bounds on their errors (3, of formulas 5), those of the orbit before from the sixth on, and their units (2), where distances or slopes are wanted.
        pub(crate) derivatives: Address<'a, f64>,
        pub(crate) derivative_units: Address<'a, i32>,
        pub(crate) dwell: Address<'a, u32>,
        /// The other values, each where it is wanted.
        pub(crate) smooth: Address<'a, f64>,
        pub(crate) distance: Address<'a, f64>,
        pub(crate) slope_right: Address<'a, f64>,
        pub(crate) slope_up: Address<'a, f64>,
        pub(crate) overflow: Address<'a, f64>,
        /// The offset of the centre, and of half a pixel to the right and half a pixel up, as pairs, in units of 2^scale.
        pub(crate) frame: [f64; 12],
        pub(crate) width: u32,
        pub(crate) height: u32,
        pub(crate) capacity: u32,
        /// Whether the pixels are those of a list.
        pub(crate) is_list: u32,
    }
}

shared_struct! {
    /// The pixels of a launch.
    struct DeepLists<'a> {
        /// Their numbers; null for all places of whole tiles.
        pub(crate) list: ConstAddress<'a, u32>,
        /// Those that go on, and those that are not decided.
        pub(crate) next: Address<'a, u32>,
        pub(crate) open: Address<'a, u32>,
        /// How many go on, and how many are not decided.
        pub(crate) counts: Address<'a, u32>,
        /// Steps, and blocks.
        pub(crate) totals: Address<'a, u64>,
        pub(crate) count: u32,
        /// Operations of each orbit.
        pub(crate) operations: u32,
        /// Whether orbits begin.
        pub(crate) begins: u32,
        pub(crate) reserved: u32,
    }
}

/// Where bounds lie in a [`WideBlock`], after the four of the remainder.
pub(crate) const BOUND_SLACK: u32 = 4;
pub(crate) const BOUND_BY_C: u32 = 5;
pub(crate) const BOUND_S: u32 = 6;
pub(crate) const BOUND_Q: u32 = 7;
pub(crate) const BOUND_RADIUS: u32 = 8;

// Without gaps, so that values are copied as bytes.
const _: () = assert!(size_of::<DeepTiny>() == 40 && size_of::<DeepOrigin>() == 16);
const _: () = assert!(size_of::<WideBlock>() == 20 * 8 + 9 * 8 + 14 * 4);

/// The steps of a pixel to the right and of one up, where they are wanted.
pub(super) fn pixel(units: Option<Units>) -> [f64; 4] {
    units.map_or([0.0; 4], |Units { pixel: [right, up], .. }| [right.re, right.im, up.re, up.im])
}

/// Each Z_m below 2^-300.
pub(super) fn tiny(reference: &Reference) -> impl Iterator<Item = DeepTiny> {
    reference.tiny.iter().map(|(m, z)| DeepTiny {
        parts: [z.m.re.hi, z.m.re.lo, z.m.im.hi, z.m.im.lo],
        m: *m,
        exponent: z.e,
    })
}

/// The blocks that begin at each m.
pub(super) fn origins<T: Mantissa>(table: &Table<T>) -> impl Iterator<Item = DeepOrigin> {
    table.origins().map(|of| DeepOrigin { shortest: of.shortest, first: of.first, count: of.count })
}

/// The steps of the blocks from m = 0. References are shorter than 2^32 steps.
pub(super) fn steps_from_zero<T: Mantissa>(table: &Table<T>) -> impl Iterator<Item = u32> {
    table.steps_from_zero().iter().map(|steps| u32::try_from(*steps).unwrap_or(u32::MAX))
}

/// The blocks for deltas below the range of double.
pub(super) fn wide_blocks<T: Mantissa>(table: &Table<T>) -> impl Iterator<Item = WideBlock> {
    table.wide_blocks().map(|block| {
        let mut of = WideBlock { parts: [0.0; 20], bounds: [0.0; 9], exponents: [0; 14] };
        for (number, (parts, exponent)) in block.coefficients.iter().enumerate() {
            of.parts[4 * number..4 * number + 4].copy_from_slice(parts);
            of.exponents[number] = *exponent;
        }
        for (number, (bound, exponent)) in block.bounds.iter().enumerate() {
            of.bounds[number] = *bound;
            of.exponents[5 + number] = *exponent;
        }
        of
    })
}

/// The numbers of a view, without its arrays.
pub(super) fn view<T: Mantissa>(table: &Table<T>, setting: &Setting<'_>) -> DeepView<'static> {
    let (reference, start) = (setting.reference, table.start_parts(setting.limit, setting.scale));
    let (u, units) = (UNITS[T::PARTS - 1], setting.units);
    let unit = if setting.scale > -1000 { 2_f64.powi(setting.scale) } else { 0.0 };
    let mut coefficients = [0.0; 12];
    for (number, parts) in start.coefficients.iter().enumerate() {
        coefficients[4 * number..4 * number + 4].copy_from_slice(parts);
    }
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    DeepView {
        high: ConstAddress::NULL,
        low: ConstAddress::NULL,
        tiny: ConstAddress::NULL,
        origins: ConstAddress::NULL,
        radii: ConstAddress::NULL,
        blocks: ConstAddress::NULL,
        higher: ConstAddress::NULL,
        from_zero: ConstAddress::NULL,
        wide_numbers: ConstAddress::NULL,
        wide: ConstAddress::NULL,
        start: coefficients,
        start_error: start.error.0,
        unit,
        of_c: 4.0 * u * REACH * unit + UNDERFLOW,
        relative: 2.0 * u * REACH,
        of_modulus: 8.0 * setting.escape_radius * u,
        twice_radius: 2.0 * setting.escape_radius,
        escape: setting.escape,
        end_error: reference.end_error.parts().0,
        end_error_in_double: reference.end_error.to_f64(),
        over_margin: units.map_or(0.0, |units| over_margin(units.farthest)),
        height: units.map_or(0.0, |units| units.height),
        pixel: pixel(units),
        limit: setting.limit,
        start_n: start.n,
        start_m: count(start.m),
        last: count(reference.last()),
        tiny_count: count(reference.tiny.len()),
        origin_count: count(table.origins().len()),
        smooth: setting.smooth.into(),
        scale: setting.scale,
        start_unit: start.unit,
        start_error_exponent: start.error.1,
        end_error_exponent: reference.end_error.parts().1,
        reserved: 0,
    }
}
