//! From flags to a scene: a location, with the values of flags in place of its own.

use crate::cli::{FormulaArgs, IterationArgs, PictureArgs, RenderArgs, ViewArgs};
use crate::error_text::{Failure, Usage};
use crate::{answers, engine, output};
use dwell::{
    Automatic, By, Colouring, Decimal, Fit, Format, Frame, InputError, Layer, LayerContent, Location, Look,
    MOST_SAMPLES, Magnification, NumberKind, Palette, Parameter, Place, Quantity, Sample, Samples, Scale, Scene,
    Settings, Size, Strategy, parse_colour, quote,
};
use std::path::Path;

/// Most characters of a density or an offset.
const MOST_CHARACTERS: usize = 64;

/// The scene that flags start from when no location is named: the formula's own location, or the whole set, fitted to the
/// size, for other powers and for Julia sets. Where flags give the place, only the flip of the location is kept.
fn usual_scene(args: &ViewArgs, formula: &FormulaArgs) -> Result<Location, Failure> {
    let FormulaArgs { formula, power, julia } = formula;
    let name = match formula.as_deref() {
        Some("burning-ship") => "burning-ship",
        Some("tricorn") => "tricorn",
        Some("multibrot") => "multibrot-3",
        _ => "shallow-home",
    };
    let mut location = Location::built_in(name)?;
    if name == "shallow-home" {
        // The limit of this location is for measurements.
        location.scene.automatic.limit = true;
    }
    let usual_power = location.scene.settings.formula.power().to_string();
    let other =
        power.as_ref().is_some_and(|power| *power != usual_power) || julia.as_deref().is_some_and(|c| c != "none");
    if other || has_place(args) {
        let scene = &mut location.scene;
        scene.colouring = Colouring::default();
        scene.automatic = Automatic::ALL;
        scene.view.rotation = Decimal::from(0);
    }
    if other {
        location.fit = Fit::Always;
    }
    Ok(location)
}

/// Whether flags give a centre, a magnification or bounds.
pub(crate) fn has_place(args: &ViewArgs) -> bool {
    [&args.center, &args.zoom, &args.view_height, &args.bounds].into_iter().any(Option::is_some)
}

/// Whether WHAT is the name of a built-in location.
fn is_built_in(what: &Path) -> bool {
    Location::built_in_names().any(|name| what == Path::new(name))
}

/// The location that WHAT names: a built-in name or a file, `-` for standard input. With the text of a PNG, verbatim.
pub(crate) fn location(what: &Path) -> Result<(Location, Option<String>), Failure> {
    let text = what.to_string_lossy();
    if !is_built_in(what) && (text == "-" || looks_like_a_path(&text) || what.exists()) {
        return Ok(Location::read_with_text(what)?);
    }
    Ok((Location::built_in(&text)?, None))
}

/// Refuses a WHAT that is a part of a flag's value and was typed as an argument of its own.
fn check_stray(what: &Path, of_view: &ViewArgs, julia: Option<&str>) -> Result<(), Usage> {
    let text = what.to_string_lossy();
    if what.exists() {
        return Ok(());
    }
    if of_view.flip.as_deref() == Some("yes") && matches!(&*text, "yes" | "no") {
        let problem = format!("{} is an argument of its own here", quote(&text));
        return Err(Usage::new("--flip", problem).hint(format!("write --flip={text}")));
    }
    let lists = [
        ("--center", of_view.center.as_deref(), ',', "RE,IM"),
        ("--julia", julia, ',', "RE,IM"),
        ("--size", of_view.size.as_deref(), 'x', "WxH"),
    ];
    for (flag, value, joint, form) in lists {
        let Some(value) = value.filter(|value| !value.trim_end_matches(',').contains([',', 'x', 'X'])) else {
            continue;
        };
        if let Some(remedy) = answers::apart(flag, value, &text, joint) {
            let problem = format!("{} and {} are two arguments", quote(value), quote(&text));
            return Err(Usage::new(flag, problem).accepts(form).hint(remedy));
        }
    }
    Ok(())
}

