//! The truth about every pixel of a view: at its exact point, by the cheapest way that is certain.

use super::quick::{Quick, Start, USUAL_BITS};
use super::{ExactMap, Question, Truth};
use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::truth::exact_points::ExactPoints;
use crate::view::View;
use crate::view::settings::Settings;
use serde::Serialize;

/// By what a dwell was decided, the cheapest first. Each is a proof; one that does not decide leaves it to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The point is in the main cardioid or the disc of period 2.
    Interior,
    /// Iterated in f64 with a bound on the error.
    F64,
    /// Iterated in fixed point of 128 bits with a bound on the error.
    Bits128,
    /// Iterated with as many bits as it takes.
    ManyBits,
}

impl By {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Interior, Self::F64, Self::Bits128, Self::ManyBits];
}

/// Bits tried where 128 were not enough.
const NEXT_BITS: usize = 256;

/// The truth about the pixels of a view.
///
/// ```
/// use dwell::{Cancel, Settings, Size, View, truth::{Oracle, Truth}};
/// let view = View::centred("-0.75", "0", "1")?.sized(Size::new(64, 48)?);
/// let oracle = Oracle::new(&view, &Settings::default());
/// let (truth, _) = oracle.dwell(32, 24, &Cancel::default())?;
/// assert_eq!(truth, Truth::Dwell(0));
/// # Ok::<(), dwell::Error>(())
/// ```
#[derive(Debug)]
pub struct Oracle {
    map: ExactMap,
    limit: u32,
    radius: Rational,
    points: ExactPoints,
    quick: Quick,
    julia: Option<Start>,
}

impl Oracle {
    /// About a view. Of the settings only formula, Julia constant, limit and escape radius matter: truth has no number and
    /// no recipe.
    #[must_use]
    pub fn new(view: &View, settings: &Settings) -> Self {
        let julia = settings.julia.as_ref().map(|c| c.each_ref().map(Decimal::to_rational));
        let radius = settings.escape_radius.to_rational();
        Self {
            limit: settings.limit,
            points: ExactPoints::new(view, USUAL_BITS),
            quick: Quick::new(settings.formula, julia.is_some(), settings.limit, &radius),
            julia: julia.as_ref().and_then(Start::of),
            map: ExactMap { formula: settings.formula, julia },
            radius,
        }
    }

    /// The true dwell of a pixel, and by what it was decided. Column and row are within the view.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn dwell(&self, column: u32, row: u32, cancel: &Cancel) -> Result<(Truth, By), Error> {
        let point = self.points.at(column, row);
        let z = Start::of(&point);
        // Where a Julia set's constant is beyond what the quick ways hold, they are left out.
        let c = if self.map.julia.is_some() { self.julia } else { z };
        if let (Some(z), Some(c)) = (z, c) {
            if self.quick.is_interior(c) {
                return Ok((Truth::Dwell(0), By::Interior));
            }
            for (way, by) in [(Quick::in_f64 as Way, By::F64), (Quick::in_fixed, By::Bits128)] {
                if let Some(n) = way(&self.quick, z, c, cancel.flag()) {
                    return Ok((Truth::Dwell(n), by));
                }
                cancel.check()?;
            }
        }
        // A rational point as it is, not by an enclosure: one that is a binary fraction, such as -2, has no error then, and
        // one on the circle of radius R itself, which no number of bits decides, is compared exactly.
        let truth = match point.rational() {
            Some(point) => self.of_rational(&point, cancel)?,
            None => self.question(false, cancel).decide(&point, NEXT_BITS)?,
        };
        Ok((truth, By::ManyBits))
    }

    fn of_rational(&self, point: &[Rational; 2], cancel: &Cancel) -> Result<Truth, Error> {
        let [re, im] = point;
        if re.times(re).plus(&im.times(im)) > self.radius.times(&self.radius) {
            return Ok(Truth::Dwell(1));
        }
        self.question(true, cancel).decide(point, NEXT_BITS)
    }

    fn question<'a>(&'a self, starts_within: bool, cancel: &'a Cancel) -> Question<'a> {
        Question { map: &self.map, limit: self.limit, radius: &self.radius, starts_within, cancel }
    }
}

