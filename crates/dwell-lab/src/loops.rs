//! The inner loops of publications that no kernel of ours has, as they are written there: one point at a time, row by row, on
//! one thread or many.

use dwell::{
    Cancel, DirectPoints, Error, Formula, InputError, Number, Parameter, Plan, Points, Problem, Schedule, ThreadPool,
};
use std::time::{Duration, Instant};

/// An inner loop z -> z^2 + c of a publication. Its roundings are those of no recipe, so that a few counts near the boundary of
/// the set differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceLoop {
    /// z^2 by the complex power function, exp(2 log z) in polar form, and |z| by a root: `pow(z, 2)` and `abs(z)`.
    Pow,
    /// z^2 by a complex product, and |z| by a root: `z * z` and `abs(z)`.
    Abs,
    /// z^2 by a complex product, and |z|^2 without a root: `z * z` and `norm(z)`.
    Norm,
    /// As `norm`, with a fused multiply-add in the real part of z^2, which is rounded before c is added: genova's vectors with
    /// fused multiply-adds.
    Fused,
}

dwell_kernels::named!(ReferenceLoop, "reference loop": Pow => "pow", Abs => "abs", Norm => "norm", Fused => "fused");

impl ReferenceLoop {
    /// Computes the dwells of a plan, row by row from the top, on `threads` threads that receive rows by `schedule`. The test
    /// is |z| >= 2 where the plan's R^2 is the number just below 4, and |z| > R otherwise.
    ///
    /// Returns the wall time of the loops, without the start of the threads.
    ///
    /// # Errors
    /// [`Error::Input`] when `dwells` has not one value for each pixel, or the formula is not z^2 + c in the parameter plane;
    /// [`Error::Interrupted`] when `cancel` was cancelled.
    pub fn run(
        self,
        plan: &Plan,
        threads: usize,
        schedule: Schedule,
        dwells: &mut [u32],
        cancel: &Cancel,
    ) -> Result<Duration, Error> {
        if dwells.len() as u64 != plan.size().pixels() {
            let problem = format!("{} dwells for {} pixels", dwells.len(), plan.size().pixels());
            return Err(InputError::malformed(problem).about(Parameter::Named("field")).into());
        }
        if plan.formula() != Formula::MANDELBROT || plan.julia().is_some() {
            let problem =
                Problem::Unsupported("the reference loops compute z^2 + c in the parameter plane only".to_owned());
            return Err(InputError::new(problem).about(Parameter::Named("loop")).into());
        }
        let pool = ThreadPool::new(threads);
        match plan.points() {
            Points::F32(points) => self.fill(points, plan.direct_limit(), &pool, schedule, dwells, cancel),
            Points::F64(points) => self.fill(points, plan.direct_limit(), &pool, schedule, dwells, cancel),
            other => Err(other.unsupported_by("a reference loop").into()),
        }
    }

    fn fill<N: Real>(
        self,
        points: &DirectPoints<N>,
        limit: u32,
        pool: &ThreadPool,
        schedule: Schedule,
        dwells: &mut [u32],
        cancel: &Cancel,
    ) -> Result<Duration, Error> {
        let [columns, _, rows, _] = points.axes.arrays().map(<[N]>::len);
        // The threads start at the first use.
        pool.for_each_chunk(Schedule::Static, &mut vec![(); pool.threads()], 1, |_, _| Ok::<(), Error>(()))?;
        let test = Test::of(points.radius_squared);
        let began = Instant::now();
        pool.for_each_chunk(schedule, dwells, columns, |row, out| {
            let grid = points.axes.grid(0..columns as u32, 0..rows as u32);
            for (column, dwell) in out.iter_mut().enumerate() {
                let c = grid.point(column, row);
                let found = match self {
                    Self::Pow => dwell_of(c, limit, cancel, N::second_power, |z| test.root(z)),
                    Self::Abs => dwell_of(c, limit, cancel, product, |z| test.root(z)),
                    Self::Norm => dwell_of(c, limit, cancel, product, |z| test.norm(z)),
                    Self::Fused => dwell_of(c, limit, cancel, fused_product, |z| test.norm(z)),
                };
                *dwell = found.ok_or(Error::Interrupted)?;
            }
            Ok::<(), Error>(())
        })?;
        Ok(began.elapsed())
    }
}

