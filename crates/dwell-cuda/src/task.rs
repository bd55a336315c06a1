//! What a launch computes: the parameter that all kernels of dwells take.

use crate::driver::{Address, Buffer, ConstAddress, Context, Fault, Stream};
use crate::shared::{
    EACH_STEP_ALL, EACH_STEP_NONE, EACH_STEP_NORM_IN, EACH_STEP_REAL_PART_IN, fold_code, shared_struct,
};
use crate::upload::Upload;
use dwell::{DirectPoints, Fold, Formula, Plan, Recipe, Shortcuts};
use dwell_kernels::Kernels;
use dwell_kernels::escape::{self, KernelSettings};
use dwell_kernels::shortcut_constants::{EachStep, ShortcutConstants};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

shared_struct! {
    /// What a launch computes: which points, by which rule, and where dwells are written.
    struct Task<'a, N> {
        /// Coordinates of every column and row of the image: c is the sum of a column's and a row's contributions.
        re_of_column: ConstAddress<'a, N>,
        im_of_column: ConstAddress<'a, N>,
        re_of_row: ConstAddress<'a, N>,
        im_of_row: ConstAddress<'a, N>,
        /// Dwells, row by row from `first_row` on.
        dwell: Address<'a, u32>,
        /// z_n of each escaped point, in the same places; null where they are not stored.
        end_x: Address<'a, N>,
        end_y: Address<'a, N>,
        /// Number of pixels written; null where they are not counted.
        written: Address<'a, u64>,
        julia_re: N,
        julia_im: N,
        radius_squared: N,
        /// 2 / (1 - kappa), 1 / (1 - kappa), kappa^2 / 8 / (1 - kappa), ((1 - delta) / 4)^2 of interior.rs.
        interior_terms: [N; 4],
        /// The range of EACH_STEP_REAL_PART_IN and EACH_STEP_NORM_IN.
        each_step_from: N,
        each_step_to: N,
        width: u32,
        first_row: u32,
        /// Rows to compute, upper end excluded.
        begin: u32,
        end: u32,
        /// The mirror image of a row is mirror_sum - row, where that is in mirror_begin..mirror_end.
        mirror_sum: u32,
        mirror_begin: u32,
        mirror_end: u32,
        limit: u32,
        /// A code of a fold.
        fold: u32,
        power: u32,
        is_julia: u32,
        is_rotated: u32,
        /// Whether the test for the interior is made.
        interior: u32,
        /// Whether orbits are tested for cycles.
        cycles: u32,
        /// A code of the points that are tested at every step.
        each_step: u32,
    }
}

