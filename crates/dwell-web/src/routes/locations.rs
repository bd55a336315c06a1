//! The built-in locations.

use super::{LONGEST, png};
use crate::admission::Turn;
use crate::assets::tagged;
use crate::failure::Failure;
use crate::scene_json::{self, SceneJson};
use crate::state::{Shared, usual_size};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use dwell::{Cancel, Frame, Location, Magnification, NumberKind, Rational, Samples, Size};
use serde::Serialize;
use std::sync::Arc;

/// The size of a thumbnail.
const THUMBNAIL: Size = Size { width: 240, height: 135 };

/// A location in a list.
#[derive(Serialize)]
pub(crate) struct Listed {
    name: String,
    title: String,
    /// Rounded, such as 3.2e157.
    zoom: String,
    /// Whether it is beyond f64.
    deep: bool,
    /// Whether it takes hours.
    slow: bool,
}

pub(crate) async fn all() -> Result<Json<Vec<Listed>>, Failure> {
    let listed = |name: &str| -> Result<Listed, Failure> {
        let location = Location::built_in(name)?;
        let view = location.view(usual_size());
        let zoom = match view.frame.with_square_pixels()? {
            Frame::Centred { magnification: Magnification::Zoom(zoom), .. } => zoom.to_rational(),
            Frame::Centred { magnification: Magnification::Height(height), .. } => {
                Rational::whole(4).over(&height.to_rational())
            }
            Frame::Bounds { .. } => Rational::whole(1),
        };
        Ok(Listed {
            name: name.to_owned(),
            title: location.scene.title.clone(),
            zoom: zoom.scientific(),
            deep: location.scene.number() == NumberKind::Exact,
            slow: location.takes_hours(),
        })
    };
    Location::built_in_names().map(listed).collect::<Result<Vec<_>, _>>().map(Json)
}

pub(crate) async fn one(Path(name): Path<String>) -> Result<Json<SceneJson>, Failure> {
    scene_json::written(&built_in(&name)?, usual_size()).map(Json)
}

pub(crate) async fn thumbnail(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let location = built_in(&name)?;
    if location.takes_hours() {
        return Err(Failure::not_found("thumbnail of a location that takes hours"));
    }
    let png_of = |shared: Arc<Shared>| {
        move |cancel: &Cancel| {
            let mut scene = location.scene.clone();
            (scene.view, scene.samples) = (location.view(THUMBNAIL), Samples::Auto);
            png(&scene, &shared, cancel)
        }
    };
    let bytes = match shared.thumbnail(&name) {
        Some(kept) => kept,
        None => {
            let work = png_of(shared.clone());
            let bytes = Arc::new(shared.admission.run(Turn::Aside, LONGEST, Cancel::default(), work).await?);
            shared.keep_thumbnail(&name, bytes.clone());
            bytes
        }
    };
    Ok(tagged(&headers, "image/png", bytes.to_vec()))
}

fn built_in(name: &str) -> Result<Location, Failure> {
    Location::built_in(name)
        .map_err(|error| Failure { status: axum::http::StatusCode::NOT_FOUND, ..Failure::from(error) })
}