/// The loop: the least n from 1 at which z_n has escaped, or 0. `None` when it was cancelled.
#[inline(always)]
fn dwell_of<N: Number>(
    [a, b]: [N; 2],
    limit: u32,
    cancel: &Cancel,
    square: impl Fn([N; 2]) -> [N; 2],
    has_escaped: impl Fn([N; 2]) -> bool,
) -> Option<u32> {
    let mut z = [N::default(); 2];
    for n in 1..=limit {
        let [x, y] = square(z);
        z = [x + a, y + b];
        if has_escaped(z) {
            return Some(n);
        }
        if n & 0xffff == 0 && cancel.is_cancelled() {
            return None;
        }
    }
    // Most time is spent in points that do not escape.
    if cancel.is_cancelled() { None } else { Some(0) }
}

/// z z, every product and sum rounded.
#[inline(always)]
fn product<N: Number>([x, y]: [N; 2]) -> [N; 2] {
    [x * x - y * y, x * y + y * x]
}

/// z z with one rounding less in the real part.
#[inline(always)]
fn fused_product<N: Number>([x, y]: [N; 2]) -> [N; 2] {
    [x.fma(x, -(y * y)), x * y + y * x]
}

/// The test for escape.
#[derive(Clone, Copy)]
struct Test<N> {
    at_least: bool,
    radius: N,
    radius_squared: N,
}

impl<N: Real> Test<N> {
    fn of(radius_squared: N) -> Self {
        let at_least = radius_squared == N::BELOW_FOUR;
        let radius_squared = if at_least { N::nearest(4.0) } else { radius_squared };
        Self { at_least, radius: N::nearest(radius_squared.to_f64().sqrt()), radius_squared }
    }

    #[inline(always)]
    fn root(&self, [x, y]: [N; 2]) -> bool {
        self.is_beyond(x.length(y), self.radius)
    }

    #[inline(always)]
    fn norm(&self, [x, y]: [N; 2]) -> bool {
        self.is_beyond(x * x + y * y, self.radius_squared)
    }

    #[inline(always)]
    fn is_beyond(&self, value: N, radius: N) -> bool {
        if self.at_least { value >= radius } else { value > radius }
    }
}

/// A number with the functions of a mathematics library that the loops call.
trait Real: Number {
    /// z^2 as the power function of complex numbers computes it: e^(2 ln |z|) at the angle 2 arg z.
    fn second_power(z: [Self; 2]) -> [Self; 2];
    /// The length of (self, other), without overflow.
    fn length(self, other: Self) -> Self;
}

