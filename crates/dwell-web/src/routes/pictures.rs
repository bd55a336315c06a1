//! Pictures and fields of a scene.

use super::{LONGEST, png};
use crate::admission::Turn;
use crate::assets::tagged;
use crate::body;
use crate::bounds;
use crate::failure::Failure;
use crate::frame::{Header, Stage, of_field};
use crate::scene_json::{self, SceneJson};
use crate::state::Shared;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use dwell::{Cancel, ChannelSet, Control, Plan, Progress, Samples, Strategy, Task};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub(crate) struct Wanted {
    scene: SceneJson,
    width: u32,
    height: u32,
    #[serde(default)]
    samples: Option<serde_json::Value>,
}

impl Wanted {
    fn scene(mut self) -> Result<dwell::Scene, Failure> {
        let size = bounds::picture(self.width, self.height)?;
        self.scene.extend(self.samples.map(|samples| ("samples".to_owned(), samples)));
        let scene = scene_json::read(&self.scene, size)?;
        let samples = scene.sample_view()?.size;
        bounds::picture(samples.width, samples.height)?;
        Ok(scene)
    }
}

pub(crate) async fn picture(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body::Json(wanted): body::Json<Wanted>,
) -> Result<Response, Failure> {
    let scene = wanted.scene()?;
    let of = shared.clone();
    let work = move |cancel: &Cancel| png(&scene, &of, cancel);
    let bytes = shared.admission.run(Turn::Aside, LONGEST, Cancel::default(), work).await?;
    Ok(tagged(&headers, "image/png", bytes))
}

/// Dwells, and the values of the colouring, as a message of the WebSocket has them.
pub(crate) async fn field(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body::Json(wanted): body::Json<Wanted>,
) -> Result<Response, Failure> {
    let scene = dwell::Scene { samples: Samples::Fixed(1), ..wanted.scene()? };
    let of = shared.clone();
    let work = move |cancel: &Cancel| {
        let (engine, limits, control) = (&*of.engine, &of.limits, Control { cancel, progress: &Progress::default() });
        let scene = dwell::resolve(&scene, engine, limits, &control)?.scene;
        if u32::try_from(scene.settings.limit).is_err() {
            return Err(Failure::unprocessable(
                "iterations: a field has dwells of 32 bits (accepted: at most 4294967295)",
            ));
        }
        let plan = Plan::new(&scene.view, &scene.settings, limits)?;
        let by = scene.colouring.by;
        let channels = by.channel().into_iter().fold(ChannelSet::NONE, ChannelSet::with);
        let field =
            dwell::field(&Task { plan: &plan, strategy: Strategy::EveryPixel, channels }, engine, limits, cancel)?;
        let size = plan.size();
        let header = Header { view: 0, stage: Stage::Full, size, first_row: 0, rows: size.height };
        Ok(of_field(header, field.all_rows(), by))
    };
    let bytes = shared.admission.run(Turn::Aside, LONGEST, Cancel::default(), work).await?;
    Ok(tagged(&headers, "application/octet-stream", bytes))
}
