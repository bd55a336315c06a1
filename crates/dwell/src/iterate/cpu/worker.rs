//! A worker thread: it computes the pixels that a strategy requests, with the kernels.

use super::faster::{Faster, Way};
use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::limits::{exhausted, extend, reserve};
use crate::base::thread_pool::ThreadPool;
use crate::field::channels::{Channel, ChannelBuffers, ChannelRowsMut, ChannelSet, ChannelSlicesMut};
use crate::iterate::strategy::{PixelRequests, Strategy, TileComputer};
use crate::iterate::tiles::{Tile, TileSize, Tiles};
use crate::iterate::workspace::take_workspace;
use crate::plan::points::DirectPoints;
use dwell_kernels::blocks::BlockWorkspace;
use dwell_kernels::distance::{Derived, Units};
use dwell_kernels::escape::{KernelSettings, Workspace};
use dwell_kernels::{Fold, Grid, Kernels, Level, Number};
use std::time::{Duration, Instant};

/// Tiles narrower than this are computed as a list of points, since most lanes of a vector would be empty in such rows.
const NARROW: usize = 24;
/// Points of a list that are computed at once.
pub(super) const LIST: usize = 4096;

/// The name of the buffers of a thread, for messages.
const WHAT: &str = "the buffers of a thread";

/// The parameters of a call, shared by all threads.
pub(super) struct Call<'a, N> {
    pub(super) level: Level,
    pub(super) points: &'a DirectPoints<N>,
    pub(super) settings: KernelSettings<N>,
    /// The limit on the search for attracting cycles.
    pub(super) cycle_limit: u32,
    /// The limit up to which points are iterated. If it is below that of the settings, all points that reach it without a proof
    /// are left open.
    pub(super) first_limit: u32,
    /// The n from which points are left open where they are few; `u32::MAX`: none are.
    pub(super) leaves_from: u32,
    pub(super) cancel: &'a Cancel,
}

/// The state of a thread beside its tile.
pub(super) struct Worker<'a, N> {
    pub(super) call: &'a Call<'a, N>,
    pub(super) buffers: Box<Buffers<N>>,
    /// Time spent on channels beside the dwells.
    pub(super) channels: Duration,
    /// Points that its tiles leave open, as columns and rows of the image.
    pub(super) left: Vec<(u32, u32)>,
}

/// Buffers of a thread, kept from call to call.
#[derive(Debug)]
pub(super) struct Buffers<N> {
    workspace: Box<Workspace<N>>,
    blocks: BlockWorkspace<N>,
    re: Vec<N>,
    im: Vec<N>,
    places: Vec<(u32, u32)>,
    listed: ChannelBuffers,
    /// The points that the last computation left open, as columns and rows of its block.
    left: Vec<(u32, u32)>,
    pub(super) scratch: PixelRequests,
    faster: Faster,
}

impl<N: Kernels> Buffers<N> {
    /// Buffers without space for a tile.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn new(pool: &ThreadPool) -> Result<Self, InputError> {
        Ok(Self {
            workspace: take_workspace(pool, WHAT)?,
            blocks: BlockWorkspace::default(),
            re: Vec::new(),
            im: Vec::new(),
            places: Vec::new(),
            listed: ChannelBuffers::default(),
            left: Vec::new(),
            scratch: PixelRequests::default(),
            faster: Faster::default(),
        })
    }

    /// The points that the last computation left open, as columns and rows of its block.
    pub(super) fn left(&self) -> &[(u32, u32)] {
        &self.left
    }
}

/// Written by kernels for points that are proved never to escape, where others are left open.
const PROVED: u32 = u32::MAX;

/// Makes the dwell of points that are [`PROVED`] 0, and adds those without a dwell to `left`, as columns and rows.
fn leave_unproved(rows: &mut [&mut [u32]], left: &mut Vec<(u32, u32)>) -> Result<(), InputError> {
    for (row, dwells) in rows.iter_mut().enumerate() {
        let open = dwells.iter().enumerate().filter(|(_, dwell)| **dwell == 0);
        extend(left, open.map(|(column, _)| (column as u32, row as u32)), WHAT)?;
        dwells.iter_mut().filter(|dwell| **dwell == PROVED).for_each(|dwell| *dwell = 0);
    }
    Ok(())
}

/// Whether z_n of escaped points is needed for some of these channels.
fn needs_escaped_z(channels: ChannelSet) -> bool {
    channels.iter().any(|channel| match channel {
        Channel::Smooth => true,
        // Their kernels follow orbits of their own.
        _ => false,
    })
}

impl<N: Kernels> Buffers<N> {
    /// Bytes that the buffers grow to for lists of so many points.
    pub(super) fn bytes_of_list(points: usize, channels: ChannelSet) -> usize {
        Workspace::<N>::bytes(points, 1, needs_escaped_z(channels)) + points * 2 * size_of::<N>()
    }

