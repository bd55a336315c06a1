//! Palettes: the colour at each position of a gradient, and the colour of the inside of the set.

mod built_in;
mod built_in_stops;
mod draft;
mod format;
mod ggr_file;
mod gpl_file;
mod inline_text;
mod kf_file;
mod map_file;
mod reader;
mod table;
#[cfg(feature = "toml")]
mod toml_file;
mod ugr_file;

pub use format::PaletteFormat;
#[cfg(feature = "toml")]
pub(crate) use kf_file::KEYS as KF_COLOUR_KEYS;
pub(super) use table::{TABLE, index};

use crate::colour::mapping::Suggestion;
use crate::colour::rgb::Rgb16;
use std::sync::Arc;

/// Colours by position, repeated without end, and one colour for the inside of the set.
///
/// A colour is red, green and blue with 16 bits each, sRGB-encoded; 65535 is full strength. Positions are in turns. A
/// cyclic palette runs through its colours once per turn. A sequential palette runs through them in one turn and back
/// in the next, so that it repeats without a seam.
#[derive(Clone, PartialEq)]
pub struct Palette {
    name: String,
    title: String,
    interior: Rgb16,
    /// The interior colour given by the palette's source.
    own_interior: Rgb16,
    cyclic: bool,
    suggestion: Suggestion,
    source: PaletteSource,
    /// Shared by copies of a palette.
    table: Arc<[Rgb16]>,
}

/// Where a palette comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteSource {
    /// Built into the library; its name identifies it.
    BuiltIn,
    /// A text from which [`Palette::from_text`] makes the same palette again.
    Text {
        /// The format of the text.
        format: PaletteFormat,
        /// The whole file; of a file with several gradients, the text of the chosen one alone.
        text: String,
    },
}

impl Palette {
    /// The same palette with another colour for the inside of the set.
    #[must_use]
    pub fn with_interior(self, interior: [u16; 3]) -> Self {
        Self { interior, ..self }
    }

    /// The colour for the inside of the set, if it differs from the one given by the palette's source.
    #[must_use]
    pub fn chosen_interior(&self) -> Option<[u16; 3]> {
        (self.interior != self.own_interior).then_some(self.interior)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title, for display.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where it comes from. The colour given to [`Self::with_interior`] is not part of it.
    #[must_use]
    pub fn source(&self) -> &PaletteSource {
        &self.source
    }

    /// The colouring that the palette recommends.
    #[must_use]
    pub fn suggestion(&self) -> &Suggestion {
        &self.suggestion
    }

    /// The colour of points that did not escape.
    #[must_use]
    pub fn interior(&self) -> [u16; 3] {
        self.interior
    }

    /// The colours over one period, evenly spaced from position 0: 8192 entries.
    #[must_use]
    pub fn table(&self) -> &[[u16; 3]] {
        &self.table
    }

    /// The turns of position that the table covers: 1 if the palette is cyclic, 2 if it is sequential. The first half
    /// of a sequential palette's table runs from the first colour to the last, which is in the middle, and the second
    /// half runs back.
    #[must_use]
    pub fn period(&self) -> f64 {
        if self.cyclic { 1.0 } else { 2.0 }
    }

    /// The colour at a position in turns, which may be negative. A position that is not finite has some colour of the
    /// palette.
    #[must_use]
    #[inline]
    pub fn at(&self, position: f64) -> [u16; 3] {
        let periods = if self.cyclic { position } else { 0.5 * position };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 1, since a small negative number less its floor rounds to 1; the mask bounds it"
        )]
        let index = ((periods - periods.floor()) * TABLE as f64) as usize;
        self.table[index & (TABLE - 1)]
    }
}

impl std::fmt::Debug for Palette {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Palette").field("name", &self.name).finish_non_exhaustive()
    }
}
