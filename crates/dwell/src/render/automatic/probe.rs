//! The probe of a view: which points are computed, and how far.
//!
//! 1. Every cell of the nominal picture gets a point. The points are iterated in stages, each up to four times the limit of
//!    the one before, until hardly any more escape.
//! 2. The cells where points escape latest, and those at the edge of what does not escape, get eight more points each, which
//!    finds tails that one point of a cell misses. All points are iterated in further stages.
//!
//! Points that are proved never to escape are not iterated again. Whether a stage is the last depends on escapes alone, so the
//! result does not depend on when a kernel proves this, which differs with the width of its vectors.

use super::deep::Deep;
use super::limit::{Bound, Escapes};
use super::nominal::Cells;
use super::points::{Computer, Direct, Outcome, Point, Search, WHAT};
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{collected, filled, reserve, resize};
use crate::base::thread_pool::ThreadPool;
use crate::colour::By;
use crate::deep::points::DeepPoints;
use crate::plan::points::{DirectPoints, PointsVisitor};
use crate::view::Size;
use dwell_kernels::{Kernels, Level};

/// The limit of the first stage.
const FIRST: u64 = 1024;
/// The factor from the limit of a stage to that of the next.
const FACTOR: u64 = 4;
/// The limit from which on only every [`SCOUT`]-th point is iterated, as long as none has escaped.
const SCOUTS_FROM: u64 = 1 << 18;
const SCOUT: usize = 64;
/// The limit of the last stage if no point has escaped by then.
const LAST_WITHOUT_ESCAPE: u64 = 1 << 26;
/// The limit of the last stage, and that with a fold, where points that stay without a proof take nearly all the time.
const LAST: u64 = 1 << 28;
const LAST_FOLDED: u64 = 1 << 26;
/// Cells that get eight more points.
const REFINED: usize = 2048;
/// The points of a cell that is refined.
const POINTS: u32 = 9;
/// Points that have not escaped whose cycles are searched for, at most, and the fewest steps of the search; and such points of a map with a
/// fold, where a hundredth of them may be chaotic and take nearly all the time.
const SEARCHED: usize = 64;
const SEARCHED_STEPS: u64 = 1 << 17;
const SEARCHED_FOLDED: usize = 128;
/// Iterations that points which are not proved to stay may take whatever they spare and beyond [`Computer::most_added`], as a multiple of the
/// iterations of the points that escape.
const ALLOWED_TIMES: f64 = 3.0;
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
/// Of each so many cells, one has a second point beside its first, for the differences between neighbouring pixels.
const PAIRED: usize = 4;

/// What a probe found.
pub(super) struct Findings {
    pub(super) escapes: Escapes,
    /// Points of the probe.
    pub(super) points: u64,
    /// The limit up to which no point escaped, while some are not proved to be inside.
    undecided_at: Option<u64>,
    /// What bounds the limit.
    bound: Bound,
    /// The quantity at the escaped points, one in each cell.
    pub(super) values: Vec<f64>,
    /// The quantity at neighbouring pixels that have escaped.
    pub(super) neighbours: Vec<[f64; 2]>,
}

impl Findings {
    /// The limit by the rule of [`Escapes::limit`].
    pub(super) fn limit(&self) -> u64 {
        self.escapes.limit(&self.bound)
    }

    /// What the user is told of a search that ended without a result.
    pub(super) fn warning(&self) -> Option<String> {
        self.undecided_at.map(|limit| {
            format!(
                "no point of a probe of the view escapes within {limit} iterations, and not all are proved to be inside"
            )
        })
    }
}

/// The probe of a view.
pub(super) struct Probe<'a> {
    /// The size of the nominal picture.
    pub(super) size: Size,
    pub(super) pool: &'a ThreadPool,
    pub(super) level: Level,
    pub(super) control: Control<'a>,
    pub(super) search: Search,
}

impl Probe<'_> {
    /// The most memory that the points of a probe take, in bytes: those of 10,000 cells, 2048 of them refined, and the
    /// copies that threads work on.
    pub(super) const BYTES: u64 = 2 * (10_000 + (REFINED * POINTS as usize) as u64) * size_of::<Point>() as u64;
}

