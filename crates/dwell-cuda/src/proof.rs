//! What proofs for blocks of pixels need besides the task: how large the blocks of a plan are, and the constants of their bounds,
//! each rounded in the safe direction to single precision. `kernels/block_model.cuh` uses them.

use crate::driver::Address;
use crate::shared::{BLOCK_SIDE, CELL_SIDE, shared_struct};
use crate::task::kernel_settings;
use dwell::{DirectPoints, Plan, Shortcuts};
use dwell_kernels::Kernels;
use dwell_kernels::shortcut_constants::ProofConstants;

shared_struct! {
    /// The sizes of blocks and the constants of their bounds.
    struct BlockProof {
        /// No point of a disc within the first radius around 0 has escaped, and every point beyond the second has.
        near_radius: f32,
        far_radius: f32,
        /// N, N (N - 1) / 2 and N (N - 1) (N - 2) / 6 of the power N.
        power: f32,
        pub(crate) curvature: f32,
        pub(crate) third: f32,
        /// The errors of D' and Q' relative to their terms.
        pub(crate) slope_noise: f32,
        /// The errors of z' and Z' relative to the greatest |z|^N.
        pub(crate) noise: f32,
        /// The errors of z' and Z' that c has, and of D' that its term 1 has.
        pub(crate) constant_noise: f32,
        /// 1 where c is the point, 0 for a Julia set.
        slope_of_c: f32,
        /// The greatest distance of a point from the centre of its block, and of its cell.
        block_radius: f32,
        cell_radius: f32,
        /// The greatest |lambda| of points that are inside the cardioid, less `roundings`, and the radius of the disc.
        inside_cardioid: f32,
        inside_disc: f32,
        /// What the test for blocks inside the cardioid and the disc leaves for its own roundings.
        roundings: f32,
        /// Whether that test is made.
        has_interior: u32,
    }
}

shared_struct! {
    /// A list of cells, each by its number in rows of cells of the task from its `begin` on.
    struct CellList<'a> {
        pub(crate) cells: Address<'a, u32>,
        pub(crate) count: Address<'a, u32>,
    }
}

shared_struct! {
    /// What the kernels that prove keep from one to the next.
    struct ProofLists<'a> {
        /// The proved dwell of each cell, or NOTHING_PROVED.
        pub(crate) dwells: Address<'a, u8>,
        /// Blocks that are divided, each by its number in rows of blocks.
        pub(crate) divided: CellList<'a>,
        /// Cells whose pixels stay as long as they were followed.
        pub(crate) bounded: CellList<'a>,
        /// Cells of which nothing is proved.
        pub(crate) left: CellList<'a>,
        /// Cells in which no trap was found.
        pub(crate) late: CellList<'a>,
        /// The number of the next cell that is left.
        pub(crate) next: Address<'a, u32>,
    }
}

const _: () = assert!(size_of::<BlockProof>() == 15 * 4 && size_of::<ProofLists<'_>>() == 80);

/// The unit roundoff of single precision, in which D, Q and all bounds are.
const SINGLE_UNIT: f64 = f32::EPSILON as f64 / 2.0;

/// The least number of single precision that is not below this one.
fn up(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

/// The greatest number of single precision that is not above this one.
fn down(value: f64) -> f32 {
    -up(-value)
}

impl BlockProof {
    /// Of a plan: its blocks may begin at any column and row.
    pub(crate) fn new<N: Kernels>(plan: &Plan, points: &DirectPoints<N>, shortcuts: Shortcuts) -> Self {
        let (axes, map) = (points.axes.arrays(), points.map);
        let constants = ProofConstants::of(&kernel_settings(plan, points, shortcuts));
        let greatest = greatest_modulus(axes);
        let [block_radius, cell_radius] =
            [BLOCK_SIDE, CELL_SIDE].map(|side| radius::<N>(axes, side as usize, greatest));
        let greatest_c = map.julia.map_or(greatest, |[re, im]| re.to_f64().hypot(im.to_f64()) * (1.0 + 1e-12));
        let [near, far] = constants.sure_radii;
        let (k, u) = (constants.roundings_of_a_step, constants.unit);
        let n = f64::from(map.formula.power());
        // Results below the smallest normal number lose at most its spacing, in D and Q times a radius and its square.
        let small = constants.smallest + 64.0 * f64::from(f32::MIN_POSITIVE) * near.max(1.0).powi(2);
        let radius = f64::from(block_radius);
        let rounding = if size_of::<N>() == size_of::<f32>() { 0.5_f64.powi(16) } else { 0.5_f64.powi(40) };
        let margins = constants.interior_margins;
        let [cardioid, disc] = margins.unwrap_or([1.0; 2]);
        // The sums and products of these few numbers in f64 are right to within far less than this factor.
        let more = |value: f64| up(value * (1.0 + 1e-12));
        Self {
            near_radius: down(near),
            far_radius: up(far),
            power: n as f32,
            curvature: (n * (n - 1.0) / 2.0) as f32,
            third: (n * (n - 1.0) * (n - 2.0) / 6.0) as f32,
            slope_noise: more(k * SINGLE_UNIT),
            noise: more(2.0 * k * u),
            constant_noise: more(2.0 * k * u * (greatest_c + radius) + k * SINGLE_UNIT * radius + small),
            slope_of_c: if map.julia.is_some() { 0.0 } else { 1.0 },
            block_radius,
            cell_radius,
            inside_cardioid: down(1.0 - cardioid - rounding),
            inside_disc: down((1.0 - disc) / 4.0 - rounding),
            roundings: up(rounding),
            has_interior: margins.is_some().into(),
        }
    }
}

/// A bound on |c| over an image.
fn greatest_modulus<N: Kernels>([a, b, c, d]: [&[N]; 4]) -> f64 {
    let greatest = |axis: &[N]| {
        // Coordinates are monotonic.
        let ends = [axis.first(), axis.last()].into_iter().flatten();
        ends.map(|v| v.to_f64().abs()).fold(0.0, f64::max)
    };
    (greatest(a) + greatest(c)).hypot(greatest(b) + greatest(d)) * (1.0 + 1e-12)
}

/// A bound on the distance of a point from the centre of its block of `side` columns and rows, wherever the block begins.
///
/// Each part of the contribution of a column or a row is between those of the ends of the block, so that c is in a box around the
/// centre whose sides are the sums of those of both. The contributions, their sum and the centres are rounded: each by at most u
/// of the greatest part.
fn radius<N: Kernels>(axes: [&[N]; 4], side: usize, greatest: f64) -> f32 {
    let half = |axis: &[N]| {
        let last = (side - 1).min(axis.len().saturating_sub(1));
        let reaches = axis.iter().zip(&axis[last.min(axis.len())..]).map(|(a, b)| (b.to_f64() - a.to_f64()).abs());
        reaches.fold(0.0, f64::max) / 2.0
    };
    let [re_of_column, im_of_column, re_of_row, im_of_row] = axes.map(half);
    let radius = (re_of_column + re_of_row).hypot(im_of_column + im_of_row);
    let unit = 0.5_f64.powi(N::SIGNIFICAND_BITS.cast_signed());
    // Eight roundings of parts, and one of this radius.
    let slack = 16.0 * unit * greatest + N::from_parts(false, 1, N::MIN_EXPONENT).to_f64();
    up((radius + slack) * (1.0 + 24.0 * unit.min(SINGLE_UNIT)))
}

#[cfg(test)]
mod tests;
