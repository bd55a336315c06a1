//! The dwells that any order of roundings can give at a point.
//!
//! Let w_n be the orbit that a program computes in a number with the unit roundoff u, and z_n the orbit computed here in f64.
//! The bound e_n on |w_n - z_n| is carried along:
//!
//! e' = (2 |z| + e) e + d + (16 u + 8 U) (|z| + e)^2 + 4 (u + U) (|c| + d) + t
//!
//! - (2 |z| + e) e is the growth of the distance: |w^2 - z^2| = |w - z| |w + z|.
//! - d bounds the distance of the program's c from ours, see below.
//! - 16 u |w|^2 + 4 u |c| bounds the roundings of one step in any usual order, fused or not. For the real part these are
//!   x x - y y + a in any association, with at most u (3 |w|^2 + 2 |a|), and (x + y) (x - y) + a, whose two sums and one
//!   product each err by at most u |x^2 - y^2| and whose last sum by u (|w|^2 + |a|): 4 |w|^2. For the imaginary part these
//!   are 2 x y + b, or (x + y)^2 - x^2 - y^2 + b in any association: (x + y)^2 is at most 2 |w|^2 and has the relative
//!   error 3 u, the squares of the parts err by u |w|^2 together, and each of the three sums by at most u (|w|^2 + |b|), or
//!   2 u |w|^2 for the first: 11 |w|^2 + 3 |b|. Together at most 15 u |w|^2 + 4 u |c| and terms of second order, for which the
//!   16th is left.
//! - 8 U |z|^2 + 4 U |c| bounds the roundings of our own step in f64, U = 2^-53, as in `dwell::truth`.
//! - t covers results below the normal range, whether they are rounded or flushed to zero.
//!
//! d is 32 u M, where M is the greatest absolute value of a coordinate, or of an edge, which is one pixel further. The plan's
//! own coordinate and that of the program each come from edges, a centre or a span (at most 2 M) that were rounded once, by
//! a difference, a product, a quotient and a sum: at most 10 u M in each part, hence 20 u M between the two and less than
//! 29 u M in the plane.
//!
//! The test compares |w|^2, |w| or a maximum of roundings of these with R^2 or R, with > or >=: relative errors of at most
//! 4 u, for which 8 u of |w| is left.

use dwell::{Cancel, DirectPoints, Error};
use dwell_kernels::Number;
use std::fmt;

/// The unit roundoff of f64.
const UNIT_F64: f64 = 1.110_223_024_625_156_5e-16;
/// Increases a bound by more than its own roundings can reduce it.
const ROUND_UP: f64 = 1.0 + 1e-12;
/// The bits of n that are 0 where the stop flag is read.
const CHECK_MASK: u32 = 0xffff;

/// The orbits of the points of a plan with any order of roundings.
pub(super) struct Orbits {
    /// The unit roundoff u of the plan's number.
    unit: f64,
    /// R.
    radius: f64,
    /// d.
    coordinate_error: f64,
    /// t.
    tiny: f64,
    limit: u32,
}

/// The dwells that are possible at a point: some numbers and, where the bound has grown too large to exclude any, all from a
/// number on, with 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Possible {
    /// Numbers from 1, ascending.
    dwells: Vec<u32>,
    /// The least n from which any is possible.
    from: Option<u32>,
    /// Whether 0 is possible: no escape within the limit.
    none: bool,
}

impl Possible {
    /// Whether a possible dwell satisfies the condition.
    pub(super) fn any(&self, limit: u32, mut condition: impl FnMut(u32) -> bool) -> bool {
        self.none && condition(0)
            || self.dwells.iter().any(|dwell| condition(*dwell))
            || self.from.is_some_and(|from| (from..=limit).any(condition))
    }
}

impl fmt::Display for Possible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let none = self.none.then(|| "no escape".to_owned());
        let from = self.from.map(|from| format!("{from} and more"));
        let all: Vec<String> = self.dwells.iter().map(u32::to_string).chain(from).chain(none).collect();
        f.write_str(&all.join(", "))
    }
}