macro_rules! real {
    ($t:ident $(#[$lint:meta])?) => {
        impl Real for $t {
            $(#[$lint])?
            #[inline(always)]
            fn second_power([x, y]: [Self; 2]) -> [Self; 2] {
                // The logarithm of 0 is -infinity, whose exponential is 0 at the angle 0.
                let (size, angle) = ((2.0 * x.hypot(y).ln()).exp(), 2.0 * y.atan2(x));
                [size * angle.cos(), size * angle.sin()]
            }

            #[inline(always)]
            fn length(self, other: Self) -> Self {
                self.hypot(other)
            }
        }
    };
}
real!(f32);
real!(f64 #[expect(clippy::disallowed_methods, reason = "the functions of the mathematics library are what is measured")]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes;
    use crate::convention::{AxisRule, Convention, Escape};
    use dwell::{Frame, Limits, NumberKind, Recipe, Scene, Settings, Size, naive};

    fn scene(number: NumberKind, limit: u64) -> Scene {
        let settings = Settings { number, limit, recipe: Recipe::Separate, ..Settings::default() };
        let mut scene = Scene { settings, ..Scene::default() };
        scene.view = scene.view.sized(Size::new(150, 100).unwrap());
        let [xmin, xmax, ymin, ymax] = ["-2", "1", "-1", "1"].map(|edge| edge.parse().unwrap());
        scene.view.frame = Frame::Bounds { xmin, xmax, ymin, ymax };
        scene
    }

    fn plan(number: NumberKind, limit: u64, escape: Escape) -> Plan {
        let convention = Convention { axes: AxisRule::Step, escape, ..Convention::default() };
        axes::plan(&scene(number, limit), &convention, &Limits::default()).unwrap()
    }

    fn field(reference_loop: ReferenceLoop, plan: &Plan, threads: usize, schedule: Schedule) -> Vec<u32> {
        let mut dwells = vec![77; 150 * 100];
        reference_loop.run(plan, threads, schedule, &mut dwells, &Cancel::default()).unwrap();
        dwells
    }

    fn plain(plan: &Plan) -> Vec<u32> {
        let places = (0..100).flat_map(|row| (0..150).map(move |column| (column, row)));
        match plan.points() {
            Points::F64(points) => places
                .map(|(i, j)| {
                    let c = points.axes.grid(0..150, 0..100).point(i, j);
                    naive::dwell(&points.map, c, plan.direct_limit(), points.radius_squared)
                })
                .collect(),
            Points::F32(points) => places
                .map(|(i, j)| {
                    let c = points.axes.grid(0..150, 0..100).point(i, j);
                    naive::dwell(&points.map, c, plan.direct_limit(), points.radius_squared)
                })
                .collect(),
            _ => unreachable!("two numbers"),
        }
    }

    #[test]
    fn loops_agree_with_the_plain_loop_where_rounding_does_not_decide() {
        for (number, most) in [(NumberKind::F32, 75), (NumberKind::F64, 15)] {
            for escape in [Escape::Beyond, Escape::AtLeast] {
                let plan = plan(number, 200, escape);
                let expected = plain(&plan);
                for reference_loop in ReferenceLoop::ALL {
                    let found = field(reference_loop, &plan, 1, Schedule::Static);
                    // On the real axis the angle of z^2 in polar form is not 0, and the orbits of the needle are unstable.
                    let on_axis = |i: usize| i / 150 == 49;
                    let pairs = found.iter().zip(&expected).enumerate().filter(|(i, _)| !on_axis(*i));
                    let differing = pairs.filter(|(_, (a, b))| a != b).count();
                    assert!(differing <= most, "{reference_loop} {number} {escape:?}: {differing} differ");
                }
            }
        }
    }

    #[test]
    fn threads_and_schedules_change_nothing() {
        let plan = plan(NumberKind::F64, 60, Escape::AtLeast);
        for reference_loop in ReferenceLoop::ALL {
            let alone = field(reference_loop, &plan, 1, Schedule::Static);
            assert!(alone.contains(&0) && alone.contains(&1));
            for schedule in [Schedule::Static, Schedule::Dynamic { chunk: 3 }, Schedule::Guided, Schedule::WorkStealing]
            {
                assert_eq!(field(reference_loop, &plan, 3, schedule), alone, "{reference_loop} {schedule}");
            }
        }
    }

    #[test]
    fn ties_are_decided_by_the_test() {
        // c = -2: |z| = 2 at every n. The first column, in the middle row.
        for number in NumberKind::DIRECT {
            for reference_loop in [ReferenceLoop::Abs, ReferenceLoop::Norm] {
                let tip = |escape| field(reference_loop, &plan(number, 50, escape), 1, Schedule::Static)[49 * 150];
                assert_eq!((tip(Escape::Beyond), tip(Escape::AtLeast)), (0, 1), "{reference_loop} {number}");
            }
        }
    }

    #[test]
    fn the_power_function_squares() {
        for z in [[0.0, 0.0], [-0.0, 0.0], [-2.0, 0.0], [0.3, -1.2], [1.9, 0.1]] {
            let ([x, y], [u, v]) = (f64::second_power(z), product(z));
            assert!((x - u).abs() < 1e-14 && (y - v).abs() < 1e-14, "{z:?}: {x} {y}");
        }
    }

    #[test]
    fn a_cancelled_loop_ends_and_wrong_calls_are_refused() {
        let cancel = Cancel::default();
        cancel.cancel();
        let endless = plan(NumberKind::F64, u32::MAX.into(), Escape::Beyond);
        let mut dwells = vec![0; 150 * 100];
        let run =
            |dwells: &mut [u32], plan: &Plan| ReferenceLoop::Norm.run(plan, 2, Schedule::default(), dwells, &cancel);
        assert!(matches!(run(&mut dwells, &endless), Err(Error::Interrupted)));
        assert!(matches!(run(&mut dwells[1..], &endless), Err(Error::Input(_))));
        let mut ship = scene(NumberKind::F64, 10);
        ship.settings.formula = "burning-ship".parse().unwrap();
        let ship = axes::plan(&ship, &Convention::default(), &Limits::default()).unwrap();
        assert!(matches!(run(&mut dwells, &ship), Err(Error::Input(_))));
    }
}
