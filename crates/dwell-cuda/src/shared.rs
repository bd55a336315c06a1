//! What Rust and the kernels share: constants, codes and the layouts of structs.
//!
//! Rust is the source. [`header`] writes the C++ text of all of it, `cargo xtask kernels` stores that text as
//! `kernels/generated.cuh`, and a test compares the two. The C++ compiler checks by `static_assert` that it lays the
//! structs out as Rust does.
//!
//! Constants that each engine tunes for itself (batch lengths, block shapes) are those of the device alone.

mod cpp;
mod structs;

pub(crate) use cpp::{AnyNumber, CppType, Field, SharedStruct};
pub(crate) use structs::shared_struct;

use crate::deep::formula_layout::{DeepFormula, DeepTinyParts};
use crate::deep::layout::{self, DeepLists, DeepOrigin, DeepPixels, DeepTiny, DeepView, WideBlock};
use crate::launch::LaunchDivision;
use crate::lists::{Corners, RectangleList, Survivors};
use crate::paint_tables::PaintTask;
use crate::peak::PeakRule;
use crate::proof::{BlockProof, CellList, ProofLists};
use crate::task::Task;
use cpp::Value;
use dwell::{Depth, Fold, Scale};
use dwell_kernels::deep::{blocks, device_constants as deep, formulas, reference, values};
use dwell_kernels::{log2, smooth};

