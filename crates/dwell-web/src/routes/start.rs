//! What a page has to know first, and what the server does.

use crate::admission::Load;
use crate::failure::Failure;
use crate::routes::palettes::Tables;
use crate::scene_json::SceneJson;
use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use dwell::{Level, Schedule, Strategy};
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
pub(crate) struct Start {
    scene: SceneJson,
    /// The colours of the scene: a page that had to ask for them would paint its first pixels later.
    table: Tables,
    /// Whether bookmarks and posters are kept.
    folder: bool,
    version: &'static str,
    engine: &'static str,
    level: String,
    threads: usize,
    memory_bytes: u64,
    engines: Vec<String>,
    levels: Vec<&'static str>,
    strategies: Vec<&'static str>,
    schedules: Vec<&'static str>,
    test: bool,
}

pub(crate) async fn start(State(shared): State<Arc<Shared>>) -> Result<Json<Start>, Failure> {
    let info = shared.engine.info();
    let devices = dwell_cuda::devices().unwrap_or_default();
    let devices = devices.iter().map(|device| format!("cuda:{}", device.number));
    Ok(Json(Start {
        scene: shared.start.clone(),
        table: Tables::of(&shared.start)?,
        folder: shared.folder.is_some(),
        version: env!("CARGO_PKG_VERSION"),
        engine: info.name,
        level: info.level,
        threads: shared.engine.pool().threads(),
        memory_bytes: shared.limits.memory_bytes,
        engines: ["cpu".to_owned()].into_iter().chain(devices).collect(),
        levels: Level::available().iter().map(|level| level.name().name()).collect(),
        strategies: Strategy::ALL.map(Strategy::name).to_vec(),
        schedules: Schedule::NAMES.to_vec(),
        test: shared.is_test,
    }))
}

pub(crate) async fn load(State(shared): State<Arc<Shared>>) -> Json<Load> {
    Json(shared.admission.load())
}