    /// Bytes that the buffers grow to for tiles of a size: the workspace, a list of points, and the scratch memory of a
    /// strategy.
    pub(super) fn bytes(tile: TileSize, channels: ChannelSet, strategy: Strategy) -> usize {
        let (width, height) = (tile.width as usize, tile.height as usize);
        let keep_ends = needs_escaped_z(channels);
        // Strategies that infer, or prove blocks, compute lists alone.
        let computes_all = matches!(strategy, Strategy::EveryPixel | Strategy::Auto) || channels.has_interior();
        let (width_at_once, height_at_once) = if computes_all { (width, height) } else { (0, 0) };
        let of_block = Workspace::<N>::bytes(width_at_once, height_at_once, keep_ends);
        let of_list = Workspace::<N>::bytes(LIST, 1, keep_ends) - Workspace::<N>::bytes(0, 0, keep_ends);
        let rows = LIST * size_of::<(u32, u32)>() + Tiles::bytes(tile, channels);
        let scratch = match strategy {
            Strategy::EveryPixel => 0,
            Strategy::Proven | Strategy::Auto => BlockWorkspace::<N>::bytes(width, height),
            Strategy::MarianiSilver | Strategy::BoundaryTrace => PixelRequests::bytes(width * height),
        };
        of_block + of_list + LIST * (2 * size_of::<N>() + channels.bytes(1) as usize) + rows + scratch
    }
}

impl<N: Kernels> Call<'_, N> {
    /// Computes the dwells of a grid and each channel that has rows in `out`. This is the only place that maps channels to
    /// their kernels. Returns the time that the channels took.
    fn compute(
        &self,
        workspace: &mut Workspace<N>,
        left: &mut Vec<(u32, u32)>,
        grid: Grid<'_, N>,
        out: &mut ChannelRowsMut<'_>,
    ) -> Result<Duration, Error> {
        let keep_ends = needs_escaped_z(out.set());
        let stop = self.cancel.flag();
        let bytes = || Workspace::<N>::bytes(grid.width(), grid.height(), keep_ends);
        workspace.reserve(grid, keep_ends).map_err(|_| exhausted(bytes(), WHAT))?;
        workspace.leave_late(self.leaves_from);
        let leaves_all = self.first_limit < self.settings.limit;
        let proved = if leaves_all { PROVED } else { 0 };
        let settings = KernelSettings { limit: self.first_limit, proved, ..self.settings };
        if !N::dwells(self.level, settings, workspace, grid, &mut out.dwell, keep_ends, stop) {
            return Err(Error::Interrupted);
        }
        left.clear();
        if leaves_all {
            leave_unproved(&mut out.dwell, left)?;
        } else {
            extend(left, workspace.left().map(|(column, row)| (column as u32, row as u32)), WHAT)?;
        }
        let begun = Instant::now();
        let map = &self.settings.map;
        let (dwell, values) = out.parts_mut();
        // In the order of `Channel::ALL`. Kernels that compute several channels have empty lists of rows for those that
        // are not in the set.
        let [smooth, distance, right, up, _, interior @ ..] = values;
        if !smooth.is_empty() {
            N::smooth_values(self.level, map, workspace, grid, dwell, smooth);
        }
        if ![&distance, &right, &up].into_iter().all(|rows| rows.is_empty()) {
            let units = Units { per_distance: self.points.per_height, pixel: self.points.pixel };
            let out = Derived { distance, slope: [right, up] };
            if !N::derived(self.level, map, workspace, grid, units, dwell, out, stop) {
                return Err(Error::Interrupted);
            }
        }
        if !interior.iter().all(Vec::is_empty) {
            let out = interior.each_mut().map(Vec::as_mut_slice);
            if !N::attractors(map, grid, self.cycle_limit, dwell, out, stop) {
                return Err(Error::Interrupted);
            }
        }
        Ok(begun.elapsed())
    }

    /// Computes the points at columns and rows of a grid, at most
    /// [`dwell_kernels::escape::MAX_SIDE`], into a pixel of `out` each, in order. Returns
    /// the time that the channels took.
    pub(super) fn compute_list(
        &self,
        buffers: &mut Buffers<N>,
        grid: Grid<'_, N>,
        places: &[(u32, u32)],
        out: ChannelSlicesMut<'_>,
    ) -> Result<Duration, Error> {
        let zero = [Grid::<N>::negative_zero()];
        let Buffers { workspace, left, re, im, .. } = buffers;
        re.clear();
        im.clear();
        reserve(re, places.len(), WHAT)?;
        reserve(im, places.len(), WHAT)?;
        for (column, row) in places {
            let [a, b] = grid.point(*column as usize, *row as usize);
            re.push(a);
            im.push(b);
        }
        let mut out = out.into_rows(places.len().max(1))?;
        self.compute(workspace, left, Grid::list(re, im, &zero), &mut out)
    }

    #[inline]
    fn grid(&self, tile: &Tile<'_>) -> Grid<'_, N> {
        self.points.axes.grid(tile.columns.clone(), tile.rows.clone())
    }
}

