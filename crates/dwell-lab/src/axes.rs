//! The points of a scene by the coordinate rule of a publication.

use crate::convention::{AxisRule, Convention, Escape};
use dwell::{
    Axes, Decimal, DirectPoints, Frame, InputError, Kernels, Limits, Number, Parameter, Plan, Points, Problem,
    Rational, Scene, View,
};
use dwell_kernels::with_standard_floats;

/// The plan of a scene under a convention: the points are those of its coordinate rule, and the test |z|^2 >= 4 is R^2 just
/// below 4.
///
/// A plan always has the real axis to the right and its first row on top. `transposed` and `upward` say how a publication
/// arranges what it records and change no point: every rule starts from the lower left corner of the bounds.
///
/// # Errors
/// When a value of the scene is out of range, a rule other than `exact` has no bounds to start from or is to be rotated or
/// flipped, or the escape radius is not 2 where the test is |z|^2 >= 4.
pub fn plan(scene: &Scene, convention: &Convention, limits: &Limits) -> Result<Plan, InputError> {
    if scene.settings.limit > scene.settings.direct_limit().into() {
        let problem = format!("the laboratory compares dwells of 32 bits, and {} is more", scene.settings.limit);
        return Err(InputError::new(Problem::Unsupported(problem)).about(Parameter::MaxIterations));
    }
    let plan = Plan::new(&scene.sample_view()?, &scene.settings, limits)?;
    if convention.axes == AxisRule::Exact && convention.escape == Escape::Beyond {
        return Ok(plan);
    }
    if convention.escape == Escape::AtLeast && scene.settings.escape_radius.to_rational() != Rational::whole(2) {
        let problem = Problem::Conflict("the test |z|^2 >= 4 needs the escape radius 2".to_owned());
        return Err(InputError::new(problem).about(Parameter::EscapeRadius).accepts("2"));
    }
    let points = with_standard_floats(|| match plan.points() {
        Points::F32(points) => Ok(Points::F32(by_rule(points, plan.view(), convention)?)),
        Points::F64(points) => Ok(Points::F64(by_rule(points, plan.view(), convention)?)),
        other => Err(other.unsupported_by("the laboratory")),
    })?;
    plan.with_points(points)
}

/// Points with the coordinates and the test of a convention in place of their own.
fn by_rule<N: Kernels>(
    points: &DirectPoints<N>,
    view: &View,
    convention: &Convention,
) -> Result<DirectPoints<N>, InputError> {
    let radius_squared = match convention.escape {
        Escape::Beyond => points.radius_squared,
        Escape::AtLeast => N::BELOW_FOUR,
    };
    let axes = match lines::<N>(convention.axes, view)? {
        None => points.axes.clone(),
        Some([re, im]) => {
            let (width, height) = (i64::from(view.size.width), i64::from(view.size.height));
            Axes::from_coordinates(
                (0..width).map(|column| re.at(column)).collect(),
                (0..height).rev().map(|row| im.at(row)).collect(),
            )?
        }
    };
    Ok(DirectPoints { axes, radius_squared, ..points.clone() })
}

/// The rules of the real and of the imaginary axis of a view; `None` for the rule `exact`.
///
/// # Errors
/// When the view has no bounds, or is rotated or flipped.
pub(crate) fn lines<N: Number>(rule: AxisRule, view: &View) -> Result<Option<[Line<N>; 2]>, InputError> {
    if rule == AxisRule::Exact {
        return Ok(None);
    }
    let Frame::Bounds { xmin, xmax, ymin, ymax } = &view.frame else {
        let problem = Problem::Missing("the coordinates of a publication are computed from bounds".to_owned());
        return Err(InputError::new(problem).about(Parameter::Bounds).accepts("XMIN,XMAX,YMIN,YMAX"));
    };
    if view.flip || view.rotation.to_rational() != Rational::whole(0) {
        let problem = Problem::Conflict("the views of a publication are neither rotated nor flipped".to_owned());
        return Err(InputError::new(problem).about(Parameter::Rotation).accepts("0"));
    }
    let line = |low: &Decimal, high: &Decimal, pixels: u32| Line::new(rule, low, high, pixels);
    Ok(Some([line(xmin, xmax, view.size.width), line(ymin, ymax, view.size.height)]))
}

/// The coordinates of an axis by a published rule. Operations are rounded in `N`, in the order in which they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<N> {
    rule: AxisRule,
    /// The lower edge; the centre, rounded once, for the rule `centred-step`, since that publication gives the centre.
    origin: N,
    /// max - min.
    extent: N,
    /// (max - min) / n.
    step: N,
    pixels: u32,
}

impl<N: Number> Line<N> {
    fn new(rule: AxisRule, low: &Decimal, high: &Decimal, pixels: u32) -> Self {
        let (low, high) = (low.to_rational(), high.to_rational());
        let extent = high.round::<N>() - low.round::<N>();
        let origin = match rule {
            AxisRule::CentredStep => low.plus(&high).over(&Rational::whole(2)).round(),
            _ => low.round(),
        };
        Self { rule, origin, extent, step: extent / whole::<N>(i64::from(pixels)), pixels }
    }

    /// The coordinate number `i`, from 0 at the lower edge. Numbers outside the image are points outside its bounds.
    pub(crate) fn at(&self, i: i64) -> N {
        let pixels = i64::from(self.pixels);
        match self.rule {
            AxisRule::Fraction => whole::<N>(i) / whole::<N>(pixels) * self.extent + self.origin,
            AxisRule::FusedStep => whole::<N>(i).fma(self.step, self.origin),
            AxisRule::CentredStep => whole::<N>(i - pixels / 2) * self.step + self.origin,
            AxisRule::Step | AxisRule::Exact => whole::<N>(i) * self.step + self.origin,
        }
    }
}

