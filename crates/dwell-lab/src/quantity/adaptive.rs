//! The published Mariani-Silver algorithm of zhong and nvidia, tile by tile: a tile whose border has one value is filled, a
//! large one is divided, and any other is computed pixel by pixel. Divisions truncate as they do there.
//!
//! Only borders are computed, and the inside of tiles where it is needed, in strips: memory grows with a side of the image.

use super::bands::Workload;
use super::bodies::bodies_of;
use super::parameters::Parameters;
use crate::axes;
use crate::convention::Counts;
use crate::counts::recorded;
use dwell::{Cancel, DirectPoints, Error, InputError, Kernels, Level, Number, PointsVisitor, Problem, Schedule, Size};
use dwell_kernels::Grid;
use dwell_kernels::escape::{KernelSettings, KernelShortcuts, MAX_SIDE, Workspace};

/// How the image is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Tiles on a side at first.
    initial: u32,
    /// Parts of a side of a divided tile.
    parts: u32,
    /// A tile is divided if its parts have a side greater than this.
    min_size: u32,
    /// A tile is divided if its depth, from 1, plus 1 is less than this.
    max_depth: u32,
}

impl Layout {
    /// The layout that parameters describe.
    pub(super) fn read(parameters: &Parameters<'_>) -> Result<Self, String> {
        Ok(Self {
            initial: parameters.whole("initial", 1..=1024)?,
            parts: parameters.whole("parts", 2..=64)?,
            min_size: parameters.whole("min-size", 1..=1 << 16)?,
            max_depth: parameters.whole("max-depth", 1..=32)?,
        })
    }
}

/// What is computed of the inside of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Nothing.
    Nothing,
    /// The pixels of leaves, for their loop bodies.
    Leaves,
    /// The pixels of filled tiles, to find the wrong ones.
    Fills,
}

/// How the values of a border become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Border {
    /// All are compared.
    Whole,
    /// Each of some threads compares its own; then their number is halved with truncation, so that the value of the last one
    /// is dropped wherever the number is odd.
    Halved {
        /// Threads of a block.
        threads: u32,
    },
}

/// What the algorithm did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Census {
    /// Kernels that were launched from the device: each tile launches one, which fills it, divides it or computes it.
    pub(super) launches: u64,
    /// The greatest depth of a tile, from 1.
    pub(super) depth: u32,
    /// Points of borders, corners twice.
    pub(super) border_points: u64,
    /// Their loop bodies.
    pub(super) border_bodies: u64,
    /// Pixels of leaves.
    pub(super) leaf_pixels: u64,
    /// Their loop bodies, if leaves were computed.
    pub(super) leaf_bodies: u64,
    /// Pixels of the image that were written.
    pub(super) inside: u64,
    /// Pixels outside the image that were written.
    pub(super) outside: u64,
    /// Wrong pixels of filled tiles, if these were computed.
    pub(super) wrong: u64,
}

impl Census {
    fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.depth = self.depth.max(other.depth);
        self.border_points += other.border_points;
        self.border_bodies += other.border_bodies;
        self.leaf_pixels += other.leaf_pixels;
        self.leaf_bodies += other.leaf_bodies;
        self.inside += other.inside;
        self.outside += other.outside;
        self.wrong += other.wrong;
    }
}

/// Runs the algorithm on a workload.
pub(super) fn census(
    workload: &Workload,
    layout: Layout,
    inside: Inside,
    border: Border,
    cancel: &Cancel,
) -> Result<Census, String> {
    let Size { width, .. } = workload.size();
    let side = width / layout.initial;
    if side == 0 || side as usize > MAX_SIDE {
        return Err(format!(
            "{} tiles on a side of {width} pixels are {side} pixels wide (accepted: 1 to {MAX_SIDE})",
            layout.initial
        ));
    }
    let run = Run { workload, layout, inside, border, side: side as usize, cancel };
    let census = workload.plan.points().visit(run).ok_or("these points have no coordinates")?;
    census.map_err(|error| error.to_string())
}

