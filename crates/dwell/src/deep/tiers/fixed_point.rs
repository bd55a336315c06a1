//! Attempts in fixed point.

use super::{Attempt, Course, DeepCall};
use crate::deep::fixed_bits::{FEWEST, OF_FORMULAS, OF_SQUARES};
use crate::deep::formulas;
use crate::deep::report::{Tier, TierReport};
use dwell_kernels::deep::direct::{self, Queue};
use dwell_kernels::deep::limbs::Fixed;
use dwell_kernels::deep::orbit::Found;
use std::time::Instant;

/// The error of a pixel in fixed point, in units: 4 for each part of its enclosure.
const FIXED_ERROR: f64 = 6.0;

impl Course<'_> {
    /// Whether fixed point with the fewest bits leaves a pixel of another formula than z^2 + c undecided: its orbit loses as many bits, as chaotic orbits do. It is
    /// the same on every machine, since this is in limbs on all of them.
    pub(crate) fn loses_all_bits(&self, place: (u32, u32)) -> bool {
        if self.orbits.is_none() || !self.attempts.contains(&Attempt::InFixedPoint(0)) {
            return false;
        }
        let (escape, mut is_undecided) = (self.escape_for(FEWEST), true);
        let constant = formulas::constant(&self.call.points.shared, escape.limbs.len());
        let goal = self.fixed_goal(&escape, constant.as_ref());
        let mut found = |_, found| is_undecided = found == Found::Undecided;
        formulas::in_fixed_point(self.call.points, &goal, &Queue::new(1, 1), |_| place, &mut found);
        is_undecided
    }

    /// How many pixels an attempt in fixed point takes at once.
    pub(super) fn at_once(&self) -> usize {
        let shared = &self.call.points.shared;
        // Whatever the limbs.
        let constant = formulas::constant(shared, 2);
        let is_best = direct::is_best(self.call.level, &formulas::iterated(shared, constant.as_ref()), self.slopes);
        if is_best { direct::at_once(self.call.level) } else { 1 }
    }

    /// R^2 with limbs for so many bits more than those of the view.
    fn escape_for(&self, more_bits: i64) -> Fixed {
        let points = self.call.points;
        let bits = usize::try_from((more_bits - points.own_scale()).max(more_bits)).unwrap_or(usize::MAX);
        points.shared.exact_escape(1 + bits.div_ceil(64))
    }

    /// What points are iterated for with as many limbs as R^2 has.
    fn fixed_goal<'s>(&'s self, escape: &'s Fixed, constant: Option<&'s [Fixed; 2]>) -> direct::Goal<'s> {
        let DeepCall { points, limit, control, .. } = &self.call;
        let shared = &points.shared;
        direct::Goal {
            iterated: formulas::iterated(shared, constant),
            limbs: escape.limbs.len(),
            error: FIXED_ERROR,
            escape: shared.escape(),
            exact_escape: escape,
            limit: self.most_steps.min(*limit),
            smooth: self.smooth,
            units: self.slopes.then(|| (*points.units(), shared.unit())),
            stop: control.cancel.flag(),
        }
    }

    /// Follows the points of a queue. The share of the lanes in use, beside the report.
    pub(super) fn in_fixed_point(
        &self,
        number: usize,
        queue: &Queue,
        place: impl Fn(usize) -> (u32, u32),
        found: &mut dyn FnMut(usize, Found),
    ) -> (TierReport, f64) {
        let (began, mut report) = (Instant::now(), TierReport::new(Tier::FixedPoint));
        let Attempt::InFixedPoint(attempt) = self.attempts[number] else { return (report, 1.0) };
        let DeepCall { points, level, .. } = self.call;
        let ladder = if self.orbits.is_some() { OF_FORMULAS } else { OF_SQUARES };
        let escape = self.escape_for(ladder[attempt]);
        let limbs = escape.limbs.len();
        let constant = formulas::constant(&points.shared, limbs);
        let goal = self.fixed_goal(&escape, constant.as_ref());
        let is_bounded = goal.limit < self.call.limit;
        let mut found = |number: usize, of: Found| {
            found(number, if is_bounded && of == Found::Stays { Found::Undecided } else { of });
            // At the end a thread may wait for others.
            report.seconds = began.elapsed().as_secs_f64();
        };
        if !direct::is_best(level, &goal.iterated, self.slopes) {
            formulas::in_fixed_point(points, &goal, queue, place, &mut found);
            return (report, 1.0);
        }
        let mut point = |number: usize| points.in_fixed_point(place(number), limbs);
        let followed = direct::follow(level, &goal, queue, &mut point, &mut found);
        if followed.leaves {
            report.seconds = began.elapsed().as_secs_f64();
        }
        (report, followed.used)
    }
}
