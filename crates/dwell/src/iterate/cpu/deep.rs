//! Deep views on the CPU engine: tiles of pixels, each decided by [`DeepCall`].

use super::CpuEngine;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::extend;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::deep::pending::Pending;
use crate::deep::points::DeepPoints;
use crate::deep::rest::Rest;
use crate::deep::tiers::{Course, DeepBuffers, DeepCall};
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelBuffers, ChannelSet, ChannelSlicesMut};
use crate::iterate::engine::{Notes, Outcome, Requirements, Task, Times};
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::{Tile, TileSize, Tiles};
use dwell_kernels::deep::PROVED;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The least and the greatest number of pixels of a tile. A pixel may take a second, so that tiles are small where there are many threads and few pixels; but vectors
/// are full only where a list of what a tier leaves, one pixel in a thousand, still has some.
const LEAST_AREA: u64 = 1 << 7;
const MOST_AREA: u64 = 1 << 14;
/// Tiles for each thread, where there are enough pixels: at the end few threads are idle. With fewer threads that takes fewer tiles, and each ends with orbits in vectors that are not full: rf-dragon at 480x270 on one thread took
/// 1.35 times as long with 8.
const TILES_PER_THREAD: [u64; 3] = [1, 4, 8];
/// What is said of a picture with pixels that are not proved.
const UNPROVED: &str =
    if PROVED { ORBITS_ON_CIRCLE } else { "this build leaves out the bounds on errors: dwells are not proved" };
const ORBITS_ON_CIRCLE: &str = "the orbits of some points meet |z_n| = R as far as thousands of bits tell: this is taken as no escape, and these dwells are not \
                        proved";
/// What the memory is for, in messages.
const WHAT: &str = "a tile";

/// The buffers of a thread.
#[derive(Debug, Default)]
pub(super) struct TileBuffers {
    deep: DeepBuffers,
    places: Vec<(u32, u32)>,
    values: ChannelBuffers,
    /// The time that the thread worked on tiles.
    busy: Duration,
}

/// Refuses what exact arithmetic does not compute.
pub(super) fn check(channels: ChannelSet, limit: u64, strategy: Strategy) -> Result<(), InputError> {
    if !channels.includes(ChannelSet::of_dwells(limit)) {
        let problem = format!("dwells up to {limit} need the channel of what exceeds 32 bits");
        return Err(InputError::new(Problem::Unsupported(problem)).about(Parameter::MaxIterations));
    }
    if !matches!(strategy, Strategy::Auto | Strategy::EveryPixel) {
        let problem = format!("the strategy {strategy} does not compute exact arithmetic");
        return Err(InputError::new(Problem::Unsupported(problem))
            .about(Parameter::Named("strategy"))
            .accepts(Strategy::EveryPixel.name()));
    }
    Ok(())
}

/// The time since the beginning of a call in which the reference and the blocks of a view were computed, given the seconds that this had taken before it.
pub(super) fn prepared_since(points: &DeepPoints, before: f64, began: Instant) -> Duration {
    let seconds = points.shared.report().of_preparing() - before;
    Duration::from_secs_f64(seconds.max(0.0)).min(began.elapsed())
}

impl CpuEngine {
    pub(super) fn deep_call<'a>(&self, points: &'a DeepPoints, limit: u64, control: &Control<'a>) -> DeepCall<'a> {
        DeepCall { points, limit, level: self.level, threads: self.pool.threads(), control: *control }
    }

    /// Computes a list of points into a pixel of `out` each.
    pub(super) fn deep_list(
        &self,
        call: &DeepCall<'_>,
        places: &[(u32, u32)],
        out: ChannelSlicesMut<'_>,
    ) -> Result<(), Error> {
        check(out.set(), call.limit, Strategy::EveryPixel)?;
        let mut buffers = self.take_deep_buffers();
        let course = call.course(out.set());
        let computed = course.and_then(|course| course.compute(&mut buffers.deep, places, out));
        self.pool.kept().keep(buffers);
        computed
    }

    pub(super) fn deep_requirements(&self, task: &Task<'_>, points: &DeepPoints, rows: u32) -> Requirements {
        let tile = self.deep_tile(u64::from(task.plan.size().width) * u64::from(rows));
        let pixels = tile.width as usize * tile.height as usize;
        let of_values = task.channels.bytes(pixels as u64) as usize;
        let of_thread = DeepBuffers::bytes(pixels) + pixels * size_of::<(u32, u32)>() + of_values;
        let threads = self.pool.threads() as u64;
        let of_all = u64::from(task.plan.size().width) * u64::from(rows);
        let of_rest = Rest::bytes(of_all);
        let host_bytes = points.shared.bytes(task.plan.limit()) + of_rest + threads * of_thread as u64;
        Requirements { host_bytes, ..Requirements::default() }
    }