impl<N: Kernels> Worker<'_, N> {
    fn compute_by(&mut self, way: Way, tile: &mut Tile<'_>) -> Result<(), Error> {
        match way {
            Way::EveryPixel => self.compute_all(tile),
            Way::Proven => self.compute_proven(tile),
        }
    }
}

impl<N: Kernels> TileComputer for Worker<'_, N> {
    fn compute_all(&mut self, tile: &mut Tile<'_>) -> Result<(), Error> {
        if tile.width() < NARROW {
            let (width, pixels) = (tile.width(), tile.width() * tile.height());
            let place = |pixel: usize| ((pixel % width) as u32, (pixel / width) as u32);
            let mut places = std::mem::take(&mut self.buffers.places);
            for first in (0..pixels).step_by(LIST) {
                places.clear();
                extend(&mut places, (first..pixels.min(first + LIST)).map(place), WHAT)?;
                self.compute_places(tile, &places)?;
            }
            self.buffers.places = places;
            return Ok(());
        }
        let grid = self.call.grid(tile);
        let Buffers { workspace, left, .. } = &mut *self.buffers;
        self.channels += self.call.compute(workspace, left, grid, &mut tile.out)?;
        let place = |(column, row): &(u32, u32)| (tile.columns.start + column, tile.rows.start + row);
        extend(&mut self.left, self.buffers.left().iter().map(place), WHAT)?;
        Ok(())
    }

    fn compute_places(&mut self, tile: &mut Tile<'_>, places: &[(u32, u32)]) -> Result<(), Error> {
        let grid = self.call.grid(tile);
        let set = tile.out.set();
        for places in places.chunks(LIST) {
            let mut listed = std::mem::take(&mut self.buffers.listed);
            let computed = listed
                .resize(places.len(), set)
                .map_err(Error::from)
                .and_then(|()| self.call.compute_list(&mut self.buffers, grid, places, listed.slices_mut()));
            self.channels += computed?;
            let place = |(number, _): &(u32, u32)| {
                let (column, row) = places[*number as usize];
                (tile.columns.start + column, tile.rows.start + row)
            };
            extend(&mut self.left, self.buffers.left().iter().map(place), WHAT)?;
            for ((column, row), dwell) in places.iter().zip(&listed.dwell) {
                tile.out.dwell[*row as usize][*column as usize] = *dwell;
            }
            for channel in set.iter() {
                for ((column, row), value) in places.iter().zip(&listed[channel]) {
                    tile.out[channel][*row as usize][*column as usize] = *value;
                }
            }
            self.buffers.listed = listed;
        }
        Ok(())
    }

    fn compute_proven(&mut self, tile: &mut Tile<'_>) -> Result<(), Error> {
        let Call { level, settings, cancel, .. } = *self.call;
        let grid = self.call.grid(tile);
        let mut blocks = std::mem::take(&mut self.buffers.blocks);
        let bytes = || BlockWorkspace::<N>::bytes(grid.width(), grid.height());
        let proved = N::prove_blocks(level, settings, &mut blocks, grid, &mut tile.out.dwell, cancel.flag())
            .map_err(|_| exhausted(bytes(), WHAT))?;
        if !proved {
            return Err(Error::Interrupted);
        }
        let computed = self.compute_places(tile, blocks.unproved());
        self.buffers.blocks = blocks;
        computed
    }

    fn compute_faster(&mut self, tile: &mut Tile<'_>) -> Result<(), Error> {
        let (first, is_trial) = self.buffers.faster.next();
        if !is_trial {
            return self.compute_by(first, tile);
        }
        let mut left = tile.take_left(tile.width().div_ceil(2) as u32)?;
        for (half, way) in [(&mut left, first), (tile, first.other())] {
            let pixels = half.width() * half.height();
            if pixels > 0 {
                let begun = Instant::now();
                self.compute_by(way, half)?;
                self.buffers.faster.record(way, begun.elapsed(), pixels);
            }
        }
        Ok(())
    }

    #[inline]
    fn point(&self, tile: &Tile<'_>, column: usize, row: usize) -> [f64; 2] {
        self.call.grid(tile).point(column, row).map(Number::to_f64)
    }

    #[inline]
    fn is_connected(&self) -> bool {
        let map = &self.call.settings.map;
        map.formula.fold() == Fold::None && map.julia.is_none()
    }
}
