//! From flags to a scene: a location, with the values of flags in place of its own.

use crate::cli::{FormulaArgs, IterationArgs, RenderArgs, ViewArgs};
use crate::error_text::{Failure, Usage};
use crate::{engine, output};
use dwell::{
    By, Colouring, Decimal, Frame, InputError, Location, MOST_SAMPLES, Magnification, Palette, Parameter, Place,
    Sample, Samples, Scene, parse_colour, quote,
};
use std::path::Path;

/// Most characters of a density or an offset.
const MOST_CHARACTERS: usize = 64;

/// A zoom that shows all but the largest sets whole around 0.
const WHOLE: &str = "1.4";

/// The scene that flags start from when no location is named: the formula's own location, or the whole set around 0 for
/// other powers and for Julia sets. Where flags give the place, only the iterations and the flip of the location are
/// kept.
fn usual_scene(args: &ViewArgs, formula: &FormulaArgs) -> Result<Location, Failure> {
    let FormulaArgs { formula, power, julia } = formula;
    let name = match formula.as_deref() {
        Some("burning-ship") => "burning-ship",
        Some("tricorn") => "tricorn",
        Some("multibrot") => "multibrot-3",
        _ => "shallow-home",
    };
    let mut location = Location::built_in(name)?;
    let usual_power = location.scene.settings.formula.power().to_string();
    let other =
        power.as_ref().is_some_and(|power| *power != usual_power) || julia.as_deref().is_some_and(|c| c != "none");
    if other || has_place(args) {
        let scene = &mut location.scene;
        scene.colouring = Colouring::default();
        scene.view.rotation = Decimal::from(0);
    }
    if other {
        let zero = || Decimal::from(0);
        let magnification = Magnification::Zoom(WHOLE.parse()?);
        location.scene.view.frame = Frame::Centred { re: zero(), im: zero(), magnification };
        location.iterations = location.iterations.max(1000);
        location.scene.settings.limit = 1000;
    }
    Ok(location)
}

/// Whether flags give a centre, a magnification or bounds.
pub(crate) fn has_place(args: &ViewArgs) -> bool {
    [&args.center, &args.zoom, &args.view_height, &args.bounds].into_iter().any(Option::is_some)
}

/// The location that WHAT names: a built-in name or a file, `-` for standard input. With the text of a PNG, verbatim.
pub(crate) fn location(what: &Path) -> Result<(Location, Option<String>), Failure> {
    let text = what.to_string_lossy();
    let known = Location::built_in_names().any(|name| name == text);
    if !known && (text == "-" || looks_like_a_path(&text) || what.exists()) {
        return Ok(Location::read_with_text(what)?);
    }
    Ok((Location::built_in(&text)?, None))
}

