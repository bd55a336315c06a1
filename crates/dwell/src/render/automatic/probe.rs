//! The probe of a view: which points are computed, and how far.
//!
//! 1. Every cell of the nominal picture gets a point. The points are iterated in stages until hardly any more escape.
//! 2. The cells where points escape latest, and those at the edge of what does not escape, get eight more points each, which
//!    finds tails that one point of a cell misses. All points are iterated in further stages.
//!
//! On 16 threads of an Intel Xeon the search takes 1.6 to 2.3 ms for views of 15 ms, some 0.7 ms of it in six to eight stages of 60 to 150 us and
//! 0.3 ms in one that a few late points take. Ladder: 2.4 to 3.2 ms when threads made their buffers anew in each stage, 200 us each, and when a stage ended after
//! the last thread had woken up; 1.8 to 2.4 ms when threads made the points (90 us to begin and to end that, twice) and one thread selected from all escapes.
//! *Tried:* threads that wait awake for the next stage gained less than the noise of the measurement, and took longer in a
//! process's first search.

use super::bound::{Bound, LazyBound, escapes};
use super::deep::Deep;
use super::limit::Escapes;
use super::list::{List, Point};
use super::nominal::{Cells, Neighbour, Place};
use super::points::{Computer, Direct, Search, WHAT};
use super::stages;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::collected;
use crate::base::thread_pool::ThreadPool;
use crate::colour::{By, Fit, Spread};
use crate::deep::points::DeepPoints;
use crate::plan::points::{DirectPoints, PointsVisitor};
use crate::view::Size;
use dwell_kernels::{Kernels, Level};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    pub(super) undecided_at: Option<u64>,
    /// The dwell of all points, if they have one.
    only_dwell: Option<u64>,
    /// What bounds the limit.
    bound: Bound,
    /// The fit of the colours, if a quantity was searched for.
    pub(super) fit: Option<Fit>,
}

impl Findings {
    /// The limit by the rule of [`Escapes::limit`].
    pub(super) fn limit(&self) -> u64 {
        self.escapes.limit(&self.bound)
    }

    /// What the user is told of a view without anything to see. A given limit is checked beside the render.
    pub(super) fn warning(&self, is_limit_given: bool) -> Option<String> {
        let undecided = self.undecided_at.filter(|_| !is_limit_given).map(|limit| {
            format!(
                "no point of a probe of the view escapes within {limit} iterations, and not all are proved to be inside, so the \
                 picture is black; another centre or a smaller zoom shows more, and --max-iter N sets a limit without this search"
            )
        });
        let alike = self.only_dwell.map(|dwell| {
            format!(
                "every point of a probe of the view has dwell {dwell}: there is hardly anything to see; perhaps the centre has too few \
                 digits for the zoom"
            )
        });
        undecided.or(alike)
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
        let (cells, by) = (Cells::of(self.size), self.search.by.unwrap_or(By::Banded));
        self.find(cells, &Direct { points, cells, pool, level, cancel, by })
    }

    fn deep(self, points: &DeepPoints) -> Option<Result<Findings, Error>> {
        let Self { pool, level, control, .. } = self;
        let (cells, by) = (Cells::of(self.size), self.search.by.unwrap_or(By::Banded));
        Some(self.find(cells, &Deep { points, cells, pool, level, control, by }))
    }
}

