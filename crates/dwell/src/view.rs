//! A view: what to look at, exactly.

pub(crate) mod settings;

use crate::base::error::{InputError, quote};
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;

/// The most pixels on a side: 2^31 - 1, as PNG has it.
pub const MAX_SIDE: u32 = i32::MAX as u32;
/// The most decimals of a rotation: enough for any use, and few enough that rounding stays quick.
pub(crate) const MAX_ROTATION_DECIMALS: u64 = 60;
/// The greatest rotation, in degrees, either way.
pub(crate) const MAX_ROTATION: i64 = 1_000_000;

/// A size in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns, 1 to [`MAX_SIDE`].
    pub width: u32,
    /// Rows, 1 to [`MAX_SIDE`].
    pub height: u32,
}

impl Size {
    /// A size.
    ///
    /// # Errors
    /// When a side is 0 or above [`MAX_SIDE`].
    pub fn new(width: u32, height: u32) -> Result<Self, InputError> {
        for (name, side) in [("width", width), ("height", height)] {
            if !(1..=MAX_SIDE).contains(&side) {
                return Err(InputError::new("", format!("{name} {side} is out of range")).accepted(SIZE_FORM));
            }
        }
        Ok(Self { width, height })
    }

    /// Reads `WIDTHxHEIGHT`.
    ///
    /// # Errors
    /// When it has another form or a side is out of range.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let wrong = |problem: String| InputError::new("", problem).accepted(SIZE_FORM);
        let (width, height) = text
            .split_once(['x', 'X', '\u{d7}'])
            .ok_or_else(|| wrong(format!("{} has no \"x\" between width and height", quote(text))))?;
        let side = |name: &str, text: &str| -> Result<u32, InputError> {
            let text = text.trim();
            if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
                return Err(wrong(format!("{name} {} is not a whole number", quote(text))));
            }
            let side = text.trim_start_matches('0').parse().ok().filter(|s| (1..=MAX_SIDE).contains(s));
            side.ok_or_else(|| wrong(format!("{name} {} is out of range", quote(text))))
        };
        Ok(Self { width: side("width", width)?, height: side("height", height)? })
    }

    /// Width times height.
    #[must_use]
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

const SIZE_FORM: &str = "WIDTHxHEIGHT, each 1 to 2147483647, such as 1920x1080";

/// Where in its square of the plane a pixel is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sample {
    /// In the middle: column i at xmin + (i + 1/2)(xmax - xmin)/W, row j from the top at ymax - (j + 1/2)(ymax -
    /// ymin)/H.
    #[default]
    Centre,
    /// At the lower left corner: xmin + i dx and ymin + (H - 1 - j) dy.
    Corner,
}

impl Sample {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Centre, Self::Corner];

    /// Its name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Centre => "centre",
            Self::Corner => "corner",
        }
    }
}

/// How large the view is, when its pixels are square.
#[derive(Clone, Debug)]
pub enum Magnification {
    /// height = 4 / zoom.
    Zoom(Decimal),
    /// The height in the plane.
    Height(Decimal),
}

/// The part of the plane that the image shows, before rotation.
#[derive(Clone, Debug)]
pub enum Frame {
    /// Around a centre, with square pixels: width = height * W / H.
    Centred {
        /// Real part of the centre.
        re: Decimal,
        /// Imaginary part of the centre.
        im: Decimal,
        /// How large.
        magnification: Magnification,
    },
    /// Edges taken as they stand: pixels need not be square.
    Bounds {
        /// Left edge.
        xmin: Decimal,
        /// Right edge.
        xmax: Decimal,
        /// Lower edge.
        ymin: Decimal,
        /// Upper edge.
        ymax: Decimal,
    },
}

/// What to look at: everything that decides which point each pixel is.
///
/// ```
/// use dwell::{Frame, Magnification, Size, View};
/// let view = View::centred("-0.75", "0.1", "200")?.sized(Size::new(640, 360)?);
/// assert_eq!(view.size.pixels(), 230_400);
/// # Ok::<(), dwell::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct View {
    /// The part of the plane.
    pub frame: Frame,
    /// Degrees by which the view is turned counter-clockwise about its centre.
    pub rotation: Decimal,
    /// Pixels.
    pub size: Size,
    /// Sample position.
    pub sample: Sample,
    /// Whether the picture is turned upside down, before it is rotated: row j shows what row H - 1 - j otherwise does.
    /// The Burning Ship is usually shown so.
    pub flip: bool,
}

/// A frame in exact numbers: centre and half of a pixel's sides.
pub(crate) struct ExactFrame {
    pub(crate) centre: [Rational; 2],
    pub(crate) half_pixel: [Rational; 2],
}

impl View {
    /// The default size: 1920 x 1080.
    pub const DEFAULT_SIZE: Size = Size { width: 1920, height: 1080 };

