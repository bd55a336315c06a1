//! The true dwells of the pixels of a view: at their exact points, by the cheapest method that is certain.

use super::fast_paths::{FIXED_BITS, FastPaths, FixedPoint};
use super::{ArbitraryPrecision, ExactMap, Truth};
use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::exact::rational::Rational;
use crate::truth::exact_points::{Enclosed, ExactPoints};
use crate::view::View;
use crate::view::settings::Settings;
use dwell_kernels::with_standard_floats;
use serde::Serialize;

/// The methods by which a dwell is determined, the cheapest first. The result of each is proved; where one does not
/// decide, the next is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The point is in the main cardioid or the disc of period 2 of the Mandelbrot set.
    Interior,
    /// Iteration in f64 with an error bound.
    F64,
    /// Iteration in 128-bit fixed point with an error bound.
    Bits128,
    /// Iteration in arbitrary precision, 256 bits and more.
    ManyBits,
}

impl Method {
    /// All methods, the cheapest first.
    pub const ALL: [Self; 4] = [Self::Interior, Self::F64, Self::Bits128, Self::ManyBits];
}

/// Bits after the point of the first attempt in arbitrary precision.
const NEXT_BITS: usize = 256;

/// The true dwells of the pixels of a view, computed one pixel at a time.
///
/// ```
/// use dwell::{Cancel, Settings, Size, View, truth::{TrueDwells, Truth}};
/// let view = View::centred("-0.75", "0", "1")?.sized(Size::new(64, 48)?);
/// let dwells = TrueDwells::new(&view, &Settings::default());
/// let (truth, _) = dwells.dwell(32, 24, &Cancel::default())?;
/// assert_eq!(truth, Truth::Dwell(0));
/// # Ok::<(), dwell::Error>(())
/// ```
#[derive(Debug)]
pub struct TrueDwells {
    map: ExactMap,
    limit: u64,
    radius: Rational,
    points: ExactPoints,
    fast_paths: FastPaths,
    julia: Option<FixedPoint>,
}

impl TrueDwells {
    /// The true dwells of `view`. Of the settings only formula, Julia constant, limit and escape radius are used: a
    /// true dwell does not depend on number type and recipe.
    #[must_use]
    pub fn new(view: &View, settings: &Settings) -> Self {
        let map = ExactMap::of(settings);
        let radius = settings.escape_radius.to_rational();
        let of_formula = || FastPaths::new(settings.formula, map.julia.is_some(), settings.limit, &radius);
        Self {
            limit: settings.limit,
            points: ExactPoints::new(view, FIXED_BITS),
            fast_paths: with_standard_floats(of_formula),
            julia: map.julia.as_ref().and_then(FixedPoint::of),
            map,
            radius,
        }
    }

    /// The true dwell of the pixel at `column` (0 to width - 1) and `row` (0 to height - 1, from the top), and the
    /// method that determined it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after `cancel` was set.
    pub fn dwell(&self, column: u32, row: u32, cancel: &Cancel) -> Result<(Truth, Method), Error> {
        with_standard_floats(|| self.dwell_of(column, row, cancel))
    }

    /// The true dwell of any point, given by its real and imaginary part, and the method that determined it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after `cancel` was set.
    pub fn dwell_at(&self, point: &[Rational; 2], cancel: &Cancel) -> Result<(Truth, Method), Error> {
        with_standard_floats(|| match self.by_fast_paths(point, cancel)? {
            Some(found) => Ok(found),
            None => Ok((self.of_rational(point, cancel)?, Method::ManyBits)),
        })
    }

    fn dwell_of(&self, column: u32, row: u32, cancel: &Cancel) -> Result<(Truth, Method), Error> {
        let point = self.points.at(column, row);
        if let Some(found) = self.by_fast_paths(&point, cancel)? {
            return Ok(found);
        }
        // A rational point is used directly instead of an enclosure. A binary fraction, such as -2, then has no error,
        // and a point on the circle of radius R, which no number of bits decides, is compared exactly.
        let truth = match point.rational() {
            Some(point) => self.of_rational(&point, cancel)?,
            None => self.arbitrary_precision(&[], cancel).decide(&point, NEXT_BITS)?,
        };
        Ok((truth, Method::ManyBits))
    }

    /// The dwell of a point by the first of the fast paths that decides; `None` if none does.
    fn by_fast_paths(
        &self,
        point: &(impl Enclosed + ?Sized),
        cancel: &Cancel,
    ) -> Result<Option<(Truth, Method)>, Error> {
        let z = FixedPoint::of(point);
        // The fast paths are skipped if a Julia set's constant is outside the range of [`FixedPoint`].
        let c = if self.map.julia.is_some() { self.julia } else { z };
        if let (Some(z), Some(c)) = (z, c) {
            if self.fast_paths.is_interior(c) {
                return Ok(Some((Truth::Dwell(0), Method::Interior)));
            }
            for (path, method) in [(FastPaths::in_f64 as FastPath, Method::F64), (FastPaths::in_fixed, Method::Bits128)]
            {
                if let Some(n) = path(&self.fast_paths, z, c, cancel.flag()) {
                    return Ok(Some((Truth::Dwell(n), method)));
                }
                cancel.check()?;
            }
        }
        Ok(None)
    }

    fn of_rational(&self, point: &[Rational; 2], cancel: &Cancel) -> Result<Truth, Error> {
        let [re, im] = point;
        if re.times(re).plus(&im.times(im)) > self.radius.times(&self.radius) {
            return Ok(Truth::Dwell(1));
        }
        self.arbitrary_precision(&[1], cancel).decide(point, NEXT_BITS)
    }

