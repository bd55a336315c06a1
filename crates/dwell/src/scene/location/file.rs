//! The text of a location: TOML, read and written. One format for named places, for files of users, and for what a
//! picture remembers of itself.

use crate::base::error::{Error, InputError, quote, unknown_name};
use crate::colour::{By, Colouring, Palette, PaletteFormat, Scale, Source, colour_text, parse_colour};
use crate::colour::{Depth, MOST_SAMPLES};
use crate::exact::decimal::Decimal;
use crate::input::toml_reader::{Document, Key, Keys, Names};
use crate::iterate::engine::Shortcuts;
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::scene::Scene;
use crate::view::settings::{NumberKind, formula};
use crate::view::{Frame, Magnification, Sample, Size, View};
use dwell_kernels::{Formula, Recipe};
use serde::Serialize;
use std::path::Path;

/// Every key. `dwell` is the version that wrote it, `warnings` what the user was told: neither changes the picture.
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
        "rotation",
        "flip",
        "sample",
        "size",
        "samples",
        "depth",
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
    ],
    aliases: &[("rotate", "rotation"), ("aa", "samples"), ("max_iter", "iterations"), ("color", "colour")],
};

/// Every key of the table `colour`. `palette` is a built-in palette or a file; or the name of the one whose text follows.
const COLOUR_NAMES: Names = Names {
    of: "the table colour",
    keys: &["palette", "by", "scale", "density", "offset", "interior", "palette_format", "palette_text"],
    aliases: &[],
};

/// The limits that a location may ask for.
pub(super) const ITERATIONS: &str = "1 to 2^63 - 1";

/// A place in the text, for an error about several keys.
type Place = (&'static str, String);

/// What a text gives: each value read, and what several say together still to come. What is left out is as in a picture
/// that nothing is said about.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) name: Option<String>,
    pub(super) notes: Option<String>,
    pub(super) iterations: Option<u64>,
    scene: Scene,
    formula: Option<String>,
    power: Option<u32>,
    re: Option<Decimal>,
    im: Option<Decimal>,
    zoom: Option<Decimal>,
    view_height: Option<Decimal>,
    bounds: Option<[Decimal; 4]>,
    places: Vec<Place>,
}

/// `e` about the key of that name.
fn at(places: &[Place], name: &str, e: InputError) -> InputError {
    let place = places.iter().find(|(known, _)| *known == name);
    e.nameless().within(place.map_or(name, |(_, place)| place))
}

/// The version that wrote a text, if it says so.
pub(super) fn version(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    document.keys().peek("dwell").map(str::to_owned)
}

impl Given {
    /// Reads a text. Palette files that it names are looked for in `folder`; without one they are refused.
    pub(super) fn read(text: &str, folder: Option<&Path>) -> Result<Self, InputError> {
        let document = Document::parse(text)?;
        let mut given = Self::default();
        for key in document.keys().in_order(&NAMES) {
            let (name, key) = key?;
            given.places.push((name, key.place()));
            given.take(name, &key, folder)?;
        }
        Ok(given)
    }

    /// Takes in one key. What is out of range whatever the other keys say is an error here.
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
                let most = Formula::MOST_POWER;
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
            "rotation" => {
                view.rotation = key.decimal()?;
                check(key, view)?;
            }
            "flip" => view.flip = key.flag()?,
            "sample" => view.sample = key.parsed(|name| named(name, &Sample::ALL, Sample::name))?,
            "size" => view.size = key.parsed(Size::parse)?,
            "samples" => {
                let samples = key.whole(1, MOST_SAMPLES.into(), &format!("1 to {MOST_SAMPLES}"))?;
                self.scene.samples = u32::try_from(samples).unwrap_or(1);
            }
            "depth" => {
                let bits = key.whole(0, u64::MAX, "8, 16")?;
                let depth = Depth::ALL.into_iter().find(|depth| u64::from(depth.bits()) == bits);
                let wrong = || InputError::new("", format!("{bits} is not a depth")).accepted("8, 16");
                self.scene.depth = depth.ok_or_else(|| key.wrong(wrong()))?;
            }
            "iterations" => {
                let iterations = key.whole(1, i64::MAX.cast_unsigned(), ITERATIONS)?;
                settings.limit = u32::try_from(iterations).unwrap_or(u32::MAX);
                self.iterations = Some(iterations);
            }
            "escape_radius" => settings.escape_radius = key.decimal()?,
            "number" => settings.number = key.parsed(|name| named(name, &NumberKind::ALL, NumberKind::name))?,
            "recipe" => settings.recipe = key.parsed(|name| named(name, &Recipe::ALL, Recipe::name))?,
            "force" => settings.force = key.flag()?,
            "strategy" => self.scene.strategy = key.parsed(|name| named(name, &Strategy::ALL, Strategy::name))?,
            "shortcuts" => {
                let unknown = |name: &str| unknown_name("", name, Shortcuts::NAMES);
                self.scene.shortcuts = key.parsed(|names| Shortcuts::parse(names).map_err(unknown))?;
            }
            "tile" => self.scene.tile = Some(key.parsed(TileSize::parse)?),
            "colour" => self.scene.colouring = colouring(key.table()?, folder)?,
            "warnings" => drop(key.texts("a list of texts in quotes")?),
            // The version that wrote it.
            _ => drop(text()?),
        }
        Ok(())
    }

    /// The scene that it describes.
    pub(super) fn scene(self) -> Result<Scene, InputError> {
        let Self { mut scene, formula: name, power, places, re, im, zoom, view_height, bounds, .. } = self;
        scene.view.frame = match (bounds, re, im) {
            (Some([xmin, xmax, ymin, ymax]), None, None) => Frame::Bounds { xmin, xmax, ymin, ymax },
            (Some(_), ..) => return Err(InputError::new("", "both \"bounds\" and a centre are given")),
            (None, Some(re), Some(im)) => Frame::Centred {
                re,
                im,
                magnification: match (zoom, view_height) {
                    // Where a file gives both, zoom rules: view_height is its rounding.
                    (Some(zoom), _) => Magnification::Zoom(zoom),
                    (None, Some(height)) => Magnification::Height(height),
                    (None, None) => {
                        return Err(InputError::new("", "neither \"zoom\" nor \"view_height\" is given"));
                    }
                },
            },
            (None, Some(_), None) => return Err(InputError::new("", "\"re\" is given, and no \"im\"")),
            (None, None, Some(_)) => return Err(InputError::new("", "\"im\" is given, and no \"re\"")),
            (None, None, None) => {
                return Err(InputError::new("", "neither \"re\" and \"im\" nor \"bounds\" are given"));
            }
        };
        let formula = formula(name.as_deref(), power, Formula::MANDELBROT);
        scene.settings.formula = formula.map_err(|e| at(&places, "power", e))?;
        scene.settings.check().map_err(|e| at(&places, "escape_radius", e))?;
        Ok(scene)
    }
}