impl Orbits {
    /// The orbits of these points up to a limit.
    pub(super) fn of<N: Number>(points: &DirectPoints<N>, limit: u32) -> Self {
        let power_of_two = |e: i64| N::from_parts(false, 1, e).to_f64();
        let bits = i64::from(N::SIGNIFICAND_BITS);
        let unit = power_of_two(-bits);
        let [re_of_column, im_of_column, re_of_row, im_of_row] = points.axes.arrays();
        let sum = |columns: &[N], rows: &[N]| greatest(columns) + greatest(rows);
        let greatest = sum(re_of_column, re_of_row).max(sum(im_of_column, im_of_row));
        Self {
            unit,
            radius: points.radius_squared.to_f64().sqrt(),
            coordinate_error: 32.0 * unit * greatest,
            tiny: 16.0 * power_of_two(N::MIN_EXPONENT),
            limit,
        }
    }

    /// The dwells that are possible at the point c.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after `cancel` was set.
    pub(super) fn possible(&self, [a, b]: [f64; 2], cancel: &Cancel) -> Result<Possible, Error> {
        let of_c = (a * a + b * b).sqrt() * ROUND_UP + self.coordinate_error;
        let constant = self.coordinate_error + 4.0 * (self.unit + UNIT_F64) * of_c + self.tiny;
        let of_square = 16.0 * self.unit + 8.0 * UNIT_F64;
        let (mut x, mut y, mut e) = (a, b, self.coordinate_error * ROUND_UP);
        let mut possible = Possible::default();
        for n in 1..=self.limit {
            if n & CHECK_MASK == 0 && cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            // Two products, a sum and a root: a relative error below 4 U.
            let modulus = (x * x + y * y).sqrt();
            let above = modulus * ROUND_UP + e;
            let below = modulus * (2.0 - ROUND_UP) - e;
            if below * (1.0 - 8.0 * self.unit) > self.radius * ROUND_UP {
                possible.dwells.push(n);
                return Ok(possible);
            }
            if above * (1.0 + 8.0 * self.unit) * ROUND_UP >= self.radius {
                // Once e > |z| + R, e' >= e^2 + 2 |z| e > |z|^2 + |c| + R >= |z'| + R for |c| <= R, R >= 2: no later n is
                // excluded.
                if e.is_nan() || e > modulus + self.radius {
                    possible.from = Some(n);
                    break;
                }
                possible.dwells.push(n);
            }
            (x, y) = (x * x - y * y + a, 2.0 * x * y + b);
            e = ((2.0 * modulus + e) * e + constant + of_square * above * above) * ROUND_UP;
        }
        possible.none = true;
        Ok(possible)
    }
}

