//! The computation of points of a probe on the processors.

use super::list::{List, Outcome, Point, StillOpen};
use super::nominal::Cells;
use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::limits::{collected, exhausted, filled, reserved};
use crate::base::pieces::Segment;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::colour::By;
use crate::iterate::trapped::Trapped;
use crate::iterate::workspace::take_workspace;
use crate::plan::points::DirectPoints;
use dwell_kernels::distance::{Derived, Units};
use dwell_kernels::escape::{KernelSettings, KernelShortcuts, Workspace};
use dwell_kernels::{Fold, Grid, Kernels, Level, cycle};

/// The limit beyond which points of a map with a fold are first tried to be proved by trapping regions.
const TRAPPED_FROM: u64 = 1 << 14;
/// The iterations of a point for which a trapping region is looked for in a sample, at least: so many that cells are tried that prove most of
/// a picture's points. And their number as a multiple of the steps taken, which are some part of the limit.
const TRAPPED_STEPS: u64 = 1 << 22;
const TRAPPED_TIMES: u64 = 8;
/// The steps after which a cycle is looked for no further in a sample of points of a map with a fold, where nearly all that have no trapping region
/// are chaotic.
const CYCLE_STEPS_FOLDED: u64 = 1 << 22;
/// The iterations that one pixel less is worth which is falsely black, where the map has a fold. Without one, hardly any orbit is chaotic.
const PRICE_FOLDED: f64 = 1e9;
/// The iterations that are allowed for points which are not proved to stay, as a mean over all pixels, without a fold and with one: most of them are proved
/// later.
pub(super) const MOST_ADDED: f64 = 500_000.0;
const MOST_ADDED_FOLDED: f64 = 1_000_000.0;
/// What the memory is for, in messages.
pub(super) const WHAT: &str = "the probe";

/// What is to be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// The limit, if it is not to be found.
    pub(super) fixed_limit: Option<u64>,
    /// A limit of which is to be found how many points escape beyond it.
    pub(super) checked: Option<u64>,
    /// How many points are computed, at most, if neither the limit nor a quantity is to be found.
    pub(super) most_points: usize,
    /// The quantity whose distribution is to be found, if any.
    pub(super) by: Option<By>,
}

/// What computes points.
pub(super) trait Computer {
    /// Iterates the undecided points of a list up to a limit, in f32 and f64 below 2^32 - 1.
    fn run(&self, list: &mut List, limit: u64) -> Result<(), Error>;

    /// For each of a list of points that do not escape, whether a picture takes few iterations for it within `steps` steps:
    /// whether it is proved by then never to escape.
    fn proved(&self, list: &[Point], steps: u64) -> Result<Vec<bool>, Error>;

    /// Whether the map has a fold.
    fn is_folded(&self) -> bool;

    /// The limit of the last stage if no point has escaped by then.
    fn last_without_escape(&self) -> u64 {
        1 << 26
    }

    /// Whether points of long orbits take so long that the colours are found by few of them.
    fn samples_long_orbits(&self) -> bool {
        false
    }

    /// Whether a point that is iterated four times as far takes no more than some four times as long, so that a few may be iterated further than they need.
    fn looks_ahead(&self) -> bool;

    /// The iterations that one pixel less is worth which is falsely black.
    fn price(&self) -> f64;

    /// Iterations that points which neither escape nor are proved to stay may take, as a mean over all pixels of the view.
    fn most_added(&self) -> f64;

    /// The greatest limit for points that have been iterated to this one: infinite unless orbits that escape much later take far longer for each step than others.
    fn most_limit(&self, _list: &[Point], _limit: u64) -> Result<f64, Error> {
        Ok(f64::INFINITY)
    }
}

/// Computes points given by coordinates.
pub(super) struct Direct<'a, N> {
    pub(super) points: &'a DirectPoints<N>,
    pub(super) cells: Cells,
    pub(super) pool: &'a ThreadPool,
    pub(super) level: Level,
    pub(super) cancel: &'a Cancel,
    /// The quantity to compute beside the dwells.
    pub(super) by: By,
}

/// The buffers of a thread.
struct Buffers<N> {
    workspace: Box<Workspace<N>>,
    re: Vec<N>,
    im: Vec<N>,
    dwell: Vec<u32>,
    outcomes: Vec<Outcome>,
    values: Vec<f64>,
    open: StillOpen,
}

