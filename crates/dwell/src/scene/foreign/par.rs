//! Parameters of Fractint and its successors (`.par`): entries of words `key=value`, as `input/entries.rs` reads them.
//!
//! | key | meaning |
//! |---|---|
//! | `type` | `mandel`, `julia`; `mandel4`, `julia4`: the power 4; `manzpower`, `julzpower`: the power is the third of `params` |
//! | `params` | the start of the orbit, or the constant of a Julia set |
//! | `corners` | xmin/xmax/ymin/ymax: the upper left corner is (xmin, ymax), the lower right one (xmax, ymin); then the lower left one, x3rd/y3rd |
//! | `center-mag` | x/y/magnification/Xmagfactor/rotation/skew: 2 / height, then the factor by which the view is narrower than 4:3, then degrees clockwise in the plane |
//! | `maxiter` | the limit, 150 if left out |
//! | `bailout` | R^2 |
//! | `inside` | the number of a colour, 1 if left out |
//! | `colors` | see `par_colours.rs` |
//!
//! The screen is 4:3. A view whose shape differs from that by at most 2 % is taken for one, as the program does.
//!
//! Facts from the documentation of the program, and from its source (`cvtcorners`, `cvtcentermag`, `adjust_corner`,
//! `parse_colors`).

use super::numbers::{is_zero, near, negative, radius_of_square, times, whole};
use super::outline::Outline;
use super::palettes;
use super::par_colours;
use super::translation::{Translation, not_drawn};
use super::upr::name_of;
use crate::base::error::InputError;
use crate::base::place::{KeyPlace, Parameter};
use crate::base::quote::quote;
use crate::colour::colour_text;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use crate::exact::roots::{degrees, square_root};
use crate::input::entries::{self, Entry, Kind};
use dwell_kernels::Fold;

/// What an entry is.
const KIND: Kind =
    Kind { what: "entry", form: "NAME { type=mandel center-mag=... }", parameter: Parameter::Named("entry") };

/// The limit of a file without one.
const USUAL_ITERATIONS: u64 = 150;
/// The size of a picture of 4:3, with as many rows as other pictures have.
const SIZE: [&str; 2] = ["1440", "1080"];
/// The greatest exponent of corners, of which fractions and roots are taken; the exponent of a number with many decimals is
/// that of its last digit.
const MOST_EXPONENT: i64 = 100_000;
/// Digits of a length that is a square root.
const ROOT_DIGITS: usize = 60;

/// Keys that change nothing in a picture of this project.
const QUIET: [&str; 10] = [
    "reset",
    "passes",
    "float",
    "periodicity",
    "mathtolerance",
    "savename",
    "video",
    "symmetry",
    "formulafile",
    "sound",
];

/// The values of an entry; the last of several counts.
#[derive(Default)]
struct Values {
    kind: Option<(KeyPlace, String)>,
    params: Option<(KeyPlace, String)>,
    corners: Option<(KeyPlace, String)>,
    centre: Option<(KeyPlace, String)>,
    maxiter: Option<(KeyPlace, String)>,
    bailout: Option<(KeyPlace, String)>,
    inside: Option<(KeyPlace, String)>,
    colours: Option<(KeyPlace, String)>,
}

/// Reads the entry of the wanted name, or the first one.
pub(super) fn read(text: &str, wanted: Option<&str>) -> Result<Translation, InputError> {
    // Formulas and other definitions have a prefix.
    let chosen = entries::choose(text, wanted, &KIND, |entry| !entry.name.contains(':'))?;
    let mut file = Translation::default();
    let values = values(&chosen, &mut file)?;
    file.text("name", name_of(chosen.name), None);
    file.text("title", chosen.name, None);
    formula(&values, &mut file)?;
    match &values.maxiter {
        Some((place, value)) => file.iterations(value, place.clone())?,
        None => file.usual_iterations(USUAL_ITERATIONS),
    }
    if let Some((place, value)) = &values.bailout {
        match radius_of_square(value) {
            Some(radius) => file.text("escape_radius", radius.text(), Some(place.clone())),
            None => file.unused("bailout"),
        }
    }
    place(&values, &mut file)?;
    colours(&values, &mut file)?;
    Ok(file)
}

