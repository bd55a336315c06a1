//! The coordinates of a view: four arrays of numbers that every engine receives.
//!
//! Each entry is the correctly rounded value of an exact expression in the view's decimals: origin + k step with an
//! integer k. `rounded_line.rs` rounds them.

use crate::base::error::InputError;
use crate::base::limits::resize;
use crate::base::place::Parameter;
use crate::exact::rational::Rational;
use crate::exact::trig::{Direction, Real};
use crate::plan::rounded_line::rounded;
use crate::view::{ExactFrame, Frame, View};
use dwell_kernels::{Grid, Number};
use std::ops::Range;

/// The coordinates of every pixel of a view in the number type `N`, in plane units.
///
/// The point a + bi of the pixel at column i and row j is the sum of a term of the column and a term of the row, each
/// sum rounded once: a = `re_of_column[i] + re_of_row[j]`, b = `im_of_column[i] + im_of_row[j]`. In a rotated view the
/// column arrays include the centre. In a view that is not rotated, a is the term of the column and b the term of the
/// row; the other terms are -0, and adding -0 changes no number.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes<N> {
    re_of_column: Vec<N>,
    im_of_column: Vec<N>,
    re_of_row: Vec<N>,
    im_of_row: Vec<N>,
    rotated: bool,
}

/// At most `count` positions along an axis, in blocks of `block` neighbours at even spacing. The first and the last block are
/// equally far from the ends, so that a symmetric axis stays symmetric. Each position has `side` entries, which are kept or left
/// out together.
pub(crate) fn thinned<V: Copy>(axis: &[V], count: usize, block: usize, side: usize) -> Vec<V> {
    let len = axis.len() / side;
    let block = block.clamp(1, len.max(1));
    let blocks = (count / block).max(1);
    if count >= len || blocks * block >= len {
        return axis.to_vec();
    }
    // In the second half, blocks are the mirror images of those in the first.
    let start = |i: usize| (2 * i + 1) * len / (2 * blocks) - block / 2;
    let from = |i: usize| if 2 * i < blocks { start(i) } else { len - block - start(blocks - 1 - i) };
    (0..blocks).flat_map(|i| axis[from(i) * side..(from(i) + block) * side].iter().copied()).collect()
}

impl<N: Number> Axes<N> {
    /// Computes the arrays of a view.
    ///
    /// # Errors
    /// When the allocation of the arrays fails.
    pub fn new(view: &View) -> Result<Self, InputError> {
        let ExactFrame { centre: [re, im], half_pixel: [half_x, half_y] } = view.exact();
        let columns = |origin: &Rational, step: &Real| {
            rounded(origin, step, view.size.width, |column| view.half_pixels_right(column))
        };
        let rows =
            |origin: &Rational, step: &Real| rounded(origin, step, view.size.height, |row| view.half_pixels_up(row));
        let direction = Direction::new(&view.rotation.to_rational());
        if direction.is_none() {
            return Ok(Self {
                re_of_column: columns(&re, &Real::Rational(half_x))?,
                im_of_column: negative_zeros(view.size.width as usize)?,
                re_of_row: negative_zeros(view.size.height as usize)?,
                im_of_row: rows(&im, &Real::Rational(half_y))?,
                rotated: false,
            });
        }
        // The offset from the centre of a pixel u to the right and v up is u (cos, sin) + v (-sin, cos).
        let zero = Rational::whole(0);
        Ok(Self {
            re_of_column: columns(&re, &direction.cosine_times(&half_x))?,
            im_of_column: columns(&im, &direction.sine_times(&half_x))?,
            re_of_row: rows(&zero, &direction.sine_times(&half_y.negated()))?,
            im_of_row: rows(&zero, &direction.cosine_times(&half_y))?,
            rotated: true,
        })
    }