impl PointsVisitor for Probe<'_> {
    type Output = Result<Findings, Error>;

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Result<Findings, Error> {
        let Self { pool, level, control: Control { cancel, .. }, .. } = self;
        let by = self.search.by.unwrap_or(By::Banded);
        self.find(&Direct { points, pool, level, cancel, by })
    }

    fn deep(self, points: &DeepPoints) -> Option<Result<Findings, Error>> {
        let Self { pool, level, control, .. } = self;
        let by = self.search.by.unwrap_or(By::Banded);
        Some(self.find(&Deep { points, pool, level, control, by }))
    }
}

impl Probe<'_> {
    fn find(&self, computer: &impl Computer) -> Result<Findings, Error> {
        let Self { size, search, .. } = *self;
        let cells = Cells::of(size);
        let first = |cell| Point::new(cells.pixel(cell, Cells::first_block(cell)), cell);
        let mut list = collected((0..cells.count()).map(first), WHAT)?;
        let mut weights = filled(list.len(), POINTS, WHAT)?;
        let mut bound = Bound::NONE;
        let (limit, undecided_at) = match search.fixed_limit {
            Some(limit) => {
                computer.run(&mut list, limit)?;
                (limit, None)
            }
            None => {
                let (limit, found) = coarse_stages(computer, &mut list)?;
                if escapes(&list, limit).0 > 0 {
                    bound = match found {
                        Some(bound) => bound,
                        None => bound_of(computer, &list, limit)?.allowing(limit as f64),
                    };
                    refine(cells, &mut list, &mut weights)?;
                    (fine_stages(computer, &mut list, &mut weights, limit, &bound)?, None)
                } else {
                    let open = list.iter().any(|point| point.outcome == Outcome::Undecided);
                    (limit, open.then_some(limit))
                }
            }
        };
        let (values, neighbours) = match search.by {
            Some(by) => quantities(computer, size, &list[..cells.count()], by, limit)?,
            None => (Vec::new(), Vec::new()),
        };
        let total = cells.count() as u64 * u64::from(POINTS);
        let dwells = list.iter().map(|point| point.outcome.dwell()).zip(weights.iter().copied());
        let (escapes, points) = (Escapes::new(dwells, total)?, list.len() as u64);
        Ok(Findings { escapes, points, undecided_at, bound, values, neighbours })
    }
}

/// The limit of the last stage where points escape.
fn last(computer: &impl Computer) -> u64 {
    if computer.is_folded() { LAST_FOLDED } else { LAST }
}

/// The numbers of points that have escaped, and that have escaped after a quarter of the limit.
fn escapes(list: &[Point], limit: u64) -> (usize, usize) {
    let above = |least: u64| list.iter().filter(|point| point.outcome.dwell() > least).count();
    (above(0), above(limit / FACTOR))
}

