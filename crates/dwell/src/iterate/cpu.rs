//! The CPU engine distributes tiles over the threads of a pool.

mod deep;
mod deep_device;
mod faster;
mod left;
mod worker;

use crate::base::cancel::Cancel;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::extend;
use crate::base::place::Parameter;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::deep::pending::Pending;
use crate::deep::points::DeepPoints;
use crate::deep::tiers::DeepBuffers;
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelSet, ChannelSlicesMut};
use crate::iterate::engine::{Engine, EngineInfo, Notes, Outcome, Requirements, Task, Times};
use crate::iterate::shortcuts::Shortcuts;
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::{Tile, TileSize, Tiles};
use crate::plan::points::{DirectPoints, Points, PointsVisitor};
use crate::view::Size;
use dwell_kernels::escape::{KernelSettings, KernelShortcuts};
use dwell_kernels::{Kernels, Level};
use left::Leaving;
use std::ops::Range;
use std::time::{Duration, Instant};
use worker::{Buffers, Call, Worker};

/// Threads for which a band of [`EngineInfo::BAND_SAMPLES`] is large enough, and how many times larger bands of more threads
/// are at most. At the end of a band, threads wait for the last tile and are woken for the next band, which takes some 50 us:
/// with 16 threads, half the time of a picture of 2048 x 2048 pixels at limit 256 was lost so.
const THREADS_PER_BAND: u64 = 2;
const MOST_BANDS: u64 = 4;

/// Computes on the processors of this machine.
///
/// The engine keeps the buffers of its threads from call to call, since the first access to newly allocated memory can cost
/// more than computing a tile. Concurrent calls share the threads, and each uses its own buffers.
#[derive(Debug)]
pub struct CpuEngine {
    level: Level,
    pool: ThreadPool,
    shortcuts: Shortcuts,
    schedule: Schedule,
    tile: Option<TileSize>,
}

impl CpuEngine {
    /// An engine on `threads` threads (at least 1) with the kernels of `level` and every exact shortcut.
    #[must_use]
    pub fn new(level: Level, threads: usize) -> Self {
        Self {
            level,
            pool: ThreadPool::new(threads),
            shortcuts: Shortcuts::EXACT,
            schedule: Schedule::default(),
            tile: None,
        }
    }

    /// An engine that computes points on the calling thread beside another, with the buffers that the other's threads keep, and with
    /// its shortcuts.
    pub(crate) fn beside(engine: &dyn Engine) -> Self {
        Self { pool: engine.pool().of_caller(), ..Self::new(engine.processor_level(), 1) }
            .with_shortcuts(engine.info().shortcuts)
    }

    /// The same engine with these shortcuts.
    #[must_use]
    pub fn with_shortcuts(self, shortcuts: Shortcuts) -> Self {
        Self { shortcuts, ..self }
    }

    /// The same engine with another schedule, by which tiles are distributed to threads.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// The same engine with tiles of one size, brought within [`TileSize::MOST`] and [`TileSize::MOST_PIXELS`]; `None`: a
    /// size that fits the image.
    #[must_use]
    pub fn with_tile(self, tile: Option<TileSize>) -> Self {
        Self { tile: tile.map(TileSize::within_bounds), ..self }
    }

    /// Another engine with the same level, number of threads, shortcuts, schedule and tiles, and with threads and buffers of
    /// its own.
    #[must_use]
    pub fn like(&self) -> Self {
        Self::new(self.level, self.pool.threads())
            .with_shortcuts(self.shortcuts)
            .with_schedule(self.schedule)
            .with_tile(self.tile)
    }

    /// The instruction set of the kernels.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The size of tiles for `pixels` pixels of an image of `width` columns, with a strategy for its channels.
    fn tile(&self, strategy: Strategy, pixels: u64, width: u32) -> TileSize {
        let fitting = || TileSize::fitting(pixels, width, self.pool.threads());
        self.tile.or(strategy.tile()).unwrap_or_else(fitting)
    }

