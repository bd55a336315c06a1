//! What bounds the automatic limit from above: the time of points that neither escape nor are proved to stay.

use super::list::{List, Point};
use super::points::{Computer, WHAT};
use super::stages::FACTOR;
use crate::base::error::Error;
use crate::base::limits::collected;

/// Points that have not escaped whose cycles are searched for, at most, and the fewest steps of the search; and such points of a map with a
/// fold, where a hundredth of them may be chaotic and take nearly all the time.
const SEARCHED: usize = 64;
pub(super) const SEARCHED_STEPS: u64 = 1 << 17;
const SEARCHED_FOLDED: usize = 128;
/// Iterations that points which are not proved to stay may take whatever they spare and beyond [`Computer::most_added`], as a multiple of the
/// iterations of the points that escape.
const ALLOWED_TIMES: f64 = 3.0;

/// What bounds the limit of a view from above.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// The share of the view whose points neither escape nor are proved to stay, so that a picture iterates them up to the limit.
    pub(super) open: f64,
    /// The same as a share of the points that do not escape.
    pub(super) open_of_staying: f64,
    /// The iterations that one pixel less is worth which is falsely black.
    pub(super) price: f64,
    /// A limit that is allowed whatever it costs.
    pub(super) allowed: f64,
    /// The greatest limit, whatever it spares.
    pub(super) most: f64,
}

impl Bound {
    /// No bound.
    pub(super) const NONE: Self =
        Self { open: 0.0, open_of_staying: 0.0, price: 1.0, allowed: 0.0, most: f64::INFINITY };

    /// The greatest limit that late orbits allow ([`Computer::most_limit`]), and no other bound.
    pub(super) fn of_late_orbits(most: f64) -> Self {
        Self { most, ..Self::NONE }
    }

    /// Whether it is one of [`Self::of_late_orbits`].
    pub(super) fn is_of_late_orbits(&self) -> bool {
        self.open == 0.0 && self.most.is_finite()
    }

    /// A bound that allows this limit, too.
    pub(super) fn allowing(self, limit: f64) -> Self {
        Self { allowed: self.allowed.max(limit), most: self.most.max(limit), ..self }
    }
}

/// The points of a list that stay, of which a sample tells how many are open.
///
/// Points that neither escape nor enter a cycle are iterated up to the limit at every pixel:
/// near the boundary of a component, cycles are entered late, and chaotic orbits of the Burning Ship stay, never return
/// to a z, and are proved to stay only at some distance from those that escape.
#[derive(Debug)]
pub(super) struct Staying {
    /// The limit to which the list had been iterated.
    limit: u64,
    sample: List,
    /// Their share of the list.
    share: f64,
    /// The mean dwell of the list.
    mean: f64,
    /// The greatest limit that late orbits allow ([`Computer::most_limit`]).
    most: f64,
}

impl Staying {
    /// Those of a list that has been iterated to this limit.
    pub(super) fn of(computer: &impl Computer, list: &[Point], limit: u64) -> Result<Self, Error> {
        let most = computer.most_limit(list, limit)?;
        let stays = || list.iter().filter(|point| point.dwell() == 0).copied();
        let count = list.iter().map(|point| usize::from(point.dwell() == 0)).sum::<usize>();
        let points = list.len() as f64;
        let step = count.div_ceil(if computer.is_folded() { SEARCHED_FOLDED } else { SEARCHED }).max(1);
        let mean = list.iter().map(Point::dwell).sum::<u64>() as f64 / points;
        Ok(Self { limit, sample: List::new(stays().step_by(step))?, share: count as f64 / points, mean, most })
    }

    /// The bound if so many of them are open, as a share of them.
    fn bound_with(&self, computer: &impl Computer, open_of_staying: f64) -> Bound {
        if self.share == 0.0 {
            return Bound { most: self.most, ..Bound::NONE };
        }
        let open = open_of_staying * self.share;
        let allowed = ALLOWED_TIMES * self.mean / open;
        let most = self.most.min((computer.most_added() / open).max(allowed));
        Bound { open, open_of_staying, price: computer.price(), allowed, most }
    }

    /// The bound if all of them are open.
    pub(super) fn strictest(&self, computer: &impl Computer) -> Bound {
        self.bound_with(computer, 1.0)
    }

    /// The bound by the share of the sample that is open.
    ///
    /// Cycles are searched for up to the limit to which the list had been iterated: where a fixed point attracts weakly, a point
    /// enters its cycle as late as points beside it escape.
    pub(super) fn bound(mut self, computer: &impl Computer) -> Result<Bound, Error> {
        if self.share == 0.0 {
            return Ok(self.bound_with(computer, 0.0));
        }
        let size = self.sample.len() as f64;
        // Without those that escape soon.
        let steps = self.limit.max(SEARCHED_STEPS.min(self.most as u64));
        computer.run(&mut self.sample, steps)?;
        let staying = collected(self.sample.iter().filter(|point| point.dwell() == 0).copied(), WHAT)?;
        let open = computer.proved(&staying, steps)?.iter().filter(|proved| !**proved).count() as f64;
        // The expected share by Jeffreys' rule: a sample may miss the few chaotic points of a folded map.
        let open_of_staying = if computer.is_folded() { (open + 0.5) / (size + 1.0) } else { open / size };
        Ok(self.bound_with(computer, open_of_staying))
    }
}

/// A bound that is found when it matters. Until then it is the strictest that is possible: the sample of a view of the seahorse valley takes half the time of a
/// search on 16 threads, whose limit is far below what it allows.
#[derive(Debug)]
pub(super) struct LazyBound {
    /// What is known of it.
    known: Bound,
    /// The sample, until it is found, and a limit that is allowed whatever it shows.
    staying: Option<(Staying, f64)>,
}

impl LazyBound {
    /// A bound that is known.
    pub(super) fn known(known: Bound) -> Self {
        Self { known, staying: None }
    }

    /// The bound of a list that has been iterated to this limit, which it allows. With a fold it is found at once, since it always matters.
    pub(super) fn of(computer: &impl Computer, list: &[Point], limit: u64) -> Result<Self, Error> {
        let (staying, allowed) = (Staying::of(computer, list, limit)?, limit as f64);
        if computer.is_folded() {
            return Ok(Self::known(staying.bound(computer)?.allowing(allowed)));
        }
        Ok(Self { known: staying.strictest(computer).allowing(allowed), staying: Some((staying, allowed)) })
    }

    /// What is known of the bound: it, or a stricter one.
    pub(super) fn so_far(&self) -> &Bound {
        &self.known
    }

    /// The bound.
    pub(super) fn found(&mut self, computer: &impl Computer) -> Result<&Bound, Error> {
        if let Some((staying, allowed)) = self.staying.take() {
            self.known = staying.bound(computer)?.allowing(allowed);
        }
        Ok(&self.known)
    }
}

/// The numbers of points that have escaped by a limit, and that have escaped in its stage, after a quarter of it.
pub(super) fn escapes(list: &[Point], limit: u64) -> (usize, usize) {
    list.iter().fold((0, 0), |(escaped, late), point| {
        let is_above = |least: u64| usize::from((least + 1..=limit).contains(&point.dwell()));
        (escaped + is_above(0), late + is_above(limit / FACTOR))
    })
}
