//! The check of a field that another program computed in an order of roundings of its own.
//!
//! Two honest computations in one number differ where an orbit amplifies rounding errors to the size of a comparison. So at
//! most one pixel in 1,000 may differ from the reference, and each that does must have a count that some order of roundings
//! gives. These counts are found by following the orbit in f64 with a bound on the distance of every orbit that roundings
//! in the plan's number can make of it (`rounding/orbits.rs`). A count outside of them is wrong, however few pixels have it. Arbitrary
//! precision says how many of the differing counts are those of exact arithmetic at the same point.

mod orbits;

use crate::convention::Counts;
use crate::counts::recorded;
use crate::record::Status;
use dwell::truth::{TrueDwells, Truth};
use dwell::{
    Cancel, DirectPoints, Error, Formula, InputError, Kernels, Plan, PointsVisitor, Problem, Rational, Settings,
};
use dwell_kernels::Number;
use orbits::{Orbits, Possible};

/// The pixels of which one may differ in the field of another program.
pub const ONE_IN: u64 = 1000;

/// Checks the dwells of another program against the reference, which has the dwells of `plan`, both in the order of the
/// plan's pixels. Dwells that `counts` records alike are equal; of `one_in` pixels one may differ.
///
/// # Errors
/// [`Error::Input`] when the fields have other sizes than the plan, or the plan iterates another map than z^2 + c from c;
/// [`Error::Interrupted`] after `cancel` was set.
pub fn check(
    plan: &Plan,
    reference: &[u32],
    dwells: &[u32],
    counts: Counts,
    one_in: u64,
    cancel: &Cancel,
) -> Result<Status, Error> {
    let pixels = plan.size().pixels();
    for field in [reference, dwells] {
        if field.len() as u64 != pixels {
            let problem = format!("{} counts for {pixels} pixels", field.len());
            return Err(InputError::malformed(problem).into());
        }
    }
    let recorded = |dwell| recorded(dwell, plan.direct_limit(), counts);
    let differs = |at: &usize| recorded(dwells[*at]) != recorded(reference[*at]);
    let Some(first) = (0..dwells.len()).find(differs) else { return Ok(Status::Equal) };
    // Counted before they are collected: a wrong field may differ everywhere.
    let wrong = (first..dwells.len()).filter(differs).count() as u64;
    if wrong.saturating_mul(one_in) > pixels {
        let (place, count, right) = (place(plan, first), spoken(dwells[first]), spoken(reference[first]));
        let why = format!(
            "{wrong} of {pixels} pixels differ, and accepted is at most 1 in {one_in}; at {place}, the first, \
             {count} instead of {right}"
        );
        return Ok(Status::Wrong { wrong, why });
    }
    let differing: Vec<usize> = (first..dwells.len()).filter(differs).collect();
    let check = Differing { plan, reference, dwells, counts, differing: &differing, cancel };
    plan.points().visit(check).ok_or_else(|| Error::from(plan.points().unsupported_by("the check of roundings")))?
}

/// The column and row of a pixel in words.
fn place(plan: &Plan, at: usize) -> String {
    let width = plan.size().width as usize;
    format!("column {}, row {}", at % width, at / width)
}

/// A dwell in words.
fn spoken(dwell: impl Into<u64>) -> String {
    let dwell = dwell.into();
    if dwell == 0 { "no escape".to_owned() } else { dwell.to_string() }
}

/// The pixels that differ.
struct Differing<'a> {
    plan: &'a Plan,
    reference: &'a [u32],
    dwells: &'a [u32],
    counts: Counts,
    differing: &'a [usize],
    cancel: &'a Cancel,
}

impl PointsVisitor for Differing<'_> {
    type Output = Result<Status, Error>;

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Self::Output {
        let plan = self.plan;
        if plan.formula() != Formula::MANDELBROT || points.map.julia.is_some() {
            let problem = "another rounding of this formula cannot be checked".to_owned();
            return Err(InputError::new(Problem::Unsupported(problem)).accepts("z^2 + c, with c the pixel").into());
        }
        let (width, size) = (plan.size().width as usize, plan.size());
        let grid = points.axes.grid(0..size.width, 0..size.height);
        let orbits = Orbits::of(points, plan.direct_limit());
        let exact = TrueDwells::new(plan.view(), &settings(plan));
        let (mut right, mut impossible, mut first) = (0, 0, None);
        for at in self.differing {
            let c = grid.point(at % width, at / width).map(Number::to_f64);
            let truth = exact.dwell_at(&c.map(Rational::from_f64), self.cancel)?.0;
            let possible = orbits.possible(c, self.cancel)?;
            let recorded = |dwell| recorded(dwell, plan.direct_limit(), self.counts);
            let count = recorded(self.dwells[*at]);
            if !possible.any(plan.direct_limit(), |dwell| recorded(dwell) == count) {
                impossible += 1;
                first = first.or(Some((*at, possible, truth)));
            }
            right += u64::from(
                matches!(truth, Truth::Dwell(truth) if u32::try_from(truth).is_ok_and(|truth| recorded(truth) == count)),
            );
        }
        let differing = self.differing.len() as u64;
        Ok(first.map_or(Status::OtherRounding { differing, right }, |(at, possible, truth)| {
            self.wrong(impossible, at, &possible, truth)
        }))
    }
}