    /// The axes of a grid that is not rotated, from coordinates that another program or publication computes: the point of
    /// column i and row j is `re_of_column[i] + i im_of_row[j]`, without another rounding.
    ///
    /// Coordinates may repeat, but an array must not rise at one place and fall at another: kernels take its first and its
    /// last number as its extremes.
    ///
    /// # Errors
    /// When an array is empty, holds infinity or NaN, or is not monotonic, and when memory is exhausted.
    pub fn from_coordinates(re_of_column: Vec<N>, im_of_row: Vec<N>) -> Result<Self, InputError> {
        check_coordinates(&re_of_column, "real parts of the columns")?;
        check_coordinates(&im_of_row, "imaginary parts of the rows")?;
        Ok(Self {
            im_of_column: negative_zeros(re_of_column.len())?,
            re_of_row: negative_zeros(im_of_row.len())?,
            re_of_column,
            im_of_row,
            rotated: false,
        })
    }

    /// The same axes reduced to at most `columns` columns and `rows` rows, in blocks of so many neighbours at even
    /// spacing. The first and the last block are equally far from the ends, so that a symmetric axis stays symmetric.
    /// Each column and each row has `side` entries, which are kept or left out together.
    pub(crate) fn thinned(
        &self,
        [columns, rows]: [usize; 2],
        [block_columns, block_rows]: [usize; 2],
        side: usize,
    ) -> Self {
        let thin = |axis: &[N], count: usize, block: usize| thinned(axis, count, block, side);
        Self {
            re_of_column: thin(&self.re_of_column, columns, block_columns),
            im_of_column: thin(&self.im_of_column, columns, block_columns),
            re_of_row: thin(&self.re_of_row, rows, block_rows),
            im_of_row: thin(&self.im_of_row, rows, block_rows),
            rotated: self.rotated,
        }
    }

    /// Whether the view is rotated. If it is not, the terms of the columns in b and of the rows in a are all -0.
    #[must_use]
    pub fn is_rotated(&self) -> bool {
        self.rotated
    }

    /// The four arrays: the terms of the columns in a and in b (`width` entries each), and the terms of the rows in a
    /// and in b (`height` entries each).
    #[must_use]
    pub fn arrays(&self) -> [&[N]; 4] {
        [&self.re_of_column, &self.im_of_column, &self.re_of_row, &self.im_of_row]
    }

    /// The bytes of the arrays of a view of `width` by `height` pixels.
    #[must_use]
    pub fn bytes(width: u32, height: u32) -> u64 {
        2 * (u64::from(width) + u64::from(height)) * size_of::<N>() as u64
    }

    /// The points of a rectangle of pixels.
    ///
    /// # Panics
    /// When the rectangle is not inside the view.
    #[must_use]
    pub fn grid(&self, columns: Range<u32>, rows: Range<u32>) -> Grid<'_, N> {
        let (columns, rows) = (columns.start as usize..columns.end as usize, rows.start as usize..rows.end as usize);
        Grid {
            re_of_column: &self.re_of_column[columns.clone()],
            im_of_column: &self.im_of_column[columns],
            re_of_row: &self.re_of_row[rows.clone()],
            im_of_row: &self.im_of_row[rows],
            monotonic: true,
        }
    }

    /// The range of rows that are exact mirror images, in the real axis, of rows above them, and the sum of the indices
    /// of a row and its image: row j is the image of row sum - j. The range is empty in a rotated view.
    pub(crate) fn mirrored_rows(&self) -> (Range<u32>, u32) {
        let im = &self.im_of_row;
        let height = im.len();
        let falls = im.first() > im.last();
        let below = im.partition_point(|b| if falls { *b > N::default() } else { *b < N::default() });
        let mirrored = |row: usize, sum: usize| sum >= row && im[row] == -im[sum - row];
        if self.rotated || below == 0 || below == height {
            return (0..0, 0);
        }
        // If a row lies on the axis, it is its own image.
        let on_axis = im[below] == N::default();
        let (sum, first) = if on_axis { (2 * below, below + 1) } else { (2 * below - 1, below) };
        let end = (first..height).find(|row| !mirrored(*row, sum)).unwrap_or(height);
        let row = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        (row(first)..row(end), row(sum))
    }
}

