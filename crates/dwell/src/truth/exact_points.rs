//! The exact points of the pixels of a view, as intervals with any number of bits. In a view that is not rotated the
//! coordinates are rational. Rotated by an angle whose sine or cosine is irrational, they are irrational, and intervals
//! are their only exact representation.

use crate::exact::rational::Rational;
use crate::exact::trig::{Direction, Real};
use crate::view::{ExactFrame, View};
use dashu_int::IBig;

/// A point of the plane that can be enclosed in an arbitrarily small rectangle.
pub(crate) trait Enclosed {
    /// Integers low and high for the real and for the imaginary part, with low <= part * 2^bits <= high and
    /// high - low <= 4; high = low only if part * 2^bits is that integer.
    fn enclose(&self, bits: usize) -> [(IBig, IBig); 2];
}

impl Enclosed for [Rational; 2] {
    fn enclose(&self, bits: usize) -> [(IBig, IBig); 2] {
        self.each_ref().map(|part| Real::Rational(part.clone()).enclose(bits))
    }
}

/// Guard bits of centre and steps: 2^33 times the error of a step is less than one unit of the last requested bit.
const GUARD_BITS: usize = 40;

/// The points of all pixels of a view.
#[derive(Debug)]
pub(crate) struct ExactPoints {
    view: View,
    centre: [Rational; 2],
    /// The vectors of half a pixel to the right and half a pixel up.
    right: [Real; 2],
    up: [Real; 2],
    /// Centre and steps with the number of bits that is requested most often.
    usual: FixedSteps,
}

/// Intervals of the centre and the half-pixel vectors in fixed point with `bits` + [`GUARD_BITS`] bits.
#[derive(Debug)]
struct FixedSteps {
    bits: usize,
    centre: [(IBig, IBig); 2],
    right: [(IBig, IBig); 2],
    up: [(IBig, IBig); 2],
}

impl ExactPoints {
    /// The points of `view`. Intervals with `usual_bits` bits are the fastest.
    pub(crate) fn new(view: &View, usual_bits: usize) -> Self {
        let ExactFrame { centre, half_pixel } = view.exact();
        let [right, up] = half_pixel_vectors(view, half_pixel);
        let usual = FixedSteps::new(&centre, [&right, &up], usual_bits);
        Self { view: view.clone(), centre, right, up, usual }
    }

    /// The vectors of half a pixel to the right and half a pixel up.
    pub(crate) fn half_pixels(&self) -> [&[Real; 2]; 2] {
        [&self.right, &self.up]
    }

    /// The point of a pixel.
    pub(crate) fn at(&self, column: u32, row: u32) -> ExactPoint<'_> {
        self.at_half_pixels(self.view.half_pixels_right(column), self.view.half_pixels_up(row))
    }

    /// The point at so many half pixels to the right of the centre and above it.
    pub(crate) fn at_half_pixels(&self, right: i64, up: i64) -> ExactPoint<'_> {
        ExactPoint { points: self, right, up }
    }
}

/// The vectors of half a pixel to the right and half a pixel up, for the sides of half a pixel.
fn half_pixel_vectors(view: &View, [half_x, half_y]: [Rational; 2]) -> [[Real; 2]; 2] {
    let zero = || Real::Rational(Rational::whole(0));
    let direction = Direction::new(&view.rotation.to_rational());
    if direction.is_none() {
        return [[Real::Rational(half_x), zero()], [zero(), Real::Rational(half_y)]];
    }
    // As in `axes.rs`: the offset from the centre of a pixel u to the right and v up is u (cos, sin) + v (-sin, cos).
    let right = [direction.cosine_times(&half_x), direction.sine_times(&half_x)];
    [right, [direction.sine_times(&half_y.negated()), direction.cosine_times(&half_y)]]
}

impl FixedSteps {
    fn new(centre: &[Rational; 2], [right, up]: [&[Real; 2]; 2], bits: usize) -> Self {
        let with_guard = |reals: &[Real; 2]| reals.each_ref().map(|real| real.enclose(bits + GUARD_BITS));
        let centre = centre.each_ref().map(|part| Real::Rational(part.clone()).enclose(bits + GUARD_BITS));
        Self { bits, centre, right: with_guard(right), up: with_guard(up) }
    }