struct Run<'a> {
    workload: &'a Workload,
    layout: Layout,
    inside: Inside,
    border: Border,
    side: usize,
    cancel: &'a Cancel,
}

impl PointsVisitor for Run<'_> {
    type Output = Result<Census, Error>;

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Self::Output {
        let initial = self.layout.initial as usize;
        let covered = self.side * initial;
        let [re, im] = coordinates(points, self.workload, covered)?;
        let plan = &self.workload.plan;
        let settings = KernelSettings {
            map: points.map,
            limit: plan.direct_limit(),
            radius_squared: points.radius_squared,
            shortcuts: KernelShortcuts::ALL,
            proved: 0,
        };
        let zeros = vec![Grid::<N>::negative_zero(); self.side];
        let tiling = Tiling { run: &self, re, im, zeros, settings };
        let mut rows = vec![Census::default(); initial];
        let pool = self.workload.setup.engine.pool();
        pool.for_each_chunk(Schedule::default(), &mut rows, 1, |row, census| {
            let workspace = Workspace::new().map_err(|_| exhausted())?;
            let mut tiles = Tiles { tiling: &tiling, workspace, dwells: Vec::new(), census: Census::default() };
            for column in 0..initial {
                let tile = Tile { x: column * self.side, y: row * self.side, side: self.side, depth: 1 };
                tiles.visit(tile)?;
            }
            census[0] = tiles.census;
            Ok::<(), Error>(())
        })?;
        let mut all = Census::default();
        rows.iter().for_each(|row| all.add(row));
        Ok(all)
    }
}

fn exhausted() -> Error {
    InputError::malformed("the system has not enough memory for a block of points").into()
}

/// The first `covered` coordinates of the columns and of the rows in the published order, which may leave the image below or
/// above.
fn coordinates<N: Kernels>(
    points: &DirectPoints<N>,
    workload: &Workload,
    covered: usize,
) -> Result<[Vec<N>; 2], InputError> {
    let (plan, convention) = (&workload.plan, &workload.convention);
    let height = plan.size().height as usize;
    let [re, _, _, im] = points.axes.arrays();
    let re = re[..covered].to_vec();
    let last = i64::from(plan.size().height) - 1;
    let row_from_low = |row: u32| if convention.upward { row.into() } else { last - i64::from(row) };
    let im = match axes::lines::<N>(convention.axes, plan.view())? {
        Some([_, line]) => (0..covered as u32).map(|row| line.at(row_from_low(row))).collect(),
        None if covered <= height && convention.upward => im.iter().rev().take(covered).copied().collect(),
        None if covered <= height => im[..covered].to_vec(),
        None => {
            let problem = "tiles leave the image, and only the rules of publications have coordinates there";
            return Err(InputError::new(Problem::Unsupported(problem.to_owned())));
        }
    };
    Ok([re, im])
}

/// What all tiles have in common.
struct Tiling<'a, N> {
    run: &'a Run<'a>,
    re: Vec<N>,
    im: Vec<N>,
    zeros: Vec<N>,
    settings: KernelSettings<N>,
}

/// A square of pixels.
#[derive(Clone, Copy)]
struct Tile {
    x: usize,
    y: usize,
    side: usize,
    depth: u32,
}

impl Tile {
    fn pixels(self) -> u64 {
        (self.side * self.side) as u64
    }

    /// Its columns and rows within an image.
    fn clipped(self, size: Size) -> [usize; 2] {
        let within = |from: usize, all: u32| (from + self.side).min(all as usize).saturating_sub(from);
        [within(self.x, size.width), within(self.y, size.height)]
    }
}

/// The values of a border that are compared so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Common {
    /// None.
    Nothing,
    /// All are this one.
    Value(u32),
    /// Two differ.
    Different,
}

