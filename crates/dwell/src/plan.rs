//! A plan is a view and settings prepared for any engine. Coordinates are rounded here, once, so that every engine iterates
//! the same points.

pub(crate) mod axes;
pub(crate) mod points;
pub(crate) mod resolution;
mod rounded_line;

use crate::base::error::InputError;
use crate::base::limits::{BYTES_PER_PIXEL, Limits, resize};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::deep::points::DeepPoints;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::plan::axes::Axes;
use crate::view::settings::{NumberKind, Settings};
use crate::view::{MAX_SIDE, Size, View};
use dwell_kernels::{Formula, Kernels, Map, Number, Recipe, with_standard_floats};
use points::{DirectPoints, Points};
use std::ops::Range;
use std::sync::Arc;

/// The points, formula, recipe and limit that an engine computes a field from.
#[derive(Clone, Debug)]
pub struct Plan {
    size: Size,
    view: View,
    escape_radius: Decimal,
    limit: u64,
    formula: Formula,
    recipe: Recipe,
    julia: Option<[Decimal; 2]>,
    points: Arc<Points>,
    /// Whether the points are those of the view.
    of_view: bool,
    /// `None` until they are planned; then `Some(None)` where the number does not resolve them.
    finer: Option<Option<FinerPoints>>,
    warnings: Vec<String>,
}

/// The points of several samples within each pixel of a plan.
#[derive(Clone, Debug)]
pub(crate) struct FinerPoints {
    /// Those of the same view with [`Self::side`] times as many columns and rows.
    pub(crate) points: Arc<Points>,
    /// Samples along a side of a pixel.
    pub(crate) side: u32,
}

/// The numbers of samples along a side of a pixel that [`Plan::with_finer_points`] tries, the preferred one first.
const FINER_SIDES: [u32; 2] = [4, 2];

impl Plan {
    /// Plans a view.
    ///
    /// # Errors
    /// When a value is out of range, the view is too deep for the number (unless `settings.force`), or coordinates
    /// and a row of pixels would take more memory than `limits` allows.
    pub fn new(view: &View, settings: &Settings, limits: &Limits) -> Result<Self, InputError> {
        with_standard_floats(|| Self::planned(view, settings, limits))
    }

    fn planned(view: &View, settings: &Settings, limits: &Limits) -> Result<Self, InputError> {
        settings.check()?;
        view.check()?;
        let mut warnings = Vec::new();
        let points = match settings.number {
            NumberKind::F32 => Points::F32(direct(view, settings, limits, &mut warnings)?),
            NumberKind::F64 => Points::F64(direct(view, settings, limits, &mut warnings)?),
            NumberKind::Exact => {
                let Size { width, .. } = view.size;
                let offsets = DeepPoints::bytes(view.size);
                limits.reserve("offsets and a row of pixels", offsets + u64::from(width) * BYTES_PER_PIXEL)?;
                Points::Deep(DeepPoints::new(view, settings, limits)?)
            }
        };
        Ok(Self {
            size: view.size,
            view: view.clone(),
            escape_radius: settings.escape_radius.clone(),
            limit: settings.limit,
            formula: settings.formula,
            recipe: settings.recipe,
            julia: settings.julia.clone(),
            points: Arc::new(points),
            of_view: true,
            finer: None,
            warnings,
        })
    }

