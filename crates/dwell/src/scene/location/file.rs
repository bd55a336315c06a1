//! The text of a location, in TOML, read and written. Built-in locations, users' files and the texts stored in pictures
//! have this one format.

use super::layer::{self, LayerTable};
use super::palette::{PaletteKeys, PaletteText};
use crate::base::error::InputError;
use crate::base::place::{KeyPlace, Place};
use crate::base::problem::Problem;
use crate::base::quote::quote;
use crate::colour::{By, Colouring, Layer, Look, MOST_SAMPLES, Samples, Scale, colour_text, parse_colour};
use crate::exact::decimal::Decimal;
use crate::input::toml_reader::{Document, Key, Keys, Names};
use crate::scene::location::fit::Fit;
use crate::scene::{Automatic, Scene};
use crate::view::settings::{NumberKind, formula};
use crate::view::{Frame, Magnification, View};
use dwell_kernels::{Formula, UnknownName};
use serde::Serialize;
use std::path::Path;

/// Every key. `dwell` is the version that wrote the text, `warnings` are those of the render: neither changes the
/// picture.
const NAMES: Names = Names {
    of: "a location",
    keys: &[
        "dwell",
        "name",
        "title",
        "source",
        "notes",
        "formula",
        "power",
        "julia",
        "re",
        "im",
        "zoom",
        "view_height",
        "bounds",
        "fit",
        "rotation",
        "flip",
        "sample",
        "size",
        "samples",
        "depth",
        "dither",
        "iterations",
        "escape_radius",
        "number",
        "recipe",
        "force",
        "strategy",
        "shortcuts",
        "tile",
        "warnings",
        "colour",
        "layer",
    ],
    aliases: &[("rotate", "rotation"), ("aa", "samples"), ("max_iter", "iterations"), ("color", "colour")],
};

/// Every key of the table `colour`. `look` is a look whose palette and layers come before everything else; it is not written.
/// `palette` is a built-in palette or a file, or the name of the palette whose text
/// follows.
const COLOUR_NAMES: Names = Names {
    of: "the table colour",
    keys: &["look", "palette", "by", "scale", "density", "offset", "interior", "palette_format", "palette_text"],
    aliases: &[],
};

/// The accepted range of a limit.
const ITERATIONS: &str = "1 to 2^63 - 1, or \"auto\"";
/// The value of `iterations` and of `scale` that is found from the view.
pub(super) const AUTO: &str = "auto";

/// A known key and its place in the text, for errors about several keys.
type KnownPlace = (&'static str, KeyPlace);

/// The values of a text, each checked by itself; [`Given::scene`] combines them. Keys that are absent have the values
/// of the default scene.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) name: Option<String>,
    pub(super) notes: Option<String>,
    scene: Scene,
    formula: Option<String>,
    power: Option<u32>,
    re: Option<Decimal>,
    im: Option<Decimal>,
    zoom: Option<Decimal>,
    view_height: Option<Decimal>,
    bounds: Option<[Decimal; 4]>,
    colouring: Option<Colouring>,
    layers: Vec<Layer>,
    /// Whether the view is to show the whole set.
    pub(super) fit: bool,
    has_size: bool,
    places: Vec<KnownPlace>,
}

/// The error as one about the key of that name.
fn at(places: &[KnownPlace], name: &str, e: InputError) -> InputError {
    match places.iter().find(|(known, _)| *known == name) {
        Some((_, place)) => e.at_key(place),
        None => e.within(Place::Key(name.to_owned())),
    }
}

impl Given {
    /// Reads a text. Paths of palette files are relative to `folder`; without a folder they are refused.
    pub(super) fn read(document: &Document<'_>, folder: Option<&Path>) -> Result<Self, InputError> {
        let mut given = Self::default();
        // A text that dwell has written is complete: an absent scale is the usual one.
        let is_record = document.keys().peek("dwell").is_some();
        given.scene.automatic = Automatic { limit: true, scale: !is_record, number: !is_record };
        if is_record {
            // What a record leaves out had these values when there was no other choice.
            (given.scene.samples, given.scene.dither) = (Samples::Fixed(1), false);
        }
        for key in document.keys().in_order(&NAMES) {
            let (name, key) = key?;
            given.places.push((name, key.place()));
            given.take(name, &key, folder)?;
        }
        Ok(given)
    }

