//! Finding places: the minibrot nearest a point or in a box, and Misiurewicz points, to any depth, with a proof.
//!
//! `region.rs` says where to look. The search (`find.rs`) finds the least period beside a reference orbit, and its root to some 90 bits; `refine.rs` finds as many digits as the wanted zoom needs;
//! `certify.rs` proves that there is one root within a stated distance, and that its period is exact; `place.rs` makes a location of it. docs/locate.md tells all of it.

mod certify;
mod find;
mod place;
mod refine;
mod region;

use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::Limits;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::scene::Scene;
use dwell_kernels::deep::roots::Equation;
use dwell_kernels::deep::roots::shape::{Number, Shape};
use dwell_kernels::{Formula, Level, with_standard_floats};
use region::Region;
use std::time::{Duration, Instant};

/// What is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sought {
    /// The centre of a component: of a minibrot, or of a disc that touches a larger component.
    #[default]
    Minibrot,
    /// A point whose orbit runs into a cycle without being part of it.
    Misiurewicz,
}

dwell_kernels::named!(Sought, "kind": Minibrot => "minibrot", Misiurewicz => "misiurewicz");

/// Where it is sought in a view.
#[derive(Clone, Debug, Default)]
pub enum Within {
    /// Anywhere in the view.
    #[default]
    View,
    /// In a disc about this point: with a sixteenth of the height of the view as its radius, and if nothing is in it with twice as much, until it holds the view.
    Near([Decimal; 2]),
    /// Between these edges: left, right, lower, upper.
    Box([Decimal; 4]),
}

/// How near a place is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ZoomTo {
    /// The minibrot fills the view, upright. A Misiurewicz point is shown at the zoom of the view in which it was found.
    #[default]
    Mini,
    /// The embedded Julia set around the minibrot fills the view.
    Embedded,
    /// This zoom.
    Zoom(Decimal),
}

/// What to locate.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// What is sought.
    pub sought: Sought,
    /// Where.
    pub within: Within,
    /// How near it will be shown, which decides how many digits are found.
    pub zoom_to: ZoomTo,
    /// The greatest period, of a Misiurewicz point the greatest preperiod plus period; 0 for 2^32 - 2.
    pub most_period: u64,
}

/// A special point of the Mandelbrot set, and what is proved of it.
#[derive(Clone, Debug)]
pub struct Located {
    /// Which point it is.
    pub point: Special,
    /// Real part: the point is within [`Self::within`] of re + i im.
    pub re: Decimal,
    /// Imaginary part.
    pub im: Decimal,
    /// The distance from re + i im within which the point is proved to be, rounded up to three digits.
    pub within: String,
    /// A radius about re + i im within which it is proved to be the only point of this kind with this period or a divisor of it, rounded down to three digits.
    pub alone_within: String,
    /// Whether it is also proved that no minibrot of smaller period is in the disc around the region that was searched.
    pub is_least: bool,
    /// How near its location shows it.
    pub zoom_to: ZoomTo,
    /// What took how long.
    pub times: LocateTimes,
}

/// The times that finding a place took.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocateTimes {
    /// The search for the period, which computes a reference orbit.
    pub search: Duration,
    /// Finding its digits.
    pub refinement: Duration,
    /// The proof.
    pub proof: Duration,
    /// Bits after the point of the search and of the proof.
    pub bits: [u64; 2],
}

/// Which point it is.
#[derive(Clone, Debug)]
pub enum Special {
    /// The centre of a component.
    Minibrot {
        /// Its period, proved to be exact.
        period: u64,
        /// The size relative to the whole set, rounded down to 15 digits.
        size: Decimal,
        /// The zoom that shows it as 1 shows the whole set: 1 / size.
        zoom: Decimal,
        /// The angle by which it is turned, counter-clockwise in degrees from -180 to 180.
        turned: Decimal,
        /// Whether it is a cardioid, the main component of a copy of the set, and not a disc.
        is_cardioid: bool,
        #[doc(hidden)]
        shape: [Number; 2],
    },
    /// A Misiurewicz point.
    Misiurewicz {
        /// The least k with z_(k+p) = z_k, where z_0 = 0; proved to be exact.
        preperiod: u64,
        /// p, proved to be exact.
        period: u64,
        /// The modulus of the multiplier of its cycle, above 1: the set looks alike at zooms that differ by this factor.
        multiplier: Decimal,
        /// The angle of the multiplier, by which it is turned then, in degrees from -180 to 180.
        turned: Decimal,
    },
}

impl Special {
    /// The period.
    #[must_use]
    pub fn period(&self) -> u64 {
        match self {
            Self::Minibrot { period, .. } | Self::Misiurewicz { period, .. } => *period,
        }
    }

    fn of(equation: Equation, shape: Shape) -> Result<Self, InputError> {
        match (equation, shape) {
            (Equation::Nucleus { period }, Shape::Component { size, derivative, is_cardioid }) => {
                let modulus = modulus(size)?;
                Ok(Self::Minibrot {
                    period,
                    size: rounded(&modulus, DIGITS)?,
                    zoom: rounded(&Rational::whole(1).over(&modulus), DIGITS)?,
                    turned: angle(size)?,
                    is_cardioid,
                    shape: [size, derivative],
                })
            }
            (Equation::Misiurewicz { preperiod, period }, Shape::Spiral { multiplier }) => Ok(Self::Misiurewicz {
                preperiod,
                period,
                multiplier: rounded(&modulus(multiplier)?, DIGITS)?,
                turned: angle(multiplier)?,
            }),
            _ => Err(unproved()),
        }
    }
}

