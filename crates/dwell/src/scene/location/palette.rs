//! The palette of a table of a location, read and written.

use crate::base::error::{Error, InputError};
use crate::base::place::KeyPlace;
use crate::base::problem::Problem;
use crate::colour::{Palette, PaletteFormat, PaletteSource};
use crate::input::toml_reader::{Key, Keys};
use serde::Serialize;
use std::path::Path;

/// The keys `palette`, `palette_format` and `palette_text` of a table.
pub(super) struct PaletteKeys<'a> {
    has_text: bool,
    name: &'a str,
    palette: Option<Palette>,
    format: Option<(PaletteFormat, KeyPlace)>,
    text: Option<(&'a str, KeyPlace)>,
}

impl<'a> PaletteKeys<'a> {
    /// None of the keys of a table yet.
    pub(super) fn new(keys: &Keys<'a>) -> Self {
        let has_text = keys.peek("palette_text").is_some();
        Self { has_text, name: "palette", palette: None, format: None, text: None }
    }

    /// Reads the key of that name. Paths of palette files are relative to `folder`; without a folder they are refused.
    pub(super) fn take(&mut self, known: &str, key: &Key<'a>, folder: Option<&Path>) -> Result<(), InputError> {
        match known {
            "palette" => {
                self.name = key.text()?;
                if !self.has_text {
                    self.palette = Some(palette_of(self.name, key, folder)?);
                }
            }
            "palette_format" => self.format = Some((key.parsed()?, key.place())),
            _ => self.text = Some((key.text()?, key.place())),
        }
        Ok(())
    }

    /// The palette that the keys give, if they give one.
    pub(super) fn palette(self) -> Result<Option<Palette>, InputError> {
        match (self.text, self.format) {
            (Some((text, place)), Some((format, _))) => {
                Palette::from_text(format, text, self.name).map(Some).map_err(|e| e.at_key(&place))
            }
            (Some((_, place)), None) | (None, Some((_, place))) => {
                let problem = "palette_format and palette_text are given together or not at all";
                Err(InputError::new(Problem::Missing(problem.to_owned())).at_key(&place))
            }
            (None, None) => Ok(self.palette),
        }
    }
}

/// The palette of that name: a built-in one, or a palette file.
fn palette_of(name: &str, key: &Key<'_>, folder: Option<&Path>) -> Result<Palette, InputError> {
    if name.starts_with('#') {
        return Palette::inline(name).map_err(|e| key.wrong(e));
    }
    let is_path = name.contains(['/', '\\', '.']);
    match folder {
        Some(folder) if is_path => Palette::read(&folder.join(name)).map_err(|e| match e {
            Error::Input(e) => key.wrong(e),
            e => key.wrong(InputError::malformed(e.to_string())),
        }),
        None if is_path => {
            let problem = Problem::NoFolder { given: name.to_owned() };
            Err(key.wrong(InputError::new(problem).accepts("a built-in palette")))
        }
        _ => Palette::built_in(name).map_err(|e| key.wrong(e)),
    }
}

/// The palette of a table.
#[derive(Debug, Default, Serialize)]
pub(super) struct PaletteText {
    /// A built-in palette, or the name of the palette whose text follows.
    pub(super) palette: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) palette_format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) palette_text: Option<String>,
}

impl PaletteText {
    /// Describes a palette, so that [`PaletteKeys`] reads the same palette, apart from its interior colour.
    pub(super) fn of(palette: &Palette) -> Self {
        let (palette_format, palette_text) = match palette.source() {
            PaletteSource::BuiltIn => (None, None),
            PaletteSource::Text { format, text } => (Some(format.name()), Some(text.clone())),
        };
        Self { palette: palette.name().to_owned(), palette_format, palette_text }
    }
}
