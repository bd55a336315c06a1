//! The probe of a view: which points are computed, and how far.
//!
//! 1. Every cell of the nominal picture gets a point. The points are iterated in stages until hardly any more escape.
//! 2. The cells where points escape latest, and those at the edge of what does not escape, get eight more points each, which
//!    finds tails that one point of a cell misses. All points are iterated in further stages.
//!
//! On 16 threads of an Intel Xeon the search takes some 2 ms, a third to a half of it to begin and end stages: 31 us each where they follow at once, 75 to 130 us after
//! what one thread does between them. *Tried:* threads that wait awake for the next stage gained less than the noise of the measurement, and took longer in a
//! process's first search.

use super::bound::{Bound, LazyBound, escapes};
use super::deep::Deep;
use super::limit::Escapes;
use super::list::{List, Point};
use super::nominal::Cells;
use super::points::{Computer, Direct, Search, WHAT};
use super::stages;
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::collected;
use crate::base::thread_pool::ThreadPool;
use crate::colour::By;
use crate::deep::points::DeepPoints;
use crate::plan::points::{DirectPoints, PointsVisitor};
use crate::view::Size;
use dwell_kernels::{Kernels, Level};
use std::sync::{Mutex, PoisonError};

/// Cells that get eight more points.
const REFINED: usize = 2048;
/// The points of a cell that is refined.
const POINTS: u32 = 9;
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
    /// The points that are added to the cells that are refined, at most.
    const ADDED: usize = REFINED * (POINTS as usize - 1);
    /// The most memory that the points of a probe take, in bytes: those of 10,000 cells, and those that are added, with what is known of their
    /// escapes.
    pub(super) const BYTES: u64 = 2 * (10_000 + Self::ADDED as u64) * size_of::<Point>() as u64;
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
        let Self { size, search, pool, .. } = *self;
        let cells = Cells::of(size);
        let mut total = cells.count() as u64 * u64::from(POINTS);
        let mut list = List::with_room(cells.count() + Self::ADDED)?;
        list.extend(pool, cells.count(), |cell| Point::new(cells.pixel(cell, Cells::first_block(cell)), POINTS))?;
        let mut bound = LazyBound::known(Bound::NONE);
        let (limit, undecided_at) = match search.fixed_limit {
            Some(limit) => {
                if search.by.is_none() && list.len() > search.most_points {
                    list = List::new(list.iter().step_by(list.len().div_ceil(search.most_points)).copied())?;
                    total = list.len() as u64 * u64::from(POINTS);
                }
                computer.run(&mut list, limit)?;
                (limit, None)
            }
            None => {
                let (limit, found) = stages::coarse(computer, &mut list)?;
                if escapes(&list, limit).0 > 0 {
                    bound = match found {
                        Some(found) => LazyBound::known(found),
                        None => LazyBound::of(computer, &list, limit)?,
                    };
                    self.refine(cells, &mut list)?;
                    (stages::fine(computer, &mut list, total, limit, &mut bound)?, None)
                } else {
                    let open = list.iter().any(Point::is_undecided);
                    (limit, open.then_some(limit))
                }
            }
        };
        let escapes = || Escapes::new(list.iter().map(|point| (point.dwell(), point.weight)), total);
        let beside = Mutex::new(None);
        // One thread finds what the limit follows from while the others iterate points for the colours.
        let (values, neighbours) = pool.with_background_jobs(|jobs| match search.by {
            Some(by) => {
                jobs.spawn(|| *beside.lock().unwrap_or_else(PoisonError::into_inner) = Some(escapes()));
                quantities(computer, size, &list[..cells.count()], by, limit)
            }
            None => Ok((Vec::new(), Vec::new())),
        })?;
        let escapes = beside.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(escapes)?;
        if !escapes.are_within(bound.so_far().most) {
            bound.found(computer)?;
        }
        Ok(Findings { points: list.len() as u64, escapes, undecided_at, bound: *bound.so_far(), values, neighbours })
    }

    /// Adds eight points to each of the cells where points escape latest or do not escape beside some that do.
    fn refine(&self, cells: Cells, list: &mut List) -> Result<(), Error> {
        // The latest and the earliest dwell in and around each cell, where 0 is a point that does not escape.
        let dwells = collected(list.iter().map(|point| [point.dwell(); 2]), WHAT)?;
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
        let refined = REFINED.min(ranked.len());
        let nth = |i: usize| ranked[if edge > REFINED { i * edge / REFINED } else { i }].1;
        (0..refined).for_each(|i| list[nth(i)].weight = 1);
        let more = POINTS as usize - 1;
        list.extend(self.pool, refined * more, |i| {
            let (cell, number) = (nth(i / more), (i % more) as u32);
            // Without the block of the first point.
            let block = number + u32::from(number >= Cells::first_block(cell));
            Point::new(cells.pixel(cell, block), 1)
        })
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
    let paired = collected(list.iter().step_by(PAIRED).filter(|point| point.dwell() > 0), WHAT)?;
    let other = |(i, point): (usize, &&Point)| Point::new(beside(i, point.pixel()), 1);
    let mut others = List::new(paired.iter().enumerate().map(other))?;
    computer.run(&mut others, limit)?;
    let quantity = |point: &Point| by.quantity(point.dwell(), point.value);
    let values = collected(list.iter().filter(|point| point.dwell() > 0).map(quantity), WHAT)?;
    let both = paired.into_iter().zip(others.iter()).filter(|(_, other)| other.dwell() > 0);
    Ok((values, collected(both.map(|(a, b)| [quantity(a), quantity(b)]), WHAT)?))
}
