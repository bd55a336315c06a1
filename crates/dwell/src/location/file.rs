//! The text of a location: TOML, read and written. One format for named places, for files of users, and for what a
//! picture remembers of itself.

use crate::colour::{By, Colouring, Palette, PaletteFormat, Scale, Source, colour_text, parse_colour};
use crate::colour::{Depth, MOST_SAMPLES};
use crate::decimal::Decimal;
use crate::engine::Shortcuts;
use crate::error::{InputError, quote, unknown_name};
use crate::scene::Scene;
use crate::settings::{NumberKind, formula};
use crate::strategy::Strategy;
use crate::tiles::TileSize;
use crate::view::{Frame, Magnification, Sample, Size, View};
use dwell_kernels::{Formula, Recipe};
use serde::{Deserialize, Serialize};

/// Every key, in the order in which they are written. What is left out is as in a picture that nothing is said about.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The version that wrote it; not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    dwell: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    julia: Option<[String; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    im: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zoom: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view_height: Option<String>,
    /// xmin, xmax, ymin, ymax.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<[String; 4]>,
    #[serde(alias = "rotate", skip_serializing_if = "Option::is_none")]
    rotation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flip: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(alias = "aa", skip_serializing_if = "Option::is_none")]
    samples: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(alias = "max_iter", skip_serializing_if = "Option::is_none")]
    pub(super) iterations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    escape_radius: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    force: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shortcuts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tile: Option<String>,
    /// What the user was told; not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
    #[serde(alias = "color", skip_serializing_if = "Option::is_none")]
    colour: Option<ColourTable>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ColourTable {
    /// A built-in palette; or the name of the one whose text follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    palette: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    density: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interior: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    palette_format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    palette_text: Option<String>,
}

