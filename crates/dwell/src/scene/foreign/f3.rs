//! Locations of Fraktaler 3 (`.f3.toml`): TOML.
//!
//! `location.zoom` is 4 / height, and the imaginary axis points up. The points of the view are the matrix R G (x, y) of the
//! pixels' places, where G reflects y if `transform.reflect`, and R turns counter-clockwise by `transform.rotate` degrees,
//! clockwise if reflected. `bailout.escape_radius` is R. One `[[formula]]` folds and takes a power: `abs_x` with `abs_y`
//! is the Burning Ship, `neg_y` the tricorn. A list of several formulas is iterated in turn.
//!
//! Facts from the manual of that program, section "Parameters", and from its source (`matrix.h`).

use super::numbers::{is_zero, negative, not_accepted, whole};
use super::outline::Outline;
use super::translation::{Translation, missing, not_drawn};
use crate::base::error::InputError;
use crate::exact::decimal::Decimal;
use crate::input::toml_reader::{Document, Key, Keys};
use dwell_kernels::Fold;

/// Keys and tables that change nothing in a picture of this project: how the program computes, where it writes.
const QUIET: [&str; 14] = [
    "program",
    "version",
    "reference",
    "algorithm",
    "opencl",
    "newton",
    "render",
    "bailout.maximum_reference_iterations",
    "bailout.maximum_perturb_iterations",
    "bailout.maximum_bla_steps",
    "bailout.inscape_radius",
    "image.dpi",
    "transform.stretch_angle",
    "image.tile",
];

/// The limit of a file without one.
const USUAL_ITERATIONS: u64 = 1024;

/// What has been read so far, of values that belong together.
#[derive(Default)]
struct Read<'a> {
    reflected: bool,
    rotation: Option<Key<'a>>,
    size: [Option<Key<'a>>; 2],
    iterations: Option<Key<'a>>,
    found: [bool; 3],
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Translation, InputError> {
    let document = Document::parse(text)?;
    let mut file = Translation::default();
    let mut read = Read::default();
    file.usual_formula();
    for key in document.keys().each() {
        match key.name() {
            "formula" => formula(&key, &mut file)?,
            name if QUIET.contains(&name) => {}
            name => {
                let Ok(table) = key.table() else {
                    file.unused(name);
                    continue;
                };
                for inner in table.each() {
                    take(&format!("{name}.{}", inner.name()), inner, &mut read, &mut file)?;
                }
            }
        }
    }
    for (found, name) in read.found.iter().zip(["location.real", "location.imag", "location.zoom"]) {
        if !found {
            return Err(missing(&format!("\"{name}\"")));
        }
    }
    match read.iterations {
        Some(key) => file.iterations(key.written(), key.place())?,
        None => file.usual_iterations(USUAL_ITERATIONS),
    }
    if let Some(key) = read.rotation {
        let degrees: Decimal = key.written().parse().map_err(|e| key.wrong(e))?;
        let degrees = if read.reflected { negative(&degrees)? } else { degrees };
        file.rotation(&degrees, Some(key.place()));
    }
    file.flag("flip", read.reflected);
    if let [Some(width), Some(height)] = read.size {
        file.size(width.written(), height.written(), Some(width.place()));
    }
    Ok(file)
}

/// Reads one key of a table.
fn take<'a>(name: &str, key: Key<'a>, read: &mut Read<'a>, file: &mut Translation) -> Result<(), InputError> {
    let place = key.place();
    match name {
        "location.real" => {
            file.text("re", key.text()?, Some(place));
            read.found[0] = true;
        }
        "location.imag" => {
            file.text("im", key.text()?, Some(place));
            read.found[1] = true;
        }
        "location.zoom" => {
            file.text("zoom", key.text()?, Some(place));
            read.found[2] = true;
        }
        "bailout.iterations" => read.iterations = Some(key),
        "bailout.escape_radius" => file.text("escape_radius", key.written(), Some(place)),
        "transform.reflect" => read.reflected = key.flag()?,
        "transform.rotate" => read.rotation = Some(key),
        "transform.exponential_map" => {
            if key.flag()? {
                return Err(key.wrong(not_drawn("an exponential map")));
            }
        }
        "image.width" => read.size[0] = Some(key),
        "image.height" => read.size[1] = Some(key),
        name if QUIET.contains(&name) => {}
        // Values of a switch that is off, and one sample in each direction.
        name => {
            let written = key.written();
            let samples = matches!(name, "image.subframes" | "image.subsampling" | "image.supersampling");
            let usual = if samples { written == "1" } else { written == "false" || is_zero(written) };
            if !usual {
                file.unused(name);
            }
        }
    }
    Ok(())
}

/// Reads the list of formulas.
fn formula(key: &Key<'_>, file: &mut Translation) -> Result<(), InputError> {
    let formulas = key.list_of_tables()?;
    let [only] = formulas.as_slice() else {
        if formulas.is_empty() {
            return Ok(());
        }
        return Err(key.wrong(not_drawn(format!("a hybrid of {} formulas", formulas.len()))));
    };
    one_formula(only, key, file)
}

