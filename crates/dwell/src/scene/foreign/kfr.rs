//! Locations of Kalles Fraktaler 2 and 2+ (`.kfr`): lines `Key: value`.
//!
//! `Zoom` is 4 / height. The imaginary axis points down unless `ImagPointsUp` is 1. `RotateAngle` turns the view
//! counter-clockwise in the plane, in degrees, after that reflection. `FractalType` 0 is z^N + c, 1 the Burning Ship and 4
//! the tricorn, where N is `Power`. The escape radius is 2 where `BailoutRadiusPreset` is 1, and `BailoutRadiusCustom`
//! where it is 3. The colours are those of palettes: see `colour/palette/kf_file.rs`.
//!
//! Facts from the manual and the source of that program (`SetPosition`, `GetBailoutRadius`, `Settings`), and from
//! Fraktaler 3, which is by the same author and reads these files.

use super::numbers::is_zero;
use super::outline::Outline;
use super::palettes;
use super::translation::{Translation, missing, not_drawn};
use crate::base::error::InputError;
use crate::base::place::KeyPlace;
use crate::base::quote::quote;
use crate::colour::KF_COLOUR_KEYS;
use crate::exact::decimal::Decimal;
use dwell_kernels::Fold;

/// The keys that are read, besides those of the colours.
const KEYS: [&str; 17] = [
    "Re",
    "Im",
    "Zoom",
    "Iterations",
    "RotateAngle",
    "ImagPointsUp",
    "FractalType",
    "Power",
    "BailoutRadiusPreset",
    "BailoutRadiusCustom",
    "BailoutNormPreset",
    "UseHybridFormula",
    "SeedR",
    "SeedI",
    "StretchAmount",
    "Slopes",
    "MultiColor",
];

/// Keys that change nothing by themselves: they belong to a switch that is named where it is on.
const QUIET: [&str; 16] = [
    "Version",
    "SlopePower",
    "SlopeRatio",
    "SlopeAngle",
    "BlendMC",
    "MultiColors",
    "StretchAngle",
    "FactorAR",
    "FactorAI",
    "HybridFormula",
    "BailoutNormCustom",
    "Period",
    "Differences",
    "TextureMerge",
    "TexturePower",
    "TextureRatio",
];

/// Names of types that cannot be drawn.
const TYPES: [(&str, &str); 8] = [
    ("2", "the Buffalo"),
    ("3", "the Celtic"),
    ("5", "the Mandelbar Celtic"),
    ("6", "the Perpendicular Mandelbrot"),
    ("7", "the Perpendicular Burning Ship"),
    ("8", "the Perpendicular Celtic"),
    ("9", "the Perpendicular Buffalo"),
    ("41", "the HPDZ Buffalo"),
];