impl File {
    /// The scene that it describes. `at` puts the place of a key into an error.
    pub(super) fn scene(&self, at: impl Fn(&'static str, InputError) -> InputError) -> Result<Scene, InputError> {
        let mut scene = Scene::default();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        (scene.title, scene.source) = (text(&self.title), text(&self.source));
        scene.view = self.view(&at)?;
        if let Some(size) = &self.size {
            scene.view.size = Size::parse(size).map_err(|e| at("size", e))?;
        }
        if let Some(samples) = self.samples {
            if !(1..=MOST_SAMPLES).contains(&samples) {
                let wrong = InputError::new("", format!("{samples} is out of range"));
                return Err(at("samples", wrong.accepted(format!("1 to {MOST_SAMPLES}"))));
            }
            scene.samples = samples;
        }
        if let Some(bits) = self.depth {
            let wrong = || InputError::new("", format!("{bits} is out of range")).accepted("8, 16");
            let depth = Depth::ALL.into_iter().find(|depth| depth.bits() == bits);
            scene.depth = depth.ok_or_else(|| at("depth", wrong()))?;
        }
        let settings = &mut scene.settings;
        let iterations = self.iterations.unwrap_or(0);
        settings.limit = u32::try_from(iterations).unwrap_or(u32::MAX);
        let formula = formula(self.formula.as_deref(), self.power, Formula::MANDELBROT);
        settings.formula = formula.map_err(|e| at(if e.what() == "power" { "power" } else { "formula" }, e))?;
        if let Some([re, im]) = &self.julia {
            let part = |part: &str| Decimal::parse(part).map_err(|e| at("julia", e));
            settings.julia = Some([part(re)?, part(im)?]);
        }
        if let Some(radius) = &self.escape_radius {
            settings.escape_radius = Decimal::parse(radius).map_err(|e| at("escape_radius", e))?;
        }
        if let Some(name) = &self.number {
            settings.number = named(name, &NumberKind::ALL, NumberKind::name).map_err(|e| at("number", e))?;
        }
        if let Some(name) = &self.recipe {
            settings.recipe = named(name, &Recipe::ALL, Recipe::name).map_err(|e| at("recipe", e))?;
        }
        settings.force = self.force.unwrap_or(false);
        settings.check().map_err(|e| if iterations == 0 { at("iterations", e) } else { at("escape_radius", e) })?;
        if let Some(name) = &self.strategy {
            scene.strategy = named(name, &Strategy::ALL, Strategy::name).map_err(|e| at("strategy", e))?;
        }
        if let Some(names) = &self.shortcuts {
            let unknown = |name: &str| unknown_name("", name, Shortcuts::NAMES);
            scene.shortcuts = Shortcuts::parse(names).map_err(|name| at("shortcuts", unknown(name)))?;
        }
        if let Some(tile) = &self.tile {
            scene.tile = Some(TileSize::parse(tile).map_err(|e| at("tile", e))?);
        }
        if let Some(colour) = &self.colour {
            scene.colouring = colour.colouring(&at)?;
        }
        Ok(scene)
    }

    fn view(&self, at: &impl Fn(&'static str, InputError) -> InputError) -> Result<View, InputError> {
        let decimal = |key: &'static str, text: &str| Decimal::parse(text).map_err(|e| at(key, e));
        let frame = match (&self.bounds, &self.re, &self.im) {
            (Some([xmin, xmax, ymin, ymax]), None, None) => Frame::Bounds {
                xmin: decimal("bounds", xmin)?,
                xmax: decimal("bounds", xmax)?,
                ymin: decimal("bounds", ymin)?,
                ymax: decimal("bounds", ymax)?,
            },
            (Some(_), ..) => return Err(InputError::new("", "both \"bounds\" and a centre are given")),
            (None, Some(re), Some(im)) => Frame::Centred {
                re: decimal("re", re)?,
                im: decimal("im", im)?,
                magnification: match (&self.zoom, &self.view_height) {
                    // Where a file gives both, zoom rules: view_height is its rounding.
                    (Some(zoom), _) => Magnification::Zoom(decimal("zoom", zoom)?),
                    (None, Some(height)) => Magnification::Height(decimal("view_height", height)?),
                    (None, None) => {
                        return Err(InputError::new("", "neither \"zoom\" nor \"view_height\" is given"));
                    }
                },
            },
            _ => return Err(InputError::new("", "neither \"re\" and \"im\" nor \"bounds\" are given")),
        };
        let mut view = View { frame, ..Scene::default().view };
        let key = match &view.frame {
            Frame::Bounds { .. } => "bounds",
            Frame::Centred { magnification: Magnification::Zoom(_), .. } => "zoom",
            Frame::Centred { .. } => "view_height",
        };
        view.check().map_err(|e| at(key, e))?;
        if let Some(rotation) = &self.rotation {
            view.rotation = decimal("rotation", rotation)?;
            view.check().map_err(|e| at("rotation", e))?;
        }
        if let Some(name) = &self.sample {
            view.sample = named(name, &Sample::ALL, Sample::name).map_err(|e| at("sample", e))?;
        }
        view.flip = self.flip.unwrap_or(false);
        Ok(view)
    }

    /// What describes a scene, so that [`Self::scene`] gives it back.
    pub(super) fn of(scene: &Scene, warnings: &[String]) -> Self {
        let Scene { title, source, view, settings, colouring, samples, depth, strategy, shortcuts, tile } = scene;
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let decimal = |decimal: &Decimal| decimal.text().to_owned();
        let mut file = Self {
            dwell: Some(env!("CARGO_PKG_VERSION").to_owned()),
            title: text(title),
            source: text(source),
            formula: Some(settings.formula.name().to_owned()),
            power: Some(settings.formula.power()),
            julia: settings.julia.as_ref().map(|c| c.each_ref().map(decimal)),
            rotation: Some(decimal(&view.rotation)),
            flip: Some(view.flip),
            sample: Some(view.sample.name().to_owned()),
            size: Some(format!("{}x{}", view.size.width, view.size.height)),
            samples: Some(*samples),
            depth: Some(depth.bits()),
            iterations: Some(settings.limit.into()),
            escape_radius: Some(decimal(&settings.escape_radius)),
            number: Some(settings.number.name().to_owned()),
            recipe: Some(settings.recipe.name().to_owned()),
            force: settings.force.then_some(true),
            warnings: (!warnings.is_empty()).then(|| warnings.to_vec()),
            colour: Some(ColourTable::of(colouring)),
            ..Self::default()
        };
        match &view.frame {
            Frame::Centred { re, im, magnification } => {
                (file.re, file.im) = (Some(decimal(re)), Some(decimal(im)));
                match magnification {
                    Magnification::Zoom(zoom) => file.zoom = Some(decimal(zoom)),
                    Magnification::Height(height) => file.view_height = Some(decimal(height)),
                }
            }
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                file.bounds = Some([xmin, xmax, ymin, ymax].map(decimal));
            }
        }
        // How an exact strategy works leaves no trace in the picture; how another infers does.
        if !strategy.is_exact() {
            file.strategy = Some(strategy.name().to_owned());
            file.shortcuts = Some(shortcuts.to_string());
            file.tile = tile.map(|tile| tile.to_string());
        }
        file
    }
}

impl ColourTable {
    fn colouring(&self, at: &impl Fn(&'static str, InputError) -> InputError) -> Result<Colouring, InputError> {
        let palette = match (&self.palette_text, &self.palette_format) {
            (Some(text), Some(format)) => {
                let format = PaletteFormat::parse(format).map_err(|e| at("palette_format", e))?;
                let name = self.palette.as_deref().unwrap_or("palette");
                Palette::from_text(format, text, name).map_err(|e| at("palette_text", e))?
            }
            (None, None) => match &self.palette {
                None => Palette::default(),
                Some(name) => Palette::built_in(name).map_err(|e| at("palette", e))?,
            },
            _ => return Err(at("palette_text", InputError::new("", "goes with palette_format, and neither is alone"))),
        };
        let mut colouring = Colouring::of(palette);
        if let Some(by) = &self.by {
            colouring = colouring.by(By::parse(by).map_err(|e| at("by", e))?);
        }
        if let Some(scale) = &self.scale {
            colouring.scale = Scale::parse(scale).map_err(|e| at("scale", e))?;
        }
        colouring.density = self.density.unwrap_or(colouring.density);
        colouring.offset = self.offset.unwrap_or(colouring.offset);
        if let Some(interior) = &self.interior {
            let interior = parse_colour(interior).map_err(|e| at("interior", e))?;
            colouring.palette = colouring.palette.with_interior(interior);
        }
        colouring.check().map_err(|e| {
            let key = ["density", "offset"].into_iter().find(|key| e.what() == *key);
            at(key.unwrap_or("scale"), e)
        })?;
        Ok(colouring)
    }

    fn of(Colouring { palette, by, scale, density, offset }: &Colouring) -> Self {
        let (palette_format, palette_text) = match palette.source() {
            Source::BuiltIn => (None, None),
            Source::Text { format, text } => (Some(format.name().to_owned()), Some(text.clone())),
        };
        Self {
            palette: Some(palette.name().to_owned()),
            by: Some(by.name().to_owned()),
            scale: Some(scale.name().to_owned()),
            density: Some(*density),
            offset: Some(*offset),
            interior: Some(colour_text(palette.interior())),
            palette_format,
            palette_text,
        }
    }
}

/// The one of that name.
fn named<T: Copy>(name: &str, all: &[T], name_of: fn(T) -> &'static str) -> Result<T, InputError> {
    let found = all.iter().copied().find(|one| name_of(*one) == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name_of(*one)).collect();
        InputError::new("", format!("{} is not known", quote(name))).accepted(names.join(", "))
    })
}