/// The steps in the plane of a pixel to the right and of a pixel up, each as real and imaginary part, in heights of the
/// view, correctly rounded.
///
/// # Errors
/// When an allocation fails.
pub(crate) fn pixel_steps(view: &View) -> Result<[[f64; 2]; 2], InputError> {
    let height = i64::from(view.size.height);
    let step = Rational::whole(1).over(&Rational::whole(height));
    let right = match &view.frame {
        // Pixels are square.
        Frame::Centred { .. } => step.clone(),
        Frame::Bounds { .. } => {
            let ExactFrame { half_pixel: [half_x, half_y], .. } = view.exact();
            half_x.over(&half_y.times_whole(height))
        }
    };
    let up = if view.flip { step.negated() } else { step };
    let direction = Direction::new(&view.rotation.to_rational());
    if direction.is_none() {
        return Ok([[right.round(), 0.0], [0.0, up.round()]]);
    }
    let zero = Rational::whole(0);
    let number = |step: Real| rounded::<f64>(&zero, &step, 1, |_| 1).map(|step| step[0]);
    Ok([
        [number(direction.cosine_times(&right))?, number(direction.sine_times(&right))?],
        [number(direction.sine_times(&up.negated()))?, number(direction.cosine_times(&up))?],
    ])
}

/// So many terms that change no number.
fn negative_zeros<N: Number>(count: usize) -> Result<Vec<N>, InputError> {
    let mut entries = Vec::new();
    resize(&mut entries, count, Grid::<N>::negative_zero(), "the coordinates").map(|()| entries)
}

