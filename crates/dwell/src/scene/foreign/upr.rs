//! Parameters of Ultra Fractal (`.upr`): entries with sections, as `input/entries.rs` reads them.
//!
//! ```text
//! Name {
//! fractal:
//!   title="A title" width=640 height=480 layers=1
//! mapping:
//!   center=-0.5/0 magn=1 angle=0
//! formula:
//!   maxiter=250 filename="Standard.ufm" entry="Mandelbrot" p_start=0/0 p_power=2/0 p_bailout=128
//! inside:
//!   transfer=none solid=4278190080
//! gradient:
//!   smooth=yes index=0 color=6555392 index=64 color=13331232
//! }
//! ```
//!
//! At the magnification 1 the view is 3 high, as that of the program's first picture (-0.5, 640 x 480 pixels, 4 by 3).
//! `angle` is taken as Fractint's, whose files the program reads: the view is turned clockwise in the plane, so that the
//! picture turns counter-clockwise. A bailout is R^2, since `|z|` means the square of the modulus in its formulas. Colours
//! are numbers 0xAABBGGRR. Of several layers the first is read.
//!
//! The sections are those of parameters that users publish; the manual gives no definition of the magnification, so the
//! first picture is the source for it.

use super::numbers::{is_zero, negative, number, radius_of_square, times, whole};
use super::outline::Outline;
use super::palettes;
use super::translation::{Translation, missing, not_drawn};
use crate::base::error::InputError;
use crate::base::place::{KeyPlace, Parameter};
use crate::base::quote::quote;
use crate::exact::decimal::Decimal;
use crate::input::entries::{self, Kind, unquoted};
use crate::view::Size;
use dwell_kernels::Fold;

/// What an entry is.
const KIND: Kind = Kind {
    what: "entry",
    form: "NAME { fractal: ... mapping: ... formula: ... }",
    parameter: Parameter::Named("entry"),
};

/// The limit of a file without one.
const USUAL_ITERATIONS: u64 = 250;

/// The formulas that can be drawn, and whether each is a Julia set.
const FORMULAS: [(&str, bool); 4] =
    [("mandelbrot", false), ("fastmandel", false), ("julia", true), ("fastjulia", true)];

/// Keys that change nothing in a picture of this project.
const QUIET: [&str; 12] = [
    "credits",
    "layers",
    "caption",
    "method",
    "percheck",
    "filename",
    "author",
    "visible",
    "opacity",
    "rating",
    "transparent",
    "quality",
];

/// The sections that are read or change nothing.
const SECTIONS: [&str; 7] = ["fractal", "layer", "mapping", "formula", "inside", "gradient", "opacity"];
/// The keys of three of them that are read.
const MAPPING: [&str; 5] = ["center", "magn", "angle", "stretch", "skew"];
const FORMULA: [&str; 6] = ["maxiter", "entry", "p_power", "p_start", "p_seed", "p_bailout"];
const INSIDE: [&str; 2] = ["transfer", "solid"];

/// Values with their keys; of several with one key the first counts.
type Pairs = Vec<(KeyPlace, String)>;

/// What an entry says.
#[derive(Default)]
struct Entry {
    title: Option<String>,
    size: [Option<(KeyPlace, String)>; 2],
    mapping: Pairs,
    formula: Pairs,
    inside: Pairs,
    gradient: String,
}

/// Reads the entry of the wanted name, or the first one.
pub(super) fn read(text: &str, wanted: Option<&str>) -> Result<Translation, InputError> {
    let chosen = entries::choose(text, wanted, &KIND, |_| true)?;
    let mut file = Translation::default();
    let entry = sections(&chosen, &mut file)?;
    file.text("name", name_of(chosen.name), None);
    file.text("title", entry.title.as_deref().unwrap_or(chosen.name), None);
    if let [Some((place, width)), Some((_, height))] = &entry.size {
        file.size(width, height, Some(place.clone()));
    }
    mapping(&entry, &mut file)?;
    formula(&entry, &mut file)?;
    inside(&entry, &mut file);
    if !entry.gradient.is_empty() {
        file.palette("ugr", format!("palette {{\ngradient:\n{}}}\n", entry.gradient), None);
    }
    Ok(file)
}

