//! Whether a number type resolves a view: whether the pixel step is large enough that neighbouring pixels are different
//! points.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::exact::rational::Rational;
use crate::exact::trig::Direction;
use crate::view::settings::NumberKind;
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
            return Err(too_deep::<N>(view, kind, name, &step, &largest[axis], &two_ulp));
        }
    }
    Ok(())
}

fn too_deep<N: Number>(
    view: &View,
    kind: NumberKind,
    axis: &'static str,
    step: &Rational,
    largest: &Rational,
    two_ulp: &Rational,
) -> InputError {
    // The condition step >= 2 * 2^(e - p + 1), where 2^e <= largest < 2^(e+1), solved for p.
    let coordinate = largest.floor_log2().unwrap_or(0);
    let needed = coordinate + 2 - step.floor_log2().unwrap_or(0);
    let problem = Problem::TooDeep {
        number: kind.name(),
        has_bits: N::SIGNIFICAND_BITS,
        needed_bits: needed,
        axis,
        step: step.scientific(),
        largest: largest.scientific(),
        spacing: two_ulp.over(&Rational::whole(2)).scientific(),
    };
    let most = match &view.frame {
        Frame::Centred { .. } => {
            let height = two_ulp.times_whole(i64::from(view.size.height));
            format!("zoom up to {}", Rational::whole(4).over(&height).scientific())
        }
        Frame::Bounds { .. } => format!("pixels at least {} apart", two_ulp.scientific()),
    };
    InputError::new(problem).about(Parameter::View).accepts(format!("here, at this size, {most}"))
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
    fn the_zoom_in_the_message_is_accepted() {
        let error = check::<f64>(&at("1e300", 1080), NumberKind::F64).unwrap_err().to_string();
        let offered = error.split("zoom up to ").nth(1).unwrap().trim_end_matches(')');
        assert!(check::<f64>(&at(offered, 1080), NumberKind::F64).is_ok(), "{offered}");
    }

    #[test]
    fn bits_needed_for_a_zoom_of_1e13() {
        assert!((50..=56).contains(&bits_needed(&at("1e13", 1080))));
    }
}