impl<N: Kernels> Computer for Direct<'_, N> {
    fn run(&self, list: &mut List, limit: u64) -> Result<(), Error> {
        if limit > TRAPPED_FROM && self.is_folded() {
            self.run(list, TRAPPED_FROM)?;
            let open = collected(list.iter().filter(|point| point.is_undecided()).copied(), WHAT)?;
            let trapped = if open.is_empty() { Vec::new() } else { self.trapped(&open, limit)? };
            let undecided = list.iter_mut().filter(|point| point.is_undecided());
            let inside = undecided.zip(trapped).filter(|(_, trapped)| *trapped);
            inside.for_each(|(point, _)| point.set(Outcome::Inside));
        }
        let (pieces, size) = list.pieces(self.pool.threads());
        let start = || -> Result<Buffers<N>, Error> {
            Ok(Buffers {
                workspace: take_workspace(self.pool, WHAT)?,
                re: reserved(size, WHAT)?,
                im: reserved(size, WHAT)?,
                dwell: filled(size, 0, WHAT)?,
                outcomes: reserved(size, WHAT)?,
                values: filled(size, 0.0, WHAT)?,
                open: StillOpen::default(),
            })
        };
        let work = |buffers: &mut Buffers<N>, piece: Segment<'_, Point>| self.piece(buffers, piece, limit);
        let used = self.pool.for_each(Schedule::default(), pieces, start, work)?;
        list.iterated(used.into_iter().map(|Buffers { workspace, open, .. }| {
            self.pool.kept().keep(workspace);
            open
        }))?;
        self.cancel.check()
    }

    fn proved(&self, list: &[Point], steps: u64) -> Result<Vec<bool>, Error> {
        let (mut found, mut cycle_steps) = (filled(list.len(), false, WHAT)?, steps);
        if self.is_folded() {
            found = self.trapped(list, TRAPPED_STEPS.max(TRAPPED_TIMES.saturating_mul(steps)))?;
            cycle_steps = steps.min(CYCLE_STEPS_FOLDED);
        }
        let (axes, cycle_steps) = (self.points.axes.arrays(), in_32_bits(cycle_steps));
        let of = |point: &Point| {
            let [column, row] = self.cells.pixel(point.place).map(|at| at as usize);
            let pixel = [axes[0][column] + axes[2][row], axes[1][column] + axes[3][row]];
            cycle::proved_after(&self.points.map, pixel, cycle_steps, self.cancel.flag()).is_some()
        };
        // One point at a time: a search takes up to a millisecond.
        let work = |number: usize, found: &mut [bool]| {
            found.iter_mut().zip(&list[number..]).for_each(|(found, point)| *found = *found || of(point));
            self.cancel.check()
        };
        self.pool.for_each_chunk(Schedule::default(), &mut found, 1, work)?;
        Ok(found)
    }

    fn is_folded(&self) -> bool {
        self.points.map.formula.fold() != Fold::None
    }

    fn looks_ahead(&self) -> bool {
        !self.is_folded()
    }

    fn price(&self) -> f64 {
        if self.is_folded() { PRICE_FOLDED } else { f64::INFINITY }
    }

    fn most_added(&self) -> f64 {
        if self.is_folded() { MOST_ADDED_FOLDED } else { MOST_ADDED }
    }
}

/// A limit as kernels take it, below the mark of points that are proved to be inside.
fn in_32_bits(limit: u64) -> u32 {
    u32::try_from(limit).unwrap_or(u32::MAX).min(u32::MAX - 1)
}

impl<N: Kernels> Direct<'_, N> {
    /// Which points are proved to stay by trapping regions, where each of them would take so many iterations.
    fn trapped(&self, list: &[Point], steps: u64) -> Result<Vec<bool>, Error> {
        let places = collected(list.iter().map(|point| self.cells.pixel(point.place).into()), WHAT)?;
        let Self { points, pool, cancel, .. } = *self;
        Trapped { points, pool, schedule: Schedule::default(), cancel }.find(&places, steps)
    }

    /// Iterates the undecided points of a piece.
    fn piece(&self, buffers: &mut Buffers<N>, mut piece: Segment<'_, Point>, limit: u64) -> Result<(), Error> {
        /// Written for points that are proved never to escape.
        const PROVED: u32 = u32::MAX;
        self.cancel.check()?;
        let Buffers { workspace, re, im, dwell, outcomes, values, open } = buffers;
        let [re_of_column, im_of_column, re_of_row, im_of_row] = self.points.axes.arrays();
        re.clear();
        im.clear();
        for point in piece.chosen() {
            let [column, row] = self.cells.pixel(point.place).map(|at| at as usize);
            re.push(re_of_column[column] + re_of_row[row]);
            im.push(im_of_column[column] + im_of_row[row]);
        }
        let zero = [Grid::<N>::negative_zero()];
        let grid = Grid::list(re, im, &zero);
        let points = re.len();
        let (dwell, values) = (&mut dwell[..points], &mut values[..points]);
        let DirectPoints { map, radius_squared, per_height, pixel, .. } = self.points;
        let settings = KernelSettings {
            map: *map,
            limit: in_32_bits(limit),
            radius_squared: *radius_squared,
            shortcuts: KernelShortcuts::ALL,
            proved: PROVED,
        };
        let keep = self.by == By::Smooth;
        let stop = self.cancel.flag();
        workspace.reserve(grid, keep).map_err(|_| exhausted(Workspace::<N>::bytes(points, 1, keep), WHAT))?;
        if !N::dwells(self.level, settings, workspace, grid, &mut [&mut *dwell], keep, stop) {
            return Err(Error::Interrupted);
        }
        outcomes.clear();
        outcomes.extend(dwell.iter().map(|dwell| match *dwell {
            0 => Outcome::Undecided,
            PROVED => Outcome::Inside,
            dwell => Outcome::Escaped(dwell.into()),
        }));
        dwell.iter_mut().filter(|dwell| **dwell == PROVED).for_each(|dwell| *dwell = 0);
        match self.by {
            By::Banded => values.fill(0.0),
            By::Smooth => {
                N::smooth_values(self.level, map, workspace, grid, &[dwell], &mut [&mut *values]);
            }
            By::Distance => {
                let units = Units { per_distance: *per_height, pixel: *pixel };
                let out = Derived { distance: &mut [&mut *values], slope: [&mut [], &mut []] };
                if !N::derived(self.level, map, workspace, grid, units, &[dwell], out, stop) {
                    return Err(Error::Interrupted);
                }
            }
        }
        for (point, (outcome, value)) in piece.chosen_mut().zip(outcomes.iter().zip(values)) {
            point.set(*outcome);
            point.value = *value;
        }
        Ok(open.note(&piece, limit)?)
    }
}
