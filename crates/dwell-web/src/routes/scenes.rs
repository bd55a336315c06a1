//! Scenes in other forms: in normal form, from texts and files of every program, to files, and as a command.

use super::palettes;
use crate::body::{self, FileBytes};
use crate::failure::Failure;
use crate::scene_json::{self, SceneJson};
use crate::state::usual_size;
use axum::Json;
use axum::extract::Query;
use dwell::{Fit, InputError, Location, LocationFormat, Palette, PaletteFormat, PaletteSource, Scene};
use serde::{Deserialize, Serialize};
use std::io::Cursor;
use std::path::Path;

/// The first bytes of a PNG.
const PNG: &[u8] = b"\x89PNG";
/// Bytes by which a file of another program is recognised.
const HEAD: usize = 4096;

#[derive(Deserialize)]
pub(crate) struct OfScene {
    scene: SceneJson,
}

#[derive(Deserialize)]
pub(crate) struct OfText {
    text: String,
}

#[derive(Deserialize)]
pub(crate) struct Exported {
    scene: SceneJson,
    format: String,
}

/// A file of another program, and what of the scene it does not say.
#[derive(Serialize)]
pub(crate) struct File {
    text: String,
    left_out: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct Shown {
    scene: SceneJson,
    width: u32,
    height: u32,
}

#[derive(Serialize)]
pub(crate) struct Command {
    command: String,
}

#[derive(Deserialize)]
pub(crate) struct Named {
    name: String,
}

/// What a file holds.
#[derive(Serialize)]
#[serde(rename_all = "lowercase", untagged)]
pub(crate) enum Found {
    Scene { scene: SceneJson },
    Palette { palette: PaletteKeys, colours: Vec<String> },
}

/// The keys of the table `colour` that name a palette.
#[derive(Serialize)]
pub(crate) struct PaletteKeys {
    palette: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    palette_format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    palette_text: Option<String>,
}

pub(crate) async fn normal(body::Json(of): body::Json<OfScene>) -> Result<Json<SceneJson>, Failure> {
    scene_json::written(&scene_json::location(&of.scene)?, usual_size()).map(Json)
}

pub(crate) async fn of_text(body::Json(of): body::Json<OfText>) -> Result<Json<SceneJson>, Failure> {
    scene_json::written(&Location::parse(&of.text, "explored")?, usual_size()).map(Json)
}

pub(crate) async fn export(body::Json(of): body::Json<Exported>) -> Result<Json<File>, Failure> {
    let format: LocationFormat =
        of.format.parse().map_err(|error: dwell::UnknownName| Failure::from(dwell::InputError::from(error)))?;
    let written = scene_json::location(&of.scene)?.text_in(format)?;
    Ok(Json(File { text: written.text, left_out: written.left_out }))
}

pub(crate) async fn command(body::Json(of): body::Json<Shown>) -> Result<Json<Command>, Failure> {
    let location = scene_json::location(&of.scene)?;
    let size = crate::bounds::poster(of.width, of.height)?;
    let scene = Scene { view: location.view(size), ..location.scene.clone() };
    // The text of a location file says all of it; a shell passes it on as it is.
    let text = Location { scene, fit: Fit::Never, ..location }.text();
    let command = format!("dwell render -o picture.png - <<'END'\n{text}END\n");
    Ok(Json(Command { command }))
}

pub(crate) async fn of_file(Query(named): Query<Named>, FileBytes(bytes): FileBytes) -> Result<Json<Found>, Failure> {
    // Parsing a large file takes longer than other requests should wait.
    let found = tokio::task::spawn_blocking(move || found(&named.name, &bytes)).await;
    found.unwrap_or_else(|_| Err(Failure::unprocessable("internal error: a thread panicked"))).map(Json)
}

fn found(name: &str, bytes: &[u8]) -> Result<Found, Failure> {
    let file = Path::new(name).file_name().unwrap_or_default();
    let path = Path::new(file);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("file");
    let scene = |location: &Location| Ok(Found::Scene { scene: scene_json::written(location, usual_size())? });
    if bytes.starts_with(PNG) {
        return scene(&Location::from_png(Cursor::new(bytes), stem)?);
    }
    let text = String::from_utf8_lossy(bytes);
    let palette = |format: PaletteFormat| -> Result<Found, Failure> {
        let palette = Palette::from_text(format, &text, stem)?;
        Ok(Found::Palette { colours: palettes::colours(&palette), palette: keys(&palette) })
    };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    if ["map", "ggr", "ugr", "gpl", "kfp"].contains(&ending.as_str()) {
        return palette(ending.parse().map_err(InputError::from)?);
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    if let Some(format) = LocationFormat::of_file(path, head) {
        return scene(&Location::from_text(format, &text, None, stem)?);
    }
    match Location::parse(&text, stem) {
        Ok(location) => scene(&location),
        // A palette may end in .toml, too. What is neither is meant as a location.
        Err(error) => palette(PaletteFormat::Toml).map_err(|_| error.into()),
    }
}

fn keys(palette: &Palette) -> PaletteKeys {
    let (palette_format, palette_text) = match palette.source() {
        PaletteSource::BuiltIn => (None, None),
        PaletteSource::Text { format, text } => (Some(format.name()), Some(text.clone())),
    };
    PaletteKeys { palette: palette.name().to_owned(), palette_format, palette_text }
}
