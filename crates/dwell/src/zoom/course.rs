//! The course of a zoom: the zoom of each frame.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::colour::elementary::{exp2, log2};
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use dashu_int::IBig;
use dwell_kernels::with_standard_floats;

/// The most frames of a film.
const MOST_FRAMES: u32 = 1_000_000;
/// The significant digits of a frame's zoom.
const DIGITS: i64 = 12;
/// The exponents of ten of zooms that are written without an exponent.
const PLAIN: std::ops::Range<i64> = -4..9;

/// How the zoom of a film proceeds in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Easing {
    /// By the same factor from each frame to the next.
    #[default]
    Linear,
    /// Slowly at both ends: at the time t, 0 to 1, the share 3 t^2 - 2 t^3 of the way is done, in powers of the zoom.
    Smooth,
}

dwell_kernels::named!(Easing, "easing": Linear => "linear", Smooth => "smooth");

/// The zoom of each frame of a film, from one number to another. Numbers are decimals as typed, so that they may be far beyond the range
/// of f64.
///
/// ```
/// use dwell::{Course, Easing};
///
/// let course = Course::new("1".parse()?, "1e50".parse()?, 101, Easing::Linear)?;
/// let zooms: Vec<_> = [0, 1, 50, 100].map(|frame| course.zoom(frame).text().to_owned()).into();
/// assert_eq!(zooms, ["1", "3.16227766017", "1e25", "1e50"]);
/// # Ok::<(), dwell::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Course {
    ends: [Decimal; 2],
    frames: u32,
    easing: Easing,
    /// The logarithms of the ends to base 2, within 2^-52 of their size.
    logs: [f64; 2],
}

impl Course {
    /// The course from one zoom to another, both above 0, in 2 to 1,000,000 frames.
    ///
    /// # Errors
    /// When a zoom is not above 0, both are equal, or the number of frames is out of range. The parameters are named `from`, `to` and
    /// `frames`.
    pub fn new(from: Decimal, to: Decimal, frames: u32, easing: Easing) -> Result<Self, InputError> {
        for (name, zoom) in [("from", &from), ("to", &to)] {
            if !zoom.is_positive() {
                return Err(InputError::out_of_range(zoom.text())
                    .about(Parameter::Named(name))
                    .accepts("above 0, at most 1e1000000"));
            }
        }
        if !(2..=MOST_FRAMES).contains(&frames) {
            return Err(InputError::out_of_range(frames.to_string())
                .about(Parameter::Named("frames"))
                .accepts(format!("2 to {MOST_FRAMES}")));
        }
        let exact = [&from, &to].map(Decimal::to_rational);
        if exact[0] == exact[1] {
            let problem = format!("{} is the zoom of the first frame as well", to.text());
            return Err(InputError::new(Problem::Conflict(problem))
                .about(Parameter::Named("to"))
                .accepts("a zoom other than that of the first frame"));
        }
        let logs = with_standard_floats(|| exact.map(|zoom| log2_of(&zoom)));
        Ok(Self { ends: [from, to], frames, easing, logs })
    }

    /// The zooms of the first and of the last frame.
    #[must_use]
    pub fn ends(&self) -> [&Decimal; 2] {
        self.ends.each_ref()
    }

    /// The number of frames.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// How the zoom proceeds.
    #[must_use]
    pub fn easing(&self) -> Easing {
        self.easing
    }

    /// The doublings between the two ends, above 0.
    #[must_use]
    pub fn octaves(&self) -> f64 {
        (self.logs[1] - self.logs[0]).abs()
    }

    /// The zoom of a frame, from 0: that of the first and of the last frame as it was given, and the others with 12 significant digits.
    #[must_use]
    pub fn zoom(&self, frame: u32) -> Decimal {
        match frame {
            0 => self.ends[0].clone(),
            frame if frame >= self.frames - 1 => self.ends[1].clone(),
            frame => self.zoom_at(self.depth(frame)),
        }
    }

    /// How deep a frame is: the doublings from the larger of the views at the two ends, 0 to [`Self::octaves`].
    #[must_use]
    pub fn depth(&self, frame: u32) -> f64 {
        let t = f64::from(frame.min(self.frames - 1)) / f64::from(self.frames - 1);
        let share = match self.easing {
            Easing::Linear => t,
            Easing::Smooth => t * t * (3.0 - 2.0 * t),
        };
        self.octaves() * if self.logs[1] > self.logs[0] { share } else { 1.0 - share }
    }