/// The values of a file.
struct Values<'a> {
    /// Of each of [`KEYS`] the line and the value; of several lines with one key the last counts.
    read: [Option<(u64, &'a str)>; KEYS.len()],
    colours: [Option<(u64, &'a str)>; KF_COLOUR_KEYS.len()],
}

impl<'a> Values<'a> {
    fn get(&self, key: &str) -> Option<(KeyPlace, &'a str)> {
        let at = KEYS.iter().position(|known| *known == key)?;
        let (line, value) = self.read[at]?;
        Some(((line, key.to_owned()), value))
    }

    fn colour(&self, key: &str) -> Option<(u64, &'a str)> {
        self.colours[KF_COLOUR_KEYS.iter().position(|known| *known == key)?]
    }

    fn is_on(&self, key: &str) -> bool {
        self.get(key).is_some_and(|(_, value)| !(value.is_empty() || is_zero(value)))
    }
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Translation, InputError> {
    let mut file = Translation::default();
    let values = values(text, &mut file)?;
    let needed = |key: &str| values.get(key).ok_or_else(|| missing(&quote(key)));
    for (key, name) in [("re", "Re"), ("im", "Im"), ("zoom", "Zoom")] {
        let (place, value) = needed(name)?;
        file.text(key, value, Some(place));
    }
    // The program writes the limit to every file. Where a file written by hand has none, it is found from the view.
    if let Some((place, value)) = values.get("Iterations") {
        file.iterations(value, place)?;
    }
    formula(&values, &mut file)?;
    if let Some((place, value)) = values.get("RotateAngle") {
        let angle: Decimal = value.parse().map_err(|e: InputError| e.at_key(&place))?;
        file.rotation(&angle, Some(place));
    }
    file.flag("flip", !values.is_on("ImagPointsUp"));
    escape(&values, &mut file);
    for switch in ["StretchAmount", "Slopes", "MultiColor"] {
        if values.is_on(switch) {
            file.unused(switch);
        }
    }
    colours(&values, &mut file);
    Ok(file)
}

/// The values of the keys that are read. The others are noted as unused, unless their value says that they are off.
fn values<'a>(text: &'a str, file: &mut Translation) -> Result<Values<'a>, InputError> {
    let mut values = Values { read: [None; KEYS.len()], colours: [None; KF_COLOUR_KEYS.len()] };
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at as u64 + 1, line.trim());
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            let wrong = InputError::malformed(format!("{} has no colon", quote(line)));
            return Err(wrong.accepts("Key: value").at_line(number));
        };
        let (key, value) = (key.trim(), value.trim());
        if let Some(at) = KEYS.iter().position(|known| *known == key) {
            values.read[at] = Some((number, value));
        } else if let Some(at) = KF_COLOUR_KEYS.iter().position(|known| *known == key) {
            values.colours[at] = Some((number, value));
        } else {
            let usual = match key {
                "real" | "imag" | "Smooth" => value == "1",
                "Ratio" => value.parse() == Ok(360.0),
                _ => QUIET.contains(&key) || value.is_empty() || is_zero(value),
            };
            if !usual {
                file.unused(key);
            }
        }
    }
    Ok(values)
}

fn formula(values: &Values<'_>, file: &mut Translation) -> Result<(), InputError> {
    if let Some((place, _)) = values.get("UseHybridFormula").filter(|_| values.is_on("UseHybridFormula")) {
        return Err(not_drawn("a hybrid formula").at_key(&place));
    }
    for seed in ["SeedR", "SeedI"] {
        if let Some((place, value)) = values.get(seed).filter(|_| values.is_on(seed)) {
            return Err(not_drawn(format!("an orbit that starts at {value}")).at_key(&place));
        }
    }
    let fold = match values.get("FractalType") {
        None | Some((_, "0")) => Fold::None,
        Some((_, "1")) => Fold::Absolute,
        Some((_, "4")) => Fold::Conjugate,
        Some((place, other)) => {
            let name = TYPES.iter().find(|(number, _)| *number == other).map(|(_, name)| (*name).to_owned());
            let what = name.unwrap_or_else(|| format!("the type {}", quote(other)));
            let accepted = "0: Mandelbrot, 1: Burning Ship, 4: tricorn";
            return Err(not_drawn(what).accepts(accepted).at_key(&place));
        }
    };
    let (place, power) = match values.get("Power") {
        Some((place, value)) => {
            let power = super::numbers::whole(value, 2, 1 << 20).map_err(|e| e.at_key(&place))?;
            (Some(place), power)
        }
        None => (None, 2),
    };
    file.formula(fold, power, place)
}

fn escape(values: &Values<'_>, file: &mut Translation) {
    match values.get("BailoutRadiusPreset") {
        Some((place, "1")) => file.text("escape_radius", "2", Some(place)),
        Some((_, "3")) => match values.get("BailoutRadiusCustom") {
            Some((place, value)) => file.text("escape_radius", value, Some(place)),
            None => file.unused("BailoutRadiusPreset"),
        },
        Some((_, "0")) | None => {}
        Some(_) => file.unused("BailoutRadiusPreset"),
    }
    if values.get("BailoutNormPreset").is_some_and(|(_, value)| value != "1") {
        file.unused("BailoutNormPreset");
    }
}

/// The colours, if there are any, with the keys that belong to them.
fn colours(values: &Values<'_>, file: &mut Translation) {
    let Some((line, _)) = values.colour("Colors").filter(|(_, value)| !value.is_empty()) else { return };
    let mut text = String::new();
    for key in KF_COLOUR_KEYS {
        if let Some((_, value)) = values.colour(key).filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("{key}: {value}\n"));
        }
    }
    if values.colour("ColorMethod").is_some_and(|(_, method)| !matches!(method, "0" | "1" | "3")) {
        file.unused("ColorMethod");
    }
    file.palette("kfp", text, Some((line, "Colors".to_owned())));
}