fn values(chosen: &Entry<'_>, file: &mut Translation) -> Result<Values, InputError> {
    let mut values = Values::default();
    let mut words = chosen.words();
    while let Some((line, word)) = words.word()? {
        let (key, value) = word.split_once('=').unwrap_or((&word, ""));
        let name = key.to_ascii_lowercase();
        let pair = || Some(((line, name.chars().take(40).collect()), value.to_owned()));
        match name.as_str() {
            "type" => values.kind = pair(),
            "params" => values.params = pair(),
            "corners" => values.corners = pair(),
            "center-mag" => values.centre = pair(),
            "maxiter" => values.maxiter = pair(),
            "bailout" => values.bailout = pair(),
            "inside" => values.inside = pair(),
            "colors" => values.colours = pair(),
            "outside" if matches!(value, "-1" | "iter") => {}
            "bailoutest" if value == "mod" => {}
            name if QUIET.contains(&name) => {}
            name => file.unused(name),
        }
    }
    Ok(values)
}

fn formula(values: &Values, file: &mut Translation) -> Result<(), InputError> {
    let (place, kind) = match &values.kind {
        Some((place, kind)) => (Some(place.clone()), kind.to_ascii_lowercase()),
        None => (None, "mandel".to_owned()),
    };
    let (is_julia, power) = match kind.as_str() {
        "mandel" => (false, Some(2)),
        "julia" => (true, Some(2)),
        "mandel4" => (false, Some(4)),
        "julia4" => (true, Some(4)),
        "manzpower" => (false, None),
        "julzpower" => (true, None),
        other => {
            let error = not_drawn(format!("the type {}", quote(other)));
            let error = error.accepts("mandel, julia, mandel4, julia4, manzpower, julzpower");
            return Err(place.iter().fold(error, InputError::at_key));
        }
    };
    let (from, params) = match &values.params {
        Some((place, params)) => (Some(place.clone()), params.as_str()),
        None => (None, ""),
    };
    let at = |error: InputError| from.iter().fold(error, InputError::at_key);
    let param = |at: usize| params.split('/').nth(at).filter(|param| !param.is_empty());
    let power = match (power, param(2)) {
        (Some(power), _) => power,
        (None, Some(text)) => whole(text, 2, 1 << 20).map_err(at)?,
        (None, None) => 2,
    };
    let constant = [0, 1].map(|at| param(at).unwrap_or("0"));
    if is_julia {
        file.list("julia", constant, from.clone());
    } else if !constant.iter().all(|part| is_zero(part)) {
        return Err(at(not_drawn(format!("an orbit that starts at {}", quote(params)))));
    }
    file.formula(Fold::None, power, from)
}

fn place(values: &Values, file: &mut Translation) -> Result<(), InputError> {
    file.size(SIZE[0], SIZE[1], None);
    match (&values.centre, &values.corners) {
        (Some((place, text)), _) if !text.is_empty() => centre_and_magnification(text, place, file)
            .map_err(|e| if e.places().is_empty() { e.at_key(place) } else { e }),
        (_, Some((place, text))) if !text.is_empty() => {
            corners(text, place, file).map_err(|e| if e.places().is_empty() { e.at_key(place) } else { e })
        }
        _ => {
            // The program's first view.
            file.text(
                "re",
                if values.kind.as_ref().is_some_and(|(_, kind)| kind.starts_with("jul")) { "0" } else { "-0.5" },
                None,
            );
            file.text("im", "0", None);
            file.text("view_height", "3", None);
            Ok(())
        }
    }
}