/// A name for files: without the marks that names of entries may have.
pub(super) fn name_of(entry: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = entry.chars().take(64).map(plain).collect();
    if name.is_empty() { "location".to_owned() } else { name }
}

/// The values of the first of each section.
fn sections(chosen: &entries::Entry<'_>, file: &mut Translation) -> Result<Entry, InputError> {
    let mut entry = Entry::default();
    let mut words = chosen.words();
    let (mut section, mut seen) = (String::new(), [false; SECTIONS.len()]);
    let mut repeated = false;
    while let Some((line, word)) = words.word()? {
        if word.starts_with("::") {
            return Err(InputError::malformed("the parameters are compressed")
                .accepts("parameters saved without compression")
                .at_line(line));
        }
        if let Some(name) = word.strip_suffix(':').filter(|name| !name.contains('=')) {
            section = name.chars().take(32).collect::<String>().to_ascii_lowercase();
            let known = SECTIONS.iter().position(|known| *known == section);
            repeated = known.is_some_and(|at| std::mem::replace(&mut seen[at], true));
            if repeated {
                file.unused("further layers");
            } else if known.is_none() {
                file.unused(&section);
            }
            continue;
        }
        let Some((key, value)) = word.split_once('=').filter(|_| !repeated) else {
            if !repeated {
                let wrong = InputError::malformed(format!("{} is not understood", quote(&word)));
                return Err(wrong.accepts("KEY=VALUE, SECTION:").at_line(line));
            }
            continue;
        };
        let pair = || ((line, key.chars().take(40).collect()), unquoted(value));
        match (section.as_str(), key) {
            ("fractal", "title") => entry.title = Some(unquoted(value)),
            ("fractal", "width") => entry.size[0] = Some(pair()),
            ("fractal", "height") => entry.size[1] = Some(pair()),
            ("mapping", key) if MAPPING.contains(&key) => put(&mut entry.mapping, pair()),
            ("formula", key) if FORMULA.contains(&key) => put(&mut entry.formula, pair()),
            ("inside", key) if INSIDE.contains(&key) => put(&mut entry.inside, pair()),
            ("gradient", _) => entry.gradient.push_str(&format!("  {word}\n")),
            ("fractal" | "layer" | "mapping" | "formula", key) if !QUIET.contains(&key) => file.unused(key),
            _ => {}
        }
    }
    Ok(entry)
}

/// Adds a value, unless its key has one.
fn put(pairs: &mut Pairs, pair: (KeyPlace, String)) {
    if !pairs.iter().any(|((_, key), _)| *key == pair.0.1) {
        pairs.push(pair);
    }
}

fn mapping(entry: &Entry, file: &mut Translation) -> Result<(), InputError> {
    let (mut has_centre, mut zoom) = (false, None);
    for (place, value) in &entry.mapping {
        match place.1.as_str() {
            "center" => {
                let (re, im) = value.split_once('/').ok_or_else(|| {
                    InputError::malformed(format!("{} has no /", quote(value))).accepts("RE/IM").at_key(place)
                })?;
                file.text("re", re, Some(place.clone()));
                file.text("im", im, Some(place.clone()));
                has_centre = true;
            }
            "magn" => {
                let magnification: Decimal = value.parse().map_err(|e: InputError| e.at_key(place))?;
                zoom = Some((times(&magnification, 4, 3).map_err(|e| e.at_key(place))?, place.clone()));
            }
            "angle" => {
                let angle = number("angle", value).map_err(|e| e.at_key(place))?;
                file.rotation(&negative(&angle)?, Some(place.clone()));
            }
            // Without stretch and skew the view is what the other keys say.
            "stretch" if value.parse() == Ok(1.0) => {}
            "skew" if is_zero(value) => {}
            key => file.unused(key),
        }
    }
    if !has_centre {
        return Err(missing("\"center\""));
    }
    // The program leaves out the magnification 1.
    match zoom {
        Some((zoom, place)) => file.text("zoom", zoom.text(), Some(place)),
        None => file.text("view_height", "3", None),
    }
    Ok(())
}

