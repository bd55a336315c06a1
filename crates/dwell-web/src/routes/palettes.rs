//! Palettes, looks and formulas by name, and the colours of a scene.

use crate::body;
use crate::failure::Failure;
use crate::scene_json::{self, SceneJson};
use crate::state::usual_size;
use axum::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dwell::{Depth, Formula, Look, Painter, Palette, Samples, colour_text};
use serde::{Deserialize, Serialize};

/// Colours of a palette in a list.
const SHOWN: usize = 32;

/// A palette in a list.
#[derive(Serialize)]
pub(crate) struct Listed {
    name: String,
    title: String,
    cyclic: bool,
    /// Evenly spaced over the colours in their order.
    colours: Vec<String>,
    interior: String,
}

/// A look in a list.
#[derive(Serialize)]
pub(crate) struct LookListed {
    name: &'static str,
    title: &'static str,
    /// The palette that it brings; the picture keeps its own otherwise.
    palette: Option<&'static str>,
}

/// A formula in a list.
#[derive(Serialize)]
pub(crate) struct FormulaListed {
    name: &'static str,
    /// The least and the greatest power.
    powers: [u32; 2],
}

/// A scene in a request.
#[derive(Deserialize)]
pub(crate) struct OfScene {
    scene: SceneJson,
}

/// The colours of a scene, for a page that paints.
#[derive(Serialize)]
pub(crate) struct Tables {
    /// Base64 of red, green and blue of 8193 colours, 16 bits each, little-endian; the last is that of the interior.
    palette: String,
    /// The turns that the colours cover.
    period: f64,
    /// Whether pictures of 8 bits are dithered.
    dithers: bool,
}

/// Colours of a palette, evenly spaced.
pub(crate) fn colours(palette: &Palette) -> Vec<String> {
    let last = if palette.period() > 1.5 { 1.0 } else { 1.0 - 1.0 / SHOWN as f64 };
    let at = |i: usize| palette.at(last * i as f64 / (SHOWN - 1) as f64);
    (0..SHOWN).map(|i| in_eight_bits(at(i))).collect()
}

/// A colour as style sheets have it, of which each part has two digits.
fn in_eight_bits(colour: [u16; 3]) -> String {
    let [red, green, blue] = colour.map(|part| (u32::from(part) + 128) / 257);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

pub(crate) async fn all() -> Result<Json<Vec<Listed>>, Failure> {
    let listed = |name: &str| -> Result<Listed, Failure> {
        let palette = Palette::built_in(name)?;
        Ok(Listed {
            name: name.to_owned(),
            title: palette.title().to_owned(),
            cyclic: palette.period() < 1.5,
            colours: colours(&palette),
            interior: colour_text(palette.interior()),
        })
    };
    Palette::built_in_names().map(listed).collect::<Result<Vec<_>, _>>().map(Json)
}

pub(crate) async fn looks() -> Json<Vec<LookListed>> {
    Json(
        Look::ALL
            .into_iter()
            .map(|look| LookListed { name: look.name(), title: look.title(), palette: look.palette() })
            .collect(),
    )
}

pub(crate) async fn formulas() -> Json<Vec<FormulaListed>> {
    let of = |name: &'static str, least: u32| FormulaListed { name, powers: [least, Formula::MAX_POWER] };
    Json(vec![of("mandelbrot", 2), of("multibrot", 3), of("burning-ship", 2), of("tricorn", 2)])
}

pub(crate) async fn tables(body::Json(of): body::Json<OfScene>) -> Result<Json<Tables>, Failure> {
    Tables::of(&of.scene).map(Json)
}

impl Tables {
    pub(crate) fn of(scene: &SceneJson) -> Result<Self, Failure> {
        let scene = scene_json::read(scene, usual_size())?;
        let palette = &scene.colouring.palette;
        let bytes: Vec<u8> = palette
            .table()
            .iter()
            .chain([&palette.interior()])
            .flatten()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        // Whether dithering changes a pixel is the painter's to say; it does not depend on the rest of the scene.
        let plain = dwell::Colouring { layers: Vec::new(), scale: dwell::Scale::Linear, ..scene.colouring.clone() };
        let painter = Painter::new(&plain, 1000, Depth::Eight, Samples::Fixed(1), scene.dither)?;
        let dithers = painter.tables()?.is_some_and(|tables| tables.dither);
        Ok(Self { palette: STANDARD.encode(bytes), period: palette.period(), dithers })
    }
}
