//! Posters: renders to files, which outlive the page and the server.

use crate::body;
use crate::bounds;
use crate::failure::Failure;
use crate::jobs::{Job, Ordered};
use crate::state::Shared;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::io::Read;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Bytes of a file that are read at once.
const PART: usize = 1 << 18;

pub(crate) async fn all(State(shared): State<Arc<Shared>>) -> Json<Vec<Job>> {
    Json(shared.jobs.all())
}

pub(crate) async fn order(
    State(shared): State<Arc<Shared>>,
    body::Json(ordered): body::Json<Ordered>,
) -> Result<Json<Job>, Failure> {
    let size = bounds::poster(ordered.width, ordered.height)?;
    shared.jobs.order(ordered, size).map(Json)
}

pub(crate) async fn pause(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Result<Json<Job>, Failure> {
    shared.jobs.pause(&id).map(Json)
}

pub(crate) async fn resume(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Result<Json<Job>, Failure> {
    shared.jobs.resume(&id).map(Json)
}

pub(crate) async fn remove(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Result<StatusCode, Failure> {
    shared.jobs.remove(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The finished file, in parts: it may be larger than the memory.
pub(crate) async fn file(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Result<Response, Failure> {
    let (path, name) = shared.jobs.file(&id)?;
    let gone = |_: std::io::Error| Failure::not_found("file of that poster");
    let mut file = std::fs::File::open(path).map_err(gone)?;
    let length = file.metadata().map_err(gone)?.len();
    let (send, parts) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut part = vec![0; PART];
            let read = match file.read(&mut part) {
                Ok(0) => return,
                Ok(read) => Ok(Bytes::from({
                    part.truncate(read);
                    part
                })),
                Err(error) => Err(error),
            };
            // Where the client has gone, nothing more is read.
            let failed = read.is_err();
            if send.blocking_send(read).is_err() || failed {
                return;
            }
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, Body::new(crate::body::Parts(parts))).into_response())
}