/// The numbers of a list, `least` to `most`.
fn numbers(text: &str, least: usize, most: usize, form: &str, place: &KeyPlace) -> Result<Vec<Decimal>, InputError> {
    let count = text.split('/').count();
    if !(least..=most).contains(&count) {
        return Err(InputError::malformed(format!("has {count} numbers")).accepts(form).at_key(place));
    }
    text.split('/').map(|text| text.trim().parse().map_err(|e: InputError| e.at_key(place))).collect()
}

fn centre_and_magnification(text: &str, place: &KeyPlace, file: &mut Translation) -> Result<(), InputError> {
    const FORM: &str = "X/Y/MAGNIFICATION, then XMAGFACTOR, ROTATION and SKEW if there are any";
    let numbers = numbers(text, 3, 6, FORM, place)?;
    let rational = |at: usize, usual: i64| numbers.get(at).map_or_else(|| Rational::whole(usual), Decimal::to_rational);
    let (magnification, mut factor) = (rational(2, 1), rational(3, 1));
    if magnification.is_zero() {
        return Err(InputError::out_of_range("0").accepts("a magnification other than 0").at_key(place));
    }
    if factor.is_zero() {
        factor = Rational::whole(1);
    }
    if !rational(5, 0).is_zero() {
        file.unused("skew");
    }
    // A negative magnification is half a turn, a negative factor a mirror image.
    let mirrored = !factor.is_positive();
    let half_turns = i64::from(!magnification.is_positive()) + i64::from(mirrored);
    let turned = rational(4, 0).negated().plus(&Rational::whole(180 * (half_turns % 2)));
    let (magnification, factor) = (magnification.magnitude(), factor.magnitude());
    let digits = numbers.iter().map(Decimal::digits).max().unwrap_or(0);
    file.rotation(&near(&turned, digits)?, Some(place.clone()));
    file.flag("flip", mirrored);
    if is_nearly_square(&factor) {
        file.text("re", numbers[0].text(), Some(place.clone()));
        file.text("im", numbers[1].text(), Some(place.clone()));
        let zoom = times(&numbers[2], 2, 1)?;
        let zoom = if zoom.is_positive() { zoom } else { negative(&zoom)? };
        file.text("zoom", zoom.text(), Some(place.clone()));
        return Ok(());
    }
    check_exponents(&numbers, place)?;
    let half_height = Rational::whole(1).over(&magnification);
    let half_width = half_height.times_whole(4).over(&factor.times_whole(3));
    bounds([&numbers[0].to_rational(), &numbers[1].to_rational()], [&half_width, &half_height], digits, place, file)
}

/// Checks that fractions and roots of numbers take no long time.
fn check_exponents(numbers: &[Decimal], place: &KeyPlace) -> Result<(), InputError> {
    match numbers.iter().find(|number| number.exponent().abs() > MOST_EXPONENT) {
        None => Ok(()),
        Some(number) => {
            let wrong = InputError::out_of_range(number.text());
            Err(wrong.accepts(format!("exponents of ten from -{MOST_EXPONENT} to {MOST_EXPONENT}")).at_key(place))
        }
    }
}

/// Whether a factor by which a view is narrower than the screen is 1 within 2 %.
fn is_nearly_square(factor: &Rational) -> bool {
    factor.minus(&Rational::whole(1)).magnitude().times_whole(50) <= Rational::whole(1)
}

/// Sets the edges of a view around a centre.
fn bounds(
    centre: [&Rational; 2],
    half: [&Rational; 2],
    digits: usize,
    place: &KeyPlace,
    file: &mut Translation,
) -> Result<(), InputError> {
    let [re, im] = centre;
    let [across, up] = half;
    let edges = [re.minus(across), re.plus(across), im.minus(up), im.plus(up)];
    let edges = edges.iter().map(|edge| near(edge, digits)).collect::<Result<Vec<_>, _>>()?;
    file.list("bounds", edges.iter().map(|edge| edge.text()), Some(place.clone()));
    Ok(())
}