/// With the flag that writes a file, where WHAT is the name of a picture that is not there and no output is named.
fn with_output(failure: Failure, args: &RenderArgs) -> Failure {
    match args.what() {
        Some(what)
            if args.output.is_empty()
                && what.extension().is_some()
                && Format::of_path(what).is_ok()
                && !what.exists() =>
        {
            failure.hint(format!("-o {} writes a file of that name", output::tame(&what.to_string_lossy(), 60)))
        }
        _ => failure,
    }
}

/// A size in pixels.
pub(crate) fn size(text: &str) -> Result<Size, Failure> {
    text.parse().map_err(|e: InputError| match answers::size(text) {
        Some(remedy) => Failure::from(e).hint(remedy),
        None => e.into(),
    })
}

/// Names on standard error what a file of another program says and is not used, and warns of a newer version.
pub(crate) fn remark_on(what: &Path, location: &Location) {
    if !location.unused.is_empty() {
        let what = quote(&what.to_string_lossy());
        output::remark(&format!("note: {what}: not used: {}", location.unused.join(", ")));
    }
    warn_if_newer(what, location);
}

/// Warns if a newer version wrote a location: it may have looked different there.
fn warn_if_newer(what: &Path, location: &Location) {
    if let Some(version) = &location.newer {
        output::remark(&format!(
            "warning: {} was written by dwell {}, which is newer than this one ({}): it may have looked different there",
            quote(&what.to_string_lossy()),
            output::tame(version, 24),
            env!("CARGO_PKG_VERSION")
        ));
    }
}

fn looks_like_a_path(text: &str) -> bool {
    text.contains(['/', '\\', '.'])
}

/// A palette: a name, a file, or colours in one line. `what` is the flag or argument that names it.
pub(crate) fn palette(what: &'static str, name: &str) -> Result<Palette, Failure> {
    if name.starts_with('#') && !Path::new(name).exists() {
        return Palette::inline(name).map_err(|e| Failure::from(e).about(what));
    }
    if looks_like_a_path(name) || (Path::new(name).exists() && Palette::built_in(name).is_err()) {
        return Ok(Palette::read(Path::new(name))?);
    }
    Palette::built_in(name).map_err(|e| Failure::from(e).about(what))
}

/// The scene that flags describe.
pub(crate) fn scene(args: &RenderArgs) -> Result<Scene, Failure> {
    // Where statistics go to standard error, nothing else may: a program reads them.
    let warns = args.stats.as_deref() != Some(Path::new("-"));
    let mut scene = picture(args.what(), &args.view, &args.iteration, &args.picture, warns)
        .map_err(|failure| with_output(failure, args))?;
    if let Some(text) = &args.strategy {
        scene.strategy = engine::strategy(text)?;
    }
    if let Some(text) = &args.shortcuts {
        scene.shortcuts = text.parse()?;
    }
    if let Some(text) = &args.tile {
        scene.tile = Some(text.parse()?);
    }
    choose_number(&mut scene);
    if scene.settings.number == NumberKind::Exact && !matches!(scene.strategy, Strategy::Auto | Strategy::EveryPixel) {
        let problem = format!("{} does not compute exact arithmetic", scene.strategy);
        return Err(Usage::new("--strategy", problem).accepts(Strategy::EveryPixel.name()).into());
    }
    Ok(scene)
}

/// The scene of a picture: a place with its samples and colours. Its number is left to be found. `warns` allows warnings on standard
/// error.
pub(crate) fn picture(
    what: Option<&Path>,
    of_view: &ViewArgs,
    of_iteration: &IterationArgs,
    of_picture: &PictureArgs,
    warns: bool,
) -> Result<Scene, Failure> {
    // `--shade 45` would be the flag without an angle and the location 45.
    if let (Some(""), Some(what)) = (of_picture.shade.as_deref(), what)
        && what.to_string_lossy().parse::<f64>().is_ok()
        && !what.exists()
    {
        let angle = what.to_string_lossy();
        let problem = format!("the angle {} does not follow after =", quote(&angle));
        return Err(Usage::new("--shade", problem).accepts(format!("--shade={angle}")).into());
    }
    let mut scene = place(what, of_view, of_iteration, warns)?;
    if let Some(text) = &of_picture.aa {
        scene.samples = samples(text)?;
    }
    scene.sample_view().map_err(|e| match (what, &of_picture.aa, &of_view.size) {
        (Some(what), None, None) => e.within(Place::File(what.to_owned())).into(),
        (_, None, _) => Failure::from(e).about("--size"),
        _ => e.into(),
    })?;
    colours(what, of_picture, &mut scene)?;
    Ok(scene)
}

