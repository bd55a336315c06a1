//! Frames that show a whole set at any size and rotation.

use super::extent::Set;
use super::settings::Settings;
use super::{Frame, Magnification, Size, View};
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::exact::trig::{Direction, Real};
use dwell_kernels::with_standard_floats;

/// The share of the frame that a set takes, across or down: the margin is a sixteenth at both ends.
const SHARE: f64 = 0.875;
/// The share up to which a frame that is given counts as one that shows the whole set: the margin is a fiftieth.
const MOST_SHARE: f64 = 0.96;
/// The zoom around 0 of a view for which there is no set to fit.
const WITHOUT_SET: i64 = 1;

/// The rectangle of a set in the axes of a view: to the right and up in its picture.
struct Extent {
    /// The directions of the axes in the plane.
    axes: [[f64; 2]; 2],
    middle: [f64; 2],
    sides: [f64; 2],
}

impl View {
    /// The same view with a frame that shows the whole set of these settings, or the whole filled Julia set of their
    /// constant, at this size and rotation, with a margin of at least a sixteenth of the picture on each side. The centre
    /// and the height have two decimals. The frame of a set that is empty, or whose constant is above 10^9, is around 0
    /// with a zoom of 1.
    ///
    /// ```
    /// use dwell::{Settings, Size, View};
    /// let phone = View::centred("0", "0", "1")?.sized(Size::new(1170, 2532)?).fitted(&Settings::default());
    /// let [left, _] = phone.plane_from_pixel(0, 0).ok_or(dwell::InputError::malformed("rotated"))?;
    /// assert!(left.round::<f64>() < -2.0);
    /// # Ok::<(), dwell::InputError>(())
    /// ```
    #[must_use]
    pub fn fitted(self, settings: &Settings) -> Self {
        let frame = with_standard_floats(|| self.extent(settings).map(|extent| extent.frame(self.size)));
        Self {
            frame: frame.unwrap_or_else(|| centred([0.0; 2], Magnification::Zoom(Decimal::from(WITHOUT_SET)))),
            ..self
        }
    }

    /// The same view if it shows the whole set of these settings, else [`Self::fitted`].
    #[must_use]
    pub fn kept_whole(self, settings: &Settings) -> Self {
        let cuts = with_standard_floats(|| self.extent(settings).is_some_and(|extent| !extent.is_inside(&self)));
        if cuts { self.fitted(settings) } else { self }
    }

    /// The extent of the set in the axes of the view; `None` if it is empty or too large.
    fn extent(&self, settings: &Settings) -> Option<Extent> {
        let number = |c: &Decimal| c.to_rational().round::<f64>();
        let set = Set::new(settings.formula, settings.julia.as_ref().map(|c| c.each_ref().map(number)))?;
        let direction = Direction::new(&self.rotation.to_rational());
        let one = Rational::whole(1);
        let (cosine, sine) = (rounded(&direction.cosine_times(&one)), rounded(&direction.sine_times(&one)));
        let axes = [[cosine, sine], [-sine, cosine]];
        let mut extent = Extent { axes, middle: [0.0; 2], sides: [0.0; 2] };
        for (axis, [x, y]) in axes.into_iter().enumerate() {
            let (low, high) = (-set.reach([-x, -y])?, set.reach([x, y])?);
            extent.middle[axis] = low.midpoint(high);
            extent.sides[axis] = high - low;
        }
        Some(extent)
    }
}

impl Extent {
    /// The frame of an image of this size that shows the rectangle with its margin.
    fn frame(&self, size: Size) -> Frame {
        let [across, down] = self.sides;
        let height = down.max(across * f64::from(size.height) / f64::from(size.width)) / SHARE;
        let [[cosine, sine], _] = self.axes;
        let [right, up] = self.middle;
        let centre = [cosine * right - sine * up, sine * right + cosine * up];
        // Rounded up, so that the margin is no smaller.
        centred(centre, Magnification::Height(two_decimals((100.0 * height).ceil() / 100.0)))
    }

    /// Whether the rectangle lies inside the frame of a view.
    fn is_inside(&self, view: &View) -> bool {
        let exact = view.exact();
        let [re, im] = exact.centre.map(|c| c.round::<f64>());
        let [half_width, half_height] = exact.half_pixel.map(|half| half.round::<f64>());
        let half_sides = [half_width * f64::from(view.size.width), half_height * f64::from(view.size.height)];
        (0..2).all(|axis| {
            let [x, y] = self.axes[axis];
            let off = (self.middle[axis] - (re * x + im * y)).abs();
            off + self.sides[axis] / 2.0 <= half_sides[axis] * MOST_SHARE
        })
    }
}

/// A frame with its centre rounded to two decimals.
fn centred([re, im]: [f64; 2], magnification: Magnification) -> Frame {
    Frame::Centred { re: two_decimals(re), im: two_decimals(im), magnification }
}