/// The number nearest to an integer below 2^53.
fn whole<N: Number>(value: i64) -> N {
    N::nearest(value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::{NumberKind, Settings, Size};

    fn scene(bounds: [&str; 4], size: (u32, u32), number: NumberKind) -> Scene {
        let [xmin, xmax, ymin, ymax] = bounds.map(|edge| edge.parse().unwrap());
        let mut scene = Scene { settings: Settings { number, ..Settings::default() }, ..Scene::default() };
        scene.view = scene.view.sized(Size::new(size.0, size.1).unwrap());
        scene.view.frame = Frame::Bounds { xmin, xmax, ymin, ymax };
        scene
    }

    fn rule(axes: AxisRule) -> Convention {
        Convention { axes, ..Convention::default() }
    }

    /// The coordinates of a plan in f32 (as f64) and in f64.
    fn coordinates(scene: &Scene, convention: &Convention) -> [Vec<f64>; 2] {
        let plan = plan(scene, convention, &Limits::default()).unwrap();
        match plan.points() {
            Points::F32(points) => {
                let [re, _, _, im] = points.axes.arrays();
                [re, im].map(|line| line.iter().map(|v| f64::from(*v)).collect())
            }
            Points::F64(points) => {
                let [re, _, _, im] = points.axes.arrays();
                [re, im].map(<[f64]>::to_vec)
            }
            _ => unreachable!("two numbers"),
        }
    }

    const GENOVA: [&str; 4] = ["-2", "1", "-1", "1"];

    #[test]
    fn every_rule_is_rounded_as_published() {
        let (w, h) = (1500_u32, 1000_u32);
        for (axes, wide, narrow) in [
            (
                AxisRule::Fraction,
                (|i, n| -2.0 + f64::from(i) / f64::from(n) * 3.0) as fn(u32, u32) -> f64,
                (|i, n| -2.0 + i as f32 / n as f32 * 3.0) as fn(u32, u32) -> f32,
            ),
            (
                AxisRule::Step,
                |i, n| f64::from(i) * (3.0 / f64::from(n)) - 2.0,
                |i, n| i as f32 * (3.0 / n as f32) - 2.0,
            ),
            (
                AxisRule::FusedStep,
                |i, n| f64::from(i).mul_add(3.0 / f64::from(n), -2.0),
                |i, n| (i as f32).mul_add(3.0 / n as f32, -2.0),
            ),
            (
                AxisRule::CentredStep,
                |i, n| (f64::from(i) - f64::from(n / 2)) * (3.0 / f64::from(n)) - 0.5,
                |i, n| (i as f32 - (n / 2) as f32) * (3.0 / n as f32) - 0.5,
            ),
        ] {
            let [re, im] = coordinates(&scene(GENOVA, (w, h), NumberKind::F64), &rule(axes));
            assert!((0..w).all(|i| re[i as usize] == wide(i, w)), "{axes:?}");
            assert_eq!((re.len(), im.len()), (1500, 1000));
            let [re, _] = coordinates(&scene(GENOVA, (w, h), NumberKind::F32), &rule(axes));
            assert!((0..w).all(|i| re[i as usize] == f64::from(narrow(i, w))), "{axes:?}");
        }
        // The rules differ from each other and from ours.
        let fraction = coordinates(&scene(GENOVA, (w, h), NumberKind::F64), &rule(AxisRule::Fraction));
        let step = coordinates(&scene(GENOVA, (w, h), NumberKind::F64), &rule(AxisRule::Step));
        let fused = coordinates(&scene(GENOVA, (w, h), NumberKind::F64), &rule(AxisRule::FusedStep));
        assert!(fraction != step && step != fused);
    }

    #[test]
    fn rows_start_at_the_lower_edge_and_the_first_is_on_top() {
        for axes in [AxisRule::Fraction, AxisRule::Step, AxisRule::FusedStep, AxisRule::CentredStep] {
            for upward in [false, true] {
                let convention = Convention { upward, ..rule(axes) };
                let [re, im] = coordinates(&scene(["-2.6", "1.4", "-2", "2"], (8, 4), NumberKind::F64), &convention);
                assert_eq!(im, [1.0, 0.0, -1.0, -2.0], "{axes:?}");
                assert_eq!((re.len(), re[0]), (8, -2.6), "{axes:?}");
            }
        }
        // The centre is rounded once: (-2.6 + 1.4) / 2 in f64 is not -0.6.
        let [re, _] =
            coordinates(&scene(["-2.6", "1.4", "-2", "2"], (8, 4), NumberKind::F64), &rule(AxisRule::CentredStep));
        assert_eq!(re[4], -0.6);
    }

    #[test]
    fn the_test_at_least_four_is_r_squared_just_below() {
        let at_least = Convention { escape: Escape::AtLeast, ..Convention::default() };
        let mut scene = scene(GENOVA, (4, 4), NumberKind::F32);
        let plan = super::plan(&scene, &at_least, &Limits::default()).unwrap();
        assert!(matches!(plan.points(), Points::F32(points) if points.radius_squared == 4_f32.next_down()));
        scene.settings.escape_radius = "3".parse().unwrap();
        let error = super::plan(&scene, &at_least, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains("needs the escape radius 2"), "{error}");
    }

    #[test]
    fn a_published_rule_needs_bounds_and_no_rotation() {
        let step = rule(AxisRule::Step);
        let error = super::plan(&Scene::default(), &step, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains("computed from bounds"), "{error}");
        let mut scene = scene(GENOVA, (4, 4), NumberKind::F64);
        scene.view.rotation = "30".parse().unwrap();
        let error = super::plan(&scene, &step, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains("neither rotated nor flipped"), "{error}");
    }
}
