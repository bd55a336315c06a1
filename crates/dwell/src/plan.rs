//! A plan: a view and settings made ready for any engine. Coordinates are rounded here, once, so every engine iterates
//! the same points.

pub(crate) mod axes;
pub(crate) mod resolution;

use crate::base::error::InputError;
use crate::base::limits::{BYTES_PER_PIXEL, Limits};
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::plan::axes::Axes;
use crate::view::settings::{NumberKind, Settings};
use crate::view::{Size, View};
use dwell_kernels::{Formula, Map, Number, Recipe};
use std::ops::Range;

/// What an engine is handed.
#[derive(Clone, Debug)]
pub struct Plan {
    size: Size,
    view: View,
    escape_radius: Decimal,
    limit: u32,
    formula: Formula,
    recipe: Recipe,
    julia: Option<[Decimal; 2]>,
    coordinates: Coordinates,
    per_height: f64,
    warnings: Vec<String>,
}

/// Coordinates and R^2 in the number of the plan.
#[derive(Clone, Debug)]
pub enum Coordinates {
    /// In binary32.
    F32(Points<f32>),
    /// In binary64.
    F64(Points<f64>),
}

/// Coordinates, R^2 and what is iterated, in one number.
#[derive(Clone, Debug)]
pub struct Points<N> {
    /// Of every pixel.
    pub axes: Axes<N>,
    /// Formula, recipe, and the constant of a Julia set, each part of it rounded once.
    pub map: Map<N>,
    /// R^2, computed exactly and rounded once.
    pub radius_squared: N,
}

impl Plan {
    /// Plans a view.
    ///
    /// # Errors
    /// When a value is out of range, the view is too deep for the number (unless `settings.force`), or coordinates
    /// and a row of pixels would take more memory than `limits` allows.
    pub fn new(view: &View, settings: &Settings, limits: &Limits) -> Result<Self, InputError> {
        settings.check()?;
        view.check()?;
        let mut warnings = Vec::new();
        let coordinates = match settings.number {
            NumberKind::F32 => Coordinates::F32(points(view, settings, limits, &mut warnings)?),
            NumberKind::F64 => Coordinates::F64(points(view, settings, limits, &mut warnings)?),
        };
        Ok(Self {
            size: view.size,
            view: view.clone(),
            escape_radius: settings.escape_radius.clone(),
            limit: settings.limit,
            formula: settings.formula,
            recipe: settings.recipe,
            julia: settings.julia.clone(),
            coordinates,
            per_height: {
                let half_pixels = 2 * i64::from(view.size.height);
                Rational::whole(1).over(&view.exact().half_pixel[1].times_whole(half_pixels)).round()
            },
            warnings,
        })
    }

    /// The image's size.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }
    /// What it looks at.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }
    /// R.
    #[must_use]
    pub fn escape_radius(&self) -> &Decimal {
        &self.escape_radius
    }
    /// The greatest n tried.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }
    /// What is iterated.
    #[must_use]
    pub fn formula(&self) -> Formula {
        self.formula
    }
    /// c, for a Julia set.
    #[must_use]
    pub fn julia(&self) -> Option<&[Decimal; 2]> {
        self.julia.as_ref()
    }
    /// The order of roundings.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        self.recipe
    }
    /// The points.
    #[must_use]
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }
    /// The number.
    #[must_use]
    pub fn number(&self) -> NumberKind {
        match self.coordinates {
            Coordinates::F32(_) => NumberKind::F32,
            Coordinates::F64(_) => NumberKind::F64,
        }
    }
    /// Rows that are exact mirror images of rows above them, and the sum of the numbers of a row and of its image.
    #[must_use]
    pub fn mirrored_rows(&self) -> (Range<u32>, u32) {
        fn rows<N: Number>(points: &Points<N>) -> (Range<u32>, u32) {
            if points.map.formula.mirrors(points.map.julia) { points.axes.mirrored_rows() } else { (0..0, 0) }
        }
        match &self.coordinates {
            Coordinates::F32(points) => rows(points),
            Coordinates::F64(points) => rows(points),
        }
    }

    /// Bytes of the coordinates.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let Size { width, height } = self.size;
        match self.coordinates {
            Coordinates::F32(_) => Axes::<f32>::bytes(width, height),
            Coordinates::F64(_) => Axes::<f64>::bytes(width, height),
        }
    }

    /// 1 / the height of the view in the plane.
    #[must_use]
    pub fn per_height(&self) -> f64 {
        self.per_height
    }

    /// What the user should know although it is no error.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Plan {
    /// The same view through at most `columns` x `rows` of its own pixels, evenly spread.
    pub(crate) fn thinned(&self, columns: u32, rows: u32) -> Self {
        let size = Size { width: self.size.width.min(columns), height: self.size.height.min(rows) };
        fn thin<N: Number>(points: &Points<N>, size: Size) -> Points<N> {
            Points { axes: points.axes.thinned(size.width as usize, size.height as usize), ..points.clone() }
        }
        let coordinates = match &self.coordinates {
            Coordinates::F32(points) => Coordinates::F32(thin(points, size)),
            Coordinates::F64(points) => Coordinates::F64(thin(points, size)),
        };
        Self { size, coordinates, ..self.clone() }
    }
}

fn points<N: Number>(
    view: &View,
    settings: &Settings,
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> Result<Points<N>, InputError> {
    if let Err(error) = resolution::check::<N>(view, settings.number) {
        if !settings.force {
            return Err(error);
        }
        warnings.push(format!("{error}; drawn all the same"));
    }
    // All that grows with the image, before the first of it is computed: coordinates, and at least one row at a time.
    let coordinates = Axes::<N>::bytes(view.size.width, view.size.height);
    limits.reserve("coordinates and a row of pixels", coordinates + u64::from(view.size.width) * BYTES_PER_PIXEL)?;
    let radius = settings.escape_radius.to_rational();
    let julia = settings.julia.as_ref().map(|c| c.each_ref().map(|part| part.to_rational().round()));
    let map = Map { formula: settings.formula, recipe: settings.recipe, julia };
    Ok(Points { axes: Axes::new(view)?, map, radius_squared: radius.times(&radius).round() })
}