/// Warns if a newer version wrote a location: it may have looked different there.
pub(crate) fn warn_if_newer(what: &Path, location: &Location) {
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

/// A palette: a name or a file. `what` is the flag or argument that names it.
pub(crate) fn palette(what: &'static str, name: &str) -> Result<Palette, Failure> {
    if looks_like_a_path(name) || (Path::new(name).exists() && Palette::built_in(name).is_err()) {
        return Ok(Palette::read(Path::new(name))?);
    }
    Palette::built_in(name).map_err(|e| Failure::from(e).about(what))
}

/// How the limit on iterations is found.
#[derive(PartialEq)]
pub(crate) enum MaxIter {
    /// The scene's.
    Given,
    /// By a search over a coarse grid.
    Auto,
    /// The location's own, which is more than a render counts to.
    TooMany(u64),
}

/// The scene that flags describe, and how its limit is found.
pub(crate) fn scene(args: &RenderArgs) -> Result<(Scene, MaxIter), Failure> {
    // Where statistics go to standard error, nothing else may: a program reads them.
    let (mut scene, max_iter) =
        place(args.what.as_deref(), &args.view, &args.iteration, args.stats.as_deref() != Some(Path::new("-")))?;
    if let Some(text) = &args.aa {
        scene.samples = samples(text)?;
    }
    scene.sample_view().map_err(|e| match (&args.what, &args.aa, &args.view.size) {
        (Some(what), None, None) => e.within(Place::File(what.clone())).into(),
        (_, None, _) => Failure::from(e).about("--size"),
        _ => e.into(),
    })?;
    colours(args, &mut scene)?;
    if let Some(text) = &args.strategy {
        scene.strategy = engine::strategy(text)?;
    }
    if let Some(text) = &args.shortcuts {
        scene.shortcuts = text.parse()?;
    }
    if let Some(text) = &args.tile {
        scene.tile = Some(text.parse()?);
    }
    Ok((scene, max_iter))
}

/// The part of a scene that decides its dwells, and how its limit is found. `warns` allows warnings on standard error.
pub(crate) fn place(
    what: Option<&Path>,
    of_view: &ViewArgs,
    of_iteration: &IterationArgs,
    warns: bool,
) -> Result<(Scene, MaxIter), Failure> {
    let location = match what {
        Some(what) => {
            let (location, _) = location(what)?;
            if warns {
                warn_if_newer(what, &location);
            }
            location
        }
        None => usual_scene(of_view, &of_iteration.formula)?,
    };
    let iterations = location.iterations;
    let mut scene = location.scene;
    // Title and source describe the location's own place and formula.
    let FormulaArgs { formula, power, julia } = &of_iteration.formula;
    if has_place(of_view) || [formula, power, julia].into_iter().any(Option::is_some) {
        scene.title.clear();
        scene.source.clear();
    }
    view(of_view, &mut scene)?;
    let max_iter = iteration(of_iteration, &mut scene, iterations)?;
    Ok((scene, max_iter))
}

fn view(args: &ViewArgs, scene: &mut Scene) -> Result<(), Failure> {
    let view = &mut scene.view;
    if let Some(text) = &args.size {
        view.size = text.parse()?;
    }
    if let Some(text) = &args.bounds {
        let [xmin, xmax, ymin, ymax] = engine::decimals("--bounds", text, "XMIN,XMAX,YMIN,YMAX")?;
        view.frame = Frame::Bounds { xmin, xmax, ymin, ymax };
        view.check()?;
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
    match (&mut view.frame, centre, magnification) {
        (Frame::Bounds { .. }, None, None) => {}
        (Frame::Centred { re, im, magnification }, centre, zoomed) => {
            if let Some(centre) = centre {
                [*re, *im] = centre;
            }
            if let Some(zoomed) = zoomed {
                *magnification = zoomed;
            }
        }
        // Bounds have an exact centre and an exact height.
        (frame @ Frame::Bounds { .. }, centre, zoomed) => {
            let flag = if centre.is_some() { "--center" } else { "--zoom" };
            let square = with_square_pixels(frame, centre, zoomed).map_err(|e| Failure::from(e).about(flag))?;
            *frame = square;
        }
    }
    view.check()?;
    if let Some(text) = &args.rotate {
        view.rotation = engine::decimal("--rotate", text)?;
        view.check()?;
    }
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

/// A frame with square pixels: the given centre and magnification, or else those of the bounds.
fn with_square_pixels(
    frame: &Frame,
    centre: Option<[Decimal; 2]>,
    magnification: Option<Magnification>,
) -> Result<Frame, InputError> {
    let Frame::Bounds { xmin, xmax, ymin, ymax } = frame else { return Ok(frame.clone()) };
    let [re, im] = match centre {
        Some(centre) => centre,
        None => [xmin.midpoint(xmax)?, ymin.midpoint(ymax)?],
    };
    let magnification = match magnification {
        Some(magnification) => magnification,
        None => Magnification::Height(ymax.minus(ymin)?),
    };
    Ok(Frame::Centred { re, im, magnification })
}

/// The samples of a pixel.
pub(crate) fn samples(text: &str) -> Result<Samples, Usage> {
    if text.eq_ignore_ascii_case("auto") {
        return Ok(Samples::Auto);
    }
    let side = engine::whole("--aa", text, 1, u64::from(MOST_SAMPLES)).map_err(|e| e.hint("or \"auto\""))?;
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

fn iteration(args: &IterationArgs, scene: &mut Scene, iterations: u64) -> Result<MaxIter, Failure> {
    let settings = &mut scene.settings;
    let FormulaArgs { formula, power, julia } = &args.formula;
    let of_location = settings.formula;
    settings.formula = engine::formula(formula.as_deref(), power.as_deref(), of_location)?;
    let other_formula = formula.is_some() && settings.formula.fold() != of_location.fold();
    let of_location = settings.julia.take().filter(|_| !other_formula);
    settings.julia = engine::julia(julia.as_deref(), of_location)?;
    let max_iter = match args.max_iter.as_deref() {
        Some(text) if text.eq_ignore_ascii_case("auto") => MaxIter::Auto,
        Some(text) => {
            let limit = engine::whole("--max-iter", text, 1, u64::from(u32::MAX)).map_err(|e| e.hint("or \"auto\""))?;
            settings.limit = u32::try_from(limit).unwrap_or(u32::MAX);
            MaxIter::Given
        }
        None if u32::try_from(iterations).is_err() => MaxIter::TooMany(iterations),
        None => MaxIter::Given,
    };
    if let Some(text) = &args.escape_radius {
        settings.escape_radius = engine::decimal("--escape-radius", text)?;
    }
    if let Some(text) = &args.precision {
        settings.number = text.parse()?;
    }
    if let Some(text) = &args.rounding {
        settings.recipe = text.parse()?;
    }
    settings.force |= args.force;
    settings.check()?;
    Ok(max_iter)
}

fn colours(args: &RenderArgs, scene: &mut Scene) -> Result<(), Failure> {
    let colouring = &mut scene.colouring;
    if let Some(name) = &args.palette {
        *colouring = colouring.clone().in_colours_of(palette("--palette", name)?);
    }
    if let Some(text) = &args.color_by {
        *colouring = colouring.clone().by(text.parse::<By>()?);
    }
    if let Some(text) = &args.scale {
        colouring.scale = text.parse()?;
    }
    if let Some(text) = &args.density {
        colouring.density = number("--density", text)?;
    }
    if let Some(text) = &args.offset {
        colouring.offset = number("--offset", text)?;
    }
    if let Some(text) = &args.interior {
        let interior = parse_colour(text)?;
        colouring.palette = colouring.palette.clone().with_interior(interior);
    }
    colouring.check()?;
    if let Some(text) = &args.depth {
        scene.depth = text.parse()?;
    }
    if let Some(text) = &args.dither {
        scene.dither = flag("dither", text)?;
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