impl Probe<'_> {
    fn find(&self, cells: Cells, computer: &impl Computer) -> Result<Findings, Error> {
        let Self { search, pool, .. } = *self;
        let mut total = cells.count() as u64 * u64::from(POINTS);
        let mut list = List::with_room(cells.count() + Self::ADDED)?;
        list.extend((0..cells.count()).map(|cell| Point::new(Place::new(cell, Cells::first_block(cell)), POINTS)))?;
        let mut bound = LazyBound::known(Bound::NONE);
        let (limit, undecided_at) = match search.fixed_limit {
            Some(limit) => {
                if search.by.is_none() && list.len() > search.most_points {
                    list = List::new(list.iter().step_by(list.len().div_ceil(search.most_points)).copied())?;
                    total = list.len() as u64 * u64::from(POINTS);
                }
                computer.run(&mut list, limit)?;
                let is_black = list.iter().all(|point| point.dwell() == 0) && list.iter().any(Point::is_undecided);
                (limit, is_black.then_some(limit))
            }
            None => {
                let (limit, found) = stages::coarse(computer, &mut list)?;
                if escapes(&list, limit).0 > 0 {
                    bound = match found {
                        Some(found) => LazyBound::known(found),
                        None => LazyBound::of(computer, &list, limit)?,
                    };
                    refine(cells, &mut list)?;
                    (stages::fine(computer, &mut list, total, limit, &mut bound)?, None)
                } else {
                    let open = list.iter().any(Point::is_undecided);
                    (limit, open.then_some(limit))
                }
            }
        };
        let escapes = || Escapes::new(list.iter().map(|point| (point.dwell(), point.weight)), total);
        let of_cells = &list[..cells.count().min(list.len())];
        let spread_by = |by| Ok::<_, InputError>(Spread::of(by, collected(quantities(of_cells, by), WHAT)?));
        let spread = || search.by.map(spread_by);
        let beside = (Mutex::new(None), Mutex::new(None));
        // Two threads find what the limit and the spread of the colours follow from while the others iterate further points for the colours.
        let neighbours = pool.with_background_jobs(|jobs| {
            let Some(by) = search.by else { return Ok(None) };
            jobs.spawn(|| *lock(&beside.0) = Some(escapes()));
            jobs.spawn(|| *lock(&beside.1) = spread());
            neighbours(computer, of_cells, by, limit).map(Some)
        })?;
        let spread = lock(&beside.1).take().or_else(spread).transpose()?;
        let fit = spread.zip(neighbours).map(|(spread, neighbours)| Fit::new(spread, &neighbours)).transpose()?;
        let escapes = lock(&beside.0).take().unwrap_or_else(escapes)?;
        if !escapes.are_within(bound.so_far().most) {
            bound.found(computer)?;
        }
        let only_dwell = list.first().map(Point::dwell).filter(|first| *first > 0);
        let only_dwell = only_dwell.filter(|first| list.iter().all(|point| point.dwell() == *first));
        let (points, bound) = (list.len() as u64, *bound.so_far());
        Ok(Findings { escapes, points, undecided_at, only_dwell, bound, fit })
    }
}

/// Adds eight points to each of the cells where points escape latest or do not escape beside some that do.
fn refine(cells: Cells, list: &mut List) -> Result<(), InputError> {
    // The latest and the earliest dwell in and around each cell, where 0 is a point that does not escape. Stages end below 2^32.
    let dwells = collected(list.iter().map(|point| [point.dwell() as u32; 2]), WHAT)?;
    let around = cells.around(dwells, |[latest, earliest], [a, b]| [latest.max(a), earliest.min(b)]);
    // How late the points in and around a cell escape; 0 where none escapes.
    let lateness = |[latest, earliest]: [u32; 2]| if latest > 0 && earliest == 0 { u32::MAX } else { latest };
    let ranked = around?.into_iter().zip(0..).map(|(dwells, cell)| (lateness(dwells), cell));
    let mut ranked: Vec<(u32, u32)> = collected(ranked.filter(|(lateness, _)| *lateness > 0), WHAT)?;
    // The latest; cells at edges, which are equally late, are taken at even spacing.
    let edge = ranked.iter().filter(|(lateness, _)| *lateness == u32::MAX).count();
    if edge > REFINED {
        ranked.retain(|(lateness, _)| *lateness == u32::MAX);
    } else if ranked.len() > REFINED {
        ranked.select_nth_unstable_by_key(REFINED, |(lateness, cell)| (std::cmp::Reverse(*lateness), *cell));
    }
    let refined = REFINED.min(ranked.len());
    let chosen = (0..refined).map(|i| ranked[if edge > REFINED { i * edge / REFINED } else { i }].1 as usize);
    chosen.clone().for_each(|cell| list[cell].weight = 1);
    list.extend(chosen.flat_map(|cell| {
        let blocks = (0..POINTS).filter(move |block| *block != Cells::first_block(cell));
        blocks.map(move |block| Point::new(Place::new(cell, block), 1))
    }))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The quantity at the points that have escaped.
fn quantities(list: &[Point], by: By) -> impl Iterator<Item = f64> {
    list.iter().filter(|point| point.dwell() > 0).map(move |point| by.quantity(point.dwell(), point.value))
}

/// The quantity at pairs of neighbouring pixels that have escaped.
fn neighbours(computer: &impl Computer, list: &[Point], by: By, limit: u64) -> Result<Vec<[f64; 2]>, Error> {
    let turn = |i: usize| if i.is_multiple_of(2) { Neighbour::Beside } else { Neighbour::Below };
    let paired = collected(list.iter().step_by(PAIRED).filter(|point| point.dwell() > 0), WHAT)?;
    let other = |(i, point): (usize, &&Point)| Point::new(point.place.beside(turn(i)), 1);
    let mut others = List::new(paired.iter().enumerate().map(other))?;
    computer.run(&mut others, limit)?;
    let quantity = |point: &Point| by.quantity(point.dwell(), point.value);
    let both = paired.into_iter().zip(others.iter()).filter(|(_, other)| other.dwell() > 0);
    Ok(collected(both.map(|(a, b)| [quantity(a), quantity(b)]), WHAT)?)
}
