//! The stages in which the points of a probe are iterated, each up to four times the limit of the one before.
//!
//! Points that are proved never to escape are not iterated again. Whether a stage is the last depends on escapes alone, so the
//! result does not depend on when a kernel proves this, which differs with the width of its vectors.

use super::bound::{Bound, LazyBound, SEARCHED_STEPS, Staying, escapes};
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
        let most = computer.most_limit(list, limit)?;
        if limit as f64 >= most {
            return Ok((limit, Some(Bound::of_late_orbits(most))));
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

/// Adds points to those that have been iterated up to this limit, and iterates all from the stage with it on, until fewer than one in ten thousand of the view escapes in a
/// stage, or the greatest possible limit is near, or with a fold the escapes [`suffice`]. Returns the limit of the last stage. `total` is the weight of the
/// view. The share of the view that escapes in a stage falls to a half or a quarter in the next: where it is most likely not low enough then, that and the stage after
/// it are iterated at once, and points that have escaped beyond the last stage's limit count as undecided.
pub(super) fn fine(
    computer: &impl Computer,
    list: &mut List,
    mut added: List,
    total: u64,
    first: u64,
    bound: &mut LazyBound,
) -> Result<u64, Error> {
    let is_thinned = computer.is_folded() && first > THINNED_FROM;
    let mut escaped = late(list.iter(), first);
    list.forget_decided();
    computer.run(&mut added, if is_thinned { THINNED_FROM } else { first })?;
    list.add(added)?;
    if is_thinned {
        thin(list, bound.found(computer)?);
        computer.run(list, first)?;
    }
    let (mut limit, mut reached, mut before) = (first, first, 0);
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

#[cfg(test)]
mod tests {
    use super::super::list::StillOpen;
    use super::super::nominal::Place;
    use super::*;
    use crate::base::pieces::Segment;
    use crate::base::schedule::Schedule;
    use crate::base::thread_pool::ThreadPool;
    use std::cell::Cell;

    /// Points whose dwells follow from their numbers.
    struct Known {
        scale: f64,
        gap: u64,
        looks_ahead: bool,
        pool: ThreadPool,
        runs: Cell<u32>,
    }

    /// The dwell of a point, of which a share of about `scale` / n escapes after n and every eighth never. None is from `gap` to four times as many: those
    /// come later.
    fn dwell_of(number: u32, scale: f64, gap: u64) -> Option<u64> {
        let mixed = u64::from(number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let chance = ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 + 0.5;
        let dwell = (scale * f64::from(1 << 24) / chance) as u64 + 1;
        (!number.is_multiple_of(8)).then_some(if (gap + 1..=4 * gap).contains(&dwell) {
            dwell + 3 * gap
        } else {
            dwell
        })
    }

    /// A point with a number of its own, which it keeps in every list.
    fn numbered(mut point: Point, number: usize) -> Point {
        point.value = f64::from_bits(number as u64);
        point
    }

    fn number_of(point: &Point) -> u32 {
        point.value.to_bits() as u32
    }

    impl Computer for Known {
        fn run(&self, list: &mut List, limit: u64) -> Result<(), Error> {
            self.runs.set(self.runs.get() + 1);
            let Self { scale, gap, .. } = *self;
            let work = |open: &mut StillOpen, mut piece: Segment<'_, Point>| {
                for point in piece.chosen_mut() {
                    match dwell_of(number_of(point), scale, gap) {
                        Some(dwell) if dwell <= limit => point.set(Outcome::Escaped(dwell)),
                        Some(_) => {}
                        None => point.set(Outcome::Inside),
                    }
                }
                Ok::<_, Error>(open.note(&piece, limit)?)
            };
            let open = self.pool.for_each(Schedule::default(), list.pieces(3).0, || Ok(StillOpen::default()), work)?;
            Ok(list.iterated(open.into_iter())?)
        }

        fn proved(&self, list: &[Point], _: u64) -> Result<Vec<bool>, Error> {
            Ok(vec![true; list.len()])
        }

        fn is_folded(&self) -> bool {
            false
        }

        fn looks_ahead(&self) -> bool {
            self.looks_ahead
        }

        fn price(&self) -> f64 {
            f64::INFINITY
        }

        fn most_added(&self) -> f64 {
            500_000.0
        }
    }

    /// The limits of the last stages, all dwells, and the number of iterations.
    fn searched(scale: f64, gap: u64, looks_ahead: bool) -> ([u64; 2], Vec<u64>, u32) {
        const CELLS: usize = 9216;
        let computer = Known { scale, gap, looks_ahead, pool: ThreadPool::new(3), runs: Cell::new(0) };
        let mut list = List::default();
        list.extend((0..CELLS).map(|cell| [numbered(Point::new(Place::new(cell, 0), 9), cell)])).unwrap();
        let (coarse, _) = coarse(&computer, &mut list).unwrap();
        let mut bound = LazyBound::of(&computer, &list, coarse).unwrap();
        list.iter_mut().step_by(5).for_each(|point| point.weight = 1);
        let mut added = List::default();
        added.extend((0..CELLS).step_by(5).map(|cell| [Point::new(Place::new(cell, 1), 1); 8])).unwrap();
        // Neighbours, which stand for no part of the view.
        added.extend((0..CELLS).step_by(4).map(|cell| [Point::new(Place::new(cell, 0), 0)])).unwrap();
        added.iter_mut().zip(CELLS..).for_each(|(point, number)| *point = numbered(*point, number));
        let fine = fine(&computer, &mut list, added, 9 * CELLS as u64, coarse, &mut bound).unwrap();
        ([coarse, fine], list.iter().map(Point::dwell).collect(), computer.runs.get())
    }

    #[test]
    fn stages_that_are_iterated_together_find_the_same() {
        let (mut spared, mut ended) = (0, 0);
        for scale in [0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0] {
            let ([first, _], ..) = searched(scale, 0, false);
            // With a gap after the first of the fine stages the next is the last, though most likely it is not.
            for gap in [0, first] {
                let (limits, dwells, runs) = searched(scale, gap, false);
                let (limits_ahead, dwells_ahead, runs_ahead) = searched(scale, gap, true);
                assert_eq!(limits, limits_ahead, "{scale} {gap}");
                // Without a list of 27,000 dwells where they differ.
                assert!(dwells == dwells_ahead, "{scale} {gap}");
                // What has escaped by the limit of the last stage is known, and nothing beyond it.
                let known = |number: u32| dwell_of(number, scale, gap).filter(|dwell| *dwell <= limits[1]).unwrap_or(0);
                assert!(dwells.iter().zip(0..).all(|(dwell, number)| *dwell == known(number)), "{scale} {gap}");
                assert!(runs_ahead <= runs, "{scale} {gap}");
                spared += runs - runs_ahead;
                ended += u32::from(gap > 0 && limits[1] == 4 * gap);
            }
        }
        assert!(spared >= 8 && ended >= 2, "{spared} iterations spared, {ended} searches that end in a gap");
    }
}