    /// Reads one key. A value that is out of range by itself is an error here.
    fn take(&mut self, name: &str, key: &Key<'_>, folder: Option<&Path>) -> Result<(), InputError> {
        let text = || key.text().map(str::to_owned);
        let Scene { view, settings, .. } = &mut self.scene;
        match name {
            "name" => self.name = Some(text()?),
            "title" => self.scene.title = text()?,
            "source" => self.scene.source = text()?,
            "notes" => self.notes = Some(text()?),
            "formula" => {
                let name = text()?;
                formula(Some(&name), None, Formula::MANDELBROT).map_err(|e| key.wrong(e))?;
                self.formula = Some(name);
            }
            "power" => {
                let most = Formula::MAX_POWER;
                self.power = u32::try_from(key.whole(2, most.into(), &format!("2 to {most}"))?).ok();
            }
            "julia" => settings.julia = Some(key.decimals()?),
            "re" => self.re = Some(key.decimal()?),
            "im" => self.im = Some(key.decimal()?),
            "zoom" => self.zoom = Some(magnifies(key, key.decimal()?, Magnification::Zoom)?),
            "view_height" => self.view_height = Some(magnifies(key, key.decimal()?, Magnification::Height)?),
            "bounds" => {
                let bounds = key.decimals()?;
                let [xmin, xmax, ymin, ymax] = bounds.clone();
                check(key, &View { frame: Frame::Bounds { xmin, xmax, ymin, ymax }, ..Scene::default().view })?;
                self.bounds = Some(bounds);
            }
            "fit" => self.fit = key.flag()?,
            "rotation" => {
                view.rotation = key.decimal()?;
                check(key, view)?;
            }
            "flip" => view.flip = key.flag()?,
            "sample" => view.sample = key.parsed()?,
            "size" => (view.size, self.has_size) = (key.parsed()?, true),
            "samples" => {
                self.scene.samples = if key.as_text().is_some_and(|text| text == "auto") {
                    Samples::Auto
                } else {
                    let side = key.whole(1, MOST_SAMPLES.into(), Samples::ACCEPTED)?;
                    Samples::Fixed(u32::try_from(side).unwrap_or(1))
                };
            }
            "dither" => self.scene.dither = key.flag()?,
            "depth" => {
                let bits = key.whole(0, u64::MAX, "8, 16")?;
                let depth = bits.to_string().parse();
                self.scene.depth = depth.map_err(|e: UnknownName| key.wrong(e.into()))?;
            }
            "iterations" => {
                let iterations = iterations(key)?;
                settings.limit = iterations.unwrap_or(settings.limit);
                self.scene.automatic.limit = iterations.is_none();
            }
            "escape_radius" => settings.escape_radius = key.decimal()?,
            "number" => {
                let number = number(key)?;
                settings.number = number.unwrap_or_default();
                self.scene.automatic.number = number.is_none();
            }
            "recipe" => settings.recipe = key.parsed()?,
            "force" => settings.force = key.flag()?,
            "strategy" => self.scene.strategy = key.parsed()?,
            "shortcuts" => self.scene.shortcuts = key.parsed()?,
            "tile" => self.scene.tile = Some(key.parsed()?),
            "colour" => {
                let usual = self.scene.automatic.scale;
                let (colouring, automatic) = colouring(key.table()?, folder, usual)?;
                (self.colouring, self.scene.automatic.scale) = (Some(colouring), automatic);
            }
            "layer" => {
                self.layers = layer::layers(key, folder)?;
            }
            "warnings" => drop(key.texts("a list of texts in quotes")?),
            // `dwell`, the version that wrote the text.
            _ => drop(text()?),
        }
        Ok(())
    }

    /// Whether a centre or bounds are given.
    pub(super) fn has_place(&self) -> bool {
        self.bounds.is_some() || self.re.is_some() || self.im.is_some()
    }