    /// The size of the image in pixels.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }
    /// The view that was planned.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }
    /// The escape radius R.
    #[must_use]
    pub fn escape_radius(&self) -> &Decimal {
        &self.escape_radius
    }
    /// The greatest n tried.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }
    /// The greatest n tried in f32 and f64, at most 2^32 - 1.
    #[must_use]
    pub fn direct_limit(&self) -> u32 {
        u32::try_from(self.limit).unwrap_or(u32::MAX)
    }
    /// The formula that is iterated.
    #[must_use]
    pub fn formula(&self) -> Formula {
        self.formula
    }
    /// The real and imaginary parts of the constant c of a Julia set; `None` for the parameter plane.
    #[must_use]
    pub fn julia(&self) -> Option<&[Decimal; 2]> {
        self.julia.as_ref()
    }
    /// The order of the roundings of one iteration.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        self.recipe
    }
    /// The points, one for each pixel.
    #[must_use]
    pub fn points(&self) -> &Points {
        &self.points
    }
    /// The same points, shared with every clone of this plan: an engine that keeps state for a plan recognises its points by
    /// their address ([`Arc::as_ptr`]) instead of comparing every coordinate.
    #[must_use]
    pub fn shared_points(&self) -> &Arc<Points> {
        &self.points
    }
    /// The number that dwells are computed in.
    #[must_use]
    pub fn number(&self) -> NumberKind {
        self.points.number()
    }
    /// The rows that are exact mirror images of rows above them, and the sum of the numbers of a row and of its image.
    #[must_use]
    pub fn mirrored_rows(&self) -> (Range<u32>, u32) {
        self.points.mirrored_rows()
    }

    /// Bytes of memory that the coordinates take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.points.bytes(self.size)
    }

    /// Sentences for the user about problems that are not errors.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Plan {
    /// The same plan with other points of the same size, number and map: coordinates that another program or publication
    /// computes ([`Axes::from_coordinates`]). Dwells are those of the given points. What depends on the view instead (its
    /// text, [`crate::truth`]) still refers to the points of the view.
    ///
    /// R^2 is the plan's own, or [`Number::BELOW_FOUR`]: the test |z|^2 > R^2 is then |z|^2 >= 4.
    ///
    /// # Errors
    /// When the size, the number or the map differs, or R^2 is another.
    pub fn with_points(self, points: Points) -> Result<Self, InputError> {
        match (self.points.as_ref(), &points) {
            (Points::F32(own), Points::F32(given)) => check_given(self.size, own, given)?,
            (Points::F64(own), Points::F64(given)) => check_given(self.size, own, given)?,
            (own, given) => {
                let problem = format!("points in {} do not fit a plan in {}", given.number(), own.number());
                return Err(InputError::new(Problem::Conflict(problem)).about(Parameter::View));
            }
        }
        Ok(Self { points: Arc::new(points), of_view: false, ..self })
    }

    /// The same plan with another limit, at least 1.
    #[must_use]
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit: limit.max(1), ..self }
    }

    /// The same view, reduced to at most `most` of its own pixels: blocks of `block` neighbours at even spacing.
    pub(crate) fn thinned(&self, most: Size, block: Size) -> Self {
        let (points, size) = self.points.thinned(most, block, 1);
        let thin = |FinerPoints { points, side }: &FinerPoints| {
            let (points, _) = points.thinned(most, block, *side);
            FinerPoints { points: Arc::new(points), side: *side }
        };
        let finer = self.finer.as_ref().map(|finer| finer.as_ref().map(thin));
        Self { size, points: Arc::new(points), finer, of_view: self.of_view && size == self.size, ..self.clone() }
    }

    /// The plan of a list of deep points of the same view, given by columns and rows, as rows of `width` points, of which the last is filled with the last point; `None` for other points. For
    /// [`crate::Engine::run`]: it has no finer points and no mirrored rows.
    ///
    /// # Errors
    /// When the memory for the list is exhausted.
    pub(crate) fn of_list(
        &self,
        points: &Points,
        width: u32,
        places: &mut Vec<(u32, u32)>,
    ) -> Result<Option<Self>, InputError> {
        let (Points::Deep(points), Some(last)) = (points, places.last().copied()) else { return Ok(None) };
        let height = places.len().div_ceil(width as usize);
        resize(places, height * width as usize, last, "a list of points")?;
        let size = Size { width, height: u32::try_from(height).unwrap_or(u32::MAX) };
        let points = Arc::new(Points::Deep(points.list(width, places)?));
        Ok(Some(Self { size, points, finer: None, of_view: false, warnings: Vec::new(), ..self.clone() }))
    }

    /// The same plan with the points of 4 x 4 samples in each pixel; of 2 x 2 where the number does not resolve those; with
    /// a warning and none where it does not resolve these either. They are the points of the same view with as many times
    /// more columns and rows.
    ///
    /// # Errors
    /// When the points of the plan are not those of its view, or the coordinates would take more memory than `limits`
    /// allows.
    pub(crate) fn with_finer_points(&self, limits: &Limits) -> Result<Self, InputError> {
        if self.finer.is_some() {
            return Ok(self.clone());
        }
        if !self.of_view {
            let problem = "the points of the plan are not those of its view, so that there are none between them";
            return Err(InputError::new(Problem::Conflict(problem.to_owned()))
                .about(Parameter::Samples)
                .accepts("1, or as many as the plan has"));
        }
        let settings = Settings {
            formula: self.formula,
            julia: self.julia.clone(),
            limit: self.limit,
            number: self.number(),
            recipe: self.recipe,
            escape_radius: self.escape_radius.clone(),
            force: false,
        };
        let mut planned = self.clone();
        for side in FINER_SIDES {
            let times = |length: u32| length.checked_mul(side).filter(|length| *length <= MAX_SIDE);
            let Some((width, height)) = times(self.size.width).zip(times(self.size.height)) else { continue };
            let view = self.view.clone().sized(Size { width, height });
            let is_resolved = match self.number() {
                NumberKind::F32 => resolution::check::<f32>(&view, settings.number),
                NumberKind::F64 => resolution::check::<f64>(&view, settings.number),
                NumberKind::Exact => Ok(()),
            };
            if is_resolved.is_ok() {
                let points = match &*self.points {
                    Points::Deep(points) => Arc::new(Points::Deep(points.finer(&view)?)),
                    _ => Self::new(&view, &settings, limits)?.points,
                };
                planned.finer = Some(Some(FinerPoints { points, side }));
                return Ok(planned);
            }
        }
        planned.finer = Some(None);
        planned.warnings.push(format!("{} resolves no more than one sample in a pixel here", settings.number));
        Ok(planned)
    }

    /// The points of several samples within each pixel, if [`Self::with_finer_points`] planned some.
    pub(crate) fn finer_points(&self) -> Option<&FinerPoints> {
        self.finer.as_ref()?.as_ref()
    }

    /// An upper bound of the bytes of memory that finer points take.
    pub(crate) fn finer_bytes(&self) -> u64 {
        u64::from(FINER_SIDES[0]) * self.bytes()
    }
}

