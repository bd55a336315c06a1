//! What a request needs of a session: the same shape, and at least its capacity. Both are computed without a device.

use crate::driver::Fault;
use crate::lists::{CELL_COUNTS, Corners, SurvivorList, cells_of, rectangles_of, survivors_of};
use crate::options::{GpuKernel, Options};
use crate::session::{Budget, Content, SLOTS, SessionSpec};
use crate::task::{DeviceField, rule};
use dwell::{By, DirectPoints, NumberKind, PointsVisitor};
use dwell_kernels::Kernels;

/// The image's dwells may take one part in so many of the memory.
const OF_MEMORY: u64 = 2;
/// Up to so many elements, capacities are rounded up to a power of two, so that images of similar sizes use the same
/// sessions.
pub(crate) const ROUNDED: usize = 1 << 20;

/// What a session's kernels and buffers are for. Sessions serve requests of an equal shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) number: NumberKind,
    /// The formula's rule, which kernels are compiled for.
    pub(crate) rule: &'static str,
    pub(crate) options: Options,
    pub(crate) content: Content,
    /// Whether z_n is stored and smooth values are computed.
    pub(crate) with_smooth: bool,
}

/// Sizes of a session's buffers, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Pixels of a slot.
    pub(crate) slot_pixels: usize,
    /// Bytes of a slot's picture.
    pub(crate) picture_bytes: usize,
    /// Pixels whose dwells are kept: those of the image, or of all slots.
    pub(crate) field_pixels: usize,
    /// Points of each list of survivors.
    pub(crate) list_points: usize,
    /// Rectangles of each list.
    pub(crate) rectangles: usize,
    /// Cells of each list of cells.
    pub(crate) cells: usize,
    /// Coordinates of columns and rows.
    pub(crate) coordinates: usize,
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) shape: Shape,
    pub(crate) capacity: Capacity,
    /// The most rows that are started at once.
    pub(crate) rows: u32,
    /// Rows that the lists of survivors have room for.
    pub(crate) list_rows: u32,
    /// Whether the dwells of the whole image are kept.
    pub(crate) is_whole: bool,
    /// Whether memory is short, so that capacities are not rounded up.
    pub(crate) is_frugal: bool,
}

impl Needs {
    /// What a request needs within a budget and so many bytes of memory.
    pub(crate) fn of(spec: &SessionSpec<'_>, budget: Budget, memory: u64) -> Result<Self, Fault> {
        struct Visitor<'a>(&'a SessionSpec<'a>, Budget, u64);
        impl PointsVisitor for Visitor<'_> {
            type Output = Result<Needs, Fault>;
            fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Self::Output {
                let Self(spec, budget, memory) = self;
                Needs::of_points(spec, points, budget, memory)
            }
        }
        spec.visit_points(Visitor(spec, budget, memory))
    }

    fn of_points<N: Kernels>(
        spec: &SessionSpec<'_>,
        points: &DirectPoints<N>,
        budget: Budget,
        memory: u64,
    ) -> Result<Self, Fault> {
        let size = spec.plan.size();
        let width = u64::from(size.width);
        let painter = spec.painter;
        let by_smooth_values = painter.is_some_and(|painter| painter.colouring().by == By::Smooth);
        let with_smooth = spec.content == Content::SmoothValues || by_smooth_values;
        let samples = painter.map_or(1, dwell::Painter::side);
        // Whole rows of pixels of the picture.
        let least = u64::from(samples) * width;
        let rows =
            (budget.pixels.max(least) / least).min(u64::from(size.height.div_ceil(samples))) * u64::from(samples);
        let rows = u32::try_from(rows).unwrap_or(u32::MAX).min(size.height);
        let slot_pixels = u64::from(rows) * width;
        let of_pixel = DeviceField::<N>::bytes_per_pixel(with_smooth);
        let is_whole = !budget.frugal && size.pixels().saturating_mul(of_pixel) <= memory / OF_MEMORY;
        let field_pixels = if is_whole { size.pixels() } else { slot_pixels * SLOTS as u64 };
        let of_picture =
            |painter: &dwell::Painter| slot_pixels / u64::from(samples * samples) * painter.bytes_per_pixel() as u64;
        let elements = |count: u64| usize::try_from(count).map_err(|_| Fault::Memory);
        let rows_alone = Capacity {
            slot_pixels: elements(slot_pixels)?,
            picture_bytes: elements(painter.map_or(0, of_picture))?,
            field_pixels: elements(field_pixels)?,
            coordinates: points.axes.arrays().map(<[N]>::len).iter().sum(),
            ..Capacity::default()
        };
        let shape = Shape {
            number: spec.plan.number(),
            rule: rule(points.map.formula, points.map.recipe),
            options: spec.options,
            content: spec.content,
            with_smooth,
        };
        let left = memory.checked_sub(rows_alone.device_bytes(&shape)).ok_or(Fault::Memory)?;
        let (capacity, list_rows) = match spec.options.kernel {
            GpuKernel::Tuned => {
                let rows = survivors_of::<N>(size, slot_pixels, left)?;
                (Capacity { list_points: elements(u64::from(rows) * width)?, ..rows_alone }, rows)
            }
            GpuKernel::Proven => {
                let rows = survivors_of::<N>(size, slot_pixels, left)?;
                let cells = elements(cells_of(size.width, rows))?;
                (Capacity { list_points: elements(u64::from(rows) * width)?, cells, ..rows_alone }, rows)
            }
            GpuKernel::Levels => {
                let rectangles = rectangles_of(size, spec.options.division)?;
                (Capacity { rectangles, ..rows_alone }, size.height)
            }
            _ => (rows_alone, size.height),
        };
        if capacity.device_bytes(&shape) > memory {
            return Err(Fault::Memory);
        }
        Ok(Self { shape, capacity, rows, list_rows, is_whole, is_frugal: budget.frugal })
    }
}

