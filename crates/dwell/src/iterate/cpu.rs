//! The CPU engine: tiles over threads.

mod worker;

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::progress::Progress;
use crate::base::thread_pool::{Schedule, Team};
use crate::field::{Extras, FieldPart};
use crate::iterate::cpu::worker::{Buffers, Call, Worker};
use crate::iterate::engine::{Engine, Shortcuts, Spent, Work};
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::{self, Tile, TileSize};
use crate::plan::{Coordinates, Plan, Points};
use crate::view::settings::NumberKind;
use dwell_kernels::escape::{self, Bounds};
use dwell_kernels::{Kernels, Level};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Iterates on this machine's processors.
///
/// Keeps its threads' buffers from call to call: the first touch of fresh memory costs more than many a tile.
#[derive(Debug)]
pub struct CpuEngine {
    level: Level,
    team: Team,
    shortcuts: Shortcuts,
    work: Work,
    idle: Mutex<Idle>,
}

/// Buffers that no thread is using.
#[derive(Debug, Default)]
struct Idle {
    f32: Vec<Buffers<f32>>,
    f64: Vec<Buffers<f64>>,
}

/// Where the idle buffers of a number are.
type Shelf<N> = fn(&mut Idle) -> &mut Vec<Buffers<N>>;

impl CpuEngine {
    /// On `threads` threads (at least 1) with the kernels of `level` and every exact shortcut.
    #[must_use]
    pub fn new(level: Level, threads: usize) -> Self {
        let work = Work { schedule: Schedule::default(), tile: None };
        Self { level, team: Team::new(threads), shortcuts: Shortcuts::EXACT, work, idle: Mutex::default() }
    }

    /// The same with these shortcuts.
    #[must_use]
    pub fn with_shortcuts(self, shortcuts: Shortcuts) -> Self {
        Self { shortcuts, ..self }
    }

    /// The same with work handed out like that; a tile is brought within [`TileSize::MOST`] and
    /// [`TileSize::MOST_PIXELS`].
    #[must_use]
    pub fn with_work(self, work: Work) -> Self {
        Self { work: Work { tile: work.tile.map(TileSize::within_bounds), ..work }, ..self }
    }
}

impl Default for CpuEngine {
    /// The widest level on every processor.
    fn default() -> Self {
        Self::new(Level::best(), std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn level(&self) -> String {
        self.level.name().to_string()
    }

    fn shortcuts(&self) -> Shortcuts {
        self.shortcuts
    }

    fn team(&self) -> &Team {
        &self.team
    }

    fn work(&self) -> Work {
        self.work
    }

    fn bytes(&self, plan: &Plan, strategy: Strategy, extras: Extras) -> u64 {
        let size = plan.size();
        let fitting = || TileSize::fitting(size.pixels(), size.width, self.team.threads());
        let tile = self.work.tile.or(strategy.tile()).unwrap_or_else(fitting);
        let tile = TileSize { width: tile.width.min(size.width), height: tile.height.min(size.height) };
        let each = match plan.number() {
            NumberKind::F32 => Buffers::<f32>::bytes(tile, extras),
            NumberKind::F64 => Buffers::<f64>::bytes(tile, extras),
        };
        // There are no more tiles than that.
        let tiles = size.pixels().div_ceil(u64::from(tile.width) * u64::from(tile.height)) + 1;
        (self.team.threads() as u64).min(tiles) * each as u64
    }

    fn iterate(
        &self,
        plan: &Plan,
        strategy: Strategy,
        part: FieldPart<'_>,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<Spent, Error> {
        let pixels = part.dwell.len() as u64;
        let fitting = || TileSize::fitting(pixels, part.width, self.team.threads());
        let size = self.work.tile.or(strategy.tile()).unwrap_or_else(fitting);
        let tiles = tiles::cut(part, size);
        let spent = match plan.coordinates() {
            Coordinates::F32(points) => {
                self.iterate_in(plan, strategy, points, |i| &mut i.f32, tiles, cancel, progress)
            }
            Coordinates::F64(points) => {
                self.iterate_in(plan, strategy, points, |i| &mut i.f64, tiles, cancel, progress)
            }
        }?;
        Ok(spent)
    }
}

impl CpuEngine {
    #[allow(clippy::too_many_arguments, reason = "a call's parts, handed on once for each number")]
    fn iterate_in<N: Kernels>(
        &self,
        plan: &Plan,
        strategy: Strategy,
        points: &Points<N>,
        shelf: Shelf<N>,
        tiles: Vec<Tile<'_>>,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<Spent, Error> {
        let began = Instant::now();
        let Shortcuts { interior, cycles, .. } = self.shortcuts;
        let bounds = Bounds {
            map: points.map,
            limit: plan.limit(),
            radius_squared: points.radius_squared,
            shortcuts: escape::Shortcuts { interior, cycles },
        };
        let call = Call { level: self.level, points, bounds, per_height: plan.per_height(), cancel };
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let kept = shelf(&mut idle()).pop();
            let worker = Worker { call: &call, buffers: kept.unwrap_or_default(), extras: Duration::ZERO };
            (worker, Duration::ZERO)
        };
        let work = |(worker, spent): &mut (Worker<'_, N>, Duration), mut tile: Tile<'_>| {
            let begun = Instant::now();
            let mut scratch = std::mem::take(&mut worker.buffers.scratch);
            if !cancel.is_cancelled() && strategy.fill(&mut tile, worker, &mut scratch) {
                progress.add((tile.width() * tile.height()) as u64);
            }
            worker.buffers.scratch = scratch;
            *spent += begun.elapsed();
        };
        let workers = self.team.for_each(self.work.schedule, tiles, start, work);
        let wall = began.elapsed();
        let mut all = Duration::ZERO;
        let mut extras = Duration::ZERO;
        for (worker, spent) in workers {
            all += spent;
            extras += worker.extras;
            shelf(&mut idle()).push(worker.buffers);
        }
        cancel.check()?;
        // Wall time, shared out as the threads spent theirs.
        let part = if all.is_zero() { 0.0 } else { extras.as_secs_f64() / all.as_secs_f64() };
        let extras = wall.mul_f64(part.clamp(0.0, 1.0));
        Ok(Spent { iterate: wall.saturating_sub(extras), extras })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Settings, Size, View};

    #[test]
    fn buffers_are_counted() {
        let view = View::centred("-0.75", "0", "1").unwrap().sized(Size::new(8192, 8192).unwrap());
        let plan = Plan::new(&view, &Settings::default(), &Limits::default()).unwrap();
        let engine = |threads, tile| {
            CpuEngine::new(Level::best(), threads).with_work(Work { schedule: Schedule::default(), tile })
        };
        let large = Some(TileSize { width: 1024, height: 1024 });
        assert!(engine(4096, large).bytes(&plan, Strategy::EveryPixel, Extras::SMOOTH) > 512 << 20);
        assert!(engine(2, None).bytes(&plan, Strategy::EveryPixel, Extras::SMOOTH) < 8 << 20);
        let few = Limits { memory_bytes: 16 << 20 };
        let field =
            crate::field(&plan, &engine(64, large), Strategy::EveryPixel, Extras::SMOOTH, &few, &Cancel::default());
        assert!(matches!(field, Err(Error::Input(_))), "refused before anything is taken");
    }
}