fn formula(entry: &Entry, file: &mut Translation) -> Result<(), InputError> {
    file.usual_iterations(USUAL_ITERATIONS);
    let named = entry.formula.iter().find(|(place, _)| place.1 == "entry");
    let (place, name) = named.ok_or_else(|| missing("\"entry\" of a formula"))?;
    let known = FORMULAS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    let Some((_, is_julia)) = known else {
        let what = format!("the formula {}", quote(name));
        return Err(not_drawn(what).accepts("Mandelbrot, FastMandel, Julia, FastJulia").at_key(place));
    };
    let (mut power, mut seed) = ((None, 2), None);
    for (place, value) in &entry.formula {
        let parts: Vec<&str> = value.split('/').collect();
        match place.1.as_str() {
            "maxiter" => file.iterations(value, place.clone())?,
            "entry" => {}
            "p_power" => {
                let (real, imag) = (parts[0], parts.get(1).copied().unwrap_or("0"));
                if !is_zero(imag) {
                    return Err(not_drawn(format!("the complex power {}", quote(value))).at_key(place));
                }
                power = (Some(place.clone()), whole(real, 2, 1 << 20).map_err(|e| e.at_key(place))?);
            }
            "p_start" if !parts.iter().all(|part| is_zero(part)) => {
                return Err(not_drawn(format!("an orbit that starts at {}", quote(value))).at_key(place));
            }
            "p_start" => {}
            "p_seed" => seed = Some((place.clone(), [parts[0], parts.get(1).copied().unwrap_or("0")])),
            "p_bailout" => match radius_of_square(parts[0]) {
                Some(radius) => file.text("escape_radius", radius.text(), Some(place.clone())),
                None => file.unused("p_bailout"),
            },
            _ => {}
        }
    }
    if *is_julia {
        let (place, seed) = seed.ok_or_else(|| missing("\"p_seed\" of a Julia set"))?;
        file.list("julia", seed, Some(place));
    }
    let (place, power) = power;
    file.formula(Fold::None, power, place)
}

/// The solid colour of the inside, where nothing else colours it.
fn inside(entry: &Entry, file: &mut Translation) {
    let value = |key: &str| entry.inside.iter().find(|(place, _)| place.1 == key).map(|(_, value)| value.as_str());
    match value("transfer") {
        None => {}
        Some("none") => {
            if let Some(solid) = value("solid").and_then(|solid| solid.parse::<u32>().ok()) {
                let [red, green, blue, _] = solid.to_le_bytes();
                file.interior([red, green, blue]);
            }
        }
        Some(_) => file.unused("inside"),
    }
}