impl Differing<'_> {
    fn wrong(&self, impossible: u64, at: usize, possible: &Possible, truth: Truth) -> Status {
        let wrong = self.differing.len() as u64;
        let truth = match truth {
            Truth::Dwell(dwell) => spoken(dwell),
            Truth::Undecided { .. } => "undecided".to_owned(),
        };
        let why = format!(
            "{impossible} of {wrong} differing pixels have a count that no order of roundings in {} gives; at {}, the \
             first, {} instead of {} (possible: {possible}; exact arithmetic: {truth})",
            self.plan.number(),
            place(self.plan, at),
            spoken(self.dwells[at]),
            spoken(self.reference[at]),
        );
        Status::Wrong { wrong, why }
    }
}

/// The settings of a plan that a true dwell depends on.
fn settings(plan: &Plan) -> Settings {
    Settings {
        formula: plan.formula(),
        julia: plan.julia().cloned(),
        limit: plan.limit(),
        escape_radius: plan.escape_radius().clone(),
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::{Fold, Limits, NumberKind, Size, View, naive};

    const PIXELS: usize = 40 * 30;

    fn plan(change: impl Fn(&mut Settings)) -> Plan {
        let view = View::centred("-0.7", "0.1", "1.3").unwrap().sized(Size::new(40, 30).unwrap());
        let mut settings = Settings { limit: 30, number: NumberKind::F64, ..Settings::default() };
        change(&mut settings);
        Plan::new(&view, &settings, &Limits::default()).unwrap()
    }

    fn dwells(plan: &Plan) -> Vec<u32> {
        let dwell::Points::F64(points) = plan.points() else { panic!("f64") };
        let grid = points.axes.grid(0..40, 0..30);
        let dwell =
            |at| naive::dwell(&points.map, grid.point(at % 40, at / 40), plan.direct_limit(), points.radius_squared);
        (0..PIXELS).map(dwell).collect()
    }

    fn checked(plan: &Plan, reference: &[u32], dwells: &[u32], counts: Counts) -> Result<Status, Error> {
        check(plan, reference, dwells, counts, ONE_IN, &Cancel::default())
    }

    #[test]
    fn one_pixel_is_decided_and_two_of_so_few_are_too_many() {
        let plan = plan(|_| {});
        let right = dwells(&plan);
        let mut other = right.clone();
        let at = right.iter().position(|dwell| *dwell == 5).unwrap();
        other[at] = 6;
        let Status::Wrong { wrong: 1, why } = checked(&plan, &right, &other, Counts::Dwell).unwrap() else { panic!() };
        let place = format!("at column {}, row {}, the first, 6 instead of 5", at % 40, at / 40);
        assert!(why.contains(&place) && why.contains("(possible: 5; exact arithmetic: 5)"), "{why}");
        // The reference is the one that is wrong: the other has the dwell of exact arithmetic.
        let status = checked(&plan, &other, &right, Counts::Dwell).unwrap();
        assert_eq!(status, Status::OtherRounding { differing: 1, right: 1 });
        other[at + 1] += 1;
        let Status::Wrong { wrong: 2, why } = checked(&plan, &right, &other, Counts::Dwell).unwrap() else { panic!() };
        assert!(why.contains("2 of 1200 pixels differ, and accepted is at most 1 in 1000"), "{why}");
    }

    #[test]
    fn dwells_that_are_recorded_alike_are_equal() {
        let plan = plan(|_| {});
        let right = dwells(&plan);
        let late: Vec<u32> = right.iter().map(|dwell| if *dwell == 0 { 30 } else { *dwell }).collect();
        assert_eq!(checked(&plan, &right, &late, Counts::Lagging).unwrap(), Status::Equal);
        assert_eq!(checked(&plan, &right, &late, Counts::Byte).unwrap(), Status::Equal);
        assert!(!checked(&plan, &right, &late, Counts::FromZero).unwrap().is_timed());
    }

    #[test]
    fn what_cannot_be_checked_is_an_error() {
        let right = dwells(&plan(|_| {}));
        let error = checked(&plan(|_| {}), &right[1..], &right, Counts::Dwell).unwrap_err().to_string();
        assert!(error.contains("1199 counts for 1200 pixels"), "{error}");
        let mut other = right.clone();
        other[0] += 1;
        let ship = plan(|settings| settings.formula = Formula::new(Fold::Absolute, 2).unwrap());
        let julia = plan(|settings| settings.julia = Some(["0.1", "0.2"].map(|part| part.parse().unwrap())));
        for plan in [ship, julia] {
            let error = checked(&plan, &right, &other, Counts::Dwell).unwrap_err().to_string();
            assert!(error.contains("accepted: z^2 + c"), "{error}");
        }
    }
}