impl Common {
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (own, other) if own == other => own,
            _ => Self::Different,
        }
    }
}

/// The visit of some tiles by one thread.
struct Tiles<'a, N: Number> {
    tiling: &'a Tiling<'a, N>,
    workspace: Workspace<N>,
    dwells: Vec<u32>,
    census: Census,
}

/// The most pixels of a strip of a tile.
const STRIP_PIXELS: usize = 1 << 18;

impl<N: Kernels> Tiles<'_, N> {
    fn visit(&mut self, tile: Tile) -> Result<(), Error> {
        let (run, layout) = (self.tiling.run, self.tiling.run.layout);
        self.census.launches += 1;
        self.census.depth = self.census.depth.max(tile.depth);
        let part = tile.side / layout.parts as usize;
        match self.border(tile)? {
            Common::Value(value) => {
                self.write(tile);
                if run.inside == Inside::Fills {
                    let (counts, limit) = self.counts();
                    let wrong = |n: u32| u64::from(recorded(n, limit, counts) != value);
                    self.census.wrong += self.sum_inside(tile, wrong)?;
                }
            }
            _ if tile.depth + 1 < layout.max_depth && part > layout.min_size as usize => {
                for i in 0..(layout.parts * layout.parts) as usize {
                    let (column, row) = (i % layout.parts as usize, i / layout.parts as usize);
                    let (x, y) = (tile.x + column * part, tile.y + row * part);
                    self.visit(Tile { x, y, side: part, depth: tile.depth + 1 })?;
                }
            }
            _ => {
                self.write(tile);
                let [columns, rows] = tile.clipped(run.workload.size());
                self.census.leaf_pixels += (columns * rows) as u64;
                if run.inside == Inside::Leaves {
                    let (counts, limit) = self.counts();
                    self.census.leaf_bodies += self.sum_inside(tile, |n| bodies_of(n, limit, 0, counts))?;
                }
            }
        }
        Ok(())
    }

    fn counts(&self) -> (Counts, u32) {
        (self.tiling.run.workload.convention.counts, self.tiling.settings.limit)
    }

    /// Counts the pixels that are written.
    fn write(&mut self, tile: Tile) {
        let [columns, rows] = tile.clipped(self.tiling.run.workload.size());
        let inside = (columns * rows) as u64;
        self.census.inside += inside;
        self.census.outside += tile.pixels() - inside;
    }

    /// The value of a border, by the published reduction.
    fn border(&mut self, tile: Tile) -> Result<Common, Error> {
        let Tiling { run, re, im, zeros, .. } = self.tiling;
        let Tile { x, y, side, .. } = tile;
        let zeros = &zeros[..side];
        let (zero, ends) = ([zeros[0]; 2], |line: &[N], from: usize| [line[from], line[from + side - 1]]);
        let (rows, columns) = (ends(im, y), ends(re, x));
        let horizontal = Grid {
            re_of_column: &re[x..x + side],
            im_of_column: zeros,
            re_of_row: &zero,
            im_of_row: &rows,
            monotonic: true,
        };
        let vertical = Grid {
            re_of_column: zeros,
            im_of_column: &im[y..y + side],
            re_of_row: &columns,
            im_of_row: &zero,
            monotonic: true,
        };
        let mut dwells = std::mem::take(&mut self.dwells);
        dwells.clear();
        dwells.resize(4 * side, 0);
        let (first, second) = dwells.split_at_mut(2 * side);
        self.compute(horizontal, first)?;
        self.compute(vertical, second)?;
        let (counts, limit) = self.counts();
        self.census.border_points += dwells.len() as u64;
        self.census.border_bodies += dwells.iter().map(|n| bodies_of(*n, limit, 0, counts)).sum::<u64>();
        // The thread of a point r evaluates it on all four sides.
        let value = |i: usize| Common::Value(recorded(dwells[i], limit, counts));
        let of_point = |r: usize| (0..4).fold(Common::Nothing, |common, edge| common.with(value(edge * side + r)));
        let common = match run.border {
            Border::Whole => (0..side).map(of_point).fold(Common::Nothing, Common::with),
            Border::Halved { threads } => halved(side, threads as usize, of_point),
        };
        self.dwells = dwells;
        Ok(common)
    }

    /// The sum of a value of each pixel of a tile within the image.
    fn sum_inside(&mut self, tile: Tile, value: impl Fn(u32) -> u64) -> Result<u64, Error> {
        let Tiling { run, re, im, zeros, .. } = self.tiling;
        let [columns, rows] = tile.clipped(run.workload.size());
        let strip = (STRIP_PIXELS / columns.max(1)).clamp(1, rows.max(1));
        let mut dwells = std::mem::take(&mut self.dwells);
        let mut sum = 0;
        for from in (0..rows).step_by(strip) {
            let count = strip.min(rows - from);
            let grid = Grid {
                re_of_column: &re[tile.x..tile.x + columns],
                im_of_column: &zeros[..columns],
                re_of_row: &zeros[..count],
                im_of_row: &im[tile.y + from..tile.y + from + count],
                monotonic: true,
            };
            dwells.clear();
            dwells.resize(columns * count, 0);
            self.compute(grid, &mut dwells)?;
            sum += dwells.iter().map(|n| value(*n)).sum::<u64>();
        }
        self.dwells = dwells;
        Ok(sum)
    }

    /// The dwells of a block of points.
    fn compute(&mut self, grid: Grid<'_, N>, dwells: &mut [u32]) -> Result<(), Error> {
        let Tiling { run, settings, .. } = self.tiling;
        let level: Level = run.workload.setup.level;
        if dwells.is_empty() {
            return Ok(());
        }
        self.workspace.reserve(grid, false).map_err(|_| exhausted())?;
        let mut rows: Vec<&mut [u32]> = dwells.chunks_exact_mut(grid.width()).collect();
        let done = N::dwells(level, *settings, &mut self.workspace, grid, &mut rows, false, run.cancel.flag());
        if done { Ok(()) } else { Err(Error::Interrupted) }
    }
}

