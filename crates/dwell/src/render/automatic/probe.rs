//! The probe of a view: which points are computed, and how far.
//!
//! 1. Every cell of the nominal picture gets a point. The points are iterated in stages until hardly any more escape.
//! 2. The cells where points escape latest, and those at the edge of what does not escape, get eight more points each, which
//!    finds tails that one point of a cell misses. Beside some of the points that have escaped, neighbouring pixels are computed for the colours. All
//!    points are iterated in further stages.
//!
//! On 16 threads of an Intel Xeon the search takes 1.1 to 1.4 ms for views of 15 ms: 70 us for coordinates, 0.7 ms in three stages, of which each takes 60 us to begin and to end
//! and the last 150 to 300 us for a few late points, and 0.3 ms of one thread between them. Ladder: 2.4 to 3.2 ms when threads made their buffers anew in each stage, 200 us
//! each, and when a stage ended after the last thread had woken up; 1.8 to 2.4 ms when threads made the points (90 us to begin and to end that, twice); 1.6 to 2.3 ms when
//! neighbours had a stage of their own, each of the first two and of the last stages, too, and one thread copied all escapes, looked for the undecided points and branched by outcomes.
//! *Tried:* threads that wait awake for the next stage gained less than the noise of the measurement, and took longer in a
//! process's first search.

use super::bound::{Bound, LazyBound};
use super::deep::Deep;
use super::limit::Escapes;
use super::list::{List, Outcome, Point};
use super::nominal::{Cells, Neighbour, Place};
use super::points::{Computer, Direct, Search, WHAT};
use super::sample;
use super::stages;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::{collected, reserved};
use crate::base::thread_pool::ThreadPool;
use crate::colour::{By, Fit};
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
    /// The limit by the rule of [`Escapes::limit`], if it was to be found.
    pub(super) limit: Option<u64>,
    /// Points of the probe, without those that others stand for.
    pub(super) points: u64,
    /// Those of them that escaped.
    pub(super) escaped: u64,
    /// The greatest dwell of one; 0 if none escaped.
    pub(super) latest: u64,
    /// The share of the view that escapes beyond [`Search::checked`].
    pub(super) changing: f64,
    /// The limit up to which no point escaped, while some are not proved to be inside.
    pub(super) undecided_at: Option<u64>,
    /// The dwell of all points, if they have one.
    only_dwell: Option<u64>,
    /// The fit of the colours, if a quantity was searched for.
    pub(super) fit: Option<Fit>,
}

impl Findings {
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
    /// The most cells of a nominal picture.
    const CELLS: usize = 10_000;
    /// The most memory that the points of a probe take, in bytes: those of the cells, those that are added, and neighbours of the first, with what is found of them.
    pub(super) const BYTES: u64 =
        2 * (Self::CELLS + Self::ADDED + Self::CELLS / PAIRED) as u64 * size_of::<Point>() as u64;
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
        let is_check = self.search.checked.is_some();
        Some(self.find(cells, &Deep { points, cells, pool, level, control, by, is_check }))
    }
}

impl Probe<'_> {
    fn find(&self, cells: Cells, computer: &impl Computer) -> Result<Findings, Error> {
        let Self { search, pool, .. } = *self;
        let mut total = cells.count() as u64 * u64::from(POINTS);
        let mut list = List::with_room(cells.count() + Self::ADDED + cells.count() / PAIRED)?;
        list.extend((0..cells.count()).map(|cell| [Point::new(Place::new(cell, Cells::first_block(cell)), POINTS)]))?;
        let (mut bound, mut undecided_at) = (LazyBound::known(Bound::NONE), None);
        let added = match search.fixed_limit {
            Some(limit) => {
                if search.by.is_none() && list.len() > search.most_points {
                    list = List::new(list.iter().step_by(list.len().div_ceil(search.most_points)).copied())?;
                    total = list.len() as u64 * u64::from(POINTS);
                }
                if search.by.is_some() && computer.samples_long_orbits() {
                    sample::iterate(computer, &mut list, limit)?;
                }
                computer.run(&mut list, limit)?;
                let is_black = list.iter().all(|point| point.dwell() == 0) && list.iter().any(Point::is_undecided);
                undecided_at = is_black.then_some(limit);
                let mut neighbours = List::new(neighbours(&list, search.by))?;
                computer.run(&mut neighbours, limit)?;
                list.add(neighbours)?
            }
            None => {
                let (limit, found) = stages::coarse(computer, &mut list)?;
                if list.iter().any(|point| point.dwell() > 0) {
                    bound = match found {
                        Some(found) => LazyBound::known(found),
                        None => LazyBound::of(computer, &list, limit)?,
                    };
                    let neighbours = List::new(neighbours(&list, search.by))?;
                    let mut added = List::with_room(Self::ADDED + cells.count() / PAIRED)?;
                    // Later escapes than those of a cell's first point change nothing then, and chaotic orbits beside the others would take most of the time.
                    let is_settled = match found {
                        Some(found) if computer.is_folded() && found.is_of_late_orbits() => {
                            Escapes::new(&list, total)?.reach_most(&found)
                        }
                        _ => false,
                    };
                    if !is_settled {
                        refine(cells, &mut list, &mut added)?;
                    }
                    let first = list.len() + added.len();
                    added.add(neighbours)?;
                    stages::fine(computer, &mut list, added, total, limit, &mut bound)?;
                    first..list.len()
                } else {
                    undecided_at = list.iter().any(Point::is_undecided).then_some(limit);
                    list.len()..list.len()
                }
            }
        };
        let (points, neighbours) = list.split_at(added.start);
        let of_cells = &points[..cells.count().min(points.len())];
        let fit = || search.by.map(|by| fit(by, of_cells, neighbours)).transpose();
        // Two threads find what the limit and the colours follow from.
        let beside = Mutex::new(None);
        let escapes = pool.with_background_jobs(|jobs| {
            jobs.spawn(|| *lock(&beside) = Some(fit()));
            Escapes::new(points, total)
        })?;
        let fit = lock(&beside).take().unwrap_or_else(fit)?;
        let limit = match search.fixed_limit {
            Some(_) => None,
            None if escapes.are_within(bound.so_far().most) => Some(escapes.limit(bound.so_far())),
            None => Some(escapes.limit(bound.found(computer)?)),
        };
        let only_dwell = points.first().map(Point::dwell).filter(|first| *first > 0);
        Ok(Findings {
            limit,
            points: points.iter().filter(|point| point.outcome() != Outcome::Skipped).count() as u64,
            escaped: escapes.count(),
            latest: escapes.latest(),
            changing: search.checked.map_or(0.0, |limit| escapes.share_between(limit, u64::MAX)),
            undecided_at,
            only_dwell: only_dwell.filter(|first| points.iter().all(|point| point.dwell() == *first)),
            fit,
        })
    }
}