impl Shape {
    /// Bytes of a coordinate.
    fn number_bytes(&self) -> usize {
        match self.number {
            NumberKind::F32 => size_of::<f32>(),
            // The device is not given exact arithmetic.
            NumberKind::F64 | NumberKind::Exact => size_of::<f64>(),
        }
    }
}

impl Capacity {
    fn each(&self) -> [usize; 7] {
        let Self { slot_pixels, picture_bytes, field_pixels, list_points, rectangles, cells, coordinates } = *self;
        [slot_pixels, picture_bytes, field_pixels, list_points, rectangles, cells, coordinates]
    }

    /// Whether there is room for another.
    pub(crate) fn suffices(&self, other: &Self) -> bool {
        self.each().iter().zip(other.each()).all(|(own, needed)| *own >= needed)
    }

    /// The same rounded up: small sizes to powers of two.
    pub(crate) fn rounded(&self) -> Self {
        let up = |size: usize| if (1..ROUNDED).contains(&size) { size.next_power_of_two() } else { size };
        let [slot_pixels, picture_bytes, field_pixels, list_points, rectangles, cells, coordinates] =
            self.each().map(up);
        Self { slot_pixels, picture_bytes, field_pixels, list_points, rectangles, cells, coordinates }
    }

    /// Bytes of device memory for rows and lists, of which all but a few MiB of a session consist: the rest are
    /// coordinates, a painter's tables and counters.
    pub(crate) fn device_bytes(&self, shape: &Shape) -> u64 {
        let number = shape.number_bytes();
        let (ends, values) = if shape.with_smooth { (2 * number, size_of::<f64>()) } else { (0, 0) };
        let each = [
            self.field_pixels.saturating_mul(size_of::<u32>() + ends),
            self.slot_pixels.saturating_mul(values * SLOTS),
            self.picture_bytes.saturating_mul(SLOTS),
            self.list_points.saturating_mul(2 * (2 * number + SurvivorList::<f32>::PLACE_BYTES)),
            self.rectangles.saturating_mul(3 * size_of::<Corners>()),
            self.cells.saturating_mul(CELL_COUNTS * size_of::<u32>() + size_of::<u8>()),
        ];
        each.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes as u64))
    }

    /// Bytes of a slot's pinned memory that rows are delivered in.
    pub(crate) fn delivered_bytes(&self, content: Content) -> usize {
        match content {
            Content::Dwells => self.slot_pixels * size_of::<u32>(),
            Content::SmoothValues => self.slot_pixels * (size_of::<u32>() + size_of::<f64>()),
            Content::Picture => self.picture_bytes,
        }
    }
}
