//! The size of an image whose pixels are square in bounds that are given.

use super::{Frame, MAX_SIDE, Size};
use dwell_kernels::with_standard_floats;

/// The heights that are tried differ from the height of the exact shape by at most this share.
const TOLERANCE: f64 = 0.03;
/// The most heights that are tried.
const TRIED: u32 = 100;

impl Frame {
    /// The size of about `pixels` pixels, both sides even, in which pixels of these bounds are square as nearly as
    /// possible; `None` for a centred frame, whose pixels are square at every size. The sides of an image that is more
    /// than 2^31 times as wide as it is high, or as high as it is wide, are the greatest and the smallest there are.
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
        // A ratio beyond the range of f64 is infinite or 0.
        Some(with_standard_floats(|| of_ratio(across.over(&down).round(), pixels)))
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
            assert!(size.width % 2 == 0 && size.height % 2 == 0);
        }
        assert_eq!(of_ratio(16.0 / 9.0, pixels), Size { width: 1920, height: 1080 });
        assert_eq!(of_ratio(1.5, pixels), Size { width: 1764, height: 1176 });
    }

    #[test]
    fn extreme_shapes_have_extreme_sides() {
        for (ratio, side) in [(f64::INFINITY, MAX_SIDE - 1), (1e300, MAX_SIDE - 1)] {
            assert_eq!(of_ratio(ratio, 1 << 21), Size { width: side, height: 2 });
        }
        assert_eq!(of_ratio(0.0, 1 << 21), Size { width: 2, height: MAX_SIDE - 1 });
    }
}