/// Defines constants, and lists them with their documentation for the header.
macro_rules! constants {
    ($($(#[doc = $about:literal])+ $name:ident: $type:ty = $value:expr;)+) => {
        $($(#[doc = $about])+ pub(crate) const $name: $type = $value;)+

        fn constants() -> Vec<(&'static [&'static str], &'static str, Value)> {
            vec![$((&[$($about),+], stringify!($name), $name.into())),+]
        }
    };
}

constants! {
    /// Codes of folds: z as it is.
    FOLD_NONE: u32 = 0;
    /// |x| + |y|i.
    FOLD_ABSOLUTE: u32 = 1;
    /// x - yi.
    FOLD_CONJUGATE: u32 = 2;

    /// Codes of the points that are tested at every step: none.
    EACH_STEP_NONE: u32 = 0;
    /// All.
    EACH_STEP_ALL: u32 = 1;
    /// Those whose real part is in a range, upper end excluded.
    EACH_STEP_REAL_PART_IN: u32 = 2;
    /// Those whose |c|^2, computed in the recipe, is in a range, upper end excluded.
    EACH_STEP_NORM_IN: u32 = 3;

    /// Codes of colour scales.
    SCALE_ROOT: u32 = 0;
    /// Proportional to the value.
    SCALE_LINEAR: u32 = 1;
    /// By the base-2 logarithm of the value.
    SCALE_LOG: u32 = 2;
    /// By the value divided by the limit.
    SCALE_LIMIT: u32 = 3;

    /// Steps that are counted one by one before batches begin: most points of most views escape within them.
    PROLOGUE_STEPS: u32 = 16;
    /// Steps between two looks at whether any lane of a warp is left in the prologue.
    PROLOGUE_BATCH: u32 = 4;
    /// Steps between two tests where orbits end. With the shortcut `cycles`, z is compared as often.
    SHORT_BATCH: u32 = 16;
    /// Steps between two tests where orbits seldom end.
    LONG_BATCH: u32 = 64;

    /// The most threads of a block that the published kernels are compiled for.
    MOST_BLOCK_THREADS: u32 = 1024;
    /// Threads of a block of all other kernels.
    BLOCK_THREADS: u32 = 256;
    /// Pixels of a warp of the tuned kernel, across.
    WARP_COLUMNS: u32 = 8;
    /// Pixels of a warp of the tuned kernel, down.
    WARP_ROWS: u32 = 4;
    /// Warps of a block of the tuned kernel, across.
    WARPS_ACROSS: u32 = 4;
    /// Tiles of 8 x 4 pixels that a warp does one after the other, so that the work of its columns is done once.
    TILES_OF_WARP: u32 = 2;
    /// Pixels of a block of the tuned kernel, across.
    BLOCK_COLUMNS: u32 = WARPS_ACROSS * WARP_COLUMNS;
    /// Pixels of a block of the tuned kernel in one tile, down.
    TILE_ROWS: u32 = BLOCK_THREADS / 32 / WARPS_ACROSS * WARP_ROWS;
    /// Pixels of a block of the tuned kernel, down.
    BLOCK_ROWS: u32 = TILES_OF_WARP * TILE_ROWS;

    /// Pixels on a side of a block of which a dwell is proved: the larger ones.
    BLOCK_SIDE: u32 = 16;
    /// The smaller ones, which the larger are divided into.
    CELL_SIDE: u32 = 8;
    /// Blocks of a warp's region, across.
    REGION_BLOCKS: u32 = 8;
    /// Blocks of a warp's region: one for each lane.
    BLOCKS_OF_REGION: u32 = 32;
    /// Cells of a region, across.
    REGION_CELLS: u32 = REGION_BLOCKS * BLOCK_SIDE / CELL_SIDE;
    /// Cells of a region.
    CELLS_OF_REGION: u32 = BLOCKS_OF_REGION * (BLOCK_SIDE / CELL_SIDE) * (BLOCK_SIDE / CELL_SIDE);
    /// Pixels of a region, across.
    REGION_COLUMNS: u32 = REGION_BLOCKS * BLOCK_SIDE;
    /// Pixels of a region, down.
    REGION_ROWS: u32 = BLOCKS_OF_REGION / REGION_BLOCKS * BLOCK_SIDE;
    /// Threads of a block of the kernels that prove.
    PROVEN_THREADS: u32 = 128;
    /// Cells that a warp takes at once.
    CELLS_AT_ONCE: u32 = 4;
    /// Stands for the dwell of a cell of which nothing is proved: more than any that is kept.
    NOTHING_PROVED: u32 = 255;
    /// The n at which a block is examined for a trap for the first time; then whenever n has doubled.
    FIRST_TRAP: u32 = 96;
    /// The n from which on a block in which no trap is found is left to its pixels.
    LAST_TRAP: u32 = 384;
    /// The steps in which a return of an orbit is looked for: the longest period that is found.
    LONGEST_RETURN: u32 = 64;
    /// The square of the distance within which it has to return.
    RETURN_CLOSE: f32 = 1.0 / 1024.0;
    /// Periods that are tried.
    TRAP_ATTEMPTS: u32 = 8;
    /// The factor by which E is enlarged for a trap.
    TRAP_ENLARGEMENT: f32 = 1.25;

    /// Pixels on a side of the tile that `block_fill` subdivides in shared memory.
    TILE_SIDE: u32 = 64;
    /// The most children of a rectangle, across and down: `levels_border` makes each in a thread of its own.
    MOST_PARTS: u32 = 16;

    /// |z|^2 beyond which smooth values stop iterating.
    SMOOTH_FAR_SQUARED: f64 = smooth::SMOOTH_RADIUS_SQUARED;
    /// Steps after which smooth values take an orbit as it is.
    SMOOTH_MOST_STEPS: u32 = smooth::MAX_STEPS;
    /// 1 / log2(SMOOTH_FAR_SQUARED).
    SMOOTH_PER_LOG2_FAR_SQUARED: f64 = smooth::PER_LOG2_RADIUS_SQUARED;
    /// The largest finite double.
    GREATEST_DOUBLE: f64 = f64::MAX;

    /// Terms of the series of the logarithm.
    LOG2_TERMS: u32 = log2::TERMS as u32;
    /// 2 / ln 2, rounded to nearest.
    LOG2_TWO_OVER_LN_2: f64 = log2::TWO_OVER_LN_2;
    /// The rounding error of LOG2_TWO_OVER_LN_2.
    LOG2_FIRST_LOW: f64 = log2::FIRST_LOW;
    /// Bits of sqrt(1/2).
    LOG2_SQRT_HALF_BITS: u64 = log2::SQRT_HALF_BITS;

    /// Turns of the palette for each unit of sqrt(v) - 1.
    TURNS_PER_ROOT: f64 = Scale::PER_ROOT;
    /// Turns of the palette for each unit of v.
    TURNS_PER_UNIT: f64 = Scale::PER_UNIT;
    /// Turns of the palette for each unit of log2(v).
    TURNS_PER_LOG2: f64 = Scale::PER_LOG2;
    /// Bytes of a pixel of 8 bits a channel.
    PIXEL_BYTES_8: u32 = 3;
    /// Bytes of a pixel of 16 bits a channel.
    PIXEL_BYTES_16: u32 = 6;

    /// u of the numbers of deep views: double.
    DEEP_UNIT_OF_DOUBLE: f64 = deep::UNITS[0];
    /// Pairs of double.
    DEEP_UNIT_OF_PAIR: f64 = deep::UNITS[1];
    /// For the roundings of a bound.
    DEEP_UP: f64 = deep::UP;
    /// Added to bounds for results below the range of double.
    DEEP_UNDERFLOW: f64 = deep::UNDERFLOW;
    /// Deltas below this have an exponent of their own.
    DEEP_SMALL: f64 = deep::SMALL;
    /// Its exponent.
    DEEP_SMALL_EXPONENT: i32 = deep::SMALL_EXPONENT;
    /// Where |Z| is below this, Z + z is computed with an exponent.
    DEEP_NEAR_ZERO: f64 = deep::NEAR_ZERO;
    /// Z_m below this has an exponent of its own.
    DEEP_TINY: f64 = reference::TINY;
    /// A relative error with which nothing is decided.
    DEEP_TOO_MUCH: f64 = deep::TOO_MUCH;
    /// Rebases before the first attempt to prove that an orbit stays.
    DEEP_FIRST_ATTEMPT: u32 = deep::FIRST_ATTEMPT;
    /// |z|^2 beyond which smooth values are taken, and its root.
    DEEP_FAR_SQUARED: f64 = deep::FAR_SQUARED;
    /// The root.
    DEEP_FAR: f64 = 256.0;
    /// The most further steps to there.
    DEEP_MOST_STEPS: u32 = deep::MOST_STEPS;
    /// Bits after the point of a smooth value.
    DEEP_SMOOTH_BITS: u32 = values::SMOOTH_BITS;
    /// Bits after the point of the base-2 logarithm of a distance.
    DEEP_DISTANCE_BITS: u32 = values::DISTANCE_BITS;
    /// Bits after the point of a component of a slope.
    DEEP_SLOPE_BITS: u32 = values::SLOPE_BITS;
    /// A relative error of w or of a derivative with which no distance is decided.
    DEEP_FAR_TOO_MUCH: f64 = deep::FAR_TOO_MUCH;
    /// The greatest count of a dwell.
    DEEP_MOST_COUNT: u64 = u32::MAX as u64;
    /// The least delta of a formula that is stepped in the range of double.
    DEEP_FORMULA_NARROW: f64 = deep::NARROW_OF_FORMULA;
    /// The level of the shortest blocks of a formula.
    DEEP_FORMULA_FIRST_LEVEL: u32 = formulas::blocks::FIRST;
    /// Numbers of double of the coefficients of such a block, for each part of a number.
    DEEP_FORMULA_NUMBERS: u32 = formulas::blocks::NUMBERS as u32;
    /// The level of the shortest blocks.
    DEEP_FIRST_LEVEL: u32 = blocks::FIRST;
    /// The share of |Q| (|z| + e) for roundings.
    DEEP_SHARE: f64 = blocks::SHARE;
    /// The greatest |c|.
    DEEP_REACH: f64 = blocks::REACH;
    /// Where bounds lie in a WideBlock, after the four of the remainder.
    DEEP_BOUND_SLACK: u32 = layout::BOUND_SLACK;
    /// What is multiplied by the error of c.
    DEEP_BOUND_BY_C: u32 = layout::BOUND_BY_C;
    /// |S|.
    DEEP_BOUND_S: u32 = layout::BOUND_S;
    /// |Q|.
    DEEP_BOUND_Q: u32 = layout::BOUND_Q;
    /// The radius.
    DEEP_BOUND_RADIUS: u32 = layout::BOUND_RADIUS;

    /// Steps that `peak` runs between two looks at its counter: their number is a multiple of it.
    PEAK_BATCH: u32 = 16;
}

// A warp has 32 lanes; children of a rectangle fit the threads of a block; survivors leave the prologue for whole
// batches.
const _: () = assert!(WARP_COLUMNS * WARP_ROWS == 32 && BLOCK_COLUMNS * TILE_ROWS == BLOCK_THREADS);
const _: () = assert!(MOST_PARTS * MOST_PARTS <= BLOCK_THREADS);
const _: () = assert!(FIRST_TRAP < NOTHING_PROVED && NOTHING_PROVED <= u8::MAX as u32 && REGION_COLUMNS == 4 * 32);
const _: () = assert!(BLOCK_SIDE == 2 * CELL_SIDE && CELL_SIDE.is_multiple_of(WARP_ROWS) && CELL_SIDE == WARP_COLUMNS);
const _: () = assert!(DEEP_FAR * DEEP_FAR == DEEP_FAR_SQUARED);
const _: () = assert!(PROLOGUE_STEPS.is_multiple_of(PROLOGUE_BATCH) && LONG_BATCH.is_multiple_of(SHORT_BATCH));

/// The code of a fold.
pub(crate) const fn fold_code(fold: Fold) -> u32 {
    match fold {
        Fold::None => FOLD_NONE,
        Fold::Absolute => FOLD_ABSOLUTE,
        Fold::Conjugate => FOLD_CONJUGATE,
    }
}

/// The code of a scale; the kernels have none for a histogram.
pub(crate) const fn scale_code(scale: Scale) -> Option<u32> {
    match scale {
        Scale::Root => Some(SCALE_ROOT),
        Scale::Linear => Some(SCALE_LINEAR),
        Scale::Log => Some(SCALE_LOG),
        Scale::Limit => Some(SCALE_LIMIT),
        Scale::Histogram => None,
    }
}

/// Bytes of a pixel of a picture.
pub(crate) const fn pixel_bytes(depth: Depth) -> u32 {
    match depth {
        Depth::Eight => PIXEL_BYTES_8,
        Depth::Sixteen => PIXEL_BYTES_16,
    }
}

/// The text of `kernels/generated.cuh`.
#[must_use]
pub fn header() -> String {
    let mut out = String::from(
        "// Generated by `cargo xtask kernels` from crates/dwell-cuda/src/shared.rs: do not edit.\n\
         //\n\
         // Constants, codes and struct layouts that the kernels share with Rust. Addresses are the device's.\n\
         #pragma once\n\
         #include <cstddef>\n",
    );
    for (about, name, value) in constants() {
        cpp::comment(&mut out, "\n", about);
        out += &format!("{}\n", value.definition(name));
    }
    cpp::definition::<Task<'_, AnyNumber>>(&mut out, true);
    cpp::checks::<Task<'_, f32>>(&mut out, "Task<float>");
    cpp::checks::<Task<'_, f64>>(&mut out, "Task<double>");
    cpp::definition::<Survivors<'_, AnyNumber>>(&mut out, true);
    cpp::checks::<Survivors<'_, f32>>(&mut out, "Survivors<float>");
    cpp::checks::<Survivors<'_, f64>>(&mut out, "Survivors<double>");
    cpp::definition::<BlockProof>(&mut out, false);
    cpp::checks::<BlockProof>(&mut out, "BlockProof");
    cpp::definition::<CellList<'_>>(&mut out, false);
    cpp::checks::<CellList<'_>>(&mut out, "CellList");
    cpp::definition::<ProofLists<'_>>(&mut out, false);
    cpp::checks::<ProofLists<'_>>(&mut out, "ProofLists");
    cpp::definition::<Corners>(&mut out, false);
    cpp::checks::<Corners>(&mut out, "Corners");
    // Methods are added in rectangle.cuh, and no fields.
    out += "struct Rectangle;\n";
    cpp::definition::<RectangleList<'_>>(&mut out, false);
    cpp::checks::<RectangleList<'_>>(&mut out, "RectangleList");
    cpp::definition::<LaunchDivision<'_>>(&mut out, false);
    cpp::checks::<LaunchDivision<'_>>(&mut out, "LaunchDivision");
    cpp::definition::<PaintTask<'_>>(&mut out, false);
    cpp::checks::<PaintTask<'_>>(&mut out, "PaintTask");
    cpp::definition::<PeakRule>(&mut out, false);
    cpp::checks::<PeakRule>(&mut out, "PeakRule");
    cpp::definition::<DeepTiny>(&mut out, false);
    cpp::checks::<DeepTiny>(&mut out, "DeepTiny");
    cpp::definition::<DeepOrigin>(&mut out, false);
    cpp::checks::<DeepOrigin>(&mut out, "DeepOrigin");
    cpp::definition::<WideBlock>(&mut out, false);
    cpp::checks::<WideBlock>(&mut out, "WideBlock");
    cpp::definition::<DeepView<'_>>(&mut out, false);
    cpp::checks::<DeepView<'_>>(&mut out, "DeepView");
    cpp::definition::<DeepTinyParts>(&mut out, false);
    cpp::checks::<DeepTinyParts>(&mut out, "DeepTinyParts");
    cpp::definition::<DeepFormula<'_>>(&mut out, false);
    cpp::checks::<DeepFormula<'_>>(&mut out, "DeepFormula");
    cpp::definition::<DeepPixels<'_>>(&mut out, false);
    cpp::checks::<DeepPixels<'_>>(&mut out, "DeepPixels");
    cpp::definition::<DeepLists<'_>>(&mut out, false);
    cpp::checks::<DeepLists<'_>>(&mut out, "DeepLists");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_header_is_up_to_date() {
        let committed = include_str!("../kernels/generated.cuh").replace("\r\n", "\n");
        assert!(committed == header(), "kernels/generated.cuh is stale; `cargo xtask kernels` writes it");
    }

    #[test]
    fn constants_equal_those_of_the_library() {
        assert!(Depth::ALL.iter().all(|depth| pixel_bytes(*depth) as usize == depth.bytes_per_pixel()));
        assert_eq!(TURNS_PER_ROOT.to_bits(), 0.11_f64.to_bits());
        assert_eq!((SMOOTH_FAR_SQUARED, SMOOTH_PER_LOG2_FAR_SQUARED), (2_f64.powi(16), 1.0 / 16.0));
    }

    #[test]
    fn numbers_are_written_so_that_cpp_reads_the_same_value() {
        let text = header();
        assert!(text.contains("constexpr double TURNS_PER_ROOT = 0.11;"), "{text}");
        assert!(text.contains("constexpr double GREATEST_DOUBLE = 1.7976931348623157e308;"), "{text}");
        assert!(text.contains("constexpr unsigned long long LOG2_SQRT_HALF_BITS = 0x3fe6a09e667f3bcdull;"), "{text}");
        assert!(text.contains("static_assert(sizeof(Task<float>) == 160"), "{text}");
    }
}