/// Checks what a key says of a view.
fn check(key: &Key<'_>, view: &View) -> Result<(), InputError> {
    view.check().map_err(|e| key.wrong(e))
}

/// A magnification that is one.
fn magnifies(key: &Key<'_>, value: Decimal, of: fn(Decimal) -> Magnification) -> Result<Decimal, InputError> {
    let zero = || Decimal::from(0);
    let frame = Frame::Centred { re: zero(), im: zero(), magnification: of(value.clone()) };
    check(key, &View { frame, ..Scene::default().view })?;
    Ok(value)
}

/// The table `colour`.
fn colouring(keys: Keys<'_>, folder: Option<&Path>) -> Result<Colouring, InputError> {
    let (mut palette, mut format, mut text) = (None, None, None);
    let (mut by, mut scale, mut density, mut offset, mut interior) = (None, None, None, None, None);
    let mut places: Vec<Place> = Vec::new();
    let has_text = keys.peek("palette_text").is_some();
    let mut name = "palette";
    for key in keys.in_order(&COLOUR_NAMES) {
        let (known, key) = key?;
        places.push((known, key.place()));
        match known {
            "palette" => {
                name = key.text()?;
                if !has_text {
                    palette = Some(palette_of(name, &key, folder)?);
                }
            }
            "by" => by = Some(key.parsed(By::parse)?),
            "scale" => scale = Some(key.parsed(Scale::parse)?),
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
            "interior" => interior = Some(key.parsed(parse_colour)?),
            "palette_format" => format = Some(key.parsed(PaletteFormat::parse)?),
            _ => text = Some(key.text()?),
        }
    }
    if let (Some(text), Some(format)) = (text, format) {
        let place = places.iter().find(|(name, _)| *name == "palette_text").map_or("palette_text", |(_, place)| place);
        palette = Some(Palette::from_text(format, text, name).map_err(|e| e.within(place))?);
    } else if text.is_some() || format.is_some() {
        let key = if text.is_some() { "palette_text" } else { "palette_format" };
        let alone = InputError::new("", "palette_format and palette_text go together, and neither is alone");
        return Err(at(&places, key, alone));
    }
    let mut colouring = Colouring::of(palette.unwrap_or_default());
    if let Some(by) = by {
        colouring = colouring.by(by);
    }
    colouring.scale = scale.unwrap_or(colouring.scale);
    colouring.density = density.unwrap_or(colouring.density);
    colouring.offset = offset.unwrap_or(colouring.offset);
    if let Some(interior) = interior {
        colouring.palette = colouring.palette.with_interior(interior);
    }
    let key = if scale.is_some() { "scale" } else { "by" };
    colouring.check().map_err(|e| at(&places, key, e))?;
    Ok(colouring)
}

/// The palette that a file names: a built-in one, or a file of its own.
fn palette_of(name: &str, key: &Key<'_>, folder: Option<&Path>) -> Result<Palette, InputError> {
    let is_path = name.contains(['/', '\\', '.']);
    match folder {
        Some(folder) if is_path => Palette::read(&folder.join(name)).map_err(|e| match e {
            Error::Input(e) => e.within(&key.place()),
            e => key.wrong(InputError::new("", e.to_string())),
        }),
        Some(_) => Palette::built_in(name).map_err(|e| {
            key.wrong(e)
                .and_hint("a palette file works too, by its path from the folder of this one: palette = \"./my.ggr\"")
        }),
        None if is_path => Err(key.wrong(
            InputError::new(
                "",
                format!("{} is a file, and this text is in none that could stand beside it", quote(name)),
            )
            .accepted("a built-in palette")
            .hint("`dwell palettes` shows them"),
        )),
        None => Palette::built_in(name).map_err(|e| key.wrong(e)),
    }
}

/// What is written: every key, in order.
#[derive(Debug, Default, Serialize)]
pub(super) struct File {
    /// The version that wrote it.
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
    rotation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flip: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    /// What the user was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<ColourTable>,
}

#[derive(Debug, Default, Serialize)]
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
