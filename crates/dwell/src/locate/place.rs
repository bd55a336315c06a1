//! From a special point to a location, and how many digits that needs.

use super::{Located, Region, Special, ZoomTo, modulus, rounded};
use crate::base::error::InputError;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::scene::location::{Fit, Location};
use crate::scene::{Automatic, Scene};
use crate::view::{Frame, MAX_ROTATED_DIGITS, Magnification};
use dashu_int::{IBig, UBig};
use dwell_kernels::deep::roots::search::Found;
use dwell_kernels::deep::roots::shape::Number;

/// Bits of a point beyond those of the zoom that shows it.
const SPARE_BITS: i64 = 60;
/// Digits of a zoom.
const DIGITS: usize = 6;
/// The middle of the set on the real axis, and the heights of views of a cardioid with its copy of the set and of a disc, for a size of 1.
const MIDDLE: f64 = -0.75;
const HEIGHT: f64 = 3.0;
const HEIGHT_OF_DISC: f64 = 1.5;
/// The height of the view of an embedded Julia set, in units of |D|^(-3/2).
const HEIGHT_OF_JULIA: f64 = 4.0;

/// The bits after the point that a location needs.
pub(super) fn bits(region: &Region, found: &Found, zoom_to: &ZoomTo) -> i64 {
    let of_zoom = match zoom_to {
        ZoomTo::Zoom(zoom) => zoom.to_rational().floor_log2().unwrap_or(0),
        // 0 for a Misiurewicz point.
        ZoomTo::Mini => found.size_bits,
        ZoomTo::Embedded => found.size_bits * 3 / 4,
    };
    of_zoom.max(-region.scale).max(0) + SPARE_BITS
}

/// The decimals of a number of so many bits after the point.
pub(super) fn decimals(bits: i64) -> i64 {
    (bits as f64 * std::f64::consts::LOG10_2).ceil() as i64 + 1
}

/// A value, cut off after so many decimals, which may be negative.
pub(super) fn after(value: &Rational, decimals: i64) -> Result<Decimal, InputError> {
    of_decimals(value, decimals, &Rational::whole(0))
}

/// A value, rounded to so many decimals, which may be negative: a point with few digits, such as -2, has them whatever the last bits of the value.
pub(super) fn nearest(value: &Rational, decimals: i64) -> Result<Decimal, InputError> {
    of_decimals(value, decimals, &Rational::new(IBig::ONE, UBig::from(2_u8)))
}

/// A value, cut off after so many decimals once so many units of the last one are added to its magnitude.
fn of_decimals(value: &Rational, decimals: i64, added: &Rational) -> Result<Decimal, InputError> {
    let scaled = value.magnitude().times(&Rational::decimal(IBig::ONE, decimals)).plus(added).floor_scaled(0);
    Decimal::of(if *value < Rational::whole(0) { -scaled } else { scaled }, -decimals)
}

/// |D|^(-3/2) times a height.
fn height_of_julia(derivative: Number) -> Result<Rational, InputError> {
    let size = modulus(derivative)?;
    // In [1, 4), and an even exponent.
    let exponent = size.floor_log2().unwrap_or(0).div_euclid(2) * 2;
    let mantissa = size.clone().scaled_by_power_of_two(-exponent).round::<f64>();
    let root = Rational::from_f64(mantissa.sqrt()).scaled_by_power_of_two(exponent / 2);
    Ok(Rational::from_f64(HEIGHT_OF_JULIA).over(&size.times(&root)))
}

impl Located {
    /// A location that shows the point as it was wanted, with the colours and the size of a scene: for instance that of the view in which it was found. Its limit and its scale are to be found from the view.
    /// A view of a minibrot is turned so that the minibrot is upright, unless its centre has more than 10,000 digits.
    ///
    /// # Errors
    /// When a number has more than 2,000,000 digits.
    pub fn location(&self, scene: &Scene) -> Result<Location, InputError> {
        let mut scene = scene.clone();
        let centre = [&self.re, &self.im].map(|part| part.to_rational());
        let decimals = [&self.re, &self.im].map(Decimal::decimals).into_iter().max().unwrap_or(0);
        let (name, title, height, offset) = match &self.point {
            Special::Minibrot { period, is_cardioid, shape: [size, derivative], .. } => {
                let of_size = modulus(*size)?;
                let times = |factor: f64| of_size.times(&Rational::from_f64(factor));
                let part = |part: f64| Rational::from_f64(part * MIDDLE).scaled_by_power_of_two(size.exponent);
                let is_whole = *is_cardioid && self.zoom_to == ZoomTo::Mini;
                let offset = if is_whole { size.parts.map(part) } else { [0, 0].map(Rational::whole) };
                let height = match &self.zoom_to {
                    ZoomTo::Mini if *is_cardioid => times(HEIGHT),
                    ZoomTo::Mini => times(HEIGHT_OF_DISC),
                    ZoomTo::Embedded => height_of_julia(*derivative)?,
                    ZoomTo::Zoom(zoom) => Rational::whole(4).over(&zoom.to_rational()),
                };
                let kind = if *is_cardioid { "Minibrot" } else { "Disc" };
                (format!("{}-{period}", kind.to_lowercase()), format!("{kind} of period {period}"), height, offset)
            }
            Special::Misiurewicz { preperiod, period, .. } => {
                let height = match &self.zoom_to {
                    ZoomTo::Zoom(zoom) => Rational::whole(4).over(&zoom.to_rational()),
                    ZoomTo::Mini | ZoomTo::Embedded => scene.view.exact_height(),
                };
                let title = format!("Misiurewicz point of preperiod {preperiod} and period {period}");
                (format!("misiurewicz-{preperiod}-{period}"), title, height, [0, 0].map(Rational::whole))
            }
        };
        let decimals = i64::try_from(decimals).unwrap_or(i64::MAX);
        let part = |axis: usize| nearest(&centre[axis].plus(&offset[axis]), decimals);
        let zoom = match &self.zoom_to {
            ZoomTo::Zoom(zoom) => zoom.clone(),
            _ => rounded(&Rational::whole(4).over(&height), DIGITS)?,
        };
        scene.view.frame = Frame::Centred { re: part(0)?, im: part(1)?, magnification: Magnification::Zoom(zoom) };
        let has_few_digits = decimals < i64::try_from(MAX_ROTATED_DIGITS).unwrap_or(0);
        scene.view.rotation = match &self.point {
            Special::Minibrot { turned, .. } if has_few_digits => turned.clone(),
            _ => Decimal::from(0),
        };
        scene.automatic = Automatic::ALL;
        scene.title = title;
        scene.source.clear();
        Ok(Location { name, notes: self.notes(), scene, fit: Fit::Never, newer: None, unused: Vec::new() })
    }

    /// What is proved, in one sentence.
    fn notes(&self) -> String {
        let Self { within, alone_within, point, .. } = self;
        match point {
            Special::Minibrot { size, .. } => format!(
                "size {}; located by dwell: the nucleus is proved, known to within {within}, the only one of its period within {alone_within}",
                size.to_rational().scientific()
            ),
            Special::Misiurewicz { multiplier, .. } => format!(
                "multiplier {multiplier}; located by dwell: the point is proved, known to within {within}, the only one of its kind within {alone_within}"
            ),
        }
    }
}
