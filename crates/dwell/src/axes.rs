//! Coordinates: from a view to the two (or, rotated, four) arrays of numbers that every engine is handed.
//!
//! Each entry is the correctly rounded value of an exact expression in the view's decimals, origin + k step with whole
//! k. The fast way is fixed point with a few bits to spare and an interval around the result: where both ends round to
//! the same number, that is the answer (Ziv's strategy). Where they do not, an exact division decides, or for
//! irrational steps more bits.

use crate::error::InputError;
use crate::limits::resize;
use crate::rational::Rational;
use crate::trig::{Direction, Real};
use crate::view::{ExactFrame, View};
use dashu_int::{IBig, UBig};
use dwell_kernels::Number;

/// The coordinates of every pixel of a view in one number.
#[derive(Clone, Debug, PartialEq)]
pub enum Axes<N> {
    /// Not rotated: a = `re[column]`, b = `im[row]`.
    Straight {
        /// Real part by column.
        re: Vec<N>,
        /// Imaginary part by row.
        im: Vec<N>,
    },
    /// Rotated: a = `re_of_column[i] + re_of_row[j]`, b = `im_of_column[i] + im_of_row[j]`, each sum rounded once. The
    /// centre is in the column arrays.
    Rotated {
        /// Contribution of the column to the real part.
        re_of_column: Vec<N>,
        /// Contribution of the row to the real part.
        re_of_row: Vec<N>,
        /// Contribution of the column to the imaginary part.
        im_of_column: Vec<N>,
        /// Contribution of the row to the imaginary part.
        im_of_row: Vec<N>,
    },
}

impl<N: Number> Axes<N> {
    /// Computes the arrays of a view.
    ///
    /// # Errors
    /// When the system has no memory for them.
    pub fn new(view: &View) -> Result<Self, InputError> {
        let ExactFrame { centre: [re, im], half_pixel: [half_x, half_y] } = view.exact();
        let rightwards = || (0..view.size.width).map(|i| view.half_pixels_right(i));
        let upwards = || (0..view.size.height).map(|j| view.half_pixels_up(j));
        let direction = Direction::new(&view.rotation.to_rational());
        if direction.is_none() {
            return Ok(Self::Straight {
                re: entries(&re, &Real::Rational(half_x), rightwards())?,
                im: entries(&im, &Real::Rational(half_y), upwards())?,
            });
        }
        // A pixel u to the right and v up is at u (cos, sin) + v (-sin, cos) from the centre.
        let zero = Rational::whole(0);
        Ok(Self::Rotated {
            re_of_column: entries(&re, &direction.cosine_times(&half_x), rightwards())?,
            re_of_row: entries(&zero, &direction.sine_times(&half_y.negated()), upwards())?,
            im_of_column: entries(&im, &direction.sine_times(&half_x), rightwards())?,
            im_of_row: entries(&zero, &direction.cosine_times(&half_y), upwards())?,
        })
    }

    /// The same axes with only so many columns and rows, evenly spread.
    pub(crate) fn thinned(&self, columns: usize, rows: usize) -> Self {
        let thin = |axis: &Vec<N>, count: usize| {
            (0..count).map(|i| axis[(2 * i + 1) * axis.len() / (2 * count)]).collect::<Vec<N>>()
        };
        match self {
            Self::Straight { re, im } => Self::Straight { re: thin(re, columns), im: thin(im, rows) },
            Self::Rotated { re_of_column, re_of_row, im_of_column, im_of_row } => Self::Rotated {
                re_of_column: thin(re_of_column, columns),
                re_of_row: thin(re_of_row, rows),
                im_of_column: thin(im_of_column, columns),
                im_of_row: thin(im_of_row, rows),
            },
        }
    }

    /// Bytes that the arrays of a view of this size take.
    #[must_use]
    pub fn bytes(width: u32, height: u32, rotated: bool) -> u64 {
        (u64::from(width) + u64::from(height)) * size_of::<N>() as u64 * if rotated { 2 } else { 1 }
    }