    fn enclose(&self, right: i64, up: i64) -> [(IBig, IBig); 2] {
        let times = |(low, high): &(IBig, IBig), k: i64| {
            let ends = (low * IBig::from(k), high * IBig::from(k));
            if k < 0 { (ends.1, ends.0) } else { ends }
        };
        [0, 1].map(|part| {
            let (r, u, c) = (times(&self.right[part], right), times(&self.up[part], up), &self.centre[part]);
            let (low, high) = (&c.0 + r.0 + u.0, &c.1 + r.1 + u.1);
            // Round low down and high up to whole units; a shift rounds down.
            (low >> GUARD_BITS, -(-high >> GUARD_BITS))
        })
    }
}

/// The point of one pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactPoint<'a> {
    points: &'a ExactPoints,
    right: i64,
    up: i64,
}

impl ExactPoint<'_> {
    /// The point, if both parts are rational.
    pub(crate) fn rational(&self) -> Option<[Rational; 2]> {
        let ExactPoints { centre, right, up, .. } = self.points;
        let part = |part: usize| {
            let (Real::Rational(right), Real::Rational(up)) = (&right[part], &up[part]) else { return None };
            Some(centre[part].plus(&right.times_whole(self.right)).plus(&up.times_whole(self.up)))
        };
        Some([part(0)?, part(1)?])
    }
}

impl Enclosed for ExactPoint<'_> {
    fn enclose(&self, bits: usize) -> [(IBig, IBig); 2] {
        let ExactPoints { centre, right, up, usual, .. } = self.points;
        if bits == usual.bits {
            return usual.enclose(self.right, self.up);
        }
        FixedSteps::new(centre, [right, up], bits).enclose(self.right, self.up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::axes::Axes;
    use crate::view::{Sample, Size};

    fn view(rotation: &str, flip: bool) -> View {
        let mut view =
            View::centred("-0.743643887037158704752", "0.1", "3e7").unwrap().sized(Size::new(31, 18).unwrap());
        (view.rotation, view.flip, view.sample) = (rotation.parse().unwrap(), flip, Sample::Corner);
        view
    }

    #[test]
    fn enclosures_contain_the_exact_points() {
        let view = view("0", true);
        let points = ExactPoints::new(&view, 119);
        for (column, row) in [(0, 0), (30, 17), (7, 3)] {
            let exact = view.plane_from_pixel(column, row).unwrap();
            assert_eq!(points.at(column, row).rational().unwrap(), exact);
            for bits in [20, 119, 500] {
                for ((low, high), exact) in points.at(column, row).enclose(bits).into_iter().zip(&exact) {
                    assert!(
                        &high - &low <= IBig::from(4)
                            && low <= exact.floor_scaled(bits)
                            && exact.floor_scaled(bits) <= high
                    );
                    let part = |v: IBig| Rational::new(v, dashu_int::UBig::ONE << bits);
                    assert!(part(low) <= *exact && *exact <= part(high), "{column} {row} {bits}");
                }
            }
        }
    }

    #[test]
    fn rotated_points_agree_with_the_axes() {
        for (rotation, flip) in [("30", false), ("90", false), ("-33.3", true), ("1e-9", false)] {
            let view = view(rotation, flip);
            let points = ExactPoints::new(&view, 119);
            let axes = Axes::<f64>::new(&view).unwrap();
            for (column, row) in [(0, 0), (30, 17), (7, 3)] {
                let near = axes.grid(0..31, 0..18).point(column as usize, row as usize);
                for ((low, high), near) in points.at(column, row).enclose(300).into_iter().zip(near) {
                    assert!(&high - &low <= IBig::from(4));
                    let exact = Rational::new(low, dashu_int::UBig::ONE << 300_usize);
                    // The coordinate of the axes has three rounding errors of numbers below 1.
                    let off = exact.minus(&Rational::from_f64(near)).magnitude();
                    assert!(off < Rational::whole(1).scaled_by_power_of_two(-52), "{rotation} {column} {row}");
                }
            }
        }
    }

    #[test]
    fn rational_points_have_no_error() {
        let mut view = View::centred("-0.75", "0.5", "1").unwrap().sized(Size::new(16, 16).unwrap());
        for rotation in ["0", "90", "180", "270"] {
            view.rotation = rotation.parse().unwrap();
            let points = ExactPoints::new(&view, 60);
            assert!(points.at(3, 5).rational().is_some());
            assert!(points.at(3, 5).enclose(60).iter().all(|(low, high)| low == high), "{rotation}");
        }
    }
}
