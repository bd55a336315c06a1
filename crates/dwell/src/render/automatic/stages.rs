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
/// One in so many of the view may escape in the last stage.
const LATE: u64 = 10_000;
/// The undecided points, at most, that are iterated through two stages at once where the first of them is most likely not the last: so few take as long as one of
/// them, so that both stages take the time of the second.
const MOST_AHEAD: usize = 256;
/// The limit of the first of those stages, at most: beyond it, a stage takes much longer than it takes to begin one on many threads.
const AHEAD_TO: u64 = 1 << 14;
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
    let (mut limit, mut some_escape, mut reached) = (FIRST, false, 0);
    let last_without_escape = computer.last_without_escape();
    loop {
        if limit > SCOUTS_FROM && !some_escape {
            let step = if limit > LATE_SCOUTS_FROM { LATE_SCOUT } else { SCOUT };
            let mut scouts = List::new(list.iter().step_by(step).copied())?;
            computer.run(&mut scouts, limit)?;
            some_escape = scouts.iter().any(|point| point.dwell() > 0);
            list.iter_mut().step_by(step).zip(scouts.iter()).for_each(|(point, scout)| *point = *scout);
        }
        if limit > reached && (limit <= SCOUTS_FROM || some_escape) {
            // The first two stages at once: where many points are left after the first, they need the second. Points that have escaped in the second count as
            // undecided in the first.
            reached = if limit == FIRST && computer.looks_ahead() { limit * FACTOR } else { limit };
            computer.run(list, reached)?;
        }
        let (escaped, late) = escapes(list, limit);
        some_escape = escaped > 0;
        if !some_escape && !list.iter().any(|point| point.is_undecided() || point.dwell() > limit) {
            return Ok((last_without_escape, None));
        }
        let last = if some_escape { last(computer) } else { last_without_escape };
        if (some_escape && late * 1000 <= list.len()) || limit >= last {
            list.forget_beyond(limit);
            return Ok((limit, None));
        }
        if some_escape && limit >= SEARCHED_STEPS {
            let bound = Staying::of(computer, list, limit)?.bound(computer)?;
            let total = list.iter().map(|point| u64::from(point.weight)).sum();
            let is_far = limit as f64 >= FAR * bound.most;
            if is_far || computer.is_folded() && suffice(&Escapes::new(list, total)?, &bound, limit) {
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
fn suffice(escapes: &Escapes<'_>, bound: &Bound, limit: u64) -> bool {
    let n = limit as f64;
    let costs_too_much = n >= bound.allowed && escapes.cost(limit, bound.open) > bound.price;
    costs_too_much || n >= NEAR * bound.most && escapes.reach_most(bound)
}

/// Iterates all points, of which the first `known` have been iterated up to this limit, from the stage with it on, until fewer than one in ten thousand of the view escapes in a
/// stage, or the greatest possible limit is near, or with a fold the escapes [`suffice`]. Returns the limit of the last stage. `total` is the weight of the
/// view. The share of the view that escapes in a stage falls to a half or a quarter in the next: where it is most likely not low enough then, that and the stage after
/// it are iterated at once, and points that have escaped beyond the last stage's limit count as undecided.
pub(super) fn fine(
    computer: &impl Computer,
    list: &mut List,
    known: usize,
    total: u64,
    first: u64,
    bound: &mut LazyBound,
) -> Result<u64, Error> {
    if computer.is_folded() && first > THINNED_FROM {
        computer.run(list, THINNED_FROM)?;
        thin(list, bound.found(computer)?);
    }
    let mut escaped = late(list[..known].iter(), first);
    let (mut limit, mut reached, mut before) = (first, 0, 0);
    loop {
        if limit > reached {
            let is_last_unlikely = before * LATE > 2 * total;
            let is_short = limit <= AHEAD_TO && list.open().filter(|point| point.is_undecided()).count() <= MOST_AHEAD;
            let is_ahead = is_last_unlikely && is_short && computer.looks_ahead();
            reached = if is_ahead { limit * FACTOR } else { limit };
            computer.run(list, reached)?;
        }
        let late = escaped + late(list.open(), limit);
        escaped = 0;
        let is_near = |bound: &Bound| limit as f64 >= bound.most / FACTOR as f64;
        if late * LATE <= total || limit >= last(computer) || is_near(bound.so_far()) && is_near(bound.found(computer)?)
        {
            list.forget_beyond(limit);
            return Ok(limit);
        }
        if computer.is_folded() {
            let bound = bound.found(computer)?;
            if suffice(&Escapes::new(list, total)?, bound, limit) {
                return Ok(limit);
            }
            if limit >= THINNED_FROM {
                thin(list, bound);
            }
        }
        before = late;
        limit *= FACTOR;
    }
}

/// The weight of the points that escape in the stage with this limit.
fn late<'a>(points: impl Iterator<Item = &'a Point>, limit: u64) -> u64 {
    let late = points.filter(|point| (limit / FACTOR + 1..=limit).contains(&point.dwell()));
    late.map(|point| u64::from(point.weight)).sum()
}

/// Keeps points that have not escaped at even spacing, which stand for those that are skipped, so that about [`THINNED`] of them are never
/// proved to stay. Which are kept does not depend on which of them are proved by now, since that differs with the width of vectors.
fn thin(list: &mut [Point], bound: &Bound) {
    let stays = |point: &Point| point.weight > 0 && matches!(point.outcome(), Outcome::Undecided | Outcome::Inside);
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