fn corners(text: &str, place: &KeyPlace, file: &mut Translation) -> Result<(), InputError> {
    const FORM: &str = "XMIN/XMAX/YMIN/YMAX, then X3RD/Y3RD if the view is rotated";
    let numbers = numbers(text, 4, 6, FORM, place)?;
    check_exponents(&numbers, place)?;
    let [xmin, xmax, ymin, ymax] = [0, 1, 2, 3].map(|at| &numbers[at]);
    let (x3rd, y3rd) = match (numbers.get(4), numbers.get(5)) {
        (Some(x), Some(y)) => (x, y),
        (None, _) => (xmin, ymin),
        _ => return Err(InputError::malformed("has 5 numbers").accepts(FORM).at_key(place)),
    };
    // From the lower left corner to the lower right one, and to the upper left one.
    let across = [xmax.minus(x3rd)?.to_rational(), ymin.minus(y3rd)?.to_rational()];
    let up = [xmin.minus(x3rd)?.to_rational(), ymax.minus(y3rd)?.to_rational()];
    let area = across[0].times(&up[1]).minus(&across[1].times(&up[0]));
    if area.is_zero() {
        return Err(InputError::malformed("the corners span no area").at_key(place));
    }
    let along = across[0].times(&up[0]).plus(&across[1].times(&up[1]));
    if along.magnitude().times_whole(1000) > area.magnitude() {
        file.unused("skew");
    }
    file.flag("flip", !area.is_positive());
    let (re, im) = (xmin.midpoint(xmax)?, ymin.midpoint(ymax)?);
    let digits = numbers.iter().map(Decimal::digits).max().unwrap_or(0);
    let width_squared = across[0].times(&across[0]).plus(&across[1].times(&across[1]));
    // The sides of a view that is not rotated are exact.
    let (width, height) = if across[1].is_zero() {
        if !across[0].is_positive() {
            file.rotation(&Decimal::from(180), Some(place.clone()));
        }
        (across[0].magnitude(), up[1].magnitude())
    } else {
        file.rotation(&degrees(&across[0], &across[1])?, Some(place.clone()));
        let width = square_root(&width_squared, digits.max(ROOT_DIGITS))?.to_rational();
        let height = area.magnitude().over(&width);
        (width, height)
    };
    let factor = height.times_whole(4).over(&width.times_whole(3));
    if is_nearly_square(&factor) {
        file.text("re", re.text(), Some(place.clone()));
        file.text("im", im.text(), Some(place.clone()));
        file.text("view_height", near(&height, digits)?.text(), Some(place.clone()));
        return Ok(());
    }
    let half = |side: &Rational| side.over(&Rational::whole(2));
    bounds([&re.to_rational(), &im.to_rational()], [&half(&width), &half(&height)], digits, place, file)
}

/// The colours, as steps: an iteration has one of 255 colours.
fn colours(values: &Values, file: &mut Translation) -> Result<(), InputError> {
    let inside = match &values.inside {
        None => Some(1),
        Some((_, value)) => value.parse::<usize>().ok(),
    };
    if inside.is_none() {
        file.unused("inside");
    }
    let Some((place, text)) = values.colours.as_ref().filter(|(_, text)| !text.is_empty()) else {
        return Ok(());
    };
    if text.starts_with('@') {
        file.unused("colors");
        return Ok(());
    }
    let map = par_colours::read(text).map_err(|e| e.at_key(place))?;
    let shown = |colour: [u8; 3]| format!("\"{}\"", colour_text(colour.map(|channel| u16::from(channel) * 257)));
    let list: Vec<String> = map[1..].iter().map(|colour| shown(*colour)).collect();
    // Numbers beyond the map go around it, as iterations do.
    let inside = match inside {
        Some(0) | None => map[0],
        Some(number) => map[(number - 1) % 255 + 1],
    };
    // The middle of the step of colour n is at the iterations n.
    let text = format!(
        "colours = [{}]\nblend = \"step\"\nby = \"banded\"\nscale = \"linear\"\ndensity = {}\noffset = {}\ninterior = {}\n",
        list.join(", "),
        256.0 / 255.0,
        -0.5 / 255.0,
        shown(inside)
    );
    file.palette("toml", text, Some(place.clone()));
    Ok(())
}