/// Writes a file of one entry.
pub(super) fn write(of: &mut Outline<'_>) -> Result<String, InputError> {
    of.only_square_pixels()?;
    let (scene, name) = (of.scene, of.name.clone());
    let settings = &scene.settings;
    if settings.formula.fold() != Fold::None {
        return Err(not_drawn(format!("the formula {} in Ultra Fractal's standard formulas", settings.formula.name())));
    }
    if scene.view.flip {
        of.left_out.push("flip".to_owned());
    }
    let zoom = of.zoom()?;
    let magnification = times(&zoom, 3, 4)?;
    let angle = negative(&scene.view.rotation)?;
    let Size { width, height } = scene.view.size;
    let (power, bailout) = (settings.formula.power(), of.squared_radius()?);
    let (entry, start) = match &settings.julia {
        None => ("Mandelbrot", "p_start=0/0".to_owned()),
        Some([re, im]) => ("Julia", format!("p_seed={}/{}", re.text(), im.text())),
    };
    let [red, green, blue] = palettes::in_bytes(scene.colouring.palette.interior());
    let solid = u32::from_le_bytes([red, green, blue, 255]);
    let title: String = scene.title.chars().filter(|c| !matches!(c, '"' | '\\') && !c.is_control()).collect();
    let title = if title.is_empty() { name.clone() } else { title };
    let mut text = format!(
        "{name} {{\nfractal:\n  title=\"{title}\" width={width} height={height} layers=1\n\
         layer:\n  caption=\"Background\" opacity=100\n\
         mapping:\n  center={}/{} magn={} angle={}\n\
         formula:\n  maxiter={} filename=\"Standard.ufm\" entry=\"{entry}\" {start} p_power={power}/0\n  p_bailout={}\n\
         inside:\n  transfer=none solid={solid}\n\
         outside:\n  transfer=linear filename=\"Standard.ucl\" entry=\"Smooth\" p_power={power}/0\n  p_bailout={}\n",
        of.re.text(),
        of.im.text(),
        magnification.text(),
        angle.text(),
        of.iterations,
        bailout.text(),
        bailout.text(),
    );
    text.push_str(&palettes::ultra(&scene.colouring.palette, &mut of.left_out));
    of.left_out.push("scale, density and offset of the colours".to_owned());
    text.push_str("}\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "; ours\nfirst {\nfractal:\n  title=\"One; \\\n    title\" width=640 height=480 layers=2 cropping=1\n\
        layer:\n  caption=\"a\" mergemode=screen\nmapping:\n  center=-1.2345\\\n  67/0.5 magn=27.3 angle=30\n\
        formula:\n  maxiter=1000 filename=\"Standard.ufm\" entry=\"Julia\" p_seed=-0.8/0.156 p_power=3/0 p_bailout=16\n\
        inside:\n  transfer=none solid=4278222848\noutside:\n  transfer=linear density=0.25\n\
        gradient:\n  smooth=yes index=0 color=255 index=200 color=0\nlayer:\n  caption=\"b\"\nmapping:\n  center=0/0\n}\n\
        second {\nfractal:\nmapping:\n  center=0/0\nformula:\n entry=\"FastMandel\"\n}\n";

    #[test]
    fn every_key_is_read_or_named() {
        let file = read(FILE, None).unwrap();
        let text = file.location();
        for line in [
            "name = \"first\"",
            "title = \"One; title\"",
            "size = \"640x480\"",
            "re = \"-1.234567\"",
            "im = \"0.5\"",
            "zoom = \"36.4\"",
            "rotation = \"-30\"",
            "iterations = 1000",
            "julia = [\"-0.8\", \"0.156\"]",
            "formula = \"multibrot\"",
            "power = 3",
            "escape_radius = \"4\"",
            "interior = \"#008000\"",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(file.all_unused(), ["cropping", "mergemode", "outside", "further layers"]);
        let second = read(FILE, Some("second")).unwrap().location();
        assert!(second.contains("view_height = \"3\"") && second.contains("iterations = 250"), "{second}");
    }

    #[test]
    fn errors_name_line_and_key() {
        for (from, to, said) in [
            ("center=-1.2345", "center=-1.2345 x=", "line 9, center: \"-1.2345\" has no / (accepted: RE/IM)"),
            ("magn=27.3", "magn=x", "line 10, magn: is not a number"),
            ("maxiter=1000", "maxiter=0", "line 12, maxiter: 0 is out of range"),
            (
                "entry=\"Julia\"",
                "entry=\"Nova\"",
                "line 12, entry: the formula \"Nova\" cannot be drawn (accepted: Mandelbrot",
            ),
            ("p_power=3/0", "p_power=3/1", "the complex power \"3/1\" cannot be drawn"),
            ("p_power=3/0", "p_power=2.5/0", "line 12, p_power: 2.5 is out of range"),
            ("p_seed", "p_start", "an orbit that starts at \"-0.8/0.156\" cannot be drawn"),
            ("p_seed=-0.8/0.156", "", "no \"p_seed\" of a Julia set is given"),
            ("fractal:\n  title", "::Kabc\n  title", "line 3: the parameters are compressed"),
            ("first {", "first", "begins no entry"),
        ] {
            assert!(FILE.contains(from), "{from}");
            let error = read(&FILE.replacen(from, to, 1), None).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
        let error = read(FILE, Some("third")).err().unwrap().to_string();
        assert!(error.contains("entry: \"third\" is not known (accepted: first, second)"), "{error}");
    }
}