    /// The scene that the values describe.
    pub(super) fn scene(self) -> Result<Scene, InputError> {
        let fitted = self.fit && !self.has_place();
        let Self { mut scene, formula: name, power, places, re, im, zoom, view_height, bounds, has_size, .. } = self;
        let formula = formula(name.as_deref(), power, Formula::MANDELBROT);
        scene.settings.formula = formula.map_err(|e| at(&places, "power", e))?;
        scene.colouring = self.colouring.unwrap_or(scene.colouring);
        // Those of a look come first.
        scene.colouring.layers.extend(self.layers);
        scene.colouring.check().map_err(|e| at(&places, "layer", e))?;
        scene.view.frame = match (bounds, re, im) {
            (Some([xmin, xmax, ymin, ymax]), None, None) => Frame::Bounds { xmin, xmax, ymin, ymax },
            (Some(_), ..) => return Err(conflict("both \"bounds\" and a centre are given")),
            (None, Some(re), Some(im)) => Frame::Centred {
                re,
                im,
                magnification: match (zoom, view_height) {
                    // A file that gives both has rounded view_height, so zoom takes precedence.
                    (Some(zoom), _) => Magnification::Zoom(zoom),
                    (None, Some(height)) => Magnification::Height(height),
                    (None, None) => {
                        return Err(missing("neither \"zoom\" nor \"view_height\" is given"));
                    }
                },
            },
            (None, Some(_), None) => return Err(missing("\"re\" is given, and no \"im\"")),
            (None, None, Some(_)) => return Err(missing("\"im\" is given, and no \"re\"")),
            (None, None, None) if fitted => scene.view.clone().fitted(&scene.settings).frame,
            (None, None, None) => {
                return Err(missing("neither \"re\" and \"im\" nor \"bounds\" are given")
                    .accepts("a centre, bounds, or fit = true for the whole set"));
            }
        };
        if !has_size && let Some(size) = scene.view.frame.size_of_shape(View::DEFAULT_SIZE.pixels()) {
            scene.view.size = size;
        }
        scene.check_settings().map_err(|e| at(&places, "escape_radius", e))?;
        Ok(scene)
    }
}

/// The error when something required is not given.
fn missing(problem: &str) -> InputError {
    InputError::new(Problem::Missing(problem.to_owned()))
}

/// The error when two keys do not go together.
fn conflict(problem: &str) -> InputError {
    InputError::new(Problem::Conflict(problem.to_owned()))
}

/// Checks a view; an error is about the key.
fn check(key: &Key<'_>, view: &View) -> Result<(), InputError> {
    view.check().map_err(|e| key.wrong(e))
}

/// Checks the value of a magnification.
fn magnifies(key: &Key<'_>, value: Decimal, of: fn(Decimal) -> Magnification) -> Result<Decimal, InputError> {
    let zero = || Decimal::from(0);
    let frame = Frame::Centred { re: zero(), im: zero(), magnification: of(value.clone()) };
    check(key, &View { frame, ..Scene::default().view })?;
    Ok(value)
}

/// A limit; `None` for one that is found from the view.
fn iterations(key: &Key<'_>) -> Result<Option<u64>, InputError> {
    match key.text() {
        Ok(AUTO) => Ok(None),
        Ok(text) => Err(key.wrong(InputError::malformed(format!("is the text {}", quote(text))).accepts(ITERATIONS))),
        Err(_) => key.whole(1, i64::MAX.cast_unsigned(), ITERATIONS).map(Some),
    }
}

/// A scale; `None` for one that is found from the view.
fn scale_of(key: &Key<'_>) -> Result<Option<Scale>, InputError> {
    let text = key.text()?;
    Scale::or_auto(text).map_err(|e| key.wrong(e.into()))
}

/// The table `colour`, and whether its scale is found from the view: where it says so, or, if `usual`, where neither it nor
/// its palette chooses one.
fn colouring(keys: Keys<'_>, folder: Option<&Path>, usual: bool) -> Result<(Colouring, bool), InputError> {
    let mut palette = PaletteKeys::new(&keys);
    let mut look = None;
    let (mut by, mut scale, mut density, mut offset, mut interior) = (None, None, None, None, None);
    let mut places: Vec<KnownPlace> = Vec::new();
    for key in keys.in_order(&COLOUR_NAMES) {
        let (known, key) = key?;
        places.push((known, key.place()));
        match known {
            "look" => look = Some(key.parsed::<Look>()?),
            "by" => by = Some(key.parsed::<By>()?),
            "scale" => scale = Some(scale_of(&key)?),
            "density" => {
                let value = key.number()?;
                let alone = Colouring { density: value, ..Colouring::default() };
                alone.check().map_err(|e| key.wrong(e))?;
                density = Some(value);
            }
            "offset" => {
                let value = key.number()?;
                let alone = Colouring { offset: value, ..Colouring::default() };
                alone.check().map_err(|e| key.wrong(e))?;
                offset = Some(value);
            }
            "interior" => interior = Some(parse_colour(key.text()?).map_err(|e| key.wrong(e))?),
            // `palette`, `palette_format` or `palette_text`.
            _ => palette.take(known, &key, folder)?,
        }
    }
    let mut colouring = match (palette.palette()?, look) {
        (Some(palette), None) => Colouring::of(palette),
        (palette, look) => {
            let colouring = look.map_or_else(Colouring::default, |look| look.of(Colouring::default()));
            palette.into_iter().fold(colouring, Colouring::in_colours_of)
        }
    };
    if let Some(by) = by {
        colouring = colouring.by(by);
    }
    let automatic = match scale {
        Some(scale) => scale.is_none(),
        None => usual && colouring.palette.suggestion().scale.is_none(),
    };
    colouring.scale = scale.flatten().unwrap_or(colouring.scale);
    colouring.density = density.unwrap_or(colouring.density);
    colouring.offset = offset.unwrap_or(colouring.offset);
    if let Some(interior) = interior {
        colouring.palette = colouring.palette.with_interior(interior);
    }
    let key = if scale.is_some() { "scale" } else { "by" };
    colouring.check().map_err(|e| at(&places, key, e))?;
    Ok((colouring, automatic))
}