    /// The tiles of so many pixels.
    fn deep_tile(&self, pixels: u64) -> TileSize {
        let fitting = || {
            let threads = self.pool.threads();
            let of_thread = TILES_PER_THREAD[threads.clamp(1, TILES_PER_THREAD.len()) - 1];
            let area = (pixels / (of_thread * threads as u64)).clamp(LEAST_AREA, MOST_AREA);
            let height = 1 << (area.ilog2() / 2);
            TileSize { width: (area as u32) / height, height }
        };
        self.tile.unwrap_or_else(fitting)
    }

    pub(super) fn take_deep_buffers(&self) -> Box<TileBuffers> {
        self.pool.kept().take().unwrap_or_default()
    }

    /// Adds what the buffers of a thread were used for.
    pub(super) fn end_deep(&self, buffers: &mut TileBuffers, points: &DeepPoints, notes: &mut Notes) {
        let deep = buffers.deep.take_report(points);
        let is_proved = deep.as_ref().is_none_or(|deep| deep.unproved == 0);
        let warnings = if is_proved { Vec::new() } else { vec![UNPROVED.to_owned()] };
        notes.add(Notes { deep, warnings, ..Notes::default() });
    }

    pub(super) fn run_deep(
        &self,
        task: &Task<'_>,
        points: &DeepPoints,
        (mut rows, slice): (FieldRowsMut<'_>, Range<u32>),
        control: &Control<'_>,
        pending: &mut Pending,
    ) -> Result<Outcome, Error> {
        check(task.channels, task.plan.limit(), task.strategy)?;
        let Control { cancel, progress } = *control;
        let (whole, prepared_before) = (Instant::now(), points.shared.report().of_preparing());
        let course = self.deep_call(points, task.plan.limit(), control).course(task.channels)?;
        let began = Instant::now();
        let pixels = u64::from(rows.width()) * slice.len() as u64;
        let tiles = Tiles::new(rows.some_rows_mut(slice), self.deep_tile(pixels));
        let rest = Rest::beside(pending);
        let work = |buffers: &mut Box<TileBuffers>, mut tile: Tile<'_>| -> Result<(), Error> {
            cancel.check()?;
            let began = Instant::now();
            progress.add(buffers.fill(&course, &mut tile, &rest)? as u64);
            buffers.busy += began.elapsed();
            Ok(())
        };
        let mut used = self.pool.for_each(self.schedule, tiles, || Ok(self.take_deep_buffers()), work)?;
        let busy: Duration = used.iter_mut().map(|buffers| std::mem::take(&mut buffers.busy)).sum();
        let waited = began.elapsed().saturating_sub(busy / self.pool.threads() as u32);
        let mut notes = Notes::default();
        let mut end = |mut buffers: Box<TileBuffers>| {
            self.end_deep(&mut buffers, points, &mut notes);
            self.pool.kept().keep(buffers);
        };
        used.into_iter().for_each(&mut end);
        let start = || self.take_deep_buffers();
        let from = (&course, course.last_of_tile());
        let waiting =
            rest.decide(from, (&mut rows, pending), &self.pool, (start, end), |pixels| progress.add(pixels))?;
        cancel.check()?;
        let times = Times {
            iterate: whole.elapsed(),
            channels: Duration::ZERO,
            waiting: waited + waiting,
            preparing: prepared_since(points, prepared_before, whole),
        };
        Ok(Outcome { times, notes })
    }
}

impl TileBuffers {
    /// Computes a tile, or leaves some pixels to be decided later. Returns the number of those that are decided.
    fn fill(&mut self, course: &Course<'_>, tile: &mut Tile<'_>, rest: &Rest) -> Result<usize, Error> {
        let Self { deep, places, values, .. } = self;
        places.clear();
        let columns = tile.columns.clone();
        extend(places, tile.rows.clone().flat_map(|row| columns.clone().map(move |column| (column, row))), WHAT)?;
        let set = tile.out.set();
        values.resize(places.len(), set)?;
        course.begin(deep, places, values.slices_mut())?;
        let left = deep.open.len();
        let is_left = rest.take(places, &mut deep.open)?;
        if !is_left {
            course.finish(deep, places, values.slices_mut())?;
        }
        let width = tile.width();
        for (row, dwell) in tile.out.dwell.iter_mut().zip(values.dwell.chunks(width)) {
            row.copy_from_slice(dwell);
        }
        for channel in set.iter() {
            for (row, values) in tile.out[channel].iter_mut().zip(values[channel].chunks(width)) {
                row.copy_from_slice(values);
            }
        }
        Ok(places.len() - if is_left { left } else { 0 })
    }
}

impl AsMut<DeepBuffers> for TileBuffers {
    fn as_mut(&mut self) -> &mut DeepBuffers {
        &mut self.deep
    }
}