// 8 addresses, 9 numbers and 15 integers, without gaps.
const _: () = assert!(size_of::<Task<'_, f32>>() == 8 * 8 + 9 * 4 + 15 * 4);
const _: () = assert!(size_of::<Task<'_, f64>>() == 8 * 8 + 9 * 8 + 15 * 4 + 4);
const _: () = assert!(std::mem::offset_of!(Task<'_, f64>, width) == 8 * 8 + 9 * 8);

/// Coordinates of a plan, on the device.
#[derive(Debug)]
pub(crate) struct DeviceAxes<N> {
    memory: Upload,
    /// Where each array begins, in bytes, and its length.
    arrays: [(usize, usize); 4],
    numbers: PhantomData<N>,
}

impl<N: Kernels> DeviceAxes<N> {
    /// Room for so many coordinates.
    pub(crate) fn new(context: &Arc<Context>, coordinates: usize) -> Result<Self, Fault> {
        let memory = Upload::new(context, Upload::bytes_of::<N>(coordinates, 4))?;
        Ok(Self { memory, arrays: [(0, 0); 4], numbers: PhantomData })
    }

    /// Copies the coordinates of a plan there, in a stream's order.
    pub(crate) fn load(&mut self, points: &DirectPoints<N>, stream: &Stream) -> Result<(), Fault> {
        let axes = points.axes.arrays();
        let bytes = Upload::bytes_of::<N>(axes.iter().map(|axis| axis.len()).sum(), 4);
        self.memory.fill(bytes, stream, |sections| {
            self.arrays = axes.map(|axis| (sections.numbers(axis), axis.len()));
        })
    }

    /// The address of an array.
    fn array(&self, which: usize) -> ConstAddress<'_, N> {
        let (at, len) = self.arrays[which];
        self.memory.values(at, len).read_only()
    }
}

/// Memory for the dwells of some rows and, where they are needed, for both parts of z_n.
#[derive(Debug)]
pub(crate) struct DeviceField<N> {
    pub(crate) dwell: Buffer<u32>,
    ends: Option<[Buffer<N>; 2]>,
}

impl<N: Kernels> DeviceField<N> {
    /// Allocates for so many pixels.
    pub(crate) fn new(context: &Arc<Context>, pixels: usize, with_ends: bool) -> Result<Self, Fault> {
        let end = || Buffer::new(context, pixels);
        let ends = if with_ends { Some([end()?, end()?]) } else { None };
        Ok(Self { dwell: Buffer::new(context, pixels)?, ends })
    }

    /// Bytes of a pixel.
    pub(crate) fn bytes_per_pixel(with_ends: bool) -> u64 {
        size_of::<u32>() as u64 + if with_ends { 2 * size_of::<N>() as u64 } else { 0 }
    }
}

impl<'a, N: Kernels> Task<'a, N> {
    /// The task of a plan, without memory and rows.
    pub(crate) fn new(plan: &Plan, points: &DirectPoints<N>, shortcuts: Shortcuts) -> Self {
        let map = &points.map;
        let constants = ShortcutConstants::of(&kernel_settings(plan, points, shortcuts));
        let (each_step, [each_step_from, each_step_to]) = match constants.each_step {
            EachStep::Never => (EACH_STEP_NONE, [N::default(); 2]),
            EachStep::Always => (EACH_STEP_ALL, [N::default(); 2]),
            EachStep::RealPartIn(range) => (EACH_STEP_REAL_PART_IN, range),
            EachStep::NormIn(range) => (EACH_STEP_NORM_IN, range),
        };
        let [julia_re, julia_im] = map.julia.unwrap_or_default();
        Self {
            re_of_column: ConstAddress::NULL,
            im_of_column: ConstAddress::NULL,
            re_of_row: ConstAddress::NULL,
            im_of_row: ConstAddress::NULL,
            dwell: Address::NULL,
            end_x: Address::NULL,
            end_y: Address::NULL,
            written: Address::NULL,
            julia_re,
            julia_im,
            radius_squared: points.radius_squared,
            interior_terms: constants.interior.unwrap_or_default(),
            each_step_from,
            each_step_to,
            width: plan.size().width,
            first_row: 0,
            begin: 0,
            end: 0,
            mirror_sum: 0,
            mirror_begin: 0,
            mirror_end: 0,
            limit: plan.direct_limit(),
            fold: fold_code(map.formula.fold()),
            power: map.formula.power(),
            is_julia: map.julia.is_some().into(),
            is_rotated: points.axes.is_rotated().into(),
            interior: constants.interior.is_some().into(),
            cycles: shortcuts.cycles.into(),
            each_step,
        }
    }

    /// The same task with memory for these rows, which are all that launches may compute: those of the field from a pixel
    /// on. Mirror images are written as well.
    ///
    /// # Panics
    /// When the memory has no places for the rows or their mirror images.
    pub(crate) fn within<'b>(
        self,
        axes: &'b DeviceAxes<N>,
        (field, from): (&'b DeviceField<N>, usize),
        rows: Range<u32>,
        (mirrored, mirror_sum): (Range<u32>, u32),
    ) -> Task<'b, N>
    where
        'a: 'b,
    {
        let [columns, _, _, rows_of_axes] = axes.arrays.map(|(_, len)| len);
        assert!(columns == self.width as usize, "coordinates of each column");
        let last = rows.end.max(mirrored.end) as usize;
        let places = field.dwell.len().saturating_sub(from) / self.width as usize;
        assert!(rows_of_axes >= last && rows.start as usize + places >= last, "coordinates and a place of each row");
        assert!(mirrored.is_empty() || mirrored.start >= rows.start, "a place of each mirror image");
        Task {
            re_of_column: axes.array(0),
            im_of_column: axes.array(1),
            re_of_row: axes.array(2),
            im_of_row: axes.array(3),
            dwell: field.dwell.at(from),
            end_x: field.ends.as_ref().map_or(Address::NULL, |[x, _]| x.at(from)),
            end_y: field.ends.as_ref().map_or(Address::NULL, |[_, y]| y.at(from)),
            first_row: rows.start,
            begin: rows.start,
            end: rows.end,
            mirror_sum,
            mirror_begin: mirrored.start,
            mirror_end: mirrored.end,
            ..self
        }
    }

    /// The same task over all rows of coordinates of the host, for code of kernels that runs there and writes no dwells.
    #[cfg(test)]
    pub(crate) fn on_host<'b>(self, [re_of_column, im_of_column, re_of_row, im_of_row]: [&'b [N]; 4]) -> Task<'b, N>
    where
        'a: 'b,
    {
        let of = |axis| Address::of_host(axis).read_only();
        Task {
            re_of_column: of(re_of_column),
            im_of_column: of(im_of_column),
            re_of_row: of(re_of_row),
            im_of_row: of(im_of_row),
            end: u32::try_from(im_of_row.len()).unwrap(),
            ..self
        }
    }

    /// The same task over some of its rows.
    ///
    /// # Panics
    /// When they are not among its rows.
    pub(crate) fn over(self, rows: Range<u32>) -> Self {
        assert!(self.begin <= rows.start && rows.end <= self.end, "rows of the task");
        Self { begin: rows.start, end: rows.end, ..self }
    }

    /// The same, with pixels written counted there.
    pub(crate) fn counting(self, written: Address<'a, u64>) -> Self {
        Self { written, ..self }
    }

    /// Pixels of a row.
    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    /// The first row that the task's memory is for.
    pub(crate) fn first_row(&self) -> u32 {
        self.first_row
    }

    /// Rows to compute.
    pub(crate) fn rows(&self) -> Range<u32> {
        self.begin..self.end
    }

    /// Iterations at most.
    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether orbits are tested for cycles.
    pub(crate) fn tests_for_cycles(&self) -> bool {
        self.cycles != 0
    }
}

/// What the constants of shortcuts and of proofs depend on.
pub(crate) fn kernel_settings<N: Kernels>(
    plan: &Plan,
    points: &DirectPoints<N>,
    shortcuts: Shortcuts,
) -> KernelSettings<N> {
    KernelSettings {
        map: points.map,
        limit: plan.direct_limit(),
        radius_squared: points.radius_squared,
        shortcuts: escape::KernelShortcuts { interior: shortcuts.interior, cycles: shortcuts.cycles, traps: false },
        proved: 0,
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