    /// Fills `re` and `im` with the points of the pixels from `first` on, counted along rows from the top left.
    pub fn fill(&self, width: u32, first: u64, re: &mut [N], im: &mut [N]) {
        let row_length = width as usize;
        let mut row = usize::try_from(first / u64::from(width)).unwrap_or(usize::MAX);
        let mut column = usize::try_from(first % u64::from(width)).unwrap_or(usize::MAX);
        let mut at = 0;
        while at < re.len() {
            let here = (row_length - column).min(re.len() - at);
            let (a, b) = (&mut re[at..at + here], &mut im[at..at + here]);
            match self {
                Self::Straight { re, im } => {
                    a.copy_from_slice(&re[column..column + here]);
                    b.fill(im[row]);
                }
                Self::Rotated { re_of_column, re_of_row, im_of_column, im_of_row } => {
                    for (a, of_column) in a.iter_mut().zip(&re_of_column[column..]) {
                        *a = *of_column + re_of_row[row];
                    }
                    for (b, of_column) in b.iter_mut().zip(&im_of_column[column..]) {
                        *b = *of_column + im_of_row[row];
                    }
                }
            }
            at += here;
            row += 1;
            column = 0;
        }
    }
}

/// origin + k step for each k, correctly rounded.
fn entries<N: Number>(
    origin: &Rational,
    step: &Real,
    ks: impl ExactSizeIterator<Item = i64>,
) -> Result<Vec<N>, InputError> {
    // Enough bits for the smallest coordinate to have all its own and 64 to spare, beside the 32 of k: that is about one
    // step, unless the origin is so much larger (2^34 half steps reach across any image) that no entry comes near 0.
    let below_one = |e: i64| usize::try_from((-e).max(0)).unwrap_or(usize::MAX);
    let step_log2 = step.about_log2().unwrap_or(0);
    let smallest = origin.floor_log2().filter(|o| *o > step_log2 + 36).unwrap_or(step_log2);
    let bits = below_one(smallest) + 160;
    let line = FixedLine::new(origin, step, bits);
    let mut entries = Vec::new();
    resize(&mut entries, ks.len(), N::default(), "the coordinates")?;
    for (entry, k) in entries.iter_mut().zip(ks) {
        *entry = line.entry(k).unwrap_or_else(|| decide(origin, step, k, bits));
    }
    Ok(entries)
}

/// origin + k step in fixed point, with the interval it lies in.
struct FixedLine {
    bits: usize,
    origin: (IBig, IBig),
    step: (IBig, IBig),
}

impl FixedLine {
    fn new(origin: &Rational, step: &Real, bits: usize) -> Self {
        Self { bits, origin: Real::Rational(origin.clone()).enclose(bits), step: step.enclose(bits) }
    }

    /// The nearest number, if both ends of the interval have the same.
    fn entry<N: Number>(&self, k: i64) -> Option<N> {
        let (step_low, step_high) = if k >= 0 { (&self.step.0, &self.step.1) } else { (&self.step.1, &self.step.0) };
        let low: N = round_fixed(&self.origin.0 + step_low * IBig::from(k), self.bits);
        let high: N = round_fixed(&self.origin.1 + step_high * IBig::from(k), self.bits);
        (low == high).then_some(low)
    }
}

fn round_fixed<N: Number>(value: IBig, bits: usize) -> N {
    Rational::new(value, UBig::ONE).scaled_by_power_of_two(-i64::try_from(bits).unwrap_or(i64::MAX)).round()
}

