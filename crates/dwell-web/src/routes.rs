//! The routes, after the token.

mod bookmarks;
mod flavours;
mod locations;
mod palettes;
mod pictures;
mod points;
mod posters;
mod reports;
mod scenes;
mod start;
mod tiles;

use crate::failure::Failure;
use crate::state::Shared;
use crate::{assets, server, socket};
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dwell::{Engine, Scene, Scratch};
use std::sync::Arc;
use std::time::Duration;

/// How long a request of HTTP may compute.
const LONGEST: Duration = Duration::from_secs(120);

/// Describes every route.
const OPENAPI: &str = include_str!("openapi.json");

/// The routes of the API under `api/v1/`, with the methods of each.
pub(crate) fn api() -> Router<Arc<Shared>> {
    Router::new()
        .route("/openapi.json", get(openapi))
        .route("/start", get(start::start))
        .route("/load", get(start::load))
        .route("/locations", get(locations::all))
        .route("/locations/{name}", get(locations::one))
        .route("/locations/{name}/thumbnail", get(locations::thumbnail))
        .route("/palettes", get(palettes::all))
        .route("/looks", get(palettes::looks))
        .route("/formulas", get(palettes::formulas))
        .route("/tables", post(palettes::tables))
        .route("/scenes", post(scenes::normal))
        .route("/scenes/text", post(scenes::of_text))
        .route("/scenes/export", post(scenes::export))
        .route("/scenes/command", post(scenes::command))
        .route("/files", post(scenes::of_file))
        .route("/fields", post(pictures::field))
        .route("/pictures", post(pictures::picture))
        .route("/tiles/{zoom}/{column}/{row}", get(tiles::tile))
        .route("/points", post(points::point))
        .route("/flavours", post(flavours::compare))
        .route("/bookmarks", get(bookmarks::all))
        .route("/bookmarks/{name}", get(bookmarks::one).put(bookmarks::write).delete(bookmarks::remove))
        .route("/jobs", get(posters::all).post(posters::order))
        .route("/jobs/{id}", axum::routing::delete(posters::remove))
        .route("/jobs/{id}/pause", post(posters::pause))
        .route("/jobs/{id}/resume", post(posters::resume))
        .route("/jobs/{id}/file", get(posters::file))
        .route("/reports", get(reports::all))
        .route("/reports/{name}", get(reports::page))
        .route("/socket", get(socket::connect))
}

/// All routes.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .nest("/api/v1", api())
        .route("/", get(assets::index))
        .route("/{file}", get(assets::asset))
        .fallback(server::no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(shared)
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

async fn no_method() -> Failure {
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, "this address has other methods")
        .hint("GET api/v1/openapi.json describes what there is")
}

/// A PNG of a scene, with the scene in it.
fn png(scene: &Scene, shared: &Shared, cancel: &dwell::Cancel) -> Result<Vec<u8>, Failure> {
    let (engine, limits): (&dyn Engine, _) = (&*shared.engine, &shared.limits);
    let control = dwell::Control { cancel, progress: &dwell::Progress::default() };
    let scene = dwell::resolve(scene, engine, limits, &control)?.scene;
    let mut scratch = Scratch::default();
    let picture = scratch.picture(&scene, engine, limits, &control)?;
    let text = scene.text(&picture.notes().warnings);
    let png = dwell::png_bytes(picture.bytes(), picture.size(), picture.depth(), &text, engine.pool());
    png.map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described() {
        let described: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
        let source = include_str!("routes.rs");
        let routes: Vec<&str> = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let api: Vec<&&str> = routes.iter().filter(|route| !["/", "/{file}"].contains(*route)).collect();
        assert!(api.len() > 20);
        for route in &api {
            assert!(described["paths"][**route].is_object(), "{route} is not described");
        }
        assert_eq!(described["paths"].as_object().unwrap().len(), api.len());
    }
}
