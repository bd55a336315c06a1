//! What kernels are told: twins of the structs in `kernels/task.cuh`, `rectangle.cuh`, `tuned.cu` and `paint.cu`, same
//! fields, same order. Addresses are the device's.

use dwell::{Fold, Formula, Plan, Points, Recipe, Shortcuts};
use dwell_kernels::Kernels;
use dwell_kernels::escape::{self, Bounds};
use dwell_kernels::terms::{EachStep, Terms};
use std::ops::Range;

/// What a launch is about.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Task<N> {
    pub(crate) axes: [u64; 4],
    pub(crate) dwell: u64,
    pub(crate) ends: [u64; 2],
    pub(crate) written: u64,
    julia: [N; 2],
    radius_squared: N,
    interior_terms: [N; 4],
    each_step_range: [N; 2],
    pub(crate) width: u32,
    pub(crate) first_row: u32,
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) mirror_sum: u32,
    pub(crate) mirror_begin: u32,
    pub(crate) mirror_end: u32,
    pub(crate) limit: u32,
    fold: u32,
    power: u32,
    is_julia: u32,
    is_rotated: u32,
    interior: u32,
    cycles: u32,
    each_step: u32,
}

impl<N: Kernels> Task<N> {
    /// Whether the shortcut `cycles` is taken.
    pub(crate) fn looks_for_cycles(&self) -> bool {
        self.cycles != 0
    }

    /// The same over these rows.
    pub(crate) fn over(self, rows: Range<u32>) -> Self {
        Self { begin: rows.start, end: rows.end, ..self }
    }

    /// Of a plan: all but addresses and rows.
    pub(crate) fn new(plan: &Plan, points: &Points<N>, shortcuts: Shortcuts) -> Self {
        let map = &points.map;
        let bounds = Bounds {
            map: *map,
            limit: plan.limit(),
            radius_squared: points.radius_squared,
            shortcuts: escape::Shortcuts { interior: shortcuts.interior, cycles: shortcuts.cycles },
        };
        let terms = Terms::of(&bounds);
        let (each_step, each_step_range) = match terms.each_step {
            EachStep::Nobody => (0, [N::default(); 2]),
            EachStep::Everybody => (1, [N::default(); 2]),
            EachStep::RealPartIn(range) => (2, range),
            EachStep::NormIn(range) => (3, range),
        };
        Self {
            julia: map.julia.unwrap_or_default(),
            radius_squared: points.radius_squared,
            interior_terms: terms.interior.unwrap_or_default(),
            each_step_range,
            width: plan.size().width,
            limit: plan.limit(),
            fold: match map.formula.fold() {
                Fold::None => 0,
                Fold::Absolute => 1,
                Fold::Conjugate => 2,
            },
            power: map.formula.power(),
            is_julia: map.julia.is_some().into(),
            is_rotated: points.axes.is_rotated().into(),
            interior: terms.interior.is_some().into(),
            cycles: shortcuts.cycles.into(),
            each_step,
            ..Self::default()
        }
    }
}

/// The name of the rule of a formula in a recipe, as in `kernels/recipe.cuh`.
pub(crate) fn rule(formula: Formula, recipe: Recipe) -> &'static str {
    match (recipe, formula.fold(), formula.power()) {
        (Recipe::Fused, Fold::None, 2) => "square_fused",
        (Recipe::Fused, Fold::Absolute, 2) => "ship_fused",
        (Recipe::Fused, Fold::Conjugate, 2) => "tricorn_fused",
        (Recipe::Fused, ..) => "power_fused",
        (Recipe::Separate, Fold::None, 2) => "square_separate",
        (Recipe::Separate, ..) => "power_separate",
    }
}

/// Points that fly on.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Survivors {
    pub(crate) z: [u64; 2],
    pub(crate) place: u64,
    pub(crate) count: u64,
}

/// A list of rectangles.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct RectangleList {
    pub(crate) rectangles: u64,
    pub(crate) count: u64,
    pub(crate) capacity: u32,
    pub(crate) padding: u32,
}

/// A rectangle of pixels: left, top, right, bottom.
pub(crate) type Rectangle = [u32; 4];

/// How device-side launches divide.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Divide {
    pub(crate) parts: u32,
    pub(crate) min_size: u32,
    pub(crate) max_depth: u32,
    pub(crate) padding: u32,
    pub(crate) failed: u64,
    pub(crate) error: u64,
}

/// What is painted, and how.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct PaintTask {
    pub(crate) dwell: u64,
    pub(crate) smooth: u64,
    pub(crate) picture: u64,
    pub(crate) palette: u64,
    pub(crate) bands: u64,
    pub(crate) light: u64,
    pub(crate) midpoints: u64,
    pub(crate) start: u64,
    pub(crate) totals: u64,
    pub(crate) slope: f64,
    pub(crate) start_position: f64,
    pub(crate) limit_value: f64,
    pub(crate) width: u32,
    pub(crate) rows: u32,
    pub(crate) samples: u32,
    pub(crate) bytes: u32,
    pub(crate) scale: u32,
    pub(crate) limit: u32,
    pub(crate) entries: u32,
    pub(crate) values: u32,
    pub(crate) shift: u32,
    pub(crate) padding: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_kernels() {
        // 8 addresses, 9 numbers, 15 integers; as `sizeof` has it.
        assert_eq!((size_of::<Task<f32>>(), size_of::<Task<f64>>()), (160, 200));
        assert_eq!((size_of::<Survivors>(), size_of::<RectangleList>(), size_of::<Divide>()), (32, 24, 32));
        assert_eq!(size_of::<PaintTask>(), 12 * 8 + 10 * 4);
    }
}
