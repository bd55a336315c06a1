//! A view: the rectangle of the plane that an image shows, in exact numbers, and its pixels.

mod extent;
mod fit;
pub(crate) mod settings;
mod shape;
mod size_names;

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::quote::quote;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::exact::trig::{Direction, Real};
use dashu_int::UBig;
use std::fmt;
use std::str::FromStr;

/// The greatest width and height in pixels: 2^31 - 1, the limit of PNG.
pub const MAX_SIDE: u32 = i32::MAX as u32;
/// The most decimals of a rotation. 60 suffice for any image and keep the exact arithmetic fast.
pub(crate) const MAX_ROTATION_DECIMALS: u64 = 60;
/// The most digits of the numbers of a view that is rotated by no multiple of 90 degrees. Whether a rounded coordinate
/// lies above or below the midpoint of two numbers may depend on the last of them, and a sine takes much more time to so
/// many digits than a fraction. A centre at a zoom of 1e10000 has this many.
pub(crate) const MAX_ROTATED_DIGITS: usize = 10_000;
/// The greatest absolute value of a rotation, in degrees.
pub(crate) const MAX_ROTATION: i64 = 1_000_000;

/// The size of an image in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns, 1 to [`MAX_SIDE`].
    pub width: u32,
    /// Rows, 1 to [`MAX_SIDE`].
    pub height: u32,
}

impl Size {
    /// A size of `width` by `height` pixels, each 1 to [`MAX_SIDE`].
    ///
    /// # Errors
    /// When width or height is out of range.
    pub fn new(width: u32, height: u32) -> Result<Self, InputError> {
        for side in [width, height] {
            if !(1..=MAX_SIDE).contains(&side) {
                return Err(InputError::out_of_range(side.to_string()).about(Parameter::Size).accepts(SIZE_FORM));
            }
        }
        Ok(Self { width, height })
    }

    /// The number of pixels, width times height: at most 2^62.
    #[must_use]
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl FromStr for Size {
    type Err = InputError;

    /// Reads `WIDTHxHEIGHT`, or one of [`Self::names`].
    fn from_str(text: &str) -> Result<Self, InputError> {
        if let Some(named) = Self::named(text) {
            return named;
        }
        let wrong = |error: InputError| error.about(Parameter::Size).accepts(SIZE_FORM);
        let malformed = |problem: String| wrong(InputError::malformed(problem));
        let (width, height) = text
            .split_once(['x', 'X', '\u{d7}'])
            .ok_or_else(|| malformed(format!("{} has no \"x\" between width and height", quote(text))))?;
        let side = |name: &str, side: &str| -> Result<u32, InputError> {
            let side = side.trim();
            if side.is_empty() || !side.bytes().all(|b| b.is_ascii_digit()) {
                return Err(malformed(format!("{name} {} is not a whole number", quote(side))));
            }
            let side = side.trim_start_matches('0').parse().ok().filter(|s| (1..=MAX_SIDE).contains(s));
            side.ok_or_else(|| wrong(InputError::out_of_range(text)))
        };
        Ok(Self { width: side("width", width)?, height: side("height", height)? })
    }
}

impl fmt::Display for Size {
    /// Writes `WIDTHxHEIGHT`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

const SIZE_FORM: &str = "WIDTHxHEIGHT, each 1 to 2147483647, such as 1920x1080; or 720p, hd, 1080p, fhd, 1440p, qhd, 4k, \
uhd, 8k, square, desktop, ultrawide, tablet, phone, a0 to a6, letter, poster";

/// The point of its rectangle at which a pixel is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sample {
    /// The centre: column i is at xmin + (i + 1/2) (xmax - xmin) / W, row j from the top at
    /// ymax - (j + 1/2) (ymax - ymin) / H.
    #[default]
    Centre,
    /// The lower left corner: column i is at xmin + i (xmax - xmin) / W, row j from the top at
    /// ymin + (H - 1 - j) (ymax - ymin) / H.
    Corner,
}

dwell_kernels::named!(Sample, "sample": Centre => "centre", Corner => "corner");

/// The magnification of a view with square pixels.
#[derive(Clone, Debug)]
pub enum Magnification {
    /// The zoom, greater than 0: the height of the view in the plane is 4 / zoom.
    Zoom(Decimal),
    /// The height of the view in the plane, greater than 0.
    Height(Decimal),
}

/// The rectangle of the plane that the image shows, before rotation.
#[derive(Clone, Debug)]
pub enum Frame {
    /// A centre and a magnification, with square pixels: in the plane, width = height * W / H for W by H pixels.
    Centred {
        /// Real part of the centre.
        re: Decimal,
        /// Imaginary part of the centre.
        im: Decimal,
        /// The zoom or the height.
        magnification: Magnification,
    },
    /// Four edges; pixels need not be square.
    Bounds {
        /// The left edge.
        xmin: Decimal,
        /// The right edge, greater than the left.
        xmax: Decimal,
        /// The lower edge.
        ymin: Decimal,
        /// The upper edge, greater than the lower.
        ymax: Decimal,
    },
}

/// A view of the plane: everything that determines the point of each pixel.
///
/// ```
/// use dwell::{Frame, Magnification, Size, View};
/// let view = View::centred("-0.75", "0.1", "200")?.sized(Size::new(640, 360)?);
/// assert_eq!(view.size.pixels(), 230_400);
/// # Ok::<(), dwell::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct View {
    /// The rectangle of the plane, before rotation.
    pub frame: Frame,
    /// The counter-clockwise rotation of the view about its centre in degrees: -10^6 to 10^6, at most 60 decimals.
    pub rotation: Decimal,
    /// The size of the image in pixels.
    pub size: Size,
    /// The sample position in each pixel.
    pub sample: Sample,
    /// Whether the image is flipped upside down before it is rotated: row j shows what row H - 1 - j shows otherwise.
    /// The Burning Ship is usually shown flipped.
    pub flip: bool,
}