    /// The tiles of some rows, joined where the strategy works with any size and none is given.
    fn tiles<'t>(&self, strategy: Strategy, rows: FieldRowsMut<'t>) -> Tiles<'t> {
        let pixels = u64::from(rows.width()) * rows.rows().len() as u64;
        let tile = self.tile(strategy, pixels, rows.width());
        let tiles = Tiles::new(rows, tile);
        if self.joins(strategy) { tiles.joined() } else { tiles }
    }

    /// Whether a thread joins tiles of this strategy.
    fn joins(&self, strategy: Strategy) -> bool {
        self.tile.or(strategy.tile()).is_none()
    }

    /// Buffers of an earlier call, or new ones.
    fn take_buffers<N: Kernels>(&self) -> Result<Box<Buffers<N>>, InputError> {
        self.pool.kept().take().map_or_else(|| Buffers::new(&self.pool).map(Box::new), Ok)
    }

    /// Computes scattered points, up to the first of two limits; attracting cycles are searched for up to the other: the points at these columns and rows, at most
    /// [`dwell_kernels::escape::MAX_SIDE`], into a pixel of `out` each, in order. Threads may call it at once.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub(crate) fn compute_scattered(
        &self,
        points: &Points,
        limits: [u64; 2],
        places: &[(u32, u32)],
        out: ChannelSlicesMut<'_>,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        struct List<'a> {
            engine: &'a CpuEngine,
            limits: [u64; 2],
            places: &'a [(u32, u32)],
            out: ChannelSlicesMut<'a>,
            control: &'a Control<'a>,
        }
        impl PointsVisitor for List<'_> {
            type Output = Result<(), Error>;
            fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Result<(), Error> {
                let Self { engine, limits: [limit, cycle_limit], places, out, control } = self;
                let [limit, cycle_limit] = [limit, cycle_limit].map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
                let call = Call { cycle_limit, ..engine.call(points, limit, control.cancel) };
                let mut buffers = engine.take_buffers()?;
                let [columns, _, rows, _] = points.axes.arrays().map(|axis| axis.len() as u32);
                let computed = call.compute_list(&mut buffers, points.axes.grid(0..columns, 0..rows), places, out);
                engine.pool.kept().keep(buffers);
                computed.map(drop)
            }
            fn deep(self, points: &DeepPoints) -> Option<Self::Output> {
                let Self { engine, limits: [limit, _], places, out, control } = self;
                Some(engine.deep_list(&engine.deep_call(points, limit, control), places, out))
            }
        }
        let list = List { engine: self, limits, places, out, control };
        points.visit(list).ok_or_else(|| points.unsupported_by("cpu"))?
    }

    /// Bytes of memory that a thread takes for [`Self::compute_scattered`] with so many points, `out` aside.
    pub(crate) fn scattered_bytes(points: &Points, count: usize, channels: ChannelSet) -> u64 {
        struct OfThread(usize, ChannelSet);
        impl PointsVisitor for OfThread {
            type Output = usize;
            fn direct<N: Kernels>(self, _: &DirectPoints<N>) -> usize {
                Buffers::<N>::bytes_of_list(self.0, self.1)
            }
            fn deep(self, _: &DeepPoints) -> Option<usize> {
                Some(DeepBuffers::bytes(self.0))
            }
        }
        points.visit(OfThread(count, channels)).unwrap_or_default() as u64
    }

    /// How many times larger than for few threads a band is. Tiles of a given size may be so large that the buffers of more
    /// threads would take hundreds of megabytes.
    fn bands_at_once(&self) -> u64 {
        let of_threads = (self.pool.threads() as u64 / THREADS_PER_BAND).clamp(1, MOST_BANDS);
        if self.tile.is_some() { 1 } else { of_threads }
    }

    /// The parameters of a call.
    fn call<'a, N: Kernels>(&self, points: &'a DirectPoints<N>, limit: u32, cancel: &'a Cancel) -> Call<'a, N> {
        let Shortcuts { interior, cycles, .. } = self.shortcuts;
        let settings = KernelSettings {
            map: points.map,
            limit,
            radius_squared: points.radius_squared,
            shortcuts: KernelShortcuts { interior, cycles, traps: false },
            proved: 0,
        };
        Call {
            level: self.level,
            points,
            settings,
            cycle_limit: limit,
            first_limit: limit,
            leaves_from: u32::MAX,
            cancel,
        }
    }
}

