//! Whether a number resolves a view: whether neighbouring pixels are far enough apart to be different points.

use crate::base::error::InputError;
use crate::exact::rational::Rational;
use crate::exact::trig::Direction;
use crate::view::settings::NumberKind;
use crate::view::{ExactFrame, Frame, View};
use dwell_kernels::Number;

/// Refuses a view whose pixel step on either axis is under 2 ulp of that axis's largest |coordinate| in the number, or
/// whose coordinates the number cannot hold at all.
///
/// # Errors
/// Names the axis, the step, the spacing of the number there, and what would be needed.
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
        // Both axes of the image run through both of the plane: the larger coordinate binds both steps.
        let both = if largest[0] > largest[1] { largest[0].clone() } else { largest[1].clone() };
        largest = [both.clone(), both];
    }
    for (axis, name) in ["real axis", "imaginary axis"].into_iter().enumerate() {
        let step = half_pixel[axis].times_whole(2);
        let coordinate: N = largest[axis].round();
        if !coordinate.to_f64().is_finite() {
            return Err(InputError::new(
                "view",
                format!("coordinates reach {} on the {name}, beyond {}", largest[axis].scientific(), kind.name()),
            )
            .accepted(format!("coordinates up to 2^{}", N::MAX_EXPONENT)));
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
    axis: &str,
    step: &Rational,
    largest: &Rational,
    two_ulp: &Rational,
) -> InputError {
    // step >= 2 * 2^(e - p + 1) where 2^e <= largest < 2^(e+1), solved for p.
    let coordinate = largest.floor_log2().unwrap_or(0);
    let needed = coordinate + 2 - step.floor_log2().unwrap_or(0);
    let problem = format!(
        "too deep for {}: pixels on the {axis} are {} apart, and near {} this number has steps of {}; {} bits would be needed, it has {}",
        kind.name(),
        step.scientific(),
        largest.scientific(),
        two_ulp.over(&Rational::whole(2)).scientific(),
        needed,
        N::SIGNIFICAND_BITS,
    );
    let f64_would_do = kind == NumberKind::F32 && needed <= i64::from(f64::SIGNIFICAND_BITS);
    let most = match &view.frame {
        Frame::Centred { .. } => {
            let height = two_ulp.times_whole(i64::from(view.size.height));
            format!("zoom up to {}", Rational::whole(4).over(&height).scientific())
        }
        Frame::Bounds { .. } => format!("pixels at least {} apart", two_ulp.scientific()),
    };
    let hint = if f64_would_do {
        "use --number f64; or --force to draw it all the same".to_owned()
    } else {
        "a lower zoom or, where there are several, fewer pixels resolve it; --force draws it all the same, in blocks"
            .to_owned()
    };
    InputError::new("view", problem).accepted(format!("here, at this size, {most}")).hint(hint)
}

/// The bits of significand that a view needs, for lists; 0 when a coordinate range is a single point.
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
        // Near 1.75, an f64 ulp is 2^-52. Steps of exactly 2^-51 pass, at one row a zoom of 4 / 2^-51 = 2^53; less does not.
        let zoom = |text: &str| View::centred("-1.75", "0", text).unwrap().sized(Size::new(1, 1).unwrap());
        assert!(check::<f64>(&zoom("9007199254740992"), NumberKind::F64).is_ok());
        assert!(check::<f64>(&zoom("9007199254740993"), NumberKind::F64).is_err());
        assert!(check::<f32>(&zoom("16777216"), NumberKind::F32).is_ok());
        assert!(check::<f32>(&zoom("16777217"), NumberKind::F32).is_err());
    }

    #[test]
    fn says_what_would_be_needed() {
        let error = check::<f64>(&at("1e14", 1080), NumberKind::F64).unwrap_err();
        assert!(error.to_string().contains("bits would be needed"), "{error}");
        let error = check::<f32>(&at("1e7", 1080), NumberKind::F32).unwrap_err();
        assert!(error.hint_text().unwrap().contains("f64"), "{error}");
        let far = View::centred("1e400", "0", "1e-390").unwrap();
        assert!(check::<f64>(&far, NumberKind::F64).unwrap_err().to_string().contains("beyond f64"));
    }

    #[test]
    fn the_zoom_that_is_offered_is_accepted() {
        let error = check::<f64>(&at("1e300", 1080), NumberKind::F64).unwrap_err().to_string();
        let offered = error.split("zoom up to ").nth(1).unwrap().trim_end_matches(')');
        assert!(check::<f64>(&at(offered, 1080), NumberKind::F64).is_ok(), "{offered}");
    }

    #[test]
    fn bits() {
        assert!((50..=56).contains(&bits_needed(&at("1e13", 1080))));
    }
}