/// A frame in exact numbers: the centre, and half the width and height of a pixel, in plane units.
pub(crate) struct ExactFrame {
    pub(crate) centre: [Rational; 2],
    pub(crate) half_pixel: [Rational; 2],
}

impl View {
    /// The default size: 1920 x 1080.
    pub const DEFAULT_SIZE: Size = Size { width: 1920, height: 1080 };

    /// A view with the centre `re + i im` and the height 4 / `zoom`, of [`Self::DEFAULT_SIZE`], not rotated or flipped,
    /// sampled at pixel centres.
    ///
    /// # Errors
    /// When an argument is not a decimal number, or the zoom is not greater than 0.
    pub fn centred(re: &str, im: &str, zoom: &str) -> Result<Self, InputError> {
        let decimal = |parameter: Parameter, text: &str| -> Result<Decimal, InputError> {
            text.parse().map_err(|error: InputError| error.about(parameter))
        };
        let view = Self {
            frame: Frame::Centred {
                re: decimal(Parameter::Re, re)?,
                im: decimal(Parameter::Im, im)?,
                magnification: Magnification::Zoom(decimal(Parameter::Zoom, zoom)?),
            },
            rotation: Decimal::from(0),
            size: Self::DEFAULT_SIZE,
            sample: Sample::Centre,
            flip: false,
        };
        view.check()?;
        Ok(view)
    }

    /// The same view with another size in pixels.
    #[must_use]
    pub fn sized(mut self, size: Size) -> Self {
        self.size = size;
        self
    }

