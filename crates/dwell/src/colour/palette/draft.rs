//! The content of a palette file, common to all formats.

use crate::colour::mapping::Suggestion;
use crate::colour::rgb::Rgb16;

/// The most stops or segments of a palette.
pub(super) const MAX_STOPS: usize = 4096;

/// What a palette file of any format gives.
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) interior: Rgb16,
    pub(super) cyclic: bool,
    pub(super) suggestion: Suggestion,
    pub(super) table: Vec<Rgb16>,
}

impl Draft {
    /// A cycle without a name, with a black interior and no suggestion.
    pub(super) fn cycle(table: Vec<Rgb16>) -> Self {
        Self { name: None, title: None, interior: [0; 3], cyclic: true, suggestion: Suggestion::default(), table }
    }
}