impl Default for CpuEngine {
    /// An engine with the widest level that this machine has, on as many threads as it has processors.
    fn default() -> Self {
        Self::new(Level::best(), ThreadPool::processors())
    }
}

impl Engine for CpuEngine {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "cpu",
            level: self.level.name().to_string(),
            shortcuts: self.shortcuts,
            schedule: self.schedule,
            tile: self.tile,
            inference: "cpu".to_owned(),
            band_samples: EngineInfo::BAND_SAMPLES * self.bands_at_once(),
        }
    }

    fn pool(&self) -> &ThreadPool {
        &self.pool
    }

    fn processor_level(&self) -> Level {
        self.level
    }

    fn requirements(&self, task: &Task<'_>, rows: u32) -> Requirements {
        let Size { width, height } = task.plan.size();
        let rows = rows.clamp(1, height);
        if let Points::Deep(points) = task.plan.points() {
            return self.deep_requirements(task, points, rows);
        }
        let strategy = self.info().strategy_for(task);
        let tile = self.tile(strategy, u64::from(width) * u64::from(rows), width);
        let within = |tile: TileSize| TileSize { width: tile.width.min(width), height: tile.height.min(rows) };
        let largest = within(if self.joins(strategy) { tile.joined() } else { tile });
        let tile = within(tile);
        // A thread that gets no tile allocates nothing, so at most as many threads as tiles are counted.
        let tiles = u64::from(width.div_ceil(tile.width)) * u64::from(rows.div_ceil(tile.height));
        let threads = (self.pool.threads() as u64).min(tiles);
        let of_threads = |of_thread: usize| threads * of_thread as u64;
        struct Needs<'a, F> {
            engine: &'a CpuEngine,
            of_threads: F,
            tile: TileSize,
            largest: TileSize,
            task: &'a Task<'a>,
            strategy: Strategy,
            tiles: u64,
        }
        impl<F: Fn(usize) -> u64> PointsVisitor for Needs<'_, F> {
            type Output = u64;
            fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> u64 {
                let Self { engine, of_threads, tile, largest, task, strategy, tiles } = self;
                let (channels, limit) = (task.channels, task.plan.direct_limit());
                let leaving = Leaving::of(strategy, channels, limit, &points.map, engine.shortcuts);
                let left = leaving.bytes::<N>(tile, tiles, channels, engine.pool.threads() as u64);
                of_threads(Buffers::<N>::bytes(largest, channels, strategy)) + left
            }
        }
        let needs = Needs { engine: self, of_threads, tile, largest, task, strategy, tiles };
        Requirements { host_bytes: task.plan.points().visit(needs).unwrap_or_default(), ..Requirements::default() }
    }

    fn run(&self, task: &Task<'_>, rows: FieldRowsMut<'_>, control: &Control<'_>) -> Result<Outcome, Error> {
        let slice = rows.rows();
        self.run_slice(task, (rows, slice), control, &mut Pending::default())
    }

    fn run_slice(
        &self,
        task: &Task<'_>,
        (mut rows, slice): (FieldRowsMut<'_>, Range<u32>),
        control: &Control<'_>,
        pending: &mut Pending,
    ) -> Result<Outcome, Error> {
        let (plan, columns) = (task.plan, rows.width());
        if columns != plan.size().width || rows.rows().end > plan.size().height {
            let problem = format!("{columns} columns, rows {:?} are not of the plan's image", rows.rows());
            return Err(InputError::malformed(problem).about(Parameter::Named("field")).into());
        }
        if let Points::Deep(points) = plan.points() {
            return self.run_deep(task, points, (rows, slice), control, pending);
        }
        let rows = rows.some_rows_mut(slice);
        let times = plan.points().visit(Run { engine: self, task, rows, control });
        let times = times.ok_or_else(|| plan.points().unsupported_by("cpu"))??;
        Ok(Outcome { times, notes: Notes::default() })
    }
}

/// Computes the tiles of a call, for points in either number.
struct Run<'a, 't> {
    engine: &'a CpuEngine,
    task: &'a Task<'a>,
    rows: FieldRowsMut<'t>,
    control: &'a Control<'a>,
}

