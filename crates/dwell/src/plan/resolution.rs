//! Whether a number type resolves a view: whether the pixel step is large enough that neighbouring pixels are different
//! points.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::exact::rational::Rational;
use crate::exact::trig::Direction;
use crate::view::settings::{NumberKind, Settings};
use crate::view::{ExactFrame, Frame, View};
use dwell_kernels::Number;

/// Checks that `N` resolves a view: on both axes the pixel step is at least 2 ulp of the axis's largest |coordinate|,
/// and that coordinate is finite in `N`.
///
/// # Errors
/// When it does not. The message names the axis, the pixel step, the spacing of `N` there and the significand bits that
/// the view needs.
pub(crate) fn check<N: Number>(view: &View, kind: NumberKind) -> Result<(), InputError> {
    let ExactFrame { centre, half_pixel } = view.exact();
    let turned = !Direction::new(&view.rotation.to_rational()).is_none();
    let last = [view.size.width - 1, view.size.height - 1];
    let reach = |axis: usize| {
        let at = |i: u32| if axis == 0 { view.half_pixels_right(i) } else { view.half_pixels_up(i) };
        let end = |i: u32| centre[axis].plus(&half_pixel[axis].times_whole(at(i))).magnitude();
        let (first, last) = (end(0), end(last[axis]));
        if first > last { first } else { last }
    };
    let mut largest = [reach(0), reach(1)];
    if turned {
        // Each axis of a rotated image crosses both axes of the plane, so both steps are compared with the larger
        // coordinate.
        let both = if largest[0] > largest[1] { largest[0].clone() } else { largest[1].clone() };
        largest = [both.clone(), both];
    }
    for (axis, name) in ["real axis", "imaginary axis"].into_iter().enumerate() {
        let step = half_pixel[axis].times_whole(2);
        let coordinate: N = largest[axis].round();
        if !coordinate.to_f64().is_finite() {
            let problem = Problem::TooFar { number: kind.name(), axis: name, largest: largest[axis].scientific() };
            return Err(InputError::new(problem)
                .about(Parameter::View)
                .accepts(format!("coordinates up to 2^{}", N::MAX_EXPONENT)));
        }
        let ulp = coordinate.ulp_exponent();
        let two_ulp = Rational::whole(2).scaled_by_power_of_two(ulp);
        if step < two_ulp {
            let problem = too_deep(kind, name, &step, &largest[axis], coordinate);
            let most = match &view.frame {
                Frame::Centred { .. } => {
                    let height = two_ulp.times_whole(i64::from(view.size.height));
                    format!("zoom up to {}", Rational::whole(4).over(&height).scientific())
                }
                Frame::Bounds { .. } => format!("pixels at least {} apart", two_ulp.scientific()),
            };
            return Err(InputError::new(problem).about(Parameter::View).accepts(format!("here, at this size, {most}")));
        }
    }
    Ok(())
}

/// What is wrong with a pixel step of less than 2 ulp of the largest |coordinate| of an axis. `rounded` is that coordinate
/// in `N`.
fn too_deep<N: Number>(
    kind: NumberKind,
    axis: &'static str,
    step: &Rational,
    largest: &Rational,
    rounded: N,
) -> Problem {
    let spacing = |rounded: N| Rational::whole(1).scaled_by_power_of_two(rounded.ulp_exponent());
    // The condition step >= 2 * 2^(e - p + 1), where 2^e <= rounded < 2^(e+1), solved for p. It is the rounded coordinate,
    // which may be the next power of two, that decides the ulp.
    let exponent = Rational::from_f64(rounded.to_f64()).floor_log2();
    let needed = exponent.map(|e| e + 2 - step.floor_log2().unwrap_or(0));
    match needed {
        Some(needed_bits) if needed_bits > i64::from(N::SIGNIFICAND_BITS) => Problem::TooDeep {
            number: kind.name(),
            has_bits: N::SIGNIFICAND_BITS,
            needed_bits,
            axis,
            step: step.scientific(),
            largest: largest.scientific(),
            spacing: spacing(rounded).scientific(),
        },
        // The bits suffice, or the coordinate is 0: the ulp is larger because the number has no smaller exponent.
        _ => {
            let resolves = |ulp: i64| *step >= Rational::whole(2).scaled_by_power_of_two(ulp);
            let wider = kind == NumberKind::F32 && resolves(largest.round::<f64>().ulp_exponent());
            Problem::TooSmall {
                number: kind.name(),
                axis,
                step: step.scientific(),
                spacing: spacing(N::default()).scientific(),
                resolved_by: wider.then_some(NumberKind::F64.name()),
            }
        }
    }
}

/// Whether f64 takes neighbouring pixels of a Julia set to the same number by the first step, wherever they are in the view, although it tells them apart before: near 0
/// their difference becomes N |z|^(N-1) times as large, which has to be at least 2 ulp of the constant.
pub(crate) fn is_lost_by_a_step(view: &View, settings: &Settings) -> bool {
    let Some(c) = &settings.julia else { return false };
    let Some(of_c) = c.iter().filter_map(|part| part.to_rational().floor_log2()).max() else { return false };
    let ExactFrame { centre, half_pixel } = view.exact();
    let size = [view.size.width, view.size.height].map(i64::from);
    let reach = |axis: usize| centre[axis].magnitude().plus(&half_pixel[axis].times_whole(size[axis]));
    // Upper bounds of log2 |z|, of the size of a pixel and of N.
    let modulus = [0, 1].into_iter().filter_map(|axis| reach(axis).floor_log2()).max().unwrap_or(0) + 2;
    let pixel = half_pixel.iter().filter_map(|half| half.times_whole(2).floor_log2()).max().unwrap_or(0) + 1;
    let power = settings.formula.power();
    let after = i64::from(power.ilog2() + 1) + i64::from(power - 1) * modulus + pixel;
    after < of_c - 51
}