/// The entry that fixed point with `bits` bits could not decide.
fn decide<N: Number>(origin: &Rational, step: &Real, k: i64, bits: usize) -> N {
    match step {
        _ if k == 0 => origin.round(),
        Real::Rational(step) => origin.plus(&step.times_whole(k)).round(),
        Real::Cosine { .. } => {
            // Irrational, so it is no midpoint between two numbers: enough bits always decide.
            let mut bits = bits;
            loop {
                bits *= 2;
                if let Some(entry) = FixedLine::new(origin, step, bits).entry(k) {
                    return entry;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;
    use crate::view::{Frame, Magnification, Sample, Size};

    fn number(text: &str) -> Decimal {
        text.parse().unwrap()
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
                let (Axes::Straight { re: wide, .. }, Axes::Straight { im: narrow, .. }) =
                    (Axes::<f64>::new(&view).unwrap(), Axes::<f32>::new(&view).unwrap())
                else {
                    panic!("not rotated")
                };
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
    fn absurd_depth_takes_no_absurd_time() {
        // Three million bits of zoom: only those that a rounded coordinate needs are ever computed.
        let mut view = View::centred("-0.75", "0.1", "1e1000000").unwrap().sized(Size::new(40, 20).unwrap());
        view.rotation = number("12.5");
        let Axes::Rotated { re_of_column, .. } = Axes::<f64>::new(&view).unwrap() else { panic!("rotated") };
        assert_eq!(re_of_column, vec![-0.75; 40]);
    }

    #[test]
    fn midpoints_between_two_numbers_go_to_even() {
        // Steps of a quarter ulp of f32 at 1: every other entry is a tie or exact.
        let mut view = View::centred("0", "0", "1").unwrap().sized(Size::new(64, 1).unwrap());
        view.sample = Sample::Corner;
        view.frame = Frame::Bounds {
            xmin: number("1"),
            xmax: number("1.0000019073486328125"),
            ymin: number("-1"),
            ymax: number("1"),
        };
        let Axes::Straight { re, .. } = Axes::<f32>::new(&view).unwrap() else { panic!("not rotated") };
        for (i, a) in re.iter().enumerate() {
            let exact = 1.0 + i as f64 * 2f64.powi(-25);
            assert_eq!(*a, exact as f32, "{i}");
        }
    }

    #[test]
    fn rows_above_and_below_a_centre_of_zero_are_exact_negatives() {
        let view = View::centred("-0.7", "0", "3").unwrap().sized(Size::new(5, 101).unwrap());
        let Axes::Straight { im, .. } = Axes::<f64>::new(&view).unwrap() else { panic!("not rotated") };
        for j in 0..101 {
            assert_eq!(im[j], -im[100 - j]);
        }
        assert_eq!(im[50].to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn quarter_turns_are_exact() {
        let mut view = View::centred("-0.75", "0.25", "1").unwrap().sized(Size::new(8, 4).unwrap());
        let fill = |view: &View| {
            let (mut re, mut im) = (vec![0.0_f64; 32], vec![0.0_f64; 32]);
            Axes::<f64>::new(view).unwrap().fill(8, 0, &mut re, &mut im);
            re.into_iter().zip(im).collect::<Vec<_>>()
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
    #[allow(clippy::disallowed_methods, reason = "the mathematics library as a reference to within its error")]
    fn a_rotated_view_is_where_it_should_be() {
        let mut view = View::centred("-0.5", "0.25", "2").unwrap().sized(Size::new(16, 9).unwrap());
        view.rotation = number("30.5");
        view.frame = Frame::Centred {
            re: number("-0.5"),
            im: number("0.25"),
            magnification: Magnification::Height(number("0.9")),
        };
        let (mut re, mut im) = (vec![0.0_f64; 100], vec![0.0_f64; 100]);
        Axes::<f64>::new(&view).unwrap().fill(16, 20, &mut re, &mut im);
        for k in 0..100 {
            let (column, row) = ((k + 20) % 16, (k + 20) / 16);
            let (u, v) = ((column as f64 - 7.5) * 0.1, (4.0 - row as f64) * 0.1);
            let (s, c) = 30.5_f64.to_radians().sin_cos();
            assert!((re[k] - (-0.5 + u * c - v * s)).abs() < 1e-15);
            assert!((im[k] - (0.25 + u * s + v * c)).abs() < 1e-15);
        }
    }
}