/// Iterates one point of each cell, until fewer than one in a thousand escapes in a stage, or none has escaped at a limit
/// beyond which the search takes too long, or the limit is far beyond the greatest that is possible, or with a fold its escapes [`suffice`]. Returns the limit of the last
/// stage, and in that case what bounds it. It is found anew in each stage, since points that escape late are not told from those that never do.
///
/// A stage without undecided points takes no time, so that it makes no difference when they are proved to be inside.
fn coarse_stages(computer: &impl Computer, list: &mut [Point]) -> Result<(u64, Option<Bound>), Error> {
    let mut limit = FIRST;
    loop {
        if limit > SCOUTS_FROM && escapes(list, limit).0 == 0 {
            let mut scouts = collected(list.iter().step_by(SCOUT).copied(), WHAT)?;
            computer.run(&mut scouts, limit)?;
            list.iter_mut().step_by(SCOUT).zip(scouts).for_each(|(point, scout)| *point = scout);
        }
        if limit <= SCOUTS_FROM || escapes(list, limit).0 > 0 {
            computer.run(list, limit)?;
        }
        let (escaped, late) = escapes(list, limit);
        let last = if escaped > 0 { last(computer) } else { LAST_WITHOUT_ESCAPE };
        if (escaped > 0 && late * 1000 <= list.len()) || limit >= last {
            return Ok((limit, None));
        }
        if escaped > 0 && limit >= SEARCHED_STEPS {
            let bound = bound_of(computer, list, limit)?;
            let equal = || list.iter().map(|point| (point.outcome.dwell(), 1));
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

/// The greatest limit that the median dwell allows ([`Computer::most_of_median`]), once fewer than one in a hundred points escapes in a stage: before, the median is that of a part of the view.
fn limit_of_median(computer: &impl Computer, list: &[Point], limit: u64) -> Result<f64, Error> {
    let (most, (escaped, late)) = (computer.most_of_median(), escapes(list, limit));
    if most.is_infinite() || escaped == 0 || late * 100 > list.len() {
        return Ok(f64::INFINITY);
    }
    let escaped_ones = list.iter().map(|point| point.outcome.dwell()).filter(|dwell| *dwell > 0);
    let mut dwells = collected(escaped_ones, WHAT)?;
    let (_, median, _) = dwells.select_nth_unstable(escaped / 2);
    Ok(most * *median as f64)
}

/// What bounds the limit. Points that neither escape nor enter a cycle are iterated up to it at every pixel:
/// near the boundary of a component, cycles are entered late, and chaotic orbits of the Burning Ship stay, never return
/// to a z, and are proved to stay only at some distance from those that escape. Their share of the view is found from a sample.
///
/// Cycles are searched for up to `limit`, to which the list has been iterated: where a fixed point attracts weakly, a point
/// enters its cycle as late as points beside it escape.
fn bound_of(computer: &impl Computer, list: &[Point], limit: u64) -> Result<Bound, Error> {
    let most = limit_of_median(computer, list, limit)?;
    let stays = collected(list.iter().filter(|point| point.outcome.dwell() == 0).copied(), WHAT)?;
    if stays.is_empty() {
        return Ok(Bound { most, ..Bound::NONE });
    }
    let searched = if computer.is_folded() { SEARCHED_FOLDED } else { SEARCHED };
    let mut sample = collected(stays.iter().step_by(stays.len().div_ceil(searched)).copied(), WHAT)?;
    let size = sample.len() as f64;
    // Without those that escape soon.
    let steps = limit.max(SEARCHED_STEPS);
    computer.run(&mut sample, steps)?;
    sample.retain(|point| point.outcome.dwell() == 0);
    let open = computer.proved(&sample, steps)?.iter().filter(|proved| !**proved).count() as f64;
    // The expected share by Jeffreys' rule: a sample may miss the few chaotic points of a folded map.
    let open_of_staying = if computer.is_folded() { (open + 0.5) / (size + 1.0) } else { open / size };
    let cells = list.len() as f64;
    let open = open_of_staying * stays.len() as f64 / cells;
    let mean = list.iter().map(|point| point.outcome.dwell() as f64).sum::<f64>() / cells;
    let allowed = ALLOWED_TIMES * mean / open;
    let most = most.min((computer.most_added() / open).max(allowed));
    Ok(Bound { open, open_of_staying, price: computer.price(), allowed, most })
}

/// Adds eight points to each of the cells where points escape latest or do not escape beside some that do.
fn refine(cells: Cells, list: &mut Vec<Point>, weights: &mut [u32]) -> Result<(), Error> {
    // The latest and the earliest dwell in and around each cell, where 0 is a point that does not escape.
    let dwells = collected(list.iter().map(|point| [point.outcome.dwell(); 2]), WHAT)?;
    let around = cells.around(dwells, |[latest, earliest], [a, b]| [latest.max(a), earliest.min(b)]);
    // How late the points in and around a cell escape; 0 where none escapes.
    let lateness = |[latest, earliest]: [u64; 2]| if latest > 0 && earliest == 0 { u64::MAX } else { latest };
    let ranked = around?.into_iter().enumerate().map(|(cell, dwells)| (lateness(dwells), cell));
    let mut ranked: Vec<(u64, usize)> = collected(ranked, WHAT)?;
    ranked.retain(|(lateness, _)| *lateness > 0);
    // The latest; cells at edges, which are equally late, are taken at even spacing.
    let edge = ranked.iter().filter(|(lateness, _)| *lateness == u64::MAX).count();
    if edge > REFINED {
        ranked.retain(|(lateness, _)| *lateness == u64::MAX);
    } else if ranked.len() > REFINED {
        ranked.select_nth_unstable_by_key(REFINED, |(lateness, cell)| (std::cmp::Reverse(*lateness), *cell));
    }
    reserve(list, REFINED * (POINTS as usize - 1), WHAT)?;
    for i in 0..REFINED.min(ranked.len()) {
        let (_, cell) = ranked[if edge > REFINED { i * edge / REFINED } else { i }];
        weights[cell] = 1;
        let first = Cells::first_block(cell);
        let more = (0..POINTS).filter(|block| *block != first);
        list.extend(more.map(|block| Point::new(cells.pixel(cell, block), cell)));
    }
    Ok(())
}

/// Iterates all points, from the stage with this limit on, until fewer than one in ten thousand of the view escapes in a
/// stage, or the greatest possible limit is near, or with a fold the escapes [`suffice`]. Returns the limit of the last stage. Sets the weights of the points that were added.
fn fine_stages(
    computer: &impl Computer,
    list: &mut [Point],
    weights: &mut Vec<u32>,
    first: u64,
    bound: &Bound,
) -> Result<u64, Error> {
    let total = weights.len() as u64 * u64::from(POINTS);
    resize(weights, list.len(), 1, WHAT)?;
    if computer.is_folded() && first > THINNED_FROM {
        computer.run(list, THINNED_FROM)?;
        thin(list, weights, bound);
    }
    let mut limit = first;
    loop {
        computer.run(list, limit)?;
        let late = list.iter().zip(weights.iter()).filter(|(point, _)| point.outcome.dwell() > limit / FACTOR);
        let late: u64 = late.map(|(_, weight)| u64::from(*weight)).sum();
        if late * 10_000 <= total || limit >= last(computer) || limit as f64 >= bound.most / FACTOR as f64 {
            return Ok(limit);
        }
        if computer.is_folded() {
            let dwells = list.iter().map(|point| point.outcome.dwell()).zip(weights.iter().copied());
            if suffice(&Escapes::new(dwells, total)?, bound, limit) {
                return Ok(limit);
            }
            if limit >= THINNED_FROM {
                thin(list, weights, bound);
            }
        }
        limit *= FACTOR;
    }
}

/// Keeps points that have not escaped at even spacing, which stand for those that are skipped, so that about [`THINNED`] of them are never proved to stay. Which
/// are kept does not depend on which of them are proved by now, since that differs with the width of vectors.
fn thin(list: &mut [Point], weights: &mut [u32], bound: &Bound) {
    let stays = |point: &Point| matches!(point.outcome, Outcome::Undecided | Outcome::Inside);
    let open = bound.open_of_staying * list.iter().filter(|point| stays(point)).count() as f64;
    let step = (open / THINNED as f64).ceil().max(1.0) as usize;
    let staying = list.iter_mut().zip(weights).filter(|(point, _)| stays(point));
    for (number, (point, weight)) in staying.enumerate() {
        if number.is_multiple_of(step) {
            *weight = weight.saturating_mul(step as u32);
        } else {
            point.outcome = Outcome::Skipped;
        }
    }
}

/// The quantity at escaped points, and at pairs of neighbouring pixels.
fn quantities(
    computer: &impl Computer,
    size: Size,
    list: &[Point],
    by: By,
    limit: u64,
) -> Result<(Vec<f64>, Vec<[f64; 2]>), Error> {
    // A neighbour to the right or below, in turn; at the far edge, to the left or above.
    let beside = |i: usize, [column, row]: [u32; 2]| {
        let step = |at: u32, side: u32| if at + 1 < side { at + 1 } else { at.saturating_sub(1) };
        if i.is_multiple_of(2) { [step(column, size.width), row] } else { [column, step(row, size.height)] }
    };
    let paired = collected(list.iter().step_by(PAIRED).filter(|point| point.outcome.dwell() > 0), WHAT)?;
    let other = |(i, point): (usize, &&Point)| Point::new(beside(i, point.pixel), point.cell as usize);
    let mut others = collected(paired.iter().enumerate().map(other), WHAT)?;
    computer.run(&mut others, limit)?;
    let quantity = |point: &Point| by.quantity(point.outcome.dwell(), point.value);
    let values = collected(list.iter().filter(|point| point.outcome.dwell() > 0).map(quantity), WHAT)?;
    let both = paired.into_iter().zip(&others).filter(|(_, other)| other.outcome.dwell() > 0);
    Ok((values, collected(both.map(|(a, b)| [quantity(a), quantity(b)]), WHAT)?))
}