/// A way to a dwell: `None` where it does not decide, or was told to stop.
type Way = fn(&Quick, Start, Start, &std::sync::atomic::AtomicBool) -> Option<u32>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;
    use dwell_kernels::{Fold, Formula};

    /// Every way that decides says the same as arbitrary precision does.
    fn check(view: &View, settings: &Settings) -> [u64; 4] {
        let oracle = Oracle::new(view, settings);
        let cancel = Cancel::default();
        let mut decided = [0; 4];
        for row in 0..view.size.height {
            for column in 0..view.size.width {
                let (truth, by) = oracle.dwell(column, row, &cancel).unwrap();
                decided[by as usize] += 1;
                let point = oracle.points.at(column, row);
                let bits = oracle.question(false, &cancel).decide(&point, 128).unwrap();
                assert_eq!(truth, bits, "{by:?} {column} {row} {settings:?} {view:?}");
                let (z, c) = (Start::of(&point), oracle.julia.or_else(|| Start::of(&point)));
                let (Some(z), Some(c)) = (z, c) else { continue };
                // Those that were not asked, too.
                for way in [Quick::in_f64 as Way, Quick::in_fixed] {
                    if let Some(n) = way(&oracle.quick, z, c, cancel.flag()) {
                        assert_eq!(Truth::Dwell(n), bits, "{column} {row} {settings:?} {view:?}");
                    }
                }
            }
        }
        decided
    }

    fn view(re: &str, im: &str, zoom: &str, rotation: &str) -> View {
        let mut view = View::centred(re, im, zoom).unwrap().sized(Size::new(37, 23).unwrap());
        view.rotation = rotation.parse().unwrap();
        view
    }

    #[test]
    fn every_way_agrees_with_arbitrary_precision() {
        let formulas = [(Fold::None, 2), (Fold::None, 3), (Fold::None, 7), (Fold::None, 16)].into_iter().chain([
            (Fold::Absolute, 2),
            (Fold::Absolute, 5),
            (Fold::Conjugate, 2),
            (Fold::Conjugate, 4),
        ]);
        for (fold, power) in formulas {
            for julia in [None, Some(["-0.12", "0.74"])] {
                for (radius, rotation) in [("2", "0"), ("3.7", "30"), ("1000", "0")] {
                    let settings = Settings {
                        formula: Formula::new(fold, power).unwrap(),
                        julia: julia.map(|c| c.map(|part| part.parse().unwrap())),
                        limit: 150,
                        escape_radius: radius.parse().unwrap(),
                        ..Settings::default()
                    };
                    check(&view("-0.3", "0.01", "1", rotation), &settings);
                }
            }
        }
    }

    #[test]
    fn each_way_has_its_part() {
        let limit = |limit| Settings { limit, ..Settings::default() };
        let home = check(&view("-0.75", "0", "1.3", "0"), &limit(400));
        assert!(home[0] > 50 && home[1] > 300, "{home:?}");
        let deep = check(
            &view("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e11", "12.5"),
            &limit(3000),
        );
        assert!(deep[2] > 100, "{deep:?}");
        // The real axis, where most orbits are chaotic for ever.
        let deeper = check(&view("-1.8", "0", "100", "0"), &limit(500));
        assert!(deeper[3] > 0, "{deeper:?}");
    }

    #[test]
    fn ties_on_the_circle_are_decided() {
        // 1.2 + 1.6i has modulus 2, and no binary fraction is that.
        let view = View::centred("1.2", "1.6", "10").unwrap().sized(Size::new(1, 1).unwrap());
        let oracle = Oracle::new(&view, &Settings::default());
        let truth = oracle.dwell(0, 0, &Cancel::default()).unwrap().0;
        assert_eq!(truth, Truth::Dwell(2), "|z_1| = 2 is not beyond it");
        for (re, n) in [("-2", 0), ("2", 2), ("1", 3), ("0.25", 0), ("-2.0000000000000000000000000000000000000001", 1)]
        {
            let view = View::centred(re, "0", "10").unwrap().sized(Size::new(1, 1).unwrap());
            let oracle = Oracle::new(&view, &Settings::default());
            assert_eq!(oracle.dwell(0, 0, &Cancel::default()).unwrap().0, Truth::Dwell(n), "{re}");
        }
        // -2 as -0.5 - 1500/1000, upright and on its head.
        for rotation in ["0", "180"] {
            let frame = ["-2", "1", "-1", "1"].map(|edge| edge.parse().unwrap());
            let [xmin, xmax, ymin, ymax] = frame;
            let mut view = View::centred("0", "0", "1").unwrap().sized(Size::new(1500, 1000).unwrap());
            view.frame = crate::Frame::Bounds { xmin, xmax, ymin, ymax };
            (view.sample, view.rotation) = (crate::Sample::Corner, rotation.parse().unwrap());
            let oracle = Oracle::new(&view, &Settings::default());
            let (column, row) = if rotation == "0" { (0, 499) } else { (1499, 500) };
            let truth = oracle.dwell(column, row, &Cancel::default()).unwrap().0;
            assert!(matches!(truth, Truth::Dwell(_)), "{rotation} {truth:?}");
        }
    }

    #[test]
    fn far_away_and_very_small() {
        for (re, im, zoom) in [("1e400", "0", "1"), ("1e-400", "1e-300", "1e500"), ("-200", "3", "1e-3")] {
            check(&view(re, im, zoom, "0"), &Settings { limit: 50, ..Settings::default() });
            check(&view(re, im, zoom, "77"), &Settings { limit: 50, ..Settings::default() });
        }
    }

    #[test]
    fn can_be_stopped() {
        let cancel = Cancel::default();
        cancel.cancel();
        let view = View::centred("-0.1225611668766536", "0.7448617666197442", "1e9").unwrap();
        let oracle = Oracle::new(&view, &Settings { limit: u32::MAX, ..Settings::default() });
        assert!(matches!(oracle.dwell(5, 5, &cancel), Err(Error::Interrupted)));
    }
}