/// A number type; `None` for `"auto"`.
fn number(key: &Key<'_>) -> Result<Option<NumberKind>, InputError> {
    if key.text()?.eq_ignore_ascii_case(AUTO) { Ok(None) } else { key.parsed().map(Some) }
}

/// A number of samples, or `"auto"`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SamplesValue {
    Fixed(u32),
    Auto(&'static str),
}

impl From<Samples> for SamplesValue {
    fn from(samples: Samples) -> Self {
        match samples {
            Samples::Fixed(side) => Self::Fixed(side),
            Samples::Auto => Self::Auto("auto"),
        }
    }
}

/// The keys that are written, in order.
#[derive(Debug, Default, Serialize)]
pub(super) struct File {
    /// The version that writes the text.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flip: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<SamplesValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dither: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) iterations: Option<Iterations>,
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
    /// The warnings of the render.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<ColourTable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layer: Vec<LayerTable>,
}

/// The value of `iterations`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Iterations {
    Number(u64),
    Auto(&'static str),
}

impl Iterations {
    /// A limit; `None` for one that is found from the view.
    pub(super) fn of(limit: Option<u64>) -> Self {
        limit.map_or(Self::Auto(AUTO), Self::Number)
    }
}

#[derive(Debug, Default, Serialize)]
struct ColourTable {
    /// A built-in palette, or the name of the palette whose text follows.
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
    palette_format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    palette_text: Option<String>,
}

impl File {
    /// Describes a scene, so that [`Given::scene`] returns the same scene.
    pub(super) fn of(scene: &Scene, warnings: &[String]) -> Self {
        let Scene {
            title,
            source,
            view,
            settings,
            colouring,
            automatic,
            samples,
            dither,
            depth,
            strategy,
            shortcuts,
            tile,
        } = scene;
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
            size: Some(view.size.to_string()),
            samples: Some((*samples).into()),
            depth: Some(depth.bits()),
            dither: Some(*dither),
            iterations: Some(Iterations::of((!automatic.limit).then_some(settings.limit))),
            escape_radius: Some(decimal(&settings.escape_radius)),
            number: Some(if automatic.number { AUTO } else { settings.number.name() }.to_owned()),
            recipe: Some(settings.recipe.name().to_owned()),
            force: settings.force.then_some(true),
            warnings: (!warnings.is_empty()).then(|| warnings.to_vec()),
            colour: Some(ColourTable::of(colouring, *automatic)),
            layer: colouring.layers.iter().map(LayerTable::of).collect(),
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
        // An exact strategy does not affect the picture, nor do its shortcuts and tiles. Those of other strategies do.
        if !strategy.is_exact() {
            file.strategy = Some(strategy.name().to_owned());
            file.shortcuts = Some(shortcuts.to_string());
            file.tile = tile.map(|tile| tile.to_string());
        }
        file
    }
}

impl File {
    /// Adds that the view shows the whole set.
    pub(super) fn fit(&mut self, fit: Fit) {
        self.fit = (fit != Fit::Never).then_some(true);
        if fit == Fit::Always {
            (self.re, self.im, self.zoom, self.view_height) = (None, None, None, None);
        }
    }
}

impl ColourTable {
    fn of(Colouring { palette, by, scale, density, offset, layers: _ }: &Colouring, automatic: Automatic) -> Self {
        let PaletteText { palette: name, palette_format, palette_text } = PaletteText::of(palette);
        Self {
            palette: Some(name),
            by: Some(by.name().to_owned()),
            scale: Some(if automatic.scale { AUTO } else { scale.name() }.to_owned()),
            density: Some(*density),
            offset: Some(*offset),
            interior: Some(colour_text(palette.interior())),
            palette_format,
            palette_text,
        }
    }
}
