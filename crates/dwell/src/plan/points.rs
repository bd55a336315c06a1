//! The points of a plan, as a kernel needs them. This is the only file that distinguishes one description of points from
//! another.
//!
//! A plan describes its points in one way: directly, by coordinates in f32 or f64, or by offsets from the centre of a deep view. Code that needs the coordinates
//! themselves (an engine, a test) implements [`PointsVisitor`], whose method is generic over the number, and so does not
//! match on the description. Another description is a
//! variant of [`Points`] and a method of the visitor with a default that returns `None`, as that of offsets: code that does not implement it
//! refuses such points with [`Points::unsupported_by`].

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::deep::points::DeepPoints;
use crate::plan::axes::{Axes, thinned};
use crate::view::Size;
use crate::view::settings::NumberKind;
use dwell_kernels::{Kernels, Map};
use std::ops::Range;

/// The points of a plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Points {
    /// Coordinates in binary32.
    F32(DirectPoints<f32>),
    /// Coordinates in binary64.
    F64(DirectPoints<f64>),
    /// Offsets from the centre, for proved dwells at any depth.
    Deep(DeepPoints),
}

/// Points given by coordinates that a kernel reads directly, and the map that is iterated at them.
#[derive(Clone, Debug)]
pub struct DirectPoints<N> {
    /// The coordinates of every pixel.
    pub axes: Axes<N>,
    /// Formula, recipe, and the constant of a Julia set, of which each part is rounded once.
    pub map: Map<N>,
    /// R^2, computed exactly and rounded once; [`dwell_kernels::Number::BELOW_FOUR`] where the test is |z|^2 >= 4.
    pub radius_squared: N,
    /// 1 / the height of the view in the plane, since distances are in heights of the view. It is within the range of f64,
    /// since coordinates in f64 do not resolve a view whose height is outside that range.
    pub per_height: f64,
    /// The steps in the plane of a pixel to the right and of a pixel up, each as real and imaginary part, in heights of the
    /// view: slopes are directions in the picture.
    pub pixel: [[f64; 2]; 2],
}

/// Code that works on points in any description.
pub trait PointsVisitor {
    /// The result of a visit.
    type Output;
    /// Works on points given by coordinates.
    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Self::Output;
    /// Works on points given by offsets from the centre of a deep view; `None` where that is not supported.
    fn deep(self, _: &DeepPoints) -> Option<Self::Output>
    where
        Self: Sized,
    {
        None
    }
}

impl Points {
    /// The error of an engine, of this name, that does not know how these points are described.
    #[must_use]
    pub fn unsupported_by(&self, engine: &str) -> InputError {
        let problem = format!("{engine} does not compute {}", self.description());
        InputError::new(Problem::Unsupported(problem)).about(Parameter::View)
    }

    /// What describes them, in the plural.
    #[must_use]
    pub fn description(&self) -> &'static str {
        match self {
            Self::F32(_) | Self::F64(_) => "coordinates",
            Self::Deep(_) => "dwells in exact arithmetic",
        }
    }

    /// Whether they are given by coordinates: [`PointsVisitor::direct`] is called for them.
    #[must_use]
    pub fn are_direct(&self) -> bool {
        matches!(self, Self::F32(_) | Self::F64(_))
    }

    /// Calls the method of `visitor` for this description; `None` where the visitor does not know it.
    pub fn visit<V: PointsVisitor>(&self, visitor: V) -> Option<V::Output> {
        match self {
            Self::F32(points) => Some(visitor.direct(points)),
            Self::F64(points) => Some(visitor.direct(points)),
            Self::Deep(points) => visitor.deep(points),
        }
    }

    /// The number that dwells are computed in.
    #[must_use]
    pub fn number(&self) -> NumberKind {
        match self {
            Self::F32(_) => NumberKind::F32,
            Self::F64(_) => NumberKind::F64,
            Self::Deep(_) => NumberKind::Exact,
        }
    }

    /// Bytes of the coordinates of an image of this size.
    pub(crate) fn bytes(&self, Size { width, height }: Size) -> u64 {
        match self {
            Self::F32(_) => Axes::<f32>::bytes(width, height),
            Self::F64(_) => Axes::<f64>::bytes(width, height),
            Self::Deep(_) => DeepPoints::bytes(Size { width, height }),
        }
    }

    /// At most `size` of these points, in blocks of neighbours at even spacing, and their number of columns and rows. With
    /// `side` points along each side of a pixel, `size` and `block` are numbers of pixels.
    pub(crate) fn thinned(&self, size: Size, block: Size, side: u32) -> (Self, Size) {
        fn thin<N: Kernels>(points: &DirectPoints<N>, size: Size, block: Size, side: u32) -> (DirectPoints<N>, Size) {
            let sides = |size: Size| [size.width as usize, size.height as usize];
            let axes = points.axes.thinned(sides(size), sides(block), side as usize);
            let [columns, _, rows, _] = axes.arrays().map(|axis| axis.len() as u32);
            let thinned = Size { width: columns, height: rows };
            (DirectPoints { axes, ..points.clone() }, thinned)
        }
        match self {
            Self::F32(points) => {
                let (points, size) = thin(points, size, block, side);
                (Self::F32(points), size)
            }
            Self::F64(points) => {
                let (points, size) = thin(points, size, block, side);
                (Self::F64(points), size)
            }
            Self::Deep(points) => {
                let columns = thinned(points.columns(), size.width as usize, block.width as usize, side as usize);
                let rows = thinned(points.rows(), size.height as usize, block.height as usize, side as usize);
                let size = Size { width: columns.len() as u32, height: rows.len() as u32 };
                (Self::Deep(points.reduced(columns, rows)), size)
            }
        }
    }

    /// The rows that are exact mirror images of rows above them, and the sum of the numbers of a row and of its image.
    pub(crate) fn mirrored_rows(&self) -> (Range<u32>, u32) {
        struct MirroredRows;
        impl PointsVisitor for MirroredRows {
            type Output = (Range<u32>, u32);
            fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Self::Output {
                if points.map.formula.mirrors(points.map.julia) { points.axes.mirrored_rows() } else { (0..0, 0) }
            }
        }
        self.visit(MirroredRows).unwrap_or_default()
    }
}
