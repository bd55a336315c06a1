//! A thread at work: it answers a strategy's questions with the kernel.

use crate::base::cancel::Cancel;
use crate::field::Extras;
use crate::iterate::strategy::{Ask, Scratch};
use crate::iterate::tiles::{Tile, TileSize};
use crate::plan::Points;
use dwell_kernels::escape::{Bounds, Workspace};
use dwell_kernels::{Fold, Grid, Kernels, Level, Number};
use std::time::{Duration, Instant};

/// Tiles narrower than this are asked for as a list of points: in rows of their own most lanes would be empty.
const NARROW: usize = 24;
/// Points of a list that are asked for at once.
const LIST: usize = 4096;

/// What all threads of a call share.
pub(super) struct Call<'a, N> {
    pub(super) level: Level,
    pub(super) points: &'a Points<N>,
    pub(super) bounds: Bounds<N>,
    /// 1 / the view's height: distances are in heights of the view.
    pub(super) per_height: f64,
    pub(super) cancel: &'a Cancel,
}

/// What a thread has, beside the tile at hand.
pub(super) struct Worker<'a, N> {
    pub(super) call: &'a Call<'a, N>,
    pub(super) buffers: Buffers<N>,
    /// Time spent on extras.
    pub(super) extras: Duration,
}

/// Buffers of a thread, kept from call to call.
#[derive(Debug)]
pub(super) struct Buffers<N> {
    workspace: Workspace<N>,
    re: Vec<N>,
    im: Vec<N>,
    dwell: Vec<u32>,
    smooth: Vec<f64>,
    distance: Vec<f64>,
    pub(super) scratch: Scratch,
}

impl<N: Kernels> Default for Buffers<N> {
    fn default() -> Self {
        Self {
            workspace: Workspace::default(),
            re: Vec::new(),
            im: Vec::new(),
            dwell: Vec::new(),
            smooth: Vec::new(),
            distance: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

impl<N: Kernels> Buffers<N> {
    /// Bytes that they come to take for tiles of a size: the workspace, a list of points, a strategy's notes.
    pub(super) fn bytes(tile: TileSize, extras: Extras) -> usize {
        let (width, height) = (tile.width as usize, tile.height as usize);
        let of_block = Workspace::<N>::bytes(width, height, extras.smooth);
        let of_list = Workspace::<N>::bytes(LIST, 1, extras.smooth) - Workspace::<N>::bytes(0, 0, extras.smooth);
        let notes = 2 + size_of::<(u32, u32)>();
        of_block + of_list + LIST * (2 * size_of::<N>() + 20) + width * height * notes
    }
}

impl<N: Kernels> Call<'_, N> {
    /// Dwells of a grid, and extras where there are rows for them. Returns the time that the latter took, or `None` when
    /// told to stop.
    fn iterate(
        &self,
        workspace: &mut Workspace<N>,
        grid: Grid<'_, N>,
        dwell: &mut [&mut [u32]],
        smooth: &mut [&mut [f64]],
        distance: &mut [&mut [f64]],
    ) -> Option<Duration> {
        let keep_ends = !smooth.is_empty();
        let stop = self.cancel.flag();
        if !N::dwells(self.level, self.bounds, workspace, grid, dwell, keep_ends, stop) {
            return None;
        }
        let begun = Instant::now();
        let map = &self.bounds.map;
        if keep_ends {
            N::smooth_values(self.level, map, workspace, grid, dwell, smooth);
        }
        if !distance.is_empty()
            && !N::distances(self.level, map, workspace, grid, self.per_height, dwell, distance, stop)
        {
            return None;
        }
        Some(begun.elapsed())
    }

    fn grid(&self, tile: &Tile<'_>) -> Grid<'_, N> {
        self.points.axes.grid(tile.columns.clone(), tile.rows.clone())
    }
}

impl<N: Kernels> Ask for Worker<'_, N> {
    fn all(&mut self, tile: &mut Tile<'_>) -> bool {
        if tile.width() < NARROW {
            let width = tile.columns.len() as u32;
            let places = (0..tile.rows.len() as u32).flat_map(|row| (0..width).map(move |column| (column, row)));
            return self.places(tile, &places.collect::<Vec<_>>());
        }
        let grid = self.call.grid(tile);
        let Tile { dwell, smooth, distance, .. } = tile;
        let spent = self.call.iterate(&mut self.buffers.workspace, grid, dwell, smooth, distance);
        self.extras += spent.unwrap_or_default();
        spent.is_some()
    }

    fn places(&mut self, tile: &mut Tile<'_>, places: &[(u32, u32)]) -> bool {
        let grid = self.call.grid(tile);
        let nothing = [Grid::<N>::nothing()];
        let (with_smooth, with_distance) = (!tile.smooth.is_empty(), !tile.distance.is_empty());
        let Buffers { workspace, re, im, dwell, smooth, distance, .. } = &mut self.buffers;
        for places in places.chunks(LIST) {
            re.clear();
            im.clear();
            for (column, row) in places {
                let [a, b] = grid.point(*column as usize, *row as usize);
                re.push(a);
                im.push(b);
            }
            dwell.resize(places.len(), 0);
            smooth.resize(if with_smooth { places.len() } else { 0 }, 0.0);
            distance.resize(if with_distance { places.len() } else { 0 }, 0.0);
            let list = Grid::list(re, im, &nothing);
            let smooth_rows: &mut [&mut [f64]] = if with_smooth { &mut [smooth] } else { &mut [] };
            let distance_rows: &mut [&mut [f64]] = if with_distance { &mut [distance] } else { &mut [] };
            let spent = self.call.iterate(workspace, list, &mut [dwell], smooth_rows, distance_rows);
            let Some(spent) = spent else { return false };
            self.extras += spent;
            for (i, (column, row)) in places.iter().enumerate() {
                tile.dwell[*row as usize][*column as usize] = dwell[i];
                if with_smooth {
                    tile.smooth[*row as usize][*column as usize] = smooth[i];
                }
                if with_distance {
                    tile.distance[*row as usize][*column as usize] = distance[i];
                }
            }
        }
        true
    }

    fn point(&self, tile: &Tile<'_>, column: usize, row: usize) -> [f64; 2] {
        self.call.grid(tile).point(column, row).map(Number::to_f64)
    }

    fn is_connected(&self) -> bool {
        let map = &self.call.bounds.map;
        map.formula.fold() == Fold::None && map.julia.is_none()
    }
}
