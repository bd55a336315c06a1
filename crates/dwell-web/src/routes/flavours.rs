//! A view computed in two ways, with the time of each and the pixels that differ.

use super::LONGEST;
use crate::admission::Turn;
use crate::body;
use crate::bounds;
use crate::failure::Failure;
use crate::scene_json::{self, SceneJson};
use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dwell::{
    Cancel, ChannelSet, Control, CpuEngine, Engine, InputError, Level, LevelName, NumberKind, Parameter, Plan,
    Progress, Samples, Scene, Scratch, Strategy, Task,
};
use dwell_engines::{EngineName, Work};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// Ways that are compared.
const WAYS: usize = 2;
/// Threads of a way at most, for each processor.
const MOST_THREADS: usize = 64;

#[derive(Deserialize)]
pub(crate) struct Asked {
    scene: SceneJson,
    width: u32,
    height: u32,
    configurations: Vec<Way>,
}

/// How a view is computed; what is absent is as usual.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Way {
    engine: Option<String>,
    level: Option<String>,
    threads: Option<usize>,
    schedule: Option<String>,
    strategy: Option<String>,
    rounding: Option<String>,
    precision: Option<String>,
    shortcuts: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Comparison {
    results: Vec<Measured>,
    /// Pixels whose dwells differ.
    differing: u64,
    /// Base64 of a bit for each of them: row by row, the first pixel in the highest bit, rows padded to bytes.
    mask: String,
}

#[derive(Serialize)]
struct Measured {
    seconds: f64,
    /// What the plain loop needs.
    iterations: String,
    iterations_per_second: f64,
    /// Of the rate that the operations of the iteration allow, on processors, for formulas that have one.
    peak_fraction: Option<f64>,
    hash: String,
    engine: String,
    level: String,
}

pub(crate) async fn compare(
    State(shared): State<Arc<Shared>>,
    body::Json(asked): body::Json<Asked>,
) -> Result<Json<Comparison>, Failure> {
    let size = bounds::picture(asked.width, asked.height)?;
    if asked.configurations.len() != WAYS {
        return Err(Failure::unprocessable(format!("{} configurations are not {WAYS}", asked.configurations.len())));
    }
    let scene = scene_json::read(&asked.scene, size)?;
    let of = shared.clone();
    let work = move |cancel: &Cancel| compared(&of, scene, &asked.configurations, cancel);
    shared.admission.run(Turn::Aside, LONGEST, Cancel::default(), work).await.map(Json)
}

fn compared(shared: &Shared, scene: Scene, ways: &[Way], cancel: &Cancel) -> Result<Comparison, Failure> {
    let control = Control { cancel, progress: &Progress::default() };
    let scene = Scene { samples: Samples::Fixed(1), ..scene };
    let scene = dwell::resolve(&scene, &*shared.engine, &shared.limits, &control)?.scene;
    let (mut fields, mut results) = (Vec::new(), Vec::new());
    for way in ways {
        let (dwells, measured) = measured(shared, &scene, way, control)?;
        fields.push(dwells);
        results.push(measured);
    }
    let width = scene.view.size.width as usize;
    let row_bytes = width.div_ceil(8);
    let mut mask = vec![0_u8; row_bytes * scene.view.size.height as usize];
    let mut differing = 0;
    for (i, _) in fields[0].iter().zip(&fields[1]).enumerate().filter(|(_, (a, b))| a != b) {
        let (column, row) = (i % width, i / width);
        mask[row * row_bytes + column / 8] |= 0x80 >> (column % 8);
        differing += 1;
    }
    Ok(Comparison { results, differing, mask: STANDARD.encode(mask) })
}

