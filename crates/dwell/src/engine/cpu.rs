//! The CPU engine: spans of pixels over threads.

use super::{Engine, Shortcuts, Spent};
use crate::cancel::Cancel;
use crate::error::Error;
use crate::field::Field;
use crate::parallel;
use crate::plan::{Coordinates, Plan, Points};
use crate::progress::Progress;
use dwell_kernels::escape::{Bounds, Workspace};
use dwell_kernels::{Kernels, Level};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest span of pixels that a thread takes at once: its workspace (17 numbers a point) fits a second-level
/// cache.
const LONGEST_SPAN: usize = 4096;
/// The shortest: below, handing out costs more than iterating.
const SHORTEST_SPAN: usize = 256;
/// Spans that each thread should find, so that one that is late does not leave the others idle for long.
const SPANS_PER_THREAD: usize = 64;

/// Iterates on this machine's processors.
///
/// Keeps its threads' workspaces from call to call: the first touch of fresh memory costs more than many a span.
#[derive(Debug)]
pub struct CpuEngine {
    level: Level,
    threads: usize,
    shortcuts: Shortcuts,
    idle: Mutex<Idle>,
}

/// Workspaces that no thread is using.
#[derive(Debug, Default)]
struct Idle {
    f32: Vec<Workspace<f32>>,
    f64: Vec<Workspace<f64>>,
}

/// Where the idle workspaces of a number are.
type Shelf<N> = fn(&mut Idle) -> &mut Vec<Workspace<N>>;

impl CpuEngine {
    /// On `threads` threads (at least 1) with the kernels of `level` and every exact shortcut.
    #[must_use]
    pub fn new(level: Level, threads: usize) -> Self {
        Self { level, threads: threads.max(1), shortcuts: Shortcuts::Exact, idle: Mutex::default() }
    }

    /// The same with these shortcuts.
    #[must_use]
    pub fn with_shortcuts(self, shortcuts: Shortcuts) -> Self {
        Self { shortcuts, ..self }
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

    fn threads(&self) -> usize {
        self.threads
    }

    fn iterate(&self, plan: &Plan, field: &mut Field, cancel: &Cancel, progress: &Progress) -> Result<Spent, Error> {
        match plan.coordinates() {
            Coordinates::F32(points) => self.iterate_in(plan, points, |i| &mut i.f32, field, cancel, progress),
            Coordinates::F64(points) => self.iterate_in(plan, points, |i| &mut i.f64, field, cancel, progress),
        }
    }
}

/// What a thread has.
struct Worker<N> {
    workspace: Workspace<N>,
    spent: Spent,
}

impl CpuEngine {
    fn iterate_in<N: Kernels>(
        &self,
        plan: &Plan,
        points: &Points<N>,
        shelf: Shelf<N>,
        field: &mut Field,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<Spent, Error> {
        let began = Instant::now();
        let width = plan.size().width;
        let first = u64::from(field.rows().start) * u64::from(width);
        let bounds = Bounds {
            recipe: plan.recipe(),
            limit: plan.limit(),
            radius_squared: points.radius_squared,
            find_cycles: self.shortcuts == Shortcuts::Exact,
        };
        let (dwell, smooth_out) = field.parts_mut();
        let keep_ends = !smooth_out.is_empty();
        let span = (dwell.len() / (self.threads * SPANS_PER_THREAD)).clamp(SHORTEST_SPAN, LONGEST_SPAN);
        let mut smooth_spans = smooth_out.chunks_mut(span);
        let spans = dwell
            .chunks_mut(span)
            .enumerate()
            .map(move |(i, dwell)| (first + (i * span) as u64, dwell, smooth_spans.next()));

        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let kept = shelf(&mut idle()).pop();
            let workspace = kept.unwrap_or_else(|| Workspace::new(LONGEST_SPAN));
            Worker { workspace, spent: Spent::default() }
        };
        let work = |worker: &mut Worker<N>, (first, dwell, smooth_out): (u64, &mut [u32], Option<&mut [f64]>)| {
            if cancel.is_cancelled() {
                return;
            }
            let begun = Instant::now();
            let (re, im) = worker.workspace.points(dwell.len());
            points.axes.fill(width, first, re, im);
            if !N::dwells(self.level, bounds, &mut worker.workspace, dwell, keep_ends, cancel.flag()) {
                return;
            }
            let iterated = Instant::now();
            worker.spent.iterate += iterated - begun;
            if let Some(smooth_out) = smooth_out {
                N::smooth_values(self.level, bounds.recipe, &mut worker.workspace, dwell, smooth_out);
                worker.spent.smooth += iterated.elapsed();
            }
            progress.add(dwell.len() as u64);
        };
        let workers = parallel::for_each(self.threads, spans, start, work);
        let wall = began.elapsed();
        let (workspaces, spent): (Vec<_>, Vec<_>) = workers.into_iter().map(|w| (w.workspace, w.spent)).unzip();
        shelf(&mut idle()).extend(workspaces);
        cancel.check()?;
        Ok(share(wall, spent.into_iter()))
    }
}

/// Wall time, shared out as the threads spent theirs.
fn share(wall: Duration, spent: impl Iterator<Item = Spent>) -> Spent {
    let sum =
        spent.fold(Spent::default(), |a, b| Spent { iterate: a.iterate + b.iterate, smooth: a.smooth + b.smooth });
    let all = (sum.iterate + sum.smooth).as_secs_f64();
    let smooth = if all > 0.0 { wall.mul_f64(sum.smooth.as_secs_f64() / all) } else { Duration::ZERO };
    Spent { iterate: wall.saturating_sub(smooth), smooth }
}