/// Writes a file of one entry.
pub(super) fn write(of: &mut Outline<'_>) -> Result<String, InputError> {
    let (scene, settings) = (of.scene, &of.scene.settings);
    if settings.formula.fold() != Fold::None {
        return Err(not_drawn(format!("the formula {} in Fractint", settings.formula.name())));
    }
    let constant = settings.julia.as_ref().map(|[re, im]| format!("{}/{}", re.text(), im.text()));
    let start = constant.clone().unwrap_or_else(|| "0/0".to_owned());
    let (kind, params) = match (constant.is_some(), settings.formula.power()) {
        (false, 2) => ("mandel", start),
        (true, 2) => ("julia", start),
        (false, 4) => ("mandel4", start),
        (true, 4) => ("julia4", start),
        (false, power) => ("manzpower", format!("{start}/{power}/0")),
        (true, power) => ("julzpower", format!("{start}/{power}/0")),
    };
    let place = match of.edges() {
        Some([xmin, xmax, ymin, ymax]) => {
            format!("corners={}/{}/{}/{}", xmin.text(), xmax.text(), ymin.text(), ymax.text())
        }
        None => {
            of.only_square_pixels()?;
            let zoom = of.zoom()?;
            let magnification = times(&zoom, 1, 2)?;
            // A mirror image of half a turn is upside down.
            let half_turn = Decimal::from(if scene.view.flip { 180 } else { 0 });
            let rotation = half_turn.minus(&scene.view.rotation)?;
            let factor = if scene.view.flip { -1 } else { 1 };
            format!(
                "center-mag={}/{}/{}/{factor}/{}",
                of.re.text(),
                of.im.text(),
                magnification.text(),
                rotation.text()
            )
        }
    };
    let mut colours = vec![palettes::in_bytes(scene.colouring.palette.interior())];
    colours.extend(palettes::sampled(&scene.colouring.palette, 255));
    of.left_out.extend(["size", "scale and density of the colours, and their bits beyond 6"].map(str::to_owned));
    Ok(format!(
        "{} {{\n  reset=2004 type={kind} passes=1\n  {place}\n  params={params} float=y maxiter={} bailout={}\n  \
         inside=0 periodicity=0\n  colors={}\n}}\n",
        of.name,
        of.iterations,
        of.squared_radius()?.text(),
        folded(&par_colours::write(&colours)),
    ))
}

