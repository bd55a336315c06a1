//! A palette that comes with the library, as constants: so that none is parsed at run time.

use super::draft::Draft;
use super::table::{Blend, even_positions, from_stops};
use crate::colour::mapping::Suggestion;
use crate::colour::rgb::Rgb16;

/// The content of a file of the folder `palettes`.
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) colours: &'static [Rgb16],
    /// One for each colour; none where the colours have equal shares.
    pub(super) positions: Option<&'static [f64]>,
    pub(super) blend: Blend,
    pub(super) interior: Rgb16,
    pub(super) cyclic: bool,
    pub(super) suggestion: Suggestion,
}

impl BuiltIn {
    /// What the palette's file gives.
    pub(super) fn draft(&self) -> Draft {
        let positions = match self.positions {
            Some(positions) => positions.to_vec(),
            None => even_positions(self.colours.len(), self.cyclic, self.blend),
        };
        let stops: Vec<_> = positions.into_iter().zip(self.colours.iter().copied()).collect();
        Draft {
            name: Some(self.name.to_owned()),
            title: Some(self.title.to_owned()),
            interior: self.interior,
            cyclic: self.cyclic,
            suggestion: self.suggestion,
            table: from_stops(&stops, self.blend, self.cyclic),
        }
    }
}
