//! The tables `layer` of a location, read and written.

use super::palette::{PaletteKeys, PaletteText};
use crate::base::error::InputError;
use crate::base::place::{KeyPlace, Place};
use crate::base::problem::Problem;
use crate::colour::{
    BlendMode, Coverage, Layer, LayerContent, MOST_LAYERS, Palette, Quantity, Scale, colour_text, parse_colour,
};
use crate::input::toml_reader::{Key, Keys, Names};
use serde::Serialize;
use std::path::Path;

/// Every key of a table `layer`.
const NAMES: Names = Names {
    of: "a layer",
    keys: &[
        "what",
        "palette",
        "scale",
        "density",
        "offset",
        "palette_format",
        "palette_text",
        "angle",
        "height",
        "width",
        "colour",
        "over",
        "blend",
        "opacity",
    ],
    aliases: &[("color", "colour")],
};

/// The kinds of layers that are no gradients.
const OTHERS: [&str; 3] = ["slope", "outline", "colour"];

/// Reads the layers. Paths of palette files are relative to `folder`; without a folder they are refused.
pub(super) fn layers(key: &Key<'_>, folder: Option<&Path>) -> Result<Vec<Layer>, InputError> {
    let tables = key.tables()?;
    if tables.len() > MOST_LAYERS {
        let problem = format!("there are {}", tables.len());
        return Err(key.wrong(InputError::malformed(problem).accepts(format!("at most {MOST_LAYERS} layers"))));
    }
    tables.into_iter().enumerate().map(|(i, (line, keys))| layer(line, i + 1, keys, folder)).collect()
}

/// The keys that go with a kind of layer, beside `what`, `blend` and `opacity`.
fn keys_of(what: &str) -> &'static [&'static str] {
    match what {
        "slope" => &["angle", "height"],
        "outline" => &["width", "colour"],
        "colour" => &["colour", "over"],
        _ => &["palette", "scale", "density", "offset", "palette_format", "palette_text"],
    }
}

/// The layer of a table, which begins in that line.
fn layer(line: u64, number: usize, keys: Keys<'_>, folder: Option<&Path>) -> Result<Layer, InputError> {
    let Some(what) = keys.peek("what") else {
        let part = Place::Part(format!("layer {number}"));
        let problem = Problem::Missing("no \"what\" is given".to_owned());
        return Err(InputError::new(problem).accepts(kinds().join(", ")).within(part).at_line(line));
    };
    let mut places: Vec<(&str, KeyPlace)> = Vec::new();
    let mut palette = PaletteKeys::new(&keys);
    let mut values = Values::default();
    for key in keys.in_order(&NAMES) {
        let (known, key) = key?;
        places.push((known, key.place()));
        let is_known = what_is_known(what);
        if is_known && !["what", "blend", "opacity"].contains(&known) && !keys_of(what).contains(&known) {
            let problem = format!("does not go with what = \"{what}\"");
            let accepted = [keys_of(what), &["blend", "opacity"]].concat().join(", ");
            return Err(key.wrong(InputError::new(Problem::Conflict(problem)).accepts(accepted)));
        }
        match known {
            "what" if !is_known => return Err(key.wrong(InputError::unknown(what, kinds()))),
            "what" => drop(key.text()?),
            "palette" | "palette_format" | "palette_text" => palette.take(known, &key, folder)?,
            "scale" => values.scale = Some(key.parsed()?),
            "density" => values.density = Some(key.number()?),
            "offset" => values.offset = Some(key.number()?),
            "angle" => values.angle = Some(key.number()?),
            "height" => values.height = Some(key.number()?),
            "width" => values.width = Some(key.number()?),
            "colour" => values.colour = Some(parse_colour(key.text()?).map_err(|e| key.wrong(e))?),
            "over" => values.over = Some(key.parsed()?),
            "blend" => values.blend = Some(key.parsed()?),
            _ => values.opacity = Some(key.number()?),
        }
    }
    let layer = values.layer(what, palette.palette()?);
    layer.check().map_err(|e| {
        let name = e.parameter().map(ToString::to_string).unwrap_or_default();
        let place = places.iter().find(|(known, _)| *known == name).or(places.first());
        match place {
            Some((_, place)) => e.at_key(place),
            None => e.at_line(line),
        }
    })?;
    Ok(layer)
}

/// Every kind of layer.
fn kinds() -> Vec<&'static str> {
    Quantity::ALL.iter().map(|of| of.name()).chain(OTHERS).collect()
}

fn what_is_known(what: &str) -> bool {
    OTHERS.contains(&what) || what.parse::<Quantity>().is_ok()
}

/// The values of a table, each read by itself.
#[derive(Default)]
struct Values {
    scale: Option<Scale>,
    density: Option<f64>,
    offset: Option<f64>,
    angle: Option<f64>,
    height: Option<f64>,
    width: Option<f64>,
    colour: Option<[u16; 3]>,
    over: Option<Coverage>,
    blend: Option<BlendMode>,
    opacity: Option<f64>,
}

impl Values {
    /// The layer of a known kind.
    fn layer(self, what: &str, palette: Option<Palette>) -> Layer {
        let colour = self.colour.unwrap_or_default();
        let content = match (what, what.parse::<Quantity>()) {
            (_, Ok(of)) => {
                let palette = palette.unwrap_or_default();
                LayerContent::Gradient {
                    of,
                    scale: self.scale.unwrap_or(of.usual_scale()),
                    density: self.density.unwrap_or(1.0),
                    offset: self.offset.unwrap_or(0.0),
                    palette,
                }
            }
            ("slope", _) => LayerContent::Slope {
                angle: self.angle.unwrap_or(Layer::ANGLE),
                height: self.height.unwrap_or(Layer::HEIGHT),
            },
            ("outline", _) => LayerContent::Outline { width: self.width.unwrap_or(Layer::WIDTH), colour },
            _ => LayerContent::Flat { colour, over: self.over.unwrap_or_default() },
        };
        let usual = Layer::of(content);
        Layer { blend: self.blend.unwrap_or(usual.blend), opacity: self.opacity.unwrap_or(usual.opacity), ..usual }
    }
}

/// A table `layer` as it is written.
#[derive(Debug, Default, Serialize)]
pub(super) struct LayerTable {
    what: &'static str,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    palette: Option<PaletteText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    density: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    angle: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    over: Option<&'static str>,
    blend: &'static str,
    opacity: f64,
}

impl LayerTable {
    /// Describes a layer, so that [`layers`] reads the same layer.
    pub(super) fn of(Layer { content, blend, opacity }: &Layer) -> Self {
        let table = Self { blend: blend.name(), opacity: *opacity, ..Self::default() };
        match content {
            LayerContent::Gradient { of, palette, scale, density, offset } => Self {
                what: of.name(),
                palette: Some(PaletteText::of(palette)),
                scale: Some(scale.name()),
                density: Some(*density),
                offset: Some(*offset),
                ..table
            },
            LayerContent::Slope { angle, height } => {
                Self { what: "slope", angle: Some(*angle), height: Some(*height), ..table }
            }
            LayerContent::Outline { width, colour } => {
                Self { what: "outline", width: Some(*width), colour: Some(colour_text(*colour)), ..table }
            }
            LayerContent::Flat { colour, over } => {
                Self { what: "colour", colour: Some(colour_text(*colour)), over: Some(over.name()), ..table }
            }
        }
    }
}