    /// Checks the conditions that the types do not guarantee: magnification greater than 0, XMIN < XMAX and YMIN <
    /// YMAX, rotation -10^6 to 10^6 degrees with at most 60 decimals.
    ///
    /// # Errors
    /// When one of them does not hold; the message names it.
    pub fn check(&self) -> Result<(), InputError> {
        match &self.frame {
            Frame::Centred { magnification, .. } => {
                let (parameter, value) = match magnification {
                    Magnification::Zoom(z) => (Parameter::Zoom, z),
                    Magnification::Height(h) => (Parameter::Height, h),
                };
                if !value.is_positive() {
                    return Err(InputError::out_of_range(value.text())
                        .about(parameter)
                        .accepts("above 0, at most 1e1000000"));
                }
            }
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                for (low, high, names) in [(xmin, xmax, "XMIN < XMAX"), (ymin, ymax, "YMIN < YMAX")] {
                    if low.to_rational() >= high.to_rational() {
                        let [low, high] = [low, high].map(|edge| edge.text().to_owned());
                        let problem = Problem::NotBelow { low, high };
                        return Err(InputError::new(problem).about(Parameter::Bounds).accepts(names));
                    }
                }
            }
        }
        let degrees = self.rotation.to_rational().magnitude();
        if degrees > Rational::whole(MAX_ROTATION) || self.rotation.decimals() > MAX_ROTATION_DECIMALS {
            return Err(InputError::out_of_range(self.rotation.text())
                .about(Parameter::Rotation)
                .accepts("degrees from -1000000 to 1000000, at most 60 decimals"));
        }
        self.check_rotated_digits()
    }

    /// Checks that a view with irrational coordinates has at most [`MAX_ROTATED_DIGITS`] digits in each number.
    fn check_rotated_digits(&self) -> Result<(), InputError> {
        let quarter_turns = self.rotation.to_rational().over(&Rational::whole(90));
        if quarter_turns.is_whole_scaled(0) {
            return Ok(());
        }
        let numbers = match &self.frame {
            Frame::Centred { re, im, magnification: Magnification::Zoom(zoom) } => {
                vec![(Parameter::Re, re), (Parameter::Im, im), (Parameter::Zoom, zoom)]
            }
            Frame::Centred { re, im, magnification: Magnification::Height(height) } => {
                vec![(Parameter::Re, re), (Parameter::Im, im), (Parameter::Height, height)]
            }
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                [xmin, xmax, ymin, ymax].map(|edge| (Parameter::Bounds, edge)).to_vec()
            }
        };
        match numbers.into_iter().find(|(_, number)| number.digits() > MAX_ROTATED_DIGITS) {
            None => Ok(()),
            Some((parameter, number)) => {
                let problem = Problem::TooManyDigits { digits: number.digits() };
                let accepted =
                    format!("at most {MAX_ROTATED_DIGITS} digits in a view rotated by no multiple of 90 degrees");
                Err(InputError::new(problem).about(parameter).accepts(accepted))
            }
        }
    }

    /// The exact height in the plane.
    #[cfg(feature = "toml")]
    pub(crate) fn exact_height(&self) -> Rational {
        self.exact().half_pixel[1].times_whole(2 * i64::from(self.size.height))
    }

    /// The exact centre, and half a pixel's width and height.
    pub(crate) fn exact(&self) -> ExactFrame {
        let (width, height) = (i64::from(self.size.width), i64::from(self.size.height));
        match &self.frame {
            Frame::Centred { re, im, magnification } => {
                let plane_height = match magnification {
                    Magnification::Zoom(zoom) => Rational::whole(4).over(&zoom.to_rational()),
                    Magnification::Height(height) => height.to_rational(),
                };
                let half = plane_height.over(&Rational::whole(2 * height));
                ExactFrame { centre: [re.to_rational(), im.to_rational()], half_pixel: [half.clone(), half] }
            }
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                // The middle and the half pixel have one denominator, since sums of such fractions take linear time.
                let side = |low: &Decimal, high: &Decimal, pixels: i64| {
                    let (low, high) = (low.to_rational(), high.to_rational());
                    let parts = Rational::whole(2 * pixels);
                    (low.plus(&high).times_whole(pixels).over(&parts), high.minus(&low).over(&parts))
                };
                let (re, half_x) = side(xmin, xmax, width);
                let (im, half_y) = side(ymin, ymax, height);
                ExactFrame { centre: [re, im], half_pixel: [half_x, half_y] }
            }
        }
    }

    /// The offset of the sample points of `column` to the right of the centre, in half pixels.
    pub(crate) fn half_pixels_right(&self, column: u32) -> i64 {
        2 * i64::from(column) - i64::from(self.size.width) + i64::from(self.sample == Sample::Centre)
    }

    /// The offset of the sample points of `row`, counted from the top, above the centre, in half pixels.
    pub(crate) fn half_pixels_up(&self, row: u32) -> i64 {
        let row = if self.flip { self.size.height - 1 - row } else { row };
        let offset = if self.sample == Sample::Centre { 1 } else { 2 };
        i64::from(self.size.height) - 2 * i64::from(row) - offset
    }

    /// The exact point of the pixel at `column` and `row` (from 0, from the top left), as real and imaginary part.
    /// `None` when the rotation is not a multiple of 360 degrees: points are then irrational in general.
    #[must_use]
    pub fn plane_from_pixel(&self, column: u32, row: u32) -> Option<[Rational; 2]> {
        if !Direction::new(&self.rotation.to_rational()).is_none() {
            return None;
        }
        let ExactFrame { centre: [re, im], half_pixel: [half_x, half_y] } = self.exact();
        Some([
            re.plus(&half_x.times_whole(self.half_pixels_right(column))),
            im.plus(&half_y.times_whole(self.half_pixels_up(row))),
        ])
    }

    /// The point of the pixel at `column` and `row`, as [`Self::plane_from_pixel`] has it; in a rotated view to within 2^-20 of a
    /// pixel.
    ///
    /// ```
    /// use dwell::{Decimal, Size, View};
    ///
    /// let upright = View::centred("0", "0", "1")?.sized(Size::new(2, 2)?);
    /// let turned = View { rotation: Decimal::from(90), ..upright.clone() };
    /// // Turned by a quarter, the pixel at the top right shows what was at the top left.
    /// assert_eq!(Some(turned.nearly_plane_from_pixel(1, 0)), upright.plane_from_pixel(0, 0));
    /// # Ok::<(), dwell::InputError>(())
    /// ```
    #[must_use]
    pub fn nearly_plane_from_pixel(&self, column: u32, row: u32) -> [Rational; 2] {
        if let Some(exact) = self.plane_from_pixel(column, row) {
            return exact;
        }
        let direction = Direction::new(&self.rotation.to_rational());
        let ExactFrame { centre: [re, im], half_pixel: [half_x, half_y] } = self.exact();
        let right = half_x.times_whole(self.half_pixels_right(column));
        let up = half_y.times_whole(self.half_pixels_up(row));
        // Each of the four products is within 2^-23 of half a pixel.
        let bits = 24 - half_x.floor_log2().unwrap_or(0).min(half_y.floor_log2().unwrap_or(0));
        let nearly = |product: Real| match product {
            Real::Rational(exact) => exact,
            product => Rational::new(product.enclose_scaled(bits).0, UBig::ONE).scaled_by_power_of_two(-bits),
        };
        [
            re.plus(&nearly(direction.cosine_times(&right))).plus(&nearly(direction.sine_times(&up.negated()))),
            im.plus(&nearly(direction.sine_times(&right))).plus(&nearly(direction.cosine_times(&up))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_or_rejected() {
        assert_eq!("31x17".parse::<Size>().unwrap(), Size { width: 31, height: 17 });
        assert_eq!("2147483647X1".parse::<Size>().unwrap().width, MAX_SIDE);
        for text in [
            "",
            "x",
            "1x",
            "x1",
            "0x5",
            "5x0",
            "-1x5",
            "5",
            "1x2x3",
            "2147483648x1",
            "1e3x5",
            "1.5x2",
            "99999999999999999999x1",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        assert!(Size::new(0, 1).is_err() && Size::new(1, u32::MAX).is_err());
    }

    #[test]
    fn sample_positions_follow_their_formulas() {
        let mut view = View::centred("0", "0", "1").unwrap().sized(Size::new(4, 2).unwrap());
        let number = |text: &str| text.parse::<Decimal>().unwrap();
        view.frame = Frame::Bounds { xmin: number("-2"), xmax: number("2"), ymin: number("-1"), ymax: number("1") };
        let at = |view: &View, i, j| view.plane_from_pixel(i, j).unwrap().map(|r| r.round::<f64>());
        assert_eq!(at(&view, 0, 0), [-1.5, 0.5]);
        assert_eq!(at(&view, 3, 1), [1.5, -0.5]);
        view.sample = Sample::Corner;
        assert_eq!(at(&view, 0, 0), [-2.0, 0.0]);
        assert_eq!(at(&view, 3, 1), [1.0, -1.0]);
        view.flip = true;
        assert_eq!(at(&view, 0, 0), [-2.0, -1.0]);
        assert_eq!(at(&view, 3, 1), [1.0, 0.0]);
    }

    #[test]
    fn zoom_and_height_give_the_same_view() {
        let zoomed = View::centred("1", "2", "8").unwrap().sized(Size::new(100, 50).unwrap());
        let mut tall = zoomed.clone();
        tall.frame = Frame::Centred {
            re: Decimal::from(1),
            im: Decimal::from(2),
            magnification: Magnification::Height("0.5".parse().unwrap()),
        };
        assert_eq!(zoomed.plane_from_pixel(3, 4), tall.plane_from_pixel(3, 4));
        assert!(View::centred("0", "0", "0").is_err() && View::centred("0", "0", "-1").is_err());
    }
}