/// Replaces a number that is to be found by the one that the view needs.
fn choose_number(scene: &mut Scene) {
    scene.settings.number = scene.number();
    scene.automatic.number = false;
}

/// The part of a scene that decides its dwells. `warns` allows warnings on standard error.
///
/// Where flags change the place or the formula of a location, its limit is not the place's, and is found from the view.
pub(crate) fn place(
    what: Option<&Path>,
    of_view: &ViewArgs,
    of_iteration: &IterationArgs,
    warns: bool,
) -> Result<Scene, Failure> {
    let location = match what {
        Some(what) => {
            check_stray(what, of_view, of_iteration.formula.julia.as_deref())?;
            let (location, _) = location(what)?;
            if warns {
                remark_on(what, &location);
            }
            location
        }
        None => usual_scene(of_view, &of_iteration.formula)?,
    };
    let (mut scene, mut fit) = (location.scene, location.fit);
    // Title and source describe the location's own place and formula.
    let FormulaArgs { formula, power, julia } = &of_iteration.formula;
    let of_another_set = [formula, power, julia].into_iter().any(Option::is_some);
    if has_place(of_view) || of_another_set {
        scene.title.clear();
        scene.source.clear();
    }
    if what.is_some() && of_another_set && fit == Fit::WhereCut {
        fit = Fit::Always;
    }
    if has_place(of_view) && fit == Fit::WhereCut {
        fit = Fit::Never;
    }
    let set = |settings: &Settings| {
        (settings.formula, settings.julia.as_ref().map(|c| c.each_ref().map(Decimal::to_rational)))
    };
    let of_location = set(&scene.settings);
    iteration(of_iteration, &mut scene)?;
    scene.automatic.limit = match of_iteration.max_iter.as_deref() {
        Some(text) => is_auto(text),
        None => {
            let of_another_place = has_place(of_view) || set(&scene.settings) != of_location;
            scene.automatic.limit || of_another_place
        }
    };
    view(of_view, fit, &mut scene)?;
    Ok(scene)
}

/// Whether the value of a flag is to be found from the view.
fn is_auto(text: &str) -> bool {
    text.eq_ignore_ascii_case("auto")
}

/// Applies the flags of a view. The frame is adapted to size, rotation and settings before flags replace parts of it.
fn view(args: &ViewArgs, fit: Fit, scene: &mut Scene) -> Result<(), Failure> {
    let Scene { view, settings, .. } = scene;
    if let Some(text) = &args.size {
        view.size = size(text)?;
    }
    if let Some(text) = &args.rotate {
        view.rotation = engine::decimal("--rotate", text)?;
        view.check()?;
    }
    *view = fit.adapted(view.clone(), settings);
    if let Some(text) = &args.bounds {
        let [xmin, xmax, ymin, ymax] = engine::decimals("--bounds", text, "XMIN,XMAX,YMIN,YMAX")?;
        view.frame = Frame::Bounds { xmin, xmax, ymin, ymax };
        view.check()?;
        if let Some(size) = view.frame.size_of_shape(view.size.pixels()).filter(|_| args.size.is_none()) {
            view.size = size;
        }
    }
    let centre = match &args.center {
        Some(text) => Some(engine::decimals::<2>("--center", text, "RE,IM")?),
        None => None,
    };
    let magnification = match (&args.zoom, &args.view_height) {
        (Some(text), _) => Some(Magnification::Zoom(engine::decimal("--zoom", text)?)),
        (_, Some(text)) => Some(Magnification::Height(engine::decimal("--view-height", text)?)),
        _ => None,
    };
    if centre.is_some() || magnification.is_some() {
        let flag = if centre.is_some() { "--center" } else { "--zoom" };
        // Bounds have an exact centre and an exact height.
        view.frame = view.frame.with_square_pixels().map_err(|e| Failure::from(e).about(flag))?;
    }
    if let Frame::Centred { re, im, magnification: of_frame } = &mut view.frame {
        if let Some(centre) = centre {
            [*re, *im] = centre;
        }
        if let Some(zoomed) = magnification {
            *of_frame = zoomed;
        }
    }
    view.check()?;
    if let Some(text) = &args.flip {
        view.flip = flag("flip", text)?;
    }
    if let Some(text) = &args.sample {
        view.sample = match text.as_str() {
            "center" => Sample::Centre,
            text => text.parse()?,
        };
    }
    Ok(())
}

