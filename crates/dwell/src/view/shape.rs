//! Square pixels: the size of an image whose pixels are square in bounds that are given, and the frame with square pixels.

use super::{Frame, MAX_SIDE, Magnification, Size};
use crate::base::error::InputError;
#[cfg(feature = "toml")]
use crate::exact::decimal::Decimal;
#[cfg(feature = "toml")]
use crate::exact::roots::quotient;
use dwell_kernels::with_standard_floats;

/// The heights that are tried differ from the height of the exact shape by at most this share.
const TOLERANCE: f64 = 0.03;
/// The most heights that are tried.
const TRIED: u32 = 100;

impl Frame {
    /// The size of about `pixels` pixels, both sides even, in which pixels of these bounds are square as nearly as
    /// possible; `None` for a centred frame, whose pixels are square at every size. If an image of that shape would be less
    /// than two pixels wide or high, it is two pixels wide or high, and not longer than `pixels` allows.
    ///
    /// ```
    /// use dwell::{Frame, Size};
    /// let [xmin, xmax, ymin, ymax] = [-2, 1, -1, 1].map(Into::into);
    /// let bounds = Frame::Bounds { xmin, xmax, ymin, ymax };
    /// assert_eq!(bounds.size_of_shape(1920 * 1080), Some(Size::new(1764, 1176)?));
    /// # Ok::<(), dwell::InputError>(())
    /// ```
    #[must_use]
    pub fn size_of_shape(&self, pixels: u64) -> Option<Size> {
        let Self::Bounds { xmin, xmax, ymin, ymax } = self else { return None };
        let across = xmax.to_rational().minus(&xmin.to_rational());
        let down = ymax.to_rational().minus(&ymin.to_rational());
        // Scaled, since the sides of a deep view are below the range of f64. A ratio beyond it is infinite or 0.
        let exponent = -down.floor_log2().unwrap_or(0);
        let [across, down] = [across, down].map(|side| side.scaled_by_power_of_two(exponent).round::<f64>());
        Some(with_standard_floats(|| of_ratio(across / down, pixels)))
    }

    /// The frame with square pixels that has the same exact centre and the same exact height.
    ///
    /// ```
    /// use dwell::{Frame, Magnification};
    /// let [xmin, xmax, ymin, ymax] = [-2, 1, -1, 2].map(Into::into);
    /// let Frame::Centred { re, im, magnification: Magnification::Height(height) } =
    ///     (Frame::Bounds { xmin, xmax, ymin, ymax }).with_square_pixels()?
    /// else {
    ///     unreachable!()
    /// };
    /// assert_eq!([re.text(), im.text(), height.text()], ["-0.5", "0.5", "3"]);
    /// # Ok::<(), dwell::InputError>(())
    /// ```
    ///
    /// # Errors
    /// When a number has more than 2,000,000 digits or an exponent beyond 10^6 in absolute value.
    pub fn with_square_pixels(&self) -> Result<Self, InputError> {
        let Self::Bounds { xmin, xmax, ymin, ymax } = self else { return Ok(self.clone()) };
        let (re, im) = (xmin.midpoint(xmax)?, ymin.midpoint(ymax)?);
        Ok(Self::Centred { re, im, magnification: Magnification::Height(ymax.minus(ymin)?) })
    }
}

impl Magnification {
    /// The height of the view: exact where it has a finite decimal, otherwise rounded towards 0 after `digits` digits.
    ///
    /// # Errors
    /// As [`Frame::with_square_pixels`].
    #[cfg(feature = "toml")]
    pub fn height(&self, digits: usize) -> Result<Decimal, InputError> {
        match self {
            Self::Height(height) => Ok(height.clone()),
            Self::Zoom(zoom) => quotient(4, zoom, digits).map(|(height, _)| height),
        }
    }
}

/// The size of about so many pixels whose width is as nearly as possible `ratio` times its height.
fn of_ratio(ratio: f64, pixels: u64) -> Size {
    if ratio < 1.0 {
        let Size { width, height } = wide(1.0 / ratio, pixels);
        return Size { width: height, height: width };
    }
    wide(ratio, pixels)
}

/// [`of_ratio`] for a ratio of at least 1.
fn wide(ratio: f64, pixels: u64) -> Size {
    let ratio = ratio.min(pixels as f64 / 4.0).max(1.0);
    let exact = (pixels as f64 / ratio).sqrt();
    let middle = even(exact);
    let tried = (0..=TRIED).flat_map(|i| [middle.saturating_sub(2 * i), middle.saturating_add(2 * i)]);
    let near = tried.filter(|height| *height >= 2 && (f64::from(*height) - exact).abs() <= TOLERANCE * exact);
    let sizes = near.chain([middle]).map(|height| Size { width: even(f64::from(height) * ratio), height });
    // Of equally good sizes the first, which is nearest to the wanted number of pixels.
    let error = |size: &Size| (f64::from(size.width) / f64::from(size.height) / ratio - 1.0).abs();
    sizes.min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(Size { width: middle, height: middle })
}

/// The nearest even side, 2 to [`MAX_SIDE`] - 1.
fn even(side: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; NaN becomes 0")]
    let half = (side / 2.0).round().clamp(1.0, f64::from(MAX_SIDE / 2)) as u32;
    2 * half.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_shape_of_their_bounds() {
        let pixels = 1920 * 1080;
        for ratio in [1.0, 1.5, 16.0 / 9.0, 0.5625, 3.75, 1.618_033, 0.1, 40.0] {
            let size = of_ratio(ratio, pixels);
            let shape = f64::from(size.width) / f64::from(size.height);
            assert!((shape / ratio - 1.0).abs() < 0.002, "{ratio}: {size}");
            assert!((size.pixels() as f64 / pixels as f64 - 1.0).abs() < 0.07, "{ratio}: {size}");
            assert!(size.width.is_multiple_of(2) && size.height.is_multiple_of(2));
        }
        assert_eq!(of_ratio(16.0 / 9.0, pixels), Size { width: 1920, height: 1080 });
        assert_eq!(of_ratio(1.5, pixels), Size { width: 1764, height: 1176 });
    }

    #[test]
    fn extreme_shapes_have_extreme_sides() {
        for ratio in [f64::INFINITY, 1e300, 1e7] {
            assert_eq!(of_ratio(ratio, 1 << 21), Size { width: 1 << 20, height: 2 });
        }
        assert_eq!(of_ratio(0.0, 1 << 21), Size { width: 2, height: 1 << 20 });
        let size = |bounds: [&str; 4]| {
            let [xmin, xmax, ymin, ymax] = bounds.map(|edge| edge.parse().unwrap());
            Frame::Bounds { xmin, xmax, ymin, ymax }.size_of_shape(1_920_000).unwrap()
        };
        assert_eq!(size(["0", "3e-1000", "0", "4e-1000"]), Size { width: 1200, height: 1600 });
        assert_eq!(size(["0", "1e1000", "0", "1e-1000"]).height, 2);
    }
}