/// Checks that given coordinates are finite and monotonic, and that there are any.
fn check_coordinates<N: Number>(coordinates: &[N], what: &str) -> Result<(), InputError> {
    let wrong = |problem: String| {
        InputError::malformed(problem).about(Parameter::View).accepts("finite numbers that only rise or only fall")
    };
    let (Some(first), Some(last)) = (coordinates.first(), coordinates.last()) else {
        return Err(wrong(format!("there are no {what}")));
    };
    if let Some(at) = coordinates.iter().position(|v| !v.to_f64().is_finite()) {
        return Err(wrong(format!("number {at} of the {what} is not finite")));
    }
    let falls = first > last;
    let turns = |pair: &[N]| if falls { pair[0] < pair[1] } else { pair[0] > pair[1] };
    match coordinates.windows(2).position(turns) {
        Some(at) => Err(wrong(format!("the {what} turn at number {at}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;
    use crate::view::{Magnification, Sample, Size};

    fn number(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn steps_of_a_pixel_are_in_heights_of_the_view() {
        let mut view = View::centred("-0.7", "1e-30", "1e40").unwrap().sized(Size::new(300, 200).unwrap());
        assert_eq!(pixel_steps(&view).unwrap(), [[0.005, 0.0], [0.0, 0.005]]);
        view.flip = true;
        assert_eq!(pixel_steps(&view).unwrap(), [[0.005, 0.0], [0.0, -0.005]]);
        (view.flip, view.rotation) = (false, number("90"));
        assert_eq!(pixel_steps(&view).unwrap(), [[0.0, 0.005], [-0.005, 0.0]]);
        view.rotation = number("-30");
        let [[a, b], [c, d]] = pixel_steps(&view).unwrap();
        assert!(a == d && a > 0.0043 && a < 0.00434 && b == -0.0025 && c == 0.0025, "{a} {b} {c} {d}");
        view.rotation = number("0");
        view.frame = Frame::Bounds { xmin: number("-2"), xmax: number("1"), ymin: number("0"), ymax: number("1") };
        assert_eq!(pixel_steps(&view).unwrap(), [[0.01, 0.0], [0.0, 0.005]]);
    }

    #[test]
    fn entries_are_the_exact_points_rounded_once() {
        for (re, im, zoom) in [
            ("-0.75", "0", "1.5"),
            ("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e13"),
            ("0.1", "-0.3", "3"),
            ("123456789.123", "1e-30", "1e20"),
            ("0", "0", "1e-200"),
            ("0", "0", "1e310"),
            ("-1.7", "0.3", "1e300"),
            ("0.5000000000000000555111512312578270211815834045410156250", "0", "1e60"),
        ] {
            for sample in Sample::ALL {
                let mut view = View::centred(re, im, zoom).unwrap().sized(Size::new(31, 18).unwrap());
                view.sample = sample;
                let (wide, narrow) = (Axes::<f64>::new(&view).unwrap(), Axes::<f32>::new(&view).unwrap());
                assert!(!wide.rotated);
                let wide: Vec<f64> = (0..31).map(|i| wide.grid(0..31, 0..18).point(i, 7)[0]).collect();
                let narrow: Vec<f32> = (0..18).map(|j| narrow.grid(0..31, 0..18).point(5, j)[1]).collect();
                for column in 0..31 {
                    let exact = view.plane_from_pixel(column, 0).unwrap();
                    assert_eq!(wide[column as usize].to_bits(), exact[0].round::<f64>().to_bits());
                }
                for row in 0..18 {
                    let exact = view.plane_from_pixel(0, row).unwrap();
                    assert_eq!(narrow[row as usize].to_bits(), exact[1].round::<f32>().to_bits());
                }
            }
        }
    }

    #[test]
    fn given_coordinates_are_the_points() {
        let axes = Axes::from_coordinates(vec![-2.0_f32, -1.0, -1.0, 0.5], vec![1.0, 0.0, -1.0]).unwrap();
        assert_eq!(axes.grid(0..4, 0..3).point(2, 0), [-1.0, 1.0]);
        assert_eq!((axes.is_rotated(), axes.mirrored_rows()), (false, (2..3, 2)));
        for (wrong, says) in [
            (vec![], "there are no imaginary parts of the rows"),
            (vec![0.0, f32::NAN], "number 1 of the imaginary parts of the rows is not finite"),
            (vec![f32::INFINITY], "number 0 of the imaginary parts of the rows is not finite"),
            (vec![0.0, 1.0, 0.5, 2.0], "the imaginary parts of the rows turn at number 1"),
            (vec![0.0, 0.0, 1.0, -1.0], "the imaginary parts of the rows turn at number 1"),
        ] {
            let error = Axes::from_coordinates(vec![0.0_f32], wrong.clone()).unwrap_err().to_string();
            assert!(error.contains(says), "{wrong:?}: {error}");
            assert!(Axes::from_coordinates(wrong, vec![0.0_f32]).is_err());
        }
    }

    #[test]
    fn blocks_of_a_thinned_view_are_inside_it() {
        for side in 1..70 {
            let view = View::centred("0", "0", "1").unwrap().sized(Size::new(side, 3).unwrap());
            let axes = Axes::<f64>::new(&view).unwrap();
            for (columns, block) in (1..70).flat_map(|columns| (1..12).map(move |block| (columns, block))) {
                let thinned = axes.thinned([columns, 3], [block, 1], 1);
                let kept = &thinned.re_of_column;
                assert!(kept.is_sorted() && !kept.is_empty(), "{side} {columns} {block}");
                assert!(kept.iter().all(|a| axes.re_of_column.contains(a)));
                // With several entries in a column, those of the same columns are kept.
                let finer = Axes::<f64>::new(&view.clone().sized(Size::new(4 * side, 12).unwrap())).unwrap();
                let finer = finer.thinned([columns, 3], [block, 1], 4).re_of_column;
                assert_eq!(finer.len(), 4 * kept.len());
                assert!(finer.chunks(4).zip(kept).all(|(four, a)| (four[1] < *a) && (*a < four[2])));
            }
        }
    }

    #[test]
    fn extreme_zooms_take_little_time() {
        // The zoom has three million bits; only those that a rounded coordinate needs are computed.
        let mut view = View::centred("-0.75", "0.1", "1e1000000").unwrap().sized(Size::new(40, 20).unwrap());
        view.rotation = number("12.5");
        assert_eq!(Axes::<f64>::new(&view).unwrap().re_of_column, vec![-0.75; 40]);
    }

    #[test]
    fn midpoints_of_two_numbers_round_to_even() {
        // Steps of a quarter ulp of f32 at 1: every other entry is a tie or exact.
        let mut view = View::centred("0", "0", "1").unwrap().sized(Size::new(64, 1).unwrap());
        view.sample = Sample::Corner;
        view.frame = Frame::Bounds {
            xmin: number("1"),
            xmax: number("1.0000019073486328125"),
            ymin: number("-1"),
            ymax: number("1"),
        };
        let re = Axes::<f32>::new(&view).unwrap().re_of_column;
        for (i, a) in re.iter().enumerate() {
            let exact = 1.0 + i as f64 * 2f64.powi(-25);
            assert_eq!(*a, exact as f32, "{i}");
        }
    }

    #[test]
    fn rows_above_and_below_a_centre_of_zero_are_exact_negatives() {
        let axes = |im: &str, height: u32| {
            let view = View::centred("-0.7", im, "3").unwrap().sized(Size::new(5, height).unwrap());
            Axes::<f64>::new(&view).unwrap()
        };
        let im = axes("0", 101).im_of_row;
        for j in 0..101 {
            assert_eq!(im[j], -im[100 - j]);
        }
        assert_eq!(im[50].to_bits(), 0.0_f64.to_bits());
        assert_eq!(axes("0", 101).mirrored_rows(), (51..101, 100));
        assert_eq!(axes("0", 100).mirrored_rows(), (50..100, 99));
        // Height 4/3 and 100 rows: the decimal is close to half a row, so no row is the exact negative of another.
        assert_eq!(axes("0.00666666666666666666666666666666666666666666666666", 100).mirrored_rows().0.len(), 0);
        let view = View::centred("0", "2", "1").unwrap().sized(Size::new(4, 16).unwrap());
        assert_eq!(Axes::<f64>::new(&view).unwrap().mirrored_rows(), (0..0, 0), "4 high, above the axis");
        let mut view = View::centred("0", "0.25", "2").unwrap().sized(Size::new(4, 16).unwrap());
        view.flip = true;
        assert_eq!(Axes::<f64>::new(&view).unwrap().mirrored_rows(), (6..12, 11), "flipped, a little above the axis");
        let view = View::centred("0", "1", "1").unwrap().sized(Size::new(4, 16).unwrap());
        assert_eq!(Axes::<f64>::new(&view).unwrap().mirrored_rows(), (12..16, 23), "three quarters above the axis");
        let mut view = View::centred("0", "0", "1").unwrap().sized(Size::new(4, 16).unwrap());
        view.rotation = number("180");
        assert_eq!(Axes::<f64>::new(&view).unwrap().mirrored_rows(), (0..0, 0), "rotated");
    }

    #[test]
    fn quarter_turns_are_exact() {
        let mut view = View::centred("-0.75", "0.25", "1").unwrap().sized(Size::new(8, 4).unwrap());
        let fill = |view: &View| {
            let axes = Axes::<f64>::new(view).unwrap();
            let grid = axes.grid(0..8, 0..4);
            (0..32).map(|i| grid.point(i % 8, i / 8)).map(|[a, b]| (a, b)).collect::<Vec<_>>()
        };
        let upright = fill(&view);
        let turn = |(a, b): (f64, f64)| (-(b - 0.25) - 0.75, (a + 0.75) + 0.25);
        let mut expected = upright.clone();
        for degrees in ["90", "180", "270", "360", "450"] {
            view.rotation = number(degrees);
            expected = expected.into_iter().map(turn).collect();
            assert_eq!(fill(&view), expected, "{degrees}");
        }
    }

    #[test]
    fn rotated_coordinates_agree_with_the_mathematics_library() {
        let mut view = View::centred("-0.5", "0.25", "2").unwrap().sized(Size::new(16, 9).unwrap());
        view.rotation = number("30.5");
        view.frame = Frame::Centred {
            re: number("-0.5"),
            im: number("0.25"),
            magnification: Magnification::Height(number("0.9")),
        };
        let axes = Axes::<f64>::new(&view).unwrap();
        for k in 0..16 * 9 {
            let (column, row) = (k % 16, k / 16);
            let [a, b] = axes.grid(0..16, 0..9).point(column, row);
            let (u, v) = ((column as f64 - 7.5) * 0.1, (4.0 - row as f64) * 0.1);
            let (s, c) = 30.5_f64.to_radians().sin_cos();
            assert!((a - (-0.5 + u * c - v * s)).abs() < 1e-15);
            assert!((b - (0.25 + u * s + v * c)).abs() < 1e-15);
        }
    }
}