/// The samples of a pixel.
pub(crate) fn samples(text: &str) -> Result<Samples, Usage> {
    if text.eq_ignore_ascii_case("auto") {
        return Ok(Samples::Auto);
    }
    let side = engine::whole("--aa", text, 1, u64::from(MOST_SAMPLES)).map_err(|e| e.accepts(Samples::ACCEPTED))?;
    Ok(Samples::Fixed(u32::try_from(side).unwrap_or(1)))
}

/// Yes or no.
fn flag(name: &'static str, text: &str) -> Result<bool, Failure> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        text => Err(InputError::unknown(text, ["yes", "no"]).about(Parameter::Named(name)).into()),
    }
}

fn iteration(args: &IterationArgs, scene: &mut Scene) -> Result<(), Failure> {
    let settings = &mut scene.settings;
    let FormulaArgs { formula, power, julia } = &args.formula;
    let of_location = settings.formula;
    settings.formula = engine::formula(formula.as_deref(), power.as_deref(), of_location)?;
    let other_formula = formula.is_some() && settings.formula.fold() != of_location.fold();
    let of_location = settings.julia.take().filter(|_| !other_formula);
    settings.julia = engine::julia(julia.as_deref(), of_location)?;
    if let Some(text) = args.max_iter.as_deref().filter(|text| !is_auto(text)) {
        settings.limit =
            engine::whole("--max-iter", text, 1, Settings::MOST_LIMIT).map_err(|e| e.usual_hint("or \"auto\""))?;
    }
    if let Some(text) = &args.escape_radius {
        settings.escape_radius = engine::decimal("--escape-radius", text)?;
    }
    if let Some(text) = &args.precision {
        scene.automatic.number = is_auto(text);
        if !scene.automatic.number {
            settings.number = text.parse().map_err(|mut unknown: dwell::UnknownName| {
                unknown.known.push("auto");
                unknown
            })?;
        }
    }
    if let Some(text) = &args.rounding {
        settings.recipe = text.parse()?;
    }
    settings.force |= args.force;
    scene.check_settings()?;
    Ok(())
}