/// Checks that given points can take the place of a plan's own.
fn check_given<N: Number>(size: Size, own: &DirectPoints<N>, given: &DirectPoints<N>) -> Result<(), InputError> {
    let conflict = |problem: String| InputError::new(Problem::Conflict(problem)).about(Parameter::View);
    let [columns, _, rows, _] = given.axes.arrays().map(<[N]>::len);
    if [columns, rows] != [size.width as usize, size.height as usize] {
        return Err(conflict(format!("{columns} x {rows} points do not fit a plan of {size}")));
    }
    if given.map != own.map {
        return Err(conflict("the map of the points differs from the plan's".to_owned()));
    }
    if given.radius_squared != own.radius_squared && given.radius_squared != N::BELOW_FOUR {
        let radius_squared = given.radius_squared.to_f64();
        return Err(InputError::out_of_range(format!("R^2 = {radius_squared}"))
            .about(Parameter::EscapeRadius)
            .accepts("the plan's own, or the number just below 4"));
    }
    Ok(())
}

/// The points of a view as coordinates in `N`.
fn direct<N: Kernels>(
    view: &View,
    settings: &Settings,
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> Result<DirectPoints<N>, InputError> {
    if let Err(error) = resolution::check::<N>(view, settings.number) {
        if !settings.force {
            return Err(error);
        }
        warnings.push(format!("{error}; drawn all the same"));
    }
    // Everything that grows with the image is reserved before any of it is computed: the coordinates and at least one row.
    let coordinates = Axes::<N>::bytes(view.size.width, view.size.height);
    limits.reserve("coordinates and a row of pixels", coordinates + u64::from(view.size.width) * BYTES_PER_PIXEL)?;
    let radius = settings.escape_radius.to_rational();
    let julia = settings.julia.as_ref().map(|c| c.each_ref().map(|part| part.to_rational().round()));
    let map = Map { formula: settings.formula, recipe: settings.recipe, julia };
    let half_pixels = 2 * i64::from(view.size.height);
    let per_height = Rational::whole(1).over(&view.exact().half_pixel[1].times_whole(half_pixels)).round();
    let radius_squared = radius.times(&radius).round();
    Ok(DirectPoints { axes: Axes::new(view)?, map, radius_squared, per_height, pixel: axes::pixel_steps(view)? })
}