impl PointsVisitor for Run<'_, '_> {
    type Output = Result<Times, Error>;

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Result<Times, Error> {
        let began = Instant::now();
        let Self { engine, task, mut rows, control } = self;
        let Control { cancel, progress } = *control;
        let mut call = engine.call(points, task.plan.direct_limit(), cancel);
        // In f32 orbits return to an earlier z so soon that proofs for single points gain nothing but in lists of points near the
        // boundary.
        let is_double = size_of::<N>() == size_of::<f64>();
        call.settings.shortcuts.traps = task.strategy == Strategy::Proven || engine.shortcuts.cycles && is_double;
        let strategy = engine.info().strategy_for(task);
        let leaving = Leaving::of(strategy, task.channels, call.settings.limit, &points.map, engine.shortcuts);
        (call.first_limit, call.leaves_from) = leaving.limits(call.settings.limit);
        let start = || -> Result<_, Error> {
            let buffers = engine.take_buffers()?;
            let worker = Worker { call: &call, buffers, channels: Duration::ZERO, left: Vec::new() };
            Ok((worker, Duration::ZERO))
        };
        let work = |(worker, spent): &mut (Worker<'_, N>, Duration), mut tile: Tile<'_>| -> Result<(), Error> {
            let begun = Instant::now();
            cancel.check()?;
            let (pixels, left) = (tile.width() * tile.height(), worker.left.len());
            let mut scratch = std::mem::take(&mut worker.buffers.scratch);
            strategy.fill(&mut tile, worker, &mut scratch)?;
            worker.buffers.scratch = scratch;
            progress.add((pixels - (worker.left.len() - left)) as u64);
            *spent += begun.elapsed();
            Ok(())
        };
        let range = rows.rows();
        let tiles = engine.tiles(strategy, rows.some_rows_mut(range));
        let workers = engine.pool.for_each(engine.schedule, tiles, start, work)?;
        let wall = began.elapsed();
        let mut all = Duration::ZERO;
        let mut channels = Duration::ZERO;
        let mut left = Vec::new();
        for (worker, spent) in workers {
            all += spent;
            channels += worker.channels;
            extend(&mut left, worker.left, left::WHAT)?;
            engine.pool.kept().keep(worker.buffers);
        }
        cancel.check()?;
        // The wall time is divided in the proportion of the thread times.
        let fraction = if all.is_zero() { 0.0 } else { channels.as_secs_f64() / all.as_secs_f64() };
        let channels = wall.mul_f64(fraction.clamp(0.0, 1.0));
        let waiting = engine.compute_left(&call, leaving, left, &mut rows, control)?;
        cancel.check()?;
        let iterate = began.elapsed().saturating_sub(channels);
        Ok(Times { iterate, channels, waiting, preparing: Duration::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::progress::Progress;
    use crate::{Limits, Plan, Settings, View};

    #[test]
    fn requirements_grow_with_threads_and_tiles() {
        let view = View::centred("-0.75", "0", "1").unwrap().sized(Size::new(8192, 8192).unwrap());
        let plan = Plan::new(&view, &Settings::default(), &Limits::default()).unwrap();
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::SMOOTH };
        let engine = |threads, tile| CpuEngine::new(Level::best(), threads).with_tile(tile);
        let large = Some(TileSize { width: 1024, height: 1024 });
        assert!(engine(4096, large).requirements(&task, 8192).host_bytes > 512 << 20);
        assert!(engine(2, None).requirements(&task, 8192).host_bytes < 8 << 20);
        // Eight tiles, of which each has 64 rows: no more threads have buffers, and these are smaller.
        assert!(engine(4096, large).requirements(&task, 64).host_bytes < 32 << 20);
    }

    #[test]
    fn rows_of_another_image_are_refused() {
        let view = View::centred("-0.75", "0", "1").unwrap().sized(Size::new(8, 8).unwrap());
        let plan = Plan::new(&view, &Settings::default(), &Limits::default()).unwrap();
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let engine = CpuEngine::new(Level::best(), 1);
        for (width, rows) in [(7, 0..8), (8, 1..9)] {
            let mut dwell = vec![0; width as usize * rows.len()];
            let rows = FieldRowsMut::new(width, rows, ChannelSlicesMut::of_dwells(&mut dwell)).unwrap();
            assert!(matches!(engine.run(&task, rows, &control), Err(Error::Input(_))));
        }
    }
}