fn colours(what: Option<&Path>, args: &PictureArgs, scene: &mut Scene) -> Result<(), Failure> {
    let (colouring, automatic) = (&mut scene.colouring, &mut scene.automatic.scale);
    if let Some(text) = &args.look {
        *colouring = text.parse::<Look>()?.of(colouring.clone());
        *automatic &= colouring.palette.suggestion().scale.is_none();
    }
    if let Some(name) = &args.palette {
        if what.is_none_or(is_built_in) {
            // The interior colour of a built-in location was chosen for its palette.
            colouring.palette = Palette::built_in(colouring.palette.name())?;
        }
        let palette = palette("--palette", name)?;
        let suggests = palette.suggestion().scale.is_some();
        *colouring = colouring.clone().in_colours_of(palette);
        // A scale that was chosen stays; the usual one gives way to the one that fits the view.
        *automatic =
            !suggests && (*automatic || colouring.scale == Colouring::of(Palette::default()).by(colouring.by).scale);
    }
    if let Some(text) = &args.color_by {
        let by = text.parse::<By>()?;
        *automatic |= by != colouring.by;
        *colouring = colouring.clone().by(by);
    }
    if let Some(text) = &args.scale {
        let scale = Scale::or_auto(text).map_err(InputError::from)?;
        *automatic = scale.is_none();
        colouring.scale = scale.unwrap_or(colouring.scale);
    }
    if let Some(text) = &args.density {
        colouring.density = number("--density", text)?;
    }
    if let Some(text) = &args.offset {
        colouring.offset = number("--offset", text)?;
    }
    if let Some(text) = &args.interior {
        let interior = parse_colour(text).map_err(|e| match answers::value("--interior", text) {
            Some(remedy) => Failure::from(e).hint(remedy),
            None => e.into(),
        })?;
        colouring.palette = colouring.palette.clone().with_interior(interior);
    }
    interior_layer(args, colouring)?;
    shade(args, colouring)?;
    colouring.check()?;
    if let Some(text) = &args.depth {
        scene.depth = text.parse()?;
    }
    if let Some(text) = &args.dither {
        scene.dither = flag("dither", text)?;
    }
    Ok(())
}

/// Adds the shading that flags describe, in place of that of the scene.
fn shade(args: &PictureArgs, colouring: &mut Colouring) -> Result<(), Failure> {
    let PictureArgs { shade, shade_height, shade_strength, .. } = args;
    if [shade, shade_height, shade_strength].into_iter().all(Option::is_none) {
        return Ok(());
    }
    let layers = &mut colouring.layers;
    let found = layers.iter().position(Layer::is_slope);
    let mut layer = found.map_or_else(Layer::slope, |at| layers[at].clone());
    if let LayerContent::Slope { angle, height } = &mut layer.content {
        match shade.as_deref() {
            None | Some("") => {}
            Some(text) => *angle = number("--shade", text)?,
        }
        if let Some(text) = shade_height {
            *height = number("--shade-height", text)?;
        }
    }
    if let Some(text) = shade_strength {
        layer.opacity = number("--shade-strength", text)?;
    }
    layer.check().map_err(|e| {
        let flag = match e.parameter() {
            Some(Parameter::Named("angle")) => "--shade",
            Some(Parameter::Named("height")) => "--shade-height",
            _ => "--shade-strength",
        };
        Failure::from(e).about(flag)
    })?;
    match found {
        Some(at) => layers[at] = layer,
        None => layers.push(layer),
    }
    Ok(())
}

/// Adds the colours of the interior that flags describe, in place of those of the scene.
fn interior_layer(args: &PictureArgs, colouring: &mut Colouring) -> Result<(), Failure> {
    let Some(text) = &args.interior_by else { return Ok(()) };
    let of_interior = || Quantity::ALL.into_iter().filter(|of| of.by().is_none());
    let found = of_interior().find(|of| of.name() == text);
    let unknown = || InputError::unknown(text, of_interior().map(Quantity::name).collect::<Vec<_>>());
    let of = found.ok_or_else(|| Failure::from(unknown()).about("--interior-by"))?;
    let palette = match &args.interior_palette {
        Some(name) => palette("--interior-palette", name)?,
        None => Palette::built_in("spectrum")?,
    };
    let layer = Layer::of(LayerContent::gradient(of, palette));
    let is_of_interior =
        |layer: &Layer| matches!(layer.content, LayerContent::Gradient { of, .. } if of.by().is_none());
    match colouring.layers.iter().position(is_of_interior) {
        Some(at) => colouring.layers[at] = layer,
        None => colouring.layers.push(layer),
    }
    Ok(())
}

/// A number that is rounded to f64.
fn number(flag: &'static str, text: &str) -> Result<f64, Failure> {
    // Parse it as a decimal first, so that the syntax and the errors are those of every number.
    let decimal = engine::decimal(flag, text)?;
    let short = text.len() <= MOST_CHARACTERS;
    let value = decimal.text().parse().ok().filter(|value: &f64| short && value.is_finite());
    value.ok_or_else(|| Failure::from(InputError::out_of_range(text)).about(flag))
}