/// The greatest absolute value of an axis, and what lies one step beyond its ends.
fn greatest<N: Number>(axis: &[N]) -> f64 {
    let at = |index: usize| axis.get(index).map_or(0.0, |value| value.to_f64());
    let last = axis.len().saturating_sub(1);
    let step = if last > 0 { (at(1) - at(0)).abs() } else { 0.0 };
    at(0).abs().max(at(last).abs()) + step
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::{Limits, NumberKind, Plan, Points, Settings, Size, View};

    /// Steps of z^2 + c in usual orders of operations, [x, y, a, b] to the next [x, y], as functions of a number.
    macro_rules! orders {
        ($n:ty) => {
            [
                |x: $n, y: $n, a: $n, b: $n| [x * x - y * y + a, 2.0 * x * y + b],
                |x, y, a, b| [x * x + (a - y * y), (x + x) * y + b],
                |x, y, a, b| [(x + y) * (x - y) + a, x * y + x * y + b],
                |x, y, a, b| [x * x - y * y + a, (x + y) * (x + y) - x * x - y * y + b],
                |x, y, a, b| [a - y * y + x * x, (x + y) * (x + y) + (b - x * x - y * y)],
                |x: $n, y: $n, a: $n, b: $n| [x.mul_add(x, (-y).mul_add(y, a)), (2.0 * x).mul_add(y, b)],
                |x: $n, y: $n, a: $n, b: $n| [x.mul_add(x, -(y * y)) + a, x.mul_add(y, x * y) + b],
            ] as [fn($n, $n, $n, $n) -> [$n; 2]; 7]
        };
    }

    macro_rules! dwell_in {
        ($n:ty, $step:expr, $c:expr, $limit:expr) => {{
            let [a, b]: [$n; 2] = $c;
            let (mut x, mut y) = (a, b);
            let mut dwell = 0;
            for n in 1..=$limit {
                if x * x + y * y > 4.0 {
                    dwell = n;
                    break;
                }
                [x, y] = $step(x, y, a, b);
            }
            dwell
        }};
    }

    fn plan(number: NumberKind, zoom: &str) -> Plan {
        let view = View::centred("-0.7436", "0.1318", zoom).unwrap().sized(Size::new(60, 50).unwrap());
        let settings = Settings { number, limit: 400, ..Settings::default() };
        Plan::new(&view, &settings, &Limits::default()).unwrap()
    }

    /// Checks every order of operations, with coordinates moved by `ulps` roundings; counts points where one dwell is
    /// possible and where several are.
    macro_rules! check {
        ($n:ty, $points:expr, $ulps:expr) => {{
            let (orbits, grid) = (Orbits::of($points, 400), $points.axes.grid(0..60, 0..50));
            let (mut single, mut several) = (0, 0);
            for at in 0..3000 {
                let c: [$n; 2] = grid.point(at % 60, at / 60);
                let possible = orbits.possible(c.map(|part| Number::to_f64(part)), &Cancel::default()).unwrap();
                let alone = possible.from.is_none() && possible.dwells.len() + usize::from(possible.none) == 1;
                *(if alone { &mut single } else { &mut several }) += 1;
                for moved in [-$ulps, 0.0, $ulps] {
                    let c = c.map(|part| part + moved * <$n>::EPSILON * 0.74);
                    for (order, step) in orders!($n).into_iter().enumerate() {
                        let dwell = dwell_in!($n, step, c, 400);
                        assert!(possible.any(400, |other| other == dwell), "{c:?} order {order}: {dwell}, {possible}");
                    }
                }
            }
            (single, several)
        }};
    }

    #[test]
    fn every_order_of_operations_gives_a_possible_dwell() {
        for zoom in ["1", "300"] {
            for number in [NumberKind::F32, NumberKind::F64] {
                let (single, several) = match plan(number, zoom).points() {
                    Points::F32(points) => check!(f32, points, 5.0),
                    Points::F64(points) => check!(f64, points, 5.0),
                    _ => panic!("coordinates"),
                };
                assert!(single > 1500, "{number} {zoom}: {single} points have a single dwell, {several} more");
                assert!(number == NumberKind::F64 || several > 0, "{number} {zoom}: a rounding decides nowhere");
            }
        }
    }

    #[test]
    fn ties_leave_both_sides_possible() {
        let plan = plan(NumberKind::F64, "1");
        let Points::F64(points) = plan.points() else { panic!("f64") };
        let orbits = Orbits::of(points, 100);
        let possible = |c| orbits.possible(c, &Cancel::default()).unwrap();
        // |z_1| = 2, and 2 beside the axis: the orbit stays near 2 or escapes.
        let tie = possible([-2.0, 0.0]);
        assert!(tie.any(100, |dwell| dwell == 1) && tie.any(100, |dwell| dwell == 0), "{tie}");
        assert_eq!(possible([2.0, 0.0]).dwells, [1, 2]);
        assert_eq!(
            (possible([0.0, 0.0]).to_string(), possible([1.0, 1.0]).to_string()),
            ("no escape".into(), "2".into())
        );
        assert_eq!(possible([2.5, 0.0]), Possible { dwells: vec![1], ..Possible::default() });
        let cancel = Cancel::default();
        cancel.cancel();
        assert!(matches!(Orbits::of(points, 1 << 20).possible([0.0, 0.0], &cancel), Err(Error::Interrupted)));
    }
}
