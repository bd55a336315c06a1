//! The kernels for f32 and f64: the face of this crate.
//!
//! They are instantiated here and not by their callers, so that they are compiled once, with this crate's optimisation.

use crate::escape::{self, Bounds, Workspace};
use crate::level::Level;
use crate::number::Number;
use crate::recipe::Recipe;
use crate::{peak, smooth};
use std::sync::atomic::AtomicBool;

/// A number that points can be iterated in.
pub trait Kernels: Number {
    /// Computes the dwell of every point of the workspace's span into `dwell`, which has its length. With `keep_ends`,
    /// z_n of each escaped point can be had from [`Workspace::ends`] after. Returns false, with `dwell` undefined, when
    /// it gave up because `stop` was set. See [`crate::escape`].
    ///
    /// # Panics
    /// When `dwell` has another length than the span, or R < 2.
    fn dwells(
        level: Level,
        bounds: Bounds<Self>,
        workspace: &mut Workspace<Self>,
        dwell: &mut [u32],
        keep_ends: bool,
        stop: &AtomicBool,
    ) -> bool;

    /// Smooth values of the workspace's span, after [`Self::dwells`] with `keep_ends`. See [`crate::smooth`].
    ///
    /// # Panics
    /// When `dwell` or `smooth` has another length than the span.
    fn smooth_values(level: Level, recipe: Recipe, workspace: &mut Workspace<Self>, dwell: &[u32], smooth: &mut [f64]);

    /// Does `steps` steps on each of `in_flight` vectors of the level. Returns how many iterations that were and a sum
    /// over the final z, which must be finite. See [`crate::peak`].
    ///
    /// # Panics
    /// When `in_flight` is none of [`peak::IN_FLIGHT`].
    #[must_use]
    fn peak(level: Level, recipe: Recipe, in_flight: usize, steps: u32) -> (u64, f64);
}

macro_rules! kernels {
    ($($t:ty)*) => {
        $(impl Kernels for $t {
            fn dwells(
                level: Level,
                bounds: Bounds<Self>,
                workspace: &mut Workspace<Self>,
                dwell: &mut [u32],
                keep_ends: bool,
                stop: &AtomicBool,
            ) -> bool {
                escape::dwells(level, bounds, workspace, dwell, keep_ends, stop)
            }

            fn smooth_values(
                level: Level,
                recipe: Recipe,
                workspace: &mut Workspace<Self>,
                dwell: &[u32],
                smooth: &mut [f64],
            ) {
                smooth::values(level, recipe, workspace, dwell, smooth);
            }

            fn peak(level: Level, recipe: Recipe, in_flight: usize, steps: u32) -> (u64, f64) {
                peak::run::<Self>(level, recipe, in_flight, steps)
            }
        })*
    };
}
kernels!(f32 f64);