/// A long value in lines of 63 characters, each but the last with a backslash.
fn folded(text: &str) -> String {
    let lines: Vec<&str> = text.as_bytes().chunks(63).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    lines.join("\\\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of an entry with these words.
    fn location(words: &str) -> String {
        read(&format!("one {{ ; ours\n {words}\n}}\n"), None).unwrap().location()
    }

    fn check(words: &str, lines: &[&str]) {
        let text = location(words);
        for line in lines {
            assert!(text.contains(line), "{words}: {line}: {text}");
        }
    }

    #[test]
    fn views_by_centre_and_magnification() {
        check("center-mag=-0.5/0/0.75", &["re = \"-0.5\"", "zoom = \"1.5\"", "size = \"1440x1080\"", "flip = false"]);
        check("center-mag=-0.5/0/7.5e+20/1/30", &["zoom = \"1.5e21\"", "rotation = \"-30\""]);
        // A factor within 2 % of 1 is 1.
        check("center-mag=0/0/1/0.985", &["zoom = \"2\""]);
        // Twice as narrow: 4/3 wide and 2 high around (1, 2).
        check("center-mag=1/2/1/2", &["bounds = [\"0.333333333", "\"1.66666", "\"1\", \"3\"]"]);
        check("center-mag=0/0/1/-1/10", &["flip = true", "rotation = \"170\""]);
        check("center-mag=0/0/-1", &["flip = false", "rotation = \"180\""]);
        check("type=mandel", &["re = \"-0.5\"", "view_height = \"3\""]);
    }

    #[test]
    fn views_by_corners() {
        check("corners=-2.5/1.5/-1.5/1.5", &["re = \"-0.5\"", "im = \"0\"", "view_height = \"3\"", "flip = false"]);
        check("corners=-2.5/1.5/1.5/-1.5", &["view_height = \"3\"", "flip = true"]);
        check("corners=1.5/-2.5/-1.5/1.5", &["flip = true", "rotation = \"180\""]);
        check("corners=-1/1/-1/1", &["bounds = [\"-1\", \"1\", \"-1\", \"1\"]"]);
        // The view -2 to 2 by -1.5 to 1.5, turned by 90 degrees counter-clockwise: the lower left corner is (1.5, -2).
        check("corners=-1.5/1.5/2/-2/1.5/-2", &["rotation = \"90\"", "view_height = \"3\"", "flip = false"]);
        // Turned by arctan(3/4): (4 across, 3 up) become (3.2, 2.4) and (-1.8, 2.4).
        let turned = location("corners=-2.5/2.5/0/0/-0.7/-2.4");
        assert!(turned.contains("rotation = \"36.86989764584402129685561255909"), "{turned}");
        assert!(turned.contains("view_height = \"3\"") && turned.contains("re = \"0\""), "{turned}");
    }

    #[test]
    fn every_key_is_read_or_named() {
        let words = "reset=2004 type=julzpower passes=1 center-mag=0/0/1/1/0/5 params=0.25/-0.5/6/0 float=y maxiter=72000 \
            bailout=16 inside=bof60 logmap=yes outside=iter distest=1/71\n colors=000zzz<3>000A_`\\\n  00z";
        let file = read(&format!("frm:x {{ z }}\none two {{ {words} }}"), None).unwrap();
        let text = file.location();
        for line in [
            "name = \"one-two\"",
            "title = \"one two\"",
            "julia = [\"0.25\", \"-0.5\"]",
            "power = 6",
            "iterations = 72000",
            "escape_radius = \"4\"",
            "palette_format = \"toml\"",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(file.all_unused(), ["logmap", "distest", "skew", "inside"]);
        let coloured = location("maxiter=5 inside=2 colors=000zzz00z");
        assert!(coloured.rsplit("interior = ").next().unwrap().contains("#0000ff"), "{coloured}");
        assert!(location("type=mandel").contains("iterations = 150"));
    }

    #[test]
    fn errors_name_line_and_key() {
        for (words, said) in [
            ("type=lambda", "line 2, type: the type \"lambda\" cannot be drawn (accepted: mandel, julia"),
            ("params=0.1/0", "line 2, params: an orbit that starts at \"0.1/0\" cannot be drawn"),
            ("center-mag=0/0", "line 2, center-mag: has 2 numbers (accepted: X/Y/MAG"),
            ("center-mag=0/0/x", "line 2, center-mag: is not a number"),
            ("center-mag=0/0/0", "a magnification other than 0"),
            ("corners=0/1/2/2", "line 2, corners: the corners span no area"),
            ("corners=0/1/2/2/3", "line 2, corners: has 5 numbers"),
            ("maxiter=0", "line 2, maxiter: 0 is out of range"),
            ("type=manzpower params=0/0/99", "line 2, params: 99 is out of range"),
            ("corners=0/1/0/1e-999999", "exponents of ten from -100000 to 100000"),
            ("colors=00", "line 2, colors: a colour has less than three characters"),
        ] {
            let error = read(&format!("one {{\n {words}\n}}\n"), None).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