/// The significand bits that a view needs so that neighbouring pixels are 2 ulp apart: floor(log2 c) + 2 - floor(log2
/// s) for the largest |coordinate| c and the pixel step s of an axis, whichever axis needs more. Rotation is ignored.
#[must_use]
pub fn bits_needed(view: &View) -> i64 {
    let ExactFrame { centre, half_pixel } = view.exact();
    (0..2)
        .map(|axis| {
            let size = if axis == 0 { view.size.width } else { view.size.height };
            let largest = centre[axis].magnitude().plus(&half_pixel[axis].times_whole(i64::from(size)));
            let step = half_pixel[axis].times_whole(2);
            largest.floor_log2().unwrap_or(0) + 2 - step.floor_log2().unwrap_or(0)
        })
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Size;

    fn at(zoom: &str, height: u32) -> View {
        View::centred("-1.75", "0.01", zoom).unwrap().sized(Size::new(64, height).unwrap())
    }

    #[test]
    fn the_boundary_is_two_ulp() {
        // Near 1.75 an f64 ulp is 2^-52, so a step of exactly 2^-51 passes and a smaller one does not. With one row,
        // that step is a zoom of 4 / 2^-51 = 2^53.
        let zoom = |text: &str| View::centred("-1.75", "0", text).unwrap().sized(Size::new(1, 1).unwrap());
        assert!(check::<f64>(&zoom("9007199254740992"), NumberKind::F64).is_ok());
        assert!(check::<f64>(&zoom("9007199254740993"), NumberKind::F64).is_err());
        assert!(check::<f32>(&zoom("16777216"), NumberKind::F32).is_ok());
        assert!(check::<f32>(&zoom("16777217"), NumberKind::F32).is_err());
    }

    #[test]
    fn the_message_states_the_bits_needed() {
        let error = check::<f64>(&at("1e14", 1080), NumberKind::F64).unwrap_err();
        assert!(error.to_string().contains("bits would be needed"), "{error}");
        let error = check::<f32>(&at("1e7", 1080), NumberKind::F32).unwrap_err();
        let Problem::TooDeep { number: "f32", needed_bits: ..=53, .. } = error.problem() else { panic!("{error}") };
        let far = View::centred("1e400", "0", "1e-390").unwrap();
        assert!(check::<f64>(&far, NumberKind::F64).unwrap_err().to_string().contains("beyond f64"));
    }

    #[test]
    fn more_bits_are_said_to_be_needed_only_where_they_are() {
        let one = |re: &str, zoom: &str, size: u32| {
            View::centred(re, "0", zoom).unwrap().sized(Size::new(size, size).unwrap())
        };
        // In f32, 1 - 2^-26 rounds to 1, whose ulp is twice that of the numbers below 1.
        let zoom = (1_u64 << 25).to_string();
        let error = check::<f32>(&one("0.99999998509883880615234375", &zoom, 1), NumberKind::F32).unwrap_err();
        assert!(matches!(error.problem(), Problem::TooDeep { needed_bits: 25, has_bits: 24, .. }), "{error}");
        // Around 0 the range of exponents ends before the bits do; a coordinate of 0 alone needs no bits.
        for (zoom, size) in [("1e322", 64), ("1e330", 1), ("1e400", 64), ("1e400", 1)] {
            let error = check::<f64>(&one("0", zoom, size), NumberKind::F64).unwrap_err();
            assert!(matches!(error.problem(), Problem::TooSmall { resolved_by: None, .. }), "{error}");
            assert!(error.to_string().contains("the smallest steps of this number, near 0, are 4.94e-324"), "{error}");
        }
        let error = check::<f32>(&one("0", "1e44", 64), NumberKind::F32).unwrap_err();
        assert!(matches!(error.problem(), Problem::TooSmall { resolved_by: Some("f64"), .. }), "{error}");
        let error = check::<f32>(&one("0", "1e400", 64), NumberKind::F32).unwrap_err();
        assert!(matches!(error.problem(), Problem::TooSmall { resolved_by: None, .. }), "{error}");
    }

    #[test]
    fn the_zoom_in_the_message_is_accepted() {
        let error = check::<f64>(&at("1e300", 1080), NumberKind::F64).unwrap_err().to_string();
        let offered = error.split("zoom up to ").nth(1).unwrap().trim_end_matches(')');
        assert!(check::<f64>(&at(offered, 1080), NumberKind::F64).is_ok(), "{offered}");
    }

    #[test]
    fn a_julia_set_near_0_is_lost_by_a_step() {
        let of = |julia: Option<[&str; 2]>, re: &str, zoom: &str| {
            let settings =
                Settings { julia: julia.map(|c| c.map(|part| part.parse().unwrap())), ..Settings::default() };
            is_lost_by_a_step(&View::centred(re, "0", zoom).unwrap(), &settings)
        };
        let dendrite = Some(["0", "1"]);
        assert!(of(dendrite, "0", "1e40") && of(dendrite, "1e-9", "1e12"));
        assert!(!of(dendrite, "0", "1e5") && !of(dendrite, "0.3", "1e12"));
        assert!(!of(Some(["0", "0"]), "0", "1e40") && !of(None, "0", "1e40"));
    }

    #[test]
    fn bits_needed_for_a_zoom_of_1e13() {
        assert!((50..=56).contains(&bits_needed(&at("1e13", 1080))));
    }
}