    fn arbitrary_precision<'a>(&'a self, within: &'a [u64], cancel: &'a Cancel) -> ArbitraryPrecision<'a> {
        ArbitraryPrecision { map: &self.map, limit: self.limit, radius: &self.radius, within, cancel }
    }
}

/// A method of [`FastPaths`]: z_1, c and the stop flag. `None` if it does not decide or the flag is set.
type FastPath = fn(&FastPaths, FixedPoint, FixedPoint, &std::sync::atomic::AtomicBool) -> Option<u64>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;
    use dwell_kernels::{Fold, Formula};

    /// Checks that every method that decides a pixel agrees with arbitrary precision; counts the pixels of each method.
    fn check(view: &View, settings: &Settings) -> [u64; 4] {
        let dwells = TrueDwells::new(view, settings);
        let cancel = Cancel::default();
        let mut decided = [0; 4];
        for row in 0..view.size.height {
            for column in 0..view.size.width {
                let (truth, method) = dwells.dwell(column, row, &cancel).unwrap();
                decided[method as usize] += 1;
                let point = dwells.points.at(column, row);
                let bits = dwells.arbitrary_precision(&[], &cancel).decide(&point, 128).unwrap();
                assert_eq!(truth, bits, "{method:?} {column} {row} {settings:?} {view:?}");
                if let Some(point) = point.rational() {
                    assert_eq!(
                        dwells.dwell_at(&point, &cancel).unwrap().0,
                        bits,
                        "{column} {row} {settings:?} {view:?}"
                    );
                }
                let (z, c) = (FixedPoint::of(&point), dwells.julia.or_else(|| FixedPoint::of(&point)));
                let (Some(z), Some(c)) = (z, c) else { continue };
                // The fast paths that were not needed as well.
                for path in [FastPaths::in_f64 as FastPath, FastPaths::in_fixed] {
                    if let Some(n) = path(&dwells.fast_paths, z, c, cancel.flag()) {
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
    fn every_method_agrees_with_arbitrary_precision() {
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
    fn each_method_decides_some_pixels() {
        let limit = |limit| Settings { limit, ..Settings::default() };
        let home = check(&view("-0.75", "0", "1.3", "0"), &limit(400));
        assert!(home[0] > 50 && home[1] > 300, "{home:?}");
        let deep = check(
            &view("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e11", "12.5"),
            &limit(3000),
        );
        assert!(deep[2] > 100, "{deep:?}");
        // The real axis, where most orbits are chaotic and do not escape.
        let deeper = check(&view("-1.8", "0", "100", "0"), &limit(500));
        assert!(deeper[3] > 0, "{deeper:?}");
    }

    #[test]
    fn points_on_the_escape_circle_are_decided() {
        // 1.2 + 1.6i has modulus 2, and neither part is a binary fraction.
        let view = View::centred("1.2", "1.6", "10").unwrap().sized(Size::new(1, 1).unwrap());
        let dwells = TrueDwells::new(&view, &Settings::default());
        let truth = dwells.dwell(0, 0, &Cancel::default()).unwrap().0;
        assert_eq!(truth, Truth::Dwell(2), "|z_1| = 2 is not above 2");
        for (re, n) in [("-2", 0), ("2", 2), ("1", 3), ("0.25", 0), ("-2.0000000000000000000000000000000000000001", 1)]
        {
            let view = View::centred(re, "0", "10").unwrap().sized(Size::new(1, 1).unwrap());
            let dwells = TrueDwells::new(&view, &Settings::default());
            assert_eq!(dwells.dwell(0, 0, &Cancel::default()).unwrap().0, Truth::Dwell(n), "{re}");
        }
        // The point -2 as -0.5 - 1500/1000, not rotated and rotated by 180 degrees.
        for rotation in ["0", "180"] {
            let frame = ["-2", "1", "-1", "1"].map(|edge| edge.parse().unwrap());
            let [xmin, xmax, ymin, ymax] = frame;
            let mut view = View::centred("0", "0", "1").unwrap().sized(Size::new(1500, 1000).unwrap());
            view.frame = crate::Frame::Bounds { xmin, xmax, ymin, ymax };
            (view.sample, view.rotation) = (crate::Sample::Corner, rotation.parse().unwrap());
            let dwells = TrueDwells::new(&view, &Settings::default());
            let (column, row) = if rotation == "0" { (0, 499) } else { (1499, 500) };
            let truth = dwells.dwell(column, row, &Cancel::default()).unwrap().0;
            assert!(matches!(truth, Truth::Dwell(_)), "{rotation} {truth:?}");
        }
    }

    #[test]
    fn very_large_and_very_small_coordinates() {
        for (re, im, zoom) in [("1e400", "0", "1"), ("1e-400", "1e-300", "1e500"), ("-200", "3", "1e-3")] {
            check(&view(re, im, zoom, "0"), &Settings { limit: 50, ..Settings::default() });
            check(&view(re, im, zoom, "77"), &Settings { limit: 50, ..Settings::default() });
        }
    }

    #[test]
    fn is_cancellable() {
        let cancel = Cancel::default();
        cancel.cancel();
        let view = View::centred("-0.1225611668766536", "0.7448617666197442", "1e9").unwrap();
        let dwells = TrueDwells::new(&view, &Settings { limit: Settings::MOST_LIMIT, ..Settings::default() });
        assert!(matches!(dwells.dwell(5, 5, &cancel), Err(Error::Interrupted)));
    }
}
