//! Where to look: a box or a disc, and the disc about its centre that holds it.

use super::{Means, Within};
use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::exact::trig::Direction;
use crate::view::View;
use dwell_kernels::deep::extended::{Bound, Extended};
use dwell_kernels::deep::mantissa::Dd;

/// The first disc about a point has this part of the height of the view as its radius.
const FIRST_DISC: i64 = 16;
/// Bits of an orbit beyond those of the region: as those of a reference orbit of a view.
const GUARD_BITS: i64 = 170;
/// The greatest |part of the centre|: beyond it, everything has escaped.
const FARTHEST: i64 = 1 << 10;
/// The greatest power of two above the size of a region: the set is in a disc of radius 2.
const MOST_SCALE: i64 = 3;
/// The least: exponents of kernels are numbers of 32 bits.
const LEAST_SCALE: i64 = -10_000_000;

/// A box or a disc.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) centre: [Rational; 2],
    /// Half of the sides of the box, or the radius of the disc and 0, in units of 2^scale.
    half: [f64; 2],
    is_disc: bool,
    /// Cosine and sine of the rotation.
    turned: [f64; 2],
    pub(super) scale: i64,
}

impl Region {
    /// The regions that are searched one after the other until something is found.
    pub(super) fn of(view: &View, within: &Within) -> Result<Vec<Self>, InputError> {
        let frame = view.exact();
        let sides = [view.size.width, view.size.height].map(i64::from);
        let [across, up] = [0, 1].map(|axis: usize| frame.half_pixel[axis].times_whole(sides[axis]));
        match within {
            Within::View => {
                let direction = Direction::new(&view.rotation.to_rational());
                let one = Rational::whole(1);
                let part = |real: crate::exact::trig::Real| {
                    Rational::new(real.enclose_scaled(60).0, 1_u8.into()).scaled_by_power_of_two(-60).round::<f64>()
                };
                let turned = [part(direction.cosine_times(&one)), part(direction.sine_times(&one))];
                Ok(vec![Self::new(frame.centre, [&across, &up], false, turned)?])
            }
            Within::Box([left, right, lower, upper]) => {
                for (low, high, names) in [(left, right, "XMIN < XMAX"), (lower, upper, "YMIN < YMAX")] {
                    if low.to_rational() >= high.to_rational() {
                        let [low, high] = [low, high].map(|edge| edge.text().to_owned());
                        return Err(InputError::new(Problem::NotBelow { low, high }).about(BOX).accepts(names));
                    }
                }
                let [left, right, lower, upper] = [left, right, lower, upper].map(Decimal::to_rational);
                let two = Rational::whole(2);
                let centre = [left.plus(&right).over(&two), lower.plus(&upper).over(&two)];
                let half = [right.minus(&left).over(&two), upper.minus(&lower).over(&two)];
                Ok(vec![Self::new(centre, half.each_ref(), false, UPRIGHT)?])
            }
            Within::Near(point) => {
                let point = point.each_ref().map(Decimal::to_rational);
                let first = up.over(&Rational::whole(FIRST_DISC / 2));
                // A disc that holds the view.
                let away = [0, 1].map(|axis: usize| point[axis].minus(&frame.centre[axis]).magnitude());
                let most = away[0].plus(&away[1]).plus(&across).plus(&up);
                let mut regions = Vec::new();
                let mut radius = first;
                loop {
                    let zero = Rational::whole(0);
                    regions.push(Self::new(point.clone(), [&radius, &zero], true, UPRIGHT)?);
                    if radius >= most {
                        return Ok(regions);
                    }
                    radius = radius.times_whole(2);
                }
            }
        }
    }

    fn new(centre: [Rational; 2], half: [&Rational; 2], is_disc: bool, turned: [f64; 2]) -> Result<Self, InputError> {
        let scale = half[0].plus(half[1]).floor_log2().unwrap_or(0) + 1;
        let out_of = |problem: &str, accepted: &str| {
            InputError::new(Problem::Unsupported(problem.to_owned())).about(Parameter::View).accepts(accepted)
        };
        if centre.iter().any(|part| part.magnitude() >= Rational::whole(FARTHEST)) {
            return Err(out_of("is far outside of the Mandelbrot set", "a centre within 1024 of 0"));
        }
        if scale < LEAST_SCALE {
            return Err(out_of("is too deep to search", "zooms to 1e3000000"));
        }
        let scale = scale.min(MOST_SCALE);
        let half = half.map(|side| side.clone().scaled_by_power_of_two(-scale).round::<f64>().min(1.0));
        Ok(Self { centre, half, is_disc, turned, scale })
    }

    /// The bits after the point that a search needs.
    pub(super) fn bits(&self) -> usize {
        usize::try_from((GUARD_BITS - self.scale).max(GUARD_BITS)).unwrap_or(usize::MAX)
    }

    /// 2^scale as kernels take it.
    pub(super) fn unit(&self) -> i32 {
        i32::try_from(self.scale).unwrap_or(i32::MIN / 8)
    }

    /// The radius of the disc that holds it.
    pub(super) fn radius(&self) -> Bound {
        let [across, up] = self.half;
        Bound::new((across * across + up * up).sqrt() * (1.0 + 1e-12), self.unit())
    }

    /// Whether a point at this distance from the centre is in it.
    pub(super) fn contains(&self, delta: Extended<Dd>) -> bool {
        let power = (i64::from(delta.e) - self.scale).clamp(-1000, 100);
        let unit = 2_f64.powi(i32::try_from(power).unwrap_or(0));
        let [x, y] = [delta.m.re.hi * unit, delta.m.im.hi * unit];
        if self.is_disc {
            return x * x + y * y <= self.half[0] * self.half[0];
        }
        let [cosine, sine] = self.turned;
        // Turned back.
        let [x, y] = [cosine * x + sine * y, cosine * y - sine * x];
        x.abs() <= self.half[0] && y.abs() <= self.half[1]
    }

    /// The quarters of a box; of a disc, those of the square around it.
    pub(super) fn quarters(&self) -> Vec<Self> {
        let [cosine, sine] = self.turned;
        let [across, up] = if self.is_disc { [self.half[0]; 2] } else { self.half };
        let quarter = |[x, y]: [f64; 2]| {
            let [x, y] = [x * across / 2.0, y * up / 2.0];
            let away = [cosine * x - sine * y, sine * x + cosine * y];
            let mut centre = self.centre.clone();
            for (part, away) in centre.iter_mut().zip(away) {
                *part = part.plus(&Rational::from_f64(away).scaled_by_power_of_two(self.scale));
            }
            Self { centre, half: [across / 2.0, up / 2.0], is_disc: false, ..self.clone() }
        };
        [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(quarter).to_vec()
    }
}

impl Means<'_> {
    /// The most entries of an orbit.
    pub(super) fn most_entries(&self) -> usize {
        let bytes = dwell_kernels::deep::reference::Reference::bytes(1);
        usize::try_from(self.limits.memory_bytes / (2 * bytes)).unwrap_or(usize::MAX)
    }
}

const BOX: Parameter = Parameter::Named("box");
const UPRIGHT: [f64; 2] = [1.0, 0.0];