/// Writes a file.
pub(super) fn write(of: &mut Outline<'_>) -> Result<String, InputError> {
    of.no_julia("Kalles Fraktaler")?;
    of.only_square_pixels()?;
    let settings = &of.scene.settings;
    let fractal_type = match settings.formula.fold() {
        Fold::None => 0,
        Fold::Absolute => 1,
        Fold::Conjugate => 4,
    };
    let mut lines = vec![
        ("Re", of.re.text().to_owned()),
        ("Im", of.im.text().to_owned()),
        ("Zoom", of.zoom()?.text().to_owned()),
        ("Iterations", of.iterations.to_string()),
        ("FractalType", fractal_type.to_string()),
        ("Power", settings.formula.power().to_string()),
        ("RotateAngle", of.scene.view.rotation.text().to_owned()),
        ("StretchAngle", "0".to_owned()),
        ("StretchAmount", "0".to_owned()),
        ("ImagPointsUp", u8::from(!of.scene.view.flip).to_string()),
    ];
    if settings.escape_radius == Decimal::from(2) {
        lines.push(("BailoutRadiusPreset", "1".to_owned()));
    } else {
        lines.push(("BailoutRadiusPreset", "3".to_owned()));
        lines.push(("BailoutRadiusCustom", settings.escape_radius.text().to_owned()));
    }
    let mut text: String = lines.iter().map(|(key, value)| format!("{key}: {value}\r\n")).collect();
    text.push_str(&palettes::kalles(&of.scene.colouring, &mut of.left_out));
    of.left_out.push("size".to_owned());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "Re: -0.75\r\nIm: 0.1\r\nZoom: 1.5E+3\r\nIterations: 1000\r\nRotateAngle: -12.5\r\n\
        SmoothMethod: 1\r\nSlopes: 1\r\nSlopePower: 50\r\nRotate: 0.000000\r\nRatio: 360.000000\r\nSmooth: 1\r\n\
        Colors: 1,2,3,4,5,6,\r\nColorMethod: 7\r\nIterDiv: 0.5\r\nFractalType: 1\r\nPower: 3\r\nMultiColor: 0\r\n\
        SeedR: 0\r\nBailoutRadiusPreset: 3\r\nBailoutRadiusCustom: 16\r\nImagPointsUp: 1\r\nTexture: x\r\n";

    #[test]
    fn every_key_is_read_or_named() {
        let file = read(FILE).unwrap();
        let text = file.location();
        for line in [
            "re = \"-0.75\"",
            "zoom = \"1.5E+3\"",
            "iterations = 1000",
            "rotation = \"-12.5\"",
            "formula = \"burning-ship\"",
            "power = 3",
            "flip = false",
            "escape_radius = \"16\"",
            "palette_format = \"kfp\"",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(file.all_unused(), ["SmoothMethod", "Texture", "Slopes", "ColorMethod"]);
    }

    #[test]
    fn errors_name_line_and_key() {
        for (from, to, said) in [
            ("Re: -0.75", "Re -0.75", "line 1: \"Re -0.75\" has no colon (accepted: Key: value)"),
            ("Zoom: 1.5E+3\r\n", "", "no \"Zoom\" is given"),
            ("Iterations: 1000", "Iterations: many", "line 4, Iterations: is not a number"),
            ("FractalType: 1", "FractalType: 3", "line 15, FractalType: the Celtic cannot be drawn (accepted: 0"),
            ("FractalType: 1", "FractalType: 77", "the type \"77\" cannot be drawn"),
            ("Power: 3", "Power: 17", "line 16, Power: 17 is out of range (accepted: powers from 2 to 16)"),
            ("SeedR: 0", "SeedR: 0.5", "line 18, SeedR: an orbit that starts at 0.5 cannot be drawn"),
            ("RotateAngle: -12.5", "RotateAngle: x", "line 5, RotateAngle"),
        ] {
            assert!(FILE.contains(from), "{from}");
            let error = read(&FILE.replace(from, to)).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
