//! The built-in palettes: the TOML files of `crates/dwell/palettes` as Rust constants, so that the library needs no
//! TOML reader for them. A test of the library compares the constants with the files.

use crate::{Done, root};
use dwell::parse_colour;
use dwell::store::{self, PartialFiles};
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;

/// The palettes in the order in which they are listed, the default first: decorative ones, then perceptually uniform
/// maps, then those of other programs.
const ORDER: [&str; 34] = [
    "twilight",
    "ember",
    "classic",
    "glacier",
    "verdigris",
    "sunset",
    "lagoon",
    "opal",
    "fire",
    "ice",
    "electric",
    "forest",
    "copper",
    "candy",
    "neon",
    "graphite",
    "ink",
    "spectrum",
    "viridis",
    "magma",
    "inferno",
    "plasma",
    "cividis",
    "turbo",
    "batlow",
    "oslo",
    "lapaz",
    "hawaii",
    "romaO",
    "zhong",
    "hybridizer",
    "genova",
    "nvidia",
    "toader",
];

/// A palette file. The defaults are those of the library's reader.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    colours: Vec<String>,
    positions: Option<Vec<f64>>,
    blend: Option<String>,
    interior: Option<String>,
    cyclic: Option<bool>,
    by: Option<String>,
    scale: Option<String>,
    density: Option<f64>,
    offset: Option<f64>,
}

/// Writes the constants.
pub(crate) fn write() -> Done {
    let folder = root().join("crates/dwell");
    let mut rust = String::from(
        "//! The built-in palettes, the default first. `cargo xtask palettes` writes this file from the folder `palettes`.\n\n\
         use super::built_in::BuiltIn;\n\
         use super::table::Blend;\n\
         use crate::colour::mapping::{By, Scale, Suggestion};\n\n\
         /// Every built-in palette.\n\
         #[rustfmt::skip]\n",
    );
    writeln!(rust, "pub(super) static BUILT_IN: [BuiltIn; {}] = [", ORDER.len())?;
    for name in ORDER {
        let text = fs::read_to_string(folder.join("palettes").join(name).with_extension("toml"))?;
        let file: File = toml::from_str(&text).map_err(|e| format!("{name}: {e}"))?;
        add(&mut rust, &file)?;
    }
    rust.push_str("];\n");
    let path = folder.join("src/colour/palette/built_in_stops.rs");
    store::write_text(&path, &rust, &PartialFiles::default())?;
    Ok(())
}

/// Appends the constant of a palette.
fn add(rust: &mut String, file: &File) -> Done {
    let colour = |text: &str| parse_colour(text).map(|[r, g, b]| format!("[{r}, {g}, {b}]"));
    let variant = |name: &str| name[..1].to_uppercase() + &name[1..];
    let option = |value: Option<String>| value.map_or_else(|| "None".to_owned(), |value| format!("Some({value})"));
    writeln!(rust, "    BuiltIn {{")?;
    writeln!(rust, "        name: {:?},", file.name)?;
    writeln!(rust, "        title: {:?},", file.title)?;
    writeln!(rust, "        colours: &[")?;
    for row in file.colours.chunks(5) {
        let row = row.iter().map(|text| colour(text)).collect::<Result<Vec<_>, _>>()?;
        writeln!(rust, "            {},", row.join(", "))?;
    }
    writeln!(rust, "        ],")?;
    writeln!(rust, "        positions: {},", option(file.positions.as_ref().map(|values| format!("&{values:?}"))))?;
    writeln!(rust, "        blend: Blend::{},", variant(file.blend.as_deref().unwrap_or("smooth")))?;
    writeln!(rust, "        interior: {},", colour(file.interior.as_deref().unwrap_or("#000000"))?)?;
    writeln!(rust, "        cyclic: {},", file.cyclic.unwrap_or(true))?;
    writeln!(
        rust,
        "        suggestion: Suggestion {{ by: {}, scale: {}, density: {}, offset: {} }},",
        option(file.by.as_deref().map(|by| format!("By::{}", variant(by)))),
        option(file.scale.as_deref().map(|scale| format!("Scale::{}", variant(scale)))),
        option(file.density.map(|density| format!("{density:?}"))),
        option(file.offset.map(|offset| format!("{offset:?}"))),
    )?;
    writeln!(rust, "    }},")?;
    Ok(())
}