fn one_formula(table: &Keys<'_>, formula: &Key<'_>, file: &mut Translation) -> Result<(), InputError> {
    let (mut power, mut folds) = ((None, 2), [false; 4]);
    for key in table.each() {
        match key.name() {
            "power" => power = (Some(key.place()), whole(key.written(), 2, 1 << 20).map_err(|e| key.wrong(e))?),
            "abs_x" => folds[0] = key.flag()?,
            "abs_y" => folds[1] = key.flag()?,
            "neg_x" => folds[2] = key.flag()?,
            "neg_y" => folds[3] = key.flag()?,
            "opcodes" => return Err(key.wrong(not_drawn("a list of opcodes"))),
            other => file.unused(&format!("formula.{other}")),
        }
    }
    let fold = match folds {
        [false, false, false, false] => Fold::None,
        [true, true, false, false] => Fold::Absolute,
        [false, false, false, true] => Fold::Conjugate,
        _ => {
            let accepted = "none of abs_x, abs_y, neg_x and neg_y; abs_x with abs_y; neg_y alone";
            return Err(formula.wrong(not_accepted("this combination of folds", accepted)));
        }
    };
    let (place, power) = power;
    file.formula(fold, power, place)
}

/// Writes a file.
pub(super) fn write(of: &mut Outline<'_>) -> Result<String, InputError> {
    of.no_julia("Fraktaler 3")?;
    of.only_square_pixels()?;
    let (view, settings) = (&of.scene.view, &of.scene.settings);
    let rotation = if view.flip { negative(&view.rotation)? } else { view.rotation.clone() };
    let zoom = of.zoom()?;
    let mut text = format!(
        "program = \"fraktaler-3\"\nlocation.real = \"{}\"\nlocation.imag = \"{}\"\nlocation.zoom = \"{}\"\n",
        of.re.text(),
        of.im.text(),
        zoom.text()
    );
    let (iterations, radius) = (of.iterations, float(&settings.escape_radius));
    text.push_str(&format!(
        "bailout.iterations = {iterations}\nbailout.maximum_reference_iterations = {iterations}\nbailout.escape_radius = {radius}\n"
    ));
    text.push_str(&format!("transform.reflect = {}\ntransform.rotate = {}\n", view.flip, float(&rotation)));
    text.push_str(&format!("image.width = {}\nimage.height = {}\n", view.size.width, view.size.height));
    let formula = settings.formula;
    text.push_str(&format!("\n[[formula]]\npower = {}\n", formula.power()));
    match formula.fold() {
        Fold::None => {}
        Fold::Absolute => text.push_str("abs_x = true\nabs_y = true\n"),
        Fold::Conjugate => text.push_str("neg_y = true\n"),
    }
    of.left_out.push("colours".to_owned());
    Ok(text)
}

/// A decimal as a TOML float: with a digit on each side of the point, or an exponent.
fn float(number: &Decimal) -> String {
    let text = number.text().trim_start_matches('+');
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (mantissa, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.trim_start_matches('0');
    let or_zero = |digits: &str| if digits.is_empty() { "0".to_owned() } else { digits.to_owned() };
    let exponent = exponent.map_or(String::new(), |exponent| format!("e{exponent}"));
    format!("{sign}{}.{}{exponent}", or_zero(whole), or_zero(fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "program = \"fraktaler-3\"\nlocation.real = \"-0.75\"\nlocation.imag = \"0.1\"\n\
        location.zoom = \"1.5E+3\"\nbailout.iterations = 5000\nbailout.maximum_bla_steps = 1024\n\
        bailout.escape_radius = 625.0\ntransform.reflect = true\ntransform.rotate = 12.50\n\
        image.width = 640\nimage.height = 480\nimage.subframes = 4\ncolour.shader = \"x\"\n\
        postprocessing.gamma = 0\n[[formula]]\nneg_y = true\npower = 3\n";

    #[test]
    fn every_key_is_read_or_named() {
        let file = read(FILE).unwrap();
        let text = file.location();
        for line in [
            "re = \"-0.75\"",
            "zoom = \"1.5E+3\"",
            "iterations = 5000",
            "escape_radius = \"625.0\"",
            "rotation = \"-12.5\"",
            "flip = true",
            "size = \"640x480\"",
            "formula = \"tricorn\"",
            "power = 3",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(file.all_unused(), ["image.subframes", "colour.shader"]);
    }

    #[test]
    fn errors_name_line_and_key() {
        for (from, to, said) in [
            ("location.zoom = \"1.5E+3\"\n", "", "no \"location.zoom\" is given"),
            ("\"0.1\"", "0.1", "line 3, imag: is the number 0.1, not text in quotes"),
            ("5000", "\"x\"", "line 5, iterations"),
            ("12.50", "inf", "line 9, rotate"),
            ("neg_y", "neg_x", "this combination of folds"),
            ("power = 3", "power = 99", "line 17, power: 99 is out of range (accepted: powers from 2 to 16)"),
            ("power = 3", "opcodes = \"sqr\"", "line 17, opcodes: a list of opcodes cannot be drawn"),
            ("power = 3", "[[formula]]\npower = 2", "a hybrid of 2 formulas cannot be drawn"),
            ("image.subframes = 4", "transform.exponential_map = true", "an exponential map cannot be drawn"),
            ("reflect = true", "reflect = 1", "line 8, reflect: is the number 1, not true or false"),
        ] {
            assert!(FILE.contains(from), "{from}");
            let error = read(&FILE.replace(from, to)).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn floats_are_floats_of_toml() {
        for (text, expected) in
            [("0", "0.0"), ("-.5", "-0.5"), ("+007.", "7.0"), ("1e3", "1.0e3"), ("-1.25E-7", "-1.25e-7")]
        {
            assert_eq!(float(&text.parse().unwrap()), expected);
        }
    }
}