/// What `threads` threads find that take every `threads`-th point, and then halve their number with truncation.
fn halved(points: usize, threads: usize, of_point: impl Fn(usize) -> Common) -> Common {
    let mut count = points.min(threads);
    let of_thread =
        |thread: usize| (thread..points).step_by(threads).map(&of_point).fold(Common::Nothing, Common::with);
    let mut values: Vec<Common> = (0..count).map(of_thread).collect();
    while count > 1 {
        for thread in 0..count / 2 {
            values[thread] = values[thread].with(values[thread + count / 2]);
        }
        count /= 2;
    }
    values.first().copied().unwrap_or(Common::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the reduction finds the one differing value at `at`.
    fn finds(points: usize, threads: usize, at: usize) -> bool {
        halved(points, threads, |i| Common::Value(u32::from(i == at))) == Common::Different
    }

    #[test]
    fn halving_drops_values_unless_the_threads_are_a_power_of_two() {
        // 31 = 2 * 15 + 1, 15 = 2 * 7 + 1, 7 = 2 * 3 + 1, 3 = 2 * 1 + 1: 1, 2, 4 and 8 values are dropped.
        let of_31 = vec![2, 5, 6, 9, 12, 13, 14, 17, 20, 21, 24, 27, 28, 29, 30];
        for (points, threads, dropped) in
            [(64, 256, vec![]), (31, 256, of_31), (5, 256, vec![4]), (300, 256, vec![]), (12, 6, vec![2, 5, 8, 11])]
        {
            let missed: Vec<usize> = (0..points).filter(|at| !finds(points, threads, *at)).collect();
            assert_eq!(missed, dropped, "{points} {threads}");
        }
    }
}