    /// A view around `re + i im`, its height 4 / `zoom`, at [`Self::DEFAULT_SIZE`], upright, sampled at pixel centres.
    ///
    /// # Errors
    /// When a text is no decimal number or the zoom is not above 0.
    pub fn centred(re: &str, im: &str, zoom: &str) -> Result<Self, InputError> {
        let named = |name: &'static str| move |e: InputError| e.within(name);
        let view = Self {
            frame: Frame::Centred {
                re: Decimal::parse(re).map_err(named("re"))?,
                im: Decimal::parse(im).map_err(named("im"))?,
                magnification: Magnification::Zoom(Decimal::parse(zoom).map_err(named("zoom"))?),
            },
            rotation: Decimal::from(0),
            size: Self::DEFAULT_SIZE,
            sample: Sample::Centre,
            flip: false,
        };
        view.check()?;
        Ok(view)
    }

    /// The same view with other pixels.
    #[must_use]
    pub fn sized(mut self, size: Size) -> Self {
        self.size = size;
        self
    }

    /// Checks what the types cannot: magnification above 0, bounds in order, rotation in range.
    ///
    /// # Errors
    /// Which of them is wrong.
    pub fn check(&self) -> Result<(), InputError> {
        match &self.frame {
            Frame::Centred { magnification, .. } => {
                let (name, value) = match magnification {
                    Magnification::Zoom(z) => ("zoom", z),
                    Magnification::Height(h) => ("height", h),
                };
                if !value.is_positive() {
                    return Err(InputError::new(name, format!("{} is not above 0", quote(value.text())))
                        .accepted("above 0, at most 1e1000000"));
                }
            }
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                for (low, high, names) in [(xmin, xmax, "XMIN < XMAX"), (ymin, ymax, "YMIN < YMAX")] {
                    if low.to_rational() >= high.to_rational() {
                        let problem = format!("{} is not below {}", quote(low.text()), quote(high.text()));
                        return Err(InputError::new("bounds", problem).accepted(names));
                    }
                }
            }
        }
        let degrees = self.rotation.to_rational().magnitude();
        if degrees > Rational::whole(MAX_ROTATION) || self.rotation.decimals() > MAX_ROTATION_DECIMALS {
            return Err(InputError::new("rotation", format!("{} is out of range", quote(self.rotation.text())))
                .accepted("degrees from -1000000 to 1000000, at most 60 decimals"));
        }
        Ok(())
    }

    /// The centre and half of a pixel's width and height, exactly.
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
                let side = |low: &Decimal, high: &Decimal, pixels: i64| {
                    let (low, high) = (low.to_rational(), high.to_rational());
                    let middle = low.plus(&high).over(&Rational::whole(2));
                    (middle, high.minus(&low).over(&Rational::whole(2 * pixels)))
                };
                let (re, half_x) = side(xmin, xmax, width);
                let (im, half_y) = side(ymin, ymax, height);
                ExactFrame { centre: [re, im], half_pixel: [half_x, half_y] }
            }
        }
    }

    /// The column `i` is sampled this many half pixels right of the centre.
    pub(crate) fn half_pixels_right(&self, column: u32) -> i64 {
        2 * i64::from(column) - i64::from(self.size.width) + i64::from(self.sample == Sample::Centre)
    }

    /// The row `j`, from the top, is sampled this many half pixels above the centre.
    pub(crate) fn half_pixels_up(&self, row: u32) -> i64 {
        let row = if self.flip { self.size.height - 1 - row } else { row };
        let offset = if self.sample == Sample::Centre { 1 } else { 2 };
        i64::from(self.size.height) - 2 * i64::from(row) - offset
    }

    /// The exact point that a pixel is, as real and imaginary part; `None` when the view is rotated by other than
    /// whole turns, where points are irrational.
    #[must_use]
    pub fn plane_from_pixel(&self, column: u32, row: u32) -> Option<[Rational; 2]> {
        if !crate::exact::trig::Direction::new(&self.rotation.to_rational()).is_none() {
            return None;
        }
        let ExactFrame { centre: [re, im], half_pixel: [half_x, half_y] } = self.exact();
        Some([
            re.plus(&half_x.times_whole(self.half_pixels_right(column))),
            im.plus(&half_y.times_whole(self.half_pixels_up(row))),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(Size::parse("31x17").unwrap(), Size { width: 31, height: 17 });
        assert_eq!(Size::parse("2147483647X1").unwrap().width, MAX_SIDE);
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
            assert!(Size::parse(text).is_err(), "{text}");
        }
        assert!(Size::new(0, 1).is_err() && Size::new(1, u32::MAX).is_err());
    }

    #[test]
    fn sample_positions_are_those_of_the_design() {
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
    fn zoom_and_height_are_the_same_thing() {
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
