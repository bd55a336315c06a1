//! The entry points of the kernels, for f32 and f64.
//!
//! The generic kernels are instantiated in this file and not in the calling crates, so that they are compiled once,
//! with the optimisation level of this crate.

use crate::attractor::{self, AttractorRows};
use crate::blocks::{self, BlockWorkspace};
use crate::distance::{self, Derived, Units};
use crate::escape::{self, KernelSettings, Workspace};
use crate::formula::Formula;
use crate::grid::Grid;
use crate::level::Level;
use crate::map::Map;
use crate::number::Number;
use crate::recipe::Recipe;
use crate::{peak, smooth};
use std::collections::TryReserveError;
use std::sync::atomic::AtomicBool;

/// A number type that points can be iterated in: f32 or f64.
pub trait Kernels: Number {
    /// Computes the dwell of every point of a block into `out`, row by row. With `keep_escaped_z`, z_n of each escaped
    /// point is kept in the workspace for [`Self::smooth_values`]. Returns false, with the contents of `out` undefined,
    /// if `stop` was set before the end. See [`crate::escape`].
    ///
    /// If the shape of `out` differs from that of the block, if a side of the block is longer than
    /// [`escape::MAX_SIDE`], or if R^2 is below [`Number::BELOW_FOUR`].
    fn dwells(
        level: Level,
        settings: KernelSettings<Self>,
        workspace: &mut Workspace<Self>,
        grid: Grid<'_, Self>,
        out: &mut [&mut [u32]],
        keep_escaped_z: bool,
        stop: &AtomicBool,
    ) -> bool;

    /// Proves the dwells of blocks of a grid and writes them. The points of which nothing is proved are left as they are,
    /// and listed in the workspace. Returns false, with the contents of `out` undefined, if `stop` was set before the end.
    /// See [`crate::blocks`].
    ///
    /// # Errors
    /// When an allocation fails.
    fn prove_blocks(
        level: Level,
        settings: KernelSettings<Self>,
        workspace: &mut BlockWorkspace<Self>,
        grid: Grid<'_, Self>,
        out: &mut [&mut [u32]],
        stop: &AtomicBool,
    ) -> Result<bool, TryReserveError>;

    /// Computes the smooth values of a block into `smooth`. [`Self::dwells`] must have been called for the same block
    /// and workspace immediately before, with `keep_escaped_z`. See [`crate::smooth`].
    ///
    /// If the shape of `dwell` or `smooth` differs from that of the block.
    fn smooth_values(
        level: Level,
        map: &Map<Self>,
        workspace: &Workspace<Self>,
        grid: Grid<'_, Self>,
        dwell: &[&mut [u32]],
        smooth: &mut [&mut [f64]],
    );

    /// Computes the estimated distances from the set and the slopes of a block, where `out` has rows for them.
    /// [`Self::dwells`] must have been called for the same block and workspace immediately before. Returns false, with
    /// the contents of `out` undefined, if `stop` was set before the end. See [`crate::distance`].
    ///
    /// If the shape of `dwell` or of the rows differs from that of the block.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    fn derived(
        level: Level,
        map: &Map<Self>,
        workspace: &Workspace<Self>,
        grid: Grid<'_, Self>,
        units: Units,
        dwell: &[&mut [u32]],
        out: Derived<'_, '_>,
        stop: &AtomicBool,
    ) -> bool;

    /// Computes the attracting cycles of the points of a block whose dwell is 0, in an orbit of at most `limit` steps,
    /// where `out` has rows for their values. Returns false, with the contents of `out` undefined, if `stop` was set
    /// before the end. The result is the same on every level: see
    /// [`crate::attractor`].
    ///
    /// If the shape of `dwell` or of the rows differs from that of the block.
    fn attractors(
        map: &Map<Self>,
        grid: Grid<'_, Self>,
        limit: u32,
        dwell: &[&mut [u32]],
        out: AttractorRows<'_, '_>,
        stop: &AtomicBool,
    ) -> bool;

    /// Computes `steps` steps on each of `in_flight` vectors of the level. Returns the number of iterations (vectors
    /// times lanes times steps) and the sum of the parts of the final z, which is finite. See [`crate::peak`].
    ///
    /// If `in_flight` is not one of [`peak::IN_FLIGHT`].
    #[must_use]
    fn peak(level: Level, formula: Formula, recipe: Recipe, in_flight: usize, steps: u32) -> (u64, f64);
}

macro_rules! kernels {
    ($($t:ty)*) => {
        $(impl Kernels for $t {
            fn dwells(
                level: Level,
                settings: KernelSettings<Self>,
                workspace: &mut Workspace<Self>,
                grid: Grid<'_, Self>,
                out: &mut [&mut [u32]],
                keep_escaped_z: bool,
                stop: &AtomicBool,
            ) -> bool {
                escape::dwells(level, settings, workspace, grid, out, keep_escaped_z, stop)
            }

            fn prove_blocks(
                level: Level,
                settings: KernelSettings<Self>,
                        workspace: &mut BlockWorkspace<Self>,
                grid: Grid<'_, Self>,
                out: &mut [&mut [u32]],
                stop: &AtomicBool,
            ) -> Result<bool, TryReserveError> {
                blocks::prove(level, settings, workspace, grid, out, stop)
            }

            fn smooth_values(
                level: Level,
                map: &Map<Self>,
                workspace: &Workspace<Self>,
                grid: Grid<'_, Self>,
                dwell: &[&mut [u32]],
                smooth: &mut [&mut [f64]],
            ) {
                smooth::values(level, map, workspace, grid, dwell, smooth);
            }

            fn derived(
                level: Level,
                map: &Map<Self>,
                workspace: &Workspace<Self>,
                grid: Grid<'_, Self>,
                units: Units,
                dwell: &[&mut [u32]],
                out: Derived<'_, '_>,
                stop: &AtomicBool,
            ) -> bool {
                distance::derived(level, map, workspace, grid, units, dwell, out, stop)
            }

            fn attractors(
                map: &Map<Self>,
                grid: Grid<'_, Self>,
                limit: u32,
                dwell: &[&mut [u32]],
                out: AttractorRows<'_, '_>,
                stop: &AtomicBool,
            ) -> bool {
                attractor::attractors(map, grid, limit, dwell, out, stop)
            }

            fn peak(level: Level, formula: Formula, recipe: Recipe, in_flight: usize, steps: u32) -> (u64, f64) {
                peak::run::<Self>(level, formula, recipe, in_flight, steps)
            }
        })*
    };
}
kernels!(f32 f64);