    /// The zoom at a depth, with 12 significant digits.
    pub(super) fn zoom_at(&self, depth: f64) -> Decimal {
        with_standard_floats(|| {
            let log = self.logs[0].min(self.logs[1]) + depth.clamp(0.0, self.octaves());
            decimal_power(log).unwrap_or_else(|_| self.ends[0].clone())
        })
    }

    /// The zoom of the smaller of the views at the two ends.
    pub(super) fn deepest(&self) -> &Decimal {
        &self.ends[usize::from(self.logs[1] > self.logs[0])]
    }

    /// The zoom of the larger of the views at the two ends.
    pub(super) fn shallowest(&self) -> &Decimal {
        &self.ends[usize::from(self.logs[1] < self.logs[0])]
    }
}

/// log2 of a number above 0, within 2^-52 of its size.
fn log2_of(number: &Rational) -> f64 {
    let whole = number.floor_log2().unwrap_or(0);
    whole as f64 + log2(number.clone().scaled_by_power_of_two(-whole).round::<f64>())
}

/// 2^log with [`DIGITS`] significant digits. The error of a logarithm of some millions, the largest, moves a zoom by 1e-9 of itself: far
/// less than a pixel.
fn decimal_power(log: f64) -> Result<Decimal, InputError> {
    let whole = log.floor();
    #[expect(clippy::cast_possible_truncation, reason = "some millions at most")]
    let value = Rational::from_f64(exp2(log - whole)).scaled_by_power_of_two(whole as i64);
    #[expect(clippy::cast_possible_truncation, reason = "some millions at most")]
    let exponent = (log * std::f64::consts::LOG10_2).floor() as i64 - (DIGITS - 1);
    let half = Rational::whole(1).over(&Rational::whole(2));
    let digits = value.times(&Rational::decimal(IBig::ONE, -exponent)).plus(&half).floor_scaled(0);
    let text = digits.to_string();
    let leading = exponent + i64::try_from(text.len()).unwrap_or(DIGITS) - 1;
    if PLAIN.contains(&leading) {
        return Decimal::of(digits, exponent);
    }
    let text = text.trim_end_matches('0');
    let (first, rest) = text.split_at(text.len().min(1));
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{leading}").parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(from: &str, to: &str, frames: u32, easing: Easing) -> Course {
        Course::new(from.parse().unwrap(), to.parse().unwrap(), frames, easing).unwrap()
    }

    #[test]
    fn zooms_are_monotone_and_keep_the_ends() {
        for (from, to) in
            [("1", "1e50"), ("1e50", "1"), ("0.3", "7.25"), ("2e-3", "5.5e1000"), ("1e1000000", "1e999999")]
        {
            for easing in Easing::ALL {
                let course = course(from, to, 41, easing);
                let zooms: Vec<Decimal> = (0..41).map(|frame| course.zoom(frame)).collect();
                assert_eq!([zooms[0].text(), zooms[40].text()], [from, to]);
                let rises = course.logs[1] > course.logs[0];
                let pairs = zooms.windows(2).map(|pair| [pair[0].to_rational(), pair[1].to_rational()]);
                assert!(pairs.into_iter().all(|[a, b]| if rises { a < b } else { a > b }), "{from} {to} {easing}");
            }
        }
    }

    #[test]
    fn the_factor_between_frames_is_constant_or_eased() {
        let linear = course("3", "3e60", 61, Easing::Linear);
        for frame in 0..61 {
            let exact: Decimal = format!("3e{frame}").parse().unwrap();
            let off = linear.zoom(frame).to_rational().over(&exact.to_rational()).round::<f64>() - 1.0;
            assert!(off.abs() < 1e-11, "{frame}: {off:e}");
        }
        let smooth = course("1", "1e10", 11, Easing::Smooth);
        let step = |frame| smooth.depth(frame + 1) - smooth.depth(frame);
        assert!(step(0) < 0.4 * step(5) && (smooth.depth(5) / smooth.octaves() - 0.5).abs() < 1e-15);
    }

    #[test]
    fn frames_and_zooms_out_of_range_are_refused() {
        let made = |from: &str, to: &str, frames| {
            Course::new(from.parse().unwrap(), to.parse().unwrap(), frames, Easing::Linear).unwrap_err().to_string()
        };
        assert!(made("1", "10", 1).contains("2 to 1000000"));
        assert!(made("1", "10", 1_000_001).contains("2 to 1000000"));
        assert!(made("-1", "10", 9).contains("above 0") && made("1", "0", 9).contains("above 0"));
        assert!(made("100", "1e2", 9).contains("first frame"));
    }
}
