//! Bookmarks: location files in the user's folder.

use crate::body;
use crate::failure::Failure;
use crate::folder::{Bookmark, Folder, Name};
use crate::scene_json::{self, SceneJson};
use crate::state::{Shared, usual_size};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use dwell::Location;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub(crate) struct OfScene {
    scene: SceneJson,
}

fn folder(shared: &Shared) -> Result<&Folder, Failure> {
    let none = || Failure::unprocessable("there is no folder for bookmarks").hint("start dwell explore with --folder");
    shared.folder.as_ref().ok_or_else(none)
}

pub(crate) async fn all(State(shared): State<Arc<Shared>>) -> Result<Json<Vec<Bookmark>>, Failure> {
    if shared.folder.is_none() {
        return Ok(Json(Vec::new()));
    }
    folder(&shared)?.bookmarks().map(Json)
}

pub(crate) async fn one(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Result<Json<SceneJson>, Failure> {
    let location = folder(&shared)?.read(&Name::parse(&name)?)?;
    scene_json::written(&location, usual_size()).map(Json)
}

pub(crate) async fn write(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    body::Json(of): body::Json<OfScene>,
) -> Result<StatusCode, Failure> {
    let name = Name::parse(&name)?;
    let location = Location { name: name.text().to_owned(), ..scene_json::location(&of.scene)? };
    folder(&shared)?.write(&name, &location)?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn remove(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Result<StatusCode, Failure> {
    folder(&shared)?.remove(&Name::parse(&name)?)?;
    Ok(StatusCode::NO_CONTENT)
}