/// Adds eight points for each of the cells where points escape latest or do not escape beside some that do.
fn refine(cells: Cells, list: &mut List, added: &mut List) -> Result<(), InputError> {
    // The latest and the earliest dwell in and around each cell, where 0 is a point that does not escape. Stages end below 2^32.
    let dwells = collected(list.iter().map(|point| [point.dwell() as u32; 2]), WHAT)?;
    let around = cells.around(&dwells, |[latest, earliest], [a, b]| [latest.max(a), earliest.min(b)]);
    // How late the points in and around a cell escape; 0 where none escapes.
    let lateness = |[latest, earliest]: [u32; 2]| if (latest > 0) & (earliest == 0) { u32::MAX } else { latest };
    let lateness = collected(around?.into_iter().map(lateness), WHAT)?;
    // The latest; cells at edges, which are equally late, are taken at even spacing.
    let mut chosen: Vec<u32> = reserved(lateness.len(), WHAT)?;
    let numbered = || lateness.iter().zip(0..);
    let edge = lateness.iter().map(|lateness| usize::from(*lateness == u32::MAX)).sum::<usize>();
    if edge > REFINED {
        chosen.extend(numbered().filter(|(lateness, _)| **lateness == u32::MAX).map(|(_, cell)| cell));
        chosen = collected((0..REFINED).map(|i| chosen[i * edge / REFINED]), WHAT)?;
    } else {
        // One number that is the less the later a cell is: comparing numbers takes no branches.
        let key = |(lateness, cell): (&u32, u32)| u64::from(!lateness) << 32 | u64::from(cell);
        let mut ranked = reserved(lateness.len(), WHAT)?;
        ranked.extend(numbered().filter(|(lateness, _)| **lateness > 0).map(key));
        let last = match ranked.len() {
            0..=REFINED => u64::from(u32::MAX) << 32,
            _ => *ranked.select_nth_unstable(REFINED).1,
        };
        chosen.extend(numbered().filter(|of_cell| key(*of_cell) < last).map(|(_, cell)| cell));
    }
    added.extend(chosen.iter().map(|cell| Cells::other_blocks(*cell as usize).map(|place| Point::new(place, 1))))?;
    chosen.iter().for_each(|cell| list[*cell as usize].weight = 1);
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pixels beside some of the points that have escaped, if a quantity is searched for. They stand for no part of the view.
fn neighbours(list: &[Point], by: Option<By>) -> impl Iterator<Item = Point> {
    let turn = |i: usize| if i.is_multiple_of(2) { Neighbour::Beside } else { Neighbour::Below };
    let paired = list.iter().step_by(PAIRED).filter(move |point| by.is_some() && point.dwell() > 0);
    paired.enumerate().map(move |(i, point)| Point::new(point.place.beside(turn(i)), 0))
}

/// The fit of the colours to the quantity at the points of the cells, of which each has one, and at neighbours of some of them, that have escaped.
fn fit(by: By, of_cells: &[Point], neighbours: &[Point]) -> Result<Fit, InputError> {
    let has_escaped = |point: &&Point| point.dwell() > 0;
    let quantity = |point: &Point| by.quantity(point.dwell(), point.value);
    let mut values = reserved(of_cells.len(), WHAT)?;
    values.extend(of_cells.iter().filter(has_escaped).map(quantity));
    let mut pairs = reserved(neighbours.len(), WHAT)?;
    let escaped = neighbours.iter().filter(has_escaped);
    pairs.extend(escaped.map(|point| [&of_cells[point.place.cell()], point].map(quantity)));
    Fit::new(by, values, &pairs)
}