/// A number rounded to two decimals. It is finite, so its digits are a decimal.
fn two_decimals(value: f64) -> Decimal {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    let short = if short == "-0" { "0" } else { short };
    short.parse().unwrap_or_else(|_| Decimal::from(0))
}

/// A cosine or sine, to within 2^-58.
fn rounded(value: &Real) -> f64 {
    let (low, high) = value.enclose(60);
    Rational::new(low + high, dashu_int::UBig::ONE << 61_usize).round()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_kernels::{Fold, Formula};

    fn view(width: u32, height: u32, rotation: &str) -> View {
        let mut view = View::centred("0", "0", "1").unwrap().sized(Size::new(width, height).unwrap());
        view.rotation = rotation.parse().unwrap();
        view
    }

    fn settings(fold: Fold, power: u32, julia: Option<[&str; 2]>) -> Settings {
        let julia = julia.map(|c| c.map(|part| part.parse().unwrap()));
        Settings { formula: Formula::new(fold, power).unwrap(), julia, ..Settings::default() }
    }

    /// The texts of a frame: re, im, height.
    fn texts(frame: &Frame) -> [&str; 3] {
        match frame {
            Frame::Centred { re, im, magnification: Magnification::Height(height) } => {
                [re.text(), im.text(), height.text()]
            }
            _ => panic!("{frame:?}"),
        }
    }

    #[test]
    fn frames_fit_the_size() {
        let mandelbrot = settings(Fold::None, 2, None);
        let [re, im, height] = texts(&view(1920, 1080, "0").fitted(&mandelbrot).frame).map(str::to_owned);
        assert_eq!((re.as_str(), im.as_str()), ("-0.76", "0"));
        assert!((2.56..2.62).contains(&height.parse::<f64>().unwrap()), "{height}");
        // On a phone the width decides.
        let phone = view(1170, 2532, "0").fitted(&mandelbrot);
        let height: f64 = texts(&phone.frame)[2].parse().unwrap();
        assert!((2.82..2.88).contains(&(height * 1170.0 / 2532.0)), "{height}");
        // Rotated by a right angle, it fits as in a picture that is as wide as this one is high.
        let [re, im, turned] = texts(&view(1170, 2532, "90").fitted(&mandelbrot).frame).map(str::to_owned);
        assert_eq!((re.as_str(), im.as_str()), ("-0.76", "0"));
        assert!(turned.parse::<f64>().unwrap() < 0.92 * height, "{turned}");
    }

    #[test]
    fn every_fitted_frame_holds_its_set_without_waste() {
        for (fold, power, julia) in [
            (Fold::None, 5, None),
            (Fold::None, 16, None),
            (Fold::Absolute, 2, None),
            (Fold::Conjugate, 3, None),
            (Fold::None, 2, Some(["-0.8", "0.156"])),
            (Fold::None, 2, Some(["0", "1"])),
            (Fold::None, 2, Some(["10", "20"])),
            (Fold::Absolute, 2, Some(["-1.6", "-0.02"])),
        ] {
            let settings = settings(fold, power, julia);
            for (width, height, rotation) in [(640, 360, "0"), (360, 640, "30"), (500, 500, "-45"), (1000, 10, "0")] {
                let fitted = view(width, height, rotation).fitted(&settings);
                let extent = fitted.extent(&settings).unwrap();
                assert!(extent.is_inside(&fitted), "{settings:?} {width}x{height}");
                let exact = fitted.exact();
                let shares = [0, 1].map(|axis| {
                    let pixels = f64::from([width, height][axis]);
                    extent.sides[axis] / (2.0 * pixels * exact.half_pixel[axis].round::<f64>())
                });
                assert!(shares.iter().any(|share| (0.85..=0.876).contains(share)), "{settings:?}: {shares:?}");
            }
        }
    }

    #[test]
    fn a_frame_is_kept_unless_it_cuts_the_set() {
        let mandelbrot = settings(Fold::None, 2, None);
        let mut home = View::centred("-0.75", "0", "1.5").unwrap();
        let kept = |view: &View| {
            matches!(
                &view.clone().kept_whole(&mandelbrot).frame,
                Frame::Centred { magnification: Magnification::Zoom(_), .. }
            )
        };
        assert!(kept(&home));
        home.size = Size::new(1170, 2532).unwrap();
        assert!(!kept(&home));
        home.rotation = Decimal::from(90);
        assert!(!kept(&home), "2.67 x 1.23 is too small for a set that is 2.47 x 2.25");
        let empty = settings(Fold::Absolute, 2, Some(["0", "3"]));
        assert!(matches!(home.fitted(&empty).frame, Frame::Centred { magnification: Magnification::Zoom(_), .. }));
    }
}
