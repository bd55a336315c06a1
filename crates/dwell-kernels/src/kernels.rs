//! The kernels for f32 and f64: the face of this crate.
//!
//! They are instantiated here and not by their callers, so that they are compiled once, with this crate's optimisation.

use crate::escape::{self, Bounds, Workspace};
use crate::formula::{Formula, Map};
use crate::grid::Grid;
use crate::level::Level;
use crate::number::Number;
use crate::recipe::Recipe;
use crate::{distance, peak, smooth};
use std::sync::atomic::AtomicBool;

/// A number that points can be iterated in.
pub trait Kernels: Number {
    /// Computes the dwell of every point of a block into `out`, row by row. With `keep_ends`, z_n of each escaped point
    /// stays in the workspace for [`Self::smooth_values`]. Returns false, with `out` undefined, when it gave up because
    /// `stop` was set. See [`crate::escape`].
    ///
    /// # Panics
    /// When `out` has another shape than the block, a side of it is longer than [`escape::LONGEST_SIDE`], or R < 2.
    fn dwells(
        level: Level,
        bounds: Bounds<Self>,
        workspace: &mut Workspace<Self>,
        grid: Grid<'_, Self>,
        out: &mut [&mut [u32]],
        keep_ends: bool,
        stop: &AtomicBool,
    ) -> bool;

    /// Smooth values of a block, right after [`Self::dwells`] of it with `keep_ends`. See [`crate::smooth`].
    ///
    /// # Panics
    /// When `dwell` or `smooth` has another shape than the block.
    fn smooth_values(
        level: Level,
        map: &Map<Self>,
        workspace: &Workspace<Self>,
        grid: Grid<'_, Self>,
        dwell: &[&mut [u32]],
        smooth: &mut [&mut [f64]],
    );

    /// Distances from the set, times `scale`, of a block of which [`Self::dwells`] was just computed. Returns false, with `distance` undefined, when it gave up because `stop` was
    /// set. See [`crate::distance`].
    ///
    /// # Panics
    /// When `dwell` or `distance` has another shape than the block.
    #[allow(clippy::too_many_arguments, reason = "a call's parts")]
    fn distances(
        level: Level,
        map: &Map<Self>,
        workspace: &Workspace<Self>,
        grid: Grid<'_, Self>,
        scale: f64,
        dwell: &[&mut [u32]],
        distance: &mut [&mut [f64]],
        stop: &AtomicBool,
    ) -> bool;

    /// Does `steps` steps on each of `in_flight` vectors of the level. Returns how many iterations that were and a sum
    /// over the final z, which must be finite. See [`crate::peak`].
    ///
    /// # Panics
    /// When `in_flight` is none of [`peak::IN_FLIGHT`].
    #[must_use]
    fn peak(level: Level, formula: Formula, recipe: Recipe, in_flight: usize, steps: u32) -> (u64, f64);
}

macro_rules! kernels {
    ($($t:ty)*) => {
        $(impl Kernels for $t {
            fn dwells(
                level: Level,
                bounds: Bounds<Self>,
                workspace: &mut Workspace<Self>,
                grid: Grid<'_, Self>,
                out: &mut [&mut [u32]],
                keep_ends: bool,
                stop: &AtomicBool,
            ) -> bool {
                escape::dwells(level, bounds, workspace, grid, out, keep_ends, stop)
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

            fn distances(
                level: Level,
                map: &Map<Self>,
                workspace: &Workspace<Self>,
                grid: Grid<'_, Self>,
                scale: f64,
                dwell: &[&mut [u32]],
                distance: &mut [&mut [f64]],
                stop: &AtomicBool,
            ) -> bool {
                distance::distances(level, map, workspace, grid, scale, dwell, distance, stop)
            }

            fn peak(level: Level, formula: Formula, recipe: Recipe, in_flight: usize, steps: u32) -> (u64, f64) {
                peak::run::<Self>(level, formula, recipe, in_flight, steps)
            }
        })*
    };
}
kernels!(f32 f64);
