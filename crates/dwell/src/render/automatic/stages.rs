//! The stages in which the points of a probe are iterated, each up to four times the limit of the one before.
//!
//! Points that are proved never to escape are not iterated again. Whether a stage is the last depends on escapes alone, so the
//! result does not depend on when a kernel proves this, which differs with the width of its vectors.

use super::bound::{Bound, LazyBound, SEARCHED_STEPS, Staying, escapes, limit_of_median};
use super::limit::Escapes;
use super::list::{List, Outcome, Point};
use super::points::Computer;
use crate::base::error::Error;

/// The limit of the first stage.
const FIRST: u64 = 1024;
/// The factor from the limit of a stage to that of the next.
pub(super) const FACTOR: u64 = 4;
/// The limit from which on only every [`SCOUT`]-th point is iterated, as long as none has escaped, and that from which on only every
/// [`LATE_SCOUT`]-th is. Beside a parabolic point of the boundary hardly any point is proved to stay: with as many late scouts as early ones, a view at a zoom
/// of 10^20 around -0.75 was searched for a minute.
const SCOUTS_FROM: u64 = 1 << 18;
const SCOUT: usize = 64;
const LATE_SCOUTS_FROM: u64 = 1 << 20;
const LATE_SCOUT: usize = 1024;
/// The limit of the last stage, and that with a fold, where points that stay without a proof take nearly all the time.
const LAST: u64 = 1 << 28;
const LAST_FOLDED: u64 = 1 << 26;
/// How far beyond the greatest possible limit points are iterated, in the search for the latest escapes.
const FAR: f64 = 4.0;
/// The part of the greatest limit up to which points of a map with a fold are iterated, if the escapes reach it: later ones change
/// nothing.
const NEAR: f64 = 1.0 / 4.0;
/// The limit from which on only some of the points of a map with a fold are iterated, of which so many are never proved to stay, if their share
/// is that of the view: each of those takes the time of some thousand points of the picture that escape. At the edges, where
/// cells have nine points, the share is several times as high.
const THINNED_FROM: u64 = 1 << 20;
const THINNED: usize = 48;

/// The limit of the last stage where points escape.
fn last(computer: &impl Computer) -> u64 {
    if computer.is_folded() { LAST_FOLDED } else { LAST }
}

/// Iterates one point of each cell, until fewer than one in a thousand escapes in a stage, or none has escaped at a limit
/// beyond which the search takes too long, or the limit is far beyond the greatest that is possible, or with a fold its escapes [`suffice`].
/// Returns the limit of the last stage, and in the latter cases what bounds it. It is found anew in each stage, since points that escape late
/// are not told from those that never do.
///
/// A stage without undecided points changes nothing, so that it makes no difference when they are proved to be inside.
pub(super) fn coarse(computer: &impl Computer, list: &mut List) -> Result<(u64, Option<Bound>), Error> {
    let (mut limit, mut some_escape) = (FIRST, false);
    let last_without_escape = computer.last_without_escape();
    loop {
        if limit > SCOUTS_FROM && !some_escape {
            let step = if limit > LATE_SCOUTS_FROM { LATE_SCOUT } else { SCOUT };
            let mut scouts = List::new(list.iter().step_by(step).copied())?;
            computer.run(&mut scouts, limit)?;
            some_escape = scouts.iter().any(|point| point.dwell() > 0);
            list.iter_mut().step_by(step).zip(scouts.iter()).for_each(|(point, scout)| *point = *scout);
        }
        if limit <= SCOUTS_FROM || some_escape {
            computer.run(list, limit)?;
        }
        let (escaped, late) = escapes(list, limit);
        some_escape = escaped > 0;
        if !some_escape && !list.iter().any(Point::is_undecided) {
            return Ok((last_without_escape, None));
        }
        let last = if some_escape { last(computer) } else { last_without_escape };
        if (some_escape && late * 1000 <= list.len()) || limit >= last {
            return Ok((limit, None));
        }
        if some_escape && limit >= SEARCHED_STEPS {
            let bound = Staying::of(computer, list, limit)?.bound(computer)?;
            let equal = || list.iter().map(|point| (point.dwell(), 1));
            let is_far = limit as f64 >= FAR * bound.most;
            if is_far || computer.is_folded() && suffice(&Escapes::new(equal(), list.len() as u64)?, &bound, limit) {
                return Ok((limit, Some(bound)));
            }
        }
        let most = limit_of_median(computer, list, limit)?;
        if limit as f64 >= most {
            return Ok((limit, Some(Bound { most, ..Bound::NONE })));
        }
        limit = (limit * FACTOR).min(most as u64);
    }
}

/// Whether the escapes up to a limit suffice for a map with a fold, where many points escape much later than the first ones let expect: a
/// search any further would cost too much for what it spares, or the limit is [`NEAR`] the greatest that is possible and they reach that.
fn suffice(escapes: &Escapes, bound: &Bound, limit: u64) -> bool {
    let n = limit as f64;
    let costs_too_much = n >= bound.allowed && escapes.cost(limit, bound.open) > bound.price;
    costs_too_much || n >= NEAR * bound.most && escapes.reach_most(bound)
}

/// Iterates all points, from the stage with this limit on, until fewer than one in ten thousand of the view escapes in a
/// stage, or the greatest possible limit is near, or with a fold the escapes [`suffice`]. Returns the limit of the last stage. `total` is the weight of the
/// view.
pub(super) fn fine(
    computer: &impl Computer,
    list: &mut List,
    total: u64,
    first: u64,
    bound: &mut LazyBound,
) -> Result<u64, Error> {
    if computer.is_folded() && first > THINNED_FROM {
        computer.run(list, THINNED_FROM)?;
        thin(list, bound.found(computer)?);
    }
    let mut limit = first;
    loop {
        computer.run(list, limit)?;
        let late = list.iter().filter(|point| point.dwell() > limit / FACTOR);
        let late: u64 = late.map(|point| u64::from(point.weight)).sum();
        let is_near = |bound: &Bound| limit as f64 >= bound.most / FACTOR as f64;
        if late * 10_000 <= total
            || limit >= last(computer)
            || is_near(bound.so_far()) && is_near(bound.found(computer)?)
        {
            return Ok(limit);
        }
        if computer.is_folded() {
            let bound = bound.found(computer)?;
            let dwells = list.iter().map(|point| (point.dwell(), point.weight));
            if suffice(&Escapes::new(dwells, total)?, bound, limit) {
                return Ok(limit);
            }
            if limit >= THINNED_FROM {
                thin(list, bound);
            }
        }
        limit *= FACTOR;
    }
}

/// Keeps points that have not escaped at even spacing, which stand for those that are skipped, so that about [`THINNED`] of them are never
/// proved to stay. Which are kept does not depend on which of them are proved by now, since that differs with the width of vectors.
fn thin(list: &mut [Point], bound: &Bound) {
    let stays = |point: &Point| matches!(point.outcome(), Outcome::Undecided | Outcome::Inside);
    let open = bound.open_of_staying * list.iter().filter(|point| stays(point)).count() as f64;
    let step = (open / THINNED as f64).ceil().max(1.0) as usize;
    for (number, point) in list.iter_mut().filter(|point| stays(point)).enumerate() {
        if number.is_multiple_of(step) {
            point.weight = point.weight.saturating_mul(step as u32);
        } else {
            point.set(Outcome::Skipped);
        }
    }
}