/// The dwells of a scene in one way, and what they took. The second of two runs is measured, since the first allocates.
fn measured(shared: &Shared, scene: &Scene, way: &Way, control: Control<'_>) -> Result<(Vec<u64>, Measured), Failure> {
    let mut settings = scene.settings.clone();
    if let Some(text) = &way.precision {
        settings.number = text.parse().map_err(InputError::from)?;
    }
    if let Some(text) = &way.rounding {
        settings.recipe = text.parse().map_err(InputError::from)?;
    }
    settings.check()?;
    let strategy = match &way.strategy {
        Some(text) => text.parse::<Strategy>().map_err(InputError::from)?,
        None => Strategy::Auto,
    };
    if settings.number == NumberKind::Exact && !matches!(strategy, Strategy::Auto | Strategy::EveryPixel) {
        return Err(Failure::unprocessable(format!("strategy: {strategy} does not compute exact arithmetic")));
    }
    let plan = Plan::new(&scene.view, &settings, &shared.limits)?;
    let task = Task { plan: &plan, strategy, channels: ChannelSet::of_dwells(plan.limit()) };
    let (engine, cpu) = engine(shared, way, &task)?;
    let mut scratch = Scratch::default();
    scratch.field(&task, &*engine, &shared.limits, &control)?;
    let begun = Instant::now();
    let (field, _) = scratch.field(&task, &*engine, &shared.limits, &control)?;
    let seconds = begun.elapsed().as_secs_f64();
    let rows = field.all_rows();
    let iterations = rows.iterations(plan.limit());
    let rate = iterations as f64 / seconds;
    let mut hasher = blake3::Hasher::new();
    rows.dwells().for_each(|dwell| {
        hasher.update(&dwell.to_le_bytes());
    });
    let info = engine.info();
    let peak = cpu.map(|cpu| shared.peaks.rate(&cpu, &plan, control.cancel)).transpose()?.flatten();
    let measured = Measured {
        seconds,
        iterations: iterations.to_string(),
        iterations_per_second: rate,
        peak_fraction: peak.map(|peak| rate / peak),
        hash: hasher.finalize().to_hex().to_string(),
        engine: info.name.to_owned(),
        level: info.level,
    };
    Ok((rows.dwells().collect(), measured))
}

/// The engine of a way; and that of the processors, if it is theirs.
fn engine(shared: &Shared, way: &Way, task: &Task<'_>) -> Result<(Arc<dyn Engine>, Option<CpuEngine>), Failure> {
    let named = |error: InputError, name: &'static str| Failure::from(error.about(Parameter::Named(name)));
    let level = match &way.level {
        None => Level::best(),
        Some(text) => {
            let name: LevelName = text.parse().map_err(InputError::from)?;
            Level::get(name).ok_or_else(|| Failure::unprocessable(format!("level: {name} is not on this processor")))?
        }
    };
    let usual = shared.engine.pool().threads();
    let threads = way.threads.unwrap_or(usual);
    if !(1..=MOST_THREADS.max(usual)).contains(&threads) {
        return Err(Failure::unprocessable(format!(
            "threads: {threads} is out of range (accepted: 1 to {})",
            MOST_THREADS.max(usual)
        )));
    }
    let mut cpu = CpuEngine::new(level, threads);
    if let Some(text) = &way.schedule {
        cpu = cpu.with_schedule(text.parse().map_err(|error| named(error, "schedule"))?);
    }
    if let Some(text) = &way.shortcuts {
        cpu = cpu.with_shortcuts(text.parse().map_err(|error: InputError| named(error, "shortcuts"))?);
    }
    let name: EngineName = match &way.engine {
        Some(text) => text.parse().map_err(|error: InputError| named(error, "engine"))?,
        None => EngineName::Cpu,
    };
    let work = Work {
        pixels: task.plan.size().pixels(),
        strategy: task.strategy,
        channels: task.channels,
        number: task.plan.number(),
    };
    let of_processors = (name == EngineName::Cpu).then(|| cpu.like());
    let chosen = dwell_engines::choose(name, cpu, None, work);
    let chosen = chosen.map_err(|error| Failure::unprocessable(format!("engine: {error}")))?;
    Ok((chosen.engine, of_processors))
}
