//! From flags to a scene: a location, and whatever the flags say instead.

use crate::cli::{FormulaArgs, IterationArgs, RenderArgs, ViewArgs};
use crate::{engine, output};
use dwell::{
    By, Colouring, Decimal, Depth, Error, Frame, InputError, Location, MOST_SAMPLES, Magnification, Palette, Sample,
    Scale, Scene, Size, TileSize, parse_colour, quote, unknown_name,
};
use std::path::Path;

/// The most characters of a density or an offset.
const MOST_CHARACTERS: usize = 64;

/// The zoom at which every set but the largest is seen whole around 0.
const WHOLE: &str = "1.4";

/// The scene that flags start from when no location is named: the formula's own, if nothing else is asked for; the whole
/// of it around 0 for other powers and for Julia sets. A place of one's own gets no more of it than the iterations, and
/// which way up the formula is seen.
fn usual_scene(args: &ViewArgs, formula: &FormulaArgs) -> Result<Location, Error> {
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

/// Whether flags say what is looked at.
pub(crate) fn has_place(args: &ViewArgs) -> bool {
    [&args.center, &args.zoom, &args.height, &args.bounds].into_iter().any(Option::is_some)
}

/// WHAT: a name or a file, `-` being standard input; with the text of a picture as it stands there.
pub(crate) fn location(what: &Path) -> Result<(Location, Option<String>), Error> {
    let text = what.to_string_lossy();
    let known = Location::built_in_names().any(|name| name == text);
    if !known && (text == "-" || looks_like_a_path(&text) || what.exists()) {
        return Location::read_with_text(what);
    }
    Ok((Location::built_in(&text)?, None))
}

/// Says so if a newer version wrote a location: it may look other than it did there.
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

/// A palette: a name or a file. `what` says who names it.
pub(crate) fn palette(what: &str, name: &str) -> Result<Palette, Error> {
    if looks_like_a_path(name) || (Path::new(name).exists() && Palette::built_in(name).is_err()) {
        return Palette::read(Path::new(name));
    }
    let also = "a path to a palette file (.toml, .map, .ggr, .ugr) works too";
    Palette::built_in(name).map_err(|e| e.named(what).and_hint(also).into())
}

/// What was asked for as the limit.
#[derive(PartialEq)]
pub(crate) enum MaxIter {
    /// The scene's.
    Given,
    /// To be found.
    Auto,
    /// The location's own, beyond what is counted to.
    TooMany(u64),
}

/// The scene that flags describe, and how its limit is to be found.
pub(crate) fn scene(args: &RenderArgs) -> Result<(Scene, MaxIter), Error> {
    // Statistics on standard error are to be read by a program: nothing else goes there.
    let (mut scene, max_iter) =
        place(args.what.as_deref(), &args.view, &args.iteration, args.stats.as_deref() != Some(Path::new("-")))?;
    if let Some(text) = &args.aa {
        scene.samples = samples(text)?;
    }
    scene.sample_view().map_err(|e| match (&args.what, &args.aa, &args.view.size) {
        (Some(what), None, None) => e.within(&quote(&what.to_string_lossy())),
        (_, None, _) => e.named("--size"),
        _ => e.named("--aa"),
    })?;
    colours(args, &mut scene)?;
    if let Some(text) = &args.strategy {
        scene.strategy = engine::strategy(text)?;
    }
    if let Some(text) = &args.shortcuts {
        scene.shortcuts = engine::shortcuts(text)?;
    }
    if let Some(text) = &args.tile {
        scene.tile = Some(TileSize::parse(text).map_err(|e| e.named("--tile"))?);
    }
    Ok((scene, max_iter))
}

/// The part of a scene that decides its dwells, and how its limit is to be found; with warnings, if they may be shown.
pub(crate) fn place(
    what: Option<&Path>,
    of_view: &ViewArgs,
    of_iteration: &IterationArgs,
    warns: bool,
) -> Result<(Scene, MaxIter), Error> {
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
    // Another place has not this one's name.
    let FormulaArgs { formula, power, julia } = &of_iteration.formula;
    if has_place(of_view) || [formula, power, julia].into_iter().any(Option::is_some) {
        scene.title.clear();
        scene.source.clear();
    }
    view(of_view, &mut scene)?;
    let max_iter = iteration(of_iteration, &mut scene, iterations)?;
    Ok((scene, max_iter))
}

fn view(args: &ViewArgs, scene: &mut Scene) -> Result<(), InputError> {
    let view = &mut scene.view;
    if let Some(text) = &args.size {
        view.size = Size::parse(text).map_err(|e| e.named("--size"))?;
    }
    if let Some(text) = &args.bounds {
        let [xmin, xmax, ymin, ymax] = engine::decimals("--bounds", text, "XMIN,XMAX,YMIN,YMAX")?;
        view.frame = Frame::Bounds { xmin, xmax, ymin, ymax };
        view.check().map_err(|e| e.named("--bounds"))?;
    }
    let centre = match &args.center {
        Some(text) => Some(engine::decimals::<2>("--center", text, "RE,IM")?),
        None => None,
    };
    let magnification = match (&args.zoom, &args.height) {
        (Some(text), _) => Some(Magnification::Zoom(engine::decimal("--zoom", text)?)),
        (_, Some(text)) => Some(Magnification::Height(engine::decimal("--height", text)?)),
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
        // A rectangle has a centre and a height as well: exact ones.
        (frame @ Frame::Bounds { .. }, centre, zoomed) => {
            let flag = if centre.is_some() { "--center" } else { "--zoom" };
            let square = with_square_pixels(frame, centre, zoomed).map_err(|e| e.named(flag))?;
            *frame = square;
        }
    }
    let flag = if args.height.is_some() { "--height" } else { "--zoom" };
    view.check().map_err(|e| e.named(flag))?;
    if let Some(text) = &args.rotate {
        view.rotation = engine::decimal("--rotate", text)?;
        view.check().map_err(|e| e.named("--rotate"))?;
    }
    match args.flip.as_deref() {
        None => {}
        Some("yes") => view.flip = true,
        Some("no") => view.flip = false,
        Some(text) => return Err(unknown_name("--flip", text, ["yes", "no"])),
    }
    if let Some(text) = &args.sample {
        view.sample = match text.as_str() {
            "center" => Sample::Centre,
            text => Sample::ALL
                .into_iter()
                .find(|s| s.name() == text)
                .ok_or_else(|| unknown_name("--sample", text, Sample::ALL.map(Sample::name)))?,
        };
    }
    Ok(())
}

/// A frame around the centre of a rectangle and of its height, as far as nothing else is given.
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

/// Samples of a pixel on a side.
pub(crate) fn samples(text: &str) -> Result<u32, InputError> {
    let samples = engine::whole("--aa", text, 1, u64::from(MOST_SAMPLES))?;
    Ok(u32::try_from(samples).unwrap_or(1))
}

fn iteration(args: &IterationArgs, scene: &mut Scene, iterations: u64) -> Result<MaxIter, InputError> {
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
    if let Some(text) = &args.number {
        settings.number = engine::number(text)?;
    }
    if let Some(text) = &args.recipe {
        settings.recipe = engine::recipe(text)?;
    }
    settings.force |= args.force;
    settings.check().map_err(|e| e.named("--escape-radius"))?;
    Ok(max_iter)
}

fn colours(args: &RenderArgs, scene: &mut Scene) -> Result<(), Error> {
    let colouring = &mut scene.colouring;
    if let Some(name) = &args.palette {
        *colouring = colouring.clone().in_colours_of(palette("--palette", name)?);
    }
    if let Some(text) = &args.by {
        *colouring = colouring.clone().by(By::parse(text).map_err(|e| e.named("--by"))?);
    }
    if let Some(text) = &args.scale {
        colouring.scale = Scale::parse(text).map_err(|e| e.named("--scale"))?;
    }
    if let Some(text) = &args.density {
        colouring.density = number("--density", text)?;
    }
    if let Some(text) = &args.offset {
        colouring.offset = number("--offset", text)?;
    }
    if let Some(text) = &args.interior {
        let interior = parse_colour(text).map_err(|e| e.named("--interior"))?;
        colouring.palette = colouring.palette.clone().with_interior(interior);
    }
    colouring.check().map_err(InputError::as_flag)?;
    if let Some(text) = &args.depth {
        let depth = Depth::ALL.into_iter().find(|depth| depth.bits().to_string() == *text);
        let wrong = || InputError::new("--depth", format!("{} is not a depth", quote(text))).accepted("8, 16");
        scene.depth = depth.ok_or_else(wrong)?;
    }
    Ok(())
}

/// A number that need not be exact.
fn number(flag: &str, text: &str) -> Result<f64, InputError> {
    // Read exactly first, so that only numbers pass, and errors are those of all numbers.
    let decimal = Decimal::parse(text).map_err(|e| e.named(flag))?;
    let short = text.len() <= MOST_CHARACTERS;
    let value = decimal.text().parse().ok().filter(|value: &f64| short && value.is_finite());
    value.ok_or_else(|| InputError::new(flag, format!("{} is out of range", quote(text))))
}