/// Digits of sizes and multipliers.
const DIGITS: usize = 15;

/// The special point of least period in a region of the view of a scene.
///
/// ```
/// use dwell::{Cancel, Control, Level, Limits, Progress, Scene, View, Wanted, locate};
///
/// let view = View::centred("-1.76", "0", "20")?;
/// let scene = Scene { view, ..Scene::default() };
/// let (cancel, progress) = (Cancel::default(), Progress::default());
/// let control = Control { cancel: &cancel, progress: &progress };
/// let found = locate(&scene, &Wanted::default(), Level::best(), &Limits::default(), &control)?;
/// assert_eq!(found.point.period(), 3);
/// assert!(found.re.text().starts_with("-1.75487766624669276"));
/// assert!(found.location(&scene)?.text().contains("minibrot"));
/// # Ok::<(), dwell::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`] where the formula is not that of the Mandelbrot set, where a box or a zoom is not valid, where nothing is found, and when memory is exhausted;
/// [`Error::Interrupted`] after the call was cancelled.
pub fn locate(
    scene: &Scene,
    wanted: &Wanted,
    level: Level,
    limits: &Limits,
    control: &Control<'_>,
) -> Result<Located, Error> {
    with_standard_floats(|| {
        check(scene, wanted)?;
        let means = Means { level, limits, control };
        let began = Instant::now();
        let (region, found) = find::found(scene, wanted, means)?;
        let search = began.elapsed();
        let bits = place::bits(&region, &found, &wanted.zoom_to);
        let began = Instant::now();
        let centre = refine::refined(&region, &found, bits, means)?;
        let refinement = began.elapsed();
        let began = Instant::now();
        let proved = certify::certified(centre, found.equation, bits, means)?;
        let times = LocateTimes {
            search,
            refinement,
            proof: began.elapsed(),
            bits: [region.bits() as u64, proved.bits as u64],
        };
        let [re, im] = proved.point;
        Ok(Located {
            point: Special::of(found.equation, proved.shape)?,
            re,
            im,
            within: proved.within.scientific(),
            alone_within: proved.alone_within.scientific(),
            is_least: found.is_least,
            zoom_to: wanted.zoom_to.clone(),
            times,
        })
    })
}

/// What a search works with.
#[derive(Clone, Copy)]
struct Means<'a> {
    level: Level,
    limits: &'a Limits,
    control: &'a Control<'a>,
}

fn check(scene: &Scene, wanted: &Wanted) -> Result<(), InputError> {
    if scene.settings.formula != Formula::MANDELBROT || scene.settings.julia.is_some() {
        let problem = Problem::Unsupported("minibrots are located in the Mandelbrot set only".to_owned());
        return Err(InputError::new(problem).about(Parameter::View).accepts("the formula mandelbrot"));
    }
    if let ZoomTo::Zoom(zoom) = &wanted.zoom_to
        && !zoom.is_positive()
    {
        return Err(InputError::out_of_range(zoom.text()).about(ZOOM_TO).accepts(ACCEPTED_ZOOM));
    }
    if wanted.sought == Sought::Misiurewicz && wanted.zoom_to == ZoomTo::Embedded {
        let problem = Problem::Conflict("a Misiurewicz point has no embedded Julia set".to_owned());
        return Err(InputError::new(problem).about(ZOOM_TO).accepts("a zoom above 0"));
    }
    Ok(())
}

const ZOOM_TO: Parameter = Parameter::Named("zoom-to");
const ACCEPTED_ZOOM: &str = "mini, embedded, or a zoom above 0";

/// The modulus of a number of any magnitude.
fn modulus(number: Number) -> Result<Rational, InputError> {
    let [x, y] = number.parts;
    let modulus = (x * x + y * y).sqrt();
    if modulus > 0.0 && modulus.is_finite() {
        Ok(Rational::from_f64(modulus).scaled_by_power_of_two(number.exponent))
    } else {
        Err(unproved())
    }
}

/// The angle of a number in degrees.
fn angle(number: Number) -> Result<Decimal, InputError> {
    let [x, y] = number.parts.map(Rational::from_f64);
    // Parts in f64 do not have more.
    rounded(&crate::exact::roots::degrees(&x, &y)?.to_rational(), DIGITS)
}

/// A value, rounded towards 0 to so many digits.
fn rounded(value: &Rational, digits: usize) -> Result<Decimal, InputError> {
    let Some(exponent) = value.floor_log2() else { return Ok(Decimal::from(0)) };
    // The decimals after which it has so many digits, or one more.
    let above = (exponent as f64 * std::f64::consts::LOG10_2).floor() as i64;
    place::after(value, i64::try_from(digits).unwrap_or(i64::MAX) - 1 - above)
}

/// An error for what was found and could not be proved.
fn unproved() -> InputError {
    let problem = "what was found could not be proved: give a smaller box, or another point";
    InputError::new(Problem::Unsupported(problem.to_owned())).about(Parameter::View)
}
